//! What does a GTP-U message of N3 ask for that is no user's packet (TS 29.281 §7)?

use std::net::{IpAddr, Ipv4Addr};

use wire::gtpu::{Message, Repr};

/// What it asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// This answer, to where it came from.
    Answer(Vec<u8>),
    /// No more packets come by the tunnel of this TEID.
    EndMarker(u32),
    /// Nothing: it is counted by this reason.
    Nothing(&'static str),
}

/// Reads a message; a G-PDU is the caller's.
pub fn read(repr: &Repr<'_>) -> Asked {
    match repr.message {
        Message::EchoRequest => Asked::Answer(emit(&Repr::new(0, repr.sequence, Message::EchoResponse))),
        Message::EndMarker => Asked::EndMarker(repr.teid),
        Message::ErrorIndication { .. } => Asked::Nothing("n3.error_indication"),
        Message::EchoResponse | Message::SupportedExtensionHeaders { .. } | Message::Other { .. } | Message::GPdu { .. } => {
            Asked::Nothing("n3.other")
        }
    }
}

/// The answer to a G-PDU of a tunnel that `n3` does not have (§7.3.1).
pub fn error_indication(teid: u32, n3: Ipv4Addr) -> Vec<u8> {
    emit(&Repr::new(0, Some(0), Message::ErrorIndication { teid, peer: IpAddr::V4(n3) }))
}

/// A message's bytes.
pub fn emit(repr: &Repr<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    repr.emit(&mut out);
    out
}
