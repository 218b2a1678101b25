//! What do the programs cost alone? The kernel's test run, the driver's share taken off.

use super::super::measure::{Rounds, thread_time};
use super::super::options::Common;
use super::super::sessions::{self, Direction};
use super::driver::{Driver, number};
use super::programs::{Programs, REDIRECT};
use super::{spread, test_run_failure};
use daemon::failure::Failure;
use serde_json::{Value, json};
use target_xdp::sys::test_run;

/// The head of its lines.
pub(super) const HEAD: &str =
    "  the program alone, ns a packet without the driver             upf.p4                by hand   ratio           driver";

/// A direction: the row, and its line.
pub(super) fn row(programs: &mut Programs, driver: &mut Driver, direction: Direction, common: &Common) -> Result<(Value, String), Failure> {
    programs.come_by_loopback(direction)?;
    let (ours, hand) = (programs.ours()?, programs.hand()?);
    let compared = programs.compare(direction, &[("upf.p4", number(&ours)), ("the program by hand", number(&hand))])?;
    driver.prepare(direction);
    let (empty, drive) = (driver.empty()?, driver.program(direction)?);
    // As many as a round takes at 250 ns each.
    let repeat = (common.round().as_nanos() / 250).clamp(1000, 100_000_000) as u32;
    let frame = sessions::frame(direction, 0);
    let mut output = vec![0; 256];
    let mut rounds: [Rounds; 3] = Default::default();
    for round in 0..=common.rounds() {
        for (i, program) in [number(&empty), number(&ours), number(&hand)].into_iter().enumerate() {
            driver.go_on_in(program)?;
            let before = programs.xdp.ends()[0];
            // The kernel runs the program on this thread: its time on the processor, as other people's work does not count.
            let begin = thread_time();
            let run = test_run(number(&drive), &frame, 0, &mut output, repeat).map_err(test_run_failure)?;
            let ns = (thread_time() - begin).as_nanos() as f64 / f64::from(repeat);
            if run.action != REDIRECT || (i == 1 && programs.xdp.ends()[0] - before != u64::from(repeat)) {
                return Err(Failure::Failed(format!("{direction}: packets were not forwarded (action {})", run.action)));
            }
            // The first round warms up.
            if round > 0 {
                rounds[i].0.push(ns);
            }
        }
    }
    let [driver, mut ours, mut hand] = rounds;
    for of in [&mut ours, &mut hand] {
        of.0.iter_mut().zip(&driver.0).for_each(|(ns, driver)| *ns -= driver);
    }
    let ratio = ours.ratio(&hand);
    let text = format!(
        "    {:<40} {:>22} {:>22} {:>6.2}x {:>16.0}",
        format!("{direction} ({compared} frames compared)"),
        spread(&ours, 0),
        spread(&hand, 0),
        ratio.median(),
        driver.median(),
    );
    let row = json!({
        "what": "alone", "sessions": programs.count, "direction": direction, "verified": compared, "upf_ns": ours.json(),
        "hand_ns": hand.json(), "driver_ns": driver.json(), "ratio": ratio.json(), "inserts_per_second": programs.inserts_a_second,
        "packets_a_round": repeat,
    });
    Ok((row, text))
}
