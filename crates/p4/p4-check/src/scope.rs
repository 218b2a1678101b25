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
    /// A generic struct, header or union: position in [`crate::decls::Decls`].
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
struct Scope<'a> {
    /// The scope around it, and how many of its declarations are visible: those before this one.
    parent: Option<(ScopeId, u32)>,
    names: HashMap<&'a str, Vec<(u32, Entity<'a>, Span)>>,
    next: u32,
}

/// All scopes. The first one is that of the top level.
#[derive(Debug)]
pub(crate) struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    /// A built-in file that the program should have included.
    missing_include: Option<&'static str>,
}

/// Why a name does not come into a scope.
pub(crate) enum Clash {
    /// It stands for something else, declared there.
    With(Span),
    /// It stands for too much already.
    TooMany,
}

impl<'a> Scopes<'a> {
    pub(crate) fn new() -> Scopes<'a> {
        Scopes { all: vec![Scope { parent: None, names: HashMap::new(), next: 0 }], missing_include: None }
    }

    fn get(&self, scope: ScopeId) -> &Scope<'a> {
        &self.all[scope.0 as usize]
    }

    /// A scope inside `parent` that sees its first `seen` declarations.
    pub(crate) fn add(&mut self, parent: ScopeId, seen: u32) -> ScopeId {
        self.all.push(Scope { parent: Some((parent, seen)), names: HashMap::new(), next: 0 });
        ScopeId(self.all.len() as u32 - 1)
    }

    /// How many declarations the scope has.
    pub(crate) fn seen(&self, scope: ScopeId) -> u32 {
        self.get(scope).next
    }

    /// Declares a name, beside those of the scope that it `overloads`. A name that clashes counts as a declaration, but stands for what it
    /// stood for.
    fn declare(
        &mut self,
        scope: ScopeId,
        name: &'a ast::Ident,
        entity: Entity<'a>,
        overloads: impl Fn(&Entity) -> bool,
    ) -> Result<(), Clash> {
        let s = &mut self.all[scope.0 as usize];
        let list = s.names.entry(name.name.as_str()).or_default();
        if list.len() >= MAX_OVERLOADS {
            return Err(Clash::TooMany);
        }
        let seq = s.next;
        s.next += 1;
        match list.iter().find(|(_, old, _)| !overloads(old)) {
            Some((_, _, first)) => Err(Clash::With(*first)),
            None => {
                list.push((seq, entity, name.span));
                Ok(())
            }
        }
    }

    /// What a name stands for at top level: what was declared first, and where.
    pub(crate) fn global(&self, name: &str) -> Option<(&Entity<'a>, Span)> {
        self.globals(name).next().map(|(_, e, span)| (e, span))
    }

    /// All that a name stands for at top level, with how many declarations came before it.
    pub(crate) fn globals(&self, name: &str) -> impl Iterator<Item = (u32, &Entity<'a>, Span)> {
        self.get(ScopeId::GLOBAL).names.get(name).into_iter().flatten().map(|(seq, e, span)| (*seq, e, *span))
    }

    /// What `path` stands for, seen from a scope, and where that is declared; the error holds where it is declared later.
    fn find(&self, from: ScopeId, path: &ast::Path) -> Result<Vec<(Entity<'a>, Span)>, Option<Span>> {
        let name = path.name.name.as_str();
        let mut at = from;
        let mut seen = u32::MAX;
        let mut later = None;
        loop {
            let scope = self.get(at);
            if (!path.global || scope.parent.is_none())
                && let Some(list) = scope.names.get(name)
            {
                let found: Vec<_> = list.iter().filter(|(seq, ..)| *seq < seen).map(|(_, e, span)| (e.clone(), *span)).collect();
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

    /// Whether a scope below the top level has the name, seen from `from`.
    pub(crate) fn is_local(&self, from: ScopeId, name: &str) -> bool {
        let mut at = from;
        while let Some((parent, _)) = self.get(at).parent {
            if self.get(at).names.contains_key(name) {
                return true;
            }
            at = parent;
        }
        false
    }

    /// A visible name that differs by one or two letters.
    fn near(&self, from: ScopeId, name: &str) -> Option<String> {
        let mut at = Some(from);
        let mut names: Vec<&str> = Vec::new();
        while let Some(scope) = at {
            let scope = self.get(scope);
            names.extend(scope.names.keys());
            at = scope.parent.map(|(p, _)| p);
        }
        nearest(name, names.into_iter())
    }
}

impl<'a> Cx<'a> {
    /// A scope inside `parent` that sees what is declared there so far.
    pub(crate) fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        let seen = self.scopes.seen(parent);
        self.scopes.add(parent, seen)
    }

    /// Declares a name in the current scope; a second declaration of the same name is an error, but for overloads.
    pub(crate) fn declare(&mut self, name: &'a ast::Ident, entity: Entity<'a>) {
        let scope = self.body.scope;
        self.declare_in(scope, name, entity);
    }

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

    /// What `path` stands for, seen from the current scope. Several for overloaded functions.
    pub(crate) fn lookup(&mut self, path: &ast::Path) -> R<Vec<Entity<'a>>> {
        match self.scopes.find(self.body.scope, path) {
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
                } else if let Some(file) = crate::declared_in(name) {
                    // One missing line, one error.
                    if self.scopes.missing_include.replace(file).is_some() {
                        return Err(self.poisoned());
                    }
                    d = d.with_help(format!("`#include <{file}>` declares it"));
                } else if let Some(near) = self.scopes.near(self.body.scope, name) {
                    d = d.with_help(format!("did you mean `{near}`?"));
                }
                Err(self.report(d))
            }
        }
    }

    /// As [`Cx::lookup`], quietly; the error holds where it is declared later.
    pub(crate) fn find(&self, path: &ast::Path) -> Result<Vec<Entity<'a>>, Option<Span>> {
        self.scopes.find(self.body.scope, path).map(|found| found.into_iter().map(|(entity, _)| entity).collect())
    }
}

/// The candidate that was probably meant.
pub(crate) fn nearest<'s>(name: &str, candidates: impl Iterator<Item = &'s str>) -> Option<String> {
    // Candidates come out of hash maps: sorted, so that of equals always the same one is named.
    let mut candidates: Vec<&str> = candidates.filter(|c| !c.starts_with("__")).collect();
    candidates.sort_unstable();
    p4_syntax::suggest::nearest(name, candidates).map(str::to_owned)
}
