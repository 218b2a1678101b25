//! What the interpreter says of a packet that a worker has run, by the entries that the tables have now.

use super::{SeenPacket, SeenPart};
use base::{PortId, Verdict, VerdictKind};
use engine::Seen;
use p4_interp::{Machine, Mode, Recorder, render_trace};
use p4_ir::Ir;
use program::{Batch, Op};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;
use target_api::{Target, all_entries};

/// Entries of a table that a story is told by.
pub(crate) const ENTRIES: usize = 16_384;
/// Cells of counters and registers that a story has: those behind are not shown as counted.
const CELLS: u64 = 1 << 16;

/// What was seen, and by what its story is told.
pub struct Part {
    pub(crate) seen: Vec<Seen>,
    pub(crate) left: u64,
    pub(crate) missed: u64,
    /// Names of ports.
    pub(crate) ports: BTreeMap<PortId, String>,
    /// Names of targets, in the order of the chain.
    pub(crate) targets: Vec<String>,
    /// Entries that there are now; of sessions those that the packets may be of.
    pub(crate) live: Live,
    pub(crate) ir: Option<Arc<Ir>>,
}

/// Entries that stories are told by.
#[derive(Default)]
pub(crate) struct Live {
    pub(crate) ops: Vec<Op>,
    /// Tables of which there are more than these.
    pub(crate) cut: Vec<String>,
}

impl Live {
    /// Adds the entries that sessions share, so many of a table at most.
    pub(crate) fn add_shared(&mut self, target: &dyn Target, most: usize) {
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
    use target_asic::Asic;
    use upf_kit::sessions;

    /// By the entries of one kind only what a table holds at most so many of is whole.
    #[test]
    fn a_story_says_which_tables_it_did_not_have_whole() {
        let ir = Arc::new(p4_driver::compile(std::path::Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap());
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
