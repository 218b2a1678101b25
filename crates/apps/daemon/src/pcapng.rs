//! What does a file of packets say of a running UPF? pcapng (draft-ietf-opsawg-pcapng): an interface for each port, and a comment on each packet with what
//! became of it.

use crate::look::SeenPacket;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use std::io::Write;
use std::time::Duration;

/// A file that packets are written to as they come.
pub(crate) struct PcapFile<W: Write> {
    out: PcapNgWriter<W>,
    ports: Vec<String>,
}

impl<W: Write> PcapFile<W> {
    /// With its head.
    pub(crate) fn new(out: W) -> std::io::Result<PcapFile<W>> {
        Ok(PcapFile { out: PcapNgWriter::new(out).map_err(io)?, ports: Vec::new() })
    }

    /// One more packet, behind its port if that is new.
    pub(crate) fn write(&mut self, packet: &SeenPacket) -> std::io::Result<()> {
        let known = self.ports.iter().position(|port| *port == packet.port);
        if known.is_none() {
            self.ports.push(packet.port.clone());
            // Times are in nanoseconds.
            let options = vec![InterfaceDescriptionOption::IfName(packet.port.as_str().into()), InterfaceDescriptionOption::IfTsResol(9)];
            self.out.write_pcapng_block(InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options }).map_err(io)?;
        }
        let data = bytes(&packet.packet).ok_or_else(|| std::io::Error::other("the UPF sent a packet that is none"))?;
        let block = EnhancedPacketBlock {
            interface_id: known.unwrap_or(self.ports.len() - 1) as u32,
            timestamp: Duration::from_nanos(packet.at_ns),
            original_len: data.len() as u32,
            data: data.into(),
            options: vec![EnhancedPacketOption::Comment(verdict(packet).into())],
        };
        self.out.write_pcapng_block(block).map(drop).map_err(io)
    }

    /// Where it is written to.
    pub(crate) fn get_mut(&mut self) -> &mut W {
        self.out.get_mut()
    }
}

fn io(e: pcap_file::PcapError) -> std::io::Error {
    std::io::Error::other(e.to_string())
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
        let octets = file.out.into_inner();
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
