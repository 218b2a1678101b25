//! What has a service that all lanes share: one instance, whichever lane a packet comes to, and control code that ends the wait of one key?
//!
//! It is called by who runs a program, not by the program: a packet is given in ahead of the program, as it was received. So one that is answered goes on at the
//! program's start, under the rules of that moment. The idle-mode buffer is such a service (`buffer::idle`); the engine calls it for the verdict *buffer*.
//!
//! | | [`Service`] | [`Shared`] |
//! |---|---|---|
//! | instances | one for each owner: a lane, a thread, a process | one; lanes call it at the same time |
//! | who calls it | the program, by an extern | who runs the program, for a verdict |
//! | an answered packet goes on | behind the call | at the program's start |
//! | what ends a wait | another call, or time | control code, by key; or time |
//!
//! The rest is the same: bursts of calls, outcomes, reasons, time as an argument, and [`Counters`] that balance.

use crate::call::Kept;
use crate::counters::Cells;
use crate::lane::Guard;
use crate::{Call, Caller, Counters, Interface, Outcome, Reason, Service, Setting, SettingError};
use base::DropReason;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A service that lanes share. What it does is whole when a method returns, and in one order for all who call it about one key.
pub trait Shared: Send + Sync {
    /// Its name, fields and reasons. It has a key, and no settings.
    fn interface(&self) -> &'static Interface;

    /// Does what each call of a lane's `burst` asks for, as [`Service::call`] does. Under a key that is closed nothing is kept: such a call is answered, and its
    /// packet goes on when the key is open again. Of a kept call too [`Call::fields`] are the answer: what its lane hears at once.
    ///
    /// Packets that were kept and have made room are appended to `out`, dropped.
    fn call(&self, burst: &mut [Call], now_ns: u64, out: &mut Vec<Call>);

    /// From now on nothing is kept under this key, or it is again. What is kept stays.
    fn set_closed(&self, key: u32, closed: bool);

    /// Packets that are kept under a key.
    fn waiting(&self, key: u32) -> usize;

    /// Lends what is kept under a key, in the order in which it came.
    fn look(&self, key: u32, each: &mut dyn FnMut(&Kept));

    /// Appends what is kept under a key, pending and in the order in which it came. It is kept no longer.
    fn take(&self, key: u32, out: &mut Vec<Call>);

    /// As [`Shared::take`], of all keys.
    fn take_all(&self, out: &mut Vec<Call>);

    /// Appends what has been kept for too long, dropped. A call may look at a part of what is kept: some calls a second look at all of it.
    fn poll(&self, now_ns: u64, out: &mut Vec<Call>);

    /// As what a packet counts that is dropped for this reason.
    fn as_drop(&self, reason: Reason) -> DropReason {
        reason.as_drop()
    }
}

/// A shared service with its counters: makes the lanes' [`Caller`]s, and is what control code has of it.
pub struct SharedDeployment {
    service: Arc<dyn Shared>,
    /// The first is control code's.
    cells: Mutex<Vec<Arc<Cells>>>,
    closed: AtomicUsize,
    closing: Mutex<()>,
}

impl fmt::Debug for SharedDeployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedDeployment").field("service", &self.interface().name).finish()
    }
}

impl SharedDeployment {
    /// With nothing kept.
    ///
    /// # Panics
    /// If the service's declaration is wrong.
    pub fn new(service: Arc<dyn Shared>) -> SharedDeployment {
        service.interface().assert_sound();
        assert!(service.interface().key.is_some(), "service {}: what lanes share is released by key", service.interface().name);
        SharedDeployment { service, cells: Mutex::new(vec![Arc::default()]), closed: AtomicUsize::new(0), closing: Mutex::default() }
    }

    /// What the service declares.
    pub fn interface(&self) -> &'static Interface {
        self.service.interface()
    }

    /// A lane's end. What a call of it displaces comes out by its next poll.
    pub fn caller(&self) -> Caller {
        let cells = Arc::new(Cells::default());
        self.cells().push(cells.clone());
        let way = Way { service: self.service.clone(), out: Vec::new() };
        Caller::without_settings(Box::new(GuardedWay(Guard::new(Box::new(way)))), cells)
    }

    /// Closes these keys until what this returns is dropped: what is kept under them is all that will be. One at a time: another one waits.
    pub fn close(&self, keys: impl IntoIterator<Item = u32>) -> Closed<'_> {
        let one = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<u32> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        self.closed.fetch_add(keys.len(), AcqRel);
        keys.iter().for_each(|key| self.service.set_closed(*key, true));
        Closed { of: self, keys, _one: one }
    }

    /// Whether a key is closed: what was answered meanwhile waits until none is.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Acquire) > 0
    }

    /// Lends what is kept under a key, in the order in which it came.
    pub fn look(&self, key: u32, mut each: impl FnMut(&Kept)) {
        self.service.look(key, &mut each);
    }

    /// Packets that are kept under a key.
    pub fn waiting(&self, key: u32) -> usize {
        self.service.waiting(key)
    }

    /// What is kept under a key, answered and in the order in which it came: it goes on.
    pub fn release(&self, key: u32) -> Vec<Call> {
        self.end(Outcome::Answered, |out| self.service.take(key, out))
    }

    /// What is kept under a key, dropped.
    pub fn discard(&self, key: u32) -> Vec<Call> {
        self.end(Outcome::Dropped(Reason::DISCARDED), |out| self.service.take(key, out))
    }

    /// Everything, dropped: at the end.
    pub fn discard_all(&self) -> Vec<Call> {
        self.end(Outcome::Dropped(Reason::STOPPING), |out| self.service.take_all(out))
    }

    /// What has been kept for too long, dropped: to be called some times a second. See [`Shared::poll`].
    pub fn poll(&self, now_ns: u64) -> Vec<Call> {
        self.count(|out| self.service.poll(now_ns, out))
    }

    /// As what a packet counts that is dropped for this reason.
    pub fn as_drop(&self, reason: Reason) -> DropReason {
        self.service.as_drop(reason)
    }

    /// What became of all calls, of all lanes past and present and of control code.
    pub fn counters(&self) -> Counters {
        Counters::sum(&self.cells())
    }

    fn end(&self, outcome: Outcome, take: impl FnOnce(&mut Vec<Call>)) -> Vec<Call> {
        self.count(|out| {
            take(out);
            out.iter_mut().for_each(|call| call.outcome = outcome);
        })
    }

    fn count(&self, get: impl FnOnce(&mut Vec<Call>)) -> Vec<Call> {
        let mut out = Vec::new();
        get(&mut out);
        if !out.is_empty() {
            // Control code has several threads, and cells have one writer at a time.
            self.cells()[0].count_polled(&out);
        }
        out
    }

    fn cells(&self) -> MutexGuard<'_, Vec<Arc<Cells>>> {
        // Growing and counting are all that is done under it.
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keys that are closed, until this is dropped.
#[derive(Debug)]
pub struct Closed<'a> {
    of: &'a SharedDeployment,
    keys: Vec<u32>,
    _one: MutexGuard<'a, ()>,
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.keys.iter().for_each(|key| self.of.service.set_closed(*key, false));
        self.of.closed.fetch_sub(self.keys.len(), Release);
    }
}

/// A lane's way to it.
struct Way {
    service: Arc<dyn Shared>,
    /// What comes out by the next poll.
    out: Vec<Call>,
}

impl Service for Way {
    fn interface(&self) -> &'static Interface {
        self.service.interface()
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.service.call(burst, now_ns, &mut self.out);
    }

    fn poll(&mut self, _: u64, out: &mut Vec<Call>) {
        out.append(&mut self.out);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        (!self.out.is_empty()).then_some(0)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        Err(SettingError::Index { index: setting.index, limit: 0 })
    }
}

/// After a panic this lane's calls are dropped as `down`. What is kept is still there, for control code and the other lanes.
struct GuardedWay(Guard);

impl Service for GuardedWay {
    fn interface(&self) -> &'static Interface {
        self.0.interface
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.0.call(burst, now_ns);
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.0.poll(now_ns, out);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        self.0.next_deadline_ns()
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.0.set(setting)
    }
}
