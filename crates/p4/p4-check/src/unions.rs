//! What is a stack of header unions? Its members side by side: one header stack for each member, and a variable that counts
//! what has been extracted (P4_16 §8.18, §8.20).

use crate::coerce::var;
use crate::consteval;
use crate::cx::{Cx, R};
use crate::types::*;
use crate::value::*;
use p4_ir::{BinOp, Bits, Expr, HeaderId, HeaderRef, LValue, StackId, Stmt, Ty, VarId};
use p4_syntax::Span;
use std::rc::Rc;

/// A stack of header unions.
#[derive(Clone)]
pub(crate) struct UnionStack {
    /// One a member of the union.
    members: Rc<[StackId]>,
    /// `nextIndex`.
    pub next: VarId,
    size: u32,
}

const INDEX: Ty = Ty::Bit(32);

fn number(n: u32) -> Expr {
    constant(Bits::new(32, n.into()), INDEX)
}

impl UnionStack {
    /// One stack a member of the union.
    pub(crate) fn members(&self) -> &[StackId] {
        &self.members
    }

    /// The element at an index.
    pub(crate) fn at(&self, index: &Expr) -> Val {
        Val::Union(self.members.iter().map(|s| Val::Header(HeaderRef::Index(*s, Box::new(index.clone())))).collect())
    }

    /// `.next`
    pub(crate) fn next(&self) -> Val {
        self.at(&var(self.next, INDEX))
    }

    /// `.last`
    pub(crate) fn last(&self) -> Val {
        self.at(&self.last_index())
    }

    /// `.lastIndex`
    pub(crate) fn last_index(&self) -> Expr {
        consteval::binary(BinOp::Sub, var(self.next, INDEX), number(1))
    }
}

impl<'a> Cx<'a> {
    /// Makes a stack of unions of elements that exist.
    pub(crate) fn new_union_stack(&mut self, name: &str, elements: &[Val], c: &Composite) {
        let column = |j: usize| -> Vec<HeaderId> {
            let member = |e: &Val| match e {
                Val::Union(ms) => match ms.get(j) {
                    Some(Val::Header(HeaderRef::Static(h))) => Some(*h),
                    _ => None,
                },
                _ => None,
            };
            elements.iter().filter_map(member).collect()
        };
        let columns: Vec<Vec<HeaderId>> = (0..c.fields.len()).map(column).collect();
        let Some(first) = columns.first().and_then(|c| c.first()).copied() else { return };
        let next = self.new_var(&format!("{name}.nextIndex"), INDEX);
        // Only statements change it, never expressions: no need to save it while operands are computed.
        self.build.set_stable(next);
        let mut members = Vec::new();
        for (f, headers) in c.fields.iter().zip(columns) {
            let id = self.build.ir.stacks.push(p4_ir::Stack { name: format!("{name}[].{}", f.name), elements: headers.clone() });
            self.layout.add_stack(id, &headers);
            members.push(id);
        }
        self.layout.add_union_stack(first, UnionStack { members: members.into(), next, size: elements.len() as u32 });
    }

    /// What follows the extraction of `header`: `.next` of a stack of unions has moved on.
    pub(crate) fn extracted_next(&mut self, header: &HeaderRef) {
        let HeaderRef::Index(stack, index) = header else { return };
        let next = match index.kind {
            p4_ir::ExprKind::Var(v) => v,
            _ => return,
        };
        if self.layout.any_union_stack(|u| u.next == next && u.members.contains(stack)) {
            let moved = consteval::binary(BinOp::Add, var(next, INDEX), number(1));
            self.emit_assign(LValue::Var(next), moved);
        }
    }

    /// `push_front(n)` and `pop_front(n)`.
    pub(crate) fn move_unions(&mut self, v: &Val, n: u32, push: bool, span: Span) -> R<()> {
        let (Some(stack), Val::Array(elements)) = (self.layout.union_stack(v).cloned(), v) else {
            return Err(self.unsupported(span, "moving the elements of this stack"));
        };
        let (size, n) = (stack.size, n.min(stack.size));
        self.spend(u64::from(size) * stack.members.len() as u64, span)?;
        let members = |i: u32| match &elements[i as usize] {
            Val::Union(ms) => ms.clone(),
            _ => [].into(),
        };
        let copies: Vec<(u32, u32)> = match push {
            true => (n..size).rev().map(|i| (i, i - n)).collect(),
            false => (0..size - n).map(|i| (i, i + n)).collect(),
        };
        for (to, from) in copies {
            for (d, s) in members(to).iter().zip(members(from).iter()) {
                if let (Val::Header(dst), Val::Header(src)) = (d, s) {
                    self.emit(Stmt::CopyHeader { dst: dst.clone(), src: src.clone() });
                }
            }
        }
        let emptied = if push { 0..n } else { size - n..size };
        emptied.for_each(|i| members(i).iter().for_each(|m| self.invalidate(m)));
        // The index stays between 0 and the size.
        let now = var(stack.next, INDEX);
        let (beyond, op, end) = match push {
            true => (consteval::binary(BinOp::Ge, now.clone(), number(size - n)), BinOp::Add, number(size)),
            false => (consteval::binary(BinOp::Le, now.clone(), number(n)), BinOp::Sub, number(0)),
        };
        let moved = consteval::binary(op, now, number(n));
        self.emit_assign(LValue::Var(stack.next), consteval::mux(beyond, end, moved));
        Ok(())
    }
}
