//! How are statements written?

use super::{Binding, Printer};
use crate::ast::*;

impl Printer {
    /// `{ ... }` without a line end.
    pub(super) fn block(&mut self, block: &Block) {
        self.annotations(&block.annotations);
        self.braced(&block.stmts, Self::stmt);
    }

    /// A statement on lines of its own.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        self.start();
        self.stmt_inline(stmt);
        self.end("");
    }

    /// A statement from the current column on, without a line end.
    fn stmt_inline(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty => self.put(";"),
            StmtKind::Decl(decl) => {
                self.annotations(&decl.annotations);
                self.decl_kind(&decl.kind);
            }
            StmtKind::Assign { .. } | StmtKind::Call(_) => {
                self.clause(stmt);
                self.put(";");
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::If { arms, otherwise } => {
                for (i, arm) in arms.iter().enumerate() {
                    self.put(if i == 0 { "if (" } else { " else if (" });
                    self.expr(&arm.cond, Binding::Loosest);
                    self.put(") ");
                    // An `if` without braces in front of an `else` would take the `else` for itself.
                    let dangling = (otherwise.is_some() || i + 1 < arms.len()) && ends_in_open_if(&arm.then);
                    self.put(if dangling { "{ " } else { "" });
                    self.stmt_inline(&arm.then);
                    self.put(if dangling { " }" } else { "" });
                }
                if let Some(otherwise) = otherwise {
                    self.put(" else ");
                    self.stmt_inline(otherwise);
                }
            }
            StmtKind::Switch { key, cases } => {
                self.put("switch (");
                self.expr(key, Binding::Loosest);
                self.put(") ");
                self.braced(cases, |p, case| {
                    p.start();
                    p.expr(&case.label, Binding::Loosest);
                    p.put(":");
                    if let Some(body) = &case.body {
                        p.put(" ");
                        p.block(body);
                    }
                    p.end("");
                });
            }
            StmtKind::For { annotations, init, cond, update, body } => {
                self.annotations(annotations);
                self.put("for (");
                self.list(init, Self::clause);
                self.put("; ");
                self.expr(cond, Binding::Loosest);
                self.put("; ");
                self.list(update, Self::clause);
                self.put(") ");
                self.stmt_inline(body);
            }
            StmtKind::ForIn { annotations, var_annotations, ty, var, collection, body } => {
                self.annotations(annotations);
                self.put("for (");
                self.annotations(var_annotations);
                if let Some(ty) = ty {
                    self.ty(ty);
                    self.put(" ");
                }
                self.put(&format!("{} in ", var.name));
                self.expr(collection, Binding::Loosest);
                self.put(") ");
                self.stmt_inline(body);
            }
            StmtKind::Break => self.put("break;"),
            StmtKind::Continue => self.put("continue;"),
            StmtKind::Return(None) => self.put("return;"),
            StmtKind::Return(Some(value)) => {
                self.put("return ");
                self.expr(value, Binding::Loosest);
                self.put(";");
            }
            StmtKind::Exit => self.put("exit;"),
        }
    }

    /// A declaration, assignment or call without its `;`, as in the head of a `for`.
    fn clause(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, op, value } => {
                self.expr(target, Binding::Postfix);
                self.put(&format!(" {}= ", op.map_or("", BinOp::text)));
                self.expr(value, Binding::Loosest);
            }
            StmtKind::Call(call) => self.expr(call, Binding::Postfix),
            StmtKind::Decl(decl) => {
                self.annotations(&decl.annotations);
                match &decl.kind {
                    DeclKind::Var(var) => self.var(var),
                    other => self.decl_kind(other),
                }
            }
            _ => self.stmt_inline(stmt),
        }
    }
}

/// Whether a statement ends in an `if` without `else` that no braces close.
fn ends_in_open_if(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::If { otherwise: None, .. } => true,
        StmtKind::If { otherwise: Some(otherwise), .. } => ends_in_open_if(otherwise),
        StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => ends_in_open_if(body),
        _ => false,
    }
}
