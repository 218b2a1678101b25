//! A fast target that falls over comes back, again and again, with its sessions; not too often; and what packets and counters show is what the
//! interpreter alone shows.

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::comeback::Event;
use offload::planner::{Place, Why};
use offload::{Comeback, Executed, Path, Policy, Split, Unit};
use offload_kit::{Ids, Session};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, MeterConfig, Op};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_asic::{Asic, Chip};
use target_chaos::{Chaos, Faults};

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// A pair whose fast target fails, under a static policy, beside the interpreter.
struct Node {
    ids: Ids,
    chaos: Arc<Chaos>,
    split: Split,
    lane: Box<dyn Lane>,
    oracle: Asic,
    oracle_lane: Box<dyn Lane>,
    comeback: Comeback,
    sessions: BTreeMap<u64, Session>,
    now_ns: u64,
    sent: u32,
    returned: Executed,
    /// By why and outcome, the sessions of which the split said so.
    decided: BTreeMap<(&'static str, &'static str), u64>,
}

impl Node {
    fn new(ir: &Arc<Ir>, policy: Policy) -> Node {
        let asic = Asic::load(ir.clone(), Chip { session_entries: 64 }).unwrap();
        let chaos = Arc::new(Chaos::new(Box::new(asic), 11));
        let split = Split::new(Box::new(chaos.clone()), Box::new(Asic::oracle(ir.clone()).unwrap()), policy).unwrap();
        let oracle = Asic::oracle(ir.clone()).unwrap();
        Node {
            ids: Ids::new(&ir.program),
            chaos,
            lane: split.lane(0),
            split,
            oracle_lane: oracle.lane(0),
            oracle,
            comeback: Comeback::default(),
            sessions: BTreeMap::new(),
            now_ns: 5 * S,
            sent: 0,
            returned: Executed::default(),
            decided: BTreeMap::new(),
        }
    }

    fn facts(seid: u64) -> Unit {
        Unit { id: seid, metered: true, ..Unit::default() }
    }

    fn apply(&self, seid: u64, ops: Vec<Op>) {
        let batch = Batch { ops };
        self.oracle.apply(&batch).unwrap();
        self.split.apply_session(&Node::facts(seid), &batch).unwrap();
    }

    fn establish(&mut self, seid: u64) {
        let keys = vec![KeyMatch::Exact(seid.into())];
        let entry = Entry { table: self.ids.by_key, keys, priority: 0, action: self.ids.rule, args: vec![seid.into(), seid.into(), 7, 1] };
        let rate = MeterConfig { cir: 4_000, cbs: 200, pir: 8_000, pbs: 600 };
        let session = Session { entries: vec![entry], meters: [(seid, rate)].into(), ..Session::default() };
        self.apply(seid, session.copy(&self.ids).ops);
        self.sessions.insert(seid, session);
    }

    fn end(&mut self, seid: u64) {
        let session = self.sessions.remove(&seid).unwrap();
        let cell = |config| Op::Meter { meter: self.ids.rate, index: seid, config };
        let mut ops: Vec<Op> = session.entries.into_iter().map(Op::Delete).collect();
        ops.push(cell(None));
        self.apply(seid, ops);
    }

    /// A packet to each session, and what the agent does meanwhile.
    fn tick(&mut self) -> Option<Event> {
        let seids: Vec<u64> = self.sessions.keys().copied().collect();
        for seid in seids {
            self.sent += 1;
            let frame = offload_kit::frame(seid as u32, self.sent, 0, 30);
            let run = |lane: &mut Box<dyn Lane>| {
                let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
                lane.process(&mut packets, &mut verdicts, self.now_ns);
                (verdicts[0], if verdicts[0].kind == VerdictKind::Drop { Vec::new() } else { packets[0].data().to_vec() })
            };
            assert_eq!(run(&mut self.lane), run(&mut self.oracle_lane), "session {seid} at {} ms", self.now_ns / MS);
        }
        self.now_ns += 50 * MS;
        let event = self.comeback.tick(&self.split, self.now_ns);
        let copy = |seid: u64| Some((Node::facts(seid), self.sessions.get(&seid)?.copy(&self.ids)));
        let executed = self.comeback.bring_back(&self.split, self.now_ns, copy);
        self.returned.to_fast += executed.to_fast;
        self.returned.failed += executed.failed;
        for of in self.split.take_decisions() {
            *self.decided.entry((of.why.name(), of.outcome.name())).or_default() += of.sessions;
            assert!((of.id == 0) == (of.why == Why::OutOfService) && (of.to == Place::Fast) == (of.why == Why::Policy), "{of:?}");
        }
        event
    }

    /// Ticks until something happens, for that long at most; and how long it took.
    fn until_event(&mut self, most_ns: u64) -> (Option<Event>, u64) {
        let begin_ns = self.now_ns;
        while self.now_ns < begin_ns + most_ns {
            if let Some(event) = self.tick() {
                return (Some(event), self.now_ns - begin_ns);
            }
        }
        (None, most_ns)
    }

    /// A change that both must hold, so that a dead one is found out.
    fn touch(&self) {
        let (action, args) = self.split.program().tables[self.ids.filter].default_action.clone();
        self.apply(0, vec![Op::SetDefault { table: self.ids.filter, action, args }]);
    }

    fn compare_counts(&self) {
        for cell in 0..256 {
            let both = [self.oracle.counter(self.ids.usage, cell), self.split.counter(self.ids.usage, cell)];
            assert_eq!(both[0], both[1], "cell {cell}");
        }
    }
}

#[test]
fn it_is_tried_ever_less_often_and_at_once_when_it_has_been_well_for_a_while() {
    let mut node = Node::new(&offload_kit::compile(), Policy::Share(1.0));
    (1..=4).for_each(|seid| node.establish(seid));
    assert_eq!(node.until_event(S), (None, S));
    node.chaos.kill();
    node.touch();
    // The attempts' waits.
    assert_eq!(node.tick(), Some(Event::FellOver { retry_in_ns: S }));
    let mut waits = Vec::new();
    for attempt in 1..=8 {
        let (event, took_ns) = node.until_event(100 * S);
        let Some(Event::StaysOut { attempts, .. }) = event else { panic!("{event:?}") };
        assert_eq!(attempts, attempt);
        waits.push(took_ns / S);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    node.chaos.heal();
    let (event, _) = node.until_event(100 * S);
    assert!(matches!(event, Some(Event::CameBack { attempts: 9, out_ns }) if out_ns >= 180 * S), "{event:?}");
    assert_eq!(node.split.sessions_on_fast(), 4);
    // It falls over again at once: it is tried less soon than at first. After a good minute it is trusted again.
    for (well_ns, wait_ns) in [(S, 60 * S), (61 * S, S), (2 * S, 2 * S), (2 * S, 4 * S), (61 * S, S)] {
        assert_eq!(node.until_event(well_ns).0, None);
        node.chaos.kill();
        node.touch();
        assert_eq!(node.tick(), Some(Event::FellOver { retry_in_ns: wait_ns }));
        let (event, took_ns) = node.until_event(100 * S);
        assert_eq!((event, took_ns), (Some(Event::CameBack { attempts: 1, out_ns: wait_ns }), wait_ns));
    }
    assert_eq!((node.split.retirements(), node.comeback.came_back()), (6, 6));
    node.compare_counts();
}

/// It falls over at random, does not answer, and refuses to serve; sessions begin and end all the time. In the end all that the policy wants is
/// there, and at every moment packets are those of the interpreter.
#[test]
fn sessions_come_back_as_the_policy_wants_and_are_counted_once() {
    for (policy, wants) in [(Policy::Share(1.0), true), (Policy::None, false)] {
        let mut node = Node::new(&offload_kit::compile(), policy);
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let (mut next, mut came_back, mut stayed_out) = (1, 0, 0);
        for step in 0..30_000 {
            if step % 1000 == 0 {
                let some = [0.0, 0.0, 0.005, 0.03][rng.random_range(0..4)];
                let faults = Faults { before: some, after: some, partly: some, death: some, restart: 0.9, serve: 0.2, ..Faults::default() };
                node.chaos.set_faults(faults);
            }
            if step % 20 == 0 {
                if node.sessions.len() < 40 {
                    while node.sessions.contains_key(&next) {
                        next = next % 255 + 1;
                    }
                    node.establish(next);
                } else {
                    let some = rng.random_range(0..node.sessions.len());
                    node.end(*node.sessions.keys().nth(some).unwrap());
                }
                node.touch();
            }
            match node.tick() {
                Some(Event::CameBack { .. }) => came_back += 1,
                Some(Event::StaysOut { .. }) => stayed_out += 1,
                _ => {}
            }
        }
        node.chaos.heal();
        while node.split.is_retired() {
            node.tick();
        }
        (0..100).for_each(|_| drop(node.tick()));
        node.compare_counts();
        let on_fast = node.sessions.keys().filter(|seid| node.split.is_on_fast(**seid)).count();
        assert_eq!(on_fast, if wants { node.sessions.len() } else { 0 });
        assert!(node.sessions.len() > 20 && came_back > 5 && stayed_out > 5, "{} {came_back} {stayed_out}", node.sessions.len());
        let tally = node.chaos.tally();
        assert!(tally.of("serving refused") > 3 && tally.of("deaths") > 5, "{tally:?}");
        let by_path = |path| node.split.traffic().iter().filter(|((of, _), _)| *of == path).map(|(_, count)| count.packets).sum::<u64>();
        // Each return is told, those that failed too, and so is each retirement with sessions.
        let decided = |why, outcome| node.decided.get(&(why, outcome)).copied().unwrap_or_default();
        let Executed { to_fast, failed, .. } = node.returned;
        assert_eq!(
            (decided("policy", "done"), decided("policy", "failed") + decided("policy", "no_room")),
            (to_fast.into(), failed.into())
        );
        assert_eq!(decided("out_of_service", "done") > 100, wants, "{:?}", node.decided);
        if wants {
            assert!(node.returned.to_fast > 100 && by_path(Path::Fast) > 20_000, "{:?}", node.returned);
        } else {
            assert_eq!((node.returned, by_path(Path::Fast)), (Executed::default(), 0));
        }
        assert!(by_path(Path::Base) > 20_000);
    }
}
