//! What must hold of declarations by themselves, wherever they are used? Annotations, `@optional`, constructors, the
//! name `main`, and `NoAction` (P4_16 §7.2.10, §14.2.1.3, §20).

use crate::lower::cx::Cx;
use crate::names::scope::{Entity, ScopeId};
use crate::types::*;
use p4_syntax::ast::{self, Annotation, AnnotationBody, AnnotationTokenKind, Decl, DeclKind};
use p4_syntax::{Diagnostic, Span};
use std::collections::HashMap;

/// Versions of v1model, as dates.
const V1MODEL_VERSIONS: std::ops::RangeInclusive<u32> = 20180101..=20200408;

impl<'a> Cx<'a> {
    /// Looks at every declaration of the program once, after all names are declared.
    pub(crate) fn rules(&mut self, program: &'a ast::Program) {
        for d in &program.decls {
            if self.sink.is_stopped() {
                return;
            }
            self.decl_rules(d);
            self.annotation_values(&d.annotations);
        }
        self.shadowed_params(program);
        self.v1model_version(program);
        self.no_action_rule(program);
    }

    fn decl_rules(&mut self, d: &'a Decl) {
        self.annotations(&d.annotations, d.span);
        match &d.kind {
            DeclKind::Composite(c) => c.fields.iter().for_each(|f| self.annotations(&f.annotations, f.span)),
            DeclKind::Typedef(t) => {
                if let ast::TypedefTarget::Decl(inner) = &t.target {
                    self.decl_rules(inner);
                }
            }
            DeclKind::Function(f) => {
                self.params(&f.params);
                if f.body.is_some() {
                    self.not_optional(&f.params, "of a function with a body");
                }
            }
            DeclKind::Action(a) => {
                self.params(&a.params);
                self.not_optional(&a.params, "of an action");
            }
            DeclKind::Extern(e) => e.methods.iter().for_each(|m| {
                self.annotations(&m.annotations, m.span);
                self.params(&m.params);
                if m.ret.is_none() {
                    self.no_direction(&m.params, "a constructor");
                }
                if m.ret.is_some() && m.name.name == e.name.name {
                    let d = Diagnostic::error(
                        "constructor",
                        m.name.span,
                        format!("a constructor of `{}` cannot have a result type", e.name.name),
                    );
                    self.report(d.with_help(format!("write `{}(...);`", e.name.name)));
                }
            }),
            DeclKind::Package(p) => {
                self.params(&p.params);
                self.no_direction(&p.params, "a package");
            }
            DeclKind::Parser(p) => {
                self.block_params_rule(&p.params, &p.constructor_params, p.body.is_some());
                if let Some(b) = &p.body {
                    b.locals.iter().for_each(|d| self.decl_rules(d));
                    b.states.iter().for_each(|s| self.annotations(&s.annotations, s.span));
                }
            }
            DeclKind::Control(c) => {
                self.block_params_rule(&c.params, &c.constructor_params, c.body.is_some());
                if let Some(b) = &c.body {
                    b.locals.iter().for_each(|d| self.decl_rules(d));
                    self.annotations(&b.apply.annotations, b.apply.span);
                }
            }
            DeclKind::Table(t) => {
                for p in &t.properties {
                    self.annotations(&p.annotations, p.span);
                    if let ast::TablePropertyKind::Key(keys) = &p.kind {
                        keys.iter().for_each(|k| self.annotations(&k.annotations, k.span));
                    }
                }
            }
            _ => {}
        }
        if let (Some(name), false) = (d.name(), matches!(d.kind, DeclKind::Instantiation(_) | DeclKind::Function(_)))
            && name.name == "main"
            && self.is_global(name.span)
        {
            self.error("no-main", name.span, "`main` must be an instance of a package");
        }
    }

    /// Whether what is named at `span` is declared at top level.
    fn is_global(&self, span: Span) -> bool {
        self.scopes.globals("main").any(|(_, _, s)| s == span)
    }

    fn params(&mut self, params: &'a [ast::Param]) {
        params.iter().for_each(|p| self.annotations(&p.annotations, p.span));
    }

    fn block_params_rule(&mut self, params: &'a [ast::Param], constructor: &'a [ast::Param], body: bool) {
        self.params(params);
        self.params(constructor);
        self.no_direction(constructor, "a constructor");
        if body {
            self.not_optional(constructor, "of a constructor of a parser or control");
        }
    }

    fn no_direction(&mut self, params: &'a [ast::Param], of_what: &str) {
        for p in params.iter().filter(|p| p.direction.is_some()) {
            let message = format!("parameter `{}` of {of_what} cannot have a direction", p.name.name);
            self.error("direction", p.span, message);
        }
    }

    fn not_optional(&mut self, params: &'a [ast::Param], of_what: &str) {
        for p in params {
            if ast::find_annotation(&p.annotations, "optional").is_some() {
                let d = Diagnostic::error("annotation", p.span, format!("parameter `{}` {of_what} cannot be `@optional`", p.name.name));
                self.report(d.with_help("give it a default value: `T x = ...`"));
            }
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Annotations (P4_16 §20)

    /// Annotations of what lies at `span`.
    fn annotations(&mut self, list: &'a [Annotation], span: Span) {
        let mut first: HashMap<&str, (bool, Span)> = HashMap::new();
        for a in list {
            let name = a.name.name.as_str();
            let structured = matches!(a.body, AnnotationBody::Exprs(_) | AnnotationBody::Pairs(_));
            if let Some((before, span)) = first.insert(name, (structured, a.span))
                && (before || structured)
            {
                let d = Diagnostic::error("duplicate", a.span, format!("structured annotation `@{name}` is given twice"));
                self.report(d.with_place(span, "first given here"));
            }
            self.duplicate_keys(a);
            match (name, &a.body) {
                ("name" | "deprecated", AnnotationBody::Unstructured(tokens)) => {
                    let text = |(i, t): (usize, &ast::AnnotationToken)| match (&t.kind, i % 2) {
                        (AnnotationTokenKind::Str(_), 0) => true,
                        (AnnotationTokenKind::Punct(p), 1) => *p == "++",
                        _ => false,
                    };
                    if tokens.len().is_multiple_of(2) || !tokens.iter().enumerate().all(text) {
                        self.error("annotation", a.span, format!("`@{name}` takes a string"));
                    }
                }
                ("noWarn", body) => match body {
                    AnnotationBody::Unstructured(tokens) if !tokens.is_empty() && tokens.iter().all(is_string_or_comma) => {
                        for token in tokens {
                            if let AnnotationTokenKind::Str(code) = &token.kind {
                                // p4c tells two kinds apart.
                                let ours = if code.starts_with("uninitialized") { "uninitialized" } else { code };
                                self.sink.without(span, ours);
                            }
                        }
                    }
                    _ => {
                        let d = Diagnostic::warning("ignored", a.span, "`@noWarn` takes the kinds of warnings that are not wanted");
                        self.report(d.with_help("write `@noWarn(\"unused\")`, with what stands in brackets behind `warning`"));
                    }
                },
                ("match", AnnotationBody::Unstructured(tokens)) => match tokens.as_slice() {
                    [t] if matches!(&t.kind, AnnotationTokenKind::Word(w) if self.decls.is_match_kind(w)) => {}
                    _ => {
                        self.error("annotation", a.span, "`@match` takes a match kind, such as `exact`");
                    }
                },
                ("p4runtime_translation", AnnotationBody::Unstructured(tokens)) if !is_translation(tokens) => {
                    let d = Diagnostic::error("annotation", a.span, "`@p4runtime_translation` takes a name and the control plane's type");
                    self.report(d.with_help("write `@p4runtime_translation(\"uri\", string)` or `(\"uri\", bit<32>)`"));
                }
                ("pkginfo", AnnotationBody::None) => {
                    let d = Diagnostic::error("annotation", a.span, "`@pkginfo` needs what it is to say");
                    self.report(d.with_help("write `@pkginfo(name = \"...\", version = \"...\")`"));
                }
                _ => {}
            }
        }
    }

    fn duplicate_keys(&mut self, a: &'a Annotation) {
        let AnnotationBody::Pairs(pairs) = &a.body else { return };
        let mut first: HashMap<&str, Span> = HashMap::new();
        for p in pairs {
            if let Some(span) = first.insert(&p.name.name, p.name.span) {
                let d = Diagnostic::error("duplicate", p.name.span, format!("key `{}` is given twice", p.name.name));
                self.report(d.with_place(span, "first given here"));
            }
        }
    }

    /// The values of a structured annotation at top level are numbers, strings or booleans known at compile time (§20.3).
    fn annotation_values(&mut self, list: &'a [Annotation]) {
        for a in list {
            let values: Vec<&'a ast::Expr> = match &a.body {
                AnnotationBody::Exprs(list) => list.iter().collect(),
                AnnotationBody::Pairs(pairs) => pairs.iter().map(|p| &p.value).collect(),
                _ => continue,
            };
            for e in values {
                let Ok(v) = self.in_scope(ScopeId::GLOBAL, |cx| cx.pure(e, "the value of an annotation")) else { continue };
                if !matches!(v.ty, Type::Int | Type::Bits { .. } | Type::Str | Type::Bool | Type::Bad) {
                    let message = format!("the value of an annotation must be a number, a string or a bool, not {}", v.ty);
                    self.error("annotation", e.span, message);
                }
            }
        }
    }

    /// The version that a `v1model.p4` other than ours was asked for; ours refuses it by itself.
    fn v1model_version(&mut self, program: &'a ast::Program) {
        let version = program.decls.iter().find_map(|d| match &d.kind {
            DeclKind::Const(c) if c.name.name == "__v1model_version" => Some(c),
            _ => None,
        });
        let Some(c) = version else { return };
        if let Ok(n) = self.in_scope(ScopeId::GLOBAL, |cx| cx.const_int(&c.value, "the version of v1model"))
            && !u32::try_from(&n).is_ok_and(|n| V1MODEL_VERSIONS.contains(&n))
        {
            let message = format!("{n} is no version of v1model: they are {} to {}", V1MODEL_VERSIONS.start(), V1MODEL_VERSIONS.end());
            self.error("out-of-range", c.value.span, message);
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // NoAction

    /// A table without a default action runs `NoAction`, so whatever else has that name is in the way (§14.2.1.3).
    fn no_action_rule(&mut self, program: &'a ast::Program) {
        let declared = self.scopes.global("NoAction").map(|(e, s)| (e.clone(), s));
        let Some((entity, span)) = declared else { return };
        let fits = match entity {
            Entity::Action(_, decl) => decl.params.is_empty(),
            Entity::Bad => true,
            _ => false,
        };
        if fits {
            return;
        }
        let tables = program.decls.iter().filter_map(|d| match &d.kind {
            DeclKind::Control(c) => c.body.as_ref(),
            _ => None,
        });
        let needs = |d: &&Decl| matches!(&d.kind, DeclKind::Table(t) if t.property("default_action").is_none());
        if let Some(table) = tables.flat_map(|b| &b.locals).find(needs) {
            let d = Diagnostic::error("table", span, "`NoAction` must be an action without parameters");
            self.report(d.with_place(table.span, "this table has no `default_action`, so it runs `NoAction`"));
        }
    }
}

fn is_string_or_comma(token: &ast::AnnotationToken) -> bool {
    matches!(token.kind, AnnotationTokenKind::Str(_) | AnnotationTokenKind::Punct(","))
}

/// `"uri", string`, `"uri", bit<W>` or the older `"uri", W`: what the P4Runtime specification has for the type.
fn is_translation(tokens: &[ast::AnnotationToken]) -> bool {
    use AnnotationTokenKind as T;
    let kinds: Vec<&T> = tokens.iter().map(|t| &t.kind).collect();
    let ty = match kinds.as_slice() {
        [T::Str(_), T::Punct(","), ty @ ..] => ty,
        _ => return false,
    };
    match ty {
        [T::Int(_)] => true,
        [T::Word(w)] => w == "string",
        [T::Word(w), T::Punct("<"), T::Int(_), T::Punct(">")] => w == "bit",
        _ => false,
    }
}
