//! A node's configuration: identity, addresses, limits, timers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::codec::fate::{Announced, FEATURES};
use crate::codec::{NodeId, UpFeatures};
use crate::pool::{ipv4_prefix, ipv6_prefix};
use crate::rules::Interface;

/// Configuration of a [`Node`](crate::node::Node). [`Config::new`] gives usual values for all but the addresses.
#[derive(Clone, Debug)]
pub struct Config {
    /// Our Node ID.
    pub node_id: NodeId,
    /// Our N4 address, in our F-SEIDs.
    pub address: IpAddr,
    /// Wall clock at time zero of the node, in seconds since 1900 (NTP, §8.2.65): our recovery time stamp.
    pub started_at_ntp_s: u32,
    /// Our GTP-U addresses. F-TEIDs are allocated on the first that fits; an F-TEID of the CP function's choice must be on one.
    pub gtpu: Vec<GtpuAddress>,
    /// TEIDs that we allocate, inclusive; both at least 1.
    pub teids: (u32, u32),
    /// Seed of our SEIDs, which are random 64 bits, and of the order in which TEIDs are given out. From the system's randomness in
    /// a daemon: whoever knows it can guess both. `None` counts both upwards, for tests that write SEIDs down beforehand.
    pub seed: Option<[u8; 32]>,
    /// Pools of UE addresses for CHOOSE; empty: the feature UEIP is not announced.
    pub ue_pools: Vec<UePool>,
    /// Whether the association response lists our GTP-U addresses (User Plane IP Resource Information, up to release 15).
    pub announce_ip_resources: bool,
    /// Who may speak to us at all; datagrams of others are dropped without an answer. [`Config::new`] lets everybody.
    pub peers: Vec<AllowedPeers>,
    /// CP functions whose slice differentiators have their octets in reverse order.
    pub sd_reversed: Vec<Network>,
    /// Where requests to a CP function go.
    pub request_port: RequestPort,
    /// Time until a request is sent again (T1, §6.4).
    pub t1: Duration,
    /// How often a request is sent in all (N1, §6.4), at least 1.
    pub n1: u32,
    /// Period of heartbeats to associated peers; `None`: we send none.
    pub heartbeat_period: Option<Duration>,
    /// What becomes of the sessions of a peer that answers no heartbeat.
    pub on_loss: OnLoss,
    /// How long an answer is kept for a retransmitted request: at least T1 times N1 of the peers.
    pub answer_lifetime: Duration,
    /// Answers kept at most.
    pub max_answers: usize,
    /// Answers kept at most for one address.
    pub max_answers_per_peer: usize,
    /// Sessions at most.
    pub max_sessions: usize,
    /// Sessions at most of the associations that one address has set up.
    pub max_sessions_per_peer: usize,
    /// Rules of all kinds in a session at most; 1 to 512, so that every response fits a datagram.
    pub max_rules_per_session: usize,
    /// Associations at most.
    pub max_associations: usize,
    /// Associations at most that one address sets up.
    pub max_associations_per_peer: usize,
    /// Messages a second that an associated address may send, and as many at once; one longer than 1500 octets counts for each
    /// 1500 of them. Heartbeats have room of their own. Zero: as many as it likes.
    pub messages_per_second: u32,
    /// Requests of ours without an answer at most.
    pub max_outstanding: usize,
    /// Requests of ours to one address without an answer at most.
    pub max_outstanding_per_peer: usize,
    /// Error indication reports a second to one CP function, and for one GTP-U peer; five times as many in all. Zero: none.
    pub error_indications_per_second: u32,
    /// How far counters, and what follows from them, may lag behind in the node's records
    /// ([`take_changes`](crate::node::Node::take_changes)); `None`: it keeps none, and does not survive a crash.
    pub records: Option<Duration>,
    /// Limit of volume limits checked in one call of [`poll_usage`](crate::node::Node::poll_usage); the next call continues.
    pub max_polled: usize,
}

/// One of our GTP-U addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtpuAddress {
    /// The address.
    pub ipv4: Ipv4Addr,
    /// Its network instance (lower case); `None`: any.
    pub network_instance: Option<String>,
    /// For PDRs of this source interface; `None`: access and core. PDRs of core and of the CP function take the access side's where there
    /// is none for them.
    pub interface: Option<Interface>,
    /// For PDRs that name no network instance of their interface's addresses, where these have several.
    pub default: bool,
}

/// A pool of UE addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UePool {
    /// For this network instance or DNN (lower case); `None`: any that has no pool of its own.
    pub network_instance: Option<String>,
    /// IPv4 network and prefix length. Its first (gateway) and last address are not given to UEs, but of a /31 or /32 all are.
    pub ipv4: Option<(Ipv4Addr, u8)>,
    /// IPv6 network and prefix length, at most 64; each UE gets a /64. The first /64 (gateway) is not given to UEs, if it is not the only one.
    pub ipv6: Option<(Ipv6Addr, u8)>,
}

/// CP functions that may speak to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPeers {
    /// Their addresses.
    pub networks: Vec<Network>,
    /// Whether all these addresses are one CP function's, or one SMF set's: each may speak for the others' associations.
    pub together: bool,
}

/// A network: an address, and how many of its leading bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Any address of it.
    pub address: IpAddr,
    /// 0 to 32 or 128.
    pub length: u8,
}

/// Where requests to a CP function go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPort {
    /// To port 8805, as §4.2.2 has it.
    Standard,
    /// To the port that the peer's own association request came from; for peers that do not listen on 8805.
    Source,
}

/// What becomes of the sessions of a peer that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// They end with the association.
    Release,
    /// They stay for so long, or as long as it takes: the peer keeps them if it returns with the same recovery time stamp.
    Keep(Option<Duration>),
}

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PFCP configuration: {0}")]
pub struct ConfigError(pub String);

impl Config {
    /// Usual values: T1 3 s, N1 3, heartbeats every 10 s, sessions of lost peers released, a million sessions.
    pub fn new(node_id: NodeId, address: IpAddr, started_at_ntp_s: u32) -> Config {
        Config {
            node_id,
            address,
            started_at_ntp_s,
            gtpu: Vec::new(),
            teids: (1, u32::MAX),
            seed: None,
            ue_pools: Vec::new(),
            announce_ip_resources: false,
            peers: vec![AllowedPeers { networks: vec![Network::ANY_IPV4, Network::ANY_IPV6], together: false }],
            sd_reversed: Vec::new(),
            request_port: RequestPort::Standard,
            t1: Duration::from_secs(3),
            n1: 3,
            heartbeat_period: Some(Duration::from_secs(10)),
            on_loss: OnLoss::Release,
            answer_lifetime: Duration::from_secs(15),
            max_answers: 65_536,
            max_answers_per_peer: 16_384,
            max_sessions: 1_000_000,
            max_sessions_per_peer: 1_000_000,
            max_rules_per_session: 256,
            max_associations: 256,
            max_associations_per_peer: 16,
            messages_per_second: 0,
            max_outstanding: 65_536,
            max_outstanding_per_peer: 16_384,
            error_indications_per_second: 200,
            records: None,
            // Some 10 ms' work.
            max_polled: 4_000,
        }
    }

    /// The features that we announce (§8.2.25): only what is implemented.
    pub fn features(&self) -> UpFeatures {
        let is_announced = |announced: Announced| match announced {
            Announced::Always => true,
            Announced::WithGtpu => !self.gtpu.is_empty(),
            Announced::WithPools => !self.ue_pools.is_empty(),
            Announced::Never | Announced::Not(_) => false,
        };
        let announced = FEATURES.iter().filter(|(_, _, announced)| is_announced(*announced));
        announced.fold(UpFeatures(0), |features, (bit, ..)| features.and(UpFeatures(1 << bit)))
    }

    /// Whether an address may speak to us.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.peers.iter().any(|peers| peers.contains(address))
    }

    /// Whether a slice differentiator from there is to be turned round.
    pub fn reverses_sd(&self, address: IpAddr) -> bool {
        self.sd_reversed.iter().any(|network| network.contains(address))
    }

    /// Whether two addresses are one CP function's by configuration.
    pub fn are_together(&self, a: IpAddr, b: IpAddr) -> bool {
        self.peers.iter().any(|peers| peers.together && peers.contains(a) && peers.contains(b))
    }

    /// Whether the operator lists two addresses together: an SMF Set ID is believed within one entry of `peers`.
    pub fn are_in_one_entry(&self, a: IpAddr, b: IpAddr) -> bool {
        self.peers.iter().any(|peers| peers.contains(a) && peers.contains(b))
    }

    /// Checks what the types do not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut wrong = Vec::new();
        let mut check = |ok: bool, what: &str| {
            if !ok {
                wrong.push(what.to_owned());
            }
        };
        check(self.teids.0 >= 1 && self.teids.0 <= self.teids.1, "the TEID range is empty or has TEID 0");
        check(self.n1 >= 1, "N1 is 0");
        check(!self.t1.is_zero(), "T1 is 0");
        check(self.heartbeat_period.is_none_or(|period| !period.is_zero()), "the heartbeat period is 0");
        check((1..=512).contains(&self.max_rules_per_session), "max_rules_per_session is not in 1 to 512");
        check(self.max_polled > 0, "max_polled is 0");
        check(self.records.is_none_or(|lag| !lag.is_zero()), "the lag of records is 0");
        let networks = self.peers.iter().flat_map(|peers| &peers.networks);
        check(networks.clone().all(Network::is_valid), "a peer's network has a prefix longer than its address");
        check(networks.count() > 0, "no peer is allowed");
        check(self.max_associations_per_peer > 0, "max_associations_per_peer is 0");
        check(self.max_sessions_per_peer > 0, "max_sessions_per_peer is 0");
        check(self.max_outstanding_per_peer > 0, "max_outstanding_per_peer is 0");
        for pool in &self.ue_pools {
            check(pool.ipv4.is_some() || pool.ipv6.is_some(), "a UE pool has no prefix");
            check(pool.ipv4.is_none_or(|(_, length)| (1..=32).contains(&length)), "an IPv4 UE pool is not a /1 to /32");
            check(pool.ipv6.is_none_or(|(_, length)| (1..=64).contains(&length)), "an IPv6 UE pool is not a /1 to /64");
        }
        if wrong.is_empty() { Ok(()) } else { Err(ConfigError(wrong.join("; "))) }
    }
}

impl AllowedPeers {
    /// Whether an address is among them.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }
}

impl Network {
    /// Every IPv4 address.
    pub const ANY_IPV4: Network = Network { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), length: 0 };
    /// Every IPv6 address.
    pub const ANY_IPV6: Network = Network { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), length: 0 };

    /// The network of one address.
    pub fn one(address: IpAddr) -> Network {
        Network { address, length: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => ipv4_prefix(a, self.length) == ipv4_prefix(b, self.length),
            (IpAddr::V6(a), IpAddr::V6(b)) => ipv6_prefix(a, self.length) == ipv6_prefix(b, self.length),
            _ => false,
        }
    }

    fn is_valid(&self) -> bool {
        self.length <= Network::one(self.address).length
    }
}

/// Seconds from 1900 (NTP, the wire's time stamps) to 1970 (Unix).
pub const NTP_UNIX_OFFSET_S: u64 = 2_208_988_800;

/// NTP seconds of a Unix time; wraps in 2036 as the time stamps do.
pub fn ntp_seconds(since_unix_epoch: Duration) -> u32 {
    (since_unix_epoch.as_secs() + NTP_UNIX_OFFSET_S) as u32
}
