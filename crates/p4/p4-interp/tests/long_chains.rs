//! Does a long chain of `else if`s, which is lowered flat, do what the same tests do inside of each other's `else`?

use p4_interp::Machine;
use p4_interp::stf::{self, MachineDevice};
use std::fmt::Write as _;
use std::sync::Arc;

/// Each condition counts itself in `c`, so that one evaluated too many, too few or too early shows.
const HEAD: &str = "
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; }
struct headers_t { h_t h; }
struct meta_t { }
bool test(inout bit<8> count, in bit<8> x, in bit<8> y) { count = count + 1; return x == y; }
parser P(packet_in b, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) { state start { b.extract(hdr.h); transition accept; } }
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control D(packet_out b, in headers_t hdr) { apply { b.emit(hdr.h); } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action done(bit<8> v) { hdr.h.b = v; }
    apply {
        s.egress_spec = 1;
";

/// Links of the chains.
const LINKS: usize = 40;

fn link(i: usize) -> String {
    let condition = if i.is_multiple_of(3) { format!("test(hdr.h.c, hdr.h.a, {})", 2 * i) } else { format!("hdr.h.a == {}", 2 * i) };
    let body = match i % 4 {
        0 => format!("{{ done({}); }}", i + 1),
        1 => format!("hdr.h.b = {};", i + 1),
        2 => format!("{{ hdr.h.b = {}; if (hdr.h.a == 4) {{ return; }} }}", i + 1),
        _ => "{ }".to_owned(),
    };
    format!("if ({condition}) {body} else ")
}

fn run(body: &str) -> Vec<String> {
    let text = format!("{HEAD}{body}\n hdr.h.c = hdr.h.c + 100;\n }} }}\nV1Switch(P(), V(), I(), E(), V(), D()) main;\n");
    let ir = p4_check::compile_str("chain.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    (0..2 * LINKS + 4).map(|a| outcome(&ir, a as u8)).collect()
}

/// The packet that comes out for `a`, found by asking for the wrong one.
fn outcome(ir: &p4_ir::Ir, a: u8) -> String {
    let script = stf::parse(&format!("packet 0 {a:02x}0000\nexpect 1 ffffff $\n"), &ir.program).unwrap_or_else(|e| panic!("{e}"));
    let mut device = MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs"));
    format!("{:?}", stf::run(&script, &mut device))
}

#[test]
fn a_flat_chain_does_what_nested_elses_do() {
    let (mut flat, mut nested) = (String::new(), String::new());
    for i in 0..LINKS {
        flat.push_str(&link(i));
        let _ = write!(nested, "{}{{ ", link(i));
    }
    flat.push_str("hdr.h.b = 200;");
    let _ = write!(nested, "hdr.h.b = 200;{}", " }".repeat(LINKS));
    let (flat, nested) = (run(&flat), run(&nested));
    assert_eq!(flat, nested);
    let kinds: std::collections::BTreeSet<&String> = flat.iter().collect();
    assert!(kinds.len() > LINKS, "only {} outcomes: {kinds:?}", kinds.len());
}
