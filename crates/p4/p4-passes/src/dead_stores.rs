//! Removes assignments to variables that nothing reads, and those overwritten before anything could read them.
//!
//! Read are the variables in expressions, and those that the architecture looks at: all `standard_metadata` fields,
//! `@drop_reason`, `@mark` and `@pdu_length`. Results of meters stay, since executing a meter has an effect; a hash or a
//! register read into an unread variable has none and goes. Action parameters stay: the control plane sees them.

use p4_analysis::effects::{architecture, read_anywhere};
use p4_ir::{Block, Extern, Ir, LValue, Stmt, VarId, walk};
use std::collections::{BTreeSet, HashMap, HashSet};

pub(crate) fn run(ir: &mut Ir) -> bool {
    let mut read = read_anywhere(ir);
    read.extend(architecture(ir));
    let mut changed = false;
    walk::blocks_mut(ir, &mut |b| changed |= remove_unread(b, &read));
    walk::blocks_mut(ir, &mut |b| changed |= remove_overwritten(b));
    changed
}

fn remove_unread(stmts: &mut Block, read: &BTreeSet<VarId>) -> bool {
    let before = stmts.len();
    let unread = |l: &LValue| l.root_var().is_some_and(|v| !read.contains(&v));
    stmts.retain(|s| match s {
        Stmt::Assign(dst, _) => !unread(dst),
        Stmt::Extern(Extern::Hash { result, .. } | Extern::RegisterRead { result, .. } | Extern::DirectMeter { result, .. }) => {
            !unread(result)
        }
        _ => true,
    });
    let mut changed = stmts.len() != before;
    for s in stmts {
        if let Stmt::Apply { hit, action_run, .. } = s {
            for result in [hit, action_run] {
                changed |= result.take_if(|v| !read.contains(v)).is_some();
            }
        }
        walk::stmt_blocks_mut(s, &mut |b| changed |= remove_unread(b, read));
    }
    changed
}

/// Removes an assignment that a later one of the same variable in the same block makes useless: nothing between them
/// reads the variable or goes anywhere else.
fn remove_overwritten(stmts: &mut Block) -> bool {
    let mut useless = HashSet::new();
    // The latest assignment of each variable that nothing has read yet.
    let mut pending: HashMap<VarId, usize> = HashMap::new();
    for (i, s) in stmts.iter().enumerate() {
        walk::stmt_exprs(s, &mut |e| {
            walk::read_vars(e, &mut |v| {
                pending.remove(&v);
            })
        });
        match s {
            Stmt::Assign(LValue::Var(v), _) => {
                if let Some(earlier) = pending.insert(*v, i) {
                    useless.insert(earlier);
                }
            }
            // Writing a part of a variable keeps the rest of it.
            Stmt::Assign(LValue::Slice(base, ..), _) => {
                base.root_var().map(|v| pending.remove(&v));
            }
            Stmt::Assign(LValue::Field(..), _)
            | Stmt::SetValid(..)
            | Stmt::CopyHeader { .. }
            | Stmt::CopyVarbit { .. }
            | Stmt::CopyStack { .. } => {}
            // Anything else may leave the block, or have the architecture look at variables.
            _ => pending.clear(),
        }
    }
    let mut i = 0;
    stmts.retain(|_| {
        i += 1;
        !useless.contains(&(i - 1))
    });
    let mut changed = !useless.is_empty();
    for s in stmts {
        walk::stmt_blocks_mut(s, &mut |b| changed |= remove_overwritten(b));
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{Expr, HashAlgorithm, Ty};
    use program::CountUnit;

    fn set(v: VarId, value: u128) -> Stmt {
        Stmt::Assign(LValue::Var(v), Expr::bit(8, value))
    }

    fn after(mut ir: Ir, ingress: Block) -> String {
        *ir.ingress_mut() = ingress;
        run(&mut ir);
        assert_eq!(p4_ir::verify(&ir), Ok(()));
        let text = ir.to_string();
        let from = text.find("ingress {").expect("printed");
        text[from..text.find("egress {").expect("printed").max(from)].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_nothing_reads_is_not_computed() {
        let mut ir = Ir::v1model("dead");
        let [unread, read, reason] = ["unread", "read", "reason"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let (hit, run) = (ir.add_var("hit", Ty::Bool), ir.add_var("run", Ty::Bit(32)));
        ir.intrinsic.drop_reason = Some(reason);
        let none = ir.add_action("none", &[("p", 8)], |_, _| vec![]);
        let miss = ir.add_action("miss", &[], |_, _| vec![]);
        let t = ir.add_table("t", vec![("read", Expr::var(&ir, read), program::MatchKind::Exact)], &[none], miss);
        let meter = ir.add_meter("m", 4, CountUnit::Bytes);
        let result = || LValue::Var(unread);
        let hash =
            Extern::Hash { result: result(), algorithm: HashAlgorithm::Crc16, base: Expr::bit(8, 0), data: vec![], max: Expr::bit(8, 1) };
        let block = vec![
            set(unread, 1),
            set(read, 2),
            set(reason, 3),
            Stmt::Extern(hash),
            Stmt::Assign(LValue::Slice(Box::new(result()), 1, 0), Expr::bit(2, 0)),
            Stmt::Extern(Extern::Meter { meter, index: Expr::bit(8, 0), result: result() }),
            Stmt::Apply { table: t, hit: Some(hit), action_run: Some(run) },
        ];
        assert_eq!(after(ir, block), "ingress { read = 8w0x2 reason = 8w0x3 unread = m.execute(8w0x0) apply t }");
    }

    #[test]
    fn overwritten_values_are_not_stored() {
        let mut ir = Ir::v1model("dead");
        let [a, b] = ["a", "b"].map(|n| ir.add_var(n, Ty::Bit(8)));
        ir.intrinsic.drop_reason = Some(a);
        ir.intrinsic.mark = Some(b);
        let copy = || Stmt::Assign(LValue::Var(b), Expr::var(&ir, a));
        assert_eq!(after(ir.clone(), vec![set(a, 1), set(b, 9), set(a, 2), copy()]), "ingress { a = 8w0x2 b = a }");
        assert_eq!(after(ir.clone(), vec![set(a, 1), copy(), set(a, 2)]), "ingress { a = 8w0x1 b = a a = 8w0x2 }");
        // A block in between may leave with the first value.
        let leave = Stmt::If(Expr::binary(p4_ir::BinOp::Eq, Expr::var(&ir, b), Expr::bit(8, 1)), vec![Stmt::Exit], vec![]);
        let text = after(ir.clone(), vec![set(a, 1), leave, set(a, 2)]);
        assert_eq!(text, "ingress { a = 8w0x1 if (b == 8w0x1) { exit } a = 8w0x2 }");
    }
}
