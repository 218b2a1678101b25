//! What does a packet say of itself? The first 18 bytes of its UDP payload, which is all that a frame of 64 bytes has room for.

use crate::Direction;

/// Bytes of a tag.
pub const LEN: usize = 18;
/// Bits of a number: at 100 million packets a second they last for a month.
const SEQUENCE_BYTES: usize = 6;
/// What tells our packets from others.
const MAGIC: [u8; 2] = [0x5e, 0xad];
const REPLY: u8 = 0x80;
const DOWN: u8 = 1;

/// A packet's own part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Which trial it belongs to: what is left of an earlier one is not counted.
    pub trial: u8,
    /// Which way it goes.
    pub direction: Direction,
    /// Whether the sink sent it back. `sequence` and `time_ns` are then those of the packet that it answers.
    pub reply: bool,
    /// Its number in its trial and direction, from 0; 48 bits.
    pub sequence: u64,
    /// When it was due, in nanoseconds since the trial began.
    pub time_ns: u64,
}

impl Tag {
    /// Writes it; `to` has [`LEN`] bytes at least.
    pub fn emit(&self, to: &mut [u8]) {
        let direction = if self.direction == Direction::Down { DOWN } else { 0 };
        to[..2].copy_from_slice(&MAGIC);
        to[2] = self.trial;
        to[3] = direction | if self.reply { REPLY } else { 0 };
        to[4..4 + SEQUENCE_BYTES].copy_from_slice(&self.sequence.to_be_bytes()[8 - SEQUENCE_BYTES..]);
        to[10..LEN].copy_from_slice(&self.time_ns.to_be_bytes());
    }

    /// Reads one; `None`: these are not bytes of ours.
    pub fn parse(from: &[u8]) -> Option<Tag> {
        let bytes = from.first_chunk::<LEN>()?;
        if bytes[..2] != MAGIC || bytes[3] & !(REPLY | DOWN) != 0 {
            return None;
        }
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Some(Tag {
            trial: bytes[2],
            direction: if bytes[3] & DOWN != 0 { Direction::Down } else { Direction::Up },
            reply: bytes[3] & REPLY != 0,
            sequence: number(&bytes[4..10]),
            time_ns: number(&bytes[10..]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tag_is_read_as_it_was_written(trial: u8, down: bool, reply: bool, sequence in 0u64..1 << 48, time_ns: u64) {
            let direction = if down { Direction::Down } else { Direction::Up };
            let tag = Tag { trial, direction, reply, sequence, time_ns };
            let mut bytes = [0xff; LEN];
            tag.emit(&mut bytes);
            prop_assert_eq!(Tag::parse(&bytes), Some(tag));
            prop_assert_eq!(Tag::parse(&bytes[..LEN - 1]), None);
        }

        #[test]
        fn other_bytes_are_no_tag(bytes: [u8; LEN]) {
            let is_ours = bytes[..2] == MAGIC && bytes[3] & 0x7e == 0;
            prop_assert_eq!(Tag::parse(&bytes).is_some(), is_ours);
        }
    }
}
