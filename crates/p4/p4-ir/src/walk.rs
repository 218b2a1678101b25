//! Ways to every expression, block and l-value of a program, for reading and for changing in place.
//!
//! Each function goes one level down, so that a pass decides itself when to recurse. The two halves of the file are one
//! macro: what can be read can be changed.

use crate::*;

macro_rules! walkers {
    ($sub_exprs:ident, $header_exprs:ident, $lvalue_exprs:ident, $stmt_exprs:ident, $stmt_blocks:ident, $blocks:ident, $other_exprs:ident, $stmt_lvalues:ident $(, $m:tt)?) => {
        /// The operands of an expression, indices of header stacks among them.
        pub fn $sub_exprs(e: &$($m)? Expr, f: &mut dyn FnMut(&$($m)? Expr)) {
            match &$($m)? e.kind {
                ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::LastIndex(_) | ExprKind::NextIndex(_) => {}
                ExprKind::Field(h, _) | ExprKind::IsValid(h) | ExprKind::VarbitBits(h, _) => $header_exprs(h, f),
                ExprKind::VarbitEq(a, b) => {
                    $header_exprs(a, f);
                    $header_exprs(b, f);
                }
                ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice(a, _, _) => f(a),
                ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => {
                    f(a);
                    f(b);
                }
                ExprKind::Mux(c, a, b) => {
                    f(c);
                    f(a);
                    f(b);
                }
            }
        }

        /// The index of a header reference, if it has one.
        pub fn $header_exprs(h: &$($m)? HeaderRef, f: &mut dyn FnMut(&$($m)? Expr)) {
            if let HeaderRef::Index(_, i) = h {
                f(i);
            }
        }

        /// The indices in an l-value.
        pub fn $lvalue_exprs(l: &$($m)? LValue, f: &mut dyn FnMut(&$($m)? Expr)) {
            let mut at = l;
            loop {
                match at {
                    LValue::Var(_) => return,
                    LValue::Field(h, _) => return $header_exprs(h, f),
                    LValue::Slice(base, _, _) => at = base,
                }
            }
        }

        /// The expressions of a statement itself, not those of the blocks inside it.
        pub fn $stmt_exprs(s: &$($m)? Stmt, f: &mut dyn FnMut(&$($m)? Expr)) {
            match s {
                Stmt::Assign(dst, value) => {
                    $lvalue_exprs(dst, f);
                    f(value);
                }
                Stmt::SetValid(h, _) | Stmt::Emit(h) => $header_exprs(h, f),
                Stmt::CopyHeader { dst, src } | Stmt::CopyVarbit { dst, src } => {
                    $header_exprs(dst, f);
                    $header_exprs(src, f);
                }
                Stmt::CopyStack { .. } | Stmt::Push(..) | Stmt::Pop(..) | Stmt::Labeled(..) | Stmt::Break(_) | Stmt::Loop(_)
                | Stmt::Exit | Stmt::Apply { .. } => {}
                Stmt::If(c, _, _) => f(c),
                Stmt::Switch { on, .. } => f(on),
                Stmt::Extract { header, varbit_bits } => {
                    $header_exprs(header, f);
                    if let Some(e) = varbit_bits {
                        f(e);
                    }
                }
                Stmt::Advance(e) | Stmt::Verify(e, _) => f(e),
                Stmt::Lookahead(dst, _) => $lvalue_exprs(dst, f),
                Stmt::Extern(e) => match e {
                    Extern::Count { index, .. } => f(index),
                    Extern::DirectCount(_) | Extern::MarkToDrop | Extern::Stage(_) => {}
                    Extern::Meter { index, result, .. } | Extern::RegisterRead { index, result, .. } => {
                        f(index);
                        $lvalue_exprs(result, f);
                    }
                    Extern::DirectMeter { result, .. } => $lvalue_exprs(result, f),
                    Extern::RegisterWrite { index, value, .. } => {
                        f(index);
                        f(value);
                    }
                    Extern::Hash { result, base, data, max, .. } => {
                        f(base);
                        data.into_iter().for_each(&mut *f);
                        f(max);
                        $lvalue_exprs(result, f);
                    }
                    Extern::Random { result, low, high } => {
                        f(low);
                        f(high);
                        $lvalue_exprs(result, f);
                    }
                    Extern::VerifyChecksum { condition, data, checksum, .. } => {
                        f(condition);
                        for d in data {
                            match d {
                                CheckData::Value(e) => f(e),
                                CheckData::Varbit(h, _) => $header_exprs(h, f),
                            }
                        }
                        f(checksum);
                    }
                    Extern::UpdateChecksum { condition, data, checksum, .. } => {
                        f(condition);
                        for d in data {
                            match d {
                                CheckData::Value(e) => f(e),
                                CheckData::Varbit(h, _) => $header_exprs(h, f),
                            }
                        }
                        $lvalue_exprs(checksum, f);
                    }
                    Extern::Digest { receiver, data } => {
                        f(receiver);
                        data.into_iter().for_each(f);
                    }
                    Extern::Assert(e, _) | Extern::Truncate(e) => f(e),
                    Extern::Log(_, values) => values.into_iter().for_each(f),
                    Extern::Replicate { session, fields, .. } => {
                        session.into_iter().for_each(&mut *f);
                        fields.into_iter().for_each(f);
                    }
                    Extern::Service { request, answer, .. } => {
                        request.into_iter().for_each(&mut *f);
                        answer.into_iter().flatten().for_each(|l| $lvalue_exprs(l, f));
                    }
                },
            }
        }

        /// The blocks inside a statement.
        pub fn $stmt_blocks(s: &$($m)? Stmt, f: &mut dyn FnMut(&$($m)? Block)) {
            match s {
                Stmt::If(_, a, b) => {
                    f(a);
                    f(b);
                }
                Stmt::Switch { cases, default, .. } => {
                    for (_, b) in cases {
                        f(b);
                    }
                    f(default);
                }
                Stmt::Labeled(_, b) | Stmt::Loop(b) => f(b),
                _ => {}
            }
        }

        /// The outermost blocks of a program: of the parsers, the controls, the deparsers and the actions.
        pub fn $blocks(ir: &$($m)? Ir, f: &mut dyn FnMut(&$($m)? Block)) {
            for (_, p) in &$($m)? ir.pipes {
                f(&$($m)? p.parser.init);
            }
            for (_, s) in &$($m)? ir.states {
                f(&$($m)? s.body);
            }
            for (_, p) in &$($m)? ir.pipes {
                for c in &$($m)? p.controls {
                    f(&$($m)? c.body);
                }
                f(&$($m)? p.deparser);
            }
            for (_, a) in &$($m)? ir.actions {
                f(&$($m)? a.body);
            }
        }

        /// What a statement itself writes to, other than headers as a whole.
        pub fn $stmt_lvalues<'s>(s: &'s $($m)? Stmt, f: &mut dyn FnMut(&'s $($m)? LValue)) {
            match s {
                Stmt::Assign(dst, _) | Stmt::Lookahead(dst, _) => f(dst),
                Stmt::Extern(
                    Extern::Meter { result, .. }
                    | Extern::DirectMeter { result, .. }
                    | Extern::RegisterRead { result, .. }
                    | Extern::Hash { result, .. }
                    | Extern::Random { result, .. }
                    | Extern::UpdateChecksum { checksum: result, .. },
                ) => f(result),
                Stmt::Extern(Extern::Service { answer: Some(answer), .. }) => answer.into_iter().for_each(f),
                _ => {}
            }
        }

        /// The expressions that are not in statements: keys of selects and of tables.
        pub fn $other_exprs(ir: &$($m)? Ir, f: &mut dyn FnMut(&$($m)? Expr)) {
            for (_, s) in &$($m)? ir.states {
                if let Transition::Select { keys, .. } = &$($m)? s.next {
                    keys.into_iter().for_each(&mut *f);
                }
            }
            for (_, t) in &$($m)? ir.tables {
                (&$($m)? t.keys).into_iter().for_each(&mut *f);
            }
        }
    };
}

walkers!(sub_exprs, header_exprs, lvalue_exprs, stmt_exprs, stmt_blocks, blocks, other_exprs, stmt_lvalues);
walkers!(
    sub_exprs_mut,
    header_exprs_mut,
    lvalue_exprs_mut,
    stmt_exprs_mut,
    stmt_blocks_mut,
    blocks_mut,
    other_exprs_mut,
    stmt_lvalues_mut,
    mut
);

/// Every statement of a block and of the blocks inside it, outer ones first.
pub fn all_stmts(block: &Block, f: &mut dyn FnMut(&Stmt)) {
    for s in block {
        f(s);
        stmt_blocks(s, &mut |b| all_stmts(b, f));
    }
}

impl LValue {
    /// The variable that an assignment changes, if it is one.
    pub fn root_var(&self) -> Option<VarId> {
        let mut at = self;
        loop {
            match at {
                LValue::Var(v) => return Some(*v),
                LValue::Field(..) => return None,
                LValue::Slice(base, _, _) => at = base,
            }
        }
    }
}

/// Every variable that an expression reads.
pub fn read_vars(e: &Expr, f: &mut dyn FnMut(VarId)) {
    if let ExprKind::Var(v) = e.kind {
        f(v);
    }
    sub_exprs(e, &mut |sub| read_vars(sub, f));
}
