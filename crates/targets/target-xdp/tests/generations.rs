//! Generations end, and are numbered anew, again and again: no packet sees anything of it, nor does whoever changes tables.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use common::{Pair, rng};
use p4_interp::Mode;
use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use target_api::Target;
use target_xdp::{EntryPoints, Options, Xdp};

/// So that they end after few batches.
fn near_the_end(batches: u32) -> Options {
    let first_generation = u32::MAX - 2 - batches;
    Options { seed: 4, subset: false, entry: EntryPoints::Lanes, first_generation, ..Options::default() }
}

fn program(path: &str) -> p4_ir::Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn load(ir: &p4_ir::Ir, options: &Options) -> Xdp {
    Xdp::load(Arc::new(ir.program.clone()), &p4_emit::bpf::emit_xdp(ir).unwrap(), options).unwrap_or_else(|e| panic!("{e}"))
}

/// An exact table, one with masks, and a default action, all of which are replaced by every batch: a packet sees them of one age.
#[test]
fn packets_see_batches_whole_while_generations_begin_anew() {
    if !testkit::root_or_skip("packets_see_batches_whole_while_generations_begin_anew") {
        return;
    }
    let ir = program("crates/lab/offload-kit/src/moves.p4");
    let (table, action) = (|name: &str| ir.program.table(name).unwrap(), |name: &str| ir.program.action(name).unwrap());
    let xdp = load(&ir, &near_the_end(20));
    let entry = |name: &str, keys: Vec<KeyMatch>, of: &str, args: Vec<u128>| Entry {
        table: table(name),
        priority: u32::from(name == "filter"),
        keys,
        action: action(of),
        args,
    };
    // Packets of kind 1 get their class of a filter, others of the default action. The class leads to a rule whose port tells it.
    let group = |age: u128| entry("by_key", vec![KeyMatch::Exact(7)], "classify", vec![age]);
    let filter = |age: u128| entry("filter", vec![KeyMatch::Ternary { value: 1, mask: 1 }], "set_class", vec![age]);
    let default = |age: u128| Op::SetDefault { table: table("filter"), action: action("set_class"), args: vec![age] };
    let rule = |age: u128| entry("by_class", vec![KeyMatch::Exact(age), KeyMatch::Exact(age)], "rule", vec![0, 0, age, age]);
    // A mask that comes and goes, so that the list of masks does.
    let other = entry("filter", vec![KeyMatch::Ternary { value: 0xf0, mask: 0xff }], "set_class", vec![250]);
    let ops = [Op::Insert(group(0)), Op::Insert(filter(0)), default(0), Op::Insert(rule(0))];
    xdp.apply(&Batch { ops: ops.to_vec() }).unwrap();
    let (stop, seen) = (AtomicBool::new(false), [const { AtomicU32::new(0) }; 4]);
    let enough = || seen.iter().all(|n| n.load(Ordering::Relaxed) > 200);
    let mut batches = 0u32;
    std::thread::scope(|scope| {
        let (seen, stop) = (&seen, &stop);
        let lane = scope.spawn(|| {
            let mut lane = xdp.lane(0);
            let mut kind = 0;
            while !stop.load(Ordering::Acquire) {
                kind ^= 1;
                let mut frame = [0; 60];
                (frame[3], frame[8]) = (7, kind);
                let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
                lane.process(&mut packets, &mut verdicts, 1);
                assert_eq!(verdicts[0].kind, VerdictKind::Forward, "half a batch");
                seen[usize::from(verdicts[0].port % 4)].fetch_add(1, Ordering::Relaxed);
            }
        });
        let end = Instant::now() + Duration::from_secs(60);
        while (batches < 600 || !enough()) && Instant::now() < end && !lane.is_finished() {
            let (old, new) = (u128::from(batches % 200), u128::from((batches + 1) % 200));
            let mut ops = vec![Op::Modify(group(new)), Op::Modify(filter(new)), default(new), Op::Insert(rule(new)), Op::Delete(rule(old))];
            ops.push(if batches.is_multiple_of(2) { Op::Insert(other.clone()) } else { Op::Delete(other.clone()) });
            xdp.apply(&Batch { ops }).unwrap();
            batches += 1;
        }
        stop.store(true, Ordering::Release);
    });
    assert!(enough() && batches >= 600, "{seen:?} after {batches} batches");
    assert_eq!(xdp.table_stats(table("by_class")).entries, 1);
}

/// What ended in one round of the numbers does not come back in the next, when they are again as they were then.
#[test]
fn what_has_ended_is_not_seen_when_its_numbers_come_again() {
    if !testkit::root_or_skip("what_has_ended_is_not_seen_when_its_numbers_come_again") {
        return;
    }
    let ir = program("crates/lab/offload-kit/src/moves.p4");
    let (table, action) = (|name: &str| ir.program.table(name).unwrap(), |name: &str| ir.program.action(name).unwrap());
    let xdp = load(&ir, &near_the_end(20));
    let entry = |name: &str, keys: &[u128], of: &str, args: &[u128]| {
        let keys = keys.iter().map(|k| KeyMatch::Exact(*k)).collect();
        Entry { table: table(name), keys, priority: 0, action: action(of), args: args.to_vec() }
    };
    // Packets of kind 1 get an odd class of the filter, others an even one, which is the default; it is their way out.
    let rule = |class: u128| Op::Insert(entry("by_class", &[1, class], "rule", &[0, 0, 0, class]));
    let filter = |age: u128| Entry {
        keys: vec![KeyMatch::Ternary { value: 1, mask: [0x01, 0xff, 0x0f][age as usize % 3] }],
        priority: 1,
        ..entry("filter", &[], "set_class", &[2 * (age % 8) + 1])
    };
    let default = |age: u128| Op::SetDefault { table: table("filter"), action: action("set_class"), args: vec![2 * (age % 8)] };
    let mut ops: Vec<Op> = (0..16).map(rule).collect();
    ops.extend([Op::Insert(entry("by_key", &[7], "classify", &[1])), Op::Insert(filter(0)), default(0)]);
    xdp.apply(&Batch { ops }).unwrap();
    let mut lane = xdp.lane(0);
    let mut age = 0;
    for n in 0..600 {
        // At other times in each round; in between only the numbers go on.
        let ops = if n % 13 == 0 {
            age += 1;
            vec![Op::Delete(filter(age - 1)), Op::Insert(filter(age)), default(age)]
        } else {
            Vec::new()
        };
        xdp.apply(&Batch { ops }).unwrap();
        for kind in [0, 1] {
            let mut frame = [0; 60];
            (frame[3], frame[8]) = (7, kind);
            let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
            lane.process(&mut packets, &mut verdicts, 1);
            let port = 2 * (age % 8) as u16 + u16::from(kind);
            assert_eq!((verdicts[0].kind, verdicts[0].port), (VerdictKind::Forward, port), "kind {kind} after batch {n}, age {age}");
        }
    }
}

/// Everything agrees with the interpreter, which has no such numbers.
#[test]
fn tables_agree_after_generations_have_begun_anew() {
    if !testkit::root_or_skip("tables_agree_after_generations_have_begun_anew") {
        return;
    }
    let ir = Arc::new(program("crates/lab/offload-kit/src/moves.p4"));
    let xdp = load(&ir, &near_the_end(40));
    let mut pair = Pair::of(ir.clone(), xdp, 8, Mode::Whole);
    pair.choose = |rng, action, param| match (action, param) {
        ("rule", "port") => Some(rng.random_range(0..4)),
        ("rule", "cell" | "meter_cell") => Some(rng.random_range(0..6)),
        ("classify", "group") => Some(rng.random_range(0..4)),
        ("set_class", "class") => Some(rng.random_range(0..4)),
        _ => None,
    };
    let mut source = rng(12);
    for _ in 0..12 {
        let mut frame = |_| {
            let mut bytes = vec![0; 40];
            (bytes[3], bytes[8]) = (source.random_range(0..30), source.random_range(0..40));
            (bytes, PortId(0))
        };
        let packets: Vec<_> = (0..300).map(&mut frame).collect();
        pair.run(&packets);
        pair.fill(0.6);
    }
    pair.check_state();
    for table in ["by_key", "filter", "by_class"] {
        let (hits, misses) = pair.hits_and_misses(table);
        assert!(hits > 20 && misses > 20, "{table}: {hits} hits, {misses} misses");
    }
    // The numbers began anew five times at least.
    assert!(pair.accepted > 250 && pair.kinds[0] > 300, "{} batches, {:?}", pair.accepted, pair.kinds);
}
