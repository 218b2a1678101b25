//! What may be handed up, and what waits for an earlier one (TS 38.323 §5.2.2, §7.1)?
//!
//! [`Order`] knows COUNTs and nothing of bytes: `P` is whatever stands for a PDU, such as its bytes or a packet of a pipeline. [`super::Rx`] is this
//! with formats and keys.

use super::rx::{RxCounters, RxDrop, RxState};
use super::{ConfigError, MAX_SDU, MAX_TIMER_NS, SnLength};

/// Parameters: those of [`super::RxConfig`] with the same names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderConfig {
    /// Length of sequence numbers.
    pub sn_length: SnLength,
    /// How far ahead of the first missing one is kept: 1 to half of the numbers. For one that is further ahead, what is missing is passed over as if
    /// `t-Reordering` had expired.
    pub window: u32,
    /// Most bytes that wait. For more, too, what is missing is passed over.
    pub bytes: u64,
    /// `t-Reordering`, ns; `None`: infinity.
    pub reordering_ns: Option<u64>,
    /// `outOfOrderDelivery`.
    pub out_of_order: bool,
    /// From this COUNT on nothing is taken.
    pub stop: u32,
}

impl OrderConfig {
    /// Whether these are parameters.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn check(&self) -> Result<(), ConfigError> {
        match () {
            () if !(1..=self.sn_length.window()).contains(&self.window) => Err(ConfigError::Window),
            () if self.reordering_ns.is_some_and(|timer_ns| timer_ns > MAX_TIMER_NS) => Err(ConfigError::Timer("reordering_ns")),
            () if self.bytes < MAX_SDU as u64 => Err(ConfigError::Room("bytes")),
            () => Ok(()),
        }
    }
}

/// A COUNT that is not missing.
struct Slot<P> {
    /// `None`: handed up already.
    waits: Option<P>,
    bytes: u64,
}

/// The reordering buffer of a bearer.
pub struct Order<P> {
    config: OrderConfig,
    state: RxState,
    /// By COUNT, from `RX_DELIV` on. Takes memory with the first that must wait.
    slots: Box<[Option<Slot<P>>]>,
    /// COUNTs and bytes there.
    waiting: usize,
    bytes: u64,
    /// `t-Reordering`.
    reordering: Option<u64>,
    pub(super) counters: RxCounters,
}

impl<P> Order<P> {
    /// Of a bearer that has received nothing.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: OrderConfig) -> Result<Order<P>, ConfigError> {
        config.check()?;
        let (state, counters) = (RxState::default(), RxCounters::default());
        Ok(Order { config, state, slots: Box::default(), waiting: 0, bytes: 0, reordering: None, counters })
    }

    /// `RCVD_COUNT` of a sequence number (§5.2.2.1), if a PDU of it can be taken now.
    ///
    /// # Errors
    /// [`RxDrop::Count`], [`RxDrop::Late`] or [`RxDrop::Duplicate`]; not counted.
    #[inline]
    pub fn count_of(&self, sn: u32) -> Result<u32, RxDrop> {
        let sn_length = self.config.sn_length;
        let (modulus, window) = (i64::from(sn_length.modulus()), i64::from(sn_length.window()));
        let deliv = i64::from(self.state.rx_deliv);
        let (hfn, deliv_sn) = (deliv / modulus, deliv % modulus);
        let sn = i64::from(sn);
        let hfn = match () {
            () if sn < deliv_sn - window => hfn + 1,
            () if sn >= deliv_sn + window => hfn - 1,
            () => hfn,
        };
        let count = u32::try_from(hfn * modulus + sn).ok().filter(|count| *count < self.config.stop).ok_or(RxDrop::Count)?;
        self.check(count).map(|()| count)
    }

    /// Whether a PDU of this COUNT can be taken.
    ///
    /// # Errors
    /// [`RxDrop::Late`] or [`RxDrop::Duplicate`]; not counted.
    #[inline]
    pub fn check(&self, count: u32) -> Result<(), RxDrop> {
        let Some(ahead) = count.checked_sub(self.state.rx_deliv) else { return Err(RxDrop::Late) };
        if ahead < self.config.window && self.is_here(count) { Err(RxDrop::Duplicate) } else { Ok(()) }
    }

    /// Counts a drop.
    pub fn count_drop(&mut self, drop: RxDrop) {
        self.counters.dropped[drop as usize] += 1;
    }

    /// Of a COUNT in the window.
    #[inline]
    pub(super) fn is_here(&self, count: u32) -> bool {
        !self.slots.is_empty() && self.slots[self.place(count)].is_some()
    }

    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.slots.len() - 1)
    }

    /// Takes a PDU whose COUNT was checked and whose MAC-I is right. What can be handed up now goes to `deliver`, with its COUNT.
    ///
    /// # Errors
    /// As [`Order::check`], for one that was doubled in between; counted, and nothing else has changed.
    pub fn take(&mut self, count: u32, pdu: P, bytes: u64, now_ns: u64, deliver: &mut impl FnMut(u32, P)) -> Result<(), (P, RxDrop)> {
        if let Err(drop) = self.check(count) {
            self.count_drop(drop);
            return Err((pdu, drop));
        }
        self.make_room(count, bytes, deliver);
        self.state.rx_next = self.state.rx_next.max(count + 1);
        let is_next = count == self.state.rx_deliv;
        if self.config.out_of_order || is_next {
            self.counters.delivered += 1;
            deliver(count, pdu);
            if is_next {
                self.state.rx_deliv += 1;
                self.deliver_in_order(deliver);
            } else {
                // Handed up: only its place is kept.
                self.keep(count, Slot { waits: None, bytes: 0 });
            }
        } else {
            self.keep(count, Slot { waits: Some(pdu), bytes });
        }
        if self.reordering.is_some() && self.state.rx_deliv >= self.state.rx_reord {
            self.reordering = None;
        }
        self.start_reordering(now_ns);
        // `t-Reordering` may be 0 ms.
        self.advance(now_ns, deliver);
        Ok(())
    }

    /// Passes over what is missing until the PDU of `count` can be kept. Without this a bearer would stand still after an outage longer than its
    /// window.
    fn make_room(&mut self, count: u32, len: u64, deliver: &mut impl FnMut(u32, P)) {
        let before = self.state.rx_deliv;
        if count - self.state.rx_deliv >= self.config.window {
            self.pass_over(count - self.config.window + 1, deliver);
        }
        while !self.config.out_of_order && count > self.state.rx_deliv && self.bytes + len > self.config.bytes {
            // All before the first that waits is missing; without any before this one, it goes up itself.
            let first = (self.state.rx_deliv..count).find(|count| self.is_here(*count));
            self.pass_over(first.unwrap_or(count), deliver);
        }
        self.counters.forced += u64::from(self.state.rx_deliv != before);
    }

    fn keep(&mut self, count: u32, slot: Slot<P>) {
        if self.slots.is_empty() {
            self.slots = (0..self.config.window.next_power_of_two()).map(|_| None).collect();
        }
        self.waiting += 1;
        self.bytes += slot.bytes;
        let place = self.place(count);
        self.slots[place] = Some(slot);
    }

    /// Takes a COUNT out and hands its PDU up. Whether it was there.
    fn deliver_kept(&mut self, count: u32, deliver: &mut impl FnMut(u32, P)) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let place = self.place(count);
        let Some(slot) = self.slots[place].take() else { return false };
        self.waiting -= 1;
        self.bytes -= slot.bytes;
        if let Some(pdu) = slot.waits {
            self.counters.delivered += 1;
            deliver(count, pdu);
        }
        true
    }

    /// Hands up all that follow each other from `RX_DELIV` on.
    fn deliver_in_order(&mut self, deliver: &mut impl FnMut(u32, P)) {
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
    pub fn advance(&mut self, now_ns: u64, deliver: &mut impl FnMut(u32, P)) {
        if !crate::expired(self.reordering, now_ns) {
            return;
        }
        self.reordering = None;
        self.counters.reordering_expiries += 1;
        self.pass_over(self.state.rx_reord, deliver);
        self.start_reordering(now_ns);
    }

    /// Hands up all before `to` and what follows it.
    fn pass_over(&mut self, to: u32, deliver: &mut impl FnMut(u32, P)) {
        for count in self.state.rx_deliv..to {
            self.counters.missing += u64::from(!self.deliver_kept(count, deliver));
        }
        self.state.rx_deliv = to;
        self.deliver_in_order(deliver);
    }

    /// When to call [`Order::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.reordering
    }

    /// Begins with COUNT 0 again. What waits is handed up in order.
    pub fn begin_anew(&mut self, deliver: &mut impl FnMut(u32, P)) {
        self.reordering = None;
        self.pass_over(self.state.rx_next, deliver);
        self.state = RxState::default();
    }

    /// As [`Order::begin_anew`], but what waits is dropped.
    pub(super) fn clear(&mut self) {
        (self.slots, self.waiting, self.bytes, self.reordering) = (Box::default(), 0, 0, None);
        self.state = RxState::default();
    }

    /// All that waits, and COUNTs behind the first missing one that were handed up, in order; nothing is left.
    pub(super) fn take_waiting(&mut self) -> Vec<(u32, Option<P>)> {
        let mut waiting = Vec::with_capacity(self.waiting);
        for count in self.state.rx_deliv..self.state.rx_next {
            if self.slots.is_empty() {
                break;
            }
            let place = self.place(count);
            waiting.extend(self.slots[place].take().map(|slot| (count, slot.waits)));
        }
        self.clear();
        waiting
    }

    /// As if all before `deliv` had been handed up, and these had come: COUNTs of its window, behind `deliv`.
    pub(super) fn resume(&mut self, deliv: u32, waiting: impl Iterator<Item = (u32, Option<P>, u64)>, now_ns: u64) {
        self.state = RxState { rx_next: deliv, rx_deliv: deliv, rx_reord: 0 };
        for (count, waits, bytes) in waiting {
            self.keep(count, Slot { waits, bytes });
            self.state.rx_next = count + 1;
        }
        self.start_reordering(now_ns);
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
}
