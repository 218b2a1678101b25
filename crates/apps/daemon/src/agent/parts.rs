//! What does the agent consist of? Each part belongs to one task; [`super::Agent`] runs them on one thread.

use crate::datapath::placement::Placement;
use crate::datapath::services;
use crate::datapath::targets::EngineAndTargets;
use crate::datapath::xdp::Kernel;
use crate::manage::carried::Punted;
use crate::manage::report::MoveReport;
use crate::manage::request::PortLabel;
use crate::n4::output::Output;
use crate::n4::store::Store;
use crossbeam_channel::Receiver;
use engine::Engine;
use offload::{Comeback, Split};
use pfcp::node::Node;
use pfcp::rules::Seid;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};
use upf::plane::Plane;

/// N4: sessions, and how their messages are sent and kept.
pub struct N4 {
    /// Associations and sessions.
    pub node: Node,
    /// What is sent.
    pub output: Arc<Output>,
    /// Messages that N4's queue had no room for.
    pub dropped: Arc<AtomicU64>,
    /// Where sessions survive a crash, if that is asked for.
    pub store: Option<Store>,
}

/// What carries packets.
pub struct Datapath {
    /// Rules to entries, and the host.
    pub plane: Plane<EngineAndTargets>,
    /// Where the program runs.
    pub targets: Arc<Split>,
    /// What the program calls beside the pipeline.
    pub services: services::Running,
    /// Workers.
    pub engine: Arc<Engine>,
    /// Events that workers report.
    pub events: Receiver<engine::Event>,
    /// Events that were taken from `events` and are handled before the rest.
    pub backlog: VecDeque<engine::Event>,
    /// The program in the kernel, if there is one.
    pub kernel: Option<Kernel>,
    /// Ports, for reports.
    pub ports: Vec<PortLabel>,
}

/// Where sessions are.
#[derive(Default)]
pub(super) struct Placing {
    /// What moves sessions between targets, where that is asked for.
    pub(super) planner: Option<Placement>,
    /// What brings a fast target back that fell over, and its sessions.
    pub(super) comeback: Comeback,
    /// The last moves of sessions, oldest first.
    pub(super) decisions: VecDeque<MoveReport>,
    /// Sessions behind this one are to be looked at again: their place may be another by a changed configuration.
    pub(super) reconsidering: Option<Option<Seid>>,
}

/// Counters that no other part keeps.
#[derive(Default)]
pub(super) struct Counted {
    /// Punted packets without a consumer, by reason.
    pub(super) refused: BTreeMap<&'static str, u64>,
    /// What was punted, by port.
    pub(super) punted: Punted,
    /// Frames of the host that could not be sent, by reason.
    pub(super) host_unsent: BTreeMap<&'static str, u64>,
}

/// From the start to the end.
pub struct Life {
    /// Time zero: the recovery time stamp.
    pub(super) start: Instant,
    /// Time at the start of this process.
    pub(super) age: Duration,
    /// Ticks since the start, modulo their type.
    pub(super) ticks: u32,
    /// Set when all targets have come into service since the start.
    pub(super) ready: Arc<AtomicBool>,
    /// How the configuration wants the end to be.
    pub(super) at_end: AtEnd,
    /// Peers were asked to release their associations, and this is when the time for that is over.
    pub(super) leaves_by: Option<Instant>,
    /// Sessions still to be released at the end.
    pub(super) still_ending: Arc<AtomicUsize>,
    /// Whether punting has ended: every punted packet has its fate.
    pub(super) stopped: bool,
    /// Why it ended, if it was not asked to.
    pub(super) failed: Option<String>,
}

/// The configuration's wishes for peers and sessions at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtEnd {
    /// Sessions stay in the store.
    pub keeps_sessions: bool,
    /// XDP's program goes on while the daemon is away: `split.keep`.
    pub xdp_stays: bool,
    /// Peers may take so long to release their associations.
    pub graceful_release: Option<Duration>,
}

impl Life {
    /// Begins the life of an agent whose time zero was `start`. `ready` is set when all targets are in service, `still_ending` says how many sessions are yet to be released.
    pub fn new(start: Instant, at_end: AtEnd, ready: Arc<AtomicBool>, still_ending: Arc<AtomicUsize>) -> Life {
        Life { start, age: start.elapsed(), ticks: 0, ready, at_end, leaves_by: None, still_ending, stopped: false, failed: None }
    }
}
