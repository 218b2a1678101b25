//! Calls of services: what a service sees, what the packet has of it, and where it ends.

use base::{DropReason, PortId, Verdict, VerdictKind};
use p4_interp::{Count, Machine, Mode, Recorder, ServiceCall, ServiceFate, Services, render_trace};
use p4_ir::{Ir, ServiceId};
use std::sync::{Arc, Mutex};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
#include <service.p4>
header tag_t { bit<16> bearer; bit<8> kind; bit<8> code; }
struct headers { tag_t tag; }
struct meta { }
struct request_t { bit<4> kind; bit<16> bearer; bool direct; }
struct answer_t { bit<8> code; }
struct nothing_t { }
parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) { state start { b.extract(hdr.tag); transition accept; } }
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<request_t, answer_t>(\"ciphering\") cipher;
    Service<nothing_t, nothing_t>(\"buffer\") keep;
    counter(4, CounterType.packets) before;
    counter(4, CounterType.packets) behind;
    apply {
        answer_t answer;
        s.egress_spec = 3;
        before.count(0);
        if (hdr.tag.kind[0:0] == 1) { keep.send({}); }
        if (hdr.tag.kind[1:1] == 1) {
            cipher.call({ hdr.tag.kind[7:4], hdr.tag.bearer, true }, answer);
            hdr.tag.code = answer.code;
        }
        behind.count(0);
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.tag); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// What came: name, request, payload.
type Log = Arc<Mutex<Vec<(u32, Vec<u8>, Vec<u8>)>>>;

/// Turns payloads round and adds a byte; drops what begins with 0xdd.
struct Twin(Log);

impl Services for Twin {
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate {
        self.0.lock().expect("alone").push((service.as_u32(), call.request.to_vec(), call.payload.clone()));
        call.payload.reverse();
        call.payload.push(0xee);
        if let Some(answer) = call.answer {
            answer.copy_from_slice(&[0xc0]);
        }
        if call.payload.ends_with(&[0xdd, 0xee]) { ServiceFate::Drop(DropReason(77)) } else { ServiceFate::Answered }
    }
}

fn machine() -> (Machine, Log) {
    let compiled = p4_check::compile_str("services.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = Machine::new(Arc::new(compiled.ir)).expect("runs");
    let log = Log::default();
    machine.set_services(Box::new(Twin(log.clone())));
    (machine, log)
}

fn run(machine: &mut Machine, packet: &[u8], mode: Mode) -> (Verdict, Vec<u8>) {
    let out = machine.process(packet, PortId(1), 5, mode);
    (out.verdict, out.bytes.to_vec())
}

fn counts(machine: &Machine) -> [u64; 2] {
    let ir: &Ir = machine.ir();
    ["before", "behind"].map(|name| {
        let id = ir.program.counter(name).expect("declared");
        let Count { packets, .. } = machine.counter(id, 0);
        packets
    })
}

#[test]
fn an_answer_goes_on_with_the_payload_that_the_service_left() {
    let (mut machine, log) = machine();
    let (verdict, bytes) = run(&mut machine, &[0x12, 0x34, 0x52, 0, 1, 2, 3], Mode::Whole);
    assert_eq!((verdict, bytes), (Verdict::forward(PortId(3)), vec![0x12, 0x34, 0x52, 0xc0, 3, 2, 1, 0xee]));
    let ciphering = machine.ir().program.service("ciphering").expect("declared").as_u32();
    // kind 5, bearer 0x1234, true, and three bits of padding.
    assert_eq!(*log.lock().expect("alone"), [(ciphering, vec![0x51, 0x23, 0x48], vec![1, 2, 3])]);
}

#[test]
fn what_is_sent_is_a_copy() {
    let (mut machine, log) = machine();
    let packet = [0, 0, 1, 9, 1, 2, 3];
    assert_eq!(run(&mut machine, &packet, Mode::Whole), (Verdict::forward(PortId(3)), packet.to_vec()));
    let buffer = machine.ir().program.service("buffer").expect("declared").as_u32();
    assert_eq!(*log.lock().expect("alone"), [(buffer, vec![], vec![1, 2, 3])]);
}

#[test]
fn a_service_that_drops_ends_the_packet_with_its_reason() {
    let (mut machine, _) = machine();
    let (verdict, _) = run(&mut machine, &[0, 0, 2, 0, 0xdd], Mode::Whole);
    assert_eq!((verdict.kind, verdict.reason), (VerdictKind::Drop, 77));
    assert_eq!(counts(&machine), [1, 0]);
}

#[test]
fn a_subset_leaves_nothing_of_a_packet_that_calls_a_service() {
    let (mut machine, log) = machine();
    for kind in [1, 2] {
        let packet = [0, 0, kind, 0, 1];
        assert_eq!(run(&mut machine, &packet, Mode::Subset), (Verdict::next(), packet.to_vec()));
    }
    assert_eq!((counts(&machine), log.lock().expect("alone").len()), ([0, 0], 0));
    assert_eq!(run(&mut machine, &[0, 0, 0, 0, 1], Mode::Subset).0, Verdict::forward(PortId(3)));
    assert_eq!(counts(&machine), [1, 1]);
}

#[test]
fn a_packet_whose_service_is_not_there_is_dropped() {
    let (machine, _) = machine();
    let mut without = Machine::new(machine.ir().clone()).expect("runs");
    let (verdict, _) = run(&mut without, &[0, 0, 2, 0, 1], Mode::Whole);
    assert_eq!((verdict.kind, DropReason(verdict.reason)), (VerdictKind::Drop, DropReason::SERVICE_DOWN));
}

#[test]
fn a_trace_names_request_answer_and_drop() {
    let (mut machine, _) = machine();
    let mut text = |packet: &[u8]| {
        let mut recorder = Recorder::default();
        machine.process_traced(packet, PortId(1), 5, Mode::Whole, &mut recorder);
        render_trace(machine.ir(), &recorder.events, false)
    };
    assert!(text(&[0, 9, 0x33, 0, 1]).contains("  send buffer ()\n  call ciphering (kind=0x3, bearer=0x9, direct=0x1) -> (code=0xc0)\n"));
    let dropped = text(&[0, 9, 0x32, 0, 0xdd]);
    assert!(dropped.contains("  call ciphering (kind=0x3, bearer=0x9, direct=0x1): drop, reason reason_77\n"), "{dropped}");
    assert!(dropped.contains("(by a service)"), "{dropped}");
}
