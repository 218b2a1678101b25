//! Does Wireshark read what we send? It shares nothing with us: it decodes every PDU of RLC and PDCP, deciphers NEA2 and verifies NIA2.
//!
//! NEA1, NEA3, NIA1 and NIA3 are not in Debian's build of it. With an SDAP header Wireshark 4.0 deciphers the header too, and leaves it out of the MAC-I,
//! against TS 38.323 §5.8; so such PDUs are checked with NEA0 and without MAC-I.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use buffer::status::Status;
use ciphering::{Choice, Direction, Engine, Nea, Nia};
use gnb::framing::{Pdcp, Rlc, RlcMode};
use gnb::nru::{self, Block, DeliveryStatus, Frame, UserData};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::rx::Prepared;
use gnb::pdcp::{CountGuard, Kind, Rx, RxConfig, Security, Tx, TxConfig};
use gnb::rlc::am::Am;
use gnb::rlc::pdu::{AmPdu, Si, UmSnLength, Umd};
use gnb::rlc::um::UmTx;
use gnb::rlc::{QueueLimits, SnLength, am_rx, am_tx};
use gnb::sdap::{Config, Drb, DrbId, Gnb, Qfi, Ue};
use pktio::pcap::PcapWriter;
use rand::Rng;
use wire::ethernet::{self, Mac};
use wire::{ipv4, udp};

const MS: u64 = 1_000_000;
/// A port that no dissector claims.
const PORT: u16 = 41111;
/// Expert information of Wireshark from this severity on is a warning or an error.
const WARNING: u32 = 0x0060_0000;

/// Whether tshark is there.
fn tshark() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        testkit::skip("needs tshark (scripts/setup)");
    }
    there
}

/// The datagrams as a capture.
fn capture(path: &Path, datagrams: &[Vec<u8>]) {
    let mut writer = PcapWriter::<std::fs::File>::create(path).expect("a file");
    let (src, dst) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2));
    for (at, datagram) in datagrams.iter().enumerate() {
        let mut frame = Vec::new();
        ethernet::Repr { dst: Mac([2, 0, 0, 0, 0, 2]), src: Mac([2, 0, 0, 0, 0, 1]), ethertype: 0x0800 }.emit(&mut frame);
        frame.extend(packet(src, dst, 40_001, 40_002, datagram));
        writer.write(at as u64 * MS, &frame).expect("written");
    }
    writer.flush().expect("written");
}

fn packet(src: Ipv4Addr, dst: Ipv4Addr, src_port: u16, dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: 8 + payload.len() }.emit(&mut out);
    udp::Repr { src_port, dst_port }.emit_ipv4(src, dst, payload, &mut out);
    out
}

/// Runs tshark on datagrams; a row for each, with the values of each field.
fn rows(datagrams: &[Vec<u8>], options: &[String], fields: &[&str]) -> Vec<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("radio.pcap");
    capture(&path, datagrams);
    let mut command = Command::new("tshark");
    // A profile of its own: the user's preferences do not matter.
    command.env("WIRESHARK_CONFIG_DIR", folder.path()).arg("-n").arg("-r").arg(&path);
    command.args(["--enable-heuristic", "rlc_nr_udp", "--enable-heuristic", "pdcp_nr_udp"]).args(options);
    command.args(["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"]);
    command.args(["_ws.expert.severity", "_ws.malformed", "_ws.expert.message"].iter().chain(fields).flat_map(|field| ["-e", field]));
    let output = command.output().expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<Vec<Vec<String>>> = text
        .lines()
        .map(|line| line.split('\t').map(|cell| cell.split('|').filter(|value| !value.is_empty()).map(String::from).collect()).collect())
        .collect();
    assert_eq!(rows.len(), datagrams.len(), "a row for each");
    rows
}

/// No row is malformed or has a warning. That a STATUS has NACKs is one to Wireshark.
fn assert_clean(rows: &[Vec<Vec<String>>]) {
    for (at, row) in rows.iter().enumerate() {
        let severe = row[0].iter().filter(|severity| severity.parse::<u32>().map_or(true, |severity| severity >= WARNING)).count();
        let nacks = row[2].iter().filter(|message| message.starts_with("Status PDU reports NACK ")).count();
        assert!(severe == nacks && row[1].is_empty(), "packet {}: {:?}", at + 1, &row[..3]);
    }
}

fn numbers(cell: &[String]) -> Vec<u32> {
    let number = |value: &String| match value.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    cell.iter().map(|value| number(value).unwrap_or_else(|_| panic!("{value} is a number"))).collect()
}

fn am(sn_length: SnLength) -> Am<Vec<u8>> {
    let tx = am_tx::TxConfig {
        sn_length,
        window: 512,
        queue: QueueLimits { sdus: 1000, bytes: 1 << 20 },
        poll_retransmit_ns: 45 * MS,
        poll_pdu: Some(8),
        poll_byte: None,
        max_retransmissions: 32,
    };
    let rx = am_rx::RxConfig { sn_length, window: 512, partial_bytes: 1 << 20, reassembly_ns: 10 * MS, status_prohibit_ns: 0 };
    Am::new(tx, rx).expect("valid")
}

#[test]
fn wireshark_reads_each_field_of_every_pdu_of_a_lossy_am_bearer() {
    if !tshark() {
        return;
    }
    for (sn_length, bits) in [(SnLength::Bits12, 12), (SnLength::Bits18, 18)] {
        let mut rng = testkit::rng(u64::from(bits));
        let (mut a, mut b) = (am(sn_length), am(sn_length));
        for tag in 0..150 {
            a.enqueue(tag, vec![tag as u8; 20 + tag as usize * 7 % 300]).unwrap();
        }
        let (mut pdus, mut now) = (Vec::new(), 0);
        while a.has_data(now) || a.next_deadline().is_some() {
            now += MS;
            a.advance(now, &mut |_| {});
            b.advance(now, &mut |_| {});
            let mut pdu = Vec::new();
            // A burst is lost now and then, so that there are NACK ranges.
            let fades = now / MS % 7 < 2;
            for _ in 0..4 {
                if a.pull(rng.random_range(60..200), now, &mut pdu).is_some() {
                    if !fades && rng.random_range(0..4) != 0 {
                        b.receive(&pdu, now, &mut |_| {}, &mut |_| {}).ok();
                    }
                    pdus.push((Direction::Downlink, std::mem::take(&mut pdu)));
                }
            }
            if b.pull(rng.random_range(10..60), now, &mut pdu).is_some() {
                a.receive(&pdu, now, &mut |_| {}, &mut |_| {}).ok();
                pdus.push((Direction::Uplink, pdu));
            }
        }
        let datagrams: Vec<Vec<u8>> = pdus
            .iter()
            .map(|(direction, pdu)| {
                let mut out = Vec::new();
                Rlc { mode: RlcMode::Am(bits), direction: *direction, ue: 7, drb: 2 }.emit(pdu, &mut out);
                out
            })
            .collect();
        let fields = [
            "rlc-nr.am.sn",
            "rlc-nr.am.so",
            "rlc-nr.am.p",
            "rlc-nr.am.si",
            "rlc-nr.am.ack-sn",
            "rlc-nr.am.nack-sn",
            "rlc-nr.am.so-start",
            "rlc-nr.am.so-end",
            "rlc-nr.am.nack-range",
            "rlc-nr.direction",
            "rlc-nr.ueid",
            "rlc-nr.bearer-id",
        ];
        // PDUs that the radio loses are in the capture too, so segments that are cut anew overlap them.
        let separate = ["-o".to_owned(), "rlc-nr.reassemble_am_frames:FALSE".to_owned()];
        let rows = rows(&datagrams, &separate, &fields);
        assert_clean(&rows);
        let (mut segments, mut ranges, mut parts) = (0, 0, 0);
        for ((direction, pdu), row) in pdus.iter().zip(&rows) {
            let cells: Vec<Vec<u32>> = row[3..].iter().map(|cell| numbers(cell)).collect();
            assert_eq!(cells[9..], [vec![u32::from(*direction == Direction::Downlink)], vec![7], vec![2]]);
            match AmPdu::parse(pdu, sn_length).expect("ours") {
                AmPdu::Data(data) => {
                    let so = if matches!(data.si, Si::Middle | Si::Last) { vec![u32::from(data.so)] } else { vec![] };
                    segments += so.len();
                    assert_eq!(cells[..4], [vec![data.sn], so, vec![u32::from(data.poll)], vec![data.si as u32]]);
                }
                AmPdu::Status(bytes) => {
                    let status = Status::new_checked(bytes, sn_length).expect("ours");
                    assert_eq!(cells[4], [status.ack_sn()]);
                    // Wireshark lists the numbers that a range covers too.
                    assert!(status.nacks().all(|nack| cells[5].contains(&nack.sn)), "{:?}", cells[5]);
                    let of = |pick: fn((u16, u16)) -> u16| -> Vec<u32> {
                        status.nacks().filter_map(|nack| nack.segment).map(|s| u32::from(pick(s))).collect()
                    };
                    assert_eq!(cells[6..8], [of(|segment| segment.0), of(|segment| segment.1)]);
                    let nack_ranges: Vec<u32> = status.nacks().filter(|nack| nack.range > 1).map(|nack| u32::from(nack.range)).collect();
                    ranges += nack_ranges.len();
                    parts += cells[6].len();
                    assert_eq!(cells[8], nack_ranges);
                }
            }
        }
        assert!(segments > 20 && ranges > 3 && parts > 3, "{segments} segments, {ranges} ranges, {parts} parts in {} PDUs", pdus.len());
    }
}

#[test]
fn wireshark_reads_every_um_pdu() {
    if !tshark() {
        return;
    }
    for (sn_length, bits) in [(UmSnLength::Bits6, 6), (UmSnLength::Bits12, 12)] {
        let mut tx = UmTx::new(sn_length, QueueLimits { sdus: 1000, bytes: 1 << 20 }).unwrap();
        (0..80).for_each(|tag| tx.enqueue(tag, vec![tag as u8; 10 + tag as usize * 3]).unwrap());
        let (mut pdus, mut pdu) = (Vec::new(), Vec::new());
        while tx.pull(90, &mut pdu).is_some() {
            pdus.push(std::mem::take(&mut pdu));
        }
        let datagrams: Vec<Vec<u8>> = pdus
            .iter()
            .map(|pdu| {
                let mut out = Vec::new();
                Rlc { mode: RlcMode::Um(bits), direction: Direction::Uplink, ue: 7, drb: 2 }.emit(pdu, &mut out);
                out
            })
            .collect();
        let rows = rows(&datagrams, &[], &["rlc-nr.um.sn", "rlc-nr.um.so", "rlc-nr.um.si"]);
        assert_clean(&rows);
        for (pdu, row) in pdus.iter().zip(&rows) {
            let read = Umd::parse(pdu, sn_length).expect("ours");
            let sn = if read.si == Si::Whole { vec![] } else { vec![read.sn] };
            let so = if matches!(read.si, Si::Middle | Si::Last) { vec![u32::from(read.so)] } else { vec![] };
            let cells: Vec<Vec<u32>> = row[3..].iter().map(|cell| numbers(cell)).collect();
            assert_eq!(cells, [sn, so, vec![read.si as u32]]);
        }
        assert!(pdus.len() > 150);
    }
}

const CIPHER_KEY: [u8; 16] = [0x11; 16];
const INTEGRITY_KEY: [u8; 16] = [0x22; 16];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// PDUs of a bearer with the users' packets, in order.
fn pdcp_pdus(format: Format, security: &Security, engine: &mut Engine, sdus: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let config = TxConfig {
        format,
        acknowledged: false,
        window: 1,
        queue_sdus: 10_000,
        bytes: 1 << 24,
        discard_ns: None,
        guard: CountGuard::default(),
    };
    let mut tx = Tx::new(config).unwrap();
    sdus.iter().for_each(|sdu| tx.enqueue(sdu.clone(), 0).unwrap());
    let mut packets: Vec<_> = std::iter::from_fn(|| tx.pull(0, &mut |_| {})).collect();
    security.run(engine, &mut packets);
    packets.into_iter().map(|packet| tx.finish(packet).expect("run").1).collect()
}

fn users_packets(many: u32) -> Vec<Vec<u8>> {
    let ue = Ipv4Addr::new(10, 45, 0, 2);
    (0..many).map(|number| packet(Ipv4Addr::new(198, 51, 100, 1), ue, PORT, PORT, &vec![number as u8; 1 + number as usize % 200])).collect()
}

fn pdcp_options(integrity_key: &[u8]) -> Vec<String> {
    let zeros = hex(&[0; 16]);
    let keys = format!("uat:pdcp_nr_ue_keys:\"7\",\"{zeros}\",\"{}\",\"{zeros}\",\"{}\"", hex(&CIPHER_KEY), hex(integrity_key));
    let preferences = [
        keys,
        "pdcp-nr.default_ciphering_algorithm:nea2".into(),
        "pdcp-nr.default_integrity_algorithm:nia2".into(),
        "pdcp-nr.decipher_userplane:TRUE".into(),
        "pdcp-nr.check_sequence_numbers:pdcp-only".into(),
    ];
    preferences.into_iter().flat_map(|preference| ["-o".to_owned(), preference]).collect()
}

#[test]
fn wireshark_deciphers_nea2_and_verifies_nia2() {
    if !tshark() {
        return;
    }
    let mut engine = Engine::new(Choice::Portable).unwrap();
    let sdus = users_packets(60);
    for (sn_length, bits) in [(SnLength::Bits12, 12), (SnLength::Bits18, 18)] {
        for (direction, drb) in [(Direction::Downlink, 1), (Direction::Uplink, 3)] {
            let format = Format { kind: Kind::Drb, sn_length, integrity: true, sdap_header: false };
            let security = Security {
                cipher: Some(Arc::new(engine.cipher_key(Nea::Nea2, &CIPHER_KEY))),
                integrity: Some(Arc::new(engine.integrity_key(Nia::Nia2, &INTEGRITY_KEY))),
                bearer: drb - 1,
                direction,
            };
            let datagrams: Vec<Vec<u8>> = pdcp_pdus(format, &security, &mut engine, &sdus)
                .iter()
                .map(|pdu| {
                    let mut out = Vec::new();
                    let framing = Pdcp { sn_bits: bits, direction, ue: 7, drb, mac_i: true, sdap_header: false, plain: false };
                    framing.emit(pdu, &mut out);
                    out
                })
                .collect();
            let fields = ["pdcp-nr.seq-num", "ip.dst", "udp.dstport", "udp.length", "udp.checksum.status"];
            let read = rows(&datagrams, &pdcp_options(&INTEGRITY_KEY), &fields);
            assert_clean(&read);
            for (number, (row, sdu)) in read.iter().zip(&sdus).enumerate() {
                assert_eq!(row[3], [number.to_string()], "sequence number");
                assert_eq!(row[4].last().map(String::as_str), Some("10.45.0.2"), "deciphered: {row:?}");
                assert_eq!(row[5].last(), Some(&PORT.to_string()));
                assert_eq!(row[6].last(), Some(&(sdu.len() - 20).to_string()));
            }
            // A MAC-I that it computes otherwise is a warning: with another key each PDU has one.
            let wrong = rows(&datagrams, &pdcp_options(&[0x23; 16]), &fields);
            let warned = wrong.iter().filter(|row| row[2].iter().any(|message| message.contains("MAC"))).count();
            assert_eq!(warned, sdus.len(), "{:?}", wrong[0]);
        }
    }
}

#[test]
fn wireshark_reads_sdap_headers_and_status_reports() {
    if !tshark() {
        return;
    }
    let (id, qfi) = (DrbId::new(4).expect("1 to 32"), Qfi::new(9).expect("below 64"));
    let drb = Drb { id, uplink_header: true, downlink_header: true };
    let config = Config { drbs: vec![drb], default_drb: Some(id), flows: vec![(qfi, id)], reflective: Vec::new() };
    let (mut gnb, mut ue) = (Gnb::new(&config).unwrap(), Ue::new(&config).unwrap());
    let mut engine = Engine::new(Choice::Portable).unwrap();
    let format = Format { kind: Kind::Drb, sn_length: SnLength::Bits18, integrity: false, sdap_header: true };
    for direction in [Direction::Downlink, Direction::Uplink] {
        let header = match direction {
            Direction::Downlink => gnb.downlink(qfi, true).unwrap().header,
            Direction::Uplink => ue.uplink(qfi).unwrap().header,
        };
        let sdus: Vec<Vec<u8>> = users_packets(20).iter().map(|sdu| header.iter().chain(sdu).copied().collect()).collect();
        let security = Security { cipher: None, integrity: None, bearer: 3, direction };
        let mut pdus = pdcp_pdus(format, &security, &mut engine, &sdus);
        // What the other side has: all but 2, 5 and 6.
        let config = RxConfig {
            format,
            acknowledged: true,
            window: 512,
            bytes: 1 << 20,
            reordering_ns: None,
            out_of_order: false,
            guard: CountGuard::default(),
        };
        let mut rx = Rx::new(config).unwrap();
        for (_, pdu) in pdus.iter().enumerate().filter(|(at, _)| ![2, 5, 6].contains(at)) {
            let Ok(Prepared::Data(packet)) = rx.prepare(pdu.clone()) else { panic!("data") };
            let mut packets = [packet];
            security.run(&mut engine, &mut packets);
            let [packet] = packets;
            rx.finish(packet, 0, &mut |_, _| {}).unwrap();
        }
        let mut report = Vec::new();
        rx.status_report(&mut report);
        pdus.push(report);
        let datagrams: Vec<Vec<u8>> = pdus
            .iter()
            .map(|pdu| {
                let mut out = Vec::new();
                Pdcp { sn_bits: 18, direction, ue: 7, drb: 4, mac_i: false, sdap_header: true, plain: true }.emit(pdu, &mut out);
                out
            })
            .collect();
        let fields = ["pdcp-nr.seq-num", "sdap.qfi", "sdap.rqi", "udp.dstport", "pdcp-nr.fmc", "pdcp-nr.bitmap"];
        let rows = rows(&datagrams, &[], &fields);
        assert_clean(&rows);
        let (report, data) = rows.split_last().expect("rows");
        for (number, row) in data.iter().enumerate() {
            let rqi: &[&str] = if direction == Direction::Downlink { &["1"] } else { &[] };
            assert_eq!((row[3].clone(), row[4].clone()), (vec![number.to_string()], vec!["9".to_owned()]));
            assert_eq!(row[5], rqi);
            assert_eq!(row[6].last(), Some(&PORT.to_string()));
        }
        assert_eq!(report[7], ["2"], "the first that is missing");
        // 3 and 4 are there, 5 and 6 are not, 7 to 19 are.
        assert!(!report[8].is_empty(), "{report:?}");
    }
}

/// A G-PDU with the frame in its NR RAN container (TS 29.281 §5.1, §5.2.1).
fn g_pdu(frame: &Frame) -> Vec<u8> {
    let mut out = vec![0x34, 255, 0, 0, 0, 0, 0, 9, 0, 0, 0, nru::EXTENSION_TYPE];
    frame.emit(0, &mut out);
    let length = (out.len() - 8) as u16;
    out[2..4].copy_from_slice(&length.to_be_bytes());
    out
}

#[test]
fn wireshark_reads_each_field_of_nr_u_frames() {
    if !tshark() {
        return;
    }
    let data = UserData {
        sn: 0x12_3456,
        report_polling: true,
        retransmission: true,
        flush: Some(70_000),
        discard: vec![Block { start: 5, many: 2 }, Block { start: 70_001, many: 9 }],
        report_delivered: Some(99),
        ..UserData::default()
    };
    let status = DeliveryStatus {
        desired_buffer: 1_000_000,
        desired_rate: Some(125_000),
        final_frame: true,
        lost: vec![(7, 9), (20, 20)],
        highest_delivered: Some(262_143),
        highest_transmitted: Some(3),
        cause: Some(1),
        delivered_retransmitted: Some(44),
        retransmitted: Some(45),
        ..DeliveryStatus::default()
    };
    let plain = UserData { sn: 1, ..UserData::default() };
    let frames = [Frame::UserData(data), Frame::DeliveryStatus(status), Frame::UserData(plain)];
    let datagrams: Vec<Vec<u8>> = frames.iter().map(g_pdu).collect();
    let fields = [
        "nrup.pdu_type",
        "nrup.seq_num",
        "nrup.report_polling",
        "nrup.retransmission_flag",
        "nrup.dl_disc_nr_pdcp_pdu_sn",
        "nrup.dl_disc_nr_pdcp_pdu_sn_start",
        "nrup.disc_blk_sz",
        "nrup.dl_report_nr_pdcp_pdu_sn",
        "nrup.desrd_buff_sz_data_radio_bearer",
        "nrup.desrd_data_rate",
        "nrup.start_num_lost_nru_seq_num",
        "nrup.end_num_lost_nru_seq_num",
        "nrup.high_success_delivered_nr_pdcp_sn",
        "nrup.high_tx_nr_pdcp_sn",
        "nrup.cause_val",
        "nrup.high_success_delivered_retx_nr_pdcp_sn",
        "nrup.high_retx_nr_pdcp_sn",
    ];
    let options = ["-d".to_owned(), "udp.port==40002,gtp".to_owned()];
    let rows = rows(&datagrams, &options, &fields);
    assert_clean(&rows);
    let cells: Vec<Vec<Vec<u32>>> = rows.iter().map(|row| row[3..].iter().map(|cell| numbers(cell)).collect()).collect();
    let of = |values: &[&[u32]]| -> Vec<Vec<u32>> { values.iter().map(|values| values.to_vec()).collect() };
    let none: &[u32] = &[];
    let expected = [&[0][..], &[0x12_3456], &[1], &[1], &[70_000], &[5, 70_001], &[2, 9], &[99]];
    assert_eq!(cells[0], of(&[&expected[..], &[none; 9]].concat()));
    let expected = [&[1_000_000][..], &[125_000], &[7, 20], &[9, 20], &[262_143], &[3], &[1], &[44], &[45]];
    assert_eq!(cells[1], of(&[&[&[1][..]][..], &[none; 7], &expected].concat()));
    assert_eq!(cells[2], of(&[&[&[0][..], &[1], &[0], &[0]][..], &[none; 13]].concat()));
}
