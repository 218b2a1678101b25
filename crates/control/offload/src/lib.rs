//! Placement: a fast target that holds a subset of the sessions, in front of one that holds them all.
//!
//! [`Split`] is itself a [`target::Target`], so everything that runs on one target runs on the split. The base target
//! holds every session; the fast one holds copies of some, chosen by a [`Policy`], and passes a miss on, unchanged
//! (first paper §5.4, Figure 5a). Tables that are not marked `@split` are held by both in full. A packet is run to its
//! end by exactly one of the two, so counters are the sum of both, and a session's meters are on the target that runs its packets.
//!
//! What a session is, only its owner knows: here it is a number, whether it has a rate, and where it stands with the operator ([`PlacementCriteria`]).
//!
//! Sessions move under traffic ([`Split::move_to_fast`], [`Split::move_to_base`]); a [`planner`] decides which.
//!
//! Not exact: a rate whose packets run on both targets has a bucket on each. That is so for a traffic class's rate once some of
//! its sessions are on the fast target (the application refuses such a configuration). A program must police only packets that it then
//! neither punts nor buffers, as `upf.p4` does.
#![forbid(unsafe_code)]

mod split;

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

mod traffic;

pub use comeback::Comeback;
pub use executor::{Executed, plan_and_move};
pub use moves::{MoveError, RecoverError};
pub use policy::{DscpOf, OutOfRange, PlacementCriteria, Policy, Standing};
pub use split::{Split, SplitError};
pub use traffic::{Path, TargetTraffic};
