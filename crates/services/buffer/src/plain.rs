//! The slow twins: what is obviously right, since it looks at everything. The interpreter calls the services over them, so that a program on a target, with the fast form, is
//! compared with them.
//!
//! | file | twin of |
//! |---|---|
//! | [`rlc`] | [`crate::RlcBuffer`] |
//! | [`resubmit`] | [`crate::ResubmitBuffer`] |
//!
//! What a STATUS PDU says is read by [`crate::status`], as the fast form reads it: that has tests and a fuzz target of its own.

pub mod resubmit;
pub mod rlc;
