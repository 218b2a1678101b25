//! What a control plane asks of a target: entries, and batches of changes that apply all or nothing.

use crate::{ActionId, CounterId, MatchKind, MeterId, Program, TableId};

/// How one key field of an entry matches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum KeyMatch {
    /// Equal to the value.
    Exact(u128),
    /// The first `prefix_len` bits equal those of `value`; the rest of `value` is zero.
    Lpm {
        /// The prefix, left-aligned in the field's width.
        value: u128,
        /// Its length in bits.
        prefix_len: u32,
    },
    /// Equal under `mask`; bits of `value` outside `mask` are zero.
    Ternary {
        /// What the masked field must equal.
        value: u128,
        /// One bits are compared.
        mask: u128,
    },
    /// From `low` to `high`, both included.
    Range {
        /// Lowest value that matches.
        low: u128,
        /// Highest value that matches.
        high: u128,
    },
    /// Equal to the value, or anything when `None`.
    Optional(Option<u128>),
}

/// A table entry. Its identity is `table`, `keys` and, where a key is ternary, range or optional, `priority`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// The table.
    pub table: TableId,
    /// One match a key field, in the table's order.
    pub keys: Vec<KeyMatch>,
    /// Larger wins. Zero in tables of exact and longest-prefix keys only.
    pub priority: u32,
    /// What runs on a hit.
    pub action: ActionId,
    /// The action's directionless parameters, in order.
    pub args: Vec<u128>,
}

/// Largest burst of a meter, in units. Fast targets keep buckets in 10^-9 units, in 64 bits: a rate in units a second times a time in
/// nanoseconds needs no division then.
pub const MAX_BURST: u64 = u64::MAX / 1_000_000_000;

/// Rates of a two-rate three-colour meter (RFC 2698), colour-blind. Units are bytes or packets as the meter declares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MeterConfig {
    /// Committed rate, units per second.
    pub cir: u64,
    /// Committed burst, units; [`MAX_BURST`] at most.
    pub cbs: u64,
    /// Peak rate, units per second.
    pub pir: u64,
    /// Peak burst, units; [`MAX_BURST`] at most.
    pub pbs: u64,
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// A new entry; an error if its identity exists.
    Insert(Entry),
    /// New action and arguments for an entry that exists; its counters go on.
    Modify(Entry),
    /// Removes the entry of this identity (action and arguments are not looked at); an error if there is none.
    Delete(Entry),
    /// Changes what runs on a miss.
    SetDefault {
        /// The table.
        table: TableId,
        /// The action.
        action: ActionId,
        /// Its parameters.
        args: Vec<u128>,
    },
    /// Sets a cell of an indexed meter and fills its buckets; `None` makes it always green.
    Meter {
        /// The meter.
        meter: MeterId,
        /// The cell.
        index: u64,
        /// Its rates.
        config: Option<MeterConfig>,
    },
    /// Sets a cell of an indexed counter to zero (a cell that is given out anew).
    ClearCounter {
        /// The counter.
        counter: CounterId,
        /// The cell.
        index: u64,
    },
}

/// Changes that become visible together: either all of them, or, with an error, none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// The changes, applied in this order.
    pub ops: Vec<Op>,
}

/// Why a batch was refused. Nothing of the batch was applied.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleError {
    /// Caller's fault: the entry does not fit the program.
    #[error("op {op}: {what}")]
    Invalid {
        /// Position in the batch.
        op: usize,
        /// What is wrong, naming table and field.
        what: String,
    },
    /// Caller's fault: an insert of what exists.
    #[error("op {op}: table {table} already holds that entry")]
    Exists {
        /// Position in the batch.
        op: usize,
        /// The table's name.
        table: String,
    },
    /// Caller's fault: a change or removal of what does not exist.
    #[error("op {op}: table {table} holds no such entry")]
    Missing {
        /// Position in the batch.
        op: usize,
        /// The table's name.
        table: String,
    },
    /// The target is out of room. Never evicts.
    #[error("op {op}: table {table} is full at {capacity} entries")]
    Full {
        /// Position in the batch.
        op: usize,
        /// The table's name.
        table: String,
        /// Entries that fit.
        capacity: u64,
    },
    /// The target itself failed.
    #[error("target failed: {0}")]
    Target(String),
}

impl Program {
    /// Checks one change against the program: ids, number and kind of keys, widths, masks, arguments, cells.
    ///
    /// Every target calls this first, so that a batch is refused for the same reasons everywhere.
    pub fn check_op(&self, position: usize, op: &Op) -> Result<(), RuleError> {
        let invalid = |what: String| RuleError::Invalid { op: position, what };
        match op {
            Op::Insert(e) | Op::Modify(e) => {
                self.check_keys(e).map_err(invalid)?;
                let table = &self.tables[e.table];
                let used = table.actions.iter().find(|u| u.action == e.action);
                if !used.is_some_and(|u| u.entry) {
                    return Err(invalid(format!("table {} has no such action for entries", table.name)));
                }
                self.check_args(e.action, &e.args).map_err(invalid)
            }
            Op::Delete(e) => self.check_keys(e).map_err(invalid),
            Op::SetDefault { table, action, args } => {
                let info = self.tables.get(*table).ok_or_else(|| invalid("no such table".into()))?;
                if info.const_default {
                    return Err(invalid(format!("default action of table {} is constant", info.name)));
                }
                if !info.actions.iter().any(|u| u.action == *action && u.default) {
                    return Err(invalid(format!("table {} has no such default action", info.name)));
                }
                self.check_args(*action, args).map_err(invalid)
            }
            Op::Meter { meter, index, config } => {
                let info = self.meters.get(*meter).ok_or_else(|| invalid("no such meter".into()))?;
                if info.table.is_some() || *index >= info.size {
                    return Err(invalid(format!("meter {} has no cell {index}", info.name)));
                }
                match config {
                    Some(c) if c.pir < c.cir => {
                        Err(invalid(format!("meter {}: peak rate {} below committed rate {}", info.name, c.pir, c.cir)))
                    }
                    Some(c) if c.cbs.max(c.pbs) > MAX_BURST => {
                        let burst = c.cbs.max(c.pbs);
                        Err(invalid(format!("meter {}: burst {burst} above {MAX_BURST}, the largest of a meter", info.name)))
                    }
                    _ => Ok(()),
                }
            }
            Op::ClearCounter { counter, index } => {
                let info = self.counters.get(*counter).ok_or_else(|| invalid("no such counter".into()))?;
                if info.table.is_some() || *index >= info.size {
                    return Err(invalid(format!("counter {} has no cell {index}", info.name)));
                }
                Ok(())
            }
        }
    }

    fn check_keys(&self, e: &Entry) -> Result<(), String> {
        let table = self.tables.get(e.table).ok_or("no such table")?;
        if table.const_entries {
            return Err(format!("entries of table {} are constant", table.name));
        }
        if e.keys.len() != table.keys.len() {
            return Err(format!("table {} has {} key fields, not {}", table.name, table.keys.len(), e.keys.len()));
        }
        for (k, m) in table.keys.iter().zip(&e.keys) {
            let max = base::Bits::mask(k.width);
            let ok = match (k.kind, *m) {
                (MatchKind::Exact, KeyMatch::Exact(v)) => v <= max,
                (MatchKind::Lpm, KeyMatch::Lpm { value, prefix_len }) => {
                    prefix_len <= k.width && value <= max && {
                        let host = base::Bits::mask(k.width - prefix_len);
                        value & host == 0
                    }
                }
                (MatchKind::Ternary, KeyMatch::Ternary { value, mask }) => mask <= max && value & !mask == 0,
                (MatchKind::Range, KeyMatch::Range { low, high }) => low <= high && high <= max,
                (MatchKind::Optional, KeyMatch::Optional(v)) => v.is_none_or(|v| v <= max),
                _ => false,
            };
            if !ok {
                return Err(format!("table {}: {m:?} does not fit key {} ({:?}, {} bits)", table.name, k.name, k.kind, k.width));
            }
        }
        let prioritised = table.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        if !prioritised && e.priority != 0 {
            return Err(format!("table {} takes no priority", table.name));
        }
        Ok(())
    }

    fn check_args(&self, action: ActionId, args: &[u128]) -> Result<(), String> {
        let info = self.actions.get(action).ok_or("no such action")?;
        if args.len() != info.params.len() {
            return Err(format!("action {} takes {} parameters, not {}", info.name, info.params.len(), args.len()));
        }
        for (p, a) in info.params.iter().zip(args) {
            if *a > base::Bits::mask(p.width) {
                return Err(format!("action {}: {a:#x} does not fit {} ({} bits)", info.name, p.name, p.width));
            }
        }
        Ok(())
    }
}
