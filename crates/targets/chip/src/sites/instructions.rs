//! Statements and externs as instructions of one operation each, in levels; gateways; accesses to cells.

use super::locations::{width, width_of};
use super::refused::extreme;
use super::{Cells, Loc, Op, Row, Site, Step, Walker, What};
use crate::lack::Fault;
use p4_ir::walk::{header_exprs, read_vars, stmt_exprs, sub_exprs};
use p4_ir::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Walker<'_> {
    pub(super) fn external(&mut self, e: &Extern, row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) {
        match e {
            Extern::Count { counter, index } => {
                let cells = Cells::Counter(*counter);
                self.cells(cells, index, None, row, path, &self.namer.counter(*counter), first);
            }
            Extern::Meter { meter, index, result } => {
                let cells = Cells::Meter(*meter);
                self.cells(cells, index, Some(result), row, path, &self.namer.meter(*meter), first);
            }
            Extern::RegisterRead { register, index, result } => {
                let cells = Cells::Register(*register);
                let site = self.cells(cells, index, Some(result), row, path, &self.namer.register(*register), first);
                self.out.all[site].programs.insert((*register, "read".to_owned()));
            }
            Extern::RegisterWrite { register, index, value } => {
                let reads = self.operand(value, row);
                let site = self.cells(Cells::Register(*register), index, None, row, path, &self.namer.register(*register), first);
                self.out.all[site].action_reads.extend(reads);
                self.out.all[site].programs.insert((*register, program_text(value, index)));
            }
            // They belong to the table whose action this is, with its memory.
            Extern::DirectCount(_) => {}
            Extern::DirectMeter { result, .. } => {
                if let Some(to) = self.place(result) {
                    self.op(row, BTreeSet::new(), to, None);
                    row.supplied(&[to].into());
                }
            }
            Extern::Hash { result: LValue::Var(v), .. } | Extern::Random { result: LValue::Var(v), .. } if !self.reads.contains_key(v) => {}
            Extern::Hash { result, data, base, max, .. } => {
                let mut reads = BTreeSet::new();
                for d in data {
                    reads.extend(self.operand(d, row));
                }
                // A selector's hash goes by the size of the group.
                let chooses = self.place(result).is_some_and(|to| self.out.handles.contains(&to));
                if !chooses && (base.as_const().is_none() || max.as_const().is_none()) {
                    self.lack(name, Fault::HashRange);
                }
                let bytes = self.bytes(&reads);
                let bits = u64::from(width_of(self.ir, result));
                if let Some(to) = self.place(result) {
                    match result {
                        LValue::Slice(base, hi, lo) if !matches!(**base, LValue::Slice(..)) => {
                            self.part(row, reads, to, (*lo, *hi), Some((bits, bytes)));
                        }
                        _ => {
                            self.op(row, reads, to, Some((bits, bytes)));
                            row.supplies(to);
                        }
                    }
                }
            }
            Extern::Random { result, .. } => {
                // The generator has a way of its own to the instructions.
                if let Some(to) = self.place(result) {
                    self.op(row, BTreeSet::new(), to, Some((0, 0)));
                    row.supplies(to);
                }
            }
            Extern::MarkToDrop => {
                for v in ["egress_spec", "mcast_grp"].iter().filter_map(|n| self.ir.intrinsic.standard.get(*n)) {
                    self.op(row, BTreeSet::new(), Loc::Var(*v), None);
                }
            }
            Extern::Digest { data, .. } => {
                // Its fields travel to the deparser, so they only have to be there.
                for d in data {
                    self.operand(d, row);
                }
                self.out.digests += 1;
            }
            Extern::Truncate(_) => self.lack(name, Fault::Truncate),
            Extern::VerifyChecksum { .. }
            | Extern::UpdateChecksum { .. }
            | Extern::Assert(..)
            | Extern::Log(..)
            | Extern::Replicate { .. }
            | Extern::Stage(_)
            // The packet goes to the next target.
            | Extern::Service { .. } => {}
        }
    }

    /// An access to cells: a site of its own, or part of the table whose action it is in.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn cells(
        &mut self,
        cells: Cells,
        index: &Expr,
        result: Option<&LValue>,
        row: &mut Row,
        path: &[Step],
        label: &str,
        first: &mut Option<usize>,
    ) -> usize {
        let reads = self.index(index, 1, row);
        let writes: BTreeSet<Loc> = result.and_then(|r| self.place(r)).into_iter().collect();
        // An index out of the entry comes with the entry; one out of the packet goes by the hash distribution.
        let in_table = first.filter(|_| reads.iter().all(|l| !row.written.contains_key(l)));
        if let Some(site) = in_table {
            let from_entry = reads.iter().all(|l| self.out.all[site].writes.contains(l));
            let bits = (!from_entry && index.as_const().is_none()).then_some(index.ty.width());
            let bytes = bits.map(|_| self.bytes(&reads));
            let s = &mut self.out.all[site];
            s.cells.push((cells, bits));
            if !from_entry {
                s.hashes.extend(bytes.map(|b| (0, b)));
                s.match_reads.extend(reads);
            }
            row.supplied(&writes);
            writes.into_iter().for_each(|l| s.wrote(l, None));
            return site;
        }
        self.flush(row, path, label, first);
        let bits = index.as_const().is_none().then_some(index.ty.width());
        let said = writes.iter().filter_map(|l| if let Loc::Var(v) = l { Some(*v) } else { None });
        let results = said.filter(|v| self.reads.get(v) == Some(&1)).collect();
        let site = self.site(What::Cells(cells), label.to_owned(), path, reads, BTreeSet::new(), writes);
        self.out.all[site].results = results;
        self.out.all[site].cells.push((cells, bits));
        site
    }

    /// A register that is read, worked on and written in one go, as the first statements of `block`: how many they are.
    pub(super) fn group(&mut self, block: &[Stmt], row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) -> usize {
        let Some(Stmt::Extern(Extern::RegisterRead { register, index, result })) = block.first() else { return 0 };
        let writes_it = |s: &Stmt| {
            let mut found = false;
            deep(s, &mut |s| found |= matches!(s, Stmt::Extern(Extern::RegisterWrite { register: r, .. }) if r == register));
            found
        };
        let Some(last) = block.iter().position(writes_it) else { return 0 };
        let simple = |s: &Stmt| {
            let mut ok = true;
            deep(s, &mut |s| {
                ok &= match s {
                    Stmt::Assign(..) | Stmt::If(..) | Stmt::Labeled(..) | Stmt::Break(_) => true,
                    Stmt::Extern(Extern::RegisterWrite { register: r, index: i, .. }) => r == register && i == index,
                    // The ALU's math unit.
                    Stmt::Extern(Extern::Hash { .. }) => true,
                    _ => false,
                };
            });
            ok
        };
        if !block[1..=last].iter().all(simple) {
            return 0;
        }
        self.refuse_program(*register, &block[..=last]);
        // The program reads and writes at one index.
        let mut uses = 1;
        for s in &block[1..=last] {
            deep(s, &mut |s| uses += usize::from(matches!(s, Stmt::Extern(Extern::RegisterWrite { .. }))));
        }
        let at = self.index(index, uses, row);
        let (mut reads, mut written, mut comparisons) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut here: HashMap<VarId, usize> = HashMap::new();
        written.extend(self.place(result));
        for s in &block[1..=last] {
            deep(s, &mut |s| {
                stmt_exprs(s, &mut |e| {
                    read_vars(e, &mut |v| *here.entry(v).or_default() += 1);
                    let found = self.leaves(e);
                    reads.extend(found.into_iter().filter(|l| !written.contains(l)));
                    compared(e, &mut |e| {
                        comparisons.insert(self.namer.expr(e));
                    });
                });
                if let Stmt::Assign(dst, _) | Stmt::Extern(Extern::Hash { result: dst, .. }) = s {
                    written.extend(self.place(dst));
                }
            });
        }
        reads.retain(|l| !at.contains(l));
        // What only the register's own program reads does not leave its ALU.
        let known = &self.reads;
        let once = |v: &VarId| known.get(v).copied().unwrap_or(0) == here.get(v).copied().unwrap_or(0) + 1;
        let results: BTreeSet<VarId> =
            written.iter().filter_map(|l| if let Loc::Var(v) = l { Some(*v) } else { None }).filter(once).collect();
        written.retain(|l| !matches!(l, Loc::Var(v) if here.get(v) == known.get(v) && here.contains_key(v)));
        let cells = Cells::Register(*register);
        let fresh = at.iter().chain(&reads).all(|l| !row.written.contains_key(l));
        let (site, bits) = match first.filter(|_| fresh) {
            Some(site) => {
                let from_entry = at.iter().all(|l| self.out.all[site].writes.contains(l));
                row.supplied(&written);
                let bits = (!from_entry && index.as_const().is_none()).then_some(index.ty.width());
                let bytes = bits.map(|_| self.bytes(&at));
                let s = &mut self.out.all[site];
                if !from_entry {
                    s.hashes.extend(bytes.map(|b| (0, b)));
                    s.match_reads.extend(at);
                }
                s.action_reads.extend(reads);
                written.into_iter().for_each(|l| s.wrote(l, None));
                (site, bits)
            }
            None => {
                self.flush(row, path, name, first);
                let label = self.namer.register(*register);
                let site = self.site(What::Cells(cells), label, path, at, reads, written);
                (site, index.as_const().is_none().then_some(index.ty.width()))
            }
        };
        let s = &mut self.out.all[site];
        s.results = results;
        s.cells.push((cells, bits));
        s.comparisons = s.comparisons.max(comparisons.len() as u64);
        s.programs.insert((*register, program_text(&&block[..=last], index)));
        last + 1
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Instructions

    pub(super) fn assign(&mut self, dst: &LValue, value: &Expr, row: &mut Row) {
        if let LValue::Var(v) = dst {
            self.conditions.remove(v);
            if !self.out.handles.contains(&Loc::Var(*v)) {
                self.deciders.remove(v);
            } else if value.as_const().is_some_and(|c| c.value() == 0) {
                // An entry that points to no member is no instruction.
                return;
            }
        }
        // Metadata starts as zero: to set what nobody has written to zero is nothing.
        if let (LValue::Var(v), true) = (dst, value.as_const().is_some_and(|c| c.value() == 0)) {
            let to = Loc::Var(*v);
            let fresh = !self.parsed.contains(v) && !row.written.contains_key(&to) && !self.out.all.iter().any(|s| s.writes.contains(&to));
            if fresh {
                return;
            }
        }
        let Some(to) = self.place(dst) else { return };
        self.refuse_assignment((!matches!(dst, LValue::Slice(..))).then_some(to), value, row);
        if matches!(to, Loc::Field(h, f) if self.aliased.contains(&(h, f))) {
            return;
        }
        // Of a header that no packet has, and read by nobody.
        if matches!(to, Loc::Field(h, f) if self.never.contains(&h) && !self.read_fields.contains(&(h, f))) {
            return;
        }
        let whole = !matches!(dst, LValue::Slice(..));
        if whole {
            row.overwritten(to, value, self.ir);
        }
        if self.handed_on(value, dst, to, row) {
            return;
        }
        if whole && exclusive_ors(value).is_some_and(|n| n > 1) {
            // Any number of operands: the hash unit does nothing else.
            let reads = self.leaves(value);
            let bytes = self.bytes(&reads);
            self.op(row, reads, to, Some((u64::from(width_of(self.ir, dst)), bytes)));
            row.supplies(to);
            return;
        }
        let reads = match is_condition(value) {
            true => self.outcome(value, dst, row),
            false => self.computed(value, row),
        };
        match dst {
            LValue::Slice(base, hi, lo) if !matches!(**base, LValue::Slice(..)) => self.part(row, reads, to, (*lo, *hi), None),
            _ => {
                self.op(row, reads, to, None);
                if let Some(op) = row.ops.last_mut() {
                    op.constant = value.as_const().map(|c| (c.value(), c.width()));
                    op.picked = exclusive_ors(value).is_some() && value.as_const().is_none();
                    op.moved = matches!(value.kind, ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Field(..));
                }
                row.copied(to, value);
            }
        }
    }

    /// What was computed only to be copied is computed where the copy is.
    fn handed_on(&mut self, value: &Expr, dst: &LValue, to: Loc, row: &mut Row) -> bool {
        let Some(from) = copied(value).filter(|v| self.reads.get(v) == Some(&1) && Loc::Var(*v) != to) else { return false };
        if matches!(dst, LValue::Slice(..)) || self.parsed.contains(&from) {
            return false;
        }
        match row.taken(Loc::Var(from)) {
            Some(op) => {
                let hashed = op.hash.is_some();
                self.op(row, op.reads, to, op.hash);
                if hashed {
                    row.supplies(to);
                }
                true
            }
            None => false,
        }
    }

    /// The instruction behind an access to cells that takes what they said, and nobody else does: it runs in their stage.
    fn takes_result(&self, value: &Expr, row: &Row, path: &[Step]) -> Option<(VarId, BTreeSet<Loc>)> {
        let site = self.out.all.last().filter(|s| matches!(s.what, What::Cells(_)) && s.path == path && row.ops.is_empty())?;
        let sides: Vec<&Expr> = match &value.kind {
            ExprKind::Binary(op, a, b) if !matches!(op, BinOp::LAnd | BinOp::LOr) => vec![a, b],
            _ => vec![value],
        };
        let said = |e: &Expr| copied(e).filter(|v| site.results.contains(v));
        let v = sides.iter().copied().find_map(said)?;
        let plain = |e: &&Expr| copied(e).is_some() || e.as_const().is_some() || matches!(e.kind, ExprKind::Field(..));
        sides.iter().all(plain).then(|| {
            let mut others = BTreeSet::new();
            for e in sides {
                p4_analysis::effects::expr_reads(self.ir, e, &mut |place| match place {
                    p4_analysis::effects::Place::Var(other) if other != v => others.extend([Loc::Var(other)]),
                    p4_analysis::effects::Place::Field(h, f) => others.extend([Loc::Field(h, f)]),
                    _ => {}
                });
            }
            (v, others)
        })
    }

    pub(super) fn beside_cells(&mut self, dst: &LValue, value: &Expr, row: &Row, path: &[Step]) -> bool {
        let part = match dst {
            LValue::Slice(base, ..) if matches!(**base, LValue::Slice(..)) => return false,
            LValue::Slice(_, high, low) => Some((*low, *high)),
            _ => None,
        };
        if is_condition(value) {
            return false;
        }
        let Some((v, others)) = self.takes_result(value, row, path) else { return false };
        let (Some(to), Some(site)) = (self.place(dst), self.out.all.len().checked_sub(1)) else { return false };
        let s = &mut self.out.all[site];
        s.writes.remove(&Loc::Var(v));
        s.wrote(to, part);
        s.action_reads.extend(others);
        true
    }

    /// What is read to keep the outcome of a condition. A condition on the variable may be on what this one is on.
    fn outcome(&mut self, value: &Expr, dst: &LValue, row: &mut Row) -> BTreeSet<Loc> {
        let mut gate = Gate::default();
        self.gate(value, row, &mut gate);
        let reads = gate.reads.clone();
        if let LValue::Var(v) = dst {
            self.conditions.insert(*v, (gate, self.out.all.len()));
        }
        reads
    }

    /// The condition that a variable keeps the outcome of, if nothing that it is on has been written since.
    fn kept(&self, v: VarId, row: &Row) -> Option<&Gate> {
        let (gate, from) = self.conditions.get(&v)?;
        let stays = |l: &Loc| !row.written.contains_key(l) && !self.out.all[*from..].iter().any(|s| s.writes.contains(l));
        gate.reads.iter().all(stays).then_some(gate)
    }

    /// What an index reads, which is used so often. One that is the hash of something goes from the hash to the cells, and is no field; and so are
    /// bits that are picked from fields, for which the hash unit does the same.
    fn index(&mut self, index: &Expr, uses: usize, row: &mut Row) -> BTreeSet<Loc> {
        let hash = copied(index).and_then(|v| {
            let at = row.ops.iter().rposition(|o| o.writes == Loc::Var(v))?;
            let op = &row.ops[at];
            let hashed = op.hash.is_some_and(|(bits, _)| bits > 0);
            let fresh = || op.reads.iter().all(|l| row.ops[..at].iter().all(|before| before.writes != *l));
            (op.level == 1 && (hashed || (op.picked && fresh()))).then(|| (v, op.reads.clone()))
        });
        match hash {
            Some((v, reads)) => {
                if self.reads.get(&v) == Some(&uses) {
                    row.taken(Loc::Var(v));
                }
                reads
            }
            None => self.operand(index, row),
        }
    }

    /// Bytes of the crossbar for these.
    fn bytes(&self, reads: &BTreeSet<Loc>) -> u64 {
        reads.iter().map(|l| u64::from(width(self.ir, *l)).div_ceil(8)).sum()
    }

    /// A part of a place is written: other parts of it can be written beside it.
    fn part(&mut self, row: &mut Row, reads: BTreeSet<Loc>, to: Loc, (lo, hi): (u32, u32), hash: Option<(u64, u64)>) {
        let before = row.written.get(&to).copied();
        let mut parts = row.parts.remove(&to).unwrap_or_else(|| before.map(|level| (0, u32::MAX, level)).into_iter().collect());
        let below = parts.iter().filter(|(low, high, _)| *low <= hi && lo <= *high).map(|(.., level)| *level).max();
        match below {
            _ if reads.contains(&to) => {}
            Some(level) => drop(row.written.insert(to, level)),
            None => drop(row.written.remove(&to)),
        }
        self.op(row, reads, to, hash);
        row.ops.iter_mut().last().into_iter().for_each(|op| op.part = Some((lo, hi)));
        let level = row.written.get(&to).copied().unwrap_or(1);
        parts.push((lo, hi, level));
        row.parts.insert(to, parts);
        row.written.insert(to, level.max(before.unwrap_or(1)));
    }

    /// What an instruction that computes `e` reads: one operation deep; what is below goes to temporaries.
    pub(super) fn computed(&mut self, e: &Expr, row: &mut Row) -> BTreeSet<Loc> {
        match &e.kind {
            ExprKind::Cast(a) | ExprKind::Slice(a, _, _) | ExprKind::Unary(_, a) => self.computed(a, row),
            // Constants that are added one after the other are one.
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) if b.as_const().is_some() && adds_constant(a) => self.computed(a, row),
            ExprKind::Binary(op, a, b) => {
                self.supported(*op, e, b);
                let mut reads = self.operand(a, row);
                reads.extend(self.operand(b, row));
                reads
            }
            ExprKind::Concat(a, b) => {
                let mut reads = self.operand(a, row);
                reads.extend(self.operand(b, row));
                reads
            }
            ExprKind::Mux(c, a, b) => {
                // `max` and `min` are instructions: nothing is compared before.
                let mut reads = if extreme(c, a, b) { BTreeSet::new() } else { self.operand(c, row) };
                reads.extend(self.operand(a, row));
                reads.extend(self.operand(b, row));
                reads
            }
            _ => self.leaves(e),
        }
    }

    /// What an instruction reads that takes `e` as an operand: a field, or a temporary that holds the result.
    pub(super) fn operand(&mut self, e: &Expr, row: &mut Row) -> BTreeSet<Loc> {
        match &e.kind {
            ExprKind::Cast(a) | ExprKind::Slice(a, _, _) | ExprKind::Unary(UnOp::BitNot | UnOp::Not, a) => self.operand(a, row),
            // Fields side by side, as a key has them.
            ExprKind::Concat(a, b) => {
                let mut reads = self.operand(a, row);
                reads.extend(self.operand(b, row));
                reads
            }
            ExprKind::Binary(..) | ExprKind::Mux(..) | ExprKind::Unary(UnOp::Neg, _) => {
                let reads = self.computed(e, row);
                self.temps += 1;
                let temp = Loc::Temp(self.temps, e.ty.width());
                self.op(row, reads, temp, None);
                [temp].into()
            }
            _ => self.leaves(e),
        }
    }

    pub(super) fn supported(&mut self, op: BinOp, e: &Expr, by: &Expr) {
        let constant = by.as_const();
        let power = constant.is_some_and(|c| c.value().is_power_of_two());
        let fault = match op {
            BinOp::Mul | BinOp::Div | BinOp::Mod if !power => Fault::Arithmetic(self.namer.expr(e)),
            BinOp::Shl | BinOp::Shr if constant.is_none() => Fault::Shift(self.namer.expr(e)),
            BinOp::Add | BinOp::Sub | BinOp::AddSat | BinOp::SubSat if e.ty.width() > 64 => Fault::Wide(self.namer.expr(e)),
            _ => return,
        };
        self.lack("", fault);
    }

    /// What a gateway looks at.
    pub(super) fn gate(&mut self, c: &Expr, row: &mut Row, gate: &mut Gate) {
        match &c.kind {
            ExprKind::Binary(BinOp::LAnd, a, b) => {
                self.gate(a, row, gate);
                self.gate(b, row, gate);
            }
            ExprKind::Binary(BinOp::LOr, a, b) => {
                gate.rows += 1;
                self.alternatives(a, b, row, gate);
            }
            ExprKind::Unary(UnOp::Not, inner) => match &inner.kind {
                ExprKind::Binary(BinOp::LAnd, a, b) => self.alternatives(a, b, row, gate),
                _ => self.gate(inner, row, gate),
            },
            ExprKind::Cast(a) if is_condition(a) => self.gate(a, row, gate),
            ExprKind::Var(v) if self.kept(*v, row).is_some() => {
                if let Some(kept) = self.kept(*v, row) {
                    gate.rows += kept.rows;
                    gate.ranges += kept.ranges;
                    gate.pairs += kept.pairs;
                    gate.together.and(&kept.together);
                    kept.reads.iter().for_each(|l| gate.read(*l, kept.bits.get(l).copied().unwrap_or(1)));
                }
            }
            ExprKind::Binary(op @ (BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge), a, b) => {
                let variable = a.as_const().is_none() && b.as_const().is_none();
                if variable && !matches!(op, BinOp::Eq | BinOp::Ne) {
                    // Which of two is larger is the sign of their difference, computed a stage before.
                    let mut reads = self.operand(a, row);
                    reads.extend(self.operand(b, row));
                    self.temps += 1;
                    let temp = Loc::Temp(self.temps, 1);
                    self.op(row, reads, temp, None);
                    gate.read(temp, 1);
                    return;
                }
                if variable {
                    gate.pairs += u64::from(a.ty.width()).div_ceil(8);
                    gate.together.pairs += u64::from(a.ty.width()).div_ceil(8);
                }
                match a.as_const().map(|c| (c, b, true)).or(b.as_const().map(|c| (c, a, false))) {
                    Some((_, field, _)) if matches!(op, BinOp::Eq | BinOp::Ne) => {
                        let bits = match &field.kind {
                            ExprKind::Binary(BinOp::And, x, y) => {
                                y.as_const().or(x.as_const()).map_or(field.ty.width(), |mask| mask.value().count_ones())
                            }
                            _ => field.ty.width(),
                        };
                        gate.together.equals(self.leaves(field), bits);
                    }
                    Some((c, field, swapped)) => {
                        // As a bound from which on it holds, or no longer does: above a power of two only high bits count.
                        let next = matches!((op, swapped), (BinOp::Gt | BinOp::Le, false) | (BinOp::Lt | BinOp::Ge, true));
                        let bound = c.value().saturating_add(u128::from(next));
                        let bits = field.ty.width().saturating_sub(bound.trailing_zeros().min(128));
                        match bound.is_power_of_two() || bound == 0 || matches!(field.ty, Ty::Int(_)) {
                            true => gate.together.equals(self.leaves(field), bits),
                            false => gate.together.order += u64::from(bits),
                        }
                    }
                    None => {}
                }
                if !matches!(op, BinOp::Eq | BinOp::Ne) {
                    gate.ranges += u64::from(if a.as_const().is_none() { a } else { b }.ty.width());
                }
                for side in [a, b] {
                    self.masked(side, row, gate);
                }
            }
            _ => self.masked(c, row, gate),
        }
    }

    /// Either of two: the larger one must have room.
    fn alternatives(&mut self, a: &Expr, b: &Expr, row: &mut Row, gate: &mut Gate) {
        let mut before = std::mem::take(&mut gate.together);
        self.gate(a, row, gate);
        let left = std::mem::take(&mut gate.together);
        self.gate(b, row, gate);
        let right = std::mem::take(&mut gate.together);
        before.and(if left.bits() > right.bits() { &left } else { &right });
        gate.together = before;
    }

    /// A side of a comparison: a field, some of its bits, or a temporary.
    pub(super) fn masked(&mut self, e: &Expr, row: &mut Row, gate: &mut Gate) {
        let inner = match &e.kind {
            ExprKind::Binary(BinOp::And, a, b) if b.as_const().is_some() => a,
            ExprKind::Binary(BinOp::And, a, b) if a.as_const().is_some() => b,
            _ => e,
        };
        let bits = inner.ty.width();
        for l in self.operand(inner, row) {
            gate.read(l, bits.min(width(self.ir, l)));
        }
    }

    pub(super) fn op(&mut self, row: &mut Row, reads: BTreeSet<Loc>, writes: Loc, hash: Option<(u64, u64)>) {
        let reads: BTreeSet<Loc> = reads.into_iter().map(|l| row.copies.get(&l).copied().unwrap_or(l)).collect();
        row.changed(writes);
        let after = reads.iter().filter_map(|l| row.written.get(l)).max().map_or(1, |l| l + 1);
        let over = row.written.get(&writes).map_or(1, |l| l + 1);
        let beside = row.read.get(&writes).copied().unwrap_or(1);
        let level = after.max(over).max(beside);
        for l in &reads {
            let at = row.read.entry(*l).or_insert(level);
            *at = level.max(*at);
        }
        row.written.insert(writes, level);
        row.parts.remove(&writes);
        row.ops.push(Op { level, reads, writes, hash, part: None, constant: None, picked: false, moved: false });
        self.out.operations += 1;
    }

    /// Ends a straight row: a site for each level. The first one belongs to the table whose action it begins.
    pub(super) fn flush(&mut self, row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) {
        let row = std::mem::take(row);
        let table = first.take();
        let several = row.ops.iter().any(|op| op.level > 1);
        let mut steps: BTreeMap<(usize, usize, usize), Vec<Op>> = BTreeMap::new();
        let alone = self.alone(&row.ops);
        for (i, (op, group)) in row.ops.into_iter().zip(alone).enumerate() {
            let of_table = table.is_some() && op.level == 1;
            let group = if of_table { 0 } else { group };
            // A stage has few units for hashes: they need not lie in one.
            let hash = if !of_table && op.hash.is_some_and(|(bits, _)| bits > 0) { i + 1 } else { 0 };
            steps.entry((op.level, group, hash)).or_default().push(op);
        }
        // What a run of statements does in one stage is one action, with one row of data.
        let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
        for ((level, ..), ops) in steps {
            let site = match table.filter(|_| level == 1) {
                Some(site) => site,
                None => {
                    let what = match several {
                        true => format!("{name} (step {level})"),
                        false => name.to_owned(),
                    };
                    self.site(What::Level, what, path, BTreeSet::new(), BTreeSet::new(), BTreeSet::new())
                }
            };
            let with_data = *levels.entry(level).or_insert(site);
            self.out.all[with_data].beside_hash |= ops.iter().any(|op| op.hash.is_some_and(|(bits, _)| bits > 0));
            self.out.all[with_data].constants.extend(ops.iter().filter_map(|op| op.constant));
            let s = &mut self.out.all[site];
            for op in ops {
                match op.hash {
                    // What is hashed comes by the crossbar, before any action.
                    Some(h) => {
                        s.hashes.push(h);
                        s.match_reads.extend(op.reads);
                    }
                    None => s.action_reads.extend(op.reads),
                }
                s.wrote(op.writes, op.part);
                if op.moved {
                    s.moved.insert(op.writes)
                } else {
                    s.computed.insert(op.writes)
                };
            }
        }
    }

    /// What has nothing to do with each other in a straight row need not wait for each other: a number for each operation, the same where one
    /// uses what another writes, or where all wait for the same sites before.
    fn alone(&self, ops: &[Op]) -> Vec<usize> {
        let written: BTreeSet<Loc> = ops.iter().map(|op| op.writes).collect();
        let mut group: Vec<usize> = (0..ops.len()).collect();
        let mut last: HashMap<Loc, usize> = HashMap::new();
        for (i, op) in ops.iter().enumerate() {
            for l in op.reads.iter().filter(|l| written.contains(l)).chain([&op.writes]) {
                let to = *last.entry(*l).or_insert(i);
                let (keep, lose) = (group[i].min(group[to]), group[i].max(group[to]));
                group.iter_mut().filter(|g| **g == lose).for_each(|g| *g = keep);
            }
        }
        if group.iter().all(|g| *g == 0) {
            return group;
        }
        let mut waits: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut home: HashMap<usize, usize> = HashMap::new();
        for g in group.iter().copied().collect::<BTreeSet<usize>>() {
            let own = || ops.iter().zip(&group).filter(|(_, of)| **of == g).map(|(op, _)| op);
            let reads: BTreeSet<Loc> = own().flat_map(|op| op.reads.iter().copied()).collect();
            let writes: BTreeSet<Loc> = own().map(|op| op.writes).collect();
            let meets = |s: &Site| {
                let seen = |l: &Loc| s.match_reads.contains(l) || s.action_reads.contains(l) || s.writes.contains(l);
                writes.iter().any(seen) || reads.iter().any(|l| s.writes.contains(l))
            };
            let before = (0..self.out.all.len()).filter(|i| meets(&self.out.all[*i])).collect();
            let next = waits.len();
            home.insert(g, *waits.entry(before).or_insert(next));
        }
        group.iter().map(|g| home[g]).collect()
    }

    pub(super) fn site(&mut self, what: What, name: String, path: &[Step], m: BTreeSet<Loc>, a: BTreeSet<Loc>, w: BTreeSet<Loc>) -> usize {
        let mut control: BTreeSet<usize> = path.iter().map(|s| s.site).collect();
        control.extend(self.guards.iter().map(|(s, _)| *s));
        let site = Site {
            what,
            name,
            path: path.to_vec(),
            control,
            match_reads: m,
            action_reads: a,
            writes: w,
            parts: BTreeMap::new(),
            moved: BTreeSet::new(),
            computed: BTreeSet::new(),
            by_action: BTreeMap::new(),
            on_hit: None,
            on_miss: None,
            dead: Vec::new(),
            hashes: Vec::new(),
            cells: Vec::new(),
            results: BTreeSet::new(),
            comparisons: 0,
            constants: Vec::new(),
            beside_hash: false,
            compared: (0, 0, 0),
            programs: BTreeSet::new(),
        };
        self.out.all.push(site);
        self.out.all.len() - 1
    }
}

impl Row {
    /// What cells say to the action that they are reached from: its instructions take it from the bus, as they take the entry's data.
    fn supplied(&mut self, written: &BTreeSet<Loc>) {
        for l in written {
            self.changed(*l);
            self.written.insert(*l, 0);
            self.parts.remove(l);
        }
    }

    /// What is read of a copy is read from where it was copied, as long as both stay: what is copied and worked on is one step.
    fn copied(&mut self, to: Loc, value: &Expr) {
        let from = match &value.kind {
            ExprKind::Var(v) => Loc::Var(*v),
            ExprKind::Field(HeaderRef::Static(h), f) => Loc::Field(*h, *f),
            _ => return,
        };
        let from = self.copies.get(&from).copied().unwrap_or(from);
        if from != to {
            self.copies.insert(to, from);
        }
    }

    /// A place gets another value.
    fn changed(&mut self, l: Loc) {
        self.copies.retain(|to, from| *to != l && *from != l);
    }

    /// The same of a hash, which is computed before the instructions of its stage.
    fn supplies(&mut self, l: Loc) {
        if let Some(level) = self.written.get_mut(&l) {
            *level -= 1;
        }
    }

    /// What is written again before anything has read it was no instruction.
    fn overwritten(&mut self, l: Loc, by: &Expr, ir: &Ir) {
        let mut read = false;
        p4_analysis::effects::expr_reads(ir, by, &mut |place| {
            read |= match place {
                p4_analysis::effects::Place::Var(v) => l == Loc::Var(v),
                p4_analysis::effects::Place::Field(h, f) => l == Loc::Field(h, f),
                _ => false,
            }
        });
        if read {
            return;
        }
        let mut at = (0..self.ops.len()).filter(|i| self.ops[*i].writes == l);
        if let (Some(one), None, false) = (at.next(), at.next(), self.parts.contains_key(&l))
            && !self.ops[one + 1..].iter().any(|op| op.reads.contains(&l))
        {
            self.ops.remove(one);
            self.written.remove(&l);
        }
    }

    /// Takes out the one operation that writes this, if no part of it is written apart.
    fn taken(&mut self, l: Loc) -> Option<Op> {
        let mut at = (0..self.ops.len()).filter(|i| self.ops[*i].writes == l);
        let (Some(one), None, false) = (at.next(), at.next(), self.parts.contains_key(&l)) else { return None };
        self.written.remove(&l);
        Some(self.ops.remove(one))
    }
}

/// What a condition looks at.
#[derive(Default)]
pub(super) struct Gate {
    pub reads: BTreeSet<Loc>,
    pub bits: HashMap<Loc, u32>,
    pub rows: u64,
    /// Bits that are compared for more or less than a constant: they come through the hash.
    pub ranges: u64,
    /// Bytes that are compared with other fields: the two lie one above the other.
    pub pairs: u64,
    /// What must be in one gateway.
    together: Together,
}

/// Comparisons that hold at once: alternatives may be in gateways of their own.
#[derive(Clone, Default)]
struct Together {
    pairs: u64,
    /// Bits of each place that are compared with constants for equality.
    equal: HashMap<Loc, u32>,
    /// Bits that are compared for more or less.
    order: u64,
}

impl Together {
    fn amounts(&self) -> (u64, u64, u64) {
        (self.pairs, self.equal.values().map(|b| u64::from(*b)).sum(), self.order)
    }

    fn bits(&self) -> u64 {
        let (pairs, equal, order) = self.amounts();
        pairs * 8 + equal + order
    }

    fn and(&mut self, other: &Together) {
        self.pairs += other.pairs;
        self.order += other.order;
        other.equal.iter().for_each(|(l, b)| self.equals([*l], *b));
    }

    /// A side of a comparison with a constant, of which so many bits count.
    fn equals(&mut self, places: impl IntoIterator<Item = Loc>, bits: u32) {
        for l in places {
            let most = self.equal.entry(l).or_insert(0);
            *most = bits.max(*most);
        }
    }
}

impl Gate {
    pub(super) fn read(&mut self, l: Loc, bits: u32) {
        self.reads.insert(l);
        let most = self.bits.entry(l).or_insert(0);
        *most = bits.max(*most);
    }

    /// Bytes of pairs, bits for equality and bits for order that are in one gateway at least.
    pub(super) fn compared(&self) -> (u64, u64, u64) {
        self.together.amounts()
    }

    /// Bytes of containers: a field has its own, and eight headers share one that says whether they are there.
    pub(super) fn bytes(&self) -> u64 {
        let (valid, fields): (Vec<&Loc>, Vec<&Loc>) = self.reads.iter().partition(|l| matches!(l, Loc::Valid(_)));
        let field = |l: &Loc| u64::from(self.bits.get(l).copied().unwrap_or(1)).div_ceil(8);
        (valid.len() as u64).div_ceil(8) + fields.into_iter().map(field).sum::<u64>()
    }
}

/// How many exclusive ors this is made of, if of nothing else but fields, their bits and constants.
pub(super) fn exclusive_ors(e: &Expr) -> Option<usize> {
    match &e.kind {
        ExprKind::Binary(BinOp::Xor, a, b) => Some(1 + exclusive_ors(a)? + exclusive_ors(b)?),
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) => exclusive_ors(a),
        ExprKind::Concat(a, b) => Some(exclusive_ors(a)? + exclusive_ors(b)?),
        ExprKind::Var(_) | ExprKind::Field(..) | ExprKind::Const(_) => Some(0),
        _ => None,
    }
}

/// Whether this is something and a constant, added.
fn adds_constant(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Binary(BinOp::Add | BinOp::Sub, _, b) if b.as_const().is_some())
}

/// Whether this is made of comparisons: to keep its outcome is to branch on it.
fn is_condition(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary(BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, ..) => true,
        ExprKind::Binary(BinOp::LAnd | BinOp::LOr, a, b) => is_condition(a) || is_condition(b),
        ExprKind::Unary(UnOp::Not, a) | ExprKind::Cast(a) => is_condition(a),
        _ => false,
    }
}

/// The variable of which an expression is a copy, or some of its bits.
fn copied(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(v) => Some(*v),
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) => copied(a),
        _ => None,
    }
}

/// What a register's ALU is told to do: the same text for the same, whatever its variables are called and wherever its index comes from.
fn program_text(what: &dyn std::fmt::Debug, index: &Expr) -> String {
    let text = format!("{what:?}").replace(&format!("{index:?}"), "index");
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let renamed = words.map(|word| {
        let (name, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
        let variable = name.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        let next = numbers.len();
        match variable {
            true => format!("v{}{end}", numbers.entry(name).or_insert(next)),
            false => word.to_owned(),
        }
    });
    renamed.collect()
}

/// A statement and all inside it.
pub(super) fn deep(s: &Stmt, f: &mut dyn FnMut(&Stmt)) {
    f(s);
    p4_ir::walk::stmt_blocks(s, &mut |b| b.iter().for_each(|s| deep(s, f)));
}

/// The comparisons in an expression.
fn compared(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    if let ExprKind::Binary(BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, ..) = e.kind {
        f(e);
    }
    sub_exprs(e, &mut |sub| compared(sub, f));
    if let ExprKind::Field(h, _) = &e.kind {
        header_exprs(h, &mut |sub| compared(sub, f));
    }
}
