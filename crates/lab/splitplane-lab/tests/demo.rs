//! What the laboratory's users do wrong, and what a demo leaves behind that ends early: nothing.

use std::io::BufRead;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn lab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
    command.args(args).env("RUST_LOG", "off").env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

#[test]
fn wrong_arguments_are_refused() {
    for args in [&["nosuch"][..], &["demo", "--sessions", "1000000"], &["demo", "--share", "2"], &["bench", "upf", "--rounds", "0"]] {
        let output = lab(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(!Path::new("out/upf.toml").exists(), "a refused demo leaves nothing");
}

/// A copy of the laboratory in a folder of its own has no UPF beside it.
#[test]
fn without_the_upf_beside_it_the_laboratory_names_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("splitplane-lab");
    testkit::install(Path::new(env!("CARGO_BIN_EXE_splitplane-lab")), &alone);
    let output = Command::new(alone).args(["bench", "services", "seam", "--quick"]).env("RUST_LOG", "off").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{error}");
    for part in [
        "splitplane-lab: ",
        &format!("{}: there is no such program", folder.path().join("splitplane").display()),
        "cargo build -p splitplane",
    ] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

/// Namespaces, links and whatever runs in them go with the demo, however it ends. Needs root, and says so.
#[test]
fn a_killed_demo_leaves_nothing_behind() {
    let namespaces = || Command::new("ip").args(["netns", "list"]).output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let allowed = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if !allowed || namespaces().is_err() {
        testkit::skip("needs root and iproute2");
        return;
    }
    for signal in ["-INT", "-KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out").display().to_string();
        let mut demo = lab(&["demo", "--sessions", "2", "--out", &out]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // It says so when the namespaces are there and the UPF is about to start.
        let lines = std::io::BufReader::new(demo.stdout.take().unwrap()).lines().map_while(Result::ok);
        let began = lines.into_iter().any(|line| line.starts_with("SMF:"));
        let mine = format!("-{}", demo.id());
        let there = namespaces().unwrap().contains(&mine);
        Command::new("kill").args([signal, &demo.id().to_string()]).status().unwrap();
        demo.wait().unwrap();
        assert!(began && there, "the demo did not begin");
        let end = Instant::now() + Duration::from_secs(10);
        while namespaces().unwrap().contains(&mine) {
            assert!(Instant::now() < end, "{signal} left {}", namespaces().unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
