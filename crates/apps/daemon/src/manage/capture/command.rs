//! `splitplane trace live` and `splitplane capture`: what a running UPF does with real packets, one by one.

use crate::manage::capture::pcapng::{PcapFile, verdict};
use crate::manage::capture::{LookQuery, SeenPacket};
use crate::manage::control::{MAX_REQUEST, Reply, Request, path_to_ask};
use crate::manage::socket::ask;
use cli::failure::Failure;
use cli::input::{Input, Next};
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
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::manage::capture::MOST)))]
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
                cli::output::print_out(format_args!("{text}\n"))?;
            } else {
                cli::output::print_out(text(number, packet))?;
            }
        }
        Ok(())
    })?;
    if !*json {
        cli::output::print_out(summary(seen, missed))?;
    }
    Ok(())
}

/// Runs `capture`.
pub fn capture(args: &CaptureArgs) -> Result<(), Failure> {
    // What users send is nobody else's business.
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&args.write);
    let mut file = file.and_then(|file| PcapFile::new(BufWriter::new(file))).map_err(|e| failed(&args.write, &e))?;
    let (seen, missed) = look(&args.which, args.count, false, |packets| {
        packets.iter().try_for_each(|packet| file.write(packet)).and_then(|()| file.get_mut().flush()).map_err(|e| failed(&args.write, &e))
    })?;
    cli::output::print_out(format_args!("{}: {}", args.write.display(), summary(seen, missed)))
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

fn text(number: u64, packet: &SeenPacket) -> String {
    let mut text = format!("packet {number}: {} bytes on {}: {}\n", packet.packet.len() / 2, packet.port, verdict(packet));
    for line in packet.story.iter().flat_map(|story| story.lines()) {
        text += &format!("  {line}\n");
    }
    text
}
