//! What does a PDCP PDU say (TS 38.323 §6.2)? Bytes become a checked type here, and nothing checks them again.
//!
//! Reserved bits are not looked at, as §6.1 has it for receivers.

use ciphering::MAC_LEN;

use super::{MAX_SDU, SnLength};

/// Which bearer's format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Data radio bearer: D/C in the header.
    Drb,
    /// Signalling radio bearer.
    Srb,
}

/// How a bearer's data PDUs look in one direction (§6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Kind of bearer.
    pub kind: Kind,
    /// Length of sequence numbers.
    pub sn_length: SnLength,
    /// They end with a MAC-I.
    pub integrity: bool,
    /// They begin with an SDAP header, which is not ciphered (§5.8).
    pub sdap_header: bool,
}

reasons! {
    /// Why bytes are not a PDU.
    PduFault {
        /// They end within a field, or hold no byte of an SDU.
        Length = "length",
        /// More than an SDU of [`MAX_SDU`] bytes, headers and a MAC-I.
        TooLong = "too_long",
        /// A control PDU of a type that is not taken: feedback of header compression, or reserved (§6.3.8).
        ControlType = "control_type",
    }
}

/// D/C of a data PDU (§6.3.7).
const DATA: u8 = 0x80;
/// Bytes of a status report before its bitmap: type and FMC.
const STATUS_HEADER: usize = 5;
/// Longest status report (§5.4.1).
const MAX_STATUS: usize = 9000;

/// A PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pdu<'a> {
    /// A data PDU of this sequence number.
    Data {
        /// Sequence number.
        sn: u32,
    },
    /// A status report.
    Status(StatusReport<'a>),
}

impl Format {
    /// Bytes of the header.
    pub fn header_len(&self) -> usize {
        match self.sn_length {
            SnLength::Bits12 => 2,
            SnLength::Bits18 => 3,
        }
    }

    /// Bytes that are not ciphered: headers of PDCP and SDAP (§5.8).
    pub fn clear_len(&self) -> usize {
        self.header_len() + usize::from(self.sdap_header)
    }

    /// Bytes behind the SDU.
    pub fn trailer_len(&self) -> usize {
        if self.integrity { MAC_LEN } else { 0 }
    }

    /// Reads a PDU.
    ///
    /// # Errors
    /// [`PduFault`].
    #[inline]
    pub fn parse<'a>(&self, pdu: &'a [u8]) -> Result<Pdu<'a>, PduFault> {
        let first = *pdu.first().ok_or(PduFault::Length)?;
        if self.kind == Kind::Drb && first & DATA == 0 {
            return StatusReport::parse(pdu).map(Pdu::Status);
        }
        // A byte of the SDU at least: with an SDAP header this may be a control PDU of SDAP, which is nothing else.
        if pdu.len() <= self.header_len() + self.trailer_len() {
            return Err(PduFault::Length);
        }
        if pdu.len() > self.header_len() + MAX_SDU + 1 + self.trailer_len() {
            return Err(PduFault::TooLong);
        }
        let sn = match self.sn_length {
            SnLength::Bits12 => u32::from(first & 0xf) << 8 | u32::from(pdu[1]),
            SnLength::Bits18 => u32::from(first & 3) << 16 | u32::from(pdu[1]) << 8 | u32::from(pdu[2]),
        };
        Ok(Pdu::Data { sn })
    }

    /// Appends a data PDU with room for its MAC-I. The number is cut to its length.
    #[inline]
    pub fn emit(&self, sn: u32, sdu: &[u8], out: &mut Vec<u8>) {
        let flags = if self.kind == Kind::Drb { DATA } else { 0 };
        let [_, high, middle, low] = (sn & self.sn_length.mask()).to_be_bytes();
        match self.sn_length {
            SnLength::Bits12 => out.extend([flags | middle, low]),
            SnLength::Bits18 => out.extend([flags | high, middle, low]),
        }
        out.extend_from_slice(sdu);
        out.extend_from_slice(&[0; MAC_LEN][..self.trailer_len()]);
    }
}

/// A status report (§6.2.3.1): which PDUs the peer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusReport<'a> {
    /// COUNT of the first SDU that is missing.
    pub fmc: u32,
    /// One bit for each SDU behind it, the most significant first: set if it is there.
    bitmap: &'a [u8],
}

impl<'a> StatusReport<'a> {
    fn parse(pdu: &'a [u8]) -> Result<StatusReport<'a>, PduFault> {
        match pdu {
            [first, ..] if first >> 4 != 0 => Err(PduFault::ControlType),
            _ if pdu.len() < STATUS_HEADER => Err(PduFault::Length),
            _ if pdu.len() > MAX_STATUS => Err(PduFault::TooLong),
            _ => Ok(StatusReport::of_checked(pdu)),
        }
    }

    /// Of a PDU that [`Format::parse`] took for one.
    pub(super) fn of_checked(pdu: &'a [u8]) -> StatusReport<'a> {
        let (header, bitmap) = pdu.split_at(STATUS_HEADER);
        StatusReport { fmc: u32::from_be_bytes([header[1], header[2], header[3], header[4]]), bitmap }
    }

    /// COUNTs behind the first missing one that are there, in order.
    pub fn received(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (fmc, bitmap) = (self.fmc, self.bitmap);
        let bits =
            bitmap.iter().enumerate().flat_map(|(at, byte)| (0..8).filter(move |bit| byte & 0x80 >> bit != 0).map(move |bit| (at, bit)));
        // A report that reaches beyond the last COUNT ends there.
        bits.map_while(move |(at, bit)| fmc.checked_add(1 + 8 * at as u32 + bit))
    }

    /// Appends a report: `received(offset)` says whether the SDU `offset` behind `fmc` is there, for offsets from 1 to `last`; what does not
    /// fit is left out (§5.4.1).
    pub fn emit(fmc: u32, last: u32, received: impl Fn(u32) -> bool, out: &mut Vec<u8>) {
        out.push(0);
        out.extend(fmc.to_be_bytes());
        let bytes = (last as usize).div_ceil(8).min(MAX_STATUS - STATUS_HEADER) as u32;
        out.extend((0..bytes).map(|byte| (0..8).fold(0u8, |bits, bit| bits << 1 | u8::from(received(8 * byte + bit + 1)))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRB_12: Format = Format { kind: Kind::Drb, sn_length: SnLength::Bits12, integrity: false, sdap_header: false };
    const DRB_18: Format = Format { sn_length: SnLength::Bits18, integrity: true, ..DRB_12 };
    const SRB: Format = Format { kind: Kind::Srb, integrity: true, ..DRB_12 };

    #[test]
    fn a_data_pdu_is_laid_out_as_the_clause_draws_it() {
        for (format, sn, bytes) in [
            (DRB_12, 0xabc, &[0x8a, 0xbc, 7][..]),
            (DRB_18, 0x2_bcde, &[0x82, 0xbc, 0xde, 7, 0, 0, 0, 0]),
            (SRB, 0xabc, &[0x0a, 0xbc, 7, 0, 0, 0, 0]),
        ] {
            let mut out = Vec::new();
            format.emit(sn, &[7], &mut out);
            assert_eq!(out, bytes);
            assert_eq!(format.parse(bytes), Ok(Pdu::Data { sn }));
            for cut in 0..bytes.len() {
                assert_eq!(format.parse(&bytes[..cut]), Err(PduFault::Length), "{cut} of {bytes:?}");
            }
        }
        assert_eq!(DRB_12.parse(&[0x80; 9004]), Err(PduFault::TooLong));
        assert!(DRB_12.parse(&[0x80; 9003]).is_ok(), "with an SDAP header");
    }

    #[test]
    fn a_status_report_is_laid_out_as_the_clause_draws_it() {
        let mut out = Vec::new();
        StatusReport::emit(0x0102_0304, 10, |offset| [1, 3, 10].contains(&offset), &mut out);
        assert_eq!(out, [0, 1, 2, 3, 4, 0b1010_0000, 0b0100_0000]);
        let Ok(Pdu::Status(report)) = DRB_18.parse(&out) else { panic!("a report") };
        assert_eq!(report.fmc, 0x0102_0304);
        assert_eq!(report.received().map(|count| count - report.fmc).collect::<Vec<_>>(), [1, 3, 10]);
        out.clear();
        StatusReport::emit(5, 0, |_| true, &mut out);
        assert_eq!(out, [0, 0, 0, 0, 5]);
        out.clear();
        StatusReport::emit(5, 131_071, |_| true, &mut out);
        assert_eq!(out.len(), MAX_STATUS);
        assert!(DRB_18.parse(&out).is_ok());
        out.push(0);
        assert_eq!(DRB_18.parse(&out), Err(PduFault::TooLong));
    }

    #[test]
    fn other_control_pdus_are_refused_and_a_report_ends_with_the_last_count() {
        for first in (0x10..0x80).step_by(0x10) {
            assert_eq!(DRB_12.parse(&[first, 0, 0, 0, 0]), Err(PduFault::ControlType));
            assert_eq!(DRB_12.parse(&[first]), Err(PduFault::ControlType));
        }
        assert_eq!(DRB_12.parse(&[0, 0, 0, 0]), Err(PduFault::Length));
        let Ok(Pdu::Status(report)) = DRB_12.parse(&[0, 0xff, 0xff, 0xff, 0xfd, 0xff]) else { panic!("a report") };
        assert_eq!(report.received().collect::<Vec<_>>(), [0xffff_fffe, 0xffff_ffff]);
    }
}
