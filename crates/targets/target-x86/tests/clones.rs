//! Do packets that the program clones go on a burst at a time, as the interpreter has them go on one by one?

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::{Machine, Mode};
use program::{Batch, Mirror, Op};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use target_api::{Asks, BURST, Lane, Replicating, Target};
use target_kit::StandIn;
use target_x86::{Options, X86};

/// `h.a` says what is done with a packet: bit 0 clones it in ingress, bit 1 resubmits it. In egress `h.b` 7 clones packet and clone once more, 6 sends the packet round.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> seen; }
struct headers_t { h_t h; h_t made; }
struct metadata_t { @field_list(1) bit<8> kept; bit<8> lost; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 3;
        meta.kept = hdr.h.b ^ 0x55;
        meta.lost = 0xff;
        hdr.made.setValid();
        hdr.made.seen = (bit<16>)s.packet_length;
        if (s.instance_type == 0 && hdr.h.a[1:1] == 1) {
            resubmit_preserving_field_list(1);
        }
        if (hdr.h.a[0:0] == 1) {
            clone_preserving_field_list(CloneType.I2E, (bit<32>)hdr.h.a[3:2], 1);
        }
        if (hdr.h.b == 5) {
            mark_to_drop(s);
        }
        hdr.h.a = 0xee;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {
    apply {
        hdr.h.seen = (bit<16>)(meta.kept ++ meta.lost) + (bit<16>)s.instance_type;
        if (hdr.h.b == 7 && s.instance_type != 2) {
            clone(CloneType.E2E, 1);
        }
        if (hdr.h.b == 6 && s.instance_type == 0) {
            recirculate_preserving_field_list(1);
        }
        if (s.instance_type == 1 && hdr.h.b[7:7] == 1) {
            mark_to_drop(s);
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.made); packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Counts how often the program is run.
struct Counting {
    lane: Box<dyn Lane>,
    runs: Arc<AtomicUsize>,
}

impl Lane for Counting {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        self.runs.fetch_add(1, Relaxed);
        self.lane.process(packets, verdicts, now_ns);
    }

    fn process_asking(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64, asks: &mut dyn Asks) {
        self.runs.fetch_add(1, Relaxed);
        self.lane.process_asking(packets, verdicts, now_ns, asks);
    }

    target_api::lane_without!(take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

struct Both {
    target: Replicating<StandIn>,
    machine: Machine,
    runs: Arc<AtomicUsize>,
}

impl Both {
    fn new() -> Both {
        let compiled = p4_check::compile_str("clones.p4", PROGRAM, &p4_check::Options::default());
        let mut ir = compiled.unwrap_or_else(|failure| panic!("{}", failure.render())).ir;
        p4_passes::optimise(&mut ir).expect("keeps the invariants");
        let (mut cut, bridge) = p4_passes::bridge::cut(&ir).expect("can be cut").expect("it clones");
        p4_passes::optimise(&mut cut).expect("keeps the invariants");
        let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        let program = Arc::new(cut.program.clone());
        let x86 = Arc::new(X86::load(program.clone(), &text, &options).unwrap_or_else(|e| panic!("{e}")));
        let runs = Arc::<AtomicUsize>::default();
        let (lanes, counted) = (x86.clone(), runs.clone());
        let inner = StandIn::new(move |index| Box::new(Counting { lane: lanes.lane(index), runs: counted.clone() }))
            .of(program)
            .on_batch(move |batch| x86.apply(batch));
        let mut both = Both { target: Replicating::new(inner, bridge), machine: Machine::new(Arc::new(ir)).expect("runs"), runs };
        // Session 3 leads nowhere.
        let replica = |port, rid| program::Replica { port: PortId(port), rid };
        let ops = vec![
            Op::Mirror { session: 0, to: Some(Mirror::Group(4)) },
            Op::Mirror { session: 1, to: Some(Mirror::Port(PortId(9))) },
            Op::Mirror { session: 2, to: Some(Mirror::Group(5)) },
            Op::Multicast { group: 4, replicas: vec![replica(6, 1)] },
            Op::Multicast { group: 5, replicas: vec![replica(7, 1), replica(8, 2)] },
        ];
        let batch = Batch { ops };
        both.target.apply(&batch).expect("fits");
        both.machine.apply(&batch).expect("fits");
        both
    }

    /// A burst, compared with the interpreter: how often the program ran, how many packets were made beside it, and how many of them were dropped.
    fn check(&mut self, lane: &mut dyn Lane, burst: &[Vec<u8>]) -> (usize, usize, usize) {
        let mut packets: Vec<Packet> = burst.iter().map(|bytes| Packet::new(bytes, PortId(2))).collect();
        let mut verdicts = vec![Verdict::default(); packets.len()];
        let before = self.runs.load(Relaxed);
        lane.process(&mut packets, &mut verdicts, 7000);
        let mut extra = Vec::new();
        lane.take_extra(&mut extra);
        let runs = self.runs.load(Relaxed) - before;
        let shown = |verdict: Verdict, bytes: &[u8]| (verdict, if verdict.kind == VerdictKind::Drop { vec![] } else { bytes.to_vec() });
        let (mut theirs, mut beside) = (Vec::new(), Vec::new());
        for bytes in burst {
            let out = self.machine.process(bytes, PortId(2), 7000, Mode::Whole);
            theirs.push(shown(out.verdict, out.bytes));
            beside.extend(self.machine.extra().iter().map(|x| shown(x.verdict, &x.bytes)));
        }
        let ours: Vec<_> = packets.iter().zip(verdicts).map(|(packet, verdict)| shown(verdict, packet.data())).collect();
        assert_eq!(ours, theirs);
        assert_eq!(extra.iter().map(|x| shown(x.verdict, x.packet.data())).collect::<Vec<_>>(), beside, "in the order of their packets");
        assert!(extra.iter().all(|x| x.packet.port == PortId(2)));
        (runs, extra.len(), extra.iter().filter(|x| x.verdict.kind == VerdictKind::Drop).count())
    }
}

fn packet(a: u8, b: u8, i: usize) -> Vec<u8> {
    [&[a, b, 0, 0][..], &vec![i as u8; i % 40]].concat()
}

#[test]
fn a_burst_of_clones_runs_three_times_not_once_for_each() {
    let mut both = Both::new();
    let mut lane = both.target.lane(0);
    let burst: Vec<_> = (0..BURST).map(|i| packet(0b0101, 0, i)).collect();
    assert_eq!(both.check(lane.as_mut(), &burst), (3, BURST, 0), "packets, what they go on with, clones");
    // Some are not cloned, some go to a group of one, or nowhere; some clones are dropped, and so are some packets.
    let burst: Vec<_> = (0..BURST).map(|i| packet([0, 0b0101, 0b0001, 0b1101][i % 4], [0, 0x80, 5][i % 3], i)).collect();
    let (runs, extra, dropped) = both.check(lane.as_mut(), &burst);
    assert_eq!((runs, extra), (3, BURST / 2));
    assert!(dropped > 5, "{dropped}");
}

#[test]
fn clones_beside_packets_that_stop_for_more_come_in_order() {
    let mut both = Both::new();
    let mut lane = both.target.lane(0);
    let mut made = 0;
    for round in 0..40 {
        let burst: Vec<_> = (0..BURST)
            .map(|i| {
                let n = i * 7 + round * 13 + i * i;
                packet([0b0101, 0b0001, 0b1001, 0b0111, 0b0010, 0b1101, 0][n % 7], [0, 7, 6, 0x81, 5, 1][n / 7 % 6], i)
            })
            .collect();
        let (runs, extra, _) = both.check(lane.as_mut(), &burst);
        assert!(runs > 3, "each that stops again runs by itself");
        made += extra;
    }
    assert!(made > 2000, "{made}");
}
