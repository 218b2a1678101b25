//! Random programs of text: does the interpreter do with what they were lowered to, before and after the passes, what the second
//! opinion does with their text?

mod common;

use base::PortId;
use common::Both;
use p4_eval::Evaluator;
use p4_gen::random::{self, Rng};
use program::Op;

#[derive(Default, Debug)]
struct Seen {
    programs: u64,
    packets: u64,
    forwarded: u64,
    hits: u64,
    misses: u64,
    calls: u64,
    left_out: u64,
    refused: Vec<String>,
}

fn one(seed: u64, seen: &mut Seen) -> Result<(), String> {
    one_of(seed, &p4_gen::program(seed), seen)
}

/// That program, with entries and packets of the seed.
fn one_of(seed: u64, text: &str, seen: &mut Seen) -> Result<(), String> {
    let name = format!("random_{seed}.p4");
    let ir = match p4_check::compile_str(&name, text, &p4_check::Options::default()) {
        Ok(c) => c.ir,
        Err(e) => {
            seen.refused.push(e.render());
            keep(seed, text);
            return Ok(());
        }
    };
    let options = p4_syntax::Options { builtin: &p4_check::builtin, ..Default::default() };
    let parsed = p4_syntax::parse_str(&name, text, &options);
    let mut optimised = ir.clone();
    p4_passes::optimise(&mut optimised).map_err(|e| e.to_string())?;
    for (what, ir) in [("", ir), (" after the passes", optimised)] {
        let second = Evaluator::new(&parsed.program).map_err(|e| format!("{e:?}"))?;
        let mut entries = random::entries(&ir, seed);
        // They may be constant, or the same as the program's own.
        entries.ops.retain(|op| !matches!(op, Op::Insert(e) if !ir.program.tables[e.table].entries.is_empty()));
        let mut both = Both::new(ir, second);
        let mut rng = Rng::new(seed ^ 0xfeed);
        for round in 0..2 {
            if round == 1 {
                both.apply(&entries)?;
            }
            for _ in 0..20 {
                let packet = p4_gen::packet(&mut rng);
                match both.process(PortId(rng.below(9) as u16), &packet) {
                    Err(e) if e.starts_with("cannot: a program that runs for so long") => {
                        seen.left_out += 1;
                        return Ok(());
                    }
                    Err(e) => return Err(format!("seed {seed}{what}: {e}")),
                    Ok(_) => {}
                }
            }
        }
        let (hits, misses) = both.state().map_err(|e| format!("seed {seed}{what}: {e}"))?;
        seen.packets += both.packets;
        seen.forwarded += both.forwarded;
        seen.hits += hits;
        seen.misses += misses;
        seen.calls += both.second.calls_that_copy;
    }
    seen.programs += 1;
    Ok(())
}

/// Writes the program where `KEEP` says.
fn keep(seed: u64, text: &str) {
    if let Some(folder) = std::env::var_os("KEEP") {
        std::fs::write(std::path::Path::new(&folder).join(format!("random_{seed}.p4")), text).expect("can be written");
    }
}

/// `SEEDS=1000..2000` runs others; `KEEP=folder` keeps the programs that differ.
#[test]
fn the_interpreter_and_the_second_opinion_agree() {
    let range = std::env::var("SEEDS").unwrap_or_else(|_| "0..60".into());
    let (from, to) = range.split_once("..").expect("SEEDS=FROM..TO");
    let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
    let mut seen = Seen::default();
    let mut differing = Vec::new();
    for seed in from..to {
        if let Err(what) = one(seed, &mut seen) {
            keep(seed, &p4_gen::program(seed));
            differing.push(what);
        }
    }
    println!("{seen:#?}");
    assert!(differing.is_empty(), "{} of {} differ\n{}", differing.len(), to - from, differing[..differing.len().min(8)].join("\n"));
    assert!(seen.refused.is_empty(), "{} refused, such as\n{}", seen.refused.len(), seen.refused[0]);
    let n = seen.programs;
    assert!(
        seen.left_out * 20 <= to - from && seen.forwarded > 50 * n && seen.hits > 5 * n && seen.misses > 5 * n && seen.calls > 50 * n,
        "{seen:?}"
    );
}

/// `a(4)` with an index into a stack of three in the body of `a`.
#[test]
fn an_index_beyond_the_end_that_comes_from_a_constant_argument_is_no_error_of_the_program() {
    let mut seen = Seen::default();
    one_of(78_000_330, include_str!("programs/index_beyond_the_end_from_an_argument.p4"), &mut seen).unwrap();
    assert!(seen.refused.is_empty(), "{}", seen.refused[0]);
    assert_eq!(seen.programs, 1);
}
