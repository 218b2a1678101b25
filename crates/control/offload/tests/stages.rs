//! A program that is cut into stages, on a chain of three targets: random programs whose ends of stages lie anywhere, in branches too, do what the
//! interpreter does that runs them whole; also while targets of the chain miss packets, fail, and are out of service.

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::{OnRefusal, Policy, Split, Stage};
use p4_gen::random::{self, Rng, Shape};
use p4_interp::{Machine, Mode};
use p4_ir::{Extern, Ir, Stmt, verify, walk};
use p4_passes::bridge;
use program::{ApplyError, Bridge, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{Replicating, Target};
use target_asic::{Asic, Chip};
use target_chaos::{Chaos, Faults, Tally};
use target_x86::{Options, X86};

/// Stages of the chain.
const STAGES: u8 = 3;

/// A random program that ends stages where it called services. State that a packet leaves to the next one must be on one target, and it is not known here on
/// which one such a statement runs: it has none.
fn program(seed: u64) -> Ir {
    let mut ir = random::shaped(seed, Shape::Calls);
    let mut rng = Rng::new(seed ^ 0x57a6e);
    walk::blocks_mut(&mut ir, &mut |block| replace(block, &mut rng));
    ir.program.services.clear();
    // A stage that held only some entries would miss nearly every packet.
    ir.program.tables.values_mut().for_each(|table| table.split &= seed.is_multiple_of(4));
    assert_eq!(verify(&ir), Ok(()), "seed {seed}");
    ir
}

fn replace(block: &mut Vec<Stmt>, rng: &mut Rng) {
    use Extern::{DirectMeter, Meter, RegisterRead, RegisterWrite};
    block.retain(|s| !matches!(s, Stmt::Extern(Meter { .. } | DirectMeter { .. } | RegisterRead { .. } | RegisterWrite { .. })));
    for s in block {
        walk::stmt_blocks_mut(s, &mut |inner| replace(inner, rng));
        if matches!(s, Stmt::Extern(Extern::Service { .. })) {
            *s = Stmt::Extern(Extern::Stage(rng.below(STAGES.into()) as u8));
        }
    }
}

#[derive(Default)]
struct Seen {
    programs: u64,
    packets: u64,
    forwarded: u64,
    /// Packets by the stage that ran them to their end.
    by_stage: [u64; STAGES as usize],
    /// Bursts with a stage out of service.
    in_part: u64,
    faults: Tally,
}

/// Targets that run the cut program: as chip models, and as native code at the end.
fn chain(cut: &Arc<Ir>, bridge: &Bridge, seed: u64, fails: bool) -> (Split, Vec<Arc<Chaos>>) {
    let mut fronts = Vec::new();
    let mut chaos = Vec::new();
    for stage in 0..u64::from(STAGES) - 1 {
        let chip = Asic::load(cut.clone(), Chip::default()).expect("runs");
        let failing = Arc::new(Chaos::new(Box::new(Replicating::new(chip, bridge.clone())), seed ^ stage << 32));
        if fails {
            failing.set_faults(Faults { hand_on: 0.1, after: 0.02, ..Faults::default() });
        }
        fronts.push(Stage { target: Box::new(failing.clone()), on_refusal: OnRefusal::Retire });
        chaos.push(failing);
    }
    let text = p4_emit::emit_x86(cut).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: vec!["-O0".into()], ..Options::default() };
    let x86 = X86::load(Arc::new(cut.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
    let split = Split::chain(fronts, Box::new(Replicating::new(x86, bridge.clone())), Policy::Share(1.0));
    (split.unwrap_or_else(|e| panic!("{e}")), chaos)
}

fn check(seed: u64, fails: bool, seen: &mut Seen) {
    let ir = program(seed);
    let Some((mut cut, bridge)) = bridge::cut(&ir).unwrap_or_else(|e| panic!("seed {seed}: {e}")) else { return };
    assert_eq!(verify(&cut), Ok(()), "seed {seed}\n{cut}");
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let (split, chaos) = chain(&Arc::new(cut), &bridge, seed, fails);
    let mut lane = split.lane(0);
    let mut whole = Machine::new(Arc::new(ir.clone())).expect("runs");
    // One change at a time, so that each may find a stage out of service.
    let entries = random::entries(&ir, seed);
    let mut left = entries.ops.into_iter();
    let mut rng = Rng::new(seed ^ 0xfeed);
    let mut ran_by = BTreeMap::<usize, u64>::new();
    for round in 0..24 {
        for op in left.by_ref().take(if round == 0 { 2 } else { 1 }) {
            apply(&split, &mut whole, op);
        }
        if round == 20 {
            left.by_ref().for_each(|op| apply(&split, &mut whole, op));
        }
        if fails && round % 4 == 3 {
            chaos[rng.below(2)].kill();
        }
        if round % 4 == 1 {
            chaos.iter().for_each(|c| {
                if fails {
                    c.set_faults(Faults { hand_on: 0.1, after: 0.02, restart: 1.0, ..Faults::default() })
                }
            });
            let _ = split.recover();
        }
        let retired = (0..2).filter(|stage| split.is_stage_retired(*stage)).count();
        seen.in_part += u64::from(retired > 0);
        let mut packets: Vec<Packet> = (0..32).map(|_| Packet::new(&random::packet(&mut rng), PortId(rng.below(9) as u16))).collect();
        let sent = packets.clone();
        let mut verdicts = vec![Verdict::default(); packets.len()];
        lane.process(&mut packets, &mut verdicts, 1000 * round);
        (0..packets.len()).for_each(|place| *ran_by.entry(usize::from(lane.ran_by(place))).or_default() += 1);
        for ((sent, got), verdict) in sent.iter().zip(&packets).zip(&verdicts) {
            let out = whole.process(sent.data(), sent.port, 1000 * round, Mode::Whole);
            assert_eq!(*verdict, out.verdict, "seed {seed} {sent:?}\n{ir}");
            assert_eq!((got.port, got.len()), (sent.port, if verdict.kind == VerdictKind::Drop { sent.len() } else { out.bytes.len() }));
            if verdict.kind != VerdictKind::Drop {
                assert_eq!(got.data(), out.bytes, "seed {seed} {sent:?}\n{ir}");
                seen.forwarded += 1;
            }
            seen.packets += 1;
        }
    }
    for (id, info) in &ir.program.counters {
        for i in 0..if info.table.is_none() { info.size } else { 0 } {
            let (a, b) = (whole.counter(id, i), split.counter(id, i));
            assert_eq!((a.packets, a.bytes), (b.packets, b.bytes), "seed {seed}: {}[{i}]\n{ir}", info.name);
        }
    }
    for (stage, sum) in seen.by_stage.iter_mut().enumerate() {
        let ran = split.traffic_of(stage).values().map(|count| count.packets).sum::<u64>();
        assert_eq!(
            ran_by.get(&stage).copied().unwrap_or_default(),
            ran,
            "seed {seed}: packets by the stage that each is said to have ended at"
        );
        *sum += ran;
    }
    chaos.iter().for_each(|c| seen.faults.add(&c.tally()));
    seen.programs += 1;
}

fn apply(split: &Split, whole: &mut Machine, op: Op) {
    let batch = program::Batch { ops: vec![op] };
    match (split.apply(&batch), whole.apply(&batch)) {
        (Ok(()), Ok(())) => {}
        (Err(ApplyError::Refused(got)), Err(expected)) => assert_eq!(got, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_packet_that_stops_for_a_stage_goes_on_there_with_what_it_knew() {
    let mut seen = Seen::default();
    (0..12).for_each(|seed| check(seed, false, &mut seen));
    let hits = format!("{} programs, {} packets, {} forwarded, by stage {:?}", seen.programs, seen.packets, seen.forwarded, seen.by_stage);
    println!("{hits}");
    assert!(seen.programs >= 8 && seen.forwarded > 1000 && seen.by_stage.iter().all(|n| *n > 300), "{hits}");
    assert_eq!(seen.by_stage.iter().sum::<u64>(), seen.packets, "each packet ends on one stage");
}

#[test]
fn a_packet_whose_stage_misses_it_or_is_gone_goes_on_at_a_later_one() {
    let mut seen = Seen::default();
    (20..32).for_each(|seed| check(seed, true, &mut seen));
    let hits = format!(
        "{} programs, {} packets, {} forwarded, by stage {:?}, {} bursts in part, {:?}",
        seen.programs, seen.packets, seen.forwarded, seen.by_stage, seen.in_part, seen.faults
    );
    println!("{hits}");
    assert!(seen.programs >= 8 && seen.forwarded > 1000 && seen.by_stage.iter().all(|n| *n > 100), "{hits}");
    assert!(seen.in_part > 20 && seen.faults.of("packets handed on") > 1000 && seen.faults.of("restarts") > 5, "{hits}");
}

/// What would need a way of its own along the chain, or comes back after the burst.
#[test]
fn a_program_with_stages_that_copies_packets_or_calls_services_is_refused() {
    let refused = |shape: Shape| {
        let mut ir = random::shaped(3, shape);
        ir.ingress_mut().push(Stmt::Extern(Extern::Stage(1)));
        bridge::cut(&ir).err().map(|e| e.to_string())
    };
    let why = "the program cannot be cut where it copies packets, calls services or ends a stage: the program has stages of a chain, and copies packets or calls services too";
    assert_eq!(refused(Shape::Copies).as_deref(), Some(why));
    assert_eq!(refused(Shape::Calls).as_deref(), Some(why));
    assert!(bridge::cut(&program(3)).expect("can be cut").is_some());
}
