//! What does a name mean here? Scopes, declaration order and what can be declared (P4_16 §6.8).

use crate::types::*;
use p4_syntax::{Span, ast};
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
    /// A generic struct, header or union: position in [`Decls`].
    Generic(usize),
    Extern(crate::types::ExternId),
    Block(crate::types::BlockId),
    Package(crate::types::PackageId),
    /// Constants, variables, parameters and instances.
    Value(Tv),
    /// One overload of a function.
    Function(&'a ast::FunctionDecl),
    /// Position in `Cx::actions`.
    Action(usize, &'a ast::ActionDecl),
    /// Position in `Cx::tables`.
    Table(usize),
    ValueSet(p4_ir::ValueSetId),
    /// Declared, but with a fault that has been reported.
    Bad,
}

/// Most declarations that share one name: they are searched one by one.
pub(super) const MAX_OVERLOADS: usize = 200;

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
    pub(super) missing_include: Option<&'static str>,
}

/// Why a name does not come into a scope.
pub(super) enum Clash {
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
    pub(super) fn declare(
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
    pub(crate) fn find(&self, from: ScopeId, path: &ast::Path) -> Result<Vec<(Entity<'a>, Span)>, Option<Span>> {
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
    pub(super) fn near(&self, from: ScopeId, name: &str) -> Option<String> {
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

/// The candidate that was probably meant.
pub(crate) fn nearest<'s>(name: &str, candidates: impl Iterator<Item = &'s str>) -> Option<String> {
    // Candidates come out of hash maps: sorted, so that of equals always the same one is named.
    let mut candidates: Vec<&str> = candidates.filter(|c| !c.starts_with("__")).collect();
    candidates.sort_unstable();
    p4_syntax::suggest::nearest(name, candidates).map(str::to_owned)
}
