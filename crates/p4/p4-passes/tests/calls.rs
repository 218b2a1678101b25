//! A program that is cut at its calls of services does what the whole does: random programs, entries and packets under the reference interpreter, the
//! whole with the services inline, the cut one with a driver that answers what stops.

use base::{DropReason, PortId, Verdict, VerdictKind};
use p4_gen::random::{self, Rng, Shape};
use p4_interp::{Machine, Mode, ServiceCall, ServiceFate, Services};
use p4_ir::{BinOp, Expr, Extern, HeaderRef, Ir, LValue, Next, ServiceId, Stmt, Transition, Ty, verify};
use p4_passes::{bridge, optimise};
use program::Bridge;
use std::sync::{Arc, Mutex};

/// What went to a service, of which packet: service, request, payload.
type Log = Arc<Mutex<Vec<(u32, Vec<u8>, Vec<u8>)>>>;

struct Twin(Log);

impl Twin {
    fn serve(&self, service: ServiceId, request: &[u8], payload: &mut Vec<u8>, answer: Option<&mut [u8]>) -> Option<u8> {
        self.0.lock().expect("alone").push((service.as_u32(), request.to_vec(), payload.clone()));
        answer.and_then(|answer| random::serve(service, request, payload, answer))
    }
}

impl Services for Twin {
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate {
        let drop = self.serve(service, call.request, call.payload, call.answer);
        drop.map_or(ServiceFate::Answered, |reason| ServiceFate::Drop(DropReason(reason)))
    }
}

/// Runs a cut program until it does not stop any more.
fn drive(machine: &mut Machine, bridge: &Bridge, twin: &Twin, packet: &[u8], port: PortId, now_ns: u64) -> (Verdict, Vec<u8>) {
    let (mut bytes, mut port) = (packet.to_vec(), port);
    loop {
        let out = machine.process(&bytes, port, now_ns, Mode::Whole);
        let verdict = out.verdict;
        let stopped = verdict.kind == VerdictKind::Forward && verdict.port == Bridge::PORT.0 && verdict.reason == bridge.stop_reason;
        let mut whole = out.bytes.to_vec();
        if !stopped {
            return (verdict, whole);
        }
        let call = *bridge.call(bridge.kind.get(&whole) as u8).expect("it stops at calls only");
        let info = &machine.ir().program.services[call.service];
        let (request, at) = (bridge.len..bridge.len + info.request_len(), bridge.len + info.request_len());
        let payload_at = bridge.len + call.len + bridge.headers.get(&whole) as usize;
        let mut payload = whole.split_off(payload_at);
        let mut answer = vec![0; info.answer_len()];
        let drop = twin.serve(call.service, &whole[request], &mut payload, call.waits.then_some(&mut answer));
        if let Some(reason) = drop {
            let mark = bridge.mark.map_or(0, |m| m.get(&whole)) as u32;
            return (Verdict { kind: VerdictKind::Drop, reason, port: 0, mark }, packet.to_vec());
        }
        whole[at..at + answer.len()].copy_from_slice(&answer);
        whole.extend(payload);
        (bytes, port) = (whole, Bridge::PORT);
    }
}

fn without_ingress(ir: &Ir) -> Ir {
    let mut ir = ir.clone();
    ir.ingress_mut().clear();
    ir
}

fn counts(ir: &Ir, m: &Machine) -> Vec<String> {
    let counters = ir.program.counters.iter().map(|(id, c)| (0..c.size.min(8)).map(|i| format!("{:?} ", m.counter(id, i))).collect());
    let registers = ir.program.registers.iter().map(|(id, r)| (0..r.size).map(|i| format!("{:x?} ", m.register(id, i))).collect());
    counters.chain(registers).chain(ir.program.tables.keys().map(|id| format!("{:?}", m.table_stats(id)))).collect()
}

/// Truncates packets from two ports at its beginning, and those of one of these again behind all calls, to what it then knows.
fn truncating(ir: &mut Ir) {
    let from = |ir: &Ir, port: u128| Expr::binary(BinOp::Lt, Expr::var(ir, ir.standard("ingress_port")), Expr::bit(9, port));
    let truncate = |bytes: Expr| vec![Stmt::Extern(Extern::Truncate(bytes))];
    let first = Stmt::If(from(ir, 4), truncate(Expr::bit(32, 21)), vec![]);
    let last = Stmt::If(from(ir, 2), truncate(Expr::bit(48, 1 << 40 | 5)), vec![]);
    ir.ingress_mut().insert(0, first);
    ir.egress_mut().push(last);
}

#[test]
fn a_program_cut_at_its_calls_does_what_the_whole_does() {
    let short = agree(0..400, false);
    assert_eq!(short, 0);
}

/// It could not be cut: what was truncated was the packet with its bridge.
#[test]
fn a_program_that_calls_and_truncates_packets_is_cut_too() {
    let short = agree(400..600, true);
    assert!(short > 300, "{short} packets truncated");
}

/// How many packets came out as short as they were truncated to.
fn agree(seeds: std::ops::Range<u64>, truncates: bool) -> usize {
    let (mut calls, mut dropped, mut answered, mut several, mut in_egress, mut short) = (0, 0, 0, 0, 0, 0);
    let programs = (seeds.end - seeds.start) as usize;
    for seed in seeds {
        let mut ir = random::shaped(seed, Shape::Calls);
        if truncates {
            truncating(&mut ir);
        }
        let ir = ir;
        assert_eq!(verify(&ir), Ok(()), "seed {seed}");
        let Some((mut cut, bridge)) = bridge::cut(&ir).unwrap_or_else(|e| panic!("seed {seed}: {e}")) else { continue };
        assert_eq!(verify(&cut), Ok(()), "seed {seed}\n{cut}");
        several += usize::from(bridge.stops.len() > 1);
        in_egress += usize::from(bridge::calls_services(&without_ingress(&ir)));
        if seed % 2 == 1 {
            optimise(&mut cut).expect("keeps the invariants");
        }
        let (whole_log, cut_log) = (Log::default(), Log::default());
        let mut whole = Machine::new(Arc::new(ir.clone())).expect("runs");
        whole.set_services(Box::new(Twin(whole_log.clone())));
        let mut parts = Machine::new(Arc::new(cut.clone())).expect("runs");
        let twin = Twin(cut_log.clone());
        let batch = random::entries(&ir, seed);
        whole.apply(&batch).expect("fits");
        parts.apply(&batch).expect("fits");
        let mut rng = Rng::new(seed ^ 0xfeed);
        for i in 0..30 {
            let (packet, port, now_ns) = (random::packet(&mut rng), PortId(rng.below(9) as u16), 1000 * i);
            let out = whole.process(&packet, port, now_ns, Mode::Whole);
            let (verdict, bytes) = drive(&mut parts, &bridge, &twin, &packet, port, now_ns);
            let differs = out.verdict != verdict || verdict.kind != VerdictKind::Drop && out.bytes != bytes;
            assert!(!differs, "seed {seed}, {packet:02x?}\n{:?} {:02x?}\n{verdict:?} {bytes:02x?}\n{ir}\n{cut}", out.verdict, out.bytes);
            let sent = std::mem::take(&mut *whole_log.lock().expect("alone"));
            assert_eq!(sent, std::mem::take(&mut *cut_log.lock().expect("alone")), "seed {seed}");
            calls += sent.len();
            short += usize::from(truncates && verdict.kind != VerdictKind::Drop && bytes.len() == 21 && !sent.is_empty());
            let by_service = verdict.kind == VerdictKind::Drop && (70..73).contains(&verdict.reason);
            dropped += usize::from(by_service && !sent.is_empty());
            answered += usize::from(!by_service && !sent.is_empty());
        }
        assert_eq!(counts(&ir, &whole), counts(&ir, &parts), "seed {seed}\n{ir}\n{cut}");
    }
    let hits =
        format!("{calls} calls, {dropped} packets dropped, {answered} answered, {several} programs with several, {in_egress} in egress");
    let enough =
        calls > 5 * programs && 8 * dropped > programs && answered > 2 * programs && 4 * several > programs && 8 * in_egress > programs;
    assert!(enough, "{hits}");
    short
}

/// A call, in a branch, with a variable that is read behind it and one that is not.
fn small() -> Ir {
    let mut ir = Ir::v1model("small.p4");
    let tag = ir.add_header_type("tag_t", &[("bearer", 16), ("kind", 8)], None);
    let tag = ir.add_header("hdr.tag", tag);
    let [kept, gone, code] = ["kept", "gone", "code"].map(|n| ir.add_var(&format!("meta.{n}"), Ty::Bit(8)));
    let cipher = ir.add_service("ciphering", &[("bearer", 16), ("last", 1)], &[("code", 8)]);
    ir.add_state("start", vec![Stmt::Extract { header: HeaderRef::Static(tag), varbit_bits: None }], Transition::Goto(Next::Accept));
    let kind = || Expr::field(&ir, tag, "kind");
    let request = vec![Expr::field(&ir, tag, "bearer"), Expr::bit(1, 1)];
    let call = Stmt::Extern(Extern::Service { service: cipher, request, answer: Some(vec![LValue::Var(code)]) });
    let is = |e: Expr, n: u128| Expr::binary(BinOp::Eq, e, Expr::bit(8, n));
    let port = LValue::Var(ir.standard("egress_spec"));
    let body = vec![
        Stmt::Assign(LValue::Var(kept), kind()),
        Stmt::Assign(LValue::Var(gone), kind()),
        Stmt::If(is(Expr::var(&ir, gone), 1), vec![call], vec![]),
        Stmt::Assign(LValue::field(&ir, tag, "kind"), Expr::binary(BinOp::Xor, Expr::var(&ir, kept), Expr::var(&ir, code))),
        Stmt::Assign(port, Expr::bit(9, 2)),
    ];
    *ir.ingress_mut() = body;
    *ir.deparser_mut() = vec![Stmt::Emit(HeaderRef::Static(tag))];
    ir
}

#[test]
fn a_small_program_is_cut_as_accepted() {
    let (mut cut, bridge) = bridge::cut(&small()).expect("can be cut").expect("it calls");
    assert_eq!(verify(&cut), Ok(()));
    optimise(&mut cut).expect("keeps the invariants");
    let calls: Vec<_> = bridge.stops().filter_map(|(kind, _)| bridge.call(kind)).collect();
    testkit::assert_golden("tests/golden/cut.ir", &format!("{cut}bridge of {} bytes, calls {calls:?}\n", bridge.len));
    let bridged = &cut.header_types.values().find(|t| t.name == "bridge_t").expect("made").fields;
    let travels = |name: &str| bridged.iter().any(|f| f.name == name);
    assert!(travels("meta.kept") && !travels("meta.gone") && !travels("meta.code"), "{bridged:?}");
}
