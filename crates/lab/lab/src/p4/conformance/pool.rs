//! Runs checks in child processes, some at a time, each with bounds on its time and memory.

use super::corpus::Check;
use super::job::Outcome;
use cli::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Most bytes that are read of a child's answer and of its errors.
const MAX_ANSWER: u64 = 1 << 16;

/// Bounds of a run.
pub(super) struct Limits {
    /// Children at a time.
    pub jobs: usize,
    /// Time of one.
    pub timeout: Duration,
    /// Address space of one.
    pub memory_mib: u64,
}

/// The outcomes, in the order of the checks.
pub(super) fn run(checks: &[Check], include: &[PathBuf], expected: Option<&Path>, limits: &Limits) -> Result<Vec<Outcome>, Failure> {
    let program = crate::programs::own()?;
    let bar = ProgressBar::new(checks.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = checks.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|s| {
        for _ in 0..limits.jobs.min(checks.len()) {
            s.spawn(|| {
                while let Some((check, slot)) = take(&next, checks, &outcomes) {
                    bar.set_message(check.path.clone());
                    let outcome = one(&program, check, include, expected, limits);
                    *slot.lock().unwrap_or_else(|e| e.into_inner()) = Some(outcome);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let done = |slot: Mutex<Option<Outcome>>| slot.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(outcomes.into_iter().map(|o| done(o).unwrap_or_else(|| Outcome::failed("was not run"))).collect())
}

fn take<'a, S>(next: &AtomicUsize, checks: &'a [Check], slots: &'a [S]) -> Option<(&'a Check, &'a S)> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    checks.get(i).zip(slots.get(i))
}

fn one(program: &Path, check: &Check, include: &[PathBuf], expected: Option<&Path>, limits: &Limits) -> Outcome {
    let mut command = Command::new(program);
    command.args(["p4", "conformance-job", "--kind", check.kind.name()]);
    command.arg("--memory").arg(limits.memory_mib.to_string()).arg("--program").arg(&check.file);
    if let Some(stf) = &check.stf {
        command.arg("--stf").arg(stf).arg("--target").arg(&check.target);
    }
    command.arg("--arch").arg(check.architecture);
    if let (Some(folder), super::corpus::Kind::Rejected) = (expected, check.kind) {
        command.arg("--expected").arg(folder.join(format!("{}-stderr", check.path)));
    }
    check.folder.include.iter().chain(include).for_each(|folder| {
        command.arg("-I").arg(folder);
    });
    check.folder.define.iter().for_each(|define| {
        command.arg("-D").arg(define);
    });
    command.env("RUST_LOG", "off").env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(child) => answer(child, limits.timeout),
        Err(e) => Outcome::failed(format!("cannot start: {e}")),
    }
}

/// What the child says; it is ended when its time is over.
fn answer(mut child: std::process::Child, timeout: Duration) -> Outcome {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    // Both are read to their ends, so that the child never waits; only the heads are kept.
    let errors = std::thread::spawn(move || head(&mut err));
    std::thread::spawn(move || sender.send(head(&mut out)));
    let Ok(text) = receiver.recv_timeout(timeout) else {
        // The child is ours; that it has just ended by itself is as good.
        let _ = child.kill();
        let _ = child.wait();
        return Outcome::failed(format!("took longer than {} s", timeout.as_secs()));
    };
    let status = child.wait();
    if let Ok(outcome) = serde_json::from_str(&text) {
        return outcome;
    }
    let errors = errors.join().unwrap_or_default();
    let last = errors.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with("thread")).unwrap_or("");
    Outcome::failed(format!("died ({}) {last}", status.map_or_else(|e| e.to_string(), |s| s.to_string())))
}

fn head(from: &mut Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.take(MAX_ANSWER).read_to_end(&mut bytes);
        let _ = std::io::copy(from, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
