//! What does the compiler of a switch chip refuse, whatever room there is? Facts that programs of one construct each, given to it, have shown
//! (`tests/refused.rs` has them with what it said):
//!
//! - An action runs in one stage: an operation on what another has computed, in it or in its expression, is refused. Copies are followed, an
//!   `or` of two fields under constant masks and the negation of what is anded, ored or exclusive-ored are one instruction.
//! - An action does not decide: only a parameter of type bool chooses, the entry's data if it is true and a field if not; `max` and `min`
//!   are instructions.
//! - A gateway compares fields with constants or whether two fields are equal, and nothing that is computed.
//! - A register's ALU adds, subtracts and does logic, one operation for each value that is written; it does not shift, and has two
//!   operands from the packet.
//! - What is attached to a table's entries is reached by all actions that entries name, or by none; other cells by what the entry says or
//!   by the same fields of the packet, in all of the table's actions.
//! - A prefix and a mask or range are not matched by one table, nor a range of more than five nibbles.
//!
//! Programs that were not written for the chip's architecture are not held against this: they would be written anew.

use super::instructions::{deep, exclusive_ors};
use super::{Loc, Row, Walker};
use crate::lack::Fault;
use p4_ir::walk::{stmt_exprs, sub_exprs};
use p4_ir::*;
use program::MatchKind;
use std::collections::{BTreeMap, BTreeSet};

/// Bits of a field that a table compares with ranges: five nibbles.
const RANGE_BITS: u32 = 20;
/// Bits of what a register's ALU works on.
const ALU_BITS: u32 = 32;
/// Operands that it takes from the packet.
const ALU_OPERANDS: usize = 2;

impl Walker<'_> {
    fn held(&self) -> bool {
        self.ir.arch == Architecture::Tna
    }

    fn in_action(&mut self, fault: Fault) {
        let at = self.action.clone().unwrap_or_default();
        self.lack(&at, fault);
    }

    /// An assignment of an action's, or of what is beside the tables.
    pub(super) fn refuse_assignment(&mut self, to: Option<Loc>, value: &Expr, row: &mut Row) {
        if !self.held() {
            return;
        }
        let hashed = exclusive_ors(value).is_some_and(|n| n > 1);
        let text = |w: &Self| w.namer.expr(value);
        let backwards = matches!(&value.kind, ExprKind::Mux(c, a, b) if self.parameter(c) && (!self.supplied(a) || self.supplied(b)));
        if backwards {
            let text = text(self);
            self.in_action(Fault::Decides(text));
        } else if let Some(c) = decides(value).filter(|c| !self.parameter(c)) {
            self.in_action(Fault::Decides(self.namer.expr(c)));
        } else if self.action.is_some() && compares(value) {
            let text = text(self);
            self.in_action(Fault::Decides(text));
        } else if !hashed && several(value) {
            let text = text(self);
            self.in_action(Fault::SeveralSteps(text));
        } else if self.action.is_some() {
            let computed = computes(value);
            let again = !hashed && self.leaves(value).iter().any(|l| row.computed.contains(l));
            if computed && again {
                let text = text(self);
                self.in_action(Fault::SeveralSteps(text));
            }
            match to {
                Some(to) if !hashed && (computed || again) => drop(row.computed.insert(to)),
                Some(to) => drop(row.computed.remove(&to)),
                None => {}
            }
        }
    }

    /// A condition in an action, which is an assignment that the entry decides, or none.
    pub(super) fn refuse_condition(&mut self, c: &Expr) {
        if !self.held() {
            return;
        }
        if self.action.is_some() && !self.parameter(c) {
            let text = self.namer.expr(c);
            return self.in_action(Fault::Decides(text));
        }
        let mut faults = Vec::new();
        compared(c, &mut |op, a, b| {
            let computed = [a, b].into_iter().any(adds);
            let ordered = !matches!(op, BinOp::Eq | BinOp::Ne) && a.as_const().is_none() && b.as_const().is_none();
            if computed || ordered {
                faults.push(Fault::Compares(self.namer.expr(c)));
            }
        });
        faults.into_iter().for_each(|f| self.in_action(f));
    }

    /// Whether it is of the entry's data, or a constant.
    fn supplied(&self, e: &Expr) -> bool {
        match &bare(e).kind {
            ExprKind::Const(_) => true,
            ExprKind::Var(v) => self.ir.actions.values().any(|a| a.params.contains(v)),
            _ => false,
        }
    }

    /// Whether this is a parameter of an action that says yes or no.
    fn parameter(&self, c: &Expr) -> bool {
        match &c.kind {
            ExprKind::Var(v) => self.ir.actions.values().any(|a| a.params.contains(v)),
            ExprKind::Unary(UnOp::Not, c) | ExprKind::Cast(c) => self.parameter(c),
            _ => false,
        }
    }

    /// What a register's ALU is to do.
    pub(super) fn refuse_program(&mut self, register: RegisterId, block: &[Stmt]) {
        if !self.held() {
            return;
        }
        let mut own: BTreeSet<VarId> = BTreeSet::new();
        for s in block {
            deep(s, &mut |s| match s {
                Stmt::Assign(LValue::Var(v), _)
                | Stmt::Extern(Extern::RegisterRead { result: LValue::Var(v), .. } | Extern::Hash { result: LValue::Var(v), .. }) => {
                    own.insert(*v);
                }
                _ => {}
            });
        }
        let (mut faults, mut operands) = (Vec::new(), BTreeSet::new());
        for s in block.iter().skip(1) {
            deep(s, &mut |s| {
                let value = match s {
                    Stmt::Assign(_, e) | Stmt::Extern(Extern::RegisterWrite { value: e, .. }) => Some(e),
                    _ => None,
                };
                if value.is_some_and(twice) {
                    faults.extend(value.map(|e| Fault::RegisterProgram(self.namer.expr(e))));
                }
                let index = |e: &Expr| matches!(s, Stmt::Extern(Extern::RegisterWrite { index, .. }) if index == e);
                stmt_exprs(s, &mut |e| {
                    if index(e) {
                        return;
                    }
                    if beyond(e) {
                        faults.push(Fault::RegisterProgram(self.namer.expr(e)));
                    }
                    self.packet_operands(e, &own, &mut operands);
                });
            });
        }
        let name = self.namer.register(register);
        if operands.len() > ALU_OPERANDS {
            faults.push(Fault::RegisterOperands { needed: operands.len() as u64, of: ALU_OPERANDS as u64 });
        }
        faults.into_iter().for_each(|f| self.lack(&name, f));
    }

    /// The largest parts of an expression that the packet brings along as they are.
    fn packet_operands(&self, e: &Expr, own: &BTreeSet<VarId>, into: &mut BTreeSet<String>) {
        let mut plain = e.as_const().is_none();
        let mut depends = false;
        all(e, &mut |e| match &e.kind {
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Mux(..) => plain = false,
            ExprKind::Var(v) if own.contains(v) => plain = false,
            ExprKind::Const(_) => {}
            _ => depends = true,
        });
        match &e.kind {
            ExprKind::Cast(inner) => self.packet_operands(inner, own, into),
            _ if plain && depends => drop(into.insert(self.namer.expr(e))),
            _ => sub_exprs(e, &mut |sub| self.packet_operands(sub, own, into)),
        }
    }

    /// A table's key and what is attached to its entries.
    pub(super) fn refuse_table(&mut self, id: TableId) {
        if !self.held() {
            return;
        }
        let ir = self.ir;
        let info = &ir.program.tables[id];
        let has = |kind: fn(&MatchKind) -> bool| info.keys.iter().any(|k| kind(&k.kind));
        if has(|k| matches!(k, MatchKind::Lpm)) && has(|k| matches!(k, MatchKind::Ternary | MatchKind::Range)) {
            self.lack(&info.name, Fault::PrefixAndMask);
        }
        for key in info.keys.iter().filter(|k| matches!(k.kind, MatchKind::Range) && k.width > RANGE_BITS) {
            self.lack(&info.name, Fault::RangeWidth { needed: key.width.into(), of: RANGE_BITS.into() });
        }
        self.ways(id);
        let attached = |action: ActionId| {
            let mut found = BTreeSet::new();
            for s in &ir.actions[action].body {
                deep(s, &mut |s| match s {
                    Stmt::Extern(Extern::DirectCount(c)) => drop(found.insert(self.namer.counter(*c))),
                    Stmt::Extern(Extern::DirectMeter { meter, .. }) => drop(found.insert(self.namer.meter(*meter))),
                    Stmt::Extern(Extern::RegisterRead { register, .. } | Extern::RegisterWrite { register, .. })
                        if ir.program.registers[*register].table.is_some() =>
                    {
                        found.insert(self.namer.register(*register));
                    }
                    _ => {}
                });
            }
            found
        };
        let each: Vec<BTreeSet<String>> = info.actions.iter().filter(|u| u.entry).map(|u| attached(u.action)).collect();
        let some: BTreeSet<String> = each.iter().flatten().cloned().collect();
        for cells in some.into_iter().filter(|c| each.iter().any(|e| !e.contains(c))) {
            self.lack(&info.name, Fault::SomeActions { cells });
        }
    }
}

impl Walker<'_> {
    /// Cells that a table's actions reach are reached in one way: by what the entry says, or by the same fields.
    fn ways(&mut self, id: TableId) {
        let ir = self.ir;
        let info = &ir.program.tables[id];
        let mut ways: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for action in info.actions.iter().filter(|u| u.entry).map(|u| u.action) {
            let code = &ir.actions[action];
            let mut own = BTreeSet::new();
            for s in &code.body {
                deep(s, &mut |s| {
                    p4_analysis::effects::stmt_writes(ir, s, &mut |place| {
                        if let p4_analysis::effects::Place::Var(v) = place {
                            own.insert(v);
                        }
                    });
                    let (cells, index) = match s {
                        Stmt::Extern(Extern::Count { counter, index }) => (self.namer.counter(*counter), index),
                        Stmt::Extern(Extern::Meter { meter, index, .. }) => (self.namer.meter(*meter), index),
                        Stmt::Extern(Extern::RegisterRead { register, index, .. } | Extern::RegisterWrite { register, index, .. })
                            if ir.program.registers[*register].table.is_none() =>
                        {
                            (self.namer.register(*register), index)
                        }
                        _ => return,
                    };
                    let way = match &bare(index).kind {
                        ExprKind::Const(_) => String::new(),
                        ExprKind::Var(v) if code.params.contains(v) => String::new(),
                        // A hash, or what the action computes.
                        ExprKind::Var(v) if own.contains(v) => return,
                        _ => self.namer.expr(index),
                    };
                    ways.entry(cells).or_default().insert(way);
                });
            }
        }
        for (cells, _) in ways.into_iter().filter(|(_, ways)| ways.len() > 1) {
            self.lack(&info.name, Fault::SeveralWays { cells });
        }
    }
}

/// All parts of an expression, itself first.
fn all(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(e);
    sub_exprs(e, &mut |sub| all(sub, f));
}

/// What is left without conversions.
fn bare(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) => bare(a),
        _ => e,
    }
}

fn comparison(op: BinOp) -> bool {
    matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::LAnd | BinOp::LOr)
}

/// Whether this is an operation, and no copy.
fn computes(e: &Expr) -> bool {
    match &bare(e).kind {
        ExprKind::Binary(op, ..) => !comparison(*op),
        ExprKind::Unary(UnOp::Neg | UnOp::BitNot, _) | ExprKind::Mux(..) => true,
        ExprKind::Concat(a, b) => computes(a) || computes(b),
        _ => false,
    }
}

/// `max` or `min` of two.
pub(super) fn extreme(c: &Expr, a: &Expr, b: &Expr) -> bool {
    matches!(&c.kind, ExprKind::Binary(BinOp::Gt | BinOp::Lt, x, y) if (**x == *a && **y == *b) || (**x == *b && **y == *a))
}

/// What an expression goes by that chooses between two values.
fn decides(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Mux(c, a, b) if extreme(c, a, b) => decides(a).or_else(|| decides(b)),
        ExprKind::Mux(c, ..) => Some(c),
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) | ExprKind::Unary(_, a) => decides(a),
        ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => decides(a).or_else(|| decides(b)),
        _ => None,
    }
}

/// Whether the outcome of a comparison is kept.
fn compares(e: &Expr) -> bool {
    match &bare(e).kind {
        ExprKind::Binary(op, ..) => comparison(*op),
        ExprKind::Unary(UnOp::Not, a) => compares(a),
        ExprKind::IsValid(_) => false,
        _ => false,
    }
}

/// Whether this is more than one instruction.
fn several(e: &Expr) -> bool {
    let e = bare(e);
    match &e.kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b)
            if b.as_const().is_some()
                && matches!(bare(a).kind, ExprKind::Binary(BinOp::Add | BinOp::Sub, _, ref c) if c.as_const().is_some()) =>
        {
            several(a)
        }
        ExprKind::Binary(BinOp::Or, a, b) if masked(a) && masked(b) => false,
        ExprKind::Binary(op, a, b) if !comparison(*op) => {
            let logic = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
            [a, b].into_iter().any(|side| match &bare(side).kind {
                ExprKind::Unary(UnOp::BitNot, inner) if logic => computes(inner),
                _ => computes(side),
            })
        }
        ExprKind::Unary(UnOp::BitNot, a) => match &bare(a).kind {
            ExprKind::Binary(BinOp::And | BinOp::Or | BinOp::Xor, ..) => several(a),
            _ => computes(a),
        },
        ExprKind::Unary(UnOp::Neg, a) => computes(a),
        ExprKind::Concat(a, b) => several(a) || several(b),
        ExprKind::Mux(_, a, b) => computes(a) || computes(b),
        _ => false,
    }
}

/// A field under a constant mask.
fn masked(e: &Expr) -> bool {
    matches!(&bare(e).kind, ExprKind::Binary(BinOp::And, a, b) if b.as_const().is_some() && !computes(a))
}

/// The comparisons that a condition is made of.
fn compared(c: &Expr, f: &mut dyn FnMut(BinOp, &Expr, &Expr)) {
    match &c.kind {
        ExprKind::Binary(BinOp::LAnd | BinOp::LOr, a, b) => {
            compared(a, f);
            compared(b, f);
        }
        ExprKind::Unary(UnOp::Not, a) | ExprKind::Cast(a) => compared(a, f),
        ExprKind::Binary(op, a, b) if comparison(*op) => f(*op, a, b),
        _ => {}
    }
}

/// Whether a sum or difference is in it.
fn adds(e: &Expr) -> bool {
    matches!(&bare(e).kind, ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::AddSat | BinOp::SubSat, ..))
}

/// Whether a register's ALU would have to do two operations for one value.
fn twice(e: &Expr) -> bool {
    let operation = |e: &Expr| match &e.kind {
        ExprKind::Binary(op, ..) => !comparison(*op),
        ExprKind::Unary(UnOp::Neg, _) => true,
        _ => false,
    };
    match &e.kind {
        ExprKind::Binary(BinOp::Or, a, b) => twice(a) || twice(b),
        ExprKind::Binary(op, a, b) if !comparison(*op) => operation(a) || operation(b),
        ExprKind::Mux(_, a, b) | ExprKind::Concat(a, b) => twice(a) || twice(b),
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) | ExprKind::Unary(_, a) => twice(a),
        _ => false,
    }
}

/// Whether there is an operation in it that the ALU has not, or one too wide.
fn beyond(e: &Expr) -> bool {
    let mut found = false;
    all(e, &mut |e| {
        found |= match &e.kind {
            ExprKind::Binary(BinOp::Shl | BinOp::Shr | BinOp::Mul | BinOp::Div | BinOp::Mod, ..) => true,
            ExprKind::Binary(op, ..) if !comparison(*op) => e.ty.width() > ALU_BITS,
            _ => false,
        }
    });
    found
}
