//! Which headers are one place? Elements of a stack, members of a union; a stack of unions is one header stack for each member of the union.

use crate::types::fold;
use crate::types::*;
use p4_ir::{BinOp, Bits, Expr, HeaderId, HeaderRef, StackId, Ty, VarId};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A stack of header unions.
#[derive(Clone)]
pub(crate) struct UnionStack {
    /// One a member of the union.
    pub(super) members: Rc<[StackId]>,
    /// `nextIndex`.
    pub next: VarId,
    pub(super) size: u32,
}

pub(crate) const INDEX: Ty = Ty::Bit(32);

pub(super) fn number(n: u32) -> Expr {
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
        fold::binary(BinOp::Sub, var(self.next, INDEX), number(1))
    }
}

/// How headers lie in stacks and unions.
#[derive(Default)]
pub(crate) struct Layout {
    pub(super) stack_of: HashMap<HeaderId, StackId>,
    /// The members of each union, by its number.
    pub(super) unions: Vec<Vec<HeaderId>>,
    /// Stacks of unions, by the first header of their first element.
    pub(super) union_stacks: HashMap<HeaderId, UnionStack>,
    /// Stacks that lie beside another: stands for all of them where storage is compared.
    pub(super) stack_root: HashMap<StackId, StackId>,
    /// Headers that are varbit variables.
    pub(super) varbit_vars: HashSet<HeaderId>,
}

impl Layout {
    /// The members of the union that a header belongs to, itself among them; of a stack of unions those of the same element. None if it belongs to none.
    pub(crate) fn members(&self, h: &HeaderRef, union: Option<u32>) -> Vec<HeaderRef> {
        match h {
            HeaderRef::Static(_) => {
                let members = union.and_then(|u| self.unions.get(u as usize));
                members.into_iter().flatten().map(|h| HeaderRef::Static(*h)).collect()
            }
            HeaderRef::Index(stack, index) => {
                let stack = self.union_stacks.values().find(|u| u.members().contains(stack));
                stack.into_iter().flat_map(UnionStack::members).map(|s| HeaderRef::Index(*s, index.clone())).collect()
            }
            HeaderRef::Next(_) | HeaderRef::Last(_) => Vec::new(),
        }
    }

    pub(crate) fn add_stack(&mut self, id: StackId, elements: &[HeaderId]) {
        self.stack_of.extend(elements.iter().map(|h| (*h, id)));
    }

    /// A stack of unions: `members` are the stacks of its columns, which are one place, as a write to one member changes the others.
    pub(crate) fn add_union_stack(&mut self, first: HeaderId, stack: UnionStack) {
        let root = stack.members().first().copied();
        self.stack_root.extend(stack.members().iter().zip(root.into_iter().cycle()).map(|(s, root)| (*s, root)));
        self.union_stacks.insert(first, stack);
    }

    pub(crate) fn is_varbit_var(&self, h: HeaderId) -> bool {
        self.varbit_vars.contains(&h)
    }

    /// The stack of unions that a value is, if it is one.
    pub(crate) fn union_stack(&self, v: &Val) -> Option<&UnionStack> {
        let Val::Array(elements) = v else { return None };
        let Val::Union(members) = elements.first()? else { return None };
        let Val::Header(HeaderRef::Static(h)) = members.first()? else { return None };
        self.union_stacks.get(h)
    }

    /// Any of the stacks of unions of which that holds.
    pub(crate) fn any_union_stack(&self, is: impl FnMut(&UnionStack) -> bool) -> bool {
        self.union_stacks.values().any(is)
    }

    pub(crate) fn root_of_stack(&self, s: StackId) -> Root {
        Root::Stack(self.stack_root.get(&s).copied().unwrap_or(s))
    }

    /// What a header is a part of; `union`: that it is a member of.
    pub(crate) fn root_of_header(&self, id: HeaderId, union: Option<u32>) -> Root {
        match (union, self.stack_of.get(&id)) {
            (_, Some(s)) => self.root_of_stack(*s),
            (Some(u), None) => Root::Union(u),
            (None, None) => Root::Header(id),
        }
    }
}
