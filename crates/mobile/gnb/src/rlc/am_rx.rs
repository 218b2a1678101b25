//! AM, receiving: which SDUs are whole, and what does a STATUS say (TS 38.322 §5.2.3.2, §5.3.4)?
//!
//! A bit for each number of the window says that its SDU was handed up, another that a part of it is here. An SDU in order touches neither. A
//! STATUS is built when a grant is there for it, never before: while something is missing, a PDU costs no more than one in order.
//!
//! Left out of TS 38.322:
//! - §6.2.2.5: a NACK range names whole SDUs only; segments have NACKs of their own.

use std::collections::HashMap;

use buffer::status::{self, Nack, SO_END};

use super::bits::Bits;
use super::pdu::{Amd, Si};
use super::reassembly::{Partial, SegmentFault};
use super::{ConfigError, MAX_SDU, SnLength, check_timer};

/// Parameters of the receiving side (TS 38.331 `DL-AM-RLC`/`UL-AM-RLC`, TS 38.322 §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxConfig {
    /// Length of sequence numbers.
    pub sn_length: SnLength,
    /// How far ahead of the first missing SDU one is taken: 1 to `AM_Window_Size`. What is further is dropped and sent again, so it should not
    /// be less than the peer's window.
    pub window: u32,
    /// Most bytes of SDUs that are not whole.
    pub partial_bytes: usize,
    /// `t-Reassembly`, ns.
    pub reassembly_ns: u64,
    /// `t-StatusProhibit`, ns.
    pub status_prohibit_ns: u64,
}

impl RxConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_timer("reassembly_ns", self.reassembly_ns)?;
        check_timer("status_prohibit_ns", self.status_prohibit_ns)?;
        match () {
            () if !(1..=self.sn_length.window()).contains(&self.window) => Err(ConfigError::Window),
            () if self.partial_bytes < MAX_SDU => Err(ConfigError::Room("partial_bytes")),
            () => Ok(()),
        }
    }
}

/// State variables (TS 38.322 §7.1). Numbers are counts that wrap at 32 bits, not at the length of sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxState {
    /// `RX_Next`: the first SDU that is not whole.
    pub rx_next: u32,
    /// `RX_Next_Status_Trigger`: behind the SDU that started `t-Reassembly`.
    pub rx_next_status_trigger: u32,
    /// `RX_Highest_Status`: the highest `ACK_SN` that a STATUS may have.
    pub rx_highest_status: u32,
    /// `RX_Next_Highest`: behind the highest SDU of which something came.
    pub rx_next_highest: u32,
}

reasons! {
    /// Why a PDU is dropped.
    RxDrop {
        /// Its number is outside of the receiving window (§5.2.3.2.2).
        OutsideWindow = "outside_window",
        /// Its number is inside, but further ahead than is configured.
        Limit = "limit",
        /// All of its bytes are here.
        Duplicate = "duplicate",
        /// A segment outside of its SDU, or an SDU that is too long.
        BeyondSdu = "beyond_sdu",
        /// Its SDU is in too many pieces.
        Pieces = "pieces",
        /// There is no room for more SDUs that are not whole.
        PartialBytes = "partial_bytes",
    }
}

impl From<SegmentFault> for RxDrop {
    fn from(fault: SegmentFault) -> RxDrop {
        match fault {
            SegmentFault::Duplicate => RxDrop::Duplicate,
            SegmentFault::BeyondSdu => RxDrop::BeyondSdu,
            SegmentFault::Pieces => RxDrop::Pieces,
        }
    }
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxCounters {
    /// PDUs that were taken.
    pub pdus: u64,
    /// SDUs that were handed up.
    pub delivered: u64,
    /// STATUS PDUs that were made.
    pub statuses: u64,
    /// Expiries of `t-Reassembly`.
    pub reassembly_expiries: u64,
    /// PDUs that were dropped, by [`RxDrop`].
    pub dropped: [u64; RxDrop::ALL.len()],
}

/// The receiving side of an AM entity.
pub struct AmRx {
    config: RxConfig,
    state: RxState,
    /// Of `RX_Next` to `RX_Next_Highest`: handed up; and: partly here.
    whole: Bits,
    partial: Bits,
    partials: HashMap<u32, Partial>,
    partial_bytes: usize,
    /// `t-Reassembly` and `t-StatusProhibit`.
    reassembly: Option<u64>,
    status_prohibit: Option<u64>,
    status_due: bool,
    /// PDUs whose polls wait until `RX_Highest_Status` has passed them (§5.3.4), the first of them, and how many.
    polls: Bits,
    first_poll: u32,
    polls_waiting: u32,
    /// Scratch of [`AmRx::pull_status`].
    nacks: Vec<Nack>,
    counters: RxCounters,
}

impl AmRx {
    /// An entity that has received nothing. Takes memory for its window.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: RxConfig) -> Result<AmRx, ConfigError> {
        config.check()?;
        Ok(AmRx {
            config,
            state: RxState::default(),
            whole: Bits::new(config.window),
            partial: Bits::new(config.window),
            partials: HashMap::new(),
            partial_bytes: 0,
            reassembly: None,
            status_prohibit: None,
            status_due: false,
            polls: Bits::new(config.window),
            first_poll: 0,
            polls_waiting: 0,
            nacks: Vec::new(),
            counters: RxCounters::default(),
        })
    }

    /// Goes on with other timers. One that runs stays as it is.
    ///
    /// # Errors
    /// [`ConfigError`], also if sequence numbers or window are others; nothing has changed then.
    pub(super) fn reconfigure(&mut self, config: RxConfig) -> Result<(), ConfigError> {
        config.check()?;
        match () {
            () if config.sn_length != self.config.sn_length => return Err(ConfigError::SnLength),
            () if config.window != self.config.window => return Err(ConfigError::Window),
            () => {}
        }
        self.config = config;
        Ok(())
    }

    /// Processes an AMD PDU. An SDU that is whole now is given to `deliver`.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted. A poll counts all the same; nothing else has changed.
    #[inline]
    pub fn receive(&mut self, pdu: &Amd<'_>, now_ns: u64, deliver: &mut impl FnMut(&[u8])) -> Result<(), RxDrop> {
        match self.place(pdu, deliver) {
            Ok(count) => {
                self.counters.pdus += 1;
                self.update_reassembly(now_ns);
                if pdu.poll && !self.polls.get(count) {
                    if self.polls_waiting == 0 || (count.wrapping_sub(self.first_poll) as i32) < 0 {
                        self.first_poll = count;
                    }
                    self.polls.set(count);
                    self.polls_waiting += 1;
                }
                self.check_polls();
                Ok(())
            }
            Err(drop) => {
                self.counters.dropped[drop as usize] += 1;
                // §5.3.4: the poll of a PDU that is discarded counts. Were it ignored, a peer whose PDUs all came, but none of our STATUS PDUs,
                // would poll in vain.
                self.status_due |= pdu.poll;
                Err(drop)
            }
        }
    }

    /// Places a PDU in the reception buffer (§5.2.3.2.2, §5.2.3.2.3); the count of its SDU.
    #[inline]
    fn place(&mut self, pdu: &Amd<'_>, deliver: &mut impl FnMut(&[u8])) -> Result<u32, RxDrop> {
        let ahead = pdu.sn.wrapping_sub(self.state.rx_next) & self.config.sn_length.mask();
        if ahead >= self.config.sn_length.window() {
            return Err(RxDrop::OutsideWindow);
        }
        if ahead >= self.config.window {
            return Err(RxDrop::Limit);
        }
        let count = self.state.rx_next.wrapping_add(ahead);
        if self.whole.get(count) {
            return Err(RxDrop::Duplicate);
        }
        let whole = if pdu.si == Si::Whole {
            if pdu.data.len() > MAX_SDU {
                return Err(RxDrop::BeyondSdu);
            }
            if self.partial.get(count) {
                self.forget_partial(count);
            }
            deliver(pdu.data);
            true
        } else {
            self.add_segment(count, pdu, deliver)?
        };
        if self.state.rx_next_highest.wrapping_sub(count) as i32 <= 0 {
            self.state.rx_next_highest = count.wrapping_add(1);
        }
        if whole {
            self.counters.delivered += 1;
            self.complete(count);
        }
        Ok(count)
    }

    /// Whether the segment has made its SDU whole.
    fn add_segment(&mut self, count: u32, pdu: &Amd<'_>, deliver: &mut impl FnMut(&[u8])) -> Result<bool, RxDrop> {
        let end = usize::from(pdu.so) + pdu.data.len();
        let known = self.partials.get(&count);
        let more = end.saturating_sub(known.map_or(0, Partial::bytes));
        // A segment that is wrong in itself is named so, however full the buffer is.
        if end <= MAX_SDU && more > 0 && self.partial_bytes + more > self.config.partial_bytes {
            return Err(RxDrop::PartialBytes);
        }
        if known.is_none() && end > MAX_SDU {
            return Err(RxDrop::BeyondSdu);
        }
        let partial = self.partials.entry(count).or_default();
        let before = partial.bytes();
        partial.add(pdu.so, pdu.data, pdu.si.ends())?;
        self.partial_bytes += partial.bytes() - before;
        self.partial.set(count);
        let Some(sdu) = partial.whole() else { return Ok(false) };
        deliver(sdu);
        self.forget_partial(count);
        Ok(true)
    }

    fn forget_partial(&mut self, count: u32) {
        self.partial.clear(count);
        self.partial_bytes -= self.partials.remove(&count).map_or(0, |partial| partial.bytes());
    }

    /// An SDU is whole: moves `RX_Highest_Status` and `RX_Next` (§5.2.3.2.3).
    #[inline]
    fn complete(&mut self, count: u32) {
        let next = count.wrapping_add(1);
        let is_next = count == self.state.rx_next;
        if !is_next {
            self.whole.set(count);
        }
        if count == self.state.rx_highest_status {
            self.state.rx_highest_status = self.first_missing(next);
        }
        if is_next {
            self.state.rx_next = self.first_missing(next);
            self.whole.clear_range(next, self.state.rx_next.wrapping_sub(next));
        }
    }

    /// The first SDU from `count` on that is not whole.
    #[inline]
    fn first_missing(&self, count: u32) -> u32 {
        let highest = self.state.rx_next_highest;
        let ahead = highest.wrapping_sub(count) as i32;
        if ahead <= 0 { count } else { self.whole.find(count, ahead as u32, false).unwrap_or(highest) }
    }

    /// Stops or starts `t-Reassembly` (§5.2.3.2.3).
    #[inline]
    fn update_reassembly(&mut self, now_ns: u64) {
        let next = self.state.rx_next;
        if self.reassembly.is_some() {
            let ahead = self.state.rx_next_status_trigger.wrapping_sub(next);
            let window = self.config.sn_length.window();
            if ahead == 0 || (ahead == 1 && !self.has_gap(next)) || ahead > window {
                self.reassembly = None;
            }
        }
        if self.reassembly.is_none() {
            self.start_reassembly(next, now_ns);
        }
    }

    /// Starts it if something is missing from `first` on, before what came.
    #[inline]
    fn start_reassembly(&mut self, first: u32, now_ns: u64) {
        let ahead = self.state.rx_next_highest.wrapping_sub(first) as i32;
        if ahead > 1 || (ahead == 1 && self.has_gap(first)) {
            self.reassembly = Some(now_ns + self.config.reassembly_ns);
            self.state.rx_next_status_trigger = self.state.rx_next_highest;
        }
    }

    /// Whether a byte of an SDU is missing before the last one that is here.
    fn has_gap(&self, count: u32) -> bool {
        self.partial.get(count) && self.partials.get(&count).is_some_and(Partial::has_gap)
    }

    /// A poll triggers a STATUS as soon as `RX_Highest_Status` is behind its PDU (§5.3.4).
    #[inline]
    fn check_polls(&mut self) {
        while self.polls_waiting > 0 && (self.first_poll.wrapping_sub(self.state.rx_highest_status) as i32) < 0 {
            self.status_due = true;
            self.polls.clear(self.first_poll);
            self.polls_waiting -= 1;
            let next = self.first_poll.wrapping_add(1);
            let behind = self.state.rx_next_highest.wrapping_sub(next);
            self.first_poll = self.polls.find(next, behind, true).unwrap_or(next);
        }
    }

    /// Lets `t-Reassembly` expire (§5.2.3.2.4).
    pub fn advance(&mut self, now_ns: u64) {
        if !crate::expired(self.reassembly, now_ns) {
            return;
        }
        self.reassembly = None;
        self.counters.reassembly_expiries += 1;
        self.state.rx_highest_status = self.first_missing(self.state.rx_next_status_trigger);
        self.start_reassembly(self.state.rx_highest_status, now_ns);
        self.status_due = true;
        self.check_polls();
    }

    /// When to call [`AmRx::advance`], or [`AmRx::pull_status`] where that waits for `t-StatusProhibit`.
    pub fn next_deadline(&self) -> Option<u64> {
        crate::earlier(self.reassembly, self.status_prohibit.filter(|_| self.status_due))
    }

    /// Whether a grant for a STATUS PDU would be used.
    pub fn status_due(&self, now_ns: u64) -> bool {
        self.status_due && self.status_prohibit.is_none_or(|until| until <= now_ns)
    }

    /// Appends a STATUS PDU of at most `grant` bytes if one is due, and starts `t-StatusProhibit`; how long it is. What does not fit is left to the
    /// next one: `ACK_SN` stops before it.
    pub fn pull_status(&mut self, grant: usize, now_ns: u64, out: &mut Vec<u8>) -> Option<usize> {
        if grant < STATUS_HEADER || !self.status_due(now_ns) {
            return None;
        }
        let mut nacks = std::mem::take(&mut self.nacks);
        nacks.clear();
        let ack = self.collect(grant - STATUS_HEADER, &mut nacks);
        let at = out.len();
        status::emit(self.config.sn_length, ack, &nacks, out);
        self.nacks = nacks;
        self.status_due = false;
        self.status_prohibit = Some(now_ns + self.config.status_prohibit_ns);
        self.counters.statuses += 1;
        Some(out.len() - at)
    }

    /// NACKs of what is missing before `RX_Highest_Status`, in `room` bytes; the count that `ACK_SN` says.
    fn collect(&self, mut room: usize, nacks: &mut Vec<Nack>) -> u32 {
        let sn_length = self.config.sn_length;
        let end = self.state.rx_highest_status;
        let nack_len = match sn_length {
            SnLength::Bits12 => 2,
            SnLength::Bits18 => 3,
        };
        let mut count = self.state.rx_next;
        loop {
            count = self.first_missing(count);
            if end.wrapping_sub(count) as i32 <= 0 {
                return end;
            }
            let sn = count & sn_length.mask();
            if self.partial.get(count) {
                let missing = self.partials.get(&count).into_iter().flat_map(Partial::missing);
                for (at, (start, to)) in missing.enumerate() {
                    let Some(left) = room.checked_sub(nack_len + SEGMENT) else {
                        // An SDU that is named is not acknowledged, even if not all of its segments are.
                        return if at == 0 { count } else { self.up_to(count.wrapping_add(1), end) };
                    };
                    room = left;
                    let to = to.map_or(SO_END, |to| (to - 1) as u16);
                    nacks.push(Nack { sn, range: 1, segment: Some((start as u16, to)) });
                }
                count = count.wrapping_add(1);
                continue;
            }
            // Missing altogether: up to the next that is here, whole or in part.
            let most = end.wrapping_sub(count).min(255);
            let to =
                [&self.whole, &self.partial].iter().filter_map(|bits| bits.find(count, most, true)).map(|to| to.wrapping_sub(count)).min();
            let mut range = to.unwrap_or(most);
            if range > 1 && room == nack_len {
                range = 1;
            }
            let Some(left) = room.checked_sub(nack_len + usize::from(range > 1)) else { return count };
            room = left;
            nacks.push(Nack { sn, range: range as u8, segment: None });
            count = count.wrapping_add(range);
        }
    }

    /// The first SDU from `count` on that is not whole, but not behind `end`.
    fn up_to(&self, count: u32, end: u32) -> u32 {
        let missing = self.first_missing(count);
        if end.wrapping_sub(missing) as i32 <= 0 { end } else { missing }
    }

    /// Discards everything and starts anew (§5.1.2). Counters go on.
    pub fn re_establish(&mut self) {
        self.state = RxState::default();
        self.whole.clear_all();
        self.partial.clear_all();
        self.partials.clear();
        self.partial_bytes = 0;
        self.polls.clear_all();
        self.polls_waiting = 0;
        (self.reassembly, self.status_prohibit, self.status_due) = (None, None, false);
    }

    /// State variables.
    pub fn state(&self) -> &RxState {
        &self.state
    }

    /// Bytes of SDUs that are not whole.
    pub fn partial_bytes(&self) -> usize {
        self.partial_bytes
    }

    /// What happened so far.
    pub fn counters(&self) -> &RxCounters {
        &self.counters
    }
}

/// Bytes of a STATUS PDU before its NACKs, with either length of numbers.
const STATUS_HEADER: usize = 3;
/// Bytes of `SOstart` and `SOend`.
const SEGMENT: usize = 4;
