//! Cuts a super-frame of segmentation offload (longer than the MTU, as a local sender hands it to its device) into the frames
//! that a wire would have carried. [`crate::join`] does the reverse.

use std::ops::Range;

use base::Packet;

use crate::checksum;

/// Which protocol the big packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gso {
    /// TCP: one header, its sequence number advancing (RFC 9293 §3.1).
    Tcp,
    /// UDP: each segment is a datagram of its own (Linux UDP_SEGMENT).
    Udp,
}

impl Gso {
    /// By `gso_type` of a virtio header (virtio 1.2 §5.1.6): `None` for what we cannot cut, or if it is no super-frame.
    pub(crate) fn of_virtio(kind: u8) -> Option<Gso> {
        const TCPV4: u8 = 1;
        const TCPV6: u8 = 4;
        const UDP_L4: u8 = 5;
        const ECN: u8 = 0x80;
        match kind & !ECN {
            TCPV4 | TCPV6 => Some(Gso::Tcp),
            UDP_L4 => Some(Gso::Udp),
            _ => None,
        }
    }
}

/// Most frames made of one packet: 512 KiB at the smallest MSS in use (536, RFC 9293 §3.7.1) fit.
const MAX_SEGMENTS: usize = 1024;

/// A super-frame that is being cut into the frames for which it stands.
pub struct Cut {
    headers: Headers,
    /// Payload of a segment, in bytes.
    size: usize,
    next: usize,
    count: usize,
}

impl Cut {
    /// Of `frame`, whose TCP or UDP header is at `layer4`, with at most `size` bytes of payload in each segment. `None` if the headers are
    /// not what the offload says.
    pub fn new(frame: &[u8], gso: Gso, layer4: usize, size: usize) -> Option<Cut> {
        let headers = Headers::find(frame, gso, layer4)?;
        let payload = frame.len() - headers.payload;
        if size == 0 || payload.div_ceil(size) > MAX_SEGMENTS {
            return None;
        }
        Some(Cut { headers, size, next: 0, count: payload.div_ceil(size).max(1) })
    }

    /// Frames that are still to be cut off.
    pub fn left(&self) -> usize {
        self.count - self.next
    }

    /// Bytes of the headers that each of them has.
    pub fn headers(&self) -> usize {
        self.headers.payload
    }

    /// Length of the longest, in bytes.
    pub fn longest(&self, frame: &[u8]) -> usize {
        self.headers.payload + (frame.len() - self.headers.payload).min(self.size)
    }

    /// Writes the next frame of `frame`, the one that [`Cut::new`] saw, into `packet`, with all checksums correct. False at the end.
    pub fn next_into(&mut self, frame: &[u8], packet: &mut Packet) -> bool {
        if self.left() == 0 {
            return false;
        }
        let (headers, index) = (&self.headers, self.next);
        let payload = &frame[headers.payload..];
        let chunk = &payload[index * self.size..payload.len().min((index + 1) * self.size)];
        packet.set_both(&frame[..headers.payload], chunk);
        let segment = packet.data_mut();
        headers.write_ip(segment, index);
        match headers.gso {
            Gso::Tcp => headers.write_tcp(segment, index * self.size, index == 0, index + 1 == self.count),
            Gso::Udp => headers.write_udp_length(segment),
        }
        headers.write_checksum(segment);
        self.next += 1;
        true
    }
}

/// Where the headers of a big packet are, checked to lie inside it.
struct Headers {
    ip: usize,
    version: u8,
    layer4: usize,
    payload: usize,
    gso: Gso,
    addresses: Range<usize>,
}

impl Headers {
    fn find(frame: &[u8], gso: Gso, layer4: usize) -> Option<Headers> {
        let (ethertype, ip) = checksum::ethertype(frame)?;
        let (version, least, addresses) = match ethertype {
            0x0800 => (4, 20, ip + 12..ip + 20),
            0x86dd => (6, 40, ip + 8..ip + 40),
            _ => return None,
        };
        if frame.get(ip)? >> 4 != version || layer4 < ip + least {
            return None;
        }
        let header_len = match gso {
            Gso::Tcp => usize::from(frame.get(layer4 + 12)? >> 4) * 4,
            Gso::Udp => 8,
        };
        let payload = layer4 + header_len;
        let sane = payload <= frame.len() && (gso == Gso::Udp || header_len >= 20);
        sane.then_some(Headers { ip, version, layer4, payload, gso, addresses })
    }

    /// Length, identification and header checksum (RFC 791 §3.1), or payload length (RFC 8200 §3).
    fn write_ip(&self, segment: &mut [u8], index: usize) {
        let ip = self.ip;
        let len = segment.len();
        if self.version == 6 {
            segment[ip + 4..ip + 6].copy_from_slice(&((len - ip - 40) as u16).to_be_bytes());
            return;
        }
        segment[ip + 2..ip + 4].copy_from_slice(&((len - ip) as u16).to_be_bytes());
        let id = u16::from_be_bytes([segment[ip + 4], segment[ip + 5]]).wrapping_add(index as u16);
        segment[ip + 4..ip + 6].copy_from_slice(&id.to_be_bytes());
        segment[ip + 10..ip + 12].fill(0);
        let sum = checksum::internet(&segment[ip..self.layer4]);
        segment[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    }

    fn write_tcp(&self, segment: &mut [u8], advance: usize, first: bool, last: bool) {
        const FIN_PSH: u8 = 0x09;
        const CWR: u8 = 0x80;
        let at = self.layer4;
        let sequence = u32::from_be_bytes([segment[at + 4], segment[at + 5], segment[at + 6], segment[at + 7]]);
        segment[at + 4..at + 8].copy_from_slice(&sequence.wrapping_add(advance as u32).to_be_bytes());
        if !last {
            segment[at + 13] &= !FIN_PSH;
        }
        // CWR answers one ECN mark: on the first segment only (RFC 3168 §6.1.2).
        if !first {
            segment[at + 13] &= !CWR;
        }
    }

    fn write_udp_length(&self, segment: &mut [u8]) {
        let length = (segment.len() - self.layer4) as u16;
        segment[self.layer4 + 4..self.layer4 + 6].copy_from_slice(&length.to_be_bytes());
    }

    /// The checksum, which the sender has left to its device; of a tunnel's datagram over IPv4 none (RFC 768): what is in the tunnel has its own.
    fn write_checksum(&self, segment: &mut [u8]) {
        if self.gso == Gso::Udp && self.version == 4 && checksum::may_be_absent(&segment[self.layer4..]) {
            return segment[self.layer4 + 6..self.layer4 + 8].fill(0);
        }
        let (field, protocol) = match self.gso {
            Gso::Tcp => (16, 6),
            Gso::Udp => (6, 17),
        };
        let pseudo = checksum::pseudo_header(&segment[self.addresses.clone()], protocol, segment.len() - self.layer4);
        let at = self.layer4 + field;
        segment[at..at + 2].copy_from_slice(&checksum::unfinished(pseudo).to_be_bytes());
        checksum::complete(segment, self.layer4, field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::tests::udp_frame;

    fn split(frame: &[u8], gso: Gso, layer4: usize, size: usize) -> Option<Vec<Vec<u8>>> {
        let mut cut = Cut::new(frame, gso, layer4, size)?;
        let mut frames = Vec::new();
        let mut packet = Packet::void();
        while cut.next_into(frame, &mut packet) {
            assert!(packet.len() <= cut.longest(frame));
            frames.push(packet.data().to_vec());
        }
        Some(frames)
    }

    /// Ethernet, IPv4 or IPv6, TCP with 12 bytes of options.
    fn tcp_frame(version: u8, payload: &[u8]) -> (Vec<u8>, usize) {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        let tcp_len = (32 + payload.len()) as u16;
        if version == 4 {
            frame.extend([8, 0, 0x45, 0]);
            frame.extend((20 + tcp_len).to_be_bytes());
            frame.extend([0xff, 0xff, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        } else {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend(tcp_len.to_be_bytes());
            frame.extend([6, 64]);
            frame.extend([0x20; 16]);
            frame.extend([0x30; 16]);
        }
        let layer4 = frame.len();
        // Sequence number just below the wrap; flags CWR, ACK, PSH, FIN.
        frame.extend([0x1f, 0x90, 0x00, 0x50, 0xff, 0xff, 0xff, 0x00, 0, 0, 0, 9, 0x80, 0x99, 0x10, 0x00, 0, 0, 0, 0]);
        frame.extend([1; 12]);
        frame.extend(payload);
        (frame, layer4)
    }

    fn layer4_is_valid(segment: &[u8], layer4: usize, version: u8, protocol: u8) -> bool {
        let addresses = if version == 4 { 26..34 } else { 22..54 };
        let pseudo = checksum::pseudo_header(&segment[addresses], protocol, segment.len() - layer4);
        wire::checksum::finish(pseudo + wire::checksum::sum(&segment[layer4..])) == 0
    }

    #[test]
    fn tcp_is_cut_with_sequence_flags_and_checksums() {
        let payload: Vec<u8> = (0..2500u32).map(|i| i as u8).collect();
        for version in [4, 6] {
            let (frame, layer4) = tcp_frame(version, &payload);
            let segments = split(&frame, Gso::Tcp, layer4, 1000).unwrap();
            assert_eq!(segments.len(), 3);
            let mut joined = Vec::new();
            for (i, segment) in segments.iter().enumerate() {
                assert!(layer4_is_valid(segment, layer4, version, 6));
                let sequence = u32::from_be_bytes(segment[layer4 + 4..layer4 + 8].try_into().unwrap());
                assert_eq!(sequence, 0xffff_ff00u32.wrapping_add(i as u32 * 1000));
                let flags = segment[layer4 + 13];
                assert_eq!(flags, [0x90, 0x10, 0x19][i]);
                if version == 4 {
                    assert_eq!(u16::from_be_bytes([segment[16], segment[17]]) as usize, segment.len() - 14);
                    assert_eq!(u16::from_be_bytes([segment[18], segment[19]]), 0xffffu16.wrapping_add(i as u16));
                    assert_eq!(checksum::internet(&segment[14..34]), 0);
                } else {
                    assert_eq!(u16::from_be_bytes([segment[18], segment[19]]) as usize, segment.len() - 54);
                }
                joined.extend_from_slice(&segment[layer4 + 32..]);
            }
            assert_eq!(joined, payload);
        }
    }

    #[test]
    fn udp_is_cut_into_datagrams() {
        for port in [443u16, 2152] {
            let mut frame = udp_frame(&[7; 250], true);
            frame[36..38].copy_from_slice(&port.to_be_bytes());
            let segments = split(&frame, Gso::Udp, 34, 100).unwrap();
            assert_eq!(segments.iter().map(Vec::len).collect::<Vec<_>>(), [142, 142, 92]);
            for segment in &segments {
                // That of a tunnel is absent.
                assert!(if port == 2152 { segment[40..42] == [0, 0] } else { layer4_is_valid(segment, 34, 4, 17) });
                assert_eq!(u16::from_be_bytes([segment[38], segment[39]]) as usize, segment.len() - 34);
            }
        }
    }

    #[test]
    fn nonsense_is_refused_without_panic() {
        let (frame, layer4) = tcp_frame(4, &[1; 3000]);
        assert!(split(&frame, Gso::Tcp, layer4, 0).is_none());
        assert!(split(&frame, Gso::Tcp, layer4, 1).is_none(), "too many segments");
        assert!(split(&frame, Gso::Tcp, 20, 1000).is_none());
        assert!(split(&frame, Gso::Tcp, 70_000, 1000).is_none());
        for len in 0..100 {
            split(&frame[..len], Gso::Tcp, layer4, 10);
            split(&frame[..len], Gso::Udp, layer4, 10);
        }
        for at in 0..66 {
            for value in [0, 0x0f, 0xf0, 0xff] {
                let mut mutated = frame.clone();
                mutated[at] = value;
                split(&mutated, Gso::Tcp, layer4, 1000);
                split(&mutated, Gso::Udp, at, 1000);
            }
        }
    }
}
