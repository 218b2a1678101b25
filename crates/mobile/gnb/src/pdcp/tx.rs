//! Sending: which SDU gets the next COUNT, which waits, is dropped, or goes again (TS 38.323 §5.2.1, §5.3 to §5.5)?
//!
//! An SDU gets its COUNT when it is pulled, not when it is given in: whoever pulls does so when RLC has room. What is dropped before, by the queue's
//! limits or by `discardTimer`, spends no sequence number, so the peer does not wait for it with `t-Reordering`.
//!
//! A bearer of RLC AM keeps each SDU until the peer has it, so that it can go again, under the same COUNT, with new keys after a
//! re-establishment and as it was after a data recovery. RLC's copy is the ciphered PDU, so both are kept.
//!
//! Left out of TS 38.323:
//! - §5.3: a bearer without RLC AM forgets an SDU when it is pulled, so RLC is not told to drop its PDU when `discardTimer` runs out.

use std::collections::VecDeque;

use ciphering::{Outcome, Step};

use super::handover::{Downlink, HandoverError, Rising};
use super::pdu::{Format, StatusReport};
use super::security::Packet;
use super::{ConfigError, CountGuard, Kind, MAX_SDU};

/// Parameters of the sending side (TS 38.331 `PDCP-Config`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxConfig {
    /// How PDUs look.
    pub format: Format,
    /// The bearer's RLC entity is AM: SDUs are kept until [`Tx::delivered`], or a status report, names them.
    pub acknowledged: bool,
    /// Most COUNTs from the first SDU that is kept to the last: 1 to half of the numbers. It should not be more than what the peer's reordering
    /// holds.
    pub window: u32,
    /// Most SDUs that wait for a COUNT.
    pub queue_sdus: usize,
    /// Most bytes that wait or are kept.
    pub bytes: u64,
    /// `discardTimer`, ns; `None`: infinity.
    pub discard_ns: Option<u64>,
    /// COUNTs that are looked out for.
    pub guard: CountGuard,
}

impl TxConfig {
    fn check(&self) -> Result<(), ConfigError> {
        super::check(&self.format, self.window, ("discard_ns", self.discard_ns), ("bytes", self.bytes), self.guard)?;
        if self.queue_sdus == 0 { Err(ConfigError::Room("queue_sdus")) } else { Ok(()) }
    }
}

reasons! {
    /// Why an SDU is not taken, or dropped.
    TxDrop {
        /// It has no byte.
        Empty = "empty",
        /// It is longer than [`MAX_SDU`], and an SDAP header if there is one.
        TooLong = "too_long",
        /// As many SDUs wait as may.
        QueueSdus = "queue_sdus",
        /// As many bytes are here as may be.
        Bytes = "bytes",
        /// COUNT comes to [`CountGuard::stop`] before its turn: the bearer needs a new key.
        CountExhausted = "count_exhausted",
        /// `discardTimer` has run out before it got a COUNT.
        Discarded = "discarded",
        /// `discardTimer` has run out behind it: RLC is told.
        DiscardedLate = "discarded_late",
        /// Its job was not run, or refused.
        Job = "job",
        /// Its job was run under keys that have been changed since: it goes again where SDUs are kept.
        OldKeys = "old_keys",
        /// A re-establishment of a bearer that keeps none.
        ReEstablished = "re_established",
        /// Forwarded by another gNodeB under a COUNT that is not spent, is here already, or is outside the window.
        ForwardedCount = "forwarded_count",
    }
}

/// What others are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TxEvent {
    /// RLC may drop the PDU of this COUNT, if nothing of it was sent (§5.3).
    Discard {
        /// COUNT.
        count: u32,
    },
    /// COUNT has come to [`CountGuard::notify`]: RRC should change the keys.
    CountHigh,
    /// The last COUNT before [`CountGuard::stop`] is spent: nothing more is sent.
    CountStopped,
}

/// An SDU that waits for a COUNT.
struct Waiting {
    sdu: Vec<u8>,
    discard: Option<u64>,
}

/// An SDU that has one.
struct Kept {
    /// `None`: the peer has it, or it was discarded.
    sdu: Option<Vec<u8>>,
    discard: Option<u64>,
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxCounters {
    /// SDUs that got a COUNT.
    pub sdus: u64,
    /// SDUs that went again.
    pub again: u64,
    /// SDUs that the peer has.
    pub delivered: u64,
    /// Status reports that were processed.
    pub reports: u64,
    /// Status reports about what was not sent: they change nothing.
    pub bad_reports: u64,
    /// Pulls for which there were SDUs, but no room in the window.
    pub window_full: u64,
    /// By [`TxDrop`].
    pub dropped: [u64; TxDrop::ALL.len()],
}

/// The sending side of a bearer.
pub struct Tx {
    config: TxConfig,
    /// `TX_NEXT` (§7.1): COUNT of the next SDU.
    tx_next: u32,
    queue: VecDeque<Waiting>,
    /// From the first that the peer may not have to the last before `TX_NEXT`.
    kept: VecDeque<Kept>,
    /// Of what waits and what is kept.
    bytes: u64,
    /// The COUNT from which on kept SDUs go again.
    again: Option<u32>,
    /// Single COUNTs that go again.
    lost: VecDeque<u32>,
    /// COUNT up to which `discardTimer` was looked at.
    discarded_to: u32,
    epoch: u32,
    told_high: bool,
    counters: TxCounters,
}

impl Tx {
    /// A bearer that has sent nothing.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: TxConfig) -> Result<Tx, ConfigError> {
        config.check()?;
        Ok(Tx {
            config,
            tx_next: 0,
            queue: VecDeque::new(),
            kept: VecDeque::new(),
            bytes: 0,
            again: None,
            lost: VecDeque::new(),
            discarded_to: 0,
            epoch: 0,
            told_high: false,
            counters: TxCounters::default(),
        })
    }

    /// Goes on with another `discardTimer` and other limits of what may wait: COUNT goes on. The timers that run stay as they are, and an SDU with a shorter one is not
    /// discarded before those that came before it.
    ///
    /// # Errors
    /// [`ConfigError`]; nothing has changed then.
    pub fn reconfigure(&mut self, queue_sdus: usize, bytes: u64, discard_ns: Option<u64>) -> Result<(), ConfigError> {
        let config = TxConfig { queue_sdus, bytes, discard_ns, ..self.config };
        config.check()?;
        self.config = config;
        Ok(())
    }

    /// Takes an SDU, with its SDAP header in front if the bearer has one, and starts its `discardTimer`.
    ///
    /// # Errors
    /// The SDU and why it is not taken; counted. No COUNT is spent.
    pub fn enqueue(&mut self, sdu: Vec<u8>, now_ns: u64) -> Result<(), (Vec<u8>, TxDrop)> {
        let reason = match () {
            () if sdu.is_empty() => TxDrop::Empty,
            () if sdu.len() > MAX_SDU + usize::from(self.config.format.sdap_header) => TxDrop::TooLong,
            () if self.queue.len() >= self.config.queue_sdus => TxDrop::QueueSdus,
            () if self.bytes + sdu.len() as u64 > self.config.bytes => TxDrop::Bytes,
            // Each that waits takes one.
            () if u64::from(self.tx_next) + self.queue.len() as u64 >= u64::from(self.config.guard.stop) => TxDrop::CountExhausted,
            () => {
                self.bytes += sdu.len() as u64;
                let discard = self.config.discard_ns.map(|discard_ns| now_ns + discard_ns);
                self.queue.push_back(Waiting { sdu, discard });
                return Ok(());
            }
        };
        self.counters.dropped[reason as usize] += 1;
        Err((sdu, reason))
    }

    /// The next packet for the cipher: what goes again first, in order of COUNT. `None`: there is nothing, or no room in the window. Call it when RLC has room.
    pub fn pull(&mut self, now_ns: u64, events: &mut impl FnMut(TxEvent)) -> Option<Packet> {
        self.advance(now_ns, events);
        if let Some(packet) = self.pull_again() {
            return Some(packet);
        }
        self.queue.front()?;
        if self.config.acknowledged && self.kept.len() as u64 >= u64::from(self.config.window) {
            self.counters.window_full += 1;
            return None;
        }
        let Waiting { sdu, discard } = self.queue.pop_front()?;
        let count = self.tx_next;
        if count >= self.config.guard.notify && !std::mem::replace(&mut self.told_high, true) {
            events(TxEvent::CountHigh);
        }
        self.tx_next += 1;
        if self.tx_next == self.config.guard.stop {
            events(TxEvent::CountStopped);
        }
        self.counters.sdus += 1;
        let packet = self.packet(count, &sdu);
        if self.config.acknowledged {
            self.kept.push_back(Kept { sdu: Some(sdu), discard });
        } else {
            self.bytes -= sdu.len() as u64;
        }
        Some(packet)
    }

    fn pull_again(&mut self) -> Option<Packet> {
        while let Some(count) = self.lost.pop_front() {
            if let Some(sdu) = self.kept_sdu(count) {
                let packet = self.packet(count, sdu);
                self.counters.again += 1;
                return Some(packet);
            }
        }
        let from = self.again?.max(self.first_kept());
        let offset = (from - self.first_kept()) as usize;
        let Some(at) = (offset..self.kept.len()).find(|at| self.kept[*at].sdu.is_some()) else {
            self.again = None;
            return None;
        };
        let count = self.first_kept() + at as u32;
        self.again = Some(count + 1);
        self.counters.again += 1;
        let sdu = self.kept[at].sdu.as_ref()?;
        Some(self.packet(count, sdu))
    }

    fn kept_sdu(&self, count: u32) -> Option<&[u8]> {
        let at = count.checked_sub(self.first_kept())?;
        self.kept.get(at as usize)?.sdu.as_deref()
    }

    fn packet(&self, count: u32, sdu: &[u8]) -> Packet {
        let format = &self.config.format;
        let mut pdu = Vec::with_capacity(format.header_len() + sdu.len() + format.trailer_len());
        format.emit(count, sdu, &mut pdu);
        Packet { pdu, count, outcome: Outcome::Pending, clear: format.clear_len(), step: Step::Protect, epoch: self.epoch }
    }

    /// The PDU of a packet whose job has run, for RLC, with its COUNT as RLC's name for it. `None`: it is dropped, counted.
    pub fn finish(&mut self, packet: Packet) -> Option<(u32, Vec<u8>)> {
        let drop = match packet.outcome {
            _ if packet.epoch != self.epoch => TxDrop::OldKeys,
            Outcome::Done => return Some((packet.count, packet.pdu)),
            _ => {
                // It would be refused again: its COUNT is lost.
                self.forget(packet.count);
                self.trim();
                TxDrop::Job
            }
        };
        self.counters.dropped[drop as usize] += 1;
        None
    }

    /// Whether [`Tx::pull`] may have something: what goes again, or an SDU without COUNT and room for it.
    pub fn has_data(&self) -> bool {
        let is_full = self.config.acknowledged && self.kept.len() as u64 >= u64::from(self.config.window);
        !self.lost.is_empty() || self.again.is_some() || !self.queue.is_empty() && !is_full
    }

    /// COUNT of the first SDU that is kept: the peer has those before, or they were discarded.
    pub fn first_kept(&self) -> u32 {
        self.tx_next - self.kept.len() as u32
    }

    /// RLC says that the peer has the SDU of this COUNT.
    pub fn delivered(&mut self, count: u32) {
        if self.forget(count) {
            self.counters.delivered += 1;
        }
        self.trim();
    }

    /// Whether it was kept.
    fn forget(&mut self, count: u32) -> bool {
        let at = count.checked_sub(self.first_kept()).map(|at| at as usize);
        let Some(sdu) = at.and_then(|at| self.kept.get_mut(at)).and_then(|kept| kept.sdu.take()) else { return false };
        self.bytes -= sdu.len() as u64;
        true
    }

    fn trim(&mut self) {
        while self.kept.front().is_some_and(|kept| kept.sdu.is_none()) {
            self.kept.pop_front();
        }
    }

    /// Processes a status report of the peer (§5.4.2): SDUs that it has are not kept, and RLC need not send them.
    ///
    /// A report about what was not sent changes nothing. It is counted.
    pub fn status(&mut self, report: &StatusReport<'_>, events: &mut impl FnMut(TxEvent)) {
        if report.fmc > self.tx_next || report.received().last().is_some_and(|count| count >= self.tx_next) {
            self.counters.bad_reports += 1;
            return;
        }
        self.counters.reports += 1;
        for count in (self.first_kept()..report.fmc).chain(report.received()) {
            if self.forget(count) {
                self.counters.delivered += 1;
                events(TxEvent::Discard { count });
            }
        }
        self.trim();
    }

    /// Lets `discardTimer` run out (§5.3). SDUs come in order and have one timeout, so only the first ones are looked at.
    pub fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(TxEvent)) {
        while self.queue.front().is_some_and(|waiting| crate::expired(waiting.discard, now_ns)) {
            self.bytes -= self.queue.pop_front().map_or(0, |waiting| waiting.sdu.len() as u64);
            self.counters.dropped[TxDrop::Discarded as usize] += 1;
        }
        self.discarded_to = self.discarded_to.max(self.first_kept());
        while let Some(kept) = self.kept.get((self.discarded_to - self.first_kept()) as usize) {
            if !crate::expired(kept.discard, now_ns) {
                break;
            }
            let count = self.discarded_to;
            self.discarded_to += 1;
            if self.forget(count) {
                self.counters.dropped[TxDrop::DiscardedLate as usize] += 1;
                events(TxEvent::Discard { count });
            }
        }
        self.trim();
    }

    /// When to call [`Tx::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        let at = self.discarded_to.max(self.first_kept()) - self.first_kept();
        let kept = self.kept.get(at as usize).and_then(|kept| kept.discard);
        crate::earlier(self.queue.front().and_then(|waiting| waiting.discard), kept)
    }

    /// Re-establishes the entity (§5.1.2): the caller uses new keys from now on. With RLC AM, what the peer may not have goes again under its
    /// COUNT; else COUNT begins anew.
    pub fn re_establish(&mut self) {
        self.epoch += 1;
        self.lost.clear();
        if self.config.acknowledged && self.config.format.kind == Kind::Drb {
            self.again = Some(self.first_kept());
            return;
        }
        // §5.1.2: a signalling bearer discards all SDUs; a UM bearer sends those that have no COUNT yet.
        if self.config.format.kind == Kind::Srb {
            self.counters.dropped[TxDrop::ReEstablished as usize] += (self.queue.len() + self.kept.len()) as u64;
            self.queue.clear();
            self.kept.clear();
            self.bytes = 0;
        }
        (self.tx_next, self.discarded_to) = (0, 0);
        (self.again, self.told_high) = (None, false);
    }

    /// Data recovery (§5.5): RLC was re-established, and what the peer may not have goes again as it was.
    pub fn recover_data(&mut self) {
        // All go, in order.
        self.lost.clear();
        self.again = self.config.acknowledged.then(|| self.first_kept());
    }

    /// Ends the entity, and gives what another gNodeB goes on with. What RLC has of it is void: the UE may have it or not.
    pub fn hand_over(self) -> Downlink {
        let fresh = self.queue.into_iter().map(|waiting| waiting.sdu).collect();
        if !self.config.acknowledged {
            return Downlink { fresh, ..Downlink::default() };
        }
        let first = self.tx_next - self.kept.len() as u32;
        let numbered = (first..).zip(self.kept).filter_map(|(count, kept)| Some((count, kept.sdu?)));
        Downlink { next: self.tx_next, numbered: numbered.collect(), fresh }
    }

    /// Goes on where another gNodeB has ended, under new keys: SDUs with a COUNT go again under it, before others. Those without are dropped where
    /// [`Tx::enqueue`] drops them.
    ///
    /// # Errors
    /// [`HandoverError`].
    pub fn take_over(config: TxConfig, downlink: Downlink, now_ns: u64) -> Result<Tx, HandoverError> {
        let mut tx = Tx::new(config)?;
        let Downlink { next, numbered, fresh } = downlink;
        if !config.acknowledged && (next > 0 || !numbered.is_empty()) {
            return Err(HandoverError::Count(next));
        }
        let first = numbered.first().map_or(next, |(count, _)| *count);
        let mut rising = Rising { from: 0, end: next, first: Some(first), window: config.window };
        if next.saturating_sub(first) > config.window {
            return Err(HandoverError::Window(next));
        }
        let most = super::MAX_SDU + usize::from(config.format.sdap_header);
        tx.kept.extend((first..next).map(|_| Kept { sdu: None, discard: None }));
        for (count, sdu) in numbered {
            rising.check(count)?;
            tx.bytes += sdu.len() as u64;
            if sdu.is_empty() || sdu.len() > most || tx.bytes > config.bytes {
                return Err(HandoverError::Sdu(count));
            }
            let discard = config.discard_ns.map(|discard_ns| now_ns + discard_ns);
            tx.kept[(count - first) as usize] = Kept { sdu: Some(sdu), discard };
        }
        (tx.tx_next, tx.again, tx.discarded_to) = (next, Some(first), first);
        for sdu in fresh {
            // Counted where it is dropped.
            let _ = tx.enqueue(sdu, now_ns);
        }
        Ok(tx)
    }

    /// An SDU that the gNodeB before has sent under this COUNT, behind a [`Tx::take_over`]: it goes again under it, before those that have none.
    ///
    /// # Errors
    /// Why it is dropped; counted.
    pub fn forwarded(&mut self, count: u32, sdu: Vec<u8>, now_ns: u64) -> Result<(), TxDrop> {
        let behind = self.tx_next.checked_sub(count).filter(|behind| (1..=self.config.window).contains(behind));
        let reason = match () {
            () if sdu.is_empty() => TxDrop::Empty,
            () if sdu.len() > MAX_SDU + usize::from(self.config.format.sdap_header) => TxDrop::TooLong,
            () if !self.config.acknowledged || behind.is_none() || self.kept_sdu(count).is_some() => TxDrop::ForwardedCount,
            // What was delivered and comes once more would be named once more.
            () if self.lost.len() >= self.config.window as usize => TxDrop::ForwardedCount,
            () if self.bytes + sdu.len() as u64 > self.config.bytes => TxDrop::Bytes,
            () => {
                while self.first_kept() > count {
                    self.kept.push_front(Kept { sdu: None, discard: None });
                }
                self.bytes += sdu.len() as u64;
                let discard = self.config.discard_ns.map(|discard_ns| now_ns + discard_ns);
                let at = (count - self.first_kept()) as usize;
                self.kept[at] = Kept { sdu: Some(sdu), discard };
                self.discarded_to = self.discarded_to.min(count);
                self.lost.push_back(count);
                return Ok(());
            }
        };
        self.counters.dropped[reason as usize] += 1;
        Err(reason)
    }

    /// The PDU of this COUNT was lost between here and RLC (NR-U, TS 38.425 §5.4.2): it goes again as it was, if its SDU is kept.
    pub fn send_again(&mut self, count: u32) {
        // What is named twice before it is pulled goes twice; the bound is for a DU that names it for ever.
        if self.kept_sdu(count).is_some() && self.lost.len() < self.kept.len() {
            self.lost.push_back(count);
        }
    }

    /// `TX_NEXT`.
    pub fn tx_next(&self) -> u32 {
        self.tx_next
    }

    /// SDUs that wait for a COUNT, SDUs from the first that is kept, and bytes of both.
    pub fn queued(&self) -> (usize, usize, u64) {
        (self.queue.len(), self.kept.len(), self.bytes)
    }

    /// What happened so far.
    pub fn counters(&self) -> &TxCounters {
        &self.counters
    }

    /// SDUs that were dropped for this reason.
    pub fn dropped(&self, reason: TxDrop) -> u64 {
        self.counters.dropped[reason as usize]
    }
}
