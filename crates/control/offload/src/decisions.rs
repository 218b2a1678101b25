//! Which sessions have moved, or were to, and why? For operators: nothing is decided here.
//!
//! Every move of a session that lives is noted where it is made, whoever decided it. A session that comes in front with its first entries has not moved:
//! [`Reason`](crate::Reason) says why it is there.

use crate::moves::MoveError;
use crate::planner::{Outcome, Place, Why};
use std::collections::VecDeque;

/// Decisions that are kept until they are taken; of more, the oldest go.
const KEPT: usize = 64;

/// One decision, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// [`Unit::id`](crate::Unit::id); 0: of all sessions of a stage that is out of service.
    pub id: u64,
    /// How many sessions: 1, but with an id of 0.
    pub sessions: u64,
    /// Where to.
    pub to: Place,
    /// Why.
    pub why: Why,
    /// What became of it.
    pub outcome: Outcome,
}

impl Decision {
    /// Of one session.
    pub fn new(id: u64, to: Place, why: Why, outcome: Outcome) -> Decision {
        Decision { id, sessions: 1, to, why, outcome }
    }
}

/// The last decisions.
#[derive(Debug, Default)]
pub(crate) struct Decisions(VecDeque<Decision>);

impl Decisions {
    pub(crate) fn note(&mut self, decision: Decision) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(decision);
    }

    pub(crate) fn take(&mut self) -> Vec<Decision> {
        self.0.drain(..).collect()
    }
}

impl Outcome {
    /// Of a move to a stage in front that was not made.
    pub(crate) fn of_error(error: &MoveError) -> Outcome {
        if matches!(error, MoveError::NoRoom(_)) { Outcome::NoRoom } else { Outcome::Failed }
    }
}
