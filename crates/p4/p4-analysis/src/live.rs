//! Which variables are read later? Live variables, backwards, over the parser's states, the controls and the deparser; an action's
//! body is looked at where its table is applied.
//!
//! [`Liveness::at_start`]: variables that must be zero when a packet comes, as P4 has them or the emitter chooses; all others need not be
//! cleared. [`Liveness::behind`]: what has to be kept where a packet leaves the program at a statement and comes back behind it.

use crate::control::actions;
use crate::effects::architecture;
use p4_ir::{Block, Expr, Extern, Ir, LValue, LabelId, Next, Pipe, StateId, Stmt, Transition, VarId, walk};
use std::collections::{BTreeMap, BTreeSet};

/// A set of variables.
pub type Vars = BTreeSet<VarId>;

/// Sees a statement and what is live behind it.
pub type Watch<'w> = dyn FnMut(&Stmt, &Vars) + 'w;

/// The live variables of a program.
pub struct Liveness<'a> {
    ir: &'a Ir,
    /// What the architecture looks at, or keeps for another pass, it may look at behind any block.
    always: Vars,
    /// Where each state begins.
    states: BTreeMap<StateId, Vars>,
    /// What is live behind each pipe.
    behind: Vec<(&'a Pipe, Vars)>,
    at_start: Vars,
}

impl<'a> Liveness<'a> {
    /// Finds them.
    pub fn new(ir: &'a Ir) -> Liveness<'a> {
        let mut always = architecture(ir);
        always.extend(ir.intrinsic.field_lists.values().flatten());
        let states = ir.states.keys().map(|s| (s, Vars::new())).collect();
        let mut live = Liveness { ir, at_start: always.clone(), always, states, behind: Vec::new() };
        for pipe in ir.pipes.values().rev() {
            live.behind.push((pipe, live.at_start.clone()));
            live.at_start = live.pipe(pipe, live.at_start.clone(), &mut |_, _| {});
        }
        live
    }

    /// Variables whose first value matters: some way through the program reads them before it has written them.
    pub fn at_start(&self) -> &Vars {
        &self.at_start
    }

    /// Tells of each statement that can be reached what is live behind it, on all ways that go on there. Of one in a loop, in a parser state
    /// or in an action it tells more than once: a variable is dead behind it if it is in none of these sets.
    pub fn behind(&mut self, watch: &mut Watch<'_>) {
        for (pipe, live) in self.behind.clone() {
            self.pipe(pipe, live, watch);
        }
    }

    /// What is live before a pipe, from what is live behind it.
    fn pipe(&mut self, pipe: &'a Pipe, mut live: Vars, watch: &mut Watch<'_>) -> Vars {
        for block in pipe.after_parser().rev() {
            live = Walk::new(self.ir, live.clone(), watch).block(block, live);
            live.extend(&self.always);
        }
        let behind_parser = live;
        let own = self.ir.states_from(pipe.parser.start);
        // Sets only grow, so this ends.
        loop {
            let mut changed = false;
            for id in &own {
                let state = &self.ir.states[*id];
                let mut out = Vars::new();
                let mut go = |next: &Next| match next {
                    Next::State(s) => out.extend(&self.states[s]),
                    Next::Accept | Next::Reject => out.extend(&behind_parser),
                };
                match &state.next {
                    Transition::Goto(next) => go(next),
                    Transition::Select { keys, cases } => {
                        cases.iter().for_each(|c| go(&c.next));
                        // Where none fits, parsing ends.
                        out.extend(&behind_parser);
                        keys.iter().for_each(|k| read(k, &mut out));
                    }
                }
                let live = Walk::new(self.ir, behind_parser.clone(), watch).block(&state.body, out);
                changed |= self.states.insert(*id, live.clone()) != Some(live);
            }
            if !changed {
                break;
            }
        }
        let start = pipe.parser.start.map_or_else(|| behind_parser.clone(), |s| self.states[&s].clone());
        let mut live = Walk::new(self.ir, behind_parser, watch).block(&pipe.parser.init, start);
        live.extend(&self.always);
        live
    }
}

/// Through one outer block.
struct Walk<'a, 'w> {
    ir: &'a Ir,
    /// Live where the block is left early: by `exit`, or by an error of the parser.
    left: Vars,
    labels: BTreeMap<LabelId, Vars>,
    watch: &'w mut dyn FnMut(&Stmt, &Vars),
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(ir: &'a Ir, left: Vars, watch: &'w mut dyn FnMut(&Stmt, &Vars)) -> Walk<'a, 'w> {
        Walk { ir, left, labels: BTreeMap::new(), watch }
    }

    fn block(&mut self, block: &Block, mut live: Vars) -> Vars {
        for s in block.iter().rev() {
            live = self.stmt(s, live);
        }
        live
    }

    fn stmt(&mut self, s: &Stmt, mut live: Vars) -> Vars {
        (self.watch)(s, &live);
        match s {
            Stmt::If(_, then, or_else) => {
                let mut both = self.block(then, live.clone());
                both.extend(self.block(or_else, live));
                live = both;
            }
            Stmt::Switch { cases, default, .. } => {
                let mut all = self.block(default, live.clone());
                for (_, body) in cases {
                    all.extend(self.block(body, live.clone()));
                }
                live = all;
            }
            Stmt::Labeled(label, body) => {
                let outer = self.labels.insert(*label, live.clone());
                live = self.block(body, live);
                match outer {
                    Some(outer) => self.labels.insert(*label, outer),
                    None => self.labels.remove(label),
                };
            }
            Stmt::Break(label) => live = self.labels.get(label).cloned().unwrap_or(live),
            Stmt::Loop(body) => {
                // Only a break leaves it.
                live = Vars::new();
                loop {
                    let mut again = self.block(body, live.clone());
                    again.extend(&live);
                    if again == live {
                        break;
                    }
                    live = again;
                }
            }
            Stmt::Exit => live.clone_from(&self.left),
            Stmt::Apply { table, hit, action_run } => {
                let mut all = Vars::new();
                for action in actions(self.ir, *table) {
                    let code = &self.ir.actions[action];
                    let mut of = self.block(&code.body, live.clone());
                    code.params.iter().for_each(|p| {
                        of.remove(p);
                    });
                    all.extend(of);
                }
                live = all;
                for v in hit.iter().chain(action_run) {
                    live.remove(v);
                }
                self.ir.tables[*table].keys.iter().for_each(|k| read(k, &mut live));
            }
            Stmt::Extract { .. } | Stmt::Advance(_) | Stmt::Verify(..) => live.extend(&self.left),
            Stmt::Lookahead(to, _) => {
                written(to, &mut live);
                live.extend(&self.left);
            }
            Stmt::Assign(to, _) => written(to, &mut live),
            // A checksum is updated only where its condition holds.
            Stmt::Extern(
                Extern::Meter { result, .. }
                | Extern::DirectMeter { result, .. }
                | Extern::RegisterRead { result, .. }
                | Extern::Hash { result, .. }
                | Extern::Random { result, .. },
            ) => written(result, &mut live),
            _ => {}
        }
        walk::stmt_exprs(s, &mut |e| read(e, &mut live));
        walk::stmt_lvalues(s, &mut |l| {
            // A part of a variable is written: the rest is kept, and so read.
            if let (LValue::Slice(..), Some(v)) = (l, l.root_var()) {
                live.insert(v);
            }
        });
        live
    }
}

fn written(to: &LValue, live: &mut Vars) {
    if let LValue::Var(v) = to {
        live.remove(v);
    }
}

fn read(e: &Expr, live: &mut Vars) {
    walk::read_vars(e, &mut |v| {
        live.insert(v);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{BinOp, Ty};
    use program::MatchKind;

    fn set(v: VarId) -> Stmt {
        Stmt::Assign(LValue::Var(v), Expr::bit(8, 1))
    }

    #[test]
    fn what_is_read_before_it_is_written_on_some_way_must_be_clear() {
        let mut ir = Ir::v1model("live");
        let [a, b, c, d, e, f, g, h] = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.add_var("sink", Ty::Bit(8));
        let take = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v));
        let is = |ir: &Ir, v| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::bit(8, 1));
        // `e` is written by one action only, `f` by both; `g` is the table's key; a part of `h` is written.
        let (sets, also) = (ir.add_action("sets", &[], |_, _| vec![set(e), set(f)]), ir.add_action("also", &[], |_, _| vec![set(f)]));
        let key = Expr::var(&ir, g);
        let t = ir.add_table("t", vec![("g", key, MatchKind::Exact)], &[sets], also);
        let left = LabelId::from_u32(0);
        *ir.ingress_mut() = vec![
            set(a),
            Stmt::If(is(&ir, a), vec![set(b)], vec![]),
            take(&ir, b),
            // Left before `c` is written, and read behind.
            Stmt::Labeled(left, vec![Stmt::If(is(&ir, a), vec![Stmt::Break(left)], vec![]), set(c)]),
            take(&ir, c),
            Stmt::If(is(&ir, a), vec![set(d)], vec![set(d)]),
            take(&ir, d),
            Stmt::Apply { table: t, hit: None, action_run: None },
            take(&ir, e),
            take(&ir, f),
            Stmt::Assign(LValue::Slice(Box::new(LValue::Var(h)), 3, 0), Expr::bit(4, 0)),
        ];
        let always: Vars = ir.intrinsic.standard.values().copied().collect();
        let found: Vars = Liveness::new(&ir).at_start().difference(&always).copied().collect();
        assert_eq!(found, Vars::from([b, c, e, g, h]));
    }

    #[test]
    fn loops_and_exits_are_followed() {
        let mut ir = Ir::v1model("live");
        let [a, b, c] = ["a", "b", "c"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.add_var("sink", Ty::Bit(8));
        let take = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v));
        let is = |ir: &Ir, v| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::bit(8, 1));
        let out = LabelId::from_u32(0);
        // The second round reads what the first has written; the first does not.
        let body = vec![Stmt::If(is(&ir, c), vec![Stmt::Break(out)], vec![]), take(&ir, a), set(a)];
        *ir.ingress_mut() = vec![Stmt::Labeled(out, vec![Stmt::Loop(body)]), Stmt::If(is(&ir, c), vec![Stmt::Exit], vec![]), set(b)];
        *ir.egress_mut() = vec![take(&ir, b)];
        let always: Vars = ir.intrinsic.standard.values().copied().collect();
        let found: Vars = Liveness::new(&ir).at_start().difference(&always).copied().collect();
        assert_eq!(found, Vars::from([a, b, c]));
    }
}
