//! Every scenario of `splitplane smf --scenario`, over sockets, against the daemon on x86 with the configuration of docs/scenarios.md.

#[path = "netns/part.rs"]
mod part;

use part::{Namespaces, Part, run};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/examples/scenarios-upf.toml");

/// A namespace of its own, where the addresses of docs/scenarios.md are nobody else's.
fn namespace(name: &str) -> Namespaces {
    let ns = format!("sps-{name}-{}", std::process::id());
    run("ip", &["netns", "add", &ns]);
    run("ip", &["-n", &ns, "link", "set", "lo", "up"]);
    Namespaces(vec![ns])
}

fn scenario(ns: &str, name: &str, shape: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", ns, env!("CARGO_BIN_EXE_splitplane"), "smf", "--scenario", name, "--shape", shape]);
    command.args(["--upf", "127.0.0.7:8805", "--local", "127.0.0.4:8805", "--gnb", "127.0.0.2", "--gnb2", "127.0.0.3"]);
    command.args(["--dn", "10.45.0.1", "--ipv4", "10.45.0.0/16", "--psa", "127.0.0.9", "--n9-instance", "n9"]);
    if shape == "free5gc" {
        command.args(["--upf-n3", "127.0.0.7", "--upf-n9", "127.0.0.8"]);
    }
    command
}

#[test]
fn scenarios_run_over_sockets_against_the_daemon() {
    if !testkit::root_or_skip("scenarios_run_over_sockets_against_the_daemon") {
        return;
    }
    let namespaces = namespace("all");
    let ns = &namespaces.0[0];
    let daemon = Part::splitplane(ns, &["run", "--config", CONFIG]);
    let listed = run(env!("CARGO_BIN_EXE_splitplane"), &["smf", "--scenario", "list"]);
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "upf-restart").collect();
    assert!(names.len() >= 8 && names.contains(&"ulcl"), "{listed}");
    for name in names {
        for shape in ["open5gs", "free5gc"] {
            let output = scenario(ns, name, shape).output().unwrap();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let passed = out.lines().filter(|line| line.trim_start().starts_with("ok")).count();
            assert!(output.status.success() && passed >= 16, "{name} as {shape}: {out}{err}");
        }
    }
    daemon.stop();
}

/// Answers with a store are later than without: an SMF in use sends the removal of the forwarding tunnel again meanwhile, and hung when the second one was rejected.
/// `HANDOVERS=50 cargo test -p splitplane --test scenarios` runs more of them.
#[test]
fn n2_handovers_whose_removal_comes_twice_end_well_with_a_store() {
    if !testkit::root_or_skip("n2_handovers_whose_removal_comes_twice_end_well_with_a_store") {
        return;
    }
    let namespaces = namespace("twice");
    let ns = &namespaces.0[0];
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("upf.toml");
    let store = format!("[n4.store]\npath = \"{}\"\n\n[[port]]", folder.path().join("store").display());
    std::fs::write(&config, std::fs::read_to_string(CONFIG).unwrap().replacen("[[port]]", &store, 1)).unwrap();
    let daemon = Part::splitplane(ns, &["run", "--config", config.to_str().unwrap()]);
    let handovers = std::env::var("HANDOVERS").map_or(5, |n| n.parse().expect("HANDOVERS is a number"));
    for n in 0..handovers {
        let output = scenario(ns, "removal-twice", "open5gs").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "handover {n}: {out}{err}");
    }
    daemon.stop();
}

#[test]
fn a_upf_that_restarts_under_a_scenario_is_given_its_session_again() {
    if !testkit::root_or_skip("a_upf_that_restarts_under_a_scenario_is_given_its_session_again") {
        return;
    }
    let namespaces = namespace("restart");
    let ns = &namespaces.0[0];
    let daemon = Part::splitplane(ns, &["run", "--config", CONFIG]);
    let mut smf = scenario(ns, "upf-restart", "open5gs").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(smf.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("restart the UPF now")), "it asks for a restart");
    // As by kill -9: it releases nothing. Its successor's time stamp has whole seconds, so it must be another one.
    drop(daemon);
    let second = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let first = second();
    while second() == first {
        std::thread::yield_now();
    }
    let daemon = Part::splitplane(ns, &["run", "--config", CONFIG]);
    let output = smf.wait_with_output().unwrap();
    assert!(output.status.success(), "{}{:?}", String::from_utf8_lossy(&output.stdout), said.collect::<Vec<_>>());
    daemon.stop();
}
