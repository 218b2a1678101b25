//! Two network namespaces, the daemon in one, and everything that surrounds a UPF in the other.

use base::{Packet, PortId};
use pktio::{AfXdp, Port};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use traffic::around::{self, AROUND};
use traffic::plan::{Pool, SessionPlan, Shape};
use traffic::smf::{Session, Smf};
use traffic::synth::{self, Synth};
use traffic::{SessionRecord, Tunnel};

/// How long anything may take that does not depend on how busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The EtherType of frames that try an interface.
const PROBE: [u8; 2] = target_xdp::probe::ETHERTYPE.to_be_bytes();
const N4: &str = "10.4.0.1:8805";

/// What a session was sent: (uplink, downlink).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offered {
    pub packets: (u64, u64),
    /// Of user IP packets.
    pub bytes: (u64, u64),
}

/// The far end of an interface, and what must come out of it, in order for each UE address.
pub(crate) struct Side {
    port: Box<dyn Port>,
    burst: Vec<Packet>,
    /// It is a gNodeB's.
    tunnels: bool,
    flows: Vec<Flow>,
    /// Frames of no session.
    pub others: Vec<Vec<u8>>,
    /// TEIDs of tunnels that an End Marker came by (3GPP TS 29.281, 7.3.2), in order.
    pub end_markers: Vec<u32>,
    pub sent: u64,
    pub received: u64,
    /// Frames with which the UPF tried whether this end takes redirected ones: of no port's count.
    pub probes: u64,
    /// Frames by which the UPF told where an address of its is.
    pub announcements: u64,
    /// Frames come by two ways, and so in no order between them.
    pub two_ways: bool,
    /// Sessions change the DSCP of their tunnels while packets wait, and these leave with either.
    pub any_dscp: bool,
}

/// One address of a UE, in one direction.
#[derive(Clone, Default)]
struct Flow {
    due: VecDeque<Due>,
    /// Some may be dropped: the others come in order all the same.
    may_lose: bool,
    /// It has a rate: its connections wait in queues of their own, and are in order each.
    rated: bool,
    /// A session's tunnels to gNodeBs have rising TEIDs, and none that was left is used again: the last one seen, and the last one so far.
    teids: (u32, u32),
    came: Count,
}

/// A frame that must come out.
#[derive(Clone)]
pub(crate) struct Due {
    flow: usize,
    /// See [`Side::name`].
    name: Vec<u8>,
    /// Of the user's IP packet.
    bytes: u64,
    /// Of the tunnel that the session had when it was sent: no earlier one will do.
    teid: u32,
    /// Protocol, addresses and ports of the user's packet.
    connection: Vec<u8>,
}

/// Packets, and bytes of the users' IP packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub packets: u64,
    pub bytes: u64,
}

/// TEIDs of session `n`'s tunnels to gNodeBs: `n + 1`, and this much more with every handover.
pub(crate) const NEXT_TUNNEL: u32 = 1000;

pub(crate) struct Testbed {
    id: String,
    folder: tempfile::TempDir,
    pub n3: Side,
    pub n6: Side,
    /// Whether daemons find out by a frame what interfaces send, as on kernels that do not tell.
    pub probing: bool,
    smf: Option<Arc<Smf>>,
    pub sessions: Vec<Session>,
    synth: Option<Synth>,
    /// By the name of what comes out: the flow that it must belong to, two for each session.
    owners: HashMap<Vec<u8>, usize>,
    pub offered: Vec<Offered>,
    namespaces: Namespaces,
}

/// Removed on drop.
struct Namespaces([String; 2]);

impl Namespaces {
    /// A veth pair from the UPF's to the other one, both ends up.
    fn join(&self, name: &str, near_mac: [u8; 6], far_mac: [u8; 6]) {
        let [upf, far] = &self.0;
        let mac = |m: [u8; 6]| m.map(|b| format!("{b:02x}")).join(":");
        let (near_mac, far_mac) = (mac(near_mac), mac(far_mac));
        let of_each = ["mtu", "1600", "numrxqueues", "1", "numtxqueues", "1"];
        let near = ["link", "add", name, "netns", upf, "address", &near_mac];
        let peer = ["type", "veth", "peer", "name", name, "netns", far, "address", &far_mac];
        run("ip", &[&near[..], &of_each, &peer, &of_each].concat());
        for ns in [upf, far] {
            run("ip", &["-n", ns, "link", "set", name, "up"]);
        }
    }
}

/// With an XDP program at this end, so that redirected frames come through; and bytes as they are.
fn far_end(name: &str) -> Box<dyn Port> {
    let options = pktio::af_xdp::Options { finish_checksums: Some(false), ..Default::default() };
    Box::new(AfXdp::open(name, name, options).unwrap())
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

/// Runs `test` in a thread of the far namespace, or says that it was skipped.
pub(crate) fn testbed_or_skip(name: &str, test: impl FnOnce(Testbed) + Send + 'static) {
    if !testkit::root_or_skip(name) {
        return;
    }
    let thread = std::thread::Builder::new().name(name.to_owned());
    let result = thread.spawn(move || test(Testbed::new())).unwrap().join();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

impl Testbed {
    fn new() -> Testbed {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (upf, far) = (format!("spx-upf-{id}"), format!("spx-far-{id}"));
        let namespaces = Namespaces([upf.clone(), far.clone()]);
        for name in [&upf, &far] {
            run("ip", &["netns", "add", name]);
            // The kernel must add no packet of its own.
            let quiet = "for f in all default; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done; ip link set lo up";
            run("ip", &["netns", "exec", name, "sh", "-c", quiet]);
        }
        for (name, near_mac, far_mac) in
            [("n3", AROUND.n3_mac, AROUND.gnb_mac), ("n6", AROUND.n6_mac, AROUND.dn_mac), ("n4", [2, 0, 0, 0, 4, 1], [2, 0, 0, 0, 4, 2])]
        {
            namespaces.join(name, near_mac, far_mac);
        }
        run("ip", &["-n", &upf, "address", "add", "10.4.0.1/24", "dev", "n4"]);
        run("ip", &["-n", &far, "address", "add", "10.4.0.2/24", "dev", "n4"]);
        let file = std::fs::File::open(format!("/run/netns/{far}")).unwrap();
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        let side = |name: &str| {
            let port = far_end(name);
            let (flows, others, end_markers) = Default::default();
            let burst = (0..64).map(|_| Packet::empty(0)).collect();
            Side {
                port,
                burst,
                tunnels: name == "n3",
                flows,
                others,
                end_markers,
                sent: 0,
                received: 0,
                probes: 0,
                announcements: 0,
                two_ways: false,
                any_dscp: false,
            }
        };
        Testbed {
            id: upf,
            folder: tempfile::tempdir().unwrap(),
            n3: side("n3"),
            n6: side("n6"),
            probing: false,
            smf: None,
            sessions: Vec::new(),
            synth: None,
            owners: HashMap::new(),
            offered: Vec::new(),
            namespaces,
        }
    }

    /// A daemon that is ready.
    pub(crate) fn start_daemon(&mut self, config: &str) -> Daemon {
        Daemon::spawn(self, config).ready()
    }

    /// For files of a test.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// An SMF with an association.
    pub(crate) fn connect(&mut self) {
        let local = SocketAddr::from(([10, 4, 0, 2], 0));
        // An answer may be as late as anything else.
        let config = traffic::smf::Config { n1: PATIENCE.as_secs() as u32, ..traffic::smf::Config::new(local, N4.parse().unwrap()) };
        let smf = Smf::connect(config).unwrap();
        smf.associate().unwrap();
        self.smf = Some(Arc::new(smf));
    }

    pub(crate) fn smf(&self) -> Arc<Smf> {
        self.smf.clone().expect("connected")
    }

    /// Sessions, in active mode.
    pub(crate) fn establish(&mut self, count: u32) {
        self.establish_with(count, |_, _| ());
    }

    /// The same, after each plan was changed.
    pub(crate) fn establish_with(&mut self, count: u32, change: impl Fn(usize, &mut SessionPlan)) {
        for n in 0..count {
            let pool = Pool { ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)), ipv6: Some(("2001:db8:45::".parse().unwrap(), 48)) };
            let gnb = Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 1 };
            let mut plan = SessionPlan::new(Shape::Open5gs, gnb).nth(&pool, n).unwrap();
            change(n as usize, &mut plan);
            let gnb = plan.gnb;
            let mut session = self.smf().establish(&plan).unwrap();
            self.smf().set_active(&mut session, gnb).unwrap();
            self.sessions.push(session);
        }
        let records: Vec<SessionRecord> = self.sessions.iter().map(Session::record).collect();
        let remote_ipv6 = "2001:db8:7::1".parse().unwrap();
        // Few connections where they are told apart, so that each has packets one behind the other.
        let connections = if self.sessions.iter().any(|session| session.plan.qos.mbr_kbps.is_some()) { 3 } else { 0 };
        self.synth = Some(Synth::new(synth::Config { remote_ipv6, connections, ..synth::Config::new(1, AROUND) }, records).unwrap());
        self.offered = vec![Offered::default(); count as usize];
        for (n, session) in self.sessions.iter().enumerate() {
            let teid = session.plan.gnb.teid;
            assert_eq!(teid, n as u32 + 1);
            let rated = session.plan.qos.mbr_kbps.is_some();
            self.n3.flows.extend(vec![Flow { may_lose: rated, rated, teids: (teid, teid), ..Flow::default() }; 2]);
            self.n6.flows.extend(vec![Flow { may_lose: rated, rated, ..Flow::default() }; 2]);
        }
    }

    /// Sends so many frames both ways, and takes what comes out as it comes.
    pub(crate) fn run_traffic(&mut self, count: usize) {
        let all: Vec<usize> = (0..self.sessions.len()).collect();
        self.run_traffic_of(&all, count);
    }

    /// As [`Testbed::run_traffic`], of these sessions only.
    pub(crate) fn run_traffic_of(&mut self, sessions: &[usize], count: usize) {
        for i in 0..count {
            if i % 2 == 0 {
                self.send_uplink_of(&|n, _| sessions.contains(&n));
            } else {
                let due = self.send_downlink_of(&|n, _| sessions.contains(&n));
                self.expect_downlink(vec![due]);
            }
            if i % 32 == 31 {
                self.collect_all();
            }
        }
        self.collect_all();
    }

    /// The next frame of a session that is wanted, by its number and the user's IP version, 4 or 6.
    fn next(&mut self, uplink: bool, wanted: &dyn Fn(usize, u8) -> bool) -> (usize, Vec<u8>) {
        let synth = self.synth.as_mut().unwrap();
        let mut frame = Vec::new();
        loop {
            let made = if uplink { synth.uplink(&mut frame) } else { synth.downlink(&mut frame) };
            if wanted(made.session, frame[made.user.start] >> 4) {
                return (made.session, frame);
            }
        }
    }

    /// Sends an uplink frame of a session that is wanted.
    pub(crate) fn send_uplink_of(&mut self, wanted: &dyn Fn(usize, u8) -> bool) {
        let (n, frame) = self.next(true, wanted);
        let name = AROUND.uplink(&self.sessions[n].record(), &frame).unwrap();
        let bytes = name.len() as u64 - 14;
        self.offered[n].packets.0 += 1;
        self.offered[n].bytes.0 += bytes;
        let flow = flow(n, &name);
        self.owners.insert(name.clone(), flow);
        let connection = connection(&name[14..]);
        self.n6.flows[flow].due.push_back(Due { flow, name, bytes, teid: 0, connection });
        self.n3.send(&frame);
    }

    /// Sends a downlink frame of a session that is wanted; what must come out some day.
    fn send_downlink_of(&mut self, wanted: &dyn Fn(usize, u8) -> bool) -> Due {
        let (n, frame) = self.next(false, wanted);
        let session = &self.sessions[n];
        let (tos, teid, bytes) = (session.plan.dscp.unwrap_or(0) << 2, session.plan.gnb.teid, frame.len() as u64 - 14);
        let name = self.n3.name(&AROUND.downlink(&session.record(), &frame, tos).unwrap());
        self.offered[n].packets.1 += 1;
        self.offered[n].bytes.1 += bytes;
        let flow = flow(n, &frame);
        self.owners.insert(name.clone(), flow);
        self.n6.send(&frame);
        Due { flow, name, bytes, teid, connection: connection(&frame[14..]) }
    }

    /// One more frame up and one down, of these sessions as long as they have so few under way; takes what comes out.
    pub(crate) fn step(&mut self, sessions: &[usize], in_flight: usize) {
        let mut sent = false;
        for uplink in [true, false] {
            let side = if uplink { &self.n6 } else { &self.n3 };
            let free: Vec<usize> = sessions.iter().copied().filter(|n| side.waiting_of(*n) < in_flight).collect();
            if free.is_empty() {
                continue;
            }
            sent = true;
            if uplink {
                self.send_uplink_of(&|n, _| free.contains(&n));
            } else {
                let due = self.send_downlink_of(&|n, _| free.contains(&n));
                self.expect_downlink(vec![due]);
            }
        }
        let came = self.n3.collect_some(&self.owners) + self.n6.collect_some(&self.owners);
        if !sent && came == 0 {
            pktio::wait(&[self.n3.port.fd().unwrap(), self.n6.port.fd().unwrap()], Duration::from_millis(1)).unwrap();
        }
    }

    /// Whether packets of a session are under way in both directions: many of each.
    pub(crate) fn waits_both_ways(&self, n: usize) -> bool {
        self.n3.waiting_of(n).min(self.n6.waiting_of(n)) > 20
    }

    /// Frames of these sessions both ways for so long, always some of them on their way, but no more than so many of each session and direction.
    pub(crate) fn run_busy(&mut self, sessions: &[usize], in_flight: usize, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.step(sessions, in_flight);
        }
        self.collect_all();
    }

    /// Waits until all that was sent before has been dealt with and has arrived: session `n` is on x86, and what enters the UPF by one
    /// interface and leaves it by another is in order, as long as there is one worker. What flows that may lose still lack was dropped, and
    /// nobody waits for it from now on.
    pub(crate) fn fence(&mut self, n: usize) {
        self.pass_through(n);
        self.n3.flows.iter_mut().chain(&mut self.n6.flows).filter(|flow| flow.may_lose).for_each(|flow| flow.due.clear());
    }

    /// The same, but what flows that may lose still lack may come later.
    pub(crate) fn pass_through(&mut self, n: usize) {
        self.send_uplink_of(&|session, version| session == n && version == 4);
        let due = self.send_downlink_of(&|session, version| session == n && version == 4);
        self.expect_downlink(vec![due]);
        let end = Instant::now() + PATIENCE;
        while self.n3.waiting_of(n) + self.n6.waiting_of(n) > 0 {
            assert!(Instant::now() < end, "session {n} has packets under way");
            self.n3.collect(&self.owners);
            self.n6.collect(&self.owners);
        }
    }

    /// How many frames the kernel has (sent, dropped) in the drivers of N3 and N6 so far, by the drivers' own counts: those that ran in XDP.
    pub(crate) fn ran_in_xdp(&self) -> (u64, u64) {
        let [sent, dropped] = self.counted(["_xdp_xmit", "_xdp_drops"]);
        (sent, dropped)
    }

    /// Sums of the drivers' counts in N3 and N6 of the daemon whose names end so.
    pub(crate) fn counted<const N: usize>(&self, ends: [&str; N]) -> [u64; N] {
        let namespace = std::fs::File::open(format!("/run/netns/{}", self.id)).unwrap();
        let counters = move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            ["n3", "n6"].map(|name| target_xdp::sys::veth_counters(name).unwrap())
        };
        let counters = std::thread::spawn(counters).join().unwrap();
        ends.map(|end| counters.iter().flatten().filter(|(name, _)| name.ends_with(end)).map(|(_, n)| n).sum())
    }

    /// The MTU of the far end of N6: frames that are longer do not fit there.
    pub(crate) fn limit_n6(&self, mtu: u32) {
        run("ip", &["link", "set", "n6", "mtu", &mtu.to_string()]);
    }

    /// Uplink frames that have not come were lost.
    pub(crate) fn forget_uplink(&mut self) {
        self.n6.flows.iter_mut().for_each(|flow| flow.due.clear());
    }

    /// Sends to session `n`, one packet after the other, each `arrived` before the next, until they run in XDP, or do not for a time: one or the
    /// other of those of a session that is there may follow earlier ones.
    pub(crate) fn until(&mut self, n: usize, in_xdp: bool, arrived: impl Fn(&mut Testbed)) {
        let end = Instant::now() + PATIENCE;
        let mut in_a_row = 0;
        while in_a_row < if in_xdp { 1 } else { 60 } {
            let before = self.ran_in_xdp();
            let due = self.send_downlink_of(&|session, version| session == n && version == 6);
            self.expect_downlink(vec![due]);
            arrived(self);
            in_a_row = if (self.ran_in_xdp() != before) == in_xdp { in_a_row + 1 } else { 0 };
            assert!(Instant::now() < end, "session {n} does not {} XDP", if in_xdp { "come to" } else { "leave" });
            // A session that moves is young for a while.
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends uplink frames that must not come out.
    pub(crate) fn send_in_vain(&mut self, count: usize) {
        for _ in 0..count {
            let (_, frame) = self.next(true, &|_, _| true);
            self.n3.send(&frame);
        }
    }

    /// Sends a downlink packet to an address that no session has.
    pub(crate) fn send_to_stranger(&mut self, to: Ipv4Addr) {
        let mut packet = Vec::new();
        wire::ipv4::Repr { src: Ipv4Addr::new(198, 51, 100, 7), dst: to, protocol: 253, tos: 0, ttl: 64, payload_len: 40 }
            .emit(&mut packet);
        packet.extend([0; 40]);
        self.n6.send(&[&AROUND.n6_mac[..], &AROUND.dn_mac, &[8, 0], &packet].concat());
    }

    /// Sends downlink frames to a session; what must come out some day.
    pub(crate) fn send_downlink(&mut self, n: usize, count: usize) -> Vec<Due> {
        (0..count).map(|_| self.send_downlink_of(&|session, _| session == n)).collect()
    }

    /// These must come out now.
    pub(crate) fn expect_downlink(&mut self, frames: Vec<Due>) {
        frames.into_iter().for_each(|due| self.n3.flows[due.flow].due.push_back(due));
    }

    /// Waits until all that must come out has come, and nothing else.
    pub(crate) fn collect_all(&mut self) {
        let end = Instant::now() + PATIENCE;
        while self.n3.waiting() + self.n6.waiting() > 0 {
            assert!(Instant::now() < end, "{} and {} frames did not come out of n3 and n6", self.n3.waiting(), self.n6.waiting());
            self.n3.collect(&self.owners);
            self.n6.collect(&self.owners);
        }
    }

    /// Takes what has come out by now.
    pub(crate) fn collect_some(&mut self) {
        self.n3.collect(&self.owners);
        self.n6.collect(&self.owners);
    }

    /// From now on the data network's end has no XDP program, and so takes no redirected frames; waits until the UPF has noticed.
    pub(crate) fn end_xdp_at_n6(&mut self) {
        // Both need not be there at once: a port of another kind in between.
        self.n6.port = Box::new(pktio::memory::pair("none", "none", 64).0);
        self.n6.port = Box::new(pktio::AfPacket::open("n6", "n6", Default::default()).unwrap());
        self.until_carried(true);
    }

    /// Deletes N6's interface and makes it anew; waits until the UPF carries packets both ways again. What was sent meanwhile may be lost.
    pub(crate) fn make_n6_anew(&mut self) {
        self.n6.port = Box::new(pktio::memory::pair("none", "none", 64).0);
        run("ip", &["-n", &self.id, "link", "delete", "n6"]);
        self.namespaces.join("n6", AROUND.n6_mac, AROUND.dn_mac);
        self.n6.port = far_end("n6");
        self.until_carried(true);
        self.until_carried(false);
    }

    /// One more interface of the UPF's, whose other end nobody has.
    pub(crate) fn join(&self, name: &str) {
        self.namespaces.join(name, [2, 0, 0, 0, 9, 1], [2, 0, 0, 0, 9, 2]);
    }

    /// Sets something of an interface of the UPF's.
    pub(crate) fn set_link(&self, name: &str, what: &[&str]) {
        run("ip", &[&["-n", &self.id, "link", "set", name], what].concat());
    }

    /// One more interface to the data network, with N6's MAC addresses. What is due at N6 may come out of it; the data network sends
    /// by the one whose number is stored in what this returns, 0 or 1.
    pub(crate) fn join_beside_n6(&mut self, name: &str) -> Arc<AtomicUsize> {
        self.namespaces.join(name, AROUND.n6_mac, AROUND.dn_mac);
        let first = std::mem::replace(&mut self.n6.port, Box::new(pktio::memory::pair("none", "none", 64).0));
        let sends_by = Arc::new(AtomicUsize::new(0));
        self.n6.port = Box::new(TwoWays { ways: [first, far_end(name)], sends_by: sends_by.clone() });
        self.n6.two_ways = true;
        sends_by
    }

    /// Waits until all has come out; from now on the UPF has one interface to the data network again.
    pub(crate) fn one_way_again(&mut self) {
        self.collect_all();
        self.n6.two_ways = false;
    }

    /// Sends frames of every session and IP version, one by one until one comes out, and then waits until the last has: they may be late. What did
    /// not come out before that is nobody's.
    pub(crate) fn until_carried(&mut self, uplink: bool) {
        self.until_carried_of(self.sessions.len(), uplink);
    }

    /// As [`Testbed::until_carried`], of the first so many sessions.
    pub(crate) fn until_carried_of(&mut self, sessions: usize, uplink: bool) {
        // For each flow what was sent, and the last of it that has come out.
        let mut tries: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 2 * sessions];
        let mut came: Vec<Option<usize>> = vec![None; tries.len()];
        let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
        let end = Instant::now() + PATIENCE;
        while came.iter().zip(&tries).any(|(came, tries)| came.is_none_or(|came| came + 1 < tries.len())) {
            assert!(Instant::now() < end, "uplink {uplink}: of {:?} came {came:?}", tries.iter().map(Vec::len).collect::<Vec<_>>());
            for flow in (0..tries.len()).filter(|flow| came[*flow].is_none()) {
                let (n, frame) = self.next(uplink, &|n, version| (n, version) == (flow / 2, if flow % 2 == 0 { 4 } else { 6 }));
                let record = self.sessions[n].record();
                if uplink {
                    tries[flow].push(AROUND.uplink(&record, &frame).unwrap());
                    self.n3.send(&frame);
                } else {
                    tries[flow].push(self.n3.name(&AROUND.downlink(&record, &frame, 0).unwrap()));
                    self.n6.send(&frame);
                }
            }
            let side = if uplink { &mut self.n6 } else { &mut self.n3 };
            pktio::wait(&[side.port.fd().unwrap()], Duration::from_millis(20)).unwrap();
            let n = side.port.receive(&mut packets).unwrap();
            for name in packets[..n].iter().map(|p| side.name(p.data())) {
                for (came, tries) in came.iter_mut().zip(&tries) {
                    *came = tries.iter().position(|out| *out == name).max(*came);
                }
            }
        }
    }

    /// An echo request to the UPF's own address, and its reply (RFC 792).
    pub(crate) fn ping_the_upf(&mut self) {
        let mut request =
            [&AROUND.n6_mac[..], &AROUND.dn_mac, &[8, 0, 0x45, 0, 0, 60, 0, 1, 0, 0, 64, 1, 0, 0, 10, 6, 0, 2, 10, 6, 0, 1]].concat();
        let sum = checksum(&request[14..]);
        request[24..26].copy_from_slice(&sum.to_be_bytes());
        let mut echo = vec![8, 0, 0, 0, 0x12, 0x34, 0, 1];
        echo.extend(0..32);
        let sum = checksum(&echo);
        echo[2..4].copy_from_slice(&sum.to_be_bytes());
        request.extend(&echo);
        self.n6.send(&request);
        let end = Instant::now() + PATIENCE;
        while self.n6.others.is_empty() {
            assert!(Instant::now() < end, "no echo reply");
            self.n6.collect(&self.owners);
        }
        let reply = self.n6.others.remove(0);
        assert_eq!((&reply[..12], &reply[26..34]), (&[AROUND.dn_mac, AROUND.n6_mac].concat()[..], &[10, 6, 0, 1, 10, 6, 0, 2][..]));
        assert_eq!((reply[34], &reply[38..], checksum(&reply[34..])), (0, &echo[4..], 0));
    }

    pub(crate) fn set_idle(&mut self, n: usize) {
        self.smf().set_idle(&self.sessions[n]).unwrap();
    }

    pub(crate) fn set_active(&mut self, n: usize) {
        let gnb = self.sessions[n].plan.gnb;
        self.smf().set_active(&mut self.sessions[n], gnb).unwrap();
    }

    pub(crate) fn ue(&self, n: usize) -> Ipv4Addr {
        self.sessions[n].record().ue_ipv4.unwrap()
    }

    pub(crate) fn session_of(&self, ue: Ipv4Addr) -> usize {
        (0..self.sessions.len()).find(|n| self.ue(*n) == ue).unwrap()
    }

    /// What each was charged, by UE: bytes (uplink, downlink).
    pub(crate) fn delete_sessions(&mut self) -> HashMap<Ipv4Addr, (u64, u64)> {
        for session in &self.sessions {
            self.smf().delete(session).unwrap();
        }
        self.smf().release().unwrap();
        let charged = self.smf().report().sessions;
        charged.iter().map(|s| (s.ue_ipv4.unwrap(), (s.uplink_bytes, s.downlink_bytes))).collect()
    }

    /// The UPF that held them is gone.
    pub(crate) fn forget_sessions(&mut self) {
        self.smf = None;
        self.sessions.clear();
        self.owners.clear();
    }

    pub(crate) fn program_runs_on(&self, interface: &str) -> bool {
        run("ip", &["-n", &self.id, "-d", "link", "show", interface]).contains("prog/xdp")
    }

    pub(crate) fn wait_until_free(&self, interface: &str) {
        let end = Instant::now() + PATIENCE;
        while self.program_runs_on(interface) {
            assert!(Instant::now() < end, "the program stays on {interface}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A UPF between the two, that share of the sessions on the fast target.
    pub(crate) fn config(fast: &str, share: f64) -> String {
        let config = around::config(N4.parse().unwrap());
        format!("{config}[split]\nfast = \"{fast}\"\npolicy = {{ share = {share:?} }}\n")
    }
}

/// Of this many packets sent to an idle UE, those that came before the SMF's answer to the report waited, and all of them left. The first brings
/// the report, so the last may come after the answer.
pub(crate) fn assert_paged(report: &serde_json::Value, sent: u64) {
    let [buffered, released] = ["buffered", "released"].map(|key| report[key]["packets"].as_u64().unwrap());
    assert!(buffered == released && (1..=sent).contains(&buffered), "{buffered} waited, {released} left: {report:#}");
}

/// Where a frame in a tunnel has its message type and its TEID, behind headers without options.
const GTPU_TYPE: usize = 43;
const TEID: std::ops::Range<usize> = 46..50;
const END_MARKER: u8 = 254;

/// ARP for its own sender (RFC 5227 §3), or a neighbour advertisement that nobody asked for (RFC 4861 §7.2.6).
fn is_announcement(frame: &[u8]) -> bool {
    frame[12..14] == [8, 6] && frame[28..32] == frame[38..42]
        || frame[..2] == [0x33, 0x33] && frame[12..14] == [0x86, 0xdd] && frame[54] == 136
}

/// A far end of two interfaces.
struct TwoWays {
    ways: [Box<dyn Port>; 2],
    sends_by: Arc<AtomicUsize>,
}

impl Port for TwoWays {
    fn name(&self) -> &str {
        "two ways"
    }
    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, pktio::PortError> {
        let n = self.ways[0].receive(packets)?;
        Ok(n + self.ways[1].receive(&mut packets[n..])?)
    }
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, pktio::PortError> {
        self.ways[self.sends_by.load(Ordering::Relaxed)].transmit(packets)
    }
    fn flush(&mut self) -> Result<(), pktio::PortError> {
        self.ways[self.sends_by.load(Ordering::Relaxed)].flush()
    }
    fn max_frame(&self) -> usize {
        self.ways[1].max_frame()
    }
    fn device_drops(&mut self) -> pktio::DeviceDrops {
        self.ways[1].device_drops()
    }
    fn fd(&self) -> Option<std::os::fd::RawFd> {
        self.ways[self.sends_by.load(Ordering::Relaxed)].fd()
    }
}

/// Protocol, addresses and ports of an IP packet without options.
fn connection(packet: &[u8]) -> Vec<u8> {
    if packet[0] >> 4 == 6 { [&packet[6..7], &packet[8..44]].concat() } else { [&packet[9..10], &packet[12..24]].concat() }
}

/// Of a session's two addresses, by a frame with the user's packet outside.
fn flow(session: usize, frame: &[u8]) -> usize {
    2 * session + usize::from(frame[12] != 8)
}

impl Side {
    /// What a frame that comes out of here is known by: itself, but for the tunnel that it came by.
    fn name(&self, frame: &[u8]) -> Vec<u8> {
        let mut name = frame.to_vec();
        if self.tunnels && name.len() >= TEID.end {
            name[TEID].fill(0);
            if self.any_dscp {
                // Of the tunnel's header, whose checksum goes with it.
                name[15] = 0;
                name[24..26].fill(0);
            }
        }
        name
    }

    pub(crate) fn send(&mut self, frame: &[u8]) {
        let packet = [Packet::new(frame, PortId(0))];
        let end = Instant::now() + PATIENCE;
        while self.port.transmit(&packet).unwrap() == 0 {
            assert!(Instant::now() < end, "cannot send");
        }
        self.port.flush().unwrap();
        self.sent += 1;
    }

    /// Frames that must still come out.
    pub(crate) fn waiting(&self) -> usize {
        self.flows.iter().map(|flow| flow.due.len()).sum()
    }

    fn waiting_of(&self, n: usize) -> usize {
        self.flows[2 * n..2 * n + 2].iter().map(|flow| flow.due.len()).sum()
    }

    /// What has come out of session `n`.
    pub(crate) fn came(&self, n: usize) -> Count {
        let [a, b] = [self.flows[2 * n].came, self.flows[2 * n + 1].came];
        Count { packets: a.packets + b.packets, bytes: a.bytes + b.bytes }
    }

    /// From now on packets of session `n` may be dropped, or not.
    pub(crate) fn may_lose(&mut self, n: usize, may_lose: bool) {
        self.flows[2 * n..2 * n + 2].iter_mut().for_each(|flow| flow.may_lose = may_lose);
    }

    /// Session `n` is about to have this tunnel.
    pub(crate) fn expect_tunnel(&mut self, n: usize, teid: u32) {
        self.flows[2 * n..2 * n + 2].iter_mut().for_each(|flow| flow.teids.1 = teid);
    }

    fn collect(&mut self, owners: &HashMap<Vec<u8>, usize>) {
        if self.collect_some(owners) == 0 {
            pktio::wait(&[self.port.fd().unwrap()], Duration::from_millis(1)).unwrap();
        }
    }

    /// Takes what has come out by now; how many frames.
    fn collect_some(&mut self, owners: &HashMap<Vec<u8>, usize>) -> usize {
        let mut burst = std::mem::take(&mut self.burst);
        let n = self.port.receive(&mut burst).unwrap();
        for packet in &burst[..n] {
            if packet.data()[12..14] == PROBE {
                self.probes += 1;
                continue;
            }
            if is_announcement(packet.data()) {
                self.announcements += 1;
                continue;
            }
            self.received += 1;
            let (teid, kind) = match packet.data().get(TEID) {
                Some(teid) if self.tunnels => (u32::from_be_bytes(teid.try_into().unwrap()), packet.data()[GTPU_TYPE]),
                _ => (0, 0),
            };
            if kind == END_MARKER && packet.data()[23] == 17 {
                // Nothing comes by that tunnel any more.
                let first = 2 * (teid % NEXT_TUNNEL - 1) as usize;
                self.flows[first..first + 2].iter_mut().for_each(|flow| flow.teids.0 = teid + NEXT_TUNNEL);
                self.end_markers.push(teid);
                continue;
            }
            let name = self.name(packet.data());
            let Some(flow) = owners.get(&name) else {
                self.others.push(packet.data().to_vec());
                continue;
            };
            let Flow { due, may_lose, rated, teids, came } = &mut self.flows[*flow];
            let at = due.iter().position(|due| due.name == name);
            let may = at == Some(0) || at.is_some() && (*may_lose || self.two_ways);
            assert!(may, "flow {flow}: {packet:?} at place {at:?} of {}", due.len());
            let found = if self.two_ways || *rated { due.remove(at.unwrap()) } else { due.drain(..=at.unwrap()).next_back() }.unwrap();
            if *rated {
                // What its connection sent before was dropped, or comes when nobody expects it any more.
                let (mut place, before) = (0, at.unwrap());
                due.retain(|other| {
                    place += 1;
                    place > before || other.connection != found.connection
                });
            }
            let due = found;
            assert!((due.teid.max(teids.0)..=teids.1).contains(&teid), "flow {flow}: tunnel {teid}; sent in {}, {teids:?}", due.teid);
            teids.0 = teid;
            came.packets += 1;
            came.bytes += due.bytes;
        }
        assert!(self.others.iter().all(|f| f[12..14] == [8, 0] && f[23] == 1), "frames that nobody expects: {:02x?}", self.others);
        self.burst = burst;
        n
    }
}

/// A running daemon, killed on drop.
pub(crate) struct Daemon {
    child: Child,
    config: std::path::PathBuf,
    report: std::path::PathBuf,
    log: std::path::PathBuf,
}

impl Daemon {
    pub(crate) fn spawn(bed: &Testbed, config: &str) -> Daemon {
        Daemon::start(bed, config, if bed.probing { &["env", "SPLITPLANE_XDP_PROBE=1"] } else { &[] })
    }

    /// Without these capabilities (`bpf`).
    pub(crate) fn spawn_without(bed: &Testbed, config: &str, dropped: &[&str]) -> Daemon {
        let set: String = dropped.iter().map(|name| format!(",-{name}")).collect();
        Daemon::start(bed, config, &["setpriv", "--bounding-set", set.trim_start_matches(',')])
    }

    /// With these capabilities only, by a command in front.
    pub(crate) fn spawn_with(bed: &Testbed, config: &str, kept: &[&str], before: &[&str]) -> Daemon {
        let set: String = kept.iter().map(|name| format!(",+{name}")).collect();
        Daemon::start(bed, config, &[before, &["setpriv", "--bounding-set", &format!("-all{set}")]].concat())
    }

    /// By this command.
    pub(crate) fn start(bed: &Testbed, config: &str, before: &[&str]) -> Daemon {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = |end: &str| bed.folder.path().join(format!("{}.{end}", NEXT.load(Ordering::Relaxed)));
        NEXT.fetch_add(1, Ordering::Relaxed);
        let (file, report, log) = (path("toml"), path("json"), path("log"));
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &bed.id]).args(before).arg(env!("CARGO_BIN_EXE_splitplane"));
        command.arg("run").arg("--config").arg(&file).arg("--report").arg(&report).arg("--until-input-ends");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
        Daemon { child: command.spawn().unwrap(), config: file, report, log }
    }

    /// Waits until it carries packets.
    pub(crate) fn ready(mut self) -> Daemon {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "{}", self.said());
        self
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its configuration file.
    pub(crate) fn config(&self) -> &std::path::Path {
        &self.config
    }

    pub(crate) fn signal(&self, signal: &str) {
        run("kill", &[signal, &self.child.id().to_string()]);
    }

    /// What it reports now.
    pub(crate) fn report(&self) -> serde_json::Value {
        let _ = std::fs::remove_file(&self.report);
        self.signal("-USR1");
        let end = Instant::now() + PATIENCE;
        loop {
            if let Ok(text) = std::fs::read_to_string(&self.report) {
                return serde_json::from_str(&text).unwrap();
            }
            assert!(Instant::now() < end, "no report: {}", self.said());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends it; its report.
    pub(crate) fn stop(mut self) -> serde_json::Value {
        drop(self.child.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.said());
        serde_json::from_str(&std::fs::read_to_string(&self.report).unwrap()).unwrap()
    }

    /// SIGKILL: no destructor runs.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it ends by itself; whether that was well, and what it logged.
    pub(crate) fn end(mut self) -> (bool, String) {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        (status.success(), self.said())
    }

    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn run(program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program).args(arguments).output().unwrap();
    assert!(out.status.success(), "{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}
