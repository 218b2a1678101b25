//! The demo with a gNodeB: 20 UEs, or 4, behind a radio that loses 5 % and reorders as much, our gNodeB, our UPF, unmodified programs.

use std::process::{Command, Stdio};

fn demo(test: &str, args: &[&str]) {
    if !testkit::root_or_skip(test) {
        return;
    }
    for tool in ["tshark", "dumpcap", "iperf3", "curl"] {
        let version = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if version.is_err() {
            testkit::skip(&format!("needs {tool} (scripts/setup)"));
            return;
        }
    }
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().display().to_string();
    let line = ["demo", "--gnb", "--fast", "asic", "--download-mb", "2", "--out", &folder];
    let output = Command::new(env!("CARGO_BIN_EXE_splitplane-lab")).args([&line[..], args].concat()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{error}");
    assert!(text.contains("nothing of a user was dropped") && text.contains("bytes by session agree"), "{text}");
    assert!(text.contains("the TCP of UEs missed no segment"), "{text}");
    let measured = text.contains("ok   TCP keeps 90 %") || text.contains("not measured, others had");
    assert_eq!(measured, !args.contains(&"0"), "{text}");
    let program = !args.iter().any(|arg| ["entities", "--split-gnb"].contains(arg));
    assert_eq!(text.contains("gNodeB of p4/gnb.p4"), program, "{text}");
    if args.contains(&"--capture") {
        for all in ["the radio as RLC", "all bearers as PDCP", "N3 as GTP-U"] {
            assert!(text.contains(&format!("tshark reads every frame of {all}")), "{text}");
        }
        assert_eq!(text.contains("tshark reads every frame of F1-U as GTP-U"), args.contains(&"--split-gnb"), "{text}");
    }
    let hands_over = args.contains(&"entities");
    assert_eq!(text.contains("to gNodeB 2 and back: all were at work"), hands_over, "{text}");
}

#[test]
fn users_lose_nothing_behind_a_radio_that_loses() {
    // As many UEs as the demo has by itself.
    demo("users_lose_nothing_behind_a_radio_that_loses", &["--goodput-rounds", "3", "--capture"]);
}

#[test]
fn users_lose_nothing_behind_gnodebs_of_the_entities_and_at_handovers_between_them() {
    demo(
        "users_lose_nothing_behind_gnodebs_of_the_entities_and_at_handovers_between_them",
        &["--ues", "4", "--datapath", "entities", "--goodput-rounds", "0", "--capture"],
    );
}

#[test]
fn users_lose_nothing_with_cu_and_du_apart() {
    demo("users_lose_nothing_with_cu_and_du_apart", &["--ues", "4", "--split-gnb", "--goodput-rounds", "0", "--capture"]);
}
