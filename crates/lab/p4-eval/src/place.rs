//! Where is a value kept, and what does writing to it change? L-values (P4_16 §6.7), validity, unions (§8.20, §8.21).

use crate::names::Entity;
use crate::value::{Ty, Value, slice, with_slice};
use crate::{Evaluator, R, Stop};
use p4_syntax::BigInt;
use p4_syntax::ast::{self, CompositeKind, ExprKind};
use std::rc::Rc;

/// A variable and the way to a part of it. Indices are numbers already, so it stays the same place whatever happens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    slot: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// A field of a struct, header or union, or an element of a tuple.
    Field(usize),
    /// An element of a stack; beyond its end there is an invalid header that cannot be written.
    Element(usize),
    /// Bits, upper end first.
    Bits(usize, usize),
}

impl Place {
    pub(crate) fn variable(slot: usize) -> Place {
        Place { slot, steps: Vec::new() }
    }

    fn with(&self, step: Step) -> Place {
        let mut steps = self.steps.clone();
        steps.push(step);
        Place { slot: self.slot, steps }
    }

    pub(crate) fn field(&self, i: usize) -> Place {
        self.with(Step::Field(i))
    }

    pub(crate) fn element(&self, i: usize) -> Place {
        self.with(Step::Element(i))
    }
}

impl<'a> Evaluator<'a> {
    /// The place that an expression names, if it names one.
    pub(crate) fn place(&mut self, e: &'a ast::Expr, scope: usize) -> R<Option<Place>> {
        match &e.kind {
            ExprKind::Path(path) => Ok(match self.find(scope, path)? {
                Entity::Variable(place) => Some(place),
                _ => None,
            }),
            ExprKind::Member { base, member } => {
                if self.names_a_type(base, scope) {
                    return Ok(None);
                }
                let Some(base) = self.place(base, scope)? else { return Ok(None) };
                self.member_place(&base, &member.name)
            }
            ExprKind::Index { base, index } => {
                let Some(base) = self.place(base, scope)? else { return Ok(None) };
                let at = self.eval(index, scope)?.number()?;
                let at = usize::try_from(&at).unwrap_or(usize::MAX);
                Ok(Some(match self.look(&base)? {
                    Value::Stack { .. } => base.element(at),
                    _ => base.field(at),
                }))
            }
            ExprKind::Slice { base, hi, lo } => {
                let Some(base) = self.place(base, scope)? else { return Ok(None) };
                let (hi, lo) = (self.eval(hi, scope)?.index()?, self.eval(lo, scope)?.index()?);
                Ok(Some(base.with(Step::Bits(hi, lo))))
            }
            _ => Ok(None),
        }
    }

    fn member_place(&mut self, base: &Place, member: &str) -> R<Option<Place>> {
        let step = match self.look(base)? {
            Value::Struct(c, _) | Value::Union(c, _) | Value::Header { ty: c, .. } => match c.position(member) {
                Some(i) => Step::Field(i),
                None => return Ok(None),
            },
            Value::Stack { elems, next, .. } => match member {
                // P4_16 §8.19: beyond the ends the parser rejects.
                "next" if *next < elems.len() => Step::Element(*next),
                "last" if *next > 0 && *next <= elems.len() => Step::Element(*next - 1),
                "next" | "last" => return Err(Stop::Reject("StackOutOfBounds".into())),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(base.with(step)))
    }

    /// What is stored there, without its bits' slices and without regard to validity; of what lies beyond a stack an error.
    fn look(&self, place: &Place) -> R<&Value> {
        let mut at = self.store.get(place.slot).ok_or_else(|| Stop::cannot("a variable that is gone"))?;
        for step in &place.steps {
            at = match (step, at) {
                (Step::Field(i), Value::Struct(_, fs) | Value::Union(_, fs) | Value::Header { fields: fs, .. } | Value::Tuple(fs, _)) => {
                    fs.get(*i).ok_or_else(|| Stop::cannot("a field that is not there"))?
                }
                (Step::Element(i), Value::Stack { elems, .. }) => {
                    // Any element has the right shape for looking further.
                    elems.get(*i).or(elems.first()).ok_or_else(|| Stop::cannot("a stack without elements"))?
                }
                (Step::Bits(..), v) => v,
                _ => return Err(Stop::cannot("a part of this")),
            };
        }
        Ok(at)
    }

    /// The value there: of a field of an invalid header, zero.
    pub(crate) fn read(&self, place: &Place) -> R<Value> {
        let mut at = self.store.get(place.slot).ok_or_else(|| Stop::cannot("a variable that is gone"))?.clone();
        for step in &place.steps {
            at = match (step, at) {
                (Step::Field(i), Value::Header { ty, valid: false, .. }) => ty.fields[*i].ty.start(),
                (Step::Field(i), Value::Struct(_, fs) | Value::Union(_, fs) | Value::Header { fields: fs, .. } | Value::Tuple(fs, _)) => {
                    fs.into_iter().nth(*i).ok_or_else(|| Stop::cannot("a field that is not there"))?
                }
                (Step::Element(i), Value::Stack { elem, elems, .. }) => elems.into_iter().nth(*i).unwrap_or_else(|| elem.start()),
                (Step::Bits(hi, lo), v) => slice(&v, *hi, *lo)?,
                _ => return Err(Stop::cannot("a part of this")),
            };
        }
        Ok(at)
    }

    /// The type of what may be written there.
    pub(crate) fn ty_at(&self, place: &Place) -> R<Ty> {
        match place.steps.last() {
            Some(Step::Bits(hi, lo)) => Ok(Ty::Bits { width: (hi + 1 - lo) as u32, signed: false }),
            _ => Ok(self.look(place)?.ty()),
        }
    }

    /// An assignment.
    pub(crate) fn write(&mut self, place: &Place, value: Value) -> R<()> {
        let value = value.becomes(&self.ty_at(place)?)?;
        self.change(place, &mut |old| {
            *old = match (&*old, value.clone()) {
                // A header that becomes invalid keeps no fields.
                (Value::Header { ty, .. }, Value::Header { valid: false, .. }) => Ty::Composite(ty.clone()).start(),
                (_, new) => new,
            };
            Ok(())
        })
    }

    /// `setValid` and `setInvalid`; one that was invalid becomes valid with zero in its fields.
    pub(crate) fn set_valid(&mut self, place: &Place, valid: bool) -> R<()> {
        self.change(place, &mut |header| {
            if let Value::Header { ty, valid: was, .. } = header
                && *was != valid
            {
                *header = Ty::Composite(ty.clone()).start();
                if let Value::Header { valid: now, .. } = header {
                    *now = valid;
                }
            }
            Ok(())
        })
    }

    /// Changes what is there; what cannot be written stays. A member of a union that is changed makes the others invalid.
    pub(crate) fn change(&mut self, place: &Place, f: &mut dyn FnMut(&mut Value) -> R<()>) -> R<()> {
        let slot = self.store.get_mut(place.slot).ok_or_else(|| Stop::cannot("a variable that is gone"))?;
        change_in(slot, &place.steps, f)
    }
}

fn change_in(at: &mut Value, steps: &[Step], f: &mut dyn FnMut(&mut Value) -> R<()>) -> R<()> {
    let Some((step, rest)) = steps.split_first() else { return f(at) };
    match (step, at) {
        // Writing to an invalid header changes nothing.
        (Step::Field(_), Value::Header { valid: false, .. }) => Ok(()),
        (Step::Field(i), Value::Union(_, members)) => {
            let i = *i;
            if let Some(m) = members.get_mut(i) {
                change_in(m, rest, f)?;
            }
            // What becomes of a member, valid or not, is all that the union holds (P4_16 §8.20); a write to a field of one does nothing to others.
            if rest.is_empty() || members.get(i).is_some_and(Value::valid) {
                for (_, other) in members.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                    *other = other.ty().start();
                }
            }
            Ok(())
        }
        (Step::Field(i), Value::Struct(_, fs) | Value::Header { fields: fs, .. } | Value::Tuple(fs, _)) => {
            fs.get_mut(*i).map_or(Ok(()), |v| change_in(v, rest, f))
        }
        (Step::Element(i), Value::Stack { elems, .. }) => elems.get_mut(*i).map_or(Ok(()), |v| change_in(v, rest, f)),
        (Step::Bits(hi, lo), old) => {
            let mut part = slice(old, *hi, *lo)?;
            change_in(&mut part, rest, f)?;
            *old = with_slice(old, *hi, *lo, &part)?;
            Ok(())
        }
        _ => Err(Stop::cannot("writing to a part of this")),
    }
}

/// The fields of a header one after the other, structs among them opened; a varbit field is a value.
pub(crate) fn flat(v: &Value, out: &mut Vec<Value>) {
    match v {
        Value::Struct(_, fs) | Value::Header { fields: fs, .. } | Value::Tuple(fs, _) => fs.iter().for_each(|f| flat(f, out)),
        Value::Stack { elems, .. } => elems.iter().for_each(|f| flat(f, out)),
        other => out.push(other.clone()),
    }
}

/// The bits of values one after the other, the first bit of the wire first.
pub(crate) fn bits_of(v: &Value, out: &mut Vec<bool>) -> R<()> {
    let mut parts = Vec::new();
    flat(v, &mut parts);
    for part in parts {
        match part {
            Value::Bits { value, width, .. } => {
                let n = crate::value::pattern(&value, width);
                out.extend((0..width).rev().map(|i| n.bit(u64::from(i))));
            }
            Value::Bool(b) => out.push(b),
            Value::Varbit { bits, .. } => out.extend(bits),
            other => return Err(Stop::cannot(format!("bits of {other:?}"))),
        }
    }
    Ok(())
}

/// The value of a type whose bits these are; takes as many as it needs.
pub(crate) fn from_bits(ty: &Ty, bits: &mut impl Iterator<Item = bool>, varbit: usize) -> R<Value> {
    Ok(match ty {
        Ty::Bool => Value::Bool(bits.next().unwrap_or(false)),
        Ty::Bits { width, signed } => {
            let mut n = BigInt::ZERO;
            for _ in 0..*width {
                n = (n << 1) + u8::from(bits.next().unwrap_or(false));
            }
            crate::value::wrap(&n, *width, *signed)
        }
        Ty::Varbit(max) => Value::Varbit { bits: bits.take(varbit).collect(), max: *max },
        Ty::Composite(c) => {
            let mut fields = Vec::new();
            for f in &c.fields {
                fields.push(from_bits(&f.ty, bits, varbit)?);
            }
            match c.kind {
                CompositeKind::Header => Value::Header { ty: c.clone(), valid: true, fields },
                CompositeKind::Struct => Value::Struct(c.clone(), fields),
                CompositeKind::HeaderUnion => return Err(Stop::cannot("a union from bits")),
            }
        }
        Ty::Stack(elem, n) => {
            let mut elems = Vec::new();
            for _ in 0..*n {
                elems.push(from_bits(elem, bits, varbit)?);
            }
            Value::Stack { elem: Rc::clone(elem), elems, next: 0 }
        }
        other => return Err(Stop::cannot(format!("{other:?} from bits"))),
    })
}

/// Bits of a type on the wire without its varbit fields; a header is padded to whole bytes (v1model).
pub(crate) fn wire_bits(ty: &Ty) -> usize {
    match ty {
        Ty::Bool => 1,
        Ty::Bits { width, .. } => *width as usize,
        Ty::Composite(c) => {
            let sum: usize = c.fields.iter().map(|f| wire_bits(&f.ty)).sum();
            let varbit = c.fields.iter().any(|f| matches!(f.ty, Ty::Varbit(_)));
            if c.kind == CompositeKind::Header && !varbit { sum.next_multiple_of(8) } else { sum }
        }
        Ty::Stack(elem, n) => n * wire_bits(elem),
        Ty::Tuple(ts) => ts.iter().map(wire_bits).sum(),
        _ => 0,
    }
}
