//! The table that says which worker's socket gets the packets of an address, written while packets flow: what the indirection table of a NIC
//! is, in front of AF_XDP sockets, by the *inner* address of tunnels.
//!
//! SteerOffload (Bose et al., APNet 2021) has a NIC hash the inner address, and cannot move users from a worker that has too many,
//! nor change the number of workers without starting the port again. Here a bucket is a word that is stored, and sockets for
//! all workers that there may be are bound from the start: one costs two rings, and none of it is touched before packets come.
//!
//! Redirecting to another core's queue (cpumap) would steer as well, but would not give order: a packet passes a queue in the
//! kernel whose drain cannot be observed, and costs a wake-up and a second core for each worker.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::steer_program::BUCKETS;
use crate::sys::bpf;
use crate::sys::ring::Mapping;
use crate::{PortError, Steering};

/// One word for each bucket: its worker.
pub(crate) struct Indirection {
    map: OwnedFd,
    table: Mapping,
    workers: usize,
    name: String,
    /// The number of the last assignment.
    assignment: AtomicU64,
}

/// Assignments so far, on all interfaces: the kernel's packets are waited for on all at once, and that takes it long.
static ASSIGNMENTS: AtomicU64 = AtomicU64::new(0);
/// How many of them can have no packet in flight by the old entry.
static SETTLED: Mutex<u64> = Mutex::new(0);

impl Indirection {
    /// All buckets begin with worker 0.
    pub(crate) fn new(name: &str, workers: usize) -> Result<Indirection, PortError> {
        let failed = |what: &str, e| PortError::io(format!("af_xdp on `{name}`: {what}"), e);
        // Some kernels cannot wait so (`nohz_full` cores): better known now than when the first bucket moves.
        bpf::wait_for_packets().map_err(|e| failed("waiting for packets in flight (membarrier), as steering must", e))?;
        let (map, table) = bpf::create_table(4 * BUCKETS as u32).map_err(|e| failed("creating the table of buckets", e))?;
        Ok(Indirection { map, table, workers, name: name.to_owned(), assignment: AtomicU64::new(0) })
    }

    pub(crate) fn map(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }

    fn word(&self, bucket: u16) -> Option<&AtomicU32> {
        self.table.word(4 * usize::from(bucket)).filter(|_| usize::from(bucket) < BUCKETS)
    }
}

impl Steering for Indirection {
    fn buckets(&self) -> usize {
        BUCKETS
    }

    fn queues(&self) -> usize {
        self.workers
    }

    fn assign(&self, moves: &[(u16, u16)]) -> Result<(), PortError> {
        let mut words = Vec::with_capacity(moves.len());
        for (bucket, worker) in moves {
            match self.word(*bucket) {
                Some(word) if usize::from(*worker) < self.workers => words.push((word, u32::from(*worker))),
                _ => return Err(PortError::Config(format!("`{}` has no bucket {bucket} or no worker {worker}", self.name))),
            }
        }
        words.iter().for_each(|(word, worker)| word.store(*worker, Ordering::Release));
        self.assignment.store(ASSIGNMENTS.fetch_add(1, Ordering::AcqRel) + 1, Ordering::Release);
        Ok(())
    }

    /// A program that read the old word may not have filled the old socket's ring yet.
    fn settle(&self) -> Result<(), PortError> {
        let mut settled = SETTLED.lock().unwrap_or_else(PoisonError::into_inner);
        if *settled < self.assignment.load(Ordering::Acquire) {
            let so_far = ASSIGNMENTS.load(Ordering::Acquire);
            let failed = |e| PortError::io(format!("af_xdp on `{}`: waiting for packets in flight", self.name), e);
            bpf::wait_for_packets().map_err(failed)?;
            *settled = so_far;
        }
        Ok(())
    }
}
