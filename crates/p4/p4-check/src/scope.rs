//! What does a name mean here? Scopes, declaration order and what can be declared (P4_16 §6.8).

use crate::cx::{Cx, R};
use crate::types::Type;
use crate::value::Tv;
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::HashMap;

/// A scope in the checker's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScopeId(pub u32);

impl ScopeId {
    pub(crate) const GLOBAL: ScopeId = ScopeId(0);
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Entity<'a> {
    Type(Type),
    /// A generic struct, header or union: position in `Cx::generics`.
    Generic(usize),
    Extern(crate::types::ExternId),
    Block(crate::types::BlockId),
    Package(crate::types::PackageId),
    /// Constants, variables, parameters and instances.
    Value(Tv),
    /// One overload of a function.
    Function(&'a ast::FunctionDecl),
    /// Position in `Cx::actions`.
    Action(usize),
    /// Position in `Cx::tables`.
    Table(usize),
    ValueSet(p4_ir::ValueSetId),
    /// Declared, but with a fault that has been reported.
    Bad,
}

/// Most declarations that share one name: they are searched one by one.
const MAX_OVERLOADS: usize = 200;

#[derive(Debug)]
pub(crate) struct Scope<'a> {
    /// The scope around it, and how many of its declarations are visible: those before this one.
    pub parent: Option<(ScopeId, u32)>,
    pub names: HashMap<&'a str, Vec<(u32, Entity<'a>, Span)>>,
    pub next: u32,
}

impl<'a> Scope<'a> {
    pub(crate) fn root() -> Scope<'a> {
        Scope { parent: None, names: HashMap::new(), next: 0 }
    }
}

impl<'a> Cx<'a> {
    /// A scope inside `parent` that sees what is declared there so far.
    pub(crate) fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        let seen = self.scopes[parent.0 as usize].next;
        self.new_scope_at(parent, seen)
    }

    /// A scope inside `parent` that sees its first `seen` declarations.
    pub(crate) fn new_scope_at(&mut self, parent: ScopeId, seen: u32) -> ScopeId {
        self.scopes.push(Scope { parent: Some((parent, seen)), names: HashMap::new(), next: 0 });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    /// How many declarations the scope has.
    pub(crate) fn seen(&self, scope: ScopeId) -> u32 {
        self.scopes[scope.0 as usize].next
    }

    /// Declares a name in the current scope; a second declaration of the same name is an error, but for overloads.
    pub(crate) fn declare(&mut self, name: &'a ast::Ident, entity: Entity<'a>) {
        let scope = self.body.scope;
        self.declare_in(scope, name, entity);
    }

    pub(crate) fn declare_in(&mut self, scope: ScopeId, name: &'a ast::Ident, entity: Entity<'a>) {
        let s = &self.scopes[scope.0 as usize];
        let clash = match s.names.get(name.name.as_str()) {
            Some(list) if list.len() >= MAX_OVERLOADS => {
                self.error("limit", name.span, format!("`{}` is declared more than {MAX_OVERLOADS} times", name.name));
                return;
            }
            Some(list) => list.iter().find(|(_, old, _)| !self.overloads(old, &entity)).map(|(_, _, span)| *span),
            None => None,
        };
        let s = &mut self.scopes[scope.0 as usize];
        let seq = s.next;
        s.next += 1;
        let list = s.names.entry(name.name.as_str()).or_default();
        match clash {
            Some(first) => {
                let d = Diagnostic::error("duplicate", name.span, format!("`{}` is declared twice", name.name));
                self.report(d.with_place(first, "first declared here"));
            }
            None => list.push((seq, entity, name.span)),
        }
    }

    /// What `path` stands for, seen from the current scope. Several for overloaded functions.
    pub(crate) fn lookup(&mut self, path: &ast::Path) -> R<Vec<Entity<'a>>> {
        match self.find(path) {
            Ok(found) if matches!(found[..], [Entity::Bad]) => Err(self.poisoned()),
            Ok(found) => Ok(found),
            Err(later) => {
                let name = &path.name.name;
                let mut d = Diagnostic::error("undeclared", path.name.span, format!("`{name}` is not declared"));
                if let Some(later) = later {
                    d = d.with_place(later, "declared only here; P4 wants it before its use, so there is no recursion");
                } else if let Some(file) = crate::declared_in(name) {
                    // One missing line, one error.
                    if self.missing_include.replace(file).is_some() {
                        return Err(self.poisoned());
                    }
                    d = d.with_help(format!("`#include <{file}>` declares it"));
                } else if let Some(near) = self.near(name) {
                    d = d.with_help(format!("did you mean `{near}`?"));
                }
                Err(self.report(d))
            }
        }
    }

    /// As [`Cx::lookup`], quietly; the error holds where it is declared later.
    pub(crate) fn find(&self, path: &ast::Path) -> Result<Vec<Entity<'a>>, Option<Span>> {
        let name = path.name.name.as_str();
        let mut at = self.body.scope;
        let mut seen = u32::MAX;
        let mut later = None;
        loop {
            let scope = &self.scopes[at.0 as usize];
            if (!path.global || scope.parent.is_none())
                && let Some(list) = scope.names.get(name)
            {
                let found: Vec<_> = list.iter().filter(|(seq, ..)| *seq < seen).map(|(_, e, _)| e.clone()).collect();
                if !found.is_empty() {
                    return Ok(found);
                }
                later = later.or(list.first().map(|(_, _, span)| *span));
            }
            match scope.parent {
                Some((parent, n)) => (at, seen) = (parent, n),
                None => return Err(later),
            }
        }
    }

    /// A visible name that differs by one or two letters.
    fn near(&self, name: &str) -> Option<String> {
        let mut at = Some(self.body.scope);
        let mut names: Vec<&str> = Vec::new();
        while let Some(scope) = at {
            let scope = &self.scopes[scope.0 as usize];
            names.extend(scope.names.keys());
            at = scope.parent.map(|(p, _)| p);
        }
        nearest(name, names.into_iter())
    }
}

impl Cx<'_> {
    /// Whether one name may stand for both: functions by their parameters, packages, parsers and controls by those of
    /// their constructors.
    fn overloads(&self, a: &Entity, b: &Entity) -> bool {
        let (a, b): (&[ast::Param], &[ast::Param]) = match (a, b) {
            (Entity::Function(a), Entity::Function(b)) => (&a.params, &b.params),
            (Entity::Package(a), Entity::Package(b)) => (&self.packages[a.0 as usize].params, &self.packages[b.0 as usize].params),
            (Entity::Block(a), Entity::Block(b)) => {
                (self.blocks[a.0 as usize].constructor_params(), self.blocks[b.0 as usize].constructor_params())
            }
            _ => return false,
        };
        !same_params(a, b)
    }
}

/// Whether no call can tell two parameter lists apart: calls are told apart by number and names (P4_16 §6.8).
pub(crate) fn same_params(a: &[ast::Param], b: &[ast::Param]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name.name == b.name.name)
}

/// The candidate that was probably meant.
pub(crate) fn nearest<'s>(name: &str, candidates: impl Iterator<Item = &'s str>) -> Option<String> {
    // Candidates come out of hash maps: sorted, so that of equals always the same one is named.
    let mut candidates: Vec<&str> = candidates.filter(|c| !c.starts_with("__")).collect();
    candidates.sort_unstable();
    p4_syntax::suggest::nearest(name, candidates).map(str::to_owned)
}
