//! Queues of a port with a rate: which one a packet waits in, and what leaves when. Each worker has queues of its own, and all share the port's line.
//!
//! Strict queues are strict, and weights exact, among the packets of one worker; between workers the line goes to who asks for it first.

use base::{DropReason, Packet, PortId};
use shaper::scheduler::Left;
use shaper::shaper::Reason;
use shaper::{Counters, Pace, PortSettings, QUEUES, Scheduler};
use std::sync::{Arc, Mutex, PoisonError};

/// A port's queues, and what fills them.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// The port.
    pub port: PortId,
    /// Its rate, and when each queue is served.
    pub queues: PortSettings,
    /// What tells a packet's queue.
    pub fill: Arc<dyn Fill>,
}

/// What tells which queue a packet waits in for which the program names none ([`base::Verdict::reason`] of a packet that is sent).
pub trait Fill: std::fmt::Debug + Send + Sync {
    /// The queue of a frame as it leaves; 0 takes the rest.
    fn queue(&self, frame: &[u8]) -> u8;
}

/// What the line may send at once after a pause: a worker sleeps no longer.
const BURST_NS: u64 = 2_000_000;
/// How often counters are shown to others, in ns.
const SHOW_NS: u64 = 10_000_000;

/// Of one port, for all workers.
pub(crate) struct Line {
    pub(crate) settings: QueueSettings,
    pace: Arc<Pace>,
    /// What each worker's queues have done.
    shown: Mutex<Vec<Arc<Mutex<[Counters; QUEUES]>>>>,
}

impl Line {
    pub(crate) fn new(settings: QueueSettings) -> Line {
        Line { pace: Arc::new(Pace::new(settings.queues.rate, BURST_NS)), settings, shown: Mutex::default() }
    }

    /// A worker's.
    pub(crate) fn queues(&self) -> PortQueues {
        let shown = Arc::default();
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&shown));
        PortQueues {
            scheduler: Scheduler::new(&self.settings.queues),
            pace: self.pace.clone(),
            fill: self.settings.fill.clone(),
            longest_ns: self.settings.queues.queues.iter().map(|queue| queue.delay_ns).max().unwrap_or(0),
            next_ns: None,
            spare: Vec::new(),
            shown,
            shown_ns: 0,
            is_shown: true,
        }
    }

    /// By queue, of all workers past and present: as it was some milliseconds ago.
    pub(crate) fn counters(&self) -> [Counters; QUEUES] {
        let mut sum = [Counters::default(); QUEUES];
        for of in self.shown.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let of = of.lock().unwrap_or_else(PoisonError::into_inner);
            sum.iter_mut().zip(*of).for_each(|(sum, of)| *sum += of);
        }
        sum
    }
}

/// One worker's queues of one port.
pub(crate) struct PortQueues {
    scheduler: Scheduler<Packet>,
    pace: Arc<Pace>,
    fill: Arc<dyn Fill>,
    /// How long a packet waits, at most.
    longest_ns: u64,
    /// When the line is free again, if packets wait for it.
    next_ns: Option<u64>,
    /// Buffers of packets that have left: the packet path allocates nothing.
    spare: Vec<Packet>,
    shown: Arc<Mutex<[Counters; QUEUES]>>,
    shown_ns: u64,
    is_shown: bool,
}

impl PortQueues {
    /// Puts a packet into its queue, leaving a spent buffer in its place; or tells why it does not fit.
    pub(crate) fn enqueue(&mut self, packet: &mut Packet, queue: u8, now_ns: u64) -> Result<(), DropReason> {
        self.is_shown = false;
        let queue = if (1..QUEUES).contains(&usize::from(queue)) { queue } else { self.fill.queue(packet.data()) };
        // What the line is taken for.
        let size = packet.len() as u32;
        let marks = wire::user::takes_marks(packet.data());
        let taken = std::mem::replace(packet, self.spare.pop().unwrap_or_else(|| Packet::empty(0)));
        self.scheduler.offer(queue.into(), taken, size, marks, now_ns).map_err(|(taken, _)| {
            self.spare.push(std::mem::replace(packet, taken));
            DropReason::QUEUE_FULL
        })?;
        self.next_ns.get_or_insert(now_ns);
        Ok(())
    }

    /// Moves what may leave into `burst`, from `queued` on; `dropped` hears of what is dropped. How many there are in the burst then.
    pub(crate) fn dequeue(
        &mut self,
        burst: &mut [Packet],
        queued: usize,
        now_ns: u64,
        mut dropped: impl FnMut(DropReason, usize),
    ) -> usize {
        if now_ns > self.shown_ns + SHOW_NS {
            self.show(now_ns);
        }
        let mut at = queued;
        let PortQueues { scheduler, pace, spare, .. } = self;
        while at < burst.len() && self.next_ns.is_some_and(|next| next <= now_ns) {
            self.next_ns = scheduler.poll(now_ns, pace, burst.len() - at, &mut |left| match left {
                Left::Sent { mut packet, mark, .. } => {
                    if mark {
                        wire::user::mark(packet.data_mut());
                    }
                    spare.push(std::mem::replace(&mut burst[at], packet));
                    at += 1;
                }
                Left::Dropped { packet, reason, .. } => {
                    dropped(drop_reason(reason), packet.len());
                    spare.push(packet);
                }
            });
        }
        at
    }

    /// How long what waits now may still wait; `None`: nothing does.
    pub(crate) fn holds_ns(&self) -> Option<u64> {
        (self.len() > 0).then_some(self.longest_ns)
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.scheduler.len()
    }

    /// When [`PortQueues::dequeue`] has something to do.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        // Others read what has been counted.
        self.next_ns.or((!self.is_shown).then_some(self.shown_ns + SHOW_NS))
    }

    /// Drops all that waits.
    pub(crate) fn end(&mut self, mut dropped: impl FnMut(usize)) {
        self.scheduler.end(&mut |left| {
            if let Left::Dropped { packet, .. } = left {
                dropped(packet.len());
            }
        });
        self.next_ns = None;
        self.show(self.shown_ns);
    }

    fn show(&mut self, now_ns: u64) {
        self.shown_ns = now_ns;
        self.is_shown = self.scheduler.is_empty();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = self.scheduler.counters();
    }
}

fn drop_reason(reason: Reason) -> DropReason {
    match reason {
        Reason::Late => DropReason::QUEUE_LATE,
        Reason::Codel => DropReason::QUEUE_CODEL,
        Reason::Ended => DropReason::STOPPING,
        Reason::QueueFull | Reason::Full | Reason::NoRate => DropReason::QUEUE_FULL,
    }
}
