//! Does bad input ever make the compiler fail, hang or overflow its stack? Mutated programs, and programs made to explode.

use p4_check::{Options, check_str, compile_str};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use testkit::CpuTime;

/// Processor time that no program takes more of, whatever is in it.
const MOST_TIME: Duration = Duration::from_secs(20);

/// One program at a time, so that its processor time is the process's.
static ONE: Mutex<()> = Mutex::new(());

/// Compiles and checks; gives the codes of the diagnostics.
fn codes(text: &str) -> Vec<&'static str> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let start = CpuTime::new();
    let compiled = compile_str("hostile.p4", text, &Options::default());
    assert!(start.elapsed() < MOST_TIME, "took {:?}:\n{}", start.elapsed(), &text[..text.len().min(2000)]);
    match compiled {
        Ok(c) => {
            assert!(p4_ir::verify(&c.ir).is_ok(), "{text}");
            Vec::new()
        }
        Err(f) => {
            let internal = f.diagnostics.iter().find(|d| d.code == "internal");
            assert!(internal.is_none(), "{:?}\n{text}", internal);
            f.diagnostics.iter().map(|d| d.code).collect()
        }
    }
}

/// A repeatable sequence of numbers (an LCG; its high bits are good enough to choose by).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below.max(1)
    }
}

/// Words, numbers, single marks and blanks.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut last = None;
    for (i, c) in text.char_indices() {
        if let Some(l) = last
            && (class(c) != l || l == 2)
        {
            out.push(&text[start..i]);
            start = i;
        }
        last = Some(class(c));
    }
    out.push(&text[start..]);
    out
}

fn mutate(tokens: &[&str], dice: &mut Dice) -> String {
    let nasty = [
        "0",
        "128",
        "129",
        "65536",
        "0xffffffffffffffffffffffffffffffffff",
        "(",
        "{",
        "...",
        "_",
        "8w255",
        "-",
        "~",
        "bit<0>",
        "bit<129>",
        "int",
        "error",
        "apply",
        "in",
        "out",
        "inout",
        "headers_t",
        "meta",
        "true",
        "}",
        ";",
        "exit",
        "return",
        "int<1>",
        "&&&",
        "..",
        "4s9",
        "void",
        "next",
        "last",
        "extract",
        "varbit<8>",
        "string",
        "\"s\"",
        "packet_in",
        "tuple<>",
        "main",
        "hdr",
        "1 << 9999",
        "P()",
        "I()",
        "[0]",
        "[7:0]",
    ];
    let mut out: Vec<&str> = tokens.to_vec();
    for _ in 0..1 + dice.roll(3) {
        let (i, j) = (dice.roll(out.len()), dice.roll(out.len()));
        match dice.roll(5) {
            0 => {
                out.remove(i);
            }
            1 => out.insert(i, out[j]),
            2 => out.swap(i, j),
            3 => out[i] = out[j],
            _ => out[i] = nasty[dice.roll(nasty.len())],
        }
    }
    out.concat()
}

#[test]
fn mutated_programs_give_diagnostics_only() {
    let head = std::fs::read_to_string("tests/frame/head.p4").unwrap();
    let tail = std::fs::read_to_string("tests/frame/tail.p4").unwrap();
    let mut dice = Dice(1);
    let (mut good, mut bad) = (0, 0);
    for entry in std::fs::read_dir("tests/ok").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "p4") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("#include \"../frame/head.p4\"", &head).replace("#include \"../frame/tail.p4\"", &tail);
        let tokens = tokens(&text);
        assert!(codes(&tokens.concat()).is_empty(), "{}", path.display());
        for _ in 0..100 {
            let mutant = mutate(&tokens, &mut dice);
            if codes(&mutant).is_empty() {
                good += 1
            } else {
                bad += 1
            }
            let _ = check_str("hostile.p4", &mutant, &Options::default());
        }
    }
    assert!(good > 50 && bad > 500, "{good} mutants compiled, {bad} did not: the mutations are too mild or too wild");
}

#[test]
fn mutated_programs_of_other_architectures_give_diagnostics_only() {
    let mut dice = Dice(20260131);
    let (mut accepted, mut refused) = (0, 0);
    for dir in ["tests/arch", "tests/check"] {
        let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "p4")) {
            let text = std::fs::read_to_string(path).unwrap();
            let tokens = tokens(&text);
            for _ in 0..40 {
                let text = mutate(&tokens, &mut dice);
                let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
                let start = CpuTime::new();
                match check_str("hostile.p4", &text, &Options::default()) {
                    Ok(_) => accepted += 1,
                    Err(f) => {
                        refused += 1;
                        assert!(f.diagnostics.iter().all(|d| d.code != "internal"), "{f}\n{text}");
                    }
                }
                assert!(start.elapsed() < MOST_TIME, "{text}");
            }
        }
    }
    assert!(accepted > 5 && refused > 300, "{accepted} accepted, {refused} refused");
}

/// As above with the `.p4` files of the folder `P4_CORPUS`: for long runs.
#[test]
#[ignore = "needs a corpus: P4_CORPUS=folder cargo test -p p4-check --test hostile -- --ignored"]
fn mutated_corpus_gives_diagnostics_only() {
    let folder = std::env::var("P4_CORPUS").expect("P4_CORPUS names a folder");
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut dice = Dice(seed);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "p4") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let tokens = tokens(&text);
        for _ in 0..30 {
            let mutant = mutate(&tokens, &mut dice);
            codes(&mutant);
            if let Err(f) = check_str("hostile.p4", &mutant, &Options::default()) {
                assert!(f.diagnostics.iter().all(|d| d.code != "internal"), "{f}\n{mutant}");
            }
            count += 1;
        }
    }
    assert!(count > 0);
}

/// A program whose ingress has these declarations before it, these in it and this body.
fn program(top: &str, locals: &str, body: &str) -> String {
    let head = std::fs::read_to_string("tests/frame/head.p4").unwrap();
    let tail = std::fs::read_to_string("tests/frame/tail.p4").unwrap();
    let types = "struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }\nstruct meta_t { bit<32> x; bit<8> y; bool ok; }\n";
    format!(
        "{head}\n#define OWN_TYPES\n#define OWN_INGRESS\n{types}{top}\ncontrol I(inout headers_t hdr, inout meta_t meta, inout \
         standard_metadata_t std) {{\n{locals}\napply {{\n{body}\n}}\n}}\n{tail}"
    )
}

#[test]
fn calls_that_double_at_each_level_are_refused() {
    let mut top = String::from("bit<32> f0(in bit<32> v) { return v + 1; }\n");
    for i in 1..60 {
        let _ = writeln!(top, "bit<32> f{i}(in bit<32> v) {{ return f{}(v) + f{}(v); }}", i - 1, i - 1);
    }
    assert_eq!(codes(&program(&top, "", "meta.x = f59(1);")), ["too-large"]);
}

#[test]
fn long_chains_of_calls_are_refused() {
    let mut top = String::from("bit<32> f0(in bit<32> v) { return v + 1; }\n");
    for i in 1..2000 {
        let _ = writeln!(top, "bit<32> f{i}(in bit<32> v) {{ return f{}(v); }}", i - 1);
    }
    assert!(codes(&program(&top, "", "meta.x = f1999(1);")).contains(&"too-deep"));
    assert!(codes(&program(&top, "", "meta.x = f9(1);")).contains(&"too-deep"), "what is not used is looked at too");
}

#[test]
fn types_that_double_at_each_level_are_refused() {
    let mut top = String::from("struct s0_t { bit<8> a; }\n");
    let mut tuples = String::from("typedef tuple<bit<8>> t0_t;\n");
    let mut generic = String::from("struct g_t<T> { T a; T b; }\ntypedef g_t<bit<8>> g0_t;\n");
    for i in 1..100 {
        let _ = writeln!(top, "struct s{i}_t {{ s{}_t a; s{}_t b; }}", i - 1, i - 1);
        let _ = writeln!(tuples, "typedef tuple<t{}_t, t{}_t> t{i}_t;", i - 1, i - 1);
        let _ = writeln!(generic, "typedef g_t<g{}_t> g{i}_t;", i - 1);
    }
    for (text, ty, code) in [(&top, "s99_t", "limit"), (&tuples, "t99_t", "limit"), (&generic, "g99_t", "self-reference")] {
        assert!(codes(&program(text, &format!("{ty} v;"), "")).contains(&code), "{ty}");
    }
}

#[test]
fn numbers_without_end_are_refused() {
    let mut top = String::from("const int n0 = 3;\n");
    for i in 1..60 {
        let _ = writeln!(top, "const int n{i} = n{} * n{};", i - 1, i - 1);
    }
    assert!(codes(&program(&top, "", "")).contains(&"limit"));
    assert!(codes(&program("const int n = 1 << (1 << 60);", "", "")).contains(&"limit"));
    assert!(codes(&program("const int n = 1 << -1;", "", "")).contains(&"shift"));
    let digits = "9".repeat(100_000);
    assert!(!codes(&program(&format!("const int n = {digits}; const int m = n * n;"), "", "")).is_empty());
    assert!(!codes(&program("", "register<bit<8>>(0xffffffffffff) r;", "")).is_empty());
    assert!(!codes(&program("", "", "tag_t[4000000000] t;")).is_empty());
}

#[test]
fn deep_nesting_is_refused_or_done() {
    let deep = |open: &str, mid: &str, close: &str, n: usize| format!("{}{mid}{}", open.repeat(n), close.repeat(n));
    for n in [50, 99, 5000] {
        codes(&program("", "", &format!("meta.x = {};", deep("(", "1", ")", n))));
        codes(&program("", "", &format!("meta.x = {};", deep("~", "meta.x", "", n))));
        codes(&program("", "", &format!("meta.x = meta.x{};", " + meta.x".repeat(n))));
        codes(&program("", "", &deep("if (meta.ok) {", "meta.x = 1;", "}", n)));
        codes(&program("", "", &deep("{", "meta.x = 1;", "}", n)));
        codes(&program("", "", &deep("for (bit<8> k in 1 .. 3) ", "meta.x = 1;", "", n)));
        codes(&program("", "", &format!("meta.ok = {};", deep("meta.ok ? true : ", "false", "", n))));
        codes(&program("", &format!("{} v;", deep("tuple<", "bit<8>", ">", n)), ""));
        codes(&program("", "", &deep("switch (meta.y) { 1: {", "meta.x = 1;", "} }", n)));
    }
}

#[test]
fn a_chain_of_else_ifs_may_be_long() {
    let chain =
        |n: usize| (0..n).map(|i| format!("if (meta.x == {i}) {{ meta.y = {}; }} else ", i % 7)).collect::<String>() + "meta.y = 9;";
    for n in [15, 17, 3000] {
        assert_eq!(codes(&program("", "", &chain(n))), Vec::<&str>::new(), "{n}");
    }
    let wrong = chain(2000).replace("meta.x == 1999)", "meta.q == 1999)");
    assert_eq!(codes(&program("", "", &wrong)), ["unknown-member"]);
}

#[test]
fn unrolled_loops_that_multiply_are_refused() {
    let list: Vec<String> = (0..100).map(|i| format!("8w{i}")).collect();
    let list = list.join(", ");
    let mut body = String::new();
    for i in 0..8 {
        let _ = write!(body, "for (bit<8> k{i} in {{ {list} }}) {{");
    }
    let _ = write!(body, "meta.x = meta.x + 1;{}", "}".repeat(8));
    assert!(codes(&program("", "", &body)).contains(&"too-large"));
}

#[test]
fn many_faults_do_not_make_endless_messages() {
    let body = "meta.q = 1;\n".repeat(5000);
    assert!(codes(&program("", "", &body)).len() < 100);
}

/// A product grows with the square of the width, a shift by any amount with its logarithm.
#[test]
fn work_on_wide_numbers_is_bounded() {
    let body = |width: u32, what: &str, times: usize| format!("bit<{width}> a = (bit<{width}>)meta.x;\n{}", what.repeat(times));
    assert!(codes(&program("", "", &body(8192, "a = a * a;\n", 1))).is_empty());
    assert_eq!(codes(&program("", "", &body(65536, "a = a * a;\n", 1))), ["too-large"]);
    assert!(codes(&program("", "", &body(65536, "a = a << meta.x;\n", 1))).is_empty());
    assert_eq!(codes(&program("", "", &body(65536, "a = a << meta.x;\n", 1000))), ["too-large"]);
    assert_eq!(codes(&program("", "", &body(65536, "a = -a;\n", 1000))), ["too-large"]);
    assert!(codes(&program("", "", &body(65536, "a[60000:10] = a[59995:5] + 1;\n", 1))).is_empty());
    assert_eq!(codes(&program("", "", &body(65536, "a[60000:10] = a[59995:5] + 1;\n", 1000))), ["too-large"]);
    assert_eq!(codes(&program("", "", "bit<65536> a = 1; meta.ok = (a ++ a) == 1;")), ["limit"]);
}
