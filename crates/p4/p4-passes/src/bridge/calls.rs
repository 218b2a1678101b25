//! Where a program calls a service, or a stage of a chain ends: it stops there, and a packet that comes back jumps behind.
//!
//! Stops are numbered in the order of their text. A resumed pass holds the number of its call in a variable, [`Calls::at`], and runs nothing until it is
//! there: what stands before a call runs only if the variable is zero, and a block that has calls inside is entered if one of them is meant.
//! ```text
//! a                     if (at == 0) { a, request, stop = 16, break stopped }
//! s.call(request, x)    if (at == 16) { at = 0, x = answer }
//! if (c) {              if (at == 0 || at == 17) {
//!                         if (at == 17 || c) {
//!   b                       if (at == 0) { b, request, stop = 17, break stopped }
//!   s.call(request, x)      if (at == 17) { at = 0, x = answer }
//! }                     } }
//! d                     d
//! ```
//! Before `stop = 16` the program looks up a table that stands for the call, with the request as key ([`Ask`]). It has no entries, so that it misses; but a lane that
//! can ask the service while the burst runs gives its answer as a hit, and the program goes on with `at = 16`, its headers and variables as they are.
//!
//! Request and answer are fields of a header that follows the bridge, one for each service. The end of a stage is the same without either.

use super::{CutError, Vars, set};
use p4_analysis::control::any_stmt;
use p4_analysis::effects::read_anywhere;
use p4_analysis::live::Liveness;
use p4_ir::origin::Construct;
use p4_ir::*;
use program::{Bridge, BridgeCall, BridgeStop};
use std::collections::{BTreeMap, BTreeSet};

/// The stops within the controls of a program.
pub(super) struct Calls {
    /// All of them, those of ingress first.
    pub all: Vec<BridgeStop>,
    /// Those in ingress.
    pub in_ingress: usize,
    /// The header of each service's requests and answers.
    pub headers: BTreeMap<ServiceId, HeaderId>,
    /// The look-ups that stand for calls, by the number of the stop.
    asks: BTreeMap<u8, Ask>,
    /// The call that a pass resumes behind, until it is there.
    pub at: VarId,
    /// `egress_spec` of a pass that resumes in egress, until it is there.
    pub spec: VarId,
}

/// Whether the program calls services.
pub fn calls_services(ir: &Ir) -> bool {
    has(ir, |s| matches!(s, Stmt::Extern(Extern::Service { .. })))
}

/// Whether it is marked where stages of a chain of targets end.
pub fn has_stages(ir: &Ir) -> bool {
    has(ir, |s| matches!(s, Stmt::Extern(Extern::Stage(_))))
}

fn has(ir: &Ir, is: impl Fn(&Stmt) -> bool) -> bool {
    [ir.ingress(), ir.egress()].into_iter().any(|b| any_stmt(b, &mut |s| is(s)))
}

pub(super) fn stops(s: &Stmt) -> bool {
    matches!(s, Stmt::Extern(Extern::Service { .. } | Extern::Stage(_)))
}

/// Variables that are still read behind a stop, and those of `always`.
pub(super) fn live_behind(ir: &Ir, vars: &Vars, always: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    // To liveness all of standard_metadata is read at the end; the target reads these.
    let mut read = read_anywhere(ir);
    read.extend(always);
    read.extend([Some(vars.egress_spec), ir.intrinsic.drop_reason, ir.intrinsic.mark, ir.intrinsic.pdu_length].into_iter().flatten());
    if count(ir.egress()) > 0 {
        read.insert(vars.egress_port);
    }
    let mut behind = always.clone();
    // A packet that a service drops has it too.
    behind.extend(ir.intrinsic.mark);
    Liveness::new(ir).behind(&mut |s, live| {
        let answer = match s {
            Stmt::Extern(Extern::Service { answer, .. }) => answer,
            Stmt::Extern(Extern::Stage(_)) => &None,
            _ => return,
        };
        let mut live = live.clone();
        for place in answer.iter().flatten() {
            if let LValue::Var(v) = place {
                live.remove(v);
            }
        }
        // Where the answer goes is found behind the call.
        answer.iter().flatten().for_each(|place| walk::lvalue_exprs(place, &mut |e| walk::read_vars(e, &mut |v| live.extend([v]))));
        behind.extend(live.intersection(&read));
    });
    behind
}

fn count(block: &Block) -> usize {
    let mut found = 0;
    walk::all_stmts(block, &mut |s| found += usize::from(stops(s)));
    found
}

fn count_stmt(s: &Stmt) -> usize {
    let mut found = usize::from(stops(s));
    walk::stmt_blocks(s, &mut |b| found += count(b));
    found
}

impl Calls {
    pub(super) fn new(ir: &mut Ir) -> Result<Calls, CutError> {
        let mut all = Vec::new();
        let mut headers = BTreeMap::new();
        let mut in_ingress = 0;
        let mut asks = BTreeMap::new();
        for stage in [true, false] {
            let mut found = Vec::new();
            walk::all_stmts(if stage { ir.ingress() } else { ir.egress() }, &mut |s| match s {
                Stmt::Extern(Extern::Service { service, answer, .. }) => found.push(Found::Call(*service, answer.is_some())),
                Stmt::Extern(Extern::Stage(stage)) => found.push(Found::Stage(*stage)),
                _ => {}
            });
            for found in found {
                let (service, waits) = match found {
                    Found::Call(service, waits) => (service, waits),
                    Found::Stage(stage) => {
                        all.push(BridgeStop::Stage(stage));
                        continue;
                    }
                };
                let header = *headers.entry(service).or_insert_with(|| header(ir, service));
                let len = ir.header_types[ir.headers[header].ty].fixed_bits as usize / 8;
                let info = &ir.program.services[service];
                let number = Bridge::STOP as usize + all.len();
                let has_fields =
                    !info.request.is_empty() && info.request.iter().all(|f| f.width > 0) && info.answer.iter().all(|f| f.width > 0);
                let ask = has_fields.then(|| Ask::new(ir, service, waits, number));
                let table = ask.as_ref().map(|ask| ask.table);
                asks.extend(ask.map(|ask| (number as u8, ask)));
                all.push(BridgeStop::Call(BridgeCall { kind: number as u8, service, waits, len, table, is_last: false }));
            }
            if stage {
                in_ingress = all.len();
            }
        }
        if all.len() > Bridge::MAX_STOPS {
            return Err(CutError::new(Construct::Service, format!("it stops in {} places, more than {}", all.len(), Bridge::MAX_STOPS)));
        }
        let mut var = |name: &str, width: u32| ir.add_var(&format!("bridge.{name}"), Ty::Bit(width));
        Ok(Calls { all, in_ingress, headers, asks, at: var("resume_at", 8), spec: var("spec", 9) })
    }

    /// Which of them are the last that their packets come to, in the order of `all`: see [`BridgeCall::is_last`].
    pub(super) fn mark_last(&mut self, last: &[bool]) {
        for (stop, last) in self.all.iter_mut().zip(last) {
            if let BridgeStop::Call(call) = stop {
                call.is_last = *last;
            }
        }
    }

    /// Whether there are stops in egress.
    pub(super) fn in_egress(&self) -> bool {
        self.in_ingress < self.all.len()
    }

    /// Whether `kind` is one of a stop, in ingress or in egress.
    pub(super) fn is(&self, kind: Expr, ingress: bool) -> Expr {
        let split = Bridge::STOP + self.in_ingress as u8;
        let (first, next) = if ingress { (Bridge::STOP, split) } else { (split, Bridge::STOP + self.all.len() as u8) };
        between(kind, first, next)
    }

    /// A block of ingress or egress with its calls cut, and the label that a stop leaves, if there are any. `first`: the kind of its first call.
    pub(super) fn cut(&self, ir: &mut Ir, vars: &Vars, ingress: bool, body: Block) -> (Block, Option<LabelId>) {
        if count(&body) == 0 {
            return (body, None);
        }
        let stopped = ir.add_label("stopped");
        let first = Bridge::STOP + if ingress { 0 } else { self.in_ingress as u8 };
        let mut cutter = Cutter { ir, calls: self, stop: vars.stop, stopped, next: first };
        (cutter.block(body), Some(stopped))
    }
}

/// `first <= e < next`.
fn between(e: Expr, first: u8, next: u8) -> Expr {
    let is = |op, e: Expr, k: u8| Expr::binary(op, e, Expr::bit(8, k.into()));
    match next.saturating_sub(first) {
        0 => Expr::bool(false),
        1 => is(BinOp::Eq, e, first),
        _ => Expr::binary(BinOp::LAnd, is(BinOp::Ge, e.clone(), first), is(BinOp::Lt, e, next)),
    }
}

/// A stop as it is met.
enum Found {
    /// Of a service, and whether it waits.
    Call(ServiceId, bool),
    Stage(u8),
}

/// The header of a service's request and answer, each of whole bytes.
fn header(ir: &mut Ir, service: ServiceId) -> HeaderId {
    let info = &ir.program.services[service];
    let name = format!("bridge.{}", info.name);
    let mut ty = HeaderType { name: format!("{}_t", info.name), fields: vec![], fixed_bits: 0 };
    let sides = [("request", &info.request), ("answer", &info.answer)];
    for (side, fields) in sides {
        let named = fields.iter().map(|f| (format!("{side}.{}", f.name), f.width));
        let bits: u32 = fields.iter().map(|f| f.width).sum();
        let padding = (!bits.is_multiple_of(8)).then(|| (format!("{side}._padding"), 8 - bits % 8));
        for (name, width) in named.chain(padding) {
            ty.fields.push(Field { name, ty: Ty::Bit(width), offset_bits: ty.fixed_bits, varbit: false });
            ty.fixed_bits += width;
        }
    }
    if ty.fixed_bits == 0 {
        ty.fields.push(Field { name: "_padding".into(), ty: Ty::Bit(8), offset_bits: 0, varbit: false });
        ty.fixed_bits = 8;
    }
    let ty = ir.header_types.push(ty);
    ir.headers.push(Header { name, ty, union: None })
}

/// A look-up that stands for a call: where it hits, the service has answered while the program ran, and it goes on.
struct Ask {
    table: TableId,
    /// Where it puts the answer's fields, of a call that waits.
    answers: Vec<VarId>,
}

impl Ask {
    /// Its keys are those of the request; the cut fills in what they are.
    fn new(ir: &mut Ir, service: ServiceId, waits: bool, number: usize) -> Ask {
        let info = ir.program.services[service].clone();
        let params: Vec<(&str, u32)> = info.answer.iter().filter(|_| waits).map(|f| (f.name.as_str(), f.width)).collect();
        let answers: Vec<VarId> =
            params.iter().map(|(f, width)| ir.add_var(&format!("bridge.answer_{number}.{f}"), Ty::Bit(*width))).collect();
        let given = ir.add_action(&format!("bridge.answer_{number}"), &params, |ir, vars| {
            answers.iter().zip(vars).map(|(place, v)| Stmt::Assign(LValue::Var(*place), Expr::var(ir, *v))).collect()
        });
        let stop = ir.add_action(&format!("bridge.stop_{number}"), &[], |_, _| vec![]);
        let keys = info.request.iter().map(|f| (f.name.as_str(), Expr::bit(f.width, 0), program::MatchKind::Exact)).collect();
        let table = ir.add_table(&format!("bridge.ask_{number}"), keys, &[given, stop], stop);
        let info = &mut ir.program.tables[table];
        (info.size, info.const_default, info.const_entries) = (1, true, true);
        ir.program.asks.push(program::Ask { table, service });
        Ask { table, answers }
    }
}

struct Cutter<'a> {
    ir: &'a mut Ir,
    calls: &'a Calls,
    stop: VarId,
    stopped: LabelId,
    next: u8,
}

impl Cutter<'_> {
    fn at(&self) -> Expr {
        Expr::var(self.ir, self.calls.at)
    }

    fn at_start(&self) -> Expr {
        between(self.at(), 0, 1)
    }

    fn block(&mut self, block: Block) -> Block {
        if count(&block) == 0 {
            return block;
        }
        let mut out = Block::new();
        // What runs on the way to the next call.
        let mut way = Block::new();
        for s in block {
            match (s, &mut way) {
                (Stmt::Extern(Extern::Service { service, request, answer }), _) => {
                    let (stop, go_on) = self.call(service, request, answer);
                    way.extend(stop);
                    out.push(Stmt::If(self.at_start(), std::mem::take(&mut way), vec![]));
                    out.push(go_on);
                }
                (Stmt::Extern(Extern::Stage(_)), _) => {
                    let number = self.next;
                    self.next += 1;
                    way.extend([set(self.stop, 8, number.into()), Stmt::Break(self.stopped)]);
                    out.push(Stmt::If(self.at_start(), std::mem::take(&mut way), vec![]));
                    out.push(Stmt::If(between(self.at(), number, number + 1), vec![set(self.calls.at, 8, 0)], vec![]));
                }
                (s, way) if count_stmt(&s) == 0 => way.push(s),
                (s, way) => {
                    if !way.is_empty() {
                        out.push(Stmt::If(self.at_start(), std::mem::take(way), vec![]));
                    }
                    let first = self.next;
                    let body = self.holder(s);
                    let enters = Expr::binary(BinOp::LOr, self.at_start(), between(self.at(), first, self.next));
                    out.push(Stmt::If(enters, body, vec![]));
                }
            }
        }
        // Behind the last call: no pass comes here that has not arrived.
        out.extend(way);
        out
    }

    /// The stop, and where a pass goes on.
    fn call(&mut self, service: ServiceId, request: Vec<Expr>, answer: Option<Vec<LValue>>) -> (Block, Stmt) {
        let number = self.next;
        self.next += 1;
        let header = self.calls.headers[&service];
        let info = &self.ir.program.services[service];
        let fields = |all: &[program::ParamInfo], from: usize| -> Vec<(u32, Ty)> {
            all.iter().enumerate().map(|(i, f)| ((from + i) as u32, Ty::Bit(f.width))).collect()
        };
        let padded = !info.request.iter().map(|f| f.width).sum::<u32>().is_multiple_of(8);
        let asked = fields(&info.request, 0);
        let given = fields(&info.answer, info.request.len() + usize::from(padded));
        let here = || HeaderRef::Static(header);
        let request: Vec<_> =
            asked.iter().zip(request).map(|((_, ty), value)| if value.ty == *ty { value } else { value.cast(*ty) }).collect();
        let mut stop = vec![Stmt::SetValid(here(), true)];
        stop.extend(asked.iter().zip(&request).map(|((i, _), value)| Stmt::Assign(LValue::Field(here(), *i), value.clone())));
        stop.push(set(self.stop, 8, number.into()));
        stop.push(Stmt::Break(self.stopped));
        let mut back: Block = Block::new();
        let mut go_on = vec![set(self.calls.at, 8, 0)];
        let ask = self.calls.asks.get(&number);
        for (n, ((i, ty), place)) in given.into_iter().zip(answer.into_iter().flatten()).enumerate() {
            let mut value = Expr { kind: ExprKind::Field(here(), i), ty };
            if let Some(v) = ask.and_then(|ask| ask.answers.get(n)) {
                back.push(Stmt::Assign(LValue::Var(*v), value));
                value = Expr::var(self.ir, *v);
            }
            let wanted = self.type_of(&place);
            go_on.push(Stmt::Assign(place, if wanted == ty { value } else { value.cast(wanted) }));
        }
        back.push(Stmt::SetValid(here(), false));
        let Some(Ask { table, .. }) = ask else {
            go_on.extend(back);
            return (stop, Stmt::If(between(self.at(), number, number + 1), go_on, vec![]));
        };
        self.ir.tables[*table].keys = request;
        let hit = self.ir.add_var("bridge.answered", Ty::Bool);
        let stop = vec![
            Stmt::Apply { table: *table, hit: Some(hit), action_run: None },
            Stmt::If(Expr::var(self.ir, hit), vec![set(self.calls.at, 8, number.into())], stop),
        ];
        go_on.insert(1, Stmt::If(Expr::is_valid(header), back, vec![]));
        (stop, Stmt::If(between(self.at(), number, number + 1), go_on, vec![]))
    }

    fn type_of(&self, place: &LValue) -> Ty {
        match place {
            LValue::Var(v) => self.ir.vars[*v].ty,
            LValue::Field(h, i) => self.ir.type_of(h).map_or(Ty::Bool, |t| self.ir.header_types[t].fields[*i as usize].ty),
            LValue::Slice(_, hi, lo) => Ty::Bit(hi - lo + 1),
        }
    }

    /// A statement with calls in its blocks; it is reached by passes from the start and by those of its own calls.
    fn holder(&mut self, s: Stmt) -> Block {
        match s {
            Stmt::Labeled(label, body) => vec![Stmt::Labeled(label, self.block(body))],
            Stmt::If(condition, then, or_else) => {
                let (first, has_then) = (self.next, count(&then) > 0);
                let then = self.block(then);
                let behind = self.next;
                let or_else = self.block(or_else);
                let from_start = Expr::binary(BinOp::LAnd, self.at_start(), condition);
                let enters = if has_then { Expr::binary(BinOp::LOr, between(self.at(), first, behind), from_start) } else { from_start };
                vec![Stmt::If(enters, then, or_else)]
            }
            Stmt::Switch { on, cases, default } => {
                // Which way it goes is noted first: a resumed pass knows it by its call.
                let way = self.ir.add_var("bridge.case", Ty::Bit(16));
                let (mut choose, mut resumed, mut bodies) = (Vec::new(), Block::new(), Vec::new());
                for (i, (values, body)) in cases.into_iter().enumerate() {
                    let number = i as u128 + 1;
                    choose.push((values, vec![set(way, 16, number)]));
                    let first = self.next;
                    let body = self.block(body);
                    if self.next > first {
                        resumed.push(Stmt::If(between(self.at(), first, self.next), vec![set(way, 16, number)], vec![]));
                    }
                    bodies.push((vec![Bits::new(16, number)], body));
                }
                let default = self.block(default);
                let chosen = Stmt::Switch { on, cases: choose, default: vec![set(way, 16, 0)] };
                let mut out = vec![Stmt::If(self.at_start(), vec![chosen], vec![])];
                out.extend(resumed);
                out.push(Stmt::Switch { on: Expr::var(self.ir, way), cases: bodies, default });
                out
            }
            // The verifier refuses calls in loops, and nothing else has blocks.
            other => vec![other],
        }
    }
}
