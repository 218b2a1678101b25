//! What has the agent to report of all that is counted: ports, targets, tables, N4, sessions?

use crate::agent::Agent;
use crate::config::Role;
use crate::datapath::placement::Placement;
use crate::datapath::targets::{EngineAndTargets, session_count};
use crate::datapath::xdp::Kernel;
use crate::manage::report::{
    BurstTime, MessageCount, OffloadReport, PeerReport, PortReport, PuntReport, QueueReport, Report, SessionCount, ShapedReport,
    TableReport, TargetReport, WorkerReport,
};
use crate::manage::request::CountsFrom;
use base::PortId;
use pfcp::node::SessionView;
use pfcp::rules::Seid;
use pfcp::stats::MessageCounts;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use target_api::{Ahead, Target};
use upf::plane::{Plane, SessionInfo};

/// Sessions that are counted for a report from one look at N4 to the next.
pub(super) const COUNTED_AT_ONCE: usize = 512;

impl Agent {
    /// What has been counted so far.
    pub fn report(&mut self, list_sessions: bool) -> Report {
        let program = self.datapath.targets.program().clone();
        let ledger = self.datapath.engine.ledger();
        let mut report = Report {
            elapsed_ms: self.life.start.elapsed().saturating_sub(self.life.age).as_millis() as u64,
            program: (&*program).into(),
            injected: ledger.injected.into(),
            buffered: ledger.buffered.into(),
            released: ledger.released.into(),
            services: self.datapath.services.report(),
            shaped: (&self.datapath.engine.shaped()).into(),
            imbalance: ledger.imbalance(),
            workers: self.datapath.engine.received_by_worker(),
            moved_buckets: self.datapath.engine.moved().buckets,
            lost_lines: cli::output::lost(),
            ..Report::default()
        };
        for (code, count) in &ledger.dropped {
            report.dropped.insert(program.reason_name(*code), (*count).into());
        }
        report.refused = self.counted.refused.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
        report.host_unsent = self.counted.host_unsent.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
        let fates = self.datapath.plane.host().fates();
        report.punts = PuntReport {
            answered: fates.answered,
            taken: fates.taken,
            sent_on: fates.sent_on,
            waiting: fates.waiting,
            dropped: fates.dropped,
        };
        report.imbalance += fates.imbalance();
        if self.life.stopped {
            let punted: u64 = ledger.punted.values().map(|count| count.packets).sum();
            report.imbalance += punted as i64 - fates.punted as i64;
        }
        for (code, count) in &ledger.punted {
            report.punted.insert(program.reason_name(*code), (*count).into());
        }
        let by_reason = |counts: &BTreeMap<u8, target_api::Count>| {
            counts.iter().map(|(code, count)| (program.reason_name(*code), count.packets)).collect::<BTreeMap<String, u64>>()
        };
        let (by_worker, waiting) = (self.datapath.engine.ports_by_worker(), self.datapath.engine.queues());
        for port in &self.datapath.ports {
            let count = ledger.ports.get(&port.id).cloned().unwrap_or_default();
            let queue = |(worker, ports): (usize, &BTreeMap<PortId, engine::PortCount>)| {
                let of = ports.get(&port.id)?;
                Some(QueueReport { worker: worker as u16, received: of.received.into(), transmitted: of.transmitted.into() })
            };
            let row = PortReport {
                dropped: by_reason(&count.dropped),
                unsent: by_reason(&count.unsent),
                waiting: waiting.get(&port.id).map(|queues| queues.iter().map(ShapedReport::from).collect()).unwrap_or_default(),
                queues: by_worker.iter().enumerate().filter_map(queue).collect(),
                role: port.role.name().into(),
                network_instance: port.network_instance.clone(),
                driver: port.driver.clone(),
                received: count.received.into(),
                transmitted: count.transmitted.into(),
                lost_before_us: count.device.rx_full + count.device.rx_invalid,
                lost_after_us: count.device.tx_invalid,
                down: port.down,
                reopened: port.reopened,
                ..PortReport::default()
            };
            report.ports.insert(port.name.clone(), row);
        }
        report.tables = tables_of(&*self.datapath.targets);
        report.load = self.datapath.engine.gauges().into_iter().map(WorkerReport::from).collect();
        report.burst_times =
            self.datapath.engine.burst_times().into_iter().map(|(below_ns, packets)| BurstTime { below_ns, packets }).collect();
        report.draining = self.n4.node.is_draining();
        self.report_ahead(&mut report);
        self.report_targets(&mut report, &ledger);
        self.report_n4(&mut report);
        if list_sessions {
            report.sessions = self.datapath.plane.data().ended().to_vec();
            for session in self.n4.node.sessions() {
                report.sessions.push(counted(&mut self.datapath.plane, session.seid));
            }
        }
        report
    }

    /// Counts of the next sessions: see [`Request::Counts`].
    pub(super) fn counts(&mut self, from: CountsFrom) -> (Vec<SessionCount>, Option<CountsFrom>) {
        match from {
            CountsFrom::Live(after) => {
                let next: Vec<SessionView> = self.n4.node.sessions_after(after).take(COUNTED_AT_ONCE).collect();
                let more = next.last().filter(|_| next.len() == COUNTED_AT_ONCE).map(|last| CountsFrom::Live(Some(last.seid)));
                let counts = next.iter().map(|session| counted(&mut self.datapath.plane, session.seid)).collect();
                (counts, Some(more.unwrap_or(CountsFrom::Ended(0))))
            }
            CountsFrom::Ended(from) => {
                let counts: Vec<SessionCount> =
                    self.datapath.plane.data().ended().iter().skip(from).take(COUNTED_AT_ONCE).cloned().collect();
                let to = from + counts.len();
                (counts, (to < self.datapath.plane.data().ended().len()).then_some(CountsFrom::Ended(to)))
            }
        }
    }

    /// Adds what the fast target carried before the engine saw it.
    fn report_ahead(&mut self, report: &mut Report) {
        let ahead = self.datapath.targets.fast().and_then(|fast| fast.facets().ahead);
        let Some(carried) = ahead.map(Ahead::carried) else { return };
        let refused: BTreeMap<PortId, u64> = self.datapath.kernel.iter_mut().flat_map(Kernel::refused).collect();
        for label in &self.datapath.ports {
            let Some(row) = report.ports.get_mut(&label.name) else { continue };
            row.received_ahead = carried.received.get(&label.id).copied().unwrap_or_default().into();
            row.transmitted_ahead = carried.sent.get(&label.id).copied().unwrap_or_default().into();
            row.received += row.received_ahead;
            row.transmitted += row.transmitted_ahead;
            row.lost_after_us += refused.get(&label.id).copied().unwrap_or_default();
        }
        for (reason, count) in &carried.dropped {
            *report.dropped.entry(self.datapath.targets.program().reason_name(reason.0)).or_default() += (*count).into();
        }
        let packets = |counts: &mut dyn Iterator<Item = &target_api::Count>| counts.map(|c| c.packets).sum::<u64>() as i64;
        report.imbalance +=
            packets(&mut carried.received.values()) - packets(&mut carried.sent.values()) - packets(&mut carried.dropped.values());
    }

    fn report_targets(&mut self, report: &mut Report, ledger: &engine::Ledger) {
        let sessions = self.n4.node.session_count() as u64;
        let split = self.datapath.targets.clone();
        let Some(fast) = split.fast() else {
            report.targets.insert(split.name().to_owned(), self.whole_row(report, ledger, sessions));
            report.offload.policy = split.policy().name().into();
            return;
        };
        self.take_decisions();
        let moves = split.moves();
        // What the planner does not know of it wants nowhere.
        let (wanted_on_fast, known) = self.placing.planner.as_ref().map_or_else(|| (split.sessions_wanted(), sessions), Placement::counts);
        let unplaced = sessions.saturating_sub(known);
        report.offload = OffloadReport {
            policy: split.policy().name().into(),
            moved_to_fast: moves.to_front,
            moved_to_base: moves.to_base,
            moves_failed: moves.failed,
            refused: split.refused_by_fast(),
            unplaced,
            recent: self.placing.decisions.iter().cloned().collect(),
        };
        let on_fast = split.sessions_on_fast() as u64;
        let role = |id: PortId| self.datapath.ports.iter().find(|label| label.id == id).map_or(Role::Both, |label| label.role);
        let on_base = (sessions.saturating_sub(on_fast), (sessions - unplaced).saturating_sub(wanted_on_fast));
        for (stage, target, (held, wanted)) in [(0, fast, (on_fast, wanted_on_fast)), (1, split.base(), on_base)] {
            let mut row = TargetReport {
                base: stage == 1,
                modelled: target.capabilities().modelled,
                sessions: held,
                wanted,
                ..TargetReport::default()
            };
            split.ran_of(stage).iter().for_each(|(port, ran)| row.add_ran(role(*port), ran));
            if let Some(ahead) = target.facets().ahead {
                row.add_ahead(&ahead.carried(), role);
            }
            row.tables = tables_of(target);
            row.slow_path = target.facets().ahead.map_or(0, |ahead| ahead.carried().slow_path);
            if stage == 0 {
                row.out_of_service = split.is_retired();
                (row.fell_over, row.came_back) = (split.retirements(), self.placing.comeback.came_back());
                let short = self.datapath.kernel.iter().flat_map(|k| k.xdp.slow_path_tables());
                row.short_tables = short.filter_map(|t| Some(target.program().tables.get(t)?.name.clone())).collect();
            }
            report.targets.insert(target.name().to_owned(), row);
        }
    }

    /// The one target of a chain of one ran all that the engine has counted.
    fn whole_row(&mut self, report: &Report, ledger: &engine::Ledger, sessions: u64) -> TargetReport {
        let mut row = TargetReport {
            base: true,
            modelled: self.datapath.targets.capabilities().modelled,
            sessions,
            wanted: sessions,
            tables: report.tables.clone(),
            ..TargetReport::default()
        };
        for label in &self.datapath.ports {
            row.add_from(label.role, self.counted.punted.carried(label.id, ledger));
            let dropped = ledger.ports.get(&label.id).map(|of| &of.dropped);
            dropped.into_iter().flat_map(BTreeMap::values).for_each(|count| row.dropped += (*count).into());
        }
        ledger.punted.values().for_each(|count| row.punted += (*count).into());
        row
    }

    fn report_n4(&self, report: &mut Report) {
        let stats = self.n4.node.stats();
        let mut row = |name: &str, value: u64| {
            report.n4.insert(name.to_owned(), value);
        };
        row("sessions", self.n4.node.session_count() as u64);
        row("sessions_ending", self.n4.node.sessions_ending() as u64);
        row("received", stats.received);
        row("sent", stats.sent.saturating_sub(self.n4.output.unsent()));
        row("unsent", self.n4.output.unsent());
        if let Some(store) = &self.n4.store {
            row("store_records", store.counts.records.load(Ordering::Relaxed));
            row("store_batches", store.counts.batches.load(Ordering::Relaxed));
            row("store_failed", store.counts.failed.load(Ordering::Relaxed).into());
            row("store_away", store.is_away().into());
        }
        row("established", stats.established);
        row("modified", stats.modified);
        row("ended", stats.ended);
        row("downlink_data_reports", stats.downlink_data_reports);
        row("usage_reports", stats.usage_reports);
        row("usage_reports_lost", stats.lost_usage_reports);
        for (why, count) in &stats.lost_usage {
            row(&format!("usage_reports_lost_{}", why.name()), *count);
        }
        row("final_reports_kept", self.n4.node.final_reports_kept() as u64);
        row("inactivity_reports", stats.inactivity_reports);
        row("node_reports", stats.node_reports);
        row("requests_failed_over", stats.failovers);
        let (load, reduction) = self.n4.node.load();
        row("load_percent", load.into());
        row("overload_reduction_percent", reduction.into());
        row("unknown_elements", stats.unknown_elements);
        row("absent_removals", stats.absent_removals);
        row("rejected", stats.messages.rejected.values().sum());
        row("foreign", stats.foreign);
        let no_room = self.n4.dropped.load(Ordering::Relaxed);
        row("dropped", stats.dropped.values().sum::<u64>() + no_room);
        if no_room > 0 {
            row("dropped_queue_full", no_room);
        }
        for (reason, count) in &stats.dropped {
            row(&format!("dropped_{}", reason.name()), *count);
        }
        (report.n4_messages, report.n4_rejected) = messages(&stats.messages);
        let peer = |of: pfcp::node::AssociationView<'_>| {
            let (messages, rejected) = self.n4.node.messages_of(of.node_id).map(messages).unwrap_or_default();
            PeerReport {
                node_id: of.node_id.to_string(),
                address: of.peer.to_string(),
                sessions: of.sessions as u64,
                lost: of.lost_at.is_some(),
                lost_ms: of.lost_at.map(|at| self.life.start.elapsed().saturating_sub(at).as_millis() as u64),
                age_ms: self.life.start.elapsed().saturating_sub(of.since).as_millis() as u64,
                messages,
                rejected,
            }
        };
        report.peers = self.n4.node.associations().chain(self.n4.node.lost_peers()).map(peer).collect();
    }
}

/// Messages by type, and rejections by cause.
fn messages(counts: &MessageCounts) -> (BTreeMap<String, MessageCount>, BTreeMap<String, u64>) {
    let mut by_type: BTreeMap<String, MessageCount> = BTreeMap::new();
    for (kind, n) in &counts.received {
        by_type.entry(kind.name()).or_default().received += n;
    }
    for (kind, n) in &counts.sent {
        by_type.entry(kind.name()).or_default().sent += n;
    }
    (by_type, counts.rejected.iter().map(|(cause, n)| (cause.text(), *n)).collect())
}

/// The tables of a target.
fn tables_of(target: &dyn target_api::Target) -> BTreeMap<String, TableReport> {
    let row = |(id, table): (program::TableId, &program::TableInfo)| {
        let s = target.table_stats(id);
        (table.name.clone(), TableReport { entries: s.entries, capacity: s.capacity, hits: s.hits, misses: s.misses })
    };
    target.program().tables.iter().map(row).collect()
}

/// Counts of a session that lives.
pub(super) fn counted(plane: &mut Plane<EngineAndTargets>, seid: Seid) -> SessionCount {
    let carried = plane.carried_by(seid).unwrap_or_default();
    let known = plane.info(seid).unwrap_or_default();
    session_count(&SessionInfo { seid, ..known }, plane.data().target_of(seid), carried)
}
