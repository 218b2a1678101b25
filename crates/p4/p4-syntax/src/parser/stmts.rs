//! Reading statements (P4_16 §12).

use super::{Level, Parse, Parser};
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::lexer::{Kw, P, Tok};
use crate::span::Span;

impl Parser<'_> {
    /// `{ statements }`
    pub(super) fn block(&mut self, annotations: Vec<Annotation>) -> Parse<Block> {
        let start = annotations.first().map_or(self.span(), |a| a.span);
        self.scoped(|p| {
            let (stmts, close) = p.braced(Level::Inner, Self::stmt)?;
            Ok(Block { annotations, stmts, span: start.to(close) })
        })
    }

    /// A statement or a local declaration.
    pub(super) fn stmt(&mut self) -> Parse<Stmt> {
        self.nested(|p| {
            let start = p.span();
            let kind = p.stmt_kind()?;
            Ok(Stmt { kind, span: start.to(p.prev_span()) })
        })
    }

    fn stmt_kind(&mut self) -> Parse<StmtKind> {
        let start = self.span();
        match self.tok() {
            Tok::P(P::At) => return self.annotated(),
            Tok::P(P::LBrace) => return Ok(StmtKind::Block(self.block(Vec::new())?)),
            Tok::P(P::Semi) => {
                self.bump();
                return Ok(StmtKind::Empty);
            }
            Tok::Kw(Kw::If) => return self.if_stmt(),
            Tok::Kw(Kw::Switch) => return self.switch_stmt(),
            Tok::Kw(Kw::For) => return self.for_stmt(Vec::new()),
            Tok::Kw(Kw::Const) => return self.local_decl(Vec::new(), self.span()),
            Tok::Kw(Kw::Break) => self.bump(),
            Tok::Kw(Kw::Continue) => self.bump(),
            Tok::Kw(Kw::Exit) => self.bump(),
            Tok::Kw(Kw::Return) => {
                self.bump();
                let value = if self.at(P::Semi) { None } else { Some(self.expr()?) };
                self.expect_semi()?;
                return Ok(StmtKind::Return(value));
            }
            // A base type starts nothing else, even if what follows is wrong.
            Tok::Kw(Kw::Bit | Kw::Int | Kw::Varbit | Kw::Bool | Kw::Tuple | Kw::String) => {
                let decl = self.var_decl()?;
                self.expect_semi()?;
                return Ok(local(start, DeclKind::Var(decl), self.prev_span()));
            }
            _ if self.at_variable() || self.at_instantiation() => return self.local_decl(Vec::new(), self.span()),
            _ => {
                let kind = self.assignment_or_call()?;
                self.expect_semi()?;
                return Ok(kind);
            }
        };
        let kind = match self.token_at(self.pos - 1).tok {
            Tok::Kw(Kw::Break) => StmtKind::Break,
            Tok::Kw(Kw::Continue) => StmtKind::Continue,
            _ => StmtKind::Exit,
        };
        self.expect_semi()?;
        Ok(kind)
    }

    /// Annotations in front of a block, a loop or a declaration.
    fn annotated(&mut self) -> Parse<StmtKind> {
        let start = self.span();
        let annotations = self.annotations()?;
        match self.tok() {
            Tok::P(P::LBrace) => Ok(StmtKind::Block(self.block(annotations)?)),
            Tok::Kw(Kw::For) => self.for_stmt(annotations),
            Tok::Kw(Kw::Const) => self.local_decl(annotations, start),
            _ if self.at_variable() || self.at_instantiation() => self.local_decl(annotations, start),
            _ => self.expected("a block, loop or declaration behind the annotation"),
        }
    }

    fn local_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<StmtKind> {
        let kind = match self.tok() {
            Tok::Kw(Kw::Const) => self.const_decl()?,
            _ => self.variable_or_instance("a declaration")?,
        };
        Ok(StmtKind::Decl(Box::new(Decl { annotations, kind, span: start.to(self.prev_span()) })))
    }

    /// `target = value`, `target op= value` or `callee(args)`, without the `;`
    fn assignment_or_call(&mut self) -> Parse<StmtKind> {
        let starts_expr = self.at_name() || self.at(P::Dot) || self.at(P::LParen) || self.at_kw(Kw::This);
        if !starts_expr {
            return self.no_statement();
        }
        let target = self.lvalue_or_call()?;
        if let Some((op, len)) = self.assignment_operator() {
            for _ in 0..len {
                self.bump();
            }
            let value = self.expr()?;
            return Ok(StmtKind::Assign { target, op, value });
        }
        match target.kind {
            ExprKind::Call { ref callee, .. }
                if self.at(P::LBrace) && matches!(&callee.kind, ExprKind::Path(p) if p.name.name == "while") =>
            {
                let diagnostic = self.expectation("`;`");
                self.fail(diagnostic.with_help("P4 has no `while`; a loop is `for (init; condition; update) { ... }`"))
            }
            ExprKind::Call { ref callee, .. }
                if self.at(P::LBrace)
                    && matches!(&callee.kind, ExprKind::Path(p) if matches!(p.name.name.as_str(), "elif" | "elseif" | "elsif")) =>
            {
                let diagnostic = self.expectation("`;`");
                self.fail(diagnostic.with_help("another condition is `else if (...) { ... }`"))
            }
            ExprKind::Call { .. } => Ok(StmtKind::Call(target)),
            _ => {
                let mut diagnostic = self.expectation("`=` or `(`");
                if let (ExprKind::Path(path), true) = (&target.kind, self.at_name()) {
                    // `fro x ...`
                    let words = ["const", "if", "switch", "return", "exit", "for", "break", "continue", "transition"];
                    if let Some(word) = crate::suggest::nearest(&path.name.name, words) {
                        diagnostic = diagnostic.with_help(format!("did you mean `{word}`?"));
                    }
                }
                if self.at(P::EqEq) {
                    diagnostic = diagnostic.with_help("`=` assigns, `==` compares");
                }
                if let (ExprKind::Member { member, .. }, true) = (&target.kind, self.at(P::Semi)) {
                    diagnostic = diagnostic.with_help(format!("a call has parentheses: `{}()`", member.name));
                }
                if self.at(P::PlusPlus) || self.at(P::Minus) && *self.nth(1) == Tok::P(P::Minus) {
                    diagnostic = diagnostic.with_help("P4 has neither `++` nor `--` for counting: write `x += 1` or `x -= 1`");
                }
                self.fail(diagnostic)
            }
        }
    }

    /// An expression without operators outside brackets: no assignment starts with any other.
    fn lvalue_or_call(&mut self) -> Parse<Expr> {
        self.nested(Self::postfix)
    }

    /// The operator of an assignment (`None` inside for `=`) and how many tokens it takes.
    fn assignment_operator(&self) -> Option<(Option<BinOp>, usize)> {
        let Tok::P(p) = self.tok() else { return None };
        let op = match p {
            P::Eq => return Some((None, 1)),
            P::Gt if self.token_at(self.pos).glued && *self.nth(1) == Tok::P(P::Ge) => return Some((Some(BinOp::Shr), 2)),
            P::PlusEq => BinOp::Add,
            P::MinusEq => BinOp::Sub,
            P::SatAddEq => BinOp::SatAdd,
            P::SatSubEq => BinOp::SatSub,
            P::StarEq => BinOp::Mul,
            P::SlashEq => BinOp::Div,
            P::PercentEq => BinOp::Mod,
            P::ShlEq => BinOp::Shl,
            P::AndEq => BinOp::BitAnd,
            P::OrEq => BinOp::BitOr,
            P::CaretEq => BinOp::BitXor,
            _ => return None,
        };
        Some((Some(op), 1))
    }

    fn no_statement<T>(&mut self) -> Parse<T> {
        let mut diagnostic = self.expectation("a statement");
        match self.tok() {
            Tok::Kw(Kw::Else) => diagnostic = diagnostic.with_help("an `else` follows the statement of its `if` directly"),
            Tok::Kw(Kw::Transition) => {
                diagnostic = diagnostic.with_help("a `transition` stands at the end of a parser state, outside any block")
            }
            Tok::Kw(Kw::Table | Kw::Action) => diagnostic = diagnostic.with_help("tables and actions are declared in front of `apply`"),
            _ => {}
        }
        self.fail(diagnostic)
    }

    fn if_stmt(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.bump();
            let (cond, _) = self.condition()?;
            let then = self.scoped(Self::stmt)?;
            arms.push(IfArm { cond, then });
            if !self.eat_kw(Kw::Else) {
                return Ok(StmtKind::If { arms, otherwise: None });
            }
            if !self.at_kw(Kw::If) {
                return Ok(StmtKind::If { arms, otherwise: Some(Box::new(self.scoped(Self::stmt)?)) });
            }
        }
    }

    fn switch_stmt(&mut self) -> Parse<StmtKind> {
        self.bump();
        let (key, _) = self.condition()?;
        let (cases, _) = self.braced(Level::Inner, Self::switch_case)?;
        Ok(StmtKind::Switch { key, cases })
    }

    fn switch_case(&mut self) -> Parse<SwitchCase> {
        let start = self.span();
        let label = if self.at_kw(Kw::Default) {
            Expr { kind: ExprKind::Default, span: self.bump() }
        } else if self.at(P::LBrace) {
            return self.expected("a label");
        } else {
            self.expr()?
        };
        self.expect(P::Colon)?;
        let body = if self.at(P::LBrace) || self.at(P::At) {
            let annotations = self.annotations()?;
            Some(self.block(annotations)?)
        } else {
            None
        };
        Ok(SwitchCase { label, body, span: start.to(self.prev_span()) })
    }

    /// `for (init; cond; update) body` or `for (T x in collection) body` (P4_16 1.2.5 §12)
    fn for_stmt(&mut self, annotations: Vec<Annotation>) -> Parse<StmtKind> {
        self.bump();
        let open = self.expect(P::LParen)?;
        self.scoped(|p| {
            let var_annotations = p.annotations()?;
            let untyped = p.at_name() && *p.nth(1) == Tok::Kw(Kw::In);
            let typed = p.skip_type(p.pos).is_some_and(|next| p.name_at(next).is_some() && p.token_at(next + 1).tok == Tok::Kw(Kw::In));
            if !untyped && !typed {
                return p.for_three(annotations, var_annotations, open);
            }
            let ty = if typed { Some(p.ty()?) } else { None };
            if untyped {
                let diagnostic = Diagnostic::error("syntax", p.span(), "the loop variable of a `for ... in` has no type");
                p.report(diagnostic.with_help("declare it here: `for (bit<8> i in ...)`"));
            }
            let var = p.ident("the loop variable's name")?;
            if typed {
                p.scopes.declare_value(&var.name, false);
            }
            p.expect_kw(Kw::In)?;
            let first = p.expr()?;
            let collection = p.range_after(first)?;
            p.expect_close(P::RParen, open)?;
            let body = Box::new(p.stmt()?);
            Ok(StmtKind::ForIn { annotations, var_annotations, ty, var, collection, body })
        })
    }

    fn for_three(&mut self, annotations: Vec<Annotation>, first: Vec<Annotation>, open: Span) -> Parse<StmtKind> {
        let mut first = Some(first);
        let init = self.clause(P::Semi, |p| {
            let start = p.span();
            let annotations = match first.take() {
                Some(read) => read,
                None => p.annotations()?,
            };
            let kind = if p.at_variable() {
                let kind = DeclKind::Var(p.var_decl()?);
                StmtKind::Decl(Box::new(Decl { annotations, kind, span: start.to(p.prev_span()) }))
            } else if annotations.is_empty() {
                p.assignment_or_call()?
            } else {
                return p.expected("a variable's declaration");
            };
            Ok(Stmt { kind, span: start.to(p.prev_span()) })
        })?;
        self.expect(P::Semi)?;
        let cond = self.expr()?;
        self.expect(P::Semi)?;
        let update = self.clause(P::RParen, |p| {
            let start = p.span();
            let kind = p.assignment_or_call()?;
            Ok(Stmt { kind, span: start.to(p.prev_span()) })
        })?;
        self.expect_close(P::RParen, open)?;
        let body = Box::new(self.stmt()?);
        Ok(StmtKind::For { annotations, init, cond, update, body })
    }

    /// Statements with commas between, up to `end`, which is left.
    fn clause(&mut self, end: P, mut item: impl FnMut(&mut Self) -> Parse<Stmt>) -> Parse<Vec<Stmt>> {
        let mut items = Vec::new();
        if self.at(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(P::Comma) {
                return Ok(items);
            }
        }
    }
}

fn local(start: Span, kind: DeclKind, end: Span) -> StmtKind {
    StmtKind::Decl(Box::new(Decl { annotations: Vec::new(), kind, span: start.to(end) }))
}
