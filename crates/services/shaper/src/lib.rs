//! Packets over a rate wait here instead of being dropped: queues, when each may send, and what is dropped of those that wait too long.
//!
//! Pure: packets are values of the caller's type, sizes and time are arguments. One thread uses a [`Shaper`]; several share rates through [`Rates`].
//!
//! - **Queues** are first in, first out, one for each *leaf* (a QoS flow, a QER, a session, or a connection under one of these: [`Rates::shared`]). They are
//!   bounded in time ([`Limits::delay_ns`]) and all together in packets.
//! - **Times** come from a wheel ([`wheel`]), as in Carousel (Saeed et al., SIGCOMM 2017): a leaf whose first packet may not go yet is put where its time
//!   is. A packet costs the same whatever the number of leaves.
//! - **Rates** are the caller's ([`Rates`]): the cells of a program's meters, or the [`Tree`] of this crate, in which port, slice, session and flow
//!   (TS 23.501 §5.7) are nodes, a node may be shared by many leaves, guaranteed rates go first and the rest is shared by weight.
//! - **Delay** is kept low by CoDel ([`codel`], RFC 8289) on each queue, which marks packets whose sender understands that (RFC 3168) and drops others.
//!   L4S (RFC 9331) is not told apart: ECT(1) is marked as ECT(0) is, which its senders take for a classic bottleneck; there is no second
//!   queue (RFC 9332).
//!
//! - **Ports** with a rate have queues of their own ([`scheduler`]), strict ones and such that share by weight.
//! - **Programs** of users call it as a service ([`service`](mod@service)), with queues and rates that are its own.
//!
//! Every packet that was taken comes out once, with its [`Fate`].
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod scheduler;
pub mod service;
pub mod shaper;
pub mod tree;

// What the shaper is made of.
pub mod codel;
pub mod counters;
pub mod wheel;

pub use counters::{BUCKETS, Counters, delay_us};
pub use scheduler::{Guaranteed, Pace, Place, PortRates, PortSettings, QUEUES, QueueSettings, Scheduler, Service, SliceSettings};
pub use shaper::{Fate, Limits, Offered, Rates, Reason, Shaper, Take};
pub use tree::{Node, Tree};
