//! How does a failing test tell which random numbers it failed with? It prints its seed, and takes one back.

use std::panic::Location;

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Environment variable with a seed (decimal, or hexadecimal after `0x`) that replaces that of every [`rng`].
pub const SEED: &str = "TESTKIT_SEED";

/// A generator with a fixed seed: the same numbers on every machine and in every run.
///
/// If the test panics while it lives, it prints the seed and how to run the test with it. `TESTKIT_SEED=...` in the environment
/// replaces `seed`: to repeat such a run, or to look for other failures.
///
/// # Panics
/// If the environment's seed is no number.
#[track_caller]
pub fn rng(seed: u64) -> Rng {
    let seed = match std::env::var(SEED) {
        Ok(text) => parse_seed(&text).unwrap_or_else(|| panic!("{SEED}={text}: not a 64-bit number")),
        Err(_) => seed,
    };
    Rng { seed, made_at: Location::caller(), numbers: ChaCha8Rng::seed_from_u64(seed) }
}

/// Made by [`rng`]. Use it as any [`rand::RngCore`].
#[derive(Debug)]
pub struct Rng {
    seed: u64,
    made_at: &'static Location<'static>,
    numbers: ChaCha8Rng,
}

impl Rng {
    /// What it was seeded with.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl RngCore for Rng {
    fn next_u32(&mut self) -> u32 {
        self.numbers.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.numbers.next_u64()
    }

    fn fill_bytes(&mut self, to: &mut [u8]) {
        self.numbers.fill_bytes(to);
    }
}

impl Drop for Rng {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", failure(self.seed, self.made_at));
        }
    }
}

fn failure(seed: u64, made_at: &Location) -> String {
    format!("random numbers of {}:{}: run again with {SEED}={seed:#x}", made_at.file(), made_at.line())
}

fn parse_seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;

    #[test]
    fn the_seed_decides_the_numbers() {
        let numbers = |seed| {
            std::iter::repeat_with({
                let mut rng = rng(seed);
                move || rng.random_range(0..1_000_000u32)
            })
            .take(20)
            .collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn a_failure_can_be_run_again() {
        let rng = rng(0x2a);
        let text = failure(rng.seed(), rng.made_at);
        assert!(text.contains("rng.rs:"), "{text}");
        let (_, seed) = text.split_once("TESTKIT_SEED=").unwrap();
        assert_eq!(parse_seed(seed), Some(0x2a));
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(parse_seed("18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_seed("0xff"), Some(255));
        assert_eq!(parse_seed("18446744073709551616"), None);
        assert_eq!(parse_seed("ff"), None);
    }
}
