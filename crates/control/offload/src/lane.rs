//! A worker's lane of the split: each burst goes to the fast target first, then its misses to the base target.

use crate::policy::DscpOf;
use crate::traffic::{LaneTraffic, Path};
use base::{Packet, Verdict, VerdictKind};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use target::{BURST, Extra, Lane, Returned};

pub(crate) struct SplitLane {
    pub(crate) fast: Box<dyn Lane>,
    pub(crate) base: Box<dyn Lane>,
    /// The DSCPs that try the fast target, as a set of bits, and what reads them; `None`: all packets do.
    pub(crate) dscps: Option<(u64, DscpOf)>,
    pub(crate) traffic: Arc<LaneTraffic>,
    /// Set when the fast target gets no packets.
    pub(crate) retired: Arc<AtomicBool>,
    /// Whether packets that arrive here were missed by the fast target already.
    pub(crate) ahead: bool,
    /// Held for each burst: a move is made between bursts. Of a kind that lets who waits to write go before new readers: lanes
    /// with many packets leave it for no longer than it takes to ask for it again.
    pub(crate) gate: Arc<RwLock<()>>,
    pub(crate) picked: Vec<usize>,
    pub(crate) packets: Vec<Packet>,
    pub(crate) verdicts: Vec<Verdict>,
}

impl Lane for SplitLane {
    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        // The fast target hands packets that are to be copied on to the base target.
        self.base.take_extra(into);
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        let gate = self.gate.clone();
        let _burst = gate.read();
        self.fast.poll(now_ns, into);
        self.base.poll(now_ns, into);
    }

    fn next_poll_ns(&self) -> Option<u64> {
        self.fast.next_poll_ns().into_iter().chain(self.base.next_poll_ns()).min()
    }

    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        let gate = self.gate.clone();
        let _burst = gate.read();
        // As received: a target may change them.
        let mut lengths = [0; BURST];
        lengths.iter_mut().zip(&*packets).for_each(|(length, packet)| *length = packet.len());

        self.picked.clear();
        if !self.ahead && !self.retired.load(Relaxed) {
            let fast = |p: &Packet| self.dscps.is_none_or(|(set, of)| of(p.data()).is_some_and(|d| d < 64 && set >> d & 1 == 1));
            self.picked.extend((0..packets.len()).filter(|i| fast(&packets[*i])));
        }
        verdicts.fill(Verdict::next());
        self.run(Path::Fast, packets, verdicts, &lengths, now_ns);

        self.picked.clear();
        self.picked.extend((0..packets.len()).filter(|i| verdicts[*i].kind == VerdictKind::Next));
        self.run(Path::Base, packets, verdicts, &lengths, now_ns);
    }
}

impl SplitLane {
    /// Runs the picked packets, in their order, through one target.
    fn run(&mut self, path: Path, packets: &mut [Packet], verdicts: &mut [Verdict], lengths: &[usize], now_ns: u64) {
        let n = self.picked.len();
        if n == 0 {
            return;
        }
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
        }
        let lane = if path == Path::Fast { &mut self.fast } else { &mut self.base };
        lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
            verdicts[*i] = self.verdicts[slot];
            if verdicts[*i].kind != VerdictKind::Next {
                self.traffic.add(path, packets[*i].port, lengths[*i]);
            }
        }
    }
}
