//! `splitplane bearers` changes the bearers of a running `splitplane gnb`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn ue(id: u16, teid: u32, drb: u8) -> String {
    format!(
        "[[ue]]\nid = {id}\nradio = \"127.0.80.9:4001\"\nsession = {{ upf = \"127.0.80.1\", uplink_teid = 7, downlink_teid = {teid} }}\n\
         flows = [{{ qfi = 9, drb = 1 }}]\n[[ue.drb]]\nid = {drb}\nrlc = \"am\"\nciphering = 2\ncipher_key = \"000102030405060708090a0b0c0d0e0f\"\n"
    )
}

/// Status, standard output and error.
fn bearers(socket: &Path, args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_splitplane")).args(["bearers", "--control"]).arg(socket).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn bearers_of_a_running_gnodeb_come_change_and_go_by_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let socket = folder.path().join("gnb.sock");
    let config = format!(
        "role = \"both\"\ndatapath = \"entities\"\nn3 = \"127.0.80.2\"\ncontrol = \"{}\"\n[radio]\naddress = \"127.0.80.2:4001\"\nrate_mbps = 10\n{}",
        socket.display(),
        ue(1, 1, 1)
    );
    let (config, report) = (file("gnb.toml", &config), folder.path().join("report.json"));
    let mut gnb = Command::new(env!("CARGO_BIN_EXE_splitplane"))
        .args(["gnb", "--until-input-ends", "--config", &config, "--report"])
        .arg(&report)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(gnb.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let (good, bad, two) =
        (file("good.toml", &ue(2, 2, 1)), file("bad.toml", &ue(3, 3, 33)), file("two.toml", &(ue(4, 4, 1) + &ue(5, 1, 1))));
    assert_eq!(bearers(&socket, &["create", &good]), (true, "1 UEs: done\n".into(), String::new()));
    for (args, why) in [
        (&["create", &good][..], "ue[0].id: 2 is another UE's"),
        (&["create", &bad], "ue[0].drb[0].id: expected 1 to 32"),
        (&["create", &two], "ue[1].session.downlink_teid: 1 is another session's"),
        (&["release", "1", "9"], "ue[1]: there is no UE 9"),
        (&["modify", &bad], "ue[0].id: there is no UE 3"),
    ] {
        let (succeeded, _, error) = bearers(&socket, args);
        assert!(!succeeded && error.contains(&format!("nothing has changed: {why}")), "{args:?}: {error}");
    }
    let (_, list, _) = bearers(&socket, &["list"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(list.contains(r#""id":2"#) && !list.contains("0a0b0c"), "{list}");
    assert_eq!(bearers(&socket, &["release", "1", "2"]).1, "2 UEs: done\n");
    assert_eq!(bearers(&socket, &["list"]), (true, String::new(), String::new()));
    drop(gnb.stdin.take());
    assert!(gnb.wait().unwrap().success() && report.exists() && !socket.exists());
    assert!(!bearers(&socket, &["list"]).0);
}

/// `splitplane gnb` at 127.0.80.`host`, with these UEs.
fn gnb(folder: &Path, host: u8, ues: &str) -> (std::process::Child, std::path::PathBuf) {
    let (socket, config) = (folder.join(format!("gnb{host}.sock")), folder.join(format!("gnb{host}.toml")));
    let text = format!(
        "role = \"both\"\ndatapath = \"entities\"\nn3 = \"127.0.80.{host}\"\ncontrol = \"{}\"\n[radio]\naddress = \"127.0.80.{host}:4001\"\nrate_mbps = 10\n{ues}",
        socket.display()
    );
    std::fs::write(&config, text).unwrap();
    let command = Command::new(env!("CARGO_BIN_EXE_splitplane"))
        .args(["gnb", "--until-input-ends", "--config"])
        .arg(&config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut gnb = command.unwrap();
    let mut line = String::new();
    BufReader::new(gnb.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (gnb, socket)
}

#[test]
fn a_ue_that_one_of_two_gnodebs_refuses_stays_where_it_was_and_another_is_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let (mut source, from) = gnb(folder.path(), 3, &(ue(1, 1, 1) + &ue(2, 2, 1)));
    let (mut target, to) = gnb(folder.path(), 4, &ue(2, 2, 1));
    let to_text = to.display().to_string();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let ids = |socket: &Path| -> Vec<u64> {
        let (_, list, _) = bearers(socket, &["list"]);
        list.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap()).collect()
    };
    for (ues, why) in [
        (ue(1, 9, 1) + &ue(2, 8, 1), "ue[1].id: 2 is another UE's"),
        (ue(1, 9, 1) + &ue(7, 8, 1), "ue[1].id: there is no UE 7"),
        (
            ue(1, 9, 1).replace("[[ue.drb]]\nid = 1", "[[ue.drb]]\nid = 2").replace("drb = 1", "drb = 2"),
            "ue[0].drb: expected the bearers [1], each once",
        ),
    ] {
        let (succeeded, _, error) = bearers(&from, &["handover", &file("no.toml", &ues), "--to", &to_text]);
        assert!(!succeeded && error.contains(&format!("nothing has changed: {why}")), "{error}");
        assert_eq!((ids(&from), ids(&to)), (vec![1, 2], vec![2]));
    }
    let good = file("good.toml", &ue(1, 9, 1));
    let done = "1 UEs: done; switch the UPF's path, then release them at the source\n";
    assert_eq!(bearers(&from, &["handover", &good, "--to", &to_text]), (true, done.into(), String::new()));
    assert_eq!((ids(&from), ids(&to)), (vec![1, 2], vec![2, 1]));
    assert_eq!(bearers(&from, &["release", "1"]).1, "1 UEs: done\n");
    for gnb in [&mut source, &mut target] {
        drop(gnb.stdin.take());
        assert!(gnb.wait().unwrap().success());
    }
}
