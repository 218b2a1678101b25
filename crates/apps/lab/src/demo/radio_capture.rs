//! What does tshark, which knows nothing of us, say of a capture of the radio?

use super::checks::Checks;
use daemon::failure::Failure;
use gnb::framing::{Pdcp, Rlc, RlcMode};
use gnb::rlc::SnLength;
use gnb::rlc::pdu::{AmPdu, Si};
use pktio::{PcapReader, PcapWriter};
use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use wire::ethernet::Mac;

/// Checks that tshark, which knows nothing of us, reads every RLC PDU of a capture. That a STATUS names what is missing is a warning of its
/// own, and what a radio that loses is for.
pub(super) fn decodes(checks: &mut Checks, capture: &Path) -> Result<(), Failure> {
    let path = capture.display().to_string();
    let tshark = |filter: &str| {
        // It is not to put segments together: what was lost behind the capture is there twice, cut in other places.
        let read = ["-r", &path, "--enable-heuristic", "rlc_nr_udp", "-o", "rlc-nr.reassemble_am_frames:FALSE"];
        let print = ["-Y", filter, "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message"];
        let output = std::process::Command::new("tshark").args(read).args(print).output();
        let output = output.map_err(|e| Failure::Usage(format!("cannot run tshark: {e}; `make setup` installs it")))?;
        Ok::<Vec<String>, Failure>(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    };
    let (frames, pdus) = (tshark("frame")?.len(), tshark("rlc-nr")?.len());
    checks.check(pdus > 0 && frames == pdus, "tshark reads every datagram of the radio as RLC", &format!("{pdus} of {frames}"));
    let warned = tshark("_ws.expert.severity >= 6291456 && !(_ws.expert.message contains \"NACK\")")?;
    let seen = warned.first().map_or_else(|| "no warnings".to_owned(), |first| format!("{} warnings, first: {first}", warned.len()));
    checks.check(warned.is_empty(), "and warns of nothing in them", &seen);
    Ok(())
}

/// A bearer of RLC AM and PDCP with 18 bits, NEA2 and NIA2, and without SDAP header: its keys as hexadecimal digits.
pub(super) struct Bearer {
    pub(super) ue: u16,
    pub(super) cipher_key: String,
    pub(super) integrity_key: String,
}

/// Checks that tshark deciphers and verifies a bearer's PDUs, those that one RLC PDU holds: what was cut it would have to put together, with what was lost
/// behind the capture among it. `pdus` is the capture that they are put into.
pub(super) fn deciphers(checks: &mut Checks, capture: &Path, bearer: &Bearer, pdus: &Path) -> Result<(), Failure> {
    let fail = |e: pktio::PortError| Failure::Failed(e.to_string());
    let mut writer = PcapWriter::<std::fs::File>::create(pdus).map_err(fail)?;
    let (mut seen, mut written) = (HashSet::new(), 0);
    for packet in PcapReader::<std::fs::File>::open(capture).map_err(fail)? {
        let packet = packet.map_err(fail)?;
        let Some((direction, sn, pdu)) = whole_pdu(&packet.data, bearer) else { continue };
        // What was sent again is the same.
        if seen.insert((direction == ciphering::Direction::Uplink, sn)) {
            writer.write(packet.time_ns, &framed(direction, bearer, pdu)).map_err(fail)?;
            written += 1;
        }
    }
    writer.flush().map_err(fail)?;
    let (all, users) =
        (tshark(pdus, bearer, &bearer.integrity_key, "pdcp-nr")?, tshark(pdus, bearer, &bearer.integrity_key, IS_DECIPHERED)?);
    let number = format!("{} of {written}, {} of them users' packets", all.len(), users.len());
    checks.check(written > 20 && all.len() == written && users.len() == written, "tshark deciphers NEA2", &number);
    let warned: Vec<&String> = all.iter().filter(|line| line.contains("MAC") || line.contains("Malformed")).collect();
    checks.check(warned.is_empty(), "and verifies NIA2", &warned.first().map_or_else(|| "no warnings".to_owned(), |line| line.to_string()));
    // With another key it says that they are wrong: so it has looked. It does not where what is in a user's packet ends its reading before.
    let other = tshark(pdus, bearer, &bearer.cipher_key, "pdcp-nr")?;
    let wrong = other.iter().filter(|line| line.contains("MAC")).count();
    checks.check(wrong * 10 >= written * 9, "and finds them wrong with another key", &format!("{wrong} of {written}"));
    Ok(())
}

/// Behind our own IPv4 header there is another, or one of IPv6.
const IS_DECIPHERED: &str = "pdcp-nr && (ipv6 || ip.version#2 == 4)";

/// Lines of frame number and expert information.
fn tshark(pdus: &Path, bearer: &Bearer, integrity_key: &str, filter: &str) -> Result<Vec<String>, Failure> {
    let zeros = "0".repeat(32);
    let keys = format!("uat:pdcp_nr_ue_keys:\"{}\",\"{zeros}\",\"{}\",\"{zeros}\",\"{integrity_key}\"", bearer.ue, bearer.cipher_key);
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(pdus).args(["--enable-heuristic", "pdcp_nr_udp", "-o", &keys]);
    for preference in [
        "pdcp-nr.default_ciphering_algorithm:nea2",
        "pdcp-nr.default_integrity_algorithm:nia2",
        "pdcp-nr.decipher_userplane:TRUE",
        // COUNT is known only to what follows the numbers.
        "pdcp-nr.check_sequence_numbers:pdcp-only",
        // What one direction of a connection shows of it is its own affair.
        "tcp.analyze_sequence_numbers:FALSE",
    ] {
        command.args(["-o", preference]);
    }
    command.args(["-Y", filter, "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message"]);
    let output = command.output().map_err(|e| Failure::Usage(format!("cannot run tshark: {e}; `make setup` installs it")))?;
    if !output.status.success() {
        return Err(Failure::Failed(format!("tshark: {}", String::from_utf8_lossy(&output.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// The PDCP data PDU of the bearer that is all of an RLC PDU, with its direction and RLC's number.
fn whole_pdu<'a>(frame: &'a [u8], bearer: &Bearer) -> Option<(ciphering::Direction, u32, &'a [u8])> {
    let ipv4 = wire::ipv4::Packet::new_checked(wire::ethernet::Frame::new_checked(frame).ok()?.payload()).ok()?;
    let udp = wire::udp::Datagram::new_checked(ipv4.payload()).ok()?;
    let (of, pdu) = Rlc::parse(udp.payload()).ok()?;
    if of.ue != bearer.ue || of.mode != RlcMode::Am(18) {
        return None;
    }
    match AmPdu::parse(pdu, SnLength::Bits18).ok()? {
        AmPdu::Data(data) if data.si == Si::Whole && data.data.first().is_some_and(|first| first & 0x80 != 0) => {
            Some((of.direction, data.sn, data.data))
        }
        _ => None,
    }
}

/// The PDU as a frame that tshark's `pdcp_nr_udp` reads, on ports that no dissector claims.
fn framed(direction: ciphering::Direction, bearer: &Bearer, pdu: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    Pdcp { sn_bits: 18, direction, ue: bearer.ue, drb: 1, mac_i: true, sdap_header: false, plain: false }.emit(pdu, &mut datagram);
    let (src, dst) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2));
    let mut frame = Vec::new();
    wire::ethernet::Repr { dst: Mac([2, 0, 0, 0, 0, 2]), src: Mac([2, 0, 0, 0, 0, 1]), ethertype: wire::ethernet::IPV4 }.emit(&mut frame);
    let payload_len = datagram.len() + 8;
    wire::ipv4::Repr { src, dst, protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
    wire::udp::Repr { src_port: 41_111, dst_port: 41_112 }.emit_ipv4(src, dst, &datagram, &mut frame);
    frame
}
