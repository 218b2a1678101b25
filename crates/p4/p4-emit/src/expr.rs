//! Expressions as C text. A value of `bit<W>` is an unsigned C value of at least W bits, the others zero.

use crate::EmitError;
use crate::emitter::{Emitter, Flow, local_type};
use crate::field::{constant, load, mask};
use crate::model::Home;
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{BinOp, Expr, ExprKind, HeaderId, HeaderRef, Ty, UnOp};

/// A header reference: one header, or those of a stack with the C text of an index.
pub(crate) enum Which {
    /// This one.
    One(HeaderId),
    /// The one at the index; beyond the end none.
    Indexed(String, Vec<HeaderId>),
}

impl Emitter<'_> {
    /// C text of an expression.
    pub(crate) fn expr(&mut self, e: &Expr) -> Result<String, EmitError> {
        let text = self.expr_text(e)?;
        Ok(if text == "0" { zero(e.ty) } else { text })
    }

    fn expr_text(&mut self, e: &Expr) -> Result<String, EmitError> {
        let width = e.ty.width();
        if let Some(value) = self.facts().and_then(|f| f.evaluate(e)) {
            return Ok(if e.ty == Ty::Bool { value.to_string() } else { constant(width, value) });
        }
        Ok(match &e.kind {
            ExprKind::Const(bits) => constant(width, bits.value()),
            ExprKind::Var(v) => self.read_var(*v),
            ExprKind::Field(h, index) => self.field(h, *index)?,
            ExprKind::IsValid(h) => match self.which(h)? {
                Which::One(h) => self.is_valid(h),
                Which::Indexed(at, elements) => self.choose(&at, &elements, |e, h| e.is_valid(h)),
            },
            ExprKind::LastIndex(s) => format!("({} - 1)", self.next_index(*s)),
            ExprKind::NextIndex(s) => self.next_index(*s),
            ExprKind::VarbitBits(h, _) => match self.which(h)? {
                Which::One(h) => format!("({} * 8)", self.varbit_len(h)),
                Which::Indexed(at, elements) => self.choose(&at, &elements, |e, h| format!("({} * 8)", e.varbit_len(h))),
            },
            ExprKind::VarbitEq(a, b) => match (self.which(a)?, self.which(b)?) {
                (Which::One(a), Which::One(b)) => {
                    let bytes = |e: &mut Self, h: HeaderId| crate::field::plus(&e.address(h), e.model.fixed_len[h.index()]);
                    let (la, lb) = (self.varbit_len(a), self.varbit_len(b));
                    let (pa, pb) = (bytes(self, a), bytes(self, b));
                    format!("({la} == {lb} && sp_equal({pa}, {pb}, {la}))")
                }
                _ => {
                    return Err(EmitError::unsupported(
                        Construct::Varbit,
                        "comparing the varbit field of a stack element that is chosen at run time",
                    ));
                }
            },
            ExprKind::Unary(op, a) => {
                let a = paren(&self.expr(a)?);
                match op {
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
                format!("({condition} ? {} : {})", paren(&a), paren(&b))
            }
        })
    }

    fn binary(&mut self, op: BinOp, left: &Expr, right: &Expr, ty: Ty) -> Result<String, EmitError> {
        let width = ty.width();
        let a = paren(&self.expr(left)?);
        if matches!(op, BinOp::LAnd | BinOp::LOr) {
            // The right side is looked at only if the left one holds (or does not).
            let before = self.flow.clone();
            self.assume(left, op == BinOp::LAnd);
            let b = paren(&self.expr(right)?);
            if let (Some(flow), Some(before)) = (&mut self.flow, before) {
                flow.valid = before.valid;
                flow.facts = before.facts;
            }
            return Ok(match (op, &a[..], &b[..]) {
                (BinOp::LAnd, "0", _) | (BinOp::LAnd, _, "0") => "0".into(),
                (BinOp::LOr, "1", _) | (BinOp::LOr, _, "1") => "1".into(),
                (BinOp::LAnd, "1", _) | (BinOp::LOr, "0", _) => b,
                (BinOp::LAnd, _, "1") | (BinOp::LOr, _, "0") => a,
                (BinOp::LAnd, ..) => format!("({a} && {b})"),
                _ => format!("({a} || {b})"),
            });
        }
        let b = paren(&self.expr(right)?);
        let of = left.ty;
        let signed = matches!(of, Ty::Int(_));
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
            BinOp::Mul => reduce(&format!("({a} * {b})"), width),
            BinOp::Div => format!("({b} ? {a} / {b} : 0)"),
            BinOp::Mod => format!("({b} ? {a} % {b} : 0)"),
            BinOp::AddSat | BinOp::SubSat => {
                let name = match (op, signed) {
                    (BinOp::AddSat, false) => "sp_add_sat",
                    (BinOp::AddSat, true) => "sp_add_sat_signed",
                    (_, false) => "sp_sub_sat",
                    (_, true) => "sp_sub_sat_signed",
                };
                format!("({}){name}({a}, {b}, {width})", local_type(width))
            }
            BinOp::And => format!("({a} & {b})"),
            BinOp::Or => format!("({a} | {b})"),
            BinOp::Xor => format!("({a} ^ {b})"),
            BinOp::Shl => shift_left(&a, right, &b, width),
            BinOp::Shr => shift_right(&a, right, &b, width, signed),
            BinOp::Eq => compare("=="),
            BinOp::Ne => compare("!="),
            BinOp::Lt => compare("<"),
            BinOp::Le => compare("<="),
            BinOp::Gt => compare(">"),
            BinOp::Ge => compare(">="),
            BinOp::LAnd | BinOp::LOr => return Err(EmitError::invalid("a logical operator")),
        })
    }

    /// The headers that a reference may mean.
    pub(crate) fn which(&mut self, r: &HeaderRef) -> Result<Which, EmitError> {
        let elements = |e: &Self, s: &p4_ir::StackId| e.ir.stacks[*s].elements.clone();
        Ok(match r {
            HeaderRef::Static(h) => Which::One(*h),
            HeaderRef::Next(s) => Which::Indexed(self.next_index(*s), elements(self, s)),
            HeaderRef::Last(s) => Which::Indexed(format!("({} - 1)", self.next_index(*s)), elements(self, s)),
            HeaderRef::Index(s, index) => {
                if let ExprKind::Const(at) = index.kind {
                    let elements = elements(self, s);
                    match usize::try_from(at.value()).ok().and_then(|at| elements.get(at)) {
                        Some(h) => Which::One(*h),
                        None => Which::Indexed("0".into(), Vec::new()),
                    }
                } else {
                    Which::Indexed(paren(&self.expr(index)?), elements(self, s))
                }
            }
        })
    }

    fn field(&mut self, r: &HeaderRef, index: u32) -> Result<String, EmitError> {
        match self.which(r)? {
            Which::One(h) => self.load_field(h, index),
            Which::Indexed(at, elements) => {
                if let Some(address) = self.address_at(&elements, &at) {
                    // Invalid ones lead to zero bytes.
                    let h = elements[0];
                    let field = &self.ir.header_types[self.ir.headers[h].ty].fields[index as usize];
                    let one = load(&address, self.model.fixed_len[h.index()], field.offset_bits, field.ty.width());
                    return Ok(format!("({at} < {} ? {one} : {})", elements.len(), zero(field.ty)));
                }
                let mut text = "0".to_owned();
                for (i, h) in elements.iter().enumerate().rev() {
                    let one = self.load_field(*h, index)?;
                    text = format!("({at} == {i} ? {one} : {text})");
                }
                Ok(text)
            }
        }
    }

    fn choose(&mut self, at: &str, elements: &[HeaderId], mut each: impl FnMut(&mut Self, HeaderId) -> String) -> String {
        elements.iter().enumerate().rev().fold("0".to_owned(), |rest, (i, h)| {
            let one = each(self, *h);
            format!("({at} == {i} ? {one} : {rest})")
        })
    }

    /// C text of a field of one header.
    pub(crate) fn load_field(&mut self, h: HeaderId, index: u32) -> Result<String, EmitError> {
        let ir = self.ir;
        let ty = &ir.header_types[ir.headers[h].ty];
        let field = ty.fields.get(index as usize).ok_or_else(|| EmitError::invalid("a field that the header does not have"))?;
        if field.varbit {
            return Err(EmitError::unsupported(Construct::Varbit, format!("the value of varbit field {}", field.name)));
        }
        if self.known_valid(h) == Some(false) {
            return Ok(zero(field.ty));
        }
        let text = if self.in_fields(h) {
            self.field_local(h, index)
        } else {
            let at = self.address(h);
            load(&at, self.model.fixed_len[h.index()], field.offset_bits, field.ty.width())
        };
        // Other headers' pointers lead to zero bytes while they are invalid.
        if (self.model.homes[h.index()] == Home::Scratch || self.class.is_some()) && self.known_valid(h).is_none() {
            let valid = self.is_valid(h);
            return Ok(format!("({valid} ? {text} : 0)"));
        }
        Ok(text)
    }

    /// Notes what follows from a condition being `holds`.
    pub(crate) fn assume(&mut self, condition: &Expr, holds: bool) {
        match &condition.kind {
            ExprKind::IsValid(HeaderRef::Static(h)) => self.note_valid(*h, holds),
            ExprKind::Unary(UnOp::Not, a) => self.assume(a, !holds),
            ExprKind::Binary(BinOp::LAnd, a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            ExprKind::Binary(BinOp::LOr, a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            ExprKind::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) if (*op == BinOp::Eq) == holds => {
                if let (Some(facts), ExprKind::Const(value)) = (self.facts_mut(), &b.kind) {
                    facts.assume_equal(a, value.value());
                }
            }
            _ => {}
        }
    }

    /// The flow, to be continued elsewhere.
    pub(crate) fn fork(&self) -> Option<Flow> {
        self.flow.clone()
    }
}

/// Zero, of a C type that holds all values of `ty`: a plain `0` is an `int`, and shifting that by 32 bits or more means nothing.
pub(crate) fn zero(ty: Ty) -> String {
    if ty == Ty::Bool { "0".into() } else { constant(ty.width(), 0) }
}

/// `text` in parentheses unless it is one already, a name, a number or a call.
pub(crate) fn paren(text: &str) -> String {
    if is_atom(text) { text.to_owned() } else { format!("({text})") }
}

/// `text` in exactly the parentheses that `if` and `switch` want.
pub(crate) fn head(text: &str) -> String {
    if text.starts_with('(') && matching_end(text) == text.len() { text.to_owned() } else { format!("({text})") }
}

fn is_atom(text: &str) -> bool {
    let mut depth = 0;
    let mut closed = false;
    for c in text.chars() {
        if closed {
            return false;
        }
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                closed = depth == 0;
            }
            _ if depth > 0 || c.is_ascii_alphanumeric() || c == '_' => {}
            '>' | '-' if text.starts_with("run->") || text.starts_with("pk->") || text.starts_with("c->") => {}
            _ => return false,
        }
    }
    // A cast before parentheses is no atom; a call is.
    !text.starts_with('(') || matching_end(text) == text.len()
}

fn matching_end(text: &str) -> usize {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// `text` modulo 2^`width`, if its C type is wider.
pub(crate) fn reduce(text: &str, width: u32) -> String {
    match width {
        0 => "0".into(),
        32 | 64 | 128 => text.to_owned(),
        _ => format!("({text} & {})", mask(width)),
    }
}

/// `text` of `from` bits as `to` bits: truncated or zero-extended.
pub(crate) fn convert(text: &str, from: u32, to: u32) -> String {
    if to == 0 {
        return "0".into();
    }
    let (a, b) = (local_type(from), local_type(to));
    let cast = if a == b { text.to_owned() } else { format!("({b}){}", paren(text)) };
    match to < from {
        false => cast,
        true if a != b && matches!(to, 32 | 64) => cast,
        true => format!("({} & {})", cast, mask(to)),
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

/// Bits `hi` to `lo` of `text`, which has `width`.
pub(crate) fn slice(text: &str, width: u32, hi: u32, lo: u32) -> String {
    let shifted = if lo == 0 { text.to_owned() } else { format!("({} >> {lo})", paren(text)) };
    convert(&shifted, width.max(1), hi.saturating_sub(lo) + 1)
}

/// `text`, of `width` bits, as a signed C value.
pub(crate) fn sign_extend(text: &str, width: u32) -> String {
    match width {
        0 => "0".into(),
        1..=64 => format!("sp_signed({text}, {width})"),
        _ => format!("sp_signed128({text}, {width})"),
    }
}

fn shift_left(a: &str, amount: &Expr, b: &str, width: u32) -> String {
    match amount.kind {
        ExprKind::Const(bits) if bits.value() >= u128::from(width) => "0".into(),
        ExprKind::Const(bits) => reduce(&format!("({a} << {})", bits.value()), width),
        _ => format!("({b} < {width} ? {} : 0)", reduce(&format!("({a} << ({b} {}))", shift_mask(width)), width)),
    }
}

fn shift_right(a: &str, amount: &Expr, b: &str, width: u32, signed: bool) -> String {
    let constant = if let ExprKind::Const(bits) = amount.kind { Some(bits.value()) } else { None };
    if signed && width > 0 {
        let by = match constant {
            Some(n) => n.min(u128::from(width - 1)).to_string(),
            None => format!("({b} < {width} ? {b} : {})", width - 1),
        };
        return reduce(&format!("({})({} >> {by})", local_type(width), sign_extend(a, width)), width);
    }
    match constant {
        Some(n) if n >= u128::from(width) => "0".into(),
        Some(n) => format!("({a} >> {n})"),
        None => format!("({b} < {width} ? ({a} >> ({b} {})) : 0)", shift_mask(width)),
    }
}

/// Keeps a shift in C's bounds where its result is not taken.
fn shift_mask(width: u32) -> String {
    let bits = match width {
        0..=32 => 31,
        33..=64 => 63,
        _ => 127,
    };
    format!("& {bits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_them_gets_parentheses() {
        assert_eq!(paren("a"), "a");
        assert_eq!(paren("sp_ld16(p + 2)"), "sp_ld16(p + 2)");
        assert_eq!(paren("(a + b)"), "(a + b)");
        assert_eq!(paren("(a) + (b)"), "((a) + (b))");
        assert_eq!(paren("(uint32_t)(b)"), "((uint32_t)(b))");
        assert_eq!(paren("-a"), "(-a)");
        assert_eq!(paren("~a"), "(~a)");
    }

    #[test]
    fn values_are_reduced_where_c_would_keep_more() {
        assert_eq!(reduce("(a + b)", 8), "((a + b) & 0xff)");
        assert_eq!(convert("a", 64, 32), "(uint32_t)a");
        assert_eq!(convert("a", 16, 8), "(a & 0xff)");
        assert_eq!(slice("a", 128, 127, 64), "(uint64_t)(a >> 64)");
    }
}
