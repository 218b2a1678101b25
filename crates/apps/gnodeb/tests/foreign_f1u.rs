//! CU-UP and DU beside those of other makers on F1-U (TS 38.425 §5.4.2.1): what the other side writes, leaves out or never sends again.

use std::net::{SocketAddr, SocketAddrV4};

use ciphering::Direction::Uplink;
use ciphering::{Choice, Engine};
use gnb::framing::{self, RlcMode::Am};
use gnb::nru::{self, DeliveryStatus, Frame, UserData};
use gnodeb::config::Gnb;
use gnodeb::f1u::{self, Datagram};
use gnodeb::node::{Node, Output};
use wire::gtpu::{self, Message, Packet, Repr, SessionContainer};

const MS: u64 = 1_000_000;
const UPF: &str = "10.3.0.1:2152";
const UE_RADIO: &str = "10.4.0.2:47001";
const CU: &str = "10.5.0.1:2152";
const DU: &str = "10.5.0.2:2152";

fn address(text: &str) -> SocketAddrV4 {
    text.parse().unwrap()
}

/// A bearer of RLC AM with 18 bits and NEA0. `settings`: more keys of it.
fn config(role: &str, settings: &str) -> String {
    let (ours, head, ue) = if role == "du" {
        (
            "10.5.0.2\", peer = \"10.5.0.1",
            format!("[radio]\naddress = \"10.4.0.1:47000\"\nrate_mbps = 50\n[[ue]]\nradio = \"{UE_RADIO}\""),
            "",
        )
    } else {
        let session = "session = { upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }\n";
        ("10.5.0.1\", peer = \"10.5.0.2", String::from("n3 = \"10.3.0.2\"\n[[ue]]"), session)
    };
    let f1u = format!("f1u = {{ address = \"{ours}\" }}\n");
    // Keys of the file go before its tables.
    format!(
        "role = \"{role}\"\n{f1u}{head}\nid = 7\nflows = [{{ qfi = 9, drb = 1 }}]\n{ue}[[ue.drb]]\nid = 1\nrlc = \"am\"\n{settings}\
         f1u = {{ cu_teid = 17, du_teid = 18 }}\n"
    )
}

fn node(role: &str, settings: &str) -> Node {
    Node::new(&Gnb::parse(&config(role, settings)).unwrap(), Engine::new(Choice::Portable).unwrap())
}

fn cu() -> Node {
    node("cu-up", "ciphering = 0\n")
}

/// A datagram of F1-U with this container, if any.
fn datagram(teid: u32, frame: Option<&Frame>, pdu: &[u8]) -> Vec<u8> {
    let mut container = Vec::new();
    frame.iter().for_each(|frame| frame.emit(0, &mut container));
    if frame.is_none() {
        return [&[0x30, 255, 0, pdu.len() as u8][..], &teid.to_be_bytes(), pdu].concat();
    }
    gtpu::g_pdu(teid, nru::EXTENSION_TYPE, &container, pdu)
}

/// A PDCP PDU with 18 bits.
fn pdcp(count: u32) -> Vec<u8> {
    [&(0x80_0000 | count).to_be_bytes()[1..], &[9; 100]].concat()
}

/// The CU's frames that were sent, each with its PDU.
fn frames(out: &mut Output) -> Vec<(UserData, Vec<u8>)> {
    let read = |(_, datagram): (SocketAddrV4, Vec<u8>)| match f1u::parse(&datagram) {
        Ok(Datagram::GPdu { teid: 18, frame: Some(Ok(Frame::UserData(frame))), pdu }) => (frame, pdu.to_vec()),
        other => panic!("{other:?}"),
    };
    out.f1u.drain(..).map(read).collect()
}

/// The DU's reports that were sent.
fn reports(out: &mut Output) -> Vec<DeliveryStatus> {
    let read = |(_, datagram): (SocketAddrV4, Vec<u8>)| match f1u::parse(&datagram) {
        Ok(Datagram::GPdu { teid: 17, frame: Some(Ok(Frame::DeliveryStatus(status))), .. }) => status,
        other => panic!("{other:?}"),
    };
    out.f1u.drain(..).map(read).collect()
}

/// A downlink packet of N3.
fn downlink() -> Vec<u8> {
    let mut out = Vec::new();
    Repr::g_pdu(1, Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None }), &[0x45; 100]).emit(&mut out);
    out
}

/// A STATUS PDU that acknowledges all before this number.
fn acknowledge(du: &mut Node, ack_sn: u32, now_ns: u64) {
    let mut datagram = Vec::new();
    framing::Rlc { mode: Am(18), direction: Uplink, ue: 7, drb: 1 }.emit(&(ack_sn << 2).to_be_bytes()[1..], &mut datagram);
    du.radio(&datagram, UE_RADIO.parse::<SocketAddr>().unwrap(), now_ns);
}

#[test]
fn a_pdu_beside_a_report_reaches_the_upf_and_what_is_not_taken_is_counted() {
    let (mut cu, mut out) = (cu(), Output::default());
    let report = Frame::DeliveryStatus(DeliveryStatus { desired_buffer: 5000, ..DeliveryStatus::default() });
    let wrong = Frame::UserData(UserData::default());
    // Assistance information: PDU type 2.
    let assistance = gtpu::g_pdu(17, nru::EXTENSION_TYPE, &[1, 0x20, 0, 0], &pdcp(2));
    let mut error = Vec::new();
    Repr::new(0, Some(0), Message::ErrorIndication { teid: 18, peer: "10.5.0.2".parse().unwrap() }).emit(&mut error);
    let datagrams = [
        datagram(17, Some(&report), &pdcp(0)),
        datagram(17, None, &pdcp(1)),
        assistance,
        datagram(17, Some(&wrong), &pdcp(3)),
        datagram(17, None, &[]),
        datagram(17, Some(&report), &[]),
        error,
    ];
    for datagram in &datagrams {
        cu.f1u(datagram, address(DU), 0, &mut out);
    }
    cu.run(0, &mut out);
    assert_eq!(out.n3.len(), 4, "each PDU has reached the UPF");
    assert!(out.n3.iter().all(|(to, _)| *to == address(UPF)));
    assert!(out.f1u.is_empty());
    let drops: Vec<_> = cu.report().drops.into_iter().collect();
    let expected = ["f1u.container_type", "f1u.empty", "f1u.error_indication", "f1u.wrong_frame"].map(|reason| (reason.to_owned(), 1));
    assert_eq!(drops, expected);
}

#[test]
fn a_tunnel_that_is_not_there_is_answered_by_an_error_indication() {
    for (mut node, peer, ours) in [(cu(), DU, "10.5.0.1"), (node("du", ""), CU, "10.5.0.2")] {
        let mut out = Output::default();
        node.f1u(&datagram(99, None, &pdcp(0)), address(peer), 0, &mut out);
        // A stranger is not answered.
        node.f1u(&datagram(99, None, &pdcp(0)), address("10.5.0.9:2152"), 0, &mut out);
        let [(to, answer)] = &out.f1u[..] else { panic!("one answer: {out:?}") };
        assert_eq!(*to, address(peer));
        let repr = Repr::parse(&Packet::new_checked(answer).unwrap()).unwrap();
        assert_eq!(repr.message, Message::ErrorIndication { teid: 99, peer: ours.parse().unwrap() });
        assert_eq!(node.report().drops["f1u.unknown_teid"], 1);
    }
}

#[test]
fn a_frame_that_is_lost_and_never_sent_again_does_not_hold_up_what_the_du_reports() {
    let (mut du, mut out) = (node("du", ""), Output::default());
    // The frame with number 2 is lost.
    for sn in [0, 1, 3, 4] {
        du.f1u(&datagram(18, Some(&Frame::UserData(UserData { sn, ..UserData::default() })), &pdcp(sn)), address(CU), 0, &mut out);
    }
    du.run(10 * MS, &mut out);
    assert_eq!(out.radio.len(), 4);
    let first = reports(&mut out).remove(0);
    assert_eq!((&first.lost[..], first.highest_delivered, first.highest_transmitted), (&[(2, 2)][..], None, Some(4)));
    acknowledge(&mut du, 4, 20 * MS);
    du.run(20 * MS, &mut out);
    assert_eq!(reports(&mut out).pop().unwrap().highest_delivered, Some(4), "in sequence, among those that came");
    // A CU that keeps a window open by it goes on.
    for sn in 5..9 {
        du.f1u(&datagram(18, Some(&Frame::UserData(UserData { sn, ..UserData::default() })), &pdcp(sn)), address(CU), 30 * MS, &mut out);
    }
    du.run(40 * MS, &mut out);
    acknowledge(&mut du, 8, 50 * MS);
    du.run(50 * MS, &mut out);
    assert_eq!(reports(&mut out).pop().unwrap().highest_delivered, Some(8));
}

#[test]
fn a_du_reports_of_what_is_sent_again_in_the_order_of_its_numbers_and_apart() {
    let (mut du, mut out) = (node("du", ""), Output::default());
    // COUNTs 0 and 1 are lost with the frames 0 and 1.
    for (sn, (count, retransmission)) in (2..).zip([(2, false), (1, true), (0, true)]) {
        let frame = Frame::UserData(UserData { sn, retransmission, ..UserData::default() });
        du.f1u(&datagram(18, Some(&frame), &pdcp(count)), address(CU), 0, &mut out);
    }
    let mut report = |ack_sn: u32, now: u64| {
        acknowledge(&mut du, ack_sn, now * MS);
        du.run(now * MS, &mut out);
        let status = reports(&mut out).pop().expect("a report");
        let transmitted = (status.highest_transmitted, status.retransmitted);
        (transmitted, status.highest_delivered, status.delivered_retransmitted)
    };
    let all = (Some(2), Some(0));
    assert_eq!(report(0, 10), (all, None, None));
    assert_eq!(report(1, 20), (all, Some(2), None));
    assert_eq!(report(2, 30), (all, Some(2), Some(1)));
    assert_eq!(report(3, 40), (all, Some(2), Some(0)));
}

#[test]
fn a_cu_keeps_what_it_sent_again_until_the_du_reports_of_that() {
    let (mut cu, mut out) = (cu(), Output::default());
    (0..5).for_each(|_| cu.n3(&downlink(), address(UPF), 0));
    cu.run(0, &mut out);
    assert!(frames(&mut out).iter().all(|(frame, _)| !frame.retransmission));
    let mut report = |status: DeliveryStatus| {
        let status = Frame::DeliveryStatus(DeliveryStatus { desired_buffer: 10_000, ..status });
        cu.f1u(&datagram(17, Some(&status), &[]), address(DU), MS, &mut out);
        cu.run(MS, &mut out);
        (frames(&mut out), cu.queued())
    };
    let lost = DeliveryStatus { lost: vec![(1, 1), (2, 2)], highest_delivered: Some(0), ..DeliveryStatus::default() };
    let (again, queued) = report(lost.clone());
    let again: Vec<_> = again.into_iter().map(|(frame, pdu)| (frame.sn, frame.retransmission, pdu[2])).collect();
    assert_eq!((again, queued), (vec![(5, true, 1), (6, true, 2)], 4));
    // The highest that was delivered says nothing of those, and the same loss once more finds nothing.
    let (again, queued) = report(DeliveryStatus { highest_delivered: Some(4), ..lost });
    assert_eq!((again.len(), queued), (0, 4), "COUNT 1 is the first that is kept");
    let delivered =
        |count| DeliveryStatus { highest_delivered: Some(4), delivered_retransmitted: Some(count), ..DeliveryStatus::default() };
    assert_eq!(report(delivered(1)).1, 3);
    assert_eq!(report(delivered(2)).1, 0);
}

#[test]
fn a_cu_gives_a_du_what_it_asks_for_beyond_what_was_delivered() {
    let (mut cu, mut out) = (cu(), Output::default());
    // PDUs of 103 bytes: five begin below 500.
    let asks = |delivered, transmitted| {
        let status =
            DeliveryStatus { desired_buffer: 500, highest_delivered: delivered, highest_transmitted: transmitted, ..Default::default() };
        datagram(17, Some(&Frame::DeliveryStatus(status)), &[])
    };
    cu.f1u(&asks(None, None), address(DU), 0, &mut out);
    (0..30).for_each(|_| cu.n3(&downlink(), address(UPF), 0));
    cu.run(0, &mut out);
    assert_eq!(frames(&mut out).len(), 5);
    cu.f1u(&asks(None, Some(4)), address(DU), 0, &mut out);
    cu.run(0, &mut out);
    assert_eq!(frames(&mut out).len(), 0, "what is on the air is not delivered");
    cu.f1u(&asks(Some(2), Some(4)), address(DU), 0, &mut out);
    cu.run(0, &mut out);
    assert_eq!(frames(&mut out).len(), 3);
}

#[test]
fn a_du_asks_for_more_than_its_queue_takes_by_what_is_on_the_air() {
    let (mut du, mut out) = (node("du", "du_kbytes = 16\n"), Output::default());
    for sn in 0..10 {
        du.f1u(&datagram(18, Some(&Frame::UserData(UserData { sn, ..UserData::default() })), &pdcp(sn)), address(CU), 0, &mut out);
    }
    du.run(10 * MS, &mut out);
    assert_eq!(reports(&mut out).pop().unwrap().desired_buffer, (16 << 10) + 10 * 103);
    acknowledge(&mut du, 6, 20 * MS);
    du.run(20 * MS, &mut out);
    assert_eq!(reports(&mut out).pop().unwrap().desired_buffer, (16 << 10) + 4 * 103);
}

#[test]
fn lists_are_no_longer_than_others_read() {
    let (mut du, mut out) = (node("du", ""), Output::default());
    for sn in [0, 2, 4, 6, 8] {
        du.f1u(&datagram(18, Some(&Frame::UserData(UserData { sn, ..UserData::default() })), &pdcp(sn)), address(CU), 0, &mut out);
    }
    let mut lost = Vec::new();
    while du.next_deadline(10 * MS).is_some_and(|deadline| deadline <= 10 * MS) {
        du.run(10 * MS, &mut out);
        lost.extend(reports(&mut out).into_iter().map(|status| status.lost));
    }
    assert_eq!(lost, [vec![(7, 7), (5, 5)], vec![(3, 3), (1, 1)]], "the newest first, and none is left to wait for another cause");

    // A status report of the UE's that names every other of 64 PDUs: 32 blocks.
    let (mut cu, mut out) = (cu(), Output::default());
    (0..64).for_each(|_| cu.n3(&downlink(), address(UPF), 0));
    cu.run(0, &mut out);
    out.f1u.clear();
    let report = [&[0x00, 0, 0, 0, 0][..], &[0xaa; 8]].concat();
    cu.f1u(&datagram(17, None, &report), address(DU), MS, &mut out);
    cu.run(MS, &mut out);
    let blocks: Vec<usize> = frames(&mut out).iter().map(|(frame, _)| frame.discard.len()).collect();
    assert_eq!(blocks.iter().sum::<usize>(), 32, "{blocks:?}");
    assert!(blocks.iter().all(|number| *number <= nru::COMMON_BLOCKS), "{blocks:?}");
}

#[test]
fn a_cu_without_flow_control_writes_no_container() {
    let (mut du, mut out) = (node("du", ""), Output::default());
    for count in 0..3 {
        du.f1u(&datagram(18, None, &pdcp(count)), address(CU), 0, &mut out);
    }
    du.run(10 * MS, &mut out);
    assert_eq!(out.radio.len(), 3);
    acknowledge(&mut du, 3, 20 * MS);
    du.run(20 * MS, &mut out);
    assert_eq!(reports(&mut out).pop().unwrap().highest_delivered, Some(2));
    assert!(du.report().drops.is_empty(), "{:?}", du.report().drops);
}

#[test]
fn a_du_needs_no_algorithms_and_no_keys_and_a_cu_does() {
    assert!(Gnb::parse(&config("du", "")).is_ok());
    let refused = Gnb::parse(&config("cu-up", "")).unwrap_err().to_string();
    assert_eq!(refused, "ue[0].drb[0].ciphering: missing, and needed with these settings");
}

#[test]
fn timers_of_rlc_are_those_of_the_file() {
    let (mut du, mut out) = (node("du", "poll_retransmit_ms = 300\n"), Output::default());
    du.f1u(&datagram(18, Some(&Frame::UserData(UserData::default())), &pdcp(0)), address(CU), 0, &mut out);
    du.run(10 * MS, &mut out);
    assert_eq!((out.radio.len(), du.next_deadline(10 * MS)), (1, Some(310 * MS)));
    du.run(309 * MS, &mut out);
    assert_eq!(out.radio.len(), 1);
    du.run(310 * MS, &mut out);
    du.run(311 * MS, &mut out);
    assert_eq!(out.radio.len(), 2, "it polls again");
    for (settings, why) in [
        ("poll_retransmit_ms = 0\n", "poll_retransmit_ms: expected 1 to 4000"),
        ("reassembly_ms = 4001\n", "reassembly_ms: expected 0 to 4000"),
        ("status_prohibit_ms = 4001\n", "status_prohibit_ms: expected 0 to 4000"),
        ("max_retransmissions = 0\n", "max_retransmissions: expected 1 to 255"),
    ] {
        let refused = Gnb::parse(&config("du", settings)).unwrap_err().to_string();
        assert_eq!(refused, format!("ue[0].drb[0].{why}"));
    }
    let refused = Gnb::parse(&config("cu-up", "ciphering = 0\nreassembly_ms = 40\n")).unwrap_err().to_string();
    assert_eq!(refused, "ue[0].drb[0].reassembly_ms: RLC is the DU's: leave it out");
    let um = config("du", "poll_pdu = 4\n").replace("\"am\"", "\"um\"");
    assert_eq!(Gnb::parse(&um).unwrap_err().to_string(), "ue[0].drb[0].poll_pdu: RLC AM's: leave it out with UM");
    let infinite = Gnb::parse(&config("du", "poll_pdu = 0\npoll_bytes = 0\n")).unwrap();
    let timers = infinite.ues[0].drbs[0].rlc_timers;
    assert_eq!((timers.poll_pdu, timers.poll_byte, timers.max_retransmissions), (None, None, 32));
}
