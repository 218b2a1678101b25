//! Receiving: which COUNT is a PDU, and what may be handed up in order (TS 38.323 §5.2.2)?
//!
//! [`Rx::prepare`] derives COUNT and changes nothing; the job deciphers and checks the MAC-I; only [`Rx::finish`] changes state. So a PDU whose
//! MAC-I is wrong leaves no trace but a counter. COUNTs of one burst are derived from one `RX_DELIV`: a burst must be shorter than what a sender
//! leaves free of half the sequence numbers, which a window below that half does.

use std::ops::Range;

use ciphering::{Outcome, Step};

use super::pdu::{Format, Pdu, StatusReport};
use super::security::Packet;
use super::{ConfigError, CountGuard, Kind, PduFault};

/// Parameters of the receiving side (TS 38.331 `PDCP-Config`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxConfig {
    /// How PDUs look.
    pub format: Format,
    /// The bearer's RLC entity is AM: decides what a re-establishment does.
    pub acknowledged: bool,
    /// How far ahead of the first missing SDU one is kept: 1 to half of the numbers. It bounds the memory of a bearer, and should not be less than
    /// the peer's window: for one that is further ahead, what is missing is passed over as if `t-Reordering` had expired.
    pub window: u32,
    /// Most bytes of PDUs that wait for an earlier one. For more, too, what is missing is passed over.
    pub bytes: u64,
    /// `t-Reordering`, ns; `None`: infinity.
    pub reordering_ns: Option<u64>,
    /// `outOfOrderDelivery`: SDUs are handed up as they come.
    pub out_of_order: bool,
    /// COUNTs that are looked out for.
    pub guard: CountGuard,
}

reasons! {
    /// Why a PDU is dropped.
    RxDrop {
        /// It ends within a field, or holds no byte of an SDU.
        Length = "length",
        /// It is longer than any.
        TooLong = "too_long",
        /// A control PDU of a type that is not taken.
        ControlType = "control_type",
        /// Its COUNT would be before 0, or from [`CountGuard::stop`] on.
        Count = "count",
        /// Its COUNT was handed up or passed over: late, or replayed (§5.2.2.1).
        Late = "late",
        /// Its COUNT is here: doubled, or replayed.
        Duplicate = "duplicate",
        /// Its MAC-I is wrong (§5.9).
        WrongMac = "wrong_mac",
        /// Its job was not run, or refused.
        Job = "job",
        /// Its job was run under keys that have been changed since.
        OldKeys = "old_keys",
    }
}

impl From<PduFault> for RxDrop {
    fn from(fault: PduFault) -> RxDrop {
        match fault {
            PduFault::Length => RxDrop::Length,
            PduFault::TooLong => RxDrop::TooLong,
            PduFault::ControlType => RxDrop::ControlType,
        }
    }
}

/// State variables (§7.1): COUNTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxState {
    /// `RX_NEXT`: behind the highest that came.
    pub rx_next: u32,
    /// `RX_DELIV`: the first that was not handed up, and is waited for.
    pub rx_deliv: u32,
    /// `RX_REORD`: behind the one that started `t-Reordering`.
    pub rx_reord: u32,
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxCounters {
    /// SDUs that were handed up.
    pub delivered: u64,
    /// COUNTs that were passed over: they never came.
    pub missing: u64,
    /// Expiries of `t-Reordering`.
    pub reordering_expiries: u64,
    /// How often something was passed over because more could not be kept.
    pub forced: u64,
    /// By [`RxDrop`].
    pub dropped: [u64; RxDrop::ALL.len()],
}

/// A PDU before its job.
#[derive(Debug, PartialEq, Eq)]
pub enum Prepared {
    /// A data PDU, for its job and [`Rx::finish`].
    Data(Packet),
    /// A status report, for the sending side.
    Status(StatusPdu),
}

/// A status report's PDU, which was checked.
#[derive(Debug, PartialEq, Eq)]
pub struct StatusPdu(Vec<u8>);

impl StatusPdu {
    /// What it says.
    pub fn report(&self) -> StatusReport<'_> {
        StatusReport::of_checked(&self.0)
    }
}

/// The receiving side of a bearer.
pub struct Rx {
    config: RxConfig,
    state: RxState,
    /// By COUNT, from `RX_DELIV` on: PDUs that came, empty where they were handed up already.
    slots: Box<[Option<Vec<u8>>]>,
    /// PDUs and bytes there.
    waiting: usize,
    bytes: u64,
    /// `t-Reordering`.
    reordering: Option<u64>,
    epoch: u32,
    told_high: bool,
    counters: RxCounters,
}

impl Rx {
    /// A bearer that has received nothing. Takes memory for its window.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: RxConfig) -> Result<Rx, ConfigError> {
        super::check(&config.format, config.window, ("reordering_ns", config.reordering_ns), ("bytes", config.bytes), config.guard)?;
        Ok(Rx {
            config,
            state: RxState::default(),
            slots: (0..config.window.next_power_of_two()).map(|_| None).collect(),
            waiting: 0,
            bytes: 0,
            reordering: None,
            epoch: 0,
            told_high: false,
            counters: RxCounters::default(),
        })
    }

    /// Reads a PDU and derives its COUNT. What is late or doubled already now is dropped before it costs a decipherment.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted.
    pub fn prepare(&mut self, pdu: Vec<u8>) -> Result<Prepared, RxDrop> {
        let parsed = self.config.format.parse(&pdu).map_err(RxDrop::from);
        let count = match parsed {
            Ok(Pdu::Status(_)) => return Ok(Prepared::Status(StatusPdu(pdu))),
            Ok(Pdu::Data { sn }) => self.count_of(sn).ok_or(RxDrop::Count).and_then(|count| self.check(count).map(|()| count)),
            Err(drop) => Err(drop),
        };
        let count = self.counted(count)?;
        let clear = self.config.format.clear_len();
        Ok(Prepared::Data(Packet { pdu, count, outcome: Outcome::Pending, clear, step: Step::Recover, epoch: self.epoch }))
    }

    /// `RCVD_COUNT` (§5.2.2.1). `None` before 0, and where the guard stops.
    #[inline]
    fn count_of(&self, sn: u32) -> Option<u32> {
        let sn_length = self.config.format.sn_length;
        let (modulus, window) = (i64::from(sn_length.modulus()), i64::from(sn_length.window()));
        let deliv = i64::from(self.state.rx_deliv);
        let (hfn, deliv_sn) = (deliv / modulus, deliv % modulus);
        let sn = i64::from(sn);
        let hfn = match () {
            () if sn < deliv_sn - window => hfn + 1,
            () if sn >= deliv_sn + window => hfn - 1,
            () => hfn,
        };
        u32::try_from(hfn * modulus + sn).ok().filter(|count| *count < self.config.guard.stop)
    }

    /// Whether a PDU of this COUNT can be taken.
    #[inline]
    fn check(&self, count: u32) -> Result<(), RxDrop> {
        let Some(ahead) = count.checked_sub(self.state.rx_deliv) else { return Err(RxDrop::Late) };
        if ahead < self.config.window && self.slots[self.place(count)].is_some() { Err(RxDrop::Duplicate) } else { Ok(()) }
    }

    fn counted<T>(&mut self, result: Result<T, RxDrop>) -> Result<T, RxDrop> {
        if let Err(drop) = &result {
            self.counters.dropped[*drop as usize] += 1;
        }
        result
    }

    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.slots.len() - 1)
    }

    /// Takes a PDU whose job has run (§5.2.2.1). SDUs that can be handed up now go to `deliver`, with their COUNT and, where the bearer has one, their
    /// SDAP header. Gives whether COUNT has come to [`CountGuard::notify`]: true once, and RRC should change the keys.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted; nothing else has changed.
    pub fn finish(&mut self, packet: Packet, now_ns: u64, deliver: &mut impl FnMut(u32, &[u8])) -> Result<bool, RxDrop> {
        let outcome = match packet.outcome {
            _ if packet.epoch != self.epoch => Err(RxDrop::OldKeys),
            Outcome::Done => self.check(packet.count),
            Outcome::WrongMac => Err(RxDrop::WrongMac),
            Outcome::Pending | Outcome::Refused(_) => Err(RxDrop::Job),
        };
        self.counted(outcome)?;
        let Packet { pdu, count, .. } = packet;
        self.make_room(count, pdu.len() as u64, deliver);
        self.state.rx_next = self.state.rx_next.max(count + 1);
        let sdu = self.sdu_range(pdu.len());
        if self.config.out_of_order {
            self.counters.delivered += 1;
            deliver(count, &pdu[sdu]);
            if count == self.state.rx_deliv {
                self.state.rx_deliv += 1;
                self.deliver_in_order(deliver);
            } else {
                // Handed up: only its place is kept.
                self.keep(count, Vec::new());
            }
        } else if count == self.state.rx_deliv {
            self.counters.delivered += 1;
            deliver(count, &pdu[sdu]);
            self.state.rx_deliv += 1;
            self.deliver_in_order(deliver);
        } else {
            self.keep(count, pdu);
        }
        if self.reordering.is_some() && self.state.rx_deliv >= self.state.rx_reord {
            self.reordering = None;
        }
        self.start_reordering(now_ns);
        // `t-Reordering` may be 0 ms.
        self.advance(now_ns, deliver);
        Ok(count >= self.config.guard.notify && !std::mem::replace(&mut self.told_high, true))
    }

    /// Passes over what is missing until the PDU of `count` can be kept. Without this a bearer would stand still after an outage longer than its
    /// window.
    fn make_room(&mut self, count: u32, len: u64, deliver: &mut impl FnMut(u32, &[u8])) {
        let before = self.state.rx_deliv;
        if count - self.state.rx_deliv >= self.config.window {
            self.pass_over(count - self.config.window + 1, deliver);
        }
        while !self.config.out_of_order && count > self.state.rx_deliv && self.bytes + len > self.config.bytes {
            // All before the first that waits is missing; without any before this one, it goes up itself.
            let first = (self.state.rx_deliv..count).find(|count| self.slots[self.place(*count)].is_some());
            self.pass_over(first.unwrap_or(count), deliver);
        }
        self.counters.forced += u64::from(self.state.rx_deliv != before);
    }

    /// Where the SDU is in a PDU.
    fn sdu_range(&self, len: usize) -> Range<usize> {
        self.config.format.header_len()..len - self.config.format.trailer_len()
    }

    fn keep(&mut self, count: u32, pdu: Vec<u8>) {
        self.waiting += 1;
        self.bytes += pdu.len() as u64;
        let place = self.place(count);
        self.slots[place] = Some(pdu);
    }

    /// Takes the PDU of a COUNT out and hands its SDU up. Whether it was there.
    fn deliver_kept(&mut self, count: u32, deliver: &mut impl FnMut(u32, &[u8])) -> bool {
        let place = self.place(count);
        let Some(pdu) = self.slots[place].take() else { return false };
        self.waiting -= 1;
        self.bytes -= pdu.len() as u64;
        if !pdu.is_empty() {
            self.counters.delivered += 1;
            deliver(count, &pdu[self.sdu_range(pdu.len())]);
        }
        true
    }

    /// Hands up all that follow each other from `RX_DELIV` on.
    fn deliver_in_order(&mut self, deliver: &mut impl FnMut(u32, &[u8])) {
        while self.waiting > 0 && self.deliver_kept(self.state.rx_deliv, deliver) {
            self.state.rx_deliv += 1;
        }
    }

    fn start_reordering(&mut self, now_ns: u64) {
        if self.reordering.is_none() && self.state.rx_deliv < self.state.rx_next {
            self.state.rx_reord = self.state.rx_next;
            self.reordering = self.config.reordering_ns.map(|reordering_ns| now_ns + reordering_ns);
        }
    }

    /// Lets `t-Reordering` expire (§5.2.2.2): what is missing before `RX_REORD` is passed over.
    pub fn advance(&mut self, now_ns: u64, deliver: &mut impl FnMut(u32, &[u8])) {
        if !crate::expired(self.reordering, now_ns) {
            return;
        }
        self.reordering = None;
        self.counters.reordering_expiries += 1;
        self.pass_over(self.state.rx_reord, deliver);
        self.start_reordering(now_ns);
    }

    /// Hands up all before `to` and what follows it.
    fn pass_over(&mut self, to: u32, deliver: &mut impl FnMut(u32, &[u8])) {
        for count in self.state.rx_deliv..to {
            self.counters.missing += u64::from(!self.deliver_kept(count, deliver));
        }
        self.state.rx_deliv = to;
        self.deliver_in_order(deliver);
    }

    /// When to call [`Rx::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.reordering
    }

    /// Appends a status report (§5.4.1).
    pub fn status_report(&self, out: &mut Vec<u8>) {
        let RxState { rx_deliv, rx_next, .. } = self.state;
        let last = rx_next.saturating_sub(rx_deliv).saturating_sub(1);
        StatusReport::emit(rx_deliv, last, |offset| offset <= last && self.slots[self.place(rx_deliv + offset)].is_some(), out);
    }

    /// Re-establishes the entity (§5.1.2): the caller uses new keys from now on. RLC AM: nothing else changes. UM: what waits is handed up, and
    /// COUNT begins anew. A signalling bearer: what waits is dropped.
    pub fn re_establish(&mut self, deliver: &mut impl FnMut(u32, &[u8])) {
        self.epoch += 1;
        if self.config.acknowledged && self.config.format.kind == Kind::Drb {
            return;
        }
        self.reordering = None;
        if self.config.format.kind == Kind::Drb {
            self.pass_over(self.state.rx_next, deliver);
        } else {
            self.slots.fill(None);
            (self.waiting, self.bytes) = (0, 0);
        }
        self.state = RxState::default();
        self.told_high = false;
    }

    /// State variables.
    pub fn state(&self) -> &RxState {
        &self.state
    }

    /// PDUs and bytes that wait for an earlier one.
    pub fn waiting(&self) -> (usize, u64) {
        (self.waiting, self.bytes)
    }

    /// What happened so far.
    pub fn counters(&self) -> &RxCounters {
        &self.counters
    }

    /// PDUs that were dropped for this reason.
    pub fn dropped(&self, reason: RxDrop) -> u64 {
        self.counters.dropped[reason as usize]
    }
}
