//! The UP function between N4 and the data plane: PFCP rules become table entries (crate `pfcp` ← here → crate `program`).
//!
//! Nothing here does I/O, reads a clock or draws randomness. The path of a session, from [`plane`]:
//! [`pfcp::rules::SessionRules`] → [`lower`] → difference to the installed entries → one batch → [`plane::DataPlane::apply`].
//! The path of a punted packet: [`host::Host::punt`] → [`host::Action`]s.
#![forbid(unsafe_code)]

pub mod alloc;
mod budget;
pub mod config;
pub mod criteria;
pub mod dscp;
pub mod filters;
mod gtpu_paths;
pub mod hops;
pub mod host;
pub mod ids;
pub mod lower;
mod neighbours;
pub mod networks;
mod pdr_index;
pub mod plane;
mod reply;
pub mod static_rules;
pub mod steer;
mod told;
pub mod whose;
