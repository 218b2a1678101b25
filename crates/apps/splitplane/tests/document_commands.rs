//! Do the documents' commands work? The first session of README.md is run as it is written, and every command line of a page is one that the program takes.

#[path = "netns/part.rs"]
mod part;

use part::Namespaces;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The text of the code blocks of a page.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```").enumerate().filter(|(n, _)| n % 2 == 1).map(|(_, block)| block.split_once('\n').map_or("", |(_, text)| text))
}

#[test]
fn the_first_session_of_the_readme_pings_through_the_upf() {
    if !testkit::root_or_skip("the_first_session_of_the_readme_pings_through_the_upf") {
        return;
    }
    let page = read("README.md");
    let section = page.split("## Your first session in ten lines").nth(1).unwrap();
    let script = code(section).next().unwrap();
    assert_eq!(script.lines().count(), 10, "{script}");
    // Names of our own: others may follow the same page on this machine.
    let folder = tempfile::tempdir().unwrap();
    let [upf, ran] = ["upf", "ran"].map(|name| format!("spd-{name}-{}", std::process::id()));
    let _namespaces = Namespaces(vec![upf.clone(), ran.clone()]);
    let records = folder.path().join("records").display().to_string();
    let mut script = script.replace("/tmp/first-session", &records);
    for (name, own) in [("upf", &upf), ("ran", &ran)] {
        for before in ["add", "delete", "exec", "-n", "netns"] {
            script = script.replace(&format!("{before} {name}"), &format!("{before} {own}"));
        }
    }
    let splitplane = env!("CARGO_BIN_EXE_splitplane");
    script = script.replace("\nsplitplane ", &format!("\n{splitplane} ")).replace(" splitplane ", &format!(" {splitplane} "));
    // Whatever fails, nothing is left.
    let script = format!("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n{script}");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", "300", "bash", "-c", &script]).current_dir(root()).stdin(Stdio::null());
    command.env("RUNTIME_DIRECTORY", folder.path().join("splitplane"));
    let out = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}");
    for part in ["1 received", "10.45.0.2", "internet"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    assert!(!Path::new(&records).exists(), "the last line has cleaned up");
}

/// Options and subcommands as they are written: with `--help` behind them the program says what they do, unless it knows them not.
#[test]
fn every_command_of_a_page_is_one_that_the_program_takes() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|e| e == "md")).chain([root().join("README.md")]);
    let mut commands = BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for line in code(&text).flat_map(str::lines) {
            let command = line.split(" #").next().unwrap_or_default().trim().trim_start_matches("$ ");
            // What a shell would make of other lines is the shell's business.
            // A word in capitals stands for a value.
            let stands_for = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
            let is_plain = !command.split_whitespace().any(stands_for)
                && !command.contains(['|', '[', ';', '&', '>', '<', '$', '\\', '*', '"', '\''])
                && !command.contains("...");
            if let Some(arguments) = command.strip_prefix("splitplane ").filter(|_| is_plain) {
                commands.insert(arguments.to_owned());
            }
        }
    }
    assert!(commands.len() >= 25, "{commands:?}");
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        let out = command.args(arguments.split_whitespace()).arg("--help").output().unwrap();
        assert!(out.status.success(), "splitplane {arguments}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
