//! What the agent is asked from outside, and the parts of its answers that are no reports.

use super::capture::{LookQuery, story::Part};
use super::report::{Report, SessionCount};
use super::sessions::{SessionDetail, SessionPage, SessionQuery};
use crate::config::{Config, Role};
use base::PortId;
use crossbeam_channel::Sender;
use pfcp::rules::Seid;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the agent is asked from outside.
pub enum Request {
    /// A snapshot, without single sessions.
    Report {
        /// Where it goes.
        reply: Sender<Report>,
    },
    /// Counts of some sessions, of those that have ended too.
    Counts {
        /// The first ones, or where the last answer said.
        from: CountsFrom,
        /// Where they go, and where to go on; `None`: these were the last.
        reply: Sender<(Vec<SessionCount>, Option<CountsFrom>)>,
    },
    /// Sessions that are asked for, among the next few: see [`SessionQuery`].
    Sessions {
        /// Which, checked.
        query: SessionQuery,
        /// Where they go.
        reply: Sender<SessionPage>,
    },
    /// One session whole; `None`: there is none.
    Session {
        /// Our SEID.
        seid: Seid,
        /// Where it goes.
        reply: Sender<Option<SessionDetail>>,
    },
    /// New associations and sessions are refused from now on, or no longer.
    Drain {
        /// Refused.
        on: bool,
        /// Called when it is done.
        reply: Sender<()>,
    },
    /// The configuration is this one from now on, or nothing changes.
    Reload {
        /// Valid by itself.
        config: Box<Config>,
        /// The text that it was made from, which must still be the one that runs.
        based_on: Option<String>,
        /// Only says what would change.
        dry_run: bool,
        /// What changes, or why nothing does.
        reply: Sender<Result<Reloaded, String>>,
    },
    /// The text of the configuration that runs.
    Text {
        /// `None`: there is none.
        reply: Sender<Option<String>>,
    },
    /// Copies of the next packets are asked for.
    Look {
        /// Which, checked.
        query: LookQuery,
        /// Who asks, for the audit log.
        who: String,
        /// The number to ask with.
        reply: Sender<u32>,
    },
    /// What was seen since the last question.
    Seen {
        /// The number.
        id: u32,
        /// With what stories are told by.
        story: bool,
        /// Some packets, or why there are none.
        reply: Sender<Result<Part, String>>,
    },
    /// No more packets are asked for.
    EndLook {
        /// The number.
        id: u32,
        /// Called when it is done.
        reply: Sender<()>,
    },
    /// Stop: sessions are released, peers are notified.
    Stop,
}

/// Where a list of all sessions' counts goes on: those that live, then those that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountsFrom {
    /// Behind this SEID.
    Live(Option<Seid>),
    /// Without the first so many.
    Ended(usize),
}

/// A port's name, driver and side, for reports.
#[derive(Clone, Debug)]
pub struct PortLabel {
    /// Number in the data plane.
    pub id: PortId,
    /// Name in the configuration.
    pub name: String,
    /// Driver in use.
    pub driver: String,
    /// What it is for: user packets that arrive by another port than one to the core are uplink.
    pub role: Role,
    /// Its network instance.
    pub network_instance: String,
    /// Whether its interface is away, and how often it was there again.
    pub down: bool,
    /// See [`PortLabel::down`].
    pub reopened: u64,
}

/// What a reload changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reloaded {
    /// What changes, a line each: `+` and `-` for blocks that come and go.
    pub changes: Vec<String>,
    /// Keys that changed and need a restart.
    pub restart: Vec<String>,
    /// What did not work when the changes had been taken over, which cannot be taken back: such as XDP that does not run on a new port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl Reloaded {
    /// In a word, for the audit log: what failed, if anything did.
    pub(crate) fn outcome(&self) -> String {
        if self.failed.is_empty() { "done".into() } else { format!("done, but: {}", self.failed.join("; ")) }
    }
}
