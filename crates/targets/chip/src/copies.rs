//! Copies that are none on the chip. A control that is called with a field has, in the IR, a variable of its own for it, set from
//! the field before and copied back behind: on a chip that would be containers, and stages in which nothing else is done.
//!
//! A copy and what it was copied from become one place if neither changes while the other is still read, as registers are coalesced. So a
//! parameter that a control changes for itself stays apart. A field of a header lies where the parser puts it, and is read as long as the
//! deparser sends it, up to where the whole of it is written; a parameter, and what is copied from one, may become a field, metadata never. What an
//! `out` parameter is before it is written is undefined (P4_16 §6.8): until then it is not kept.
//! Not done: copies of elements of stacks, of what the parser touches beside the field, and of what the architecture or an entry supplies.

use p4_analysis::control::actions;
use p4_analysis::effects::{Place, architecture, stmt_writes, written_vars};
use p4_analysis::live::Liveness;
use p4_ir::walk::{all_stmts, blocks_mut, other_exprs_mut, read_vars, stmt_blocks, stmt_blocks_mut, stmt_exprs, stmt_exprs_mut};
use p4_ir::walk::{stmt_lvalues_mut, sub_exprs_mut};
use p4_ir::{Block, Expr, ExprKind, HeaderId, HeaderRef, Ir, LValue, Pipe, Stmt, Transition, VarId, VarRole};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A field of a header.
type Field = (HeaderId, u32);

/// What a variable becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    Var(VarId),
    Field(Field),
}

/// The program with one place for each that was copied, without these copies, and with bits for shifts.
pub(crate) fn coalesced(ir: &Ir) -> Ir {
    let mut out = ir.clone();
    crate::slices::slice_shifts(&mut out);
    headers_as_variables(&mut out);
    let homes = homes(&out);
    if homes.is_empty() {
        return out;
    }
    let home = |l: &LValue| if let LValue::Var(v) = l { homes.get(v).copied() } else { None };
    rename(&mut out, &|l| match home(l) {
        Some(Home::Var(v)) => Some(LValue::Var(v)),
        Some(Home::Field((h, f))) => Some(LValue::Field(HeaderRef::Static(h), f)),
        None => None,
    });
    out
}

/// What each variable becomes, of those that become something else.
fn homes(ir: &Ir) -> BTreeMap<VarId, Home> {
    let mut apart = ir.clone();
    let fields = fields_as_variables(&mut apart);
    let merged = merged(&apart, &fields.keys().copied().collect());
    let home = |v: VarId| fields.get(&v).map_or(Home::Var(v), |f| Home::Field(*f));
    merged.into_iter().map(|(v, to)| (v, home(to))).collect()
}

/// The copy that a statement is: to, from.
fn copy(s: &Stmt) -> Option<(VarId, VarId)> {
    match s {
        Stmt::Assign(LValue::Var(to), Expr { kind: ExprKind::Var(from), .. }) if to != from => Some((*to, *from)),
        _ => None,
    }
}

/// The copy of a whole field, in or out: the field and the variable.
fn field_copy(s: &Stmt) -> Option<(Field, VarId)> {
    let Stmt::Assign(to, from) = s else { return None };
    match (to, &from.kind) {
        (LValue::Field(HeaderRef::Static(h), f), ExprKind::Var(v)) => Some(((*h, *f), *v)),
        (LValue::Var(v), ExprKind::Field(HeaderRef::Static(h), f)) => Some(((*h, *f), *v)),
        _ => None,
    }
}

/// What must stay a variable of its own.
fn fixed(ir: &Ir) -> BTreeSet<VarId> {
    let mut fixed = architecture(ir);
    fixed.extend(ir.intrinsic.field_lists.values().flatten());
    fixed.extend(ir.actions.values().flat_map(|a| &a.params));
    fixed
}

/// Makes variables of the headers that a control has for itself because another argument overlaps its own: they are copied from one header and back
/// to it, field by field, and are there if that one is.
fn headers_as_variables(ir: &mut Ir) {
    let Some(copied) = copied_headers(ir) else { return };
    let mut variables: BTreeMap<Field, VarId> = BTreeMap::new();
    for h in copied.keys() {
        for (f, field) in (0..).zip(ir.header_types[ir.headers[*h].ty].fields.clone()) {
            let v = ir.add_var(&format!("{}.{}", ir.headers[*h].name, field.name), field.ty);
            ir.vars[v].role = VarRole::Parameter;
            variables.insert((*h, f), v);
        }
    }
    let types = ir.vars.iter().map(|(id, v)| (id, v.ty)).collect::<BTreeMap<_, _>>();
    let of = |h: &HeaderRef| match h {
        HeaderRef::Static(h) => copied.get(h).map(|other| (*h, *other)),
        _ => None,
    };
    let fields = |h: HeaderId| variables.range((h, 0)..=(h, u32::MAX)).map(|((_, f), v)| (*f, *v)).collect::<Vec<_>>();
    blocks_mut(ir, &mut |b| {
        around(b, &|s| {
            let Stmt::CopyHeader { dst, src } = s else { return (Vec::new(), Vec::new()) };
            let each = |h, other, into: bool| -> Vec<Stmt> {
                let copy = |(f, v): (u32, VarId)| {
                    let (place, ty) = (HeaderRef::Static(other), types[&v]);
                    match into {
                        true => Stmt::Assign(LValue::Var(v), Expr { kind: ExprKind::Field(place, f), ty }),
                        false => Stmt::Assign(LValue::Field(place, f), Expr { kind: ExprKind::Var(v), ty }),
                    }
                };
                fields(h).into_iter().map(copy).collect()
            };
            match (of(dst), of(src)) {
                (Some((h, other)), _) => (each(h, other, true), Vec::new()),
                (_, Some((h, other))) => (each(h, other, false), Vec::new()),
                _ => (Vec::new(), Vec::new()),
            }
        });
        drop_copies(b, &|s| matches!(s, Stmt::CopyHeader { dst, src } if of(dst).is_some() || of(src).is_some()));
    });
    rename(ir, &|l| match l {
        LValue::Field(HeaderRef::Static(h), f) => variables.get(&(*h, *f)).map(|v| LValue::Var(*v)),
        _ => None,
    });
    let valid = |e: &mut Expr| {
        if let ExprKind::IsValid(HeaderRef::Static(h)) = &mut e.kind
            && let Some(other) = copied.get(h)
        {
            *h = *other;
        }
    };
    blocks_mut(ir, &mut |b| each_expr(b, &valid));
    other_exprs_mut(ir, &mut |e| deep(e, &valid));
}

fn drop_copies(block: &mut Block, what: &dyn Fn(&Stmt) -> bool) {
    block.retain(|s| !what(s));
    block.iter_mut().for_each(|s| stmt_blocks_mut(s, &mut |b| drop_copies(b, what)));
}

fn each_expr(block: &mut Block, f: &dyn Fn(&mut Expr)) {
    for s in block.iter_mut() {
        stmt_exprs_mut(s, &mut |e| deep(e, f));
        stmt_blocks_mut(s, &mut |b| each_expr(b, f));
    }
}

fn deep(e: &mut Expr, f: &dyn Fn(&mut Expr)) {
    f(e);
    sub_exprs_mut(e, &mut |sub| deep(sub, f));
}

/// The headers that are only copied from and to one other, and that nobody extracts, emits or makes valid; and that other.
fn copied_headers(ir: &Ir) -> Option<BTreeMap<HeaderId, HeaderId>> {
    let mut partners: BTreeMap<HeaderId, BTreeSet<HeaderId>> = BTreeMap::new();
    let mut lasting: BTreeSet<HeaderId> = ir.stacks.values().flat_map(|s| s.elements.iter().copied()).collect();
    for block in ir.blocks() {
        all_stmts(block, &mut |s| match s {
            Stmt::CopyHeader { dst: HeaderRef::Static(to), src: HeaderRef::Static(from) } => {
                partners.entry(*to).or_default().insert(*from);
                partners.entry(*from).or_default().insert(*to);
            }
            Stmt::CopyHeader { dst: h, src: other } | Stmt::CopyVarbit { dst: h, src: other } => {
                lasting.extend([h, other].into_iter().flat_map(|h| p4_analysis::effects::headers(ir, h)));
            }
            Stmt::Extract { header: h, .. } | Stmt::Emit(h) | Stmt::SetValid(h, _) => lasting.extend(p4_analysis::effects::headers(ir, h)),
            _ => {}
        });
    }
    let plain = |h: HeaderId| ir.headers[h].union.is_none() && !ir.header_types[ir.headers[h].ty].fields.iter().any(|f| f.varbit);
    let own = partners.iter().filter(|(h, others)| !lasting.contains(h) && others.len() == 1 && plain(**h));
    let own: BTreeMap<HeaderId, HeaderId> = own.filter_map(|(h, others)| Some((*h, *others.first()?))).collect();
    // Of two that are both such, neither is.
    let lone = own.clone().into_iter().filter(|(_, other)| !own.contains_key(other)).collect::<BTreeMap<_, _>>();
    (!lone.is_empty()).then_some(lone)
}

/// What is no parameter, or the parser's too: it does not become a field.
fn own(ir: &Ir) -> BTreeSet<VarId> {
    let mut own = fixed(ir);
    own.extend(ir.vars.iter().filter(|(_, v)| v.role == VarRole::Own).map(|(id, _)| id));
    own.extend(ir.pipes.values().flat_map(|pipe| in_parser(ir, pipe)));
    own
}

/// Makes variables of the fields that variables are copied from or to, for as long as it is looked which copies are none: set where the header is
/// extracted, and read where it is emitted. Gives the field of each.
fn fields_as_variables(ir: &mut Ir) -> BTreeMap<VarId, Field> {
    let own = own(ir);
    let in_stacks: BTreeSet<HeaderId> = ir.stacks.values().flat_map(|s| s.elements.iter().copied()).collect();
    let mut copied: BTreeSet<Field> = BTreeSet::new();
    for block in ir.pipes.values().flat_map(Pipe::after_parser).chain(ir.actions.values().map(|a| &a.body)) {
        all_stmts(block, &mut |s| {
            let Some(((h, f), v)) = field_copy(s) else { return };
            let field = &ir.header_types[ir.headers[h].ty].fields[f as usize];
            if !own.contains(&v) && !in_stacks.contains(&h) && ir.headers[h].union.is_none() && !field.varbit && field.ty == ir.vars[v].ty {
                copied.insert((h, f));
            }
        });
    }
    if copied.is_empty() {
        return BTreeMap::new();
    }
    let variables: BTreeMap<Field, VarId> =
        copied.into_iter().map(|(h, f)| ((h, f), ir.add_var("field", ir.header_types[ir.headers[h].ty].fields[f as usize].ty))).collect();
    rename(ir, &|l| match l {
        LValue::Field(HeaderRef::Static(h), f) => variables.get(&(*h, *f)).map(|v| LValue::Var(*v)),
        _ => None,
    });
    let types: BTreeMap<VarId, p4_ir::Ty> = variables.values().map(|v| (*v, ir.vars[*v].ty)).collect();
    let sinks: BTreeMap<VarId, VarId> = types.iter().map(|(v, ty)| (*v, ir.add_var("sink", *ty))).collect();
    let of = |h: &HeaderRef| -> Vec<VarId> {
        let HeaderRef::Static(h) = h else { return Vec::new() };
        variables.range((*h, 0)..=(*h, u32::MAX)).map(|(_, v)| *v).collect()
    };
    let read = |v: VarId| Stmt::Assign(LValue::Var(sinks[&v]), Expr { kind: ExprKind::Var(v), ty: types[&v] });
    let written = |v: VarId| Stmt::Assign(LValue::Var(v), Expr { kind: ExprKind::Var(sinks[&v]), ty: types[&v] });
    blocks_mut(ir, &mut |b| {
        around(b, &|s| match s {
            Stmt::Extract { header, .. } => (Vec::new(), of(header).into_iter().map(written).collect()),
            Stmt::Emit(h) => (of(h).into_iter().map(read).collect(), Vec::new()),
            Stmt::CopyHeader { dst, src } => (of(src).into_iter().map(read).collect(), of(dst).into_iter().map(written).collect()),
            _ => (Vec::new(), Vec::new()),
        });
    });
    variables.into_iter().map(|(field, v)| (v, field)).collect()
}

/// What comes before a statement, and what behind it.
type Around = (Block, Block);

/// Puts statements before and behind each.
fn around(block: &mut Block, with: &dyn Fn(&Stmt) -> Around) {
    let mut out = Vec::with_capacity(block.len());
    for mut s in std::mem::take(block) {
        stmt_blocks_mut(&mut s, &mut |b| around(b, with));
        let (before, behind) = with(&s);
        out.extend(before);
        out.push(s);
        out.extend(behind);
    }
    *block = out;
}

/// The variables that a pipe's parser reads or writes.
fn in_parser(ir: &Ir, pipe: &Pipe) -> BTreeSet<VarId> {
    let mut all = BTreeSet::new();
    let mut see = |block: &Block| {
        all_stmts(block, &mut |s| {
            stmt_exprs(s, &mut |e| read_vars(e, &mut |v| all.extend([v])));
            written_vars(ir, s, &mut |v| all.extend([v]));
        });
    };
    see(&pipe.parser.init);
    for id in ir.states_from(pipe.parser.start) {
        see(&ir.states[id].body);
    }
    for id in ir.states_from(pipe.parser.start) {
        if let Transition::Select { keys, .. } = &ir.states[id].next {
            keys.iter().for_each(|k| read_vars(k, &mut |v| all.extend([v])));
        }
    }
    all
}

/// When variables that are undefined at first may have a value, in the order of the program: what lies in a loop happens all at once, and an action
/// wherever its table is applied.
#[derive(Default)]
struct Order {
    now: usize,
    /// The first time that each variable may be written; in the parser at once.
    first: BTreeMap<VarId, usize>,
    /// The last time that each statement may run.
    last: HashMap<usize, usize>,
}

impl Order {
    fn of(ir: &Ir) -> Order {
        let mut order = Order::default();
        for pipe in ir.pipes.values() {
            let states = ir.states_from(pipe.parser.start).into_iter().map(|s| &ir.states[s].body);
            for block in states.chain([&pipe.parser.init]) {
                all_stmts(block, &mut |s| {
                    written_vars(ir, s, &mut |v| {
                        order.first.insert(v, 0);
                    })
                });
            }
            pipe.after_parser().for_each(|b| order.block(ir, b));
        }
        order
    }

    fn block(&mut self, ir: &Ir, block: &Block) {
        for s in block {
            self.now += 1;
            let start = self.now;
            self.last.insert(std::ptr::from_ref(s) as usize, start);
            stmt_writes(ir, s, &mut |place| {
                if let Place::Var(v) = place {
                    self.first.entry(v).or_insert(start);
                }
            });
            if let Stmt::Apply { table, .. } = s {
                for action in actions(ir, *table) {
                    self.block(ir, &ir.actions[action].body);
                }
            }
            stmt_blocks(s, &mut |b| self.block(ir, b));
            if let Stmt::Loop(body) = s {
                let end = self.now;
                self.first.values_mut().filter(|at| **at > start).for_each(|at| *at = start);
                let mut last = |s: &Stmt| {
                    self.last.insert(std::ptr::from_ref(s) as usize, end);
                };
                all_stmts(body, &mut |s| {
                    last(s);
                    if let Stmt::Apply { table, .. } = s {
                        actions(ir, *table).into_iter().for_each(|a| all_stmts(&ir.actions[a].body, &mut last));
                    }
                });
            }
        }
    }

    /// Whether a variable can have no value yet behind a statement.
    fn undefined(&self, ir: &Ir, v: VarId, s: &Stmt) -> bool {
        let at = self.last.get(&(std::ptr::from_ref(s) as usize)).copied().unwrap_or(0);
        ir.vars[v].role == VarRole::OutParameter && self.first.get(&v).is_none_or(|first| *first > at)
    }
}

/// What each variable becomes, of those that become another. Of `fields` each stays itself.
fn merged(ir: &Ir, fields: &BTreeSet<VarId>) -> BTreeMap<VarId, VarId> {
    let fixed = fixed(ir);
    let own = own(ir);
    let field = |v: VarId| fields.contains(&v);
    let apart_from_fields = |v: VarId| own.contains(&v) && !field(v);
    let mut copies: BTreeSet<(VarId, VarId)> = BTreeSet::new();
    for block in ir.blocks() {
        all_stmts(block, &mut |s| {
            copies.extend(copy(s).filter(|(to, from)| {
                let alike = !fixed.contains(to) && !fixed.contains(from) && ir.vars[*to].ty == ir.vars[*from].ty;
                alike && (!field(*to) || !apart_from_fields(*from)) && (!field(*from) || !apart_from_fields(*to))
            }));
        });
    }
    let copied: BTreeSet<VarId> = copies.iter().flat_map(|(to, from)| [*to, *from]).collect();
    // Variables of which one changes while the other is still read.
    let mut apart: BTreeMap<VarId, BTreeSet<VarId>> = BTreeMap::new();
    let order = Order::of(ir);
    Liveness::new(ir).behind(&mut |s, live| {
        let from = copy(s).map(|(_, from)| from);
        stmt_writes(ir, s, &mut |place| {
            if let Place::Var(v) = place
                && copied.contains(&v)
            {
                for other in live.intersection(&copied).filter(|o| **o != v && Some(**o) != from && !order.undefined(ir, **o, s)) {
                    apart.entry(v).or_default().insert(*other);
                    apart.entry(*other).or_default().insert(v);
                }
            }
        });
    });
    let mut groups: BTreeMap<VarId, BTreeSet<VarId>> = copied.iter().map(|v| (*v, [*v].into())).collect();
    let mut home: BTreeMap<VarId, VarId> = copied.iter().map(|v| (*v, *v)).collect();
    // Parameters first go where their arguments lie; what else is copied from them does not keep them from it.
    let (of_fields, others): (Vec<_>, Vec<_>) = copies.into_iter().partition(|(to, from)| field(*to) || field(*from));
    for (to, from) in of_fields.into_iter().chain(others) {
        // The one that was declared first is the program's; those of controls come with their calls. A field stays where it is.
        let rank = |v: VarId| (!field(v), v);
        let (kept, lost) = (home[&to].min(home[&from]), home[&to].max(home[&from]));
        let (kept, lost) = if rank(lost) < rank(kept) { (lost, kept) } else { (kept, lost) };
        let hinders = |a: &VarId| apart.get(a).is_some_and(|others| !others.is_disjoint(&groups[&kept]));
        let with_own = || (field(kept) || field(lost)) && groups[&lost].union(&groups[&kept]).any(|v| apart_from_fields(*v));
        if lost == kept || field(lost) || groups[&lost].iter().any(hinders) || with_own() {
            continue;
        }
        let members = groups.remove(&lost).unwrap_or_default();
        for v in &members {
            home.insert(*v, kept);
        }
        groups.entry(kept).or_default().extend(members);
    }
    home.retain(|v, to| v != to);
    home
}

/// Gives places that the program reads and writes another name, and drops what then is a copy of a place to itself.
fn rename(ir: &mut Ir, to: &dyn Fn(&LValue) -> Option<LValue>) {
    let rename = Rename { to };
    blocks_mut(ir, &mut |b| rename.block(b));
    other_exprs_mut(ir, &mut |e| rename.expr(e));
}

struct Rename<'a> {
    to: &'a dyn Fn(&LValue) -> Option<LValue>,
}

impl Rename<'_> {
    fn block(&self, block: &mut Block) {
        for s in block.iter_mut() {
            stmt_exprs_mut(s, &mut |e| self.expr(e));
            stmt_lvalues_mut(s, &mut |l| self.place(l));
            if let Stmt::Apply { hit, action_run, .. } = s {
                for v in hit.iter_mut().chain(action_run) {
                    if let Some(LValue::Var(to)) = (self.to)(&LValue::Var(*v)) {
                        *v = to;
                    }
                }
            }
            stmt_blocks_mut(s, &mut |b| self.block(b));
        }
        let none = |s: &Stmt| match s {
            Stmt::Assign(LValue::Var(to), Expr { kind: ExprKind::Var(from), .. }) => to == from,
            Stmt::Assign(LValue::Field(to, f), Expr { kind: ExprKind::Field(from, g), .. }) => to == from && f == g,
            _ => false,
        };
        block.retain(|s| !none(s));
    }

    fn place(&self, l: &mut LValue) {
        match l {
            LValue::Slice(base, ..) => self.place(base),
            whole => {
                if let Some(to) = (self.to)(whole) {
                    *whole = to;
                }
            }
        }
    }

    fn expr(&self, e: &mut Expr) {
        let named = match &e.kind {
            ExprKind::Var(v) => (self.to)(&LValue::Var(*v)),
            ExprKind::Field(h, f) => (self.to)(&LValue::Field(h.clone(), *f)),
            _ => None,
        };
        match named {
            Some(LValue::Var(v)) => e.kind = ExprKind::Var(v),
            Some(LValue::Field(h, f)) => e.kind = ExprKind::Field(h, f),
            _ => {}
        }
        sub_exprs_mut(e, &mut |sub| self.expr(sub));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{BinOp, Ty};

    fn take(ir: &Ir, to: VarId, from: VarId) -> Stmt {
        Stmt::Assign(LValue::Var(to), Expr::var(ir, from))
    }

    fn more(ir: &Ir, v: VarId) -> Stmt {
        Stmt::Assign(LValue::Var(v), Expr::binary(BinOp::Add, Expr::var(ir, v), Expr::bit(8, 1)))
    }

    #[test]
    fn a_parameter_and_its_argument_are_one_if_neither_changes_beside_the_other() {
        let mut ir = Ir::v1model("copies");
        let [own, inner, result, spare, wide] = ["own", "inner", "result", "spare", "wide"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.intrinsic.standard["priority"];
        let sent = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v).cast(ir.vars[sink].ty));
        // In and out: `own` is not read between, and changes with `inner`.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, inner), take(&ir, own, inner), sent(&ir, own)];
        assert_eq!(merged(&ir, &BTreeSet::new()), [(inner, own)].into());
        let one = coalesced(&ir);
        assert_eq!(one.ingress().len(), 3, "{:?}", one.ingress());
        assert_eq!(p4_ir::verify(&one), Ok(()));
        // Changed for itself: the argument is read behind.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, inner), sent(&ir, inner), sent(&ir, own)];
        assert_eq!(merged(&ir, &BTreeSet::new()), BTreeMap::new());
        // The argument changes while the parameter is read.
        *ir.ingress_mut() = vec![more(&ir, own), take(&ir, inner, own), more(&ir, own), sent(&ir, inner), sent(&ir, own)];
        assert_eq!(merged(&ir, &BTreeSet::new()), BTreeMap::new());
        // Of three only two can be one.
        *ir.ingress_mut() = vec![
            more(&ir, own),
            take(&ir, result, own),
            take(&ir, spare, result),
            more(&ir, spare),
            sent(&ir, spare),
            sent(&ir, own),
            more(&ir, wide),
        ];
        assert_eq!(merged(&ir, &BTreeSet::new()), [(result, own)].into());
    }

    /// What an `out` parameter is before it is set is nothing.
    #[test]
    fn an_out_parameter_that_is_set_on_one_way_is_its_argument() {
        let mut ir = Ir::v1model("copies");
        let [own, result] = ["own", "result"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.intrinsic.standard["priority"];
        let sent = Stmt::Assign(LValue::Var(sink), Expr::var(&ir, own).cast(ir.vars[sink].ty));
        let is = Expr::binary(BinOp::Eq, Expr::var(&ir, own), Expr::bit(8, 1));
        *ir.ingress_mut() = vec![more(&ir, own), Stmt::If(is, vec![more(&ir, result)], vec![]), take(&ir, own, result), sent];
        // More of what is there already is read.
        assert_eq!(homes(&ir), BTreeMap::new());
        ir.vars[result].role = VarRole::OutParameter;
        assert_eq!(homes(&ir), [(result, Home::Var(own))].into());
    }

    #[test]
    fn a_parameter_becomes_the_field_that_it_is_copied_from_and_metadata_do_not() {
        let mut ir = Ir::v1model("copies");
        let ty = ir.add_header_type("h_t", &[("f", 8), ("g", 8)], None);
        let h = ir.add_header("h", ty);
        let [inner, outer] = ["inner", "outer"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let place = |f| LValue::Field(HeaderRef::Static(h), f);
        let read = |f| Expr { kind: ExprKind::Field(HeaderRef::Static(h), f), ty: Ty::Bit(8) };
        let body = |ir: &Ir, between: Vec<Stmt>| {
            let mut all = vec![Stmt::Assign(LValue::Var(inner), read(0)), more(ir, inner)];
            all.extend(between);
            all.push(Stmt::Assign(place(0), Expr::var(ir, inner)));
            all
        };
        *ir.ingress_mut() = body(&ir, vec![]);
        ir.deparser_mut().push(Stmt::Emit(HeaderRef::Static(h)));
        assert_eq!(homes(&ir), BTreeMap::new(), "metadata");
        ir.vars[inner].role = VarRole::Parameter;
        assert_eq!(homes(&ir), [(inner, Home::Field((h, 0)))].into());
        let one = coalesced(&ir);
        assert_eq!(one.ingress().len(), 1, "{:?}", one.ingress());
        assert_eq!(p4_ir::verify(&one), Ok(()));
        // The field is read as it was.
        *ir.ingress_mut() = body(&ir, vec![Stmt::Assign(LValue::Var(outer), read(0)), Stmt::Assign(place(1), Expr::var(&ir, outer))]);
        assert_eq!(homes(&ir), BTreeMap::new());
    }

    /// What a variable is before it is set is zero, which the other is not.
    #[test]
    fn a_copy_on_one_way_only_stays_apart() {
        let mut ir = Ir::v1model("copies");
        let [own, inner] = ["own", "inner"].map(|n| ir.add_var(n, Ty::Bit(8)));
        let sink = ir.intrinsic.standard["priority"];
        let sent = |ir: &Ir, v| Stmt::Assign(LValue::Var(sink), Expr::var(ir, v).cast(ir.vars[sink].ty));
        let is = Expr::binary(BinOp::Eq, Expr::var(&ir, own), Expr::bit(8, 1));
        *ir.ingress_mut() = vec![more(&ir, own), Stmt::If(is, vec![take(&ir, inner, own)], vec![]), sent(&ir, inner)];
        assert_eq!(merged(&ir, &BTreeSet::new()), BTreeMap::new());
    }
}
