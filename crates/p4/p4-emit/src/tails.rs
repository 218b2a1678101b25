//! Tail duplication: the code behind an `if` that makes headers is printed in each of its branches.
//!
//! Behind a join the set of valid headers is known at run time only: each field is read from a variable, and the deparser tests which headers are valid. In a
//! duplicate it is known, and the C compiler folds constant fields. A tail is duplicated if it ends the packet's work in this stage and is short.

use crate::EmitError;
use crate::emitter::Emitter;
use crate::graph::{Item, NodeId, Rest, Vertex, visit};
use p4_ir::{Block, Stmt};

/// Most duplicated tails of a function.
const MOST_TAILS: usize = 4;
/// Most statements of a tail.
const MOST_STMTS: usize = 100;

impl<'a> Emitter<'a> {
    /// Whether the code behind an `if` is duplicated; counts it.
    pub(crate) fn duplicates_tail(&mut self, a: &'a Block, b: &'a Block) -> bool {
        let sets_valid = |block: &'a Block| {
            let mut found = false;
            visit(block, &mut |s| found |= matches!(s, Stmt::SetValid(..)));
            found
        };
        if self.class.is_none() || self.tails == MOST_TAILS || !(sets_valid(a) || sets_valid(b)) {
            return false;
        }
        let mut left = MOST_STMTS;
        let duplicates =
            matches!(self.rest.first(), Some(Rest::Items(_))) && self.rest.iter().rev().all(|rest| self.is_few(*rest, &mut left));
        self.tails += usize::from(duplicates);
        duplicates
    }

    /// Whether what follows ends the packet's work in this stage, with fewer statements than are `left`.
    fn is_few(&self, rest: Rest<'a>, left: &mut usize) -> bool {
        match rest {
            Rest::Round => false,
            Rest::Stmts(stmts) => is_short(stmts, left),
            Rest::Items(items) => items.iter().all(|item| match item {
                Item::Plain(stmt, _) => is_short(std::slice::from_ref(*stmt), left),
                Item::Goto(node) => match self.graph.target(*node) {
                    (Vertex::Node(node), _) if self.is_inside(node) => self.is_few(Rest::Items(&self.graph.nodes[node].body), left),
                    _ => false,
                },
                Item::IngressEnd | Item::EgressEnd | Item::Finish => true,
                Item::If(..) | Item::Switch(..) | Item::Apply(_) => false,
            }),
        }
    }

    /// Whether a node is part of the stage that is being printed, of a class, and does not begin it.
    pub(crate) fn is_inside(&self, node: NodeId) -> bool {
        self.class.is_some() && !self.graph.stage_of_node.contains_key(&node)
    }

    /// Prints the tail at the end of a branch, which no packet reaches then.
    pub(crate) fn print_tail(&mut self) -> Result<(), EmitError> {
        let (all, targets) = (self.rest.clone(), self.targets.clone());
        self.inside_tails += 1;
        while let Some(rest) = self.rest.pop() {
            match rest {
                Rest::Stmts(stmts) => self.block(stmts)?,
                Rest::Items(items) => self.seq(items)?,
                Rest::Round => return Err(EmitError::invalid("a loop's round is no tail")),
            }
        }
        self.inside_tails -= 1;
        (self.rest, self.targets) = (all, targets);
        Ok(())
    }

    /// Prints a node in place of a jump to it, in a duplicate.
    pub(crate) fn print_node(&mut self, node: NodeId) -> Result<(), EmitError> {
        let (rest, targets) = (std::mem::take(&mut self.rest), self.targets.clone());
        self.seq(&self.graph.nodes[node].body)?;
        (self.rest, self.targets) = (rest, targets);
        Ok(())
    }
}

/// Takes the statements, those inside of them included, off what is left.
fn is_short(stmts: &[Stmt], left: &mut usize) -> bool {
    let mut n = 0;
    visit(stmts, &mut |_| n += 1);
    let is_short = n < *left;
    *left = left.saturating_sub(n);
    is_short
}
