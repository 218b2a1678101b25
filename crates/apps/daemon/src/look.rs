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
use offload::planner::{Outcome, Place, Why};
use offload::{Decision, Split};
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
use target::{Target, all_entries};
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
    /// For the audit log.
    who: String,
    /// Packets that were fetched.
    fetched: u64,
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
    /// Names of targets, in the order of the chain.
    targets: Vec<String>,
    /// Entries that there are now; of sessions those that the packets may be of.
    live: Live,
    ir: Option<Arc<Ir>>,
}

/// Entries that stories are told by.
#[derive(Default)]
struct Live {
    ops: Vec<Op>,
    /// Tables of which there are more than these.
    cut: Vec<String>,
}

impl Agent {
    /// Begins to look; who looked until now sees no more. The number to ask with.
    pub(crate) fn look(&mut self, query: &LookQuery, who: String) -> u32 {
        let which: fn(&Verdict) -> bool = if query.dropped { |verdict| verdict.kind == VerdictKind::Drop } else { |_| true };
        let ue = query.ue;
        let wanted = move |frame: &[u8], _: PortId| ue.is_none_or(|ue| Whose::read(frame).is_some_and(|whose| whose.is_of(ue)));
        self.end_look("somebody else looks");
        let looking = self.engine.look(query.count as usize, which, Box::new(wanted));
        let id = rand::random();
        self.look = Some(Look { id, who, fetched: 0, looking, asked: Instant::now(), ue });
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
        look.fetched += seen.len() as u64;
        let (left, missed) = (look.looking.left() as u64, look.looking.missed());
        let live = if story && !seen.is_empty() { self.live(&seen) } else { Live::default() };
        let targets = match &self.targets {
            Targets::Whole(target) => vec![target.name().to_owned()],
            Targets::Split(split) => split.targets().map(|target| target.name().to_owned()).collect(),
        };
        let ports = self.ports.iter().map(|port| (port.id, port.name.clone())).collect();
        Ok(Part { seen, left, missed, ports, targets, live, ir: self.ir.clone().filter(|_| story) })
    }

    /// As [`Agent::end_look`], of who looks by this number.
    pub(crate) fn end_look_of(&mut self, id: u32) {
        if self.look.as_ref().is_some_and(|look| look.id == id) {
            self.end_look("told to");
        }
    }

    /// Nobody looks any more: sessions go back to where placement wants them. Whose packets were shown to whom is in the audit log, as the beginning is.
    pub(crate) fn end_look(&mut self, why: &str) {
        let Some(Look { ue, who, fetched, .. }) = self.look.take() else { return };
        let value = format!("ended after {fetched} packets of {}", whose(ue));
        tracing::info!(target: "audit", who, what = "look", value, outcome = why, "audit: look ended");
        if ue.is_some() && matches!(&self.targets, Targets::Split(split) if split.fast_is_ahead()) {
            self.reconsidering = Some(None);
        }
    }

    /// Forgets who has not asked for a while. Sessions that are looked at stay on the base target.
    pub(crate) fn look_tick(&mut self) {
        match &self.look {
            Some(look) if look.asked.elapsed() >= FORGOTTEN => self.end_look("not asked for any more"),
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
                split.decided(Decision::new(seid, Place::Base, Why::LookedAt, Outcome::Done));
            }
        }
    }

    /// Whether a session is on the base target because it is looked at.
    pub(crate) fn is_looked_at(&self, seid: Seid, split: &Split) -> bool {
        let Some(Look { ue: Some(ue), .. }) = &self.look else { return false };
        split.fast_is_ahead() && self.sessions_of(*ue).contains(&seid)
    }

    fn sessions_of(&self, address: IpAddr) -> Vec<Seid> {
        match address {
            IpAddr::V4(address) => self.plane.sessions_of_ue_ipv4(address),
            IpAddr::V6(address) => self.plane.sessions_of_ue_ipv6(address),
        }
    }

    /// Entries by which the story of these packets is told: of their sessions, and all that sessions share.
    fn live(&self, seen: &[Seen]) -> Live {
        let mut sessions = BTreeSet::new();
        for whose in seen.iter().filter_map(|seen| Whose::read(&seen.packet)) {
            sessions.extend(whose.teid.map(|teid| self.plane.sessions_of_teid(teid)).unwrap_or_default());
            sessions.extend([whose.src, whose.dst].into_iter().flat_map(|address| self.sessions_of(address)));
        }
        let ops = sessions.into_iter().filter_map(|seid| self.plane.copy(seid)).flat_map(|copy| copy.ops).collect();
        let mut live = Live { ops, cut: Vec::new() };
        live.add_shared(&*self.targets.target(), ENTRIES);
        live
    }
}

impl Live {
    /// Adds the entries that sessions share, so many of a table at most.
    fn add_shared(&mut self, target: &dyn Target, most: usize) {
        let Some(tables) = target.facets().tables else { return };
        for (id, table) in target.program().tables.iter().filter(|(_, table)| !table.split) {
            let mut held = all_entries(tables, id);
            self.ops.extend(held.by_ref().take(most).map(|held| Op::Insert(held.entry)));
            if held.next().is_some() {
                self.cut.push(table.name.clone());
            }
        }
    }

    /// What a story leaves out.
    fn note(&self) -> String {
        if self.cut.is_empty() {
            return String::new();
        }
        format!("told by the first {ENTRIES} entries of {}: there are more, and one of those may be what it met\n", self.cut.join(", "))
    }
}

/// For the audit log.
pub(crate) fn whose(ue: Option<IpAddr>) -> String {
    ue.map_or("all users".to_owned(), |ue| ue.to_string())
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
            ran_by: 0,
            packet: packet.clone(),
            after: packet.clone(),
        };
        let (ports, live) = (BTreeMap::new(), Live::default());
        Part { seen: (0..packets).map(|_| one()).collect(), left: 1, missed: 0, ports, targets: vec!["x86".into()], live, ir: None }
    }
}

impl Part {
    /// For who asked.
    pub fn tell(self) -> SeenPart {
        let mut interpreter = self.ir.as_ref().and_then(|ir| interpreter(ir, &self.live.ops));
        let note = self.live.note();
        let Part { seen, left, missed, ports, targets, .. } = self;
        let name = |port: PortId| ports.get(&port).cloned().unwrap_or_else(|| port.0.to_string());
        let packets = seen.into_iter().map(|seen| {
            let Verdict { kind, reason, port, .. } = seen.verdict;
            let reasoned = matches!(kind, VerdictKind::Drop | VerdictKind::Punt);
            let reason_name = |code: u8| self.ir.as_ref().map(|ir| ir.program.reason_name(code));
            SeenPacket {
                at_ns: since_1970(&seen),
                port: name(seen.port),
                target: targets.get(usize::from(seen.ran_by)).cloned().unwrap_or_default(),
                verdict: format!("{kind:?}").to_lowercase(),
                reason: reasoned.then(|| reason_name(reason)).flatten(),
                to: (kind == VerdictKind::Forward).then(|| name(PortId(port))),
                packet: hex(&seen.packet),
                after: hex(&seen.after),
                story: interpreter.as_mut().map(|machine| story(machine, &seen) + &note),
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

#[cfg(test)]
mod tests {
    use super::*;
    use lab::bench::sessions;
    use target_asic::Asic;

    /// By the entries of one kind only what a table holds at most so many of is whole.
    #[test]
    fn a_story_says_which_tables_it_did_not_have_whole() {
        let ir = Arc::new(crate::program::compile(std::path::Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap());
        let ids = upf::ids::Ids::bind(&ir.program).unwrap();
        let target = Asic::oracle(ir).unwrap();
        target.apply(&upf::static_rules::initial(&sessions::network(), &ids)).unwrap();
        let with = |most: usize| {
            let mut live = Live::default();
            live.add_shared(&target, most);
            live
        };
        let (all, some) = (with(ENTRIES), with(1));
        assert!(all.cut.is_empty() && all.note().is_empty() && all.ops.len() > some.ops.len());
        let held =
            |name: &str| all.ops.iter().filter(|op| matches!(op, Op::Insert(e) if target.program().tables[e.table].name == name)).count();
        assert!(!some.cut.is_empty() && some.cut.iter().all(|name| held(name) > 1), "{:?}", some.cut);
        assert!(some.note().contains(&some.cut[0]) && some.note().ends_with('\n'), "{}", some.note());
    }

    #[test]
    fn a_packet_is_said_to_be_of_the_target_that_ran_it() {
        let mut part = Part::of_test(3);
        part.targets = vec!["asic".into(), "x86".into()];
        for (seen, ran_by) in part.seen.iter_mut().zip([1, 0, 1]) {
            seen.ran_by = ran_by;
        }
        assert_eq!(part.tell().packets.into_iter().map(|packet| packet.target).collect::<Vec<_>>(), ["x86", "asic", "x86"]);
    }
}
