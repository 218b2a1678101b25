//! Traffic of each target, by ingress port.

use base::PortId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use target::Count;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// The fast target.
    Fast,
    /// The base target.
    Base,
}

/// Packets and received bytes that a target ran to their end, by ingress port.
pub type TargetTraffic = BTreeMap<(Path, PortId), Count>;

const PORTS: usize = PortId::MAX as usize + 1;

/// One lane's counts; one writer.
pub(crate) struct LaneTraffic(Vec<[AtomicU64; 4]>);

impl LaneTraffic {
    pub(crate) fn new() -> LaneTraffic {
        LaneTraffic((0..PORTS).map(|_| Default::default()).collect())
    }

    pub(crate) fn add(&self, path: Path, port: PortId, bytes: usize) {
        let Some(row) = self.0.get(port.0 as usize) else { return };
        let at = if path == Path::Fast { 0 } else { 2 };
        row[at].store(row[at].load(Relaxed) + 1, Relaxed);
        row[at + 1].store(row[at + 1].load(Relaxed) + bytes as u64, Relaxed);
    }

    pub(crate) fn sum_into(&self, total: &mut TargetTraffic) {
        for (port, row) in self.0.iter().enumerate() {
            for (at, path) in [(0, Path::Fast), (2, Path::Base)] {
                let count = Count { packets: row[at].load(Relaxed), bytes: row[at + 1].load(Relaxed) };
                if count.packets != 0 {
                    *total.entry((path, PortId(port as u16))).or_default() += count;
                }
            }
        }
    }
}
