//! Batches are all or nothing, for the table and for a packet; packet scripts; what is refused.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use common::Pair;
use p4_interp::{Mode, stf};
use program::{ApplyError, Batch, Entry, KeyMatch, Op, RuleError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use target_api::{Lane, Target};
use target_xdp::{EntryPoints, Options, Xdp};

fn program(name: &str) -> p4_ir::Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn load(ir: &p4_ir::Ir, options: &Options) -> Xdp {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap();
    Xdp::load(Arc::new(ir.program.clone()), &text, options).unwrap_or_else(|e| panic!("{e}"))
}

const MAC: u128 = 0x0200_0000_0001;

/// An entry of the switch for one address, to or from port 0.
fn entry(ir: &p4_ir::Ir, table: &str, action: &str, args: &[u128]) -> Entry {
    let id = ir.program.table(table).unwrap();
    let mut keys = vec![KeyMatch::Exact(MAC)];
    if ir.program.tables[id].keys.len() == 2 {
        keys.push(KeyMatch::Exact(0));
    }
    Entry { table: id, keys, priority: 0, action: ir.program.action(action).unwrap(), args: args.to_vec() }
}

#[test]
fn a_packet_sees_a_batch_whole_or_not_at_all() {
    if !testkit::root_or_skip("a_packet_sees_a_batch_whole_or_not_at_all") {
        return;
    }
    let ir = program("l2switch.p4");
    let xdp = load(&ir, &Options { subset: false, entry: EntryPoints::Lanes, ..Options::default() });
    let forward = |port| entry(&ir, "destination", "forward", &[port]);
    let learn = entry(&ir, "source", "learn", &[]);
    xdp.apply(&Batch { ops: vec![Op::Insert(forward(1))] }).unwrap();
    let mut frame = vec![0; 60];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1]);
    let (stop, punted, forwarded) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    let seen_enough = || punted.load(Ordering::Relaxed) > 100 && forwarded.load(Ordering::Relaxed) > 100;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let end = Instant::now() + Duration::from_secs(60);
            for round in 0.. {
                // The way out changes only while the source is to be learnt: so it is never seen.
                xdp.apply(&Batch { ops: vec![Op::Modify(forward(3)), Op::Insert(learn.clone())] }).unwrap();
                xdp.apply(&Batch { ops: vec![Op::Delete(learn.clone()), Op::Modify(forward(1))] }).unwrap();
                if round >= 2000 && seen_enough() || Instant::now() > end {
                    break;
                }
            }
            stop.store(true, Ordering::Release);
        });
        let mut lane = xdp.lane(0);
        while !stop.load(Ordering::Acquire) {
            let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
            lane.process(&mut packets, &mut verdicts, 1);
            match (verdicts[0].kind, verdicts[0].port) {
                (VerdictKind::Punt, _) => punted.fetch_add(1, Ordering::Relaxed),
                (VerdictKind::Forward, 1) => forwarded.fetch_add(1, Ordering::Relaxed),
                other => panic!("half a batch: {other:?}"),
            };
        }
    });
    assert!(seen_enough(), "{punted:?} punted, {forwarded:?} forwarded");
}

#[test]
fn a_batch_that_fails_leaves_nothing_behind() {
    if !testkit::root_or_skip("a_batch_that_fails_leaves_nothing_behind") {
        return;
    }
    let ir = program("l2switch.p4");
    let xdp = load(&ir, &Options { subset: false, entry: EntryPoints::Lanes, entries: 3, ..Options::default() });
    let forward = |mac: u128, port| {
        let mut e = entry(&ir, "destination", "forward", &[port]);
        e.keys = vec![KeyMatch::Exact(mac)];
        e
    };
    xdp.apply(&Batch { ops: vec![Op::Insert(forward(MAC, 1)), Op::Insert(forward(7, 1))] }).unwrap();
    for (ops, expected) in [
        (vec![Op::Modify(forward(MAC, 2)), Op::Delete(forward(7, 0)), Op::Insert(forward(MAC, 3))], 2),
        (vec![Op::Insert(forward(8, 1)), Op::Insert(forward(9, 1))], 1),
        (vec![Op::Modify(forward(MAC, 4)), Op::Delete(forward(10, 1))], 1),
    ] {
        let batch = Batch { ops };
        let asked = xdp.check(&batch).unwrap_err();
        let error = xdp.apply(&batch).unwrap_err();
        assert_eq!(asked, error);
        let op = match error {
            ApplyError::Refused(RuleError::Exists { op, .. } | RuleError::Full { op, .. } | RuleError::Missing { op, .. }) => op,
            other => panic!("{other}"),
        };
        assert_eq!(op, expected);
        let stats = xdp.table_stats(ir.program.table("destination").unwrap());
        assert_eq!((stats.entries, stats.capacity), (2, 3));
        let mut frame = vec![0; 60];
        frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
        xdp.lane(0).process(&mut packets, &mut verdicts, 1);
        assert_eq!((verdicts[0].kind, verdicts[0].port), (VerdictKind::Forward, 1));
    }
    // Room that was given back can be used, again and again; nor does asking use it up.
    for round in 0..2000u128 {
        xdp.check(&Batch { ops: vec![Op::Insert(forward(5000 + round, 1)), Op::Delete(forward(7, 1))] }).unwrap();
        xdp.apply(&Batch { ops: vec![Op::Insert(forward(100 + round, 1))] }).unwrap();
        xdp.apply(&Batch { ops: vec![Op::Delete(forward(100 + round, 1))] }).unwrap();
    }
}

/// A new version lies behind its entry's home until that is free, and there are fewer cells behind homes than entries.
#[test]
fn all_entries_of_a_full_table_can_be_modified_again_and_again() {
    if !testkit::root_or_skip("all_entries_of_a_full_table_can_be_modified_again_and_again") {
        return;
    }
    const ENTRIES: u16 = 1024;
    let ir = program("l2switch.p4");
    let xdp = load(&ir, &Options { subset: false, entry: EntryPoints::Lanes, entries: ENTRIES.into(), seed: 1, ..Options::default() });
    let forward = |mac: u16, port: u16| {
        let mut e = entry(&ir, "destination", "forward", &[port.into()]);
        e.keys = vec![KeyMatch::Exact(MAC + u128::from(mac))];
        e
    };
    let apply = |op| xdp.apply(&Batch { ops: vec![op] }).unwrap();
    let mut lane = xdp.lane(0);
    let mut check = |mac: u16, port: u16| {
        let mut frame = [0; 60];
        frame[..6].copy_from_slice(&(MAC as u64 + u64::from(mac)).to_be_bytes()[2..]);
        let (mut packets, mut verdicts) = ([Packet::new(&frame, PortId(0))], [Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, 1);
        assert_eq!((verdicts[0].kind, verdicts[0].port), (VerdictKind::Forward, port));
    };
    (0..ENTRIES).for_each(|mac| apply(Op::Insert(forward(mac, 1))));
    for round in 2..6 {
        (0..ENTRIES).for_each(|mac| apply(Op::Modify(forward(mac, round))));
        (0..ENTRIES).for_each(|mac| check(mac, round));
        // One that goes and comes again lies where it may.
        for mac in (0..ENTRIES).step_by(3) {
            apply(Op::Delete(forward(mac, 0)));
            apply(Op::Insert(forward(mac, round + 100)));
            check(mac, round + 100);
        }
    }
    assert_eq!(xdp.table_stats(ir.program.table("destination").unwrap()).entries, ENTRIES.into());
}

/// The target as the device of a packet test.
struct Device {
    xdp: Xdp,
    lane: Box<dyn Lane>,
}

impl stf::Device for Device {
    fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        self.xdp.apply(batch)
    }

    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        let (mut packets, mut verdicts) = ([Packet::new(bytes, port)], [Verdict::default()]);
        self.lane.process(&mut packets, &mut verdicts, 1000);
        let out = match verdicts[0].kind {
            VerdictKind::Forward => PortId(verdicts[0].port),
            VerdictKind::Punt => PortId::PUNT,
            VerdictKind::Buffer | VerdictKind::Shape => PortId::BUFFER,
            VerdictKind::Drop | VerdictKind::Next | VerdictKind::Kept | VerdictKind::Resume => return Vec::new(),
        };
        vec![(out, packets[0].data().to_vec())]
    }

    fn counter(&mut self, counter: program::CounterId, index: u64) -> p4_interp::Count {
        let count = self.xdp.counter(counter, index);
        p4_interp::Count { packets: count.packets, bytes: count.bytes }
    }

    fn register(&mut self, register: program::RegisterId, index: u64) -> Option<u128> {
        self.xdp.register(register, index).map(u128::from)
    }

    fn set_register(&mut self, _: program::RegisterId, _: u64, _: u128) -> bool {
        false
    }
}

#[test]
fn what_the_verifier_refuses_is_said_in_one_line() {
    if !testkit::root_or_skip("what_the_verifier_refuses_is_said_in_one_line") {
        return;
    }
    let text = "struct xdp_md { unsigned data, data_end; };
__attribute__((section(\"xdp\"), used)) int wrong(struct xdp_md *ctx) { return *(int *)(long)ctx->data; }
char text[] __attribute__((section(\"license\"), used)) = \"Apache-2.0\";";
    let Err(error) = target_xdp::object::Object::compile(text, &Default::default(), &["wrong"]) else { panic!("it was taken") };
    let error = error.to_string();
    assert!(error.contains("the kernel does not take the program") && error.contains("invalid access to packet"), "{error}");
    assert!(!error.contains('\n') && error.len() < 600, "{error}");
}

#[test]
fn the_packet_script_passes() {
    if !testkit::root_or_skip("the_packet_script_passes") {
        return;
    }
    let ir = program("upf.p4");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/upf.stf")).unwrap();
    let script = stf::parse(&text, &ir.program).unwrap_or_else(|e| panic!("{e}"));
    let xdp = load(&ir, &Options { subset: false, entry: EntryPoints::Lanes, ..Options::default() });
    let report = stf::run(&script, &mut Device { lane: xdp.lane(0), xdp });
    assert!(report.sent > 5 && report.received > 0);
    assert!(report.passed(), "{:?}", report.failures.iter().map(|f| format!("line {}: {}", f.line, f.what)).collect::<Vec<_>>());
}

#[test]
fn meters_give_the_same_colours() {
    if !testkit::root_or_skip("meters_give_the_same_colours") {
        return;
    }
    let mut ir = program("l2switch.p4");
    // A meter in front of everything, whose colour is the way out.
    let meter = ir.program.meters.push(program::MeterInfo {
        name: "rate".into(),
        size: 4,
        unit: program::CountUnit::Bytes,
        length: program::LengthSource::Frame,
        table: None,
    });
    let spec = ir.intrinsic.standard["egress_spec"];
    let port = ir.intrinsic.standard["ingress_port"];
    let index = p4_ir::Expr { kind: p4_ir::ExprKind::Var(port), ty: ir.vars[port].ty };
    *ir.ingress_mut() = vec![p4_ir::Stmt::Extern(p4_ir::Extern::Meter { meter, index, result: p4_ir::LValue::Var(spec) })];
    let mut pair = Pair::load(ir, 5, Mode::Whole, &());
    let most = program::MAX_BURST;
    // Two rates, none at all, one rate, and products and sums beyond 64 bits.
    let configs = [(1_000_000, 3000, 2_000_000, 6000), (0, 1500, 0, 4000), (90_000, 9000, 90_000, 9000), (1, most, u64::MAX, most)];
    for (i, (cir, cbs, pir, pbs)) in configs.into_iter().enumerate() {
        let config = Some(program::MeterConfig { cir, cbs, pir, pbs });
        pair.apply(vec![Op::Meter { meter, index: i as u64, config }]).unwrap();
    }
    let mut source = common::rng(6);
    use rand::Rng;
    let packets: Vec<_> = (0..4000).map(|_| (vec![0; source.random_range(14..1500)], PortId(source.random_range(0..5)))).collect();
    pair.run(&packets);
    let ports = &pair.colours;
    assert!(ports.iter().take(3).all(|n| *n > 100), "{ports:?}");
}
