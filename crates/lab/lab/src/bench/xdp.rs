//! `bench xdp`: what does a packet cost in the kernel's XDP hook, in the program made from `upf.p4` and in one written by hand? What
//! becomes of that from interface to interface? And what is the part of the session's table?
//!
//! 1. **Alone** (`xdp/alone.rs`): both run as the kernel's own test run (BPF_PROG_TEST_RUN, repeated in one system call) behind a
//!    driver that makes the packet of another session each time (`xdp/driver.c`). What the driver alone costs is measured with an
//!    empty program in the same rounds and taken off. No interface, no interrupts: the cost of the program.
//! 2. **Over veth** (`xdp/veth.rs`): frames that the driver makes go through a veth into the attached program, and by another veth
//!    to a program that counts them. A forwarder that does nothing but redirect shows what of it is the kernel's.
//! 3. **Changes** (`xdp/changes.rs`): sessions are changed one by one on the attached program, with and without packets on another core.
//! 4. **The table** (`xdp/maps.rs`): a look-up of a session alone, in the kernel's maps and in ours.

pub(super) mod alone;
mod changes;
pub(super) mod driver;
mod maps;
pub(super) mod programs;
mod veth;

use super::measure::{Pinned, Rounds};
use super::options::Common;
use super::report;
use super::sessions::Direction;
use cli::failure::Failure;
use driver::Driver;
use programs::Programs;
use serde_json::{Value, json};
use target_xdp::sys;

/// Options.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of sessions [default: 1000, 64000 and 1000000; with --quick: 100].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    sessions: Option<Vec<u32>>,
    /// What is measured.
    #[arg(long, value_delimiter = ',', default_values_t = [Part::Alone, Part::Veth, Part::Changes, Part::Maps])]
    parts: Vec<Part>,
    #[command(flatten)]
    common: Common,
}

/// What is measured.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The programs alone, by the kernel's test run.
    Alone,
    /// From veth to veth, in rounds of at least a million frames.
    Veth,
    /// Changes of sessions on an attached program, one at a time.
    Changes,
    /// The look-up of a session alone, in the kernel's maps and in ours.
    Maps,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Part::Alone => "alone",
            Part::Veth => "veth",
            Part::Changes => "changes",
            Part::Maps => "maps",
        })
    }
}

/// Runs it and gives the figures.
pub(super) fn xdp(args: &Args) -> Result<Value, Failure> {
    sys::require_capabilities().map_err(load_failure)?;
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let sizes = args.sessions.clone().unwrap_or_else(|| common.size(vec![1_000, 64_000, 1_000_000], vec![100]));
    let cores = super::workers::cores();
    let own = rustix::thread::sched_getaffinity(None).map_err(|e| Failure::Failed(e.to_string()))?;
    // Interrupts of devices are often the first one's.
    let core = cores.last().copied().unwrap_or(0);
    let _back = Pinned::to(core, own)?;
    println!(
        "bench xdp: upf.p4 in the kernel's XDP hook beside a program written by hand; 64-byte inner frames, each of a random session;\n  medians (min to max) of {} interleaved rounds; one thread on core {core} of {} does everything, and its time there is what counts\n",
        common.rounds(),
        cores.len(),
    );
    let both = [Direction::Downlink, Direction::Uplink];
    let steps =
        args.parts.iter().map(|part| if matches!(part, Part::Changes | Part::Maps) { 1 } else { both.len() as u64 }).sum::<u64>() + 1;
    let bar = report::progress(sizes.len() as u64 * steps);
    let mut rows = Vec::new();
    for n in sizes {
        bar.set_message(format!("installing {n} sessions"));
        let mut programs = Programs::new(n)?;
        let mut driver = Driver::new(n)?;
        bar.inc(1);
        bar.suspend(|| println!("{n} sessions, installed at {:.0} a second", programs.inserts_a_second));
        let mut show = |row: Value, text: String| {
            bar.inc(1);
            bar.suspend(|| println!("{text}"));
            rows.push(row);
        };
        for part in [Part::Alone, Part::Veth, Part::Changes, Part::Maps] {
            if !args.parts.contains(&part) {
                continue;
            }
            bar.set_message(format!("{n} sessions, {part}"));
            match part {
                Part::Alone => {
                    bar.suspend(|| println!("{}", alone::HEAD));
                    for direction in both {
                        let (row, text) = alone::row(&mut programs, &mut driver, direction, common)?;
                        show(row, text);
                    }
                }
                Part::Veth => {
                    bar.suspend(|| println!("{}", veth::HEAD));
                    veth::rows(&mut programs, &mut driver, core, common, &mut show)?;
                }
                Part::Changes => {
                    bar.suspend(|| println!("{}", changes::HEAD));
                    let other = cores.iter().copied().find(|other| *other != core);
                    let (row, text) = changes::row(&mut programs, &mut driver, own, other, common)?;
                    show(row, text);
                }
                Part::Maps => {
                    bar.suspend(|| println!("{}", maps::HEAD));
                    let (row, text) = maps::row(&programs, &mut driver, common)?;
                    show(row, text);
                }
            }
        }
    }
    bar.finish_and_clear();
    let figures = json!({ "bench": "xdp", "machine": machine, "rounds": common.rounds(), "core": core, "threads": 1, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// What a downlink packet costs in XDP with so many sessions, in nanoseconds by the kernel's test run; frames are compared with the interpreter's first.
///
/// # Errors
/// `Failure::Usage` where this process may not load programs.
pub(crate) fn downlink_ns(sessions: u32, common: &Common) -> Result<Rounds, Failure> {
    sys::require_capabilities().map_err(load_failure)?;
    let own = rustix::thread::sched_getaffinity(None).map_err(|e| Failure::Failed(e.to_string()))?;
    let _back = Pinned::to(super::workers::cores().last().copied().unwrap_or(0), own)?;
    let (mut programs, mut driver) = (Programs::new(sessions)?, Driver::new(sessions)?);
    alone::ours(&mut programs, &mut driver, Direction::Downlink, common)
}

/// Median and spread.
fn spread(rounds: &Rounds, digits: usize) -> String {
    let (low, high) = rounds.spread();
    format!("{:.digits$} ({low:.digits$} to {high:.digits$})", rounds.median())
}

/// What keeps the programs from running here is the user's to mend.
fn load_failure(e: target_xdp::LoadError) -> Failure {
    Failure::Usage(e.to_string())
}

fn test_run_failure(e: std::io::Error) -> Failure {
    Failure::Failed(format!("test run: {e}"))
}
