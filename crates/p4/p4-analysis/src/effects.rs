//! What do statements and blocks read and write?
//!
//! Fields of an invalid header read as zero, so whatever changes a header's validity also writes its fields. A header that is chosen at
//! run time stands for all elements of its stack.

use crate::control::actions;
use p4_ir::{Block, CheckData, CounterId, Expr, ExprKind, Extern, HeaderId, HeaderRef, Ir, LValue, MeterId, RegisterId, StackId, Stmt};
use p4_ir::{ServiceId, VarId, walk};
use program::LengthSource;
use std::collections::BTreeSet;

/// What holds a value while a packet is worked on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A variable.
    Var(VarId),
    /// A field by its position, varbit or not.
    Field(HeaderId, u32),
    /// Whether the header is valid.
    Valid(HeaderId),
    /// The next index of a stack.
    NextIndex(StackId),
}

/// State that lasts from packet to packet, and whose use depends on the order of packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ordered {
    /// A meter.
    Meter(MeterId),
    /// A register.
    Register(RegisterId),
    /// The random generator.
    Random,
    /// Digests: the control plane sees their order.
    Digests,
    /// A service, of a program that was cut: look-ups stand for its calls (`program::Program::asks`).
    Calls(ServiceId),
}

/// What a block does, with the blocks inside it and the actions of the tables that it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What it may look at.
    pub reads: BTreeSet<Place>,
    /// What it may change.
    pub writes: BTreeSet<Place>,
    /// Counters that it may count.
    pub counts: BTreeSet<CounterId>,
    /// Lasting state that it may use.
    pub ordered: BTreeSet<Ordered>,
}

impl Effects {
    /// The effects of a block.
    pub fn of(ir: &Ir, block: &Block) -> Effects {
        let mut out = Effects::default();
        out.add(ir, block);
        out
    }

    fn add(&mut self, ir: &Ir, block: &Block) {
        walk::all_stmts(block, &mut |s| {
            stmt_reads(ir, s, &mut |p| self.reads.extend([p]));
            stmt_writes(ir, s, &mut |p| self.writes.extend([p]));
            self.ordered.extend(ordered(s));
            if let Stmt::Extern(Extern::Count { counter, .. } | Extern::DirectCount(counter)) = s {
                self.counts.insert(*counter);
            }
            if let Stmt::Apply { table, .. } = s {
                // Actions apply no tables, so this goes no deeper.
                actions(ir, *table).into_iter().for_each(|a| self.add(ir, &ir.actions[a].body));
            }
        });
    }

    /// The variables among what is read.
    pub fn read_vars(&self) -> impl Iterator<Item = VarId> {
        vars(&self.reads)
    }

    /// The variables among what is written.
    pub fn written_vars(&self) -> impl Iterator<Item = VarId> {
        vars(&self.writes)
    }
}

fn vars(places: &BTreeSet<Place>) -> impl Iterator<Item = VarId> {
    places.iter().filter_map(|p| if let Place::Var(v) = p { Some(*v) } else { None })
}

/// The variables that the architecture looks at, wherever the program is.
pub fn architecture(ir: &Ir) -> BTreeSet<VarId> {
    let i = &ir.intrinsic;
    i.standard.values().chain(&i.drop_reason).chain(&i.mark).chain(&i.pdu_length).copied().collect()
}

/// The variables that some expression of the program reads.
pub fn read_anywhere(ir: &Ir) -> BTreeSet<VarId> {
    let mut read = BTreeSet::new();
    let mut see = |e: &Expr| walk::read_vars(e, &mut |v| read.extend([v]));
    ir.blocks().for_each(|b| walk::all_stmts(b, &mut |s| walk::stmt_exprs(s, &mut see)));
    walk::other_exprs(ir, &mut see);
    read
}

/// Every variable that a statement itself can change; of an `Apply` also those that the table's actions change.
pub fn written_vars(ir: &Ir, s: &Stmt, f: &mut dyn FnMut(VarId)) {
    let mut var = |p: Place| {
        if let Place::Var(v) = p {
            f(v)
        }
    };
    stmt_writes(ir, s, &mut var);
    if let Stmt::Apply { table, .. } = s {
        for action in actions(ir, *table) {
            walk::all_stmts(&ir.actions[action].body, &mut |s| stmt_writes(ir, s, &mut var));
        }
    }
}

/// The lasting state that a statement itself uses.
pub fn ordered(stmt: &Stmt) -> Option<Ordered> {
    match stmt {
        Stmt::Extern(Extern::Meter { meter, .. } | Extern::DirectMeter { meter, .. }) => Some(Ordered::Meter(*meter)),
        Stmt::Extern(Extern::RegisterRead { register, .. } | Extern::RegisterWrite { register, .. }) => Some(Ordered::Register(*register)),
        Stmt::Extern(Extern::Random { .. }) => Some(Ordered::Random),
        Stmt::Extern(Extern::Digest { .. }) => Some(Ordered::Digests),
        _ => None,
    }
}

/// The headers that a reference may mean.
pub fn headers<'a>(ir: &'a Ir, h: &'a HeaderRef) -> &'a [HeaderId] {
    match h {
        HeaderRef::Static(id) => std::slice::from_ref(id),
        HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => &ir.stacks[*s].elements,
    }
}

fn fields(ir: &Ir, h: HeaderId) -> impl Iterator<Item = Place> {
    (0..ir.header_types[ir.headers[h].ty].fields.len() as u32).map(move |i| Place::Field(h, i))
}

fn varbits(ir: &Ir, h: HeaderId) -> impl Iterator<Item = Place> {
    let fields = ir.header_types[ir.headers[h].ty].fields.iter().zip(0..);
    fields.filter(|(f, _)| f.varbit).map(move |(_, i)| Place::Field(h, i))
}

/// What choosing a header depends on, but for an index that is computed.
fn choice(h: &HeaderRef, f: &mut dyn FnMut(Place)) {
    if let HeaderRef::Next(s) | HeaderRef::Last(s) = h {
        f(Place::NextIndex(*s));
    }
}

/// Everything that an expression reads.
pub fn expr_reads(ir: &Ir, e: &Expr, f: &mut dyn FnMut(Place)) {
    match &e.kind {
        ExprKind::Var(v) => f(Place::Var(*v)),
        ExprKind::Field(h, i) | ExprKind::VarbitBits(h, i) => {
            choice(h, f);
            headers(ir, h).iter().for_each(|id| f(Place::Field(*id, *i)));
        }
        ExprKind::IsValid(h) => {
            choice(h, f);
            headers(ir, h).iter().for_each(|id| f(Place::Valid(*id)));
        }
        ExprKind::VarbitEq(a, b) => {
            for h in [a, b] {
                choice(h, f);
                headers(ir, h).iter().for_each(|id| varbits(ir, *id).for_each(&mut *f));
            }
        }
        ExprKind::LastIndex(s) | ExprKind::NextIndex(s) => f(Place::NextIndex(*s)),
        _ => {}
    }
    walk::sub_exprs(e, &mut |sub| expr_reads(ir, sub, f));
}

/// What a statement itself reads: conditions, keys, operands, and what is left of a place that is written in part. Blocks inside it
/// and actions come with [`Effects`].
pub fn stmt_reads(ir: &Ir, s: &Stmt, f: &mut dyn FnMut(Place)) {
    walk::stmt_exprs(s, &mut |e| expr_reads(ir, e, f));
    walk::stmt_lvalues(s, &mut |l| {
        if let (LValue::Slice(..), Some(v)) = (l, l.root_var()) {
            f(Place::Var(v));
        }
        if let Some((h, i)) = root_field(l) {
            choice(h, f);
            for id in headers(ir, h) {
                f(Place::Valid(*id));
                if matches!(l, LValue::Slice(..)) {
                    f(Place::Field(*id, i));
                }
            }
        }
    });
    let mut whole = |h: &HeaderRef| {
        choice(h, f);
        for id in headers(ir, h) {
            f(Place::Valid(*id));
            fields(ir, *id).for_each(&mut *f);
        }
    };
    match s {
        Stmt::CopyHeader { dst, src } => {
            whole(src);
            choice(dst, f);
        }
        Stmt::CopyVarbit { dst, src } => {
            whole(src);
            choice(dst, f);
            headers(ir, dst).iter().for_each(|id| f(Place::Valid(*id)));
        }
        Stmt::Emit(h) => whole(h),
        Stmt::SetValid(h, _) | Stmt::Extract { header: h, .. } => {
            choice(h, f);
            // A header that is valid already keeps its fields; one that is chosen may be another.
            headers(ir, h).iter().for_each(|id| f(Place::Valid(*id)));
        }
        Stmt::CopyStack { src: stack, .. } | Stmt::Push(stack, _) | Stmt::Pop(stack, _) => {
            ir.stacks[*stack].elements.iter().for_each(|h| whole(&HeaderRef::Static(*h)));
            f(Place::NextIndex(*stack));
        }
        Stmt::Apply { table, .. } => ir.tables[*table].keys.iter().for_each(|k| expr_reads(ir, k, f)),
        Stmt::Extern(e) => extern_reads(ir, e, f),
        _ => {}
    }
}

fn extern_reads(ir: &Ir, e: &Extern, f: &mut dyn FnMut(Place)) {
    let length = match e {
        Extern::Count { counter, .. } | Extern::DirectCount(counter) => Some(ir.program.counters[*counter].length),
        Extern::Meter { meter, .. } | Extern::DirectMeter { meter, .. } => Some(ir.program.meters[*meter].length),
        _ => None,
    };
    if length == Some(LengthSource::Pdu) {
        ir.intrinsic.pdu_length.into_iter().for_each(|v| f(Place::Var(v)));
    }
    if let Extern::VerifyChecksum { data, .. } | Extern::UpdateChecksum { data, .. } = e {
        for d in data {
            if let CheckData::Varbit(h, i) = d {
                choice(h, f);
                headers(ir, h).iter().for_each(|id| f(Place::Field(*id, *i)));
            }
        }
    }
}

/// The field that an l-value is, or is a part of.
fn root_field(l: &LValue) -> Option<(&HeaderRef, u32)> {
    match l {
        LValue::Var(_) => None,
        LValue::Field(h, i) => Some((h, *i)),
        LValue::Slice(base, ..) => root_field(base),
    }
}

/// What a statement itself may change, the architecture's variables among them; of an `Apply` also the parameters of the actions, not
/// what these do.
pub fn stmt_writes(ir: &Ir, s: &Stmt, f: &mut dyn FnMut(Place)) {
    walk::stmt_lvalues(s, &mut |l| {
        l.root_var().into_iter().for_each(|v| f(Place::Var(v)));
        if let Some((h, i)) = root_field(l) {
            headers(ir, h).iter().for_each(|id| f(Place::Field(*id, i)));
        }
    });
    let standard = |name: &str| ir.intrinsic.standard.get(name).map(|v| Place::Var(*v));
    match s {
        Stmt::SetValid(h, _) | Stmt::CopyHeader { dst: h, .. } => headers(ir, h).iter().for_each(|id| validity(ir, *id, f)),
        Stmt::Extract { header, .. } => {
            headers(ir, header).iter().for_each(|id| validity(ir, *id, f));
            if let HeaderRef::Next(s) = header {
                f(Place::NextIndex(*s));
            }
        }
        Stmt::CopyVarbit { dst, .. } => headers(ir, dst).iter().for_each(|id| varbits(ir, *id).for_each(&mut *f)),
        Stmt::CopyStack { dst: stack, .. } | Stmt::Push(stack, _) | Stmt::Pop(stack, _) => {
            ir.stacks[*stack].elements.iter().for_each(|id| validity(ir, *id, f));
            f(Place::NextIndex(*stack));
        }
        Stmt::Apply { table, hit, action_run } => {
            hit.iter().chain(action_run).for_each(|v| f(Place::Var(*v)));
            for action in actions(ir, *table) {
                ir.actions[action].params.iter().for_each(|v| f(Place::Var(*v)));
            }
        }
        Stmt::Extern(Extern::MarkToDrop) => standard("egress_spec").into_iter().chain(standard("mcast_grp")).for_each(&mut *f),
        Stmt::Extern(Extern::VerifyChecksum { .. }) => standard("checksum_error").into_iter().for_each(&mut *f),
        _ => {}
    }
    // What may end the parser says why.
    if matches!(s, Stmt::Extract { .. } | Stmt::Advance(_) | Stmt::Lookahead(..) | Stmt::Verify(..)) {
        standard("parser_error").into_iter().for_each(f);
    }
}

/// A header becomes valid or invalid: its fields change, and so do the other members of its union.
fn validity(ir: &Ir, h: HeaderId, f: &mut dyn FnMut(Place)) {
    let union = ir.headers[h].union;
    let others = ir.headers.iter().filter(|(id, other)| *id != h && union.is_some() && other.union == union).map(|(id, _)| id);
    for id in others.chain([h]) {
        f(Place::Valid(id));
        fields(ir, id).for_each(&mut *f);
    }
}
