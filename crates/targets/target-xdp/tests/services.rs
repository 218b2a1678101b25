//! XDP and the chip models hand a packet that calls a service to the next target, as it came and without a trace.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::Mode;
use std::sync::Arc;
use target_api::Target;
use target_asic::{Asic, Chip};

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
#include <service.p4>
header a_t { bit<8> kind; bit<8> n; bit<112> rest; }
struct headers_t { a_t a; }
struct meta_t { }
struct request_t { bit<8> n; }
struct answer_t { bit<8> n; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.a); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    Service<request_t, answer_t>("ciphering") cipher;
    counter(2, CounterType.packets) before;
    register<bit<8>>(2) last;
    apply {
        answer_t answer = { 0 };
        sm.egress_spec = 1;
        before.count(0);
        last.write(0, hdr.a.n);
        hdr.a.n = hdr.a.n + 1;
        if (hdr.a.kind == 1) { cipher.call({ hdr.a.n }, answer); }
        if (hdr.a.kind == 2) { cipher.send({ hdr.a.n }); }
        hdr.a.n = hdr.a.n + answer.n;
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.a); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

fn check(target: &dyn Target) {
    let before = target.program().counter("before").expect("declared");
    let mut lane = target.lane(0);
    let mut run = |kind: u8| {
        let mut frame = [7; 64];
        frame[0] = kind;
        let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, 1);
        (verdicts[0].kind, packets[0].data().to_vec(), frame.to_vec())
    };
    for kind in [1, 2] {
        let (verdict, bytes, frame) = run(kind);
        assert_eq!((verdict, bytes), (VerdictKind::Next, frame), "{}", target.name());
        assert_eq!(target.counter(before, 0).packets, 0, "{}", target.name());
    }
    let (verdict, bytes, _) = run(0);
    assert_eq!((verdict, bytes[1]), (VerdictKind::Forward, 8), "{}", target.name());
    assert_eq!(target.counter(before, 0).packets, 1, "{}", target.name());
}

fn program() -> Arc<p4_ir::Ir> {
    let mut ir = p4_check::compile_str("services.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    Arc::new(ir)
}

#[test]
fn a_chip_model_hands_what_calls_a_service_to_the_next_target() {
    check(&Asic::load(program(), Chip::default()).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn xdp_hands_what_calls_a_service_to_the_next_target() {
    if !testkit::root_or_skip("xdp_hands_what_calls_a_service_to_the_next_target") {
        return;
    }
    check(&common::load(&program(), 6, Mode::Subset).unwrap_or_else(|e| panic!("{e}")));
}
