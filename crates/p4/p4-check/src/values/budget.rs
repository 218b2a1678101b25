//! How much may a program cost? Inlining multiplies, and recursion over the tree takes stack.

/// Most statements a program may inline to, and most expression nodes that are looked at.
const FUEL: u64 = 1_500_000;
/// Deepest nesting of statements, expressions and inlined calls together.
const MAX_DEPTH: u32 = 330;

/// What is left.
pub(crate) struct Budget {
    fuel: u64,
    depth: u32,
}

impl Budget {
    pub(crate) fn new() -> Budget {
        Budget { fuel: FUEL, depth: 0 }
    }

    /// Takes `n` units; false, and nothing is taken, if there are too few.
    pub(crate) fn take(&mut self, n: u64) -> bool {
        let left = self.fuel.checked_sub(n);
        self.fuel = left.unwrap_or(self.fuel);
        left.is_some()
    }

    /// One level deeper; false, and no deeper, at the deepest. [`Budget::leave`] follows.
    pub(crate) fn enter(&mut self) -> bool {
        let deeper = self.depth < MAX_DEPTH;
        self.depth += u32::from(deeper);
        deeper
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
