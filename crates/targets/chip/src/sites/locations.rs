//! The fields, variables and validity bits that expressions read and statements write.

use super::{Loc, Row, Walker};
use crate::lack::{Fault, Lack};
use p4_analysis::effects::{self, Place};
use p4_ir::walk::sub_exprs;
use p4_ir::*;
use std::collections::BTreeSet;

impl Walker<'_> {
    pub(super) fn copy(&mut self, to: HeaderId, from: HeaderId, row: &mut Row) {
        let fields = self.ir.header_types[self.ir.headers[to].ty].fields.len() as u32;
        for f in 0..fields {
            self.op(row, [Loc::Field(from, f)].into(), Loc::Field(to, f), None);
        }
        self.op(row, [Loc::Valid(from)].into(), Loc::Valid(to), None);
    }

    /// The headers that a reference may mean.
    pub(super) fn headers(&mut self, h: &HeaderRef) -> Vec<HeaderId> {
        if let HeaderRef::Index(s, i) = h
            && i.as_const().is_none()
        {
            let name = self.namer.stack(*s);
            self.lack(&name, Fault::StackIndex);
        }
        effects::headers(self.ir, h).to_vec()
    }

    pub(super) fn place(&mut self, l: &LValue) -> Option<Loc> {
        let mut at = l;
        loop {
            match at {
                LValue::Var(v) => return Some(Loc::Var(*v)),
                LValue::Field(h, f) => return self.headers(h).first().map(|h| Loc::Field(*h, *f)),
                LValue::Slice(base, _, _) => at = base,
            }
        }
    }

    /// Everything that an expression reads.
    pub(super) fn leaves(&mut self, e: &Expr) -> BTreeSet<Loc> {
        self.lacks_of(e);
        let mut out = BTreeSet::new();
        effects::expr_reads(self.ir, e, &mut |place| match place {
            Place::Var(v) => out.extend([Loc::Var(v)]),
            Place::Field(h, f) => out.extend([Loc::Field(h, f)]),
            Place::Valid(h) => out.extend([Loc::Valid(h)]),
            // How far a stack is filled is in its headers' validity.
            Place::NextIndex(s) => out.extend(self.ir.stacks[s].elements.iter().copied().map(Loc::Valid)),
        });
        out
    }

    /// What an expression reads and a chip cannot give.
    fn lacks_of(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Field(h, _) | ExprKind::IsValid(h) => drop(self.headers(h)),
            ExprKind::VarbitBits(..) | ExprKind::VarbitEq(..) => self.lack("", Fault::Varbit),
            _ => {}
        }
        sub_exprs(e, &mut |sub| self.lacks_of(sub));
    }

    pub(super) fn lack(&mut self, at: &str, fault: Fault) {
        let lack = Lack::of(at, fault);
        if !self.out.lacks.contains(&lack) {
            self.out.lacks.push(lack);
        }
    }
}

/// Width of what a location holds.
pub(crate) fn width(ir: &Ir, l: Loc) -> u32 {
    match l {
        Loc::Var(v) => ir.vars[v].ty.width(),
        Loc::Field(h, f) => ir.header_types[ir.headers[h].ty].fields[f as usize].ty.width(),
        Loc::Valid(_) => 1,
        Loc::Temp(_, w) => w,
    }
}

pub(super) fn width_of(ir: &Ir, l: &LValue) -> u32 {
    match l {
        LValue::Var(v) => ir.vars[*v].ty.width(),
        LValue::Field(HeaderRef::Static(h), f) => width(ir, Loc::Field(*h, *f)),
        LValue::Field(HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _), f) => {
            ir.stacks[*s].elements.first().map_or(0, |h| width(ir, Loc::Field(*h, *f)))
        }
        LValue::Slice(_, hi, lo) => hi - lo + 1,
    }
}
