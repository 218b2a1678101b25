//! When a retired fast target is rebuilt, and which sessions return to it.
//!
//! The first attempt is made a second after it failed. Each failed attempt doubles the wait, up to a minute; so does failing again within a
//! minute of coming back, so that an unstable target is not tried, and its sessions are not moved, all the time. Back in service it holds
//! only what both targets hold. Under a static policy its sessions return by moves, some at a time ([`Comeback::bring_back`]); a
//! planner moves them like any others.
//!
//! While it is out of service the base target runs all packets, with shared token buckets or its own, and the fast target's
//! counts are kept.

use crate::decisions::Decision;
use crate::executor::Executed;
use crate::moves::{MoveError, RecoverError};
use crate::planner::{Outcome, Place, Why};
use crate::policy::{Policy, Unit};
use crate::split::Split;
use program::Batch;
use std::collections::BTreeSet;

/// From falling over to the first attempt.
const FIRST_NS: u64 = 1_000_000_000;
/// The longest wait.
const MOST_NS: u64 = 60_000_000_000;
/// In service for so long, it has recovered.
const STEADY_NS: u64 = 60_000_000_000;
/// Sessions that are brought back at a time: some milliseconds' work.
const AT_ONCE: usize = 512;
/// A session that the fast target did not take, without saying that it is full, is tried again after this.
const RETRY_NS: u64 = 1_000_000_000;

/// Brings a fast target back into service.
#[derive(Debug, Default)]
pub struct Comeback {
    /// While it is out of service.
    out: Option<Out>,
    /// Retirements that are known.
    retirements: u64,
    wait_ns: u64,
    /// When it came back last.
    back_ns: Option<u64>,
    came_back: u64,
    /// Sessions to restore, and when.
    returning: BTreeSet<(u64, u64)>,
}

#[derive(Debug)]
struct Out {
    since_ns: u64,
    retry_ns: u64,
    attempts: u32,
}

/// What has happened, for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It has fallen over, since the last look; and when it is tried.
    FellOver {
        /// From now.
        retry_in_ns: u64,
    },
    /// It was tried in vain.
    StaysOut {
        /// How often, since it fell over.
        attempts: u32,
        /// Why.
        why: RecoverError,
        /// When it is tried again, from now.
        retry_in_ns: u64,
    },
    /// It is in service.
    CameBack {
        /// How often it was tried.
        attempts: u32,
        /// How long it was out of service.
        out_ns: u64,
    },
}

impl Comeback {
    /// Looks whether the fast target has fallen over, and tries it if that is due.
    pub fn tick(&mut self, split: &Split, now_ns: u64) -> Option<Event> {
        if !split.is_retired() {
            self.out = None;
            return None;
        }
        let retirements = split.retirements();
        let Some(out) = self.out.as_mut().filter(|_| retirements == self.retirements) else {
            let steady = self.back_ns.is_none_or(|back_ns| now_ns.saturating_sub(back_ns) >= STEADY_NS);
            self.wait_ns = if steady { FIRST_NS } else { longer(self.wait_ns) };
            self.retirements = retirements;
            self.out = Some(Out { since_ns: now_ns, retry_ns: now_ns.saturating_add(self.wait_ns), attempts: 0 });
            return Some(Event::FellOver { retry_in_ns: self.wait_ns });
        };
        if now_ns < out.retry_ns {
            return None;
        }
        out.attempts += 1;
        let attempts = out.attempts;
        match split.recover() {
            Ok(()) => {
                let out_ns = now_ns.saturating_sub(out.since_ns);
                self.out = None;
                self.back_ns = Some(now_ns);
                self.came_back += 1;
                Some(Event::CameBack { attempts, out_ns })
            }
            Err(why) => {
                self.wait_ns = longer(self.wait_ns);
                out.retry_ns = now_ns.saturating_add(self.wait_ns);
                Some(Event::StaysOut { attempts, why, retry_in_ns: self.wait_ns })
            }
        }
    }

    /// Under a static policy: brings sessions to the fast target that left it without being asked to, or could not come while it was out of
    /// service, some of them at a time. `copy` gives a session's facts and all that its copy needs; `None`: there is no such session any more.
    /// With a planner there is nothing to do.
    pub fn bring_back(&mut self, split: &Split, now_ns: u64, mut copy: impl FnMut(u64) -> Option<(Unit, Batch)>) -> Executed {
        let mut executed = Executed::default();
        if matches!(split.policy(), Policy::Planned) || split.is_base_alone() {
            return executed;
        }
        self.returning.extend(split.take_left().into_iter().map(|id| (now_ns, id)));
        for _ in 0..AT_ONCE {
            let Some((due_ns, id)) = self.returning.pop_first() else { break };
            if due_ns > now_ns {
                self.returning.insert((due_ns, id));
                break;
            }
            let Some((facts, copy)) = copy(id).filter(|(facts, _)| split.policy().wants(facts) && split.may_be_in_front(facts)) else {
                continue;
            };
            let moved = split.move_to_fast(&facts, &copy);
            if moved != Err(MoveError::There) {
                let outcome = moved.as_ref().map_or_else(Outcome::of_error, |()| Outcome::Done);
                split.decided(Decision::new(id, Place::Fast, Why::Policy, outcome));
            }
            match moved {
                Ok(()) => executed.to_fast += 1,
                Err(MoveError::There) => {}
                // As one that found no room when it began.
                Err(error @ (MoveError::NoRoom(_) | MoveError::Unfit(_))) => {
                    executed.failed += 1;
                    tracing::debug!(id, "session not restored: {error}");
                }
                Err(MoveError::Failed(_) | MoveError::Buckets(_) | MoveError::Retired) => {
                    executed.failed += 1;
                    self.returning.insert((now_ns.saturating_add(RETRY_NS), id));
                    if split.is_base_alone() {
                        break;
                    }
                }
            }
        }
        executed
    }

    /// How often it has come back into service.
    pub fn came_back(&self) -> u64 {
        self.came_back
    }
}

fn longer(wait_ns: u64) -> u64 {
    wait_ns.saturating_mul(2).clamp(FIRST_NS, MOST_NS)
}
