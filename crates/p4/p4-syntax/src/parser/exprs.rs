//! Reading expressions (P4_16 §8): operators by binding strength, then prefix, postfix and primary forms.

use super::{Parse, Parser};
use crate::ast::{Arg, BinOp, Expr, ExprKind, FieldInit, Keyset, Type, TypeKind, UnaryOp};
use crate::diag::Diagnostic;
use crate::lexer::{Kw, P, Tok};
use crate::span::Span;

/// An operator in front of an operand, with where it starts.
enum Prefix {
    Unary(UnaryOp),
    /// A cast and the height of its type.
    Cast(Type, u32),
}

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

impl Parser<'_> {
    /// Any expression: `cond ? a : b` and everything that binds tighter.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let cond = p.binary()?;
            if !p.eat(P::Question) {
                return Ok(cond);
            }
            let mut height = p.height;
            let then = p.expr()?;
            height = height.max(p.height);
            p.expect(P::Colon)?;
            let otherwise = p.expr()?;
            p.grow(height.max(p.height))?;
            let span = cond.span.to(otherwise.span);
            let (cond, then, otherwise) = (Box::new(cond), Box::new(then), Box::new(otherwise));
            Ok(expr(ExprKind::Ternary { cond, then, otherwise }, span))
        })
    }

    /// Runs a function in a place where `>` is an operator again: inside brackets.
    pub(super) fn with_gt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let outer = std::mem::replace(&mut self.no_gt, false);
        let result = read(self);
        self.no_gt = outer;
        result
    }

    /// Operands with binary operators between. The operator stack lives on the heap: no recursion by binding strength.
    fn binary(&mut self) -> Parse<Expr> {
        let first = self.unary()?;
        let mut operands = vec![(first, self.height)];
        let mut operators: Vec<BinOp> = Vec::new();
        while let Some((op, len)) = self.binary_operator() {
            while operators.last().is_some_and(|last| last.precedence() >= op.precedence()) {
                self.reduce(&mut operands, &mut operators)?;
            }
            operators.push(op);
            for _ in 0..len {
                self.bump();
            }
            let operand = self.unary()?;
            operands.push((operand, self.height));
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators)?;
        }
        match operands.pop() {
            Some((whole, height)) => {
                self.height = height;
                Ok(whole)
            }
            None => self.expected("an expression"),
        }
    }

    /// Applies the operator on top to the two operands on top.
    fn reduce(&mut self, operands: &mut Vec<(Expr, u32)>, operators: &mut Vec<BinOp>) -> Parse<()> {
        let (Some(op), Some((right, rh)), Some((left, lh))) = (operators.pop(), operands.pop(), operands.pop()) else {
            return self.expected("an expression");
        };
        self.grow(lh.max(rh))?;
        let span = left.span.to(right.span);
        operands.push((expr(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span), self.height));
        Ok(())
    }

    /// The binary operator at the current token and how many tokens it takes.
    fn binary_operator(&self) -> Option<(BinOp, usize)> {
        let token = self.token_at(self.pos);
        let Tok::P(p) = token.tok else { return None };
        let op = match p {
            P::Star => BinOp::Mul,
            P::Slash => BinOp::Div,
            P::Percent => BinOp::Mod,
            P::Plus => BinOp::Add,
            P::Minus => BinOp::Sub,
            P::SatAdd => BinOp::SatAdd,
            P::SatSub => BinOp::SatSub,
            P::PlusPlus => BinOp::Concat,
            P::Shl => BinOp::Shl,
            P::And => BinOp::BitAnd,
            P::Caret => BinOp::BitXor,
            P::Or => BinOp::BitOr,
            P::Lt => BinOp::Lt,
            P::Le => BinOp::Le,
            P::Gt | P::Ge if self.no_gt => return None,
            P::Gt if token.glued => {
                return match self.nth(1) {
                    Tok::P(P::Gt) => Some((BinOp::Shr, 2)),
                    // `>>=` assigns.
                    Tok::P(P::Ge) => None,
                    _ => Some((BinOp::Gt, 1)),
                };
            }
            P::Gt => BinOp::Gt,
            P::Ge => BinOp::Ge,
            P::EqEq => BinOp::Eq,
            P::Ne => BinOp::Ne,
            P::AndAnd => BinOp::And,
            P::OrOr => BinOp::Or,
            _ => return None,
        };
        Some((op, 1))
    }

    /// Prefix operators and casts, then an operand; collected in a loop, not by recursion.
    fn unary(&mut self) -> Parse<Expr> {
        let mut prefixes = Vec::new();
        loop {
            let start = self.span();
            let op = match self.tok() {
                Tok::P(P::Not) => UnaryOp::Not,
                Tok::P(P::Tilde) => UnaryOp::BitNot,
                Tok::P(P::Minus) => UnaryOp::Neg,
                Tok::P(P::Plus) => UnaryOp::Plus,
                Tok::P(P::LParen) if self.at_cast() => {
                    self.bump();
                    let ty = self.with_gt(Self::ty)?;
                    let height = self.height;
                    self.expect_close(P::RParen, start)?;
                    prefixes.push((start, Prefix::Cast(ty, height)));
                    continue;
                }
                _ => break,
            };
            self.bump();
            prefixes.push((start, Prefix::Unary(op)));
        }
        let mut whole = self.postfix()?;
        for (start, prefix) in prefixes.into_iter().rev() {
            let span = start.to(whole.span);
            let operand = Box::new(whole);
            let (kind, below) = match prefix {
                Prefix::Unary(op) => (ExprKind::Unary { op, operand }, 0),
                Prefix::Cast(ty, height) => (ExprKind::Cast { ty: Box::new(ty), operand }, height),
            };
            self.grow(self.height.max(below))?;
            whole = expr(kind, span);
        }
        Ok(whole)
    }

    /// `10.0.0.1`: not P4, but often tried. Refused with the number that it is.
    fn dotted_address<T>(&mut self, first: &Expr) -> Parse<T> {
        let byte = |lit: &crate::ast::IntLit| u8::try_from(&lit.value).ok().filter(|_| lit.width.is_none() && lit.radix == 10);
        let mut bytes = match &first.kind {
            ExprKind::Int(lit) => vec![byte(lit)],
            _ => Vec::new(),
        };
        let mut diagnostic = self.expectation("a member's name");
        let mut at = 0;
        while let Tok::Int(lit) = self.nth(at) {
            bytes.push(byte(lit));
            if *self.nth(at + 1) != Tok::P(P::Dot) {
                break;
            }
            at += 2;
        }
        if let [Some(a), Some(b), Some(c), Some(d)] = bytes[..] {
            let number = u32::from_be_bytes([a, b, c, d]);
            diagnostic = diagnostic
                .with_help(format!("P4 has no literals for addresses: {a}.{b}.{c}.{d} is `32w{number:#010X}`").replace("0X", "0x"));
        }
        self.fail(diagnostic)
    }

    /// A primary expression with members, indices, slices and calls behind it.
    pub(super) fn postfix(&mut self) -> Parse<Expr> {
        let mut whole = self.primary()?;
        loop {
            let below = self.height;
            match self.tok() {
                Tok::P(P::Dot) => {
                    self.bump();
                    if matches!(whole.kind, ExprKind::Int(_)) && matches!(self.tok(), Tok::Int(_)) {
                        return self.dotted_address(&whole);
                    }
                    let member = self.ident("a member's name")?;
                    self.grow(below)?;
                    let span = whole.span.to(member.span);
                    whole = expr(ExprKind::Member { base: Box::new(whole), member }, span);
                    // Nothing is known of members: `x.f<T>(...)` is a call if it can be.
                    if self.at_type_args(None, true) {
                        let below = self.height;
                        let type_args = self.type_args()?;
                        let below = below.max(self.height);
                        whole = self.call(whole, type_args, below)?;
                    }
                }
                Tok::P(P::LParen) => whole = self.call(whole, Vec::new(), below)?,
                Tok::P(P::LBracket) => whole = self.bracket(whole, below)?,
                _ => return Ok(whole),
            }
        }
    }

    /// `(args)` behind a callee whose parts are at most `below` high.
    fn call(&mut self, callee: Expr, type_args: Vec<Type>, below: u32) -> Parse<Expr> {
        self.height = 0;
        let args = self.args()?;
        self.grow(below.max(self.height))?;
        let span = callee.span.to(self.prev_span());
        Ok(expr(ExprKind::Call { callee: Box::new(callee), type_args, args }, span))
    }

    /// `[index]`, `[hi:lo]` or `[lo +: width]`
    fn bracket(&mut self, base: Expr, below: u32) -> Parse<Expr> {
        let open = self.bump();
        let first = Box::new(self.with_gt(Self::expr)?);
        let mut height = below.max(self.height);
        let base = Box::new(base);
        let start = base.span;
        let kind = if self.at(P::Colon) || self.at(P::PlusColon) {
            let plus = self.at(P::PlusColon);
            self.bump();
            let second = Box::new(self.with_gt(Self::expr)?);
            height = height.max(self.height);
            if plus { ExprKind::PlusSlice { base, lo: first, width: second } } else { ExprKind::Slice { base, hi: first, lo: second } }
        } else {
            ExprKind::Index { base, index: first }
        };
        let close = self.expect_close(P::RBracket, open)?;
        self.grow(height)?;
        Ok(expr(kind, start.to(close)))
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.height = 1;
        let kind = match self.tok() {
            Tok::Int(lit) => ExprKind::Int((**lit).clone()),
            Tok::Str(text) => ExprKind::Str(text.to_string()),
            Tok::Kw(Kw::True) => ExprKind::Bool(true),
            Tok::Kw(Kw::False) => ExprKind::Bool(false),
            Tok::Kw(Kw::This) => ExprKind::This,
            Tok::P(P::Dots) => ExprKind::Dots,
            Tok::P(P::LParen) => return self.parenthesised(),
            Tok::P(P::LBrace) => return self.initialiser(),
            Tok::P(P::Dot) => return self.name_expr(),
            Tok::Kw(Kw::Error) if *self.nth(1) == Tok::P(P::Dot) => ExprKind::Type(Box::new(Type { kind: TypeKind::Error, span: start })),
            _ if self.at_name() => return self.name_expr(),
            _ => return self.no_expression(),
        };
        self.bump();
        Ok(expr(kind, start))
    }

    fn no_expression<T>(&mut self) -> Parse<T> {
        let mut diagnostic = self.expectation("an expression");
        match self.tok() {
            Tok::Kw(Kw::Underscore) => diagnostic = diagnostic.with_help("`_` may stand alone in a keyset or as an argument"),
            Tok::Kw(Kw::Default) => diagnostic = diagnostic.with_help("`default` may stand alone in a keyset or as a `switch` label"),
            _ if self.skip_type(self.pos).is_some() => {
                diagnostic = diagnostic.with_help("a type stands in front of a value as a cast: `(bit<8>) x`");
            }
            _ => {}
        }
        self.fail(diagnostic)
    }

    fn parenthesised(&mut self) -> Parse<Expr> {
        let open = self.bump();
        let inner = self.with_gt(Self::expr)?;
        if self.at(P::MaskOp) || self.at(P::Range) {
            let diagnostic = self.expectation("`)`");
            return self.fail(diagnostic.with_help("`&&&` and `..` may only be used in keysets"));
        }
        let close = self.expect_close(P::RParen, open)?;
        Ok(Expr { span: open.to(close), ..inner })
    }

    /// A name, or a name with type arguments as the callee of a call or the base of a member.
    fn name_expr(&mut self) -> Parse<Expr> {
        let path = self.path("a name")?;
        self.height = 1;
        let known = self.scopes.find(&path.name.name, path.global).map(|k| k.is_generic);
        let span = path.span;
        if !self.at_type_args(known, false) {
            return Ok(expr(ExprKind::Path(path), span));
        }
        let args = self.type_args()?;
        if self.at(P::LParen) {
            let below = self.height;
            return self.call(expr(ExprKind::Path(path), span), args, below);
        }
        self.grow(self.height)?;
        let span = span.to(self.prev_span());
        Ok(expr(ExprKind::Type(Box::new(Type { kind: TypeKind::Named { path, args }, span })), span))
    }

    /// `{#}`, `{ a, b }`, `{ f = a, g = b }`, each possibly with `...` at the end
    fn initialiser(&mut self) -> Parse<Expr> {
        let open = self.bump();
        self.open_initialisers += 1;
        let whole = self.initialiser_after(open)?;
        self.open_initialisers -= 1;
        Ok(whole)
    }

    fn initialiser_after(&mut self, open: Span) -> Parse<Expr> {
        if self.at(P::Hash) {
            self.bump();
            let close = self.expect_close(P::RBrace, open)?;
            return Ok(expr(ExprKind::Invalid, open.to(close)));
        }
        let fields = self.at_name() && *self.nth(1) == Tok::P(P::Eq);
        let mut height = 0;
        let (kind, close) = self.with_gt(|p| {
            let (mut items, mut inits, mut rest) = (Vec::new(), Vec::new(), false);
            while !p.at(P::RBrace) {
                if p.at(P::Dots) && matches!((p.nth(1), p.nth(2)), (Tok::P(P::RBrace), _) | (Tok::P(P::Comma), Tok::P(P::RBrace))) {
                    p.bump();
                    rest = true;
                } else if fields {
                    inits.push(p.field_init()?);
                } else {
                    items.push(p.expr()?);
                }
                height = height.max(p.height);
                if !p.at(P::RBrace) && !p.eat(P::Comma) {
                    let diagnostic = p.expectation("`,` or `}`").with_place(open, "in the initialiser that starts here");
                    return p.fail(diagnostic);
                }
            }
            let kind = if fields { ExprKind::Struct { fields: inits, rest } } else { ExprKind::List { items, rest } };
            Ok((kind, p.bump()))
        })?;
        self.grow(height)?;
        Ok(expr(kind, open.to(close)))
    }

    /// `name = value`
    pub(super) fn field_init(&mut self) -> Parse<FieldInit> {
        let name = self.ident("a field's name")?;
        self.expect(P::Eq)?;
        let value = self.expr()?;
        Ok(FieldInit { span: name.span.to(value.span), name, value })
    }

    /// `( value, name = value, _ ... )`; leaves the height of the highest argument.
    pub(super) fn args(&mut self) -> Parse<Vec<Arg>> {
        let open = self.expect(P::LParen)?;
        let mut height = 0;
        let args = self.with_gt(|p| {
            let mut args = Vec::new();
            while !p.at(P::RParen) {
                args.push(p.arg()?);
                height = height.max(p.height);
                if !p.at(P::RParen) && !p.eat(P::Comma) {
                    let diagnostic = p.expectation("`,` or `)`").with_place(open, "in the arguments that start here");
                    return p.fail(diagnostic);
                }
            }
            p.bump();
            Ok(args)
        })?;
        self.height = height;
        Ok(args)
    }

    fn arg(&mut self) -> Parse<Arg> {
        let start = self.span();
        let name = if self.at_name() && *self.nth(1) == Tok::P(P::Eq) {
            let name = self.ident("a parameter's name")?;
            self.bump();
            Some(name)
        } else {
            None
        };
        let value = if self.at_kw(Kw::Underscore) {
            self.height = 1;
            expr(ExprKind::DontCare, self.bump())
        } else {
            self.expr()?
        };
        Ok(Arg { name, span: start.to(value.span), value })
    }

    /// Expressions with commas between, up to `close`, which is left.
    pub(super) fn expr_list(&mut self, close: P) -> Parse<Vec<Expr>> {
        self.with_gt(|p| p.comma_list(close, Self::expr))
    }

    // -- keysets (P4_16 §13.6, §14.2.1.4) -----------------------------------------------------------------------------

    /// A keyset, up to the `:` behind it. `(a, b)` in front of a `:` is one element a key; any other `(` starts an
    /// ordinary expression.
    pub(super) fn keyset(&mut self) -> Parse<Keyset> {
        let start = self.span();
        let tuple = self.at(P::LParen) && self.skip_brackets(self.pos).is_some_and(|next| self.token_at(next).tok == Tok::P(P::Colon));
        if !tuple {
            let elem = self.keyset_elem()?;
            return Ok(Keyset { span: elem.span, elems: vec![elem] });
        }
        self.bump();
        let elems = self.comma_list(P::RParen, Self::keyset_elem)?;
        if elems.is_empty() {
            return self.expected("a keyset");
        }
        let close = self.bump();
        Ok(Keyset { elems, span: start.to(close) })
    }

    /// `default`, `_`, `a`, `a &&& b` or `a .. b`
    fn keyset_elem(&mut self) -> Parse<Expr> {
        match self.tok() {
            Tok::Kw(Kw::Default) => return Ok(expr(ExprKind::Default, self.bump())),
            Tok::Kw(Kw::Underscore) => return Ok(expr(ExprKind::DontCare, self.bump())),
            _ => {}
        }
        let first = self.expr()?;
        if self.eat(P::MaskOp) {
            let mask = self.expr()?;
            let span = first.span.to(mask.span);
            return Ok(expr(ExprKind::Mask { value: Box::new(first), mask: Box::new(mask) }, span));
        }
        self.range_after(first)
    }

    /// `first`, or `first .. last` if that follows.
    pub(super) fn range_after(&mut self, first: Expr) -> Parse<Expr> {
        if !self.eat(P::Range) {
            return Ok(first);
        }
        let hi = self.expr()?;
        let span = first.span.to(hi.span);
        Ok(expr(ExprKind::Range { lo: Box::new(first), hi: Box::new(hi) }, span))
    }

    /// Reports `=` where a condition was meant to compare.
    pub(super) fn condition(&mut self) -> Parse<(Expr, Span)> {
        let open = self.expect(P::LParen)?;
        let cond = self.with_gt(Self::expr)?;
        if self.at(P::Eq) {
            let diagnostic = Diagnostic::error("syntax", self.span(), "expected `)`, found `=`").with_help("`==` compares, `=` assigns");
            return self.fail(diagnostic);
        }
        let close = self.expect_close(P::RParen, open)?;
        Ok((cond, close))
    }
}
