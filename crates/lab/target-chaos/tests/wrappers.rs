//! Does a target lose anything by being wrapped: shared by several, with its packets copied, or failing on purpose?

use program::{Batch, Bridge, Mirror, Op, Program};
use std::sync::Arc;
use target_api::{Replicating, Target};
use target_chaos::Chaos;
use target_kit::{AllFacets, ask_all};

/// All that [`ask_all`] leads to on a target that has every facet.
const ALL: [&str; 17] = [
    "check",
    "apply",
    "apply_deferred",
    "carried",
    "begin_drain",
    "finish_drain",
    "retire",
    "restart",
    "serve",
    "meter_state",
    "set_meter_state",
    "read_registers",
    "set_register",
    "take_digests",
    "lost_digests",
    "entries",
    "entries",
];

/// What it would lose without a word: the order of packets, where changes for later are made at once; messages; its recovery.
#[test]
fn a_wrapped_target_is_asked_all_that_it_would_be_asked_alone() {
    let inner = Arc::new(AllFacets::new(Arc::default(), true));
    ask_all(&inner);
    assert_eq!(inner.take_asked(), ALL);
    ask_all(&Replicating::new(inner.clone(), Bridge::default()));
    // An empty batch is nothing to a target that makes no copies itself.
    assert_eq!(inner.take_asked(), ALL[3..]);
    ask_all(&Chaos::new(Box::new(inner.clone()), 1));
    // It is restarted when it has died, which it does by itself.
    assert_eq!(inner.take_asked(), ALL.iter().filter(|what| **what != "restart").copied().collect::<Vec<_>>());
}

#[test]
fn a_change_for_later_is_one_behind_copies_and_faults_too() {
    let mut program = Program::default();
    let counter = program.counters.push(program::CounterInfo {
        name: "c".into(),
        size: 1,
        unit: program::CountUnit::Packets,
        length: program::LengthSource::Frame,
        table: None,
        bits: None,
    });
    let inner = Arc::new(AllFacets::new(Arc::new(program), true));
    let copies = Op::Mirror { session: 1, to: Some(Mirror::Group(1)) };
    let batch = Batch { ops: vec![copies, Op::ClearCounter { counter, index: 0 }] };
    let chaos = Chaos::new(Box::new(Replicating::new(inner.clone(), Bridge::default())), 1);
    chaos.check(&batch).unwrap();
    assert_eq!(inner.take_asked(), ["check"]);
    chaos.apply_deferred(&batch).unwrap();
    assert_eq!(inner.take_asked(), ["apply_deferred"]);
    chaos.apply(&batch).unwrap();
    assert_eq!(inner.take_asked(), ["apply"]);
}

/// Only one that fails on purpose recovers though the target cannot.
#[test]
fn a_wrapper_claims_no_facet_that_its_target_lacks() {
    struct Plain(AllFacets);
    impl Target for Plain {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn capabilities(&self) -> target_api::Capabilities {
            self.0.capabilities()
        }
        fn program(&self) -> &Arc<Program> {
            self.0.program()
        }
        fn check(&self, batch: &Batch) -> Result<(), program::ApplyError> {
            self.0.check(batch)
        }
        fn apply(&self, batch: &Batch) -> Result<(), program::ApplyError> {
            self.0.apply(batch)
        }
        fn apply_deferred(&self, batch: &Batch) -> Result<(), program::ApplyError> {
            self.0.apply_deferred(batch)
        }
        fn lane(&self, index: usize) -> Box<dyn target_api::Lane> {
            self.0.lane(index)
        }
        fn counter(&self, counter: program::CounterId, index: u64) -> target_api::Count {
            self.0.counter(counter, index)
        }
        fn table_stats(&self, table: program::TableId) -> target_api::TableStats {
            self.0.table_stats(table)
        }
        fn facets(&self) -> target_api::Facets<'_> {
            target_api::Facets::NONE
        }
    }
    let plain = Arc::new(Plain(AllFacets::new(Arc::default(), true)));
    ask_all(&Replicating::new(plain.clone(), Bridge::default()));
    assert!(plain.0.take_asked().is_empty());
    let chaos = Chaos::new(Box::new(plain.clone()), 1);
    let target_api::Facets { ahead, recovery, meters, registers, digests, tables } = chaos.facets();
    assert!(ahead.is_none() && recovery.is_some() && meters.is_none() && registers.is_none() && digests.is_none() && tables.is_none());
    ask_all(&chaos);
    assert_eq!(plain.0.take_asked(), ["check", "apply", "apply_deferred"]);
}
