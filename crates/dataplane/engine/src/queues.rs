//! Queues of a port with a rate: which one a packet waits in, and what leaves when. Each worker has queues of its own, and all share the port's line.
//!
//! Strict queues are strict, and weights exact, among the packets of one worker; between workers the line goes to who asks for it first.
//!
//! The program has charged a packet when it comes here. That is taken back, and it is charged when it leaves: what is dropped or still waits is not.

use crate::marks::{Life, Marks};
use base::{DropReason, Packet, PortId, Verdict};
use program::CounterId;
use shaper::scheduler::Left;
use shaper::shaper::Reason;
use shaper::{Counters, Guaranteed, Place, PortRates, PortSettings, QUEUES, Scheduler};
use std::sync::{Arc, Mutex, PoisonError};
use target_api::Counted;

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

/// What tells which queue a packet waits in for which the program names none ([`Verdict::reason`] of a packet that is sent).
pub trait Fill: std::fmt::Debug + Send + Sync {
    /// The queue of a frame as it leaves; 0 takes the rest.
    fn queue(&self, frame: &[u8]) -> u8;

    /// Bytes that the program has charged for it, and that it takes of a guaranteed rate.
    fn charged_bytes(&self, frame: &[u8]) -> usize {
        frame.len()
    }
}

/// What is known of packets by their mark ([`Verdict::mark`]) where they wait for a port's rate.
#[derive(Clone, Debug)]
pub struct MarkSettings {
    /// By mark.
    pub marks: Arc<Marks>,
    /// The program's counter in whose cells they are charged. The target's lanes must be able to count ([`target_api::Lane::count`]).
    pub counter: CounterId,
}

/// A packet that waits.
struct Waiting {
    packet: Packet,
    /// Bytes that it was charged for; taken back.
    charged: u32,
    /// Mark and life, if something is known of it.
    of: Option<(u32, Life)>,
}

/// What the line may send at once after a pause: a worker sleeps no longer.
const BURST_NS: u64 = 2_000_000;
/// How often counters are shown to others, in ns.
const SHOW_NS: u64 = 10_000_000;

/// Of one port, for all workers.
pub(crate) struct Line {
    pub(crate) settings: QueueSettings,
    marks: Option<Arc<Marks>>,
    rates: Arc<PortRates>,
    /// What each worker's queues have done.
    shown: Mutex<Vec<Arc<Mutex<[Counters; QUEUES]>>>>,
}

impl Line {
    pub(crate) fn new(settings: QueueSettings, marks: Option<Arc<Marks>>) -> Line {
        Line { rates: Arc::new(PortRates::new(&settings.queues, BURST_NS)), settings, marks, shown: Mutex::default() }
    }

    /// A worker's.
    pub(crate) fn queues(&self) -> PortQueues {
        let shown = Arc::default();
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&shown));
        PortQueues {
            scheduler: Scheduler::new(&self.settings.queues),
            rates: self.rates.clone(),
            marks: self.marks.clone(),
            charges: Vec::new(),
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
    scheduler: Scheduler<Waiting>,
    rates: Arc<PortRates>,
    marks: Option<Arc<Marks>>,
    /// What the lane is to count.
    pub(crate) charges: Vec<Counted>,
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
    pub(crate) fn enqueue(&mut self, packet: &mut Packet, verdict: Verdict, now_ns: u64) -> Result<(), DropReason> {
        self.is_shown = false;
        let named = usize::from(verdict.reason);
        let queue = if (1..QUEUES).contains(&named) { named } else { self.fill.queue(packet.data()).into() };
        let (mut place, mut charged, mut of) = (Place::queue(queue), 0, None);
        if let Some((treatment, life)) = self.marks.as_ref().and_then(|marks| marks.get(verdict.mark)) {
            charged = self.fill.charged_bytes(packet.data()) as u32;
            of = Some((verdict.mark, life));
            (place.slice, place.flow, place.weight) = (treatment.slice.into(), treatment.flow, treatment.weight);
            let rate = u64::from(treatment.guaranteed_kbps) * 125;
            place.guaranteed = (rate > 0).then_some(Guaranteed { rate, size: charged });
            self.charges.extend(charge(treatment.cell, -1, charged));
        }
        // What the line is taken for.
        let size = packet.len() as u32;
        let marks = wire::user::takes_marks(packet.data());
        let taken = std::mem::replace(packet, self.spare.pop().unwrap_or_else(|| Packet::empty(0)));
        let waiting = Waiting { packet: taken, charged, of };
        self.scheduler.offer(place, waiting, size, marks, now_ns).map_err(|(waiting, _)| {
            self.spare.push(std::mem::replace(packet, waiting.packet));
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
        let PortQueues { scheduler, rates, marks, charges, spare, .. } = self;
        // As it is now: a cell may have been given to others since.
        let known = |waiting: &Waiting| {
            let (mark, life) = waiting.of?;
            marks.as_ref()?.get(mark).filter(|(_, now)| *now == life).map(|(treatment, _)| treatment)
        };
        let wanted = |waiting: &Waiting| waiting.of.is_none() || known(waiting).is_some();
        while at < burst.len() && self.next_ns.is_some_and(|next| next <= now_ns) {
            self.next_ns = scheduler.poll(now_ns, rates, burst.len() - at, wanted, &mut |left| match left {
                Left::Sent { packet: mut waiting, mark, .. } => {
                    if let Some(treatment) = known(&waiting) {
                        charges.extend(charge(treatment.cell, 1, waiting.charged));
                    }
                    if mark {
                        wire::user::mark(waiting.packet.data_mut());
                    }
                    spare.push(std::mem::replace(&mut burst[at], waiting.packet));
                    at += 1;
                }
                Left::Dropped { packet: Waiting { packet, .. }, reason, .. } => {
                    let reason = if reason == Reason::Ended { DropReason::QUEUE_ENDED } else { drop_reason(reason) };
                    dropped(reason, packet.len());
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
            if let Left::Dropped { packet: Waiting { packet, .. }, .. } = left {
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

fn charge(cell: u32, packets: i32, bytes: u32) -> Option<Counted> {
    (cell > 0).then_some(Counted { cell, packets, bytes: packets * bytes as i32 })
}

fn drop_reason(reason: Reason) -> DropReason {
    match reason {
        Reason::Late => DropReason::QUEUE_LATE,
        Reason::Codel => DropReason::QUEUE_CODEL,
        Reason::Ended => DropReason::STOPPING,
        Reason::QueueFull | Reason::Full | Reason::NoRate | Reason::Longest => DropReason::QUEUE_FULL,
    }
}
