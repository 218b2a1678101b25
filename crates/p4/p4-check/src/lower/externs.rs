//! What do the externs of core.p4 and v1model.p4 become? (P4_16 appendix D; v1model)
//!
//! They are known by name. Any other extern is checked like these, but refused in a program that is to run.

use super::cx::Cx;
use super::instances::ObjKind;
use crate::names::sink::{R, Reported};
use crate::types::fold;
use crate::types::*;
use crate::values::body::{Region, Stage};
use crate::values::data::leaves;
use p4_ir::{BinOp, Bits, Expr, ExprKind, Extern, LValue, Replicate, Stmt, Ty};
use p4_syntax::{Diagnostic, Span, ast};

/// Longest look-ahead, in bits: longer than any header, shorter than a packet.
const MAX_LOOKAHEAD: u64 = 1 << 13;

impl<'a> Cx<'a> {
    /// A call of an extern function with its arguments checked and converted.
    pub(crate) fn extern_function(&mut self, decl: &'a ast::FunctionDecl, args: &[Tv], ret: &Type, span: Span) -> R<Tv> {
        let name = decl.name.name.as_str();
        let void = Tv::value(Type::Void, Val::None, span);
        if self.body.region == Region::Global && name != "static_assert" && !matches!(ret, Type::Extern(..)) {
            return Err(self.error("not-const", span, format!("`{name}` cannot be called at top level")));
        }
        if let (Type::Extern(..), Some(v)) = (ret, args.iter().find(|v| !v.val.is_const())) {
            let message = format!("`{name}` makes an instance, so its arguments must be known at compile time");
            return Err(self.error("not-const", v.span, message));
        }
        match (name, args) {
            ("static_assert", [check, rest @ ..]) => return self.static_assert(check, rest, span),
            ("verify", [check, error]) => {
                if self.body.region != Region::Parser {
                    return Err(self.error("misplaced", span, "`verify` may be called directly in parser states only"));
                }
                let (c, e) = (self.scalar(check)?, self.scalar(error)?);
                match error.val.bits() {
                    Some(code) => self.emit(Stmt::Verify(c, code)),
                    // Chosen at run time: one test for each error there is.
                    None => {
                        let errors = self.decls.errors().len();
                        for code in 0..errors {
                            let code = Bits::new(ERROR_WIDTH, code as u128);
                            let other = fold::binary(BinOp::Ne, e.clone(), constant(code, Ty::Bit(ERROR_WIDTH)));
                            self.emit(Stmt::Verify(fold::binary(BinOp::LOr, c.clone(), other), code));
                        }
                    }
                }
            }
            ("mark_to_drop", _) => {
                self.needs_standard("egress_spec", name, span)?;
                self.emit(Stmt::Extern(Extern::MarkToDrop));
            }
            ("hash", [result, algo, base, data, max]) => {
                let algorithm = self.hash_algorithm(algo)?;
                let result = self.scalar_place(result)?;
                let (base, max) = (self.unsigned(base)?, self.unsigned(max)?);
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let data = self.plain_data(list, data.span)?;
                let (algorithm, data, before) = self.hashed(algorithm, data);
                before.into_iter().for_each(|s| self.emit(s));
                self.emit(Stmt::Extern(Extern::Hash { result, algorithm, base, data, max }));
            }
            ("random", [result, low, high]) => {
                let result = self.scalar_place(result)?;
                let (low, high) = (self.unsigned(low)?, self.unsigned(high)?);
                self.emit(Stmt::Extern(Extern::Random { result, low, high }));
            }
            ("digest", [receiver, data]) => {
                self.only_in(Stage::Ingress, name, span)?;
                let receiver = self.scalar(receiver)?;
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let name = data.ty.declared_name().map(str::to_owned);
                let data = self.plain_data(list, data.span)?;
                self.ids.note_digest(name.as_deref(), data.iter().map(|e| e.ty.width()).collect());
                self.emit(Stmt::Extern(Extern::Digest { receiver, data }));
            }
            ("verify_checksum" | "verify_checksum_with_payload", [condition, data, checksum, algo]) => {
                self.only_in(Stage::VerifyChecksum, name, span)?;
                self.needs_standard("checksum_error", name, span)?;
                let algorithm = self.algorithm(algo)?;
                let condition = self.scalar(condition)?;
                let checksum = self.unsigned(checksum)?;
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let payload = name.ends_with("payload");
                self.emit(Stmt::Extern(Extern::VerifyChecksum { condition, data: list, checksum, algorithm, payload }));
            }
            ("update_checksum" | "update_checksum_with_payload", [condition, data, checksum, algo]) => {
                self.only_in(Stage::ComputeChecksum, name, span)?;
                let algorithm = self.algorithm(algo)?;
                let condition = self.scalar(condition)?;
                let checksum = self.scalar_place(checksum)?;
                let mut list = Vec::new();
                self.flatten_data(data, &mut list)?;
                let payload = name.ends_with("payload");
                self.emit(Stmt::Extern(Extern::UpdateChecksum { condition, data: list, checksum, algorithm, payload }));
            }
            ("clone" | "clone3" | "clone_preserving_field_list", [kind, session, fields @ ..]) => {
                let kind = match kind.val.bits().map(Bits::value) {
                    Some(0) => Replicate::CloneI2E,
                    Some(1) => Replicate::CloneE2E,
                    _ => return Err(self.error("not-const", kind.span, "the kind of clone must be known at compile time")),
                };
                let session = Some(self.scalar(session)?);
                let fields = match fields.first() {
                    Some(f) if name != "clone3" => Some(self.field_list(f)?),
                    Some(data) => self.data_list(name, data)?,
                    None => None,
                };
                self.emit(Stmt::Extern(Extern::Replicate { kind, session, fields }));
            }
            ("resubmit_preserving_field_list", [f]) => {
                self.only_in(Stage::Ingress, name, span)?;
                let fields = Some(self.field_list(f)?);
                self.emit(Stmt::Extern(Extern::Replicate { kind: Replicate::Resubmit, session: None, fields }));
            }
            ("recirculate_preserving_field_list", [f]) => {
                self.only_in(Stage::Egress, name, span)?;
                let fields = Some(self.field_list(f)?);
                self.emit(Stmt::Extern(Extern::Replicate { kind: Replicate::Recirculate, session: None, fields }));
            }
            ("resubmit" | "recirculate", [data]) => {
                let (kind, stage) = match name {
                    "resubmit" => (Replicate::Resubmit, Stage::Ingress),
                    _ => (Replicate::Recirculate, Stage::Egress),
                };
                self.only_in(stage, name, span)?;
                let fields = self.data_list(name, data)?;
                self.emit(Stmt::Extern(Extern::Replicate { kind, session: None, fields }));
            }
            ("truncate", [length]) => {
                let length = self.scalar(length)?;
                self.emit(Stmt::Extern(Extern::Truncate(length)));
            }
            ("assert" | "assume", [check]) => {
                let check = self.scalar(check)?;
                self.emit(Stmt::Extern(Extern::Assert(check, name == "assert")));
            }
            ("log_msg", [text, data @ ..]) => {
                let Val::Str(text) = &text.val else {
                    return Err(self.error("not-const", text.span, "the text must be known at compile time"));
                };
                let mut list = Vec::new();
                for d in data {
                    self.flatten_data(d, &mut list)?;
                }
                let values = self.plain_data(list, span)?;
                self.emit(Stmt::Extern(Extern::Log(text.to_string(), values)));
            }
            _ => {
                if let Some(arch) = self.arch()
                    && let Some(v) = (arch.function)(self, name, args, ret, span)?
                {
                    return Ok(v);
                }
                return self.unknown_extern(&format!("extern function `{name}`"), ret, span);
            }
        }
        Ok(void)
    }

    /// A call of a method of an extern instance.
    pub(crate) fn extern_method_call(&mut self, obj: ObjId, ext: &str, method: &str, args: &[Tv], ret: &Type, span: Span) -> R<Tv> {
        let void = Tv::value(Type::Void, Val::None, span);
        if let Some(arch) = self.arch()
            && let Some(v) = (arch.method)(self, obj, ext, method, args, ret, span)?
        {
            return Ok(v);
        }
        enum K {
            In,
            Out,
            Counter(p4_ir::CounterId),
            DirectCounter(p4_ir::CounterId),
            Meter(p4_ir::MeterId),
            DirectMeter(p4_ir::MeterId),
            Register(Vec<(p4_ir::RegisterId, Ty)>),
            Service(p4_ir::ServiceId),
            Other,
        }
        let kind = match self.kind(obj) {
            ObjKind::PacketIn => K::In,
            ObjKind::PacketOut => K::Out,
            ObjKind::Counter(c) => K::Counter(*c),
            ObjKind::DirectCounter(c) => K::DirectCounter(*c),
            ObjKind::Meter(m) => K::Meter(*m),
            ObjKind::DirectMeter(m) => K::DirectMeter(*m),
            ObjKind::Register(parts) => K::Register(parts.clone()),
            ObjKind::Service(id) => K::Service(*id),
            _ => K::Other,
        };
        match (kind, method, args) {
            (K::In, _, _) => return self.packet_in(method, args, ret, span),
            (K::Out, "emit", [v]) => {
                if !matches!(self.body.stage, Stage::Deparser | Stage::None) {
                    return Err(self.error("misplaced", span, "`emit` may be called in the deparser only"));
                }
                self.emit_header(v)?;
            }
            (K::Counter(counter), "count", [index]) => {
                let index = self.unsigned(index)?;
                self.emit(Stmt::Extern(Extern::Count { counter, index }));
            }
            (K::DirectCounter(c), "count", []) => {
                self.in_table_action("a direct counter", span)?;
                self.emit(Stmt::Extern(Extern::DirectCount(c)));
            }
            (K::Meter(meter), "execute_meter", [index, result]) => {
                let (index, result) = (self.unsigned(index)?, self.scalar_place(result)?);
                self.emit(Stmt::Extern(Extern::Meter { meter, index, result }));
            }
            (K::DirectMeter(meter), "read", [result]) => {
                self.in_table_action("a direct meter", span)?;
                let result = self.scalar_place(result)?;
                self.emit(Stmt::Extern(Extern::DirectMeter { meter, result }));
            }
            (K::Register(parts), "read", [result, index]) => {
                let index = self.unsigned(index)?;
                let mut places = Vec::new();
                leaves(&result.val, &mut places);
                if places.len() != parts.len() {
                    return Err(self.bug(span, "the result of a register"));
                }
                for (place, (register, ty)) in places.into_iter().zip(parts) {
                    let Some(place) = place.place() else { return Err(self.bug(span, "the result of a register")) };
                    // Registers hold bits; a signed or bool variable gets them through a temporary.
                    let result = if matches!(ty, Ty::Bit(_)) { place.clone() } else { LValue::Var(self.temp(Ty::Bit(ty.width()))) };
                    self.emit(Stmt::Extern(Extern::RegisterRead { register, index: index.clone(), result: result.clone() }));
                    if let (LValue::Var(t), false) = (result, matches!(ty, Ty::Bit(_))) {
                        self.emit_assign(place, fold::cast(var(t, Ty::Bit(ty.width())), ty));
                    }
                }
            }
            (K::Register(parts), "write", [index, value]) => {
                let index = self.unsigned(index)?;
                let mut values = Vec::new();
                leaves(&value.val, &mut values);
                if values.len() != parts.len() {
                    return Err(self.bug(span, "the value of a register"));
                }
                for (v, (register, ty)) in values.into_iter().zip(parts) {
                    let Some(value) = v.scalar() else { return Err(self.bug(span, "the value of a register")) };
                    let value = fold::cast(value, Ty::Bit(ty.width()));
                    self.emit(Stmt::Extern(Extern::RegisterWrite { register, index: index.clone(), value }));
                }
            }
            (K::Service(service), "send", [request]) => {
                self.call_service(service, request, None, span)?;
            }
            (K::Service(service), "call", [request, answer]) => {
                self.call_service(service, request, Some(answer), span)?;
            }
            _ => return self.unknown_extern(&format!("method `{method}` of extern `{ext}`"), ret, span),
        }
        Ok(void)
    }

    /// A call of a service: the program is cut there, so the way back must be known.
    fn call_service(&mut self, service: p4_ir::ServiceId, request: &Tv, answer: Option<&Tv>, span: Span) -> R<()> {
        let free = self.check_only() || self.whole.unused_walk;
        if !matches!(self.body.stage, Stage::Ingress | Stage::Egress) && !free {
            return Err(self.error("misplaced", span, "a service may be called in ingress and egress only"));
        }
        if self.build.ir.arch != p4_ir::Architecture::V1Model && !free {
            return Err(self.unsupported(span, "a call of a service in a program that is not for v1model"));
        }
        let inside = match () {
            () if self.body.by_table => Some("an action that a table runs"),
            () if self.body.frames.iter().any(|f| !f.loops.is_empty()) => Some("a loop"),
            () => None,
        };
        if let (Some(inside), false) = (inside, free) {
            let d = Diagnostic::error("unsupported", span, format!("a call of a service in {inside} is not supported"));
            return Err(self.report(d.with_help("have it set a flag, and call the service behind it")));
        }
        let mut list = Vec::new();
        self.flatten_data(request, &mut list)?;
        let request = self.plain_data(list, request.span)?;
        let answer = match answer {
            None => None,
            Some(answer) => {
                let mut found = Vec::new();
                leaves(&answer.val, &mut found);
                let places: Option<Vec<LValue>> = found.iter().map(Val::place).collect();
                Some(places.ok_or_else(|| self.bug(span, "the answer of a service"))?)
            }
        };
        self.emit(Stmt::Extern(Extern::Service { service, request, answer }));
        Ok(())
    }

    /// An extern that is declared but not built in: fine where only checking is wanted.
    fn unknown_extern(&mut self, what: &str, ret: &Type, span: Span) -> R<Tv> {
        if !self.check_only() && !self.whole.unused_walk {
            return Err(self.unsupported(span, what));
        }
        if matches!(ret, Type::Void) {
            return Ok(Tv::value(Type::Void, Val::None, span));
        }
        let name = self.local_name("extern");
        if let Type::Extern(..) = ret {
            let obj = self.new_object(name, ObjKind::Unknown);
            return Ok(Tv::value(ret.clone(), Val::Obj(obj), span));
        }
        let val = self.storage(&name, ret, span)?;
        Ok(Tv { ty: ret.clone(), val, access: Access::Read("a computed value"), span })
    }

    // -----------------------------------------------------------------------------------------------------------------
    // packet_in, packet_out

    fn packet_in(&mut self, method: &str, args: &[Tv], ret: &Type, span: Span) -> R<Tv> {
        let void = Tv::value(Type::Void, Val::None, span);
        if self.body.region != Region::Parser && !self.check_only() {
            return Err(self.error("misplaced", span, format!("`{method}` of a packet may be called directly in parser states only")));
        }
        match (method, args) {
            ("extract", [header, rest @ ..]) => {
                if header.ty.is_opaque() {
                    return Ok(void);
                }
                let Some(c) = header.ty.header().cloned() else {
                    return Err(self.error("type-mismatch", header.span, format!("only headers can be extracted, not {}", header.ty)));
                };
                let varbits = c.fields.iter().filter(|f| matches!(f.ty, Type::Varbit(_))).count();
                if varbits > 1 {
                    let message = format!("header {} has {varbits} varbit fields; `extract` can fill only one", c.name);
                    return Err(self.error("bad-field", header.span, message));
                }
                let varbit = varbits == 1;
                match (varbit, rest) {
                    (true, []) => {
                        let message = format!("header {} has a varbit field; `extract` needs its length in bits", c.name);
                        return Err(self.error("arity", span, message));
                    }
                    (false, [_]) => {
                        let message = format!("header {} has no varbit field; `extract` takes no length", c.name);
                        return Err(self.error("arity", span, message));
                    }
                    _ => {}
                }
                let Val::Header(h) = &header.val else { return Err(self.bug(span, "a header")) };
                let varbit_bits = rest.first().and_then(|l| l.val.scalar());
                self.emit(Stmt::Extract { header: h.clone(), varbit_bits });
                self.extracted_next(h);
                Ok(void)
            }
            ("advance", [bits]) => {
                let bits = self.scalar(bits)?;
                self.emit(Stmt::Advance(bits));
                Ok(void)
            }
            ("lookahead", []) => self.lookahead(ret, span),
            ("length", []) => match self.packet_length() {
                Some(v) => Ok(Tv::expr(Type::bit(32), var(v, Ty::Bit(32)), span)),
                None => self.unknown_extern("`length` of a packet", ret, span),
            },
            _ => self.unknown_extern(&format!("`{method}` of a packet"), ret, span),
        }
    }

    /// Of v1model's metadata; PSA has none there.
    fn packet_length(&mut self) -> Option<p4_ir::VarId> {
        let known = self.build.ir.intrinsic.standard.get("packet_length").copied();
        if known.is_some() || self.whole.psa.is_none() {
            return known;
        }
        let v = self.new_var("packet_length", Ty::Bit(32));
        self.build.ir.intrinsic.standard.insert("packet_length".to_owned(), v);
        Some(v)
    }

    /// `lookahead<T>()`: the bits are read in pieces and cut into the fields of `T`.
    pub(crate) fn lookahead(&mut self, ty: &Type, span: Span) -> R<Tv> {
        if ty.has_var() {
            let d = Diagnostic::error("inference", span, "the type that `lookahead` reads is not determined");
            return Err(self.report(d.with_help("write it: `lookahead<bit<8>>()`")));
        }
        let bits = match ty.wire_bits() {
            Some(b) if ty.max_wire_bits() == Some(b) => b,
            _ => return Err(self.error("type-mismatch", span, format!("`lookahead` cannot read {ty}"))),
        };
        if bits > MAX_LOOKAHEAD {
            return Err(self.unsupported(span, format!("a lookahead of {bits} bits")));
        }
        let (mut all, mut skip) = (Vec::new(), 0);
        while 8 * skip < bits as u32 {
            let width = (bits as u32 - 8 * skip).min(base::MAX_WIDTH);
            let t = self.temp(Ty::Bit(width));
            self.build.set_unstable(t);
            self.emit(Stmt::Lookahead(LValue::Var(t), skip));
            all.push(var(t, Ty::Bit(width)));
            skip += base::MAX_WIDTH / 8;
        }
        let mut high = bits as u32;
        let val = self.cut(ty, &all, &mut high, span)?;
        Ok(Tv::value(ty.clone(), val, span))
    }

    fn emit_header(&mut self, v: &Tv) -> R<()> {
        match &v.ty {
            Type::Composite(c) if c.kind == Kind::Header => {
                let h = self.materialize(v)?;
                self.emit(Stmt::Emit(h));
                Ok(())
            }
            Type::Composite(c) => {
                for i in 0..c.fields.len() {
                    let f = self.field(v, c, i, v.span)?;
                    self.emit_header(&f)?;
                }
                Ok(())
            }
            Type::Tuple(ts) => {
                let Val::Agg(vs) = &v.val else { return Err(self.bug(v.span, "a tuple")) };
                ts.iter().zip(vs.iter()).try_for_each(|(t, x)| self.emit_header(&Tv::value(t.clone(), x.clone(), v.span)))
            }
            Type::Stack(t, _) => {
                let elements = self.elements(v, v.span)?;
                elements.into_iter().try_for_each(|x| self.emit_header(&Tv::value((**t).clone(), x, v.span)))
            }
            t if t.is_opaque() => Ok(()),
            t => Err(self.error("type-mismatch", v.span, format!("only headers can be emitted, not {t}"))),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Arguments

    /// An architecture that the program declares itself may lack a field of the standard metadata.
    fn needs_standard(&mut self, field: &str, name: &str, span: Span) -> R<()> {
        let there = self.build.ir.intrinsic.standard.contains_key(field);
        if there || self.check_only() || self.whole.unused_walk || self.body.stage == Stage::None {
            return Ok(());
        }
        Err(self.error("unsupported", span, format!("`{name}` needs `{field}` in the standard metadata, which has none here")))
    }

    fn only_in(&mut self, stage: Stage, name: &str, span: Span) -> R<()> {
        if self.body.stage == stage || self.check_only() || self.body.stage == Stage::None {
            return Ok(());
        }
        let place = match stage {
            Stage::Parser => "the parser",
            Stage::VerifyChecksum => "the control that verifies checksums",
            Stage::ComputeChecksum => "the control that computes checksums",
            Stage::Ingress => "ingress",
            Stage::Egress => "egress",
            Stage::Deparser | Stage::None => "the deparser",
        };
        Err(self.error("misplaced", span, format!("`{name}` may be called in {place} only")))
    }

    pub(crate) fn in_table_action(&mut self, what: &str, span: Span) -> R<()> {
        if self.body.by_table || self.whole.unused_walk || self.check_only() {
            return Ok(());
        }
        Err(self.error("misplaced", span, format!("{what} may be used only in actions that its table runs")))
    }

    fn field_list(&mut self, v: &Tv) -> R<Expr> {
        self.scalar(v)
    }

    /// The field list that the data of `clone3`, `resubmit` and `recirculate` are, of v1model before 2022: the copy keeps these fields of the metadata, with
    /// the values that they have at the end of the block, not at the call. `None` if there are no data.
    fn data_list(&mut self, name: &str, data: &Tv) -> R<Option<Expr>> {
        let mut found = Vec::new();
        leaves(&data.val, &mut found);
        let mut vars = Vec::new();
        for v in found {
            if matches!(v, Val::None) {
                continue;
            }
            // Nothing else was ever kept: a header's fields come from the packet's bytes.
            let Some(ExprKind::Var(var)) = v.scalar().map(|e| e.kind) else { return Err(self.not_metadata(name, data.span)) };
            if !self.whole.metadata.contains(&var) && !self.whole.unused_walk {
                return Err(self.not_metadata(name, data.span));
            }
            let standard = &self.build.ir.intrinsic.standard;
            let of_the_pass = ["instance_type", "parser_error", "checksum_error"];
            if !of_the_pass.iter().any(|f| standard.get(*f) == Some(&var)) && !vars.contains(&var) {
                vars.push(var);
            }
        }
        if vars.is_empty() {
            return Ok(None);
        }
        let lists = &mut self.build.ir.intrinsic.field_lists;
        // The program's own numbers are mostly small.
        let same = lists.iter().find(|(_, list)| **list == vars).map(|(n, _)| *n);
        let Some(number) = same.or_else(|| (0..=u8::MAX).rev().find(|n| !lists.contains_key(n))) else {
            return Err(self.unsupported(data.span, "more than 256 field lists"));
        };
        lists.insert(number, vars);
        Ok(Some(constant(Bits::new(8, number.into()), Ty::Bit(8))))
    }

    fn not_metadata(&mut self, name: &str, span: Span) -> Reported {
        let base = if name == "clone3" { "clone" } else { name };
        let d = Diagnostic::error("unsupported", span, format!("`{name}` with data that are not fields of the metadata is not supported"));
        self.report(d.with_help(format!("put them into the metadata, or use `{base}_preserving_field_list` and `@field_list`")))
    }

    fn static_assert(&mut self, check: &Tv, rest: &[Tv], span: Span) -> R<Tv> {
        match check.val.bits() {
            Some(b) if b.is_true() => Ok(self.bool_value(true, span)),
            Some(_) => {
                let text = match rest.first().map(|t| &t.val) {
                    Some(Val::Str(s)) => format!("static assertion failed: {s}"),
                    _ => "static assertion failed".to_owned(),
                };
                Err(self.error("static-assert", span, text))
            }
            None => Err(self.error("not-const", check.span, "a static assertion must be known at compile time")),
        }
    }
}
