//! Which tokens does the parser see? Files, `#` lines and conditions here; macro expansion in [`crate::macros`].
//!
//! The preprocessor takes what `cpp -x assembler-with-cpp` takes, by which p4c reads programs: C's directives (P4_16 §6.2 asks for fewer), macros
//! with any number of arguments, `##` between what makes no single token. No trigraphs, no `#if` with `__has_include`. Every quantity hostile input
//! could blow up has a limit, and reaching one ends preprocessing with an error.

use crate::ast::IntLit;
use crate::condition;
use crate::diag::{Diagnostic, Diagnostics};
use crate::lexer::{Cursor, P, Tok, Token, continued_line, parse_number};
use crate::macros::{Body, Frame, Macro, Params, VA_ARGS};
use crate::span::{FileId, SourceMap, Span};
use crate::{Kw, Options};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Longest file read, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// Most text read through all includes together, in bytes.
const MAX_TEXT: u64 = 64 << 20;
/// Deepest chain of includes.
const MAX_INCLUDE_DEPTH: usize = 64;
/// Most tokens given to the parser.
const MAX_TOKENS: usize = 2_000_000;

/// The tokens of a program, the last of them [`Tok::Eof`]; `None` if a limit was reached before the end.
pub(crate) fn preprocess(
    main: FileId,
    dir: Option<PathBuf>,
    map: &mut SourceMap,
    opts: &Options,
    diags: &mut Diagnostics,
) -> Option<Vec<Token>> {
    let mut pre = Preprocessor { map, diags, opts, macros: HashMap::new(), files: Vec::new(), text: 0, work: 0, stopped: false };
    pre.command_line_macros();
    pre.open(main, dir);
    let mut out = pre.run();
    if pre.stopped {
        return None;
    }
    let end = map.get(main).map_or(0, |f| f.text.len() as u32);
    let span = Span::new(main, end, end);
    out.push(Token { tok: Tok::Eof, span, line_start: true, glued: false, no_expand: false });
    Some(out)
}

pub(crate) struct Preprocessor<'a, 'o> {
    pub(crate) map: &'a mut SourceMap,
    pub(crate) diags: &'a mut Diagnostics,
    opts: &'a Options<'o>,
    pub(crate) macros: HashMap<Rc<str>, Rc<Macro>>,
    /// The chain of files being read, the innermost last.
    files: Vec<OpenFile>,
    /// Bytes of all files opened so far.
    text: u64,
    /// Steps of macro expansion done so far.
    pub(crate) work: u64,
    /// A limit was reached: no further tokens.
    pub(crate) stopped: bool,
}

struct OpenFile {
    cursor: Cursor,
    /// The folder `#include "x"` looks in first; `None` for text that is not from disk.
    dir: Option<PathBuf>,
    /// The `#if`s that are open, the innermost last.
    conditions: Vec<Condition>,
    /// Inside a line that started with `@pragma`.
    in_pragma: bool,
    /// A token read too early.
    held: Option<Token>,
}

struct Condition {
    /// The `#if`.
    span: Span,
    /// One of the branches was or is being read.
    taken: bool,
    /// The `#else` has been passed.
    in_else: bool,
}

impl Preprocessor<'_, '_> {
    fn run(&mut self) -> Vec<Token> {
        let mut out = Vec::new();
        let mut stack = Vec::new();
        while let Some(mut token) = self.expand_next(&mut stack, true, 0) {
            if let Tok::Word(word) = &token.tok
                && let Some(kw) = Kw::from_word(word)
            {
                token.tok = Tok::Kw(kw);
            }
            if out.len() >= MAX_TOKENS {
                self.stop(token.span, format!("the program has more than {MAX_TOKENS} tokens"));
                break;
            }
            out.push(token);
        }
        self.read_numbers(&mut out);
        out
    }

    /// Numbers are whole now, or never will be.
    fn read_numbers(&mut self, tokens: &mut [Token]) {
        for at in 0..tokens.len() {
            let Token { tok: Tok::Number(text), span, .. } = &tokens[at] else { continue };
            let lit = parse_number(text).unwrap_or_else(|problem| {
                let mut diagnostic = Diagnostic::error("lex", *span, format!("malformed number: {problem}"));
                let minus_behind =
                    matches!(tokens.get(at + 1), Some(Token { tok: Tok::P(P::Minus), span: minus, .. }) if minus.lo == span.hi);
                if text.ends_with(['w', 's']) && minus_behind {
                    diagnostic = diagnostic.with_help(format!("put the sign in front: `-{text}1`"));
                }
                self.diags.push(diagnostic);
                IntLit { value: 0.into(), width: None, radix: 10 }
            });
            tokens[at].tok = Tok::Int(Rc::new(lit));
        }
    }

    /// Gives up for good.
    pub(crate) fn stop(&mut self, span: Span, message: String) {
        if !self.stopped {
            self.diags.push(Diagnostic::error("limit", span, message));
        }
        self.stopped = true;
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::error("preprocessor", span, message));
    }

    /// Defines what [`Options::defines`] asks for; the values become small files of the source map.
    fn command_line_macros(&mut self) {
        for (name, value) in &self.opts.defines {
            let file = self.map.add(format!("<define {name}>"), None, value.clone(), None);
            let mut cursor = Cursor::new(file, value.as_str().into());
            let body = self.line_tokens(&mut cursor);
            let span = cursor.span(0, value.len());
            let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if name.is_empty() || !is_name {
                self.error(span, format!("`{name}` cannot be defined: it is not a name"));
                continue;
            }
            self.macros.insert(name.as_str().into(), Rc::new(Macro::object(span, body)));
        }
    }

    fn open(&mut self, file: FileId, dir: Option<PathBuf>) {
        let Some(source) = self.map.get(file) else { return };
        let cursor = Cursor::new(file, source.text.clone());
        let size = cursor.end as u64;
        let at = cursor.span(0, 0);
        self.text += size;
        if size > MAX_FILE {
            return self.stop(at, format!("the file is longer than {MAX_FILE} bytes"));
        }
        if self.text > MAX_TEXT {
            return self.stop(at, format!("more than {MAX_TEXT} bytes of source are included"));
        }
        // An empty file costs work too.
        self.text += 1024;
        self.files.push(OpenFile { cursor, dir, conditions: Vec::new(), in_pragma: false, held: None });
    }

    /// The next token of the files, `#` lines obeyed, macros not yet expanded.
    pub(crate) fn next_raw(&mut self) -> Option<Token> {
        loop {
            if self.stopped || self.diags.full() {
                return None;
            }
            let file = self.files.last_mut()?;
            let token = match file.held.take() {
                Some(token) => token,
                None => file.cursor.token(self.diags),
            };
            if file.in_pragma && (token.line_start || token.tok == Tok::Eof) {
                file.in_pragma = false;
                let span = Span { hi: token.span.lo, ..token.span };
                file.held = Some(token.clone());
                return Some(Token { tok: Tok::PragmaEnd, span, ..token });
            }
            match token.tok {
                Tok::Eof => self.close(),
                Tok::P(P::Hash) if token.line_start => self.directive(token.span),
                Tok::P(P::At) => {
                    let rest = file.cursor.text.get(file.cursor.pos..).unwrap_or("");
                    let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
                    file.in_pragma |= name == Some("pragma");
                    return Some(token);
                }
                _ => return Some(token),
            }
        }
    }

    /// The end of the innermost file.
    fn close(&mut self) {
        let Some(file) = self.files.pop() else { return };
        for open in file.conditions {
            self.diags
                .push(Diagnostic::error("preprocessor", open.span, "this condition is never closed").with_help("close it with `#endif`"));
        }
    }

    /// Obeys the line behind a `#`.
    fn directive(&mut self, hash: Span) {
        let Some(file) = self.files.last_mut() else { return };
        let name = directive_name(&mut file.cursor);
        let lo = file.cursor.pos;
        let hi = logical_line_end(&file.cursor.text, lo, file.cursor.end);
        file.cursor.pos = hi;
        let mut line = file.cursor.part(lo, hi);
        let span = Span { hi: lo as u32, ..hash };
        match name.as_str() {
            // Pragmas of C, and `#` alone in front of a comment, mean nothing here.
            "" if line.text[lo..hi].trim_start().starts_with("/*") => {}
            "line" | "pragma" | "ident" => {}
            "define" => self.define(&mut line, span),
            "undef" => match self.line_tokens(&mut line).as_slice() {
                [Token { tok: Tok::Word(name), .. }] => {
                    self.macros.remove(name);
                }
                _ => self.error(span, "`#undef` takes one macro's name"),
            },
            "include" => self.include(&mut line, span),
            "if" => {
                let taken = self.condition(&mut line, span);
                self.begin(span, taken);
            }
            "ifdef" | "ifndef" => {
                let defined = self.defined(&mut line, span, &name);
                self.begin(span, defined == (name == "ifdef"));
            }
            "elif" | "else" => self.next_branch(span, &name),
            "endif" => {
                let popped = self.files.last_mut().and_then(|f| f.conditions.pop());
                if popped.is_none() {
                    self.error(span, "`#endif` without an `#if`");
                }
            }
            "error" | "warning" => {
                let text = line.text[lo..hi].trim().to_string();
                let message = format!("#{name}: {}", text.chars().filter(|c| !c.is_control()).take(200).collect::<String>());
                let diagnostic = Diagnostic::error("preprocessor", span, message);
                self.diags.push(if name == "error" { diagnostic } else { Diagnostic { severity: crate::Severity::Warning, ..diagnostic } });
            }
            // Directives that mean something to `cpp`: what they say must not be passed over.
            "include_next" | "import" | "elifdef" | "elifndef" | "embed" | "assert" | "unassert" => {
                self.error(span, format!("`#{name}` is not supported"));
            }
            _ => self.remark(&name, span),
        }
    }

    /// A line that begins with `#` and no directive: `cpp -x assembler-with-cpp` leaves it, and p4c's lexer passes over it, to the line's end whatever stands in it. A
    /// word right behind the `#` that is nearly a directive is one that was misspelt.
    fn remark(&mut self, name: &str, span: Span) {
        let Some(file) = self.files.last_mut() else { return };
        file.cursor.pos = line_end(&file.cursor.text, span.hi as usize, file.cursor.end);
        let known = ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"];
        if span.hi as usize == span.lo as usize + 1 + name.len()
            && let Some(near) = crate::suggest::nearest(name, known)
        {
            let diagnostic = Diagnostic::error("preprocessor", span, format!("unknown preprocessor line `#{name}`"));
            self.diags.push(diagnostic.with_help(format!("did you mean `#{near}`?")));
        }
    }

    /// All tokens of a directive's line.
    fn line_tokens(&mut self, line: &mut Cursor) -> Vec<Token> {
        let mut out = Vec::new();
        loop {
            let mut token = line.token(self.diags);
            if token.tok == Tok::Eof {
                return out;
            }
            token.line_start = false;
            out.push(token);
        }
    }

    fn define(&mut self, line: &mut Cursor, span: Span) {
        let tokens = self.line_tokens(line);
        let [Token { tok: Tok::Word(name), span: name_span, .. }, rest @ ..] = tokens.as_slice() else {
            return self.error(span, "`#define` must be followed by a name");
        };
        if &**name == "defined" {
            return self.error(*name_span, "`defined` cannot be a macro");
        }
        let (params, body) = match rest {
            // Only a parenthesis right behind the name starts parameters.
            [Token { tok: Tok::P(P::LParen), span, .. }, rest @ ..] if span.lo == name_span.hi => match macro_params(rest) {
                Ok((params, body)) => (Some(params), body),
                Err((at, message)) => return self.error(at.unwrap_or(*span), message),
            },
            rest => (None, rest),
        };
        let body = match Body::new(body.to_vec(), params.as_ref()) {
            Ok(body) => body,
            Err((at, message)) => return self.error(at, message),
        };
        let new = Macro { span: *name_span, params, body, active: Default::default() };
        if let Some(old) = self.macros.get(name)
            && !old.same_as(&new)
        {
            let place = old.span;
            let diagnostic = Diagnostic::warning("preprocessor", *name_span, format!("macro `{name}` is defined again, differently"));
            self.diags.push(diagnostic.with_place(place, "first defined here"));
        }
        self.macros.insert(name.clone(), Rc::new(new));
    }

    fn include(&mut self, line: &mut Cursor, span: Span) {
        let text = line.text.get(line.pos..line.end).unwrap_or("").trim().to_string();
        // A macro may stand for the name.
        let text = if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let tokens = self.line_tokens(&mut line.clone());
            self.expand_list(tokens, 0).iter().map(|token| token.tok.text()).collect()
        } else {
            text
        };
        let quoted = text.strip_prefix('"').and_then(|t| t.split_once('"'));
        let angled = text.strip_prefix('<').and_then(|t| t.split_once('>'));
        let (name, rest, quoted) = match (quoted, angled) {
            (Some((name, rest)), _) => (name.to_string(), rest, true),
            (_, Some((name, rest))) => (name.to_string(), rest, false),
            _ => return self.error(span, "`#include` must be followed by `\"file\"` or `<file>`"),
        };
        let rest = rest.trim_start();
        if !(rest.is_empty() || rest.starts_with("//") || rest.starts_with("/*")) {
            self.diags.push(Diagnostic::warning("preprocessor", span, "text behind the name of an included file is ignored"));
        }
        let start = line.text[line.pos..].find(['"', '<']).map_or(line.pos, |i| line.pos + i);
        let at = line.span(start, (start + name.len() + 2).min(line.end));
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            return self.stop(at, format!("includes are nested more than {MAX_INCLUDE_DEPTH} deep"));
        }
        let own_dir = self.files.last().and_then(|f| f.dir.clone()).filter(|_| quoted);
        let dirs: Vec<PathBuf> = own_dir.into_iter().chain(self.opts.include_paths.iter().cloned()).collect();
        match self.find(&name, &dirs, at) {
            Ok(Some((file, dir))) => self.open(file, dir),
            Ok(None) => {
                let mut diagnostic = Diagnostic::error("include", at, format!("file `{name}` is not found"));
                for dir in &dirs {
                    diagnostic = diagnostic.with_note(format!("looked in `{}`", dir.display()));
                }
                self.diags.push(diagnostic);
            }
            Err(message) => self.diags.push(Diagnostic::error("include", at, message)),
        }
    }

    /// The file of that name in the first folder that has it, else the built-in one.
    fn find(&mut self, name: &str, dirs: &[PathBuf], at: Span) -> Result<Option<(FileId, Option<PathBuf>)>, String> {
        for dir in dirs {
            let path = dir.join(name);
            let Ok(meta) = std::fs::metadata(&path) else { continue };
            if !meta.is_file() {
                continue;
            }
            let parent = path.parent().map(Path::to_path_buf);
            if let Some(id) = self.map.find_path(&path) {
                return Ok(Some((id, parent)));
            }
            let text = read_source(&path)?;
            let id = self.map.add(path.display().to_string(), Some(path), text, Some(at));
            return Ok(Some((id, parent)));
        }
        let Some(text) = (self.opts.builtin)(name) else { return Ok(None) };
        let known = self.map.files().find(|(_, f)| f.path.is_none() && f.name == name && f.included_from.is_some()).map(|(id, _)| id);
        Ok(Some((known.unwrap_or_else(|| self.map.add(name, None, text.to_string(), Some(at))), None)))
    }

    // -- conditions ---------------------------------------------------------------------------------------------------

    fn begin(&mut self, span: Span, taken: bool) {
        let Some(file) = self.files.last_mut() else { return };
        file.conditions.push(Condition { span, taken, in_else: false });
        if !taken {
            self.skip_branches();
        }
    }

    /// An `#elif` or `#else` met while reading a branch: whatever follows is not read.
    fn next_branch(&mut self, span: Span, name: &str) {
        match self.files.last_mut().and_then(|f| f.conditions.last_mut()) {
            None => self.error(span, format!("`#{name}` without an `#if`")),
            Some(open) => {
                let after_else = open.in_else;
                open.in_else |= name == "else";
                open.taken = true;
                if after_else {
                    self.error(span, format!("`#{name}` behind an `#else`"));
                }
                self.skip_branches();
            }
        }
    }

    /// Skips lines until the branch that is to be read starts, or the condition ends.
    fn skip_branches(&mut self) {
        let mut depth = 0u32;
        loop {
            let Some(file) = self.files.last_mut() else { return };
            let cursor = &mut file.cursor;
            cursor.pos = logical_line_end(&cursor.text, cursor.pos, cursor.end) + 1;
            if cursor.pos >= cursor.end {
                cursor.pos = cursor.end;
                return;
            }
            let rest = &cursor.text[cursor.pos..cursor.end];
            let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            if !rest[indent..].starts_with('#') {
                continue;
            }
            let lo = cursor.pos + indent;
            cursor.pos = lo + 1;
            let name = directive_name(cursor);
            let start = cursor.pos;
            cursor.pos = logical_line_end(&cursor.text, start, cursor.end);
            let span = cursor.span(lo, start);
            let mut line = cursor.part(start, cursor.pos);
            match name.as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => {
                    file.conditions.pop();
                    return;
                }
                "endif" => depth -= 1,
                "else" | "elif" if depth == 0 => {
                    let Some(open) = file.conditions.last_mut() else { return };
                    let (taken, after_else) = (open.taken, open.in_else);
                    open.in_else |= name == "else";
                    if after_else {
                        self.error(span, format!("`#{name}` behind an `#else`"));
                        continue;
                    }
                    if !taken && (name == "else" || self.condition(&mut line, span)) {
                        if let Some(open) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) {
                            open.taken = true;
                        }
                        return;
                    }
                }
                "" if line.text[start..].trim_start().starts_with("/*") => {}
                "else" | "elif" | "define" | "undef" | "include" | "error" | "warning" | "line" | "pragma" | "ident" => {}
                // A remark.
                _ => cursor.pos = line_end(&cursor.text, start, cursor.end),
            }
        }
    }

    fn defined(&mut self, line: &mut Cursor, span: Span, directive: &str) -> bool {
        match self.line_tokens(line).as_slice() {
            [Token { tok: Tok::Word(name), .. }, ..] => self.macros.contains_key(name),
            _ => {
                self.error(span, format!("`#{directive}` must be followed by a name"));
                false
            }
        }
    }

    /// The truth of an `#if` or `#elif`; false if it cannot be evaluated.
    fn condition(&mut self, line: &mut Cursor, span: Span) -> bool {
        let tokens = self.line_tokens(line);
        let tokens = condition::replace_defined(tokens, &|name| self.macros.contains_key(name));
        let expanded = self.expand_list(tokens, 0);
        match condition::evaluate(&expanded, span) {
            Ok(holds) => holds,
            Err((at, message)) => {
                self.error(at, message);
                false
            }
        }
    }

    /// Expands a list of tokens on its own.
    pub(crate) fn expand_list(&mut self, tokens: Vec<Token>, depth: u32) -> Vec<Token> {
        let mut stack = vec![Frame::new(tokens, None)];
        let mut out = Vec::new();
        while let Some(token) = self.expand_next(&mut stack, false, depth) {
            out.push(token);
        }
        // A limit may have ended the expansion half-way.
        for frame in stack {
            frame.leave();
        }
        out
    }
}

/// Reads a source file; the error says why it cannot be.
pub(crate) fn read_source(path: &Path) -> Result<String, String> {
    let fail = |e: std::io::Error| format!("cannot read `{}`: {e}", path.display());
    let meta = std::fs::metadata(path).map_err(fail)?;
    if !meta.is_file() {
        return Err(format!("cannot read `{}`: it is not a file", path.display()));
    }
    if meta.len() > MAX_FILE {
        return Err(format!("cannot read `{}`: it is longer than {MAX_FILE} bytes", path.display()));
    }
    // P4_16 §6.4 wants ASCII outside comments and strings; comments in other encodings must not stop a program.
    Ok(String::from_utf8_lossy(&std::fs::read(path).map_err(fail)?).into_owned())
}

/// Reads the name behind a `#`; empty if there is none.
fn directive_name(cursor: &mut Cursor) -> String {
    let rest = cursor.text.get(cursor.pos..cursor.end).unwrap_or("");
    let body = rest.trim_start_matches([' ', '\t']);
    let len = match body.as_bytes().first() {
        Some(b'0'..=b'9') => 0,
        _ => body.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count(),
    };
    let name = body[..len].to_string();
    cursor.pos += rest.len() - body.len() + len;
    name
}

/// Where the line that `pos` lies in ends, whatever stands in it: at the `\n` that is not continued by a backslash.
fn line_end(text: &str, pos: usize, end: usize) -> usize {
    let bytes = &text.as_bytes()[..end];
    let mut at = pos;
    while at < end && bytes[at] != b'\n' {
        at += continued_line(&bytes[at..]).unwrap_or(1);
    }
    at.min(end)
}

/// Where the line that `pos` lies in ends: at the `\n` that is neither continued by a backslash nor inside a comment.
fn logical_line_end(text: &str, pos: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = pos;
    while at < end {
        let rest = &bytes[at..end];
        match rest {
            [b'\n', ..] => return at,
            [b'\\', ..] if let Some(len) = continued_line(rest) => at += len,
            [b'\\', _, ..] => at += 2,
            [b'/', b'/', ..] => {
                // Only a continued line end inside the comment matters.
                while at < end && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            [b'/', b'*', ..] => at = text.get(at + 2..end).and_then(|t| t.find("*/")).map_or(end, |len| at + len + 4),
            [b'"', ..] => {
                at += 1;
                while at < end && !matches!(bytes[at], b'"' | b'\n') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if at < end && bytes[at] == b'"' {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    // A trailing backslash may have stepped past the end, or into the middle of a character.
    let mut at = at.min(end);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Reads `a, b)` behind a macro's `(`; gives the parameters and the tokens behind the `)`.
#[allow(clippy::type_complexity, reason = "used once, right above")]
fn macro_params(tokens: &[Token]) -> Result<(Params, &[Token]), (Option<Span>, String)> {
    let mut params = Params::default();
    let mut rest = tokens;
    if let [Token { tok: Tok::P(P::RParen), .. }, body @ ..] = rest {
        return Ok((params, body));
    }
    loop {
        let (name, span, more) = match rest {
            [Token { tok: Tok::P(P::Dots), span, .. }, more @ ..] => {
                params.variadic = true;
                (VA_ARGS.into(), *span, more)
            }
            [Token { tok: Tok::Word(name), span, .. }, more @ ..] => match more {
                // As GNU's preprocessor has it.
                [Token { tok: Tok::P(P::Dots), .. }, more @ ..] => {
                    params.variadic = true;
                    (name.clone(), *span, more)
                }
                more => (name.clone(), *span, more),
            },
            other => return Err((other.first().map(|t| t.span), "expected a macro parameter's name".to_string())),
        };
        if params.names.contains(&name) {
            return Err((Some(span), format!("macro parameter `{name}` is there twice")));
        }
        params.names.push(name);
        match more {
            [Token { tok: Tok::P(P::RParen), .. }, body @ ..] => return Ok((params, body)),
            [Token { tok: Tok::P(P::Comma), .. }, next @ ..] if !params.variadic => rest = next,
            other => {
                let expected = if params.variadic { "expected `)` behind `...`" } else { "expected `,` or `)` in a macro's parameters" };
                return Err((other.first().map(|t| t.span), expected.to_string()));
            }
        }
    }
}
