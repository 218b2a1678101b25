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
    /// `t-Reordering` had expired. Behind a handover, for a time, it is half of the numbers: [`super::handover::FORWARDING_NS`].
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

/// Places for a window: whole words of bits.
fn places(window: u32) -> usize {
    window.next_power_of_two().max(64) as usize
}

/// The reordering buffer of a bearer.
pub struct Order<P> {
    config: OrderConfig,
    state: RxState,
    /// By COUNT, from `RX_DELIV` on: a power of two of them, no less than the window and 64. Takes memory with the first that must wait.
    slots: Box<[Option<Slot<P>>]>,
    /// A bit for each place: a slot is there. A gap is passed over in words: who sends chooses how long it is.
    here: Box<[u64]>,
    /// COUNTs and bytes there.
    waiting: usize,
    bytes: u64,
    /// `t-Reordering`.
    reordering: Option<u64>,
    /// Until then the window is half of the numbers.
    wide: Option<u64>,
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
        Ok(Order {
            config,
            state,
            slots: Box::default(),
            here: Box::default(),
            waiting: 0,
            bytes: 0,
            reordering: None,
            wide: None,
            counters,
        })
    }

    /// Goes on with another `t-Reordering` and another limit of bytes. Where something is missing, a `t-Reordering` that is another starts now, for all that is missing
    /// (§5.2.2.3).
    pub(super) fn reconfigure(&mut self, bytes: u64, reordering_ns: Option<u64>, now_ns: u64) {
        self.config.bytes = bytes;
        if self.config.reordering_ns != reordering_ns {
            self.config.reordering_ns = reordering_ns;
            self.reordering = None;
            self.start_reordering(now_ns);
        }
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
        if ahead < self.window() && self.is_here(count) { Err(RxDrop::Duplicate) } else { Ok(()) }
    }

    #[inline]
    fn window(&self) -> u32 {
        if self.wide.is_some() { self.config.sn_length.window() } else { self.config.window }
    }

    /// Counts a drop.
    pub fn count_drop(&mut self, drop: RxDrop) {
        self.counters.dropped[drop as usize] += 1;
    }

    /// Of a COUNT in the window.
    #[inline]
    pub(super) fn is_here(&self, count: u32) -> bool {
        self.has_place(count) && self.slots[self.place(count)].is_some()
    }

    /// Of a COUNT in the window, which may be longer than `slots`.
    #[inline]
    fn has_place(&self, count: u32) -> bool {
        ((count - self.state.rx_deliv) as usize) < self.slots.len()
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
        if count - self.state.rx_deliv >= self.window() {
            self.pass_over(count - self.window() + 1, deliver);
        }
        while !self.config.out_of_order && count > self.state.rx_deliv && self.bytes + len > self.config.bytes {
            // All before the first that waits is missing; without any before this one, it goes up itself.
            let first = self.first_here(self.state.rx_deliv, count);
            self.pass_over(first.unwrap_or(count), deliver);
        }
        self.counters.forced += u64::from(self.state.rx_deliv != before);
    }

    fn keep(&mut self, count: u32, slot: Slot<P>) {
        if !self.has_place(count) {
            self.resize(self.config.window.max(count - self.state.rx_deliv + 1));
        }
        self.waiting += 1;
        self.bytes += slot.bytes;
        self.put(count, slot);
    }

    fn put(&mut self, count: u32, slot: Slot<P>) {
        let place = self.place(count);
        self.slots[place] = Some(slot);
        self.here[place / 64] |= 1 << (place % 64);
    }

    /// Makes `slots` as long as a window, in which all that waits is.
    fn resize(&mut self, window: u32) {
        let places = places(window);
        self.here = vec![0; places / 64].into();
        let slots = (0..places).map(|_| None).collect();
        let mut before: Box<[Option<Slot<P>>]> = std::mem::replace(&mut self.slots, slots);
        for ahead in 0..before.len() as u32 {
            let count = self.state.rx_deliv.wrapping_add(ahead);
            if let Some(slot) = before[count as usize & (before.len() - 1)].take() {
                self.put(count, slot);
            }
        }
    }

    /// What another gNodeB has of the UE is on its way here, until `until_ns` at most: what the UE has sent behind it is kept, however short the window is. The UE
    /// counts what that gNodeB has as delivered, so that its window does not hold it back.
    pub(super) fn widen(&mut self, until_ns: u64) {
        self.wide = Some(until_ns);
    }

    /// The window is as it is configured again.
    fn narrow(&mut self, deliver: &mut impl FnMut(u32, P)) {
        self.wide = None;
        let window = self.config.window;
        if self.state.rx_next - self.state.rx_deliv > window {
            self.pass_over(self.state.rx_next - window, deliver);
            self.counters.forced += 1;
        }
        if self.slots.len() > places(window) {
            self.resize(window);
        }
    }

    /// Takes a COUNT out and hands its PDU up. Whether it was there.
    fn deliver_kept(&mut self, count: u32, deliver: &mut impl FnMut(u32, P)) -> bool {
        if !self.has_place(count) {
            return false;
        }
        let place = self.place(count);
        let Some(slot) = self.slots[place].take() else { return false };
        self.here[place / 64] &= !(1 << (place % 64));
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
        if crate::expired(self.wide, now_ns) {
            self.narrow(deliver);
        }
        if !crate::expired(self.reordering, now_ns) {
            return;
        }
        self.reordering = None;
        self.counters.reordering_expiries += 1;
        self.pass_over(self.state.rx_reord, deliver);
        self.start_reordering(now_ns);
    }

    /// The first COUNT of these that is not missing; `from` is not before `RX_DELIV`.
    fn first_here(&self, from: u32, to: u32) -> Option<u32> {
        // Nothing is kept behind the last place.
        let to = to.min(self.state.rx_deliv.saturating_add(self.slots.len() as u32));
        let mut count = from;
        while count < to {
            let place = self.place(count);
            let word = self.here[place / 64] >> (place % 64);
            if word != 0 {
                return Some(count + word.trailing_zeros()).filter(|count| *count < to);
            }
            count = count.saturating_add(64 - place as u32 % 64);
        }
        None
    }

    /// Hands up all before `to` and what follows it. Its steps are those that are handed up, and a window's words: not what is missing, which may be half of the
    /// numbers for a PDU of a few bytes.
    fn pass_over(&mut self, to: u32, deliver: &mut impl FnMut(u32, P)) {
        let (before, mut from) = (self.waiting, self.state.rx_deliv);
        self.counters.missing += u64::from(to - from);
        while self.waiting > 0
            && let Some(count) = self.first_here(from, to)
        {
            self.deliver_kept(count, deliver);
            from = count + 1;
        }
        self.counters.missing -= (before - self.waiting) as u64;
        self.state.rx_deliv = to;
        self.deliver_in_order(deliver);
    }

    /// When to call [`Order::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        crate::earlier(self.reordering, self.wide)
    }

    /// Begins with COUNT 0 again. What waits is handed up in order.
    pub fn begin_anew(&mut self, deliver: &mut impl FnMut(u32, P)) {
        self.reordering = None;
        self.pass_over(self.state.rx_next, deliver);
        self.state = RxState::default();
    }

    /// As [`Order::begin_anew`], but what waits is dropped.
    pub(super) fn clear(&mut self) {
        (self.slots, self.here) = (Box::default(), Box::default());
        (self.waiting, self.bytes, self.reordering, self.wide) = (0, 0, None, None);
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
