//! P4_16 (language version 1.2.5) up to the syntax tree: source map, preprocessor, lexer, parser, printer, diagnostics.
//!
//! [`parse_file`] and [`parse_str`] are the way in. They never panic and always give a tree: with errors it holds what
//! could be understood, and the [`Diagnostic`]s say what could not.

#![forbid(unsafe_code)]

pub mod ast;
mod condition;
pub mod diag;
mod lexer;
mod macros;
mod parser;
mod preprocess;
pub mod printer;
pub mod span;
pub mod suggest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lexer::Kw;

pub use diag::{Diagnostic, Label, Severity, has_errors, render, render_all};
pub use num_bigint::BigInt;
pub use span::{FileId, LineCol, SourceFile, SourceMap, Span};

/// How deep a syntax tree may nest. Deeper input gets a diagnostic; the limit keeps recursive walks off the stack's end.
pub const MAX_DEPTH: u32 = 100;

/// Text of a built-in include by name (`core.p4`, `v1model.p4`); `None` if there is no such built-in.
pub type Builtins<'a> = &'a dyn Fn(&str) -> Option<&'static str>;

/// Where includes are found and which macros are defined from the start.
#[derive(Clone)]
pub struct Options<'a> {
    /// Folders searched for `#include <x>` and, after the including file's own folder, for `#include "x"`.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined from the start, as by `-Dname=value`.
    pub defines: BTreeMap<String, String>,
    /// Built-in files, looked at after the folders.
    pub builtin: Builtins<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { include_paths: Vec::new(), defines: BTreeMap::new(), builtin: &|_| None }
    }
}

/// Reads the file at `path` and what it includes.
///
/// Unreadable files are diagnostics too: the result then has an empty tree.
pub fn parse_file(path: &Path, opts: &Options) -> Parsed {
    let name = path.display().to_string();
    match preprocess::read_source(path) {
        Ok(text) => {
            let dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
            let mut map = SourceMap::new();
            let main = map.add(name, Some(path.to_path_buf()), text, None);
            parse(map, main, Some(dir), opts)
        }
        Err(message) => {
            let mut map = SourceMap::new();
            let main = map.add(name, Some(path.to_path_buf()), String::new(), None);
            let diagnostics = vec![Diagnostic::error("include", Span::new(main, 0, 0), message)];
            Parsed { map, program: ast::Program::default(), diagnostics }
        }
    }
}

/// Reads `text` as what is in the file at `path`, as an editor has it, and what it includes.
pub fn parse_text(path: &Path, text: &str, opts: &Options) -> Parsed {
    let mut map = SourceMap::new();
    let main = map.add(path.display().to_string(), Some(path.to_path_buf()), text.to_string(), None);
    parse(map, main, Some(path.parent().map(Path::to_path_buf).unwrap_or_default()), opts)
}

/// Reads `text`, called `name` in diagnostics. Without [`Options::include_paths`] no file is touched.
pub fn parse_str(name: &str, text: &str, opts: &Options) -> Parsed {
    let mut map = SourceMap::new();
    let main = map.add(name, None, text.to_string(), None);
    parse(map, main, None, opts)
}

fn parse(mut map: SourceMap, main: FileId, dir: Option<PathBuf>, opts: &Options) -> Parsed {
    let mut diags = diag::Diagnostics::default();
    let tokens = preprocess::preprocess(main, dir, &mut map, opts, &mut diags);
    let program = tokens.map(|tokens| parser::parse(tokens, &mut diags)).unwrap_or_default();
    let mut diagnostics = diags.into_vec();
    diagnostics.sort_by_key(|d| d.span);
    Parsed { map, program, diagnostics }
}

/// What parsing gives. `program` is complete only if there is no error among `diagnostics`.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Every file read, the main file first.
    pub map: SourceMap,
    /// The syntax tree.
    pub program: ast::Program,
    /// Errors and warnings by file and place, the main file's first.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether the program is free of syntax errors.
    pub fn is_ok(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    /// The diagnostics as text.
    pub fn render(&self) -> String {
        render_all(&self.diagnostics, &self.map)
    }
}
