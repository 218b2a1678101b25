//! Does either process survive what the other may write into the shared memory? Valid memory with some words changed: what is taken is sound, nothing is lost.

use rand::Rng;
use service::{Access, Field, Interface, process};

static INTERFACE: Interface = Interface {
    name: "hostile",
    request: &[Field { name: "access", width: 8 }],
    answer: &[Field { name: "answer", width: 8 }],
    key: None,
    reasons: &[],
    access: |fields| match fields[0] {
        0 => Access::None,
        1 => Access::Read,
        _ => Access::Write,
    },
    sends_own: false,
    check_setting: |_, _| Ok(()),
};

/// The fuzz target's seed: three calls and two settings there, five answers here.
const SEED: &[u8] = include_bytes!("../../../../fuzz/corpus/service_memory/calls_settings_and_answers");

fn rings() -> (Vec<u8>, Vec<u8>) {
    let (len, rest) = SEED.split_first_chunk::<2>().unwrap();
    let (requests, answers) = rest.split_at(u16::from_le_bytes(*len).into());
    (requests.to_vec(), answers.to_vec())
}

#[test]
fn memory_as_it_should_be_is_read_whole() {
    let (requests, answers) = rings();
    assert_eq!(process::read_hostile(&INTERFACE, &requests, &answers), (5, 4));
}

#[test]
fn changed_words_lose_and_forge_nothing() {
    let mut rng = testkit::rng(1);
    let (requests, answers) = rings();
    let (mut some, mut fewer) = (0, 0);
    for _ in 0..3000 {
        let (mut requests, mut answers) = (requests.clone(), answers.clone());
        for bytes in [&mut requests, &mut answers] {
            for _ in 0..rng.random_range(1..4) {
                let word = rng.random_range(0..bytes.len() / 8) * 8;
                match rng.random_range(0..3) {
                    0 => bytes[word + rng.random_range(0..8)] ^= 1 << rng.random_range(0..8),
                    1 => bytes[word..word + 8].fill(0xff),
                    _ => bytes[word..word + 8].copy_from_slice(&rng.random_range(0..64u64).to_le_bytes()),
                }
            }
        }
        match process::read_hostile(&INTERFACE, &requests, &answers) {
            (5, 4) => some += 1,
            _ => fewer += 1,
        }
    }
    assert!(some > 100 && fewer > 1000, "{some} as before, {fewer} cut short");
}
