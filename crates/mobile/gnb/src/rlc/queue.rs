//! Which SDUs wait for a grant? First in, first out, and no more than the owner allows.

use std::collections::VecDeque;

use super::{ConfigError, MAX_SDU};

/// Most that may wait for a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLimits {
    /// SDUs.
    pub sdus: usize,
    /// Bytes.
    pub bytes: u64,
}

impl QueueLimits {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.sdus == 0 || self.bytes < MAX_SDU as u64 { Err(ConfigError::Room("queue")) } else { Ok(()) }
    }
}

reasons! {
    /// Why an SDU is not taken.
    Refusal {
        /// It has no byte.
        Empty = "empty",
        /// It is longer than [`MAX_SDU`].
        TooLong = "too_long",
        /// As many SDUs wait as may.
        QueueSdus = "queue_sdus",
        /// As many bytes wait as may.
        QueueBytes = "queue_bytes",
    }
}

/// An SDU that was not taken, given back.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused<P> {
    /// The SDU.
    pub sdu: P,
    /// Why.
    pub reason: Refusal,
}

/// SDUs with the upper layer's names for them.
pub(super) struct Queue<P> {
    waiting: VecDeque<(u32, P)>,
    bytes: u64,
    limits: QueueLimits,
    refused: [u64; Refusal::ALL.len()],
}

impl<P: AsRef<[u8]>> Queue<P> {
    pub(super) fn new(limits: QueueLimits) -> Queue<P> {
        Queue { waiting: VecDeque::new(), bytes: 0, limits, refused: [0; Refusal::ALL.len()] }
    }

    /// What is here stays, however much it is.
    pub(super) fn limit(&mut self, limits: QueueLimits) {
        self.limits = limits;
    }

    pub(super) fn push(&mut self, tag: u32, sdu: P) -> Result<(), Refused<P>> {
        let len = sdu.as_ref().len();
        let reason = match () {
            () if len == 0 => Refusal::Empty,
            () if len > MAX_SDU => Refusal::TooLong,
            () if self.waiting.len() >= self.limits.sdus => Refusal::QueueSdus,
            () if self.bytes + len as u64 > self.limits.bytes => Refusal::QueueBytes,
            () => {
                self.bytes += len as u64;
                self.waiting.push_back((tag, sdu));
                return Ok(());
            }
        };
        self.refused[reason as usize] += 1;
        Err(Refused { sdu, reason })
    }

    pub(super) fn pop(&mut self) -> Option<(u32, P)> {
        let (tag, sdu) = self.waiting.pop_front()?;
        self.bytes -= sdu.as_ref().len() as u64;
        Some((tag, sdu))
    }

    /// Takes out an SDU by its name. Those that are discarded are mostly at the front.
    pub(super) fn take(&mut self, tag: u32) -> Option<P> {
        let at = self.waiting.iter().position(|(of, _)| *of == tag)?;
        let (_, sdu) = self.waiting.remove(at)?;
        self.bytes -= sdu.as_ref().len() as u64;
        Some(sdu)
    }

    pub(super) fn front(&self) -> Option<&P> {
        self.waiting.front().map(|(_, sdu)| sdu)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    pub(super) fn refused(&self, reason: Refusal) -> u64 {
        self.refused[reason as usize]
    }
}
