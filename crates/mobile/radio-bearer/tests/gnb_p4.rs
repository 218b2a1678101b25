//! Is `p4/gnb.p4` with its services a gNodeB? Its frames are compared byte for byte with what the entities of crate `gnb` make, on x86 and in the
//! interpreter; over a radio that loses and reorders, every SDU comes up once and in order.

mod common;

use base::VerdictKind;
use ciphering::{Choice, Direction, Engine, Nea, Nia};
use common::*;
use gnb::framing::RlcMode;
use gnb::pdcp::rx::Prepared;
use gnb::pdcp::{CountGuard, Rx, RxConfig, Security, SnLength, Tx, TxConfig};
use gnb::rlc::am::Am;
use gnb::rlc::pdu::{UmSnLength, Umd};
use gnb::rlc::um::{UmRx, UmTx};
use gnb::rlc::{QueueLimits, am_rx, am_tx, um};
use rand::Rng;
use std::collections::BTreeMap;
use target_api::Target;

const QUEUE: QueueLimits = QueueLimits { sdus: 4096, bytes: 1 << 26 };
const MODES: [RlcMode; 5] = [RlcMode::Tm, RlcMode::Um(6), RlcMode::Um(12), RlcMode::Am(12), RlcMode::Am(18)];

enum UeRlc {
    Tm(std::collections::VecDeque<Vec<u8>>),
    Um(UmTx<Vec<u8>>, Box<UmRx>),
    Am(Box<Am<Vec<u8>>>),
}

/// A UE's side of a bearer, of the entities.
struct Ue {
    bearer: Bearer,
    engine: Engine,
    tx: Tx,
    rx: Rx,
    rlc: UeRlc,
    send: Security,
    receive: Security,
    /// SDUs that came up.
    up: Vec<Vec<u8>>,
}

impl Ue {
    fn new(b: &Bearer) -> Ue {
        let engine = Engine::new(Choice::Portable).expect("it needs no library");
        let acknowledged = matches!(b.mode, RlcMode::Am(_));
        let guard = CountGuard::default();
        let tx = TxConfig {
            format: b.format(Direction::Uplink),
            acknowledged,
            window: 512,
            queue_sdus: 4096,
            bytes: 1 << 26,
            discard_ns: None,
            guard,
        };
        let rx = RxConfig {
            format: b.format(Direction::Downlink),
            acknowledged,
            window: 512,
            bytes: 1 << 22,
            reordering_ns: b.reordering_ns(),
            out_of_order: false,
            guard,
        };
        let rlc = match b.mode {
            RlcMode::Tm => UeRlc::Tm(Default::default()),
            RlcMode::Um(bits) => {
                let sn_length = if bits == 6 { UmSnLength::Bits6 } else { UmSnLength::Bits12 };
                let rx = um::UmRxConfig { sn_length, reassembly_ns: 35 * MS, partial_bytes: 1 << 16 };
                UeRlc::Um(UmTx::new(sn_length, QUEUE).unwrap(), Box::new(UmRx::new(rx).unwrap()))
            }
            RlcMode::Am(bits) => {
                let sn_length = sn_length(bits);
                let tx = am_tx::TxConfig {
                    sn_length,
                    window: 512,
                    queue: QUEUE,
                    poll_retransmit_ns: 45 * MS,
                    poll_pdu: Some(8),
                    poll_byte: None,
                    max_retransmissions: 32,
                };
                let rx =
                    am_rx::RxConfig { sn_length, window: 512, partial_bytes: 1 << 18, reassembly_ns: 35 * MS, status_prohibit_ns: 5 * MS };
                UeRlc::Am(Box::new(Am::new(tx, rx).unwrap()))
            }
        };
        let (send, receive) = (b.security(&engine, Direction::Uplink), b.security(&engine, Direction::Downlink));
        Ue { bearer: b.clone(), tx: Tx::new(tx).unwrap(), rx: Rx::new(rx).unwrap(), rlc, engine, send, receive, up: Vec::new() }
    }

    /// A packet on its way up, to RLC.
    fn send(&mut self, sdu: &[u8], now_ns: u64) {
        let header = self.bearer.sdap_uplink.then_some(0x80 | self.bearer.qfi);
        self.tx.enqueue(header.into_iter().chain(sdu.iter().copied()).collect(), now_ns).expect("room");
        self.push(now_ns);
    }

    fn push(&mut self, now_ns: u64) {
        while let Some(packet) = self.tx.pull(now_ns, &mut |_| {}) {
            let mut packets = [packet];
            self.send.run(&mut self.engine, &mut packets);
            let [packet] = packets;
            let (count, pdu) = self.tx.finish(packet).expect("ciphered");
            match &mut self.rlc {
                UeRlc::Tm(queue) => queue.push_back(pdu),
                UeRlc::Um(tx, _) => tx.enqueue(count, pdu).expect("room"),
                UeRlc::Am(am) => am.enqueue(count, pdu).expect("room"),
            }
        }
    }

    /// The next frame for the gNodeB.
    fn pull(&mut self, grant: usize, now_ns: u64) -> Option<Vec<u8>> {
        let mut pdu = Vec::new();
        match &mut self.rlc {
            UeRlc::Tm(queue) => pdu = queue.pop_front()?,
            UeRlc::Um(tx, _) => drop(tx.pull(grant, &mut pdu)?),
            UeRlc::Am(am) => drop(am.pull(grant, now_ns, &mut pdu)?),
        }
        Some(from_ue(&self.bearer, &pdu))
    }

    /// A frame of the gNodeB: its framing is the bearer's.
    fn receive(&mut self, frame: &[u8], now_ns: u64) {
        let pdu = &frame[60..];
        assert_eq!(frame, to_ue(&self.bearer, pdu));
        let mut sdus = Vec::new();
        let deliver = &mut |sdu: &[u8]| sdus.push(sdu.to_vec());
        let mut delivered = Vec::new();
        match &mut self.rlc {
            UeRlc::Tm(_) => deliver(pdu),
            UeRlc::Um(_, rx) => rx.receive(pdu, now_ns, deliver).expect("taken"),
            UeRlc::Am(am) => {
                let events = &mut |event| {
                    if let am_tx::TxEvent::Delivered { tag, .. } = event {
                        delivered.push(tag);
                    }
                };
                // Doubles are dropped.
                let _ = am.receive(pdu, now_ns, deliver, events);
            }
        }
        delivered.into_iter().for_each(|count| self.tx.delivered(count));
        self.push(now_ns);
        for sdu in sdus {
            let Ok(Prepared::Data(packet)) = self.rx.prepare(sdu) else { continue };
            let mut packets = [packet];
            self.receive.run(&mut self.engine, &mut packets);
            let [packet] = packets;
            let (up, bearer) = (&mut self.up, &self.bearer);
            self.rx.finish(packet, now_ns, &mut |_, sdu| up.push(without_sdap(bearer, sdu))).expect("genuine");
        }
    }

    fn advance(&mut self, now_ns: u64) {
        let (up, bearer) = (&mut self.up, &self.bearer);
        self.rx.advance(now_ns, &mut |_, sdu| up.push(without_sdap(bearer, sdu)));
        if let UeRlc::Am(am) = &mut self.rlc {
            am.advance(now_ns, &mut |_| {});
        }
    }
}

fn without_sdap(bearer: &Bearer, sdu: &[u8]) -> Vec<u8> {
    if bearer.sdap_downlink {
        assert_eq!(sdu[0], u8::from(bearer.reflective) << 7 | bearer.qfi);
    }
    sdu[usize::from(bearer.sdap_downlink)..].to_vec()
}

/// The radio frames that the entities make of a packet with grants of the bearer's size.
fn expected_downlink(b: &Bearer, tx: &mut Tx, rlc: &mut UeRlc, engine: &mut Engine, sdu: &[u8]) -> Vec<Vec<u8>> {
    let header = b.sdap_downlink.then_some(u8::from(b.reflective) << 7 | b.qfi);
    tx.enqueue(header.into_iter().chain(sdu.iter().copied()).collect(), 0).expect("room");
    let mut packets = [tx.pull(0, &mut |_| {}).expect("room")];
    b.security(engine, Direction::Downlink).run(engine, &mut packets);
    let [packet] = packets;
    let (count, pdu) = tx.finish(packet).expect("ciphered");
    let grant = usize::from(b.pdu_bytes);
    let mut pdus = Vec::new();
    match rlc {
        UeRlc::Tm(_) => pdus.push(pdu),
        UeRlc::Um(um, _) => {
            um.enqueue(count, pdu).expect("room");
            pdus.extend(std::iter::from_fn(|| {
                let mut out = Vec::new();
                um.pull(grant, &mut out).map(|_| out)
            }));
        }
        UeRlc::Am(am) => {
            am.enqueue(count, pdu).expect("room");
            pdus.extend(std::iter::from_fn(|| {
                let mut out = Vec::new();
                am.pull(grant, 0, &mut out).map(|_| out)
            }));
        }
    }
    pdus.iter().map(|pdu| to_ue(b, pdu)).collect()
}

/// One bearer of each kind.
fn every_kind() -> Vec<Bearer> {
    let mut all = Vec::new();
    let neas = [Nea::Nea0, Nea::Nea1, Nea::Nea2, Nea::Nea3];
    let nias = [None, Some(Nia::Nia0), Some(Nia::Nia1), Some(Nia::Nia2), Some(Nia::Nia3)];
    for mode in MODES {
        for pdcp in [SnLength::Bits12, SnLength::Bits18] {
            for nea in neas {
                for nia in nias {
                    let number = all.len() as u32 + 3;
                    let (sdap_downlink, sdap_uplink) = (number & 1 == 0, number & 2 == 0);
                    all.push(Bearer {
                        mode,
                        pdcp,
                        nea,
                        nia,
                        sdap_downlink,
                        sdap_uplink,
                        drb: 1 + number as u8 % 32,
                        reflective: number & 4 == 0,
                        ..Bearer::new(number)
                    });
                }
            }
        }
    }
    all
}

/// Sends packets of up to 200 bytes on each bearer; how many frames came of them.
fn compare_downlink(bearers: &[Bearer]) -> usize {
    let mut frames = 0;
    let (mut native, mut interpreted) = (Native::new(bearers), Interpreted::new(bearers));
    let mut rng = testkit::rng(1);
    let mut engine = Engine::new(Choice::Portable).unwrap();
    for b in bearers {
        let config = TxConfig {
            format: b.format(Direction::Downlink),
            acknowledged: false,
            window: 1,
            queue_sdus: 8,
            bytes: 1 << 20,
            discard_ns: None,
            guard: CountGuard::default(),
        };
        let (mut tx, mut ue) = (Tx::new(config).unwrap(), Ue::new(b));
        for round in 0..10 {
            let sdu: Vec<u8> = (0..rng.random_range(1..200)).map(|_| rng.random()).collect();
            let expected = expected_downlink(b, &mut tx, &mut ue.rlc, &mut engine, &sdu);
            let frame = from_upf(b, &sdu);
            let outs: Vec<_> = native.process(&[(N3, frame.clone())], 1).into_iter().filter_map(Out::forwarded).collect();
            let expected: Vec<_> = expected.into_iter().map(|bytes| (RADIO, bytes)).collect();
            assert_eq!(outs, expected, "{b:?} packet {round}");
            // Segments are packets of the buffer's own, which the interpreter does not wait for.
            let twin = interpreted.process(N3, &frame, 1);
            match &expected[..] {
                [whole] => assert_eq!(twin.forwarded().as_ref(), Some(whole), "{b:?}"),
                _ => assert_eq!(twin.reason().as_deref(), Some("in_segments"), "{b:?}"),
            }
            frames += expected.len();
        }
    }
    frames
}

#[test]
fn a_downlink_packet_becomes_the_radio_frame_that_the_entities_make_on_bearers_of_every_kind() {
    let bearers = every_kind();
    assert_eq!(compare_downlink(&bearers), 10 * bearers.len());
}

#[test]
fn a_packet_longer_than_a_grant_becomes_the_segments_that_the_entities_make() {
    let mut bearers = every_kind();
    bearers.retain(|b| b.mode != RlcMode::Tm);
    for (n, b) in bearers.iter_mut().enumerate() {
        b.pdu_bytes = 64 + (n as u16 * 7) % 60;
    }
    let frames = compare_downlink(&bearers);
    assert!(frames > 15 * bearers.len(), "{frames} frames of {} packets", 10 * bearers.len());
}

#[test]
fn an_uplink_pdu_becomes_the_tunnel_packet_on_bearers_of_every_kind_whole_or_in_segments() {
    let bearers = every_kind();
    let (mut native, mut interpreted) = (Native::new(&bearers), Interpreted::new(&bearers));
    let mut rng = testkit::rng(2);
    let mut segments = 0;
    for b in &bearers {
        let mut ue = Ue::new(b);
        for round in 0..6 {
            let sdu: Vec<u8> = (0..rng.random_range(1..200)).map(|_| rng.random()).collect();
            ue.send(&sdu, 1);
            let grant = if round < 3 { 1 << 16 } else { 60 };
            let (mut got, mut twin) = (Vec::new(), Vec::new());
            while let Some(frame) = ue.pull(grant, 1) {
                segments += u32::from(round >= 3);
                got.extend(native.process(&[(RADIO, frame.clone())], 1).into_iter().filter_map(Out::forwarded));
                twin.extend(interpreted.process(RADIO, &frame, 1).forwarded());
            }
            // STATUS PDUs, which a poll asks for.
            got.retain(|(port, _)| *port == N3);
            assert_eq!(got, [(N3, to_upf(b, &sdu))], "{b:?} packet {round}: {:?}", native.ends);
            assert_eq!(twin, got, "{b:?} packet {round}");
        }
    }
    assert!(segments > 1000, "{segments}");
    // A packet of each bearer waits for t-StatusProhibit, and carries the second STATUS.
    assert_eq!(native.kept(), 80);
    native.poll(10 * MS);
    assert_eq!(native.kept(), 0);
}

/// Runs a bearer over a radio that loses, doubles and reorders, until all has come up. What came up at the UE and at the UPF.
fn over_the_radio(b: &Bearer, loss: f64, seed: u64) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, Native) {
    let mut rng = testkit::rng(seed);
    let mut native = Native::new(std::slice::from_ref(b));
    let mut ue = Ue::new(b);
    let sdu = |n: u32, rng: &mut testkit::Rng| -> Vec<u8> {
        let len = rng.random_range(4..300);
        n.to_be_bytes().into_iter().chain(std::iter::repeat_n(n as u8, len)).collect()
    };
    // Frames on the air: when they arrive, and for whom.
    let mut air: BTreeMap<(u64, u64), (bool, Vec<u8>)> = BTreeMap::new();
    let (mut serial, mut upf) = (0u64, Vec::new());
    const MANY: u32 = 400;
    for tick in 0..6000u64 {
        let now = tick * MS;
        let mut frames = Vec::new();
        if tick < u64::from(MANY) {
            let (down, up) = (sdu(tick as u32, &mut rng), sdu(tick as u32, &mut rng));
            frames.push((N3, from_upf(b, &down)));
            ue.send(&up, now);
        }
        let due: Vec<_> = air.range(..=(now, u64::MAX)).map(|(at, _)| *at).collect();
        for at in due {
            match air.remove(&at).expect("it is there") {
                (true, frame) => frames.push((RADIO, frame)),
                (false, frame) => ue.receive(&frame, now),
            }
        }
        let mut outs = native.process(&frames, now);
        outs.extend(native.poll(now));
        let mut sent: Vec<(bool, Vec<u8>)> = Vec::new();
        for (port, bytes) in outs.into_iter().filter_map(Out::forwarded) {
            if port == N3 {
                assert_eq!(bytes, to_upf(b, &bytes[58..]));
                upf.push(bytes[58..].to_vec());
            } else {
                sent.push((false, bytes));
            }
        }
        ue.advance(now);
        for _ in 0..4 {
            sent.extend(ue.pull(rng.random_range(20..200), now).map(|frame| (true, frame)));
        }
        for (up, frame) in sent {
            for _ in 0..if rng.random_bool(0.02) { 2 } else { 1 } {
                if !rng.random_bool(loss) {
                    serial += 1;
                    air.insert((now + rng.random_range(1..=8) * MS, serial), (up, frame.clone()));
                }
            }
        }
        if ue.up.len() == MANY as usize && upf.len() == MANY as usize && native.kept() == 0 && air.is_empty() {
            break;
        }
    }
    (ue.up, upf, native)
}

#[test]
fn over_a_radio_that_loses_and_reorders_every_sdu_comes_up_once_and_in_order_both_ways() {
    for (seed, bits, loss) in [(11, 12, 0.05), (12, 18, 0.2), (13, 18, 0.0)] {
        let pdu_bytes = if bits == 12 { 16_000 } else { 70 };
        let b = Bearer { mode: RlcMode::Am(bits), nia: Some(Nia::Nia2), pdu_bytes, ..Bearer::new(77) };
        let (down, up, native) = over_the_radio(&b, loss, seed);
        for (way, sdus) in [("down", down), ("up", up)] {
            let numbers: Vec<u32> = sdus.iter().map(|sdu| u32::from_be_bytes(sdu[..4].try_into().unwrap())).collect();
            assert!(numbers.iter().copied().eq(0..400), "{way} with {loss}: {numbers:?}");
        }
        assert_eq!(native.kept(), 0, "all was acknowledged, and no timer runs: {:?}", native.ends);
        assert_eq!(native.services.buffer.counters().copies > 0, loss > 0.0 || pdu_bytes < 100, "segments, and what is sent again");
        assert!(native.ends["status_processed"] > 10 && native.ends["absorbed"] > 100, "{:?}", native.ends);
    }
}

#[test]
fn what_never_comes_is_passed_over_when_t_reordering_expires() {
    let b = Bearer { mode: RlcMode::Um(12), ..Bearer::new(8) };
    let (mut native, mut ue) = (Native::new(std::slice::from_ref(&b)), Ue::new(&b));
    (0..4u8).for_each(|n| ue.send(&[n; 30], MS));
    let frames: Vec<_> = std::iter::from_fn(|| ue.pull(1000, MS)).map(|frame| (RADIO, frame)).collect();
    let sent = |outs: Vec<Out>| -> Vec<Vec<u8>> { outs.into_iter().filter_map(Out::forwarded).map(|(_, frame)| frame).collect() };
    assert_eq!(sent(native.process(&frames[..1], MS)), [to_upf(&b, &[0; 30])]);
    // The second is lost.
    assert!(sent(native.process(&frames[2..], MS)).is_empty());
    assert_eq!((native.kept(), native.next_poll_ns()), (2, Some(201 * MS)));
    assert!(native.poll(200 * MS).is_empty());
    assert_eq!(sent(native.poll(201 * MS)), [to_upf(&b, &[2; 30]), to_upf(&b, &[3; 30])]);
    // It comes all the same, too late.
    assert_eq!(native.process(&frames[1..2], 202 * MS).remove(0).reason().as_deref(), Some("service_refused"));
}

#[test]
fn a_packet_far_ahead_comes_behind_those_that_waited() {
    let b = Bearer { mode: RlcMode::Um(12), ..Bearer::new(8) };
    let (mut native, mut ue) = (Native::new(std::slice::from_ref(&b)), Ue::new(&b));
    (0..600u32).for_each(|n| ue.send(&n.to_be_bytes(), MS));
    let frames: Vec<_> = std::iter::from_fn(|| ue.pull(1000, MS)).map(|frame| (RADIO, frame)).collect();
    // Nothing before 1: it waits. The window is 512, so 599 passes over what is missing, and the rest waits for the timer.
    assert!(native.process(&frames[1..3], MS).is_empty());
    let outs = native.process(&frames[599..], MS);
    let sent: Vec<_> = outs.into_iter().filter_map(Out::forwarded).map(|(_, frame)| frame).collect();
    assert_eq!(sent, [to_upf(&b, &1u32.to_be_bytes()), to_upf(&b, &2u32.to_be_bytes())]);
    assert_eq!(native.kept(), 1);
}

#[test]
fn a_removed_bearer_gives_back_what_waits() {
    let b = Bearer { mode: RlcMode::Um(12), ..Bearer::new(8) };
    let (mut native, mut ue) = (Native::new(std::slice::from_ref(&b)), Ue::new(&b));
    (0..3u8).for_each(|n| ue.send(&[n; 30], MS));
    let frames: Vec<_> = std::iter::from_fn(|| ue.pull(1000, MS)).map(|frame| (RADIO, frame)).collect();
    native.process(&frames[1..], MS);
    assert_eq!(native.kept(), 2);
    native.services.bearers.set(8, None).unwrap();
    let outs = native.process(&frames[..1], MS);
    assert_eq!(outs.len(), 3);
    assert_eq!(native.services.bearers.counters().dropped_for(radio_bearer::REMOVED), 2);
    assert_eq!(native.services.bearers.counters().dropped_for(radio_bearer::NO_BEARER), 1);
    assert_eq!(native.kept(), 0);
}

#[test]
fn a_wrong_mac_a_replay_and_an_unsent_status_are_refused_and_change_nothing() {
    let b = Bearer { nia: Some(Nia::Nia2), mode: RlcMode::Um(12), ..Bearer::new(5) };
    let am = Bearer { nia: Some(Nia::Nia2), ..Bearer::new(6) };
    let (mut native, mut ue) = (Native::new(&[b.clone(), am.clone()]), Ue::new(&b));
    ue.send(b"first", 1);
    ue.send(b"second", 1);
    let (first, second) = (ue.pull(1000, 1).unwrap(), ue.pull(1000, 1).unwrap());
    let mut forged = first.clone();
    *forged.last_mut().unwrap() ^= 1;
    let reasons = |outs: Vec<Out>| -> Vec<String> { outs.iter().filter_map(Out::reason).collect() };
    assert_eq!(reasons(native.process(&[(RADIO, forged)], 1)), ["service_refused"]);
    assert_eq!(native.services.cipher.counters().dropped_for(ciphering::service::WRONG_MAC), 1);
    let out = native.process(&[(RADIO, first.clone())], 1).remove(0).forwarded();
    assert_eq!(out, Some((N3, to_upf(&b, b"first"))), "the forged one took nobody's place");
    assert_eq!(reasons(native.process(&[(RADIO, first)], 1)), ["service_refused"]);
    let late = service::Reason::own(radio_bearer::INTERFACE.reasons.iter().position(|name| *name == "pdcp_late").unwrap());
    assert_eq!(native.services.bearers.counters().dropped_for(late), 1);
    assert_eq!(native.process(&[(RADIO, second)], 1).remove(0).forwarded(), Some((N3, to_upf(&b, b"second"))));
    // ACK_SN 9, and nothing was sent.
    assert_eq!(reasons(native.process(&[(RADIO, from_ue(&am, &[0, 0, 0x24, 0]))], 1)), ["service_refused"]);
    assert_eq!(native.kept(), 0);
}

#[test]
fn bad_frames_of_n3_and_of_the_radio_are_dropped_by_reason_alike_on_x86_and_in_the_interpreter() {
    // Without protection, so that SDAP's bytes are what the frame says; a drop by SDAP has spent its PDU's number.
    let open = Bearer { mode: RlcMode::Um(6), nea: Nea::Nea0, ..Bearer::new(8) };
    let bearers =
        [Bearer { nia: Some(Nia::Nia1), ..Bearer::new(5) }, Bearer { mode: RlcMode::Um(6), ..Bearer::new(6) }, Bearer::new(7), open];
    let (mut native, mut interpreted) = (Native::new(&bearers), Interpreted::new(&bearers));
    let mut rng = testkit::rng(3);
    let mut ues: Vec<Ue> = bearers.iter().map(Ue::new).collect();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let with = |mut frame: Vec<u8>, changes: &[(usize, u8)]| {
        changes.iter().for_each(|(at, value)| frame[*at] = *value);
        let sum = {
            frame[24..26].fill(0);
            checksum(&frame[14..34])
        };
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame
    };
    let b = &bearers[0];
    let down = from_upf(b, &[7; 80]);
    let control = |first: u8| from_ue(&bearers[1], &[&[0][..], &[first, 0, 0, 0, 0, 0, 0, 0]].concat());
    let named: Vec<(&str, base::PortId, Vec<u8>)> = vec![
        ("arp", N3, with(down.clone(), &[(12, 8), (13, 6)])),
        ("host", N3, with(down.clone(), &[(36, 0), (37, 53)])),
        ("gtpu_signalling", N3, with(down.clone(), &[(43, 1)])),
        ("unknown_teid", N3, with(down.clone(), &[(46, 0xee)])),
        ("malformed", N3, down[..40].to_vec()),
        ("ipv4_checksum", N3, {
            let mut f = down.clone();
            f[24] ^= 1;
            f
        }),
        ("length_mismatch", N3, [&down[..], &[0]].concat()),
        ("length_mismatch", N3, with(down.clone(), &[(45, 3)])),
        ("not_our_mac", N3, with(down.clone(), &[(0, 4)])),
        ("unsupported_protocol", N3, with(down.clone(), &[(12, 0x86), (13, 0xdd)])),
        ("header_chain", N3, with(down.clone(), &[(20, 0x20)])),
        ("gtpu_version", N3, with(down.clone(), &[(42, 0x54)])),
        ("gtpu_extension", N3, with(down.clone(), &[(53, 0xc0)])),
        ("gtpu_extension", N3, with(down.clone(), &[(55, 0x10)])),
        ("too_big", N3, from_upf(b, &[1; 9001])),
        ("malformed", N3, from_upf(b, &[])),
        ("radio_framing", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(42, b'x')])),
        ("radio_framing", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(51, 1)])),
        ("radio_framing", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(48, 2)])),
        ("no_bearer", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(54, 99)])),
        // From another address, and from another port of the right one.
        ("wrong_source", N3, with(down.clone(), &[(29, 8)])),
        ("wrong_source", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(29, 8)])),
        ("wrong_source", RADIO, with(from_ue(b, &[0x80, 0, 0, 1]), &[(35, 0)])),
        ("pdcp_control", RADIO, control(0)),
        // An end marker; one with a packet behind it; and a header without a packet.
        ("sdap_end_marker", RADIO, from_ue(&bearers[3], &[0, 0x80, 0, 0, 9])),
        ("sdap_length", RADIO, from_ue(&bearers[3], &[0, 0x80, 0, 1, 9, 1])),
        ("sdap_length", RADIO, from_ue(&bearers[3], &[0, 0x80, 0, 2, 0x89])),
        ("malformed", RADIO, from_ue(b, &[])),
    ];
    for (name, port, frame) in &named {
        let twin = interpreted.process(*port, frame, 1);
        assert_eq!(twin.reason().as_deref(), Some(*name), "{twin:?}");
        let out = native.process(&[(*port, frame.clone())], 1);
        assert_eq!(out, [twin], "{name}");
    }
    // Random damage to good frames.
    for round in 0..6000u64 {
        let k = rng.random_range(0..bearers.len());
        let (port, mut frame) = if rng.random_bool(0.5) {
            (N3, from_upf(&bearers[k], &vec![round as u8; rng.random_range(1..300)]))
        } else {
            if rng.random_bool(0.3) {
                ues[k].send(&[round as u8; 50], 1);
            }
            match ues[k].pull(rng.random_range(20..120), 1) {
                Some(frame) => (RADIO, frame),
                None => (RADIO, from_ue(&bearers[k], &std::array::from_fn::<u8, 40, _>(|_| rng.random()))),
            }
        };
        if rng.random_bool(0.6) {
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..frame.len());
                frame[at] = if rng.random_bool(0.5) { rng.random() } else { frame[at] ^ 1 << rng.random_range(0..8) };
            }
            if rng.random_bool(0.5) {
                frame = with(frame, &[]);
            }
        }
        let twin = interpreted.process(port, &frame, 1);
        // A lane has all that a service gives; of the interpreter's one packet, the last.
        let mut outs = native.process(&[(port, frame)], 1);
        outs.retain(|out| !matches!(out.reason().as_deref(), Some("absorbed")) || *out == twin);
        let out =
            if outs.contains(&twin) { twin.clone() } else { outs.pop().unwrap_or(Out { verdict: base::Verdict::kept(), bytes: vec![] }) };
        if twin.reason().as_deref() != Some("service_lost") {
            let all: Vec<_> = outs.iter().map(|out| (out.reason(), out.verdict.kind)).collect();
            assert_eq!(out, twin, "round {round}: {all:?} {k}");
        }
        let name = twin.reason().unwrap_or_else(|| format!("{:?}", twin.verdict.kind));
        *ends.entry(name).or_default() += 1;
    }
    let forwarded = ends["Forward"];
    assert!(forwarded > 1500 && ends["no_bearer"] > 3 && ends["unknown_teid"] > 10 && ends["service_refused"] > 100, "{ends:?}");
}

/// The UE waits for each COUNT, for ever if it has no `t-Reordering`.
#[test]
fn a_packet_that_the_buffer_has_no_room_for_spends_no_count() {
    let b = Bearer { nea: Nea::Nea0, sdap_downlink: false, ..Bearer::new(9) };
    let mut native = Native::new(std::slice::from_ref(&b));
    let send = |native: &mut Native| native.process(&[(N3, from_upf(&b, b"x"))], 1).into_iter().next();
    // The window is 512.
    for count in 0..512u32 {
        let (_, frame) = send(&mut native).and_then(Out::forwarded).expect("sent");
        assert_eq!(frame[63..66], (0x80_0000 | count).to_be_bytes()[1..]);
    }
    for _ in 0..3 {
        assert_eq!(send(&mut native).and_then(|out| out.reason()).as_deref(), Some("service_refused"));
    }
    // ACK_SN 512.
    native.process(&[(RADIO, from_ue(&b, &[0, 8, 0]))], 1);
    let (_, frame) = send(&mut native).and_then(Out::forwarded).expect("sent");
    assert_eq!(frame[63..66], [0x80, 2, 0], "COUNT 512, with none left out");
}

/// A stop costs a pass of parser and deparser. A downlink packet makes none; an uplink PDU is with `radio_bearer` before the cipher is asked.
#[test]
fn what_services_answer_at_once_does_not_stop_the_program() {
    const MANY: u64 = 20;
    let b = Bearer::new(9);
    let (mut native, mut ue) = (Native::new(std::slice::from_ref(&b)), Ue::new(&b));
    let asked = |native: &Native| {
        let program = native.target.program();
        program.asks.iter().map(|ask| native.target.table_stats(ask.table).hits).sum::<u64>()
    };
    let down: Vec<_> = (0..MANY).map(|n| (N3, from_upf(&b, &[n as u8; 30]))).collect();
    assert!(native.process(&down, MS).into_iter().all(|out| out.forwarded().is_some()));
    assert_eq!((asked(&native), native.kept()), (3 * MANY, 0), "for a place, the cipher, and to keep a copy");
    // ACK_SN 20.
    let outs = native.process(&[(RADIO, from_ue(&b, &[0, 0, 20 << 2]))], MS);
    assert_eq!((outs.len(), asked(&native)), (1, 3 * MANY + 1), "the STATUS");
    (0..MANY).for_each(|n| ue.send(&[n as u8; 30], MS));
    let up: Vec<_> = std::iter::from_fn(|| ue.pull(1000, MS)).map(|frame| (RADIO, frame)).collect();
    native.process(&up, MS);
    assert_eq!(asked(&native), 3 * MANY + 1 + up.len() as u64, "the cipher, of a packet that has been with a service");
}

/// The last of a burst, where nothing comes behind it that would be polled.
#[test]
fn a_lone_packet_that_is_lost_goes_again_when_t_poll_retransmit_expires() {
    let b = Bearer::new(9);
    let mut native = Native::new(std::slice::from_ref(&b));
    let first = native.process(&[(N3, from_upf(&b, b"x"))], MS).remove(0).forwarded().expect("sent");
    assert!(native.poll(45 * MS).is_empty());
    let again = native.poll(47 * MS).remove(0).forwarded().expect("sent again");
    assert_eq!(again, first, "with the P bit, as the first time");
}

#[test]
fn count_begins_where_the_entry_says_and_stops_before_it_comes_round() {
    let b = Bearer { mode: RlcMode::Um(12), nea: Nea::Nea0, sdap_downlink: false, count_base: u32::MAX - 2, ..Bearer::new(9) };
    let mut native = Native::new(std::slice::from_ref(&b));
    for sn in [0x3_fffd, 0x3_fffe] {
        let (_, frame) = native.process(&[(N3, from_upf(&b, b"x"))], 1).remove(0).forwarded().expect("sent");
        let Umd { data, .. } = Umd::parse(&frame[60..], UmSnLength::Bits12).unwrap();
        assert_eq!(data, [0x80 | (sn >> 16) as u8, (sn >> 8) as u8, sn as u8, b'x']);
    }
    for _ in 0..3 {
        assert_eq!(native.process(&[(N3, from_upf(&b, b"x"))], 1).remove(0).reason().as_deref(), Some("count_exhausted"));
    }
}

#[test]
fn downlink_counts_from_the_notice_on_are_counted_alike_on_x86_and_in_the_interpreter() {
    let b = Bearer { mode: RlcMode::Um(12), nea: Nea::Nea0, count_base: 0xc000_0000 - 2, ..Bearer::new(9) };
    let (mut native, mut interpreted) = (Native::new(std::slice::from_ref(&b)), Interpreted::new(std::slice::from_ref(&b)));
    let counter = native.target.program().counter("downlink_count_high").unwrap();
    for high in [0, 0, 1, 2] {
        native.process(&[(N3, from_upf(&b, b"x"))], 1);
        interpreted.process(N3, &from_upf(&b, b"x"), 1);
        assert_eq!((native.target.counter(counter, 9).packets, interpreted.machine.counter(counter, 9).packets), (high, high));
    }
}

#[test]
fn sixty_four_thousand_bearers_are_told_apart() {
    let ir = whole();
    let mut native = Native::new(&[]);
    let bearer = |number| Bearer { mode: RlcMode::Um(6), nea: Nea::Nea0, ..Bearer::new(number) };
    let ops = (0..BEARERS).flat_map(|number| Tables(&ir).bearer(&bearer(number)).ops).collect();
    native.target.apply(&program::Batch { ops }).expect("fits");
    let over = Bearer { ue: 1, drb: 31, ..bearer(BEARERS) };
    assert!(native.target.apply(&Tables(&ir).bearer(&over)).is_err(), "tables refuse what does not fit");
    let mut rng = testkit::rng(4);
    for _ in 0..2000 {
        let b = bearer(rng.random_range(0..BEARERS));
        let out = native.process(&[(N3, from_upf(&b, b"packet"))], 1).remove(0);
        assert_eq!(out.verdict.kind, VerdictKind::Forward);
        let header = [0, 0x80, out.bytes[62], out.bytes[63], b.qfi];
        assert_eq!(out.bytes, to_ue(&b, &[&header[..], b"packet"].concat()));
    }
    assert_eq!(native.process(&[(N3, from_upf(&over, b"packet"))], 1).remove(0).reason().as_deref(), Some("unknown_teid"));
}
