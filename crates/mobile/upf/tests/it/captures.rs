//! What SMFs in use sent (`crates/mobile/pfcp/tests/captures`), sent again: the node, the rules' lowering and the program under it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use pfcp::codec::{self, ApplyActionFlags, Cause, Ie, Message, MessageType, NodeId, OuterHeaderCreation, decode, find, number};
use pfcp::config::{Config, GtpuAddress};
use pfcp::node::Node;
use pfcp::rules::*;
use upf::config::{NetworkConfig, Route, Via};
use wire::gtpu::{Message as Gtpu, SessionContainer};
use wire::ipv4;

use crate::host::{framed, gtpu_frame, gtpu_of, ping};
use crate::pipeline::{N3_PORT, N6_PORT, Whole, World};
use crate::sessions::network;

const SMF: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 4)), 8805);
/// As in the lab.
const N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 1);
const ALL: [&str; 8] = [
    "free5gc-smf",
    "open5gs-handover-removes-twice",
    "open5gs-n2-handover",
    "open5gs-registration",
    "open5gs-ueransim-idle",
    "open5gs-vonr-af-partial-pdi",
    "open5gs-vonr-buffered-twice",
    "open5gs-vonr-pdr-without-ue-address",
];

/// A message of a capture.
struct Captured {
    at: Duration,
    to_us: bool,
    octets: Vec<u8>,
    message: Message,
}

fn capture(name: &str) -> Vec<Captured> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../pfcp/tests/captures/{name}.n4"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let captured = |line: &str| {
        let mut words = line.split_whitespace();
        let (at, direction, hex) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let octets: Vec<u8> = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        let message = decode(&octets).unwrap();
        Captured { at: Duration::from_millis(at.parse().unwrap()), to_us: direction == ">", octets, message }
    };
    text.lines().map(captured).collect()
}

/// The user plane, with the end markers counted that the node wants sent.
struct Counting<'a> {
    plane: &'a mut upf::plane::Plane<Whole>,
    end_markers: &'a mut Vec<OuterHeader>,
}

impl UserPlane for Counting<'_> {
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.plane.commit(seid, new)
    }

    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.plane.commit_dropping(seid, new)
    }

    fn usage(&mut self, seid: Seid, urr_id: u32) -> Usage {
        self.plane.usage(seid, urr_id)
    }

    fn limit_usage(&mut self, seid: Seid, urr_id: u32, ends: VolumeLimit) -> Result<(), CommitError> {
        self.plane.limit_usage(seid, urr_id, ends)
    }

    fn packets(&mut self, seid: Seid) -> u64 {
        self.plane.packets(seid)
    }

    fn send_end_marker(&mut self, to: OuterHeader) {
        self.end_markers.push(to);
    }

    fn drop_buffered(&mut self, seid: Seid) {
        self.plane.drop_buffered(seid);
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
        Counters { usage: self.usage(seid, urr_id), lasting: None }
    }

    fn outlasts(&self) -> bool {
        false
    }

    fn continue_lasting(&mut self, _: Seid, _: u32, _: &Counters) {}

    fn continue_usage(&mut self, _: Seid, _: u32, _: Usage) {}

    fn carried(&mut self) -> Option<u64> {
        None
    }
}

/// A UPF that a capture's requests are sent to.
struct Replay {
    node: Node,
    world: World,
    /// Our SEIDs by those in the capture.
    seids: HashMap<u64, Seid>,
    end_markers: Vec<OuterHeader>,
    /// Session Report Requests of ours.
    reports: Vec<Message>,
}

impl Replay {
    fn new() -> Replay {
        let mut config = Config::new(NodeId::Ipv4([127, 0, 0, 7].into()), IpAddr::V4([127, 0, 0, 7].into()), 3_900_000_000);
        config.gtpu = vec![GtpuAddress { ipv4: N3, network_instance: None, interface: None, default: false }];
        config.heartbeat_period = None;
        Replay {
            node: Node::new(config).unwrap(),
            world: World::of(&lab()),
            seids: HashMap::new(),
            end_markers: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// Sends one request and gives its answer.
    fn ask(&mut self, octets: &[u8]) -> Message {
        let mut plane = Counting { plane: &mut self.world.plane, end_markers: &mut self.end_markers };
        self.node.receive(SMF, octets, self.world.now, &mut plane);
        // Sessions of an association that ended.
        while self.node.sessions_ending() > 0 {
            self.node.handle_timeout(self.world.now, &mut plane);
        }
        self.world.release();
        let sequence = decode(octets).unwrap().sequence;
        let mut answers = self.sent();
        assert_eq!((answers.len(), answers[0].sequence), (1, sequence));
        answers.remove(0)
    }

    /// What the node sends, without the reports.
    fn sent(&mut self) -> Vec<Message> {
        let mut answers = Vec::new();
        while let Some((to, octets)) = self.node.poll_transmit() {
            assert_eq!(to, SMF);
            let message = decode(&octets).unwrap();
            match message.kind {
                MessageType::SessionReportRequest => self.reports.push(message),
                _ => answers.push(message),
            }
        }
        answers
    }

    /// Sends a captured request in place of its SMF, and gives our answer.
    fn request(&mut self, request: &Captured) -> Message {
        self.world.now = self.world.now.max(Duration::from_secs(1) + request.at);
        let mut octets = request.octets.clone();
        if let Some(ours) = request.message.seid.and_then(|seid| self.seids.get(&seid)) {
            octets[4..12].copy_from_slice(&ours.to_be_bytes());
        }
        self.ask(&octets)
    }

    /// Sends the requests from line `from` to line `to` (from 1, both included) of a capture; each must be accepted.
    fn requests(&mut self, capture: &[Captured], from: usize, to: usize) {
        for at in from - 1..to {
            let request = &capture[at];
            if request.to_us && request.message.kind.is_request() {
                let ours = self.request(request);
                self.learn(capture, at, &ours);
                assert!(request.message.kind == MessageType::HeartbeatRequest || accepted(&ours), "line {}: {ours:?}", at + 1);
            }
        }
    }

    /// Remembers the SEID that the capture has for a session of ours.
    fn learn(&mut self, capture: &[Captured], at: usize, ours: &Message) {
        let theirs = response(capture, at);
        if let (Some(theirs), Some(ours)) = (theirs.and_then(|m| find!(m.ies, FSeid)), find!(ours.ies, FSeid)) {
            self.seids.insert(theirs.seid, ours.seid);
        }
    }

    /// Session modification in the shape of Open5GS: the tunnel of a FAR is known.
    fn activate(&mut self, seid: Seid, far_id: u32, teid: u32) {
        let to = vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(teid, [127, 0, 0, 2].into()))];
        let far = vec![Ie::FarId(far_id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)];
        let request = Message::session(MessageType::SessionModificationRequest, seid, 0xff_0000, vec![Ie::UpdateFar(far)]);
        assert!(accepted(&self.ask(&request.encode().unwrap())));
    }

    /// A packet comes from the data network; the node hears of it if it waits.
    fn downlink(&mut self, packet: &[u8]) {
        self.world.receive(N6_PORT, &framed(packet));
        for (seid, pdr_id) in std::mem::take(&mut self.world.buffered) {
            self.node.downlink_data(seid, pdr_id, self.world.now);
        }
        assert!(self.sent().is_empty());
    }

    /// The only packet sent to the gNodeB: TEID, QFI and the user's packet.
    #[track_caller]
    fn sent_to_gnb(&mut self) -> (u32, u8, Vec<u8>) {
        let (port, frame) = self.world.sent();
        assert_eq!(port, N3_PORT);
        let (_, message) = gtpu_of(&frame);
        let (Gtpu::GPdu { payload }, Some(SessionContainer::Downlink { qfi, .. })) = (message.message, message.session_container) else {
            panic!("not a G-PDU with a container");
        };
        (message.teid, qfi, payload.to_vec())
    }
}

/// N3 is as in the lab; gNodeBs and SMF stand behind a router.
fn lab() -> NetworkConfig {
    let mut config = network();
    let n3 = &mut config.ports[0];
    n3.addresses = vec![(N3.into(), 24)];
    n3.gtpu_endpoints = vec![N3];
    let via = Via::Gateway(Ipv4Addr::new(10, 3, 0, 254).into());
    config.routes.push(Route { network_instance: "access".into(), prefix: (Ipv4Addr::UNSPECIFIED.into(), 0), via });
    config
}

/// The answer that a capture has to the request at `at`.
fn response(capture: &[Captured], at: usize) -> Option<&Message> {
    let request = &capture[at].message;
    let answers = |c: &&Captured| !c.to_us && Some(c.message.kind) == request.kind.response() && c.message.sequence == request.sequence;
    capture[at..].iter().find(answers).map(|c| &c.message)
}

fn accepted(answer: &Message) -> bool {
    answer.cause() == Some(Cause::REQUEST_ACCEPTED)
}

/// Numbers of the elements in order.
fn shape(message: &Message) -> Vec<u16> {
    message.ies.iter().map(Ie::ie_type).collect()
}

#[test]
fn every_request_of_the_captures_is_answered_as_its_smf_needs() {
    let mut rejections = 0;
    for name in ALL {
        let capture = capture(name);
        let mut replay = Replay::new();
        if name == "open5gs-handover-removes-twice" {
            // The association was there before the capture.
            replay.requests(&self::capture("open5gs-registration"), 1, 2);
        }
        if name == "open5gs-ueransim-idle" {
            // The session began before the capture: it had SEID 0x66e, and its SMF's shape.
            let before = self::capture("open5gs-registration");
            replay.requests(&before, 1, 6);
            let seid = *replay.seids.values().next().unwrap();
            let theirs = capture.iter().find_map(|c| c.message.seid.filter(|_| c.to_us)).unwrap();
            replay.seids.insert(theirs, seid);
        }
        for (at, request) in capture.iter().enumerate().filter(|(_, c)| c.to_us && c.message.kind.is_request()) {
            let line = at + 1;
            let ours = replay.request(request);
            replay.learn(&capture, at, &ours);
            let Some(theirs) = response(&capture, at) else { panic!("{name}:{line}: the capture has no answer") };
            let kind = request.message.kind;
            assert_eq!((ours.kind, ours.priority), (theirs.kind, theirs.priority), "{name}:{line}");
            if name != "open5gs-ueransim-idle" {
                assert_eq!(ours.seid, theirs.seid, "{name}:{line}: the SMF's SEID");
            }
            if kind == MessageType::HeartbeatRequest {
                assert!(find!(ours.ies, RecoveryTimeStamp).is_some(), "{name}:{line}");
                continue;
            }
            assert!(accepted(&ours), "{name}:{line}: {ours:?}");
            match accepted(theirs) {
                true => assert_eq!(shape(&ours), shape(theirs), "{name}:{line}"),
                false => rejections += 1,
            }
            // Whatever is left to our choice is in the answer.
            let created = ours.ies.iter().filter(|ie| ie.ie_type() == number::CreatedPdr).count();
            let chosen = |ie: &&Ie| match ie {
                Ie::CreatePdr(ies) => find!(ies, Pdi).is_some_and(|pdi| matches!(find!(pdi, FTeid), Some(codec::FTeid::Choose { .. }))),
                _ => false,
            };
            assert_eq!(created, request.message.ies.iter().filter(chosen).count(), "{name}:{line}");
        }
        assert_eq!(replay.node.stats().messages.rejected.len(), 0, "{name}");
    }
    assert_eq!(rejections, 6, "the captures' rejections have all become acceptances");
}

#[test]
fn a_downlink_pdr_without_ue_address_was_rejected() {
    // A second QoS flow is made while the first waits for its tunnel: PDR 5 has network instance and SDF filters only.
    let capture = capture("open5gs-vonr-pdr-without-ue-address");
    let mut replay = Replay::new();
    replay.requests(&capture, 1, 12);
    let seid = *replay.seids.values().next().unwrap();
    let ue: Ipv4Addr = [10, 45, 0, 2].into();
    let echo = ping(GATEWAY.into(), ue.into());
    // PDR 5 has no tunnel yet: the default flow carries what it matches.
    replay.downlink(&echo);
    assert_eq!((replay.sent_to_gnb().1, replay.reports.len()), (1, 0));
    replay.activate(seid, 4, 0x77);
    replay.downlink(&echo);
    let (teid, qfi, user) = replay.sent_to_gnb();
    assert_eq!((teid, qfi), (0x77, 2), "ICMP goes by the dedicated QoS flow");
    assert_eq!(ipv4::Packet::new_checked(&user).unwrap().dst(), ue);
    // The session has an IPv6 prefix too, which PDR 5 means as well; its filters want ICMP, not ICMPv6.
    replay.downlink(&ping("2001:db8:cafe:ffff::1".parse().unwrap(), "2001:db8:cafe:1::2".parse().unwrap()));
    assert_eq!(replay.sent_to_gnb().1, 1);
}

#[test]
fn the_removal_of_indirect_forwarding_that_came_twice_was_rejected() {
    let capture = capture("open5gs-handover-removes-twice");
    let mut replay = Replay::new();
    replay.requests(&self::capture("open5gs-registration"), 1, 2);
    let again = capture.iter().position(|c| response_is_rejection(&capture, c)).unwrap();
    replay.requests(&capture, 1, again);
    let seid = replay.seids[&capture[again].message.seid.unwrap()];
    let before = replay.node.session(seid).unwrap().rules.clone();
    assert_eq!((before.pdrs.contains_key(&7), replay.node.stats().absent_removals), (false, 0));
    replay.requests(&capture, again + 1, again + 1);
    assert_eq!(replay.node.session(seid).unwrap().rules, before);
    // Two PDRs and their FARs.
    assert_eq!(replay.node.stats().absent_removals, 4);
}

#[test]
fn a_packet_that_waited_for_the_default_flow_was_caught_by_the_dedicated_one() {
    let capture = capture("open5gs-vonr-buffered-twice");
    let line = |sequence: usize, kind: MessageType| {
        let found = capture.iter().enumerate().filter(|(_, c)| c.to_us && c.message.kind == kind).nth(sequence).unwrap();
        found.0 + 1
    };
    let mut replay = Replay::new();
    let established = line(0, MessageType::SessionEstablishmentRequest);
    replay.requests(&capture, 1, established);
    let ue: Ipv4Addr = [10, 45, 0, 2].into();
    let echo = ping(GATEWAY.into(), ue.into());
    replay.downlink(&echo);
    assert_eq!((replay.reports.len(), replay.world.sent.len()), (1, 0));
    // The dedicated flow's PDR is made, without a tunnel; then the default flow gets its own.
    let created = line(0, MessageType::SessionModificationRequest);
    let activated = line(1, MessageType::SessionModificationRequest);
    replay.requests(&capture, established + 1, created);
    // What comes meanwhile waits with the default flow's packets, behind the first.
    let second = ping(Ipv4Addr::new(10, 45, 0, 99).into(), ue.into());
    replay.downlink(&second);
    assert_eq!((replay.reports.len(), replay.world.sent.len()), (1, 0));
    replay.requests(&capture, created + 1, activated);
    let sent: Vec<_> = replay.world.sent.iter().map(|(_, frame)| gtpu_of(frame).1).collect();
    let sources = |message: &wire::gtpu::Repr<'_>| match message.message {
        Gtpu::GPdu { payload } => ipv4::Packet::new_checked(payload).unwrap().src(),
        _ => panic!("{message:?}"),
    };
    assert_eq!(sent.iter().map(sources).collect::<Vec<_>>(), [GATEWAY, [10, 45, 0, 99].into()], "both, in order");
    assert!(sent.iter().all(|m| matches!(m.session_container, Some(SessionContainer::Downlink { qfi: 1, .. }))));
    assert_eq!(replay.reports.len(), 1, "a UE that is there is not paged again");
    assert!(replay.world.plane.data().buffers.values().all(Vec::is_empty));
}

#[test]
fn an_update_with_part_of_a_pdi_took_the_rest_away() {
    let capture = capture("open5gs-vonr-af-partial-pdi");
    let mut replay = Replay::new();
    let at = capture.iter().position(|c| response_is_rejection(&capture, c)).unwrap();
    replay.requests(&capture, 1, at);
    let seid = replay.seids[&capture[at].message.seid.unwrap()];
    let before = replay.node.session(seid).unwrap().rules.clone();
    replay.requests(&capture, at + 1, at + 1);
    let after = replay.node.session(seid).unwrap().rules.clone();
    let key = |rules: &SessionRules, id: u16| {
        let pdi = &rules.pdrs[&id].pdi;
        (pdi.source_interface, pdi.f_teid, pdi.network_instance.clone(), pdi.ue_ip, pdi.qfis.clone())
    };
    for id in [5, 6] {
        assert_eq!(key(&before, id), key(&after, id));
    }
    assert!(after.pdrs[&6].pdi.f_teid.is_some() && after.pdrs[&6].pdi.qfis == [2]);
    // The filters are those of the request.
    assert_eq!((after.pdrs[&5].pdi.sdf_filters.len(), after.pdrs[&6].pdi.sdf_filters.len()), (2, 3));
    // The rate is new, the QER's gate and QFI are as they were.
    assert_eq!((after.qers[&2].mbr_kbps, after.qers[&2].qfi), (Some((16, 64)), Some(2)));
    assert!(after.qers[&2].uplink_open && after.qers[&2].downlink_open);
    // The next change gives PDR 6 no filter at all: it takes its QoS flow's packets, whatever they are.
    let next = (at + 1..capture.len()).find(|at| response_is_rejection(&capture, &capture[*at])).unwrap();
    replay.requests(&capture, at + 2, next + 1);
    let rules = replay.node.session(seid).unwrap().rules.clone();
    assert_eq!((rules.pdrs[&5].pdi.sdf_filters.len(), rules.pdrs[&6].pdi.sdf_filters.len()), (1, 0));
    assert_eq!(key(&rules, 6), key(&before, 6));
    let FTeid { teid, ipv4 } = rules.pdrs[&6].pdi.f_teid.unwrap();
    let user = ping(Ipv4Addr::new(10, 45, 0, 3).into(), Ipv4Addr::new(201, 20, 2, 5).into());
    let g_pdu = wire::gtpu::Repr::g_pdu(teid, Some(SessionContainer::Uplink { qfi: 2 }), &user);
    replay.world.receive(N3_PORT, &gtpu_frame([10, 3, 0, 9].into(), ipv4, 2152, &g_pdu));
    assert_eq!(replay.world.sent().0, N6_PORT);
}

fn response_is_rejection(capture: &[Captured], request: &Captured) -> bool {
    let at = capture.iter().position(|c| std::ptr::eq(c, request)).unwrap();
    request.to_us && response(capture, at).is_some_and(|m| m.cause().is_some_and(|cause| !cause.is_accepted()))
}

#[test]
fn two_flows_that_left_one_tunnel_sent_one_end_marker() {
    let capture = capture("open5gs-vonr-af-partial-pdi");
    let mut replay = Replay::new();
    let asks = |c: &Captured| {
        let fars = c.message.ies.iter().filter_map(|ie| if let Ie::UpdateFar(ies) = ie { Some(ies) } else { None });
        let asked = fars.filter_map(|ies| find!(find!(ies, UpdateForwardingParameters)?, PfcpSmReqFlags));
        asked.filter(|flags| **flags & 0x02 != 0).count()
    };
    let at = capture.iter().position(|c| c.to_us && asks(c) > 0).unwrap();
    assert_eq!(asks(&capture[at]), 2);
    replay.requests(&capture, 1, at);
    assert_eq!(replay.end_markers, []);
    replay.requests(&capture, at + 1, at + 1);
    assert_eq!(replay.end_markers, [OuterHeader { teid: 1, ipv4: [127, 0, 0, 2].into() }; 2]);
}
