//! What is this going to be? Looking ahead over tokens without reading them, in bounded or linear time.

use super::Parser;
use crate::lexer::{Kw, P, Tok};

/// Longest list of type arguments looked over; a longer one is not taken for type arguments.
const MAX_TYPE_ARGS: usize = 1000;

impl Parser<'_> {
    fn tok_at(&self, index: usize) -> &Tok {
        &self.token_at(index).tok
    }

    fn is(&self, index: usize, p: P) -> bool {
        *self.tok_at(index) == Tok::P(p)
    }

    /// If a type can be read at `index`: the index behind it.
    pub(super) fn skip_type(&self, index: usize) -> Option<usize> {
        let mut at = match self.tok_at(index) {
            Tok::Kw(Kw::Bool | Kw::Error | Kw::MatchKind | Kw::String | Kw::Void) => index + 1,
            Tok::Kw(Kw::Bit | Kw::Int) if !self.is(index + 1, P::Lt) => index + 1,
            Tok::Kw(Kw::Bit | Kw::Int | Kw::Varbit | Kw::Tuple) => self.skip_angles(index + 1)?,
            _ => {
                let name = if self.is(index, P::Dot) { index + 1 } else { index };
                self.name_at(name)?;
                if self.is(name + 1, P::Lt) { self.skip_angles(name + 1)? } else { name + 1 }
            }
        };
        while self.is(at, P::LBracket) {
            at = self.skip_brackets(at)?;
        }
        Some(at)
    }

    /// If `index` is a `<` that starts type arguments: the index behind the `>`.
    pub(super) fn skip_angles(&self, index: usize) -> Option<usize> {
        if !self.is(index, P::Lt) {
            return None;
        }
        // For each open `<` whether it belongs to `bit`, `int` or `varbit`, inside which arithmetic may stand.
        let mut open: Vec<bool> = Vec::new();
        let mut at = index;
        while at - index < MAX_TYPE_ARGS {
            match self.tok_at(at) {
                Tok::P(P::Lt) => {
                    let sized = at > 0 && matches!(self.tok_at(at - 1), Tok::Kw(Kw::Bit | Kw::Int | Kw::Varbit));
                    open.push(sized);
                }
                Tok::P(P::Gt) => {
                    open.pop();
                    if open.is_empty() {
                        return Some(at + 1);
                    }
                }
                Tok::P(P::LParen | P::LBracket) => {
                    at = self.skip_brackets(at)?;
                    continue;
                }
                Tok::P(P::Comma | P::Dot) | Tok::Word(_) | Tok::Int(_) => {}
                Tok::Kw(kw) => match kw {
                    Kw::Bit | Kw::Int | Kw::Varbit | Kw::Bool | Kw::Error | Kw::MatchKind | Kw::String | Kw::Void | Kw::Tuple => {}
                    Kw::Underscore => {}
                    _ if self.name_at(at).is_some() => {}
                    _ => return None,
                },
                Tok::P(P::Semi | P::LBrace | P::RBrace | P::Eq | P::At) => return None,
                Tok::P(_) if open.last() == Some(&true) => {}
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// The index behind the bracket that closes the `(` or `[` at `index`; `None` if braces or `;` come first.
    pub(super) fn skip_brackets(&self, index: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut at = index;
        loop {
            match self.tok_at(at) {
                Tok::P(P::LParen | P::LBracket) => depth += 1,
                Tok::P(P::RParen | P::RBracket) => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Tok::P(P::Semi) | Tok::Eof => return None,
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether a declaration `type name` starts here: two names side by side never start an expression.
    pub(super) fn at_variable(&self) -> bool {
        self.skip_type(self.pos).is_some_and(|next| self.name_at(next).is_some())
    }

    /// Whether an instantiation `type(args) name` starts here.
    pub(super) fn at_instantiation(&self) -> bool {
        self.skip_type(self.pos)
            .filter(|next| self.is(*next, P::LParen))
            .and_then(|open| self.skip_brackets(open))
            .is_some_and(|next| self.name_at(next).is_some())
    }

    /// Whether the `<` at the current token starts type arguments rather than a comparison; `known` is what the tracked
    /// names say of the name before it; `member` says that the name stands behind a dot.
    pub(super) fn at_type_args(&self, known: Option<bool>, member: bool) -> bool {
        // Even of a name known not to be generic: `x < bit` is no comparison, and the checker can say what is wrong.
        let base_type = matches!(self.nth(1), Tok::Kw(Kw::Bit | Kw::Int | Kw::Varbit | Kw::Bool | Kw::Tuple | Kw::String | Kw::Void));
        if !self.at(P::Lt) || (known == Some(false) && !base_type) {
            return false;
        }
        match self.skip_angles(self.pos) {
            Some(next) => self.is(next, P::LParen) || (!member && self.is(next, P::Dot)),
            None => false,
        }
    }

    /// Whether the `(` at the current token starts a cast.
    pub(super) fn at_cast(&self) -> bool {
        if matches!(self.nth(1), Tok::Kw(Kw::Bit | Kw::Int | Kw::Varbit | Kw::Bool | Kw::Tuple | Kw::String)) {
            return true;
        }
        let Some(close) = self.skip_type(self.pos + 1).filter(|next| self.is(*next, P::RParen)) else { return false };
        let first = self.pos + 1;
        let global = self.is(first, P::Dot);
        let name_index = first + usize::from(global);
        let Some(name) = self.name_at(name_index) else { return true };
        if self.is(name_index + 1, P::Lt) {
            return true;
        }
        if let Some(kind) = self.scopes.find(name, global) {
            return kind.is_type;
        }
        // An unknown name alone in parentheses: a cast if an operand follows that cannot go on as an operator would.
        close == name_index + 1
            && matches!(
                self.tok_at(close + 1),
                Tok::Word(_)
                    | Tok::Int(_)
                    | Tok::Str(_)
                    | Tok::Kw(Kw::True | Kw::False | Kw::This)
                    | Tok::P(P::LParen | P::LBrace | P::Tilde | P::Not)
            )
    }
}
