//! What is counted, as data: user packets of a UE, and drops by reason.

use std::collections::BTreeMap;

use gnb::pdcp::CountGuard;
use gnb::sdap::DrbId;
use serde::{Deserialize, Serialize};
pub use traffic::ran::Count;

/// Drops by reason, as `layer.reason`. Reasons that did not happen are left out.
pub type Drops = BTreeMap<String, u64>;

/// One more of a reason.
pub fn count(drops: &mut Drops, reason: &str) {
    match drops.get_mut(reason) {
        Some(number) => *number += 1,
        None => {
            drops.insert(reason.to_owned(), 1);
        }
    }
}

/// Adds what a layer has counted, where it is not 0.
pub fn add_layer(drops: &mut Drops, layer: &str, counted: impl IntoIterator<Item = (&'static str, u64)>) {
    for (reason, number) in counted {
        if number > 0 {
            *drops.entry(format!("{layer}.{reason}")).or_default() += number;
        }
    }
}

/// Adds a packet.
pub fn add(count: &mut Count, bytes: usize) {
    count.packets += 1;
    count.bytes += bytes as u64;
}

/// Adds packets and bytes.
pub fn add_count(sum: &mut Count, more: Count) {
    (sum.packets, sum.bytes) = (sum.packets + more.packets, sum.bytes + more.bytes);
}

/// How near a bearer's COUNT is to its end, where it would come round and use a key twice (TS 33.501 §6.9.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountState {
    /// Far.
    Ok,
    /// From [`CountGuard::notify`] on: the bearer needs new keys soon.
    High,
    /// At [`CountGuard::stop`]: nothing more is sent or taken under these keys.
    Exhausted,
}

impl CountState {
    /// Of the COUNT that is next.
    pub fn of(next: u32) -> CountState {
        let CountGuard { notify, stop } = CountGuard::default();
        match next {
            // The one before was the first to be told of.
            next if next >= stop => CountState::Exhausted,
            next if next > notify => CountState::High,
            _ => CountState::Ok,
        }
    }
}

/// Where a bearer's COUNTs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BearerCounts {
    /// The bearer.
    pub id: u8,
    /// COUNT of the first downlink SDU that has none yet.
    pub downlink_count: u32,
    /// Behind the highest uplink COUNT that came. Not there where the data path keeps it only when it is high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_count: Option<u32>,
    /// Of the direction that is nearer to its end.
    pub state: CountState,
}

impl BearerCounts {
    /// Of a bearer.
    pub fn new(drb: DrbId, downlink_count: u32, uplink_count: Option<u32>) -> BearerCounts {
        let state = CountState::of(downlink_count.max(uplink_count.unwrap_or(0)));
        BearerCounts { id: drb.get(), downlink_count, uplink_count, state }
    }
}

/// Those of a UE.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UeCounts {
    /// The UE's number.
    pub id: u16,
    /// Its bearers.
    pub drb: Vec<BearerCounts>,
}

/// What a gNodeB or a process of UEs has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// By UE.
    pub ues: Vec<UeReport>,
    /// What belongs to no UE.
    pub drops: Drops,
}

/// One UE.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UeReport {
    /// Its number.
    pub ue: u16,
    /// User packets from the UE, from their IP header on: sent by a UE into PDCP, by a CU to the UPF.
    pub uplink: Count,
    /// User packets to the UE: taken by a CU from the UPF, by a UE's device.
    pub downlink: Count,
    /// Of `downlink`, what the target in front of the program has carried (`split.fast`).
    #[serde(default)]
    pub downlink_fast: Count,
    /// What the kernel counts as sent by the UE's device.
    pub kernel_tx: Option<Count>,
    /// What the kernel counts as received by the UE's device.
    pub kernel_rx: Option<Count>,
    /// RLC PDUs that were sent.
    pub radio_sent: Count,
    /// RLC PDUs with bytes that were sent before.
    pub retransmissions: u64,
    /// RLC PDUs that came.
    pub radio_received: Count,
    /// SDUs whose RLC has given up by `maxRetxThreshold`.
    pub radio_link_failures: u64,
    /// Directions of bearers whose COUNT came so high that new keys are needed ([`CountState::High`]), each once for a key.
    #[serde(default)]
    pub count_high: u64,
    /// End Markers on its tunnels.
    pub end_markers: u64,
    /// SDUs that were sent to another gNodeB at a handover.
    #[serde(default)]
    pub forwarded_sent: Count,
    /// SDUs that another gNodeB has sent at a handover.
    #[serde(default)]
    pub forwarded_received: Count,
    /// What was dropped, by layer and reason.
    pub drops: Drops,
}

impl UeReport {
    /// Adds what the UE has counted before.
    pub fn absorb(&mut self, before: &UeReport) {
        for (sum, more) in [
            (&mut self.uplink, before.uplink),
            (&mut self.downlink, before.downlink),
            (&mut self.downlink_fast, before.downlink_fast),
            (&mut self.radio_sent, before.radio_sent),
            (&mut self.radio_received, before.radio_received),
            (&mut self.forwarded_sent, before.forwarded_sent),
            (&mut self.forwarded_received, before.forwarded_received),
        ] {
            add_count(sum, more);
        }
        self.retransmissions += before.retransmissions;
        self.radio_link_failures += before.radio_link_failures;
        self.end_markers += before.end_markers;
        self.count_high += before.count_high;
        for (reason, number) in &before.drops {
            *self.drops.entry(reason.clone()).or_default() += number;
        }
    }
}
