//! Finishing Internet checksums (RFC 1071) that a sender's kernel left to its device.

use wire::checksum::{finish, sum};

/// Checksum field for `bytes`, whose own field counts as it stands (normally zero).
pub(crate) fn internet(bytes: &[u8]) -> u16 {
    finish(sum(bytes))
}

/// Sum of the IPv4 or IPv6 pseudo header (RFC 768, RFC 8200 §8.1): `addresses` is source then destination.
pub(crate) fn pseudo_header(addresses: &[u8], protocol: u8, length: usize) -> u32 {
    sum(addresses) + u32::from(protocol) + length as u32
}

/// What a sender's kernel leaves in a checksum's field: the sum so far, not its complement.
pub(crate) fn unfinished(sum: u32) -> u16 {
    !finish(sum)
}

/// UDP ports of tunnels, as registered with IANA: VXLAN (RFC 7348 §4.1), and 2152, that of mobile networks' user planes. Their datagrams may go without
/// a checksum over IPv4.
pub(crate) const TUNNELS: [u16; 2] = [4789, 2152];

/// Whether a datagram over IPv4, from its UDP header on, needs no checksum.
pub(crate) fn may_be_absent(datagram: &[u8]) -> bool {
    datagram.get(2..4).is_some_and(|port| TUNNELS.contains(&u16::from_be_bytes([port[0], port[1]])))
}

/// Whether the checksum in `bytes`, from the TCP or UDP header to the end, is right.
pub(crate) fn is_right(pseudo_header: u32, bytes: &[u8]) -> bool {
    finish(pseudo_header + sum(bytes)) == 0
}

/// Finishes a checksum whose field, at `start + offset`, holds the sum of the pseudo header only: the kernel's
/// CHECKSUM_PARTIAL. Returns whether the field lies inside the frame.
pub(crate) fn complete(frame: &mut [u8], start: usize, offset: usize) -> bool {
    let Some(at) = start.checked_add(offset) else { return false };
    if at + 2 > frame.len() {
        return false;
    }
    let sum = match internet(&frame[start..]) {
        // Zero means "no checksum" in UDP (RFC 768); for the others it equals 0xffff.
        0 => 0xffff,
        sum => sum,
    };
    frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// Finishes the checksum of the outermost TCP or UDP header of an Ethernet frame if its field is the unfinished one: the
/// sum of the pseudo header alone. For drivers that hand such frames on without saying so (native XDP on veth).
///
/// A correct checksum equals that sum by chance once in 65536; so the whole sum is verified before anything is changed.
pub(crate) fn complete_if_unfinished(frame: &mut [u8]) {
    let Some(layer4) = find_layer4(frame) else { return };
    let Layer4 { start, end, field, protocol, addresses } = layer4;
    let pseudo = pseudo_header(&frame[addresses], protocol, end - start);
    let at = start + field;
    if frame[at..at + 2] != unfinished(pseudo).to_be_bytes() {
        return;
    }
    if is_right(pseudo, &frame[start..end]) {
        return;
    }
    complete(&mut frame[..end], start, field);
}

struct Layer4 {
    start: usize,
    end: usize,
    /// Where the checksum field is, from `start`.
    field: usize,
    protocol: u8,
    addresses: std::ops::Range<usize>,
}

/// The unfragmented TCP or UDP header of a frame: Ethernet, up to two VLAN tags, IPv4 or IPv6 without extension headers.
fn find_layer4(frame: &[u8]) -> Option<Layer4> {
    let (ethertype, ip) = ethertype(frame)?;
    let (start, end, protocol, addresses) = match ethertype {
        0x0800 => {
            let header = frame.get(ip..ip + 20)?;
            let header_len = usize::from(header[0] & 0x0f) * 4;
            let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
            let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
            if header[0] >> 4 != 4 || header_len < 20 || fragment != 0 {
                return None;
            }
            (ip + header_len, ip + total, header[9], ip + 12..ip + 20)
        }
        0x86dd => {
            let header = frame.get(ip..ip + 40)?;
            let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
            (ip + 40, ip + 40 + payload, header[6], ip + 8..ip + 40)
        }
        _ => return None,
    };
    let (field, least) = match protocol {
        6 => (16, 20),
        17 => (6, 8),
        _ => return None,
    };
    (end <= frame.len() && start + least <= end).then_some(Layer4 { start, end, field, protocol, addresses })
}

/// The EtherType behind up to two VLAN tags (IEEE 802.1Q), and where the payload starts.
pub(crate) fn ethertype(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = 12;
    for _ in 0..3 {
        let ethertype = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        match ethertype {
            0x8100 | 0x88a8 => at += 4,
            _ => return Some((ethertype, at + 2)),
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A frame of Ethernet, IPv4 and UDP with a correct or an unfinished UDP checksum.
    pub(crate) fn udp_frame(payload: &[u8], unfinished: bool) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        let total = (28 + payload.len()) as u16;
        let mut ip = [0x45, 0, 0, 0, 0, 7, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        ip[2..4].copy_from_slice(&total.to_be_bytes());
        let sum = internet(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(ip);
        frame.extend([0x30, 0x39, 0x08, 0x68]);
        frame.extend((total - 20).to_be_bytes());
        let pseudo = pseudo_header(&ip[12..20], 17, 8 + payload.len());
        frame.extend(super::unfinished(pseudo).to_be_bytes());
        frame.extend(payload);
        if !unfinished {
            complete(&mut frame, 34, 6);
        }
        frame
    }

    #[test]
    fn unfinished_checksums_are_finished_and_others_left() {
        for len in [0, 1, 2, 33, 1000] {
            let payload: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
            let good = udp_frame(&payload, false);
            let mut frame = udp_frame(&payload, true);
            assert_ne!(frame, good);
            complete_if_unfinished(&mut frame);
            assert_eq!(frame, good, "payload of {len}");
            complete_if_unfinished(&mut frame);
            assert_eq!(frame, good, "a correct one stays");
            let mut broken = good.clone();
            broken[40] ^= 0x55;
            let before = broken.clone();
            complete_if_unfinished(&mut broken);
            assert_eq!(broken, before, "a wrong one stays wrong");
        }
    }

    #[test]
    fn frames_with_ethernet_padding_and_tags_are_finished() {
        let good = udp_frame(&[1, 2, 3], false);
        let mut padded = udp_frame(&[1, 2, 3], true);
        padded.extend([0; 15]);
        complete_if_unfinished(&mut padded);
        assert_eq!(padded[..good.len()], good[..]);
        let mut tagged = udp_frame(&[1, 2, 3], true);
        tagged.splice(12..12, [0x81, 0x00, 0x00, 0x05]);
        complete_if_unfinished(&mut tagged);
        assert_eq!(tagged[16..], good[12..]);
    }

    #[test]
    fn any_prefix_and_any_bytes_are_survived() {
        let frame = udp_frame(&[5; 40], true);
        for len in 0..frame.len() {
            complete_if_unfinished(&mut frame[..len].to_vec());
        }
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut mutated = frame.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = (state >> 33) as usize % mutated.len();
                mutated[at] = (state >> 20) as u8;
            }
            complete_if_unfinished(&mut mutated);
            complete(&mut mutated, (state >> 40) as usize & 0xff, (state >> 50) as usize & 0xff);
        }
    }
}
