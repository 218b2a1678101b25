//! Tables that are looked up in a loop of as many rounds as the packet says agree with the interpreter, up to the rounds that the verifier
//! walks through; a packet that needs more is handed on.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::Mode;
use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_asic::Asic;

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> rounds; bit<8> at; bit<16> sum; bit<128> rest; }
struct headers_t { h_t h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    action add(bit<16> n) { hdr.h.sum = hdr.h.sum + n; }
    table same { key = { hdr.h.at: exact; } actions = { add; NoAction; } default_action = NoAction; }
    table longest { key = { hdr.h.at: lpm; } actions = { add; NoAction; } default_action = NoAction; }
    table masked { key = { hdr.h.at: ternary; } actions = { add; NoAction; } default_action = add(0x4000); }
    apply {
        sm.egress_spec = 1;
        for (bit<8> i = 0; i < hdr.h.rounds; i = i + 1) {
            if (!same.apply().hit) {
                longest.apply();
            }
            masked.apply();
            hdr.h.at = hdr.h.at + 1;
        }
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// Less than 32 times round.
const MOST: u8 = 31;

#[test]
fn tables_in_loops_agree_with_the_interpreter() {
    if !testkit::root_or_skip("tables_in_loops_agree_with_the_interpreter") {
        return;
    }
    let mut ir = p4_check::compile_str("loops.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let ir = Arc::new(ir);
    let (xdp, oracle) = (common::load(&ir, 5, Mode::Subset).unwrap_or_else(|e| panic!("{e}")), Asic::oracle(ir.clone()).unwrap());
    let entry = |table: &str, key: KeyMatch, priority: u32, n: u128| {
        let (table, action) = (ir.program.table(table).unwrap(), ir.program.action("add").unwrap());
        Op::Insert(Entry { table, keys: vec![key], priority, action, args: vec![n] })
    };
    let mut ops: Vec<Op> = (0..256).step_by(3).map(|at| entry("same", KeyMatch::Exact(at), 0, at)).collect();
    ops.extend(
        [(0x40, 2), (0x50, 4), (0xa0, 3)].map(|(value, prefix_len)| entry("longest", KeyMatch::Lpm { value, prefix_len }, 0, 1 + value)),
    );
    ops.extend(
        [(0x01, 0x05), (0x30, 0xf0)].map(|(value, mask)| entry("masked", KeyMatch::Ternary { value, mask }, 1 + mask as u32, 2 + value)),
    );
    for target in [&xdp as &dyn Target, &oracle] {
        target.apply(&Batch { ops: ops.clone() }).unwrap();
    }
    let run = |lane: &mut Box<dyn Lane>, frame: &[u8]| {
        let (mut packets, mut verdicts) = ([Packet::new(frame, PortId(0))], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, 1);
        (verdicts[0].kind, packets[0].data().to_vec())
    };
    let (mut here, mut judge, mut rng) = (xdp.lane(0), oracle.lane(0), common::rng(9));
    let (mut ran, mut slow_path) = (0, 0);
    for _ in 0..4000 {
        let mut frame = [0; 40];
        (frame[0], frame[1]) = (rng.random_range(0..=2 * MOST), rng.random());
        let got = run(&mut here, &frame);
        if frame[0] > MOST {
            assert_eq!(got, (VerdictKind::Next, frame.to_vec()), "as it came");
            slow_path += 1;
        } else {
            assert_eq!(got, run(&mut judge, &frame), "{frame:02x?}");
            ran += 1;
        }
    }
    assert!(ran > 1000 && slow_path > 1000, "{ran} ran, {slow_path} were handed on");
    for table in ["same", "longest", "masked"] {
        let stats = oracle.table_stats(ir.program.table(table).unwrap());
        assert!(stats.hits > 1000 && stats.misses > 1000, "{table}: {stats:?}");
    }
}
