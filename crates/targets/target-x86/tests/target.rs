//! The target's side of the contract: batches, capacity, counters over lanes, errors.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_ir::{BinOp, Expr, Extern, HeaderRef, Ir, LValue, Next, Stmt, Transition};
use program::{ApplyError, Batch, CountUnit, Entry, KeyMatch, MatchKind, MeterConfig, Op, RuleError, TableId};
use std::path::PathBuf;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_x86::{LoadError, Options, X86};

/// `key: bit<32>` at the packet's front; `exact` on it counts and forwards, `ranked` on its low half takes over on a miss;
/// a meter of one cell drops what is red.
fn program() -> Ir {
    let mut ir = Ir::v1model("small.p4");
    let ty = ir.add_header_type("h_t", &[("key", 32), ("tag", 8)], None);
    let h = ir.add_header("hdr.h", ty);
    ir.add_state("start", vec![Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None }], Transition::Goto(Next::Accept));
    let spec = ir.standard("egress_spec");
    let colour = ir.add_var("meta.colour", p4_ir::Ty::Bit(2));
    let counter = ir.add_counter("packets", 100_000, None);
    let meter = ir.add_meter("rate", 1, CountUnit::Packets);
    let forward = ir.add_action("forward", &[("port", 9), ("cell", 32)], |ir, p| {
        vec![Stmt::Assign(LValue::Var(spec), Expr::var(ir, p[0])), Stmt::Extern(Extern::Count { counter, index: Expr::var(ir, p[1]) })]
    });
    let drop = ir.add_action("drop", &[], |_, _| vec![Stmt::Extern(Extern::MarkToDrop)]);
    let nothing = ir.add_action("nothing", &[], |_, _| vec![]);
    let key = Expr::field(&ir, h, "key");
    let of_exact = ir.add_table("exact", vec![("key", key.clone(), MatchKind::Exact)], &[forward, nothing], nothing);
    let of_ranked = ir.add_table("ranked", vec![("low", key.slice(15, 0), MatchKind::Ternary)], &[forward, drop], drop);
    ir.program.tables[of_exact].size = 3;
    ir.add_counter("of_entries", 3, Some(of_exact));
    let direct = ir.program.tables[of_exact].direct_counter.unwrap();
    // A direct counter's actions belong to its table alone.
    let counted = ir.add_action("counted", &[("port", 9)], |ir, p| {
        vec![Stmt::Assign(LValue::Var(spec), Expr::var(ir, p[0])), Stmt::Extern(Extern::DirectCount(direct))]
    });
    ir.program.tables[of_exact].actions.push(program::ActionUse { action: counted, entry: true, default: false });
    let hit = ir.add_var("hit", p4_ir::Ty::Bool);
    let red = Expr::binary(BinOp::Eq, Expr::var(&ir, colour), Expr::bit(2, 2));
    *ir.ingress_mut() = vec![
        Stmt::Extern(Extern::Meter { meter, index: Expr::bit(32, 0), result: LValue::Var(colour) }),
        Stmt::If(red, vec![Stmt::Extern(Extern::MarkToDrop), Stmt::Exit], vec![]),
        Stmt::Apply { table: of_exact, hit: Some(hit), action_run: None },
        Stmt::If(
            Expr::unary(p4_ir::UnOp::Not, Expr::var(&ir, hit)),
            vec![Stmt::Apply { table: of_ranked, hit: None, action_run: None }],
            vec![],
        ),
    ];
    *ir.deparser_mut() = vec![Stmt::Emit(HeaderRef::Static(h))];
    p4_ir::verify(&ir).unwrap_or_else(|e| panic!("{e:?}"));
    ir
}

fn load() -> X86 {
    let ir = program();
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    X86::load(Arc::new(ir.program.clone()), &p4_emit::emit_x86(&ir).unwrap(), &options).unwrap()
}

fn exact() -> TableId {
    TableId::from_u32(0)
}

fn ranked() -> TableId {
    TableId::from_u32(1)
}

fn entry(x86: &X86, key: u128, action: &str, args: &[u128]) -> Entry {
    let action = x86.program().action(action).unwrap();
    Entry { table: exact(), keys: vec![KeyMatch::Exact(key)], priority: 0, action, args: args.to_vec() }
}

fn apply(x86: &X86, ops: Vec<Op>) -> Result<(), RuleError> {
    x86.apply(&Batch { ops }).map_err(|error| match error {
        ApplyError::Refused(refused) => refused,
        other => panic!("{other}"),
    })
}

fn send(lane: &mut dyn Lane, keys: &[u32], now_ns: u64) -> Vec<Verdict> {
    let mut packets: Vec<_> = keys.iter().map(|k| Packet::new(&[&k.to_be_bytes()[..], &[1, 2, 3]].concat(), PortId(1))).collect();
    let mut verdicts = vec![Verdict::default(); keys.len()];
    lane.process(&mut packets, &mut verdicts, now_ns);
    verdicts
}

#[test]
fn a_refused_batch_changes_nothing() {
    let x86 = load();
    let (a, b) = (entry(&x86, 1, "forward", &[5, 10]), entry(&x86, 2, "forward", &[6, 11]));
    apply(&x86, vec![Op::Insert(a.clone())]).unwrap();
    let mut other = a.clone();
    other.args[0] = 7;
    // The last op fails; the ones before it must not be seen.
    let refused = apply(&x86, vec![Op::Insert(b.clone()), Op::Modify(other.clone()), Op::Delete(a.clone()), Op::Modify(a.clone())]);
    assert_eq!(refused, Err(RuleError::Missing { op: 3, table: "exact".into() }));
    let refused = apply(&x86, vec![Op::Insert(b.clone()), Op::Insert(a.clone())]);
    assert_eq!(refused, Err(RuleError::Exists { op: 1, table: "exact".into() }));
    let refused = apply(&x86, vec![Op::Delete(a.clone()), Op::Insert(entry(&x86, 1 << 40, "forward", &[0, 0]))]);
    assert!(matches!(refused, Err(RuleError::Invalid { op: 1, .. })), "{refused:?}");
    // Nor does one with what it will never do.
    let lacks = x86.apply(&Batch { ops: vec![Op::Insert(b.clone()), Op::Mirror { session: 1, to: None }] });
    assert_eq!(lacks, Err(ApplyError::Unsupported { op: 1, target: "x86".into(), what: "clone sessions" }));
    let mut lane = x86.lane(0);
    let verdicts = send(&mut *lane, &[1, 2], 0);
    assert_eq!(verdicts[0], Verdict::forward(PortId(5)));
    assert_eq!(verdicts[1].kind, VerdictKind::Drop);
    // Within a batch, an op sees those before it.
    apply(&x86, vec![Op::Delete(a.clone()), Op::Insert(other), Op::Insert(b)]).unwrap();
    assert_eq!(send(&mut *lane, &[1, 2], 0), [Verdict::forward(PortId(7)), Verdict::forward(PortId(6))]);
}

#[test]
fn a_full_table_refuses_and_keeps_what_it_has() {
    let x86 = load();
    let entries: Vec<_> = (0..4).map(|k| entry(&x86, k, "forward", &[k + 1, 0])).collect();
    apply(&x86, entries[..3].iter().cloned().map(Op::Insert).collect()).unwrap();
    let full = Err(RuleError::Full { op: 0, table: "exact".into(), capacity: 3 });
    assert_eq!(apply(&x86, vec![Op::Insert(entries[3].clone())]), full);
    assert_eq!(x86.table_stats(exact()).entries, 3);
    let mut lane = x86.lane(0);
    let ports: Vec<_> = send(&mut *lane, &[0, 1, 2], 0).iter().map(|v| v.port).collect();
    assert_eq!(ports, [1, 2, 3]);
    // Room that a batch makes first may be used by it.
    apply(&x86, vec![Op::Delete(entries[0].clone()), Op::Insert(entries[3].clone())]).unwrap();
    assert_eq!(send(&mut *lane, &[3], 0)[0].port, 4);
    let stats = x86.table_stats(exact());
    assert_eq!((stats.entries, stats.capacity, stats.hits, stats.misses), (3, 3, 4, 0));
}

#[test]
fn an_emptied_table_misses_again_and_the_default_can_change() {
    let x86 = load();
    let a = entry(&x86, 1, "forward", &[5, 10]);
    let mut lane = x86.lane(0);
    assert_eq!(send(&mut *lane, &[1], 0)[0].kind, VerdictKind::Drop);
    apply(&x86, vec![Op::Insert(a.clone())]).unwrap();
    assert_eq!(send(&mut *lane, &[1], 0)[0].port, 5);
    apply(&x86, vec![Op::Delete(a)]).unwrap();
    assert_eq!(send(&mut *lane, &[1], 0)[0].kind, VerdictKind::Drop);
    let forward = x86.program().action("forward").unwrap();
    apply(&x86, vec![Op::SetDefault { table: ranked(), action: forward, args: vec![9, 3] }]).unwrap();
    assert_eq!(send(&mut *lane, &[1], 0)[0], Verdict::forward(PortId(9)));
    let stats = x86.table_stats(ranked());
    assert_eq!((stats.hits, stats.misses), (0, 3));
}

#[test]
fn counters_are_summed_over_lanes_past_and_present() {
    let x86 = load();
    let counter = x86.program().counter("packets").unwrap();
    apply(&x86, vec![Op::Insert(entry(&x86, 1, "forward", &[5, 99_999])), Op::Insert(entry(&x86, 2, "forward", &[5, 100_000]))]).unwrap();
    let mut first = x86.lane(0);
    let mut second = x86.lane(1);
    send(&mut *first, &[1; 64], 0);
    send(&mut *second, &[1, 1, 2], 0);
    assert_eq!(x86.counter(counter, 99_999), target_api::Count { packets: 66, bytes: 66 * 7 });
    // Beyond the end nothing is counted, and nothing is there.
    assert_eq!(x86.counter(counter, 100_000), target_api::Count::default());
    drop(first);
    assert_eq!(x86.counter(counter, 99_999).packets, 66);
    // A new lane of that index, and one more while it lives, go on from there.
    let mut third = x86.lane(0);
    let mut fourth = x86.lane(0);
    send(&mut *third, &[1], 0);
    send(&mut *fourth, &[1], 0);
    assert_eq!(x86.counter(counter, 99_999).packets, 68);
    assert_eq!(x86.table_stats(exact()).hits, 69);
    apply(&x86, vec![Op::ClearCounter { counter, index: 99_999 }]).unwrap();
    assert_eq!(x86.counter(counter, 99_999), target_api::Count::default());
    send(&mut *second, &[1], 0);
    assert_eq!(x86.counter(counter, 99_999).packets, 1);
}

#[test]
fn a_direct_counter_belongs_to_its_entry() {
    let x86 = load();
    let (a, b) = (entry(&x86, 1, "counted", &[5]), entry(&x86, 2, "counted", &[6]));
    apply(&x86, vec![Op::Insert(a.clone()), Op::Insert(b.clone())]).unwrap();
    let mut lane = x86.lane(0);
    send(&mut *lane, &[1, 1, 2, 3], 0);
    assert_eq!(x86.entry_count(&a).unwrap().packets, 2);
    assert_eq!(x86.entry_count(&b).unwrap().packets, 1);
    // A changed entry keeps its count; a new one, which gets the number of one removed, begins at zero.
    let mut changed = a.clone();
    changed.args[0] = 8;
    apply(&x86, vec![Op::Modify(changed), Op::Delete(b.clone())]).unwrap();
    assert_eq!(x86.entry_count(&a).unwrap().packets, 2);
    assert_eq!(x86.entry_count(&b), None);
    let c = entry(&x86, 3, "counted", &[6]);
    apply(&x86, vec![Op::Insert(c.clone())]).unwrap();
    assert_eq!(x86.entry_count(&c).unwrap().packets, 0);
}

#[test]
fn lanes_share_meters() {
    let x86 = load();
    let meter = program::MeterId::from_u32(0);
    let config = MeterConfig { cir: 1, cbs: 0, pir: 1, pbs: 5 };
    apply(&x86, vec![Op::Insert(entry(&x86, 1, "forward", &[5, 0])), Op::Meter { meter, index: 0, config: Some(config) }]).unwrap();
    let lanes: Vec<_> = (0..2).map(|i| x86.lane(i)).collect();
    let passed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = lanes
            .into_iter()
            .map(|mut lane| {
                scope.spawn(move || {
                    let mut passed = 0;
                    for _ in 0..200 {
                        passed += send(&mut *lane, &[1; 8], 1_000).iter().filter(|v| v.kind == VerdictKind::Forward).count();
                    }
                    passed
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(passed, 5, "five packets are the peak burst, whichever lane they came to");
}

/// How many packets at one moment the meter lets pass.
fn passes(lane: &mut dyn Lane) -> usize {
    send(lane, &[1; 64], 1_000).iter().filter(|v| v.kind == VerdictKind::Forward).count()
}

#[test]
fn a_meter_set_again_has_its_last_configuration_with_any_number_of_lanes() {
    let x86 = load();
    let meter = program::MeterId::from_u32(0);
    let set = |pbs| Op::Meter { meter, index: 0, config: Some(MeterConfig { cir: 0, cbs: 0, pir: 0, pbs }) };
    apply(&x86, vec![Op::Insert(entry(&x86, 1, "forward", &[5, 0])), set(9), set(3)]).unwrap();
    let mut lane = x86.lane(0);
    for round in 0..20 {
        let most = 1 + round % 7;
        // More configurations than the cell and its batch have profiles for.
        apply(&x86, vec![set(50), set(40 + round), set(30), set(most)]).unwrap();
        assert_eq!((passes(&mut *lane), passes(&mut *lane)), (most as usize, 0), "one lane, round {round}");
        let mut second = x86.lane(1);
        apply(&x86, vec![set(50), set(40 + round), set(most + 1)]).unwrap();
        assert_eq!((passes(&mut *second), passes(&mut *lane)), (most as usize + 1, 0), "two lanes, round {round}");
    }
    apply(&x86, vec![set(1), Op::Meter { meter, index: 0, config: None }]).unwrap();
    assert_eq!(passes(&mut *lane), 64, "it is not configured any more");
}

#[test]
fn a_burst_that_no_meter_holds_is_refused() {
    let x86 = load();
    let meter = program::MeterId::from_u32(0);
    let set = |pbs| Op::Meter { meter, index: 0, config: Some(MeterConfig { cir: 1, cbs: 1, pir: 1, pbs }) };
    let refused = apply(&x86, vec![set(program::MAX_BURST), set(program::MAX_BURST + 1)]);
    let Err(RuleError::Invalid { op: 1, .. }) = &refused else { panic!("{refused:?}") };
    assert!(refused.unwrap_err().to_string().contains("18446744074 above 18446744073"));
    apply(&x86, vec![set(program::MAX_BURST)]).unwrap();
}

#[test]
fn a_burst_sees_all_of_a_batch_or_nothing() {
    let x86 = load();
    let forward = x86.program().action("forward").unwrap();
    let pair = |port: u128| {
        let keys = |value| vec![KeyMatch::Ternary { value, mask: 0xffff }];
        let of = |value| Entry { table: ranked(), keys: keys(value), priority: 1, action: forward, args: vec![port, 0] };
        (of(1), of(2))
    };
    let (a, b) = pair(1);
    apply(&x86, vec![Op::Insert(a), Op::Insert(b)]).unwrap();
    let mut lane = x86.lane(0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..300 {
                let (a, b) = pair(1 + i % 7);
                apply(&x86, vec![Op::Modify(a), Op::Modify(b)]).unwrap();
            }
            stop.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut bursts = 0;
        while !stop.load(std::sync::atomic::Ordering::Acquire) || bursts < 10 {
            let verdicts = send(&mut *lane, &[1, 2, 1, 2, 1, 2], 0);
            assert!(verdicts.iter().all(|v| v.port == verdicts[0].port && v.kind == VerdictKind::Forward), "{verdicts:?}");
            bursts += 1;
        }
    });
}

/// Two tables and a counter change together, beside a lane: its bursts see whole batches, and once a batch is applied what it took out of use
/// counts no more.
#[test]
fn a_batch_over_tables_and_counters_is_whole_and_final() {
    let x86 = load();
    let counter = x86.program().counter("packets").unwrap();
    let forward = x86.program().action("forward").unwrap();
    let ranked_entry = |port: u128| {
        let keys = vec![KeyMatch::Ternary { value: 2, mask: 0xffff }];
        Entry { table: ranked(), keys, priority: 1, action: forward, args: vec![port, 50_000] }
    };
    let cell = |i: u64| 100 + i % 3;
    apply(&x86, vec![Op::Insert(entry(&x86, 1, "forward", &[1, cell(0).into()])), Op::Insert(ranked_entry(1))]).unwrap();
    let mut lane = x86.lane(0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let bursts = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let count = || bursts.load(std::sync::atomic::Ordering::Relaxed);
            let mut counted = 0;
            for i in 1..=200u64 {
                let from = count();
                while count() < from + 2 {
                    std::thread::yield_now();
                }
                let port = u128::from(1 + i % 7);
                // The exact entry alternates between another value and another entry in its place.
                let new = entry(&x86, 1, "forward", &[port, cell(i).into()]);
                let exact = if i % 2 == 0 { vec![Op::Modify(new)] } else { vec![Op::Delete(new.clone()), Op::Insert(new)] };
                let others = [Op::Modify(ranked_entry(port)), Op::ClearCounter { counter, index: cell(i) }];
                apply(&x86, exact.into_iter().chain(others).collect()).unwrap();
                // The cell before is out of use: its count is final.
                let last = x86.counter(counter, cell(i - 1));
                counted += last.packets;
                let from = count();
                while count() < from + 2 {
                    std::thread::yield_now();
                }
                assert_eq!(x86.counter(counter, cell(i - 1)), last, "batch {i}");
            }
            stop.store(true, std::sync::atomic::Ordering::Release);
            assert!(counted >= 200 * 32, "{counted} packets counted");
        });
        while !stop.load(std::sync::atomic::Ordering::Acquire) {
            let verdicts = send(&mut *lane, &[1, 2].repeat(32), 0);
            assert!(verdicts.iter().all(|v| v.port == verdicts[0].port && v.kind == VerdictKind::Forward), "{verdicts:?}");
            bursts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    // All 32 packets of each burst were counted, in cells that were cleared one batch after they went out of use.
    let last = x86.counter(counter, cell(200)).packets;
    assert!(last >= 64 && last % 32 == 0, "{last}");
}

/// A full table whose entries one batch replaces by others, again and again: each new one counts from zero.
#[test]
fn a_full_table_is_replaced_as_a_whole() {
    let x86 = load();
    let mut lane = x86.lane(0);
    let of = |round: u128| (0..3).map(move |i| 3 * round + i);
    let entries = |round: u128| of(round).map(|key| entry(&x86, key, "counted", &[key % 500])).collect::<Vec<_>>();
    apply(&x86, entries(0).into_iter().map(Op::Insert).collect()).unwrap();
    for round in 1..50 {
        let keys: Vec<u32> = of(round - 1).map(|key| key as u32).collect();
        send(&mut *lane, &keys, 0);
        let full = apply(&x86, entries(round).into_iter().map(Op::Insert).collect());
        assert_eq!(full, Err(RuleError::Full { op: 0, table: "exact".into(), capacity: 3 }));
        let gone = entries(round - 1).into_iter().map(Op::Delete);
        apply(&x86, gone.chain(entries(round).into_iter().map(Op::Insert)).collect()).unwrap();
        for (old, new) in entries(round - 1).iter().zip(&entries(round)) {
            assert_eq!((x86.entry_count(old), x86.entry_count(new).map(|c| c.packets)), (None, Some(0)));
        }
        let keys: Vec<u32> = of(round).map(|key| key as u32).collect();
        let verdicts = send(&mut *lane, &keys, 0);
        assert!(keys.iter().zip(&verdicts).all(|(k, v)| u32::from(v.port) == k % 500 && v.kind == VerdictKind::Forward));
        assert!(entries(round).iter().all(|e| x86.entry_count(e).is_some_and(|c| c.packets == 1)));
    }
    assert_eq!(x86.table_stats(exact()).entries, 3);
}

#[test]
fn a_meter_of_an_entry_wants_the_entry_and_may_come_with_it() {
    let mut ir = program();
    ir.add_direct_meter("of_ranked", ranked(), CountUnit::Bytes);
    p4_ir::verify(&ir).unwrap();
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    let x86 = X86::load(Arc::new(ir.program.clone()), &p4_emit::emit_x86(&ir).unwrap(), &options).unwrap();
    let e = Entry {
        table: ranked(),
        keys: vec![KeyMatch::Ternary { value: 1, mask: 1 }],
        priority: 1,
        action: x86.program().action("drop").unwrap(),
        args: vec![],
    };
    let other = Entry { priority: 2, ..e.clone() };
    let meter = |entry: &Entry| Op::EntryMeter { entry: entry.clone(), config: Some(MeterConfig { cir: 1, cbs: 2, pir: 3, pbs: 4 }) };
    let error = apply(&x86, vec![Op::Insert(e.clone()), meter(&e), meter(&other)]).unwrap_err();
    assert!(matches!(error, RuleError::Missing { op: 2, .. }), "{error}");
    // All or nothing: the insert before it was not done.
    assert!(matches!(apply(&x86, vec![Op::Delete(e.clone())]), Err(RuleError::Missing { .. })));
    apply(&x86, vec![meter(&e)]).unwrap_err();
    apply(&x86, vec![Op::Insert(e.clone()), meter(&e), meter(&e), Op::Delete(e.clone())]).unwrap();
    apply(&x86, vec![Op::Insert(e.clone()), meter(&e)]).unwrap();
}

#[test]
fn what_does_not_fit_is_refused_in_one_line() {
    let ir = program();
    let text = p4_emit::emit_x86(&ir).unwrap();
    let program = Arc::new(ir.program.clone());
    let load = |program: &Arc<program::Program>, text: &str, options: &Options| {
        let error = X86::load(program.clone(), text, options).err().expect("it should be refused");
        assert!(!error.to_string().contains('\n'), "{error}");
        error
    };
    let absent = Options { cc: Some(PathBuf::from("no-such-compiler")), ..Options::default() };
    let error = load(&program, &text, &absent);
    assert_eq!(error, LoadError::NoSuchCompiler("no-such-compiler".into()));
    assert!(error.to_string().contains("install gcc or clang (Debian: apt install gcc) or set CC"));
    assert!(matches!(load(&program, "int sp_process(", &Options::default()), LoadError::Compiler { .. }));
    assert!(matches!(load(&program, "int nothing;", &Options::default()), LoadError::Object(_)));
    let mut other = ir.program.clone();
    other.actions.values_mut().next().unwrap().params.pop();
    assert!(matches!(load(&Arc::new(other), &text, &Options::default()), LoadError::Layout(_)));
    let mut huge = ir.program.clone();
    huge.tables[exact()].size = 1 << 40;
    let error = load(&Arc::new(huge), &text, &Options::default());
    assert!(matches!(&error, LoadError::Table { table, .. } if table == "exact"), "{error}");
}

#[test]
fn empty_and_whole_bursts() {
    let x86 = load();
    let mut lane = x86.lane(0);
    assert!(send(&mut *lane, &[], 0).is_empty());
    assert_eq!(send(&mut *lane, &[9; 64], 0).len(), 64);
    // Shorter than its header: the parser's error leaves it to the program, which drops it.
    let mut packets = [Packet::new(&[1, 2], PortId(0)), Packet::new(&[], PortId(0))];
    let mut verdicts = [Verdict::default(); 2];
    lane.process(&mut packets, &mut verdicts, 0);
    assert!(verdicts.iter().all(|v| v.kind == VerdictKind::Drop));
}

#[test]
fn a_program_of_sixteen_million_entries_loads_at_once() {
    let mut ir = program();
    ir.program.tables[exact()].size = 16 << 20;
    let direct = ir.program.tables[exact()].direct_counter.unwrap();
    ir.program.counters[direct].size = 16 << 20;
    let options = Options { flags: vec!["-O1".into()], ..Options::default() };
    let x86 = X86::load(Arc::new(ir.program.clone()), &p4_emit::emit_x86(&ir).unwrap(), &options).unwrap();
    let entries = (0..10_000).map(|k| Op::Insert(entry(&x86, k, "counted", &[k % 500]))).collect();
    apply(&x86, entries).unwrap();
    let mut lane = x86.lane(0);
    let keys: Vec<u32> = (0..64).map(|i| i * 150).collect();
    let verdicts = send(&mut *lane, &keys, 0);
    assert!(keys.iter().zip(&verdicts).all(|(k, v)| u32::from(v.port) == k % 500 && v.kind == VerdictKind::Forward));
}

/// Batches work in memory that others have used before: large and small, refused and applied, over both kinds of tables, against a set of what
/// must be there.
#[test]
fn batches_of_all_sizes_in_a_row_are_whole() {
    let x86 = load();
    let ranked_entry = |key: u128| Entry {
        table: ranked(),
        keys: vec![KeyMatch::Ternary { value: key, mask: 0xff }],
        ..entry(&x86, 0, "forward", &[9, 0])
    };
    let of = |key: u128, in_ranked: bool| if in_ranked { ranked_entry(key) } else { entry(&x86, key, "forward", &[key + 1, 0]) };
    let mut present = std::collections::HashSet::new();
    let (mut state, mut applied, mut refused) = (1u64, 0, 0);
    for round in 0..60 {
        let (mut after, mut ops, mut fails) = (present.clone(), Vec::new(), None);
        let size = [1, 7, 300, 6_000][round % 4];
        for at in 0..size {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let which = (u128::from(state >> 33) % 3, state >> 50 & 1 == 1);
            let there = after.contains(&which);
            // Some batches fail, at their end.
            let wrong = at + 1 == size && round % 3 == 2;
            ops.push(if there != wrong { Op::Delete(of(which.0, which.1)) } else { Op::Insert(of(which.0, which.1)) });
            if wrong {
                fails = Some(at);
            } else if there {
                after.remove(&which);
            } else {
                after.insert(which);
            }
        }
        match (apply(&x86, ops), fails) {
            (Ok(()), None) => {
                present = after;
                applied += 1;
            }
            (Err(RuleError::Exists { op, .. } | RuleError::Missing { op, .. } | RuleError::Full { op, .. }), Some(at)) => {
                assert_eq!(op, at);
                refused += 1;
            }
            (answer, fails) => panic!("round {round}: {answer:?}, and the operation that must fail is {fails:?}"),
        }
        for (table, in_ranked) in [(exact(), false), (ranked(), true)] {
            let expected = present.iter().filter(|(_, ranked)| *ranked == in_ranked).count() as u64;
            assert_eq!(x86.table_stats(table).entries, expected, "round {round}");
        }
        let verdicts = send(&mut *x86.lane(0), &[0, 1, 2], 0);
        for (key, verdict) in verdicts.iter().enumerate() {
            let key = key as u128;
            let expected = match (present.contains(&(key, false)), present.contains(&(key, true))) {
                (true, _) => Verdict::forward(PortId(key as u16 + 1)),
                (false, true) => Verdict::forward(PortId(9)),
                (false, false) => Verdict { kind: VerdictKind::Drop, ..*verdict },
            };
            assert_eq!(*verdict, expected, "round {round}, key {key}");
        }
    }
    assert!(applied >= 30 && refused >= 15, "{applied} applied, {refused} refused");
}
