//! How does a value become one of the type that is wanted, and how is it stored? Implicit casts, initialisers, default
//! values and assignment of whole structs and headers (P4_16 §8.11.2, §8.12 - §8.17, §12.1).

use super::cx::Values;
use crate::names::scope::nearest;
use crate::names::sink::{R, count};
use crate::types::fold;
use crate::types::fold::{fits, wrap};
use crate::types::*;
use p4_ir::{Bits, Expr, HeaderRef, LValue, Stmt, Ty};
use p4_syntax::{Diagnostic, Span};
use std::collections::HashSet;
use std::rc::Rc;

impl Values<'_> {
    /// The value as one of type `to`; `what` says in messages what it is for.
    pub(crate) fn coerce(&mut self, v: Tv, to: &Type, what: &str) -> R<Tv> {
        if v.ty.is_bad() || to.is_bad() {
            return Err(self.poisoned());
        }
        if v.ty == *to {
            return Ok(v);
        }
        self.spend(1, v.span)?;
        let span = v.span;
        // Parameters were compared when the type arguments were found.
        if let (Type::Block(..), Type::Block(..)) = (&v.ty, to) {
            return Ok(v);
        }
        match (&v.val, to) {
            (Val::Int(i), t) => {
                if let Some(w) = wide_of(t) {
                    if !fits(i, if w.signed { Ty::Int(w.width) } else { Ty::Bit(w.width) }) {
                        self.warn("truncated", span, format!("{i} does not fit in {t} and is cut"));
                    }
                    return Ok(self.wide_constant(i, w, span));
                }
                // P4_16 §7.2.8 wants a cast to a `type`; programs in use leave it out.
                if let Type::New(n) = t
                    && !n.opaque
                    && (matches!(bottom_number(t), Some(Type::Bits { .. })) || wide_of(bottom(t)).is_some())
                {
                    self.warn("cast", span, format!("a number becomes a {t} without a cast"));
                    return self.cast(v, to, span);
                }
                if let (Type::Bits { .. }, Some(ty)) = (t, t.scalar()) {
                    if !fits(i, ty) {
                        self.warn("truncated", span, format!("{i} does not fit in {t} and is cut"));
                    }
                    return Ok(Tv::expr(to.clone(), constant(wrap(i, ty.width()), ty), span));
                }
            }
            (Val::Dots, _) => {
                let val = self.zero(to, span)?;
                return Ok(Tv::value(to.clone(), val, span));
            }
            (Val::Invalid, Type::Composite(c)) if c.kind != Kind::Struct => {
                let val = self.zero(to, span)?;
                return Ok(Tv::value(to.clone(), val, span));
            }
            (Val::List(..) | Val::Fields(..), t) if wide_of(t).is_some() => {
                return Err(self.error("type-mismatch", span, format!("{what} must be {to}, not a list")));
            }
            (Val::List(items, rest), _) => return self.coerce_list(items, *rest, to, span, what),
            (Val::Fields(items, rest), _) => return self.coerce_fields(items, *rest, to, span, what),
            _ => {}
        }
        // Also without a cast a value with a width is one without (P4_16 §8.11.2), if it is known now.
        if let (Type::Bits { .. }, Type::Int) = (&v.ty, to) {
            return match v.val.bits() {
                Some(_) => Ok(Tv::int(self.as_const_int(&v, what)?, span)),
                None => Err(self.unsupported(span, "a number of any size that is not known at compile time")),
            };
        }
        if wide_of(&v.ty).is_some() && matches!(to, Type::Int) {
            return self.cast(v, to, span);
        }
        // `Hash<_>` takes a Hash of anything.
        if let (Type::Extern(a, given), Type::Extern(b, wanted)) = (&v.ty, to)
            && a == b
            && given.len() == wanted.len()
            && given.iter().zip(wanted.iter()).all(|(g, w)| g == w || matches!(w, Type::DontCare) || matches!(g, Type::Var(_)))
        {
            return Ok(v);
        }
        if let Type::Enum(e) = &v.ty
            && let Some(u) = &e.underlying
        {
            let same = u == to || bottom(u) == to;
            if same {
                return Ok(Tv { ty: to.clone(), access: Access::Read("a computed value"), ..v });
            }
        }
        let d = Diagnostic::error("type-mismatch", span, format!("{what} must be {to}, not {}", v.ty));
        let d = match (&v.ty, to) {
            (Type::Bits { .. }, Type::Bits { .. } | Type::New(_)) | (Type::New(_), _) | (Type::Int, Type::New(_)) => {
                d.with_help(format!("cast it: `({}) ...`", plain_name(to)))
            }
            (Type::Int | Type::Bits { .. }, Type::Enum(e)) if e.underlying.is_some() => d.with_help(format!("cast it: `({}) ...`", e.name)),
            (Type::Bits { width: 1, .. }, Type::Bool) => d.with_help("cast it: `(bool) ...`, or compare it: `... == 1`"),
            (Type::Bool, Type::Bits { width: 1, .. }) => d.with_help("cast it: `(bit<1>) ...`"),
            _ => d,
        };
        Err(self.report(d))
    }

    pub(crate) fn coerce_list(&mut self, items: &[Tv], rest: bool, to: &Type, span: Span, what: &str) -> R<Tv> {
        let wanted: Vec<Type> = match to {
            Type::Composite(c) if c.kind != Kind::Union => c.fields.iter().map(|f| f.ty.clone()).collect(),
            Type::Tuple(ts) => ts.to_vec(),
            Type::Stack(t, n) => vec![(**t).clone(); *n as usize],
            Type::List(t) => vec![(**t).clone(); items.len()],
            t => {
                let d = Diagnostic::error("type-mismatch", span, format!("{what} must be {t}, not a list"));
                return Err(self.report(d));
            }
        };
        if items.len() > wanted.len() || (items.len() < wanted.len() && !rest) {
            let message = format!("{to} takes {}, but {} are given", count(wanted.len(), "value"), items.len());
            let d = Diagnostic::error("arity", span, message);
            let fewer = items.len() < wanted.len();
            return Err(self.report(if fewer { d.with_help("end the list with `...` for default values") } else { d }));
        }
        let mut values = Vec::new();
        for (i, t) in wanted.iter().enumerate() {
            values.push(match items.get(i) {
                Some(v) => {
                    let what = match to {
                        Type::Composite(c) => format!("field `{}` of {to}", c.fields[i].name),
                        _ => format!("element {i}"),
                    };
                    self.coerce(v.clone(), t, &what)?.val
                }
                None => self.zero(t, span)?,
            });
        }
        let val = match to {
            Type::Composite(c) if c.kind == Kind::Header => Val::HeaderLit(Some(values.into())),
            Type::Composite(_) | Type::Tuple(_) => Val::Agg(values.into()),
            _ => Val::Array(values.into()),
        };
        Ok(Tv::value(to.clone(), val, span))
    }

    fn coerce_fields(&mut self, items: &[(Rc<str>, Tv)], rest: bool, to: &Type, span: Span, what: &str) -> R<Tv> {
        let Type::Composite(c) = to else {
            let d = Diagnostic::error("type-mismatch", span, format!("{what} must be {to}, not a list of fields"));
            return Err(self.report(d));
        };
        for (name, v) in items {
            if c.field(name).is_none() {
                let near = nearest(name, c.fields.iter().map(|f| &*f.name));
                let mut d = Diagnostic::error("unknown-member", v.span, format!("{to} has no field `{name}`"));
                if let Some(near) = near {
                    d = d.with_help(format!("did you mean `{near}`?"));
                }
                return Err(self.report(d));
            }
        }
        if c.kind == Kind::Union {
            return self.coerce_union(items, c, to, span);
        }
        let mut values = Vec::new();
        for f in &c.fields {
            values.push(match items.iter().find(|(n, _)| *n == f.name) {
                Some((_, v)) => self.coerce(v.clone(), &f.ty, &format!("field `{}` of {to}", f.name))?.val,
                None if rest => self.zero(&f.ty, span)?,
                None => {
                    let d = Diagnostic::error("missing-field", span, format!("no value for field `{}` of {to}", f.name));
                    return Err(self.report(d.with_help("end the list with `...` for default values")));
                }
            });
        }
        let val = if c.kind == Kind::Header { Val::HeaderLit(Some(values.into())) } else { Val::Agg(values.into()) };
        Ok(Tv::value(to.clone(), val, span))
    }

    fn coerce_union(&mut self, items: &[(Rc<str>, Tv)], c: &Rc<Composite>, to: &Type, span: Span) -> R<Tv> {
        if items.len() > 1 {
            return Err(self.error("union", span, format!("only one member of {to} can be given")));
        }
        let mut members = Vec::new();
        for f in &c.fields {
            members.push(match items.iter().find(|(n, _)| *n == f.name) {
                Some((_, v)) => self.coerce(v.clone(), &f.ty, &format!("member `{}` of {to}", f.name))?.val,
                None => Val::HeaderLit(None),
            });
        }
        Ok(Tv::value(to.clone(), Val::Union(members.into()), span))
    }

    /// The default value of a type (P4_16 §7.3).
    pub(crate) fn zero(&mut self, ty: &Type, span: Span) -> R<Val> {
        self.spend(1, span)?;
        if let Some(t) = ty.scalar() {
            let code = match ty {
                Type::Enum(e) if e.underlying.is_none() => e.members.first().map_or(0, |m| m.1),
                _ => 0,
            };
            return Ok(Val::Expr(constant(Bits::new(t.width(), code), t)));
        }
        Ok(match ty {
            Type::Int => Val::Int(0.into()),
            Type::Composite(c) => match c.kind {
                Kind::Header => Val::HeaderLit(None),
                Kind::Union => Val::Union(c.fields.iter().map(|_| Val::HeaderLit(None)).collect()),
                Kind::Struct => {
                    let mut fields = Vec::new();
                    for f in &c.fields {
                        fields.push(self.zero(&f.ty, span)?);
                    }
                    Val::Agg(fields.into())
                }
            },
            Type::Tuple(ts) => {
                let mut fields = Vec::new();
                for t in ts.iter() {
                    fields.push(self.zero(t, span)?);
                }
                Val::Agg(fields.into())
            }
            Type::Stack(t, n) => {
                let zero = self.zero(t, span)?;
                Val::Array(vec![zero; *n as usize].into())
            }
            Type::New(n) => self.zero(&n.target.clone(), span)?,
            Type::Bad => return Err(self.poisoned()),
            Type::Varbit(_) => return Err(self.unsupported(span, "a varbit field without bits")),
            t => return Err(self.error("type-mismatch", span, format!("{t} has no default value"))),
        })
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Assignment

    /// Checks that something may be assigned to.
    pub(crate) fn writable(&mut self, to: &Tv, what: &str) -> R<()> {
        if to.ty.is_bad() {
            return Err(self.poisoned());
        }
        match to.access {
            Access::Write => Ok(()),
            Access::Read(why) => {
                let d = Diagnostic::error("not-writable", to.span, format!("{what} must be something to write to; this is {why}"));
                Err(self.report(d))
            }
        }
    }

    /// `to = from`; both are of one type. The value is complete before anything is written (P4_16 §12.1).
    pub(crate) fn store(&mut self, to: &Tv, from: &Tv) -> R<()> {
        let single =
            to.ty.scalar().is_some() || matches!((&to.val, &from.val), (Val::Header(_), Val::Header(_)) | (Val::Stack(..), Val::Stack(..)));
        if single || from.val.is_const() {
            return self.store_val(&to.val, &from.val, to.span);
        }
        let (mut written, mut read) = (HashSet::new(), HashSet::new());
        self.roots(&to.val, &mut written);
        self.roots(&from.val, &mut read);
        if written.is_disjoint(&read) || to.val == from.val {
            return self.store_val(&to.val, &from.val, to.span);
        }
        let copy = self.copy_to_temp(from)?;
        self.store_val(&to.val, &copy.val, to.span)
    }

    fn store_val(&mut self, to: &Val, from: &Val, span: Span) -> R<()> {
        self.spend(1, span)?;
        if let (Some(place), Some(value)) = (to.place(), from.scalar()) {
            self.emit_assign(place, value);
            return Ok(());
        }
        if let (Val::Joined(places), Some(value)) = (to, from.scalar()) {
            let value = self.keep(value);
            let mut above = value.ty.width();
            for place in places.iter() {
                let width = place.scalar().map_or(0, |e| e.ty.width());
                let part = fold::slice(value.clone(), above - 1, above - width);
                self.store_val(place, &Val::Expr(part), span)?;
                above -= width;
            }
            return Ok(());
        }
        match (to, from) {
            (Val::Union(_), Val::Union(b)) => {
                let Val::Union(a) = self.pin(to) else { return Err(self.bug(span, "a union")) };
                // The valid member is to be written last: it makes the others invalid.
                for last in [false, true] {
                    for (a, b) in a.iter().zip(b.iter()).filter(|(_, b)| matches!(b, Val::HeaderLit(Some(_))) == last) {
                        let Val::Header(h) = a else { return Err(self.bug(span, "a union member is no header")) };
                        self.store_header(h, b, span)?;
                    }
                }
                Ok(())
            }
            (Val::Agg(a), Val::Agg(b)) | (Val::Array(a), Val::Array(b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b.iter()) {
                    self.store_val(a, b, span)?;
                }
                if let (Some(to), Some(from)) = (self.layout.union_stack(to), self.layout.union_stack(from)) {
                    let (to, from) = (to.next, from.next);
                    self.emit_assign(LValue::Var(to), var(from, Ty::Bit(32)));
                }
                Ok(())
            }
            (Val::Header(h), _) => {
                let h = self.pin_member(h);
                self.store_header(&h, from, span)?;
                if !matches!(from, Val::HeaderLit(Some(_))) {
                    self.only_member(&h);
                }
                Ok(())
            }
            (Val::Stack(dst, _), Val::Stack(src, _)) => {
                if dst != src {
                    self.emit(Stmt::CopyStack { dst: *dst, src: *src });
                }
                Ok(())
            }
            (Val::Stack(_, hs), Val::Array(vs)) => {
                for (h, v) in hs.iter().zip(vs.iter()) {
                    self.store_val(&Val::Header(HeaderRef::Static(*h)), v, span)?;
                }
                Ok(())
            }
            (Val::Varbit(dst, _), Val::Varbit(src, _)) => {
                if dst != src {
                    if let HeaderRef::Static(h) = dst
                        && self.layout.is_varbit_var(*h)
                    {
                        self.emit(Stmt::SetValid(dst.clone(), true));
                    }
                    self.emit(Stmt::CopyVarbit { dst: dst.clone(), src: src.clone() });
                }
                Ok(())
            }
            _ => Err(self.bug(span, "this assignment")),
        }
    }

    /// Writes a header, whatever else its union holds.
    fn store_header(&mut self, h: &HeaderRef, from: &Val, span: Span) -> R<()> {
        match from {
            Val::Header(src) => {
                if h != src {
                    self.emit(Stmt::CopyHeader { dst: h.clone(), src: src.clone() });
                }
                Ok(())
            }
            Val::HeaderLit(None) => {
                self.emit(Stmt::SetValid(h.clone(), false));
                Ok(())
            }
            Val::HeaderLit(Some(fields)) => {
                self.emit(Stmt::SetValid(h.clone(), true));
                let mut flat = 0;
                for f in fields.iter() {
                    self.store_fields(h, &mut flat, f, span)?;
                }
                Ok(())
            }
            _ => Err(self.bug(span, "this assignment")),
        }
    }

    /// Writes a header's fields from its `flat`-th scalar on.
    fn store_fields(&mut self, h: &HeaderRef, flat: &mut u32, v: &Val, span: Span) -> R<()> {
        match v {
            Val::Agg(vs) => vs.iter().try_for_each(|v| self.store_fields(h, flat, v, span)),
            v => match v.scalar() {
                Some(e) => {
                    self.emit_assign(LValue::Field(h.clone(), *flat), e);
                    *flat += 1;
                    Ok(())
                }
                None if matches!(v, Val::Varbit(..)) => {
                    self.store_val(&Val::Varbit(h.clone(), *flat), v, span)?;
                    *flat += 1;
                    Ok(())
                }
                None => Err(self.unsupported(span, "giving this value to a varbit field")),
            },
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // What a value reads or a place holds

    pub(crate) fn as_bool(&mut self, v: Tv) -> R<Expr> {
        match (&v.ty, v.val.scalar()) {
            (Type::Bool, Some(e)) => Ok(e),
            (Type::Bad, _) => Err(self.poisoned()),
            (t, _) => {
                let d = Diagnostic::error("type-mismatch", v.span, format!("a condition must be bool, not {t}"));
                let help = matches!(t, Type::Bits { .. } | Type::Int).then_some("compare it: `... != 0`");
                Err(self.report(match help {
                    Some(h) => d.with_help(h),
                    None => d,
                }))
            }
        }
    }
}

fn plain_name(t: &Type) -> String {
    match t {
        Type::New(n) => n.name.clone(),
        Type::Enum(e) => e.name.clone(),
        Type::Composite(c) => c.name.clone(),
        t => t.to_string(),
    }
}
