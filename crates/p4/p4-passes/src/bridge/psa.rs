//! A program for PSA as one for a target of one pipe: each pass through a pipe is a pass through that one, with a bridge in front.
//!
//! PSA's pipes have nothing in common but the packet's bytes and the metadata of its path, so each pass stops behind its deparser. The bridge in front of the
//! packet then says what the pipe has decided; what comes of that, the replication engine says ([`program::Switch`]). What it starts anew has a bridge
//! that tells the pipe, the path, the port and the metadata. The one pipe:
//! - **parser**: a packet from [`Bridge::PORT`] has a bridge; any other is new, and goes into the ingress pipe;
//! - **ingress**: that of the ingress pipe; **egress**: that of the egress pipe, and what the deparser of either does ahead of its first `emit`;
//! - **deparser**: the bridge, then what is left of the deparser.

use super::{CutError, MAX_BYTES, exits, set};
use p4_analysis::control::{self, any_stmt};
use p4_analysis::effects::Effects;
use p4_ir::origin::{Construct, Holder};
use p4_ir::*;
use program::{BitField, Bridge, CountUnit, LengthSource, Switch};
use std::collections::{BTreeMap, BTreeSet};

/// The bridge's fields.
struct Fields {
    header: HeaderRef,
    kind: u32,
    path: u32,
    port: u32,
    instance: u32,
    class: u32,
    drop: u32,
    clone: u32,
    session: u32,
    resubmit: u32,
    group: u32,
    reason: Option<(VarId, u32)>,
    mark: Option<(VarId, u32)>,
    /// What counters of frames count.
    frame: Option<(VarId, u32)>,
    /// Metadata that go with a packet.
    taken: Vec<(VarId, u32)>,
}

/// Variables of the program of one pipe.
struct Vars {
    port: VarId,
    length: VarId,
    now: VarId,
    egress_port: VarId,
    kind: VarId,
    error: Option<VarId>,
}

pub(super) fn cut(psa: &Ir) -> Result<(Ir, Bridge), CutError> {
    let [ingress, egress] = [0, 1].map(|n| psa.pipes[PipeId::from_u32(n)].clone());
    let mut ir = psa.clone();
    (ir.arch, ir.pipes) = (Architecture::V1Model, Architecture::V1Model.pipes());
    ir.intrinsic = Intrinsics { pdu_length: psa.intrinsic.pdu_length, ..Intrinsics::default() };
    let own = |name: &str| psa.intrinsic.standard.get(name).copied();

    let vars = Vars::new(&mut ir, psa);
    let frame = frame_length(&mut ir)?;
    let (ty, fields) = Fields::new(&mut ir, psa, frame)?;
    parser(&mut ir, psa, &vars, &fields, [&ingress.parser, &egress.parser]);

    *ir.ingress_mut() = ingress.control(Role::Ingress).clone();
    *ir.egress_mut() = egress.control(Role::Egress).clone();
    let exited = ir.add_var("bridge.exited", Ty::Bit(1));
    exits(&mut ir, exited);
    let [mut in_ingress, mut in_egress] = [std::mem::take(ir.ingress_mut()), std::mem::take(ir.egress_mut())];
    for (name, body) in [("ingress", &mut in_ingress), ("egress", &mut in_egress)] {
        if let (Some(error), Some(v)) = (vars.error, own(&format!("{name}_input.parser_error"))) {
            body.insert(0, Stmt::Assign(LValue::Var(v), Expr::var(&ir, error)));
        }
    }
    let [(before_ingress, ingress), (before_egress, egress)] =
        [fields.deparser(psa, 0, ingress.deparser)?, fields.deparser(psa, 1, egress.deparser)?];
    in_egress.extend(before_egress);
    in_egress.extend(fields.say(
        &ir,
        Bridge::AFTER_EGRESS,
        &[
            (fields.drop, own("egress_output.drop")),
            (fields.clone, own("egress_output.clone")),
            (fields.session, own("egress_output.clone_session_id")),
            (fields.class, own("egress_input.class_of_service")),
        ],
    ));
    let mut behind_ingress = before_ingress;
    behind_ingress.extend(fields.say(
        &ir,
        Bridge::AFTER_INGRESS,
        &[
            (fields.port, own("ingress_output.egress_port")),
            (fields.class, own("ingress_output.class_of_service")),
            (fields.drop, own("ingress_output.drop")),
            (fields.clone, own("ingress_output.clone")),
            (fields.session, own("ingress_output.clone_session_id")),
            (fields.resubmit, own("ingress_output.resubmit")),
            (fields.group, own("ingress_output.multicast_group")),
        ],
    ));
    let is_egress = Expr::binary(BinOp::Eq, Expr::var(&ir, vars.kind), Expr::bit(8, Bridge::PARSE_EGRESS.into()));
    *ir.ingress_mut() = vec![Stmt::If(is_egress.clone(), vec![], in_ingress)];
    *ir.egress_mut() = vec![Stmt::If(is_egress.clone(), in_egress, behind_ingress), set(vars.egress_port, 9, Bridge::PORT.0.into())];
    *ir.deparser_mut() = vec![Stmt::Emit(fields.header.clone()), Stmt::If(is_egress, egress, ingress)];
    let bridge = fields.bridge(&ir, psa, ty);
    Ok((ir, bridge))
}

impl Vars {
    fn new(ir: &mut Ir, psa: &Ir) -> Vars {
        let mut standard = |name: &str, ty: Ty| {
            let v = ir.add_var(&format!("standard.{name}"), ty);
            ir.intrinsic.standard.insert(name.into(), v);
            v
        };
        let (port, length) = (standard("ingress_port", Ty::Bit(16)), standard("packet_length", Ty::Bit(32)));
        let now = standard("ingress_global_timestamp", Ty::Bit(48));
        standard("egress_spec", Ty::Bit(9));
        let egress_port = standard("egress_port", Ty::Bit(9));
        let errors = ["ingress_input.parser_error", "egress_input.parser_error"];
        let error = errors.iter().find_map(|name| psa.intrinsic.standard.get(*name));
        let error = error.map(|v| standard("parser_error", psa.vars[*v].ty));
        Vars { port, length, now, egress_port, kind: ir.add_var("bridge.pass", Ty::Bit(8)), error }
    }
}

/// A frame with a bridge is longer than the one that counters are to count.
fn frame_length(ir: &mut Ir) -> Result<Option<VarId>, CutError> {
    let frames = |length: &LengthSource, unit: &CountUnit| *length == LengthSource::Frame && *unit != CountUnit::Packets;
    let p = &ir.program;
    if !p.counters.values().any(|c| frames(&c.length, &c.unit)) && !p.meters.values().any(|m| frames(&m.length, &m.unit)) {
        return Ok(None);
    }
    if ir.intrinsic.pdu_length.is_some() {
        return Err(CutError::new(Construct::Counter, "counters count both frames and @pdu_length"));
    }
    let v = ir.add_var("bridge.frame_length", Ty::Bit(32));
    ir.intrinsic.pdu_length = Some(v);
    ir.program.counters.values_mut().for_each(|c| c.length = LengthSource::Pdu);
    ir.program.meters.values_mut().for_each(|m| m.length = LengthSource::Pdu);
    Ok(Some(v))
}

impl Fields {
    fn new(ir: &mut Ir, psa: &Ir, frame: Option<VarId>) -> Result<(HeaderTypeId, Fields), CutError> {
        let (mut fields, mut offset) = (Vec::new(), 0);
        let mut add = |name: &str, ty: Ty| {
            fields.push(Field { name: name.into(), ty, offset_bits: offset, varbit: false });
            offset += ty.width();
            fields.len() as u32 - 1
        };
        // As wide as the program has it.
        let like = |names: &[&str]| {
            let known = names.iter().filter_map(|name| Some(psa.vars[*psa.intrinsic.standard.get(*name)?].ty));
            known.max_by_key(|ty| ty.width()).unwrap_or(Ty::Bit(1))
        };
        let kind = add("kind", Ty::Bit(8));
        let path = add("path", Ty::Bit(8));
        let port = add("port", Ty::Bit(32));
        let instance = add("instance", like(&["egress_input.instance"]));
        let class = add("class_of_service", like(&["ingress_output.class_of_service", "egress_input.class_of_service"]));
        let drop = add("drop", Ty::Bit(1));
        let clone = add("clone", Ty::Bit(1));
        let session = add("session", like(&["ingress_output.clone_session_id", "egress_output.clone_session_id"]));
        let resubmit = add("resubmit", Ty::Bit(1));
        let group = add("group", like(&["ingress_output.multicast_group"]));
        let reason = psa.intrinsic.drop_reason.map(|v| (v, add("reason", psa.vars[v].ty)));
        let mark = psa.intrinsic.mark.map(|v| (v, add("mark", psa.vars[v].ty)));
        let frame = frame.map(|v| (v, add("frame_length", Ty::Bit(32))));
        let all: BTreeSet<VarId> = psa.intrinsic.field_lists.values().flatten().copied().collect();
        let taken = all.into_iter().map(|v| (v, add(&psa.vars[v].name, psa.vars[v].ty))).collect();
        if offset % 8 != 0 {
            fields.push(Field { name: "_padding".into(), ty: Ty::Bit(8 - offset % 8), offset_bits: offset, varbit: false });
        }
        let fixed_bits: u32 = fields.iter().map(|f| f.ty.width()).sum();
        if fixed_bits / 8 > MAX_BYTES {
            return Err(CutError::new(None, format!("{} bytes of metadata travel with a packet, more than {MAX_BYTES}", fixed_bits / 8)));
        }
        let ty = ir.header_types.push(HeaderType { name: "bridge_t".into(), fields, fixed_bits });
        let header = HeaderRef::Static(ir.headers.push(Header { name: "bridge".into(), ty, union: None }));
        Ok((ty, Fields { header, kind, path, port, instance, class, drop, clone, session, resubmit, group, reason, mark, frame, taken }))
    }

    /// Bytes of the bridge.
    fn len(&self, ir: &Ir) -> u32 {
        let HeaderRef::Static(h) = self.header else { return 0 };
        ir.header_types[ir.headers[h].ty].fixed_bits / 8
    }

    fn ty(&self, ir: &Ir, field: u32) -> Ty {
        let HeaderRef::Static(h) = self.header else { return Ty::Bit(1) };
        ir.header_types[ir.headers[h].ty].fields[field as usize].ty
    }

    fn get(&self, ir: &Ir, field: u32) -> Expr {
        Expr { kind: ExprKind::Field(self.header.clone(), field), ty: self.ty(ir, field) }
    }

    fn put(&self, ir: &Ir, field: u32, value: Expr) -> Stmt {
        Stmt::Assign(LValue::Field(self.header.clone(), field), as_type(value, self.ty(ir, field)))
    }

    /// What a pass says at its end.
    fn say(&self, ir: &Ir, kind: u8, said: &[(u32, Option<VarId>)]) -> Block {
        let mut out = vec![self.put(ir, self.kind, Expr::bit(8, kind.into()))];
        let known = said.iter().filter_map(|(field, v)| Some((*field, (*v)?)));
        let others = self.taken.iter().chain(&self.reason).chain(&self.mark).map(|(v, field)| (*field, *v));
        out.extend(known.chain(others).map(|(field, v)| self.put(ir, field, Expr::var(ir, v))));
        out
    }

    /// What a deparser does before its first `emit`, and the rest. The bridge is filled between the two.
    fn deparser(&self, psa: &Ir, pipe: usize, body: Block) -> Result<(Block, Block), CutError> {
        let refused = |what: &str| CutError {
            holder: Some(Holder::Deparser(PipeId::from_u32(pipe as u32))),
            ..CutError::new(Construct::Emit, format!("the {} deparser {what}", ["ingress", "egress"][pipe]))
        };
        if control::exits(&body) {
            return Err(refused("has an `exit`"));
        }
        let emits = |s: &Stmt| any_stmt(std::slice::from_ref(s), &mut |s| matches!(s, Stmt::Emit(_)));
        let at = body.iter().position(emits).unwrap_or(body.len());
        let (mut before, mut rest) = (body, Vec::new());
        rest.extend(before.drain(at..));
        let said: BTreeSet<VarId> = self.taken.iter().chain(&self.reason).chain(&self.mark).map(|(v, _)| *v).collect();
        if Effects::of(psa, &rest).written_vars().any(|v| said.contains(&v)) {
            return Err(refused("sets what goes with the packet behind its first `emit`"));
        }
        Ok((before, rest))
    }

    /// Where everything is, for the replication engine.
    fn bridge(&self, ir: &Ir, psa: &Ir, ty: HeaderTypeId) -> Bridge {
        let ty = &ir.header_types[ty];
        let at = |f: u32| BitField { offset: ty.fields[f as usize].offset_bits, width: ty.fields[f as usize].ty.width() };
        let position = |v: &VarId| self.taken.iter().position(|(w, _)| w == v);
        let lists = psa.intrinsic.field_lists.iter();
        let lists: BTreeMap<u8, Vec<usize>> = lists.map(|(path, list)| (*path, list.iter().filter_map(position).collect())).collect();
        Bridge {
            len: ty.fixed_bits as usize / 8,
            kind: at(self.kind),
            clone: at(self.clone),
            session: at(self.session),
            resubmit: at(self.resubmit),
            vars: self.taken.iter().map(|(_, f)| at(*f)).collect(),
            field_lists: lists,
            frame_length: self.frame.map(|(_, f)| at(f)),
            multicast: Some(at(self.group)),
            drop_reason: self.reason.map_or_else(BitField::default, |(_, f)| at(f)),
            mark: self.mark.map(|(_, f)| at(f)),
            switch: Some(Switch {
                path: at(self.path),
                port: at(self.port),
                instance: at(self.instance),
                class_of_service: at(self.class),
                drop: at(self.drop),
            }),
            state_behind_stops: state_in_ingress(psa),
            ..Bridge::default()
        }
    }
}

/// Both parsers behind one start.
fn parser(ir: &mut Ir, psa: &Ir, vars: &Vars, fields: &Fields, [ingress, egress]: [&Parser; 2]) {
    let own = |name: &str| psa.intrinsic.standard.get(name).copied();
    let begin = |ir: &mut Ir, name: &str, told: &[(&str, Expr)], parser: &Parser| {
        let known = told.iter().filter_map(|(to, value)| Some((own(to)?, value.clone())));
        let known: Block = known.map(|(v, value)| Stmt::Assign(LValue::Var(v), as_type(value, ir.vars[v].ty))).collect();
        let next = Transition::Goto(parser.start.map_or(Next::Accept, Next::State));
        let body = known.into_iter().chain(parser.init.iter().cloned()).collect();
        ir.states.push(State { name: format!("bridge.{name}"), body, next, likely: None })
    };
    let (path, port, now) = (fields.get(ir, fields.path), fields.get(ir, fields.port), Expr::var(ir, vars.now));
    let told = [
        ("ingress_parser_input.packet_path", path.clone()),
        ("ingress_input.packet_path", path.clone()),
        ("ingress_parser_input.ingress_port", port.clone()),
        ("ingress_input.ingress_port", port.clone()),
        ("ingress_input.ingress_timestamp", now.clone()),
        // Unless the program says otherwise.
        ("ingress_output.drop", Expr::bit(1, 1)),
    ];
    let ingress = begin(ir, "ingress", &told, ingress);
    let told = [
        ("egress_parser_input.packet_path", path.clone()),
        ("egress_input.packet_path", path),
        ("egress_parser_input.egress_port", port.clone()),
        ("egress_input.egress_port", port.clone()),
        ("egress_deparser_input.egress_port", port),
        ("egress_input.egress_timestamp", now),
        ("egress_input.instance", fields.get(ir, fields.instance)),
        ("egress_input.class_of_service", fields.get(ir, fields.class)),
    ];
    let egress = begin(ir, "egress", &told, egress);

    let zero = |ir: &Ir, field: u32| fields.put(ir, field, Expr::constant(fields.ty(ir, field), 0));
    let mut received = vec![Stmt::SetValid(fields.header.clone(), true)];
    received.extend([fields.path, fields.instance].map(|field| zero(ir, field)));
    received.push(fields.put(ir, fields.port, Expr::var(ir, vars.port)));
    received.extend(fields.frame.map(|(v, _)| Stmt::Assign(LValue::Var(v), Expr::var(ir, vars.length))));
    received.extend(own("packet_length").map(|v| Stmt::Assign(LValue::Var(v), Expr::var(ir, vars.length))));
    let goto = |state| Transition::Goto(Next::State(state));
    let received = ir.states.push(State { name: "bridge.received".into(), body: received, next: goto(ingress), likely: None });

    let mut again = vec![
        Stmt::Extract { header: fields.header.clone(), varbit_bits: None },
        Stmt::Assign(LValue::Var(vars.kind), fields.get(ir, fields.kind)),
    ];
    // The pass's own packet begins behind the bridge.
    let behind = Expr::binary(BinOp::Sub, Expr::var(ir, vars.length), Expr::bit(32, fields.len(ir).into()));
    again.extend(own("packet_length").map(|v| Stmt::Assign(LValue::Var(v), behind)));
    again.extend(fields.taken.iter().chain(&fields.frame).map(|(v, field)| Stmt::Assign(LValue::Var(*v), fields.get(ir, *field))));
    let value = |width: u32, value: u128| vec![KeySet::Value { value: Bits::new(width, value), mask: Bits::new(width, Bits::mask(width)) }];
    let case = |sets, state| SelectCase { sets, next: Next::State(state) };
    let cases = vec![case(value(8, Bridge::PARSE_EGRESS.into()), egress), case(vec![KeySet::Any], ingress)];
    let next = Transition::Select { keys: vec![Expr::var(ir, vars.kind)], cases };
    let again = ir.states.push(State { name: "bridge.again".into(), body: again, next, likely: None });

    let cases = vec![case(value(16, Bridge::PORT.0.into()), again), case(vec![KeySet::Any], received)];
    let next = Transition::Select { keys: vec![Expr::var(ir, vars.port)], cases };
    ir.parser_mut().start = Some(ir.states.push(State { name: "bridge.start".into(), body: vec![], next, likely: None }));
}

/// A number or bool as one of another width.
fn as_type(e: Expr, ty: Ty) -> Expr {
    match (e.ty, ty) {
        (from, to) if from == to => e,
        (Ty::Bool, _) => e.cast(Ty::Bit(1)).cast(ty),
        (Ty::Int(w), _) if w != ty.width() => e.cast(Ty::Bit(w)).cast(ty),
        _ => e.cast(ty),
    }
}

/// Whether a packet that comes to the ingress pipe a second time may find what a later one has left there. Egress has its own instances, and packets come to it in order.
fn state_in_ingress(psa: &Ir) -> bool {
    let pipe = &psa.pipes[PipeId::from_u32(0)];
    let mut reached = BTreeSet::new();
    let mut todo: Vec<StateId> = pipe.parser.start.into_iter().collect();
    while let Some(state) = todo.pop() {
        if reached.insert(state) {
            todo.extend(
                psa.states[state].next.targets().into_iter().filter_map(|next| if let Next::State(s) = next { Some(s) } else { None }),
            );
        }
    }
    let parser = std::iter::once(&pipe.parser.init).chain(reached.iter().map(|s| &psa.states[*s].body));
    let mut blocks = parser.chain(pipe.after_parser());
    blocks.any(|block| any_stmt(block, &mut |s| super::uses_state(psa, s)))
}
