//! A whole UPF: N4 messages and frames in any order, with the shipped program in the interpreter as data plane.
//!
//! An input is a list of events, each an octet of [`Kind`] and parameter, a 16-bit length, and bytes. What must hold: the node, the
//! plane and the tables never disagree, every batch fits the program, every frame sent is one, and at the end nothing is left behind.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base::{MAX_PACKET, PortId, VerdictKind};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use pfcp::codec::{NodeId, decode};
use pfcp::config::{Config, GtpuAddress};
use pfcp::node::Node;
use program::{ApplyError, Batch, CounterId, RuleError};
use upf::config::{NetworkConfig, PortConfig, Role, Route, Via};
use upf::host::Action;
use upf::plane::{BufferFate, DataPlane, InUse, Plane, SessionInfo};
use wire::ethernet::Frame;

use super::pfcp::{CP_ADDRESS, association_setup};

/// Our address on N3, and of tunnels.
pub const N3_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 1);
/// Our MAC address on N3.
pub const N3_MAC: [u8; 6] = [2, 0, 0, 0, 0, 3];
/// Our MAC address on N6.
pub const N6_MAC: [u8; 6] = [2, 0, 0, 0, 0, 6];
const N3: PortId = PortId(0);
const N6: PortId = PortId(128);
/// Events of an input at most.
const MAX_EVENTS: usize = 40;
/// Passes through the pipeline that one frame may cause: released packets may all be of use, but their number has an end.
const MAX_PASSES: usize = 500;
/// Packets kept for one PDR.
const MAX_BUFFERED: usize = 8;
/// Room for sessions: few, so that tables fill.
const SESSIONS: &str = "16";

/// What an event is, in the two low bits of its first octet.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A datagram on N4.
    N4 = 0,
    /// A frame on N3. If the parameter is not zero, the host gets it too, as if punted for the reason of that number.
    N3 = 1,
    /// A frame on N6; so too.
    N6 = 2,
    /// Time passes: as many times 100 ms as the parameter says.
    Time = 3,
}

/// Plays `data` as a list of events.
pub fn run(data: &[u8]) {
    let mut upf = Upf::new();
    for (kind, parameter, bytes) in events(data).take(MAX_EVENTS) {
        upf.now += Duration::from_millis(1);
        match kind {
            Kind::N4 => upf.receive_n4(bytes),
            Kind::N3 => upf.receive_frame(N3, bytes, parameter),
            Kind::N6 => upf.receive_frame(N6, bytes, parameter),
            Kind::Time => upf.pass(Duration::from_millis(100) * u32::from(parameter)),
        }
        upf.check();
    }
    upf.end();
}

/// Reads events; a length beyond the end is cut to it.
fn events(mut data: &[u8]) -> impl Iterator<Item = (Kind, u8, &[u8])> {
    std::iter::from_fn(move || {
        let [head, high, low, rest @ ..] = data else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (bytes, rest) = rest.split_at(length);
        data = rest;
        let kind = [Kind::N4, Kind::N3, Kind::N6, Kind::Time][usize::from(head & 3)];
        Some((kind, head >> 2, bytes))
    })
}

struct Upf {
    node: Node,
    plane: Plane<Interpreter>,
    now: Duration,
    /// Entries in the tables of sessions and filters before there is any.
    entries_at_start: Vec<u64>,
}

impl Upf {
    /// With one SMF associated.
    fn new() -> Upf {
        let machine = Machine::new(PROGRAM.clone()).expect("the shipped program can run");
        let data = Interpreter { machine, buffered: BTreeMap::new(), released: VecDeque::new() };
        let mut plane = Plane::new(&network(), &PROGRAM.program, data).expect("the configuration fits the shipped program");
        let initial = plane.initial_batch().clone();
        plane.data_mut().machine.apply(&initial).expect("the configuration fits the tables");
        let node = Node::new(node_config()).expect("the configuration is valid");
        let mut upf = Upf { node, plane, now: Duration::from_secs(1), entries_at_start: Vec::new() };
        upf.entries_at_start = upf.session_entries();
        upf.receive_n4(&association_setup());
        assert_eq!(upf.node.associations().count(), 1);
        upf
    }

    fn receive_n4(&mut self, datagram: &[u8]) {
        self.node.receive(SocketAddr::from((CP_ADDRESS, 8805)), datagram, self.now, &mut self.plane);
        self.pipeline(VecDeque::new());
    }

    fn receive_frame(&mut self, port: PortId, frame: &[u8], punt_as: u8) {
        let frame = &frame[..frame.len().min(MAX_PACKET)];
        self.pipeline(VecDeque::from([(port, frame.to_vec())]));
        if punt_as != 0 {
            // Whatever is punted for whatever reason: the host does not trust the pipeline to have understood it.
            let actions = self.plane.punt(frame, port, punt_as, u32::from(punt_as), self.now);
            let again = self.act(actions);
            self.pipeline(again);
        }
    }

    /// All that is due in `time` is done at its end.
    fn pass(&mut self, time: Duration) {
        self.now += time;
        let actions = self.plane.poll(self.now);
        let again = self.act(actions);
        self.pipeline(again);
        self.node.poll_usage(self.now, &mut self.plane);
        self.node.handle_timeout(self.now, &mut self.plane);
    }

    /// Runs frames and what they release until there is nothing left to do.
    fn pipeline(&mut self, mut frames: VecDeque<(PortId, Vec<u8>)>) {
        for _ in 0..MAX_PASSES {
            frames.extend(self.plane.data_mut().released.drain(..));
            let Some((port, frame)) = frames.pop_front() else { return };
            let time_ns = self.now.as_nanos() as u64;
            let out = self.plane.data_mut().machine.process(&frame, port, time_ns, Mode::Whole);
            let (verdict, bytes) = (out.verdict, out.bytes.to_vec());
            match verdict.kind {
                VerdictKind::Forward => self.sent(PortId(verdict.port), &bytes),
                VerdictKind::Punt => {
                    let actions = self.plane.punt(&bytes, port, verdict.reason, verdict.mark, self.now);
                    frames.extend(self.act(actions));
                }
                VerdictKind::Buffer => self.buffer(verdict.mark, port, frame),
                VerdictKind::Drop => assert_ne!(verdict.reason, 0, "dropped without a reason: {frame:02x?}"),
                VerdictKind::Next | VerdictKind::Kept | VerdictKind::Resume | VerdictKind::Shape => {
                    panic!("the whole program has no next, calls no service, and polices rates")
                }
            }
        }
        panic!("one event causes {MAX_PASSES} passes through the pipeline and more");
    }

    fn buffer(&mut self, pdr: u32, port: PortId, frame: Vec<u8>) {
        let (seid, pdr_id) = self.plane.pdr(pdr).unwrap_or_else(|| panic!("buffered for PDR number {pdr}, which is nobody's"));
        let waiting = self.plane.data_mut().buffered.entry(pdr).or_default();
        if waiting.len() < MAX_BUFFERED {
            waiting.push_back((port, frame));
        }
        self.node.downlink_data(seid, pdr_id, self.now);
    }

    /// Does what the host wants; gives the frames that go round again.
    fn act(&mut self, actions: Vec<Action>) -> VecDeque<(PortId, Vec<u8>)> {
        let mut again = VecDeque::new();
        for action in actions {
            match action {
                Action::Transmit { port, frame } => self.sent(port, &frame),
                Action::Reinject { port, frame } => again.push_back((port, frame)),
                Action::Apply(batch) => self.plane.data_mut().apply(&batch).expect("there is room for every neighbour"),
                Action::ErrorIndication { peer, teid } => self.node.error_indication(teid, IpAddr::V4(peer), self.now),
                Action::Path { peer, works } => self.node.gtpu_path(peer, works, self.now),
                Action::EndMarker { .. } => panic!("the plane hands End Markers on"),
                Action::Resolved { number } => {
                    let (host, data) = self.plane.host_and_data();
                    let released = host.release(number, []);
                    data.apply(&released.batch).expect("the neighbour has its entry");
                    again.extend(released.packets);
                    released.own.iter().for_each(|(port, frame)| self.sent(*port, frame));
                }
                Action::Drop { reason } | Action::Unsent { reason } => assert!(!reason.is_empty()),
            }
        }
        again
    }

    fn sent(&self, port: PortId, frame: &[u8]) {
        assert!(port == N3 || port == N6, "sent by port {port}");
        assert!(frame.len() <= MAX_PACKET && Frame::new_checked(frame).is_ok(), "sent {frame:02x?}");
    }

    fn check(&mut self) {
        assert_eq!(self.node.session_count() + self.node.sessions_ending(), self.plane.in_use().sessions);
        assert_eq!(self.plane.host().fates().imbalance(), 0, "a punted packet has no fate: {:?}", self.plane.host().fates());
        while let Some((_, octets)) = self.node.poll_transmit() {
            assert!(decode(&octets).is_ok(), "we sent {octets:02x?}");
        }
    }

    fn end(mut self) {
        self.node.release_all(self.now);
        while self.node.sessions_ending() > 0 {
            self.check();
            self.node.handle_timeout(self.now, &mut self.plane);
        }
        self.check();
        assert_eq!(self.plane.in_use(), InUse::default());
        assert_eq!(self.session_entries(), self.entries_at_start);
        assert!(self.plane.data().buffered.is_empty(), "packets wait for sessions that are gone");
    }

    fn session_entries(&self) -> Vec<u64> {
        let tables = self.plane.ids().tables;
        let of_sessions =
            [tables.pdr_by_teid, tables.pdr_by_ue_ipv4, tables.pdr_by_ue_ipv6, tables.pdr_by_class, tables.sdf_ipv4, tables.sdf_ipv6];
        of_sessions.map(|table| self.plane.data().machine.table_stats(table).entries).to_vec()
    }
}

/// The data plane, one packet at a time.
struct Interpreter {
    machine: Machine,
    /// By PDR number.
    buffered: BTreeMap<u32, VecDeque<(PortId, Vec<u8>)>>,
    /// Waiting to pass through the pipeline again.
    released: VecDeque<(PortId, Vec<u8>)>,
}

impl Interpreter {
    fn apply(&mut self, batch: &Batch) -> Result<(), RuleError> {
        let result = self.machine.apply(batch);
        // Two sessions may want one key, and tables fill up. All else is a fault of who made the batch.
        if let Err(error @ (RuleError::Invalid { .. } | RuleError::Missing { .. })) = &result {
            panic!("{error}: {batch:?}");
        }
        result
    }
}

impl DataPlane for Interpreter {
    fn apply(&mut self, _: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.apply(batch)?;
        for (pdr, fate) in buffers {
            let packets = self.buffered.remove(pdr).unwrap_or_default();
            if *fate == BufferFate::Release {
                self.released.extend(packets);
            }
        }
        Ok(())
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> target_api::Count {
        let count = self.machine.counter(counter, cell);
        target_api::Count { packets: count.packets, bytes: count.bytes }
    }

    fn transmit(&mut self, _: PortId, frame: Vec<u8>) {
        assert!(Frame::new_checked(&frame).is_ok(), "sent {frame:02x?}");
    }
}

static PROGRAM: LazyLock<Arc<Ir>> = LazyLock::new(|| {
    // The folder of the crate that this file is compiled into is one or two below the repository's.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let file = folders.find_map(|folder| Some(folder.join("p4/upf.p4")).filter(|file| file.is_file()));
    let options = p4_check::Options { defines: BTreeMap::from([("SESSIONS".into(), SESSIONS.into())]), ..Default::default() };
    let compiled = p4_check::compile_file(&file.expect("the repository has p4/upf.p4"), &options);
    let mut ir = compiled.unwrap_or_else(|failure| panic!("{failure}")).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(ir)
});

/// N3, and N6 behind a router.
fn network() -> NetworkConfig {
    let port = |id, name: &str, mac, addresses, role| PortConfig {
        id,
        name: name.into(),
        mac,
        mtu: 1500,
        addresses,
        network_instance: name.into(),
        role,
        gtpu_endpoints: vec![],
        proxy_prefixes: vec![],
        ..PortConfig::default()
    };
    let n6_v6: IpAddr = "fd00:6::1".parse().expect("an address");
    let n6_addresses = vec![(IpAddr::from([10, 0, 6, 1]), 24), (n6_v6, 64)];
    let router = Via::Gateway(IpAddr::from([10, 0, 6, 254]));
    NetworkConfig {
        ports: vec![
            PortConfig { gtpu_endpoints: vec![N3_ADDRESS], ..port(N3, "access", N3_MAC, vec![(N3_ADDRESS.into(), 24)], Role::Access) },
            PortConfig {
                proxy_prefixes: vec![(IpAddr::from([10, 45, 0, 0]), 16)],
                ..port(N6, "internet", N6_MAC, n6_addresses, Role::Core)
            },
        ],
        routes: vec![Route { network_instance: "internet".into(), prefix: (IpAddr::from([0, 0, 0, 0]), 0), via: router }],
        ..NetworkConfig::default()
    }
}

fn node_config() -> Config {
    Config {
        gtpu: vec![GtpuAddress { ipv4: N3_ADDRESS, network_instance: None, interface: None, default: false }],
        max_sessions: 6,
        max_rules_per_session: 32,
        max_answers: 16,
        max_outstanding: 16,
        ..Config::new(NodeId::Ipv4(N3_ADDRESS), IpAddr::V4(N3_ADDRESS), 0xe000_0000)
    }
}
