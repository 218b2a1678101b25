//! Conversations as three SMFs in use hold them: Open5GS, free5GC, pfcpsim.

mod common;

use std::time::Duration;

use common::*;
use pfcp::codec::{
    ApplyActionFlags, Cause, FTeid, Ie, Message, MessageType, Name, NodeId, OuterHeaderCreation, SNssai, SdfFilter, UpFeatures, Volume,
    find, number,
};
use pfcp::rules::{HeaderRemoval, Interface, OuterHeader};

const PERIO: u32 = 1;
const VOLTH: u32 = 2;

/// Four PDRs, three FARs, one each of URR, QER and BAR; one CHOOSE ID; buffering until the gNodeB's tunnel is known.
fn open5gs_establishment() -> Vec<Ie> {
    let flow = SdfFilter { flow_description: Some("permit out 58 from ff02::2/128 to assigned".into()), ..SdfFilter::default() };
    let common = |rest: Vec<Ie>| [vec![Ie::UrrId(1), Ie::QerId(1)], rest].concat();
    let to_smf = OuterHeaderCreation::gtpu_ipv4(77, [127, 0, 0, 4].into());
    vec![
        Ie::NodeId(smf_node()),
        smf_seid(0xc0ffee),
        pdr(1, 1, vec![labels("internet"), ue([10, 45, 0, 2], true)], 1, common(vec![])),
        pdr(2, 0, vec![choose(Some(5)), labels("internet"), ue([10, 45, 0, 2], false)], 2, common(vec![decap(6)])),
        pdr(3, 3, vec![choose(Some(5)), labels("internet"), ue([10, 45, 0, 2], true)], 1, vec![decap(6)]),
        pdr(4, 0, vec![choose(Some(5)), labels("internet"), Ie::SdfFilter(flow)], 3, vec![decap(6)]),
        Ie::CreateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP), Ie::BarId(1)]),
        Ie::CreateFar(vec![
            Ie::FarId(2),
            Ie::ApplyAction(ApplyActionFlags::FORW),
            Ie::ForwardingParameters(vec![Ie::DestinationInterface(1), labels("internet")]),
        ]),
        Ie::CreateFar(vec![
            Ie::FarId(3),
            Ie::ApplyAction(ApplyActionFlags::FORW),
            Ie::ForwardingParameters(vec![Ie::DestinationInterface(3), Ie::OuterHeaderCreation(to_smf)]),
        ]),
        urr(1, PERIO, vec![Ie::MeasurementPeriod(3600), Ie::VolumeThreshold(Volume { total: Some(1 << 30), ..Volume::default() })]),
        qer(1, 1),
        Ie::CreateBar(vec![Ie::BarId(1)]),
        Ie::PdnType(1),
        Ie::UserId(vec![0x01, 0x08, 0x99, 0x99, 0x07, 0, 0, 0, 0, 0x10]),
        Ie::ApnDnn(Name::Labels("internet".into())),
        Ie::SNssai(SNssai { sst: 1, sd: 0xffffff }),
    ]
}

/// Open5GS copies its 24-bit SD as its machine has it in memory.
#[test]
fn the_slice_differentiator_of_a_peer_that_reverses_its_octets_is_as_operators_write_it() {
    let request = |sd: u32| {
        let mut ies = open5gs_establishment();
        ies.retain(|ie| !matches!(ie, Ie::SNssai(_)));
        ies.push(Ie::SNssai(SNssai { sst: 1, sd }));
        ies
    };
    let other = pfcp::config::Network::one([192, 0, 2, 9].into());
    let smf = pfcp::config::Network::one(SMF.ip());
    for (reversed, sent, meant) in [
        (vec![other, smf], 0x03_02_01, Some(0x01_02_03)),
        (vec![other, smf], 0x80_00_00, Some(0x80)),
        // None (TS 23.003 §28.4.2), either way.
        (vec![other, smf], 0xff_ffff, None),
        (vec![other], 0x03_02_01, Some(0x03_02_01)),
        (vec![], 0x03_02_01, Some(0x03_02_01)),
    ] {
        let mut bench = Bench::alone(pfcp::config::Config { sd_reversed: reversed, ..config() });
        bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
        let (seid, _) = bench.establish(request(sent));
        assert_eq!(bench.plane.sessions[&seid].s_nssai, Some((1, meant)), "{sent:06x}");
    }
}

#[test]
fn open5gs_from_association_to_release() {
    let mut bench = Bench::alone(config());
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    assert_eq!(find!(answer.ies, RecoveryTimeStamp), Some(&UPF_STARTED));
    let features = *find!(answer.ies, UpFunctionFeatures).unwrap();
    assert!(features.has(UpFeatures::FTUP.and(UpFeatures::EMPU).and(UpFeatures::UEIP).and(UpFeatures::MNOP)));
    assert!(!features.has(UpFeatures::PFDM) && !features.has(UpFeatures::TRST));

    let (seid, answer) = bench.establish(open5gs_establishment());
    assert_eq!(answer.seid, Some(0xc0ffee));
    assert!(find!(answer.ies, NodeId).is_some());
    // Three PDRs asked for a tunnel with one ID: they share it.
    let created = groups(&answer.ies, number::CreatedPdr);
    let teids: Vec<_> = created.iter().map(|ies| (*find!(ies, PdrId).unwrap(), *find!(ies, FTeid).unwrap())).collect();
    assert_eq!(teids.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 3, 4]);
    assert!(teids.iter().all(|(_, f_teid)| *f_teid == teids[0].1));
    assert!(matches!(teids[0].1, FTeid::Given { teid: 1.., ipv4: Some(N3), ipv6: None }));

    let rules = &bench.plane.sessions[&seid];
    assert_eq!((rules.pdrs.len(), rules.fars.len(), rules.qers.len(), rules.urrs.len(), rules.bars.len()), (4, 3, 1, 1, 1));
    assert_eq!(rules.pdrs[&2].outer_header_removal, HeaderRemoval::Gtpu);
    assert_eq!(rules.pdrs[&3].pdi.source_interface, Interface::CpFunction);
    assert_eq!(rules.pdrs[&1].pdi.network_instance.as_deref(), Some("internet"));
    assert_eq!(rules.pdrs[&4].pdi.sdf_filters[0].flow.as_ref().unwrap().protocol, Some(58));

    // The UE is pinged before the gNodeB has answered: one report, however many packets.
    bench.node.downlink_data(seid, 1, bench.now);
    bench.node.downlink_data(seid, 1, bench.now);
    let report = bench.sent_one();
    assert_eq!((report.kind, report.seid), (MessageType::SessionReportRequest, Some(0xc0ffee)));
    assert_eq!(find!(report.ies, ReportType), Some(&1));
    assert_eq!(find!(report.ies, DownlinkDataReport), Some(&vec![Ie::PdrId(1)]));
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);

    // The gNodeB's tunnel is known.
    let answer = bench.modify(seid, vec![far_to_gnb(1, 0x100, None)]);
    assert_eq!((answer.cause(), answer.seid), (Some(Cause::REQUEST_ACCEPTED), Some(0xc0ffee)));
    let tunnel = |teid| Some(OuterHeader { teid, ipv4: GNB });
    assert_eq!(bench.plane.sessions[&seid].fars[&1].forwarding.as_ref().unwrap().outer_header, tunnel(0x100));

    // Handover: the path is switched and the old one told so.
    bench.modify(seid, vec![far_to_gnb(1, 0x200, Some(0x02))]);
    assert_eq!(bench.plane.end_markers, [tunnel(0x100).unwrap()]);

    // Idle: buffering begins anew, and so does its episode.
    let idle = Ie::UpdateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)]);
    bench.modify(seid, vec![idle]);
    bench.node.downlink_data(seid, 1, bench.now);
    assert_eq!(bench.sent_one().kind, MessageType::SessionReportRequest);

    // Another QoS flow's uplink PDR comes later with the same CHOOSE ID: the gNodeB knows but one tunnel.
    let flow = pdr(5, 0, vec![choose(Some(5)), labels("internet"), Ie::Qfi(2)], 2, vec![decap(6), Ie::QerId(2)]);
    let answer = bench.modify(seid, vec![flow, qer(2, 2)]);
    assert_eq!(find!(groups(&answer.ies, number::CreatedPdr)[0], FTeid), Some(&teids[0].1));

    bench.count(seid, 1, 1000, 3000);
    let answer = bench.delete(seid);
    let report = groups(&answer.ies, number::UsageReportInDeletionResponse)[0];
    assert_eq!(find!(report, UsageReportTrigger).unwrap().0, 1 << 11, "TERMR");
    assert_eq!(find!(report, VolumeMeasurement).unwrap().bytes, Volume { total: Some(4000), uplink: Some(1000), downlink: Some(3000) });
    assert_eq!(answer.seid, Some(0xc0ffee));
    assert!(bench.plane.sessions.is_empty());
    assert_eq!(bench.node.resources_in_use(), 0);
    // Only the heartbeat is left, and the report that nobody answered.
    assert_eq!(bench.delete(seid).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
}

/// TEIDs of the SMF's choice, plain text names, priority, two URRs and two QERs a PDR, periodic reports and thresholds.
#[test]
fn free5gc_measures() {
    let mut bench = Bench::new();
    let text = || Ie::NetworkInstance(Name::Text("internet".into()));
    let rest = || vec![Ie::UrrId(1), Ie::UrrId(2), Ie::QerId(1), Ie::QerId(2)];
    let request = vec![
        Ie::NodeId(smf_node()),
        smf_seid(1),
        pdr(1, 0, vec![given(1), text(), ue([10, 60, 0, 1], false)], 1, [vec![decap(0)], rest()].concat()),
        pdr(2, 1, vec![text(), ue([10, 60, 0, 1], true)], 2, rest()),
        far_to(1, 1),
        far_buffer(2),
        qer(1, 1),
        qer(2, 1),
        urr(1, PERIO, vec![Ie::MeasurementPeriod(30), Ie::MeasurementInformation(0x10)]),
        urr(2, VOLTH | PERIO, vec![Ie::MeasurementPeriod(30), Ie::VolumeThreshold(Volume { total: Some(5000), ..Volume::default() })]),
        Ie::PdnType(1),
    ];
    let mut message = pfcp::codec::Message::session(MessageType::SessionEstablishmentRequest, 0, 50, request);
    message.priority = Some(1);
    let answer = bench.ask_octets(&message.encode().unwrap());
    assert_eq!((answer.cause(), answer.priority), (Some(Cause::REQUEST_ACCEPTED), Some(1)));
    assert!(groups(&answer.ies, number::CreatedPdr).is_empty(), "nothing was left to our choice");
    let seid = find!(answer.ies, FSeid).unwrap().seid;
    let rules = &bench.plane.sessions[&seid];
    assert_eq!((&rules.pdrs[&1].urr_ids[..], &rules.pdrs[&2].qer_ids[..]), (&[1, 2][..], &[1, 2][..]));
    assert_eq!(rules.pdrs[&2].pdi.network_instance.as_deref(), Some("internet"));
    bench.modify(seid, vec![far_to_gnb(2, 1, None)]);

    // The threshold is reached between two polls.
    bench.count(seid, 2, 1000, 3999);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.sent().is_empty());
    bench.count(seid, 2, 1000, 4000);
    bench.now += Duration::from_secs(1);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    let usage = find!(report.ies, UsageReportInReportRequest).unwrap();
    assert_eq!((find!(usage, UrrId), find!(usage, UrSeqn)), (Some(&2), Some(&0)));
    assert_eq!(find!(usage, UsageReportTrigger).unwrap().0, 2, "VOLTH");
    assert_eq!((find!(usage, StartTime), find!(usage, EndTime)), (Some(&(UPF_STARTED + 5)), Some(&(UPF_STARTED + 6))));
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.sent().is_empty(), "a reported volume does not count again");

    // After 30 s both report, in one message, the second what came after the threshold.
    bench.count(seid, 1, 700, 0);
    bench.count(seid, 2, 1000, 4500);
    bench.pass(Duration::from_secs(29));
    let mut reports: Vec<_> = bench.sent().into_iter().filter(|(_, m)| m.kind == MessageType::SessionReportRequest).collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = reports.remove(0).1;
    let usages = groups(&report.ies, number::UsageReportInReportRequest);
    let totals: Vec<_> = usages.iter().map(|ies| find!(ies, VolumeMeasurement).unwrap().bytes.total).collect();
    assert_eq!(totals, [Some(700), Some(500)]);
    assert_eq!(find!(usages[1], UrSeqn), Some(&1));
    // Packets where Measurement Information asked for them.
    assert_eq!(find!(usages[0], VolumeMeasurement).unwrap().packets.total, Some(7));
    assert_eq!(find!(usages[1], VolumeMeasurement).unwrap().packets.total, None);

    let answer = bench.delete(seid);
    assert_eq!(groups(&answer.ies, number::UsageReportInDeletionResponse).len(), 2);
}

#[test]
fn free5gc_needs_the_node_id_in_a_rejection() {
    let mut bench = Bench::alone(config());
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(9, 1, [10, 0, 0, 1], vec![]));
    assert_eq!(answer.cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
    assert_eq!(find!(answer.ies, NodeId), Some(&pfcp::codec::NodeId::Ipv4(UPF)));
    assert_eq!(answer.seid, Some(9), "the rejection goes to the CP F-SEID");
}

/// Two PDRs, two FARs, two URRs, three QERs a session; releases numbered 0; an F-SEID in the deletion.
#[test]
fn pfcpsim_in_rounds() {
    let mut bench = Bench::new();
    for round in 0..3u32 {
        let mut seids = Vec::new();
        for n in 0..10u32 {
            let rest = vec![qer(1, 1), qer(2, 1), qer(3, 1), urr(1, 0, vec![]), urr(2, 0, vec![])];
            let address = [17, 0, 0, n as u8];
            let (seid, _) = bench.establish(simple_session((round * 10 + n).into(), n + 1, address, rest));
            seids.push(seid);
        }
        for (n, seid) in seids.into_iter().enumerate() {
            bench.modify(seid, vec![far_to_gnb(2, n as u32, None)]);
            if n % 2 == 0 {
                let answer = bench.ask(MessageType::SessionDeletionRequest, Some(seid), vec![smf_seid(n as u64)]);
                assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
                assert_eq!(answer.seid, Some(u64::from(round * 10) + n as u64));
            }
        }
        // The same release every round, octet by octet: it is not a retransmission.
        let release = pfcp::codec::Message::node(MessageType::AssociationReleaseRequest, 0, vec![Ie::NodeId(smf_node())]);
        let release = release.encode().unwrap();
        assert_eq!(bench.ask_octets(&release).cause(), Some(Cause::REQUEST_ACCEPTED));
        bench.pass(std::time::Duration::ZERO);
        assert_eq!((bench.node.session_count(), bench.node.resources_in_use(), bench.plane.sessions.len()), (0, 0, 0));
        // But this is: the answer comes again.
        assert_eq!(bench.ask_octets(&release).cause(), Some(Cause::REQUEST_ACCEPTED));
        assert_eq!(bench.node.stats().repeated_answers, u64::from(round) + 1);
        let setup = pfcp::codec::Message::node(MessageType::AssociationSetupRequest, 1, setup_ies(SMF_STARTED));
        assert_eq!(bench.ask_octets(&setup.encode().unwrap()).cause(), Some(Cause::REQUEST_ACCEPTED));
        assert_eq!(bench.node.associations().count(), 1);
    }
}

/// pfcpsim asks for the release as 0.0.0.0, numbered 0 each time.
#[test]
fn a_release_by_an_unspecified_node_id_was_refused() {
    let mut bench = Bench::new();
    let unspecified = NodeId::Ipv4([0, 0, 0, 0].into());
    let release = Message::node(MessageType::AssociationReleaseRequest, 0, vec![Ie::NodeId(unspecified)]).encode().unwrap();
    for round in 1..=3 {
        bench.establish(simple_session(round, 1, [10, 0, 0, 1], vec![]));
        assert_eq!(bench.ask_octets(&release).cause(), Some(Cause::REQUEST_ACCEPTED));
        bench.pass(Duration::from_secs(1));
        assert_eq!((bench.node.associations().count(), bench.plane.sessions.len()), (0, 0), "round {round}");
        let setup = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
        assert_eq!(setup.cause(), Some(Cause::REQUEST_ACCEPTED));
    }
    // From another address it says nothing of this association.
    bench.smf = "127.0.0.99:8805".parse().unwrap();
    assert_eq!(bench.ask_octets(&release).cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
    assert_eq!(bench.node.associations().count(), 1);
}

/// Apply Action 0x0008: §8.2.26 wants one of DROP, FORW and BUFF, and NOCP only with BUFF.
#[test]
fn notification_without_an_action_is_refused_by_far_and_flag() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let before = bench.plane.sessions[&seid].clone();
    let notify = Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags(0x0008))]);
    let answer = bench.modify(seid, vec![notify]);
    assert_eq!(answer.cause(), Some(Cause::MANDATORY_IE_INCORRECT));
    assert_eq!(find!(answer.ies, OffendingIe), Some(&number::ApplyAction));
    assert_eq!(bench.plane.sessions[&seid], before);
}
