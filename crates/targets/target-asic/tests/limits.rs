//! Does the model keep the chip's limits when it runs? Each limit with a packet just within it and one beyond, which must leave
//! as it came and without effects.

use base::{Packet, PortId, Verdict, VerdictKind};
use chip::{Chip, Sizes};
use p4_ir::Ir;
use program::{ApplyError, Batch, Entry, KeyMatch, Op, RuleError};
use std::path::Path;
use std::sync::Arc;
use target_api::Target;
use target_asic::{Asic, Model};

/// A program with a table of sessions and everything that is limited; the first byte says what a packet asks for.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_h { bit<8> asks; bit<32> session; }
header long_h { bit<8> pad; }
header var_h { varbit<64> rest; }
struct headers_t { h_h h; long_h[4] pad; var_h v; }
struct meta_t { bit<2> colour; bit<32> old; }
struct report_t { bit<32> session; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition select(hdr.h.asks) { 3: deep; 4: variable; default: accept; } }
    state deep { p.extract(hdr.pad.next); p.extract(hdr.pad.next); p.extract(hdr.pad.next); p.extract(hdr.pad.next); transition accept; }
    state variable { p.extract(hdr.v, 64); transition accept; }
}
control VC(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    meter(16, MeterType.packets) rate;
    register<bit<32>>(16) cell;
    counter(16, CounterType.packets) seen;
    action held() { s.egress_spec = 7; }
    action miss() { }
    @split("horizontal")
    table sessions { key = { hdr.h.session: exact; } actions = { held; miss; } default_action = miss(); size = 1000; }
    @split("horizontal")
    table unknown_to_the_chip { key = { hdr.h.session: exact; } actions = { held; miss; } default_action = miss(); size = 1000; }
    apply {
        sessions.apply();
        seen.count(1);
        cell.read(m.old, 1);
        cell.write(1, m.old + 1);
        if (hdr.h.asks == 1) { rate.execute_meter(1, m.colour); rate.execute_meter(2, m.colour); }
        if (hdr.h.asks == 2) { cell.read(m.old, 2); }
        if (hdr.h.asks == 5) { s.egress_spec = 509; }
        if (hdr.h.asks == 6) { digest<report_t>(1, { hdr.h.session }); }
        if (hdr.h.asks == 7) { resubmit_preserving_field_list(0); }
        if (hdr.h.asks == 8) { unknown_to_the_chip.apply(); }
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control CC(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
"#;

/// The chip's own: only the table of sessions.
const OWN: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_h { bit<8> asks; bit<32> session; }
struct headers_t { h_h h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }
control VC(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action held() { s.egress_spec = 7; }
    action miss() { }
    @split("horizontal")
    table sessions { key = { hdr.h.session: exact; } actions = { held; miss; } default_action = miss(); size = 1000; }
    apply { sessions.apply(); }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control CC(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
"#;

fn compile(name: &str, text: &str) -> Ir {
    let mut ir = p4_check::compile_str(name, text, &Default::default()).unwrap_or_else(|f| panic!("{}", f.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

/// The chip with these figures changed, holding three sessions.
fn model(changes: &[(&str, &str)]) -> (Asic, Arc<Ir>) {
    let mut text = include_str!("../../../targets/chip/data/tofino1.toml").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let (ir, own) = (Arc::new(compile("all.p4", PROGRAM)), compile("own.p4", OWN));
    let model = Model::of(&Chip::parse(&text).unwrap(), &own, &Sizes::sessions(3)).unwrap();
    (Asic::load_model(ir.clone(), &model).unwrap(), ir)
}

fn entry(ir: &Ir, table: &str, session: u128) -> Op {
    let table = ir.program.table(table).unwrap();
    let action = ir.program.action("held").unwrap();
    Op::Insert(Entry { table, keys: vec![KeyMatch::Exact(session)], priority: 0, action, args: Vec::new() })
}

/// What becomes of a packet of session 1 that asks for `asks`.
fn ask(asic: &Asic, asks: u8, now_ns: u64) -> Verdict {
    let mut bytes = vec![asks, 0, 0, 0, 1];
    bytes.extend([0xAB; 20]);
    let mut packets = [Packet::new(&bytes, PortId(0))];
    let mut verdicts = [Verdict::default()];
    asic.lane(0).process(&mut packets, &mut verdicts, now_ns);
    if verdicts[0].kind == VerdictKind::Next {
        assert_eq!(packets[0].data(), bytes, "handed on as it came");
    }
    verdicts[0]
}

fn held(changes: &[(&str, &str)]) -> (Asic, Arc<Ir>) {
    let (asic, ir) = model(changes);
    asic.apply(&Batch { ops: vec![entry(&ir, "sessions", 1)] }).unwrap();
    (asic, ir)
}

fn counted(asic: &Asic, ir: &Ir) -> u64 {
    asic.counter(ir.program.counter("seen").unwrap(), 1).packets
}

#[test]
fn capacity_is_what_has_room_on_the_chip() {
    let (asic, ir) = model(&[]);
    assert_eq!(asic.name(), "asic");
    asic.apply(&Batch { ops: (1..=3).map(|n| entry(&ir, "sessions", n)).collect() }).unwrap();
    let full = asic.apply(&Batch { ops: vec![entry(&ir, "sessions", 4)] }).unwrap_err();
    assert!(matches!(full, ApplyError::Refused(RuleError::Full { capacity: 3, .. })), "{full}");
    // What the chip's own program does not have holds nothing.
    let none = asic.apply(&Batch { ops: vec![entry(&ir, "unknown_to_the_chip", 1)] }).unwrap_err();
    assert!(matches!(none, ApplyError::Refused(RuleError::Full { capacity: 0, .. })), "{none}");
    assert_eq!(ask(&asic, 8, 0).kind, VerdictKind::Next);
}

#[test]
fn without_a_number_it_is_as_many_as_the_chip_has_room_for() {
    let (own, chip) = (compile("own.p4", OWN), Chip::named("tofino1").unwrap());
    let most = Model::of(&chip, &own, &Sizes::default()).unwrap().capacities["sessions"];
    assert!(most > 3_000_000, "{most} entries of 32 bits in 960 blocks");
    let nic = Model::of(&Chip::named("nfp4000").unwrap(), &own, &Sizes::default()).unwrap();
    assert_eq!(nic.capacities["sessions"], 65_536, "the largest table");
    let refusal = Model::of(&chip, &own, &Sizes::sessions(100_000_000)).unwrap_err().to_string();
    assert!(refusal.contains("sessions: stage 11: SRAM blocks"), "{refusal}");
}

#[test]
fn a_packet_within_the_limits_is_done() {
    let (asic, ir) = held(&[]);
    let verdict = ask(&asic, 0, 0);
    assert_eq!((verdict.kind, verdict.port), (VerdictKind::Forward, 7));
    assert_eq!(counted(&asic, &ir), 1);
    assert_eq!(asic.beyond(), Default::default());
}

#[test]
fn a_second_access_of_a_meter_or_register_is_not_made() {
    for asks in [1, 2] {
        let (asic, ir) = held(&[]);
        assert_eq!(ask(&asic, asks, 0).kind, VerdictKind::Next);
        assert_eq!(asic.beyond().twice, 1);
        assert_eq!(counted(&asic, &ir), 0, "what it had counted is taken back");
    }
}

#[test]
fn the_parser_reaches_so_far() {
    let (asic, _) = held(&[("egress_depth_bytes = 160", "depth_bytes = 9")]);
    assert_eq!(ask(&asic, 3, 0).kind, VerdictKind::Forward, "nine bytes");
    let (asic, _) = held(&[("egress_depth_bytes = 160", "depth_bytes = 8")]);
    assert_eq!(ask(&asic, 3, 0).kind, VerdictKind::Next);
    assert_eq!(asic.beyond().depth, 1);
}

#[test]
fn headers_of_variable_length_are_not_parsed() {
    let (asic, _) = held(&[]);
    assert_eq!(ask(&asic, 4, 0).kind, VerdictKind::Next);
    assert_eq!(asic.beyond().varbits, 1);
}

#[test]
fn nothing_is_buffered() {
    let (asic, ir) = held(&[]);
    assert_eq!(ask(&asic, 5, 0).kind, VerdictKind::Next);
    assert_eq!(counted(&asic, &ir), 0);
    assert!(!asic.capabilities().buffers && asic.capabilities().modelled);
}

#[test]
fn digests_leave_at_a_rate() {
    let (asic, _) = held(&[("digests_per_second = 100000", "digests_per_second = 1000")]);
    // One at once, and one for the millisecond that may be ahead.
    for _ in 0..10 {
        assert_eq!(ask(&asic, 6, 0).kind, VerdictKind::Forward, "the packet goes on without its digest");
    }
    assert_eq!(asic.beyond().digests, 8);
    ask(&asic, 6, 1_000_000);
    assert_eq!(asic.beyond().digests, 8, "a millisecond later there is room for one more");
}

#[test]
fn packets_sent_round_are_counted_with_their_share_of_the_bandwidth() {
    let (asic, _) = held(&[("recirculation_gbps = 100", "recirculation_gbps = 1")]);
    assert_eq!(asic.recirculation(), Default::default());
    assert_eq!(ask(&asic, 7, 1000).kind, VerdictKind::Next);
    ask(&asic, 0, 1400);
    let r = asic.recirculation();
    // 25 bytes in 400 ns of 1 Gbit/s.
    assert_eq!((r.packets, r.bytes, r.share), (1, 25, 0.5));
}

/// The chip's program that is shipped: there is room for 100,000 sessions in it.
#[test]
fn the_shipped_program_gives_capacities_for_the_whole_upf() {
    let own = p4_check::compile_for_chip_file(Path::new("../../../p4/tna/upf.p4"), &Default::default())
        .unwrap_or_else(|f| panic!("{}", f.render()));
    let model = Model::of(&Chip::named("tofino1").unwrap(), &own.ir, &Sizes::sessions(50_000)).unwrap();
    let mut whole = p4_check::compile_file(Path::new("../../../p4/upf.p4"), &Default::default()).unwrap().ir;
    p4_passes::optimise(&mut whole).unwrap();
    let whole = Arc::new(whole);
    let asic = Asic::load_model(whole.clone(), &model).unwrap();
    let capacity = |name: &str| asic.table_stats(whole.program.table(name).unwrap()).capacity;
    assert_eq!([capacity("pdr_by_teid"), capacity("pdr_by_ue_ipv4"), capacity("pdr_by_ue_ipv6")], [50_000, 50_000, 0]);
}
