//! Is every configuration in docs/ one that `splitplane run` takes, and does a page name it?

use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// A network namespace with the interfaces that the examples name. Removed on drop.
struct Machine(String);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(format!("spe-{}", std::process::id()));
        let ns = machine.0.as_str();
        ip(&["netns", "add", ns]);
        ip(&["-n", ns, "link", "set", "lo", "up"]);
        // Of the README's first session.
        ip(&["-n", ns, "address", "add", "10.3.0.1/32", "dev", "lo"]);
        // N3 has room for a tunnel around N6's longest packets.
        for (name, mtu) in [("n3", "1544"), ("n6", "1500")] {
            ip(&["-n", ns, "link", "add", name, "mtu", mtu, "type", "veth", "peer", "name", &format!("{name}-far"), "mtu", mtu]);
            ip(&["-n", ns, "link", "set", name, "up"]);
        }
        machine
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

fn ip(args: &[&str]) {
    assert!(Command::new("ip").args(args).status().unwrap().success(), "ip {args:?}");
}

#[test]
fn every_example_configuration_is_good_and_leaves_nothing_in_doubt() {
    if !testkit::root_or_skip("every_example_configuration_is_good_and_leaves_nothing_in_doubt") {
        return;
    }
    let machine = Machine::new();
    let examples =
        [vec![docs().join("upf.example.toml"), docs().join("split.example.toml")], files(&docs().join("examples"), "toml")].concat();
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &machine.0, env!("CARGO_BIN_EXE_splitplane"), "run", "--check", "--config"]).arg(&example);
        let output = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains("good"), "{}: {out}{err}", example.display());
        assert!(!err.to_lowercase().contains("warn"), "{}: {err}", example.display());
    }
}

#[test]
fn every_example_is_named_by_a_page() {
    let pages: String = files(&docs(), "md").iter().map(|page| std::fs::read_to_string(page).unwrap()).collect();
    for example in std::fs::read_dir(docs().join("examples")).unwrap() {
        let name = example.unwrap().file_name().into_string().unwrap();
        assert!(pages.contains(&format!("](examples/{name})")), "no page links to examples/{name}");
    }
}
