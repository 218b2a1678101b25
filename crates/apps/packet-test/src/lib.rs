//! A program that is tested or traced packet by packet: where it runs, and which services it has there.
//!
//! | module | question it answers |
//! |---|---|
//! | [`services`] | which services does it call, with which settings? |
//! | [`device`] | how does a packet test run on a native target? |
//! | [`xdp_device`] | how does one run in the kernel's XDP hook, and which do not fit there? |
#![forbid(unsafe_code)]

pub mod services;

pub mod device;
pub mod xdp_device;
