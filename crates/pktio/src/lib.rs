//! Ports: where packets come from and go to. One trait, a file for each kind.

use base::Packet;

/// A packet interface that one worker polls.
pub trait Port: Send {
    /// Name for logs and counters, e.g. `n3 (af_xdp veth0)`.
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
