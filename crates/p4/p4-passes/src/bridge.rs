//! Cuts a program where it calls a service, where v1model copies packets or sends them round, and where a stage of a chain ends, for targets that only take
//! packets in and give them out.
//!
//! What goes on where is said by [`program::Bridge`]; what it means, by `p4-interp`'s `run/replicate.rs`. The cut program:
//! - **parser**: a packet from port [`Bridge::PORT`] has a bridge in front. Its variables are restored; then either its headers
//!   are extracted, those that were valid, or the packet is parsed as any other;
//! - **ingress**: clone, resubmit and group become variables. If one is set at the end, the bridge is filled, and egress
//!   does no more than to send the packet to [`Bridge::PORT`];
//! - **egress**: the same for clones, and for recirculation behind the deparser;
//! - **deparser**: of a stopped packet all valid headers follow the bridge, as they are;
//! - a **call** of a service and the end of a **stage** of a chain stop the same way, and a pass that comes back jumps behind: `calls.rs`. What is still read
//!   behind them travels.
//!
//! `exit` would leave these parts out, so it becomes a flag that is looked at behind each table.
//!
//! Not here: it is no optimisation, so [`crate::PASSES`] does not have it; whoever emits for such a target calls it first.

mod calls;
mod psa;

pub use calls::{calls_services, has_stages};

use calls::Calls;
use p4_analysis::control;
use p4_analysis::effects::{Effects, ordered};
use p4_ir::origin::{Construct, Holder, Origin};
use p4_ir::*;
use program::{BitField, Bridge, BridgeStop, CountUnit, LengthSource};
use std::collections::{BTreeMap, BTreeSet};

/// Longest bridge, in bytes. A public switch stack, cut where it copies packets, has 167; whoever runs the program makes room for it in front of a packet.
pub const MAX_BYTES: u32 = 256;

/// What of a program cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutError {
    what: String,
    construct: Option<Construct>,
    holder: Option<Holder>,
}

impl CutError {
    fn new(construct: impl Into<Option<Construct>>, what: impl Into<String>) -> CutError {
        CutError { what: what.into(), construct: construct.into(), holder: None }
    }

    /// The first construct in the source that is the reason, as far as the IR tells.
    pub fn origin(&self, ir: &Ir) -> Option<Origin> {
        ir.origins.find(self.construct?, self.holder.as_ref())
    }
}

impl std::fmt::Display for CutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the program cannot be cut where it copies packets, calls services or ends a stage: {}", self.what)
    }
}

impl std::error::Error for CutError {}

/// Whether the program ever copies a packet or sends it round.
pub fn replicates(ir: &Ir) -> bool {
    let group = ir.intrinsic.standard.get("mcast_grp").copied();
    let mut found = false;
    walk::blocks(ir, &mut |b| {
        walk::all_stmts(b, &mut |s| {
            found |= match s {
                Stmt::Extern(Extern::Replicate { .. }) => true,
                Stmt::Assign(dst, value) if dst.root_var().is_some() && dst.root_var() == group => {
                    let same = matches!(value.kind, ExprKind::Var(v) if Some(v) == group);
                    !same && !matches!(value.kind, ExprKind::Const(c) if c.value() == 0)
                }
                other => {
                    let mut written = false;
                    walk::stmt_lvalues(other, &mut |l| written |= l.root_var().is_some() && l.root_var() == group);
                    written
                }
            }
        })
    });
    found
}

/// The cut program with its bridge, of PSA one pipe of two; `None` if it never copies a packet, sends it round, calls a service or ends a stage.
pub fn cut(ir: &Ir) -> Result<Option<(Ir, Bridge)>, CutError> {
    if ir.arch == Architecture::Psa {
        return psa::cut(ir).map(Some);
    }
    let (copies, stages) = (replicates(ir), has_stages(ir));
    if !copies && !stages && !calls_services(ir) {
        return Ok(None);
    }
    // A copy, or a packet that a service gives back, would have to find its own way along the chain.
    if stages && (copies || calls_services(ir)) {
        return Err(CutError::new(
            if copies { Construct::Copies } else { Construct::Service },
            "the program has stages of a chain, and copies packets or calls services too",
        ));
    }
    // No packet overtakes another one at a call of a service that needs them in their order; copies do.
    let written_only = if copies { BTreeMap::new() } else { written_only(ir) };
    let (state_behind_stops, last) = (state_behind_stops(ir, &written_only), last_stops(ir, &written_only));
    let mut ir = ir.clone();
    let mut truncates = false;
    walk::blocks(&ir, &mut |b| walk::all_stmts(b, &mut |s| truncates |= matches!(s, Stmt::Extern(Extern::Truncate(_)))));
    if indices(&ir, stages || calls_services(&ir)) {
        return Err(CutError::new(Construct::Stack, "the program looks at the next index of a header stack outside of the parser"));
    }
    let own_reason = ir.intrinsic.drop_reason.is_none();
    let vars = Vars::new(&mut ir)?;
    let mut bridged = BTreeSet::new();
    if copies || stages {
        bridged = always(&ir, &vars);
    }
    if copies {
        bridged.extend(read_behind_ingress(&ir));
    }
    vars.requests(&mut ir);
    let truncation = truncates.then(|| Truncation::take_out(&mut ir));
    bridged.extend(truncation.iter().flat_map(|t| [t.asked, t.keep]));
    exits(&mut ir, vars.exited);
    bridged.extend(calls::live_behind(&ir, &vars, &bridged));
    let mut calls = Calls::new(&mut ir)?;
    calls.mark_last(&last);
    if own_reason && !copies && !stages {
        // Nothing writes it.
        bridged.remove(&vars.drop_reason);
    }
    // Parameters are set where an action runs, and these by the cut program itself.
    let params: BTreeSet<VarId> = ir.actions.values().flat_map(|a| a.params.iter().copied()).chain(vars.own()).collect();
    bridged.retain(|v| !params.contains(v));
    let layout = Layout::new(&mut ir, &vars, calls, copies, &bridged)?;
    ir.program.stages =
        layout.calls.all.iter().filter_map(|s| if let BridgeStop::Stage(stage) = s { Some(*stage) } else { None }).collect();
    layout.parser(&mut ir, &vars);
    layout.verify(&mut ir, &vars);
    layout.ingress(&mut ir, &vars);
    layout.egress(&mut ir, &vars);
    if let Some(truncation) = truncation {
        truncation.put_back(&mut ir, &vars, &layout);
    }
    layout.rest(&mut ir, &vars);
    let written_behind = written_only.into_values().collect();
    let bridge = Bridge { state_behind_stops, written_behind, ..layout.bridge(&ir, &vars) };
    ir.intrinsic.standard.remove("mcast_grp");
    Ok(Some((ir, bridge)))
}

/// Whether a pass that goes on behind a stop, or that of a copy, may come to a meter, a register or random numbers. Of ingress it does what follows a call, all of the
/// parser that finds it in the packet, and egress. Registers that are `written_only` hold what the last packet has written, so that the order at calls is enough for them.
fn state_behind_stops(ir: &Ir, written_only: &BTreeMap<RegisterId, Vec<ServiceId>>) -> bool {
    let uses = |block: &Block| control::any_stmt(block, &mut |s| uses_state(ir, s));
    let again = |s: &Stmt| matches!(s, Stmt::Extern(Extern::Replicate { kind: Replicate::Resubmit | Replicate::Recirculate, .. }));
    let goes_again = [ir.ingress(), ir.egress()].into_iter().any(|b| control::any_stmt(b, &mut |s| again(s) || in_actions(ir, s, &again)));
    let parser = std::iter::once(&ir.parser().init).chain(ir.states.values().map(|state| &state.body));
    let behind = [ir.egress(), ir.control(Role::ComputeChecksum), ir.deparser()].into_iter().chain(goes_again.then_some(ir.ingress()));
    let matters = |s: &Stmt| uses_state(ir, s) && !writes_only(s, written_only);
    parser.chain(behind).any(uses) || behind_calls(&matters, ir.ingress(), &mut false)
}

/// Registers that the program writes, at one place of ingress, and does not read: the control plane does. With the services at one of whose calls each packet is on
/// its way there.
fn written_only(ir: &Ir) -> BTreeMap<RegisterId, Vec<ServiceId>> {
    let (mut written, mut others, mut once) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    ways_to_writes(ir.ingress(), &mut Vec::new(), &mut written);
    for block in ir.blocks() {
        walk::all_stmts(block, &mut |s| match s {
            Stmt::Extern(Extern::RegisterRead { register, .. }) => drop(others.insert(*register)),
            Stmt::Extern(Extern::RegisterWrite { register, .. }) if !once.insert(*register) => drop(others.insert(*register)),
            _ => {}
        });
    }
    written.retain(|register, services| !services.is_empty() && !others.contains(register));
    written
}

/// `ahead`: services that each packet has called that comes to the start of the block.
fn ways_to_writes(block: &Block, ahead: &mut Vec<ServiceId>, written: &mut BTreeMap<RegisterId, Vec<ServiceId>>) {
    let outside = ahead.len();
    for stmt in block {
        match stmt {
            Stmt::Extern(Extern::RegisterWrite { register, .. }) => drop(written.insert(*register, ahead.clone())),
            Stmt::Extern(Extern::Service { service, .. }) => ahead.push(*service),
            _ => walk::stmt_blocks(stmt, &mut |inner| ways_to_writes(inner, ahead, written)),
        }
    }
    ahead.truncate(outside);
}

fn writes_only(stmt: &Stmt, written_only: &BTreeMap<RegisterId, Vec<ServiceId>>) -> bool {
    matches!(stmt, Stmt::Extern(Extern::RegisterWrite { register, .. }) if written_only.contains_key(register))
}

/// For each stop of ingress, and then of egress, in the order of their text: whether nothing behind it stops again or uses state. What comes behind a statement in
/// its text counts as behind it, though a branch may leave it out.
fn last_stops(ir: &Ir, written_only: &BTreeMap<RegisterId, Vec<ServiceId>>) -> Vec<bool> {
    let matters = |s: &Stmt| calls::stops(s) || (uses_state(ir, s) && !writes_only(s, written_only));
    let copies = |s: &Stmt| matches!(s, Stmt::Extern(Extern::Replicate { .. }));
    let copies = [ir.ingress(), ir.egress()].into_iter().any(|b| control::any_stmt(b, &mut |s| copies(s) || in_actions(ir, s, &copies)));
    // What finds the packet in front of a resumed pass.
    let mut parser = std::iter::once(&ir.parser().init).chain(ir.states.values().map(|state| &state.body));
    let mut end = [ir.control(Role::ComputeChecksum), ir.deparser()].into_iter();
    let behind_egress =
        copies || parser.any(|b| control::any_stmt(b, &mut |s| matters(s))) || end.any(|b| control::any_stmt(b, &mut |s| matters(s)));
    let behind_ingress = behind_egress || control::any_stmt(ir.egress(), &mut |s| matters(s));
    let mut last = Vec::new();
    for (block, behind) in [(ir.ingress(), behind_ingress), (ir.egress(), behind_egress)] {
        last_in(block, behind, &matters, &mut last);
    }
    last
}

fn last_in(block: &Block, behind: bool, matters: &dyn Fn(&Stmt) -> bool, last: &mut Vec<bool>) {
    let here: Vec<bool> = block.iter().map(|s| control::any_stmt(std::slice::from_ref(s), &mut |s| matters(s))).collect();
    // From the end on: whether something is behind each.
    let mut follows = vec![behind; block.len() + 1];
    for i in (0..block.len()).rev() {
        follows[i] = follows[i + 1] || here[i];
    }
    for (i, s) in block.iter().enumerate().filter(|(i, _)| here[*i]) {
        if calls::stops(s) {
            last.push(!follows[i + 1]);
        }
        walk::stmt_blocks(s, &mut |inner| last_in(inner, follows[i + 1], matters, last));
    }
}

/// Whether it uses a meter, a register or random numbers, or is a look-up whose actions do.
fn uses_state(ir: &Ir, stmt: &Stmt) -> bool {
    ordered(stmt).is_some() || in_actions(ir, stmt, &|s| ordered(s).is_some())
}

fn in_actions(ir: &Ir, stmt: &Stmt, is: &dyn Fn(&Stmt) -> bool) -> bool {
    let Stmt::Apply { table, .. } = stmt else { return false };
    let bodies = control::actions(ir, *table).into_iter().filter_map(|action| ir.actions.get(action));
    { bodies }.any(|code| control::any_stmt(&code.body, &mut |s| is(s)))
}

/// Whether a statement of ingress behind a call matters; `called`: whether one may have been made.
fn behind_calls(matters: &dyn Fn(&Stmt) -> bool, block: &Block, called: &mut bool) -> bool {
    for stmt in block {
        if *called && matters(stmt) {
            return true;
        }
        *called |= matches!(stmt, Stmt::Extern(Extern::Service { .. } | Extern::Stage(_)));
        let (before, mut after, mut found) = (*called, *called, false);
        walk::stmt_blocks(stmt, &mut |inner| {
            let mut here = before;
            found |= behind_calls(matters, inner, &mut here);
            // What ends with it is not behind.
            let ends = inner.last() == Some(&Stmt::Exit) && !control::any_stmt(inner, &mut |s| matches!(s, Stmt::Break(_)));
            after |= here && !ends;
        });
        if found {
            return true;
        }
        *called = after;
    }
    false
}

/// Whether the index of a stack is looked at where a packet may come from a bridge, which it does not cross.
fn indices(ir: &Ir, calls: bool) -> bool {
    fn in_expr(e: &Expr) -> bool {
        let mut found = matches!(e.kind, ExprKind::LastIndex(_) | ExprKind::NextIndex(_));
        walk::sub_exprs(e, &mut |sub| found |= in_expr(sub));
        found
    }
    let controls = [ir.egress(), ir.control(Role::ComputeChecksum), ir.deparser()].into_iter().chain(calls.then_some(ir.ingress()));
    let mut found = ir.tables.values().any(|t| t.keys.iter().any(in_expr));
    for block in controls.chain(ir.actions.values().map(|a| &a.body)) {
        walk::all_stmts(block, &mut |s| walk::stmt_exprs(s, &mut |e| found |= in_expr(e)));
    }
    found
}

/// The architecture's variables and those of the cut program itself.
struct Vars {
    ingress_port: VarId,
    egress_spec: VarId,
    egress_port: VarId,
    group: Option<VarId>,
    drop_reason: VarId,
    frame_length: Option<VarId>,
    /// Where the pass goes on; 0 for a packet as received.
    kind: VarId,
    /// Where it stops; 0 if it does not.
    stop: VarId,
    exited: VarId,
    /// `egress_port` behind egress.
    port: VarId,
    clone: VarId,
    session: VarId,
    clone_fields: VarId,
    /// The same, asked for in egress.
    egress_clone: VarId,
    egress_session: VarId,
    egress_clone_fields: VarId,
    resubmit: VarId,
    resubmit_fields: VarId,
    recirculate: VarId,
    recirculate_fields: VarId,
}

/// Width of a field list's number, and of "none".
const LIST: u32 = 16;

impl Vars {
    fn new(ir: &mut Ir) -> Result<Vars, CutError> {
        let standard = |name: &str| ir.intrinsic.standard.get(name).copied();
        let need =
            |name: &str| standard(name).ok_or_else(|| CutError::new(Construct::Copies, format!("there is no standard_metadata.{name}")));
        let (ingress_port, egress_spec, egress_port) = (need("ingress_port")?, need("egress_spec")?, need("egress_port")?);
        let (group, packet_length) = (standard("mcast_grp"), standard("packet_length"));
        let drop_reason = match ir.intrinsic.drop_reason {
            Some(v) => v,
            None => {
                let v = ir.add_var("bridge.reason", Ty::Bit(8));
                ir.intrinsic.drop_reason = Some(v);
                v
            }
        };
        let frames = ir.program.counters.values().any(|c| c.length == LengthSource::Frame && c.unit != CountUnit::Packets)
            || ir.program.meters.values().any(|m| m.length == LengthSource::Frame && m.unit != CountUnit::Packets);
        let mut frame_length = None;
        if frames {
            // A frame with a bridge is longer than the one that is to be counted.
            if ir.intrinsic.pdu_length.is_some() || packet_length.is_none() {
                return Err(CutError::new(Construct::Counter, "counters count both frames and @pdu_length"));
            }
            let v = ir.add_var("bridge.frame_length", Ty::Bit(32));
            ir.intrinsic.pdu_length = Some(v);
            ir.program.counters.values_mut().for_each(|c| c.length = LengthSource::Pdu);
            ir.program.meters.values_mut().for_each(|m| m.length = LengthSource::Pdu);
            frame_length = Some(v);
        }
        let mut var = |name: &str, width: u32| ir.add_var(&format!("bridge.{name}"), Ty::Bit(width));
        Ok(Vars {
            ingress_port,
            egress_spec,
            egress_port,
            group,
            drop_reason,
            frame_length,
            kind: var("pass", 8),
            stop: var("stop", 8),
            exited: var("exited", 1),
            port: var("port", 9),
            clone: var("clone", 1),
            session: var("session", 32),
            clone_fields: var("clone_fields", LIST),
            egress_clone: var("egress_clone", 1),
            egress_session: var("egress_session", 32),
            egress_clone_fields: var("egress_clone_fields", LIST),
            resubmit: var("resubmit", 1),
            resubmit_fields: var("resubmit_fields", LIST),
            recirculate: var("recirculate", 1),
            recirculate_fields: var("recirculate_fields", LIST),
        })
    }

    /// Those that do not travel as a program's variables do.
    fn own(&self) -> impl Iterator<Item = VarId> {
        let clone = [self.clone, self.session, self.clone_fields, self.egress_clone, self.egress_session, self.egress_clone_fields];
        let round = [self.resubmit, self.resubmit_fields, self.recirculate, self.recirculate_fields];
        [self.kind, self.stop, self.exited, self.port].into_iter().chain(clone).chain(round)
    }

    /// Calls become notes of what was asked for.
    fn requests(&self, ir: &mut Ir) {
        let group = self.group;
        walk::blocks_mut(ir, &mut |b| {
            replace(b, &mut |s, out| match s {
                Stmt::Extern(Extern::Replicate { kind, session, fields }) => {
                    let list = |fields: Option<Expr>| match fields {
                        None => Expr::bit(LIST, Bridge::NO_LIST),
                        Some(f) => {
                            let width = f.ty.width();
                            let small = if width > 8 {
                                let high = f.clone().slice(width - 1, 8);
                                let zero = Expr::constant(high.ty, 0);
                                Some(Expr::binary(BinOp::Eq, high, zero))
                            } else {
                                None
                            };
                            let low = unsigned(f).cast(Ty::Bit(8)).cast(Ty::Bit(LIST));
                            match small {
                                None => low,
                                Some(c) => mux(c, low, Expr::bit(LIST, Bridge::NO_LIST)),
                            }
                        }
                    };
                    let list = list(fields);
                    // An action may run in both blocks, and each block looks at its own requests only.
                    let (flag, of_session, of_list) = match kind {
                        Replicate::CloneI2E => (self.clone, Some(self.session), self.clone_fields),
                        Replicate::CloneE2E => (self.egress_clone, Some(self.egress_session), self.egress_clone_fields),
                        Replicate::Resubmit => (self.resubmit, None, self.resubmit_fields),
                        Replicate::Recirculate => (self.recirculate, None, self.recirculate_fields),
                    };
                    out.push(set(flag, 1, 1));
                    out.push(Stmt::Assign(LValue::Var(of_list), list));
                    if let Some(v) = of_session {
                        let session = session.map_or_else(|| Expr::bit(32, 0), |s| unsigned(s).cast(Ty::Bit(32)));
                        out.push(Stmt::Assign(LValue::Var(v), session));
                    }
                }
                Stmt::Extern(Extern::MarkToDrop) => {
                    out.push(s);
                    out.extend(group.map(|g| set(g, 16, 0)));
                }
                other => out.push(other),
            })
        });
    }
}

/// `truncate` of a program that stops: the packet with its bridge is whole, and what was asked for last is done when the program is through.
struct Truncation {
    asked: VarId,
    keep: VarId,
}

impl Truncation {
    fn take_out(ir: &mut Ir) -> Truncation {
        let truncation = Truncation { asked: ir.add_var("bridge.truncated", Ty::Bit(1)), keep: ir.add_var("bridge.keep", Ty::Bit(32)) };
        let Truncation { asked, keep } = truncation;
        walk::blocks_mut(ir, &mut |b| {
            replace(b, &mut |s, out| match s {
                Stmt::Extern(Extern::Truncate(bytes)) => {
                    let bytes = unsigned(bytes);
                    let width = bytes.ty.width();
                    let mut low = bytes.clone().cast(Ty::Bit(32));
                    if width > 32 {
                        let high = bytes.slice(width - 1, 32);
                        let zero = Expr::constant(high.ty, 0);
                        low = mux(Expr::binary(BinOp::Eq, high, zero), low, Expr::bit(32, u32::MAX.into()));
                    }
                    out.extend([set(asked, 1, 1), Stmt::Assign(LValue::Var(keep), low)]);
                }
                other => out.push(other),
            })
        });
        truncation
    }

    fn put_back(self, ir: &mut Ir, vars: &Vars, layout: &Layout) {
        let is = |ir: &Ir, v: VarId, k: u8| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::constant(ir.vars[v].ty, k.into()));
        let asked = Expr::binary(BinOp::Eq, Expr::var(ir, self.asked), Expr::bit(1, 1));
        let keep = Expr::var(ir, self.keep);
        let truncate = |bytes: Expr| vec![Stmt::Extern(Extern::Truncate(bytes))];
        let mut round = vec![];
        if layout.copies {
            // A packet that goes round is what the deparser gives, which has the bridge in front.
            let bridge = Expr::bit(32, u128::from(ir.header_types[layout.ty].fixed_bits / 8));
            let with_bridge = Expr::binary(BinOp::AddSat, keep.clone(), bridge);
            round = vec![Stmt::If(is(ir, vars.stop, Bridge::RECIRCULATE), truncate(with_bridge), vec![])];
            // A copy is whole: nobody has asked for it to be cut yet.
            let copy = Expr::binary(BinOp::LOr, is(ir, vars.kind, Bridge::COPY), is(ir, vars.kind, Bridge::PARSE_EGRESS));
            ir.egress_mut().insert(0, Stmt::If(copy, vec![set(self.asked, 1, 0)], vec![]));
        }
        let through = is(ir, vars.stop, 0);
        ir.egress_mut().push(Stmt::If(asked, vec![Stmt::If(through, truncate(keep), round)], vec![]));
    }
}

fn unsigned(e: Expr) -> Expr {
    match e.ty {
        Ty::Bit(_) => e,
        other => e.cast(Ty::Bit(other.width())),
    }
}

fn mux(c: Expr, a: Expr, b: Expr) -> Expr {
    let ty = a.ty;
    Expr { kind: ExprKind::Mux(Box::new(c), Box::new(a), Box::new(b)), ty }
}

fn set(v: VarId, width: u32, value: u128) -> Stmt {
    Stmt::Assign(LValue::Var(v), Expr::bit(width, value))
}

/// Rewrites every statement of a block and of those inside it.
fn replace(block: &mut Block, f: &mut dyn FnMut(Stmt, &mut Block)) {
    let mut out = Vec::with_capacity(block.len());
    for mut s in std::mem::take(block) {
        walk::stmt_blocks_mut(&mut s, &mut |b| replace(b, f));
        f(s, &mut out);
    }
    *block = out;
}

/// `exit` leaves a labeled block around ingress or egress; out of an action it goes by the flag.
fn exits(ir: &mut Ir, exited: VarId) {
    let leaving: Vec<ActionId> = ir.actions.iter().filter(|(_, a)| control::exits(&a.body)).map(|(id, _)| id).collect();
    let in_actions = !leaving.is_empty();
    for id in leaving {
        let label = ir.add_label("exit");
        let body = &mut ir.actions[id].body;
        replace(body, &mut |s, out| match s {
            Stmt::Exit => out.extend([set(exited, 1, 1), Stmt::Break(label)]),
            other => out.push(other),
        });
        *body = vec![Stmt::Labeled(label, std::mem::take(body))];
    }
    for role in [Role::Ingress, Role::Egress] {
        let body = ir.control(role);
        if !in_actions && !control::exits(body) {
            continue;
        }
        let label = ir.add_label("exit");
        let gone = Expr::binary(BinOp::Eq, Expr { kind: ExprKind::Var(exited), ty: Ty::Bit(1) }, Expr::bit(1, 1));
        let body = ir.control_mut(role);
        replace(body, &mut |s, out| match s {
            Stmt::Exit => out.push(Stmt::Break(label)),
            Stmt::Apply { .. } if in_actions => out.extend([s, Stmt::If(gone.clone(), vec![Stmt::Break(label)], vec![])]),
            other => out.push(other),
        });
        let inner = std::mem::take(body);
        body.push(set(exited, 1, 0));
        body.push(Stmt::Labeled(label, inner));
    }
}

/// Variables of the architecture and of field lists: of a program that copies packets, or has stages, they travel in any case.
fn always(ir: &Ir, vars: &Vars) -> BTreeSet<VarId> {
    let i = &ir.intrinsic;
    let mut all: BTreeSet<VarId> = i.field_lists.values().flatten().copied().collect();
    all.extend([Some(vars.drop_reason), i.mark, i.pdu_length, vars.group].into_iter().flatten());
    all.extend([vars.ingress_port, vars.egress_spec, vars.egress_port]);
    for name in ["instance_type", "packet_length", "ingress_global_timestamp", "egress_rid"] {
        all.extend(i.standard.get(name));
    }
    all
}

/// Variables that a pass from the end of ingress on leaves to the next: those that egress and what follows reads.
fn read_behind_ingress(ir: &Ir) -> BTreeSet<VarId> {
    let blocks = [ir.egress(), ir.control(Role::ComputeChecksum), ir.deparser()];
    blocks.into_iter().flat_map(|block| Effects::of(ir, block).read_vars().collect::<Vec<_>>()).collect()
}

/// The bridge's header: which field is what.
struct Layout {
    header: HeaderId,
    ty: HeaderTypeId,
    /// Validity and varbit length of each header, by position in `fields`.
    headers: Vec<(HeaderId, u32, Option<u32>)>,
    /// Each variable's field.
    vars: Vec<(VarId, u32)>,
    kind: u32,
    /// Fields of requests, with their variables; none of a program that only calls services.
    asked: Vec<(VarId, u32)>,
    /// Whether the program copies packets or sends them round.
    copies: bool,
    calls: Calls,
    /// Bytes of the headers behind the bridge, of a packet that stopped at a call.
    length: Option<u32>,
}

impl Layout {
    fn new(ir: &mut Ir, vars: &Vars, calls: Calls, copies: bool, bridged: &BTreeSet<VarId>) -> Result<Layout, CutError> {
        let mut fields: Vec<Field> = Vec::new();
        let mut offset = 0;
        let mut add = |name: String, ty: Ty| {
            fields.push(Field { name, ty, offset_bits: offset, varbit: false });
            offset += ty.width();
            fields.len() as u32 - 1
        };
        let kind = add("kind".into(), Ty::Bit(8));
        let length = (!calls.all.is_empty()).then(|| add("headers".into(), Ty::Bit(16)));
        let shared =
            [vars.clone, vars.session, vars.clone_fields, vars.resubmit, vars.resubmit_fields, vars.recirculate, vars.recirculate_fields];
        let of_egress = [vars.egress_clone, vars.egress_session, vars.egress_clone_fields];
        let asked = shared.into_iter().filter(|_| copies).chain(of_egress.into_iter().filter(|_| copies && calls.in_egress()));
        let asked: Vec<(VarId, u32)> = asked.map(|v| (v, add(ir.vars[v].name.clone(), ir.vars[v].ty))).collect();
        let of_calls = calls.headers.values().copied();
        let headers: Vec<_> = of_calls
            .chain(ir.headers.keys().filter(|h| !calls.headers.values().any(|c| c == h)))
            .map(|h| {
                let info = &ir.headers[h];
                let varbit = ir.header_types[info.ty].fields.iter().position(|f| f.varbit);
                let valid = add(format!("{}.valid", info.name), Ty::Bit(1));
                (h, valid, varbit.map(|_| add(format!("{}.bits", info.name), Ty::Bit(32))))
            })
            .collect();
        let vars: Vec<(VarId, u32)> = bridged.iter().map(|v| (*v, add(ir.vars[*v].name.clone(), ir.vars[*v].ty))).collect();
        if offset % 8 != 0 {
            fields.push(Field { name: "_padding".into(), ty: Ty::Bit(8 - offset % 8), offset_bits: offset, varbit: false });
        }
        let fixed_bits: u32 = fields.iter().map(|f| f.ty.width()).sum();
        let bytes = fixed_bits / 8 + calls.all.iter().map(|c| c.extra_len() as u32).max().unwrap_or(0);
        if bytes > MAX_BYTES {
            let construct = if copies { Construct::Copies } else { Construct::Service };
            return Err(CutError::new(construct, format!("{bytes} bytes of metadata travel with a packet, more than {MAX_BYTES}")));
        }
        let ty = ir.header_types.push(HeaderType { name: "bridge_t".into(), fields, fixed_bits });
        let header = ir.headers.push(Header { name: "bridge".into(), ty, union: None });
        Ok(Layout { header, ty, headers, vars, kind, asked, copies, calls, length })
    }

    fn get(&self, ir: &Ir, field: u32) -> Expr {
        let ty = ir.header_types[self.ty].fields[field as usize].ty;
        Expr { kind: ExprKind::Field(HeaderRef::Static(self.header), field), ty }
    }

    fn put(&self, field: u32, value: Expr) -> Stmt {
        Stmt::Assign(LValue::Field(HeaderRef::Static(self.header), field), value)
    }

    /// Gives all variables the bridge's values.
    fn restore(&self, ir: &Ir) -> Block {
        self.vars.iter().map(|(v, f)| Stmt::Assign(LValue::Var(*v), self.get(ir, *f))).collect()
    }

    /// Makes the bridge, with everything as it is now.
    fn fill(&self, ir: &Ir, vars: &Vars, stop: u8) -> Block {
        let mut out = vec![Stmt::Assign(LValue::Var(vars.stop), Expr::bit(8, stop.into()))];
        out.extend(self.fill_stopped(ir, vars));
        out
    }

    /// The same, of a pass that has said where it stops.
    fn fill_stopped(&self, ir: &Ir, vars: &Vars) -> Block {
        let mut out = vec![Stmt::SetValid(HeaderRef::Static(self.header), true), self.put(self.kind, Expr::var(ir, vars.stop))];
        out.extend(self.asked.iter().map(|(v, f)| self.put(*f, Expr::var(ir, *v))));
        for (h, valid, bits) in &self.headers {
            out.push(self.put(*valid, Expr::is_valid(*h).cast(Ty::Bit(1))));
            if let Some(bits) = bits {
                let field = ir.header_types[ir.headers[*h].ty].fields.iter().position(|f| f.varbit).unwrap_or(0) as u32;
                let length = Expr { kind: ExprKind::VarbitBits(HeaderRef::Static(*h), field), ty: Ty::Bit(32) };
                out.push(self.put(*bits, length));
            }
        }
        out.extend(self.vars.iter().map(|(v, f)| self.put(*f, Expr::var(ir, *v))));
        out
    }

    /// What a block does that has stopped at a call: fills the bridge, and is not dropped.
    fn stop_at_call(&self, ir: &Ir, vars: &Vars) -> Stmt {
        let mut then = self.fill_stopped(ir, vars);
        if let Some(length) = self.length {
            let word = |n: u32| Expr::bit(16, n.into());
            let of = |(h, valid, bits): &(HeaderId, u32, Option<u32>)| {
                let fixed = word(ir.header_types[ir.headers[*h].ty].fixed_bits / 8);
                let len = match bits {
                    None => fixed,
                    Some(f) => {
                        let varbit = Expr::binary(BinOp::Shr, self.get(ir, *f), Expr::bit(8, 3)).cast(Ty::Bit(16));
                        Expr::binary(BinOp::Add, fixed, varbit)
                    }
                };
                mux(Expr::binary(BinOp::Eq, self.get(ir, *valid), Expr::bit(1, 1)), len, word(0))
            };
            let behind = self.headers.iter().skip(self.calls.headers.len());
            then.extend(behind.map(|h| self.put(length, Expr::binary(BinOp::Add, self.get(ir, length), of(h)))));
        }
        then.push(set(vars.egress_spec, 9, 0));
        let at_call = Expr::binary(BinOp::Ge, Expr::var(ir, vars.stop), Expr::bit(8, Bridge::STOP.into()));
        Stmt::If(at_call, then, vec![])
    }

    fn parser(&self, ir: &mut Ir, vars: &Vars) {
        let mut own = ir.parser().start.map_or(Next::Accept, Next::State);
        // The values that the parser's declarations begin with may be of the arrival, which the bridge restores first.
        let init = std::mem::take(&mut ir.parser_mut().init);
        if !init.is_empty() {
            own = Next::State(ir.states.push(State { name: "bridge.init".into(), body: init, next: Transition::Goto(own), likely: None }));
        }
        // From the last header back to the first: each state knows the next one.
        let mut next = Next::Accept;
        let is_one = || vec![KeySet::Value { value: Bits::new(1, 1), mask: Bits::new(1, 1) }];
        for (h, valid, bits) in self.headers.iter().rev() {
            let name = ir.headers[*h].name.clone();
            let varbit_bits = bits.map(|f| self.get(ir, f));
            let extract = Stmt::Extract { header: HeaderRef::Static(*h), varbit_bits };
            let there = ir.states.push(State {
                name: format!("bridge.extract.{name}"),
                body: vec![extract],
                next: Transition::Goto(next),
                likely: None,
            });
            let keys = vec![self.get(ir, *valid)];
            let cases = vec![SelectCase { sets: is_one(), next: Next::State(there) }, SelectCase { sets: vec![KeySet::Any], next }];
            let state = State { name: format!("bridge.{name}"), body: vec![], next: Transition::Select { keys, cases }, likely: None };
            next = Next::State(ir.states.push(state));
        }
        let mut body = vec![
            Stmt::Extract { header: HeaderRef::Static(self.header), varbit_bits: None },
            Stmt::Assign(LValue::Var(vars.kind), self.get(ir, self.kind)),
        ];
        body.extend(self.restore(ir));
        body.push(Stmt::Assign(LValue::Var(vars.port), Expr::var(ir, vars.egress_port)));
        // What egress has asked for, where it has run already.
        body.extend(self.asked.iter().map(|(v, f)| Stmt::Assign(LValue::Var(*v), self.get(ir, *f))));
        if self.length.is_some() {
            let kind = Expr::var(ir, vars.kind);
            let at_call = Expr::binary(BinOp::Ge, kind.clone(), Expr::bit(8, Bridge::STOP.into()));
            body.push(Stmt::Assign(LValue::Var(self.calls.at), mux(at_call, kind, Expr::bit(8, 0))));
            body.push(Stmt::Assign(LValue::Var(self.calls.spec), Expr::var(ir, vars.egress_spec)));
        }
        let kind = |k: u8| vec![KeySet::Value { value: Bits::new(8, k.into()), mask: Bits::new(8, 0xff) }];
        let case = |sets, next| SelectCase { sets, next };
        let cases = vec![case(kind(Bridge::PARSE_EGRESS), own), case(kind(Bridge::PARSE_INGRESS), own), case(vec![KeySet::Any], next)];
        let select = match self.copies {
            true => Transition::Select { keys: vec![Expr::var(ir, vars.kind)], cases },
            false => Transition::Goto(next),
        };
        let resume = ir.states.push(State { name: "bridge.resume".into(), body, next: select, likely: None });
        let mut body = vec![];
        if let (Some(frame), Some(length)) = (vars.frame_length, ir.intrinsic.standard.get("packet_length")) {
            body.push(Stmt::Assign(LValue::Var(frame), Expr::var(ir, *length)));
        }
        let port = Bits::new(9, Bridge::PORT.0.into());
        let from = vec![KeySet::Value { value: port, mask: Bits::new(9, 0x1ff) }];
        let cases = vec![case(from, Next::State(resume)), case(vec![KeySet::Any], own)];
        let select = Transition::Select { keys: vec![Expr::var(ir, vars.ingress_port)], cases };
        ir.parser_mut().start = Some(ir.states.push(State { name: "bridge.start".into(), body, next: select, likely: None }));
    }

    /// Passes that begin with ingress: packets as received, and those that are parsed for it.
    fn begins_at_start(&self, ir: &Ir, vars: &Vars) -> Expr {
        let is = |k: u8| Expr::binary(BinOp::Eq, Expr::var(ir, vars.kind), Expr::bit(8, k.into()));
        if self.copies { Expr::binary(BinOp::LOr, is(0), is(Bridge::PARSE_INGRESS)) } else { is(0) }
    }

    /// Passes that run ingress: those, and what comes back from a call in it.
    fn in_ingress(&self, ir: &Ir, vars: &Vars) -> Expr {
        let start = self.begins_at_start(ir, vars);
        if self.calls.in_ingress == 0 {
            return start;
        }
        Expr::binary(BinOp::LOr, start, self.calls.is(Expr::var(ir, vars.kind), true))
    }

    fn verify(&self, ir: &mut Ir, vars: &Vars) {
        let body = std::mem::take(ir.control_mut(Role::VerifyChecksum));
        if !body.is_empty() {
            *ir.control_mut(Role::VerifyChecksum) = vec![Stmt::If(self.begins_at_start(ir, vars), body, vec![])];
        }
    }

    fn ingress(&self, ir: &mut Ir, vars: &Vars) {
        let is = |ir: &Ir, v: VarId, k: u128| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::constant(ir.vars[v].ty, k));
        let mut own = if self.copies { vec![set(vars.clone, 1, 0), set(vars.resubmit, 1, 0)] } else { vec![] };
        own.append(ir.ingress_mut());
        let (mut body, stopped) = self.calls.cut(ir, vars, true, own);
        if self.copies {
            let mut asks = Expr::binary(BinOp::LOr, is(ir, vars.clone, 1), is(ir, vars.resubmit, 1));
            if let Some(g) = vars.group {
                asks = Expr::binary(BinOp::LOr, asks, Expr::unary(UnOp::Not, is(ir, g, 0)));
            }
            let mut stop = self.fill(ir, vars, Bridge::AFTER_INGRESS);
            stop.push(set(vars.egress_spec, 9, 0));
            body.push(Stmt::If(asks, stop, vec![]));
        }
        if let Some(label) = stopped {
            body = vec![Stmt::Labeled(label, body), self.stop_at_call(ir, vars)];
        }
        let mut ingress = vec![];
        if self.copies {
            // What the parser of a clone has written goes.
            ingress.push(Stmt::If(is(ir, vars.kind, Bridge::PARSE_EGRESS.into()), self.restore(ir), vec![]));
        }
        ingress.push(Stmt::SetValid(HeaderRef::Static(self.header), false));
        if self.calls.in_egress() {
            // It may be dropped in egress, not before.
            let in_egress = self.calls.is(Expr::var(ir, self.calls.at), false);
            ingress.push(Stmt::If(in_egress, vec![set(vars.egress_spec, 9, 0)], vec![]));
        }
        ingress.push(Stmt::If(self.in_ingress(ir, vars), body, vec![]));
        *ir.ingress_mut() = ingress;
    }

    fn egress(&self, ir: &mut Ir, vars: &Vars) {
        let is = |ir: &Ir, v: VarId, k: u128| Expr::binary(BinOp::Eq, Expr::var(ir, v), Expr::constant(ir.vars[v].ty, k));
        let kind = |ir: &Ir, k: u8| is(ir, vars.kind, k.into());
        let mut own = if self.copies { vec![set(vars.egress_clone, 1, 0), set(vars.recirculate, 1, 0)] } else { vec![] };
        own.append(ir.egress_mut());
        let (mut own, stopped) = self.calls.cut(ir, vars, false, own);
        let copy_var = |to: VarId, from: VarId| Stmt::Assign(LValue::Var(to), Expr::var(ir, from));
        let mut ends = vec![];
        if self.copies {
            let mut cloned = vec![copy_var(vars.session, vars.egress_session), copy_var(vars.clone_fields, vars.egress_clone_fields)];
            // Asked for once: the pass that finishes behind egress finds what the bridge says.
            cloned.push(set(vars.egress_clone, 1, 0));
            cloned.extend(self.fill(ir, vars, Bridge::AFTER_EGRESS));
            cloned.push(set(vars.egress_spec, 9, 0));
            let round = Expr::binary(BinOp::LAnd, is(ir, vars.recirculate, 1), Expr::unary(UnOp::Not, is(ir, vars.egress_spec, 511)));
            let round = Stmt::If(round, self.fill(ir, vars, Bridge::RECIRCULATE), vec![]);
            // Behind egress the clones have been made already: it is zero.
            ends.push(Stmt::If(is(ir, vars.egress_clone, 1), cloned, vec![round]));
        }
        if let Some(label) = stopped {
            let back = vec![copy_var(vars.egress_spec, self.calls.spec), copy_var(vars.egress_port, vars.port)];
            own.insert(0, Stmt::If(self.calls.is(Expr::var(ir, self.calls.at), false), back, vec![]));
            own = vec![Stmt::Labeled(label, own), self.stop_at_call(ir, vars)];
            if self.copies {
                ends = vec![Stmt::If(is(ir, vars.stop, 0), ends, vec![])];
            }
        }
        let finish = kind(ir, Bridge::FINISH);
        let mut work = if self.copies { vec![Stmt::If(finish.clone(), vec![], own)] } else { own };
        work.append(&mut ends);
        let stopped = Expr::unary(UnOp::Not, is(ir, vars.stop, 0));
        let reason = ir.vars[vars.drop_reason].ty;
        let leave = vec![
            set(vars.egress_port, 9, Bridge::PORT.0.into()),
            Stmt::Assign(LValue::Var(vars.drop_reason), Expr::constant(reason, Bits::mask(reason.width()))),
        ];
        let copy = Expr::binary(BinOp::LOr, kind(ir, Bridge::COPY), kind(ir, Bridge::PARSE_EGRESS));
        let mut egress = vec![];
        if self.copies {
            egress.push(Stmt::If(finish, vec![Stmt::Assign(LValue::Var(vars.egress_port), Expr::var(ir, vars.port))], vec![]));
            egress.push(Stmt::If(copy, vec![set(vars.egress_spec, 9, 0)], vec![]));
        }
        egress.push(Stmt::If(is(ir, vars.stop, 0), work, vec![]));
        egress.push(Stmt::If(stopped, leave, vec![]));
        *ir.egress_mut() = egress;
    }

    /// Checksums and deparser.
    fn rest(&self, ir: &mut Ir, vars: &Vars) {
        let is = |k: u8| Expr::binary(BinOp::Eq, Expr::var(ir, vars.stop), Expr::bit(8, k.into()));
        let whole = if self.copies { Expr::binary(BinOp::LOr, is(0), is(Bridge::RECIRCULATE)) } else { is(0) };
        let body = std::mem::take(ir.control_mut(Role::ComputeChecksum));
        if !body.is_empty() {
            *ir.control_mut(Role::ComputeChecksum) = vec![Stmt::If(whole.clone(), body, vec![])];
        }
        let bridge = Stmt::Emit(HeaderRef::Static(self.header));
        let all = self.headers.iter().map(|(h, ..)| Stmt::Emit(HeaderRef::Static(*h)));
        let own = std::mem::take(ir.deparser_mut());
        *ir.deparser_mut() = match self.copies {
            true => vec![bridge, Stmt::If(whole, own, all.collect())],
            // Only a pass that stops has a bridge.
            false => vec![Stmt::If(whole, own, [bridge].into_iter().chain(all).collect())],
        };
    }

    fn bridge(&self, ir: &Ir, vars: &Vars) -> Bridge {
        let ty = &ir.header_types[self.ty];
        let at = |f: u32| BitField { offset: ty.fields[f as usize].offset_bits, width: ty.fields[f as usize].ty.width() };
        let asked = |v: VarId| self.asked.iter().find(|(w, _)| *w == v).map_or_else(BitField::default, |(_, f)| at(*f));
        let of = |v: VarId| self.vars.iter().find(|(w, _)| *w == v).map(|(_, f)| at(*f));
        let standard = |name: &str| ir.intrinsic.standard.get(name).and_then(|v| of(*v));
        let position = |v: &VarId| self.vars.iter().position(|(w, _)| w == v);
        let lists: BTreeMap<u8, Vec<usize>> =
            ir.intrinsic.field_lists.iter().map(|(n, list)| (*n, list.iter().filter_map(position).collect())).collect();
        Bridge {
            len: ty.fixed_bits as usize / 8,
            kind: at(self.kind),
            clone: asked(vars.clone),
            session: asked(vars.session),
            clone_fields: asked(vars.clone_fields),
            resubmit: asked(vars.resubmit),
            resubmit_fields: asked(vars.resubmit_fields),
            recirculate_fields: asked(vars.recirculate_fields),
            vars: self.vars.iter().map(|(_, f)| at(*f)).collect(),
            field_lists: lists,
            ingress_port: of(vars.ingress_port).unwrap_or_default(),
            egress_spec: of(vars.egress_spec).unwrap_or_default(),
            instance_type: standard("instance_type"),
            packet_length: standard("packet_length"),
            frame_length: vars.frame_length.and_then(of),
            timestamp: standard("ingress_global_timestamp"),
            egress_rid: standard("egress_rid"),
            multicast: vars.group.and_then(of),
            drop_reason: of(vars.drop_reason).unwrap_or_default(),
            mark: ir.intrinsic.mark.and_then(of),
            stop_reason: Bits::mask(ir.vars[vars.drop_reason].ty.width()).min(255) as u8,
            stops: self.calls.all.clone(),
            headers: self.length.map_or_else(BitField::default, at),
            state_behind_stops: false,
            written_behind: Vec::new(),
            switch: None,
        }
    }
}
