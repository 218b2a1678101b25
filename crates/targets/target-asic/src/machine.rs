//! A fair lock between lanes and the control plane, since lanes may always have packets.
//!
//! First come, first served. With an ordinary lock a lane takes it again before a waiting thread has woken up: on a
//! busy machine the control plane waited for hundreds of bursts at each of the hundreds of counters that it reads in a tick,
//! and answered no requests meanwhile. (`parking_lot`'s fair lock is fair too, but a waiter yields a few times before it
//! queues, and each yield may cost a time slice.)
//!
//! Counters are read many at a time, so that this costs the lanes few turns: a reader copies those around the one that it wants,
//! and uses its copy until a burst has ended or a batch was applied.

use p4_interp::Machine;
use program::CounterId;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use target_api::Count;

/// Cells that are copied at once: a fraction of a microsecond, as others read a single one and then change something.
const WINDOW: u64 = 64;
/// Copies that are kept, at most: 4 MiB.
const MOST_WINDOWS: usize = 4096;

/// A machine that several threads use.
pub(crate) struct Shared {
    turns: Turns,
    /// Locked by who has the turn, and so never waited for.
    machine: Mutex<Machine>,
    /// Changes so far: bursts, batches. Written by who has the turn.
    version: AtomicU64,
    copied: Mutex<Copied>,
}

/// Counters as of a version, by window.
#[derive(Default)]
struct Copied {
    version: u64,
    windows: HashMap<(CounterId, u64), Box<[Count]>>,
}

/// The machine, in one's turn. Fields go in this order.
pub(crate) struct Look<'a> {
    machine: MutexGuard<'a, Machine>,
    _turn: Turn<'a>,
}

/// The machine, to be changed.
pub(crate) struct Change<'a> {
    version: &'a AtomicU64,
    look: Look<'a>,
}

impl Shared {
    pub(crate) fn new(machine: Machine) -> Shared {
        Shared { turns: Turns::default(), machine: Mutex::new(machine), version: AtomicU64::new(0), copied: Mutex::default() }
    }

    /// Waits for its turn. A machine is whole between calls, so one that was held during a panic can go on.
    pub(crate) fn look(&self) -> Look<'_> {
        let turn = self.turns.wait();
        Look { machine: lock(&self.machine), _turn: turn }
    }

    /// As [`Shared::look`], for what packets, batches or reading may change.
    pub(crate) fn change(&self) -> Change<'_> {
        Change { version: &self.version, look: self.look() }
    }

    /// A counter's cell, after all bursts and batches that have ended.
    pub(crate) fn count(&self, counter: CounterId, index: u64) -> Count {
        let mut copied = lock(&self.copied);
        if copied.version != self.version.load(Ordering::Acquire) {
            copied.windows.clear();
        }
        let (window, at) = (index / WINDOW, (index % WINDOW) as usize);
        if let Some(cells) = copied.windows.get(&(counter, window)) {
            return cells[at];
        }
        let machine = self.look();
        let version = self.version.load(Ordering::Relaxed);
        let cells = (0..WINDOW).map(|i| machine.counter(counter, window * WINDOW + i));
        let cells: Box<[Count]> = cells.map(|c| Count { packets: c.packets, bytes: c.bytes }).collect();
        drop(machine);
        if copied.version != version || copied.windows.len() >= MOST_WINDOWS {
            copied.windows.clear();
            copied.version = version;
        }
        let count = cells[at];
        copied.windows.insert((counter, window), cells);
        count
    }
}

impl Deref for Look<'_> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl Deref for Change<'_> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.look.machine
    }
}

impl DerefMut for Change<'_> {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.look.machine
    }
}

impl Drop for Change<'_> {
    /// Before the lock is released: a reader of the number sees the change, or waits for it.
    fn drop(&mut self) {
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// A queue with numbers.
#[derive(Default)]
struct Turns {
    next: AtomicU64,
    now: Mutex<u64>,
    called: Condvar,
}

/// Calls the next one when it goes, also in a panic.
struct Turn<'a>(&'a Turns);

impl Turns {
    fn wait(&self) -> Turn<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let now = lock(&self.now);
        drop(self.called.wait_while(now, |now| *now != number).unwrap_or_else(PoisonError::into_inner));
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut now = lock(&self.0.now);
        *now += 1;
        // Few wait: the lanes, and the control plane.
        self.0.called.notify_all();
    }
}

/// What is under these locks is whole whenever they are free.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
