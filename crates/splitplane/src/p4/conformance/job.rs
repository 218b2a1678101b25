//! One check, in its own process: prints one JSON line that says how it went.

use super::corpus::KINDS;
use crate::failure::Failure;
use crate::p4::device::TargetDevice;
use p4_interp::{Machine, stf};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which check.
#[derive(clap::Args, Debug)]
pub struct JobArgs {
    #[arg(long, value_parser = KINDS)]
    kind: String,
    #[arg(long, default_value = "interp", value_parser = ["interp", "x86"])]
    target: String,
    #[arg(long)]
    program: PathBuf,
    #[arg(long)]
    stf: Option<PathBuf>,
    #[arg(short = 'I')]
    include: Vec<PathBuf>,
    /// MiB of address space.
    #[arg(long)]
    memory: u64,
}

/// How a check went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// As it should.
    pub passed: bool,
    /// If not: what happened, in one line.
    pub detail: String,
}

impl Outcome {
    /// Not as it should.
    pub fn failed(detail: impl Into<String>) -> Outcome {
        Outcome { passed: false, detail: detail.into() }
    }
}

/// Does the check; the exit code is 0 whenever there is an answer.
pub fn job(args: &JobArgs) -> Result<(), Failure> {
    let bytes = args.memory.saturating_mul(1 << 20);
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::As, limit).map_err(|e| Failure::Failed(format!("cannot bound the memory: {e}")))?;
    let outcome = match check(args) {
        Ok(()) => Outcome { passed: true, detail: String::new() },
        Err(detail) => Outcome::failed(detail),
    };
    super::super::print_out(serde_json::to_string(&outcome).map_err(|e| Failure::Failed(e.to_string()))?)
}

fn check(args: &JobArgs) -> Result<(), String> {
    let options = p4_check::Options { include_paths: args.include.clone(), ..Default::default() };
    match args.kind.as_str() {
        "accepted" => p4_check::check_file(&args.program, &options).map(drop).map_err(|e| first_error(&e)),
        "rejected" => match p4_check::check_file(&args.program, &options) {
            Ok(_) => Err("accepted".into()),
            // A fault of the compiler is no verdict on the program.
            Err(e) => match e.diagnostics.iter().find(|d| d.code == "internal") {
                Some(d) => Err(d.message.clone()),
                None => Ok(()),
            },
        },
        "compiled" => match compile(&args.program, &options) {
            // A library or a skeleton: there is nothing to be lowered, and `accepted` has seen it.
            Err(e) if e.starts_with("[no-main]") => Ok(()),
            other => other.map(drop),
        },
        _ => packets(args, &options),
    }
}

/// IR before and after the passes, both verified.
fn compile(program: &Path, options: &p4_check::Options) -> Result<(p4_ir::Ir, p4_ir::Ir), String> {
    let plain = p4_check::compile_file(program, options).map_err(|e| first_error(&e))?.ir;
    let mut optimised = plain.clone();
    p4_passes::optimise(&mut optimised).map_err(|e| format!("passes: {e}"))?;
    Ok((plain, optimised))
}

fn packets(args: &JobArgs, options: &p4_check::Options) -> Result<(), String> {
    let path = args.stf.as_ref().ok_or("no packet test")?;
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let (plain, optimised) = match compile(&args.program, options) {
        // Nor is there anything to send packets to; a script without packets says just that.
        Err(e) if e.starts_with("[no-main]") && !text.lines().any(|l| l.starts_with("packet")) => return Ok(()),
        other => other?,
    };
    let script = stf::parse(&text, &plain.program).map_err(|e| format!("script: {e}"))?;
    if args.target == "x86" {
        let mut device = TargetDevice::x86(&optimised).map_err(|e| e.to_string())?;
        return verdict(&stf::run(&script, &mut device), "");
    }
    for (ir, when) in [(plain, ""), (optimised, "after the passes: ")] {
        let machine = Machine::new(Arc::new(ir)).map_err(|e| e.to_string())?;
        verdict(&stf::run(&script, &mut stf::MachineDevice::new(machine)), when)?;
    }
    Ok(())
}

fn verdict(report: &stf::Report, when: &str) -> Result<(), String> {
    match &report.failures[..] {
        [] => Ok(()),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            Err(format!("{when}{}{more}", first.to_string().replace('\n', " ")))
        }
    }
}

fn first_error(failure: &p4_check::Failure) -> String {
    let first = failure.diagnostics.iter().find(|d| d.is_error());
    first.map_or_else(String::new, |d| format!("[{}] {} ({})", d.code, d.message, failure.map.location(d.span)))
}
