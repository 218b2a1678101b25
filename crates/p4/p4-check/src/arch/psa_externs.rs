//! What do PSA's externs become (PSA 1.2 §7), in a program that is to run?
//!
//! ```text
//! Counter, Meter, DirectCounter, DirectMeter, Digest      the IR's own
//! Register                                                one whose cell is a number, cut into the fields of its type
//! Hash, Random                                            as v1model's functions
//! InternetChecksum, Checksum of ONES_COMPLEMENT16         arithmetic on a variable that holds the sum
//! ActionProfile, ActionSelector                           tables of members and groups behind the table, as v1model's
//! psa_normal and its like                                 what they say of the metadata that they are given
//! ```
//! Left out, and refused by name: meters that are told a colour other than green, `Checksum` of any other algorithm, and checksums over data that are not whole
//! words of 16 bits.

use crate::lower::cx::Cx;
use crate::lower::instances::{ObjKind, ProfileDecl};
use crate::names::sink::R;
use crate::types::fold::{binary, cast, concat, mux, slice, unary};
use crate::types::*;
use p4_ir::{BinOp, Bits, Expr, Extern, HashAlgorithm, LValue, MeterId, Stmt, Ty, UnOp, VarId};
use p4_syntax::Span;

/// A word of an Internet checksum (RFC 1071).
const WORD: u32 = 16;
/// Most words that one call sums, so that 32 bits hold their sum.
const MOST_WORDS: u32 = 1 << 15;
/// `PSA_PORT_RECIRCULATE`.
const RECIRCULATE: u128 = 0xffff_fffa;

/// What a call is of.
enum Called {
    Hash(HashAlgorithm),
    Sum(VarId),
    Random(Bits, Bits),
    Meter(MeterId),
    DirectMeter(MeterId),
    DirectCounter,
    Other,
}

impl<'a> Cx<'a> {
    /// An instance of one of PSA's externs; `None` for the others.
    pub(super) fn psa_kind(&mut self, name: &str, targs: &[Type], values: &[Tv], path: &str, span: Span) -> R<Option<ObjKind<'a>>> {
        Ok(Some(match (name, values) {
            ("Counter" | "Meter", [_, _]) | ("DirectCounter" | "DirectMeter" | "ActionProfile" | "Register", [_]) => {
                return self.tna_kind(name, targs, values, path, span);
            }
            ("Register", [size, initial]) => {
                let kind = self.tna_kind(name, targs, std::slice::from_ref(size), path, span)?;
                if let Some(ObjKind::Cells(id, _)) = &kind {
                    let all = self.joined(initial, span)?;
                    let Some(value) = all.as_const() else { return Err(self.bug(initial.span, "an initial value")) };
                    self.build.ir.program.registers[*id].initial = value.value();
                }
                return Ok(kind);
            }
            ("ActionSelector", [algorithm, size, _]) => {
                let algorithm = Some(self.hash_algorithm(algorithm)?);
                ObjKind::Profile(ProfileDecl { size: self.cells(size)?, algorithm, groups: None, lowered: None })
            }
            ("Hash", [algorithm]) => ObjKind::Hash(self.algorithm(algorithm)?),
            ("InternetChecksum", []) => ObjKind::Sum(self.new_var(path, Ty::Bit(WORD))),
            ("Checksum", [algorithm]) if self.algorithm(algorithm)? == HashAlgorithm::Csum16 => {
                ObjKind::Sum(self.new_var(path, Ty::Bit(WORD)))
            }
            ("Random", [min, max]) => match (min.val.bits(), max.val.bits()) {
                (Some(min), Some(max)) => ObjKind::Random(min, max),
                _ => return Err(self.unsupported(span, format!("random numbers of type {}", min.ty))),
            },
            _ => return Ok(None),
        }))
    }

    /// A method of one of PSA's externs; `None` if it is none of those that are lowered.
    pub(super) fn psa_method(&mut self, obj: ObjId, ext: &str, method: &str, args: &[Tv], ret: &Type, span: Span) -> R<Option<Tv>> {
        // PNA's optional length or increment, left out.
        let args = match (args, method) {
            ([rest @ .., last], "count" | "execute")
                if self.whole.pna.is_some() && !matches!(last.ty, Type::Enum(_)) && (rest.len() == 1 || ext.starts_with("Direct")) =>
            {
                if last.val.bits().is_some_and(|b| b.value() == 0) {
                    rest
                } else {
                    args
                }
            }
            _ => args,
        };
        let called = match self.kind(obj) {
            ObjKind::Hash(algorithm) => Called::Hash(*algorithm),
            ObjKind::Sum(sum) => Called::Sum(*sum),
            ObjKind::Random(min, max) => Called::Random(*min, *max),
            ObjKind::Meter(m) => Called::Meter(*m),
            ObjKind::DirectMeter(m) => Called::DirectMeter(*m),
            ObjKind::DirectCounter(_) => Called::DirectCounter,
            ObjKind::Counter(_) | ObjKind::Cells(..) => Called::Other,
            _ if ext == "Digest" => Called::Other,
            _ => return Ok(None),
        };
        match (called, method, args) {
            (Called::Hash(algorithm), "get_hash", [data]) => self.psa_hash(algorithm, None, data, ret, span).map(Some),
            (Called::Hash(algorithm), "get_hash", [base, data, max]) => {
                self.psa_hash(algorithm, Some((base, max)), data, ret, span).map(Some)
            }
            (Called::Sum(sum), ..) => self.psa_sum(sum, method, args, ret, span),
            (Called::Random(min, max), "read", []) => {
                let ty = self.scalar_type(ret, span)?;
                let (low, high) = (constant(min, Ty::Bit(min.width())), constant(max, Ty::Bit(max.width())));
                let result = self.temp(Ty::Bit(ty.width()));
                self.emit(Stmt::Extern(Extern::Random { result: LValue::Var(result), low, high }));
                self.psa_value(result, ret, span).map(Some)
            }
            (Called::Meter(meter), "execute", [index, colour @ ..]) => {
                self.colour_blind(colour)?;
                let (index, result) = (self.unsigned(index)?, self.temp(Ty::Bit(8)));
                self.emit(Stmt::Extern(Extern::Meter { meter, index, result: LValue::Var(result) }));
                self.psa_colour(result, ret, span).map(Some)
            }
            // Of PNA: a length that the program gives.
            (Called::DirectMeter(_), "execute", [length] | [_, length]) if !matches!(length.ty, Type::Enum(_)) => Ok(None),
            (Called::DirectMeter(meter), "execute", colour) => {
                self.in_table_action("a direct meter", span)?;
                self.colour_blind(colour)?;
                let result = self.temp(Ty::Bit(8));
                self.emit(Stmt::Extern(Extern::DirectMeter { meter, result: LValue::Var(result) }));
                self.psa_colour(result, ret, span).map(Some)
            }
            // Of DPDK: a length that the program gives.
            (Called::DirectCounter, "count", [_]) => Ok(None),
            (Called::DirectCounter, "count", []) => {
                self.in_table_action("a direct counter", span)?;
                self.tna_method(obj, ext, method, args, ret, span)
            }
            (Called::Other, "count", [_, _]) => Ok(None),
            (Called::Other, ..) => self.tna_method(obj, ext, method, args, ret, span),
            _ => Ok(None),
        }
    }

    fn psa_hash(&mut self, algorithm: HashAlgorithm, within: Option<(&Tv, &Tv)>, data: &Tv, ret: &Type, span: Span) -> R<Tv> {
        let width = self.scalar_type(ret, span)?.width();
        let (base, max) = match within {
            Some((base, max)) => (self.unsigned(base)?, self.unsigned(max)?),
            None => (Expr::bit(width, 0), Expr::bit(128, 1u128.checked_shl(width).unwrap_or(u128::MAX))),
        };
        let mut list = Vec::new();
        self.flatten_data(data, &mut list)?;
        let mut data = self.plain_data(list, data.span)?;
        // The specification leaves open how bits become bytes: here as in BMv2, zeros come first.
        let bits = data.iter().fold(0u32, |all, e| all.saturating_add(e.ty.width()));
        if bits % 8 != 0 {
            data.insert(0, Expr::bit(8 - bits % 8, 0));
        }
        let result = self.temp(Ty::Bit(width));
        self.emit(Stmt::Extern(Extern::Hash { result: LValue::Var(result), algorithm, base, data, max }));
        self.psa_value(result, ret, span)
    }

    /// `InternetChecksum`, as §7.7.2 defines it: the ones' complement sum of words.
    fn psa_sum(&mut self, sum: VarId, method: &str, args: &[Tv], ret: &Type, span: Span) -> R<Option<Tv>> {
        let now = || var(sum, Ty::Bit(WORD));
        match (method, args) {
            ("clear", []) => self.emit_assign(LValue::Var(sum), Expr::bit(WORD, 0)),
            ("add" | "update", [data]) => self.psa_add(sum, data, false)?,
            ("subtract", [data]) => self.psa_add(sum, data, true)?,
            ("set_state", [state]) => {
                let state = self.unsigned(state)?;
                self.emit_assign(LValue::Var(sum), state);
            }
            ("get" | "get_state", []) => {
                let value = if method == "get" { unary(UnOp::BitNot, now()) } else { now() };
                let result = self.temp(Ty::Bit(WORD));
                self.emit_assign(LValue::Var(result), value);
                return self.psa_value(result, ret, span).map(Some);
            }
            _ => return Ok(None),
        }
        Ok(Some(Tv::value(Type::Void, Val::None, span)))
    }

    /// Adds the data's words to a sum, or their complements.
    fn psa_add(&mut self, sum: VarId, data: &Tv, complement: bool) -> R<()> {
        let mut list = Vec::new();
        self.flatten_data(data, &mut list)?;
        let list = self.plain_data(list, data.span)?;
        let bits = list.iter().fold(0u32, |all, e| all.saturating_add(e.ty.width()));
        if bits % WORD != 0 || bits / WORD > MOST_WORDS {
            return Err(
                self.unsupported(data.span, format!("a checksum over {bits} bits (whole words of {WORD} bits, at most {MOST_WORDS})"))
            );
        }
        let path = self.local_name("sum");
        let all = self.new_var(&path, Ty::Bit(32));
        let now = || var(all, Ty::Bit(32));
        // 0xffff less a word is its complement.
        let from = if complement { bits / WORD * 0xffff } else { 0 };
        let before = cast(var(sum, Ty::Bit(WORD)), Ty::Bit(32));
        self.emit_assign(LValue::Var(all), binary(BinOp::Add, before, Expr::bit(32, from.into())));
        let mut room = WORD;
        for e in list {
            let mut left = e.ty.width();
            let e = cast(e, Ty::Bit(left));
            let e = if left > room { self.keep(e) } else { e };
            while left > 0 {
                let taken = left.min(room);
                let mut part = slice(e.clone(), left - 1, left - taken);
                (left, room) = (left - taken, room - taken);
                if room > 0 {
                    part = concat(part, constant(Bits::new(room, 0), Ty::Bit(room)));
                } else {
                    room = WORD;
                }
                let op = if complement { BinOp::Sub } else { BinOp::Add };
                self.emit_assign(LValue::Var(all), binary(op, now(), cast(part, Ty::Bit(32))));
            }
        }
        // What is above a word is added to it, and what that carries.
        for _ in 0..2 {
            let halves = [(WORD - 1, 0), (31, WORD)].map(|(high, low)| cast(slice(now(), high, low), Ty::Bit(32)));
            let [low, high] = halves;
            self.emit_assign(LValue::Var(all), binary(BinOp::Add, low, high));
        }
        self.emit_assign(LValue::Var(sum), slice(now(), WORD - 1, 0));
        Ok(())
    }

    /// A meter may be told what colour the packet has: green is the same as none (RFC 2698 §3).
    fn colour_blind(&mut self, colour: &[Tv]) -> R<()> {
        let Some(colour) = colour.first() else { return Ok(()) };
        match (colour.val.bits(), &colour.ty) {
            (Some(code), Type::Enum(e)) if e.members.iter().any(|(n, c)| &**n == "GREEN" && *c == code.value()) => Ok(()),
            _ => Err(self.unsupported(colour.span, "a meter that is told a packet's colour, other than GREEN,")),
        }
    }

    /// The IR's colours are green, yellow, red; PSA's are RED, GREEN, YELLOW.
    fn psa_colour(&mut self, result: VarId, ret: &Type, span: Span) -> R<Tv> {
        let ty = self.scalar_type(ret, span)?;
        let colour = || var(result, Ty::Bit(8));
        let red = binary(BinOp::Eq, colour(), Expr::bit(8, 2));
        let value = mux(red, Expr::bit(8, 0), binary(BinOp::Add, colour(), Expr::bit(8, 1)));
        Ok(Tv::expr(ret.clone(), cast(value, ty), span))
    }

    fn psa_value(&mut self, result: VarId, ret: &Type, span: Span) -> R<Tv> {
        let ty = self.scalar_type(ret, span)?;
        let from = self.build.ir.vars[result].ty;
        let value = cast(var(result, from), Ty::Bit(ty.width()));
        Ok(Tv::expr(ret.clone(), cast(value, ty), span))
    }

    fn scalar_type(&mut self, ty: &Type, span: Span) -> R<Ty> {
        match ty.scalar() {
            Some(t) if t.width() > 0 => Ok(t),
            _ => Err(self.unsupported(span, format!("a result of type {ty}"))),
        }
    }

    /// `psa_normal` and its like: which way the packet takes (§6.2, §6.5); `None` for other functions.
    pub(super) fn psa_function(&mut self, name: &str, args: &[Tv], _: &Type, span: Span) -> R<Option<Tv>> {
        let not = |e: Expr| unary(UnOp::Not, e);
        let said = match (name, args) {
            ("psa_clone_i2e" | "psa_clone_e2e", [of]) => self.psa_field(of, "clone")?,
            ("psa_resubmit", [of]) => {
                let (drop, resubmit) = (self.psa_field(of, "drop")?, self.psa_field(of, "resubmit")?);
                binary(BinOp::LAnd, not(drop), resubmit)
            }
            ("psa_normal", [of]) => {
                let (drop, resubmit) = (self.psa_field(of, "drop")?, self.psa_field(of, "resubmit")?);
                binary(BinOp::LAnd, not(drop), not(resubmit))
            }
            ("psa_recirculate", [of, to]) => {
                let (drop, port) = (self.psa_field(of, "drop")?, self.psa_field(to, "egress_port")?);
                let again = binary(BinOp::Eq, port.clone(), constant(Bits::new(port.ty.width(), RECIRCULATE), port.ty));
                binary(BinOp::LAnd, not(drop), again)
            }
            _ => return Ok(None),
        };
        Ok(Some(Tv::expr(Type::Bool, said, span)))
    }

    fn psa_field(&mut self, of: &Tv, name: &str) -> R<Expr> {
        let Some(c) = of.ty.composite(Kind::Struct).cloned() else { return Err(self.bug(of.span, "a struct")) };
        let Some(i) = c.field(name) else { return Err(self.bug(of.span, "a field")) };
        let v = self.field(of, &c, i, of.span)?;
        self.scalar(&v)
    }
}
