//! A target with every facet, which notes what it is asked: for tests of what wraps targets.

use program::{ActionId, ApplyError, Batch, CounterId, Digest, Entry, MeterId, Program, RegisterId, TableId};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use target_api::*;

/// The target. Packets it has none.
pub struct AllFacets {
    program: Arc<Program>,
    subset: bool,
    asked: Mutex<Vec<&'static str>>,
    in_flight: Arc<InFlight>,
}

struct Memory(Vec<AtomicU64>);

impl Words for Memory {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl AllFacets {
    /// Of a program; `subset`: see [`Capabilities::subset`].
    pub fn new(program: Arc<Program>, subset: bool) -> AllFacets {
        let memory = |words: usize| Box::new(Memory((0..words).map(|_| AtomicU64::new(0)).collect()));
        let in_flight = Arc::new(InFlight::new(memory(ROW_WORDS), memory(CLOCK_WORDS)));
        AllFacets { program, subset, asked: Mutex::default(), in_flight }
    }

    /// What it was asked since the last call, but for what changes nothing.
    pub fn take_asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn note(&self, what: &'static str) {
        self.asked.lock().unwrap().push(what);
    }
}

/// Asks a target about changes, and everything that facets are asked.
pub fn ask_all(target: &dyn Target) {
    let batch = Batch::default();
    target.check(&batch).unwrap();
    target.apply(&batch).unwrap();
    target.apply_deferred(&batch).unwrap();
    let Facets { ahead, recovery, meters, registers, digests, tables } = target.facets();
    if let Some(ahead) = ahead {
        assert_eq!(ahead.carried().slow_path, 7);
        assert_ne!(ahead.in_flight().hand_on(0, 1), 0);
        let drain = ahead.begin_drain().unwrap();
        ahead.finish_drain(drain);
    }
    if let Some(recovery) = recovery {
        recovery.retire();
        let _ = recovery.restart();
        recovery.serve().unwrap();
    }
    if let Some(meters) = meters {
        meters.shares_meters();
        let state = meters.meter_state(MeterId::from_u32(0), 5).unwrap();
        assert_eq!(state.peak, 5);
        meters.set_meter_state(MeterId::from_u32(0), 5, state).unwrap();
    }
    if let Some(registers) = registers {
        let mut cells = Vec::new();
        registers.read_registers(RegisterId::from_u32(0), 3..5, &mut cells).unwrap();
        assert_eq!(cells, [3, 4]);
        registers.set_register(RegisterId::from_u32(0), 3, 5).unwrap();
    }
    if let Some(digests) = digests {
        let mut messages = Vec::new();
        digests.take_digests(&mut messages);
        assert_eq!(messages[0].receiver, 9);
        assert!(digests.lost_digests() >= 11);
    }
    if let Some(tables) = tables {
        let held: Vec<HeldEntry> = in_chunks(tables, TableId::from_u32(0), 2).collect();
        assert!(held.len() > 1 && held.is_sorted_by_key(|held| held.entry.priority), "{held:?}");
    }
}

impl Target for AllFacets {
    fn name(&self) -> &str {
        "all-facets"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: false, subset: self.subset, buffers: !self.subset, selective: false }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn check(&self, _: &Batch) -> Result<(), ApplyError> {
        self.note("check");
        Ok(())
    }

    fn apply(&self, _: &Batch) -> Result<(), ApplyError> {
        self.note("apply");
        Ok(())
    }

    fn apply_deferred(&self, _: &Batch) -> Result<(), ApplyError> {
        self.note("apply_deferred");
        Ok(())
    }

    fn lane(&self, _: usize) -> Box<dyn Lane> {
        unreachable!("no packets here")
    }

    fn counter(&self, _: CounterId, _: u64) -> Count {
        Count::default()
    }

    fn table_stats(&self, _: TableId) -> TableStats {
        TableStats::default()
    }

    fn facets(&self) -> Facets<'_> {
        Facets {
            ahead: Some(self),
            recovery: Some(self),
            meters: Some(self),
            registers: Some(self),
            digests: Some(self),
            tables: Some(self),
        }
    }
}

impl Tables for AllFacets {
    /// Five entries, told apart by their priorities, each with a count of one; a subset has two of them, and a count of ten.
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        self.note("entries");
        let first = after.map_or(0, |after| after.priority + 1);
        let entry = |priority| Entry { table, keys: Vec::new(), priority, action: ActionId::from_u32(0), args: Vec::new() };
        let count = Count { packets: if self.subset { 10 } else { 1 }, bytes: 0 };
        let held = (first..5).filter(|priority| !self.subset || priority % 2 == 1);
        held.take(most).map(|priority| HeldEntry { entry: entry(priority), count: Some(count) }).collect()
    }
}

impl Ahead for AllFacets {
    fn carried(&self) -> Carried {
        self.note("carried");
        Carried { slow_path: 7, ..Carried::default() }
    }

    fn in_flight(&self) -> Arc<InFlight> {
        self.in_flight.clone()
    }

    fn begin_drain(&self) -> Option<DrainToken> {
        self.note("begin_drain");
        Some(self.in_flight.begin_drain(1))
    }

    fn finish_drain(&self, drain: DrainToken) {
        self.note("finish_drain");
        self.in_flight.finish_drain(drain);
    }
}

impl Recovery for AllFacets {
    fn retire(&self) {
        self.note("retire");
    }

    fn restart(&self) -> Result<(), TargetError> {
        self.note("restart");
        Ok(())
    }

    fn serve(&self) -> Result<(), TargetError> {
        self.note("serve");
        Ok(())
    }
}

impl Meters for AllFacets {
    fn shares_meters(&self) -> bool {
        true
    }

    fn meter_state(&self, _: MeterId, index: u64) -> Option<MeterState> {
        self.note("meter_state");
        Some(MeterState { committed: 0, peak: index, last_ns: 0 })
    }

    fn set_meter_state(&self, _: MeterId, _: u64, _: MeterState) -> Result<(), TargetError> {
        self.note("set_meter_state");
        Ok(())
    }
}

impl Registers for AllFacets {
    fn read_registers(&self, _: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        self.note("read_registers");
        into.extend(range);
        Ok(())
    }

    fn set_register(&self, _: RegisterId, _: u64, _: u64) -> Result<(), RegisterError> {
        self.note("set_register");
        Ok(())
    }
}

impl Digests for AllFacets {
    fn take_digests(&self, into: &mut Vec<Digest>) {
        self.note("take_digests");
        into.push(Digest { receiver: 9, values: Vec::new() });
    }

    fn lost_digests(&self) -> u64 {
        self.note("lost_digests");
        11
    }
}
