//! The text for XDP: as accepted for a small program, the same every time, and what is refused by name and place.

use p4_check::Options;
use p4_emit::bpf::emit_xdp;
use std::collections::BTreeMap;
use std::path::Path;

fn compile(text: &str) -> p4_ir::Ir {
    let mut ir = p4_check::compile_str("test.p4", text, &Options::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{e}"));
    ir
}

/// The text without what is the same for all programs.
fn own_text(text: &str) -> String {
    let mut own = text.to_owned();
    for (name, part) in [
        ("prelude.h", include_str!("../src/bpf/prelude.h")),
        ("runtime.h", include_str!("../src/bpf/runtime.h")),
        ("entry.h", include_str!("../src/bpf/entry.h")),
    ] {
        assert!(own.contains(part), "{name} is missing");
        own = own.replace(part, &format!("/* ... {name} ... */\n\n"));
    }
    own
}

/// Every program in `refused/` and the message that lies beside it.
#[test]
fn what_bpf_cannot_express_is_refused_by_name_and_place() {
    let mut found = 0;
    let mut files: Vec<_> = std::fs::read_dir("tests/refused").unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "p4"));
    files.sort();
    for file in files {
        let compiled = p4_check::compile_file(&file, &Options::default()).unwrap_or_else(|e| panic!("{}", e.render()));
        let mut ir = compiled.ir;
        p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{e}"));
        let refused = emit_xdp(&ir).expect_err("must be refused");
        assert!(refused.origin.is_some() && refused.construct.is_some(), "{}: {refused}", file.display());
        testkit::assert_golden(
            file.with_extension("stderr"),
            &p4_check::render_refusal(&compiled.map, refused.origin, &refused.to_string()),
        );
        found += 1;
    }
    assert!(found >= 15, "{found} programs");
}

/// The rows of the document have the words of the messages, and there is one for each program.
#[test]
fn what_bpf_cannot_express_is_in_the_documents_table() {
    let document = std::fs::read_to_string("../../../docs/conformance.md").unwrap();
    let rows = document.lines().skip_while(|l| !l.starts_with("| refused by XDP")).skip(2).take_while(|l| l.starts_with('|'));
    let mut told = BTreeMap::new();
    for row in rows {
        let [_, what, _, programs, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        told.extend(programs.split(',').map(|p| (p.trim().trim_matches('`').to_owned(), what.trim().to_owned())));
    }
    let mut refused = BTreeMap::new();
    for file in std::fs::read_dir("tests/refused").unwrap().map(|e| e.unwrap().path()) {
        if file.extension().is_some_and(|e| e == "p4") {
            let error = emit_xdp(&compile(&std::fs::read_to_string(&file).unwrap())).expect_err("must be refused");
            refused.insert(file.file_stem().unwrap().to_string_lossy().into_owned(), error.what);
        }
    }
    assert_eq!(told, refused);
}

#[test]
fn a_refusal_without_a_source_says_what_and_in_which_program() {
    let mut ir = compile(&std::fs::read_to_string("tests/refused/clone.p4").unwrap());
    ir.origins = Default::default();
    let refused = emit_xdp(&ir).expect_err("must be refused");
    assert_eq!(refused.to_string(), "the xdp target does not support clone (ingress to egress) (ingress in test.p4)");
    assert_eq!(refused.origin, None);
}

#[test]
fn the_text_is_as_accepted_and_the_same_every_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let ir = compile(&std::fs::read_to_string(folder.join("switch.p4")).unwrap());
    let text = emit_xdp(&ir).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(emit_xdp(&ir), Ok(text.clone()));
    let own = own_text(&text);
    let accepted = folder.join("switch.xdp.c");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&accepted, &own).unwrap();
    }
    assert!(std::fs::read_to_string(&accepted).unwrap_or_default() == own, "{} has changed; accept with UPDATE=1", accepted.display());
}

/// What it makes of packets the tests of target-xdp compare with the interpreter.
#[test]
fn a_branch_is_printed_unless_a_variable_certainly_holds_what_decides_it() {
    let text = std::fs::read_to_string("tests/refused/wide_random.p4").unwrap();
    let body = "if (meta.x == 0) { hdr.h.c = 0x5a; } else { hdr.h.c = 0x5b; }
        if (hdr.h.b == 1) { meta.x = 7; }
        if (meta.x == 7) { hdr.h.c = 0x5c; } else { hdr.h.c = 0x5d; }";
    let text = emit_xdp(&compile(&text.replace("random(x, 0, 9);", body))).unwrap();
    let packet = text.split("SP_CALL int sp_packet").nth(1).unwrap();
    assert_eq!(["0x5au", "0x5bu", "0x5cu", "0x5du"].map(|value| packet.contains(value)), [true, false, true, true]);
}

#[test]
fn the_text_of_the_upf_is_as_accepted() {
    let upf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
    let mut ir = p4_check::compile_file(&upf, &Options::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{e}"));
    let text = emit_xdp(&ir).unwrap_or_else(|e| panic!("{e}"));
    testkit::assert_golden("tests/golden/upf.xdp.c", &own_text(&text));
}

#[test]
fn programs_for_other_architectures_are_refused_by_name() {
    let psa = p4_ir::Ir::new(p4_ir::Architecture::Psa);
    let (xdp, x86) = (emit_xdp(&psa).expect_err("must be refused"), p4_emit::emit_x86(&psa).expect_err("must be refused"));
    assert!(xdp.to_string().contains("does not support programs for psa"), "{xdp}");
    assert_eq!(x86.to_string(), "the x86 target does not support programs for psa");
}
