//! The hand-built user plane end to end: bytes out, verdicts, counters, meters, subset mode, and the trace's text.

mod common;

use base::{PortId, Verdict, VerdictKind};
use common::*;
use p4_interp::{Count, Machine, MachineError, Mode, Recorder, render_trace};
use p4_ir::*;
use program::{Batch, KeyMatch, MeterConfig, Op};
use std::sync::Arc;

fn machine(upf: &Upf, sessions: u128) -> Machine {
    let mut m = Machine::new(Arc::new(upf.ir.clone())).expect("runs");
    m.apply(&upf.sessions(sessions)).expect("fits");
    m
}

fn run(m: &mut Machine, packet: &[u8], mode: Mode) -> (Verdict, Vec<u8>) {
    let out = m.process(packet, PortId(1), 5_000, mode);
    (out.verdict, out.bytes.to_vec())
}

/// RFC 1071 over an IPv4 header that carries its checksum.
fn checksum_is_right(header: &[u8]) -> bool {
    let mut sum: u32 = header.chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

#[test]
fn uplink_takes_the_tunnel_off() {
    let upf = upf();
    let mut m = machine(&upf, 10);
    let inner = udp_packet(0x0a00_0003, 0x0808_0808, 4000, 53, b"query");
    let (verdict, bytes) = run(&mut m, &gtpu_packet(1003, &inner), Mode::Whole);
    assert_eq!(verdict, Verdict { kind: VerdictKind::Forward, port: 4, reason: 0, mark: 0 });
    let mut expected = inner.clone();
    expected[..12].copy_from_slice(&[2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 0xff]);
    expected[22] = 63;
    expected[24..26].copy_from_slice(&bytes[24..26]);
    assert_eq!(bytes, expected);
    assert!(checksum_is_right(&bytes[14..34]));
    // Charged by the user's packet, not the frame.
    assert_eq!(m.counter(upf.sessions, 3), Count { packets: 1, bytes: 33 });
    assert_eq!(m.table_stats(upf.uplink).hits, 1);
    assert_eq!(m.table_stats(upf.uplink).entries, 10);
}

#[test]
fn downlink_puts_the_tunnel_on() {
    let upf = upf();
    let mut m = machine(&upf, 10);
    let packet = udp_packet(0x0808_0808, 0x0a00_0007, 53, 4000, b"answer");
    let (verdict, bytes) = run(&mut m, &packet, Mode::Whole);
    assert_eq!((verdict.kind, verdict.port), (VerdictKind::Forward, 2));
    assert_eq!(bytes.len(), packet.len() + 44);
    assert!(checksum_is_right(&bytes[14..34]));
    assert_eq!(&bytes[14..18], [0x45, 0, 0, (28 + 6 + 44) as u8]);
    assert_eq!(&bytes[26..34], [192, 168, 0, 1, 192, 168, 1, 7]);
    // GTP-U with a PDU session container of QFI 9 (TS 29.281 §5.1, TS 38.415 §5.5.2.1).
    assert_eq!(&bytes[42..58], [0x34, 255, 0, 42, 0, 0, 0x13, 0x8f, 0, 0, 0, 0x85, 1, 0, 9, 0]);
    // The inner packet is as it came.
    assert_eq!(&bytes[58..], &packet[14..]);
}

#[test]
fn misses_drop_with_the_programs_reason_and_leave_the_packet() {
    let upf = upf();
    let mut m = machine(&upf, 1);
    let stranger = udp_packet(0x0808_0808, 0x0b00_0000, 1, 2, b"");
    let (verdict, bytes) = run(&mut m, &stranger, Mode::Whole);
    assert_eq!(verdict, Verdict::drop(base::DropReason(REASON_NO_SESSION)));
    assert_eq!(bytes, stranger);
    let denied = gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0606_0101, 4000, 150, b""));
    assert_eq!(run(&mut m, &denied, Mode::Whole).0.reason, REASON_ACL);
    let allowed = gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0606_0101, 4000, 201, b""));
    assert_eq!(run(&mut m, &allowed, Mode::Whole).0.port, 3);
    let arp = [&[0xff; 12][..], &[8, 6, 0, 0]].concat();
    assert_eq!(run(&mut m, &arp, Mode::Whole).0.kind, VerdictKind::Drop);
}

#[test]
fn the_meter_goes_red_and_the_counter_does_not_count_what_it_drops() {
    let upf = upf();
    let mut m = machine(&upf, 1);
    let config = MeterConfig { cir: 1000, cbs: 100, pir: 1000, pbs: 100 };
    m.apply(&Batch { ops: vec![Op::Meter { meter: upf.ambr, index: 0, config: Some(config) }] }).expect("fits");
    let packet = gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0808_0808, 1, 2, &[0; 32]));
    let kinds: Vec<u8> = (0..3).map(|_| run(&mut m, &packet, Mode::Whole).0.reason).collect();
    assert_eq!(kinds, [0, REASON_RATE, REASON_RATE]);
    assert_eq!(m.counter(upf.sessions, 0), Count { packets: 1, bytes: 60 });
}

#[test]
fn a_subset_hands_on_what_it_does_not_hold_without_a_trace_in_its_cells() {
    let upf = upf();
    let mut m = machine(&upf, 2);
    let config = MeterConfig { cir: 1000, cbs: 100, pir: 1000, pbs: 100 };
    let buffered = entry(upf.far, vec![KeyMatch::Exact(1)], upf.far_buffer, &[77]);
    m.apply(&Batch { ops: vec![Op::Meter { meter: upf.ambr, index: 1, config: Some(config) }, Op::Modify(buffered)] }).expect("fits");
    let next = |m: &mut Machine, p: &[u8]| {
        let (verdict, bytes) = run(m, p, Mode::Subset);
        assert_eq!((verdict, &bytes[..]), (Verdict::next(), p));
    };
    // No session: miss in a split table.
    next(&mut m, &udp_packet(0x0808_0808, 0x0b00_0000, 1, 2, b""));
    // Session 0's downlink FAR buffers.
    let to_buffer = udp_packet(0x0808_0808, 0x0a00_0000, 1, 2, b"");
    next(&mut m, &to_buffer);
    assert_eq!(run(&mut m, &to_buffer, Mode::Whole).0, Verdict { kind: VerdictKind::Buffer, port: 0, reason: 0, mark: 77 });
    // Session 1 without its FAR: the miss comes after the session's look-up.
    m.apply(&Batch { ops: vec![Op::Delete(entry(upf.far, vec![KeyMatch::Exact(2)], upf.far_forward, &[]))] }).expect("there");
    next(&mut m, &gtpu_packet(1001, &udp_packet(0x0a00_0001, 0x0808_0808, 1, 2, &[0; 32])));
    assert_eq!(m.counter(upf.sessions, 1), Count::default());
    // A drop is final in a subset too, and a hit is as in the whole.
    let denied = gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0606_0101, 4000, 150, b""));
    assert_eq!(run(&mut m, &denied, Mode::Subset).0.reason, REASON_ACL);
    let hit = gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0808_0808, 1, 2, b""));
    assert_eq!(run(&mut m, &hit, Mode::Subset), run(&mut m, &hit, Mode::Whole));
    assert_eq!(m.counter(upf.sessions, 0).packets, 2);
}

#[test]
fn effects_before_a_miss_in_a_subset_are_taken_back() {
    let mut upf = upf();
    // The FAR look-up moves behind meter and counter, so that its miss comes after their effects.
    let at = |ir: &Ir, t| ir.ingress().iter().position(|s| matches!(s, Stmt::Apply { table, .. } if *table == t)).expect("applied");
    let far = at(&upf.ir, upf.far);
    let far = upf.ir.ingress_mut().remove(far);
    let route = at(&upf.ir, upf.route);
    upf.ir.ingress_mut().insert(route, far);
    let mut m = machine(&upf, 2);
    let config = MeterConfig { cir: 1, cbs: 60, pir: 1, pbs: 60 };
    let delete = entry(upf.far, vec![KeyMatch::Exact(2)], upf.far_forward, &[]);
    m.apply(&Batch { ops: vec![Op::Meter { meter: upf.ambr, index: 1, config: Some(config) }, Op::Delete(delete.clone())] }).expect("fits");
    let packet = gtpu_packet(1001, &udp_packet(0x0a00_0001, 0x0808_0808, 1, 2, &[0; 32]));
    for _ in 0..3 {
        assert_eq!(run(&mut m, &packet, Mode::Subset).0.kind, VerdictKind::Next);
    }
    assert_eq!(m.counter(upf.sessions, 1), Count::default());
    // The bucket of one packet is still full.
    m.apply(&Batch { ops: vec![Op::Insert(delete)] }).expect("fits");
    assert_eq!(run(&mut m, &packet, Mode::Subset).0.kind, VerdictKind::Forward);
    assert_eq!(run(&mut m, &packet, Mode::Subset).0.reason, REASON_RATE);
    assert_eq!(m.counter(upf.sessions, 1).packets, 1);
}

#[test]
fn the_trace_tells_the_story() {
    let upf = upf();
    let mut m = machine(&upf, 10);
    let mut recorder = Recorder::default();
    let packet = gtpu_packet(1003, &udp_packet(0x0a00_0003, 0x0808_0808, 4000, 53, b"query"));
    m.process_traced(&packet, PortId(1), 5_000, Mode::Whole, &mut recorder);
    let text = render_trace(m.ir(), &recorder.events, false);
    let expected = "\
packet of 83 bytes on port 1 at 5000 ns
    standard_metadata.ingress_port = 0x1
    standard_metadata.packet_length = 0x53
    standard_metadata.ingress_global_timestamp = 0x5
parser state start
  extract hdr.eth at byte 0: dst=0x20000000001 src=0x20000000002 etype=0x800
  select (0x800) -> ipv4
parser state ipv4
  extract hdr.ip at byte 14: version=0x4 ihl=0x5 tos=0x0 total_len=0x45 id=0x0 flags=0x0 frag=0x0 ttl=0x40 proto=0x11 checksum=0x0 src=0xc0a80100 dst=0xc0a80001
  select (0x11) -> udp
parser state udp
  extract hdr.udp at byte 34: sport=0x868 dport=0x868 len=0x31 checksum=0x0
  select (0x868) -> gtpu
parser state gtpu
  extract hdr.gtpu at byte 42: version=0x1 pt=0x1 spare=0x0 e=0x0 s=0x0 pn=0x0 type=0xff len=0x21 teid=0x3eb
  select (0x0) -> inner_ip
parser state inner_ip
  extract hdr.inner_ip at byte 50: version=0x4 ihl=0x5 tos=0x0 total_len=0x21 id=0x0 flags=0x0 frag=0x0 ttl=0x40 proto=0x11 checksum=0x0 src=0xa000003 dst=0x8080808
  select (0x11) -> inner_udp
parser state inner_udp
  extract hdr.inner_udp at byte 70: sport=0xfa0 dport=0x35 len=0xd checksum=0x0
  -> accept
ingress
    meta.pdu_length = 0x21
  table pdr_by_teid (teid=0x3eb): hit -> set_session(session=0x3, far_id=0x6, qfi=0x9)
    hdr.ip is now a copy of hdr.inner_ip
    hdr.udp is now a copy of hdr.inner_udp
    hdr.inner_ip is now invalid
    hdr.inner_udp is now invalid
    hdr.gtpu is now invalid
    hdr.opt is now invalid
    hdr.psc is now invalid
  table acl (src=0xa000003, dst=0x8080808, proto=0x11, dport=0x35): miss -> NoAction()
  table far (far_id=0x6): hit -> far_forward()
    meter ambr[3]: 33 bytes, green (not configured)
    counter sessions[3]: +1 packet, +33 bytes
  table route (dst=0x8080808): hit -> set_next_hop(port=0x4, dmac=0x20000000004, smac=0x200000000ff)
    standard_metadata.egress_spec = 0x4
    hdr.eth.dst: 0x20000000001 -> 0x20000000004
    hdr.eth.src: 0x20000000002 -> 0x200000000ff
    standard_metadata.egress_port = 0x4
egress
    hdr.ip.ttl: 0x40 -> 0x3f
compute_checksum
    hdr.ip.checksum: 0x0 -> 0x61ba
deparser
  emit hdr.eth (14 bytes)
  emit hdr.ip (20 bytes)
  emit hdr.udp (8 bytes)
  payload: 5 bytes from byte 78 of the packet
verdict: forward to port 4
";
    assert_eq!(text, expected);
    let all = render_trace(m.ir(), &recorder.events, true);
    assert!(all.contains("    meta.far_id = 0x6\n"), "{all}");
}

#[test]
fn what_cannot_run_is_refused_by_name() {
    let mut ir = upf().ir;
    ir.add_register("r", u64::MAX, 8);
    let big = Machine::new(Arc::new(ir)).err().expect("refused").to_string();
    assert!(big.contains("cells together"), "{big}");
    let mut ir = upf().ir;
    ir.ingress_mut().push(Stmt::Emit(HeaderRef::Static(HeaderId::from_u32(0))));
    assert!(matches!(Machine::new(Arc::new(ir)), Err(MachineError::Broken(_))));
}
