//! What does every part of the checker share? The IR under construction, scopes, the current body, diagnostics, budgets.
//!
//! Checking and lowering are one walk: a body is checked by lowering it where it is used, with all types known. What
//! no package reaches is lowered too, after the result has been set aside (`unused.rs`).

use crate::scope::{Scope, ScopeId};
use crate::types::{Composite, NAME_MARK, Type};
use crate::value::{ObjId, Tv, Val};
use indexmap::IndexMap;
use p4_ir::origin::Construct;
use p4_ir::{Architecture, Block, Expr, HeaderId, HeaderTypeId, Ir, LValue, LabelId, PipeId, StackId, StateId, Stmt, Ty, Var, VarId};
use p4_syntax::{Diagnostic, SourceMap, Span, ast};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Proof that a diagnostic was reported; the caller that receives it returns without another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported(());

pub(crate) type R<T> = Result<T, Reported>;

/// Most statements a program may inline to, and most expression nodes that are looked at.
const FUEL: u64 = 1_500_000;
/// Deepest nesting of statements, expressions and inlined calls together.
const MAX_DEPTH: u32 = 330;
/// Errors after which nothing more is said.
const MAX_DIAGNOSTICS: usize = 60;
/// Warnings after which no more are given.
const MAX_WARNINGS: usize = 200;

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

/// Everything.
pub(crate) struct Cx<'a> {
    pub map: &'a SourceMap,
    pub diags: Vec<Diagnostic>,
    said: HashSet<(Span, String)>,
    errors_said: usize,
    warnings_said: usize,
    pub ir: Ir,
    pub scopes: Vec<Scope<'a>>,
    pub externs: Vec<&'a ast::ExternDecl>,
    pub blocks: Vec<crate::block::BlockDecl<'a>>,
    pub packages: Vec<&'a ast::PackageDecl>,
    pub objects: Vec<crate::objects::Object<'a>>,
    pub actions: Vec<crate::action::Action<'a>>,
    pub tables: Vec<crate::table::Table<'a>>,
    pub generics: Vec<crate::resolve::Generic<'a>>,
    pub errors: IndexMap<String, Span>,
    pub match_kinds: HashMap<String, Span>,
    pub next_type_id: u32,
    /// Types of numbers wider than the IR's values, by width and whether they are signed.
    pub wide_types: HashMap<(u32, bool), Type>,
    pub header_types: HashMap<u32, HeaderTypeId>,
    pub stack_of: HashMap<HeaderId, StackId>,
    pub unions: u32,
    /// Stacks of unions, by the first header of their first element.
    pub union_stacks: HashMap<HeaderId, crate::unions::UnionStack>,
    /// Stacks that lie beside another: stands for all of them where storage is compared.
    pub stack_root: HashMap<StackId, StackId>,
    /// Headers that are varbit variables.
    pub varbit_vars: HashSet<HeaderId>,
    names: HashMap<String, u32>,
    /// Variables that are written once, so that their value may be used later.
    pub stable: HashSet<VarId>,
    /// Statements of the body so far.
    pub out: Block,
    pub body: Body,
    /// Control instances that are being applied, outermost first.
    pub active: Vec<ObjId>,
    /// Addresses of declarations whose bodies have been lowered.
    pub lowered: HashSet<usize>,
    pub main: Option<(ObjId, Span)>,
    /// The `NoAction` of programs that declare none.
    pub implicit_no_action: Option<p4_ir::ActionId>,
    /// Where counters and meters ask for `@pdu_length`.
    pub pdu_users: Vec<Span>,
    /// P4Runtime's ids, as far as the source gives them.
    pub ids: crate::ids::Ids,
    /// Uses of direct counters and meters in actions of tables that lack them.
    pub foreign_uses: Vec<crate::table::ForeignUse<'a>>,
    /// A built-in file that the program should have included.
    pub missing_include: Option<&'static str>,
    /// The package of `main`, where it is not the one that is compiled.
    pub other_architecture: Option<String>,
    fuel: u64,
    depth: u32,
    /// What is being lowered: the innermost statement, call or expression.
    at: Span,
    /// Set once a budget is spent: everything stops.
    pub stopped: bool,
    /// In the second walk, over what the program does not use.
    pub unused_walk: bool,
    /// The instance whose methods are being looked at.
    pub this: Option<Tv>,
    pub check_only: bool,
    /// In the arguments of `extract`, which rejects by itself when a stack is full.
    pub extracting: bool,
    /// The program is compiled for a model of a chip.
    pub for_chip: bool,
    /// A program for PSA is lowered to be run.
    pub psa: bool,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(map: &'a SourceMap, check_only: bool) -> Cx<'a> {
        Cx {
            map,
            diags: Vec::new(),
            said: HashSet::new(),
            errors_said: 0,
            warnings_said: 0,
            ir: Ir::new(Architecture::V1Model),
            scopes: vec![Scope::root()],
            externs: Vec::new(),
            blocks: Vec::new(),
            packages: Vec::new(),
            objects: Vec::new(),
            actions: Vec::new(),
            tables: Vec::new(),
            generics: Vec::new(),
            errors: IndexMap::new(),
            match_kinds: HashMap::new(),
            next_type_id: 0,
            wide_types: HashMap::new(),
            header_types: HashMap::new(),
            stack_of: HashMap::new(),
            unions: 0,
            union_stacks: HashMap::new(),
            stack_root: HashMap::new(),
            varbit_vars: HashSet::new(),
            names: HashMap::new(),
            stable: HashSet::new(),
            out: Vec::new(),
            body: Body::new(ScopeId::GLOBAL),
            active: Vec::new(),
            lowered: HashSet::new(),
            main: None,
            implicit_no_action: None,
            pdu_users: Vec::new(),
            ids: Default::default(),
            foreign_uses: Vec::new(),
            missing_include: None,
            other_architecture: None,
            fuel: FUEL,
            depth: 0,
            at: Span::default(),
            stopped: false,
            unused_walk: false,
            this: None,
            check_only,
            extracting: false,
            for_chip: false,
            psa: false,
        }
    }

    /// Whether externs are TNA's, to be placed.
    pub(crate) fn is_tna(&self) -> bool {
        self.for_chip && self.packages.iter().any(|p| p.name.name == crate::tna::PACKAGE)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Diagnostics

    /// Gives a diagnostic, once for each place and text: a body inlined twice is not to be blamed twice.
    pub(crate) fn report(&mut self, d: Diagnostic) -> Reported {
        // What this compiler cannot run is no fault of a program that is only checked, but what depends on it stays unchecked.
        let d = match self.check_only && d.code == "unsupported" {
            true => Diagnostic { severity: p4_syntax::Severity::Warning, code: "unchecked", help: None, ..d },
            false => d,
        };
        let d = self.with_names(d);
        if !self.stopped && self.said.insert((d.span, d.message.clone())) {
            let count = if d.is_error() { &mut self.errors_said } else { &mut self.warnings_said };
            *count += 1;
            if d.is_error() || *count <= MAX_WARNINGS {
                self.diags.push(d);
            }
            self.stopped |= self.errors_said >= MAX_DIAGNOSTICS;
        }
        Reported(())
    }

    /// Puts names where types of externs, parsers, controls and packages left marks.
    fn with_names(&self, mut d: Diagnostic) -> Diagnostic {
        let texts = std::iter::once(&mut d.message)
            .chain(d.label.iter_mut())
            .chain(d.labels.iter_mut().map(|l| &mut l.message))
            .chain(d.notes.iter_mut())
            .chain(d.help.iter_mut());
        for text in texts.filter(|t| t.contains(NAME_MARK)) {
            let named = text.split(NAME_MARK).enumerate().map(|(i, part)| match (i % 2, part.split_at_checked(1)) {
                (1, Some((kind, at))) => self.name_of(kind, at.parse().unwrap_or(usize::MAX)),
                _ => part.to_owned(),
            });
            *text = named.collect();
        }
        d
    }

    fn name_of(&self, kind: &str, at: usize) -> String {
        match kind {
            "e" => self.externs.get(at).map(|e| format!("extern {}", e.name.name)),
            "p" => self.packages.get(at).map(|p| format!("package {}", p.name.name)),
            _ => self.blocks.get(at).map(|b| format!("{} {}", if b.is_parser() { "parser" } else { "control" }, b.name().name)),
        }
        .unwrap_or_default()
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
        Reported(())
    }

    pub(crate) fn has_errors(&self) -> bool {
        p4_syntax::has_errors(&self.diags)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Budgets

    /// Takes `n` units of the budget for the size of the inlined program.
    pub(crate) fn spend(&mut self, n: u64, span: Span) -> R<()> {
        if self.stopped {
            return Err(Reported(()));
        }
        if self.fuel < n {
            let e = self.error("too-large", span, "the program becomes too large when calls are inlined");
            self.stopped = true;
            return Err(e);
        }
        self.fuel -= n;
        Ok(())
    }

    /// Runs `f` one level deeper.
    pub(crate) fn nested<T>(&mut self, span: Span, f: impl FnOnce(&mut Cx<'a>) -> R<T>) -> R<T> {
        self.spend(1, span)?;
        if self.depth >= MAX_DEPTH {
            return Err(self.error("too-deep", span, "statements, expressions and calls nest too deep here"));
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.at, span);
        let result = f(self);
        self.at = outer;
        self.depth -= 1;
        result
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Names and storage

    /// A name no other variable, header or stack has: the second `x` becomes `x#2`.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let n = self.names.entry(name.to_owned()).or_insert(0);
        *n += 1;
        if *n == 1 { name.to_owned() } else { format!("{name}#{n}") }
    }

    /// The name of something declared in the current body.
    pub(crate) fn local_name(&self, name: &str) -> String {
        if self.body.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.body.path) }
    }

    pub(crate) fn new_var(&mut self, name: &str, ty: Ty) -> VarId {
        let name = self.unique(name);
        self.ir.vars.push(Var { name, ty })
    }

    /// A variable for a value that is needed later; written once.
    pub(crate) fn temp(&mut self, ty: Ty) -> VarId {
        let name = self.local_name("tmp");
        let v = self.new_var(&name, ty);
        self.stable.insert(v);
        v
    }

    pub(crate) fn new_label(&mut self, name: &str) -> LabelId {
        let name = self.local_name(name);
        self.ir.labels.push(name)
    }

    pub(crate) fn header_type(&mut self, c: &Rc<Composite>) -> HeaderTypeId {
        if let Some(id) = self.header_types.get(&c.id) {
            return *id;
        }
        let mut fields = Vec::new();
        let mut offset = 0;
        flatten_header(c, "", &mut fields, &mut offset);
        // v1model pads a header to whole bytes, behind its last field (as BMv2 does).
        let varbit = fields.last().is_some_and(|f| f.varbit);
        if offset % 8 != 0 && !varbit {
            let ty = Ty::Bit(8 - offset % 8);
            fields.push(p4_ir::Field { name: "_padding".into(), ty, offset_bits: offset, varbit: false });
        }
        let fixed_bits = fields.iter().filter(|f| !f.varbit).map(|f| f.ty.width()).sum();
        let id = self.ir.header_types.push(p4_ir::HeaderType { name: c.name.clone(), fields, fixed_bits });
        self.header_types.insert(c.id, id);
        id
    }

    pub(crate) fn new_header(&mut self, name: &str, c: &Rc<Composite>, union: Option<u32>) -> HeaderId {
        let ty = self.header_type(c);
        let name = self.unique(name);
        self.ir.headers.push(p4_ir::Header { name, ty, union })
    }

    /// The type of the header that is a varbit variable.
    fn varbit_type(&mut self, width: u32) -> HeaderTypeId {
        let name = format!("varbit<{width}>");
        if let Some((id, _)) = self.ir.header_types.iter().find(|(_, t)| t.name == name) {
            return id;
        }
        let field = p4_ir::Field { name: "value".into(), ty: Ty::Bit(width), offset_bits: 0, varbit: true };
        self.ir.header_types.push(p4_ir::HeaderType { name, fields: vec![field], fixed_bits: 0 })
    }

    /// Storage for a variable of any type that has one.
    pub(crate) fn storage(&mut self, name: &str, ty: &Type, span: Span) -> R<Val> {
        self.spend(ty.leaves(), span)?;
        if let Some(t) = ty.scalar() {
            return Ok(Val::Place(LValue::Var(self.new_var(name, t)), t));
        }
        match ty {
            Type::Bad => Err(Reported(())),
            Type::New(n) => self.storage(name, &n.target.clone(), span),
            Type::Composite(c) => match c.kind {
                crate::types::Kind::Struct => {
                    let mut fields = Vec::new();
                    for f in &c.fields {
                        fields.push(self.storage(&format!("{name}.{}", f.name), &f.ty, span)?);
                    }
                    Ok(Val::Agg(fields.into()))
                }
                crate::types::Kind::Header => Ok(Val::Header(p4_ir::HeaderRef::Static(self.new_header(name, c, None)))),
                crate::types::Kind::Union => {
                    let number = self.unions;
                    self.unions += 1;
                    let mut members = Vec::new();
                    for f in &c.fields {
                        let Some(h) = f.ty.header() else { return Err(self.bug(span, "a union member is no header")) };
                        let h = h.clone();
                        let id = self.new_header(&format!("{name}.{}", f.name), &h, Some(number));
                        members.push(Val::Header(p4_ir::HeaderRef::Static(id)));
                    }
                    Ok(Val::Union(members.into()))
                }
            },
            Type::Tuple(ts) => {
                let mut fields = Vec::new();
                for (i, t) in ts.iter().enumerate() {
                    fields.push(self.storage(&format!("{name}.{i}"), t, span)?);
                }
                Ok(Val::Agg(fields.into()))
            }
            Type::Stack(t, n) => match t.header() {
                Some(c) => {
                    let c = c.clone();
                    let name = self.unique(name);
                    let elements: Vec<HeaderId> = (0..*n).map(|i| self.new_header(&format!("{name}[{i}]"), &c, None)).collect();
                    self.note(Construct::Stack, span);
                    let id = self.ir.stacks.push(p4_ir::Stack { name, elements: elements.clone() });
                    for e in &elements {
                        self.stack_of.insert(*e, id);
                    }
                    Ok(Val::Stack(id, elements.into()))
                }
                None => {
                    let mut elements = Vec::new();
                    for i in 0..*n {
                        elements.push(self.storage(&format!("{name}[{i}]"), t, span)?);
                    }
                    if let Type::Composite(c) = &**t
                        && c.kind == crate::types::Kind::Union
                    {
                        let c = c.clone();
                        self.new_union_stack(name, &elements, &c);
                    }
                    Ok(Val::Array(elements.into()))
                }
            },
            Type::Varbit(w) => {
                // A header of its own with nothing but this field; invalid, and so empty, until something is assigned.
                let id = self.varbit_type(*w);
                let name = self.unique(name);
                let h = self.ir.headers.push(p4_ir::Header { name, ty: id, union: None });
                self.varbit_vars.insert(h);
                Ok(Val::Varbit(p4_ir::HeaderRef::Static(h), 0))
            }
            Type::Int => Err(self.unsupported(span, format!("a variable of type {ty}"))),
            other => Err(self.error("type-mismatch", span, format!("there are no variables of type {other}"))),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Output

    pub(crate) fn emit(&mut self, s: Stmt) {
        if let Some(construct) = crate::origins::of_stmt(&self.ir, &s) {
            self.note(construct, self.at);
        }
        self.out.push(s);
    }

    /// Notes where something is that a target may refuse.
    pub(crate) fn note(&mut self, construct: Construct, span: Span) {
        self.ir.origins.note(construct, crate::origins::origin(span));
    }

    pub(crate) fn emit_assign(&mut self, to: LValue, value: Expr) {
        self.emit(Stmt::Assign(to, value));
    }

    /// Collects what `f` emits into a block of its own.
    pub(crate) fn block<T>(&mut self, f: impl FnOnce(&mut Cx<'a>) -> R<T>) -> (R<T>, Block) {
        let outer = std::mem::take(&mut self.out);
        let result = f(self);
        let inner = std::mem::replace(&mut self.out, outer);
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

fn flatten_header(c: &Composite, prefix: &str, fields: &mut Vec<p4_ir::Field>, offset: &mut u32) {
    for f in &c.fields {
        let name = format!("{prefix}{}", f.name);
        flatten_field(&f.ty, name, fields, offset);
    }
}

fn flatten_field(ty: &Type, name: String, fields: &mut Vec<p4_ir::Field>, offset: &mut u32) {
    let (ty, varbit) = match ty {
        Type::Varbit(w) => (Ty::Bit(*w), true),
        Type::Composite(c) => return flatten_header(c, &format!("{name}."), fields, offset),
        Type::New(n) => return flatten_field(&n.target, name, fields, offset),
        Type::Stack(t, n) => return (0..*n).for_each(|i| flatten_field(t, format!("{name}[{i}]"), fields, offset)),
        // A field of a bad type has been reported; a bit in its place keeps the rest going.
        other => (other.scalar().unwrap_or(Ty::Bit(1)), false),
    };
    fields.push(p4_ir::Field { name, ty, offset_bits: *offset, varbit });
    *offset = offset.saturating_add(ty.width());
}
