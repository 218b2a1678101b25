//! How does a test that cannot run here, or not whole, say so? Where it is seen although the test passes.

use std::io::Write;

/// Environment variable with the name of a file that gets a line for each [`skip`]: `scripts/test` shows them at its end.
pub const SKIPPED: &str = "TESTKIT_SKIPPED";

/// Prints `skipped: <reason>: <test>`; the test, or that part of it, returns. The test is known by its thread's name.
pub fn skip(reason: &str) {
    tell(reason, std::thread::current().name().unwrap_or("a thread without name"));
}

pub(crate) fn tell(reason: &str, test_name: &str) {
    let line = format!("skipped: {reason}: {test_name}\n");
    // The handle, not the macro: of a passing test cargo shows only what is written there. A closed stderr is no failure.
    let _ = std::io::stderr().write_all(line.as_bytes());
    let Some(path) = std::env::var_os(SKIPPED) else { return };
    // Tests of several processes write at the same time: a line is one write.
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list of skipped tests can be written");
}
