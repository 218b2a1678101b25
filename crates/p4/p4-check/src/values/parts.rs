//! What is a part of a value? Fields, elements of stacks and bits: a place if the value is one.

use super::body::Region;
use super::cx::Values;
use crate::names::scope::nearest;
use crate::names::sink::{R, Reported};
use crate::types::fold;
use crate::types::wide::pieces;
use crate::types::*;
use base::MAX_WIDTH;
use p4_ir::{BinOp, Bits, Expr, ExprKind, HeaderRef, LValue, Stmt, Ty};
use p4_syntax::{BigInt, Diagnostic, Span, ast};
use std::rc::Rc;

impl Values<'_> {
    /// A field of a value.
    pub(crate) fn select(&mut self, v: &Tv, member: &ast::Ident, span: Span) -> R<Tv> {
        let name = member.name.as_str();
        match &v.ty {
            Type::Bad => Err(self.poisoned()),
            Type::Composite(c) => match c.field(name) {
                Some(i) => {
                    self.note_field(member, c, &c.fields[i].ty);
                    self.field(v, c, i, span)
                }
                None => {
                    self.note_unknown(member, &v.ty);
                    let near = match name {
                        "isValid" | "setValid" | "setInvalid" if c.kind != Kind::Struct => Some(format!("{name}()")),
                        _ => nearest(name, c.fields.iter().map(|f| &*f.name)),
                    };
                    let c = c.clone();
                    Err(self.unknown_member(member, format!("{} has no field `{name}`", Type::Composite(c)), near))
                }
            },
            Type::Stack(t, n) => self.stack_member(v, &t.clone(), *n, member, span),
            Type::StructLit(_) => {
                if let Val::Fields(fields, _) = &v.val
                    && let Some((_, f)) = fields.iter().find(|(n, _)| **n == *name)
                {
                    return Ok(f.clone().at(span));
                }
                Err(self.error("unknown-member", member.span, format!("there is no field `{name}`")))
            }
            t => {
                self.note_unknown(member, t);
                Err(self.error("unknown-member", member.span, format!("{t} has no member `{name}`")))
            }
        }
    }

    /// The value of an error by its code.
    pub(crate) fn error_value(&self, code: usize, span: Span) -> Tv {
        Tv::expr(Type::Error, constant(Bits::new(ERROR_WIDTH, code as u128), Ty::Bit(ERROR_WIDTH)), span)
    }

    pub(crate) fn unknown_member(&mut self, member: &ast::Ident, message: String, near: Option<String>) -> Reported {
        let mut d = Diagnostic::error("unknown-member", member.span, message);
        if let Some(near) = near {
            d = d.with_help(format!("did you mean `{near}`?"));
        }
        self.report(d)
    }

    /// The `i`-th field of a struct, header or union.
    pub(crate) fn field(&mut self, v: &Tv, c: &Rc<Composite>, i: usize, span: Span) -> R<Tv> {
        let f = &c.fields[i];
        let val = match &v.val {
            Val::Agg(vs) | Val::Union(vs) | Val::HeaderLit(Some(vs)) => vs.get(i).cloned(),
            Val::HeaderLit(None) => Some(self.zero(&f.ty, span)?),
            Val::Header(h) => {
                let mut flat = f.flat;
                Some(header_field(h, &f.ty, &mut flat))
            }
            _ => None,
        };
        match val {
            Some(val) => Ok(Tv { ty: f.ty.clone(), val, access: v.access, span }),
            None => Err(self.bug(span, "a field of this")),
        }
    }

    fn stack_member(&mut self, v: &Tv, elem: &Type, size: u32, member: &ast::Ident, span: Span) -> R<Tv> {
        let name = member.name.as_str();
        if name == "size" {
            return Ok(Tv::expr(Type::bit(32), constant(Bits::new(32, u128::from(size)), Ty::Bit(32)), span));
        }
        if !matches!(name, "next" | "last" | "lastIndex") {
            self.note_unknown(member, &v.ty);
            let near = nearest(name, ["size", "next", "last", "lastIndex"].into_iter());
            return Err(self.unknown_member(member, format!("a header stack has no member `{name}`"), near));
        }
        if self.body.region != Region::Parser {
            return Err(self.error("stack", span, format!("`.{name}` of a header stack may be used in parsers only")));
        }
        self.check_stack_end(v, size, name, span);
        if let Some(u) = self.layout.union_stack(&v.val) {
            let val = match name {
                "lastIndex" => return Ok(Tv::expr(Type::bit(32), u.last_index(), span)),
                "next" => u.next(),
                _ => u.last(),
            };
            return Ok(Tv { ty: elem.clone(), val, access: v.access, span });
        }
        let Val::Stack(id, _) = v.val else {
            // Where only types count, any element will do.
            return match (&v.val, name, self.check_only()) {
                (Val::Array(vs), "next" | "last", true) if !vs.is_empty() => {
                    Ok(Tv { ty: elem.clone(), val: vs[0].clone(), access: v.access, span })
                }
                (_, "lastIndex", true) => {
                    let t = self.temp(Ty::Bit(32));
                    Ok(Tv::expr(Type::bit(32), var(t, Ty::Bit(32)), span))
                }
                _ => Err(self.unsupported(span, format!("`.{name}` of this stack"))),
            };
        };
        match name {
            "lastIndex" => Ok(Tv::expr(Type::bit(32), Expr { kind: ExprKind::LastIndex(id), ty: Ty::Bit(32) }, span)),
            _ => {
                let h = if name == "next" { HeaderRef::Next(id) } else { HeaderRef::Last(id) };
                Ok(Tv { ty: elem.clone(), val: Val::Header(h), access: v.access, span })
            }
        }
    }

    /// A parser that looks at `last` of an empty stack, or at `next` of a full one, rejects (P4_16 §8.20). `extract` sees to that by
    /// itself, and where this body has just extracted into the stack, it has a last element.
    fn check_stack_end(&mut self, v: &Tv, size: u32, name: &str, span: Span) {
        let Some(error) = self.decls.error_code("StackOutOfBounds") else { return };
        let bits = |n: u32| constant(Bits::new(32, u128::from(n)), Ty::Bit(32));
        let last = match (&v.val, self.layout.union_stack(&v.val)) {
            (_, Some(u)) => u.last_index(),
            (Val::Stack(id, _), None) => {
                let touched = self.build.since(0).iter().rev().find(|s| match s {
                    Stmt::Extract { header: HeaderRef::Next(s), .. } | Stmt::Pop(s, _) | Stmt::CopyStack { dst: s, .. } => s == id,
                    Stmt::Assign(..) | Stmt::Extern(_) | Stmt::Advance(_) | Stmt::Lookahead(..) | Stmt::Verify(..) => false,
                    _ => true,
                });
                if name == "last" && matches!(touched, Some(Stmt::Extract { header: HeaderRef::Next(s), .. }) if s == id) {
                    return;
                }
                Expr { kind: ExprKind::LastIndex(*id), ty: Ty::Bit(32) }
            }
            _ => return,
        };
        let holds = match name {
            "last" => fold::binary(BinOp::Ne, last, bits(u32::MAX)),
            // The index before the first wraps, so this is `next < size`.
            "next" if !self.extracting => {
                let next = fold::binary(BinOp::Add, last, bits(1));
                fold::binary(BinOp::Lt, next, bits(size))
            }
            _ => return,
        };
        if let Some(code) = self.error_value(error, span).val.bits() {
            self.emit(Stmt::Verify(holds, code));
        }
    }

    pub(crate) fn const_index(&mut self, i: &Tv, len: usize) -> R<usize> {
        let at = self.as_const_int(i, "the index of a tuple or list")?;
        match usize::try_from(&at) {
            Ok(at) if at < len => Ok(at),
            _ => Err(self.error("out-of-range", i.span, format!("index {at} is not below {len}"))),
        }
    }

    /// The same value as a variable's.
    pub(crate) fn at_run_time(&mut self, v: &Tv) -> R<Tv> {
        let (Some(ty), Some(e)) = (v.ty.scalar(), v.val.scalar()) else { return Ok(v.clone()) };
        let t = self.temp(ty);
        self.emit_assign(LValue::Var(t), e);
        Ok(Tv { val: Val::Place(LValue::Var(t), ty), access: Access::Read("a computed value"), ..v.clone() })
    }

    /// `written`: the index is known by the text alone.
    pub(crate) fn element(&mut self, v: &Tv, elem: &Type, n: u32, i: Tv, written: bool, span: Span) -> R<Tv> {
        let known = match &i.val {
            Val::Int(at) => Some(at.clone()),
            val => val.bits().map(|b| BigInt::from(b.value())),
        };
        let beyond = known.as_ref().is_some_and(|at| *at >= BigInt::from(n) || *at < BigInt::from(0));
        let known = if beyond && !written { None } else { known };
        let val = match (&v.val, known) {
            (_, Some(at)) => {
                let at = match usize::try_from(&at) {
                    Ok(at) if at < n as usize => at,
                    _ => return Err(self.error("out-of-range", i.span, format!("index {at} is beyond a stack of {n}"))),
                };
                match &v.val {
                    Val::Stack(_, hs) => Val::Header(HeaderRef::Static(hs[at])),
                    Val::Array(vs) => vs[at].clone(),
                    _ => return Err(self.bug(span, "an element of this")),
                }
            }
            (stack, None) if matches!(stack, Val::Stack(..)) || self.layout.union_stack(stack).is_some() => {
                let at = match (&i.ty, i.val.scalar()) {
                    (Type::Bits { signed: false, .. }, Some(e)) => e,
                    // Sign-extended, so that a negative index is beyond the end.
                    (Type::Bits { signed: true, .. }, Some(e)) => fold::cast(fold::cast(e, Ty::Int(32)), Ty::Bit(32)),
                    (Type::Enum(e), Some(x)) if e.underlying.is_some() => x,
                    (Type::Bad, _) => return Err(self.poisoned()),
                    (t, _) => return Err(self.error("type-mismatch", i.span, format!("an index must be bit<W>, not {t}"))),
                };
                match (stack, self.layout.union_stack(stack)) {
                    (Val::Stack(id, _), _) => {
                        let id = *id;
                        self.build.note(p4_ir::origin::Construct::StackIndex, span);
                        Val::Header(HeaderRef::Index(id, Box::new(at)))
                    }
                    (_, Some(u)) => u.at(&at),
                    _ => return Err(self.bug(span, "an element of this")),
                }
            }
            (Val::Array(vs), None) if self.check_only() && !vs.is_empty() => match &i.ty {
                Type::Bad => return Err(self.poisoned()),
                t if matches!(bottom_number(t), Some(Type::Bits { .. })) => vs[0].clone(),
                t => return Err(self.error("type-mismatch", i.span, format!("an index must be bit<W>, not {t}"))),
            },
            _ => return Err(self.unsupported(i.span, "an index that is not known at compile time into this stack")),
        };
        Ok(Tv { ty: elem.clone(), val, access: v.access, span })
    }

    pub(crate) fn slice_of(&mut self, v: &Tv, h: &BigInt, l: &BigInt, span: Span) -> R<Tv> {
        let width = self.sliceable(v)?;
        let (hi, lo) = match (u32::try_from(h), u32::try_from(l)) {
            (Ok(h), Ok(l)) if h < width && l <= h => (h, l),
            _ => {
                let d = Diagnostic::error("out-of-range", span, format!("there are no bits [{h}:{l}] in {}", v.ty));
                return Err(self.report(d.with_note("a slice is [high:low], both included, below the width")));
            }
        };
        if let (Type::Composite(c), Some(_)) = (&v.ty, wide_of(&v.ty)) {
            return self.wide_slice(v, &c.clone(), hi, lo, span);
        }
        let ty = Type::bit(hi - lo + 1);
        Ok(match (&v.val, v.val.scalar()) {
            (Val::Joined(places), _) => Tv { ty, val: self.joined_slice(places, hi, lo), access: v.access, span },
            (Val::Place(..) | Val::Sliced(..), _) => Tv { ty, val: Val::Sliced(Rc::new(v.val.clone()), hi, lo), access: v.access, span },
            (_, Some(e)) => Tv::expr(ty, fold::slice(e, hi, lo), span),
            _ => return Err(self.bug(span, "a slice of this")),
        })
    }

    pub(crate) fn sliceable(&mut self, v: &Tv) -> R<u32> {
        match &v.ty {
            Type::Bits { width, .. } => Ok(*width),
            Type::Bad => Err(self.poisoned()),
            t if wide_of(t).is_some() => Ok(wide_of(t).map_or(0, |w| w.width)),
            Type::Enum(_) | Type::New(_) if matches!(bottom_number(&v.ty), Some(Type::Bits { .. })) => {
                Ok(v.ty.scalar().map_or(0, Ty::width))
            }
            Type::Int => {
                let d = Diagnostic::error("type-mismatch", v.span, "a number without width has no bits to slice");
                Err(self.report(d.with_help("give it a width, such as `8w5`")))
            }
            t => Err(self.error("type-mismatch", v.span, format!("{t} has no bits to slice"))),
        }
    }

    /// Bits `hi` down to `lo` of a value of such a type: a place if it is one, else a value.
    pub(crate) fn wide_slice(&mut self, v: &Tv, c: &Rc<Composite>, hi: u32, lo: u32, span: Span) -> R<Tv> {
        if hi - lo >= MAX_WIDTH {
            let (width, mut above) = (hi - lo + 1, hi + 1);
            let mut parts: Vec<Val> = Vec::new();
            for piece in pieces(width) {
                parts.push(self.wide_slice(v, c, above - 1, above - piece, span)?.val);
                above -= piece;
            }
            if !parts.iter().all(|p| p.places().is_some()) {
                return self.wide_bits(v, hi, lo, span);
            }
            let ty = self.wide(Wide { width, signed: false });
            return Ok(Tv { ty, val: Val::Agg(parts.into()), access: v.access, span });
        }
        let mut above: u32 = c.fields.iter().map(|f| f.ty.scalar().map_or(0, |t| t.width())).sum();
        let mut found: Vec<Val> = Vec::new();
        for i in 0..c.fields.len() {
            let below = above - c.fields[i].ty.scalar().map_or(0, |t| t.width());
            if lo < above && hi >= below {
                let piece = self.field(v, c, i, span)?;
                let (h, l) = (hi.min(above - 1) - below, lo.max(below) - below);
                found.push(self.slice_of(&piece, &h.into(), &l.into(), span)?.val);
            }
            above = below;
        }
        let ty = Type::bit(hi - lo + 1);
        if let [one] = &found[..] {
            return Ok(Tv { ty, val: one.clone(), access: v.access, span });
        }
        match found.iter().map(Val::places).collect::<Option<Vec<_>>>() {
            Some(places) => Ok(Tv { ty, val: Val::Joined(places.concat().into()), access: v.access, span }),
            None => self.wide_bits(v, hi, lo, span),
        }
    }

    /// Bits `hi` down to `lo` of places side by side.
    pub(crate) fn joined_slice(&mut self, places: &[Val], hi: u32, lo: u32) -> Val {
        let mut above: u32 = places.iter().filter_map(Val::scalar).map(|e| e.ty.width()).sum();
        let mut found: Vec<Val> = Vec::new();
        for place in places {
            let width = place.scalar().map_or(0, |e| e.ty.width());
            let below = above - width;
            if lo < above && hi >= below {
                let (h, l) = (hi.min(above - 1) - below, lo.max(below) - below);
                let whole = l == 0 && h + 1 == width;
                found.push(if whole { place.clone() } else { Val::Sliced(Rc::new(place.clone()), h, l) });
            }
            above = below;
        }
        match found.len() {
            1 => found.swap_remove(0),
            _ => Val::Joined(found.into()),
        }
    }
}
