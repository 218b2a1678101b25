//! What does an RLC data PDU say (TS 38.322 §6.2.2)? Bytes become a checked type here, and nothing checks them again.
//!
//! STATUS PDUs are read by [`buffer::status`]. TM PDUs have no header. Reserved bits are not looked at, as §6.1 has it for receivers.

use super::SnLength;

reasons! {
    /// Why bytes are not a PDU.
    PduFault {
        /// They end within the header, or no byte of an SDU follows it.
        Length = "length",
        /// A control PDU of a type that is not there (§6.2.3.7).
        ControlType = "control_type",
        /// A segment that is not the first starts at byte 0 (§6.2.3.5).
        Offset = "offset",
    }
}

/// Segmentation info (§6.2.3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Si {
    /// All bytes of an SDU.
    Whole = 0,
    /// The first segment.
    First = 1,
    /// The last segment.
    Last = 2,
    /// Neither.
    Middle = 3,
}

impl Si {
    fn of(bits: u8) -> Si {
        [Si::Whole, Si::First, Si::Last, Si::Middle][usize::from(bits & 3)]
    }

    /// For bytes `start..end` of an SDU of `len` bytes.
    pub fn of_part(start: usize, end: usize, len: usize) -> Si {
        match (start == 0, end == len) {
            (true, true) => Si::Whole,
            (true, false) => Si::First,
            (false, true) => Si::Last,
            (false, false) => Si::Middle,
        }
    }

    /// Whether the header has a segment offset.
    fn has_offset(self) -> bool {
        matches!(self, Si::Last | Si::Middle)
    }

    /// Whether the SDU's last byte is in it.
    pub fn ends(self) -> bool {
        matches!(self, Si::Whole | Si::Last)
    }
}

/// Bytes of a segment offset.
const OFFSET_LEN: usize = 2;

/// Offset, and the bytes behind it, of which there is at least one.
fn read_offset(si: Si, bytes: &[u8]) -> Result<(u16, &[u8]), PduFault> {
    let (so, data) = match (si.has_offset(), bytes) {
        (false, data) => (0, data),
        (true, [high, low, data @ ..]) => (u16::from_be_bytes([*high, *low]), data),
        (true, _) => return Err(PduFault::Length),
    };
    match (si.has_offset() && so == 0, data.is_empty()) {
        (_, true) => Err(PduFault::Length),
        (true, _) => Err(PduFault::Offset),
        _ => Ok((so, data)),
    }
}

fn emit_offset(si: Si, so: u16, out: &mut Vec<u8>) {
    if si.has_offset() {
        out.extend(so.to_be_bytes());
    }
}

/// An AMD PDU (§6.2.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amd<'a> {
    /// A STATUS is asked for.
    pub poll: bool,
    /// Which part of the SDU it is.
    pub si: Si,
    /// Sequence number.
    pub sn: u32,
    /// Where the part starts in the SDU.
    pub so: u16,
    /// At least one byte.
    pub data: &'a [u8],
}

/// A PDU of RLC AM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AmPdu<'a> {
    /// An AMD PDU.
    Data(Amd<'a>),
    /// A STATUS PDU from its first byte on, not checked any further: [`super::am_tx::AmTx::status`].
    Status(&'a [u8]),
}

/// D/C and P of an AMD PDU.
const DATA: u8 = 0x80;
const POLL: u8 = 0x40;

impl<'a> AmPdu<'a> {
    /// Reads a PDU.
    ///
    /// # Errors
    /// [`PduFault`].
    #[inline]
    pub fn parse(pdu: &'a [u8], sn_length: SnLength) -> Result<AmPdu<'a>, PduFault> {
        let first = *pdu.first().ok_or(PduFault::Length)?;
        if first & DATA == 0 {
            return if first >> 4 == 0 { Ok(AmPdu::Status(pdu)) } else { Err(PduFault::ControlType) };
        }
        let (sn, rest) = match (sn_length, pdu) {
            (SnLength::Bits12, [a, b, rest @ ..]) => (u32::from(a & 0xf) << 8 | u32::from(*b), rest),
            (SnLength::Bits18, [a, b, c, rest @ ..]) => (u32::from(a & 3) << 16 | u32::from(*b) << 8 | u32::from(*c), rest),
            _ => return Err(PduFault::Length),
        };
        let si = Si::of(first >> 4);
        let (so, data) = read_offset(si, rest)?;
        Ok(AmPdu::Data(Amd { poll: first & POLL != 0, si, sn, so, data }))
    }
}

impl Amd<'_> {
    /// Bytes of the header of a part that starts at `start`.
    pub fn header_len(sn_length: SnLength, start: usize) -> usize {
        let sn = match sn_length {
            SnLength::Bits12 => 2,
            SnLength::Bits18 => 3,
        };
        sn + if start > 0 { OFFSET_LEN } else { 0 }
    }

    /// Appends the PDU. The number is cut to its length.
    #[inline]
    pub fn emit(&self, sn_length: SnLength, out: &mut Vec<u8>) {
        let flags = DATA | (u8::from(self.poll) * POLL) | (self.si as u8) << 4;
        let [_, high, middle, low] = (self.sn & sn_length.mask()).to_be_bytes();
        match sn_length {
            SnLength::Bits12 => out.extend([flags | middle, low]),
            SnLength::Bits18 => out.extend([flags | high, middle, low]),
        }
        emit_offset(self.si, self.so, out);
        out.extend_from_slice(self.data);
    }
}

/// Length of an RLC UM sequence number (§6.2.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UmSnLength {
    /// 6 bits.
    Bits6,
    /// 12 bits.
    Bits12,
}

impl UmSnLength {
    /// Number of sequence numbers.
    pub const fn modulus(self) -> u32 {
        match self {
            UmSnLength::Bits6 => 1 << 6,
            UmSnLength::Bits12 => 1 << 12,
        }
    }

    /// `UM_Window_Size` (§7.2): half of the numbers.
    pub const fn window(self) -> u32 {
        self.modulus() / 2
    }

    /// What is left of a number that wraps around.
    pub const fn mask(self) -> u32 {
        self.modulus() - 1
    }
}

/// A UMD PDU (§6.2.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Umd<'a> {
    /// Which part of the SDU it is.
    pub si: Si,
    /// Sequence number; 0 for [`Si::Whole`], whose header has none.
    pub sn: u32,
    /// Where the part starts in the SDU.
    pub so: u16,
    /// At least one byte.
    pub data: &'a [u8],
}

impl<'a> Umd<'a> {
    /// Reads a PDU.
    ///
    /// # Errors
    /// [`PduFault`].
    pub fn parse(pdu: &'a [u8], sn_length: UmSnLength) -> Result<Umd<'a>, PduFault> {
        let (first, behind) = pdu.split_first().ok_or(PduFault::Length)?;
        let si = Si::of(first >> 6);
        let (sn, rest) = match (si, sn_length, behind) {
            (Si::Whole, _, rest) => (0, rest),
            (_, UmSnLength::Bits6, rest) => (u32::from(first & 0x3f), rest),
            (_, UmSnLength::Bits12, [low, rest @ ..]) => (u32::from(first & 0xf) << 8 | u32::from(*low), rest),
            _ => return Err(PduFault::Length),
        };
        let (so, data) = read_offset(si, rest)?;
        Ok(Umd { si, sn, so, data })
    }

    /// Bytes of the header of a part.
    pub fn header_len(sn_length: UmSnLength, si: Si) -> usize {
        let sn = if sn_length == UmSnLength::Bits12 && si != Si::Whole { 2 } else { 1 };
        sn + if si.has_offset() { OFFSET_LEN } else { 0 }
    }

    /// Appends the PDU. The number is cut to its length.
    pub fn emit(&self, sn_length: UmSnLength, out: &mut Vec<u8>) {
        let flags = (self.si as u8) << 6;
        let sn = self.sn & sn_length.mask();
        match (self.si, sn_length) {
            (Si::Whole, _) => out.push(flags),
            (_, UmSnLength::Bits6) => out.push(flags | sn as u8),
            (_, UmSnLength::Bits12) => out.extend([flags | (sn >> 8) as u8, sn as u8]),
        }
        emit_offset(self.si, self.so, out);
        out.extend_from_slice(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amd_pdu_is_laid_out_as_the_clause_draws_it() {
        let whole = Amd { poll: true, si: Si::Whole, sn: 0xabc, so: 0, data: &[1] };
        let middle = Amd { poll: false, si: Si::Middle, sn: 0x2_bcde, so: 0x0102, data: &[9, 8] };
        for (pdu, sn_length, bytes) in [
            (whole, SnLength::Bits12, &[0xca, 0xbc, 1][..]),
            (middle, SnLength::Bits18, &[0xb2, 0xbc, 0xde, 1, 2, 9, 8]),
            (Amd { si: Si::First, ..whole }, SnLength::Bits12, &[0xda, 0xbc, 1]),
            (Amd { si: Si::Last, so: 7, ..whole }, SnLength::Bits12, &[0xea, 0xbc, 0, 7, 1]),
        ] {
            let mut out = Vec::new();
            pdu.emit(sn_length, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(AmPdu::parse(bytes, sn_length), Ok(AmPdu::Data(pdu)));
            assert_eq!(out.len(), Amd::header_len(sn_length, usize::from(pdu.so)) + pdu.data.len());
        }
    }

    #[test]
    fn a_umd_pdu_is_laid_out_as_the_clause_draws_it() {
        let whole = Umd { si: Si::Whole, sn: 0, so: 0, data: &[7] };
        for (pdu, sn_length, bytes) in [
            (whole, UmSnLength::Bits6, &[0, 7][..]),
            (whole, UmSnLength::Bits12, &[0, 7]),
            (Umd { si: Si::First, sn: 0x2a, ..whole }, UmSnLength::Bits6, &[0x6a, 7]),
            (Umd { si: Si::First, sn: 0xabc, ..whole }, UmSnLength::Bits12, &[0x4a, 0xbc, 7]),
            (Umd { si: Si::Last, sn: 0x3f, so: 258, ..whole }, UmSnLength::Bits6, &[0xbf, 1, 2, 7]),
            (Umd { si: Si::Middle, sn: 0xabc, so: 3, ..whole }, UmSnLength::Bits12, &[0xca, 0xbc, 0, 3, 7]),
        ] {
            let mut out = Vec::new();
            pdu.emit(sn_length, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(Umd::parse(bytes, sn_length), Ok(pdu));
            assert_eq!(out.len(), Umd::header_len(sn_length, pdu.si) + pdu.data.len());
        }
    }

    #[test]
    fn a_pdu_cut_short_or_with_a_void_offset_is_refused() {
        use PduFault::*;
        for (bytes, fault) in [
            (&[][..], Length),
            (&[0x80], Length),
            (&[0x80, 0], Length),
            (&[0xb0, 0, 0], Length),
            (&[0xb0, 0, 0, 1], Length),
            (&[0xb0, 0, 0, 0, 1], Offset),
            (&[0xa0, 0, 0, 0, 1], Offset),
            (&[0x10, 0, 0], ControlType),
            (&[0x70], ControlType),
        ] {
            assert_eq!(AmPdu::parse(bytes, SnLength::Bits12), Err(fault), "{bytes:?}");
        }
        assert_eq!(AmPdu::parse(&[0x80, 0, 0], SnLength::Bits18), Err(Length));
        assert_eq!(AmPdu::parse(&[0], SnLength::Bits18), Ok(AmPdu::Status(&[0])));
        for (bytes, fault) in [(&[][..], Length), (&[0], Length), (&[0x40], Length), (&[0x80, 0, 1], Length), (&[0x80, 0, 0, 1], Offset)] {
            assert_eq!(Umd::parse(bytes, UmSnLength::Bits6), Err(fault), "{bytes:?}");
        }
        assert_eq!(Umd::parse(&[0x40, 0], UmSnLength::Bits12), Err(Length));
    }
}
