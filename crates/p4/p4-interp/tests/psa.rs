//! Programs for the Portable Switch Architecture, from source to packets, before and after the passes.

mod scripted;

use p4_interp::{Machine, Mode};
use p4_ir::Architecture;
use scripted::{path, program};
use std::sync::Arc;

#[test]
fn every_way_of_a_packet_is_taken_with_its_metadata() {
    play("paths", (11, 10));
}

#[test]
fn a_packets_length_is_that_of_each_pass() {
    play("lengths", (4, 5));
}

#[test]
fn externs_give_what_the_specification_says() {
    play("externs", (8, 7));
    let mut m = Machine::new(Arc::new(program("psa/externs.p4"))).expect("runs");
    for what in [0, 1, 1] {
        m.process(&[what, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 1, 2, 3, 4], base::PortId(1), 0, Mode::Whole);
    }
    let values: Vec<Vec<u128>> = m.take_digests().into_iter().map(|digest| digest.values).collect();
    assert_eq!(values, [[0xaa, 0x0102_0304], [0xaa, 0x0102_0304]], "of the packets that are to send one");
}

#[test]
fn what_is_not_lowered_is_refused_by_name() {
    let text = std::fs::read_to_string(path("psa/externs.p4")).expect("there").replace("#include \"common.p4\"", "");
    let common = std::fs::read_to_string(path("psa/common.p4")).expect("there");
    let text = format!("{common}{text}");
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let options = p4_check::Options::default();
        p4_check::compile_str("externs.p4", &text.replace(from, to), &options).expect_err("refused").to_string()
    };
    let colour = refused("execute(h.n.what, PSA_MeterColor_t.GREEN)", "execute(h.n.what, PSA_MeterColor_t.RED)");
    assert!(colour.contains("a meter that is told a packet's colour, other than GREEN"), "{colour}");
    let words = refused("sum.add({ h.n.index, h.n.crc })", "sum.add({ h.n.what, h.n.index, h.n.crc })");
    assert!(words.contains("a checksum over 56 bits"), "{words}");
    let crc = refused("ONES_COMPLEMENT16", "CRC32");
    assert!(crc.contains("extern `Checksum`"), "{crc}");
}

fn play(name: &str, packets: (usize, usize)) {
    let ir = program(&format!("psa/{name}.p4"));
    assert_eq!((ir.arch, ir.pipes.len()), (Architecture::Psa, 2));
    scripted::play(ir, &format!("psa/{name}.stf"), packets);
}

#[test]
fn a_subset_leaves_a_packet_of_psa_to_the_next_target() {
    let mut m = Machine::new(Arc::new(program("psa/paths.p4"))).expect("runs");
    let packet = [0, 3, 0, 0];
    let out = m.process(&packet, base::PortId(1), 0, Mode::Subset);
    assert_eq!((out.verdict.kind, out.bytes), (base::VerdictKind::Next, &packet[..]));
}
