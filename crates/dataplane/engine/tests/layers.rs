//! Do the engine's files use each other in one direction alone, so that each can be read with those below it?

use std::path::Path;

/// From the top. Files of one row do not use each other, but for the first: the handle on workers, how they become more or fewer, and their ports.
const ROWS: [&[&str]; 7] = [
    &["control", "scale", "ports"],
    &["master"],
    &["worker"],
    &["command"],
    &["port", "ring", "buffer", "shape", "balance"],
    &["message", "steer", "ledger", "tap", "queues"],
    &["marks"],
];

#[test]
fn files_use_those_below_them_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let row = |name: &str| ROWS.iter().position(|row| row.contains(&name));
    let (mut files, mut uses) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "lib" {
            continue;
        }
        let own = row(&name).unwrap_or_else(|| panic!("{name}.rs has no row: give it one, here and in lib.rs"));
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used = used.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
                let Some(below) = row(used) else { continue };
                uses += 1;
                assert!(below > own || used == name || (own, below) == (0, 0), "{name}.rs uses {used}.rs, which is not below it");
            }
        }
    }
    assert!(files == ROWS.iter().map(|row| row.len()).sum::<usize>() && uses > 20, "{files} files, {uses} uses");
}
