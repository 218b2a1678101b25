//! What the property tests of whole programs share: targets that must not differ, compared packet by packet.
#![allow(dead_code)]

mod fleet;
mod mirror;
mod program;
mod shrink;

pub use fleet::{Compared, Fleet, Frame};
pub use program::{CHECKED, Cases, Setup, compile, native};
