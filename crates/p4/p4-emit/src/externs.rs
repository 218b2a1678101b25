//! Calls to the architecture: counters, meters, registers, hashes, checksums.

use crate::EmitError;
use crate::emitter::{Cells, Emitter, arrive};
use crate::expr::{Which, convert, head, paren};
use crate::facts::Known;
use crate::model::Home;
use base::MAX_PACKET;
use cranelift_entity::EntityRef;
use p4_analysis::effects::Ordered;
use p4_ir::origin::Construct;
use p4_ir::{CheckData, CounterId, Expr, ExprKind, Extern, HashAlgorithm, HeaderId, HeaderRef, LValue, MeterId};
use program::{CountUnit, LengthSource};

/// Below this many cells a counter stays in the cache: it is counted at once, not behind the burst.
const SMALL_COUNTER: u64 = 1024;

/// Most bytes that are gathered for a digest, on the stack.
const MOST_DATA: u64 = 1 << 16;

impl Emitter<'_> {
    /// One call.
    pub(crate) fn extern_call(&mut self, e: &Extern) -> Result<(), EmitError> {
        match e {
            Extern::Count { counter, index } => {
                let lent = if let ExprKind::Var(v) = &index.kind { self.model.action_params.vars.get(v) } else { None };
                let asked = lent.is_some_and(|(action, _)| self.asks_again(*action));
                let index = self.index(index)?;
                self.count(*counter, &index, asked)
            }
            Extern::DirectCount(counter) => {
                let attached = self.ir.program.counters[*counter].table;
                match self.in_table {
                    Some(table) if attached == Some(table) => self.count(*counter, "r->handle", false),
                    _ => Ok(()),
                }
            }
            Extern::Meter { meter, index, result } => {
                self.uses(Ordered::Meter(*meter));
                let index = self.index(index)?;
                self.meter(*meter, &index, result)
            }
            Extern::DirectMeter { meter, result } => {
                let attached = self.ir.program.meters[*meter].table;
                match self.in_table {
                    Some(table) if attached == Some(table) => {
                        self.uses(Ordered::Meter(*meter));
                        self.meter(*meter, "r->handle", result)
                    }
                    _ => self.assign(result, "0u"),
                }
            }
            Extern::RegisterRead { register, index, result } => {
                self.uses(Ordered::Register(*register));
                let (of, width, wide) = self.register(*register);
                let index = self.index(index)?;
                let value = convert(&format!("sp_register_read{wide}({of}, {index})"), width.max(64), width);
                self.assign(result, &value)
            }
            Extern::RegisterWrite { register, index, value } => {
                self.uses(Ordered::Register(*register));
                let (of, _, wide) = self.register(*register);
                let (index, value) = (self.index(index)?, self.expr(value)?);
                self.line(format!("sp_register_write{wide}({of}, {index}, {value});"));
                Ok(())
            }
            Extern::Hash { result, algorithm, base, data, max } => {
                let data: Vec<_> = data.iter().map(|e| CheckData::Value(e.clone())).collect();
                let number = self.unique();
                self.open("");
                let digest = self.digest(*algorithm, &data, false, number)?;
                let (base, max) = (self.expr(base)?, self.expr(max)?);
                self.line(format!("const sp_u128 max{number} = {max};"));
                self.line(format!("const sp_u128 hash{number} = {} + (max{number} ? {digest} % max{number} : 0);", paren(&base)));
                let width = self.lvalue_width(result)?;
                self.assign(result, &convert(&format!("hash{number}"), 128, width))?;
                self.close();
                Ok(())
            }
            Extern::Random { result, low, high } => {
                self.uses(Ordered::Random);
                let (low, high) = (self.expr(low)?, self.expr(high)?);
                let width = self.lvalue_width(result)?;
                self.assign(result, &convert(&format!("sp_random(run, {low}, {high})"), 128, width))
            }
            Extern::MarkToDrop => {
                let standard = &self.ir.intrinsic.standard;
                let (spec, group) = (standard.get("egress_spec").copied(), standard.get("mcast_grp").copied());
                if let Some(v) = spec {
                    self.write_var(v, "511u");
                    self.note_value(v, Some(Known::Const(511)));
                }
                if let Some(v) = group {
                    self.write_var(v, "0u");
                    self.note_value(v, Some(Known::Const(0)));
                }
                Ok(())
            }
            Extern::VerifyChecksum { condition, data, checksum, algorithm, payload } => self.when(condition, |e| {
                let whole = (*algorithm == HashAlgorithm::Csum16 && !payload).then(|| e.sum_of_header(data, checksum)).flatten();
                let wrong = match whole {
                    Some(right) => format!("!{right}"),
                    None => {
                        let number = e.unique();
                        let digest = e.digest(*algorithm, data, *payload, number)?;
                        let found = e.expr(checksum)?;
                        let computed = convert(&digest, 64, checksum.ty.width());
                        format!("{} != {}", paren(&computed), paren(&found))
                    }
                };
                e.open(format!("if ({wrong})"));
                let before = e.fork();
                if let Some(v) = e.ir.intrinsic.standard.get("checksum_error") {
                    e.write_var(*v, "1u");
                }
                let wrong = std::mem::replace(&mut e.flow, before);
                arrive(&mut e.flow, wrong);
                e.close();
                Ok(())
            }),
            Extern::UpdateChecksum { condition, data, checksum, algorithm, payload } => self.when(condition, |e| {
                let number = e.unique();
                let digest = e.digest(*algorithm, data, *payload, number)?;
                let width = e.lvalue_width(checksum)?;
                e.assign(checksum, &convert(&digest, 64, width))
            }),
            // They have no effect that a packet or a counter could show.
            Extern::Assert(..) | Extern::Log(..) | Extern::Stage(_) => Ok(()),
            Extern::Truncate(bytes) => {
                let (text, width) = (self.expr(bytes)?, bytes.ty.width());
                let text =
                    if width > 32 { format!("{} < 0xffffffffu ? (uint32_t){} : 0xffffffffu", paren(&text), paren(&text)) } else { text };
                self.line(format!("c->keep = {text};"));
                Ok(())
            }
            Extern::Digest { receiver, data } => {
                self.uses(Ordered::Digests);
                let values = std::iter::once(receiver).chain(data).map(|e| self.expr(e)).collect::<Result<Vec<_>, _>>()?;
                let n = values.len();
                self.line(format!("sp_digest(run, (const sp_u128[]){{{}}}, {n});", values.join(", ")));
                Ok(())
            }
            Extern::Replicate { kind, .. } => Err(EmitError::unsupported(Construct::Copies, kind.name())),
            Extern::Service { .. } => Err(EmitError::unsupported(Construct::Service, "a call of a service")),
        }
    }

    /// C text of a cell's number; those beyond 64 bits are none of any array.
    fn index(&mut self, e: &Expr) -> Result<String, EmitError> {
        let text = self.expr(e)?;
        Ok(if e.ty.width() > 64 { format!("sp_index({text})") } else { text })
    }

    /// Prints `each` under a condition.
    fn when(&mut self, condition: &Expr, each: impl FnOnce(&mut Self) -> Result<(), EmitError>) -> Result<(), EmitError> {
        let text = self.expr(condition)?;
        match &text[..] {
            "0" | "0u" => return Ok(()),
            "1" => return each(self),
            _ => {}
        }
        let before = self.fork();
        self.open(format!("if {}", head(&text)));
        self.assume(condition, true);
        each(self)?;
        self.close();
        let inside = std::mem::replace(&mut self.flow, before);
        arrive(&mut self.flow, inside);
        Ok(())
    }

    /// C text of a packet's length as a counter or meter takes it.
    fn length(&mut self, source: LengthSource) -> String {
        match (source, self.ir.intrinsic.pdu_length) {
            (LengthSource::Frame, _) => "pk->length".into(),
            (LengthSource::Pdu, Some(v)) => {
                let text = self.read_var(v);
                convert(&text, self.ir.vars[v].ty.width(), 64)
            }
            (LengthSource::Pdu, None) => "0".into(),
        }
    }

    /// If the cell has been `asked` for a moment ago, or stays in the cache, the packet is counted at once.
    fn count(&mut self, counter: CounterId, index: &str, asked: bool) -> Result<(), EmitError> {
        let info = &self.ir.program.counters[counter];
        let packets = if info.unit == CountUnit::Bytes { "0" } else { "1" };
        let bytes = if info.unit == CountUnit::Packets { "0".to_owned() } else { self.length(info.length) };
        let how = if asked || info.size <= SMALL_COUNTER && info.table.is_none() { "sp_count_now(" } else { "sp_count(run, " };
        let of = self.cells(Cells::Counter(counter));
        self.line(format!("{how}{of}, {index}, {packets}, {bytes});"));
        Ok(())
    }

    fn meter(&mut self, meter: MeterId, index: &str, result: &LValue) -> Result<(), EmitError> {
        let info = &self.ir.program.meters[meter];
        let units = if info.unit == CountUnit::Packets { "1".to_owned() } else { self.length(info.length) };
        let of = self.cells(Cells::Meter(meter));
        let width = self.lvalue_width(result)?;
        let colour = convert(&format!("sp_meter(run, pk, {of}, {index}, {units})"), 32, width);
        self.assign(result, &colour)
    }

    /// C text and width of a register, and the end of the names of functions for it.
    fn register(&mut self, register: p4_ir::RegisterId) -> (String, u32, &'static str) {
        let width = self.ir.program.registers[register].width;
        (self.cells(Cells::Register(register)), width, if width > 64 { "_wide" } else { "" })
    }

    /// Prints what computes a digest and gives its C text, of at most 64 bits.
    fn digest(&mut self, algorithm: HashAlgorithm, data: &[CheckData], payload: bool, number: u32) -> Result<String, EmitError> {
        let name = format!("sum{number}");
        let (declare, put) = match algorithm {
            // RFC 1071: summed as it comes, without being gathered first.
            HashAlgorithm::Csum16 => (format!("struct sp_sum {name} = {{0, 0, 0}};"), "sum"),
            _ => {
                let most = self.data_len(data) + if payload { MAX_PACKET as u64 } else { 0 };
                if most > MOST_DATA {
                    return Err(EmitError::unsupported(Construct::Digest, format!("a digest of {most} bytes, more than {MOST_DATA}")));
                }
                self.line(format!("uint8_t bytes{number}[{most} + 1] = {{0}};"));
                (format!("struct sp_bits {name} = {{bytes{number}, 0}};"), "bits")
            }
        };
        self.line(declare);
        let mut at = 0;
        while at < data.len() {
            let (h, run) = self.header_run(&data[at..]);
            if let (Some(h), true) = (h.filter(|h| !self.in_fields(*h)), run > 1) {
                let (first, last) = (self.piece(&data[at], h), self.piece(&data[at + run - 1], h));
                let (address, bits) = (self.address(h), last.0 + last.1 - first.0);
                let text = format!("sp_{put}_bytes(&{name}, {}, {});", crate::field::plus(&address, first.0 / 8), bits / 8);
                let scratch = self.model.homes[h.index()] == Home::Scratch;
                match self.known_valid(h) {
                    Some(true) => self.line(text),
                    None if !scratch => self.line(text),
                    _ => {
                        let valid = self.is_valid(h);
                        self.line(format!("if ({valid}) {text} else sp_{put}_zero(&{name}, {bits});"));
                    }
                }
                at += run;
                continue;
            }
            match &data[at] {
                CheckData::Value(e) => {
                    let (text, width) = (self.expr(e)?, e.ty.width());
                    let wide = if width > 48 { "_wide" } else { "" };
                    self.line(format!("sp_{put}_value{wide}(&{name}, {text}, {width});"));
                }
                CheckData::Varbit(r, _) => match self.which(r)? {
                    Which::One(h) => {
                        let (address, len) = (self.address(h), self.varbit_len(h));
                        let fixed = self.model.fixed_len[h.index()];
                        self.line(format!("sp_{put}_bytes(&{name}, {}, {len});", crate::field::plus(&address, fixed)));
                    }
                    Which::Indexed(..) => {
                        return Err(EmitError::unsupported(Construct::Checksum, "a varbit field of a stack element in a checksum"));
                    }
                },
            }
            at += 1;
        }
        if payload {
            let (payload, end) = (self.payload(), self.end());
            self.line(format!("sp_{put}_bytes(&{name}, {payload}, {end} - {payload});"));
        }
        let function = match algorithm {
            HashAlgorithm::Csum16 => "sp_csum16",
            HashAlgorithm::Xor16 => "sp_xor16",
            HashAlgorithm::Crc16 => "sp_crc16",
            HashAlgorithm::Crc32 => "sp_crc32",
            HashAlgorithm::Identity => "sp_identity",
        };
        Ok(format!("{function}(&{name})"))
    }

    /// C text that tests a header's checksum by one sum over all its bytes; `None` unless the data is exactly the rest of that header.
    fn sum_of_header(&mut self, data: &[CheckData], checksum: &Expr) -> Option<String> {
        let ExprKind::Field(HeaderRef::Static(h), _) = checksum.kind else { return None };
        let in_packet = self.class.is_some() && self.known_valid(h) == Some(true) && !self.in_fields(h);
        if !in_packet || self.model.homes[h.index()] == Home::Scratch {
            return None;
        }
        let (at, width) = self.piece(&CheckData::Value(checksum.clone()), h);
        let mut end = 0;
        for piece in data {
            let CheckData::Value(Expr { kind: ExprKind::Field(HeaderRef::Static(of), _), .. }) = piece else { return None };
            let (offset, bits) = self.piece(piece, h);
            end += if end == at { width } else { 0 };
            if *of != h || offset != end || bits == 0 {
                return None;
            }
            end += bits;
        }
        let is_whole = end == 8 * self.model.fixed_len[h.index()] && self.model.varbit_len[h.index()] == 0;
        let (address, bytes) = (self.address(h), end / 8);
        (is_whole && width == 16 && at % 16 == 0).then(|| format!("sp_sum_is_right({address}, {bytes}, {})", at / 8))
    }

    /// Most bytes of the data.
    fn data_len(&self, data: &[CheckData]) -> u64 {
        let bits: u64 = data
            .iter()
            .map(|d| match d {
                CheckData::Value(e) => u64::from(e.ty.width()),
                CheckData::Varbit(HeaderRef::Static(h), _) => 8 * self.model.len_at_most(*h),
                CheckData::Varbit(..) => 0,
            })
            .sum();
        bits.div_ceil(8)
    }

    /// How many of the first pieces are fields of one header that follow each other, from a whole byte to a whole byte.
    fn header_run(&self, data: &[CheckData]) -> (Option<HeaderId>, usize) {
        let Some(CheckData::Value(Expr { kind: ExprKind::Field(HeaderRef::Static(h), _), .. })) = data.first() else {
            return (None, 0);
        };
        let (start, _) = self.piece(&data[0], *h);
        if start % 8 != 0 {
            return (None, 0);
        }
        let (mut end, mut whole) = (start, 0);
        for (i, d) in data.iter().enumerate() {
            match d {
                CheckData::Value(Expr { kind: ExprKind::Field(HeaderRef::Static(other), index), .. })
                    if other == h && !self.ir.header_types[self.ir.headers[*h].ty].fields[*index as usize].varbit =>
                {
                    let (offset, width) = self.piece(d, *h);
                    if offset != end {
                        break;
                    }
                    end = offset + width;
                    if end % 8 == 0 {
                        whole = i + 1;
                    }
                }
                _ => break,
            }
        }
        (Some(*h), whole)
    }

    /// Offset and width in bits of a piece that is a field of `h`.
    fn piece(&self, data: &CheckData, h: HeaderId) -> (u32, u32) {
        match data {
            CheckData::Value(Expr { kind: ExprKind::Field(_, index), .. }) => {
                let field = &self.ir.header_types[self.ir.headers[h].ty].fields[*index as usize];
                (field.offset_bits, field.ty.width())
            }
            _ => (0, 0),
        }
    }

    /// Drops the packet for a reason that is C text, and ends its work.
    pub(crate) fn drop_packet(&mut self, reason: &str) {
        let mark = self.mark();
        self.line(format!("sp_drop(run, i, {reason}, {mark});"));
        self.done();
    }

    /// C text of the `@mark` field.
    pub(crate) fn mark(&mut self) -> String {
        match self.ir.intrinsic.mark {
            Some(v) => {
                let text = self.read_var(v);
                convert(&text, self.ir.vars[v].ty.width(), 32)
            }
            None => "0".into(),
        }
    }

    /// C text of the `@drop_reason` field.
    pub(crate) fn reason(&mut self) -> String {
        match self.ir.intrinsic.drop_reason {
            Some(v) => {
                let text = self.read_var(v);
                convert(&text, self.ir.vars[v].ty.width(), 8)
            }
            None => "0".into(),
        }
    }

    /// C text of a standard metadata field.
    pub(crate) fn standard(&mut self, name: &str) -> String {
        match self.ir.intrinsic.standard.get(name) {
            Some(v) => self.read_var(*v),
            None => "0".into(),
        }
    }
}
