//! What does finding a session cost by itself? The same look-up in the kernel's hash maps, in an array whose index is known, and in
//! the table of the program made from `upf.p4`; what a program costs that only makes the key is taken off.

use super::super::measure::{Rounds, thread_time};
use super::super::options::Common;
use super::super::sessions::{self, Direction};
use super::driver::{Driver, number};
use super::programs::{Programs, REDIRECT};
use super::{load_failure, spread, test_run_failure};
use cli::failure::Failure;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::{Shared, test_run};

/// What is put behind the text made from `upf.p4`: a program on the same tables.
pub(super) const OURS: &str = include_str!("look_up.c");
const TEXT: &str = include_str!("maps.c");
/// Bytes of `struct value` there: the arguments of `set_pdr`.
const VALUE: usize = 56;
/// Bytes of `struct wide`, and how many of them there are for each session: what the table of `upf.p4` has.
const WIDE: usize = 128;
const SPREAD: u32 = 2;
/// Programs there, and which of them look up: what for.
const PROGRAMS: [&str; 5] = ["no_table", "in_ahead", "in_lazy", "in_array", "in_spread"];
const NAMES: [(&str, &str); 5] = [
    ("hash_preallocated", "hash map, allocated ahead"),
    ("hash_allocated_late", "hash map, BPF_F_NO_PREALLOC"),
    ("array", "array map, index known"),
    ("array_spread", "the same, as large as upf.p4's table"),
    ("ours", "table of upf.p4"),
];

/// The head of its lines.
pub(super) const HEAD: &str = "  the look-up of a session alone (key of 8 bytes, value of 56), ns without the driver and making the key";

/// The row, and its lines.
pub(super) fn row(programs: &Programs, driver: &mut Driver, common: &Common) -> Result<(Value, String), Failure> {
    // The longer key: two fields of the packet.
    let direction = Direction::Uplink;
    let (maps, found) = fill(programs.count)?;
    let fds = PROGRAMS.map(|name| maps.program_fd(name).map_err(load_failure));
    let ours = programs.xdp.load_also("look_up").map_err(load_failure)?;
    driver.prepare(direction);
    let drive = driver.program(direction)?;
    let repeat = (common.round().as_nanos() / 150).clamp(1000, 100_000_000) as u32;
    let frame = sessions::frame(direction, 0);
    let mut output = vec![0; 256];
    let mut rounds: [Rounds; PROGRAMS.len() + 1] = Default::default();
    for round in 0..=common.rounds() {
        for (i, of) in rounds.iter_mut().enumerate() {
            let program = match fds.get(i) {
                Some(fd) => number(fd.as_ref().map_err(|e| Failure::Failed(e.to_string()))?),
                None => number(&ours),
            };
            driver.go_on_in(program)?;
            let counts = || match i < PROGRAMS.len() {
                true => [0, 8].map(|at| found.long(at).load(Ordering::Relaxed)),
                false => [programs.xdp.ends()[0], programs.xdp.ends()[1]],
            };
            let expected: u64 = driver.coming(repeat as usize).map(|n| u64::from(pdr(n))).sum();
            let before = counts();
            let begin = thread_time();
            let run = test_run(number(&drive), &frame, 0, &mut output, repeat).map_err(test_run_failure)?;
            let ns = (thread_time() - begin).as_nanos() as f64 / f64::from(repeat);
            let after = counts();
            let [times, sum] = [0, 1].map(|i| after[i].wrapping_sub(before[i]));
            if run.action != REDIRECT || (times, sum) != (repeat.into(), expected) {
                let what = PROGRAMS.get(i).unwrap_or(&"look_up");
                return Err(Failure::Failed(format!("{what} found {times} sessions of {repeat}, with a sum of {sum}, not {expected}")));
            }
            // The first round warms up.
            if round > 0 {
                of.0.push(ns);
            }
        }
    }
    let [nothing, of_maps @ ..] = &mut rounds;
    let mut row = json!({ "what": "maps", "sessions": programs.count, "verified": repeat, "packets_a_round": repeat });
    let mut text = String::new();
    for (of, (key, name)) in of_maps.iter_mut().zip(NAMES) {
        of.0.iter_mut().zip(&nothing.0).for_each(|(ns, nothing)| *ns -= nothing);
        row[key] = of.json();
        let _ = write!(text, "{}    {name:<40} {:>22}", if text.is_empty() { "" } else { "\n" }, spread(of, 1));
    }
    row["driver_and_key_ns"] = nothing.json();
    Ok((row, text))
}

/// The kernel's maps with that many sessions, whose values begin with the number of their PDR.
fn fill(n: u32) -> Result<(Object, Shared), Failure> {
    let entries = [("ahead", n), ("lazy", n), ("array", n), ("spread", SPREAD * n)];
    let sizes = Sizes { entries: entries.map(|(name, n)| (name.to_owned(), n)).to_vec(), ..Sizes::default() };
    let maps = Object::compile(TEXT, &sizes, &PROGRAMS).map_err(load_failure)?;
    let endpoint: [u8; 4] = sessions::frame(Direction::Uplink, 0)[30..34].try_into().unwrap_or_default();
    let entries: Vec<([u8; 8], [u8; VALUE])> = (0..n)
        .map(|n| {
            let (mut key, mut value) = ([0; 8], [0; VALUE]);
            key[..4].copy_from_slice(&endpoint);
            key[4..].copy_from_slice(&sessions::teid(n).to_be_bytes());
            value[..4].copy_from_slice(&pdr(n).to_ne_bytes());
            (key, value)
        })
        .collect();
    for map in ["ahead", "lazy"] {
        maps.put_all(map, entries.iter().map(|(k, v)| (&k[..], &v[..]))).map_err(load_failure)?;
    }
    let mut array = maps.shared("array", n.into(), VALUE).map_err(load_failure)?;
    entries.iter().enumerate().for_each(|(i, (_, value))| array.write(VALUE * i, value));
    let mut spread = maps.shared("spread", (SPREAD * n).into(), WIDE).map_err(load_failure)?;
    entries.iter().enumerate().for_each(|(i, (_, value))| spread.write(SPREAD as usize * WIDE * i, &value[..4]));
    let found = maps.shared("found", 1, 16).map_err(load_failure)?;
    Ok((maps, found))
}

/// What `upf.p4` knows a session's uplink PDR by.
fn pdr(n: u32) -> u32 {
    2 * n + 1
}
