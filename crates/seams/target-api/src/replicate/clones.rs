//! Packets that stopped because the program has cloned them: those of a burst go on together, and then their clones.
//!
//! That is done where ingress asks for one clone to one place and for nothing else. Any other stop of a copying program is seen to packet by packet
//! ([`ReplicatingLane::follow`]), and so is what one of these does when it stops once more: what comes of it is the same.

use super::{Arrival, Copies, Pass, Replica, ReplicatingLane, instance, kept, send};
use crate::{BURST, Extra};
use base::{MAX_PACKET, Packet, Verdict};
use program::{Bridge, Mirror};
use std::collections::VecDeque;

/// A packet of the burst that was cloned.
pub(super) struct Cloned {
    /// Which.
    i: usize,
    /// Its clone; none if the session leads nowhere.
    copy: Option<Packet>,
    /// What came of the clone. It has not run if the packet itself has stopped again.
    end: Option<Verdict>,
}

impl ReplicatingLane {
    /// Goes on with those that stopped, in the order of the burst.
    pub(super) fn look_at(&mut self, copies: &Copies, burst: &[usize], packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let mut cloned = std::mem::take(&mut self.cloned);
        self.clone_together(copies, burst, packets, verdicts, now_ns, &mut cloned);
        let mut next = cloned.drain(..).peekable();
        for &i in burst {
            match next.next_if(|cloned| cloned.i == i) {
                Some(cloned) => self.end_cloned(copies, cloned, &mut packets[i], &mut verdicts[i], now_ns),
                None => self.look(copies, i, &mut packets[i], &mut verdicts[i], now_ns),
            }
        }
        drop(next);
        self.cloned = cloned;
    }

    fn clone_together(
        &mut self,
        copies: &Copies,
        burst: &[usize],
        packets: &mut [Packet],
        verdicts: &mut [Verdict],
        now_ns: u64,
        cloned: &mut Vec<Cloned>,
    ) {
        // Behind a pipe of PSA there is more to decide.
        if !self.keeps_originals || self.bridge.switch.is_some() {
            return;
        }
        self.again.clear();
        for &i in burst {
            if self.stopped(&packets[i], &verdicts[i])
                && let Some(copy) = self.only_clone(copies, i, &packets[i], now_ns)
            {
                self.bridge.kind.set(packets[i].data_mut(), Bridge::RESUME.into());
                self.again.push(i);
                cloned.push(Cloned { i, copy, end: None });
            }
        }
        if cloned.is_empty() {
            return;
        }
        self.go_on(packets, verdicts, now_ns);
        self.run_clones(packets, verdicts, now_ns, cloned);
    }

    /// The clones of packets that are through.
    fn run_clones(&mut self, packets: &[Packet], verdicts: &[Verdict], now_ns: u64, cloned: &mut [Cloned]) {
        let mut burst = std::mem::take(&mut self.burst);
        let (mut places, mut n) = ([0; BURST], 0);
        for (at, Cloned { i, copy, .. }) in cloned.iter_mut().enumerate() {
            if !self.stopped(&packets[*i], &verdicts[*i])
                && let Some(mut copy) = copy.take()
            {
                copy.port = Bridge::PORT;
                burst.push(copy);
                places[n] = at;
                n += 1;
            }
        }
        if n > 0 {
            let mut ends = [Verdict::default(); BURST];
            self.run_asking(&mut burst, &mut ends[..n], now_ns);
            for ((copy, end), at) in burst.drain(..).zip(ends).zip(places) {
                (cloned[at].copy, cloned[at].end) = (Some(copy), Some(end));
            }
        }
        self.burst = burst;
    }

    /// What comes of a cloned packet and its clone, in the order in which they would run by themselves.
    fn end_cloned(&mut self, copies: &Copies, cloned: Cloned, packet: &mut Packet, verdict: &mut Verdict, now_ns: u64) {
        let Cloned { i, copy, end } = cloned;
        let arrival = Arrival { port: packet.port, length: self.lengths[i], now_ns };
        let original = std::mem::take(&mut self.originals[i]);
        let mut queue = VecDeque::new();
        match (copy, end) {
            (Some(mut copy), Some(end)) => {
                copy.port = arrival.port;
                // The packet's first pass and this one.
                if let Some(verdict) = self.resume(copies, &mut copy, end, &original, (1, false), arrival, &mut queue) {
                    copy.port = arrival.port;
                    self.extra.push(Extra { packet: copy, verdict });
                }
                self.passes(copies, queue, 2, false, arrival);
            }
            (copy, _) if self.stopped(packet, verdict) => {
                queue.extend(copy.map(|copy| Pass { main: false, generation: 1, length: arrival.length, bytes: copy.data().to_vec() }));
                *verdict = self.follow(copies, packet, *verdict, &original, (0, true), arrival, queue);
            }
            _ => {}
        }
        self.originals[i] = original;
    }

    /// A packet that stopped for one clone alone, and can go on with it: the clone with its bridge.
    fn only_clone(&mut self, copies: &Copies, i: usize, packet: &Packet, now_ns: u64) -> Option<Option<Packet>> {
        let (b, bytes) = (&self.bridge, packet.data());
        let asks_more = b.resubmit.get(bytes) == 1 || b.multicast.is_some_and(|group| group.get(bytes) != 0);
        if self.kind.get(bytes) as u8 != Bridge::AFTER_INGRESS || b.clone.get(bytes) != 1 || asks_more || bytes.len() > MAX_PACKET {
            return None;
        }
        let Some(to) = copies.only_place(b.session.get(bytes) as u32)? else { return Some(None) };
        let arrival = Arrival { port: packet.port, length: self.lengths[i], now_ns };
        let whole = &mut self.whole;
        kept(b, bytes, b.clone_fields, arrival, instance::INGRESS_CLONE, Bridge::PARSE_EGRESS, whole);
        send(b, whole, to);
        whole.extend_from_slice(&self.originals[i]);
        if whole.len() > MAX_PACKET {
            return None;
        }
        let mut copy = self.spares.pop().unwrap_or_else(Packet::void);
        copy.set(whole);
        Some(Some(copy))
    }
}

impl Copies {
    /// Where the clones of a session go: `None` if to several places, nothing within if to none.
    fn only_place(&self, session: u32) -> Option<Option<Replica>> {
        match self.mirrors.get(&session) {
            None => Some(None),
            Some(Mirror::Port(port)) => Some(Some(Replica { port: *port, rid: 0 })),
            Some(Mirror::Group(group)) => match self.groups.get(group).map_or(&[][..], Vec::as_slice) {
                [] => Some(None),
                [one] => Some(Some(*one)),
                _ => None,
            },
        }
    }
}
