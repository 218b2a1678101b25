//! Traffic of each target, by ingress port.

use base::{PortId, VerdictKind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use target_api::Count;

/// Where in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// The targets in front of the base target.
    Fast,
    /// The base target.
    Base,
}

/// Packets and received bytes that a target ran to their end, by ingress port.
pub type TargetTraffic = BTreeMap<(Path, PortId), Count>;

/// What a target did with packets of a port. Bytes are those received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Forwarded, or given to a service.
    pub carried: Count,
    /// Dropped by the program.
    pub dropped: Count,
    /// Given to the control plane.
    pub punted: Count,
    /// To wait in a buffer or for a rate: they run again when they go on.
    pub waits: Count,
}

impl Ran {
    /// All of them.
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        [self.carried, self.dropped, self.punted, self.waits].into_iter().for_each(|count| all += count);
        all
    }

    fn by_fate(&mut self, fate: usize) -> &mut Count {
        [&mut self.carried, &mut self.dropped, &mut self.punted, &mut self.waits].into_iter().nth(fate).expect("one of `FATES`")
    }
}

const PORTS: usize = PortId::MAX as usize + 1;
/// Fields of [`Ran`].
const FATES: usize = 4;

/// One lane's counts, by stage, port and fate; one writer.
pub(crate) struct LaneTraffic(Vec<[[AtomicU64; 2]; FATES]>);

impl LaneTraffic {
    pub(crate) fn new(stages: usize) -> LaneTraffic {
        LaneTraffic((0..stages * PORTS).map(|_| Default::default()).collect())
    }

    pub(crate) fn add(&self, stage: usize, port: PortId, kind: VerdictKind, bytes: usize) {
        if port.0 > PortId::MAX {
            return;
        }
        let fate = match kind {
            VerdictKind::Drop => 1,
            VerdictKind::Punt => 2,
            VerdictKind::Buffer | VerdictKind::Shape => 3,
            _ => 0,
        };
        let Some([packets, all]) = self.0.get(stage * PORTS + port.0 as usize).map(|fates| &fates[fate]) else { return };
        packets.store(packets.load(Relaxed) + 1, Relaxed);
        all.store(all.load(Relaxed) + bytes as u64, Relaxed);
    }

    pub(crate) fn sum_into(&self, stage: usize, total: &mut BTreeMap<PortId, Ran>) {
        for (port, fates) in self.0.iter().skip(stage * PORTS).take(PORTS).enumerate() {
            for (fate, [packets, bytes]) in fates.iter().enumerate() {
                let count = Count { packets: packets.load(Relaxed), bytes: bytes.load(Relaxed) };
                if count.packets != 0 {
                    *total.entry(PortId(port as u16)).or_default().by_fate(fate) += count;
                }
            }
        }
    }
}
