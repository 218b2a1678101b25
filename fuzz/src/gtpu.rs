//! GTP-U messages (TS 29.281): any bytes are read or refused, and what is read survives writing and reading again.

use wire::gtpu::{Packet, Repr};

/// Reads `data` as the payload of a UDP datagram to port 2152.
pub fn run(data: &[u8]) {
    marked(data);
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

/// As the rest of a tunnel's frame, and as a frame: the user's packet is marked as having met congestion, or nothing changes.
fn marked(data: &[u8]) {
    let ports = [8, 104, 8, 104];
    let udp = [&ports[..], &((8 + data.len()) as u16).to_be_bytes(), &[0, 0], data].concat();
    let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip[2..4].copy_from_slice(&((20 + udp.len()) as u16).to_be_bytes());
    let sum = wire::checksum::finish(wire::checksum::sum(&ip));
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    for before in [[&[0; 12][..], &[8, 0], &ip, &udp].concat(), data.to_vec()] {
        let mut after = before.clone();
        wire::user::mark(&mut after);
        assert_eq!(after.len(), before.len());
        assert_eq!(wire::user::takes_marks(&after), wire::user::takes_marks(&before));
        assert!(wire::user::takes_marks(&before) || after == before);
    }
}
