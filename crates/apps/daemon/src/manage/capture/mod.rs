//! What does a running UPF do with real packets? `splitplane trace live` and `splitplane capture`: copies of packets that workers have run, with the interpreter's
//! story of each by the entries that the tables have now.
//!
//! One looks at a time, and fetches what was seen a part at a time. Who does not ask any more is forgotten, and workers look at nothing then.
//!
//! *Packets ahead of the engine*, in XDP, are not copied there. Sessions of a UE that is looked at run on the base target meanwhile: they move there and back as
//! placement moves them, without loss. What XDP does with frames of no session is not seen.

pub mod command;
pub(crate) mod http;
mod pcapng;
pub(crate) mod story;

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use utoipa::ToSchema;

/// Packets that are looked at, at most, and without being asked.
pub const MOST: u32 = 100_000;

/// Which packets are looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LookQuery {
    /// Only those to and from this address of a UE; of IPv6 the /64 counts.
    #[schema(value_type = Option<String>)]
    pub ue: Option<IpAddr>,
    /// Only those that the program drops.
    #[serde(default)]
    pub dropped: bool,
    /// So many, at most 100,000.
    pub count: u32,
}

impl LookQuery {
    /// What is wrong with it.
    pub fn validate(&self) -> Result<(), String> {
        if (1..=MOST).contains(&self.count) { Ok(()) } else { Err(format!("count: expected 1 to {MOST}")) }
    }
}

/// A packet that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenPacket {
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Port that it came by.
    pub port: String,
    /// Target that ran it.
    pub target: String,
    /// What became of it: `forward`, `drop`, `buffer`, `punt`, ...
    pub verdict: String,
    /// Reason of a drop or a punt.
    pub reason: Option<String>,
    /// Port that a forward leaves by.
    pub to: Option<String>,
    /// The frame as it came, in hexadecimal digits.
    pub packet: String,
    /// As the program left it.
    pub after: String,
    /// The interpreter's story of it, if asked for.
    pub story: Option<String>,
}

/// Some packets that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenPart {
    /// In the order in which each worker saw them.
    pub packets: Vec<SeenPacket>,
    /// How many are still looked for.
    pub left: u64,
    /// Packets that were looked for and not copied, as earlier ones were not fetched in time.
    pub missed: u64,
}

/// For the audit log.
pub(crate) fn whose(ue: Option<IpAddr>) -> String {
    ue.map_or("all users".to_owned(), |ue| ue.to_string())
}
