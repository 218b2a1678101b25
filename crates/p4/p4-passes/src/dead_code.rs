//! Removes statements that are never reached, and breaks that go where the program goes anyway.

use p4_analysis::control::falls_through;
use p4_ir::{Block, Ir, LabelId, Stmt, walk};

pub(crate) fn run(ir: &mut Ir) -> bool {
    let mut changed = false;
    walk::blocks_mut(ir, &mut |b| {
        changed |= block(b);
    });
    changed
}

fn block(stmts: &mut Block) -> bool {
    let mut changed = false;
    if let Some(last) = stmts.iter().position(|s| !falls_through(s)) {
        changed |= last + 1 < stmts.len();
        stmts.truncate(last + 1);
    }
    for s in stmts {
        if let Stmt::Labeled(label, body) = s {
            changed |= trim_tail(body, *label);
        }
        walk::stmt_blocks_mut(s, &mut |b| {
            changed |= block(b);
        });
    }
    changed
}

/// Removes `break label` at the very end of its own block, also inside branches that end there.
fn trim_tail(block: &mut Block, label: LabelId) -> bool {
    let Some(last) = block.last_mut() else { return false };
    match last {
        Stmt::Break(l) if *l == label => {
            block.pop();
            true
        }
        Stmt::If(_, a, b) => trim_tail(a, label) | trim_tail(b, label),
        Stmt::Switch { cases, default, .. } => {
            cases.iter_mut().fold(false, |changed, (_, b)| trim_tail(b, label) | changed) | trim_tail(default, label)
        }
        Stmt::Labeled(_, b) => trim_tail(b, label),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{Expr, LValue, Ty};

    fn after(make: impl FnOnce(&mut Ir, Expr, Stmt) -> Block) -> String {
        let mut ir = Ir::v1model("dead");
        let t = ir.add_var("t", Ty::Bool);
        let cond = Expr::var(&ir, t);
        *ir.ingress_mut() = make(&mut ir, cond, Stmt::Assign(LValue::Var(t), Expr::bool(true)));
        run(&mut ir);
        assert_eq!(p4_ir::verify(&ir), Ok(()));
        let text = ir.to_string();
        let from = text.find("ingress {").expect("printed");
        text[from..text.find("egress {").expect("printed").max(from)].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nothing_follows_exit_break_or_an_endless_loop() {
        assert_eq!(after(|_, _, s| vec![s.clone(), Stmt::Exit, s]), "ingress { t = true exit }");
        let text = after(|_, c, s| vec![Stmt::If(c, vec![Stmt::Exit, s.clone()], vec![Stmt::Exit]), s]);
        assert_eq!(text, "ingress { if t { exit } else { exit } }");
        let text = after(|_, c, s| vec![Stmt::If(c, vec![Stmt::Exit], vec![]), s]);
        assert_eq!(text, "ingress { if t { exit } t = true }");
        assert_eq!(after(|_, _, s| vec![Stmt::Loop(vec![s.clone(), Stmt::Exit]), s]), "ingress { loop { t = true exit } }");
    }

    #[test]
    fn what_follows_a_labeled_block_is_reached_by_its_breaks() {
        let text = after(|ir, c, s| {
            let (l, m) = (ir.add_label("l"), ir.add_label("m"));
            let inner = Stmt::Labeled(m, vec![Stmt::If(c, vec![Stmt::Break(l), s.clone()], vec![]), Stmt::Exit]);
            vec![Stmt::Labeled(l, vec![inner, s.clone()]), s]
        });
        assert_eq!(text, "ingress { label0.l: { label1.m: { if t { break label0.l } exit } } t = true }");
    }

    #[test]
    fn breaks_at_the_end_of_their_block_go() {
        let text = after(|ir, c, s| {
            let l = ir.add_label("l");
            vec![Stmt::Labeled(l, vec![s.clone(), Stmt::If(c, vec![s, Stmt::Break(l)], vec![Stmt::Break(l)])])]
        });
        assert_eq!(text, "ingress { label0.l: { t = true if t { t = true } } }");
        // Not from inside a loop: there it ends the loop.
        let text = after(|ir, _, s| {
            let l = ir.add_label("l");
            vec![Stmt::Labeled(l, vec![Stmt::Loop(vec![s, Stmt::Break(l)])])]
        });
        assert_eq!(text, "ingress { label0.l: { loop { t = true break label0.l } } }");
    }
}
