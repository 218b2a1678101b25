//! Where do values live? Storage for a variable of any type, and what of it is one place: elements of a stack, members of a union.

use crate::cx::{Cx, R};
use crate::types::{Kind, Type};
use crate::unions::UnionStack;
use crate::value::{Root, Val};
use p4_ir::{HeaderId, HeaderRef, LValue, StackId};
use p4_syntax::Span;
use std::collections::{HashMap, HashSet};

/// How headers lie in stacks and unions.
#[derive(Default)]
pub(crate) struct Layout {
    stack_of: HashMap<HeaderId, StackId>,
    /// How many unions there are.
    unions: u32,
    /// Stacks of unions, by the first header of their first element.
    union_stacks: HashMap<HeaderId, UnionStack>,
    /// Stacks that lie beside another: stands for all of them where storage is compared.
    stack_root: HashMap<StackId, StackId>,
    /// Headers that are varbit variables.
    varbit_vars: HashSet<HeaderId>,
}

impl Layout {
    /// The number of a new union.
    fn new_union(&mut self) -> u32 {
        self.unions += 1;
        self.unions - 1
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

impl Cx<'_> {
    /// Storage for a variable of any type that has one.
    pub(crate) fn storage(&mut self, name: &str, ty: &Type, span: Span) -> R<Val> {
        self.spend(ty.leaves(), span)?;
        if let Some(t) = ty.scalar() {
            return Ok(Val::Place(LValue::Var(self.new_var(name, t)), t));
        }
        match ty {
            Type::Bad => Err(self.poisoned()),
            Type::New(n) => self.storage(name, &n.target.clone(), span),
            Type::Composite(c) => match c.kind {
                Kind::Struct => {
                    let mut fields = Vec::new();
                    for f in &c.fields {
                        fields.push(self.storage(&format!("{name}.{}", f.name), &f.ty, span)?);
                    }
                    Ok(Val::Agg(fields.into()))
                }
                Kind::Header => Ok(Val::Header(HeaderRef::Static(self.build.new_header(name, c, None)))),
                Kind::Union => {
                    let number = self.layout.new_union();
                    let mut members = Vec::new();
                    for f in &c.fields {
                        let Some(h) = f.ty.header() else { return Err(self.bug(span, "a union member is no header")) };
                        let id = self.build.new_header(&format!("{name}.{}", f.name), h, Some(number));
                        members.push(Val::Header(HeaderRef::Static(id)));
                    }
                    Ok(Val::Union(members.into()))
                }
            },
            Type::Tuple(ts) => {
                let mut fields = Vec::new();
                for (i, t) in ts.iter().enumerate() {
                    fields.push(self.storage(&format!("{name}.{i}"), t, span)?);
                }
                Ok(Val::Agg(fields.into()))
            }
            Type::Stack(t, n) => match t.header() {
                Some(c) => {
                    let (id, elements) = self.build.new_stack(name, *n, c, span);
                    self.layout.add_stack(id, &elements);
                    Ok(Val::Stack(id, elements.into()))
                }
                None => {
                    let mut elements = Vec::new();
                    for i in 0..*n {
                        elements.push(self.storage(&format!("{name}[{i}]"), t, span)?);
                    }
                    if let Type::Composite(c) = &**t
                        && c.kind == Kind::Union
                    {
                        let c = c.clone();
                        self.new_union_stack(name, &elements, &c);
                    }
                    Ok(Val::Array(elements.into()))
                }
            },
            Type::Varbit(w) => {
                // A header of its own with nothing but this field; invalid, and so empty, until something is assigned.
                let h = self.build.new_varbit(name, *w);
                self.layout.varbit_vars.insert(h);
                Ok(Val::Varbit(HeaderRef::Static(h), 0))
            }
            Type::Int => Err(self.unsupported(span, format!("a variable of type {ty}"))),
            other => Err(self.error("type-mismatch", span, format!("there are no variables of type {other}"))),
        }
    }
}
