//! Do packets of a program for PSA go through both pipes natively as they do in the interpreter?

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{Batch, CounterId, Entry, KeyMatch, MeterConfig, Mirror, Op, Replica};
use rand::Rng;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use target_api::{BURST, Lane, Replicating, Target};
use target_x86::{Options, X86};

fn program(name: &str) -> Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/psa").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    ir
}

fn native(ir: &Ir) -> Replicating<X86> {
    let (mut cut, bridge) = p4_passes::bridge::cut(ir).unwrap_or_else(|e| panic!("{e}")).expect("PSA is always cut");
    p4_ir::verify(&cut).unwrap_or_else(|e| panic!("{e:?}\n{cut}"));
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    Replicating::new(X86::load(Arc::new(cut.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}")), bridge)
}

fn copies() -> Batch {
    let replica = |port, rid| Replica { port: PortId(port), rid };
    let ops = vec![
        Op::Multicast { group: 5, replicas: vec![replica(6, 11), replica(7, 12)] },
        Op::Multicast { group: 6, replicas: vec![replica(20, 2), replica(22, 3)] },
        Op::Mirror { session: 9, to: Some(Mirror::Port(PortId(21))) },
        Op::Mirror { session: 8, to: Some(Mirror::Group(6)) },
    ];
    Batch { ops }
}

/// More than v1model has bits for.
const PORT: PortId = PortId(0x1234);

type Out = (Verdict, Vec<u8>);

fn shown(verdict: Verdict, bytes: &[u8]) -> Out {
    (verdict, if verdict.kind == VerdictKind::Drop { vec![] } else { bytes.to_vec() })
}

/// Runs a burst on both; what came of the packets, and what was made beside them.
fn both(lane: &mut dyn Lane, machine: &mut Machine, burst: &[Vec<u8>]) -> (Vec<Out>, Vec<Out>) {
    let mut packets: Vec<Packet> = burst.iter().map(|bytes| Packet::new(bytes, PORT)).collect();
    let mut verdicts = vec![Verdict::default(); packets.len()];
    lane.process(&mut packets, &mut verdicts, 7_000_000);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    assert!(packets.iter().chain(extra.iter().map(|x| &x.packet)).all(|p| p.port == PORT));
    let (mut theirs, mut beside) = (Vec::new(), Vec::new());
    for bytes in burst {
        let out = machine.process(bytes, PORT, 7_000_000, Mode::Whole);
        theirs.push(shown(out.verdict, out.bytes));
        beside.extend(machine.extra().iter().map(|x| shown(x.verdict, &x.bytes)));
    }
    let ours: Vec<Out> = packets.iter().zip(verdicts).map(|(packet, verdict)| shown(verdict, packet.data())).collect();
    assert_eq!(ours, theirs, "{burst:02x?}");
    let extra: Vec<Out> = extra.iter().map(|x| shown(x.verdict, x.packet.data())).collect();
    assert_eq!(extra, beside, "{burst:02x?}");
    (ours, extra)
}

#[test]
fn every_way_of_a_packet_is_that_of_the_interpreter() {
    let ir = program("paths.p4");
    let target = native(&ir);
    let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
    target.apply(&copies()).expect("fits");
    machine.apply(&copies()).expect("fits");
    let mut lane = target.lane(0);
    let mut rng = testkit::rng(1);
    let (mut ends, mut made, mut notes) = (BTreeSet::new(), 0, BTreeSet::new());
    for _ in 0..200 {
        let burst: Vec<Vec<u8>> = (0..rng.random_range(1..=BURST))
            .map(|_| {
                // Some are too short for the parser.
                let len = if rng.random_range(0..20) == 0 { rng.random_range(0..4) } else { rng.random_range(4..90) };
                let mut bytes: Vec<u8> = (0..len).map(|_| rng.random()).collect();
                if let Some(what) = bytes.first_mut() {
                    *what = rng.random_range(0..11);
                }
                bytes
            })
            .collect();
        let (ours, extra) = both(lane.as_mut(), &mut machine, &burst);
        made += extra.len();
        for (verdict, bytes) in ours.iter().chain(&extra) {
            ends.insert((verdict.kind as u8, verdict.reason));
            notes.extend(bytes.get(3).map(|note| note & 0xf0));
        }
        for ((verdict, _), bytes) in ours.iter().zip(&burst) {
            let sent = verdict.kind != VerdictKind::Drop;
            // Clones are beside a packet that ingress drops; all but these and those to nowhere are sent.
            assert!(bytes.len() < 4 || sent != matches!(bytes[0], 1 | 3 | 8 | 9), "{bytes:02x?} {verdict:?}");
        }
    }
    assert!(ends.len() >= 4, "forward, punt, drop, drop for want of a port: {ends:?}");
    assert!(made > 1000 && notes.len() > 8, "{made} copies, {notes:?}");
    for what in 0..11 {
        let (ours, theirs) = (target.counter(CounterId::from_u32(0), what), machine.counter(CounterId::from_u32(0), what));
        assert_eq!((ours.packets, theirs.packets > 100), (theirs.packets, true), "packets that are to do {what}");
    }
}

#[test]
fn a_packets_length_is_that_of_the_interpreter() {
    let ir = program("lengths.p4");
    let target = native(&ir);
    let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
    target.apply(&copies()).expect("fits");
    machine.apply(&copies()).expect("fits");
    let mut lane = target.lane(0);
    let mut rng = testkit::rng(2);
    let mut lengths = BTreeSet::new();
    for _ in 0..50 {
        let burst: Vec<Vec<u8>> = (0..BURST)
            .map(|_| {
                let payload = rng.random_range(0..90);
                [rng.random_range(0..4), 3, 0, 0].into_iter().chain((0..payload).map(|_| rng.random())).collect()
            })
            .collect();
        let (ours, extra) = both(lane.as_mut(), &mut machine, &burst);
        for ((_, bytes), sent) in ours.iter().zip(&burst) {
            let (came, added) = (sent.len() as u8, if sent[0] == 0 { 0 } else { 4 });
            let ingress = if sent[0] == 2 { came + added } else { came };
            assert_eq!((bytes[2], bytes[3]), (ingress, came + added), "{sent:02x?}");
            lengths.insert(bytes[3] - bytes[2]);
        }
        assert!(extra.iter().all(|(_, clone)| clone[3] as usize == clone.len()));
    }
    assert_eq!(lengths, BTreeSet::from([0, 4]));
}

/// Rates, entries with meters of their own, and a profile's member.
fn state(ir: &Ir) -> Batch {
    let table = |name: &str| ir.program.tables.iter().find(|(_, t)| t.full_name.ends_with(name)).expect("there").0;
    let action = |name: &str| ir.program.actions.iter().find(|(_, a)| a.full_name.ends_with(name)).expect("there").0;
    let meter = ir.program.meters.iter().find(|(_, m)| m.table.is_none()).expect("there").0;
    let entry = |table, key, action, args| Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args };
    let rates = |cbs, pbs| Some(MeterConfig { cir: 1000, cbs, pir: 1000, pbs });
    let mut ops: Vec<Op> = (0..3).map(|index| Op::Meter { meter, index, config: rates(index * 40, index * 60) }).collect();
    for key in 0..4 {
        let entry = entry(table("entries"), key, action("metered"), vec![]);
        ops.push(Op::Insert(entry.clone()));
        ops.extend((key != 0).then(|| Op::EntryMeter { entry, config: rates(key as u64 * 30, key as u64 * 70) }));
    }
    ops.push(Op::Insert(entry(table("profiled"), 1, action("profile.member"), vec![5])));
    ops.push(Op::Insert(entry(table("profile.members"), 5, action("marked"), vec![64])));
    Batch { ops }
}

#[test]
fn externs_give_what_they_give_in_the_interpreter() {
    let ir = program("externs.p4");
    let target = native(&ir);
    let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
    target.apply(&state(&ir)).expect("fits");
    machine.apply(&state(&ir)).expect("fits");
    let mut lane = target.lane(0);
    let mut rng = testkit::rng(3);
    let (mut colours, mut sums, mut randoms, mut ways) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut messages, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let burst: Vec<Vec<u8>> = (0..BURST)
            .map(|_| {
                let mut bytes: Vec<u8> = (0..rng.random_range(22..80)).map(|_| rng.random()).collect();
                (bytes[0], bytes[1], bytes[17]) = (rng.random_range(0..6), 0, rng.random_range(0..6));
                bytes
            })
            .collect();
        let (ours, _) = both(lane.as_mut(), &mut machine, &burst);
        target.facets().digests.expect("there").take_digests(&mut messages);
        theirs.extend(machine.take_digests());
        for (_, bytes) in ours.iter().filter(|(verdict, _)| verdict.kind == VerdictKind::Forward) {
            colours.insert(bytes[1]);
            sums.insert([bytes[2], bytes[3]]);
            randoms.insert([bytes[10], bytes[11]]);
            ways.insert(bytes[16]);
            assert!((100..110).contains(&bytes[9]), "{bytes:02x?}");
            // The sum over the header's words and the checksum is the complement of 0.
            assert!(bytes[0] != 2 || bytes[18..22] == [0xab, 0xcd, 0, 0], "{bytes:02x?}");
        }
    }
    let values = |all: &[program::Digest]| all.iter().map(|d| d.values.clone()).collect::<Vec<_>>();
    assert_eq!(values(&messages), values(&theirs));
    assert!(messages.len() > 100 && sums.len() > 1000, "{} messages, {} sums", messages.len(), sums.len());
    assert_eq!(randoms, (5..=9).map(|n| [0, n]).collect());
    let seen = |of: fn(u8) -> u8| colours.iter().map(|c| of(*c)).collect::<BTreeSet<u8>>();
    assert_eq!((seen(|c| c & 15), seen(|c| c >> 4)), (BTreeSet::from([0, 1, 2]), BTreeSet::from([0, 1, 2])), "all colours of both meters");
    assert!(ways.iter().any(|w| w & 64 != 0), "{ways:02x?}");
    for (id, info) in &ir.program.registers {
        let mut ours = Vec::new();
        target.facets().registers.expect("there").read_registers(id, 0..info.size, &mut ours).expect("there");
        let theirs: Vec<u64> = (0..info.size).map(|index| machine.register(id, index).expect("there") as u64).collect();
        assert_eq!(ours, theirs, "{}", info.name);
        target.facets().registers.expect("there").set_register(id, info.size - 1, u64::MAX).expect("there");
        target.facets().registers.expect("there").read_registers(id, 0..info.size, &mut ours).expect("there");
        assert_eq!(ours[info.size as usize..2 * info.size as usize - 1], theirs[..info.size as usize - 1], "another cell has changed");
        assert_eq!(ours.last(), Some(&0xffff_ffff), "cut to the register's width");
        assert!(target.facets().registers.expect("there").set_register(id, info.size, 1).is_err());
        assert!(info.name.ends_with("pairs") || ours.iter().all(|cell| *cell > info.initial as u64), "{ours:x?}");
    }
}

#[test]
fn what_cannot_be_cut_is_refused_by_name() {
    let mut ir = program("paths.p4");
    let ingress = p4_ir::PipeId::from_u32(0);
    ir.pipes[ingress].deparser.insert(0, p4_ir::Stmt::Exit);
    assert!(p4_passes::bridge::cut(&ir).err().unwrap().to_string().ends_with("the ingress deparser has an `exit`"));
    ir.pipes[ingress].deparser.remove(0);
    // What the deparser says of a clone, behind its `emit`.
    ir.pipes[ingress].deparser.reverse();
    let refused = p4_passes::bridge::cut(&ir).err().unwrap().to_string();
    assert!(refused.ends_with("the ingress deparser sets what goes with the packet behind its first `emit`"), "{refused}");
}
