//! Which packets of a bearer wait for an acknowledgement, which are sent again, when is a poll due? The transmitting side of RLC AM
//! (TS 38.322 §5.2.3.1, §5.3), for packets that somebody else numbers and sends the first time.
//!
//! A packet lies in its bearer's window at its sequence number, so nothing is searched for. The packets that are kept are linked in order,
//! so a status walks over what it acknowledges or names, and over nothing else; those to be sent again are linked too.
//!
//! `t-PollRetransmit` is one timer a bearer. Starting it again only stores a later tick; its place in the wheel is looked at when the wheel comes
//! by. So a packet with a poll costs one store.
//!
//! Left out of TS 38.322:
//! - Segmentation of what is sent: grants belong to the scheduler. What is missing of a packet is kept as one part, from the first to the last
//!   missing byte; bytes between two missing segments are sent again too.
//! - §5.4: packets are kept when they are sent, so the upper layer may not discard them without a gap at the peer.
//!   [`RlcBuffer::discard`] is for a caller who knows that the peer has the packet, or will be re-established.
//! - Gaps. A packet that never came here, because it was lost on its way to the buffer, cannot be sent again. A NACK of it is passed over, and counted.

use crate::status::{Missing, SO_END, SnLength, Status, StatusFault};
use pages::prefetch_line;

use crate::wheel::{NONE, Place, Places, SLOTS, Wheel};
use crate::{Counters, Event, Limits, Payload, Reason, Refused};

/// Longest `t-PollRetransmit` in ms (TS 38.331: ms4000).
pub const MAX_POLL_RETRANSMIT_MS: u32 = 4000;
/// Most bearers of a buffer. The number decides how much memory bearers without packets take.
pub const MAX_BEARERS: usize = 1 << 20;
/// Timers run in ticks of 1 ms: an expiry is never early, and less than 1 ms late.
const TICK_NS: u64 = 1_000_000;
/// A timer that does not run.
const STOPPED: u64 = u64::MAX;

/// Name of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Number of its bearer.
    pub bearer: u32,
    /// Its sequence number.
    pub sn: u32,
}

/// A bearer's parameters, as RRC configures them (TS 38.331 `UL-AM-RLC`, TS 38.322 §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BearerConfig {
    /// Length of sequence numbers.
    pub sn_length: SnLength,
    /// Most packets from the first that is not acknowledged to the last one: 1 to `AM_Window_Size`. It bounds the packets that are kept, and the
    /// memory that the bearer takes: 18 bits would allow 131,072.
    pub window: u32,
    /// Most bytes that are kept.
    pub bytes: u64,
    /// `t-PollRetransmit`, ms: 1 to [`MAX_POLL_RETRANSMIT_MS`].
    pub poll_retransmit_ms: u32,
    /// `pollPDU`: a poll at the latest after so many packets. `None`: infinity.
    pub poll_pdu: Option<u32>,
    /// `pollByte`: a poll at the latest after so many bytes. `None`: infinity.
    pub poll_byte: Option<u32>,
    /// `maxRetxThreshold`: at least 1.
    pub max_retransmissions: u8,
}

impl BearerConfig {
    /// Whether each parameter is in its range.
    ///
    /// # Errors
    /// If one is not.
    pub fn check(&self) -> Result<(), BearerError> {
        match () {
            () if !(1..=self.sn_length.window()).contains(&self.window) => Err(BearerError::Window),
            () if !(1..=MAX_POLL_RETRANSMIT_MS).contains(&self.poll_retransmit_ms) => Err(BearerError::PollRetransmit),
            () if self.poll_pdu == Some(0) || self.poll_byte == Some(0) => Err(BearerError::Poll),
            () if self.max_retransmissions == 0 => Err(BearerError::MaxRetransmissions),
            () => Ok(()),
        }
    }
}

/// Why a bearer is not added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BearerError {
    /// Its number is not below the buffer's number of bearers.
    Number,
    /// It is there already.
    Exists,
    /// `window` is not 1 to `AM_Window_Size`.
    Window,
    /// `poll_retransmit_ms` is not 1 to [`MAX_POLL_RETRANSMIT_MS`].
    PollRetransmit,
    /// `poll_pdu` or `poll_byte` is 0.
    Poll,
    /// `max_retransmissions` is 0.
    MaxRetransmissions,
}

impl std::fmt::Display for BearerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            BearerError::Number => "bearer number: expected one below the buffer's number of bearers",
            BearerError::Exists => "bearer number: in use; remove the bearer first",
            BearerError::Window => "window: expected 1 to AM_Window_Size (2048 with 12 bits, 131072 with 18)",
            BearerError::PollRetransmit => "poll_retransmit_ms: expected 1 to 4000",
            BearerError::Poll => "poll_pdu, poll_byte: expected 1 or more",
            BearerError::MaxRetransmissions => "max_retransmissions: expected 1 or more",
        })
    }
}

impl std::error::Error for BearerError {}

/// Answer to a packet that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Its PDU must carry the P bit: the caller said so, or a poll is due (TS 38.322 §5.3.3.2).
    pub poll: bool,
}

/// What a status did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Packets that are acknowledged.
    pub acknowledged: u32,
    /// Packets that must be sent again, and were not waiting for it.
    pub nacked: u32,
    /// Packets that are missing and not kept here.
    pub absent: u32,
}

/// A packet, or a part of one, to be sent now.
#[derive(Debug)]
pub struct Retransmission<'a, P> {
    /// Its name.
    pub key: Key,
    /// First byte of the SDU to send: `SO`.
    pub start: usize,
    /// Byte behind the last one to send.
    pub end: usize,
    /// The PDU must carry the P bit.
    pub poll: bool,
    /// The packet.
    pub packet: &'a P,
}

/// What keeps packets behind [`crate::service::BufferService`]: [`RlcBuffer`], or its slow twin [`crate::plain::rlc::PlainRlc`]. The methods are those of [`RlcBuffer`].
#[expect(missing_docs, reason = "RlcBuffer's methods have them")]
pub trait Keeps<P> {
    fn new(bearers: usize, limits: Limits) -> Self;
    fn add(&mut self, bearer: u32, config: BearerConfig) -> Result<(), BearerError>;
    fn remove(&mut self, bearer: u32, events: &mut impl FnMut(Event<Key, P>)) -> bool;
    fn prefetch(&self, _bearers: impl Iterator<Item = u32>) {}
    fn touch(&self, _burst: &[Key]) {}
    fn touch_waiting(&self, _bearers: impl Iterator<Item = u32>) {}
    fn keep_with(&mut self, bearer: u32, sn: u32, bytes: u64, poll: bool, now_ns: u64, make: impl FnOnce() -> P) -> Result<Kept, Reason>;
    fn reserve(&mut self, bearer: u32, bytes: u64, now_ns: u64) -> Result<u32, Reason>;
    fn claim(&mut self, bearer: u32, number: u32);
    fn status(&mut self, bearer: u32, pdu: &[u8], events: &mut impl FnMut(Event<Key, P>)) -> Result<Report, StatusFault>;
    fn next_retransmission(&mut self, now_ns: u64) -> Option<Retransmission<'_, P>>;
    fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(Event<Key, P>));
    fn packet(&self, bearer: u32, sn: u32) -> Option<&P>;
    fn packets(&self) -> usize;
    fn next_sn(&self, bearer: u32) -> Option<u32>;
}

impl<P: Payload> Keeps<P> for RlcBuffer<P> {
    fn new(bearers: usize, limits: Limits) -> Self {
        RlcBuffer::new(bearers, limits)
    }

    fn add(&mut self, bearer: u32, config: BearerConfig) -> Result<(), BearerError> {
        self.add(bearer, config)
    }

    fn remove(&mut self, bearer: u32, events: &mut impl FnMut(Event<Key, P>)) -> bool {
        self.remove(bearer, events)
    }

    #[inline]
    fn prefetch(&self, bearers: impl Iterator<Item = u32>) {
        self.prefetch(bearers);
    }

    #[inline]
    fn touch(&self, burst: &[Key]) {
        self.touch(burst);
    }

    #[inline]
    fn touch_waiting(&self, bearers: impl Iterator<Item = u32>) {
        self.touch_waiting(bearers);
    }

    #[inline]
    fn keep_with(&mut self, bearer: u32, sn: u32, bytes: u64, poll: bool, now_ns: u64, make: impl FnOnce() -> P) -> Result<Kept, Reason> {
        self.keep_with(bearer, sn, bytes, poll, now_ns, make)
    }

    #[inline]
    fn reserve(&mut self, bearer: u32, bytes: u64, now_ns: u64) -> Result<u32, Reason> {
        self.reserve(bearer, bytes, now_ns)
    }

    #[inline]
    fn claim(&mut self, bearer: u32, number: u32) {
        self.claim(bearer, number);
    }

    #[inline]
    fn status(&mut self, bearer: u32, pdu: &[u8], events: &mut impl FnMut(Event<Key, P>)) -> Result<Report, StatusFault> {
        self.status(bearer, pdu, events)
    }

    #[inline]
    fn next_retransmission(&mut self, now_ns: u64) -> Option<Retransmission<'_, P>> {
        self.next_retransmission(now_ns)
    }

    #[inline]
    fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(Event<Key, P>)) {
        self.advance(now_ns, events);
    }

    #[inline]
    fn packet(&self, bearer: u32, sn: u32) -> Option<&P> {
        self.packet(bearer, sn)
    }

    #[inline]
    fn packets(&self) -> usize {
        self.packets()
    }

    #[inline]
    fn next_sn(&self, bearer: u32) -> Option<u32> {
        self.next_sn(bearer)
    }
}

/// A place of a bearer's window.
struct Slot<P> {
    packet: Option<P>,
    bytes: u32,
    /// Neighbours that are kept: their counts. Valid up to the bearer's first and last.
    previous: u32,
    next: u32,
    /// How often it was considered for retransmission: `RETX_COUNT` plus 1, or 0. Stays at its maximum.
    considered: u16,
    pending: bool,
}

/// What else is known of a place's packet while it is pending: few are, so it does not lengthen the places that each packet passes.
#[derive(Clone, Copy)]
struct Pending {
    /// First and last byte that is missing.
    missing: (u16, u16),
    /// Neighbours that are pending: their places, or [`NONE`].
    previous: u32,
    next: u32,
}

impl<P> Slot<P> {
    const EMPTY: Slot<P> = Slot { packet: None, bytes: 0, previous: 0, next: 0, considered: 0, pending: false };
}

/// State of a bearer. Sequence numbers are kept as counts that do not wrap at their length but at 32 bits. Bearers are met at random: what each packet needs
/// lies in two lines of a cache, which [`RlcBuffer::touch`] asks for.
#[repr(C, align(64))]
struct Bearer<P> {
    /// Empty: there is no such bearer. As many as the window has, rounded up to a power of two.
    slots: Box<[Slot<P>]>,
    bytes: u64,
    /// `TX_Next_Ack` and `TX_Next` (TS 38.322 §7.1).
    next_ack: u32,
    next: u32,
    kept: u32,
    /// Counts of the first and the last that is kept; valid if there is one.
    first: u32,
    last: u32,
    /// `PDU_WITHOUT_POLL`, `BYTE_WITHOUT_POLL`, and the count of `POLL_SN`.
    pdu_without_poll: u32,
    byte_without_poll: u32,
    poll_sn: u32,
    /// Places that have been reserved since the bearer was added; and the bytes of the packets of which `awaited` are still to come.
    reserved: u32,
    awaited_bytes: u32,
    /// The second line. Tick at which `t-PollRetransmit` expires.
    expires: u64,
    timer: Place,
    awaited: u32,
    config: BearerConfig,
    /// Of those in `slots` that are pending, at the same places.
    pending: Box<[Pending]>,
    /// Places of the first and the last pending packet, or [`NONE`].
    pending_first: u32,
    pending_last: u32,
    /// Neighbours among the bearers with pending packets, or [`NONE`].
    turn_previous: u32,
    turn_next: u32,
}

const _: () = assert!(std::mem::offset_of!(Bearer<()>, expires) == 64 && std::mem::offset_of!(Bearer<()>, pending) == 128);

const NO_CONFIG: BearerConfig = BearerConfig {
    sn_length: SnLength::Bits12,
    window: 0,
    bytes: 0,
    poll_retransmit_ms: 1,
    poll_pdu: None,
    poll_byte: None,
    max_retransmissions: 1,
};

impl<P: Payload> Bearer<P> {
    fn none() -> Bearer<P> {
        Bearer::new(NO_CONFIG, 0)
    }

    fn new(config: BearerConfig, places: usize) -> Bearer<P> {
        Bearer {
            slots: (0..places).map(|_| Slot::EMPTY).collect(),
            pending: vec![Pending { missing: (0, 0), previous: NONE, next: NONE }; places].into_boxed_slice(),
            config,
            next_ack: 0,
            next: 0,
            kept: 0,
            bytes: 0,
            first: 0,
            last: 0,
            pdu_without_poll: 0,
            byte_without_poll: 0,
            poll_sn: 0,
            reserved: 0,
            awaited: 0,
            awaited_bytes: 0,
            expires: STOPPED,
            timer: Place::NOWHERE,
            pending_first: NONE,
            pending_last: NONE,
            turn_previous: NONE,
            turn_next: NONE,
        }
    }

    fn place(&self, count: u32) -> usize {
        count as usize & (self.slots.len() - 1)
    }

    fn sn(&self, count: u32) -> u32 {
        count & self.config.sn_length.mask()
    }

    /// Where a number lies from `TX_Next_Ack` on: the half before it is negative.
    fn offset(&self, sn: u32) -> i32 {
        let modulus = self.config.sn_length.modulus();
        let ahead = sn.wrapping_sub(self.next_ack) & (modulus - 1);
        if ahead < modulus / 2 { ahead as i32 } else { ahead as i32 - modulus as i32 }
    }

    /// Packets from `TX_Next_Ack` to `TX_Next`.
    fn in_flight(&self) -> u32 {
        self.next.wrapping_sub(self.next_ack)
    }

    /// A place for a packet behind those that are kept.
    #[inline(always)]
    fn append(&mut self, count: u32, bytes: u32) -> &mut Option<P> {
        let last = self.last;
        if self.kept == 0 {
            self.first = count;
        } else {
            let place = self.place(last);
            self.slots[place].next = count;
        }
        self.last = count;
        self.kept += 1;
        self.bytes += u64::from(bytes);
        self.next = count.wrapping_add(1);
        let place = self.place(count);
        let slot = &mut self.slots[place];
        slot.bytes = bytes;
        slot.considered = 0;
        slot.previous = last;
        &mut slot.packet
    }

    /// Takes a kept packet out of its place and its order; the caller unlinks it from the pending ones.
    fn remove(&mut self, count: u32) -> Option<P> {
        let place = self.place(count);
        let slot = &mut self.slots[place];
        let (previous, next, bytes) = (slot.previous, slot.next, slot.bytes);
        let packet = slot.packet.take()?;
        self.kept -= 1;
        self.bytes -= u64::from(bytes);
        // With one packet both ends are it, and they are void afterwards.
        if count == self.first {
            self.first = next;
        } else {
            let place = self.place(previous);
            self.slots[place].next = next;
        }
        if count == self.last {
            self.last = previous;
        } else {
            let place = self.place(next);
            self.slots[place].previous = previous;
        }
        Some(packet)
    }

    /// The first kept one after `count`, which is kept.
    fn after(&self, count: u32) -> Option<u32> {
        (count != self.last).then(|| self.slots[self.place(count)].next)
    }

    /// Of a packet that is in flight.
    fn is_kept(&self, count: u32) -> bool {
        self.slots[self.place(count)].packet.is_some()
    }

    fn first(&self) -> Option<u32> {
        (self.kept > 0).then_some(self.first)
    }
}

impl<P> Places for Vec<Bearer<P>> {
    fn place(&mut self, timer: u32) -> &mut Place {
        &mut self[timer as usize].timer
    }
}

/// The packets of all bearers that wait for an acknowledgement. `P` is a packet's handle.
pub struct RlcBuffer<P> {
    bearers: Vec<Bearer<P>>,
    wheel: Wheel,
    limits: Limits,
    packets: usize,
    bytes: u64,
    /// The latest time that was given, and the tick up to which timers have been looked at.
    now_ns: u64,
    tick: u64,
    /// First and last of the bearers with pending packets, or [`NONE`].
    turn_first: u32,
    turn_last: u32,
    /// What a status names, while it is processed: its memory stays.
    missing: Vec<Missing>,
    counters: Counters,
}

impl<P: Payload> RlcBuffer<P> {
    /// For bearers with numbers below `bearers`.
    ///
    /// # Panics
    /// If `bearers` is more than [`MAX_BEARERS`].
    pub fn new(bearers: usize, limits: Limits) -> RlcBuffer<P> {
        assert!(bearers <= MAX_BEARERS, "{bearers} bearers: at most {MAX_BEARERS}");
        RlcBuffer {
            bearers: (0..bearers).map(|_| Bearer::none()).collect(),
            wheel: Wheel::new(),
            limits,
            packets: 0,
            bytes: 0,
            now_ns: 0,
            tick: 0,
            turn_first: NONE,
            turn_last: NONE,
            missing: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Adds a bearer whose next sequence number is 0. Takes memory for its window.
    ///
    /// # Errors
    /// If it is there already, or a parameter is out of its range.
    pub fn add(&mut self, bearer: u32, config: BearerConfig) -> Result<(), BearerError> {
        let place = self.bearers.get_mut(bearer as usize).ok_or(BearerError::Number)?;
        if !place.slots.is_empty() {
            return Err(BearerError::Exists);
        }
        config.check()?;
        *place = Bearer::new(config, config.window.next_power_of_two() as usize);
        Ok(())
    }

    /// Removes a bearer; its packets are discarded. Whether there was one. Re-establishment is removing and adding (TS 38.322 §5.1.2).
    pub fn remove(&mut self, bearer: u32, events: &mut impl FnMut(Event<Key, P>)) -> bool {
        let Some(state) = self.live(bearer) else { return false };
        let mut next = state.first();
        while let Some(count) = next {
            let state = &self.bearers[bearer as usize];
            next = state.after(count);
            let sn = state.sn(count);
            if let Some(packet) = self.take(bearer, count) {
                self.counters.discarded[Reason::Removed as usize] += 1;
                events(Event::Discarded { key: Key { bearer, sn }, packet, reason: Reason::Removed });
            }
        }
        self.wheel.unlink(&mut self.bearers, bearer);
        self.bearers[bearer as usize] = Bearer::none();
        true
    }

    /// Asks the cache for these bearers, which need not be there: for who must read them ahead of [`RlcBuffer::touch`].
    #[inline]
    pub fn prefetch(&self, bearers: impl Iterator<Item = u32>) {
        for state in bearers.filter_map(|bearer| self.bearers.get(bearer as usize)) {
            prefetch_line(state);
            prefetch_line(&state.expires);
        }
    }

    /// Asks the cache for what [`RlcBuffer::keep`] of these packets will need: the misses of a burst then overlap. Keys need not be valid.
    pub fn touch(&self, burst: &[Key]) {
        self.prefetch(burst.iter().map(|key| key.bearer));
        for key in burst {
            if let Some(state) = self.live(key.bearer) {
                // A place may lie in two lines.
                let slot = &state.slots[state.place(key.sn)];
                prefetch_line(slot);
                prefetch_line(&slot.pending);
            }
        }
    }

    /// Asks the cache for what [`RlcBuffer::status`] of these bearers will need, as [`RlcBuffer::touch`] does: the packets that wait, from the first on, as far as a few
    /// lines of a cache go.
    pub fn touch_waiting(&self, bearers: impl Iterator<Item = u32>) {
        /// Places that are asked for.
        const MOST: u32 = 32;
        for state in bearers.filter_map(|bearer| self.live(bearer)) {
            for count in (0..state.kept.min(MOST)).map(|n| state.first.wrapping_add(n)) {
                prefetch_line(&state.slots[state.place(count)]);
            }
        }
    }

    /// Keeps a packet that is being sent the first time. Numbers of a bearer ascend; those that are left out are passed over for good.
    ///
    /// `poll`: the PDU carries the P bit anyway; so it should where the sender has nothing more to send (TS 38.322 §5.3.3.2).
    ///
    /// # Errors
    /// The packet and the [`Reason`], which is counted: the caller must not send it. Where a limit is the reason, a poll is arranged for, so that
    /// the bearer does not stall.
    #[inline]
    pub fn keep(&mut self, bearer: u32, sn: u32, packet: P, poll: bool, now_ns: u64) -> Result<Kept, Refused<P>> {
        let mut packet = Some(packet);
        let bytes = packet.as_ref().map_or(0, P::sdu_bytes) as u64;
        let kept = self.keep_with(bearer, sn, bytes, poll, now_ns, || packet.take().expect("it is asked for once"));
        kept.map_err(|reason| Refused { packet: packet.take().expect("it was not asked for"), reason })
    }

    /// As [`RlcBuffer::keep`], of a packet with so many bytes of an SDU that `make` makes where it is kept, if it is.
    ///
    /// # Errors
    /// As for [`RlcBuffer::keep`].
    #[inline]
    pub fn keep_with(
        &mut self,
        bearer: u32,
        sn: u32,
        bytes: u64,
        poll: bool,
        now_ns: u64,
        make: impl FnOnce() -> P,
    ) -> Result<Kept, Reason> {
        self.now_ns = self.now_ns.max(now_ns);
        self.counters.offered += 1;
        let count = match self.room_for(bearer, sn, bytes) {
            Ok(count) => count,
            Err(reason) => return Err(self.refuse(bearer, reason)),
        };
        self.packets += 1;
        self.bytes += bytes;
        let state = &mut self.bearers[bearer as usize];
        *state.append(count, bytes as u32) = Some(make());
        state.pdu_without_poll = state.pdu_without_poll.saturating_add(1);
        state.byte_without_poll = state.byte_without_poll.saturating_add(bytes as u32);
        let config = &state.config;
        let poll = poll
            || config.poll_pdu.is_some_and(|most| state.pdu_without_poll >= most)
            || config.poll_byte.is_some_and(|most| state.byte_without_poll >= most)
            || state.in_flight() == config.window;
        if poll {
            self.start_poll(bearer);
        }
        Ok(Kept { poll })
    }

    /// Reserves a place for a packet of the bearer's whose SDU has at most so many bytes: which one it is, counted from 0 since the bearer was added, so that
    /// its sender can number packets by it and spends no number on one for which the bearer has no room. Once the numbers are spent the answer is `u32::MAX`, and no
    /// place is reserved any more. Of the limits of all bearers together the packets that are awaited are not part: where they are nearly reached, a packet may be refused
    /// in spite of its place.
    ///
    /// Packets that are dropped on the way to their places do not keep them: those that are awaited when `t-PollRetransmit` expires have none any more.
    ///
    /// # Errors
    /// Why there is none. It is counted nowhere: no packet was given in. Where a limit is the reason, a poll is arranged for, as by [`RlcBuffer::keep`].
    pub fn reserve(&mut self, bearer: u32, bytes: u64, now_ns: u64) -> Result<u32, Reason> {
        self.now_ns = self.now_ns.max(now_ns);
        let limits = self.limits;
        let place = match self.bearers.get(bearer as usize).filter(|state| !state.slots.is_empty()) {
            None => Err(Reason::NoBearer),
            Some(state) if state.in_flight() + state.awaited >= state.config.window => Err(Reason::Window),
            Some(state) if state.bytes + u64::from(state.awaited_bytes) + bytes > state.config.bytes => Err(Reason::BearerBytes),
            Some(_) if self.packets >= limits.packets => Err(Reason::Packets),
            Some(_) if self.bytes + bytes > limits.bytes => Err(Reason::Bytes),
            Some(_) => Ok(()),
        };
        place.inspect_err(|reason| self.poll_if_stalled(bearer, *reason))?;
        let state = &mut self.bearers[bearer as usize];
        let number = state.reserved;
        if let Some(next) = number.checked_add(1) {
            state.reserved = next;
            state.awaited += 1;
            // A window of the longest SDUs has 1.2 GB.
            state.awaited_bytes = state.awaited_bytes.saturating_add(bytes as u32);
        }
        Ok(number)
    }

    /// The packet of a reserved place has come: those of earlier places will not come any more. Those that are still to come count with the mean length of all that were.
    pub fn claim(&mut self, bearer: u32, number: u32) {
        let Some(state) = self.bearers.get_mut(bearer as usize) else { return };
        let behind = state.reserved.wrapping_sub(number).wrapping_sub(1);
        if behind < state.awaited {
            let mean = |bytes: u32| (u64::from(bytes) * u64::from(behind) / u64::from(state.awaited)) as u32;
            state.awaited_bytes = if behind == 0 { 0 } else { mean(state.awaited_bytes) };
            state.awaited = behind;
        }
    }

    /// The count of a packet that there is room for.
    #[inline]
    fn room_for(&self, bearer: u32, sn: u32, bytes: u64) -> Result<u32, Reason> {
        let count = room(self.live(bearer).ok_or(Reason::NoBearer)?, sn, bytes)?;
        match () {
            () if self.packets >= self.limits.packets => Err(Reason::Packets),
            () if self.bytes + bytes > self.limits.bytes => Err(Reason::Bytes),
            () => Ok(count),
        }
    }

    #[cold]
    fn refuse(&mut self, bearer: u32, reason: Reason) -> Reason {
        self.counters.discarded[reason as usize] += 1;
        self.poll_if_stalled(bearer, reason);
        reason
    }

    #[cold]
    fn poll_if_stalled(&mut self, bearer: u32, reason: Reason) {
        let stalled = matches!(reason, Reason::Window | Reason::BearerBytes | Reason::Packets | Reason::Bytes);
        if stalled && self.live(bearer).is_some_and(|state| (state.kept > 0 || state.awaited > 0) && state.expires == STOPPED) {
            self.start_poll(bearer);
        }
    }

    /// Processes a STATUS PDU of a bearer (TS 38.322 §5.2.3.1.2, §5.3.2, §5.3.3.3).
    ///
    /// Steps are at most one for each NACK, twice, and one for each packet that is acknowledged or named.
    ///
    /// # Errors
    /// [`StatusFault`], which is counted; nothing else has changed.
    pub fn status(&mut self, bearer: u32, pdu: &[u8], events: &mut impl FnMut(Event<Key, P>)) -> Result<Report, StatusFault> {
        let checked = self.check(bearer, pdu);
        match checked {
            Ok((status, ack)) => {
                self.counters.statuses += 1;
                Ok(self.acknowledge(bearer, &status, ack, events))
            }
            Err(fault) => {
                self.counters.ignored_statuses[fault as usize] += 1;
                Err(fault)
            }
        }
    }

    /// The status, and how many packets from `TX_Next_Ack` on it covers.
    fn check<'a>(&mut self, bearer: u32, pdu: &'a [u8]) -> Result<(Status<'a>, i32), StatusFault> {
        let state = self.live(bearer).ok_or(StatusFault::NoBearer)?;
        let status = Status::new_checked(pdu, state.config.sn_length)?;
        let in_flight = state.in_flight() as i32;
        let mut ack = state.offset(status.ack_sn());
        // A full window ends half the numbers ahead, which is as far behind.
        if ack == -(state.config.sn_length.window() as i32) && in_flight == -ack {
            ack = in_flight;
        }
        if ack < 0 {
            return Err(StatusFault::Stale);
        }
        if ack > in_flight {
            return Err(StatusFault::OutsideWindow);
        }
        self.counters.steps += status.nacks().count() as u64;
        Ok((status, ack))
    }

    fn acknowledge(&mut self, bearer: u32, status: &Status<'_>, ack: i32, events: &mut impl FnMut(Event<Key, P>)) -> Report {
        let mut report = Report::default();
        let at = bearer as usize;
        let base = self.bearers[at].next_ack;
        let offset = |count: u32| count.wrapping_sub(base) as i32;
        let state = &self.bearers[at];
        let poll_sn = offset(state.poll_sn);
        let mut poll_covered = poll_sn < ack;
        let mut parts = std::mem::take(&mut self.missing);
        status.missing(|sn| state.offset(sn), state.in_flight() as i32, &mut parts);
        // `next`: the first kept packet that has not been walked over. `missing`: the first that stays.
        let mut next = self.bearers[at].first();
        let mut missing = None;
        let mut steps = 0;
        for of in &parts {
            steps += 1;
            let (from, to) = (of.first, of.last);
            // §5.3.3.3: a negative acknowledgement answers the poll, too.
            poll_covered |= (from..=to).contains(&poll_sn);
            next = self.free_up_to(bearer, next, base, from.clamp(0, ack), &mut report, events);
            let mut named = 0;
            let mut current = next;
            // Behind ACK_SN nothing is said of those between, and they may be a window: they are not walked over.
            let is_ahead = next.is_some_and(|count| offset(count) < from);
            if is_ahead {
                let mut counts = (from..=to).map(|offset| base.wrapping_add(offset as u32)).inspect(|_| steps += 1);
                current = counts.find(|count| self.bearers[at].is_kept(*count));
            }
            // Two segments of one packet: the second NACK names what the first has passed.
            if let Some(passed) = missing.filter(|count| offset(*count) == from && of.segment.is_some()) {
                named += 1;
                self.consider(bearer, passed, segment_of(of, from), &mut report, events);
            }
            while let Some(count) = current.filter(|count| offset(*count) <= to) {
                steps += 1;
                named += 1;
                current = self.bearers[at].after(count);
                let part = segment_of(of, offset(count));
                self.consider(bearer, count, part, &mut report, events);
                missing = Some(count);
            }
            next = if is_ahead && named == 0 { next } else { current };
            let in_window = to + 1 - from.max(0);
            report.absent += (in_window - named) as u32;
        }
        self.missing = parts;
        self.free_up_to(bearer, next, base, ack, &mut report, events);
        self.counters.steps += steps + u64::from(report.acknowledged);
        let state = &mut self.bearers[at];
        let acknowledged = base.wrapping_add(ack as u32);
        state.next_ack = state.first().filter(|first| offset(*first) < ack).unwrap_or(acknowledged);
        if poll_covered {
            state.expires = STOPPED;
        }
        report
    }

    /// Acknowledges the kept packets from `next` on that are before offset `end`; the first one that is not.
    #[inline]
    fn free_up_to(
        &mut self,
        bearer: u32,
        mut next: Option<u32>,
        base: u32,
        end: i32,
        report: &mut Report,
        events: &mut impl FnMut(Event<Key, P>),
    ) -> Option<u32> {
        while let Some(count) = next.filter(|count| (count.wrapping_sub(base) as i32) < end) {
            let state = &self.bearers[bearer as usize];
            next = state.after(count);
            let sn = state.sn(count);
            if let Some(packet) = self.take(bearer, count) {
                report.acknowledged += 1;
                self.counters.acknowledged += 1;
                events(Event::Acknowledged { key: Key { bearer, sn }, packet });
            }
        }
        next
    }

    /// Considers a kept packet, or a part, for retransmission (TS 38.322 §5.3.2).
    fn consider(&mut self, bearer: u32, count: u32, part: (u16, u16), report: &mut Report, events: &mut impl FnMut(Event<Key, P>)) {
        let state = &mut self.bearers[bearer as usize];
        let place = state.place(count);
        let last_place = state.pending_last;
        let key = Key { bearer, sn: state.sn(count) };
        let most = state.config.max_retransmissions;
        let slot = &mut state.slots[place];
        let mut part = part;
        if u32::from(part.0) >= slot.bytes.max(1) || part.0 > part.1 {
            // The peer has not all of it, and cannot say what is missing: it gets the whole packet, or it would ask for ever.
            self.counters.bad_segments += 1;
            part = (0, SO_END);
        }
        let pending = &mut state.pending[place];
        if slot.pending {
            pending.missing = (pending.missing.0.min(part.0), pending.missing.1.max(part.1));
            return;
        }
        report.nacked += 1;
        slot.pending = true;
        *pending = Pending { missing: part, previous: last_place, next: NONE };
        slot.considered = slot.considered.saturating_add(1);
        let too_often = slot.considered == u16::from(most) + 1;
        match last_place {
            NONE => state.pending_first = place as u32,
            last => state.pending[last as usize].next = place as u32,
        }
        state.pending_last = place as u32;
        if last_place == NONE {
            self.enter_turn(bearer);
        }
        if too_often {
            self.counters.max_retransmissions += 1;
            events(Event::MaxRetransmissions { key });
        }
    }

    /// The next packet to send again; bearers take turns, each in the order in which its packets were asked for. Call it while there is
    /// room to send.
    pub fn next_retransmission(&mut self, now_ns: u64) -> Option<Retransmission<'_, P>> {
        let bearer = self.turn_first;
        if bearer == NONE {
            return None;
        }
        self.leave_turn(bearer);
        let place = self.bearers[bearer as usize].pending_first;
        self.unlink_pending(bearer, place as usize, false);
        let poll = self.bearers[bearer as usize].pending_first == NONE;
        self.now_ns = self.now_ns.max(now_ns);
        if poll {
            // Nothing else is pending: a poll (TS 38.322 §5.3.3.2).
            self.start_poll(bearer);
        } else {
            self.enter_turn(bearer);
        }
        self.counters.retransmitted += 1;
        let state = &self.bearers[bearer as usize];
        let slot = &state.slots[place as usize];
        let missing = state.pending[place as usize].missing;
        let end = if missing.1 == SO_END { slot.bytes } else { slot.bytes.min(u32::from(missing.1) + 1) };
        // Places of a window of numbers are apart by less than the window, so one number fits.
        let count = state.next_ack.wrapping_add((place.wrapping_sub(state.next_ack)) & (state.slots.len() as u32 - 1));
        Some(Retransmission {
            key: Key { bearer, sn: state.sn(count) },
            start: missing.0 as usize,
            end: end as usize,
            poll,
            packet: slot.packet.as_ref().expect("only kept packets are pending"),
        })
    }

    /// Lets timers expire (TS 38.322 §5.3.3.4): of a bearer that has nothing else to send again, the last packet is.
    pub fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(Event<Key, P>)) {
        self.now_ns = self.now_ns.max(now_ns);
        let now = self.now_ns / TICK_NS;
        // After a long time each slot is looked at once.
        let from = (self.tick + 1).max((now + 1).saturating_sub(SLOTS as u64));
        for tick in from..=now {
            let mut timer = self.wheel.take(tick);
            while timer != NONE {
                let bearer = timer;
                timer = self.bearers[bearer as usize].timer.leave();
                let expires = self.bearers[bearer as usize].expires;
                if expires <= now {
                    self.expire(bearer, events);
                } else if expires != STOPPED {
                    self.wheel.link(&mut self.bearers, bearer, expires);
                }
            }
        }
        self.tick = now;
    }

    fn expire(&mut self, bearer: u32, events: &mut impl FnMut(Event<Key, P>)) {
        self.counters.expired += 1;
        let state = &mut self.bearers[bearer as usize];
        state.expires = STOPPED;
        (state.awaited, state.awaited_bytes) = (0, 0);
        // What is pending carries a poll when its last packet goes.
        if state.pending_first == NONE && state.kept > 0 {
            let last = state.last;
            self.consider(bearer, last, (0, SO_END), &mut Report::default(), events);
        }
    }

    /// Takes a packet out that the upper layer needs no longer; it counts as [`Reason::UpperLayer`].
    pub fn discard(&mut self, bearer: u32, sn: u32) -> Option<P> {
        let state = self.live(bearer)?;
        let offset = state.offset(sn);
        if sn > state.config.sn_length.mask() || !(0..state.in_flight() as i32).contains(&offset) {
            return None;
        }
        let count = state.next_ack.wrapping_add(offset as u32);
        let packet = self.take(bearer, count)?;
        self.counters.discarded[Reason::UpperLayer as usize] += 1;
        Some(packet)
    }

    /// A packet that is kept.
    pub fn packet(&self, bearer: u32, sn: u32) -> Option<&P> {
        let state = self.live(bearer)?;
        let offset = state.offset(sn);
        let count = state.next_ack.wrapping_add(offset as u32);
        (0..state.in_flight() as i32).contains(&offset).then(|| state.slots[state.place(count)].packet.as_ref())?
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets that are kept.
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Bytes of their SDUs.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Of one bearer: packets and bytes that are kept, and `TX_Next_Ack`.
    pub fn bearer(&self, bearer: u32) -> Option<(usize, u64, u32)> {
        let state = self.live(bearer)?;
        Some((state.kept as usize, state.bytes, state.sn(state.next_ack)))
    }

    /// The number of a bearer's next packet.
    pub fn next_sn(&self, bearer: u32) -> Option<u32> {
        self.live(bearer).map(|state| state.sn(state.next))
    }

    #[inline]
    fn live(&self, bearer: u32) -> Option<&Bearer<P>> {
        self.bearers.get(bearer as usize).filter(|state| !state.slots.is_empty())
    }

    /// A poll is sent now: `POLL_SN` is the highest number so far, and the timer starts.
    #[inline]
    fn start_poll(&mut self, bearer: u32) {
        let state = &mut self.bearers[bearer as usize];
        state.pdu_without_poll = 0;
        state.byte_without_poll = 0;
        state.poll_sn = state.next.wrapping_sub(1);
        state.expires = self.now_ns.div_ceil(TICK_NS) + u64::from(state.config.poll_retransmit_ms);
        // A later expiry is found when the wheel comes to the earlier one.
        if !state.timer.is_linked() {
            let expires = state.expires;
            self.wheel.link(&mut self.bearers, bearer, expires);
        }
    }

    /// Takes a kept packet out of the buffer.
    #[inline]
    fn take(&mut self, bearer: u32, count: u32) -> Option<P> {
        let state = &mut self.bearers[bearer as usize];
        let place = state.place(count);
        let (pending, bytes) = (state.slots[place].pending, state.slots[place].bytes);
        let packet = state.remove(count)?;
        if pending {
            self.unlink_pending(bearer, place, true);
        }
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        Some(packet)
    }

    /// Takes a packet off its bearer's pending ones. `turn`: a bearer without any loses its turn.
    fn unlink_pending(&mut self, bearer: u32, place: usize, turn: bool) {
        let state = &mut self.bearers[bearer as usize];
        state.slots[place].pending = false;
        let Pending { previous, next, .. } = state.pending[place];
        match previous {
            NONE => state.pending_first = next,
            previous => state.pending[previous as usize].next = next,
        }
        match next {
            NONE => state.pending_last = previous,
            next => state.pending[next as usize].previous = previous,
        }
        if turn && state.pending_first == NONE {
            self.leave_turn(bearer);
        }
    }

    fn enter_turn(&mut self, bearer: u32) {
        let last = self.turn_last;
        let state = &mut self.bearers[bearer as usize];
        (state.turn_previous, state.turn_next) = (last, NONE);
        match last {
            NONE => self.turn_first = bearer,
            last => self.bearers[last as usize].turn_next = bearer,
        }
        self.turn_last = bearer;
    }

    fn leave_turn(&mut self, bearer: u32) {
        let state = &self.bearers[bearer as usize];
        let (previous, next) = (state.turn_previous, state.turn_next);
        match previous {
            NONE => self.turn_first = next,
            previous => self.bearers[previous as usize].turn_next = next,
        }
        match next {
            NONE => self.turn_last = previous,
            next => self.bearers[next as usize].turn_previous = previous,
        }
    }
}

/// The count of a packet that the bearer has room for.
#[inline]
fn room<P: Payload>(state: &Bearer<P>, sn: u32, bytes: u64) -> Result<u32, Reason> {
    if sn > state.config.sn_length.mask() {
        return Err(Reason::Window);
    }
    let in_flight = state.in_flight();
    let ahead = sn.wrapping_sub(state.next_ack) & state.config.sn_length.mask();
    if ahead < in_flight {
        return Err(Reason::OutOfOrder);
    }
    if ahead >= state.config.window {
        // Half of the numbers are behind.
        let behind = ahead > state.config.sn_length.window();
        return Err(if behind { Reason::OutOfOrder } else { Reason::Window });
    }
    if state.bytes + bytes > state.config.bytes {
        return Err(Reason::BearerBytes);
    }
    Ok(state.next_ack.wrapping_add(ahead))
}

/// What is missing of the packet at `offset`: `SOstart` is in the first, `SOend` in the last.
fn segment_of(missing: &Missing, offset: i32) -> (u16, u16) {
    match missing.segment {
        None => (0, SO_END),
        Some((start, end)) => (if offset == missing.first { start } else { 0 }, if offset == missing.last { end } else { SO_END }),
    }
}
