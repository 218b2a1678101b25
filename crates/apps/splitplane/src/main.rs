//! `splitplane`: the one binary. What it runs is in the crates `daemon` and `lab`; here are the command line, logging and exit codes.
#![forbid(unsafe_code)]

mod emulators;
mod load;
mod p4;
mod plan;
mod radio;
mod service;

use clap::{CommandFactory, Parser, Subcommand};
use daemon::failure::Failure;
use daemon::log_limit::LogLimit;
use daemon::{config, control, output, privileges, rules, run, show, watch};
use lab::{attack, bench, demo, reproduce};
use std::path::Path;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[global_allocator]
static ALLOCATOR: allocator::MiMalloc = allocator::MiMalloc;

/// An open 5G user plane (UPF) written once in P4 and run split over several targets.
#[derive(Parser)]
#[command(name = "splitplane", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Logs as JSON lines. What is logged is set by RUST_LOG (default: warn; for `run` and `service`: info).
    #[arg(long, global = true)]
    log_json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the split UPF on real traffic in network namespaces (as root), or on capture files in one process.
    Demo(demo::Args),
    /// Attacks a running UPF in network namespaces (as root) and reports what honest users lose and how long N4 takes to answer.
    Attack(attack::Args),
    /// Runs the UPF.
    Run(run::Args),
    /// Asks a running UPF: overview, sessions, ports, drops, tables, targets, workers, peers, offload.
    Show(show::Args),
    /// Changes a running UPF: what it logs, and whether it takes new sessions.
    Set(show::SetArgs),
    /// Has a running UPF read its configuration file again and take over what changed, all of it or nothing.
    Reload(show::ReloadArgs),
    /// Explains what a running UPF does with real packets.
    #[command(subcommand)]
    Trace(watch::TraceCommand),
    /// Writes packets that a running UPF has seen to a file (pcapng), with what became of each.
    Capture(watch::CaptureArgs),
    /// Runs a service of a pipeline's, buffer or cipher, in a process of its own.
    Service(service::Args),
    /// Changes the rules of a running switch in front of another UPF: add, del, list, load.
    Rules(rules::Args),
    /// SMF emulator: sets up sessions over PFCP.
    Smf(emulators::SmfArgs),
    /// gNodeB emulator: a TUN device for each UE, GTP-U to the UPF.
    Ran(emulators::RanArgs),
    /// Runs a gNodeB's user plane, or its CU-UP or DU: GTP-U on N3, RLC on a radio over UDP.
    Gnb(radio::NodeArgs),
    /// Changes the UEs and bearers of a running gNodeB: create, modify, release, list, handover.
    Bearers(radio::BearersArgs),
    /// Runs UEs: a TUN device each, SDAP, PDCP and RLC to a gNodeB.
    Ue(radio::NodeArgs),
    /// Runs a link between two UDP peers, with seeded loss, delay and reordering.
    Link(radio::LinkArgs),
    /// Sends packets through a UPF or any other device at full rate, and measures loss, latency and the rate without loss.
    #[command(subcommand)]
    Load(load::LoadCommand),
    /// HTTP server of the demo's data network: seeded pseudo-random bytes.
    #[command(hide = true)]
    HttpServer(emulators::HttpArgs),
    /// Turns off the offloads of an interface that leave checksums or segments unfinished.
    #[command(hide = true)]
    OffloadsOff {
        /// The interface.
        interface: String,
        /// Turns GRO on: of a veth, for what XDP redirects to it.
        #[arg(long)]
        gro: bool,
    },
    /// Writes manual pages (`man1`) and shell completion (`bash`, `zsh`, `fish`) of the command line into a folder.
    #[command(hide = true)]
    Manual {
        /// The folder; made if it is not there.
        folder: std::path::PathBuf,
    },
    /// Removes network namespaces of the demo, and what runs in them, when standard input ends.
    #[command(hide = true)]
    RemoveNamespaces {
        /// Their names.
        names: Vec<String>,
    },
    /// The P4 compiler: check, ir, emit, run, trace.
    #[command(subcommand)]
    P4(p4::P4Command),
    /// Places a program on a chip model: prints the table layout and resource usage, or what ran out.
    Plan(plan::Args),
    /// Measures speed, with output bytes verified.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Reproduces the papers' experiments: their numbers beside ours, measured or modelled.
    Reproduce(reproduce::Args),
}

/// Does what the command line asks for; the exit code.
fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = start_logging(&cli).and_then(|()| privileges::refuse_if_everybodys()).and_then(|()| command(cli.command));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error_line(format_args!("splitplane: {failure}"));
            failure.code()
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::demo(&args),
        Command::Attack(args) => attack::attack(&args),
        Command::Run(args) => run::run(&args),
        Command::Show(args) => show::show(&args),
        Command::Set(args) => show::set(&args),
        Command::Reload(args) => show::reload(&args),
        Command::Trace(command) => watch::trace(&command),
        Command::Capture(args) => watch::capture(&args),
        Command::Service(args) => service::service(&args),
        Command::Rules(args) => rules::rules(&args),
        Command::Smf(args) => emulators::smf(&args),
        Command::Ran(args) => emulators::ran(&args),
        Command::Gnb(args) => radio::gnb(&args),
        Command::Bearers(args) => radio::bearers(&args),
        Command::Ue(args) => radio::ue(&args),
        Command::Link(args) => radio::link(&args),
        Command::Load(command) => load::load(&command),
        Command::HttpServer(args) => emulators::http_server(&args),
        Command::OffloadsOff { interface, gro } => pktio::interface::disable_offloads(&interface)
            .and_then(|_| if gro { pktio::interface::enable_gro(&interface) } else { Ok(()) })
            .map_err(|e| Failure::Usage(e.to_string())),
        Command::Manual { folder } => manual(&folder).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", folder.display()))),
        Command::RemoveNamespaces { names } => {
            demo::remove_at_end_of_input(&names);
            Ok(())
        }
        Command::P4(command) => p4::p4(&command),
        Command::Plan(args) => plan::plan(&args),
        Command::Bench(command) => bench::bench(&command),
        Command::Reproduce(args) => reproduce::reproduce(&args),
    }
}

fn manual(folder: &Path) -> std::io::Result<()> {
    use clap_complete::{Shell, generate_to};
    for part in ["man1", "bash", "zsh", "fish"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    clap_mangen::generate_to(Cli::command(), folder.join("man1"))?;
    for (shell, part) in [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")] {
        generate_to(shell, &mut Cli::command(), "splitplane", folder.join(part))?;
    }
    Ok(())
}

/// Logs go to standard error, so that output stays data; of a cause so many lines at most. A reader that is gone or a full disk loses lines, and nothing else.
fn start_logging(cli: &Cli) -> Result<(), Failure> {
    let default = if matches!(cli.command, Command::Run(_) | Command::Service(_)) { "info" } else { "warn" };
    let wrong = |why: String| Failure::Usage(format!("RUST_LOG: {why}"));
    let filter = match control::asked_filter().map_err(wrong)? {
        Some(text) => parse_filter(&text).map_err(wrong)?,
        None => audited(EnvFilter::new(default)),
    };
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(|| output::Log);
    if cli.log_json {
        let builder = builder.json().with_filter_reloading();
        let handle = builder.reload_handle();
        control::on_log(move |filter| handle.reload(parse_filter(filter)?).map_err(|e| e.to_string()));
        builder.finish().with(LogLimit).init();
    } else {
        let builder = builder.with_target(false).with_filter_reloading();
        let handle = builder.reload_handle();
        control::on_log(move |filter| handle.reload(parse_filter(filter)?).map_err(|e| e.to_string()));
        builder.finish().with(LogLimit).init();
    }
    Ok(())
}

fn parse_filter(text: &str) -> Result<EnvFilter, String> {
    config::read_filter(text).map(audited)
}

/// Who changed what is logged whatever the filter says.
fn audited(filter: EnvFilter) -> EnvFilter {
    filter.add_directive("audit=info".parse().expect("it is a directive"))
}
