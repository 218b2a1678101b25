//! Does a running UPF keep what its configuration says of a port with a rate: its queues, their order, and what each counts? Both ports are in memory: no kernel
//! queue loses a packet that a test counts.

use super::*;
use crate::manage::report::Report;
use traffic::smf;

pub(super) const N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const N3_MAC: [u8; 6] = [2, 0, 0, 0, 3, 1];
pub(super) const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
pub(super) const GNB_MAC: [u8; 6] = [2, 0, 0, 0, 3, 2];
/// Bytes of the payload of a user's packet, and of the frame that leaves by N6.
pub(super) const LENGTH: usize = 966;
const FRAME: u64 = 14 + 20 + LENGTH as u64;

/// A UPF, the far ends of its ports, and its SMF.
pub(super) struct Bench {
    pub(super) upf: Upf,
    /// What it was started with.
    pub(super) text: String,
    pub(super) n3: MemoryPort,
    pub(super) n6: MemoryPort,
    pub(super) smf: Smf,
}

impl Bench {
    /// N6 has a rate of 8 Mbit/s: a millisecond a packet. `last` tells this test's addresses from others'.
    pub(super) fn start(last: u8, blocks: &str) -> Bench {
        Bench::start_with(last, Some("core"), blocks)
    }

    /// Of the ports those of that role have the rate.
    pub(super) fn start_with(last: u8, rated: Option<&str>, blocks: &str) -> Bench {
        let n4 = UdpSocket::bind((loopback(last), 0)).unwrap().local_addr().unwrap();
        let n3 = format!("mac = \"02:00:00:00:03:01\"\naddresses = [\"{N3}/24\"]\ngtpu = [\"{N3}\"]\n");
        let text = config(n4, false)
            .replace(
                &format!("driver = \"udp\"\nlisten = \"{}:2152\"\nrole = \"access\"\n", loopback(1)),
                &format!("driver = \"pcap\"\noutput = \"n3.pcap\"\nrole = \"access\"\n{n3}"),
            )
            .replace(&format!("{}:2152", loopback(3)), &format!("{}:2152", loopback(last + 1)))
            + &format!("[[neighbour]]\nport = \"n3\"\nip = \"{GNB}\"\nmac = \"02:00:00:00:03:02\"\n{blocks}");
        let role = format!("role = \"{}\"", rated.unwrap_or("none"));
        let text = text.replace(&role, &format!("{role}\nrate_kbps = 8000"));
        let config = Config::parse(&text).unwrap();
        let ir = p4_driver::compile(Path::new("upf.p4"), &[], &config.defines()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut ports = config.ports.clone();
        for port in &mut ports {
            port.output = port.output.take().map(|name| folder.path().join(name));
        }
        let mut open = open_each(&ports, port_ids(&config), &config.workers, &config.dpdk, None).unwrap();
        let mut far = |role| {
            let (near, far) = pktio::memory::pair("near", "far", 4096);
            let at = config.ports.iter().position(|p| p.role == role).unwrap();
            open[at].of_workers = vec![vec![Box::new(near)]];
            far
        };
        let (n3, n6) = (far(Role::Access), far(Role::Core));
        let upf = Upf::start(&config, ir, open, None).unwrap();
        let own = loopback(last + 2);
        let n4u = Some(SocketAddrV4::new(own, 2152));
        let smf = Smf::connect(smf::Config { n4u, n1: PATIENCE.as_secs() as u32, ..smf::Config::new(SocketAddr::from((own, 0)), n4) });
        let smf = smf.unwrap();
        smf.associate().unwrap();
        Bench { upf, text, n3, n6, smf }
    }

    pub(super) fn session(&self, n: u8, change: impl FnOnce(&mut SessionPlan)) -> Session {
        let gnb = Tunnel { addr: GNB, teid: u32::from(n) + 1 };
        let mut plan = SessionPlan::new(Shape::Open5gs, gnb);
        plan.ue_ipv4 = Address::Given(ue(n));
        plan.names.access = Some("internet".into());
        plan.names.cp_function = Some("internet".into());
        change(&mut plan);
        let mut session = self.smf.establish(&plan).unwrap();
        self.smf.set_active(&mut session, gnb).unwrap();
        session
    }

    /// All at once: the worker finds them in its next bursts.
    pub(super) fn send(&mut self, frames: &[Packet]) {
        for burst in frames.chunks(64) {
            assert_eq!(self.n3.transmit(burst).unwrap(), burst.len());
        }
    }

    /// So many frames that left by N6.
    pub(super) fn collect(&mut self, count: usize) -> Vec<Vec<u8>> {
        let (mut seen, end) = (Vec::new(), Instant::now() + PATIENCE);
        let mut burst: Vec<Packet> = (0..32).map(|_| Packet::empty(0)).collect();
        while seen.len() < count {
            let n = self.n6.receive(&mut burst[..32.min(count - seen.len())]).unwrap();
            seen.extend(burst[..n].iter().map(|p| p.data().to_vec()));
            if Instant::now() >= end {
                let report = self.upf.report(false).unwrap();
                panic!("{} of {count} came: {:?} {:?}", seen.len(), report.dropped, report.ports);
            }
            std::thread::yield_now();
        }
        seen
    }

    /// The report when so many packets have left by N6 or are dropped, and that holds.
    pub(super) fn settle(&self, packets: u64, holds: impl Fn(&Report) -> bool) -> Report {
        let end = Instant::now() + PATIENCE;
        loop {
            let report = self.upf.report(true).unwrap();
            let dropped: u64 = report.dropped.values().map(|count| count.packets).sum();
            if report.ports["n6"].transmitted.packets + dropped == packets && holds(&report) {
                return report;
            }
            assert!(Instant::now() < end, "{:?} {:?}", report.dropped, report.ports);
            std::thread::yield_now();
        }
    }

    pub(super) fn stop(self) -> Report {
        self.smf.release().unwrap();
        let report = self.upf.stop().unwrap();
        assert_eq!(report.imbalance, 0, "{report:?}");
        report
    }
}

pub(super) fn ue(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 45, 0, n + 2)
}

/// A user's packet in its tunnel. Of a sender that understands marks: CoDel, which sees a worker that stands still as a queue that stands, drops none.
pub(super) fn uplink(session: &Session, n: u8, dscp: u8, number: u16) -> Packet {
    let user = marking(packet(ue(n), REMOTE, 64, number, LENGTH), dscp);
    let mut tunnel = Vec::new();
    wire::gtpu::Repr::g_pdu(session.uplink.teid, None, &user).emit(&mut tunnel);
    let length = (8 + tunnel.len() as u16).to_be_bytes();
    let udp = [&2152u16.to_be_bytes()[..], &2152u16.to_be_bytes(), &length, &[0, 0], &tunnel].concat();
    let mut outer = Vec::new();
    wire::ipv4::Repr { src: GNB, dst: session.uplink.addr, protocol: 17, tos: 0, ttl: 64, payload_len: udp.len() }.emit(&mut outer);
    outer.extend(udp);
    Packet::new(&frame(N3_MAC, GNB_MAC, &outer), PortId(0))
}

/// A user's packet with that DSCP, of a sender that understands marks.
fn marking(mut user: Vec<u8>, dscp: u8) -> Vec<u8> {
    (user[1], user[10], user[11]) = (dscp << 2 | 2, 0, 0);
    let sum = wire::checksum::finish(wire::checksum::sum(&user[..20]));
    user[10..12].copy_from_slice(&sum.to_be_bytes());
    user
}

/// UE, DSCP and number of a frame that left by N6.
pub(super) fn of(frame: &[u8]) -> (u8, u8, u16) {
    (frame[29] - 2, frame[15] >> 2, u16::from(frame[34]))
}

pub(super) const QUEUES: &str = "[[queue]]\nnumber = 7\nstrict = true\ndscp = [46]\nqueue_ms = 1000\n[[queue]]\nnumber = 2\nweight = 3\ndscp = [10]\nqueue_ms = 1000\n\
                      [[queue]]\nnumber = 5\nweight = 6\nqueue_ms = 1000\n[[queue]]\nnumber = 0\nqueue_ms = 1000\n";

#[test]
fn packets_wait_for_a_port_with_a_rate_in_the_queue_of_their_class_or_dscp_and_the_report_tells_of_each() {
    // Of class 5 whatever their DSCP.
    let mut bench = Bench::start(31, &format!("{QUEUES}[[class]]\nfrom = \"{}/32\"\nqueue = 5\n", ue(1)));
    let sessions = [0, 1].map(|n| bench.session(n, |_| ()));
    let counts = [(0u8, 0u8, 60u16), (0, 10, 60), (1, 46, 60), (0, 46, 10)];
    let frames: Vec<Packet> = counts
        .iter()
        .flat_map(|(n, dscp, count)| (0..*count).map(|number| uplink(&sessions[usize::from(*n)], *n, *dscp, number)))
        .collect();
    bench.send(&frames);
    let came = bench.collect(frames.len());
    for (n, dscp, count) in counts {
        let numbers: Vec<u16> = came.iter().map(|frame| of(frame)).filter(|(ue, d, _)| (*ue, *d) == (n, dscp)).map(|of| of.2).collect();
        assert!(numbers.iter().copied().eq(0..count), "UE {n}, DSCP {dscp}: in order, each once: {numbers:?}");
    }
    let place =
        |n, dscp, nth: usize| came.iter().enumerate().filter(|(_, frame)| (of(frame).0, of(frame).1) == (n, dscp)).nth(nth).unwrap().0;
    // Until a burst has been taken the line sends what is there: some packets of 2 ms a time.
    let last = place(0, 46, 9);
    assert!(last < 60, "place {last}: those that came last and are strict go before 180 others");
    // Of the last 120 others, with shares of 1, 3 and 6, while all three have packets.
    let until = place(1, 46, 59);
    let shares = [(0, 0), (0, 10), (1, 46)]
        .map(|(n, dscp)| (0..60).filter(|nth| place(n, dscp, *nth) < until && place(n, dscp, *nth) > last).count());
    assert!(shares[2] >= shares[1] && shares[1] >= shares[0] && shares[0] >= 2, "{shares:?}");
    for session in &sessions {
        bench.smf.delete(session).unwrap();
    }
    let report = bench.stop();
    let queues = &report.ports["n6"].waiting;
    let sent: Vec<u64> = queues.iter().map(|of| of.sent.packets).collect();
    assert_eq!(sent, [60, 0, 60, 0, 0, 60, 0, 10], "{queues:?}");
    assert_eq!(queues[2].sent.bytes, 60 * FRAME);
    assert_eq!((queues[7].delays.iter().sum::<u64>(), queues[5].queued), (10, 60));
    assert!(report.dropped.is_empty() && report.ports["n3"].waiting.is_empty(), "{:?}", report.dropped);
}

/// What the report says of a session: packets and bytes towards the network.
pub(super) fn charged(report: &Report, n: u8) -> (u64, u64) {
    let of = report.sessions.iter().find(|session| session.ue_ipv4 == Some(ue(n))).unwrap();
    (of.uplink.packets, of.uplink.bytes)
}

#[test]
fn what_a_ports_queue_drops_or_still_holds_is_not_charged() {
    // A queue that takes 20 packets.
    let mut bench = Bench::start(41, "[[queue]]\nnumber = 0\nqueue_ms = 20\n");
    let sessions = [0, 1].map(|n| bench.session(n, |_| ()));
    let frames: Vec<Packet> = (0..200).map(|number| uplink(&sessions[0], 0, 0, number)).collect();
    bench.send(&frames);
    // Charged, and counted by queue, some time after the device has it.
    let by_queue = |report: &Report| report.ports["n6"].waiting[0].dropped.values().sum::<u64>();
    let is_shown = |report: &Report, sent| charged(report, 0).0 >= sent && by_queue(report) >= 200 - sent;
    let report = bench.settle(200, |report| is_shown(report, report.ports["n6"].transmitted.packets));
    let sent = report.ports["n6"].transmitted.packets;
    // As many as the queue takes, and more; a worker that had to stand still meanwhile drops some as late.
    assert!(report.dropped["queue_full"].packets >= 20 && sent > 0, "{:?}", report.dropped);
    assert_eq!(charged(&report, 0), (sent, sent * (20 + LENGTH as u64)), "as much as left");
    assert_eq!(by_queue(&report), 200 - sent, "drops by queue");
    let unsent = |port: &str| report.ports[port].unsent.values().sum::<u64>();
    assert_eq!((unsent("n6"), unsent("n3")), (200 - sent, 0), "drops by the port that they were to leave by");
    assert_eq!(report.drops().leaving["n6"]["queue_full"], report.dropped["queue_full"].packets);
    assert_eq!(charged(&report, 1), (0, 0));
    // A session that ends while its packets wait: those are dropped, and its last report has what was sent.
    bench.collect(sent as usize);
    let frames: Vec<Packet> = (0..20).map(|number| uplink(&sessions[1], 1, 0, number)).collect();
    bench.send(&frames);
    bench.collect(1);
    bench.smf.delete(&sessions[1]).unwrap();
    let report = bench.stop();
    let (now_sent, of) = (report.ports["n6"].transmitted.packets - sent, charged(&report, 1).0);
    let ended =
        ["queue_ended", "queue_full", "queue_late", "no_session", "unknown_teid"].iter().filter_map(|name| report.dropped.get(*name));
    assert!(of <= now_sent && now_sent - of <= 64, "{of} of {now_sent}");
    assert!(ended.map(|count| count.packets).sum::<u64>() > 0 || now_sent == 20, "{:?}", report.dropped);
}

#[test]
fn a_guaranteed_flow_of_a_session_gets_its_rate_in_a_congested_port_and_slices_share_the_rest() {
    // Of 8 Mbit/s: one session's flow has 4 guaranteed. The others are greedy, in the strict queue; one is in a slice with half as much weight again.
    let slices =
        "[[slice]]\ns_nssai = \"2-0000ff\"\nnetwork_instance = \"internet\"\nweight = 2\n[[slice]]\ns_nssai = \"1\"\nrate_kbps = 800\n";
    let mut bench = Bench::start(51, &format!("{QUEUES}{slices}"));
    let guaranteed = bench.session(0, |plan| plan.qos.gbr_kbps = Some((4000, 1)));
    let of_slice = |slice| move |plan: &mut SessionPlan| plan.slice = Some(slice);
    let (rest, second, third) =
        (bench.session(1, of_slice((2, Some(1)))), bench.session(2, of_slice((2, Some(0xff)))), bench.session(3, of_slice((1, Some(7)))));
    let frames: Vec<Packet> = (0..200)
        .flat_map(|number| {
            let of = |session: &Session, n, dscp| uplink(session, n, dscp, number);
            [of(&rest, 1, 46), of(&second, 2, 46), of(&third, 3, 46), of(&guaranteed, 0, 0)]
        })
        .collect();
    bench.send(&frames);
    let sent = bench.settle(800, |_| true).ports["n6"].transmitted.packets;
    let mut came = bench.collect(sent as usize);
    // As long as the flow had packets. Where the worker could not run for some time, the flow has more: it goes first.
    came.truncate(came.iter().rposition(|frame| of(frame).0 == 0).unwrap() + 1);
    let shares = [0, 1, 2, 3].map(|n| came.iter().filter(|frame| of(frame).0 == n).count());
    let [flow, rest, second, third] = shares;
    // Half of the line; of the rest a tenth of the line at most, and one and two parts.
    assert!(flow * 100 >= came.len() * 45, "{shares:?}");
    assert!(third * 5 <= came.len() + 50, "{shares:?}");
    assert!(rest < 20 || second * 10 >= rest * 13, "{shares:?}");
    let waiting = bench.stop();
    assert_eq!(waiting.ports["n6"].waiting[7].queued, 600);
}

/// Of 8 Mbit/s, in one queue: sessions get parts by what the file gives the first block that they match, one of them by its MBR.
#[test]
fn sessions_share_a_queue_by_the_weights_of_the_file() {
    let shares = "[[share]]\ns_nssai = \"2\"\nweight = 3\n[[share]]\nkbps_per_weight = 100000\n";
    let mut bench = Bench::start(131, &format!("[[queue]]\nnumber = 0\nqueue_ms = 1000\n{shares}"));
    let sessions = [
        bench.session(0, |_| ()),
        bench.session(1, |plan| plan.slice = Some((2, None))),
        bench.session(2, |plan| plan.qos.mbr_kbps = Some((1_000_000, 550_000))),
    ];
    let frames: Vec<Packet> =
        (0..200).flat_map(|number| sessions.iter().enumerate().map(move |(n, session)| uplink(session, n as u8, 0, number))).collect();
    bench.send(&frames);
    let sent = bench.settle(600, |_| true).ports["n6"].transmitted.packets;
    let mut came: Vec<u8> = bench.collect(sent as usize).iter().map(|frame| of(frame).0).collect();
    // Until all are there the line takes what there is; as long as the heaviest has packets.
    came.truncate(came.iter().rposition(|n| *n == 2).unwrap() + 1);
    let shares = [0, 1, 2].map(|n| came[came.len() / 4..].iter().filter(|of| **of == n).count());
    assert!(shares[0] >= 3, "{shares:?}");
    assert!((2.0..=4.0).contains(&(shares[1] as f64 / shares[0] as f64)), "{shares:?}: one and three parts");
    assert!((7.0..=14.0).contains(&(shares[2] as f64 / shares[0] as f64)), "{shares:?}: one and ten parts");
    bench.stop();
}

/// Downlink: what leaves by N3 with a PDU session container waits in the queue of its QFI.
#[test]
fn packets_wait_in_the_queue_of_the_qfi_that_they_leave_with() {
    let blocks = "[[queue]]\nnumber = 7\nstrict = true\nqfi = [5]\nqueue_ms = 1000\n[[queue]]\nnumber = 0\nqueue_ms = 1000\n";
    let mut bench = Bench::start_with(61, Some("access"), blocks);
    let _sessions = [5, 9].map(|qfi| bench.session(qfi, |plan| plan.qos.qfi = Some(qfi)));
    const EACH: u16 = 60;
    let frames: Vec<Packet> = (0..EACH)
        .flat_map(|number| [9, 5].map(|n| marking(packet(REMOTE, ue(n), 64, number, LENGTH), 0)))
        .map(|user| Packet::new(&frame(N6_MAC, ROUTER_MAC, &user), PortId(0)))
        .collect();
    for burst in frames.chunks(64) {
        assert_eq!(bench.n6.transmit(burst).unwrap(), burst.len());
    }
    // Outer headers, GTP-U with a container of 8 bytes, and the user's header: QFI, UE and number.
    let of = |frame: &[u8]| (frame[14 + 20 + 8 + 14] & 0x3f, frame[14 + 20 + 8 + 16 + 19] - 2, u16::from(frame[14 + 20 + 8 + 16 + 20]));
    let (mut came, end) = (Vec::new(), Instant::now() + PATIENCE);
    let mut burst: Vec<Packet> = (0..32).map(|_| Packet::empty(0)).collect();
    while came.len() < frames.len() {
        let n = bench.n3.receive(&mut burst).unwrap();
        came.extend(burst[..n].iter().map(|p| of(p.data())));
        assert!(Instant::now() < end, "{} came", came.len());
        std::thread::yield_now();
    }
    for n in [5, 9] {
        let numbers: Vec<u16> = came.iter().filter(|(_, ue, _)| *ue == n).map(|of| of.2).collect();
        assert!(numbers.iter().copied().eq(0..EACH), "in order, each once: {numbers:?}");
    }
    assert!(came.iter().all(|(qfi, ue, _)| qfi == ue), "{came:?}");
    let last = came.iter().rposition(|(qfi, ..)| *qfi == 5).unwrap();
    let before = came[..last].iter().filter(|(qfi, ..)| *qfi == 9).count();
    assert!(before < usize::from(EACH) / 2, "{before} of the other queue went before the last of the strict one");
    let report = bench.stop();
    let queues: Vec<_> = report.ports["n3"].waiting.iter().map(|of| (of.queued, of.sent.packets)).collect();
    assert_eq!((queues[7], queues[0]), ((60, 60), (60, 60)), "{queues:?}");
    assert!(report.dropped.is_empty(), "{:?}", report.dropped);
}

/// TS 29.244 §5.2.2.2: usage is measured after QoS enforcement. So a threshold counts what has left, and a quota lasts for as much as has left, whatever the
/// queue has dropped of it meanwhile.
#[test]
fn a_quota_lasts_for_what_leaves_a_ports_queue_and_a_threshold_counts_nothing_else() {
    const USER: u64 = 20 + LENGTH as u64;
    const QUOTA: u64 = 200 * USER;
    const THRESHOLD: u64 = 20 * USER;
    // A queue that takes 20 packets.
    let mut bench = Bench::start(71, "[[queue]]\nnumber = 0\nqueue_ms = 20\n");
    let charging = traffic::plan::Charging { volume_threshold: Some(THRESHOLD), period_s: None, volume_quota: Some(QUOTA) };
    let session = bench.session(0, |plan| plan.charging = charging);
    let events = bench.smf.events().unwrap();
    let (mut offered, mut came, end) = (0, 0, Instant::now() + PATIENCE);
    let report = loop {
        let frames: Vec<Packet> = (0..60).map(|number| uplink(&session, 0, 0, number)).collect();
        bench.send(&frames);
        offered += 60;
        let report = bench.settle(offered, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
        let now = report.ports["n6"].transmitted.packets;
        bench.collect((now - std::mem::replace(&mut came, now)) as usize);
        let sent = now * USER;
        // What waited when the quota was filled again may pass it: as much as the queue takes.
        assert!(sent <= QUOTA + 24 * USER, "{sent} of {QUOTA}");
        if sent + USER > QUOTA {
            break report;
        }
        assert!(Instant::now() < end, "{sent} of {QUOTA} after {offered} packets: {:?}", report.dropped);
    };
    let of = |reason: &str| report.dropped.get(reason).map_or(0, |count| count.packets);
    assert!(of("queue_full") + of("queue_late") > 100, "{:?}", report.dropped);
    let sent = report.ports["n6"].transmitted.packets * USER;
    let usage = bench.smf.delete(&session).unwrap();
    assert_eq!(usage.uplink_bytes, sent, "as much as left is billed");
    let reports = events.try_iter().filter(|event| matches!(event, smf::Event::Usage { triggers, .. } if triggers & 2 != 0)).count() as u64;
    assert!((1..=sent / THRESHOLD).contains(&reports), "{reports} reports of {THRESHOLD} bytes for {sent}");
    bench.stop();
}
