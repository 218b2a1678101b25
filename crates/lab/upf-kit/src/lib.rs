//! Sessions of a UPF for tests and benchmarks, by their numbers.
//!
//! | module | question it answers |
//! |---|---|
//! | [`sessions`] | what does an SMF install for session N, and which frames are its? |
#![forbid(unsafe_code)]

pub mod sessions;
