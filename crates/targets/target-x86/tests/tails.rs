//! Code behind an `if` that makes headers is duplicated into its branches: generated code does what the interpreter does, whatever that code is, and where
//! packets are dropped before it.

mod common;

use base::PortId;
use rand::Rng;

/// Headers by the bits of `flags`; then a register's cell counts packets, and each packet carries what it found. Bit 2 ends a packet between the two.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header a_t { bit<8> flags; bit<8> cell; bit<32> found; bit<16> value; }
header b_t { bit<16> inner; }
struct headers { b_t b; b_t c; b_t d; b_t e; b_t f; b_t g; a_t a; }
struct meta { }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.a); transition select(hdr.a.cell) { 200 .. 255: other; default: common; } }
    @likely state common { transition accept; }
    state other { transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    register<bit<32>>(16) seen;
    bit<32> n;
    action outer(bit<16> inner) {
        hdr.b.setValid();
        hdr.b.inner = inner;
        if (hdr.a.flags & 2 != 0) {
            hdr.c.setValid();
            hdr.c.inner = hdr.b.inner + 1;
            if (hdr.a.flags & 4 != 0) { mark_to_drop(sm); exit; }
        } else {
            hdr.b.inner = inner + 2;
        }
    }
    apply {
        sm.egress_spec = 1;
        if (hdr.a.flags & 1 != 0) {
            outer(hdr.a.value);
            hdr.a.value = 5;
        }
        seen.read(n, (bit<32>)hdr.a.cell);
        seen.write((bit<32>)hdr.a.cell, n + 1);
        hdr.a.found = n;
        if (hdr.c.isValid()) { hdr.c.inner = hdr.c.inner + 1; }
        MORE
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { if (hdr.b.isValid()) { hdr.b.inner = hdr.b.inner + 1; } } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) {
    apply { pkt.emit(hdr.b); pkt.emit(hdr.c); pkt.emit(hdr.d); pkt.emit(hdr.e); pkt.emit(hdr.f); pkt.emit(hdr.g); pkt.emit(hdr.a); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const BURSTS: usize = 200;
const BURST: usize = 40;

#[test]
fn duplicated_tails_do_what_the_interpreter_does() {
    let text = run("");
    assert!(!text.contains("if (valid == "), "each branch knows its valid headers: {text}");
}

/// More such `if`s than a function duplicates tails of: behind the others branches join.
#[test]
fn branches_of_many_such_ifs_join() {
    let more = ["d", "e", "f", "g"].iter().zip([8, 16, 32, 64]);
    let more: String =
        more.map(|(h, bit)| format!("if (hdr.a.flags & {bit} != 0) {{ hdr.{h}.setValid(); hdr.{h}.inner = {bit}; }}\n")).collect();
    let text = run(&more);
    assert!(text.contains("if (valid == "), "{text}");
}

/// The text for packets of the class.
fn run(more: &str) -> String {
    let text = PROGRAM.replace("MORE", more);
    let mut ir = p4_check::compile_str("tails.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let c = p4_emit::emit_x86(&ir).unwrap();
    let of_class = c.split("\nstatic ").filter(|function| function.contains(" class_1_")).collect();
    let mut pair = common::pair(ir, 5, &["-O1"]);
    let mut rng = common::rng(6);
    for _ in 0..BURSTS {
        let packet = |_| {
            let cell = if rng.random_bool(0.1) { rng.random_range(200..=255) } else { rng.random_range(0..4) };
            (vec![rng.random(), cell, 0, 0, 0, 0, rng.random(), rng.random(), 0xab], PortId(0))
        };
        let packets: Vec<_> = (0..BURST).map(packet).collect();
        pair.run(&packets);
    }
    pair.check_state();
    let [forwarded, dropped, ..] = [base::VerdictKind::Forward, base::VerdictKind::Drop].map(|kind| pair.kinds[kind as usize]);
    assert!(forwarded > 5000 && dropped > 500, "{forwarded} forwarded, {dropped} dropped");
    of_class
}
