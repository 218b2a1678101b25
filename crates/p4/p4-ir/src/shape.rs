//! Which blocks does a program have, and in which order does a packet go through them? Its architecture says.
//!
//! ```text
//! v1model  parser  verify_checksum  ingress ─┬─ egress ─┬─ compute_checksum  deparser ─┬─
//! PSA      parser  ingress  deparser ────────┼─ parser  egress  deparser ──────────────┼─
//! TNA      parser  verify_checksum  ingress  compute_checksum  deparser ──┼─
//!          parser  verify_checksum  egress   compute_checksum  deparser ──┼─
//! ```
//! A [`Pipe`] begins with a parser and ends with a deparser: bytes come in and bytes go out. At `┬` and `┼` the architecture itself
//! acts: it drops, copies, and sends packets back to an earlier place. That part is not in the IR; `p4-interp` says what it means.
//!
//! A TNA program may have up to four [pipelines](Ir::pipelines), one for each pipe of the chip: each is an ingress and an egress of its own.
//!
//! Whoever handles any architecture goes through [`Ir::pipes`]. Code for v1model alone may take the short way: [`Ir::parser`],
//! [`Ir::ingress`], [`Ir::egress`], [`Ir::control`], [`Ir::deparser`].

use crate::{Block, Ir, Next, StateId, Transition};
use cranelift_entity::{PrimaryMap, entity_impl};
use std::collections::BTreeSet;

/// A pipe of a program, numbered in the order in which a packet goes through them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(u32);
entity_impl!(PipeId, "pipe");

/// What a program is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Architecture {
    /// v1model.p4, as BMv2's simple_switch runs it.
    #[default]
    V1Model,
    /// The Portable Switch Architecture.
    Psa,
    /// The Tofino Native Architecture.
    Tna,
}

/// What a control is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Compares checksums; nothing else.
    VerifyChecksum,
    /// Decides where the packet goes.
    Ingress,
    /// Runs where the port is known; once for each copy.
    Egress,
    /// Updates checksums; nothing else.
    ComputeChecksum,
}

/// From bytes to bytes.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// Name in texts; empty if there is only one.
    pub name: &'static str,
    /// Comes first.
    pub parser: Parser,
    /// In the order in which they run.
    pub controls: Vec<Control>,
    /// Comes last: the only block with [`crate::Stmt::Emit`].
    pub deparser: Block,
}

/// The beginning of a parser. The states of all parsers are in [`Ir::states`], each reached from one parser only.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// Statements of the parser's own declarations, run before the start state.
    pub init: Block,
    /// The first state; `None` if packets are not parsed.
    pub start: Option<StateId>,
}

/// A control that packets go through, from its beginning to its end or to an `exit`.
#[derive(Clone, Debug)]
pub struct Control {
    /// What it is for.
    pub role: Role,
    /// What it does.
    pub body: Block,
}

static NO_BLOCK: Block = Vec::new();
static NO_PARSER: Parser = Parser { init: Vec::new(), start: None };

impl Architecture {
    /// Its name, as in the name of its include file.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::V1Model => "v1model",
            Architecture::Psa => "psa",
            Architecture::Tna => "tna",
        }
    }

    /// Names of the pipes, and the controls of each: of as many pipelines as there can be.
    fn shape(self) -> &'static [(&'static str, &'static [Role])] {
        use Role::{ComputeChecksum, Egress, Ingress, VerifyChecksum};
        const IN: &[Role] = &[VerifyChecksum, Ingress, ComputeChecksum];
        const OUT: &[Role] = &[VerifyChecksum, Egress, ComputeChecksum];
        match self {
            Architecture::V1Model => &[("", &[VerifyChecksum, Ingress, Egress, ComputeChecksum])],
            Architecture::Psa => &[("ingress", &[Ingress]), ("egress", &[Egress])],
            Architecture::Tna => &[
                ("ingress", IN),
                ("egress", OUT),
                ("ingress_1", IN),
                ("egress_1", OUT),
                ("ingress_2", IN),
                ("egress_2", OUT),
                ("ingress_3", IN),
                ("egress_3", OUT),
            ],
        }
    }

    /// Pipes that a packet goes through, one after the other.
    fn pipeline_len(self) -> usize {
        match self {
            Architecture::V1Model => 1,
            Architecture::Psa | Architecture::Tna => 2,
        }
    }

    /// The pipes of a program of one pipeline, whose blocks are all empty.
    pub fn pipes(self) -> PrimaryMap<PipeId, Pipe> {
        self.pipelines(1)
    }

    /// The same of so many pipelines, at most [`Architecture::max_pipelines`].
    pub fn pipelines(self, pipelines: usize) -> PrimaryMap<PipeId, Pipe> {
        let control = |role: &Role| Control { role: *role, body: Vec::new() };
        let pipe = |(name, roles): &(&'static str, &[Role])| Pipe {
            name,
            parser: Parser::default(),
            controls: roles.iter().map(control).collect(),
            deparser: Vec::new(),
        };
        self.shape().iter().take(pipelines * self.pipeline_len()).map(pipe).collect()
    }

    /// Whether these are its pipes.
    pub(crate) fn has_shape(self, pipes: &PrimaryMap<PipeId, Pipe>) -> bool {
        let same = |(pipe, (name, roles)): (&Pipe, &(&str, &[Role]))| {
            pipe.name == *name && pipe.controls.iter().map(|c| c.role).eq(roles.iter().copied())
        };
        let whole = !pipes.is_empty() && pipes.len().is_multiple_of(self.pipeline_len()) && pipes.len() <= self.shape().len();
        whole && pipes.values().zip(self.shape()).all(same)
    }
}

impl Role {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Role::VerifyChecksum => "verify_checksum",
            Role::Ingress => "ingress",
            Role::Egress => "egress",
            Role::ComputeChecksum => "compute_checksum",
        }
    }

    /// Whether it does nothing but checksums.
    pub fn is_checksum(self) -> bool {
        matches!(self, Role::VerifyChecksum | Role::ComputeChecksum)
    }
}

impl Pipe {
    /// Its control of that role; an empty block where it has none.
    pub fn control(&self, role: Role) -> &Block {
        self.controls.iter().find(|c| c.role == role).map_or(&NO_BLOCK, |c| &c.body)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If it has none.
    pub fn control_mut(&mut self, role: Role) -> &mut Block {
        &mut self.controls.iter_mut().find(|c| c.role == role).expect("the pipe has this control").body
    }

    /// The controls and the deparser, in the order in which they run.
    pub fn after_parser(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.controls.iter().map(|c| &c.body).chain([&self.deparser])
    }
}

impl Transition {
    /// Where it may go, but for the end of parsing where no case matches.
    pub fn targets(&self) -> Vec<Next> {
        match self {
            Transition::Goto(n) => vec![*n],
            Transition::Select { cases, .. } => cases.iter().map(|c| c.next).collect(),
        }
    }
}

impl Ir {
    /// An empty program.
    pub fn new(arch: Architecture) -> Ir {
        Ir { arch, pipes: arch.pipes(), ..Ir::default() }
    }

    /// The pipes that a packet goes through, in order: once, or for each pipeline of a program that has several.
    pub fn pipelines(&self) -> Vec<Vec<PipeId>> {
        let all: Vec<PipeId> = self.pipes.keys().collect();
        all.chunks(self.arch.pipeline_len()).map(<[PipeId]>::to_vec).collect()
    }

    /// The parser that a received packet meets.
    pub fn parser(&self) -> &Parser {
        self.pipes.values().next().map_or(&NO_PARSER, |p| &p.parser)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If the program has no pipe.
    pub fn parser_mut(&mut self) -> &mut Parser {
        &mut self.pipes.values_mut().next().expect("an architecture has a pipe").parser
    }

    /// The control of that role; an empty block where the architecture has none.
    pub fn control(&self, role: Role) -> &Block {
        let mut controls = self.pipes.values().flat_map(|p| &p.controls);
        controls.find(|c| c.role == role).map_or(&NO_BLOCK, |c| &c.body)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If the architecture has none.
    pub fn control_mut(&mut self, role: Role) -> &mut Block {
        let mut controls = self.pipes.values_mut().flat_map(|p| &mut p.controls);
        &mut controls.find(|c| c.role == role).expect("the architecture has this control").body
    }

    /// The control of role [`Role::Ingress`].
    pub fn ingress(&self) -> &Block {
        self.control(Role::Ingress)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If the architecture has none.
    pub fn ingress_mut(&mut self) -> &mut Block {
        self.control_mut(Role::Ingress)
    }

    /// The control of role [`Role::Egress`].
    pub fn egress(&self) -> &Block {
        self.control(Role::Egress)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If the architecture has none.
    pub fn egress_mut(&mut self) -> &mut Block {
        self.control_mut(Role::Egress)
    }

    /// The deparser that makes the packet that leaves.
    pub fn deparser(&self) -> &Block {
        self.pipes.values().next_back().map_or(&NO_BLOCK, |p| &p.deparser)
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// If the program has no pipe.
    pub fn deparser_mut(&mut self) -> &mut Block {
        &mut self.pipes.values_mut().next_back().expect("an architecture has a pipe").deparser
    }

    /// The states that are reached from one.
    pub fn states_from(&self, start: Option<StateId>) -> BTreeSet<StateId> {
        let mut reached: BTreeSet<StateId> = start.into_iter().collect();
        let mut todo: Vec<StateId> = start.into_iter().collect();
        while let Some(at) = todo.pop() {
            for next in self.states[at].next.targets() {
                if let Next::State(s) = next
                    && reached.insert(s)
                {
                    todo.push(s);
                }
            }
        }
        reached
    }

    /// All blocks that are in no other: of the parsers, the controls, the deparsers and the actions.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let parsers = self.pipes.values().map(|p| &p.parser.init).chain(self.states.values().map(|s| &s.body));
        parsers.chain(self.pipes.values().flat_map(Pipe::after_parser)).chain(self.actions.values().map(|a| &a.body))
    }
}
