//! The whole story of one packet: what a [`Tracer`] hears while the interpreter works, and its text.

use crate::ServiceFate;
use base::{Verdict, VerdictKind};
use p4_ir::{ActionId, CounterId, HeaderId, Ir, MeterId, Namer, Next, RegisterId, ServiceId, StateId, TableId, VarId};
use program::{BitField, ParamInfo};
use std::fmt::Write;

/// Hears of every step. With `ON` false no event is even made: the packet path pays nothing.
pub trait Tracer {
    /// Whether [`Tracer::record`] is to be called.
    const ON: bool;

    /// One step.
    fn record(&mut self, event: Event);
}

/// Hears nothing.
pub struct NoTrace;

impl Tracer for NoTrace {
    const ON: bool = false;

    fn record(&mut self, _: Event) {}
}

/// Keeps all events.
#[derive(Default, Debug)]
pub struct Recorder {
    /// In the order in which they happened.
    pub events: Vec<Event>,
}

impl Tracer for Recorder {
    const ON: bool = true;

    fn record(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// One step of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packet came.
    Received {
        /// Port it came in by.
        port: u16,
        /// Bytes.
        bytes: usize,
        /// Time of arrival in nanoseconds.
        now_ns: u64,
    },
    /// A parser state was entered.
    State(StateId),
    /// A header was extracted.
    Extracted {
        /// The header.
        header: HeaderId,
        /// First byte of it in the packet.
        offset: usize,
        /// Values of its fields (zero for a varbit one).
        fields: Vec<u128>,
        /// Bytes of its varbit field.
        varbit: Vec<u8>,
    },
    /// A transition was taken.
    Transition {
        /// Values of the select's keys; none for a plain transition.
        keys: Vec<u128>,
        /// Where to.
        next: Next,
    },
    /// Parsing ended with an error.
    ParserError(u128),
    /// A block of the pipeline begins.
    Block(&'static str),
    /// A table was looked up; its action runs next.
    Lookup {
        /// The table.
        table: TableId,
        /// Values of its key fields.
        keys: Vec<u128>,
        /// Priority of the entry that matched; `None` for a miss.
        hit: Option<u32>,
        /// What runs.
        action: ActionId,
        /// Its data.
        args: Vec<u128>,
    },
    /// A field got a value.
    Field {
        /// The header.
        header: HeaderId,
        /// Position of the field.
        field: u32,
        /// What it was.
        old: u128,
        /// What it is; unchanged if the header is invalid.
        new: u128,
        /// Whether the header is valid, so that the write counts.
        valid: bool,
    },
    /// A header became valid or invalid.
    Validity {
        /// The header.
        header: HeaderId,
        /// What it is now.
        valid: bool,
    },
    /// A header was copied into another.
    Copied {
        /// To.
        dst: HeaderId,
        /// From.
        src: Option<HeaderId>,
    },
    /// The varbit field of a header got a value.
    Varbit {
        /// The header.
        header: HeaderId,
        /// Its bytes now.
        bytes: Vec<u8>,
    },
    /// A variable got a value.
    Var {
        /// The variable.
        var: VarId,
        /// What it is now.
        value: u128,
    },
    /// A counter counted, or would have.
    Count {
        /// The counter.
        counter: CounterId,
        /// The cell; of a direct counter `None`.
        index: Option<u128>,
        /// Bytes of the packet as the counter measures them.
        bytes: u64,
        /// Whether there is such a cell.
        counted: bool,
    },
    /// A meter was executed.
    Metered {
        /// The meter.
        meter: MeterId,
        /// The cell; of a direct meter `None`.
        index: Option<u128>,
        /// Bytes of the packet as the meter measures them.
        bytes: u64,
        /// 0 green, 1 yellow, 2 red.
        colour: u8,
        /// Whether the cell is configured; otherwise it is green.
        configured: bool,
    },
    /// A register was read.
    RegisterRead {
        /// The register.
        register: RegisterId,
        /// The cell.
        index: u128,
        /// What it holds.
        value: u128,
    },
    /// A register was written.
    RegisterWritten {
        /// The register.
        register: RegisterId,
        /// The cell.
        index: u128,
        /// What it holds now.
        value: u128,
        /// Whether there is such a cell.
        written: bool,
    },
    /// A checksum was verified.
    Verified {
        /// What the packet says.
        found: u128,
        /// What the data sum up to.
        computed: u128,
    },
    /// A digest message would go to the control plane.
    Digest {
        /// Receiver's number.
        receiver: u128,
        /// What is sent.
        values: Vec<u128>,
    },
    /// A copy, or a packet sent round, begins a pass of its own.
    Pass {
        /// As BMv2 numbers it: 1 and 2 clones, 4 recirculated, 5 multicast, 6 resubmitted.
        instance_type: u32,
    },
    /// The program asked for a copy or another round.
    Asked(p4_ir::Replicate),
    /// A service was called, or something was sent to it.
    Called {
        /// The service.
        service: ServiceId,
        /// The request's bytes.
        request: Vec<u8>,
        /// The answer's bytes; `None` of what was sent.
        answer: Option<Vec<u8>>,
        /// What it decided.
        fate: ServiceFate,
    },
    /// `assert` or `assume` did not hold.
    AssertionFailed,
    /// `log_msg`.
    Log {
        /// Text, with `{}` for the values.
        text: String,
        /// Values.
        values: Vec<u128>,
    },
    /// The deparser appended a header.
    Emitted {
        /// The header.
        header: HeaderId,
        /// Its bytes.
        bytes: usize,
    },
    /// What follows the emitted headers.
    Payload {
        /// First byte of it in the packet as received.
        offset: usize,
        /// Bytes.
        bytes: usize,
    },
    /// The packet is decided.
    Decided {
        /// How.
        verdict: Verdict,
        /// Why.
        why: Why,
    },
}

/// Why a packet got its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It went through the whole pipeline.
    Deparsed,
    /// `egress_spec` was 511 after this block.
    DroppedAfter(&'static str),
    /// PSA: `drop` was set behind this block.
    DropSet(&'static str),
    /// PSA: no port has that number.
    NoPort,
    /// A miss in a split table: the next target has it.
    SplitMiss(TableId),
    /// This target does not buffer or punt.
    NotHere,
    /// A service has dropped it.
    ByService,
    /// Too many rounds of loops.
    Stuck,
    /// The deparsed packet does not fit.
    NoRoom,
    /// Longer than any packet may be, on receipt.
    TooLong,
    /// It continues in another pass: resubmitted, recirculated, multicast.
    SentOn(&'static str),
    /// The multicast group has no copies.
    EmptyGroup(u16),
}

/// The text of a trace: one line a step, names for ids, values in hexadecimal. Assignments to variables are shown where
/// the architecture looks at the variable, and with `all_vars` everywhere.
pub fn render_trace(ir: &Ir, events: &[Event], all_vars: bool) -> String {
    let mut r = Renderer { ir, names: Namer::new(ir), out: String::new(), all_vars };
    events.iter().for_each(|e| r.event(e));
    r.out
}

struct Renderer<'a> {
    ir: &'a Ir,
    names: Namer<'a>,
    out: String,
    all_vars: bool,
}

impl Renderer<'_> {
    fn event(&mut self, event: &Event) {
        let text = match event {
            Event::Received { port, bytes, now_ns } => format!("packet of {bytes} bytes on port {port} at {now_ns} ns"),
            Event::State(s) => format!("parser state {}", self.state(*s)),
            Event::Extracted { header, offset, fields, varbit } => self.extracted(*header, *offset, fields, varbit),
            Event::Transition { keys, next } if keys.is_empty() => format!("  -> {}", self.next(*next)),
            Event::Transition { keys, next } => format!("  select ({}) -> {}", list(keys), self.next(*next)),
            Event::ParserError(code) => format!("  parser error {}", self.error(*code)),
            Event::Block(name) => (*name).to_owned(),
            Event::Lookup { table, keys, hit, action, args } => self.lookup(*table, keys, *hit, *action, args),
            Event::Field { header, field, old, new, valid } => {
                let name = format!("{}.{}", self.names.header(*header), self.names.field(Some(self.ir.headers[*header].ty), *field));
                match valid {
                    true => format!("    {name}: {old:#x} -> {new:#x}"),
                    false => format!("    {name}: not written, the header is invalid"),
                }
            }
            Event::Validity { header, valid } => {
                format!("    {} is now {}", self.names.header(*header), if *valid { "valid" } else { "invalid" })
            }
            Event::Copied { dst, src } => {
                let src = src.map_or_else(|| "an invalid header".to_owned(), |s| self.names.header(s));
                format!("    {} is now a copy of {src}", self.names.header(*dst))
            }
            Event::Varbit { header, bytes } => {
                let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                format!("    varbit field of {}: 0x{hex}", self.names.header(*header))
            }
            Event::Var { var, value } => {
                if !self.all_vars && !self.is_intrinsic(*var) {
                    return;
                }
                format!("    {} = {}", self.names.var(*var), self.value(*var, *value))
            }
            Event::Count { counter, index, bytes, counted } => {
                let cell = cell(*index);
                let note = if *counted { format!("+1 packet, +{bytes} bytes") } else { "no such cell".into() };
                format!("    counter {}{cell}: {note}", self.names.counter(*counter))
            }
            Event::Metered { meter, index, bytes, colour, configured } => {
                let colour = ["green", "yellow", "red"].get(usize::from(*colour)).unwrap_or(&"?");
                let note = if *configured { "" } else { " (not configured)" };
                format!("    meter {}{}: {bytes} bytes, {colour}{note}", self.names.meter(*meter), cell(*index))
            }
            Event::RegisterRead { register, index, value } => {
                format!("    register {}[{index}] is {value:#x}", self.names.register(*register))
            }
            Event::RegisterWritten { register, index, value, written } => {
                let note = if *written { format!("= {value:#x}") } else { "no such cell".into() };
                format!("    register {}[{index}] {note}", self.names.register(*register))
            }
            Event::Verified { found, computed } if found == computed => format!("    checksum {found:#x} is right"),
            Event::Verified { found, computed } => format!("    checksum {found:#x} is wrong, computed {computed:#x}"),
            Event::Digest { receiver, values } => format!("    digest to {receiver}: {}", list(values)),
            Event::Pass { instance_type } => format!("pass of a copy (instance_type {instance_type})"),
            Event::Asked(kind) => format!("    {}", kind.name()),
            Event::Called { service, request, answer, fate } => self.called(*service, request, answer.as_deref(), *fate),
            Event::AssertionFailed => "    assertion failed".into(),
            Event::Log { text, values } => format!("    log: {}", fill(text, values)),
            Event::Emitted { header, bytes } => format!("  emit {} ({bytes} bytes)", self.names.header(*header)),
            Event::Payload { offset, bytes } => format!("  payload: {bytes} bytes from byte {offset} of the packet"),
            Event::Decided { verdict, why } => self.decided(verdict, *why),
        };
        self.out.push_str(&text);
        self.out.push('\n');
    }

    fn extracted(&self, header: HeaderId, offset: usize, fields: &[u128], varbit: &[u8]) -> String {
        let ty = &self.ir.header_types[self.ir.headers[header].ty];
        let mut text = format!("  extract {} at byte {offset}:", self.names.header(header));
        for (f, v) in ty.fields.iter().zip(fields) {
            if f.varbit {
                put(&mut text, format_args!(" {}=0x", f.name));
                varbit.iter().for_each(|b| put(&mut text, format_args!("{b:02x}")));
            } else {
                put(&mut text, format_args!(" {}={v:#x}", f.name));
            }
        }
        text
    }

    fn called(&self, service: ServiceId, request: &[u8], answer: Option<&[u8]>, fate: ServiceFate) -> String {
        let info = &self.ir.program.services[service];
        let fields = |names: &[ParamInfo], places: Vec<BitField>, bytes: &[u8]| {
            let all = names.iter().zip(places).map(|(f, place)| format!("{}={:#x}", f.name, place.get(bytes)));
            all.collect::<Vec<_>>().join(", ")
        };
        let request = fields(&info.request, info.request_fields(), request);
        match (answer, fate) {
            (None, _) => format!("  send {} ({request})", info.name),
            (Some(_), ServiceFate::Drop(reason)) => {
                format!("  call {} ({request}): drop, reason {}", info.name, self.ir.program.reason_name(reason.0))
            }
            (Some(answer), ServiceFate::Answered) => {
                format!("  call {} ({request}) -> ({})", info.name, fields(&info.answer, info.answer_fields(), answer))
            }
        }
    }

    fn lookup(&self, table: TableId, keys: &[u128], hit: Option<u32>, action: ActionId, args: &[u128]) -> String {
        let info = &self.ir.program.tables[table];
        let keys: Vec<String> = info.keys.iter().zip(keys).map(|(k, v)| format!("{}={v:#x}", k.name)).collect();
        let result = match hit {
            Some(0) => "hit".to_owned(),
            Some(priority) => format!("hit at priority {priority}"),
            None => "miss".into(),
        };
        let action = &self.ir.program.actions[action];
        let args: Vec<String> = action.params.iter().zip(args).map(|(p, a)| format!("{}={a:#x}", p.name)).collect();
        format!("  table {} ({}): {result} -> {}({})", info.full_name, keys.join(", "), action.full_name, args.join(", "))
    }

    fn decided(&self, v: &Verdict, why: Why) -> String {
        let reason = if v.reason == 0 { String::new() } else { format!(", reason {}", self.ir.program.reason_name(v.reason)) };
        let mark = if v.mark == 0 { String::new() } else { format!(", mark {:#x}", v.mark) };
        let kind = match v.kind {
            VerdictKind::Forward => format!("forward to port {}", v.port),
            VerdictKind::Buffer => "buffer".into(),
            VerdictKind::Shape => "wait for a rate".into(),
            VerdictKind::Punt => "punt".into(),
            VerdictKind::Drop => "drop".into(),
            VerdictKind::Next => "next target".into(),
            VerdictKind::Kept => "kept by a service".into(),
            VerdictKind::Resume => format!("to stage {} of a chain", v.port),
        };
        let why = match why {
            Why::Deparsed => String::new(),
            Why::DroppedAfter(block) => format!(" (egress_spec is 511 after {block})"),
            Why::DropSet(block) => format!(" (`drop` is set after {block})"),
            Why::NoPort => " (no port has the number in `egress_port`)".into(),
            Why::SplitMiss(table) => format!(" (miss in split table {})", self.names.table(table)),
            Why::NotHere => " (this target neither buffers, punts nor calls services)".into(),
            Why::ByService => " (by a service)".into(),
            Why::Stuck => " (too many rounds of a loop)".into(),
            Why::NoRoom => " (the deparsed packet does not fit)".into(),
            Why::TooLong => " (too long on receipt)".into(),
            Why::SentOn(how) => format!(" in this pass ({how})"),
            Why::EmptyGroup(group) => format!(" (multicast group {group} has no copies)"),
        };
        format!("verdict: {kind}{reason}{mark}{why}")
    }

    fn is_intrinsic(&self, var: VarId) -> bool {
        let i = &self.ir.intrinsic;
        i.standard.values().any(|v| *v == var) || [i.drop_reason, i.mark, i.pdu_length].contains(&Some(var))
    }

    /// A variable's value, by name where it is a reason.
    fn value(&self, var: VarId, value: u128) -> String {
        let i = &self.ir.intrinsic;
        match u8::try_from(value) {
            Ok(code) if i.drop_reason == Some(var) && code != 0 => self.ir.program.reason_name(code),
            _ if i.standard.get("parser_error") == Some(&var) => self.error(value),
            _ => format!("{value:#x}"),
        }
    }

    fn error(&self, code: u128) -> String {
        let name = usize::try_from(code).ok().and_then(|c| self.ir.program.errors.get(c));
        name.map_or_else(|| format!("{code:#x}"), String::clone)
    }

    fn state(&self, s: StateId) -> String {
        self.ir.states.get(s).map_or_else(|| s.to_string(), |s| s.name.clone())
    }

    fn next(&self, next: Next) -> String {
        match next {
            Next::State(s) => self.state(s),
            Next::Accept => "accept".into(),
            Next::Reject => "reject".into(),
        }
    }
}

fn cell(index: Option<u128>) -> String {
    index.map_or_else(String::new, |i| format!("[{i}]"))
}

fn list(values: &[u128]) -> String {
    values.iter().map(|v| format!("{v:#x}")).collect::<Vec<_>>().join(", ")
}

/// `text` with each `{}` replaced by the next value; values left over follow it.
fn fill(text: &str, values: &[u128]) -> String {
    let mut values = values.iter();
    let mut pieces = text.split("{}");
    let mut out = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        match values.next() {
            Some(v) => put(&mut out, format_args!("{v}")),
            None => out.push_str("{}"),
        }
        out.push_str(piece);
    }
    values.for_each(|v| put(&mut out, format_args!(" {v}")));
    out
}

/// Writing to a `String` cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
