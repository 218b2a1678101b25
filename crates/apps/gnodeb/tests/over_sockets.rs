//! A gNodeB of `p4/gnb.p4` as it runs: the engine's worker on UDP sockets of loopback, between a UE of the entities and a UPF.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ciphering::{Choice, Engine};
use gnodeb::config::{GnbTables, Ues};
use gnodeb::pipeline::Build;
use gnodeb::run::gnb::RunningGnb;
use gnodeb::ue::Ue;
use wire::gtpu::{Message, Packet, Repr, SessionContainer};

const PATIENCE: Duration = Duration::from_secs(120);
const UPF: &str = "127.0.77.1:2152";
const N3: &str = "127.0.77.2:2152";
const GNB_RADIO: &str = "127.0.77.2:40771";
const UE_RADIO: &str = "127.0.77.3:40771";
const MANY: u32 = 400;

const DRB: &str = "[[ue.drb]]\nid = 1\nrlc = \"am\"\nciphering = 2\ncipher_key = \"000102030405060708090a0b0c0d0e0f\"\n\
                   integrity = 2\nintegrity_key = \"101112131415161718191a1b1c1d1e1f\"\n";

fn socket(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// What has come to a socket.
fn received(socket: &UdpSocket) -> Vec<(Vec<u8>, SocketAddr)> {
    let mut buffer = vec![0; 10_000];
    std::iter::from_fn(|| socket.recv_from(&mut buffer).ok().map(|(len, from)| (buffer[..len].to_vec(), from))).collect()
}

fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0x45; 20 + (number as usize * 97) % 1380];
    packet[1] = 0;
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

/// Sets it also where a check fails: the gNodeB ends with us.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// A gNodeB of the program; its object is kept.
fn start(text: &str) -> RunningGnb {
    let cache = c_compile::Cache::open(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gnodeb-objects")).unwrap();
    let build = Build {
        objects: p4_driver::objects::Objects { cache: Some(cache), shipped: None },
        flags: vec!["-O1".into()],
        ciphers: Choice::Portable,
        ..Build::default()
    };
    let (tables, config) = GnbTables::parse(text).unwrap();
    RunningGnb::start(tables, config, build).unwrap()
}

#[test]
fn users_packets_go_through_the_engine_once_and_in_order_both_ways() {
    let text = format!(
        "role = \"both\"\ndatapath = \"p4\"\nn3 = \"127.0.77.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 1000\n[[ue]]\nid = 7\nradio = \"{UE_RADIO}\"\n\
         session = {{ upf = \"127.0.77.1\", uplink_teid = 256, downlink_teid = 1 }}\nflows = [{{ qfi = 9, drb = 1 }}]\n{DRB}"
    );
    let gnb = start(&text);
    let text = format!(
        "[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\nflows = [{{ qfi = 9, drb = 1 }}]\n{DRB}"
    );
    let ues = Ues::parse(&text).unwrap();
    let mut ue = Ue::new(&ues.ues[0], &ues.radio, Engine::new(Choice::Portable).unwrap());
    let (upf, radio) = (socket(UPF), socket(UE_RADIO));
    let (stop, begin) = (AtomicBool::new(false), Instant::now());
    let (mut at_ue, mut at_upf, mut given, mut echoed) = (Vec::new(), Vec::new(), 0, false);
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| gnb.run(&mut || !stop.load(Relaxed)));
        let at_end = AtEnd(&stop);
        let emit = |repr: Repr<'_>| {
            let mut out = Vec::new();
            repr.emit(&mut out);
            out
        };
        upf.send_to(&emit(Repr::new(0, Some(77), Message::EchoRequest)), N3).unwrap();
        while at_ue.len() < MANY as usize || at_upf.len() < MANY as usize || !echoed {
            let now = begin.elapsed().as_nanos() as u64;
            // Few are on the way, so that none waits for the rate, however late the worker is.
            if given < MANY && given < at_ue.len() as u32 + 64 {
                let container = SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None };
                upf.send_to(&emit(Repr::g_pdu(1, Some(container), &packet(given))), N3).unwrap();
                ue.packet(&packet(given), now);
                given += 1;
            }
            for (datagram, from) in received(&radio) {
                ue.radio(&datagram, from, now, &mut |packet| at_ue.push(packet.to_vec()));
            }
            ue.run(now, &mut |packet| at_ue.push(packet.to_vec()), &mut |to, datagram| drop(radio.send_to(datagram, to)));
            for (datagram, from) in received(&upf) {
                assert_eq!(from, N3.parse().unwrap());
                let repr = Repr::parse(&Packet::new_checked(&datagram).unwrap()).unwrap();
                match repr.message {
                    Message::GPdu { payload } => at_upf.push(payload.to_vec()),
                    Message::EchoResponse => echoed = repr.sequence == Some(77),
                    other => panic!("{other:?}"),
                }
            }
            assert!(begin.elapsed() < PATIENCE, "{} and {} of {MANY} packets", at_ue.len(), at_upf.len());
            std::thread::yield_now();
        }
        drop(at_end);
        running.join().unwrap().unwrap()
    });
    let expected: Vec<Vec<u8>> = (0..MANY).map(packet).collect();
    let numbers = |came: &[Vec<u8>]| -> Vec<u32> { came.iter().map(|p| u32::from_be_bytes([p[4], p[5], p[6], p[7]])).collect() };
    assert!(at_ue == expected, "downlink: {:?}", numbers(&at_ue));
    assert!(at_upf == expected, "uplink: {:?}", numbers(&at_upf));
    let bytes: u64 = expected.iter().map(|packet| packet.len() as u64).sum();
    let counted = &report.ues[0];
    for count in [counted.downlink, counted.uplink] {
        assert_eq!((count.packets, count.bytes), (u64::from(MANY), bytes));
    }
    // On a busy machine an answer comes later than `t-PollRetransmit`.
    let odd = report
        .drops
        .keys()
        .find(|why| !["radio_bearer.am_outside_window", "radio_bearer.am_duplicate", "buffer.status_stale"].contains(&why.as_str()));
    assert_eq!(odd, None, "{:?}", report.drops);
}

/// What has waited for longer than `discardTimer` is dropped before it has a number: the UE, which waits for each number for ever, gets all that have one.
#[test]
fn a_packet_that_has_waited_for_longer_than_it_may_spends_no_number() {
    let [n3, gnb_radio, ue_radio] = ["127.0.78.2:2152", "127.0.78.2:40771", "127.0.78.3:40771"];
    // 1.3 KB are 10 ms of the rate. What of the first UE's may wait is 100 ms of it, and the second, which takes half, has packets for a second.
    let ue = |id: u16, more: &str| {
        format!(
            "[[ue]]\nid = {id}\nradio = \"{ue_radio}\"\nsession = {{ upf = \"127.0.78.1\", uplink_teid = {id}, downlink_teid = {id} }}\n\
             flows = [{{ qfi = 9, drb = 1 }}]\n{DRB}{more}"
        )
    };
    let gnb = start(&format!(
        "role = \"both\"\ndatapath = \"p4\"\nn3 = \"127.0.78.2\"\n[radio]\naddress = \"{gnb_radio}\"\nrate_mbps = 1\n{}{}",
        ue(7, "discard_ms = 100\n"),
        ue(8, "")
    ));
    let ues = Ues::parse(&format!(
        "[radio]\naddress = \"{ue_radio}\"\nrate_mbps = 50\n[[ue]]\nid = 7\ngnb = \"{gnb_radio}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\nflows = [{{ qfi = 9, drb = 1 }}]\n{DRB}"
    ));
    let ues = ues.unwrap();
    let mut ue = Ue::new(&ues.ues[0], &ues.radio, Engine::new(Choice::Portable).unwrap());
    let (upf, radio) = (socket("127.0.78.1:2152"), socket(ue_radio));
    let (stop, begin) = (AtomicBool::new(false), Instant::now());
    let big = |number: u32| {
        let mut packet = vec![0x45; 1300];
        packet[4..8].copy_from_slice(&number.to_be_bytes());
        packet
    };
    let send = |teid: u32, number: u32| {
        let (mut out, packet) = (Vec::new(), big(number));
        Repr::g_pdu(teid, Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None }), &packet).emit(&mut out);
        upf.send_to(&out, n3).unwrap();
    };
    let mut came: Vec<u32> = Vec::new();
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| gnb.run(&mut || !stop.load(Relaxed)));
        let at_end = AtEnd(&stop);
        (0..60).for_each(|number| send(8, number));
        (0..30).for_each(|number| send(7, number));
        // The first burst is over when a packet comes that was sent behind it, whatever became of others.
        let mut next = 30;
        while came.last().is_none_or(|last| *last < 30) {
            let now = begin.elapsed().as_nanos() as u64;
            if u128::from(next - 29) * 50 < begin.elapsed().as_millis() {
                send(7, next);
                next += 1;
            }
            for (datagram, from) in received(&radio) {
                ue.radio(&datagram, from, now, &mut |packet| came.push(u32::from_be_bytes(packet[4..8].try_into().unwrap())));
            }
            ue.run(now, &mut |_| {}, &mut |to, datagram| drop(radio.send_to(datagram, to)));
            assert!(begin.elapsed() < PATIENCE, "{came:?}");
            std::thread::yield_now();
        }
        drop(at_end);
        running.join().unwrap().unwrap()
    });
    assert!(came.is_sorted() && came.len() < 30, "{came:?}");
    assert!(report.drops.get("pipeline.shaper_late").is_some_and(|late| *late > 0), "{:?}", report.drops);
}
