//! An AM entity: both sides of a bearer's RLC (TS 38.322 §4.2.1.3).

use super::am_rx::{AmRx, RxConfig, RxDrop};
use super::am_tx::{AmTx, StatusDrop, TxConfig, TxEvent};
use super::pdu::{AmPdu, PduFault};
use super::queue::Refused;
use super::{ConfigError, SnLength};

/// Why a PDU is dropped; all of them are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AmDrop {
    /// Its bytes are no PDU.
    Pdu(PduFault),
    /// An AMD PDU that is not taken.
    Data(RxDrop),
    /// A STATUS PDU that is ignored.
    Status(StatusDrop),
}

/// A PDU that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pulled {
    /// A STATUS PDU of so many bytes.
    Status(usize),
    /// An AMD PDU.
    Data(super::am_tx::Sent),
}

impl Pulled {
    /// Its bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Pulled::Status(len) => *len,
            Pulled::Data(sent) => sent.len,
        }
    }
}

/// Both sides. `P` holds the bytes of an SDU that is sent.
pub struct Am<P> {
    sn_length: SnLength,
    tx: AmTx<P>,
    rx: AmRx,
    faults: [u64; PduFault::ALL.len()],
}

impl<P: AsRef<[u8]>> Am<P> {
    /// From both sides' parameters.
    ///
    /// # Errors
    /// [`ConfigError`]. The lengths of sequence numbers may not differ: a STATUS PDU is read with that of what it acknowledges, and they come
    /// on one channel.
    pub fn new(tx: TxConfig, rx: RxConfig) -> Result<Am<P>, ConfigError> {
        if tx.sn_length != rx.sn_length {
            return Err(ConfigError::SnLength);
        }
        Ok(Am { sn_length: tx.sn_length, tx: AmTx::new(tx)?, rx: AmRx::new(rx)?, faults: [0; PduFault::ALL.len()] })
    }

    /// Goes on with other timers, thresholds and limits of the queue: what RRC changes without a re-establishment (TS 38.331 §5.3.5.5.4). Timers that run stay as they are.
    ///
    /// # Errors
    /// [`ConfigError`], also if sequence numbers or a window are others; nothing has changed then.
    pub fn reconfigure(&mut self, tx: TxConfig, rx: RxConfig) -> Result<(), ConfigError> {
        tx.check()?;
        self.rx.reconfigure(rx)?;
        self.tx.reconfigure(tx)
    }

    /// Takes an SDU: [`AmTx::enqueue`].
    ///
    /// # Errors
    /// The SDU, and why it is not taken.
    pub fn enqueue(&mut self, tag: u32, sdu: P) -> Result<(), Refused<P>> {
        self.tx.enqueue(tag, sdu)
    }

    /// Takes an SDU back of which nothing was sent: [`AmTx::discard`].
    pub fn discard(&mut self, tag: u32) -> Option<P> {
        self.tx.discard(tag)
    }

    /// Appends one PDU of at most `grant` bytes: a STATUS first, then what must be sent again, then the rest (§5.2.3.1.1).
    pub fn pull(&mut self, grant: usize, now_ns: u64, out: &mut Vec<u8>) -> Option<Pulled> {
        if let Some(len) = self.rx.pull_status(grant, now_ns, out) {
            return Some(Pulled::Status(len));
        }
        self.tx.pull(grant, now_ns, out).map(Pulled::Data)
    }

    /// Processes a PDU of the peer.
    ///
    /// # Errors
    /// [`AmDrop`], which is counted.
    pub fn receive(
        &mut self,
        pdu: &[u8],
        now_ns: u64,
        deliver: &mut impl FnMut(&[u8]),
        events: &mut impl FnMut(TxEvent<P>),
    ) -> Result<(), AmDrop> {
        match AmPdu::parse(pdu, self.sn_length) {
            Ok(AmPdu::Data(data)) => self.rx.receive(&data, now_ns, deliver).map_err(AmDrop::Data),
            Ok(AmPdu::Status(status)) => self.tx.status(status, events).map_err(AmDrop::Status),
            Err(fault) => {
                self.faults[fault as usize] += 1;
                Err(AmDrop::Pdu(fault))
            }
        }
    }

    /// Lets timers expire.
    pub fn advance(&mut self, now_ns: u64, events: &mut impl FnMut(TxEvent<P>)) {
        self.tx.advance(now_ns, events);
        self.rx.advance(now_ns);
    }

    /// When to call [`Am::advance`] or, where a STATUS waits for `t-StatusProhibit`, [`Am::pull`].
    pub fn next_deadline(&self) -> Option<u64> {
        crate::earlier(self.tx.next_deadline(), self.rx.next_deadline())
    }

    /// Whether a grant would be used now.
    pub fn has_data(&self, now_ns: u64) -> bool {
        self.rx.status_due(now_ns) || self.tx.has_data()
    }

    /// Discards everything and starts anew (§5.1.2).
    pub fn re_establish(&mut self) {
        self.tx.re_establish();
        self.rx.re_establish();
    }

    /// The sending side.
    pub fn tx(&self) -> &AmTx<P> {
        &self.tx
    }

    /// The receiving side.
    pub fn rx(&self) -> &AmRx {
        &self.rx
    }

    /// PDUs whose bytes were none.
    pub fn faults(&self, fault: PduFault) -> u64 {
        self.faults[fault as usize]
    }
}
