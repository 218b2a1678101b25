//! `splitplane-lab`: what tries and measures Splitplane. What it does is in the crate `lab`; here are the command line and exit codes. The UPF that it tries is the
//! program `splitplane` beside it.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use cli::failure::Failure;
use cli::output;
use daemon::manage::logging;
use daemon::process::privileges;
use lab::{attack, bench, demo, p4, reproduce};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::MiMalloc = allocator::MiMalloc;

/// The laboratory of Splitplane, an open 5G user plane (UPF): it runs the `splitplane` that lies beside it.
#[derive(Parser)]
#[command(name = "splitplane-lab", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Logs as JSON lines. What is logged is set by RUST_LOG (default: warn).
    #[arg(long, global = true)]
    log_json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the split UPF on real traffic in network namespaces (as root), or on capture files in one process.
    Demo(demo::Args),
    /// Attacks a running UPF in network namespaces (as root) and reports what honest users lose and how long N4 takes to answer.
    Attack(attack::Args),
    /// Measures speed, with output bytes verified.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Reproduces the papers' experiments: their numbers beside ours, measured or modelled.
    Reproduce(reproduce::Args),
    /// P4 programs by the thousand: a corpus with its packet tests, or random ones.
    #[command(subcommand)]
    P4(p4::P4Command),
    /// HTTP server of the demo's data network: seeded pseudo-random bytes.
    #[command(hide = true)]
    HttpServer(demo::HttpArgs),
    /// Removes network namespaces of the demo, and what runs in them, when standard input ends.
    #[command(hide = true)]
    RemoveNamespaces {
        /// Their names.
        names: Vec<String>,
    },
}

/// Does what the command line asks for; the exit code.
fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = logging::start(cli.log_json, "warn").and_then(|()| privileges::refuse_if_everybodys()).and_then(|()| command(cli.command));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error_line(format_args!("splitplane-lab: {failure}"));
            failure.code()
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::demo(&args),
        Command::Attack(args) => attack::attack(&args),
        Command::Bench(command) => bench::bench(&command),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::P4(command) => p4::p4(&command),
        Command::HttpServer(args) => demo::http_server(&args),
        Command::RemoveNamespaces { names } => {
            demo::remove_at_end_of_input(&names);
            Ok(())
        }
    }
}
