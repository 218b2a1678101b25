//! Calls of services, and clones, multicast, resubmission and recirculation (v1model; PSA, `replicate/switch.rs`), on a target that knows nothing of them; and what goes to another
//! stage of a chain of targets.
//!
//! The target runs a program that the compiler has cut: it stops where a service is called and where a packet is to be copied or sent round, and
//! says with a [`Bridge`] in front of the packet what is wanted. Here services are called, a burst at a time (`replicate/calls.rs`), and the copies are
//! made, as clone sessions and multicast groups say; then the packets are given to the program again. Where a stage of a chain ends
//! the packet leaves with [`base::VerdictKind::Resume`], and the chain gives it to another lane of the same program. What comes out is what the reference interpreter gives (its `run/replicate.rs` has the
//! rules), but for packets so long that they do not fit with a bridge in front: they are dropped with `NO_HEADROOM`.

mod asking;
mod calls;
mod clones;
mod switch;

use crate::{BURST, Capabilities, Count, Counted, Extra, Facets, Lane, Rates, Returned, TableStats, Target};
use asking::Asked;
use base::{DropReason, HEADROOM, MAX_PACKET, Packet, PortId, Verdict, VerdictKind};
use calls::{Called, Often, Together, Waiting};
use clones::Cloned;
use program::{ApplyError, Batch, BitField, Bridge, BridgeCall, CounterId, MeterId, Mirror, Op, Program, Replica, ServiceId, TableId};
use service::{Call, Caller, Deployment, Mismatch, Order};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

/// As in the reference interpreter: most passes that one received packet makes in all.
const MAX_PASSES: usize = 1024;
/// As in the reference interpreter: most times that a packet and its copies are sent round or cloned in a row.
const MAX_GENERATIONS: u8 = 16;

/// Bytes by which a packet's headers may grow in front of it, besides its bridge.
const GROWTH: usize = 32;

/// A pass stops at the end of ingress and of egress, and then it is done; and at each call of a service at most once.
const MAX_STOPS: usize = 3 + Bridge::MAX_STOPS;

/// Every place of a burst.
const ALL: [usize; BURST] = {
    let mut all = [0; BURST];
    let mut i = 0;
    while i < BURST {
        all[i] = i;
        i += 1;
    }
    all
};

/// A target with a cut program, as one with the whole.
pub struct Replicating<T> {
    inner: T,
    bridge: Arc<Bridge>,
    copies: Arc<RwLock<Copies>>,
    /// By the program's numbers.
    services: Vec<Arc<Deployment>>,
}

/// Why services cannot be given to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServicesError {
    /// The program calls one that is not there.
    #[error("the program calls service {0}, which is not configured")]
    Missing(String),
    /// It has other fields.
    #[error(transparent)]
    Fields(#[from] Mismatch),
}

/// Where copies go: control-plane state.
#[derive(Default)]
struct Copies {
    mirrors: HashMap<u32, Mirror>,
    groups: HashMap<u16, Vec<Replica>>,
}

impl<T: Target> Replicating<T> {
    /// `inner` runs the cut program that `bridge` belongs to.
    pub fn new(inner: T, bridge: Bridge) -> Replicating<T> {
        Replicating { inner, bridge: Arc::new(bridge), copies: Arc::default(), services: Vec::new() }
    }

    /// Gives the program its services, by their names. Without one a packet that calls it is dropped with `SERVICE_DOWN`.
    ///
    /// # Errors
    /// If one that the program calls is not among them, or has other fields.
    pub fn with_services(mut self, all: &[Arc<Deployment>]) -> Result<Replicating<T>, ServicesError> {
        let program = self.inner.program().clone();
        let mut services = Vec::new();
        for info in program.services.values() {
            let found = all.iter().find(|d| d.interface().name == info.name);
            let deployment = found.ok_or_else(|| ServicesError::Missing(info.name.clone()))?;
            deployment
                .interface()
                .check(info.request.iter().map(|f| (f.name.as_str(), f.width)), info.answer.iter().map(|f| (f.name.as_str(), f.width)))?;
            services.push(deployment.clone());
        }
        self.services = services;
        Ok(self)
    }
}

impl<T: Target> Target for Replicating<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn program(&self) -> &Arc<Program> {
        self.inner.program()
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        for (i, op) in batch.ops.iter().enumerate() {
            self.program().check_op(i, op)?;
        }
        let rest = batch.ops.iter().enumerate().filter(|(_, op)| !is_of_copies(op));
        let (at, ops): (Vec<usize>, Vec<Op>) = rest.map(|(i, op)| (i, op.clone())).unzip();
        if ops.is_empty() {
            return Ok(());
        }
        self.inner.check(&Batch { ops }).map_err(|e| e.renumbered(|i| at.get(i).copied().unwrap_or(i)))
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_with(batch, T::apply)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_with(batch, T::apply_deferred)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        let program = self.program();
        let callers: Vec<Caller> = self.services.iter().map(|s| s.caller()).collect();
        let in_order = |service: &ServiceId| callers.get(service.as_u32() as usize).is_some_and(|c| c.at_once().order == Order::Packets);
        // Whether a later packet may write a register first.
        let overtakes = self.bridge.written_behind.iter().any(|services| !services.iter().any(in_order));
        Box::new(ReplicatingLane {
            inner: self.inner.lane(index),
            bridge: self.bridge.clone(),
            kind: Often::new(self.bridge.kind),
            headers: Often::new(self.bridge.headers),
            places: program.services.values().map(Called::new).collect(),
            copies: self.copies.clone(),
            callers,
            room: if self.bridge.len + GROWTH > HEADROOM { self.bridge.len + GROWTH } else { 0 },
            // What one packet leaves in a register the next one sees: copies included, in order.
            one_by_one: program.stages.is_empty() && (self.bridge.state_behind_stops || overtakes),
            keeps_originals: self.bridge.clone.width > 0,
            originals: Vec::new(),
            cloned: Vec::new(),
            whole: Vec::new(),
            lengths: [0; BURST],
            stopped: Vec::new(),
            stopped_later: Vec::new(),
            asked: Asked::new(&self.bridge, program),
            calls: Vec::new(),
            order: Vec::new(),
            again: Vec::new(),
            burst: Vec::new(),
            spares: Vec::new(),
            polled: None,
            waiting: Vec::new(),
            free: Vec::new(),
            together: Together::default(),
            extra: Vec::new(),
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        self.inner.counter(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        self.inner.table_stats(table)
    }

    /// Those of the target alone: where copies go is known here, and is not lost with it.
    fn facets(&self) -> Facets<'_> {
        let Facets { ahead, recovery, meters, registers, digests, tables } = self.inner.facets();
        Facets { ahead, recovery, meters, registers, digests, tables }
    }
}

impl<T: Target> Replicating<T> {
    /// Applies a batch, what the target knows of it by `apply`.
    fn apply_with(&self, batch: &Batch, apply: impl FnOnce(&T, &Batch) -> Result<(), ApplyError>) -> Result<(), ApplyError> {
        for (i, op) in batch.ops.iter().enumerate() {
            self.program().check_op(i, op)?;
        }
        let (own, rest): (Vec<_>, Vec<_>) = batch.ops.iter().enumerate().partition(|(_, op)| is_of_copies(op));
        // Lanes hold it for a burst, so they see all of the batch or nothing.
        let mut copies = self.copies.write().unwrap_or_else(PoisonError::into_inner);
        if !rest.is_empty() {
            let ops = rest.iter().map(|(_, op)| (*op).clone()).collect();
            apply(&self.inner, &Batch { ops }).map_err(|e| e.renumbered(|i| rest.get(i).map_or(i, |(at, _)| *at)))?;
        }
        for (_, op) in own {
            match op {
                Op::Mirror { session, to: Some(to) } => drop(copies.mirrors.insert(*session, *to)),
                Op::Mirror { session, to: None } => drop(copies.mirrors.remove(session)),
                Op::Multicast { group, replicas } => drop(copies.groups.insert(*group, replicas.clone())),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether it says where copies go, which the target itself does not know.
fn is_of_copies(op: &Op) -> bool {
    matches!(op, Op::Mirror { .. } | Op::Multicast { .. })
}

struct ReplicatingLane {
    inner: Box<dyn Lane>,
    bridge: Arc<Bridge>,
    /// Of the bridge: where the program stopped, and how long the headers are behind it.
    kind: Often,
    headers: Often,
    /// Each service's request and answer.
    places: Vec<Called>,
    copies: Arc<RwLock<Copies>>,
    /// Each service's lane; none if there are no services.
    callers: Vec<Caller>,
    one_by_one: bool,
    /// Bytes free in front of a packet that a long bridge needs; 0 if what ports leave will do.
    room: usize,
    /// Whether the program copies packets, for which it needs them as they came.
    keeps_originals: bool,
    /// The burst as received.
    originals: Vec<Vec<u8>>,
    /// Packets of the burst that were cloned.
    cloned: Vec<Cloned>,
    /// Where a clone's bytes are put together.
    whole: Vec<u8>,
    /// Its lengths.
    lengths: [usize; BURST],
    /// Packets of the burst that have stopped, each with its call.
    stopped: Vec<(usize, BridgeCall)>,
    /// Packets that have stopped, and wait until those ahead of them have gone on.
    stopped_later: Vec<(usize, BridgeCall)>,
    /// What is asked while a burst runs.
    asked: Asked,
    /// Their calls, and whose they are.
    calls: Vec<Call>,
    order: Vec<(usize, BridgeCall)>,
    /// Packets of the burst that go on behind a call.
    again: Vec<usize>,
    burst: Vec<Packet>,
    /// Buffers for copies that are sent.
    spares: Vec<Packet>,
    /// While a packet goes on that a service has given back: whether it is beside those that came in.
    polled: Option<bool>,
    /// What is known of a packet that a service has, by tag.
    waiting: Vec<Option<Waiting>>,
    free: Vec<u32>,
    /// Packets that services have given back, on their way.
    together: Together,
    extra: Vec<Extra>,
}

/// A pass that is still to be made.
struct Pass {
    main: bool,
    generation: u8,
    /// Length of the packet that the pass began with: of a copy made in egress, that of the pass that asked for it.
    length: usize,
    /// With its bridge.
    bytes: Vec<u8>,
}

/// What a pass and its descendants see of the packet's arrival, whatever the program has written in its place.
#[derive(Clone, Copy)]
struct Arrival {
    port: PortId,
    length: usize,
    now_ns: u64,
}

impl Lane for ReplicatingLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        let copies = self.copies.clone();
        let copies = copies.read().unwrap_or_else(PoisonError::into_inner);
        self.extra.clear();
        let step = if self.one_by_one { 1 } else { BURST };
        for (packets, verdicts) in packets.chunks_mut(step).zip(verdicts.chunks_mut(step)) {
            self.note_arrival(packets);
            self.run_burst(packets, verdicts, now_ns);
            self.look_at(&copies, &ALL[..packets.len()], packets, verdicts, now_ns);
            while !self.stopped.is_empty() {
                self.call_services(packets, verdicts, now_ns);
                let again = std::mem::take(&mut self.again);
                self.look_at(&copies, &again, packets, verdicts, now_ns);
                self.again = again;
            }
        }
    }

    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        into.append(&mut self.extra);
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        let copies = self.copies.clone();
        let copies = copies.read().unwrap_or_else(PoisonError::into_inner);
        self.poll_services(&copies, now_ns, into);
    }

    fn next_poll_ns(&self) -> Option<u64> {
        self.callers.iter().filter_map(Caller::next_deadline_ns).min()
    }

    /// A packet waits before its first stop alone: it is as it came in then.
    fn shape(&mut self, meter: MeterId) -> bool {
        self.inner.shape(meter)
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        self.inner.count(counter, more)
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        self.inner.with_rates(work);
    }

    crate::lane_without!(process_asking, ran_by);
}

impl ReplicatingLane {
    /// Notes what a burst is like before the program changes it.
    fn note_arrival(&mut self, packets: &[Packet]) {
        for (packet, length) in packets.iter().zip(&mut self.lengths) {
            *length = packet.len();
        }
        if !self.keeps_originals {
            return;
        }
        self.originals.resize_with(self.originals.len().max(packets.len()), Vec::new);
        for (packet, original) in packets.iter().zip(&mut self.originals) {
            original.clear();
            original.extend_from_slice(packet.data());
        }
    }

    /// Looks at a packet of the burst that comes from the program: one that stopped at a call waits for the others, any other stop is seen to at once.
    fn look(&mut self, copies: &Copies, i: usize, packet: &mut Packet, verdict: &mut Verdict, now_ns: u64) {
        if !self.stopped(packet, verdict) {
            return;
        }
        if let Some(at) = self.at_call(packet) {
            self.stopped.push((i, at));
            return;
        }
        // It goes on in another lane.
        if let Some(stage) = self.bridge.stage(self.kind.get(packet.data()) as u8) {
            *verdict = Verdict::resume(stage);
            return;
        }
        let original = self.originals.get_mut(i).map(std::mem::take).unwrap_or_default();
        let arrival = Arrival { port: packet.port, length: self.lengths[i], now_ns };
        *verdict = self.follow(copies, packet, *verdict, &original, (0, true), arrival, VecDeque::new());
        if let Some(place) = self.originals.get_mut(i) {
            *place = original;
        }
    }

    /// Whether the program has stopped and wants something done.
    #[inline]
    fn stopped(&self, packet: &Packet, verdict: &Verdict) -> bool {
        verdict.kind == VerdictKind::Forward
            && verdict.port == Bridge::PORT.0
            && verdict.reason == self.bridge.stop_reason
            && packet.len() >= self.bridge.len
    }

    /// All passes that come of a packet that stopped, and those that wait in `queue` already; its result is left in `packet`.
    #[allow(clippy::too_many_arguments)]
    fn follow(
        &mut self,
        copies: &Copies,
        packet: &mut Packet,
        verdict: Verdict,
        original: &[u8],
        (generation, main): (u8, bool),
        arrival: Arrival,
        mut queue: VecDeque<Pass>,
    ) -> Verdict {
        // What the packet becomes if it was sent on and then lost.
        let mut result = Verdict::default();
        let mut out: Option<Packet> = None;
        if let Some(end) = self.resume(copies, packet, verdict, original, (generation, main), arrival, &mut queue) {
            result = end;
            out = Some(std::mem::replace(packet, Packet::void()));
        }
        if let Some((last, end)) = self.passes(copies, queue, 1, main, arrival) {
            (result, out) = (end, Some(last));
        }
        match out {
            Some(p) if result.kind != VerdictKind::Drop => *packet = p,
            // A dropped packet is as long as it came.
            _ => {
                packet.set(original);
                as_long_as(packet, arrival.length);
            }
        }
        packet.port = arrival.port;
        result
    }

    /// Makes passes until none is left, after `made`; the end of the packet itself, if it is among them. Others are beside it.
    fn passes(
        &mut self,
        copies: &Copies,
        mut queue: VecDeque<Pass>,
        mut made: usize,
        main: bool,
        arrival: Arrival,
    ) -> Option<(Packet, Verdict)> {
        let mut last = None;
        while let Some(pass) = queue.pop_front() {
            made += 1;
            let mut copy = Packet::empty(0);
            let end = if made > MAX_PASSES || pass.generation > MAX_GENERATIONS {
                Some(Verdict::drop(DropReason::TARGET_FAILED))
            } else if pass.bytes.len() > MAX_PACKET {
                Some(Verdict::drop(DropReason::NO_HEADROOM))
            } else {
                let verdict = self.run(&mut copy, &pass.bytes, arrival.now_ns);
                copy.port = arrival.port;
                let received = &pass.bytes[self.bridge.len..];
                let arrival = Arrival { length: pass.length, ..arrival };
                self.resume(copies, &mut copy, verdict, received, (pass.generation, pass.main && main), arrival, &mut queue)
            };
            let Some(end) = end else { continue };
            copy.port = arrival.port;
            if pass.main {
                last = Some((copy, end));
            } else {
                self.extra.push(Extra { packet: copy, verdict: end });
            }
        }
        last
    }

    fn run(&mut self, packet: &mut Packet, bytes: &[u8], now_ns: u64) -> Verdict {
        packet.set(bytes);
        self.run_here(packet, now_ns)
    }

    /// Gives a packet with a bridge to the program, where it is.
    fn run_here(&mut self, packet: &mut Packet, now_ns: u64) -> Verdict {
        packet.port = Bridge::PORT;
        let mut verdict = [Verdict::default()];
        self.run_asking(std::slice::from_mut(packet), &mut verdict, now_ns);
        verdict[0]
    }

    /// Does what a stopped pass requests and resumes it; returns its end, or nothing if it continues as another pass.
    #[allow(clippy::too_many_arguments)]
    fn resume(
        &mut self,
        copies: &Copies,
        packet: &mut Packet,
        mut verdict: Verdict,
        received: &[u8],
        (generation, main): (u8, bool),
        arrival: Arrival,
        queue: &mut VecDeque<Pass>,
    ) -> Option<Verdict> {
        let b = self.bridge.clone();
        let later = |queue: &mut VecDeque<Pass>, main: bool, length: usize, bytes: Vec<u8>| {
            if queue.len() < MAX_PASSES {
                queue.push_back(Pass { main, generation: generation + 1, length, bytes });
            }
        };
        for _ in 0..MAX_STOPS {
            if !self.stopped(packet, &verdict) {
                return Some(verdict);
            }
            if let Some(switch) = &b.switch {
                return self.behind_pipe(switch, copies, packet, received, (generation, main), arrival, queue);
            }
            let kind = b.kind.get(packet.data()) as u8;
            if let Some(at) = self.at_call(packet) {
                packet.port = arrival.port;
                let copy = self.polled.is_some_and(|copy| copy || !main);
                let waiting = Waiting::new(at, received, arrival.length, (generation, main), copy);
                match self.call_one(at, packet, waiting, arrival.now_ns) {
                    Some(end) => return Some(end),
                    None => verdict = self.run_here(packet, arrival.now_ns),
                }
                packet.port = arrival.port;
                continue;
            }
            let bytes = packet.data().to_vec();
            if kind == Bridge::RECIRCULATE {
                let rest = &bytes[b.len..];
                let arrival = Arrival { length: rest.len(), ..arrival };
                let mut copy = Vec::new();
                kept(&b, &bytes, b.recirculate_fields, arrival, instance::RECIRCULATED, Bridge::PARSE_INGRESS, &mut copy);
                copy.extend_from_slice(rest);
                later(queue, main, rest.len(), copy);
                return None;
            }
            if b.clone.get(&bytes) == 1 || kind == Bridge::AFTER_EGRESS {
                let (instance, go_on, behind) = match kind {
                    Bridge::AFTER_INGRESS => (instance::INGRESS_CLONE, Bridge::PARSE_EGRESS, received),
                    _ => (instance::EGRESS_CLONE, Bridge::COPY, &bytes[b.len..]),
                };
                for replica in copies.mirrored(b.session.get(&bytes) as u32) {
                    let mut copy = Vec::new();
                    kept(&b, &bytes, b.clone_fields, arrival, instance, go_on, &mut copy);
                    send(&b, &mut copy, replica);
                    copy.extend_from_slice(behind);
                    later(queue, false, arrival.length, copy);
                }
            }
            let mut whole = bytes;
            if kind == Bridge::AFTER_EGRESS {
                b.kind.set(&mut whole, Bridge::FINISH.into());
            } else {
                if b.resubmit.get(&whole) == 1 {
                    let mut copy = Vec::new();
                    kept(&b, &whole, b.resubmit_fields, arrival, instance::RESUBMITTED, Bridge::PARSE_INGRESS, &mut copy);
                    copy.extend_from_slice(received);
                    later(queue, main, arrival.length, copy);
                    return None;
                }
                let group = b.multicast.map_or(0, |m| m.get(&whole)) as u16;
                if group != 0 {
                    let replicas = copies.groups.get(&group).map_or(&[][..], Vec::as_slice);
                    if replicas.is_empty() {
                        let mark = b.mark.map_or(0, |m| m.get(&whole)) as u32;
                        return Some(Verdict { reason: b.drop_reason.get(&whole) as u8, mark, ..Verdict::default() });
                    }
                    for (i, replica) in replicas.iter().enumerate() {
                        let mut copy = whole.clone();
                        b.kind.set(&mut copy, Bridge::COPY.into());
                        if let Some(f) = b.instance_type {
                            f.set(&mut copy, instance::REPLICATED);
                        }
                        send(&b, &mut copy, *replica);
                        later(queue, main && i == 0, arrival.length, copy);
                    }
                    return None;
                }
                b.kind.set(&mut whole, Bridge::RESUME.into());
            }
            let port = packet.port;
            if whole.len() > MAX_PACKET {
                return Some(Verdict::drop(DropReason::NO_HEADROOM));
            }
            verdict = self.run(packet, &whole, arrival.now_ns);
            packet.port = port;
        }
        // A program that forges what only the cut may write.
        Some(Verdict::drop(DropReason::TARGET_FAILED))
    }
}

/// Gives a dropped packet the length that it had: its bytes are nobody's.
fn as_long_as(packet: &mut Packet, length: usize) {
    let (buffer, start, _) = packet.buffer_mut();
    let room = buffer.len().saturating_sub(start);
    if length <= room {
        packet.set_window(start, length);
    } else {
        // What came in fits the longest packet.
        let _ = packet.resize(length.min(MAX_PACKET));
    }
}

impl Copies {
    fn mirrored(&self, session: u32) -> Vec<Replica> {
        match self.mirrors.get(&session) {
            None => vec![],
            Some(Mirror::Port(port)) => vec![Replica { port: *port, rid: 0 }],
            Some(Mirror::Group(group)) => self.groups.get(group).cloned().unwrap_or_default(),
        }
    }
}

/// A bridge like `from`'s with all variables zero but those of arrival, as they are for a new pass, and of a field list. What
/// the program has written in the place of the former counts only if the list names it. It is left in `copy`.
fn kept(b: &Bridge, from: &[u8], list: BitField, arrival: Arrival, instance_type: u128, kind: u8, copy: &mut Vec<u8>) {
    copy.clear();
    copy.extend_from_slice(&from[..b.len]);
    b.vars.iter().for_each(|f| f.set(copy, 0));
    b.ingress_port.set(copy, arrival.port.0.into());
    for length in [b.packet_length, b.frame_length].into_iter().flatten() {
        length.set(copy, arrival.length as u128);
    }
    if let Some(f) = b.timestamp {
        f.set(copy, u128::from(arrival.now_ns / 1000));
    }
    let fields = u8::try_from(list.get(from)).ok().and_then(|n| b.field_lists.get(&n));
    for f in fields.into_iter().flatten().filter_map(|i| b.vars.get(*i)) {
        f.set(copy, f.get(from));
    }
    if let Some(f) = b.instance_type {
        f.set(copy, instance_type);
    }
    b.kind.set(copy, kind.into());
}

/// Where a copy goes that begins in egress.
fn send(b: &Bridge, copy: &mut [u8], to: Replica) {
    b.egress_spec.set(copy, to.port.0.into());
    if let Some(f) = b.egress_rid {
        f.set(copy, to.rid.into());
    }
}

/// `instance_type`, as BMv2 numbers it.
mod instance {
    pub(crate) const INGRESS_CLONE: u128 = 1;
    pub(crate) const EGRESS_CLONE: u128 = 2;
    pub(crate) const RECIRCULATED: u128 = 4;
    pub(crate) const REPLICATED: u128 = 5;
    pub(crate) const RESUBMITTED: u128 = 6;
}
