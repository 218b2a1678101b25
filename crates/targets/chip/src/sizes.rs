//! Table sizes: the program's own, scaled to a number of sessions, or set by the caller.
//!
//! **The rule of sessions.** A table marked `@split` holds sessions: with a number of sessions given it has that many entries.
//! Tables, counters, meters and registers whose declared size is one or more times the largest declared size of a
//! `@split` table, without remainder, hold things of sessions too: they keep that ratio. Everything else keeps its size. What the
//! caller sets by name has that size, whatever the rule says.

use crate::lack::{Fault, Lack};
use p4_ir::Ir;
use program::{CounterId, MeterId, RegisterId, TableId};
use std::collections::BTreeMap;

/// Largest accepted size; far beyond any chip.
const MOST: u64 = 1 << 36;

/// Sizes that differ from the program's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Number of sessions; none: as declared.
    pub sessions: Option<u64>,
    /// Entries of tables, or cells of counters, meters and registers, by name.
    pub set: BTreeMap<String, u64>,
}

impl Sizes {
    /// For a number of sessions.
    pub fn sessions(n: u64) -> Sizes {
        Sizes { sessions: Some(n), ..Sizes::default() }
    }

    /// Names that the program does not have.
    pub(crate) fn unknown(&self, ir: &Ir) -> Vec<Lack> {
        let p = &ir.program;
        let has = |name: &str| {
            p.table(name).is_some() || p.counter(name).is_some() || p.meter(name).is_some() || p.registers.values().any(|r| r.name == name)
        };
        self.set.keys().filter(|n| !has(n)).map(|n| Lack::of(n, Fault::Unknown)).collect()
    }

    /// Whether the number of sessions changes anything.
    pub(crate) fn any_session_table(ir: &Ir) -> bool {
        ir.program.tables.values().any(|t| t.split)
    }

    /// Entries of a table.
    pub fn entries(&self, ir: &Ir, id: TableId) -> u64 {
        let t = &ir.program.tables[id];
        let named = self.named(&[&t.name, &t.full_name]);
        named.unwrap_or_else(|| if t.split { self.sessions.unwrap_or(t.size) } else { self.scaled(ir, t.size) }).min(MOST)
    }

    /// Cells of a counter.
    pub fn counter(&self, ir: &Ir, id: CounterId) -> u64 {
        let c = &ir.program.counters[id];
        self.named(&[&c.name]).unwrap_or_else(|| self.scaled(ir, c.size)).min(MOST)
    }

    /// Cells of a meter.
    pub fn meter(&self, ir: &Ir, id: MeterId) -> u64 {
        let m = &ir.program.meters[id];
        self.named(&[&m.name]).unwrap_or_else(|| self.scaled(ir, m.size)).min(MOST)
    }

    /// Cells of a register: of a direct one, entries of its table.
    pub fn register(&self, ir: &Ir, id: RegisterId) -> u64 {
        let r = &ir.program.registers[id];
        let own = || r.table.map_or_else(|| self.scaled(ir, r.size), |table| self.entries(ir, table));
        self.named(&[&r.name]).unwrap_or_else(own).min(MOST)
    }

    fn named(&self, names: &[&String]) -> Option<u64> {
        names.iter().find_map(|n| self.set.get(*n)).copied()
    }

    fn scaled(&self, ir: &Ir, size: u64) -> u64 {
        let declared = ir.program.tables.values().filter(|t| t.split).map(|t| t.size).max().unwrap_or(0);
        match self.sessions {
            Some(n) if declared > 0 && size > 0 && size.is_multiple_of(declared) => n.saturating_mul(size / declared),
            _ => size,
        }
    }
}
