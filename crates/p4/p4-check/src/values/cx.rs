//! Which IR comes into being, and where is it written to? All that works on values emits its statements here.

use super::body::Body;
use super::budget::Budget;
use super::builder::Builder;
use super::layout::Layout;
use crate::names::cx::{Mode, Names};
use crate::names::scope::ScopeId;
use crate::names::sink::R;
use p4_ir::{Architecture, Block, Expr, LValue, LabelId, Stmt, Ty, VarId};
use p4_syntax::{SourceMap, Span};
use std::ops::{Deref, DerefMut};

/// The IR under construction, with the body that it is for.
pub(crate) struct Values<'a> {
    pub names: Names<'a>,
    pub budget: Budget,
    pub build: Builder,
    pub layout: Layout,
    pub body: Body,
    /// In the arguments of `extract`, which rejects by itself when a stack is full.
    pub extracting: bool,
}

impl<'a> Deref for Values<'a> {
    type Target = Names<'a>;

    fn deref(&self) -> &Names<'a> {
        &self.names
    }
}

impl<'a> DerefMut for Values<'a> {
    fn deref_mut(&mut self) -> &mut Names<'a> {
        &mut self.names
    }
}

impl<'a> Values<'a> {
    pub(crate) fn new(map: &'a SourceMap, mode: Mode) -> Values<'a> {
        Values {
            names: Names::new(map, mode),
            budget: Budget::new(),
            build: Builder::new(Architecture::V1Model),
            layout: Layout::default(),
            body: Body::new(ScopeId::GLOBAL),
            extracting: false,
        }
    }

    /// Takes `n` units of the budget for the size of the inlined program.
    pub(crate) fn spend(&mut self, n: u64, span: Span) -> R<()> {
        if self.sink.is_stopped() {
            return Err(self.poisoned());
        }
        if !self.budget.take(n) {
            let e = self.error("too-large", span, "the program becomes too large when calls are inlined");
            self.sink.stop();
            return Err(e);
        }
        Ok(())
    }

    /// The name of something declared in the current body.
    pub(crate) fn local_name(&self, name: &str) -> String {
        if self.body.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.body.path) }
    }

    pub(crate) fn new_var(&mut self, name: &str, ty: Ty) -> VarId {
        self.build.new_var(name, ty)
    }

    /// A variable for a value that is needed later; written once.
    pub(crate) fn temp(&mut self, ty: Ty) -> VarId {
        let name = self.local_name("tmp");
        let v = self.new_var(&name, ty);
        self.build.set_stable(v);
        v
    }

    pub(crate) fn new_label(&mut self, name: &str) -> LabelId {
        let name = self.local_name(name);
        self.build.new_label(name)
    }

    pub(crate) fn emit(&mut self, s: Stmt) {
        self.build.emit(s);
    }

    pub(crate) fn emit_assign(&mut self, to: LValue, value: Expr) {
        self.emit(Stmt::Assign(to, value));
    }

    /// Collects what `f` emits into a block of its own.
    pub(super) fn collect<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Block) {
        let outer = self.build.replace_block(Vec::new());
        let result = f(self);
        (result, self.build.replace_block(outer))
    }
}
