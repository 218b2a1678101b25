//! How is a frame between CU and DU written (TS 38.425 §5.5, TS 29.281 §5.2.2.6)? As a G-PDU with the NR RAN container; an uplink PDU of ours has none, one of
//! another DU may have a delivery status beside it.

use gnb::nru::{self, Frame};
use wire::gtpu::{self, Message, Packet, Repr};

use crate::cu::ToDu;
use crate::du::ToCu;

/// Why a datagram of F1-U is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// No GTP-U message.
    Malformed,
    /// The peer has not the tunnel of a frame that it was sent.
    ErrorIndication,
    /// Another message that is not taken here.
    Other,
}

impl Fault {
    /// Its name in counters.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Malformed => "f1u.malformed",
            Fault::ErrorIndication => "f1u.error_indication",
            Fault::Other => "f1u.other",
        }
    }
}

/// The name in counters of a container that is not taken.
pub fn container_fault(fault: nru::Fault) -> &'static str {
    match fault {
        nru::Fault::Length => "f1u.container_length",
        nru::Fault::PduType => "f1u.container_type",
        nru::Fault::Block => "f1u.container_block",
    }
}

/// A datagram's content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datagram<'a> {
    /// An Echo Request, with its number: to be answered by these bytes.
    Echo(Vec<u8>),
    /// A G-PDU.
    GPdu {
        /// Its tunnel.
        teid: u32,
        /// The container, or why its content is not taken.
        frame: Option<Result<Frame, nru::Fault>>,
        /// The PDCP PDU; may be empty. It is there whatever the container says.
        pdu: &'a [u8],
    },
}

/// Reads a datagram.
///
/// # Errors
/// [`Fault`].
pub fn parse(datagram: &[u8]) -> Result<Datagram<'_>, Fault> {
    let packet = Packet::new_checked(datagram).map_err(|_| Fault::Malformed)?;
    match packet.message_type() {
        gtpu::message_type::ECHO_REQUEST => {
            let mut answer = Vec::new();
            Repr::new(0, packet.sequence(), Message::EchoResponse).emit(&mut answer);
            Ok(Datagram::Echo(answer))
        }
        gtpu::message_type::G_PDU => {
            let mut frame = None;
            for extension in packet.extensions() {
                match extension {
                    Ok((nru::EXTENSION_TYPE, content)) => frame = Some(Frame::parse(content)),
                    // §5.2.1: the highest bit says that it must be comprehended.
                    Ok((kind, _)) if kind & 0x80 == 0 => {}
                    _ => return Err(Fault::Malformed),
                }
            }
            Ok(Datagram::GPdu { teid: packet.teid(), frame, pdu: packet.payload() })
        }
        gtpu::message_type::ERROR_INDICATION => Err(Fault::ErrorIndication),
        _ => Err(Fault::Other),
    }
}

/// A frame for the DU.
pub fn to_du(teid: u32, message: &ToDu) -> Vec<u8> {
    emit(teid, Some(&Frame::UserData(message.frame.clone())), &message.pdu)
}

/// A frame for the CU.
pub fn to_cu(teid: u32, message: &ToCu) -> Vec<u8> {
    match message {
        ToCu::Pdu(_, pdu) => emit(teid, None, pdu),
        ToCu::Status(_, status) => emit(teid, Some(&Frame::DeliveryStatus(status.clone())), &[]),
    }
}

/// The crate `wire` has no NR RAN container: it is NR's. A PDCP PDU has some 9,000 bytes at most, and a container 1,020: they fit GTP-U.
fn emit(teid: u32, frame: Option<&Frame>, pdu: &[u8]) -> Vec<u8> {
    let mut container = Vec::new();
    if let Some(frame) = frame {
        frame.emit(gtpu::extension_type::NONE, &mut container);
    }
    gtpu::g_pdu(teid, nru::EXTENSION_TYPE, &container, pdu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bearer;
    use gnb::nru::{DeliveryStatus, UserData};
    use gnb::sdap::DrbId;

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let bearer = Bearer { ue: 1, drb: DrbId::new(1).unwrap() };
        let frame = UserData { sn: 7, report_polling: true, ..UserData::default() };
        let down = to_du(9, &ToDu { bearer, frame: frame.clone(), pdu: vec![1, 2, 3] });
        assert_eq!(parse(&down), Ok(Datagram::GPdu { teid: 9, frame: Some(Ok(Frame::UserData(frame))), pdu: &[1, 2, 3] }));
        let status = DeliveryStatus { desired_buffer: 5, lost: vec![(1, 2)], ..DeliveryStatus::default() };
        let up = to_cu(8, &ToCu::Status(bearer, status.clone()));
        assert_eq!(parse(&up), Ok(Datagram::GPdu { teid: 8, frame: Some(Ok(Frame::DeliveryStatus(status))), pdu: &[] }));
        let up = to_cu(8, &ToCu::Pdu(bearer, vec![4]));
        assert_eq!(parse(&up), Ok(Datagram::GPdu { teid: 8, frame: None, pdu: &[4] }));
        for end in 0..down.len() {
            assert_eq!(parse(&down[..end]), Err(Fault::Malformed));
        }
    }
}
