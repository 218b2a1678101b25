//! Placement: a chain of targets, of which the last one holds all sessions, and those in front a subset each.
//!
//! [`Split`] is itself a [`target_api::Target`], so everything that runs on one target runs on the chain. The base target, the last one,
//! holds every session; a stage in front holds copies of some, chosen by a [`Policy`], and passes a miss on, unchanged, to the next one
//! (Singh et al. §5.4, Figure 5a). A chain of one is its target ([`Split::alone`]). A session is on one stage in front at most. Tables that are not marked
//! `@split` are held by all in full. A packet is run to its end by exactly one target, so counters are the sum of all, and a session's meters are on the target that runs its packets.
//!
//! What a session is, only its owner knows: here it is a number, whether it has a rate, and where it stands with the operator ([`Unit`]).
//!
//! Sessions move under traffic ([`Split::move_to_fast`], [`Split::move_to_base`]); a [`planner`] decides which.
//!
//! Not exact: a rate whose packets run on several targets has a bucket on each. That is so for a traffic class's rate once some of
//! its sessions are in front (the application refuses such a configuration). A program must police only packets that it then
//! neither punts nor buffers.
#![forbid(unsafe_code)]

mod split;

mod deferred;
mod drainer;

pub mod comeback;
mod executor;
mod lane;
mod moves;

mod placed;
mod shadow;

mod policy;

pub mod planner;

mod budget;
mod rate;

mod decisions;
mod reason;

mod traffic;

pub use comeback::Comeback;
pub use decisions::Decision;
pub use drainer::Drainer;
pub use executor::{Executed, plan_and_move};
pub use moves::{MoveError, RecoverError};
pub use policy::{DscpOf, OutOfRange, Policy, Standing, Unit};
pub use reason::{Planned, Reason};
pub use split::{Moves, OnRefusal, Split, SplitError, Stage};
pub use traffic::{Path, Ran, TargetTraffic};
