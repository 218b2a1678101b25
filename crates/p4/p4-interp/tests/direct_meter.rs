//! Direct meters: an entry's meter against an indexed meter with the same rates, through changes of the table.

use base::PortId;
use p4_gen::random::Rng;
use p4_interp::{Machine, Mode};
use p4_ir::*;
use program::{Batch, CountUnit, Entry, KeyMatch, MatchKind, MeterConfig, Op, RuleError};
use std::sync::Arc;

struct Bench {
    machine: Machine,
    table: TableId,
    plain: TableId,
    go: ActionId,
    twin: MeterId,
}

/// A packet of one byte `a` is metered by its entry, then by cell `a` of an indexed meter; the colours are bits of the port.
fn bench(unit: CountUnit) -> Bench {
    let mut ir = Ir::v1model("direct_meter.p4");
    let ty = ir.add_header_type("h_t", &[("a", 8)], None);
    let h = ir.add_header("h", ty);
    let extract = Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None };
    ir.add_state("start", vec![extract], Transition::Goto(Next::Accept));
    let spec = ir.standard("egress_spec");
    let (own, indexed) = (ir.add_var("own", Ty::Bit(2)), ir.add_var("indexed", Ty::Bit(2)));
    let go = ir.add_action("go", &[], |_, _| vec![]);
    let miss = ir.add_action("miss", &[], |_, _| vec![]);
    let key = |ir: &Ir| vec![("a", Expr::field(ir, h, "a"), MatchKind::Exact)];
    let (keys, others) = (key(&ir), key(&ir));
    let table = ir.add_table("t", keys, &[go], miss);
    let plain = ir.add_table("plain", others, &[], miss);
    ir.program.tables[plain].split = true;
    let direct = ir.add_direct_meter("direct", table, unit);
    ir.actions[go].body.push(Stmt::Extern(Extern::DirectMeter { meter: direct, result: LValue::Var(own) }));
    let twin = ir.add_meter("twin", 256, unit);
    let index = Expr { kind: ExprKind::Cast(Box::new(Expr::field(&ir, h, "a"))), ty: Ty::Bit(32) };
    let cast = |v: VarId, ir: &Ir| Expr { kind: ExprKind::Cast(Box::new(Expr::var(ir, v))), ty: Ty::Bit(9) };
    let high = Expr { kind: ExprKind::Binary(BinOp::Shl, Box::new(cast(own, &ir)), Box::new(Expr::bit(9, 2))), ty: Ty::Bit(9) };
    let both = Expr { kind: ExprKind::Binary(BinOp::Or, Box::new(high), Box::new(cast(indexed, &ir))), ty: Ty::Bit(9) };
    *ir.ingress_mut() = vec![
        Stmt::Apply { table, hit: None, action_run: None },
        Stmt::Apply { table: plain, hit: None, action_run: None },
        Stmt::Extern(Extern::Meter { meter: twin, index, result: LValue::Var(indexed) }),
        Stmt::Assign(LValue::Var(spec), both),
    ];
    Bench { machine: Machine::new(Arc::new(ir)).expect("verifies"), table, plain, go, twin }
}

impl Bench {
    fn entry(&self, a: u128) -> Entry {
        Entry { table: self.table, keys: vec![KeyMatch::Exact(a)], priority: 0, action: self.go, args: vec![] }
    }

    fn apply(&mut self, ops: Vec<Op>) -> Result<(), RuleError> {
        self.machine.apply(&Batch { ops })
    }

    /// The entry's colour and the twin's.
    fn colours(&mut self, a: u8, len: usize, now_ns: u64, mode: Mode) -> (u16, u16) {
        let mut packet = vec![0; len.max(1)];
        packet[0] = a;
        let port = self.machine.process(&packet, PortId(0), now_ns, mode).verdict.port;
        (port >> 2, port & 3)
    }
}

const CONFIG: MeterConfig = MeterConfig { cir: 1000, cbs: 300, pir: 3000, pbs: 900 };

#[test]
fn an_entrys_meter_marks_as_an_indexed_one() {
    for unit in [CountUnit::Bytes, CountUnit::Packets] {
        let mut rng = Rng::new(11);
        let mut b = bench(unit);
        let (mut now_ns, mut seen, mut misses) = (0, [0; 3], 0);
        let mut held = std::collections::BTreeSet::new();
        for _ in 0..8000 {
            let a = rng.below(4) as u8;
            let entry = b.entry(a.into());
            let scale = if unit == CountUnit::Packets { 100 } else { 1 };
            let config = MeterConfig { cir: rng.below(2000) as u64 / scale, pir: 5000 / scale, cbs: 300 / scale, pbs: 900 / scale };
            let meter = b.twin;
            let twin = |config| Op::Meter { meter, index: a.into(), config };
            match rng.below(60) {
                8..14 if held.insert(a) => b.apply(vec![Op::Insert(entry)]).unwrap(),
                1..3 if held.remove(&a) => {
                    // A meter ends with its entry.
                    let ops = vec![twin(None), Op::Delete(entry)];
                    b.apply(ops).unwrap();
                }
                0 if held.contains(&a) => b.apply(vec![Op::Modify(entry)]).unwrap(),
                3..6 if held.contains(&a) => {
                    let ops = vec![twin(Some(config)), Op::EntryMeter { entry, config: Some(config) }];
                    b.apply(ops).unwrap();
                }
                6 if held.contains(&a) => {
                    // Undone as a whole: the last change is of an entry that is not there.
                    let ops =
                        vec![Op::EntryMeter { entry: entry.clone(), config: Some(config) }, Op::Delete(entry), Op::Delete(b.entry(99))];
                    assert!(matches!(b.apply(ops), Err(RuleError::Missing { op: 2, .. })));
                }
                7 => {
                    let ops = vec![Op::EntryMeter { entry: b.entry(200), config: None }];
                    assert!(matches!(b.apply(ops), Err(RuleError::Missing { op: 0, .. })));
                }
                _ => {
                    now_ns += rng.below(4_000_000) as u64;
                    let (own, indexed) = b.colours(a, 1 + rng.below(199), now_ns, Mode::Whole);
                    assert_eq!(own, indexed, "packet for {a} at {now_ns}");
                    seen[own as usize] += 1;
                    misses += u32::from(!held.contains(&a));
                }
            }
        }
        assert!(seen.iter().all(|n| *n > 50) && misses > 50, "{unit:?}: colours {seen:?}, {misses} misses");
    }
}

#[test]
fn a_table_without_a_direct_meter_has_no_meters_of_entries() {
    let mut b = bench(CountUnit::Bytes);
    let refused = |b: &mut Bench, entry, config| matches!(b.apply(vec![Op::EntryMeter { entry, config }]), Err(RuleError::Invalid { .. }));
    let other = Entry { table: b.plain, ..b.entry(1) };
    assert!(refused(&mut b, other, Some(CONFIG)));
    let (entry, wide) = (b.entry(1), b.entry(256));
    assert!(refused(&mut b, wide, Some(CONFIG)));
    assert!(refused(&mut b, entry.clone(), Some(MeterConfig { pir: 999, ..CONFIG })));
    // An entry that has a cell only because of its meter has no counter.
    b.apply(vec![Op::Insert(entry.clone()), Op::EntryMeter { entry: entry.clone(), config: Some(CONFIG) }]).unwrap();
    assert!(b.machine.entry_meter(&entry).is_some() && b.machine.entry_count(&entry).is_none());
}

#[test]
fn a_packet_that_goes_to_the_slow_path_leaves_the_meter_as_it_was() {
    let mut b = bench(CountUnit::Bytes);
    let entry = b.entry(1);
    b.apply(vec![Op::Insert(entry.clone()), Op::EntryMeter { entry: entry.clone(), config: Some(CONFIG) }]).unwrap();
    let before = *b.machine.entry_meter(&entry).unwrap();
    // The second table is split and misses: on a subset target the packet goes on to the next one, unseen.
    b.colours(1, 200, 5, Mode::Subset);
    assert_eq!(b.machine.entry_meter(&entry), Some(&before));
    b.colours(1, 200, 5, Mode::Whole);
    assert_ne!(b.machine.entry_meter(&entry), Some(&before));
}
