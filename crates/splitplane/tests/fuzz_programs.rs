//! Does `splitplane p4 fuzz` run, reach what it is for, and find what differs?

use std::process::Command;

fn fuzz(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
    let output = command.args(["p4", "fuzz"]).args(args).env("RUST_LOG", "off").output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// The number in front of a word of the report.
fn number(text: &str, word: &str) -> u64 {
    let words: Vec<&str> = text.split([' ', ',', '(', ')', '\n']).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|w| *w == word).unwrap_or_else(|| panic!("no {word} in {text}"));
    words[at - 1].parse().unwrap_or_else(|_| panic!("no number of {word} in {text}"))
}

/// `SEEDS=100` begins elsewhere.
#[test]
fn random_programs_agree_and_reach_everything() {
    let seed = std::env::var("SEEDS").unwrap_or_else(|_| "0".to_owned());
    let (code, text) = fuzz(&["--programs", "16", "--seed", &seed]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(number(&text, "programs"), 16);
    assert!(number(&text, "not") <= 8, "too many programs are not native: {text}");
    assert!(number(&text, "copies") > 1000 && number(&text, "forwarded") > 500 && number(&text, "dropped") > 500, "{text}");
    assert!(number(&text, "hits") > 1000 && number(&text, "misses") > 1000, "{text}");
}

/// A group that only a look-ahead writes.
#[test]
fn what_once_differed_agrees() {
    let seed = "1022";
    let (code, text) = fuzz(&["--programs", "1", "--seed", seed]);
    assert_eq!(code, Some(0), "{text}");
}

/// A field of a union's header that native code gives otherwise: the interpreter has 0x00720000 where it has 0xe0000000.
#[test]
#[ignore = "native code differs from the interpreter: a known defect"]
fn a_header_of_a_union_keeps_its_bytes() {
    let (code, text) = fuzz(&["--programs", "1", "--seed", "20121"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn it_wants_to_know_how_long() {
    let (code, text) = fuzz(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--programs or --minutes"), "{text}");
}
