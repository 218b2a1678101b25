//! One check, in its own process: prints one JSON line that says how it went.

use super::corpus::KINDS;
use super::expected;
use cli::failure::Failure;
use p4_driver::{Error, X86Program};
use p4_interp::{Machine, stf};
use packet_test::device::TargetDevice;
use packet_test::xdp_device::XdpDevice;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use target_xdp::LoadError;

/// Which check.
#[derive(clap::Args, Debug)]
pub struct JobArgs {
    #[arg(long, value_parser = KINDS)]
    kind: String,
    #[arg(long, default_value = "interp", value_parser = ["interp", "x86", "xdp"])]
    target: String,
    #[arg(long)]
    program: PathBuf,
    #[arg(long)]
    stf: Option<PathBuf>,
    /// Architecture of the program.
    #[arg(long, default_value = "other")]
    arch: String,
    /// Another compiler's messages about it.
    #[arg(long)]
    expected: Option<PathBuf>,
    #[arg(short = 'I')]
    include: Vec<PathBuf>,
    #[arg(short = 'D')]
    define: Vec<String>,
    /// MiB of address space.
    #[arg(long)]
    memory: u64,
}

/// How a check went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// As it should.
    pub passed: bool,
    /// If not: what happened, in one line.
    pub detail: String,
    /// Of a bad program that is rejected: whether that blames the place that another compiler blames; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_place: Option<bool>,
    /// Of a packet test that the target cannot run: why, in words that are the same for all such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

impl Outcome {
    /// Not as it should.
    pub(super) fn failed(detail: impl Into<String>) -> Outcome {
        Outcome { passed: false, detail: detail.into(), same_place: None, unfit: None }
    }

    /// Not to be run on this target.
    fn unfit(kind: String, detail: String) -> Outcome {
        Outcome { unfit: Some(kind), ..Outcome::failed(detail) }
    }
}

/// Does the check; the exit code is 0 whenever there is an answer.
pub fn job(args: &JobArgs) -> Result<(), Failure> {
    let bytes = args.memory.saturating_mul(1 << 20);
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::As, limit).map_err(|e| Failure::Failed(format!("cannot bound the memory: {e}")))?;
    let outcome = match check(args) {
        Ok(same_place) => Outcome { passed: true, detail: String::new(), same_place, unfit: None },
        Err(outcome) => outcome,
    };
    cli::output::print_out(serde_json::to_string(&outcome).map_err(|e| Failure::Failed(e.to_string()))?)
}

fn check(args: &JobArgs) -> Result<Option<bool>, Outcome> {
    if args.kind == "stf" && args.target == "xdp" {
        return kernel(args).map(|()| None);
    }
    quick(args).map_err(Outcome::failed)
}

fn options(args: &JobArgs) -> p4_check::Options {
    let pair = |d: &String| d.split_once('=').map_or_else(|| (d.clone(), "1".to_owned()), |(n, v)| (n.to_owned(), v.to_owned()));
    p4_check::Options { include_paths: args.include.clone(), defines: args.define.iter().map(pair).collect(), ..Default::default() }
}

fn quick(args: &JobArgs) -> Result<Option<bool>, String> {
    let options = options(args);
    match args.kind.as_str() {
        "accepted" => p4_check::check_file(&args.program, &options).map(|_| None).map_err(|e| first_error(&e)),
        "rejected" => {
            let failure = refusal(args, &options)?;
            Ok(args.expected.as_deref().and_then(|file| expected::same_place(&failure, &args.program, file)))
        }
        "compiled" => match compile(&args.program, &options) {
            // A library or a skeleton: there is nothing to be lowered, and `accepted` has seen it.
            Err(e) if e.starts_with("[no-main]") => Ok(None),
            other => other.map(|_| None),
        },
        _ => packets(args, &options).map(|()| None),
    }
}

/// Why a bad program is refused. What would do no harm to a program for another architecture may show only when a program
/// for v1model is compiled, the one that we compile; but that something is missing here is no verdict on it.
fn refusal(args: &JobArgs, options: &p4_check::Options) -> Result<p4_check::Failure, String> {
    let internal = |e: &p4_check::Failure| e.diagnostics.iter().find(|d| d.code == "internal").map(|d| d.message.clone());
    match p4_check::check_file(&args.program, options) {
        // A fault of the compiler is no verdict on the program.
        Err(e) => internal(&e).map_or(Ok(e), Err),
        Ok(_) if args.arch == "v1model" => match p4_check::compile_file(&args.program, options) {
            Err(e) if internal(&e).is_none() && e.diagnostics.iter().any(|d| d.is_error() && !LIMITS.contains(&d.code)) => Ok(e),
            Err(e) => Err(format!("accepted; not compiled: {}", first_error(&e))),
            Ok(_) => Err("accepted".into()),
        },
        Ok(_) => Err("accepted".into()),
    }
}

/// Error codes about what is missing: here, or in the file.
const LIMITS: [&str; 3] = ["unsupported", "limit", "no-main"];

/// IR before and after the passes, both verified.
fn compile(program: &Path, options: &p4_check::Options) -> Result<(p4_ir::Ir, p4_ir::Ir), String> {
    let plain = p4_check::compile_file(program, options).map_err(|e| first_error(&e))?.ir;
    let optimised = p4_driver::optimise(plain.clone()).map_err(|e| format!("passes: {e}"))?;
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
        let device = X86Program::of(&optimised).and_then(|x86| TargetDevice::x86(&x86, &[]));
        let mut device = device.map_err(|e| e.to_string())?;
        return verdict(&stf::run(&script, &mut device), "");
    }
    for (ir, when) in [(plain, ""), (optimised, "after the passes: ")] {
        let machine = Machine::new(Arc::new(ir)).map_err(|e| e.to_string())?;
        verdict(&stf::run(&script, &mut stf::MachineDevice::new(machine)), when)?;
    }
    Ok(())
}

/// The packet test in the kernel. What BPF cannot express is no failure, but what its emitter took must load, and pass.
fn kernel(args: &JobArgs) -> Result<(), Outcome> {
    let options = options(args);
    let path = args.stf.as_ref().ok_or_else(|| Outcome::failed("no packet test"))?;
    let text = std::fs::read_to_string(path).map_err(|e| Outcome::failed(format!("cannot read {}: {e}", path.display())))?;
    let optimised = match compile(&args.program, &options) {
        Err(e) if e.starts_with("[no-main]") && !text.lines().any(|l| l.starts_with("packet")) => return Ok(()),
        other => other.map_err(Outcome::failed)?.1,
    };
    let script = stf::parse(&text, &optimised.program).map_err(|e| Outcome::failed(format!("script: {e}")))?;
    let text = p4_driver::xdp_text(&optimised).map_err(|e| match e {
        Error::Refused(refused) => Outcome::unfit(refused.kind.unwrap_or_default(), refused.why),
        error => Outcome::failed(error.to_string()),
    })?;
    let mut device = XdpDevice::new(&optimised.program, &text).map_err(|e| match e {
        LoadError::Limit(why) => Outcome::unfit("programs too large for the kernel".into(), why),
        error => Outcome::failed(error.to_string().replace('\n', " ")),
    })?;
    verdict(&stf::run(&script, &mut device), "").map_err(Outcome::failed)
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
