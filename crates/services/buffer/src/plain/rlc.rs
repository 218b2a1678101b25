//! RLC AM's side that sends, by maps that are searched: sequence numbers never wrap here, sums are made anew each time, and every timer is looked at.

use crate::rlc::{BearerConfig, BearerError, Keeps, Kept, Key, Report, Retransmission};
use crate::status::{SO_END, Status, StatusFault};
use crate::{Event, Limits, Payload, Reason, Refused};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where numbers begin: far from 0, since one looks back by half of all.
const BASE: u64 = 1 << 40;

/// A bearer. Numbers are counts that do not wrap: SN is what remains by the modulus.
pub struct PlainBearer<P> {
    /// How it was added.
    pub config: BearerConfig,
    /// `TX_Next_Ack`.
    pub next_ack: u64,
    /// `TX_Next`.
    pub next: u64,
    kept: BTreeMap<u64, PlainPacket<P>>,
    pending: VecDeque<u64>,
    pdus: u64,
    bytes: u64,
    /// Places that have been reserved, how many of the last of them are awaited, and with how many bytes.
    reserved: u64,
    awaited: u64,
    awaited_bytes: u64,
    poll_sn: u64,
    /// Of the poll that the timer runs for.
    started_ns: Option<u64>,
}

struct PlainPacket<P> {
    packet: P,
    retx_count: Option<u32>,
    missing: (u16, u16),
}

/// Twin of [`crate::RlcBuffer`].
pub struct PlainRlc<P> {
    /// Bearers have numbers below this.
    numbers: usize,
    bearers: BTreeMap<u32, PlainBearer<P>>,
    limits: Limits,
    now_ns: u64,
    /// The bearer that sent something again last.
    turn: u32,
    /// Indications that a packet was sent again too often.
    pub max_retransmissions: u64,
}

type Events<P> = Vec<Event<Key, P>>;

impl<P: Payload> PlainBearer<P> {
    /// How many sequence numbers there are.
    pub fn modulus(&self) -> u64 {
        u64::from(self.config.sn_length.modulus())
    }

    /// Packets that are kept.
    pub fn packets(&self) -> usize {
        self.kept.len()
    }

    /// Bytes of their SDUs.
    pub fn bytes_kept(&self) -> u64 {
        self.kept.values().map(|kept| kept.packet.sdu_bytes() as u64).sum()
    }

    /// Whether something is to be sent again.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The only number from half the numbers before `TX_Next_Ack` on that is sent as `sn`.
    fn count(&self, sn: u32) -> u64 {
        let half = self.modulus() / 2;
        let from = self.next_ack - half;
        from + (u64::from(sn) + self.modulus() - from % self.modulus()) % self.modulus()
    }

    fn sn(&self, count: u64) -> u32 {
        (count % self.modulus()) as u32
    }

    fn poll(&mut self, now_ns: u64) {
        (self.pdus, self.bytes) = (0, 0);
        self.poll_sn = self.next - 1;
        self.started_ns = Some(now_ns);
    }

    fn poll_if_stalled(&mut self, now_ns: u64) {
        if (!self.kept.is_empty() || self.awaited > 0) && self.started_ns.is_none() {
            self.poll(now_ns);
        }
    }

    /// Whether the packet's retransmission is one too many.
    fn consider(&mut self, count: u64, part: (u16, u16)) -> Option<bool> {
        let packet = self.kept.get_mut(&count)?;
        if self.pending.contains(&count) {
            packet.missing = (packet.missing.0.min(part.0), packet.missing.1.max(part.1));
            return None;
        }
        packet.missing = part;
        packet.retx_count = Some(packet.retx_count.map_or(0, |count| count + 1));
        self.pending.push_back(count);
        Some(packet.retx_count == Some(self.config.max_retransmissions.into()))
    }

    /// The count of a packet that this bearer has room for.
    fn room(&self, sn: u32, bytes: u64) -> Result<u64, Reason> {
        let mut count = self.count(sn);
        // The number that is half of all ahead is ahead, not behind.
        if count == self.next_ack - self.modulus() / 2 {
            count = self.next_ack + self.modulus() / 2;
        }
        if u64::from(sn) >= self.modulus() {
            Err(Reason::Window)
        } else if count < self.next {
            Err(Reason::OutOfOrder)
        } else if count >= self.next_ack + u64::from(self.config.window) {
            Err(Reason::Window)
        } else if self.bytes_kept() + bytes > self.config.bytes {
            Err(Reason::BearerBytes)
        } else {
            Ok(count)
        }
    }
}

impl<P: Payload> PlainRlc<P> {
    /// As [`crate::RlcBuffer::new`].
    pub fn new(bearers: usize, limits: Limits) -> PlainRlc<P> {
        PlainRlc { numbers: bearers, bearers: BTreeMap::new(), limits, now_ns: 0, turn: 0, max_retransmissions: 0 }
    }

    /// As [`crate::RlcBuffer::add`].
    ///
    /// # Errors
    /// As for that.
    pub fn add(&mut self, bearer: u32, config: BearerConfig) -> Result<(), BearerError> {
        if bearer as usize >= self.numbers {
            return Err(BearerError::Number);
        }
        if self.bearers.contains_key(&bearer) {
            return Err(BearerError::Exists);
        }
        config.check()?;
        let new = PlainBearer {
            config,
            next_ack: BASE,
            next: BASE,
            kept: BTreeMap::new(),
            pending: VecDeque::new(),
            pdus: 0,
            bytes: 0,
            reserved: 0,
            awaited: 0,
            awaited_bytes: 0,
            poll_sn: BASE - 1,
            started_ns: None,
        };
        self.bearers.insert(bearer, new);
        Ok(())
    }

    /// What it had kept, in order; `None` if it was not there.
    pub fn remove(&mut self, bearer: u32) -> Option<Events<P>> {
        let state = self.bearers.remove(&bearer)?;
        let modulus = state.modulus();
        let key = |count: u64| Key { bearer, sn: (count % modulus) as u32 };
        let discarded =
            |(count, kept): (u64, PlainPacket<P>)| Event::Discarded { key: key(count), packet: kept.packet, reason: Reason::Removed };
        Some(state.kept.into_iter().map(discarded).collect())
    }

    /// One that is there.
    pub fn bearer(&self, bearer: u32) -> Option<&PlainBearer<P>> {
        self.bearers.get(&bearer)
    }

    /// All that are there.
    pub fn bearers(&self) -> impl Iterator<Item = (u32, &PlainBearer<P>)> {
        self.bearers.iter().map(|(number, state)| (*number, state))
    }

    /// Packets that are kept.
    pub fn packets(&self) -> usize {
        self.bearers.values().map(PlainBearer::packets).sum()
    }

    /// As [`crate::RlcBuffer::next_sn`].
    pub fn next_sn(&self, bearer: u32) -> Option<u32> {
        self.bearers.get(&bearer).map(|state| state.sn(state.next))
    }

    /// As [`crate::RlcBuffer::reserve`].
    ///
    /// # Errors
    /// As for that.
    pub fn reserve(&mut self, bearer: u32, bytes: u64, now_ns: u64) -> Result<u32, Reason> {
        self.now_ns = self.now_ns.max(now_ns);
        let (packets, all_bytes) = (self.packets(), self.bearers.values().map(PlainBearer::bytes_kept).sum::<u64>());
        let (now_ns, limits) = (self.now_ns, self.limits);
        let state = self.bearers.get_mut(&bearer).ok_or(Reason::NoBearer)?;
        let reasons = [
            (state.next - state.next_ack + state.awaited >= state.config.window.into(), Reason::Window),
            (state.bytes_kept() + state.awaited_bytes + bytes > state.config.bytes, Reason::BearerBytes),
            (packets >= limits.packets, Reason::Packets),
            (all_bytes + bytes > limits.bytes, Reason::Bytes),
        ];
        if let Some((_, reason)) = reasons.into_iter().find(|(applies, _)| *applies) {
            state.poll_if_stalled(now_ns);
            return Err(reason);
        }
        let number = state.reserved;
        if number < u32::MAX.into() {
            state.reserved += 1;
            state.awaited += 1;
            state.awaited_bytes += bytes;
        }
        Ok(number as u32)
    }

    /// As [`crate::RlcBuffer::claim`].
    pub fn claim(&mut self, bearer: u32, number: u32) {
        let Some(state) = self.bearers.get_mut(&bearer) else { return };
        let first_awaited = state.reserved - state.awaited;
        if !(first_awaited..state.reserved).contains(&number.into()) {
            return;
        }
        let behind = state.reserved - 1 - u64::from(number);
        state.awaited_bytes = state.awaited_bytes * behind / state.awaited;
        state.awaited = behind;
    }

    /// The count of a packet that there is room for; where a limit is why there is none, a poll.
    fn room(&mut self, bearer: u32, sn: u32, bytes: u64, now_ns: u64) -> Result<u64, Reason> {
        self.now_ns = self.now_ns.max(now_ns);
        let (packets, all_bytes) = (self.packets(), self.bearers.values().map(PlainBearer::bytes_kept).sum::<u64>());
        let (now_ns, limits) = (self.now_ns, self.limits);
        let state = self.bearers.get_mut(&bearer).ok_or(Reason::NoBearer)?;
        let room = state.room(sn, bytes).and_then(|count| {
            if packets >= limits.packets {
                Err(Reason::Packets)
            } else if all_bytes + bytes > limits.bytes {
                Err(Reason::Bytes)
            } else {
                Ok(count)
            }
        });
        if room.is_err_and(|reason| reason != Reason::OutOfOrder) {
            state.poll_if_stalled(now_ns);
        }
        room
    }

    /// As [`crate::RlcBuffer::keep`].
    ///
    /// # Errors
    /// As for that.
    pub fn keep(&mut self, bearer: u32, sn: u32, packet: P, poll: bool, now_ns: u64) -> Result<Kept, Refused<P>> {
        match self.room(bearer, sn, packet.sdu_bytes() as u64, now_ns) {
            Ok(count) => Ok(self.put(bearer, count, packet, poll)),
            Err(reason) => Err(Refused { packet, reason }),
        }
    }

    /// Keeps a packet that there is room for.
    fn put(&mut self, bearer: u32, count: u64, packet: P, poll: bool) -> Kept {
        let (bytes, now_ns) = (packet.sdu_bytes() as u64, self.now_ns);
        let Some(state) = self.bearers.get_mut(&bearer) else { return Kept { poll } };
        state.kept.insert(count, PlainPacket { packet, retx_count: None, missing: (0, 0) });
        state.next = count + 1;
        state.pdus += 1;
        state.bytes += bytes;
        let due = poll
            || state.config.poll_pdu.is_some_and(|most| state.pdus >= most.into())
            || state.config.poll_byte.is_some_and(|most| state.bytes >= most.into())
            || state.next - state.next_ack == state.config.window.into();
        if due {
            state.poll(now_ns);
        }
        Kept { poll: due }
    }

    /// As [`crate::RlcBuffer::status`], with what comes of it.
    pub fn status(&mut self, bearer: u32, pdu: &[u8]) -> (Result<Report, StatusFault>, Events<P>) {
        let Some(state) = self.bearers.get_mut(&bearer) else { return (Err(StatusFault::NoBearer), Vec::new()) };
        let status = match Status::new_checked(pdu, state.config.sn_length) {
            Ok(status) => status,
            Err(fault) => return (Err(fault), Vec::new()),
        };
        let Some(ack) = (state.next_ack..=state.next).find(|count| count % state.modulus() == u64::from(status.ack_sn())) else {
            let late = state.count(status.ack_sn()) < state.next_ack;
            return (Err(if late { StatusFault::Stale } else { StatusFault::OutsideWindow }), Vec::new());
        };
        // Each number that is named, with what of it.
        let mut named: Vec<(u64, Option<(u16, u16)>)> = Vec::new();
        let mut in_order = true;
        for nack in status.nacks() {
            let first = state.count(nack.sn);
            let last = first + u64::from(nack.range) - 1;
            if let Some((before, part)) = named.last() {
                let next_segment = first == *before && part.is_some() && nack.segment.is_some();
                in_order &= first > *before || next_segment;
            }
            for count in first..=last {
                let part =
                    nack.segment.map(|(start, end)| (if count == first { start } else { 0 }, if count == last { end } else { SO_END }));
                named.push((count, part));
            }
        }
        if !in_order {
            let whole: BTreeSet<u64> = named.iter().map(|(count, _)| *count).collect();
            named = whole.into_iter().map(|count| (count, None)).collect();
        }
        named.retain(|(count, _)| *count < state.next);
        let (mut report, mut events) = (Report::default(), Vec::new());
        let next_ack = state.next_ack;
        let missing: BTreeSet<u64> = named.iter().map(|(count, _)| *count).collect();
        let received: Vec<u64> = state.kept.range(..ack).map(|(count, _)| *count).filter(|count| !missing.contains(count)).collect();
        for count in received {
            let sn = state.sn(count);
            let Some(kept) = state.kept.remove(&count) else { continue };
            state.pending.retain(|pending| *pending != count);
            report.acknowledged += 1;
            events.push(Event::Acknowledged { key: Key { bearer, sn }, packet: kept.packet });
        }
        for (count, part) in named.into_iter().filter(|(count, _)| *count >= next_ack) {
            let mut part = part.unwrap_or((0, SO_END));
            let Some(kept) = state.kept.get(&count) else {
                report.absent += 1;
                continue;
            };
            if usize::from(part.0) >= kept.packet.sdu_bytes().max(1) || part.0 > part.1 {
                part = (0, SO_END);
            }
            if let Some(too_often) = state.consider(count, part) {
                report.nacked += 1;
                if too_often {
                    self.max_retransmissions += 1;
                    events.push(Event::MaxRetransmissions { key: Key { bearer, sn: state.sn(count) } });
                }
            }
        }
        if state.poll_sn < ack || missing.contains(&state.poll_sn) {
            state.started_ns = None;
        }
        state.next_ack = state.kept.range(..ack).next().map_or(ack, |(count, _)| *count);
        (Ok(report), events)
    }

    /// As [`crate::RlcBuffer::advance`].
    pub fn advance(&mut self, now_ns: u64) -> Events<P> {
        self.now_ns = self.now_ns.max(now_ns);
        let mut events = Vec::new();
        for (bearer, state) in &mut self.bearers {
            let Some(started_ns) = state.started_ns else { continue };
            if started_ns.div_ceil(1_000_000) + u64::from(state.config.poll_retransmit_ms) > self.now_ns / 1_000_000 {
                continue;
            }
            state.started_ns = None;
            (state.awaited, state.awaited_bytes) = (0, 0);
            let last = state.kept.keys().next_back().copied();
            if let Some(last) = last.filter(|_| state.pending.is_empty())
                && state.consider(last, (0, SO_END)) == Some(true)
            {
                self.max_retransmissions += 1;
                events.push(Event::MaxRetransmissions { key: Key { bearer: *bearer, sn: state.sn(last) } });
            }
        }
        events
    }

    /// What a bearer sends again next.
    pub fn next_of(&mut self, bearer: u32, now_ns: u64) -> Option<Retransmission<'_, P>> {
        let state = self.bearers.get_mut(&bearer)?;
        let count = state.pending.pop_front()?;
        self.now_ns = self.now_ns.max(now_ns);
        let poll = state.pending.is_empty();
        if poll {
            state.poll(self.now_ns);
        }
        let sn = state.sn(count);
        let kept = state.kept.get(&count)?;
        let end = if kept.missing.1 == SO_END { usize::MAX } else { usize::from(kept.missing.1) + 1 };
        let (start, end) = (usize::from(kept.missing.0), end.min(kept.packet.sdu_bytes()));
        Some(Retransmission { key: Key { bearer, sn }, start, end, poll, packet: &kept.packet })
    }

    /// As [`crate::RlcBuffer::discard`].
    pub fn discard(&mut self, bearer: u32, sn: u32) -> Option<P> {
        let state = self.bearers.get_mut(&bearer)?;
        let count = state.count(sn);
        state.pending.retain(|pending| *pending != count);
        state.kept.remove(&count).map(|kept| kept.packet)
    }
}

/// Bearers take turns by their numbers, where [`crate::RlcBuffer`] has them in the order in which something was asked for.
impl<P: Payload> Keeps<P> for PlainRlc<P> {
    fn new(bearers: usize, limits: Limits) -> Self {
        PlainRlc::new(bearers, limits)
    }

    fn add(&mut self, bearer: u32, config: BearerConfig) -> Result<(), BearerError> {
        self.add(bearer, config)
    }

    fn remove(&mut self, bearer: u32, events: &mut impl FnMut(Event<Key, P>)) -> bool {
        self.remove(bearer).map(|all| all.into_iter().for_each(events)).is_some()
    }

    fn keep_with(&mut self, bearer: u32, sn: u32, bytes: u64, poll: bool, now_ns: u64, make: impl FnOnce() -> P) -> Result<Kept, Reason> {
        let count = self.room(bearer, sn, bytes, now_ns)?;
        Ok(self.put(bearer, count, make(), poll))
    }

    fn reserve(&mut self, bearer: u32, bytes: u64, now_ns: u64) -> Result<u32, Reason> {
        self.reserve(bearer, bytes, now_ns)
    }

    fn claim(&mut self, bearer: u32, number: u32) {
        self.claim(bearer, number);
    }

    fn status(&mut self, bearer: u32, pdu: &[u8], events: &mut impl FnMut(Event<Key, P>)) -> Result<Report, StatusFault> {
        let (report, all) = self.status(bearer, pdu);
        all.into_iter().for_each(events);
        report
    }

    fn next_retransmission(&mut self, now_ns: u64) -> Option<Retransmission<'_, P>> {
        let pending = |(bearer, state): (&u32, &PlainBearer<P>)| state.is_pending().then_some(*bearer);
        let after = self.bearers.range(self.turn + 1..).find_map(pending);
        self.turn = after.or_else(|| self.bearers.iter().find_map(pending))?;
        self.next_of(self.turn, now_ns)
    }

    fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(Event<Key, P>)) {
        self.advance(now_ns).into_iter().for_each(events);
    }

    fn packet(&self, bearer: u32, sn: u32) -> Option<&P> {
        let state = self.bearers.get(&bearer)?;
        state.kept.get(&state.count(sn)).map(|kept| &kept.packet)
    }

    fn packets(&self) -> usize {
        self.packets()
    }

    fn next_sn(&self, bearer: u32) -> Option<u32> {
        self.next_sn(bearer)
    }
}
