//! How are figures shown: the machine above them, a rate as a line; and how far has a run come?

use super::measure::Rounds;
pub use daemon::process::machine::{machine, transparent_shared};
use serde_json::json;

/// The machine in a line, for the head of a table.
pub fn print_machine(machine: &serde_json::Value) {
    let text = |key: &str| machine[key].as_str().map_or_else(|| machine[key].to_string(), str::to_owned);
    println!(
        "{}, {} cores, {}, Linux {}; huge pages {}, transparent {}; load {}; {} {}",
        text("cpu"),
        text("cores"),
        text("memory"),
        text("kernel"),
        text("huge_pages"),
        text("transparent_huge_pages"),
        text("load"),
        text("compiler"),
        text("compiler_flags")
    );
    if cfg!(debug_assertions) {
        println!("This is an unoptimised build: its figures mean nothing. Use `cargo build --release`.");
    }
}

/// A bar on a terminal, nothing elsewhere.
pub fn progress(steps: u64) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta:>4} left  {msg}");
    indicatif::ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()))
}

/// A row of one figure.
pub fn rate(what: &str, unit: &str, rounds: &Rounds, verified: usize) -> serde_json::Value {
    json!({ "what": what, "unit": unit, "rate": rounds.json(), "verified": verified })
}

/// As a line of a table, with the row's `note`.
pub fn print_rate(row: &serde_json::Value) {
    let [median, min, max] = ["median", "min", "max"].map(|key| row["rate"][key].as_f64().unwrap_or_default());
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    println!("  {:<76} {median:>8.2} ({min:>6.2} to {max:>6.2}) {:<5} {}", text("what"), text("unit"), text("note"));
}
