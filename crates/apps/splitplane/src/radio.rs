//! `splitplane gnb`, `ue` and `link`: the crate `gnodeb` as commands.
//!
//! Each prints `ready` when it works, ends on SIGINT or SIGTERM, or with `--until-input-ends` when its standard input ends, and writes its
//! report.

use clap::Args;
use daemon::failure::Failure;
use daemon::input::{Input, Next};
use gnodeb::config::{ConfigError, GnbTables, MAX_FILE, Ues};
use gnodeb::control::{MAX_REQUEST, Reply, Request, read_ues};
use gnodeb::pipeline::Build;
use gnodeb::run::RunError;
use gnodeb::run::gnb::RunningGnb;
use gnodeb::run::link::{End, RunningLink};
use gnodeb::run::ue::RunningUes;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of `gnb` and `ue`.
#[derive(Args, Debug)]
pub(crate) struct NodeArgs {
    /// Its configuration, TOML: docs/gnodeb.md.
    #[arg(long)]
    config: PathBuf,
    /// Writes the counters to this file, as JSON, at exit.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Ends when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
}

/// Options of `bearers`.
#[derive(Args, Debug)]
pub(crate) struct BearersArgs {
    /// The gNodeB's control socket: `control` of its configuration.
    #[arg(long)]
    control: PathBuf,
    #[command(subcommand)]
    verb: Verb,
}

/// What is asked. All that is named is done, or nothing.
#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Sets up UEs with their bearers: tables `[[ue]]` of a file.
    Create {
        /// TOML, as in the gNodeB's configuration.
        file: PathBuf,
    },
    /// Makes UEs what a file says. Bearers whose tables are as they were go on.
    Modify {
        /// TOML, as in the gNodeB's configuration.
        file: PathBuf,
    },
    /// Releases UEs with their bearers.
    Release {
        /// Their numbers.
        #[arg(required = true)]
        ue: Vec<u16>,
    },
    /// Prints what is there as JSON, a UE a line, without keys.
    List,
}

/// Options of `link`.
#[derive(Args, Debug)]
pub(crate) struct LinkArgs {
    /// Our address for the first peer.
    #[arg(long)]
    listen_a: SocketAddr,
    /// The first peer.
    #[arg(long)]
    peer_a: SocketAddr,
    /// Our address for the second peer.
    #[arg(long)]
    listen_b: SocketAddr,
    /// The second peer.
    #[arg(long)]
    peer_b: SocketAddr,
    /// Share of datagrams that are lost, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// Delay in ms.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Up to so much more, in ms, without reordering.
    #[arg(long, default_value_t = 0)]
    jitter_ms: u64,
    /// Share of datagrams that others may overtake, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    reorder: f64,
    /// They arrive later by up to this, in ms.
    #[arg(long, default_value_t = 0)]
    reorder_ms: u64,
    /// Rate in Mbit/s of the datagrams' contents, each way; without it, no limit.
    #[arg(long)]
    rate_mbps: Option<u64>,
    /// Bytes that may wait for the rate.
    #[arg(long, default_value_t = 1 << 20)]
    queue_bytes: u64,
    /// Seed: the same datagrams are lost on every run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes the counters to this file, as JSON, at exit.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Ends when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
}

/// Runs a gNodeB, or its CU-UP or DU.
pub(crate) fn gnb(args: &NodeArgs) -> Result<(), Failure> {
    let input = Input::listen(args.until_input_ends)?;
    let (tables, config) = read(&args.config, GnbTables::parse)?;
    let build = Build { objects: daemon::objects::Objects::find(), ..Build::default() };
    let gnb = RunningGnb::start(tables, config, build).map_err(usage)?;
    println!("ready");
    let report = gnb.run(&mut || goes_on(&input)).map_err(failed)?;
    crate::emulators::write_report(args.report.as_deref(), &report)
}

/// Changes the bearers of a running gNodeB.
pub(crate) fn bearers(args: &BearersArgs) -> Result<(), Failure> {
    let request: Request<serde_json::Value> = match &args.verb {
        Verb::Create { file } => Request::Create { ue: read(file, read_ues)? },
        Verb::Modify { file } => Request::Modify { ue: read(file, read_ues)? },
        Verb::Release { ue } => Request::Release { ue: ue.clone() },
        Verb::List => Request::List {},
    };
    match daemon::control_socket::ask(&args.control, &request, MAX_REQUEST)? {
        Reply::<serde_json::Value>::Done { ues } => println!("{ues} UEs: done"),
        Reply::Ues { ue } => ue.iter().for_each(|ue| println!("{ue}")),
        Reply::Error { message } => return Err(Failure::Failed(format!("nothing has changed: {message}"))),
    }
    Ok(())
}

/// Runs UEs.
pub(crate) fn ue(args: &NodeArgs) -> Result<(), Failure> {
    let input = Input::listen(args.until_input_ends)?;
    let config = read(&args.config, Ues::parse)?;
    let ues = RunningUes::start(&config, "ue").map_err(usage)?;
    println!("ready");
    let report = ues.run(&mut || goes_on(&input)).map_err(failed)?;
    crate::emulators::write_report(args.report.as_deref(), &report)
}

/// Runs a link between two UDP peers.
pub(crate) fn link(args: &LinkArgs) -> Result<(), Failure> {
    let input = Input::listen(args.until_input_ends)?;
    let ns = |ms: u64| ms.saturating_mul(1_000_000);
    let config = link::Config {
        rate_bps: args.rate_mbps.map(|mbps| mbps.saturating_mul(1_000_000)),
        queue_bytes: args.queue_bytes,
        loss: args.loss,
        delay_ns: ns(args.delay_ms),
        jitter_ns: ns(args.jitter_ms),
        reorder: args.reorder,
        reorder_ns: ns(args.reorder_ms),
        ..link::Config::default()
    };
    let ends = [End { address: args.listen_a, peer: args.peer_a }, End { address: args.listen_b, peer: args.peer_b }];
    let link = RunningLink::start(ends, config, args.seed).map_err(usage)?;
    println!("ready");
    let [a_to_b, b_to_a] = link.run(&mut || goes_on(&input)).map_err(failed)?;
    crate::emulators::write_report(args.report.as_deref(), &serde_json::json!({ "a_to_b": a_to_b, "b_to_a": b_to_a }))
}

fn usage(error: RunError) -> Failure {
    Failure::Usage(error.to_string())
}

fn failed(error: RunError) -> Failure {
    Failure::Failed(error.to_string())
}

fn goes_on(input: &Input) -> bool {
    !matches!(input.next(Duration::ZERO), Next::End)
}

/// Reads a file of bounded length.
fn read<T>(path: &Path, parse: impl Fn(&str) -> Result<T, ConfigError>) -> Result<T, Failure> {
    let fail = |why: &dyn std::fmt::Display| Failure::Usage(format!("{}: {why}", path.display()));
    let file = std::fs::File::open(path).map_err(|e| fail(&e))?;
    let mut text = String::new();
    file.take(MAX_FILE as u64 + 1).read_to_string(&mut text).map_err(|e| fail(&e))?;
    parse(&text).map_err(|e| fail(&e))
}
