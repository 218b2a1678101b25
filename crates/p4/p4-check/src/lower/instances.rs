//! Which instances does the program have? Externs, parsers, controls and packages, each by its id.

use crate::names::scope::ScopeId;
use crate::types::*;
use p4_ir::{ActionId, CounterId, HashAlgorithm, MeterId, RegisterId, ServiceId, TableId, VarId};
use p4_syntax::ast;
use program::ActionUse;

/// An instance.
struct Object<'a> {
    /// Full name, e.g. `UpfIngress.usage`.
    path: String,
    kind: ObjKind<'a>,
}

pub(crate) enum ObjKind<'a> {
    PacketIn,
    PacketOut,
    Counter(CounterId),
    DirectCounter(CounterId),
    Meter(MeterId),
    DirectMeter(MeterId),
    /// One for each scalar of a cell, with its type.
    Register(Vec<(RegisterId, p4_ir::Ty)>),
    Service(ServiceId),
    /// An action profile or selector.
    Profile(ProfileDecl),
    /// TNA: a register whose cell is one number, with the type that is cut out of it; and what is done to one.
    Cells(RegisterId, Type),
    RegisterAction(RegisterProgram<'a>),
    /// TNA: a number of a register action that the control plane may change, with the one that it starts with.
    RegisterParam(Tv),
    /// PSA: a hash; the sum of a checksum, which the variable holds; random numbers within bounds, both included.
    Hash(p4_ir::HashAlgorithm),
    Sum(p4_ir::VarId),
    Random(p4_ir::Bits, p4_ir::Bits),
    /// TNA's counter of a parser: what it says of itself.
    ParserCounter(p4_ir::VarId),
    /// TNA: how a table is partitioned.
    Partitions(p4_ir::Partitions),
    /// A register action that has no body yet.
    Acts(ObjId),
    /// An extern this compiler knows nothing of.
    Unknown,
    Block(BlockInst),
    Package(PackageId, Vec<(&'a ast::Param, Tv)>),
}

impl ObjKind<'_> {
    pub(crate) fn block(block: BlockId, targs: Vec<Type>, args: Vec<Tv>, single: bool) -> Self {
        ObjKind::Block(BlockInst { block, targs, args, single, bound: None, exits: false })
    }
}

/// All instances.
#[derive(Default)]
pub(crate) struct Objects<'a> {
    all: Vec<Object<'a>>,
}

impl<'a> Objects<'a> {
    pub(crate) fn add(&mut self, path: String, kind: ObjKind<'a>) -> ObjId {
        self.all.push(Object { path, kind });
        ObjId(self.all.len() as u32 - 1)
    }

    pub(crate) fn kind(&self, id: ObjId) -> &ObjKind<'a> {
        &self.all[id.0 as usize].kind
    }

    pub(crate) fn set_kind(&mut self, id: ObjId, kind: ObjKind<'a>) {
        self.all[id.0 as usize].kind = kind;
    }

    /// Its full name.
    pub(crate) fn path(&self, id: ObjId) -> &str {
        &self.all[id.0 as usize].path
    }

    /// Puts it inside another one, by name.
    pub(crate) fn put_inside(&mut self, id: ObjId, outer: &str) {
        let path = &mut self.all[id.0 as usize].path;
        *path = format!("{outer}.{path}");
    }

    /// The parser or control that it is.
    pub(crate) fn block_mut(&mut self, id: ObjId) -> Option<&mut BlockInst> {
        match &mut self.all[id.0 as usize].kind {
            ObjKind::Block(inst) => Some(inst),
            _ => None,
        }
    }

    /// The action profile or selector that it is.
    pub(crate) fn profile_mut(&mut self, id: ObjId) -> Option<&mut ProfileDecl> {
        match &mut self.all[id.0 as usize].kind {
            ObjKind::Profile(p) => Some(p),
            _ => None,
        }
    }
}

/// An instance of a parser or control.
#[derive(Clone)]
pub(crate) struct BlockInst {
    pub block: BlockId,
    /// Type arguments, one a type parameter once they are known; until then empty.
    pub targs: Vec<Type>,
    /// Constructor arguments.
    pub args: Vec<Tv>,
    /// Whether all its applications have the same arguments, so that those can stand for the parameters.
    pub single: bool,
    /// After the first application.
    pub bound: Option<Bound>,
    /// Whether one of its tables runs an action that exits.
    pub exits: bool,
}

#[derive(Clone)]
pub(crate) struct Bound {
    pub params: Vec<Tv>,
    pub locals: ScopeId,
}

/// An action profile or selector as constructed.
#[derive(Clone)]
pub(crate) struct ProfileDecl {
    pub size: u64,
    /// Of a selector; within, `None` is a member at random.
    pub algorithm: Option<Option<HashAlgorithm>>,
    /// How many groups it has, of how many members at most, where the program says so.
    pub groups: Option<(u64, u64)>,
    /// Made when the first table uses it.
    pub lowered: Option<Profile>,
}

/// A profile's tables, and the variables between them.
#[derive(Clone)]
pub(crate) struct Profile {
    pub members: TableId,
    /// `groups` and `slots`.
    pub group_tables: Option<(TableId, TableId)>,
    /// What `t` has found: 0 nothing here, 1 a member, 2 a group.
    pub found: VarId,
    pub size: VarId,
    pub slot: VarId,
    pub algorithm: Option<HashAlgorithm>,
    /// Actions of `t`.
    pub handles: Vec<ActionUse>,
    /// The actions that the tables listed, as they are there.
    pub listed: Vec<ActionId>,
}

/// What a register action does, and to what.
#[derive(Clone)]
pub(crate) struct RegisterProgram<'a> {
    /// The instance, which its body calls `this`.
    pub this: Tv,
    pub register: ObjId,
    pub apply: &'a ast::FunctionDecl,
    pub scope: ScopeId,
    pub seen: u32,
}
