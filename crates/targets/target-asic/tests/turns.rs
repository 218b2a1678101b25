//! Does the control plane have its turn while lanes always have packets, and does it read what they counted?

use base::{Packet, PortId, Verdict};
use program::{Batch, CounterId, Op};
use rand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use target_api::{BURST, Target};
use target_asic::{Asic, Chip};

/// Counts each packet in the cell that it names; and long enough to keep a lane busy.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_h { bit<32> cell; }
struct headers_t { h_h h; }
struct meta_t { bit<32> x; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }
control VC(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    counter(1000, CounterType.packets_and_bytes) seen;
    counter(1000, CounterType.packets) others;
    apply { seen.count(hdr.h.cell); WORK s.egress_spec = 7; }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control CC(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
"#;
/// More threads than there are turns to be had at once.
const LANES: usize = 4;
const READS: usize = 200;

fn load(work: usize) -> (Asic, CounterId) {
    let text = PROGRAM.replace("WORK", &"others.count(hdr.h.cell);".repeat(work));
    let mut ir = p4_check::compile_str("seen.p4", &text, &Default::default()).unwrap_or_else(|f| panic!("{}", f.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let asic = Asic::load(Arc::new(ir), Chip::default()).unwrap();
    let seen = asic.program().counter("seen").unwrap();
    (asic, seen)
}

fn packets(cell: u32) -> Vec<Packet> {
    vec![Packet::new(&[&cell.to_be_bytes()[..], &[0; 60]].concat(), PortId(0)); BURST]
}

/// A reader that comes to a lock which lanes take again as soon as they have left it would wait for hundreds of bursts, most on a
/// machine that is busy with other things. In turn it waits for those that are being run and stand before it.
#[test]
fn who_reads_a_counter_waits_for_few_bursts() {
    let (asic, seen) = load(100);
    let (begun, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut ahead = Vec::new();
    std::thread::scope(|scope| {
        for index in 0..LANES {
            let (asic, begun, stop) = (&asic, &begun, &stop);
            scope.spawn(move || {
                let (mut lane, mut packets, mut verdicts) = (asic.lane(index), packets(1), vec![Verdict::default(); BURST]);
                while !stop.load(SeqCst) {
                    begun.fetch_add(1, SeqCst);
                    lane.process(&mut packets, &mut verdicts, 0);
                }
            });
        }
        for _ in 0..READS {
            // Until all lanes are at it again.
            let before = begun.load(SeqCst);
            while begun.load(SeqCst) < before + 2 * LANES as u64 {
                std::thread::yield_now();
            }
            let before = begun.load(SeqCst);
            let bursts = asic.counter(seen, 1).packets / BURST as u64;
            ahead.push(bursts.saturating_sub(before));
        }
        stop.store(true, SeqCst);
    });
    // Nine of ten: who is put to sleep between looking and asking has not waited yet.
    ahead.sort_unstable();
    assert!(ahead[READS * 9 / 10] <= LANES as u64, "bursts that were begun after who asked, and went before: {ahead:?}");
}

/// Readers copy cells and read on from their copy: never what was before a burst or a batch that has ended.
#[test]
fn what_is_read_is_what_was_counted() {
    let (asic, seen) = load(1);
    let others = asic.program().counter("others").unwrap();
    let mut rng = testkit::rng(11);
    let mut expected = vec![target_api::Count::default(); 1000];
    let (mut lane, mut verdicts) = (asic.lane(0), vec![Verdict::default(); BURST]);
    let mut cleared = 0;
    for round in 0..2000 {
        // Also within a window, and on its edges.
        let cell = if round % 3 == 0 { [0, 255, 256, 511, 999][round / 3 % 5] } else { rng.random_range(0..1000usize) };
        if round % 5 == 4 {
            asic.apply(&Batch { ops: vec![Op::ClearCounter { counter: seen, index: cell as u64 }] }).unwrap();
            cleared += u32::from(expected[cell].packets > 0);
            expected[cell] = target_api::Count::default();
        } else {
            let n = rng.random_range(1..=BURST);
            lane.process(&mut packets(cell as u32)[..n], &mut verdicts[..n], 0);
            expected[cell] += target_api::Count { packets: n as u64, bytes: 64 * n as u64 };
        }
        let near = cell.saturating_sub(1)..(cell + 2).min(1000);
        for index in near.chain([rng.random_range(0..1000usize)]) {
            assert_eq!(asic.counter(seen, index as u64), expected[index], "round {round}, cell {index}");
        }
        // Of another counter in the same window, and beyond the end of both.
        assert!(asic.counter(others, cell as u64).packets >= expected[cell].packets);
        assert_eq!([1000, 1 << 40, u64::MAX].map(|index| asic.counter(seen, index)), [target_api::Count::default(); 3]);
    }
    assert!(cleared > 30 && expected.iter().filter(|count| count.packets > 0).count() > 300, "{cleared} cleared");
}
