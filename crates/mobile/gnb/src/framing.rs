//! How does a PDU look in a capture that Wireshark reads? In a UDP datagram, behind a name and tags that its heuristics `rlc_nr_udp` and
//! `pdcp_nr_udp` expect: `tshark --enable-heuristic rlc_nr_udp -r radio.pcap`.
//!
//! A tag is one byte and a value of fixed length, in network order; the payload's tag is the last. Any UDP port will do.

use ciphering::Direction;

/// What an RLC PDU belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rlc {
    /// Mode and length of sequence numbers.
    pub mode: RlcMode,
    /// Which way it goes.
    pub direction: Direction,
    /// The UE's number, any.
    pub ue: u16,
    /// Identity of the data radio bearer.
    pub drb: u8,
}

/// Mode of an RLC entity, with the bits of its sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RlcMode {
    /// Transparent.
    Tm,
    /// Unacknowledged: 6 or 12.
    Um(u8),
    /// Acknowledged: 12 or 18.
    Am(u8),
}

/// What a PDCP PDU of a data radio bearer belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pdcp {
    /// Bits of its sequence numbers: 12 or 18.
    pub sn_bits: u8,
    /// Which way it goes.
    pub direction: Direction,
    /// The UE's number, any: Wireshark's keys are kept by it.
    pub ue: u16,
    /// Identity of the data radio bearer: BEARER is one less.
    pub drb: u8,
    /// It ends with a MAC-I.
    pub mac_i: bool,
    /// There is an SDAP header in this direction.
    pub sdap_header: bool,
    /// NEA0.
    pub plain: bool,
}

reasons! {
    /// Why a datagram is no RLC PDU of a data radio bearer.
    RlcFault {
        /// It does not begin with the name.
        Name = "name",
        /// It ends within a tag, or no byte of a PDU follows the tags.
        Length = "length",
        /// A mode and a length of sequence numbers that do not go together.
        Mode = "mode",
        /// A tag that is not known, or a value that it cannot have.
        Tag = "tag",
        /// Direction, UE or bearer is missing, or it is a signalling bearer's.
        Missing = "missing",
    }
}

fn direction(direction: Direction) -> u8 {
    match direction {
        Direction::Uplink => 0,
        Direction::Downlink => 1,
    }
}

impl Rlc {
    /// Reads a datagram's content: what it belongs to, and the PDU. Tags may come in any order; the last of one kind counts.
    ///
    /// # Errors
    /// [`RlcFault`].
    pub fn parse(datagram: &[u8]) -> Result<(Rlc, &[u8]), RlcFault> {
        let [mode, sn_bits, tags @ ..] = datagram.strip_prefix(b"rlc-nr").ok_or(RlcFault::Name)? else { return Err(RlcFault::Length) };
        let mode = match (mode, sn_bits) {
            (1, 0) => RlcMode::Tm,
            (2, 6 | 12) => RlcMode::Um(*sn_bits),
            (4, 12 | 18) => RlcMode::Am(*sn_bits),
            _ => return Err(RlcFault::Mode),
        };
        let (mut direction, mut ue, mut drb, mut of_data) = (None, None, None, false);
        let mut rest = tags;
        loop {
            rest = match rest {
                [0x01, pdu @ ..] if !pdu.is_empty() => {
                    let (Some(direction), Some(ue), Some(drb), true) = (direction, ue, drb, of_data) else { return Err(RlcFault::Missing) };
                    return Ok((Rlc { mode, direction, ue, drb }, pdu));
                }
                [0x02, way @ 0..=1, rest @ ..] => {
                    direction = Some(if *way == 0 { Direction::Uplink } else { Direction::Downlink });
                    rest
                }
                [0x03, high, low, rest @ ..] => {
                    ue = Some(u16::from_be_bytes([*high, *low]));
                    rest
                }
                [0x04, kind @ 4..=5, rest @ ..] => {
                    of_data = *kind == 5;
                    rest
                }
                [0x05, number, rest @ ..] => {
                    drb = Some(*number);
                    rest
                }
                [] | [0x01..=0x05] | [0x03, _] => return Err(RlcFault::Length),
                _ => return Err(RlcFault::Tag),
            };
        }
    }

    /// Appends the datagram's content.
    pub fn emit(&self, pdu: &[u8], out: &mut Vec<u8>) {
        let (mode, sn_bits) = match self.mode {
            RlcMode::Tm => (1, 0),
            RlcMode::Um(sn_bits) => (2, sn_bits),
            RlcMode::Am(sn_bits) => (4, sn_bits),
        };
        let [high, low] = self.ue.to_be_bytes();
        out.extend_from_slice(b"rlc-nr");
        // Direction, UE, bearer type (DRB), bearer, payload.
        out.extend_from_slice(&[mode, sn_bits, 0x02, direction(self.direction), 0x03, high, low, 0x04, 5, 0x05, self.drb, 0x01]);
        out.extend_from_slice(pdu);
    }
}

impl Pdcp {
    /// Appends the datagram's content.
    pub fn emit(&self, pdu: &[u8], out: &mut Vec<u8>) {
        let [high, low] = self.ue.to_be_bytes();
        out.extend_from_slice(b"pdcp-nr");
        // User plane; length of numbers, direction, bearer type, bearer, UE.
        out.extend_from_slice(&[2, 0x02, self.sn_bits, 0x03, direction(self.direction), 0x04, 1, 0x05, self.drb, 0x06, high, low]);
        if self.mac_i {
            out.push(0x0f);
        }
        if self.sdap_header {
            // One bit for each direction.
            out.extend_from_slice(&[0x10, direction(self.direction) + 1]);
        }
        if self.plain {
            out.push(0x11);
        }
        out.push(0x01);
        out.extend_from_slice(pdu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_framed_is_read_and_what_is_not_is_named() {
        let framed = Rlc { mode: RlcMode::Um(6), direction: Direction::Uplink, ue: 0xfffe, drb: 32 };
        let mut out = Vec::new();
        framed.emit(&[0xaa, 0xbb], &mut out);
        assert_eq!(Rlc::parse(&out), Ok((framed, &[0xaa, 0xbb][..])));
        for end in 0..out.len() - 2 {
            assert_eq!(Rlc::parse(&out[..end]).unwrap_err(), if end < 6 { RlcFault::Name } else { RlcFault::Length }, "{end}");
        }
        for (from, fault) in [
            (&b"rlc-nr\x02\x12\x01\xaa"[..], RlcFault::Mode),
            (b"rlc-nr\x04\x12\x01\xaa", RlcFault::Missing),
            (b"rlc-nr\x04\x12\x02\x02\x01\xaa", RlcFault::Tag),
            (b"rlc-nr\x04\x12\x06\x00\x01\xaa", RlcFault::Tag),
            (b"rlc-nr\x04\x12\x02\x01\x03\x01\x02\x04\x04\x05\x03\x01\xaa", RlcFault::Missing),
        ] {
            assert_eq!(Rlc::parse(from), Err(fault), "{from:?}");
        }
    }

    #[test]
    fn tags_are_as_the_heuristics_read_them() {
        let mut out = Vec::new();
        Rlc { mode: RlcMode::Am(18), direction: Direction::Downlink, ue: 0x102, drb: 3 }.emit(&[0xaa], &mut out);
        assert_eq!(out, *b"rlc-nr\x04\x12\x02\x01\x03\x01\x02\x04\x05\x05\x03\x01\xaa");
        out.clear();
        let pdcp = Pdcp { sn_bits: 12, direction: Direction::Uplink, ue: 7, drb: 1, mac_i: true, sdap_header: true, plain: true };
        pdcp.emit(&[0xbb], &mut out);
        assert_eq!(out, *b"pdcp-nr\x02\x02\x0c\x03\x00\x04\x01\x05\x01\x06\x00\x07\x0f\x10\x01\x11\x01\xbb");
    }
}
