//! Does the time to check a program grow with its length, and no faster? `p4speed [lines]...` makes programs of about so many
//! lines (10,000, 20,000 and 50,000 if none is given) and prints the best of five runs of each.

use p4_check::{Options, check_str, compile_str};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

fn main() {
    let mut sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 20_000, 50_000];
    }
    println!("{:>9}  {:>10}  {:>10}  {:>10}", "lines", "parse ms", "check ms", "compile ms");
    for size in sizes {
        let text = program(size);
        let syntax = p4_syntax::Options { builtin: &p4_check::builtin, ..Default::default() };
        let parse = best(|| assert!(p4_syntax::parse_str("speed.p4", &text, &syntax).is_ok()));
        let check = best(|| assert!(check_str("speed.p4", &text, &Options::default()).is_ok()));
        let compile = best(|| assert!(compile_str("speed.p4", &text, &Options::default()).is_ok()));
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        println!("{:>9}  {:>10.1}  {:>10.1}  {:>10.1}", text.lines().count(), ms(parse), ms(check), ms(compile));
    }
}

fn best(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(once).min().unwrap_or_default()
}

/// A v1model program of about `lines` lines: tables, actions, functions, types and constants in the proportions of real ones.
fn program(lines: usize) -> String {
    let units = lines / 25;
    let mut s = String::from(
        "#include <v1model.p4>\nheader h_t { bit<32> a; bit<32> b; bit<16> c; bit<8> d; bit<8> e; }\nstruct headers_t { h_t h; }\n\
         struct meta_t { bit<32> x; bit<16> y; bool ok; }\n\
         parser P(packet_in b, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {\n    state start { b.extract(hdr.h); transition accept; }\n}\n\
         control V(inout headers_t hdr, inout meta_t m) { apply { } }\n\
         control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }\n\
         control D(packet_out b, in headers_t hdr) { apply { b.emit(hdr.h); } }\n",
    );
    for i in 0..=units / 20 {
        let _ = writeln!(s, "struct s{i}_t {{\n    bit<8> a;\n    bit<16> b;\n}}\nconst bit<16> C{i} = {i} & 0xff;");
        let _ = writeln!(
            s,
            "bit<32> f{i}(in bit<32> v) {{\n    bit<32> r = v + {i};\n    if (r > 10) {{\n        r = r ^ 3;\n    }}\n    return r;\n}}"
        );
    }
    s.push_str("control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {\n");
    for i in 0..units {
        let _ = writeln!(s, "    action a{i}(bit<32> v, bit<8> w) {{\n        m.x = v + {i};\n        hdr.h.d = w;");
        let _ = writeln!(s, "        if (m.ok) {{\n            hdr.h.a = hdr.h.a + v;\n        }}\n    }}");
        let _ = writeln!(s, "    table t{i} {{\n        key = {{\n            hdr.h.a : exact;\n            hdr.h.b : exact;\n        }}");
        let _ = writeln!(s, "        actions = {{\n            a{i};\n            NoAction;\n        }}");
        let _ = writeln!(s, "        default_action = NoAction();\n        size = 1024;\n    }}");
    }
    s.push_str("    apply {\n");
    for i in 0..units {
        let _ = writeln!(
            s,
            "        if (hdr.h.c == C{}) {{\n            t{i}.apply();\n        }}\n        m.x = f{}(m.x) + {i};",
            i / 20,
            i / 20
        );
    }
    s.push_str("    }\n}\nV1Switch(P(), V(), I(), E(), V(), D()) main;\n");
    s
}
