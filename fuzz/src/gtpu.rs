//! GTP-U messages (TS 29.281): any bytes are read or refused, and what is read survives writing and reading again.

use wire::gtpu::{Packet, Repr};

/// Reads `data` as the payload of a UDP datagram to port 2152.
pub fn run(data: &[u8]) {
    let Ok(packet) = Packet::new_checked(data) else { return };
    // Getters are safe once checked, whatever the message means.
    assert!(packet.payload().len() <= data.len());
    assert!(packet.extensions().count() <= data.len());
    let Ok(repr) = Repr::parse(&packet) else { return };

    let mut written = Vec::new();
    repr.emit(&mut written);
    let again = Packet::new_checked(&written).unwrap_or_else(|error| panic!("{error}: {repr:?} was written as {written:02x?}"));
    assert_eq!(Repr::parse(&again).as_ref(), Ok(&repr), "written as {written:02x?}");
}
