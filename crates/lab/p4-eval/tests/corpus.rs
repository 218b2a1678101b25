//! Do the interpreter and the second opinion agree on the programs of this tree, on the packets of their tests and on others?

mod common;

use base::PortId;
use common::Both;
use p4_eval::Evaluator;
use p4_interp::stf::{self, Command};
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs of a folder that have a packet test.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "p4") && p.with_extension("stf").exists());
    all.sort();
    all
}

#[derive(Default)]
struct Seen {
    programs: usize,
    packets: u64,
    forwarded: u64,
    hits: u64,
    calls: u64,
    /// What this crate leaves out.
    left_out: Vec<String>,
}

/// Plays a packet test on both, its packets also in parts and changed in places.
fn play(path: &Path, seen: &mut Seen) -> Result<(), String> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let ir = p4_check::compile_file(path, &p4_check::Options::default()).map_err(|e| e.render())?.ir;
    let options = p4_syntax::Options { builtin: &p4_check::builtin, ..Default::default() };
    let parsed = p4_syntax::parse_file(path, &options);
    let script = stf::parse(&std::fs::read_to_string(path.with_extension("stf")).unwrap(), &ir.program).map_err(|e| e.to_string())?;
    let second = match Evaluator::new(&parsed.program) {
        Ok(e) => e,
        Err(e) => {
            seen.left_out.push(format!("{name}: {e:?}"));
            return Ok(());
        }
    };
    let mut both = Both::new(ir, second);
    for (line, command) in &script.commands {
        let result = match command {
            Command::Apply(batch) => both.apply(batch),
            Command::Packet { port, bytes } => packets(&mut both, *port, bytes),
            Command::RemoveAll => Err("cannot: remove all".into()),
            _ => Ok(()),
        };
        match result {
            Err(what) if what.contains("cannot: ") || what.contains("Cannot(") => {
                seen.left_out.push(format!("{name}, line {line}: {what}"));
                return Ok(());
            }
            Err(what) => return Err(format!("{name}, line {line}: {what}")),
            Ok(()) => {}
        }
    }
    let (hits, _) = both.state().map_err(|e| format!("{name}: {e}"))?;
    seen.programs += 1;
    seen.packets += both.packets;
    seen.forwarded += both.forwarded;
    seen.hits += hits;
    seen.calls += both.second.calls_that_copy;
    Ok(())
}

fn packets(both: &mut Both, port: PortId, bytes: &[u8]) -> Result<(), String> {
    both.process(port, bytes)?;
    for cut in [bytes.len() / 3, bytes.len().saturating_sub(1)] {
        both.process(port, &bytes[..cut])?;
    }
    for at in 0..bytes.len().min(48) {
        let mut other = bytes.to_vec();
        other[at] ^= 1 << (at % 8);
        both.process(port, &other)?;
    }
    Ok(())
}

fn agree(folders: &[PathBuf]) -> Seen {
    let mut seen = Seen::default();
    let mut differing = Vec::new();
    for path in folders.iter().flat_map(|f| programs(f)) {
        differing.extend(play(&path, &mut seen).err());
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    seen
}

#[test]
fn programs_of_the_specification_mean_the_same() {
    let seen = agree(&[crates().join("p4/p4-interp/tests/meaning")]);
    assert!(seen.left_out.is_empty(), "{}", seen.left_out.join("\n"));
    assert!(seen.forwarded > 500 && seen.hits > 0 && seen.calls > 500, "{} {} {}", seen.forwarded, seen.hits, seen.calls);
}

#[test]
fn programs_of_our_corpus_mean_the_same() {
    let seen = agree(&[crates().join("apps/splitplane/tests/corpus")]);
    println!("{}", seen.left_out.join("\n"));
    assert!(seen.programs >= 10, "{} programs; left out: {}", seen.programs, seen.left_out.join("\n"));
    assert!(seen.forwarded > 500 && seen.hits > 100, "{} {} {}", seen.packets, seen.forwarded, seen.hits);
}
