//! P4 programs: any text is understood or gets diagnostics, in bounded time; what is understood can be printed and read again,
//! and what compiles keeps the promises of [`p4_meaning`].

use super::p4_meaning;
use p4_syntax::{Options, Severity, parse_str, printer};

/// Reads and compiles `data` as a P4_16 program. No file is opened, whatever it includes.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if parses(&text) {
        compiles(&text);
    }
}

fn parses(text: &str) -> bool {
    let options = Options { builtin: &p4_check::builtin, ..Options::default() };
    let parsed = parse_str("fuzz.p4", text, &options);
    assert_eq!(parsed.is_ok(), parsed.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error));
    assert_eq!(parsed.render().is_empty(), parsed.diagnostics.is_empty());
    if !parsed.is_ok() {
        return false;
    }
    let printed = printer::print_program(&parsed.program);
    let again = parse_str("printed.p4", &printed, &options);
    assert!(again.is_ok(), "printed as:\n{printed}\n{}", again.render());
    assert_eq!(printer::print_program(&again.program), printed, "printing is not stable");
    true
}

fn compiles(text: &str) {
    // The checker runs in a thread and turns a panic there into a diagnostic; here it counts as one.
    let unbroken = |failure: p4_check::Failure| {
        let is_ours = |diagnostic: &p4_syntax::Diagnostic| diagnostic.code == "internal";
        assert!(!failure.diagnostics.iter().any(is_ours), "{}", failure.render());
        assert!(failure.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error), "refused without an error");
    };
    let options = p4_check::Options::default();
    let _ = p4_check::check_str("fuzz.p4", text, &options).map_err(unbroken);
    if let Ok(compiled) = p4_check::compile_str("fuzz.p4", text, &options).map_err(unbroken) {
        assert_eq!(compiled.render_warnings().is_empty(), compiled.warnings.is_empty());
        assert!(!compiled.ir.to_string().is_empty());
        p4_meaning::check(text, &compiled.ir);
    }
}
