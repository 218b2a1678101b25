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

/// What is known of a packet that a service has.
#[derive(Clone)]
pub(super) struct Waiting {
    /// The call that it waits for.
    pub at: BridgeCall,
    /// The packet as received, if the program copies packets; its length in any case.
    pub received: Vec<u8>,
    pub length: usize,
    pub generation: u8,
    pub main: bool,
    /// Whether it is beside the packets that came in.
    pub copy: bool,
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
    pub(super) fn call_services(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let mut stopped = std::mem::take(&mut self.stopped);
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
                    let received = self.originals.get(i).cloned().unwrap_or_default();
                    let waiting = Waiting { at, received, length: self.lengths[i], generation: 0, main: true, copy: false };
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
        (self.stopped, self.calls, self.order) = (stopped, calls, order);
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
    pub(super) fn call_one(&mut self, packet: &mut Packet, waiting: Waiting, now_ns: u64) -> Option<Verdict> {
        let (at, length) = (waiting.at, waiting.length);
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

    /// What comes back from services goes through the rest of the program.
    pub(super) fn poll_services(&mut self, copies: &Copies, now_ns: u64, into: &mut Vec<Returned>) {
        let mut back = std::mem::take(&mut self.calls);
        self.callers.iter_mut().for_each(|caller| caller.poll(now_ns, &mut back));
        // Not those of the last burst, if they have not been taken.
        let before = std::mem::take(&mut self.extra);
        for call in back.drain(..) {
            if call.tag == Call::SENT_TAG {
                self.spare(call.packet);
                continue;
            }
            let slot = self.waiting.get_mut(call.tag as usize);
            // Of a copy the packet itself is still there.
            let known = match call.outcome {
                Outcome::Copy => slot.and_then(|waiting| waiting.clone()),
                _ => slot.and_then(Option::take).inspect(|_| self.free.push(call.tag)),
            };
            let Some(mut waiting) = known else {
                let verdict = Verdict::drop(DropReason::SERVICE_LOST);
                into.push(Returned { packet: call.packet, verdict, copy: false });
                continue;
            };
            waiting.copy |= call.outcome == Outcome::Copy;
            let (mut packet, verdict) = match self.end(call, waiting.at) {
                End::Dropped(packet, verdict) => (packet, verdict),
                End::Answered(mut packet) => {
                    let arrival = Arrival { port: packet.port, length: waiting.length, now_ns };
                    let verdict = self.run_here(&mut packet, now_ns);
                    packet.port = arrival.port;
                    self.polled = Some(waiting.copy);
                    let end = self.follow(
                        copies,
                        &mut packet,
                        verdict,
                        &waiting.received,
                        (waiting.generation, waiting.main),
                        arrival,
                        VecDeque::new(),
                    );
                    self.polled = None;
                    (packet, end)
                }
            };
            if verdict.kind == VerdictKind::Drop && !packet.is_void() {
                as_long_as(&mut packet, waiting.length);
            }
            if verdict.kind != VerdictKind::Kept {
                into.push(Returned { packet, verdict, copy: waiting.copy });
            }
            let made = self.extra.drain(..).filter(|x| x.verdict.kind != VerdictKind::Kept);
            into.extend(made.map(|x| Returned { packet: x.packet, verdict: x.verdict, copy: true }));
        }
        self.extra = before;
        self.calls = back;
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
        let mut copy = self.spares.pop().unwrap_or_else(|| Packet::empty(payload.len()));
        copy.set(payload);
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
