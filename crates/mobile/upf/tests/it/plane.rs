//! Commits one by one: what is refused and why, usage, buffers, peers, end markers.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use base::PortId;
use pfcp::rules::*;
use program::{ApplyError, Entry, KeyMatch, Op};
use upf::config::{NetworkConfig, Route, Via};
use upf::ids::Ids;
use upf::plane::{BufferFate, InUse, Plane, SetupError};

use crate::model::Model;
use crate::sessions::*;
use crate::{program as by_hand, sessions};

pub(crate) fn plane_of(size: u64) -> Plane<Model> {
    let program = by_hand::upf(size);
    let mut plane = Plane::new(&network(), &program, Model::new(program.clone())).unwrap();
    let initial = plane.initial_batch().clone();
    plane.data_mut().apply(&initial).unwrap();
    plane
}

#[test]
fn pdrs_of_a_guaranteed_qer_are_one_flow_each_way_and_what_ended_is_not_known_any_more() {
    let mut plane = plane_of(64);
    plane.data_mut().treated = Some(BTreeMap::new());
    let mut rules = pfcpsim();
    let treated = |plane: &Plane<Model>, id: u16| {
        let (_, number) = plane.pdr_numbers(1).into_iter().find(|(pdr, _)| *pdr == id).unwrap();
        (number, plane.data().treated.as_ref().unwrap()[&number])
    };
    plane.commit(1, Some(&rules)).unwrap();
    let (_, plain) = treated(&plane, 1);
    // All that has no guaranteed rate is one flow, the session's, which is no other's.
    assert!(plain.usage > 0 && plain.guaranteed_kbps == 0, "{plain:?}");
    assert_eq!(treated(&plane, 2).1.flow, plain.flow);
    // A second PDR of the uplink with the same QER, and the downlink's.
    rules.qers.get_mut(&4).unwrap().gbr_kbps = Some((100, 200));
    rules.pdrs.insert(3, Pdr { precedence: 50, urr_ids: vec![2], ..rules.pdrs[&1].clone() });
    rules.pdrs.get_mut(&3).unwrap().pdi.sdf_filters = vec![flow(Some(17), AddressMatch::Any)];
    plane.commit(1, Some(&rules)).unwrap();
    let [first, down, second] = [1, 2, 3].map(|id| treated(&plane, id));
    assert_eq!([first, down, second].map(|(_, of)| of.guaranteed_kbps), [100, 200, 100]);
    assert!(first.1.flow == second.1.flow && first.1.flow != down.1.flow && first.1.flow > 0);
    assert_ne!(first.1.usage, second.1.usage);
    rules.pdrs.remove(&3);
    plane.commit(1, Some(&rules)).unwrap();
    assert!(!plane.data().treated.as_ref().unwrap().contains_key(&second.0));
    assert_eq!(treated(&plane, 1), first);
    plane.commit(1, None).unwrap();
    assert!(plane.data().treated.as_ref().unwrap().is_empty());
}

#[test]
fn a_guaranteed_rate_that_nothing_holds_is_told_of() {
    for queues in [false, true] {
        let mut plane = plane_of(64);
        plane.data_mut().treated = queues.then(BTreeMap::new);
        let mut rules = pfcpsim();
        plane.commit(7, Some(&rules)).unwrap();
        assert!(plane.data().unguaranteed.is_empty());
        rules.qers.get_mut(&4).unwrap().gbr_kbps = Some((100, 200));
        plane.commit(7, Some(&rules)).unwrap();
        assert_eq!(plane.data().unguaranteed, if queues { vec![] } else { vec![7] });
    }
}

fn refused(change: impl FnOnce(&mut SessionRules)) -> (RuleId, String) {
    let mut plane = plane_of(64);
    let mut rules = pfcpsim();
    change(&mut rules);
    let before = plane.data().tables.clone();
    match plane.commit(1, Some(&rules)) {
        Err(CommitError::Rule { rule, why }) => {
            assert_eq!((plane.in_use(), plane.data().tables == before), (InUse::default(), true));
            (rule, why)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn rules_that_cannot_be_obeyed_are_named() {
    let spi = |rules: &mut SessionRules| {
        let filter = SdfFilter { flow: None, tos: None, spi: Some(9), flow_label: None, filter_id: None };
        rules.pdrs.get_mut(&2).unwrap().pdi.sdf_filters = vec![filter];
    };
    assert_eq!(refused(spi), (RuleId::Pdr(2), "SDF filter with security parameter index 0x9: not supported".into()));
    let four_rates = |rules: &mut SessionRules| {
        rules.qers.insert(3, qer(Some((1, 1)), None));
        rules.pdrs.get_mut(&1).unwrap().qer_ids = vec![1, 2, 3, 4];
    };
    assert_eq!(refused(four_rates), (RuleId::Pdr(1), "more than 3 QERs with a maximum bit rate".into()));
    let no_far = |rules: &mut SessionRules| rules.pdrs.get_mut(&1).unwrap().far_id = Some(77);
    assert_eq!(refused(no_far), (RuleId::Pdr(1), "the session has no FAR 77".into()));
    let nowhere = |rules: &mut SessionRules| rules.fars.get_mut(&1).unwrap().forwarding = None;
    assert_eq!(refused(nowhere), (RuleId::Far(1), "forwards, but has no forwarding parameters".into()));
    let prefix = |rules: &mut SessionRules| {
        let ue = UeIp { ipv4: None, ipv6: Some(("fd00::".parse().unwrap(), 56)), destination: true };
        rules.pdrs.get_mut(&2).unwrap().pdi.ue_ip = Some(ue);
    };
    assert_eq!(refused(prefix), (RuleId::Pdr(2), "UE prefix fd00::/56: only /64 is served".into()));
    let no_address =
        "source interface core, network instance \"\": the PDI has neither F-TEID nor UE IP Address, and no other PDR has the UE's";
    let no_key = |rules: &mut SessionRules| rules.pdrs.get_mut(&2).unwrap().pdi.ue_ip = None;
    assert_eq!(refused(no_key), (RuleId::Pdr(2), no_address.into()));
    let no_tunnel = "source interface access, network instance \"\": the PDI has no F-TEID, by which packets from there come";
    let untunnelled = |rules: &mut SessionRules| rules.pdrs.get_mut(&1).unwrap().pdi.f_teid = None;
    assert_eq!(refused(untunnelled), (RuleId::Pdr(1), no_tunnel.into()));
    let mixed = |rules: &mut SessionRules| {
        let mut filter = flow(None, AddressMatch::Prefix("10.0.0.0".parse().unwrap(), 8));
        filter.flow.as_mut().unwrap().local = AddressMatch::Prefix("fd00::".parse().unwrap(), 64);
        rules.pdrs.get_mut(&2).unwrap().pdi.sdf_filters = vec![filter];
    };
    assert_eq!(refused(mixed), (RuleId::Pdr(2), "SDF filter mixes IPv4 and IPv6".into()));
    let many_ports = |rules: &mut SessionRules| {
        let mut filter = flow(None, AddressMatch::Any);
        let ports: Vec<_> = (0..17).map(|p| (p * 2, p * 2)).collect();
        let flow = filter.flow.as_mut().unwrap();
        (flow.remote_ports, flow.local_ports) = (ports.clone(), ports);
        rules.pdrs.get_mut(&2).unwrap().pdi.sdf_filters = vec![filter];
    };
    assert_eq!(refused(many_ports), (RuleId::Pdr(2), "SDF filter needs more than 256 entries".into()));
    let of_several = |rules: &mut SessionRules| {
        let other = Pdi { ue_ip: ue(Some(Ipv4Addr::new(10, 45, 0, 77)), None, true), ..pdi(Interface::Core) };
        rules.pdrs.insert(3, pdr(9, other, 2));
    };
    let which = "the PDI has no UE IP Address, and the session's other PDRs have several: it must name one";
    assert_eq!(refused(of_several), (RuleId::Pdr(1), which.into()));
    let virtual_network = |rules: &mut SessionRules| {
        rules.fars.insert(1, forward(Interface::VnInternal, None));
    };
    let no_port = "destination interface 5G VN internal, network instance \"\": interface 5G VN internal is not served";
    assert_eq!(refused(virtual_network), (RuleId::Far(1), no_port.into()));
}

#[test]
fn a_key_of_another_session_is_refused_and_named() {
    let mut plane = plane_of(64);
    plane.commit(1, Some(&pfcpsim())).unwrap();
    let in_use = plane.in_use();
    let error = plane.commit(2, Some(&pfcpsim())).unwrap_err();
    let why = "another session has its key in table pdr_by_teid".into();
    assert_eq!(error, CommitError::Taken { rule: RuleId::Pdr(1), by: 1, why });
    assert_eq!(plane.in_use(), in_use);
    // The first session goes on and ends.
    assert_eq!(plane.session_of_tunnel(N3, 0xd00d), Some(1));
    plane.commit(1, None).unwrap();
    assert_eq!((plane.in_use(), plane.session_of_tunnel(N3, 0xd00d)), (InUse::default(), None));
    plane.commit(2, Some(&pfcpsim())).unwrap();
}

#[test]
fn full_tables_and_pools_are_no_resources() {
    let mut plane = plane_of(2);
    let mut sessions = 0;
    let error = loop {
        let mut rules = pfcpsim();
        let id = sessions as u8 + 10;
        rules.pdrs.get_mut(&1).unwrap().pdi.f_teid = Some(FTeid { teid: id.into(), ipv4: N3 });
        rules.pdrs.get_mut(&2).unwrap().pdi.ue_ip = ue(Some(Ipv4Addr::new(10, 45, 0, id)), None, true);
        let before = (plane.in_use(), plane.data().tables.clone());
        if let Err(error) = plane.commit(sessions, Some(&rules)) {
            assert_eq!((plane.in_use(), plane.data().tables.clone()), before);
            break error;
        }
        sessions += 1;
    };
    // 8 meter cells of which one is never used; 4 a session.
    assert_eq!((sessions, error), (1, CommitError::NoResources("all 7 meter cells are in use".into())));

    let mut config = network();
    config.max_sessions = 1;
    let program = by_hand::upf(64);
    let mut plane = Plane::new(&config, &program, Model::new(program.clone())).unwrap();
    plane.commit(1, Some(&SessionRules::default())).unwrap();
    let error = plane.commit(2, Some(&SessionRules::default())).unwrap_err();
    assert_eq!(error, CommitError::NoResources("all 1 sessions are in use".into()));
}

#[test]
fn usage_goes_on_when_cells_change_and_is_final_at_the_end() {
    let mut plane = plane_of(64);
    plane.commit(1, Some(&free5gc())).unwrap();
    let count = |plane: &mut Plane<Model>, key_packets: &[(u64, u64)]| {
        for (cell, packets) in key_packets {
            let c = plane.data_mut().counters.entry(*cell).or_default();
            *c += target_api::Count { packets: *packets, bytes: packets * 100 };
        }
    };
    // Cell 1 is downlink, cell 2 uplink of URRs 1 and 2, as the golden text has it.
    count(&mut plane, &[(1, 5), (2, 3)]);
    let usage = |up, down| Usage { uplink_bytes: up * 100, downlink_bytes: down * 100, uplink_packets: up, downlink_packets: down };
    assert_eq!((plane.usage(1, 1), plane.usage(1, 2), plane.usage(1, 3)), (usage(3, 5), usage(3, 5), usage(0, 0)));

    // URR 2 goes: new cells for URR 1 alone; the others are read and given back.
    let mut rules = free5gc();
    rules.urrs.remove(&2);
    rules.pdrs.values_mut().for_each(|pdr| pdr.urr_ids = vec![1]);
    assert_eq!(plane.commit(1, Some(&rules)).unwrap(), [(2, usage(3, 5))]);
    assert_eq!((plane.usage(1, 1), plane.usage(1, 2)), (usage(3, 5), usage(0, 0)));
    count(&mut plane, &[(3, 10), (4, 20)]);
    assert_eq!(plane.usage(1, 1), usage(23, 15));
    assert_eq!(plane.commit(1, None).unwrap(), [(1, usage(23, 15))]);
    assert_eq!((plane.usage(1, 1), plane.in_use()), (usage(0, 0), InUse::default()));
    assert_eq!(plane.commit(1, None).unwrap(), []);
}

#[test]
fn a_cell_given_out_anew_starts_at_zero() {
    let mut plane = plane_of(64);
    plane.data_mut().counters.insert(1, target_api::Count { packets: 9, bytes: 900 });
    plane.commit(1, Some(&pfcpsim())).unwrap();
    assert_eq!((plane.usage(1, 1), plane.usage(1, 2)), (Usage::default(), Usage::default()));
}

#[test]
fn buffers_open_close_and_end() {
    let mut plane = plane_of(64);
    plane.commit(7, Some(&open5gs())).unwrap();
    let number = plane.data().tables.values().find_map(|e| (e.args.len() == 16 && e.args[1] == 2).then(|| e.args[0] as u32));
    assert!(matches!(number.and_then(|n| plane.pdr(n)), Some((7, 1 | 3))));
    // Nothing changes: nothing happens to what waits.
    plane.commit(7, Some(&open5gs())).unwrap();
    assert!(plane.data().fates.is_empty() && plane.data().batches[1].ops.is_empty());
    plane.commit(7, Some(&open5gs_connected())).unwrap();
    assert_eq!(std::mem::take(&mut plane.data_mut().fates), [(1, BufferFate::Release), (3, BufferFate::Release)]);
    plane.commit(7, Some(&open5gs())).unwrap();
    assert_eq!(plane.data().fates, []);
    // A PDR that goes, and a gate that closes, lose what waits.
    let mut rules = open5gs();
    rules.pdrs.remove(&3);
    rules.qers.get_mut(&1).unwrap().downlink_open = false;
    plane.commit(7, Some(&rules)).unwrap();
    assert_eq!(std::mem::take(&mut plane.data_mut().fates), [(1, BufferFate::Discard), (3, BufferFate::Discard)]);
    assert_eq!(plane.pdr(3), None);
    // Forwarding from the start, nothing waits at the end.
    plane.commit(7, Some(&open5gs_connected())).unwrap();
    plane.commit(7, None).unwrap();
    assert_eq!((plane.data().fates.as_slice(), plane.in_use()), (&[][..], InUse::default()));
}

#[test]
fn what_waits_is_dropped_at_the_cp_functions_wish() {
    let mut plane = plane_of(64);
    plane.commit(1, Some(&open5gs())).unwrap();
    let (batches, infos) = (plane.data().batches.len(), plane.data().infos.len());
    plane.drop_buffered(1);
    assert_eq!(std::mem::take(&mut plane.data_mut().fates), [(1, BufferFate::Discard), (3, BufferFate::Discard)]);
    assert!(plane.data().batches[batches..].iter().all(|batch| batch.ops.is_empty()), "no entry changes");
    assert!(plane.data().infos[infos - 1..].windows(2).all(|pair| pair[0] == pair[1]), "nor what the session is");
    plane.drop_buffered(2);
    // With a change: what waited is not sent by the FAR that forwards now, nor kept by one that goes on buffering.
    plane.commit_dropping(1, &open5gs()).unwrap();
    assert_eq!(std::mem::take(&mut plane.data_mut().fates), [(1, BufferFate::Discard), (3, BufferFate::Discard)]);
    plane.commit_dropping(1, &open5gs_connected()).unwrap();
    assert_eq!(std::mem::take(&mut plane.data_mut().fates), [(1, BufferFate::Discard), (3, BufferFate::Discard)]);
    plane.data_mut().fates.clear();
    plane.drop_buffered(1);
    assert_eq!(plane.data().fates, [], "nothing buffers any more");
}

#[test]
fn an_exhausted_quota_drops_and_a_rate_keeps_its_buckets() {
    let mut plane = plane_of(64);
    plane.commit(1, Some(&pfcpsim())).unwrap();
    let mut rules = pfcpsim();
    rules.urrs.get_mut(&1).unwrap().exhausted = true;
    plane.commit(1, Some(&rules)).unwrap();
    let ops = &plane.data().batches[1].ops;
    assert!(matches!(&ops[..], [Op::Modify(e)] if e.args[1] == 4), "{ops:?}");
    rules.qers.get_mut(&4).unwrap().mbr_kbps = Some((1, 60_000));
    plane.commit(1, Some(&rules)).unwrap();
    let ops = &plane.data().batches[2].ops;
    assert!(matches!(&ops[..], [Op::Meter { config: Some(c), .. }] if c.pir == 125 && c.pbs == 16384), "{ops:?}");
}

#[test]
fn sessions_of_a_kind_share_their_filters() {
    let mut plane = plane_of(1024);
    for i in 0..20 {
        let mut rules = free5gc();
        for pdr in rules.pdrs.values_mut() {
            if let Some(tunnel) = &mut pdr.pdi.f_teid {
                tunnel.teid = 100 + i;
            }
            let own = Ipv4Addr::new(10, 45, 1, i as u8);
            pdr.pdi.ue_ip = ue(Some(own), None, false);
            // Some SMFs write the UE's address where others write "assigned".
            if i % 2 == 1 {
                let flow = pdr.pdi.sdf_filters[0].flow.as_mut().unwrap();
                flow.local = AddressMatch::Prefix(own.into(), 32);
            }
        }
        plane.commit(u64::from(i), Some(&rules)).unwrap();
    }
    let sdf = plane.data().tables.keys().filter(|(table, ..)| table == "sdf_ipv4").count();
    assert_eq!((plane.in_use().filter_sets, sdf), (1, 3));
    (0..20).for_each(|i| drop(plane.commit(i, None).unwrap()));
    assert_eq!(plane.in_use(), InUse::default());
    assert!(plane.data().tables.keys().all(|(table, ..)| table != "sdf_ipv4"));
}

#[test]
fn filters_of_downlink_tunnels_are_turned_round() {
    // N9 towards the access side: packets come by a tunnel, but from the remote side.
    let mut rules = SessionRules::default();
    let remote = AddressMatch::Prefix("192.0.2.1".parse().unwrap(), 32);
    let pdi = Pdi { f_teid: Some(FTeid { teid: 5, ipv4: N3 }), sdf_filters: vec![flow(Some(6), remote)], ..pdi(Interface::Core) };
    rules.pdrs.insert(1, pdr(1, pdi, 1));
    rules.fars.insert(1, forward(Interface::Access, Some((9, GNB))));
    let mut plane = plane_of(64);
    plane.commit(1, Some(&rules)).unwrap();
    let dump = plane.data().dump(&["sdf", "pdr"]);
    assert!(dump.contains("sdf_ipv4 set=1 local=192.0.2.1 protocol=6"), "{dump}");
    // From tunnel to tunnel packets are relayed: the TTL stays. No QER, no QFI.
    assert!(dump.contains("set_pdr pdr=1 usage=1 encapsulation=gtpu tunnel_teid=0x9 tunnel_dst=10.0.3.50"), "{dump}");
}

#[test]
fn forwarded_downlink_data_is_not_held_against_the_ue() {
    let mut rules = open5gs_connected();
    let pdi = Pdi { f_teid: Some(FTeid { teid: 0x200, ipv4: N3 }), ..pdi(Interface::Access) };
    rules.pdrs.insert(9, pdr(1, pdi, 9));
    rules.fars.insert(9, forward(Interface::Access, Some((0x6000, Ipv4Addr::new(10, 0, 3, 51)))));
    let mut plane = plane_of(64);
    plane.commit(1, Some(&rules)).unwrap();
    let dump = plane.data().dump(&["pdr_by_teid"]);
    let line = dump.lines().find(|l| l.contains("teid=0x200")).unwrap();
    // Of the flags only that a QFI that came stays: the default flow's is no QER's.
    assert!(line.contains("flags=64") && line.contains("encapsulation=psc_downlink tunnel_teid=0x6000"), "{line}");
}

#[test]
fn peers_get_a_next_hop_of_their_own() {
    let mut plane = plane_of(64);
    plane.commit(1, Some(&open5gs_connected())).unwrap();
    let dump = plane.data().dump(&["route_ipv4 ", "route", "nexthop"]);
    assert!(dump.contains("route_ipv4 vrf=1 destination=10.0.3.50/32 -> set_nexthop nexthop=8"), "{dump}");
    assert!(dump.contains("nexthop nexthop=8 -> unresolved nexthop=8"), "{dump}");
    let before = plane.host().neighbour_count();
    // A refused batch leaves no trace in the host either.
    let mut rules = open5gs_connected();
    rules.fars.insert(1, forward(Interface::Access, Some((1, Ipv4Addr::new(10, 0, 3, 77)))));
    plane.data_mut().refuse_after = Some((2, ApplyError::Unknown("no".into())));
    assert_eq!(plane.commit(1, Some(&rules)), Err(CommitError::System("outcome unknown: no".into())));
    assert_eq!(plane.host().neighbour_count(), before);
    plane.commit(1, Some(&rules)).unwrap();
    assert_eq!(plane.host().neighbour_count(), before + 1);
}

#[test]
fn an_end_marker_is_sent_when_the_peer_is_known() {
    let now = std::time::Duration::from_secs(1);
    let mut plane = plane_of(64);
    plane.commit(1, Some(&open5gs_connected())).unwrap();
    assert_eq!(plane.data().sent.len(), 2); // ARP requests for the peers that the session names
    plane.send_end_marker(OuterHeader { teid: 0x5001, ipv4: GNB });
    let gnb_mac = wire::ethernet::Mac([2, 0, 0, 0, 0, 0x50]);
    let reply = crate::host::arp_reply(gnb_mac, GNB, wire::ethernet::Mac([2, 0, 0, 0, 0, 3]), N3);
    let arp = plane.ids().reasons.arp;
    let actions = plane.punt(&reply, PortId(0), arp, 0, now);
    let [upf::host::Action::Resolved { number }] = &actions[..] else { panic!("{actions:?}") };
    let released = plane.host_and_data().0.release(*number, []);
    let [(PortId(0), frame)] = &released.own[..] else { panic!("{released:?}") };
    let (ip, message) = crate::host::gtpu_of(frame);
    assert_eq!((ip.src(), ip.dst()), (N3, GNB));
    assert_eq!((message.teid, message.message), (0x5001, wire::gtpu::Message::EndMarker));
    assert_eq!(frame[..6], gnb_mac.0);

    // One that comes in goes on to where the tunnel's packets go: nowhere for N6, the SMF's tunnel for the other PDR.
    let end_marker = crate::host::gtpu_frame(GNB, N3, 2152, &wire::gtpu::Repr::new(0x100, None, wire::gtpu::Message::EndMarker));
    let signalling = plane.ids().reasons.gtpu_signalling;
    let actions = plane.punt(&end_marker, PortId(0), signalling, 0, now);
    assert_eq!(actions, [], "the SMF was asked for its MAC address when the session began: the marker waits");
}

/// As packets between two tunnels keep their container (TS 29.244 table 8.2.64-1 note 1).
#[test]
fn an_end_marker_goes_on_with_its_container_where_packets_do() {
    let now = std::time::Duration::from_secs(1);
    let container = Some(wire::gtpu::SessionContainer::Downlink { qfi: 7, rqi: true, ppi: Some(5) });
    for (removal, expected) in [(HeaderRemoval::Gtpu, container), (HeaderRemoval::GtpuAndContainer, None)] {
        let mut rules = open5gs_connected();
        let pdi = Pdi { f_teid: Some(FTeid { teid: 0x200, ipv4: N3 }), ..pdi(Interface::Access) };
        rules.pdrs.insert(9, Pdr { outer_header_removal: removal, ..pdr(1, pdi, 9) });
        rules.fars.insert(9, forward(Interface::Access, Some((0x6000, GNB))));
        let mut plane = plane_of(64);
        plane.commit(1, Some(&rules)).unwrap();
        let marker =
            wire::gtpu::Repr { session_container: container, ..wire::gtpu::Repr::new(0x200, None, wire::gtpu::Message::EndMarker) };
        let signalling = plane.ids().reasons.gtpu_signalling;
        let came = crate::host::gtpu_frame(GNB, N3, 2152, &marker);
        assert_eq!(plane.punt(&came, PortId(0), signalling, 0, now), []);
        let gnb_mac = wire::ethernet::Mac([2, 0, 0, 0, 0, 0x50]);
        let reply = crate::host::arp_reply(gnb_mac, GNB, wire::ethernet::Mac([2, 0, 0, 0, 0, 3]), N3);
        let arp = plane.ids().reasons.arp;
        let actions = plane.punt(&reply, PortId(0), arp, 0, now);
        let [upf::host::Action::Resolved { number }] = &actions[..] else { panic!("{actions:?}") };
        let released = plane.host_and_data().0.release(*number, []);
        let [(PortId(0), frame)] = &released.own[..] else { panic!("{released:?}") };
        let message = crate::host::gtpu_of(frame).1;
        assert_eq!((message.teid, message.session_container, message.message), (0x6000, expected, wire::gtpu::Message::EndMarker));
    }
}

/// The same rules for another user.
fn of_user(n: u8, mut rules: SessionRules) -> SessionRules {
    for pdr in rules.pdrs.values_mut() {
        pdr.pdi.f_teid = pdr.pdi.f_teid.map(|tunnel| FTeid { teid: tunnel.teid + (u32::from(n) << 16), ..tunnel });
        let ue_ip = |ue: UeIp| UeIp {
            ipv4: ue.ipv4.map(|_| Ipv4Addr::new(10, 45, 9, n)),
            ipv6: ue.ipv6.map(|(_, length)| (Ipv6Addr::new(0xfd09, 0, 0, n.into(), 0, 0, 0, 0), length)),
            ..ue
        };
        pdr.pdi.ue_ip = pdr.pdi.ue_ip.map(ue_ip);
    }
    rules
}

/// What a start after a crash does: some of them at a time.
#[test]
fn sessions_that_come_back_together_are_as_if_each_came_alone() {
    // The first two have their filter sets in common.
    let (first, second, third) = (of_user(1, free5gc()), of_user(2, free5gc()), of_user(3, open5gs_connected()));
    let usage = Usage { uplink_bytes: 700, downlink_bytes: 90, uplink_packets: 7, downlink_packets: 1 };
    let counters = [(1, usage)].into();
    for (sessions, batches) in [([(1, &first), (2, &second), (3, &third)], 1), ([(1, &first), (4, &first), (3, &third)], 2)] {
        let recorded = BTreeMap::new();
        let sessions = sessions.map(|(seid, rules)| Returning { seid, rules, counters: &counters, recorded: &recorded });
        let (mut together, mut alone) = (plane_of(64), plane_of(64));
        let outcomes = together.restore(&sessions);
        let expected: Vec<_> = sessions.iter().map(|session| session.commit_to(&mut alone)).collect();
        // One that has another's key is refused alone.
        assert_eq!((outcomes.iter().filter(|outcome| outcome.is_ok()).count(), together.data().batches.len()), (4 - batches, batches));
        assert_eq!(outcomes, expected);
        assert_eq!(together.in_use(), alone.in_use());
        assert_eq!((&together.data().infos, &together.data().sent), (&alone.data().infos, &alone.data().sent));
        // Tried in vain, they have other numbers.
        if batches == 1 {
            assert_eq!(together.data().dump(&[""]), alone.data().dump(&[""]));
        }
        for Returning { seid, .. } in sessions {
            assert_eq!((together.usage(seid, 1), together.entries(seid).len()), (alone.usage(seid, 1), alone.entries(seid).len()));
            assert_eq!(together.commit(seid, None).unwrap(), alone.commit(seid, None).unwrap());
        }
        assert_eq!((together.in_use(), alone.in_use()), (InUse::default(), InUse::default()));
    }
}

/// XDP goes on counting for a session while the daemon is away, in cells that the next daemon numbers otherwise.
#[test]
fn usage_goes_on_from_what_cells_have_counted_that_outlast_the_process() {
    const EPOCH: u64 = 77;
    let count = |packets: u64| target_api::Count { packets, bytes: 100 * packets };
    let rules = open5gs_connected();
    let urr_id = *rules.urrs.keys().next().unwrap();
    let mut before = plane_of(64);
    before.data_mut().lasting = Some((EPOCH, BTreeMap::new()));
    // A cell is taken first by another, which leaves.
    before.commit(9, Some(&of_user(9, open5gs_connected()))).unwrap();
    before.commit(1, Some(&rules)).unwrap();
    before.commit(9, None).unwrap();
    let cells: Vec<(u64, bool)> =
        before.counters(1, urr_id).lasting.unwrap().cells.iter().map(|cell| (cell.cell.into(), cell.uplink)).collect();
    assert!(cells.iter().any(|(_, uplink)| *uplink) && cells.iter().any(|(_, uplink)| !*uplink), "{cells:?}");
    // Some ran elsewhere, 3 in each cell, and 5 where it lasts.
    let mut lasting: BTreeMap<u64, target_api::Count> = cells.iter().map(|(cell, _)| (*cell, count(5))).collect();
    before.data_mut().counters = cells.iter().map(|(cell, _)| (*cell, count(3))).collect();
    before.data_mut().lasting = Some((EPOCH, lasting.clone()));
    let recorded = before.counters(1, urr_id);
    assert_eq!((recorded.usage, recorded.lasting.as_ref().unwrap().epoch), (before.usage(1, urr_id), EPOCH));
    assert_eq!(recorded.usage.uplink_packets, 8);
    // While nobody is there.
    lasting.values_mut().for_each(|cell| *cell = count(12));
    let packets = |usage: Usage| (usage.uplink_packets, usage.downlink_packets, usage.uplink_bytes, usage.downlink_bytes);
    // What cells say; and what reports have told more than the record.
    let told = Usage { uplink_packets: 16, uplink_bytes: 1600, ..recorded.usage };
    type Left<'a> = &'a dyn Fn(u64, u32) -> Option<target_api::Count>;
    let found = |epoch: u64, cell: u32| lasting.get(&cell.into()).copied().filter(|_| epoch == EPOCH);
    let cases: [(Left, Usage, u64, _); 4] = [
        (&found, recorded.usage, 14, (15, 15, 1500, 1500)),
        (&found, told, 14, (16, 15, 1600, 1500)),
        (&|_, _| None, recorded.usage, 0, (8, 8, 800, 800)),
        // It is another's by now.
        (&|_, _| Some(target_api::Count { packets: 4, bytes: 4000 }), recorded.usage, 0, (8, 8, 800, 800)),
    ];
    for (left, counters, grown, expected) in cases {
        for together in [true, false] {
            let mut after = plane_of(64);
            let (counters, recorded) = ([(urr_id, counters)].into(), [(urr_id, recorded.clone())].into());
            let session = Returning { seid: 1, rules: &rules, counters: &counters, recorded: &recorded };
            match together {
                true => assert_eq!(after.restore(&[session]), [Ok(())]),
                false => session.commit_to(&mut after).unwrap(),
            }
            assert_eq!((after.take_over(left), packets(after.usage(1, urr_id))), (grown, expected));
            assert_eq!(after.take_over(left), 0, "once");
        }
    }
}

#[test]
fn another_program_or_network_is_refused_with_a_name() {
    let mut program = by_hand::upf(64);
    let id = program.table("pdr_by_class").unwrap();
    program.tables[id].keys[1].width = 16;
    let error = Ids::bind(&program).unwrap_err().to_string();
    assert_eq!(error, "program upf.p4: table pdr_by_class has keys [(32, Exact), (16, Exact)], not [(32, Exact), (8, Exact)]");
    program.tables[id].name = "other".into();
    program.tables[id].full_name = "other".into();
    assert_eq!(Ids::bind(&program).unwrap_err().to_string(), "program upf.p4: no table pdr_by_class");

    type Change = fn(&mut upf::config::NetworkConfig);
    let cases: [(Change, &str); 8] = [
        (|c| c.ports.clear(), "ports: none given"),
        (|c| c.ports[1].id = PortId(0), "ports[1].id: 0 is given twice or above 508"),
        (|c| c.ports[0].mac = [1, 0, 0, 0, 0, 0], "ports[0].mac: 01:00:00:00:00:00 is no station's address"),
        (|c| c.ports[1].gtpu_endpoints = vec![UE], "ports[1].gtpu_endpoints: GTP-U is not parsed on port 128 (128-255, 384-508)"),
        (|c| c.ports[0].addresses[0].1 = 33, "ports[0].addresses: 10.0.3.1/33: prefix length is not in 1..=32"),
        (|c| c.routes[0].via = Via::Gateway(GNB.into()), "routes[0].via: gateway 10.0.3.50 is on no network of internet"),
        (|c| c.routes[0].network_instance = "x".into(), "routes[0].network_instance: no port or VNI has x"),
        (|c| c.routes[0].prefix = ("10.1.0.0".parse().unwrap(), 8), "routes[0].prefix: 10.1.0.0/8: host bits are not zero"),
    ];
    for (change, expected) in cases {
        let mut config = sessions::network();
        change(&mut config);
        assert_eq!(config.validate().unwrap_err().to_string(), expected);
        let program = by_hand::upf(4);
        assert!(matches!(Plane::new(&config, &program, Model::new(program.clone())), Err(SetupError::Config(_))));
    }
}

#[test]
fn a_port_takes_loopback_peers_only_where_it_has_a_loopback_network() {
    let program = by_hand::upf(16);
    let ids = Ids::bind(&program).unwrap();
    let ports = |config: &NetworkConfig| -> BTreeSet<u128> {
        let batch = upf::static_rules::initial(config, &ids);
        let entries = batch.ops.into_iter().filter_map(|op| match op {
            Op::Insert(entry) if entry.action == ids.actions.station_loopback => Some(entry),
            _ => None,
        });
        let port = |entry: Entry| match entry.keys[0] {
            KeyMatch::Exact(port) => port,
            _ => panic!("a port is exact"),
        };
        entries.map(port).collect()
    };
    let mut config = network();
    assert_eq!(ports(&config), BTreeSet::new());
    // gNodeBs of a closed lab, by a route; a default route is none.
    let lab = Route { network_instance: "access".into(), prefix: ("127.0.0.0".parse().unwrap(), 8), via: Via::Connected(PortId(0)) };
    config.routes.push(lab);
    assert_eq!(ports(&config), BTreeSet::from([0]));
    // An address of its own, as N4-U has.
    config.routes.pop();
    config.ports[1].addresses.push(("127.0.0.1".parse().unwrap(), 8));
    assert_eq!(ports(&config), BTreeSet::from([128]));
}
