//! What do the parts of the checker share? The parts are diagnostics (`sink.rs`), budgets (`budget.rs`), scopes (`scope.rs`), declarations
//! (`decls.rs`), the IR under construction (`builder.rs`), storage (`storage.rs`) and instances (`objects.rs`); with them the body that
//! is being lowered, and what only the whole program can tell.
//!
//! Checking and lowering are one walk: a body is checked by lowering it where it is used, with all types known. What
//! no package reaches is lowered too, after the result has been set aside (`unused.rs`).

use crate::Mode;
use crate::budget::Budget;
use crate::builder::Builder;
use crate::decls::Decls;
use crate::objects::Objects;
use crate::scope::{ScopeId, Scopes};
pub(crate) use crate::sink::Reported;
use crate::sink::Sink;
use crate::storage::Layout;
use crate::value::{ObjId, Tv};
use p4_ir::{Architecture, Block, Expr, LValue, LabelId, PipeId, StateId, Stmt, Ty, VarId};
use p4_syntax::{Diagnostic, SourceMap, Span};
use std::collections::HashSet;

pub(crate) type R<T> = Result<T, Reported>;

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
    pub copy_out: crate::args::Copies,
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

/// What the parts of the checker share. Each part keeps its own; methods of `Cx` are what needs several of them.
pub(crate) struct Cx<'a> {
    pub map: &'a SourceMap,
    pub mode: Mode,
    pub sink: Sink,
    budget: Budget,
    pub scopes: Scopes<'a>,
    pub decls: Decls<'a>,
    pub build: Builder,
    pub layout: Layout,
    pub objects: Objects<'a>,
    pub actions: Vec<crate::action::Action<'a>>,
    pub tables: Vec<crate::table::Table<'a>>,
    pub body: Body,
    /// Control instances that are being applied, outermost first.
    pub active: Vec<ObjId>,
    /// The instance whose methods are being looked at.
    pub this: Option<Tv>,
    /// In the arguments of `extract`, which rejects by itself when a stack is full.
    pub extracting: bool,
    /// What only the whole program can tell.
    pub whole: Whole<'a>,
    /// P4Runtime's ids, as far as the source gives them.
    pub ids: crate::ids::Ids,
    pub names: crate::names::Names<'a>,
}

/// What is noted on the way, and asked for when the whole program is known.
#[derive(Default)]
pub(crate) struct Whole<'a> {
    pub main: Option<(ObjId, Span)>,
    /// A program for PSA or PNA, whose externs are the same, is lowered to be run.
    pub psa: bool,
    /// It is for PNA.
    pub pna: Option<crate::pna::Pna>,
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
    pub foreign_uses: Vec<crate::table::ForeignUse<'a>>,
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

impl<'a> Cx<'a> {
    pub(crate) fn new(map: &'a SourceMap, mode: Mode) -> Cx<'a> {
        Cx {
            map,
            mode,
            sink: Sink::new(mode == Mode::Check),
            budget: Budget::new(),
            scopes: Scopes::new(),
            decls: Decls::default(),
            build: Builder::new(Architecture::V1Model),
            layout: Layout::default(),
            objects: Objects::default(),
            actions: Vec::new(),
            tables: Vec::new(),
            body: Body::new(ScopeId::GLOBAL),
            active: Vec::new(),
            this: None,
            extracting: false,
            whole: Whole::default(),
            ids: Default::default(),
            names: Default::default(),
        }
    }

    /// Whether nothing is made of the program.
    pub(crate) fn check_only(&self) -> bool {
        self.mode == Mode::Check
    }

    /// Whether externs are TNA's, to be placed.
    pub(crate) fn is_tna(&self) -> bool {
        self.mode == Mode::Chip && self.declares_tna()
    }

    /// Whether the program is TNA's, to be placed or checked only.
    pub(crate) fn declares_tna(&self) -> bool {
        self.decls.find_package(|p| p.name.name == crate::tna::PACKAGE).is_some()
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Diagnostics

    /// Gives a diagnostic, once for each place and text: a body inlined twice is not to be blamed twice.
    pub(crate) fn report(&mut self, d: Diagnostic) -> Reported {
        let d = self.decls.with_names(d);
        self.sink.give(d)
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, span, message))
    }

    pub(crate) fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(code, span, message));
    }

    /// Refuses what P4 allows but this compiler does not do.
    pub(crate) fn unsupported(&mut self, span: Span, what: impl std::fmt::Display) -> Reported {
        self.error("unsupported", span, format!("{what} is not supported"))
    }

    /// A fault that has been reported, or else is the compiler's.
    pub(crate) fn bug(&mut self, span: Span, what: &str) -> Reported {
        self.error("internal", span, format!("the compiler cannot handle this: {what}"))
    }

    /// For a value of a type that failed to resolve: there is a message already.
    pub(crate) fn poisoned(&self) -> Reported {
        self.sink.poisoned()
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Budgets

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

    // -----------------------------------------------------------------------------------------------------------------
    // Output, of the current body

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

    /// Whether a span lies in one of the built-in files.
    pub(crate) fn is_builtin(&self, span: Span) -> bool {
        self.map.get(span.file).is_some_and(|f| f.path.is_none() && f.included_from.is_some())
    }

    /// The source text of a span on one line, for key names.
    pub(crate) fn text(&self, span: Span) -> String {
        self.map.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
