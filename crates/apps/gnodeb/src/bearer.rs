//! PDCP of a bearer, and RLC of a bearer: the entities of the crate `gnb` with their keys, each as one thing with one call in and one out.
//!
//! [`crate::pipeline`] is the same as a program, with the same timers.

use std::sync::Arc;

use ciphering::{Direction, Engine, Nea};
use gnb::framing;
use gnb::pdcp::handover::{Downlink, HandoverError, Uplink};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::rx::{Prepared, RxDrop};
use gnb::pdcp::tx::{TxDrop, TxEvent};
use gnb::pdcp::{self, CountGuard, Kind, Security};
use gnb::rlc::am::{Am, AmDrop, Pulled};
use gnb::rlc::pdu::{PduFault, UmSnLength};
use gnb::rlc::um::{UmDrop, UmRx, UmRxConfig, UmTx};
use gnb::rlc::{QueueLimits, Refusal, SnLength, am_rx, am_tx};

use crate::Bearer;
use crate::config::{Drb, RlcMode};
use crate::counts::{BearerCounts, CountState, Drops, add_layer};

/// Packets that are ciphered together.
const BURST: usize = 32;
/// Bytes of SDUs that are not whole.
pub(crate) const PARTIAL_BYTES: usize = 4 << 20;
/// SDUs that RLC holds for grants: its bytes are limited by what the DU asks for.
const RLC_QUEUE_SDUS: usize = 65_536;
/// Bytes of the longest SDU of RLC: a packet of the largest MTU, with headers of SDAP and PDCP and a MAC-I.
const LONGEST_SDU: u64 = 9000 + 1 + 3 + 4;

/// Which end of the radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The gNodeB: sends downlink.
    Gnb,
    /// The UE: sends uplink.
    Ue,
}

impl Side {
    /// The direction in which this side sends.
    pub fn sends(self) -> Direction {
        match self {
            Side::Gnb => Direction::Downlink,
            Side::Ue => Direction::Uplink,
        }
    }

    /// The direction in which it receives.
    pub fn receives(self) -> Direction {
        match self {
            Side::Gnb => Direction::Uplink,
            Side::Ue => Direction::Downlink,
        }
    }
}

/// PDCP of a bearer, both directions.
pub struct Pdcp {
    tx: pdcp::Tx,
    rx: pdcp::Rx,
    send: Security,
    receive: Security,
    /// RLC AM: SDUs are kept until the peer has them.
    pub acknowledged: bool,
    sn_length: SnLength,
    receive_sn_length: SnLength,
    /// Packets between the halves of their work.
    burst: Vec<pdcp::security::Packet>,
    guard: Guard,
}

/// What COUNT's guard has said (TS 33.501 §6.9.4): the control plane must change the key in time.
struct Guard {
    bearer: Bearer,
    side: Side,
    /// Directions in which COUNT is high, each once for a key.
    high: u64,
}

impl Guard {
    fn event(&mut self, event: TxEvent, discard: &mut impl FnMut(u32)) {
        match event {
            TxEvent::Discard { count } => discard(count),
            TxEvent::CountHigh => self.high(self.side.sends()),
            TxEvent::CountStopped => log(self.bearer, self.side.sends(), CountState::Exhausted),
        }
    }

    fn high(&mut self, direction: Direction) {
        self.high += 1;
        log(self.bearer, direction, CountState::High);
    }
}

/// Tells the operator of a COUNT that is no longer [`CountState::Ok`].
pub(crate) fn log(bearer: Bearer, direction: Direction, state: CountState) {
    let (ue, drb) = (bearer.ue, bearer.drb.get());
    let way = if direction == Direction::Downlink { "downlink" } else { "uplink" };
    match state {
        CountState::Ok => {}
        CountState::High => tracing::warn!("UE {ue}, DRB {drb}: {way} COUNT is high: give the bearer new keys before it comes to its end"),
        CountState::Exhausted => {
            tracing::error!("UE {ue}, DRB {drb}: {way} COUNT has come to its end: the bearer stands still until it has new keys")
        }
    }
}

/// How its PDUs look.
pub(crate) fn format(drb: &Drb, direction: Direction) -> Format {
    let (sdap_header, sn_length) = match direction {
        Direction::Uplink => (drb.sdap.uplink_header, drb.pdcp_sn_uplink),
        Direction::Downlink => (drb.sdap.downlink_header, drb.pdcp_sn),
    };
    Format { kind: Kind::Drb, sn_length, integrity: drb.integrity.is_some(), sdap_header }
}

fn security(drb: &Drb, direction: Direction, engine: &Engine) -> Security {
    let cipher = (drb.ciphering != Nea::Nea0).then(|| Arc::new(engine.cipher_key(drb.ciphering, &drb.keys.cipher)));
    let integrity = drb.integrity.map(|nia| Arc::new(engine.integrity_key(nia, &drb.keys.integrity)));
    Security { cipher, integrity, bearer: drb.sdap.id.get() - 1, direction }
}

/// Parameters of both sides of an entity.
fn configs(drb: &Drb, side: Side) -> (pdcp::TxConfig, pdcp::RxConfig) {
    let acknowledged = matches!(drb.rlc, RlcMode::Am(_));
    let guard = CountGuard::default();
    let tx = pdcp::TxConfig {
        format: format(drb, side.sends()),
        acknowledged,
        window: drb.window,
        queue_sdus: (drb.queue_bytes / 64) as usize,
        bytes: drb.queue_bytes,
        discard_ns: drb.discard_ns,
        guard,
    };
    let rx = pdcp::RxConfig {
        format: format(drb, side.receives()),
        acknowledged,
        window: drb.window,
        bytes: drb.queue_bytes,
        reordering_ns: drb.reordering_ns,
        out_of_order: false,
        guard,
    };
    (tx, rx)
}

impl Pdcp {
    /// A bearer that has carried nothing.
    ///
    /// # Errors
    /// As [`pdcp::Tx::new`] and [`pdcp::Rx::new`]; a checked configuration has none.
    pub fn new(ue: u16, drb: &Drb, side: Side, engine: &Engine) -> Result<Pdcp, pdcp::ConfigError> {
        let (tx, rx) = configs(drb, side);
        Ok(Pdcp::of(ue, drb, side, engine, pdcp::Tx::new(tx)?, pdcp::Rx::new(rx)?))
    }

    /// A bearer that goes on at a gNodeB where another's has ended: with the COUNT of the first SDU to be sent, and of the first that is to come. SDUs of the other come
    /// by [`Pdcp::forwarded`] and [`Pdcp::forwarded_uplink`].
    ///
    /// # Errors
    /// [`HandoverError`].
    pub fn take_over(ue: u16, drb: &Drb, engine: &Engine, next: u32, deliv: u32, now_ns: u64) -> Result<Pdcp, HandoverError> {
        let (tx, rx) = configs(drb, Side::Gnb);
        let tx = pdcp::Tx::take_over(tx, Downlink { next, ..Downlink::default() }, now_ns)?;
        let rx = pdcp::Rx::take_over(rx, Uplink { deliv, waiting: Vec::new() }, now_ns)?;
        Ok(Pdcp::of(ue, drb, Side::Gnb, engine, tx, rx))
    }

    fn of(ue: u16, drb: &Drb, side: Side, engine: &Engine, tx: pdcp::Tx, rx: pdcp::Rx) -> Pdcp {
        Pdcp {
            tx,
            rx,
            send: security(drb, side.sends(), engine),
            receive: security(drb, side.receives(), engine),
            acknowledged: matches!(drb.rlc, RlcMode::Am(_)),
            sn_length: format(drb, side.sends()).sn_length,
            receive_sn_length: format(drb, side.receives()).sn_length,
            burst: Vec::with_capacity(BURST),
            guard: Guard { bearer: Bearer { ue, drb: drb.sdap.id }, side, high: 0 },
        }
    }

    /// Goes on with other timers and limits of what waits.
    ///
    /// # Errors
    /// As [`Pdcp::new`]; a checked configuration has none.
    pub fn reconfigure(&mut self, drb: &Drb, now_ns: u64) -> Result<(), pdcp::ConfigError> {
        let (tx, rx) = configs(drb, self.guard.side);
        self.tx.reconfigure(tx.queue_sdus, tx.bytes, tx.discard_ns)?;
        self.rx.reconfigure(rx.bytes, rx.reordering_ns, now_ns)
    }

    /// Ends it, and gives what another gNodeB goes on with. What goes up now is RLC UM's, which no other can.
    pub fn hand_over(self, up: &mut impl FnMut(&[u8])) -> (Downlink, Uplink) {
        (self.tx.hand_over(), self.rx.hand_over(&mut |_, sdu| up(sdu)))
    }

    /// An SDU of the gNodeB before, with its sequence number if it has one.
    ///
    /// # Errors
    /// Why it is dropped; counted.
    pub fn forwarded(&mut self, sn: Option<u32>, sdu: Vec<u8>, now_ns: u64) -> Result<(), TxDrop> {
        let Some(sn) = sn else { return self.enqueue(sdu, now_ns) };
        // One that is no number of ours is that of no COUNT that was spent.
        let count = self.sent_count(sn).filter(|_| sn <= self.sn_mask()).unwrap_or(u32::MAX);
        self.tx.forwarded(count, sdu, now_ns)
    }

    /// An SDU that the gNodeB before has of the UE, ahead of a missing one. Drops are counted.
    pub fn forwarded_uplink(&mut self, sn: u32, sdu: &[u8], now_ns: u64, up: &mut impl FnMut(&[u8])) {
        let _ = self.rx.forwarded(sn, sdu, now_ns, &mut |_, sdu| up(sdu));
    }

    /// Re-establishes the bearer under other keys: what the peer may not have goes again.
    pub fn re_establish(&mut self, drb: &Drb, engine: &Engine, up: &mut impl FnMut(&[u8])) {
        let side = self.guard.side;
        self.tx.re_establish();
        self.rx.re_establish(&mut |_, sdu| up(sdu));
        (self.send, self.receive) = (security(drb, side.sends(), engine), security(drb, side.receives(), engine));
    }

    /// What the peer may not have goes again as it was: RLC has begun anew (TS 38.323 §5.5).
    pub fn recover_data(&mut self) {
        self.tx.recover_data();
    }

    /// A status report for the peer, of a bearer of RLC AM: it need not send again what is here.
    pub fn status_report(&self) -> Option<Vec<u8>> {
        self.acknowledged.then(|| {
            let mut report = Vec::new();
            self.rx.status_report(&mut report);
            report
        })
    }

    /// Length of the sequence numbers of the PDUs that it sends.
    pub fn sn_length(&self) -> SnLength {
        self.sn_length
    }

    /// Length of the sequence numbers of the PDUs that it receives.
    pub fn receive_sn_length(&self) -> SnLength {
        self.receive_sn_length
    }

    /// COUNT of the first SDU that has none yet.
    pub fn next(&self) -> u32 {
        self.tx.tx_next()
    }

    /// Takes an SDU with its SDAP header.
    ///
    /// # Errors
    /// Why it is dropped; counted.
    pub fn enqueue(&mut self, sdu: Vec<u8>, now_ns: u64) -> Result<(), TxDrop> {
        self.tx.enqueue(sdu, now_ns).map_err(|(_, why)| why)
    }

    /// Whether there is something to pull, and room in the window for it.
    pub fn waits(&self) -> bool {
        self.tx.has_data()
    }

    /// Gives PDUs of about `room` bytes to RLC, with their COUNT. `discard`: COUNTs that RLC need not send any more.
    pub fn pull(
        &mut self,
        engine: &mut Engine,
        mut room: u64,
        now_ns: u64,
        give: &mut impl FnMut(u32, Vec<u8>),
        discard: &mut impl FnMut(u32),
    ) {
        while room > 0 {
            while self.burst.len() < BURST && room > 0 {
                let guard = &mut self.guard;
                let Some(packet) = self.tx.pull(now_ns, &mut |event| guard.event(event, discard)) else { break };
                room = room.saturating_sub(packet.pdu.len() as u64);
                self.burst.push(packet);
            }
            if self.burst.is_empty() {
                return;
            }
            self.send.run(engine, &mut self.burst);
            for packet in self.burst.drain(..) {
                if let Some((count, pdu)) = self.tx.finish(packet) {
                    give(count, pdu);
                }
            }
        }
    }

    /// The peer has the SDU of this COUNT.
    pub fn delivered(&mut self, count: u32) {
        self.tx.delivered(count);
    }

    /// The PDU of this COUNT was lost before RLC.
    pub fn send_again(&mut self, count: u32) {
        self.tx.send_again(count);
    }

    /// Processes PDUs. SDUs go up in order, with their SDAP header; drops are counted.
    ///
    /// `discard` is told what a status report of the peer says it has: RLC need not send it (TS 38.323 §5.4.2).
    pub fn receive(
        &mut self,
        engine: &mut Engine,
        pdus: impl IntoIterator<Item = Vec<u8>>,
        now_ns: u64,
        up: &mut impl FnMut(&[u8]),
        discard: &mut impl FnMut(u32),
    ) {
        for pdu in pdus {
            match self.rx.prepare(pdu) {
                Ok(Prepared::Data(packet)) => self.burst.push(packet),
                Ok(Prepared::Status(report)) => {
                    let guard = &mut self.guard;
                    self.tx.status(&report.report(), &mut |event| guard.event(event, discard));
                }
                Err(_) => {}
            }
            if self.burst.len() == BURST {
                self.finish(engine, now_ns, up);
            }
        }
        self.finish(engine, now_ns, up);
    }

    fn finish(&mut self, engine: &mut Engine, now_ns: u64, up: &mut impl FnMut(&[u8])) {
        self.receive.run(engine, &mut self.burst);
        for packet in self.burst.drain(..) {
            // What is dropped is counted.
            if let Ok(true) = self.rx.finish(packet, now_ns, &mut |_, sdu| up(sdu)) {
                self.guard.high(self.guard.side.receives());
            }
        }
    }

    /// Lets timers run out.
    pub fn advance(&mut self, now_ns: u64, up: &mut impl FnMut(&[u8]), discard: &mut impl FnMut(u32)) {
        self.rx.advance(now_ns, &mut |_, sdu| up(sdu));
        let guard = &mut self.guard;
        self.tx.advance(now_ns, &mut |event| guard.event(event, discard));
    }

    /// When to call [`Pdcp::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        [self.rx.next_deadline(), self.tx.next_deadline()].into_iter().flatten().min()
    }

    /// The COUNT that a sequence number of what was sent is; `None`: none was sent.
    pub fn sent_count(&self, sn: u32) -> Option<u32> {
        let last = self.tx.tx_next().checked_sub(1)?;
        last.checked_sub(last.wrapping_sub(sn) & self.sn_length.mask())
    }

    /// What is left of a COUNT in a sequence number.
    pub fn sn_mask(&self) -> u32 {
        self.sn_length.mask()
    }

    /// SDUs that wait or are kept, and their bytes.
    pub fn queued(&self) -> (usize, u64) {
        let (waiting, kept, bytes) = self.tx.queued();
        (waiting + kept, bytes)
    }

    /// The COUNTs that are next, of a gNodeB's bearer.
    pub fn counts(&self) -> BearerCounts {
        BearerCounts::new(self.guard.bearer.drb, self.tx.tx_next(), Some(self.rx.state().rx_next))
    }

    /// In how many directions COUNT came to [`CountState::High`].
    pub fn count_high(&self) -> u64 {
        self.guard.high
    }

    /// Adds its drops.
    pub fn drops(&self, drops: &mut Drops) {
        add_layer(drops, "pdcp_tx", TxDrop::ALL.map(|why| (why.name(), self.tx.dropped(why))));
        add_layer(drops, "pdcp_rx", RxDrop::ALL.map(|why| (why.name(), self.rx.dropped(why))));
        let (sent, received) = (self.tx.counters(), self.rx.counters());
        add_layer(drops, "pdcp_tx", [("bad_report", sent.bad_reports)]);
        add_layer(drops, "pdcp_rx", [("missing", received.missing)]);
    }
}

/// RLC of a bearer, both directions.
pub struct Rlc {
    mode: Mode,
    /// Bytes that its queue takes.
    most_bytes: u64,
    /// SDUs whose RLC has given up.
    pub radio_link_failures: u64,
}

enum Mode {
    Am(Box<Am<Vec<u8>>>),
    Um(UmTx<Vec<u8>>, Box<UmRx>),
}

/// A PDU that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its bytes.
    pub bytes: usize,
    /// It holds bytes that were sent before.
    pub again: bool,
}

/// A burst of the CU's may go beyond what was asked for by its last packet.
fn queue_limits(drb: &Drb) -> QueueLimits {
    QueueLimits { sdus: RLC_QUEUE_SDUS, bytes: 2 * u64::from(drb.du_bytes) }
}

/// Parameters of both sides of an AM entity.
fn am_configs(drb: &Drb, sn_length: SnLength) -> (am_tx::TxConfig, am_rx::RxConfig) {
    let timers = &drb.rlc_timers;
    let tx = am_tx::TxConfig {
        sn_length,
        window: drb.window,
        queue: queue_limits(drb),
        poll_retransmit_ns: timers.poll_retransmit_ns,
        poll_pdu: timers.poll_pdu,
        poll_byte: timers.poll_byte,
        max_retransmissions: timers.max_retransmissions,
    };
    let rx = am_rx::RxConfig {
        sn_length,
        window: drb.window,
        partial_bytes: PARTIAL_BYTES,
        reassembly_ns: timers.reassembly_ns,
        status_prohibit_ns: timers.status_prohibit_ns,
    };
    (tx, rx)
}

impl Rlc {
    /// A bearer that has carried nothing.
    ///
    /// # Errors
    /// As the entities' own; a checked configuration has none.
    pub fn new(drb: &Drb) -> Result<Rlc, gnb::rlc::ConfigError> {
        let queue = queue_limits(drb);
        let mode = match drb.rlc {
            RlcMode::Am(sn_length) => {
                let (tx, rx) = am_configs(drb, sn_length);
                Mode::Am(Box::new(Am::new(tx, rx)?))
            }
            RlcMode::Um(sn_length) => {
                let rx = UmRxConfig { sn_length, reassembly_ns: drb.rlc_timers.reassembly_ns, partial_bytes: PARTIAL_BYTES };
                Mode::Um(UmTx::new(sn_length, queue)?, Box::new(UmRx::new(rx)?))
            }
        };
        Ok(Rlc { mode, most_bytes: queue.bytes, radio_link_failures: 0 })
    }

    /// Goes on with other timers, thresholds and limits of its queue.
    ///
    /// # Errors
    /// As the entities' own; a checked configuration that [goes on](Drb::goes_on) has none.
    pub fn reconfigure(&mut self, drb: &Drb) -> Result<(), gnb::rlc::ConfigError> {
        let queue = queue_limits(drb);
        match (&mut self.mode, drb.rlc) {
            (Mode::Am(am), RlcMode::Am(sn_length)) => {
                let (tx, rx) = am_configs(drb, sn_length);
                am.reconfigure(tx, rx)?;
            }
            (Mode::Um(tx, rx), _) => {
                tx.reconfigure(queue)?;
                rx.reconfigure(drb.rlc_timers.reassembly_ns)?;
            }
            (Mode::Am(_), RlcMode::Um(_)) => return Err(gnb::rlc::ConfigError::SnLength),
        }
        self.most_bytes = queue.bytes;
        Ok(())
    }

    /// Mode, as the radio's framing has it.
    pub fn framing(drb: &Drb) -> framing::RlcMode {
        match drb.rlc {
            RlcMode::Am(SnLength::Bits12) => framing::RlcMode::Am(12),
            RlcMode::Am(SnLength::Bits18) => framing::RlcMode::Am(18),
            RlcMode::Um(UmSnLength::Bits6) => framing::RlcMode::Um(6),
            RlcMode::Um(UmSnLength::Bits12) => framing::RlcMode::Um(12),
        }
    }

    /// Takes an SDU that the caller calls `tag`.
    ///
    /// # Errors
    /// Why it is dropped; counted.
    pub fn enqueue(&mut self, tag: u32, sdu: Vec<u8>) -> Result<(), Refusal> {
        match &mut self.mode {
            Mode::Am(am) => am.enqueue(tag, sdu),
            Mode::Um(tx, _) => tx.enqueue(tag, sdu),
        }
        .map_err(|refused| refused.reason)
    }

    /// Takes an SDU back of which nothing was sent. Whether it was there.
    pub fn discard(&mut self, tag: u32) -> bool {
        match &mut self.mode {
            Mode::Am(am) => am.discard(tag),
            Mode::Um(tx, _) => tx.discard(tag),
        }
        .is_some()
    }

    /// SDUs that wait for their first grant.
    pub fn waiting(&self) -> usize {
        match &self.mode {
            Mode::Am(am) => am.tx().queued().0,
            Mode::Um(tx, _) => tx.queued().0,
        }
    }

    /// Bytes of the SDUs that wait for their first grant.
    pub fn waiting_bytes(&self) -> u64 {
        match &self.mode {
            Mode::Am(am) => am.tx().queued().1,
            Mode::Um(tx, _) => tx.queued().1,
        }
    }

    /// Whether its queue takes one SDU more, however long it is.
    pub fn has_room(&self) -> bool {
        self.waiting_bytes() + LONGEST_SDU <= self.most_bytes
    }

    /// Appends a PDU for a grant.
    pub fn pull(&mut self, grant: usize, now_ns: u64, out: &mut Vec<u8>) -> Option<Sent> {
        match &mut self.mode {
            Mode::Am(am) => {
                let pulled = am.pull(grant, now_ns, out)?;
                Some(Sent { bytes: pulled.bytes(), again: matches!(pulled, Pulled::Data(sent) if sent.again) })
            }
            Mode::Um(tx, _) => tx.pull(grant, out).map(|bytes| Sent { bytes, again: false }),
        }
    }

    /// Whether a grant would be used now.
    pub fn has_data(&self, now_ns: u64) -> bool {
        match &self.mode {
            Mode::Am(am) => am.has_data(now_ns),
            Mode::Um(tx, _) => tx.has_data(),
        }
    }

    /// Processes a PDU of the peer: whole SDUs go up, in any order; `delivered` is told what the peer has. Whether it is none that is dropped;
    /// drops are counted.
    pub fn receive(&mut self, pdu: &[u8], now_ns: u64, up: &mut impl FnMut(&[u8]), delivered: &mut impl FnMut(u32)) -> bool {
        match &mut self.mode {
            Mode::Am(am) => {
                let failures = &mut self.radio_link_failures;
                let taken: Result<(), AmDrop> = am.receive(pdu, now_ns, up, &mut |event| event_of(event, failures, delivered));
                taken.is_ok()
            }
            Mode::Um(_, rx) => {
                let taken: Result<(), UmDrop> = rx.receive(pdu, now_ns, up);
                taken.is_ok()
            }
        }
    }

    /// Lets timers run out.
    pub fn advance(&mut self, now_ns: u64, delivered: &mut impl FnMut(u32)) {
        match &mut self.mode {
            Mode::Am(am) => {
                let failures = &mut self.radio_link_failures;
                am.advance(now_ns, &mut |event| event_of(event, failures, delivered));
            }
            Mode::Um(_, rx) => rx.advance(now_ns),
        }
    }

    /// When to call [`Rlc::advance`], or to look for data.
    pub fn next_deadline(&self) -> Option<u64> {
        match &self.mode {
            Mode::Am(am) => am.next_deadline(),
            Mode::Um(_, rx) => rx.next_deadline(),
        }
    }

    /// Adds its drops.
    pub fn drops(&self, drops: &mut Drops) {
        match &self.mode {
            Mode::Am(am) => {
                add_layer(drops, "rlc", PduFault::ALL.map(|why| (why.name(), am.faults(why))));
                add_layer(drops, "rlc_rx", am_rx::RxDrop::ALL.map(|why| (why.name(), am.rx().counters().dropped[why as usize])));
                add_layer(drops, "rlc_status", am_tx::StatusDrop::ALL.map(|why| (why.name(), am.tx().counters().ignored[why as usize])));
                add_layer(drops, "rlc_tx", Refusal::ALL.map(|why| (why.name(), am.tx().refused(why))));
            }
            Mode::Um(tx, rx) => {
                add_layer(drops, "rlc_rx", UmDrop::ALL.map(|why| (why.name(), rx.dropped(why))));
                add_layer(drops, "rlc_rx", [("abandoned", rx.abandoned())]);
                add_layer(drops, "rlc_tx", Refusal::ALL.map(|why| (why.name(), tx.refused(why))));
            }
        }
    }
}

fn event_of(event: am_tx::TxEvent<Vec<u8>>, failures: &mut u64, delivered: &mut impl FnMut(u32)) {
    match event {
        am_tx::TxEvent::Delivered { tag, .. } => delivered(tag),
        am_tx::TxEvent::MaxRetransmissions { .. } => *failures += 1,
    }
}
