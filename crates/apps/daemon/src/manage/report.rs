//! What `splitplane run` has counted, as data: the final report and the source of the live view.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use utoipa::ToSchema;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl From<target_api::Count> for Count {
    fn from(c: target_api::Count) -> Count {
        Count { packets: c.packets, bytes: c.bytes }
    }
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// A snapshot of the whole UPF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Milliseconds since start.
    pub elapsed_ms: u64,
    /// What runs.
    #[serde(default)]
    pub program: ProgramReport,
    /// Sessions now, and those that have ended with their last counts.
    pub sessions: Vec<SessionCount>,
    /// By port name.
    pub ports: BTreeMap<String, PortReport>,
    /// By target name and direction (`uplink`: came in by an access port).
    pub targets: BTreeMap<String, TargetReport>,
    /// Packets that each worker received from the interfaces itself.
    pub workers: Vec<u64>,
    /// Steering buckets of UEs that moved to other workers.
    pub moved_buckets: u64,
    /// Packets dropped, by reason.
    pub dropped: BTreeMap<String, Count>,
    /// Packets given to the control plane, by reason; `punts` and `refused` say what has become of them.
    pub punted: BTreeMap<String, Count>,
    /// What has become of them.
    #[serde(default)]
    pub punts: PuntReport,
    /// Punted packets that the control plane then dropped, by its reason.
    pub refused: BTreeMap<String, u64>,
    /// Frames of the control plane's own (end markers) that it could not send, by reason.
    #[serde(default)]
    pub host_unsent: BTreeMap<String, u64>,
    /// Packets that the control plane sent.
    pub injected: Count,
    /// Packets that went into idle-mode buffers.
    pub buffered: Count,
    /// Packets that left them.
    pub released: Count,
    /// By name, what became of calls of services.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, ServiceReport>,
    /// Packets that waited for their rates.
    #[serde(default)]
    pub shaped: ShapedReport,
    /// Received less accounted for: zero, or a defect.
    pub imbalance: i64,
    /// Hits, misses and entries of each table.
    pub tables: BTreeMap<String, TableReport>,
    /// PFCP counters.
    pub n4: BTreeMap<String, u64>,
    /// PFCP messages by type, of all peers since the start.
    #[serde(default)]
    pub n4_messages: BTreeMap<String, MessageCount>,
    /// Requests that were rejected, by cause (TS 29.244 §8.2.1).
    #[serde(default)]
    pub n4_rejected: BTreeMap<String, u64>,
    /// Associated peers, in the order of their Node IDs, and behind them those that were lost and have not associated again.
    #[serde(default)]
    pub peers: Vec<PeerReport>,
    /// Whether new associations and sessions are refused: `splitplane set drain on`.
    #[serde(default)]
    pub draining: bool,
    /// Which sessions are on the fast target.
    #[serde(default)]
    pub offload: OffloadReport,
    /// The workers that run.
    #[serde(default)]
    pub load: Vec<WorkerReport>,
    /// Packets of all workers since the start, by the time that a worker took for their burst: from taking it to having given the devices what it sends.
    /// By ascending time; times that no packet had are left out. What a target ahead of the engine carries is not in it, nor is a wait in a buffer,
    /// for a rate or in a service.
    #[serde(default)]
    pub burst_times: Vec<BurstTime>,
    /// Lines of log and live view that were lost: full disk, closed or slow reader.
    #[serde(default)]
    pub lost_lines: u64,
}

/// Packets whose burst took about as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BurstTime {
    /// It took fewer nanoseconds than this, and not fewer than 4/5 of it.
    pub below_ns: u64,
    /// Packets.
    pub packets: u64,
}

/// What waited for a rate, or in a queue of a port. What was dropped of it is under `dropped`, too: `shaper_full`, `shaper_late`, `shaper_codel`; of ports
/// `queue_full`, `queue_late`, `queue_codel`, `queue_ended`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShapedReport {
    /// Packets that were taken to wait.
    pub queued: u64,
    /// Packets that went on, and their bytes.
    pub sent: Count,
    /// How long they had waited, in microseconds, all together.
    #[serde(default)]
    pub waited_us: u64,
    /// Of them, packets that were marked as having met congestion (ECN).
    pub marked: u64,
    /// Packets that were dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Packets that went on, by delay: number `i` had waited for less than `2^i` microseconds, the last one for longer.
    pub delays: Vec<u64>,
}

impl ShapedReport {
    /// The delay, in microseconds, that at least that share (0 to 1) of the packets that went on did not exceed: a power of two. 0: none did.
    pub fn delay_us(&self, share: f64) -> u64 {
        shaper::delay_us(&self.delays, share)
    }
}

impl From<&shaper::Counters> for ShapedReport {
    fn from(c: &shaper::Counters) -> ShapedReport {
        let dropped = shaper::Reason::ALL.iter().filter(|r| c.dropped[**r as usize] > 0);
        ShapedReport {
            queued: c.queued,
            sent: Count { packets: c.sent, bytes: c.sent_bytes },
            waited_us: c.waited_ns / 1000,
            marked: c.marked,
            dropped: dropped.map(|r| (r.name().to_owned(), c.dropped[*r as usize])).collect(),
            delays: if c.queued == 0 { Vec::new() } else { c.delays.to_vec() },
        }
    }
}

/// Which program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgramReport {
    /// File name.
    pub name: String,
    /// What tells it from others, as `splitplane p4 check` prints it.
    pub fingerprint: String,
}

impl From<&program::Program> for ProgramReport {
    fn from(program: &program::Program) -> ProgramReport {
        ProgramReport { name: program.name.clone(), fingerprint: program.fingerprint.to_string() }
    }
}

/// What has become of packets that were given to the control plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PuntReport {
    /// Answered: echo requests, questions for our addresses.
    pub answered: u64,
    /// Of use to the UPF itself: answers of neighbours, path messages.
    pub taken: u64,
    /// Given to the program again when their next hop was known; there they are counted as forwarded or dropped.
    pub sent_on: u64,
    /// Waiting for their next hop.
    pub waiting: u64,
    /// Dropped: `refused` has the reasons.
    pub dropped: u64,
}

/// One session's usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionCount {
    /// Our SEID, as text.
    #[serde(with = "crate::manage::sessions::seid_text")]
    #[schema(value_type = String)]
    pub seid: u64,
    /// UE's IPv4 address.
    #[schema(value_type = Option<String>)]
    pub ue_ipv4: Option<Ipv4Addr>,
    /// UE's IPv6 prefix.
    #[schema(value_type = Option<String>)]
    pub ue_ipv6: Option<Ipv6Addr>,
    /// Target that holds it: the fast one's name, or the base one's.
    pub target: String,
    /// User IP packets and bytes towards the network.
    pub uplink: Count,
    /// User IP packets and bytes towards the UE.
    pub downlink: Count,
    /// Whether it has ended.
    pub ended: bool,
}

/// One port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortReport {
    /// What it is for: `access`, `core`, `both` or `cp`, as `port.role` of the configuration.
    #[serde(default)]
    pub role: String,
    /// Its network instance.
    #[serde(default)]
    pub network_instance: String,
    /// Driver in use.
    pub driver: String,
    /// Frames received.
    pub received: Count,
    /// Frames sent.
    pub transmitted: Count,
    /// Of those received, what the fast target carried ahead of the engine.
    #[serde(default)]
    pub received_ahead: Count,
    /// Of those sent, what it sent.
    #[serde(default)]
    pub transmitted_ahead: Count,
    /// Frames that kernel or device lost before we saw them.
    pub lost_before_us: u64,
    /// Of those sent, frames that kernel or device refused. Of redirected frames, only those that a veth dropped are known.
    pub lost_after_us: u64,
    /// Whether its interface is away: what was to leave by it is dropped as `port_down`.
    #[serde(default)]
    pub down: bool,
    /// How often it was reopened, by all workers.
    #[serde(default)]
    pub reopened: u64,
    /// Of those received, packets that program and workers dropped, by reason. What a target ahead of the engine drops is not among them.
    #[serde(default)]
    pub dropped: BTreeMap<String, u64>,
    /// Packets that were to leave here and were dropped, by reason: the port is down or full, takes no such frame, or its queues dropped them.
    #[serde(default)]
    pub unsent: BTreeMap<String, u64>,
    /// By worker, what it received and sent itself.
    #[serde(default)]
    pub queues: Vec<QueueReport>,
    /// Of a port with a rate, what waited for it, by number of the queue.
    #[serde(default)]
    pub waiting: Vec<ShapedReport>,
}

/// One target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TargetReport {
    /// Whether it is the base target, which holds every session.
    #[serde(default)]
    pub base: bool,
    /// Whether it is a model of a device.
    pub modelled: bool,
    /// Sessions that it holds.
    pub sessions: u64,
    /// Sessions that placement wants there: on a fast target as far as there is room. More than it holds for long is a reason to look why.
    #[serde(default)]
    pub wanted: u64,
    /// Frames from access ports that it carried: forwarded, or gave to a service. Bytes are those received; of a target ahead of the engine those sent.
    pub uplink: Count,
    /// Frames from ports of role `core` or `cp` that it carried.
    pub downlink: Count,
    /// Frames from ports of role `both` that it carried, either way.
    #[serde(default)]
    pub either: Count,
    /// Frames that were dropped there: by the program, and, if it is the only target, by the engine before they left.
    #[serde(default)]
    pub dropped: Count,
    /// Frames that it gave to the control plane, such as ARP.
    #[serde(default)]
    pub punted: Count,
    /// Packets that it received ahead of the engine and passed to the slow path.
    #[serde(default)]
    pub slow_path: u64,
    /// Whether it gets no packets at the moment, as it fell over.
    #[serde(default)]
    pub out_of_service: bool,
    /// How often it was taken out of service.
    #[serde(default)]
    pub fell_over: u64,
    /// How often it came back.
    #[serde(default)]
    pub came_back: u64,
    /// Short tables: an entry that both targets must hold did not fit, so packets that look them up go to the slow path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_tables: Vec<String>,
    /// Its tables, by name.
    #[serde(default)]
    pub tables: BTreeMap<String, TableReport>,
}

/// One service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServiceReport {
    /// Where it runs: `lane`, `threads:N`, `process:PATH`.
    pub place: String,
    /// Packets that were given in.
    pub calls: u64,
    /// Those that came out answered, at once or later.
    pub answered: u64,
    /// Those that it keeps now.
    pub waiting: u64,
    /// Copies that it made of packets that it kept.
    pub copies: u64,
    /// Those that were dropped, by reason: `lost` with its process, `down` while there was none, `full`, or a reason of its own.
    pub dropped: BTreeMap<String, u64>,
    /// Settings that it did not take.
    pub refused_settings: u64,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableReport {
    /// Entries.
    pub entries: u64,
    /// Entries that fit.
    pub capacity: u64,
    /// Look-ups that hit.
    pub hits: u64,
    /// Look-ups that missed.
    pub misses: u64,
}

/// One worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerReport {
    /// Its slot, from 0.
    pub slot: u16,
    /// Packets that it was given since it started, by its ports or by the master.
    pub packets: u64,
    /// Microseconds of processor time in which it had packets, since it started.
    pub busy_us: u64,
    /// Packets that wait for it now, in thousandths of its ring or of a queue of 1024.
    pub waiting_permille: u64,
    /// Steering buckets of UEs that it owns; none without steering.
    pub buckets: u64,
}

impl From<engine::WorkerGauge> for WorkerReport {
    fn from(of: engine::WorkerGauge) -> WorkerReport {
        WorkerReport {
            slot: of.slot,
            packets: of.packets,
            busy_us: of.busy_ns / 1000,
            waiting_permille: (of.depth * 1000.0) as u64,
            buckets: of.buckets as u64,
        }
    }
}

/// What one worker received from a port and sent by it: a queue of the port, where each worker has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueReport {
    /// The worker's slot.
    pub worker: u16,
    /// Frames received.
    pub received: Count,
    /// Frames sent.
    pub transmitted: Count,
}

/// A peer on N4 with an association, or one that was lost and has not associated again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeerReport {
    /// Its Node ID.
    pub node_id: String,
    /// Where requests to it go.
    pub address: String,
    /// Its sessions.
    pub sessions: u64,
    /// Whether it answers no heartbeats. Without `n4.keep_lost_s` its sessions have been released then.
    pub lost: bool,
    /// Milliseconds since it was found lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_ms: Option<u64>,
    /// Milliseconds since the association was set up.
    pub age_ms: u64,
    /// PFCP messages by type, of its address since the association was set up.
    pub messages: BTreeMap<String, MessageCount>,
    /// Its requests that were rejected, by cause (TS 29.244 §8.2.1).
    pub rejected: BTreeMap<String, u64>,
}

/// Messages of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageCount {
    /// Received, and read.
    pub received: u64,
    /// Sent, without repetitions.
    pub sent: u64,
}

/// Which sessions are on the fast target, as decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OffloadReport {
    /// `split.policy`; `none` without a fast target.
    pub policy: String,
    /// Sessions moved to the fast target while they lived.
    pub moved_to_fast: u64,
    /// Sessions moved from it.
    pub moved_to_base: u64,
    /// Moves that were not made.
    pub moves_failed: u64,
    /// How often the fast target had no room for a session.
    pub refused: u64,
    /// Sessions that the planner of `policy = "planned"` was not told of yet: some for a moment when many come at once.
    #[serde(default)]
    pub unplaced: u64,
    /// The last moves of sessions that live, whoever decided them, newest last; at most 64.
    pub recent: Vec<MoveReport>,
}

/// One move of a session, made or tried; or of all sessions of a target that went out of service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MoveReport {
    /// Our SEID.
    #[serde(with = "crate::manage::sessions::seid_text")]
    #[schema(value_type = String)]
    pub seid: u64,
    /// How many sessions: 1, or with SEID 0 all that the target had.
    #[serde(default = "one")]
    pub sessions: u64,
    /// Milliseconds since the start of the UPF.
    pub at_ms: u64,
    /// `fast` or `base`.
    pub to: String,
    /// By plan `rule`, `urgent`, `worth`, `evicted` (a session of more worth takes its room) or `idle`. Else `policy` (it is wanted there, and was not), `not_chosen`
    /// (the policy changed), `out_of_service`, `metered` (it got a rate), `no_room` (it changed, and did not fit any more) or `looked_at` (by a trace or capture).
    pub why: String,
    /// `done`, `no_room` or `failed`.
    pub outcome: String,
}

impl MoveReport {
    /// Of a decision that was seen then.
    pub(crate) fn new(of: offload::Decision, at_ms: u64) -> MoveReport {
        let offload::Decision { id, sessions, to, why, outcome } = of;
        let to = if to == offload::planner::Place::Fast { "fast" } else { "base" };
        MoveReport { seid: id, sessions, at_ms, to: to.into(), why: why.name().into(), outcome: outcome.name().into() }
    }
}

fn one() -> u64 {
    1
}

/// Everything that was dropped, refused or lost, by who counted it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drops {
    /// Packets that program and engine dropped, by reason.
    pub dropped: BTreeMap<String, Count>,
    /// Of these, those that program and workers dropped, by the port that they came in by, and reason.
    pub by_port: BTreeMap<String, BTreeMap<String, u64>>,
    /// Of these, those that were to leave by a port, by that port and reason.
    #[serde(default)]
    pub leaving: BTreeMap<String, BTreeMap<String, u64>>,
    /// Punted packets that the control plane dropped, by its reason.
    pub refused: BTreeMap<String, u64>,
    /// Frames of the control plane's own that it could not send, by reason.
    pub host_unsent: BTreeMap<String, u64>,
    /// Frames that kernel or device lost, by port.
    pub lost: BTreeMap<String, Lost>,
    /// N4 messages that were dropped, by reason.
    pub n4: BTreeMap<String, u64>,
}

/// Frames that a port lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lost {
    /// Before we saw them.
    pub before_us: u64,
    /// When we had sent them.
    pub after_us: u64,
}

impl Drops {
    /// Users' packets that were dropped: by program, engine and control plane.
    pub fn packets(&self) -> u64 {
        self.dropped.values().map(|count| count.packets).sum::<u64>() + self.refused.values().sum::<u64>()
    }

    /// Frames that ports lost.
    pub fn lost(&self) -> u64 {
        self.lost.values().map(|of| of.before_us + of.after_us).sum()
    }
}

impl Report {
    /// What was dropped, refused or lost.
    pub fn drops(&self) -> Drops {
        let n4 = self.n4.iter().filter_map(|(counter, value)| Some((counter.strip_prefix("dropped_")?.to_owned(), *value)));
        Drops {
            dropped: self.dropped.clone(),
            by_port: self.ports.iter().map(|(port, of)| (port.clone(), of.dropped.clone())).collect(),
            leaving: self.ports.iter().map(|(port, of)| (port.clone(), of.unsent.clone())).collect(),
            refused: self.refused.clone(),
            host_unsent: self.host_unsent.clone(),
            lost: self
                .ports
                .iter()
                .map(|(port, of)| (port.clone(), Lost { before_us: of.lost_before_us, after_us: of.lost_after_us }))
                .collect(),
            n4: n4.collect(),
        }
    }
}

/// The live view's header.
pub const HEADER: &str =
    "  time  sessions           received               sent    dropped     punted  dropped, refused and lost in this second";

/// What was dropped between two reports, by reason: `no_pdr 7`.
pub fn drops(now: &Report, before: &Report) -> Vec<String> {
    let by_program = now.dropped.iter().map(|(reason, count)| (reason, count.packets, before.dropped.get(reason).map_or(0, |c| c.packets)));
    let by_host = now.refused.iter().map(|(reason, count)| (reason, *count, before.refused.get(reason).copied().unwrap_or(0)));
    let lost = now.ports.iter().map(|(name, port)| {
        let was = before.ports.get(name).map_or(0, |p| p.lost_before_us + p.lost_after_us);
        (format!("lost_by_{name}"), port.lost_before_us + port.lost_after_us, was)
    });
    let drops = by_program.chain(by_host).map(|(reason, now, was)| (reason.clone(), now, was)).chain(lost);
    drops.filter(|(_, now, was)| now > was).map(|(reason, now, was)| format!("{reason} {}", now - was)).collect()
}

/// One second of the live view: what ports received and sent, what was dropped of it and what was given to the control plane; behind a split also a line
/// for each target. All that a port receives is counted, ARP too.
pub fn live_lines(now: &Report, before: &Report) -> Vec<String> {
    let span = (now.elapsed_ms.saturating_sub(before.elapsed_ms)).max(1) as f64 / 1000.0;
    let per_second = |now: u64, was: u64| now.saturating_sub(was) as f64 / span;
    let rate = |now: Count, was: Count| {
        let (packets, bytes) = (per_second(now.packets, was.packets), per_second(now.bytes, was.bytes));
        format!("{:>8} {:>9}", si(packets, "pps"), si(bytes * 8.0, "b/s"))
    };
    let ports = |report: &Report, of: fn(&PortReport) -> Count| {
        let mut sum = Count::default();
        report.ports.values().for_each(|port| sum += of(port));
        sum
    };
    let punted = |report: &Report| report.punted.values().map(|count| count.packets).sum();
    let reasons = drops(now, before);
    let reasons = if reasons.is_empty() { "-".to_owned() } else { reasons.join(", ") };
    let sessions: u64 = now.targets.values().map(|target| target.sessions).sum();
    let mut lines = vec![format!(
        "{:>5.0}s  {sessions:>8}  {}  {}  {:>9}  {:>9}  {reasons}",
        now.elapsed_ms as f64 / 1000.0,
        rate(ports(now, |port| port.received), ports(before, |port| port.received)),
        rate(ports(now, |port| port.transmitted), ports(before, |port| port.transmitted)),
        si(per_second(now.drops().packets(), before.drops().packets()), "pps"),
        si(per_second(punted(now), punted(before)), "pps"),
    )];
    if now.targets.len() < 2 {
        return lines;
    }
    for (name, target) in &now.targets {
        let was = before.targets.get(name).cloned().unwrap_or_default();
        let label = match (target.out_of_service, target.modelled) {
            (true, _) => format!("{name} (is out)"),
            (_, true) => format!("{name} (modelled)"),
            _ => name.clone(),
        };
        let ways = [("up", target.uplink, was.uplink), ("down", target.downlink, was.downlink), ("either way", target.either, was.either)];
        let shown = ways.iter().filter(|(way, now, _)| *way != "either way" || now.packets > 0);
        let ways: Vec<String> = shown.map(|(way, now, was)| format!("{way} {}", rate(*now, *was).trim())).collect();
        let dropped = si(per_second(target.dropped.packets, was.dropped.packets), "pps");
        lines.push(format!("        {:>8}  {label}: {}, dropped {dropped}", target.sessions, ways.join(", ")));
    }
    lines
}

/// A number with a prefix and unit: `1.2Mb/s`.
fn si(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => return format!("{v:.0}{unit}"),
    };
    if scaled >= 99.5 { format!("{scaled:.0}{prefix}{unit}") } else { format!("{scaled:.1}{prefix}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_view_tells_received_sent_dropped_and_punted_apart() {
        let port = |received, transmitted, lost| PortReport {
            received: Count { packets: received, bytes: received * 1000 },
            transmitted: Count { packets: transmitted, bytes: transmitted * 1000 },
            lost_before_us: lost,
            ..PortReport::default()
        };
        let target = |modelled, packets| TargetReport {
            modelled,
            sessions: 3,
            uplink: Count { packets, bytes: packets * 1000 },
            ..TargetReport::default()
        };
        let count = |packets| Count { packets, bytes: 0 };
        let report = |at, received, dropped, lost| Report {
            elapsed_ms: at,
            ports: [("n3".to_owned(), port(received, received / 2, lost)), ("n6".to_owned(), port(1, received / 4, 0))].into(),
            targets: [("asic".to_owned(), target(true, received)), ("x86".to_owned(), target(false, 0))].into(),
            dropped: [("no_pdr".to_owned(), count(dropped))].into(),
            punted: [("arp".to_owned(), count(dropped * 2))].into(),
            refused: [("arp_rate".to_owned(), dropped)].into(),
            ..Report::default()
        };
        let (before, now) = (report(1000, 0, 5, 2), report(2000, 4000, 16, 9));
        let lines = live_lines(&now, &before);
        testkit::assert_golden("src/manage/live.txt", &format!("{HEADER}\n{}\n", lines.join("\n")));
        assert!(live_lines(&now, &now)[0].ends_with(" -"));
        let mut fallen = now.clone();
        fallen.targets.get_mut("asic").unwrap().out_of_service = true;
        assert!(live_lines(&fallen, &now)[1].contains("asic (is out)"), "{:?}", live_lines(&fallen, &now));
        fallen.targets.remove("x86");
        assert_eq!(live_lines(&fallen, &now).len(), 1, "one target does all");
    }
}
