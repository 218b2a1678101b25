//! The report as metrics, in OpenMetrics text. Names and units: docs/metrics.md.
//!
//! Made anew at each scrape from the counters that are there anyhow: packets pay nothing for it. The number of series is bounded: labels
//! are names of the configuration and of the program, and Node IDs of associated peers. There is none for a session.

use crate::manage::report::{Count, PortReport, Report, ShapedReport};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// Media type of [`text`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Labels of a sample.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// The report as text.
pub fn text(report: Report) -> String {
    let mut registry = Registry::with_prefix("splitplane");
    registry.register_collector(Box::new(Metrics(report)));
    let mut out = String::new();
    prometheus_client::encoding::text::encode(&mut out, &registry).expect("a String takes what is written");
    out
}

#[derive(Debug)]
struct Metrics(Report);

impl Collector for Metrics {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut page = Page(encoder);
        let now = &self.0;
        page.whole(now)?;
        page.ports(now)?;
        page.queues(now)?;
        page.fates(now)?;
        page.tables(now)?;
        page.targets(now)?;
        page.workers(now)?;
        page.n4(now)?;
        page.services(now)
    }
}

struct Page<'a>(DescriptorEncoder<'a>);

/// What OpenMetrics demands of a label's value, and the encoder leaves to its caller.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn packets() -> Option<Unit> {
    Some(Unit::Other("packets".into()))
}

fn messages() -> Option<Unit> {
    Some(Unit::Other("messages".into()))
}

impl Page<'_> {
    fn counters<'a, N: EncodeCounterValue>(
        &mut self,
        name: &str,
        unit: Option<Unit>,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, N)>,
    ) -> fmt::Result {
        let encode = |metric: &mut MetricEncoder<'_>, value: &N| metric.encode_counter::<NoLabelSet, _, u64>(value, None);
        self.samples(MetricType::Counter, name, unit, help, samples, encode)
    }

    fn gauges<'a, N: EncodeGaugeValue>(
        &mut self,
        name: &str,
        unit: Option<Unit>,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, N)>,
    ) -> fmt::Result {
        self.samples(MetricType::Gauge, name, unit, help, samples, |metric, value| metric.encode_gauge(value))
    }

    fn samples<'a, N>(
        &mut self,
        kind: MetricType,
        name: &str,
        unit: Option<Unit>,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, N)>,
        encode: impl Fn(&mut MetricEncoder<'_>, &N) -> fmt::Result,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            let labels: Vec<(&str, String)> = labels.into_iter().map(|(key, value)| (key, escaped(value))).collect();
            if labels.is_empty() {
                encode(&mut metric, &value)?;
            } else {
                encode(&mut metric.encode_family(&labels)?, &value)?;
            }
        }
        Ok(())
    }

    /// Packets and bytes, as two metrics.
    fn traffic<'a>(&mut self, name: &str, help: &str, samples: &[(Labels<'a>, Count)]) -> fmt::Result {
        self.counters(name, packets(), &format!("{help}: packets"), samples.iter().map(|(l, c)| (l.clone(), c.packets)))?;
        self.counters(name, Some(Unit::Bytes), &format!("{help}: bytes"), samples.iter().map(|(l, c)| (l.clone(), c.bytes)))
    }

    fn whole(&mut self, now: &Report) -> fmt::Result {
        let labels =
            vec![("version", env!("CARGO_PKG_VERSION")), ("program", &now.program.name), ("fingerprint", &now.program.fingerprint)];
        self.gauges("build_info", None, "Version and program; always 1", [(labels, 1u64)])?;
        self.gauges("uptime", Some(Unit::Seconds), "Time since the start", [(vec![], now.elapsed_ms as f64 / 1000.0)])?;
        let n4 = |name: &str| now.n4.get(name).copied().unwrap_or_default();
        self.gauges("sessions", None, "Sessions", [(vec![], n4("sessions"))])?;
        self.gauges("sessions_ending", None, "Sessions that are gone for N4 and wait to be ended", [(vec![], n4("sessions_ending"))])?;
        self.gauges("draining", None, "Whether new sessions are refused", [(vec![], u64::from(now.draining))])?;
        self.gauges("imbalance", packets(), "Received less accounted for: in flight, or a defect if it stays", [(vec![], now.imbalance)])?;
        self.counters("log_lines_lost", None, "Lines of log that could not be written", [(vec![], now.lost_lines)])
    }

    fn ports(&mut self, now: &Report) -> fmt::Result {
        let rows = |what: fn(&crate::manage::report::PortReport) -> Count| -> Vec<(Labels<'_>, Count)> {
            now.ports.iter().map(|(port, of)| (vec![("port", port.as_str())], what(of))).collect()
        };
        self.traffic("port_received", "Frames received by a port", &rows(|of| of.received))?;
        self.traffic("port_sent", "Frames sent by a port", &rows(|of| of.transmitted))?;
        let lost = now.ports.iter().flat_map(|(port, of)| {
            [("before", of.lost_before_us), ("after", of.lost_after_us)].map(|(side, n)| (vec![("port", port.as_str()), ("side", side)], n))
        });
        self.counters("port_lost", packets(), "Frames that kernel or device lost before or after us", lost)?;
        let dropped = now
            .ports
            .iter()
            .flat_map(|(port, of)| of.dropped.iter().map(|(reason, n)| (vec![("port", port.as_str()), ("reason", reason.as_str())], *n)));
        self.counters("port_dropped", packets(), "Packets of a port that program and workers dropped, by reason", dropped)?;
        let unsent = now
            .ports
            .iter()
            .flat_map(|(port, of)| of.unsent.iter().map(|(reason, n)| (vec![("port", port.as_str()), ("reason", reason.as_str())], *n)));
        self.counters("port_unsent", packets(), "Packets that were to leave by a port and were dropped, by reason", unsent)?;
        let up = now.ports.iter().map(|(port, of)| (vec![("port", port.as_str())], u64::from(!of.down)));
        self.gauges("port_up", None, "Whether a port's interface is there", up)?;
        let reopened = now.ports.iter().map(|(port, of)| (vec![("port", port.as_str())], of.reopened));
        self.counters("port_reopened", None, "How often a port was reopened", reopened)
    }

    /// Of ports that have a rate.
    fn queues(&mut self, now: &Report) -> fmt::Result {
        const NUMBERS: [&str; shaper::QUEUES] = ["0", "1", "2", "3", "4", "5", "6", "7"];
        fn of_port<'a>((port, of): (&'a String, &'a PortReport)) -> impl Iterator<Item = (Labels<'a>, &'a ShapedReport)> {
            NUMBERS.into_iter().zip(&of.waiting).map(move |(number, of)| (vec![("port", port.as_str()), ("queue", number)], of))
        }
        let queues: Vec<(Labels<'_>, &ShapedReport)> = now.ports.iter().flat_map(of_port).collect();
        let sent: Vec<(Labels<'_>, Count)> = queues.iter().map(|(labels, of)| (labels.clone(), of.sent)).collect();
        self.traffic("port_queue_sent", "Frames that left by a queue of a port with a rate", &sent)?;
        let marked = queues.iter().map(|(labels, of)| (labels.clone(), of.marked));
        self.counters("port_queue_marked", packets(), "Of these, packets marked as having met congestion", marked)?;
        let dropped = queues.iter().flat_map(|(labels, of)| {
            of.dropped.iter().map(|(reason, n)| (labels.iter().copied().chain([("reason", reason.as_str())]).collect(), *n))
        });
        self.counters(
            "port_queue_dropped",
            packets(),
            "Packets that were to wait in a queue of a port and were dropped, by reason",
            dropped,
        )?;
        let help = "How long frames had waited in a queue of a port";
        let mut metric = self.0.encode_descriptor("port_queue_delay", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        for (labels, of) in queues {
            let most = |i: usize| if i + 1 < shaper::BUCKETS { (1u64 << i) as f64 / 1e6 } else { f64::MAX };
            let buckets: Vec<(f64, u64)> = (0..shaper::BUCKETS).map(|i| (most(i), of.delays.get(i).copied().unwrap_or_default())).collect();
            let sum = of.waited_us as f64 / 1e6;
            metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(sum, of.sent.packets, &buckets, None)?;
        }
        Ok(())
    }

    fn fates(&mut self, now: &Report) -> fmt::Result {
        let dropped: Vec<(Labels<'_>, Count)> =
            now.dropped.iter().map(|(reason, count)| (vec![("reason", reason.as_str())], *count)).collect();
        self.traffic("dropped", "Packets that program and engine dropped, by reason", &dropped)?;
        let punted = now.punted.iter().map(|(reason, count)| (vec![("reason", reason.as_str())], count.packets));
        self.counters("punted", packets(), "Packets given to the control plane, by reason", punted)?;
        let refused = now.refused.iter().map(|(reason, n)| (vec![("reason", reason.as_str())], *n));
        self.counters("refused", packets(), "Punted packets that the control plane dropped, by reason", refused)?;
        let unsent = now.host_unsent.iter().map(|(reason, n)| (vec![("reason", reason.as_str())], *n));
        self.counters("host_unsent", packets(), "Frames of the control plane's own that could not be sent, by reason", unsent)?;
        self.traffic("buffered", "Packets that went into buffers of idle UEs", &[(vec![], now.buffered)])?;
        self.traffic("released", "Packets that left them", &[(vec![], now.released)])?;
        let waiting = now.buffered.packets.saturating_sub(now.released.packets);
        self.gauges("buffer_waiting", packets(), "Packets that wait in buffers of idle UEs", [(vec![], waiting)])?;
        self.counters("shaper_queued", packets(), "Packets that waited for their rate", [(vec![], now.shaped.queued)])?;
        self.traffic("shaper_sent", "Packets that went on when they had waited", &[(vec![], now.shaped.sent)])?;
        self.counters("shaper_marked", packets(), "Of these, packets marked as having met congestion", [(vec![], now.shaped.marked)])?;
        let shaped = now.shaped.dropped.iter().map(|(reason, n)| (vec![("reason", reason.as_str())], *n));
        self.counters("shaper_dropped", packets(), "Packets that were to wait and were dropped, by reason", shaped)
    }

    fn tables(&mut self, now: &Report) -> fmt::Result {
        let label = |table: &'static str| table;
        let rows = |what: fn(&crate::manage::report::TableReport) -> u64| -> Vec<(Labels<'_>, u64)> {
            now.tables.iter().map(|(table, of)| (vec![(label("table"), table.as_str())], what(of))).collect()
        };
        self.gauges("table_entries", None, "Entries of a table", rows(|of| of.entries))?;
        self.gauges("table_capacity", None, "Entries that fit a table", rows(|of| of.capacity))?;
        let lookups = now.tables.iter().flat_map(|(table, of)| {
            [("hit", of.hits), ("miss", of.misses)].map(|(result, n)| (vec![("table", table.as_str()), ("result", result)], n))
        });
        self.counters("table_lookups", None, "Look-ups in a table, by result", lookups)
    }

    fn targets(&mut self, now: &Report) -> fmt::Result {
        let rows = |what: fn(&crate::manage::report::TargetReport) -> u64| -> Vec<(Labels<'_>, u64)> {
            now.targets.iter().map(|(target, of)| (vec![("target", target.as_str())], what(of))).collect()
        };
        self.gauges("target_sessions", None, "Sessions that a target holds for itself", rows(|of| of.sessions))?;
        self.gauges("target_sessions_wanted", None, "Sessions that placement wants on a target", rows(|of| of.wanted))?;
        let unplaced = [(vec![], now.offload.unplaced)];
        self.gauges("sessions_unplaced", None, "Sessions that the planner of placement was not told of yet", unplaced)?;
        let carried: Vec<(Labels<'_>, Count)> = now
            .targets
            .iter()
            .flat_map(|(target, of)| {
                [("access", of.uplink), ("core", of.downlink), ("both", of.either)]
                    .map(|(side, n)| (vec![("target", target.as_str()), ("from", side)], n))
            })
            .collect();
        self.traffic("target_carried", "Frames that a target carried, by the side that they came from", &carried)?;
        let fate = |what: fn(&crate::manage::report::TargetReport) -> Count| -> Vec<(Labels<'_>, Count)> {
            now.targets.iter().map(|(target, of)| (vec![("target", target.as_str())], what(of))).collect()
        };
        self.traffic("target_dropped", "Frames that were dropped at a target", &fate(|of| of.dropped))?;
        self.traffic("target_punted", "Frames that a target gave to the control plane", &fate(|of| of.punted))?;
        self.gauges("target_in_service", None, "Whether a target gets packets", rows(|of| u64::from(!of.out_of_service)))?;
        self.counters("target_retirements", None, "How often a target was taken out of service", rows(|of| of.fell_over))?;
        self.counters(
            "target_slow_path",
            packets(),
            "Packets that a target ahead of the engine passed to the slow path",
            rows(|of| of.slow_path),
        )?;
        let offload = &now.offload;
        let moves =
            [("fast", "done", offload.moved_to_fast), ("base", "done", offload.moved_to_base), ("any", "failed", offload.moves_failed)];
        let moves = moves.map(|(to, outcome, n)| (vec![("to", to), ("outcome", outcome)], n));
        self.counters("session_moves", None, "Sessions moved between targets while they lived", moves)?;
        self.counters("offload_refused", None, "How often the fast target had no room for a session", [(vec![], offload.refused)])
    }

    fn workers(&mut self, now: &Report) -> fmt::Result {
        let slots: Vec<String> = now.load.iter().map(|of| of.slot.to_string()).collect();
        let rows = || now.load.iter().zip(&slots).map(|(of, slot)| (vec![("worker", slot.as_str())], of));
        self.counters("worker_received", packets(), "Packets that a worker was given", rows().map(|(l, of)| (l, of.packets)))?;
        self.counters(
            "worker_busy",
            Some(Unit::Seconds),
            "Time in which a worker had packets",
            rows().map(|(l, of)| (l, of.busy_us as f64 / 1e6)),
        )?;
        self.gauges(
            "worker_waiting",
            Some(Unit::Other("ratio".into())),
            "Packets that wait for a worker, as a share of its ring",
            rows().map(|(l, of)| (l, of.waiting_permille as f64 / 1000.0)),
        )?;
        self.gauges("worker_buckets", None, "Buckets of UEs that a worker owns", rows().map(|(l, of)| (l, of.buckets)))?;
        self.counters("buckets_moved", None, "Buckets of UEs that moved to other workers", [(vec![], now.moved_buckets)])
    }

    fn n4(&mut self, now: &Report) -> fmt::Result {
        let kinds = now.n4_messages.iter().flat_map(|(kind, of)| {
            [("received", of.received), ("sent", of.sent)].map(|(way, n)| (vec![("type", kind.as_str()), ("direction", way)], n))
        });
        self.counters("n4", messages(), "PFCP messages, by type", kinds)?;
        let rejected = now.n4_rejected.iter().map(|(cause, n)| (vec![("cause", cause.as_str())], *n));
        self.counters("n4_rejected", messages(), "Requests rejected, by cause", rejected)?;
        let drops = now.drops();
        let dropped = drops.n4.iter().map(|(reason, n)| (vec![("reason", reason.as_str())], *n));
        self.counters("n4_dropped", messages(), "PFCP messages dropped without a response, by reason", dropped)?;
        let n4 = |name: &str| now.n4.get(name).copied().unwrap_or_default();
        let counted = [
            ("n4_sessions_established", "established", "Sessions established"),
            ("n4_sessions_modified", "modified", "Sessions modified"),
            ("n4_sessions_ended", "ended", "Sessions that ended, for whatever reason"),
            ("n4_downlink_data_reports", "downlink_data_reports", "Downlink Data Reports begun"),
            ("n4_usage_reports", "usage_reports", "Usage Reports sent"),
            ("n4_usage_reports_lost", "usage_reports_lost", "Usage Reports that were never acknowledged"),
            (
                "n4_unsent",
                "unsent",
                "PFCP messages that were not sent: earlier ones to that peer, or to addresses without association, wait in the kernel, or it answers nothing",
            ),
        ];
        for (name, of, help) in counted {
            self.counters(name, None, help, [(vec![], n4(of))])?;
        }
        let peer = |what: fn(&crate::manage::report::PeerReport) -> u64| -> Vec<(Labels<'_>, u64)> {
            now.peers.iter().map(|of| (vec![("peer", of.node_id.as_str())], what(of))).collect()
        };
        self.gauges(
            "n4_peer_up",
            None,
            "Whether a peer answers heartbeats: 0 until one that was lost associates again",
            peer(|of| u64::from(!of.lost)),
        )?;
        self.gauges("n4_peer_sessions", None, "Sessions of a peer", peer(|of| of.sessions))
    }

    fn services(&mut self, now: &Report) -> fmt::Result {
        let rows = |what: fn(&crate::manage::report::ServiceReport) -> u64| -> Vec<(Labels<'_>, u64)> {
            now.services.iter().map(|(service, of)| (vec![("service", service.as_str())], what(of))).collect()
        };
        self.counters("service_calls", packets(), "Packets given to a service", rows(|of| of.calls))?;
        self.counters("service_answered", packets(), "Packets that came out of it", rows(|of| of.answered))?;
        self.gauges("service_waiting", packets(), "Packets that it keeps", rows(|of| of.waiting))?;
        let dropped = now.services.iter().flat_map(|(service, of)| {
            of.dropped.iter().map(|(reason, n)| (vec![("service", service.as_str()), ("reason", reason.as_str())], *n))
        });
        self.counters("service_dropped", packets(), "Packets given to a service that were dropped, by reason", dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manage::report::{MessageCount, PeerReport, ServiceReport, TableReport, TargetReport, WorkerReport};
    use std::collections::{BTreeMap, BTreeSet};

    /// One of everything, so that each metric has a sample.
    fn report() -> Report {
        let name = || "a".to_owned();
        let count = Count { packets: 1, bytes: 2 };
        let waiting = ShapedReport {
            queued: 3,
            sent: count,
            waited_us: 5,
            dropped: [(name(), 1)].into(),
            delays: vec![0, 0, 0, 1],
            ..Default::default()
        };
        Report {
            ports: [(
                name(),
                PortReport { dropped: [(name(), 1)].into(), unsent: [(name(), 1)].into(), waiting: vec![waiting], ..Default::default() },
            )]
            .into(),
            dropped: [(name(), count)].into(),
            punted: [(name(), count)].into(),
            refused: [(name(), 1)].into(),
            host_unsent: [(name(), 1)].into(),
            shaped: ShapedReport { dropped: [(name(), 1)].into(), ..Default::default() },
            tables: [(name(), TableReport::default())].into(),
            targets: [(name(), TargetReport::default())].into(),
            load: vec![WorkerReport { busy_us: 1_500_000, waiting_permille: 250, ..Default::default() }],
            n4: [("dropped_a".to_owned(), 1), ("sessions".to_owned(), 7)].into(),
            n4_messages: [(name(), MessageCount::default())].into(),
            n4_rejected: [(name(), 1)].into(),
            peers: vec![PeerReport { node_id: "smf\"\\\n} 1".into(), ..Default::default() }],
            services: [(name(), ServiceReport { dropped: [(name(), 1)].into(), ..Default::default() })].into(),
            ..Default::default()
        }
    }

    /// Name of each sample with its labels; kind and help of each metric.
    fn samples(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut samples: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, labels) = line.split_once('{').map_or((line.split(' ').next().unwrap_or_default(), ""), |(name, rest)| (name, rest));
            let keys = labels.split("=\"").filter(|_| !labels.is_empty()).map(|part| part.rsplit([',', '{']).next().unwrap_or_default());
            let keys: Vec<&str> = keys.filter(|key| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase())).collect();
            samples.entry(name.to_owned()).or_default().extend(keys.into_iter().map(str::to_owned));
        }
        samples
    }

    #[test]
    fn what_a_peer_chose_stays_within_its_label() {
        let text = text(report());
        assert!(text.contains("splitplane_n4_peer_up{peer=\"smf\\\"\\\\\\n} 1\"} 1\n"), "{text}");
        assert!(
            text.contains("splitplane_sessions 7\n") && text.contains("splitplane_worker_busy_seconds_total{worker=\"0\"} 1.5\n"),
            "{text}"
        );
        assert!(text.contains("splitplane_worker_waiting_ratio{worker=\"0\"} 0.25\n") && text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn the_page_of_metrics_lists_each_with_its_labels() {
        let text = text(report());
        let samples = samples(&text);
        let mut page = "# Metrics\n\nWhat `GET /metrics` of the HTTP server and `splitplane show metrics` give: OpenMetrics, made from the counters when it is asked. How to turn it on: \
                        [operating.md](operating.md#metrics-and-http).\n\n| metric | kind | labels | meaning |\n|---|---|---|---|\n"
            .to_owned();
        let mut help = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                help = rest.split_once(' ').map_or("", |(_, help)| help);
            }
            if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
                let sample = match kind {
                    "counter" => format!("{name}_total"),
                    "histogram" => format!("{name}_bucket"),
                    _ => name.to_owned(),
                };
                let labels = samples.get(&sample).unwrap_or_else(|| panic!("{sample} has no sample in this test"));
                let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
                page += &format!("| `{sample}` | {kind} | {} | {} |\n", labels.join(", "), help.trim_end_matches('.'));
            }
        }
        testkit::assert_golden("../../../docs/metrics.md", &page);
    }

    #[test]
    fn dashboard_and_alerts_ask_for_metrics_that_there_are() {
        let samples = samples(&text(report()));
        let files =
            [include_str!("../../../../../docs/monitoring/dashboard.json"), include_str!("../../../../../docs/monitoring/alerts.yaml")];
        let mut asked = BTreeSet::new();
        for file in files {
            let words = file.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            asked.extend(words.filter(|word| word.starts_with("splitplane_")));
        }
        assert!(asked.len() > 20, "{asked:?}");
        // Of queues of ports, too.
        assert_eq!(asked.iter().filter(|name| name.starts_with("splitplane_port_queue_")).count(), 4, "{asked:?}");
        let unknown: Vec<_> = asked.iter().filter(|name| !samples.contains_key(**name)).collect();
        assert!(unknown.is_empty(), "there is no {unknown:?}");
        let dashboard: serde_json::Value = serde_json::from_str(files[0]).unwrap();
        assert!(dashboard["panels"].as_array().unwrap().len() > 10);
        // Labels that are summed or shown are labels that the metric has: those of any are enough to find a slip.
        let labels: BTreeSet<&str> = samples.values().flatten().map(String::as_str).chain(["instance"]).collect();
        for file in files {
            for label in file.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(label, _)| label.trim()) {
                let label = label.trim_start_matches("$labels.");
                assert!(label.starts_with("$value") || labels.contains(label), "no metric has the label {label}");
            }
        }
    }
}
