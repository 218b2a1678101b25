//! A worker whose core takes a given time for a packet: the model of a core of its own, where there are fewer cores than threads. The packets are run as ever; the
//! worker sleeps for the rest of their time, so that it waits for nobody but itself.

use base::{Packet, Verdict};
use program::{ApplyError, Batch, CounterId, Program, TableId};
use std::sync::Arc;
use std::time::Duration;
use target_api::{Capabilities, Count, Extra, Facets, Lane, TableStats, Target};

/// A worker that has slept too long makes up for it, as long as it is not more than this.
const CREDIT_NS: u64 = 2_000_000;

/// A target whose lanes take that time for each packet.
pub(super) struct Paced {
    pub target: Arc<dyn Target>,
    pub of_a_packet: Duration,
}

struct PacedLane {
    lane: Box<dyn Lane>,
    of_a_packet_ns: u64,
    /// When its core has done what it was given.
    free_ns: u64,
}

impl Lane for PacedLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        self.lane.process(packets, verdicts, now_ns);
        self.free_ns = self.free_ns.max(now_ns.saturating_sub(CREDIT_NS)) + self.of_a_packet_ns * packets.len() as u64;
        std::thread::sleep(Duration::from_nanos(self.free_ns.saturating_sub(now_ns)));
    }

    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        self.lane.take_extra(into);
    }

    target_api::lane_without!(process_asking, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

impl Target for Paced {
    fn name(&self) -> &str {
        self.target.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: true, ..self.target.capabilities() }
    }

    fn program(&self) -> &Arc<Program> {
        self.target.program()
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.target.check(batch)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.target.apply(batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.target.apply_deferred(batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        Box::new(PacedLane { lane: self.target.lane(index), of_a_packet_ns: self.of_a_packet.as_nanos() as u64, free_ns: 0 })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        self.target.counter(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        self.target.table_stats(table)
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { ahead, recovery, meters, registers, digests, tables } = self.target.facets();
        Facets { ahead, recovery, meters, registers, digests, tables }
    }
}
