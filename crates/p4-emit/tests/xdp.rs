//! The text for XDP: as accepted for a small program, the same every time, and what is refused by name and place.

use p4_check::Options;
use p4_emit::bpf::{Refused, emit_xdp};
use std::path::Path;

fn compile(text: &str) -> p4_ir::Ir {
    let mut ir = p4_check::compile_str("test.p4", text, &Options::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{e}"));
    ir
}

/// A program whose ingress has these declarations and this body.
fn refusal(headers: &str, parser: &str, declarations: &str, body: &str) -> Refused {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<16> a; bit<8> b; }}
struct headers_t {{ h_t h; {headers} }}
struct meta_t {{ bit<32> x; bit<16> y; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.h); {parser} transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ {body} }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;"
    );
    emit_xdp(&compile(&text)).expect_err("must be refused")
}

#[test]
fn what_bpf_cannot_express_is_refused_by_name_and_place() {
    for (refused, what, place) in [
        (refusal("", "", "", "random(meta.x, 0, 9); sm.egress_spec = (bit<9>)meta.x;"), "random()", "ingress in test.p4"),
        (refusal("", "", "", "truncate(60);"), "truncate()", "ingress in test.p4"),
        (
            refusal("", "", "action a() { truncate(60); } table t { key = { hdr.h.a: exact; } actions = { a; } }", "t.apply();"),
            "truncate()",
            "action a in test.p4",
        ),
        (
            refusal("h_t[3] stack;", "packet.extract(hdr.stack.next);", "", "sm.egress_spec = 1;"),
            "next and last of stack hdr.stack",
            "parser state start in test.p4",
        ),
    ] {
        assert_eq!((refused.what.as_str(), refused.place.as_str()), (what, place));
        assert!(refused.to_string().contains(what) && refused.to_string().contains(place), "{refused}");
    }
}

#[test]
fn the_text_is_as_accepted_and_the_same_every_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let ir = compile(&std::fs::read_to_string(folder.join("switch.p4")).unwrap());
    let text = emit_xdp(&ir).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(emit_xdp(&ir), Ok(text.clone()));
    let mut own = text;
    for (name, part) in [
        ("prelude.h", include_str!("../src/bpf/prelude.h")),
        ("runtime.h", include_str!("../src/bpf/runtime.h")),
        ("entry.h", include_str!("../src/bpf/entry.h")),
    ] {
        assert!(own.contains(part), "{name} is missing");
        own = own.replace(part, &format!("/* ... {name} ... */\n\n"));
    }
    let accepted = folder.join("switch.xdp.c");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&accepted, &own).unwrap();
    }
    assert!(std::fs::read_to_string(&accepted).unwrap_or_default() == own, "{} has changed; accept with UPDATE=1", accepted.display());
}
