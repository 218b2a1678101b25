//! What does a file of packets say of a running UPF? pcapng (draft-ietf-opsawg-pcapng): an interface for each port, and a comment on each packet with what
//! became of it.
//!
//! The three kinds of blocks are written here: `pcap-parser`, which `pktio` reads with, needs another crate to write, and takes options as raw octets.

use crate::manage::capture::SeenPacket;
use std::io::Write;

/// A file that packets are written to as they come.
pub(crate) struct PcapFile<W: Write> {
    out: W,
    ports: Vec<String>,
}

impl<W: Write> PcapFile<W> {
    /// With its head: the byte order, version 1.0, a section of no known length.
    pub(crate) fn new(out: W) -> std::io::Result<PcapFile<W>> {
        let mut file = PcapFile { out, ports: Vec::new() };
        file.block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes(), &[1, 0, 0, 0], &[0xff; 8]])?;
        Ok(file)
    }

    /// One more packet, behind its port if that is new.
    pub(crate) fn write(&mut self, packet: &SeenPacket) -> std::io::Result<()> {
        let known = self.ports.iter().position(|port| *port == packet.port);
        if known.is_none() {
            self.ports.push(packet.port.clone());
            // LINKTYPE_ETHERNET, uncut; `if_name`; `if_tsresol`: times are in nanoseconds.
            self.block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0], &option(2, packet.port.as_bytes()), &option(9, &[9]), &END])?;
        }
        let data = bytes(&packet.packet).ok_or_else(|| std::io::Error::other("the UPF sent a packet that is none"))?;
        let port = known.unwrap_or(self.ports.len() - 1) as u32;
        let (high, low, length) = ((packet.at_ns >> 32) as u32, packet.at_ns as u32, data.len() as u32);
        let head = [port, high, low, length, length].map(u32::to_le_bytes);
        self.block(6, &[head.as_flattened(), &padded(&data), &option(1, verdict(packet).as_bytes()), &END])
    }

    fn block(&mut self, kind: u32, parts: &[&[u8]]) -> std::io::Result<()> {
        let body = parts.concat();
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&[&kind.to_le_bytes(), &length, &body[..], &length].concat())
    }

    /// Where it is written to.
    pub(crate) fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }
}

/// The end of a block's options.
const END: [u8; 4] = [0; 4];

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    [&code.to_le_bytes(), &(value.len() as u16).to_le_bytes(), &padded(value)[..]].concat()
}

/// Up to a multiple of four bytes.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

/// Bytes of hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// What became of a packet, in one line.
pub(crate) fn verdict(packet: &SeenPacket) -> String {
    let SeenPacket { verdict, reason, to, target, .. } = packet;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let to = to.as_ref().map_or(String::new(), |to| format!(" to {to}"));
    format!("{verdict}{to}{reason}, by {target}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the tree's own reader has it.
    #[test]
    fn a_capture_has_each_packet_with_its_time_its_port_and_its_verdict() {
        let packet = |n: u8, port: &str, verdict: &str, reason: Option<&str>, to: Option<&str>| SeenPacket {
            at_ns: 1_700_000_000_123_456_000 + u64::from(n),
            port: port.into(),
            target: "x86".into(),
            verdict: verdict.into(),
            reason: reason.map(str::to_owned),
            to: to.map(str::to_owned),
            packet: format!("{n:02x}").repeat(60 + usize::from(n)),
            ..SeenPacket::default()
        };
        let packets = [
            packet(1, "n3", "forward", None, Some("n6")),
            packet(2, "n6", "drop", Some("no_session"), None),
            packet(3, "n3", "buffer", None, None),
        ];
        let mut file = PcapFile::new(Vec::new()).unwrap();
        packets.iter().for_each(|packet| file.write(packet).unwrap());
        let octets = file.out;
        let read = pktio::pcap::read_all(&octets).unwrap();
        for (n, (read, packet)) in read.iter().zip(&packets).enumerate() {
            assert_eq!((read.time_ns, Some(&read.data)), (packet.at_ns, bytes(&packet.packet).as_ref()), "{n}");
        }
        assert_eq!(read.len(), 3);
        let text = String::from_utf8_lossy(&octets);
        for comment in ["forward to n6, by x86", "drop: no_session, by x86", "buffer, by x86"] {
            assert!(text.contains(comment), "{comment}");
        }
        assert!(file_is_refused("0g") && file_is_refused("0"));
    }

    fn file_is_refused(packet: &str) -> bool {
        let packet = SeenPacket { packet: packet.into(), ..SeenPacket::default() };
        PcapFile::new(Vec::new()).unwrap().write(&packet).is_err()
    }
}
