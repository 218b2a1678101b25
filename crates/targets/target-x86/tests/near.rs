//! Near tables: routes that become many and few again while packets flow, next hops of one, two and many in a burst, one odd packet among 63. Packets do what the
//! interpreter does, and each look-up is counted, as are cells that are asked for early.

mod common;

use base::PortId;
use common::Pair;
use program::{ActionId, Entry, KeyMatch, Op, TableId};
use rand::Rng;

/// Each session has a cell; behind it come a table of routes and one of next hops, one of whose actions makes a header.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header a_t { bit<8> kind; bit<32> session; bit<32> to; bit<16> value; bit<32> seen; }
header b_t { bit<16> inner; }
struct headers { b_t b; a_t a; }
struct meta { bit<32> cell; bit<16> a; bit<16> b; bit<16> c; bit<16> hop; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.a); transition select(hdr.a.kind) { 0: common; default: other; } }
    @likely state common { transition accept; }
    state other { transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    counter(4096, CounterType.packets_and_bytes) usage;
    register<bit<32>>(16) seen;
    bit<32> n;
    action refuse() { mark_to_drop(sm); exit; }
    action found(bit<32> cell, bit<16> a, bit<16> b, bit<16> c) { m.cell = cell; m.a = a; m.b = b; m.c = c; }
    table sessions { key = { hdr.a.session: exact; } actions = { found; refuse; } default_action = refuse(); size = 65536; }
    action via(bit<16> hop) { m.hop = hop; }
    table routes { key = { hdr.a.to: lpm; } actions = { via; refuse; } default_action = refuse(); size = 65536; }
    action send(bit<16> value) { hdr.a.value = value + m.a + m.b + m.c; }
    action push(bit<16> inner) { hdr.b.setValid(); hdr.b.inner = inner; }
    table hops { key = { m.hop: exact; } actions = { send; push; refuse; } default_action = refuse(); size = 64; }
    apply {
        sm.egress_spec = 1;
        sessions.apply();
        routes.apply();
        hops.apply();
        usage.count(m.cell);
        seen.read(n, (bit<32>)m.hop & 15);
        seen.write((bit<32>)m.hop & 15, n + 1);
        hdr.a.seen = n;
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.b); pkt.emit(hdr.a); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const SESSIONS: u32 = 300;
const HOPS: u32 = 40;
/// More routes than a near table has.
const MANY: u32 = 1500;
const FEW: u32 = 30;
const BURST: usize = 64;

fn table(pair: &Pair, end: &str) -> TableId {
    pair.ir.program.tables.iter().find(|(_, t)| t.name.ends_with(end)).map(|(id, _)| id).unwrap()
}

fn action(pair: &Pair, end: &str) -> ActionId {
    pair.ir.program.actions.iter().find(|(_, a)| a.name.ends_with(end)).map(|(id, _)| id).unwrap()
}

/// The route to a network of 256 addresses.
fn route(pair: &Pair, n: u32) -> Entry {
    let to = KeyMatch::Lpm { value: u128::from(n << 8), prefix_len: 24 };
    Entry { table: table(pair, "routes"), keys: vec![to], priority: 0, action: action(pair, "via"), args: vec![u128::from(n % (HOPS + 2))] }
}

/// Bursts whose packets go to one, two or many networks, or all but one to the same.
fn bursts(pair: &mut Pair, rng: &mut impl Rng, routes: u32) {
    for burst in 0..60 {
        let (one, other, odd): (u32, u32, usize) =
            (rng.random_range(0..routes), rng.random_range(0..routes + 2), rng.random_range(0..BURST));
        let packets: Vec<_> = (0..BURST)
            .map(|i| {
                let network = match burst % 4 {
                    0 => one,
                    1 if i % 2 == 0 => one,
                    2 if i != odd => one,
                    1 | 2 => other,
                    _ => rng.random_range(0..routes + routes / 8),
                };
                let kind = u8::from(rng.random_bool(0.1));
                let session: u32 = rng.random_range(0..SESSIONS + SESSIONS / 10);
                let mut bytes = vec![kind];
                bytes.extend(session.to_be_bytes());
                bytes.extend((network << 8 | rng.random_range(0..256)).to_be_bytes());
                bytes.extend([0; 6 + 3]);
                (bytes, PortId(0))
            })
            .collect();
        pair.run(&packets);
    }
    pair.check_state();
}

#[test]
fn a_table_is_near_or_far_as_it_fills_and_empties_and_packets_do_the_same() {
    let mut ir = p4_check::compile_str("near.p4", PROGRAM, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let c = p4_emit::emit_x86(&ir).unwrap();
    for part in
        ["if (small_routes)", "near_hops = sp_near(", "_others_0_hops(run, bit);", "sp_expect(counter_usage, soon->", "sp_count_now("]
    {
        assert!(c.contains(part), "{part} is not in\n{c}");
    }
    let mut pair = common::pair(ir, 11, &["-O1"]);
    let (found, send, push) = (action(&pair, "found"), action(&pair, "send"), action(&pair, "push"));
    let (sessions, hops) = (table(&pair, "sessions"), table(&pair, "hops"));
    let entry = |table, key: u32, action, args: &[u32]| Entry {
        table,
        keys: vec![KeyMatch::Exact(key.into())],
        priority: 0,
        action,
        args: args.iter().map(|arg| u128::from(*arg)).collect(),
    };
    pair.apply((0..SESSIONS).map(|n| Op::Insert(entry(sessions, n, found, &[n, n + 1, n + 2, n + 3]))).collect()).unwrap();
    pair.apply((0..HOPS).map(|n| Op::Insert(entry(hops, n, if n % 5 == 0 { push } else { send }, &[n]))).collect()).unwrap();
    let mut rng = common::rng(12);
    let few: Vec<_> = (0..FEW).map(|n| Op::Insert(route(&pair, n))).collect();
    let more: Vec<_> = (FEW..MANY).map(|n| Op::Insert(route(&pair, n))).collect();
    let fewer: Vec<_> = (FEW..MANY).map(|n| Op::Delete(route(&pair, n))).collect();
    bursts(&mut pair, &mut rng, FEW);
    for (changes, routes) in [(few, FEW), (more, MANY), (fewer, FEW)] {
        pair.apply(changes).unwrap();
        bursts(&mut pair, &mut rng, routes);
    }
    for (name, least) in [("sessions", 1000), ("routes", 1000), ("hops", 50)] {
        let (hits, misses) = pair.hits_and_misses(&format!("I.{name}"));
        assert!(hits > 5000 && misses > least, "{name}: {hits} hits, {misses} misses");
    }
    let [forwarded, dropped, ..] = [base::VerdictKind::Forward, base::VerdictKind::Drop].map(|kind| pair.kinds[kind as usize]);
    assert!(forwarded > 5000 && dropped > 1000, "{forwarded} forwarded, {dropped} dropped");
    let classes = pair.native.class_stats();
    assert!(classes.packets.iter().all(|n| *n > 1000) && classes.spared > 1000, "{classes:?}");
}
