//! The generated text of small programs, as files beside them: `UPDATE=1 cargo test -p p4-emit` accepts what has changed.

use p4_check::Options;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn compile(path: &Path) -> p4_ir::Ir {
    let mut ir = p4_check::compile_file(path, &Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{e}"));
    ir
}

/// The text without what is the same for all programs.
fn own_text(text: &str) -> String {
    let mut own = text.to_owned();
    for (name, part) in [
        ("runtime.h", include_str!("../src/runtime.h")),
        ("meter.h", include_str!("../src/meter.h")),
        ("run.h", include_str!("../src/run.h")),
        ("lookup.h", include_str!("../src/lookup.h")),
        ("process.h", include_str!("../src/process.h")),
    ] {
        assert!(own.contains(part), "{name} is missing");
        own = own.replace(part, &format!("/* ... {name} ... */\n\n"));
    }
    own
}

#[test]
fn the_text_is_as_accepted() {
    let mut differing = Vec::new();
    let mut programs = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "p4") {
            continue;
        }
        programs += 1;
        let text = own_text(&p4_emit::emit_x86(&compile(&path)).unwrap());
        let accepted = path.with_extension("c");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&accepted, &text).unwrap();
        }
        if std::fs::read_to_string(&accepted).unwrap_or_default() != text {
            differing.push(accepted.display().to_string());
        }
    }
    assert!(programs >= 3);
    assert!(differing.is_empty(), "changed: {}; accept with UPDATE=1", differing.join(", "));
}

#[test]
fn the_text_is_the_same_every_time() {
    let ir = compile(&folder().join("encapsulation.p4"));
    assert_eq!(p4_emit::emit_x86(&ir), p4_emit::emit_x86(&ir));
}

/// The UPF's own text: what a review reads when the program or the compiler changes. That for the kernel is in `xdp.rs`.
#[test]
fn the_text_of_the_upf_is_as_accepted() {
    let upf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
    let text = p4_emit::emit_x86(&compile(&upf)).unwrap_or_else(|e| panic!("{e}"));
    testkit::assert_golden("tests/golden/upf.c", &own_text(&text));
    // Stages of several classes that are one: a local that `alike.rs` does not know would part them.
    let merged = text.matches("static __attribute__((noinline)) void alike_").count();
    assert!(merged >= 9, "{merged}");
}

/// A program whose ingress is `body`.
fn with_ingress(declarations: &str, body: &str) -> String {
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n
header h_t {{ bit<8> a; bit<8> b; }}
struct headers_t {{ h_t h; }}
struct metadata_t {{ bit<8> x; }}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{
    state start {{ packet.extract(hdr.h); transition accept; }}
}}
control V(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{
    {declarations}
    apply {{ {body} }}
}}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {{ apply {{ }} }}
control C(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

fn refusal(declarations: &str, body: &str) -> String {
    let source = with_ingress(declarations, body);
    let compiled = p4_check::compile_str("refused.p4", &source, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    p4_emit::emit_x86(&compiled.ir).expect_err("it should be refused").to_string()
}

/// Only XDP's refusals showed where.
#[test]
fn what_the_dialect_lacks_is_shown_in_its_source() {
    let shown = |declarations: &str, body: &str| {
        let source = with_ingress(declarations, body);
        let compiled = p4_check::compile_str("refused.p4", &source, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let refused = p4_emit::emit_x86(&compiled.ir).expect_err("it should be refused");
        p4_check::render_refusal(&compiled.map, refused.origin(&compiled.ir), &refused.to_string())
    };
    for (declarations, body, at, marked) in [
        ("", "clone(CloneType.I2E, 3);", "13:13", "clone(CloneType.I2E, 3)"),
        ("", "standard_metadata.mcast_grp = 3;", "13:13", "standard_metadata.mcast_grp = 3"),
    ] {
        let text = shown(declarations, body);
        let marks = "^".repeat(marked.len());
        assert!(text.contains(&format!("refused.p4:{at}: error[target]")) && text.contains(&marks), "{text}");
    }
}

#[test]
fn what_the_dialect_lacks_is_named() {
    let of = "the x86 target does not support ";
    assert_eq!(refusal("", "clone(CloneType.I2E, 3);"), format!("{of}clone (ingress to egress)"));
    assert_eq!(refusal("", "resubmit_preserving_field_list(0);"), format!("{of}resubmit"));
    assert_eq!(refusal("", "standard_metadata.mcast_grp = 3;"), format!("{of}multicast (mcast_grp)"));
}
