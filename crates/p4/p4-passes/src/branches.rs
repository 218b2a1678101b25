//! Decides branches whose condition is a constant, and removes those that do nothing.

use p4_ir::{Block, Expr, ExprKind, Ir, KeySet, LabelId, SelectCase, Stmt, Transition, UnOp, walk};

pub(crate) fn run(ir: &mut Ir) -> bool {
    let mut changed = false;
    walk::blocks_mut(ir, &mut |b| block(b, &mut changed));
    for (_, state) in &mut ir.states {
        transition(&mut state.next, &mut changed);
    }
    changed
}

fn block(stmts: &mut Block, changed: &mut bool) {
    let mut out = Vec::with_capacity(stmts.len());
    for mut s in std::mem::take(stmts) {
        walk::stmt_blocks_mut(&mut s, &mut |b| block(b, changed));
        match decide(s) {
            Decided::Same(s) => out.push(s),
            Decided::Instead(stmts) => {
                *changed = true;
                out.extend(stmts);
            }
        }
    }
    *stmts = out;
}

enum Decided {
    Same(Stmt),
    Instead(Vec<Stmt>),
}

/// What stands for a statement whose inner blocks are already simple.
fn decide(s: Stmt) -> Decided {
    use Decided::{Instead, Same};
    match s {
        // Conditions have no side effects.
        Stmt::If(_, then, els) if then.is_empty() && els.is_empty() => Instead(vec![]),
        Stmt::If(cond, then, els) => match cond.as_const() {
            Some(c) => Instead(if c.is_true() { then } else { els }),
            None if then.is_empty() => Instead(vec![Stmt::If(negated(cond), els, vec![])]),
            None => Same(Stmt::If(cond, then, els)),
        },
        Stmt::Switch { on, mut cases, default } => match on.as_const() {
            Some(v) => {
                let taken = cases.iter().position(|(values, _)| values.contains(&v));
                Instead(taken.map_or(default, |i| cases.swap_remove(i).1))
            }
            None if cases.iter().all(|(_, b)| *b == default) => Instead(default),
            None => Same(Stmt::Switch { on, cases, default }),
        },
        // A block that nothing leaves early needs no label.
        Stmt::Labeled(label, body) if !breaks(&body, label) => Instead(body),
        // Asserted or logged only for people; an assertion that holds says nothing.
        Stmt::Extern(p4_ir::Extern::Assert(cond, hard)) => match cond.as_const() {
            Some(c) if c.is_true() => Instead(vec![]),
            _ => Same(Stmt::Extern(p4_ir::Extern::Assert(cond, hard))),
        },
        // `verify(true, ...)` never fails.
        Stmt::Verify(cond, error) => match cond.as_const() {
            Some(c) if c.is_true() => Instead(vec![]),
            _ => Same(Stmt::Verify(cond, error)),
        },
        other => Same(other),
    }
}

fn negated(cond: Expr) -> Expr {
    match cond.kind {
        ExprKind::Unary(UnOp::Not, inner) => *inner,
        _ => Expr::unary(UnOp::Not, cond),
    }
}

fn breaks(block: &Block, label: LabelId) -> bool {
    let mut found = false;
    walk::all_stmts(block, &mut |s| found |= *s == Stmt::Break(label));
    found
}

/// Cases that cannot match go, and those behind one that always matches; a select that is decided becomes a goto.
fn transition(next: &mut Transition, changed: &mut bool) {
    let Transition::Select { keys, cases } = next else { return };
    let before = cases.len();
    cases.retain(|c| !never(keys, c));
    if let Some(i) = cases.iter().position(|c| always(keys, c)) {
        cases.truncate(i + 1);
        // Cases that go where the last one goes anyway say nothing.
        let last = cases[i].next;
        while cases.len() > 1 && cases[cases.len() - 2].next == last {
            cases.remove(cases.len() - 2);
        }
        if let [only] = &cases[..] {
            *next = Transition::Goto(only.next);
            *changed = true;
            return;
        }
    }
    *changed |= cases.len() != before;
}

/// Whether the case matches whatever the keys are.
fn always(keys: &[Expr], case: &SelectCase) -> bool {
    let matches = |(set, key): (&KeySet, &Expr)| match (set, key.as_const()) {
        (KeySet::Any, _) => true,
        (KeySet::Value { mask, .. }, _) if mask.value() == 0 => true,
        (KeySet::Value { value, mask }, Some(k)) => k.value() & mask.value() == value.value() & mask.value(),
        (KeySet::Range { low, high }, Some(k)) => (low.value()..=high.value()).contains(&k.value()),
        _ => false,
    };
    case.sets.len() == keys.len() && case.sets.iter().zip(keys).all(matches)
}

/// Whether a constant key keeps the case from matching.
fn never(keys: &[Expr], case: &SelectCase) -> bool {
    let misses = |(set, key): (&KeySet, &Expr)| match (set, key.as_const()) {
        (KeySet::Value { value, mask }, Some(k)) => k.value() & mask.value() != value.value() & mask.value(),
        (KeySet::Range { low, high }, Some(k)) => !(low.value()..=high.value()).contains(&k.value()),
        _ => false,
    };
    case.sets.len() == keys.len() && case.sets.iter().zip(keys).any(misses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{Bits, LValue, Next, StateId, Ty};

    /// The text of ingress after the pass.
    fn after(make: impl FnOnce(&mut Ir) -> Block) -> String {
        let mut ir = Ir::v1model("branches");
        *ir.ingress_mut() = make(&mut ir);
        run(&mut ir);
        assert_eq!(p4_ir::verify(&ir), Ok(()));
        let text = ir.to_string();
        let from = text.find("ingress {").expect("printed");
        text[from..text.find("egress {").expect("printed").max(from)].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn mark(ir: &mut Ir, value: u128) -> Stmt {
        let v = ir.standard("priority");
        Stmt::Assign(LValue::Var(v), Expr::bit(3, value))
    }

    #[test]
    fn constant_conditions_are_decided() {
        let text = after(|ir| {
            let (a, b) = (mark(ir, 1), mark(ir, 2));
            vec![Stmt::If(Expr::bool(true), vec![a], vec![b])]
        });
        assert_eq!(text, "ingress { standard_metadata.priority = 3w0x1 }");
        let text = after(|ir| {
            let (a, b) = (mark(ir, 1), mark(ir, 2));
            let cases = vec![(vec![Bits::new(8, 1)], vec![a.clone()]), (vec![Bits::new(8, 2), Bits::new(8, 3)], vec![b])];
            vec![Stmt::Switch { on: Expr::bit(8, 3), cases, default: vec![a] }]
        });
        assert_eq!(text, "ingress { standard_metadata.priority = 3w0x2 }");
    }

    #[test]
    fn what_does_nothing_goes_and_lone_else_branches_turn_round() {
        let text = after(|ir| {
            let t = ir.add_var("t", Ty::Bool);
            let t = Expr::var(ir, t);
            let nothing = Stmt::If(t.clone(), vec![], vec![Stmt::If(t.clone(), vec![], vec![])]);
            let a = mark(ir, 1);
            let label = ir.add_label("l");
            vec![nothing, Stmt::Labeled(label, vec![Stmt::If(t, vec![], vec![a])])]
        });
        assert_eq!(text, "ingress { if !t { standard_metadata.priority = 3w0x1 } }");
    }

    #[test]
    fn selects_lose_cases_that_cannot_match_and_become_gotos() {
        let to = |i| Next::State(StateId::from_u32(i));
        let case = |set, next| SelectCase { sets: vec![set], next };
        let exact = |v| KeySet::Value { value: Bits::new(8, v), mask: Bits::new(8, 255) };
        let decide = |key: Expr, cases: Vec<SelectCase>| {
            let mut t = Transition::Select { keys: vec![key], cases };
            transition(&mut t, &mut false);
            t.targets()
        };
        let cases = vec![case(exact(1), to(1)), case(exact(2), to(2)), case(KeySet::Any, to(3)), case(exact(4), to(4))];
        assert_eq!(decide(Expr::bit(8, 2), cases.clone()), [to(2)]);
        assert_eq!(decide(Expr::bit(8, 9), cases.clone()), [to(3)]);
        let mut ir = Ir::v1model("select");
        let v = ir.add_var("v", Ty::Bit(8));
        let v = Expr::var(&ir, v);
        assert_eq!(decide(v.clone(), cases), [to(1), to(2), to(3)]);
        assert_eq!(decide(v.clone(), vec![case(exact(1), to(1)), case(KeySet::Any, to(1))]), [to(1)]);
        // Without a case that always matches, a miss is an error: it must stay a select.
        assert_eq!(decide(v, vec![case(exact(1), to(1))]), [to(1)]);
        let mut t = Transition::Select { keys: vec![Expr::bit(8, 3)], cases: vec![case(exact(1), to(1))] };
        transition(&mut t, &mut false);
        assert!(matches!(t, Transition::Select { cases, .. } if cases.is_empty()));
    }
}
