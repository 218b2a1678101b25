//! Does the laboratory take every command line of it that a page shows?

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn every_command_of_a_page_is_one_that_the_laboratory_takes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let pages = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|e| e == "md")).chain([root.join("README.md")]);
    let mut commands = BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        // Every second part is a block of code.
        for line in text.split("\n```").skip(1).step_by(2).flat_map(str::lines) {
            let command = line.split(" #").next().unwrap_or_default().trim().trim_start_matches("target/release/");
            // A word in capitals stands for a value.
            let stands_for = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
            let is_plain = !command.split_whitespace().any(stands_for) && !command.contains(['|', '[', '$', '\\', '"', '\'']);
            if let Some(arguments) = command.strip_prefix("splitplane-lab ").filter(|_| is_plain) {
                commands.insert(arguments.to_owned());
            }
        }
    }
    assert!(commands.len() >= 10, "{commands:?}");
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
        let out = command.args(arguments.split_whitespace()).arg("--help").output().unwrap();
        assert!(out.status.success(), "splitplane-lab {arguments}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
