//! Runs every input that the fuzzer starts from (`fuzz/corpus`) or once broke something with (`fuzz/regressions`).
//!
//! The code is the fuzzer's own (`fuzz/src`), without libFuzzer: no special build, on every `cargo test`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::CpuTime;

// A library of its own in `fuzz/`.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;

/// Longest that one input may take, in a test build on a busy machine.
const MOST: Duration = Duration::from_secs(20);

#[test]
fn every_known_input_keeps_every_promise() {
    // A damaged store leaves threads that stand still in a panic hook, as does one that an operator has.
    testkit::in_own_process("every_known_input_keeps_every_promise", run_every_known_input);
}

fn run_every_known_input() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    for (target, run) in fuzz::TARGETS {
        let corpus = files(&folder.join("corpus").join(target));
        assert!(!corpus.is_empty(), "target {target} has no input to start from");
        for file in corpus.into_iter().chain(files(&folder.join("regressions").join(target))) {
            let input = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let started = CpuTime::new();
            // Shown only if the test fails: the last line then names the input.
            println!("{target}: {}", file.display());
            run(&input);
            assert!(started.elapsed() < MOST, "{} took {:?}", file.display(), started.elapsed());
        }
    }
}

#[test]
fn every_folder_of_inputs_has_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    for kind in ["corpus", "regressions", "fuzz_targets"] {
        for path in files_and_folders(&folder.join(kind)) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let known = fuzz::TARGETS.iter().any(|(target, _)| *target == name);
            assert!(known || name == "README", "{} belongs to no target in fuzz/src/lib.rs", path.display());
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    files_and_folders(folder).into_iter().filter(|path| path.is_file()).collect()
}

/// In order of their names; none if there is no such folder.
fn files_and_folders(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
