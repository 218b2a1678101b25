//! `bench upf`: the UPF's whole pipeline on one core, for any number of sessions, beside the hand-written limit, the same on DPDK's
//! hash, DPDK's own P4 pipeline, the interpreter, and no pipeline at all.
//!
//! For each number of sessions: everybody gets the same entries; everybody's packets are compared byte by byte with the
//! interpreter's, and its usage counters with what was sent; then rounds take turns.

use super::contestant::{Contestant, INTERPRETER, Installed, LIMIT, OnLane, RTE_HASH, Traffic};
use super::measure::Rounds;
use super::options::Common;
use super::report;
use super::sessions::{self, Direction};
use super::swx::{OnSwx, SWX};
use cli::failure::Failure;
use p4_ir::Ir;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Packets compared with the interpreter's, in each direction.
const VERIFIED: usize = 65_536;
/// Packets before the sessions' order repeats. Much more than caches hold of anything.
const NUMBERS: usize = 1 << 22;

/// Options of `bench upf`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of sessions [default: 1000,64000,1000000; with --quick: 200].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(sessions::MOST)))]
    sessions: Vec<u32>,
    /// Contestants; the interpreter is always the reference.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = EVERYBODY)]
    contestants: Vec<Who>,
    /// Folder of rte_swx_pipeline_internal.h (DPDK's sources, lib/pipeline): SWX then runs code that it generates, and is not interpreted
    /// [default: $SPLITPLANE_SWX_INCLUDE].
    #[arg(long)]
    swx_include: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { sessions: Vec::new(), contestants: EVERYBODY.to_vec(), swx_include: None, common }
    }
}

/// Contestants by the names of `--contestants`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Hand-written C with its own cuckoo hash.
    Limit,
    /// The same C on DPDK's rte_hash.
    RteHash,
    /// DPDK's own P4 pipeline with the core of a UPF; up to 65,536 sessions.
    Swx,
    /// The P4 program as native code.
    X86,
    /// The same with each PDR's recent bytes, for placement by rate (HEAVY); only if requested.
    X86Heavy,
    /// The P4 program in the reference interpreter.
    Interpreter,
    /// No pipeline at all.
    Ports,
}

const EVERYBODY: [Who; 6] = [Who::Limit, Who::RteHash, Who::Swx, Who::X86, Who::Interpreter, Who::Ports];

/// Runs it; the figures as JSON.
pub fn upf(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    println!(
        "bench upf: whole pipeline on one core, {}-byte user packets, bursts of {}; Mpps by this thread's time, median (min to max) of {} rounds of {} ms",
        sessions::USER_PACKET,
        target_api::BURST,
        common.rounds(),
        common.round().as_millis()
    );
    let quick = [200];
    let full = [1_000, 64_000, 1_000_000];
    let default: &[u32] = if common.quick { &quick } else { &full };
    let all = if args.sessions.is_empty() { default } else { &args.sessions };
    let bar = report::progress(all.len() as u64 * (2 * u64::from(common.rounds()) + 4));
    let mut rows = Vec::new();
    for sessions in all {
        bar.set_message(format!("{sessions} sessions: installing"));
        let mut field = Field::new(args, *sessions, &bar)?;
        for direction in [Direction::Downlink, Direction::Uplink] {
            let row = field.run(direction, common, &bar)?;
            bar.suspend(|| print(&row));
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    let figures = json!({ "bench": "upf", "machine": machine, "round_ms": common.round().as_millis() as u64, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// All contestants with the same sessions.
struct Field {
    sessions: u32,
    judge: OnLane,
    contestants: Vec<Box<dyn Contestant>>,
    /// Who is missing, and why.
    absent: Vec<(&'static str, String)>,
    numbers: Arc<[u32]>,
    verified: usize,
}

impl Field {
    fn new(args: &Args, sessions: u32, bar: &indicatif::ProgressBar) -> Result<Field, Failure> {
        let numbers = numbers(sessions, args.common.size(NUMBERS, 4096));
        let verified = args.common.size(VERIFIED, 2048);
        let ir = compile(sessions.max(1024))?;
        let everybody = || -> Box<dyn Iterator<Item = (u32, u32)>> { Box::new((0..sessions).map(|n| (n, n))) };
        let everybody: &Installed = &everybody;
        let few = cells(sessions, &numbers[..verified]);
        let few_ir = Arc::new(compile((few.len() as u32).max(1024))?);
        let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
        let mut absent = Vec::new();
        for who in &args.contestants {
            bar.set_message(format!("{sessions} sessions: installing for {who:?}"));
            let boxed = |lane: OnLane| -> Box<dyn Contestant> { Box::new(lane) };
            let made = match who {
                Who::Limit => OnLane::limit(&ir, sessions, false, everybody).map(boxed),
                Who::RteHash => OnLane::limit(&ir, sessions, true, everybody).map(boxed),
                Who::Swx => OnSwx::new(sessions, args.swx_include.as_deref()).map(|swx| -> Box<dyn Contestant> { Box::new(swx) }),
                Who::X86 => OnLane::x86(&ir, everybody).map(boxed),
                Who::X86Heavy => {
                    OnLane::x86_named("x86, recent bytes", &compile_with(sessions.max(1024), &["HEAVY"])?, everybody).map(boxed)
                }
                Who::Interpreter => OnLane::interpreter(&few_ir, few.clone()).map(boxed),
                Who::Ports => Ok(boxed(OnLane::ports())),
            };
            match made {
                Ok(contestant) => contestants.push(contestant),
                // The baselines may be missing; what this project is about may not.
                Err(Failure::Usage(why)) if matches!(who, Who::Limit | Who::RteHash | Who::Swx) => {
                    let name = match who {
                        Who::Limit => LIMIT,
                        Who::RteHash => RTE_HASH,
                        _ => SWX,
                    };
                    bar.suspend(|| println!("{sessions} sessions: {name} takes no part: {why}"));
                    absent.push((name, why));
                }
                Err(other) => return Err(other),
            }
        }
        bar.inc(2);
        Ok(Field { sessions, judge: OnLane::interpreter(&few_ir, few)?, contestants, absent, numbers, verified })
    }

    fn run(&mut self, direction: Direction, common: &Common, bar: &indicatif::ProgressBar) -> Result<Value, Failure> {
        let all = Traffic { direction, numbers: self.numbers.clone() };
        let few = Traffic { direction, numbers: self.numbers[..self.verified].into() };
        bar.set_message(format!("{} sessions, {direction}: comparing packets and counters", self.sessions));
        let expected = usage(&few.numbers);
        for contestant in self.contestants.iter_mut().filter(|c| c.usage(direction, few.numbers[0]).is_some()) {
            // The judge's meters and counters go on, and the contestant's begin: so does a judge of its own.
            contestant.verify(&mut self.judge, &few, self.verified)?;
            check_usage(&**contestant, direction, &expected)?;
        }
        bar.inc(1);
        let mut rounds = vec![Rounds::default(); self.contestants.len()];
        for round in 0..common.rounds() {
            bar.set_message(format!("{} sessions, {direction}: round {}", self.sessions, round + 1));
            for (contestant, rounds) in self.contestants.iter_mut().zip(&mut rounds) {
                let traffic = if contestant.few_sessions() { &few } else { &all };
                rounds.0.push(contestant.round(traffic, common.round())?);
            }
            bar.inc(1);
        }
        Ok(self.row(direction, &rounds))
    }

    fn row(&self, direction: Direction, rounds: &[Rounds]) -> Value {
        let of = |name: &str| self.contestants.iter().position(|c| c.name() == name).map(|at| &rounds[at]);
        let (limit, interpreter, swx) = (of(LIMIT), of(INTERPRETER), of(SWX));
        let contestants: Vec<Value> = self
            .contestants
            .iter()
            .zip(rounds)
            .map(|(c, mpps)| {
                json!({
                    "name": c.name(),
                    "note": c.note(),
                    "mpps": mpps.json(),
                    "of_limit": limit.map(|limit| mpps.ratio(limit).median()),
                    "times_swx": swx.map(|swx| mpps.ratio(swx).median()),
                    "times_interpreter": interpreter.map(|interpreter| mpps.ratio(interpreter).median()),
                    "resident_bytes": c.resident_bytes(),
                    "sessions_of_verified_packets_only": c.few_sessions(),
                })
            })
            .collect();
        let absent: Vec<Value> = self.absent.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect();
        json!({
            "sessions": self.sessions, "direction": direction, "verified": self.verified,
            "contestants": contestants, "absent": absent,
        })
    }
}

/// The UPF with room for so many sessions.
pub fn compile(sessions: u32) -> Result<Ir, Failure> {
    compile_with(sessions, &[])
}

/// As [`compile`], with options of the program.
pub(super) fn compile_with(sessions: u32, options: &[&str]) -> Result<Ir, Failure> {
    let options = options.iter().map(|name| (name.to_string(), String::new()));
    let defines: Vec<_> = options.chain([("SESSIONS".to_owned(), sessions.to_string())]).collect();
    Ok(p4_driver::compile(Path::new("upf.p4"), &[], &defines)?)
}

/// Sessions at random, each as likely as any other; the same ones in every run.
pub fn numbers(sessions: u32, count: usize) -> Arc<[u32]> {
    let mut rng = rand::rngs::StdRng::seed_from_u64(1);
    (0..count).map(|_| rng.random_range(0..sessions)).collect()
}

/// What the interpreter holds: all sessions if there are no more than packets to verify, else those of the packets; and a number for
/// the cells of each, from 0 on.
pub fn cells(sessions: u32, verified: &[u32]) -> HashMap<u32, u32> {
    if sessions as usize <= verified.len() {
        return (0..sessions).map(|n| (n, n)).collect();
    }
    let mut cells = HashMap::new();
    for n in verified {
        let next = cells.len() as u32;
        cells.entry(*n).or_insert(next);
    }
    cells
}

/// Packets of each session.
fn usage(numbers: &[u32]) -> HashMap<u32, u64> {
    let mut packets = HashMap::new();
    numbers.iter().for_each(|n| *packets.entry(*n).or_default() += 1);
    packets
}

/// Whether a contestant has counted what it was sent.
fn check_usage(contestant: &dyn Contestant, direction: Direction, expected: &HashMap<u32, u64>) -> Result<(), Failure> {
    for (n, packets) in expected {
        let want = target_api::Count { packets: *packets, bytes: packets * sessions::USER_PACKET as u64 };
        let got = contestant.usage(direction, *n).unwrap_or_default();
        if got != want {
            let text = format!("{}, {direction}: session {n} was sent {want:?}, and {got:?} is counted", contestant.name());
            return Err(Failure::Failed(text));
        }
    }
    Ok(())
}

fn print(row: &Value) {
    println!("\n{} sessions, {}: {} packets compared", row["sessions"], row["direction"].as_str().unwrap_or_default(), row["verified"]);
    println!("  {:<18} {:>22}  {:>9}  {:>7}  {:>13}  {:>7}", "", "Mpps", "of limit", "x SWX", "x interpreter", "MiB");
    for c in row["contestants"].as_array().into_iter().flatten() {
        let number = |value: &Value| value.as_f64();
        let percent = number(&c["of_limit"]).map_or_else(|| "-".to_owned(), |r| format!("{:.0} %", r * 100.0));
        let times = |key: &str, digits: usize| number(&c[key]).map_or_else(|| "-".to_owned(), |r| format!("{r:.digits$}"));
        let [median, min, max] = ["median", "min", "max"].map(|key| number(&c["mpps"][key]).unwrap_or_default());
        let mib = c["resident_bytes"].as_u64().unwrap_or_default() >> 20;
        let note = c["note"].as_str().filter(|note| !note.is_empty()).map_or_else(String::new, |note| format!("  ({note})"));
        println!(
            "  {:<18} {median:>7.2} ({min:>5.1} to {max:>5.1})  {percent:>9}  {:>7}  {:>13}  {mib:>7}{note}",
            c["name"].as_str().unwrap_or_default(),
            times("times_swx", 2),
            times("times_interpreter", 1),
        );
    }
}
