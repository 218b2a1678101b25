//! The records of N4's store, whatever became of them on a disk or in a server: a node comes back from what is left, obeys its user plane, answers its SMF, and
//! gives back all that it says it holds.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use pfcp::codec::{Ie, Message, MessageType, NodeId};
use pfcp::config::{Config, GtpuAddress, UePool};
use pfcp::node::{Node, Read, Restoring, Saved};

use super::pfcp::{Recorder, check};

/// Those of the records that the fuzzer starts from: `crates/mobile/pfcp/tests/records.expected`.
const UP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);
const CP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 4);
const N3: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 1);
/// Timers that are run at most, and records read.
const MAX_TIMEOUTS: usize = 40;
const MAX_RECORDS: usize = 64;

/// Reads `data` as records: the length of a key in an octet, the key, the length of a value in two, the value.
pub fn run(data: &[u8]) {
    // A standby reads which records have changed.
    drop(daemon::n4::store::shared::read_entry("1-0", data));
    daemon::n4::store::shared::read_reply(data);
    let records: Vec<(&[u8], &[u8])> = records(data).take(MAX_RECORDS).collect();
    let own = records.iter().find(|(key, _)| *key == Saved::key()).map(|(_, value)| *value);
    let new = Node::new(config()).expect("the configuration is valid").take_changes();
    let usual = || Saved::read(new.iter().find(|change| change.key == Saved::key()).and_then(|change| change.value.as_deref()));
    let saved = Saved::read(own).or_else(|_| usual()).expect("a new node's record can be read");
    // Times of years from now are as good as any.
    let mut now = saved.written_at().min(Duration::from_secs(1 << 32)) + Duration::from_secs(1);
    let mut plane = Recorder::default();
    let mut restoring = Restoring::begin(config(), &saved, now).expect("the configuration is valid");
    for (key, value) in records {
        restoring.record(Read::new(key, value), &mut plane);
    }
    let (mut node, restored) = restoring.finish(&mut plane);
    assert_eq!(restored.sessions, node.session_count() + node.sessions_ending());
    check(&mut node, &plane);
    let smf = SocketAddr::from((CP, 8805));
    for session in node.sessions().collect::<Vec<_>>() {
        let octets =
            Message::session(MessageType::SessionModificationRequest, session.seid, 1, vec![Ie::QueryUrr(vec![Ie::UrrId(1)])]).encode();
        node.receive(smf, &octets.expect("it is short"), now, &mut plane);
    }
    node.poll_usage(now, &mut plane);
    check(&mut node, &plane);
    for _ in 0..MAX_TIMEOUTS {
        let Some(deadline) = node.next_deadline() else { break };
        now = now.max(deadline);
        node.handle_timeout(now, &mut plane);
        check(&mut node, &plane);
    }
    node.checkpoint_all(now, &mut plane);
    node.release_all(now);
    while node.sessions_ending() > 0 {
        node.handle_timeout(now, &mut plane);
        check(&mut node, &plane);
    }
    assert_eq!(node.resources_in_use(), 0, "a TEID or an address was not given back");
    drop(node.take_changes());
}

fn records(mut data: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        let (length, rest) = data.split_first()?;
        let (key, rest) = rest.split_at_checked((*length).into())?;
        let (length, rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        data = rest;
        Some((key, value))
    })
}

fn config() -> Config {
    Config {
        gtpu: vec![GtpuAddress { ipv4: N3, network_instance: None, interface: None, default: false }],
        ue_pools: vec![UePool {
            network_instance: Some("internet".into()),
            ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)),
            ipv6: Some(("2001:db8:45::".parse().expect("an address"), 48)),
        }],
        max_sessions: 6,
        max_rules_per_session: 32,
        max_answers: 16,
        max_outstanding: 16,
        records: Some(Duration::from_secs(4)),
        ..Config::new(NodeId::Ipv4(UP), IpAddr::V4(UP), 3_900_001_000)
    }
}
