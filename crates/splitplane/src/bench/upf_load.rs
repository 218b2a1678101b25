//! What `bench upf` runs: sessions installed by the real user plane, and frames that hit them.

use super::{OneLane, load_x86};
use crate::failure::Failure;
use base::PortId;
use pfcp::rules::{ApplyAction, FTeid, Far, Forwarding, Interface, OuterHeader, Pdi, Pdr, Qer, SessionRules, UeIp, Urr, UserPlane};
use program::{Batch, CounterId, RuleError};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use target::{Count, Lane, Target};
use upf::plane::{BufferFate, Plane, SessionInfo};

const N3: PortId = PortId(0);
const N6: PortId = PortId(128);
const UPF_N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
const N3_MAC: [u8; 6] = [2, 0, 0, 0, 3, 1];
const N6_MAC: [u8; 6] = [2, 0, 0, 0, 6, 1];
/// Length of the user's IP packet: a 64-byte Ethernet frame (with its check sequence) without Ethernet.
const USER_PACKET: usize = 46;
/// Frames prepared at most: they go round.
const FRAMES: usize = 65_536;

/// Direction of user packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the network: GTP-U is taken off.
    Uplink,
    /// Towards the UE: GTP-U is put on.
    Downlink,
}

impl Direction {
    /// Port that its packets come in by.
    pub fn port(self) -> PortId {
        if self == Direction::Uplink { N3 } else { N6 }
    }
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(if *self == Direction::Uplink { "uplink" } else { "downlink" })
    }
}

/// Sessions on x86 and on the interpreter, and frames for them.
pub struct Load {
    /// The contestant.
    pub x86_lane: Box<dyn Lane>,
    /// Baseline and judge.
    pub oracle_lane: Box<dyn Lane>,
    uplink: Vec<Vec<u8>>,
    downlink: Vec<Vec<u8>>,
    _plane: Plane<Both>,
}

impl Load {
    /// Installs so many sessions by the real lowering.
    pub fn new(sessions: u32) -> Result<Load, Failure> {
        let ir = Arc::new(crate::program::compile(Path::new("upf.p4"), &[], &[])?);
        let x86 = load_x86(&ir)?;
        let oracle = target_asic::Asic::oracle(ir.clone()).map_err(|e| Failure::Failed(e.to_string()))?;
        let (x86_lane, oracle_lane) = (x86.lane(0), oracle.lane(0));
        let data = Both { x86: Box::new(x86), oracle: Box::new(oracle) };
        let mut plane = Plane::new(&network(), &ir.program, data).map_err(|e| Failure::Failed(e.to_string()))?;
        let initial = plane.initial_batch().clone();
        plane.data_mut().apply(&initial).map_err(|e| Failure::Failed(e.to_string()))?;
        for n in 0..sessions {
            plane.commit(u64::from(n) + 1, Some(&rules(n))).map_err(|e| Failure::Failed(format!("session {n}: {e:?}")))?;
        }
        let order = order(sessions);
        let uplink = order.iter().map(|n| uplink_frame(*n)).collect();
        let downlink = order.iter().map(|n| downlink_frame(*n)).collect();
        Ok(Load { x86_lane, oracle_lane, uplink, downlink, _plane: plane })
    }

    /// The frames of a direction, in random order of sessions.
    pub fn frames(&self, direction: Direction) -> &[Vec<u8>] {
        if direction == Direction::Uplink { &self.uplink } else { &self.downlink }
    }
}

/// `p4wire.p4` on x86: what ports and bursts cost without a pipeline.
pub(super) fn wire() -> Result<OneLane, Failure> {
    let ir = crate::program::compile(Path::new("p4wire.p4"), &[], &[])?;
    let x86 = load_x86(&ir)?;
    Ok(OneLane { lane: x86.lane(0), _target: Box::new(x86) })
}

/// Applies to both.
struct Both {
    x86: Box<dyn Target>,
    oracle: Box<dyn Target>,
}

impl Both {
    fn apply(&mut self, batch: &Batch) -> Result<(), RuleError> {
        self.x86.apply(batch)?;
        self.oracle.apply(batch)
    }
}

impl upf::plane::DataPlane for Both {
    fn commit(&mut self, _: &SessionInfo, batch: &Batch, _: &[(u32, BufferFate)]) -> Result<(), RuleError> {
        self.apply(batch)
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> Count {
        self.x86.counter(counter, cell)
    }

    fn transmit(&mut self, _: PortId, _: Vec<u8>) {}
}

fn network() -> upf::config::NetworkConfig {
    use upf::config::{NetworkConfig, PortConfig, Role, Route, StaticNeighbour, Via};
    let port = |id, name: &str, mac, address: [u8; 4], instance: &str, role, gtpu: Vec<Ipv4Addr>| PortConfig {
        id,
        name: name.into(),
        mac,
        mtu: 1500,
        addresses: vec![(IpAddr::from(address), 24)],
        network_instance: instance.into(),
        role,
        gtpu_endpoints: gtpu,
        proxy_prefixes: Vec::new(),
    };
    NetworkConfig {
        ports: vec![
            port(N3, "n3", N3_MAC, [10, 3, 0, 1], "access", Role::Access, vec![UPF_N3]),
            port(N6, "n6", N6_MAC, [10, 6, 0, 1], "internet", Role::Core, Vec::new()),
        ],
        routes: vec![Route {
            network_instance: "internet".into(),
            prefix: (IpAddr::from([0, 0, 0, 0]), 0),
            via: Via::Gateway(IpAddr::V4(SERVER)),
        }],
        neighbours: vec![
            StaticNeighbour { port: N3, ip: IpAddr::V4(GNB), mac: [2, 0, 0, 0, 3, 2] },
            StaticNeighbour { port: N6, ip: IpAddr::V4(SERVER), mac: [2, 0, 0, 0, 6, 2] },
        ],
        ..NetworkConfig::default()
    }
}

fn ue(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x0a80_0000 + n)
}

/// One PDR each way, QER with QFI, gate and MBR, URR.
fn rules(n: u32) -> SessionRules {
    let mut rules = SessionRules::default();
    let ue_ip = |destination| Some(UeIp { ipv4: Some(ue(n)), ipv6: None, destination });
    let pdr = |source_interface, f_teid, ue_ip, far_id| Pdr {
        precedence: 255,
        pdi: Pdi { source_interface, f_teid, network_instance: None, ue_ip, sdf_filters: Vec::new(), qfis: Vec::new() },
        outer_header_removal: source_interface == Interface::Access,
        far_id: Some(far_id),
        urr_ids: vec![1],
        qer_ids: vec![1],
    };
    rules.pdrs.insert(1, pdr(Interface::Access, Some(FTeid { teid: n + 1, ipv4: UPF_N3 }), ue_ip(false), 1));
    rules.pdrs.insert(2, pdr(Interface::Core, None, ue_ip(true), 2));
    let far = |destination, outer_header| Far {
        action: ApplyAction { forward: true, ..ApplyAction::default() },
        forwarding: Some(Forwarding { destination, network_instance: None, outer_header, tos: None }),
        bar_id: None,
    };
    rules.fars.insert(1, far(Interface::Core, None));
    rules.fars.insert(2, far(Interface::Access, Some(OuterHeader { teid: n + 1, ipv4: GNB })));
    let qer = Qer { uplink_open: true, downlink_open: true, mbr_kbps: Some((10_000_000, 10_000_000)), qfi: Some(9), ..Qer::default() };
    rules.qers.insert(1, qer);
    rules.urrs.insert(1, Urr { measure_volume: true, ..Urr::default() });
    rules
}

/// Sessions in random order, each as often as any other.
fn order(sessions: u32) -> Vec<u32> {
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    let mut rng = rand::rngs::StdRng::seed_from_u64(1);
    let mut all: Vec<u32> = (0..sessions).collect();
    all.shuffle(&mut rng);
    all.truncate(FRAMES);
    while all.len() < 4096 {
        all.push(rng.random_range(0..sessions));
    }
    all
}

fn downlink_frame(n: u32) -> Vec<u8> {
    let mut frame = ethernet(N6_MAC, [2, 0, 0, 0, 6, 2]);
    frame.extend(user_packet(SERVER, ue(n)));
    frame
}

fn uplink_frame(n: u32) -> Vec<u8> {
    let user = user_packet(ue(n), SERVER);
    let mut frame = ethernet(N3_MAC, [2, 0, 0, 0, 3, 2]);
    let gtpu_payload = 8 + user.len();
    frame.extend(ipv4(GNB, UPF_N3, 17, 16 + gtpu_payload));
    frame.extend([8, 104, 8, 104]);
    frame.extend(((16 + gtpu_payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0x34, 255]);
    frame.extend((gtpu_payload as u16).to_be_bytes());
    frame.extend((n + 1).to_be_bytes());
    frame.extend([0, 0, 0, 0x85, 1, 0x10, 9, 0]);
    frame.extend(user);
    frame
}

fn ethernet(dst: [u8; 6], src: [u8; 6]) -> Vec<u8> {
    [&dst[..], &src, &[8, 0]].concat()
}

/// IPv4 and UDP, [`USER_PACKET`] bytes.
fn user_packet(src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
    let mut packet = ipv4(src, dst, 17, USER_PACKET - 20);
    packet.extend([0x30, 0x39, 0x13, 0x89]);
    packet.extend(((USER_PACKET - 20) as u16).to_be_bytes());
    packet.resize(USER_PACKET, 0);
    packet
}

fn ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: usize) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    header[2..4].copy_from_slice(&((20 + payload) as u16).to_be_bytes());
    header.extend(src.octets());
    header.extend(dst.octets());
    let sum = wire::checksum::finish(wire::checksum::sum(&header));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}
