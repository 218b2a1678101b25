//! Does each target, and the cut in front of x86, show in the source what it does not take?

use p4_driver::{Error, Program};

/// A program for v1model whose ingress control has these declarations and statements.
fn v1model(declarations: &str, apply: &str) -> String {
    let arguments = "inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm";
    format!(
        "#include <core.p4>
#include <v1model.p4>
#include <service.p4>
header key_t {{ bit<8> key; bit<8> number; }}
struct headers_t {{ key_t[2] keys; }}
struct meta_t {{ bit<72> long; bit<8> seen; }}
struct request_t {{ bit<8> key; }}
struct answer_t {{ bit<8> number; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.keys.next); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I({arguments}) {{
    {declarations}
    apply {{
        answer_t answer;
        sm.egress_spec = 1;
{apply}
    }}
}}
control E({arguments}) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.keys); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

const SERVICE: &str = "Service<request_t, answer_t>(\"answers\") answers;";

/// The refusal begins with the place of `line` in the source, and shows that line.
fn shown_at(text: &str, line: &str, why: &str, of: impl Fn(&Program) -> Option<Error>) {
    let program = Program::compile_text("x.p4", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let refused = of(&program).expect("it is refused");
    assert!(matches!(&refused, Error::Refused(refusal) if refusal.origin.is_some()), "{refused:?}");
    let shown = refused.to_string();
    let number = text.lines().position(|of| of == line).expect("the program has the line") + 1;
    let (first, _) = shown.split_once('\n').expect("it has lines");
    assert!(first.starts_with(&format!("x.p4:{number}:")) && first.contains(": error[target]: ") && first.contains(why), "{shown}");
    assert!(shown.contains(&format!("{number} | {line}")), "{shown}");
}

fn x86(program: &Program) -> Option<Error> {
    program.x86().err()
}

#[test]
fn x86_shows_what_it_does_not_support() {
    let table = "action n() { } table t { actions = { n; } default_action = n(); }";
    let line = "        t.apply();";
    shown_at(&v1model(table, &[line; p4_driver::MAX_CUTS + 1].join("\n")), line, "places of table look-ups", x86);
}

#[test]
fn xdp_shows_what_it_does_not_support() {
    let line = "        random(meta.long, 0, 9);";
    shown_at(&v1model("", line), line, "the xdp target does not support random", |program| program.xdp_text().err());
}

#[test]
fn the_cut_shows_the_call_that_it_cannot_cut_at() {
    let line = "        answers.call({ hdr.keys[0].key }, answer);";
    let text = v1model(SERVICE, &[line; 256].join("\n"));
    shown_at(&text, line, "it stops in 256 places, more than", x86);
    shown_at(&text, line, "cannot be cut", |program| program.cut().err());
}

#[test]
fn the_cut_of_psa_shows_what_its_deparser_must_not_do() {
    let common = include_str!("../../../p4/p4-interp/tests/psa/common.p4");
    let with = |common: &str| include_str!("../../../p4/p4-interp/tests/psa/paths.p4").replacen("#include \"common.p4\"\n", common, 1);
    let text = with(common);
    let late = text.replacen(
        "        normal_meta.note = 0x40 + h.tag.note;\n        p.emit(h.tag);",
        "        p.emit(h.tag);\n        normal_meta.note = 0x40 + h.tag.note;",
        1,
    );
    assert!(late != text);
    shown_at(&late, "        p.emit(h.tag);", "the ingress deparser sets what goes with the packet behind its first `emit`", x86);
    // Where there is no construct to be shown, `main` is.
    let main = text.lines().last().expect("it has lines");
    let wide = with(&common.replacen("struct note_t {", "struct note_t { bit<4096> much;", 1));
    assert!(wide != text);
    shown_at(&wide, main, "bytes of metadata travel with a packet", x86);
}

#[test]
fn a_program_whose_copies_go_nowhere_is_shown_where_it_copies() {
    let line = "        clone(CloneType.I2E, 32w5);";
    let text = v1model("", line);
    shown_at(&text, line, "the program copies packets or sends them round", |program| program.makes_no_copies().err());
    let program = Program::compile_text("x.p4", &text, &[]).unwrap();
    assert!(program.x86().is_ok() && program.cut().unwrap().is_some(), "x86 itself copies");
    assert!(Program::compile_text("x.p4", &v1model("", ""), &[]).unwrap().makes_no_copies().is_ok());
}
