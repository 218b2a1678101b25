//! What does a test do that leaves something in its process which must not be there when the process ends? It runs in a process of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

/// Set in the process that [`in_own_process`] starts.
const INNER: &str = "TESTKIT_INNER";

/// Runs `body` in a process of its own, this test's binary once more, which ends as soon as `body` does: threads that it leaves behind are not waited for, nor
/// what they hold. `test` is the calling test's full name, as `cargo test -- --list` has it. Panics, with what the process wrote, if `body` did.
///
/// Needed where a thread stops for good in a panic hook. It keeps the standard library's lock of the hook, which libtest takes for writing at its end.
pub fn in_own_process(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INNER).is_some_and(|inner| inner == test) {
        // The panic's message has been written.
        let status = catch_unwind(AssertUnwindSafe(body)).map_or(101, |()| 0);
        std::process::exit(status);
    }
    let binary = std::env::current_exe().expect("a test's binary is a file");
    let ran = Command::new(binary).args(["--exact", test, "--nocapture", "--test-threads=1"]).env(INNER, test).output();
    let out = ran.expect("a test's binary can be run");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    // libtest succeeds with no test too.
    assert!(said.contains("running 1 test"), "no test has the name {test}: {said}");
    assert!(out.status.success(), "{}: {said}", out.status);
}

#[cfg(test)]
mod tests {
    use super::in_own_process;

    #[test]
    fn a_thread_that_never_ends_does_not_keep_the_process() {
        in_own_process("own_process::tests::a_thread_that_never_ends_does_not_keep_the_process", || {
            let (tell, told) = std::sync::mpsc::channel();
            std::panic::set_hook(Box::new(move |_| {
                let _ = tell.send(());
                loop {
                    std::thread::park();
                }
            }));
            std::thread::spawn(|| panic!("it stops in the hook, and holds its lock"));
            told.recv().unwrap();
        });
    }

    #[test]
    #[should_panic(expected = "the body's own words")]
    fn a_panic_of_the_body_is_the_tests() {
        in_own_process("own_process::tests::a_panic_of_the_body_is_the_tests", || panic!("the body's own words"));
    }

    #[test]
    #[should_panic(expected = "no test has the name")]
    fn a_wrong_name_is_told() {
        in_own_process("of_no_test", || ());
    }
}
