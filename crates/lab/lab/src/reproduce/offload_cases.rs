//! How long do packets take on the fast target, on x86 behind it, and on x86 alone? What Figures 11 and 12 of Singh et al. show of one measurement.

use super::Args;
use super::bed::{Bed, Times};
use crate::bench::measure::Rounds;
use cli::failure::Failure;
use std::sync::Mutex;

/// The paper has 100K users; an IPv4 /16 has room for these.
const SESSIONS: u32 = 65_000;
/// The paper's packets, as frames on the core side.
const SIZE: &str = "128";
/// Percent of what the slowest case carries.
const LOAD: f64 = 50.0;
const QUICK_PPS: f64 = 2000.0;

/// Our name for a case, and the daemon's settings.
pub(super) const CASES: [(&str, &str); 3] = [
    ("in XDP", "[split]\nfast = \"xdp\"\npolicy = { share = 1.0 }\n"),
    ("on x86, through XDP", "[split]\nfast = \"xdp\"\npolicy = \"none\"\n"),
    ("on x86 alone", ""),
];

/// Of the cases in their order.
#[derive(Clone, Copy)]
pub(super) struct Measured {
    /// The rate of all of them, packets a second.
    pub pps: f64,
    /// What each carries.
    pub throughput: [Option<f64>; CASES.len()],
    /// Medians of the rounds, one way.
    pub times: [Times; CASES.len()],
}

/// Both figures are of the same packets if one process makes both.
static DONE: Mutex<Option<Measured>> = Mutex::new(None);

/// Measures all cases, in turn, at one rate.
pub(super) fn measure(args: &Args) -> Result<Measured, Failure> {
    let mut done = DONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(measured) = *done {
        return Ok(measured);
    }
    let measured = all(args)?;
    *done = Some(measured);
    Ok(measured)
}

fn all(args: &Args) -> Result<Measured, Failure> {
    let (sessions, seconds) = (args.size(SESSIONS, 32), args.size(2.0, 0.1));
    let mut beds = Vec::new();
    for (at, (_, settings)) in CASES.into_iter().enumerate() {
        beds.push(Bed::make(&format!("case{at}"), settings, sessions, 1)?);
    }
    let mut throughput = [None; CASES.len()];
    if !args.quick {
        for (bed, pps) in beds.iter().zip(&mut throughput) {
            *pps = Some(bed.throughput(SIZE, seconds)?);
        }
    }
    let least = throughput.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let pps = if args.quick { QUICK_PPS } else { least * LOAD / 100.0 };
    let mut rounds = vec![Vec::new(); CASES.len()];
    for _ in 0..args.size(args.rounds(), 1) {
        for (bed, rounds) in beds.iter().zip(&mut rounds) {
            let trial = bed.trial(SIZE, Some(pps), seconds, false)?;
            rounds.push(trial.one_way);
        }
    }
    beds.into_iter().try_for_each(|bed| bed.end().map(drop))?;
    let mut times = [Times::default(); CASES.len()];
    for (times, rounds) in times.iter_mut().zip(&rounds) {
        let median = |of: fn(&Times) -> f64| Rounds(rounds.iter().map(of).collect()).median();
        *times = Times {
            mean_us: median(|of| of.mean_us),
            p50_us: median(|of| of.p50_us),
            p90_us: median(|of| of.p90_us),
            p99_us: median(|of| of.p99_us),
            p99_9_us: median(|of| of.p99_9_us),
            max_us: median(|of| of.max_us),
            packets: rounds.iter().map(|of| of.packets).sum(),
        };
    }
    Ok(Measured { pps, throughput, times })
}
