//! `[api]`: the HTTP server.

use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `[api]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// Where it listens; without it there is none.
    pub listen: Option<SocketAddr>,
    /// A file with the token that each request must have. Required beyond loopback.
    pub token_file: Option<PathBuf>,
    /// Requests in a second, of all clients together.
    pub requests_per_s: u32,
}

impl Default for Api {
    fn default() -> Api {
        Api { listen: None, token_file: None, requests_per_s: 50 }
    }
}
