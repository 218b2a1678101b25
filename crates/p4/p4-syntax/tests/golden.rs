//! Does each program under `tests/golden` parse to the text, or fail with the messages, that stand beside it?
//!
//! `x.p4` is compared with `x.expected`: first the diagnostics, then the tree as the printer writes it. Run with `UPDATE=1`
//! to accept what comes out, and read the difference before committing it. Programs without errors must also survive
//! being printed and parsed again.

mod common;

use common::{MINI_CORE, without_spans};
use p4_syntax::{Options, parse_file, parse_str, printer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn golden_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// What a golden file holds for one program.
fn outcome(input: &Path, opts: &Options) -> String {
    let parsed = parse_file(input, opts);
    let mut out = String::new();
    if !parsed.diagnostics.is_empty() {
        // The folder differs from machine to machine.
        let dir = golden_dir().display().to_string();
        let _ = writeln!(out, "{}----", parsed.render().replace(&format!("{dir}/"), "").replace(&dir, "."));
    }
    let printed = printer::print_program(&parsed.program);
    out.push_str(&printed);
    if parsed.is_ok() {
        let again = parse_str("printed", &printed, opts);
        assert!(again.is_ok(), "{}: the printed text does not parse:\n{}", input.display(), again.render());
        assert_eq!(without_spans(&parsed.program), without_spans(&again.program), "{}: printing changed the tree", input.display());
        assert_eq!(printed, printer::print_program(&again.program), "{}: printing is not stable", input.display());
    }
    out
}

#[test]
fn programs_give_the_expected_text() {
    let builtin = |name: &str| (name == "mini_core.p4").then_some(MINI_CORE);
    let defines = [("FROM_COMMAND_LINE".to_string(), "7".to_string())].into();
    let opts = Options { include_paths: vec![golden_dir().join("include")], defines, builtin: &builtin };
    let mut inputs: Vec<PathBuf> = std::fs::read_dir(golden_dir()).unwrap().map(|e| e.unwrap().path()).collect();
    inputs.retain(|p| p.extension().is_some_and(|e| e == "p4"));
    inputs.sort();
    assert!(inputs.len() >= 28, "only {} golden programs are there", inputs.len());
    let mut wrong = Vec::new();
    for input in inputs {
        let actual = outcome(&input, &opts);
        let expected_path = input.with_extension("expected");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&expected_path, &actual).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("== {}\n-- expected\n{expected}\n-- actual\n{actual}", input.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} programs differ; run with UPDATE=1 to accept", wrong.join("\n"), wrong.len());
}
