//! Do the small programs behave on x86, and on a chip's model before x86, as in the interpreter?

mod common;

use base::{PortId, VerdictKind};
use common::{CHECKED, Cases, Compared, Fleet, Frame, Setup, compile, native};
use offload::{Policy, Unit};
use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use target_asic::Chip;

fn setup(name: &str) -> Setup {
    let ir = compile(name, &[]);
    let (whole, base) = (native(&ir, 1, &[]), native(&ir, 2, &["-O0"]));
    Setup { ir, whole, base, chip: Chip::default(), policy: Policy::None, kernel: false }
}

/// Runs all cases; a failing one says its seed.
fn check(name: &str, cases: u64, case: impl Fn(&Setup, u64) -> Compared) -> (Setup, Compared, bool) {
    let (setup, cases) = (setup(name), Cases::from_env(cases));
    let mut sum = Compared::default();
    for seed in cases.seeds() {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&setup, seed))) {
            Ok(compared) => sum.add(compared),
            Err(failure) => {
                eprintln!("{name}: seed {seed:#x} failed; {CHECKED}");
                std::panic::resume_unwind(failure);
            }
        }
    }
    println!("{name}: {sum:?}");
    (setup, sum, cases.enough())
}

fn random_bytes(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let len = match rng.random_range(0..10) {
        0 => rng.random_range(0..14),
        1 => rng.random_range(0..=base::MAX_PACKET),
        _ => rng.random_range(14..1600),
    };
    (0..len).map(|_| rng.random()).collect()
}

/// Few MAC addresses, so that they meet.
fn mac(rng: &mut ChaCha8Rng) -> u64 {
    match rng.random_range(0..20) {
        0 => 0xffff_ffff_ffff,
        1 => rng.random::<u64>() >> 16,
        _ => 0x0200_0000_0000 | rng.random_range(0..40u64),
    }
}

fn l2switch_case(setup: &Setup, seed: u64) -> Compared {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut fleet = Fleet::new(setup, rng.random_range(0..1 << 50));
    let program = &setup.ir.program;
    let id = |name: &str| program.table(name).unwrap_or_else(|| panic!("no table {name}"));
    let (source, destination) = (id("source"), id("destination"));
    let action = |name: &str| program.action(name).unwrap_or_else(|| panic!("no action {name}"));
    for _ in 0..30 {
        for _ in 0..rng.random_range(0..12) {
            let (mac, port) = (u128::from(mac(&mut rng)), u128::from(rng.random_range(0..6u16)));
            let entry = match rng.random_range(0..3) {
                0 => {
                    let keys = vec![KeyMatch::Exact(mac), KeyMatch::Exact(port)];
                    let action = action(if rng.random_bool(0.5) { "learn" } else { "known" });
                    Entry { table: source, keys, priority: 0, action, args: vec![] }
                }
                1 => {
                    let args = vec![u128::from(rng.random_range(17..19u8))];
                    Entry { table: destination, keys: vec![KeyMatch::Exact(mac)], priority: 0, action: action("drop"), args }
                }
                _ => {
                    // The reserved ports too: 509 buffers, 510 punts, 511 drops.
                    let args = vec![if rng.random_bool(0.2) { 509 + rng.random_range(0..3) } else { port }];
                    Entry { table: destination, keys: vec![KeyMatch::Exact(mac)], priority: 0, action: action("forward"), args }
                }
            };
            let op = match rng.random_range(0..6) {
                0 => Op::Delete(entry),
                1 => Op::Modify(entry),
                _ => Op::Insert(entry),
            };
            let _ = fleet.apply(&Unit::default(), &Batch { ops: vec![op] });
        }
        let frames: Vec<Frame> = (0..rng.random_range(1..=200))
            .map(|_| {
                let mut bytes = random_bytes(&mut rng);
                if bytes.len() >= 12 {
                    bytes[..6].copy_from_slice(&mac(&mut rng).to_be_bytes()[2..]);
                    bytes[6..12].copy_from_slice(&mac(&mut rng).to_be_bytes()[2..]);
                }
                Frame { port: PortId(rng.random_range(0..6)), bytes }
            })
            .collect();
        fleet.wait(rng.random_range(0..1_000_000));
        fleet.run(&frames);
    }
    fleet.finish()
}

#[test]
fn l2switch_is_the_same_everywhere() {
    let (setup, sum, enough) = check("l2switch.p4", 8, l2switch_case);
    if !enough {
        return;
    }
    assert!(sum.packets > 10_000 && sum.batches.0 > 500 && sum.batches.1 > 50, "{sum:?}");
    for (table, (hits, misses)) in &sum.tables {
        assert!(*hits > 500 && *misses > 500, "{table}: {hits} hits, {misses} misses");
    }
    for kind in [VerdictKind::Forward, VerdictKind::Buffer, VerdictKind::Punt, VerdictKind::Drop] {
        assert!(sum.kinds[kind as usize] > 100, "{kind:?}: {sum:?}");
    }
    for (code, name) in setup.ir.program.reasons.iter().filter(|(code, _)| *code != 0) {
        assert!(sum.reason(*code) > 50, "{name}: {sum:?}");
    }
    // What the chip cannot do, punts and buffers, goes to x86; with no session there, all else ends on the chip.
    assert!(sum.paths.0 > 1000 && sum.paths.1 > 100, "{sum:?}");
}

#[test]
fn l2fwd_is_the_same_everywhere() {
    let (_, sum, enough) = check("l2fwd.p4", 4, |setup, seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut fleet = Fleet::new(setup, rng.random_range(0..1 << 50));
        for _ in 0..20 {
            let frames: Vec<Frame> = (0..rng.random_range(1..=100))
                .map(|_| Frame { port: PortId(rng.random_range(0..509)), bytes: random_bytes(&mut rng) })
                .collect();
            for (frame, outcome) in frames.iter().zip(&fleet.run(&frames)) {
                if frame.bytes.len() < 14 {
                    assert_eq!(outcome.verdict.kind, VerdictKind::Drop);
                    continue;
                }
                assert_eq!((outcome.verdict.kind, outcome.verdict.port), (VerdictKind::Forward, frame.port.0));
                assert!(outcome.bytes == [&frame.bytes[6..12], &frame.bytes[..6], &frame.bytes[12..]].concat());
            }
            fleet.wait(rng.random_range(0..1_000_000));
        }
        fleet.finish()
    });
    let kind = |kind: VerdictKind| sum.kinds[kind as usize];
    assert!(!enough || (kind(VerdictKind::Forward) > 2_000 && kind(VerdictKind::Drop) > 50), "{sum:?}");
}

#[test]
fn p4wire_is_the_same_everywhere() {
    let (_, sum, enough) = check("p4wire.p4", 4, |setup, seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut fleet = Fleet::new(setup, rng.random_range(0..1 << 50));
        let program = &setup.ir.program;
        let (table, action) = (program.table("exit_port").unwrap(), program.action("forward").unwrap());
        let mut wires = BTreeMap::from([(0, 1), (1, 0), (2, 3), (3, 2)]);
        for _ in 0..40 {
            // The cases' targets are emptied of what the case has put into them: the first wires stay.
            let (from, to) = (rng.random_range(4..10u16), rng.random_range(0..10u16));
            let entry = Entry { table, keys: vec![KeyMatch::Exact(from.into())], priority: 0, action, args: vec![to.into()] };
            let op = match wires.contains_key(&from) {
                false => Op::Insert(entry),
                true if rng.random_bool(0.5) => Op::Modify(entry),
                true => Op::Delete(entry),
            };
            match op {
                Op::Delete(_) => _ = wires.remove(&from),
                _ => _ = wires.insert(from, to),
            }
            fleet.apply(&Unit::default(), &Batch { ops: vec![op] }).unwrap();
            let frames: Vec<Frame> = (0..rng.random_range(1..=100))
                .map(|_| Frame { port: PortId(rng.random_range(0..10)), bytes: random_bytes(&mut rng) })
                .collect();
            for (frame, outcome) in frames.iter().zip(&fleet.run(&frames)) {
                assert_eq!(outcome.bytes, frame.bytes);
                match wires.get(&frame.port.0) {
                    Some(to) => assert_eq!((outcome.verdict.kind, outcome.verdict.port), (VerdictKind::Forward, *to)),
                    None => assert_eq!(outcome.verdict.kind, VerdictKind::Drop),
                }
            }
            fleet.wait(rng.random_range(0..1_000_000));
        }
        fleet.finish()
    });
    let kind = |kind: VerdictKind| sum.kinds[kind as usize];
    assert!(!enough || (kind(VerdictKind::Forward) > 2_000 && kind(VerdictKind::Drop) > 500), "{sum:?}");
}
