//! A worker's lane of the split: each burst goes along the chain, what a stage misses to the next one. Of a program that is cut for a chain a packet also goes on where it
//! says ([`VerdictKind::Resume`]), or behind that if the stage is out of service or misses it: then with its bridge, as it came there.

use crate::policy::DscpOf;
use crate::traffic::LaneTraffic;
use base::{DropReason, Metered, Packet, PortId, Verdict, VerdictKind};
use parking_lot::RwLock;
use program::{Bridge, CounterId, MeterId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use target_api::{BURST, Counted, Extra, Lane, Rates, Returned};

pub(crate) struct SplitLane {
    pub(crate) fronts: Vec<StageLane>,
    pub(crate) base: Box<dyn Lane>,
    /// The DSCPs that try the stages in front, as a set of bits, and what reads them; `None`: all packets do.
    pub(crate) dscps: Option<(u64, DscpOf)>,
    pub(crate) traffic: Arc<LaneTraffic>,
    /// By place in the last burst, the stage that gave the verdict.
    pub(crate) ran_by: [u8; BURST],
    /// Held for each burst: a move is made between bursts. Of a kind that lets who waits to write go before new readers: lanes
    /// with many packets leave it for no longer than it takes to ask for it again.
    pub(crate) gate: Arc<RwLock<()>>,
    /// Places where the program stops for another stage; none if it is not cut for a chain.
    pub(crate) stops: usize,
    pub(crate) picked: Vec<usize>,
    /// Those of the picked that go on at the same stage.
    pub(crate) again: Vec<usize>,
    pub(crate) packets: Vec<Packet>,
    pub(crate) verdicts: Vec<Verdict>,
}

/// Of a stage in front.
pub(crate) struct StageLane {
    pub(crate) lane: Box<dyn Lane>,
    /// Set when the stage gets no packets.
    pub(crate) retired: Arc<AtomicBool>,
    /// Whether packets that arrive here were missed by the stage already.
    pub(crate) ahead: bool,
}

impl Lane for SplitLane {
    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        // Stages in front hand packets that are to be copied on to the base target.
        self.base.take_extra(into);
    }

    fn ran_by(&self, place: usize) -> u8 {
        self.ran_by.get(place).copied().unwrap_or_default()
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        let gate = self.gate.clone();
        let _burst = gate.read();
        self.fronts.iter_mut().for_each(|front| front.lane.poll(now_ns, into));
        self.base.poll(now_ns, into);
    }

    fn next_poll_ns(&self) -> Option<u64> {
        let fronts = self.fronts.iter().filter_map(|front| front.lane.next_poll_ns());
        fronts.chain(self.base.next_poll_ns()).min()
    }

    fn shape(&mut self, meter: MeterId) -> bool {
        // Targets in front pass on what is to wait, and those that share the meter must know.
        for front in &mut self.fronts {
            front.lane.shape(meter);
        }
        self.base.shape(meter)
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        let gate = self.gate.clone();
        let _burst = gate.read();
        self.base.count(counter, more)
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        let gate = self.gate.clone();
        let _burst = gate.read();
        self.base.with_rates(work);
    }

    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        let gate = self.gate.clone();
        let _burst = gate.read();
        // As received: a target may change them.
        let mut received = [(PortId::default(), 0); BURST];
        received.iter_mut().zip(&*packets).for_each(|(received, packet)| *received = (packet.port, packet.len()));
        // The stage that a packet goes on at; only those that have stopped once have a bridge in front.
        let mut at = [None::<u8>; BURST];
        verdicts.fill(Verdict::next());
        for stage in 0..=self.fronts.len() {
            let front = self.fronts.get(stage);
            if front.is_some_and(|front| front.ahead || front.retired.load(Relaxed)) {
                continue;
            }
            // What has waited for a rate of the base target's goes on there: it has passed that one, and others before it.
            let tries = |p: &Packet| {
                front.is_none()
                    || p.metered == Metered::default()
                        && self.dscps.is_none_or(|(set, of)| of(p.data()).is_some_and(|d| d < 64 && set >> d & 1 == 1))
            };
            let comes = |i: &usize| match at[*i] {
                None => tries(&packets[*i]),
                Some(at) => usize::from(at) <= stage,
            };
            self.picked.clear();
            self.picked.extend((0..packets.len()).filter(|i| verdicts[*i].kind == VerdictKind::Next).filter(comes));
            self.run(stage, packets, verdicts, &received, now_ns);
            // What stops for this stage, or for one before it whose place it has taken, goes on here at once. A packet stops in each place once.
            for _ in 0..self.stops {
                self.note_stops(stage, packets, verdicts, &mut at);
                self.run(stage, packets, verdicts, &received, now_ns);
            }
        }
        if self.stops > 0 {
            finish(packets, verdicts, &received, &at);
        }
    }

    target_api::lane_without!(process_asking);
}

/// What is known of a packet's arrival: port and length.
type Received = (PortId, usize);

impl SplitLane {
    /// Runs the picked packets, in their order, through one target.
    fn run(&mut self, stage: usize, packets: &mut [Packet], verdicts: &mut [Verdict], received: &[Received], now_ns: u64) {
        let n = self.picked.len();
        if n == 0 {
            return;
        }
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
        }
        let lane = self.fronts.get_mut(stage).map_or(&mut self.base, |front| &mut front.lane);
        lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
            verdicts[*i] = self.verdicts[slot];
            if !matches!(verdicts[*i].kind, VerdictKind::Next | VerdictKind::Resume) {
                let (port, length) = received[*i];
                self.ran_by[*i] = stage as u8;
                self.traffic.add(stage, port, verdicts[*i].kind, length);
            }
        }
    }

    /// Packets that have just stopped at this stage now wait for the stage that they go on at; those that go on here are picked.
    fn note_stops(&mut self, stage: usize, packets: &mut [Packet], verdicts: &mut [Verdict], at: &mut [Option<u8>]) {
        self.again.clear();
        for &i in &self.picked {
            if verdicts[i].kind != VerdictKind::Resume {
                continue;
            }
            // A stage's number has 8 bits.
            let next = verdicts[i].port as u8;
            at[i] = Some(next);
            (packets[i].port, verdicts[i]) = (Bridge::PORT, Verdict::next());
            if usize::from(next) <= stage {
                self.again.push(i);
            }
        }
        std::mem::swap(&mut self.picked, &mut self.again);
    }
}

/// Packets that had a bridge in front leave as those that never had one.
#[cold]
fn finish(packets: &mut [Packet], verdicts: &mut [Verdict], received: &[Received], at: &[Option<u8>]) {
    for (i, (packet, verdict)) in packets.iter_mut().zip(verdicts).enumerate() {
        // It has stopped more often than there are places: a program that forges what only the cut may write.
        if verdict.kind == VerdictKind::Resume {
            *verdict = Verdict::drop(DropReason::TARGET_FAILED);
        }
        if at[i].is_none() {
            continue;
        }
        let (port, length) = received[i];
        packet.port = port;
        // It was as long when it came in, so it can be again.
        if matches!(verdict.kind, VerdictKind::Drop | VerdictKind::Next) && packet.len() != length {
            let _ = packet.resize(length);
        }
    }
}
