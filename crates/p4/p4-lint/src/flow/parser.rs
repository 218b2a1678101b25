//! What holds in the states of a parser? They come in any order, and more than once, so each is walked until nothing is new.

use super::state::State;
use super::{Flow, Local};
use p4_syntax::ast::{self, Transition};
use std::collections::{BTreeSet, HashMap};

impl<'a> Flow<'a, '_> {
    pub(super) fn parser(&mut self, p: &'a ast::ParserDecl) {
        let Some(body) = &p.body else { return };
        self.begin(&p.type_params, &p.params);
        p.constructor_params.iter().for_each(|p| self.bind(&p.name, Local::Other));
        body.locals.iter().for_each(|d| self.local(d));
        let by_name: HashMap<&str, usize> = body.states.iter().enumerate().map(|(i, s)| (s.name.name.as_str(), i)).collect();
        let Some(start) = by_name.get("start").copied() else { return };
        let mut before: Vec<State> = vec![State::default(); body.states.len()];
        before[start] = std::mem::take(&mut self.state);
        let mut changed = BTreeSet::from([start]);
        self.quiet += 1;
        while let Some(i) = changed.pop_first() {
            if self.walks == 0 {
                self.complete = false;
                break;
            }
            self.state = before[i].clone();
            self.parser_state(&body.states[i]);
            let after = std::mem::take(&mut self.state);
            for next in successors(&body.states[i]).filter_map(|n| by_name.get(n).copied()) {
                let mut merged = before[next].clone();
                merged.merge(after.clone());
                if merged != before[next] {
                    before[next] = merged;
                    changed.insert(next);
                }
            }
        }
        self.quiet -= 1;
        if !self.complete {
            return;
        }
        for (s, before) in body.states.iter().zip(before).filter(|(_, b)| b.reached()) {
            self.state = before;
            self.parser_state(s);
        }
    }

    fn parser_state(&mut self, s: &'a ast::ParserState) {
        // Also a state without statements costs something.
        self.walks = self.walks.saturating_sub(1);
        self.scopes.push(HashMap::new());
        s.stmts.iter().for_each(|s| self.stmt(s));
        if let Some(Transition::Select(select)) = &s.transition {
            select.keys.iter().for_each(|k| self.expr(k));
        }
        self.leave_scope();
    }
}

fn successors(s: &ast::ParserState) -> impl Iterator<Item = &str> {
    let (direct, select) = match &s.transition {
        Some(Transition::Direct(next)) => (Some(next), None),
        Some(Transition::Select(select)) => (None, Some(select)),
        None => (None, None),
    };
    direct.into_iter().chain(select.into_iter().flat_map(|s| s.cases.iter().map(|c| &c.next))).map(|n| n.name.as_str())
}
