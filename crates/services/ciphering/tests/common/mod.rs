//! What the tests share: all implementations that this machine has, and the official test data.
#![allow(dead_code)]

use ciphering::{Choice, Direction, Engine, Job, Key, Nea, Nia, Outcome, Step};

/// Each implementation; what is missing is said.
pub(crate) fn engines() -> Vec<Engine> {
    let open = |choice| match Engine::new(choice) {
        Ok(engine) => Some(engine),
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    };
    Choice::ALL.into_iter().filter_map(open).collect()
}

/// One official set.
pub(crate) struct Set {
    pub algorithm: String,
    pub set: u32,
    pub count: u32,
    pub bearer: u8,
    pub direction: Direction,
    pub key: [u8; 16],
    pub bits: usize,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Set {
    pub(crate) fn number(&self) -> u8 {
        self.algorithm[3..].parse().expect("a digit")
    }

    pub(crate) fn job<'a>(&self, cipher: Option<&'a Key<Nea>>, integrity: Option<&'a Key<Nia>>, step: Step, data: &'a mut [u8]) -> Job<'a> {
        let Set { count, bearer, direction, .. } = *self;
        Job { cipher, integrity, count, bearer, direction, step, clear: 0, data, outcome: Outcome::Pending }
    }

    /// Clears the bits behind the set's length.
    pub(crate) fn cut(&self, data: &mut Vec<u8>) {
        data.truncate(self.bits.div_ceil(8));
        if let (Some(last), left @ 1..) = (data.last_mut(), self.bits % 8) {
            *last &= !(0xff >> left);
        }
    }
}

pub(crate) fn vectors() -> Vec<Set> {
    let hex = |text: &str| (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex")).collect::<Vec<u8>>();
    let number = |text: &str| u32::from_str_radix(text, 16).expect("hex");
    let lines = include_str!("../vectors.txt").lines().filter(|line| !line.starts_with('#'));
    let set = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [algorithm, set, count, bearer, direction, key, bits, input, output] = words[..] else { panic!("nine words: {line}") };
        Set {
            algorithm: algorithm.to_owned(),
            set: set.parse().expect("a number"),
            count: number(count),
            bearer: number(bearer) as u8,
            direction: if direction == "0" { Direction::Uplink } else { Direction::Downlink },
            key: hex(key).try_into().expect("16 bytes"),
            bits: bits.parse().expect("a number"),
            input: hex(input),
            output: hex(output),
        }
    };
    lines.map(set).collect()
}
