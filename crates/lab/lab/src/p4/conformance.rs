//! `splitplane-lab p4 conformance`: how much of a corpus of P4 programs and packet tests goes as it should?
//!
//! Four kinds of checks, counted by architecture:
//! - **accepted**: a good program passes the front end;
//! - **rejected**: a bad one (in a folder whose name ends in `errors`) does not; one for v1model may also be refused when it
//!   is compiled, if that is for a fault of its own and not for a limit of ours;
//! - **compiled**: a good v1model program with a `main` becomes IR that verifies, before and after the passes;
//! - **stf**: the packet test `NAME.stf` beside `NAME.p4` passes, on each target.
//!
//! Each check runs in a child process with bounds on time and memory (`pool`), so that no program hangs or kills the run.
//! A check that fails for a known reason may be listed in a file of exclusions; one that is listed and passes counts as passed.

mod corpus;
mod expected;
mod job;
mod pool;
mod table;

pub use job::{JobArgs, job};

use cli::failure::Failure;
use corpus::{Check, Corpus, Folder};
use std::path::PathBuf;
use table::Report;

/// What to run, and what is enough.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of programs, with flags of its own: `"DIR -I DIR -D NAME=VALUE"`. May be repeated. Programs that others include are not counted on
    /// their own.
    #[arg(long, value_name = "DIR", required = true, value_parser = clap::value_parser!(Folder))]
    corpus: Vec<Folder>,
    /// Folder to search for includes, behind those of a corpus.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Only these architectures: v1model, psa, pna, tna, ebpf, ubpf, core, other.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arch: Vec<String>,
    /// Only these kinds of checks.
    #[arg(long, value_delimiter = ',', value_parser = ["accepted", "rejected", "compiled", "stf"])]
    kind: Vec<String>,
    /// Only programs whose path contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Where packet tests run; `xdp` needs root, and programs that it cannot express are excluded with the reason.
    #[arg(long, value_delimiter = ',', default_value = "interp", value_parser = ["interp", "x86", "xdp"])]
    target: Vec<String>,
    /// Minimum share in per cent, by kind; below it the command fails. `accepted=99,stf=97`
    #[arg(long, value_delimiter = ',', value_name = "KIND=PERCENT", value_parser = floor)]
    floor: Vec<(String, f64)>,
    /// Checks that may fail: lines of `KIND PATH REASON`; `*` is every kind.
    #[arg(long, value_name = "FILE")]
    exclude: Vec<PathBuf>,
    /// Folder of another compiler's messages, `NAME.p4-stderr` for each bad program: the table then says how many of ours
    /// blame a place within two lines of one of theirs.
    #[arg(long, value_name = "DIR")]
    expected: Option<PathBuf>,
    /// Writes all results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Parallel checks; default: one per core.
    #[arg(long)]
    jobs: Option<usize>,
    /// Limit of time for one check, in seconds.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    timeout: u64,
    /// Limit of address space for one check, in MiB.
    #[arg(long, default_value_t = 4096, value_name = "MIB")]
    memory: u64,
    /// Prints only the table, without the list of failures.
    #[arg(long)]
    brief: bool,
}

/// Runs it all, prints the table, and fails if a floor is missed.
pub fn conformance(args: &Args) -> Result<(), Failure> {
    let corpus = Corpus::read(&args.corpus).map_err(Failure::Usage)?;
    let exclusions = corpus::exclusions(&args.exclude).map_err(Failure::Usage)?;
    let mut checks = corpus.checks(&args.target);
    checks.retain(|c| wanted(args, c));
    if checks.is_empty() {
        return Err(Failure::Usage("the corpus has no such checks".into()));
    }
    let limits = pool::Limits {
        jobs: args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())).max(1),
        timeout: std::time::Duration::from_secs(args.timeout),
        memory_mib: args.memory,
    };
    let outcomes = pool::run(&checks, &args.include, args.expected.as_deref(), &limits)?;
    let report = Report::new(&checks, outcomes, &exclusions);
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| Failure::Failed(e.to_string()))?;
        std::fs::write(path, text + "\n").map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    cli::output::print_out(report.text(!args.brief))?;
    let missed = report.missed(&args.floor);
    if missed.is_empty() { Ok(()) } else { Err(Failure::Failed(missed.join("; "))) }
}

fn wanted(args: &Args, check: &Check) -> bool {
    (args.arch.is_empty() || args.arch.iter().any(|a| a == check.architecture))
        && (args.kind.is_empty() || args.kind.iter().any(|k| k == check.kind.name()))
        && args.only.as_ref().is_none_or(|text| check.path.contains(text.as_str()))
}

fn floor(text: &str) -> Result<(String, f64), String> {
    let (kind, share) = text.split_once('=').ok_or("not KIND=PERCENT")?;
    if !corpus::KINDS.contains(&kind) {
        return Err(format!("no kind `{kind}`: there are {}", corpus::KINDS.join(", ")));
    }
    let share: f64 = share.parse().map_err(|_| format!("`{share}` is no number"))?;
    if (0.0..=100.0).contains(&share) { Ok((kind.to_owned(), share)) } else { Err(format!("{share} is no share in per cent")) }
}
