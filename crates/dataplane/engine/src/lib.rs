//! The engine: bursts from ports through a target's lanes to ports again.
//!
//! The packet tour starts at [`worker`]: receive, process, then one of forward, buffer, punt or drop with a reason. A worker
//! runs each packet to its end. Its worker is chosen in one of two places, by a hash of its flow and a table of
//! buckets either way: by the ports' own queues ([`Engine::start`]), or by the [`master`] ([`Engine::start_steered`]). Buckets move
//! and workers start and stop under traffic ([`scale`]), by command or as the [`balance`] of loads suggests; ports come and go, too ([`ports`]).
//!
//! Each worker thread owns its ports or rings and its lane; shared is only the [`buffer`], a service. Control reaches
//! a worker by a command channel ([`Engine`]); packets for the control plane leave by an event channel ([`Event`]).
//! Every packet is counted in one place, the [`Ledger`], which must balance.
//!
//! A file uses those of later rows of this list (`tests/layers.rs`): `control` with `scale` and `ports`, its other parts; `master`; `worker`; `command`; `port`, `ring`, `buffer`, `shape`,
//! `balance`; `message`, `steer`, `ledger`, `tap`, `queues`; `marks`.
#![forbid(unsafe_code)]

mod balance;
mod buffer;
mod command;
mod control;
mod ledger;
mod marks;
mod master;
mod message;
mod port;
mod ports;
mod queues;
mod ring;
mod scale;
mod shape;
mod steer;
mod tap;
mod worker;

pub use balance::{BalanceSettings, Loads, Plan, Planner, Scale, WorkerLoad};
pub use base::BufferFate;
pub use control::{Draining, Engine, EngineError, Settings};
pub use ledger::{Ledger, PortCount};
pub use marks::{MOST_WEIGHT, Marks, SLICES, Treatment};
pub use master::WhenFull;
pub use message::Event;
pub use port::WorkerPorts;
pub use ports::NewPort;
pub use queues::{Fill, MarkSettings, QueueSettings};
pub use scale::{Moved, WorkerGauge};
pub use shape::{Delays, Queues, ShapeSettings, Shaping, Shown};
pub use steer::{BUCKETS, Move, SteerFn, one_flow};
pub use tap::{Looking, Seen, Wanted};
