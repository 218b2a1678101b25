//! What does a running UPF do with real packets? `splitplane trace live` and `splitplane capture`: copies of packets that workers have run, with the interpreter's
//! story of each by the entries that the tables have now.
//!
//! One looks at a time, and fetches what was seen a part at a time. Who does not ask any more is forgotten, and workers look at nothing then.
//!
//! *Packets ahead of the engine*, in XDP, are not copied there. Sessions of a UE that is looked at run on the base target meanwhile: they move there and back as
//! placement moves them, without loss. What XDP does with frames of no session is not seen.

use crate::agent::Agent;
use crate::dataplane::Targets;
use base::{PortId, Verdict, VerdictKind};
use engine::{Looking, Seen};
use p4_interp::{Machine, Mode, Recorder, render_trace};
use p4_ir::Ir;
use pfcp::rules::Seid;
use program::{Batch, Op};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use target::all_entries;
use upf::whose::Whose;
use utoipa::ToSchema;

/// Packets that are looked at, at most, and without being asked.
pub const MOST: u32 = 100_000;
/// Who does not ask for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(5);
/// Packets of an answer.
const PART: usize = 128;
/// Entries of a table that a story is told by.
const ENTRIES: usize = 16_384;
/// Cells of counters and registers that a story has: those behind are not shown as counted.
const CELLS: u64 = 1 << 16;

/// Which packets are looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LookQuery {
    /// Only those to and from this address of a UE; of IPv6 the /64 counts.
    #[schema(value_type = Option<String>)]
    pub ue: Option<IpAddr>,
    /// Only those that the program drops.
    #[serde(default)]
    pub dropped: bool,
    /// So many, at most 100,000.
    pub count: u32,
}

impl LookQuery {
    /// What is wrong with it.
    pub fn validate(&self) -> Result<(), String> {
        if (1..=MOST).contains(&self.count) { Ok(()) } else { Err(format!("count: expected 1 to {MOST}")) }
    }
}

/// A packet that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenPacket {
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Port that it came by.
    pub port: String,
    /// Target that ran it.
    pub target: String,
    /// What became of it: `forward`, `drop`, `buffer`, `punt`, ...
    pub verdict: String,
    /// Reason of a drop or a punt.
    pub reason: Option<String>,
    /// Port that a forward leaves by.
    pub to: Option<String>,
    /// The frame as it came, in hexadecimal digits.
    pub packet: String,
    /// As the program left it.
    pub after: String,
    /// The interpreter's story of it, if asked for.
    pub story: Option<String>,
}

/// Some packets that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenPart {
    /// In the order in which each worker saw them.
    pub packets: Vec<SeenPacket>,
    /// How many are still looked for.
    pub left: u64,
    /// Packets that were looked for and not copied, as earlier ones were not fetched in time.
    pub missed: u64,
}

/// Who looks, with the agent.
pub struct Look {
    id: u32,
    looking: Looking,
    asked: Instant,
    ue: Option<IpAddr>,
}

/// What was seen, and by what its story is told.
pub struct Part {
    seen: Vec<Seen>,
    left: u64,
    missed: u64,
    /// Names of ports.
    ports: BTreeMap<PortId, String>,
    target: String,
    /// Entries that there are now; of sessions those that the packets may be of.
    live: Vec<Op>,
    ir: Option<Arc<Ir>>,
}

impl Agent {
    /// Begins to look; who looked until now sees no more. The number to ask with.
    pub(crate) fn look(&mut self, query: &LookQuery) -> u32 {
        let which: fn(&Verdict) -> bool = if query.dropped { |verdict| verdict.kind == VerdictKind::Drop } else { |_| true };
        let ue = query.ue;
        let wanted = move |frame: &[u8], _: PortId| ue.is_none_or(|ue| Whose::read(frame).is_some_and(|whose| whose.is_of(ue)));
        self.end_look();
        let looking = self.engine.look(query.count as usize, which, Box::new(wanted));
        let id = rand::random();
        self.look = Some(Look { id, looking, asked: Instant::now(), ue });
        self.keep_looked_at();
        id
    }

    /// What was seen since the last call, a part of it.
    pub(crate) fn seen(&mut self, id: u32, story: bool) -> Result<Part, String> {
        let Some(look) = self.look.as_mut().filter(|look| look.id == id) else {
            return Err("somebody else looks at packets now, or this was not asked for in time".into());
        };
        look.asked = Instant::now();
        let seen: Vec<Seen> = look.looking.seen.try_iter().take(PART).collect();
        let (left, missed) = (look.looking.left() as u64, look.looking.missed());
        let live = if story && !seen.is_empty() { self.live(&seen) } else { Vec::new() };
        let target = match &self.targets {
            Targets::Whole(target) => target.name().to_owned(),
            Targets::Split(split) if split.fast_is_ahead() => split.base().name().to_owned(),
            Targets::Split(split) => format!("{} or {}", split.fast().name(), split.base().name()),
        };
        let ports = self.ports.iter().map(|port| (port.id, port.name.clone())).collect();
        Ok(Part { seen, left, missed, ports, target, live, ir: self.ir.clone().filter(|_| story) })
    }

    /// As [`Agent::end_look`], of who looks by this number.
    pub(crate) fn end_look_of(&mut self, id: u32) {
        if self.look.as_ref().is_some_and(|look| look.id == id) {
            self.end_look();
        }
    }

    /// Nobody looks any more: sessions go back to where placement wants them.
    pub(crate) fn end_look(&mut self) {
        if let Some(Look { ue: Some(_), .. }) = self.look.take()
            && matches!(&self.targets, Targets::Split(split) if split.fast_is_ahead())
        {
            self.reconsidering = Some(None);
        }
    }

    /// Forgets who has not asked for a while. Sessions that are looked at stay on the base target.
    pub(crate) fn look_tick(&mut self) {
        match &self.look {
            Some(look) if look.asked.elapsed() >= FORGOTTEN => self.end_look(),
            Some(_) => self.keep_looked_at(),
            None => {}
        }
    }

    fn keep_looked_at(&mut self) {
        let (Some(Look { ue: Some(ue), .. }), Targets::Split(split)) = (&self.look, &self.targets) else { return };
        if !split.fast_is_ahead() {
            return;
        }
        for seid in self.sessions_of(*ue) {
            // An error says that the fast target is out of service: the session is on the base target anyhow.
            if split.is_on_fast(seid) {
                let _ = split.move_to_base(seid);
            }
        }
    }

    fn sessions_of(&self, address: IpAddr) -> Vec<Seid> {
        match address {
            IpAddr::V4(address) => self.plane.sessions_of_ue_ipv4(address),
            IpAddr::V6(address) => self.plane.sessions_of_ue_ipv6(address),
        }
    }

    /// Entries by which the story of these packets is told: of their sessions, and all that sessions share.
    fn live(&self, seen: &[Seen]) -> Vec<Op> {
        let mut sessions = BTreeSet::new();
        for whose in seen.iter().filter_map(|seen| Whose::read(&seen.packet)) {
            sessions.extend(whose.teid.map(|teid| self.plane.sessions_of_teid(teid)).unwrap_or_default());
            sessions.extend([whose.src, whose.dst].into_iter().flat_map(|address| self.sessions_of(address)));
        }
        let mut ops: Vec<Op> = sessions.into_iter().filter_map(|seid| self.plane.copy(seid)).flat_map(|copy| copy.ops).collect();
        let target = self.targets.target();
        if let Some(tables) = target.facets().tables {
            let shared = target.program().tables.iter().filter(|(_, table)| !table.split);
            ops.extend(shared.flat_map(|(id, _)| all_entries(tables, id).take(ENTRIES)).map(|held| Op::Insert(held.entry)));
        }
        ops
    }
}

#[cfg(test)]
impl Part {
    /// So many packets, and more are looked for.
    pub fn of_test(packets: usize) -> Part {
        let packet = vec![0; 60];
        let one = || Seen {
            at: SystemTime::UNIX_EPOCH,
            port: PortId(0),
            verdict: Verdict::next(),
            packet: packet.clone(),
            after: packet.clone(),
        };
        let (ports, live) = (BTreeMap::new(), Vec::new());
        Part { seen: (0..packets).map(|_| one()).collect(), left: 1, missed: 0, ports, target: "x86".into(), live, ir: None }
    }
}

impl Part {
    /// For who asked.
    pub fn tell(self) -> SeenPart {
        let mut interpreter = self.ir.as_ref().and_then(|ir| interpreter(ir, &self.live));
        let Part { seen, left, missed, ports, target, .. } = self;
        let name = |port: PortId| ports.get(&port).cloned().unwrap_or_else(|| port.0.to_string());
        let packets = seen.into_iter().map(|seen| {
            let Verdict { kind, reason, port, .. } = seen.verdict;
            let reasoned = matches!(kind, VerdictKind::Drop | VerdictKind::Punt);
            let reason_name = |code: u8| self.ir.as_ref().map(|ir| ir.program.reason_name(code));
            SeenPacket {
                at_ns: since_1970(&seen),
                port: name(seen.port),
                target: target.clone(),
                verdict: format!("{kind:?}").to_lowercase(),
                reason: reasoned.then(|| reason_name(reason)).flatten(),
                to: (kind == VerdictKind::Forward).then(|| name(PortId(port))),
                packet: hex(&seen.packet),
                after: hex(&seen.after),
                story: interpreter.as_mut().map(|machine| story(machine, &seen)),
            }
        });
        SeenPart { packets: packets.collect(), left, missed }
    }
}

/// The program with these entries. Its cells are as at the start: rates have their whole burst.
fn interpreter(ir: &Arc<Ir>, live: &[Op]) -> Option<Machine> {
    let mut ir = Ir::clone(ir);
    ir.program.counters.values_mut().for_each(|counter| counter.size = counter.size.min(CELLS));
    ir.program.registers.values_mut().for_each(|register| register.size = register.size.min(CELLS));
    let mut machine = Machine::new(Arc::new(ir)).ok()?;
    for op in live {
        // The program's own are there already.
        let _ = machine.apply(&Batch { ops: vec![op.clone()] });
    }
    Some(machine)
}

fn story(machine: &mut Machine, seen: &Seen) -> String {
    let mut recorder = Recorder::default();
    let output = machine.process_traced(&seen.packet, seen.port, since_1970(seen), Mode::Whole, &mut recorder);
    let (told, bytes) = (output.verdict, output.bytes.to_vec());
    let ir = machine.ir().clone();
    let mut text = render_trace(&ir, &recorder.events, false);
    if (told.kind, told.reason, told.port) != (seen.verdict.kind, seen.verdict.reason, seen.verdict.port) {
        let named = |verdict: Verdict| format!("{:?} {}", verdict.kind, ir.program.reason_name(verdict.reason)).to_lowercase();
        let _ = writeln!(
            text,
            "the packet's own verdict was another: {}. Entries have changed since, a rate was used up, or a service decided",
            named(seen.verdict)
        );
    } else if bytes != seen.after && matches!(told.kind, VerdictKind::Forward) {
        let _ = writeln!(text, "the packet left with other bytes than these: entries have changed since");
    }
    text
}

fn since_1970(seen: &Seen) -> u64 {
    seen.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
