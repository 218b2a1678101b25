//! What is done to one packet, and what may come of it?

use crate::{Key, Nea, Nia};

/// Bytes of a MAC-I (TS 38.323 §6.2.2.1).
pub const MAC_LEN: usize = 4;

/// Most bytes of a job: a PDCP SDU of 9000 bytes (TS 38.323 §4.3.1) with headers of PDCP and SDAP and MAC-I, and room to spare.
pub const LONGEST: usize = 9216;

/// Bits of BEARER (TS 33.501 §D.2.1.1).
const BEARER_BITS: u32 = 5;

/// DIRECTION (TS 33.501 §D.2.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the UE: 0.
    Uplink,
    /// To the UE: 1.
    Downlink,
}

impl Direction {
    pub(crate) fn bit(self) -> u8 {
        match self {
            Direction::Uplink => 0,
            Direction::Downlink => 1,
        }
    }
}

/// Which way a packet goes through its keys (TS 38.323 §5.8, §5.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The sender's: computes the MAC-I, then ciphers, the MAC-I too.
    Protect,
    /// The receiver's: deciphers, then checks the MAC-I.
    Recover,
}

/// Why nothing was done to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More than [`LONGEST`] bytes.
    #[error("packet is longer than {LONGEST} bytes")]
    TooLong,
    /// No message before the MAC-I, no room for the MAC-I behind the bytes that stay clear, or fewer bytes than are to stay clear.
    #[error("packet is shorter than its clear bytes and MAC-I")]
    TooShort,
    /// BEARER has more than 5 bits.
    #[error("BEARER is greater than 31")]
    Bearer,
    /// The key was made by an engine of another implementation.
    #[error("key belongs to another implementation")]
    Key,
    /// The library refused or did not finish it. The caller drops the packet: its bytes may have changed.
    #[error("the library did not complete the job")]
    Library,
}

/// What came of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not run yet.
    Pending,
    /// Protected; or deciphered, and its MAC-I is right.
    Done,
    /// Deciphered, and its MAC-I is wrong: TS 38.323 §5.9 drops it.
    WrongMac,
    /// Nothing was done, and `data` is as it was (but for [`Fault::Library`]).
    Refused(Fault),
}

/// One packet of a burst. Its keys are of one bearer; those of the next may be of any other.
pub struct Job<'a> {
    /// Ciphers `data[clear..]`; `None` leaves it as it is, as NEA0 does.
    pub cipher: Option<&'a Key<Nea>>,
    /// Protects all of `data` but its last [`MAC_LEN`] bytes, which are the MAC-I; `None`: there is no MAC-I in `data`.
    pub integrity: Option<&'a Key<Nia>>,
    /// COUNT.
    pub count: u32,
    /// BEARER, 0 to 31: the radio bearer's identity less 1.
    pub bearer: u8,
    /// DIRECTION.
    pub direction: Direction,
    /// Sender or receiver.
    pub step: Step,
    /// Leading bytes that are not ciphered: headers of PDCP and SDAP (TS 38.323 §5.8).
    pub clear: usize,
    /// The packet, changed in place, with room for the MAC-I at its end if there is an integrity key.
    pub data: &'a mut [u8],
    /// What came of it. Whatever it was before is overwritten.
    pub outcome: Outcome,
}

impl Job<'_> {
    /// Whether it can be run at all.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let len = self.data.len();
        if self.integrity.is_none() {
            return check_plain(len, self.clear, self.bearer);
        }
        let Some(message) = len.checked_sub(MAC_LEN) else { return Err(Fault::TooShort) };
        match () {
            () if len > LONGEST => Err(Fault::TooLong),
            // A MAC-I of nothing: every PDU has a header.
            () if message == 0 => Err(Fault::TooShort),
            () => check_plain(message, self.clear, self.bearer),
        }
    }
}

/// Whether so many bytes without a MAC-I can be ciphered behind those that stay clear.
#[inline]
pub(crate) fn check_plain(len: usize, clear: usize, bearer: u8) -> Result<(), Fault> {
    match () {
        () if len > LONGEST => Err(Fault::TooLong),
        () if len < clear => Err(Fault::TooShort),
        () if bearer >> BEARER_BITS != 0 => Err(Fault::Bearer),
        () => Ok(()),
    }
}

/// Why an implementation is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not in this build, or not on this machine: with what to do.
    #[error("{0}")]
    Absent(String),
    /// Jobs that [`crate::Alone`] does not take.
    #[error("not for the library alone: {0}")]
    Jobs(Fault),
}

/// Message and MAC-I. The job was checked: it has room for both.
pub(crate) fn split(data: &mut [u8]) -> (&[u8], &mut [u8]) {
    let at = data.len() - MAC_LEN;
    let (message, mac) = data.split_at_mut(at);
    (message, mac)
}

/// Whether a MAC-I is right, in a time that does not tell how much of it is.
pub(crate) fn verdict(algorithm: Nia, mac: &[u8], expected: &[u8; MAC_LEN]) -> Outcome {
    let differ = mac.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b));
    // NIA0's is not checked (TS 33.501 §D.1).
    if differ == 0 || algorithm == Nia::Nia0 { Outcome::Done } else { Outcome::WrongMac }
}
