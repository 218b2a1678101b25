//! Packets that stopped at a call of a service: to the service with them, and on with the program behind the call.

use super::{Arrival, Copies, ReplicatingLane, as_long_as};
use crate::{BURST, Returned};
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use program::{BitField, Bridge, BridgeCall, ServiceInfo};
use service::{Call, FIELDS_MAX, Outcome, Reason};
use std::collections::VecDeque;

/// Where a service's request and answer are, behind the bridge.
pub(super) struct Called {
    request_len: usize,
    answer_len: usize,
    /// Ones where the request is.
    mask: [u8; FIELDS_MAX],
}

impl Called {
    pub(super) fn new(info: &ServiceInfo) -> Called {
        let request_len = info.request_len().min(FIELDS_MAX);
        let mask = std::array::from_fn(|i| if i < request_len { 0xff } else { 0 });
        Called { request_len, answer_len: info.answer_len().min(FIELDS_MAX), mask }
    }

    /// Puts the answer's fields of a packet of the service's own in front of it: so it comes to the program.
    fn put_in_front(&self, call: &mut Call) {
        let (_, start, length) = call.packet.buffer_mut();
        // It has as much room in front of it as any.
        call.packet.set_window(start - self.answer_len, length + self.answer_len);
        call.packet.data_mut()[..self.answer_len].copy_from_slice(&call.fields[..self.answer_len]);
    }

    /// The request at the start of `bytes`, with zeros behind it.
    #[inline]
    fn request(&self, bytes: &[u8]) -> [u8; FIELDS_MAX] {
        // Of one length, and without a branch on it: a call that does nothing is measured in nanoseconds.
        if let Some(bytes) = bytes.first_chunk::<FIELDS_MAX>() {
            return std::array::from_fn(|i| bytes[i] & self.mask[i]);
        }
        let mut fields = [0; FIELDS_MAX];
        let request = bytes.get(..self.request_len).unwrap_or_default();
        fields[..request.len()].copy_from_slice(request);
        fields
    }
}

/// A field of a bridge that is read of each packet that stops.
#[derive(Clone, Copy)]
pub(super) struct Often {
    field: BitField,
    /// Of one of 1 or 2 whole bytes: the first.
    whole: Option<usize>,
}

impl Often {
    pub(super) fn new(field: BitField) -> Often {
        let is_whole = field.offset.is_multiple_of(8) && matches!(field.width, 8 | 16);
        Often { field, whole: is_whole.then_some(field.offset as usize / 8) }
    }

    /// Its low 16 bits.
    #[inline]
    pub(super) fn get(self, bytes: &[u8]) -> u16 {
        match (self.whole, self.field.width) {
            (Some(at), 8) => bytes[at].into(),
            (Some(at), _) => u16::from_be_bytes([bytes[at], bytes[at + 1]]),
            (None, _) => self.field.get(bytes) as u16,
        }
    }
}

/// What is known of a packet that a service has. Services keep millions: it is short, and nothing of it is elsewhere but where the program copies packets.
#[derive(Clone)]
pub(super) struct Waiting {
    /// The kind of the stop at the call that it waits for ([`Bridge::call`]).
    kind: u8,
    generation: u8,
    main: bool,
    /// Whether it is beside the packets that came in.
    copy: bool,
    /// Its length as received; and the packet, if the program copies packets.
    length: u32,
    received: Box<[u8]>,
}

const _: () = assert!(size_of::<Option<Waiting>>() == 24);

impl Waiting {
    /// Of a packet that came in as `received` is, and as long as that.
    pub(super) fn new(at: BridgeCall, received: &[u8], length: usize, (generation, main): (u8, bool), copy: bool) -> Waiting {
        Waiting { kind: at.kind, generation, main, copy, length: length as u32, received: received.into() }
    }
}

/// Packets that go on together behind the last calls that they make, each with what is known of it and the port that it came in by.
#[derive(Default)]
pub(super) struct Together {
    packets: Vec<Packet>,
    known: Vec<(Waiting, PortId)>,
}

/// Packets that a lane keeps to be sent again: of a burst, and of what comes back with it.
const SPARES: usize = 4 * BURST;

/// What a call has come to.
enum End {
    Answered(Packet),
    Dropped(Packet, Verdict),
}

impl ReplicatingLane {
    /// The call that a stopped packet is at.
    #[inline]
    pub(super) fn at_call(&self, packet: &Packet) -> Option<BridgeCall> {
        let bytes = packet.data();
        let long = bytes.len() >= self.bridge.len;
        long.then(|| self.kind.get(bytes) as u8).and_then(|kind| self.bridge.call(kind)).copied()
    }

    /// Calls services for the packets of the burst that have stopped, for all of one service together, and gives those that go on to the program
    /// again. Their places are in `again` then.
    ///
    /// One that has stopped further on than one ahead of it in the burst waits until that has gone on, and so do all behind it: none overtakes another.
    pub(super) fn call_services(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let mut stopped = std::mem::take(&mut self.stopped);
        stopped.sort_unstable_by_key(|(i, _)| *i);
        let later = stopped.windows(2).position(|pair| pair[1].1.kind > pair[0].1.kind).map_or(stopped.len(), |ahead| ahead + 1);
        let mut stopped_later = std::mem::take(&mut self.stopped_later);
        stopped_later.extend(stopped.drain(later..));
        let (mut calls, mut order) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.order));
        self.again.clear();
        for service in 0..self.places.len() {
            for &(i, at) in stopped.iter().filter(|(_, at)| at.service.as_u32() as usize == service) {
                let call = match at.waits {
                    true => self.ask(at, std::mem::replace(&mut packets[i], Packet::void())),
                    false => self.copy_for(at, &packets[i]),
                };
                calls.push(call);
                order.push((i, at));
            }
            if calls.is_empty() {
                continue;
            }
            self.call(service, &mut calls, now_ns);
            for (call, (i, at)) in calls.drain(..).zip(order.drain(..)) {
                if !at.waits {
                    self.spare(call.packet);
                    self.again.push(i);
                    continue;
                }
                if call.outcome == Outcome::Kept {
                    let received = self.originals.get(i).map_or(&[][..], Vec::as_slice);
                    let waiting = Waiting::new(at, received, self.lengths[i], (0, true), false);
                    self.waiting[call.tag as usize] = Some(waiting);
                    verdicts[i] = Verdict::kept();
                    continue;
                }
                self.free.push(call.tag);
                match self.end(call, at) {
                    End::Answered(packet) => {
                        packets[i] = packet;
                        self.again.push(i);
                    }
                    End::Dropped(mut packet, verdict) => {
                        as_long_as(&mut packet, self.lengths[i]);
                        (packets[i], verdicts[i]) = (packet, verdict);
                    }
                }
            }
        }
        stopped.clear();
        stopped.append(&mut stopped_later);
        (self.stopped, self.stopped_later, self.calls, self.order) = (stopped, stopped_later, calls, order);
        // They go on as a burst, in the order in which they came.
        self.again.sort_unstable();
        self.go_on(packets, verdicts, now_ns);
    }

    /// Gives the packets that `again` names to the program, together.
    pub(super) fn go_on(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let n = self.again.len();
        if n == 0 {
            return;
        }
        let mut burst = std::mem::take(&mut self.burst);
        let mut ports = [PortId::default(); BURST];
        for (&i, port) in self.again.iter().zip(&mut ports) {
            let mut packet = std::mem::replace(&mut packets[i], Packet::void());
            *port = std::mem::replace(&mut packet.port, Bridge::PORT);
            burst.push(packet);
        }
        let mut ends = [Verdict::default(); BURST];
        self.run_asking(&mut burst, &mut ends[..n], now_ns);
        for (((&i, mut packet), port), end) in self.again.iter().zip(burst.drain(..)).zip(ports).zip(ends) {
            packet.port = port;
            if end.kind == VerdictKind::Drop {
                as_long_as(&mut packet, self.lengths[i]);
            }
            (packets[i], verdicts[i]) = (packet, end);
        }
        self.burst = burst;
    }

    /// One packet to its service. Gives its end, or nothing if the program goes on with the packet.
    pub(super) fn call_one(&mut self, at: BridgeCall, packet: &mut Packet, waiting: Waiting, now_ns: u64) -> Option<Verdict> {
        let length = waiting.length as usize;
        let service = at.service.as_u32() as usize;
        if !at.waits {
            let mut burst = [self.copy_for(at, packet)];
            self.call(service, &mut burst, now_ns);
            let [call] = burst;
            self.spare(call.packet);
            return None;
        }
        let mut burst = [self.ask(at, std::mem::replace(packet, Packet::void()))];
        self.call(service, &mut burst, now_ns);
        let [call] = burst;
        if call.outcome == Outcome::Kept {
            self.waiting[call.tag as usize] = Some(waiting);
            return Some(Verdict::kept());
        }
        self.free.push(call.tag);
        match self.end(call, at) {
            End::Answered(answered) => {
                *packet = answered;
                None
            }
            End::Dropped(dropped, verdict) => {
                *packet = dropped;
                as_long_as(packet, length);
                Some(verdict)
            }
        }
    }

    /// What comes back from services goes through the rest of the program: together where that is all the same to what they come to, else one after the other.
    pub(super) fn poll_services(&mut self, copies: &Copies, now_ns: u64, into: &mut Vec<Returned>) {
        let mut back = std::mem::take(&mut self.calls);
        for (caller, place) in self.callers.iter_mut().zip(&self.places) {
            let before = back.len();
            caller.poll(now_ns, &mut back);
            let own = back[before..].iter_mut().filter(|call| call.tag == Call::OWN_TAG);
            own.for_each(|call| place.put_in_front(call));
        }
        // Not those of the last burst, if they have not been taken.
        let before = std::mem::take(&mut self.extra);
        let mut left = back.drain(..);
        while !left.as_slice().is_empty() {
            self.touch(&left.as_slice()[..left.len().min(BURST)]);
            for call in left.by_ref().take(BURST) {
                self.come_back(copies, call, now_ns, into);
            }
            self.go_on_together(copies, now_ns, into);
        }
        drop(left);
        self.extra = before;
        self.calls = back;
    }

    /// Reads what these will need and changes nothing: they were kept for long, and their cache misses overlap. Buffers of copies are written anew by the next burst.
    fn touch(&self, calls: &[Call]) {
        let mut sum = 0;
        for call in calls {
            sum ^= self.waiting.get(call.tag as usize).map_or(0, |waiting| u8::from(waiting.is_some()));
            // The bridge, and the headers behind it.
            sum ^= call.packet.data().iter().step_by(64).take(3).fold(0, |sum, byte| sum ^ byte);
        }
        std::hint::black_box(sum);
    }

    /// One call that comes back.
    fn come_back(&mut self, copies: &Copies, call: Call, now_ns: u64, into: &mut Vec<Returned>) {
        if call.tag == Call::SENT_TAG {
            self.spare(call.packet);
            return;
        }
        if call.tag == Call::OWN_TAG {
            return self.begin(copies, call.packet, now_ns, into);
        }
        let slot = self.waiting.get_mut(call.tag as usize);
        // Of a copy the packet itself is still there.
        let known = match call.outcome {
            Outcome::Copy => slot.and_then(|waiting| waiting.clone()),
            _ => slot.and_then(Option::take).inspect(|_| self.free.push(call.tag)),
        };
        let known = known.and_then(|waiting| self.bridge.call(waiting.kind).copied().map(|at| (at, waiting)));
        let Some((at, mut waiting)) = known else {
            self.go_on_together(copies, now_ns, into);
            let verdict = Verdict::drop(DropReason::SERVICE_LOST);
            into.push(Returned { packet: call.packet, verdict, copy: false });
            return;
        };
        waiting.copy |= call.outcome == Outcome::Copy;
        match self.end(call, at) {
            End::Answered(mut packet) => {
                if !at.is_last {
                    self.go_on_together(copies, now_ns, into);
                }
                let port = std::mem::replace(&mut packet.port, Bridge::PORT);
                self.together.packets.push(packet);
                self.together.known.push((waiting, port));
                if !at.is_last || self.together.packets.len() == BURST {
                    self.go_on_together(copies, now_ns, into);
                }
            }
            End::Dropped(packet, verdict) => {
                self.go_on_together(copies, now_ns, into);
                self.give_back(packet, verdict, &waiting, into);
            }
        }
    }

    /// A packet of a service's own, which begins its way.
    fn begin(&mut self, copies: &Copies, mut packet: Packet, now_ns: u64, into: &mut Vec<Returned>) {
        if self.one_by_one {
            self.go_on_together(copies, now_ns, into);
        }
        if self.room > 0 {
            packet.make_room(self.room);
        }
        let received = if self.keeps_originals { packet.data().into() } else { Box::default() };
        let known = Waiting { kind: 0, generation: 0, main: true, copy: true, length: packet.len() as u32, received };
        packet.port = PortId::SERVICES;
        self.together.packets.push(packet);
        self.together.known.push((known, PortId::SERVICES));
        if self.one_by_one || self.together.packets.len() == BURST {
            self.go_on_together(copies, now_ns, into);
        }
    }

    /// Gives the packets that wait for it to the program.
    fn go_on_together(&mut self, copies: &Copies, now_ns: u64, into: &mut Vec<Returned>) {
        let Together { mut packets, mut known } = std::mem::take(&mut self.together);
        if !packets.is_empty() {
            let mut ends = [Verdict::default(); BURST];
            self.run_asking(&mut packets, &mut ends[..known.len()], now_ns);
            for ((mut packet, verdict), (waiting, port)) in packets.drain(..).zip(ends).zip(known.drain(..)) {
                packet.port = port;
                if !self.stopped(&packet, &verdict) && waiting.received.is_empty() {
                    self.give_back(packet, verdict, &waiting, into);
                    continue;
                }
                let arrival = Arrival { port, length: waiting.length as usize, now_ns };
                self.polled = Some(waiting.copy);
                let of = (waiting.generation, waiting.main);
                let end = self.follow(copies, &mut packet, verdict, &waiting.received, of, arrival, VecDeque::new());
                self.polled = None;
                self.give_back(packet, end, &waiting, into);
                let made = self.extra.drain(..).filter(|x| x.verdict.kind != VerdictKind::Kept);
                into.extend(made.map(|x| Returned { packet: x.packet, verdict: x.verdict, copy: true }));
            }
        }
        self.together = Together { packets, known };
    }

    fn give_back(&mut self, mut packet: Packet, verdict: Verdict, waiting: &Waiting, into: &mut Vec<Returned>) {
        if verdict.kind == VerdictKind::Drop && !packet.is_void() {
            as_long_as(&mut packet, waiting.length as usize);
        }
        if verdict.kind != VerdictKind::Kept {
            into.push(Returned { packet, verdict, copy: waiting.copy });
        }
    }

    fn call(&mut self, service: usize, burst: &mut [Call], now_ns: u64) {
        match self.callers.get_mut(service) {
            Some(caller) => caller.call(burst, now_ns),
            None => burst.iter_mut().for_each(|call| call.drop_for(Reason::DOWN)),
        }
    }

    /// A packet's call, to be answered. Its tag has a place in `waiting`, which is empty until the service is known to keep the packet.
    fn ask(&mut self, at: BridgeCall, packet: Packet) -> Call {
        let (fields, payload) = (self.request(at, &packet), self.payload(at, &packet));
        let tag = match self.free.pop() {
            Some(tag) => tag,
            None => {
                self.waiting.push(None);
                self.waiting.len() as u32 - 1
            }
        };
        Call::new(packet, payload, fields, tag)
    }

    /// What a service is sent: a copy of the payload, in a buffer that was sent before if one is there.
    fn copy_for(&mut self, at: BridgeCall, packet: &Packet) -> Call {
        let payload = &packet.data()[self.payload(at, packet)..];
        let mut copy = copy_of(&mut self.spares, payload);
        copy.port = packet.port;
        Call::new(copy, 0, self.request(at, packet), Call::SENT_TAG)
    }

    /// Keeps the buffer of a packet that nobody wants any longer.
    fn spare(&mut self, packet: Packet) {
        keep_spare(&mut self.spares, packet);
    }

    #[inline]
    fn request(&self, at: BridgeCall, packet: &Packet) -> [u8; FIELDS_MAX] {
        self.places[at.service.as_u32() as usize].request(&packet.data()[self.bridge.len..])
    }

    fn payload(&self, at: BridgeCall, packet: &Packet) -> usize {
        let headers = usize::from(self.headers.get(packet.data()));
        (self.bridge.len + at.len + headers).min(packet.len())
    }

    /// What has become of a packet that is not kept; `at`: the call that it waited for.
    fn end(&self, call: Call, at: BridgeCall) -> End {
        let Call { mut packet, outcome, payload, fields, .. } = call;
        let reason = match outcome {
            Outcome::Answered | Outcome::Copy if packet.len() >= payload as usize => {
                let place = &self.places[at.service.as_u32() as usize];
                let at = self.bridge.len + place.request_len;
                // Answers are of a few bytes: a loop is faster than a call to copy them.
                packet.data_mut()[at..].iter_mut().zip(&fields[..place.answer_len]).for_each(|(to, from)| *to = *from);
                return End::Answered(packet);
            }
            Outcome::Dropped(reason) => reason_of(reason),
            // It has cut headers that are not its own.
            _ => DropReason::SERVICE_LOST,
        };
        let mark = self.bridge.mark.filter(|_| packet.len() >= self.bridge.len).map_or(0, |m| m.get(packet.data()) as u32);
        End::Dropped(packet, Verdict { mark, ..Verdict::drop(reason) })
    }
}

/// A copy for a service: in a buffer that comes from there, else in a small one, as it may be kept.
#[inline]
pub(super) fn copy_of(spares: &mut Vec<Packet>, payload: &[u8]) -> Packet {
    match spares.pop() {
        Some(mut copy) => {
            copy.set(payload);
            copy
        }
        None => Packet::compact(payload, PortId::default()),
    }
}

pub(super) fn keep_spare(spares: &mut Vec<Packet>, packet: Packet) {
    if !packet.is_void() && spares.len() < SPARES {
        spares.push(packet);
    }
}

/// The engine's name for a reason of the seam; a service's own reasons are told apart by its counters.
pub(super) fn reason_of(reason: Reason) -> DropReason {
    match reason {
        Reason::FULL => DropReason::SERVICE_FULL,
        Reason::LOST => DropReason::SERVICE_LOST,
        Reason::DOWN => DropReason::SERVICE_DOWN,
        _ => DropReason::SERVICE_REFUSED,
    }
}
