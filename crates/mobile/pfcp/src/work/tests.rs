//! The worst messages of 64 KB of each type, and how many steps they take.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::*;
use crate::codec::{
    AlternativeSmfIpAddress, ApplyActionFlags, Cause, FSeid, FTeid, GateStatus, Group, Ie, Message, MessageType, NodeId,
    OuterHeaderCreation, SdfFilter, Triggers, UeIpAddress, find,
};
use crate::config::{Config, GtpuAddress, UePool};
use crate::rules::{CommitError, Counters, OuterHeader, Seid, SessionRules, Usage, UserPlane, VolumeLimit};
use crate::{Node, codec};

const N3: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 1);
const SMF: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(127, 0, 0, 4)), 8805);
const OCTETS: usize = 65_000;

/// A user plane that takes everything.
struct Anything;

impl UserPlane for Anything {
    fn commit(&mut self, _: Seid, _: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        Ok(Vec::new())
    }

    fn usage(&mut self, _: Seid, _: u32) -> Usage {
        Usage::default()
    }

    fn packets(&mut self, _: Seid) -> u64 {
        0
    }

    fn send_end_marker(&mut self, _: OuterHeader) {}

    fn drop_buffered(&mut self, _: Seid) {}

    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
        self.commit(seid, Some(new))
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
        Counters { usage: self.usage(seid, urr_id), lasting: None }
    }

    fn outlasts(&self) -> bool {
        false
    }

    fn continue_lasting(&mut self, _: Seid, _: u32, _: &Counters) {}

    fn limit_usage(&mut self, _: Seid, _: u32, _: VolumeLimit) -> Result<(), CommitError> {
        Ok(())
    }

    fn continue_usage(&mut self, _: Seid, _: u32, _: Usage) {}

    fn carried(&mut self) -> Option<u64> {
        None
    }
}

struct Bench {
    node: Node,
    now: Duration,
    sequence: u32,
}

impl Bench {
    fn new() -> Bench {
        let mut config = Config::new(NodeId::Ipv4(N3), N3.into(), 1);
        config.heartbeat_period = None;
        config.gtpu = vec![GtpuAddress { ipv4: N3, network_instance: None, interface: None, default: false }];
        let pool =
            UePool { network_instance: None, ipv4: Some(([10, 45, 0, 0].into(), 16)), ipv6: Some(("2001:db8::".parse().unwrap(), 48)) };
        config.ue_pools = vec![pool];
        let mut bench = Bench { node: Node::new(config).unwrap(), now: Duration::ZERO, sequence: 0 };
        let others = (0..15).map(|n| NodeId::Fqdn(format!("n{n}"))).chain([smf()]);
        for node_id in others {
            bench.ask(MessageType::AssociationSetupRequest, None, vec![Ie::NodeId(node_id), Ie::RecoveryTimeStamp(1)]);
        }
        bench
    }

    /// Sends a message; what was answered, the message's length and the steps that it took.
    fn ask(&mut self, kind: MessageType, seid: Option<u64>, ies: Group) -> (Option<Message>, usize, u64) {
        self.now += Duration::from_secs(1);
        self.sequence += 1;
        let octets = Message { seid, ..Message::node(kind, self.sequence, ies) }.encode().unwrap();
        taken();
        self.node.receive(SMF, &octets, self.now, &mut Anything);
        let steps = taken();
        let mut answer = None;
        while let Some((_, octets)) = self.node.poll_transmit() {
            answer = Some(codec::decode(&octets).unwrap());
        }
        (answer, octets.len(), steps)
    }

    fn rules(&self) -> usize {
        let count = |rules: &SessionRules| rules.pdrs.len() + rules.fars.len() + rules.qers.len() + rules.urrs.len() + rules.bars.len();
        self.node.sessions().map(|session| count(&session.rules)).max().unwrap_or(0)
    }

    /// A session of many rules: each PDR names most QERs and URRs.
    fn large_session(&mut self) -> Seid {
        let ids = (1..=40).flat_map(|id| [Ie::QerId(id), Ie::UrrId(id)]);
        let mut ies = session(vec![]);
        ies.truncate(2);
        ies.push(far(1));
        for id in 1..=60u16 {
            let pdi = vec![Ie::SourceInterface(0), Ie::FTeid(FTeid::Choose { ipv4: true, ipv6: false, choose_id: Some(id as u8) })];
            ies.push(pdr(id, pdi, ids.clone().collect()));
            ies.push(qer(id.into()));
            ies.push(urr(id.into(), (1..=16).map(Ie::LinkedUrrId).collect()));
        }
        let (answer, ..) = self.ask(MessageType::SessionEstablishmentRequest, Some(0), ies);
        let answer = answer.unwrap();
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED), "{answer:?}");
        find!(answer.ies, FSeid).unwrap().seid
    }
}

fn smf() -> NodeId {
    NodeId::Ipv4(Ipv4Addr::new(127, 0, 0, 4))
}

fn far(id: u32) -> Ie {
    let to = Ie::ForwardingParameters(vec![Ie::DestinationInterface(1)]);
    Ie::CreateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::FORW), to])
}

fn qer(id: u32) -> Ie {
    Ie::CreateQer(vec![Ie::QerId(id), Ie::GateStatus(GateStatus { uplink_open: true, downlink_open: true })])
}

fn urr(id: u32, rest: Group) -> Ie {
    Ie::CreateUrr([vec![Ie::UrrId(id), Ie::MeasurementMethod(2), Ie::ReportingTriggers(Triggers(0x8000))], rest].concat())
}

fn pdr(id: u16, pdi: Group, rest: Group) -> Ie {
    Ie::CreatePdr([vec![Ie::PdrId(id), Ie::Precedence(1), Ie::Pdi(pdi), Ie::FarId(1)], rest].concat())
}

/// An establishment of one FAR and what follows.
fn session(rest: Group) -> Group {
    let cp = FSeid { seid: 1, ipv4: Some(Ipv4Addr::new(127, 0, 0, 4)), ipv6: None };
    [vec![Ie::NodeId(smf()), Ie::FSeid(cp), far(1)], rest].concat()
}

/// Elements up to the length of a message.
fn fill(octets: usize, element: impl Fn(u32) -> Ie) -> Group {
    let encoded = |ie: &Ie| Message::node(MessageType::HeartbeatRequest, 0, vec![ie.clone()]).encode().unwrap().len() - 8;
    let mut left = octets;
    let elements = (1..).map(element);
    elements
        .take_while(|ie| {
            let length = encoded(ie);
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        })
        .collect()
}

fn plain_pdi(rest: Group) -> Group {
    [vec![Ie::SourceInterface(1)], rest].concat()
}

/// What fills a message of any type.
fn junk(octets: usize) -> Vec<(&'static str, Group)> {
    let unknown = |length: usize| move |_| Ie::Unknown { ie_type: 60_000, octets: vec![0; length] };
    let mut deep = Ie::Unknown { ie_type: 60_000, octets: vec![0; octets - 200] };
    for _ in 0..40 {
        deep = Ie::CreatePdr(vec![deep]);
    }
    let deep_many = |_| (0..5).fold(Ie::Cause(Cause(1)), |inside, _| Ie::Pdi(vec![inside]));
    vec![
        ("empty unknown elements", fill(octets, unknown(0))),
        ("one long unknown element", fill(octets, unknown(octets - 10))),
        ("one deep element", vec![deep]),
        ("many deep elements", fill(octets, deep_many)),
        ("repeated Node IDs", fill(octets, |_| Ie::NodeId(smf()))),
        ("repeated time stamps", fill(octets, Ie::RecoveryTimeStamp)),
    ]
}

fn establishments(octets: usize) -> Vec<(&'static str, Group)> {
    let flow = |text: String| Ie::SdfFilter(SdfFilter { flow_description: Some(text), ..SdfFilter::default() });
    let bare = |id| Ie::SdfFilter(SdfFilter { filter_id: Some(id), ..SdfFilter::default() });
    let whole = Ie::SdfFilter(SdfFilter {
        flow_description: Some("permit out 17 from 10.0.0.0/8 1-2 to assigned".into()),
        filter_id: Some(7),
        ..SdfFilter::default()
    });
    let one = |pdi: Group, rest: Group| session(vec![pdr(1, pdi, rest)]);
    let ue = |v4: bool| UeIpAddress { choose_ipv4: v4, choose_ipv6: !v4, ..UeIpAddress::default() };
    let room = octets - 300;
    vec![
        ("many PDRs", session(fill(room, |n| pdr(n as u16, plain_pdi(vec![]), vec![])))),
        ("the same PDR", session(fill(room, |_| pdr(1, plain_pdi(vec![]), vec![])))),
        ("URR IDs of a PDR", one(plain_pdi(vec![]), fill(room, Ie::UrrId))),
        ("QER IDs of a PDR", one(plain_pdi(vec![]), fill(room, Ie::QerId))),
        ("QFIs of a PDR", one(plain_pdi(fill(room, |n| Ie::Qfi(n as u8 & 63))), vec![])),
        ("links of a URR", session(vec![pdr(1, plain_pdi(vec![]), vec![]), urr(1, fill(room, Ie::LinkedUrrId))])),
        ("SDF filters", one(plain_pdi(fill(room, |n| flow(format!("permit out ip from any to assigned {}", n & 0xffff)))), vec![])),
        ("bare SDF filters", one(plain_pdi([vec![whole], fill(room, |_| bare(7))].concat()), vec![])),
        ("one long flow", one(plain_pdi(vec![flow(format!("permit out {}", " ip".repeat(room / 3 - 20)))]), vec![])),
        ("many ports", one(plain_pdi(vec![flow(format!("permit out 17 from any {}1 to any", "1,".repeat(room / 2 - 40)))]), vec![])),
        ("UE addresses to choose", session(fill(room, |n| pdr(n as u16 & 127, plain_pdi(vec![Ie::UeIpAddress(ue(n & 64 == 0))]), vec![])))),
    ]
}

fn modifications(octets: usize) -> Vec<(&'static str, Group)> {
    let choose = |n: u32| {
        let pdi = vec![Ie::SourceInterface(0), Ie::FTeid(FTeid::Choose { ipv4: true, ipv6: false, choose_id: Some(200 + n as u8 % 50) })];
        Ie::UpdatePdr(vec![Ie::PdrId(1 + n as u16 % 60), Ie::Pdi(pdi)])
    };
    let ue = |n: u32| {
        let address = UeIpAddress { choose_ipv4: n < 900, choose_ipv6: n >= 900, ..UeIpAddress::default() };
        Ie::UpdatePdr(vec![Ie::PdrId(1 + n as u16 % 60), Ie::Pdi(vec![Ie::SourceInterface(0), Ie::UeIpAddress(address)])])
    };
    let path = |n: u32| {
        let to = Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(n, N3));
        let to = vec![Ie::DestinationInterface(0), to, Ie::PfcpSmReqFlags(2)];
        Ie::UpdateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)])
    };
    let all = |make: fn(u32) -> Ie| (1..=60).map(make).collect::<Group>();
    vec![
        ("nothing", vec![]),
        ("tunnels to choose", fill(octets, choose)),
        ("UE addresses to choose", fill(octets, ue)),
        ("path switches", fill(octets, path)),
        ("queries", fill(octets, |n| Ie::QueryUrr(vec![Ie::UrrId(1 + n % 60)]))),
        ("all queried", vec![Ie::PfcpSmReqFlags(4)]),
        ("all QERs removed", all(|id| Ie::RemoveQer(vec![Ie::QerId(id)]))),
        ("all URRs removed", all(|id| Ie::RemoveUrr(vec![Ie::UrrId(id)]))),
        ("all PDRs removed", all(|id| Ie::RemovePdr(vec![Ie::PdrId(id as u16)]))),
        ("URR IDs", fill(octets - 100, |_| Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::UrrId(1), Ie::UrrId(2)]))),
        ("links", fill(octets, |n| Ie::UpdateUrr(vec![Ie::UrrId(1 + n % 60), Ie::LinkedUrrId(n)]))),
    ]
}

/// Asserts the promise, and that four times the length is not much more than four times the steps.
fn check(what: &str, run: impl Fn(usize) -> (usize, u64, usize)) {
    let (_, quarter, _) = run(OCTETS / 4);
    let (length, steps, rules) = run(OCTETS);
    assert!(steps >= length as u64 / 8 || length < 2000, "{what}: {steps} steps of {length} octets: were they counted?");
    assert!(steps <= length as u64 * PER_OCTET + rules as u64 * PER_RULE, "{what}: {steps} steps for {length} octets, {rules} rules");
    assert!(steps <= 6 * quarter + 4096, "{what}: {quarter} steps, and {steps} for four times as much");
}

#[test]
fn the_work_of_a_message_of_any_type_is_in_proportion_to_its_length() {
    let shapes = [junk(OCTETS / 4), junk(OCTETS)];
    // All types of the standard, and some that are not.
    for number in (0..=20).chain(48..=60).chain([255]) {
        let kind = MessageType::from(number);
        for (at, (what, _)) in shapes[0].iter().enumerate() {
            check(&format!("{kind:?} with {what}"), |octets| {
                let mut bench = Bench::new();
                let ies = shapes[usize::from(octets == OCTETS)][at].1.clone();
                let (_, length, steps) = bench.ask(kind, kind.is_session_related().then_some(1), ies);
                (length, steps, bench.rules())
            });
        }
    }
}

#[test]
fn the_work_of_an_association_setup_is_in_proportion_to_its_length() {
    let addresses = |octets| {
        let address = |n: u32| AlternativeSmfIpAddress { preferred: false, ipv4: Some(n.into()), ipv6: None };
        [vec![Ie::NodeId(smf()), Ie::RecoveryTimeStamp(1)], fill(octets - 100, |n| Ie::AlternativeSmfIpAddress(address(n)))].concat()
    };
    check("alternative addresses", |octets| {
        let mut bench = Bench::new();
        let (answer, length, steps) = bench.ask(MessageType::AssociationSetupRequest, None, addresses(octets));
        assert_eq!(answer.unwrap().cause(), Some(Cause::NO_RESOURCES));
        (length, steps, 0)
    });
}

#[test]
fn the_work_of_an_establishment_is_in_proportion_to_its_length() {
    for (at, (what, _)) in establishments(1000).into_iter().enumerate() {
        check(what, |octets| {
            let mut bench = Bench::new();
            let (answer, length, steps) = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), establishments(octets).remove(at).1);
            assert!(answer.is_some());
            (length, steps, bench.rules())
        });
    }
}

#[test]
fn the_work_of_a_modification_is_in_proportion_to_its_length_and_its_sessions_rules() {
    let mut accepted = 0;
    for (at, (what, _)) in modifications(1000).into_iter().enumerate() {
        check(what, |octets| {
            let mut bench = Bench::new();
            let seid = bench.large_session();
            let rules = bench.rules();
            let (_, length, steps) = bench.ask(MessageType::SessionModificationRequest, Some(seid), modifications(octets).remove(at).1);
            (length, steps, rules)
        });
        let mut bench = Bench::new();
        let seid = bench.large_session();
        let (answer, ..) = bench.ask(MessageType::SessionModificationRequest, Some(seid), modifications(OCTETS).remove(at).1);
        accepted += usize::from(answer.expect(what).cause() == Some(Cause::REQUEST_ACCEPTED));
    }
    assert!(accepted >= 8, "the whole way is gone: {accepted}");
}

#[test]
fn the_work_of_a_bundle_is_that_of_its_messages() {
    let mut bench = Bench::new();
    let seid = bench.large_session();
    let mut one = Message::session(MessageType::SessionModificationRequest, seid, 1, vec![Ie::PfcpSmReqFlags(4)]);
    one.follow_on = true;
    let octets = one.encode().unwrap().repeat(1000);
    taken();
    bench.node.receive(SMF, &octets, bench.now, &mut Anything);
    // At most 16 messages of a bundle are looked at.
    assert!(taken() <= octets.len() as u64 * PER_OCTET + 16 * bench.rules() as u64 * PER_RULE);
}
