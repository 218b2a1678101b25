//! Reading tables: keys, actions, entries and other properties (P4_16 §14.2).

use super::{Level, Parse, Parser};
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::lexer::{Kw, P, Tok};

/// Properties of v1model and PSA tables, for "did you mean".
const PROPERTIES: [&str; 8] = ["key", "actions", "entries", "default_action", "size", "implementation", "counters", "meters"];

impl Parser<'_> {
    /// `table t { properties }`
    pub(super) fn table_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.ident("the table's name")?;
        self.scopes.declare_value(&name.name, false);
        let (properties, _) = self.braced(Level::Inner, Self::table_property)?;
        Ok(DeclKind::Table(TableDecl { name, properties }))
    }

    fn table_property(&mut self) -> Parse<TableProperty> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_const = self.eat_kw(Kw::Const);
        let listed = *self.nth(1) == Tok::P(P::Eq) && *self.nth(2) == Tok::P(P::LBrace);
        // `keys = { ... }`, `action = { ... }`
        if listed && let Some(near) = self.misspelled_list() {
            let diagnostic = self.expectation("a table property");
            return self.fail(diagnostic.with_help(format!("did you mean `{near} = ...`?")));
        }
        let kind = match self.tok() {
            Tok::Kw(Kw::Key) => TablePropertyKind::Key(self.listed(Self::key_element)?),
            Tok::Kw(Kw::Actions) => TablePropertyKind::Actions(self.listed(Self::listed_action)?),
            Tok::Kw(Kw::Entries) if listed => TablePropertyKind::Entries(self.listed(Self::entry)?),
            _ => self.custom_property()?,
        };
        let is_list = !matches!(kind, TablePropertyKind::Custom { .. });
        let span = start.to(self.prev_span());
        if is_list && self.at(P::Semi) {
            let diagnostic = Diagnostic::error("syntax", self.span(), "no `;` follows `key`, `actions` and `entries`");
            self.report(diagnostic.with_help("remove this `;`"));
            self.bump();
        }
        Ok(TableProperty { annotations, is_const, kind, span })
    }

    /// The property with a list that was probably meant.
    fn misspelled_list(&self) -> Option<&'static str> {
        match self.tok() {
            Tok::Kw(Kw::Action) => Some("actions"),
            Tok::Word(word) => crate::suggest::nearest(word, ["key", "actions", "entries"]),
            _ => None,
        }
    }

    /// `name = { item item ... }` from the name on.
    fn listed<T>(&mut self, item: fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.bump();
        self.expect(P::Eq)?;
        Ok(self.braced(Level::Inner, item)?.0)
    }

    fn custom_property(&mut self) -> Parse<TablePropertyKind> {
        let name = self.ident("a table property")?;
        if !self.at(P::Eq) {
            let mut diagnostic = self.expectation("`=`");
            if let Some(near) = crate::suggest::nearest(&name.name, PROPERTIES) {
                diagnostic = diagnostic.with_help(format!("did you mean `{near} = ...`?"));
            }
            return self.fail(diagnostic);
        }
        self.bump();
        let value = self.expr()?;
        self.expect_semi()?;
        Ok(TablePropertyKind::Custom { name, value })
    }

    /// `expr : match_kind annotations;`
    fn key_element(&mut self) -> Parse<KeyElement> {
        let expr = self.expr()?;
        if self.at(P::Semi) {
            let diagnostic = self.expectation("`:`");
            return self.fail(diagnostic.with_help("say how to match: `exact`, `lpm`, `ternary`, `range` or `optional`"));
        }
        self.expect(P::Colon)?;
        let match_kind = self.ident("a match kind")?;
        let annotations = self.annotations()?;
        self.expect_semi()?;
        Ok(KeyElement { span: expr.span.to(self.prev_span()), expr, match_kind, annotations })
    }

    /// `annotations action;`
    fn listed_action(&mut self) -> Parse<ActionRef> {
        let start = self.span();
        let annotations = self.annotations()?;
        let action = self.action_ref(annotations)?;
        if self.at(P::Comma) {
            let diagnostic = self.expectation("`;`");
            self.report(diagnostic.with_help("actions are separated by `;`"));
            self.bump();
        } else {
            self.expect_semi()?;
        }
        Ok(ActionRef { span: start.to(self.prev_span()), ..action })
    }

    /// `name` or `name(args)`
    fn action_ref(&mut self, annotations: Vec<Annotation>) -> Parse<ActionRef> {
        let path = self.path("an action's name")?;
        let args = if self.at(P::LParen) { Some(self.args()?) } else { None };
        Ok(ActionRef { annotations, span: path.span.to(self.prev_span()), path, args })
    }

    /// `const priority = p : keyset : action annotations;`
    fn entry(&mut self) -> Parse<TableEntry> {
        let start = self.span();
        let is_const = self.eat_kw(Kw::Const);
        let priority = if self.at_word("priority") && *self.nth(1) == Tok::P(P::Eq) {
            self.bump();
            self.bump();
            let priority = self.expr()?;
            self.expect(P::Colon)?;
            Some(priority)
        } else {
            None
        };
        let keyset = self.keyset()?;
        self.expect(P::Colon)?;
        let mut action = self.action_ref(Vec::new())?;
        action.annotations = self.annotations()?;
        self.expect_semi()?;
        Ok(TableEntry { is_const, priority, keyset, action, span: start.to(self.prev_span()) })
    }
}
