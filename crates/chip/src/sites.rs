//! What does a program ask of the stages? Its controls as *sites*: places where something happens in one clock, with what
//! each reads and writes, and when it is reached.
//!
//! A straight row of assignments becomes levels: what reads what another of them writes comes a level, and so a stage, later.
//! Nested arithmetic is the same, through temporaries: an instruction does one operation. A condition becomes a gateway.
//! What an action does behind its first level becomes sites of their own behind the table.

use crate::lack::{Fault, Lack};
use p4_ir::walk::{header_exprs, stmt_exprs, sub_exprs};
use p4_ir::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most sites that are looked at: dependencies are found pair by pair.
const MOST_SITES: usize = 6000;

/// A place that holds a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Loc {
    Var(VarId),
    Field(HeaderId, u32),
    Valid(HeaderId),
    /// Between two operations of one expression, with its width.
    Temp(u32, u32),
}

/// Cells that live in one stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Cells {
    Counter(CounterId),
    Meter(MeterId),
    Register(RegisterId),
}

/// What a site is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Table(TableId),
    Gateway {
        units: u64,
    },
    /// Instructions of one level.
    Level,
    Cells(Cells),
}

/// Who decides whether a site is reached: a site, by a condition, its actions or its hit, and the branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Step {
    pub site: usize,
    pub by: By,
    pub branch: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum By {
    Condition,
    /// The table runs this action.
    Action,
    /// A case of the actions that the table may have run.
    Case,
    Hit,
}

/// A place where something happens.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub what: What,
    pub name: String,
    /// What has been decided when it is reached.
    pub path: Vec<Step>,
    /// Sites whose outcome decides whether it is reached.
    pub control: BTreeSet<usize>,
    pub match_reads: BTreeSet<Loc>,
    pub action_reads: BTreeSet<Loc>,
    pub writes: BTreeSet<Loc>,
    /// Sites in these rows are not reached after this one.
    pub dead: Vec<(usize, usize)>,
    /// Bits that a hash is computed to, and bytes that it is computed from.
    pub hashes: Vec<(u64, u64)>,
    /// Cells that the site reaches: with an index from the packet, which takes hash distribution, or not.
    pub cells: Vec<(Cells, Option<u32>)>,
    /// What a register's ALU is told: comparisons.
    pub comparisons: u64,
}

/// All sites of one direction, in program order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    pub all: Vec<Site>,
    /// What no chip of this kind does.
    pub lacks: Vec<Lack>,
    pub digests: u64,
    /// Assignments and computations.
    pub operations: u64,
}

/// The sites of ingress and egress.
pub(crate) fn sites(ir: &Ir) -> Sites {
    let never = never_valid(ir);
    let mut w = Walker { ir, never, namer: Namer::new(ir), out: Sites::default(), temps: 0, guards: Vec::new(), deciders: HashMap::new() };
    for (name, block) in [("ingress", &ir.ingress), ("egress", &ir.egress)] {
        w.guards.clear();
        let mut path = Vec::new();
        let flow = w.block(block, &mut path, name, None);
        // `exit` of ingress does not keep egress from running.
        let end = w.out.all.len();
        w.close(&flow, end);
    }
    w.entry_data();
    w.out
}

/// How a block can be left before its end.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Whether its end can be reached.
    falls: bool,
    /// Rows of sites that end in a break out of a label or, without one, in exit.
    leaves: Vec<(Option<LabelId>, usize, usize)>,
}

/// An instruction of a straight row.
struct Op {
    level: usize,
    reads: BTreeSet<Loc>,
    writes: Loc,
    hash: Option<(u64, u64)>,
}

/// A straight row of instructions.
#[derive(Default)]
struct Row {
    ops: Vec<Op>,
    written: HashMap<Loc, usize>,
    read: HashMap<Loc, usize>,
}

struct Walker<'a> {
    ir: &'a Ir,
    /// Headers that no packet has: what asks for them is decided.
    never: BTreeSet<HeaderId>,
    namer: Namer<'a>,
    out: Sites,
    temps: u32,
    /// Sites that may have ended the control, with the label that they leave.
    guards: Vec<(usize, Option<LabelId>)>,
    /// Variables that say whether a table hit, or which action it ran.
    deciders: HashMap<VarId, (usize, By)>,
}

impl Walker<'_> {
    /// One block. `table`: the site of the table whose action this is: its first level belongs to the table.
    fn block(&mut self, block: &[Stmt], path: &mut Vec<Step>, name: &str, table: Option<usize>) -> Flow {
        let mut flow = Flow { falls: true, leaves: Vec::new() };
        let mut row = Row::default();
        let mut first = table;
        let mut i = 0;
        while i < block.len() && flow.falls {
            if self.out.all.len() > MOST_SITES {
                return flow;
            }
            let taken = self.group(&block[i..], &mut row, path, name, &mut first);
            if taken > 0 {
                i += taken;
                continue;
            }
            self.stmt(&block[i], &mut row, path, name, &mut first, &mut flow);
            i += 1;
        }
        self.flush(&mut row, path, name, &mut first);
        flow
    }

    fn stmt(&mut self, s: &Stmt, row: &mut Row, path: &mut Vec<Step>, name: &str, first: &mut Option<usize>, flow: &mut Flow) {
        match s {
            Stmt::Assign(dst, value) => self.assign(dst, value, row),
            Stmt::SetValid(h, _) => {
                for id in self.headers(h) {
                    self.op(row, BTreeSet::new(), Loc::Valid(id), None);
                }
            }
            Stmt::CopyHeader { dst, src } => {
                let (to, from) = (self.headers(dst), self.headers(src));
                for (to, from) in to.iter().zip(&from) {
                    self.copy(*to, *from, row);
                }
            }
            Stmt::CopyStack { dst, src } => {
                let (to, from) = (self.ir.stacks[*dst].elements.clone(), self.ir.stacks[*src].elements.clone());
                for (to, from) in to.into_iter().zip(from) {
                    self.copy(to, from, row);
                }
            }
            Stmt::Push(stack, _) | Stmt::Pop(stack, _) => {
                let elements = self.ir.stacks[*stack].elements.clone();
                for pair in elements.windows(2) {
                    self.copy(pair[0], pair[1], row);
                }
            }
            Stmt::CopyVarbit { .. } => self.lack(name, Fault::Varbit),
            Stmt::If(c, a, b) if self.known(c).is_some() => {
                let taken = if self.known(c) == Some(true) { a } else { b };
                self.flush(row, path, name, first);
                let inner = self.block(taken, path, name, None);
                flow.leaves.extend(inner.leaves);
                flow.falls = inner.falls;
            }
            Stmt::If(c, a, b) => self.condition(c, a, b, row, path, name, first, flow),
            Stmt::Switch { on, cases, default } => {
                let decider = match on.kind {
                    ExprKind::Var(v) => self.deciders.get(&v).copied().filter(|(_, by)| *by == By::Case),
                    _ => None,
                };
                let (site, by) = match decider {
                    Some(d) => {
                        self.flush(row, path, name, first);
                        d
                    }
                    None => {
                        let reads = self.operand(on, row);
                        self.flush(row, path, name, first);
                        let units = (cases.len() as u64).div_ceil(4).max(1);
                        let what = What::Gateway { units };
                        let label = format!("switch ({})", short(&self.namer.expr(on)));
                        (self.site(what, label, path, reads, BTreeSet::new(), BTreeSet::new()), By::Condition)
                    }
                };
                let mut branches: Vec<(u32, &[Stmt])> = Vec::new();
                for (n, (_, body)) in cases.iter().enumerate() {
                    branches.push((n as u32, body));
                }
                branches.push((u32::MAX, default));
                self.branches(site, by, &branches, path, name, flow);
            }
            Stmt::Labeled(label, body) => {
                self.flush(row, path, name, first);
                let inner = self.block(body, path, name, None);
                let end = self.out.all.len();
                let mut leaves = Vec::new();
                let mut falls = inner.falls;
                for (to, a, b) in inner.leaves {
                    if to == Some(*label) {
                        falls = true;
                        for site in &mut self.out.all[a..b] {
                            site.dead.push((b, end));
                        }
                    } else {
                        leaves.push((to, a, b));
                    }
                }
                self.guards.retain(|(_, to)| *to != Some(*label));
                flow.leaves.extend(leaves);
                flow.falls = falls;
            }
            Stmt::Break(label) => {
                self.flush(row, path, name, first);
                self.leave(Some(*label), path, flow);
            }
            Stmt::Exit => {
                self.flush(row, path, name, first);
                self.leave(None, path, flow);
            }
            Stmt::Loop(_) => self.lack(name, Fault::Loop),
            Stmt::Apply { table, hit, action_run } => {
                self.flush(row, path, name, first);
                self.table(*table, *hit, *action_run, path, flow);
            }
            Stmt::Extern(e) => self.external(e, row, path, name, first),
            Stmt::Extract { .. } | Stmt::Advance(_) | Stmt::Lookahead(..) | Stmt::Verify(..) | Stmt::Emit(_) => {}
        }
    }

    /// What an entry supplies, and what a table says of itself, is a value on the chip's buses. Only where another site reads it does
    /// it become a field that travels with the packet.
    fn entry_data(&mut self) {
        let params = self.ir.actions.values().flat_map(|a| a.params.iter().copied());
        let own: BTreeSet<Loc> = params.chain(self.deciders.keys().copied()).map(Loc::Var).collect();
        let others = self.out.all.iter().filter(|s| !matches!(s.what, What::Table(_)));
        let read: BTreeSet<Loc> = others.flat_map(|s| s.match_reads.iter().chain(&s.action_reads)).copied().collect();
        for site in &mut self.out.all {
            for set in [&mut site.match_reads, &mut site.action_reads, &mut site.writes] {
                set.retain(|l| !own.contains(l) || read.contains(l));
            }
        }
    }

    fn leave(&mut self, to: Option<LabelId>, path: &[Step], flow: &mut Flow) {
        flow.falls = false;
        if let Some(step) = path.last() {
            self.guards.push((step.site, to));
        }
        let at = self.out.all.len();
        flow.leaves.push((to, at, at));
    }

    #[allow(clippy::too_many_arguments)]
    fn condition(
        &mut self,
        c: &Expr,
        a: &[Stmt],
        b: &[Stmt],
        row: &mut Row,
        path: &mut Vec<Step>,
        name: &str,
        first: &mut Option<usize>,
        flow: &mut Flow,
    ) {
        let (inner, swapped) = match &c.kind {
            ExprKind::Unary(UnOp::Not, inner) => (&**inner, true),
            _ => (c, false),
        };
        let decider = match inner.kind {
            ExprKind::Var(v) => self.deciders.get(&v).copied().filter(|(_, by)| *by == By::Hit),
            _ => None,
        };
        let (site, by) = match decider {
            Some(d) => {
                self.flush(row, path, name, first);
                d
            }
            None => {
                let mut gate = Gate::default();
                self.gate(c, row, &mut gate);
                self.flush(row, path, name, first);
                let bits: u64 = gate.reads.iter().map(|l| u64::from(gate.bits.get(l).copied().unwrap_or(1))).sum();
                // Four bytes of PHV and twelve bits of hash; four rows (checked against the chip when placed).
                let units = bits.div_ceil(44).max(gate.rows.div_ceil(4)).max(1);
                let label = format!("if ({})", short(&self.namer.expr(c)));
                (self.site(What::Gateway { units }, label, path, gate.reads, BTreeSet::new(), BTreeSet::new()), By::Condition)
            }
        };
        let branches = [(u32::from(!swapped), a), (u32::from(swapped), b)];
        self.branches(site, by, &branches, path, name, flow);
    }

    fn branches(&mut self, site: usize, by: By, branches: &[(u32, &[Stmt])], path: &mut Vec<Step>, name: &str, flow: &mut Flow) {
        let mut falls = false;
        for (branch, body) in branches {
            let from = self.out.all.len();
            path.push(Step { site, by, branch: *branch });
            let inner = self.block(body, path, name, None);
            path.pop();
            let end = self.out.all.len();
            falls |= inner.falls;
            for (to, a, b) in inner.leaves {
                // A way that surely leaves takes all of the branch with it.
                let row = if inner.falls { (a, b) } else { (from, end) };
                flow.leaves.push((to, row.0, row.1));
            }
        }
        flow.falls &= falls || branches.is_empty();
    }

    /// What leaves by `exit` reaches nothing up to `end`.
    fn close(&mut self, flow: &Flow, end: usize) {
        for (_, a, b) in &flow.leaves {
            for site in &mut self.out.all[*a..*b] {
                site.dead.push((*b, end));
            }
        }
    }

    fn table(&mut self, id: TableId, hit: Option<VarId>, action_run: Option<VarId>, path: &mut Vec<Step>, flow: &mut Flow) {
        let ir = self.ir;
        let (info, code) = (&ir.program.tables[id], &ir.tables[id]);
        let mut row = Row::default();
        let mut keys = BTreeSet::new();
        for key in &code.keys {
            keys.extend(self.operand(key, &mut row));
        }
        self.flush(&mut row, path, &format!("key of {}", info.name), &mut None);
        let site = self.site(What::Table(id), info.name.clone(), path, keys, BTreeSet::new(), BTreeSet::new());
        for (var, by) in hit.map(|v| (v, By::Hit)).into_iter().chain(action_run.map(|v| (v, By::Case))) {
            self.deciders.insert(var, (site, by));
            self.out.all[site].writes.insert(Loc::Var(var));
        }
        let mut seen = BTreeSet::new();
        for action in info.actions.iter().map(|u| u.action).chain([info.default_action.0]) {
            if !seen.insert(action) {
                continue;
            }
            let code = &ir.actions[action];
            self.out.all[site].writes.extend(code.params.iter().map(|p| Loc::Var(*p)));
            path.push(Step { site, by: By::Action, branch: u32::from_ne_bytes(action.as_u32().to_ne_bytes()) });
            let before = self.out.all[site].writes.clone();
            let name = format!("{}.{}", info.name, ir.program.actions[action].name);
            let from = self.out.all.len();
            let inner = self.block(&code.body, path, &name, Some(site));
            path.pop();
            let end = self.out.all.len();
            if !inner.falls {
                // What an action writes and then exits is read by nobody behind it.
                self.out.all[site].writes = before;
            }
            for (to, a, b) in inner.leaves {
                self.guards.push((site, to));
                let row = if inner.falls { (a, b) } else { (from, end) };
                flow.leaves.push((to, row.0, row.1));
            }
        }
    }

    fn external(&mut self, e: &Extern, row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) {
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
                self.cells(cells, index, Some(result), row, path, &self.namer.register(*register), first);
            }
            Extern::RegisterWrite { register, index, value } => {
                let reads = self.operand(value, row);
                let site = self.cells(Cells::Register(*register), index, None, row, path, &self.namer.register(*register), first);
                self.out.all[site].action_reads.extend(reads);
            }
            // They belong to the table whose action this is, with its memory.
            Extern::DirectCount(_) => {}
            Extern::DirectMeter { result, .. } => {
                if let Some(to) = self.place(result) {
                    self.op(row, BTreeSet::new(), to, None);
                }
            }
            Extern::Hash { result, data, base, max, .. } => {
                let mut reads = BTreeSet::new();
                for d in data {
                    reads.extend(self.operand(d, row));
                }
                if base.as_const().is_none() || max.as_const().is_none() {
                    self.lack(name, Fault::HashRange);
                }
                let bytes = reads.iter().map(|l| u64::from(width(self.ir, *l)).div_ceil(8)).sum();
                let bits = u64::from(width_of(self.ir, result));
                if let Some(to) = self.place(result) {
                    self.op(row, reads, to, Some((bits, bytes)));
                }
            }
            Extern::Random { result, .. } => {
                if let Some(to) = self.place(result) {
                    let bits = u64::from(width_of(self.ir, result));
                    self.op(row, BTreeSet::new(), to, Some((bits, 0)));
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
            | Extern::Replicate { .. } => {}
        }
    }

    /// An access to cells: a site of its own, or part of the table whose action it is in.
    #[allow(clippy::too_many_arguments)]
    fn cells(
        &mut self,
        cells: Cells,
        index: &Expr,
        result: Option<&LValue>,
        row: &mut Row,
        path: &[Step],
        label: &str,
        first: &mut Option<usize>,
    ) -> usize {
        let reads = self.operand(index, row);
        let writes: BTreeSet<Loc> = result.and_then(|r| self.place(r)).into_iter().collect();
        // An index out of the entry comes with the entry; one out of the packet goes by the hash distribution.
        let in_table = first.filter(|_| reads.iter().all(|l| !row.written.contains_key(l)));
        if let Some(site) = in_table {
            let from_entry = reads.iter().all(|l| self.out.all[site].writes.contains(l));
            let bits = (!from_entry && index.as_const().is_none()).then_some(index.ty.width());
            let s = &mut self.out.all[site];
            s.cells.push((cells, bits));
            if !from_entry {
                s.match_reads.extend(reads);
            }
            row.written.extend(writes.iter().map(|l| (*l, 1)));
            s.writes.extend(writes);
            return site;
        }
        self.flush(row, path, label, first);
        let bits = index.as_const().is_none().then_some(index.ty.width());
        let site = self.site(What::Cells(cells), label.to_owned(), path, reads, BTreeSet::new(), writes);
        self.out.all[site].cells.push((cells, bits));
        site
    }

    /// A register that is read, worked on and written in one go, as the first statements of `block`: how many they are.
    fn group(&mut self, block: &[Stmt], row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) -> usize {
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
                    _ => false,
                };
            });
            ok
        };
        if !block[1..=last].iter().all(simple) {
            return 0;
        }
        let at = self.operand(index, row);
        let (mut reads, mut written, mut comparisons) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        written.extend(self.place(result));
        for s in &block[1..=last] {
            deep(s, &mut |s| {
                stmt_exprs(s, &mut |e| {
                    let found = self.leaves(e);
                    reads.extend(found.into_iter().filter(|l| !written.contains(l)));
                    compared(e, &mut |e| {
                        comparisons.insert(self.namer.expr(e));
                    });
                });
                if let Stmt::Assign(dst, _) = s {
                    written.extend(self.place(dst));
                }
            });
        }
        reads.retain(|l| !at.contains(l));
        let cells = Cells::Register(*register);
        let fresh = at.iter().chain(&reads).all(|l| !row.written.contains_key(l));
        let (site, bits) = match first.filter(|_| fresh) {
            Some(site) => {
                let from_entry = at.iter().all(|l| self.out.all[site].writes.contains(l));
                row.written.extend(written.iter().map(|l| (*l, 1)));
                let s = &mut self.out.all[site];
                if !from_entry {
                    s.match_reads.extend(at);
                }
                s.action_reads.extend(reads);
                s.writes.extend(written);
                (site, (!from_entry && index.as_const().is_none()).then_some(index.ty.width()))
            }
            None => {
                self.flush(row, path, name, first);
                let label = self.namer.register(*register);
                let site = self.site(What::Cells(cells), label, path, at, reads, written);
                (site, index.as_const().is_none().then_some(index.ty.width()))
            }
        };
        let s = &mut self.out.all[site];
        s.cells.push((cells, bits));
        s.comparisons = s.comparisons.max(comparisons.len() as u64);
        last + 1
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Instructions

    fn assign(&mut self, dst: &LValue, value: &Expr, row: &mut Row) {
        if let LValue::Var(v) = dst {
            self.deciders.remove(v);
        }
        let reads = self.computed(value, row);
        if let Some(to) = self.place(dst) {
            self.op(row, reads, to, None);
        }
    }

    /// What an instruction that computes `e` reads: one operation deep; what is below goes to temporaries.
    fn computed(&mut self, e: &Expr, row: &mut Row) -> BTreeSet<Loc> {
        match &e.kind {
            ExprKind::Cast(a) | ExprKind::Slice(a, _, _) | ExprKind::Unary(_, a) => self.computed(a, row),
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
                let mut reads = self.operand(c, row);
                reads.extend(self.operand(a, row));
                reads.extend(self.operand(b, row));
                reads
            }
            _ => self.leaves(e),
        }
    }

    /// What an instruction reads that takes `e` as an operand: a field, or a temporary that holds the result.
    fn operand(&mut self, e: &Expr, row: &mut Row) -> BTreeSet<Loc> {
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

    fn supported(&mut self, op: BinOp, e: &Expr, by: &Expr) {
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
    fn gate(&mut self, c: &Expr, row: &mut Row, gate: &mut Gate) {
        match &c.kind {
            ExprKind::Binary(BinOp::LAnd, a, b) => {
                self.gate(a, row, gate);
                self.gate(b, row, gate);
            }
            ExprKind::Binary(BinOp::LOr, a, b) => {
                self.gate(a, row, gate);
                gate.rows += 1;
                self.gate(b, row, gate);
            }
            ExprKind::Unary(UnOp::Not, a) => self.gate(a, row, gate),
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
                for side in [a, b] {
                    self.masked(side, row, gate);
                }
            }
            _ => self.masked(c, row, gate),
        }
    }

    /// A side of a comparison: a field, some of its bits, or a temporary.
    fn masked(&mut self, e: &Expr, row: &mut Row, gate: &mut Gate) {
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

    fn op(&mut self, row: &mut Row, reads: BTreeSet<Loc>, writes: Loc, hash: Option<(u64, u64)>) {
        let after = reads.iter().filter_map(|l| row.written.get(l)).max().map_or(1, |l| l + 1);
        let over = row.written.get(&writes).map_or(1, |l| l + 1);
        let beside = row.read.get(&writes).copied().unwrap_or(1);
        let level = after.max(over).max(beside);
        for l in &reads {
            let at = row.read.entry(*l).or_insert(level);
            *at = level.max(*at);
        }
        row.written.insert(writes, level);
        row.ops.push(Op { level, reads, writes, hash });
        self.out.operations += 1;
    }

    /// Ends a straight row: a site for each level. The first one belongs to the table whose action it begins.
    fn flush(&mut self, row: &mut Row, path: &[Step], name: &str, first: &mut Option<usize>) {
        let row = std::mem::take(row);
        let mut levels: BTreeMap<usize, Vec<Op>> = BTreeMap::new();
        for op in row.ops {
            levels.entry(op.level).or_default().push(op);
        }
        let table = first.take();
        let several = levels.len() > 1;
        for (level, ops) in levels {
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
                s.writes.insert(op.writes);
            }
        }
    }

    fn site(&mut self, what: What, name: String, path: &[Step], m: BTreeSet<Loc>, a: BTreeSet<Loc>, w: BTreeSet<Loc>) -> usize {
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
            dead: Vec::new(),
            hashes: Vec::new(),
            cells: Vec::new(),
            comparisons: 0,
        };
        self.out.all.push(site);
        self.out.all.len() - 1
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Locations

    fn copy(&mut self, to: HeaderId, from: HeaderId, row: &mut Row) {
        let fields = self.ir.header_types[self.ir.headers[to].ty].fields.len() as u32;
        for f in 0..fields {
            self.op(row, [Loc::Field(from, f)].into(), Loc::Field(to, f), None);
        }
        self.op(row, [Loc::Valid(from)].into(), Loc::Valid(to), None);
    }

    /// The headers that a reference may mean.
    fn headers(&mut self, h: &HeaderRef) -> Vec<HeaderId> {
        match h {
            HeaderRef::Static(id) => vec![*id],
            HeaderRef::Index(s, i) => {
                let name = self.namer.stack(*s);
                if i.as_const().is_none() {
                    self.lack(&name, Fault::StackIndex);
                }
                self.ir.stacks[*s].elements.clone()
            }
            HeaderRef::Next(s) | HeaderRef::Last(s) => self.ir.stacks[*s].elements.clone(),
        }
    }

    fn place(&mut self, l: &LValue) -> Option<Loc> {
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
    fn leaves(&mut self, e: &Expr) -> BTreeSet<Loc> {
        let mut out = BTreeSet::new();
        self.add_leaves(e, &mut out);
        out
    }

    fn add_leaves(&mut self, e: &Expr, out: &mut BTreeSet<Loc>) {
        match &e.kind {
            ExprKind::Var(v) => {
                out.insert(Loc::Var(*v));
            }
            ExprKind::Field(h, f) => out.extend(self.headers(h).into_iter().map(|h| Loc::Field(h, *f))),
            ExprKind::IsValid(h) => out.extend(self.headers(h).into_iter().map(Loc::Valid)),
            ExprKind::VarbitBits(..) | ExprKind::VarbitEq(..) => self.lack("", Fault::Varbit),
            ExprKind::LastIndex(s) | ExprKind::NextIndex(s) => {
                let elements = self.ir.stacks[*s].elements.clone();
                out.extend(elements.into_iter().map(Loc::Valid));
            }
            _ => sub_exprs(e, &mut |sub| self.add_leaves(sub, out)),
        }
    }

    /// What a condition is for every packet, as far as it follows from headers that none has.
    fn known(&self, c: &Expr) -> Option<bool> {
        match &c.kind {
            ExprKind::Const(b) => Some(b.is_true()),
            ExprKind::IsValid(HeaderRef::Static(h)) if self.never.contains(h) => Some(false),
            ExprKind::Unary(UnOp::Not, a) => self.known(a).map(|b| !b),
            ExprKind::Binary(BinOp::LAnd, a, b) => match (self.known(a), self.known(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            ExprKind::Binary(BinOp::LOr, a, b) => match (self.known(a), self.known(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn lack(&mut self, at: &str, fault: Fault) {
        let lack = Lack::of(at, fault);
        if !self.out.lacks.contains(&lack) {
            self.out.lacks.push(lack);
        }
    }
}

/// Headers that the parser never takes and nobody makes valid.
fn never_valid(ir: &Ir) -> BTreeSet<HeaderId> {
    let mut some: BTreeSet<HeaderId> = ir.stacks.values().flat_map(|s| s.elements.iter().copied()).collect();
    let mut see = |s: &Stmt| {
        if let Stmt::Extract { header: HeaderRef::Static(h), .. }
        | Stmt::SetValid(HeaderRef::Static(h), true)
        | Stmt::CopyHeader { dst: HeaderRef::Static(h), .. } = s
        {
            some.insert(*h);
        }
    };
    for id in crate::parse::reached(ir) {
        p4_ir::walk::all_stmts(&ir.states[id].body, &mut see);
    }
    for block in [&ir.parser_init, &ir.ingress, &ir.egress].into_iter().chain(ir.actions.values().map(|a| &a.body)) {
        p4_ir::walk::all_stmts(block, &mut see);
    }
    ir.headers.keys().filter(|h| !some.contains(h)).collect()
}

/// What a condition looks at.
#[derive(Default)]
struct Gate {
    reads: BTreeSet<Loc>,
    bits: HashMap<Loc, u32>,
    rows: u64,
}

impl Gate {
    fn read(&mut self, l: Loc, bits: u32) {
        self.reads.insert(l);
        let most = self.bits.entry(l).or_insert(0);
        *most = bits.max(*most);
    }
}

/// Whether no packet reaches both.
pub(crate) fn exclusive(a: &Site, b: &Site) -> bool {
    for (x, y) in a.path.iter().zip(&b.path) {
        if x != y {
            return x.site == y.site && x.by == y.by && x.branch != y.branch;
        }
    }
    false
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

fn width_of(ir: &Ir, l: &LValue) -> u32 {
    match l {
        LValue::Var(v) => ir.vars[*v].ty.width(),
        LValue::Field(HeaderRef::Static(h), f) => width(ir, Loc::Field(*h, *f)),
        LValue::Field(HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _), f) => {
            ir.stacks[*s].elements.first().map_or(0, |h| width(ir, Loc::Field(*h, *f)))
        }
        LValue::Slice(_, hi, lo) => hi - lo + 1,
    }
}

/// A statement and all inside it.
fn deep(s: &Stmt, f: &mut dyn FnMut(&Stmt)) {
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

/// Text short enough for a table.
pub(crate) fn short(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(37).chain("...".chars()).collect() }
}
