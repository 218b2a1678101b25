//! `bench gnb`: how fast is the gNodeB's user plane, step by step, beside the same by hand; what does a bearer take; what do RLC's entities cost?
//!
//! | part | question |
//! |---|---|
//! | `steps` | Mpps of `p4/gnb.p4` on one core, by step of Memarian et al., with ciphers, and whole; step 3 beside C by hand |
//! | `bearers` | memory of a bearer, and whether the rate is kept with 65,536 of them, all active |
//! | `rlc` | RLC AM of the crate `gnb`: a PDU in order, with first and last of a window swapped, and a STATUS for each SDU freed |
//! | `xdp` | steps 0 to 3 in the kernel's XDP hook, beside a program by hand (as root) |
//! | `split` | step 3 split over XDP and x86 by a marker in the packet: what each has left to do, by share (as root) |

pub(crate) mod bearers;
mod many;
mod rlc;
pub(crate) mod split;
pub(crate) mod steps;
mod traffic;
pub(crate) mod xdp;

use super::options::Common;
use super::report;
use cli::failure::Failure;
use serde_json::{Value, json};

/// Bearers at most: those of the program's tables.
pub(crate) const BEARERS: u32 = 65_536;

/// Options of `bench gnb`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// What is measured. `xdp` and `split` as root only.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Part::Bearers, Part::Steps, Part::Rlc, Part::Xdp, Part::Split])]
    parts: Vec<Part>,
    /// Bearers, all active [default: 65536; with --quick: 256].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(BEARERS)))]
    bearers: Option<u32>,
    #[command(flatten)]
    common: Common,
}

/// What is measured.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The program by step.
    Steps,
    /// Memory of a bearer, and the rate with all.
    Bearers,
    /// RLC AM's entities.
    Rlc,
    /// Steps 0 to 3 in XDP.
    Xdp,
    /// Step 3 split over XDP and x86.
    Split,
}

/// Runs it; the figures as JSON.
pub(super) fn gnb(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let bearers = args.bearers.unwrap_or(common.size(BEARERS, 256));
    println!(
        "bench gnb: {bearers} bearers drawn at random, frames of {} bytes, one core; medians of {} interleaved rounds by this thread's time",
        bearers::FRAME,
        common.rounds()
    );
    let mut rows = Vec::new();
    // Memory is measured before others have taken any.
    for part in [Part::Bearers, Part::Steps, Part::Rlc, Part::Xdp, Part::Split] {
        if !args.parts.contains(&part) {
            continue;
        }
        let of_part = match part {
            Part::Bearers => many::bearers(bearers, common)?,
            Part::Steps => steps::steps(bearers, common)?,
            Part::Rlc => rlc::rlc(common)?,
            Part::Xdp | Part::Split => {
                let measured = if part == Part::Xdp { xdp::xdp(bearers, common) } else { split::split(bearers, common) };
                match measured {
                    // The others need no rights.
                    Err(Failure::Usage(why)) if args.parts.len() > 1 => {
                        println!("  XDP takes no part: {why}");
                        continue;
                    }
                    other => other?,
                }
            }
        };
        of_part.iter().for_each(report::print_rate);
        rows.extend(of_part);
    }
    let figures = json!({ "bench": "gnb", "machine": machine, "bearers": bearers, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
