//! The sessions of the benchmarks: what an SMF would install for them, as batches of any size, and their frames.
//!
//! A `Plane` with its books for millions of sessions would need more memory than the data plane that is measured. So one session
//! goes through the real lowering, and the others are its entries with other numbers; a test compares them with the real ones.

use base::PortId;
use pfcp::rules::{ApplyAction, FTeid, Far, Forwarding, Interface, OuterHeader, Pdi, Pdr, Qer, SessionRules, UeIp, Urr};
use program::{Batch, MeterConfig, Op, Program};
use std::net::{IpAddr, Ipv4Addr};
use upf::ids::Ids;
use upf::lower::{self, Act, Context, Encapsulation, Key, Lookup, MeterKey, Numbers, SessionEntry, UsageKey};

/// Port towards gNodeBs.
pub const N3: PortId = PortId(0);
/// Port towards the data network.
pub const N6: PortId = PortId(128);
/// Our address on N3.
pub const UPF_N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
/// The gNodeB's address.
pub const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
const N3_MAC: [u8; 6] = [2, 0, 0, 0, 3, 1];
const N6_MAC: [u8; 6] = [2, 0, 0, 0, 6, 1];
const UE_PORT: u16 = 12_345;
/// Length of the user's IP packet: a 64-byte Ethernet frame (with its check sequence) without Ethernet.
pub const USER_PACKET: usize = 46;
/// Most sessions: they have the addresses from 10.128.0.0 on, 4 cells each of less than 2^26.
pub const MOST: u32 = 15_000_000;

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

/// The sessions as batches for a program.
pub struct Sessions {
    ids: Ids,
    initial: Batch,
    /// Entries of session 0 under its numbers.
    first: Vec<SessionEntry>,
    /// Rates of its meters, by their cells.
    meters: Vec<(u32, MeterConfig)>,
}

impl Sessions {
    /// For a program like `upf.p4`.
    ///
    /// # Errors
    /// What such a program has and this one lacks.
    pub fn new(program: &Program) -> Result<Sessions, String> {
        let fail = |e: &dyn std::fmt::Display| e.to_string();
        let config = network();
        config.validate().map_err(|e| fail(&e))?;
        let ids = Ids::bind(program).map_err(|e| fail(&e))?;
        let context = Context::new(&config);
        let outline = lower::outline(&rules(0), &context).map_err(|e| format!("{e:?}"))?;
        let numbers = numbers(0);
        let meters =
            outline.meters.iter().map(|(key, kbps)| (lower::number(&numbers.meters, key), lower::meter_config(*kbps, Default::default())));
        Ok(Sessions { initial: upf::static_rules::initial(&config, &ids), meters: meters.collect(), first: outline.entries(&numbers), ids })
    }

    /// The same without maximum bit rates.
    pub fn without_rates(mut self) -> Sessions {
        self.meters.clear();
        for entry in &mut self.first {
            if let Act::SetPdr(set_pdr) = &mut entry.act {
                set_pdr.meters = [0; 3];
            }
        }
        self
    }

    /// The same with other maximum bit rates.
    pub fn with_rate(mut self, rate: MeterConfig) -> Sessions {
        self.meters.iter_mut().for_each(|(_, config)| *config = rate);
        self
    }

    /// The meter of their maximum bit rates.
    pub fn rate_meter(&self) -> program::MeterId {
        self.ids.mbr
    }

    /// What follows from the configuration: stations, routes, next hops.
    pub fn initial(&self) -> &Batch {
        &self.initial
    }

    /// The counter of usage cells.
    pub fn usage(&self) -> program::CounterId {
        self.ids.usage
    }

    /// The entries of some sessions. Each session is given with the number that its cells follow from, which is itself, or a smaller
    /// one where only few sessions are installed.
    pub fn batch(&self, sessions: impl Iterator<Item = (u32, u32)>) -> Batch {
        let mut ops = Vec::with_capacity(sessions.size_hint().0 * 4);
        for (n, cell) in sessions {
            for (index, config) in &self.meters {
                ops.push(Op::Meter { meter: self.ids.mbr, index: (index + 2 * cell).into(), config: Some(*config) });
            }
            ops.extend(self.first.iter().map(|entry| Op::Insert(renumbered(*entry, n, cell).entry(&self.ids))));
        }
        Batch { ops }
    }

    /// A session's tunnel leads to another one of the gNodeB's, as after a handover.
    pub fn handover(&self, n: u32, teid: u32) -> Batch {
        let changed = |entry: &SessionEntry| {
            let mut entry = renumbered(*entry, n, n);
            match &mut entry.act {
                Act::SetPdr(set_pdr) if set_pdr.encapsulation != Encapsulation::None => set_pdr.tunnel_teid = teid,
                _ => return None,
            }
            Some(Op::Modify(entry.entry(&self.ids)))
        };
        Batch { ops: self.first.iter().filter_map(changed).collect() }
    }
}

/// The usage cell of a session's direction; `cell` as in [`Sessions::batch`].
pub fn usage_cell(direction: Direction, cell: u32) -> u32 {
    2 * cell + if direction == Direction::Uplink { 2 } else { 1 }
}

/// Two cells and two PDR numbers a session, from 1 on.
fn numbers(n: u32) -> Numbers {
    let (low, high) = (2 * n + 1, 2 * n + 2);
    let usage = |uplink| UsageKey { urr_ids: [1].into(), uplink };
    let meter = |uplink| MeterKey { qer_id: 1, uplink };
    Numbers {
        pdrs: vec![(1, low), (2, high)],
        groups: Vec::new(),
        filter_sets: Vec::new(),
        usage: vec![(usage(false), low), (usage(true), high)],
        meters: vec![(meter(false), low), (meter(true), high)],
        quotas: Vec::new(),
    }
}

/// An entry of session 0 as that of session `n`.
fn renumbered(mut entry: SessionEntry, n: u32, cell: u32) -> SessionEntry {
    entry.key = match entry.key {
        Key::Lookup(Lookup::Teid(endpoint, _)) => Key::Lookup(Lookup::Teid(endpoint, teid(n))),
        Key::Lookup(Lookup::UeIpv4(vrf, _)) => Key::Lookup(Lookup::UeIpv4(vrf, ue(n).into())),
        other => other,
    };
    if let Act::SetPdr(set_pdr) = &mut entry.act {
        set_pdr.pdr += 2 * n;
        set_pdr.usage += 2 * cell;
        set_pdr.meters.iter_mut().filter(|m| **m != 0).for_each(|m| *m += 2 * cell);
        if !set_pdr.ue_ipv4.is_unspecified() {
            set_pdr.ue_ipv4 = ue(n).into();
        }
        if set_pdr.encapsulation != Encapsulation::None {
            set_pdr.tunnel_teid = teid(n);
        }
    }
    entry
}

/// Their configuration: N3 and N6, one gNodeB, one server behind a default route.
pub fn network() -> upf::config::NetworkConfig {
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
        ..PortConfig::default()
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

/// The UE's address of a session.
pub fn ue(n: u32) -> u32 {
    0x0a80_0000 + n
}

/// Both TEIDs of a session.
pub fn teid(n: u32) -> u32 {
    n + 1
}

/// One PDR each way, QER with QFI, gate and MBR, URR.
pub fn rules(n: u32) -> SessionRules {
    let mut rules = SessionRules::default();
    let ue_ip = |destination| Some(UeIp { ipv4: Some(ue(n).into()), ipv6: None, destination });
    let pdr = |source_interface, f_teid, ue_ip, far_id| Pdr {
        precedence: 255,
        pdi: Pdi { source_interface, f_teid, network_instance: None, ue_ip, sdf_filters: Vec::new(), qfis: Vec::new() },
        outer_header_removal: (source_interface == Interface::Access).into(),
        far_id: Some(far_id),
        urr_ids: vec![1],
        qer_ids: vec![1],
    };
    rules.pdrs.insert(1, pdr(Interface::Access, Some(FTeid { teid: teid(n), ipv4: UPF_N3 }), ue_ip(false), 1));
    rules.pdrs.insert(2, pdr(Interface::Core, None, ue_ip(true), 2));
    let far = |destination, outer_header| Far {
        action: ApplyAction { forward: true, ..ApplyAction::default() },
        forwarding: Some(Forwarding { destination, network_instance: None, outer_header, tos: None }),
        bar_id: None,
    };
    rules.fars.insert(1, far(Interface::Core, None));
    rules.fars.insert(2, far(Interface::Access, Some(OuterHeader { teid: teid(n), ipv4: GNB })));
    let qer = Qer { uplink_open: true, downlink_open: true, mbr_kbps: Some((10_000_000, 10_000_000)), qfi: Some(9), ..Qer::default() };
    rules.qers.insert(1, qer);
    rules.urrs.insert(1, Urr { measure_volume: true, ..Urr::default() });
    rules
}

/// A frame to or from a session.
pub fn frame(direction: Direction, n: u32) -> Vec<u8> {
    frame_with(direction, n, SERVER.into(), 5001, 17)
}

/// Where in such a frame the user's packet is.
pub fn user_offset(direction: Direction) -> usize {
    if direction == Direction::Uplink { 58 } else { 14 }
}

/// A frame to or from a session and any remote host and port, by UDP or another protocol whose header begins with ports.
pub fn frame_with(direction: Direction, n: u32, remote: u32, remote_port: u16, protocol: u8) -> Vec<u8> {
    frame_of(direction, n, (remote, remote_port), protocol, USER_PACKET)
}

/// A frame to or from a session whose user's packet has so many bytes, 28 to 1400.
pub fn long_frame(direction: Direction, n: u32, user_packet: usize) -> Vec<u8> {
    frame_of(direction, n, (SERVER.into(), 5001), 17, user_packet)
}

fn frame_of(direction: Direction, n: u32, (remote, remote_port): (u32, u16), protocol: u8, user_packet: usize) -> Vec<u8> {
    let mut frame = match direction {
        Direction::Downlink => ethernet(N6_MAC, [2, 0, 0, 0, 6, 2]),
        Direction::Uplink => {
            let mut frame = ethernet(N3_MAC, [2, 0, 0, 0, 3, 2]);
            let gtpu_payload = 8 + user_packet;
            frame.extend(ipv4(GNB, UPF_N3, 17, 16 + gtpu_payload));
            frame.extend([8, 104, 8, 104]);
            frame.extend(((16 + gtpu_payload) as u16).to_be_bytes());
            frame.extend([0, 0, 0x34, 255]);
            frame.extend((gtpu_payload as u16).to_be_bytes());
            frame.extend(teid(n).to_be_bytes());
            frame.extend([0, 0, 0, 0x85, 1, 0x10, 9, 0]);
            frame
        }
    };
    let downlink = direction == Direction::Downlink;
    let (src, dst) = if downlink { (remote, ue(n)) } else { (ue(n), remote) };
    let (src_port, dst_port) = if downlink { (remote_port, UE_PORT) } else { (UE_PORT, remote_port) };
    frame.extend(ipv4(src.into(), dst.into(), protocol, user_packet - 20));
    frame.extend([src_port, dst_port, (user_packet - 20) as u16].map(u16::to_be_bytes).concat());
    frame.resize(user_offset(direction) + user_packet, 0);
    frame
}

fn ethernet(dst: [u8; 6], src: [u8; 6]) -> Vec<u8> {
    [&dst[..], &src, &[8, 0]].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renumbered_session_is_the_one_that_lowering_makes() {
        let context = Context::new(&network());
        let real = |n| lower::outline(&rules(n), &context).expect("rules that can be obeyed").entries(&numbers(n));
        for n in [0, 1, 255, 256, 65_535, 65_536, 999_999, MOST - 1] {
            let renumbered: Vec<_> = real(0).into_iter().map(|entry| renumbered(entry, n, n)).collect();
            assert_eq!(renumbered, real(n), "session {n}");
            assert_eq!(renumbered.len(), 2);
        }
    }
}
