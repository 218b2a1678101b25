//! `p4/gnb.p4` as a gNodeB of a configuration, and a UE of the entities, over a radio that loses and reorders, in memory: with RLC AM every packet comes once and
//! in order, both ways.

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};

use base::{Packet, PortId, Verdict, VerdictKind};
use ciphering::{Choice, Engine};
use gnodeb::config::{Gnb, GnbTables, Ues};
use gnodeb::control::{Bearers, Reply, Request};
use gnodeb::counts::{Drops, UeReport};
use gnodeb::pipeline::{Build, Host, N3, Pipeline, RADIO};
use gnodeb::ue::Ue;
use link::Link;
use target_api::{Lane, Returned};
use wire::gtpu::{self, Message, Repr, SessionContainer};

const MS: u64 = 1_000_000;
const UPF: &str = "10.3.0.1:2152";
const GNB: &str = "10.3.0.2:2152";
const UE_RADIO: &str = "127.0.0.2:4001";
const GNB_RADIO: &str = "127.0.0.1:4001";

fn v4(address: &str) -> SocketAddrV4 {
    address.parse().unwrap()
}

/// A frame as a UDP port makes it.
fn frame(from: SocketAddrV4, to: SocketAddrV4, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let (dst, src) = (wire::ethernet::Mac(pktio::OUR_MAC), wire::ethernet::Mac(pktio::PEER_MAC));
    wire::ethernet::Repr { dst, src, ethertype: wire::ethernet::IPV4 }.emit(&mut frame);
    let payload_len = payload.len() + 8;
    wire::ipv4::Repr { src: *from.ip(), dst: *to.ip(), protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
    wire::udp::Repr { src_port: from.port(), dst_port: to.port() }.emit_ipv4(*from.ip(), *to.ip(), payload, &mut frame);
    frame
}

/// A UDP datagram of a frame: from, to, contents.
fn datagram(frame: &[u8]) -> (SocketAddrV4, SocketAddrV4, Vec<u8>) {
    let ipv4 = wire::ipv4::Packet::new_checked(wire::ethernet::Frame::new_checked(frame).unwrap().payload()).unwrap();
    let udp = wire::udp::Datagram::new_checked(ipv4.payload()).unwrap();
    let (from, to) = (SocketAddrV4::new(ipv4.src(), udp.src_port()), SocketAddrV4::new(ipv4.dst(), udp.dst_port()));
    (from, to, udp.payload().to_vec())
}

/// Bearers of all kinds, one a UE; the sixth takes all flows of its session.
fn bearers() -> Vec<String> {
    let keys = "cipher_key = \"000102030405060708090a0b0c0d0e0f\"\n";
    let integrity = "integrity_key = \"101112131415161718191a1b1c1d1e1f\"\n";
    [
        format!("rlc = \"am\"\npdcp_sn_bits_uplink = 12\nciphering = 2\nintegrity = 2\n{keys}{integrity}"),
        format!("rlc = \"am\"\nrlc_sn_bits = 12\npdcp_sn_bits = 12\npdcp_sn_bits_uplink = 18\nciphering = 1\n{keys}sdap_header_uplink = true\nsdap_header_downlink = true\n"),
        format!("rlc = \"am\"\nciphering = 0\nintegrity = 3\n{integrity}sdap_header_downlink = true\nwindow = 256\n"),
        "rlc = \"am\"\nrlc_sn_bits = 12\nciphering = 0\n".to_owned(),
        format!("rlc = \"um\"\nciphering = 3\n{keys}reordering_ms = 100\n"),
        format!("rlc = \"um\"\nrlc_sn_bits = 6\npdcp_sn_bits = 12\nciphering = 2\n{keys}sdap_header_uplink = true\nreordering_ms = 100\n"),
    ]
    .map(|rest| format!("[[ue.drb]]\nid = 1\n{rest}"))
    .to_vec()
}

fn flows(n: usize) -> String {
    if n == 5 { "default_drb = 1\n".into() } else { "flows = [{ qfi = 9, drb = 1 }]\n".into() }
}

fn gnb(rate_mbps: u32, pdu_bytes: usize) -> Gnb {
    Gnb::parse(&gnb_text(rate_mbps, pdu_bytes)).unwrap()
}

fn gnb_text(rate_mbps: u32, pdu_bytes: usize) -> String {
    let mut text = format!(
        "role = \"both\"\ndatapath = \"p4\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = {rate_mbps}\npdu_bytes = {pdu_bytes}\n"
    );
    for (n, drb) in bearers().iter().enumerate() {
        text += &format!(
            "[[ue]]\nid = {n}\nradio = \"{UE_RADIO}\"\nsession = {{ upf = \"10.3.0.1\", uplink_teid = {}, downlink_teid = {} }}\n{}{drb}",
            256 + n,
            1 + n,
            flows(n)
        );
    }
    text
}

fn ues() -> Vec<Ue> {
    let mut text = format!("[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\npdu_bytes = 400\n");
    for (n, drb) in bearers().iter().enumerate() {
        text += &format!("[[ue]]\nid = {n}\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.{}\"\nqfi = 9\n{}{drb}", n + 1, flows(n));
    }
    let config = Ues::parse(&text).unwrap();
    config.ues.iter().map(|ue| Ue::new(ue, &config.radio, Engine::new(Choice::Portable).unwrap())).collect()
}

/// An IPv4 packet, as far as anybody here looks: 20 to 1399 bytes.
fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0x45; 20 + (number as usize * 97) % 1380];
    packet[1] = 0;
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

fn from_upf(teid: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Repr::g_pdu(teid, Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None }), payload).emit(&mut out);
    frame(v4(UPF), v4(GNB), &out)
}

/// The program; its object is kept.
fn pipeline(config: &Gnb) -> Pipeline {
    let cache = c_compile::Cache::open(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gnodeb-objects")).unwrap();
    Pipeline::new(
        config,
        Build {
            objects: p4_driver::objects::Objects { cache: Some(cache), shipped: None },
            flags: vec!["-O1".into()],
            ciphers: Choice::Portable,
            ..Build::default()
        },
    )
    .unwrap()
}

/// A worker without the engine: what leaves, and what was dropped or punted.
struct Worker {
    pipeline: Pipeline,
    lane: Box<dyn Lane>,
    sent: Vec<(PortId, Vec<u8>)>,
    punted: Vec<Vec<u8>>,
    waits: Vec<Packet>,
    drops: BTreeMap<u8, u64>,
}

impl Worker {
    fn new(config: &Gnb) -> Worker {
        let pipeline = pipeline(config);
        let mut lane = pipeline.target.lane(0);
        assert!(lane.shape(pipeline.radio_rate()), "packets may wait for the rate, behind the seam of services too");
        Worker { lane, pipeline, sent: vec![], punted: vec![], waits: vec![], drops: BTreeMap::new() }
    }

    fn receive(&mut self, port: PortId, frame: &[u8], now_ns: u64) {
        let (mut packets, mut verdicts) = ([Packet::new(frame, port)], [Verdict::default()]);
        self.lane.process(&mut packets, &mut verdicts, now_ns);
        let [packet] = packets;
        self.take(packet, verdicts[0]);
        self.poll(now_ns);
    }

    fn poll(&mut self, now_ns: u64) {
        while self.lane.next_poll_ns().is_some_and(|at| at <= now_ns) {
            let mut back: Vec<Returned> = Vec::new();
            self.lane.poll(now_ns, &mut back);
            if back.is_empty() {
                break;
            }
            back.into_iter().for_each(|r| self.take(r.packet, r.verdict));
        }
    }

    fn take(&mut self, packet: Packet, verdict: Verdict) {
        match verdict.kind {
            VerdictKind::Forward => self.sent.push((PortId(verdict.port), packet.data().to_vec())),
            VerdictKind::Punt => self.punted.push(packet.data().to_vec()),
            VerdictKind::Kept => {}
            VerdictKind::Buffer | VerdictKind::Shape => self.waits.push(packet),
            _ => *self.drops.entry(verdict.reason).or_default() += 1,
        }
    }

    fn drops(&self) -> Drops {
        assert_eq!(self.pipeline.imbalance(), 0);
        let mut drops = Drops::new();
        self.pipeline.drops(self.drops.iter().map(|(code, packets)| (*code, *packets)), &mut drops);
        drops
    }

    fn report(&self) -> Vec<UeReport> {
        let mut ues = BTreeMap::new();
        self.pipeline.report(&mut ues);
        ues.into_values().collect()
    }
}

#[test]
fn every_packet_comes_once_and_in_order_over_a_radio_that_loses() {
    let mut worker = Worker::new(&gnb(100_000, 500));
    let mut ues = ues();
    let many = 300;
    let like = link::Config { loss: 0.05, delay_ns: 4 * MS, reorder: 0.05, reorder_ns: 8 * MS, ..Default::default() };
    let mut air: [Link<Vec<u8>>; 2] = [Link::new(like, 5).unwrap(), Link::new(like, 6).unwrap()];
    let mut at_ue = vec![Vec::new(); ues.len()];
    let mut at_upf = vec![Vec::new(); ues.len()];
    let (ue_radio, gnb_radio) = (SocketAddr::V4(v4(UE_RADIO)), SocketAddr::V4(v4(GNB_RADIO)));
    let (mut now, mut given) = (0, 0);
    loop {
        if given < many {
            for (n, ue) in ues.iter_mut().enumerate() {
                worker.receive(N3, &from_upf(1 + n as u32, &packet(given)), now);
                ue.packet(&packet(given), now);
            }
            given += 1;
        }
        while let Some(datagram) = air[0].receive(now) {
            // Byte 13 is the lower byte of the UE's number (`gnb::framing`).
            let n = usize::from(datagram[12]);
            ues[n].radio(&datagram, gnb_radio, now, &mut |packet| at_ue[n].push(packet.to_vec()));
        }
        while let Some(datagram) = air[1].receive(now) {
            worker.receive(RADIO, &frame(v4(UE_RADIO), v4(GNB_RADIO), &datagram), now);
        }
        for (n, ue) in ues.iter_mut().enumerate() {
            ue.run(now, &mut |packet| at_ue[n].push(packet.to_vec()), &mut |to, datagram| {
                assert_eq!(to, gnb_radio);
                let _ = air[1].send(datagram.to_vec(), datagram.len(), now);
            });
        }
        worker.poll(now);
        for (port, sent) in worker.sent.drain(..) {
            let (from, to, payload) = datagram(&sent);
            if port == RADIO {
                assert_eq!((SocketAddr::V4(from), SocketAddr::V4(to)), (gnb_radio, ue_radio));
                let _ = air[0].send(payload.clone(), payload.len(), now);
            } else {
                assert_eq!((port, from, to), (N3, v4(GNB), v4(UPF)));
                let repr = Repr::parse(&gtpu::Packet::new_checked(&payload).unwrap()).unwrap();
                assert_eq!(repr.session_container, Some(SessionContainer::Uplink { qfi: 9 }));
                let Message::GPdu { payload } = repr.message else { panic!("a G-PDU") };
                at_upf[repr.teid as usize - 256].push(payload.to_vec());
            }
        }
        // RLC UM loses what the radio loses.
        let am = 0..4;
        let done = am.clone().all(|n| at_ue[n].len() >= many as usize && at_upf[n].len() >= many as usize);
        if given == many && done && air.iter().all(|link| link.on_the_way() == 0) {
            break;
        }
        assert!(
            now < 600_000 * MS,
            "stalled: {:?} {:?}, {:?}",
            at_ue.iter().map(Vec::len).collect::<Vec<_>>(),
            at_upf.iter().map(Vec::len).collect::<Vec<_>>(),
            worker.drops()
        );
        now += MS;
    }
    let expected: Vec<Vec<u8>> = (0..many).map(packet).collect();
    let bytes: u64 = expected.iter().map(|packet| packet.len() as u64).sum();
    let report = worker.report();
    for n in 0..ues.len() {
        for came in [&at_ue[n], &at_upf[n]] {
            if n < 4 {
                assert!(*came == expected, "UE {n}: {} of {} packets", came.len(), expected.len());
            } else {
                assert!(came.len() > 150 && came.is_sorted_by_key(|packet| packet[4..8].to_vec()), "UE {n}: {}", came.len());
            }
        }
        let downlink = (report[n].downlink.packets, report[n].downlink.bytes);
        assert_eq!(downlink, (u64::from(many), bytes), "UE {n}: what was sent, lost or not");
        let up: u64 = at_upf[n].iter().map(|packet| packet.len() as u64).sum();
        assert_eq!((report[n].uplink.packets, report[n].uplink.bytes), (at_upf[n].len() as u64, up));
        let of_ue = ues[n].report();
        assert!(report[n].radio_sent.packets > of_ue.radio_received.packets && report[n].radio_received.packets > u64::from(many));
        assert_eq!(report[n].retransmissions > 0, n < 4, "UE {n}");
    }
    // What RLC drops on a radio that reorders, and nothing else.
    let odd = |why: &&String| !why.starts_with("radio_bearer.am_") && !why.starts_with("radio_bearer.um_") && *why != "buffer.status_stale";
    let drops = worker.drops();
    assert_eq!(drops.keys().find(odd), None, "{drops:?}");
}

/// COUNT is spent when a packet goes, not when it comes.
#[test]
fn a_packet_over_the_radios_rate_waits_as_it_came_in() {
    let mut worker = Worker::new(&gnb(1, 1400));
    let big = from_upf(4, &packet(13));
    let mut sent = 0;
    while worker.waits.is_empty() {
        worker.receive(N3, &big, MS);
        sent += 1;
        assert!(sent < 100, "the rate holds");
    }
    let [waits] = &worker.waits[..] else { panic!("one") };
    assert_eq!(waits.data(), big);
    // For a shorter one there is enough left, and it must not overtake.
    worker.receive(N3, &from_upf(4, &packet(0)), MS);
    assert_eq!(worker.waits.len(), 2, "behind one that waits all of a burst do");
    let before = worker.sent.len();
    // 1.3 KB at 1 Mbit/s is 10 ms: what is left of the burst is less.
    let again = worker.waits.remove(0);
    worker.receive(N3, again.data(), 100 * MS);
    let pdcp_sn = |frame: &[u8]| frame[62..65].to_vec();
    let sns: Vec<Vec<u8>> = worker.sent.iter().map(|(_, frame)| pdcp_sn(frame)).collect();
    assert_eq!(worker.sent.len(), before + 1);
    for (n, sn) in sns.iter().enumerate() {
        assert_eq!(*sn, [0x80, 0, n as u8], "no number is left out");
    }
}

/// Everything that the UE has been sent it reports as missing, each millisecond.
#[test]
fn a_ue_that_misses_everything_gets_half_of_the_radios_rate_at_most() {
    let mut worker = Worker::new(&gnb(8, 1400));
    let miss = |worker: &mut Worker, now_ns: u64| {
        let (mut pdu, mut out) = (Vec::new(), Vec::new());
        let nacks: Vec<_> = (0..4).map(|n| buffer::status::Nack { sn: n * 5, range: 5, segment: None }).collect();
        buffer::status::emit(buffer::status::SnLength::Bits12, 20, &nacks, &mut pdu);
        gnb::framing::Rlc { mode: gnb::framing::RlcMode::Am(12), direction: ciphering::Direction::Uplink, ue: 3, drb: 1 }
            .emit(&pdu, &mut out);
        worker.receive(RADIO, &frame(v4(UE_RADIO), v4(GNB_RADIO), &out), now_ns);
    };
    let mut now = MS;
    while worker.report()[3].downlink.packets < 20 {
        worker.waits.clear();
        worker.receive(N3, &from_upf(4, &packet(13)), now);
        now += 2 * MS;
    }
    worker.sent.clear();
    for _ in 0..1000 {
        miss(&mut worker, now);
        now += MS;
        worker.poll(now);
    }
    let bytes: usize = worker.sent.iter().map(|(_, frame)| datagram(frame).2.len()).sum();
    // A second at 8 Mbit/s is 1 MB.
    assert!((400_000..=520_000).contains(&bytes), "{bytes} bytes");
    let again = worker.report()[3].retransmissions;
    let owed = worker.pipeline.owed().load(std::sync::atomic::Ordering::Relaxed);
    assert!(again > 300 && owed > 400_000 && owed.abs_diff(bytes as u64) < bytes as u64 / 10, "{again} PDUs, {owed} of {bytes} bytes");
}

/// A worker with requests for its bearers.
struct Asked {
    worker: Worker,
    bearers: Bearers,
}

impl Asked {
    fn ask(&mut self, request: &str) -> String {
        let request: Request<_> = serde_json::from_str(request).unwrap();
        let pipeline = &mut self.worker.pipeline;
        let reply = self.bearers.ask(request, &mut |action| pipeline.act(action));
        match reply {
            Reply::Done { ues } => format!("{ues} done"),
            Reply::Ues { ue, .. } => serde_json::to_string(&ue).unwrap(),
            Reply::Counts { ue } => serde_json::to_string(&ue).unwrap(),
            Reply::Report(report) => serde_json::to_string(&report).unwrap(),
            Reply::Error { message } => message,
            Reply::Prepared { .. } | Reply::Status { .. } => panic!("the program hands nothing over"),
        }
    }

    /// What a packet to that tunnel and flow is sent as behind RLC's header of 18 bits: PDCP's number. None: it does not go to the radio.
    fn send(&mut self, teid: u32, qfi: u8) -> Option<[u8; 3]> {
        let mut out = Vec::new();
        Repr::g_pdu(teid, Some(SessionContainer::Downlink { qfi, rqi: false, ppi: None }), &packet(1)).emit(&mut out);
        self.worker.sent.clear();
        self.worker.receive(N3, &frame(v4(UPF), v4(GNB), &out), MS);
        self.worker.sent.first().map(|(_, frame)| frame[63..66].try_into().unwrap())
    }
}

fn ue_json(id: u16, teid: u32, qfi: u8, ciphering: &str) -> String {
    format!(
        r#"{{"id":{id},"radio":"127.0.0.9:4001","session":{{"upf":"10.3.0.1","uplink_teid":7,"downlink_teid":{teid}}},
        "flows":[{{"qfi":{qfi},"drb":1}}],"drb":[{{"id":1,"rlc":"am",{ciphering}}}]}}"#
    )
}

#[test]
fn bearers_come_change_and_go_while_the_program_runs_and_what_is_wrong_changes_nothing() {
    let (tables, config) = GnbTables::parse(&gnb_text(100_000, 1400)).unwrap();
    // Without a control socket there are as many places as bearers: six, all taken.
    let mut asked = Asked { worker: Worker::new(&config), bearers: Bearers::new(tables, config) };
    let plain = r#""ciphering":0"#;
    for n in 0..3 {
        assert_eq!(asked.send(1, 9), Some([0x80, 0, n]));
        asked.send(4, 9);
    }
    let create = |ues: &[String]| format!(r#"{{"do":"create","ue":[{}]}}"#, ues.join(","));
    let modify = |ue: String| format!(r#"{{"do":"modify","ue":[{ue}]}}"#);
    // All or nothing, and by the field.
    assert_eq!(asked.ask(&create(&[ue_json(40, 80, 9, plain)])), "ue: more than 6 bearers");
    let twice = create(&[ue_json(40, 80, 9, plain), ue_json(41, 1, 9, plain)]);
    assert_eq!(asked.ask(&twice), "ue[1].session.downlink_teid: 1 is another session's");
    assert_eq!(asked.ask(&create(&[ue_json(0, 80, 9, plain)])), "ue[0].id: 0 is another UE's");
    let bad = ue_json(40, 80, 9, r#""ciphering":4"#);
    assert!(asked.ask(&create(&[bad])).starts_with("ue[0].drb[0].ciphering: "));
    assert_eq!(asked.ask(r#"{"do":"release","ue":[3,99]}"#), "ue[1]: there is no UE 99");
    assert_eq!(asked.ask(&modify(ue_json(99, 80, 9, plain))), "ue[0].id: there is no UE 99");
    let no_handover = "datapath: bearers of \"p4\" cannot be handed over yet: configure \"entities\"";
    assert!(asked.ask(r#"{"do":"recover","ue":[3]}"#).starts_with("datapath: bearers of \"p4\" keep their RLC"));
    let leaves = r#"{"do":"handover","ue":[{"id":3,"to":"10.3.0.9","drb":[{"id":1,"downlink_teid":5,"uplink_teid":6}]}]}"#;
    assert_eq!(asked.ask(leaves), no_handover);
    assert!(asked.worker.pipeline.bearers() == 6 && asked.send(80, 9).is_none() && asked.send(4, 9).is_some());
    // The place of UE 3 becomes UE 40's, whose numbers and counts begin anew.
    assert_eq!(asked.ask(r#"{"do":"release","ue":[3]}"#), "1 done");
    assert_eq!(asked.send(4, 9), None);
    assert_eq!(asked.ask(&create(&[ue_json(40, 80, 9, plain)])), "1 done");
    assert_eq!((asked.send(80, 9), asked.send(80, 9)), (Some([0x80, 0, 0]), Some([0x80, 0, 1])));
    let (_, to, _) = datagram(&asked.worker.sent[0].1);
    assert_eq!(to, v4("127.0.0.9:4001"));
    // A flow more: the bearer goes on. Another key: it begins anew.
    assert_eq!(asked.send(80, 8), None);
    assert_eq!(asked.ask(&modify(ue_json(40, 80, 8, plain))), "1 done");
    assert_eq!((asked.send(80, 8), asked.send(80, 9)), (Some([0x80, 0, 2]), None));
    // What takes a place needs one before it gives one back.
    asked.ask(r#"{"do":"release","ue":[2]}"#);
    let ciphered = r#""ciphering":2,"cipher_key":"000102030405060708090a0b0c0d0e0f""#;
    assert_eq!(asked.ask(&modify(ue_json(40, 81, 8, ciphered))), "1 done");
    assert_eq!((asked.send(81, 8), asked.send(80, 8)), (Some([0x80, 0, 0]), None));
    let list = asked.ask(r#"{"do":"list"}"#);
    assert!(list.contains(r#""id":40"#) && !list.contains("0a0b0c0d") && !list.contains(r#""id":3,"#), "{list}");
    // Others have gone on.
    assert_eq!(asked.send(1, 9), Some([0x80, 0, 3]));
    let report = asked.worker.report();
    let packets: Vec<(u16, u64)> = report.iter().map(|ue| (ue.ue, ue.downlink.packets)).filter(|(_, packets)| *packets > 0).collect();
    assert_eq!(packets, [(0, 4), (3, 4), (40, 4)]);
    assert_eq!(asked.worker.pipeline.imbalance(), 0);
}

/// PDCP's number can come on by half of the numbers with each PDU of a bearer that loses: so COUNT is at its end soon.
#[test]
fn a_count_that_is_high_is_told_of_and_the_last_stops_the_bearer() {
    let (tables, config) = GnbTables::parse(
        &gnb_text(100_000, 1400)
            .replace("ciphering = 3\ncipher_key = \"000102030405060708090a0b0c0d0e0f\"\nreordering", "ciphering = 0\nreordering"),
    )
    .unwrap();
    let mut asked = Asked { worker: Worker::new(&config), bearers: Bearers::new(tables, config) };
    let mut now = MS;
    let up = |asked: &mut Asked, count: u64, now: u64| {
        let (sn, mut out) = ((count & 0x3_ffff) as u32, Vec::new());
        let pdu = [&[0x00][..], &(0x80_0000 | sn).to_be_bytes()[1..], &packet(0)].concat();
        gnb::framing::Rlc { mode: gnb::framing::RlcMode::Um(12), direction: ciphering::Direction::Uplink, ue: 4, drb: 1 }
            .emit(&pdu, &mut out);
        asked.worker.receive(RADIO, &frame(v4(UE_RADIO), v4(GNB_RADIO), &out), now);
    };
    let state = |asked: &mut Asked| -> serde_json::Value {
        let counts: serde_json::Value = serde_json::from_str(&asked.ask(r#"{"do":"counts"}"#)).unwrap();
        counts[4].clone()
    };
    assert_eq!(state(&mut asked), serde_json::json!({ "id": 4, "drb": [{ "id": 1, "downlink_count": 0, "state": "ok" }] }));
    let mut goes_on = |asked: &mut Asked, from: u64, to: u64| {
        let mut count = from;
        while count < to {
            up(asked, count, now);
            now += 200 * MS;
            asked.worker.poll(now);
            asked.worker.sent.clear();
            count += 0x1_ffff;
        }
        up(asked, to, now);
        now += 200 * MS;
        asked.worker.poll(now);
    };
    goes_on(&mut asked, 0, 0xbfff_ffff);
    assert_eq!(state(&mut asked)["drb"][0]["state"], "ok");
    goes_on(&mut asked, 0xc000_0000, 0xc000_0000);
    let high = serde_json::json!({ "id": 1, "downlink_count": 0, "uplink_count": 0xc000_0001u32, "state": "high" });
    assert_eq!(state(&mut asked)["drb"][0], high);
    goes_on(&mut asked, 0xc000_0001, 0xffff_fffe);
    let end = serde_json::json!({ "id": 1, "downlink_count": 0, "uplink_count": u32::MAX, "state": "exhausted" });
    assert_eq!(state(&mut asked)["drb"][0], end);
    let before = asked.worker.drops().get("radio_bearer.pdcp_count").copied().unwrap_or(0);
    asked.worker.sent.clear();
    goes_on(&mut asked, 0xffff_ffff, 0xffff_ffff);
    assert_eq!((asked.worker.sent.len(), asked.worker.drops()["radio_bearer.pdcp_count"]), (0, before + 1));
    let report = asked.worker.report();
    assert_eq!(report.iter().map(|ue| ue.count_high).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
    asked.worker.pipeline.tell_of_counts();
}

/// As the entities do (over_radio.rs), and what says that the flow has left is no drop.
#[test]
fn a_flow_that_is_reflective_moves_to_the_bearer_that_its_packets_come_by() {
    let drbs = ["1", "2"]
        .map(|id| format!("[[ue.drb]]\nid = {id}\nrlc = \"am\"\nciphering = 0\nsdap_header_uplink = true\nsdap_header_downlink = true\n"));
    let gnb = format!(
        "role = \"both\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 100\n[[ue]]\nid = 7\nradio = \"{UE_RADIO}\"\ndefault_drb = 1\n\
         flows = [{{ qfi = 9, drb = 2, reflective = true }}, {{ qfi = 8, drb = 2 }}]\nsession = {{ upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }}\n{}",
        drbs.concat()
    );
    let ue = format!(
        "[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\ndefault_drb = 1\n{}",
        drbs.concat()
    );
    let config = Ues::parse(&ue).unwrap();
    let (mut worker, mut ue) =
        (Worker::new(&Gnb::parse(&gnb).unwrap()), Ue::new(&config.ues[0], &config.radio, Engine::new(Choice::Portable).unwrap()));
    let mut now = 0;
    let mut send = |worker: &mut Worker, down: bool| {
        now += 10 * MS;
        if down {
            worker.receive(N3, &from_upf(1, &packet(1)), now);
            for (_, sent) in worker.sent.drain(..) {
                ue.radio(&datagram(&sent).2, SocketAddr::V4(v4(GNB_RADIO)), now, &mut |_| {});
            }
        }
        ue.packet(&packet(1), now);
        let mut sent = Vec::new();
        ue.run(now, &mut |_| {}, &mut |_, datagram| {
            let (of, pdu) = gnb::framing::Rlc::parse(datagram).unwrap();
            if pdu[0] & 0x80 != 0 {
                sent.push((of.drb, pdu[6]));
            }
            worker.receive(RADIO, &frame(v4(UE_RADIO), v4(GNB_RADIO), datagram), now);
        });
        sent.sort_unstable();
        let to_upf = worker.sent.drain(..).filter(|(port, _)| *port == N3).count();
        (sent, to_upf)
    };
    assert_eq!(send(&mut worker, false), (vec![(1, 0x89)], 1));
    assert_eq!(send(&mut worker, true), (vec![(1, 0x09), (2, 0x89)], 1));
    assert_eq!(send(&mut worker, true), (vec![(2, 0x89)], 1));
    let ended = worker.drops.iter().find(|(code, _)| worker.pipeline.target.program().reason_name(**code) == "sdap_end_marker");
    assert_eq!(ended.map(|(_, packets)| *packets), Some(1), "{:?}", worker.drops);
    assert_eq!(worker.drops(), Drops::new());
}

/// What a stranger sends changes nothing but a counter.
#[test]
fn hostile_bytes_are_counted_by_reason() {
    let config = gnb(100, 1400);
    let (mut worker, mut host) = (Worker::new(&config), Host::new(&config));
    let good = from_upf(1, &packet(1));
    let payload = |repr: Repr<'_>| {
        let mut out = Vec::new();
        repr.emit(&mut out);
        out
    };
    let from = |source: &str, datagram: &[u8]| frame(v4(source), v4(GNB), datagram);
    let framed = |ue: u16, drb: u8, direction: ciphering::Direction, pdu: &[u8]| {
        let mut out = Vec::new();
        gnb::framing::Rlc { mode: gnb::framing::RlcMode::Am(18), direction, ue, drb }.emit(pdu, &mut out);
        out
    };
    let radio = |source: &str, datagram: &[u8]| frame(v4(source), v4(GNB_RADIO), datagram);
    use ciphering::Direction::{Downlink, Uplink};
    let down = Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None });
    let other = Some(SessionContainer::Downlink { qfi: 8, rqi: false, ppi: None });
    for frame in [
        from(UPF, b"no gtp"),
        from("10.3.0.9:2152", &datagram(&good).2),
        from(UPF, &payload(Repr::g_pdu(77, down, b"x"))),
        from(UPF, &payload(Repr::g_pdu(1, other, b"x"))),
        from(UPF, &payload(Repr::g_pdu(1, Some(SessionContainer::Uplink { qfi: 9 }), b"x"))),
        from(UPF, &payload(Repr::g_pdu(1, down, b""))),
        from(UPF, &payload(Repr::new(1, None, Message::EndMarker))),
        from(UPF, &payload(Repr::new(99, None, Message::EndMarker))),
        from("10.3.0.9:999", &payload(Repr::new(0, Some(77), Message::EchoRequest))),
    ] {
        worker.receive(N3, &frame, MS);
    }
    for frame in [
        radio(UE_RADIO, b"no rlc"),
        radio(UE_RADIO, &framed(88, 1, Uplink, b"\x80\0\0x")),
        radio(UE_RADIO, &framed(0, 2, Uplink, b"\x80\0\0x")),
        radio(UE_RADIO, &framed(0, 1, Downlink, b"\x80\0\0x")),
        radio(GNB_RADIO, &framed(0, 1, Uplink, b"\x80\0\0x")),
        // An SDU whose MAC-I is wrong, and a STATUS for what was never sent.
        radio(UE_RADIO, &framed(0, 1, Uplink, &[&b"\x80\0\0\x80\0\0"[..], &[9; 40]].concat())),
        radio(UE_RADIO, &framed(0, 1, Uplink, b"\0\0\x50")),
    ] {
        worker.receive(RADIO, &frame, MS);
    }
    let answers: Vec<Vec<u8>> = worker.punted.iter().filter_map(|frame| host.frame(frame)).collect();
    assert_eq!(answers.len(), 2, "an Error Indication for the unknown TEID and an echo response, and nothing else");
    let (from, to, indication) = datagram(&answers[0]);
    assert_eq!((from, to), (v4(GNB), v4(UPF)));
    let repr = Repr::parse(&gtpu::Packet::new_checked(&indication).unwrap()).unwrap();
    assert!(matches!(repr.message, Message::ErrorIndication { teid: 77, .. }), "{repr:?}");
    let (_, to, echo) = datagram(&answers[1]);
    let repr = Repr::parse(&gtpu::Packet::new_checked(&echo).unwrap()).unwrap();
    assert_eq!((to, repr.sequence, repr.message), (v4("10.3.0.9:999"), Some(77), Message::EchoResponse));
    let (mut ues, mut drops) = (BTreeMap::new(), worker.drops());
    host.report(&mut ues, &mut drops);
    assert_eq!(ues[&0].end_markers, 1);
    testkit::assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile_p4.txt"), &format!("{drops:#?}\n"));
    // And the bearer works, with all its numbers.
    worker.receive(N3, &good, MS);
    assert_eq!(worker.sent.len(), 1);
    assert_eq!(worker.sent[0].1[60..66], [0xc0, 0, 0, 0x80, 0, 0], "RLC with a poll, and PDCP: both begin at 0");
}
