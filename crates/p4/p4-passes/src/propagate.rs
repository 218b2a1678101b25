//! Replaces a variable by what it was set to, where that is a constant or another variable and still holds.
//!
//! What is known goes forward through a block. A nested block starts with what is known before it; behind it, whatever
//! it may have written is forgotten, whichever way it was left. A loop's body starts without what the body writes.
//! Parser states and actions start with nothing: they are entered from many places.

use p4_analysis::effects::written_vars;
use p4_ir::{Block, Expr, ExprKind, Ir, LValue, Stmt, VarId, walk};
use std::collections::HashMap;

pub(crate) fn run(ir: &mut Ir) -> bool {
    // Blocks are changed while the rest of the program is read (what a table's actions write).
    let source = ir.clone();
    let mut pass = Pass { ir: &source, changed: false };
    walk::blocks_mut(ir, &mut |b| pass.block(b, &mut Known::default()));
    pass.changed
}

struct Pass<'a> {
    ir: &'a Ir,
    changed: bool,
}

/// Variables with known values, each a constant or a variable.
#[derive(Clone, Default)]
struct Known(HashMap<VarId, Expr>);

impl Known {
    /// `var` may have changed.
    fn forget(&mut self, var: VarId) {
        self.0.remove(&var);
        self.0.retain(|_, e| e.kind != ExprKind::Var(var));
    }

    fn learn(&mut self, dst: &LValue, value: &Expr) {
        if let LValue::Var(v) = dst
            && matches!(value.kind, ExprKind::Const(_) | ExprKind::Var(_))
            && value.kind != ExprKind::Var(*v)
        {
            self.0.insert(*v, value.clone());
        }
    }
}

impl Pass<'_> {
    fn block(&mut self, stmts: &mut Block, known: &mut Known) {
        for s in stmts {
            if let Stmt::Loop(body) = s {
                self.forget_written(body, known);
            }
            walk::stmt_exprs_mut(s, &mut |e| self.replace(e, known));
            let mut nested = Vec::new();
            walk::stmt_blocks_mut(s, &mut |b| {
                self.block(b, &mut known.clone());
                nested.push(std::mem::take(b));
            });
            nested.iter().for_each(|b| self.forget_written(b, known));
            let mut nested = nested.into_iter();
            walk::stmt_blocks_mut(s, &mut |b| *b = nested.next().unwrap_or_default());
            written_vars(self.ir, s, &mut |v| known.forget(v));
            if let Stmt::Assign(dst, value) = s {
                known.learn(dst, value);
            }
        }
    }

    fn forget_written(&self, block: &Block, known: &mut Known) {
        walk::all_stmts(block, &mut |s| written_vars(self.ir, s, &mut |v| known.forget(v)));
    }

    fn replace(&mut self, e: &mut Expr, known: &Known) {
        if let ExprKind::Var(v) = e.kind
            && let Some(value) = known.0.get(&v)
        {
            debug_assert_eq!(value.ty, e.ty);
            *e = value.clone();
            self.changed = true;
        }
        walk::sub_exprs_mut(e, &mut |sub| self.replace(sub, known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{BinOp, Extern, Ty};

    struct Fixture {
        ir: Ir,
        a: VarId,
        b: VarId,
        c: VarId,
    }

    fn fixture() -> Fixture {
        let mut ir = Ir::v1model("propagate");
        let [a, b, c] = ["a", "b", "c"].map(|n| ir.add_var(n, Ty::Bit(8)));
        Fixture { ir, a, b, c }
    }

    fn set(v: VarId, e: Expr) -> Stmt {
        Stmt::Assign(LValue::Var(v), e)
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
    fn constants_and_copies_go_forward_until_they_change() {
        let Fixture { ir, a, b, c } = fixture();
        let var = |v| Expr::var(&ir, v);
        let block = vec![set(a, Expr::bit(8, 1)), set(b, var(a)), set(c, var(b)), set(b, var(c)), set(c, var(a)), set(a, var(c))];
        assert_eq!(after(ir.clone(), block), "ingress { a = 8w0x1 b = 8w0x1 c = 8w0x1 b = 8w0x1 c = 8w0x1 a = 8w0x1 }");
        let block = vec![set(b, var(a)), set(a, Expr::binary(BinOp::Add, var(b), var(b))), set(c, var(b))];
        assert_eq!(after(ir.clone(), block), "ingress { b = a a = (a + a) c = b }");
        let slice = Stmt::Assign(LValue::Slice(Box::new(LValue::Var(a)), 3, 0), Expr::bit(4, 2));
        let block = vec![set(a, Expr::bit(8, 1)), slice, set(b, var(a))];
        assert_eq!(after(ir.clone(), block), "ingress { a = 8w0x1 a[3:0] = 4w0x2 b = a }");
    }

    #[test]
    fn branches_know_what_was_before_and_are_forgotten_behind() {
        let Fixture { ir, a, b, c } = fixture();
        let var = |v| Expr::var(&ir, v);
        let cond = || Expr::binary(BinOp::Eq, var(c), Expr::bit(8, 9));
        let block = vec![
            set(a, Expr::bit(8, 1)),
            set(b, Expr::bit(8, 2)),
            Stmt::If(cond(), vec![set(c, var(a)), set(a, Expr::bit(8, 3)), set(c, var(a))], vec![]),
            set(c, var(a)),
            set(c, var(b)),
        ];
        let expected = "ingress { a = 8w0x1 b = 8w0x2 if (c == 8w0x9) { c = 8w0x1 a = 8w0x3 c = 8w0x3 } c = a c = 8w0x2 }";
        assert_eq!(after(ir.clone(), block), expected);
    }

    #[test]
    fn loops_forget_what_their_body_writes_before_it() {
        let Fixture { mut ir, a, b, c } = fixture();
        let l = ir.add_label("l");
        let var = |v| Expr::var(&ir, v);
        let body = vec![set(c, var(a)), set(b, var(a)), set(a, Expr::bit(8, 2)), Stmt::Break(l)];
        let block = vec![set(a, Expr::bit(8, 1)), Stmt::Labeled(l, vec![Stmt::Loop(body)]), set(c, var(a))];
        let expected = "ingress { a = 8w0x1 label0.l: { loop { c = a b = a a = 8w0x2 break label0.l } } c = a }";
        assert_eq!(after(ir.clone(), block), expected);
    }

    #[test]
    fn tables_and_externs_write_too() {
        let Fixture { mut ir, a, b, c } = fixture();
        let action = ir.add_action("set_a", &[("p", 8)], |ir, p| vec![set(a, Expr::var(ir, p[0]))]);
        let none = ir.add_action("none", &[], |_, _| vec![]);
        let t = ir.add_table("t", vec![], &[action, none], none);
        let spec = ir.standard("egress_spec");
        let var = |v| Expr::var(&ir, v);
        let apply = Stmt::Apply { table: t, hit: None, action_run: None };
        let block = vec![set(a, Expr::bit(8, 1)), set(b, Expr::bit(8, 2)), apply, set(c, var(a)), set(c, var(b))];
        assert_eq!(after(ir.clone(), block), "ingress { a = 8w0x1 b = 8w0x2 apply t c = a c = 8w0x2 }");
        let is_dropped = Expr::binary(BinOp::Eq, var(spec), Expr::bit(9, 511));
        let block = vec![set(spec, Expr::bit(9, 1)), Stmt::Extern(Extern::MarkToDrop), Stmt::If(is_dropped, vec![set(a, var(b))], vec![])];
        let text = after(ir.clone(), block);
        assert!(text.contains("if (standard_metadata.egress_spec == 9w0x1ff)"), "{text}");
    }
}
