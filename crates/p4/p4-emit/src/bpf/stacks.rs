//! Header stacks (P4_16 §8.18): an element that is known only at run time is one of all of them, each tried in turn.
//!
//! Every element has a home of its own, so no address is computed: the verifier need not believe any bounds.

use super::Refused;
use super::code::{Code, meet};
use crate::expr::{convert, paren};
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{Expr, ExprKind, HeaderId, HeaderRef, StackId};

/// The headers that a reference may mean.
pub(super) enum Which {
    /// This one, or none.
    One(Option<HeaderId>),
    /// The first whose C condition holds, or none.
    Several(Vec<(String, HeaderId)>),
}

impl Code<'_> {
    /// Which headers a reference may mean; prints what computes an index.
    pub(super) fn which(&mut self, r: &HeaderRef) -> Result<Which, Refused> {
        let (stack, place, first) = match r {
            HeaderRef::Static(h) => return Ok(Which::One(Some(*h))),
            HeaderRef::Next(s) => (*s, self.next(*s), 0u128),
            HeaderRef::Last(s) => (*s, self.next(*s), 1),
            HeaderRef::Index(s, index) => {
                if let ExprKind::Const(at) = index.kind {
                    let elements = &self.ir.stacks[*s].elements;
                    return Ok(Which::One(usize::try_from(at.value()).ok().and_then(|at| elements.get(at)).copied()));
                }
                // Each level would try all elements again.
                if holds_index(index) {
                    return Err(self.refuse_because(Construct::StackIndex, "an index of a header stack in another's index"));
                }
                let text = self.expr(index)?;
                let name = format!("index{}", self.unique());
                self.line(format!("const {} {name} = {text};", crate::emitter::local_type(index.ty.width())));
                (*s, name, 0)
            }
        };
        let elements = &self.ir.stacks[stack].elements;
        Ok(match elements.len() {
            0 => Which::One(None),
            _ => Which::Several(elements.iter().enumerate().map(|(i, h)| (format!("{place} == {}u", i as u128 + first), *h)).collect()),
        })
    }

    /// The next index of a stack.
    pub(super) fn next(&mut self, stack: StackId) -> String {
        self.stacks.insert(stack);
        format!("c->v.next_{}", self.model.stacks[stack.index()])
    }

    /// Prints `body` for the header that a reference means, or for none.
    pub(super) fn each(
        &mut self,
        r: &HeaderRef,
        mut body: impl FnMut(&mut Self, Option<HeaderId>) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let several = match self.which(r)? {
            Which::One(h) => return body(self, h),
            Which::Several(several) => several,
        };
        let before = self.known.clone();
        let mut after = None;
        for (i, (condition, h)) in several.into_iter().enumerate() {
            self.known = before.clone();
            self.open(format!("{}if ({condition})", if i == 0 { "" } else { "else " }));
            body(self, Some(h))?;
            self.close();
            after = meet(after, self.known.take());
        }
        self.known = before;
        self.open("else");
        body(self, None)?;
        self.close();
        self.known = meet(after, self.known.take());
        Ok(())
    }

    /// C text that `each` gives of the header that a reference means; zero if it means none.
    pub(super) fn choose(
        &mut self,
        r: &HeaderRef,
        mut each: impl FnMut(&mut Self, HeaderId) -> Result<String, Refused>,
    ) -> Result<String, Refused> {
        match self.which(r)? {
            Which::One(None) => Ok("0u".into()),
            Which::One(Some(h)) => each(self, h),
            Which::Several(several) => {
                let mut text = String::from("(");
                for (condition, h) in several {
                    text.push_str(&format!("{condition} ? {} : ", paren(&each(self, h)?)));
                }
                Ok(text + "0)")
            }
        }
    }

    /// The index of the last element that was extracted, or of the one behind it; modulo 2^32 where that is below 0.
    pub(super) fn stack_index(&mut self, stack: StackId, last: bool, width: u32) -> String {
        let next = self.next(stack);
        convert(&if last { format!("({next} - 1)") } else { next }, 32, width)
    }

    pub(super) fn copy_stack(&mut self, dst: StackId, src: StackId) {
        let ir = self.ir;
        for (d, s) in ir.stacks[dst].elements.iter().zip(&ir.stacks[src].elements) {
            self.copy_known(*d, Some(*s));
        }
        let (to, from) = (self.next(dst), self.next(src));
        self.line(format!("{to} = {from};"));
    }

    /// Elements move up by `n`, the first `n` become invalid.
    pub(super) fn push(&mut self, stack: StackId, n: u32) {
        let elements = &self.ir.stacks[stack].elements;
        let (size, n) = (elements.len(), (n as usize).min(elements.len()));
        for i in (n..size).rev() {
            self.copy_known(elements[i], Some(elements[i - n]));
        }
        elements[..n].iter().for_each(|h| self.set_valid(*h, false));
        let next = self.next(stack);
        self.line(format!("{next} = {next} + {n}u < {size}u ? {next} + {n}u : {size}u;"));
    }

    /// Elements move down by `n`, the last `n` become invalid.
    pub(super) fn pop(&mut self, stack: StackId, n: u32) {
        let elements = &self.ir.stacks[stack].elements;
        let (size, n) = (elements.len(), (n as usize).min(elements.len()));
        for i in 0..size - n {
            self.copy_known(elements[i], Some(elements[i + n]));
        }
        elements[size - n..].iter().for_each(|h| self.set_valid(*h, false));
        let next = self.next(stack);
        self.line(format!("{next} = {next} > {n}u ? {next} - {n}u : 0u;"));
    }
}

fn holds_index(e: &Expr) -> bool {
    let mut found = matches!(&e.kind, ExprKind::Field(HeaderRef::Index(..), _) | ExprKind::IsValid(HeaderRef::Index(..)));
    p4_ir::walk::sub_exprs(e, &mut |e| found |= holds_index(e));
    found
}
