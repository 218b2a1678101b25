//! A gNodeB and a UE over a radio that loses and reorders, in memory: with RLC AM every packet comes once and in order, both ways, whether the
//! gNodeB is one or CU and DU with an F1-U between them that loses too.

use std::net::{SocketAddr, SocketAddrV4};

use ciphering::Direction::{Downlink, Uplink};
use ciphering::{Choice, Engine};
use gnb::framing;
use gnb::framing::RlcMode::{Am, Um};
use gnb::nru::Frame;
use gnodeb::config::{Gnb, Ues};
use gnodeb::control::{Action, Done};
use gnodeb::counts::Report;
use gnodeb::f1u::{self, Datagram};
use gnodeb::node::{Node, Output};
use gnodeb::ue::Ue;
use link::Link;
use proptest::prelude::*;
use wire::gtpu::{Message, Packet, Repr, SessionContainer};

const MS: u64 = 1_000_000;
const UPF: &str = "10.3.0.1:2152";
const UE_RADIO: &str = "127.0.0.2:4001";
const GNB_RADIO: &str = "127.0.0.1:4001";

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    loss: f64,
    delay_ns: u64,
    reorder: f64,
    packets: u32,
    pdu_bytes: usize,
    pdcp_sn_bits: u8,
    pdcp_sn_bits_uplink: u8,
    rlc_sn_bits: u8,
    sdap: bool,
    nea: u8,
    nia: Option<u8>,
    window: u32,
    split: bool,
    f1u_loss: f64,
    /// Packets that come at once each way, each millisecond.
    burst: u32,
    /// Settings of the bearer at the UE, and where RLC is; a CU-UP has the defaults.
    settings: &'static str,
    /// Every so many ms, thrice, RLC begins anew and PDCP recovers data; 0: never.
    recover_ms: u64,
    /// And goes on under other keys.
    rekeys: bool,
    /// Which keys.
    keys: u8,
}

fn case() -> impl Strategy<Value = Case> {
    let bits = || prop_oneof![Just(12u8), Just(18)];
    let radio = (any::<u64>(), 0.0..0.3, 0..8 * MS, 0.0..0.3, 64..2000usize);
    let bearer = ((bits(), bits()), bits(), any::<bool>(), 0..4u8, proptest::option::of(0..4u8), 4..300u32);
    let recover = prop_oneof![Just(0), 20..150u64];
    (radio, bearer, 1..200u32, any::<bool>(), prop_oneof![Just(0.0), 0.0..0.1], recover).prop_map(
        |(
            (seed, loss, delay_ns, reorder, pdu_bytes),
            ((pdcp_sn_bits, pdcp_sn_bits_uplink), rlc_sn_bits, sdap, nea, nia, window),
            packets,
            split,
            f1u_loss,
            recover_ms,
        )| {
            let radio = Case { seed, loss, delay_ns, reorder, packets, pdu_bytes, split, f1u_loss, recover_ms, ..ordinary() };
            Case { pdcp_sn_bits, pdcp_sn_bits_uplink, rlc_sn_bits, sdap, nea, nia, window, ..radio }
        },
    )
}

/// The bearer's table, as both sides have it.
fn drb(case: &Case, f1u: bool) -> String {
    let Case { pdcp_sn_bits, pdcp_sn_bits_uplink, rlc_sn_bits, sdap, nea, window, .. } = case;
    let mut text = format!(
        "[[ue.drb]]\nid = 1\nrlc = \"am\"\npdcp_sn_bits = {pdcp_sn_bits}\npdcp_sn_bits_uplink = {pdcp_sn_bits_uplink}\nrlc_sn_bits = {rlc_sn_bits}\nciphering = {nea}\nwindow = {window}\n\
         sdap_header_uplink = {sdap}\nsdap_header_downlink = {sdap}\n"
    );
    if *nea > 0 {
        text += &format!("cipher_key = \"{:02x}0102030405060708090a0b0c0d0e0f\"\n", case.keys);
    }
    if let Some(nia) = case.nia {
        text += &format!("integrity = {nia}\n");
        if nia > 0 {
            text += &format!("integrity_key = \"{:02x}0102030405060708090a0b0c0d0eff\"\n", 255 - case.keys);
        }
    }
    if f1u {
        text += "f1u = { cu_teid = 17, du_teid = 18 }\n";
    }
    text
}

fn gnb(case: &Case, role: &str) -> Gnb {
    let mut text = format!("role = \"{role}\"\ndatapath = \"entities\"\n");
    let (core, air) = (role != "du", role != "cu-up");
    if core {
        text += "n3 = \"10.3.0.2\"\n";
    }
    if role != "both" {
        let (ours, peer) = if core { (1, 2) } else { (2, 1) };
        text += &format!("f1u = {{ address = \"10.5.0.{ours}\", peer = \"10.5.0.{peer}\" }}\n");
    }
    if air {
        text += &format!("[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 50\npdu_bytes = {}\n", case.pdu_bytes);
    }
    text += "[[ue]]\nid = 7\nflows = [{ qfi = 9, drb = 1 }]\n";
    if air {
        text += &format!("radio = \"{UE_RADIO}\"\n");
    }
    if core {
        text += "session = { upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }\n";
    }
    text += &drb(case, role != "both");
    if air {
        text += case.settings;
    }
    Gnb::parse(&text).unwrap()
}

fn ue(case: &Case) -> Ue {
    let config = ues(case);
    Ue::new(&config.ues[0], &config.radio, Engine::new(Choice::Portable).unwrap())
}

fn ues(case: &Case) -> Ues {
    let text = format!(
        "[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\npdu_bytes = {}\n\
         [[ue]]\nid = 7\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\nflows = [{{ qfi = 9, drb = 1 }}]\n{}{}",
        case.pdu_bytes,
        drb(case, false),
        case.settings
    );
    Ues::parse(&text).unwrap()
}

/// An IPv4 packet, as far as anybody here looks: 20 to 1399 bytes.
fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0x45; 20 + (number as usize * 97) % 1380];
    packet[1] = 0;
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

fn downlink(number: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let container = SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None };
    Repr::g_pdu(1, Some(container), &packet(number)).emit(&mut out);
    out
}

/// What came out at the far ends: of the UE and of N3; and reports.
struct Outcome {
    at_ue: Vec<Vec<u8>>,
    at_upf: Vec<Vec<u8>>,
    ue: gnodeb::counts::UeReport,
    gnb: Report,
}

fn run(case: &Case) -> Outcome {
    let engine = || Engine::new(Choice::Portable).unwrap();
    // One node, or CU and DU.
    let mut nodes = if case.split {
        vec![Node::new(&gnb(case, "cu-up"), engine()), Node::new(&gnb(case, "du"), engine())]
    } else {
        vec![Node::new(&gnb(case, "both"), engine())]
    };
    let last = nodes.len() - 1;
    let mut ue = ue(case);
    let radio = link::Config { loss: case.loss, delay_ns: case.delay_ns, reorder: case.reorder, reorder_ns: 8 * MS, ..Default::default() };
    let f1u_link = link::Config { loss: case.f1u_loss, delay_ns: MS / 2, ..Default::default() };
    let mut air: [Link<Vec<u8>>; 2] = [Link::new(radio, case.seed).unwrap(), Link::new(radio, case.seed ^ 1).unwrap()];
    // To the CU, to the DU, and the DU's reports. NR-U has no way to get uplink PDUs again: those are not lost here.
    let perfect = link::Config { loss: 0.0, ..f1u_link };
    let mut mid: [Link<Vec<u8>>; 3] = [perfect, f1u_link, f1u_link].map(|config| Link::new(config, case.seed ^ 2).unwrap());
    let (upf, ue_radio, gnb_radio): (SocketAddrV4, SocketAddr, SocketAddr) =
        (UPF.parse().unwrap(), UE_RADIO.parse().unwrap(), GNB_RADIO.parse().unwrap());
    let f1u_of = |node: usize| -> SocketAddrV4 { format!("10.5.0.{}:2152", node + 1).parse().unwrap() };
    let (mut at_ue, mut at_upf) = (Vec::new(), Vec::new());
    let (mut now, mut given, mut out) = (0, 0, Output::default());
    loop {
        for _ in 0..case.burst.min(case.packets - given) {
            nodes[0].n3(&downlink(given), upf, now);
            ue.packet(&packet(given), now);
            given += 1;
        }
        // The DU first, then the CU; the UE when a message of RRC's would have come.
        let due = |at: u64| case.recover_ms > 0 && at.is_multiple_of(case.recover_ms) && (1..=3).contains(&(at / case.recover_ms));
        let keys = |at: u64| Case { keys: (at / case.recover_ms) as u8, ..case.clone() };
        if due(now / MS) {
            let role = if case.split { "cu-up" } else { "both" };
            let rekeyed = case.rekeys.then(|| gnb(&keys(now / MS), role).ues);
            for (number, node) in nodes.iter_mut().enumerate().rev() {
                let action = match &rekeyed {
                    Some(ues) if number == 0 => Action::Rekey(ues),
                    _ => Action::Recover(&[7]),
                };
                assert_eq!(node.act(action, now, &mut out), Ok(Done::All));
            }
        }
        if now >= 7 * MS && due(now / MS - 7) {
            if case.rekeys {
                ue.reconfigure(&ues(&keys(now / MS - 7)).ues[0], now, &mut |packet| at_ue.push(packet.to_vec()));
            } else {
                ue.recover(&ues(case).ues[0], now);
            }
        }
        while let Some(datagram) = air[0].receive(now) {
            ue.radio(&datagram, gnb_radio, now, &mut |packet| at_ue.push(packet.to_vec()));
        }
        while let Some(datagram) = air[1].receive(now) {
            nodes[last].radio(&datagram, ue_radio, now);
        }
        for (way, to) in [(0, 0), (1, last), (2, 0)] {
            while let Some(datagram) = mid[way].receive(now) {
                nodes[to].f1u(&datagram, f1u_of(1 - to), now, &mut out);
            }
        }
        ue.run(now, &mut |packet| at_ue.push(packet.to_vec()), &mut |to, datagram| {
            assert_eq!(to, gnb_radio);
            let _ = air[1].send(datagram.to_vec(), datagram.len(), now);
        });
        for (node, running) in nodes.iter_mut().enumerate() {
            running.run(now, &mut out);
            for (to, datagram) in out.n3.drain(..) {
                assert_eq!(to, upf);
                let repr = Repr::parse(&Packet::new_checked(&datagram).unwrap()).unwrap();
                assert_eq!((repr.teid, repr.session_container), (256, Some(SessionContainer::Uplink { qfi: 9 })));
                let Message::GPdu { payload } = repr.message else { panic!("a G-PDU") };
                at_upf.push(payload.to_vec());
            }
            for (to, datagram) in out.radio.drain(..) {
                assert_eq!(to, ue_radio);
                let _ = air[0].send(datagram.clone(), datagram.len(), now);
            }
            for (to, datagram) in out.f1u.drain(..) {
                assert_eq!(to, f1u_of(1 - node));
                let is_report = matches!(f1u::parse(&datagram), Ok(Datagram::GPdu { frame: Some(Ok(Frame::DeliveryStatus(_))), .. }));
                let way = if is_report { 2 } else { 1 - node };
                let _ = mid[way].send(datagram.clone(), datagram.len(), now);
            }
        }
        let quiet = air.iter().chain(&mid).all(|link| link.on_the_way() == 0);
        if given == case.packets && quiet && nodes[0].queued() == 0 && ue.queued() == 0 {
            break;
        }
        assert!(now < 600_000 * MS, "stalled: {} of the gNodeB's, {} of the UE's, {case:?}", nodes[0].queued(), ue.queued());
        now += MS;
    }
    let mut gnb = nodes[0].report();
    if case.split {
        let du = nodes[1].report();
        gnb.drops.extend(du.drops);
        gnb.ues[0].drops.extend(du.ues[0].drops.clone());
    }
    Outcome { at_ue, at_upf, ue: ue.report(), gnb }
}

fn check(case: &Case) -> Outcome {
    let outcome = run(case);
    let expected: Vec<Vec<u8>> = (0..case.packets).map(packet).collect();
    assert!(outcome.at_ue == expected, "downlink: {} of {} packets, {case:?}", outcome.at_ue.len(), expected.len());
    assert!(outcome.at_upf == expected, "uplink: {} of {} packets, {case:?}", outcome.at_upf.len(), expected.len());
    let bytes: u64 = expected.iter().map(|packet| packet.len() as u64).sum();
    let gnb = &outcome.gnb.ues[0];
    for counted in [outcome.ue.uplink, outcome.ue.downlink, gnb.uplink, gnb.downlink] {
        assert_eq!((counted.packets, counted.bytes), (u64::from(case.packets), bytes));
    }
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_comes_once_and_in_order(case in case()) {
        check(&case);
    }
}

fn ordinary() -> Case {
    Case {
        seed: 5,
        loss: 0.05,
        delay_ns: 4 * MS,
        reorder: 0.05,
        packets: 2000,
        pdu_bytes: 700,
        pdcp_sn_bits: 18,
        pdcp_sn_bits_uplink: 18,
        rlc_sn_bits: 18,
        sdap: false,
        nea: 2,
        nia: Some(2),
        window: 4096,
        split: false,
        f1u_loss: 0.0,
        burst: 1,
        settings: "",
        recover_ms: 0,
        rekeys: false,
        keys: 0,
    }
}

/// TS 38.323 §5.1.2: COUNT goes on under other keys, and what was under way goes again under them.
#[test]
fn a_bearer_that_gets_other_keys_loses_nothing() {
    for seed in 0..6 {
        let (split, f1u_loss) = (seed % 2 == 1, if seed % 2 == 1 { 0.03 } else { 0.0 });
        let outcome = check(&Case { seed, split, f1u_loss, recover_ms: 300, rekeys: true, ..ordinary() });
        assert!(outcome.gnb.ues[0].drops.get("radio.reset").is_some_and(|number| *number > 0), "{:?}", outcome.gnb.ues[0].drops);
    }
}

/// COUNT of RLC UM begins anew: what was under way is lost, and all that comes later is not.
#[test]
fn a_bearer_of_rlc_um_that_gets_other_keys_goes_on() {
    let text = |keys: u8| {
        format!(
            "role = \"both\"\ndatapath = \"entities\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\n\
             radio = \"{UE_RADIO}\"\nflows = [{{ qfi = 9, drb = 1 }}]\nsession = {{ upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }}\n\
             [[ue.drb]]\nid = 1\nrlc = \"um\"\nrlc_sn_bits = 6\nciphering = 2\ncipher_key = \"{keys:02x}0102030405060708090a0b0c0d0e0f\"\n"
        )
    };
    let mut node = Node::new(&Gnb::parse(&text(0)).unwrap(), Engine::new(Choice::Portable).unwrap());
    let (mut out, mut now) = (Output::default(), 0);
    let mut send = |node: &mut Node, number: u32| {
        now += 100 * MS;
        node.n3(&downlink(number), UPF.parse().unwrap(), now);
        node.run(now, &mut out);
        // Behind the tags, RLC's and PDCP's numbers.
        out.radio.drain(..).map(|(_, datagram)| framing::Rlc::parse(&datagram).unwrap().1[..4].to_vec()).collect::<Vec<_>>()
    };
    for count in 0..3 {
        assert_eq!(send(&mut node, 1), [[0, 0x80, 0, count]]);
    }
    assert_eq!(node.act(Action::Rekey(&Gnb::parse(&text(1)).unwrap().ues), 300 * MS, &mut Output::default()), Ok(Done::All));
    assert_eq!(send(&mut node, 1), [[0, 0x80, 0, 0]]);
    for count in 1..400 {
        assert_eq!(send(&mut node, 1).len(), 1, "COUNT {count}: the CU sees what the DU has sent");
    }
}

/// A report that was under way when RLC began anew says that the UE has what the CU has just given again, and the next time RLC begins anew nobody gives it: the DU does
/// not wait for it.
#[test]
fn a_du_does_not_wait_for_what_the_ue_has() {
    let case = |seed, loss, delay_ns, packets, pdu_bytes, window, recover_ms| {
        let case = Case { seed, loss, delay_ns, packets, pdu_bytes, window, recover_ms, ..ordinary() };
        Case { pdcp_sn_bits: 12, pdcp_sn_bits_uplink: 12, rlc_sn_bits: 12, nea: 0, nia: None, split: true, reorder: 0.0, ..case }
    };
    check(&case(16096516247762807938, 0.09059118979360806, 2000001, 109, 806, 70, 130));
    let lossy = case(329028356800138814, 0.2149787183803522, 3000001, 8, 515, 13, 22);
    check(&Case { reorder: 0.22018329226228844, f1u_loss: 0.055854942246991286, ..lossy });
}

/// TS 38.323 §5.5: what was with RLC is lost with it, and goes again as it was.
#[test]
fn rlc_that_begins_anew_loses_nothing_where_pdcp_recovers_data() {
    for split in [false, true] {
        let outcome = check(&Case { recover_ms: 300, split, ..ordinary() });
        let drops = [&outcome.gnb.ues[0].drops, &outcome.ue.drops];
        for drops in drops {
            assert!(drops.get("radio.reset").is_some_and(|number| *number > 0), "something was under way: {drops:?}");
        }
        assert!(
            outcome.ue.drops.contains_key("pdcp_rx.late") || outcome.ue.drops.contains_key("pdcp_rx.duplicate"),
            "{:?}",
            outcome.ue.drops
        );
    }
}

/// Reflective mapping (TS 37.324 §5.3.2): a UE that was told of no rule sends a flow by the bearer that its downlink packets come by, and marks the end on the other.
#[test]
fn a_flow_that_is_reflective_moves_to_the_bearer_that_its_packets_come_by() {
    let drbs = ["1", "2"]
        .map(|id| format!("[[ue.drb]]\nid = {id}\nrlc = \"am\"\nciphering = 0\nsdap_header_uplink = true\nsdap_header_downlink = true\n"));
    let gnb = format!(
        "role = \"both\"\ndatapath = \"entities\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\n\
         radio = \"{UE_RADIO}\"\ndefault_drb = 1\nflows = [{{ qfi = 9, drb = 2, reflective = true }}]\n\
         session = {{ upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }}\n{}",
        drbs.concat()
    );
    let ue = format!(
        "[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\ndefault_drb = 1\n{}",
        drbs.concat()
    );
    let (engine, config) = (|| Engine::new(Choice::Portable).unwrap(), Ues::parse(&ue).unwrap());
    let (mut node, mut ue) = (Node::new(&Gnb::parse(&gnb).unwrap(), engine()), Ue::new(&config.ues[0], &config.radio, engine()));
    let (mut out, mut now, mut at_upf) = (Output::default(), 0, 0);
    // Uplink PDUs of an SDU by bearer, and the SDAP header of the first: behind framing, RLC and PDCP.
    let mut send = |node: &mut Node, ue: &mut Ue, down: bool| {
        now += 10 * MS;
        if down {
            node.n3(&downlink(1), UPF.parse().unwrap(), now);
            node.run(now, &mut out);
            out.radio.drain(..).for_each(|(_, datagram)| ue.radio(&datagram, GNB_RADIO.parse().unwrap(), now, &mut |_| {}));
        }
        ue.packet(&packet(1), now);
        let mut sent = Vec::new();
        ue.run(now, &mut |_| {}, &mut |_, datagram| {
            let (of, pdu) = framing::Rlc::parse(datagram).unwrap();
            if pdu[0] & 0x80 != 0 {
                sent.push((of.drb, pdu[6]));
            }
            node.radio(datagram, UE_RADIO.parse().unwrap(), now);
        });
        node.run(now, &mut out);
        at_upf += out.n3.drain(..).count();
        out.radio.clear();
        sent.sort_unstable();
        sent
    };
    assert_eq!(send(&mut node, &mut ue, false), [(1, 0x89)], "D/C and QFI 9, by the default bearer");
    assert_eq!(send(&mut node, &mut ue, true), [(1, 0x09), (2, 0x89)], "an end marker, and the flow is at the other");
    assert_eq!(send(&mut node, &mut ue, true), [(2, 0x89)], "once");
    assert_eq!((at_upf, node.report().ues[0].drops.len()), (3, 0));
}

/// RLC's queue takes 32 KiB, which 64 packets are more than.
#[test]
fn what_does_not_fit_rlcs_queue_waits_and_loses_nothing() {
    for split in [false, true] {
        check(&Case { burst: 600, packets: 1200, settings: "du_kbytes = 16\n", split, ..ordinary() });
    }
}

/// While a UE is out of reach `discardTimer` empties the DU's queue: packets that come later find room.
#[test]
fn a_bearer_whose_packets_were_discarded_carries_the_next_ones() {
    let case = Case { window: 32, settings: "du_kbytes = 16\ndiscard_ms = 100\nreordering_ms = 50\n", ..ordinary() };
    let mut node = Node::new(&gnb(&case, "both"), Engine::new(Choice::Portable).unwrap());
    let mut ue = ue(&case);
    let (upf, ue_radio, gnb_radio) = (UPF.parse().unwrap(), UE_RADIO.parse().unwrap(), GNB_RADIO.parse().unwrap());
    let (mut out, mut at_ue) = (Output::default(), Vec::new());
    for ms in 0..6000 {
        let now = ms * MS;
        let in_reach = ms >= 3000;
        // Two seconds of traffic, one without, and traffic again.
        if !(2000..4000).contains(&ms) {
            node.n3(&downlink(ms as u32), upf, now);
        }
        node.run(now, &mut out);
        for (_, datagram) in out.radio.drain(..).filter(|_| in_reach) {
            ue.radio(&datagram, gnb_radio, now, &mut |packet| at_ue.push(packet.to_vec()));
        }
        ue.run(now, &mut |packet| at_ue.push(packet.to_vec()), &mut |_, datagram| node.radio(datagram, ue_radio, now));
    }
    let drops = &node.report().ues[0].drops;
    assert!(drops.keys().any(|why| why.starts_with("pdcp_tx.discard")), "{drops:?}");
    let late = (4000..5900).filter(|number| at_ue.contains(&packet(*number))).count();
    assert_eq!(late, 1900, "of those that came when the UE was there: {drops:?}");
}

#[test]
fn a_radio_that_loses_one_in_twenty_costs_retransmissions_and_nothing_else() {
    let outcome = check(&ordinary());
    let gnb = &outcome.gnb.ues[0];
    assert!(gnb.retransmissions > 50 && outcome.ue.retransmissions > 50, "{} and {}", gnb.retransmissions, outcome.ue.retransmissions);
    // Duplicates come where a STATUS names what is only late; everything else that is dropped would be a fault.
    let odd = |drops: &gnodeb::counts::Drops| drops.keys().any(|why| !why.starts_with("rlc_rx.") && why != "rlc_status.stale");
    assert!(!odd(&gnb.drops) && !odd(&outcome.ue.drops) && outcome.gnb.drops.is_empty(), "{:?} {:?}", outcome.gnb, outcome.ue);
}

#[test]
fn frames_that_are_lost_between_cu_and_du_go_again() {
    let outcome = check(&Case { split: true, f1u_loss: 0.1, packets: 500, ..ordinary() });
    assert!(outcome.gnb.ues[0].downlink.packets == 500);
}

/// What a stranger sends changes nothing but a counter.
#[test]
fn hostile_bytes_are_counted_by_reason() {
    let case = ordinary();
    let mut node = Node::new(&gnb(&case, "both"), Engine::new(Choice::Portable).unwrap());
    let (upf, stranger): (SocketAddrV4, SocketAddrV4) = (UPF.parse().unwrap(), "10.3.0.9:2152".parse().unwrap());
    let ue_radio: SocketAddr = UE_RADIO.parse().unwrap();
    let emit = |repr: Repr<'_>| {
        let mut out = Vec::new();
        repr.emit(&mut out);
        out
    };
    let down = Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None });
    node.n3(b"no gtp", upf, 0);
    node.n3(&downlink(1), stranger, 0);
    node.n3(&emit(Repr::g_pdu(2, down, b"x")), upf, 0);
    node.n3(&emit(Repr::g_pdu(1, None, b"x")), upf, 0);
    node.n3(&emit(Repr::g_pdu(1, Some(SessionContainer::Uplink { qfi: 9 }), b"x")), upf, 0);
    node.n3(&emit(Repr::g_pdu(1, Some(SessionContainer::Downlink { qfi: 8, rqi: false, ppi: None }), b"x")), upf, 0);
    node.n3(&emit(Repr::g_pdu(1, down, b"")), upf, 0);
    let framed = |mode, ue, drb, direction, pdu: &[u8]| {
        let mut out = Vec::new();
        framing::Rlc { mode, direction, ue, drb }.emit(pdu, &mut out);
        out
    };
    node.radio(b"no rlc", ue_radio, 0);
    node.radio(&framed(Am(18), 8, 1, Uplink, b"\x80\0\0x"), ue_radio, 0);
    node.radio(&framed(Am(18), 7, 2, Uplink, b"\x80\0\0x"), ue_radio, 0);
    node.radio(&framed(Am(18), 7, 1, Downlink, b"\x80\0\0x"), ue_radio, 0);
    node.radio(&framed(Um(12), 7, 1, Uplink, b"\x80\0\0x"), ue_radio, 0);
    node.radio(&framed(Am(18), 7, 1, Uplink, b"\x80\0\0x"), GNB_RADIO.parse().unwrap(), 0);
    // An SDU whose MAC-I is wrong, and a STATUS for what was never sent.
    node.radio(&framed(Am(18), 7, 1, Uplink, &[&b"\x80\0\0\x80\0\0"[..], &[9; 40]].concat()), ue_radio, 0);
    node.radio(&framed(Am(18), 7, 1, Uplink, b"\0\0\x50"), ue_radio, 0);
    let mut out = Output::default();
    node.run(MS, &mut out);
    assert_eq!(out.n3.len(), 1, "an Error Indication for the unknown TEID, and nothing else");
    let report = node.report();
    let text = format!("{:#?}\n{:#?}\n", report.drops, report.ues[0].drops);
    testkit::assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile.txt"), &text);
    // And the bearer works.
    check(&Case { packets: 20, ..case });
}

#[test]
fn an_echo_request_is_answered() {
    let mut node = Node::new(&gnb(&ordinary(), "both"), Engine::new(Choice::Portable).unwrap());
    let mut request = Vec::new();
    Repr::new(0, Some(77), Message::EchoRequest).emit(&mut request);
    node.n3(&request, UPF.parse().unwrap(), 0);
    let mut out = Output::default();
    node.run(0, &mut out);
    let answer = Repr::parse(&Packet::new_checked(&out.n3[0].1).unwrap()).unwrap();
    assert_eq!((answer.sequence, answer.message), (Some(77), Message::EchoResponse));
}

#[test]
fn a_du_that_asks_for_everything_and_reports_nothing_gets_a_bounded_amount() {
    let text = "role = \"cu-up\"\nn3 = \"10.3.0.2\"\nf1u = { address = \"10.5.0.1\", peer = \"10.5.0.2\" }\n[[ue]]\nid = 7\n\
                flows = [{ qfi = 9, drb = 1 }]\nsession = { upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }\n\
                [[ue.drb]]\nid = 1\nrlc = \"um\"\nciphering = 0\ndu_kbytes = 16\nqueue_kbytes = 64\nf1u = { cu_teid = 17, du_teid = 18 }\n";
    let mut node = Node::new(&Gnb::parse(text).unwrap(), Engine::new(Choice::Portable).unwrap());
    let (mut out, du) = (Output::default(), "10.5.0.2:2152".parse().unwrap());
    let bearer = gnodeb::Bearer { ue: 7, drb: gnb::sdap::DrbId::new(1).unwrap() };
    let status = gnb::nru::DeliveryStatus { desired_buffer: u32::MAX, ..Default::default() };
    let greedy = f1u::to_cu(17, &gnodeb::du::ToCu::Status(bearer, status));
    for number in 0..5000 {
        node.f1u(&greedy, du, 0, &mut out);
        node.n3(&downlink(number), UPF.parse().unwrap(), 0);
        node.run(0, &mut out);
    }
    let given: usize = out.f1u.iter().map(|(_, datagram)| datagram.len()).sum();
    assert!((200_000..400_000).contains(&given), "16 times 16 KiB, with headers: {given}");
    let drops = &node.report().ues[0].drops;
    assert!(drops.get("pdcp_tx.bytes").is_some_and(|number| *number > 1000), "the rest is dropped before it has a number: {drops:?}");
}

#[test]
fn bearers_come_change_and_go_while_a_node_runs() {
    let mut text = String::from("role = \"both\"\ndatapath = \"entities\"\nn3 = \"10.3.0.2\"\n");
    text += &format!("[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 50\n");
    let (tables, config) = gnodeb::config::GnbTables::parse(&text).unwrap();
    let mut node = Node::new(&config, Engine::new(Choice::Portable).unwrap());
    let mut bearers = gnodeb::control::Bearers::new(tables, config);
    let mut out = Output::default();
    let ue = |qfi: u8, key: &str| {
        format!(
            r#"{{"id":7,"radio":"{UE_RADIO}","session":{{"upf":"10.3.0.1","uplink_teid":256,"downlink_teid":1}},
            "flows":[{{"qfi":{qfi},"drb":1}}],"drb":[{{"id":1,"rlc":"am","ciphering":2,"cipher_key":"{key}"}}]}}"#
        )
    };
    let mut ask = |node: &mut Node, text: &str| {
        let reply = bearers.ask(serde_json::from_str(text).unwrap(), &mut |action| node.act(action, 0, &mut Output::default()));
        serde_json::to_string(&reply).unwrap()
    };
    // PDCP's number of a packet to the UE, behind 18 bytes of framing and 3 of RLC.
    let mut now = 0;
    let mut send = |node: &mut Node| {
        now += 10 * MS;
        node.n3(&downlink(1), UPF.parse().unwrap(), now);
        node.run(now, &mut out);
        out.n3.clear();
        out.radio.drain(..).next().map(|(_, datagram)| datagram[21..24].to_vec())
    };
    let (one, other) = ("000102030405060708090a0b0c0d0e0f", "100102030405060708090a0b0c0d0e0f");
    let done = r#"{"reply":"done","ues":1}"#;
    assert_eq!(send(&mut node), None);
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"create","ue":[{}]}}"#, ue(9, one))), done);
    assert_eq!((send(&mut node), send(&mut node)), (Some(vec![0x80, 0, 0]), Some(vec![0x80, 0, 1])));
    // Flows pass to another bearer, and back; the bearer goes on.
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"modify","ue":[{}]}}"#, ue(8, one))), done);
    assert_eq!(send(&mut node), None);
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"modify","ue":[{}]}}"#, ue(9, one))), done);
    assert_eq!(send(&mut node), Some(vec![0x80, 0, 2]));
    // Its timers and limits change, and it goes on.
    let slower = ue(9, one).replace(
        r#""ciphering""#,
        r#""discard_ms":200,"reordering_ms":100,"queue_kbytes":128,"du_kbytes":64,"poll_retransmit_ms":90,"reassembly_ms":40,"ciphering""#,
    );
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"modify","ue":[{slower}]}}"#)), done);
    assert_eq!(send(&mut node), Some(vec![0x80, 0, 3]));
    // It begins anew where it is another: not under the key that it has.
    let narrower = ue(9, one).replace(r#""ciphering""#, r#""window":16,"ciphering""#);
    let refused = ask(&mut node, &format!(r#"{{"do":"modify","ue":[{narrower}]}}"#));
    let had = "ue[0].drb[0].cipher_key: the bearer begins at COUNT 0, and has had this key: give it another key";
    assert!(refused.contains(had), "{refused}");
    assert_eq!(send(&mut node), Some(vec![0x80, 0, 4]), "nothing has changed");
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"modify","ue":[{}]}}"#, ue(9, other))), done);
    assert_eq!(send(&mut node), Some(vec![0x80, 0, 0]));
    let twice = ask(&mut node, &format!(r#"{{"do":"create","ue":[{}]}}"#, ue(9, one)));
    assert!(twice.contains("ue[0].id: 7 is another UE's"), "{twice}");
    // Not under the first one either, nor when it comes back.
    let refused = ask(&mut node, &format!(r#"{{"do":"modify","ue":[{narrower}]}}"#));
    assert!(refused.contains(had), "{refused}");
    let counts = ask(&mut node, r#"{"do":"counts"}"#);
    assert_eq!(counts, r#"{"reply":"counts","ue":[{"id":7,"drb":[{"id":1,"downlink_count":1,"uplink_count":0,"state":"ok"}]}]}"#);
    let counted = ask(&mut node, r#"{"do":"report"}"#);
    assert!(counted.starts_with(r#"{"reply":"report","ues":[{"ue":7,"#) && counted.contains(r#""radio_link_failures":0"#), "{counted}");
    assert_eq!(ask(&mut node, r#"{"do":"recover","ue":[7]}"#), done);
    let unknown = ask(&mut node, r#"{"do":"recover","ue":[7,8]}"#);
    assert!(unknown.contains("ue[1].id: there is no UE 8"), "{unknown}");
    let third = ue(9, "200102030405060708090a0b0c0d0e0f");
    assert_eq!(ask(&mut node, &format!(r#"{{"do":"rekey","ue":[{third}]}}"#)), done);
    // A bearer of another kind is not the same bearer.
    let um = third.replace(r#""am""#, r#""um""#);
    let refused = ask(&mut node, &format!(r#"{{"do":"rekey","ue":[{um}]}}"#));
    assert!(refused.contains("ue[0]: only"), "{refused}");
    let other_flow = ue(8, "300102030405060708090a0b0c0d0e0f");
    let refused = ask(&mut node, &format!(r#"{{"do":"rekey","ue":[{other_flow}]}}"#));
    assert!(refused.contains("ue[0]: only `ciphering`, `integrity` and keys may be other than before"), "{refused}");
    let unknown = ask(&mut node, &format!(r#"{{"do":"rekey","ue":[{}]}}"#, third.replace(r#""id":7"#, r#""id":8"#)));
    assert!(unknown.contains("ue[0].id: there is no UE 8"), "{unknown}");
    assert_eq!(ask(&mut node, r#"{"do":"release","ue":[7]}"#), done);
    for key in [one, other] {
        let refused = ask(&mut node, &format!(r#"{{"do":"create","ue":[{}]}}"#, ue(9, key)));
        assert!(refused.contains(had), "{refused}");
    }
    assert_eq!(send(&mut node), None);
    let report = node.report();
    assert_eq!((report.ues[0].ue, report.ues[0].downlink.packets), (7, 6));
    assert_eq!((report.ues[0].drops["sdap.no_rule"], report.drops["n3.unknown_teid"]), (1, 2));
}

/// A CU of another maker flushes (TS 38.425 §5.4.2.1), and asks what was delivered out of sequence.
#[test]
fn a_du_flushes_all_up_to_a_number_and_reports_what_was_delivered_out_of_sequence() {
    let case = Case { nia: None, nea: 0, ..ordinary() };
    let mut node = Node::new(&gnb(&case, "du"), Engine::new(Choice::Portable).unwrap());
    let (cu, ue_radio): (SocketAddrV4, SocketAddr) = ("10.5.0.1:2152".parse().unwrap(), UE_RADIO.parse().unwrap());
    let bearer = gnodeb::Bearer { ue: 7, drb: gnb::sdap::DrbId::new(1).unwrap() };
    let (mut out, mut sn) = (Output::default(), 0);
    let mut give = |node: &mut Node, count: Option<u32>, frame: gnb::nru::UserData, out: &mut Output| {
        let pdu = count.map_or(vec![], |count| [&(0x80_0000 | count).to_be_bytes()[1..], &[9; 600]].concat());
        let message = gnodeb::cu::ToDu { bearer, frame: gnb::nru::UserData { sn, ..frame }, pdu };
        sn += 1;
        node.f1u(&f1u::to_du(18, &message), cu, 0, out);
    };
    let plain = gnb::nru::UserData::default;
    let status = |out: &mut Output| {
        let mut reports = out.f1u.drain(..).filter_map(|(_, datagram)| match f1u::parse(&datagram) {
            Ok(Datagram::GPdu { frame: Some(Ok(Frame::DeliveryStatus(status))), .. }) => Some(status),
            _ => None,
        });
        reports.next_back().expect("a report")
    };
    // Which PDCP PDUs leave by radio: behind 3 bytes of RLC.
    let sent = |out: &mut Output| -> Vec<u8> {
        out.radio
            .drain(..)
            .map(|(_, datagram)| framing::Rlc::parse(&datagram).unwrap().1.to_vec())
            .filter(|pdu| pdu[0] & 0xb0 == 0x80)
            .map(|pdu| pdu[5])
            .collect()
    };
    for count in 0..10 {
        give(&mut node, Some(count), plain(), &mut out);
    }
    give(&mut node, None, gnb::nru::UserData { flush: Some(5), ..plain() }, &mut out);
    node.run(10 * MS, &mut out);
    assert_eq!(sent(&mut out), [6, 7, 8, 9]);
    assert_eq!(status(&mut out).highest_delivered, Some(5), "those are not waited for");
    // The UE has 6 and 8: NACK_SN 1 (7) of RLC's, ACK_SN 3.
    let mut acked = Vec::new();
    framing::Rlc { mode: Am(18), direction: Uplink, ue: 7, drb: 1 }.emit(&[0x00, 0x00, 0x0e, 0x00, 0x00, 0x40], &mut acked);
    node.radio(&acked, ue_radio, 20 * MS);
    node.run(20 * MS, &mut out);
    let without = status(&mut out);
    assert_eq!((without.highest_delivered, &without.delivered_ranges[..]), (Some(6), &[][..]), "nobody asked");
    give(&mut node, None, gnb::nru::UserData { out_of_sequence_report: true, report_polling: true, ..plain() }, &mut out);
    node.run(21 * MS, &mut out);
    let with = status(&mut out);
    assert_eq!((with.highest_delivered, &with.delivered_ranges[..]), (Some(6), &[(8, 8)][..]));
    // A flush beyond what came: the highest of what came.
    give(&mut node, None, gnb::nru::UserData { flush: Some(20), ..plain() }, &mut out);
    node.run(30 * MS, &mut out);
    assert_eq!(status(&mut out).highest_delivered, Some(9));
}

/// And a DU of another maker reports what was delivered out of sequence: PDCP keeps it no more.
#[test]
fn a_cu_forgets_what_was_delivered_out_of_sequence() {
    let case = Case { nia: None, nea: 0, ..ordinary() };
    let mut node = Node::new(&gnb(&case, "cu-up"), Engine::new(Choice::Portable).unwrap());
    let (du, mut out): (SocketAddrV4, _) = ("10.5.0.2:2152".parse().unwrap(), Output::default());
    (0..10).for_each(|number| node.n3(&downlink(number), UPF.parse().unwrap(), 0));
    node.run(0, &mut out);
    let bearer = gnodeb::Bearer { ue: 7, drb: gnb::sdap::DrbId::new(1).unwrap() };
    let mut report = |node: &mut Node, status: gnb::nru::DeliveryStatus| {
        let status = gnb::nru::DeliveryStatus { desired_buffer: 1 << 20, ..status };
        node.f1u(&f1u::to_cu(17, &gnodeb::du::ToCu::Status(bearer, status)), du, MS, &mut out);
        node.run(MS, &mut out);
        out.f1u.clear();
    };
    let ranges = |ranges: &[(u32, u32)]| gnb::nru::DeliveryStatus { delivered_ranges: ranges.to_vec(), ..Default::default() };
    // What was not sent, from behind to before, and further than a window: nothing.
    report(&mut node, ranges(&[(11, 12), (5, 4), (20, 100_000)]));
    assert_eq!(node.queued(), 10);
    report(&mut node, ranges(&[(0, 1), (3, 9)]));
    assert_eq!(node.queued(), 8, "2 is kept, and places behind it");
    report(&mut node, gnb::nru::DeliveryStatus { lost: vec![(2, 2)], ..Default::default() });
    report(&mut node, ranges(&[(2, 2)]));
    assert_eq!(node.queued(), 0);
}
