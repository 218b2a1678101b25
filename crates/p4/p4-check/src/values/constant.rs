//! Which number does a value have at compile time, and what is arithmetic on numbers of any size (P4_16 §8.8)?

use super::cx::Values;
use crate::names::sink::R;
use crate::types::fold::number;
use crate::types::*;
use p4_ir::{Expr, ExprKind, Ty};
use p4_syntax::{BigInt, Span, ast};

/// Longest `int` that is computed, in bits.
const MAX_INT_BITS: u64 = 1 << 13;

impl Values<'_> {
    pub(crate) fn as_const_int(&mut self, v: &Tv, what: &str) -> R<BigInt> {
        if let Some(i) = self.wide_known(v) {
            return Ok(i);
        }
        match &v.val {
            Val::Int(i) => Ok(i.clone()),
            Val::Expr(Expr { kind: ExprKind::Const(b), ty }) if *ty != Ty::Bool => Ok(number(*b, *ty)),
            _ if v.ty.is_bad() => Err(self.poisoned()),
            _ if v.val.is_const() || v.ty.scalar() == Some(Ty::Bool) => {
                Err(self.error("type-mismatch", v.span, format!("{what} must be a number, not {}", v.ty)))
            }
            _ => Err(self.error("not-const", v.span, format!("{what} must be known at compile time"))),
        }
    }

    /// `int` arithmetic (P4_16 §8.8).
    pub(crate) fn int_binary(&mut self, op: ast::BinOp, a: &BigInt, b: &BigInt, span: Span) -> R<Tv> {
        use ast::BinOp as B;
        let zero = BigInt::from(0);
        let value = match op {
            B::Add | B::SatAdd => a + b,
            B::Sub | B::SatSub => a - b,
            B::Mul => {
                self.int_size(a.bits() + b.bits(), span)?;
                a * b
            }
            B::Div | B::Mod if *b == zero => return Err(self.error("division", span, "division by zero")),
            B::Div | B::Mod if *a < zero || *b < zero => {
                return Err(self.error("division", span, "division of negative numbers is not defined"));
            }
            B::Div => a / b,
            B::Mod => a % b,
            B::Shl | B::Shr => {
                let Ok(n) = u64::try_from(b) else {
                    return Err(self.error("shift", span, "a shift amount cannot be negative or that large"));
                };
                if op == B::Shl {
                    self.int_size(a.bits().saturating_add(n), span)?;
                    a << n
                } else {
                    a >> n.min(MAX_INT_BITS)
                }
            }
            B::BitAnd => a & b,
            B::BitOr => a | b,
            B::BitXor => a ^ b,
            B::Eq => return Ok(self.bool_value(a == b, span)),
            B::Ne => return Ok(self.bool_value(a != b, span)),
            B::Lt => return Ok(self.bool_value(a < b, span)),
            B::Le => return Ok(self.bool_value(a <= b, span)),
            B::Gt => return Ok(self.bool_value(a > b, span)),
            B::Ge => return Ok(self.bool_value(a >= b, span)),
            B::Concat | B::And | B::Or => {
                return Err(self.error("type-mismatch", span, format!("`{}` is not defined on int", op.text())));
            }
        };
        self.int_size(value.bits(), span)?;
        Ok(Tv::int(value, span))
    }

    fn int_size(&mut self, bits: u64, span: Span) -> R<()> {
        if bits > MAX_INT_BITS {
            return Err(self.error("limit", span, format!("an int of more than {MAX_INT_BITS} bits")));
        }
        Ok(())
    }

    pub(crate) fn bool_value(&self, b: bool, span: Span) -> Tv {
        Tv::bool(boolean(b), span)
    }
}
