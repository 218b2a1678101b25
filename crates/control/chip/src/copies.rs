//! Copies of variables that are none on the chip. A control that is called with a field has, in the IR, a variable of its own for it, set from
//! the field before and copied back behind: on a chip that would be containers, and stages in which nothing else is done.
//!
//! A copy and what it was copied from become one variable if neither changes while the other is still read, as registers are coalesced. So a
//! parameter that a control changes for itself stays apart.
//! Not done: copies of header fields, which lie where the parser puts them, and of what the architecture or an entry supplies.

use p4_analysis::effects::{Place, architecture, stmt_writes};
use p4_analysis::live::Liveness;
use p4_ir::walk::{all_stmts, blocks_mut, other_exprs_mut, stmt_blocks_mut, stmt_exprs_mut, stmt_lvalues_mut, sub_exprs_mut};
use p4_ir::{Block, Expr, ExprKind, Ir, LValue, Stmt, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The program with one variable for each that was copied, and without these copies.
pub(crate) fn coalesced(ir: &Ir) -> Ir {
    let mut out = ir.clone();
    let merged = merged(ir);
    if merged.is_empty() {
        return out;
    }
    let name = |v: &mut VarId| *v = merged.get(v).copied().unwrap_or(*v);
    let rename = Rename { name: &name };
    blocks_mut(&mut out, &mut |b| rename.block(b));
    other_exprs_mut(&mut out, &mut |e| rename.expr(e));
    out
}

/// The copy that a statement is: to, from.
fn copy(s: &Stmt) -> Option<(VarId, VarId)> {
    match s {
        Stmt::Assign(LValue::Var(to), Expr { kind: ExprKind::Var(from), .. }) if to != from => Some((*to, *from)),
        _ => None,
    }
}

/// What each variable becomes, of those that become another.
fn merged(ir: &Ir) -> BTreeMap<VarId, VarId> {
    let mut fixed = architecture(ir);
    fixed.extend(ir.intrinsic.field_lists.values().flatten());
    fixed.extend(ir.actions.values().flat_map(|a| &a.params));
    let mut copies: BTreeSet<(VarId, VarId)> = BTreeSet::new();
    for block in ir.blocks() {
        all_stmts(block, &mut |s| {
            copies
                .extend(copy(s).filter(|(to, from)| !fixed.contains(to) && !fixed.contains(from) && ir.vars[*to].ty == ir.vars[*from].ty));
        });
    }
    let copied: BTreeSet<VarId> = copies.iter().flat_map(|(to, from)| [*to, *from]).collect();
    // Variables of which one changes while the other is still read.
    let mut apart: BTreeMap<VarId, BTreeSet<VarId>> = BTreeMap::new();
    Liveness::new(ir).behind(&mut |s, live| {
        let from = copy(s).map(|(_, from)| from);
        stmt_writes(ir, s, &mut |place| {
            if let Place::Var(v) = place
                && copied.contains(&v)
            {
                for other in live.intersection(&copied).filter(|o| **o != v && Some(**o) != from) {
                    apart.entry(v).or_default().insert(*other);
                    apart.entry(*other).or_default().insert(v);
                }
            }
        });
    });
    let mut groups: BTreeMap<VarId, BTreeSet<VarId>> = copied.iter().map(|v| (*v, [*v].into())).collect();
    let mut home: BTreeMap<VarId, VarId> = copied.iter().map(|v| (*v, *v)).collect();
    for (to, from) in copies {
        // The one that was declared first is the program's; those of controls come with their calls.
        let (kept, lost) = (home[&to].min(home[&from]), home[&to].max(home[&from]));
        let hinders = |a: &VarId| apart.get(a).is_some_and(|others| !others.is_disjoint(&groups[&kept]));
        if lost == kept || groups[&lost].iter().any(hinders) {
            continue;
        }
        let members = groups.remove(&lost).unwrap_or_default();
        for v in &members {
            home.insert(*v, kept);
        }
        groups.entry(kept).or_default().extend(members);
    }
    home.retain(|v, to| v != to);
    home
}

struct Rename<'a> {
    name: &'a dyn Fn(&mut VarId),
}

impl Rename<'_> {
    fn block(&self, block: &mut Block) {
        for s in block.iter_mut() {
            stmt_exprs_mut(s, &mut |e| self.expr(e));
            stmt_lvalues_mut(s, &mut |l| self.place(l));
            if let Stmt::Apply { hit, action_run, .. } = s {
                hit.iter_mut().chain(action_run).for_each(|v| (self.name)(v));
            }
            stmt_blocks_mut(s, &mut |b| self.block(b));
        }
        let none = |s: &Stmt| matches!(s, Stmt::Assign(LValue::Var(to), Expr { kind: ExprKind::Var(from), .. }) if to == from);
        block.retain(|s| !none(s));
    }

    fn place(&self, l: &mut LValue) {
        match l {
            LValue::Var(v) => (self.name)(v),
            LValue::Field(..) => {}
            LValue::Slice(base, ..) => self.place(base),
        }
    }

    fn expr(&self, e: &mut Expr) {
        if let ExprKind::Var(v) = &mut e.kind {
            (self.name)(v);
        }
        sub_exprs_mut(e, &mut |sub| self.expr(sub));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{BinOp, Ty};

    fn take(ir: &Ir, to: VarId, from: VarId) -> Stmt {
        Stmt::Assign(LValue::Var(to), Expr::var(ir, from))
    }

    fn more(ir: &Ir, v: VarId) -> Stmt {
        Stmt::Assign(LValue::Var(v), Expr::binary(BinOp::Add, Expr::var(ir, v), Expr::bit(8, 1)))
    }

    #[test]
    fn a_parameter_and_its_argument_are_one_if_neither_changes_beside_the_other() {
        let mut ir = Ir::v1model("copies");
        let [own, inner, result, spare, wide] = ["own", "inner", "result", "spare", "wide"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.intrinsic.standard["priority"];
        let sent = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v).cast(ir.vars[sink].ty));
        // In and out: `own` is not read between, and changes with `inner`.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, inner), take(&ir, own, inner), sent(&ir, own)];
        assert_eq!(merged(&ir), [(inner, own)].into());
        let one = coalesced(&ir);
        assert_eq!(one.ingress().len(), 3, "{:?}", one.ingress());
        assert_eq!(p4_ir::verify(&one), Ok(()));
        // Changed for itself: the argument is read behind.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, inner), sent(&ir, inner), sent(&ir, own)];
        assert_eq!(merged(&ir), BTreeMap::new());
        // The argument changes while the parameter is read.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, own), sent(&ir, inner), sent(&ir, own)];
        assert_eq!(merged(&ir), BTreeMap::new());
        // Of three only two can be one.
        *ir.ingress_mut() = vec![
            more(&ir, own),
            take(&ir, result, own),
            take(&ir, spare, result),
            more(&ir, spare),
            sent(&ir, spare),
            sent(&ir, own),
            more(&ir, wide),
        ];
        assert_eq!(merged(&ir), [(result, own)].into());
    }

    /// What a variable is before it is set is zero, which the other is not.
    #[test]
    fn a_copy_on_one_way_only_stays_apart() {
        let mut ir = Ir::v1model("copies");
        let [own, inner] = ["own", "inner"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.intrinsic.standard["priority"];
        let sent = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v).cast(ir.vars[sink].ty));
        let is = Expr::binary(BinOp::Eq, Expr::var(&ir, own), Expr::bit(8, 1));
        *ir.ingress_mut() = vec![more(&ir, own), Stmt::If(is, vec![take(&ir, inner, own)], vec![]), sent(&ir, inner)];
        assert_eq!(merged(&ir), BTreeMap::new());
    }
}
