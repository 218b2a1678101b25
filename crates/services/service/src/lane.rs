//! The service in the lane itself: a plain call, but for a service that panics, which must not take the lane with it.

use crate::{Call, Interface, Outcome, Reason, Service, Setting, SettingError};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A service that is down once it has panicked.
pub(crate) struct InLane {
    interface: &'static Interface,
    service: Option<Box<dyn Service>>,
    /// Packets that it keeps.
    waiting: u64,
    /// Packets that were lost with it, to be told.
    lost: u64,
}

impl InLane {
    pub(crate) fn new(service: Box<dyn Service>) -> InLane {
        InLane { interface: service.interface(), service: Some(service), waiting: 0, lost: 0 }
    }

    /// Runs what may panic; after a panic the service is gone with what it kept.
    fn guard<T>(&mut self, run: impl FnOnce(&mut dyn Service) -> T) -> Option<T> {
        let service = self.service.as_deref_mut()?;
        // Nothing of the service is used after a panic, and calls are plain data.
        let result = catch_unwind(AssertUnwindSafe(|| run(service)));
        if result.is_err() {
            tracing::error!(service = self.interface.name, "panicked: its packets are lost, and it stays down");
            // Its own drop may panic too.
            let _ = catch_unwind(AssertUnwindSafe(|| self.service = None));
            self.service = None;
            self.lost += std::mem::take(&mut self.waiting);
        }
        result.ok()
    }
}

impl Service for InLane {
    fn interface(&self) -> &'static Interface {
        self.interface
    }

    #[inline]
    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        if self.service.is_none() {
            return burst.iter_mut().for_each(|call| call.drop_for(Reason::DOWN));
        }
        let whole = self.guard(|service| service.call(burst, now_ns)).is_some();
        for call in burst {
            match call.outcome {
                Outcome::Kept if whole => self.waiting += 1,
                Outcome::Answered | Outcome::Dropped(_) if whole => {}
                _ if whole => call.drop_for(Reason::UNANSWERED),
                // What it had taken, or half done, ends with it.
                _ => call.drop_for(Reason::LOST),
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        let from = out.len();
        // What it has given before it panics has come out.
        self.guard(|service| service.poll(now_ns, out));
        for call in &mut out[from..] {
            match call.outcome {
                Outcome::Copy => continue,
                Outcome::Answered | Outcome::Dropped(_) => {}
                Outcome::Pending | Outcome::Kept => call.drop_for(Reason::UNANSWERED),
            }
            match self.waiting.checked_sub(1) {
                Some(waiting) => self.waiting = waiting,
                None => self.lost = self.lost.saturating_sub(1),
            }
        }
        out.extend((0..std::mem::take(&mut self.lost)).map(|_| Call::lost()));
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if self.lost > 0 { Some(0) } else { self.service.as_ref()?.next_deadline_ns() }
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.guard(|service| service.set(setting)).unwrap_or(Ok(()))
    }
}
