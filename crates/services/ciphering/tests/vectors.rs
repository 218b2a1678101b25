//! Does each implementation give what the official test data say?
//!
//! Lengths of the data are in bits, ours in bytes. A ciphering set is run with whole bytes, and its output compared in the bits that the
//! set has: a key stream does not depend on the length. A MAC does; NIA3 has no set of whole bytes, so its sets are tested with
//! bits inside the crate (`portable.rs`), and the implementations against each other in `twins.rs`.

mod common;

use ciphering::{Direction, Engine, Job, Nea, Nia, Outcome, Step};
use common::{engines, vectors};

#[test]
fn ciphering_is_that_of_the_test_data() {
    for mut engine in engines() {
        let mut seen = [0; 4];
        for set in vectors().into_iter().filter(|set| set.algorithm.starts_with("nea")) {
            let algorithm = Nea::try_from(set.number()).expect("known");
            seen[usize::from(set.number())] += 1;
            let key = engine.cipher_key(algorithm, &set.key);
            for step in [Step::Protect, Step::Recover] {
                let (input, output) = match step {
                    Step::Protect => (&set.input, &set.output),
                    Step::Recover => (&set.output, &set.input),
                };
                let mut data = input.clone();
                let mut jobs = [set.job(Some(&key), None, step, &mut data)];
                engine.run(&mut jobs);
                assert_eq!(jobs[0].outcome, Outcome::Done);
                set.cut(&mut data);
                let mut expected = output.clone();
                set.cut(&mut expected);
                assert_eq!(data, expected, "{}: {} set {} {step:?}", engine.name(), set.algorithm, set.set);
            }
        }
        assert_eq!(seen, [0, 6, 6, 5], "{}", engine.name());
    }
}

#[test]
fn macs_are_those_of_the_test_data() {
    for mut engine in engines() {
        let mut seen = [0; 4];
        for set in vectors().into_iter().filter(|set| set.algorithm.starts_with("nia") && set.bits.is_multiple_of(8)) {
            seen[usize::from(set.number())] += 1;
            let key = engine.integrity_key(Nia::try_from(set.number()).expect("known"), &set.key);
            let mut data = [&set.input[..], &[0; 4]].concat();
            let outcome = |engine: &mut Engine, step, data: &mut [u8]| {
                let mut jobs = [set.job(None, Some(&key), step, data)];
                engine.run(&mut jobs);
                jobs[0].outcome
            };
            assert_eq!(outcome(&mut engine, Step::Protect, &mut data), Outcome::Done);
            assert_eq!(data, [&set.input[..], &set.output].concat(), "{}: {} set {}", engine.name(), set.algorithm, set.set);
            assert_eq!(outcome(&mut engine, Step::Recover, &mut data), Outcome::Done);
            *data.last_mut().expect("a MAC") ^= 1;
            assert_eq!(outcome(&mut engine, Step::Recover, &mut data), Outcome::WrongMac);
        }
        assert_eq!(seen, [0, 3, 3, 0], "{}", engine.name());
    }
}

#[test]
fn null_algorithms_leave_the_payload_and_write_a_mac_of_zeros() {
    for mut engine in engines() {
        let (cipher, integrity) = (engine.cipher_key(Nea::Nea0, &[1; 16]), engine.integrity_key(Nia::Nia0, &[2; 16]));
        let mut data = *b"headpayloadMAC-";
        let mut job = |step, data: &mut [u8]| {
            let (count, bearer, direction) = (7, 3, Direction::Uplink);
            let (cipher, integrity) = (Some(&cipher), Some(&integrity));
            let mut jobs = [Job { cipher, integrity, count, bearer, direction, step, clear: 4, data, outcome: Outcome::Pending }];
            engine.run(&mut jobs);
            jobs[0].outcome
        };
        assert_eq!(job(Step::Protect, &mut data), Outcome::Done);
        assert_eq!(&data, b"headpayload\0\0\0\0");
        // TS 33.501 §D.1: the receiver does not check it.
        data[14] = 9;
        assert_eq!(job(Step::Recover, &mut data), Outcome::Done);
    }
}

/// Sets of whole PDCP PDUs, in a file that the environment names: [`PDUS`]. One a line, of words: its name, the numbers of NEA and NIA (`-0`: there is no MAC-I), COUNT,
/// BEARER and DIRECTION, how many bytes stay clear, both keys (`-`: none), the PDU in clear without its MAC-I, and as it is sent. COUNT and BEARER are hexadecimal.
/// `docs/conformance.md` says which sets were run.
#[test]
fn pdus_of_a_file_are_protected_and_recovered() {
    let Some(path) = std::env::var_os(PDUS) else { return println!("skipped: {PDUS} names no file") };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for mut engine in engines() {
        let (mut passed, mut wrong) = (std::collections::BTreeMap::new(), Vec::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, nea, nia, count, bearer, direction, clear, cipher, integrity, input, output] = words[..] else {
                panic!("eleven words: {line}")
            };
            let key = |text: &str| if text == "-" { [0; 16] } else { hex(text).try_into().expect("16 bytes") };
            let (ours, with_mac) = (nia.trim_start_matches('-'), !nia.starts_with('-'));
            let nea = Nea::try_from(nea.parse::<u8>().expect("a number")).expect("known");
            let nia = Nia::try_from(ours.parse::<u8>().expect("a number")).expect("known");
            let (cipher, integrity) = (engine.cipher_key(nea, &key(cipher)), engine.integrity_key(nia, &key(integrity)));
            let number = |text| u32::from_str_radix(text, 16).expect("hexadecimal");
            let mut run = |step, data: &mut [u8]| {
                let (count, bearer) = (number(count), number(bearer) as u8);
                let direction = if direction == "1" { Direction::Downlink } else { Direction::Uplink };
                let (cipher, integrity, clear) = (Some(&cipher), with_mac.then_some(&integrity), clear.parse().expect("a number"));
                let mut jobs = [Job { cipher, integrity, count, bearer, direction, step, clear, data, outcome: Outcome::Pending }];
                engine.run(&mut jobs);
                jobs[0].outcome
            };
            let mac = if with_mac { 4 } else { 0 };
            let (clear_text, expected) = (hex(input), hex(output));
            let mut data = [&clear_text[..], &vec![0; mac]].concat();
            let mut right = run(Step::Protect, &mut data) == Outcome::Done && data == expected;
            let mut data = expected.clone();
            right &= run(Step::Recover, &mut data) == Outcome::Done && data[..data.len() - mac] == clear_text[..];
            if right {
                *passed.entry(format!("{nea:?} {}", if with_mac { format!("{nia:?}") } else { "alone".into() })).or_insert(0) += 1;
            } else {
                wrong.push(name);
            }
        }
        println!("{}: {} passed, {passed:?}; {} did not: {wrong:?}", engine.name(), passed.values().sum::<u32>(), wrong.len());
        assert!(wrong.is_empty() && !passed.is_empty(), "{}: {wrong:?}", engine.name());
    }
}

const PDUS: &str = "SPLITPLANE_TEST_PDUS";

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect()
}
