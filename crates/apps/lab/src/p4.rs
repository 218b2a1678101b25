//! P4 programs by the thousand: a corpus with its packet tests ([`conformance`]), random ones ([`fuzz`]), and targets as devices of packet tests.

pub mod conformance;
pub mod device;
pub mod fuzz;
pub mod services;
pub mod xdp_device;
