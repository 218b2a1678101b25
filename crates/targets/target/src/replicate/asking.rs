//! Services that are asked while the program runs: what they answer at once needs no bridge, and no second pass of parser and deparser.
//!
//! The headers stay where the program has them. A service sees the payload alone: none if it does not look at it, else a copy, which goes back into the packet if the
//! service may change it. So whatever a service does with what it is given, the lane's packets stay the lane's. Any other call stops the program, as if nobody had
//! asked: one that a service may keep, of a service that is on threads or in a second process, or of a packet without room for a longer payload.

use super::calls::{SENT, keep_spare, reason_of};
use super::{ReplicatingLane, as_long_as};
use crate::{Asks, BURST, Question};
use base::{DropReason, Packet, Verdict};
use program::{Bridge, BridgeCall, Program, TableId};
use service::{Access, Call, Caller, GROWTH_MAX, Outcome};

/// Which calls may be asked, and what came of those of this burst.
pub(super) struct Asked {
    /// The look-ups that stand for calls.
    calls: Vec<(TableId, BridgeCall)>,
    /// By service: a packet of this burst has stopped at its call, so later ones may not be asked before it.
    held: Vec<bool>,
    /// Packets of this burst whose service has dropped them.
    dropped: Vec<(usize, DropReason)>,
    /// The calls that are asked together, and the questions that they are of.
    burst: Vec<Call>,
    of: Vec<usize>,
}

impl Asked {
    pub(super) fn new(bridge: &Bridge, program: &Program) -> Asked {
        let calls = bridge.stops().filter_map(|(kind, _)| bridge.call(kind)).filter_map(|call| Some((call.table?, *call))).collect();
        Asked { calls, held: vec![false; program.services.len()], dropped: Vec::new(), burst: Vec::new(), of: Vec::new() }
    }
}

impl ReplicatingLane {
    /// Runs the program on packets as they came in.
    pub(super) fn run_burst(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        if self.callers.is_empty() || self.asked.calls.is_empty() {
            return self.inner.process(packets, verdicts, now_ns);
        }
        self.asked.held.fill(false);
        let mut asking = Asking { asked: &mut self.asked, callers: &mut self.callers, spares: &mut self.spares, now_ns };
        self.inner.process_asking(packets, verdicts, now_ns, &mut asking);
        for (i, reason) in std::mem::take(&mut self.asked.dropped) {
            let (packet, verdict) = (&mut packets[i], &mut verdicts[i]);
            // It has stopped, so it has a bridge.
            let bridged = self.stopped(packet, verdict);
            let mark = self.bridge.mark.filter(|_| bridged).map_or(verdict.mark, |mark| mark.get(packet.data()) as u32);
            *verdict = Verdict { mark, ..Verdict::drop(reason) };
            as_long_as(packet, self.lengths[i]);
        }
    }
}

struct Asking<'a> {
    asked: &'a mut Asked,
    callers: &'a mut [Caller],
    spares: &'a mut Vec<Packet>,
    now_ns: u64,
}

impl Asks for Asking<'_> {
    fn ask(&mut self, table: TableId, questions: &mut [Question<'_>]) {
        let Asked { calls, held, dropped, burst, of } = &mut *self.asked;
        let Some((_, at)) = calls.iter().find(|(of, _)| *of == table) else { return };
        let service = at.service.as_u32() as usize;
        let Some(caller) = self.callers.get_mut(service) else { return };
        // Where their order matters calls are made in the order of the packets: those of several places would not be.
        let at_once = caller.at_once();
        let in_order = !at_once.any_order;
        if in_order && calls.iter().filter(|(_, call)| call.service == at.service).count() > 1 {
            return;
        }
        let access = caller.interface().access;
        for (i, question) in questions.iter().enumerate() {
            if held[service] {
                break;
            }
            let access = access(&question.fields);
            let has_room = access != Access::Write || !at.waits || question.room.len() >= question.len + GROWTH_MAX;
            if at.waits && !(has_room && (at_once.request)(&question.fields)) {
                held[service] = in_order;
                continue;
            }
            let mut packet = Packet::void();
            if access != Access::None {
                packet = self.spares.pop().unwrap_or_else(|| Packet::empty(BURST));
                packet.set(&question.room[..question.len]);
            }
            packet.port = question.port;
            let mut call = Call::new(packet, 0, question.fields, SENT);
            call.payload_len = question.len as u32;
            burst.push(call);
            of.push(i);
        }
        if burst.is_empty() {
            return;
        }
        caller.call(burst, self.now_ns);
        for (call, i) in burst.drain(..).zip(of.drain(..)) {
            let question = &mut questions[i];
            let Call { packet, outcome, fields, .. } = call;
            if at.waits {
                let written = packet.data();
                match outcome {
                    Outcome::Answered if written.len() <= question.room.len() => {
                        if access(&question.fields) == Access::Write {
                            question.room[..written.len()].copy_from_slice(written);
                            question.len = written.len();
                        }
                        (question.fields, question.answered) = (fields, true);
                    }
                    Outcome::Dropped(reason) => dropped.push((question.packet, reason_of(reason))),
                    // It has said that it keeps none such, or lets none grow so much.
                    _ => dropped.push((question.packet, DropReason::SERVICE_LOST)),
                }
            } else {
                question.answered = true;
            }
            keep_spare(self.spares, packet);
        }
    }
}
