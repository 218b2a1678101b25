//! Capture files: reading pcap and pcapng, writing pcap, and both as a port.
//!
//! Link types: Ethernet, and raw IP (LINKTYPE_RAW, _IPV4, _IPV6), to which an Ethernet header is added so that one pipeline serves both:
//! destination 02:00:00:00:00:01, source 02:00:00:00:00:02, EtherType by the IP version. Any other is refused by name.
//!
//! `read` turns bytes into packets without trusting a length in them, `write` is its inverse, `port` makes them a [`crate::Port`].

mod port;
mod read;
mod write;

pub use port::PcapPort;
pub use read::{PcapPacket, PcapReader, read_all};
pub use write::PcapWriter;
