//! Which statements and expressions does a target perhaps refuse, so that their places are kept ([`p4_ir::origin`])?

use p4_ir::origin::{Construct, Origin};
use p4_ir::{BinOp, Expr, ExprKind, Extern, Ir, LValue, Stmt, Ty};
use p4_syntax::Span;

/// A statement's construct.
pub(crate) fn of_stmt(ir: &Ir, s: &Stmt) -> Option<Construct> {
    Some(match s {
        Stmt::CopyVarbit { .. } => Construct::Varbit,
        Stmt::CopyStack { .. } | Stmt::Push(..) | Stmt::Pop(..) => Construct::StackIndex,
        Stmt::Loop(_) => Construct::Loop,
        // A loop is in a block that it can be left by.
        Stmt::Labeled(_, body) if body.iter().any(|s| matches!(s, Stmt::Loop(_))) => Construct::Loop,
        Stmt::Apply { .. } => Construct::Table,
        Stmt::Emit(_) => Construct::Emit,
        Stmt::Extract { .. } | Stmt::Advance(_) | Stmt::Lookahead(..) => Construct::Parsing,
        // Which variable it is to the architecture is known at the end.
        Stmt::Assign(LValue::Var(v), _) if ir.vars[*v].name.ends_with(".mcast_grp") => Construct::Multicast,
        Stmt::Extern(e) => match e {
            Extern::Count { .. } | Extern::DirectCount(_) => Construct::Counter,
            Extern::Meter { .. } | Extern::DirectMeter { .. } => Construct::Meter,
            Extern::RegisterRead { .. } | Extern::RegisterWrite { .. } => Construct::Register,
            Extern::Hash { .. } => Construct::Hash,
            Extern::Random { .. } => Construct::Random,
            Extern::VerifyChecksum { .. } | Extern::UpdateChecksum { .. } => Construct::Checksum,
            Extern::Digest { .. } => Construct::Digest,
            Extern::Truncate(_) => Construct::Truncate,
            Extern::Replicate { .. } => Construct::Copies,
            Extern::Service { .. } => Construct::Service,
            Extern::MarkToDrop | Extern::Stage(_) | Extern::Assert(..) | Extern::Log(..) => return None,
        },
        _ => return None,
    })
}

/// An expression's construct, its operands' not.
pub(crate) fn of_expr(e: &Expr) -> Option<Construct> {
    let ExprKind::Binary(op, a, _) = &e.kind else { return None };
    let signed = matches!(a.ty, Ty::Int(_));
    match op {
        BinOp::Mul | BinOp::Div | BinOp::Mod if e.ty.width() > 64 => Some(Construct::Product),
        BinOp::AddSat | BinOp::SubSat if signed && e.ty.width() > 64 => Some(Construct::Saturation),
        BinOp::Shr if signed && e.ty.width() > 64 => Some(Construct::Shift),
        _ => None,
    }
}

/// A span as the IR has it.
pub(crate) fn origin(span: Span) -> Origin {
    Origin { file: span.file.0, low: span.lo, high: span.hi }
}

/// As the source map knows it.
pub(crate) fn span(origin: Origin) -> Span {
    Span::new(p4_syntax::FileId(origin.file), origin.low, origin.high)
}
