//! Is the condition of an `#if` true? Integer expressions over tokens whose macros are expanded.

use crate::lexer::{P, Tok, Token, parse_number};
use crate::span::Span;

/// Deepest nesting of parentheses and operators.
const MAX_DEPTH: u32 = 100;

/// What is wrong with a condition, and where.
type Problem = (Span, String);

/// Turns `defined X` and `defined(X)` into 1 or 0, before macros are expanded.
pub(crate) fn replace_defined(tokens: Vec<Token>, is_defined: &dyn Fn(&str) -> bool) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = tokens.as_slice();
    while let [first, more @ ..] = rest {
        let word = |token: &Token, text: &str| matches!(&token.tok, Tok::Word(w) if &**w == text);
        let (name, tail) = match more {
            [Token { tok: Tok::P(P::LParen), .. }, Token { tok: Tok::Word(name), .. }, Token { tok: Tok::P(P::RParen), .. }, tail @ ..] => {
                (Some(name), tail)
            }
            [Token { tok: Tok::Word(name), .. }, tail @ ..] => (Some(name), tail),
            _ => (None, more),
        };
        match name {
            Some(name) if word(first, "defined") => {
                let tok = Tok::Number(if is_defined(name) { "1" } else { "0" }.into());
                out.push(Token { tok, ..first.clone() });
                rest = tail;
            }
            _ => {
                out.push(first.clone());
                rest = more;
            }
        }
    }
    out
}

/// The value of a condition; names left over count as 0.
pub(crate) fn evaluate(tokens: &[Token], line: Span) -> Result<i64, Problem> {
    let mut eval = Eval { tokens, pos: 0, line, depth: 0 };
    let value = eval.ternary()?;
    match eval.tokens.get(eval.pos) {
        None => Ok(value),
        Some(token) => Err((token.span, format!("unexpected {} in a condition", token.tok.describe()))),
    }
}

struct Eval<'a> {
    tokens: &'a [Token],
    pos: usize,
    line: Span,
    depth: u32,
}

impl Eval<'_> {
    fn at(&self, p: P) -> bool {
        self.tokens.get(self.pos).is_some_and(|t| t.tok == Tok::P(p))
    }

    fn eat(&mut self, p: P) -> bool {
        let found = self.at(p);
        self.pos += usize::from(found);
        found
    }

    fn fail<T>(&self, expected: &str) -> Result<T, Problem> {
        match self.tokens.get(self.pos) {
            Some(token) => Err((token.span, format!("expected {expected} in a condition, found {}", token.tok.describe()))),
            None => Err((self.line, format!("expected {expected} in a condition, found the end of the line"))),
        }
    }

    fn ternary(&mut self) -> Result<i64, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.line, "the condition is nested too deep".to_string()));
        }
        let cond = self.binary(1)?;
        let value = if self.eat(P::Question) {
            let then = self.ternary()?;
            if !self.eat(P::Colon) {
                return self.fail("`:`");
            }
            let otherwise = self.ternary()?;
            if cond != 0 { then } else { otherwise }
        } else {
            cond
        };
        self.depth -= 1;
        Ok(value)
    }

    /// C's operators and C's binding strengths, whatever P4's are.
    fn operator(&self) -> Option<(u8, &'static str, usize)> {
        let token = self.tokens.get(self.pos)?;
        Some(match token.tok {
            Tok::P(P::OrOr) => (1, "||", 1),
            Tok::P(P::AndAnd) => (2, "&&", 1),
            Tok::P(P::Or) => (3, "|", 1),
            Tok::P(P::Caret) => (4, "^", 1),
            Tok::P(P::And) => (5, "&", 1),
            Tok::P(P::EqEq) => (6, "==", 1),
            Tok::P(P::Ne) => (6, "!=", 1),
            Tok::P(P::Lt) => (7, "<", 1),
            Tok::P(P::Le) => (7, "<=", 1),
            Tok::P(P::Ge) => (7, ">=", 1),
            Tok::P(P::Gt) if token.glued => (8, ">>", 2),
            Tok::P(P::Gt) => (7, ">", 1),
            Tok::P(P::Shl) => (8, "<<", 1),
            Tok::P(P::Plus) => (9, "+", 1),
            Tok::P(P::Minus) => (9, "-", 1),
            Tok::P(P::Star) => (10, "*", 1),
            Tok::P(P::Slash) => (10, "/", 1),
            Tok::P(P::Percent) => (10, "%", 1),
            _ => return None,
        })
    }

    fn binary(&mut self, min: u8) -> Result<i64, Problem> {
        let mut left = self.unary()?;
        while let Some((precedence, op, len)) = self.operator().filter(|(p, ..)| *p >= min) {
            let at = self.tokens[self.pos].span;
            self.pos += len;
            let right = self.binary(precedence + 1)?;
            left = apply(op, left, right).ok_or((at, "division by zero in a condition".to_string()))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.line, "the condition is nested too deep".to_string()));
        }
        let value = if self.eat(P::Not) {
            i64::from(self.unary()? == 0)
        } else if self.eat(P::Minus) {
            self.unary()?.wrapping_neg()
        } else if self.eat(P::Plus) {
            self.unary()?
        } else if self.eat(P::Tilde) {
            !self.unary()?
        } else if self.eat(P::LParen) {
            let value = self.ternary()?;
            if !self.eat(P::RParen) {
                return self.fail("`)`");
            }
            value
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<i64, Problem> {
        let Some(token) = self.tokens.get(self.pos) else { return self.fail("a value") };
        let value = match &token.tok {
            Tok::Number(text) => {
                let lit = parse_number(text).map_err(|problem| (token.span, format!("malformed number: {problem}")))?;
                i64::try_from(&lit.value).map_err(|_| (token.span, "this number is too large for a condition".to_string()))?
            }
            Tok::Word(word) => i64::from(&**word == "true"),
            _ => return self.fail("a value"),
        };
        self.pos += 1;
        Ok(value)
    }
}

/// `None` on division by zero.
fn apply(op: &str, a: i64, b: i64) -> Option<i64> {
    let shift = b.clamp(0, 63) as u32;
    Some(match op {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        "<=" => i64::from(a <= b),
        ">" => i64::from(a > b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(shift),
        ">>" => a >> shift,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}
