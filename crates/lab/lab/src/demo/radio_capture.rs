//! What does tshark, which knows nothing of us, say of captures of the radio, of N3 and of F1-U?

use super::checks::Checks;
use cli::failure::Failure;
use gnb::framing::{Pdcp, Rlc, RlcMode};
use gnb::rlc::SnLength;
use gnb::rlc::pdu::{AmPdu, Amd, Si};
use pktio::{PcapReader, PcapWriter};
use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use wire::ethernet::Mac;

/// Checks that tshark, which knows nothing of us, reads every RLC PDU of a capture. That a STATUS names what is missing is a warning of its
/// own, and what a radio that loses is for.
pub(super) fn decodes(checks: &mut Checks, capture: &Path) -> Result<(), Failure> {
    // It is not to put segments together: what was lost behind the capture is there twice, cut in other places.
    let options = ["--enable-heuristic", "rlc_nr_udp", "-o", "rlc-nr.reassemble_am_frames:FALSE"];
    all_are_read(checks, capture, "the radio as RLC", &options, "rlc-nr", " && !(_ws.expert.message contains \"NACK\")")
}

/// Checks that tshark reads every frame of a capture of N3 as a user's packet, or a message, of GTP-U.
pub(super) fn reads_n3(checks: &mut Checks, capture: &Path) -> Result<(), Failure> {
    // A user's connection is its own affair: it may be reset, and what is in it is random.
    let options = ["--disable-protocol", "tcp"];
    let is_whole = "(gtp.message == 255 && gtp.ext_hdr.pdu_ses_con.pdu_type && (ipv6 || ip.version#2 == 4)) || (gtp && gtp.message != 255)";
    all_are_read(checks, capture, "N3 as GTP-U", &options, is_whole, "")
}

/// Checks that tshark reads every frame of a capture of F1-U as GTP-U with what TS 38.425 says of it.
pub(super) fn reads_f1u(checks: &mut Checks, capture: &Path) -> Result<(), Failure> {
    // A G-PDU of F1-U has PDCP in it, and no user's packet.
    let options = ["-o", "gtp.dissect_tpdu_as:None"];
    all_are_read(checks, capture, "F1-U as GTP-U", &options, "gtp", "")?;
    let containers = tshark_lines(capture, &options, "nrup")?.len();
    checks.check(containers > 0, "and NR RAN containers of TS 38.425 among them", &containers.to_string());
    Ok(())
}

/// Checks that as many frames as a capture has satisfy `filter`, and that none has a warning of tshark's but for those that `but` leaves out.
fn all_are_read(checks: &mut Checks, capture: &Path, what: &str, options: &[&str], filter: &str, but: &str) -> Result<(), Failure> {
    let frames = PcapReader::<std::fs::File>::open(capture).map_err(|e| Failure::Failed(e.to_string()))?.count();
    let read = tshark_lines(capture, options, filter)?.len();
    checks.check(read > 0 && frames == read, &format!("tshark reads every frame of {what}"), &format!("{read} of {frames}"));
    // 0x600000 is a warning, errors are above it; a malformed frame has one.
    let warned = tshark_lines(capture, options, &format!("(_ws.expert.severity >= 6291456 || _ws.malformed){but}"))?;
    let seen = warned.first().map_or_else(|| "no warnings".to_owned(), |first| format!("{} warnings, first: {first}", warned.len()));
    checks.check(warned.is_empty(), "and warns of nothing in them", &seen);
    Ok(())
}

/// Lines of frame number and expert information of the frames that satisfy `filter`.
fn tshark_lines(capture: &Path, options: &[&str], filter: &str) -> Result<Vec<String>, Failure> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(capture).args(options);
    command.args(["-Y", filter, "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message"]);
    let output = command.output().map_err(|e| Failure::Usage(format!("cannot run tshark: {e}; `make setup` installs it")))?;
    if !output.status.success() {
        return Err(Failure::Failed(format!("tshark: {}", String::from_utf8_lossy(&output.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// What tshark must be told of a bearer to read its PDCP. All have RLC AM and a MAC-I.
pub(super) struct Format {
    pub(super) ue: u16,
    /// Of RLC's and PDCP's sequence numbers.
    pub(super) sn_bits: u8,
    pub(super) sdap_header: bool,
}

/// How long segments may be apart, in ns: then the number is another SDU's.
const APART_NS: u64 = 1_000_000_000;

/// An SDU of RLC whose segments come.
#[derive(Default)]
struct Parts {
    since_ns: u64,
    bytes: Vec<Option<u8>>,
    len: Option<usize>,
}

impl Parts {
    /// Takes a segment; gives the SDU if it is whole. What came before may come again, cut in other places.
    fn add(&mut self, part: &Amd<'_>, now_ns: u64) -> Option<Vec<u8>> {
        if now_ns.saturating_sub(self.since_ns) > APART_NS {
            *self = Parts { since_ns: now_ns, ..Parts::default() };
        }
        let (start, end) = (usize::from(part.so), usize::from(part.so) + part.data.len());
        self.bytes.resize(self.bytes.len().max(end), None);
        self.bytes[start..end].iter_mut().zip(part.data).for_each(|(at, byte)| *at = Some(*byte));
        if part.si.ends() {
            self.len = Some(end);
        }
        let len = self.len?;
        self.bytes.get(..len)?.iter().copied().collect()
    }
}

/// Checks that tshark reads every PDCP PDU of all bearers in a capture of the radio. `pdus` is the capture that they are put into, each in a frame of its own with what
/// tshark must be told of its bearer: those of one RLC PDU, and those whose segments are all there.
pub(super) fn pdcp_decodes(checks: &mut Checks, capture: &Path, bearers: &[Format], pdus: &Path) -> Result<(), Failure> {
    let fail = |e: pktio::PortError| Failure::Failed(e.to_string());
    let mut writer = PcapWriter::<std::fs::File>::create(pdus).map_err(fail)?;
    let (mut parts, mut seen) = (HashMap::<_, Parts>::new(), HashSet::new());
    let (mut written, mut cut, mut data) = (0, 0, 0);
    for packet in PcapReader::<std::fs::File>::open(capture).map_err(fail)? {
        let packet = packet.map_err(fail)?;
        let Some((of, pdu)) = rlc_pdu(&packet.data) else { continue };
        let Some(bearer) = bearers.iter().find(|bearer| bearer.ue == of.ue && of.mode == RlcMode::Am(bearer.sn_bits)) else { continue };
        let sn_length = if bearer.sn_bits == 12 { SnLength::Bits12 } else { SnLength::Bits18 };
        let Ok(AmPdu::Data(part)) = AmPdu::parse(pdu, sn_length) else { continue };
        data += 1;
        let key = (of.ue, of.direction == ciphering::Direction::Uplink, part.sn);
        let whole = match part.si {
            Si::Whole => part.data.to_vec(),
            _ => match parts.entry(key).or_default().add(&part, packet.time_ns) {
                Some(whole) => {
                    parts.remove(&key);
                    cut += 1;
                    whole
                }
                None => continue,
            },
        };
        let told = Pdcp {
            sn_bits: bearer.sn_bits,
            direction: of.direction,
            ue: of.ue,
            drb: of.drb,
            mac_i: true,
            sdap_header: bearer.sdap_header,
            plain: false,
        };
        writer.write(packet.time_ns, &framed(&told, &whole)).map_err(fail)?;
        seen.insert(of.ue);
        written += 1;
    }
    writer.flush().map_err(fail)?;
    println!("       {data} RLC data PDUs hold {written} of PDCP, {cut} of them in segments");
    checks.check(seen.len() == bearers.len(), "each UE's PDCP is in the capture", &format!("{} of {}", seen.len(), bearers.len()));
    let mut options = vec!["--enable-heuristic", "pdcp_nr_udp"];
    for preference in [
        // Numbers are missing where the radio lost what is captured behind it, and twice where RLC sent them again.
        "pdcp-nr.check_sequence_numbers:no-analysis",
        // What is ciphered is no packet yet.
        "pdcp-nr.show_user_plane_as_ip:FALSE",
        // An algorithm without a key: the MAC-I is read, and not compared.
        "pdcp-nr.default_integrity_algorithm:nia2",
    ] {
        options.extend(["-o", preference]);
    }
    all_are_read(checks, pdus, "all bearers as PDCP", &options, "pdcp-nr.mac || pdcp-nr.control-pdu-type", "")
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
            let told = Pdcp { sn_bits: 18, direction, ue: bearer.ue, drb: 1, mac_i: true, sdap_header: false, plain: false };
            writer.write(packet.time_ns, &framed(&told, pdu)).map_err(fail)?;
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

/// The RLC PDU in a frame, and whose it is.
fn rlc_pdu(frame: &[u8]) -> Option<(Rlc, &[u8])> {
    let ethernet = wire::ethernet::Frame::new_checked(frame).ok()?;
    let ipv4 = wire::ipv4::Packet::new_checked(ethernet.payload()).ok()?;
    let udp = wire::udp::Datagram::new_checked(ipv4.payload()).ok()?;
    Rlc::parse(udp.payload()).ok()
}

/// The PDCP data PDU of the bearer that is all of an RLC PDU, with its direction and RLC's number.
fn whole_pdu<'a>(frame: &'a [u8], bearer: &Bearer) -> Option<(ciphering::Direction, u32, &'a [u8])> {
    let (of, pdu) = rlc_pdu(frame)?;
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
fn framed(told: &Pdcp, pdu: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    told.emit(pdu, &mut datagram);
    let (src, dst) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2));
    let mut frame = Vec::new();
    wire::ethernet::Repr { dst: Mac([2, 0, 0, 0, 0, 2]), src: Mac([2, 0, 0, 0, 0, 1]), ethertype: wire::ethernet::IPV4 }.emit(&mut frame);
    let payload_len = datagram.len() + 8;
    wire::ipv4::Repr { src, dst, protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
    wire::udp::Repr { src_port: 41_111, dst_port: 41_112 }.emit_ipv4(src, dst, &datagram, &mut frame);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(si: Si, so: u16, data: &[u8]) -> Amd<'_> {
        Amd { poll: false, si, sn: 7, so, data }
    }

    #[test]
    fn segments_make_an_sdu_in_any_order_and_cut_twice() {
        let mut parts = Parts::default();
        assert_eq!(parts.add(&part(Si::Last, 6, b"ghi"), 2_000_000_000), None);
        assert_eq!(parts.add(&part(Si::First, 0, b"abc"), 2_000_000_000), None);
        assert_eq!(parts.add(&part(Si::Middle, 4, b"efgh"), 2_000_000_001), None);
        assert_eq!(parts.add(&part(Si::Middle, 2, b"cd"), 2_000_000_002), Some(b"abcdefghi".to_vec()));
        // Long after, the number is another SDU's.
        let mut parts = Parts::default();
        assert_eq!(parts.add(&part(Si::First, 0, b"old"), 2_000_000_000), None);
        assert_eq!(parts.add(&part(Si::Last, 3, b"new"), 4_000_000_000), None);
        assert_eq!(parts.add(&part(Si::First, 0, b"not"), 4_000_000_000), Some(b"notnew".to_vec()));
    }
}
