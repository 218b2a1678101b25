//! Memory that two processes share and neither trusts.
//!
//! | file | question it answers |
//! |---|---|
//! | [`region`] | how does memory get into two processes, and stay as large as it was? |
//! | [`ring`] | how do records get from one to the other, though either may write anything anywhere? |
//! | [`door`] | how do they meet? |
//!
//! The memory is seen as words of 64 bits, each read and written atomically, so that a write by the other process at any moment is a value and not undefined
//! behaviour. What is read is copied out once and then checked, never read again. `unsafe` is the mapping, in [`region`] alone.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod door;
#[allow(unsafe_code)]
pub mod region;
pub mod ring;

pub use region::{Region, RegionError};
pub use ring::{Consumer, Corrupt, Producer};
