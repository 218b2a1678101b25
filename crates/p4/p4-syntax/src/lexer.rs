//! Which tokens is a text made of? Tokens of P4_16 §6.4, plus the `#` that preprocessor lines start with.

use crate::ast::{IntLit, IntWidth};
use crate::diag::{Diagnostic, Diagnostics};
use crate::span::{FileId, Span};
use num_bigint::BigInt;
use std::rc::Rc;
use std::sync::Arc;

/// One token with what the preprocessor and the parser must know about its surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
    /// First token of its line.
    pub(crate) line_start: bool,
    /// A `>` with another `>` or `>=` right behind it: together a shift, unless type arguments are being closed.
    pub(crate) glued: bool,
    /// A macro's name inside the macro's own expansion, never expanded again.
    pub(crate) no_expand: bool,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    /// A name; before the preprocessor is done also a keyword.
    Word(Rc<str>),
    /// A keyword.
    Kw(Kw),
    /// A number as it is written, before the preprocessor is done: until then it need not be a whole one (`8w##1`).
    Number(Rc<str>),
    /// A number.
    Int(Rc<IntLit>),
    /// A string, escapes resolved.
    Str(Rc<str>),
    /// A character constant as it is written, of which only preprocessor conditions know.
    Char(Rc<str>),
    /// An operator or bracket.
    P(P),
    /// Characters that belong to no token; only free-form annotations may hold them.
    Unknown(Rc<str>),
    /// The end of a line that started with `@pragma`.
    PragmaEnd,
    /// The end of the text.
    Eof,
}

/// Declares an enum whose members each have a fixed spelling.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($member:ident $text:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($member),* }

        impl $name {
            pub(crate) const ALL: &'static [$name] = &[$($name::$member),*];

            pub(crate) fn text(self) -> &'static str {
                match self { $($name::$member => $text),* }
            }
        }
    };
}

spelled! {
    /// Keywords. `list` and `priority` are ordinary names that mean something in their one place.
    Kw {
        Abstract "abstract" Action "action" Actions "actions" Apply "apply" Bool "bool" Bit "bit" Break "break" Const "const"
        Continue "continue" Control "control" Default "default" Else "else" Entries "entries" Enum "enum" Error "error"
        Exit "exit" Extern "extern" False "false" For "for" Header "header" HeaderUnion "header_union" If "if" In "in"
        InOut "inout" Int "int" Key "key" MatchKind "match_kind" Out "out" Package "package" Parser "parser"
        Return "return" Select "select" State "state" String "string" Struct "struct" Switch "switch" Table "table"
        This "this" Transition "transition" True "true" Tuple "tuple" Type "type" Typedef "typedef" ValueSet "value_set"
        Varbit "varbit" Void "void" Underscore "_"
    }
}

spelled! {
    /// Operators and brackets. Of two that start alike the longer stands first: the lexer takes the first that fits.
    /// `>>` and `>>=` are not here: they are a glued `>` and what follows.
    P {
        SatAddEq "|+|=" SatSubEq "|-|="
        MaskOp "&&&" Dots "..." ShlEq "<<=" SatAdd "|+|" SatSub "|-|"
        Range ".." Shl "<<" AndAnd "&&" OrOr "||" EqEq "==" Ne "!=" Ge ">=" Le "<=" PlusPlus "++" PlusColon "+:"
        PlusEq "+=" MinusEq "-=" StarEq "*=" SlashEq "/=" PercentEq "%=" AndEq "&=" OrEq "|=" CaretEq "^="
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Or "|" And "&" Caret "^" Tilde "~" Not "!"
        LParen "(" RParen ")" LBracket "[" RBracket "]" LBrace "{" RBrace "}" Lt "<" Gt ">"
        Colon ":" Comma "," Question "?" Dot "." Eq "=" Semi ";" At "@" Hash "#"
    }
}

impl Kw {
    /// The keyword a word is, if it is one.
    pub(crate) fn from_word(word: &str) -> Option<Kw> {
        Kw::ALL.iter().copied().find(|kw| kw.text() == word)
    }
}

impl Tok {
    /// The token as it may be spelled; used in messages and where macros glue tokens or turn them into strings.
    pub(crate) fn text(&self) -> String {
        match self {
            Tok::Word(text) | Tok::Number(text) => text.to_string(),
            Tok::Kw(kw) => kw.text().to_string(),
            Tok::Int(i) => i.text(),
            Tok::Str(s) => quote(s),
            Tok::P(p) => p.text().to_string(),
            Tok::Unknown(text) | Tok::Char(text) => text.to_string(),
            Tok::PragmaEnd | Tok::Eof => String::new(),
        }
    }

    /// How a message names the token: `` `x` ``, ``keyword `if` ``, `end of file`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Tok::Kw(_) => format!("keyword `{}`", self.text()),
            Tok::Str(_) => "a string".to_string(),
            Tok::Char(_) => format!("the character constant `{}`", shorten(&self.text())),
            Tok::Int(_) | Tok::Number(_) => format!("number `{}`", shorten(&self.text())),
            Tok::PragmaEnd => "end of line".to_string(),
            Tok::Eof => "end of file".to_string(),
            _ => format!("`{}`", shorten(&self.text())),
        }
    }
}

/// Cuts a long piece of source for use in a message.
fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_string();
    }
    text.chars().take(37).chain("...".chars()).collect()
}

impl IntLit {
    /// The number as P4 text, with width prefix and in the base it was written in.
    pub fn text(&self) -> String {
        let width = match self.width {
            Some(IntWidth { bits, signed }) => format!("{bits}{}", if signed { 's' } else { 'w' }),
            None => String::new(),
        };
        let base = match self.radix {
            2 => "0b",
            8 => "0o",
            16 => "0x",
            _ => return format!("{width}{}", self.value),
        };
        format!("{width}{base}{}", self.value.to_str_radix(u32::from(self.radix)).to_uppercase())
    }
}

/// A string as P4 text, quotes and escapes put back.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Length of a backslash with the line end behind it. Blanks may stand between, as C's preprocessors have it.
pub(crate) fn continued_line(text: &[u8]) -> Option<usize> {
    let [b'\\', rest @ ..] = text else { return None };
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    (rest.get(blanks) == Some(&b'\n')).then_some(blanks + 2)
}

/// Length of the character constant that a text begins with: it ends on its line.
fn char_constant(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(b) = bytes.get(at) {
        match b {
            b'\'' if at > 1 => return Some(at + 1),
            b'\'' | b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Longest number read, in digits: turning digits into a big number takes quadratic time.
const MAX_DIGITS: usize = 4096;

/// A place in a text from which tokens are read.
#[derive(Clone)]
pub(crate) struct Cursor {
    pub(crate) file: FileId,
    pub(crate) text: Arc<str>,
    pub(crate) pos: usize,
    pub(crate) end: usize,
    /// Only space has been seen on this line so far.
    fresh_line: bool,
}

impl Cursor {
    /// Reads the whole of `text`.
    pub(crate) fn new(file: FileId, text: Arc<str>) -> Cursor {
        let end = text.len();
        Cursor { file, text, pos: 0, end, fresh_line: true }
    }

    /// Reads `lo..hi` of the same text, as the inside of a line.
    pub(crate) fn part(&self, lo: usize, hi: usize) -> Cursor {
        Cursor { file: self.file, text: self.text.clone(), pos: lo, end: hi, fresh_line: false }
    }

    pub(crate) fn span(&self, lo: usize, hi: usize) -> Span {
        Span::new(self.file, lo as u32, hi as u32)
    }

    fn rest(&self) -> &str {
        self.text.get(self.pos..self.end).unwrap_or("")
    }

    /// The next token, [`Tok::Eof`] for ever at the end.
    pub(crate) fn token(&mut self, diags: &mut Diagnostics) -> Token {
        self.skip_space(diags);
        let line_start = std::mem::replace(&mut self.fresh_line, false);
        let lo = self.pos;
        let Some(c) = self.rest().chars().next() else { return self.make(Tok::Eof, lo, line_start) };
        let tok = match c {
            'A'..='Z' | 'a'..='z' | '_' => self.word(),
            '0'..='9' => self.number(),
            '"' => self.string(diags),
            '\'' if let Some(len) = char_constant(self.rest()) => {
                self.pos += len;
                Tok::Char(self.text[lo..self.pos].into())
            }
            _ => self.punct().map(Tok::P).unwrap_or_else(|| self.unknown()),
        };
        let mut token = self.make(tok, lo, line_start);
        token.glued = token.tok == Tok::P(P::Gt) && self.rest().starts_with('>');
        token
    }

    fn make(&self, tok: Tok, lo: usize, line_start: bool) -> Token {
        Token { tok, span: self.span(lo, self.pos), line_start, glued: false, no_expand: false }
    }

    /// Skips space, line ends, continued line ends and comments.
    fn skip_space(&mut self, diags: &mut Diagnostics) {
        loop {
            let rest = self.rest().as_bytes();
            match rest {
                [b'\n', ..] => {
                    self.fresh_line = true;
                    self.pos += 1;
                }
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.pos += 1,
                [b'\\', ..] if let Some(len) = continued_line(rest) => self.pos += len,
                [b'/', b'/', ..] => self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match self.rest()[2..].find("*/") {
                    Some(len) => self.pos += len + 4,
                    None => {
                        let message = "this comment is never closed";
                        diags.push(Diagnostic::error("lex", self.span(self.pos, self.pos + 2), message).with_help("close it with `*/`"));
                        self.pos = self.end;
                    }
                },
                [0xef, 0xbb, 0xbf, ..] => self.pos += 3,
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Tok {
        let len = self.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let word = Rc::from(&self.rest()[..len]);
        self.pos += len;
        Tok::Word(word)
    }

    fn punct(&mut self) -> Option<P> {
        let p = P::ALL.iter().copied().find(|p| self.rest().starts_with(p.text()))?;
        // `>=` directly behind a `>` and `>>` are put together by the parser.
        self.pos += p.text().len();
        Some(p)
    }

    /// A run of characters that belong to no token.
    fn unknown(&mut self) -> Tok {
        let lo = self.pos;
        for c in self.text[lo..self.end].chars() {
            let known =
                c.is_ascii_alphanumeric() || c.is_whitespace() || "_\"\\".contains(c) || P::ALL.iter().any(|p| p.text().starts_with(c));
            if known && self.pos > lo {
                break;
            }
            self.pos += c.len_utf8();
        }
        Tok::Unknown(self.text[lo..self.pos].into())
    }

    /// A string literal; it may run over line ends (P4_16 §6.4.3.3). One that is never closed ends with its line.
    fn string(&mut self, diags: &mut Diagnostics) -> Tok {
        let lo = self.pos;
        let mut value = String::new();
        let mut chars = self.text[lo + 1..self.end].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.pos = lo + 1 + at + 1;
                    return Tok::Str(value.into());
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    Some((_, c)) => value.extend(['\\', c]),
                    None => {}
                },
                c => value.push(c),
            }
        }
        let line = self.rest().lines().next().unwrap_or("").len().max(1);
        self.pos = lo + line;
        let message = "this string is never closed";
        diags.push(Diagnostic::error("lex", self.span(lo, self.pos), message).with_help("close it with `\"`"));
        Tok::Str(value.lines().next().unwrap_or("").into())
    }

    /// What may be a number, or a part of one: [`parse_number`] says whether it is.
    fn number(&mut self) -> Tok {
        let len = self.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let text = Rc::from(&self.rest()[..len]);
        self.pos += len;
        Tok::Number(text)
    }
}

/// Reads a number: `[width (w|s)] [0x|0o|0b|0d] digits`, with `_` anywhere among the digits (P4_16 §6.4.3.2). The error says what is wrong with it.
pub(crate) fn parse_number(text: &str) -> Result<IntLit, String> {
    if text.len() > MAX_DIGITS {
        return Err(format!("more than {MAX_DIGITS} characters"));
    }
    let prefix = text.bytes().take_while(u8::is_ascii_digit).count();
    let (width, digits) = match text.as_bytes().get(prefix) {
        Some(sign @ (b'w' | b's')) => {
            let bits = text[..prefix].parse().map_err(|_| format!("the width `{}` is too large", &text[..prefix]))?;
            (Some(IntWidth { bits, signed: *sign == b's' }), &text[prefix + 1..])
        }
        _ => (None, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0d" | "0D") => (10, &digits[2..]),
        _ => (10, digits),
    };
    let clean: String = digits.chars().filter(|c| *c != '_').collect();
    if clean.is_empty() {
        return Err(format!("`{text}` has no digits"));
    }
    if let Some(bad) = clean.chars().find(|c| !c.is_digit(radix)) {
        return Err(format!("`{bad}` is not a digit of base {radix}"));
    }
    let value = BigInt::parse_bytes(clean.as_bytes(), radix).ok_or_else(|| format!("`{text}` is not a number"))?;
    Ok(IntLit { value, width, radix: radix as u8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<String>, usize) {
        let mut diags = Diagnostics::default();
        let mut cursor = Cursor::new(FileId(0), text.into());
        let (mut out, mut bad) = (Vec::new(), 0);
        loop {
            let token = cursor.token(&mut diags);
            match token.tok {
                Tok::Eof => return (out, diags.into_vec().len() + bad),
                Tok::Number(text) => match parse_number(&text) {
                    Ok(lit) => out.push(lit.text()),
                    Err(_) => bad += 1,
                },
                tok => out.push(tok.text()),
            }
        }
    }

    #[test]
    fn operators_take_the_longest_match() {
        let (tokens, errors) = lex("a|+|=b |-| c...d..e &&& f && g<<=h>>i +: ++ += {#}");
        assert_eq!(tokens.join(" "), "a |+|= b |-| c ... d .. e &&& f && g <<= h > > i +: ++ += { # }");
        assert_eq!(errors, 0);
    }

    #[test]
    fn numbers_keep_width_base_and_value() {
        let (tokens, errors) = lex("8w0xFF 4s1 0b1_0 0o17 0d12 1_000 010 340282366920938463463374607431768211456 16w0d9");
        assert_eq!(tokens.join(" "), "8w0xFF 4s1 0b10 0o17 12 1000 10 340282366920938463463374607431768211456 16w9");
        assert_eq!(errors, 0);
    }

    #[test]
    fn bad_numbers_are_errors() {
        for bad in ["8w", "0x", "0b12", "12ab", "99999999999w1", "5_q", &"9".repeat(5000)] {
            assert_eq!(lex(bad).1, 1, "{bad}");
        }
    }

    #[test]
    fn strings_and_comments() {
        let (tokens, errors) = lex("\"a\\\"b\\\\\" // x\n/* \" */ y \"tab\\tq\\q\"");
        assert_eq!(tokens, ["\"a\\\"b\\\\\"", "y", "\"tab\\tq\\\\q\""]);
        assert_eq!(errors, 0);
        assert_eq!(lex("\"open\nx"), (vec!["\"open\"".to_string(), "x".to_string()], 1));
        assert_eq!(lex("a /* open").1, 1);
        assert_eq!(lex("\"two\nlines\""), (vec!["\"two\\nlines\"".to_string()], 0));
        assert_eq!(lex("a §é b \u{0} c").0, ["a", "§é", "b", "\u{0}", "c"]);
        assert_eq!(lex("'a' '\\'' '' it's\n'x'").0, ["'a'", "'\\''", "''", "it", "'", "s", "'x'"]);
    }
}
