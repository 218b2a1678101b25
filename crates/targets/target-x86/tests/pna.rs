//! Do packets of a program for PNA go natively where they go in the interpreter?

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, MeterConfig, Mirror, Op, Replica};
use rand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use target_api::{BURST, Replicating, Target};
use target_x86::{Options, X86};

fn program(name: &str) -> Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/pna").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    ir
}

fn load(ir: &Ir) -> X86 {
    let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn named<K: Copy, V>(all: impl Iterator<Item = (K, V)>, name: &str, of: fn(&V) -> &str) -> K {
    { all }.find(|(_, info)| of(info).ends_with(name)).expect("there").0
}

fn entry(ir: &Ir, table: &str, keys: &[u128], action: &str, args: Vec<u128>) -> Op {
    let table = named(ir.program.tables.iter(), table, |t| &t.full_name);
    let action = named(ir.program.actions.iter(), action, |a| &a.full_name);
    Op::Insert(Entry { table, keys: keys.iter().map(|k| KeyMatch::Exact(*k)).collect(), priority: 0, action, args })
}

type Out = (Verdict, Vec<u8>);

fn shown(verdict: Verdict, bytes: &[u8]) -> Out {
    (verdict, if verdict.kind == VerdictKind::Drop { vec![] } else { bytes.to_vec() })
}

/// Runs bursts on both, from ports 0 to 4, and compares; `make` fills a packet. What was sent with what became of it, and what was made beside.
fn compare(
    target: &dyn Target,
    machine: &mut Machine,
    seed: u64,
    make: &mut dyn FnMut(&mut dyn rand::RngCore) -> Vec<u8>,
) -> (Vec<(Vec<u8>, Out)>, Vec<Out>) {
    let mut lane = target.lane(0);
    let mut rng = testkit::rng(seed);
    let (mut all, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..150 {
        let burst: Vec<(Vec<u8>, PortId)> = (0..BURST).map(|_| (make(&mut rng), PortId(rng.random_range(0..5)))).collect();
        let mut packets: Vec<Packet> = burst.iter().map(|(bytes, port)| Packet::new(bytes, *port)).collect();
        let mut verdicts = vec![Verdict::default(); packets.len()];
        lane.process(&mut packets, &mut verdicts, 7_000_000);
        let mut extra = Vec::new();
        lane.take_extra(&mut extra);
        let (mut theirs, mut copies) = (Vec::new(), Vec::new());
        for (bytes, port) in &burst {
            let out = machine.process(bytes, *port, 7_000_000, Mode::Whole);
            theirs.push(shown(out.verdict, out.bytes));
            copies.extend(machine.extra().iter().map(|x| shown(x.verdict, &x.bytes)));
        }
        let ours: Vec<Out> = packets.iter().zip(verdicts).map(|(packet, verdict)| shown(verdict, packet.data())).collect();
        assert_eq!(ours, theirs, "{burst:02x?}");
        assert_eq!(extra.iter().map(|x| shown(x.verdict, x.packet.data())).collect::<Vec<_>>(), copies, "{burst:02x?}");
        all.extend(burst.into_iter().map(|(bytes, _)| bytes).zip(ours));
        beside.extend(copies);
    }
    (all, beside)
}

#[test]
fn every_way_of_a_packet_is_that_of_the_interpreter() {
    let ir = program("paths.p4");
    let (mut cut, bridge) = p4_passes::bridge::cut(&ir).unwrap_or_else(|e| panic!("{e}")).expect("it copies");
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let target = Replicating::new(load(&cut), bridge);
    let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
    let replica = |port, rid| Replica { port: PortId(port), rid };
    let state = Batch {
        ops: vec![
            Op::Multicast { group: 6, replicas: vec![replica(20, 2), replica(22, 3)] },
            Op::Mirror { session: 9, to: Some(Mirror::Port(PortId(21))) },
            Op::Mirror { session: 8, to: Some(Mirror::Group(6)) },
            entry(&ir, "way", &[11], "to", vec![17]),
            entry(&ir, "way", &[6], "drop", vec![]),
            entry(&ir, "way", &[3], "mirror", vec![8]),
        ],
    };
    target.apply(&state).expect("fits");
    machine.apply(&state).expect("fits");
    let (all, beside) = compare(&target, &mut machine, 1, &mut |rng| {
        // Some are too short for the parser.
        let len = if rng.random_range(0..20) == 0 { rng.random_range(0..4) } else { rng.random_range(4..90) };
        let mut bytes: Vec<u8> = (0..len).map(|_| rng.random()).collect();
        if let Some(what) = bytes.first_mut() {
            *what = rng.random_range(0..13);
        }
        bytes
    });
    let mut ends: BTreeMap<u8, BTreeSet<(u8, u8)>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for (sent, (verdict, bytes)) in all.iter().filter(|(sent, _)| sent.len() >= 4) {
        ends.entry(sent[0]).or_default().insert((verdict.kind as u8, verdict.reason));
        told.extend(bytes.get(2).copied().filter(|_| verdict.kind == VerdictKind::Forward));
    }
    assert_eq!(ends.len(), 13);
    assert!(ends.values().all(|ways| ways.len() == 1), "each is for one end: {ends:?}");
    assert_eq!(ends.values().flatten().collect::<BTreeSet<_>>().len(), 4, "forward, punt, drop, drop for want of a port: {ends:?}");
    assert_eq!(told, BTreeSet::from([0x00, 0x03, 0x30, 0x33]), "both directions, and the passes");
    assert!(beside.len() > 1000 && beside.iter().map(|(verdict, _)| verdict.port).collect::<BTreeSet<_>>().len() == 3, "{}", beside.len());
}

#[test]
fn externs_give_what_they_give_in_the_interpreter() {
    let ir = program("externs.p4");
    assert_eq!(p4_passes::bridge::cut(&ir).map(|cut| cut.is_none()), Ok(true), "it copies nothing, so it is as it stands");
    let target = load(&ir);
    let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
    let meter = named(ir.program.meters.iter(), "meter", |m| &m.name);
    let rates = |cbs, pbs| Some(MeterConfig { cir: 1000, cbs, pir: 1000, pbs });
    let mut ops: Vec<Op> = (0..3).map(|index| Op::Meter { meter, index, config: rates(index * 40, index * 60) }).collect();
    for key in 0..4 {
        let own = entry(&ir, "entries", &[key], "metered", vec![]);
        ops.push(own.clone());
        let Op::Insert(own) = own else { unreachable!("made so above") };
        ops.extend((key != 0).then(|| Op::EntryMeter { entry: own, config: rates(key as u64 * 30, key as u64 * 70) }));
    }
    ops.extend([
        entry(&ir, "profiled", &[1], "profile.member", vec![5]),
        entry(&ir, "profile.members", &[5], "marked", vec![64]),
        entry(&ir, "first", &[2], "selector.member", vec![1]),
        entry(&ir, "first", &[3], "selector.group", vec![4]),
        entry(&ir, "second", &[3], "selector.group", vec![4]),
        entry(&ir, "second", &[4], "selector.member", vec![7]),
        entry(&ir, "selector.members", &[1], "leave", vec![11]),
        entry(&ir, "selector.members", &[2], "leave", vec![12]),
        entry(&ir, "selector.members", &[3], "leave", vec![13]),
        entry(&ir, "selector.groups", &[4], "selector.size", vec![2]),
        entry(&ir, "selector.slots", &[4, 0], "selector.choose", vec![2]),
        entry(&ir, "selector.slots", &[4, 1], "selector.choose", vec![3]),
    ]);
    target.apply(&Batch { ops: ops.clone() }).expect("fits");
    machine.apply(&Batch { ops }).expect("fits");
    let (all, _) = compare(&target, &mut machine, 3, &mut |rng| {
        let mut bytes: Vec<u8> = (0..rng.random_range(21..80)).map(|_| rng.random()).collect();
        (bytes[0], bytes[1], bytes[14]) = (rng.random_range(0..6), 0, rng.random_range(0..6));
        bytes
    });
    let (mut messages, mut colours, mut randoms, mut ports) = (Vec::new(), BTreeSet::new(), BTreeSet::new(), BTreeMap::<u16, usize>::new());
    for (sent, (verdict, bytes)) in &all {
        colours.insert(bytes[1]);
        randoms.insert([bytes[8], bytes[9]]);
        *ports.entry(verdict.port).or_default() += 1;
        assert!(sent[0] != 1 || bytes[14] == 64, "the profile's member: {bytes:02x?}");
    }
    target.facets().digests.expect("there").take_digests(&mut messages);
    let values = |all: &[program::Digest]| all.iter().map(|d| d.values.clone()).collect::<Vec<_>>();
    let theirs = machine.take_digests();
    // What finds no room is lost, alike.
    assert_eq!(values(&messages), values(&theirs));
    assert!(messages.len() > 100, "{} messages", messages.len());
    assert_eq!(randoms, (5..=9).map(|n| [0, n]).collect());
    let seen = |of: fn(u8) -> u8| colours.iter().map(|c| of(*c)).collect::<BTreeSet<u8>>();
    assert_eq!((seen(|c| c & 15), seen(|c| c >> 4)), (BTreeSet::from([0, 1, 2]), BTreeSet::from([0, 1, 2])), "all colours of both meters");
    assert!(ports.keys().copied().eq([3, 11, 12, 13]) && ports.values().all(|n| *n > 100), "each member of the selector: {ports:?}");
    for (id, info) in &ir.program.registers {
        let mut ours = Vec::new();
        target.facets().registers.expect("there").read_registers(id, 0..info.size, &mut ours).expect("there");
        let theirs: Vec<u64> = (0..info.size).map(|index| machine.register(id, index).expect("there") as u64).collect();
        assert_eq!(ours, theirs, "{}", info.name);
        assert!(ours.iter().all(|cell| *cell > info.initial as u64), "{ours:x?}");
    }
    for (id, info) in &ir.program.counters {
        for index in 0..info.size {
            let (ours, theirs) = (target.counter(id, index), machine.counter(id, index));
            assert_eq!((ours.packets, ours.bytes), (theirs.packets, theirs.bytes), "{} {index}", info.name);
        }
    }
}
