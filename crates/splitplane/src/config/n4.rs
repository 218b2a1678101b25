//! `[n4]`: the SMF's side.

use serde::Deserialize;
use std::net::SocketAddr;

/// `[n4]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct N4 {
    /// UDP address to listen on; the port is 8805 by TS 29.244 §4.2.2.
    pub listen: SocketAddr,
    /// Node ID: an address or a domain name. Default: the listen address.
    pub node_id: Option<String>,
    /// Most sessions.
    #[serde(default = "default_sessions")]
    pub max_sessions: usize,
    /// Seconds between our heartbeats; 0: we send none.
    #[serde(default = "default_heartbeat")]
    pub heartbeat_s: u64,
    /// Read an MBR of 0 kbit/s as "no limit"; otherwise it lets nothing pass.
    #[serde(default)]
    pub zero_mbr_unlimited: bool,
    /// Where our own requests go: `standard` (port 8805) or `source` (where the association came from).
    #[serde(default)]
    pub request_port: RequestPort,
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

fn default_heartbeat() -> u64 {
    10
}
