//! Which names are types, and which take type arguments? P4_16 §6.3: the grammar cannot be parsed without knowing.

use std::collections::HashMap;

/// What is known of a declared name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NameKind {
    /// A type (also a parser, control, package or extern), rather than a value, function, action or table.
    pub(super) is_type: bool,
    /// Declared with type parameters.
    pub(super) is_generic: bool,
}

/// The names declared so far, by nested scope.
pub(super) struct Scopes {
    scopes: Vec<HashMap<String, NameKind>>,
}

impl Scopes {
    pub(super) fn new() -> Scopes {
        Scopes { scopes: vec![HashMap::new()] }
    }

    pub(super) fn push(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Ends the innermost scope; the outermost stays.
    pub(super) fn pop(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    pub(super) fn declare(&mut self, name: &str, kind: NameKind) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), kind);
        }
    }

    pub(super) fn declare_type(&mut self, name: &str, is_generic: bool) {
        self.declare(name, NameKind { is_type: true, is_generic });
    }

    pub(super) fn declare_value(&mut self, name: &str, is_generic: bool) {
        self.declare(name, NameKind { is_type: false, is_generic });
    }

    /// What the innermost declaration says; `global` looks at top level only.
    pub(super) fn find(&self, name: &str, global: bool) -> Option<NameKind> {
        let visible = if global { &self.scopes[..1] } else { &self.scopes[..] };
        visible.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
