//! A test that is skipped passes, and is seen all the same: nine were silently green.

use std::process::Command;

const CHILD: &str = "TESTKIT_TEST_CHILD";

#[test]
fn a_skipped_test_is_seen_though_cargo_shows_nothing_of_tests_that_pass() {
    if std::env::var_os(CHILD).is_some() {
        println!("captured");
        eprintln!("captured");
        return testkit::skip("no such device");
    }
    let list = tempfile::NamedTempFile::new().unwrap();
    let test = "a_skipped_test_is_seen_though_cargo_shows_nothing_of_tests_that_pass";
    // Two threads, as with one libtest runs the test on its own, which has another name.
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args([test, "--exact", "--test-threads", "2"])
        .env(CHILD, "1")
        .env(testkit::SKIPPED, list.path())
        .env_remove("RUST_TEST_NOCAPTURE");
    let line = format!("skipped: no such device: {test}\n");
    for times in 1..=2 {
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(error, line);
        assert!(!out.contains("captured"), "{out}");
        assert_eq!(std::fs::read_to_string(list.path()).unwrap(), line.repeat(times), "each run adds to the list");
    }
}
