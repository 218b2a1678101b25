//! Joins frames that follow one another in a flow into one super-frame of segmentation offload, which costs the kernel as much as one
//! frame. [`crate::segment`] does the reverse: cutting what is joined here gives the same frames.
//!
//! Two kinds are joined. Segments of a TCP connection, as Linux's GRO joins them. And UDP datagrams between two ports, whatever they carry: packets
//! of many users in tunnels to one far end among them. Frames that are joined must differ in what segmentation writes anew only (lengths,
//! identifications, sequence numbers, checksums), and their checksums must be right: a super-frame's segments get new ones, and a damaged
//! packet must not become a good one.
//!
//! UDP datagrams of tunnels whose checksum is absent (zero, RFC 768) leave with one: Linux computes it for each segment.

use base::Packet;

use crate::checksum;
use crate::segment::Gso;

/// Longest headers in front of the payload: Ethernet 14, IPv6 40, TCP 60 bytes.
pub const MAX_HEADERS: usize = 114;
/// Most frames in one super-frame: UDP_MAX_SEGMENTS of Linux before 6.9.
pub const MAX_FRAMES: usize = 64;
/// Longest IP packet, in bytes.
const MAX_IP: usize = 65_535;
const ETHERNET: usize = 14;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;

/// Frames from the front of a burst that go as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// How many, at least two.
    pub frames: usize,
    pub gso: Gso,
    /// Where the TCP or UDP header begins, in bytes.
    pub layer4: usize,
    /// Where the payload begins.
    pub payload: usize,
    /// Payload of each frame but the last, in bytes.
    pub size: usize,
    /// Payload of all.
    bytes: usize,
}

impl Train {
    /// The longest train at the front of `packets`; `None` if the first goes alone.
    pub fn find(packets: &[Packet]) -> Option<Train> {
        let (first, rest) = packets.split_first()?;
        let first = first.data();
        // Most frames of mixed traffic end here: other lengths, addresses or ports.
        let second = rest.first()?.data();
        if second.len() > first.len() || second.len() < ETHERNET + 28 || second[..16] != first[..16] {
            return None;
        }
        let headers = Headers::of(first)?;
        let size = first.len() - headers.payload;
        let mut train = Train { frames: 1, gso: headers.gso, layer4: headers.layer4, payload: headers.payload, size, bytes: size };
        for (index, packet) in rest.iter().enumerate().take(MAX_FRAMES - 1) {
            let frame = packet.data();
            let fits = train.payload - ETHERNET + train.bytes + size <= MAX_IP;
            if !fits || !headers.is_followed_by(first, frame, index + 1, size) || (index == 0 && !headers.is_sound(first)) {
                break;
            }
            train.frames += 1;
            train.bytes += frame.len() - train.payload;
            if frame.len() < first.len() || headers.ends_with(frame) {
                break;
            }
        }
        (train.frames > 1).then_some(train)
    }

    /// Writes the super-frame's headers, from Ethernet on, into `out`: [`Train::payload`] bytes. The checksum of TCP or UDP is left unfinished.
    ///
    /// # Panics
    /// If `packets` are not those of [`Train::find`].
    pub fn write_headers(&self, packets: &[Packet], out: &mut [u8; MAX_HEADERS]) {
        let (first, last) = (packets[0].data(), packets[self.frames - 1].data());
        let out = &mut out[..self.payload];
        out.copy_from_slice(&first[..self.payload]);
        let length = self.payload - self.layer4 + self.bytes;
        let addresses = if first[ETHERNET] >> 4 == 4 {
            out[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&((20 + length) as u16).to_be_bytes());
            out[ETHERNET + 10..ETHERNET + 12].fill(0);
            let sum = checksum::internet(&out[ETHERNET..self.layer4]);
            out[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_be_bytes());
            ETHERNET + 12..ETHERNET + 20
        } else {
            out[ETHERNET + 4..ETHERNET + 6].copy_from_slice(&(length as u16).to_be_bytes());
            ETHERNET + 8..ETHERNET + 40
        };
        let (protocol, field) = match self.gso {
            Gso::Tcp => {
                out[self.layer4 + 13] |= last[self.layer4 + 13] & (FIN | PSH);
                (6, 16)
            }
            Gso::Udp => {
                out[self.layer4 + 4..self.layer4 + 6].copy_from_slice(&(length as u16).to_be_bytes());
                (17, 6)
            }
        };
        let pseudo = checksum::pseudo_header(&out[addresses], protocol, length);
        out[self.layer4 + field..self.layer4 + field + 2].copy_from_slice(&checksum::unfinished(pseudo).to_be_bytes());
    }

    /// `struct virtio_net_hdr` (virtio 1.2 §5.1.6, in the host's byte order as the legacy interface has it) for a frame without its
    /// first `skipped` bytes.
    pub fn virtio_header(&self, skipped: usize) -> [u8; 10] {
        const NEEDS_CSUM: u8 = 1;
        let ipv6 = self.layer4 == ETHERNET + 40;
        let (kind, offset): (u8, u16) = match (self.gso, ipv6) {
            (Gso::Tcp, false) => (1, 16),
            (Gso::Tcp, true) => (4, 16),
            (Gso::Udp, _) => (5, 6),
        };
        let mut header = [NEEDS_CSUM, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [(self.payload - skipped) as u16, self.size as u16, (self.layer4 - skipped) as u16, offset];
        for (place, word) in header[2..].as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *place = word.to_ne_bytes();
        }
        header
    }
}

/// Where the headers of a frame are that may be the first of a train.
struct Headers {
    gso: Gso,
    ipv6: bool,
    layer4: usize,
    payload: usize,
}

impl Headers {
    /// Of Ethernet without tags, IPv4 without options and fragments or IPv6 without extension headers, and TCP or UDP with payload to the frame's end.
    fn of(frame: &[u8]) -> Option<Headers> {
        let ip = frame.get(ETHERNET..)?;
        let word = |at: usize| Some(usize::from(u16::from_be_bytes([*ip.get(at)?, *ip.get(at + 1)?])));
        let (ipv6, header, protocol) = match (&frame[12..14], *ip.first()?) {
            // All but DF clear.
            ([0x08, 0x00], 0x45) if word(2)? == ip.len() && word(6)? & 0xbfff == 0 => (false, 20, *ip.get(9)?),
            ([0x86, 0xdd], first) if first >> 4 == 6 && word(4)? + 40 == ip.len() => (true, 40, *ip.get(6)?),
            _ => return None,
        };
        let layer4 = ETHERNET + header;
        let at = |at: usize| frame.get(layer4 + at).copied();
        let (gso, length) = match protocol {
            6 if at(13)? & !ECE == ACK => (Gso::Tcp, usize::from(at(12)? >> 4) * 4),
            17 if word(header + 4)? + header == ip.len() => (Gso::Udp, 8),
            _ => return None,
        };
        let payload = layer4 + length;
        let sane = payload < frame.len() && (gso == Gso::Udp || length >= 20);
        sane.then_some(Headers { gso, ipv6, layer4, payload })
    }

    /// Whether `frame` may be number `index` behind `first`, of which each but the last has `size` bytes of payload.
    fn is_followed_by(&self, first: &[u8], frame: &[u8], index: usize, size: usize) -> bool {
        if frame.len() <= self.payload || frame.len() > first.len() {
            return false;
        }
        let (layer4, ip) = (self.layer4, ETHERNET);
        let same = |from: usize, to: usize| frame[from..to] == first[from..to];
        let length = frame.len() - layer4;
        let is = |at: usize, value: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]])) == value;
        let ip_follows = if self.ipv6 {
            same(0, ip + 4) && is(ip + 4, length) && same(ip + 6, layer4)
        } else {
            // Identifications count up, or tell nothing: the packet is not to be fragmented (RFC 6864 §4.1).
            let id = u16::from_be_bytes([first[ip + 4], first[ip + 5]]).wrapping_add(index as u16);
            let identified = first[ip + 6] & 0x40 != 0 || is(ip + 4, usize::from(id));
            same(0, ip + 2) && is(ip + 2, length + 20) && identified && same(ip + 6, ip + 10) && same(ip + 12, layer4)
        };
        let follows = match self.gso {
            Gso::Udp => same(layer4, layer4 + 4) && is(layer4 + 4, length),
            Gso::Tcp => {
                let sequence = |frame: &[u8]| frame[layer4 + 4..layer4 + 8].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
                let expected = sequence(first).wrapping_add((index * size) as u32);
                // Ports; acknowledgement and header length; flags but those that may end a train; window; urgent pointer and options.
                same(layer4, layer4 + 4)
                    && sequence(frame) == expected
                    && same(layer4 + 8, layer4 + 13)
                    && frame[layer4 + 13] & !(FIN | PSH) == first[layer4 + 13]
                    && same(layer4 + 14, layer4 + 16)
                    && same(layer4 + 18, self.payload)
            }
        };
        ip_follows && follows && self.is_sound(frame)
    }

    /// Whether nothing may follow a frame of the train.
    fn ends_with(&self, frame: &[u8]) -> bool {
        self.gso == Gso::Tcp && frame[self.layer4 + 13] & (FIN | PSH) != 0
    }

    /// Whether all checksums of a frame with these headers are right, or one is absent that may be.
    fn is_sound(&self, frame: &[u8]) -> bool {
        let (addresses, header) = if self.ipv6 {
            (ETHERNET + 8..ETHERNET + 40, true)
        } else {
            (ETHERNET + 12..ETHERNET + 20, checksum::internet(&frame[ETHERNET..self.layer4]) == 0)
        };
        if !header {
            return false;
        }
        let protocol = match self.gso {
            Gso::Tcp => 6,
            Gso::Udp => 17,
        };
        if self.gso == Gso::Udp && frame[self.layer4 + 6..self.layer4 + 8] == [0, 0] {
            return !self.ipv6 && checksum::may_be_absent(&frame[self.layer4..]);
        }
        let pseudo = checksum::pseudo_header(&frame[addresses], protocol, frame.len() - self.layer4);
        checksum::is_right(pseudo, &frame[self.layer4..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Cut;
    use base::PortId;
    use rand::rngs::StdRng;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};

    /// What the frames of a flow share.
    #[derive(Clone, Copy)]
    struct Flow {
        ipv6: bool,
        tcp: bool,
        options: usize,
        ports: [u16; 2],
        summed: bool,
        dont_fragment: bool,
    }

    /// Number `index` of a flow, which begins at sequence number `sequence`.
    fn frame(flow: Flow, index: u16, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
        let header = if flow.tcp { 20 + flow.options } else { 8 };
        let length = (header + payload.len()) as u16;
        let protocol = if flow.tcp { 6 } else { 17 };
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        let addresses = if flow.ipv6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 7]);
            frame.extend(length.to_be_bytes());
            frame.extend([protocol, 64]);
            frame.extend([0x20; 32]);
            22..54
        } else {
            frame.extend([8, 0, 0x45, 0]);
            frame.extend((20 + length).to_be_bytes());
            frame.extend((0xfff0u16.wrapping_add(index)).to_be_bytes());
            frame.extend([if flow.dont_fragment { 0x40 } else { 0 }, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            let sum = checksum::internet(&frame[14..34]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            26..34
        };
        let layer4 = frame.len();
        frame.extend(flow.ports.map(u16::to_be_bytes).concat());
        if flow.tcp {
            frame.extend(sequence.to_be_bytes());
            frame.extend([0, 0, 0, 9, ((header / 4) << 4) as u8, flags, 0x10, 0, 0, 0, 0, 0]);
            frame.extend(vec![1; flow.options]);
        } else {
            frame.extend(length.to_be_bytes());
            frame.extend([0, 0]);
        }
        frame.extend(payload);
        if flow.summed {
            let field = if flow.tcp { 16 } else { 6 };
            let pseudo = checksum::pseudo_header(&frame[addresses], protocol, frame.len() - layer4);
            frame[layer4 + field..layer4 + field + 2].copy_from_slice(&checksum::unfinished(pseudo).to_be_bytes());
            checksum::complete(&mut frame, layer4, field);
        }
        frame
    }

    fn packets(frames: &[Vec<u8>]) -> Vec<Packet> {
        frames.iter().map(|frame| Packet::new(frame, PortId(0))).collect()
    }

    /// The super-frame as the kernel gets it, and is to cut it.
    fn super_frame(packets: &[Packet], train: &Train) -> Vec<u8> {
        let mut headers = [0; MAX_HEADERS];
        train.write_headers(packets, &mut headers);
        let payloads = packets[..train.frames].iter().map(|packet| &packet.data()[train.payload..]);
        std::iter::once(&headers[..train.payload]).chain(payloads).flatten().copied().collect()
    }

    fn cut(super_frame: &[u8], train: &Train) -> Vec<Vec<u8>> {
        let mut cut = Cut::new(super_frame, train.gso, train.layer4, train.size).unwrap();
        let (mut packet, mut frames) = (Packet::void(), Vec::new());
        while cut.next_into(super_frame, &mut packet) {
            frames.push(packet.data().to_vec());
        }
        frames
    }

    /// Without what may become another: an identification that says nothing, and an absent checksum.
    fn settled(mut frame: Vec<u8>) -> Vec<u8> {
        if frame[14] == 0x45 {
            if frame[20] & 0x40 != 0 {
                frame[18..20].fill(0);
                frame[24..26].fill(0);
            }
            if frame[23] == 17 && checksum::may_be_absent(&frame[34..]) {
                frame[40..42].fill(0);
            }
        }
        frame
    }

    fn assert_cuts_back(packets: &[Packet], train: &Train) {
        let back: Vec<_> = cut(&super_frame(packets, train), train).into_iter().map(settled).collect();
        let there: Vec<_> = packets[..train.frames].iter().map(|packet| settled(packet.data().to_vec())).collect();
        assert!(back == there, "{train:?}");
    }

    fn random_flow(random: &mut StdRng) -> Flow {
        let (tcp, ipv6) = (random.random(), random.random());
        let to = *[2152, 443, 4789].choose(random).unwrap();
        let summed = tcp || ipv6 || to == 443 || random.random();
        Flow { ipv6, tcp, options: 4 * random.random_range(0..11), ports: [1000, to], summed, dont_fragment: random.random() }
    }

    #[test]
    fn what_is_joined_and_cut_is_what_was() {
        let mut random = StdRng::seed_from_u64(29_244);
        let (mut trains, mut joined, mut alone) = (0, 0, 0);
        for _ in 0..2000 {
            let flow = random_flow(&mut random);
            let (count, size) = (random.random_range(1..=MAX_FRAMES), random.random_range(1..900));
            let begin = random.random::<u32>() | 0xffff_0000;
            let mut frames = Vec::new();
            for index in 0..count {
                let last = index + 1 == count;
                let length = if last { random.random_range(1..=size) } else { size };
                let flags = ACK | if last { *[0, PSH, PSH | FIN].choose(&mut random).unwrap() } else { 0 };
                let payload: Vec<u8> = (0..length).map(|_| random.random()).collect();
                frames.push(frame(flow, index as u16, begin.wrapping_add((index * size) as u32), flags, &payload));
            }
            let packets = packets(&frames);
            match Train::find(&packets) {
                Some(train) => {
                    assert_eq!((train.frames, train.size), (count, size));
                    assert_cuts_back(&packets, &train);
                    (trains, joined) = (trains + 1, joined + train.frames);
                }
                None => {
                    assert_eq!(count, 1);
                    alone += 1;
                }
            }
        }
        assert!(trains > 1500 && joined > 40_000 && alone > 10, "{trains} trains of {joined} frames, {alone} alone");
    }

    /// Anything may be changed in a frame: either it is not joined, or cutting gives it back as it was.
    #[test]
    fn a_frame_that_differs_is_not_joined_or_comes_back() {
        let mut random = StdRng::seed_from_u64(38_415);
        let (mut ended, mut whole) = (0, 0);
        for _ in 0..60_000 {
            let flow = random_flow(&mut random);
            let mut frames: Vec<_> = (0..4u16).map(|i| frame(flow, i, u32::from(i) * 100, ACK, &[i as u8; 100])).collect();
            let victim = random.random_range(0..4);
            let headers = frames[0].len() - 100;
            let at = random.random_range(0..headers + 4);
            match random.random_range(0..10) {
                0 => frames[victim].truncate(at),
                1 => frames[victim].extend([0; 6]),
                2 => frames.swap(victim, 0),
                _ => frames[victim][at] ^= 1 << random.random_range(0..8),
            }
            let packets = packets(&frames);
            let Some(train) = Train::find(&packets) else {
                ended += 1;
                continue;
            };
            assert_cuts_back(&packets, &train);
            if train.frames == 4 { whole += 1 } else { ended += 1 }
        }
        // Identifications that say nothing, and nothing else.
        assert!(ended > 50_000 && whole > 200 && whole < 5000, "{ended} ended, {whole} whole");
    }

    #[test]
    fn a_damaged_packet_stays_damaged_and_alone() {
        for ipv6 in [false, true] {
            for tcp in [false, true] {
                let flow = Flow { ipv6, tcp, options: 12, ports: [1, 2], summed: true, dont_fragment: true };
                let mut frames: Vec<_> = (0..5u16).map(|i| frame(flow, i, u32::from(i) * 100, ACK, &[i as u8; 100])).collect();
                *frames[3].last_mut().unwrap() ^= 1;
                let packets = packets(&frames);
                assert_eq!(Train::find(&packets).map(|train| train.frames), Some(3));
                assert_eq!(Train::find(&packets[3..]), None);
            }
        }
        // What nobody has summed is summed by nobody.
        let flow = Flow { ipv6: false, tcp: false, options: 0, ports: [1, 443], summed: false, dont_fragment: true };
        let frames: Vec<_> = (0..3u16).map(|i| frame(flow, i, 0, 0, &[7; 50])).collect();
        assert_eq!(Train::find(&packets(&frames)), None);
    }

    #[test]
    fn a_train_ends_where_tcp_says_so_and_is_no_longer_than_a_packet_can_be() {
        let flow = Flow { ipv6: false, tcp: true, options: 0, ports: [1, 2], summed: true, dont_fragment: true };
        let of = |flags: [u8; 4]| {
            let frames: Vec<_> = (0..4u16).map(|i| frame(flow, i, u32::from(i) * 100, flags[usize::from(i)], &[7; 100])).collect();
            Train::find(&packets(&frames)).map_or(1, |train| train.frames)
        };
        const CWR: u8 = 0x80;
        const SYN: u8 = 0x02;
        assert_eq!(of([ACK; 4]), 4);
        assert_eq!(of([ACK, ACK | PSH, ACK, ACK]), 2);
        assert_eq!(of([ACK | PSH, ACK, ACK, ACK]), 1, "what follows a push is of the next train");
        assert_eq!(of([ACK, ACK, ACK | FIN, ACK]), 3);
        assert_eq!(of([ACK | CWR, ACK, ACK, ACK]), 1);
        assert_eq!(of([ACK, ACK, ACK | CWR, ACK]), 2);
        assert_eq!(of([ACK | ECE; 4]), 4);
        assert_eq!(of([ACK, ACK | ECE, ACK, ACK]), 1);
        assert_eq!(of([ACK, ACK | SYN, ACK, ACK]), 1);
        for tcp in [true, false] {
            let flow = Flow { tcp, ports: [1, 2152], ..flow };
            let frames: Vec<_> = (0..MAX_FRAMES as u16 + 6).map(|i| frame(flow, i, u32::from(i) * 1400, ACK, &[7; 1400])).collect();
            let train = Train::find(&packets(&frames)).unwrap();
            assert_eq!(train.frames, 46);
            assert_cuts_back(&packets(&frames), &train);
            let small: Vec<_> = (0..MAX_FRAMES as u16 + 6).map(|i| frame(flow, i, u32::from(i) * 10, ACK, &[7; 10])).collect();
            assert_eq!(Train::find(&packets(&small)).unwrap().frames, MAX_FRAMES);
        }
    }

    #[test]
    fn the_header_says_what_the_kernel_is_to_do() {
        let flow = Flow { ipv6: false, tcp: true, options: 12, ports: [1, 2], summed: true, dont_fragment: true };
        let of = |flow: Flow| {
            let frames: Vec<_> = (0..2u16).map(|i| frame(flow, i, u32::from(i) * 100, ACK, &[7; 100])).collect();
            Train::find(&packets(&frames)).unwrap()
        };
        let words = |header: [u8; 10]| -> Vec<u16> { header[2..].as_chunks().0.iter().map(|word| u16::from_ne_bytes(*word)).collect() };
        let header = of(flow).virtio_header(0);
        assert_eq!((header[0], header[1], words(header)), (1, 1, vec![66, 100, 34, 16]));
        let header = of(Flow { ipv6: true, ..flow }).virtio_header(14);
        assert_eq!((header[0], header[1], words(header)), (1, 4, vec![72, 100, 40, 16]));
        let header = of(Flow { tcp: false, ..flow }).virtio_header(14);
        assert_eq!((header[0], header[1], words(header)), (1, 5, vec![28, 100, 20, 6]));
    }
}
