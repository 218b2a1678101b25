//! Services that are asked while the program runs: what they answer at once needs no bridge, and no second pass of parser and deparser.
//!
//! The headers stay where the program has them, and the service is given the payload alone, where it lies: it cannot reach what is in front of it. What is sent
//! and not waited for is a copy of the payload, if the service looks at it at all and does not answer at once. Any other call stops the program, as if nobody had asked: one that a
//! service may keep, or has declined because it must keep the packet, of a service that is on threads or in a second process, or of a packet without room for a
//! longer payload.
//!
//! Passes behind a call ask too: what was called before them is done.
//!
//! **No packet overtakes another one that has stopped.** One that stops holds up those behind it in the burst, whatever service they call from there on: they stop, too, and
//! services are called in the order of the packets (`calls.rs`). Two cases are outside of it: a service with [`Order::Any`] that declines a question may answer one behind it;
//! and of calls in different branches of a program only the text says which is "from there on".

use super::calls::{copy_of, keep_spare, reason_of};
use super::{ReplicatingLane, as_long_as};
use crate::{Asks, BURST};
use base::{DropReason, Packet, Verdict, VerdictKind};
use program::{Bridge, BridgeCall, Program, TableId};
use service::{Access, AtOnce, Call, Caller, FIELDS_MAX, GROWTH_MAX, Order, Outcome, Question, Requests};

/// Which calls may be asked, and what came of those of this burst.
pub(super) struct Asked {
    /// The look-ups that stand for calls, by the program's number of the table; of what else there is none.
    calls: Vec<Option<BridgeCall>>,
    /// By service: a packet of this burst has stopped at its call, so later ones may not be asked before it.
    held: Vec<bool>,
    stops: Stops,
    /// Packets of this burst whose service has dropped them.
    dropped: Vec<(usize, DropReason)>,
    /// What is sent together.
    burst: Vec<Call>,
}

/// Which packets of this burst have stopped, and where.
struct Stops {
    /// By packet: the kind of the stop; 0: none.
    of: [u8; BURST],
    any: bool,
}

impl Stops {
    fn clear(&mut self) {
        if std::mem::take(&mut self.any) {
            self.of.fill(0);
        }
    }

    fn note(&mut self, kind: u8, questions: &[Question<'_>]) {
        for question in questions {
            if let Some(of) = self.of.get_mut(question.packet as usize) {
                (*of, self.any) = (kind, true);
            }
        }
    }

    /// Whether a packet ahead of this one has stopped at a stop of this kind, or at one before it in the program.
    #[inline]
    fn is_late(&self, kind: u8, question: &Question<'_>) -> bool {
        self.any && self.of.iter().take(question.packet as usize).any(|of| (1..=kind).contains(of))
    }
}

impl Asked {
    pub(super) fn new(bridge: &Bridge, program: &Program) -> Asked {
        let mut calls = Vec::new();
        for at in bridge.stops().filter_map(|(kind, _)| bridge.call(kind)) {
            if let Some(table) = at.table {
                calls.resize(program.tables.len(), None);
                calls[table.as_u32() as usize] = Some(*at);
            }
        }
        Asked {
            calls,
            held: vec![false; program.services.len()],
            stops: Stops { of: [0; BURST], any: false },
            dropped: Vec::new(),
            burst: Vec::new(),
        }
    }
}

impl ReplicatingLane {
    /// Runs the program on packets as they came in.
    pub(super) fn run_burst(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        if self.room > 0 {
            packets.iter_mut().for_each(|packet| packet.make_room(self.room));
        }
        if self.run_asking(packets, verdicts, now_ns) {
            let dropped =
                packets.iter_mut().zip(&*verdicts).zip(&self.lengths).filter(|((_, verdict), _)| verdict.kind == VerdictKind::Drop);
            dropped.for_each(|((packet, _), length)| as_long_as(packet, *length));
        }
    }

    /// Runs the program on packets from its start, or from behind a call. Whether a service has dropped some of them: they are with their bridges, and the
    /// caller gives them the lengths that they had.
    pub(super) fn run_asking(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) -> bool {
        if self.callers.is_empty() || self.asked.calls.is_empty() {
            self.inner.process(packets, verdicts, now_ns);
            return false;
        }
        self.asked.held.fill(false);
        self.asked.stops.clear();
        let alone = packets.len() == 1;
        let mut asking = Asking { asked: &mut self.asked, callers: &mut self.callers, spares: &mut self.spares, alone, now_ns };
        self.inner.process_asking(packets, verdicts, now_ns, &mut asking);
        let dropped = !self.asked.dropped.is_empty();
        for at in 0..self.asked.dropped.len() {
            let (i, reason) = self.asked.dropped[at];
            // It has stopped, so it has a bridge.
            let bridged = self.stopped(&packets[i], &verdicts[i]);
            let mark = self.bridge.mark.filter(|_| bridged).map_or(verdicts[i].mark, |mark| mark.get(packets[i].data()) as u32);
            verdicts[i] = Verdict { mark, ..Verdict::drop(reason) };
        }
        self.asked.dropped.clear();
        dropped
    }
}

struct Asking<'a> {
    asked: &'a mut Asked,
    callers: &'a mut [Caller],
    spares: &'a mut Vec<Packet>,
    /// Whether one packet runs: its calls come in the program's order.
    alone: bool,
    now_ns: u64,
}

impl Asks for Asking<'_> {
    fn ask(&mut self, table: TableId, questions: &mut [Question<'_>], order: Order) {
        let Asked { calls, held, stops, dropped, burst } = &mut *self.asked;
        let Some(at) = calls.get(table.as_u32() as usize).copied().flatten() else { return };
        let service = at.service.as_u32() as usize;
        let (Some(caller), Some(held)) = (self.callers.get_mut(service), held.get_mut(service)) else { return };
        // Up to the first that is behind one that has stopped on its way here.
        let n = questions.iter().position(|question| stops.is_late(at.kind, question)).unwrap_or(questions.len());
        let (rest, late) = questions.split_at_mut(n);
        stops.note(at.kind, late);
        let AtOnce { requests, order: needed } = caller.at_once();
        let strict = needed != Order::Any;
        let was_held = std::mem::replace(held, *held || !late.is_empty());
        // Where their order matters calls are made in the order of the packets.
        if strict && (was_held || !(order >= needed || self.alone)) {
            return stops.note(at.kind, rest);
        }
        if !at.waits {
            // What reads its payload where that lies may not change it.
            let access = caller.interface().access;
            let in_place = |question: &Question<'_>| is_named(requests, &question.fields) && access(&question.fields) != Access::Write;
            if !rest.iter().all(in_place) {
                return send(caller, rest, burst, self.spares, self.now_ns);
            }
            caller.answer(rest, self.now_ns);
            // Nothing comes back of those that are answered, whatever has become of them.
            for run in rest.chunk_by_mut(|a, b| (a.outcome == Outcome::Pending) == (b.outcome == Outcome::Pending)) {
                match run[0].outcome {
                    Outcome::Pending => send(caller, run, burst, self.spares, self.now_ns),
                    _ => run.iter_mut().for_each(|question| question.outcome = Outcome::Answered),
                }
            }
            return;
        }
        let access = caller.interface().access;
        let may = |question: &Question<'_>| {
            let short = question.room.len() < question.len as usize + GROWTH_MAX;
            !(short && access(&question.fields) == Access::Write) && is_named(requests, &question.fields)
        };
        // Those in a row that may be asked are asked together: all of them, as a rule. Behind one that stops none is.
        let n = rest.iter().position(|question| !may(question)).unwrap_or(rest.len());
        let (asked, behind) = rest.split_at_mut(n);
        let mut declined = false;
        if n > 0 {
            caller.answer(asked, self.now_ns);
            for question in &*asked {
                match question.outcome {
                    Outcome::Answered => {}
                    Outcome::Pending => {
                        declined = true;
                        stops.note(at.kind, std::slice::from_ref(question));
                    }
                    Outcome::Dropped(reason) => dropped.push((question.packet as usize, reason_of(reason))),
                    // It has said that it keeps none such.
                    _ => dropped.push((question.packet as usize, DropReason::SERVICE_LOST)),
                }
            }
        }
        *held |= declined || !behind.is_empty();
        stops.note(at.kind, behind);
    }
}

#[inline]
fn is_named(requests: Requests, fields: &[u8; FIELDS_MAX]) -> bool {
    match requests {
        Requests::All => true,
        Requests::None => false,
        Requests::Those(these) => these(fields),
    }
}

/// What is not waited for: the program goes on, whatever comes of it.
fn send(caller: &mut Caller, questions: &mut [Question<'_>], burst: &mut Vec<Call>, spares: &mut Vec<Packet>, now_ns: u64) {
    let access = caller.interface().access;
    burst.extend(questions.iter_mut().map(|question| {
        question.outcome = Outcome::Answered;
        let mut packet = Packet::void();
        if access(&question.fields) != Access::None {
            packet = copy_of(spares, question.payload());
        }
        packet.port = question.port;
        let mut call = Call::new(packet, 0, question.fields, Call::SENT_TAG);
        call.payload_len = question.len;
        call
    }));
    caller.call(burst, now_ns);
    burst.drain(..).for_each(|call| keep_spare(spares, call.packet));
}
