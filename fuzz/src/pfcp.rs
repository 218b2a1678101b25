//! PFCP (TS 29.244): the codec on any bytes, and a node with one association on any conversation.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use pfcp::codec::{Ie, Message, MessageType, NodeId, decode};
use pfcp::config::{Config, GtpuAddress, UePool};
use pfcp::node::Node;
use pfcp::rules::{CommitError, Counters, OuterHeader, RuleId, Seid, SessionRules, Usage, UserPlane, VolumeLimit};

const UP_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The SMF.
pub const CP_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// Datagrams of a conversation at most: enough to build any state, few enough to be quick.
const MAX_DATAGRAMS: usize = 40;
/// Timers run out after a conversation at most.
const MAX_TIMEOUTS: usize = 40;
/// Messages that may wait at a node: [`backlog`].
const ROOM: usize = 255;
/// The recorder's room, so that commits are refused for want of it too.
const MAX_PDRS: usize = 12;

/// Reads `data` as a message, then as messages one behind the other, sent by an SMF.
pub fn run(data: &[u8]) {
    codec(data);
    conversation(data);
}

/// What decodes without a flaw is the same after encoding and decoding.
fn codec(data: &[u8]) {
    let Ok(message) = decode(data) else { return };
    let encoded = message.encode();
    if has_flaw(&message.ies) {
        return;
    }
    let encoded = encoded.expect("what was decoded fits a message");
    assert_eq!(decode(&encoded).as_ref(), Ok(&message), "encoded as {encoded:02x?}");
}

fn has_flaw(ies: &[Ie]) -> bool {
    ies.iter().any(|ie| matches!(ie, Ie::Invalid { .. }) || has_flaw(ie.children()))
}

fn conversation(data: &[u8]) {
    let peer = SocketAddr::from((CP_ADDRESS, 8805));
    let mut node = Node::new(config()).expect("the configuration is valid");
    let mut plane = Recorder::default();
    let mut now = Duration::from_secs(1);
    node.receive(peer, &association_setup(), now, &mut plane);
    assert_eq!(node.associations().count(), 1);

    for datagram in datagrams(data).take(MAX_DATAGRAMS) {
        now += Duration::from_millis(300);
        node.note_backlog(backlog(datagram), ROOM, now);
        node.receive(peer, datagram, now, &mut plane);
        check(&mut node, &plane);
        node.checkpoint(now, &mut plane);
        drop(node.take_changes());
    }
    node.note_backlog(0, ROOM, now);
    user_plane_events(&mut node, &mut plane, now);
    for _ in 0..MAX_TIMEOUTS {
        let Some(deadline) = node.next_deadline() else { break };
        now = now.max(deadline);
        node.handle_timeout(now, &mut plane);
        check(&mut node, &plane);
    }
    node.release_all(now);
    check(&mut node, &plane);
    assert_eq!(node.session_count(), 0);
    while node.sessions_ending() > 0 {
        node.handle_timeout(now, &mut plane);
        check(&mut node, &plane);
    }
    assert_eq!(node.resources_in_use(), 0, "a TEID or an address was not given back");
}

/// Cuts `data` where the messages' lengths say (§7.2.2.2); the rest is a datagram too.
fn datagrams(mut data: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = match data {
            [] => return None,
            [_, _, high, low, ..] => 4 + usize::from(u16::from_be_bytes([*high, *low])),
            _ => data.len(),
        };
        let (datagram, rest) = data.split_at(length.min(data.len()));
        data = rest;
        Some(datagram)
    })
}

/// How many messages wait behind a datagram: what its first message has in the last octet of the header, priority and spare bits that mean nothing to
/// the node.
fn backlog(datagram: &[u8]) -> usize {
    let has_seid = datagram.first().is_some_and(|flags| flags & 1 != 0);
    datagram.get(if has_seid { 15 } else { 7 }).copied().unwrap_or(0).into()
}

/// Everything that the data plane can tell the node, for every session.
fn user_plane_events(node: &mut Node, plane: &mut Recorder, now: Duration) {
    for (seid, rules) in plane.sessions.clone() {
        for pdr_id in rules.pdrs.keys() {
            node.downlink_data(seid, *pdr_id, now);
        }
        // No rule of ours has this number.
        node.downlink_data(seid, 0, now);
    }
    for teid in 0..4 {
        node.error_indication(teid, IpAddr::V4(CP_ADDRESS), now);
    }
    node.poll_usage(now, plane);
    check(node, plane);
}

/// The node's rules are the plane's, and everything sent is well formed.
pub(crate) fn check(node: &mut Node, plane: &Recorder) {
    assert_eq!(node.session_count() + node.sessions_ending(), plane.sessions.len());
    for session in node.sessions() {
        assert_eq!(Some(&session.rules), plane.sessions.get(&session.seid), "session {}", session.seid);
    }
    while let Some((_, octets)) = node.poll_transmit() {
        let message = decode(&octets).unwrap_or_else(|error| panic!("we sent {octets:02x?}: {error}"));
        assert!(!has_flaw(&message.ies), "we sent {message:?}");
        assert_eq!(message.encode().as_deref(), Ok(octets.as_slice()));
    }
}

fn config() -> Config {
    Config {
        gtpu: vec![GtpuAddress { ipv4: UP_ADDRESS, network_instance: None, interface: None, default: false }],
        ue_pools: vec![UePool {
            network_instance: None,
            ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 29)),
            ipv6: Some(("2001:db8::".parse().expect("an address"), 61)),
        }],
        max_sessions: 6,
        max_rules_per_session: 32,
        max_answers: 16,
        max_outstanding: 16,
        records: Some(Duration::from_secs(1)),
        ..Config::new(NodeId::Ipv4(UP_ADDRESS), IpAddr::V4(UP_ADDRESS), 0xe000_0000)
    }
}

/// What the SMF says first. It wants to know of load and of overload (LOAD, OVRL; §8.2.58).
pub fn association_setup() -> Vec<u8> {
    let ies = vec![Ie::NodeId(NodeId::Ipv4(CP_ADDRESS)), Ie::RecoveryTimeStamp(0xe000_0000), Ie::CpFunctionFeatures(vec![0x03])];
    // A number that a conversation is unlikely to use, so that its first request is no retransmission.
    Message::node(MessageType::AssociationSetupRequest, 0xff_fff0, ies).encode().expect("it is short")
}

/// A user plane that obeys by writing down, and now and then refuses.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) sessions: BTreeMap<Seid, SessionRules>,
    /// Grows with every look, so that thresholds are passed.
    bytes: u64,
}

impl UserPlane for Recorder {
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
        if let Some(new) = new {
            if new.pdrs.len() > MAX_PDRS {
                return Err(CommitError::NoResources("too many PDRs".into()));
            }
            if let Some(far_id) = new.fars.keys().find(|far_id| **far_id & 0xff == 0xff) {
                return Err(CommitError::Rule { rule: RuleId::Far(*far_id), why: "its number".into() });
            }
        }
        let old = match new {
            Some(new) => self.sessions.insert(seid, new.clone()),
            None => self.sessions.remove(&seid),
        };
        let is_gone = |urr_id: &u32| new.is_none_or(|new| !new.urrs.contains_key(urr_id));
        let gone: Vec<u32> = old.into_iter().flat_map(|old| old.urrs.into_keys()).filter(is_gone).collect();
        Ok(gone.into_iter().map(|urr_id| (urr_id, self.usage(seid, urr_id))).collect())
    }

    fn usage(&mut self, _: Seid, _: u32) -> Usage {
        self.bytes += 1500;
        Usage { uplink_bytes: self.bytes, downlink_bytes: self.bytes, uplink_packets: self.bytes / 100, downlink_packets: self.bytes / 100 }
    }

    fn packets(&mut self, _: Seid) -> u64 {
        self.bytes / 5000
    }

    fn send_end_marker(&mut self, _: OuterHeader) {}

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

    fn drop_buffered(&mut self, _: Seid) {}
}
