//! Table entries, and batches of changes that a target applies whole or refuses whole.

use crate::{ActionId, CounterId, MatchKind, MeterId, Program, TableId, ValueSetId};
use base::PortId;

/// Most copies that one multicast group makes of a packet.
pub const MAX_REPLICAS: usize = 512;
/// Highest number of a clone session, as in BMv2.
pub const MAX_SESSION: u32 = (1 << 15) - 1;

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

impl KeyMatch {
    /// Whether it is one of a field of `width` bits: no bit beyond it, no value bit outside of mask or prefix.
    pub fn fits(&self, width: u32) -> bool {
        let max = base::Bits::mask(width);
        match *self {
            KeyMatch::Exact(v) | KeyMatch::Optional(Some(v)) => v <= max,
            KeyMatch::Optional(None) => true,
            KeyMatch::Lpm { value, prefix_len } => prefix_len <= width && value <= max && value & base::Bits::mask(width - prefix_len) == 0,
            KeyMatch::Ternary { value, mask } => mask <= max && value & !mask == 0,
            KeyMatch::Range { low, high } => low <= high && high <= max,
        }
    }

    /// Whether it is what a key of that kind is matched by.
    pub fn is_of(&self, kind: MatchKind) -> bool {
        matches!(
            (self, kind),
            (KeyMatch::Exact(_), MatchKind::Exact)
                | (KeyMatch::Lpm { .. }, MatchKind::Lpm)
                | (KeyMatch::Ternary { .. }, MatchKind::Ternary)
                | (KeyMatch::Range { .. }, MatchKind::Range)
                | (KeyMatch::Optional(_), MatchKind::Optional)
        )
    }
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

/// One copy that a multicast group makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Replica {
    /// Its `egress_port`.
    pub port: PortId,
    /// Its `egress_rid`.
    pub rid: u16,
}

/// Where the clones of a session go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mirror {
    /// One, to this port.
    Port(PortId),
    /// One for each replica of this multicast group.
    Group(u16),
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// A new entry; an error if its identity exists.
    Insert(Entry),
    /// New action and arguments for an existing entry; its counters continue.
    Modify(Entry),
    /// Removes the entry of this identity (action and arguments are ignored); an error if there is none.
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
    /// Sets the direct meter of the entry of this identity (action and arguments are ignored) and fills its buckets;
    /// `None` makes it always green, as every new entry's is. It stays when the entry is modified, and ends with it. An
    /// error if there is no such entry.
    EntryMeter {
        /// The entry, of a table with a direct meter; it may be constant.
        entry: Entry,
        /// Its rates.
        config: Option<MeterConfig>,
    },
    /// Sets a cell of an indexed counter to zero (before the cell is reused).
    ClearCounter {
        /// The counter.
        counter: CounterId,
        /// The cell.
        index: u64,
    },
    /// Where clones of a session go; `None`: nowhere, as in the beginning.
    Mirror {
        /// The session, at most [`MAX_SESSION`].
        session: u32,
        /// Where to.
        to: Option<Mirror>,
    },
    /// The copies that a multicast group makes, in order, at most [`MAX_REPLICAS`]; none, as in the beginning, drops.
    Multicast {
        /// The group; 0 is none.
        group: u16,
        /// Its copies.
        replicas: Vec<Replica>,
    },
    /// A new member of a parser value set; an error if it exists.
    InsertValue {
        /// The set.
        set: ValueSetId,
        /// One match a field, of any kind.
        member: Vec<KeyMatch>,
    },
    /// Removes a member of a parser value set; an error if it does not exist.
    DeleteValue {
        /// The set.
        set: ValueSetId,
        /// The member as it was inserted.
        member: Vec<KeyMatch>,
    },
}

/// Changes that become visible together: either all of them, or, with an error, none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// The changes, applied in this order.
    pub ops: Vec<Op>,
}

/// A message of a program to the control plane (v1model's `digest`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Receiver's number.
    pub receiver: u128,
    /// The values, in order.
    pub values: Vec<u128>,
}

/// Why [`apply`](../target/trait.Target.html#tymethod.apply) did not do what it was asked, and what is known of the batch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ApplyError {
    /// Nothing of the batch was applied: as things are, the target does not take it.
    #[error(transparent)]
    Refused(#[from] RuleError),
    /// Nothing of the batch was applied, nor will it ever be: the target has nothing like what one of the changes is about.
    #[error("op {op}: the {target} target has no {what}")]
    Unsupported {
        /// Position in the batch.
        op: usize,
        /// The target's name.
        target: String,
        /// What it lacks, in the plural.
        what: &'static str,
    },
    /// Nobody knows how much of the batch was applied: the target must get no packets until it has been restarted or emptied.
    #[error("outcome unknown: {0}")]
    Unknown(String),
}

impl ApplyError {
    /// The same of a batch of which the one that was refused is a part: `to` gives each change's position in the whole.
    pub fn renumbered(self, to: impl Fn(usize) -> usize) -> ApplyError {
        let refused = match self {
            ApplyError::Refused(refused) => refused,
            ApplyError::Unsupported { op, target, what } => return ApplyError::Unsupported { op: to(op), target, what },
            unknown @ ApplyError::Unknown(_) => return unknown,
        };
        ApplyError::Refused(match refused {
            RuleError::Invalid { op, what } => RuleError::Invalid { op: to(op), what },
            RuleError::Exists { op, table } => RuleError::Exists { op: to(op), table },
            RuleError::Missing { op, table } => RuleError::Missing { op: to(op), table },
            RuleError::Full { op, table, capacity } => RuleError::Full { op: to(op), table, capacity },
            RuleError::Masks { op, table, most } => RuleError::Masks { op: to(op), table, most },
        })
    }

    /// Whether some of the batch, or all of it, may have been applied.
    pub fn may_have_changed(&self) -> bool {
        matches!(self, ApplyError::Unknown(_))
    }
}

/// Why a batch is refused. Nothing of it is applied.
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
    /// The target has room, but its look-ups go through no more masks: of what entries compare, bits or lengths of prefixes.
    #[error("op {op}: table {table} would have entries of more than {most} different masks: look-ups go through no more")]
    Masks {
        /// Position in the batch.
        op: usize,
        /// The table's name.
        table: String,
        /// Masks that it may have.
        most: u64,
    },
}

/// Whether copies may be sent there: a port, or the control plane.
fn copies_to(port: PortId) -> bool {
    port.0 <= PortId::MAX || port == PortId::PUNT
}

/// A meter's peak rate is at least its committed one (RFC 2698 §2), and its bursts are of a size that targets can hold.
fn check_rates(meter: &str, config: &Option<MeterConfig>) -> Result<(), String> {
    match config {
        Some(c) if c.pir < c.cir => Err(format!("meter {meter}: peak rate {} below committed rate {}", c.pir, c.cir)),
        Some(c) if c.cbs.max(c.pbs) > MAX_BURST => {
            Err(format!("meter {meter}: burst {} above {MAX_BURST}, the largest of a meter", c.cbs.max(c.pbs)))
        }
        _ => Ok(()),
    }
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
                check_rates(&info.name, config).map_err(invalid)
            }
            Op::EntryMeter { entry, config } => {
                let table = self.tables.get(entry.table).ok_or_else(|| invalid("no such table".into()))?;
                let Some(meter) = table.direct_meter else {
                    return Err(invalid(format!("table {} has no direct meter", table.name)));
                };
                self.check_identity(entry).map_err(invalid)?;
                check_rates(&self.meters[meter].name, config).map_err(invalid)
            }
            Op::ClearCounter { counter, index } => {
                let info = self.counters.get(*counter).ok_or_else(|| invalid("no such counter".into()))?;
                if info.table.is_some() || *index >= info.size {
                    return Err(invalid(format!("counter {} has no cell {index}", info.name)));
                }
                Ok(())
            }
            Op::InsertValue { set, member } | Op::DeleteValue { set, member } => {
                let info = self.value_sets.get(*set).ok_or_else(|| invalid("no such value set".into()))?;
                if member.len() != info.widths.len() || !member.iter().zip(&info.widths).all(|(m, w)| m.fits(*w)) {
                    return Err(invalid(format!("value set {}: the member does not fit its fields", info.name)));
                }
                Ok(())
            }
            Op::Mirror { session, to } => {
                if *session > MAX_SESSION {
                    return Err(invalid(format!("clone session {session} is above {MAX_SESSION}")));
                }
                match to {
                    Some(Mirror::Port(port)) if !copies_to(*port) => Err(invalid(format!("clones cannot go to port {port}"))),
                    Some(Mirror::Group(0)) => Err(invalid("multicast group 0 is no group".into())),
                    _ => Ok(()),
                }
            }
            Op::Multicast { group, replicas } => {
                if *group == 0 {
                    return Err(invalid("multicast group 0 is no group".into()));
                }
                if replicas.len() > MAX_REPLICAS {
                    return Err(invalid(format!("{} copies, more than {MAX_REPLICAS}", replicas.len())));
                }
                match replicas.iter().find(|r| !copies_to(r.port)) {
                    Some(r) => Err(invalid(format!("copies cannot go to port {}", r.port))),
                    None => Ok(()),
                }
            }
        }
    }

    fn check_keys(&self, e: &Entry) -> Result<(), String> {
        let table = self.tables.get(e.table).ok_or("no such table")?;
        if table.const_entries {
            return Err(format!("entries of table {} are constant", table.name));
        }
        self.check_identity(e)
    }

    /// That keys and priority could be those of an entry.
    fn check_identity(&self, e: &Entry) -> Result<(), String> {
        let table = self.tables.get(e.table).ok_or("no such table")?;
        if e.keys.len() != table.keys.len() {
            return Err(format!("table {} has {} key fields, not {}", table.name, table.keys.len(), e.keys.len()));
        }
        for (k, m) in table.keys.iter().zip(&e.keys) {
            if !m.is_of(k.kind) || !m.fits(k.width) {
                return Err(format!("table {}: {m:?} does not fit key {} ({:?}, {} bits)", table.name, k.name, k.kind, k.width));
            }
        }
        if !table.has_priorities() && e.priority != 0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueSetInfo;

    #[test]
    fn copies_go_to_ports_or_the_control_plane() {
        let program = Program::default();
        let ok = |op: &Op| program.check_op(0, op).is_ok();
        let mirror = |session, to| Op::Mirror { session, to: Some(to) };
        let port = |n| Mirror::Port(PortId(n));
        assert!(
            ok(&mirror(MAX_SESSION, port(PortId::MAX))) && ok(&mirror(0, Mirror::Port(PortId::PUNT))) && ok(&mirror(0, Mirror::Group(1)))
        );
        assert!(ok(&Op::Mirror { session: 3, to: None }));
        let bad = [mirror(MAX_SESSION + 1, port(1)), mirror(0, port(509)), mirror(0, port(511)), mirror(0, Mirror::Group(0))];
        assert!(!bad.iter().any(ok));
        let group = |group, n, to| Op::Multicast { group, replicas: vec![Replica { port: PortId(to), rid: 7 }; n] };
        assert!(ok(&group(1, 0, 0)) && ok(&group(u16::MAX, MAX_REPLICAS, 508)));
        assert!(!ok(&group(0, 1, 1)) && !ok(&group(1, MAX_REPLICAS + 1, 1)) && !ok(&group(1, 1, 600)));
    }

    #[test]
    fn members_of_a_value_set_fit_its_fields() {
        let mut program = Program::default();
        let set = program.value_sets.push(ValueSetInfo { name: "s".into(), size: 4, widths: vec![4, 12] });
        let ok = |member: &[KeyMatch]| program.check_op(0, &Op::InsertValue { set, member: member.to_vec() }).is_ok();
        assert!(ok(&[KeyMatch::Exact(15), KeyMatch::Ternary { value: 0x100, mask: 0xf00 }]));
        assert!(ok(&[KeyMatch::Range { low: 0, high: 15 }, KeyMatch::Lpm { value: 0xab0, prefix_len: 8 }]));
        assert!(!ok(&[KeyMatch::Exact(16), KeyMatch::Exact(0)]) && !ok(&[KeyMatch::Exact(1)]));
        assert!(!ok(&[KeyMatch::Exact(0), KeyMatch::Ternary { value: 1, mask: 0 }]));
        assert!(!ok(&[KeyMatch::Range { low: 3, high: 2 }, KeyMatch::Exact(0)]));
    }
}
