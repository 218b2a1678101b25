//! What does a control's body apply, and with which arguments? Looked at before the body is lowered.

use p4_syntax::ast::{Arg, Block, Expr, ExprKind, Stmt, StmtKind};
use std::collections::HashMap;

/// The `x.apply(...)` of a body by `x`.
pub(crate) struct Applications<'a> {
    found: HashMap<&'a str, Vec<&'a [Arg]>>,
}

impl Applications<'_> {
    pub(crate) fn is_applied(&self, name: &str) -> bool {
        self.found.contains_key(name)
    }

    /// Whether all applications have the same arguments, so that binding them once will do.
    pub(crate) fn is_single(&self, name: &str) -> bool {
        match self.found.get(name).map(Vec::as_slice) {
            None | Some([_]) => true,
            Some([first, rest @ ..]) => rest.iter().all(|r| {
                r.len() == first.len() && r.iter().zip(first.iter()).all(|(a, b)| param(a) == param(b) && same_path(&a.value, &b.value))
            }),
            Some([]) => true,
        }
    }
}

fn param(a: &Arg) -> Option<&str> {
    a.name.as_ref().map(|n| n.name.as_str())
}

/// `a.b.c` twice.
fn same_path(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Path(a), ExprKind::Path(b)) => a.global == b.global && a.name.name == b.name.name,
        (ExprKind::Member { base: a, member: m }, ExprKind::Member { base: b, member: n }) => m.name == n.name && same_path(a, b),
        _ => false,
    }
}

pub(crate) fn applications(block: &Block) -> Applications<'_> {
    let mut a = Applications { found: HashMap::new() };
    stmts(&block.stmts, &mut a);
    a
}

fn stmts<'a>(list: &'a [Stmt], a: &mut Applications<'a>) {
    for s in list {
        stmt(s, a);
    }
}

fn stmt<'a>(s: &'a Stmt, a: &mut Applications<'a>) {
    match &s.kind {
        StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Exit => {}
        StmtKind::Decl(d) => match &d.kind {
            p4_syntax::ast::DeclKind::Var(v) => v.init.iter().for_each(|e| expr(e, a)),
            p4_syntax::ast::DeclKind::Const(c) => expr(&c.value, a),
            _ => {}
        },
        StmtKind::Assign { target, value, .. } => {
            expr(target, a);
            expr(value, a);
        }
        StmtKind::Call(e) | StmtKind::Return(Some(e)) => expr(e, a),
        StmtKind::Block(b) => stmts(&b.stmts, a),
        StmtKind::If { arms, otherwise } => {
            for arm in arms {
                expr(&arm.cond, a);
                stmt(&arm.then, a);
            }
            otherwise.iter().for_each(|s| stmt(s, a));
        }
        StmtKind::Switch { key, cases } => {
            expr(key, a);
            cases.iter().filter_map(|c| c.body.as_ref()).for_each(|b| stmts(&b.stmts, a));
        }
        StmtKind::For { init, cond, update, body, .. } => {
            stmts(init, a);
            expr(cond, a);
            stmts(update, a);
            stmt(body, a);
        }
        StmtKind::ForIn { collection, body, .. } => {
            expr(collection, a);
            stmt(body, a);
        }
    }
}

fn expr<'a>(e: &'a Expr, a: &mut Applications<'a>) {
    if let ExprKind::Call { callee, args, .. } = &e.kind
        && let ExprKind::Member { base, member } = &callee.kind
        && member.name == "apply"
        && let ExprKind::Path(p) = &base.kind
    {
        a.found.entry(&p.name.name).or_default().push(args);
    }
    e.operands(&mut |x| expr(x, a));
}
