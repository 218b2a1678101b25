//! Which actions and tables are declared, and what have they become so far?

use super::instances::Profile;
use crate::names::scope::ScopeId;
use crate::types::*;
use crate::values::body::{Body, Stage};
use p4_ir::{ActionId, Block, TableId};
use p4_syntax::ast;
use program::{ActionUse, MatchKind};

/// An action as declared in a control instance or at top level.
#[derive(Clone)]
pub(crate) struct Action<'a> {
    pub decl: &'a ast::ActionDecl,
    pub annotations: &'a [ast::Annotation],
    pub scope: ScopeId,
    /// Declarations of that scope that it sees.
    pub seen: u32,
    /// Full name for the control plane.
    pub full_name: String,
    pub stage: Stage,
    /// Forms that tables run: by the text of the bound arguments.
    pub ids: Vec<(String, ActionId)>,
    pub used: bool,
}

/// A table as declared in a control instance.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    pub decl: &'a ast::TableDecl,
    pub annotations: &'a [ast::Annotation],
    pub full_name: String,
    /// The body it is declared in, to lower it later if nothing applies it.
    pub body: Body,
    pub active: Vec<ObjId>,
    pub id: Option<TableId>,
    pub failed: bool,
    /// What the keys' expressions need done before the look-up.
    pub before: Block,
    pub applied: u32,
    pub actions: Vec<Listed<'a>>,
    /// The tables behind it.
    pub profile: Option<Profile>,
    /// Values of the `selector` keys.
    pub selector: Vec<p4_ir::Expr>,
}

/// An action in a table's list.
#[derive(Clone)]
pub(crate) struct Listed<'a> {
    pub name: &'a str,
    /// Position in `Cx::actions`.
    pub index: usize,
    pub id: ActionId,
    pub args: &'a [ast::Arg],
    pub usage: ActionUse,
}

/// A key field while the table is lowered.
pub(crate) struct Key {
    pub ty: Type,
    pub kind: MatchKind,
    /// Of the numbers that it is: more than one if it is wider than the widest of them.
    pub widths: Vec<u32>,
}

/// A direct counter or meter that belongs to another table, or to none.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    Counter(p4_ir::CounterId),
    Meter(p4_ir::MeterId),
}

/// An action that a table lists uses one.
pub(crate) struct ForeignUse<'a> {
    pub action: &'a str,
    pub table: &'a ast::Ident,
    pub of: Foreign,
}
