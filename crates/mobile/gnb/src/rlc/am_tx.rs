//! AM, sending: what goes into a grant, what is freed or sent again by a STATUS, when is polled (TS 38.322 §5.2.3.1, §5.3)?
//!
//! Two bits for each number of the window say whether its SDU is kept, and whether a part of it must be sent again. So a STATUS costs a step for
//! each SDU that it frees and for each NACK, and 64 numbers that are freed already cost one.
//!
//! `buffer::RlcBuffer` is the same side for packets that somebody else numbers and sends whole. It does not fit here: it hands a packet out again
//! as one part, however small the grant, knows no SDU of which only the first bytes were sent, and starts after segmentation. Its codec
//! of STATUS PDUs is used.
//!
//! Left out of TS 38.322:
//! - §5.3.3.2: while retransmissions are pending and the window is full, only the last PDU that can be sent carries the poll, not each.
//! - §5.3.2: an SDU whose missing parts are more than [`MAX_PARTS`] gets bytes between them again too.
//! - §5.2.3.1.1: a PDU is made when its grant is there, not before.

use buffer::status::{Missing, SO_END, Status, StatusFault};

use super::bits::Bits;
use super::pdu::{Amd, Si};
use super::queue::{Queue, QueueLimits, Refusal, Refused};
use super::{ConfigError, SnLength, check_timer, reassembly};

/// Most separate parts of one SDU that are sent again as such.
pub const MAX_PARTS: usize = 32;

/// Parameters of the sending side (TS 38.331 `DL-AM-RLC`/`UL-AM-RLC`, TS 38.322 §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxConfig {
    /// Length of sequence numbers.
    pub sn_length: SnLength,
    /// Most SDUs from the first that is not acknowledged to the last one sent: 1 to `AM_Window_Size`. It bounds the memory of a bearer: 18
    /// bits would allow 131,072 SDUs.
    pub window: u32,
    /// What may wait for a grant.
    pub queue: QueueLimits,
    /// `t-PollRetransmit`, ns.
    pub poll_retransmit_ns: u64,
    /// `pollPDU`; `None`: infinity.
    pub poll_pdu: Option<u32>,
    /// `pollByte`; `None`: infinity.
    pub poll_byte: Option<u32>,
    /// `maxRetxThreshold`: at least 1.
    pub max_retransmissions: u8,
}

impl TxConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_timer("poll_retransmit_ns", self.poll_retransmit_ns)?;
        self.queue.check()?;
        match () {
            () if !(1..=self.sn_length.window()).contains(&self.window) => Err(ConfigError::Window),
            () if self.poll_retransmit_ns == 0 => Err(ConfigError::PollRetransmit),
            () if self.poll_pdu == Some(0) || self.poll_byte == Some(0) => Err(ConfigError::Poll),
            () if self.max_retransmissions == 0 => Err(ConfigError::MaxRetransmissions),
            () => Ok(()),
        }
    }
}

/// State variables and counters (TS 38.322 §7.1). Numbers are counts that wrap at 32 bits, not at the length of sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxState {
    /// `TX_Next_Ack`: the first SDU that is not acknowledged.
    pub tx_next_ack: u32,
    /// `TX_Next`: the number of the next SDU.
    pub tx_next: u32,
    /// `POLL_SN`: the highest number when a poll was sent last.
    pub poll_sn: u32,
    /// `PDU_WITHOUT_POLL`.
    pub pdu_without_poll: u32,
    /// `BYTE_WITHOUT_POLL`.
    pub byte_without_poll: u64,
}

reasons! {
    /// Why a STATUS PDU is ignored as a whole. Nothing has changed then.
    StatusDrop {
        /// It ends within a field, or goes on behind its end.
        Length = "length",
        /// A data PDU, or a control PDU of another type.
        NotStatus = "not_status",
        /// A NACK range of no SDU.
        Field = "field",
        /// `ACK_SN` is before `TX_Next_Ack`: late, a newer one has been processed.
        Stale = "stale",
        /// It acknowledges what was not sent.
        NotSent = "not_sent",
    }
}

impl From<StatusFault> for StatusDrop {
    fn from(fault: StatusFault) -> StatusDrop {
        match fault {
            StatusFault::Length => StatusDrop::Length,
            StatusFault::NotStatus => StatusDrop::NotStatus,
            StatusFault::Field => StatusDrop::Field,
            StatusFault::Stale => StatusDrop::Stale,
            StatusFault::OutsideWindow | StatusFault::NoBearer => StatusDrop::NotSent,
        }
    }
}

/// What upper layers are told.
#[derive(Debug, PartialEq, Eq)]
pub enum TxEvent<P> {
    /// The peer has the SDU.
    Delivered {
        /// The upper layer's name for it.
        tag: u32,
        /// The SDU.
        sdu: P,
    },
    /// `RETX_COUNT` of an SDU has reached `maxRetxThreshold` (§5.3.2). The entity goes on: RRC decides.
    MaxRetransmissions {
        /// The upper layer's name for it.
        tag: u32,
    },
}

/// A PDU that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its SDU's number, as a count.
    pub count: u32,
    /// Its bytes.
    pub len: usize,
    /// It polls.
    pub poll: bool,
    /// It was sent before.
    pub again: bool,
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxCounters {
    /// PDUs with bytes that were not sent before.
    pub pdus: u64,
    /// PDUs with bytes that were.
    pub retransmissions: u64,
    /// PDUs that poll.
    pub polls: u64,
    /// SDUs that the peer has.
    pub delivered: u64,
    /// STATUS PDUs that were processed.
    pub statuses: u64,
    /// Expiries of `t-PollRetransmit`.
    pub poll_expiries: u64,
    /// Grants for which there were SDUs, but no room in the window.
    pub window_full: u64,
    /// STATUS PDUs that were ignored, by [`StatusDrop`].
    pub ignored: [u64; StatusDrop::ALL.len()],
}

/// An SDU of the window.
struct Slot<P> {
    sdu: Option<P>,
    tag: u32,
    len: u32,
    /// Bytes of it that were sent once.
    sent: u32,
    /// `RETX_COUNT` plus 1; 0: not considered yet. Stays at its maximum.
    considered: u16,
    /// To be sent again: sorted, and apart from each other.
    parts: Vec<(u32, u32)>,
}

/// The sending side of an AM entity. `P` holds an SDU's bytes.
pub struct AmTx<P> {
    config: TxConfig,
    state: TxState,
    queue: Queue<P>,
    slots: Box<[Slot<P>]>,
    kept: Bits,
    pending: Bits,
    /// How many SDUs are pending, and a number that is not behind the first of them.
    pending_len: u32,
    pending_from: u32,
    /// The last SDU's last bytes were not sent yet.
    segmenting: bool,
    /// `t-PollRetransmit`.
    poll_retransmit: Option<u64>,
    /// It has expired: the next PDU polls.
    poll_due: bool,
    /// What a STATUS PDU says, while it is processed: its memory stays.
    missing: Vec<Missing>,
    counters: TxCounters,
}

impl<P: AsRef<[u8]>> AmTx<P> {
    /// An entity that has sent nothing. Takes memory for its window.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: TxConfig) -> Result<AmTx<P>, ConfigError> {
        config.check()?;
        let empty = |_| Slot { sdu: None, tag: 0, len: 0, sent: 0, considered: 0, parts: Vec::new() };
        Ok(AmTx {
            config,
            state: TxState::default(),
            queue: Queue::new(config.queue),
            slots: (0..config.window.next_power_of_two()).map(empty).collect(),
            kept: Bits::new(config.window),
            pending: Bits::new(config.window),
            pending_len: 0,
            pending_from: 0,
            segmenting: false,
            poll_retransmit: None,
            poll_due: false,
            missing: Vec::new(),
            counters: TxCounters::default(),
        })
    }

    /// Goes on with other timers, thresholds and limits of its queue. A timer that runs stays as it is.
    ///
    /// # Errors
    /// [`ConfigError`], also if sequence numbers or window are others; nothing has changed then.
    pub(super) fn reconfigure(&mut self, config: TxConfig) -> Result<(), ConfigError> {
        config.check()?;
        match () {
            () if config.sn_length != self.config.sn_length => return Err(ConfigError::SnLength),
            () if config.window != self.config.window => return Err(ConfigError::Window),
            () => {}
        }
        self.queue.limit(config.queue);
        self.config = config;
        Ok(())
    }

    /// Takes an SDU, which the upper layer calls `tag`.
    ///
    /// # Errors
    /// The SDU, and why it is not taken; counted.
    pub fn enqueue(&mut self, tag: u32, sdu: P) -> Result<(), Refused<P>> {
        self.queue.push(tag, sdu)
    }

    /// Takes an SDU back of which nothing was sent (§5.4). It has no number yet, so there is no gap.
    pub fn discard(&mut self, tag: u32) -> Option<P> {
        self.queue.take(tag)
    }

    /// Appends one PDU of at most `grant` bytes: what must be sent again goes first (§5.2.3.1.1). `None`: there is nothing to send, or not in so
    /// few bytes. Call it again with the rest of the grant.
    pub fn pull(&mut self, grant: usize, now_ns: u64, out: &mut Vec<u8>) -> Option<Sent> {
        let at = out.len();
        let (count, start, end, again) = match self.next_again(grant) {
            Some(part) => part,
            None if self.pending_len > 0 => return None,
            None => self.next_new(grant)?,
        };
        let poll = self.poll(again, end - start);
        let slot = &self.slots[self.place(count)];
        let sdu = slot.sdu.as_ref().expect("an SDU that is sent is kept").as_ref();
        let si = Si::of_part(start, end, sdu.len());
        Amd { poll, si, sn: count, so: start as u16, data: &sdu[start..end] }.emit(self.config.sn_length, out);
        if poll {
            // §5.3.3.2.
            self.counters.polls += 1;
            self.poll_due = false;
            self.state.pdu_without_poll = 0;
            self.state.byte_without_poll = 0;
            self.state.poll_sn = self.state.tx_next.wrapping_sub(1);
            self.poll_retransmit = Some(now_ns + self.config.poll_retransmit_ns);
        }
        Some(Sent { count, len: out.len() - at, poll, again })
    }

    /// Takes the first part that must be sent again, as much of it as there is room for: number, start and end.
    fn next_again(&mut self, grant: usize) -> Option<(u32, usize, usize, bool)> {
        if self.pending_len == 0 {
            return None;
        }
        let ahead = self.state.tx_next.wrapping_sub(self.pending_from);
        let count = self.pending.find(self.pending_from, ahead, true).expect("as many bits as SDUs that are pending");
        self.pending_from = count;
        let place = self.place(count);
        let parts = &mut self.slots[place].parts;
        let (start, end) = parts[0];
        let room = grant.checked_sub(Amd::header_len(self.config.sn_length, start as usize)).filter(|room| *room > 0)?;
        let cut = end.min(start.saturating_add(u32::try_from(room).unwrap_or(u32::MAX)));
        if cut < end {
            parts[0].0 = cut;
        } else {
            parts.remove(0);
            if parts.is_empty() {
                self.pending.clear(count);
                self.pending_len -= 1;
            }
        }
        self.counters.retransmissions += 1;
        Some((count, start as usize, cut as usize, true))
    }

    /// Takes the next bytes that were not sent yet.
    fn next_new(&mut self, grant: usize) -> Option<(u32, usize, usize, bool)> {
        let sn_length = self.config.sn_length;
        let room = |start| grant.checked_sub(Amd::header_len(sn_length, start)).filter(|room| *room > 0);
        let count = if self.segmenting {
            self.state.tx_next.wrapping_sub(1)
        } else {
            self.queue.front()?;
            if self.window_full() {
                self.counters.window_full += 1;
                return None;
            }
            // Before the SDU gets a number: that happens only if some of it can be sent.
            room(0)?;
            self.number()
        };
        let place = self.place(count);
        let slot = &mut self.slots[place];
        let start = slot.sent as usize;
        let end = (start + room(start)?).min(slot.len as usize);
        slot.sent = end as u32;
        self.segmenting = slot.sent < slot.len;
        self.counters.pdus += 1;
        Some((count, start, end, false))
    }

    /// Gives the first SDU of the queue its number.
    fn number(&mut self) -> u32 {
        let (tag, sdu) = self.queue.pop().expect("the caller saw one");
        let count = self.state.tx_next;
        let place = self.place(count);
        let slot = &mut self.slots[place];
        (slot.tag, slot.len, slot.sent, slot.considered) = (tag, sdu.as_ref().len() as u32, 0, 0);
        slot.sdu = Some(sdu);
        self.kept.set(count);
        self.state.tx_next = count.wrapping_add(1);
        count
    }

    /// Whether the PDU that is made of `bytes` polls (§5.3.3.2).
    fn poll(&mut self, again: bool, bytes: usize) -> bool {
        if !again {
            self.state.pdu_without_poll = self.state.pdu_without_poll.saturating_add(1);
            self.state.byte_without_poll += bytes as u64;
        }
        self.poll_due
            || self.config.poll_pdu.is_some_and(|most| self.state.pdu_without_poll >= most)
            || self.config.poll_byte.is_some_and(|most| self.state.byte_without_poll >= u64::from(most))
            || self.nothing_to_send()
    }

    /// Both buffers are empty, or no SDU can be sent for lack of window.
    fn nothing_to_send(&self) -> bool {
        self.pending_len == 0 && !self.segmenting && (self.queue.is_empty() || self.window_full())
    }

    fn window_full(&self) -> bool {
        self.in_flight() >= self.config.window
    }

    /// Numbers from `TX_Next_Ack` to `TX_Next`.
    fn in_flight(&self) -> u32 {
        self.state.tx_next.wrapping_sub(self.state.tx_next_ack)
    }

    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.slots.len() - 1)
    }

    /// Processes a STATUS PDU (§5.3.2, §5.3.3.3).
    ///
    /// # Errors
    /// [`StatusDrop`], which is counted; nothing else has changed.
    pub fn status(&mut self, pdu: &[u8], events: &mut impl FnMut(TxEvent<P>)) -> Result<(), StatusDrop> {
        let mut missing = std::mem::take(&mut self.missing);
        let checked = self.check(pdu, &mut missing);
        match checked {
            Ok(ack) => {
                self.counters.statuses += 1;
                self.acknowledge(&missing, ack, events);
            }
            Err(drop) => self.counters.ignored[drop as usize] += 1,
        }
        self.missing = missing;
        checked.map(|_| ())
    }

    /// Where a number lies from `TX_Next_Ack` on: the half before it is negative.
    fn offset(&self, sn: u32) -> i32 {
        let modulus = self.config.sn_length.modulus();
        let ahead = sn.wrapping_sub(self.state.tx_next_ack) & (modulus - 1);
        if ahead < modulus / 2 { ahead as i32 } else { ahead as i32 - modulus as i32 }
    }

    /// How many SDUs from `TX_Next_Ack` on a status covers, and what it says is missing.
    fn check(&self, pdu: &[u8], missing: &mut Vec<Missing>) -> Result<i32, StatusDrop> {
        let status = Status::new_checked(pdu, self.config.sn_length)?;
        let in_flight = self.in_flight() as i32;
        let mut ack = self.offset(status.ack_sn());
        // A full window ends half the numbers ahead, which is as far behind.
        if ack == -(self.config.sn_length.window() as i32) && in_flight == -ack {
            ack = in_flight;
        }
        if ack < 0 {
            return Err(StatusDrop::Stale);
        }
        if ack > in_flight {
            return Err(StatusDrop::NotSent);
        }
        status.missing(|sn| self.offset(sn), in_flight, missing);
        // The peer cannot have all of an SDU whose last bytes are still here.
        if self.segmenting && ack == in_flight && missing.last().is_none_or(|of| of.last != ack - 1) {
            return Err(StatusDrop::NotSent);
        }
        Ok(ack)
    }

    fn acknowledge(&mut self, missing: &[Missing], ack: i32, events: &mut impl FnMut(TxEvent<P>)) {
        let base = self.state.tx_next_ack;
        let at = |offset: i32| base.wrapping_add(offset.max(0) as u32);
        let poll_sn = self.state.poll_sn.wrapping_sub(base) as i32;
        // §5.3.3.3: a negative acknowledgement answers the poll, too.
        let covers_poll = poll_sn < ack || missing.iter().any(|of| (of.first..=of.last).contains(&poll_sn));
        let mut walked = 0;
        let mut counted = None;
        for &Missing { first, last, segment } in missing {
            // Behind ACK_SN nothing is said of those between.
            self.free(at(walked), at(first.min(ack)), events);
            walked = walked.max(last + 1);
            let mut from = at(first);
            while let Some(count) = self.kept.find(from, at(last + 1).wrapping_sub(from), true) {
                from = count.wrapping_add(1);
                let start = segment.filter(|_| count == at(first) && first >= 0).map_or(0, |(start, _)| start);
                let end = segment.filter(|_| count == at(last)).map_or(SO_END, |(_, end)| end);
                // §5.3.2: counted once for each STATUS PDU.
                let first_of_status = counted.replace(count) != Some(count);
                self.consider(count, start, end, first_of_status, events);
            }
        }
        self.free(at(walked), at(ack), events);
        let behind = base.wrapping_add(ack as u32);
        self.state.tx_next_ack = self.kept.find(base, ack as u32, true).unwrap_or(behind);
        if (self.pending_from.wrapping_sub(self.state.tx_next_ack) as i32) < 0 {
            self.pending_from = self.state.tx_next_ack;
        }
        if covers_poll {
            self.poll_retransmit = None;
        }
    }

    /// Hands the kept SDUs of `from..to` to the upper layer as delivered.
    #[inline]
    fn free(&mut self, mut from: u32, to: u32, events: &mut impl FnMut(TxEvent<P>)) {
        while let Some(count) = self.kept.find(from, (to.wrapping_sub(from) as i32).max(0) as u32, true) {
            from = count.wrapping_add(1);
            self.kept.clear(count);
            let place = self.place(count);
            let slot = &mut self.slots[place];
            if !slot.parts.is_empty() {
                slot.parts.clear();
                self.pending.clear(count);
                self.pending_len -= 1;
            }
            self.counters.delivered += 1;
            if let Some(sdu) = slot.sdu.take() {
                events(TxEvent::Delivered { tag: slot.tag, sdu });
            }
        }
    }

    /// Considers bytes `start..=end` of a kept SDU for retransmission (§5.3.2).
    fn consider(&mut self, count: u32, start: u16, end: u16, counts: bool, events: &mut impl FnMut(TxEvent<P>)) {
        let place = self.place(count);
        let slot = &mut self.slots[place];
        // A segment that is none of the SDU's: the peer has not all of it, and gets the whole, or it would ask for ever.
        let is_beyond = u32::from(start) >= slot.len.max(1) || start > end || (end != SO_END && u32::from(end) >= slot.len);
        let (start, end) = if is_beyond { (0, SO_END) } else { (start, end) };
        let end = if end == SO_END { slot.sent } else { (u32::from(end) + 1).min(slot.sent) };
        let start = u32::from(start);
        // Bytes that were not sent yet are not sent again.
        if start >= end {
            return;
        }
        if slot.parts.is_empty() {
            self.pending.set(count);
            self.pending_len += 1;
            if self.pending_len == 1 || (count.wrapping_sub(self.pending_from) as i32) < 0 {
                self.pending_from = count;
            }
            if counts {
                slot.considered = slot.considered.saturating_add(1);
                if slot.considered == u16::from(self.config.max_retransmissions) + 1 {
                    events(TxEvent::MaxRetransmissions { tag: slot.tag });
                }
            }
        }
        reassembly::insert(&mut slot.parts, start, end);
        if slot.parts.len() > MAX_PARTS {
            let (_, last) = slot.parts.pop().expect("more than one");
            slot.parts[MAX_PARTS - 1].1 = last;
        }
    }

    /// Lets `t-PollRetransmit` expire (§5.3.3.4): the next PDU polls, and if there is none, the last SDU that is not acknowledged is sent again.
    pub fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(TxEvent<P>)) {
        if !crate::expired(self.poll_retransmit, now_ns) {
            return;
        }
        self.poll_retransmit = None;
        self.counters.poll_expiries += 1;
        let last = self.kept.find_last(self.state.tx_next_ack, self.in_flight());
        self.poll_due = last.is_some();
        if let Some(count) = last.filter(|_| self.nothing_to_send()) {
            self.consider(count, 0, SO_END, true, events);
        }
    }

    /// When to call [`AmTx::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.poll_retransmit
    }

    /// Discards everything and starts anew (§5.1.2). Counters go on.
    pub fn re_establish(&mut self) {
        self.queue.clear();
        for slot in &mut self.slots {
            slot.sdu = None;
            slot.parts.clear();
        }
        self.kept.clear_all();
        self.pending.clear_all();
        (self.pending_len, self.pending_from) = (0, 0);
        (self.segmenting, self.poll_due, self.poll_retransmit) = (false, false, None);
        self.state = TxState::default();
    }

    /// State variables.
    pub fn state(&self) -> &TxState {
        &self.state
    }

    /// SDUs and bytes that wait for their first grant.
    pub fn queued(&self) -> (usize, u64) {
        (self.queue.len(), self.queue.bytes())
    }

    /// Whether a grant would be used now.
    pub fn has_data(&self) -> bool {
        !self.nothing_to_send()
    }

    /// SDUs that were not taken for this reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.queue.refused(reason)
    }

    /// What happened so far.
    pub fn counters(&self) -> &TxCounters {
        &self.counters
    }
}
