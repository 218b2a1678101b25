//! Copies of packets for somebody who looks at a running engine, with what the program decided. One looks at a time, at so many packets as he asked for; workers wait
//! for nobody, and without anybody they look at one flag in a burst.

use base::{Packet, PortId, Verdict};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

/// Copies that wait to be fetched, at most: 2 MiB of the longest packets.
const WAITING: usize = 1024;

/// A packet that a worker has run through the program.
#[derive(Clone, Debug)]
pub struct Seen {
    /// As it came in.
    pub packet: Vec<u8>,
    /// By this port.
    pub port: PortId,
    /// When its burst had been run.
    pub at: SystemTime,
    /// What became of it.
    pub verdict: Verdict,
    /// The target of a chain that ran it, counted from its front.
    pub ran_by: u8,
    /// As the program left it.
    pub after: Vec<u8>,
}

/// Which packets are looked at: the frame, and the port it came by. Called by workers.
pub type Wanted = dyn Fn(&[u8], PortId) -> bool + Send + Sync;

/// What workers share with who looks.
#[derive(Default)]
pub(crate) struct Tap {
    is_open: AtomicBool,
    look: RwLock<Option<Arc<Look>>>,
}

pub(crate) struct Look {
    wanted: Box<Wanted>,
    /// Only packets whose verdict this holds for.
    which: fn(&Verdict) -> bool,
    seen: Sender<Seen>,
    left: AtomicUsize,
    missed: AtomicU64,
}

/// Packets of a burst as they came, by their places in it.
pub(crate) type Copies = Vec<(usize, Vec<u8>)>;

/// Looks at packets until it is dropped.
pub struct Looking {
    tap: Arc<Tap>,
    look: Arc<Look>,
    /// Copies, as they come.
    pub seen: Receiver<Seen>,
}

impl Looking {
    /// Copies that are still to be made.
    pub fn left(&self) -> usize {
        self.look.left.load(Relaxed)
    }

    /// Packets that were wanted and found no room, as nobody fetched earlier ones.
    pub fn missed(&self) -> u64 {
        self.look.missed.load(Relaxed)
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.tap.close(&self.look);
    }
}

impl Tap {
    /// Looks at the next packets that are wanted, so many at most; who looked until now sees no more.
    pub(crate) fn open(self: &Arc<Tap>, most: usize, which: fn(&Verdict) -> bool, wanted: Box<Wanted>) -> Looking {
        let (sender, seen) = bounded(WAITING);
        let look = Arc::new(Look { wanted, which, seen: sender, left: AtomicUsize::new(most), missed: AtomicU64::new(0) });
        let mut place = self.look.write().unwrap_or_else(PoisonError::into_inner);
        *place = Some(look.clone());
        self.is_open.store(true, Relaxed);
        drop(place);
        Looking { tap: self.clone(), look, seen }
    }

    /// Ends this one, if it has not been followed by another.
    fn close(&self, look: &Arc<Look>) {
        let mut place = self.look.write().unwrap_or_else(PoisonError::into_inner);
        if place.as_ref().is_some_and(|of| Arc::ptr_eq(of, look)) {
            *place = None;
            self.is_open.store(false, Relaxed);
        }
    }

    /// Whether somebody looks.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Relaxed)
    }

    /// Before a burst is run: its packets that are wanted, by place.
    #[cold]
    pub(crate) fn before(&self, packets: &[Packet]) -> Option<(Arc<Look>, Copies)> {
        let look = self.look.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        if look.left.load(Relaxed) == 0 {
            self.close(&look);
            return None;
        }
        let wanted = packets.iter().enumerate().filter(|(_, packet)| (look.wanted)(packet.data(), packet.port));
        let copies = wanted.map(|(at, packet)| (at, packet.data().to_vec())).collect();
        Some((look, copies))
    }
}

impl Look {
    /// After the burst was run, and before it leaves.
    #[cold]
    pub(crate) fn after(&self, copies: Copies, packets: &[Packet], verdicts: &[Verdict], ran_by: impl Fn(usize) -> u8) {
        let at = SystemTime::now();
        for (place, packet) in copies {
            let (Some(after), Some(verdict)) = (packets.get(place), verdicts.get(place)) else { continue };
            if !(self.which)(verdict) || self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
                continue;
            }
            let seen = Seen { packet, port: after.port, at, verdict: *verdict, ran_by: ran_by(place), after: after.data().to_vec() };
            if let Err(TrySendError::Full(_)) = self.seen.try_send(seen) {
                self.left.fetch_add(1, Relaxed);
                self.missed.fetch_add(1, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::VerdictKind;

    fn run(tap: &Arc<Tap>, numbers: impl Iterator<Item = u8>) {
        for number in numbers {
            let mut packets = [Packet::new(&[number; 20], PortId(3))];
            if !tap.is_open() {
                continue;
            }
            let Some((look, copies)) = tap.before(&packets) else { continue };
            packets[0] = Packet::new(&[99; 10], PortId(3));
            let kind = if number % 2 == 0 { VerdictKind::Drop } else { VerdictKind::Forward };
            look.after(copies, &packets, &[Verdict { kind, ..Verdict::default() }], |place| place as u8 + 1);
        }
    }

    #[test]
    fn who_looks_sees_as_many_as_he_asked_for_and_then_nobody_looks() {
        let tap = Arc::new(Tap::default());
        run(&tap, 0..10);
        let looking = tap.open(3, |_| true, Box::new(|frame, port| frame[0] > 4 && port == PortId(3)));
        run(&tap, 0..20);
        let seen: Vec<Seen> = looking.seen.try_iter().collect();
        assert_eq!(seen.iter().map(|seen| seen.packet[0]).collect::<Vec<_>>(), [5, 6, 7]);
        assert!(seen.iter().all(|seen| seen.packet.len() == 20 && seen.after == [99; 10] && seen.ran_by == 1));
        assert!((looking.left(), looking.missed(), tap.is_open()) == (0, 0, false), "nothing is left to do");
        // By what became of them.
        let looking = tap.open(100, |verdict| verdict.kind == VerdictKind::Drop, Box::new(|_, _| true));
        run(&tap, 0..10);
        assert_eq!(looking.seen.try_iter().map(|seen| seen.packet[0]).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        drop(looking);
        assert!(!tap.is_open());
    }

    #[test]
    fn packets_that_nobody_fetches_are_missed_and_workers_do_not_wait() {
        let tap = Arc::new(Tap::default());
        let looking = tap.open(WAITING * 2, |_| true, Box::new(|_, _| true));
        for _ in 0..WAITING + 5 {
            run(&tap, 1..2);
        }
        assert_eq!((looking.seen.len(), looking.missed(), looking.left()), (WAITING, 5, WAITING));
        // The next one who looks, and only he.
        let next = tap.open(1, |_| true, Box::new(|_, _| true));
        run(&tap, 1..2);
        drop(looking);
        assert!(next.seen.len() == 1 && tap.is_open(), "the first one's end is not his");
    }
}
