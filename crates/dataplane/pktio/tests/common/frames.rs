//! Frames of the user plane: a UE's packets, plain, in tunnels, in VXLAN.
#![allow(dead_code)]

use wire::gtpu::SessionContainer;

const UDP: u8 = 17;

pub(crate) fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
    p.extend(src);
    p.extend(dst);
    p[2..4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
    let checksum = wire::checksum::finish(wire::checksum::sum(&p));
    p[10..12].copy_from_slice(&checksum.to_be_bytes());
    p.extend(payload);
    p
}

pub(crate) fn ipv6(src: u128, dst: u128, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0x60, 0, 0, 0, 0, 0, 59, 64];
    p[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    p.extend(src.to_be_bytes());
    p.extend(dst.to_be_bytes());
    p.extend(payload);
    p
}

pub(crate) fn udp(dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0x12, 0x34];
    p.extend(dst_port.to_be_bytes());
    p.extend(((8 + payload.len()) as u16).to_be_bytes());
    p.extend([0, 0]);
    p.extend(payload);
    p
}

pub(crate) fn ethernet(packet: &[u8]) -> Vec<u8> {
    let ethertype: u16 = if packet[0] >> 4 == 6 { 0x86dd } else { 0x0800 };
    [&[2; 12][..], &ethertype.to_be_bytes(), packet].concat()
}

/// A GTP-U message on its way from a gNodeB.
pub(crate) fn gtpu(message: &[u8]) -> Vec<u8> {
    ethernet(&ipv4([10, 3, 0, 2], [10, 3, 0, 1], UDP, &udp(2152, message)))
}

/// A user packet in a tunnel.
pub(crate) fn tunnel(container: Option<SessionContainer>, inner: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    wire::gtpu::Repr::g_pdu(7, container, inner).emit(&mut message);
    gtpu(&message)
}

pub(crate) fn vxlan(frame: &[u8]) -> Vec<u8> {
    let payload = [&[8, 0, 0, 0, 0, 0, 9, 0], frame].concat();
    ethernet(&ipv4([10, 9, 0, 2], [10, 9, 0, 1], UDP, &udp(4789, &payload)))
}
