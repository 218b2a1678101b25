//! What becomes of `bit<0>` (P4_16 §7.1.6.2)? It has one value, so nothing that targets run has that type.
//!
//! While a program is lowered it is a type like any other. Here, at the end, expressions of it become the constant 0 of one bit, which gives the same
//! where it is compared, shifted by or cast. Fields, parameters of actions and pieces of hashes and checksums of it are left out, and so are assignments.
//! Variables, cells of registers, keys and members of value sets have one bit then, which is always 0; an entry with another value never matches.

use p4_ir::{
    Bits, Block, CheckData, Expr, ExprKind, Extern, HeaderId, HeaderRef, HeaderTypeId, Ir, KeySet, LValue, StackId, Stmt, Transition, Ty,
    Var, VarId, VarRole, walk,
};
use std::collections::BTreeMap;

/// Takes the type out of a program, if it is there.
pub(crate) fn erase(ir: &mut Ir) {
    let fields: BTreeMap<HeaderTypeId, Vec<Option<u32>>> = ir.header_types.keys().map(|id| (id, places(ir, id))).collect();
    let vars = ir.vars.values().any(|v| v.ty.width() == 0);
    let p = &ir.program;
    let control = p.tables.values().flat_map(|t| &t.keys).any(|k| k.width == 0)
        || p.actions.values().flat_map(|a| &a.params).any(|p| p.width == 0)
        || p.registers.values().any(|r| r.width == 0)
        || p.value_sets.values().flat_map(|s| &s.widths).any(|w| *w == 0);
    let header = fields.values().flatten().any(Option::is_none);
    let mut values = false;
    let mut look = |e: &Expr| values |= has_type(e);
    walk::other_exprs(ir, &mut look);
    walk::blocks(ir, &mut |b| walk::all_stmts(b, &mut |s| walk::stmt_exprs(s, &mut look)));
    if !(vars || control || header || values) {
        return;
    }
    let unused = ir.vars.push(Var { name: "_".into(), ty: Ty::Bit(1), role: VarRole::Own });
    let none: Vec<VarId> = ir.vars.iter().filter(|(_, v)| v.ty.width() == 0).map(|(id, _)| id).collect();
    let headers = Headers {
        types: ir.headers.iter().map(|(id, h)| (id, h.ty)).collect(),
        stacks: ir.stacks.iter().filter_map(|(id, s)| Some((id, ir.headers[*s.elements.first()?].ty))).collect(),
        fields,
        none,
        unused,
    };
    walk::blocks_mut(ir, &mut |b| headers.block(b));
    walk::other_exprs_mut(ir, &mut |e| headers.expr(e));
    for (_, state) in &mut ir.states {
        if let Transition::Select { cases, .. } = &mut state.next {
            cases.iter_mut().flat_map(|c| &mut c.sets).for_each(widen);
        }
    }
    for (id, ty) in &mut ir.header_types {
        let kept = &headers.fields[&id];
        let mut at = 0..kept.len();
        ty.fields.retain(|_| at.next().is_some_and(|i| kept[i].is_some()));
    }
    ir.vars.values_mut().filter(|v| v.ty.width() == 0).for_each(|v| v.ty = Ty::Bit(1));
    control_plane(ir);
}

/// Where the fields of a header type are without those of no bits.
fn places(ir: &Ir, id: HeaderTypeId) -> Vec<Option<u32>> {
    let kept = ir.header_types[id].fields.iter().map(|f| f.varbit || f.ty.width() > 0);
    kept.scan(0, |next, kept| Some(kept.then(|| std::mem::replace(next, *next + 1)))).collect()
}

fn has_type(e: &Expr) -> bool {
    let mut found = e.ty.width() == 0;
    walk::sub_exprs(e, &mut |sub| found |= has_type(sub));
    found
}

/// A value of no bits as one of one bit.
fn zero() -> Bits {
    Bits::new(1, 0)
}

fn widen(set: &mut KeySet) {
    if let KeySet::Value { value: a, mask: b } | KeySet::Range { low: a, high: b } = set
        && a.width() == 0
    {
        (*a, *b) = (zero(), zero());
    }
}

/// What entries, registers and value sets look like from outside.
fn control_plane(ir: &mut Ir) {
    let p = &mut ir.program;
    p.tables.values_mut().flat_map(|t| &mut t.keys).for_each(|k| k.width = k.width.max(1));
    p.registers.values_mut().for_each(|r| r.width = r.width.max(1));
    p.value_sets.values_mut().flat_map(|s| &mut s.widths).for_each(|w| *w = (*w).max(1));
    for (id, action) in &mut p.actions {
        let kept: Vec<bool> = action.params.iter().map(|p| p.width > 0).collect();
        if kept.iter().all(|k| *k) {
            continue;
        }
        action.params.retain(|p| p.width > 0);
        let keep = |args: &mut Vec<u128>| {
            let mut at = kept.iter();
            args.retain(|_| at.next().is_none_or(|k| *k));
        };
        for table in p.tables.values_mut() {
            if table.default_action.0 == id {
                keep(&mut table.default_action.1);
            }
            table.entries.iter_mut().filter(|e| e.action == id).for_each(|e| keep(&mut e.args));
        }
        if let Some(code) = ir.actions.get_mut(id) {
            let mut at = kept.iter();
            code.params.retain(|_| at.next().is_none_or(|k| *k));
        }
    }
}

/// Types of headers as they were.
struct Headers {
    /// Of each header, and of the elements of each stack.
    types: BTreeMap<HeaderId, HeaderTypeId>,
    stacks: BTreeMap<StackId, HeaderTypeId>,
    /// Of each type: where its fields are now.
    fields: BTreeMap<HeaderTypeId, Vec<Option<u32>>>,
    /// Variables of no bits.
    none: Vec<VarId>,
    /// A variable that nothing reads.
    unused: VarId,
}

impl Headers {
    /// Where a field is now; `None` if it has no bits.
    fn field(&self, h: &HeaderRef, index: u32) -> Option<u32> {
        let ty = match h {
            HeaderRef::Static(h) => self.types[h],
            HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => self.stacks[s],
        };
        self.fields[&ty].get(index as usize).copied().flatten()
    }

    fn expr(&self, e: &mut Expr) {
        if e.ty.width() == 0 {
            *e = Expr { kind: ExprKind::Const(zero()), ty: Ty::Bit(1) };
            return;
        }
        if let ExprKind::Concat(a, b) = &mut e.kind
            && (a.ty.width() == 0 || b.ty.width() == 0)
        {
            // The other one is all of it, as a number without sign.
            let other = if a.ty.width() == 0 { b } else { a };
            let other = std::mem::replace(&mut **other, Expr { kind: ExprKind::Const(zero()), ty: Ty::Bit(1) });
            *e = if other.ty == e.ty { other } else { Expr { kind: ExprKind::Cast(Box::new(other)), ty: e.ty } };
            return self.expr(e);
        }
        if let ExprKind::Field(h, i) | ExprKind::VarbitBits(h, i) = &mut e.kind {
            *i = self.field(h, *i).unwrap_or(*i);
        }
        walk::sub_exprs_mut(e, &mut |sub| self.expr(sub));
    }

    /// Whether a place has no bits. Otherwise it is where it is now.
    fn is_none(&self, place: &mut LValue) -> bool {
        match place {
            LValue::Var(v) => self.none.contains(v),
            LValue::Field(h, i) => match self.field(h, *i) {
                Some(at) => {
                    *i = at;
                    false
                }
                None => true,
            },
            LValue::Slice(base, _, _) => self.is_none(base),
        }
    }

    /// The place of a result.
    fn result(&self, place: &mut LValue) {
        if self.is_none(place) {
            *place = LValue::Var(self.unused);
        }
    }

    fn block(&self, block: &mut Block) {
        block.retain_mut(|s| self.stmt(s));
        for s in block {
            walk::stmt_exprs_mut(s, &mut |e| self.expr(e));
            walk::stmt_blocks_mut(s, &mut |b| self.block(b));
        }
    }

    /// Everything in a statement but its expressions and blocks; whether it stays.
    fn stmt(&self, s: &mut Stmt) -> bool {
        let keep_data = |data: &mut Vec<CheckData>| {
            data.retain_mut(|d| match d {
                CheckData::Value(e) => e.ty.width() > 0,
                CheckData::Varbit(h, i) => {
                    *i = self.field(h, *i).unwrap_or(*i);
                    true
                }
            });
        };
        match s {
            Stmt::Assign(to, _) | Stmt::Lookahead(to, _) => return !self.is_none(to),
            Stmt::Switch { cases, .. } => {
                cases.iter_mut().flat_map(|(values, _)| values).filter(|v| v.width() == 0).for_each(|v| *v = zero());
            }
            Stmt::Extern(Extern::Hash { result, data, .. }) => {
                data.retain(|e| e.ty.width() > 0);
                self.result(result);
            }
            Stmt::Extern(
                Extern::Meter { result, .. }
                | Extern::DirectMeter { result, .. }
                | Extern::RegisterRead { result, .. }
                | Extern::Random { result, .. },
            ) => self.result(result),
            Stmt::Extern(Extern::VerifyChecksum { data, .. }) => keep_data(data),
            Stmt::Extern(Extern::UpdateChecksum { data, checksum, .. }) => {
                keep_data(data);
                self.result(checksum);
            }
            Stmt::Extern(Extern::Service { answer, .. }) => answer.iter_mut().flatten().for_each(|l| self.result(l)),
            _ => {}
        }
        true
    }
}
