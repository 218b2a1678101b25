//! One bucket for a rate, wherever packets run: x86 executes the cells that XDP shares. Packets here and there, one by one and all at once,
//! are coloured as the interpreter alone colours them, while sessions move and XDP fails at every step.
//!
//! `MOVES=100000` chooses how many moves are made, `MOVES_SEED` with which seed they begin.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use offload_kit::{Flavour, Seen, World};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, MeterConfig, MeterId, Op};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use target_api::{BURST, CELL_WORDS, Lane, MeterState, Meters, Recovery, SharedMeter, Target};
use target_asic::Asic;
use target_x86::X86;
use target_xdp::{Options, Xdp};

const NANO: u64 = 1_000_000_000;

/// A session's packets are policed by its cells; the way out is the colours. Kind 1 is for the control plane, once it has been policed.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> key; bit<32> sequence; bit<16> kind; bit<48> rest; }
struct headers_t { h_t h; }
struct meta_t { bit<32> first; bit<32> second; bit<2> colour_1; bit<2> colour_2; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    meter(70000, MeterType.packets) rate;
    action rated(bit<32> first, bit<32> second) { m.first = first; m.second = second; }
    @split("horizontal")
    table sessions { key = { hdr.h.key: exact; } actions = { rated; NoAction; } default_action = NoAction; size = 4096; }
    apply {
        if (sessions.apply().hit) {
            rate.execute_meter(m.first, m.colour_1);
            if (m.second != 0) {
                rate.execute_meter(m.second, m.colour_2);
            }
            if (hdr.h.kind == 1) {
                sm.egress_spec = 510;
            } else {
                sm.egress_spec = (bit<9>)(m.colour_1 ++ m.colour_2);
            }
        } else {
            mark_to_drop(sm);
        }
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// XDP with a subset of the sessions, x86 with all of them, on the same cells.
struct Both {
    ir: Arc<Ir>,
    xdp: Arc<Xdp>,
    x86: Arc<X86>,
    cells: Arc<SharedMeter>,
    meter: MeterId,
}

impl Both {
    fn new() -> Both {
        let mut ir = p4_check::compile_str("rates.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
        p4_passes::optimise(&mut ir).unwrap();
        let ir = Arc::new(ir);
        let (xdp, meters) = xdp(&ir);
        let cells = meters[0].clone().unwrap();
        let meter = ir.program.meters.keys().next().unwrap();
        Both { x86: Arc::new(offload_kit::native_with(&ir, meters)), ir, xdp, cells, meter }
    }

    fn session(&self, key: u128, cells: [u128; 2]) -> Entry {
        let (table, action) = (self.ir.program.table("sessions").unwrap(), self.ir.program.action("rated").unwrap());
        Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args: cells.to_vec() }
    }

    fn rate(&self, index: u64, config: Option<MeterConfig>) -> Op {
        Op::Meter { meter: self.meter, index, config }
    }

    /// As a split does it: the one behind first.
    fn apply(&self, ops: Vec<Op>) {
        let batch = Batch { ops };
        self.x86.apply(&batch).unwrap();
        self.xdp.apply(&batch).unwrap();
    }

    fn peak(&self, index: u64) -> Option<u64> {
        let (here, there) = (self.x86.meter_state(self.meter, index), self.xdp.meter_state(self.meter, index));
        assert_eq!(here, there, "it is one bucket");
        here.map(|state| state.peak)
    }
}

fn xdp(ir: &Arc<Ir>) -> (Arc<Xdp>, Vec<Option<Arc<SharedMeter>>>) {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap();
    let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &Options { seed: 5, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
    assert!(!xdp.shares_meters());
    let meters = xdp.share_meters();
    assert!(xdp.shares_meters());
    (Arc::new(xdp), meters)
}

fn frame(key: u32, kind: u16) -> Vec<u8> {
    [&key.to_be_bytes()[..], &[0; 4], &kind.to_be_bytes(), &[0; 30]].concat()
}

fn send(lane: &mut Box<dyn Lane>, key: u32, kind: u16, now_ns: u64) -> Verdict {
    let (mut packets, mut verdicts) = ([Packet::new(&frame(key, kind), PortId(0))], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, now_ns);
    verdicts[0]
}

fn one_rate(rate: u64, burst: u64) -> Option<MeterConfig> {
    Some(MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst })
}

/// Every packet runs in XDP or on x86 as chance will, some in XDP in vain; sessions get other rates meanwhile. Colours and buckets are the
/// interpreter's, and so no session gets more than a burst and its rate.
#[test]
fn packets_here_and_there_are_coloured_as_in_one_place() {
    if !testkit::root_or_skip("packets_here_and_there_are_coloured_as_in_one_place") {
        return;
    }
    const SESSIONS: u32 = 12;
    let both = Both::new();
    let oracle = Asic::oracle(both.ir.clone()).unwrap();
    let (mut here, mut there, mut judge) = (both.xdp.lane(0), both.x86.lane(0), oracle.lane(0));
    let mut rng = common::rng(7);
    let apply = |ops: Vec<Op>| {
        oracle.apply(&Batch { ops: ops.clone() }).unwrap();
        both.apply(ops);
    };
    let rates = |rng: &mut ChaCha8Rng| {
        let (rate, burst) = (rng.random_range(1..3_000u64), rng.random_range(1..20));
        match rng.random_range(0..4) {
            0 => MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst },
            // Products beyond 64 bits.
            1 => MeterConfig { cir: rate, cbs: burst, pir: u64::MAX - rate, pbs: program::MAX_BURST },
            _ => MeterConfig { cir: rate, cbs: burst, pir: 2 * rate, pbs: 2 * burst },
        }
    };
    for key in 1..=SESSIONS {
        // One cell of its own, and one with its neighbour.
        let (first, second) = (u64::from(key), if key % 3 == 0 { 0 } else { u64::from(100 + key / 2) });
        let configs = [both.rate(first, Some(rates(&mut rng))), both.rate(second.max(99), Some(rates(&mut rng)))];
        apply(configs.into_iter().chain([Op::Insert(both.session(key.into(), [first.into(), second.into()]))]).collect());
    }
    let mut now_ns = 5 * NANO;
    let (mut ran_here, mut ran_there, mut given_back, mut colours) = (0, 0, 0, [0u64; 16]);
    for step in 0..60_000 {
        now_ns += [0, 0, 1_000, 50_000, 200_000][rng.random_range(0..5)];
        if rng.random_bool(0.002) {
            now_ns += 5 * NANO;
        }
        let (key, kind) = (rng.random_range(1..=SESSIONS), u16::from(rng.random_bool(0.1)));
        let expected = send(&mut judge, key, kind, now_ns);
        let mut verdict = Verdict::next();
        if rng.random_bool(0.6) {
            verdict = send(&mut here, key, kind, now_ns);
            // What it cannot finish leaves no trace.
            assert_eq!(verdict.kind == VerdictKind::Next, kind == 1, "{verdict:?}");
            given_back += u64::from(kind == 1);
            ran_here += u64::from(kind == 0);
        }
        if verdict.kind == VerdictKind::Next {
            verdict = send(&mut there, key, kind, now_ns);
            ran_there += 1;
        }
        assert_eq!(verdict, expected, "step {step}: session {key}, kind {kind}");
        colours[usize::from(verdict.port) & 15] += 1;
        if step % 500 == 0 {
            let cell = rng.random_range(1..=u64::from(SESSIONS));
            apply(vec![both.rate(cell, Some(rates(&mut rng)))]);
        }
        if step % 1000 == 999 {
            for index in (1..=u64::from(SESSIONS)).chain(99..110) {
                let (expected, got) = (oracle.meter_state(both.meter, index), both.x86.meter_state(both.meter, index));
                let buckets = |s: Option<MeterState>| s.map(|s| (s.committed, s.peak));
                // Where the last packet was given back, time may have been seen that the interpreter has seen too.
                assert_eq!(buckets(got), buckets(expected), "step {step}: cell {index}");
                assert_eq!(got, both.xdp.meter_state(both.meter, index));
            }
        }
    }
    assert!(ran_here > 20_000 && ran_there > 20_000 && given_back > 2_000, "{ran_here} {ran_there} {given_back}");
    // Green, yellow and red of the first, and of the second.
    assert!([0, 4, 8, 1, 2].iter().all(|c| colours[*c] > 500), "{colours:?}");
}

/// Two lanes of x86 and two threads that run the program in the kernel, at one bucket that never fills again: what it holds passes, to the
/// packet, and what finds the cell held is handed on and policed there.
#[test]
fn all_at_once_a_bucket_lets_pass_what_it_holds_and_not_a_packet_more() {
    if !testkit::root_or_skip("all_at_once_a_bucket_lets_pass_what_it_holds_and_not_a_packet_more") {
        return;
    }
    const TOKENS: u64 = 6_000_000;
    let both = Both::new();
    both.apply(vec![
        both.rate(1, one_rate(0, TOKENS)),
        both.rate(2, Some(MeterConfig { cir: 0, cbs: TOKENS / 2, pir: 0, pbs: TOKENS })),
        Op::Insert(both.session(1, [1, 2])),
    ]);
    let (slow_path, begun) = (AtomicU64::new(0), [const { AtomicU64::new(0) }; 4]);
    let by_thread: Vec<[[u64; 3]; 2]> = std::thread::scope(|scope| {
        let (both, slow_path, begun) = (&both, &slow_path, &begun);
        let run = move |thread: usize| {
            let (mut here, mut there) = (both.xdp.lane(thread), both.x86.lane(thread));
            let (mut colours, mut step) = ([[0u64; 3]; 2], 0u64);
            // x86 has full bursts, so that it is at the cell half of the time.
            let new = || (0..BURST).map(|_| Packet::new(&frame(1, 0), PortId(0))).collect::<Vec<_>>();
            let (mut packets, mut verdicts) = (new(), vec![Verdict::default(); BURST]);
            loop {
                step += 1;
                let mut n = 1;
                if thread < 2 {
                    verdicts[0] = send(&mut here, 1, 0, 1);
                    if verdicts[0].kind == VerdictKind::Next {
                        slow_path.fetch_add(1, Ordering::Relaxed);
                        verdicts[0] = send(&mut there, 1, 0, step);
                    }
                } else {
                    n = BURST;
                    there.process(&mut packets, &mut verdicts, step);
                }
                // Of the first cell and of the second: packets meet the two at different times, so each is counted alone.
                for verdict in &verdicts[..n] {
                    assert_eq!(verdict.kind, VerdictKind::Forward);
                    colours[0][usize::from(verdict.port >> 2)] += 1;
                    colours[1][usize::from(verdict.port & 3)] += 1;
                }
                if verdicts[..n].contains(&Verdict::forward(PortId(10))) {
                    return colours;
                }
                // Nobody takes it all before the others have been given a core.
                begun[thread].store(colours[0][0], Ordering::Relaxed);
                while colours[0][0] > 10_000 && begun.iter().any(|n| n.load(Ordering::Relaxed) <= 1_000) {
                    std::thread::yield_now();
                }
            }
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("colours by thread {by_thread:?}, handed on {slow_path:?}");
    let sum = |cell: usize, colour: usize| by_thread.iter().map(|colours| colours[cell][colour]).sum::<u64>();
    assert_eq!([sum(0, 0), sum(0, 1), sum(1, 0), sum(1, 1)], [TOKENS, 0, TOKENS / 2, TOKENS / 2]);
    assert_eq!((both.peak(1), both.peak(2)), (Some(0), Some(0)));
    assert!(by_thread.iter().all(|colours| colours[0][0] > 1_000), "{by_thread:?}");
}

/// A lane that has been stopped while it holds a cell: packets do not wait for it, and are not charged.
#[test]
fn a_packet_that_finds_its_cell_held_goes_to_the_slow_path() {
    if !testkit::root_or_skip("a_packet_that_finds_its_cell_held_goes_to_the_slow_path") {
        return;
    }
    let both = Both::new();
    both.apply(vec![both.rate(1, one_rate(0, 9)), both.rate(2, one_rate(0, 9)), Op::Insert(both.session(1, [1, 2]))]);
    let mut lane = both.xdp.lane(0);
    let lock = |cell: usize, held: u64| both.cells.cells()[cell * CELL_WORDS + 3].fetch_xor(held << 32, Ordering::AcqRel);
    assert_eq!(send(&mut lane, 1, 0, 1), Verdict::forward(PortId(0)));
    // The first has been charged when it finds the second held, and gets it back.
    for held in [1, 2] {
        lock(held, 1);
        assert_eq!(send(&mut lane, 1, 0, 2).kind, VerdictKind::Next);
        lock(held, 1);
    }
    assert_eq!((both.peak(1), both.peak(2)), (Some(8 * NANO), Some(8 * NANO)));
    assert_eq!(send(&mut lane, 1, 0, 2), Verdict::forward(PortId(0)));
    assert_eq!(both.peak(1), Some(7 * NANO));
}

/// While packets wait for a cell on x86 it is red in XDP, whatever is in it: what comes follows them there. It is so for as long as one worker has some,
/// or until that ends.
#[test]
fn a_cell_that_packets_wait_for_on_x86_is_red_in_xdp() {
    if !testkit::root_or_skip("a_cell_that_packets_wait_for_on_x86_is_red_in_xdp") {
        return;
    }
    let both = Both::new();
    both.apply(vec![both.rate(1, one_rate(0, 9)), Op::Insert(both.session(1, [1, 0]))]);
    let mut here = both.xdp.lane(0);
    let mut colour = || send(&mut here, 1, 0, 1).port >> 2;
    let [mut a, mut b] = [0, 1].map(|worker| both.x86.lane(worker));
    assert!(a.shape(both.meter) && b.shape(both.meter));
    let set = |lane: &mut Box<dyn Lane>, waits| lane.with_rates(&mut |rates| rates.set_waiting(1, waits));
    assert_eq!(colour(), 0);
    for waits in [true, true] {
        set(&mut a, waits);
    }
    set(&mut b, true);
    assert_eq!((colour(), both.peak(1)), (2, Some(8 * NANO)), "and nothing is taken");
    // A new rate changes nothing of that.
    both.apply(vec![both.rate(1, one_rate(0, 5))]);
    set(&mut a, false);
    assert_eq!((colour(), both.peak(1)), (2, Some(5 * NANO)));
    set(&mut a, false);
    drop(b);
    assert_eq!((colour(), both.peak(1)), (0, Some(4 * NANO)));
}

/// A rate that x86 gives up is in force until no entry of XDP's leads to it any more; and it is one of x86's to give.
#[test]
fn a_cell_keeps_its_rate_while_entries_lead_to_it() {
    if !testkit::root_or_skip("a_cell_keeps_its_rate_while_entries_lead_to_it") {
        return;
    }
    let both = Both::new();
    let session = Op::Insert(both.session(1, [1, 0]));
    both.apply(vec![both.rate(1, one_rate(0, 2)), session.clone()]);
    let mut lane = both.xdp.lane(0);
    let mut green = || send(&mut lane, 1, 0, 1).port == 0;
    assert!(green());
    // Ends on x86 first. Its last packets in XDP have their rate.
    let end = Batch { ops: vec![Op::Delete(both.session(1, [1, 0])), both.rate(1, None)] };
    both.x86.apply(&end).unwrap();
    assert_eq!(both.x86.meter_state(both.meter, 1), None);
    assert!(green() && !green() && !green());
    both.xdp.apply(&end).unwrap();
    both.x86.apply(&Batch::default()).unwrap();
    assert_eq!((both.peak(1), both.cells.is_kept(1)), (None, false));
    // Another session has the cell, with a bucket of its own, and XDP's copy takes nothing from it.
    let begin = Batch { ops: vec![both.rate(1, one_rate(0, 3)), session] };
    both.x86.apply(&begin).unwrap();
    both.x86.lane(0).process(&mut [Packet::new(&frame(1, 0), PortId(0))], &mut [Verdict::default()], 1);
    both.xdp.apply(&begin).unwrap();
    assert_eq!((both.peak(1), both.cells.is_kept(1)), (Some(2 * NANO), true));
    // What XDP refuses it does not keep.
    let refused = Batch { ops: vec![both.rate(7, one_rate(1, 1)), Op::Delete(both.session(9, [0, 0]))] };
    assert!(both.xdp.apply(&refused).is_err() && !both.cells.is_kept(7));
    both.xdp.retire();
    assert!(!both.cells.is_kept(1));
}

/// More different rates than XDP has room for: packets of those cells run on x86, in its buckets.
#[test]
fn a_rate_that_xdp_has_no_room_for_is_policed_on_x86() {
    if !testkit::root_or_skip("a_rate_that_xdp_has_no_room_for_is_policed_on_x86") {
        return;
    }
    let both = Both::new();
    let cells = 66_000u64;
    let rates = (1..cells).map(|n| both.rate(n, one_rate(n, 2))).collect();
    both.x86.apply(&Batch { ops: rates }).unwrap();
    both.apply(vec![Op::Insert(both.session(1, [1, 0])), Op::Insert(both.session(2, [u128::from(cells) - 1, 0]))]);
    let (mut here, mut there) = (both.xdp.lane(0), both.x86.lane(0));
    assert_eq!(send(&mut here, 1, 0, 1), Verdict::forward(PortId(0)));
    assert_eq!(send(&mut here, 2, 0, 1).kind, VerdictKind::Next);
    let on_x86: Vec<u16> = (0..3).map(|_| send(&mut there, 2, 0, 1).port).collect();
    assert_eq!(on_x86, [0, 0, 8]);
    assert_eq!(both.peak(cells - 1), Some(0));
}

/// Sessions with rates move between the two, and back, while XDP refuses, forgets, hands on what it likes and dies under traffic: which was
/// impossible with two buckets.
#[test]
fn moving_sessions_with_rates_changes_nothing_that_can_be_seen() {
    if !testkit::root_or_skip("moving_sessions_with_rates_changes_nothing_that_can_be_seen") {
        return;
    }
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |text| text.parse::<u64>().unwrap());
    let (moves, first) = (number("MOVES", 4_000), number("MOVES_SEED", 1));
    let ir = offload_kit::compile();
    let (xdp, meters) = xdp(&ir);
    let x86 = Arc::new(offload_kit::native_with(&ir, meters));
    let (mut sum, mut seed) = (Seen::default(), first);
    while sum.moves < moves {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let case = || World::of(&ir, Box::new(xdp.clone()), x86.clone(), Flavour::Shared, rng).run(500.min(moves - sum.moves));
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)) {
            Ok(seen) => sum.add(seen),
            Err(failure) => {
                eprintln!("MOVES_SEED={seed} MOVES=500 repeats the case, after {} moves without a fault", sum.moves);
                std::panic::resume_unwind(failure);
            }
        }
        seed += 1;
    }
    println!("{} moves, 0 violations: {sum:#?}", sum.moves);
    assert!(sum.to_fast > moves / 4 && sum.paths.0 > moves && sum.paths.1 > moves && sum.left > 50 && sum.recoveries > 20, "{sum:#?}");
    assert!(
        sum.partial_buckets > moves / 10 && ["colour 0", "colour 1", "colour 2"].iter().all(|c| sum.kinds[*c] > moves / 20),
        "{sum:#?}"
    );
}
