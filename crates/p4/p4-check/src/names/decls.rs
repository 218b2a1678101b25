//! What has the program declared? Externs, parsers, controls and packages by their ids; errors and match kinds by their names; generic
//! types with their instances; and the identity of types.

use super::scope::{Entity, ScopeId};
use crate::types::*;
use indexmap::IndexMap;
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::HashMap;

/// Declarations of the whole program.
#[derive(Default)]
pub(crate) struct Decls<'a> {
    externs: Vec<&'a ast::ExternDecl>,
    blocks: Vec<BlockDecl<'a>>,
    packages: Vec<&'a ast::PackageDecl>,
    generics: Vec<Generic<'a>>,
    errors: IndexMap<String, Span>,
    match_kinds: HashMap<String, Span>,
    /// The number of the newest type.
    types: u32,
    /// Types of numbers wider than the IR's values, by width and whether they are signed.
    wide_types: HashMap<(u32, bool), Type>,
}

impl<'a> Decls<'a> {
    pub(crate) fn add_extern(&mut self, decl: &'a ast::ExternDecl) -> ExternId {
        self.externs.push(decl);
        ExternId(self.externs.len() as u32 - 1)
    }

    pub(crate) fn add_block(&mut self, decl: BlockDecl<'a>) -> BlockId {
        self.blocks.push(decl);
        BlockId(self.blocks.len() as u32 - 1)
    }

    pub(crate) fn add_package(&mut self, decl: &'a ast::PackageDecl) -> PackageId {
        self.packages.push(decl);
        PackageId(self.packages.len() as u32 - 1)
    }

    /// The declaration of an extern.
    pub(crate) fn ext(&self, id: ExternId) -> &'a ast::ExternDecl {
        self.externs[id.0 as usize]
    }

    /// The declaration of a parser or control.
    pub(crate) fn block(&self, id: BlockId) -> BlockDecl<'a> {
        self.blocks[id.0 as usize]
    }

    pub(crate) fn package(&self, id: PackageId) -> &'a ast::PackageDecl {
        self.packages[id.0 as usize]
    }

    /// The first parser or control of which that holds.
    pub(crate) fn find_block(&self, is: impl FnMut(&BlockDecl<'a>) -> bool) -> Option<BlockId> {
        self.blocks.iter().position(is).map(|i| BlockId(i as u32))
    }

    /// The first package of which that holds.
    pub(crate) fn find_package(&self, is: impl FnMut(&&'a ast::PackageDecl) -> bool) -> Option<PackageId> {
        self.packages.iter().position(is).map(|i| PackageId(i as u32))
    }

    /// Declares an error; gives where it was declared before, if it was, and then it stays as it was.
    pub(crate) fn add_error(&mut self, name: &str, span: Span) -> Option<Span> {
        let first = self.errors.get(name).copied();
        if first.is_none() {
            self.errors.insert(name.to_owned(), span);
        }
        first
    }

    /// The code of an error: its position.
    pub(crate) fn error_code(&self, name: &str) -> Option<usize> {
        self.errors.get_index_of(name)
    }

    /// Names of the errors, by code.
    pub(crate) fn errors(&self) -> impl ExactSizeIterator<Item = &str> {
        self.errors.keys().map(String::as_str)
    }

    /// Declares a match kind; gives where it was declared before.
    pub(crate) fn add_match_kind(&mut self, name: &str, span: Span) -> Option<Span> {
        self.match_kinds.insert(name.to_owned(), span)
    }

    pub(crate) fn is_match_kind(&self, name: &str) -> bool {
        self.match_kinds.contains_key(name)
    }

    pub(crate) fn match_kinds(&self) -> impl Iterator<Item = &str> {
        self.match_kinds.keys().map(String::as_str)
    }

    /// A number that no other type has.
    pub(crate) fn new_type(&mut self) -> u32 {
        self.types += 1;
        self.types
    }

    /// The type of numbers of that width, made where there is none yet.
    pub(crate) fn wide_type(&mut self, width: u32, signed: bool, make: impl FnOnce(u32) -> Type) -> Type {
        if let Some(t) = self.wide_types.get(&(width, signed)) {
            return t.clone();
        }
        let t = make(self.new_type());
        self.wide_types.insert((width, signed), t.clone());
        t
    }

    /// Declares a generic struct, header or union.
    pub(crate) fn add_generic(&mut self, generic: Generic<'a>) -> usize {
        self.generics.push(generic);
        self.generics.len() - 1
    }

    pub(crate) fn generic(&self, at: usize) -> &Generic<'a> {
        &self.generics[at]
    }

    /// Keeps what a generic type is with these arguments.
    pub(crate) fn add_instance(&mut self, at: usize, targs: Vec<Type>, t: Type) {
        self.generics[at].instances.push((targs, t));
    }

    /// Whether one name may stand for both: functions by their parameters, packages, parsers and controls by those of
    /// their constructors.
    pub(crate) fn overloads(&self, a: &Entity, b: &Entity) -> bool {
        let (a, b): (&[ast::Param], &[ast::Param]) = match (a, b) {
            (Entity::Function(a), Entity::Function(b)) => (&a.params, &b.params),
            (Entity::Package(a), Entity::Package(b)) => (&self.package(*a).params, &self.package(*b).params),
            (Entity::Block(a), Entity::Block(b)) => (self.block(*a).constructor_params(), self.block(*b).constructor_params()),
            _ => return false,
        };
        !same_params(a, b)
    }

    /// Puts names where types of externs, parsers, controls and packages left marks.
    pub(crate) fn with_names(&self, mut d: Diagnostic) -> Diagnostic {
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
}

/// Whether no call can tell two parameter lists apart: calls are told apart by number and names (P4_16 §6.8).
pub(crate) fn same_params(a: &[ast::Param], b: &[ast::Param]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name.name == b.name.name)
}

/// A parser or control declaration.
#[derive(Clone, Copy)]
pub(crate) enum BlockDecl<'a> {
    /// With the number of top-level declarations before it.
    Parser(&'a ast::ParserDecl, u32),
    Control(&'a ast::ControlDecl, u32),
}

impl<'a> BlockDecl<'a> {
    pub(crate) fn name(self) -> &'a ast::Ident {
        match self {
            BlockDecl::Parser(d, _) => &d.name,
            BlockDecl::Control(d, _) => &d.name,
        }
    }

    pub(crate) fn type_params(self) -> &'a [ast::Ident] {
        match self {
            BlockDecl::Parser(d, _) => &d.type_params,
            BlockDecl::Control(d, _) => &d.type_params,
        }
    }

    pub(crate) fn params(self) -> &'a [ast::Param] {
        match self {
            BlockDecl::Parser(d, _) => &d.params,
            BlockDecl::Control(d, _) => &d.params,
        }
    }

    pub(crate) fn constructor_params(self) -> &'a [ast::Param] {
        match self {
            BlockDecl::Parser(d, _) => &d.constructor_params,
            BlockDecl::Control(d, _) => &d.constructor_params,
        }
    }

    pub(crate) fn is_parser(self) -> bool {
        matches!(self, BlockDecl::Parser(..))
    }

    pub(crate) fn has_body(self) -> bool {
        match self {
            BlockDecl::Parser(d, _) => d.body.is_some(),
            BlockDecl::Control(d, _) => d.body.is_some(),
        }
    }

    pub(crate) fn seen(self) -> u32 {
        match self {
            BlockDecl::Parser(_, n) | BlockDecl::Control(_, n) => n,
        }
    }
}

/// A generic struct, header or header union, with what it has been instantiated to.
pub(crate) struct Generic<'a> {
    pub decl: &'a ast::CompositeDecl,
    pub annotations: &'a [ast::Annotation],
    pub scope: ScopeId,
    pub seen: u32,
    pub instances: Vec<(Vec<Type>, Type)>,
}
