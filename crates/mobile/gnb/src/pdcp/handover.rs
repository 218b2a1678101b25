//! Handover: what of a bearer passes from one gNodeB to another, so that nothing is lost, doubled or overtaken (TS 38.300 §9.2.3.2)?
//!
//! The source takes its entities apart ([`super::Tx::hand_over`], [`super::Rx::hand_over`]); what they give is the content of Xn's SN STATUS TRANSFER and of the
//! forwarding tunnels. The target makes its own of it ([`super::Tx::take_over`], [`super::Rx::take_over`]), under new keys, with all SDUs at once or with each as it comes by
//! its tunnel ([`super::Tx::forwarded`], [`super::Rx::forwarded`]); RLC begins anew on both sides, and the UE re-establishes PDCP. Packets that the source gets later are
//! forwarded, those of the UPF's new path wait at the target for the End Marker ([`PathSwitch`]).
//!
//! Left out: the messages themselves (TS 38.423), forwarding by PDU session, DAPS, and full configuration, with which nothing is kept.

use std::collections::VecDeque;

/// How long a target waits for what the source has received of the UE and forwards, in ns: for so long the receiving window is half of the numbers, however short the
/// configured one is. The UE counts those SDUs as delivered and goes on behind them, as fast as the target's RLC acknowledges.
pub const FORWARDING_NS: u64 = 500_000_000;

/// The downlink of a bearer: `TX_NEXT` and what the UE may not have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Downlink {
    /// COUNT of the first SDU that has none yet. RLC UM: 0.
    pub next: u32,
    /// SDUs with their COUNT, in order. The UE has those that are left out before `next`. RLC UM: none.
    pub numbered: Vec<(u32, Vec<u8>)>,
    /// SDUs that have no COUNT, in order.
    pub fresh: Vec<Vec<u8>>,
}

/// The uplink of a bearer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uplink {
    /// COUNT of the first SDU that is missing: all before it have gone to the UPF. RLC UM: 0.
    pub deliv: u32,
    /// What came behind it, in order of COUNT; without SDU: it has gone to the UPF already.
    pub waiting: Vec<(u32, Option<Vec<u8>>)>,
}

/// Why a target does not take over: nothing was made. What comes by Xn is not believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HandoverError {
    /// The bearer's parameters.
    #[error("{0}")]
    Config(#[from] super::ConfigError),
    /// COUNTs that do not rise, or are on the wrong side of the first that is missing or free.
    #[error("COUNT {0}: expected COUNTs that rise, downlink below `next`, uplink above `deliv`")]
    Count(u32),
    /// More COUNTs than the bearer's window.
    #[error("COUNT {0}: beyond the bearer's window")]
    Window(u32),
    /// An SDU of no byte or too many, or more bytes than the bearer may keep.
    #[error("the SDU of COUNT {0}: empty, too long, or more than the bearer may keep")]
    Sdu(u32),
}

/// Downlink packets at the target until the source has forwarded all: those of the new path wait for the End Marker of the old one (TS 29.281 §7.3.2), or for a time.
#[derive(Debug)]
pub struct PathSwitch {
    waiting: VecDeque<Vec<u8>>,
    bytes: u64,
    limit_bytes: u64,
    longest_ns: u64,
    until_ns: Option<u64>,
    ended: bool,
    dropped: u64,
}

/// What a packet of so many octets that waits for a handover counts as, in bytes: an empty one takes memory too.
pub fn held_bytes(octets: usize) -> u64 {
    (octets as u64).max(64)
}

impl PathSwitch {
    /// A handover has begun. More than `limit_bytes` do not wait, and nothing waits for longer than `longest_ns`: the End Marker may be lost.
    pub fn new(limit_bytes: u64, longest_ns: u64) -> PathSwitch {
        PathSwitch { waiting: VecDeque::new(), bytes: 0, limit_bytes, longest_ns, until_ns: None, ended: false, dropped: 0 }
    }

    /// A packet of the new path: it is given back if it need not wait. One for which there is no room is dropped, counted.
    pub fn packet(&mut self, packet: Vec<u8>, now_ns: u64) -> Option<Vec<u8>> {
        if self.ended {
            return Some(packet);
        }
        let bytes = held_bytes(packet.len());
        if self.bytes + bytes > self.limit_bytes {
            self.dropped += 1;
            return None;
        }
        self.until_ns.get_or_insert(now_ns.saturating_add(self.longest_ns));
        self.bytes += bytes;
        self.waiting.push_back(packet);
        None
    }

    /// The End Marker came behind all that was forwarded: what waits goes on, in order.
    pub fn end_marker(&mut self, go_on: &mut impl FnMut(Vec<u8>)) {
        (self.ended, self.until_ns, self.bytes) = (true, None, 0);
        self.waiting.drain(..).for_each(go_on);
    }

    /// Waits no longer when the time is over. Whether it was.
    pub fn advance(&mut self, now_ns: u64, go_on: &mut impl FnMut(Vec<u8>)) -> bool {
        let is_over = crate::expired(self.until_ns, now_ns);
        if is_over {
            self.end_marker(go_on);
        }
        is_over
    }

    /// When to call [`PathSwitch::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.until_ns
    }

    /// Packets that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Packets that found no room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Checks COUNTs one by one: they rise, from `first` on, to below `end`, and span no more than a window.
pub(super) struct Rising {
    pub(super) from: u32,
    pub(super) end: u32,
    pub(super) first: Option<u32>,
    pub(super) window: u32,
}

impl Rising {
    pub(super) fn check(&mut self, count: u32) -> Result<(), HandoverError> {
        if count < self.from || count >= self.end {
            return Err(HandoverError::Count(count));
        }
        let first = *self.first.get_or_insert(count);
        if count - first >= self.window {
            return Err(HandoverError::Window(count));
        }
        self.from = count + 1;
        Ok(())
    }
}
