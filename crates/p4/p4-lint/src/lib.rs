//! What in a right program is likely a mistake? Warnings that need the text and its scopes, but no lowering, so that programs that are only
//! checked get them too.
//!
//! - [`unused`]: what is declared and never used.
//! - [`flow`]: variables that are read before they are set, results that are not set, values that nothing reads, fields of headers that are
//!   invalid; on all ways through a body, or on some.
//!
//! A warning is given where it is so for the text as it stands: what the analysis does not follow (stacks, unions, tuples, type parameters)
//! counts as set, valid and used. The program has passed the checker, so names and types are right.
#![forbid(unsafe_code)]

mod flow;
mod names;
mod unused;

use p4_syntax::ast::Program;
use p4_syntax::{Diagnostic, SourceMap, Span};

/// The warnings, in no order.
pub fn warnings(program: &Program, map: &SourceMap) -> Vec<Diagnostic> {
    let files = Files { map, main: map.files().next().map(|(id, _)| id) };
    let names = names::Names::new(program);
    let mut found = unused::find(program, &files);
    found.extend(flow::find(program, &names));
    found.retain(|d| !files.is_builtin(d.span));
    found
}

/// Which file something is in.
pub(crate) struct Files<'a> {
    map: &'a SourceMap,
    main: Option<p4_syntax::FileId>,
}

impl Files<'_> {
    /// Whether a place is in one of the files that the compiler brings along.
    fn is_builtin(&self, span: Span) -> bool {
        self.map.get(span.file).is_some_and(|f| f.path.is_none() && f.included_from.is_some())
    }

    /// Whether a place is in the program's own file, not in one that it includes.
    fn is_main(&self, span: Span) -> bool {
        Some(span.file) == self.main
    }
}
