//! What does the program say, and under which names? Everything above finds declarations by name here, and gives its diagnostics here.

use super::decls::Decls;
use super::mentions::Mentions;
use super::scope::{Clash, Entity, MAX_OVERLOADS, ScopeId, Scopes};
use super::sink::{R, Reported, Sink};
use crate::types::wide::named_pieces;
use crate::types::*;
use p4_syntax::{Diagnostic, SourceMap, Span, ast};
use std::rc::Rc;

/// What a program is compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Run,
    Check,
    /// A model of a chip.
    Chip,
}

/// Source, scopes, declarations and diagnostics of a program.
pub(crate) struct Names<'a> {
    pub map: &'a SourceMap,
    pub mode: Mode,
    pub sink: Sink,
    pub scopes: Scopes<'a>,
    pub decls: Decls<'a>,
    pub mentions: Mentions<'a>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(map: &'a SourceMap, mode: Mode) -> Names<'a> {
        let sink = Sink::new(mode == Mode::Check);
        Names { map, mode, sink, scopes: Scopes::new(), decls: Decls::default(), mentions: Mentions::default() }
    }

    /// Whether nothing is made of the program.
    pub(crate) fn check_only(&self) -> bool {
        self.mode == Mode::Check
    }

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

    /// Whether a span lies in one of the built-in files.
    pub(crate) fn is_builtin(&self, span: Span) -> bool {
        self.map.get(span.file).is_some_and(|f| f.path.is_none() && f.included_from.is_some())
    }

    /// The source text of a span on one line, for key names.
    pub(crate) fn text(&self, span: Span) -> String {
        self.map.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A scope inside `parent` that sees what is declared there so far.
    pub(crate) fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        let seen = self.scopes.seen(parent);
        self.scopes.add(parent, seen)
    }

    /// Declares a name; a second declaration of the same name in a scope is an error, but for overloads.
    pub(crate) fn declare_in(&mut self, scope: ScopeId, name: &'a ast::Ident, entity: Entity<'a>) {
        self.note_name(name, &entity, name.span);
        let decls = &self.decls;
        let new = entity.clone();
        match self.scopes.declare(scope, name, entity, |old| decls.overloads(old, &new)) {
            Ok(()) => {}
            Err(Clash::TooMany) => {
                self.error("limit", name.span, format!("`{}` is declared more than {MAX_OVERLOADS} times", name.name));
            }
            Err(Clash::With(first)) => {
                let d = Diagnostic::error("duplicate", name.span, format!("`{}` is declared twice", name.name));
                self.report(d.with_place(first, "first declared here"));
            }
        }
    }

    /// What `path` stands for, seen from a scope. Several for overloaded functions.
    pub(crate) fn lookup_from(&mut self, scope: ScopeId, path: &ast::Path) -> R<Vec<Entity<'a>>> {
        match self.scopes.find(scope, path) {
            Ok(found) if matches!(found[..], [(Entity::Bad, _)]) => Err(self.poisoned()),
            Ok(found) => {
                if let Some((entity, declared)) = found.first() {
                    self.note_use(&path.name, entity, *declared);
                }
                Ok(found.into_iter().map(|(entity, _)| entity).collect())
            }
            Err(later) => {
                let name = &path.name.name;
                let mut d = Diagnostic::error("undeclared", path.name.span, format!("`{name}` is not declared"));
                if let Some(later) = later {
                    d = d.with_place(later, "declared only here; P4 wants it before its use, so there is no recursion");
                } else if let Some(file) = declared_in(name) {
                    // One missing line, one error.
                    if self.scopes.missing_include.replace(file).is_some() {
                        return Err(self.poisoned());
                    }
                    d = d.with_help(format!("`#include <{file}>` declares it"));
                } else if let Some(near) = self.scopes.near(scope, name) {
                    d = d.with_help(format!("did you mean `{near}`?"));
                }
                Err(self.report(d))
            }
        }
    }

    /// The type of that width, above [`MAX_WIDTH`].
    pub(crate) fn wide(&mut self, w: Wide) -> Type {
        self.decls.wide_type(w.width, w.signed, |id| {
            let mut fields = Vec::new();
            for (name, piece) in named_pieces(w.width) {
                fields.push(FieldType {
                    name: name.into(),
                    ty: Type::bit(piece),
                    flat: fields.len() as u32,
                    tags: Vec::new(),
                    span: Span::default(),
                });
            }
            let leaves = fields.len() as u64;
            Type::Composite(Rc::new(Composite { id, kind: Kind::Struct, name: w.to_string(), fields, leaves, generic: None }))
        })
    }
}

/// The file to include for a name that architectures declare, if a program uses it and has included none. Names that several declare are v1model's.
fn declared_in(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &[&str]); 4] = [
        (
            "v1model.p4",
            &["standard_metadata_t", "V1Switch", "mark_to_drop", "verify_checksum", "update_checksum", "packet_in", "packet_out"],
        ),
        ("psa.p4", &["PSA_Switch", "psa_ingress_input_metadata_t", "psa_ingress_output_metadata_t", "psa_egress_input_metadata_t"]),
        ("pna.p4", &["PNA_NIC", "pna_main_input_metadata_t", "pna_main_output_metadata_t", "pna_pre_input_metadata_t"]),
        ("tna.p4", &["ingress_intrinsic_metadata_t", "egress_intrinsic_metadata_t", "ingress_intrinsic_metadata_for_tm_t"]),
    ];
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(file, _)| *file)
}
