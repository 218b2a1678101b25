//! What carries packets: the targets and how session changes reach them, which sessions are on the fast one, XDP and DPDK as ports, and services
//! beside the pipeline.

pub mod dpdk_ports;
pub(crate) mod egress;
pub mod open;
pub mod placement;
pub mod services;
pub mod targets;
mod verified;
pub mod xdp;
