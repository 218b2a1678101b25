//! The gNodeB's pipeline split over two targets, by a marker in the packet or by bearer (Memarian et al., §V-C, Figure 9): together they do what the interpreter does that
//! runs the whole. In front stands a chip model, or the kernel; behind it native code.

#[path = "common/veth.rs"]
mod veth;

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::planner::{Needs, Planner, Settings};
use offload::{Policy, Split, Unit, plan_and_move};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use target_api::{Ahead, BURST, Lane, Replicating, Target};
use target_asic::{Asic, Chip};
use target_kit::twin::rng;
use target_x86::X86;
use target_xdp::{Options, Xdp};
use veth::{PATIENCE, receive, send, veths_or_skip};

const N3: PortId = PortId(0);
/// Groups of packets that a marker can say, and bearers, of which some groups have several.
const GROUPS: u16 = 64;
const BEARERS: u32 = 150;
const QFI: u8 = 9;
/// A tunnel that is nobody's.
const NOBODYS: u32 = BEARERS + 1;

/// The bearer that has used nearly all of its COUNTs.
const ENDS: u32 = 7;

/// Who says which packets run in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The packet, by IPv4's Identification.
    Marker,
    /// Its bearer.
    Bearer,
}

fn compile(step: u8, by: By) -> Arc<Ir> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/gnb.p4");
    let mut options = p4_check::Options::default();
    options.defines.extend([("STEP".to_owned(), step.to_string()), ("BEARERS".to_owned(), "1024".to_owned())]);
    if by == By::Marker {
        options.defines.insert("MARKER".to_owned(), String::new());
    }
    let compiled = p4_check::compile_file(&path, &options).unwrap_or_else(|failure| panic!("{}", failure.render()));
    assert_eq!(compiled.render_warnings(), "");
    let mut ir = compiled.ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    Arc::new(ir)
}

fn insert(ir: &Ir, table: &str, action: &str, keys: &[u128], args: Vec<u128>) -> Op {
    let table = ir.program.table(table).expect("the program has it");
    let actions = ir.program.tables[table].actions.iter().map(|used| used.action);
    let action = { actions }.find(|a| ir.program.actions[*a].name.rsplit('.').next() == Some(action)).expect("the table has it");
    Op::Insert(Entry { table, keys: keys.iter().map(|key| KeyMatch::Exact(*key)).collect(), priority: 0, action, args })
}

fn teid(bearer: u32) -> u32 {
    0x1000_0000 + bearer
}

/// A bearer's packets: formats differ.
fn bearer(ir: &Ir, n: u32) -> Op {
    let bit = |at: u32| u128::from(n >> at & 1);
    let mode = if n.is_multiple_of(5) { 1 } else { 2 };
    let mut args = vec![n.into(), mode, bit(0), bit(1), bit(2), 0, 0, n.into(), n.into(), 1];
    args.extend([if n == ENDS { 0xFFFF_FFF0 } else { 0 }, 16_000, 1, 0x0a03_0009]);
    insert(ir, "bearer_by_flow", "set_bearer", &[teid(n).into(), QFI.into()], args)
}

/// What is placed: a group with its bearers, or a bearer. Numbers begin at 1, as 0 is nobody's.
fn units(ir: &Ir, by: By, step: u8, in_front: impl Fn(u32) -> bool) -> Vec<(Unit, Batch)> {
    let unit = |id: u32, chosen: bool| Unit { id: id.into(), chosen, ..Unit::default() };
    match by {
        // A group, with its bearers.
        By::Marker => {
            let bearers = |g: u32| (g..if step >= 3 { BEARERS } else { 0 }).step_by(GROUPS.into()).map(|n| bearer(ir, n));
            let ops = |g: u32| std::iter::once(insert(ir, "marked", "run", &[g.into()], vec![])).chain(bearers(g)).collect();
            (0..u32::from(GROUPS)).map(|g| (unit(g + 1, in_front(g)), Batch { ops: ops(g) })).collect()
        }
        By::Bearer => (0..BEARERS).map(|n| (unit(n + 1, in_front(n)), Batch { ops: vec![bearer(ir, n)] })).collect(),
    }
}

/// A packet of a bearer, marked as told.
fn frame(bearer: u32, group: u16, below: u16, payload: &[u8]) -> Vec<u8> {
    let mut gtpu = vec![0x34, 255];
    gtpu.extend((payload.len() as u16 + 8).to_be_bytes());
    gtpu.extend(teid(bearer).to_be_bytes());
    gtpu.extend([0, 0, 0, 0x85, 1, 0, QFI, 0]);
    gtpu.extend(payload);
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    frame.extend((gtpu.len() as u16 + 28).to_be_bytes());
    frame.extend(((group << 10) | (below & 0x3ff)).to_be_bytes());
    frame.extend([0x40, 0, 64, 17, 0, 0, 10, 3, 0, 9, 10, 3, 0, 1]);
    let sum = frame[14..34].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum::<u32>();
    let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend([8, 104, 8, 104]);
    frame.extend((gtpu.len() as u16 + 8).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(gtpu);
    frame
}

/// The group that a bearer's packets must say.
fn group_of(bearer: u32) -> u16 {
    (bearer % u32::from(GROUPS)) as u16
}

/// One of any kind: sound, of nobody, with another bearer's marker, damaged, no tunnel's.
fn any_frame(rng: &mut impl Rng) -> Vec<u8> {
    // Every twentieth of the one whose COUNTs end.
    let n = if rng.random_range(0..20) == 0 { ENDS } else { rng.random_range(0..BEARERS) };
    let payload: Vec<u8> = (0..rng.random_range(40..90)).map(|_| rng.random()).collect();
    let mut sound = frame(n, group_of(n), rng.random(), &payload);
    match rng.random_range(0..20) {
        0 => frame(NOBODYS, rng.random_range(0..GROUPS), rng.random(), &payload),
        1 => frame(n, rng.random_range(0..GROUPS), rng.random(), &payload),
        2 => {
            sound.truncate(rng.random_range(14..60));
            sound
        }
        3 => {
            let at = rng.random_range(12..58);
            sound[at] ^= 1 << rng.random_range(0..8);
            sound
        }
        _ => sound,
    }
}

fn native(ir: &Ir) -> X86 {
    let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
    let options = target_x86::Options { flags: vec!["-O1".into()], ..Default::default() };
    X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn chip(ir: &Arc<Ir>) -> Box<dyn Target> {
    Box::new(Asic::load(ir.clone(), Chip::default()).unwrap_or_else(|e| panic!("{e}")))
}

fn kernel(ir: &Arc<Ir>) -> Box<dyn Target> {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { seed: 3, short_packets: true, hand_on_full: false, ..Options::default() };
    Box::new(Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}")))
}

/// A split, and the interpreter that runs the whole, with the same entries.
struct Beside {
    ir: Arc<Ir>,
    split: Split,
    whole: Machine,
    units: Vec<(Unit, Batch)>,
    lane: Box<dyn Lane>,
    /// Packets by verdict and reason.
    met: BTreeMap<String, u64>,
    now_ns: u64,
}

impl Beside {
    fn new(step: u8, by: By, front: fn(&Arc<Ir>) -> Box<dyn Target>, policy: Policy, in_front: impl Fn(u32) -> bool) -> Beside {
        let ir = compile(step, by);
        let base: Box<dyn Target> = match p4_passes::bridge::cut(&ir).expect("can be cut") {
            // A copy is behind the place where the program stops for it.
            Some((mut cut, bridge)) => {
                p4_passes::optimise(&mut cut).expect("keeps the invariants");
                Box::new(Replicating::new(native(&cut), bridge))
            }
            None => Box::new(native(&ir)),
        };
        let split = Split::new(front(&ir), base, policy).unwrap_or_else(|e| panic!("{e}"));
        let mut whole = Machine::new(ir.clone()).expect("runs");
        let units = units(&ir, by, step, in_front);
        for (unit, batch) in &units {
            split.apply_session(unit, batch).expect("fits");
            whole.apply(batch).expect("fits");
        }
        let lane = split.lane(0);
        Beside { ir, split, whole, units, lane, met: BTreeMap::new(), now_ns: 1_000_000 }
    }

    /// Runs a burst through both.
    fn burst(&mut self, frames: &[Vec<u8>]) {
        self.now_ns += 1000;
        let mut packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, N3)).collect();
        let mut verdicts = vec![Verdict::default(); packets.len()];
        self.lane.process(&mut packets, &mut verdicts, self.now_ns);
        self.lane.take_extra(&mut Vec::new());
        for ((frame, packet), verdict) in frames.iter().zip(&packets).zip(verdicts) {
            let whole = self.whole.process(frame, N3, self.now_ns, Mode::Whole);
            assert_eq!(verdict, whole.verdict, "{frame:02x?}");
            if verdict.kind == VerdictKind::Forward {
                assert_eq!(packet.data(), whole.bytes, "{frame:02x?}");
            }
            let name = match verdict.kind {
                VerdictKind::Drop | VerdictKind::Punt => self.ir.program.reason_name(verdict.reason),
                kind => format!("{kind:?}"),
            };
            *self.met.entry(name).or_default() += 1;
        }
    }

    /// Packets that ended in front, and behind.
    fn ended(&self) -> [u64; 2] {
        [0, 1].map(|stage| self.split.traffic_of(stage).values().map(|count| count.packets).sum())
    }

    fn met(&self, name: &str) -> u64 {
        self.met.get(name).copied().unwrap_or_default()
    }
}

/// Each step, split in each way: byte for byte, verdict for verdict, as the whole. A COUNT that two targets spent would show in the bytes.
fn equals_the_whole(front: fn(&Arc<Ir>) -> Box<dyn Target>) {
    for (step, by) in [(0, By::Marker), (1, By::Marker), (2, By::Marker), (3, By::Marker), (3, By::Bearer)] {
        // The number's bits are mixed, so that what runs in front is not all of one kind.
        for share in [16, 32, 48] {
            let mut beside = Beside::new(step, by, front, Policy::Chosen, |n| n * 37 % 64 < share);
            let mut rng = rng(u64::from(step) * 100 + u64::from(share));
            for _ in 0..60 {
                let frames: Vec<Vec<u8>> = (0..BURST).map(|_| any_frame(&mut rng)).collect();
                beside.burst(&frames);
            }
            let ended = beside.ended();
            println!("step {step} by {by:?}, {share} of 64 in front: {ended:?}, {:?}", beside.met);
            assert!(ended.iter().all(|n| *n > 200) && beside.met("Forward") > 1000, "{ended:?}, {:?}", beside.met);
            assert!(step == 0 || beside.met("malformed") > 20, "{:?}", beside.met);
            if step == 3 {
                assert!(beside.met("unknown_teid") + beside.met("wrong_marker") > 50, "{:?}", beside.met);
                assert_eq!(by == By::Marker, beside.met("wrong_marker") > 20, "{:?}", beside.met);
                assert_eq!(
                    beside.split.counter(beside.ir.program.counter("downlink_count_high").unwrap(), ENDS.into()).packets,
                    beside.count_high()
                );
                assert!(beside.met("count_exhausted") > 5 && beside.count_high() == 15, "{:?}", beside.met);
            }
        }
    }
}

impl Beside {
    /// Packets of the bearer whose COUNT is high, as the interpreter counts them.
    fn count_high(&self) -> u64 {
        self.whole.counter(self.ir.program.counter("downlink_count_high").unwrap(), ENDS.into()).packets
    }
}

#[test]
fn a_chip_model_and_x86_together_equal_the_whole() {
    equals_the_whole(chip);
}

#[test]
fn the_kernel_and_x86_together_equal_the_whole() {
    if testkit::root_or_skip("the_kernel_and_x86_together_equal_the_whole") {
        equals_the_whole(kernel);
    }
}

/// A copy is none of a target's in front: with STEP=4 all that is sent runs on x86, and what is dropped may end in front.
#[test]
fn packets_that_are_copied_run_behind_whatever_their_marker() {
    let mut beside = Beside::new(4, By::Marker, chip, Policy::Chosen, |n| n < 32);
    let mut rng = rng(4);
    for _ in 0..20 {
        let frames: Vec<Vec<u8>> = (0..BURST).map(|_| any_frame(&mut rng)).collect();
        beside.burst(&frames);
    }
    let ran = |stage: usize| beside.split.ran_of(stage).remove(&N3).unwrap_or_default();
    assert_eq!((ran(0).carried.packets, ran(1).carried.packets), (0, beside.met("Forward")));
    assert!(ran(0).dropped.packets > 5 && beside.met("Forward") > 300, "{:?}", beside.met);
}

/// By the planner, with steps that have no COUNT: groups come to the front for their rate, and leave for others', while packets pass.
#[test]
fn a_planner_moves_groups_by_their_rate_and_nothing_shows_in_the_packets() {
    let mut beside = Beside::new(2, By::Marker, chip, Policy::Planned, |_| false);
    let settings = Settings { updates_per_second: 1000, ..Settings::default() };
    // Room for sixteen of them.
    let mut planner = Planner::new(settings, [16, 0, 0, 0]).unwrap();
    for (unit, _) in &beside.units {
        planner.session(unit, Needs { entries: [1, 0, 0, 0], updates: 1, cycles: 300.0 }, 0);
    }
    let (mut rng, mut counts, mut moved) = (rng(9), vec![0u64; GROUPS.into()], [0, 0]);
    for (tick, favoured) in (1..=400u64).zip([0u16, 32].into_iter().flat_map(|from| std::iter::repeat_n(from, 200))) {
        let frames: Vec<Vec<u8>> = (0..BURST)
            .map(|_| {
                // Nine of ten are of ten groups, others later than first.
                let group = if rng.random_range(0..10) > 0 { favoured + rng.random_range(0..10) } else { rng.random_range(0..GROUPS) };
                counts[usize::from(group)] += 1;
                frame(rng.random_range(0..BEARERS), group, rng.random(), &[7; 60])
            })
            .collect();
        beside.burst(&frames);
        let now_ns = tick * 50_000_000;
        for (group, packets) in counts.iter().enumerate() {
            planner.usage(group as u64 + 1, *packets, packets * 118, now_ns);
        }
        let units = &beside.units;
        let executed = plan_and_move(&beside.split, &mut planner, now_ns, |id| units.iter().find(|(unit, _)| unit.id == id).cloned());
        moved[0] += executed.to_fast;
        moved[1] += executed.to_base;
        assert_eq!(executed.failed, 0);
        if tick % 200 == 0 {
            assert!((1..=10).all(|n| beside.split.is_on_fast(u64::from(favoured) + n)), "after {tick} ticks");
        }
    }
    let ended = beside.ended();
    println!("moved {moved:?}, ended {ended:?}");
    assert!(moved[0] > 20 && moved[1] > 5 && ended.iter().all(|n| *n > 1000), "{moved:?}, {ended:?}");
}

/// XDP on interfaces, ahead of x86: what it runs leaves by the interface, what it passes on comes out of its sockets and runs on x86.
#[test]
fn xdp_on_an_interface_and_x86_together_equal_the_whole() {
    veths_or_skip("xdp_on_an_interface_and_x86_together_equal_the_whole", |mut veths| {
        let ir = compile(3, By::Marker);
        let text = p4_emit::bpf::emit_xdp(&ir).unwrap_or_else(|e| panic!("{e}"));
        let xdp = Arc::new(Xdp::load(Arc::new(ir.program.clone()), &text, &Options { seed: 5, ..Options::default() }).unwrap());
        let mut behind = veths.attach(&xdp);
        let split = Split::new(Box::new(xdp.clone()), Box::new(native(&ir)), Policy::Chosen).unwrap();
        let mut whole = Machine::new(ir.clone()).expect("runs");
        for (unit, batch) in units(&ir, By::Marker, 3, |group| group < 24) {
            split.apply_session(&unit, &batch).expect("fits");
            whole.apply(&batch).expect("fits");
        }
        let mut lane = split.lane(0);
        veths.go_live(&xdp);
        let (mut rng, mut ran) = (rng(11), [0u64; 2]);
        for _ in 0..20 {
            // What leaves by the interface, and what comes out behind, in the order in which they were sent; nothing of them is wrong.
            let (mut sent, mut passed) = (Vec::new(), Vec::new());
            for _ in 0..32 {
                let n = rng.random_range(0..BEARERS);
                let payload: Vec<u8> = (0..60).map(|_| rng.random()).collect();
                let frame = frame(n, group_of(n), rng.random(), &payload);
                let out = whole.process(&frame, N3, 1, Mode::Whole);
                // One bearer has few COUNTs left, and its packets are dropped behind them.
                if out.verdict.kind == VerdictKind::Forward {
                    if group_of(n) < 24 { &mut sent } else { &mut passed }.push((frame.clone(), out.bytes.to_vec()));
                }
                send(&mut veths.far[0], &frame);
            }
            let came = receive(&mut veths.far[0], sent.len());
            assert!(came.iter().eq(sent.iter().map(|(_, expected)| expected)), "in XDP");
            let came = receive(&mut behind[0], passed.len());
            for (frame, (original, expected)) in came.iter().zip(&passed) {
                assert_eq!(frame, original, "it is as it came");
                let (mut packets, mut verdicts) = ([Packet::new(frame, N3)], [Verdict::default()]);
                lane.process(&mut packets, &mut verdicts, target_xdp::sys::monotonic_ns());
                assert_eq!((verdicts[0], packets[0].data()), (Verdict::forward(N3), &expected[..]), "on x86");
            }
            ran[0] += sent.len() as u64;
            ran[1] += passed.len() as u64;
        }
        assert!(ran.iter().all(|n| *n > 150), "{ran:?}");
        // Another bearer's marker, of a group that XDP runs: it is dropped by who has the bearer.
        let wrong = ir.program.reasons.iter().find(|(_, name)| name == "wrong_marker").map(|(code, _)| base::DropReason(*code)).unwrap();
        send(&mut veths.far[0], &frame(4, 3, 0, &[1; 60]));
        let end = std::time::Instant::now() + PATIENCE;
        while xdp.carried().dropped.get(&wrong).is_none_or(|count| count.packets == 0) {
            assert!(std::time::Instant::now() < end, "it is not dropped");
            std::thread::yield_now();
        }
        send(&mut veths.far[0], &frame(40, 3, 0, &[1; 60]));
        let came = receive(&mut behind[0], 1);
        let (mut packets, mut verdicts) = ([Packet::new(&came[0], N3)], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, target_xdp::sys::monotonic_ns());
        assert_eq!(verdicts[0], Verdict::drop(wrong));
    });
}
