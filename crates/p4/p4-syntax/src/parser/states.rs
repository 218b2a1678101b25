//! Reading parsers: states, transitions, select expressions and value sets (P4_16 §13).

use super::{Level, Parse, Parser};
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::lexer::{Kw, P, Tok};
use crate::span::Span;

/// What a parser's body is made of.
enum Item {
    Local(Decl),
    State(ParserState),
}

impl Parser<'_> {
    /// `parser P(...);` or `parser P(...)(...) { ... }`
    pub(super) fn parser_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.ident("the parser's name")?;
        self.scopes.declare_type(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            if p.eat(P::Semi) {
                return Ok(DeclKind::Parser(ParserDecl { name, type_params, params, constructor_params: Vec::new(), body: None }));
            }
            let constructor_params = if p.at(P::LParen) { p.params()? } else { Vec::new() };
            let body = p.parser_body()?;
            Ok(DeclKind::Parser(ParserDecl { name, type_params, params, constructor_params, body: Some(body) }))
        })
    }

    fn parser_body(&mut self) -> Parse<ParserBody> {
        let mut first_state: Option<Span> = None;
        let (items, _) = self.braced(Level::Member, |p| {
            let item = p.parser_item()?;
            match (&item, first_state) {
                (Item::State(state), None) => first_state = Some(state.name.span),
                (Item::Local(decl), Some(state)) => {
                    let diagnostic = Diagnostic::error("syntax", decl.span, "declarations come before the states of a parser");
                    p.report(diagnostic.with_place(state, "the first state"));
                }
                _ => {}
            }
            Ok(item)
        })?;
        let mut body = ParserBody { locals: Vec::new(), states: Vec::new() };
        for item in items {
            match item {
                Item::Local(decl) => body.locals.push(decl),
                Item::State(state) => body.states.push(state),
            }
        }
        Ok(body)
    }

    fn parser_item(&mut self) -> Parse<Item> {
        let what = "a constant, variable, instance, value set or state";
        let start = self.span();
        let annotations = self.annotations()?;
        self.misspelled(&["const", "state"], what)?;
        let kind = match self.tok() {
            Tok::Kw(Kw::State) if self.name_at(self.pos + 1).is_some() => return self.state(annotations, start).map(Item::State),
            Tok::Kw(Kw::Const) => self.const_decl()?,
            Tok::Kw(Kw::ValueSet) => self.value_set_decl()?,
            Tok::Kw(Kw::Table | Kw::Action) => {
                let diagnostic = self.expectation(what);
                return self.fail(diagnostic.with_help("a parser has no tables and actions: they belong in a control"));
            }
            _ => self.variable_or_instance(what)?,
        };
        Ok(Item::Local(Decl { annotations, kind, span: start.to(self.prev_span()) }))
    }

    /// `value_set<T>(size) name;`
    fn value_set_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let open = self.expect(P::Lt)?;
        let ty = self.ty()?;
        self.expect_close(P::Gt, open)?;
        let open = self.expect(P::LParen)?;
        let size = self.expr()?;
        self.expect_close(P::RParen, open)?;
        let name = self.ident("the value set's name")?;
        self.scopes.declare_value(&name.name, false);
        self.expect_semi()?;
        Ok(DeclKind::ValueSet(ValueSetDecl { ty, size, name }))
    }

    /// `state s { statements transition }`
    fn state(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ParserState> {
        self.bump();
        let name = self.ident("the state's name")?;
        self.scoped(|p| {
            let mut transition: Option<(Transition, Span)> = None;
            let (stmts, _) = p.braced(Level::Inner, |p| {
                if let Some((_, before)) = &transition {
                    let diagnostic = Diagnostic::error("syntax", p.span(), "nothing may follow the `transition` of a state");
                    let place = *before;
                    p.report(diagnostic.with_place(place, "the transition"));
                }
                if p.at_kw(Kw::Transition) {
                    let at = p.bump();
                    let read = p.transition()?;
                    transition.get_or_insert((read, at));
                    return Ok(None);
                }
                p.misspelled(&["transition"], "a statement or `transition`")?;
                p.stmt().map(Some)
            })?;
            let stmts = stmts.into_iter().flatten().collect();
            Ok(ParserState { annotations, name, stmts, transition: transition.map(|(t, _)| t), span: start.to(p.prev_span()) })
        })
    }

    /// What stands behind `transition`.
    fn transition(&mut self) -> Parse<Transition> {
        if self.at_kw(Kw::Select) {
            return Ok(Transition::Select(self.select()?));
        }
        let name = self.ident("a state's name or `select`")?;
        self.expect_semi()?;
        Ok(Transition::Direct(name))
    }

    fn select(&mut self) -> Parse<Select> {
        let start = self.bump();
        let open = self.expect(P::LParen)?;
        let keys = self.expr_list(P::RParen)?;
        self.expect_close(P::RParen, open)?;
        let (cases, close) = self.braced(Level::Inner, Self::select_case)?;
        Ok(Select { keys, cases, span: start.to(close) })
    }

    fn select_case(&mut self) -> Parse<SelectCase> {
        let keyset = self.keyset()?;
        self.expect(P::Colon)?;
        let next = self.ident("a state's name")?;
        self.expect_semi()?;
        Ok(SelectCase { span: keyset.span.to(self.prev_span()), keyset, next })
    }
}
