//! Control plane: batches all or nothing, and every kind of table against a plain list that is searched from end to end.

mod common;

use base::PortId;
use common::*;
use p4_interp::{Machine, Mode};
use p4_ir::*;
use program::{Batch, Entry, KeyMatch, MatchKind, Op, RuleError};
use proptest::prelude::*;
use std::sync::Arc;

/// One table over two 8-bit fields of a two-byte packet; the action's argument is the egress port.
fn one_table(kinds: &[MatchKind; 2]) -> (Ir, TableId, ActionId, CounterId) {
    let mut ir = Ir::v1model("one_table.p4");
    let ty = ir.add_header_type("h_t", &[("a", 8), ("b", 8)], None);
    let h = ir.add_header("h", ty);
    let extract = Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None };
    ir.add_state("start", vec![extract], Transition::Goto(Next::Accept));
    let spec = ir.standard("egress_spec");
    let go = ir.add_action("go", &[("port", 9)], |ir, p| vec![set(spec, Expr::var(ir, p[0]))]);
    let miss = ir.add_action("miss", &[], |_, _| vec![set(spec, Expr::bit(9, 400))]);
    let keys = ["a", "b"].iter().zip(kinds).map(|(n, k)| (*n, Expr::field(&ir, h, n), *k)).collect();
    let t = ir.add_table("t", keys, &[go], miss);
    let c = ir.add_counter("direct", 1024, Some(t));
    ir.actions[go].body.push(Stmt::Extern(Extern::DirectCount(c)));
    *ir.ingress_mut() = vec![Stmt::Apply { table: t, hit: None, action_run: None }];
    (ir, t, go, c)
}

/// The plain list: entries in the order of their insertion.
#[derive(Default, Clone)]
struct Model(Vec<(Entry, u64)>);

impl Model {
    fn same(a: &Entry, b: &Entry) -> bool {
        a.keys == b.keys && a.priority == b.priority
    }

    fn apply(&mut self, op: &Op, capacity: usize) -> bool {
        let find = |m: &Model, e: &Entry| m.0.iter().position(|(x, _)| Model::same(x, e));
        match op {
            Op::Insert(e) => {
                let ok = find(self, e).is_none() && self.0.len() < capacity;
                if ok {
                    self.0.push((e.clone(), 0));
                }
                ok
            }
            Op::Modify(e) => find(self, e).map(|i| self.0[i].0 = e.clone()).is_some(),
            Op::Delete(e) => find(self, e).map(|i| self.0.remove(i)).is_some(),
            _ => false,
        }
    }

    fn lookup(&mut self, fields: [u128; 2]) -> u128 {
        let matches = |e: &Entry| {
            e.keys.iter().zip(fields).all(|(k, v)| match *k {
                KeyMatch::Exact(x) => x == v,
                KeyMatch::Lpm { value, prefix_len } => prefix_len == 0 || value >> (8 - prefix_len) == v >> (8 - prefix_len),
                KeyMatch::Ternary { value, mask } => v & mask == value & mask,
                KeyMatch::Range { low, high } => low <= v && v <= high,
                KeyMatch::Optional(x) => x.is_none() || x == Some(v),
            })
        };
        let prioritised = |e: &Entry| e.keys.iter().any(|k| !matches!(k, KeyMatch::Exact(_) | KeyMatch::Lpm { .. }));
        let prefix =
            |e: &Entry| e.keys.iter().map(|k| if let KeyMatch::Lpm { prefix_len, .. } = k { *prefix_len } else { 0 }).max().unwrap_or(0);
        let mut best: Option<usize> = None;
        for (i, (e, _)) in self.0.iter().enumerate() {
            let rank = |e: &Entry| if prioritised(e) { e.priority } else { prefix(e) };
            if matches(e) && best.is_none_or(|b| rank(e) > rank(&self.0[b].0)) {
                best = Some(i);
            }
        }
        best.map_or(400, |i| {
            self.0[i].1 += 1;
            self.0[i].0.args[0]
        })
    }
}

fn key(kind: MatchKind) -> BoxedStrategy<KeyMatch> {
    // A few values only, so that entries collide and packets hit.
    let value = (0u128..8).prop_map(|v| v << 5 | v);
    match kind {
        MatchKind::Exact => value.prop_map(KeyMatch::Exact).boxed(),
        MatchKind::Lpm => {
            (value, 0u32..=8).prop_map(|(v, prefix_len)| KeyMatch::Lpm { value: v & !Bits::mask(8 - prefix_len), prefix_len }).boxed()
        }
        MatchKind::Ternary => (value, prop::sample::select(vec![0u128, 0xff, 0xf0, 0x0f, 0x81]))
            .prop_map(|(v, mask)| KeyMatch::Ternary { value: v & mask, mask })
            .boxed(),
        MatchKind::Range => (value.clone(), value).prop_map(|(a, b)| KeyMatch::Range { low: a.min(b), high: a.max(b) }).boxed(),
        MatchKind::Optional => prop::option::of(value).prop_map(KeyMatch::Optional).boxed(),
    }
}

fn op(kinds: [MatchKind; 2]) -> BoxedStrategy<Op> {
    let prioritised = kinds.iter().any(|k| !matches!(k, MatchKind::Exact | MatchKind::Lpm));
    let priority = if prioritised { 4u32 } else { 1 };
    (0..6u8, key(kinds[0]), key(kinds[1]), 0..priority, 0u128..300)
        .prop_map(|(what, a, b, priority, port)| {
            let e = Entry { table: TableId::from_u32(0), keys: vec![a, b], priority, action: ActionId::from_u32(0), args: vec![port] };
            match what {
                0 => Op::Delete(e),
                1 => Op::Modify(e),
                _ => Op::Insert(e),
            }
        })
        .boxed()
}

fn kinds() -> impl Strategy<Value = [MatchKind; 2]> {
    use MatchKind::*;
    prop::sample::select(vec![
        [Exact, Exact],
        [Exact, Lpm],
        [Lpm, Exact],
        [Ternary, Ternary],
        [Exact, Ternary],
        [Range, Exact],
        [Optional, Range],
        [Lpm, Ternary],
        [Lpm, Optional],
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_behave_as_a_plain_list(
        (kinds, batches) in kinds().prop_flat_map(|k| (Just(k), prop::collection::vec(prop::collection::vec(op(k), 1..6), 1..30)))
    ) {
        let (ir, t, _, _) = one_table(&kinds);
        let mut machine = Machine::new(Arc::new(ir)).expect("runs");
        machine.set_capacity(t, 20);
        let mut model = Model::default();
        for ops in batches {
            let mut tried = model.clone();
            let accepted = ops.iter().all(|op| tried.apply(op, 20));
            let result = machine.apply(&Batch { ops });
            prop_assert_eq!(result.is_ok(), accepted, "{:?}", result);
            if accepted {
                model = tried;
            }
            prop_assert_eq!(machine.table_stats(t).entries, model.0.len() as u64);
            for a in [0u8, 0x21, 0x42, 0x63, 0x84, 0xff] {
                for b in [0u8, 0x21, 0xa5, 0xc6, 0xe7] {
                    let expected = model.lookup([a.into(), b.into()]);
                    let verdict = machine.process(&[a, b], PortId(0), 0, Mode::Whole).verdict;
                    prop_assert_eq!(u128::from(verdict.port), expected, "{:02x}{:02x}", a, b);
                }
            }
            // Direct counters follow their entries through changes and refused batches.
            for (e, count) in &model.0 {
                prop_assert_eq!(machine.entry_count(e).map(|c| c.packets), Some(*count), "{:?}", e);
            }
            let mut listed: Vec<Entry> = machine.entries(t);
            let mut expected: Vec<Entry> = model.0.iter().map(|(e, _)| e.clone()).collect();
            let order = |e: &Entry| (e.priority, e.keys.clone());
            listed.sort_by_key(order);
            expected.sort_by_key(order);
            prop_assert_eq!(listed, expected);
        }
    }
}

#[test]
fn a_batch_is_checked_first_and_unmade_whole() {
    let upf = upf();
    let mut m = Machine::new(Arc::new(upf.ir.clone())).expect("runs");
    m.apply(&upf.sessions(3)).expect("fits");
    m.set_capacity(upf.uplink, 4);
    let new = |teid: u128| entry(upf.uplink, vec![KeyMatch::Exact(teid)], upf.set_session, &[1, 1, 1]);
    let before: Vec<Vec<Entry>> = m.ir().program.tables.keys().map(|t| m.entries(t)).collect();
    let config = program::MeterConfig { cir: 1, cbs: 1, pir: 1, pbs: 1 };
    let changes = vec![
        Op::Insert(new(1)),
        Op::Delete(new(1000)),
        Op::Modify(new(1001)),
        Op::Meter { meter: upf.ambr, index: 5, config: Some(config) },
        Op::SetDefault { table: upf.far, action: upf.far_forward, args: vec![] },
        Op::Insert(new(2)),
    ];
    let refused = |m: &mut Machine, last: Op| {
        let mut ops = changes.clone();
        ops.push(last);
        m.apply(&Batch { ops }).expect_err("refused")
    };
    let error = refused(&mut m, Op::Insert(new(3)));
    assert_eq!(error, RuleError::Full { op: 6, table: "pdr_by_teid".into(), capacity: 4 });
    assert_eq!(refused(&mut m, Op::Insert(new(2))), RuleError::Exists { op: 6, table: "pdr_by_teid".into() });
    assert_eq!(refused(&mut m, Op::Delete(new(9))), RuleError::Missing { op: 6, table: "pdr_by_teid".into() });
    assert_eq!(refused(&mut m, Op::Modify(new(1000))), RuleError::Missing { op: 6, table: "pdr_by_teid".into() });
    let wide = entry(upf.uplink, vec![KeyMatch::Exact(1 << 32)], upf.set_session, &[1, 1, 1]);
    assert!(matches!(refused(&mut m, Op::Insert(wide)), RuleError::Invalid { op: 6, .. }));
    let after: Vec<Vec<Entry>> = m.ir().program.tables.keys().map(|t| m.entries(t)).collect();
    assert_eq!(before, after);
    assert!(m.meter(upf.ambr, 5).is_none());
    let miss = udp_packet(1, 0x0a00_00ff, 1, 2, b"");
    assert_eq!(m.process(&miss, PortId(0), 0, Mode::Whole).verdict.reason, REASON_NO_SESSION);
    m.apply(&Batch { ops: changes }).expect("the same changes without the bad one");
    assert_eq!(m.table_stats(upf.uplink).entries, 4);
}

#[test]
fn constant_entries_are_there_and_the_first_of_equals_wins() {
    let (mut ir, t, go, _) = one_table(&[MatchKind::Ternary, MatchKind::Ternary]);
    let any = KeyMatch::Ternary { value: 0, mask: 0 };
    let rule = |priority, port: u128| Entry { table: t, keys: vec![any, any], priority, action: go, args: vec![port] };
    ir.program.tables[t].entries = vec![rule(1, 11), rule(5, 55), rule(5, 56)];
    ir.program.tables[t].const_entries = true;
    let mut m = Machine::new(Arc::new(ir)).expect("runs");
    assert_eq!(m.process(&[1, 2], PortId(0), 0, Mode::Whole).verdict.port, 55);
    assert_eq!(m.table_stats(t).entries, 2);
    assert!(matches!(m.apply(&Batch { ops: vec![Op::Insert(rule(9, 9))] }), Err(RuleError::Invalid { op: 0, .. })));
}

#[test]
fn counters_are_cleared_and_read_out_of_range_as_zero() {
    let upf = upf();
    let mut m = Machine::new(Arc::new(upf.ir.clone())).expect("runs");
    m.apply(&upf.sessions(1)).expect("fits");
    m.process(&gtpu_packet(1000, &udp_packet(0x0a00_0000, 0x0808_0808, 1, 2, b"")), PortId(0), 0, Mode::Whole);
    assert_eq!(m.counter(upf.sessions, 0).packets, 1);
    m.apply(&Batch { ops: vec![Op::ClearCounter { counter: upf.sessions, index: 0 }] }).expect("there");
    assert_eq!(m.counter(upf.sessions, 0).packets, 0);
    assert_eq!(m.counter(upf.sessions, u64::MAX).packets, 0);
}
