//! STF scripts on the hand-built user plane: what passes, what fails and why, and what is refused.

mod common;

use common::*;
use p4_interp::stf::{self, MachineDevice};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use proptest::prelude::*;
use std::sync::Arc;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x} ")).collect()
}

fn play(ir: &Ir, script: &str) -> stf::Report {
    let script = stf::parse(script, &ir.program).unwrap_or_else(|e| panic!("{e}"));
    let mut device = MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs"));
    stf::run(&script, &mut device)
}

const TABLES: &str = "
# One session each way, the far by name of the key, arguments by name and by place.
add pdr_by_teid teid:0x3e8 set_session(session:5, far_id:0x10, qfi:9) = $0
add pdr_by_ue ue:0x0a000001 set_session(qfi:9, far_id:0x11, session:6)
add far far_id:0x10 far_forward()
add far \"far_id\":17 far_tunnel(5000, 0xc0a80001, 0xc0a80105)
add route dst:0x0a000000/8 set_next_hop(port:1, dmac:0x020000000001, smac:0x0200000000ff)
add route dst:0xc0a8**** set_next_hop(port:2, dmac:0x020000000002, smac:0x0200000000ff)
add acl 10 dst:0x0606**** proto:17 dport:100->200 deny()
add acl 20 src:0x0a000001&&&0xffffffff dport:150 NoAction()
setdefault route set_next_hop(port:3, dmac:3, smac:4)
";

#[test]
fn a_script_passes() {
    let upf = upf();
    let up = gtpu_packet(1000, &udp_packet(0x0a00_0001, 0x0606_0101, 4000, 150, b"x"));
    let denied = gtpu_packet(1000, &udp_packet(0x0a00_0002, 0x0606_0101, 4000, 150, b"x"));
    let down = udp_packet(0x0808_0808, 0x0a00_0001, 53, 4000, b"y");
    let script = format!(
        "{TABLES}
        packet 0 {up}
        expect 3 000000000003 000000000004 0800 4500 00** # the rest may be anything
        expect 2 020000000002 0200000000ff 0800 45 00 0049 {stars} $
        packet 1 {down}
        wait
        packet 0 {denied}
        no_packet
        check_counter sessions(5) packets == 1
        check_counter sessions(5) bytes > 28
        check_counter sessions(6) == 1
        check_counter sessions(7) bytes <= 0
        remove far far_id:0x10
        packet 0 {up}
        remove all
        packet 0 {up}
        add far far_id:0x10 far_forward()
        ",
        up = hex(&up),
        down = hex(&down),
        denied = hex(&denied),
        // 18 bytes are given; 14 more of Ethernet and IPv4 header, then UDP, GTP-U and the user's packet.
        stars = "*".repeat(2 * (down.len() + 44 - 18)),
    );
    let report = play(&upf.ir, &script);
    assert_eq!(report.failures, []);
    assert!(report.passed());
    assert_eq!((report.sent, report.received), (5, 2));
}

#[test]
fn everything_that_differs_is_a_failure_with_its_line() {
    let upf = upf();
    let up = hex(&gtpu_packet(1000, &udp_packet(0x0a00_0001, 0x0707_0101, 4000, 150, b"x")));
    let lines = TABLES.lines().count();
    let fails = |script: &str, line: usize, what: &str| {
        let report = play(&upf.ir, &format!("{TABLES}{script}"));
        let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
        assert_eq!(failure.line, lines + line, "{failure}");
        assert!(failure.what.contains(what), "{failure}");
        assert!(!report.passed());
    };
    fails(&format!("packet 0 {up}"), 1, "unexpected packet on port 3: 0000000000030000");
    fails("expect 3 00", 1, "no packet on port 3");
    fails(&format!("packet 0 {up}\nexpect 3 00000000 0004"), 2, "byte 5 differs");
    fails(&format!("packet 0 {up}\nexpect 3 0000 $"), 2, "43 bytes, expected 2");
    fails(&format!("packet 0 {up}\nexpect 3 {}", "**".repeat(44)), 2, "expected 44");
    fails(&format!("expect 3 0000\npacket 0 {up}\nno_packet\npacket 0 {up}"), 4, "unexpected packet");
    fails("check_counter sessions(0) != 0", 1, "the counter is 0");
    fails("add far far_id:0x10 far_forward()", 1, "already holds");
    fails("remove far far_id:0x77", 1, "no such entry");
    // Any packets, also none, where only the port is given.
    assert!(play(&upf.ir, &format!("{TABLES}expect 3\npacket 0 {up}\npacket 0 {up}")).passed());
    assert!(play(&upf.ir, "expect 3").passed());
}

#[test]
fn bad_scripts_are_refused_with_their_line() {
    let upf = upf();
    let refused = |line: &str, what: &str| {
        let error = stf::parse(&format!("# first\n\n{line}\n"), &upf.ir.program).expect_err(line);
        assert_eq!(error.line, 3, "{error}");
        assert!(error.what.contains(what), "{error}");
    };
    refused("mirroring_add 1", "is not a port");
    refused("mirroring_add x 1", "is not a number");
    refused("mc_node_associate 1 0", "there is no node 0");
    refused("mc_node_create 70000 1", "is too large");
    refused("register_write r 0 1", "register \"r\" does not exist");
    refused("pvs_add s 1", "value set \"s\" does not exist");
    refused("add nowhere x:1 a()", "table \"nowhere\" does not exist");
    refused("add far far_id:1", "no action");
    refused("add far far_id:1 far_forward(", "no closing");
    refused("add far far_id:1 far_forward() junk", "after the action");
    refused("add far far_id:1 set_session()", "does not exist of table far");
    refused("add far far_id:1 far_buffer()", "parameter queue is missing");
    refused("add far far_id:1 far_buffer(queue:1, queue:2)", "given twice");
    refused("add far far_id:1 far_buffer(1, 2)", "only 1 parameters");
    refused("add far far_id:1 far_buffer(size:1)", "no parameter size");
    refused("add far far_id:0x100000000 far_forward()", "does not fit 32 bits");
    refused("add far far_forward()", "key far_id is missing");
    refused("add far far_id:1 far_id:2 far_forward()", "given twice");
    refused("add far far_id far_forward()", "is not KEY:VALUE");
    refused("packet 0 123", "odd number");
    refused("packet 0 12*4", "no *");
    refused("packet 0 zz", "not a hexadecimal digit");
    refused("packet 511 00", "not a port");
    refused("expect x 00", "not a port");
    refused("expect 1 00 $ 00", "'$' is not a hexadecimal digit");
    refused("check_counter sessions == 1", "no index");
    refused("check_counter sessions)1( == 1", "no index");
    refused("check_counter sessions(1) 1", "does not compare");
    refused("no_packet 1", "too much");
}

#[test]
fn names_may_leave_out_leading_parts() {
    let mut ir = upf().ir;
    let far = ir.program.table("far").expect("there");
    let table = &mut ir.program.tables[far];
    table.full_name = "Upf.pre.far".into();
    table.name = "pre.far".into();
    table.keys[0].name = "meta.h[0].far_id".into();
    for name in ["far", "pre.far", "Upf.pre.far", "\"pre.far\""] {
        for key in ["far_id", "h$0.far_id", "meta.h[0].far_id", "\"h[0].far_id\""] {
            let script = format!("add {name} {key}:1 far_forward()");
            assert!(stf::parse(&script, &ir.program).is_ok(), "{script}");
        }
    }
    let teid = ir.program.table("pdr_by_teid").expect("there");
    ir.program.tables[teid].name = "post.far".into();
    let error = stf::parse("add far far_id:1 far_forward()", &ir.program).expect_err("two");
    assert!(error.what.contains("ambiguous"), "{error}");
}

#[test]
fn keys_have_the_names_that_the_control_plane_gives_them() {
    let mut ir = upf().ir;
    let acl = ir.program.table("acl").expect("there");
    let names = ["hdr.ip.src[31 : 24]", "hdr.ip.isValid()", "hdr.h[1].proto", "a key: with (all) [of : it], and more"];
    for (key, name) in ir.program.tables[acl].keys.iter_mut().zip(names) {
        key.name = name.into();
    }
    let kinds: Vec<_> = ir.program.tables[acl].keys.iter().map(|k| (k.kind, k.width)).collect();
    let first = |line: &str| {
        let script = stf::parse(line, &ir.program).unwrap_or_else(|e| panic!("{line}: {e}"));
        let stf::Command::Apply(batch) = &script.commands[0].1 else { panic!("{line}") };
        let (program::Op::Insert(entry) | program::Op::Delete(entry)) = &batch.ops[0] else { panic!("{line}") };
        (entry.priority, entry.keys.clone())
    };
    let plain = first("add acl 7 \"hdr.ip.src[31 : 24]\":1 \"hdr.ip.isValid()\":2 \"hdr.h[1].proto\":3 deny()");
    assert!(kinds.len() >= 4 && plain.0 == 7, "{kinds:?}");
    for keys in [
        "hdr.ip.src[31 : 24]:1 hdr.ip.isValid():2 hdr.h[1].proto:3",
        "hdr.ip.src[31:24]:1 ip.isValid():2 h[1].proto:3",
        "src[ 31:24 ] : 1 isValid() : 2 proto: 3",
        "h$1.proto:3 hdr.ip.isValid( ):2 hdr . ip . src[31:24]:1",
        "hdr.ip.$valid$:2 \"src[31 : 24]\" : 1 proto:3",
    ] {
        assert_eq!(first(&format!("add acl 7 {keys} deny()")), plain, "{keys}");
        assert_eq!(first(&format!("add acl 7 {keys} NoAction() = $0")), plain, "{keys}");
        assert_eq!(first(&format!("remove acl 7 {keys}")), plain, "{keys}");
    }
    let last = "a key: with (all) [of : it], and more:5";
    assert_eq!(
        first(&format!("add acl 7 proto:3 {last} deny()")),
        first(&format!("add acl 7 \"{}\":5 proto:3 deny()", &last[..last.len() - 2]))
    );
    for (line, wanted) in [
        ("add acl 7 src[31:25]:1 deny()", "does not exist"),
        ("add acl 7 isValid:1 deny()", "does not exist"),
        ("add acl 7 proto[3:0]:1 deny()", "does not exist"),
        ("add acl 7 proto 1 deny()", "is not KEY:VALUE"),
        ("add acl 7 proto:1", "no action"),
        ("remove acl 7 proto", "is not KEY:VALUE"),
        ("add acl 7 \"proto\" deny()", "is not KEY:VALUE"),
    ] {
        let error = stf::parse(line, &ir.program).expect_err(line);
        assert!(error.what.contains(wanted), "{line}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_the_parser(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "add", "far", "acl", "route", "far_id:1", "dst:0x0a/8", "dst:*", "dst:0x**", "10", "(", ")", "far_forward()",
                "far_buffer(", "queue:1", ",", "=", "$0", "packet", "expect", "3", "00", "*", "$", "check_counter", "sessions(0)",
                "sessions(", "==", "remove", "all", "setdefault", "\n", "\"", "&&&", "->", ":", "é", "0x", "999999999999999999999",
            ]),
            0..20
        ),
        noise in "\\PC{0,30}",
    ) {
        let upf = upf();
        let text = format!("{}\n{noise}", words.join(" "));
        if let Ok(script) = stf::parse(&text, &upf.ir.program) {
            let mut device = MachineDevice::new(Machine::new(Arc::new(upf.ir.clone())).expect("runs"));
            let report = stf::run(&script, &mut device);
            prop_assert!(report.received <= report.sent);
        }
    }

    #[test]
    fn no_packet_breaks_the_machine(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..120, port in 0u16..512) {
        let upf = upf();
        let mut m = Machine::new(Arc::new(upf.ir.clone())).expect("runs");
        m.apply(&upf.sessions(2)).expect("fits");
        for packet in [bytes.clone(), {
            let mut p = gtpu_packet(1001, &udp_packet(0x0a00_0001, 0x0808_0808, 1, 2, &bytes));
            p.truncate(cut);
            p
        }] {
            let whole = m.process(&packet, base::PortId(port), 0, Mode::Whole).verdict;
            let subset = m.process(&packet, base::PortId(port), 0, Mode::Subset).verdict;
            prop_assert!(subset == whole || subset.kind == base::VerdictKind::Next);
        }
    }
}
