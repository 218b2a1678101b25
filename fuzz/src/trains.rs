//! Super-frames: any frames are joined or not, and what was joined is cut into the same frames again; any super-frame of a device is cut into frames that
//! hold its payload, or refused.

use base::{Packet, PortId};
use pktio::join::{MAX_HEADERS, Train};
use pktio::segment::{Cut, Gso};

/// Longest frame of the first kind.
const FRAME: usize = 2000;

/// The first byte says what the rest is: frames behind their lengths, or a super-frame behind what its device says of it.
pub fn run(data: &[u8]) {
    match data {
        [0..128, rest @ ..] => join(rest),
        [kind, layer4, high, low, rest @ ..] => {
            let gso = if kind % 2 == 0 { Gso::Tcp } else { Gso::Udp };
            cut(rest, gso, usize::from(*layer4), usize::from(u16::from_be_bytes([*high, *low])));
        }
        _ => {}
    }
}

fn join(mut data: &[u8]) {
    let mut packets = Vec::new();
    while let [high, low, rest @ ..] = data {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len()).min(FRAME);
        packets.push(Packet::new(&rest[..length], PortId(0)));
        data = &rest[length..];
    }
    let mut first = 0;
    while first < packets.len() {
        let Some(train) = Train::find(&packets[first..]) else {
            first += 1;
            continue;
        };
        let joined = &packets[first..first + train.frames];
        let mut headers = [0; MAX_HEADERS];
        train.write_headers(joined, &mut headers);
        let mut whole = headers[..train.payload].to_vec();
        joined.iter().for_each(|packet| whole.extend(&packet.data()[train.payload..]));
        let mut cut = Cut::new(&whole, train.gso, train.layer4, train.size).expect("what we join we can cut");
        assert_eq!(cut.left(), train.frames);
        let mut packet = Packet::void();
        for frame in joined {
            assert!(cut.next_into(&whole, &mut packet));
            assert!(settled(packet.data(), &train) == settled(frame.data(), &train), "{frame:?} became {packet:?}");
        }
        first += train.frames;
    }
}

/// Without what may become another: IPv4's identification where it says nothing, with the header's checksum; and TCP's and UDP's checksum, which has two forms of
/// zero, and may be absent.
fn settled(frame: &[u8], train: &Train) -> Vec<u8> {
    let mut frame = frame.to_vec();
    if frame[14] == 0x45 && frame[20] & 0x40 != 0 {
        frame[18..20].fill(0);
        frame[24..26].fill(0);
    }
    let field = train.layer4 + if train.gso == Gso::Tcp { 16 } else { 6 };
    if frame[field..field + 2] == [0xff, 0xff] || train.gso == Gso::Udp {
        frame[field..field + 2].fill(0);
    }
    frame
}

fn cut(whole: &[u8], gso: Gso, layer4: usize, size: usize) {
    let Some(mut cut) = Cut::new(whole, gso, layer4, size) else { return };
    let longest = cut.longest(whole);
    if longest > base::MAX_PACKET {
        return;
    }
    let (count, headers) = (cut.left(), cut.headers());
    let (mut packet, mut payload) = (Packet::void(), Vec::<u8>::new());
    for left in (0..count).rev() {
        assert!(cut.next_into(whole, &mut packet) && cut.left() == left);
        assert!(packet.len() <= longest);
        payload.extend(&packet.data()[headers..]);
    }
    assert!(!cut.next_into(whole, &mut packet));
    assert!(payload == whole[headers..], "{count} frames");
}
