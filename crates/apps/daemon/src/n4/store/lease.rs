//! Which of several nodes with one shared store may serve? The one that holds the lease: a key of the store that expires unless it is renewed.
//!
//! The holder's name also is in the fence, which each batch of records is checked against where it is written, in the store: a node that was away
//! for long (a stopped virtual machine, a cut network) writes nothing any more once another one has taken over, and so answers nothing.
//!
//! A node that could not renew its lease ends, by its own clock, before the store lets another one have it: from when it asked last, not from
//! when it was answered. With an outage allowed it goes on for so long after that, for the case that it is the store that is away: packets pass,
//! and requests of N4 that would change anything are refused.

use super::shared::{Server, shortened};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The exit code of a node that must not serve any more.
pub const EXIT_FENCED: i32 = 3;
/// What is to be done before the end may take so long.
const LAST_MOMENT: Duration = Duration::from_millis(50);
/// Renewals in the time of a lease.
const RENEWALS: u32 = 4;

/// A lease that is held.
#[derive(Clone)]
pub(super) struct Lease(Arc<State>);

struct State {
    server: Server,
    /// When it ends, by our clock.
    until: Mutex<Instant>,
    /// It is given back, or about to be.
    released: AtomicBool,
    before_the_end: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// A lease that is given back when this value is dropped.
pub struct HeldLease(pub(super) Lease);

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl Lease {
    /// Renews a lease that was asked for at `asked_at` and got, on a thread of its own, and ends the process if that fails.
    pub(super) fn keep(server: Server, asked_at: Instant) -> Result<Lease, String> {
        let until = Mutex::new(asked_at + server.lease);
        let lease = Lease(Arc::new(State { server, until, released: false.into(), before_the_end: Mutex::default() }));
        for (name, run) in [("n4-lease", Lease::renew_all as fn(&Lease)), ("n4-fence", Lease::guard)] {
            let of_thread = lease.clone();
            std::thread::Builder::new()
                .name(name.into())
                .spawn(move || run(&of_thread))
                .map_err(|e| format!("no thread keeps the lease: {e}"))?;
        }
        Ok(lease)
    }

    /// Whether it has ended by our clock, and the node only goes on because it may be the store that is away.
    pub(super) fn is_away(&self) -> bool {
        Instant::now() >= self.until()
    }

    /// Has this called before the process ends because the node must not serve.
    pub(super) fn before_the_end(&self, run: impl FnOnce() + Send + 'static) {
        if let Ok(mut before) = self.0.before_the_end.lock() {
            *before = Some(Box::new(run));
        }
    }

    /// Renews it no more and does not give it back, as a process that was killed.
    pub(super) fn abandon(&self) {
        self.0.released.store(true, Ordering::SeqCst);
    }

    /// Lets another node have it at once.
    fn release(&self) {
        self.0.released.store(true, Ordering::SeqCst);
        if let Err(e) = self.0.server.release() {
            tracing::warn!("the lease could not be given back, another node waits until it has expired: {}", shortened(&e.to_string()));
        }
    }

    /// Ends this process: nothing that it would do is right any more.
    pub(super) fn end(&self, why: &str) {
        if self.0.released.load(Ordering::SeqCst) {
            return;
        }
        tracing::error!("this node must not serve any more and ends at once: {why}");
        if let Some(before) = self.0.before_the_end.lock().ok().and_then(|mut before| before.take()) {
            let (done, is_done) = mpsc::channel();
            let run = move || {
                before();
                let _ = done.send(());
            };
            // What it needs may be held by a thread that does not get on.
            if std::thread::Builder::new().spawn(run).is_ok() {
                let _ = is_done.recv_timeout(LAST_MOMENT);
            }
        }
        std::process::exit(EXIT_FENCED);
    }

    fn until(&self) -> Instant {
        // Who held it cannot have left it half written.
        *self.0.until.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn renew_all(&self) {
        let State { server, until, released, .. } = &*self.0;
        let period = server.lease / RENEWALS;
        let mut connection = None;
        let mut away = false;
        // It has just been got.
        let got_at = self.until().checked_sub(server.lease).unwrap_or_else(Instant::now);
        std::thread::sleep(period.saturating_sub(got_at.elapsed()));
        while !released.load(Ordering::SeqCst) {
            let asked_at = Instant::now();
            match server.renew(&mut connection, period) {
                Ok(true) => {
                    *until.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = asked_at + server.lease;
                    if std::mem::take(&mut away) {
                        tracing::info!("the shared store is there again");
                    }
                }
                Ok(false) => self.end("another node has taken over, or the store has lost its records"),
                Err(e) => {
                    if !std::mem::replace(&mut away, true) {
                        tracing::warn!("the shared store is not reached: {}", shortened(&e.to_string()));
                    }
                    connection = None;
                }
            }
            std::thread::sleep(period.saturating_sub(asked_at.elapsed()).max(Duration::from_millis(1)));
        }
    }

    /// Looks at the clock, whatever becomes of a renewal.
    fn guard(&self) {
        let outage = self.0.server.outage;
        while !self.0.released.load(Ordering::SeqCst) {
            let left = (self.until() + outage).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.end("the shared store has not been reached for the time of the lease");
            }
            std::thread::sleep(left);
        }
    }
}
