//! A target without tables: functions say what becomes of packets and batches. For tests of what is around targets.

use base::{Packet, Verdict};
use program::{ApplyError, Batch, CounterId, Program, TableId};
use std::sync::Arc;
use target_api::{Capabilities, Count, Facets, Lane, TableStats, Target};

/// The target whose lanes all ask `verdict`.
pub fn stand_in(verdict: impl Fn(&mut Packet) -> Verdict + Send + Sync + 'static) -> Arc<dyn Target> {
    let verdict = Arc::new(verdict);
    Arc::new(StandIn::new(move |_| Box::new(VerdictLane(verdict.clone()))))
}

type Lanes = dyn Fn(usize) -> Box<dyn Lane> + Send + Sync;
type Apply = dyn Fn(&Batch) -> Result<(), ApplyError> + Send + Sync;

/// A target of given lanes. It takes every batch, has no facet, counts nothing, and can be a base target.
pub struct StandIn {
    name: String,
    capabilities: Capabilities,
    program: Arc<Program>,
    lanes: Box<Lanes>,
    apply: Box<Apply>,
}

impl StandIn {
    /// With the lane that `lanes` makes for each worker.
    pub fn new(lanes: impl Fn(usize) -> Box<dyn Lane> + Send + Sync + 'static) -> StandIn {
        StandIn {
            name: "stand-in".to_owned(),
            capabilities: Capabilities { modelled: false, subset: false, buffers: true, selective: false },
            program: Arc::default(),
            lanes: Box::new(lanes),
            apply: Box::new(|_| Ok(())),
        }
    }

    /// With this name.
    pub fn named(self, name: &str) -> StandIn {
        StandIn { name: name.to_owned(), ..self }
    }

    /// With a program of its own.
    pub fn of(self, program: Arc<Program>) -> StandIn {
        StandIn { program, ..self }
    }

    /// Able to hold a subset: a fast target. It buffers nothing.
    pub fn subset(self) -> StandIn {
        StandIn { capabilities: Capabilities { subset: true, buffers: false, ..self.capabilities }, ..self }
    }

    /// With what it answers to a batch, also to one for later.
    pub fn on_batch(self, apply: impl Fn(&Batch) -> Result<(), ApplyError> + Send + Sync + 'static) -> StandIn {
        StandIn { apply: Box::new(apply), ..self }
    }
}

impl Target for StandIn {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn check(&self, _: &Batch) -> Result<(), ApplyError> {
        Ok(())
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        (self.apply)(batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        (self.apply)(batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        (self.lanes)(index)
    }

    fn counter(&self, _: CounterId, _: u64) -> Count {
        Count::default()
    }

    fn facets(&self) -> Facets<'_> {
        Facets::NONE
    }

    fn table_stats(&self, _: TableId) -> TableStats {
        TableStats::default()
    }
}

struct VerdictLane<F>(Arc<F>);

impl<F: Fn(&mut Packet) -> Verdict + Send + Sync> Lane for VerdictLane<F> {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            *verdict = self.0(packet);
        }
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}
