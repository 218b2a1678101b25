//! Ways that part where headers are made and do not meet again: the rest of the program is printed behind each.
//!
//! Where ways with different headers met, a packet's headers would be known at run time only: each field would be read from a variable, and the deparser would
//! ask which headers there are. So the statements behind such an `if` are printed once for each branch, if they end the packet's work in this stage and are
//! few. A function has a few such copies at most.

use crate::EmitError;
use crate::emitter::Emitter;
use crate::graph::{Item, NodeId, Rest, Vertex, visit};
use p4_ir::{Block, Stmt};

/// Most `if`s of a function behind whose branches copies are printed.
const MOST_SPLITS: usize = 4;
/// Most statements that are copied.
const MOST_STMTS: usize = 100;

impl<'a> Emitter<'a> {
    /// Whether the branches of an `if` do not meet again.
    pub(crate) fn splits(&mut self, a: &'a Block, b: &'a Block) -> bool {
        let sets_valid = |block: &'a Block| {
            let mut found = false;
            visit(block, &mut |s| found |= matches!(s, Stmt::SetValid(..)));
            found
        };
        if self.class.is_none() || self.split == MOST_SPLITS || !(sets_valid(a) || sets_valid(b)) {
            return false;
        }
        let mut left = MOST_STMTS;
        let splits = matches!(self.rest.first(), Some(Rest::Items(_))) && self.rest.iter().rev().all(|rest| self.is_few(*rest, &mut left));
        self.split += usize::from(splits);
        splits
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

    /// Prints what follows, behind a branch. Nothing comes to the branch's end.
    pub(crate) fn print_rest(&mut self) -> Result<(), EmitError> {
        let (all, targets) = (self.rest.clone(), self.targets.clone());
        self.copies += 1;
        while let Some(rest) = self.rest.pop() {
            match rest {
                Rest::Stmts(stmts) => self.block(stmts)?,
                Rest::Items(items) => self.seq(items)?,
                Rest::Round => return Err(EmitError::invalid("a loop's round is not copied")),
            }
        }
        self.copies -= 1;
        (self.rest, self.targets) = (all, targets);
        Ok(())
    }

    /// Prints a node where a copy jumps to it.
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
