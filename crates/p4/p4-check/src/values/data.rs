//! What does an extern get of a value? Numbers, places, and lists of data.

use super::cx::Values;
use super::wide_ops::{bits, one};
use crate::names::sink::R;
use crate::types::fold;
use crate::types::*;
use p4_ir::{Bits, Block, CheckData, Expr, Extern, HashAlgorithm, LValue, Stmt, Ty};
use p4_syntax::Span;
use program::CountUnit;

impl Values<'_> {
    /// The value of a type whose bits stand in `all`, one piece behind the other, below bit `high`.
    pub(crate) fn cut(&mut self, ty: &Type, all: &[Expr], high: &mut u32, span: Span) -> R<Val> {
        if let Some(t) = ty.scalar() {
            let w = t.width();
            if w == 0 {
                return Ok(Val::Expr(constant(Bits::new(0, 0), t)));
            }
            let part = one(bits(all, *high - 1, *high - w));
            *high -= w;
            return Ok(Val::Expr(fold::cast(part, t)));
        }
        match ty {
            Type::Composite(c) if c.kind != Kind::Union => {
                let mut fields = Vec::new();
                for f in &c.fields {
                    fields.push(self.cut(&f.ty, all, high, span)?);
                }
                Ok(if c.kind == Kind::Header { Val::HeaderLit(Some(fields.into())) } else { Val::Agg(fields.into()) })
            }
            Type::Tuple(ts) => {
                let mut fields = Vec::new();
                for t in ts.iter() {
                    fields.push(self.cut(t, all, high, span)?);
                }
                Ok(Val::Agg(fields.into()))
            }
            Type::Stack(t, n) => {
                let mut elements = Vec::new();
                for _ in 0..*n {
                    elements.push(self.cut(t, all, high, span)?);
                }
                Ok(Val::Array(elements.into()))
            }
            Type::New(n) => self.cut(&n.target, all, high, span),
            t => Err(self.error("type-mismatch", span, format!("`lookahead` cannot read {t}"))),
        }
    }

    pub(crate) fn scalar(&mut self, v: &Tv) -> R<Expr> {
        match v.val.scalar() {
            Some(e) => Ok(e),
            None if v.ty.is_bad() => Err(self.poisoned()),
            None => Err(self.error("type-mismatch", v.span, format!("a single value is wanted here, not {}", v.ty))),
        }
    }

    /// A scalar as `bit<W>`.
    pub(crate) fn unsigned(&mut self, v: &Tv) -> R<Expr> {
        let e = self.scalar(v)?;
        Ok(match e.ty {
            Ty::Bit(_) => e,
            other => fold::cast(e, Ty::Bit(other.width())),
        })
    }

    pub(crate) fn scalar_place(&mut self, v: &Tv) -> R<LValue> {
        match (v.val.place(), &v.ty) {
            (Some(p), Type::Bits { signed: false, .. } | Type::New(_) | Type::Enum(_)) => Ok(p),
            (_, Type::Bad) => Err(self.poisoned()),
            (_, t) => Err(self.error("type-mismatch", v.span, format!("the result must be bit<W>, not {t}"))),
        }
    }

    pub(crate) fn algorithm(&mut self, v: &Tv) -> R<HashAlgorithm> {
        match self.hash_algorithm(v)? {
            Some(algorithm) => Ok(algorithm),
            None => Err(self.unsupported(v.span, "a checksum by the algorithm `random`")),
        }
    }

    /// How a hash is made, of what, and what is done before: by `random` it is a number that has nothing to do with the data.
    pub(crate) fn hashed(&mut self, algorithm: Option<HashAlgorithm>, data: Vec<Expr>) -> (HashAlgorithm, Vec<Expr>, Block) {
        if let Some(algorithm) = algorithm {
            return (algorithm, data, vec![]);
        }
        let ty = Ty::Bit(32);
        let t = self.temp(ty);
        let (low, high) = (constant(Bits::new(32, 0), ty), constant(Bits::new(32, u32::MAX.into()), ty));
        let random = Stmt::Extern(Extern::Random { result: LValue::Var(t), low, high });
        (HashAlgorithm::Identity, vec![var(t, ty)], vec![random])
    }

    /// `None` is `random`.
    pub(crate) fn hash_algorithm(&mut self, v: &Tv) -> R<Option<HashAlgorithm>> {
        let Type::Enum(e) = &v.ty else {
            return Err(self.error("type-mismatch", v.span, format!("a HashAlgorithm is wanted, not {}", v.ty)));
        };
        let Some(code) = v.val.bits() else {
            return Err(self.error("not-const", v.span, "the algorithm must be known at compile time"));
        };
        let name = e.members.iter().find(|(_, c)| *c == code.value()).map_or("", |(n, _)| n);
        match name {
            // The custom ones are BMv2's as long as its control plane gives them no other polynomial, which none can here.
            "crc32" | "crc32_custom" | "CRC32" | "CRC32_CUSTOM" | "TARGET_DEFAULT" => Ok(Some(HashAlgorithm::Crc32)),
            "crc16" | "crc16_custom" | "CRC16" | "CRC16_CUSTOM" => Ok(Some(HashAlgorithm::Crc16)),
            "identity" | "IDENTITY" => Ok(Some(HashAlgorithm::Identity)),
            "csum16" | "ONES_COMPLEMENT16" => Ok(Some(HashAlgorithm::Csum16)),
            "xor16" => Ok(Some(HashAlgorithm::Xor16)),
            "random" => Ok(None),
            other => Err(self.unsupported(v.span, format!("hash algorithm `{other}`"))),
        }
    }

    /// The scalars of a value in wire order; a header's validity is not looked at.
    pub(crate) fn flatten_data(&mut self, v: &Tv, into: &mut Vec<CheckData>) -> R<()> {
        self.spend(1, v.span)?;
        if let Some(e) = v.val.scalar() {
            into.push(CheckData::Value(e));
            return Ok(());
        }
        match (&v.ty, &v.val) {
            (_, Val::Varbit(h, i)) => {
                into.push(CheckData::Varbit(h.clone(), *i));
                Ok(())
            }
            (Type::Composite(c), _) if c.kind != Kind::Union => {
                for i in 0..c.fields.len() {
                    let f = self.field(v, c, i, v.span)?;
                    self.flatten_data(&f, into)?;
                }
                Ok(())
            }
            (Type::Tuple(ts), Val::Agg(vs)) => {
                ts.iter().zip(vs.iter()).try_for_each(|(t, x)| self.flatten_data(&Tv::value(t.clone(), x.clone(), v.span), into))
            }
            (Type::Stack(t, _), _) => {
                let elements = self.elements(v, v.span)?;
                elements.into_iter().try_for_each(|x| self.flatten_data(&Tv::value((**t).clone(), x, v.span), into))
            }
            (Type::New(n), _) => self.flatten_data(&Tv { ty: n.target.clone(), ..v.clone() }, into),
            (t, _) => Err(self.unsupported(v.span, format!("data of {t} here"))),
        }
    }

    pub(crate) fn plain_data(&mut self, list: Vec<CheckData>, span: Span) -> R<Vec<Expr>> {
        list.into_iter()
            .map(|d| match d {
                CheckData::Value(e) => Ok(e),
                CheckData::Varbit(..) => Err(self.unsupported(span, "a varbit field here")),
            })
            .collect()
    }

    pub(crate) fn cells(&mut self, v: &Tv) -> R<u64> {
        let n = self.as_const_int(v, "the number of cells")?;
        match u64::try_from(&n) {
            Ok(n) if n <= MAX_CELLS => Ok(n),
            _ => Err(self.unsupported(v.span, format!("{n} cells (more than {MAX_CELLS})"))),
        }
    }
}

/// The scalars of a struct or tuple, in order.
pub(crate) fn leaves(v: &Val, into: &mut Vec<Val>) {
    match v {
        Val::Agg(vs) => vs.iter().for_each(|v| leaves(v, into)),
        v => into.push(v.clone()),
    }
}

/// `CounterType` and `MeterType` by position.
pub(crate) fn count_unit(v: &Tv) -> CountUnit {
    match v.val.bits().map(|b| b.value()) {
        Some(0) => CountUnit::Packets,
        Some(1) => CountUnit::Bytes,
        _ => CountUnit::Both,
    }
}

/// Largest counter, meter or register array.
const MAX_CELLS: u64 = 1 << 28;
