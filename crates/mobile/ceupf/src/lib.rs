//! An operator's rules for the switch in front of a foreign UPF, and the table entries that they become.
//!
//! The rules parser and issue module of CeUPF (§2), without I/O: a line of text is a [`Rule`]; the [`Book`] knows which rules
//! are installed, refuses duplicates and conflicts, and turns each accepted change into one batch. The program is
//! `p4/ceupf.p4`.
#![forbid(unsafe_code)]

mod rule;

mod arrangement;
mod book;
mod idle;

pub use arrangement::{ACCESS_PORT, Arrangement, ArrangementError, CORE_PORT, FOREIGN_ACCESS_PORT, FOREIGN_CORE_PORT, Hop, Side};
pub use book::{Book, BookError, Installed, Refusal, Staged, Way};
pub use idle::Idle;
pub use rule::{Decap, Encap, MAX_LINE, Match, Rule, RuleError, Selector, rules_of};
