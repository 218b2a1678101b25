//! Where packets over a rate wait: one [`shaper::Shaper`] for each worker, asked by its loop.
//!
//! The program decides who waits: it leaves the packet in the buffer with a reason, as it came in. Its meter's cell is the queue. When the cell lets
//! it pass, it runs through the program again, which asks its other meters, and only then counts it: usage is what was sent after QoS
//! enforcement (TS 29.244 §5.2.2.2 and §8.2.68, MBQE not set). So what waits or is dropped here is never charged, and rules that were
//! changed or deleted meanwhile hold for it.

use base::{DropReason, Metered, Packet};
use program::MeterId;
use shaper::{Counters, Fate, Limits, Offered, Reason, Shaper, Take};
use std::sync::{Arc, Mutex, PoisonError};
use target::{BURST, Lane, Taken};

/// What waits, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeSettings {
    /// The program's meter whose red packets wait.
    pub meter: MeterId,
    /// `nodes` is the number of its cells; all others are of one worker.
    pub limits: Limits,
}

/// A worker's. For the worker, and for tests of the targets that it runs.
pub struct Shaping {
    shaper: Shaper<Packet>,
    limits: Limits,
    /// Cells whose queues have become empty.
    idle: Vec<u32>,
    /// Packets that may go.
    pub ready: Vec<Packet>,
    /// Packets that are dropped.
    pub dropped: Vec<(Packet, DropReason)>,
    /// What others read.
    shown: Arc<Mutex<Counters>>,
    shown_ns: u64,
    is_shown: bool,
}

/// How often counters are shown to others, in ns.
const SHOW_NS: u64 = 10_000_000;

impl Shaping {
    /// None if the lane cannot. Counters are shown in `shown`, now and then.
    pub fn new(settings: ShapeSettings, lane: &mut dyn Lane, shown: Arc<Mutex<Counters>>) -> Option<Shaping> {
        let ShapeSettings { meter, limits } = settings;
        let shaping = || Shaping {
            shaper: Shaper::new(limits),
            limits,
            idle: Vec::new(),
            ready: Vec::with_capacity(BURST),
            dropped: Vec::new(),
            shown,
            shown_ns: 0,
            is_shown: true,
        };
        lane.shape(meter).then(shaping)
    }

    /// Keeps a packet that the program lets wait for that cell, or gives it back with the reason.
    pub fn wait(&mut self, packet: Packet, cell: u32, now_ns: u64, lane: &mut dyn Lane) -> Result<(), (Packet, DropReason)> {
        self.offer(packet, cell, now_ns, lane).map_err(|(mut packet, reason)| {
            // Its buffer is for the next packet that is received, which has passed no meter.
            packet.metered = Metered::default();
            (packet, reason)
        })
    }

    fn offer(&mut self, packet: Packet, cell: u32, now_ns: u64, lane: &mut dyn Lane) -> Result<(), (Packet, DropReason)> {
        let units = packet.metered.units();
        if packet.metered == Metered::default() {
            return Err((packet, DropReason::SHAPER_FULL));
        }
        self.is_shown = false;
        let marks = wire::user::takes_marks(packet.data());
        let (shaper, mut packet, mut result) = (&mut self.shaper, Some(packet), Ok(()));
        lane.with_rates(&mut |rates| {
            let Some(packet) = packet.take() else { return };
            match shaper.offer(cell, packet, units.into(), marks, now_ns, &mut Cells(rates)) {
                Offered::Waits => rates.set_waiting(cell, true),
                Offered::Dropped(packet, reason) => result = Err((packet, drop_reason(reason))),
            }
        });
        // A lane that lends no rates has kept none.
        packet.map_or(result, |packet| Err((packet, DropReason::SHAPER_FULL)))
    }

    /// Whether packets wait for that cell.
    pub fn waits(&self, cell: u32) -> bool {
        self.shaper.waits(cell)
    }

    /// When [`Shaping::poll`] has something to do.
    pub fn next_ns(&self) -> Option<u64> {
        self.shaper.next_ns()
    }

    /// Whether there is nothing to poll for.
    pub(crate) fn is_idle(&self) -> bool {
        self.shaper.is_empty() && self.is_shown
    }

    /// Whether what came before `began_ns` may still wait.
    pub(crate) fn may_hold(&self, began_ns: u64, now_ns: u64) -> bool {
        // It leaves at the second tick behind its time at the latest.
        let most_ns = self.limits.delay_ns + 2 * shaper::wheel::TICK_NS;
        !self.shaper.is_empty() && now_ns <= began_ns.saturating_add(most_ns)
    }

    /// Puts what may go, at most a burst, into `ready`, and what may not into `dropped`.
    pub fn poll(&mut self, now_ns: u64, lane: &mut dyn Lane) {
        if now_ns > self.shown_ns + SHOW_NS {
            self.show(now_ns);
        }
        if self.shaper.next_ns().is_none_or(|at| at > now_ns) {
            return;
        }
        let Shaping { shaper, idle, ready, dropped, .. } = self;
        lane.with_rates(&mut |rates| {
            shaper.poll(now_ns, &mut Cells(rates), BURST, &mut |fate| match fate {
                Fate::Sent { mut packet, mark, .. } => {
                    if mark {
                        wire::user::mark(packet.data_mut());
                    }
                    ready.push(packet);
                }
                Fate::Dropped { packet, reason, .. } => dropped.push((packet, drop_reason(reason))),
                Fate::Idle { leaf } => idle.push(leaf),
            });
            idle.drain(..).for_each(|cell| rates.set_waiting(cell, false));
        });
    }

    /// All that waits, at the end.
    pub fn end(&mut self) {
        let Shaping { shaper, dropped, .. } = self;
        shaper.end(&mut |fate| {
            if let Fate::Dropped { packet, .. } = fate {
                dropped.push((packet, DropReason::STOPPING));
            }
        });
        self.show(self.shown_ns);
    }

    fn show(&mut self, now_ns: u64) {
        self.shown_ns = now_ns;
        self.is_shown = self.shaper.is_empty();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = *self.shaper.counters();
    }
}

fn drop_reason(reason: Reason) -> DropReason {
    match reason {
        Reason::QueueFull | Reason::Full | Reason::NoRate => DropReason::SHAPER_FULL,
        Reason::Late => DropReason::SHAPER_LATE,
        Reason::Codel => DropReason::SHAPER_CODEL,
        Reason::Ended => DropReason::STOPPING,
    }
}

/// A lane's cells as the shaper asks rates: each is a leaf of its own.
struct Cells<'a>(&'a mut dyn target::Rates);

impl shaper::Rates for Cells<'_> {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        match self.0.take(leaf, size, now_ns) {
            Taken::Now => Take::Now { guaranteed: false },
            Taken::At(at_ns) => Take::At { node: leaf, at_ns },
            Taken::Never => Take::Never,
        }
    }

    fn give_back(&mut self, leaf: u32, size: u32, _guaranteed: bool) {
        self.0.give_back(leaf, size);
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.0.rate(leaf)
    }
}
