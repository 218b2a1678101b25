//! `splitplane load`: the testers of the crate `load` as commands.

mod n4;

use clap::{Args, Subcommand};
use cli::failure::Failure;
use load::Direction;
use load::device::{self, Device};
use load::plan::{Plan, RFC2544_SIZES, Session, Sizes};
use load::rfc2544::{Search, Throughput, throughput};
use load::side::{Link, Side};
use load::tester::{Settings, Tester, clock};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::ethernet::Mac;

/// What is measured.
#[derive(Subcommand)]
pub(crate) enum LoadCommand {
    /// Sends at a rate for a time; counts, latencies, and RTT of what the sink mirrors.
    Run(RunArgs),
    /// Searches for the highest rate without loss by frame size, and measures latency at shares of it (RFC 2544 sections 26.1 and 26.2).
    Rfc2544(SearchArgs),
    /// Loads N4: session requests as an SMF sends them, as fast as they are answered or at a rate; counts, causes of refusals, latencies.
    N4(n4::Args),
}

/// Options of `load run`.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// Packets a second, up and down together; `max`: as many as go.
    #[arg(long, default_value = "max", value_parser = rate)]
    rate: Rate,
    /// Length in seconds.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Frames on the core side in bytes, check sequence included; or `imix`.
    #[arg(long, default_value = "imix")]
    size: Sizes,
    /// The sink sends one of so many packets back, for the RTT; 0: none. Replies come on top of the rate.
    #[arg(long, default_value_t = 0)]
    mirror: u32,
    #[command(flatten)]
    common: Common,
}

/// Options of `load rfc2544`.
#[derive(Args)]
pub(crate) struct SearchArgs {
    /// Frames on the core side in bytes, check sequence included; also `imix`.
    #[arg(long, value_delimiter = ',', default_values_t = RFC2544_SIZES.map(Sizes::Fixed))]
    sizes: Vec<Sizes>,
    /// Length of a trial in seconds. RFC 2544 asks for 60.
    #[arg(long, default_value_t = 10.0)]
    trial_seconds: f64,
    /// Where the search begins, in packets a second; `max`: at what the tester sends.
    #[arg(long, default_value = "max", value_parser = rate)]
    max_rate: Rate,
    /// The search ends when the rate is known to so many percent of the highest.
    #[arg(long, default_value_t = 1.0)]
    resolution: f64,
    /// Percent of the packets that may be lost. RFC 2544's throughput is that of 0.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// Latency is measured at these percents of the throughput.
    #[arg(long, value_delimiter = ',', default_values_t = [10, 50, 90], value_parser = clap::value_parser!(u32).range(1..=100))]
    loads: Vec<u32>,
    /// For latency, the sink sends one of so many packets back; 0: none.
    #[arg(long, default_value_t = 0)]
    mirror: u32,
    #[command(flatten)]
    common: Common,
}

/// Where, and whose packets.
#[derive(Args)]
struct Common {
    /// Our port on the access side (N3): auto:IF, af_xdp:IF, af_packet:IF, dpdk:DEVICE, udp:ADDRESS:PORT or tun:IF.
    #[arg(long)]
    access: Device,
    /// Our port on the core side (N6), in the same way.
    #[arg(long)]
    core: Device,
    /// No tunnels: plain IP on both sides, for a router or bridge. --gnb and --upf are then our address and the next hop on the access side.
    #[arg(long)]
    plain: bool,
    /// Our address on the access side, where downlink tunnels end [default: that of the records].
    #[arg(long, required_unless_present = "records")]
    gnb: Option<Ipv4Addr>,
    /// The device's address on the access side, where uplink tunnels end [default: that of the records].
    #[arg(long, required_unless_present = "records")]
    upf: Option<Ipv4Addr>,
    /// Next hop on the access side, if it is not --upf.
    #[arg(long)]
    access_gateway: Option<Ipv4Addr>,
    /// Our address on the core side, with which users speak.
    #[arg(long)]
    dn: Ipv4Addr,
    /// Next hop on the core side: the device's address there.
    #[arg(long, required_unless_present = "core_mac")]
    core_gateway: Option<Ipv4Addr>,
    /// MAC address of the next hop on the access side [default: asked for by ARP].
    #[arg(long, value_parser = mac)]
    access_mac: Option<Mac>,
    /// MAC address of the next hop on the core side [default: asked for by ARP].
    #[arg(long, value_parser = mac)]
    core_mac: Option<Mac>,
    /// Sessions: records that `splitplane smf --records` wrote.
    #[arg(long, conflicts_with_all = ["teid", "ue", "sessions", "gnb_teid", "qfi"])]
    records: Option<PathBuf>,
    /// Sessions, counted on from --ue, --teid and --gnb-teid.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=load::plan::MOST_SESSIONS as i64))]
    sessions: u32,
    /// The first UE's address.
    #[arg(long, default_value = "10.45.0.2")]
    ue: Ipv4Addr,
    /// The first uplink TEID, at the UPF.
    #[arg(long, default_value_t = 1)]
    teid: u32,
    /// The first downlink TEID, at the gNodeB.
    #[arg(long, default_value_t = 1)]
    gnb_teid: u32,
    /// QoS flow of uplink packets, in a PDU session container [default: none is sent].
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=63))]
    qfi: Option<u8>,
    /// Parts of the packets that go up and down; 0 for one direction alone.
    #[arg(long, default_value = "1:2", value_parser = ratio)]
    ratio: [f64; 2],
    /// Packets that have not arrived when nothing came for so many milliseconds are lost.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    drain_ms: u64,
    /// Threads that send and receive: one for both sides, or one each [default: 2 with more than 2 cores].
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    threads: Option<u8>,
    /// Writes the figures to this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Where tunnels end: at the UPF, and at the gNodeB.
type Ends = (Ipv4Addr, Ipv4Addr);

/// A rate in packets or requests a second, or as many as go. A type of its own: clap takes an `Option` for an option that may be absent.
#[derive(Clone, Copy, Debug)]
struct Rate(Option<f64>);

/// Runs it.
pub(crate) fn load(command: &LoadCommand) -> Result<(), Failure> {
    match command {
        LoadCommand::Run(args) => run(args),
        LoadCommand::Rfc2544(args) => search(args),
        LoadCommand::N4(args) => n4::n4(args),
    }
}

fn run(args: &RunArgs) -> Result<(), Failure> {
    let RunArgs { rate, seconds, size, mirror, common } = args;
    let settings = Settings {
        sizes: *size,
        ratio: common.ratio,
        rate: rate.0,
        seconds: *seconds,
        mirror: *mirror,
        drain_ns: common.drain_ms * 1_000_000,
    };
    let mut tester = common.tester(&settings)?;
    let trial = tester.trial(&settings).map_err(failure)?;
    cli::output::print_out(format_args!("{} sessions, {trial}", tester.sessions()))?;
    write(common.json.as_deref(), json!({ "load": "run", "sessions": tester.sessions(), "trial": trial }))?;
    if trial.misdelivered() > 0 {
        return Err(Failure::Failed(format!("{} packets arrived with another session's address or TEID", trial.misdelivered())));
    }
    match trial.flows.iter().all(|flow| flow.received == 0) {
        true => Err(Failure::Failed("no packet came through".into())),
        false => Ok(()),
    }
}

fn search(args: &SearchArgs) -> Result<(), Failure> {
    let SearchArgs { sizes, trial_seconds, max_rate, resolution, loss, loads, mirror, common } = args;
    let search = Search { max_pps: max_rate.0, resolution: resolution / 100.0, loss: loss / 100.0 };
    search.validate().map_err(failure)?;
    let first = Settings {
        sizes: sizes.first().copied().unwrap_or(Sizes::Imix),
        ratio: common.ratio,
        rate: search.max_pps,
        seconds: *trial_seconds,
        mirror: 0,
        drain_ns: common.drain_ms * 1_000_000,
    };
    let mut tester = common.tester(&first)?;
    println!("{} sessions, trials of {trial_seconds} s, up to {loss} % lost", tester.sessions());
    let mut all: Vec<Throughput> = Vec::new();
    for size in sizes {
        // Trials of the search go first: what the sink mirrors would be load on top.
        let settings = Settings { sizes: *size, ..first };
        let mut found = throughput(&search, size.mean(), |rate| tester.trial(&Settings { rate, ..settings })).map_err(failure)?;
        let latency = Settings { mirror: *mirror, ..settings };
        found.add_latencies(loads, |rate| tester.trial(&Settings { rate: Some(rate), ..latency })).map_err(failure)?;
        cli::output::print_out(&found)?;
        all.push(found);
    }
    let figures = json!({
        "load": "rfc2544", "sessions": tester.sessions(), "trial_seconds": trial_seconds, "loss_percent": loss,
        "resolution_percent": resolution, "ratio": common.ratio, "sizes": all,
    });
    write(common.json.as_deref(), figures)
}

impl Common {
    /// Opens the ports, learns the neighbours and sees that packets come through.
    fn tester(&self, settings: &Settings) -> Result<Tester, Failure> {
        settings.validate().map_err(failure)?;
        let plan = Arc::new(self.plan()?);
        let [access, core] = device::open([&self.access, &self.core]).map_err(failure)?;
        let link = |opened: &device::Opened, address, gateway: Option<Ipv4Addr>, next_hop: Option<Mac>| Link {
            mac: opened.mac,
            address,
            gateway: gateway.unwrap_or(Ipv4Addr::UNSPECIFIED),
            next_hop: next_hop.or(opened.next_hop),
        };
        let of_access = link(&access, plan.gnb, Some(self.access_gateway.unwrap_or(plan.upf)), self.access_mac);
        let of_core = link(&core, plan.dn, self.core_gateway, self.core_mac);
        let sides = [
            Side::new(Direction::Up, plan.clone(), access.ports, of_access).map_err(failure)?,
            Side::new(Direction::Down, plan.clone(), core.ports, of_core).map_err(failure)?,
        ];
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let two = self.threads.map_or(cores > 2, |threads| threads == 2);
        let mut tester = Tester::new(plan, sides, two, clock());
        tester.prepare(settings).map_err(failure)?;
        Ok(tester)
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let (sessions, of_records) = self.sessions()?;
        let (upf, gnb) = of_records.unzip();
        let end = |given: Option<Ipv4Addr>, recorded: Option<Ipv4Addr>| given.or(recorded).unwrap_or(Ipv4Addr::UNSPECIFIED);
        let plan = Plan { sessions, tunnels: !self.plain, gnb: end(self.gnb, gnb), upf: end(self.upf, upf), dn: self.dn };
        plan.validate().map_err(failure)?;
        Ok(plan)
    }

    /// And the ends of the tunnels, if records say them.
    fn sessions(&self) -> Result<(Vec<Session>, Option<Ends>), Failure> {
        let Some(path) = &self.records else {
            let sessions = Plan::counted(self.sessions as usize, self.ue, self.teid, self.gnb_teid, self.qfi).map_err(failure)?;
            return Ok((sessions, None));
        };
        let wrong = |e: &dyn std::fmt::Display| Failure::Usage(format!("{}: {e}", path.display()));
        let file = std::fs::File::open(path).map_err(|e| wrong(&e))?;
        let records = traffic::record::read(std::io::BufReader::new(file)).map_err(|e| wrong(&e))?;
        let (sessions, upf, gnb) = Plan::recorded(&records).map_err(|e| wrong(&e))?;
        Ok((sessions, Some((upf, gnb))))
    }
}

/// Writes the figures, if that is asked for.
fn write(path: Option<&Path>, mut figures: Value) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    figures["machine"] = daemon::process::machine::machine();
    std::fs::write(path, format!("{figures:#}\n")).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))
}

fn failure(e: load::Error) -> Failure {
    match e {
        load::Error::Failed(text) => Failure::Failed(text),
        other => Failure::Usage(other.to_string()),
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate(None));
    }
    let scaled = |digits: &str, unit: f64| digits.parse::<f64>().map(|rate| rate * unit);
    let rate = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((digits, "k" | "K")) => scaled(digits, 1e3),
        Some((digits, "M")) => scaled(digits, 1e6),
        _ => scaled(text, 1.0),
    };
    rate.ok()
        .filter(|rate| (1.0..=1e9).contains(rate))
        .map(|rate| Rate(Some(rate)))
        .ok_or_else(|| "expected a number a second, such as 500k or 1.5M, or max".to_owned())
}

fn ratio(text: &str) -> Result<[f64; 2], String> {
    let parts = text.split_once(':').and_then(|(up, down)| Some([up.parse().ok()?, down.parse().ok()?]));
    let parts = parts.filter(|parts: &[f64; 2]| parts.iter().all(|part| (0.0..=1e6).contains(part)) && parts[0] + parts[1] > 0.0);
    parts.ok_or_else(|| "expected parts up and down, such as 1:2".to_owned())
}

fn mac(text: &str) -> Result<Mac, String> {
    let mac = daemon::config::Mac::try_from(text.to_owned()).ok().map(|mac| Mac(mac.0)).filter(|mac| mac.is_unicast());
    mac.ok_or_else(|| "expected a station's MAC address, such as 02:00:00:00:00:01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_ratios_and_addresses_are_read() {
        for (text, pps) in [("500k", 5e5), ("1.5M", 1.5e6), ("20", 20.0)] {
            assert_eq!(rate(text).unwrap().0, Some(pps));
        }
        assert_eq!(rate("max").unwrap().0, None);
        for wrong in ["", "k", "0", "-1M", "1G", "nan", "\u{b5}"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!((ratio("1:2"), ratio("0:1")), (Ok([1.0, 2.0]), Ok([0.0, 1.0])));
        for wrong in ["0:0", "1", "1:-1", "nan:1", "1:inf"] {
            assert!(ratio(wrong).is_err(), "{wrong}");
        }
        assert_eq!(mac("02:00:00:00:0a:01"), Ok(Mac([2, 0, 0, 0, 10, 1])));
        for wrong in ["02:00:00:00:00", "01:00:00:00:00:01", "2:0:0:0:0:1", "02:00:00:00:00:+1"] {
            assert!(mac(wrong).is_err(), "{wrong}");
        }
    }
}
