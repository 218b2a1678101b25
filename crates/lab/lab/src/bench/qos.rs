//! `splitplane-lab bench qos`: what does a user with an MBR get by TCP, and how long do packets wait for it?
//!
//! Real TCP of the kernel goes through the running daemon in namespaces of its own (as root), over a line with a delay, for each rate, round trip time,
//! number of connections, congestion control and direction: once with packets over the rate waiting (`qos.mode = "shape"`), once with them
//! dropped (`"police"`). Every cell has a session of its own. Cells of one rate and round trip time run together as far as [`TOGETHER_BPS`] allows.
//!
//! `--scale` measures instead how many packets a second one core has wait, of a million sessions ([`scale`]).
//!
//! Verified: every byte of every connection, the daemon's ledger, and that each session was charged exactly what arrived.

mod delay_line;
pub(crate) mod flows;
mod guaranteed;
pub(crate) mod place;
mod scale;

use super::options::Common;
use super::report;
use cli::failure::Failure;
use flows::Measured;
use place::Place;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use traffic::plan::Qos;

/// Options of `bench qos`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// MBRs in Mbit/s [default: 5,20,100,500; with --quick: 5].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rates: Vec<u32>,
    /// Round trip times in ms [default: 1,20,60; with --quick: 20].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=1000))]
    rtts: Vec<u32>,
    /// What becomes of packets over the rate.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Mode::Shape, Mode::Police])]
    modes: Vec<Mode>,
    /// Seconds that are measured, after the start of the connections; and seconds of that start [default: 6,2; with --quick: 1,1].
    #[arg(long, value_delimiter = ',', num_args = 1, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Vec<u64>,
    /// `qos.burst_ms` of the daemon.
    #[arg(long)]
    burst_ms: Option<u32>,
    /// `qos.queue_ms` of the daemon, with shaping.
    #[arg(long)]
    queue_ms: Option<u32>,
    /// `qos.target_ms` of the daemon, with shaping.
    #[arg(long)]
    target_ms: Option<u32>,
    /// Measures instead what one user with a guaranteed rate of so many Mbit/s gets in a congested port.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    guaranteed: Option<u32>,
    /// Rate of that port in Mbit/s [default: 1000; with --quick: 20].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "guaranteed")]
    port_rate: Option<u32>,
    /// Other users there, each with a connection that takes what it gets [default: 200; with --quick: 8].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), requires = "guaranteed")]
    greedy: Option<u16>,
    /// Measures instead, without root, how many packets a second a worker has wait for a million rates.
    #[arg(long, conflicts_with_all = ["guaranteed", "rates", "rtts", "seconds", "burst_ms", "queue_ms", "target_ms"])]
    scale: bool,
    /// Sessions there [default: 1000000; with --quick: 1000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(64..=4_000_000), requires = "scale")]
    sessions: Option<u32>,
    /// Runs everything small and short; the figures mean nothing.
    #[arg(long)]
    quick: bool,
    /// Writes the figures to this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

impl Args {
    /// The daemon's.
    fn settings(&self, mode: Mode) -> String {
        let of_queues = |value| if mode == Mode::Shape { value } else { None };
        let keys = [("burst_ms", self.burst_ms), ("queue_ms", of_queues(self.queue_ms)), ("target_ms", of_queues(self.target_ms))];
        let lines = keys.iter().filter_map(|(key, value)| value.map(|value| format!("{key} = {value}\n")));
        format!("[qos]\nmode = \"{}\"\n{}", mode.name(), lines.collect::<String>())
    }
}

/// `qos.mode`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// They wait.
    Shape,
    /// They are dropped.
    Police,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Shape => "shape",
            Mode::Police => "police",
        }
    }
}

/// What is measured at a time: one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    rate_mbps: u32,
    rtt_ms: u32,
    uplink: bool,
    load: Load,
}

/// What the user sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// As much as TCP can.
    Tcp { congestion: &'static str, flows: usize },
    /// Datagrams, at the rate and so many percent of it more.
    Udp { over_percent: u64 },
}

impl Load {
    fn is_udp(self) -> bool {
        matches!(self, Load::Udp { .. })
    }
}

impl Cell {
    fn rate_bps(&self) -> u64 {
        u64::from(self.rate_mbps) * 1_000_000
    }
}

/// Rates of cells that run at a time, together: little beside what the machine carries.
const TOGETHER_BPS: u64 = 250_000_000;
/// What datagrams exceed the MBR by, in percent.
const UDP_OVER_PERCENT: u64 = 30;
/// What users may expect: share of the rate that TCP's payload gets, and the 95th percentile of what packets wait.
const GOODPUT_AIM: f64 = 0.93;
const DELAY_AIM_MS: f64 = 25.0;

/// Keeps a thread that sends where it is. The kernel queues a veth pair's frames by CPU: those of a thread that moves may overtake each other.
fn stay_on_this_cpu() -> Result<(), Failure> {
    let mut here = rustix::thread::CpuSet::new();
    here.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &here).map_err(|e| Failure::Failed(format!("a thread's CPU: {e}")))
}

/// Runs it; the figures as JSON. A datagram that is overtaken, or comes twice, ends it.
pub(crate) fn qos(args: &Args) -> Result<Value, Failure> {
    let began = Instant::now();
    let machine = report::machine();
    if args.scale {
        report::print_machine(&machine);
        return scale::run(args, &machine);
    }
    if let Some(why) = crate::demo::lacks_root() {
        return Err(Failure::Usage(format!("bench qos: {why}")));
    }
    report::print_machine(&machine);
    let or = |given: &[u32], full: &[u32], quick: &[u32]| match (given, args.quick) {
        ([], true) => quick.to_vec(),
        ([], false) => full.to_vec(),
        _ => given.to_vec(),
    };
    if let Some(rate_mbps) = args.guaranteed {
        return guaranteed::run(args, rate_mbps, &machine);
    }
    let (rates, rtts) = (or(&args.rates, &[5, 20, 100, 500], &[5]), or(&args.rtts, &[1, 20, 60], &[20]));
    let seconds =
        |i: usize, full, quick| Duration::from_secs(args.seconds.get(i).copied().unwrap_or(if args.quick { quick } else { full }));
    let (window, warm_up) = (seconds(0, 6, 1), seconds(1, 2, 1));
    let congestions = flows::congestion_controls()?;
    let batches = batches(&rates, &rtts, &congestions);
    let each = window + warm_up + flows::IDLE;
    println!(
        "bench qos: {} cells in {} batches of {:.1} s, {} of them, congestion control {}; about {:.0} minutes",
        batches.iter().map(Vec::len).sum::<usize>(),
        batches.len(),
        each.as_secs_f64(),
        args.modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(" and "),
        congestions.join(" and "),
        (each * (batches.len() * args.modes.len()) as u32 + Duration::from_secs(20)).as_secs_f64() / 60.0,
    );
    let (mut rows, mut sessions) = (Vec::new(), Vec::new());
    for mode in &args.modes {
        let text = args.settings(*mode);
        // A session for each place in a batch and each rate: rules stay as they are.
        let users = batches.iter().map(Vec::len).max().unwrap_or(0);
        let of_rate = |rate: &u32| Qos { mbr_kbps: Some((u64::from(*rate) * 1000, u64::from(*rate) * 1000)), ..Qos::default() };
        let all: Vec<Qos> = rates.iter().flat_map(|rate| std::iter::repeat_n(of_rate(rate), users)).collect();
        let place = Place::make(&text, "", &all)?;
        let mut measured = Vec::new();
        let progress = report::progress(batches.len() as u64);
        for batch in &batches {
            place.line.delay(Duration::from_millis(batch[0].rtt_ms.into()) / 2);
            let first = |cell: &Cell| rates.iter().position(|rate| *rate == cell.rate_mbps).unwrap_or(0) * users;
            let users: Vec<_> = batch.iter().enumerate().map(|(i, cell)| (place.user(first(cell) + i), *cell)).collect();
            let run = flows::run(&place.net, &users, warm_up, window)?;
            measured.extend(batch.iter().copied().zip(run));
            progress.inc(1);
        }
        progress.finish_and_clear();
        sessions.push(json!({ "mode": mode.name(), "sessions": place.end()? }));
        print_table(*mode, &rates, &rtts, &congestions, &measured);
        rows.extend(measured.iter().map(|(cell, measured)| row(*mode, cell, measured)));
    }
    println!("\n{:.0} s in all", began.elapsed().as_secs_f64());
    let figures = json!({ "bench": "qos", "machine": machine, "rows": rows, "charged": sessions });
    let mut common = Common::of(1, window, args.quick);
    common.json.clone_from(&args.json);
    common.write(&figures)?;
    Ok(figures)
}

/// All cells, those that run at a time together: of one rate and round trip time.
fn batches(rates: &[u32], rtts: &[u32], congestions: &[&'static str]) -> Vec<Vec<Cell>> {
    let mut loads: Vec<_> = congestions.iter().flat_map(|c| [1, 4].map(|flows| Load::Tcp { congestion: c, flows })).collect();
    loads.push(Load::Udp { over_percent: UDP_OVER_PERCENT });
    let mut batches = Vec::new();
    for &rtt_ms in rtts {
        for &rate_mbps in rates {
            let cells = loads.iter().flat_map(|load| [false, true].map(|uplink| Cell { rate_mbps, rtt_ms, uplink, load: *load }));
            // The delay of the line is nothing to datagrams.
            let cells: Vec<_> = cells.filter(|cell| !cell.load.is_udp() || rtt_ms == rtts[0]).collect();
            let together = (TOGETHER_BPS / (u64::from(rate_mbps) * 1_000_000)).max(1) as usize;
            batches.extend(cells.chunks(together).map(<[Cell]>::to_vec));
        }
    }
    batches
}

fn row(mode: Mode, cell: &Cell, measured: &Measured) -> Value {
    let Measured { payload_bps, ip_bps, delay_ms, delay_p99_ms: _, probes_lost, verified } = measured;
    let (congestion, flows) = match cell.load {
        Load::Tcp { congestion, flows } => (congestion, flows),
        Load::Udp { .. } => ("udp", 1),
    };
    json!({
        "mode": mode.name(), "rate_mbps": cell.rate_mbps, "rtt_ms": cell.rtt_ms, "direction": if cell.uplink { "uplink" } else { "downlink" },
        "congestion": congestion, "flows": flows, "goodput": payload_bps / cell.rate_bps() as f64, "ip": ip_bps / cell.rate_bps() as f64,
        "delay_p95_ms": delay_ms, "probes_lost": probes_lost, "verified": verified,
    })
}

fn print_table(mode: Mode, rates: &[u32], rtts: &[u32], congestions: &[&'static str], measured: &[(Cell, Measured)]) {
    println!("\n{}: goodput / MBR, and ms that the queue adds (p95); * misses {GOODPUT_AIM} or {DELAY_AIM_MS} ms", mode.name());
    let heads = congestions.iter().flat_map(|c| [format!("{c}, 1 flow"), format!("{c}, 4 flows")]);
    println!("  {:>10} {:>6} {:<8} {}", "MBR Mbit/s", "RTT ms", "", heads.map(|head| format!("{head:>16}")).collect::<String>());
    let mut hit = (0, 0);
    for rate in rates {
        for rtt in rtts {
            for uplink in [false, true] {
                let of_row = measured.iter().filter(|(cell, _)| (cell.rate_mbps, cell.rtt_ms, cell.uplink) == (*rate, *rtt, uplink));
                let figures = of_row.filter(|(cell, _)| !cell.load.is_udp()).map(|(cell, measured)| {
                    let share = measured.payload_bps / cell.rate_bps() as f64;
                    let good = share >= GOODPUT_AIM && measured.delay_ms.is_some_and(|ms| ms <= DELAY_AIM_MS);
                    hit = (hit.0 + usize::from(good), hit.1 + 1);
                    let delay = measured.delay_ms.map_or("-".into(), |ms| format!("{ms:.1}"));
                    format!("{:>16}", format!("{share:.3} {delay:>5}{}", if good { " " } else { "*" }))
                });
                let figures: String = figures.collect();
                println!("  {rate:>10} {rtt:>6} {:<8} {figures}", if uplink { "uplink" } else { "downlink" });
            }
        }
    }
    println!("  {} of {} cells as aimed", hit.0, hit.1);
    for (cell, measured) in measured.iter().filter(|(cell, _)| cell.load.is_udp()) {
        println!(
            "  UDP of {} % more than {} Mbit/s, {}: {:.4} of the rate (IP packets)",
            UDP_OVER_PERCENT,
            cell.rate_mbps,
            if cell.uplink { "uplink" } else { "downlink" },
            measured.ip_bps / cell.rate_bps() as f64
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_runs_once_and_few_at_a_time() {
        let batches = batches(&[5, 20, 100, 500], &[1, 20, 60], &["cubic", "bbr"]);
        let cells: Vec<Cell> = batches.iter().flatten().copied().collect();
        assert_eq!(cells.len(), 4 * 3 * 2 * 4 + 4 * 2);
        assert!((1..cells.len()).all(|i| !cells[..i].contains(&cells[i])));
        for batch in batches {
            assert!(batch.len() == 1 || batch.iter().map(Cell::rate_bps).sum::<u64>() <= TOGETHER_BPS);
            assert!(batch.iter().all(|cell| (cell.rate_mbps, cell.rtt_ms) == (batch[0].rate_mbps, batch[0].rtt_ms)));
        }
    }
}
