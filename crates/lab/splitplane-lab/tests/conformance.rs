//! Does `splitplane-lab p4 conformance` find what goes wrong, and does our own corpus pass on every target?

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/splitplane/tests/corpus")
}

/// Seconds for one check, with its compilers, that do not depend on how busy the machine is.
const PATIENCE: &str = "600";

fn conformance(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
    command.args(["p4", "conformance"]).args(args).env("RUST_LOG", "off");
    command.output().expect("the binary runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn our_corpus_passes_on_every_target() {
    let corpus = corpus();
    let floors = "accepted=100,rejected=100,compiled=100,stf=100";
    let targets = "interp,x86";
    let output = conformance(&["--corpus", &corpus.display().to_string(), "--target", targets, "--floor", floors, "--timeout", PATIENCE]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // Every packet test has run on both.
    let tests = std::fs::read_dir(&corpus).unwrap().flatten().filter(|e| e.path().extension().is_some_and(|e| e == "stf")).count();
    for target in ["interp", "x86"] {
        let row: Vec<String> = vec!["all".into(), "stf".into(), target.into(), tests.to_string()];
        let rows = text(&output);
        let found = rows.lines().any(|l| l.split_whitespace().take(4).eq(row.iter().map(String::as_str)));
        assert!(found && tests > 0, "{tests} tests on {target}: {rows}");
    }
}

/// The programs by the specification's sections, which the interpreter's own tests run too.
fn meaning() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/meaning")
}

#[test]
fn programs_mean_what_the_specification_says_natively() {
    let corpus = meaning().display().to_string();
    let output = conformance(&["--corpus", &corpus, "--target", "x86", "--kind", "stf", "--floor", "stf=100", "--timeout", PATIENCE]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn programs_mean_what_the_specification_says_in_the_kernel() {
    if !testkit::root_or_skip("programs_mean_what_the_specification_says_in_the_kernel") {
        return;
    }
    let corpus = meaning().display().to_string();
    let output = conformance(&["--corpus", &corpus, "--target", "xdp", "--kind", "stf", "--floor", "stf=100", "--timeout", PATIENCE]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn our_corpus_passes_in_the_kernel_but_for_what_bpf_cannot_express() {
    if !testkit::root_or_skip("our_corpus_passes_in_the_kernel_but_for_what_bpf_cannot_express") {
        return;
    }
    let corpus = corpus().display().to_string();
    let args = ["--corpus", &corpus, "--target", "xdp", "--kind", "stf", "--floor", "stf=100", "--timeout", PATIENCE];
    let output = conformance(&args);
    let rows = text(&output);
    assert_eq!(output.status.code(), Some(0), "{rows}");
    let row = rows.lines().find(|l| l.starts_with("all")).unwrap_or_default();
    let numbers: Vec<usize> = row.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let [total, excluded, passed, failed] = numbers[..] else { panic!("{rows}") };
    assert!(passed >= 9 && failed == 0 && excluded * 3 <= total, "{rows}");
    // What is excluded is so for a reason, which names a place.
    assert_eq!(
        rows.lines().filter(|l| l.trim_start().starts_with("stf on xdp") && l.contains("does not support")).count(),
        excluded,
        "{rows}"
    );
    assert!(rows.contains("not for xdp:"), "{rows}");
}

#[test]
fn a_missed_floor_fails_the_command_and_an_exclusion_forgives() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("good.p4", "control c(out bit<8> x) { apply { x = 1; } }");
    write("wrong.p4", "control c(out bit<8> x) { apply { x = y; } }");
    let path = folder.path().display().to_string();
    let json = folder.path().join("all.json").display().to_string();
    let output = conformance(&["--corpus", &path, "--floor", "accepted=60", "--json", &json]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("accepted 50.0 % is below 60 %"), "{}", text(&output));
    assert!(text(&output).contains("accepted wrong.p4: [undeclared]"), "{}", text(&output));
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["checks"].as_array().map(Vec::len), Some(2), "{report}");
    write("known", "accepted wrong.p4 y is not declared");
    let known = folder.path().join("known").display().to_string();
    let output = conformance(&["--corpus", &path, "--floor", "accepted=100", "--exclude", &known]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn a_check_that_dies_fails_alone() {
    let corpus = corpus().display().to_string();
    // Less memory than the checker's stack takes.
    let output = conformance(&["--corpus", &corpus, "--only", "forward.p4", "--memory", "40", "--floor", "stf=1"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("forward.p4"), "{}", text(&output));
    let output = conformance(&["--corpus", &corpus, "--only", "forward.p4", "--timeout", "0"]);
    assert!(text(&output).contains("took longer than 0 s"), "{}", text(&output));
}

#[test]
fn a_wrong_packet_test_fails_on_every_target() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(corpus().join("forward.p4"), folder.path().join("f.p4")).unwrap();
    std::fs::write(folder.path().join("f.stf"), "add t hdr.h.key:7 send(port:3)\npacket 1 07 01\nexpect 3 07 01").unwrap();
    let path = folder.path().display().to_string();
    let output = conformance(&["--corpus", &path, "--target", "interp,x86", "--kind", "stf", "--timeout", PATIENCE]);
    for target in ["interp", "x86"] {
        assert!(text(&output).contains(&format!("stf on {target} f.p4")), "{}", text(&output));
    }
}

/// Programs for PNA, whose packet tests the interpreter's own tests run too.
fn pna() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/pna").display().to_string()
}

#[test]
fn programs_for_pna_do_natively_what_their_packet_tests_say() {
    let floors = "accepted=100,stf=100";
    let output = conformance(&["--corpus", &pna(), "--target", "interp,x86", "--floor", floors, "--timeout", PATIENCE]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// One that copies nothing.
#[test]
fn a_program_for_pna_does_in_the_kernel_what_its_packet_test_says() {
    if !testkit::root_or_skip("a_program_for_pna_does_in_the_kernel_what_its_packet_test_says") {
        return;
    }
    let args = ["--only", "steer", "--target", "xdp", "--kind", "stf", "--floor", "stf=100", "--timeout", PATIENCE];
    let output = conformance(&[&["--corpus", &pna()][..], &args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}
