//! Random rules of a session, and random changes of them: what SMFs ask for, and more.

use std::net::{IpAddr, Ipv4Addr};

use pfcp::rules::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::world::*;

/// What a session is made with.
pub(crate) struct Shape {
    pub seid: Seid,
    /// Whether rates may be set.
    pub rates: bool,
}

/// A session as an SMF establishes it.
pub(crate) fn establish(rng: &mut ChaCha8Rng, shape: &Shape) -> SessionRules {
    let mut rules = SessionRules::default();
    for id in 1..=4 {
        rules.fars.insert(id, far(rng, id % 2 == 1));
        rules.qers.insert(id, qer(rng, shape));
        rules.urrs.insert(id, urr(rng, shape));
    }
    rules
        .fars
        .insert(5, Far { forwarding: Some(forwarding(Interface::CpFunction, Some((0x777, Ipv4Addr::new(10, 0, 3, 9))))), ..action(true) });
    let flows = rng.random_range(1..=3);
    for flow in 0..flows {
        let last = flow + 1 == flows;
        let takes_all = last && rng.random_bool(0.7);
        add_flow(rng, shape, &mut rules, flow * 2 + 1, takes_all);
    }
    if rng.random_bool(0.15) {
        // Router solicitations go to the SMF, advertisements come from it.
        let group = AddressMatch::Prefix("ff02::2".parse().unwrap_or(IpAddr::V4(N3)), 128);
        let solicitation = SdfFilter { flow: Some(flow(Some(58), group)), ..open() };
        let to_cp = Pdi { f_teid: Some(tunnel(shape, 0)), sdf_filters: vec![solicitation], ..pdi(Interface::Access) };
        rules.pdrs.insert(20, Pdr { far_id: Some(5), ..pdr(0, to_cp) });
        let from_cp = Pdi { f_teid: Some(tunnel(shape, 8)), ..pdi(Interface::CpFunction) };
        rules.pdrs.insert(21, Pdr { far_id: Some(2), ..pdr(0, from_cp) });
    }
    if rng.random_bool(0.15) {
        // N9: downlink packets come by a tunnel too.
        let pdi = Pdi {
            f_teid: Some(FTeid { teid: shape.seid as u32 * 16 + 9, ipv4: N9 }),
            network_instance: Some("n9".into()),
            ..pdi(Interface::Core)
        };
        let sdf_filters = if rng.random_bool(0.5) { vec![filter(rng)] } else { vec![] };
        let outer_header_removal = if rng.random_bool(0.3) { HeaderRemoval::GtpuAndContainer } else { HeaderRemoval::Gtpu };
        let (urr_ids, qer_ids) = (ids(rng, 0.5), ids(rng, 0.3));
        rules.pdrs.insert(22, Pdr { outer_header_removal, far_id: Some(2), urr_ids, qer_ids, ..pdr(9, Pdi { sdf_filters, ..pdi }) });
    }
    rules
}

/// A change as SMFs make them: a FAR to or from buffering, a handover, a gate, a rate, a quota, a PDR more or less.
pub(crate) fn modify(rng: &mut ChaCha8Rng, shape: &Shape, rules: &mut SessionRules) {
    for _ in 0..rng.random_range(1..4) {
        let id = rng.random_range(1..=4u32);
        match rng.random_range(0..10) {
            0..=2 => drop(rules.fars.insert(id, far(rng, id % 2 == 1))),
            3 => drop(rules.qers.insert(id, qer(rng, shape))),
            4 if rng.random_bool(0.5) => rules.urrs.entry(id).or_default().exhausted = rng.random_bool(0.1),
            4 => drop(rules.urrs.insert(id, urr(rng, shape))),
            5 => {
                let some = rules.pdrs.keys().nth(rng.random_range(0..rules.pdrs.len().max(1))).copied();
                rules.pdrs.retain(|pdr_id, _| Some(*pdr_id) != some);
            }
            6 | 7 => {
                let (id, takes_all) = (rng.random_range(1..5) * 2 + 1, rng.random_bool(0.5));
                add_flow(rng, shape, rules, id, takes_all);
            }
            8 => {
                for pdr in rules.pdrs.values_mut() {
                    if rng.random_bool(0.5) {
                        pdr.urr_ids = ids(rng, 0.5);
                    }
                }
            }
            _ => {
                for pdr in rules.pdrs.values_mut().filter(|p| !p.pdi.sdf_filters.is_empty()) {
                    pdr.precedence = rng.random_range(0..20);
                    pdr.pdi.sdf_filters = vec![filter(rng)];
                }
            }
        }
    }
}

/// An uplink and a downlink PDR with the same filters.
fn add_flow(rng: &mut ChaCha8Rng, shape: &Shape, rules: &mut SessionRules, id: u16, takes_all: bool) {
    let (v4, v6) = [(true, false), (true, true), (true, true), (false, true)][rng.random_range(0..4)];
    let ue = |destination| {
        let ipv6 = v6.then(|| (ue_v6(shape.seid, 0), 64));
        Some(UeIp { ipv4: v4.then(|| ue_v4(shape.seid)), ipv6, destination })
    };
    let sdf_filters: Vec<SdfFilter> = if takes_all { vec![] } else { (0..rng.random_range(1..4)).map(|_| filter(rng)).collect() };
    let qfis = if rng.random_bool(0.15) { (0..rng.random_range(1..4)).map(|_| rng.random_range(1..10)).collect() } else { vec![] };
    let precedence = if takes_all { 255 } else { rng.random_range(0..20) };
    let (urr_ids, qer_ids) = (ids(rng, 0.5), ids(rng, 0.35));
    let addressed = !shape.seid.is_multiple_of(4) && rng.random_bool(0.75);
    // Mostly one tunnel for all flows.
    let teid = if rng.random_bool(0.75) { 0 } else { id as u32 % 8 };
    let uplink = Pdi {
        f_teid: Some(tunnel(shape, teid)),
        ue_ip: if addressed { ue(false) } else { None },
        sdf_filters: sdf_filters.clone(),
        qfis,
        ..pdi(Interface::Access)
    };
    let network_instance = Some("internet".to_owned());
    let downlink = Pdi {
        ue_ip: ue(true),
        network_instance,
        sdf_filters,
        ..pdi(if rng.random_bool(0.9) { Interface::Core } else { Interface::SgiLan })
    };
    let common = |pdr: Pdr| Pdr { urr_ids: urr_ids.clone(), qer_ids: qer_ids.clone(), ..pdr };
    let fars = [1, 2, 1, 2, 3, 4].as_chunks::<2>().0[rng.random_range(0..3)];
    rules.pdrs.insert(id, common(Pdr { far_id: Some(fars[0]), ..pdr(precedence, uplink) }));
    // Some sessions begin with the uplink alone.
    if rng.random_bool(0.8) {
        rules.pdrs.insert(id + 1, common(Pdr { far_id: Some(fars[1]), ..pdr(precedence, downlink) }));
    }
}

/// A tunnel of the session; a few in a hundred sessions want one of their neighbour.
fn tunnel(shape: &Shape, n: u32) -> FTeid {
    let session = if shape.seid.is_multiple_of(37) { shape.seid - 1 } else { shape.seid };
    FTeid { teid: session as u32 * 16 + n, ipv4: N3 }
}

fn far(rng: &mut ChaCha8Rng, uplink: bool) -> Far {
    let tos = rng.random_bool(0.3).then(|| (tos(rng), 0xfc));
    let peer = (rng.random_range(1..1 << 20), gnb(rng));
    let towards = match (uplink, rng.random_range(0..8)) {
        (true, 0) => {
            let n9 = Ipv4Addr::new(10, 0, 9, rng.random_range(20..24));
            Forwarding { network_instance: Some("n9".into()), ..forwarding(Interface::Core, Some((peer.0, n9))) }
        }
        // Handover: forwarded downlink data goes back to the access side.
        (true, 1) => forwarding(Interface::Access, Some(peer)),
        (true, _) => Forwarding { network_instance: Some("internet".into()), ..forwarding(Interface::Core, None) },
        (false, _) => forwarding(Interface::Access, Some(peer)),
    };
    match rng.random_range(0..20) {
        0 => Far { action: ApplyAction { drop: true, ..ApplyAction::default() }, forwarding: None, bar_id: None },
        1..=3 if !uplink => Far { action: ApplyAction { buffer: true, notify: true, ..ApplyAction::default() }, ..action(false) },
        _ => Far { forwarding: Some(Forwarding { tos, ..towards }), ..action(true) },
    }
}

fn action(forward: bool) -> Far {
    Far { action: ApplyAction { forward, ..ApplyAction::default() }, forwarding: None, bar_id: None }
}

fn forwarding(destination: Interface, outer: Option<(u32, Ipv4Addr)>) -> Forwarding {
    let outer_header = outer.map(|(teid, ipv4)| OuterHeader { teid, ipv4 });
    Forwarding { destination, network_instance: None, outer_header, tos: None }
}

fn qer(rng: &mut ChaCha8Rng, shape: &Shape) -> Qer {
    let mut rate = || match rng.random_range(0..8) {
        0 => 0,
        1..=5 => rng.random_range(8..500),
        _ => rng.random_range(500..10_000_000),
    };
    let mbr = (rate(), rate());
    Qer {
        uplink_open: rng.random_bool(0.95),
        downlink_open: rng.random_bool(0.95),
        mbr_kbps: (shape.rates && rng.random_bool(0.7)).then_some(mbr),
        gbr_kbps: None,
        qfi: rng.random_bool(0.7).then(|| rng.random_range(1..64)),
        rqi: rng.random_bool(0.2),
    }
}

/// Quotas are meters, as rates are.
fn urr(rng: &mut ChaCha8Rng, shape: &Shape) -> Urr {
    let mut bytes = |share| rng.random_bool(share).then(|| rng.random_range(500..20_000));
    let quota = VolumeLimit { total: bytes(0.7), uplink: bytes(0.2), downlink: bytes(0.3) };
    let volume_quota = (shape.rates && rng.random_bool(0.3)).then_some(quota);
    Urr { measure_volume: true, exhausted: rng.random_bool(0.04), volume_quota, ..Urr::default() }
}

/// Some of 1 to 4.
fn ids(rng: &mut ChaCha8Rng, share: f64) -> Vec<u32> {
    (1..=4).filter(|_| rng.random_bool(share)).collect()
}

fn pdi(source_interface: Interface) -> Pdi {
    Pdi { source_interface, f_teid: None, network_instance: None, ue_ip: None, sdf_filters: vec![], qfis: vec![] }
}

fn pdr(precedence: u32, pdi: Pdi) -> Pdr {
    Pdr { precedence, outer_header_removal: pdi.f_teid.is_some().into(), pdi, far_id: None, urr_ids: vec![], qer_ids: vec![] }
}

fn open() -> SdfFilter {
    SdfFilter { flow: None, tos: None, spi: None, flow_label: None, filter_id: None }
}

fn flow(protocol: Option<u8>, remote: AddressMatch) -> FlowDescription {
    FlowDescription { protocol, remote, remote_ports: vec![], local: AddressMatch::Assigned, local_ports: vec![] }
}

fn filter(rng: &mut ChaCha8Rng) -> SdfFilter {
    let remote = match rng.random_range(0..6) {
        0 | 1 => AddressMatch::Any,
        2 | 3 => {
            let len = rng.random_range(16..=32);
            AddressMatch::Prefix(Ipv4Addr::from(u32::from(remote_v4(rng)) & u32::MAX << (32 - len)).into(), len as u8)
        }
        _ => {
            let len = rng.random_range(32..=128);
            AddressMatch::Prefix(IpAddr::V6((u128::from(remote_v6(rng)) & u128::MAX << (128 - len)).into()), len as u8)
        }
    };
    let mut ports = |share| if rng.random_bool(share) { (0..rng.random_range(1..4)).map(|_| l4_ports(rng)).collect() } else { vec![] };
    let (remote_ports, local_ports) = (ports(0.5), ports(0.2));
    let protocol = rng.random_bool(0.5).then(|| l4_protocol(rng));
    let flow = FlowDescription {
        protocol,
        remote,
        remote_ports,
        local: [AddressMatch::Assigned, AddressMatch::Any][rng.random_range(0..2)],
        local_ports,
    };
    SdfFilter {
        flow: rng.random_bool(0.9).then_some(flow),
        tos: rng.random_bool(0.15).then(|| (tos(rng), 0xfc)),
        spi: None,
        flow_label: rng.random_bool(0.05).then(|| rng.random_range(0..4)),
        filter_id: None,
    }
}
