//! `splitplane`: the binary that operators install. What it runs is in the crate `daemon` and its like; here are the command line and exit codes.
#![forbid(unsafe_code)]

mod emulators;
mod load;
mod p4;
mod plan;
mod radio;
mod service;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use cli::failure::Failure;
use cli::output;
use daemon::ceupf::rules;
use daemon::manage::capture::command as watch;
use daemon::manage::logging;
use daemon::manage::show;
use daemon::process::privileges;
use daemon::run;
use std::path::Path;
use std::process::ExitCode;

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
    /// The P4 compiler: check, ir, emit, run, trace.
    #[command(subcommand)]
    P4(p4::P4Command),
    /// Places a program on a chip model: prints the table layout and resource usage, or what ran out.
    Plan(plan::Args),
}

/// Does what the command line asks for; the exit code.
fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => match moved(&error) {
            Some(failure) => {
                output::error_line(format_args!("splitplane: {failure}"));
                return failure.code();
            }
            None => error.exit(),
        },
    };
    let default = if matches!(cli.command, Command::Run(_) | Command::Service(_)) { "info" } else { "warn" };
    let result =
        logging::start(cli.log_json, default).and_then(|()| privileges::refuse_if_everybodys()).and_then(|()| command(cli.command));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error_line(format_args!("splitplane: {failure}"));
            failure.code()
        }
    }
}

/// Commands of the laboratory, which this binary once had: the word that is not known here, and the command there.
const MOVED: [(&str, &str); 6] = [
    ("demo", "demo"),
    ("attack", "attack"),
    ("bench", "bench"),
    ("reproduce", "reproduce"),
    ("conformance", "p4 conformance"),
    ("fuzz", "p4 fuzz"),
];

/// What to say of a command line that names one of them.
fn moved(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let (_, command) = MOVED.iter().find(|(moved, _)| error.kind() == ErrorKind::InvalidSubcommand && moved == word)?;
    Some(Failure::Usage(format!("{command}: this is a command of the laboratory: `splitplane-lab {command}` (`make build` makes it)")))
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
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
        Command::OffloadsOff { interface, gro } => pktio::interface::disable_offloads(&interface)
            .and_then(|_| if gro { pktio::interface::enable_gro(&interface) } else { Ok(()) })
            .map_err(|e| Failure::Usage(e.to_string())),
        Command::Manual { folder } => manual(&folder).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", folder.display()))),
        Command::P4(command) => p4::p4(&command),
        Command::Plan(args) => plan::plan(&args),
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
