//! One packet's way: the pipeline at the top, then the parser, statements, tables and externs in that order.

pub(crate) mod limits;
mod psa;
pub(crate) mod replicate;
pub(crate) mod service;

use crate::Count;
use crate::digest::digest;
use crate::eval::{eval, read, resolve, width};
use crate::machine::State;
use crate::meter::MeterCell;
use crate::packet::{PacketState, cut};
use crate::table::matches;
use crate::trace::{Event, Tracer, Why};
use crate::wire::{BitString, get_bits};
use base::{DropReason, HEADROOM, MAX_PACKET, PortId, Verdict, VerdictKind};
use p4_ir::{
    Architecture, Bits, Block, CheckData, CounterId, Expr, Extern, HashAlgorithm, HeaderId, HeaderRef, Ir, KeySet, LValue, LabelId,
    MeterId, Next, Parser, RegisterId, Role, SelectCase, StackId, Stmt, TableId, Transition, VarId, arith,
};
use program::{CountUnit, Digest, LengthSource};

/// Most parser states, and most rounds of loops, that one packet goes through.
pub const STEP_LIMIT: u32 = 1 << 16;

/// Whether the machine holds all of the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// It does: a miss is a miss.
    Whole,
    /// It holds a subset of `@split` tables and has no buffers: see the crate's text.
    Subset,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<'a> {
    /// The decision.
    pub verdict: Verdict,
    /// The deparsed packet for forward, buffer and punt; the packet as received for drop and next.
    pub bytes: &'a [u8],
}

/// One packet as it came.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub bytes: &'a [u8],
    pub port: PortId,
    pub now_ns: u64,
    pub mode: Mode,
}

/// The variables through which the architecture talks with the program, and its error codes.
pub(crate) struct Standard {
    ingress_port: Option<VarId>,
    egress_spec: Option<VarId>,
    egress_port: Option<VarId>,
    packet_length: Option<VarId>,
    timestamp: Option<VarId>,
    instance_type: Option<VarId>,
    egress_rid: Option<VarId>,
    multicast: Option<VarId>,
    checksum_error: Option<VarId>,
    parser_error: Option<VarId>,
    too_short: u32,
    no_match: u32,
    stack_bounds: u32,
    header_short: u32,
    timeout: u32,
    invalid_argument: u32,
}

impl Standard {
    pub(crate) fn new(ir: &Ir) -> Standard {
        let var = |name: &str| ir.intrinsic.standard.get(name).copied();
        let core = |name: &str| p4_ir::build::CORE_ERRORS.iter().position(|e| *e == name);
        let error = |name: &str| ir.program.errors.iter().position(|e| e == name).or_else(|| core(name)).unwrap_or(0) as u32;
        Standard {
            ingress_port: var("ingress_port"),
            egress_spec: var("egress_spec"),
            egress_port: var("egress_port"),
            packet_length: var("packet_length"),
            timestamp: var("ingress_global_timestamp"),
            instance_type: var("instance_type"),
            egress_rid: var("egress_rid"),
            multicast: var("mcast_grp"),
            checksum_error: var("checksum_error"),
            parser_error: var("parser_error"),
            too_short: error("PacketTooShort"),
            no_match: error("NoMatch"),
            stack_bounds: error("StackOutOfBounds"),
            header_short: error("HeaderTooShort"),
            timeout: error("ParserTimeout"),
            invalid_argument: error("ParserInvalidArgument"),
        }
    }
}

/// Buffers that are kept for their memory, and the journal of a packet's effects.
#[derive(Default)]
pub(crate) struct Work {
    key: Vec<u128>,
    scratch: Vec<u128>,
    data: BitString,
    journal: Vec<Effect>,
    /// Passes that the packet still has to make.
    queue: replicate::Queue,
    /// Packets beside the received one.
    pub extra: Vec<replicate::Extra>,
    /// Messages to the control plane.
    pub digests: Vec<Digest>,
    /// Messages that found [`MAX_DIGESTS`] waiting.
    pub lost_digests: u64,
    /// What the program calls.
    pub services: Option<Box<dyn service::Services>>,
    /// A chip's limits, if one is modelled.
    pub watch: limits::Watch,
}

/// Most digests that wait for the control plane; later ones are lost.
pub const MAX_DIGESTS: usize = 1 << 12;

/// A cell as it was before the packet changed it.
enum Effect {
    Counter(CounterId, usize, Count),
    Direct(TableId, usize, Count),
    Meter(MeterId, u64, MeterCell),
    EntryMeter(TableId, u32, MeterCell),
    /// What it took of another target's cell.
    Shared(MeterId, u64, [u64; 2]),
    Register(RegisterId, usize, u128),
    /// A message was sent.
    Digest,
}

/// What a statement does to the flow of control.
enum Flow {
    Go,
    Break(LabelId),
    Exit,
    /// Parser error of that code; small, so that a flow fits a register.
    Error(u32),
    Halt(Halt),
}

/// Why the pipeline ends at once.
enum Halt {
    /// A miss in a split table of a subset.
    Missed(TableId),
    /// Too many rounds of loops.
    Stuck,
    /// The packet is to be copied or sent round, which a subset does not do.
    Copies,
    /// The packet is for a service, which a subset does not call.
    Service,
    /// A service has dropped it.
    Dropped(DropReason),
    /// It asked for more than the modelled chip does for one packet.
    Beyond,
}

/// Whether a packet of that verdict leaves as the deparser made it.
pub(crate) fn rewrites(kind: VerdictKind) -> bool {
    !matches!(kind, VerdictKind::Drop | VerdictKind::Next | VerdictKind::Kept | VerdictKind::Resume)
}

/// Runs the program on one packet; the deparsed bytes are in `p.out`.
pub(crate) fn run<T: Tracer>(
    ir: &Ir,
    std: &Standard,
    state: &mut State,
    p: &mut PacketState,
    work: &mut Work,
    input: &Input<'_>,
    tracer: &mut T,
) -> Verdict {
    p.reset();
    work.extra.clear();
    work.watch.reached.clear();
    let mut run = Run::new(ir, std, state, p, work, input, tracer);
    run.tell(|_| Event::Received { port: input.port.0, bytes: input.bytes.len(), now_ns: input.now_ns });
    let (mut verdict, mut why) = match run.pipeline() {
        Ok(decided) => decided,
        Err(Halt::Missed(table)) => (Verdict::next(), Why::SplitMiss(table)),
        Err(Halt::Stuck) => (run.verdict(VerdictKind::Drop, Some(DropReason::TARGET_FAILED)), Why::Stuck),
        Err(Halt::Copies) => {
            run.work.watch.beyond.copies += 1;
            run.work.watch.beyond.copied_bytes += input.bytes.len() as u64;
            (Verdict::next(), Why::NotHere)
        }
        Err(Halt::Beyond | Halt::Service) => (Verdict::next(), Why::NotHere),
        Err(Halt::Dropped(reason)) => (run.verdict(VerdictKind::Drop, Some(reason)), Why::ByService),
    };
    if input.mode == Mode::Subset && matches!(verdict.kind, VerdictKind::Punt | VerdictKind::Buffer | VerdictKind::Shape) {
        (verdict, why) = (Verdict::next(), Why::NotHere);
    }
    if verdict.kind == VerdictKind::Next {
        run.take_back();
    }
    run.work.journal.clear();
    run.tell(|_| Event::Decided { verdict, why });
    if work.queue.is_empty() {
        return verdict;
    }
    replicate::rest(ir, std, state, p, work, input, verdict, tracer)
}

struct Run<'a, 'i, T> {
    ir: &'a Ir,
    std: &'a Standard,
    state: &'a mut State,
    p: &'a mut PacketState,
    work: &'a mut Work,
    input: &'a Input<'i>,
    tracer: &'a mut T,
    /// Parser states and rounds of loops so far.
    steps: u32,
    /// The entry whose action runs: its table and cell of direct counter and meter.
    entry: Option<(TableId, u32)>,
    requests: replicate::Requests,
    /// Passes in a row before this one.
    generation: u8,
    /// Whether the pass's result is the received packet's.
    main: bool,
}

impl<'a, 'i, T: Tracer> Run<'a, 'i, T> {
    fn new(
        ir: &'a Ir,
        std: &'a Standard,
        state: &'a mut State,
        p: &'a mut PacketState,
        work: &'a mut Work,
        input: &'a Input<'i>,
        tracer: &'a mut T,
    ) -> Self {
        let requests = replicate::Requests::default();
        Run { ir, std, state, p, work, input, tracer, steps: 0, entry: None, requests, generation: 0, main: true }
    }

    fn pipeline(&mut self) -> Result<(Verdict, Why), Halt> {
        if self.input.bytes.len() > MAX_PACKET {
            return Ok((self.verdict(VerdictKind::Drop, Some(DropReason::RX_TOO_LONG)), Why::TooLong));
        }
        if self.ir.arch == Architecture::Psa {
            return self.psa_ingress(0);
        }
        self.arrive(0);
        self.begin_at_parser()
    }

    fn begin_at_parser(&mut self) -> Result<(Verdict, Why), Halt> {
        let (ir, std) = (self.ir, self.std);
        self.parse_v1model()?;
        self.top("verify_checksum", ir.control(Role::VerifyChecksum))?;
        self.top("ingress", ir.ingress())?;
        if self.copies_after_ingress()
            && let Some(end) = self.copy_after_ingress()?
        {
            return Ok(end);
        }
        if self.standard(std.egress_spec) == u128::from(PortId::DROP.0) {
            return Ok((self.verdict(VerdictKind::Drop, None), Why::DroppedAfter("ingress")));
        }
        self.set_standard(std.egress_port, self.standard(std.egress_spec));
        self.begin_at_egress()
    }

    fn begin_at_egress(&mut self) -> Result<(Verdict, Why), Halt> {
        let (ir, std) = (self.ir, self.std);
        self.requests = replicate::Requests::default();
        self.top("egress", ir.egress())?;
        self.copy_after_egress()?;
        if self.standard(std.egress_spec) == u128::from(PortId::DROP.0) {
            return Ok((self.verdict(VerdictKind::Drop, None), Why::DroppedAfter("egress")));
        }
        self.top("compute_checksum", ir.control(Role::ComputeChecksum))?;
        self.top("deparser", ir.deparser())?;
        let end = self.finish();
        if end.1 == Why::Deparsed
            && let Some(end) = self.recirculate()?
        {
            return Ok(end);
        }
        Ok(end)
    }

    /// The packet's bytes behind the emitted headers, and the verdict from `egress_port`.
    fn finish(&mut self) -> (Verdict, Why) {
        if !self.append_payload() {
            return (self.verdict(VerdictKind::Drop, Some(DropReason::NO_HEADROOM)), Why::NoRoom);
        }
        let port = self.standard(self.std.egress_port) as u16;
        let kind = match PortId(port) {
            PortId::PUNT => VerdictKind::Punt,
            PortId::BUFFER => VerdictKind::Buffer,
            _ => VerdictKind::Forward,
        };
        (self.verdict(kind, None).of_program(), Why::Deparsed)
    }

    /// What was not parsed comes behind the emitted headers; tells whether there is room for all.
    fn append_payload(&mut self) -> bool {
        let (emitted, cursor) = (self.p.out.len(), self.p.cursor);
        let mut out = std::mem::take(&mut self.p.out);
        let bytes = self.payload().len();
        let fits = emitted <= HEADROOM + cursor && emitted + bytes <= MAX_PACKET;
        if fits {
            out.extend_from_slice(self.payload());
        }
        self.p.out = out;
        if !fits {
            return false;
        }
        self.tell(|_| Event::Payload { offset: cursor, bytes });
        if let Some(keep) = self.p.keep_bytes {
            self.p.out.truncate(keep);
        }
        true
    }

    /// The program's own reason and mark, unless another reason is given.
    fn verdict(&self, kind: VerdictKind, reason: Option<DropReason>) -> Verdict {
        let var = |v: Option<VarId>| v.map_or(0, |v| self.p.var(v));
        let reason = reason.map_or_else(|| var(self.ir.intrinsic.drop_reason) as u8, |r| r.0);
        let port = if kind == VerdictKind::Forward { self.standard(self.std.egress_port) as u16 } else { 0 };
        Verdict { kind, reason, port, mark: var(self.ir.intrinsic.mark) as u32 }
    }

    /// Undoes the packet's effects, latest first.
    fn take_back(&mut self) {
        for effect in self.work.journal.drain(..).rev() {
            match effect {
                Effect::Digest => {
                    self.work.digests.pop();
                }
                Effect::Counter(id, i, old) => self.state.counters[id][i] = old,
                Effect::Direct(table, i, old) => self.state.tables[table].direct[i] = old,
                Effect::Meter(id, i, old) => {
                    self.state.meters[id].insert(i, old);
                }
                Effect::EntryMeter(table, cell, old) => {
                    self.state.tables[table].set_meter(cell, Some(old));
                }
                Effect::Shared(id, i, taken) => {
                    if let Some(cells) = &self.state.shared_meters[id] {
                        cells.give_back(i, taken);
                    }
                }
                Effect::Register(id, i, old) => self.state.registers[id][i] = old,
            }
        }
    }

    fn journal(&mut self, effect: Effect) {
        if self.input.mode == Mode::Subset {
            self.work.journal.push(effect);
        }
    }

    fn top(&mut self, name: &'static str, block: &'a Block) -> Result<(), Halt> {
        if block.is_empty() {
            return Ok(());
        }
        self.tell(|_| Event::Block(name));
        match self.block(block) {
            Flow::Halt(halt) => Err(halt),
            Flow::Go | Flow::Break(_) | Flow::Exit | Flow::Error(_) => Ok(()),
        }
    }

    // ---- parser (P4_16 §13) ----

    fn parse_v1model(&mut self) -> Result<(), Halt> {
        if let Some(code) = self.parse(self.ir.parser())? {
            self.set_standard(self.std.parser_error, code.into());
        }
        self.steps = 0;
        Ok(())
    }

    /// Gives the code of a parser error.
    fn parse(&mut self, parser: &'a Parser) -> Result<Option<u32>, Halt> {
        let ir = self.ir;
        self.top("parser", &parser.init)?;
        let Some(mut at) = parser.start else { return Ok(None) };
        loop {
            self.steps += 1;
            if self.steps > STEP_LIMIT {
                return Ok(self.parser_error(self.std.timeout));
            }
            self.tell(|_| Event::State(at));
            let state = &ir.states[at];
            match self.block(&state.body) {
                Flow::Error(code) => return Ok(self.parser_error(code)),
                Flow::Halt(halt) => return Err(halt),
                Flow::Go | Flow::Break(_) | Flow::Exit => {}
            }
            match self.transition(&state.next) {
                Some(Next::State(next)) => at = next,
                Some(Next::Accept | Next::Reject) => return Ok(None),
                None => return Ok(self.parser_error(self.std.no_match)),
            }
        }
    }

    fn parser_error(&mut self, code: u32) -> Option<u32> {
        self.tell(|_| Event::ParserError(code.into()));
        Some(code)
    }

    fn transition(&mut self, transition: &'a Transition) -> Option<Next> {
        let (keys, cases) = match transition {
            Transition::Goto(next) => {
                self.tell(|_| Event::Transition { keys: vec![], next: *next });
                return Some(*next);
            }
            Transition::Select { keys, cases } => (keys, cases),
        };
        let mut values = std::mem::take(&mut self.work.key);
        values.clear();
        values.extend(keys.iter().map(|k| eval(self.ir, self.p, k)));
        let next = cases.iter().find(|c| self.case_matches(c, keys, &values)).map(|c| c.next);
        if let Some(next) = next {
            self.tell(|_| Event::Transition { keys: values.clone(), next });
        }
        self.work.key = values;
        next
    }

    fn case_matches(&self, case: &SelectCase, keys: &[Expr], values: &[u128]) -> bool {
        if let [KeySet::ValueSet(set)] = case.sets[..] {
            let holds =
                |member: &Vec<program::KeyMatch>| member.iter().zip(keys).zip(values).all(|((m, k), v)| matches(m, k.ty.width(), *v));
            return self.state.value_sets[set].iter().any(holds);
        }
        case.sets.iter().zip(values).all(|(set, v)| match set {
            KeySet::Value { value, mask } => v & mask.value() == value.value() & mask.value(),
            KeySet::Range { low, high } => (low.value()..=high.value()).contains(v),
            KeySet::Any => true,
            KeySet::ValueSet(_) => false,
        })
    }

    fn extract(&mut self, header: &HeaderRef, varbit_bits: Option<&Expr>) -> Flow {
        let Some(h) = resolve(self.ir, self.p, header) else {
            return Flow::Error(self.std.stack_bounds);
        };
        let ty = &self.ir.header_types[self.ir.headers[h].ty];
        let end = self.p.cursor + ty.fixed_bits as usize / 8;
        if let Some(stop) = self.parses(end, varbit_bits.is_some()) {
            return stop;
        }
        let varbit_bits = varbit_bits.map_or(0, |e| eval(self.ir, self.p, e));
        if !varbit_bits.is_multiple_of(8) {
            return Flow::Error(self.std.invalid_argument);
        }
        let (offset, rest) = (self.p.cursor, &self.input.bytes[self.p.cursor..]);
        let bits = varbit_bits.saturating_add(ty.fixed_bits.into());
        if bits > 8 * rest.len() as u128 {
            return Flow::Error(self.std.too_short);
        }
        let most = ty.fields.iter().filter(|f| f.varbit).map(|f| f.ty.width()).sum::<u32>();
        if varbit_bits > most.into() {
            return Flow::Error(self.std.header_short);
        }
        self.p.extract(self.ir, h, rest, varbit_bits as usize / 8);
        self.p.cursor += bits as usize / 8;
        if let HeaderRef::Next(s) = header {
            self.p.set_next_index(*s, self.p.next_index(*s) + 1);
        }
        self.tell(|run| Event::Extracted { header: h, offset, fields: run.p.fields(h).to_vec(), varbit: run.p.varbit(h).to_vec() });
        Flow::Go
    }

    fn advance(&mut self, bits: u128) -> Flow {
        if !bits.is_multiple_of(8) {
            return Flow::Error(self.std.invalid_argument);
        }
        if bits > 8 * (self.input.bytes.len() - self.p.cursor) as u128 {
            return Flow::Error(self.std.too_short);
        }
        self.p.cursor += bits as usize / 8;
        Flow::Go
    }

    fn lookahead(&mut self, dst: &LValue, skip: u32) -> Flow {
        let width = width(self.ir, dst);
        let rest = self.input.bytes[self.p.cursor..].get(skip as usize..);
        let Some(rest) = rest.filter(|r| width as usize <= 8 * r.len()) else { return Flow::Error(self.std.too_short) };
        self.assign(dst, get_bits(rest, 0, width));
        Flow::Go
    }

    // ---- statements (P4_16 §12) ----

    fn block(&mut self, block: &'a Block) -> Flow {
        for s in block {
            match self.stmt(s) {
                Flow::Go => {}
                other => return other,
            }
        }
        Flow::Go
    }

    fn stmt(&mut self, s: &'a Stmt) -> Flow {
        match s {
            Stmt::Assign(dst, value) => {
                let value = self.eval(value);
                self.assign(dst, value);
            }
            Stmt::SetValid(h, valid) => {
                if let Some(h) = resolve(self.ir, self.p, h) {
                    self.p.set_valid(h, *valid);
                    self.tell(|_| Event::Validity { header: h, valid: *valid });
                }
            }
            Stmt::CopyHeader { dst, src } => {
                let src = resolve(self.ir, self.p, src);
                if let Some(dst) = resolve(self.ir, self.p, dst) {
                    self.copy_header(dst, src);
                }
            }
            Stmt::CopyVarbit { dst, src } => {
                let src = resolve(self.ir, self.p, src);
                if let Some(dst) = resolve(self.ir, self.p, dst) {
                    self.p.copy_varbit(dst, src);
                    self.tell(|run| Event::Varbit { header: dst, bytes: run.p.varbit(dst).to_vec() });
                }
            }
            Stmt::CopyStack { dst, src } => {
                let ir = self.ir;
                for (d, s) in ir.stacks[*dst].elements.iter().zip(&ir.stacks[*src].elements) {
                    self.copy_header(*d, Some(*s));
                }
                self.p.set_next_index(*dst, self.p.next_index(*src));
            }
            Stmt::Push(stack, n) => self.push(*stack, *n),
            Stmt::Pop(stack, n) => self.pop(*stack, *n),
            Stmt::If(cond, then, els) => return self.block(if self.eval(cond) != 0 { then } else { els }),
            Stmt::Switch { on, cases, default } => {
                let value = self.eval(on);
                let case = cases.iter().find(|(values, _)| values.iter().any(|v| v.value() == value));
                return self.block(case.map_or(default, |(_, body)| body));
            }
            Stmt::Labeled(label, body) => {
                return match self.block(body) {
                    Flow::Break(l) if l == *label => Flow::Go,
                    other => other,
                };
            }
            Stmt::Break(label) => return Flow::Break(*label),
            Stmt::Loop(body) => return self.repeat(body),
            Stmt::Exit => return Flow::Exit,
            Stmt::Apply { table, hit, action_run } => return self.apply(*table, *hit, *action_run),
            Stmt::Extract { header, varbit_bits } => return self.extract(header, varbit_bits.as_ref()),
            Stmt::Advance(bits) => return self.advance(self.eval(bits)),
            Stmt::Lookahead(dst, skip) => return self.lookahead(dst, *skip),
            Stmt::Verify(cond, error) => {
                if self.eval(cond) == 0 {
                    return Flow::Error(error.value() as u32);
                }
            }
            Stmt::Emit(h) => {
                if let Some(h) = resolve(self.ir, self.p, h) {
                    let before = self.p.out.len();
                    if self.p.emit(self.ir, h) {
                        self.tell(|run| Event::Emitted { header: h, bytes: run.p.out.len() - before });
                    }
                }
            }
            Stmt::Extern(e) => {
                if let Some(stop) = self.reach_extern(e) {
                    return stop;
                }
                if let Extern::Service { service, request, answer } = e {
                    return self.call_service(*service, request, answer.as_deref());
                }
                self.external(e);
            }
        }
        Flow::Go
    }

    fn repeat(&mut self, body: &'a Block) -> Flow {
        loop {
            self.steps += 1;
            if self.steps > STEP_LIMIT {
                return Flow::Halt(Halt::Stuck);
            }
            match self.block(body) {
                Flow::Go => {}
                other => return other,
            }
        }
    }

    fn assign(&mut self, dst: &LValue, value: u128) {
        match dst {
            LValue::Var(v) => {
                self.p.set_var(*v, value);
                self.tell(|_| Event::Var { var: *v, value });
            }
            LValue::Field(h, i) => {
                if let Some(h) = resolve(self.ir, self.p, h) {
                    let old = self.p.field(h, *i);
                    let valid = self.p.set_field(h, *i, value);
                    self.tell(|_| Event::Field { header: h, field: *i, old, new: if valid { value } else { old }, valid });
                }
            }
            LValue::Slice(base, hi, lo) => {
                let old = read(self.ir, self.p, base);
                self.assign(base, arith::with_slice(old, *hi, *lo, value));
            }
        }
    }

    fn copy_header(&mut self, dst: HeaderId, src: Option<HeaderId>) {
        self.p.copy_header(dst, src);
        self.tell(|_| Event::Copied { dst, src });
    }

    /// P4_16 §8.18: elements move up by `n`, the first `n` become invalid.
    fn push(&mut self, stack: StackId, n: u32) {
        let ir = self.ir;
        let elements = &ir.stacks[stack].elements;
        let (size, n) = (elements.len(), (n as usize).min(elements.len()));
        for i in (n..size).rev() {
            self.copy_header(elements[i], Some(elements[i - n]));
        }
        for h in &elements[..n] {
            self.p.set_valid(*h, false);
            self.tell(|_| Event::Validity { header: *h, valid: false });
        }
        let next = (self.p.next_index(stack) as usize + n).min(size);
        self.p.set_next_index(stack, next as u32);
    }

    /// P4_16 §8.18: elements move down by `n`, the last `n` become invalid.
    fn pop(&mut self, stack: StackId, n: u32) {
        let ir = self.ir;
        let elements = &ir.stacks[stack].elements;
        let (size, n) = (elements.len(), (n as usize).min(elements.len()));
        for i in 0..size - n {
            self.copy_header(elements[i], Some(elements[i + n]));
        }
        for h in &elements[size - n..] {
            self.p.set_valid(*h, false);
            self.tell(|_| Event::Validity { header: *h, valid: false });
        }
        self.p.set_next_index(stack, self.p.next_index(stack).saturating_sub(n as u32));
    }

    // ---- tables (P4_16 §14.2) ----

    fn apply(&mut self, table: TableId, hit: Option<VarId>, action_run: Option<VarId>) -> Flow {
        if let Some(stop) = self.reach(limits::Place::Table(table)) {
            return stop;
        }
        let ir = self.ir;
        let mut key = std::mem::take(&mut self.work.key);
        key.clear();
        key.extend(ir.tables[table].keys.iter().map(|e| eval(ir, self.p, e)));
        let t = &mut self.state.tables[table];
        let found = t.find(&key, &mut self.work.scratch);
        let (action, args, entry) = match found {
            Some(slot) => (slot.action, &slot.args, Some((slot.cell, slot.priority))),
            None => (t.default.0, &t.default.1, None),
        };
        let code = &ir.actions[action];
        for (param, arg) in code.params.iter().zip(args) {
            self.p.set_var(*param, *arg);
        }
        if T::ON {
            let hit = entry.map(|(_, priority)| priority);
            self.tracer.record(Event::Lookup { table, keys: key.clone(), hit, action, args: args.to_vec() });
        }
        self.work.key = key;
        let is_hit = entry.is_some();
        *(if is_hit { &mut t.hits } else { &mut t.misses }) += 1;
        if !is_hit && self.input.mode == Mode::Subset && ir.program.tables[table].split {
            return Flow::Halt(Halt::Missed(table));
        }
        if let Some(v) = hit {
            self.p.set_var(v, is_hit.into());
        }
        if let Some(v) = action_run {
            self.p.set_var(v, action.as_u32().into());
        }
        let outer = std::mem::replace(&mut self.entry, entry.map(|(cell, _)| (table, cell)));
        let flow = self.block(&code.body);
        self.entry = outer;
        match flow {
            // An action's own labels end in it.
            Flow::Break(_) => Flow::Go,
            other => other,
        }
    }

    // ---- externs (v1model) ----

    fn external(&mut self, e: &'a Extern) {
        match e {
            Extern::Count { counter, index } => self.count(*counter, self.eval(index)),
            Extern::DirectCount(counter) => self.direct_count(*counter),
            Extern::Meter { meter, index, result } => {
                let colour = self.meter(*meter, self.eval(index));
                self.assign_cut(result, colour);
            }
            Extern::DirectMeter { meter, result } => {
                let colour = self.direct_meter(*meter);
                self.assign_cut(result, colour);
            }
            Extern::RegisterRead { register, index, result } => {
                let index = self.eval(index);
                let cell = usize::try_from(index).ok().and_then(|i| self.state.registers[*register].get(i));
                let value = cell.copied().unwrap_or(0);
                self.tell(|_| Event::RegisterRead { register: *register, index, value });
                self.assign(result, value);
            }
            Extern::RegisterWrite { register, index, value } => self.write_register(*register, self.eval(index), self.eval(value)),
            Extern::Hash { result, algorithm, base, data, max } => {
                self.collect(data.iter());
                let hash = digest(*algorithm, self.work.data.bytes());
                let (base, max) = (self.eval(base), self.eval(max));
                self.assign_cut(result, base.wrapping_add(hash.checked_rem(max).unwrap_or(0)));
            }
            Extern::Random { result, low, high } => {
                let (low, high) = (self.eval(low), self.eval(high));
                let value = self.random(low, high);
                self.assign(result, value);
            }
            Extern::MarkToDrop => {
                self.set_standard(self.std.egress_spec, PortId::DROP.0.into());
                self.set_standard(self.std.multicast, 0);
            }
            Extern::VerifyChecksum { condition, data, checksum, algorithm, payload } => {
                if self.eval(condition) != 0 {
                    let found = self.eval(checksum);
                    let computed = cut(self.checksum(*algorithm, data, *payload), checksum.ty.width());
                    self.tell(|_| Event::Verified { found, computed });
                    if found != computed {
                        self.set_standard(self.std.checksum_error, 1);
                    }
                }
            }
            Extern::UpdateChecksum { condition, data, checksum, algorithm, payload } => {
                if self.eval(condition) != 0 {
                    let computed = self.checksum(*algorithm, data, *payload);
                    self.assign_cut(checksum, computed);
                }
            }
            Extern::Digest { receiver, data } => {
                let message = Digest { receiver: self.eval(receiver), values: data.iter().map(|e| self.eval(e)).collect() };
                self.tell(|_| Event::Digest { receiver: message.receiver, values: message.values.clone() });
                if self.work.digests.len() < MAX_DIGESTS && self.digest_leaves() {
                    self.work.digests.push(message);
                    self.journal(Effect::Digest);
                } else {
                    self.work.lost_digests += 1;
                }
            }
            Extern::Assert(cond, _) => {
                if self.eval(cond) == 0 {
                    self.tell(|_| Event::AssertionFailed);
                }
            }
            Extern::Log(text, values) => {
                self.tell(|run| Event::Log { text: text.clone(), values: values.iter().map(|e| run.eval(e)).collect() });
            }
            Extern::Truncate(bytes) => {
                let bytes = usize::try_from(self.eval(bytes)).unwrap_or(usize::MAX);
                self.p.keep_bytes = Some(bytes);
            }
            Extern::Replicate { kind, session, fields } => {
                let session = session.as_ref().map_or(0, |s| self.eval(s));
                let fields = fields.as_ref().map(|f| self.eval(f));
                self.request(*kind, session, fields);
            }
            // It may end the packet's way, so `stmt` has seen to it.
            Extern::Service { .. } => {}
            // All stages are here.
            Extern::Stage(_) => {}
        }
    }

    fn count(&mut self, counter: CounterId, index: u128) {
        let info = &self.ir.program.counters[counter];
        let bytes = self.length(info.length);
        let at = usize::try_from(index).ok().filter(|i| *i < self.state.counters[counter].len());
        if let Some(i) = at {
            let cell = &mut self.state.counters[counter][i];
            let old = *cell;
            add(cell, info.unit, bytes);
            self.journal(Effect::Counter(counter, i, old));
        }
        self.tell(|_| Event::Count { counter, index: Some(index), bytes, counted: at.is_some() });
    }

    fn direct_count(&mut self, counter: CounterId) {
        let info = &self.ir.program.counters[counter];
        let bytes = self.length(info.length);
        // On a miss there is no entry, so nothing to count.
        let entry = self.entry.map(|(t, i)| (t, i as usize)).filter(|(t, i)| *i < self.state.tables[*t].direct.len());
        if let Some((table, i)) = entry {
            let cell = &mut self.state.tables[table].direct[i];
            let old = *cell;
            add(cell, info.unit, bytes);
            self.journal(Effect::Direct(table, i, old));
        }
        self.tell(|_| Event::Count { counter, index: None, bytes, counted: entry.is_some() });
    }

    /// The meter of the entry whose action runs. On a miss there is none, so the packet is green.
    fn direct_meter(&mut self, meter: MeterId) -> u128 {
        let (bytes, units) = self.metered(meter);
        let now_ns = self.input.now_ns;
        let cell = self.entry.and_then(|(table, i)| self.state.tables[table].meters.get_mut(&i).map(|c| (table, i, c)));
        let (colour, old) = match cell {
            Some((table, i, cell)) => {
                let old = *cell;
                (cell.execute(now_ns, units) as u8, Some((table, i, old)))
            }
            None => (0, None),
        };
        if let Some((table, i, old)) = old {
            self.journal(Effect::EntryMeter(table, i, old));
        }
        self.tell(|_| Event::Metered { meter, index: None, bytes, colour, configured: old.is_some() });
        colour.into()
    }

    /// The packet's bytes as a meter measures them, and its cost in the meter's units.
    fn metered(&self, meter: MeterId) -> (u64, u64) {
        let info = &self.ir.program.meters[meter];
        let bytes = self.length(info.length);
        (bytes, if info.unit == CountUnit::Packets { 1 } else { bytes })
    }

    fn meter(&mut self, meter: MeterId, index: u128) -> u128 {
        let (bytes, units) = self.metered(meter);
        let at = u64::try_from(index).ok();
        if let Some(cells) = &self.state.shared_meters[meter] {
            let executed = at.and_then(|i| cells.execute(i, self.input.now_ns, units).map(|(colour, taken)| (i, colour as u8, taken)));
            if let Some((i, _, taken)) = executed {
                self.journal(Effect::Shared(meter, i, taken));
            }
            let colour = executed.map_or(0, |(_, colour, _)| colour);
            self.tell(|_| Event::Metered { meter, index: Some(index), bytes, colour, configured: executed.is_some() });
            return colour.into();
        }
        let cell = at.and_then(|i| self.state.meters[meter].get_mut(&i).map(|c| (i, c)));
        let (colour, old) = match cell {
            Some((i, cell)) => {
                let old = *cell;
                (cell.execute(self.input.now_ns, units) as u8, Some((i, old)))
            }
            None => (0, None),
        };
        if let Some((i, old)) = old {
            self.journal(Effect::Meter(meter, i, old));
        }
        self.tell(|_| Event::Metered { meter, index: Some(index), bytes, colour, configured: old.is_some() });
        colour.into()
    }

    fn write_register(&mut self, register: RegisterId, index: u128, value: u128) {
        let at = usize::try_from(index).ok().filter(|i| *i < self.state.registers[register].len());
        if let Some(i) = at {
            let old = std::mem::replace(&mut self.state.registers[register][i], value);
            self.journal(Effect::Register(register, i, old));
        }
        self.tell(|_| Event::RegisterWritten { register, index, value, written: at.is_some() });
    }

    /// The packet's bytes as a counter or meter measures them.
    fn length(&self, source: LengthSource) -> u64 {
        match source {
            LengthSource::Frame => self.input.bytes.len() as u64,
            LengthSource::Pdu => self.ir.intrinsic.pdu_length.map_or(0, |v| self.p.var(v)) as u64,
        }
    }

    fn checksum(&mut self, algorithm: HashAlgorithm, data: &'a [CheckData], payload: bool) -> u128 {
        self.work.data.clear();
        for d in data {
            match d {
                CheckData::Value(e) => self.work.data.push(eval(self.ir, self.p, e), e.ty.width()),
                CheckData::Varbit(h, _) => {
                    if let Some(h) = resolve(self.ir, self.p, h) {
                        self.work.data.push_bytes(self.p.varbit(h));
                    }
                }
            }
        }
        if payload {
            let payload = match &self.p.payload {
                Some(changed) => changed,
                None => &self.input.bytes[self.p.cursor..],
            };
            self.work.data.push_bytes(payload);
        }
        digest(algorithm, self.work.data.bytes())
    }

    fn collect(&mut self, data: impl Iterator<Item = &'a Expr>) {
        self.work.data.clear();
        for e in data {
            self.work.data.push(eval(self.ir, self.p, e), e.ty.width());
        }
    }

    /// From `low` to `high`, both included; `low` if they are the wrong way round. The generator is splitmix64.
    fn random(&mut self, low: u128, high: u128) -> u128 {
        let mut draw = || {
            self.state.random = self.state.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.state.random;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(z ^ z >> 31)
        };
        let number = draw() << 64 | draw();
        match high.checked_sub(low).map(|span| span.checked_add(1)) {
            None => low,
            Some(None) => number,
            Some(Some(count)) => low + number % count,
        }
    }

    // ---- small things ----

    fn eval(&self, e: &Expr) -> u128 {
        eval(self.ir, self.p, e)
    }

    /// As [`Run::assign`], for a value that may be wider than its place.
    fn assign_cut(&mut self, dst: &LValue, value: u128) {
        self.assign(dst, cut(value, width(self.ir, dst)));
    }

    fn standard(&self, var: Option<VarId>) -> u128 {
        var.map_or(0, |v| self.p.var(v))
    }

    fn set_standard(&mut self, var: Option<VarId>, value: u128) {
        if let Some(var) = var {
            let value = Bits::new(self.ir.vars[var].ty.width(), value).value();
            self.p.set_var(var, value);
            self.tell(|_| Event::Var { var, value });
        }
    }

    fn tell(&mut self, event: impl FnOnce(&Self) -> Event) {
        if T::ON {
            let event = event(self);
            self.tracer.record(event);
        }
    }
}

fn add(cell: &mut Count, unit: CountUnit, bytes: u64) {
    if unit != CountUnit::Bytes {
        cell.packets = cell.packets.wrapping_add(1);
    }
    if unit != CountUnit::Packets {
        cell.bytes = cell.bytes.wrapping_add(bytes);
    }
}
