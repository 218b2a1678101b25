//! Does the pair of targets give out what either of them has?

use offload::{Policy, Split};
use program::{Batch, CountUnit, CounterInfo, LengthSource, Op, Program, TableId};
use std::sync::Arc;
use target_api::{Facets, Target};
use target_kit::{AllFacets, ask_all};

#[test]
fn the_pair_loses_neither_order_nor_buckets_nor_messages() {
    let mut program = Program::default();
    let info = CounterInfo { name: "c".into(), size: 1, unit: CountUnit::Packets, length: LengthSource::Frame, table: None, bits: None };
    let counter = program.counters.push(info);
    let program = Arc::new(program);
    let (fast, base) = (Arc::new(AllFacets::new(program.clone(), true)), Arc::new(AllFacets::new(program, false)));
    let split = Split::new(Box::new(fast.clone()), Box::new(base.clone()), Policy::None).unwrap();
    ask_all(&split);
    // An empty change is none of the fast target's. It is the one that packets are in flight from, and its meters are the base target's.
    assert_eq!(
        fast.take_asked(),
        ["carried", "begin_drain", "finish_drain", "take_digests", "lost_digests", "entries", "entries", "entries"]
    );
    assert_eq!(
        base.take_asked(),
        ["check", "apply", "apply", "meter_state", "set_meter_state", "take_digests", "lost_digests", "entries", "entries", "entries"]
    );
    let change = Batch { ops: vec![Op::ClearCounter { counter, index: 0 }] };
    split.apply_deferred(&change).unwrap();
    assert_eq!((fast.take_asked(), base.take_asked()), (vec!["apply_deferred"], vec!["apply"]));
    split.apply(&change).unwrap();
    assert_eq!((fast.take_asked(), base.take_asked()), (vec!["apply"], vec!["apply"]));
    let Facets { recovery, registers, tables, .. } = split.facets();
    // Of five entries the fast target has the second and the fourth.
    let counts =
        |chunk| target_api::in_chunks(tables.unwrap(), TableId::from_u32(0), chunk).map(|held| held.count.unwrap().packets).collect();
    for chunk in 1..7 {
        let counts: Vec<u64> = counts(chunk);
        assert_eq!(counts, [1, 11, 1, 11, 1], "{chunk} at a time");
    }
    assert!(recovery.is_none() && registers.is_none());
}
