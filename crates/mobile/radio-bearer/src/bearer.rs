//! What becomes of a call?

use crate::config::{BearerConfig, RlcConfig};
use crate::{ABSORBED, Answer, CONTROL, PDU, REMOVED, STATUS};
use ::service::{Call, Outcome, Reason};
use gnb::pdcp::pdu::Pdu;
use gnb::pdcp::rx::RxDrop as PdcpDrop;
use gnb::pdcp::{Order, SnLength};
use gnb::rlc::am_rx::{AmRx, RxDrop as AmDrop};
use gnb::rlc::pdu::{AmPdu, PduFault, Si};
use gnb::rlc::um::{UmDrop, UmRx};

/// Longest STATUS PDU: what does not fit is said by the next one. It fits a frame of the radio link with room to spare.
const STATUS_BYTES: usize = 1400;

/// Where the reasons of a layer begin among the service's own.
const RLC: usize = 2;
const AM: usize = RLC + PduFault::ALL.len();
const UM: usize = AM + AmDrop::ALL.len();
const PDCP: usize = UM + UmDrop::ALL.len();

enum Rlc {
    Tm,
    Um(UmRx),
    Am(AmRx, SnLength),
}

/// Where the SDU of a PDU is.
enum Sdu {
    /// In the payload, from this byte on.
    At(usize),
    /// In the scratch buffer: it came in pieces.
    Whole,
    /// Not whole yet.
    None,
}

/// A bearer's receiving sides.
pub(crate) struct Bearer {
    pub(crate) config: BearerConfig,
    rlc: Rlc,
    order: Order<Box<Call>>,
    /// A packet of the bearer, from which a STATUS PDU is made when RLC's timer expires. It is there while one of RLC's timers may ask for one.
    anchor: Option<Call>,
    /// When it is to be called, as the service's timers have it.
    pub(crate) armed: Option<u64>,
    scratch: Vec<u8>,
}

impl Bearer {
    /// Of a configuration that was checked.
    pub(crate) fn new(config: BearerConfig) -> Bearer {
        let checked = "the setting was checked";
        let rlc = match config.rlc {
            RlcConfig::Tm => Rlc::Tm,
            RlcConfig::Um(um) => Rlc::Um(UmRx::new(um).expect(checked)),
            RlcConfig::Am(am) => Rlc::Am(AmRx::new(am).expect(checked), am.sn_length),
        };
        let order = Order::new(config.order).expect(checked);
        Bearer { config, rlc, order, anchor: None, armed: None, scratch: Vec::new() }
    }

    /// An RLC PDU.
    pub(crate) fn receive(&mut self, call: &mut Call, now_ns: u64, done: &mut Vec<Call>) {
        match self.reassemble(call.payload(), now_ns) {
            Ok(Sdu::None) => absorb(call),
            Ok(Sdu::At(start)) => {
                self.scratch.clear();
                self.read(call, start);
            }
            Ok(Sdu::Whole) => {
                let sdu = std::mem::take(&mut self.scratch);
                if call.resize_payload(sdu.len()) {
                    call.payload_mut().copy_from_slice(&sdu);
                    self.read(call, 0);
                } else {
                    call.drop_for(Reason::own(PDCP + PdcpDrop::TooLong as usize));
                }
                self.scratch = sdu;
            }
            Err(reason) => call.drop_for(reason),
        }
        self.report(call, now_ns, done);
    }

    fn reassemble(&mut self, pdu: &[u8], now_ns: u64) -> Result<Sdu, Reason> {
        let scratch = &mut self.scratch;
        scratch.clear();
        let (whole, header) = match &mut self.rlc {
            Rlc::Tm if pdu.is_empty() => return Err(Reason::own(RLC + PduFault::Length as usize)),
            Rlc::Tm => return Ok(Sdu::At(0)),
            Rlc::Am(am, sn_length) => match AmPdu::parse(pdu, *sn_length) {
                Ok(AmPdu::Data(amd)) => {
                    let whole = amd.si == Si::Whole;
                    let keep = &mut |sdu: &[u8]| {
                        if !whole {
                            scratch.extend_from_slice(sdu)
                        }
                    };
                    am.receive(&amd, now_ns, keep).map_err(|drop| Reason::own(AM + drop as usize))?;
                    (whole, pdu.len() - amd.data.len())
                }
                // Those are the transmitting side's.
                Ok(AmPdu::Status(_)) => return Err(Reason::MALFORMED),
                Err(fault) => return Err(Reason::own(RLC + fault as usize)),
            },
            Rlc::Um(um) => {
                let whole = pdu.first().is_some_and(|first| first >> 6 == Si::Whole as u8);
                let keep = &mut |sdu: &[u8]| {
                    if !whole {
                        scratch.extend_from_slice(sdu)
                    }
                };
                um.receive(pdu, now_ns, keep).map_err(|drop| Reason::own(UM + drop as usize))?;
                (whole, 1)
            }
        };
        Ok(match () {
            () if whole => Sdu::At(header),
            () if scratch.is_empty() => Sdu::None,
            () => Sdu::Whole,
        })
    }

    /// Answers with the PDCP PDU that is in the payload from byte `start` on.
    fn read(&mut self, call: &mut Call, start: usize) {
        let format = self.config.format;
        let pdu = &call.payload()[start..];
        let count = match format.parse(pdu) {
            Ok(Pdu::Data { sn }) => self.order.count_of(sn),
            Ok(Pdu::Status(_)) => {
                let payload_bytes = call.payload_len as u16;
                return call.answer(&Answer { event: CONTROL, count: 0, prefix: 0, payload_bytes }.bytes());
            }
            Err(fault) => Err(fault.into()),
        };
        match count {
            Ok(count) => {
                let clear = format.clear_len();
                let prefix = pdu[..clear].iter().fold(0, |prefix, byte| prefix << 8 | u32::from(*byte));
                let len = pdu.len() - clear;
                call.payload_mut().copy_within(start + clear.., 0);
                let shorter = call.resize_payload(len);
                debug_assert!(shorter);
                call.answer(&Answer { event: PDU, count, prefix, payload_bytes: len as u16 }.bytes());
            }
            Err(drop) => {
                self.order.count_drop(drop);
                call.drop_for(Reason::own(PDCP + drop as usize));
            }
        }
    }

    /// RLC AM's own: makes the STATUS that is due, and keeps the packet if one may be due without any.
    fn report(&mut self, call: &mut Call, now_ns: u64, done: &mut Vec<Call>) {
        let Rlc::Am(am, _) = &mut self.rlc else { return };
        self.scratch.clear();
        let made = am.pull_status(STATUS_BYTES, now_ns, &mut self.scratch).is_some();
        let later = am.next_deadline().is_some();
        if made || (later && self.anchor.is_none()) {
            // Copies are made of a packet that is kept.
            let packet = call.take();
            if made {
                done.extend(status(&packet, &self.scratch));
            }
            let ends = matches!(packet.outcome, Outcome::Dropped(_));
            if later && self.anchor.is_none() && !ends {
                if packet.fields[0] != ABSORBED {
                    let mut copy = packet.clone();
                    copy.outcome = Outcome::Copy;
                    done.push(copy);
                }
                self.anchor = Some(packet);
            } else {
                done.push(packet);
            }
        }
        if !later {
            release(&mut self.anchor, done);
        }
    }

    /// An SDU whose MAC-I is right.
    pub(crate) fn order(&mut self, call: &mut Call, count: u32, now_ns: u64, ordered: &mut Vec<Call>) {
        let (taken, len) = (Box::new(call.take()), u64::from(call.payload_len));
        let own = (taken.tag, taken.route);
        let result = self.order.take(count, taken, len, now_ns, &mut |count, mut sdu| {
            deliver(&mut sdu, count);
            // At once, if nothing waits to come out before it.
            if ordered.is_empty() && (sdu.tag, sdu.route) == own {
                *call = *sdu;
            } else {
                ordered.push(*sdu);
            }
        });
        if let Err((dropped, drop)) = result {
            *call = *dropped;
            call.drop_for(Reason::own(PDCP + drop as usize));
        }
    }

    /// Lets timers expire.
    pub(crate) fn advance(&mut self, now_ns: u64, ordered: &mut Vec<Call>, done: &mut Vec<Call>) {
        self.order.advance(now_ns, &mut |count, mut sdu| {
            deliver(&mut sdu, count);
            ordered.push(*sdu);
        });
        match &mut self.rlc {
            Rlc::Tm => {}
            Rlc::Um(um) => um.advance(now_ns),
            Rlc::Am(am, _) => {
                am.advance(now_ns);
                self.scratch.clear();
                // Without a packet it stays due, and the next PDU brings one.
                let Some(anchor) = &self.anchor else { return };
                if am.pull_status(STATUS_BYTES, now_ns, &mut self.scratch).is_some() {
                    done.extend(status(anchor, &self.scratch));
                }
                if am.next_deadline().is_none() {
                    release(&mut self.anchor, done);
                }
            }
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let rlc = match &self.rlc {
            Rlc::Tm => None,
            Rlc::Um(um) => um.next_deadline(),
            // `t-Reassembly` runs only while there is one.
            Rlc::Am(am, _) => am.next_deadline().filter(|_| self.anchor.is_some()),
        };
        [rlc, self.order.next_deadline()].into_iter().flatten().min()
    }

    /// Drops what is kept.
    pub(crate) fn give_back(&mut self, done: &mut Vec<Call>) {
        self.order.begin_anew(&mut |_, mut call| {
            call.drop_for(REMOVED);
            done.push(*call);
        });
        if let Some(mut anchor) = self.anchor.take() {
            anchor.drop_for(REMOVED);
            done.push(anchor);
        }
    }
}

/// Nothing goes on with the packet.
fn absorb(call: &mut Call) {
    call.answer(&Answer { event: ABSORBED, count: 0, prefix: 0, payload_bytes: 0 }.bytes());
}

/// A packet that carried an SDU goes on with it.
fn deliver(call: &mut Call, count: u32) {
    let payload_bytes = call.payload_len as u16;
    call.answer(&Answer { event: PDU, count, prefix: 0, payload_bytes }.bytes());
}

/// A copy of a packet with a STATUS PDU in place of its payload. `None` if it would be too long for a packet: the peer polls again.
fn status(packet: &Call, pdu: &[u8]) -> Option<Call> {
    let mut copy = packet.copy(&Answer { event: STATUS, count: 0, prefix: 0, payload_bytes: pdu.len() as u16 }.bytes());
    if !copy.resize_payload(pdu.len()) {
        return None;
    }
    copy.payload_mut().copy_from_slice(pdu);
    Some(copy)
}

fn release(anchor: &mut Option<Call>, done: &mut Vec<Call>) {
    if let Some(mut packet) = anchor.take() {
        absorb(&mut packet);
        done.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_names_of_the_entities() {
        let names = |prefix: &'static str, names: &mut dyn Iterator<Item = &'static str>| -> Vec<String> {
            names.map(|name| format!("{prefix}_{name}")).collect()
        };
        let mut all = vec!["no_bearer".to_owned(), "removed".to_owned()];
        all.extend(names("rlc", &mut PduFault::ALL.iter().map(|fault| fault.name())));
        all.extend(names("am", &mut AmDrop::ALL.iter().map(|drop| drop.name())));
        all.extend(names("um", &mut UmDrop::ALL.iter().map(|drop| drop.name())));
        // The rest are told by the ciphers.
        all.extend(names("pdcp", &mut PdcpDrop::ALL[..=PdcpDrop::Duplicate as usize].iter().map(|drop| drop.name())));
        assert_eq!(crate::REASONS, all);
    }
}
