//! The engine: bursts from ports through a target's lanes to ports again.
//!
//! The packet tour starts at [`worker`]: receive, process, then one of forward, buffer, punt or drop with a reason.
//! Each worker thread owns its ports, its lane and its buffers; nothing is shared on the packet path. Control reaches
//! a worker by a command channel ([`Engine`]); packets for the control plane leave by an event channel ([`Event`]).
//! What happened to every packet is written in one place, the [`Ledger`], which must balance.
#![forbid(unsafe_code)]

mod buffer;
mod control;
mod ledger;
mod worker;

pub use buffer::BufferLimits;
pub use control::{BufferFate, Engine, EngineError, Event, Settings, WorkerPorts};
pub use ledger::{Ledger, PortCount};
