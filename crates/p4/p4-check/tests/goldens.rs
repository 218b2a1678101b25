//! Does every program compile to what it did, and does every fault get the message it had?
//!
//! `tests/ok/x.p4` has its warnings and IR beside it in `x.ir`; `tests/err/x.p4` has its diagnostics in `x.txt`, and so has
//! `tests/check/x.p4`, which is only checked. `tests/arch/x.p4` is for other architectures, and
//! `tests/language/x.p4` uses what the language has: both are without fault. To accept a change run the tests with `UPDATE=1` and read the difference.

use p4_check::{Options, check_file, compile_file};
use std::fs;
use std::path::{Path, PathBuf};

fn programs(dir: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|x| x == "p4")).collect();
    files.sort();
    files
}

/// Compares with the stored text, or stores it.
fn golden(path: &Path, text: &str, wrong: &mut Vec<String>) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, text).unwrap();
        return;
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    if stored != text {
        let at = stored.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(stored.lines().count().min(text.lines().count()));
        let line = |t: &str| t.lines().nth(at).unwrap_or("(end)").to_owned();
        wrong.push(format!("{} line {}:\n  stored: {}\n  now:    {}", path.display(), at + 1, line(&stored), line(text)));
    }
}

#[test]
fn good_programs_compile_to_what_they_did() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for p in programs("tests/ok") {
        match compile_file(&p, &Options::default()) {
            Ok(c) => {
                p4_ir::verify(&c.ir).unwrap_or_else(|e| panic!("{}: {e:?}", p.display()));
                golden(&p.with_extension("ir"), &format!("{}{}", c.render_warnings(), c.ir), &mut wrong);
            }
            Err(e) => wrong.push(format!("{} does not compile:\n{e}", p.display())),
        }
        count += 1;
    }
    assert!(count >= 15, "only {count} programs were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_get_the_messages_they_had() {
    let (mut wrong, mut count, mut codes) = (Vec::new(), 0, std::collections::BTreeSet::new());
    for p in programs("tests/err") {
        match compile_file(&p, &Options::default()) {
            Ok(_) => wrong.push(format!("{} compiles", p.display())),
            Err(e) => {
                assert!(e.diagnostics.iter().any(p4_syntax::Diagnostic::is_error));
                assert!(e.diagnostics.iter().all(|d| d.code != "internal"), "{}:\n{e}", p.display());
                codes.extend(e.diagnostics.iter().map(|d| d.code));
                golden(&p.with_extension("txt"), &e.render(), &mut wrong);
            }
        }
        count += 1;
    }
    assert!(count >= 80, "only {count} programs were found");
    assert!(codes.len() >= 30, "only {} kinds of fault: {codes:?}", codes.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_of_programs_that_are_only_checked_get_the_messages_they_had() {
    let (mut wrong, mut count, mut codes) = (Vec::new(), 0, std::collections::BTreeSet::new());
    for p in programs("tests/check") {
        match check_file(&p, &Options::default()) {
            Ok(_) => wrong.push(format!("{} is accepted", p.display())),
            Err(e) => {
                assert!(e.diagnostics.iter().all(|d| !matches!(d.code, "internal" | "unsupported")), "{}:\n{e}", p.display());
                count += e.diagnostics.iter().filter(|d| d.is_error()).count();
                codes.extend(e.diagnostics.iter().map(|d| d.code));
                golden(&p.with_extension("txt"), &e.render(), &mut wrong);
            }
        }
    }
    assert!(count >= 150, "only {count} faults were found");
    assert!(codes.len() >= 30, "only {} kinds of fault: {codes:?}", codes.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_without_fault_are_accepted_and_a_fault_in_them_is_found() {
    let mut count = 0;
    for p in [programs("tests/arch"), programs("tests/language")].concat() {
        match check_file(&p, &Options::default()) {
            Ok((map, warnings)) => assert!(warnings.is_empty(), "{}", p4_syntax::render_all(&warnings, &map)),
            Err(e) => panic!("{}:\n{e}", p.display()),
        }
        // A name that is not there, wherever the body of a control first says `apply`.
        let text = fs::read_to_string(&p).unwrap().replacen("apply {", "apply { nowhere = 1;", 1).replacen(
            "state start {",
            "state start { nowhere = 1;",
            1,
        );
        let e = p4_check::check_str("x.p4", &text, &Options::default()).expect_err("a name that is not declared");
        assert!(e.diagnostics.iter().filter(|d| d.is_error()).all(|d| d.code == "undeclared"), "{}:\n{e}", p.display());
        assert!(compile_file(&p, &Options::default()).is_err(), "{} cannot run here", p.display());
        count += 1;
    }
    assert!(count >= 12, "only {count} programs were found");
}
