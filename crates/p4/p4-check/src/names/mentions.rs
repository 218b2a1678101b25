//! What do the names of a program mean, place by place? An editor asks ([`Index`]), and so does `@deprecated`, of which every use is warned.
//!
//! Names are noted as they are looked up, so what is noted is what the program means there. Of a body that is inlined more than once the
//! first use counts.

use super::cx::Names;
use super::scope::Entity;
use crate::types::*;
use p4_syntax::{Span, ast};
use std::collections::HashMap;

/// The names of a program, for an editor.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Places where a name stands, each once, in the order in which they were looked at.
    pub mentions: Vec<Mention>,
    /// Places behind a dot where no member of that name is, with those that are.
    pub unknown: Vec<Unknown>,
}

/// A place where a name stands.
#[derive(Clone, Debug)]
pub struct Mention {
    /// The place.
    pub span: Span,
    /// Where the name is declared; `None` for what the language itself gives.
    pub declared: Option<Span>,
    /// What it is: a value's type, width and name, else the kind of thing and its name.
    pub what: String,
}

/// A place behind a dot.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The place.
    pub span: Span,
    /// What could stand there.
    pub members: Vec<Member>,
}

/// A member of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// A field's type and width, or `method`.
    pub what: String,
    /// Whether it is called.
    pub method: bool,
}

/// What is noted.
#[derive(Default)]
pub(crate) struct Mentions<'a> {
    /// What is declared `@deprecated`, by its place, with what to do instead.
    deprecated: HashMap<Span, &'a str>,
    /// Whether an editor asks.
    wanted: bool,
    index: Index,
    seen: HashMap<Span, usize>,
    /// Fields by the names of their type and their own.
    fields: HashMap<(&'a str, &'a str), Span>,
}

impl<'a> Mentions<'a> {
    /// Notes all names: an editor asks.
    pub(crate) fn want(&mut self, program: &'a ast::Program) {
        self.wanted = true;
        for d in &program.decls {
            if let ast::DeclKind::Composite(c) = &d.kind {
                self.fields.extend(c.fields.iter().map(|f| ((c.name.name.as_str(), f.name.name.as_str()), f.name.span)));
            }
        }
    }

    /// Looks for declarations that are not to be used any more, in others too.
    pub(crate) fn find_deprecated(&mut self, decls: &'a [ast::Decl]) {
        let mut note = |annotations: &'a [ast::Annotation], name: Option<&'a ast::Ident>| {
            if let (Some(a), Some(name)) = (ast::find_annotation(annotations, "deprecated"), name) {
                self.deprecated.insert(name.span, a.string().unwrap_or_default());
            }
        };
        for d in decls {
            note(&d.annotations, d.name());
            if let ast::DeclKind::Extern(e) = &d.kind {
                e.methods.iter().for_each(|m| note(&m.annotations, Some(&m.name)));
            }
        }
        for d in decls {
            match &d.kind {
                ast::DeclKind::Parser(ast::ParserDecl { body: Some(body), .. }) => self.find_deprecated(&body.locals),
                ast::DeclKind::Control(ast::ControlDecl { body: Some(body), .. }) => self.find_deprecated(&body.locals),
                _ => {}
            }
        }
    }

    pub(crate) fn into_index(self) -> Index {
        self.index
    }

    fn mention(&mut self, span: Span, declared: Option<Span>, what: String) {
        let at = self.index.mentions.len();
        if *self.seen.entry(span).or_insert(at) == at {
            self.index.mentions.push(Mention { span, declared, what });
        }
    }
}

impl<'a> Names<'a> {
    /// A name is used that stands for what is declared at `declared`.
    pub(crate) fn note_use(&mut self, name: &ast::Ident, entity: &Entity<'a>, declared: Span) {
        // Which of several functions is meant shows when its arguments are known.
        if !matches!(entity, Entity::Function(_)) {
            self.note_deprecated(&name.name, name.span, declared);
        }
        self.note_name(name, entity, declared);
    }

    /// What is declared at `declared` is used at `span`.
    pub(crate) fn note_deprecated(&mut self, name: &str, span: Span, declared: Span) {
        if let Some(instead) = self.mentions.deprecated.get(&declared).copied()
            && !self.is_builtin(span)
        {
            let colon = if instead.is_empty() { "" } else { ": " };
            self.warn("deprecated", span, format!("`{name}` is deprecated{colon}{instead}"));
        }
    }

    /// A name is declared or used.
    pub(crate) fn note_name(&mut self, name: &ast::Ident, entity: &Entity<'a>, declared: Span) {
        if !self.mentions.wanted || self.mentions.seen.contains_key(&name.span) {
            return;
        }
        let text = &name.name;
        let what = match entity {
            Entity::Value(v) => self.typed(&v.ty, text),
            Entity::Type(t) => format!("type {text} = {}", self.typed(t, "").trim_end()),
            Entity::Generic(_) => format!("type {text}"),
            Entity::Extern(_) => format!("extern {text}"),
            Entity::Block(id) => format!("{} {text}", if self.decls.block(*id).is_parser() { "parser" } else { "control" }),
            Entity::Package(_) => format!("package {text}"),
            Entity::Function(f) => format!("function {} {text}({})", self.text(f.ret.span), self.parameters(&f.params)),
            Entity::Action(_, decl) => format!("action {text}({})", self.parameters(&decl.params)),
            Entity::Table(_) => format!("table {text}"),
            Entity::ValueSet(_) => format!("value set {text}"),
            Entity::Bad => return,
        };
        self.mentions.mention(name.span, Some(declared), what);
    }

    /// A field is used.
    pub(crate) fn note_field(&mut self, member: &ast::Ident, of: &Composite, ty: &Type) {
        if self.mentions.wanted {
            let declared = self.mentions.fields.get(&(of.name.as_str(), member.name.as_str())).copied();
            let what = self.typed(ty, &member.name);
            self.mentions.mention(member.span, declared, what);
        }
    }

    /// A method of an extern is called.
    pub(crate) fn note_method(&mut self, member: &ast::Ident, method: &ast::Method) {
        if self.mentions.wanted {
            self.mentions.mention(member.span, Some(method.name.span), format!("method {}", self.text(method.span).trim_end_matches(';')));
        }
    }

    /// No such member: what is there instead.
    pub(crate) fn note_unknown(&mut self, member: &ast::Ident, of: &Type) {
        if !self.mentions.wanted {
            return;
        }
        let method = |name: &str| Member { name: name.to_owned(), what: "method".to_owned(), method: true };
        let field = |name: &str, what: String| Member { name: name.to_owned(), what, method: false };
        let mut members = Vec::new();
        match of {
            Type::Composite(c) => {
                members.extend(c.fields.iter().map(|f| field(&f.name, self.typed(&f.ty, "").trim_end().to_owned())));
                match c.kind {
                    Kind::Struct => {}
                    Kind::Header => members.extend(["isValid", "setValid", "setInvalid"].map(method)),
                    Kind::Union => members.push(method("isValid")),
                }
            }
            Type::Stack(t, _) => {
                let element = self.typed(t, "").trim_end().to_owned();
                members.extend(["next", "last"].map(|name| field(name, element.clone())));
                members.extend(["lastIndex", "size"].map(|name| field(name, "bit<32>".to_owned())));
                members.extend(["push_front", "pop_front"].map(method));
            }
            Type::Extern(id, _) => {
                let methods = self.decls.ext(*id).methods.iter().filter(|m| m.ret.is_some());
                members.extend(methods.map(|m| method(&m.name.name)));
                members.dedup();
            }
            Type::Enum(e) => members.extend(e.members.iter().map(|(name, _)| field(name, format!("enum {}", e.name)))),
            _ => {}
        }
        self.mentions.index.unknown.push(Unknown { span: member.span, members });
    }

    fn parameters(&self, params: &[ast::Param]) -> String {
        params.iter().map(|p| self.text(p.span)).collect::<Vec<_>>().join(", ")
    }

    /// A type and a name, and what is of interest of the type.
    fn typed(&self, t: &Type, name: &str) -> String {
        let shown = self.decls.with_names(p4_syntax::Diagnostic::warning("", Span::default(), t.to_string())).message;
        let bits = match t {
            Type::Bits { .. } | Type::Bool => None,
            t => t.max_wire_bits(),
        };
        match bits {
            Some(n) => format!("{shown} {name} // {n} bits"),
            None => format!("{shown} {name}"),
        }
    }
}
