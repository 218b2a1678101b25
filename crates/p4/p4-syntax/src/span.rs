//! Where in the source did this come from? Files, spans and line/column look-up.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A half-open range of bytes `lo..hi` of one file.
///
/// Tokens that come out of a macro body carry the span of the macro's use, so every span points at text the user wrote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// The span `lo..hi` of `file`.
    pub fn new(file: FileId, lo: u32, hi: u32) -> Span {
        Span { file, lo, hi }
    }

    /// The smallest span that covers `self` and `end`; if they lie in different files (an `#include` inside a
    /// declaration), `self`.
    pub fn to(self, end: Span) -> Span {
        if self.file != end.file {
            return self;
        }
        Span { file: self.file, lo: self.lo.min(end.lo), hi: self.hi.max(end.hi) }
    }

    /// The empty span right after `self`: where something that is missing should have been.
    pub fn after(self) -> Span {
        Span { file: self.file, lo: self.hi, hi: self.hi }
    }
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// `‹file:lo..hi›`, a form that tests can cut out of a debug dump to compare trees modulo spans.
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "‹{}:{}..{}›", self.file.0, self.lo, self.hi)
    }
}

/// One file of source text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown in diagnostics: the path as found, or the built-in's name.
    pub name: String,
    /// The path on disk; `None` for built-in and in-memory text.
    pub path: Option<PathBuf>,
    /// The whole text.
    pub text: Arc<str>,
    /// The `#include` that first brought the file in; `None` for the main file.
    pub included_from: Option<Span>,
    /// Byte offsets of the line starts, ascending; the first is 0.
    line_starts: Vec<u32>,
}

/// A 1-based line and column; the column counts characters, not bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct LineCol {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub col: u32,
}

impl SourceFile {
    fn new(name: String, path: Option<PathBuf>, text: Arc<str>, included_from: Option<Span>) -> SourceFile {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        SourceFile { name, path, text, included_from, line_starts }
    }

    /// The line and column of a byte offset; an offset past the end answers for the end.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|start| *start <= offset) - 1;
        let before = self.text.get(self.line_starts[line] as usize..offset as usize).unwrap_or("");
        LineCol { line: line as u32 + 1, col: before.chars().count() as u32 + 1 }
    }

    /// The text of a 1-based line without its line end; empty if there is no such line.
    pub fn line_text(&self, line: u32) -> &str {
        let Some(start) = (line as usize).checked_sub(1).and_then(|i| self.line_starts.get(i)) else { return "" };
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |next| *next as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// Byte offset at which a 1-based line starts; the text's length if there is no such line.
    pub fn line_start(&self, line: u32) -> u32 {
        (line as usize).checked_sub(1).and_then(|i| self.line_starts.get(i)).copied().unwrap_or(self.text.len() as u32)
    }
}

/// Every file read while parsing one program, main file first.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file. Text of 4 GiB or more counts as empty (the preprocessor refuses such files long before).
    pub fn add(&mut self, name: impl Into<String>, path: Option<PathBuf>, text: String, included_from: Option<Span>) -> FileId {
        let text: Arc<str> = if text.len() > u32::MAX as usize - 1 { "".into() } else { text.into() };
        self.files.push(SourceFile::new(name.into(), path, text, included_from));
        FileId(self.files.len() as u32 - 1)
    }

    /// The file behind an id of this map; `None` for an id of another map.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files with their ids, in the order they were read.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The id of the file at `path`, if it has been read.
    pub fn find_path(&self, path: &Path) -> Option<FileId> {
        self.files().find(|(_, f)| f.path.as_deref() == Some(path)).map(|(id, _)| id)
    }

    /// Line and column of the start of `span`; `1:1` if the file is unknown.
    pub fn line_col(&self, span: Span) -> LineCol {
        self.get(span.file).map_or(LineCol { line: 1, col: 1 }, |f| f.line_col(span.lo))
    }

    /// `file:line:col` of the start of `span`, as used in diagnostics and in the compiled program's source references.
    pub fn location(&self, span: Span) -> String {
        let LineCol { line, col } = self.line_col(span);
        format!("{}:{line}:{col}", self.get(span.file).map_or("<unknown>", |f| f.name.as_str()))
    }

    /// The text a span covers; empty if the span does not fit the file.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.lo as usize..span.hi as usize)).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", None, "ab\nçd\r\n\nlast".to_string(), None);
        let at = |lo| map.line_col(Span::new(file, lo, lo));
        assert_eq!(at(0), LineCol { line: 1, col: 1 });
        assert_eq!(at(2), LineCol { line: 1, col: 3 });
        assert_eq!(at(5), LineCol { line: 2, col: 2 });
        assert_eq!(at(9), LineCol { line: 4, col: 1 });
        assert_eq!(at(9999), LineCol { line: 4, col: 5 });
        assert_eq!(map.get(file).unwrap().line_text(2), "çd");
        assert_eq!(map.get(file).unwrap().line_text(77), "");
        assert_eq!(map.location(Span::new(FileId(9), 0, 0)), "<unknown>:1:1");
    }
}
