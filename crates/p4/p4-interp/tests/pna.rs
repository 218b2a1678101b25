//! Programs for the Portable NIC Architecture, from source to packets, before and after the passes.

mod scripted;

use base::{DropReason, PortId, Verdict};
use p4_interp::{Machine, Mode};
use scripted::{path, program};
use std::sync::Arc;

#[test]
fn every_way_of_a_packet_is_taken_and_it_is_told_which() {
    play("paths", (15, 14));
}

#[test]
fn directions_are_by_the_ports_that_are_the_hosts() {
    play("steer", (5, 3));
}

#[test]
fn externs_give_what_psas_give() {
    play("externs", (8, 8));
    let mut m = Machine::new(Arc::new(program("pna/externs.p4"))).expect("runs");
    let mut packet = [0; 22];
    for what in [0, 1, 1] {
        packet[..1].copy_from_slice(&[what]);
        packet[14..19].copy_from_slice(&[0xaa, 1, 2, 3, 4]);
        m.process(&packet, PortId(1), 0, Mode::Whole);
    }
    let values: Vec<Vec<u128>> = m.take_digests().into_iter().map(|digest| digest.values).collect();
    assert_eq!(values, [[0xaa, 0x0102_0304], [0xaa, 0x0102_0304]], "of the packets that are to send one");
}

#[test]
fn what_goes_to_no_port_is_dropped_for_that() {
    let mut m = Machine::new(Arc::new(program("pna/paths.p4"))).expect("runs");
    let mut end = |what: u8| m.process(&[what, 3, 0, 0], PortId(1), 0, Mode::Whole).verdict;
    assert_eq!(end(8), Verdict::drop(DropReason::NO_PORT));
    assert_eq!(end(1), Verdict::default(), "what the program drops has no reason");
    assert_eq!(end(2), Verdict::default());
}

#[test]
fn what_does_not_run_is_refused_by_name() {
    let options = p4_check::Options::default();
    let refused = |file: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(path(&format!("pna/{file}"))).expect("there");
        assert!(text.contains(from), "{from}");
        p4_check::compile_str(file, &text.replace(from, to), &options).expect_err("refused").to_string()
    };
    let cases = [
        (
            "externs.p4",
            "add_on_miss = false",
            "add_on_miss = true",
            "a table whose entries the data plane adds (`add_on_miss`) is not supported",
        ),
        (
            "externs.p4",
            "add_on_miss = false",
            "idle_timeout_with_auto_delete = true",
            "a table whose entries go by themselves (`idle_timeout_with_auto_delete`) is not supported",
        ),
        ("externs.p4", "h.n.kind = with;", "set_entry_expire_time((ExpireTimeProfileId_t) 1);", "extern function `set_entry_expire_time`"),
        ("paths.p4", "ostd.decrypt = false", "ostd.decrypt = istd.loopedback", "decryption ahead of the main parser is not supported"),
        ("paths.p4", "ostd.decrypt = false", "exit", "`exit` in a pre control is not supported"),
        ("paths.p4", "ostd.decrypt = false", "drop_packet()", "`drop_packet` may be called in the main control only"),
        ("paths.p4", "(MirrorSlotId_t) 0, session", "(MirrorSlotId_t) 1, session", "more than one mirror slot is not supported"),
        (
            "paths.p4",
            "bit<8> note; bit<1> from_host",
            "bit<8> note; tag_t tag; bit<1> from_host",
            "a header in metadata of a program that mirrors",
        ),
        ("paths.p4", "@host_ports(3, 4)", "@host_ports(509)", "`@host_ports` takes numbers of ports below 509"),
        ("paths.p4", "@host_ports(3, 4)", "@host_ports(3 4)", "`@host_ports` takes numbers of ports below 509"),
        ("paths.p4", "@host_ports(3, 4)", "@host_ports", "`@host_ports` takes numbers of ports below 509"),
    ];
    for (file, from, to, message) in cases {
        let said = refused(file, from, to);
        assert!(said.contains(message), "{to}: {said}");
    }
}

fn play(name: &str, packets: (usize, usize)) {
    scripted::play(program(&format!("pna/{name}.p4")), &format!("pna/{name}.stf"), packets);
}
