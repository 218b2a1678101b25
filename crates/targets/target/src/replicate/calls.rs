//! Packets that stopped at a call of a service: to the service with them, and on with the program behind the call.

use super::{Arrival, Copies, ReplicatingLane, as_long_as};
use crate::{BURST, Returned};
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use program::{Bridge, BridgeCall, ServiceInfo};
use service::{Call, FIELDS_MAX, Outcome, Reason};

/// Where a service's request and answer are, behind the bridge.
pub(super) struct Called {
    request_len: usize,
    answer_len: usize,
}

impl Called {
    pub(super) fn new(info: &ServiceInfo) -> Called {
        Called { request_len: info.request_len().min(FIELDS_MAX), answer_len: info.answer_len().min(FIELDS_MAX) }
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

/// The tag of what was sent: nobody waits for it.
const SENT: u32 = Call::NO_TAG - 1;

/// What a call has come to.
enum End {
    Answered(Packet),
    Kept,
    Dropped(Packet, Verdict),
}

impl ReplicatingLane {
    /// The call that a stopped packet is at.
    pub(super) fn at_call(&self, packet: &Packet) -> Option<BridgeCall> {
        let bytes = packet.data();
        let long = bytes.len() >= self.bridge.len;
        long.then(|| self.bridge.kind.get(bytes) as u8).and_then(|kind| self.bridge.call(kind)).copied()
    }

    /// Calls services for the packets of the burst that have stopped, for all of one service together, and gives those that go on to the program
    /// again. Their places are in `again` then.
    pub(super) fn call_services(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let mut stopped = std::mem::take(&mut self.stopped);
        let (mut calls, mut order) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.order));
        self.again.clear();
        for service in 0..self.places.len() {
            for &i in &stopped {
                let Some(at) = self.at_call(&packets[i]).filter(|at| at.service.as_u32() as usize == service) else { continue };
                if !at.waits {
                    calls.push(self.copy_for(at, &packets[i]));
                    order.push(i);
                    continue;
                }
                let received = self.originals.get(i).cloned().unwrap_or_default();
                let waiting = Waiting { at, received, length: self.lengths[i], generation: 0, main: true, copy: false };
                let packet = std::mem::replace(&mut packets[i], Packet::void());
                calls.push(self.ask(packet, waiting));
                order.push(i);
            }
            if calls.is_empty() {
                continue;
            }
            self.call(service, &mut calls, now_ns);
            for (call, i) in calls.drain(..).zip(order.drain(..)) {
                if call.tag == SENT {
                    self.again.push(i);
                    continue;
                }
                match self.end(call) {
                    End::Answered(packet) => {
                        packets[i] = packet;
                        self.again.push(i);
                    }
                    End::Kept => verdicts[i] = Verdict::kept(),
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
    fn go_on(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
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
        self.inner.process(&mut burst, &mut ends[..n], now_ns);
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
        let (service, length) = (waiting.at.service.as_u32() as usize, waiting.length);
        if !waiting.at.waits {
            let mut burst = [self.copy_for(waiting.at, packet)];
            self.call(service, &mut burst, now_ns);
            return None;
        }
        let mut burst = [self.ask(std::mem::replace(packet, Packet::void()), waiting)];
        self.call(service, &mut burst, now_ns);
        let [call] = burst;
        match self.end(call) {
            End::Answered(answered) => {
                *packet = answered;
                None
            }
            End::Kept => Some(Verdict::kept()),
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
            if call.tag == SENT {
                continue;
            }
            let known = self.waiting.get(call.tag as usize).and_then(Option::as_ref);
            let Some(mut waiting) = known.cloned() else {
                let verdict = Verdict::drop(DropReason::SERVICE_LOST);
                into.push(Returned { packet: call.packet, verdict, copy: false });
                continue;
            };
            waiting.copy |= call.outcome == Outcome::Copy;
            let (mut packet, verdict) = match self.end(call) {
                End::Kept => continue,
                End::Dropped(packet, verdict) => (packet, verdict),
                End::Answered(mut packet) => {
                    let arrival = Arrival { port: packet.port, length: waiting.length, now_ns };
                    let verdict = self.run_here(&mut packet, now_ns);
                    packet.port = arrival.port;
                    self.polled = Some(waiting.copy);
                    let end = self.follow(copies, &mut packet, verdict, &waiting.received, (waiting.generation, waiting.main), arrival);
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

    /// A packet's call, to be answered.
    fn ask(&mut self, packet: Packet, waiting: Waiting) -> Call {
        let at = waiting.at;
        let (fields, payload) = (self.request(at, &packet), self.payload(at, &packet));
        let tag = match self.free.pop() {
            Some(tag) => tag,
            None => {
                self.waiting.push(None);
                self.waiting.len() as u32 - 1
            }
        };
        self.waiting[tag as usize] = Some(waiting);
        Call::new(packet, payload, fields, tag)
    }

    /// What a service is sent: a copy of the payload.
    fn copy_for(&self, at: BridgeCall, packet: &Packet) -> Call {
        let payload = &packet.data()[self.payload(at, packet)..];
        Call::new(Packet::new(payload, packet.port), 0, self.request(at, packet), SENT)
    }

    fn request(&self, at: BridgeCall, packet: &Packet) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        let request = packet.data()[self.bridge.len..].get(..self.places[at.service.as_u32() as usize].request_len).unwrap_or_default();
        fields[..request.len()].copy_from_slice(request);
        fields
    }

    fn payload(&self, at: BridgeCall, packet: &Packet) -> usize {
        let headers = self.bridge.headers.get(packet.data()) as usize;
        (self.bridge.len + at.len + headers).min(packet.len())
    }

    /// What has become of a packet that was asked for.
    fn end(&mut self, call: Call) -> End {
        let Some(slot) = self.waiting.get_mut(call.tag as usize) else {
            return End::Dropped(call.packet, Verdict::drop(DropReason::SERVICE_LOST));
        };
        let waiting = match call.outcome {
            Outcome::Kept => return End::Kept,
            // The packet itself is still there.
            Outcome::Copy => slot.clone(),
            _ => {
                let waiting = slot.take();
                if waiting.is_some() {
                    self.free.push(call.tag);
                }
                waiting
            }
        };
        let Call { mut packet, outcome, payload, fields, .. } = call;
        let reason = match (outcome, &waiting) {
            (Outcome::Answered | Outcome::Copy, Some(waiting)) if packet.len() >= payload as usize => {
                let place = &self.places[waiting.at.service.as_u32() as usize];
                let at = self.bridge.len + place.request_len;
                packet.data_mut()[at..at + place.answer_len].copy_from_slice(&fields[..place.answer_len]);
                return End::Answered(packet);
            }
            (Outcome::Dropped(reason), _) => reason_of(reason),
            // It has cut headers that are not its own, or it gives back what it did not have.
            _ => DropReason::SERVICE_LOST,
        };
        let mark = self.bridge.mark.filter(|_| packet.len() >= self.bridge.len).map_or(0, |m| m.get(packet.data()) as u32);
        End::Dropped(packet, Verdict { mark, ..Verdict::drop(reason) })
    }
}

/// The engine's name for a reason of the seam; a service's own reasons are told apart by its counters.
fn reason_of(reason: Reason) -> DropReason {
    match reason {
        Reason::FULL => DropReason::SERVICE_FULL,
        Reason::LOST => DropReason::SERVICE_LOST,
        Reason::DOWN => DropReason::SERVICE_DOWN,
        _ => DropReason::SERVICE_REFUSED,
    }
}
