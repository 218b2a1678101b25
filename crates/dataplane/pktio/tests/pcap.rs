//! Capture files: what is written is read, real formats are understood, hostile bytes give errors.

use std::path::Path;
use std::time::Duration;
use testkit::CpuTime;

use base::{MAX_PACKET, Packet, PortId};
use pktio::pcap::read_all;
use pktio::{PcapPort, PcapReader, PcapWriter, Port, PortError};

/// A pcapng file in either byte order, put together block by block.
struct Ng {
    bytes: Vec<u8>,
    big: bool,
}

impl Ng {
    fn new(big: bool) -> Ng {
        let mut ng = Ng { bytes: Vec::new(), big };
        let body = [ng.u32(0x1a2b_3c4d).to_vec(), ng.u16(1).to_vec(), ng.u16(0).to_vec(), vec![0xff; 8]].concat();
        ng.block(0x0a0d_0d0a, &body);
        ng
    }
    fn u16(&self, v: u16) -> [u8; 2] {
        if self.big { v.to_be_bytes() } else { v.to_le_bytes() }
    }
    fn u32(&self, v: u32) -> [u8; 4] {
        if self.big { v.to_be_bytes() } else { v.to_le_bytes() }
    }
    fn block(&mut self, kind: u32, body: &[u8]) {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = body.len() as u32 + 12;
        let block = [&self.u32(kind)[..], &self.u32(length), &body, &self.u32(length)].concat();
        self.bytes.extend(block);
    }
    fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) {
        let mut body = [&self.u16(link)[..], &[0, 0], &self.u32(0)].concat();
        for (code, value) in options {
            body.extend(self.u16(*code));
            body.extend(self.u16(value.len() as u16));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body);
    }
    fn packet(&mut self, interface: u32, ticks: u64, original: u32, data: &[u8]) {
        let words = [interface, (ticks >> 32) as u32, ticks as u32, data.len() as u32, original];
        let mut body: Vec<u8> = words.iter().flat_map(|w| self.u32(*w)).collect();
        body.extend(data);
        self.block(6, &body);
    }
}

fn classic(magic: [u8; 4], big: bool, link: u32, records: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let u32 = |v: u32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let u16 = |v: u16| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut bytes = [&magic[..], &u16(2), &u16(4), &[0; 8], &u32(65535), &u32(link)].concat();
    for (seconds, fraction, data) in records {
        for v in [*seconds, *fraction, data.len() as u32, data.len() as u32] {
            bytes.extend(u32(v));
        }
        bytes.extend(*data);
    }
    bytes
}

fn error(bytes: &[u8]) -> String {
    match read_all(bytes) {
        Ok(packets) => panic!("{} packets instead of an error", packets.len()),
        Err(PortError::Config(text)) => text,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_is_written_is_read() {
    let mut bytes = Vec::new();
    let mut writer = PcapWriter::new("memory", &mut bytes).unwrap();
    let frames: Vec<Vec<u8>> = (0..300usize).map(|i| vec![i as u8; i * 7]).collect();
    for (i, frame) in frames.iter().enumerate() {
        writer.write(1_700_000_000_123_456_789 + i as u64, frame).unwrap();
    }
    assert!(writer.write(0, &vec![0; 300_000]).is_err());
    writer.flush().unwrap();
    drop(writer);
    let packets = read_all(&bytes).unwrap();
    assert_eq!(packets.len(), 300);
    for (i, packet) in packets.iter().enumerate() {
        assert_eq!((packet.number, packet.time_ns), (i as u64 + 1, 1_700_000_000_123_456_789 + i as u64));
        assert_eq!((&packet.data, packet.original_len as usize), (&frames[i], frames[i].len()));
    }
}

#[test]
fn classic_files_of_either_byte_order_and_resolution() {
    let data = [1u8, 2, 3, 4, 5];
    for (magic, big, expected) in [
        ([0xd4, 0xc3, 0xb2, 0xa1], false, 5_000_007_000),
        ([0xa1, 0xb2, 0xc3, 0xd4], true, 5_000_007_000),
        ([0x4d, 0x3c, 0xb2, 0xa1], false, 5_000_000_007),
        ([0xa1, 0xb2, 0x3c, 0x4d], true, 5_000_000_007u64),
    ] {
        let packets = read_all(&classic(magic, big, 1, &[(5, 7, &data), (5, 7, &[])])).unwrap();
        assert_eq!(packets.len(), 2);
        assert_eq!((packets[0].time_ns, &packets[0].data[..]), (expected, &data[..]));
        assert_eq!(packets[1].data, []);
    }
    // The modified format has 8 more bytes in each record header.
    let mut modified = classic([0x34, 0xcd, 0xb2, 0xa1], false, 1, &[(5, 7, &data)]);
    modified.splice(40..40, [9; 8]);
    assert_eq!(read_all(&modified).unwrap()[0].data, data);
}

#[test]
fn pcapng_of_either_byte_order_with_interfaces_sections_and_unknown_blocks() {
    for big in [false, true] {
        let offset = if big { 100i64.to_be_bytes() } else { 100i64.to_le_bytes() };
        let mut ng = Ng::new(big);
        ng.block(0x0bad_0001, &[1; 3_000_000]);
        ng.interface(1, &[]);
        ng.interface(1, &[(2, b"eth1"), (9, &[9]), (14, &offset)]);
        ng.interface(1, &[(9, &[0x80 | 10])]);
        ng.packet(0, 3_000_001, 5, &[1, 2, 3, 4, 5]);
        ng.packet(1, 7_000_000_009, 100, &[6; 60]);
        ng.packet(2, 2048 + 512, 1, &[7]);
        let simple = [&ng.u32(6)[..], &[8; 6]].concat();
        ng.block(3, &simple);
        let mut second = Ng::new(!big);
        second.interface(1, &[]);
        second.packet(0, 1, 2, &[9, 9]);
        ng.bytes.extend(second.bytes);
        let packets = read_all(&ng.bytes).unwrap();
        let times: Vec<u64> = packets.iter().map(|p| p.time_ns).collect();
        assert_eq!(times, [3_000_001_000, 107_000_000_009, 2_500_000_000, 0, 1000]);
        let lengths: Vec<(usize, u32)> = packets.iter().map(|p| (p.data.len(), p.original_len)).collect();
        assert_eq!(lengths, [(5, 5), (60, 100), (1, 1), (6, 6), (2, 2)]);
        assert_eq!(packets.iter().map(|p| p.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }
}

#[test]
fn raw_ip_gets_an_ethernet_header_and_other_link_types_are_refused() {
    let le = [0xd4, 0xc3, 0xb2, 0xa1];
    let packets = read_all(&classic(le, false, 101, &[(0, 0, &[0x45, 0, 0, 20]), (0, 0, &[0x60, 0, 0, 0])])).unwrap();
    assert_eq!(packets[0].data, [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00, 0x45, 0, 0, 20]);
    assert_eq!(packets[1].data[12..], [0x86, 0xdd, 0x60, 0, 0, 0]);
    assert_eq!(packets[0].original_len, 18);
    assert_eq!(error(&classic(le, false, 101, &[(0, 0, &[0x45]), (0, 0, &[0x15])])), "capture: packet 2: raw IP with version 1");
    assert_eq!(
        error(&classic(le, false, 113, &[])),
        "capture: link type 113 (Linux cooked capture: capture on one interface, not on `any`) is neither Ethernet nor raw IP"
    );
    let mut ng = Ng::new(false);
    ng.interface(127, &[]);
    ng.interface(1, &[]);
    ng.packet(1, 0, 1, &[1]);
    assert_eq!(read_all(&ng.bytes).unwrap().len(), 1, "an unusable interface without packets does no harm");
    ng.packet(0, 0, 1, &[1]);
    assert_eq!(error(&ng.bytes), "capture: packet 2: link type 127 (802.11) is neither Ethernet nor raw IP");
}

#[test]
fn broken_files_name_the_packet_and_what_is_wrong() {
    let le = [0xd4, 0xc3, 0xb2, 0xa1];
    assert_eq!(error(&[]), "capture: the file is empty");
    assert_eq!(error(b"GET / HTTP/1.1"), "capture: not a pcap or pcapng file: it begins with 20544547");
    assert_eq!(error(&[0x1f, 0x8b, 8, 0, 0]), "capture: the file is compressed: run gunzip first");
    assert_eq!(error(&le), "capture: the file ends inside the file header: 0 of 20 bytes");
    let file = classic(le, false, 1, &[(0, 0, &[1; 60]), (0, 0, &[2; 60])]);
    assert_eq!(error(&file[..file.len() - 1]), "capture: packet 2: the file ends inside the packet: 59 of 60 bytes");
    assert_eq!(error(&file[..110]), "capture: packet 2: the file ends inside a record header: 10 of 16 bytes");
    for huge in [262_145u32, 0x7fff_ffff, u32::MAX] {
        let mut file = file.clone();
        file[100 + 8..100 + 12].copy_from_slice(&huge.to_le_bytes());
        assert_eq!(error(&file), format!("capture: packet 2: claims {huge} captured bytes; at most 262144 are allowed"));
    }

    let mut ng = Ng::new(false);
    ng.interface(1, &[]);
    ng.packet(0, 0, 60, &[1; 60]);
    let end = ng.bytes.len();
    ng.packet(3, 0, 60, &[1; 60]);
    assert_eq!(error(&ng.bytes), "capture: packet 2: it names interface 3, but 1 are described");
    let mut bad = ng.bytes[..end].to_vec();
    bad[end - 4] ^= 1;
    assert!(error(&bad).starts_with("capture: packet 1: a block of 92 bytes ends with length 93"), "{}", error(&bad));
    for length in [0u32, 8, 11, 13, u32::MAX - 3, 1 << 21] {
        let mut bad = ng.bytes[..end].to_vec();
        bad[end - 92 + 4..end - 92 + 8].copy_from_slice(&length.to_le_bytes());
        assert!(error(&bad).starts_with("capture: packet 1: a block of type 0x6 "), "{}", error(&bad));
    }
    let mut long = ng.bytes[..end].to_vec();
    long[end - 92 + 20..end - 92 + 24].copy_from_slice(&61u32.to_le_bytes());
    assert!(read_all(&long[..end]).is_err(), "captured length beyond the block");
}

/// Steps are counted, not time: the worst that 64 KB can hold of each kind.
#[test]
fn the_work_of_a_file_is_in_proportion_to_its_length() {
    const LENGTH: usize = 1 << 16;
    let ng = |fill: &dyn Fn(&mut Ng)| {
        let mut ng = Ng::new(false);
        ng.interface(1, &[]);
        while ng.bytes.len() < LENGTH {
            fill(&mut ng);
        }
        ng.bytes
    };
    let empty_records = vec![(0, 0, &[][..]); LENGTH / 16];
    let no_options: Vec<(u16, &[u8])> = vec![(2988, &[]); LENGTH / 4];
    let shapes = [
        ("empty packets", classic([0xd4, 0xc3, 0xb2, 0xa1], false, 1, &empty_records)),
        ("unknown blocks", ng(&|ng| ng.block(0x0bad, &[]))),
        ("packets without bytes", ng(&|ng| ng.packet(0, 0, 0, &[]))),
        ("sections", ng(&|ng| ng.block(0x0a0d_0d0a, &[&ng.u32(0x1a2b_3c4d)[..], &[1, 0, 0, 0], &[0xff; 8]].concat()))),
        ("interfaces", ng(&|ng| ng.interface(1, &[]))),
        ("interfaces with options", ng(&|ng| ng.interface(1, &[(2988, &[]), (14, &[0; 8])]))),
        ("options", ng(&|ng| ng.interface(1, &no_options))),
        ("blocks that end the file", ng(&|ng| ng.bytes.extend([0xad, 0x0b, 0, 0, 0xfc, 0xff, 0xff, 0xff]))),
    ];
    for (what, bytes) in shapes {
        let mut reader = PcapReader::new(what, &bytes[..]).unwrap();
        let packets = reader.by_ref().take_while(Result::is_ok).count();
        let (steps, most) = (reader.steps(), bytes.len() as u64 / 4);
        assert!((1..=most).contains(&steps), "{what}: {steps} steps for {packets} packets in {} bytes", bytes.len());
    }
}

#[test]
fn every_truncation_and_many_mutations_end_in_packets_or_errors() {
    let mut ng = Ng::new(false);
    ng.interface(1, &[(2, b"eth0"), (9, &[6])]);
    ng.packet(0, 1, 60, &[1; 60]);
    ng.block(5, &[0; 20]);
    ng.interface(101, &[]);
    ng.packet(1, 2, 20, &[0x45; 20]);
    let body = [&ng.u32(33)[..], &[3; 33]].concat();
    ng.block(3, &body);
    let big = {
        let mut ng = Ng::new(true);
        ng.interface(1, &[(14, &[0x80; 8])]);
        ng.packet(0, u64::MAX, 60, &[1; 60]);
        ng
    };
    let classic = classic([0xa1, 0xb2, 0xc3, 0xd4], true, 1, &[(1, 2, &[1; 60]), (u32::MAX, u32::MAX, &[2; 61]), (1, 1, &[])]);
    let started = CpuTime::new();
    let mut outcomes = [0u32; 2];
    let mut try_one = |bytes: &[u8]| match read_all(bytes) {
        Ok(packets) => {
            assert!(packets.iter().map(|p| p.data.len()).sum::<usize>() <= bytes.len() + packets.len() * 14);
            outcomes[0] += 1;
        }
        Err(PortError::Config(text)) => {
            assert!(text.starts_with("capture: ") && text.len() < 300, "{text}");
            outcomes[1] += 1;
        }
        Err(other) => panic!("{other}"),
    };
    let mut state = 42u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for file in [&ng.bytes, &big.bytes, &classic] {
        for length in 0..file.len() {
            try_one(&file[..length]);
        }
        for _ in 0..40_000 {
            let mut mutated = file.clone();
            for _ in 0..=random() % 4 {
                let at = random() as usize % mutated.len();
                let value = [0, 1, 4, 0x7f, 0x80, 0xff, random() as u8][random() as usize % 7];
                match random() % 8 {
                    0 => mutated.truncate(at.max(1)),
                    1 => drop(mutated.remove(at.min(mutated.len() - 1))),
                    2 => mutated.insert(at, value),
                    3 => {
                        let end = mutated.len().min(at + 4);
                        mutated[at..end].fill(value);
                    }
                    _ => mutated[at] = value,
                }
                if mutated.is_empty() {
                    break;
                }
            }
            try_one(&mutated);
        }
    }
    assert!(outcomes.iter().all(|&n| n > 1000), "both outcomes occur: {outcomes:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_port_delivers_then_finishes_and_writes_with_its_clock() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.pcap"), folder.path().join("out.pcap"));
    let mut writer = PcapWriter::create(&input).unwrap();
    for i in 0..100u64 {
        writer.write(i * 1000, &[i as u8; 64]).unwrap();
        if i == 50 {
            writer.write(0, &vec![0; MAX_PACKET + 1]).unwrap();
        }
    }
    drop(writer);
    let mut now = 0;
    let clock = Box::new(move || {
        now += 5;
        now
    });
    let mut port = PcapPort::open("n3", Some(&input), Some(&output)).unwrap().with_clock(clock);
    assert!(port.name().starts_with("n3 (pcap "));
    let mut packets: Vec<Packet> = (0..32).map(|i| Packet::new(&[], PortId(i))).collect();
    let mut total = 0u64;
    while !port.finished() {
        let n = port.receive(&mut packets).unwrap();
        for (packet, time) in packets[..n].iter().zip(port.times_ns()) {
            assert_eq!((packet.data(), *time), (&[total as u8; 64][..], total * 1000));
            total += 1;
        }
        assert_eq!(port.times_ns().len(), n);
        assert_eq!(port.transmit(&packets[..n]).unwrap(), n);
    }
    assert_eq!((total, port.device_drops().rx_invalid), (100, 1));
    assert_eq!(packets[31].port, PortId(31));
    port.flush().unwrap();
    let written: Vec<_> = PcapReader::open(&output).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(written.len(), 100);
    assert_eq!((written[99].time_ns, &written[99].data[..]), (500, &[99; 64][..]));
}

#[test]
fn a_broken_file_gives_its_good_packets_then_the_error_then_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    let whole = classic([0xd4, 0xc3, 0xb2, 0xa1], false, 1, &[(0, 0, &[1; 60]), (0, 0, &[2; 60]), (0, 0, &[3; 60])]);
    std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let mut port = PcapPort::open("n3", Some(&path), None).unwrap();
    let mut packets = [const { [0u8; 0] }; 8].map(|bytes| Packet::new(&bytes, PortId(0)));
    assert_eq!(port.receive(&mut packets).unwrap(), 2);
    assert!(!port.finished());
    let text = port.receive(&mut packets).unwrap_err().to_string();
    assert_eq!(text, format!("{}: packet 3: the file ends inside the packet: 55 of 60 bytes", path.display()));
    assert!(port.finished());
    assert_eq!(port.receive(&mut packets).unwrap(), 0);
}

#[test]
fn files_that_cannot_be_opened_are_named_and_nothing_is_lost() {
    let missing = PcapPort::open("n3", Some(Path::new("/nonexistent/x.pcap")), None).err().unwrap();
    assert!(missing.to_string().starts_with("cannot read /nonexistent/x.pcap: "), "{missing}");
    let unwritable = PcapPort::open("n3", None, Some(Path::new("/nonexistent/y.pcap"))).err().unwrap();
    assert!(unwritable.to_string().starts_with("cannot write /nonexistent/y.pcap: "), "{unwritable}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("same.pcap");
    drop(PcapWriter::create(&path).unwrap());
    let before = std::fs::read(&path).unwrap();
    let same = PcapPort::open("n3", Some(&path), Some(&path)).err().unwrap();
    assert!(same.to_string().contains("both read and written"), "{same}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
