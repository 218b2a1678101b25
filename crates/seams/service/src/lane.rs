//! The service in the lane itself: a plain call, but for a service that panics, which must not take the lane with it.

use crate::{AtOnce, Call, Interface, Outcome, Question, Reason, Service, Setting, SettingError};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A service that is down once it has panicked, and whose outcomes are what the seam knows.
pub(crate) struct Guard {
    pub(crate) interface: &'static Interface,
    service: Option<Box<dyn Service>>,
}

impl Guard {
    pub(crate) fn new(service: Box<dyn Service>) -> Guard {
        Guard { interface: service.interface(), service: Some(service) }
    }

    pub(crate) fn is_down(&self) -> bool {
        self.service.is_none()
    }

    /// Runs what may panic; after a panic the service is gone with what it kept.
    fn run<T>(&mut self, run: impl FnOnce(&mut dyn Service) -> T) -> Option<T> {
        let service = self.service.as_deref_mut()?;
        // Nothing of the service is used after a panic, and calls are plain data.
        let result = catch_unwind(AssertUnwindSafe(|| run(service)));
        if result.is_err() {
            tracing::error!(service = self.interface.name, "panicked: its packets are lost, and it stays down");
            let service = self.service.take();
            // Its own drop may panic too.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(service)));
        }
        result.ok()
    }

    /// Each call has an outcome then; how many are kept.
    #[inline]
    pub(crate) fn call(&mut self, burst: &mut [Call], now_ns: u64) -> u64 {
        if self.service.is_none() {
            burst.iter_mut().for_each(|call| call.drop_for(Reason::DOWN));
            return 0;
        }
        let whole = self.run(|service| service.call(burst, now_ns)).is_some();
        let pending = Outcome::Dropped(Reason::UNANSWERED);
        settle(whole, pending, burst.iter_mut().map(|call| &mut call.outcome))
    }

    /// As [`Guard::call`], of questions; one may be declined, and is pending then.
    #[inline]
    pub(crate) fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) -> u64 {
        if self.service.is_none() {
            burst.iter_mut().for_each(|question| question.drop_for(Reason::DOWN));
            return 0;
        }
        let whole = self.run(|service| service.answer(burst, now_ns)).is_some();
        // What nearly all bursts are, without a branch for each packet.
        if whole && burst.iter().fold(true, |all, question| all & (question.outcome == Outcome::Answered)) {
            return 0;
        }
        settle(whole, Outcome::Pending, burst.iter_mut().map(|question| &mut question.outcome))
    }

    /// What it gives before it panics has come out.
    pub(crate) fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        let from = out.len();
        self.run(|service| service.poll(now_ns, out));
        for call in &mut out[from..] {
            if matches!(call.outcome, Outcome::Pending | Outcome::Kept) {
                call.drop_for(Reason::UNANSWERED);
            }
        }
    }

    pub(crate) fn next_deadline_ns(&self) -> Option<u64> {
        self.service.as_ref()?.next_deadline_ns()
    }

    pub(crate) fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.run(|service| service.set(setting)).unwrap_or(Ok(()))
    }
}

/// Sees to it that outcomes are what the seam knows, with `pending` in place of none; how many are kept.
#[inline]
fn settle<'a>(whole: bool, pending: Outcome, outcomes: impl Iterator<Item = &'a mut Outcome>) -> u64 {
    let mut kept = 0;
    for outcome in outcomes {
        match *outcome {
            // What it had taken, or half done, ends with it.
            _ if !whole => *outcome = Outcome::Dropped(Reason::LOST),
            Outcome::Kept => kept += 1,
            Outcome::Answered | Outcome::Dropped(_) => {}
            Outcome::Pending => *outcome = pending,
            Outcome::Copy => *outcome = Outcome::Dropped(Reason::UNANSWERED),
        }
    }
    kept
}

/// A guarded service that knows how much it loses.
pub(crate) struct InLane {
    guard: Guard,
    /// Packets that it keeps.
    waiting: u64,
}

impl InLane {
    pub(crate) fn new(service: Box<dyn Service>) -> InLane {
        InLane { guard: Guard::new(service), waiting: 0 }
    }
}

impl Service for InLane {
    fn interface(&self) -> &'static Interface {
        self.guard.interface
    }

    #[inline]
    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.waiting += self.guard.call(burst, now_ns);
    }

    #[inline]
    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        self.waiting += self.guard.answer(burst, now_ns);
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        let from = out.len();
        self.guard.poll(now_ns, out);
        let returned = out[from..].iter().filter(|call| call.outcome != Outcome::Copy).count() as u64;
        self.waiting = self.waiting.saturating_sub(returned);
        if self.guard.is_down() {
            out.extend((0..std::mem::take(&mut self.waiting)).map(|_| Call::lost()));
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if self.guard.is_down() { (self.waiting > 0).then_some(0) } else { self.guard.next_deadline_ns() }
    }

    fn at_once(&self) -> AtOnce {
        self.guard.service.as_ref().map_or(AtOnce::NEVER, |service| service.at_once())
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.guard.set(setting)
    }
}
