//! What does a header union hold at most? One valid member (P4_16 §8.20). And what is a stack of header unions? Its members side by side: one header stack
//! for each member, and a variable that counts what has been extracted (§8.18).

use super::cx::Values;
use super::layout::{INDEX, UnionStack, number};
use crate::names::sink::R;
use crate::types::fold;
use crate::types::*;
use p4_ir::{BinOp, HeaderId, HeaderRef, LValue, Stmt};
use p4_syntax::Span;

impl Values<'_> {
    /// The same header with a run-time index saved, if it is a member of a union: what is done to it concerns the other members, too.
    pub(crate) fn pin_member(&mut self, h: &HeaderRef) -> HeaderRef {
        match &*self.union_members(h) {
            [] => h.clone(),
            _ => self.pin_header(h),
        }
    }

    /// What has become of a header is all that its union holds: whether `u.h` became valid or invalid, all other members of `u` are invalid (§8.20). The IR's
    /// `setValid` sees to that by itself.
    pub(crate) fn only_member(&mut self, h: &HeaderRef) {
        for other in self.union_members(h) {
            if other != *h {
                self.emit(Stmt::SetValid(other, false));
            }
        }
    }

    fn union_members(&self, h: &HeaderRef) -> Vec<HeaderRef> {
        let union = match h {
            HeaderRef::Static(id) => self.build.ir.headers[*id].union,
            _ => None,
        };
        self.layout.members(h, union)
    }

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
            let moved = fold::binary(BinOp::Add, var(next, INDEX), number(1));
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
            true => (fold::binary(BinOp::Ge, now.clone(), number(size - n)), BinOp::Add, number(size)),
            false => (fold::binary(BinOp::Le, now.clone(), number(n)), BinOp::Sub, number(0)),
        };
        let moved = fold::binary(op, now, number(n));
        self.emit_assign(LValue::Var(stack.next), fold::mux(beyond, end, moved));
        Ok(())
    }
}
