//! What `splitplane run` has counted, as data: the final report and the source of the live view.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl From<target::Count> for Count {
    fn from(c: target::Count) -> Count {
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Lines of log and live view that were lost: full disk, closed or slow reader.
    #[serde(default)]
    pub lost_lines: u64,
}

/// What waited for a rate. What was dropped of it is under `dropped`, too: `shaper_full`, `shaper_late`, `shaper_codel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapedReport {
    /// Packets that were taken to wait.
    pub queued: u64,
    /// Packets that went on, and their bytes.
    pub sent: Count,
    /// Of them, packets that were marked as having met congestion (ECN).
    pub marked: u64,
    /// Packets that were dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Packets that went on, by delay: number `i` had waited for less than `2^i` microseconds, the last one for longer.
    pub delays: Vec<u64>,
}

impl From<&shaper::Counters> for ShapedReport {
    fn from(c: &shaper::Counters) -> ShapedReport {
        let dropped = shaper::Reason::ALL.iter().filter(|r| c.dropped[**r as usize] > 0);
        ShapedReport {
            queued: c.queued,
            sent: Count { packets: c.sent, bytes: c.sent_bytes },
            marked: c.marked,
            dropped: dropped.map(|r| (r.name().to_owned(), c.dropped[*r as usize])).collect(),
            delays: if c.queued == 0 { Vec::new() } else { c.delays.to_vec() },
        }
    }
}

/// Which program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCount {
    /// Our SEID.
    pub seid: u64,
    /// UE's IPv4 address.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// UE's IPv6 prefix.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortReport {
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
    /// Of those sent, frames that kernel or device refused.
    pub lost_after_us: u64,
    /// Whether its interface is away: what was to leave by it is dropped as `port_down`.
    #[serde(default)]
    pub down: bool,
    /// How often it was reopened, by all workers.
    #[serde(default)]
    pub reopened: u64,
}

/// One target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetReport {
    /// Whether it is a model of a device.
    pub modelled: bool,
    /// Sessions that it holds.
    pub sessions: u64,
    /// Frames from access ports that it ran to their end.
    pub uplink: Count,
    /// Frames from core ports.
    pub downlink: Count,
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
}

/// One service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// The live view's header.
pub const HEADER: &str = "  time  sessions  target          uplink            downlink        drops in this second";

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

/// One second of the live view: a line for each target.
pub fn live_lines(now: &Report, before: &Report) -> Vec<String> {
    let span = (now.elapsed_ms - before.elapsed_ms).max(1) as f64 / 1000.0;
    let drops = drops(now, before);
    let mut lines = Vec::new();
    for (name, target) in &now.targets {
        let was = before.targets.get(name).cloned().unwrap_or_default();
        let rate = |now: Count, was: Count| {
            let packets = now.packets.saturating_sub(was.packets) as f64 / span;
            let bits = now.bytes.saturating_sub(was.bytes) as f64 * 8.0 / span;
            format!("{:>7} {:>8}", si(packets, "pps"), si(bits, "b/s"))
        };
        let label = match (target.out_of_service, target.modelled) {
            (true, _) => format!("{name} (is out)"),
            (_, true) => format!("{name} (modelled)"),
            _ => name.clone(),
        };
        let first = lines.is_empty();
        let time = if first { format!("{:>5.0}s", now.elapsed_ms as f64 / 1000.0) } else { String::new() };
        let drops = if !first {
            ""
        } else if drops.is_empty() {
            "-"
        } else {
            &drops.join(", ")
        };
        lines.push(format!(
            "{time:>6}  {:>8}  {label:<15} {}  {}  {drops}",
            target.sessions,
            rate(target.uplink, was.uplink),
            rate(target.downlink, was.downlink)
        ));
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
    fn the_live_view_names_models_drops_and_losses() {
        let port = |lost| PortReport { lost_before_us: lost, lost_after_us: 1, ..PortReport::default() };
        let target = |modelled, packets| TargetReport {
            modelled,
            sessions: 3,
            uplink: Count { packets, bytes: packets * 1000 },
            ..TargetReport::default()
        };
        let report = |at, lost, drops, packets| Report {
            elapsed_ms: at,
            ports: [("n3".to_owned(), port(lost))].into(),
            targets: [("asic".to_owned(), target(true, packets)), ("x86".to_owned(), target(false, 0))].into(),
            dropped: [("no_pdr".to_owned(), Count { packets: drops, bytes: 0 })].into(),
            ..Report::default()
        };
        let (before, now) = (report(1000, 2, 5, 0), report(2000, 9, 6, 4000));
        let lines = live_lines(&now, &before);
        assert!(lines[0].contains("asic (modelled)") && lines[0].contains("4.0kpps") && lines[0].contains("32.0Mb/s"), "{}", lines[0]);
        assert!(lines[0].ends_with("no_pdr 1, lost_by_n3 7"), "{}", lines[0]);
        assert!(lines[1].contains("x86") && !lines[1].contains("modelled"), "{}", lines[1]);
        assert!(live_lines(&now, &now)[0].ends_with('-'));
        let mut fallen = now.clone();
        fallen.targets.get_mut("asic").unwrap().out_of_service = true;
        assert!(live_lines(&fallen, &now)[0].contains("asic (is out)"), "{}", live_lines(&fallen, &now)[0]);
    }
}
