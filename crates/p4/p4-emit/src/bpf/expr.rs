//! Expressions as C text. A value of `bit<W>` is an unsigned C value of at least W bits, the others zero.

use super::Refused;
use super::code::{Code, literal};
use super::stacks::Which;
use crate::emitter::local_type;
use crate::expr::{convert, paren, reduce, sign_extend, slice};
use crate::field::{constant, load};
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{BinOp, Expr, ExprKind, HeaderId, HeaderRef, Ty, UnOp};

impl Code<'_> {
    pub(super) fn expr(&mut self, e: &Expr) -> Result<String, Refused> {
        let width = e.ty.width();
        Ok(match &e.kind {
            ExprKind::Const(bits) => constant(width, bits.value()),
            // Kept narrower than C computes.
            ExprKind::Var(v) => match self.known.as_ref().and_then(|known| known.values.get(v)) {
                Some(value) if !self.bound.contains_key(v) => constant(width, *value),
                _ => format!("({}){}", local_type(width), self.read_var(*v)),
            },
            ExprKind::Field(r, index) => self.choose(r, |c, h| c.load_field(h, *index))?,
            ExprKind::IsValid(r) => self.choose(r, |c, h| Ok(c.is_valid(h)))?,
            ExprKind::LastIndex(s) => self.stack_index(*s, true, width),
            ExprKind::NextIndex(s) => self.stack_index(*s, false, width),
            ExprKind::VarbitBits(r, _) => {
                let text = self.choose(r, |c, h| Ok(format!("({} * 8u)", c.varbit_bytes(h))))?;
                convert(&text, 32, width)
            }
            ExprKind::VarbitEq(a, b) => self.varbit_eq(a, b)?,
            ExprKind::Unary(op, a) => {
                let a = paren(&self.expr(a)?);
                match op {
                    UnOp::Not if a == "0u" => "1u".into(),
                    UnOp::Not if a == "1u" => "0u".into(),
                    UnOp::Not => format!("!{a}"),
                    UnOp::Neg => reduce(&format!("-{a}"), width),
                    UnOp::BitNot => reduce(&format!("~{a}"), width),
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.ty)?,
            ExprKind::Cast(a) => {
                let text = self.expr(a)?;
                cast(&text, a.ty, width)
            }
            ExprKind::Slice(a, hi, lo) => {
                let text = self.expr(a)?;
                slice(&text, a.ty.width(), *hi, *lo)
            }
            ExprKind::Concat(a, b) => {
                let (high, low) = (self.expr(a)?, self.expr(b)?);
                let (shift, ty) = (b.ty.width(), local_type(width));
                match (a.ty.width(), shift) {
                    (0, _) => convert(&low, shift, width),
                    (_, 0) => high,
                    _ => format!("(({ty}){} << {shift} | {})", paren(&high), paren(&low)),
                }
            }
            ExprKind::Mux(condition, a, b) => {
                let condition = paren(&self.expr(condition)?);
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                match condition.as_str() {
                    "1u" => return Ok(a),
                    "0u" => return Ok(b),
                    _ => {}
                }
                format!("({condition} ? {} : {})", paren(&a), paren(&b))
            }
        })
    }

    fn binary(&mut self, op: BinOp, left: &Expr, right: &Expr, ty: Ty) -> Result<String, Refused> {
        let width = ty.width();
        let a = paren(&self.expr(left)?);
        if matches!(op, BinOp::LAnd | BinOp::LOr) {
            // The right side is looked at only if the left one holds (or does not).
            let before = self.known.clone();
            self.assume(left, op == BinOp::LAnd);
            let b = paren(&self.expr(right)?);
            self.known = before;
            // What decides, and what leaves it to the other.
            let (decides, leaves, sign) = if op == BinOp::LAnd { ("0u", "1u", "&&") } else { ("1u", "0u", "||") };
            return Ok(match (a.as_str(), b.as_str()) {
                (x, y) if x == decides || y == decides => decides.into(),
                (x, _) if x == leaves => b,
                (_, y) if y == leaves => a,
                _ => format!("({a} {sign} {b})"),
            });
        }
        let b = paren(&self.expr(right)?);
        let of = left.ty;
        let signed = matches!(of, Ty::Int(_));
        if let (Some(x), Some(y)) = (literal(&a), literal(&b)) {
            let truth = match op {
                BinOp::Eq => Some(x == y),
                BinOp::Ne => Some(x != y),
                BinOp::Lt if !signed => Some(x < y),
                BinOp::Le if !signed => Some(x <= y),
                BinOp::Gt if !signed => Some(x > y),
                BinOp::Ge if !signed => Some(x >= y),
                _ => None,
            };
            if let Some(truth) = truth {
                return Ok(constant(1, truth.into()));
            }
        }
        let compare = |sign: &str| {
            if signed {
                format!("({} {sign} {})", sign_extend(&a, of.width()), sign_extend(&b, of.width()))
            } else {
                format!("({a} {sign} {b})")
            }
        };
        Ok(match op {
            BinOp::Add => reduce(&format!("({a} + {b})"), width),
            BinOp::Sub => reduce(&format!("({a} - {b})"), width),
            BinOp::Mul | BinOp::Div | BinOp::Mod if width > 64 => {
                return Err(self.refuse_because(Construct::Product, "products and quotients of more than 64 bits"));
            }
            BinOp::Mul => reduce(&format!("({a} * {b})"), width),
            BinOp::Div => format!("({b} ? {a} / {b} : 0)"),
            BinOp::Mod => format!("({b} ? {a} % {b} : 0)"),
            BinOp::AddSat | BinOp::SubSat if signed && width > 64 => {
                return Err(self.refuse_because(Construct::Saturation, "saturating arithmetic of more than 64 bits with sign"));
            }
            BinOp::AddSat | BinOp::SubSat if signed => {
                let sign = if op == BinOp::AddSat { "+" } else { "-" };
                let wide = |text: &str| format!("(__int128){}", sign_extend(text, width));
                format!("({})sp_saturate({} {sign} {}, {width})", local_type(width), wide(&a), wide(&b))
            }
            BinOp::AddSat => format!("({})sp_add_sat({a}, {b}, {width})", local_type(width)),
            BinOp::SubSat => format!("({})sp_sub_sat({a}, {b}, {width})", local_type(width)),
            BinOp::And => format!("({a} & {b})"),
            BinOp::Or => format!("({a} | {b})"),
            BinOp::Xor => format!("({a} ^ {b})"),
            BinOp::Shl => shift_left(&a, right, &b, width),
            BinOp::Shr => shift_right(&a, right, &b, width, signed)
                .map_err(|()| self.refuse_because(Construct::Shift, "right shifts of more than 64 bits with sign"))?,
            BinOp::Eq => compare("=="),
            BinOp::Ne => compare("!="),
            BinOp::Lt => compare("<"),
            BinOp::Le => compare("<="),
            BinOp::Gt => compare(">"),
            BinOp::Ge => compare(">="),
            BinOp::LAnd | BinOp::LOr => unreachable!("returned above"),
        })
    }

    /// C text of a field; of an invalid header zero.
    pub(super) fn load_field(&mut self, h: HeaderId, index: u32) -> Result<String, Refused> {
        let ir = self.ir;
        let ty = &ir.header_types[ir.headers[h].ty];
        let Some(field) = ty.fields.get(index as usize).filter(|f| !f.varbit) else {
            return Err(self.refuse_because(Construct::Varbit, "the value of a varbit field"));
        };
        let text = load(&self.home(h), self.home_len(h), field.offset_bits, field.ty.width());
        Ok(match self.known_valid(h) {
            Some(true) => text,
            Some(false) => "0u".into(),
            None => format!("({} ? {text} : 0)", paren(&self.is_valid(h))),
        })
    }

    /// C text of the bytes of a header's varbit field; of an invalid header zero.
    fn varbit_bytes(&self, h: HeaderId) -> String {
        let len = format!("c->len_{}", self.model.headers[h.index()]);
        match self.known_valid(h) {
            _ if self.model.varbit_len[h.index()] == 0 => "0u".into(),
            Some(false) => "0u".into(),
            Some(true) => len,
            None => format!("({} ? {len} : 0u)", paren(&self.is_valid(h))),
        }
    }

    /// C text that is non-zero if two varbit fields are equally long and equal. What is behind a field's length is zero.
    fn varbit_eq(&mut self, a: &HeaderRef, b: &HeaderRef) -> Result<String, Refused> {
        let (Which::One(a), Which::One(b)) = (self.which(a)?, self.which(b)?) else {
            return Err(self.refuse_because(Construct::Varbit, "comparing varbit fields of elements known only at run time"));
        };
        let len = |c: &Self, h: Option<HeaderId>| h.map_or("0u".into(), |h| c.varbit_bytes(h));
        let same = format!("same{}", self.unique());
        self.line(format!("uint32_t {same} = {} == {};", len(self, a), len(self, b)));
        if let (Some(a), Some(b)) = (a, b) {
            let most = self.model.varbit_len[a.index()].min(self.model.varbit_len[b.index()]);
            let at = |c: &Self, h: HeaderId| format!("{} + {}", c.home(h), c.model.fixed_len[h.index()]);
            let (left, right) = (at(self, a), at(self, b));
            self.open(format!("if ({same} && {})", len(self, Some(a))));
            self.line(format!("{same} = sp_same({left}, {right}, {most});"));
            self.close();
        }
        Ok(same)
    }

    /// Notes what follows from a condition being `holds`.
    pub(super) fn assume(&mut self, condition: &Expr, holds: bool) {
        match &condition.kind {
            ExprKind::IsValid(HeaderRef::Static(h)) => self.note_valid(*h, holds),
            ExprKind::Unary(UnOp::Not, a) => self.assume(a, !holds),
            ExprKind::Var(v) if condition.ty == Ty::Bool => self.note_value(*v, Some(holds.into())),
            ExprKind::Binary(BinOp::Eq, a, b) if holds => self.assume_equal(a, b),
            ExprKind::Binary(BinOp::Ne, a, b) if !holds => self.assume_equal(a, b),
            ExprKind::Binary(BinOp::LAnd, a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            ExprKind::Binary(BinOp::LOr, a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            _ => {}
        }
    }

    fn assume_equal(&mut self, a: &Expr, b: &Expr) {
        match (&a.kind, &b.kind) {
            (ExprKind::Var(v), ExprKind::Const(value)) | (ExprKind::Const(value), ExprKind::Var(v)) => {
                self.note_value(*v, Some(value.value()));
            }
            _ => {}
        }
    }
}

fn cast(text: &str, from: Ty, to: u32) -> String {
    match from {
        // C's comparisons are signed.
        Ty::Bool => convert(&format!("(uint32_t){}", paren(text)), 1, to),
        Ty::Int(width) if to > width && width > 0 => {
            let extended = sign_extend(&paren(text), width);
            reduce(&format!("({}){extended}", local_type(to)), to)
        }
        _ => convert(text, from.width(), to),
    }
}

fn shift_left(a: &str, amount: &Expr, b: &str, width: u32) -> String {
    match amount.kind {
        ExprKind::Const(bits) if bits.value() >= u128::from(width) => "0u".into(),
        ExprKind::Const(bits) => reduce(&format!("({a} << {})", bits.value()), width),
        _ if width > 64 => reduce(&format!("({b} < {width} ? sp_shl128({a}, (uint32_t){b}) : 0)"), width),
        _ => format!("({b} < {width} ? {} : 0)", reduce(&format!("({a} << ({b} {}))", shift_mask(width)), width)),
    }
}

/// Error: clang has no such shift for BPF.
fn shift_right(a: &str, amount: &Expr, b: &str, width: u32, signed: bool) -> Result<String, ()> {
    let constant = if let ExprKind::Const(bits) = amount.kind { Some(bits.value()) } else { None };
    if signed && width > 64 && constant.is_none() {
        return Err(());
    }
    if signed && width > 0 {
        let by = match constant {
            Some(n) => n.min(u128::from(width - 1)).to_string(),
            None => format!("({b} < {width} ? {b} : {})", width - 1),
        };
        return Ok(reduce(&format!("({})({} >> {by})", local_type(width), sign_extend(a, width)), width));
    }
    Ok(match constant {
        Some(n) if n >= u128::from(width) => "0u".into(),
        Some(n) => format!("({a} >> {n})"),
        None if width > 64 => format!("({b} < {width} ? sp_shr128({a}, (uint32_t){b}) : 0)"),
        None => format!("({b} < {width} ? ({a} >> ({b} {})) : 0)", shift_mask(width)),
    })
}

/// Keeps a shift in C's bounds where its result is not taken.
fn shift_mask(width: u32) -> &'static str {
    match width {
        0..=32 => "& 31",
        _ => "& 63",
    }
}
