//! Steering: a hash of the flow picks a bucket, and a table maps buckets to workers.
//!
//! The table is written by the mover of buckets (the master, or the engine if ports steer) and read by all. Beside each
//! bucket is its packet count, which the balancer uses.

use base::PortId;
pub use pktio::steered::SteerFn;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};

/// Buckets where the engine steers: enough that one in a full table is a fraction of a worker's share, few enough that the
/// master's notes about them stay in its first-level cache.
pub const BUCKETS: usize = 512;

/// A bucket that changes its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which.
    pub bucket: u16,
    /// The slot of the worker that it goes to.
    pub to: u16,
}

/// Bucket to worker, and packets by bucket.
pub(crate) struct SteerTable {
    owners: Box<[AtomicU16]>,
    packets: Box<[AtomicU64]>,
}

impl SteerTable {
    /// With a power of two of buckets, dealt out to `workers` in turn.
    pub(crate) fn new(buckets: usize, workers: &[u16]) -> SteerTable {
        let owners = (0..buckets).map(|b| AtomicU16::new(workers[b % workers.len()])).collect();
        SteerTable { owners, packets: (0..buckets).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(crate) fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.owners.len() - 1)
    }

    pub(crate) fn owner(&self, bucket: usize) -> u16 {
        self.owners[bucket].load(Relaxed)
    }

    pub(crate) fn set_owner(&self, bucket: usize, slot: u16) {
        self.owners[bucket].store(slot, Relaxed);
    }

    /// Notes packets where one thread alone notes.
    pub(crate) fn note(&self, bucket: usize, packets: u64) {
        let cell = &self.packets[bucket];
        cell.store(cell.load(Relaxed) + packets, Relaxed);
    }

    /// Notes packets where several threads do.
    pub(crate) fn note_shared(&self, bucket: usize, packets: u64) {
        self.packets[bucket].fetch_add(packets, Relaxed);
    }

    pub(crate) fn owners(&self) -> Vec<u16> {
        self.owners.iter().map(|o| o.load(Relaxed)).collect()
    }

    pub(crate) fn packets(&self) -> Vec<u64> {
        self.packets.iter().map(|p| p.load(Relaxed)).collect()
    }
}

/// The hash for ports that say nothing of flows: all packets are one flow.
pub fn one_flow(_: &[u8], _: PortId) -> u32 {
    0
}
