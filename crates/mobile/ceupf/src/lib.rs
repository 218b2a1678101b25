//! What does an operator tell the switch in front of a foreign UPF, and which table entries does that become?
//!
//! The rules parser and issue module of the fourth paper (§2), without I/O: a line of text is a [`Rule`]; the [`Book`] knows which rules
//! are installed, refuses what is there already or contradicts it, and makes one batch of changes of what it takes. The program is
//! `p4/ceupf.p4`.
#![forbid(unsafe_code)]

mod rule;

mod arrangement;
mod book;

pub use arrangement::{ACCESS_PORT, Arrangement, ArrangementError, CORE_PORT, FOREIGN_ACCESS_PORT, FOREIGN_CORE_PORT, Hop, Side};
pub use book::{Book, BookError, Installed, Refusal, Staged, Way};
pub use rule::{Decap, Encap, MAX_LINE, Match, Rule, RuleError, Selector, rules_of};
