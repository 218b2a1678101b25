//! How do tokens become a syntax tree? The parser's core: reading tokens, reporting, recovering; the grammar is in the
//! modules beside it.
//!
//! Recursive descent after the grammar of P4_16 (appendix G). The grammar needs to know which names are types and which
//! are generic (P4_16 §6.3), so declared names are tracked by scope; undeclared names are judged by what follows.
//! An error makes the construct it stands in fail, the nearest list of declarations, statements or properties skips to
//! its next item and continues. Nesting is limited, and reaching the limit ends parsing.

mod decls;
mod exprs;
mod lookahead;
mod names;
mod states;
mod stmts;
mod tables;
mod types;

use crate::MAX_DEPTH;
use crate::ast::{Ident, Path, Program};
use crate::diag::{Diagnostic, Diagnostics};
use crate::lexer::{Kw, P, Tok, Token};
use crate::span::Span;
use names::Scopes;

/// A construct could not be read; the reason is already reported.
pub(crate) struct Stop;

/// What a parsing function gives.
pub(crate) type Parse<T> = Result<T, Stop>;

/// Reads a whole program from tokens, the last of which is [`Tok::Eof`].
pub(crate) fn parse(tokens: Vec<Token>, diags: &mut Diagnostics) -> Program {
    let eof = Token { tok: Tok::Eof, span: Span::default(), line_start: true, glued: false, no_expand: false };
    let tokens = if tokens.is_empty() { vec![eof] } else { without_unknown(tokens, diags) };
    let mut parser = Parser {
        tokens: &tokens,
        pos: 0,
        diags,
        depth: 0,
        height: 0,
        no_gt: false,
        scopes: Scopes::new(),
        open_initialisers: 0,
        last_error: None,
    };
    parser.program()
}

/// Reports and drops characters that are no token, except inside `@name(...)`, where anything may stand (P4_16 §20).
fn without_unknown(tokens: Vec<Token>, diags: &mut Diagnostics) -> Vec<Token> {
    if !tokens.iter().any(|t| matches!(t.tok, Tok::Unknown(_) | Tok::Char(_))) {
        return tokens;
    }
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    // How many parentheses of an annotation are open.
    let mut depth = 0u32;
    for token in tokens {
        match token.tok {
            Tok::P(P::LParen) => {
                let annotation = matches!(out.as_slice(), [.., Token { tok: Tok::P(P::At), .. }, _]);
                depth += u32::from(depth > 0 || annotation);
            }
            Tok::P(P::RParen) => depth = depth.saturating_sub(1),
            Tok::Unknown(_) if depth == 0 => {
                let shown: String = token.tok.text().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(40).collect();
                diags.push(Diagnostic::error("lex", token.span, format!("`{shown}` is not part of any P4 token")));
                continue;
            }
            Tok::Char(_) if depth == 0 => {
                let message = format!("{} may stand in the conditions of `#if` only", token.tok.describe());
                diags.push(Diagnostic::error("lex", token.span, message));
                continue;
            }
            _ => {}
        }
        out.push(token);
    }
    out
}

pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    pos: usize,
    diags: &'a mut Diagnostics,
    /// How deep the functions that may call themselves are nested.
    depth: u32,
    /// The height of the expression or type read last, to keep long chains such as `a + a + ...` from making deep trees.
    height: u32,
    /// Inside `bit<...>`, where `>` ends the width.
    no_gt: bool,
    scopes: Scopes,
    /// How many `{` of initialisers are open, also when one of them has failed.
    open_initialisers: usize,
    /// Where the last error was reported: one error a token is enough.
    last_error: Option<usize>,
}

/// What kind of list an item stands in; tells which keywords mean that the list was never closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Members of a declaration: fields, methods, states, locals.
    Member,
    /// Inside those: statements, table properties, cases, entries.
    Inner,
}

/// What to do about `00:11:22:33:44:55`.
const NO_ADDRESSES: &str = "P4 has no literals for addresses: write a number, as `48w0x001122334455`";

impl<'a> Parser<'a> {
    // -- tokens -------------------------------------------------------------------------------------------------------

    fn token_at(&self, index: usize) -> &'a Token {
        // The last token is the end of the text, which repeats without end.
        &self.tokens[index.min(self.tokens.len() - 1)]
    }

    fn tok(&self) -> &'a Tok {
        &self.token_at(self.pos).tok
    }

    fn nth(&self, n: usize) -> &'a Tok {
        &self.token_at(self.pos + n).tok
    }

    fn span(&self) -> Span {
        self.token_at(self.pos).span
    }

    /// The token read last.
    fn prev_span(&self) -> Span {
        self.token_at(self.pos.saturating_sub(1)).span
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        self.pos = (self.pos + 1).min(self.tokens.len() - 1);
        span
    }

    fn at(&self, p: P) -> bool {
        *self.tok() == Tok::P(p)
    }

    fn at_kw(&self, kw: Kw) -> bool {
        *self.tok() == Tok::Kw(kw)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.tok(), Tok::Word(w) if &**w == word)
    }

    fn at_eof(&self) -> bool {
        *self.tok() == Tok::Eof
    }

    fn eat(&mut self, p: P) -> bool {
        let found = self.at(p);
        if found {
            self.bump();
        }
        found
    }

    fn eat_kw(&mut self, kw: Kw) -> bool {
        let found = self.at_kw(kw);
        if found {
            self.bump();
        }
        found
    }

    // -- expectations -------------------------------------------------------------------------------------------------

    fn expect(&mut self, p: P) -> Parse<Span> {
        if self.at(p) { Ok(self.bump()) } else { self.expected(&format!("`{}`", p.text())) }
    }

    fn expect_kw(&mut self, kw: Kw) -> Parse<Span> {
        if self.at_kw(kw) { Ok(self.bump()) } else { self.expected(&format!("`{}`", kw.text())) }
    }

    /// The bracket that closes `open`.
    fn expect_close(&mut self, p: P, open: Span) -> Parse<Span> {
        if self.at(p) {
            return Ok(self.bump());
        }
        let mut diagnostic = self.expectation(&format!("`{}`", p.text())).with_place(open, "to close this");
        if self.at_address() {
            diagnostic = diagnostic.with_help(NO_ADDRESSES);
        }
        self.fail(diagnostic)
    }

    /// The `;` after something. If the next token starts a line the `;` was just forgotten: an error, but no reason to stop.
    fn expect_semi(&mut self) -> Parse<Span> {
        if self.at(P::Semi) {
            return Ok(self.bump());
        }
        let next = self.token_at(self.pos);
        let forgotten = next.line_start || matches!(next.tok, Tok::P(P::RBrace) | Tok::Eof);
        let end = self.prev_span();
        let mut diagnostic = self.expectation("`;`");
        if self.at_address() {
            diagnostic = diagnostic.with_help(NO_ADDRESSES);
        }
        self.report(diagnostic);
        if forgotten { Ok(end) } else { Err(Stop) }
    }

    /// At the first colon of `00:11:22:33:44:55`, or of `aa:bb:...`.
    fn at_address(&self) -> bool {
        let part = |index: usize| match &self.token_at(index).tok {
            Tok::Int(_) => true,
            Tok::Word(word) => word.len() <= 4 && word.chars().all(|c| c.is_ascii_hexdigit()),
            _ => false,
        };
        self.at(P::Colon) && part(self.pos.saturating_sub(1)) && part(self.pos + 1)
    }

    /// Reports that something else was wanted here.
    fn expected<T>(&mut self, what: &str) -> Parse<T> {
        let diagnostic = self.expectation(what);
        self.fail(diagnostic)
    }

    /// At a name that nothing has and that is nearly one of `words`, in front of what follows such a word: reports that.
    fn misspelled(&mut self, words: &[&'static str], what: &str) -> Parse<()> {
        let Tok::Word(word) = self.tok() else { return Ok(()) };
        let Some(near) = crate::suggest::nearest(word, words.iter().copied()) else { return Ok(()) };
        // No statement or declaration goes on like this.
        let follows = match self.nth(1) {
            Tok::P(P::LBrace) | Tok::Kw(Kw::Bit | Kw::Int | Kw::Bool | Kw::Select) => true,
            _ => {
                self.name_at(self.pos + 1).is_some()
                    && (matches!(self.nth(2), Tok::P(P::LBrace | P::LParen)) || near == "transition" && *self.nth(2) == Tok::P(P::Semi))
            }
        };
        if !follows || self.scopes.find(word, false).is_some() {
            return Ok(());
        }
        let diagnostic = self.expectation(what).with_help(format!("did you mean `{near}`?"));
        self.fail(diagnostic)
    }

    fn expectation(&self, what: &str) -> Diagnostic {
        let next = self.token_at(self.pos);
        // What is missing at the end of a line is missing there, not where the next line starts.
        let missing = matches!(what, "`;`" | "`)`" | "`,`") && next.line_start && self.pos > 0;
        let ended = next.tok == Tok::Eof && self.pos > 0;
        let span = if missing || ended { self.prev_span().after() } else { next.span };
        Diagnostic::error("syntax", span, format!("expected {what}, found {}", next.tok.describe())).with_label(format!("expected {what}"))
    }

    /// Reports a diagnostic that makes the construct fail.
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.report(diagnostic);
        Err(Stop)
    }

    /// Reports a diagnostic, unless one was reported at this token before.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.last_error != Some(self.pos) {
            self.last_error = Some(self.pos);
            self.diags.push(diagnostic);
        }
        if self.diags.full() {
            self.abort();
        }
    }

    /// Ends parsing: from here on there is only the end of the text.
    fn abort(&mut self) {
        self.pos = self.tokens.len() - 1;
        self.last_error = Some(self.pos);
    }

    // -- limits -------------------------------------------------------------------------------------------------------

    /// Runs a function that may end up calling itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Sets the height of a node made of parts of at most `height`.
    fn grow(&mut self, height: u32) -> Parse<()> {
        if height >= MAX_DEPTH {
            return self.too_deep();
        }
        self.height = height + 1;
        Ok(())
    }

    fn too_deep<T>(&mut self) -> Parse<T> {
        let diagnostic = Diagnostic::error("limit", self.span(), format!("nested more than {MAX_DEPTH} deep"));
        let result = self.fail(diagnostic.with_help("split this into smaller parts"));
        self.abort();
        result
    }

    // -- recovery -----------------------------------------------------------------------------------------------------

    /// Reads `{ item item ... }` from its `{`; items that fail are skipped. Gives the items and the span of the `}`.
    fn braced<T>(&mut self, level: Level, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<(Vec<T>, Span)> {
        let open = self.expect(P::LBrace)?;
        let mut items = Vec::new();
        while !self.at(P::RBrace) {
            if self.at_eof() || self.at_outer(level) {
                let diagnostic = Diagnostic::error("syntax", open, "this `{` is never closed");
                let found = self.token_at(self.pos);
                self.report(diagnostic.with_place(found.span, format!("expected `}}` before {}", found.tok.describe())));
                return Ok((items, self.prev_span()));
            }
            let start = self.pos;
            match item(self) {
                Ok(item) => items.push(item),
                Err(Stop) => self.synchronise(start, level),
            }
        }
        Ok((items, self.bump()))
    }

    /// After an error in an item that began at token `start`: skips to behind the next `;` or block, or to the `}` of the
    /// list being read. Braces the item had opened are closed on the way.
    fn synchronise(&mut self, start: usize, level: Level) {
        let mut depth = 0usize;
        for index in start..self.pos {
            match self.token_at(index).tok {
                Tok::P(P::LBrace) => depth += 1,
                Tok::P(P::RBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        // A `;` never stands in an initialiser: one that is not closed ends with its statement.
        let mut initialisers = std::mem::take(&mut self.open_initialisers).min(depth);
        depth -= initialisers;
        while !self.at_eof() {
            match self.tok() {
                Tok::P(P::LBrace) => depth += 1,
                Tok::P(P::RBrace) if depth == 0 && initialisers > 0 => initialisers -= 1,
                Tok::P(P::RBrace) if depth == 0 => return,
                Tok::P(P::RBrace) => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(P::Semi);
                        return;
                    }
                }
                Tok::P(P::Semi) if depth == 0 => {
                    self.bump();
                    return;
                }
                _ if self.pos > start && self.at_outer(level) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether a keyword starts the line that cannot stand in a list of this level, so that a `}` must be missing.
    fn at_outer(&self, level: Level) -> bool {
        let token = self.token_at(self.pos);
        let Tok::Kw(kw) = token.tok else { return false };
        // `parser`, `control` and the like are followed by a name; anything else is not the start of a declaration.
        if !token.line_start || self.name_at(self.pos + 1).is_none() {
            return false;
        }
        match kw {
            Kw::Control | Kw::Parser | Kw::Header | Kw::HeaderUnion | Kw::Struct | Kw::Extern | Kw::Package | Kw::Typedef => true,
            Kw::Action | Kw::Table | Kw::State => level == Level::Inner,
            _ => false,
        }
    }

    // -- names --------------------------------------------------------------------------------------------------------

    /// The name at a token, if it can be one: identifiers and the keywords that are names outside their place.
    fn name_at(&self, index: usize) -> Option<&'a str> {
        match &self.token_at(index).tok {
            Tok::Word(word) => Some(word),
            Tok::Kw(kw @ (Kw::Apply | Kw::Key | Kw::Actions | Kw::State | Kw::Entries | Kw::Type)) => Some(kw.text()),
            _ => None,
        }
    }

    fn at_name(&self) -> bool {
        self.name_at(self.pos).is_some()
    }

    /// A name; `what` says for what.
    fn ident(&mut self, what: &str) -> Parse<Ident> {
        match self.name_at(self.pos) {
            Some(name) => Ok(Ident { name: name.to_string(), span: self.bump() }),
            None => {
                let mut diagnostic = self.expectation(what);
                if let Tok::Kw(kw) = self.tok() {
                    diagnostic = diagnostic.with_note(format!("`{}` is a keyword and cannot be used as a name", kw.text()));
                }
                self.fail(diagnostic)
            }
        }
    }

    /// `name` or `.name`.
    fn path(&mut self, what: &str) -> Parse<Path> {
        let start = self.span();
        let global = self.eat(P::Dot);
        let name = self.ident(what)?;
        Ok(Path { global, span: start.to(name.span), name })
    }

    /// Names with commas between, up to `close`, which is left; a comma may stand at the end.
    fn ident_list(&mut self, close: P, what: &str) -> Parse<Vec<Ident>> {
        self.comma_list(close, |p| p.ident(what))
    }

    /// Items with commas between, up to `close`, which is left; a comma may stand at the end.
    fn comma_list<T>(&mut self, close: P, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        while !self.at(close) {
            items.push(item(self)?);
            if !self.at(close) && !self.eat(P::Comma) {
                return self.expected(&format!("`,` or `{}`", close.text()));
            }
        }
        Ok(items)
    }
}
