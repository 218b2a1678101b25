//! `splitplane trace live` and `splitplane capture`: what a running UPF does with real packets, one by one.

use crate::control::{MAX_REQUEST, Reply, Request, path_to_ask};
use crate::control_socket::ask;
use crate::failure::Failure;
use crate::input::{Input, Next};
use crate::look::{LookQuery, SeenPacket};
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Which packets, and how long.
#[derive(clap::Args, Debug)]
struct Which {
    /// The UPF's socket, as for `show`.
    #[arg(long)]
    socket: Option<PathBuf>,
    /// Only packets to and from this address of a UE; of IPv6 the /64 counts.
    #[arg(long)]
    ue: Option<IpAddr>,
    /// Only packets that the program drops.
    #[arg(long)]
    dropped: bool,
    /// Ends after so many seconds.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

/// Options of `trace`.
#[derive(clap::Subcommand, Debug)]
pub enum TraceCommand {
    /// Explains real packets: the steps of each through the program, by the entries that the tables have.
    Live(LiveArgs),
}

/// Options of `trace live`.
#[derive(clap::Args, Debug)]
pub struct LiveArgs {
    #[command(flatten)]
    which: Which,
    /// Ends after so many packets.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
    /// Prints a line of JSON for each packet: docs/operating.md has the fields.
    #[arg(long)]
    json: bool,
}

/// Options of `capture`.
#[derive(clap::Args, Debug)]
pub struct CaptureArgs {
    #[command(flatten)]
    which: Which,
    /// The file: pcapng, a comment on each packet says what became of it.
    #[arg(long)]
    write: PathBuf,
    /// Ends after so many packets.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::look::MOST)))]
    count: u32,
}

/// Runs `trace`.
pub fn trace(command: &TraceCommand) -> Result<(), Failure> {
    let TraceCommand::Live(LiveArgs { which, count, json }) = command;
    let mut number = 0;
    let (seen, missed) = look(which, *count, true, |packets| {
        for packet in packets {
            number += 1;
            if *json {
                let text = serde_json::to_string(packet).map_err(|e| Failure::Failed(e.to_string()))?;
                crate::output::print_out(format_args!("{text}\n"))?;
            } else {
                crate::output::print_out(text(number, packet))?;
            }
        }
        Ok(())
    })?;
    if !*json {
        crate::output::print_out(summary(seen, missed))?;
    }
    Ok(())
}

/// Runs `capture`.
pub fn capture(args: &CaptureArgs) -> Result<(), Failure> {
    // What users send is nobody else's business.
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&args.write);
    let mut file = file.and_then(|file| PcapFile::new(BufWriter::new(file))).map_err(|e| failed(&args.write, &e))?;
    let (seen, missed) = look(&args.which, args.count, false, |packets| {
        packets.iter().try_for_each(|packet| file.write(packet)).and_then(|()| file.flush()).map_err(|e| failed(&args.write, &e))
    })?;
    crate::output::print_out(format_args!("{}: {}", args.write.display(), summary(seen, missed)))
}

fn failed(path: &Path, e: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(format!("cannot write {}: {e}", path.display()))
}

fn summary(seen: u64, missed: u64) -> String {
    match missed {
        0 => format!("{seen} packets\n"),
        _ => format!("{seen} packets; {missed} more came too fast to be copied\n"),
    }
}

/// Looks until there are so many packets, the time is over, or SIGINT or SIGTERM comes; how many were seen, and missed.
fn look(which: &Which, count: u32, story: bool, mut each: impl FnMut(&[SeenPacket]) -> Result<(), Failure>) -> Result<(u64, u64), Failure> {
    let input = Input::listen(false)?;
    let path = which.socket.clone().unwrap_or_else(path_to_ask);
    let asked = |request: &Request| match ask(&path, request, MAX_REQUEST)? {
        Reply::Error { message } => Err(Failure::Failed(message)),
        reply => Ok(reply),
    };
    let unexpected = || Failure::Failed("the UPF answered something else".into());
    let query = LookQuery { ue: which.ue, dropped: which.dropped, count };
    let Reply::Looking { id } = asked(&Request::Look(query))? else { return Err(unexpected()) };
    let end = Instant::now() + Duration::from_secs(which.seconds);
    let (mut seen, mut missed) = (0, 0);
    while Instant::now() < end && !matches!(input.next(Duration::ZERO), Next::End) {
        let Reply::Seen(part) = asked(&Request::Seen { id, story })? else { return Err(unexpected()) };
        each(&part.packets)?;
        seen += part.packets.len() as u64;
        missed = part.missed;
        if part.left == 0 && part.packets.is_empty() || seen >= u64::from(count) {
            break;
        }
    }
    // One that has been followed by another is over already.
    let _ = asked(&Request::EndLook { id });
    Ok((seen, missed))
}

/// What became of a packet, in one line.
fn verdict(packet: &SeenPacket) -> String {
    let SeenPacket { verdict, reason, to, target, .. } = packet;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let to = to.as_ref().map_or(String::new(), |to| format!(" to {to}"));
    format!("{verdict}{to}{reason}, by {target}")
}

fn text(number: u64, packet: &SeenPacket) -> String {
    let mut text = format!("packet {number}: {} bytes on {}: {}\n", packet.packet.len() / 2, packet.port, verdict(packet));
    for line in packet.story.iter().flat_map(|story| story.lines()) {
        text += &format!("  {line}\n");
    }
    text
}

/// A pcapng file (draft-ietf-opsawg-pcapng): an interface for each port.
struct PcapFile<W: Write> {
    out: PcapNgWriter<W>,
    ports: Vec<String>,
}

impl<W: Write> PcapFile<W> {
    fn new(out: W) -> std::io::Result<PcapFile<W>> {
        Ok(PcapFile { out: PcapNgWriter::new(out).map_err(io)?, ports: Vec::new() })
    }

    fn write(&mut self, packet: &SeenPacket) -> std::io::Result<()> {
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

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.get_mut().flush()
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
