//! What must readers of a figure know beside it? The machine, the compilers, the build.

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
