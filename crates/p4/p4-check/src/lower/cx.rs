//! What does all of lowering share? What is known below (`names/cx.rs`, `values/cx.rs`), the instances, actions and tables so far, and
//! what only the whole program can tell.
//!
//! Checking and lowering are one walk: a body is checked by lowering it where it is used, with all types known. What
//! no package reaches is lowered too, after the result has been set aside (`unused.rs`).

use super::arch::Arch;
use super::declared::{Action, ForeignUse, Table};
use super::forwarding::Pna;
use super::ids::Ids;
use super::instances::Objects;
use crate::names::cx::Mode;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::Body;
use crate::values::cx::Values;
use p4_ir::Block;
use p4_syntax::{SourceMap, Span, ast};
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};

/// TNA's package: its programs are told by that they know it.
pub(crate) const TNA: &str = "Switch";

/// What the parts of the checker share. Each part keeps its own; methods of `Cx` are what needs several of them.
pub(crate) struct Cx<'a> {
    pub values: Values<'a>,
    pub objects: Objects<'a>,
    pub actions: Vec<Action<'a>>,
    pub tables: Vec<Table<'a>>,
    /// Control instances that are being applied, outermost first.
    pub active: Vec<ObjId>,
    /// The instance whose methods are being looked at.
    pub this: Option<Tv>,
    /// What only the whole program can tell.
    pub whole: Whole<'a>,
    /// P4Runtime's ids, as far as the source gives them.
    pub ids: Ids,
    /// The architectures whose programs are compiled.
    pub archs: Vec<Arch<'a>>,
}

/// What is noted on the way, and asked for when the whole program is known.
#[derive(Default)]
pub(crate) struct Whole<'a> {
    pub main: Option<(ObjId, Span)>,
    /// The architecture of a program that is lowered with PSA's externs: PSA or PNA.
    pub psa: Option<Arch<'a>>,
    /// It is for PNA.
    pub pna: Option<Pna>,
    /// `@host_ports` of `main`.
    pub host_ports: Option<&'a p4_syntax::ast::Annotation>,
    /// v1model: the variables of user and standard metadata.
    pub metadata: HashSet<p4_ir::VarId>,
    /// The package of `main`, where it is not the one that is compiled.
    pub other_architecture: Option<String>,
    /// The `NoAction` of programs that declare none.
    pub implicit_no_action: Option<p4_ir::ActionId>,
    /// Where counters and meters ask for `@pdu_length`.
    pub pdu_users: Vec<Span>,
    /// Uses of direct counters and meters in actions of tables that lack them.
    pub foreign_uses: Vec<ForeignUse<'a>>,
    /// In the second walk, over what the program does not use.
    pub unused_walk: bool,
    /// Addresses of declarations whose bodies have been lowered.
    lowered: HashSet<usize>,
}

impl Whole<'_> {
    /// Notes that a declaration's body is lowered; false if it was before.
    pub(crate) fn lowers<T>(&mut self, decl: &T) -> bool {
        self.lowered.insert(std::ptr::from_ref(decl) as usize)
    }
}

impl<'a> Deref for Cx<'a> {
    type Target = Values<'a>;

    fn deref(&self) -> &Values<'a> {
        &self.values
    }
}

impl<'a> DerefMut for Cx<'a> {
    fn deref_mut(&mut self) -> &mut Values<'a> {
        &mut self.values
    }
}

impl<'a> Cx<'a> {
    pub(crate) fn new(map: &'a SourceMap, mode: Mode, archs: Vec<Arch<'a>>) -> Cx<'a> {
        Cx {
            values: Values::new(map, mode),
            objects: Objects::default(),
            actions: Vec::new(),
            tables: Vec::new(),
            active: Vec::new(),
            this: None,
            whole: Whole::default(),
            ids: Default::default(),
            archs,
        }
    }

    /// The architecture that knows more externs than v1model, if the program is for one.
    pub(crate) fn arch(&self) -> Option<Arch<'a>> {
        self.whole.psa.or_else(|| self.archs.iter().find(|a| a.package == TNA && self.is_tna()).copied())
    }

    /// Whether externs are TNA's, to be placed.
    pub(crate) fn is_tna(&self) -> bool {
        self.mode == Mode::Chip && self.declares_tna()
    }

    /// Whether the program is TNA's, to be placed or checked only.
    pub(crate) fn declares_tna(&self) -> bool {
        self.decls.find_package(|p| p.name.name == TNA).is_some()
    }

    /// Runs `f` one level deeper.
    pub(crate) fn nested<T>(&mut self, span: Span, f: impl FnOnce(&mut Cx<'a>) -> R<T>) -> R<T> {
        self.spend(1, span)?;
        if !self.budget.enter() {
            return Err(self.error("too-deep", span, "statements, expressions and calls nest too deep here"));
        }
        let outer = self.build.move_to(span);
        let result = f(self);
        self.build.move_to(outer);
        self.budget.leave();
        result
    }

    /// Collects what `f` emits into a block of its own.
    pub(crate) fn block<T>(&mut self, f: impl FnOnce(&mut Cx<'a>) -> R<T>) -> (R<T>, Block) {
        let outer = self.build.replace_block(Vec::new());
        let result = f(self);
        let inner = self.build.replace_block(outer);
        (result, inner)
    }

    /// As [`Cx::block`], for statements that are not directly in a parser state.
    pub(crate) fn inner_block<T>(&mut self, f: impl FnOnce(&mut Cx<'a>) -> R<T>) -> (R<T>, Block) {
        let state = self.body.state.take();
        let result = self.block(f);
        self.body.state = state;
        result
    }

    /// Runs `f` with another body; the old one comes back after.
    pub(crate) fn in_body<T>(&mut self, body: Body, f: impl FnOnce(&mut Cx<'a>) -> T) -> T {
        let old = std::mem::replace(&mut self.body, body);
        let result = f(self);
        self.body = old;
        result
    }

    pub(crate) fn in_scope<T>(&mut self, scope: ScopeId, f: impl FnOnce(&mut Cx<'a>) -> T) -> T {
        let old = std::mem::replace(&mut self.body.scope, scope);
        let result = f(self);
        self.body.scope = old;
        result
    }

    /// Declares a name in the current scope; a second declaration of the same name is an error, but for overloads.
    pub(crate) fn declare(&mut self, name: &'a ast::Ident, entity: Entity<'a>) {
        let scope = self.body.scope;
        self.declare_in(scope, name, entity);
    }

    /// What `path` stands for, seen from the current scope. Several for overloaded functions.
    pub(crate) fn lookup(&mut self, path: &ast::Path) -> R<Vec<Entity<'a>>> {
        let scope = self.body.scope;
        self.lookup_from(scope, path)
    }

    /// As [`Cx::lookup`], quietly; the error holds where it is declared later.
    pub(crate) fn find(&self, path: &ast::Path) -> Result<Vec<Entity<'a>>, Option<Span>> {
        self.scopes.find(self.body.scope, path).map(|found| found.into_iter().map(|(entity, _)| entity).collect())
    }

    /// A scope inside the current one that sees what is declared there so far.
    pub(crate) fn inner_scope(&mut self) -> ScopeId {
        let scope = self.body.scope;
        self.new_scope(scope)
    }
}
