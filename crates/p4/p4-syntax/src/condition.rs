//! Is the condition of an `#if` true? Integer expressions over tokens whose macros are expanded, as C's preprocessors have them: numbers of 64 bits, with or
//! without sign, and character constants.

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

/// The truth of a condition; names left over count as 0.
pub(crate) fn evaluate(tokens: &[Token], line: Span) -> Result<bool, Problem> {
    let mut eval = Eval { tokens, pos: 0, line, depth: 0, skipped: 0 };
    let value = eval.ternary()?;
    match eval.tokens.get(eval.pos) {
        None => Ok(value.is_true()),
        Some(token) => Err((token.span, format!("unexpected {} in a condition", token.tok.describe()))),
    }
}

/// A number of a condition.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Value {
        Value { bits: value as u64, unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }

    fn negative(self) -> bool {
        !self.unsigned && (self.bits as i64) < 0
    }
}

struct Eval<'a> {
    tokens: &'a [Token],
    pos: usize,
    line: Span,
    depth: u32,
    /// How many operands are open that do not count: the right one of `0 &&` may divide by zero.
    skipped: u32,
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

    /// An operand that counts only if `counts`.
    fn operand(&mut self, counts: bool, read: impl FnOnce(&mut Self) -> Result<Value, Problem>) -> Result<Value, Problem> {
        self.skipped += u32::from(!counts);
        let value = read(self);
        self.skipped -= u32::from(!counts);
        value
    }

    fn ternary(&mut self) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.line, "the condition is nested too deep".to_string()));
        }
        let cond = self.binary(1)?;
        let value = if self.eat(P::Question) {
            let then = self.operand(cond.is_true(), Self::ternary)?;
            if !self.eat(P::Colon) {
                return self.fail("`:`");
            }
            let otherwise = self.operand(!cond.is_true(), Self::ternary)?;
            let chosen = if cond.is_true() { then } else { otherwise };
            Value { unsigned: then.unsigned || otherwise.unsigned, ..chosen }
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

    fn binary(&mut self, min: u8) -> Result<Value, Problem> {
        let mut left = self.unary()?;
        while let Some((precedence, op, len)) = self.operator().filter(|(p, ..)| *p >= min) {
            let at = self.tokens[self.pos].span;
            self.pos += len;
            let counts = match op {
                "&&" => left.is_true(),
                "||" => !left.is_true(),
                _ => true,
            };
            let right = self.operand(counts, |eval| eval.binary(precedence + 1))?;
            left = match apply(op, left, right) {
                Some(value) => value,
                None if self.skipped > 0 => Value::signed(0),
                None => return Err((at, "division by zero in a condition".to_string())),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.line, "the condition is nested too deep".to_string()));
        }
        let value = if self.eat(P::Not) {
            Value::signed(i64::from(!self.unary()?.is_true()))
        } else if self.eat(P::Minus) {
            let v = self.unary()?;
            Value { bits: v.bits.wrapping_neg(), ..v }
        } else if self.eat(P::Plus) {
            self.unary()?
        } else if self.eat(P::Tilde) {
            let v = self.unary()?;
            Value { bits: !v.bits, ..v }
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

    fn atom(&mut self) -> Result<Value, Problem> {
        let Some(token) = self.tokens.get(self.pos) else { return self.fail("a value") };
        let value = match &token.tok {
            Tok::Number(text) => number(text).map_err(|problem| (token.span, problem))?,
            Tok::Char(text) => Value::signed(character(text).map_err(|problem| (token.span, problem))?),
            Tok::Word(word) => Value::signed(i64::from(&**word == "true")),
            _ => return self.fail("a value"),
        };
        self.pos += 1;
        Ok(value)
    }
}

/// A number as C has it, with its suffix, octal behind a 0; or as P4 has it.
fn number(text: &str) -> Result<Value, String> {
    let suffix = text.len() - text.trim_end_matches(['u', 'U', 'l', 'L']).len();
    let (digits, suffix) = text.split_at(text.len() - suffix);
    let unsigned = match suffix.to_ascii_lowercase().as_str() {
        // Of `ll` both letters are large or small.
        _ if suffix.contains("lL") || suffix.contains("Ll") => return Err(format!("malformed number: `{suffix}` is no suffix")),
        "" | "l" | "ll" => false,
        "u" | "ul" | "ull" | "lu" | "llu" => true,
        _ => return Err(format!("malformed number: `{suffix}` is no suffix")),
    };
    let octal = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let lit = match octal {
        true => parse_number(&format!("0o{}", &digits[1..])),
        false => parse_number(digits),
    };
    let lit = lit.map_err(|problem| format!("malformed number: {problem}"))?;
    let bits = u64::try_from(&lit.value).map_err(|_| "this number is too large for a condition".to_string())?;
    // What does not fit with a sign has none.
    Ok(Value { bits, unsigned: unsigned || i64::try_from(bits).is_err() })
}

/// The value of a character constant as written: several characters are put together as bytes of an `int`, one alone is a signed `char`.
fn character(text: &str) -> Result<i64, String> {
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or("");
    let mut bytes: Vec<u8> = Vec::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let unknown = || format!("the character constant `{text}` has an escape that is not known");
        let escaped = chars.next().ok_or_else(unknown)?;
        let code = match escaped {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            '\\' | '\'' | '"' | '?' => escaped as u32,
            '0'..='7' => {
                let mut code = escaped.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    chars.next();
                }
                code
            }
            'x' => {
                let mut code = chars.next().and_then(|c| c.to_digit(16)).ok_or_else(unknown)?;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    code = code.saturating_mul(16).saturating_add(digit);
                    chars.next();
                }
                code
            }
            _ => return Err(unknown()),
        };
        bytes.push(u8::try_from(code).map_err(|_| format!("the character constant `{text}` has an escape beyond one byte"))?);
    }
    match bytes[..] {
        [] => Err(format!("the character constant `{text}` is empty")),
        [one] => Ok(i64::from(one as i8)),
        _ if bytes.len() > 4 => Err(format!("the character constant `{text}` is longer than an int")),
        _ => Ok(i64::from(bytes.iter().fold(0i32, |value, b| value << 8 | i32::from(*b)))),
    }
}

/// `None` on division by zero.
fn apply(op: &str, a: Value, b: Value) -> Option<Value> {
    let truth = |holds: bool| Value::signed(i64::from(holds));
    // Of two operands one of which has no sign both have none; a shift is the left one's.
    let unsigned = a.unsigned || b.unsigned;
    let below = if unsigned { a.bits < b.bits } else { (a.bits as i64) < b.bits as i64 };
    let of = |bits: u64| Some(Value { bits, unsigned });
    match op {
        "||" => Some(truth(a.is_true() || b.is_true())),
        "&&" => Some(truth(a.is_true() && b.is_true())),
        "|" => of(a.bits | b.bits),
        "^" => of(a.bits ^ b.bits),
        "&" => of(a.bits & b.bits),
        "==" => Some(truth(a.bits == b.bits)),
        "!=" => Some(truth(a.bits != b.bits)),
        "<" => Some(truth(below)),
        ">=" => Some(truth(!below)),
        ">" => Some(truth(!below && a.bits != b.bits)),
        "<=" => Some(truth(below || a.bits == b.bits)),
        // A shift by a negative number goes the other way.
        "<<" | ">>" => {
            let (by, back) = if b.negative() { ((b.bits as i64).unsigned_abs(), true) } else { (b.bits, false) };
            let left = (op == "<<") != back;
            let bits = match (u32::try_from(by).ok().filter(|by| *by < 64), left) {
                (Some(by), true) => a.bits << by,
                (Some(by), false) if a.negative() => ((a.bits as i64) >> by) as u64,
                (Some(by), false) => a.bits >> by,
                (None, false) if a.negative() => u64::MAX,
                (None, _) => 0,
            };
            Some(Value { bits, ..a })
        }
        "+" => of(a.bits.wrapping_add(b.bits)),
        "-" => of(a.bits.wrapping_sub(b.bits)),
        "*" => of(a.bits.wrapping_mul(b.bits)),
        "/" | "%" if !b.is_true() => None,
        "/" if unsigned => of(a.bits / b.bits),
        "%" if unsigned => of(a.bits % b.bits),
        "/" => of((a.bits as i64).wrapping_div(b.bits as i64) as u64),
        "%" => of((a.bits as i64).wrapping_rem(b.bits as i64) as u64),
        _ => None,
    }
}
