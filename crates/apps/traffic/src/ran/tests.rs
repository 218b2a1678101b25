//! The gNodeB against a UPF that returns packets, over loopback; with devices in a network namespace of the test's own.

use std::net::Ipv4Addr;

use gtpu::{Message, Repr, SessionContainer};
use rand::{Rng, RngCore};
use wire::{ipv4, ipv6, udp};

use super::*;
use crate::record::{RecordFlow, Tunnel};

const SECOND: Duration = Duration::from_secs(1);
/// How long anything may take that does not depend on how busy the machine is.
const SOON: Duration = Duration::from_secs(60);

/// A socket in the UPF's place: not on port 2152, so the gNodeB's answers to a tunnel's address do not reach it. For
/// tests of what the gNodeB receives.
fn peer() -> UdpSocket {
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(SOON)).unwrap();
    peer
}

fn session(n: u32, gnb: Ipv4Addr, upf: Ipv4Addr) -> SessionRecord {
    SessionRecord {
        seid: 100 + u64::from(n),
        ue_ipv4: Some(Ipv4Addr::from(0x0a2d_0001 + n)),
        ue_ipv6: Some(Ipv6Addr::from((0x2001_0db8_0045_0000_u128 + u128::from(n)) << 64)),
        uplink: Tunnel { addr: upf, teid: 1000 + n },
        downlink: Tunnel { addr: gnb, teid: n },
        qfi: Some(9),
        flows: vec![RecordFlow { dscp: 46, qfi: 5 }],
    }
}

fn packet_v4(src: Ipv4Addr, dst: Ipv4Addr, tos: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos, ttl: 64, payload_len: 8 + payload.len() }.emit(&mut out);
    udp::Repr { src_port: 7, dst_port: 7 }.emit_ipv4(src, dst, payload, &mut out);
    out
}

fn packet_v6(src: Ipv6Addr, dst: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ipv6::Repr { src, dst, next_header: 59, traffic_class: 0, hop_limit: 64, payload_len: payload.len() }.emit(&mut out);
    out.extend(payload);
    out
}

fn g_pdu(teid: u32, container: Option<SessionContainer>, packet: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Repr::g_pdu(teid, container, packet).emit(&mut out);
    out
}

fn downlink(qfi: u8) -> Option<SessionContainer> {
    Some(SessionContainer::Downlink { qfi, rqi: false, ppi: None })
}

/// A gNodeB without devices on a loopback address of its own.
fn memory(local: [u8; 4], sessions: &[SessionRecord]) -> Ran {
    let config = Config { mode: Mode::Memory, ..Config::new(SocketAddrV4::new(local.into(), gtpu::PORT)) };
    Ran::start(config, sessions).unwrap()
}

/// Waits until a report is as it should be.
fn settle(ran: &Ran, ok: impl Fn(&Report) -> bool) -> Report {
    let deadline = Instant::now() + SOON;
    loop {
        let report = ran.report();
        if ok(&report) {
            return report;
        }
        assert!(Instant::now() < deadline, "{report:#?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn uplink_packets_enter_their_tunnel() {
    let upf = UdpSocket::bind("127.31.1.1:2152").unwrap();
    upf.set_read_timeout(Some(SOON)).unwrap();
    let plain = SessionRecord { qfi: None, flows: Vec::new(), ..session(2, [127, 31, 1, 2].into(), [127, 31, 1, 1].into()) };
    let ran = memory([127, 31, 1, 2], &[session(1, [127, 31, 1, 2].into(), [127, 31, 1, 1].into()), plain]);
    let ue = Ipv4Addr::new(10, 45, 0, 2);
    let far = Ipv4Addr::new(10, 6, 0, 2);
    let mut bytes = 0;
    let v6 = packet_v6("2001:db8:45:1::1".parse().unwrap(), "2001:db8:6::2".parse().unwrap(), b"six");
    for (number, packet, qfi) in [
        (1, packet_v4(ue, far, 0, b"plain"), Some(9)),
        (1, packet_v4(ue, far, 46 << 2 | 1, b"voice"), Some(5)),
        (1, v6, Some(9)),
        (2, packet_v4(ue, far, 0, b"no flow"), None),
    ] {
        assert!(ran.send(number, &packet).unwrap());
        bytes += packet.len() as u64;
        let mut buffer = [0; 2000];
        let (length, from) = upf.recv_from(&mut buffer).unwrap();
        assert_eq!(from, "127.31.1.2:2152".parse().unwrap());
        let container = qfi.map(|qfi| SessionContainer::Uplink { qfi });
        assert_eq!(buffer[..length], g_pdu(1000 + number as u32, container, &packet));
    }
    assert!(!ran.send(1, b"\x00no IP").unwrap());
    assert!(ran.send(9, b"").is_err());
    let report = ran.stop();
    assert_eq!(report.totals().0, Count { packets: 4, bytes });
    assert_eq!(report.ues[0].drops["not_ip"], Count { packets: 1, bytes: 6 });
}

#[test]
fn downlink_packets_reach_their_ue_or_are_dropped_for_a_reason() {
    let here = [127, 31, 2, 2];
    let ran = memory(here, &[session(1, here.into(), [127, 31, 2, 1].into()), session(2, here.into(), [127, 31, 2, 1].into())]);
    let upf = peer();
    let (far, ue1, ue2) = (Ipv4Addr::new(10, 6, 0, 2), Ipv4Addr::new(10, 45, 0, 2), Ipv4Addr::new(10, 45, 0, 3));
    let good = packet_v4(far, ue1, 0, b"good");
    let six = packet_v6("2001:db8:6::2".parse().unwrap(), "2001:db8:45:1:a:b:c:d".parse().unwrap(), b"six");
    let send = |teid: u32, container: Option<SessionContainer>, packet: &[u8]| {
        upf.send_to(&g_pdu(teid, container, packet), ran.local()).unwrap();
    };
    send(1, downlink(9), &good);
    send(1, downlink(5), &six);
    send(2, downlink(9), &packet_v4(far, ue2, 0, b"two"));
    assert_eq!(ran.receive(1, SOON).unwrap(), Some(good.clone()));
    assert_eq!(ran.receive(1, SOON).unwrap(), Some(six));
    assert_eq!(ran.receive(2, SOON).unwrap(), Some(packet_v4(far, ue2, 0, b"two")));

    send(1, None, &good);
    send(1, downlink(6), &good);
    send(1, Some(SessionContainer::Uplink { qfi: 9 }), &good);
    send(1, downlink(9), &packet_v4(far, ue2, 0, b"two"));
    send(1, downlink(9), &[&good[..], b"more"].concat());
    send(1, downlink(9), b"");
    send(77, downlink(9), &good);
    upf.send_to(b"0\xff", ran.local()).unwrap();
    let report = settle(&ran, |report| report.node.datagrams == 11);
    let drops: Vec<_> = report.ues[0].drops.iter().map(|(name, count)| (name.as_str(), count.packets)).collect();
    let expected =
        [("malformed", 2), ("no_session_container", 1), ("uplink_session_container", 1), ("wrong_destination", 1), ("wrong_qfi", 1)];
    assert_eq!(drops, expected);
    assert_eq!((report.node.unknown_teid, report.node.malformed), (1, 1));
    assert_eq!((report.ues[0].downlink.packets, report.ues[1].downlink.packets), (2, 1));
    assert_eq!(ran.receive(1, Duration::ZERO).unwrap(), None);
    assert_eq!(report.discrepancies(), [""; 0]);
}

#[test]
fn signalling_is_answered() {
    let here = [127, 31, 3, 2];
    let ran = memory(here, &[session(1, here.into(), [127, 31, 3, 1].into())]);
    let upf = UdpSocket::bind("127.31.3.1:2152").unwrap();
    upf.set_read_timeout(Some(SOON)).unwrap();
    let mut buffer = [0; 2000];
    let mut exchange = |repr: &Repr<'_>| {
        let mut out = Vec::new();
        repr.emit(&mut out);
        upf.send_to(&out, ran.local()).unwrap();
        let length = upf.recv(&mut buffer).unwrap();
        buffer[..length].to_vec()
    };
    let echo = exchange(&Repr::new(0, Some(0x1234), Message::EchoRequest));
    let mut expected = Vec::new();
    Repr::new(0, Some(0x1234), Message::EchoResponse).emit(&mut expected);
    assert_eq!(echo, expected);

    let refused = exchange(&Repr::g_pdu(0xdead, None, b"x"));
    let refused = gtpu::Packet::new_checked(&refused).and_then(|packet| Repr::parse(&packet)).unwrap();
    let peer: IpAddr = Ipv4Addr::from(here).into();
    assert_eq!(refused.message, Message::ErrorIndication { teid: 0xdead, peer });

    for (teid, peer) in [(1001, "127.31.3.1"), (1001, "127.31.3.9"), (5, "2001:db8::1")] {
        let mut out = Vec::new();
        Repr::new(0, None, Message::ErrorIndication { teid, peer: peer.parse().unwrap() }).emit(&mut out);
        upf.send_to(&out, ran.local()).unwrap();
    }
    let report = settle(&ran, |report| report.node.datagrams == 5);
    assert_eq!((report.ues[0].error_indications, report.node.error_indications), (1, 2));

    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ran.echo([127, 31, 3, 1].into(), SOON));
        let (length, from) = upf.recv_from(&mut buffer).unwrap();
        let request = gtpu::Packet::new_checked(&buffer[..length]).unwrap();
        assert_eq!(request.message_type(), gtpu::message_type::ECHO_REQUEST);
        let mut out = Vec::new();
        Repr::new(0, request.sequence(), Message::EchoResponse).emit(&mut out);
        upf.send_to(&out, from).unwrap();
        assert!(asked.join().unwrap().is_ok());
    });
    let error = ran.echo([127, 31, 3, 1].into(), Duration::from_millis(20)).unwrap_err();
    assert!(error.to_string().contains("127.31.3.1 does not answer"), "{error}");
}

#[test]
fn routers_are_solicited_beside_the_users_packets() {
    let here = [127, 31, 4, 2];
    let ran = memory(here, &[session(1, here.into(), [127, 31, 4, 1].into())]);
    let upf = UdpSocket::bind("127.31.4.1:2152").unwrap();
    upf.set_read_timeout(Some(SOON)).unwrap();
    let prefix: Ipv6Addr = "2001:db8:45:1::".parse().unwrap();
    for (advertised, ok) in [(prefix, true), ("2001:db8:45:2::".parse().unwrap(), false)] {
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| ran.solicit(1, SOON));
            let mut buffer = [0; 2000];
            let (length, from) = upf.recv_from(&mut buffer).unwrap();
            let repr = gtpu::Packet::new_checked(&buffer[..length]).and_then(|packet| Repr::parse(&packet)).unwrap();
            let Message::GPdu { payload } = repr.message else { panic!() };
            let ue = crate::router::solicitation(payload).unwrap();
            upf.send_to(&g_pdu(1, downlink(9), &crate::router::advertisement(advertised, ue)), from).unwrap();
            assert_eq!(asked.join().unwrap().ok(), ok.then_some(prefix));
        });
    }
    let error = ran.solicit(1, Duration::from_millis(30)).unwrap_err();
    assert!(matches!(error, RanError::NoAnswer(_)), "{error}");
    let report = ran.stop();
    assert_eq!((report.ues[0].router_solicitations, report.ues[0].router_advertisements), (3, 2));
    assert_eq!(report.totals(), (Count::default(), Count::default()));
}

#[test]
fn a_handover_takes_both_tunnels_until_the_end_marker() {
    let here = [127, 31, 5, 2];
    let before = session(1, here.into(), [127, 31, 5, 1].into());
    let after = SessionRecord { downlink: Tunnel { teid: 50, ..before.downlink }, ..before.clone() };
    let ran = memory(here, &[before.clone(), session(2, here.into(), [127, 31, 5, 1].into())]);
    let upf = peer();
    let packet = packet_v4(Ipv4Addr::new(10, 6, 0, 2), Ipv4Addr::new(10, 45, 0, 2), 0, b"x");
    let clash = SessionRecord { downlink: Tunnel { teid: 2, ..before.downlink }, ..before.clone() };
    assert!(ran.switch(1, &clash).unwrap_err().to_string().contains("another session's"));
    ran.switch(1, &after).unwrap();
    for teid in [1, 50] {
        upf.send_to(&g_pdu(teid, downlink(9), &packet), ran.local()).unwrap();
        assert!(ran.receive(1, SOON).unwrap().is_some(), "TEID {teid}");
    }
    let mut end = Vec::new();
    Repr::new(1, None, Message::EndMarker).emit(&mut end);
    upf.send_to(&end, ran.local()).unwrap();
    upf.send_to(&g_pdu(1, downlink(9), &packet), ran.local()).unwrap();
    upf.send_to(&g_pdu(50, downlink(9), &packet), ran.local()).unwrap();
    assert!(ran.receive(1, SOON).unwrap().is_some());
    let report = settle(&ran, |report| report.node.datagrams == 5);
    assert_eq!((report.ues[0].end_markers, report.node.unknown_teid, report.ues[0].downlink.packets), (1, 1, 3));
    let last = ran.detach(1).unwrap();
    assert_eq!(last.downlink.packets, 3);
    assert_eq!((ran.ues(), ran.report().ues[0].clone()), (vec![2], last));
    assert_eq!(ran.attach(&before).unwrap(), 3);
}

#[test]
fn wrong_starts_are_told_in_words() {
    let here = Ipv4Addr::new(127, 31, 6, 2);
    let config = |local: &str| Config { mode: Mode::Memory, ..Config::new(local.parse().unwrap()) };
    let why = |config: Config, sessions: &[SessionRecord]| Ran::start(config, sessions).err().unwrap().to_string();
    assert!(why(config("0.0.0.0:2152"), &[]).contains("0.0.0.0"));
    assert!(why(config("192.0.2.1:2152"), &[]).contains("not an address of this host"));
    let elsewhere = session(1, [10, 3, 0, 2].into(), here);
    assert!(why(config("127.31.6.2:2152"), &[elsewhere]).contains("ends at 10.3.0.2"));
    let same = session(1, here, here);
    assert!(why(config("127.31.6.2:2152"), &[same.clone(), same]).contains("downlink TEID 1"));
    assert!(why(Config { mtu: 100, ..config("127.31.6.2:2152") }, &[]).contains("MTU 100"));
    assert!(why(Config { device_prefix: "a/b".into(), ..config("127.31.6.2:2152") }, &[]).contains("prefix"));
    let _taken = UdpSocket::bind("127.31.6.2:2152").unwrap();
    assert!(why(config("127.31.6.2:2152"), &[]).contains("taken"));
}

#[test]
fn hostile_octets_are_counted() {
    let here = [127, 31, 7, 2];
    let ran = memory(here, &[session(1, here.into(), [127, 31, 7, 1].into())]);
    let from = SocketAddrV4::new([127, 31, 7, 1].into(), gtpu::PORT);
    let mut numbers = testkit::rng(0x6e0d);
    let good = g_pdu(1, downlink(9), &packet_v4(Ipv4Addr::new(10, 6, 0, 2), Ipv4Addr::new(10, 45, 0, 2), 0, b"good"));
    let advertisement = crate::router::advertisement("2001:db8:45:1::".parse().unwrap(), "fe80::1".parse().unwrap());
    let good6 = g_pdu(1, downlink(9), &advertisement);
    let mut end = Vec::new();
    Repr::new(1, Some(1), Message::EndMarker).emit(&mut end);
    for round in 0..20_000 {
        let mut octets = match round % 4 {
            0 => good.clone(),
            1 => good6.clone(),
            2 => end.clone(),
            _ => {
                let mut octets = vec![0; numbers.random_range(0..120)];
                numbers.fill_bytes(&mut octets);
                octets
            }
        };
        for _ in 0..numbers.random_range(0..4) {
            if !octets.is_empty() {
                let at = numbers.random_range(0..octets.len());
                octets[at] = numbers.random();
            }
        }
        octets.truncate(numbers.random_range(0..=octets.len() * 2).min(octets.len()));
        let mut frame = pktio::udp::headers(ran.local(), octets.len()).to_vec();
        frame[26..30].copy_from_slice(&from.ip().octets());
        frame[34..36].copy_from_slice(&from.port().to_be_bytes());
        frame.extend(&octets);
        ran.shared.datagrams(&mut [Packet::new(&frame, base::PortId(0))]);
    }
    let report = ran.report();
    let ue = &report.ues[0];
    let dropped: u64 = ue.drops.values().map(|count| count.packets).sum();
    assert_eq!(report.node.datagrams, 20_000);
    assert!(report.node.malformed > 1000 && ue.downlink.packets > 500 && dropped > 500 && ue.router_advertisements > 100, "{report:?}");
}

/// Runs a test in a network namespace of its own with its loopback up.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let run = move || {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
        ip("link set lo up");
        test();
    };
    std::thread::spawn(run).join().unwrap();
}

fn ip(command: &str) -> String {
    let out = std::process::Command::new("ip").args(command.split(' ')).output().unwrap();
    assert!(out.status.success(), "ip {command}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A UPF that sends each user packet back with its ends swapped, as the data network's answer. Runs until the datagram `stop`.
fn turn_round(upf: &UdpSocket, sessions: &[SessionRecord]) -> u64 {
    let (mut buffer, mut turned) = ([0; 10_000], 0);
    loop {
        let (length, from) = upf.recv_from(&mut buffer).unwrap();
        if &buffer[..length] == b"stop" {
            return turned;
        }
        let repr = gtpu::Packet::new_checked(&buffer[..length]).and_then(|packet| Repr::parse(&packet)).unwrap();
        let Message::GPdu { payload } = repr.message else { continue };
        assert_eq!(repr.session_container, Some(SessionContainer::Uplink { qfi: 9 }));
        let session = sessions.iter().find(|session| session.uplink.teid == repr.teid).unwrap();
        let mut packet = payload.to_vec();
        // Sums do not change with the order of their terms: the checksums stay right.
        let (at, width, ports) = if packet[0] >> 4 == 4 { (12, 4, 20) } else { (8, 16, 40) };
        for i in 0..width {
            packet.swap(at + i, at + width + i);
        }
        packet.swap(ports, ports + 2);
        packet.swap(ports + 1, ports + 3);
        upf.send_to(&g_pdu(session.downlink.teid, downlink(9), &packet), from).unwrap();
        turned += 1;
    }
}

#[test]
fn programs_talk_through_devices_and_every_packet_is_counted() {
    if !testkit::root_or_skip("programs_talk_through_devices_and_every_packet_is_counted") {
        return;
    }
    in_namespace(|| {
        let (here, there) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 1));
        let sessions = [session(1, here, there), session(2, here, there)];
        let upf = UdpSocket::bind((there, gtpu::PORT)).unwrap();
        let ran = Ran::start(Config::new(SocketAddrV4::new(here, gtpu::PORT)), &sessions).unwrap();
        assert_eq!((ran.device(1).as_deref(), ran.ues()), (Some("ue1"), vec![1, 2]));
        // A taken name is refused and stays the other's.
        let second = Config { table_base: 20_000, ..Config::new("127.0.0.3:2152".parse().unwrap()) };
        let error = Ran::start(second, &[session(1, [127, 0, 0, 3].into(), there)]).err().unwrap().to_string();
        assert!(error.contains("ue1 exists already"), "{error}");

        // The kernel sends nothing of its own.
        std::thread::sleep(2 * SECOND);
        let quiet = ran.report();
        assert!(quiet.ues.iter().all(|ue| ue.kernel_tx == Some(Count::default())), "{quiet:#?}");

        std::thread::scope(|scope| {
            let (upf, sessions) = (&upf, &sessions);
            let turned = scope.spawn(move || turn_round(upf, sessions));
            for (source, far, size) in [
                ("10.45.0.2:0", "10.6.0.2:7", 100),
                ("10.45.0.3:0", "10.6.0.2:7", 1372),
                ("[2001:db8:45:1::1]:0", "[2001:db8:6::2]:7", 200),
                ("[2001:db8:45:2::1]:0", "[2001:db8:6::2]:7", 1352),
            ] {
                let program = UdpSocket::bind(source).unwrap();
                program.set_read_timeout(Some(SOON)).unwrap();
                program.connect(far).unwrap();
                let mut buffer = [0; 2000];
                for n in 0..50u8 {
                    program.send(&vec![n; size]).unwrap();
                    assert_eq!(program.recv(&mut buffer).unwrap(), size, "{source}");
                    assert_eq!(buffer[..size], vec![n; size]);
                }
            }
            // A program that knows but the device.
            let program = UdpSocket::bind("0.0.0.0:0").unwrap();
            nix::sys::socket::setsockopt(&program, sockopt::BindToDevice, &"ue2".into()).unwrap();
            program.set_read_timeout(Some(SOON)).unwrap();
            program.send_to(b"by device", "10.6.0.9:7").unwrap();
            let mut buffer = [0; 100];
            assert_eq!(program.recv_from(&mut buffer).unwrap(), (9, "10.6.0.9:7".parse().unwrap()));
            UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"stop", (there, gtpu::PORT)).unwrap();
            assert_eq!(turned.join().unwrap(), 201);
        });

        let count = |packets: u64, bytes: u64| Count { packets, bytes };
        let first = count(100, 50 * (128 + 248));
        let second = count(101, 50 * (1400 + 1400) + 37);
        let counts = |report: &Report| report.ues.iter().map(|ue| (ue.uplink, ue.downlink)).collect::<Vec<_>>();
        // The program has the last packet before it is counted: what is written to a device counts when the write returns.
        let report = settle(&ran, |report| counts(report) == [(first, first), (second, second)] && report.discrepancies().is_empty());
        assert_eq!((report.ues[0].kernel_tx, report.ues[1].kernel_rx), (Some(first), Some(second)));
        assert!(report.ues.iter().all(|ue| ue.drops.is_empty()));

        let rules = || ip("rule show") + &ip("-6 rule show");
        assert_eq!(rules().matches("14501:").count(), 4);
        let last = ran.detach(1).unwrap();
        assert_eq!(last.uplink, first);
        assert_eq!((rules().matches("14501:").count(), rules().matches("14502:").count()), (0, 4));
        assert!(!ip("link show").contains("ue1:"));
        let report = ran.stop();
        assert_eq!(report.ues.len(), 2);
        assert!(!rules().contains("1450") && !ip("link show").contains("ue2:"));
    });
}

/// An IPv4-only and an IPv6-only session have devices, too.
#[test]
fn devices_of_one_ip_version() {
    if !testkit::root_or_skip("devices_of_one_ip_version") {
        return;
    }
    in_namespace(|| {
        let (here, there) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 1));
        let only4 = SessionRecord { ue_ipv6: None, ..session(1, here, there) };
        let only6 = SessionRecord { ue_ipv4: None, ..session(2, here, there) };
        let config = Config { device_prefix: "phone".into(), mtu: 1300, ..Config::new(SocketAddrV4::new(here, gtpu::PORT)) };
        let ran = Ran::start(config, &[only4, only6]).unwrap();
        let (first, second) = (ip("address show phone1"), ip("address show phone2"));
        assert!(first.contains("inet 10.45.0.2/32") && first.contains("mtu 1300") && !first.contains("inet6"), "{first}");
        assert!(second.contains("inet6 2001:db8:45:2::1/128") && !second.contains("inet ") && !second.contains("fe80"), "{second}");
        drop(ran);
        assert!(!ip("link show").contains("phone"));
    });
}
