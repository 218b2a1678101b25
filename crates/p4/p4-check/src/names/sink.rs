//! Which diagnostics are given? Each once for its place and text, and no more than somebody reads. After too many errors checking stops.

use p4_syntax::{Diagnostic, Severity, Span};
use std::collections::HashSet;

/// Errors after which nothing more is said.
const MAX_DIAGNOSTICS: usize = 60;
/// Warnings after which no more are given.
const MAX_WARNINGS: usize = 200;

/// Proof that a diagnostic was reported, which only this file gives; the caller that receives it returns without another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported(());

/// What fails has been reported.
pub(crate) type R<T> = Result<T, Reported>;

/// The diagnostics so far.
pub(crate) struct Sink {
    given: Vec<Diagnostic>,
    said: HashSet<(Span, String)>,
    errors: usize,
    warnings: usize,
    stopped: bool,
    /// Nothing is made of the program.
    check_only: bool,
    /// Kinds of warnings that are not wanted in a place.
    unwanted: Vec<(Span, String)>,
}

impl Sink {
    pub(crate) fn new(check_only: bool) -> Sink {
        Sink { given: Vec::new(), said: HashSet::new(), errors: 0, warnings: 0, stopped: false, check_only, unwanted: Vec::new() }
    }

    /// Gives a diagnostic, once for each place and text: a body inlined twice is not to be blamed twice.
    pub(crate) fn give(&mut self, d: Diagnostic) -> Reported {
        // What this compiler cannot run is no fault of a program that is only checked, but what depends on it stays unchecked.
        let d = match self.check_only && d.code == "unsupported" {
            true => Diagnostic { severity: Severity::Warning, code: "unchecked", help: None, ..d },
            false => d,
        };
        if !self.stopped && self.said.insert((d.span, d.message.clone())) {
            let count = if d.is_error() { &mut self.errors } else { &mut self.warnings };
            *count += 1;
            if d.is_error() || *count <= MAX_WARNINGS {
                self.given.push(d);
            }
            self.stopped |= self.errors >= MAX_DIAGNOSTICS;
        }
        Reported(())
    }

    /// For what is wrong because of something that was reported.
    pub(crate) fn poisoned(&self) -> Reported {
        debug_assert!(self.stopped || !self.said.is_empty(), "there is a message");
        Reported(())
    }

    /// Gives nothing more: a budget is spent.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether everything stops.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn has_errors(&self) -> bool {
        p4_syntax::has_errors(&self.given)
    }

    /// Warnings of that kind are not wanted in a place.
    pub(crate) fn without(&mut self, span: Span, code: &str) {
        self.unwanted.push((span, code.to_owned()));
    }

    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let inside = |outer: Span, span: Span| outer.file == span.file && outer.lo <= span.lo && span.hi <= outer.hi;
        // What is said of a use is not wanted where the declaration says so either.
        let unwanted = |outer: Span, d: &Diagnostic| inside(outer, d.span) || d.labels.iter().any(|l| inside(outer, l.span));
        self.given.retain(|d| d.is_error() || !self.unwanted.iter().any(|(span, code)| *code == d.code && unwanted(*span, d)));
        self.given
    }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
