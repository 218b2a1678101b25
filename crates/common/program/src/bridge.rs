//! The bridge header carries a packet's state from one pass of a program to the next.
//!
//! A target with one packet in and one packet out cannot do v1model's clones, multicast groups,
//! resubmission and recirculation, and it cannot wait for the answer of a service, or be a chain of targets of which each does a part. For it the compiler cuts the program, so that it *stops* where one of
//! them is requested: it
//! sends the packet to port [`Bridge::PORT`] with the reason [`Bridge::stop_reason`], and in front of it, after the headers
//! as they are, this header with all that the rest of the program needs. The target's driver makes copies, changes
//! the bridge of each, and sends them to port [`Bridge::PORT`] of the same program, which resumes where [`Bridge::kind`] says.
//! Hardware calls this bridged metadata.

use crate::{ServiceId, TableId};
use std::collections::BTreeMap;

/// A number in a header: `width` bits from bit `offset` on, counted from the first byte's top bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BitField {
    /// Bits before it.
    pub offset: u32,
    /// Its bits, at most 128.
    pub width: u32,
}

impl BitField {
    /// Reads it.
    ///
    /// # Panics
    /// If it is not all inside `bytes`.
    pub fn get(self, bytes: &[u8]) -> u128 {
        if self.width == 0 {
            return 0;
        }
        let end = (self.offset + self.width) as usize;
        let bytes = &bytes[self.offset as usize / 8..end.div_ceil(8)];
        let behind = bytes.len() * 8 - self.offset as usize % 8 - self.width as usize;
        let mask = base::Bits::mask(self.width);
        // Most are of a few bytes, and drivers read them of each packet.
        if bytes.len() <= 8 {
            let word = bytes.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
            return u128::from(word >> behind) & mask;
        }
        // The last byte apart: with 128 bits at an odd place there are 17.
        let (last, bytes) = bytes.split_last().expect("it has more than 8");
        let word = bytes.iter().fold(0, |word: u128, byte| word << 8 | u128::from(*byte));
        (word << (8 - behind) | u128::from(*last) >> behind) & mask
    }

    /// Writes the low bits of `value`.
    ///
    /// # Panics
    /// If it is not all inside `bytes`.
    pub fn set(self, bytes: &mut [u8], value: u128) {
        if self.width == 0 {
            return;
        }
        let end = (self.offset + self.width) as usize;
        let place = &mut bytes[self.offset as usize / 8..end.div_ceil(8)];
        // As in `get`.
        if place.len() <= 8 {
            let behind = place.len() * 8 - self.offset as usize % 8 - self.width as usize;
            let mask = (base::Bits::mask(self.width) as u64) << behind;
            let value = (value as u64) << behind & mask;
            for (n, byte) in place.iter_mut().rev().enumerate() {
                *byte = *byte & !((mask >> (8 * n)) as u8) | (value >> (8 * n)) as u8;
            }
            return;
        }
        for i in 0..self.width {
            let (at, bit) = (self.offset + i, (value >> (self.width - 1 - i) & 1) as u8);
            let (byte, shift) = (&mut bytes[at as usize / 8], 7 - at % 8);
            *byte = *byte & !(1 << shift) | bit << shift;
        }
    }
}

/// A place where the program calls a service. A packet that stopped there has the request and then room for the answer behind the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeCall {
    /// Of a packet that stopped there.
    pub kind: u8,
    /// Which service.
    pub service: ServiceId,
    /// Whether it waits for an answer; else the service gets a copy, and the program goes on at once.
    pub waits: bool,
    /// Bytes of request and answer, with padding.
    pub len: usize,
    /// The table that is looked up first, with the request's fields as its key and an action that has the answer's as parameters: where it hits, the call has been
    /// made and the program does not stop. None if the request has no fields.
    pub table: Option<TableId>,
    /// Whether what follows calls no service, and uses neither meters, registers, random numbers nor digests: so in which order packets go on from here does not
    /// matter to any of them.
    pub is_last: bool,
}

/// A place where the program stops within a control, and resumes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BridgeStop {
    /// It calls a service.
    Call(BridgeCall),
    /// What follows is for that stage of a chain of targets, counted from 0, or for a later one.
    Stage(u8),
}

impl BridgeStop {
    /// Bytes between the bridge and the packet's headers.
    pub fn extra_len(&self) -> usize {
        match self {
            BridgeStop::Call(call) => call.len,
            BridgeStop::Stage(_) => 0,
        }
    }
}

/// Where everything is in a program's bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridge {
    /// Its length in bytes.
    pub len: usize,
    /// Where the program stopped, or resumes: the constants below.
    pub kind: BitField,
    /// Whether a clone is asked for, of which session, with which field list ([`Bridge::NO_LIST`] for none).
    pub clone: BitField,
    /// See `clone`.
    pub session: BitField,
    /// See `clone`.
    pub clone_fields: BitField,
    /// Whether the packet is to be resubmitted, with which field list.
    pub resubmit: BitField,
    /// See `resubmit`.
    pub resubmit_fields: BitField,
    /// Field list of a recirculated packet.
    pub recirculate_fields: BitField,
    /// All variables, those below among them.
    pub vars: Vec<BitField>,
    /// Variables that a copy keeps, by field list: positions in `vars`.
    pub field_lists: BTreeMap<u8, Vec<usize>>,
    /// `standard_metadata.ingress_port`.
    pub ingress_port: BitField,
    /// `standard_metadata.egress_spec`: for passes that begin in egress, the port.
    pub egress_spec: BitField,
    /// Others that the program has.
    pub instance_type: Option<BitField>,
    /// As v1model has it.
    pub packet_length: Option<BitField>,
    /// What counters and meters of frames count.
    pub frame_length: Option<BitField>,
    /// As v1model has it.
    pub timestamp: Option<BitField>,
    /// As v1model has it.
    pub egress_rid: Option<BitField>,
    /// As v1model has it.
    pub multicast: Option<BitField>,
    /// The `@drop_reason` variable.
    pub drop_reason: BitField,
    /// The `@mark` variable.
    pub mark: Option<BitField>,
    /// The reason of a packet that stopped.
    pub stop_reason: u8,
    /// Places within controls: a packet stops at `stops[i]` with kind [`Bridge::STOP`]` + i`, and resumes behind it with the same kind.
    pub stops: Vec<BridgeStop>,
    /// Of a packet that stopped there: bytes of its headers. They follow request and answer of a call; behind them is the payload.
    pub headers: BitField,
    /// Whether passes behind a stop, or of copies, may use a meter, a register or random numbers. Then a packet must be through before the next one begins, as that
    /// one sees what it leaves there.
    pub state_behind_stops: bool,
    /// By register that the program only writes, at one place behind a stop: the services at one of whose calls each packet is on its way there. The register holds what
    /// the last packet has written if no packet overtakes another one at one of these calls.
    pub written_behind: Vec<Vec<ServiceId>>,
    /// Of a program for PSA: the rest of what the replication engine is told, and tells. Every pass of it stops.
    pub switch: Option<Switch>,
}

/// Fields of a bridge behind or ahead of a pipe of PSA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// How a packet comes into the pipe: `PSA_PacketPath_t` in the order of its members.
    pub path: BitField,
    /// Where it comes from (ingress) or goes (egress), and where ingress sends it; as programs number ports.
    pub port: BitField,
    /// Which of the copies of a group it is.
    pub instance: BitField,
    /// What ingress has said, for egress.
    pub class_of_service: BitField,
    /// Whether the pipe drops it.
    pub drop: BitField,
}

impl Bridge {
    /// The port of packets with a bridge; v1model's drop port, which no packet comes from or goes to.
    pub const PORT: base::PortId = base::PortId::DROP;
    /// No field list.
    pub const NO_LIST: u128 = 0x100;
    /// The program stopped at the end of ingress.
    pub const AFTER_INGRESS: u8 = 1;
    /// The program stopped at the end of egress.
    pub const AFTER_EGRESS: u8 = 2;
    /// The program stopped after the deparser: the packet is to be recirculated.
    pub const RECIRCULATE: u8 = 5;
    /// Resumes with egress.
    pub const RESUME: u8 = 1;
    /// Resumes after egress.
    pub const FINISH: u8 = 2;
    /// Parses the packet, then resumes with egress.
    pub const PARSE_EGRESS: u8 = 3;
    /// Parses the packet, then resumes with ingress.
    pub const PARSE_INGRESS: u8 = 4;
    /// A copy: resumes with egress, with `egress_spec` zero.
    pub const COPY: u8 = 6;
    /// The first stop within a control; the others follow.
    pub const STOP: u8 = 16;
    /// Most stops within controls.
    pub const MAX_STOPS: usize = (u8::MAX - Bridge::STOP) as usize;

    /// The stops within controls, each with the kind of a packet that stopped there.
    pub fn stops(&self) -> impl Iterator<Item = (u8, &BridgeStop)> {
        (Bridge::STOP..).zip(&self.stops)
    }

    fn stop(&self, kind: u8) -> Option<&BridgeStop> {
        self.stops.get(usize::from(kind.checked_sub(Bridge::STOP)?))
    }

    /// The call that a packet of that kind stopped at.
    pub fn call(&self, kind: u8) -> Option<&BridgeCall> {
        match self.stop(kind)? {
            BridgeStop::Call(call) => Some(call),
            BridgeStop::Stage(_) => None,
        }
    }

    /// The stage that a packet of that kind stopped for.
    pub fn stage(&self, kind: u8) -> Option<u8> {
        match self.stop(kind)? {
            BridgeStop::Call(_) => None,
            BridgeStop::Stage(stage) => Some(*stage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_any_width_at_any_place_are_read_as_bit_by_bit() {
        let bytes: Vec<u8> = (0..40_u32).map(|i| (i * 37 + 11) as u8).collect();
        for offset in 0..40 {
            for width in 0..=128 {
                let bit = |at: u32| u128::from(bytes[at as usize / 8] >> (7 - at % 8) & 1);
                let expected = (offset..offset + width).fold(0, |value, at| value << 1 | bit(at));
                assert_eq!(BitField { offset, width }.get(&bytes), expected, "{width} bits at {offset}");
            }
        }
    }

    #[test]
    fn what_is_set_is_got_and_nothing_else_changes() {
        for offset in 0..20 {
            for width in 1..=90 {
                let field = BitField { offset, width };
                for background in [0u8, 0xff] {
                    let mut bytes = [background; 14];
                    let value = 0x1234_5678_9abc_def0_1357_9bdf_u128 & base::Bits::mask(width);
                    field.set(&mut bytes, 0x1234_5678_9abc_def0_1357_9bdf);
                    assert_eq!(field.get(&bytes), value);
                    let rest = BitField { offset: offset + width, width: 112 - offset - width };
                    let all = if background == 0 { 0 } else { base::Bits::mask(rest.width) };
                    assert_eq!(rest.get(&bytes), all);
                    assert_eq!(
                        BitField { offset: 0, width: offset }.get(&bytes),
                        if background == 0 { 0 } else { base::Bits::mask(offset) }
                    );
                }
            }
        }
    }
}
