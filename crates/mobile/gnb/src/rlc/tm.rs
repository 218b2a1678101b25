//! TM: both sides. An SDU is a PDU (TS 38.322 §4.2.1.1, §5.2.1).

use super::queue::{Queue, QueueLimits, Refusal, Refused};
use super::{ConfigError, MAX_SDU};

/// The sending side. `P` holds an SDU's bytes.
pub struct TmTx<P>(Queue<P>);

impl<P: AsRef<[u8]>> TmTx<P> {
    /// With nothing to send.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(limits: QueueLimits) -> Result<TmTx<P>, ConfigError> {
        limits.check()?;
        Ok(TmTx(Queue::new(limits)))
    }

    /// Takes an SDU.
    ///
    /// # Errors
    /// The SDU, and why it is not taken; counted.
    pub fn enqueue(&mut self, tag: u32, sdu: P) -> Result<(), Refused<P>> {
        self.0.push(tag, sdu)
    }

    /// Takes an SDU back that was not sent.
    pub fn discard(&mut self, tag: u32) -> Option<P> {
        self.0.take(tag)
    }

    /// The next PDU, if it fits the grant: it is never cut.
    pub fn pull(&mut self, grant: usize) -> Option<P> {
        self.0.front().filter(|sdu| sdu.as_ref().len() <= grant)?;
        self.0.pop().map(|(_, sdu)| sdu)
    }

    /// SDUs that were not taken for this reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.0.refused(reason)
    }
}

/// The SDU of a received PDU; `None` if it has no byte, or too many.
pub fn receive(pdu: &[u8]) -> Option<&[u8]> {
    (1..=MAX_SDU).contains(&pdu.len()).then_some(pdu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdu_is_sent_whole_or_not_at_all() {
        let mut tx = TmTx::new(QueueLimits { sdus: 2, bytes: 9216 }).unwrap();
        tx.enqueue(0, vec![1; 10]).unwrap();
        tx.enqueue(1, vec![2; 4]).unwrap();
        assert_eq!(tx.enqueue(2, vec![3]).unwrap_err().reason, Refusal::QueueSdus);
        assert_eq!(tx.enqueue(2, vec![]).unwrap_err().reason, Refusal::Empty);
        assert_eq!(tx.enqueue(2, vec![0; MAX_SDU + 1]).unwrap_err().reason, Refusal::TooLong);
        assert_eq!(tx.pull(9), None);
        assert_eq!(tx.pull(10), Some(vec![1; 10]));
        assert_eq!(tx.discard(1), Some(vec![2; 4]));
        assert_eq!(tx.pull(100), None);
        assert_eq!(ALL_REFUSED.map(|reason| tx.refused(reason)), [1, 1, 1]);
        assert_eq!((receive(&[]), receive(&[7]), receive(&[0; MAX_SDU + 1])), (None, Some(&[7][..]), None));
        assert_eq!(TmTx::<Vec<u8>>::new(QueueLimits { sdus: 1, bytes: 9215 }).err(), Some(ConfigError::Room("queue")));
    }

    const ALL_REFUSED: [Refusal; 3] = [Refusal::Empty, Refusal::TooLong, Refusal::QueueSdus];
}
