//! A program that calls services does the same as native code, cut and with its services in the lane, as in the interpreter, with their twins inline.

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use p4_interp::{Machine, Mode, ServiceCall, ServiceFate, Services};
use p4_ir::random::{self, Rng, Shape};
use p4_ir::{Ir, ServiceId};
use p4_passes::bridge;
use service::caller::{Make, Rings};
use service::{Access, Call, Deployment, Field, Interface, Place, Reason, Service, Setting, SettingError};
use std::sync::Arc;
use target::{Lane, Replicating, Target};
use target_x86::{Options, X86};

const fn interface(name: &'static str, request: &'static [Field], answer: &'static [Field]) -> Interface {
    let check_setting = |index, _: Option<&[u8]>| Err(SettingError::Index { index, limit: 0 });
    Interface { name, request, answer, key: None, reasons: &["now_and_then"], access: |_| Access::Write, check_setting }
}

const fn field(name: &'static str, width: u32) -> Field {
    Field { name, width }
}

/// As `p4_ir::random` declares them.
static INTERFACES: [Interface; 3] = [
    interface("answers", &[field("a", 8), field("b", 3), field("c", 64)], &[field("x", 8), field("y", 9), field("z", 1), field("w", 32)]),
    interface("rewrites", &[field("a", 16)], &[field("x", 8)]),
    interface("silent", &[], &[]),
];

/// One of them; a late one keeps each packet until it is polled.
struct Random {
    number: usize,
    late: bool,
    kept: Vec<Call>,
}

impl Random {
    fn serve(&self, call: &mut Call) {
        let bytes = |fields: &[Field]| fields.iter().map(|f| f.width as usize).sum::<usize>().div_ceil(8);
        let info = &INTERFACES[self.number];
        let mut payload = call.payload().to_vec();
        let mut answer = vec![0; bytes(info.answer)];
        let drop = random::serve(ServiceId::from_u32(self.number as u32), &call.fields[..bytes(info.request)], &mut payload, &mut answer);
        assert!(call.resize_payload(payload.len()));
        call.payload_mut().copy_from_slice(&payload);
        match drop {
            Some(_) => call.drop_for(Reason::own(0)),
            None => call.answer(&answer),
        }
    }
}

impl Service for Random {
    fn interface(&self) -> &'static Interface {
        &INTERFACES[self.number]
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        for call in burst {
            match self.late {
                true => self.kept.push(call.take()),
                false => self.serve(call),
            }
        }
    }

    fn poll(&mut self, _: u64, out: &mut Vec<Call>) {
        for mut call in std::mem::take(&mut self.kept) {
            self.serve(&mut call);
            out.push(call);
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        (!self.kept.is_empty()).then_some(0)
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

fn in_lane(make: Make) -> Deployment {
    Deployment::new(&Place::Lane, make, Rings::default()).unwrap_or_else(|e| panic!("{e}"))
}

struct Twin;

impl Services for Twin {
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate {
        let drop = call.answer.and_then(|answer| random::serve(service, call.request, call.payload, answer));
        drop.map_or(ServiceFate::Answered, |_| ServiceFate::Drop(DropReason::SERVICE_REFUSED))
    }
}

type Outcome = (Verdict, Vec<u8>);

fn outcome(verdict: Verdict, bytes: &[u8]) -> Outcome {
    (verdict, if verdict.kind == VerdictKind::Drop { vec![] } else { bytes.to_vec() })
}

/// What becomes of a burst: its packets in order, then what was made beside them.
fn native(lane: &mut dyn Lane, burst: &[(PortId, Vec<u8>)], now_ns: u64, late: bool) -> Vec<Outcome> {
    let mut packets: Vec<Packet> = burst.iter().map(|(port, bytes)| Packet::new(bytes, *port)).collect();
    let mut verdicts = vec![Verdict::default(); packets.len()];
    lane.process(&mut packets, &mut verdicts, now_ns);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    let kept = |v: &Verdict| v.kind == VerdictKind::Kept;
    let waiting = verdicts.iter().filter(|v| kept(v)).count() + extra.iter().filter(|x| kept(&x.verdict)).count();
    assert!(late || waiting == 0);
    let own = packets.iter().zip(&verdicts).map(|(p, v)| (p, *v));
    let mut all: Vec<Outcome> =
        own.chain(extra.iter().map(|x| (&x.packet, x.verdict))).filter(|(_, v)| !kept(v)).map(|(p, v)| outcome(v, p.data())).collect();
    let mut back = Vec::new();
    // A packet is kept again by its next call.
    while lane.next_poll_ns().is_some() {
        lane.poll(now_ns, &mut back);
    }
    assert_eq!(back.iter().filter(|r| !r.copy).count(), waiting, "each that was kept comes out once");
    all.extend(back.iter().map(|r| outcome(r.verdict, r.packet.data())));
    all
}

struct Seen {
    programs: u64,
    answered: u64,
    dropped: u64,
    kept: u64,
    copies: usize,
}

fn check(seed: u64, ir: &Ir, shape: Shape, late: bool, seen: &mut Seen) {
    let Some((mut cut, bridge)) = bridge::cut(ir).unwrap_or_else(|e| panic!("{e}")) else { return };
    if bridge.stops.is_empty() {
        return;
    }
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    let x86 = X86::load(Arc::new(cut.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
    let make = |number: usize| move || -> Box<dyn Service> { Box::new(Random { number, late, kept: vec![] }) };
    let services: Vec<Arc<Deployment>> = (0..3).map(|n| Arc::new(in_lane(Arc::new(make(n))))).collect();
    let target = Replicating::new(x86, bridge).with_services(&services).unwrap_or_else(|e| panic!("{e}"));
    let mut lane = target.lane(0);
    let mut whole = Machine::new(Arc::new(ir.clone())).expect("runs");
    whole.set_services(Box::new(Twin));
    let mut batches = vec![random::entries(ir, seed)];
    batches.extend(shape.copies().then(|| random::copies(seed)));
    for batch in &batches {
        whole.apply(batch).expect("fits");
        target.apply(batch).expect("fits");
    }
    let mut rng = Rng::new(seed ^ 0xfeed);
    for round in 0..12 {
        let burst: Vec<(PortId, Vec<u8>)> = (0..32).map(|_| (PortId(rng.below(9) as u16), random::packet(&mut rng))).collect();
        let (mut expected, mut extra) = (Vec::new(), Vec::new());
        for (port, bytes) in &burst {
            let out = whole.process(bytes, *port, 1000 * round, Mode::Whole);
            expected.push(outcome(out.verdict, out.bytes));
            extra.extend(whole.extra().iter().map(|x| outcome(x.verdict, &x.bytes)));
        }
        seen.copies += extra.len();
        let mut got = native(lane.as_mut(), &burst, 1000 * round, late);
        let mut own = got.split_off(if late { 0 } else { expected.len() });
        if late {
            // They come back in another order.
            expected.append(&mut extra);
            expected.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
            own.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
            std::mem::swap(&mut got, &mut own);
        }
        assert_eq!(got, expected, "{ir}");
        if !late {
            let order = |all: &mut Vec<Outcome>| {
                if ir.program.registers.is_empty() {
                    all.sort_by_key(|o| format!("{o:?}"))
                }
            };
            order(&mut own);
            order(&mut extra);
            assert_eq!(own, extra, "{ir}");
        }
    }
    for (id, info) in &ir.program.counters {
        for i in 0..if info.table.is_none() { info.size } else { 0 } {
            let (a, b) = (whole.counter(id, i), target.counter(id, i));
            assert_eq!((a.packets, a.bytes), (b.packets, b.bytes), "{}[{i}]\n{ir}", info.name);
        }
    }
    seen.programs += 1;
    for service in &services {
        let counters = service.counters();
        assert_eq!(counters.imbalance(), 0);
        seen.answered += counters.answered;
        seen.kept += counters.kept;
        seen.dropped += counters.dropped.values().sum::<u64>();
    }
}

fn check_all(shape: Shape, seeds: impl Iterator<Item = u64>, late: bool) -> Seen {
    let mut seen = Seen { programs: 0, answered: 0, dropped: 0, kept: 0, copies: 0 };
    for seed in seeds {
        let ir = random::shaped(seed, shape);
        println!("seed {seed}");
        check(seed, &ir, shape, late, &mut seen);
    }
    let Seen { programs, answered, dropped, kept, copies } = seen;
    println!("{programs} programs, {answered} calls answered, {dropped} dropped, {kept} kept, {copies} copies");
    assert!(programs >= 8 && answered > 100 * programs && dropped > 5 * programs, "too few calls");
    seen
}

#[test]
fn programs_that_call_services_agree_with_the_services_in_the_lane() {
    check_all(Shape::Calls, 0..12, false);
}

#[test]
fn programs_that_call_services_and_copy_packets_agree() {
    let seen = check_all(Shape::CallsAndCopies, 100..112, false);
    assert!(seen.copies > 100, "{} copies", seen.copies);
}

/// Without registers and meters, which another order of packets would change.
#[test]
fn packets_that_services_keep_come_back_once_and_end_as_those_that_were_answered_at_once() {
    let seen = check_all(Shape::CallsAndCopies, (200..224).step_by(2), true);
    assert!(seen.kept > 1000, "{} kept", seen.kept);
}

#[test]
fn a_program_whose_service_is_missing_or_has_other_fields_is_refused() {
    let ir = random::shaped(1, Shape::Calls);
    let (mut cut, bridge) = bridge::cut(&ir).expect("can be cut").expect("it calls");
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
    let load = |program: &program::Program| {
        let x86 = X86::load(Arc::new(program.clone()), &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        Replicating::new(x86, bridge.clone())
    };
    let error = load(&cut.program).with_services(&[]).err().expect("refused").to_string();
    assert_eq!(error, "the program calls service answers, which is not configured");
    let make = || -> Box<dyn Service> { Box::new(Random { number: 1, late: false, kept: vec![] }) };
    let rewrites = Arc::new(in_lane(Arc::new(make)));
    let mut other = cut.program.clone();
    other.services.values_mut().for_each(|s| s.name = "rewrites".into());
    let error = load(&other).with_services(&[rewrites]).err().expect("refused").to_string();
    assert!(error.starts_with("service rewrites: request of the program: bit<8> a, bit<3> b, bit<64> c"), "{error}");
    // Whoever gives none loses the packets that call one, with a reason.
    let target = load(&cut.program);
    let mut lane = target.lane(0);
    let mut rng = Rng::new(7);
    let mut down = 0;
    for _ in 0..200 {
        let mut packet = [Packet::new(&random::packet(&mut rng), PortId(1))];
        let mut verdict = [Verdict::default()];
        lane.process(&mut packet, &mut verdict, 0);
        down += usize::from(verdict[0].kind == VerdictKind::Drop && DropReason(verdict[0].reason) == DropReason::SERVICE_DOWN);
    }
    assert!(down > 10, "{down} packets");
}
