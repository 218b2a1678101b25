//! What does lowering ask an architecture? Each gives its answers as one [`Arch`]; what it leaves alone is as in v1model.

use super::cx::Cx;
use super::instances::ObjKind;
use crate::names::sink::R;
use crate::types::*;
use p4_ir::TableMemory;
use p4_syntax::{Span, ast};
use program::KeyInfo;

/// Lowers what the package of `main` is given.
type Pipeline<'a> = fn(&mut Cx<'a>, &[Tv], Span) -> R<()>;
/// What an instance is, of the extern of that name with type arguments, arguments and path; `None` if it is not the architecture's own.
type Instance<'a> = fn(&mut Cx<'a>, &str, &[Type], &[Tv], &str, Span) -> R<Option<ObjKind<'a>>>;
/// Calls the extern function of that name, which gives that type; `None` as above.
type Function<'a> = fn(&mut Cx<'a>, &str, &[Tv], &Type, Span) -> R<Option<Tv>>;
/// Calls an instance's method, by the names of its extern and its own; `None` as above.
type Method<'a> = fn(&mut Cx<'a>, ObjId, &str, &str, &[Tv], &Type, Span) -> R<Option<Tv>>;

/// An architecture: functions on what is lowered, as it keeps its state there.
#[derive(Clone, Copy)]
pub(crate) struct Arch<'a> {
    /// The package of a program's `main`.
    pub package: &'static str,
    /// Its programs are placed on a model of a chip, and not run.
    pub for_chips: bool,
    /// Its externs are PSA's.
    pub psa: bool,
    pub pipeline: Pipeline<'a>,
    pub kind: Instance<'a>,
    pub function: Function<'a>,
    pub method: Method<'a>,
    /// A property of a table that only it has; whether it is one.
    pub property: fn(&mut Cx<'a>, &str, &'a ast::TableProperty) -> R<bool>,
    /// What a table says of its memory.
    pub memory: fn(&mut Cx<'a>, &'a ast::TableDecl, &'a [ast::Annotation], &[KeyInfo]) -> R<TableMemory>,
}

impl<'a> Arch<'a> {
    /// One with externs and properties as v1model's.
    pub(crate) fn of(package: &'static str, pipeline: Pipeline<'a>) -> Arch<'a> {
        Arch {
            package,
            for_chips: false,
            psa: false,
            pipeline,
            kind: |_, _, _, _, _, _| Ok(None),
            function: |_, _, _, _, _| Ok(None),
            method: |_, _, _, _, _, _, _| Ok(None),
            property: |_, _, _| Ok(false),
            memory: |_, _, _, _| Ok(TableMemory::default()),
        }
    }
}
