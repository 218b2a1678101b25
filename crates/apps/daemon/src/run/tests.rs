//! A whole UPF without root: N4, N3 and N4-U on sockets of loopback, an SMF and a gNodeB on theirs, N6 in memory.

use super::*;
use crate::config::Role;
use base::Packet;
use pktio::MemoryPort;
use pktio::Port;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use traffic::Tunnel;
use traffic::plan::{Address, SessionPlan, Shape};
use traffic::ran::{Mode, Ran};
use traffic::smf::{Session, Smf};

mod queues;
mod reloaded;
mod shaped;

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
const N6_MAC: [u8; 6] = [2, 0, 0, 0, 6, 1];
const ROUTER_MAC: [u8; 6] = [2, 0, 0, 0, 6, 2];
const REMOTE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

/// Addresses on 127/8 that no other test process uses.
fn loopback(last: u8) -> Ipv4Addr {
    let id = std::process::id();
    Ipv4Addr::new(127, 64 | (id >> 8) as u8 & 63, id as u8, last)
}

/// Ports in one of two orders: neither must matter.
fn config(n4: SocketAddr, backwards: bool) -> String {
    let (upf, upf_n4u) = (loopback(1), loopback(3));
    let mut ports = [
        format!("name = \"n3\"\ndriver = \"udp\"\nlisten = \"{upf}:2152\"\nrole = \"access\"\nnetwork_instance = \"access\"\n"),
        format!("name = \"n4u\"\ndriver = \"udp\"\nlisten = \"{upf_n4u}:2152\"\nrole = \"cp\"\nnetwork_instance = \"cp\"\n"),
        "name = \"n6\"\ndriver = \"pcap\"\noutput = \"n6.pcap\"\nrole = \"core\"\nnetwork_instance = \"internet\"\n\
         mac = \"02:00:00:00:06:01\"\naddresses = [\"10.6.0.1/24\"]\n"
            .to_owned(),
    ];
    if backwards {
        ports.reverse();
    }
    let ports = ports.map(|port| format!("[[port]]\n{port}")).concat();
    format!(
        "[n4]\nlisten = \"{n4}\"\nrequest_port = \"source\"\n{ports}\
         [[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n\
         [[neighbour]]\nport = \"n6\"\nip = \"10.6.0.2\"\nmac = \"02:00:00:00:06:02\"\n"
    )
}

/// An IPv4 packet of protocol 253 (RFC 3692: for experiments) with a payload that follows from its number.
fn packet(src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, number: u16, length: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..length).map(|i| (i as u16 ^ number) as u8).collect();
    let mut out = Vec::new();
    wire::ipv4::Repr { src, dst, protocol: 253, tos: 0, ttl, payload_len: length }.emit(&mut out);
    out.extend(payload);
    out
}

fn frame(dst: [u8; 6], src: [u8; 6], packet: &[u8]) -> Vec<u8> {
    [&dst[..], &src, &[8, 0], packet].concat()
}

/// What comes out of the far end of N6, in order.
fn collect(far: &mut MemoryPort, count: usize) -> Vec<Vec<u8>> {
    let (mut seen, end) = (Vec::new(), Instant::now() + PATIENCE);
    let mut burst: Vec<Packet> = (0..32).map(|_| Packet::empty(0)).collect();
    while seen.len() < count {
        let n = far.receive(&mut burst).unwrap();
        seen.extend(burst[..n].iter().map(|p| p.data().to_vec()));
        assert!(Instant::now() < end, "{} of {count} came", seen.len());
        std::thread::yield_now();
    }
    seen
}

fn establish(smf: &Smf, n: u8) -> Session {
    let gnb = Tunnel { addr: loopback(2), teid: u32::from(n) + 1 };
    let mut plan = SessionPlan::new(Shape::Open5gs, gnb);
    plan.ue_ipv4 = Address::Given(Ipv4Addr::new(10, 45, 0, n + 2));
    plan.ue_ipv6 = Address::Given(Ipv6Addr::new(0x2001, 0xdb8, 0x45, u16::from(n), 0, 0, 0, 0));
    // As Open5GS has it: the DNN on all sides.
    plan.names.access = Some("internet".into());
    plan.names.cp_function = Some("internet".into());
    let mut session = smf.establish(&plan).unwrap();
    smf.set_active(&mut session, gnb).unwrap();
    session
}

/// More than the rate lets pass at once, up and down; and as much again as the session ends.
#[test]
fn packets_over_an_mbr_wait_and_go_in_order_and_only_what_was_sent_is_charged() {
    const PACKETS: u16 = 100;
    const LENGTH: usize = 980;
    let n4 = UdpSocket::bind((loopback(11), 0)).unwrap().local_addr().unwrap();
    let text = config(n4, false).replace(&format!("{}:2152", loopback(1)), &format!("{}:2152", loopback(11)))
        + "[qos]\nmode = \"shape\"\nqueue_ms = 1000\n";
    let config = Config::parse(&text.replace(&format!("{}:2152", loopback(3)), &format!("{}:2152", loopback(13)))).unwrap();
    let ir = p4_driver::compile(Path::new("upf.p4"), &[], &config.defines()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ports = config.ports.clone();
    for port in &mut ports {
        port.output = port.output.take().map(|name| folder.path().join(name));
    }
    let mut open = open_each(&ports, port_ids(&config), &config.workers, &config.dpdk, None).unwrap();
    let (near, mut far) = pktio::memory::pair("n6", "far n6", 1024);
    let n6 = config.ports.iter().position(|p| p.role == Role::Core).unwrap();
    open[n6].of_workers = vec![vec![Box::new(near)]];
    let upf = Upf::start(&config, ir, open, None).unwrap();
    let smf_config = traffic::smf::Config {
        n4u: Some(SocketAddrV4::new(loopback(14), 2152)),
        n1: PATIENCE.as_secs() as u32,
        ..traffic::smf::Config::new(SocketAddr::from((loopback(14), 0)), n4)
    };
    let smf = Smf::connect(smf_config).unwrap();
    smf.associate().unwrap();
    let gnb = Tunnel { addr: loopback(12), teid: 1 };
    let mut plan = SessionPlan::new(Shape::Open5gs, gnb);
    let ue = Ipv4Addr::new(10, 45, 0, 2);
    plan.ue_ipv4 = Address::Given(ue);
    plan.qos.mbr_kbps = Some((8000, 8000));
    plan.names.access = Some("internet".into());
    plan.names.cp_function = Some("internet".into());
    let mut session = smf.establish(&plan).unwrap();
    smf.set_active(&mut session, gnb).unwrap();
    let ran_config = traffic::ran::Config { mode: Mode::Memory, ..traffic::ran::Config::new(SocketAddrV4::new(loopback(12), 2152)) };
    let ran = Ran::start(ran_config, &[session.record()]).unwrap();
    // Of ECN-capable senders, so that CoDel marks and does not drop.
    let numbered = |src, dst, ttl, number, length| {
        let mut out = packet(src, dst, ttl, number, length);
        (out[1], out[10], out[11]) = (2, 0, 0);
        let sum = wire::checksum::finish(wire::checksum::sum(&out[..20]));
        out[10..12].copy_from_slice(&sum.to_be_bytes());
        out
    };
    // Short ones among them must not find tokens that are too few for the one before.
    let downlink = |number: u16| if number.is_multiple_of(2) { LENGTH } else { 20 };
    // The number is what the payload begins with; a packet that came late on a busy machine is missing.
    let number_of = |user: &[u8]| u16::from(user[20]);
    let in_order = |numbers: &[u16]| assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");

    for number in 0..PACKETS {
        assert!(ran.send(1, &numbered(ue, REMOTE, 64, number, LENGTH)).unwrap());
    }
    let (mut up, mut quiet) = (Vec::new(), Instant::now());
    let mut burst: Vec<Packet> = (0..32).map(|_| Packet::empty(0)).collect();
    while up.len() < usize::from(PACKETS) && quiet.elapsed() < Duration::from_secs(5) {
        let n = far.receive(&mut burst).unwrap();
        for came in &burst[..n] {
            assert_eq!(came.data().len(), 14 + 20 + LENGTH);
            up.push(number_of(&came.data()[14..]));
            quiet = Instant::now();
        }
        std::thread::yield_now();
    }
    in_order(&up);
    let mut down = Vec::new();
    for number in 0..PACKETS {
        let sent = frame(N6_MAC, ROUTER_MAC, &numbered(REMOTE, ue, 64, number, downlink(number)));
        assert_eq!(far.transmit(&[Packet::new(&sent, PortId(0))]).unwrap(), 1);
    }
    while down.len() < usize::from(PACKETS)
        && let Some(user) = ran.receive(1, Duration::from_secs(5)).unwrap()
    {
        down.push(number_of(&user));
    }
    in_order(&down);
    for number in 0..PACKETS {
        assert!(ran.send(1, &numbered(ue, REMOTE, 64, number, LENGTH)).unwrap());
        let sent = frame(N6_MAC, ROUTER_MAC, &numbered(REMOTE, ue, 64, number, downlink(number)));
        assert_eq!(far.transmit(&[Packet::new(&sent, PortId(0))]).unwrap(), 1);
    }
    smf.delete(&session).unwrap();
    smf.release().unwrap();
    ran.stop();
    let report = upf.stop().unwrap();
    assert_eq!(report.imbalance, 0, "{report:?}");
    assert!(!report.dropped.contains_key("rate_exceeded"), "{:?}", report.dropped);
    let shaped = &report.shaped;
    let refused: u64 = ["queue_full", "full"].iter().filter_map(|name| shaped.dropped.get(*name)).sum();
    let dropped: u64 = shaped.dropped.values().sum();
    assert_eq!(shaped.queued, shaped.sent.packets + dropped - refused, "{shaped:?}");
    assert!(shaped.queued > 100 && up.len() + down.len() > 100, "{shaped:?}, {} up, {} down", up.len(), down.len());
    // What came out before the session ended is charged, and of what was on its way then no more than was sent.
    let charged = report.sessions.iter().find(|s| s.ue_ipv4 == Some(ue)).unwrap();
    let (uplink, n6) = (charged.uplink, report.ports["n6"].transmitted);
    assert!(uplink.packets >= up.len() as u64 && uplink.packets <= n6.packets, "{uplink:?} {n6:?}");
    assert_eq!(uplink.bytes, uplink.packets * (20 + LENGTH as u64));
    assert_eq!(n6.packets, uplink.packets, "as much was charged as was sent");
    assert!(charged.downlink.packets >= down.len() as u64);
}

/// Sessions of an SMF and packets both ways through a UPF that runs; what it answers by its socket meanwhile is what was sent and what came.
#[test]
fn a_running_upf_tells_by_its_socket_what_its_sessions_ports_and_peers_have_done() {
    use crate::manage::control::{MAX_REQUEST, Reply, Request as Ask};
    const PACKETS: u16 = 25;
    let n4 = UdpSocket::bind((loopback(21), 0)).unwrap().local_addr().unwrap();
    let text = config(n4, false).replace(&format!("{}:2152", loopback(1)), &format!("{}:2152", loopback(21)));
    let config = Config::parse(&text.replace(&format!("{}:2152", loopback(3)), &format!("{}:2152", loopback(23)))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ports = config.ports.clone();
    for port in &mut ports {
        port.output = port.output.take().map(|name| folder.path().join(name));
    }
    let mut open = open_each(&ports, port_ids(&config), &config.workers, &config.dpdk, None).unwrap();
    let (near, mut far) = pktio::memory::pair("n6", "far n6", 1024);
    let n6 = config.ports.iter().position(|p| p.role == Role::Core).unwrap();
    open[n6].of_workers = vec![vec![Box::new(near)]];
    let upf = Upf::start(&config, p4_driver::compile(Path::new("upf.p4"), &[], &[]).unwrap(), open, None).unwrap();
    let path = folder.path().join("upf.sock");
    let socket = crate::manage::control::listen(Some(&path), upf.control()).unwrap();
    let ask = |request: &Ask| -> Reply { crate::manage::socket::ask(&path, request, MAX_REQUEST).unwrap() };
    let report = || match ask(&Ask::Report {}) {
        Reply::Report(report) => *report,
        other => panic!("{other:?}"),
    };
    let page = |query: &str| match ask(&Ask::Sessions(serde_json::from_str(query).unwrap())) {
        Reply::Sessions(page) => page,
        other => panic!("{query}: {other:?}"),
    };

    let smf_config = traffic::smf::Config {
        n4u: Some(SocketAddrV4::new(loopback(24), 2152)),
        n1: PATIENCE.as_secs() as u32,
        ..traffic::smf::Config::new(SocketAddr::from((loopback(24), 0)), n4)
    };
    let smf = Smf::connect(smf_config).unwrap();
    assert_eq!((report().peers, page("{}").sessions.len()), (Vec::new(), 0));
    smf.associate().unwrap();
    let gnb = |n: u8| Tunnel { addr: loopback(22), teid: u32::from(n) + 1 };
    let establish = |n: u8| {
        let mut plan = SessionPlan::new(Shape::Open5gs, gnb(n));
        plan.ue_ipv4 = Address::Given(Ipv4Addr::new(10, 45, 0, n + 2));
        plan.ue_ipv6 = Address::Given(Ipv6Addr::new(0x2001, 0xdb8, 0x45, u16::from(n), 0, 0, 0, 0));
        plan.names.access = Some("internet".into());
        plan.names.cp_function = Some("internet".into());
        let mut session = smf.establish(&plan).unwrap();
        smf.set_active(&mut session, gnb(n)).unwrap();
        session
    };
    let sessions: Vec<Session> = (0..3).map(establish).collect();
    let records: Vec<_> = sessions.iter().map(Session::record).collect();
    let ran_config = traffic::ran::Config { mode: Mode::Memory, ..traffic::ran::Config::new(SocketAddrV4::new(loopback(22), 2152)) };
    let ran = Ran::start(ran_config, &records).unwrap();
    let ue = records[1].ue_ipv4.unwrap();
    for number in 0..PACKETS {
        assert!(ran.send(2, &packet(ue, REMOTE, 64, number, 100)).unwrap());
        collect(&mut far, 1);
        let sent = frame(N6_MAC, ROUTER_MAC, &packet(REMOTE, ue, 64, number, 200));
        assert_eq!(far.transmit(&[Packet::new(&sent, PortId(0))]).unwrap(), 1);
        ran.receive(2, PATIENCE).unwrap().expect("downlink");
    }
    // One to nobody.
    let stray = frame(N6_MAC, ROUTER_MAC, &packet(REMOTE, Ipv4Addr::new(10, 45, 9, 9), 64, 0, 10));
    assert_eq!(far.transmit(&[Packet::new(&stray, PortId(0))]).unwrap(), 1);
    let end = Instant::now() + PATIENCE;
    while report().ports["n6"].received.packets <= u64::from(PACKETS) || report().imbalance != 0 {
        assert!(Instant::now() < end);
        std::thread::yield_now();
    }

    let now = report();
    let n6 = &now.ports["n6"];
    assert_eq!(n6.transmitted.packets, u64::from(PACKETS), "what came out of the far end");
    assert_eq!(n6.received.packets, u64::from(PACKETS) + 1);
    let dropped: u64 = n6.dropped.values().sum();
    assert_eq!((dropped, now.drops().packets()), (1, 1), "{:?}", now.drops());
    assert_eq!(n6.queues.iter().map(|queue| queue.received.packets).sum::<u64>(), n6.received.packets);
    assert_eq!(now.n4["sessions"], 3);
    let [peer] = &now.peers[..] else { panic!("{:?}", now.peers) };
    assert_eq!((peer.sessions, peer.lost), (3, false));
    for kind in ["SessionEstablishmentRequest", "SessionModificationRequest"] {
        assert_eq!(peer.messages[kind].received, 3, "{peer:?}");
        assert_eq!(peer.messages[&kind.replace("Request", "Response")].sent, 3, "{peer:?}");
    }
    assert_eq!(now.targets["x86"].tables, now.tables);
    assert!(now.tables["pdr_by_teid"].entries >= 3 && now.load.iter().map(|of| of.packets).sum::<u64>() >= u64::from(PACKETS) * 2);

    // Page by page, by each index, and by what has none.
    let first = page("{\"limit\":2}");
    assert_eq!((first.sessions.len(), first.total), (2, 3));
    let rest = page(&format!("{{\"limit\":2,\"after\":\"{:#x}\"}}", first.next.unwrap()));
    assert_eq!((rest.sessions.len(), rest.next), (1, None));
    let found = page(&format!("{{\"ue\":\"{ue}\"}}")).sessions;
    let [row] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (row.uplink, row.downlink),
        (
            crate::manage::report::Count { packets: PACKETS.into(), bytes: u64::from(PACKETS) * 120 },
            crate::manage::report::Count { packets: PACKETS.into(), bytes: u64::from(PACKETS) * 220 },
        )
    );
    assert_eq!((row.target.as_str(), row.ue_ipv4s.as_slice()), ("x86", &[ue][..]));
    assert!(row.teids.contains(&sessions[1].uplink.teid), "{row:?}");
    let of_teid = page(&format!("{{\"teid\":{}}}", sessions[1].uplink.teid)).sessions;
    let of_ipv6 = page("{\"ue\":\"2001:db8:45:1::77\"}").sessions;
    for found in [of_teid, of_ipv6] {
        assert_eq!(found.iter().map(|of| of.seid).collect::<Vec<_>>(), [row.seid]);
    }
    assert_eq!(page("{\"dnn\":\"INTERNET\"}").sessions.len(), 3);
    for nobody in [
        "{\"ue\":\"10.45.0.99\"}",
        "{\"ue\":\"2001:db8:46::1\"}",
        "{\"teid\":0}",
        "{\"dnn\":\"ims\"}",
        "{\"target\":\"xdp\"}",
        "{\"slice\":\"7\"}",
    ] {
        assert_eq!(page(nobody).sessions, [], "{nobody}");
    }
    let Reply::Session(detail) = ask(&Ask::Session { seid: row.seid }) else { panic!() };
    assert_eq!((detail.session.uplink, detail.placement.reason.as_str()), (row.uplink, "only_target"));
    assert!(detail.rules.pdrs.len() >= 2 && detail.entries > 0 && !detail.usage.is_empty(), "{detail:?}");
    assert!(matches!(ask(&Ask::Session { seid: 1 }), Reply::Error { message } if message.contains("there is no session 0x1")));

    // Drained, it keeps what it has and takes nothing new.
    assert_eq!(ask(&Ask::Drain { on: true }), Reply::Done {});
    let mut plan = SessionPlan::new(Shape::Open5gs, gnb(9));
    plan.ue_ipv4 = Address::Given(Ipv4Addr::new(10, 45, 0, 99));
    assert!(smf.establish(&plan).is_err());
    assert!(report().draining && report().n4["sessions"] == 3);
    assert_eq!(report().peers[0].rejected["75 No resources available"], 1);
    assert_eq!(ask(&Ask::Drain { on: false }), Reply::Done {});
    establish(9);
    drop((socket, smf));
    ran.stop();
    let last = upf.stop().unwrap();
    assert_eq!((last.imbalance, last.n4["established"]), (0, 4));
}

#[test]
fn a_whole_upf_stands_on_sockets_without_root_and_the_order_of_its_ports_does_not_matter() {
    for backwards in [false, true] {
        carry(backwards);
    }
}

fn carry(backwards: bool) {
    let n4 = UdpSocket::bind((loopback(1), 0)).unwrap().local_addr().unwrap();
    let config = Config::parse(&config(n4, backwards)).unwrap();
    let ir = p4_driver::compile(Path::new("upf.p4"), &[], &config.defines()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ports = config.ports.clone();
    for port in &mut ports {
        port.output = port.output.take().map(|name| folder.path().join(name));
    }
    let mut open = open_each(&ports, port_ids(&config), &config.workers, &config.dpdk, None).unwrap();
    // In the place of the capture file.
    let (near, mut far) = pktio::memory::pair("n6", "far n6", 1024);
    let n6 = config.ports.iter().position(|p| p.role == Role::Core).unwrap();
    open[n6].of_workers = vec![vec![Box::new(near)]];
    let upf = Upf::start(&config, ir, open, None).unwrap();

    let smf_config = traffic::smf::Config {
        n4u: Some(SocketAddrV4::new(loopback(4), 2152)),
        n1: PATIENCE.as_secs() as u32,
        ..traffic::smf::Config::new(SocketAddr::from((loopback(4), 0)), n4)
    };
    let smf = Smf::connect(smf_config).unwrap();
    smf.associate().unwrap();
    let sessions: Vec<Session> = (0..4).map(|n| establish(&smf, n)).collect();
    assert!(sessions.iter().all(|s| s.uplink.addr == loopback(1)), "F-TEIDs are on N3");
    assert!(sessions.iter().all(|s| s.from_cp.is_some_and(|t| t.addr == loopback(3))), "those from the SMF on N4-U");
    let records: Vec<_> = sessions.iter().map(Session::record).collect();
    let ran_config = traffic::ran::Config { mode: Mode::Memory, ..traffic::ran::Config::new(SocketAddrV4::new(loopback(2), 2152)) };
    let ran = Ran::start(ran_config, &records).unwrap();

    ran.echo(loopback(1), PATIENCE).expect("the UPF answers on N3");
    assert_eq!(ran.solicit(1, PATIENCE).unwrap(), records[0].ue_ipv6.unwrap(), "a router advertisement by N4-U");

    let lengths = [0, 1, 100, 1400, 1900, 8000];
    let (mut up, mut down) = ((0, 0), (0, 0));
    for round in 0..20u16 {
        let mut expected = Vec::new();
        for (n, record) in records.iter().enumerate() {
            let (ue, length) = (record.ue_ipv4.unwrap(), lengths[(usize::from(round) + n) % lengths.len()]);
            assert!(ran.send(n + 1, &packet(ue, REMOTE, 64, round, length)).unwrap());
            expected.push(frame(ROUTER_MAC, N6_MAC, &packet(ue, REMOTE, 63, round, length)));
            up = (up.0 + 1, up.1 + 20 + length as u64);
        }
        assert_eq!(collect(&mut far, records.len()), expected, "uplink, round {round}");
        for (n, record) in records.iter().enumerate() {
            let (ue, length) = (record.ue_ipv4.unwrap(), lengths[(usize::from(round) + n) % lengths.len()]);
            let sent = frame(N6_MAC, ROUTER_MAC, &packet(REMOTE, ue, 64, round, length));
            assert_eq!(far.transmit(&[Packet::new(&sent, PortId(0))]).unwrap(), 1);
            let seen = ran.receive(n + 1, PATIENCE).unwrap().expect("downlink");
            assert_eq!(seen, packet(REMOTE, ue, 63, round, length), "downlink, round {round}");
            down = (down.0 + 1, down.1 + 20 + length as u64);
        }
    }

    for session in &sessions {
        smf.delete(session).unwrap();
    }
    smf.release().unwrap();
    let ran = ran.stop();
    let report = upf.stop().unwrap();
    assert_eq!((report.imbalance, &report.dropped, &report.refused), (0, &Default::default(), &Default::default()), "{report:?}");
    let sum = |count: fn(&traffic::ran::UeReport) -> traffic::ran::Count| {
        ran.ues.iter().map(count).fold((0, 0), |sum, c| (sum.0 + c.packets, sum.1 + c.bytes))
    };
    assert_eq!((sum(|ue| ue.uplink), sum(|ue| ue.downlink)), (up, down));
    assert!(ran.ues.iter().all(|ue| ue.drops.is_empty()));
    // The user's packets and the echo request; the solicitations are asked for again where the machine is slow.
    let n3 = &report.ports["n3"];
    assert!(n3.received.packets > up.0, "{n3:?}");
    assert_eq!(report.ports["n6"].transmitted.packets, up.0);
}
