//! Does a veth send what programs redirect to it, where the kernel does not say (before Linux 6.3)? One frame is redirected to it, and
//! its counters tell what became of the frame.
//!
//! A veth hands redirected frames to its far end's ring, which there is while that end is up and has an XDP program or GRO
//! (drivers/net/veth.c, `veth_xdp_xmit`). A frame that found the ring is counted by `tx_queue_N_xdp_xmit`, or, where the ring was full,
//! `tx_queue_N_xdp_xmit_errors`; one that did not is in neither. Other drivers count otherwise: only a veth is to be asked here.
//!
//! The frame goes to the interface's own address, from it, with the EtherType that IEEE 802 leaves for local experiments: a host at the
//! far end drops it, a bridge knows that its addressee is where it came from.

use crate::LoadError;
use crate::compile;
use crate::object::Object;
use crate::sys;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

const TEXT: &str = include_str!("probe.c");
/// `ETH_P_802_EX1` of <linux/if_ether.h>.
pub const ETHERTYPE: u16 = 0x88b5;
/// Bytes of the frame: the shortest of Ethernet, without its checksum.
pub const FRAME_LEN: usize = 60;

/// A program in the kernel that redirects one frame.
pub struct Probe {
    program: aya::programs::ProgramFd,
}

impl Probe {
    /// Loads it; it is compiled unless it is shipped.
    pub fn load(shipped: Option<&c_compile::Shipped>) -> Result<Probe, LoadError> {
        crate::sys::require_capabilities()?;
        let objects = compile::Objects { shipped, ..Default::default() };
        let object = Object::load(&compile::compile(TEXT, &[], &objects)?, &Default::default(), &["sp_probe"])?;
        Ok(Probe { program: object.program_fd("sp_probe")? })
    }

    /// Compiles it ahead; names of the files in `to`.
    ///
    /// # Errors
    /// As for [`crate::compile_ahead`].
    pub fn compile_ahead(cc: Option<&std::path::Path>, to: &c_compile::Shipped) -> Result<Vec<String>, LoadError> {
        compile::ahead(TEXT, cc, &[Vec::new()], to)
    }

    /// Whether the veth sends what is redirected to it: it is tried with a frame, which its far end gets if so. Others that redirect to
    /// it at the same time may make a no a yes. Of the calling thread's network namespace.
    ///
    /// # Errors
    /// What the kernel says to the frame (it needs Linux 5.18), and [`taken`]'s.
    pub fn sends_redirected(&self, interface: &str, ifindex: u32, mac: [u8; 6]) -> io::Result<bool> {
        let mut frame = [&mac[..], &mac, &ETHERTYPE.to_be_bytes(), &ifindex.to_ne_bytes()].concat();
        frame.extend(b"does this end take redirected frames?");
        frame.resize(FRAME_LEN, 0);
        let before = taken(interface)?;
        // When the call returns, the frame is where it goes.
        sys::send_frames(self.program.as_fd().as_raw_fd(), &frame, 1)?;
        Ok(taken(interface)? != before)
    }
}

/// Redirected frames that a veth's far end has taken or had no room for, so far.
///
/// # Errors
/// `Unsupported` for an interface without such a count.
pub fn taken(interface: &str) -> io::Result<u64> {
    sum(interface, |what| matches!(what, SENT | REFUSED))
}

/// Redirected frames that a veth has dropped so far, as its far end's ring was full or they were longer than its MTU. The program counts
/// them as sent: the driver sends what it redirects after it has ended.
///
/// # Errors
/// `Unsupported` for an interface without such a count.
pub fn refused(interface: &str) -> io::Result<u64> {
    sum(interface, |what| what == REFUSED)
}

const SENT: &str = "xdp_xmit";
const REFUSED: &str = "xdp_xmit_errors";

/// Over all queues, the counters of redirected frames with one of these names.
fn sum(interface: &str, wanted: impl Fn(&str) -> bool) -> io::Result<u64> {
    let counters = sys::veth_counters(interface)?;
    let counts = counters.iter().filter(|(name, _)| of_a_queue(name).is_some_and(&wanted)).map(|(_, n)| *n);
    counts.reduce(u64::wrapping_add).ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "it does not count redirected frames"))
}

/// `xdp_xmit` of `tx_queue_0_xdp_xmit`.
fn of_a_queue(name: &str) -> Option<&str> {
    let (queue, what) = name.strip_prefix("tx_queue_")?.split_once('_')?;
    queue.parse::<u32>().is_ok().then_some(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_of_redirected_frames_are_taken() {
        assert_eq!(of_a_queue("tx_queue_0_xdp_xmit"), Some(SENT));
        assert_eq!(of_a_queue("tx_queue_12_xdp_xmit_errors"), Some(REFUSED));
        for name in ["", "peer_ifindex", "tx_queue_", "tx_queue_0", "rx_queue_0_xdp_tx", "tx_queue_x_xdp_xmit", "tx_queue_0_xdp_tx"] {
            assert!(!matches!(of_a_queue(name), Some(SENT | REFUSED)), "{name}");
        }
    }

    #[test]
    fn an_interface_without_such_a_count_gives_none() {
        assert!(taken("lo").is_err());
        assert!(taken("no such interface").is_err());
        assert!(taken("").is_err() && refused("").is_err());
    }
}
