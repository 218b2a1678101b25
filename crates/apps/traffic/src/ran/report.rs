//! What the gNodeB has counted, as data. Per UE: `kernel_tx` = `uplink` + uplink drops, and `kernel_rx` = `downlink`, exactly.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, of user packets from their IP header on.
    pub bytes: u64,
}

/// A snapshot of the gNodeB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// UEs, those that were detached with their last counts, in the order of attaching.
    pub ues: Vec<UeReport>,
    /// What belongs to no UE.
    pub node: NodeReport,
}

/// One UE.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UeReport {
    /// The UPF's SEID, from the session record.
    pub seid: u64,
    /// IPv4 address.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// IPv6 prefix.
    pub ue_ipv6: Option<Ipv6Addr>,
    /// Its device; `None` without devices.
    pub tun: Option<String>,
    /// User packets sent to the UPF.
    pub uplink: Count,
    /// User packets from the UPF, delivered.
    pub downlink: Count,
    /// What the kernel counts as sent by the device.
    pub kernel_tx: Option<Count>,
    /// What the kernel counts as received by the device.
    pub kernel_rx: Option<Count>,
    /// Packets that the kernel dropped because the device's queue was full.
    pub kernel_tx_dropped: Option<u64>,
    /// User packets dropped, by reason; reasons that did not happen are left out.
    pub drops: BTreeMap<String, Count>,
    /// Router solicitations sent and advertisements received: not user packets, so neither in `uplink` nor in `downlink`.
    pub router_solicitations: u64,
    /// See `router_solicitations`.
    pub router_advertisements: u64,
    /// End Markers on its tunnels.
    pub end_markers: u64,
    /// Error Indications for its uplink tunnel.
    pub error_indications: u64,
}

/// GTP-U messages that belong to no UE.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Datagrams received on the GTP-U socket.
    pub datagrams: u64,
    /// Datagrams that the kernel dropped because we were too slow.
    pub socket_drops: Option<u64>,
    /// Not a GTP-U message of version 1, or wrong inside.
    pub malformed: u64,
    /// G-PDUs and End Markers for an unknown TEID; G-PDUs are answered with an Error Indication.
    pub unknown_teid: u64,
    /// Echo Requests answered.
    pub echo_requests: u64,
    /// Echo Responses received.
    pub echo_responses: u64,
    /// Error Indications for tunnels that no UE has.
    pub error_indications: u64,
    /// Messages of other types.
    pub other: u64,
}

impl Report {
    /// All UEs together: uplink and downlink.
    pub fn totals(&self) -> (Count, Count) {
        let sum = |of: fn(&UeReport) -> Count| {
            self.ues.iter().map(of).fold(Count::default(), |a, b| Count { packets: a.packets + b.packets, bytes: a.bytes + b.bytes })
        };
        (sum(|ue| ue.uplink), sum(|ue| ue.downlink))
    }

    /// What does not add up, in words: kernel against our own counts, packets lost before us. Empty: every packet is
    /// accounted for.
    pub fn discrepancies(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for ue in &self.ues {
            let name = ue.tun.as_deref().unwrap_or("UE without device");
            let mut sent = ue.uplink;
            for drop in super::DropReason::UPLINK {
                let dropped = ue.drops.get(drop.name()).copied().unwrap_or_default();
                sent = Count { packets: sent.packets + dropped.packets, bytes: sent.bytes + dropped.bytes };
            }
            if let Some(kernel) = ue.kernel_tx.filter(|kernel| *kernel != sent) {
                wrong.push(format!("{name}: the kernel sent {kernel:?}, we read {sent:?}"));
            }
            if let Some(kernel) = ue.kernel_rx.filter(|kernel| *kernel != ue.downlink) {
                wrong.push(format!("{name}: the kernel received {kernel:?}, we wrote {:?}", ue.downlink));
            }
            if let Some(dropped) = ue.kernel_tx_dropped.filter(|dropped| *dropped > 0) {
                wrong.push(format!("{name}: the kernel dropped {dropped} packets before us"));
            }
        }
        if let Some(dropped) = self.node.socket_drops.filter(|dropped| *dropped > 0) {
            wrong.push(format!("the kernel dropped {dropped} datagrams before us"));
        }
        wrong
    }
}

/// A [`Count`] that threads add to.
#[derive(Debug, Default)]
pub(super) struct Counter {
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    pub(crate) fn add(&self, bytes: usize) {
        self.add_many(1, bytes);
    }

    pub(crate) fn add_many(&self, packets: usize, bytes: usize) {
        self.packets.fetch_add(packets as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> Count {
        Count { packets: self.packets.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}
