//! What a deparser emits under a condition is of this packet and not of the one before it.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::Mode;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_asic::Asic;

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header a_t { bit<8> kind; bit<8> n; bit<112> rest; }
header b_t { bit<32> x; }
struct headers_t { a_t a; b_t b; b_t c; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.a); p.extract(hdr.b); p.extract(hdr.c); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.b.x = hdr.b.x + 1;
        hdr.c.x = hdr.c.x ^ 0xffffffff;
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) {
    apply {
        p.emit(hdr.a);
        if (hdr.a.kind & 1 == 1) {
            p.emit(hdr.b);
        }
        if (hdr.a.kind & 2 == 2) {
            p.emit(hdr.c);
        }
    }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

#[test]
fn what_is_not_emitted_leaves_no_trace_of_an_earlier_packet() {
    if !testkit::root_or_skip("what_is_not_emitted_leaves_no_trace_of_an_earlier_packet") {
        return;
    }
    let mut ir = p4_check::compile_str("deparsers.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let ir = Arc::new(ir);
    let (xdp, oracle) = (common::load(&ir, 5, Mode::Subset).unwrap_or_else(|e| panic!("{e}")), Asic::oracle(ir.clone()).unwrap());
    let run = |lane: &mut Box<dyn Lane>, frame: &[u8]| {
        let (mut packets, mut verdicts) = ([Packet::new(frame, PortId(0))], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, 1);
        assert_eq!(verdicts[0].kind, VerdictKind::Forward);
        packets[0].data().to_vec()
    };
    let (mut here, mut judge) = (xdp.lane(0), oracle.lane(0));
    let mut lengths = [0; 3];
    // Each kind after each.
    for (n, kind) in (0..4u8).flat_map(|first| (0..4).flat_map(move |second| [first, second])).enumerate() {
        let frame: Vec<u8> = [kind, n as u8].into_iter().chain((0..40).map(|byte| byte ^ n as u8)).collect();
        let out = run(&mut here, &frame);
        assert_eq!(out, run(&mut judge, &frame), "packet {n}, kind {kind}");
        lengths[(frame.len() - out.len()) / 4] += 1;
    }
    assert_eq!(lengths, [8, 16, 8]);
}
