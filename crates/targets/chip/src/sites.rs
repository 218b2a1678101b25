//! What a program needs of the stages: its controls as *sites*, places where something happens in one clock, with what
//! each reads and writes, and when it is reached.
//!
//! A sequence of assignments becomes levels: one that reads what another writes comes a level, and so a stage, later.
//! Nested arithmetic is the same, through temporaries: an instruction does one operation. A condition becomes a gateway.
//! What an action does behind its first level becomes sites of their own behind the table.

mod instructions;
mod locations;
mod refused;

pub(crate) use locations::width;

use crate::lack::{Fault, Lack};
use crate::profile::Profiles;
use instructions::Gate;
use p4_analysis::control::actions;
use p4_analysis::validity::{always_valid, known, known_of, never_valid};
use p4_ir::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Limit of sites: dependencies are found pair by pair.
const MOST_SITES: usize = 4000;

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
    /// Whether the deparser puts in a checksum, found by a table of the program's condition.
    Checksum,
    /// A condition on so many bytes of containers, of which some are compared with others, and some bits with a range, with so many
    /// alternatives.
    Gateway {
        bytes: u64,
        pairs: u64,
        ranges: u64,
        rows: u64,
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
    /// Of what it writes by instructions, the bits from and to, for each; all of them, where the whole is written.
    pub parts: BTreeMap<Loc, Vec<(u32, u32)>>,
    /// Of what it writes, what some instruction sets as a whole, and what some other does not.
    pub moved: BTreeSet<Loc>,
    pub computed: BTreeSet<Loc>,
    /// Of a table, what each action writes, by the branch that it is; what any writes on a hit; and on a miss, if the default stays.
    pub by_action: BTreeMap<u32, BTreeSet<Loc>>,
    pub on_hit: Option<BTreeSet<Loc>>,
    pub on_miss: Option<BTreeSet<Loc>>,
    /// Sites in these rows are not reached after this one.
    pub dead: Vec<(usize, usize)>,
    /// Bits that a hash is computed to, and bytes that it is computed from.
    pub hashes: Vec<(u64, u64)>,
    /// Cells that the site reaches: with an index from the packet, which takes hash distribution, or not.
    pub cells: Vec<(Cells, Option<u32>)>,
    /// What cells say that is read in one place only.
    pub results: BTreeSet<VarId>,
    /// Comparisons of a register's ALU.
    pub comparisons: u64,
    /// Constants that it writes to whole fields, with their widths.
    pub constants: Vec<(u128, u32)>,
    /// Whether a hash is used beside these.
    pub beside_hash: bool,
    /// Of a condition: bytes of pairs of fields, bits compared with constants for equality, and bits for more or less.
    pub compared: (u64, u64, u64),
    /// What it does to registers.
    pub programs: BTreeSet<(program::RegisterId, String)>,
}

/// All sites of one pipe, in program order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    pub all: Vec<Site>,
    /// What no chip of this kind does.
    pub lacks: Vec<Lack>,
    pub digests: u64,
    /// Sites that write one container, each another field of it.
    pub one_container: Vec<(usize, usize)>,
    /// Assignments and computations.
    pub operations: u64,
    /// What passes between a table with an action profile and those behind it: on the chip an entry's address, and no field.
    pub handles: BTreeSet<Loc>,
    /// The variables that the pipe's parser may write, and those that are the chip's own.
    pub parsed: BTreeSet<VarId>,
}

/// The sites of a pipe's controls.
pub(crate) fn sites(ir: &Ir, pipe: PipeId) -> Sites {
    let (never, always) = (never_valid(ir), always_valid(ir, &ir.pipes[pipe]));
    let parsed = parsed(ir, &ir.pipes[pipe]);
    let namer = Namer::new(ir);
    let unread = unread(ir);
    let reads = reads(ir);
    let (out, deciders) = (Sites { handles: Profiles::of(ir).handles, parsed: parsed.clone(), ..Sites::default() }, HashMap::new());
    let mut w = Walker {
        ir,
        never,
        always,
        read_fields: read_fields(ir),
        aliased: aliased(ir, &ir.pipes[pipe]),
        parsed,
        unread,
        reads,
        namer,
        out,
        temps: 0,
        guards: Vec::new(),
        conditions: HashMap::new(),
        deciders,
        action: None,
    };
    for control in ir.pipes[pipe].controls.iter().filter(|c| !c.role.is_checksum()) {
        w.guards.clear();
        let mut path = Vec::new();
        let flow = w.block(&control.body, &mut path, control.role.name(), None);
        // `exit` of ingress does not keep v1model's egress from running.
        let end = w.out.all.len();
        w.close(&flow, end);
    }
    w.checksums(&ir.pipes[pipe].deparser);
    w.entry_data();
    w.out.one_container = one_container(ir, &w.out);
    w.out
}

/// What the traffic manager is told by a bit and what the deparser is told by three lie in one container, which one instruction of a stage writes:
/// sites that write one and the other, and that a packet may both reach.
fn one_container(ir: &Ir, sites: &Sites) -> Vec<(usize, usize)> {
    let named =
        |end: &str| ir.intrinsic.standard.iter().filter(|(name, _)| name.ends_with(end)).map(|(_, v)| Loc::Var(*v)).collect::<Vec<_>>();
    let (bypass, drop) = (named("for_tm_t.bypass_egress"), named("for_deparser_t.drop_ctl"));
    let writing = |of: &[Loc]| -> Vec<usize> {
        let writes = |s: &Site| of.iter().any(|l| s.writes.contains(l));
        (0..sites.all.len()).filter(|i| writes(&sites.all[*i])).collect()
    };
    let (one, other) = (writing(&bypass), writing(&drop));
    // So do the bits of all checksums.
    let sums: Vec<usize> = (0..sites.all.len()).filter(|i| sites.all[*i].what == What::Checksum).collect();
    let of = |one: &[usize], other: &[usize]| one.iter().flat_map(|a| other.iter().map(|b| (*a, *b))).collect::<Vec<_>>();
    let both = of(&one, &other).into_iter().chain(of(&sums, &sums));
    both.filter(|(a, b)| a != b && !exclusive(&sites.all[*a], &sites.all[*b])).collect()
}

/// The variables that a pipe's parser may write, and those that are the chip's own.
fn parsed(ir: &Ir, pipe: &Pipe) -> BTreeSet<VarId> {
    let mut all: BTreeSet<VarId> = ir.intrinsic.standard.values().copied().collect();
    let states = ir.states_from(pipe.parser.start).into_iter().map(|s| &ir.states[s].body);
    for block in states.chain([&pipe.parser.init]) {
        p4_ir::walk::all_stmts(block, &mut |s| {
            p4_analysis::effects::stmt_writes(ir, s, &mut |place| {
                if let p4_analysis::effects::Place::Var(v) = place {
                    all.insert(v);
                }
            });
        });
    }
    all
}

/// Assignments of variables that are dead behind them on all ways, also behind tables: they are no instructions.
fn unread(ir: &Ir) -> HashSet<usize> {
    let (mut all, mut read) = (HashSet::new(), HashSet::new());
    p4_analysis::live::Liveness::new(ir).behind(&mut |s, live| {
        if let Stmt::Assign(LValue::Var(v), _) = s {
            all.insert(std::ptr::from_ref(s) as usize);
            if live.contains(v) {
                read.insert(std::ptr::from_ref(s) as usize);
            }
        }
    });
    all.retain(|s| !read.contains(s));
    all
}

/// In how many places each variable is read; what the architecture reads counts as read elsewhere.
fn reads(ir: &Ir) -> HashMap<VarId, usize> {
    let mut n: HashMap<VarId, usize> = HashMap::new();
    let mut see = |e: &Expr| p4_ir::walk::read_vars(e, &mut |v| *n.entry(v).or_default() += 1);
    ir.blocks().for_each(|b| p4_ir::walk::all_stmts(b, &mut |s| p4_ir::walk::stmt_exprs(s, &mut see)));
    p4_ir::walk::other_exprs(ir, &mut see);
    for v in p4_analysis::effects::architecture(ir).iter().chain(ir.intrinsic.field_lists.values().flatten()) {
        *n.entry(*v).or_default() += 1;
    }
    n
}

/// Fields of headers that a packet gets on the chip, and that are copies of one other field: both lie in one container, and to copy one is no
/// instruction.
fn aliased(ir: &Ir, pipe: &Pipe) -> HashSet<(HeaderId, u32)> {
    let states = ir.states_from(pipe.parser.start).into_iter().map(|s| &ir.states[s].body);
    let mut extracted = HashSet::new();
    for block in states.chain([&pipe.parser.init]) {
        p4_ir::walk::all_stmts(block, &mut |s| {
            if let Stmt::Extract { header: HeaderRef::Static(h), .. } = s {
                extracted.insert(*h);
            }
        });
    }
    let read = read_fields(ir);
    let mut sources: HashMap<(HeaderId, u32), Option<Expr>> = HashMap::new();
    let mut see = |s: &Stmt| match s {
        Stmt::Assign(LValue::Field(HeaderRef::Static(h), f), value) => {
            let plain = matches!(value.kind, ExprKind::Var(_) | ExprKind::Field(HeaderRef::Static(_), _));
            let source = plain.then(|| value.clone());
            let known = sources.entry((*h, *f)).or_insert_with(|| source.clone());
            if *known != source {
                *known = None;
            }
        }
        other => p4_analysis::effects::stmt_writes(ir, other, &mut |place| {
            if let p4_analysis::effects::Place::Field(h, f) = place {
                // A header that becomes valid is not written for that.
                if !matches!(other, Stmt::SetValid(..)) {
                    sources.insert((h, f), None);
                }
            }
        }),
    };
    for block in pipe.after_parser().chain(ir.actions.values().map(|a| &a.body)) {
        p4_ir::walk::all_stmts(block, &mut see);
    }
    let copies = sources.into_iter().filter(|(_, source)| source.is_some()).map(|(field, _)| field);
    copies.filter(|(h, f)| !extracted.contains(h) && !read.contains(&(*h, *f))).collect()
}

/// Whether this is what a checksum unit of the deparser gives.
fn copied_checksum(ir: &Ir, value: &Expr) -> bool {
    let ExprKind::Var(v) = value.kind else { return false };
    let mut found = false;
    ir.blocks().for_each(|b| {
        p4_ir::walk::all_stmts(b, &mut |s| {
            found |= matches!(s, Stmt::Extern(Extern::UpdateChecksum { checksum: LValue::Var(sum), .. }) if *sum == v);
        });
    });
    found
}

/// Fields that some expression reads.
fn read_fields(ir: &Ir) -> HashSet<(HeaderId, u32)> {
    let mut all = HashSet::new();
    let mut see = |e: &Expr| {
        p4_analysis::effects::expr_reads(ir, e, &mut |place| {
            if let p4_analysis::effects::Place::Field(h, f) = place {
                all.insert((h, f));
            }
        });
    };
    ir.blocks().for_each(|b| p4_ir::walk::all_stmts(b, &mut |s| p4_ir::walk::stmt_exprs(s, &mut see)));
    p4_ir::walk::other_exprs(ir, &mut see);
    all
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
    /// The bits that it writes, if not all.
    part: Option<(u32, u32)>,
    /// What it writes, if a constant to a whole field, with its width.
    constant: Option<(u128, u32)>,
    /// Whether it writes bits of fields as they are, and whether a whole field or constant to a whole field.
    picked: bool,
    moved: bool,
}

/// A straight row of instructions.
#[derive(Default)]
struct Row {
    ops: Vec<Op>,
    written: HashMap<Loc, usize>,
    /// Bits of what is written in parts, from and to, and the level.
    parts: HashMap<Loc, Vec<(u32, u32, usize)>>,
    read: HashMap<Loc, usize>,
    /// Where what was only copied lies too.
    copies: HashMap<Loc, Loc>,
    /// Of an action's, what it has computed so far, and not only copied.
    computed: BTreeSet<Loc>,
}

struct Walker<'a> {
    ir: &'a Ir,
    /// Headers that no packet has: what asks for them is decided.
    never: BTreeSet<HeaderId>,
    /// Headers that all packets have.
    always: BTreeSet<HeaderId>,
    read_fields: HashSet<(HeaderId, u32)>,
    aliased: HashSet<(HeaderId, u32)>,
    /// What the parser may have set.
    parsed: BTreeSet<VarId>,
    /// Addresses of assignments that nothing reads.
    unread: HashSet<usize>,
    /// In how many places each variable is read.
    reads: HashMap<VarId, usize>,
    namer: Namer<'a>,
    out: Sites,
    temps: u32,
    /// Sites that may have ended the control, with the label that they leave.
    guards: Vec<(usize, Option<LabelId>)>,
    /// Variables that keep the outcome of a condition, with the number of sites before it.
    conditions: HashMap<VarId, (Gate, usize)>,
    /// Variables that say whether a table hit, or which action it ran.
    deciders: HashMap<VarId, (usize, By)>,
    /// The table's action that this is in.
    action: Option<String>,
}

impl Walker<'_> {
    /// A checksum that the deparser puts in on a condition is chosen by a bit, which a table behind everything sets.
    fn checksums(&mut self, deparser: &[Stmt]) {
        for s in deparser {
            let Stmt::If(c, body, _) = s else { continue };
            let sums = |s: &Stmt| matches!(s, Stmt::Assign(_, value) if copied_checksum(self.ir, value));
            let reads = self.leaves(c);
            if body.iter().any(sums) && reads.iter().any(|l| !matches!(l, Loc::Valid(_))) {
                let name = format!("checksum if ({})", short(&self.namer.expr(c)));
                self.guards.clear();
                self.site(What::Checksum, name, &[], reads, BTreeSet::new(), BTreeSet::new());
            }
        }
    }

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
            Stmt::Assign(..) if self.unread.contains(&(std::ptr::from_ref(s) as usize)) => {}
            Stmt::Assign(dst, value) if self.beside_cells(dst, value, row, path) => {}
            Stmt::Assign(dst, value) => self.assign(dst, value, row),
            Stmt::SetValid(h, valid) => {
                let all = self.headers(h);
                if *valid && crate::varbit::has_one(self.ir, &all) {
                    self.lack(name, Fault::Varbit);
                }
                for id in all {
                    self.op(row, BTreeSet::new(), Loc::Valid(id), None);
                }
            }
            Stmt::CopyHeader { dst, src } => {
                let (to, from) = (self.headers(dst), self.headers(src));
                if crate::varbit::has_one(self.ir, &to) {
                    self.lack(name, Fault::Varbit);
                }
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
            Stmt::If(c, a, b) if known_of(&self.never, &self.always, c).is_some() => {
                if known(&self.never, c).is_none() {
                    // In an action that is looked at before anybody knows what the parser does.
                    self.refuse_condition(c);
                }
                let taken = if known_of(&self.never, &self.always, c) == Some(true) { a } else { b };
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
                        let bytes = u64::from(on.ty.width()).div_ceil(8);
                        let what = What::Gateway { bytes, pairs: 0, ranges: 0, rows: cases.len() as u64 };
                        let label = format!("switch ({})", short(&self.namer.expr(on)));
                        (self.site(what, label, path, reads, BTreeSet::new(), BTreeSet::new()), By::Condition)
                    }
                };
                let mut branches: Vec<(u32, &[Stmt])> = Vec::new();
                for (n, (values, body)) in cases.iter().enumerate() {
                    // A case of one action has its number; others have one that no action has.
                    let branch = match values.as_slice() {
                        [one] if by == By::Case => u32::try_from(one.value()).unwrap_or(u32::MAX - 1 - n as u32),
                        _ => u32::MAX - 1 - n as u32,
                    };
                    branches.push((branch, body));
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
        let (inner, mut swapped) = match &c.kind {
            ExprKind::Unary(UnOp::Not, inner) => (&**inner, true),
            _ => (c, false),
        };
        let decider = match &inner.kind {
            ExprKind::Var(v) => self.deciders.get(v).copied().filter(|(_, by)| *by == By::Hit),
            // Whether it points to a member or group is in the entry.
            ExprKind::Binary(BinOp::Eq | BinOp::Ne, v, _) => match v.kind {
                ExprKind::Var(v) if self.out.handles.contains(&Loc::Var(v)) => {
                    swapped = false;
                    self.deciders.get(&v).copied()
                }
                _ => None,
            },
            _ => None,
        };
        let (site, by) = match decider {
            Some(d) => {
                self.flush(row, path, name, first);
                d
            }
            None => {
                self.refuse_condition(c);
                let mut gate = Gate::default();
                self.gate(c, row, &mut gate);
                self.flush(row, path, name, first);
                let what = What::Gateway { bytes: gate.bytes(), pairs: gate.pairs, ranges: gate.ranges, rows: gate.rows + 1 };
                let label = format!("if ({})", short(&self.namer.expr(c)));
                let compared = gate.compared();
                let site = self.site(what, label, path, gate.reads, BTreeSet::new(), BTreeSet::new());
                self.out.all[site].compared = compared;
                (site, By::Condition)
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

    /// A table whose entries may point to members or groups: what is done with these is done behind a hit of it. The tables of groups and
    /// slots point on, behind the same hit.
    fn handles_of(&mut self, id: TableId, site: usize) {
        let ir = self.ir;
        for action in actions(ir, id) {
            for s in &ir.actions[action].body {
                if let Stmt::Assign(LValue::Var(v), _) = s
                    && self.out.handles.contains(&Loc::Var(*v))
                    && !self.keyed(*v)
                {
                    match self.out.all[site].match_reads.is_disjoint(&self.out.handles) {
                        true => drop(self.deciders.insert(*v, (site, By::Hit))),
                        false => drop(self.deciders.entry(*v).or_insert((site, By::Hit))),
                    }
                }
            }
        }
    }

    /// Whether tables look it up: an address, and not whether there is one.
    fn keyed(&self, v: VarId) -> bool {
        self.ir.tables.values().flat_map(|t| &t.keys).any(|k| matches!(k.kind, ExprKind::Var(key) if key == v))
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
        self.refuse_table(id);
        let site = self.site(What::Table(id), info.name.clone(), path, keys, BTreeSet::new(), BTreeSet::new());
        for (var, by) in hit.map(|v| (v, By::Hit)).into_iter().chain(action_run.map(|v| (v, By::Case))) {
            self.deciders.insert(var, (site, by));
            self.out.all[site].writes.insert(Loc::Var(var));
        }
        self.handles_of(id, site);
        let before = std::mem::take(&mut self.out.all[site].writes);
        let mut written = before.clone();
        for action in actions(ir, id) {
            let code = &ir.actions[action];
            let params: BTreeSet<Loc> = code.params.iter().map(|p| Loc::Var(*p)).collect();
            self.out.all[site].writes = before.union(&params).copied().collect();
            let branch = action.as_u32();
            path.push(Step { site, by: By::Action, branch });
            let name = format!("{}.{}", info.name, ir.program.actions[action].name);
            let from = self.out.all.len();
            self.action = Some(name.clone());
            let inner = self.block(&code.body, path, &name, Some(site));
            self.action = None;
            path.pop();
            let end = self.out.all.len();
            let own = std::mem::take(&mut self.out.all[site].writes);
            // What an action writes and then exits is read by nobody behind it.
            written.extend(if inner.falls { &own } else { &params });
            self.out.all[site].by_action.insert(branch, own);
            for (to, a, b) in inner.leaves {
                self.guards.push((site, to));
                let row = if inner.falls { (a, b) } else { (from, end) };
                flow.leaves.push((to, row.0, row.1));
            }
        }
        let s = &mut self.out.all[site];
        s.writes = written;
        let of = |action: ActionId| s.by_action.get(&action.as_u32()).into_iter().flatten().copied();
        let entries = info.actions.iter().filter(|u| u.entry).flat_map(|u| of(u.action));
        s.on_hit = Some(before.iter().copied().chain(entries).collect());
        s.on_miss = info.const_default.then(|| of(info.default_action.0).collect());
    }
}

/// All bits of a place.
const WHOLE: (u32, u32) = (0, u32::MAX);
/// A place of more bits lies in several containers, cut wherever parts of it are written.
const CONTAINER_BITS: u32 = 32;

impl Site {
    /// It writes a place, or some bits of it.
    fn wrote(&mut self, l: Loc, part: Option<(u32, u32)>) {
        self.writes.insert(l);
        self.parts.entry(l).or_default().push(part.unwrap_or(WHOLE));
    }

    /// Whether this site and the other write different containers of the place: bits of metadata that is cut anyway, or bytes.
    pub(crate) fn writes_beside(&self, other: &Site, l: Loc, ir: &Ir) -> bool {
        let (Some(own), Some(others)) = (self.parts.get(&l), other.parts.get(&l)) else { return false };
        let cut = match l {
            Loc::Var(_) => width(ir, l) > CONTAINER_BITS,
            // A header's bytes are the packet's.
            Loc::Field(h, f) => {
                let field = &ir.header_types[ir.headers[h].ty].fields[f as usize];
                match (field.offset_bits + field.ty.width()) % 8 {
                    0 => false,
                    _ => return false,
                }
            }
            Loc::Valid(_) | Loc::Temp(..) => return false,
        };
        let unit = |bit: u32| if cut { bit } else { bit / 8 };
        let apart = |(low, high): &(u32, u32), (from, to): &(u32, u32)| unit(*high) < unit(*from) || unit(*to) < unit(*low);
        own.iter().all(|part| others.iter().all(|other| apart(part, other)))
    }

    /// What this site, which is the one of that number, writes where a packet goes on to the other: where that is reached by one action of a
    /// table only, by its hit or by its miss, the table's other actions have not run.
    pub(crate) fn writes_before(&self, number: usize, other: &Site) -> &BTreeSet<Loc> {
        let step = other.path.iter().find(|s| s.site == number);
        let known = step.and_then(|s| match (s.by, s.branch) {
            (By::Action | By::Case, action) => self.by_action.get(&action),
            (By::Hit, 0) => self.on_miss.as_ref(),
            (By::Hit, _) => self.on_hit.as_ref(),
            (By::Condition, _) => None,
        });
        known.unwrap_or(&self.writes)
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
/// Text short enough for a table.
pub(crate) fn short(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(37).chain("...".chars()).collect() }
}
