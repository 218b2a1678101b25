//! Which keys is a bearer under, and what is done to a burst? One packet is one [`Job`] (TS 38.323 §5.8, §5.9).

use std::sync::Arc;

use ciphering::{Direction, Job, Key, Nea, Nia, Outcome, Step};

/// A bearer's keys in one direction. Both directions may share them.
#[derive(Clone, Debug)]
pub struct Security {
    /// Ciphering; `None`: none, as with NEA0.
    pub cipher: Option<Arc<Key<Nea>>>,
    /// Integrity protection. It is there if and only if the bearer's PDUs end with a MAC-I.
    pub integrity: Option<Arc<Key<Nia>>>,
    /// BEARER: the radio bearer's identity less 1; 0 to 31.
    pub bearer: u8,
    /// DIRECTION.
    pub direction: Direction,
}

/// A packet between the two halves of an entity's work. It belongs to the entity that made it.
#[derive(Debug, PartialEq, Eq)]
pub struct Packet {
    /// The PDU, which the job changes in place.
    pub pdu: Vec<u8>,
    /// COUNT.
    pub count: u32,
    /// What came of its job.
    pub outcome: Outcome,
    pub(super) clear: usize,
    pub(super) step: Step,
    /// The keys' number: a packet of keys that are no longer used is dropped.
    pub(super) epoch: u32,
}

impl Security {
    /// The job of a packet. When it has run, its outcome goes to [`Packet::outcome`].
    pub fn job<'a>(&'a self, packet: &'a mut Packet) -> Job<'a> {
        Job {
            cipher: self.cipher.as_deref(),
            integrity: self.integrity.as_deref(),
            count: packet.count,
            bearer: self.bearer,
            direction: self.direction,
            step: packet.step,
            clear: packet.clear,
            data: &mut packet.pdu,
            outcome: Outcome::Pending,
        }
    }

    /// Runs the jobs of one bearer's packets here.
    pub fn run(&self, engine: &mut ciphering::Engine, packets: &mut [Packet]) {
        let mut jobs: Vec<Job<'_>> = packets.iter_mut().map(|packet| self.job(packet)).collect();
        engine.run(&mut jobs);
        let outcomes: Vec<Outcome> = jobs.into_iter().map(|job| job.outcome).collect();
        for (packet, outcome) in packets.iter_mut().zip(outcomes) {
            packet.outcome = outcome;
        }
    }
}
