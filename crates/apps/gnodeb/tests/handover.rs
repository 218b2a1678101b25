//! A UE that goes from one gNodeB to another and back, over radios that lose and reorder, in memory: with RLC AM every packet comes once and in order both ways, whenever
//! the UE, the source's numbers and the UPF's path come.

use std::net::{SocketAddr, SocketAddrV4};

use ciphering::{Choice, Engine};
use gnodeb::config::{GnbTables, UeTable, UesTables};
use gnodeb::control::Bearers;
use gnodeb::counts::{Count, Drops, Report, UeReport, add_count};
use gnodeb::handover::{Forwarding, SnStatus};
use gnodeb::node::{Node, Output};
use gnodeb::ue::Ue;
use link::Link;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::gtpu::{Message, Packet, Repr, SessionContainer};

const MS: u64 = 1_000_000;
const UPF: &str = "10.3.0.1:2152";
const UE_RADIO: &str = "127.0.0.9:4001";
const N3: [&str; 2] = ["10.3.0.2", "10.3.0.3"];
const RADIO: [&str; 2] = ["127.0.0.2:4001", "127.0.0.3:4001"];
/// Longer than all that a handover takes.
const BETWEEN: u64 = 400;

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    loss: f64,
    delay_ns: u64,
    packets: u32,
    bits: u8,
    bits_uplink: u8,
    sdap: bool,
    nea: u8,
    nia: Option<u8>,
    window: u32,
    handovers: u64,
    /// When, after the source's handover, in ms: the target gets its numbers, the UE goes, the UPF switches.
    status_ms: u64,
    reconfigure_ms: u64,
    switch_ms: u64,
    xn_ns: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let radio = (any::<u64>(), 0.0..0.3, 0..8 * MS);
    let bits = (prop_oneof![Just(12u8), Just(18)], prop_oneof![Just(12u8), Just(18)]);
    let bearer = (bits, any::<bool>(), 0..4u8, proptest::option::of(0..4u8), prop_oneof![1..32u32, 32..300u32]);
    let times = (0..40u64, 0..40u64, 0..120u64, 0..20 * MS);
    (radio, bearer, times, 1..900u32, 1..4u64).prop_map(
        |(
            (seed, loss, delay_ns),
            ((bits, bits_uplink), sdap, nea, nia, window),
            (status_ms, reconfigure_ms, switch_ms, xn_ns),
            packets,
            handovers,
        )| {
            Case {
                seed,
                loss,
                delay_ns,
                packets,
                bits,
                bits_uplink,
                sdap,
                nea,
                nia,
                window,
                handovers,
                status_ms,
                reconfigure_ms,
                switch_ms,
                xn_ns,
            }
        },
    )
}

fn ordinary() -> Case {
    Case {
        seed: 7,
        loss: 0.05,
        delay_ns: 4 * MS,
        packets: 1500,
        bits: 18,
        bits_uplink: 18,
        sdap: true,
        nea: 2,
        nia: Some(2),
        window: 4096,
        handovers: 3,
        status_ms: 2,
        reconfigure_ms: 5,
        switch_ms: 30,
        xn_ns: MS,
    }
}

/// The bearer as a cell has it: each has its keys.
fn drb(case: &Case, cell: usize) -> Value {
    let mut drb = json!({
        "id": 1, "rlc": "am", "pdcp_sn_bits": case.bits, "pdcp_sn_bits_uplink": case.bits_uplink, "rlc_sn_bits": case.bits,
        "ciphering": case.nea, "window": case.window,
        "sdap_header_uplink": case.sdap, "sdap_header_downlink": case.sdap,
    });
    if case.nea > 0 {
        drb["cipher_key"] = format!("{cell}00102030405060708090a0b0c0d0e0f").into();
    }
    if let Some(nia) = case.nia {
        drb["integrity"] = nia.into();
        if nia > 0 {
            drb["integrity_key"] = format!("{cell}f0102030405060708090a0b0c0d0eff").into();
        }
    }
    drb
}

fn at_gnb(case: &Case, cell: usize) -> Value {
    json!({
        "id": 7, "radio": UE_RADIO, "session": { "upf": "10.3.0.1", "uplink_teid": 256, "downlink_teid": cell + 1 },
        "flows": [{ "qfi": 9, "drb": 1 }], "drb": [drb(case, cell)],
    })
}

fn at_ue(case: &Case, cell: usize) -> Value {
    json!({ "id": 7, "gnb": RADIO[cell], "ipv4": "10.45.0.2", "qfi": 9, "flows": [{ "qfi": 9, "drb": 1 }], "drb": [drb(case, cell)] })
}

fn engine() -> Engine {
    Engine::new(Choice::Portable).unwrap()
}

/// A gNodeB without UEs.
struct Gnb {
    node: Node,
    bearers: Bearers,
}

impl Gnb {
    fn new(cell: usize, more: &str) -> Gnb {
        let text = format!(
            "role = \"both\"\ndatapath = \"entities\"\nn3 = \"{}\"\n[radio]\naddress = \"{}\"\nrate_mbps = 50\npdu_bytes = 700\n{more}",
            N3[cell], RADIO[cell]
        );
        let (tables, config) = GnbTables::parse(&text).unwrap();
        Gnb { node: Node::new(&config, engine()), bearers: Bearers::new(tables, config) }
    }

    fn ask(&mut self, request: &Value, now: u64, out: &mut Output) -> Value {
        let node = &mut self.node;
        let request = serde_json::from_value(request.clone()).unwrap();
        serde_json::to_value(self.bearers.ask(request, &mut |action| node.act(action, now, out))).unwrap()
    }
}

/// An IPv4 packet, as far as anybody here looks: 20 to 1399 bytes.
fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0x45; 20 + (number as usize * 97) % 1380];
    packet[1] = 0;
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

fn emit(repr: &Repr<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    repr.emit(&mut out);
    out
}

fn downlink(cell: usize, number: u32) -> Vec<u8> {
    let container = SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None };
    emit(&Repr::g_pdu(cell as u32 + 1, Some(container), &packet(number)))
}

/// Two gNodeBs, a UE, a UPF, and what is under way between them.
struct Bed {
    gnbs: [Gnb; 2],
    ue: Ue,
    ue_tables: UesTables,
    /// By cell: downlink and uplink.
    air: [[Link<Vec<u8>>; 2]; 2],
    /// To a cell, from the other, and from the UPF.
    xn: [Link<Vec<u8>>; 2],
    n3: [Link<Vec<u8>>; 2],
    /// Where the UPF sends.
    path: usize,
    at_ue: Vec<Vec<u8>>,
    at_upf: Vec<Vec<u8>>,
    now: u64,
    out: Output,
}

impl Bed {
    fn new(case: &Case) -> Bed {
        let radio = link::Config { loss: case.loss, delay_ns: case.delay_ns, reorder: case.loss, reorder_ns: 8 * MS, ..Default::default() };
        let wire = |delay_ns| link::Config { delay_ns, ..Default::default() };
        let new = |config, seed| Link::new(config, case.seed ^ seed).unwrap();
        let mut gnbs = [Gnb::new(0, ""), Gnb::new(1, "")];
        let created = gnbs[0].ask(&json!({ "do": "create", "ue": [at_gnb(case, 0)] }), 0, &mut Output::default());
        assert_eq!(created, json!({ "reply": "done", "ues": 1 }));
        let text = format!("[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\npdu_bytes = 700\n");
        let text = text + &toml::to_string(&json!({ "ue": [at_ue(case, 0)] })).unwrap();
        let (ue_tables, config) = UesTables::parse(&text).unwrap();
        Bed {
            gnbs,
            ue: Ue::new(&config.ues[0], &config.radio, engine()),
            ue_tables,
            air: [[new(radio, 1), new(radio, 2)], [new(radio, 3), new(radio, 4)]],
            xn: [new(wire(case.xn_ns), 5), new(wire(case.xn_ns), 6)],
            n3: [new(wire(2 * MS), 7), new(wire(2 * MS), 8)],
            path: 0,
            at_ue: Vec::new(),
            at_upf: Vec::new(),
            now: 0,
            out: Output::default(),
        }
    }

    /// What a cell has sent by N3.
    fn pass_n3(&mut self) {
        for (to, datagram) in self.out.n3.drain(..) {
            if let Some(cell) = N3.iter().position(|n3| to.ip().to_string() == *n3) {
                let _ = self.xn[cell].send(datagram.clone(), datagram.len(), self.now);
                continue;
            }
            assert_eq!(to, UPF.parse().unwrap());
            let repr = Repr::parse(&Packet::new_checked(&datagram).unwrap()).unwrap();
            assert_eq!((repr.teid, repr.session_container), (256, Some(SessionContainer::Uplink { qfi: 9 })));
            let Message::GPdu { payload } = repr.message else { panic!("a G-PDU") };
            self.at_upf.push(payload.to_vec());
        }
    }

    fn step(&mut self) {
        let Bed { gnbs, ue, air, xn, n3, at_ue, now, .. } = self;
        let now = *now;
        let (upf, ue_radio): (SocketAddrV4, SocketAddr) = (UPF.parse().unwrap(), UE_RADIO.parse().unwrap());
        for cell in 0..2 {
            let node = &mut gnbs[cell].node;
            let other = SocketAddrV4::new(N3[1 - cell].parse().unwrap(), 2152);
            for (link, from) in [(&mut xn[cell], other), (&mut n3[cell], upf)] {
                while let Some(datagram) = link.receive(now) {
                    node.n3(&datagram, from, now);
                }
            }
            while let Some(datagram) = air[cell][0].receive(now) {
                ue.radio(&datagram, RADIO[cell].parse().unwrap(), now, &mut |packet| at_ue.push(packet.to_vec()));
            }
            while let Some(datagram) = air[cell][1].receive(now) {
                node.radio(&datagram, ue_radio, now);
            }
        }
        ue.run(now, &mut |packet| at_ue.push(packet.to_vec()), &mut |to, datagram| {
            let cell = RADIO.iter().position(|radio| to.to_string() == *radio).unwrap();
            let _ = air[cell][1].send(datagram.to_vec(), datagram.len(), now);
        });
        for cell in 0..2 {
            self.gnbs[cell].node.run(now, &mut self.out);
            for (to, datagram) in self.out.radio.drain(..) {
                assert_eq!(to, ue_radio);
                let _ = self.air[cell][0].send(datagram.clone(), datagram.len(), now);
            }
            self.pass_n3();
        }
        self.now += MS;
    }

    fn ask(&mut self, cell: usize, request: &Value) -> Value {
        let reply = self.gnbs[cell].ask(request, self.now, &mut self.out);
        self.pass_n3();
        reply
    }

    /// Whether nothing is under way or waits.
    fn is_quiet(&self) -> bool {
        let links = self.air.iter().flatten().chain(&self.xn).chain(&self.n3);
        links.map(Link::on_the_way).sum::<usize>() + self.gnbs[0].node.queued() + self.gnbs[1].node.queued() + self.ue.queued() == 0
    }
}

/// A handover's steps that are still to be done.
struct Handover {
    began: u64,
    source: usize,
    status: Option<Vec<SnStatus>>,
    reconfigure: bool,
    switch: bool,
}

struct Outcome {
    at_ue: Vec<Vec<u8>>,
    at_upf: Vec<Vec<u8>>,
    ue: UeReport,
    gnbs: [Report; 2],
}

fn run(case: &Case) -> Outcome {
    let mut bed = Bed::new(case);
    let (mut given, mut done, mut under_way): (u32, u64, Option<Handover>) = (0, 0, None);
    loop {
        let ms = bed.now / MS;
        if given < case.packets {
            let datagram = downlink(bed.path, given);
            let (path, now) = (bed.path, bed.now);
            let _ = bed.n3[path].send(datagram.clone(), datagram.len(), now);
            bed.ue.packet(&packet(given), now);
            given += 1;
        }
        if under_way.is_none() && done < case.handovers && ms >= 20 + done * BETWEEN {
            let source = (done % 2) as usize;
            let prepared = bed.ask(1 - source, &json!({ "do": "prepare", "from": N3[source], "ue": [at_gnb(case, 1 - source)] }));
            let forwarding: Vec<Forwarding> = serde_json::from_value(prepared["ue"].clone()).unwrap_or_else(|_| panic!("{prepared}"));
            let left = bed.ask(source, &json!({ "do": "handover", "ue": forwarding }));
            let status = serde_json::from_value(left["ue"].clone()).unwrap_or_else(|_| panic!("{left}"));
            under_way = Some(Handover { began: ms, source, status: Some(status), reconfigure: true, switch: true });
        }
        if let Some(handover) = &mut under_way {
            let (passed, source) = (ms - handover.began, handover.source);
            let target = 1 - source;
            if passed >= case.status_ms
                && let Some(status) = handover.status.take()
            {
                assert_eq!(bed.ask(target, &json!({ "do": "status", "ue": status })), json!({ "reply": "done", "ues": 1 }));
            }
            if passed >= case.reconfigure_ms && std::mem::take(&mut handover.reconfigure) {
                let table: UeTable = serde_json::from_value(at_ue(case, target)).unwrap();
                let (tables, _, set) = bed.ue_tables.reconfigure(vec![table]).unwrap();
                bed.ue_tables = tables;
                let (at_ue, now) = (&mut bed.at_ue, bed.now);
                bed.ue.reconfigure(&set[0], now, &mut |packet| at_ue.push(packet.to_vec()));
            }
            if passed >= case.switch_ms && std::mem::take(&mut handover.switch) {
                let marker = emit(&Repr::new(source as u32 + 1, None, Message::EndMarker));
                let now = bed.now;
                let _ = bed.n3[source].send(marker.clone(), marker.len(), now);
                bed.path = target;
            }
            if passed >= BETWEEN - 1 {
                assert_eq!(bed.ask(source, &json!({ "do": "release", "ue": [7] })), json!({ "reply": "done", "ues": 1 }));
                (under_way, done) = (None, done + 1);
            }
        }
        bed.step();
        if given == case.packets && done == case.handovers && bed.is_quiet() {
            break;
        }
        assert!(bed.now < 600_000 * MS, "stalled: {} of the UE's, {case:?}", bed.ue.queued());
    }
    Outcome { at_ue: bed.at_ue, at_upf: bed.at_upf, ue: bed.ue.report(), gnbs: bed.gnbs.map(|gnb| gnb.node.report()) }
}

fn sum(reports: &[Report; 2], of: impl Fn(&UeReport) -> Count) -> (u64, u64) {
    let mut sum = Count::default();
    reports.iter().flat_map(|report| &report.ues).for_each(|ue| add_count(&mut sum, of(ue)));
    (sum.packets, sum.bytes)
}

fn check(case: &Case) -> Outcome {
    let outcome = run(case);
    let expected: Vec<Vec<u8>> = (0..case.packets).map(packet).collect();
    let numbers = |came: &[Vec<u8>]| -> Vec<u32> { came.iter().map(|p| u32::from_be_bytes([p[4], p[5], p[6], p[7]])).collect() };
    assert!(outcome.at_ue == expected, "downlink: {:?}, {case:?}", numbers(&outcome.at_ue));
    assert!(outcome.at_upf == expected, "uplink: {:?}, {case:?}", numbers(&outcome.at_upf));
    let all = (u64::from(case.packets), expected.iter().map(|packet| packet.len() as u64).sum());
    let Outcome { ue, gnbs, .. } = &outcome;
    assert_eq!([(ue.uplink.packets, ue.uplink.bytes), (ue.downlink.packets, ue.downlink.bytes)], [all, all]);
    assert_eq!([sum(gnbs, |ue| ue.uplink), sum(gnbs, |ue| ue.downlink)], [all, all]);
    assert_eq!(sum(gnbs, |ue| ue.forwarded_sent), sum(gnbs, |ue| ue.forwarded_received), "{case:?}");
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_comes_once_and_in_order_across_handovers(case in case()) {
        check(&case);
    }
}

/// What a radio that reorders costs anyway, and what comes late of or to the cell that was left.
fn is_usual(reason: &str) -> bool {
    reason.starts_with("rlc_rx.")
        || ["rlc_status.stale", "radio.cell_left", "radio.handed_over", "pdcp_rx.late", "pdcp_rx.duplicate"].contains(&reason)
}

#[test]
fn a_handover_forwards_what_is_not_acknowledged_and_drops_nothing_of_a_user() {
    let outcome = check(&ordinary());
    let [first, second] = [&outcome.gnbs[0].ues[0], &outcome.gnbs[1].ues[0]];
    for (name, gnb) in [("first", first), ("second", second)] {
        assert!(gnb.forwarded_sent.packets > 20 && gnb.end_markers > 0 && gnb.radio_link_failures == 0, "{name}: {gnb:?}");
    }
    let odd = |drops: &Drops| drops.keys().filter(|reason| !is_usual(reason)).cloned().collect::<Vec<_>>();
    assert_eq!([odd(&first.drops), odd(&second.drops), odd(&outcome.ue.drops)], [const { Vec::<String>::new() }; 3], "{:?}", outcome.gnbs);
    assert!(outcome.gnbs.iter().all(|report| report.drops.is_empty()), "{:?}", outcome.gnbs);
}

/// SDAP goes on at the source, where PDCP ends: what either has dropped is counted once.
#[test]
fn drops_before_a_handover_are_counted_once_behind_it() {
    let case = ordinary();
    let mut bed = Bed::new(&case);
    let upf = UPF.parse().unwrap();
    let other = SessionContainer::Downlink { qfi: 8, rqi: false, ppi: None };
    bed.gnbs[0].node.n3(&emit(&Repr::g_pdu(1, Some(other), b"x")), upf, 0);
    bed.gnbs[0].node.n3(&emit(&Repr::g_pdu(1, Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None }), &[0; 9001])), upf, 0);
    let before = bed.gnbs[0].node.report().ues[0].drops.clone();
    assert_eq!((before["sdap.no_rule"], before["pdcp_tx.too_long"]), (1, 1));
    let prepared = bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [at_gnb(&case, 1)] }));
    bed.ask(0, &json!({ "do": "handover", "ue": prepared["ue"] }));
    assert_eq!(bed.gnbs[0].node.report().ues[0].drops, before);
}

#[test]
fn packets_of_the_new_path_wait_no_longer_than_they_may_where_the_end_marker_is_lost() {
    let case = Case { packets: 0, ..ordinary() };
    let mut bed = Bed::new(&case);
    let prepared = bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [at_gnb(&case, 1)] }));
    let left = bed.ask(0, &json!({ "do": "handover", "ue": prepared["ue"] }));
    bed.ask(1, &json!({ "do": "status", "ue": left["ue"] }));
    let (_, _, set) = bed.ue_tables.reconfigure(vec![serde_json::from_value(at_ue(&case, 1)).unwrap()]).unwrap();
    bed.ue.reconfigure(&set[0], 0, &mut |_| {});
    (0..100).for_each(|_| bed.step());
    let datagram = downlink(1, 5);
    let _ = bed.n3[1].send(datagram.clone(), datagram.len(), bed.now);
    (0..490).for_each(|_| bed.step());
    assert!(bed.at_ue.is_empty());
    (0..200).for_each(|_| bed.step());
    assert_eq!(bed.at_ue, [packet(5)]);
    assert_eq!(bed.gnbs[1].node.report().ues[0].drops["forwarding.no_end_marker"], 1);
}

/// What a stranger sends to a forwarding tunnel, and a source that is not what it should be, change nothing but a counter.
#[test]
fn hostile_messages_of_forwarding_tunnels_are_counted_by_reason() {
    let case = Case { bits: 12, bits_uplink: 12, window: 2048, ..ordinary() };
    let mut bed = Bed::new(&case);
    let prepared = bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [at_gnb(&case, 1)] }));
    let teid = |name: &str| prepared["ue"][0]["drb"][0][name].as_u64().unwrap() as u32;
    let (down, up) = (teid("downlink_teid"), teid("uplink_teid"));
    let number = |sn| Some((gnb::rlc::SnLength::Bits12, sn));
    let (source, stranger): (SocketAddrV4, SocketAddrV4) = ("10.3.0.2:2152".parse().unwrap(), "10.3.0.9:2152".parse().unwrap());
    let node = &mut bed.gnbs[1].node;
    let sdu = [&[9][..], &packet(1)].concat();
    let forward = |teid, number| gnodeb::forwarding::emit(teid, number, &sdu);
    node.n3(&forward(down, None), stranger, 0);
    node.n3(&emit(&Repr::new(down, None, Message::EndMarker)), stranger, 0);
    node.n3(&emit(&Repr::new(down, Some(1), Message::EchoRequest)), source, 0);
    let mut nr_ran = forward(down, number(1));
    nr_ran[11] = 0x84;
    node.n3(&nr_ran, source, 0);
    let mut sn = forward(down, number(1));
    sn[13] = 0xff;
    node.n3(&sn, source, 0);
    node.n3(&forward(up, None), source, 0);
    node.n3(&gnodeb::forwarding::emit(down, None, &[]), source, 0);
    // Numbers that the source has not spent, and a COUNT that is far ahead: known only when the numbers come.
    node.n3(&forward(down, number(3000)), source, 0);
    node.n3(&gnodeb::forwarding::emit(up, Some((gnb::rlc::SnLength::Bits18, 5000)), &sdu), source, 0);
    let status = json!([{ "id": 7, "drb": [{ "id": 1, "downlink_count": 10, "uplink_count": 10 }] }]);
    assert_eq!(bed.ask(1, &json!({ "do": "status", "ue": status })), json!({ "reply": "done", "ues": 1 }));
    let node = &mut bed.gnbs[1].node;
    node.n3(&forward(down, number(10)), source, 0);
    node.n3(&forward(down, number(9)), source, 0);
    node.n3(&forward(down, number(9)), source, 0);
    node.n3(&forward(up, number(9)), source, 0);
    let report = node.report();
    let text = format!("{:#?}\n{:#?}\n", report.drops, report.ues[0].drops);
    testkit::assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile_handover.txt"), &text);
}

/// More than a bearer may keep is not held for numbers that never come.
#[test]
fn a_source_that_forwards_for_ever_fills_a_bearers_memory_and_no_more() {
    let case = ordinary();
    let mut bed = Bed::new(&case);
    let prepared = bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [at_gnb(&case, 1)] }));
    let teid = prepared["ue"][0]["drb"][0]["downlink_teid"].as_u64().unwrap() as u32;
    let (source, node) = ("10.3.0.2:2152".parse().unwrap(), &mut bed.gnbs[1].node);
    let datagram = gnodeb::forwarding::emit(teid, None, &[7; 9000]);
    (0..2000).for_each(|_| node.n3(&datagram, source, 0));
    let marker = emit(&Repr::new(teid, None, Message::EndMarker));
    (0..200_000).for_each(|_| node.n3(&marker, source, 0));
    // 8 MiB.
    let dropped = node.report().ues[0].drops["forwarding.queue"];
    assert!(dropped > 2000 - (8 << 20) / 9000, "{dropped}");
}

#[test]
fn a_request_that_is_wrong_is_refused_by_its_field_and_changes_nothing() {
    let case = ordinary();
    let mut bed = Bed::new(&case);
    let um = json!({
        "id": 8, "radio": UE_RADIO, "session": { "upf": "10.3.0.1", "uplink_teid": 257, "downlink_teid": 8 },
        "flows": [{ "qfi": 9, "drb": 2 }], "drb": [{ "id": 2, "rlc": "um", "ciphering": 0 }],
    });
    let target = at_gnb(&case, 1);
    let with = |field: &str, value: Value| {
        let mut table = target.clone();
        table["session"][field] = value;
        table
    };
    let drb = |id: u8, down: u64, up: u64| json!({ "id": id, "downlink_teid": down, "uplink_teid": up });
    let leave = |to: &str, drbs: Value| json!({ "do": "handover", "ue": [{ "id": 7, "to": to, "drb": drbs }] });
    let status = |id: u16, drbs: Value| json!({ "do": "status", "ue": [{ "id": id, "drb": drbs }] });
    let count = |id: u8, down: u64| json!({ "id": id, "downlink_count": down, "uplink_count": 0 });
    let mut text = String::new();
    let mut refused = |bed: &mut Bed, cell: usize, request: Value| {
        let before = bed.gnbs[cell].bearers.config().clone();
        let reply = bed.ask(cell, &request);
        assert_eq!(reply["reply"], "error", "{request}: {reply}");
        assert_eq!(*bed.gnbs[cell].bearers.config(), before);
        text += &format!("{}: {}\n", request["do"].as_str().unwrap(), reply["message"].as_str().unwrap());
    };
    refused(&mut bed, 1, json!({ "do": "prepare", "from": "10.3.0.3", "ue": [target] }));
    refused(&mut bed, 1, json!({ "do": "prepare", "from": "0.0.0.0", "ue": [target] }));
    refused(&mut bed, 0, json!({ "do": "prepare", "from": N3[1], "ue": [at_gnb(&case, 0)] }));
    refused(&mut bed, 1, json!({ "do": "prepare", "from": N3[0], "ue": [target, target] }));
    refused(&mut bed, 1, status(7, json!([count(1, 0)])));
    let prepared = bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [target, um] }));
    let tunnels = prepared["ue"].as_array().unwrap();
    assert_eq!((tunnels.len(), &tunnels[0]["drb"]), (2, &json!([drb(1, 0x8000_0000, 0x8000_0001)])));
    refused(&mut bed, 1, json!({ "do": "modify", "ue": [target] }));
    let mut taken = with("downlink_teid", 0x8000_0001u64.into());
    taken["id"] = 9.into();
    refused(&mut bed, 1, json!({ "do": "create", "ue": [taken] }));
    refused(&mut bed, 1, json!({ "do": "handover", "ue": [{ "id": 7, "to": N3[0], "drb": [drb(1, 5, 6)] }] }));
    for request in [
        json!({ "do": "handover", "ue": [{ "id": 9, "to": N3[1], "drb": [drb(1, 5, 6)] }] }),
        json!({ "do": "handover", "ue": [tunnels[0], tunnels[0]] }),
        leave("10.3.0.2", json!([drb(1, 5, 6)])),
        leave("224.0.0.1", json!([drb(1, 5, 6)])),
        leave("10.3.0.3", json!([])),
        leave("10.3.0.3", json!([drb(1, 5, 6), drb(1, 7, 8)])),
        leave("10.3.0.3", json!([drb(2, 5, 6)])),
        leave("10.3.0.3", json!([drb(1, 5, 5)])),
        leave("10.3.0.3", json!([drb(1, 0, 5)])),
    ] {
        refused(&mut bed, 0, request);
    }
    assert_eq!(bed.ask(0, &leave("10.3.0.3", tunnels[0]["drb"].clone()))["reply"], "status");
    refused(&mut bed, 0, leave("10.3.0.3", tunnels[0]["drb"].clone()));
    refused(&mut bed, 0, json!({ "do": "modify", "ue": [at_gnb(&case, 0)] }));
    refused(&mut bed, 1, status(7, json!([])));
    refused(&mut bed, 1, status(8, json!([count(2, 0)])));
    refused(
        &mut bed,
        1,
        json!({ "do": "status", "ue": [{ "id": 8, "drb": [] }, { "id": 7, "drb": [{ "id": 1, "downlink_count": 0, "uplink_count": u32::MAX }] }, { "id": 8, "drb": [] }] }),
    );
    // One of two that is wrong: neither goes on.
    let mut both = json!({ "do": "status", "ue": [{ "id": 8, "drb": [] }, { "id": 7, "drb": [count(1, 0)] }] });
    assert_eq!(bed.ask(1, &both)["reply"], "done");
    both["ue"][1]["drb"][0]["downlink_count"] = 1.into();
    refused(&mut bed, 1, both);
    assert_eq!(bed.ask(1, &json!({ "do": "modify", "ue": [target] }))["reply"], "done", "it has come");
    // CU-UP and DU apart.
    let more = "role = \"cu-up\"\nn3 = \"10.3.0.2\"\nf1u = { address = \"10.5.0.1\", peer = \"10.5.0.2\" }\n";
    let (tables, config) = GnbTables::parse(more).unwrap();
    let mut gnb = Gnb { node: Node::new(&config, engine()), bearers: Bearers::new(tables, config) };
    let reply = gnb.ask(&json!({ "do": "prepare", "from": N3[1], "ue": [target] }), 0, &mut Output::default());
    text += &format!("cu-up: {}\n", reply["message"].as_str().unwrap());
    // And UEs.
    let (unknown, mut other) = (json!({ "id": 8 }), at_ue(&case, 1));
    for (field, value) in [("id", unknown["id"].clone()), ("qfi", 8.into()), ("ipv4", "10.45.0.3".into()), ("gnb", Value::Null)] {
        other[field] = value;
        let refused = serde_json::from_value::<UeTable>(other.clone()).map_err(|error| error.to_string());
        let refused = refused.and_then(|table| bed.ue_tables.reconfigure(vec![table]).map(drop).map_err(|error| error.to_string()));
        text += &format!("reconfigure, {field}: {}\n", refused.unwrap_err());
        other = at_ue(&case, 1);
    }
    testkit::assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refused_handover.txt"), &text);
}

/// COUNT goes on behind a handover, so that a bearer may be long-lived: the operator is told in time, and the last COUNT is the last.
#[test]
fn a_count_that_is_high_is_told_of_and_the_last_stops_the_bearer_in_its_direction() {
    let case = ordinary();
    let begin = |downlink_count: u32, uplink_count: u32| {
        let mut bed = Bed::new(&case);
        assert_eq!(bed.ask(1, &json!({ "do": "prepare", "from": N3[0], "ue": [at_gnb(&case, 1)] }))["reply"], "prepared");
        let drb = json!({ "id": 1, "downlink_count": downlink_count, "uplink_count": uplink_count });
        assert_eq!(bed.ask(1, &json!({ "do": "status", "ue": [{ "id": 7, "drb": [drb] }] }))["reply"], "done");
        bed
    };
    let send = |bed: &mut Bed, many: u32| {
        let node = &mut bed.gnbs[1].node;
        (0..many).for_each(|number| node.n3(&downlink(1, number), UPF.parse().unwrap(), bed.now));
        // Packets of the new path wait for the End Marker.
        bed.now += 600 * MS;
        bed.gnbs[1].node.run(bed.now, &mut bed.out);
    };
    let counts = |bed: &mut Bed| bed.ask(1, &json!({ "do": "counts" }))["ue"][0]["drb"][0].clone();
    let mut bed = begin(0xbfff_fffe, 5);
    send(&mut bed, 2);
    assert_eq!(counts(&mut bed), json!({ "id": 1, "downlink_count": 0xc000_0000u32, "uplink_count": 5, "state": "ok" }));
    assert_eq!(bed.gnbs[1].node.report().ues[0].count_high, 0);
    send(&mut bed, 2);
    assert_eq!(counts(&mut bed), json!({ "id": 1, "downlink_count": 0xc000_0002u32, "uplink_count": 5, "state": "high" }));
    assert_eq!(bed.gnbs[1].node.report().ues[0].count_high, 1, "once");
    // The last COUNT is 0xfffffffe.
    let mut bed = begin(0xffff_fffc, 5);
    send(&mut bed, 8);
    assert_eq!(counts(&mut bed), json!({ "id": 1, "downlink_count": u32::MAX, "uplink_count": 5, "state": "exhausted" }));
    let report = bed.gnbs[1].node.report();
    let UeReport { count_high, downlink, drops, .. } = &report.ues[0];
    assert_eq!((*count_high, downlink.packets, drops.get("pdcp_tx.count_exhausted")), (1, 8, Some(&5)), "{drops:?}");
    // Uplink has an end of its own.
    let mut bed = begin(0, 0xffff_fff0);
    assert_eq!(counts(&mut bed)["state"], "high");
    // And it is counted when the bearer has ended.
    let mut bed = begin(0xc000_0000, 0);
    send(&mut bed, 1);
    assert_eq!(bed.ask(1, &json!({ "do": "release", "ue": [7] }))["reply"], "done");
    assert_eq!(bed.gnbs[1].node.report().ues[0].count_high, 1);
}

/// A bearer of RLC UM begins at COUNT 0 in each cell.
#[test]
fn keys_that_a_bearer_has_had_are_refused_where_it_begins_at_count_0() {
    let case = ordinary();
    let mut bed = Bed::new(&case);
    let um = |cell: usize, mut table: Value| {
        table["drb"][0] = json!({ "id": 1, "rlc": "um", "ciphering": 2, "cipher_key": format!("{cell}00102030405060708090a0b0c0d0e0e") });
        table
    };
    let had = "the bearer begins at COUNT 0, and has had this key: give it another key";
    let table = um(0, at_gnb(&case, 1));
    let prepare = json!({ "do": "prepare", "from": N3[0], "ue": [table] });
    assert_eq!(bed.ask(1, &prepare)["reply"], "prepared");
    assert_eq!(bed.ask(1, &json!({ "do": "release", "ue": [7] }))["reply"], "done");
    let refused = bed.ask(1, &prepare);
    assert_eq!(refused["message"], format!("ue[0].drb[0].cipher_key: {had}"));
    let other = json!({ "do": "prepare", "from": N3[0], "ue": [um(1, at_gnb(&case, 1))] });
    assert_eq!(bed.ask(1, &other)["reply"], "prepared");
    // A UE that goes to another cell, and back.
    let text = format!("[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\n")
        + &toml::to_string(&json!({ "ue": [um(0, at_ue(&case, 0))] })).unwrap();
    let (tables, _) = UesTables::parse(&text).unwrap();
    let ask = |tables: &UesTables, key: usize| tables.reconfigure(vec![serde_json::from_value(um(key, at_ue(&case, 1))).unwrap()]);
    assert_eq!(ask(&tables, 0).err().unwrap().to_string(), format!("ue[0].drb[0].cipher_key: {had}"));
    let (tables, _, _) = ask(&tables, 1).unwrap();
    assert_eq!(ask(&tables, 0).err().unwrap().to_string(), format!("ue[0].drb[0].cipher_key: {had}"));
    assert!(ask(&tables, 2).is_ok());
    assert_eq!(tables.named(&[8]).err().unwrap().to_string(), "ue[0]: there is no UE 8");
    assert_eq!(tables.named(&[7, 7]).err().unwrap().to_string(), "ue[1]: UE 7 is named twice");
}

/// While the source's SDUs are on their way, the UE sends more than a window behind them: its RLC was told that they have come.
#[test]
fn uplink_of_a_small_window_over_three_handovers() {
    check(&Case {
        seed: 5559446330625793720,
        loss: 0.14364665243239133,
        delay_ns: 302_213,
        packets: 788,
        bits: 12,
        bits_uplink: 12,
        sdap: true,
        nea: 1,
        nia: Some(1),
        window: 10,
        handovers: 3,
        status_ms: 2,
        reconfigure_ms: 3,
        switch_ms: 52,
        xn_ns: 6_307_056,
    });
}
