//! What do the programs cost alone? The kernel's test run, the driver's share taken off.

use super::super::measure::{Rounds, thread_time};
use super::super::options::Common;
use super::super::sessions::{self, Direction};
use super::driver::{Driver, number};
use super::programs::{Programs, REDIRECT};
use super::{spread, test_run_failure};
use cli::failure::Failure;
use serde_json::{Value, json};
use std::os::fd::RawFd;
use target_xdp::sys::test_run;

/// The head of its lines.
pub(super) const HEAD: &str =
    "  the program alone, ns a packet without the driver             upf.p4                by hand   ratio           driver";

/// `XDP_TX`: a packet leaves by the interface that it came by.
pub(in crate::bench) const TX: u32 = 3;

/// A program behind the driver.
pub(in crate::bench) struct Program<'a> {
    pub(in crate::bench) fd: RawFd,
    /// What it must end with.
    pub(in crate::bench) action: u32,
    /// How many packets it has forwarded, if it counts them.
    pub(in crate::bench) forwarded: Option<&'a dyn Fn() -> u64>,
}

/// Packets of a round: as many as it takes at 250 ns each.
pub(in crate::bench) fn repeat(common: &Common) -> u32 {
    (common.round().as_nanos() / 250).clamp(1000, 100_000_000) as u32
}

/// Rounds of all programs in turn, in nanoseconds a packet: the driver's (`drive` with `empty` behind it), and each program's without it.
pub(in crate::bench) fn measure(
    driver: &Driver,
    drive: RawFd,
    empty: RawFd,
    programs: &[Program<'_>],
    frame: &[u8],
    common: &Common,
) -> Result<(Rounds, Vec<Rounds>), Failure> {
    let repeat = repeat(common);
    let mut output = vec![0; 256];
    let mut rounds = vec![Rounds::default(); programs.len() + 1];
    let none = Program { fd: empty, action: REDIRECT, forwarded: None };
    for round in 0..=common.rounds() {
        for (program, rounds) in std::iter::once(&none).chain(programs).zip(&mut rounds) {
            driver.go_on_in(program.fd)?;
            let before = program.forwarded.map(|forwarded| forwarded());
            // The kernel runs the program on this thread: its time on the processor, as other people's work does not count.
            let begin = thread_time();
            let run = test_run(drive, frame, 0, &mut output, repeat).map_err(test_run_failure)?;
            let ns = (thread_time() - begin).as_nanos() as f64 / f64::from(repeat);
            let all = program.forwarded.zip(before).is_none_or(|(forwarded, before)| forwarded() - before == u64::from(repeat));
            if run.action != program.action || !all {
                return Err(Failure::Failed(format!("packets were not forwarded (action {})", run.action)));
            }
            // The first round warms up.
            if round > 0 {
                rounds.0.push(ns);
            }
        }
    }
    let driver = rounds.remove(0);
    for of in &mut rounds {
        of.0.iter_mut().zip(&driver.0).for_each(|(ns, driver)| *ns -= driver);
    }
    Ok((driver, rounds))
}

/// Rounds of `upf.p4` alone in a direction, in nanoseconds a packet.
pub(super) fn ours(programs: &mut Programs, driver: &mut Driver, direction: Direction, common: &Common) -> Result<Rounds, Failure> {
    programs.come_by_loopback(direction)?;
    let ours = programs.ours()?;
    programs.compare(direction, &[("upf.p4", number(&ours))])?;
    driver.prepare(direction);
    let (empty, drive) = (driver.empty()?, driver.program(direction)?);
    let ends = || programs.xdp.ends()[0];
    let program = Program { fd: number(&ours), action: REDIRECT, forwarded: Some(&ends) };
    let (_, mut rounds) = measure(driver, number(&drive), number(&empty), &[program], &sessions::frame(direction, 0), common)?;
    Ok(rounds.swap_remove(0))
}

/// A direction: the row, and its line.
pub(super) fn row(programs: &mut Programs, driver: &mut Driver, direction: Direction, common: &Common) -> Result<(Value, String), Failure> {
    programs.come_by_loopback(direction)?;
    let (ours, hand) = (programs.ours()?, programs.hand()?);
    let compared = programs.compare(direction, &[("upf.p4", number(&ours)), ("the program by hand", number(&hand))])?;
    driver.prepare(direction);
    let (empty, drive) = (driver.empty()?, driver.program(direction)?);
    let frame = sessions::frame(direction, 0);
    let ends = || programs.xdp.ends()[0];
    let contestants = [
        Program { fd: number(&ours), action: REDIRECT, forwarded: Some(&ends) },
        Program { fd: number(&hand), action: REDIRECT, forwarded: None },
    ];
    let (driver, rounds) = measure(driver, number(&drive), number(&empty), &contestants, &frame, common)?;
    let [ours, hand] = &rounds[..] else { return Err(Failure::Failed("two programs ran".into())) };
    let ratio = ours.ratio(hand);
    let text = format!(
        "    {:<40} {:>22} {:>22} {:>6.2}x {:>16.0}",
        format!("{direction} ({compared} frames compared)"),
        spread(ours, 0),
        spread(hand, 0),
        ratio.median(),
        driver.median(),
    );
    let row = json!({
        "what": "alone", "sessions": programs.count, "direction": direction, "verified": compared, "upf_ns": ours.json(),
        "hand_ns": hand.json(), "driver_ns": driver.json(), "ratio": ratio.json(), "inserts_per_second": programs.inserts_a_second,
        "packets_a_round": repeat(common),
    });
    Ok((row, text))
}
