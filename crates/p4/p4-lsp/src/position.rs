//! Which byte is at an editor's line and character, and back? An editor counts from 0, and characters in UTF-16 code units.

use lsp_types::{Position, Range, Uri};
use p4_check::{SourceFile, Span};
use std::path::{Path, PathBuf};

/// The byte of a text at a position; what lies beyond a line's end is its end.
pub(crate) fn offset(text: &str, at: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(at.line as usize).map(str::len).sum();
    let line = lines.next().unwrap_or("").trim_end_matches(['\n', '\r']);
    let mut units = 0;
    let within = line.char_indices().find(|(_, c)| {
        units += c.len_utf16() as u32;
        units > at.character
    });
    before + within.map_or(line.len(), |(i, _)| i)
}

/// The place of a span in its file.
pub(crate) fn range(file: &SourceFile, span: Span) -> Range {
    Range { start: position(file, span.lo), end: position(file, span.hi) }
}

fn position(file: &SourceFile, offset: u32) -> Position {
    let line = file.line_col(offset).line;
    let start = file.line_start(line) as usize;
    let before = file.text.get(start..(offset as usize).min(file.text.len())).unwrap_or("");
    Position { line: line - 1, character: before.encode_utf16().count() as u32 }
}

/// The path of a `file:` URI; `None` for others.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut at = rest.bytes();
    while let Some(b) = at.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let digit = |b: Option<u8>| char::from(b?).to_digit(16);
        bytes.push((digit(at.next())? * 16 + digit(at.next())?) as u8);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The URI of a path.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let path = std::path::absolute(path).ok()?;
    let mut text = String::from("file://");
    for b in path.to_str()?.bytes() {
        if b.is_ascii_alphanumeric() || b"/-_.~".contains(&b) {
            text.push(char::from(b));
        } else {
            text += &format!("%{b:02X}");
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf_16_units() {
        let text = "ab\n\u{1f600}x\r\nend";
        let at = |line, character| offset(text, Position { line, character });
        assert_eq!([at(0, 1), at(0, 9), at(1, 0), at(1, 2), at(1, 3), at(1, 9)], [1, 2, 3, 7, 8, 8]);
        assert_eq!([at(2, 3), at(2, 9), at(7, 0)], [13, 13, 13]);
    }

    #[test]
    fn a_path_with_blanks_and_umlauts_is_the_same_there_and_back() {
        let there = Path::new("/tmp/a b/\u{fc}%.p4");
        assert_eq!(path(&uri(there).unwrap()).as_deref(), Some(there));
        assert_eq!(path(&"untitled:Untitled-1".parse().unwrap()), None);
    }
}
