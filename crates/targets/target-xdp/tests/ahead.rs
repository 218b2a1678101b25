//! XDP on interfaces, ahead of x86, as a pair: a session's rate is one wherever its packets run, and XDP comes back after it fell over, with
//! nothing lost and nothing counted twice. Frames are real, and so is the clock.

#[path = "common/veth.rs"]
mod veth;

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use offload::comeback::Event;
use offload::{Comeback, Policy, RecoverError, Split, Unit};
use offload_kit::{Ids, Session};
use pktio::{AfXdp, Port};
use program::{ApplyError, Batch, Entry, KeyMatch, MeterConfig, Op, RuleError};
use rand::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use target_api::{Ahead, Lane, Recovery, Target};
use target_xdp::sys::monotonic_ns;
use target_xdp::{Options, Xdp};
use veth::{PATIENCE, Veths, receive, send, veths_or_skip};

const NANO: u64 = 1_000_000_000;
const LEN: u64 = 60;
/// Frames of kind 0 leave by interface 1, those of kind 1 by a port that only x86 has.
const HERE: u8 = 0;
const BEYOND: u8 = 1;
/// The program's reason for a packet over its rate.
const RED: DropReason = DropReason(19);

/// The pair, what comes out of XDP's sockets, and the lane that runs it.
struct Pair {
    ids: Ids,
    veths: Veths,
    xdp: Arc<Xdp>,
    split: Split,
    behind: Vec<AfXdp>,
    lane: Box<dyn Lane>,
    sent: u32,
    /// Frames of each session that left, wherever they ran.
    passed: BTreeMap<u32, u64>,
}

impl Pair {
    fn new(veths: Veths) -> Pair {
        Pair::with(veths, false)
    }

    /// `hand_on_full`: one rule too many does not take XDP out of service.
    fn with(veths: Veths, hand_on_full: bool) -> Pair {
        let ir = offload_kit::compile();
        let text = p4_emit::bpf::emit_xdp(&ir).unwrap();
        // Room for four rules.
        let options = Options { entries: 4, seed: 5, hand_on_full, ..Options::default() };
        let xdp = Arc::new(Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}")));
        let x86 = offload_kit::native_with(&ir, xdp.share_meters());
        let behind = veths.attach(&xdp);
        let split = Split::new(Box::new(xdp.clone()), Box::new(x86), Policy::Share(1.0)).unwrap();
        let lane = split.lane(0);
        veths.go_live(&xdp);
        let ids = Ids::new(&ir.program);
        let mut pair = Pair { ids, veths, xdp, split, behind, lane, sent: 0, passed: BTreeMap::new() };
        pair.filter(1, true);
        pair
    }

    /// A rule of operators: packets of that kind are of class 1.
    fn filter(&mut self, kind: u8, there: bool) {
        let keys = vec![KeyMatch::Ternary { value: kind.into(), mask: 0xff }];
        let entry = Entry { table: self.ids.filter, keys, priority: 1, action: self.ids.set_class, args: vec![1] };
        self.split.apply(&Batch { ops: vec![if there { Op::Insert(entry) } else { Op::Delete(entry) }] }).unwrap();
    }

    /// Session `key`: its cell, one bucket of `burst` frames that never fills again, and two ways out.
    fn session(&self, key: u32, burst: u64) -> Session {
        let rule = |class: u32, port: u128| {
            let keys = vec![KeyMatch::Exact(key.into()), KeyMatch::Exact(class.into())];
            let args = vec![key.into(), key.into(), 7, port];
            Entry { table: self.ids.by_class, keys, priority: 0, action: self.ids.rule, args }
        };
        let keys = vec![KeyMatch::Exact(key.into())];
        let classify = Entry { table: self.ids.by_key, keys, priority: 0, action: self.ids.classify, args: vec![key.into()] };
        let rate = MeterConfig { cir: 0, cbs: burst * LEN, pir: 0, pbs: burst * LEN };
        Session { entries: vec![classify, rule(0, 1), rule(1, 2)], meters: [(key.into(), rate)].into(), ..Session::default() }
    }

    fn facts(&self, key: u32) -> Unit {
        Unit { id: key.into(), metered: true, ..Unit::default() }
    }

    fn establish(&mut self, key: u32, burst: u64) {
        let batch = self.session(key, burst).copy(&self.ids);
        self.split.apply_session(&self.facts(key), &batch).unwrap();
    }

    fn send(&mut self, key: u32, kind: u8, n: u32) {
        for _ in 0..n {
            self.sent += 1;
            send(&mut self.veths.far[0], &offload_kit::frame(key, self.sent, kind, LEN as usize - 16));
        }
    }

    /// Sends a frame as long as so many.
    fn send_long(&mut self, key: u32, frames: usize) {
        self.sent += 1;
        send(&mut self.veths.far[0], &offload_kit::frame(key, self.sent, HERE, frames * LEN as usize - 16));
    }

    /// Sends frames that XDP carries.
    fn through_xdp(&mut self, key: u32, n: u32) {
        let first = self.sent + 1;
        self.send(key, HERE, n);
        self.come_out(key, first, n);
    }

    /// The first `n` of those that were sent from `first` on come out, in their order.
    fn come_out(&mut self, key: u32, first: u32, n: u32) {
        for (i, frame) in receive(&mut self.veths.far[1], n as usize).iter().enumerate() {
            assert_eq!(frame[..8], [key.to_be_bytes(), (first + i as u32).to_be_bytes()].concat());
            *self.passed.entry(key).or_default() += 1;
        }
    }

    /// Sends frames that XDP hands on; how many of them x86 lets pass.
    fn through_x86(&mut self, key: u32, kind: u8, n: u32) -> u32 {
        self.send(key, kind, n);
        let mut passed = 0;
        for frame in receive(&mut self.behind[0], n as usize) {
            let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
            self.lane.process(&mut packets, &mut verdicts, monotonic_ns());
            match verdicts[0].kind {
                VerdictKind::Forward => {
                    assert_eq!(verdicts[0].port, 1 + u16::from(kind));
                    passed += 1;
                }
                _ => assert_eq!(verdicts[0], Verdict::drop(RED)),
            }
        }
        *self.passed.entry(key).or_default() += u64::from(passed);
        passed
    }

    /// The flows by which XDP counts the next frames that it has handed on, in order of their coming; nobody runs them.
    fn flows_behind(&mut self, n: usize) -> Vec<u32> {
        let mut packets: Vec<Packet> = (0..n).map(|_| Packet::empty(0)).collect();
        let (mut got, end) = (0, Instant::now() + PATIENCE);
        while got < n {
            assert!(Instant::now() < end, "{got} of {n} frames");
            got += self.behind[0].receive(&mut packets[got..]).unwrap();
        }
        let numbers = packets.iter().map(|p| u32::from_be_bytes(p.data()[4..8].try_into().unwrap()));
        assert!(numbers.is_sorted(), "{packets:?}");
        packets.iter().map(|p| p.flow).collect()
    }

    /// All that was handed on has left: flows are XDP's again.
    fn all_has_left(&self) {
        let drain = self.xdp.begin_drain();
        drain.into_iter().for_each(|drain| self.xdp.finish_drain(drain));
    }

    /// Frames in the bucket.
    fn left_in_bucket(&self, key: u32) -> u64 {
        let state = |target: &dyn Target| target.facets().meters.unwrap().meter_state(self.ids.rate, key.into()).unwrap();
        assert_eq!(state(self.split.fast().unwrap()), state(self.split.base()), "it is one bucket");
        state(self.split.base()).peak / (LEN * NANO)
    }

    fn wait_for_red(&self, n: u64) {
        let end = Instant::now() + PATIENCE;
        let red = || self.xdp.carried().dropped.get(&RED).map_or(0, |count| count.packets);
        while red() < n {
            assert!(Instant::now() < end, "{} of {n} frames are red", red());
            std::thread::yield_now();
        }
        assert_eq!(red(), n);
    }
}

/// Frames run in XDP and on x86 in turn, the session moves, and back: it gets its burst, and not a frame more.
#[test]
fn a_session_gets_its_rate_once_wherever_its_packets_run() {
    veths_or_skip("a_session_gets_its_rate_once_wherever_its_packets_run", |veths| {
        let mut pair = Pair::new(veths);
        pair.establish(1, 70);
        assert!(pair.split.is_on_fast(1) && pair.split.fast_is_ahead());
        pair.through_xdp(1, 30);
        assert_eq!(pair.left_in_bucket(1), 40);
        // XDP has charged these before it finds that they cannot leave from there.
        assert_eq!(pair.through_x86(1, BEYOND, 10), 10);
        assert_eq!(pair.left_in_bucket(1), 30);
        // And these follow them, charged where they run; but for those that are red, which nobody waits for.
        assert_eq!(pair.through_x86(1, HERE, 20), 20);
        assert_eq!(pair.left_in_bucket(1), 10);
        pair.send_long(1, 11);
        pair.wait_for_red(1);
        assert_eq!(pair.left_in_bucket(1), 10);
        pair.all_has_left();
        let first = pair.sent + 1;
        pair.send(1, HERE, 15);
        pair.come_out(1, first, 10);
        pair.wait_for_red(1 + 5);
        // Its bucket is as empty elsewhere.
        pair.split.move_to_base(1).unwrap();
        assert_eq!((pair.through_x86(1, HERE, 5), pair.passed[&1]), (0, 70));
        // Another rate, of which x86 takes some; the rest is what XDP finds.
        let other = pair.session(1, 20);
        let rate = Op::Meter { meter: pair.ids.rate, index: 1, config: Some(other.meters[&1]) };
        pair.split.apply_session(&pair.facts(1), &Batch { ops: vec![rate] }).unwrap();
        assert_eq!(pair.through_x86(1, HERE, 5), 5);
        for round in 0..10 {
            pair.split.move_to_fast(&pair.facts(1), &other.copy(&pair.ids)).unwrap();
            pair.all_has_left();
            pair.through_xdp(1, 1);
            pair.split.move_to_base(1).unwrap();
            assert_eq!(pair.left_in_bucket(1), 14 - round, "no burst comes by moving");
        }
        pair.split.move_to_fast(&pair.facts(1), &other.copy(&pair.ids)).unwrap();
        pair.all_has_left();
        let first = pair.sent + 1;
        pair.send(1, HERE, 9);
        pair.come_out(1, first, 5);
        pair.wait_for_red(1 + 5 + 4);
        assert_eq!((pair.passed[&1], pair.split.counter(pair.ids.usage, 1).packets), (90, 90));
    });
}

/// A rule finds no room in XDP, which falls over; sessions run on x86, one more begins there, and when there is room again all are XDP's, with
/// the buckets and counts that they had.
#[test]
fn after_it_fell_over_it_comes_back_with_its_sessions_and_their_counts() {
    veths_or_skip("after_it_fell_over_it_comes_back_with_its_sessions_and_their_counts", |veths| {
        let mut pair = Pair::new(veths);
        let mut comeback = Comeback::default();
        pair.establish(1, 1000);
        pair.through_xdp(1, 10);
        (2..=4).for_each(|kind| pair.filter(kind, true));
        assert_eq!(comeback.tick(&pair.split, NANO), None);
        pair.filter(5, true);
        assert!(pair.split.is_retired() && !pair.split.is_on_fast(1));
        assert_eq!(comeback.tick(&pair.split, NANO), Some(Event::FellOver { retry_in_ns: NANO }));
        pair.establish(2, 1000);
        assert_eq!((pair.through_x86(1, HERE, 7), pair.through_x86(2, HERE, 5)), (7, 5));
        // Not in the meantime, and then in vain.
        assert_eq!(comeback.tick(&pair.split, 2 * NANO - 1), None);
        let event = comeback.tick(&pair.split, 2 * NANO);
        let Some(Event::StaysOut { attempts: 1, why, retry_in_ns }) = event else { panic!("{event:?}") };
        assert!(matches!(why, RecoverError::Apply(ApplyError::Refused(RuleError::Full { .. }))), "{why}");
        assert_eq!(retry_in_ns, 2 * NANO);
        assert_eq!(pair.through_x86(1, BEYOND, 3), 3);
        pair.filter(3, false);
        assert_eq!(comeback.tick(&pair.split, 3 * NANO), None);
        assert_eq!(comeback.tick(&pair.split, 4 * NANO), Some(Event::CameBack { attempts: 2, out_ns: 3 * NANO }));
        // In service, but nobody is there yet.
        assert_eq!(pair.through_x86(1, HERE, 2), 2);
        let sessions: BTreeMap<u64, (Unit, Batch)> =
            [1, 2].into_iter().map(|key| (key.into(), (pair.facts(key), pair.session(key, 1000).copy(&pair.ids)))).collect();
        let executed = comeback.bring_back(&pair.split, 4 * NANO, |seid| sessions.get(&seid).cloned());
        assert_eq!((executed.to_fast, executed.failed), (2, 0));
        assert!(pair.split.is_on_fast(1) && pair.split.is_on_fast(2));
        pair.all_has_left();
        pair.through_xdp(1, 20);
        pair.through_xdp(2, 20);
        // The rules are there too: class 1 leaves elsewhere.
        assert_eq!(pair.through_x86(1, BEYOND, 1), 1);
        let counts = [1u32, 2].map(|key| (pair.split.counter(pair.ids.usage, key.into()).packets, 1000 - pair.left_in_bucket(key)));
        assert_eq!(counts, [(43, 43), (25, 25)]);
        assert_eq!(counts.map(|(packets, _)| packets), [pair.passed[&1], pair.passed[&2]]);
        assert_eq!((pair.split.retirements(), comeback.came_back()), (1, 1));
    });
}

/// One rule too many, while sessions run: all their packets look the rules up, so x86 runs them, but they stay where they are. When XDP begins
/// anew, with fewer rules, it carries them again.
#[test]
fn a_rule_too_many_is_for_x86_until_xdp_begins_anew() {
    veths_or_skip("a_rule_too_many_is_for_x86_until_xdp_begins_anew", |veths| {
        let mut pair = Pair::with(veths, true);
        pair.establish(1, 1000);
        pair.through_xdp(1, 10);
        (2..=4).for_each(|kind| pair.filter(kind, true));
        assert_eq!(pair.xdp.slow_path_tables(), []);
        pair.through_xdp(1, 10);
        pair.filter(5, true);
        assert!(!pair.split.is_retired() && pair.split.is_on_fast(1));
        assert_eq!(pair.xdp.slow_path_tables(), [pair.ids.filter]);
        assert_eq!((pair.through_x86(1, HERE, 20), pair.through_x86(1, BEYOND, 5)), (20, 5));
        // Less does not help: XDP does not know what it lacks.
        pair.filter(5, false);
        pair.all_has_left();
        assert_eq!(pair.through_x86(1, HERE, 20), 20);
        assert_eq!((pair.split.counter(pair.ids.usage, 1).packets, 1000 - pair.left_in_bucket(1)), (65, 65));

        pair.xdp.retire();
        pair.xdp.restart().unwrap();
        assert_eq!(pair.xdp.slow_path_tables(), []);
        pair.xdp.apply(&pair.session(1, 1000).copy(&pair.ids)).unwrap();
        pair.xdp.serve().unwrap();
        pair.all_has_left();
        pair.through_xdp(1, 30);
    });
}

/// A session moves to XDP while its frames wait in sockets: nothing overtakes them, and XDP runs the flow from the first frame on that finds
/// none before it, which may be at once.
#[test]
fn a_flow_comes_to_xdp_when_what_came_before_has_left_and_not_sooner() {
    veths_or_skip("a_flow_comes_to_xdp_when_what_came_before_has_left_and_not_sooner", |veths| {
        let mut pair = Pair::new(veths);
        let in_flight = pair.split.facets().ahead.unwrap().in_flight();
        assert_eq!(pair.xdp.begin_drain(), None, "nothing was handed on by flow");
        pair.establish(1, 10_000);
        pair.split.move_to_base(1).unwrap();
        // Without entries XDP does not know whose frames these are.
        pair.send(1, HERE, 5);
        pair.split.move_to_fast(&pair.facts(1), &pair.session(1, 10_000).copy(&pair.ids)).unwrap();
        pair.send(1, HERE, 5);
        let flows = pair.flows_behind(10);
        assert!(flows[..5].iter().all(|flow| *flow == 0), "{flows:?}");
        let flow = flows[5];
        assert!(flow != 0 && flows[5..].iter().all(|f| *f == flow), "{flows:?}");
        // All that was counted has left, but the first five may not have.
        flows[5..].iter().for_each(|flow| in_flight.sent(*flow));
        pair.send(1, HERE, 1);
        assert_eq!(pair.flows_behind(1), [flow]);
        pair.all_has_left();
        // The last one has not been counted as left: it is lost.
        pair.through_xdp(1, 3);

        // It waits for some that XDP cannot send.
        pair.send(1, BEYOND, 3);
        pair.send(1, HERE, 2);
        let flow = pair.flows_behind(5)[0];
        assert_eq!(flow / 2, flows[5] / 2, "the same row, in another turn");
        for _ in 0..4 {
            in_flight.sent(flow);
            pair.send(1, HERE, 1);
            assert_eq!(pair.flows_behind(1), [flow]);
        }
        (0..4).for_each(|_| in_flight.sent(flow));
        pair.send(1, HERE, 1);
        assert_eq!(pair.flows_behind(1), [flow], "one has not left yet");
        (0..2).for_each(|_| in_flight.sent(flow));
        pair.through_xdp(1, 3);

        // It wakes: packets that wait are let go with this change, and XDP does not know of them.
        let facts = Unit { wakes: true, ..pair.facts(1) };
        let ops = pair.session(1, 10_000).entries.into_iter().skip(1).map(Op::Modify).collect();
        pair.split.apply_session(&facts, &Batch { ops }).unwrap();
        pair.send(1, HERE, 1);
        let flow = pair.flows_behind(1)[0];
        in_flight.sent(flow);
        pair.send(1, HERE, 1);
        assert_eq!(pair.flows_behind(1)[0] / 2, flow / 2);
        pair.all_has_left();
        pair.through_xdp(1, 3);

        // What is lost is waited for no longer than until everything has left.
        pair.send(1, BEYOND, 1);
        assert_eq!(pair.flows_behind(1)[0] / 2, flow / 2);
        pair.all_has_left();
        pair.through_xdp(1, 3);
        // A millisecond after it was handed on, there is nothing to wait for any more.
        let end = Instant::now() + PATIENCE;
        while let Some(drain) = pair.xdp.begin_drain() {
            assert!(Instant::now() < end, "there always is something to wait for");
            pair.xdp.finish_drain(drain);
        }
        // Another flow waits for nothing of this one.
        pair.establish(2, 10_000);
        pair.send(1, BEYOND, 1);
        assert_eq!(pair.flows_behind(1)[0] / 2, flow / 2);
        pair.through_xdp(2, 3);
    });
}

/// Entries are changed and go again while they are pending, and their cells become others'.
#[test]
fn pending_entries_are_modified_and_deleted_like_others() {
    veths_or_skip("pending_entries_are_modified_and_deleted_like_others", |veths| {
        let mut pair = Pair::new(veths);
        let mut chance = testkit::rng(11);
        // XDP has room for no more.
        (1..=2).for_each(|key| pair.establish(key, 10_000));
        let (mut moved, mut changed) = (0, 0);
        for round in 0..600u32 {
            let key = chance.random_range(1..=2);
            match chance.random_range(0..4) {
                0 if pair.split.is_on_fast(key.into()) => pair.split.move_to_base(key.into()).unwrap(),
                0 | 1 if !pair.split.is_on_fast(key.into()) => {
                    pair.split.move_to_fast(&pair.facts(key), &pair.session(key, 10_000).copy(&pair.ids)).unwrap();
                    moved += 1;
                }
                2 => {
                    let ops = pair.session(key, 10_000).entries.into_iter().map(Op::Modify).collect();
                    pair.split.apply_session(&pair.facts(key), &Batch { ops }).unwrap();
                    changed += 1;
                }
                _ if round % 7 == 0 => pair.all_has_left(),
                _ => {}
            }
        }
        assert!(moved > 60 && changed > 100, "{moved} moves, {changed} changes");
        assert!(!pair.split.is_retired());
        for key in 1..=2 {
            let entries = pair.session(key, 10_000).copy(&pair.ids);
            if !pair.split.is_on_fast(key.into()) {
                pair.split.move_to_fast(&pair.facts(key), &entries).unwrap();
            }
        }
        pair.all_has_left();
        (1..=2).for_each(|key| pair.through_xdp(key, 3));
        for key in 1..=2 {
            pair.split.move_to_base(key.into()).unwrap();
            assert_eq!(pair.through_x86(key, HERE, 2), 2);
        }
        assert_eq!(pair.xdp.table_stats(pair.ids.by_key).entries, 0);
    });
}
