//! `[n4.store.shared]`: the server that keeps sessions for a standby, too.

use redis::{Client, ConnectionInfo, IntoConnectionInfo};
use std::time::Duration;

/// What records may take in memory, in octets: for each session, and besides. Sessions of some 0.5 KiB are usual, and some hundred rules make 16.
const OF_SESSION: usize = 64 << 10;
const BESIDES: usize = 256 << 20;

/// Where the store is, and how it is used.
#[derive(Clone)]
pub struct Settings {
    pub(crate) client: Client,
    pub(crate) shown: String,
    pub(crate) name: String,
    pub(crate) lease: Duration,
    pub(crate) outage: Duration,
    /// After a start of the server nobody takes a lease for so long: it may have forgotten one.
    pub(crate) settles: Duration,
    pub(crate) most_octets: usize,
}

impl Settings {
    /// For a server, and what its keys are told from others' by; why not.
    pub fn new(url: &str, name: String, lease: Duration, outage: Duration, max_sessions: usize) -> Result<Settings, String> {
        if url.starts_with("rediss:") || url.starts_with("valkeys:") {
            return Err("TLS to the store is not supported: have it on a network of its own, or in a tunnel".into());
        }
        let info: ConnectionInfo = url.into_connection_info().map_err(|e| e.to_string())?;
        // Without what names the user.
        let shown = info.addr().to_string();
        let client = Client::open(info).map_err(|e| e.to_string())?;
        let (settles, most_octets) = (lease + outage, max_sessions.saturating_mul(OF_SESSION).saturating_add(BESIDES));
        Ok(Settings { client, shown, name, lease, outage, settles, most_octets })
    }

    /// The server, without name and password of its user.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}
