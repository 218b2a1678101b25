//! `[n4]`: the SMF's side.

use crate::config::peers::PeerEntry;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// `[n4]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct N4 {
    /// UDP address to listen on; the port is 8805 by TS 29.244 §4.2.2.
    pub listen: SocketAddr,
    /// Node ID: an address or a domain name. Default: the listen address.
    pub node_id: Option<String>,
    /// Who may speak to us. Default: the networks of the interface that has the listen address.
    pub peers: Option<Vec<PeerEntry>>,
    /// SMFs that send the octets of a slice differentiator in reverse order.
    #[serde(default)]
    pub sd_reversed: Vec<PeerEntry>,
    /// Most sessions.
    #[serde(default = "default_sessions")]
    pub max_sessions: usize,
    /// Most sessions of one peer. Default: all.
    pub max_sessions_per_peer: Option<usize>,
    /// Most associations that one peer sets up.
    #[serde(default = "default_associations_per_peer")]
    pub max_associations_per_peer: usize,
    /// Most messages of one associated peer in a second; 0: no limit.
    #[serde(default = "default_messages_per_second")]
    pub messages_per_second: u32,
    /// Most reports to one peer that wait for their answer.
    #[serde(default = "default_outstanding_per_peer")]
    pub max_outstanding_per_peer: usize,
    /// Most answers that are kept for one peer's retransmissions.
    #[serde(default = "default_answers_per_peer")]
    pub max_answers_per_peer: usize,
    /// Most error indication reports to one peer in a second.
    #[serde(default = "default_error_indications")]
    pub error_indications_per_second: u32,
    /// Seconds between our heartbeats; 0: we send none.
    #[serde(default = "default_heartbeat")]
    pub heartbeat_s: u64,
    /// SMFs that we ask for an association, besides those that ask us.
    #[serde(default)]
    pub associate: Vec<IpAddr>,
    /// Seconds for which the sessions of a peer that answers no heartbeats stay; 0: they are released at once.
    #[serde(default)]
    pub keep_lost_s: u64,
    /// Seconds that peers have at the end to release their associations, while sessions go on; 0: they end at once.
    #[serde(default)]
    pub graceful_release_s: u64,
    /// Read an MBR of 0 kbit/s as "no limit"; otherwise it lets nothing pass.
    #[serde(default)]
    pub zero_mbr_unlimited: bool,
    /// Where our own requests go: `standard` (port 8805) or `source` (where the association came from).
    #[serde(default)]
    pub request_port: RequestPort,
    /// Where sessions are kept, to come back after a crash. Default: nowhere.
    pub store: Option<Store>,
}

/// `[n4.store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Folder of its files; made if there is none.
    pub path: Option<PathBuf>,
    /// Instead of files, a server that a standby reads too.
    pub shared: Option<Shared>,
    /// How far counters in the store may lag behind, in seconds: packets of so long may be missing in what is charged after a crash.
    #[serde(default = "default_counters_within")]
    pub counters_within_s: u64,
    /// What files survive.
    pub survives: Option<Survives>,
    /// What becomes of sessions when the UPF is stopped.
    #[serde(default)]
    pub on_stop: OnStop,
}

/// `[n4.store.shared]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Server of the Redis protocol: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]` or `redis+unix:///PATH`.
    pub url: String,
    /// What this node's keys are told from others' by. Default: the Node ID.
    pub name: Option<String>,
    /// After so many milliseconds without a sign of life another node may serve, and this one does not any more.
    #[serde(default = "default_lease")]
    pub lease_ms: u64,
    /// Seconds for which this node goes on forwarding after that, if it is the server that cannot be reached.
    #[serde(default)]
    pub outage_s: u64,
}

/// `n4.store.survives`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Survives {
    /// The end of the process, however it ends: the kernel has what was written.
    #[default]
    Crash,
    /// The end of the machine too: the disk has it.
    PowerLoss,
}

/// `n4.store.on_stop`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// They end, and peers are told.
    #[default]
    Release,
    /// They stay for the next start.
    Keep,
}

/// `n4.request_port`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RequestPort {
    /// 8805.
    #[default]
    Standard,
    /// The peer's own port.
    Source,
}

fn default_sessions() -> usize {
    262_144
}

fn default_associations_per_peer() -> usize {
    16
}

fn default_messages_per_second() -> u32 {
    10_000
}

fn default_outstanding_per_peer() -> usize {
    16_384
}

fn default_answers_per_peer() -> usize {
    16_384
}

fn default_error_indications() -> u32 {
    200
}

fn default_lease() -> u64 {
    1000
}

fn default_counters_within() -> u64 {
    5
}

fn default_heartbeat() -> u64 {
    10
}
