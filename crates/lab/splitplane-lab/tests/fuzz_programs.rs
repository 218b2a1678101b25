//! Does `splitplane-lab p4 fuzz` run, reach what it is for, and find what differs?

use std::process::Command;

fn fuzz(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
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

/// What the text of a program says is what the interpreter and native code do: calls, aliases, exits, stacks, unions, tables.
#[test]
fn programs_of_text_mean_what_they_say() {
    let seed = std::env::var("SEEDS").unwrap_or_else(|_| "0".to_owned());
    let (code, text) = fuzz(&["--text", "--programs", "12", "--seed", &seed]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "not") <= 2, "too many programs are not native: {text}");
    assert!(number(&text, "read") > 1500 && number(&text, "calls") > 5000, "{text}");
    assert!(number(&text, "forwarded") > 1500 && number(&text, "hits") > 200 && number(&text, "misses") > 200, "{text}");
}

/// Packets of classes and of none in the same programs, some of which share a look-up with the one before.
#[test]
fn programs_with_classes_agree_and_have_packets_of_them() {
    let seed = std::env::var("SEEDS").unwrap_or_else(|_| "500".to_owned());
    let (code, text) = fuzz(&["--classes", "--programs", "24", "--seed", &seed]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "with") >= 8, "too few programs have classes: {text}");
    assert!(number(&text, "likely") > 1500 && number(&text, "unlikely") > 500 && number(&text, "spared") > 500, "{text}");
    assert!(number(&text, "forwarded") > 1500 && number(&text, "hits") > 1000 && number(&text, "misses") > 1000, "{text}");
}

/// A group that only a look-ahead writes.
#[test]
fn what_once_differed_agrees() {
    let seed = "1022";
    let (code, text) = fuzz(&["--programs", "1", "--seed", seed]);
    assert_eq!(code, Some(0), "{text}");
}

/// Made headers with one between them that is surely invalid at the end: they were moved as if they lay together.
#[test]
fn made_headers_with_a_gap_between_them_keep_their_bytes() {
    let (code, text) = fuzz(&["--programs", "1", "--seed", "20121"]);
    assert_eq!(code, Some(0), "{text}");
}

/// A table without entries is passed over by packets of a class: the stage behind it took validity from the context, where
/// nobody had put it. Few of its packets show that.
#[test]
fn validity_is_known_behind_a_table_that_is_passed_over() {
    let (code, text) = fuzz(&["--classes", "--programs", "1", "--seed", "700047"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "likely") > 0, "{text}");
}

/// A header that stays in the packet on one way and is taken away and made again on another: both ways have the same valid headers.
#[test]
fn ways_that_differ_only_in_places_are_told_apart() {
    let (code, text) = fuzz(&["--classes", "--programs", "1", "--seed", "700275"]);
    assert_eq!(code, Some(0), "{text}");
}

/// A mark that is read from bytes which the deparser moves.
#[test]
fn what_a_verdict_takes_from_the_packet_is_read_before_headers_move() {
    let (code, text) = fuzz(&["--classes", "--programs", "1", "--seed", "710013"]);
    assert_eq!(code, Some(0), "{text}");
}

/// The program writes `packet_length`; copies see the packet's own.
#[test]
fn copies_see_the_arrival_and_not_what_was_written_over_it() {
    let (code, text) = fuzz(&["--programs", "1", "--seed", "730030"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "copies") > 0, "{text}");
}

/// A slice of a variable that nobody writes: C's plain `0` was shifted by more bits than it has, and a key was anything.
#[test]
fn zero_is_as_wide_as_what_it_stands_for() {
    let (code, text) = fuzz(&["--classes", "--programs", "1", "--seed", "900022"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "hits") > 0 && number(&text, "likely") > 0 && number(&text, "unlikely") > 0, "{text}");
}

/// A packet with another than the usual action of a near table is buffered: the headers that the action has made are still valid behind it.
#[test]
fn what_other_actions_of_a_near_table_have_made_stays() {
    let (code, text) = fuzz(&["--classes", "--programs", "1", "--seed", "900024"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(number(&text, "hits") > 0 && number(&text, "likely") > 0, "{text}");
}

/// The C compiler may do anything where C says nothing: with these flags it stops instead.
#[test]
fn generated_code_has_a_meaning_in_c() {
    let flags = "-O1 -fsanitize=undefined -fno-sanitize=alignment -fsanitize-undefined-trap-on-error";
    for own in [&["--seed", "900022", "--classes"][..], &["--seed", "900000"]] {
        let (code, text) = fuzz(&[own, &["--programs", "8", "--cflags", flags]].concat());
        assert_eq!(code, Some(0), "{text}");
        assert!(number(&text, "hits") > 500 && number(&text, "forwarded") > 500, "{text}");
    }
}

#[test]
fn it_wants_to_know_how_long() {
    let (code, text) = fuzz(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--programs or --minutes"), "{text}");
}
