//! Ports: where packets come from and go to. One trait, a file for each kind.
//!
//! | kind | file | needs |
//! |---|---|---|
//! | in-process pair, repeating source | [`memory`] | nothing |
//! | in-process device with steered receive queues | [`steered`] | nothing |
//! | capture files | [`pcap`] | nothing |
//! | UDP socket as a port | [`udp`] | nothing |
//! | TUN device | [`tun`] | CAP_NET_ADMIN, or a device that is there |
//! | raw socket | [`af_packet`] | CAP_NET_RAW |
//! | AF_XDP socket | [`af_xdp`] | CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF |
//!
//! Which of a queue's AF_XDP sockets gets a packet is decided in the kernel by a program ([`steer_program`]) and a table (`indirection`).
//! [`open_best`] picks between the last two. Everything that the kernel asks to be done with raw pointers is in `sys`.
#![deny(unsafe_code)]

pub mod af_packet;
pub mod af_xdp;
mod checksum;
pub mod code;
mod indirection;
pub mod interface;
pub mod join;
pub mod machine;
pub mod memory;
mod open;
pub mod pcap;
pub mod segment;
pub mod steer_program;
pub mod steered;
mod sys;
mod transmit_only;
pub mod tun;
pub mod udp;
mod xdp_device;

pub use af_packet::AfPacket;
pub use af_xdp::AfXdp;
pub use interface::Interface;
pub use memory::{LoopPort, MemoryPort};
pub use open::{Opened, join_queues, join_steered, open_best, open_queues, open_shared, open_steered};
pub use pcap::{PcapPacket, PcapPort, PcapReader, PcapWriter};
pub use sys::wait;
pub use transmit_only::TransmitOnly;
pub use tun::TunPort;
pub use udp::UdpPort;

use std::os::fd::RawFd;
use std::sync::Arc;

use base::Packet;

/// MAC addresses in the frames of ports without a link layer: ours, and that of the kernel at the far end. Locally administered.
pub const OUR_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// As above.
pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// A packet interface that one worker polls.
pub trait Port: Send {
    /// Name for logs and counters, e.g. `lan (af_xdp veth0)`.
    fn name(&self) -> &str;

    /// Fills `packets` from the front with what has arrived and returns how many; never blocks.
    /// The port overwrites the packets' contents (with headroom restored) and does not touch their `port`.
    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError>;

    /// Queues packets for transmission from the front and returns how many were taken; never blocks.
    /// A packet longer than [`Port::max_frame`] must not be offered.
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError>;

    /// Kicks the device if it needs that, and reclaims what was sent.
    fn flush(&mut self) -> Result<(), PortError>;

    /// Longest frame that may be transmitted, Ethernet header included, in bytes.
    fn max_frame(&self) -> usize;

    /// Counts of what the device or kernel dropped before we saw it, since the port was opened.
    fn device_drops(&mut self) -> DeviceDrops;

    /// Whether a source that has an end (a file) has delivered all it has.
    fn finished(&self) -> bool {
        false
    }

    /// Descriptor that becomes readable (poll(2), POLLIN) when packets have arrived: see [`wait`].
    /// `None` where there is none to wait on; such a port is polled. Wait only after [`Port::receive`] returned 0: a port may hold
    /// packets of its own.
    fn fd(&self) -> Option<RawFd> {
        None
    }

    /// When each packet of the last [`Port::receive`] was captured, in nanoseconds since 1970, in the order of the packets.
    /// Empty for ports that carry no timestamps (all but capture files).
    fn times_ns(&self) -> &[u64] {
        &[]
    }

    /// Another handle that sends by the same device, for another thread; it never receives. `None` where there is none: then
    /// only the thread that holds the port can send.
    fn transmitter(&self) -> Result<Option<Box<dyn Port>>, PortError> {
        Ok(None)
    }

    /// Reopens the port after its interface was removed, once one of that name exists again. It may take
    /// some tens of milliseconds. `None` where a port cannot be.
    ///
    /// # Errors
    /// As when it was opened: there is no such interface yet, or it is down.
    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        None
    }

    /// Packets that were taken for transmission and that the device has not taken yet: none, where it takes them at once.
    fn unsent(&self) -> usize {
        0
    }

    /// Whether packets may ever be received.
    fn receives(&self) -> bool {
        true
    }

    /// Packets that have arrived and wait to be received, if the port can tell. A steered port must: what waits after
    /// [`Steering::settle`] is all that came by the old assignment.
    fn waiting(&self) -> Option<usize> {
        None
    }

    /// The receive queue that this port is, and what steers packets to the device's queues, where that can be changed at run
    /// time.
    fn steering(&self) -> Option<(u16, Arc<dyn Steering>)> {
        None
    }
}

/// A device's distribution of packets over its receive queues: a hash of each packet picks a bucket, a table the bucket's queue.
pub trait Steering: Send + Sync {
    /// Number of buckets, a power of two. A packet's bucket is the low bits of its hash.
    fn buckets(&self) -> usize;

    /// Number of receive queues.
    fn queues(&self) -> usize;

    /// Packets of these buckets go to these queues from now on: all of the list or, with an error, nothing.
    ///
    /// # Errors
    /// [`PortError::Config`] if a bucket or queue does not exist; what the device says.
    fn assign(&self, moves: &[(u16, u16)]) -> Result<(), PortError>;

    /// When this returns, no packet is in flight to a queue that its bucket left before the call. It may take some tens of
    /// milliseconds.
    ///
    /// # Errors
    /// What the device says.
    fn settle(&self) -> Result<(), PortError>;
}

impl<P: Port + ?Sized> Port for Box<P> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        (**self).receive(packets)
    }
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        (**self).transmit(packets)
    }
    fn flush(&mut self) -> Result<(), PortError> {
        (**self).flush()
    }
    fn max_frame(&self) -> usize {
        (**self).max_frame()
    }
    fn device_drops(&mut self) -> DeviceDrops {
        (**self).device_drops()
    }
    fn finished(&self) -> bool {
        (**self).finished()
    }
    fn fd(&self) -> Option<RawFd> {
        (**self).fd()
    }
    fn times_ns(&self) -> &[u64] {
        (**self).times_ns()
    }
    fn transmitter(&self) -> Result<Option<Box<dyn Port>>, PortError> {
        (**self).transmitter()
    }
    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        (**self).reopen()
    }
    fn unsent(&self) -> usize {
        (**self).unsent()
    }
    fn receives(&self) -> bool {
        (**self).receives()
    }
    fn waiting(&self) -> Option<usize> {
        (**self).waiting()
    }
    fn steering(&self) -> Option<(u16, Arc<dyn Steering>)> {
        (**self).steering()
    }
}

/// Packets lost outside our sight, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceDrops {
    /// Receive ring full.
    pub rx_full: u64,
    /// Received, but longer than a buffer or malformed for the device.
    pub rx_invalid: u64,
    /// Refused on transmission.
    pub tx_invalid: u64,
}

/// Why a port cannot be opened or used; the text names the interface or file and how to mend it.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// User's fault: no such interface or file, a bad option, a broken file.
    #[error("{0}")]
    Config(String),
    /// Another program has the interface; the text says how that ends. It is not to be shared by other means: both would answer.
    #[error("{0}")]
    Held(String),
    /// The process lacks a capability; the text names it.
    #[error("{0}")]
    Permission(String),
    /// The device or kernel failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, naming interface or file.
        what: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl PortError {
    /// An [`PortError::Io`] that says what was being done.
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> PortError {
        PortError::Io { what: what.into(), source }
    }
}
