//! `splitplane gnb`, `ue` and `link`: the crate `gnodeb` as commands.
//!
//! Each prints `ready` when it works, ends on SIGINT or SIGTERM, or with `--until-input-ends` when its standard input ends, and writes its
//! report.

use clap::Args;
use cli::failure::Failure;
use cli::input::{Input, Next};
use gnodeb::config::{ConfigError, GnbTables, MAX_FILE, UesTables};
use gnodeb::control::{MAX_REQUEST, Reply, Request, UeRequest, read_ues};
use gnodeb::pipeline::Build;
use gnodeb::run::RunError;
use gnodeb::run::gnb::RunningGnb;
use gnodeb::run::link::{End, RunningLink};
use gnodeb::run::ue::RunningUes;
use serde_json::Value;
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
    /// Prints where the bearers' COUNTs are as JSON, a UE a line: a bearer whose `state` is `high` needs new keys, one that is `exhausted` stands still.
    Counts,
    /// Prints what was counted so far as JSON: packets, drops by reason, radio link failures.
    Report,
    /// Has RLC AM of UEs begin anew, and PDCP send again what may be lost with it: after a radio link failure.
    Recover {
        /// Their numbers.
        #[arg(required = true)]
        ue: Vec<u16>,
        /// The UEs' control socket, if they are `splitplane ue`: they must be told within 100 ms.
        #[arg(long)]
        ues: Option<PathBuf>,
    },
    /// Gives UEs' bearers other keys, with which they go on: RLC begins anew, and what may be lost with it goes again.
    Rekey {
        /// The UEs as they are with the other keys: TOML, as in the gNodeB's configuration.
        file: PathBuf,
        /// The UEs' control socket, if they are `splitplane ue`: they must be told within 100 ms.
        #[arg(long, requires = "ue_file")]
        ues: Option<PathBuf>,
        /// The UEs as they are to be: TOML, as in their configuration.
        #[arg(long, requires = "ues")]
        ue_file: Option<PathBuf>,
    },
    /// Hands UEs over to another gNodeB: prepares it, has this one forward, and tells the UEs. The UPF's path is then to be switched, and the UEs are to be released here.
    Handover {
        /// The UEs as the other gNodeB is to have them: TOML, as in its configuration.
        file: PathBuf,
        /// The other gNodeB's control socket.
        #[arg(long)]
        to: PathBuf,
        /// The UEs' control socket, if they are `splitplane ue`.
        #[arg(long, requires = "ue_file")]
        ues: Option<PathBuf>,
        /// The UEs as they are to be in the other cell: TOML, as in their configuration.
        #[arg(long, requires = "ues")]
        ue_file: Option<PathBuf>,
    },
    /// Tells UEs, whose socket this is, of another cell or other keys.
    Reconfigure {
        /// TOML, as in their configuration.
        file: PathBuf,
    },
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

/// Before keys are read: they stay as long as bearers do.
fn keep_keys() -> Result<(), Failure> {
    daemon::process::privileges::no_core_dumps()
        .map_err(|error| Failure::Failed(format!("core dumps cannot be turned off, and there are keys: {error}")))
}

/// Runs a gNodeB, or its CU-UP or DU.
pub(crate) fn gnb(args: &NodeArgs) -> Result<(), Failure> {
    keep_keys()?;
    let input = Input::listen(args.until_input_ends)?;
    let (tables, config) = read(&args.config, GnbTables::parse)?;
    let build = Build { objects: p4_driver::objects::Objects::find(), ..Build::default() };
    let gnb = RunningGnb::start(tables, config, build).map_err(usage)?;
    println!("ready");
    let report = gnb.run(&mut || goes_on(&input)).map_err(failed)?;
    crate::emulators::write_report(args.report.as_deref(), &report)
}

/// Changes the bearers of a running gNodeB.
pub(crate) fn bearers(args: &BearersArgs) -> Result<(), Failure> {
    let request: Request<Value> = match &args.verb {
        Verb::Handover { file, to, ues, ue_file } => {
            let tables = read(file, read_ues)?;
            let told = ues.iter().zip(ue_file).map(|(socket, file)| Ok((socket.as_path(), read(file, read_ues)?)));
            return hand_over(&args.control, to, tables, told.collect::<Result<Vec<_>, Failure>>()?);
        }
        Verb::Reconfigure { file } => {
            let ues = tell(&args.control, read(file, read_ues)?)?;
            println!("{ues} UEs: done");
            return Ok(());
        }
        Verb::Rekey { file, .. } => Request::Rekey { ue: read(file, read_ues)? },
        Verb::Create { file } => Request::Create { ue: read(file, read_ues)? },
        Verb::Modify { file } => Request::Modify { ue: read(file, read_ues)? },
        Verb::Release { ue } => Request::Release { ue: ue.clone() },
        Verb::List => Request::List {},
        Verb::Counts => Request::Counts {},
        Verb::Report => Request::Report {},
        Verb::Recover { ue, .. } => Request::Recover { ue: ue.clone() },
    };
    // Read before anything changes.
    let told = match &args.verb {
        Verb::Rekey { ues: Some(socket), ue_file: Some(file), .. } => Some((socket, read(file, read_ues)?)),
        _ => None,
    };
    match ask(&args.control, &request)? {
        Reply::Done { ues } => {
            if let Some((socket, tables)) = told {
                tell(socket, tables).map_err(|why| {
                    Failure::Failed(format!("the gNodeB has other keys, and the UEs have not: {why}; tell them with `reconfigure`"))
                })?;
            }
            if let Verb::Recover { ue, ues: Some(socket) } = &args.verb {
                let told = ask(socket, &UeRequest::<Value>::Recover { ue: ue.clone() });
                told.map_err(|why| Failure::Failed(format!("the gNodeB has begun anew, and the UEs have not: {why}; repeat it")))?;
            }
            println!("{ues} UEs: done");
        }
        Reply::Counts { ue } => {
            for ue in &ue {
                println!("{}", serde_json::to_string(ue).map_err(|why| Failure::Failed(why.to_string()))?);
            }
        }
        Reply::Report(report) => println!("{}", serde_json::to_string(&report).map_err(|why| Failure::Failed(why.to_string()))?),
        Reply::Ues { ue, .. } => ue.iter().for_each(|ue| println!("{ue}")),
        reply => return Err(other(reply)),
    }
    Ok(())
}

/// A gNodeB's reply; what it refuses is an error.
fn ask(socket: &Path, request: &impl serde::Serialize) -> Result<Reply<Value>, Failure> {
    match daemon::manage::socket::ask(socket, request, MAX_REQUEST)? {
        Reply::Error { message } => Err(Failure::Failed(format!("nothing has changed: {message}"))),
        reply => Ok(reply),
    }
}

fn other(reply: Reply<Value>) -> Failure {
    Failure::Failed(format!("an answer to another request: {reply:?}"))
}

/// UEs go to the cell that the tables say; how many.
fn tell(socket: &Path, tables: Vec<Value>) -> Result<usize, Failure> {
    match ask(socket, &UeRequest::Reconfigure { ue: tables })? {
        Reply::Done { ues } => Ok(ues),
        reply => Err(other(reply)),
    }
}

/// Does what control planes do at a handover (`gnodeb::handover`). `told`: UEs' socket with their tables.
fn hand_over(source: &Path, target: &Path, tables: Vec<Value>, told: Vec<(&Path, Vec<Value>)>) -> Result<(), Failure> {
    let from = match ask(source, &Request::<Value>::List {})? {
        Reply::Ues { n3: Some(n3), .. } => n3,
        Reply::Ues { n3: None, .. } => return Err(Failure::Failed("nothing has changed: the gNodeB has no N3 address: it is a DU".into())),
        reply => return Err(other(reply)),
    };
    let forwarding = match ask(target, &Request::Prepare { from, ue: tables })? {
        Reply::Prepared { ue } => ue,
        reply => return Err(other(reply)),
    };
    let ids: Vec<u16> = forwarding.iter().map(|of| of.id).collect();
    let left = ask(source, &Request::<Value>::Handover { ue: forwarding });
    let status = match left {
        Ok(Reply::Status { ue }) => ue,
        refused => {
            // They do not come.
            ask(target, &Request::<Value>::Release { ue: ids })?;
            return Err(refused.map_or_else(|why| why, other));
        }
    };
    let lost =
        |why: Failure| Failure::Failed(format!("the UEs have left, and do not go on: {why}; release them at both, and create them anew"));
    ask(target, &Request::<Value>::Status { ue: status }).map_err(lost)?;
    for (socket, tables) in told {
        tell(socket, tables).map_err(lost)?;
    }
    println!("{} UEs: done; switch the UPF's path, then release them at the source", ids.len());
    Ok(())
}

/// Runs UEs.
pub(crate) fn ue(args: &NodeArgs) -> Result<(), Failure> {
    keep_keys()?;
    let input = Input::listen(args.until_input_ends)?;
    let (tables, config) = read(&args.config, UesTables::parse)?;
    let ues = RunningUes::start(tables, &config, "ue").map_err(usage)?;
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
