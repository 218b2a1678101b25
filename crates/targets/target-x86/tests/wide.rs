//! Do numbers of more bits than any machine word has compute what they should: in the interpreter, natively, and by exact
//! arithmetic on integers of any size?

mod common;

use base::PortId;
use p4_interp::Mode;
use p4_syntax::BigInt;
use rand::Rng;

/// Each operation once; `op` chooses, `W` is replaced by the width, `H` by half of it.
const OPERATIONS: &[&str] = &[
    "hdr.o.a = hdr.o.a + hdr.o.b;",
    "hdr.o.a = hdr.o.a - hdr.o.b;",
    "hdr.o.a = hdr.o.a * hdr.o.b;",
    "hdr.o.a = (hdr.o.a & hdr.o.b) ^ (hdr.o.a | ~hdr.o.b);",
    "hdr.o.a = -hdr.o.a;",
    "hdr.o.a = hdr.o.a |+| hdr.o.b;",
    "hdr.o.a = hdr.o.a |-| hdr.o.b;",
    "hdr.o.a = (bit<W>)((int<W>)hdr.o.a |+| (int<W>)hdr.o.b);",
    "hdr.o.a = (bit<W>)((int<W>)hdr.o.a |-| (int<W>)hdr.o.b);",
    "hdr.o.a = hdr.o.a << hdr.o.n;",
    "hdr.o.a = hdr.o.a >> hdr.o.n;",
    "hdr.o.a = (bit<W>)((int<W>)hdr.o.a >> hdr.o.n);",
    "hdr.o.a = hdr.o.a << hdr.o.b;",
    "hdr.o.a = (hdr.o.a << 77) ^ (hdr.o.a >> 131) ^ (bit<W>)((int<W>)hdr.o.a >> 5);",
    "hdr.o.f = (hdr.o.a < hdr.o.b ? 8w1 : 0) | (hdr.o.a <= hdr.o.b ? 8w2 : 0) | (hdr.o.a > hdr.o.b ? 8w4 : 0) \
     | (hdr.o.a >= hdr.o.b ? 8w8 : 0) | (hdr.o.a == hdr.o.b ? 8w16 : 0) | (hdr.o.a != hdr.o.b ? 8w32 : 0);",
    "hdr.o.f = ((int<W>)hdr.o.a < (int<W>)hdr.o.b ? 8w1 : 0) | ((int<W>)hdr.o.a >= (int<W>)hdr.o.b ? 8w2 : 0);",
    "hdr.o.a = hdr.o.a[H:0] ++ hdr.o.b[W-1:H+1];",
    "hdr.o.a[140:30] = hdr.o.b[110:0];",
    "hdr.o.a = (bit<W>)(int<W>)(int<100>)hdr.o.b[99:0];",
    "hdr.o.a = (bit<W>)hdr.o.b[99:0] + (bit<W>)(bit<128>)hdr.o.a;",
    "hdr.o.a = (bit<W>)hdr.o.a[hdr.o.n[7:0] +: 111];",
    "hdr.o.a = hdr.o.n[0:0] == 1 ? hdr.o.a + 3 : hdr.o.b - Ww0xfedcba9876543210fedcba9876543210ff;",
];

fn program(width: u32) -> String {
    let mut arms = String::new();
    for (i, operation) in OPERATIONS.iter().enumerate() {
        let text = operation.replace("Ww0x", &format!("{width}w0x")).replace("H+1", &(width / 2 + 1).to_string());
        let text = text.replace("W-1", &(width - 1).to_string()).replace("<W>", &format!("<{width}>"));
        let text = text.replace("[H:", &format!("[{}:", width / 2));
        arms += &format!("        else if (hdr.o.op == {i}) {{ {text} }}\n");
    }
    let padding = 8 - 2 * width % 8;
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header op_t {{ bit<{width}> a; bit<{width}> b; bit<16> n; bit<8> op; bit<8> f; bit<{padding}> pad; }}\n\
         struct headers {{ op_t o; }}\nstruct meta {{ }}\n\
         parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {{\n\
             state start {{ pkt.extract(hdr.o); transition accept; }}\n}}\n\
         control V(inout headers hdr, inout meta m) {{ apply {{ }} }}\n\
         control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {{\n    apply {{\n\
             sm.egress_spec = 1;\n        if (hdr.o.op == 255) {{ }}\n{arms}    }}\n}}\n\
         control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {{ apply {{ }} }}\n\
         control C(inout headers hdr, inout meta m) {{ apply {{ }} }}\n\
         control D(packet_out pkt, in headers hdr) {{ apply {{ pkt.emit(hdr.o); }} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

/// What an operation makes of `a`, `n` and the flags, on numbers from 0 to 2^width.
fn expected(op: usize, width: u32, a: &BigInt, b: &BigInt, n: u32) -> (BigInt, u32) {
    let one = || BigInt::from(1);
    let modulus = one() << width;
    let bits = |v: &BigInt, hi: u32, lo: u32| (v >> lo) % (one() << (hi - lo + 1));
    let signed_of = |v: &BigInt, w: u32| if *v >= one() << (w - 1) { v - (one() << w) } else { v.clone() };
    let signed = |v: &BigInt| signed_of(v, width);
    let clamp = |v: BigInt| v.clamp(-(one() << (width - 1)), (one() << (width - 1)) - 1);
    let flag = |b: bool, f: u32| if b { f } else { 0 };
    let ones = &modulus - 1;
    let half = width / 2;
    let mut flags = 0;
    let value = match op {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => (a & b) ^ (a | (&ones ^ b)),
        4 => -a,
        5 => (a + b).min(ones.clone()),
        6 => (a - b).max(BigInt::from(0)),
        7 => clamp(signed(a) + signed(b)),
        8 => clamp(signed(a) - signed(b)),
        9 => a << n,
        10 => a >> n,
        11 => signed(a) >> n,
        12 => u32::try_from(b).ok().filter(|b| *b < width).map_or(BigInt::from(0), |b| a << b),
        13 => ((a << 77u32) % &modulus) ^ (a >> 131u32) ^ (((signed(a) >> 5u32) % &modulus + &modulus) % &modulus),
        14 => {
            flags = flag(a < b, 1) | flag(a <= b, 2) | flag(a > b, 4) | flag(a >= b, 8) | flag(a == b, 16) | flag(a != b, 32);
            a.clone()
        }
        15 => {
            flags = flag(signed(a) < signed(b), 1) | flag(signed(a) >= signed(b), 2);
            a.clone()
        }
        16 => (bits(a, half, 0) << (width - 1 - half)) + bits(b, width - 1, half + 1),
        17 => a - (bits(a, 140, 30) << 30u32) + (bits(b, 110, 0) << 30u32),
        18 => signed_of(&bits(b, 99, 0), 100),
        19 => bits(b, 99, 0) + bits(a, 127, 0),
        20 => bits(&(a >> (n % 256)), 110, 0),
        _ if n % 2 == 1 => a + 3,
        _ => b - BigInt::parse_bytes(b"fedcba9876543210fedcba9876543210ff", 16).unwrap(),
    };
    ((value % &modulus + &modulus) % &modulus, flags)
}

/// Random, or next to where carries and signs turn.
fn number(rng: &mut impl Rng, width: u32) -> BigInt {
    let one = BigInt::from(1);
    match rng.random_range(0..8) {
        0 => BigInt::from(rng.random_range(0..3)),
        1 => (one << width) - 1 - rng.random_range(0..3),
        2 => one << rng.random_range(0..width),
        3 => (one << rng.random_range(1..=width)) - 1,
        4 => (one << (width - 1)) - rng.random_range(0..2),
        _ => (0..width.div_ceil(32)).fold(BigInt::from(0), |v, _| (v << 32u32) + rng.random::<u32>()) % (one << width),
    }
}

fn agree(width: u32, seed: u64) {
    let compiled = p4_check::compile_str("wide.p4", &program(width), &p4_check::Options::default());
    let ir = compiled.unwrap_or_else(|e| panic!("{e}")).ir;
    let mut optimised = ir.clone();
    p4_passes::optimise(&mut optimised).unwrap();
    let mut plain = p4_interp::Machine::new(std::sync::Arc::new(ir)).unwrap();
    let mut pair = common::pair(optimised, seed, &["-O1"]);
    let mut rng = common::rng(seed);
    let pad = 8 - 2 * width % 8;
    let bytes = (2 * width + 32 + pad) / 8;
    let mut packets = Vec::new();
    for (op, operation) in OPERATIONS.iter().enumerate() {
        for _ in 0..60 {
            let (a, b) = (number(&mut rng, width), number(&mut rng, width));
            let b = if rng.random_range(0..8) == 0 { a.clone() } else { b };
            let b = if op == 12 && rng.random() { BigInt::from(rng.random_range(0..width + 3)) } else { b };
            let n: u32 = if rng.random() { rng.random_range(0..width + 2) } else { rng.random_range(0..1 << 16) };
            let packet = |a: &BigInt, f: u32| {
                let all = (((((a << width) + &b) << 16u32) + n) << 16u32) + (u32::try_from(op).unwrap() << 8) + f;
                let (_, digits) = (all << pad).to_bytes_be();
                let mut packet = vec![0; bytes as usize - digits.len()];
                packet.extend(digits);
                packet
            };
            let (value, flags) = expected(op, width, &a, &b, n);
            let (sent, wanted) = (packet(&a, 0), packet(&value, flags));
            let got = plain.process(&sent, PortId(0), 0, Mode::Whole).bytes.to_vec();
            assert_eq!(got, wanted, "width {width}: {operation} of {a:x}, {b:x}, {n}");
            packets.push((sent, PortId(0)));
        }
    }
    pair.run(&packets);
    assert_eq!(pair.kinds[base::VerdictKind::Forward as usize], packets.len() as u64, "all are forwarded");
}

#[test]
fn numbers_of_many_widths_agree_with_exact_arithmetic() {
    for width in [141, 200, 256, 300] {
        agree(width, width.into());
    }
}

/// Many pieces.
#[test]
fn a_thousand_bits_agree_with_exact_arithmetic() {
    agree(1000, 5);
}
