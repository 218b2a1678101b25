//! Does the plain-data side say what the source says? Names, codes, sizes, annotations; and what `check` lets pass.

use p4_check::{Options, check_str, compile_file, compile_str};
use p4_ir::{Stmt, Ty};
use program::{CountUnit, LengthSource, MatchKind};
use std::path::Path;

fn ok(name: &str) -> p4_check::Compiled {
    compile_file(Path::new(&format!("tests/ok/{name}.p4")), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_user_plane_keeps_its_names_and_annotations() {
    let ir = ok("user_plane").ir;
    let p = &ir.program;
    assert_eq!(p.name, "user_plane.p4");
    assert_eq!(p.errors[..3], ["NoError", "PacketTooShort", "NoMatch"]);
    assert_eq!(p.reason("gate_closed"), Some(2));
    let table = &p.tables[p.table("pdr_by_teid").unwrap()];
    assert_eq!(table.full_name, "UpfIngress.pdr_by_teid");
    assert!(table.split && !table.const_default && table.size == 4096);
    assert_eq!((table.keys[0].name.as_str(), table.keys[0].width, table.keys[0].kind), ("teid", 32, MatchKind::Exact));
    assert_eq!(table.default_action, (p.action("drop").unwrap(), vec![1]));
    let acl = &p.tables[p.table("acl").unwrap()];
    assert!(acl.const_entries && !acl.split);
    assert!(acl.entries[0].priority > acl.entries[1].priority, "the first entry is the highest");
    let usage = &p.counters[p.counter("usage").unwrap()];
    assert_eq!((usage.size, usage.unit, usage.length), (1024, CountUnit::Both, LengthSource::Pdu));
    assert_eq!(p.meters[p.meter("session_mbr").unwrap()].unit, CountUnit::Bytes);
    let (reason, mark) = (ir.intrinsic.drop_reason.unwrap(), ir.intrinsic.mark.unwrap());
    assert_eq!((ir.vars[reason].name.as_str(), ir.vars[reason].ty), ("meta.reason", Ty::Bit(8)));
    assert_eq!(ir.vars[mark].ty, Ty::Bit(32));
    assert_eq!(ir.vars[ir.intrinsic.standard["parser_error"]].ty, Ty::Bit(16));
}

#[test]
fn arguments_that_do_not_overlap_are_not_copied() {
    // A control that gets all headers and metadata must not move them.
    let text = "#include <v1model.p4>\nheader h_t { bit<8> a; }\nstruct H { h_t h; }\nstruct M { bit<8> x; bit<8> y; }
        control Sub(inout H h, inout M m) { apply { h.h.a = m.x; } }
        parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) { state start { transition accept; } }
        control V(inout H h, inout M m) { apply { } }
        control I(inout H h, inout M m, inout standard_metadata_t s) { Sub() a; Sub() b; apply { a.apply(h, m); b.apply(h, m); } }
        control E(inout H h, inout M m, inout standard_metadata_t s) { apply { } }
        control D(packet_out b, in H h) { apply { } }
        V1Switch(P(), V(), I(), E(), V(), D()) main;";
    let ir = compile_str("alias.p4", text, &Options::default()).unwrap().ir;
    assert_eq!(ir.ingress().len(), 2);
    assert!(ir.ingress().iter().all(|s| matches!(s, Stmt::Assign(..))), "{:?}", ir.ingress());
    assert_eq!(ir.headers.len(), 1);
}

#[test]
fn names_that_clash_keep_their_path() {
    let ir = ok("inlining").ir;
    let names: Vec<&str> = ir.program.tables.values().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["t", "I.outer.one.steps", "I.outer.two.steps", "I.both.steps"]);
    assert_eq!(ir.program.table("I.both.steps"), ir.program.tables.keys().nth(3));
}

#[test]
fn a_direct_counter_counts_whatever_the_action_says() {
    let ir = ok("tables").ir;
    let table = &ir.program.tables[ir.program.table("counted").unwrap()];
    let counter = table.direct_counter.unwrap();
    assert_eq!(ir.program.counters[counter].size, table.size);
    for u in &table.actions {
        let first = ir.actions[u.action].body.first();
        assert!(matches!(first, Some(Stmt::Extern(p4_ir::Extern::DirectCount(c))) if *c == counter));
    }
    let plain = &ir.program.tables[ir.program.table("exact_one").unwrap()];
    for u in &plain.actions {
        assert!(!matches!(ir.actions[u.action].body.first(), Some(Stmt::Extern(p4_ir::Extern::DirectCount(_)))));
    }
}

#[test]
fn warnings_come_with_the_program() {
    let c = ok("warnings");
    let codes: Vec<&str> = c.warnings.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["unused", "ignored", "ignored", "truncated", "shift", "truncated", "cast"]);
    assert!(c.render_warnings().contains("did you mean `size`?"));
    // A table that is never applied is looked at, but is no part of the program.
    assert_eq!(c.ir.program.table("never"), None);
}

#[test]
fn defines_reach_the_source() {
    let mut options = Options::default();
    options.defines.insert("SIZE".to_owned(), "77".to_owned());
    let text = "#include \"tests/frame/head.p4\"\n#define LOCALS counter(SIZE, CounterType.packets) c;\n#define BODY c.count(0);\n\
                #include \"tests/frame/tail.p4\"\n";
    options.include_paths.push(".".into());
    let ir = compile_str("defines.p4", text, &options).unwrap_or_else(|e| panic!("{e}")).ir;
    assert_eq!(ir.program.counters[ir.program.counter("c").unwrap()].size, 77);
}

#[test]
fn checking_takes_any_architecture() {
    let text = "#include <core.p4>\nextern Own<T> { Own(); T get(in T v); }\ncontrol c_t(inout bit<8> v);\npackage Other(c_t c);\n\
                control C(inout bit<8> v) { Own<bit<8>>() own; apply { v = own.get(v) + 1; } }\nOther(C()) main;\n";
    assert!(check_str("other.p4", text, &Options::default()).is_ok());
    assert!(compile_str("other.p4", text, &Options::default()).is_err());
    let wrong = text.replace("+ 1", "+ 16w1");
    let failure = check_str("other.p4", &wrong, &Options::default()).unwrap_err();
    assert_eq!(failure.diagnostics[0].code, "type-mismatch");
    assert!(failure.to_string().starts_with("other.p4:5:"), "{failure}");
}

#[test]
fn what_cannot_be_read_is_a_diagnostic() {
    let failure = compile_file(Path::new("tests/ok/no_such_file.p4"), &Options::default()).unwrap_err();
    assert!(failure.render().contains("no_such_file.p4"));
    assert!(compile_str("empty.p4", "", &Options::default()).is_err());
}

#[test]
fn a_programs_p4info_is_what_it_was() {
    testkit::assert_golden("tests/ok/ids.p4info", &ok("ids").ir.program.p4info());
}

/// The tables that it is made of are no objects to a control plane.
#[test]
fn p4info_has_action_profiles_and_selectors_as_objects_of_their_own() {
    let text = "#include <v1model.p4>\nheader h_t { bit<8> a; bit<8> b; }\nstruct H { h_t h; }\nstruct M { }
        parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) { state start { b.extract(h.h); transition accept; } }
        control V(inout H h, inout M m) { apply {} }
        control I(inout H h, inout M m, inout standard_metadata_t s) {
            action a() { s.egress_spec = 1; }
            @id(0x1100000A) action_profile(4) members;
            table t { key = { h.h.a: exact; } actions = { a; NoAction; } default_action = NoAction(); implementation = members; }
            table t2 { key = { h.h.a: exact; } actions = { a; } implementation = members; }
            @max_group_size(8) action_selector(HashAlgorithm.random, 64, 14) sel;
            direct_counter(CounterType.packets) c;
            action fwd(bit<9> p) { s.egress_spec = p; }
            @max_group_size(16) table u { key = { h.h.a: exact; h.h.b: selector; } actions = { fwd; } implementation = sel; counters = c; }
            @max_group_size(4) table w { key = { h.h.a: exact; h.h.b: selector; } actions = { fwd; }
                implementation = action_selector(HashAlgorithm.crc16, 32, 14); }
            apply { t.apply(); t2.apply(); u.apply(); w.apply(); }
        }
        control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
        control D(packet_out b, in H h) { apply { b.emit(h.h); } }
        V1Switch(P(), V(), I(), E(), V(), D()) main;";
    let program = compile_str("profile.p4", text, &Options::default()).unwrap_or_else(|e| panic!("{e}")).ir.program;
    assert_eq!((program.ids.action_profiles[0].name.as_str(), program.ids.action_profiles[0].id), ("I.members", 0x1100_000A));
    let wrong = text.replace("0x1100000A", "0x0200000A");
    assert!(compile_str("profile.p4", &wrong, &Options::default()).is_err(), "a table's id");
    testkit::assert_golden("tests/ok/profiles.p4info", &program.p4info());
}

/// The file's name told two programs apart that differ by a macro, and did not: the name is the same.
#[test]
fn a_program_is_known_by_its_content_and_build_options_not_by_its_file() {
    let text = std::fs::read_to_string("tests/ok/ids.p4").unwrap();
    let of = |name: &str, text: &str, define: Option<&str>| {
        let defines = define.map(|name| (name.to_owned(), "1".to_owned())).into_iter().collect();
        compile_str(name, text, &Options { defines, ..Options::default() }).unwrap_or_else(|e| panic!("{e}")).ir.program
    };
    let first = of("ids.p4", &text, None);
    assert_ne!(first.fingerprint, program::Fingerprint::default());
    // Comments and layout say nothing, nor does a macro that nobody asks for.
    assert_eq!(of("other.p4", &format!("// Another one.\n\n{text}"), Some("NOBODY")).fingerprint, first.fingerprint);
    // The same objects, another program.
    let mended = of("ids.p4", &text.replace("m.mark = value;", "m.mark = value + 1;"), None);
    assert!(mended.has_objects_of(&first) && !mended.is_same(&first));
    let optional = format!("{}\n#ifdef HEAVY\nconst bit<8> HEAVY_MARK = 1;\n#endif\n", text);
    assert_eq!(of("ids.p4", &optional, None).fingerprint, first.fingerprint);
    assert_ne!(of("ids.p4", &optional, Some("HEAVY")).fingerprint, first.fingerprint);
}

/// A P4Runtime client keeps ids: they outlive changes elsewhere in the program.
#[test]
fn ids_stay_when_objects_come_and_move() {
    let text = std::fs::read_to_string("tests/ok/ids.p4").unwrap();
    let program = |text: &str| compile_str("ids.p4", text, &Options::default()).unwrap_or_else(|e| panic!("{e}")).ir.program;
    let more = "table earlier { key = { m.mark: exact; } actions = { drop; } default_action = drop(); }\n    @id(5)\n    table routes";
    let changed = text.replace("@id(5)\n    table routes", more).replace("routes.apply();", "earlier.apply(); routes.apply();");
    let (before, after) = (program(&text), program(&changed));
    let ids = |p: &program::Program| p.ids.tables.values().map(|t| (t.name.clone(), t.id)).collect::<std::collections::BTreeMap<_, _>>();
    let (before, after) = (ids(&before), ids(&after));
    assert!(after.len() == before.len() + 1 && before.iter().all(|(name, id)| after[name] == *id), "{before:?} {after:?}");
}

/// The warnings of a program whose ingress has these declarations before its `apply`, and this in it.
fn warnings(locals: &str, apply: &str) -> Vec<String> {
    let text = format!(
        "#include <v1model.p4>\nheader h_t {{ bit<8> a; bit<8> b; }}\nstruct H {{ h_t h; }}\nstruct M {{ bit<8> x; }}
        struct pair_t {{ bit<8> l; bit<8> r; }}
        parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {{ state start {{ b.extract(h.h); transition accept; }} }}
        control V(inout H h, inout M m) {{ apply {{ }} }}
        control I(inout H h, inout M m, inout standard_metadata_t s) {{ {locals} apply {{ {apply} }} }}
        control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{ }} }}
        control D(packet_out b, in H h) {{ apply {{ b.emit(h.h); }} }}
        V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let compiled = compile_str("warnings.p4", &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    compiled.warnings.iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}

#[test]
fn a_variable_that_is_read_before_it_has_a_value_is_warned_of() {
    let never = |name: &str| vec![format!("uninitialized: `{name}` is read before anything is assigned to it")];
    assert_eq!(warnings("", "bit<8> v; h.h.a = v;"), never("v"));
    assert_eq!(warnings("", "bit<8> v; h.h.a = v; v = 1; h.h.b = v;"), never("v"), "what comes later is too late");
    assert_eq!(
        warnings("bit<8> v;", "if (h.h.a == 1) { v = 2; h.h.a = v; } else { h.h.b = v; }"),
        never("v"),
        "the other branch does not help"
    );
    assert_eq!(warnings("", "pair_t p; h.h.a = p.r;"), never("p.r"));
    assert_eq!(warnings("", "pair_t p; p.l = 1; h.h.b = p.r; h.h.a = p.l;"), never("p.r"), "another field does not help");
    let table = "bit<8> v; action take() { h.h.a = v; } action none() { }
        table t { key = { h.h.b: exact; } actions = { take; none; } default_action = none(); }";
    assert_eq!(warnings(table, "t.apply(); v = 1; h.h.b = v;"), never("v"), "an action of a table that comes too early");
    assert_eq!(warnings("bit<8> v; table t { key = { v: exact; } actions = { NoAction; } }", "t.apply();"), never("v"), "a key");
    assert_eq!(warnings("", "bit<8> v; for (bit<8> i in 0 .. 3) { h.h.a = v; }"), never("v"));
}

#[test]
fn a_variable_that_only_some_way_sets_is_warned_of() {
    let some = |name: &str| vec![format!("uninitialized: `{name}` is read, but on some way here nothing is assigned to it")];
    assert_eq!(warnings("", "bit<8> v; if (h.h.a == 1) { v = 2; } h.h.b = v;"), some("v"));
    assert_eq!(warnings("", "bit<8> v; for (bit<8> i in 0 .. 3) { if (i > 0) { h.h.a = v; } v = i; }"), some("v"), "the first round");
    let table = "bit<8> v; action put() { v = 1; } action take() { h.h.a = v; }
        table first { key = { h.h.b: exact; } actions = { put; NoAction; } } table second { key = { h.h.b: exact; } actions = { take; NoAction; } }";
    assert_eq!(warnings(table, "first.apply(); second.apply();"), some("v"));
    assert_eq!(warnings(table, "if (first.apply().miss) { v = 0; } second.apply();"), some("v"), "NoAction may be an entry's");
    let none: Vec<String> = Vec::new();
    let always = "bit<8> v; action put() { v = 1; } table t { key = { h.h.b: exact; } actions = { put; @defaultonly NoAction; } }";
    assert_eq!(warnings(always, "if (t.apply().hit) { h.h.a = v; }"), none, "a hit has set it");
    assert_eq!(warnings(always, "switch (t.apply().action_run) { put: { h.h.a = v; } }"), none, "so has the action that was run");
    assert_eq!(warnings(always, "if (!t.apply().hit) { return; } h.h.a = v;"), none);
    assert_eq!(warnings("", "bit<8> v; v[3:0] = 1; h.h.b = v;"), none, "a part is something");
    assert_eq!(warnings("", "bit<8> v; if (h.h.a == 1) { v = 2; } else { exit; } h.h.b = v;"), none, "that way ends");
    assert_eq!(warnings("const bool always = true; bit<8> v;", "if (always) { v = 2; } h.h.b = v;"), none);
    assert_eq!(warnings("action set(out bit<8> o) { o = 3; }", "bit<8> v; set(v); h.h.b = v;"), none);
}

#[test]
fn fields_of_headers_that_are_invalid_on_all_ways_are_warned_of() {
    let read = |name: &str| vec![format!("invalid-header: `{name}` is invalid here: its fields hold nothing")];
    assert_eq!(warnings("", "h_t v; h.h.b = v.a;"), read("v"));
    assert_eq!(warnings("", "h.h.setInvalid(); m.x = h.h.a;"), read("h.h"));
    assert_eq!(warnings("", "if (!h.h.isValid() && h.h.a == 1) { m.x = 1; }"), read("h.h"));
    let written = ["invalid-header: writing a field of `h.h` has no effect: the header is invalid here"];
    assert_eq!(warnings("", "h.h.setInvalid(); h.h.a = 1;"), written);
    let none: Vec<String> = Vec::new();
    assert_eq!(warnings("", "if (m.x == 1) { h.h.setInvalid(); } m.x = h.h.a;"), none, "on some way it is valid");
    assert_eq!(warnings("", "if (!h.h.isValid()) { h.h.setValid(); h.h.a = 0; } m.x = h.h.a;"), none);
}

#[test]
fn values_that_nothing_reads_are_warned_of() {
    let value = ["unused-value: this value of `v` is never read: each way sets it again, or ends"];
    assert_eq!(warnings("", "bit<8> v; v = h.h.a; v = h.h.b; m.x = v;"), value);
    assert_eq!(warnings("bit<8> v;", "v = h.h.a; m.x = v; v = 3;"), value);
    let none: Vec<String> = Vec::new();
    assert_eq!(warnings("", "bit<8> v = 0; v = h.h.b; m.x = v;"), none, "a value to begin with is good style");
    assert_eq!(warnings("", "bit<8> v; v = h.h.a; if (m.x == 1) { v = h.h.b; } m.x = v;"), none);
    assert_eq!(warnings("", "bit<8> v; v = h.h.a; v[3:0] = 1; m.x = v;"), none, "a part of it stays");
    assert_eq!(
        warnings("bit<8> v; action take() { m.x = v; } table t { actions = { take; } default_action = take(); }", "v = 1; t.apply();"),
        none
    );
    assert_eq!(warnings("", "bit<8> v; v = 1; for (bit<8> i in 0 .. 3) { m.x = v; v = i; }"), none, "the next round reads it");
}

#[test]
fn what_is_never_used_is_warned_of() {
    let unused = |what: &str| vec![format!("unused: {what}")];
    assert_eq!(warnings("", "bit<8> v;"), unused("variable `v` is never used"));
    assert_eq!(warnings("", "bit<8> v; v = 1;"), unused("variable `v` is assigned, but never read"));
    assert_eq!(warnings("action a() { }", ""), unused("action `a` is never used"));
    assert_eq!(
        warnings("action a(bit<8> x) { } table t { actions = { a; } }", "t.apply();"),
        unused("parameter `x` of action `a` is never used")
    );
    assert_eq!(warnings("counter(8, CounterType.packets) c;", ""), unused("instance `c` is never used"));
    assert!(warnings("action a(bit<8> _x) { } table t { actions = { a; } }", "bit<8> _v; t.apply();").is_empty(), "a name that says so");
}

#[test]
fn a_kind_of_warning_is_turned_off_where_it_is_not_wanted() {
    let read = "bit<8> v; action take() { h.h.a = v; }";
    assert_eq!(warnings(read, "take();").len(), 1);
    assert!(warnings(&format!("@noWarn(\"uninitialized\") {read}"), "take();").is_empty());
    assert_eq!(warnings(&format!("@noWarn(\"unused\") {read}"), "take();").len(), 1, "another kind");
    let table = "table never { key = { h.h.a: exact; } actions = { NoAction; } }";
    assert_eq!(warnings(table, ""), ["unused: table `never` is never applied"]);
    assert!(warnings(&format!("@noWarn(\"truncated\", \"unused\") {table}"), "").is_empty());
    assert_eq!(warnings(&format!("@noWarn(unused) {table}"), "").len(), 2, "what says nothing does nothing, and is said");
}
