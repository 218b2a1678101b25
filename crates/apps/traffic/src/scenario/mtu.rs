//! Full-size packets where N3 may have no more room for a tunnel than N6 for a packet (TS 29.281 §4.2.2, RFC 1191): none vanishes. It arrives, or its sender is told
//! what fits, sends the datagram in parts of that size, and they arrive.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use wire::gtpu::{self, SessionContainer};
use wire::{icmp, ipv4, udp};

use super::lab::{Lab, QFI, Session, UE_PORT, g_pdu, unusable, user_packet};
use super::{Patience, Stop};

/// Lengths of user packets in bytes: what a tunnel leaves of 1500 bytes is 1456.
const LENGTHS: [usize; 8] = [576, 1280, 1400, 1456, 1457, 1472, 1499, 1500];

pub(super) fn run(lab: &mut Lab<'_>) -> Result<(), Stop> {
    lab.associate()?;
    let session = lab.session(0)?;
    lab.step("packets from the data network that may not be fragmented (RFC 1191 §3)")?;
    for length in LENGTHS {
        downlink(lab, &session, length)?;
    }
    lab.step("packets of the UE that may not be fragmented")?;
    for length in LENGTHS {
        uplink(lab, &session, length)?;
    }
    lab.delete(&session)?;
    lab.release()
}

/// The data network's host has a kernel that does path MTU discovery: a datagram that was lost is sent again as it now fits.
fn downlink(lab: &mut Lab<'_>, session: &Session, length: usize) -> Result<(), Stop> {
    let mut tries = 0;
    let mut parts = Parts::default();
    let payload = vec![b'm'; length - ipv4::HEADER_LEN - udp::HEADER_LEN];
    let mut came = None;
    while came.is_none() && tries < 2 {
        tries += 1;
        lab.links.send_dn(0, SocketAddrV4::new(session.ue, UE_PORT), &payload).map_err(unusable)?;
        while came.is_none()
            && let Some(octets) = lab.links.receive_tunnel(0, Patience::Unexpected).map_err(unusable)?
        {
            came = g_pdu(&octets).and_then(|(_, _, packet)| parts.add(&packet));
        }
    }
    let said = match &came {
        None => "nothing, twice".to_owned(),
        Some(datagram) if datagram.get(udp::HEADER_LEN..) != Some(&payload[..]) => "another".into(),
        Some(_) => format!("it, at try {tries}, in packets of at most {} bytes", parts.longest),
    };
    let met = said.starts_with("it");
    lab.expect(&format!("downlink, {length} bytes"), "the datagram at the gNodeB", &said, met)
}

fn uplink(lab: &mut Lab<'_>, session: &Session, length: usize) -> Result<(), Stop> {
    let payload = vec![b'm'; length - ipv4::HEADER_LEN - udp::HEADER_LEN];
    let packet = user_packet((session.ue, UE_PORT), (lab.addresses.dn, lab.addresses.dn_ports[0]), &payload);
    let send = |lab: &mut Lab<'_>, packet: &[u8]| {
        lab.send_tunnel(
            0,
            session.uplink.addr,
            &gtpu::Repr::g_pdu(session.uplink.teid, Some(SessionContainer::Uplink { qfi: QFI }), packet),
        )
    };
    send(lab, &packet)?;
    let answer = lab.links.receive_tunnel(0, Patience::Unexpected).map_err(unusable)?;
    let fits = answer.as_deref().and_then(g_pdu).and_then(|(_, _, answer)| what_fits(&answer, &packet));
    if answer.is_some() && fits.is_none() {
        return lab.expect(&format!("uplink, {length} bytes"), "the UE to be told what fits, or nothing", "something else", false);
    }
    for part in fits.iter().flat_map(|fits| fragments(&packet, *fits)) {
        send(lab, &part)?;
    }
    let came = lab.links.receive_dn(0, Patience::Expected).map_err(unusable)?;
    let met = came.as_ref().is_some_and(|(_, came)| *came == payload);
    let how = fits.map_or_else(String::new, |fits| format!(", in packets of at most {fits} bytes, as the UE was told"));
    let said = if met { format!("it{how}") } else { format!("{}{how}", if came.is_some() { "another" } else { "nothing" }) };
    lab.expect(&format!("uplink, {length} bytes"), "the datagram at the data network", &said, met)
}

/// What of a packet would fit, of an ICMP message that says so and is about that packet (RFC 1191 §4).
pub fn what_fits(message: &[u8], about: &[u8]) -> Option<usize> {
    let packet = ipv4::Packet::new_checked(message).ok().filter(|packet| packet.protocol() == ipv4::ICMP)?;
    let message = icmp::Message::new_checked_v4(packet.payload()).ok()?;
    let [_, _, high, low, quoted @ ..] = message.body() else { return None };
    let fits = usize::from(u16::from_be_bytes([*high, *low]));
    // Its TTL may be less by a hop, and so is its checksum another.
    let same = quoted.len() >= 28 && quoted[12..28] == about[12..28];
    ((message.message_type(), message.code()) == (3, 4) && same && (68..about.len()).contains(&fits)).then_some(fits)
}

/// A packet without options in fragments of at most so many bytes (RFC 791 §3.2).
pub fn fragments(packet: &[u8], most: usize) -> Vec<Vec<u8>> {
    let (header, payload) = packet.split_at(ipv4::HEADER_LEN);
    let room = (most - ipv4::HEADER_LEN) / 8 * 8;
    let last = payload.len().div_ceil(room) - 1;
    let part = |(n, bytes): (usize, &[u8])| {
        let mut part = [header, bytes].concat();
        let field = (n * room / 8) as u16 | if n < last { 0x2000 } else { 0 };
        let length = part.len() as u16;
        part[2..4].copy_from_slice(&length.to_be_bytes());
        part[6..8].copy_from_slice(&field.to_be_bytes());
        part[10..12].fill(0);
        let sum = wire::checksum::finish(wire::checksum::sum(&part[..ipv4::HEADER_LEN]));
        part[10..12].copy_from_slice(&sum.to_be_bytes());
        part
    };
    payload.chunks(room).enumerate().map(part).collect()
}

/// Puts the fragments of one packet together.
#[derive(Debug, Default)]
pub struct Parts {
    by_offset: BTreeMap<usize, Vec<u8>>,
    length: Option<usize>,
    /// Bytes of the longest fragment.
    longest: usize,
}

impl Parts {
    /// Takes a packet, whole or in part; the payload when it is there.
    pub fn add(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let packet = ipv4::Packet::new_checked(packet).ok()?;
        let field = u16::from_be_bytes([packet.bytes()[6], packet.bytes()[7]]);
        let (offset, payload) = (usize::from(field & 0x1fff) * 8, packet.payload());
        if field & 0x2000 == 0 {
            self.length = Some(offset + payload.len());
        }
        self.longest = self.longest.max(packet.bytes().len());
        self.by_offset.insert(offset, payload.to_vec());
        let mut whole = Vec::new();
        for (offset, part) in &self.by_offset {
            whole.extend(part.get(whole.len().saturating_sub(*offset)..).filter(|_| *offset <= whole.len())?);
        }
        (self.length == Some(whole.len())).then_some(whole)
    }
}
