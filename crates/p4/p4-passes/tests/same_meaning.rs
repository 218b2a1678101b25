//! Passes change no meaning: random programs, entries and packets run the same before and after, under the reference
//! interpreter: verdict, bytes, counters, meters' effects, registers and table statistics.

use base::PortId;
use p4_gen::random::{self, Rng};
use p4_interp::{Machine, Mode};
use p4_ir::{Ir, verify};
use p4_passes::{PASSES, Pass, optimise, run};
use program::Op;
use std::sync::Arc;

const PROGRAMS: u64 = 600;
const PACKETS: usize = 25;

/// What anyone outside can see of a program on some packets.
fn observed(ir: &Ir, seed: u64) -> Vec<String> {
    let mut m = Machine::new(Arc::new(ir.clone())).expect("runs");
    let batch = random::entries(ir, seed);
    m.apply(&batch).expect("fits");
    let mut rng = Rng::new(seed ^ 0xfeed);
    let mut seen = Vec::new();
    for i in 0..PACKETS {
        let packet = random::packet(&mut rng);
        let mode = if i % 3 == 0 { Mode::Subset } else { Mode::Whole };
        let out = m.process(&packet, PortId(rng.below(9) as u16), 1000 * i as u64, mode);
        seen.push(format!("{packet:02x?} -> {:?} {:02x?}", out.verdict, out.bytes));
    }
    for (id, c) in &ir.program.counters {
        seen.push((0..c.size.min(8)).map(|i| format!("{:?} ", m.counter(id, i))).collect());
    }
    for (id, r) in &ir.program.registers {
        seen.push((0..r.size).map(|i| format!("{:x?} ", m.register(id, i))).collect());
    }
    for id in ir.program.tables.keys() {
        seen.push(format!("{:?}", m.table_stats(id)));
    }
    for op in &batch.ops {
        if let Op::Insert(e) = op {
            seen.push(format!("{:?}", m.entry_count(e)));
        }
    }
    seen
}

/// Compares each program with what `change` makes of it; gives how many it changed.
fn compare(name: &str, change: impl Fn(&mut Ir) -> bool) -> usize {
    let mut changed = 0;
    for seed in 0..PROGRAMS {
        let before = random::program(seed);
        let mut after = before.clone();
        changed += usize::from(change(&mut after));
        assert_eq!(verify(&after), Ok(()), "{name}, seed {seed}");
        let (a, b) = (observed(&before, seed), observed(&after, seed));
        for (a, b) in a.iter().zip(&b) {
            assert!(a == b, "{name}, seed {seed}:\n  before {a}\n  after  {b}\n--- before\n{before}\n--- after\n{after}");
        }
        assert_eq!(a.len(), b.len());
    }
    changed
}

#[test]
fn every_pass_alone() {
    for Pass { name, run, .. } in PASSES {
        let changed = compare(name, run);
        // A generator that gives the pass nothing to do would test nothing.
        assert!(changed * 20 > PROGRAMS as usize, "{name} changed only {changed} programs");
    }
}

#[test]
fn all_passes_together() {
    compare("all", |ir| {
        optimise(ir).expect("keeps the invariants");
        true
    });
}

#[test]
fn packets_reach_all_kinds_of_ends() {
    let mut ends = std::collections::BTreeMap::<&str, usize>::new();
    for seed in 0..200 {
        for line in observed(&random::program(seed), seed) {
            for kind in ["kind: Forward", "kind: Drop", "kind: Punt", "kind: Buffer", "kind: Next"] {
                *ends.entry(kind).or_default() += usize::from(line.contains(kind));
            }
            *ends.entry("hits").or_default() += usize::from(line.contains("hits") && !line.contains("hits: 0"));
            *ends.entry("misses").or_default() += usize::from(line.contains("misses") && !line.contains("misses: 0"));
        }
    }
    assert!(ends.values().all(|n| *n > 50), "{ends:?}");
}

#[test]
fn a_second_run_finds_nothing_and_the_observer_sees_every_pass() {
    for seed in 0..50 {
        let mut ir = random::program(seed);
        let mut names = Vec::new();
        run(&mut ir, &mut |round, pass, ir| {
            names.push((round, pass.name));
            assert_eq!(verify(ir), Ok(()));
        })
        .expect("keeps the invariants");
        let expected: Vec<&str> = PASSES.iter().map(|p| p.name).collect();
        let first: Vec<&str> = names.iter().filter(|(r, _)| *r == 0).map(|(_, n)| *n).collect();
        assert_eq!(first, expected);
        let text = ir.to_string();
        optimise(&mut ir).expect("keeps the invariants");
        assert_eq!(ir.to_string(), text);
    }
}

#[test]
fn programs_get_smaller() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..100 {
        let mut ir = random::program(seed);
        before += ir.to_string().len();
        optimise(&mut ir).expect("keeps the invariants");
        after += ir.to_string().len();
    }
    assert!(after < before, "{before} to {after}");
}

#[test]
fn broken_input_is_an_error_that_names_the_pass() {
    let mut ir = random::program(1);
    ir.parser_mut().start = None;
    let error = optimise(&mut ir).expect_err("broken");
    assert_eq!(error.pass, "input");
    assert!(error.to_string().contains("no start"), "{error}");
}
