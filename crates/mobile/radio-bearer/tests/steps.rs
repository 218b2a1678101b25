//! Does each step of Memarian et al.'s pipeline (build option STEP) add what the paper adds, on x86 as in the interpreter?

mod common;

use base::{Packet, Verdict, VerdictKind};
use ciphering::{Choice, Direction, Engine, Nea, Nia};
use common::*;
use gnb::framing::RlcMode;
use gnb::pdcp::{CountGuard, Tx, TxConfig};
use p4_interp::{Machine, Mode};
use program::{Batch, Mirror, Op};
use std::sync::Arc;
use target_api::{Lane, Replicating, Target};
use target_x86::{Options, X86};

/// The program on x86, with its services if it calls some.
fn native(ir: &p4_ir::Ir, services: &Services) -> Box<dyn Target> {
    let load = |ir: &p4_ir::Ir| {
        let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
    };
    let Some((mut cut, bridge)) = p4_passes::bridge::cut(ir).expect("can be cut") else { return Box::new(load(ir)) };
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    Box::new(Replicating::new(load(&cut), bridge).with_services(&services.all()).unwrap_or_else(|e| panic!("{e}")))
}

fn run(lane: &mut dyn Lane, bytes: &[u8]) -> (Verdict, Vec<u8>, Vec<VerdictKind>) {
    let (mut packets, mut verdicts) = ([Packet::new(bytes, N3)], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    (verdicts[0], packets[0].data().to_vec(), extra.iter().map(|x| x.verdict.kind).collect())
}

#[test]
fn each_step_adds_what_the_paper_adds() {
    let b = Bearer::new(0x42);
    let sdu = [7u8; 84];
    let frame = from_upf(&b, &sdu);
    assert_eq!(frame.len(), 14 + 20 + 8 + 16 + 84);
    let swapped = [&frame[6..12], &frame[..6]].concat();
    for step in 0..=5u8 {
        let ir = Arc::new(ir(Some(step), &[]));
        let services = Services::new();
        let twin = Services::plain();
        [&services, &twin].into_iter().for_each(|services| services.set(&b));
        let target = native(&ir, &services);
        let mut machine = Machine::new(ir.clone()).expect("runs");
        machine.set_services(Box::new(inline::Inline::new(&ir.program, &twin.all()).expect("all are there")));
        let mut batch = Batch { ops: Vec::new() };
        if step >= 3 {
            batch.ops.push(Tables(&ir).downlink(&b));
        }
        if step == 4 {
            batch.ops.push(Op::Mirror { session: 1, to: Some(Mirror::Port(RADIO)) });
        }
        target.apply(&batch).expect("fits");
        machine.apply(&batch).expect("fits");
        let mut lane = target.lane(0);
        for count in 0..3u8 {
            // RLC AM and PDCP of 18 bits, SDAP; numbers from the TEID until there is a table.
            let (high, low) = if step == 2 { (0, 0x42) } else { (0, count) };
            let headers = [0x80, high, low, 0x80, high, low, b.qfi];
            let expected = match step {
                0 => [&swapped[..], &frame[12..]].concat(),
                1 => [&swapped[..], &[8, 0], &sdu[..]].concat(),
                _ => [&swapped[..], &[0x88, 0xb5], &headers, &sdu[..]].concat(),
            };
            let (verdict, bytes, extra) = run(lane.as_mut(), &frame);
            assert_eq!((verdict, bytes), (Verdict::forward(N3), expected.clone()), "step {step}");
            assert_eq!(extra, if step == 4 { vec![VerdictKind::Drop] } else { vec![] }, "step {step}");
            let twin = machine.process(&frame, N3, 1, Mode::Whole);
            assert_eq!((twin.verdict, twin.bytes.to_vec()), (Verdict::forward(N3), expected), "step {step}");
        }
        if step >= 1 {
            let bad = run(lane.as_mut(), &frame[..45]).0;
            assert_eq!((bad.kind, ir.program.reason_name(bad.reason)), (VerdictKind::Drop, "malformed".to_owned()), "step {step}");
        }
        // The lane's and the interpreter's.
        for services in [&services, &twin] {
            assert_eq!(services.buffer.counters().answered, if step == 5 { 3 } else { 0 }, "step {step}");
        }
    }
}

#[test]
fn a_status_frees_the_copies_of_step_5_and_nothing_else_of_the_radio_goes_on() {
    let b = Bearer::new(0x42);
    let (ir, services) = (ir(Some(5), &[]), Services::new());
    services.set(&b);
    let target = native(&ir, &services);
    target.apply(&Tables(&ir).bearer(&b)).expect("fits");
    let mut lane = target.lane(0);
    for _ in 0..3 {
        assert_eq!(run(lane.as_mut(), &from_upf(&b, b"packet")).0, Verdict::forward(N3));
    }
    let mut from_radio = |frame: &[u8]| {
        let (mut packets, mut verdicts) = ([Packet::new(frame, RADIO)], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, 1);
        let mut back = Vec::new();
        lane.poll(1, &mut back);
        assert!(back.iter().all(|of| of.copy && ir.program.reason_name(of.verdict.reason) == "sent_again"), "{:?}", back.len());
        (ir.program.reason_name(verdicts[0].reason), back.len())
    };
    let status = |ack: u32, nacks: &[u32]| {
        let (nacks, mut pdu): (Vec<_>, _) = (nacks.iter().map(|sn| buffer::status::Nack::of(*sn)).collect(), Vec::new());
        buffer::status::emit(buffer::status::SnLength::Bits18, ack, &nacks, &mut pdu);
        from_ue(&b, &pdu)
    };
    // The third is missed; what is acknowledged is sent no more.
    assert_eq!(from_radio(&status(3, &[2])), ("status_processed".into(), 1));
    assert_eq!(from_radio(&status(3, &[])), ("status_processed".into(), 0));
    assert_eq!(from_radio(&status(3, &[2])), ("status_processed".into(), 0));
    assert_eq!(from_radio(&from_ue(&b, &[0x80, 0, 0, 1])), ("radio_framing".into(), 0));
    assert_eq!(from_radio(&from_ue(&b, &[])), ("malformed".into(), 0));
    assert_eq!(from_radio(&from_ue(&Bearer::new(0x43), &[0, 0, 12])), ("no_bearer".into(), 0));
    assert_eq!(services.buffer.counters().imbalance(), 0);
}

#[test]
fn with_cipher_a_packet_is_protected_as_the_entities_do_it() {
    for (nea, nia) in [(Nea::Nea1, None), (Nea::Nea2, Some(Nia::Nia2)), (Nea::Nea0, None)] {
        let b = Bearer { nea, nia, ..Bearer::new(0x42) };
        let (ir, services) = (ir(Some(5), &["CIPHER"]), Services::new());
        services.set(&b);
        let target = native(&ir, &services);
        target.apply(&Tables(&ir).bearer(&b)).expect("fits");
        let mut lane = target.lane(0);
        let format = b.format(Direction::Downlink);
        let guard = CountGuard::default();
        let config = TxConfig { format, acknowledged: true, window: 8, queue_sdus: 8, bytes: 1 << 16, discard_ns: None, guard };
        let (mut tx, mut engine) = (Tx::new(config).unwrap(), Engine::new(Choice::Portable).unwrap());
        for sn in 0..3u8 {
            tx.enqueue([&[b.qfi][..], b"packet"].concat(), 0).expect("room");
            let mut packets = [tx.pull(0, &mut |_| {}).expect("room")];
            b.security(&engine, Direction::Downlink).run(&mut engine, &mut packets);
            let [packet] = packets;
            let (_, pdu) = tx.finish(packet).expect("ciphered");
            let frame = from_upf(&b, b"packet");
            let expected = [&frame[6..12], &frame[..6], &[0x88, 0xb5, 0x80, 0, sn], &pdu[..]].concat();
            let (verdict, bytes, _) = run(lane.as_mut(), &frame);
            assert_eq!((verdict, bytes), (Verdict::forward(N3), expected), "{nea:?}");
        }
    }
}

/// What a packet finds in a register, the packet before it has left there: those of a burst go through one after the other where it lies behind a call.
#[test]
fn a_burst_goes_through_together_where_no_register_lies_behind_a_call() {
    let bridge = |step, more: &[&str]| p4_passes::bridge::cut(&ir(step, more)).expect("can be cut").expect("it stops").1;
    let behind = |step, more: &[&str]| bridge(step, more).state_behind_stops;
    assert!(!behind(Some(4), &[]) && !behind(Some(5), &[]) && !behind(Some(5), &["CIPHER"]));
    // COUNT comes with a place in the buffer, or from a register ahead of all calls; the register of uplink COUNTs is the control plane's to read, and all packets come to
    // it by calls of the bearer's service, which needs their order.
    assert!(!behind(None, &[]));
    let whole = ir(None, &[]);
    let in_order = |service: &program::ServiceId| whole.program.services[*service].name == radio_bearer::INTERFACE.name;
    let written_behind = bridge(None, &[]).written_behind;
    assert!(written_behind.len() == 1 && written_behind[0].iter().any(in_order), "{written_behind:?}");
}

#[test]
fn packets_of_a_burst_spend_their_counts_in_order() {
    let bearers: Vec<Bearer> = (0x40..0x43).map(|n| Bearer { nia: Some(Nia::Nia2), ..Bearer::new(n) }).collect();
    for (step, more) in [(3, &[][..]), (4, &[]), (5, &[]), (5, &["CIPHER"])] {
        let (ir, services) = (Arc::new(ir(Some(step), more)), Services::new());
        bearers.iter().for_each(|b| services.set(b));
        let target = native(&ir, &services);
        let mut machine = Machine::new(ir.clone()).expect("runs");
        let twin = Services::plain();
        bearers.iter().for_each(|b| twin.set(b));
        machine.set_services(Box::new(inline::Inline::new(&ir.program, &twin.all()).expect("all are there")));
        let batch = Batch { ops: bearers.iter().map(|b| Tables(&ir).downlink(b)).collect() };
        target.apply(&batch).expect("fits");
        machine.apply(&batch).expect("fits");
        let mut lane = target.lane(0);
        for _ in 0..4 {
            // Some have no bearer, and one is no tunnel's.
            let mut frames: Vec<Vec<u8>> = (0..target_api::BURST).map(|i| from_upf(&bearers[i * i % 3], &[i as u8; 70])).collect();
            frames[7] = from_upf(&Bearer::new(0x99), b"nobody");
            frames[9].truncate(45);
            let mut packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, N3)).collect();
            let mut verdicts = vec![Verdict::default(); packets.len()];
            lane.process(&mut packets, &mut verdicts, 1);
            for ((frame, packet), verdict) in frames.iter().zip(&packets).zip(verdicts) {
                let twin = machine.process(frame, N3, 1, Mode::Whole);
                assert_eq!(verdict, twin.verdict, "step {step}");
                if verdict.kind != VerdictKind::Drop {
                    assert_eq!(packet.data(), twin.bytes, "step {step} {more:?}");
                }
            }
        }
    }
}

/// A STATUS acknowledges what was sent ahead of it in the same burst: asked too early the buffer would not have it, too late it would have more.
#[test]
fn a_burst_that_keeps_copies_and_acknowledges_them_does_not_stop() {
    let bearers: Vec<Bearer> = (0x40..0x43).map(|n| Bearer { nia: Some(Nia::Nia2), ..Bearer::new(n) }).collect();
    for more in [&[][..], &["CIPHER"]] {
        let (ir, services, twin) = (Arc::new(ir(Some(5), more)), Services::new(), Services::plain());
        bearers.iter().for_each(|b| [&services, &twin].iter().for_each(|s| s.set(b)));
        let target = native(&ir, &services);
        let mut machine = Machine::new(ir.clone()).expect("runs");
        machine.set_services(Box::new(inline::Inline::new(&ir.program, &twin.all()).expect("all are there")));
        for b in &bearers {
            target.apply(&Tables(&ir).bearer(b)).expect("fits");
            machine.apply(&Tables(&ir).bearer(b)).expect("fits");
        }
        let mut lane = target.lane(0);
        let (mut sent, mut statuses) = ([0u32; 3], 0);
        for round in 1..9 {
            let mut frames = Vec::new();
            for i in 0..target_api::BURST {
                let n = i * i * round % 3;
                if (i + round).is_multiple_of(7) {
                    statuses += 1;
                    let mut pdu = Vec::new();
                    buffer::status::emit(buffer::status::SnLength::Bits18, sent[n], &[], &mut pdu);
                    frames.push((RADIO, from_ue(&bearers[n], &pdu)));
                } else {
                    sent[n] += 1;
                    frames.push((N3, from_upf(&bearers[n], &[i as u8; 70])));
                }
            }
            let mut packets: Vec<Packet> = frames.iter().map(|(port, frame)| Packet::new(frame, *port)).collect();
            let mut verdicts = vec![Verdict::default(); packets.len()];
            lane.process(&mut packets, &mut verdicts, 1);
            for (((port, frame), packet), verdict) in frames.iter().zip(&packets).zip(verdicts) {
                let twin = machine.process(frame, *port, 1, Mode::Whole);
                assert_eq!(verdict, twin.verdict, "{more:?}");
                if verdict.kind != VerdictKind::Drop {
                    assert_eq!(packet.data(), twin.bytes, "{more:?}");
                }
            }
            let (ours, theirs) = (services.buffer.counters(), twin.buffer.counters());
            assert_eq!((ours.imbalance(), ours.kept, ours.dropped), (0, theirs.kept, theirs.dropped));
            let mut back = Vec::new();
            lane.poll(1, &mut back);
        }
        let stats: Vec<_> = target.program().asks.iter().map(|ask| target.table_stats(ask.table)).collect();
        let packets = 8 * target_api::BURST as u64;
        let calls = packets + if more.is_empty() { 0 } else { packets - statuses };
        assert_eq!((stats.iter().map(|s| s.hits).sum::<u64>(), stats.iter().map(|s| s.misses).sum::<u64>()), (calls, 0), "{more:?}");
    }
}

/// The whole program: each packet is sent by a copy that comes back, and comes back itself when it is acknowledged. In a burst are packets of one bearer and of several, such as
/// are dropped between them, STATUS PDUs that acknowledge what the same burst has sent, and packets for which the buffer has no room.
#[test]
fn bursts_through_the_whole_program_end_as_packet_by_packet() {
    let bearers: Vec<Bearer> = vec![
        Bearer { nea: Nea::Nea0, ..Bearer::new(0x40) },
        Bearer { nia: Some(Nia::Nia2), ..Bearer::new(0x41) },
        Bearer { mode: RlcMode::Am(12), ..Bearer::new(0x42) },
        Bearer { mode: RlcMode::Um(12), ..Bearer::new(0x43) },
    ];
    let (services, mut twin) = (Services::new(), Interpreted::new(&bearers));
    let ir = whole();
    let target = native(&ir, &services);
    target.apply(&Tables(&ir).station()).expect("fits");
    for b in &bearers {
        target.apply(&Tables(&ir).bearer(b)).expect("fits");
        services.set(b);
    }
    let mut lane = target.lane(0);
    let mut sent = [0u32; 4];
    let (mut forwarded, mut dropped, mut statuses, mut refused) = (0, 0, 0, 0);
    for round in 1..48 {
        // What a UE has it got before this burst.
        let before = sent;
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        for i in 0..target_api::BURST {
            // Rounds of one bearer alone too.
            let n = if round % 8 == 0 { 1 } else { i * i * round / 3 % 4 };
            let (port, frame) = match (i + round) % 9 {
                // The first is never told what the UE has: its window becomes full.
                3 if (1..3).contains(&n) => {
                    let length = if n == 2 { buffer::status::SnLength::Bits12 } else { buffer::status::SnLength::Bits18 };
                    let mut pdu = Vec::new();
                    buffer::status::emit(length, before[n], &[], &mut pdu);
                    (RADIO, from_ue(&bearers[n], &pdu))
                }
                5 => (N3, from_upf(&Bearer::new(0x99), b"nobody")),
                6 => (N3, from_upf(&bearers[n], b"cut off")[..50].to_vec()),
                _ => (N3, from_upf(&bearers[n], &[i as u8; 70])),
            };
            let end = twin.process(port, &frame, round as u64);
            sent[n] += u32::from(end.verdict.kind == VerdictKind::Forward);
            packets.push(Packet::new(&frame, port));
            expected.push(end);
        }
        let mut verdicts = vec![Verdict::default(); packets.len()];
        lane.process(&mut packets, &mut verdicts, round as u64);
        for ((packet, verdict), end) in packets.iter().zip(&verdicts).zip(expected) {
            match (verdict.kind, end.reason().as_deref()) {
                (_, Some("status_processed")) => statuses += 1,
                (VerdictKind::Drop, Some("service_refused")) => refused += 1,
                (VerdictKind::Drop | VerdictKind::Punt, _) => dropped += 1,
                _ => forwarded += 1,
            }
            assert_eq!(*verdict, end.verdict);
            if verdict.kind != VerdictKind::Drop {
                assert_eq!(packet.data(), end.bytes);
            }
        }
        let mut back = Vec::new();
        lane.poll(round as u64, &mut back);
        assert!(back.is_empty(), "nothing stops, and nothing is lost");
    }
    let buffer = services.buffer.counters();
    assert_eq!((buffer.imbalance(), buffer.waiting(), buffer.copies), (0, 0, 0));
    let met = (forwarded, dropped, statuses, refused);
    assert!(forwarded > 1000 && dropped > 300 && statuses > 50 && refused > 50, "{met:?}");
}

#[test]
fn a_tunnels_packets_have_text_of_their_own_though_a_register_lies_behind_two_tables() {
    for step in 0..=3 {
        assert!(p4_emit::emit_x86(&ir(Some(step), &[])).expect("x86 runs it").contains("void class_1_stage_0_parser"), "step {step}");
    }
}
