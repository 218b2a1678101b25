//! What do variables and headers hold where they are used? A walk along the ways through each parser, control and function.
//!
//! ```text
//! body ─ stmt ─ expr ─┬─ read, write ──► sites, definitions     call.rs: what a call does to its arguments
//!                     └─ call                                   table.rs: which actions a table may run
//!                                                               parser.rs: states, in any order and more than once
//! ```
//! - For each part of a variable the state holds the assignments that may have set it ([`state`]). [`UNSET`] among them: on some way none did.
//! - Actions are walked where they are called, with the variables of their control as they are there. Functions, parsers and controls are
//!   walked by themselves, and calls of them set what they are to set.
//! - Warnings are made at the end: a place may be walked often, and is unset "before anything is assigned" only if it is so each time.
//!
//! Not followed: conditions other than `isValid()` and a table's `hit`, so that two `if` with the same condition count as four ways; what
//! `inout` arguments of parsers and controls hold from elsewhere.

mod call;
mod parser;
mod state;
mod table;

use crate::names::{Global, Names, Shape};
use p4_syntax::ast::{self, BinOp, DeclKind, Direction, Expr, ExprKind, Ident, Stmt, StmtKind, UnaryOp};
use p4_syntax::{Diagnostic, Span};
use state::{INVALID, State, UNSET, VALID};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Statements that are walked for each one that the program has, as actions are walked where they are called; and some more for small
/// programs. Beyond, nothing is said of what has not been walked.
const WALKS: usize = 32;
const MORE_WALKS: usize = 1 << 14;
/// Calls of actions in actions that are followed.
const MAX_CALLS: usize = 32;
/// Turns after which a loop has to have become stable: each turn adds an assignment that may reach its start.
const MAX_TURNS: usize = 16;

pub(crate) fn find<'a>(program: &'a ast::Program, names: &Names<'a>) -> Vec<Diagnostic> {
    let mut f = Flow::new(names);
    f.walks = MORE_WALKS + WALKS * program.decls.iter().map(|d| (d.span.hi.saturating_sub(d.span.lo) / 8) as usize).sum::<usize>();
    for d in &program.decls {
        f.complete = true;
        match &d.kind {
            DeclKind::Parser(p) => f.parser(p),
            DeclKind::Control(c) => f.control(c),
            DeclKind::Function(x) => f.function(x),
            _ => {}
        }
        f.end_of_declaration();
    }
    f.warnings()
}

/// What a local name stands for.
#[derive(Clone)]
enum Local<'a> {
    Var(usize),
    Action(&'a ast::ActionDecl),
    Table(&'a ast::TableDecl),
    Instance(&'a ast::Type),
    Flag(bool),
    Other,
}

/// What becomes of a variable's value at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Nothing.
    Local,
    /// A caller or somebody else may look at it.
    Shared,
}

struct Variable<'a> {
    name: &'a Ident,
    ty: &'a ast::Type,
    shape: Rc<Shape<'a>>,
    first: u32,
    role: Role,
}

/// A part of a variable.
#[derive(Clone)]
struct Place<'a> {
    var: usize,
    slot: u32,
    shape: Rc<Shape<'a>>,
    /// The header whose field it is.
    header: Option<u32>,
}

impl Place<'_> {
    fn slots(&self) -> std::ops::Range<u32> {
        self.slot..self.slot + self.shape.slots()
    }
}

/// A place in the text where something is read, or a result ends.
struct Site {
    span: Span,
    text: String,
    declared: Span,
    /// Whether something was set, and whether nothing was, whenever it was walked.
    set: bool,
    unset: bool,
}

/// A place in the text where a header's field is used.
struct Field {
    span: Span,
    text: String,
    write: bool,
    /// Whether the header may have been valid, whenever it was walked.
    valid: bool,
}

/// An assignment.
struct Definition {
    span: Span,
    text: String,
    var: usize,
    read: bool,
}

/// What leaves a loop's turn.
#[derive(Default)]
struct Leaves {
    breaks: State,
    continues: State,
}

struct Flow<'a, 'n> {
    names: &'n Names<'a>,
    scopes: Vec<HashMap<&'a str, Local<'a>>>,
    /// How many scopes there are around the control's own body.
    outer: usize,
    generics: &'a [Ident],
    vars: Vec<Variable<'a>>,
    by_name: HashMap<usize, usize>,
    slots: u32,
    state: State,
    /// Nothing is noted: the state is not what it will be.
    quiet: u32,
    walks: usize,
    calls: usize,
    /// Whether all of the declaration has been walked.
    complete: bool,
    returns: Vec<State>,
    exits: State,
    loops: Vec<Leaves>,
    sites: BTreeMap<usize, Site>,
    results: BTreeMap<usize, Site>,
    fields: BTreeMap<usize, Field>,
    definitions: Vec<Definition>,
    by_target: HashMap<usize, u32>,
    /// Variables of which some part is read somewhere.
    read: HashSet<usize>,
    found: Vec<Diagnostic>,
}

fn address<T>(x: &T) -> usize {
    std::ptr::from_ref(x) as usize
}

impl<'a, 'n> Flow<'a, 'n> {
    fn new(names: &'n Names<'a>) -> Flow<'a, 'n> {
        Flow {
            names,
            scopes: Vec::new(),
            outer: 0,
            generics: &[],
            vars: Vec::new(),
            by_name: HashMap::new(),
            slots: 0,
            state: State::start(),
            quiet: 0,
            walks: 0,
            calls: 0,
            complete: true,
            returns: Vec::new(),
            exits: State::default(),
            loops: Vec::new(),
            sites: BTreeMap::new(),
            results: BTreeMap::new(),
            fields: BTreeMap::new(),
            definitions: Vec::new(),
            by_target: HashMap::new(),
            read: HashSet::new(),
            found: Vec::new(),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Bodies

    fn function(&mut self, f: &'a ast::FunctionDecl) {
        let Some(body) = &f.body else { return };
        self.begin(&f.type_params, &f.params);
        self.returns.push(State::default());
        self.block(&body.stmts);
        self.end_of_call();
        self.end_results(&f.params, &f.name.name);
    }

    fn control(&mut self, c: &'a ast::ControlDecl) {
        let Some(body) = &c.body else { return };
        self.begin(&c.type_params, &c.params);
        c.constructor_params.iter().for_each(|p| self.bind(&p.name, Local::Other));
        body.locals.iter().for_each(|d| self.local(d));
        self.outer = self.scopes.len();
        self.returns.push(State::default());
        self.block(&body.apply.stmts);
        self.end_of_call();
        let exits = std::mem::take(&mut self.exits);
        self.state.merge(exits);
        self.end_results(&c.params, &c.name.name);
    }

    /// A body is walked by itself: nothing is known of what its callers hold.
    fn begin(&mut self, generics: &'a [Ident], params: &'a [ast::Param]) {
        self.generics = generics;
        self.scopes = vec![HashMap::new()];
        self.outer = 1;
        self.state = State::start();
        self.exits = State::default();
        self.returns.clear();
        self.loops.clear();
        params.iter().for_each(|p| self.param(p));
    }

    fn param(&mut self, p: &'a ast::Param) {
        let at = self.declare(&p.name, &p.ty, Role::Shared);
        if p.direction == Some(Direction::Out) {
            self.start(at);
        }
    }

    /// The callable's statements are done, or have been left.
    fn end_of_call(&mut self) {
        if let Some(left) = self.returns.pop() {
            self.state.merge(left);
        }
    }

    /// Are all results set where a body ends?
    fn end_results(&mut self, params: &'a [ast::Param], of: &str) {
        if !self.complete || self.quiet > 0 || !self.state.reached() {
            return;
        }
        for p in params.iter().filter(|p| p.direction == Some(Direction::Out)) {
            let Some(v) = self.by_name.get(&address(&p.name)).map(|v| &self.vars[*v]) else { continue };
            let leaves = scalars(&v.shape, v.first);
            if leaves.is_empty() {
                continue;
            }
            let all = |f: &dyn Fn(&State, u32) -> bool| leaves.iter().all(|s| f(&self.state, *s));
            let (never, sometimes) = (all(&|s, l| s.only(l, UNSET)), all(&|s, l| s.may(l, UNSET)));
            let site = self.results.entry(address(&p.name)).or_insert_with(|| Site {
                span: p.name.span,
                text: p.name.name.clone(),
                declared: p.name.span,
                set: false,
                unset: false,
            });
            site.text = format!("`{}`|{of}", p.name.name);
            site.set |= !never;
            site.unset |= sometimes;
        }
    }

    /// Values that nothing has read are so for good.
    fn end_of_declaration(&mut self) {
        for d in self.definitions.drain(..) {
            if self.complete && !d.read && self.read.contains(&d.var) && !d.text.starts_with('_') {
                let message = format!("this value of `{}` is never read: each way sets it again, or ends", d.text);
                self.found.push(Diagnostic::warning("unused-value", d.span, message));
            }
        }
        self.by_target.clear();
    }

    fn warnings(mut self) -> Vec<Diagnostic> {
        for s in self.sites.values().filter(|s| s.unset) {
            let text = &s.text;
            let message = match s.set {
                false => format!("`{text}` is read before anything is assigned to it"),
                true => format!("`{text}` is read, but on some way here nothing is assigned to it"),
            };
            self.found.push(Diagnostic::warning("uninitialized", s.span, message).with_place(s.declared, "declared here without a value"));
        }
        for s in self.results.values().filter(|s| s.unset) {
            let (name, of) = s.text.split_once('|').unwrap_or((&s.text, ""));
            let message = match s.set {
                false => format!("{name} is never set: the caller of `{of}` gets what happens to be there"),
                true => format!("{name} is not set on every way: the caller of `{of}` may get what happens to be there"),
            };
            self.found.push(Diagnostic::warning("uninitialized", s.span, message));
        }
        for f in self.fields.values().filter(|f| !f.valid) {
            let message = match f.write {
                true => format!("writing a field of `{}` has no effect: the header is invalid here", f.text),
                false => format!("`{}` is invalid here: its fields hold nothing", f.text),
            };
            self.found.push(Diagnostic::warning("invalid-header", f.span, message));
        }
        self.found
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Names

    fn bind(&mut self, name: &'a Ident, local: Local<'a>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(&name.name, local);
        }
    }

    fn declare(&mut self, name: &'a Ident, ty: &'a ast::Type, role: Role) -> usize {
        let at = match self.by_name.get(&address(name)) {
            Some(at) => *at,
            None => {
                let shape = self.names.shape(ty, self.generics);
                let first = self.slots;
                // What finds no number is not followed.
                let (shape, slots) = match first.checked_add(shape.slots()) {
                    Some(next) => (shape, next),
                    None => (Rc::new(Shape::Other), first),
                };
                self.slots = slots;
                self.vars.push(Variable { name, ty, shape, first, role });
                self.by_name.insert(address(name), self.vars.len() - 1);
                self.vars.len() - 1
            }
        };
        self.bind(name, Local::Var(at));
        at
    }

    /// A variable that holds nothing yet; headers are invalid (P4_16 §8.25).
    fn start(&mut self, var: usize) {
        let v = &self.vars[var];
        start(&v.shape, v.first, &mut self.state);
    }

    fn lookup(&self, path: &ast::Path) -> Option<&Local<'a>> {
        if path.global {
            return None;
        }
        self.scopes.iter().rev().find_map(|s| s.get(path.name.name.as_str()))
    }

    fn find_action(&self, path: &ast::Path) -> Option<&'a ast::ActionDecl> {
        match self.lookup(path) {
            Some(Local::Action(a)) => Some(a),
            Some(_) => None,
            None => match self.names.global(&path.name.name) {
                Some(Global::Action(a)) => Some(a),
                _ => None,
            },
        }
    }

    /// `a.b.c` as a part of a variable.
    fn place(&self, e: &Expr) -> Option<Place<'a>> {
        match &e.kind {
            ExprKind::Path(path) => match self.lookup(path)? {
                Local::Var(var) => {
                    let v = &self.vars[*var];
                    Some(Place { var: *var, slot: v.first, shape: v.shape.clone(), header: None })
                }
                _ => None,
            },
            ExprKind::Member { base, member } => {
                let base = self.place(base)?;
                match &*base.shape {
                    Shape::Struct(fields) => {
                        let mut slot = base.slot;
                        for (name, shape) in fields {
                            if *name == member.name {
                                return Some(Place { slot, shape: shape.clone(), ..base });
                            }
                            slot += shape.slots();
                        }
                        None
                    }
                    Shape::Header(fields) => {
                        let i = fields.iter().position(|f| *f == member.name)? as u32;
                        Some(Place { slot: base.slot + 1 + i, shape: Rc::new(Shape::Scalar), header: Some(base.slot), ..base })
                    }
                    // A part of a header's field.
                    Shape::Scalar => Some(base),
                    Shape::Other => None,
                }
            }
            _ => None,
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Reading and writing

    fn read_place(&mut self, p: &Place<'a>, e: &'a Expr) {
        self.read.insert(p.var);
        for slot in p.slots() {
            for d in self.state.definitions(slot) {
                if let Some(d) = self.definitions.get_mut(d as usize) {
                    d.read = true;
                }
            }
        }
        if self.quiet > 0 || !self.state.reached() {
            return;
        }
        if let Some(header) = p.header {
            self.field(header, e, false);
        }
        let leaves = match p.header {
            Some(_) => vec![p.slot],
            None => scalars(&p.shape, p.slot),
        };
        if leaves.is_empty() {
            return;
        }
        // Of a struct that is read as a whole, some part will do.
        let never = leaves.iter().all(|s| self.state.only(*s, UNSET));
        let sometimes = leaves.iter().all(|s| self.state.may(*s, UNSET));
        let declared = self.vars[p.var].name.span;
        let site = self.sites.entry(address(e)).or_insert_with(|| Site { span: e.span, text: text(e), declared, set: false, unset: false });
        site.set |= !never;
        site.unset |= sometimes;
    }

    fn field(&mut self, header: u32, e: &'a Expr, write: bool) {
        let valid = !self.state.only(header, INVALID);
        if let ExprKind::Member { base, .. } = &e.kind {
            let field = self.fields.entry(address(e)).or_insert_with(|| Field { span: e.span, text: text(base), write, valid: false });
            field.valid |= valid;
        }
    }

    /// The left side of an assignment, or an argument that is written to. `by`: the assignment.
    fn write(&mut self, e: &'a Expr, by: Option<&'a Expr>) {
        match &e.kind {
            ExprKind::Slice { base, hi, lo } | ExprKind::PlusSlice { base, lo: hi, width: lo } => {
                self.expr(hi);
                self.expr(lo);
                self.write_part(base, by);
            }
            ExprKind::Index { base, index } => {
                self.expr(index);
                self.write_part(base, None);
            }
            _ => match self.place(e) {
                Some(p) => {
                    self.note_write(&p, e);
                    let known = by.and_then(|by| self.definition(&p, e, by));
                    for slot in p.slots() {
                        self.state.set(slot, known);
                    }
                }
                None => {
                    if let ExprKind::Member { base, .. } = &e.kind {
                        self.write_part(base, None);
                    }
                }
            },
        }
    }

    /// Some of a place is written: what was there may still be read.
    fn write_part(&mut self, e: &'a Expr, by: Option<&'a Expr>) {
        match (&e.kind, self.place(e)) {
            (_, Some(p)) => {
                self.note_write(&p, e);
                let known = by.and_then(|by| self.definition(&p, e, by));
                for slot in p.slots() {
                    self.state.add(slot, known);
                }
            }
            (ExprKind::Slice { base, hi, lo }, None) => {
                self.expr(hi);
                self.expr(lo);
                self.write_part(base, by);
            }
            (ExprKind::Index { base, index }, None) => {
                self.expr(index);
                self.write_part(base, None);
            }
            (ExprKind::Member { base, .. }, None) => self.write_part(base, None),
            _ => {}
        }
    }

    fn note_write(&mut self, p: &Place<'a>, e: &'a Expr) {
        if let Some(header) = p.header
            && self.quiet == 0
            && self.state.reached()
        {
            self.field(header, e, true);
        }
    }

    /// The number of an assignment to a variable that nobody sees later; of headers other rules hold.
    fn definition(&mut self, p: &Place<'a>, e: &'a Expr, by: &'a Expr) -> Option<u32> {
        if self.vars[p.var].role != Role::Local
            || p.slots().is_empty()
            || p.header.is_some()
            || has_header(&p.shape)
            || !self.state.reached()
        {
            return None;
        }
        let next = self.definitions.len() as u32;
        let at = *self.by_target.entry(address(by)).or_insert(next);
        if at == next {
            self.definitions.push(Definition { span: by.span, text: text(e), var: p.var, read: false });
        }
        Some(at)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Statements

    fn block(&mut self, stmts: &'a [Stmt]) {
        self.scopes.push(HashMap::new());
        stmts.iter().for_each(|s| self.stmt(s));
        self.leave_scope();
    }

    /// The variables of the innermost scope end.
    fn leave_scope(&mut self) {
        for local in self.scopes.pop().into_iter().flat_map(HashMap::into_values) {
            if let Local::Var(v) = local {
                let v = &self.vars[v];
                (v.first..v.first + v.shape.slots()).for_each(|s| self.state.set(s, None));
            }
        }
    }

    fn stmt(&mut self, s: &'a Stmt) {
        if self.walks == 0 {
            self.complete = false;
            return;
        }
        self.walks -= 1;
        match &s.kind {
            StmtKind::Empty => {}
            StmtKind::Decl(d) => self.local(d),
            StmtKind::Assign { target, op, value } => self.assign(target, op.is_some(), value),
            StmtKind::Call(e) => self.expr(e),
            StmtKind::Block(b) => self.block(&b.stmts),
            StmtKind::If { arms, otherwise } => {
                let mut after = State::default();
                for arm in arms {
                    let (yes, no) = self.condition(&arm.cond);
                    self.state = yes;
                    self.block(std::slice::from_ref(&arm.then));
                    after.merge(std::mem::replace(&mut self.state, no));
                }
                if let Some(o) = otherwise {
                    self.block(std::slice::from_ref(o));
                }
                self.state.merge(after);
            }
            StmtKind::Switch { key, cases } => self.switch(key, cases),
            StmtKind::For { init, cond, update, body, .. } => {
                self.scopes.push(HashMap::new());
                init.iter().for_each(|s| self.stmt(s));
                self.turns(|f| {
                    let (yes, no) = f.condition(cond);
                    f.state = yes;
                    f.block(std::slice::from_ref(body));
                    f.next_turn();
                    update.iter().for_each(|s| f.stmt(s));
                    no
                });
                self.leave_scope();
            }
            StmtKind::ForIn { ty, var, collection, body, .. } => {
                self.expr(collection);
                self.scopes.push(HashMap::new());
                if let Some(ty) = ty {
                    self.declare(var, ty, Role::Shared);
                } else if let Some(Local::Var(v)) = self.lookup(&ast::Path { global: false, name: var.clone(), span: var.span }).cloned() {
                    let v = &self.vars[v];
                    (v.first..v.first + v.shape.slots()).for_each(|s| self.state.set(s, None));
                }
                self.turns(|f| {
                    let none_left = f.state.clone();
                    f.block(std::slice::from_ref(body));
                    f.next_turn();
                    none_left
                });
                self.leave_scope();
            }
            StmtKind::Break => self.leave(|l| &mut l.breaks),
            StmtKind::Continue => self.leave(|l| &mut l.continues),
            StmtKind::Return(value) => {
                value.iter().for_each(|e| self.expr(e));
                let state = std::mem::take(&mut self.state);
                if let Some(r) = self.returns.last_mut() {
                    r.merge(state);
                }
            }
            StmtKind::Exit => {
                let state = std::mem::take(&mut self.state);
                self.exits.merge(state);
            }
        }
    }

    /// A loop: `turn` walks one turn from the state at its start, leaves the state at its end, and gives that in which the loop ends.
    fn turns(&mut self, turn: impl Fn(&mut Self) -> State) {
        let mut start = self.state.clone();
        self.quiet += 1;
        for n in 0.. {
            if n == MAX_TURNS {
                self.complete = false;
                break;
            }
            self.loops.push(Leaves::default());
            self.state = start.clone();
            turn(self);
            self.loops.pop();
            let mut next = start.clone();
            next.merge(std::mem::take(&mut self.state));
            if next == start {
                break;
            }
            start = next;
        }
        self.quiet -= 1;
        self.loops.push(Leaves::default());
        self.state = start;
        let done = turn(self);
        self.state = done;
        if let Some(left) = self.loops.pop() {
            self.state.merge(left.breaks);
        }
    }

    fn next_turn(&mut self) {
        let continued = self.loops.last_mut().map(|l| std::mem::take(&mut l.continues));
        self.state.merge(continued.unwrap_or_default());
    }

    fn leave(&mut self, to: impl Fn(&mut Leaves) -> &mut State) {
        let state = std::mem::take(&mut self.state);
        if let Some(l) = self.loops.last_mut() {
            to(l).merge(state);
        }
    }

    fn assign(&mut self, target: &'a Expr, compound: bool, value: &'a Expr) {
        self.expr(value);
        if compound {
            self.expr(target);
        }
        self.write(target, Some(target));
        // What is known of a header that is written or copied as a whole.
        let Some(p) = self.place(target) else { return };
        let Shape::Header(_) = &*p.shape else { return };
        match (&value.kind, self.place(value)) {
            (ExprKind::Invalid, _) => self.state.header(p.slot, INVALID),
            (ExprKind::List { .. } | ExprKind::Struct { .. }, _) => self.state.header(p.slot, VALID),
            (_, Some(from)) if matches!(&*from.shape, Shape::Header(_)) => self.state.copy(from.slot, p.slot, p.shape.slots()),
            _ => {}
        }
    }

    /// A declaration in a parser, control or block.
    fn local(&mut self, d: &'a ast::Decl) {
        match &d.kind {
            DeclKind::Var(v) => {
                v.init.iter().for_each(|e| self.expr(e));
                let at = self.declare(&v.name, &v.ty, Role::Local);
                match &v.init {
                    None => self.start(at),
                    Some(e) => {
                        let v = &self.vars[at];
                        let first = v.first;
                        (first..first + v.shape.slots()).for_each(|s| self.state.set(s, None));
                        if matches!((&*v.shape, &e.kind), (Shape::Header(_), ExprKind::Invalid)) {
                            self.state.header(first, INVALID);
                        }
                    }
                }
            }
            DeclKind::Const(c) => {
                let local = match c.value.kind {
                    ExprKind::Bool(b) => Local::Flag(b),
                    _ => Local::Other,
                };
                self.bind(&c.name, local);
            }
            DeclKind::Action(a) => self.bind(&a.name, Local::Action(a)),
            DeclKind::Table(t) => self.bind(&t.name, Local::Table(t)),
            DeclKind::Instantiation(i) => self.bind(&i.name, Local::Instance(&i.ty)),
            _ => {
                if let Some(name) = d.name() {
                    self.bind(name, Local::Other);
                }
            }
        }
    }

    fn switch(&mut self, key: &'a Expr, cases: &'a [ast::SwitchCase]) {
        if let ExprKind::Member { base, member } = &key.kind
            && member.name == "action_run"
            && let Some(t) = self.applied(base)
        {
            return self.switch_on_action(t, cases);
        }
        self.expr(key);
        let start = self.state.clone();
        let mut after = State::default();
        // Which case a constant takes is not followed; one it will be.
        let mut default = is_constant(key);
        for c in cases {
            default |= matches!(c.label.kind, ExprKind::Default);
            if let Some(body) = &c.body {
                self.state = start.clone();
                self.block(&body.stmts);
                after.merge(std::mem::take(&mut self.state));
            }
        }
        self.state = after;
        // Labels at the end without a body do nothing.
        if !default || cases.last().is_some_and(|c| c.body.is_none()) {
            self.state.merge(start);
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Expressions

    /// Walks a condition; gives the states in which it holds and does not.
    fn condition(&mut self, e: &'a Expr) -> (State, State) {
        match &e.kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let (yes, no) = self.condition(operand);
                (no, yes)
            }
            ExprKind::Binary { op: op @ (BinOp::And | BinOp::Or), left, right } => {
                let (yes, no) = self.condition(left);
                let and = *op == BinOp::And;
                let (goes_on, mut decided) = if and { (yes, no) } else { (no, yes) };
                self.state = goes_on;
                let (yes, no) = self.condition(right);
                if and {
                    decided.merge(no);
                    (yes, decided)
                } else {
                    decided.merge(yes);
                    (decided, no)
                }
            }
            ExprKind::Bool(b) => self.constant(*b),
            ExprKind::Path(path) => {
                let flag = match (self.lookup(path), self.names.global(&path.name.name)) {
                    (Some(Local::Flag(b)), _) | (None, Some(Global::Flag(b))) => Some(*b),
                    _ => None,
                };
                self.expr(e);
                match flag {
                    Some(b) => self.constant(b),
                    None => (self.state.clone(), self.state.clone()),
                }
            }
            ExprKind::Member { base, member } if matches!(member.name.as_str(), "hit" | "miss") => match self.applied(base) {
                Some(t) => {
                    let outcome = self.table(t);
                    if member.name == "hit" { (outcome.hit, outcome.miss) } else { (outcome.miss, outcome.hit) }
                }
                None => {
                    self.expr(e);
                    (self.state.clone(), self.state.clone())
                }
            },
            ExprKind::Call { callee, .. } => {
                if let ExprKind::Member { base, member } = &callee.kind
                    && member.name == "isValid"
                    && let Some(p) = self.place(base)
                    && matches!(&*p.shape, Shape::Header(_))
                {
                    let (mut yes, mut no) = (self.state.clone(), self.state.clone());
                    yes.header(p.slot, VALID);
                    no.header(p.slot, INVALID);
                    return (yes, no);
                }
                self.expr(e);
                (self.state.clone(), self.state.clone())
            }
            _ => {
                self.expr(e);
                (self.state.clone(), self.state.clone())
            }
        }
    }

    fn constant(&self, b: bool) -> (State, State) {
        if b { (self.state.clone(), State::default()) } else { (State::default(), self.state.clone()) }
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Path(_) | ExprKind::Member { .. } => match (self.place(e), &e.kind) {
                (Some(p), _) => self.read_place(&p, e),
                (None, ExprKind::Member { base, .. }) => self.base(base),
                _ => {}
            },
            ExprKind::Call { callee, args, .. } => self.call(callee, args),
            ExprKind::Binary { op: BinOp::And | BinOp::Or, .. } => {
                let (mut yes, no) = self.condition(e);
                yes.merge(no);
                self.state = yes;
            }
            ExprKind::Ternary { cond, then, otherwise } => {
                let (yes, no) = self.condition(cond);
                self.state = yes;
                self.expr(then);
                let after = std::mem::replace(&mut self.state, no);
                self.expr(otherwise);
                self.state.merge(after);
            }
            _ => e.operands(&mut |x| self.expr(x)),
        }
    }

    /// What stands left of a dot whose right side is not followed.
    fn base(&mut self, e: &'a Expr) {
        match (&e.kind, self.place(e)) {
            (_, Some(p)) => {
                self.read.insert(p.var);
            }
            _ => self.expr(e),
        }
    }
}

/// The parts that hold a number, of headers none.
fn scalars(shape: &Shape, first: u32) -> Vec<u32> {
    match shape {
        Shape::Scalar => vec![first],
        Shape::Header(_) | Shape::Other => Vec::new(),
        Shape::Struct(fields) => {
            let mut slot = first;
            let mut all = Vec::new();
            for (_, s) in fields {
                all.extend(scalars(s, slot));
                slot += s.slots();
            }
            all
        }
    }
}

fn has_header(shape: &Shape) -> bool {
    match shape {
        Shape::Header(_) => true,
        Shape::Struct(fields) => fields.iter().any(|(_, s)| has_header(s)),
        Shape::Scalar | Shape::Other => false,
    }
}

fn start(shape: &Shape, first: u32, state: &mut State) {
    match shape {
        Shape::Scalar => state.set(first, Some(UNSET)),
        Shape::Header(fields) => {
            (first + 1..=first + fields.len() as u32).for_each(|s| state.set(s, None));
            state.header(first, INVALID);
        }
        Shape::Struct(fields) => {
            let mut slot = first;
            for (_, s) in fields {
                start(s, slot, state);
                slot += s.slots();
            }
        }
        Shape::Other => {}
    }
}

/// Whether an expression has no variables.
fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) => true,
        // A member of an enum.
        ExprKind::Member { base, .. } => matches!(base.kind, ExprKind::Type(_)),
        ExprKind::Cast { operand, .. } | ExprKind::Unary { operand, .. } => is_constant(operand),
        _ => false,
    }
}

/// `a.b.c` as it is written.
fn text(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Path(path) => path.name.name.clone(),
        ExprKind::Member { base, member } => format!("{}.{}", text(base), member.name),
        _ => "...".to_owned(),
    }
}
