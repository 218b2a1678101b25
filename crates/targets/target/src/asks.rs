//! Calls of services that a lane makes while its burst runs: its packets stay as they are, parsed, and go on with the answers.

use base::PortId;
use program::TableId;
use service::FIELDS_MAX;

/// A packet's call.
pub struct Question<'a> {
    /// Which packet of the burst.
    pub packet: usize,
    /// The port it came in by.
    pub port: PortId,
    /// The request's fields, as [`service::Call::fields`]; once it is answered, the answer's.
    pub fields: [u8; FIELDS_MAX],
    /// Whether it is answered: the program goes on. At first it is not, and the program stops at the call.
    pub answered: bool,
    /// The payload, and behind it the room in the packet's buffer.
    pub room: &'a mut [u8],
    /// Bytes of the payload, at most those of `room`.
    pub len: usize,
}

/// Who answers.
pub trait Asks {
    /// The questions of one look-up, in the order of their packets.
    fn ask(&mut self, table: TableId, questions: &mut [Question<'_>]);
}
