//! Passes over the IR: each makes a program smaller or simpler and never changes what it does.
//!
//! What it does is what the reference interpreter shows: verdicts, bytes, counters, meters, registers and table
//! statistics. Tables, actions, parameters and counters stay, used or not: the control plane sees them.
//!
//! [`run`] goes through [`PASSES`] in order, again and again until none of them finds anything, and verifies the IR after
//! each. An [`Observer`] sees the IR after each too: that is how `--after PASS` prints it.
#![forbid(unsafe_code)]

mod branches;
pub mod bridge;
mod dead_code;
mod dead_stores;
mod fold;
mod propagate;
mod unreachable_states;

use p4_ir::{Ir, VerifyError};

/// A pass: its name, what it does, and its function, which tells whether it changed anything.
pub struct Pass {
    /// Short name, for `--after`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Changes the IR.
    pub run: fn(&mut Ir) -> bool,
}

/// All passes in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "fold", about: "computes constant expressions and simplifies others", run: fold::run },
    Pass { name: "branches", about: "decides if, switch and select on constants, and removes empty ones", run: branches::run },
    Pass { name: "dead_code", about: "removes statements behind break, exit and endless loops, and useless breaks", run: dead_code::run },
    Pass { name: "propagate", about: "replaces variables by the constants and variables they were set to", run: propagate::run },
    Pass { name: "dead_stores", about: "removes assignments that nothing reads", run: dead_stores::run },
    Pass { name: "unreachable_states", about: "removes parser states that no transition reaches", run: unreachable_states::run },
];

/// Most rounds through the passes; each round only undoes what the one before made possible.
const MAX_ROUNDS: usize = 16;

/// Sees the IR after each pass: the round from 0, the pass and the IR.
pub type Observer<'o> = dyn FnMut(usize, &Pass, &Ir) + 'o;

/// A pass broke an invariant: a bug of that pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassError {
    /// The pass; "input" if the IR was broken from the start.
    pub pass: &'static str,
    /// What it broke.
    pub errors: Vec<VerifyError>,
}

impl std::fmt::Display for PassError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let errors: Vec<&str> = self.errors.iter().map(|e| e.0.as_str()).collect();
        write!(f, "broken IR after {}: {}", self.pass, errors.join("; "))
    }
}

impl std::error::Error for PassError {}

/// Runs all passes until nothing changes.
pub fn run(ir: &mut Ir, observer: &mut Observer<'_>) -> Result<(), PassError> {
    p4_ir::verify(ir).map_err(|errors| PassError { pass: "input", errors })?;
    for round in 0..MAX_ROUNDS {
        let mut changed = false;
        for pass in PASSES {
            changed |= (pass.run)(ir);
            p4_ir::verify(ir).map_err(|errors| PassError { pass: pass.name, errors })?;
            observer(round, pass, ir);
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Runs all passes without an observer.
pub fn optimise(ir: &mut Ir) -> Result<(), PassError> {
    run(ir, &mut |_, _, _| {})
}

/// The pass of that name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}
