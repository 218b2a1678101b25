//! Executes a plan: tries each planned move on the split, and reports the outcome to the planner.

use crate::decisions::Decision;
use crate::moves::MoveError;
use crate::planner::{Move, Outcome, Place, Planner};
use crate::policy::Unit;
use crate::split::Split;
use program::Batch;

/// What a plan came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Sessions that came to the fast target.
    pub to_fast: u32,
    /// Sessions that left it.
    pub to_base: u32,
    /// Moves that were not made.
    pub failed: u32,
}

/// Plans and moves. `copy` gives a session's facts and all that its copy needs; `None`: there is no such session any more.
pub fn plan_and_move(split: &Split, planner: &mut Planner, now_ns: u64, mut copy: impl FnMut(u64) -> Option<(Unit, Batch)>) -> Executed {
    let mut executed = Executed::default();
    // Who left by itself is a candidate again.
    for id in split.take_left() {
        let place = if split.is_on_fast(id) { Place::Fast } else { Place::Base };
        planner.found(id, place, now_ns);
    }
    if split.is_base_alone() {
        return executed;
    }
    for of in planner.plan(now_ns) {
        let outcome = make(split, &of, &mut copy);
        match (outcome, of.to) {
            (Outcome::Done, Place::Fast) => executed.to_fast += 1,
            (Outcome::Done, Place::Base) => executed.to_base += 1,
            _ => executed.failed += 1,
        }
        split.decided(Decision::new(of.id, of.to, of.why, outcome));
        planner.moved(&of, outcome, now_ns);
    }
    executed
}

fn make(split: &Split, of: &Move, copy: &mut impl FnMut(u64) -> Option<(Unit, Batch)>) -> Outcome {
    let result = match of.to {
        // An error says that the fast target is gone; the session is on the base target anyhow.
        Place::Base => split.move_to_base(of.id).or(Ok(())),
        Place::Fast => match copy(of.id) {
            Some((facts, copy)) => split.move_to_fast(&facts, &copy),
            None => return Outcome::Failed,
        },
    };
    match result {
        Ok(()) | Err(MoveError::There) => Outcome::Done,
        Err(error) => {
            tracing::debug!(id = of.id, "session not moved: {error}");
            Outcome::of_error(&error)
        }
    }
}
