//! How do UEA2 and UIA2 work? SNOW 3G, f8 and f9, from the specification alone (TS 35.215, TS 35.216).
//!
//! Ours, because no kept crate has it: those that do come with whole toolkits, and none with f8 and f9 in bytes. It looks values up by
//! secret bytes, as the specification's own code does; a neighbour that shares the cache may learn from their timing. The tables are
//! computed from their definitions when this is compiled.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Product of V and x, and `c` if it overflows (TS 35.216 §3.1.1).
const fn mul_x(v: u8, c: u8) -> u8 {
    if v & 0x80 != 0 { v << 1 ^ c } else { v << 1 }
}

/// `mul_x` `times` times over (§3.1.2).
const fn mul_x_pow(mut v: u8, times: u32, c: u8) -> u8 {
    let mut i = 0;
    while i < times {
        v = mul_x(v, c);
        i += 1;
    }
    v
}

/// Product in GF(2^8) with the polynomial x^8 + `c`.
const fn mul(mut a: u8, mut b: u8, c: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = mul_x(a, c);
        b >>= 1;
    }
    product
}

const fn power(mut a: u8, mut exponent: u32, c: u8) -> u8 {
    let mut result = 1;
    while exponent != 0 {
        if exponent & 1 != 0 {
            result = mul(result, a, c);
        }
        a = mul(a, a, c);
        exponent >>= 1;
    }
    result
}

/// S-box of Rijndael (§3.3.1): the inverse, which is the 254th power, then an affine map.
const fn s_r(x: u8) -> u8 {
    let y = power(x, 254, 0x1b);
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4) ^ 0x63
}

/// S-box from a Dickson polynomial (§3.3.2).
const fn s_q(x: u8) -> u8 {
    const EXPONENTS: [u32; 9] = [1, 9, 13, 15, 33, 41, 45, 47, 49];
    let mut y = 0x25;
    let mut i = 0;
    while i < EXPONENTS.len() {
        y ^= power(x, EXPONENTS[i], 0x69);
        i += 1;
    }
    y
}

/// What one byte of S1 (§3.3.1) or S2 (§3.3.2) adds to the word, as the first byte; the others are rotations of it.
const fn column(s: u8, c: u8) -> u32 {
    u32::from_be_bytes([mul_x(s, c), mul_x(s, c) ^ s, s, s])
}

const fn bytes_to_word(v: u8, times: [u32; 4]) -> u32 {
    u32::from_be_bytes([
        mul_x_pow(v, times[0], 0xa9),
        mul_x_pow(v, times[1], 0xa9),
        mul_x_pow(v, times[2], 0xa9),
        mul_x_pow(v, times[3], 0xa9),
    ])
}

struct Tables {
    s1: [u32; 256],
    s2: [u32; 256],
    mul_alpha: [u32; 256],
    div_alpha: [u32; 256],
}

#[allow(long_running_const_eval)]
static TABLES: Tables = {
    let mut tables = Tables { s1: [0; 256], s2: [0; 256], mul_alpha: [0; 256], div_alpha: [0; 256] };
    let mut i = 0;
    while i < 256 {
        let v = i as u8;
        tables.s1[i] = column(s_r(v), 0x1b);
        tables.s2[i] = column(s_q(v), 0x69);
        tables.mul_alpha[i] = bytes_to_word(v, [23, 245, 48, 239]);
        tables.div_alpha[i] = bytes_to_word(v, [16, 39, 6, 64]);
        i += 1;
    }
    tables
};

fn substitute(table: &[u32; 256], w: u32) -> u32 {
    let [a, b, c, d] = w.to_be_bytes().map(|byte| table[usize::from(byte)]);
    a ^ b.rotate_right(8) ^ c.rotate_right(16) ^ d.rotate_right(24)
}

/// A 128-bit key as the specification's words: K3 first.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Schedule([u32; 4]);

impl Schedule {
    pub(crate) fn new(key: &[u8; 16]) -> Schedule {
        Schedule(words(key))
    }
}

fn words(bytes: &[u8; 16]) -> [u32; 4] {
    let (words, _) = bytes.as_chunks::<4>();
    [0, 1, 2, 3].map(|i| u32::from_be_bytes(words[i]))
}

/// The generator: LFSR and FSM (§3.2 to §4).
#[derive(Zeroize, ZeroizeOnDrop)]
struct Generator {
    /// s0 to s15; s0 is at `first`.
    s: [u32; 16],
    first: usize,
    r1: u32,
    r2: u32,
    r3: u32,
}

impl Generator {
    /// §4.1, and the one clock of §4.2 whose output is discarded.
    fn new(key: &Schedule, iv: &[u8; 16]) -> Generator {
        let [k3, k2, k1, k0] = key.0;
        let [iv3, iv2, iv1, iv0] = words(iv);
        let s = [!k0, !k1, !k2, !k3, k0, k1, k2, k3, !k0, !k1 ^ iv3, !k2 ^ iv2, !k3, k0 ^ iv1, k1, k2, k3 ^ iv0];
        let mut generator = Generator { s, first: 0, r1: 0, r2: 0, r3: 0 };
        for _ in 0..32 {
            let f = generator.clock_fsm();
            generator.clock_lfsr(f);
        }
        generator.clock_fsm();
        generator.clock_lfsr(0);
        generator
    }

    fn s(&self, i: usize) -> u32 {
        self.s[(self.first + i) % 16]
    }

    fn clock_fsm(&mut self) -> u32 {
        let f = self.s(15).wrapping_add(self.r1) ^ self.r2;
        let r = self.r2.wrapping_add(self.r3 ^ self.s(5));
        self.r3 = substitute(&TABLES.s2, self.r2);
        self.r2 = substitute(&TABLES.s1, self.r1);
        self.r1 = r;
        f
    }

    /// `f`: the FSM's output while it is initialised, later 0.
    fn clock_lfsr(&mut self, f: u32) {
        let (s0, s11) = (self.s(0), self.s(11));
        let multiplied = s0 << 8 ^ TABLES.mul_alpha[(s0 >> 24) as usize];
        let divided = s11 >> 8 ^ TABLES.div_alpha[(s11 & 0xff) as usize];
        self.s[self.first] = multiplied ^ self.s(2) ^ divided ^ f;
        self.first = (self.first + 1) % 16;
    }

    fn next(&mut self) -> u32 {
        let z = self.clock_fsm() ^ self.s(0);
        self.clock_lfsr(0);
        z
    }
}

/// f8: ciphers or deciphers `data` in place (TS 35.215 §4).
pub(crate) fn f8(key: &Schedule, iv: &[u8; 16], data: &mut [u8]) {
    let mut generator = Generator::new(key, iv);
    for chunk in data.chunks_mut(4) {
        for (byte, z) in chunk.iter_mut().zip(generator.next().to_be_bytes()) {
            *byte ^= z;
        }
    }
}

/// f9: the MAC of the first `bits` of `message` (TS 35.215 §5). PDCP's lengths are whole bytes, those of the test data are not.
pub(crate) fn f9(key: &Schedule, iv: &[u8; 16], message: &[u8], bits: usize) -> [u8; 4] {
    let mut generator = Generator::new(key, iv);
    let mut word = || u64::from(generator.next());
    let p = Multiplier::new(word() << 32 | word());
    let q = word() << 32 | word();
    let otp = word() as u32;
    let mut left = bits;
    let mut eval = 0;
    for block in message[..bits.div_ceil(8)].chunks(8) {
        let mut padded = [0; 8];
        padded[..block.len()].copy_from_slice(block);
        let mut m = u64::from_be_bytes(padded);
        if left < 64 {
            m &= !(u64::MAX >> left);
        }
        left = left.saturating_sub(64);
        eval = p.multiply(eval ^ m);
    }
    let eval = Multiplier::new(q).multiply(eval ^ bits as u64);
    ((eval >> 32) as u32 ^ otp).to_be_bytes()
}

/// Products with one element of GF(2^64) with the polynomial x^64 + x^4 + x^3 + x + 1 (TS 35.215 §5.3.2), four bits at a time.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Multiplier([u64; 16]);

impl Multiplier {
    fn new(p: u64) -> Multiplier {
        let mut table = [0; 16];
        table[1] = p;
        for i in 2..16 {
            let half = table[i / 2];
            let double = half << 1 ^ if half >> 63 != 0 { 0x1b } else { 0 };
            table[i] = if i.is_multiple_of(2) { double } else { double ^ p };
        }
        Multiplier(table)
    }

    fn multiply(&self, v: u64) -> u64 {
        (0..16).rev().fold(0, |product: u64, nibble| {
            // The four bits that are shifted out, times 0x1b, come in again.
            let out = product >> 60;
            product << 4 ^ out ^ out << 1 ^ out << 3 ^ out << 4 ^ self.0[(v >> (4 * nibble) & 15) as usize]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_those_of_the_specification() {
        assert_eq!([0, 1, 0x53, 0xff].map(s_r), [0x63, 0x7c, 0xed, 0x16]);
        assert_eq!([0, 1, 2, 3].map(s_q), [0x25, 0x24, 0x73, 0x67]);
    }

    #[test]
    fn keystream_is_that_of_the_test_data() {
        // TS 35.217 §2.3, test set 1, which lists K0 and IV0 first.
        let key = 0x4881_ff48_952c_4910_82c5_b300_2bd6_459f_u128.to_be_bytes();
        let iv = 0x1c0b_f45f_df1f_9b25_ad5c_4d84_ea02_4714_u128.to_be_bytes();
        let mut generator = Generator::new(&Schedule::new(&key), &iv);
        assert_eq!([generator.next(), generator.next()], [0xabee_9704, 0x7ac3_1373]);
    }

    #[test]
    fn products_by_nibbles_are_those_by_bits() {
        let slow = |a: u64, b: u64| {
            (0..64)
                .rev()
                .fold(0u64, |product, bit| product << 1 ^ if product >> 63 != 0 { 0x1b } else { 0 } ^ if b >> bit & 1 != 0 { a } else { 0 })
        };
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..1000 {
            let y = x.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29);
            assert_eq!(Multiplier::new(x).multiply(y), slow(x, y));
            x = y;
        }
    }
}
