//! What can be known of a program without running it. Passes, the chip model and both emitters ask here, so that there is one opinion.
//!
//! - [`control`]: where control goes: actions of a table, statements that end a block, the order of parser states.
//! - [`effects`]: what statements and blocks read and write.
//! - [`live`]: which variables are read later.
//! - [`validity`]: headers that no packet has.
//!
//! All of it is conservative: what may happen is said to happen. `tests/` holds it against the interpreter on random programs.
#![forbid(unsafe_code)]

pub mod control;
pub mod effects;
pub mod live;
pub mod validity;
