//! A user's IP packet, sound or wrong in one of many ways, and the headers that go around it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use wire::checksum;

use crate::world::*;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMPV6: u8 = 58;
pub(crate) const SCTP: u8 = 132;

/// An IP packet to be made. What is not of its version is not looked at.
#[derive(Clone, Debug)]
pub(crate) struct IpPacket {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub protocol: u8,
    pub tos: u8,
    pub ttl: u8,
    /// Four bytes each, at most 10; the first four.
    pub option_words: u8,
    pub options: [u8; 4],
    /// IPv6's extension headers: type, and what follows the next header's.
    pub extensions: Vec<(u8, Vec<u8>)>,
    /// More fragments, and the offset in units of eight bytes.
    pub fragment: (bool, u16),
    pub flow_label: u32,
    /// What the header's length says beyond the truth.
    pub length_lie: i32,
    /// Header length in words, if not the true one.
    pub ihl: Option<u8>,
    pub bad_checksum: bool,
    pub payload: Vec<u8>,
}

impl IpPacket {
    pub(crate) fn new(src: IpAddr, dst: IpAddr, protocol: u8, payload: Vec<u8>) -> IpPacket {
        IpPacket {
            src,
            dst,
            protocol,
            tos: 0,
            ttl: 64,
            option_words: 0,
            options: [1, 2, 3, 1],
            extensions: Vec::new(),
            fragment: (false, 0),
            flow_label: 0,
            length_lie: 0,
            ihl: None,
            bad_checksum: false,
            payload,
        }
    }

    /// As bytes. Of addresses of two versions the destination's counts.
    pub(crate) fn emit(&self) -> Vec<u8> {
        match self.dst {
            IpAddr::V4(dst) => self.emit_v4(if let IpAddr::V4(src) = self.src { src } else { Ipv4Addr::new(192, 0, 2, 1) }, dst),
            IpAddr::V6(dst) => self.emit_v6(if let IpAddr::V6(src) = self.src { src } else { Ipv6Addr::LOCALHOST }, dst),
        }
    }

    fn length(&self, true_length: usize) -> [u8; 2] {
        ((true_length as i32 + self.length_lie) as u16).to_be_bytes()
    }

    fn emit_v4(&self, src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
        let header_len = 20 + 4 * usize::from(self.option_words);
        let ihl = self.ihl.unwrap_or((header_len / 4) as u8) & 0xf;
        let mut out = vec![0x40 | ihl, self.tos];
        out.extend_from_slice(&self.length(header_len + self.payload.len()));
        out.extend_from_slice(&[0x12, self.tos]);
        out.extend_from_slice(&(u16::from(self.fragment.0) << 13 | self.fragment.1 & 0x1fff).to_be_bytes());
        out.extend_from_slice(&[self.ttl, self.protocol, 0, 0]);
        out.extend_from_slice(&src.octets());
        out.extend_from_slice(&dst.octets());
        out.extend(self.options.into_iter().chain((4..).map(|i| 1 + i % 3)).take(header_len - 20));
        out.extend_from_slice(&self.payload);
        // Over as much as the header says it is, so that a lie about it does not end as a wrong checksum.
        let covered = (usize::from(ihl) * 4).clamp(20, out.len().max(20)).min(out.len());
        let sum = checksum::finish(checksum::sum(&out[..covered]));
        out[10..12].copy_from_slice(&sum.wrapping_add(u16::from(self.bad_checksum)).to_be_bytes());
        out
    }

    fn emit_v6(&self, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
        let first = 0x6000_0000 | u32::from(self.tos) << 20 | self.flow_label & 0xf_ffff;
        let mut out = first.to_be_bytes().to_vec();
        let extensions: usize = self.extensions.iter().map(|(_, rest)| 1 + rest.len()).sum();
        out.extend_from_slice(&self.length(extensions + self.payload.len()));
        let mut types: Vec<u8> = self.extensions.iter().map(|(kind, _)| *kind).collect();
        types.push(self.protocol);
        out.extend_from_slice(&[types[0], self.ttl]);
        out.extend_from_slice(&src.octets());
        out.extend_from_slice(&dst.octets());
        for ((_, rest), next) in self.extensions.iter().zip(&types[1..]) {
            out.push(*next);
            out.extend_from_slice(rest);
        }
        out.extend_from_slice(&self.payload);
        out
    }

    /// Makes it odd in a way that the program must notice, or must not.
    pub(crate) fn disturb(&mut self, rng: &mut ChaCha8Rng) {
        match rng.random_range(0..12) {
            0 => self.ttl = rng.random_range(0..3),
            1 | 2 => {
                // No-operations, source routes, router alert, time stamps, a record of the route, the end.
                let first = [
                    [1, 2, 3, 1],
                    [131, 7, 4, 10],
                    [137, 7, 4, 10],
                    [1, 1, 131, 7],
                    [1, 1, 1, 131],
                    [148, 4, 0, 0],
                    [68, 8, 5, 0],
                    [1, 7, 39, 4],
                    [1; 4],
                    [0; 4],
                ];
                self.options = first[rng.random_range(0..first.len())];
                self.option_words = rng.random_range(1..=10);
            }
            3 => self.fragment = (true, 0),
            4 => self.fragment = (rng.random(), rng.random_range(1..8192)),
            5 => self.length_lie = rng.random_range(-60..60),
            6 => self.length_lie = rng.random(),
            7 => self.ihl = Some(rng.random_range(0..16)),
            8 => self.bad_checksum = true,
            9 => self.protocol = rng.random(),
            10 => self.payload.truncate(rng.random_range(0..8)),
            _ => self.ttl = 255,
        }
    }
}

/// A row of IPv6's extension headers; now and then one that is too long, or too many of them.
pub(crate) fn extensions(rng: &mut ChaCha8Rng) -> Vec<(u8, Vec<u8>)> {
    let count = [1, 1, 1, 2, 3, 4, 5][rng.random_range(0..7)];
    (0..count)
        .map(|_| {
            let units = if rng.random_bool(0.05) { rng.random_range(7..10u8) } else { rng.random_range(0..4) };
            let row = |first: [u8; 2]| [&first[..], &vec![0; 5 + 8 * usize::from(units)]].concat();
            match rng.random_range(0..8) {
                0 => (44, vec![0, 0, 0, 0, 0, 0, 7]),
                1 => (44, vec![0, 0, 1, 0, 0, 0, 7]),
                2 => (44, vec![0, rng.random(), rng.random(), 0, 0, 0, 7]),
                3 => (43, row([units, [0, 2, 4][rng.random_range(0..3)]])),
                4 => ([135, 139, 140][rng.random_range(0..3)], row([units, 1])),
                5 | 6 => (60, row([units, 1])),
                _ => (0, row([units, 1])),
            }
        })
        .collect()
}

/// An address that must never be on a wire.
pub(crate) fn martian(rng: &mut ChaCha8Rng, v4: bool) -> IpAddr {
    if v4 {
        [[127, 0, 0, 1], [0, 0, 0, 0], [224, 0, 0, 1], [255; 4], [240, 0, 0, 1], [0, 1, 2, 3]][rng.random_range(0..6)].into()
    } else {
        let all = ["::", "::1", "ff02::1", "::ffff:10.45.0.2", "fe80::1", "::10.0.0.1"];
        IpAddr::V6(all[rng.random_range(0..all.len())].parse().expect("an address"))
    }
}

/// A payload that begins with the header of `protocol`.
pub(crate) fn transport(rng: &mut ChaCha8Rng, protocol: u8, src_port: u16, dst_port: u16) -> Vec<u8> {
    let len = match rng.random_range(0..40) {
        0 => rng.random_range(1400..9000),
        1 => rng.random_range(9000..9200),
        2..=9 => rng.random_range(200..1400),
        _ => rng.random_range(0..120usize),
    };
    let mut out = Vec::with_capacity(len + 20);
    match protocol {
        UDP | TCP | SCTP => {
            out.extend_from_slice(&src_port.to_be_bytes());
            out.extend_from_slice(&dst_port.to_be_bytes());
            if protocol == UDP {
                out.extend_from_slice(&(len as u16 + 8).to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            } else {
                out.extend_from_slice(&[0xab; 8]);
            }
        }
        ICMPV6 => out.extend_from_slice(&[133, 0, 0, 0]),
        _ => out.extend_from_slice(&[8, 0, 0, 0]),
    }
    let fill: u8 = rng.random();
    out.resize(out.len() + len, fill);
    out
}

/// UDP around a payload, without a checksum.
pub(crate) fn udp(src_port: u16, dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + payload.len());
    out.extend_from_slice(&src_port.to_be_bytes());
    out.extend_from_slice(&dst_port.to_be_bytes());
    out.extend_from_slice(&(8 + payload.len() as u16).to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(payload);
    out
}

/// A GTP-U message with all that may be in one (TS 29.281 §5), `qfi` in a PDU session container.
pub(crate) fn gtpu(rng: &mut ChaCha8Rng, message_type: u8, teid: u32, qfi: Option<u8>, payload: &[u8]) -> Vec<u8> {
    let mut extensions: Vec<(u8, Vec<u8>)> = Vec::new();
    if let Some(qfi) = qfi {
        let long = rng.random_bool(0.1);
        let content = if long { vec![0x18, 0x80 | qfi, 0, 0, 0, 0] } else { vec![0x10, qfi] };
        extensions.push((0x85, content));
    }
    while rng.random_bool(0.08) {
        // UDP port, PDCP number, one we do not know, ones that must be comprehended; lengths beyond the packet too.
        let kind = [0x40, 0xc0, 0x20, 0x84, 0x03, 0x81][rng.random_range(0..6)];
        let content = vec![0x5a; 4 * rng.random_range(1..5) - 2];
        extensions.insert(rng.random_range(0..=extensions.len()), (kind, content));
    }
    let sequence = rng.random_bool(0.15);
    let npdu = rng.random_bool(0.04);
    let mut version = 0x30;
    if rng.random_bool(0.01) {
        version = [0x20, 0x40, 0x10, 0x50][rng.random_range(0..4)];
    }
    let optional = !extensions.is_empty() || sequence || npdu;
    let mut out = vec![version | u8::from(!extensions.is_empty()) << 2 | u8::from(sequence) << 1 | u8::from(npdu), message_type, 0, 0];
    out.extend_from_slice(&teid.to_be_bytes());
    if optional {
        // Without the E flag the last octet means nothing, whatever it says.
        let next = extensions.first().map_or_else(|| if rng.random_bool(0.3) { 0x85 } else { 0 }, |(kind, _)| *kind);
        out.extend_from_slice(&[rng.random(), rng.random(), rng.random(), next]);
    }
    for (i, (_, content)) in extensions.iter().enumerate() {
        let units = (content.len() + 2) / 4;
        out.push(if rng.random_bool(0.01) { [0, 255, 3][rng.random_range(0..3)] } else { units as u8 });
        out.extend_from_slice(content);
        out.push(extensions.get(i + 1).map_or(0, |(kind, _)| *kind));
    }
    out.extend_from_slice(payload);
    let length = (out.len() - 8) as u16;
    out[2..4].copy_from_slice(&length.to_be_bytes());
    out
}

/// VXLAN around a frame.
pub(crate) fn vxlan(vni: u32, frame: &[u8]) -> Vec<u8> {
    let mut out = vec![8, 0, 0, 0];
    out.extend_from_slice(&(vni << 8).to_be_bytes());
    out.extend_from_slice(frame);
    out
}

/// An Ethernet frame.
pub(crate) fn ethernet(dst: [u8; 6], ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = dst.to_vec();
    out.extend_from_slice(&[2, 0, 0, 9, 9, 9]);
    out.extend_from_slice(&ethertype.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// A port that a peer sends GTP-U from.
pub(crate) fn gtpu_source_port(rng: &mut ChaCha8Rng) -> u16 {
    if rng.random_bool(0.8) { 2152 } else { l4_port(rng) }
}
