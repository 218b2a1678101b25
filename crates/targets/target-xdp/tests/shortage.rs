//! A table that both targets hold, and that has no room for one entry more: packets that look it up are handed on, all others stay, and the pair
//! with x86 is as x86 alone.

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::{Path, Policy, Split, Unit};
use offload_kit::Ids;
use p4_ir::Ir;
use program::packing::MAX_TUPLES;
use program::{ApplyError, Batch, Entry, KeyMatch, MeterConfig, Op, RuleError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use target_api::{BURST, Lane, Meters, Target};
use target_xdp::{EntryPoints, Options, Xdp};

/// Keys of sessions; odd ones have no class, so that nobody looks the filters up for them.
const KEYS: u32 = 12;
/// Classes that sessions have rules for, the last one without.
const CLASSES: u128 = 3;

/// A small UPF with room for many filters, which are counted. `plain`: packets that no filter is for go on as if there were no such table.
fn program(plain: bool) -> Ir {
    let mut text = offload_kit::SOURCE.replace("size = 64", "size = 1024");
    let counted = [
        ("table filter {", "direct_counter(CounterType.packets) filtered;\n    table filter {"),
        ("size = 1024;", "size = 1024;\n counters = filtered;"),
    ];
    let passed_over = [
        ("table filter {", "action no_filter() { }\n    table filter {"),
        ("actions = { set_class; }", "actions = { set_class; no_filter; }"),
        ("default_action = set_class(0);", "default_action = no_filter();"),
    ];
    for (old, new) in counted.into_iter().chain(passed_over.into_iter().filter(|_| plain)) {
        assert!(text.contains(old));
        text = text.replace(old, new);
    }
    let mut ir = p4_check::compile_str("moves.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn load(ir: &Ir, options: Options) -> Xdp {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap();
    let options = Options { seed: 9, entry: EntryPoints::Lanes, ..options };
    Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn batch(ops: impl IntoIterator<Item = Op>) -> Batch {
    Batch { ops: ops.into_iter().collect() }
}

/// The filter of a mask, which is not 0: each is of another class.
fn filter(ids: &Ids, mask: u8) -> Entry {
    let keys = vec![KeyMatch::Ternary { value: u128::from(mask & 0xaa), mask: mask.into() }];
    Entry { table: ids.filter, keys, priority: mask.into(), action: ids.set_class, args: vec![u128::from(mask) % (CLASSES + 1)] }
}

fn filters(ids: &Ids, masks: impl IntoIterator<Item = u8>) -> Batch {
    batch(masks.into_iter().map(|mask| Op::Insert(filter(ids, mask))))
}

/// Session `key`, with a bucket that some of its packets find empty.
fn session(ids: &Ids, key: u32) -> (Unit, Batch) {
    let args = |class: u128| vec![key.into(), key.into(), 10 * u128::from(key) + class, 1 + class];
    let by_key = |action, args| Entry { table: ids.by_key, keys: vec![KeyMatch::Exact(key.into())], priority: 0, action, args };
    let by_class = |class: u128| {
        let keys = vec![KeyMatch::Exact(key.into()), KeyMatch::Exact(class)];
        Op::Insert(Entry { table: ids.by_class, keys, priority: 0, action: ids.rule, args: args(class) })
    };
    let rate = MeterConfig { cir: 20_000, cbs: 500, pir: 20_000, pbs: 500 };
    let mut ops = vec![Op::Meter { meter: ids.rate, index: key.into(), config: Some(rate) }];
    if key % 2 == 1 {
        ops.push(Op::Insert(by_key(ids.rule, args(0))));
    } else {
        ops.push(Op::Insert(by_key(ids.classify, vec![key.into()])));
        ops.extend((0..CLASSES).map(by_class));
    }
    (Unit { id: key.into(), metered: true, ..Unit::default() }, Batch { ops })
}

/// What a lane makes of a packet.
fn run(lane: &mut dyn Lane, key: u32, kind: u8) -> VerdictKind {
    let (mut packets, mut verdicts) = ([Packet::new(&offload_kit::frame(key, 1, kind, 8), PortId(0))], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1_000);
    verdicts[0].kind
}

/// The pair, and x86 alone.
struct Both {
    ids: Ids,
    xdp: Arc<Xdp>,
    split: Split,
    whole: target_x86::X86,
    lanes: [Box<dyn Lane>; 2],
    rng: ChaCha8Rng,
    now_ns: u64,
    kinds: [u64; 8],
}

impl Both {
    fn new(plain: bool) -> Both {
        let ir = program(plain);
        let xdp = Arc::new(load(&ir, Options::default()));
        let base = offload_kit::native_with(&ir, xdp.share_meters());
        let split = Split::new(Box::new(xdp.clone()), Box::new(base), Policy::Share(1.0)).unwrap();
        let whole = offload_kit::native(&ir);
        let lanes = [split.lane(0), whole.lane(0)];
        Both { ids: Ids::new(&ir.program), xdp, split, whole, lanes, rng: ChaCha8Rng::seed_from_u64(3), now_ns: 1_000, kinds: [0; 8] }
    }

    fn apply(&self, batch: &Batch) {
        self.whole.apply(batch).unwrap();
        self.split.apply(batch).unwrap();
    }

    fn establish(&self, key: u32) {
        let (facts, batch) = session(&self.ids, key);
        self.whole.apply(&batch).unwrap();
        self.split.apply_session(&facts, &batch).unwrap();
    }

    /// Bursts of packets of all sessions, and of one that there is not, through both; gives how many XDP ran, and x86 behind it.
    fn run(&mut self, bursts: u32) -> (u64, u64) {
        let carried = |split: &Split| {
            let by = |path| split.traffic().iter().filter(|((p, _), _)| *p == path).map(|(_, c)| c.packets).sum::<u64>();
            (by(Path::Fast), by(Path::Base))
        };
        let before = carried(&self.split);
        for _ in 0..bursts {
            self.now_ns += self.rng.random_range(0..20_000_000);
            let frames: Vec<_> = (0..self.rng.random_range(1..=BURST))
                .map(|n| offload_kit::frame(self.rng.random_range(1..=KEYS + 1), n as u32, self.rng.random(), self.rng.random_range(0..40)))
                .collect();
            let [pair, whole] = &mut self.lanes;
            let [out, expected] = [pair, whole].map(|lane| {
                let mut packets: Vec<_> = frames.iter().map(|f| Packet::new(f, PortId(0))).collect();
                let mut verdicts = vec![Verdict::default(); frames.len()];
                lane.process(&mut packets, &mut verdicts, self.now_ns);
                let bytes = |(p, v): (&Packet, &Verdict)| (*v, (v.kind != VerdictKind::Drop).then(|| p.data().to_vec()));
                packets.iter().zip(&verdicts).map(bytes).collect::<Vec<_>>()
            });
            assert_eq!(out, expected);
            expected.iter().for_each(|(v, _)| self.kinds[v.kind as usize] += 1);
        }
        for key in 1..=u64::from(KEYS) {
            assert_eq!(self.split.counter(self.ids.usage, key), self.whole.counter(self.ids.usage, key), "session {key}");
            let (ours, its) = (self.split.meter_state(self.ids.rate, key), self.whole.meter_state(self.ids.rate, key));
            assert_eq!(ours, its, "session {key}");
        }
        let after = carried(&self.split);
        (after.0 - before.0, after.1 - before.1)
    }
}

/// For tables that packets pass over when they are empty, and for others.
#[test]
fn a_table_that_is_full_sends_on_who_looks_it_up_and_nobody_else() {
    if !testkit::root_or_skip("a_table_that_is_full_sends_on_who_looks_it_up_and_nobody_else") {
        return;
    }
    for plain in [false, true] {
        let mut both = Both::new(plain);
        let ids = both.ids;
        let most = MAX_TUPLES as u8;
        (1..=KEYS).for_each(|key| both.establish(key));
        both.apply(&filters(&ids, 1..=most));
        assert_eq!(both.xdp.slow_path_tables(), []);
        let (here, behind) = both.run(100);
        // But for those that are nobody's.
        assert!(here > 2000 && behind < here / 4, "{here} packets in XDP, {behind} behind");
        both.apply(&filters(&ids, most + 1..=most + 9));
        assert!(!both.split.is_retired());
        assert_eq!((both.xdp.slow_path_tables(), both.split.refused_by_fast()), (vec![ids.filter], 0));
        assert_eq!(both.split.sessions_on_fast(), KEYS as usize);
        let (here, behind) = both.run(100);
        assert!(here > 1000 && behind > 1000, "{here} packets in XDP, {behind} behind");

        // Changes of it go on, here without effect; of other tables with it; sessions come and go.
        both.apply(&filters(&ids, most + 10..=200));
        both.apply(&batch((1..100).map(|mask| Op::Delete(filter(&ids, mask)))));
        let changed = Entry { args: vec![0], ..filter(&ids, 150) };
        both.apply(&batch([Op::Modify(changed), Op::SetDefault { table: ids.filter, action: ids.set_class, args: vec![1] }]));
        let (facts, of_session) = session(&ids, 3);
        let gone = batch(of_session.ops.into_iter().map(|op| match op {
            Op::Insert(e) => Op::Delete(e),
            Op::Meter { meter, index, .. } => Op::Meter { meter, index, config: None },
            other => other,
        }));
        both.whole.apply(&gone).unwrap();
        both.split.apply_session(&facts, &gone).unwrap();
        assert_eq!(both.split.sessions_on_fast(), KEYS as usize - 1);
        both.run(50);
        both.establish(3);
        let (here, behind) = both.run(100);
        assert!(here > 1000 && behind > 1000, "{here} packets in XDP, {behind} behind");
        assert!(!both.split.is_retired());
        assert_eq!(both.xdp.slow_path_tables(), [ids.filter]);
        assert!(both.kinds[0] > 3000 && both.kinds[3] > 1000, "{:?}", both.kinds);
        // What has been handed on, exactly.
        let mut lane = both.xdp.lane(0);
        for key in 1..=KEYS {
            assert_eq!(run(&mut *lane, key, 0) == VerdictKind::Next, key % 2 == 0, "session {key}");
        }
    }
}

#[test]
fn a_batch_that_fails_hands_nothing_on() {
    if !testkit::root_or_skip("a_batch_that_fails_hands_nothing_on") {
        return;
    }
    let ir = program(false);
    let ids = Ids::new(&ir.program);
    // Room for fewer filters than masks, and for more.
    for (entries, most) in [(16, 16), (256, MAX_TUPLES as u8)] {
        let xdp = load(&ir, Options { entries, ..Options::default() });
        let (_, of_session) = session(&ids, 2);
        xdp.apply(&of_session).unwrap();
        xdp.apply(&filters(&ids, 1..=most)).unwrap();
        let mut lane = xdp.lane(0);
        let before = xdp.table_stats(ids.filter);
        assert_eq!(before.entries, u64::from(most));
        for round in 0..3 {
            let mut ops = filters(&ids, most + 1..=most + 3).ops;
            ops.push(Op::Delete(filter(&ids, 1)));
            ops.extend(of_session.ops[1..2].iter().cloned());
            let error = xdp.apply(&Batch { ops }).unwrap_err();
            assert!(matches!(error, ApplyError::Refused(RuleError::Exists { op: 4, .. })), "{error}");
            assert_eq!((xdp.slow_path_tables(), xdp.table_stats(ids.filter).entries), (Vec::new(), before.entries), "round {round}");
            assert_eq!(run(&mut *lane, 2, 0), VerdictKind::Forward);
            // Rules go on being taken.
            xdp.apply(&batch([Op::Delete(filter(&ids, most))])).unwrap();
            xdp.apply(&batch([Op::Insert(filter(&ids, most))])).unwrap();
            assert_eq!(xdp.slow_path_tables(), []);
        }
        xdp.apply(&filters(&ids, [most + 1])).unwrap();
        assert_eq!(xdp.slow_path_tables(), [ids.filter]);
        assert_eq!(run(&mut *lane, 2, 0), VerdictKind::Next);
        // A batch that fails now leaves that as it is.
        let error = xdp.apply(&batch([Op::Delete(filter(&ids, 1)), of_session.ops[1].clone()])).unwrap_err();
        assert!(matches!(error, ApplyError::Refused(RuleError::Exists { op: 1, .. })), "{error}");
        assert_eq!(xdp.slow_path_tables(), [ids.filter]);
    }
}

/// Sessions' own tables refuse, as ever; and so do all where nobody stands behind, or where that was asked for.
#[test]
fn who_must_hold_a_table_whole_refuses_what_does_not_fit() {
    if !testkit::root_or_skip("who_must_hold_a_table_whole_refuses_what_does_not_fit") {
        return;
    }
    let ir = program(false);
    let ids = Ids::new(&ir.program);
    for (subset, hand_on_full) in [(false, true), (true, false)] {
        let xdp = load(&ir, Options { subset, hand_on_full, ..Options::default() });
        xdp.apply(&filters(&ids, 1..=MAX_TUPLES as u8)).unwrap();
        let error = xdp.apply(&filters(&ids, [MAX_TUPLES as u8 + 1])).unwrap_err();
        assert!(matches!(error, ApplyError::Refused(RuleError::Masks { op: 0, .. })), "{error}");
        assert_eq!(xdp.slow_path_tables(), []);
    }
    let xdp = load(&ir, Options { split_entries: 4, ..Options::default() });
    let odd = |key| session(&ids, key).1;
    for key in [1, 3, 5, 7] {
        xdp.apply(&odd(key)).unwrap();
    }
    let error = xdp.apply(&odd(9)).unwrap_err();
    assert!(matches!(error, ApplyError::Refused(RuleError::Full { op: 1, capacity: 4, .. })), "{error}");
    assert_eq!(xdp.slow_path_tables(), []);
}

/// Counters that refused entries would have had are free again, each once.
#[test]
fn entries_after_one_that_was_refused_have_counters_of_their_own() {
    if !testkit::root_or_skip("entries_after_one_that_was_refused_have_counters_of_their_own") {
        return;
    }
    let ir = program(false);
    let ids = Ids::new(&ir.program);
    let xdp = load(&ir, Options { hand_on_full: false, ..Options::default() });
    let most = MAX_TUPLES as u8;
    xdp.apply(&session(&ids, 2).1).unwrap();
    xdp.apply(&filters(&ids, 1..=most)).unwrap();
    for _ in 0..3 {
        let error = xdp.apply(&filters(&ids, [most + 1])).unwrap_err();
        assert!(matches!(error, ApplyError::Refused(RuleError::Masks { op: 0, .. })), "{error}");
    }
    // Of masks that are there.
    let of = |value: u8, mask: u8| Entry { keys: vec![KeyMatch::Ternary { value: value.into(), mask: mask.into() }], ..filter(&ids, most) };
    let others = [of(0x3f, 0x3f), of(0x1f, 0x3f), of(0x0f, 0x3f)].map(|e| Entry { priority: 200, ..e });
    xdp.apply(&batch(others.iter().cloned().map(Op::Insert))).unwrap();
    let mut lane = xdp.lane(0);
    for (kind, n) in [(0x3f, 1), (0x1f, 2), (0x0f, 4)] {
        (0..n).for_each(|_| assert_eq!(run(&mut *lane, 2, kind), VerdictKind::Forward));
    }
    assert_eq!(others.map(|e| xdp.entry_count(&e).unwrap().packets), [1, 2, 4]);
}
