//! Receiving: which COUNT is a PDU, and what may be handed up in order (TS 38.323 §5.2.2)?
//!
//! [`Rx::prepare`] derives COUNT and changes nothing; the job deciphers and checks the MAC-I; only [`Rx::finish`] changes state. So a PDU whose
//! MAC-I is wrong leaves no trace but a counter. COUNTs of one burst are derived from one `RX_DELIV`: a burst must be shorter than what a sender
//! leaves free of half the sequence numbers, which a window below that half does.

use ciphering::{Outcome, Step};

use super::handover::{FORWARDING_NS, HandoverError, Rising, Uplink};
use super::order::{Order, OrderConfig};
use super::pdu::{Format, Pdu, StatusReport};
use super::security::Packet;
use super::{ConfigError, CountGuard, Kind, MAX_SDU, PduFault};

/// Parameters of the receiving side (TS 38.331 `PDCP-Config`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxConfig {
    /// How PDUs look.
    pub format: Format,
    /// The bearer's RLC entity is AM: decides what a re-establishment does.
    pub acknowledged: bool,
    /// How far ahead of the first missing SDU one is kept: 1 to half of the numbers. It bounds the memory of a bearer, and should not be less than
    /// the peer's window: for one that is further ahead, what is missing is passed over as if `t-Reordering` had expired.
    pub window: u32,
    /// Most bytes of PDUs that wait for an earlier one. For more, too, what is missing is passed over.
    pub bytes: u64,
    /// `t-Reordering`, ns; `None`: infinity.
    pub reordering_ns: Option<u64>,
    /// `outOfOrderDelivery`: SDUs are handed up as they come.
    pub out_of_order: bool,
    /// COUNTs that are looked out for.
    pub guard: CountGuard,
}

impl RxConfig {
    fn check(&self) -> Result<(), ConfigError> {
        super::check(&self.format, self.window, ("reordering_ns", self.reordering_ns), ("bytes", self.bytes), self.guard)
    }
}

reasons! {
    /// Why a PDU is dropped.
    RxDrop {
        /// It ends within a field, or holds no byte of an SDU.
        Length = "length",
        /// It is longer than any.
        TooLong = "too_long",
        /// A control PDU of a type that is not taken.
        ControlType = "control_type",
        /// Its COUNT would be before 0, or from [`CountGuard::stop`] on.
        Count = "count",
        /// Its COUNT was handed up or passed over: late, or replayed (§5.2.2.1).
        Late = "late",
        /// Its COUNT is here: doubled, or replayed.
        Duplicate = "duplicate",
        /// Its MAC-I is wrong (§5.9).
        WrongMac = "wrong_mac",
        /// Its job was not run, or refused.
        Job = "job",
        /// Its job was run under keys that have been changed since.
        OldKeys = "old_keys",
    }
}

impl From<PduFault> for RxDrop {
    fn from(fault: PduFault) -> RxDrop {
        match fault {
            PduFault::Length => RxDrop::Length,
            PduFault::TooLong => RxDrop::TooLong,
            PduFault::ControlType => RxDrop::ControlType,
        }
    }
}

/// State variables (§7.1): COUNTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxState {
    /// `RX_NEXT`: behind the highest that came.
    pub rx_next: u32,
    /// `RX_DELIV`: the first that was not handed up, and is waited for.
    pub rx_deliv: u32,
    /// `RX_REORD`: behind the one that started `t-Reordering`.
    pub rx_reord: u32,
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RxCounters {
    /// SDUs that were handed up.
    pub delivered: u64,
    /// COUNTs that were passed over: they never came.
    pub missing: u64,
    /// Expiries of `t-Reordering`.
    pub reordering_expiries: u64,
    /// How often something was passed over because more could not be kept.
    pub forced: u64,
    /// By [`RxDrop`].
    pub dropped: [u64; RxDrop::ALL.len()],
}

/// A PDU before its job.
#[derive(Debug, PartialEq, Eq)]
pub enum Prepared {
    /// A data PDU, for its job and [`Rx::finish`].
    Data(Packet),
    /// A status report, for the sending side.
    Status(StatusPdu),
}

/// A status report's PDU, which was checked.
#[derive(Debug, PartialEq, Eq)]
pub struct StatusPdu(Vec<u8>);

impl StatusPdu {
    /// What it says.
    pub fn report(&self) -> StatusReport<'_> {
        StatusReport::of_checked(&self.0)
    }
}

/// The receiving side of a bearer.
pub struct Rx {
    config: RxConfig,
    order: Order<Vec<u8>>,
    epoch: u32,
    told_high: bool,
}

impl Rx {
    /// A bearer that has received nothing.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: RxConfig) -> Result<Rx, ConfigError> {
        config.check()?;
        let RxConfig { window, bytes, reordering_ns, out_of_order, guard, .. } = config;
        let order = OrderConfig { sn_length: config.format.sn_length, window, bytes, reordering_ns, out_of_order, stop: guard.stop };
        Ok(Rx { config, order: Order::new(order)?, epoch: 0, told_high: false })
    }

    /// Goes on with another `t-Reordering` and another limit of what waits: [`Order::reconfigure`].
    ///
    /// # Errors
    /// [`ConfigError`]; nothing has changed then.
    pub fn reconfigure(&mut self, bytes: u64, reordering_ns: Option<u64>, now_ns: u64) -> Result<(), ConfigError> {
        let config = RxConfig { bytes, reordering_ns, ..self.config };
        config.check()?;
        self.config = config;
        self.order.reconfigure(bytes, reordering_ns, now_ns);
        Ok(())
    }

    /// Reads a PDU and derives its COUNT. What is late or doubled already now is dropped before it costs a decipherment.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted.
    pub fn prepare(&mut self, pdu: Vec<u8>) -> Result<Prepared, RxDrop> {
        let parsed = self.config.format.parse(&pdu).map_err(RxDrop::from);
        let count = match parsed {
            Ok(Pdu::Status(_)) => return Ok(Prepared::Status(StatusPdu(pdu))),
            Ok(Pdu::Data { sn }) => self.order.count_of(sn),
            Err(drop) => Err(drop),
        };
        let count = self.counted(count)?;
        let clear = self.config.format.clear_len();
        Ok(Prepared::Data(Packet { pdu, count, outcome: Outcome::Pending, clear, step: Step::Recover, epoch: self.epoch }))
    }

    fn counted<T>(&mut self, result: Result<T, RxDrop>) -> Result<T, RxDrop> {
        if let Err(drop) = &result {
            self.order.count_drop(*drop);
        }
        result
    }

    /// Takes a PDU whose job has run (§5.2.2.1). SDUs that can be handed up now go to `deliver`, with their COUNT and, where the bearer has one, their
    /// SDAP header. Gives whether COUNT has come to [`CountGuard::notify`]: true once, and RRC should change the keys.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted; nothing else has changed.
    pub fn finish(&mut self, packet: Packet, now_ns: u64, deliver: &mut impl FnMut(u32, &[u8])) -> Result<bool, RxDrop> {
        let outcome = match packet.outcome {
            _ if packet.epoch != self.epoch => Err(RxDrop::OldKeys),
            Outcome::Done => Ok(()),
            Outcome::WrongMac => Err(RxDrop::WrongMac),
            Outcome::Pending | Outcome::Refused(_) => Err(RxDrop::Job),
        };
        self.counted(outcome)?;
        let Packet { pdu, count, .. } = packet;
        let (bytes, format) = (pdu.len() as u64, self.config.format);
        let taken = self.order.take(count, pdu, bytes, now_ns, &mut |count, pdu| deliver(count, sdu(&format, &pdu)));
        taken.map_err(|(_, drop)| drop)?;
        Ok(count >= self.config.guard.notify && !std::mem::replace(&mut self.told_high, true))
    }

    /// Lets `t-Reordering` expire (§5.2.2.2): what is missing before `RX_REORD` is passed over.
    pub fn advance(&mut self, now_ns: u64, deliver: &mut impl FnMut(u32, &[u8])) {
        let format = self.config.format;
        self.order.advance(now_ns, &mut |count, pdu| deliver(count, sdu(&format, &pdu)));
    }

    /// When to call [`Rx::advance`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.order.next_deadline()
    }

    /// Appends a status report (§5.4.1).
    pub fn status_report(&self, out: &mut Vec<u8>) {
        let RxState { rx_deliv, rx_next, .. } = *self.order.state();
        let last = rx_next.saturating_sub(rx_deliv).saturating_sub(1);
        StatusReport::emit(rx_deliv, last, |offset| offset <= last && self.order.is_here(rx_deliv + offset), out);
    }

    /// Re-establishes the entity (§5.1.2): the caller uses new keys from now on. RLC AM: nothing else changes. UM: what waits is handed up, and
    /// COUNT begins anew. A signalling bearer: what waits is dropped.
    pub fn re_establish(&mut self, deliver: &mut impl FnMut(u32, &[u8])) {
        self.epoch += 1;
        if self.config.acknowledged && self.config.format.kind == Kind::Drb {
            return;
        }
        let format = self.config.format;
        if format.kind == Kind::Drb {
            self.order.begin_anew(&mut |count, pdu| deliver(count, sdu(&format, &pdu)));
        } else {
            self.order.clear();
        }
        self.told_high = false;
    }

    /// Ends the entity, and gives what another gNodeB goes on with. UM: what waits is handed up instead, and COUNT begins anew.
    pub fn hand_over(mut self, deliver: &mut impl FnMut(u32, &[u8])) -> Uplink {
        if !self.config.acknowledged {
            self.re_establish(deliver);
            return Uplink::default();
        }
        let (deliv, format) = (self.order.state().rx_deliv, self.config.format);
        let waiting = self.order.take_waiting().into_iter().map(|(count, pdu)| (count, pdu.map(|pdu| sdu(&format, &pdu).to_vec())));
        Uplink { deliv, waiting: waiting.collect() }
    }

    /// Goes on where another gNodeB has ended, under new keys. A status report tells the UE what it need not send again.
    ///
    /// # Errors
    /// [`HandoverError`].
    pub fn take_over(config: RxConfig, uplink: Uplink, now_ns: u64) -> Result<Rx, HandoverError> {
        let mut rx = Rx::new(config)?;
        let Uplink { deliv, waiting } = uplink;
        if deliv > config.guard.stop || !config.acknowledged && (deliv > 0 || !waiting.is_empty()) {
            return Err(HandoverError::Count(deliv));
        }
        let mut rising = Rising { from: deliv.saturating_add(1), end: config.guard.stop, first: Some(deliv), window: config.window };
        let (format, mut bytes, mut pdus) = (config.format, 0, Vec::with_capacity(waiting.len()));
        for (count, sdu) in waiting {
            rising.check(count)?;
            let mut pdu = None;
            if let Some(sdu) = sdu {
                let mut whole = Vec::with_capacity(format.header_len() + sdu.len() + format.trailer_len());
                format.emit(count, &sdu, &mut whole);
                bytes += whole.len() as u64;
                if sdu.is_empty() || format.parse(&whole).is_err() || bytes > config.bytes {
                    return Err(HandoverError::Sdu(count));
                }
                pdu = Some(whole);
            }
            let len = pdu.as_ref().map_or(0, |pdu| pdu.len() as u64);
            pdus.push((count, pdu, len));
        }
        rx.order.resume(deliv, pdus.into_iter(), now_ns);
        if config.acknowledged {
            rx.order.widen(now_ns.saturating_add(FORWARDING_NS));
        }
        Ok(rx)
    }

    /// An SDU that the gNodeB before has received under this sequence number, behind a [`Rx::take_over`], as if it had come from the UE now.
    ///
    /// # Errors
    /// [`RxDrop`], which is counted; nothing else has changed.
    pub fn forwarded(&mut self, sn: u32, sdu: &[u8], now_ns: u64, deliver: &mut impl FnMut(u32, &[u8])) -> Result<(), RxDrop> {
        let format = self.config.format;
        let count = match () {
            () if sdu.is_empty() => Err(RxDrop::Length),
            () if sdu.len() > MAX_SDU + usize::from(format.sdap_header) => Err(RxDrop::TooLong),
            () if sn > format.sn_length.mask() => Err(RxDrop::Count),
            () => self.order.count_of(sn),
        };
        let count = self.counted(count)?;
        let mut pdu = Vec::with_capacity(format.header_len() + sdu.len() + format.trailer_len());
        format.emit(count, sdu, &mut pdu);
        let bytes = pdu.len() as u64;
        let taken = self.order.take(count, pdu, bytes, now_ns, &mut |count, pdu| deliver(count, self::sdu(&format, &pdu)));
        taken.map_err(|(_, drop)| drop)
    }

    /// State variables.
    pub fn state(&self) -> &RxState {
        self.order.state()
    }

    /// PDUs and bytes that wait for an earlier one.
    pub fn waiting(&self) -> (usize, u64) {
        self.order.waiting()
    }

    /// What happened so far.
    pub fn counters(&self) -> &RxCounters {
        self.order.counters()
    }

    /// PDUs that were dropped for this reason.
    pub fn dropped(&self, reason: RxDrop) -> u64 {
        self.order.counters().dropped[reason as usize]
    }
}

/// Where the SDU is in a PDU.
fn sdu<'a>(format: &Format, pdu: &'a [u8]) -> &'a [u8] {
    &pdu[format.header_len()..pdu.len() - format.trailer_len()]
}
