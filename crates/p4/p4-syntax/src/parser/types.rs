//! Reading types (P4_16 §7) and lists of type parameters and arguments.

use super::{Parse, Parser};
use crate::ast::{Expr, Ident, Type, TypeKind};
use crate::lexer::{Kw, P, Tok};

impl Parser<'_> {
    /// A type, `void` included: where `void` may stand is for the checker.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        let base = self.nested(Self::base_type)?;
        self.array_suffix(base)
    }

    /// `[n]` behind a type, or behind the declared name as in C.
    pub(super) fn array_suffix(&mut self, mut ty: Type) -> Parse<Type> {
        while self.at(P::LBracket) {
            let below = self.height;
            let open = self.bump();
            let size = self.with_gt(Self::expr)?;
            let above = self.height;
            let close = self.expect_close(P::RBracket, open)?;
            self.grow(below.max(above))?;
            let span = ty.span.to(close);
            ty = Type { kind: TypeKind::Stack { elem: Box::new(ty), size: Box::new(size) }, span };
        }
        Ok(ty)
    }

    fn base_type(&mut self) -> Parse<Type> {
        let start = self.span();
        let kind = match self.tok() {
            Tok::Kw(Kw::Bool) => TypeKind::Bool,
            Tok::Kw(Kw::Error) => TypeKind::Error,
            Tok::Kw(Kw::MatchKind) => TypeKind::MatchKind,
            Tok::Kw(Kw::String) => TypeKind::String,
            Tok::Kw(Kw::Void) => TypeKind::Void,
            Tok::Kw(kw @ (Kw::Bit | Kw::Int | Kw::Varbit)) => return self.sized_type(*kw),
            Tok::Kw(Kw::Tuple) => {
                self.bump();
                let args = self.type_args()?;
                return Ok(Type { kind: TypeKind::Tuple(args), span: start.to(self.prev_span()) });
            }
            _ if self.at_word("list") && *self.nth(1) == Tok::P(P::Lt) => return self.list_type(),
            _ if self.at_name() || self.at(P::Dot) => return self.named_type(),
            _ => return self.expected("a type"),
        };
        self.bump();
        self.height = 1;
        Ok(Type { kind, span: start })
    }

    /// `bit`, `bit<w>`, `int`, `int<w>`, `varbit<w>`
    fn sized_type(&mut self, kw: Kw) -> Parse<Type> {
        let start = self.bump();
        if !self.at(P::Lt) && kw != Kw::Varbit {
            self.height = 1;
            return Ok(Type { kind: if kw == Kw::Bit { TypeKind::Bit(None) } else { TypeKind::Int }, span: start });
        }
        let open = self.expect(P::Lt)?;
        let outer = std::mem::replace(&mut self.no_gt, true);
        let width = self.expr();
        self.no_gt = outer;
        let width: Box<Expr> = Box::new(width?);
        let height = self.height;
        let close = self.expect_close(P::Gt, open)?;
        self.grow(height)?;
        let kind = match kw {
            Kw::Bit => TypeKind::Bit(Some(width)),
            Kw::Int => TypeKind::SizedInt(width),
            _ => TypeKind::Varbit(width),
        };
        Ok(Type { kind, span: start.to(close) })
    }

    fn list_type(&mut self) -> Parse<Type> {
        let start = self.bump();
        let mut args = self.type_args()?;
        let span = start.to(self.prev_span());
        match (args.pop(), args.is_empty()) {
            (Some(elem), true) => Ok(Type { kind: TypeKind::List(Box::new(elem)), span }),
            _ => self.fail(crate::Diagnostic::error("syntax", span, "`list` takes exactly one type argument")),
        }
    }

    fn named_type(&mut self) -> Parse<Type> {
        let path = self.path("a type")?;
        let args = if self.at(P::Lt) { self.type_args()? } else { Vec::new() };
        if args.is_empty() {
            self.height = 1;
        }
        Ok(Type { span: path.span.to(self.prev_span()), kind: TypeKind::Named { path, args } })
    }

    /// `< type, type ... >`
    pub(super) fn type_args(&mut self) -> Parse<Vec<Type>> {
        let open = self.expect(P::Lt)?;
        let mut args = Vec::new();
        let mut height = 0;
        while !self.at(P::Gt) {
            args.push(self.type_arg()?);
            height = height.max(self.height);
            if !self.at(P::Gt) && !self.eat(P::Comma) {
                let diagnostic = self.expectation("`,` or `>`").with_place(open, "in the type arguments that start here");
                return self.fail(diagnostic);
            }
        }
        self.bump();
        self.grow(height)?;
        Ok(args)
    }

    fn type_arg(&mut self) -> Parse<Type> {
        if self.at_kw(Kw::Underscore) {
            self.height = 1;
            return Ok(Type { kind: TypeKind::DontCare, span: self.bump() });
        }
        self.ty()
    }

    /// `< name, name ... >` if there is one; the names are declared as types in the innermost scope.
    pub(super) fn type_params(&mut self) -> Parse<Vec<Ident>> {
        if !self.eat(P::Lt) {
            return Ok(Vec::new());
        }
        let names = self.ident_list(P::Gt, "a type parameter's name")?;
        self.bump();
        for name in &names {
            self.scopes.declare_type(&name.name, false);
        }
        Ok(names)
    }
}
