//! GTP-U (TS 29.281): header, extension headers, information elements; PDU session container (TS 38.415 §5.5).
//!
//! Messages: G-PDU, Echo Request and Response, Error Indication, Supported Extension Headers Notification, End Marker.
//! Not here: Tunnel Status (§7.3.3), which parses as [`Message::Other`].

use crate::{Error, Result, bytes, length_field, u16_at, u32_at};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// UDP port (§4.4.2).
pub const PORT: u16 = 2152;
/// Bytes of the header without optional fields.
pub const HEADER_LEN: usize = 8;

/// Message types (§6.1).
pub mod message_type {
    /// Echo Request.
    pub const ECHO_REQUEST: u8 = 1;
    /// Echo Response.
    pub const ECHO_RESPONSE: u8 = 2;
    /// Error Indication.
    pub const ERROR_INDICATION: u8 = 26;
    /// Supported Extension Headers Notification.
    pub const SUPPORTED_EXTENSION_HEADERS: u8 = 31;
    /// End Marker.
    pub const END_MARKER: u8 = 254;
    /// G-PDU: a user's packet.
    pub const G_PDU: u8 = 255;
}

/// Extension header types (§5.2.1).
pub mod extension_type {
    /// None follows.
    pub const NONE: u8 = 0x00;
    /// UDP Port.
    pub const UDP_PORT: u8 = 0x40;
    /// PDU Session Container.
    pub const PDU_SESSION_CONTAINER: u8 = 0x85;
}

/// Information element types (§8.1).
mod ie {
    pub(crate) const RECOVERY: u8 = 14;
    pub(crate) const TEID_DATA_I: u8 = 16;
    pub(crate) const PEER_ADDRESS: u8 = 133;
    pub(crate) const EXTENSION_HEADER_TYPE_LIST: u8 = 141;
}

/// View of a message: version 1, GTP (not GTP'), extension headers whole.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    data: &'a [u8],
    /// Where the extension headers end.
    payload_at: usize,
}

impl<'a> Packet<'a> {
    /// All of the declared length and of the extension headers there; bytes beyond the length are left out.
    pub fn new_checked(data: &'a [u8]) -> Result<Packet<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("gtpu"));
        }
        if data[0] & 0xf0 != 0x30 {
            return Err(Error::Malformed("gtpu version"));
        }
        let total_len = HEADER_LEN + usize::from(u16_at(data, 2));
        if data.len() < total_len {
            return Err(Error::Truncated("gtpu"));
        }
        let data = &data[..total_len];
        let mut payload_at = HEADER_LEN;
        if data[0] & 0x07 != 0 {
            // §5.1: the optional fields are there as a whole when any of the three flags is set.
            payload_at += 4;
            if data.len() < payload_at {
                return Err(Error::Truncated("gtpu optional fields"));
            }
        }
        let mut packet = Packet { data, payload_at };
        let mut extensions = packet.extensions();
        for extension in &mut extensions {
            extension?;
        }
        packet.payload_at = extensions.at;
        Ok(packet)
    }

    /// Message type.
    pub fn message_type(&self) -> u8 {
        self.data[1]
    }

    /// Tunnel endpoint identifier.
    pub fn teid(&self) -> u32 {
        u32_at(self.data, 4)
    }

    /// Sequence number, if the S flag says so.
    pub fn sequence(&self) -> Option<u16> {
        (self.data[0] & 0x02 != 0).then(|| u16_at(self.data, 8))
    }

    /// Extension headers. Never an error after `new_checked`.
    pub fn extensions(&self) -> Extensions<'a> {
        let has_extension = self.data[0] & 0x04 != 0;
        let next = if has_extension { self.data[HEADER_LEN + 3] } else { extension_type::NONE };
        let optional = if self.data[0] & 0x07 != 0 { 4 } else { 0 };
        Extensions { data: self.data, at: HEADER_LEN + optional, next }
    }

    /// The user's packet of a G-PDU; the information elements of other messages.
    pub fn payload(&self) -> &'a [u8] {
        &self.data[self.payload_at..]
    }
}

/// Walks extension headers.
#[derive(Clone, Debug)]
pub struct Extensions<'a> {
    data: &'a [u8],
    at: usize,
    next: u8,
}

impl<'a> Iterator for Extensions<'a> {
    /// Type and content, without the length and next-type octets.
    type Item = Result<(u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == extension_type::NONE {
            return None;
        }
        let kind = std::mem::replace(&mut self.next, extension_type::NONE);
        let Some(units) = self.data.get(self.at) else {
            return Some(Err(Error::Truncated("gtpu extension header")));
        };
        let length = usize::from(*units) * 4;
        if length == 0 {
            return Some(Err(Error::Malformed("gtpu extension header length")));
        }
        let Some(header) = self.data.get(self.at..self.at + length) else {
            return Some(Err(Error::Truncated("gtpu extension header")));
        };
        self.at += length;
        self.next = header[length - 1];
        Some(Ok((kind, &header[1..length - 1])))
    }
}

/// PDU session container (TS 38.415 §5.5.2), without the delay and sequence fields of QoS monitoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionContainer {
    /// DL PDU SESSION INFORMATION.
    Downlink {
        /// QoS flow identifier, 6 bits.
        qfi: u8,
        /// Reflective QoS indicator.
        rqi: bool,
        /// Paging policy indicator, 3 bits.
        ppi: Option<u8>,
    },
    /// UL PDU SESSION INFORMATION.
    Uplink {
        /// QoS flow identifier, 6 bits.
        qfi: u8,
    },
}

impl SessionContainer {
    /// Reads the content of the extension header.
    pub fn parse(content: &[u8]) -> Result<SessionContainer> {
        let [first, second, rest @ ..] = content else { return Err(Error::Truncated("pdu session container")) };
        let qfi = second & 0x3f;
        match first >> 4 {
            0 => {
                let ppi = match (second & 0x80 != 0, rest.first()) {
                    (false, _) => None,
                    (true, Some(octet)) => Some(octet >> 5),
                    (true, None) => return Err(Error::Truncated("pdu session container")),
                };
                Ok(SessionContainer::Downlink { qfi, rqi: second & 0x40 != 0, ppi })
            }
            1 => Ok(SessionContainer::Uplink { qfi }),
            _ => Err(Error::Malformed("pdu session container type")),
        }
    }

    /// Either direction's QFI.
    pub fn qfi(&self) -> u8 {
        match *self {
            SessionContainer::Downlink { qfi, .. } | SessionContainer::Uplink { qfi } => qfi,
        }
    }

    /// Appends the extension header, `next` being the type of the one after it.
    fn emit(&self, next: u8, out: &mut Vec<u8>) {
        match *self {
            SessionContainer::Uplink { qfi } => out.extend_from_slice(&[1, 0x10, qfi & 0x3f, next]),
            SessionContainer::Downlink { qfi, rqi, ppi: None } => {
                out.extend_from_slice(&[1, 0x00, u8::from(rqi) << 6 | qfi & 0x3f, next]);
            }
            SessionContainer::Downlink { qfi, rqi, ppi: Some(ppi) } => {
                let second = 0x80 | u8::from(rqi) << 6 | qfi & 0x3f;
                out.extend_from_slice(&[2, 0x00, second, ppi << 5, 0, 0, 0, next]);
            }
        }
    }
}

/// The bytes of a G-PDU with at most one extension header: its type, and itself with its length octet and an octet for the next type, which is none.
///
/// # Limits
/// As [`Repr::emit`].
pub fn g_pdu(teid: u32, kind: u8, extension: &[u8], payload: &[u8]) -> Vec<u8> {
    let has_extension = !extension.is_empty();
    let mut out = Vec::with_capacity(HEADER_LEN + 4 + extension.len() + payload.len());
    out.extend_from_slice(&[0x30 | u8::from(has_extension) << 2, message_type::G_PDU, 0, 0]);
    out.extend_from_slice(&teid.to_be_bytes());
    if has_extension {
        out.extend_from_slice(&[0, 0, 0, kind]);
        out.extend_from_slice(extension);
    }
    out.extend_from_slice(payload);
    let length = length_field(out.len() - HEADER_LEN);
    out[2..4].copy_from_slice(&length);
    out
}

/// A message's own part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// §7.2.1.
    EchoRequest,
    /// §7.2.2. Its Recovery IE is always zero (§7.2.2) and ignored.
    EchoResponse,
    /// §7.3.1.
    ErrorIndication {
        /// The tunnel that the sender does not know: TEID and destination address of the G-PDU.
        teid: u32,
        /// GTP-U Peer Address.
        peer: IpAddr,
    },
    /// §7.2.3.
    SupportedExtensionHeaders {
        /// Types.
        types: &'a [u8],
    },
    /// §7.3.2.
    EndMarker,
    /// §5.1 with message type 255: a user's packet.
    GPdu {
        /// The packet.
        payload: &'a [u8],
    },
    /// Another type.
    Other {
        /// Its number.
        message_type: u8,
    },
}

/// Meaning of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Tunnel endpoint identifier; 0 for echo, error indication and notification.
    pub teid: u32,
    /// Sequence number.
    pub sequence: Option<u16>,
    /// PDU session container.
    pub session_container: Option<SessionContainer>,
    /// UDP Port extension header (§5.2.2.1).
    pub udp_port: Option<u16>,
    /// The rest.
    pub message: Message<'a>,
}

impl<'a> Repr<'a> {
    /// A message without extension headers.
    pub fn new(teid: u32, sequence: Option<u16>, message: Message<'a>) -> Repr<'a> {
        Repr { teid, sequence, session_container: None, udp_port: None, message }
    }

    /// A user's packet in a tunnel.
    pub fn g_pdu(teid: u32, session_container: Option<SessionContainer>, payload: &'a [u8]) -> Repr<'a> {
        Repr { teid, sequence: None, session_container, udp_port: None, message: Message::GPdu { payload } }
    }

    /// Reads a view. An extension header that we do not know is skipped, unless its type says that the endpoint must
    /// comprehend it (§5.2.1: the highest bit is set); an information element that we do not know is skipped if
    /// it has a length (§8.1).
    pub fn parse(packet: &Packet<'a>) -> Result<Repr<'a>> {
        let (mut session_container, mut udp_port) = (None, None);
        for extension in packet.extensions() {
            let (kind, content) = extension?;
            match kind {
                extension_type::PDU_SESSION_CONTAINER => session_container = Some(SessionContainer::parse(content)?),
                // Content of a whole extension header is at least two bytes.
                extension_type::UDP_PORT => udp_port = Some(u16_at(content, 0)),
                _ if kind & 0x80 != 0 => return Err(Error::Unsupported("gtpu extension header")),
                _ => {}
            }
        }
        let payload = packet.payload();
        let message = match packet.message_type() {
            message_type::ECHO_REQUEST => Message::EchoRequest,
            message_type::ECHO_RESPONSE => Message::EchoResponse,
            message_type::ERROR_INDICATION => error_indication(payload)?,
            message_type::SUPPORTED_EXTENSION_HEADERS => supported_extension_headers(payload)?,
            message_type::END_MARKER => Message::EndMarker,
            message_type::G_PDU => Message::GPdu { payload },
            message_type => Message::Other { message_type },
        };
        Ok(Repr { teid: packet.teid(), sequence: packet.sequence(), session_container, udp_port, message })
    }

    /// Appends the message.
    ///
    /// # Limits
    /// A payload that does not fit the 16-bit length gets the largest length. More than 255 extension header types
    /// are cut to 255.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let has_extension = self.session_container.is_some() || self.udp_port.is_some();
        let flags = 0x30 | u8::from(has_extension) << 2 | u8::from(self.sequence.is_some()) << 1;
        out.extend_from_slice(&[flags, self.message.message_type(), 0, 0]);
        out.extend_from_slice(&self.teid.to_be_bytes());
        if has_extension || self.sequence.is_some() {
            let container = self.session_container.map(|_| extension_type::PDU_SESSION_CONTAINER);
            let udp_port = self.udp_port.map(|_| extension_type::UDP_PORT);
            let [high, low] = self.sequence.unwrap_or(0).to_be_bytes();
            out.extend_from_slice(&[high, low, 0, udp_port.or(container).unwrap_or(extension_type::NONE)]);
            // §5.2.1 recommends UDP Port first, for its receivers in hardware.
            if let Some(port) = self.udp_port {
                let [high, low] = port.to_be_bytes();
                out.extend_from_slice(&[1, high, low, container.unwrap_or(extension_type::NONE)]);
            }
            if let Some(container) = self.session_container {
                container.emit(extension_type::NONE, out);
            }
        }
        match &self.message {
            Message::EchoResponse => out.extend_from_slice(&[ie::RECOVERY, 0]),
            Message::ErrorIndication { teid, peer } => {
                out.push(ie::TEID_DATA_I);
                out.extend_from_slice(&teid.to_be_bytes());
                match peer {
                    IpAddr::V4(ip) => {
                        out.extend_from_slice(&[ie::PEER_ADDRESS, 0, 4]);
                        out.extend_from_slice(&ip.octets());
                    }
                    IpAddr::V6(ip) => {
                        out.extend_from_slice(&[ie::PEER_ADDRESS, 0, 16]);
                        out.extend_from_slice(&ip.octets());
                    }
                }
            }
            Message::SupportedExtensionHeaders { types } => {
                let types = &types[..types.len().min(255)];
                out.extend_from_slice(&[ie::EXTENSION_HEADER_TYPE_LIST, types.len() as u8]);
                out.extend_from_slice(types);
            }
            Message::GPdu { payload } => out.extend_from_slice(payload),
            Message::EchoRequest | Message::EndMarker | Message::Other { .. } => {}
        }
        let length = length_field(out.len() - start - HEADER_LEN);
        out[start + 2..start + 4].copy_from_slice(&length);
    }
}

impl Message<'_> {
    /// Its number (§6.1).
    pub fn message_type(&self) -> u8 {
        match self {
            Message::EchoRequest => message_type::ECHO_REQUEST,
            Message::EchoResponse => message_type::ECHO_RESPONSE,
            Message::ErrorIndication { .. } => message_type::ERROR_INDICATION,
            Message::SupportedExtensionHeaders { .. } => message_type::SUPPORTED_EXTENSION_HEADERS,
            Message::EndMarker => message_type::END_MARKER,
            Message::GPdu { .. } => message_type::G_PDU,
            Message::Other { message_type } => *message_type,
        }
    }
}

fn error_indication<'a>(elements: &[u8]) -> Result<Message<'a>> {
    let (mut teid, mut peer) = (None, None);
    for element in Elements(elements) {
        match element? {
            (ie::TEID_DATA_I, value) => teid = teid.or(Some(u32_at(value, 0))),
            (ie::PEER_ADDRESS, value) => {
                let address = match value.len() {
                    4 => IpAddr::V4(Ipv4Addr::from(bytes::<4>(value, 0))),
                    16 => IpAddr::V6(Ipv6Addr::from(bytes::<16>(value, 0))),
                    _ => return Err(Error::Malformed("gtpu peer address")),
                };
                peer = peer.or(Some(address));
            }
            _ => {}
        }
    }
    match (teid, peer) {
        (Some(teid), Some(peer)) => Ok(Message::ErrorIndication { teid, peer }),
        _ => Err(Error::Malformed("gtpu error indication lacks an element")),
    }
}

fn supported_extension_headers(elements: &[u8]) -> Result<Message<'_>> {
    for element in Elements(elements) {
        if let (ie::EXTENSION_HEADER_TYPE_LIST, types) = element? {
            return Ok(Message::SupportedExtensionHeaders { types });
        }
    }
    Err(Error::Malformed("gtpu notification lacks its list"))
}

/// Walks information elements: type and value.
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Result<(u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, rest) = self.0.split_first()?;
        let (header, length) = match (*kind, rest) {
            (ie::RECOVERY, _) => (0, 1),
            (ie::TEID_DATA_I, _) => (0, 4),
            // Its length has one octet (§8.5), unlike that of the others.
            (ie::EXTENSION_HEADER_TYPE_LIST, [length, ..]) => (1, usize::from(*length)),
            (128.., [high, low, ..]) => (2, usize::from(u16::from_be_bytes([*high, *low]))),
            (0..128, _) => {
                self.0 = &[];
                return Some(Err(Error::Malformed("gtpu element of unknown length")));
            }
            _ => {
                self.0 = &[];
                return Some(Err(Error::Truncated("gtpu element")));
            }
        };
        let Some(value) = rest.get(header..header + length) else {
            self.0 = &[];
            return Some(Err(Error::Truncated("gtpu element")));
        };
        self.0 = &rest[header + length..];
        Some(Ok((*kind, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(repr: &Repr<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        repr.emit(&mut out);
        out
    }

    fn parsed(bytes: &[u8]) -> Result<Repr<'_>> {
        Packet::new_checked(bytes).and_then(|p| Repr::parse(&p))
    }

    #[test]
    fn a_g_pdu_with_a_downlink_container_is_these_bytes() {
        let container = SessionContainer::Downlink { qfi: 9, rqi: true, ppi: None };
        let repr = Repr::g_pdu(0x01020304, Some(container), &[0x45, 0]);
        let bytes = [0x34, 255, 0, 10, 1, 2, 3, 4, 0, 0, 0, 0x85, 1, 0, 0x49, 0, 0x45, 0];
        assert_eq!(emitted(&repr), bytes);
        assert_eq!(parsed(&bytes), Ok(repr));
    }

    #[test]
    fn every_message_survives() {
        let containers =
            [None, Some(SessionContainer::Uplink { qfi: 63 }), Some(SessionContainer::Downlink { qfi: 1, rqi: false, ppi: Some(5) })];
        let messages = [
            Message::EchoRequest,
            Message::EchoResponse,
            Message::ErrorIndication { teid: 7, peer: "10.0.0.1".parse().unwrap() },
            Message::ErrorIndication { teid: 7, peer: "fd00::1".parse().unwrap() },
            Message::SupportedExtensionHeaders { types: &[0x85, 0x40] },
            Message::EndMarker,
            Message::GPdu { payload: b"packet" },
            Message::Other { message_type: 200 },
        ];
        for session_container in containers {
            for message in &messages {
                for (sequence, udp_port) in [(None, None), (Some(0xbeef), None), (None, Some(40000)), (Some(1), Some(2))] {
                    let repr = Repr { teid: 5, sequence, session_container, udp_port, message: message.clone() };
                    let bytes = emitted(&repr);
                    assert_eq!(parsed(&bytes), Ok(repr.clone()));
                    for cut in 0..bytes.len() {
                        assert!(parsed(&bytes[..cut]).is_err());
                    }
                }
            }
        }
    }

    #[test]
    fn an_error_indication_is_these_bytes() {
        let message = Message::ErrorIndication { teid: 0x0a0b0c0d, peer: "192.0.2.1".parse().unwrap() };
        let bytes = emitted(&Repr::new(0, Some(0), message));
        let expected = [0x32, 26, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0x0a, 0x0b, 0x0c, 0x0d, 133, 0, 4, 192, 0, 2, 1];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn extension_headers_are_skipped_or_refused() {
        // An unknown one, skippable (0x20), of two units, then a container.
        let skipped = [0x34, 255, 0, 17, 0, 0, 0, 1, 0, 0, 0, 0x20, 2, 1, 2, 3, 4, 5, 6, 0x85, 1, 0x10, 9, 0, 0xaa];
        let repr = parsed(&skipped).unwrap();
        assert_eq!(repr.session_container, Some(SessionContainer::Uplink { qfi: 9 }));
        assert_eq!(repr.message, Message::GPdu { payload: &[0xaa] });
        let mut mandatory = skipped;
        mandatory[11] = 0xc0;
        assert_eq!(parsed(&mandatory), Err(Error::Unsupported("gtpu extension header")));
        let mut endless = skipped;
        endless[12] = 0;
        assert_eq!(parsed(&endless), Err(Error::Malformed("gtpu extension header length")));
        // Without the E flag the octet means nothing.
        let mut unmarked = skipped;
        unmarked[0] = 0x32;
        assert_eq!(parsed(&unmarked).unwrap().session_container, None);
    }

    #[test]
    fn elements_without_a_known_length_are_refused() {
        let bytes = [0x32, 26, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 99, 1];
        assert_eq!(parsed(&bytes), Err(Error::Malformed("gtpu element of unknown length")));
    }

    #[test]
    fn hostile_bytes_never_panic() {
        // All first bytes, all types, with every length of a tail that looks like lengths and types.
        let tail = [0, 0, 0, 0x85, 1, 0x90, 0x80, 0x40, 2, 133, 0, 200, 141, 255, 16, 1, 14];
        for flags in 0x30..=0x3f {
            for message_type in 0..=255 {
                for len in 0..=tail.len() {
                    let mut bytes = vec![flags, message_type, 0, len as u8, 0, 0, 0, 1];
                    bytes.extend_from_slice(&tail[..len]);
                    let _ = parsed(&bytes);
                }
            }
        }
    }
}
