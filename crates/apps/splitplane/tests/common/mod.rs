//! What the property tests of whole programs share: targets that must not differ, compared packet by packet.
#![allow(dead_code)]

mod fleet;
mod mirror;
mod program;
mod shrink;

pub(crate) use fleet::{Compared, Fleet, Frame};
pub(crate) use program::{CHECKED, Cases, Setup, compile, native};
