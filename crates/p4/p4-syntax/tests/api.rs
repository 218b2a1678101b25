//! Do files, includes, built-ins and spans come together as the crate's front page says?

mod common;

use p4_syntax::ast::{AnnotationBody, DeclKind, TablePropertyKind, find_annotation};
use p4_syntax::{Options, Severity, parse_file, parse_str};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[test]
fn a_missing_file_is_a_diagnostic() {
    let parsed = parse_file(Path::new("/nonexistent/x.p4"), &Options::default());
    assert!(!parsed.is_ok());
    assert!(parsed.render().starts_with("/nonexistent/x.p4:1:1: error[include]: cannot read"), "{}", parsed.render());
    let parsed = parse_file(&golden("include"), &Options::default());
    assert!(parsed.render().contains("it is not a file"), "{}", parsed.render());
}

#[test]
fn text_without_include_paths_reaches_no_file() {
    for name in ["/etc/hostname", "../Cargo.toml", "Cargo.toml", "/dev/zero"] {
        let parsed = parse_str("x.p4", &format!("#include \"{name}\"\n#include <{name}>\n"), &Options::default());
        assert_eq!(parsed.diagnostics.len(), 2, "{name}");
        assert_eq!(parsed.map.files().count(), 1, "{name}");
    }
}

#[test]
fn spans_lead_back_to_the_included_file() {
    let opts = Options { include_paths: vec![golden("include")], ..Options::default() };
    let parsed = parse_str("main.p4", "#include <types.p4>\nconst bit x = 1;\n", &opts);
    assert!(parsed.is_ok(), "{}", parsed.render());
    let names: Vec<String> = parsed.program.decls.iter().filter_map(|d| d.name()).map(|n| parsed.map.location(n.span)).collect();
    assert!(names[0].ends_with("types.p4:7:17"), "{names:?}");
    assert_eq!(names.last().unwrap(), "main.p4:2:11");
    for decl in &parsed.program.decls {
        let text = parsed.map.text(decl.span);
        assert!(text.ends_with(';') || text.ends_with('}'), "{text:?}");
    }
}

#[test]
fn macro_bodies_point_at_the_use_and_arguments_at_themselves() {
    let text = "#define DECL(n, v) const int n = v + k\nDECL(abc, 12);\n";
    let parsed = parse_str("m.p4", text, &Options::default());
    assert!(parsed.is_ok(), "{}", parsed.render());
    let DeclKind::Const(decl) = &parsed.program.decls[0].kind else { panic!("not a constant") };
    assert_eq!(parsed.map.text(decl.ty.span), "DECL");
    assert_eq!(parsed.map.text(decl.name.span), "abc");
    assert_eq!(parsed.map.location(decl.name.span), "m.p4:2:6");
}

#[test]
fn tables_and_annotations_have_short_cuts() {
    let text = r#"
        control c() {
            @name("t.x") @id[7]
            table t {
                key = { a: exact @name("k"); }
                actions = { x; @defaultonly y(1); }
                const entries = { 1: x; }
                default_action = y(1);
                size = 64;
            }
            apply {}
        }"#;
    let parsed = parse_str("t.p4", text, &Options::default());
    assert!(parsed.is_ok(), "{}", parsed.render());
    let DeclKind::Control(control) = &parsed.program.decls[0].kind else { panic!("not a control") };
    let decl = &control.body.as_ref().unwrap().locals[0];
    let DeclKind::Table(table) = &decl.kind else { panic!("not a table") };
    assert_eq!(find_annotation(&decl.annotations, "name").and_then(|a| a.string()), Some("t.x"));
    assert_eq!(find_annotation(&decl.annotations, "id").and_then(|a| a.int()), Some(&7.into()));
    assert_eq!(table.key().unwrap()[0].match_kind.name, "exact");
    assert_eq!(table.actions().unwrap().len(), 2);
    assert!(matches!(table.actions().unwrap()[1].annotations[0].body, AnnotationBody::None));
    let (is_const, entries) = table.entries().unwrap();
    assert!(is_const && entries.len() == 1);
    let (property, value) = table.property("size").unwrap();
    assert!(!property.is_const && value.to_string() == "64");
    assert!(matches!(property.kind, TablePropertyKind::Custom { .. }));
    assert!(table.property("counters").is_none());
}

#[test]
fn warnings_do_not_fail_a_program() {
    let parsed = parse_str("w.p4", "#define A 1\n#define A 2\n#warning look out\nconst int a = A;\n", &Options::default());
    assert!(parsed.is_ok());
    assert_eq!(parsed.diagnostics.iter().map(|d| d.severity).collect::<Vec<_>>(), [Severity::Warning; 2]);
}

#[test]
fn the_same_text_gives_the_same_result() {
    let text = std::fs::read_to_string(golden("bad_many.p4")).unwrap();
    let first = parse_str("a", &text, &Options::default());
    let second = parse_str("a", &text, &Options::default());
    assert_eq!(first.render(), second.render());
    assert!(first.program == second.program);
}
