//! Each text as people see it, in files beside this one.

use super::*;
use crate::manage::report::{MoveReport, OffloadReport, PeerReport, PortReport, ProgramReport, QueueReport, TargetReport};
use crate::manage::sessions::{PlacementReport, UsageReport};
use pfcp::rules::{Bar, FTeid, FlowDescription, Forwarding, HeaderRemoval, Interface, OuterHeader, Pdi, SessionRules, UeIp};

fn count(packets: u64) -> Count {
    Count { packets, bytes: packets * 100 }
}

/// A queue that so many packets left, half of them within 256 us, and so many were dropped of.
fn waited(packets: u64, dropped: u64) -> ShapedReport {
    let mut delays = vec![0; 20];
    (delays[8], delays[14]) = (packets / 2, packets - packets / 2);
    let dropped = if dropped > 0 { [("late".to_owned(), dropped)].into() } else { BTreeMap::new() };
    ShapedReport { queued: packets, sent: count(packets), waited_us: 99 * packets, marked: 2, dropped, delays }
}

/// As of a UPF with a fast target, with each counter a number of its own.
fn report() -> Report {
    let table = |entries| TableReport { entries, capacity: 1024, hits: 7, misses: 8 };
    let tables: BTreeMap<String, TableReport> = [("pdr_by_teid".to_owned(), table(5)), ("routes".to_owned(), table(1024))].into();
    let n3 = PortReport {
        driver: "af_xdp".into(),
        received: count(1000),
        transmitted: count(900),
        received_ahead: count(600),
        transmitted_ahead: count(500),
        lost_before_us: 3,
        dropped: [("no_pdr".to_owned(), 11)].into(),
        queues: vec![QueueReport { worker: 0, received: count(400), transmitted: count(400) }],
        waiting: vec![waited(380, 9), ShapedReport::default(), waited(20, 0)],
        ..PortReport::default()
    };
    let n6 = PortReport {
        driver: "af_packet".into(),
        received: count(800),
        transmitted: count(700),
        down: true,
        reopened: 2,
        ..PortReport::default()
    };
    let peer = PeerReport {
        node_id: "smf\u{1b}[31m.example".into(),
        address: "10.0.0.4:8805".into(),
        sessions: 5,
        lost: true,
        lost_ms: Some(31_000),
        age_ms: 61_000,
        messages: [("SessionEstablishmentRequest".to_owned(), MessageCount { received: 6, sent: 0 })].into(),
        rejected: [("75 No resources available".to_owned(), 1)].into(),
    };
    let moved = |seid, sessions, why: &str, to: &str| MoveReport {
        seid,
        sessions,
        at_ms: 3_000_000,
        to: to.into(),
        why: why.into(),
        outcome: "done".into(),
    };
    Report {
        elapsed_ms: 3_723_000,
        program: ProgramReport { name: "upf.p4".into(), fingerprint: "0123".into() },
        ports: [("n3".to_owned(), n3), ("n6".to_owned(), n6)].into(),
        targets: [
            (
                "x86".to_owned(),
                TargetReport {
                    sessions: 3,
                    wanted: 1,
                    uplink: count(40),
                    downlink: count(50),
                    tables: tables.clone(),
                    ..Default::default()
                },
            ),
            (
                "xdp".to_owned(),
                TargetReport {
                    sessions: 2,
                    wanted: 3,
                    out_of_service: true,
                    fell_over: 2,
                    came_back: 1,
                    slow_path: 9,
                    short_tables: vec!["routes".into()],
                    ..Default::default()
                },
            ),
        ]
        .into(),
        workers: vec![400],
        moved_buckets: 4,
        dropped: [("no_pdr".to_owned(), count(11)), ("tx_full".to_owned(), count(2))].into(),
        punted: [("arp".to_owned(), count(20))].into(),
        refused: [("arp_limit".to_owned(), 4)].into(),
        host_unsent: [("no_neighbour".to_owned(), 1)].into(),
        buffered: count(30),
        released: count(10),
        imbalance: 1,
        tables,
        n4: [("sessions", 5), ("sessions_ending", 1), ("received", 70), ("sent", 71), ("rejected", 1), ("dropped_stranger", 3)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        n4_messages: [("HeartbeatRequest".to_owned(), MessageCount { received: 5, sent: 6 })].into(),
        n4_rejected: [("75 No resources available".to_owned(), 1)].into(),
        peers: vec![peer],
        draining: true,
        offload: OffloadReport {
            policy: "planned".into(),
            moved_to_fast: 3,
            moved_to_base: 1,
            moves_failed: 2,
            refused: 2,
            unplaced: 1,
            recent: vec![moved(u64::MAX, 1, "worth", "fast"), moved(0, 12, "out_of_service", "base")],
        },
        load: vec![WorkerReport { slot: 0, packets: 4000, busy_us: 700_000, waiting_permille: 25, buckets: 64 }],
        ..Report::default()
    }
}

fn row() -> SessionRow {
    SessionRow {
        seid: u64::MAX,
        cp_seid: 0x17,
        smf: "10.0.0.4".into(),
        ue_ipv4s: vec![[10, 45, 0, 2].into()],
        ue_ipv6s: vec!["2001:db8:45::".parse().unwrap()],
        dnn: Some("inter\nnet".into()),
        slice: Some("1-010203".into()),
        teids: vec![0xab],
        target: "xdp".into(),
        reason: "rule".into(),
        age_ms: 90_061_000,
        buffers: true,
        uplink: count(5),
        downlink: count(6),
        ..SessionRow::default()
    }
}

fn rules() -> SessionRules {
    let pdi = |source_interface| Pdi {
        source_interface,
        f_teid: None,
        network_instance: None,
        ue_ip: None,
        sdf_filters: Vec::new(),
        qfis: Vec::new(),
    };
    let flow = FlowDescription {
        protocol: Some(17),
        remote: AddressMatch::Prefix([192, 0, 2, 0].into(), 24),
        remote_ports: vec![(53, 53), (1000, 2000)],
        local: AddressMatch::Assigned,
        local_ports: Vec::new(),
    };
    let uplink = Pdr {
        precedence: 255,
        pdi: Pdi {
            f_teid: Some(FTeid { teid: 0xab, ipv4: [10, 3, 0, 1].into() }),
            network_instance: Some("access".into()),
            qfis: vec![9],
            ..pdi(Interface::Access)
        },
        outer_header_removal: HeaderRemoval::Gtpu,
        far_id: Some(1),
        urr_ids: vec![1, 2],
        qer_ids: vec![1],
    };
    let downlink = Pdr {
        precedence: 100,
        pdi: Pdi {
            ue_ip: Some(UeIp { ipv4: Some([10, 45, 0, 2].into()), ipv6: None, destination: true }),
            sdf_filters: vec![SdfFilter { flow: Some(flow), tos: Some((0xb8, 0xfc)), spi: None, flow_label: None, filter_id: Some(3) }],
            ..pdi(Interface::Core)
        },
        outer_header_removal: HeaderRemoval::No,
        far_id: Some(2),
        urr_ids: vec![],
        qer_ids: vec![],
    };
    let tunnel = OuterHeader { teid: 7, ipv4: [10, 3, 0, 2].into() };
    let forwarding = |destination, outer_header| Some(Forwarding { destination, network_instance: None, outer_header, tos: None });
    let far = |action, forwarding, bar_id| Far { action, forwarding, bar_id };
    SessionRules {
        pdrs: [(1, uplink), (2, downlink)].into(),
        fars: [
            (1, far(ApplyAction { forward: true, ..Default::default() }, forwarding(Interface::Core, None), None)),
            (
                2,
                far(ApplyAction { buffer: true, notify: true, ..Default::default() }, forwarding(Interface::Access, Some(tunnel)), Some(1)),
            ),
        ]
        .into(),
        qers: [(1, Qer { uplink_open: true, mbr_kbps: Some((8000, 16000)), qfi: Some(9), ..Default::default() })].into(),
        urrs: [(
            1,
            Urr { measure_volume: true, volume_quota: Some(VolumeLimit { total: Some(1000), ..Default::default() }), ..Default::default() },
        )]
        .into(),
        bars: [(1, Bar { notification_delay: Some(2), suggested_packets: None })].into(),
        inactivity_s: 30,
        s_nssai: None,
    }
}

fn golden(name: &str, text: &str) {
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{name}: what a peer chose is escaped: {text:?}");
    testkit::assert_golden(format!("src/manage/show/text/{name}.txt"), text);
}

#[test]
fn each_part_of_a_report_looks_as_its_file_says() {
    let now = report();
    let mut before = report();
    before.elapsed_ms -= 1000;
    before.load = vec![WorkerReport { slot: 0, packets: 1000, busy_us: 200_000, ..Default::default() }];
    for (name, text) in [
        ("overview", overview(&now)),
        ("ports", ports(&now)),
        ("drops", drops(&now)),
        ("tables", tables(&now)),
        ("targets", targets(&now)),
        ("workers", workers(&now, &before)),
        ("peers", peers(&now)),
        ("offload", offload(&now)),
    ] {
        golden(name, &text);
    }
    assert_eq!(drops(&Report::default()), "nothing was dropped\n");
}

#[test]
fn sessions_look_as_their_files_say() {
    let page = SessionPage { sessions: vec![row(), SessionRow::default()], next: Some(u64::MAX), total: 1_000_000, looked_at: 100 };
    golden("sessions", &sessions(&page, true, true));
    let placement = PlacementReport {
        target: "xdp".into(),
        reason: "rate".into(),
        why: "its rate is worth the room".into(),
        pps: Some(10),
        bps: Some(8000),
        here_ms: Some(5000),
    };
    let usage = UsageReport { uplink: count(5), downlink: count(6) };
    let detail = SessionDetail {
        session: row(),
        reports_to: "10.0.0.4:8805".into(),
        placement,
        rules: rules(),
        usage: [(1, usage)].into(),
        waiting: [(2, 3)].into(),
        rates: [(true, 8000, 250_000), (false, 16_000, 500_000)]
            .map(|(uplink, kbps, burst_bytes)| RateReport { qer_id: 1, uplink, kbps, burst_bytes, waiting: if uplink { 0 } else { 12 } })
            .to_vec(),
        entries: 4,
    };
    golden("session", &session(&detail));
    let text = serde_json::to_string(&detail).unwrap();
    assert_eq!(serde_json::from_str::<SessionDetail>(&text).unwrap(), detail, "a client reads what the UPF writes");
    let text = serde_json::to_string(&report()).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report());
}

/// Some SMFs send no DNN.
#[test]
fn a_list_and_one_session_agree_on_the_dnn() {
    for (dnn, instances, expected) in
        [(Some("internet"), &["n6"][..], "internet"), (None, &["access", "internet"], "access,internet"), (None, &[], "-")]
    {
        let network_instances = instances.iter().map(ToString::to_string).collect();
        let row = SessionRow { dnn: dnn.map(str::to_owned), network_instances, ..row() };
        let page = SessionPage { sessions: vec![row.clone()], ..SessionPage::default() };
        let listed = sessions(&page, false, false);
        assert_eq!(listed.split_whitespace().nth(3), Some(expected), "{listed}");
        let whole = session(&SessionDetail { session: row, ..SessionDetail::default() });
        assert!(whole.contains(&format!(", DNN {expected}, slice")), "{whole}");
    }
}
