//! N4: the PFCP agent of a UP function (TS 29.244), without I/O, clock or randomness of its own.
//!
//! The path of a message: bytes → [`codec::decode`] → [`node::Node::receive`] → a session's new [`rules::SessionRules`] →
//! [`rules::UserPlane::commit`], all or nothing → the response, taken with [`node::Node::poll_transmit`].
#![forbid(unsafe_code)]

pub mod codec;
pub mod config;
pub mod flow;
pub mod node;
pub mod packed;
mod pool;
pub mod rules;
pub mod runs;
mod session;
pub mod stats;
mod usage;
#[doc(hidden)]
pub mod work;

pub use config::Config;
pub use node::Node;
