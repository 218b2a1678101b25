//! What went wrong, said so that the user can mend it: diagnostics and their rendering.

use crate::span::{SourceMap, Span};
use std::fmt::Write as _;

/// How bad a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program is rejected.
    Error,
    /// The program is accepted, but something looks wrong.
    Warning,
}

/// A second place that explains a diagnostic, with what to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What, in one line.
    pub message: String,
}

/// One error or warning. Shared by the parser, the checker and the passes behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable short name of the kind of problem, such as `syntax` or `type-mismatch`.
    pub code: &'static str,
    /// The one-line message.
    pub message: String,
    /// The place that is marked with `^^^`.
    pub span: Span,
    /// Text put behind the `^^^`, such as what was expected there.
    pub label: Option<String>,
    /// Other places that matter, in the order to show them.
    pub labels: Vec<Label>,
    /// Further remarks without a place.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            label: None,
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Puts text behind the `^^^` of the main place.
    pub fn with_label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Points at another place.
    pub fn with_place(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a remark.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Whether this is an error (not a warning).
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Whether any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// All diagnostics as text, in the order given, a blank line between two.
pub fn render_all(diagnostics: &[Diagnostic], map: &SourceMap) -> String {
    diagnostics.iter().map(|d| render(d, map)).collect::<Vec<_>>().join("\n")
}

/// One diagnostic as text, ending in a line end:
///
/// ```text
/// main.p4:3:9: error[syntax]: expected `;`, found `}`
///   3 |     x = 1 }
///     |          ^ expected `;`
///   help: put a `;` after the expression
/// ```
pub fn render(diagnostic: &Diagnostic, map: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{}: {severity}[{}]: {}\n", map.location(diagnostic.span), diagnostic.code, diagnostic.message);
    snippet(&mut out, map, diagnostic.span, diagnostic.label.as_deref().unwrap_or(""));
    for label in &diagnostic.labels {
        let _ = writeln!(out, "  {}: {}", map.location(label.span), label.message);
        snippet(&mut out, map, label.span, "");
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  help: {help}");
    }
    include_chain(&mut out, map, diagnostic.span);
    out
}

/// The longest part of a source line that is shown, in characters: hostile input may have lines of megabytes.
const MAX_LINE: usize = 160;

/// Writes the source line and the `^^^` under the span's part of it. A span over several lines is marked on its first.
fn snippet(out: &mut String, map: &SourceMap, span: Span, label: &str) {
    let Some(file) = map.get(span.file) else { return };
    let at = file.line_col(span.lo);
    let text = file.line_text(at.line);
    let start = at.col as usize - 1;
    let in_line = file.text.get(span.lo as usize..span.hi as usize).unwrap_or("").split('\n').next().unwrap_or("");
    let skip = start.saturating_sub(MAX_LINE / 2);
    let skip = if text.chars().take(MAX_LINE + 1).count() > MAX_LINE { skip } else { 0 };
    // Tabs become single spaces so that the marks stand under the text they mean; control characters never reach a terminal.
    let shown: String = text.chars().skip(skip).take(MAX_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let width = in_line.trim_end().chars().take(MAX_LINE).count().clamp(1, (MAX_LINE + skip).saturating_sub(start).max(1));
    let number = at.line.to_string();
    let pad = " ".repeat(number.len());
    let _ = writeln!(out, "  {number} | {}", shown.trim_end());
    let marks = format!("  {pad} | {}{} {label}", " ".repeat(start - skip), "^".repeat(width));
    let _ = writeln!(out, "{}", marks.trim_end());
}

/// Says through which `#include`s the file of a diagnostic was reached.
fn include_chain(out: &mut String, map: &SourceMap, span: Span) {
    let mut file = span.file;
    // A file is added after the file that includes it, so ids fall along the chain and the loop ends.
    while let Some(from) = map.get(file).and_then(|f| f.included_from) {
        let _ = writeln!(out, "  note: included from {}", map.location(from));
        if from.file >= file {
            break;
        }
        file = from.file;
    }
}

/// How many errors are reported before the rest is left unsaid.
pub(crate) const MAX_ERRORS: usize = 100;

/// Collects diagnostics, at most [`MAX_ERRORS`] errors and as many warnings.
#[derive(Default)]
pub(crate) struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    /// Adds a diagnostic; past the limit it is dropped, after one last error that says so.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        match (*count).cmp(&(MAX_ERRORS + 1)) {
            std::cmp::Ordering::Less => self.list.push(diagnostic),
            std::cmp::Ordering::Equal if diagnostic.is_error() => {
                self.list.push(Diagnostic::error("limit", diagnostic.span, format!("more than {MAX_ERRORS} errors, giving up")));
            }
            _ => {}
        }
    }

    /// Whether the limit is reached and going on is pointless.
    pub(crate) fn full(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}
