//! Which body is being lowered, and what may stand in it?

use crate::names::scope::ScopeId;
use crate::types::*;
use p4_ir::{LabelId, PipeId, StateId};

/// What is to be copied when a callable ends: (to, from), in order.
pub(crate) type Copies = Vec<(Tv, Tv)>;

/// What kind of body is being lowered: decides what may stand in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Region {
    /// Top level: constants only.
    Global,
    Parser,
    Control,
    /// In an action, from a table or called.
    Action,
    Function,
}

/// Which of v1model's blocks is being lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    None,
    Parser,
    VerifyChecksum,
    Ingress,
    Egress,
    ComputeChecksum,
    Deparser,
}

/// One callable being inlined.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    /// Where `return` goes; made when first needed.
    pub ret: Option<LabelId>,
    /// Where a function's result goes.
    pub result: Option<Tv>,
    /// To be done when the callable ends.
    pub copy_out: Copies,
    /// Labels of the loops around the current statement: (break, continue).
    pub loops: Vec<(LabelId, LabelId)>,
}

/// The body being lowered.
#[derive(Clone)]
pub(crate) struct Body {
    pub scope: ScopeId,
    pub region: Region,
    pub stage: Stage,
    /// The pipe whose block it is.
    pub pipe: PipeId,
    /// Instance path for names, e.g. `UpfIngress.acl`.
    pub path: String,
    pub frames: Vec<Frame>,
    /// The parser state that statements go to, while they stand directly in one.
    pub state: Option<StateId>,
    /// Whether the body is run by a table.
    pub by_table: bool,
}

impl Body {
    /// One that stands by itself.
    pub(crate) fn new(scope: ScopeId) -> Body {
        Body {
            scope,
            region: Region::Global,
            stage: Stage::None,
            pipe: PipeId::from_u32(0),
            path: String::new(),
            frames: Vec::new(),
            state: None,
            by_table: false,
        }
    }
}
