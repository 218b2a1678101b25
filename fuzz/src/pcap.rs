//! Capture files: any bytes are read or refused, with memory in proportion to them, and what is read survives writing and reading again.

use pktio::pcap::{PcapWriter, read_all};

/// What a frame gets in front if the capture has IP packets.
const ETHERNET_LEN: usize = 14;
/// A pcap file's time ends here: 32 bits of seconds.
const END_OF_TIME_NS: u64 = (u32::MAX as u64 + 1) * 1_000_000_000;

/// Reads `data` as a pcap or pcapng file.
pub fn run(data: &[u8]) {
    let Ok(packets) = read_all(data) else { return };
    let captured: usize = packets.iter().map(|packet| packet.data.len()).sum();
    assert!(captured <= data.len() + packets.len() * ETHERNET_LEN, "{captured} bytes captured in a file of {}", data.len());

    let mut file = Vec::new();
    let mut writer = PcapWriter::new("memory", &mut file).expect("memory can be written");
    for packet in &packets {
        writer.write(packet.time_ns, &packet.data).expect("a frame that was read can be written");
    }
    writer.flush().expect("memory can be written");
    drop(writer);
    let again = read_all(&file).expect("what we write we read");
    assert_eq!(again.len(), packets.len());
    for (written, packet) in again.iter().zip(&packets) {
        assert_eq!((written.number, &written.data), (packet.number, &packet.data));
        assert!(written.time_ns == packet.time_ns || packet.time_ns >= END_OF_TIME_NS, "{} ns became {}", packet.time_ns, written.time_ns);
    }
}
