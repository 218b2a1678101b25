//! What a node is told about itself, its addresses, its limits and its timers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::codec::{NodeId, UpFeatures};
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
    /// Where in the range allocation begins: chosen at random at start, it keeps stale tunnels of an earlier life apart.
    pub first_teid: u32,
    /// Our SEIDs count from 1 if `None`; else they are scrambled by this, chosen at random, so that they cannot be guessed.
    pub seid_seed: Option<u64>,
    /// Pools of UE addresses for CHOOSE; empty: the feature UEIP is not announced.
    pub ue_pools: Vec<UePool>,
    /// Features beyond those of this crate that the user plane has, for example UDBC.
    pub extra_features: UpFeatures,
    /// Whether the association response lists our GTP-U addresses (User Plane IP Resource Information, up to release 15).
    pub announce_ip_resources: bool,
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
    /// Sessions at most.
    pub max_sessions: usize,
    /// Rules of all kinds in a session at most; 1 to 512, so that every response fits a datagram.
    pub max_rules_per_session: usize,
    /// Associations at most.
    pub max_associations: usize,
    /// Requests of ours without an answer at most.
    pub max_outstanding: usize,
    /// Volume limits looked at in one call of [`poll_usage`](crate::node::Node::poll_usage) at most; the next goes on.
    pub max_polled: usize,
}

/// One of our GTP-U addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtpuAddress {
    /// The address.
    pub ipv4: Ipv4Addr,
    /// Only for PDRs of this network instance (lower case); `None`: any.
    pub network_instance: Option<String>,
    /// Only for PDRs of this source interface, and of the CP function, which sends to any; `None`: any.
    pub interface: Option<Interface>,
}

/// A pool of UE addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UePool {
    /// For this network instance or DNN (lower case); `None`: any that has no pool of its own.
    pub network_instance: Option<String>,
    /// IPv4 network and prefix length. Its first (gateway) and last address are not given to UEs.
    pub ipv4: Option<(Ipv4Addr, u8)>,
    /// IPv6 network and prefix length, at most 64; each UE gets a /64. The first /64 (gateway) is not given to UEs.
    pub ipv6: Option<(Ipv6Addr, u8)>,
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
    /// They go on; the peer keeps them if it comes back with the same recovery time stamp.
    Keep,
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
            first_teid: 1,
            seid_seed: None,
            ue_pools: Vec::new(),
            extra_features: UpFeatures(0),
            announce_ip_resources: false,
            request_port: RequestPort::Standard,
            t1: Duration::from_secs(3),
            n1: 3,
            heartbeat_period: Some(Duration::from_secs(10)),
            on_loss: OnLoss::Release,
            answer_lifetime: Duration::from_secs(15),
            max_answers: 65_536,
            max_sessions: 1_000_000,
            max_rules_per_session: 256,
            max_associations: 256,
            max_outstanding: 65_536,
            max_polled: 20_000,
        }
    }

    /// The features that we announce (§8.2.25): only what is implemented.
    pub fn features(&self) -> UpFeatures {
        // DDND: the delay of a BAR; EMPU: end markers; MNOP: packets are counted; BUNDL: several messages in a datagram.
        let own = [UpFeatures::DDND, UpFeatures::EMPU, UpFeatures::MNOP, UpFeatures::BUNDL];
        let mut features = own.into_iter().fold(self.extra_features, UpFeatures::and);
        if !self.gtpu.is_empty() {
            features = features.and(UpFeatures::FTUP);
        }
        if !self.ue_pools.is_empty() {
            features = features.and(UpFeatures::UEIP);
        }
        features
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
        for pool in &self.ue_pools {
            check(pool.ipv4.is_some() || pool.ipv6.is_some(), "a UE pool has no prefix");
            check(pool.ipv4.is_none_or(|(_, length)| (1..=30).contains(&length)), "an IPv4 UE pool is not a /1 to /30");
            check(pool.ipv6.is_none_or(|(_, length)| (1..=63).contains(&length)), "an IPv6 UE pool is not a /1 to /63");
        }
        if wrong.is_empty() { Ok(()) } else { Err(ConfigError(wrong.join("; "))) }
    }
}

/// Seconds from 1900 (NTP, the wire's time stamps) to 1970 (Unix).
pub const NTP_UNIX_OFFSET_S: u64 = 2_208_988_800;

/// NTP seconds of a Unix time; wraps in 2036 as the time stamps do.
pub fn ntp_seconds(since_unix_epoch: Duration) -> u32 {
    (since_unix_epoch.as_secs() + NTP_UNIX_OFFSET_S) as u32
}
