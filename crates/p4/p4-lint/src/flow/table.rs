//! Which actions may a table run, and in which states does that leave the control (P4_16 §14.2)?

use super::Flow;
use super::Local;
use super::state::State;
use p4_syntax::ast::{self, Expr, ExprKind, TablePropertyKind};

/// The states behind `apply`.
pub(super) struct Outcome<'a> {
    pub hit: State,
    pub miss: State,
    /// By the action that was run; without a name for `NoAction` where the table does not list it.
    by_action: Vec<(Option<&'a str>, State)>,
}

impl<'a> Flow<'a, '_> {
    /// The table of `t.apply()`.
    pub(super) fn applied(&self, e: &Expr) -> Option<&'a ast::TableDecl> {
        let ExprKind::Call { callee, .. } = &e.kind else { return None };
        let ExprKind::Member { base, member } = &callee.kind else { return None };
        let (ExprKind::Path(path), "apply") = (&base.kind, member.name.as_str()) else { return None };
        match self.lookup(path) {
            Some(Local::Table(t)) => Some(t),
            _ => None,
        }
    }

    /// Applies a table; the state after is that of any outcome.
    pub(super) fn table(&mut self, t: &'a ast::TableDecl) -> Outcome<'a> {
        t.key().unwrap_or_default().iter().for_each(|k| self.expr(&k.expr));
        let default = t.properties.iter().find_map(|p| match &p.kind {
            TablePropertyKind::Custom { name, value } if name.name == "default_action" => Some(named(value)),
            _ => None,
        });
        let start = self.state.clone();
        let mut outcome = Outcome { hit: State::default(), miss: State::default(), by_action: Vec::new() };
        for a in t.actions().unwrap_or_default() {
            self.state = start.clone();
            if let Some(action) = self.find_action(&a.path) {
                self.action(action, a.args.as_deref().unwrap_or_default());
            }
            let after = std::mem::take(&mut self.state);
            let name = a.path.name.name.as_str();
            // Without keys nothing is ever found.
            if t.key().is_some() && ast::find_annotation(&a.annotations, "defaultonly").is_none() {
                outcome.hit.merge(after.clone());
            }
            if default == Some(Some(name)) {
                outcome.miss.merge(after.clone());
            }
            outcome.by_action.push((Some(name), after));
        }
        // `NoAction`, or an action that is not followed.
        if !outcome.miss.reached()
            && !matches!(default, Some(Some(name)) if t.actions().unwrap_or_default().iter().any(|a| a.path.name.name == name))
        {
            outcome.miss = start.clone();
            if !outcome.by_action.iter().any(|(name, _)| *name == Some("NoAction")) {
                outcome.by_action.push((None, start));
            }
        }
        self.state = outcome.hit.clone();
        self.state.merge(outcome.miss.clone());
        outcome
    }

    /// `switch (t.apply().action_run)`
    pub(super) fn switch_on_action(&mut self, t: &'a ast::TableDecl, cases: &'a [ast::SwitchCase]) {
        let mut rest = self.table(t).by_action;
        let mut here = State::default();
        let mut after = State::default();
        for c in cases {
            let label = match &c.label.kind {
                ExprKind::Path(path) => Some(path.name.name.as_str()),
                _ => None,
            };
            let (taken, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(name, _)| label.is_none() || *name == label);
            rest = others;
            taken.into_iter().for_each(|(_, s)| here.merge(s));
            if let Some(body) = &c.body {
                self.state = std::mem::take(&mut here);
                self.block(&body.stmts);
                after.merge(std::mem::take(&mut self.state));
            }
        }
        rest.into_iter().for_each(|(_, s)| here.merge(s));
        after.merge(here);
        self.state = after;
    }
}

/// The action of `a` or `a(x)`.
fn named(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Path(path) => Some(&path.name.name),
        ExprKind::Call { callee, .. } => named(callee),
        _ => None,
    }
}
