//! Tables, counters and meters whose memory comes as sessions do: what is in them stays while they grow, beside packets; and where the kernel has no
//! memory, sessions are refused by name, or their packets passed on, and none is lost.

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::{Policy, Split, Unit};
use offload_kit::Ids;
use p4_ir::Ir;
use program::{ApplyError, Batch, Entry, KeyMatch, MeterConfig, Op, RuleError};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use target_api::{BURST, Lane, Meters, Tables, Target};
use target_xdp::{EntryPoints, Options, Xdp};

/// Cells, and entries of each table: many segments of each.
const MANY: u32 = 65_536;

/// The small UPF, with so many sessions and filters.
fn program() -> Ir {
    let mut text = offload_kit::SOURCE.to_owned();
    for (old, new) in [
        ("size = 512", format!("size = {MANY}")),
        ("size = 64;", format!("size = {MANY};")),
        ("counter(256", format!("counter({MANY}")),
        ("meter(256", format!("meter({MANY}")),
        // More of them than there are kinds.
        ("hdr.packet.kind: ternary @name(\"kind\");", "hdr.packet.sequence: ternary;".to_owned()),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &new);
    }
    let mut ir = p4_check::compile_str("moves.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn load(ir: &Ir, options: Options) -> Xdp {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap();
    assert!(text.contains("SP_SEGMENTED(sp_t0,") && text.contains("SP_SEGMENTED(sp_t1,") && text.contains("SP_SEGMENTED(sp_n0,"));
    let options = Options { seed: 9, entry: EntryPoints::Lanes, cells_as_named: true, ..options };
    Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// A session that leaves by a port of its own.
fn rule(ids: &Ids, key: u32, cell: u32, meter: u32, version: u32) -> Entry {
    let args = vec![cell.into(), meter.into(), version.into(), u128::from(port_of(key))];
    Entry { table: ids.by_key, keys: vec![KeyMatch::Exact(key.into())], priority: 0, action: ids.rule, args }
}

fn port_of(key: u32) -> u16 {
    (key % 200) as u16
}

/// Of each session one of its own, and not 0: odd numbers make a permutation.
fn cell_of(key: u32) -> u32 {
    key.wrapping_mul(40_503) & (MANY - 1)
}

fn meter_of(key: u32) -> u32 {
    key.wrapping_mul(12_345) & (MANY - 1)
}

fn batch(ops: impl IntoIterator<Item = Op>) -> Batch {
    Batch { ops: ops.into_iter().collect() }
}

fn run(lane: &mut dyn Lane, frame: &[u8]) -> (Verdict, Vec<u8>) {
    let (mut packets, mut verdicts) = ([Packet::new(frame, PortId(0))], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1_000);
    (verdicts[0], packets[0].data().to_vec())
}

/// A packet that begins when an entry is there finds it, whatever the table does meanwhile.
#[test]
fn a_table_grows_beside_packets_and_each_finds_its_entry() {
    if !testkit::root_or_skip("a_table_grows_beside_packets_and_each_finds_its_entry") {
        return;
    }
    let ir = program();
    let (ids, xdp) = (Ids::new(&ir.program), load(&ir, Options::default()));
    const SESSIONS: u32 = 20_000;
    let (there, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let ran = std::thread::scope(|scope| {
        let packets = scope.spawn(|| {
            let (mut lane, mut source, mut ran) = (xdp.lane(0), testkit::rng(4), BTreeMap::<u32, u64>::new());
            while !stop.load(Ordering::Acquire) {
                let known = there.load(Ordering::Acquire);
                if known == 0 {
                    continue;
                }
                // Often one of the first ones, which have moved most.
                let among = if source.random() { known } else { known.min(500) };
                let key = 1 + source.random_range(0..among);
                let (verdict, _) = run(&mut *lane, &offload_kit::frame(key, 1, 1, 8));
                assert_eq!((verdict.kind, verdict.port), (VerdictKind::Forward, port_of(key)), "{key} of {known}");
                *ran.entry(key).or_default() += 1;
            }
            ran
        });
        let mut source = testkit::rng(5);
        let mut gone = 0;
        while there.load(Ordering::Relaxed) < SESSIONS && !packets.is_finished() {
            let first = there.load(Ordering::Relaxed) + 1;
            let more = source.random_range(1..300).min(SESSIONS + 1 - first);
            let comes = (first..first + more).flat_map(|key| {
                let clear = Op::ClearCounter { counter: ids.usage, index: key.into() };
                [clear, Op::Insert(rule(&ids, key, key, 0, 1))]
            });
            xdp.apply(&batch(comes)).unwrap();
            there.store(first + more - 1, Ordering::Release);
            // Others come and go, and change, so that there are entries behind homes, and free cells.
            let other = |n: u32| rule(&ids, 1_000_000 + n, 1, 0, 1);
            xdp.apply(&batch((gone..gone + 50).map(|n| Op::Insert(other(n))))).unwrap();
            let changes = (1..first).step_by(97).map(|key| Op::Modify(rule(&ids, key, key, 0, first)));
            xdp.apply(&batch(changes.chain((gone..gone + 40).map(|n| Op::Delete(other(n)))))).unwrap();
            gone += 50;
        }
        stop.store(true, Ordering::Release);
        packets.join().unwrap()
    });
    assert!(ran.values().sum::<u64>() > 1000, "{} sessions had packets", ran.len());
    for key in 1..=SESSIONS {
        let counted = xdp.counter(ids.usage, key.into()).packets;
        assert_eq!(counted, ran.get(&key).copied().unwrap_or(0), "{key}");
    }
    let held = Tables::entries(&xdp, ids.by_key, None, usize::MAX);
    let stats = xdp.table_stats(ids.by_key);
    assert_eq!(held.len() as u64, stats.entries);
    let keys: std::collections::BTreeSet<_> = held.iter().map(|held| format!("{:?}", held.entry.keys)).collect();
    assert_eq!(keys.len(), held.len(), "one copy of each is left");
}

/// As x86 alone, whose cells, entries and filters need not grow: rates are of cells that both have, and that come as sessions do.
#[test]
fn a_pair_whose_memory_grows_is_as_x86_alone() {
    if !testkit::root_or_skip("a_pair_whose_memory_grows_is_as_x86_alone") {
        return;
    }
    pair(u32::MAX);
}

/// The same where memory ends on the way.
#[test]
fn a_pair_whose_memory_cannot_grow_is_as_x86_alone() {
    if !testkit::root_or_skip("a_pair_whose_memory_cannot_grow_is_as_x86_alone") {
        return;
    }
    // Some cells of rates and counts have none either.
    pair(6 + target_xdp::sys::possible_cpus());
}

fn pair(most_segments: u32) {
    let ir = program();
    let ids = Ids::new(&ir.program);
    let xdp = Arc::new(load(&ir, Options { most_segments, ..Options::default() }));
    let base = offload_kit::native_with(&ir, xdp.share_meters());
    let split = Split::new(Box::new(xdp.clone()), Box::new(base), Policy::Share(1.0)).unwrap();
    let whole = offload_kit::native(&ir);
    let mut lanes = [split.lane(0), whole.lane(0)];
    let mut source = ChaCha8Rng::seed_from_u64(3);
    const SESSIONS: u32 = 24_000;
    let (mut now_ns, mut kinds) = (1_000, [0u64; 8]);
    let rate = |key: u32| MeterConfig { cir: 20_000 + u64::from(key % 50), cbs: 500, pir: 20_000 + u64::from(key % 50), pbs: 500 };
    for key in 1..=SESSIONS {
        // Cells are all over the place, and some sessions have a class.
        let (cell, meter) = (cell_of(key), meter_of(key));
        let mut ops = vec![
            Op::ClearCounter { counter: ids.usage, index: cell.into() },
            Op::Meter { meter: ids.rate, index: meter.into(), config: Some(rate(key)) },
        ];
        if key % 3 == 0 {
            let keys = vec![KeyMatch::Exact(key.into())];
            let (action, args) = (ids.classify, vec![key.into()]);
            ops.push(Op::Insert(Entry { table: ids.by_key, keys, priority: 0, action, args }));
            ops.extend((0..2).map(|class| {
                let of = rule(&ids, key, cell, meter, 10 * key + class);
                let keys = vec![KeyMatch::Exact(key.into()), KeyMatch::Exact(class.into())];
                Op::Insert(Entry { table: ids.by_class, keys, ..of })
            }));
        } else {
            ops.push(Op::Insert(rule(&ids, key, cell, meter, key)));
        }
        let facts = Unit { id: key.into(), metered: true, ..Unit::default() };
        let comes = Batch { ops };
        whole.apply(&comes).unwrap();
        split.apply_session(&facts, &comes).unwrap();
        if key % 4 == 0 {
            // Filters with three masks: more than their homes at first.
            let (mask, action) = ([0xffff_ffff, 0xffff_fff0, 0xffff_0000u32][key as usize / 4 % 3], ids.set_class);
            let keys = vec![KeyMatch::Ternary { value: u128::from(key.wrapping_mul(0x9e37_79b1) & mask), mask: mask.into() }];
            let filter = batch([Op::Insert(Entry { table: ids.filter, keys, priority: key, action, args: vec![u128::from(key / 4 % 2)] })]);
            assert_eq!(whole.apply(&filter).is_ok(), split.apply(&filter).is_ok());
        }
        if key % 500 != 0 {
            continue;
        }
        for _ in 0..20 {
            now_ns += source.random_range(0..2_000_000);
            let frames: Vec<_> = (0..source.random_range(1..=BURST))
                .map(|_| {
                    // Few sessions, so that some meet the end of their buckets.
                    let of = if source.random() { source.random_range(1..=30) } else { source.random_range(1..=key + 10) };
                    let filtered = source.random_range(1..=key).wrapping_mul(0x9e37_79b1);
                    offload_kit::frame(of, filtered, 0, source.random_range(0..200))
                })
                .collect();
            let [out, expected] = lanes.each_mut().map(|lane| {
                let mut packets: Vec<_> = frames.iter().map(|f| Packet::new(f, PortId(0))).collect();
                let mut verdicts = vec![Verdict::default(); frames.len()];
                lane.process(&mut packets, &mut verdicts, now_ns);
                let bytes = |(p, v): (&Packet, &Verdict)| (*v, (v.kind != VerdictKind::Drop).then(|| p.data().to_vec()));
                packets.iter().zip(&verdicts).map(bytes).collect::<Vec<_>>()
            });
            let differ = out.iter().zip(&expected).position(|(out, expected)| out != expected);
            assert_eq!(differ.map(|at| (&out[at], &expected[at], &frames[at])), None, "with {key} sessions");
            expected.iter().for_each(|(verdict, _)| kinds[verdict.kind as usize] += 1);
        }
    }
    for cell in (0..MANY).step_by(7) {
        assert_eq!(split.counter(ids.usage, cell.into()), whole.counter(ids.usage, cell.into()), "cell {cell}");
    }
    let held = xdp.table_stats(ids.by_key).entries;
    println!("XDP has {held} of {SESSIONS} sessions; {kinds:?}");
    assert!(kinds[0] > 2000 && kinds[3] > 500, "{kinds:?}");
    let state = |key: u32| xdp.meter_state(ids.rate, meter_of(key).into());
    if most_segments == u32::MAX {
        assert_eq!(held, u64::from(SESSIONS));
        assert!((1..=SESSIONS).all(|key| state(key).is_some()));
    } else {
        assert!((1_000..u64::from(SESSIONS)).contains(&held), "{held}");
    }
}

/// By the table's name, as if it were full; what is there stays.
#[test]
fn a_table_that_cannot_grow_refuses_entries_by_name() {
    if !testkit::root_or_skip("a_table_that_cannot_grow_refuses_entries_by_name") {
        return;
    }
    let ir = program();
    let ids = Ids::new(&ir.program);
    // One behind the homes, and none but the first ones before; each core has a row of counts.
    let xdp = load(&ir, Options { most_segments: target_xdp::sys::possible_cpus(), ..Options::default() });
    let mut error = None;
    for key in 1..MANY {
        if let Err(e) = xdp.apply(&batch([Op::Insert(rule(&ids, key, 0, 0, 1))])) {
            error = Some((key, e));
            break;
        }
    }
    let (refused, error) = error.expect("memory has an end");
    assert!(matches!(&error, ApplyError::Refused(RuleError::Full { table, .. }) if table == "by_key"), "{error}");
    assert!(refused > 1000, "{refused}");
    let mut lane = xdp.lane(0);
    for key in 1..refused {
        let (verdict, _) = run(&mut *lane, &offload_kit::frame(key, 1, 1, 8));
        assert_eq!((verdict.kind, verdict.port), (VerdictKind::Forward, port_of(key)), "{key}");
    }
    // A cell that has no memory here: the next target counts there, and polices.
    let far = MANY - 1;
    for (cell, meter) in [(far, 0), (0, far)] {
        let config = MeterConfig { cir: 1000, cbs: 1000, pir: 1000, pbs: 1000 };
        let named = [
            Op::ClearCounter { counter: ids.usage, index: far.into() },
            Op::Meter { meter: ids.rate, index: far.into(), config: Some(config) },
            Op::Insert(rule(&ids, 1, cell, meter, 1)),
        ];
        // Its place is free then.
        xdp.apply(&batch([Op::Delete(rule(&ids, 1, 0, 0, 1))])).unwrap();
        xdp.apply(&batch(named)).unwrap();
        let frame = offload_kit::frame(1, 1, 1, 8);
        let (verdict, bytes) = run(&mut *lane, &frame);
        assert_eq!((verdict, bytes), (Verdict::next(), frame));
    }
    assert_eq!(xdp.counter(ids.usage, far.into()).packets, 0);
}
