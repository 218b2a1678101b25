//! Handover: what do two gNodeBs tell each other about a UE, and in which order (TS 38.300 §9.2.3.2)?
//!
//! | verb, to | stands for (TS 38.423 §8.2, TS 37.483 §8.3) | what is done |
//! |---|---|---|
//! | `prepare`, target | HANDOVER REQUEST and its answer; Bearer Context Setup | bearers are made, and wait; forwarding tunnels are opened: [`Forwarding`] |
//! | `handover`, source | Bearer Context Modification, PDCP SN Status Request | the radio is left; what the UE may not have is forwarded, and all that comes later: [`SnStatus`] |
//! | `status`, target | SN STATUS TRANSFER | bearers go on with the source's numbers, under the target's keys |
//! | `reconfigure`, UE | RRCReconfiguration with sync (TS 38.331 §5.3.5.5) | RLC begins anew, PDCP is re-established; then it sends to the target |
//! | none, UPF | Path Switch Request | packets come to the target, and wait there; the End Marker comes to the source, which forwards it |
//! | `release`, source | UE CONTEXT RELEASE | nothing is left |
//!
//! The target sends nothing by radio before the UE has: it would be lost. A UE with bearers of RLC UM only has nothing to send; there the target begins at once.
//!
//! Left out of it: the bitmap of SN STATUS TRANSFER, as the forwarded uplink SDUs say it; CU-UP and DU apart; bearers of `p4/gnb.p4`.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};

use gnb::pdcp::handover::PathSwitch;
use gnb::rlc::SnLength;
use serde::{Deserialize, Serialize};
use wire::gtpu::{Message, Repr};

use crate::{forwarding, n3};

/// How long packets of the new path wait for the End Marker, which may be lost, from the first of them on.
pub(crate) const END_MARKER_NS: u64 = gnb::pdcp::handover::FORWARDING_NS;
/// Packets that are forwarded in [`FORWARD_EVERY_NS`]: a window of them at once would be more than a socket holds.
const FORWARD: usize = 128;
const FORWARD_EVERY_NS: u64 = 1_000_000;
/// TEIDs of forwarding tunnels begin here.
pub(crate) const FIRST_TEID: u32 = 0x8000_0000;

/// A UE's forwarding tunnels, as the target has opened them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forwarding {
    /// The UE's number.
    pub id: u16,
    /// The target's N3 address.
    pub to: Ipv4Addr,
    /// Its bearers, each once.
    pub drb: Vec<Tunnels>,
}

/// A bearer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tunnels {
    /// The bearer.
    pub id: u8,
    /// TEID of the tunnel for downlink SDUs.
    pub downlink_teid: u32,
    /// TEID of the tunnel for uplink SDUs that came ahead of a missing one.
    pub uplink_teid: u32,
}

/// Where a UE's bearers of RLC AM have ended at the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnStatus {
    /// The UE's number.
    pub id: u16,
    /// Its bearers of RLC AM, each once.
    pub drb: Vec<DrbStatus>,
}

/// A bearer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrbStatus {
    /// The bearer.
    pub id: u8,
    /// COUNT of the first downlink SDU that has none yet.
    pub downlink_count: u32,
    /// COUNT of the first uplink SDU that is missing.
    pub uplink_count: u32,
}

/// What has come by a forwarding tunnel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// An SDU that goes to the UE.
    Downlink(Option<u32>, Vec<u8>),
    /// An SDU of the UE, which has a sequence number.
    Uplink(u32, Vec<u8>),
    /// Nothing more comes downlink.
    EndMarker,
}

impl Held {
    fn len(&self) -> u64 {
        match self {
            Held::Downlink(_, sdu) | Held::Uplink(_, sdu) => sdu.len() as u64,
            Held::EndMarker => 0,
        }
    }
}

/// A bearer at the target.
pub(crate) struct Arriving {
    /// What came before the source's numbers; `None`: they are there.
    held: Option<Vec<Held>>,
    bytes: u64,
    limit_bytes: u64,
    pub(crate) switch: PathSwitch,
}

impl Arriving {
    pub(crate) fn new(limit_bytes: u64) -> Arriving {
        Arriving { held: Some(Vec::new()), bytes: 0, limit_bytes, switch: PathSwitch::new(limit_bytes, END_MARKER_NS) }
    }

    /// Holds what came, or gives it back if numbers are there. For more than `limit_bytes` there is no room.
    pub(crate) fn hold(&mut self, came: Held) -> Result<Option<Held>, &'static str> {
        let Some(held) = &mut self.held else { return Ok(Some(came)) };
        // An End Marker has its place in the order, and its cost.
        let bytes = came.len().max(64);
        if self.bytes + bytes > self.limit_bytes {
            return Err("forwarding.queue");
        }
        self.bytes += bytes;
        held.push(came);
        Ok(None)
    }

    /// Numbers are there: what was held, in order.
    pub(crate) fn begin(&mut self) -> Vec<Held> {
        self.held.take().unwrap_or_default()
    }

    /// Whether the source's numbers are there.
    pub(crate) fn has_begun(&self) -> bool {
        self.held.is_none()
    }
}

/// What is to be forwarded, in order, so much at a time.
#[derive(Default)]
pub(crate) struct Backlog {
    queue: VecDeque<(u16, SocketAddrV4, Vec<u8>)>,
    next_ns: u64,
}

impl Backlog {
    /// An SDU; `number`: its COUNT.
    pub(crate) fn sdu(&mut self, ue: u16, to: SocketAddrV4, teid: u32, number: Option<(SnLength, u32)>, sdu: &[u8]) {
        self.queue.push_back((ue, to, forwarding::emit(teid, number, sdu)));
    }

    /// An End Marker behind them.
    pub(crate) fn end_marker(&mut self, ue: u16, to: SocketAddrV4, teid: u32) {
        self.queue.push_back((ue, to, n3::emit(&Repr::new(teid, None, Message::EndMarker))));
    }

    /// Datagrams of a UE, which is no more, are dropped.
    pub(crate) fn release(&mut self, ue: u16) {
        self.queue.retain(|(of, ..)| *of != ue);
    }

    /// What may be sent now.
    pub(crate) fn send(&mut self, now_ns: u64, mut send: impl FnMut(u16, SocketAddrV4, Vec<u8>)) {
        if now_ns < self.next_ns || self.queue.is_empty() {
            return;
        }
        for (ue, to, datagram) in self.queue.drain(..FORWARD.min(self.queue.len())) {
            send(ue, to, datagram);
        }
        self.next_ns = now_ns + FORWARD_EVERY_NS;
    }

    /// When to call [`Backlog::send`].
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.next_ns)
    }
}
