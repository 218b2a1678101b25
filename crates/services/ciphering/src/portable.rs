//! How is it done without any library of the system? In Rust, one packet after the other.
//!
//! The twin of every faster implementation. NEA2, NIA2: RustCrypto's `aes`, `ctr` and `cmac`; NEA3, NIA3: `zuc`; SNOW 3G is ours.

use aes::Aes128;
use aes::cipher::{InnerIvInit, KeyInit, StreamCipherCore};
use cmac::{Cmac, Mac};
use ctr::{CtrCore, flavors::Ctr128BE};
use zeroize::Zeroizing;

use crate::iv::Inputs;
use crate::key::KEY_LEN;
use crate::snow3g::{self, Schedule};
use crate::{MAC_LEN, Nea, Nia};

/// A key as its algorithm takes it. Each in a box of its own size: one that was moved into a larger place would have what lay on the stack before behind it, which
/// nothing wipes.
pub(crate) enum Prepared {
    /// NEA0, NIA0: no key is kept.
    Null,
    Snow3g(Box<Schedule>),
    Aes(Box<Aes128>),
    Cmac(Box<Cmac<Aes128>>),
    Zuc(Box<Zeroizing<[u8; KEY_LEN]>>),
}

impl Prepared {
    pub(crate) fn cipher(algorithm: Nea, key: &[u8; KEY_LEN]) -> Prepared {
        match algorithm {
            Nea::Nea0 => Prepared::Null,
            Nea::Nea1 => Prepared::Snow3g(Box::new(Schedule::new(key))),
            Nea::Nea2 => Prepared::Aes(Box::new(Aes128::new(key.into()))),
            Nea::Nea3 => Prepared::Zuc(Box::new(Zeroizing::new(*key))),
        }
    }

    pub(crate) fn integrity(algorithm: Nia, key: &[u8; KEY_LEN]) -> Prepared {
        match algorithm {
            Nia::Nia0 => Prepared::Null,
            Nia::Nia1 => Prepared::Snow3g(Box::new(Schedule::new(key))),
            Nia::Nia2 => Prepared::Cmac(Box::new(Cmac::new(key.into()))),
            Nia::Nia3 => Prepared::Zuc(Box::new(Zeroizing::new(*key))),
        }
    }

    /// Ciphers or deciphers `data` in place.
    pub(crate) fn apply(&self, inputs: Inputs, data: &mut [u8]) {
        match self {
            Prepared::Null | Prepared::Cmac(_) => {}
            Prepared::Snow3g(key) => snow3g::f8(key, &inputs.f8(), data),
            Prepared::Aes(key) => {
                let core = CtrCore::<&Aes128, Ctr128BE>::inner_iv_init(&**key, &inputs.ctr().into());
                // At most 2^128 blocks, which no slice has.
                core.apply_keystream_partial(data.into());
            }
            Prepared::Zuc(key) => {
                zuc::eea3::eea3_xor_inplace(inputs.count, inputs.bearer, inputs.direction.bit(), key, data, 8 * data.len())
            }
        }
    }

    /// MAC of a message of whole bytes.
    pub(crate) fn mac(&self, inputs: Inputs, message: &[u8]) -> [u8; MAC_LEN] {
        match self {
            Prepared::Null | Prepared::Aes(_) => [0; MAC_LEN],
            Prepared::Snow3g(key) => snow3g::f9(key, &inputs.f9(), message, 8 * message.len()),
            Prepared::Cmac(key) => {
                // The most significant 32 bits of the CMAC (TS 33.401 §B.2.3).
                let tag = Cmac::clone(key).chain_update(inputs.half()).chain_update(message).finalize().into_bytes();
                [tag[0], tag[1], tag[2], tag[3]]
            }
            Prepared::Zuc(key) => {
                let bits = 8 * message.len();
                zuc::eia3::Eia3Mac::compute(inputs.count, inputs.bearer, inputs.direction.bit(), key, message, bits).to_be_bytes()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    #[test]
    fn nia3_is_that_of_the_test_data_whose_lengths_are_bits() {
        let hex = |text: &str| (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex")).collect();
        let sets: Vec<&str> = include_str!("../tests/vectors.txt").lines().filter(|line| line.starts_with("nia3")).collect();
        assert_eq!(sets.len(), 5);
        for set in sets {
            let words: Vec<&str> = set.split(' ').collect();
            let (key, message): (Vec<u8>, Vec<u8>) = (hex(words[5]), hex(words[7]));
            let number = |i: usize| u32::from_str_radix(words[i], 16).expect("hex");
            let (count, bearer, direction) = (number(2), number(3) as u8, number(4) as u8);
            let key = key.try_into().expect("16 bytes");
            let bits = words[6].parse().expect("a number");
            let mac = zuc::eia3::Eia3Mac::compute(count, bearer, direction, &key, &message, bits);
            assert_eq!(mac, number(8), "{}", &set[..6]);
        }
    }

    #[test]
    fn a_count_bearer_and_direction_are_where_the_specification_has_them() {
        // TS 33.401 §C.2.1: COUNT 38a6f056, BEARER 18, DIRECTION 0.
        let inputs = Inputs { count: 0x38a6_f056, bearer: 0x18, direction: Direction::Uplink };
        assert_eq!(inputs.half(), [0x38, 0xa6, 0xf0, 0x56, 0xc0, 0, 0, 0]);
        assert_eq!(inputs.ctr(), [0x38, 0xa6, 0xf0, 0x56, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let down = Inputs { direction: Direction::Downlink, ..inputs };
        assert_eq!(down.f9(), [0x38, 0xa6, 0xf0, 0x56, 0xc0, 0, 0, 0, 0xb8, 0xa6, 0xf0, 0x56, 0xc0, 0, 0x80, 0]);
    }
}
