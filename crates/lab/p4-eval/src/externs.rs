//! What do the methods and functions of `core.p4` and `v1model.p4` do?

use crate::expr::word;
use crate::place::{Place, bits_of, from_bits, wire_bits};
use crate::value::{Ty, Value, wrap};
use crate::{Evaluator, Object, R, Stop};
use p4_syntax::BigInt;
use p4_syntax::ast::{self, ExprKind};

impl<'a> Evaluator<'a> {
    pub(crate) fn extern_method(
        &mut self,
        object: usize,
        name: &'a str,
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        scope: usize,
    ) -> R<Value> {
        if args.iter().any(|a| a.name.is_some()) {
            return Err(Stop::cannot("named arguments of a method"));
        }
        if matches!(self.objects[object], Object::Packet) {
            return self.packet_method(name, targs, args, scope);
        }
        match (&self.objects[object], name, args) {
            (Object::Counter { .. }, "count", [index]) => {
                let i = self.eval(&index.value, scope)?.index()?;
                if let Object::Counter { cells, .. } = &mut self.objects[object]
                    && let Some(cell) = cells.get_mut(i)
                {
                    *cell += 1;
                }
            }
            (Object::Register { .. }, "read", [to, index]) => {
                let to = self.place(&to.value, scope)?.ok_or_else(|| Stop::cannot("a result"))?;
                let i = self.eval(&index.value, scope)?.index()?;
                let Object::Register { cells, .. } = &self.objects[object] else { return Err(Stop::cannot(name)) };
                // Beyond the end it is zero.
                let value = match cells.get(i) {
                    Some(v) => v.clone(),
                    None => self.ty_at(&to)?.start(),
                };
                self.write(&to, value)?;
            }
            (Object::Register { .. }, "write", [index, value]) => {
                let i = self.eval(&index.value, scope)?.index()?;
                let value = self.eval(&value.value, scope)?;
                if let Object::Register { cells, .. } = &mut self.objects[object]
                    && let Some(cell) = cells.get_mut(i)
                {
                    *cell = value.becomes(&cell.ty())?;
                }
            }
            (Object::Inert, "count", _) => {}
            // A meter without configuration is green.
            (Object::Inert, "read", [to]) | (Object::Inert, "execute_meter", [_, to]) => {
                let place = self.place(&to.value, scope)?.ok_or_else(|| Stop::cannot("a result"))?;
                let zero = self.ty_at(&place)?.start();
                self.write(&place, zero)?;
            }
            _ => return Err(Stop::cannot(format!("method {name}"))),
        }
        Ok(Value::Void)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // packet_in and packet_out (P4_16 §13.8, §16.1)

    fn packet_method(&mut self, name: &'a str, targs: &'a [ast::Type], args: &'a [ast::Arg], scope: usize) -> R<Value> {
        match (name, args) {
            ("length", []) => Ok(word(self.packet.bytes.len())),
            ("advance", [by]) => {
                let by = self.eval(&by.value, scope)?.index()?;
                if by % 8 != 0 {
                    return Err(Stop::Reject("ParserInvalidArgument".into()));
                }
                self.want(by)?;
                self.packet.cursor += by;
                Ok(Value::Void)
            }
            ("lookahead", []) => {
                let [t] = targs else { return Err(Stop::cannot("lookahead without type")) };
                let ty = self.resolve(t, scope)?;
                self.want(wire_bits(&ty))?;
                let bits = self.packet.bits_from(self.packet.cursor);
                from_bits(&ty, &mut bits.into_iter(), 0)
            }
            ("extract", [to]) => self.extract(&to.value, None, targs, scope),
            ("extract", [to, bits]) => self.extract(&to.value, Some(&bits.value), targs, scope),
            ("emit", [what]) => {
                let value = self.eval(&what.value, scope)?;
                self.emit(&value)?;
                Ok(Value::Void)
            }
            _ => Err(Stop::cannot(format!("packet method {name}"))),
        }
    }

    fn want(&self, bits: usize) -> R<()> {
        let left = self.packet.bytes.len() * 8 - self.packet.cursor;
        if bits > left { Err(Stop::Reject("PacketTooShort".into())) } else { Ok(()) }
    }

    fn extract(&mut self, to: &'a ast::Expr, varbit: Option<&'a ast::Expr>, targs: &'a [ast::Type], scope: usize) -> R<Value> {
        if let (ExprKind::DontCare, [t]) = (&to.kind, targs) {
            let bits = wire_bits(&self.resolve(t, scope)?);
            self.want(bits)?;
            self.packet.cursor += bits;
            return Ok(Value::Void);
        }
        let stack = self.stack_of_next(to, scope)?;
        let place = self.place(to, scope)?.ok_or_else(|| Stop::cannot("extract into this"))?;
        let ty = self.ty_at(&place)?;
        let Ty::Composite(c) = &ty else { return Err(Stop::cannot("extract into this")) };
        let (fixed, mut variable) = (wire_bits(&ty), 0);
        if let Some(e) = varbit {
            variable = self.eval(e, scope)?.index()?;
            if variable % 8 != 0 {
                return Err(Stop::Reject("ParserInvalidArgument".into()));
            }
        }
        self.want(fixed.saturating_add(variable))?;
        let most = c.fields.iter().find_map(|f| if let Ty::Varbit(max) = f.ty { Some(max as usize) } else { None });
        if variable > most.unwrap_or(0) {
            return Err(Stop::Reject("HeaderTooShort".into()));
        }
        let bits = self.packet.bits_from(self.packet.cursor);
        let header = from_bits(&ty, &mut bits.into_iter(), variable)?;
        self.change(&place, &mut |old| {
            *old = header.clone();
            Ok(())
        })?;
        self.packet.cursor += fixed + variable;
        if let Some(stack) = stack {
            self.change(&stack, &mut |s| {
                if let Value::Stack { next, .. } = s {
                    *next += 1;
                }
                Ok(())
            })?;
        }
        Ok(Value::Void)
    }

    /// The stack whose `next` is extracted, or a member of it.
    fn stack_of_next(&mut self, e: &'a ast::Expr, scope: usize) -> R<Option<Place>> {
        let ExprKind::Member { base, member } = &e.kind else { return Ok(None) };
        if member.name == "next"
            && let Some(place) = self.place(base, scope)?
            && let Ok(Value::Stack { .. }) = self.read(&place)
        {
            return Ok(Some(place));
        }
        self.stack_of_next(base, scope)
    }

    fn emit(&mut self, v: &Value) -> R<()> {
        match v {
            Value::Header { valid: false, .. } => Ok(()),
            Value::Header { .. } => {
                bits_of(v, &mut self.packet.out)?;
                // v1model pads a header to whole bytes.
                let whole = self.packet.out.len().next_multiple_of(8);
                self.packet.out.resize(whole, false);
                Ok(())
            }
            Value::Struct(_, vs) | Value::Union(_, vs) | Value::Tuple(vs, _) | Value::Stack { elems: vs, .. } => {
                vs.iter().try_for_each(|v| self.emit(v))
            }
            _ => Err(Stop::cannot("emitting this")),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Functions

    pub(crate) fn extern_function(&mut self, decl: &'a ast::FunctionDecl, args: &'a [ast::Arg], scope: usize) -> R<Value> {
        let name = decl.name.name.as_str();
        let given = self.arguments(&decl.params, args, scope, 0)?;
        let value = |i: usize| -> R<Value> {
            given.get(i).and_then(Option::as_ref).and_then(|a| a.value.clone()).ok_or_else(|| Stop::cannot("an argument"))
        };
        let to = |i: usize| given.get(i).and_then(Option::as_ref).and_then(|a| a.to.clone()).ok_or_else(|| Stop::cannot("a result"));
        match name {
            "verify" => match (value(0)?.truth()?, value(1)?) {
                (true, _) => {}
                (false, Value::Error(e)) => return Err(Stop::Reject(e)),
                _ => return Err(Stop::cannot("verify")),
            },
            "mark_to_drop" => {
                let place = to(0)?;
                self.set_field(&place, "egress_spec", 511)?;
                self.set_field(&place, "mcast_grp", 0)?;
            }
            "static_assert" => return Ok(Value::Bool(true)),
            "log_msg" | "assert" | "assume" => {}
            "truncate" => self.packet.keep_bytes = Some(value(0)?.index()?),
            "hash" => {
                let (place, base, max) = (to(0)?, value(2)?.number()?, value(4)?.number()?);
                let digest = digest(&value(1)?, &value(3)?, &[])?;
                let n = if max == BigInt::ZERO { base } else { base + digest % max };
                let Ty::Bits { width, signed } = self.ty_at(&place)? else { return Err(Stop::cannot("hash")) };
                self.write(&place, wrap(&n, width, signed))?;
            }
            "verify_checksum" | "verify_checksum_with_payload" => {
                let payload = if name.ends_with("payload") { self.packet.payload() } else { Vec::new() };
                if value(0)?.truth()? && digest(&value(3)?, &value(1)?, &payload)? != value(2)?.number()? {
                    let sm = self.packet.standard.clone().ok_or_else(|| Stop::cannot(name))?;
                    self.set_field(&sm, "checksum_error", 1)?;
                }
            }
            "update_checksum" | "update_checksum_with_payload" => {
                let payload = if name.ends_with("payload") { self.packet.payload() } else { Vec::new() };
                if value(0)?.truth()? {
                    let (place, sum) = (to(2)?, digest(&value(3)?, &value(1)?, &payload)?);
                    self.write(&place, Value::Number(sum))?;
                }
            }
            _ => return Err(Stop::cannot(format!("extern function {name}"))),
        }
        Ok(Value::Void)
    }

    /// A field of the standard metadata.
    pub(crate) fn set_field(&mut self, place: &Place, field: &str, n: u64) -> R<()> {
        let Value::Struct(c, _) = self.read(place)? else { return Err(Stop::cannot(field)) };
        let i = c.position(field).ok_or_else(|| Stop::cannot(field))?;
        self.write(&place.field(i), Value::Number(n.into()))
    }
}

/// What a hash algorithm makes of data and the payload behind it.
fn digest(algorithm: &Value, data: &Value, payload: &[u8]) -> R<BigInt> {
    let Value::Enum(e, i) = algorithm else { return Err(Stop::cannot("this hash algorithm")) };
    if e.members[*i] != "csum16" {
        return Err(Stop::cannot(format!("hash algorithm {}", e.members[*i])));
    }
    let mut bits = Vec::new();
    bits_of(data, &mut bits)?;
    for byte in payload {
        bits.extend((0..8).rev().map(|i| byte >> i & 1 == 1));
    }
    // RFC 1071: words of 16 bits, the last one filled with zero, carries added again.
    let mut sum = 0u64;
    for word in bits.chunks(16) {
        let n = (0..16).fold(0u64, |n, i| n << 1 | u64::from(*word.get(i).unwrap_or(&false)));
        sum += n;
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    Ok(BigInt::from(!sum & 0xffff))
}
