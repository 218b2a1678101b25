//! Variables whose first value matters: those that some way through the program reads before it has written them. P4's are zero, or what
//! the emitter is free to choose; all others need not be cleared when a packet comes.
//!
//! Live variables, backwards, over the parser's states and the blocks; an action's body is looked at where its table is applied.

use p4_ir::{Block, Expr, Extern, Ir, LValue, LabelId, Next, Pipe, StateId, Stmt, Transition, VarId, walk};
use std::collections::{BTreeMap, BTreeSet};

type Set = BTreeSet<VarId>;

/// Variables that must be zero when a packet comes.
pub fn at_start(ir: &Ir) -> Set {
    // What the architecture looks at, it may look at anywhere.
    let intrinsic = &ir.intrinsic;
    let always: Set =
        intrinsic.standard.values().chain(&intrinsic.drop_reason).chain(&intrinsic.mark).chain(&intrinsic.pdu_length).copied().collect();
    let mut live = always.clone();
    for block in ir.pipes.values().flat_map(Pipe::after_parser).collect::<Vec<_>>().into_iter().rev() {
        live = Walk::new(ir, live.clone()).block(block, live);
        live.extend(&always);
    }
    let behind_parser = live;
    let mut states: BTreeMap<StateId, Set> = ir.states.keys().map(|s| (s, Set::new())).collect();
    // Sets only grow, so this ends.
    loop {
        let mut changed = false;
        for (id, state) in &ir.states {
            let mut out = Set::new();
            let mut go = |next: &Next| match next {
                Next::State(s) => out.extend(&states[s]),
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
            let live = Walk::new(ir, behind_parser.clone()).block(&state.body, out);
            changed |= states.insert(id, live.clone()) != Some(live);
        }
        if !changed {
            break;
        }
    }
    let start = ir.parser().start.map_or_else(|| behind_parser.clone(), |s| states[&s].clone());
    let mut live = Walk::new(ir, behind_parser).block(&ir.parser().init, start);
    live.extend(always);
    live
}

/// Through one outer block.
struct Walk<'a> {
    ir: &'a Ir,
    /// Live where the block is left early: by `exit`, or by an error of the parser.
    left: Set,
    labels: BTreeMap<LabelId, Set>,
}

impl<'a> Walk<'a> {
    fn new(ir: &'a Ir, left: Set) -> Walk<'a> {
        Walk { ir, left, labels: BTreeMap::new() }
    }

    fn block(&mut self, block: &Block, mut live: Set) -> Set {
        for s in block.iter().rev() {
            live = self.stmt(s, live);
        }
        live
    }

    fn stmt(&mut self, s: &Stmt, mut live: Set) -> Set {
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
                live = Set::new();
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
                let mut all = Set::new();
                for action in super::tables::actions(self.ir, *table) {
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

fn written(to: &LValue, live: &mut Set) {
    if let LValue::Var(v) = to {
        live.remove(v);
    }
}

fn read(e: &Expr, live: &mut Set) {
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
        let always: Set = ir.intrinsic.standard.values().copied().collect();
        let found: Set = at_start(&ir).difference(&always).copied().collect();
        assert_eq!(found, Set::from([b, c, e, g, h]));
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
        let always: Set = ir.intrinsic.standard.values().copied().collect();
        let found: Set = at_start(&ir).difference(&always).copied().collect();
        assert_eq!(found, Set::from([a, b, c]));
    }
}
