//! What tests share: numbers from a seed, golden files, the question whether we are root, names nobody else has, programs to run, a process of one's own.
//!
//! For dev-dependencies only: the crate graph test keeps it out of what ships.
#![forbid(unsafe_code)]

mod cpu_time;
mod executable;
mod golden;
mod names;
mod own_process;
mod redis;
mod rng;
mod root;
mod skip;

pub use cpu_time::CpuTime;
pub use executable::{install, script};
pub use golden::{UPDATE, assert_golden};
pub use names::{IFNAME_MAX, unique_name};
pub use own_process::in_own_process;
pub use redis::Redis;
pub use rng::{Rng, SEED, rng};
pub use root::root_or_skip;
pub use skip::{SKIPPED, skip};
