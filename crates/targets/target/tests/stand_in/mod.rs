//! A target without a program: a function gives each packet's verdict. Tests of what is around targets share it by its path.

use base::{Packet, Verdict};
use program::{ApplyError, Batch, CounterId, Program, TableId};
use std::sync::Arc;
use target::{Capabilities, Count, Facets, Lane, TableStats, Target};

/// The target whose lanes all ask `verdict`. Tables it has none.
pub(crate) fn stand_in(verdict: impl Fn(&mut Packet) -> Verdict + Send + Sync + 'static) -> Arc<dyn Target> {
    Arc::new(StandIn { program: Arc::default(), verdict: Arc::new(verdict) })
}

struct StandIn<F> {
    program: Arc<Program>,
    verdict: Arc<F>,
}

impl<F: Fn(&mut Packet) -> Verdict + Send + Sync + 'static> Target for StandIn<F> {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: false, subset: false, buffers: true, selective: false }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn apply(&self, _: &Batch) -> Result<(), ApplyError> {
        Ok(())
    }

    fn apply_deferred(&self, _: &Batch) -> Result<(), ApplyError> {
        Ok(())
    }

    fn lane(&self, _: usize) -> Box<dyn Lane> {
        Box::new(StandInLane(self.verdict.clone()))
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

struct StandInLane<F>(Arc<F>);

impl<F: Fn(&mut Packet) -> Verdict + Send + Sync> Lane for StandInLane<F> {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            *verdict = self.0(packet);
        }
    }
}
