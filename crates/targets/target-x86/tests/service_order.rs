//! Does a packet overtake another one at a call of a service? Some stop there, others are answered while the burst runs, others do not come there at all: at a service behind
//! it that needs their order, and in a register that only the control plane reads, all of them are in the order in which they came.

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_passes::bridge;
use rand::Rng;
use service::caller::{Make, Rings};
use service::{
    Access, AtOnce, Call, Deployment, Field, Interface, Order, Outcome, Place, Question, Requests, Service, Setting, SettingError,
};
use std::sync::{Arc, Mutex};
use target_api::{BURST, Replicating, Target};
use target_x86::{Options, X86};

/// `what`: 0 is answered at once, 1 stops, 2 is not for the first service; and 4 more is dropped by it.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header h_t { bit<16> number; bit<8> what; }
struct headers_t { h_t h; }
struct metadata_t { bit<8> x; }
struct request_t { bit<16> number; bit<8> what; }
struct answer_t { bit<8> x; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.h); transition accept; }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<request_t, answer_t>("picky") picky;
    Service<request_t, answer_t>("diary") diary;
    register<bit<16>>(1) last;

    apply {
        answer_t answer;
        if (hdr.h.what != 2) {
            picky.call({ hdr.h.number, hdr.h.what }, answer);
        }
        WRITE({ hdr.h.number, hdr.h.what });
        last.write(0, hdr.h.number);
        standard_metadata.egress_spec = 1;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const FIELDS: &[Field] = &[Field { name: "number", width: 16 }, Field { name: "what", width: 8 }];

static PICKY: Interface = Interface {
    name: "picky",
    request: FIELDS,
    answer: &[Field { name: "x", width: 8 }],
    key: None,
    reasons: &["odd"],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |_, _| Ok(()),
};
static DIARY: Interface = Interface { name: "diary", ..PICKY };

/// Answers in any order, and some of its calls not at once.
struct Picky;

/// Notes the numbers in the order in which they come.
struct Diary(Arc<Mutex<Vec<u16>>>);

fn outcome(fields: &[u8]) -> Outcome {
    if fields[2] & 4 != 0 { Outcome::Dropped(service::Reason::own(0)) } else { Outcome::Answered }
}

impl Service for Picky {
    fn interface(&self) -> &'static Interface {
        &PICKY
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        burst.iter_mut().for_each(|call| call.outcome = outcome(&call.fields));
    }

    fn at_once(&self) -> AtOnce {
        AtOnce::ALWAYS
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _: u64) {
        let now = |question: &&mut Question<'_>| question.fields[2] & 3 != 1;
        burst.iter_mut().filter(now).for_each(|question| question.outcome = outcome(&question.fields));
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

impl Diary {
    fn note(&self, fields: &[u8]) {
        self.0.lock().unwrap().push(u16::from_be_bytes([fields[0], fields[1]]));
    }
}

impl Service for Diary {
    fn interface(&self) -> &'static Interface {
        &DIARY
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        for call in burst {
            self.note(&call.fields);
            call.outcome = Outcome::Answered;
        }
    }

    fn at_once(&self) -> AtOnce {
        AtOnce { requests: Requests::All, order: Order::Packets }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _: u64) {
        for question in burst {
            self.note(&question.fields);
            question.outcome = Outcome::Answered;
        }
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

const WRITE: &str = "WRITE({ hdr.h.number, hdr.h.what });";

/// `write`: the diary's call, if there is one. The program waits for it or does not. `bursts`: whether the register leaves bursts whole, by the order of what calls say.
fn keep_order(program: &str, write: &str, bursts: bool) {
    let text = program.replace(WRITE, write);
    let compiled = p4_check::compile_str("order.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let (mut cut, bridge) = bridge::cut(&compiled.ir).expect("can be cut").expect("it calls");
    assert_eq!(!bridge.state_behind_stops, bursts, "the register is the control plane's to read");
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
    let x86 = X86::load(Arc::new(cut.program.clone()), &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let noted = Arc::new(Mutex::new(Vec::new()));
    let of_diary = noted.clone();
    let makes: [Make; 2] = [Arc::new(|| Box::new(Picky)), Arc::new(move || Box::new(Diary(of_diary.clone())))];
    let services = makes
        .into_iter()
        .take(cut.program.services.len())
        .map(|make| Arc::new(Deployment::new(&Place::Lane, make, Rings::default()).expect("in the lane")))
        .collect::<Vec<_>>();
    let target = Replicating::new(x86, bridge).with_services(&services).unwrap_or_else(|e| panic!("{e}"));
    let last = target.program().registers.keys().next().expect("there is one");
    let mut lane = target.lane(0);
    let (mut rng, mut number, mut stopped, mut passed, mut dropped) = (testkit::rng(38), 0u16, 0, 0, 0);
    for burst in 0..200 {
        // From bursts of which none stops to those of which all do.
        let (mut expected, mut whats) = (Vec::new(), Vec::new());
        let mut packets: Vec<Packet> = (0..rng.random_range(1..=BURST))
            .map(|_| {
                let what = match rng.random_range(0..200) {
                    n if n < burst => 1,
                    n if n < 150 => 2 * (n as u8 & 1),
                    _ => 0,
                } | if rng.random_ratio(1, 20) { 4 } else { 0 };
                number = number.wrapping_add(1);
                whats.push(what);
                if what & 4 == 0 {
                    expected.push(number);
                }
                Packet::new(&[&number.to_be_bytes()[..], &[what], b"payload"].concat(), PortId(0))
            })
            .collect();
        let mut verdicts = vec![Verdict::default(); packets.len()];
        lane.process(&mut packets, &mut verdicts, 1);
        if !write.is_empty() {
            assert_eq!(std::mem::take(&mut *noted.lock().unwrap()), expected, "burst {burst}: {whats:?}");
        }
        for (verdict, what) in verdicts.iter().zip(&whats) {
            assert_eq!(verdict.kind == VerdictKind::Forward, what & 4 == 0);
            *if what & 4 != 0 { &mut dropped } else { &mut passed } += 1;
            stopped += usize::from(what & 3 == 1);
        }
        let mut cells = Vec::new();
        target.facets().registers.expect("it has registers").read_registers(last, 0..1, &mut cells).expect("a cell");
        if let Some(number) = expected.last() {
            assert_eq!(cells, [u64::from(*number)], "what the last packet has written: {whats:?}");
        }
    }
    assert!(stopped > 1000 && passed > 3000 && dropped > 100, "{stopped} {passed} {dropped}");
}

#[test]
fn no_packet_overtakes_another_at_a_call_of_a_service_behind_it() {
    keep_order(PROGRAM, "diary.call({ hdr.h.number, hdr.h.what }, answer);", true);
}

#[test]
fn what_is_sent_behind_a_call_that_stops_is_sent_in_the_order_of_the_packets() {
    keep_order(PROGRAM, "diary.send({ hdr.h.number, hdr.h.what });", true);
}

/// `picky` may answer a packet behind one that it declines, so the order of its calls is not enough for the register.
#[test]
fn a_register_behind_a_call_in_any_order_holds_what_the_last_packet_has_written() {
    let program = PROGRAM.replace("Service<request_t, answer_t>(\"diary\") diary;", "");
    keep_order(&program, "", false);
    // Each packet comes by it: its order is known where the service is.
    keep_order(&program.replace("if (hdr.h.what != 2)", ""), "", true);
}
