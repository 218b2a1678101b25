//! Bearers whose downlink runs in front of the program on N3: what they send is byte for byte what the program sends that runs whole, on native code and in the kernel's XDP
//! hook; and with XDP on an interface, between a UPF and a UE in a network namespace of their own.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddrV4, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use base::{Packet, Verdict, VerdictKind};
use ciphering::{Choice, Engine};
use gnodeb::config::{Gnb, GnbTables, Ues};
use gnodeb::control::Change;
use gnodeb::counts::{Drops, Report};
use gnodeb::front::{Front, Station};
use gnodeb::pipeline::{Build, N3, Pipeline};
use gnodeb::run::gnb::RunningGnb;
use gnodeb::ue::Ue;
use p4_driver::Program;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use target_api::{Lane, Target};
use target_xdp::{Options, Xdp};
use wire::gtpu::{Repr, SessionContainer};

const KEYS: &str = "cipher_key = \"000102030405060708090a0b0c0d0e0f\"\n";
const PATIENCE: Duration = Duration::from_secs(120);

fn build() -> Build {
    let cache = c_compile::Cache::open(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gnodeb-objects")).unwrap();
    Build {
        objects: p4_driver::objects::Objects { cache: Some(cache), shipped: None },
        flags: vec!["-O1".into()],
        ciphers: Choice::Portable,
        ..Build::default()
    }
}

fn v4(address: &str) -> SocketAddrV4 {
    address.parse().unwrap()
}

/// UEs 0 to 7 have a bearer of UM in each format, in front; UE 8 has a ciphered one behind.
const FAST: u32 = 8;
const ALL: u32 = 9;
const PDU_BYTES: usize = 1000;

fn twin_text(split: bool) -> String {
    let mut text = format!(
        "role = \"both\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"10.4.0.2:4001\"\nrate_mbps = 1000\npdu_bytes = {PDU_BYTES}\n{}",
        if split { "[split]\nfast = \"xdp\"\nrate_mbps = 600\n" } else { "" }
    );
    for n in 0..ALL {
        let header = n >> 2 & 1 == 1;
        let reflective = if n == 7 { ", reflective = true" } else { "" };
        text += &format!(
            "[[ue]]\nid = {n}\nradio = \"10.4.0.7:{}\"\nsession = {{ upf = \"10.3.0.1\", uplink_teid = {}, downlink_teid = {} }}\n\
             flows = [{{ qfi = 9, drb = 1{reflective} }}]\n[[ue.drb]]\nid = 1\nrlc = \"um\"\nrlc_sn_bits = {}\npdcp_sn_bits = {}\n\
             sdap_header_downlink = {header}\nsdap_header_uplink = {header}\n{}",
            4001 + n,
            256 + n,
            1 + n,
            if n & 1 == 1 { 6 } else { 12 },
            if n >> 1 & 1 == 1 { 12 } else { 18 },
            match (n < FAST, split) {
                (true, true) => "ciphering = 0\nfast = true\n".to_owned(),
                (true, false) => "ciphering = 0\n".to_owned(),
                (false, _) => format!("ciphering = 2\n{KEYS}"),
            }
        );
    }
    text
}

/// A frame as a UDP port of the program makes it, which those of the front are like here.
fn frame(from: SocketAddrV4, teid: u32, qfi: u8, payload: &[u8]) -> Vec<u8> {
    let to = v4("10.3.0.2:2152");
    let mut gtpu = Vec::new();
    Repr::g_pdu(teid, Some(SessionContainer::Downlink { qfi, rqi: payload.len() % 2 == 1, ppi: None }), payload).emit(&mut gtpu);
    let mut frame = Vec::new();
    let (dst, src) = (wire::ethernet::Mac(pktio::OUR_MAC), wire::ethernet::Mac(pktio::PEER_MAC));
    wire::ethernet::Repr { dst, src, ethertype: wire::ethernet::IPV4 }.emit(&mut frame);
    let payload_len = gtpu.len() + 8;
    wire::ipv4::Repr { src: *from.ip(), dst: *to.ip(), protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
    wire::udp::Repr { src_port: from.port(), dst_port: to.port() }.emit_ipv4(*from.ip(), *to.ip(), &gtpu, &mut frame);
    frame
}

/// What becomes of a frame: verdict by verdict, with the bytes of what is sent.
fn run(lane: &mut dyn Lane, frame: &[u8], now_ns: u64) -> Vec<(Verdict, Vec<u8>)> {
    let (mut packets, mut verdicts) = ([Packet::new(frame, N3)], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, now_ns);
    let mut returned = Vec::new();
    lane.poll(now_ns, &mut returned);
    let [packet] = packets;
    let first = (verdicts[0].kind != VerdictKind::Kept).then_some((packet, verdicts[0]));
    let all = first.into_iter().chain(returned.into_iter().map(|of| (of.packet, of.verdict)));
    let bytes = |(packet, verdict): (Packet, Verdict)| {
        let sent = verdict.kind == VerdictKind::Forward;
        (verdict, if sent { packet.data().to_vec() } else { Vec::new() })
    };
    all.map(bytes).collect()
}

fn front_program() -> Program {
    Program::compile_shipped("gnb.p4", &[("FRONT".to_owned(), String::new())]).unwrap()
}

fn native() -> Arc<dyn Target> {
    let options = target_x86::Options { flags: vec!["-O1".into()], ..Default::default() };
    Arc::from(front_program().x86().unwrap().load(&options, &[]).unwrap())
}

fn kernel() -> Arc<dyn Target> {
    let program = front_program();
    let options = Options { seed: 3, short_packets: true, hand_on_full: false, ..Options::default() };
    Arc::new(Xdp::load(Arc::new(program.ir.program.clone()), program.xdp_text().unwrap(), &options).unwrap_or_else(|e| panic!("{e}")))
}

/// The front with the program behind it, beside the program that runs whole.
fn equals_the_whole(target: Arc<dyn Target>, frames: u32) {
    let config = Gnb::parse(&twin_text(true)).unwrap();
    let station = Station {
        n3: ("10.3.0.2".parse().unwrap(), pktio::OUR_MAC),
        radio: (v4("10.4.0.2:4001"), pktio::OUR_MAC),
        networks: vec![("10.4.0.2".parse().unwrap(), 24)],
        pdu_bytes: PDU_BYTES as u16,
        rate_bps: config.split.unwrap().rate_bps,
    };
    let front = Front::new(target.clone(), station).unwrap();
    assert!(front.reaches(IpAddr::from([10, 4, 0, 7])).is_ok());
    assert!(front.reaches(IpAddr::from([10, 4, 0, 2])).unwrap_err().contains("our own"));
    assert!(front.reaches(IpAddr::from([10, 5, 0, 7])).unwrap_err().contains("no network"));
    let mut behind = Pipeline::behind(&config, build(), Some(front)).unwrap();
    let plain = Gnb::parse(&twin_text(false)).unwrap();
    let mut whole = Pipeline::new(&plain, build()).unwrap();
    let (mut front_lane, mut behind_lane, mut whole_lane) = (target.lane(0), behind.target.lane(0), whole.target.lane(0));
    let reason = |pipeline: &Pipeline, verdict: Verdict| pipeline.target.program().reason_name(verdict.reason);
    let (upf, mut now_ns) = (v4("10.3.0.1:2152"), 1_000_000_000);

    // Before its radio unit is known a bearer's packets are dropped, and no COUNT is spent.
    let early = frame(upf, 1, 9, &[0x45; 60]);
    assert!(matches!(run(&mut *front_lane, &early, now_ns)[0].0.kind, VerdictKind::Punt | VerdictKind::Next));
    let verdict = run(&mut *behind_lane, &early, now_ns)[0].0;
    assert_eq!((verdict.kind, reason(&behind, verdict)), (VerdictKind::Drop, "in_front".to_owned()));
    let in_front = behind.front.as_mut().unwrap();
    assert_eq!((in_front.running(), in_front.units().len()), ((FAST as usize, 0), 1));
    in_front.reached("10.4.0.7".parse().unwrap(), pktio::PEER_MAC).unwrap();
    assert_eq!(in_front.running(), (FAST as usize, FAST as usize));

    let (mut rng, mut met) = (StdRng::seed_from_u64(7), BTreeMap::<String, u32>::new());
    for round in 0..frames {
        // Of one instant in the burst of the rate, so that none is over it.
        now_ns += 1_000_000;
        if round == frames / 2 {
            // A UE goes and comes again, and another takes its number: COUNTs begin at 0, in cells that others have left.
            let of = |config: &Gnb, ids: &[u16]| config.ues.iter().filter(|ue| ids.contains(&ue.id)).cloned().collect::<Vec<_>>();
            let mut before = Vec::new();
            for (pipeline, config) in [(&mut behind, &config), (&mut whole, &plain)] {
                before.push(pipeline.counts().iter().map(|ue| ue.drb[0].downlink_count).collect::<Vec<_>>());
                pipeline.change(&Change { set: Vec::new(), released: vec![1, 2, 8] }).unwrap();
                assert_eq!(pipeline.counts().len(), ALL as usize - 3);
                pipeline.change(&Change { set: of(config, &[2, 8, 1]), released: Vec::new() }).unwrap();
            }
            assert!(before[0] == before[1] && before[0].iter().all(|count| *count > 5), "{before:?}");
            assert_eq!(behind.counts()[1].drb[0].downlink_count, 0);
        }
        let ue = rng.random_range(0..ALL);
        let payload: Vec<u8> = (0..rng.random_range(1..PDU_BYTES - 6)).map(|_| rng.random()).collect();
        let (mut teid, mut qfi, mut from) = (1 + ue, 9, upf);
        let kind = rng.random_range(0..24);
        match kind {
            0 => teid = 77,
            1 => qfi = 8,
            2 => from = v4("10.3.0.9:2152"),
            _ => {}
        }
        let mut frame = frame(from, teid, qfi, &payload);
        match kind {
            3 => frame.truncate(rng.random_range(14..frame.len())),
            4 => {
                let at = rng.random_range(0..58);
                frame[at] ^= 1 << rng.random_range(0..8);
            }
            _ => {}
        }
        let ran = run(&mut *front_lane, &frame, now_ns);
        let passes = matches!(ran[0].0.kind, VerdictKind::Punt | VerdictKind::Next);
        let ran = if passes { run(&mut *behind_lane, &frame, now_ns) } else { ran };
        let expected = run(&mut *whole_lane, &frame, now_ns);
        assert_eq!(ran, expected, "round {round}, UE {ue}, passed on: {passes}, {frame:02x?}");
        let name = match ran[0].0.kind {
            VerdictKind::Drop | VerdictKind::Punt => reason(&whole, ran[0].0),
            kind => format!("{kind:?}, {}", if passes { "behind" } else { "in front" }),
        };
        *met.entry(name).or_default() += 1;
    }
    println!("{met:?}");
    let least = |name: &str, n: u32| assert!(met.get(name).is_some_and(|met| *met >= n), "{name}: {met:?}");
    least("Forward, in front", frames / 2);
    least("Forward, behind", frames / 20);
    ["wrong_source", "unknown_teid"].into_iter().for_each(|name| least(name, frames / 100));
    assert!(met.len() > 5, "{met:?}");

    // What is told of UEs is the same, but for where they ran.
    let report = |pipeline: &Pipeline| {
        let mut ues = BTreeMap::new();
        pipeline.report(&mut ues);
        ues
    };
    let (mut of_split, of_whole) = (report(&behind), report(&whole));
    for (id, ue) in &mut of_split {
        assert_eq!(ue.downlink_fast.packets > 0, u32::from(*id) < FAST, "{ue:?}");
        assert!(ue.downlink_fast.packets == if u32::from(*id) < FAST { ue.downlink.packets } else { 0 }, "{ue:?}");
        ue.downlink_fast = Default::default();
    }
    assert_eq!(of_split, of_whole);

    // What cannot be in front is dropped there by name, and the next packet has the next COUNT.
    let count = |pipeline: &Pipeline| pipeline.counts()[0].drb[0].downlink_count;
    let before = count(&behind);
    let mut dropped = |frame: &[u8], now_ns| {
        let ran = run(&mut *front_lane, frame, now_ns);
        (ran[0].0.kind == VerdictKind::Drop).then(|| target.program().reason_name(ran[0].0.reason))
    };
    assert_eq!(dropped(&frame(upf, 1, 9, &[0x45; PDU_BYTES - 3]), now_ns + 1_000_000), Some("too_big".to_owned()));
    let full = frame(upf, 1, 9, &[0x45; PDU_BYTES - 4]);
    let sent = (0..4000).map(|_| dropped(&full, now_ns + 1_000_000)).collect::<Vec<_>>();
    let over = sent.iter().position(Option::is_some).expect("one is over the rate");
    assert!(over > 100 && sent[over..].iter().all(|of| of.as_deref() == Some("rate_exceeded")), "{over}");
    assert_eq!(count(&behind), before + over as u32);
    let mut drops = Drops::new();
    behind.drops([], &mut drops);
    assert_eq!(drops, Drops::new());
}

#[test]
fn what_runs_in_front_sends_what_the_whole_program_sends() {
    equals_the_whole(native(), 3000);
}

#[test]
fn what_runs_in_xdp_sends_what_the_whole_program_sends() {
    if testkit::root_or_skip("what_runs_in_xdp_sends_what_the_whole_program_sends") {
        equals_the_whole(kernel(), 1500);
    }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The gNodeB in the test's thread, which has a namespace of its own; its UPF and radio units in that of a second thread.
fn with_far_side<T: Send>(far: impl FnOnce() -> T + Send, gnb: impl FnOnce() + Send) -> T {
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        let (go, begin) = channel::<()>();
        let far = scope.spawn(move || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
            tell.send(nix::unistd::gettid()).unwrap();
            begin.recv().unwrap();
            for (name, address) in [("n3", "10.3.0.1"), ("radio", "10.4.0.7")] {
                ip(&format!("address add {address}/24 dev {name}"));
                ip(&format!("link set {name} up"));
            }
            ip("address add 10.3.0.9/24 dev n3");
            // So it takes what XDP redirects to its other end.
            pktio::interface::enable_gro("radio").unwrap();
            far()
        });
        let near = scope.spawn(move || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
            let id = told.recv().unwrap();
            for (name, address) in [("n3", "10.3.0.2"), ("radio", "10.4.0.2")] {
                let queues = "numrxqueues 1 numtxqueues 1";
                ip(&format!("link add {name} {queues} type veth peer name {name} netns {id} {queues}"));
                ip(&format!("address add {address}/24 dev {name}"));
                ip(&format!("link set {name} up"));
            }
            go.send(()).unwrap();
            gnb();
        });
        let far = far.join();
        near.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        far.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

const GNB_RADIO: &str = "10.4.0.2:4001";
const UE_RADIO: &str = "10.4.0.7:4001";
/// Packets of each flow.
const MANY: u32 = 300;
/// Flows: one in front, and one of AM and one of UM behind.
const FLOWS: [u8; 3] = [9, 5, 6];

fn drbs(fast: &str) -> String {
    format!(
        "flows = [{{ qfi = 9, drb = 1 }}, {{ qfi = 5, drb = 2 }}, {{ qfi = 6, drb = 3 }}]\n\
         [[ue.drb]]\nid = 1\nrlc = \"um\"\nciphering = 0\nsdap_header_downlink = true\n{fast}\
         [[ue.drb]]\nid = 2\nrlc = \"am\"\nciphering = 2\n{KEYS}integrity = 2\nintegrity_key = \"101112131415161718191a1b1c1d1e1f\"\n\
         [[ue.drb]]\nid = 3\nrlc = \"um\"\nciphering = 2\n{KEYS}"
    )
}

fn packet(flow: u8, number: u32) -> Vec<u8> {
    let mut packet = vec![0x45; 28 + (number as usize * 97) % 1300];
    (packet[1], packet[8]) = (0, flow);
    packet[4..8].copy_from_slice(&number.to_be_bytes());
    packet
}

/// What came of a run: the gNodeB's report, what the UE's user got, and datagrams of the bearer that may be in front.
struct Came {
    report: Report,
    user: Vec<Vec<u8>>,
    datagrams: Vec<Vec<u8>>,
}

fn socket(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// A gNodeB on interfaces, with XDP in front or whole.
fn over_interfaces(split: bool) -> Came {
    let text = format!(
        "role = \"both\"\nn3 = \"10.3.0.2\"\n[radio]\naddress = \"{GNB_RADIO}\"\nrate_mbps = 1000\n{}\
         [[ue]]\nid = 7\nradio = \"{UE_RADIO}\"\nsession = {{ upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }}\n{}",
        if split { "[split]\nfast = \"xdp\"\nrate_mbps = 600\n" } else { "" },
        drbs(if split { "fast = true\n" } else { "" })
    );
    let (stop, ready, report) = (AtomicBool::new(false), AtomicBool::new(false), std::sync::Mutex::new(None));
    let far = || {
        let at_end = AtEnd(&stop);
        let begin = Instant::now();
        let patience = |what: &str| assert!(begin.elapsed() < PATIENCE, "{what}");
        while !ready.load(Relaxed) {
            patience("the gNodeB does not start");
            std::thread::yield_now();
        }
        let (upf, stranger, radio) = (socket("10.3.0.1:2152"), socket("10.3.0.9:2152"), socket(UE_RADIO));
        let ues = format!(
            "[radio]\naddress = \"{UE_RADIO}\"\nrate_mbps = 50\n[[ue]]\nid = 7\ngnb = \"{GNB_RADIO}\"\nipv4 = \"10.45.0.2\"\nqfi = 9\n{}",
            drbs("")
        );
        let ues = Ues::parse(&ues).unwrap();
        let mut ue = Ue::new(&ues.ues[0], &ues.radio, Engine::new(Choice::Portable).unwrap());
        let send = |socket: &UdpSocket, qfi: u8, payload: &[u8]| {
            let mut out = Vec::new();
            Repr::g_pdu(1, Some(SessionContainer::Downlink { qfi, rqi: false, ppi: None }), payload).emit(&mut out);
            socket.send_to(&out, "10.3.0.2:2152").unwrap();
        };
        let (mut user, mut datagrams) = (Vec::<Vec<u8>>::new(), Vec::new());
        let mut serve = |user: &mut Vec<Vec<u8>>| {
            let (mut buffer, now) = (vec![0; 10_000], begin.elapsed().as_nanos() as u64);
            while let Ok((len, from)) = radio.recv_from(&mut buffer) {
                let datagram = &buffer[..len];
                // The framing names the bearer in its last byte but one.
                if datagram[16] == 1 {
                    datagrams.push(datagram.to_vec());
                }
                ue.radio(datagram, from, now, &mut |packet| user.push(packet.to_vec()));
            }
            ue.run(now, &mut |packet| user.push(packet.to_vec()), &mut |to, datagram| drop(radio.send_to(datagram, to)));
        };
        // Until the radio unit's MAC address is known packets in front are dropped before they have a number.
        let mut sent = 0;
        while user.is_empty() {
            if begin.elapsed() > Duration::from_millis(50) * sent {
                send(&upf, 9, &packet(9, u32::MAX));
                sent += 1;
            }
            serve(&mut user);
            patience("nothing comes through");
        }
        let warm = |user: &[Vec<u8>]| user.iter().filter(|packet| packet[4..8] == [0xff; 4]).count() as u32;
        let mut given = 0;
        while given < MANY || (user.len() as u32 - warm(&user)) < 3 * MANY {
            // Few are on the way.
            if given < MANY && 3 * given < user.len() as u32 + 30 {
                FLOWS.iter().for_each(|flow| send(&upf, *flow, &packet(*flow, given)));
                send(&stranger, 9, &packet(9, given));
                given += 1;
            }
            serve(&mut user);
            patience(&format!("{} of {} packets", user.len(), 3 * MANY));
        }
        // One that is cut in the program behind, where it runs whole, and those that come next.
        send(&upf, 9, &[0x45; 1440]);
        send(&upf, 9, &packet(9, MANY));
        while user.last().is_none_or(|last| *last != packet(9, MANY)) {
            serve(&mut user);
            patience("the last packet");
        }
        drop(at_end);
        (user, datagrams)
    };
    let (user, datagrams) = with_far_side(far, || {
        let at_end = AtEnd(&stop);
        let (tables, config) = GnbTables::parse(&text).unwrap();
        let gnb = RunningGnb::start(tables, config, build()).unwrap_or_else(|e| panic!("{e}"));
        ready.store(true, Relaxed);
        *report.lock().unwrap() = Some(gnb.run(&mut || !stop.load(Relaxed)).unwrap());
        drop(at_end);
    });
    Came { report: report.into_inner().unwrap().unwrap(), user, datagrams }
}

/// Ends the other side too where a check fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn xdp_on_the_interface_of_n3_carries_bearers_to_a_ue() {
    if !testkit::root_or_skip("xdp_on_the_interface_of_n3_carries_bearers_to_a_ue") {
        return;
    }
    let (split, whole) = (over_interfaces(true), over_interfaces(false));
    // Every packet once and in the order of its flow, on either.
    for came in [&split, &whole] {
        for flow in FLOWS {
            let of_flow: Vec<_> = came.user.iter().filter(|p| p[8] == flow && p[4..8] != [0xff; 4] && p[1] == 0).collect();
            let last = if flow == 9 { MANY + 1 } else { MANY };
            assert!(of_flow.iter().map(|p| p.to_vec()).eq((0..last).map(|n| packet(flow, n))), "flow {flow}: {} packets", of_flow.len());
        }
    }
    // The same bytes by radio, but for the COUNTs that the first packets have spent.
    let without_count = |came: &Came| -> Vec<Vec<u8>> {
        // Framing, RLC UM of a whole SDU (one byte, 0), PDCP (three), SDAP.
        let whole = came.datagrams.iter().filter(|d| d[18] == 0 && d[18 + 5 + 4..18 + 5 + 8] != [0xff; 4]);
        whole.map(|d| [&d[..19], &d[22..]].concat()).collect()
    };
    let counts = |came: &Came| -> Vec<u32> {
        came.datagrams.iter().filter(|d| d[18] == 0).map(|d| u32::from_be_bytes([0, d[19] & 3, d[20], d[21]])).collect()
    };
    assert_eq!(without_count(&split).len(), MANY as usize + 1);
    assert_eq!(without_count(&split), without_count(&whole));
    assert!(counts(&split).windows(2).all(|w| w[1] == w[0] + 1), "{:?}", counts(&split));
    // Counts say who carried them, and name what was dropped.
    let (ue, drops) = (&split.report.ues[0], &split.report.drops);
    let warm = split.user.len() as u64 - 3 * u64::from(MANY) - 1;
    assert_eq!(ue.downlink_fast.packets, u64::from(MANY) + 1 + warm, "{ue:?}");
    assert_eq!(ue.downlink.packets, 3 * u64::from(MANY) + 1 + warm, "{ue:?}");
    assert_eq!(ue.downlink.bytes - ue.downlink_fast.bytes, 2 * (0..MANY).map(|n| packet(5, n).len() as u64).sum::<u64>());
    assert_eq!(drops.get("front.wrong_source"), Some(&u64::from(MANY)), "{drops:?}");
    assert_eq!(drops.get("front.too_big"), Some(&1), "{drops:?}");
    let others = drops.keys().filter(|name| !["front.wrong_source", "front.too_big", "pipeline.in_front"].contains(&name.as_str()));
    assert_eq!(others.count(), 0, "{drops:?}");
    assert_eq!(whole.report.ues[0].downlink_fast.packets, 0);
}

#[test]
fn a_gnodeb_says_why_xdp_cannot_be_in_front() {
    if !testkit::root_or_skip("a_gnodeb_says_why_xdp_cannot_be_in_front") {
        return;
    }
    let started = |n3: &str, radio: &str| {
        let text = format!(
            "role = \"both\"\nn3 = \"{n3}\"\n[radio]\naddress = \"{radio}:4001\"\nrate_mbps = 100\n[split]\nfast = \"xdp\"\nrate_mbps = 40\n"
        );
        let (tables, config) = GnbTables::parse(&text).unwrap();
        RunningGnb::start(tables, config, build()).err().map(|e| e.to_string())
    };
    let refused = std::thread::scope(|scope| {
        let in_namespace = || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
            ip("link add n3 numrxqueues 1 numtxqueues 1 type veth peer name far numrxqueues 1 numtxqueues 1");
            ip("link add air numrxqueues 1 numtxqueues 1 type veth peer name unit numrxqueues 1 numtxqueues 1");
            ip("link add many numrxqueues 2 numtxqueues 2 type veth peer name other numrxqueues 2 numtxqueues 2");
            ip("link add asleep type veth peer name gone");
            for (name, address) in [("n3", "10.3.0.2"), ("air", "10.4.0.2"), ("many", "10.5.0.2"), ("asleep", "10.6.0.2")] {
                ip(&format!("address add {address}/24 dev {name}"));
            }
            ["n3", "far", "air", "unit", "many", "other"].iter().for_each(|name| ip(&format!("link set {name} up")));
            let wrong = [("10.3.0.3", "10.4.0.2"), ("10.6.0.2", "10.4.0.2"), ("10.5.0.2", "10.4.0.2"), ("10.3.0.2", "10.4.0.2")];
            wrong.map(|(n3, radio)| started(n3, radio).unwrap())
        };
        scope.spawn(in_namespace).join().unwrap()
    });
    println!("{refused:#?}");
    let expected = ["n3: no interface has the address 10.3.0.3", "n3: interface asleep is down", "n3: interface many has 2 receive queues"];
    for (text, expected) in
        refused.iter().zip(expected.into_iter().chain(["radio.address: interface air does not send what XDP redirects"]))
    {
        assert!(text.starts_with(&format!("split.fast: {expected}")), "{text}");
    }
}
