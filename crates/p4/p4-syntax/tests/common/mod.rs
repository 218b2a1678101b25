//! What several test files need.

#![allow(dead_code, reason = "each test file uses a part")]

use p4_syntax::ast::{DeclKind, Expr, Program};
use p4_syntax::{Options, parse_str};

/// A stand-in for the core library, enough to have generic names.
pub(crate) const MINI_CORE: &str = "\
extern packet_in {
    void extract<T>(out T hdr);
    T lookahead<T>();
    void advance(in bit<32> size_in_bits);
}
match_kind { exact, ternary, lpm }
error { NoError, PacketTooShort }
action NoAction() {}
extern void verify(in bool check, in error to_signal);
";

/// A tree as text in which equal trees at different places look equal.
pub(crate) fn without_spans(program: &Program) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in format!("{program:?}").chars() {
        match c {
            '‹' => inside = true,
            '›' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// Parses `prelude` and `const int x = <text>;` and gives the expression.
#[track_caller]
pub(crate) fn parse_expr(prelude: &str, text: &str) -> Expr {
    let parsed = parse_str("test", &format!("{prelude}\nconst int x = {text};"), &Options::default());
    assert!(parsed.is_ok(), "{text}:\n{}", parsed.render());
    match parsed.program.decls.last().map(|d| &d.kind) {
        Some(DeclKind::Const(decl)) => decl.value.clone(),
        other => panic!("{text}: not a constant: {other:?}"),
    }
}
