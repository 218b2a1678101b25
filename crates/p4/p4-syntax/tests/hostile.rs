//! Does anything make the parser panic, overflow a 2 MiB stack or run for ever? Soups of tokens and bytes, damaged
//! programs, and inputs made to blow up.

mod common;

use common::MINI_CORE;
use p4_syntax::{Options, ast, parse_str, printer};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::Duration;
use testkit::CpuTime;

/// Parses and does everything a caller does with the result. Gives the rendered diagnostics.
fn exercise(text: &str) -> String {
    let builtin = |name: &str| match name {
        "mini_core.p4" => Some(MINI_CORE),
        "self" => Some("#include \"self\"\n#include \"self\"\n"),
        _ => None,
    };
    let parsed = parse_str("hostile.p4", text, &Options { builtin: &builtin, ..Options::default() });
    let rendered = parsed.render();
    let printed = printer::print_program(&parsed.program);
    if parsed.is_ok() {
        let again = parse_str("printed.p4", &printed, &Options::default());
        assert!(again.is_ok(), "input:\n{text}\nprinted:\n{printed}\n{}", again.render());
    }
    assert!(format!("{:?}", parsed.program).len() < 100_000_000);
    let clone: ast::Program = parsed.program.clone();
    assert!(clone == parsed.program);
    rendered
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

const WORDS: &str = "abstract action actions apply bool bit break const continue control default else entries enum error exit extern \
    false for header header_union if in inout int key list match_kind out package parser priority return select state string struct \
    switch table this transition true tuple type typedef value_set varbit void _ pragma a b T start accept reject \
    + - * / % |+| |-| & | ^ ~ ! << >> < > <= >= == != && || ++ &&& .. ... ? : ; , . = += -= |+|= <<= >>= ( ) [ ] { } {#} @ # \
    0 1 8w255 4s1 0xFF \"s\" \n#define \n#if \n#else \n#endif \n#include \n/* */ // \\ '";

#[test]
fn token_soups_do_no_harm() {
    let words: Vec<&str> = WORDS.split(' ').filter(|w| !w.is_empty()).collect();
    let soup = prop::collection::vec(prop::sample::select(words), 0..120).prop_map(|w| w.join(" "));
    let start = CpuTime::new();
    runner(20_000)
        .run(&soup, |text| {
            exercise(&text);
            exercise(&format!("control c() {{ action a() {{ {text}"));
            exercise(&format!("parser p() {{ state start {{ transition select(x) {{ {text}"));
            exercise(&format!("const int x = {text};"));
            Ok(())
        })
        .unwrap();
    assert!(start.elapsed() < Duration::from_secs(120));
}

#[test]
fn random_bytes_do_no_harm() {
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    runner(10_000)
        .run(&bytes, |b| {
            exercise(&String::from_utf8_lossy(&b));
            Ok(())
        })
        .unwrap();
}

#[test]
fn damaged_programs_do_no_harm() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "p4"));
    files.sort();
    let texts: Vec<String> = files.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect();
    let damage = (prop::sample::select(texts), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4u8);
    runner(1500)
        .run(&damage, |(text, from, to, how)| {
            let chars: Vec<char> = text.chars().collect();
            let (a, b) = (from.index(chars.len()), to.index(chars.len()));
            let (lo, hi) = (a.min(b), a.max(b));
            let damaged: String = match how {
                // Cut off, cut out, doubled, or one character dropped.
                0 => chars[..lo].iter().collect(),
                1 => chars[..lo].iter().chain(&chars[hi..]).collect(),
                2 => chars[..hi].iter().chain(&chars[lo..]).collect(),
                _ => chars[..lo].iter().chain(&chars[(lo + 1).min(chars.len())..]).collect(),
            };
            exercise(&damaged);
            Ok(())
        })
        .unwrap();
}

/// Runs `exercise` on a thread with the standard library's usual stack of 2 MiB and bounds the time.
#[track_caller]
fn bounded(name: &str, text: String) -> String {
    let start = CpuTime::new();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || exercise(&text)).unwrap();
    let rendered = thread.join().unwrap_or_else(|_| panic!("{name} panicked"));
    assert!(start.elapsed() < Duration::from_secs(30), "{name} took {:?}", start.elapsed());
    rendered
}

fn in_apply(stmts: String) -> String {
    format!("control c() {{ apply {{ {stmts} }} }}")
}

/// Every way to nest: wanted `depth` times, as the text of a program.
fn nested(depth: usize) -> Vec<(&'static str, String)> {
    let around = |open: &str, core: &str, close: &str| format!("{}{core}{}", open.repeat(depth), close.repeat(depth));
    vec![
        ("parentheses", in_apply(format!("x = {};", around("(", "1", ")")))),
        ("calls", in_apply(format!("x = {};", around("f(", "1", ")")))),
        ("lists", in_apply(format!("x = {};", around("{", "1", "}")))),
        ("struct lists", in_apply(format!("x = {};", around("{a = ", "1", "}")))),
        ("ternaries", in_apply(format!("x = {};", around("a ? ", "1", " : 1")))),
        ("indices", in_apply(format!("x = {};", around("a[", "1", "]")))),
        ("sums", in_apply(format!("x = 1{};", "+1".repeat(depth)))),
        ("signs", in_apply(format!("x = {}1;", "-".repeat(depth)))),
        ("casts", in_apply(format!("x = {}1;", "(bit<8>)".repeat(depth)))),
        ("members", in_apply(format!("x = a{};", ".a".repeat(depth)))),
        ("blocks", in_apply(around("{", "", "}"))),
        ("ifs", in_apply(format!("{} x = 1;", "if (a) ".repeat(depth)))),
        ("elses in blocks", in_apply(around("if (a) x = 1; else {", "x = 1;", "}"))),
        ("loops", in_apply(format!("{} x = 1;", "for (bit<8> i in 1 .. 2) ".repeat(depth)))),
        ("tuples", format!("typedef {} t;", around("tuple<", "bit", ">"))),
        ("widths", format!("typedef {} t;", around("bit<((bit<8>) ", "1", ")>"))),
        ("arrays", format!("typedef bit{} t;", "[1]".repeat(depth))),
        ("objects", around("T() x = {", "", "};")),
        ("keysets", in_apply(format!("x = {};", around("(a &&& ", "1", ")")))),
    ]
}

#[test]
fn deep_nesting_is_refused_politely() {
    for (name, text) in nested(50_000) {
        let rendered = bounded(name, text);
        assert!(rendered.contains("error["), "{name}: accepted");
        assert!(rendered.len() < 100_000, "{name}: {} bytes of diagnostics", rendered.len());
    }
}

#[test]
fn nesting_up_to_the_limit_is_accepted() {
    // Widths count twice: as a type and as the expression inside.
    for (name, text) in nested(40).into_iter().filter(|(name, _)| !matches!(*name, "keysets" | "widths")) {
        assert_eq!(bounded(name, text), "", "{name}");
    }
    for (name, text) in nested(95).into_iter().filter(|(name, _)| matches!(*name, "parentheses" | "blocks" | "sums")) {
        assert_eq!(bounded(name, text), "", "{name}");
    }
}

#[test]
fn a_chain_of_else_ifs_may_be_as_long_as_it_likes() {
    let chain = |end: &str| in_apply(format!("{}{end}", "if (a) x = 1; else ".repeat(50_000)));
    assert_eq!(bounded("else ifs", chain("x = 2;")), "");
    assert!(bounded("else without a statement", chain("")).contains("error["));
}

#[test]
fn explosions_end_in_an_error() {
    let n = 20_000;
    let cases = [
        ("doubling macros", (0..100).map(|i| format!("#define b{i} b{} b{}\n", i + 1, i + 1)).collect::<String>() + "b0", "limit"),
        ("doubling calls", (0..100).map(|i| format!("#define b{i}(x) b{}(x x)\n", i + 1)).collect::<String>() + "b0(1)", "limit"),
        ("nested macro calls", format!("#define f(x) x\n{}1{}", "f(".repeat(n), ")".repeat(n)), "limit"),
        ("chained macros", (0..n).map(|i| format!("#define m{i} m{}\n", i + 1)).collect::<String>() + "m0", "syntax"),
        ("self include", "#include \"self\"\n".to_string(), "limit"),
        ("open conditions", "#if 1\n".repeat(n), "preprocessor"),
        ("deep condition", format!("#if {}1{}\n#endif", "(".repeat(n), ")".repeat(n)), "preprocessor"),
        ("long condition", format!("#if 1{}\n#endif", " ? 1 : 1".repeat(n)), "preprocessor"),
        ("open annotation", format!("@a({}", "(".repeat(n)), "syntax"),
        ("type arguments or not", in_apply("x = a.b<bit<(".repeat(n)), "syntax"),
        ("statement or not", in_apply("a<bit<(a[(".repeat(n)), "syntax"),
        ("comparison or not", in_apply("x.a<b,".repeat(n)), "syntax"),
        ("open brackets", in_apply("a[".repeat(n)), "limit"),
        ("long number", format!("const int x = {};", "9".repeat(2_000_000)), "lex"),
        ("long line", format!("const int x = {} 1 2;", " ".repeat(2_000_000)), "syntax"),
        ("errors everywhere", "§ ; } ".repeat(n), "limit"),
        ("never closed", "control c() { apply {".repeat(n), "syntax"),
    ];
    for (name, text, code) in cases {
        let rendered = bounded(name, text);
        assert!(rendered.contains(&format!("error[{code}]")), "{name}: {}", &rendered[..rendered.len().min(2000)]);
        assert!(rendered.len() < 100_000, "{name}: {} bytes of diagnostics", rendered.len());
    }
}
