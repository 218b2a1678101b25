//! Sessions as SMFs make them, and the network that they run in.

use std::net::{IpAddr, Ipv4Addr};

use base::PortId;
use pfcp::rules::*;
use upf::config::*;

pub(crate) const N3: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 1);
pub(crate) const GNB: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 50);
pub(crate) const SMF: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 9);
pub(crate) const UE: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 2);

/// N3 on port 0, N6 on port 128 behind a router, both versions of IP.
pub(crate) fn network() -> NetworkConfig {
    let ip = |s: &str| s.parse::<IpAddr>().unwrap();
    NetworkConfig {
        ports: vec![
            PortConfig {
                id: PortId(0),
                name: "n3".into(),
                mac: [2, 0, 0, 0, 0, 3],
                mtu: 1600,
                addresses: vec![(ip("10.0.3.1"), 24)],
                network_instance: "access".into(),
                role: Role::Access,
                gtpu_endpoints: vec![N3],
                proxy_prefixes: vec![],
                ..PortConfig::default()
            },
            PortConfig {
                id: PortId(128),
                name: "n6".into(),
                mac: [2, 0, 0, 0, 0, 6],
                mtu: 1500,
                addresses: vec![(ip("10.0.6.1"), 24), (ip("10.45.0.1"), 32), (ip("fd00:6::1"), 64)],
                network_instance: "internet".into(),
                role: Role::Core,
                gtpu_endpoints: vec![],
                proxy_prefixes: vec![(ip("10.45.0.0"), 16)],
                ..PortConfig::default()
            },
        ],
        routes: vec![
            Route { network_instance: "internet".into(), prefix: (ip("0.0.0.0"), 0), via: Via::Gateway(ip("10.0.6.254")) },
            Route { network_instance: "internet".into(), prefix: (ip("::"), 0), via: Via::Gateway(ip("fd00:6::fe")) },
        ],
        ..NetworkConfig::default()
    }
}

pub(crate) fn pdi(source_interface: Interface) -> Pdi {
    Pdi { source_interface, f_teid: None, network_instance: None, ue_ip: None, sdf_filters: vec![], qfis: vec![] }
}

pub(crate) fn pdr(precedence: u32, pdi: Pdi, far_id: u32) -> Pdr {
    Pdr { precedence, outer_header_removal: pdi.f_teid.is_some().into(), pdi, far_id: Some(far_id), urr_ids: vec![], qer_ids: vec![] }
}

pub(crate) fn forward(destination: Interface, outer: Option<(u32, Ipv4Addr)>) -> Far {
    let forwarding =
        Forwarding { destination, network_instance: None, outer_header: outer.map(|(teid, ipv4)| OuterHeader { teid, ipv4 }), tos: None };
    Far { action: ApplyAction { forward: true, ..ApplyAction::default() }, forwarding: Some(forwarding), bar_id: None }
}

pub(crate) fn buffer() -> Far {
    Far { action: ApplyAction { buffer: true, notify: true, ..ApplyAction::default() }, forwarding: None, bar_id: Some(1) }
}

pub(crate) fn ue(ipv4: Option<Ipv4Addr>, ipv6: Option<&str>, destination: bool) -> Option<UeIp> {
    Some(UeIp { ipv4, ipv6: ipv6.map(|p| (p.parse().unwrap(), 64)), destination })
}

pub(crate) fn flow(protocol: Option<u8>, remote: AddressMatch) -> SdfFilter {
    let flow = FlowDescription { protocol, remote, remote_ports: vec![], local: AddressMatch::Assigned, local_ports: vec![] };
    SdfFilter { flow: Some(flow), tos: None, spi: None, flow_label: None, filter_id: None }
}

pub(crate) fn qer(mbr_kbps: Option<(u64, u64)>, qfi: Option<u8>) -> Qer {
    Qer { uplink_open: true, downlink_open: true, mbr_kbps, qfi, ..Qer::default() }
}

pub(crate) fn volume() -> Urr {
    Urr { measure_volume: true, ..Urr::default() }
}

/// Open5GS: four PDRs, three FARs, one URR and QER; the two uplink ones share a tunnel, the router solicitation goes to
/// the SMF, the advertisement comes from it. The DNN is named on both sides. Downlink starts in the buffer.
pub(crate) fn open5gs() -> SessionRules {
    let internet = || Some("internet".to_owned());
    let tunnel = |teid| Some(FTeid { teid, ipv4: N3 });
    let prefix = "fd00:45:0:1::";
    let mut rules = SessionRules::default();
    let downlink = Pdi { network_instance: internet(), ue_ip: ue(Some(UE), Some(prefix), true), ..pdi(Interface::Core) };
    let uplink =
        Pdi { f_teid: tunnel(0x100), network_instance: internet(), ue_ip: ue(Some(UE), Some(prefix), false), ..pdi(Interface::Access) };
    let from_cp = Pdi { f_teid: tunnel(0x101), network_instance: internet(), ..pdi(Interface::CpFunction) };
    let to_cp = Pdi {
        f_teid: tunnel(0x100),
        network_instance: internet(),
        sdf_filters: vec![flow(Some(58), AddressMatch::Prefix("ff02::2".parse().unwrap(), 128))],
        ..pdi(Interface::Access)
    };
    rules.pdrs.insert(1, Pdr { urr_ids: vec![1], qer_ids: vec![1], ..pdr(255, downlink, 1) });
    rules.pdrs.insert(2, Pdr { urr_ids: vec![1], qer_ids: vec![1], ..pdr(255, uplink, 2) });
    rules.pdrs.insert(3, pdr(255, from_cp, 1));
    rules.pdrs.insert(4, pdr(1, to_cp, 3));
    rules.fars.insert(1, buffer());
    rules.fars.insert(2, forward(Interface::Core, None));
    rules.fars.insert(3, forward(Interface::CpFunction, Some((0x777, SMF))));
    rules.urrs.insert(1, volume());
    rules.qers.insert(1, qer(Some((1_000_000, 2_000_000)), Some(1)));
    rules.bars.insert(1, Bar::default());
    rules
}

/// Open5GS when the gNodeB has answered: the buffer opens into its tunnel.
pub(crate) fn open5gs_connected() -> SessionRules {
    let mut rules = open5gs();
    rules.fars.insert(1, forward(Interface::Access, Some((0x5001, GNB))));
    rules
}

/// free5GC: two flows, each with a pair of PDRs; two URRs and two QERs a PDR; the UE address in both PDIs; a default filter that
/// lets everything pass.
pub(crate) fn free5gc() -> SessionRules {
    let mut rules = SessionRules::default();
    let everything = flow(None, AddressMatch::Any);
    let mut special = flow(Some(17), AddressMatch::Prefix("192.0.2.0".parse().unwrap(), 24));
    if let Some(flow) = &mut special.flow {
        flow.remote_ports = vec![(5000, 5010), (6000, 6000)];
    }
    for (at, filter, precedence) in [(0u16, special, 128), (2, everything, 255)] {
        let tunnel = Some(FTeid { teid: 7, ipv4: N3 });
        let instance = Some("internet".to_owned());
        let qer_ids = vec![u32::from(at) + 1, 10];
        let uplink = Pdi {
            f_teid: tunnel,
            ue_ip: ue(Some(UE), None, false),
            network_instance: instance.clone(),
            sdf_filters: vec![filter.clone()],
            ..pdi(Interface::Access)
        };
        let downlink =
            Pdi { ue_ip: ue(Some(UE), None, true), network_instance: instance, sdf_filters: vec![filter], ..pdi(Interface::Core) };
        let common = |pdr: Pdr| Pdr { urr_ids: vec![1, 2], qer_ids: qer_ids.clone(), ..pdr };
        rules.pdrs.insert(at + 1, common(pdr(precedence, uplink, 1)));
        rules.pdrs.insert(at + 2, common(pdr(precedence, downlink, 2)));
        rules.qers.insert(u32::from(at) + 1, qer(Some((50_000, 100_000)), Some(at as u8 + 1)));
    }
    rules.qers.insert(10, qer(Some((200_000, 400_000)), None));
    rules.fars.insert(1, forward(Interface::Core, None));
    rules.fars.insert(2, forward(Interface::Access, Some((1, GNB))));
    rules.urrs.insert(1, volume());
    rules.urrs.insert(2, volume());
    rules
}

/// pfcpsim: two PDRs, two FARs, two URRs, three QERs: one for the session, one for each direction.
pub(crate) fn pfcpsim() -> SessionRules {
    let mut rules = SessionRules::default();
    let uplink = Pdi { f_teid: Some(FTeid { teid: 0xd00d, ipv4: N3 }), ..pdi(Interface::Access) };
    let downlink = Pdi { ue_ip: ue(Some(UE), None, true), ..pdi(Interface::Core) };
    rules.pdrs.insert(1, Pdr { urr_ids: vec![1], qer_ids: vec![4, 1], ..pdr(100, uplink, 1) });
    rules.pdrs.insert(2, Pdr { urr_ids: vec![2], qer_ids: vec![4, 2], ..pdr(100, downlink, 2) });
    rules.fars.insert(1, forward(Interface::Core, None));
    rules.fars.insert(2, Far { action: ApplyAction { drop: true, ..ApplyAction::default() }, forwarding: None, bar_id: None });
    for (id, mbr, qfi) in [(1, (50_000, 30_000), Some(8)), (2, (50_000, 30_000), Some(8)), (4, (60_000, 60_000), None)] {
        rules.qers.insert(id, qer(Some(mbr), qfi));
    }
    rules.urrs.insert(1, volume());
    rules.urrs.insert(2, volume());
    rules
}
