//! Does the daemon hold under the short form of the standing attack? `make attack` runs all of it.

use std::process::Command;

/// As root, in namespaces of its own. Counts decide: no time does.
fn holds(name: &str, target: &str) {
    if !testkit::root_or_skip(name) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
    let run = command.args(["attack", "--short", "--target", target, "--out"]).arg(out.path()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    println!("{said}");
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("balanced") && !said.contains("FAILS"), "{said}");
}

#[test]
fn x86_holds_under_the_short_attack() {
    holds("x86_holds_under_the_short_attack", "x86");
}

#[test]
fn xdp_holds_under_the_short_attack() {
    holds("xdp_holds_under_the_short_attack", "xdp");
}
