//! PFCP messages as bytes and as values: [`decode`] and [`Message::encode`], for both roles (TS 29.244 §7).
//!
//! A message is a header and a list of information elements ([`Ie`]). Decoding refuses only what has no readable frame
//! ([`DecodeError`]); an element that is wrong inside becomes [`Ie::Invalid`] at its place, so that the answer can name it
//! (Offending IE) and still be addressed to the F-SEID given elsewhere in the same message.
//!
//! # Why not an existing crate
//! `rs-pfcp` 0.5.0 was tried first. It survived 400 000 mutated messages without a panic, but:
//! - its SDF Filter refuses any filter without a flow description and drops ToS, SPI, flow label and filter ID (§8.2.5);
//! - the header's Length and Version are not checked: a Length 50 octets too long or too short, or version 2, decodes (§7.2.2);
//! - one bad element loses the whole message, thus also the CP F-SEID that the rejection must be sent to (§7.2.2.4.2), and an
//!   unknown zero-length element, which §7.6.6 says to ignore, is such a bad element, its type only in an error text;
//! - Create URR has no Linked URR ID, Measurement Information or thresholds beyond volume and time;
//! - Network Instance is UTF-8 only, without DNS labels;
//! - its hard dependencies are an argument parser, YAML, pcap files and network interface enumeration (over 50 crates).
pub mod fate;
mod ie;
mod reader;
mod value;

pub use ie::{ELEMENTS, Group, Ie, IeType, fate, find, number};
pub use reader::Flaw;
pub use value::*;

use fate::Fate;
use reader::Reader;

/// The port that requests are sent to (§4.2.2).
pub const PORT: u16 = 8805;

/// The version of the protocol in the header.
pub const VERSION: u8 = 1;

/// Grouped elements deeper than this are [`Ie::Invalid`]. The deepest of the standard is 4.
pub const MAX_DEPTH: usize = 6;

/// A PFCP message (§7.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its type.
    pub kind: MessageType,
    /// Session endpoint identifier of the receiver; `None` in node related messages, `Some(0)` where it is not known.
    pub seid: Option<u64>,
    /// Matches a response to its request, 24 bits.
    pub sequence: u32,
    /// Message priority, 0 (highest) to 15, if the MP flag is set.
    pub priority: Option<u8>,
    /// Another message follows in the same datagram (bundling).
    pub follow_on: bool,
    /// The information elements in order.
    pub ies: Group,
}

/// Message types (§7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the clause")]
pub enum MessageType {
    HeartbeatRequest,
    HeartbeatResponse,
    PfdManagementRequest,
    PfdManagementResponse,
    AssociationSetupRequest,
    AssociationSetupResponse,
    AssociationUpdateRequest,
    AssociationUpdateResponse,
    AssociationReleaseRequest,
    AssociationReleaseResponse,
    VersionNotSupportedResponse,
    NodeReportRequest,
    NodeReportResponse,
    SessionSetDeletionRequest,
    SessionSetDeletionResponse,
    SessionSetModificationRequest,
    SessionSetModificationResponse,
    SessionEstablishmentRequest,
    SessionEstablishmentResponse,
    SessionModificationRequest,
    SessionModificationResponse,
    SessionDeletionRequest,
    SessionDeletionResponse,
    SessionReportRequest,
    SessionReportResponse,
    /// Not of the standard.
    Other(u8),
}

/// Every known type, its number, and what becomes of it.
pub const TYPES: [(MessageType, u8, Fate); 25] = {
    use MessageType::*;
    use fate::Fate::{Done, Refused, Sent};
    [
        (HeartbeatRequest, 1, Done),
        (HeartbeatResponse, 2, Done),
        (PfdManagementRequest, 3, Refused),
        (PfdManagementResponse, 4, Sent),
        (AssociationSetupRequest, 5, Done),
        (AssociationSetupResponse, 6, Done),
        (AssociationUpdateRequest, 7, Done),
        (AssociationUpdateResponse, 8, Done),
        (AssociationReleaseRequest, 9, Done),
        (AssociationReleaseResponse, 10, Sent),
        (VersionNotSupportedResponse, 11, Done),
        (NodeReportRequest, 12, Sent),
        (NodeReportResponse, 13, Done),
        (SessionSetDeletionRequest, 14, Done),
        (SessionSetDeletionResponse, 15, Sent),
        (SessionSetModificationRequest, 16, Done),
        (SessionSetModificationResponse, 17, Sent),
        (SessionEstablishmentRequest, 50, Done),
        (SessionEstablishmentResponse, 51, Sent),
        (SessionModificationRequest, 52, Done),
        (SessionModificationResponse, 53, Sent),
        (SessionDeletionRequest, 54, Done),
        (SessionDeletionResponse, 55, Sent),
        (SessionReportRequest, 56, Sent),
        (SessionReportResponse, 57, Done),
    ]
};

impl MessageType {
    /// The type, or one number for all that are not of the standard.
    pub(crate) fn known(self) -> MessageType {
        if let MessageType::Other(_) = self { MessageType::Other(0) } else { self }
    }

    /// The name in reports: that of the clause without spaces, or `Other`.
    pub fn name(self) -> String {
        if let MessageType::Other(_) = self { "Other".to_owned() } else { format!("{self:?}") }
    }
}

/// Bytes that are not a PFCP message of our version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Shorter than the header.
    #[error("{0} octets are too few for the header")]
    TooShort(usize),
    /// The header's Length does not fit the datagram.
    #[error("the header says {said} octets, the datagram has {have}")]
    Length {
        /// Octets that the header claims, itself included.
        said: usize,
        /// Octets there are.
        have: usize,
    },
    /// Another version: to be answered with Version Not Supported Response (§7.4.4.7).
    #[error("version {version}")]
    Version {
        /// The version in the header.
        version: u8,
        /// The message type in the header.
        kind: u8,
        /// The sequence number, where version 1 has it.
        sequence: u32,
    },
}

/// A message that is too long for its 16-bit lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message or one of its elements is longer than 65535 octets")]
pub struct TooLong;

/// Decodes a datagram of one message. Never panics; allocates in proportion to `bytes`.
pub fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
    match decode_first(bytes)? {
        (message, []) => Ok(message),
        (_, rest) => Err(DecodeError::Length { said: bytes.len() - rest.len(), have: bytes.len() }),
    }
}

/// Decodes the first message of a datagram, and gives the octets after it: messages bundled with it (§6.5), if it says so
/// with [`Message::follow_on`].
pub fn decode_first(bytes: &[u8]) -> Result<(Message, &[u8]), DecodeError> {
    let &[flags, kind, length_high, length_low, ..] = bytes else { return Err(DecodeError::TooShort(bytes.len())) };
    let has_seid = flags & 0x01 != 0;
    let header_len = if has_seid { 16 } else { 8 };
    if bytes.len() < header_len {
        return Err(DecodeError::TooShort(bytes.len()));
    }
    let tail = &bytes[header_len - 4..header_len];
    let sequence = u32::from_be_bytes([0, tail[0], tail[1], tail[2]]);
    if flags >> 5 != VERSION {
        return Err(DecodeError::Version { version: flags >> 5, kind, sequence });
    }
    // Length counts what follows the first four octets (§7.2.2.2).
    let said = 4 + usize::from(u16::from_be_bytes([length_high, length_low]));
    if said < header_len || said > bytes.len() {
        return Err(DecodeError::Length { said, have: bytes.len() });
    }
    let mut seid = [0; 8];
    if has_seid {
        seid.copy_from_slice(&bytes[4..12]);
    }
    let message = Message {
        kind: MessageType::from(kind),
        seid: has_seid.then_some(u64::from_be_bytes(seid)),
        sequence,
        priority: (flags & 0x02 != 0).then_some(tail[3] >> 4),
        follow_on: flags & 0x04 != 0,
        ies: ie::read_group(Reader::new(&bytes[header_len..said]), MAX_DEPTH),
    };
    Ok((message, &bytes[said..]))
}

impl Message {
    /// A node related message.
    pub fn node(kind: MessageType, sequence: u32, ies: Group) -> Message {
        Message { kind, seid: None, sequence, priority: None, follow_on: false, ies }
    }

    /// A session related message to the session that its receiver calls `seid`.
    pub fn session(kind: MessageType, seid: u64, sequence: u32, ies: Group) -> Message {
        Message { seid: Some(seid), ..Message::node(kind, sequence, ies) }
    }

    /// The first cause in it.
    pub fn cause(&self) -> Option<Cause> {
        find!(self.ies, Cause).copied()
    }

    /// The octets of the message.
    pub fn encode(&self) -> Result<Vec<u8>, TooLong> {
        let flags = VERSION << 5 | u8::from(self.follow_on) << 2 | u8::from(self.priority.is_some()) << 1 | u8::from(self.seid.is_some());
        let mut out = vec![flags, self.kind.number(), 0, 0];
        if let Some(seid) = self.seid {
            out.extend(seid.to_be_bytes());
        }
        out.extend(&self.sequence.to_be_bytes()[1..]);
        out.push(self.priority.unwrap_or(0) << 4);
        ie::write_group(&self.ies, &mut out)?;
        let length = u16::try_from(out.len() - 4).map_err(|_| TooLong)?;
        out[2..4].copy_from_slice(&length.to_be_bytes());
        Ok(out)
    }
}

impl MessageType {
    /// The number in the header.
    pub fn number(self) -> u8 {
        match self {
            MessageType::Other(number) => number,
            known => TYPES.iter().find(|(kind, ..)| *kind == known).map_or(0, |(_, number, _)| *number),
        }
    }

    /// Whether it is a request of the standard.
    pub fn is_request(self) -> bool {
        self.response().is_some()
    }

    /// Whether its header has a SEID (§7.3).
    pub fn is_session_related(self) -> bool {
        (50..=57).contains(&self.number())
    }

    /// What a request is answered with; `None` for what is no request.
    pub fn response(self) -> Option<MessageType> {
        let position = TYPES.iter().position(|(kind, ..)| *kind == self)?;
        let (answer, number, _) = *TYPES.get(position + 1)?;
        // Each request's response is the next number; type 11 is a response that answers none.
        let odd = self.number() & 1 == 1;
        (odd == (self.number() < 11) && number == self.number() + 1).then_some(answer)
    }
}

impl From<u8> for MessageType {
    fn from(number: u8) -> MessageType {
        TYPES.iter().find(|(_, known, _)| *known == number).map_or(MessageType::Other(number), |(kind, ..)| *kind)
    }
}

#[cfg(test)]
mod tests;
