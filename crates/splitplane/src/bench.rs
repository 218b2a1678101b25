//! `splitplane bench`: how fast is it, beside what else could be had, with output bytes verified? A file for each question.
//!
//! All figures of a table come from one process and one run, rounds interleaved, medians with their spread, because shared machines
//! drift. `docs/performance.md` says how to read and repeat them.

mod upf;

// What they share, in the order of use.
mod contestant;
mod measure;
mod options;
mod report;
mod sessions;
mod source;

use crate::failure::Failure;

/// Benchmarks.
#[derive(clap::Subcommand, Debug)]
pub enum BenchCommand {
    /// The UPF's pipeline on one core, uplink and downlink, beside a hand-written limit and the interpreter.
    Upf(upf::Args),
}

/// Runs one.
pub fn bench(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Upf(args) => upf::upf(args).map(drop),
    }
}
