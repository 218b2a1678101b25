//! `splitplane-lab bench ports`: what do the ports of the running daemon carry, where TCP meets them?
//!
//! Real TCP of the kernel goes through the daemon over veth pairs in namespaces of its own (as root): the whole UPF, a user's PDRs with an MBR and a URR. The
//! contestants are the daemon's drivers, and, as the measure, the kernel itself, which forwards the same connections without a tunnel, with segmentation
//! offload and without. All stand side by side, and have their rounds in turn.
//!
//! Two figures each: goodput by the clock, which senders, receivers and the gNodeB on the same cores limit too; and what a second of the daemon's own
//! processor time carries. Verified: every byte of every connection, the daemon's ledger, and that each user was charged what its gNodeB delivered.

use super::measure::{Rounds, process_seconds};
use super::options::Common;
use super::qos::flows;
use super::qos::place::{CONFIG, Running};
use super::report;
use crate::demo::netns::{Networks, Offloads};
use cli::failure::Failure;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;
use traffic::plan::Qos;

/// Rate of every user, in kbit/s: a meter is executed for each packet, and none is over it.
const MBR_KBPS: u64 = 100_000_000;
/// The user that the kernel forwards for has the address of the daemon's first one.
const USER: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 1);
/// MTU of the users' devices in bytes, and so of the path that the kernel forwards on: segments are alike.
const MTU: &str = "1400";

/// N3 and N6 behind the kernel's network, which routes between the TUN device and `n6`.
const UDP_TUN: &str = r#"
[n4]
listen = "127.0.0.1:8805"
peers = ["127.0.0.0/8"]
request_port = "source"
[[port]]
name = "n3"
driver = "udp"
listen = "10.3.0.1:2152"
role = "access"
network_instance = "access"
[[port]]
name = "n6"
driver = "tun"
interface = "sp-n6"
mtu = 1400
addresses = ["10.45.255.1/16"]
role = "core"
network_instance = "internet"
"#;

/// Options of `bench ports`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Who takes part.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [
        Contestant::AfPacket, Contestant::Single, Contestant::UdpTun, Contestant::AfXdp, Contestant::Kernel, Contestant::KernelSingle
    ])]
    contestants: Vec<Contestant>,
    /// Connections at a time.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8], value_parser = clap::value_parser!(u16).range(1..=64))]
    flows: Vec<u16>,
    /// Seconds of a round [default: 3; with --quick: 1].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Option<u64>,
    /// Rounds of each contestant; medians are shown [default: 3; with --quick: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=101))]
    rounds: Option<u32>,
    /// Runs everything short; the figures mean nothing.
    #[arg(long)]
    quick: bool,
    /// Writes the figures to this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Who carries the packets.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Contestant {
    /// The daemon over AF_PACKET.
    AfPacket,
    /// The same with `gso = false`: packet by packet to the kernel.
    Single,
    /// The daemon with N3 by a UDP socket and N6 by a TUN device, behind the kernel's own network.
    UdpTun,
    /// The daemon over AF_XDP, in copy mode; far ends without segmentation offload.
    AfXdp,
    /// The kernel's forwarding, without a tunnel.
    Kernel,
    /// The same without segmentation offload.
    KernelSingle,
}

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Contestant::AfPacket => "daemon, af_packet",
            Contestant::Single => "daemon, af_packet, gso = false",
            Contestant::UdpTun => "daemon, udp and tun",
            Contestant::AfXdp => "daemon, af_xdp (copy)",
            Contestant::Kernel => "kernel forwarding, no tunnel",
            Contestant::KernelSingle => "kernel forwarding, no offloads",
        }
    }

    fn offloads(self) -> Offloads {
        match self {
            Contestant::AfPacket | Contestant::Single | Contestant::UdpTun | Contestant::Kernel => Offloads::On,
            Contestant::AfXdp | Contestant::KernelSingle => Offloads::Off,
        }
    }

    /// The daemon's configuration; none of the kernel.
    fn config(self) -> Option<String> {
        let port = |settings: &str| CONFIG.replace("driver = \"auto\"\n", settings);
        match self {
            Contestant::AfPacket => Some(port("driver = \"af_packet\"\n")),
            Contestant::Single => Some(port("driver = \"af_packet\"\ngso = false\n")),
            Contestant::UdpTun => Some(UDP_TUN.to_owned()),
            Contestant::AfXdp => Some(port("driver = \"af_xdp\"\n")),
            Contestant::Kernel | Contestant::KernelSingle => None,
        }
    }
}

/// A contestant that stands.
struct Place {
    who: Contestant,
    running: Option<Running>,
    net: Networks,
    /// What the kernel had dropped between devices when this began.
    dropped_before: u64,
}

impl Place {
    fn make(who: Contestant) -> Result<Place, Failure> {
        let net = Networks::with_offloads(who.offloads())?;
        let to_kernel = || -> Result<(), Failure> {
            net.upf.ip(&["address", "add", "10.3.0.1/24", "dev", "n3"])?;
            net.upf.ip(&["address", "add", "10.6.0.1/24", "dev", "n6"])?;
            net.upf.sysctl("net.ipv4.ip_forward=1")
        };
        let running = match who.config() {
            Some(config) => {
                if who == Contestant::UdpTun {
                    to_kernel()?;
                }
                let user = Qos { mbr_kbps: Some((MBR_KBPS, MBR_KBPS)), ..Qos::default() };
                Some(Running::start(&net, &config, &[user])?)
            }
            None => {
                to_kernel()?;
                net.upf.ip(&["route", "add", "10.45.0.0/16", "via", "10.3.0.2"])?;
                net.ran.ip(&["address", "add", &format!("{USER}/32"), "dev", "lo"])?;
                net.ran.ip(&["route", "add", "default", "via", "10.3.0.1", "mtu", "lock", MTU])?;
                net.dn.ip(&["route", "replace", "10.45.0.0/16", "via", "10.6.0.1", "mtu", "lock", MTU])?;
                None
            }
        };
        Ok(Place { who, running, net, dropped_before: dropped_between_devices() })
    }

    fn user(&self) -> Ipv4Addr {
        self.running.as_ref().map_or(USER, |running| running.user(0))
    }

    /// One round, and how many bytes were compared in it.
    fn round(&self, flows: u16, uplink: bool, window: Duration) -> Result<([f64; 3], u64), Failure> {
        let times = || self.running.as_ref().map_or([0.0; 2], |running| [running.upf.id(), running.ran.id()].map(process_seconds));
        let carried = flows::carry(&self.net, self.user(), uplink, flows, window, times)?;
        let gbit = carried.bytes as f64 * 8.0 / 1e9;
        let per_second_of = |i: usize| gbit / (carried.after[i] - carried.before[i]);
        Ok(([gbit / carried.seconds, per_second_of(0), per_second_of(1)], carried.bytes))
    }

    /// Ends it and looks at its books.
    fn end(self) -> Result<Value, Failure> {
        let Place { who, running, net: _net, dropped_before } = self;
        let Some(running) = running else { return Ok(json!({ "contestant": who.name() })) };
        let (report, ran) = running.end()?;
        let lost: u64 = report.ports.values().map(|port| port.lost_before_us + port.lost_after_us).sum();
        let delivered: u64 = ran.ues.iter().map(|ue| ue.downlink.bytes).sum();
        let charged: u64 = report.sessions.iter().map(|session| session.downlink.bytes).sum();
        // What is lost behind the meter was charged, and is not delivered.
        let lost_there = ran.node.socket_drops.unwrap_or(0) + dropped_between_devices() - dropped_before;
        let lossless = lost == 0 && lost_there == 0 && report.dropped.values().all(|count| count.packets == 0);
        if charged < delivered || (lossless && charged != delivered) {
            return Err(Failure::Failed(format!(
                "{}: the user was charged {charged} bytes downlink, and {delivered} were delivered; {lost} frames were lost by ports, {lost_there} behind them",
                who.name()
            )));
        }
        Ok(json!({ "contestant": who.name(), "charged": charged, "lost_by_ports": lost, "dropped": report.dropped }))
    }
}

/// Frames that the kernel has dropped because a core's queue of them was full, of all network namespaces (the second column of /proc/net/softnet_stat).
fn dropped_between_devices() -> u64 {
    let text = std::fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    text.lines().filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()).sum()
}

/// Runs it; the figures as JSON.
pub(crate) fn ports(args: &Args) -> Result<Value, Failure> {
    if let Some(why) = crate::demo::lacks_root() {
        return Err(Failure::Usage(format!("bench ports: {why}")));
    }
    let machine = report::machine();
    report::print_machine(&machine);
    let seconds = args.seconds.unwrap_or(if args.quick { 1 } else { 3 });
    let rounds = args.rounds.unwrap_or(if args.quick { 1 } else { 3 });
    let window = Duration::from_secs(seconds);
    let cells: Vec<(u16, bool)> = args.flows.iter().flat_map(|flows| [(*flows, true), (*flows, false)]).collect();
    let steps = cells.len() * args.contestants.len() * rounds as usize;
    println!(
        "bench ports: TCP over veth, {} contestants, {rounds} rounds of {seconds} s in turns; about {:.0} s",
        args.contestants.len(),
        steps as f64 * (seconds as f64 + flows::WARM_UP.as_secs_f64()) + 10.0
    );
    let places = args.contestants.iter().map(|who| Place::make(*who)).collect::<Result<Vec<_>, _>>()?;
    let progress = report::progress(steps as u64);
    let mut measured = vec![vec![([Rounds::default(), Rounds::default(), Rounds::default()], 0); places.len()]; cells.len()];
    for _ in 0..rounds {
        for ((flows, uplink), of_cell) in cells.iter().zip(&mut measured) {
            for (place, (figures, verified)) in places.iter().zip(of_cell) {
                let (round, bytes) = place.round(*flows, *uplink, window)?;
                figures.iter_mut().zip(round).for_each(|(rounds, figure)| rounds.0.push(figure));
                *verified += bytes;
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    let mut rows = Vec::new();
    for ((flows, uplink), of_cell) in cells.iter().zip(&measured) {
        let direction = if *uplink { "uplink" } else { "downlink" };
        println!("\n{flows} connection{}, {direction}", if *flows == 1 { "" } else { "s" });
        println!(
            "  {:<32} {:>22} {:>12} {:>24} {:>22}",
            "", "Gbit/s by the clock", "of kernel's", "a second of the daemon", "of the gNodeB"
        );
        let kernel = args.contestants.iter().position(|who| *who == Contestant::Kernel).map(|at| &of_cell[at].0[0]);
        for (who, ([clock, daemon, ran], verified)) in args.contestants.iter().zip(of_cell) {
            let ratio = kernel.map(|kernel| clock.ratio(kernel).median());
            let show = |rounds: &Rounds| {
                let (low, high) = rounds.spread();
                format!("{:.2} ({low:.2} to {high:.2})", rounds.median())
            };
            let of_daemon = who.config().map(|_| [daemon, ran].map(show)).unwrap_or_default();
            let ratio_text = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            println!("  {:<32} {:>22} {ratio_text:>12} {:>24} {:>22}", who.name(), show(clock), of_daemon[0], of_daemon[1]);
            let mut row = json!({
                "contestant": who.name(), "flows": flows, "direction": direction, "clock_gbps": clock.json(), "of_kernel": ratio,
                "verified": verified,
            });
            if who.config().is_some() {
                (row["daemon_gbit_per_cpu_second"], row["gnodeb_gbit_per_cpu_second"]) = (daemon.json(), ran.json());
            }
            rows.push(row);
        }
    }
    let books = places.into_iter().map(Place::end).collect::<Result<Vec<_>, _>>()?;
    let figures = json!({ "bench": "ports", "machine": machine, "rows": rows, "books": books });
    let mut common = Common::of(rounds, window, args.quick);
    common.json.clone_from(&args.json);
    common.write(&figures)?;
    Ok(figures)
}
