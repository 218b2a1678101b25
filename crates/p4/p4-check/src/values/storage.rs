//! Where do values live? Storage for a variable of any type, and what of it is one place: elements of a stack, members of a union.

use super::cx::Values;
use crate::names::sink::R;
use crate::types::*;
use p4_ir::{HeaderRef, LValue};
use p4_syntax::Span;

impl Values<'_> {
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
                    let number = self.layout.unions.len() as u32;
                    let mut members = Vec::new();
                    let mut headers = Vec::new();
                    for f in &c.fields {
                        let Some(h) = f.ty.header() else { return Err(self.bug(span, "a union member is no header")) };
                        let id = self.build.new_header(&format!("{name}.{}", f.name), h, Some(number));
                        members.push(Val::Header(HeaderRef::Static(id)));
                        headers.push(id);
                    }
                    self.layout.unions.push(headers);
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

    /// Storage to hold a header that is wanted as an instance but is not one.
    pub(crate) fn materialize(&mut self, v: &Tv) -> R<HeaderRef> {
        match &v.val {
            Val::Header(h) => Ok(h.clone()),
            _ => match self.copy_into_new(v)?.val {
                Val::Header(h) => Ok(h),
                _ => Err(self.bug(v.span, "a header")),
            },
        }
    }

    fn copy_into_new(&mut self, v: &Tv) -> R<Tv> {
        let name = self.local_name("tmp");
        let val = self.storage(&name, &v.ty, v.span)?;
        let to = Tv { ty: v.ty.clone(), val, access: Access::Write, span: v.span };
        self.store(&to, v)?;
        Ok(to)
    }
}
