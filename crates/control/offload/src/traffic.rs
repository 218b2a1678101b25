//! Traffic of each target, by ingress port.

use base::PortId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use target::Count;

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

const PORTS: usize = PortId::MAX as usize + 1;

/// One lane's counts, by stage and port; one writer.
pub(crate) struct LaneTraffic(Vec<[AtomicU64; 2]>);

impl LaneTraffic {
    pub(crate) fn new(stages: usize) -> LaneTraffic {
        LaneTraffic((0..stages * PORTS).map(|_| Default::default()).collect())
    }

    pub(crate) fn add(&self, stage: usize, port: PortId, bytes: usize) {
        if port.0 > PortId::MAX {
            return;
        }
        let Some([packets, all]) = self.0.get(stage * PORTS + port.0 as usize) else { return };
        packets.store(packets.load(Relaxed) + 1, Relaxed);
        all.store(all.load(Relaxed) + bytes as u64, Relaxed);
    }

    pub(crate) fn sum_into(&self, stage: usize, total: &mut BTreeMap<PortId, Count>) {
        for (port, [packets, bytes]) in self.0.iter().skip(stage * PORTS).take(PORTS).enumerate() {
            let count = Count { packets: packets.load(Relaxed), bytes: bytes.load(Relaxed) };
            if count.packets != 0 {
                *total.entry(PortId(port as u16)).or_default() += count;
            }
        }
    }
}
