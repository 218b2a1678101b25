//! UM: both sides (TS 38.322 §4.2.1.2, §5.2.2). An SDU that fits its grant has no sequence number; segments have their SDU's.

use std::collections::HashMap;

use super::bits::Bits;
use super::pdu::{PduFault, Si, UmSnLength, Umd};
use super::queue::{Queue, QueueLimits, Refusal, Refused};
use super::reassembly::{Partial, SegmentFault};
use super::{ConfigError, MAX_SDU, check_timer};

/// The sending side. `P` holds an SDU's bytes.
pub struct UmTx<P> {
    sn_length: UmSnLength,
    queue: Queue<P>,
    /// The SDU of which the first bytes are sent, and how many.
    segmenting: Option<(P, usize)>,
    /// `TX_Next` (§7.1).
    tx_next: u32,
}

impl<P: AsRef<[u8]>> UmTx<P> {
    /// With nothing to send.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(sn_length: UmSnLength, limits: QueueLimits) -> Result<UmTx<P>, ConfigError> {
        limits.check()?;
        Ok(UmTx { sn_length, queue: Queue::new(limits), segmenting: None, tx_next: 0 })
    }

    /// Takes an SDU.
    ///
    /// # Errors
    /// The SDU, and why it is not taken; counted.
    pub fn enqueue(&mut self, tag: u32, sdu: P) -> Result<(), Refused<P>> {
        self.queue.push(tag, sdu)
    }

    /// Takes an SDU back of which nothing was sent (§5.4).
    pub fn discard(&mut self, tag: u32) -> Option<P> {
        self.queue.take(tag)
    }

    /// Appends one PDU of at most `grant` bytes (§5.2.2.1); how long it is.
    pub fn pull(&mut self, grant: usize, out: &mut Vec<u8>) -> Option<usize> {
        let at = out.len();
        let waits = match &self.segmenting {
            Some((sdu, sent)) => sdu.as_ref().len() - sent,
            None => self.queue.front()?.as_ref().len(),
        };
        let start = self.segmenting.as_ref().map_or(0, |(_, sent)| *sent);
        // As one piece if that fits, with the header of a piece that goes on otherwise.
        let (last, more) = if start == 0 { (Si::Whole, Si::First) } else { (Si::Last, Si::Middle) };
        let (si, bytes) = match grant.checked_sub(Umd::header_len(self.sn_length, last)) {
            Some(room) if room >= waits => (last, waits),
            _ => {
                let room = grant.checked_sub(Umd::header_len(self.sn_length, more)).filter(|room| *room > 0)?;
                // The first segment's header may be longer than that of a whole SDU by what would have been the last byte.
                (more, room.min(waits - 1))
            }
        };
        if bytes == 0 {
            return None;
        }
        let sdu = match self.segmenting.take() {
            Some((sdu, _)) => sdu,
            None => self.queue.pop().expect("there is a first one").1,
        };
        let data = &sdu.as_ref()[start..start + bytes];
        Umd { si, sn: self.tx_next, so: start as u16, data }.emit(self.sn_length, out);
        if !si.ends() {
            self.segmenting = Some((sdu, start + bytes));
        } else if si == Si::Last {
            self.tx_next = (self.tx_next + 1) & self.sn_length.mask();
        }
        Some(out.len() - at)
    }

    /// Goes on with other limits of its queue. What is there stays.
    ///
    /// # Errors
    /// [`ConfigError`]; nothing has changed then.
    pub fn reconfigure(&mut self, queue: QueueLimits) -> Result<(), ConfigError> {
        queue.check()?;
        self.queue.limit(queue);
        Ok(())
    }

    /// SDUs and bytes that wait for their first grant.
    pub fn queued(&self) -> (usize, u64) {
        (self.queue.len(), self.queue.bytes())
    }

    /// Whether a grant would be used now.
    pub fn has_data(&self) -> bool {
        self.segmenting.is_some() || !self.queue.is_empty()
    }

    /// Discards everything and starts anew (§5.1.2).
    pub fn re_establish(&mut self) {
        self.queue.clear();
        (self.segmenting, self.tx_next) = (None, 0);
    }

    /// SDUs that were not taken for this reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.queue.refused(reason)
    }
}

/// Parameters of the receiving side (TS 38.331 `DL-UM-RLC`/`UL-UM-RLC`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UmRxConfig {
    /// Length of sequence numbers.
    pub sn_length: UmSnLength,
    /// `t-Reassembly`, ns.
    pub reassembly_ns: u64,
    /// Most bytes of SDUs that are not whole.
    pub partial_bytes: usize,
}

/// State variables (TS 38.322 §7.1), as counts that wrap at 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UmRxState {
    /// `RX_Next_Reassembly`: the first SDU that may still become whole.
    pub rx_next_reassembly: u32,
    /// `RX_Timer_Trigger`: behind the SDU that started `t-Reassembly`.
    pub rx_timer_trigger: u32,
    /// `RX_Next_Highest`: behind the highest SDU of which something came.
    pub rx_next_highest: u32,
}

reasons! {
    /// Why a PDU is dropped.
    UmDrop {
        /// Its bytes end too early.
        Length = "length",
        /// A segment that is not the first starts at byte 0.
        Offset = "offset",
        /// Its SDU is given up, or was handed up (§5.2.2.2.2).
        Late = "late",
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

impl From<PduFault> for UmDrop {
    fn from(fault: PduFault) -> UmDrop {
        if fault == PduFault::Offset { UmDrop::Offset } else { UmDrop::Length }
    }
}

impl From<SegmentFault> for UmDrop {
    fn from(fault: SegmentFault) -> UmDrop {
        match fault {
            SegmentFault::Duplicate => UmDrop::Duplicate,
            SegmentFault::BeyondSdu => UmDrop::BeyondSdu,
            SegmentFault::Pieces => UmDrop::Pieces,
        }
    }
}

/// The receiving side.
pub struct UmRx {
    config: UmRxConfig,
    state: UmRxState,
    /// Of the reassembly window: handed up.
    whole: Bits,
    partials: HashMap<u32, Partial>,
    partial_bytes: usize,
    /// `t-Reassembly`.
    reassembly: Option<u64>,
    dropped: [u64; UmDrop::ALL.len()],
    /// SDUs that were given up because a part never came.
    abandoned: u64,
}

impl UmRx {
    /// An entity that has received nothing.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: UmRxConfig) -> Result<UmRx, ConfigError> {
        check_timer("reassembly_ns", config.reassembly_ns)?;
        if config.partial_bytes < MAX_SDU {
            return Err(ConfigError::Room("partial_bytes"));
        }
        Ok(UmRx {
            config,
            state: UmRxState::default(),
            whole: Bits::new(config.sn_length.modulus()),
            partials: HashMap::new(),
            partial_bytes: 0,
            reassembly: None,
            dropped: [0; UmDrop::ALL.len()],
            abandoned: 0,
        })
    }

    /// Goes on with another `t-Reassembly`. One that runs stays as it is.
    ///
    /// # Errors
    /// [`ConfigError`]; nothing has changed then.
    pub fn reconfigure(&mut self, reassembly_ns: u64) -> Result<(), ConfigError> {
        check_timer("reassembly_ns", reassembly_ns)?;
        self.config.reassembly_ns = reassembly_ns;
        Ok(())
    }

    /// Processes a PDU (§5.2.2.2). An SDU that is whole now is given to `deliver`.
    ///
    /// # Errors
    /// [`UmDrop`], which is counted; nothing else has changed.
    pub fn receive(&mut self, pdu: &[u8], now_ns: u64, deliver: &mut impl FnMut(&[u8])) -> Result<(), UmDrop> {
        let taken = self.take(pdu, now_ns, deliver);
        if let Err(drop) = taken {
            self.dropped[drop as usize] += 1;
        }
        taken
    }

    fn take(&mut self, pdu: &[u8], now_ns: u64, deliver: &mut impl FnMut(&[u8])) -> Result<(), UmDrop> {
        let pdu = Umd::parse(pdu, self.config.sn_length)?;
        if usize::from(pdu.so) + pdu.data.len() > MAX_SDU {
            return Err(UmDrop::BeyondSdu);
        }
        if pdu.si == Si::Whole {
            deliver(pdu.data);
            return Ok(());
        }
        let UmRxState { rx_next_reassembly, rx_next_highest, .. } = self.state;
        let start = rx_next_highest.wrapping_sub(self.config.sn_length.window());
        let count = start.wrapping_add(pdu.sn.wrapping_sub(start) & self.config.sn_length.mask());
        let ahead = count.wrapping_sub(rx_next_highest) as i32 >= 0;
        if !ahead && (before(count, rx_next_reassembly) || self.whole.get(count)) {
            return Err(UmDrop::Late);
        }
        let known = self.partials.get(&count).map_or(0, Partial::bytes);
        let more = (usize::from(pdu.so) + pdu.data.len()).saturating_sub(known);
        if more > 0 && self.partial_bytes + more > self.config.partial_bytes {
            return Err(UmDrop::PartialBytes);
        }
        let partial = self.partials.entry(count).or_default();
        partial.add(pdu.so, pdu.data, pdu.si.ends())?;
        self.partial_bytes += partial.bytes() - known;
        if let Some(sdu) = partial.whole() {
            deliver(sdu);
            self.partial_bytes -= self.partials.remove(&count).map_or(0, |partial| partial.bytes());
            self.whole.set(count);
            if count == rx_next_reassembly {
                self.state.rx_next_reassembly = self.first_not_whole(count.wrapping_add(1));
            }
        } else if ahead {
            self.move_window(count.wrapping_add(1));
        }
        self.update_reassembly(now_ns);
        Ok(())
    }

    /// §5.2.2.2.3: a segment came from beyond the window, which moves.
    fn move_window(&mut self, highest: u32) {
        let old = self.state.rx_next_highest;
        let gained = highest.wrapping_sub(old).min(self.config.sn_length.modulus());
        self.whole.clear_range(highest.wrapping_sub(gained), gained);
        self.state.rx_next_highest = highest;
        let start = highest.wrapping_sub(self.config.sn_length.window());
        self.abandon_before(start);
        if before(self.state.rx_next_reassembly, start) {
            self.state.rx_next_reassembly = self.first_not_whole(start);
        }
    }

    fn abandon_before(&mut self, start: u32) {
        let (partial_bytes, abandoned) = (&mut self.partial_bytes, &mut self.abandoned);
        self.partials.retain(|count, partial| {
            let stays = !before(*count, start);
            if !stays {
                *partial_bytes -= partial.bytes();
                *abandoned += 1;
            }
            stays
        });
    }

    /// The first SDU from `count` on that was not handed up.
    fn first_not_whole(&self, count: u32) -> u32 {
        let highest = self.state.rx_next_highest;
        if !before(count, highest) {
            return count;
        }
        self.whole.find(count, highest.wrapping_sub(count), false).unwrap_or(highest)
    }

    fn update_reassembly(&mut self, now_ns: u64) {
        let UmRxState { rx_next_reassembly, rx_timer_trigger, rx_next_highest } = self.state;
        if self.reassembly.is_some() {
            let start = rx_next_highest.wrapping_sub(self.config.sn_length.window());
            let outside = before(rx_timer_trigger, start) || !before(rx_timer_trigger, rx_next_highest);
            let no_gap = rx_next_highest == rx_next_reassembly.wrapping_add(1) && !self.has_gap(rx_next_reassembly);
            if !before(rx_next_reassembly, rx_timer_trigger) || (outside && rx_timer_trigger != rx_next_highest) || no_gap {
                self.reassembly = None;
            }
        }
        if self.reassembly.is_none() {
            self.start_reassembly(now_ns);
        }
    }

    fn start_reassembly(&mut self, now_ns: u64) {
        let UmRxState { rx_next_reassembly, rx_next_highest, .. } = self.state;
        let ahead = rx_next_highest.wrapping_sub(rx_next_reassembly) as i32;
        if ahead > 1 || (ahead == 1 && self.has_gap(rx_next_reassembly)) {
            self.reassembly = Some(now_ns + self.config.reassembly_ns);
            self.state.rx_timer_trigger = rx_next_highest;
        }
    }

    fn has_gap(&self, count: u32) -> bool {
        self.partials.get(&count).is_some_and(Partial::has_gap)
    }

    /// Lets `t-Reassembly` expire (§5.2.2.2.4).
    pub fn advance(&mut self, now_ns: u64) {
        if !crate::expired(self.reassembly, now_ns) {
            return;
        }
        self.reassembly = None;
        self.state.rx_next_reassembly = self.first_not_whole(self.state.rx_timer_trigger);
        self.abandon_before(self.state.rx_next_reassembly);
        self.start_reassembly(now_ns);
    }

    /// When to call [`UmRx::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.reassembly
    }

    /// Discards everything and starts anew (§5.1.2). Counters go on.
    pub fn re_establish(&mut self) {
        self.state = UmRxState::default();
        self.whole.clear_all();
        self.partials.clear();
        (self.partial_bytes, self.reassembly) = (0, None);
    }

    /// State variables.
    pub fn state(&self) -> &UmRxState {
        &self.state
    }

    /// Bytes of SDUs that are not whole.
    pub fn partial_bytes(&self) -> usize {
        self.partial_bytes
    }

    /// PDUs that were dropped for this reason.
    pub fn dropped(&self, reason: UmDrop) -> u64 {
        self.dropped[reason as usize]
    }

    /// SDUs that were given up because a part never came.
    pub fn abandoned(&self) -> u64 {
        self.abandoned
    }
}

/// Whether `a` is before `b`.
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
