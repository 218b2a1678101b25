//! A node with a recording user plane, and an SMF's side of the conversation written with the crate's own codec.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use pfcp::codec::{
    self, ApplyActionFlags, BitRates, Cause, FSeid, FTeid, GateStatus, Group, Ie, Message, MessageType, Name, NodeId, OuterHeaderCreation,
    OuterHeaderRemoval, Triggers, UeIpAddress, find,
};
use pfcp::config::{Config, GtpuAddress, UePool};
use pfcp::node::Node;
use pfcp::rules::{CommitError, Counters, Lasting, LastingCell, OuterHeader, Seid, SessionRules, Usage, UserPlane, VolumeLimit};

pub(crate) const N3: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 1);
pub(crate) const GNB: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 100);
pub(crate) const SMF: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 4)), 8805);
pub(crate) const UPF: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);
pub(crate) const SMF_STARTED: u32 = 3_900_000_000;
pub(crate) const UPF_STARTED: u32 = 3_900_001_000;

/// A user plane that does nothing but remember.
#[derive(Default)]
pub(crate) struct Recorder {
    pub sessions: BTreeMap<Seid, SessionRules>,
    pub usage: HashMap<(Seid, u32), Usage>,
    /// Where volume quotas end, as it was last told.
    pub limits: BTreeMap<(Seid, u32), VolumeLimit>,
    /// Bytes of all sessions, if it knows.
    pub carried: Option<u64>,
    /// Whether its counters outlast the process: its number.
    pub epoch: Option<u64>,
    /// What records said of sessions that came back.
    pub returned: Vec<(Seid, u32, Counters)>,
    pub commits: usize,
    pub end_markers: Vec<OuterHeader>,
    pub drops: Vec<Seid>,
    /// What each session sends while a commit is under way, in bytes.
    pub carried_meanwhile: u64,
    /// The next commits fail with these.
    pub failures: Vec<CommitError>,
}

impl UserPlane for Recorder {
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        if let Some(failure) = self.failures.pop() {
            return Err(failure);
        }
        self.commits += 1;
        let counters = self.usage.iter_mut().filter(|((of, _), _)| *of == seid);
        counters.for_each(|(_, usage)| usage.uplink_bytes += self.carried_meanwhile);
        let old = match new {
            Some(new) => self.sessions.insert(seid, new.clone()),
            None => self.sessions.remove(&seid),
        };
        let gone = old.into_iter().flat_map(|old| old.urrs.into_keys()).filter(|id| new.is_none_or(|new| !new.urrs.contains_key(id)));
        Ok(gone.map(|id| (id, self.usage.remove(&(seid, id)).unwrap_or_default())).collect())
    }

    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
        let finals = self.commit(seid, Some(new))?;
        self.drops.push(seid);
        Ok(finals)
    }

    fn usage(&mut self, seid: Seid, urr_id: u32) -> Usage {
        self.usage.get(&(seid, urr_id)).copied().unwrap_or_default()
    }

    fn limit_usage(&mut self, seid: Seid, urr_id: u32, ends: VolumeLimit) -> Result<(), CommitError> {
        let rule = &self.sessions[&seid].urrs[&urr_id];
        assert!(rule.volume_quota.is_some() && (!rule.exhausted || rule.untold) && !rule.inactive);
        self.limits.insert((seid, urr_id), ends);
        Ok(())
    }

    fn continue_usage(&mut self, seid: Seid, urr_id: u32, usage: Usage) {
        assert!(self.sessions[&seid].urrs.contains_key(&urr_id));
        self.usage.insert((seid, urr_id), usage);
    }

    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
        let usage = self.usage(seid, urr_id);
        let cell = LastingCell { cell: seid as u32, uplink: true, packets: usage.uplink_packets, bytes: usage.uplink_bytes };
        Counters { usage, lasting: self.epoch.map(|epoch| Lasting { epoch, cells: vec![cell] }) }
    }

    fn outlasts(&self) -> bool {
        self.epoch.is_some()
    }

    fn continue_lasting(&mut self, seid: Seid, urr_id: u32, recorded: &Counters) {
        self.returned.push((seid, urr_id, recorded.clone()));
    }

    fn packets(&mut self, seid: Seid) -> u64 {
        self.usage.iter().filter(|((of, _), _)| *of == seid).map(|(_, usage)| usage.uplink_packets + usage.downlink_packets).sum()
    }

    fn carried(&mut self) -> Option<u64> {
        self.carried
    }

    fn send_end_marker(&mut self, to: OuterHeader) {
        self.end_markers.push(to);
    }

    fn drop_buffered(&mut self, seid: Seid) {
        self.drops.push(seid);
    }
}

/// A node, its user plane and its SMF.
pub(crate) struct Bench {
    pub node: Node,
    pub plane: Recorder,
    pub now: Duration,
    pub smf: SocketAddr,
    pub sequence: u32,
}

/// Usual values, but without heartbeats of ours, which every test would have to answer.
pub(crate) fn config() -> Config {
    let mut config = Config::new(NodeId::Ipv4(UPF), UPF.into(), UPF_STARTED);
    config.gtpu = vec![GtpuAddress { ipv4: N3, network_instance: None, interface: None, default: false }];
    config.heartbeat_period = None;
    config.ue_pools = vec![
        UePool {
            network_instance: Some("internet".into()),
            ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)),
            ipv6: Some(("2001:db8:45::".parse().unwrap(), 48)),
        },
        UePool { network_instance: Some("ims".into()), ipv4: Some((Ipv4Addr::new(10, 46, 0, 0), 30)), ipv6: None },
    ];
    config
}

impl Bench {
    /// A node without associations.
    pub(crate) fn alone(config: Config) -> Bench {
        let node = Node::new(config).unwrap();
        Bench { node, plane: Recorder::default(), now: Duration::from_secs(5), smf: SMF, sequence: 0 }
    }

    /// A node with its SMF associated.
    pub(crate) fn new() -> Bench {
        Bench::with(config())
    }

    pub(crate) fn with(config: Config) -> Bench {
        let mut bench = Bench::alone(config);
        let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
        bench
    }

    /// Sends a request with the next sequence number and gives its answer.
    pub(crate) fn ask(&mut self, kind: MessageType, seid: Option<u64>, ies: Group) -> Message {
        self.sequence += 1;
        let mut request = Message::node(kind, self.sequence, ies);
        request.seid = seid;
        self.ask_octets(&request.encode().unwrap())
    }

    /// Sends a request as it is and gives its answer, which must be the only message sent.
    pub(crate) fn ask_octets(&mut self, octets: &[u8]) -> Message {
        self.node.receive(self.smf, octets, self.now, &mut self.plane);
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        let (to, answer) = sent.remove(0);
        assert_eq!(to, self.smf);
        let request = codec::decode(octets).unwrap();
        assert_eq!(Some(answer.kind), request.kind.response());
        assert_eq!(answer.sequence, request.sequence);
        answer
    }

    /// All that the node has to send, decoded.
    pub(crate) fn sent(&mut self) -> Vec<(SocketAddr, Message)> {
        let mut sent = Vec::new();
        while let Some((to, octets)) = self.node.poll_transmit() {
            sent.push((to, codec::decode(&octets).unwrap()));
        }
        sent
    }

    /// The one message that the node has to send.
    pub(crate) fn sent_one(&mut self) -> Message {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0).1
    }

    /// Lets time pass, with every timer at its time.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.node.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.node.handle_timeout(self.now, &mut self.plane);
        }
        self.now = end;
    }

    /// Answers a request of the node.
    pub(crate) fn answer(&mut self, request: &Message, ies: Group) {
        let kind = request.kind.response().unwrap();
        let answer = Message { kind, ies, ..request.clone() };
        self.node.receive(self.smf, &answer.encode().unwrap(), self.now, &mut self.plane);
    }

    /// Establishes a session and gives our SEID and the answer.
    pub(crate) fn establish(&mut self, ies: Group) -> (Seid, Message) {
        let answer = self.ask(MessageType::SessionEstablishmentRequest, Some(0), ies);
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED), "{answer:?}");
        (find!(answer.ies, FSeid).unwrap().seid, answer)
    }

    pub(crate) fn modify(&mut self, seid: Seid, ies: Group) -> Message {
        self.ask(MessageType::SessionModificationRequest, Some(seid), ies)
    }

    pub(crate) fn delete(&mut self, seid: Seid) -> Message {
        self.ask(MessageType::SessionDeletionRequest, Some(seid), vec![])
    }

    pub(crate) fn count(&mut self, seid: Seid, urr_id: u32, uplink_bytes: u64, downlink_bytes: u64) {
        let usage = Usage { uplink_bytes, downlink_bytes, uplink_packets: uplink_bytes / 100, downlink_packets: downlink_bytes / 100 };
        self.plane.usage.insert((seid, urr_id), usage);
    }
}

pub(crate) fn setup_ies(started: u32) -> Group {
    vec![Ie::NodeId(smf_node()), Ie::RecoveryTimeStamp(started), Ie::CpFunctionFeatures(vec![0])]
}

pub(crate) fn smf_node() -> NodeId {
    NodeId::Ipv4(Ipv4Addr::new(127, 0, 0, 4))
}

pub(crate) fn smf_seid(seid: u64) -> Ie {
    Ie::FSeid(FSeid { seid, ipv4: Some(Ipv4Addr::new(127, 0, 0, 4)), ipv6: None })
}

pub(crate) fn given(teid: u32) -> Ie {
    Ie::FTeid(FTeid::Given { teid, ipv4: Some(N3), ipv6: None })
}

pub(crate) fn choose(choose_id: Option<u8>) -> Ie {
    Ie::FTeid(FTeid::Choose { ipv4: true, ipv6: false, choose_id })
}

pub(crate) fn ue(address: [u8; 4], destination: bool) -> Ie {
    Ie::UeIpAddress(UeIpAddress { ipv4: Some(address.into()), destination, ..UeIpAddress::default() })
}

pub(crate) fn choose_ue(ipv4: bool, ipv6: bool, destination: bool) -> Ie {
    Ie::UeIpAddress(UeIpAddress { choose_ipv4: ipv4, choose_ipv6: ipv6, destination, ..UeIpAddress::default() })
}

pub(crate) fn labels(name: &str) -> Ie {
    Ie::NetworkInstance(Name::Labels(name.into()))
}

/// Create PDR; what follows the PDI's source interface in `pdi`, what follows the PDI in `rest`.
pub(crate) fn pdr(id: u16, source_interface: u8, pdi: Group, far_id: u32, rest: Group) -> Ie {
    let mut inside = vec![Ie::SourceInterface(source_interface)];
    inside.extend(pdi);
    let mut ies = vec![Ie::PdrId(id), Ie::Precedence(255), Ie::Pdi(inside), Ie::FarId(far_id)];
    ies.extend(rest);
    Ie::CreatePdr(ies)
}

pub(crate) fn decap(description: u8) -> Ie {
    Ie::OuterHeaderRemoval(OuterHeaderRemoval { description, extension_deletion: None })
}

pub(crate) fn far_to(id: u32, destination: u8) -> Ie {
    let to = Ie::ForwardingParameters(vec![Ie::DestinationInterface(destination)]);
    Ie::CreateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::FORW), to])
}

pub(crate) fn far_buffer(id: u32) -> Ie {
    Ie::CreateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)])
}

/// Update FAR to forward to a tunnel of the gNodeB.
pub(crate) fn far_to_gnb(id: u32, teid: u32, flags: Option<u8>) -> Ie {
    let mut to = vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(OuterHeaderCreation::gtpu_ipv4(teid, GNB))];
    to.extend(flags.map(Ie::PfcpSmReqFlags));
    Ie::UpdateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::UpdateForwardingParameters(to)])
}

pub(crate) fn qer(id: u32, qfi: u8) -> Ie {
    let rates = BitRates { uplink_kbps: 1_000_000, downlink_kbps: 2_000_000 };
    let gate = GateStatus { uplink_open: true, downlink_open: true };
    Ie::CreateQer(vec![Ie::QerId(id), Ie::GateStatus(gate), Ie::Mbr(rates), Ie::Qfi(qfi)])
}

pub(crate) fn urr(id: u32, triggers: u32, rest: Group) -> Ie {
    let mut ies = vec![Ie::UrrId(id), Ie::MeasurementMethod(0x03), Ie::ReportingTriggers(Triggers(triggers))];
    ies.extend(rest);
    Ie::CreateUrr(ies)
}

/// Two PDRs and two FARs with TEID and UE address of the SMF's choice, and these besides.
pub(crate) fn simple_session(cp_seid: u64, teid: u32, address: [u8; 4], rest: Group) -> Group {
    let mut ies = vec![
        Ie::NodeId(smf_node()),
        smf_seid(cp_seid),
        pdr(1, 0, vec![given(teid), ue(address, false)], 1, vec![decap(0)]),
        pdr(2, 1, vec![ue(address, true)], 2, vec![]),
        far_to(1, 1),
        far_buffer(2),
    ];
    ies.extend(rest);
    ies
}

/// The groups of one kind in an answer.
pub(crate) fn groups(ies: &[Ie], ie_type: u16) -> Vec<&[Ie]> {
    ies.iter().filter(|ie| ie.ie_type() == ie_type).map(Ie::children).collect()
}
