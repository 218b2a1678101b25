//! Does each step of Memarian et al.'s pipeline (build option STEP) add what the paper adds, on x86 as in the interpreter?

mod common;

use base::{Packet, Verdict, VerdictKind};
use common::*;
use p4_interp::{Machine, Mode};
use program::{Batch, Mirror, Op};
use std::sync::Arc;
use target::{Lane, Replicating, Target};
use target_x86::{Options, X86};

/// The program on x86, with its services if it calls some.
fn native(ir: &p4_ir::Ir, services: &Services) -> Box<dyn Target> {
    let load = |ir: &p4_ir::Ir| {
        let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
    };
    let Some((mut cut, bridge)) = p4_passes::bridge::cut(ir).expect("can be cut") else { return Box::new(load(ir)) };
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    Box::new(Replicating::new(load(&cut), bridge).with_services(&services.all()).unwrap_or_else(|e| panic!("{e}")))
}

fn run(lane: &mut dyn Lane, bytes: &[u8]) -> (Verdict, Vec<u8>, Vec<VerdictKind>) {
    let (mut packets, mut verdicts) = ([Packet::new(bytes, N3)], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    (verdicts[0], packets[0].data().to_vec(), extra.iter().map(|x| x.verdict.kind).collect())
}

#[test]
fn each_step_adds_what_the_paper_adds() {
    let b = Bearer::new(0x42);
    let sdu = [7u8; 84];
    let frame = from_upf(&b, &sdu);
    assert_eq!(frame.len(), 14 + 20 + 8 + 16 + 84);
    let swapped = [&frame[6..12], &frame[..6]].concat();
    for step in 0..=5u8 {
        let ir = Arc::new(ir(Some(step)));
        let services = Services::new();
        services.set(&b);
        let target = native(&ir, &services);
        let mut machine = Machine::new(ir.clone()).expect("runs");
        machine.set_services(Box::new(inline::Inline::new(&ir.program, &services.all()).expect("all are there")));
        let mut batch = Batch { ops: Vec::new() };
        if step >= 3 {
            batch.ops.push(Tables(&ir).downlink(&b));
        }
        if step == 4 {
            batch.ops.push(Op::Mirror { session: 1, to: Some(Mirror::Port(RADIO)) });
        }
        target.apply(&batch).expect("fits");
        machine.apply(&batch).expect("fits");
        let mut lane = target.lane(0);
        for count in 0..3u8 {
            // RLC AM and PDCP of 18 bits, SDAP; numbers from the TEID until there is a table.
            let (high, low) = if step == 2 { (0, 0x42) } else { (0, count) };
            let headers = [0x80, high, low, 0x80, high, low, b.qfi];
            let expected = match step {
                0 => [&swapped[..], &frame[12..]].concat(),
                1 => [&swapped[..], &[8, 0], &sdu[..]].concat(),
                _ => [&swapped[..], &[0x88, 0xb5], &headers, &sdu[..]].concat(),
            };
            let (verdict, bytes, extra) = run(lane.as_mut(), &frame);
            assert_eq!((verdict, bytes), (Verdict::forward(N3), expected.clone()), "step {step}");
            assert_eq!(extra, if step == 4 { vec![VerdictKind::Drop] } else { vec![] }, "step {step}");
            let twin = machine.process(&frame, N3, 1, Mode::Whole);
            assert_eq!((twin.verdict, twin.bytes.to_vec()), (Verdict::forward(N3), expected), "step {step}");
        }
        if step >= 1 {
            let bad = run(lane.as_mut(), &frame[..45]).0;
            assert_eq!((bad.kind, ir.program.reason_name(bad.reason)), (VerdictKind::Drop, "malformed".to_owned()), "step {step}");
        }
        // The lane's and the interpreter's.
        assert_eq!(services.buffer.counters().kept, if step == 5 { 6 } else { 0 }, "step {step}");
    }
}
