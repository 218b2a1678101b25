//! How is a packet written that one gNodeB forwards to another (TS 38.300 §9.2.3.2.2, TS 29.281 §5.2.2.2 and §5.2.2.2A)?
//!
//! As a G-PDU in a tunnel of the bearer and direction. Its T-PDU is an SDU of PDCP, with its SDAP header where the bearer has one. If the SDU has a sequence number, an
//! extension header says so: PDCP PDU Number for 12 bits, Long PDCP PDU Number for 18. An End Marker says that nothing more comes.
//!
//! Left out: tunnels of a whole PDU session.

use gnb::rlc::SnLength;
use wire::gtpu::{self, Packet, extension_type, message_type};

/// Extension header types (TS 29.281 §5.2.1).
const PDCP_PDU_NUMBER: u8 = 0xc0;
/// Written with this type: who does not know it must not take the packet for one without a number.
const LONG_PDCP_PDU_NUMBER: u8 = 0x82;
/// The same, for who need not know it.
const LONG_PDCP_PDU_NUMBER_OPTIONAL: u8 = 0x03;

/// Why a message in a forwarding tunnel is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Neither G-PDU nor End Marker.
    Other,
    /// An extension header that must be known, and is not.
    Extension,
    /// A number with bits that the field does not have.
    Number,
}

impl Fault {
    /// Its name in counters.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Other => "forwarding.other",
            Fault::Extension => "forwarding.extension",
            Fault::Number => "forwarding.number",
        }
    }
}

/// What comes by a forwarding tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarded<'a> {
    /// An SDU of PDCP.
    Sdu {
        /// Its sequence number, if it has one.
        sn: Option<u32>,
        /// With its SDAP header.
        sdu: &'a [u8],
    },
    /// Nothing more comes.
    EndMarker,
}

/// Reads a message.
///
/// # Errors
/// [`Fault`].
pub fn read<'a>(packet: &Packet<'a>) -> Result<Forwarded<'a>, Fault> {
    match packet.message_type() {
        message_type::END_MARKER => return Ok(Forwarded::EndMarker),
        message_type::G_PDU => {}
        _ => return Err(Fault::Other),
    }
    let mut sn = None;
    for extension in packet.extensions() {
        match extension {
            Ok((PDCP_PDU_NUMBER, &[high, low])) if high & 0x80 == 0 => sn = Some(u32::from(high) << 8 | u32::from(low)),
            Ok((LONG_PDCP_PDU_NUMBER | LONG_PDCP_PDU_NUMBER_OPTIONAL, &[high, middle, low, ..])) if high & 0xfc == 0 => {
                sn = Some(u32::from_be_bytes([0, high, middle, low]));
            }
            Ok((PDCP_PDU_NUMBER | LONG_PDCP_PDU_NUMBER | LONG_PDCP_PDU_NUMBER_OPTIONAL, _)) => return Err(Fault::Number),
            // Of a PDU session; what a bearer's SDU has to say of its flow is in its SDAP header.
            Ok((extension_type::PDU_SESSION_CONTAINER, _)) => {}
            // §5.2.1: the highest bit says that it must be comprehended.
            Ok((kind, _)) if kind & 0x80 == 0 => {}
            _ => return Err(Fault::Extension),
        }
    }
    Ok(Forwarded::Sdu { sn, sdu: packet.payload() })
}

/// A G-PDU. `number`: the SDU's COUNT or sequence number, of which the field's bits are written.
pub fn emit(teid: u32, number: Option<(SnLength, u32)>, sdu: &[u8]) -> Vec<u8> {
    let mut extension = [0; 8];
    let (kind, extension) = match number {
        None => (extension_type::NONE, &extension[..0]),
        Some((SnLength::Bits12, count)) => {
            let [.., high, low] = count.to_be_bytes();
            extension[..3].copy_from_slice(&[1, high & 0x0f, low]);
            (PDCP_PDU_NUMBER, &extension[..4])
        }
        Some((SnLength::Bits18, count)) => {
            let [_, high, middle, low] = count.to_be_bytes();
            extension[..4].copy_from_slice(&[2, high & 0x03, middle, low]);
            (LONG_PDCP_PDU_NUMBER, &extension[..])
        }
    };
    gtpu::g_pdu(teid, kind, extension, sdu)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(message: &[u8]) -> Result<Option<u32>, Fault> {
        match read(&Packet::new_checked(message).unwrap()) {
            Ok(Forwarded::Sdu { sn, sdu: [7, 8] }) => Ok(sn),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => Err(fault),
        }
    }

    #[test]
    fn a_number_is_laid_out_as_the_clause_draws_it() {
        let twelve = emit(0x8000_0001, Some((SnLength::Bits12, 0x1234_5abc)), &[7, 8]);
        assert_eq!(twelve, [0x34, 0xff, 0, 10, 0x80, 0, 0, 1, 0, 0, 0, 0xc0, 1, 0x0a, 0xbc, 0, 7, 8]);
        assert_eq!(number(&twelve), Ok(Some(0xabc)));
        let eighteen = emit(1, Some((SnLength::Bits18, 0x1236_5abc)), &[7, 8]);
        assert_eq!(eighteen, [0x34, 0xff, 0, 14, 0, 0, 0, 1, 0, 0, 0, 0x82, 2, 2, 0x5a, 0xbc, 0, 0, 0, 0, 7, 8]);
        assert_eq!(number(&eighteen), Ok(Some(0x2_5abc)));
        let mut optional = eighteen.clone();
        optional[11] = 0x03;
        assert_eq!(number(&optional), Ok(Some(0x2_5abc)));
        let none = emit(1, None, &[7, 8]);
        assert_eq!(none, [0x30, 0xff, 0, 2, 0, 0, 0, 1, 7, 8]);
        assert_eq!(number(&none), Ok(None));
    }

    #[test]
    fn what_is_not_an_sdu_with_a_number_is_refused() {
        let good = emit(1, Some((SnLength::Bits18, 5)), &[7, 8]);
        for (at, byte, fault) in [
            (13, 0x04, Fault::Number),    // A 19th bit.
            (11, 0xc0, Fault::Number),    // Long, and says that it is not.
            (11, 0x84, Fault::Extension), // An NR RAN container.
            (1, 1, Fault::Other),         // An Echo Request.
        ] {
            let mut message = good.clone();
            message[at] = byte;
            assert_eq!(number(&message), Err(fault), "{at}");
        }
        let mut unknown = good;
        unknown[11] = 0x20;
        assert_eq!(number(&unknown), Ok(None), "a service class indicator need not be known");
    }
}
