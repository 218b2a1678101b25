//! Random programs: nothing breaks the machine, and a packet that a subset hands on leaves no trace in it, so that
//! subset and then whole is the same as whole.

use base::{PortId, VerdictKind};
use p4_gen::random::{self, Rng};
use p4_interp::{Machine, Mode, Recorder, render_trace};
use p4_ir::Ir;
use program::Op;
use std::sync::Arc;

const PROGRAMS: u64 = 500;
const PACKETS: u64 = 25;

fn machine(ir: &Ir, seed: u64) -> Machine {
    let mut m = Machine::new(Arc::new(ir.clone())).expect("runs");
    m.apply(&random::entries(ir, seed)).expect("fits");
    m
}

/// All cells of a machine.
fn cells(m: &Machine, seed: u64) -> String {
    let program = &m.ir().program;
    let mut text = String::new();
    for (id, c) in &program.counters {
        (0..c.size.min(8)).for_each(|i| text += &format!("{:?} ", m.counter(id, i)));
    }
    for (id, x) in &program.meters {
        (0..x.size).for_each(|i| text += &format!("{:?} ", m.meter(id, i)));
    }
    for (id, r) in &program.registers {
        (0..r.size).for_each(|i| text += &format!("{:x?} ", m.register(id, i)));
    }
    for op in &random::entries(m.ir(), seed).ops {
        if let Op::Insert(e) = op {
            text += &format!("{:?} ", m.entry_count(e));
        }
    }
    text
}

#[test]
fn what_a_subset_hands_on_leaves_no_trace() {
    let (mut slow_path, mut kept) = (0, 0);
    for seed in 0..PROGRAMS {
        let ir = random::program(seed);
        let (mut whole, mut subset) = (machine(&ir, seed), machine(&ir, seed));
        let mut rng = Rng::new(seed ^ 0xabc);
        for i in 0..PACKETS {
            let packet = random::packet(&mut rng);
            let port = PortId(rng.below(9) as u16);
            let out = whole.process(&packet, port, i * 1000, Mode::Whole);
            let expected = (out.verdict, out.bytes.to_vec());
            let before = cells(&subset, seed);
            let out = subset.process(&packet, port, i * 1000, Mode::Subset);
            let mut got = (out.verdict, out.bytes.to_vec());
            if got.0.kind == VerdictKind::Next {
                slow_path += 1;
                assert_eq!(got.1, packet);
                assert_eq!(cells(&subset, seed), before, "seed {seed}\n{ir}");
                let out = subset.process(&packet, port, i * 1000, Mode::Whole);
                got = (out.verdict, out.bytes.to_vec());
            } else {
                kept += 1;
            }
            assert_eq!(got, expected, "seed {seed}\n{ir}");
            assert_eq!(cells(&subset, seed), cells(&whole, seed), "seed {seed}\n{ir}");
        }
    }
    assert!(slow_path > 500 && kept > 500, "{slow_path} handed on, {kept} kept");
}

#[test]
fn tracing_changes_nothing_and_always_renders() {
    for seed in 0..PROGRAMS / 2 {
        let ir = random::program(seed);
        let (mut plain, mut traced) = (machine(&ir, seed), machine(&ir, seed));
        let mut rng = Rng::new(seed ^ 0xdef);
        for i in 0..PACKETS {
            let packet = random::packet(&mut rng);
            let out = plain.process(&packet, PortId(1), i * 1000, Mode::Whole);
            let expected = (out.verdict, out.bytes.to_vec());
            let mut recorder = Recorder::default();
            let out = traced.process_traced(&packet, PortId(1), i * 1000, Mode::Whole, &mut recorder);
            assert_eq!((out.verdict, out.bytes.to_vec()), expected);
            let text = render_trace(&ir, &recorder.events, true);
            assert!(text.starts_with("packet of ") && text.contains("verdict: "), "{text}");
        }
        assert_eq!(cells(&plain, seed), cells(&traced, seed));
    }
}
