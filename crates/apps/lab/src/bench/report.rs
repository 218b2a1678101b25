//! What readers of a figure must know beside it: the machine, the compilers; and how far a run has come.

use super::measure::Rounds;
use serde_json::json;
use std::process::Command;

/// The machine as it is now.
pub fn machine() -> serde_json::Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).map_or("unknown", |l| l.trim_start_matches([' ', '\t', ':']));
    let memory = read("/proc/meminfo");
    let of_memory = |key: &str| {
        let line = memory.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':'));
        line.map_or_else(|| "unknown".to_owned(), |l| l.trim().to_owned())
    };
    json!({
        "cpu": model,
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": of_memory("MemTotal"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "huge_pages": of_memory("HugePages_Total"),
        "transparent_huge_pages": chosen(&read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "transparent_huge_pages_shared": transparent_shared(),
        "load": read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" "),
        "compiler": compiler(),
        "compiler_flags": format!("{} -march={}", target_x86::FLAGS.join(" "), target_x86::NATIVE),
        "splitplane": env!("CARGO_PKG_VERSION"),
        "optimised": !cfg!(debug_assertions),
    })
}

/// Whether shared memory gets transparent huge pages, in the kernel's word.
pub fn transparent_shared() -> String {
    chosen(&std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/shmem_enabled").unwrap_or_default())
}

/// Of `always [madvise] never` the word in brackets.
fn chosen(text: &str) -> String {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("unknown", |(word, _)| word).to_owned()
}

/// First line of the version of the compiler that the x86 target takes.
fn compiler() -> String {
    let version = |name: &str| {
        let output = Command::new(name).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
    };
    let asked = std::env::var("CC").ok().filter(|cc| !cc.is_empty());
    let names = asked.as_deref().map_or_else(|| vec!["clang", "gcc", "cc"], |cc| vec![cc]);
    names.into_iter().find_map(version).unwrap_or_else(|| "none".to_owned())
}

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
