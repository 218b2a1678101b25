//! What is done: statements (P4_16 §12).

use super::{Annotation, BinOp, Decl, Expr, Ident, Type};
use crate::span::Span;

/// `{ statements }`
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Annotations in front of the `{`.
    pub annotations: Vec<Annotation>,
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// From `{` to `}` (or from the first annotation).
    pub span: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Where, with the closing `;`.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// A variable, constant or instance
    Decl(Box<Decl>),
    /// `target = value;` or with an operator `target += value;`
    Assign {
        /// The l-value, checked by the parser only to be an expression.
        target: Expr,
        /// The operator of a compound assignment; `None` for `=`.
        op: Option<BinOp>,
        /// The right side.
        value: Expr,
    },
    /// A call for its effect: method, function, action, table or direct application `C.apply(...)`; always
    /// [`ExprKind::Call`](crate::ast::ExprKind::Call)
    Call(Expr),
    /// `{ ... }`
    Block(Block),
    /// `if (cond) then [else if (cond) then]... [else otherwise]`: a chain is one statement, so that a long one is not deep.
    If {
        /// The conditions in the order in which they are tried, at least one, with what is done.
        arms: Vec<IfArm>,
        /// Done if no condition holds.
        otherwise: Option<Box<Stmt>>,
    },
    /// `switch (key) { cases }`
    Switch {
        /// What is looked at.
        key: Expr,
        /// The cases in order.
        cases: Vec<SwitchCase>,
    },
    /// `for (init; cond; update) body` (P4_16 1.2.5 §12)
    For {
        /// Annotations in front of the `for`.
        annotations: Vec<Annotation>,
        /// Declarations, assignments and calls done first.
        init: Vec<Stmt>,
        /// Whether to go on, looked at before each turn.
        cond: Expr,
        /// Assignments and calls done after each turn.
        update: Vec<Stmt>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `for (T x in collection) body`
    ForIn {
        /// Annotations in front of the `for`.
        annotations: Vec<Annotation>,
        /// Annotations in front of the loop variable's type.
        var_annotations: Vec<Annotation>,
        /// The loop variable's type; `None` only together with an error.
        ty: Option<Type>,
        /// The loop variable.
        var: Ident,
        /// A range `a .. b` ([`ExprKind::Range`](crate::ast::ExprKind::Range)), a header stack or a list.
        collection: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return value;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
}

/// `if (cond) then`, one link of a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct IfArm {
    /// The condition.
    pub cond: Expr,
    /// Done if it is the first that holds.
    pub then: Stmt,
}

/// `label : { ... }`, or `label :` alone, which falls through to the next body.
#[derive(Clone, PartialEq, Debug)]
pub struct SwitchCase {
    /// An action's name, a value, or [`ExprKind::Default`](crate::ast::ExprKind::Default).
    pub label: Expr,
    /// The body; `None` to fall through.
    pub body: Option<Block>,
    /// The whole case.
    pub span: Span,
}
