//! How much of a stage a table, or a part of it, takes: entries packed in words, ways, action data, cells.
//!
//! The unit of division is what one more unit of match memory holds: for exact tables a pack of SRAM rows in each of the 1024
//! rows, for ternary ones 512 rows of TCAM. A table that spans stages has a part of whole units in each, and each part
//! has its own key on the crossbar, its own hash ways and its own actions.
//!
//! Not modelled: which row and column of a stage a block lies in, beyond what wide words need ([`Table::wide_words`]), and the buses between
//! them; sharing of action data rows between tables, ranges that need several TCAM rows, unused slots of hash ways (the size counts slots, as
//! the chip's own compiler does).

use crate::describe::Memory;
use crate::profile::Piece;
use crate::resource::{Amounts, Resource};
use p4_ir::{Expr, ExprKind, HeaderId, HeaderRef, Ir, LValue, Stmt};
use program::{ActionId, CountUnit, MatchKind, TableId};
use std::collections::BTreeSet;

/// How a table's entries are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// No key: the default action.
    Keyless,
    /// Hash ways in SRAM.
    Exact,
    /// TCAM.
    Ternary,
    /// Prefixes by partition: TCAM finds the partition, SRAM the prefix.
    Alpm,
    /// Members or groups of an action profile: an entry of another table says where.
    Pointed,
}

/// What a table's packing is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packing {
    /// By slots rather than blocks: each slot has counters and meters, which take map RAMs.
    pub few_slots: bool,
    /// Room for so many more entries, in percent: rounder parts can fit where the exact ones just do not.
    pub slack: u64,
}

/// A table as memory.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub way: Way,
    /// Entries that it must hold.
    pub entries: u64,
    /// Units for them.
    pub units: u64,
    /// Least units of a part: fewer are not worth a logical table, nor enough ways.
    pub least: u64,
    /// Entries of a unit.
    unit_entries: u64,
    /// SRAM and TCAM blocks of a unit, without what hangs on entries.
    unit_sram: u64,
    unit_tcam: u64,
    /// Rows of words of something for each entry: (entries a word, words an entry).
    action: Option<Fit>,
    /// The same of a TCAM's pointers and immediate data.
    indirection: Option<Fit>,
    counter: Option<Fit>,
    meter: bool,
    /// Bits of a direct register's cell.
    register: Option<u32>,
    /// Of groups: words of the selector's memory.
    selector: Option<u64>,
    key_bytes: u64,
    /// Independent hash ways: one where the key itself is the row's number.
    ways: u64,
    actions: u64,
    action_bytes: u64,
    /// Bits of an entry, for people.
    pub entry_bits: u64,
    /// Entries of a pack and its rows.
    pub pack: (u64, u64),
}

/// So many a word, or so many words for one.
#[derive(Clone, Copy, Debug)]
struct Fit {
    a_word: u64,
    words: u64,
}

impl Fit {
    /// Things of `bits`, rounded up to a power of two, in words of `word` bits.
    fn of(bits: u64, word: u64) -> Fit {
        let size = bits.max(1).next_power_of_two();
        if size <= word { Fit { a_word: word / size, words: 1 } } else { Fit { a_word: 1, words: size.div_ceil(word) } }
    }

    fn blocks(self, entries: u64, rows: u64) -> u64 {
        entries.div_ceil(self.a_word * rows).saturating_mul(self.words)
    }
}

impl Table {
    /// A table of `entries`, on a chip whose stages have so much.
    pub(crate) fn of(ir: &Ir, id: TableId, piece: Option<Piece>, entries: u64, stage: &Amounts, pack: Packing, m: &Memory) -> Table {
        let program = &ir.program;
        let info = &program.tables[id];
        let entries = if info.const_entries { info.entries.len() as u64 } else { entries }.max(1);
        let roomy = entries + entries / 100 * pack.slack;
        let key_bits: u64 = info.keys.iter().map(|k| u64::from(k.width)).sum();
        let key_bytes = crossbar_bytes(ir, &ir.tables[id].keys);
        // A constant that an instruction cannot hold comes with the entry, as its data do.
        let data = |a: ActionId| program.actions[a].params.iter().map(|p| u64::from(p.width)).sum::<u64>() + constants(ir, a, m);
        let padded = |a: ActionId| program.actions[a].params.iter().map(|p| container(p.width)).sum::<u64>() + constants(ir, a, m);
        let usable = || info.actions.iter().filter(|u| u.entry).map(|u| u.action);
        let choices = usable().count() as u64;
        // What does nothing takes no instruction.
        let all = usable().chain((!usable().any(|a| a == info.default_action.0)).then_some(info.default_action.0));
        let actions = all.filter(|a| !ir.actions[*a].body.is_empty()).count() as u64;
        let data_bits = usable().map(data).max().unwrap_or(0);
        let padded_bits = usable().map(padded).max().unwrap_or(0);
        let default_bytes = padded(info.default_action.0) / 8;
        let lpm = info.keys.iter().any(|k| k.kind == MatchKind::Lpm);
        let ternary = info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        let way = match () {
            () if piece.is_some() => Way::Pointed,
            () if info.keys.is_empty() || key_bits == 0 => Way::Keyless,
            () if ternary => Way::Ternary,
            () if lpm && entries > m.alpm_from => Way::Alpm,
            () if lpm => Way::Ternary,
            () => Way::Exact,
        };
        // The number of the instruction; data goes into the entry, or, if it is more, to rows of its own.
        let instruction = u64::from(choices.max(1).next_power_of_two().trailing_zeros());
        let splits = splits(data_bits, padded_bits, m);
        // Prefixes and TCAMs take as much with the entry as they can.
        let (immediate, action) = match way {
            Way::Keyless => (0, None),
            _ => splits[0],
        };
        let counter = info.direct_counter.map(|c| Fit::of(counter_bits(program.counters[c].unit), m.sram_bits));
        let mut t = Table {
            way,
            entries,
            units: 1,
            least: 1,
            unit_entries: u64::MAX,
            unit_sram: 0,
            unit_tcam: 0,
            action,
            indirection: None,
            counter,
            meter: info.direct_meter.is_some(),
            register: program.registers.values().find(|r| r.table == Some(id)).map(|r| r.width),
            selector: None,
            key_bytes,
            ways: m.ways,
            actions: actions.max(u64::from(way == Way::Keyless)),
            // The bus carries data in whole bytes.
            action_bytes: padded_bits.div_ceil(8).max(default_bytes),
            entry_bits: 0,
            pack: (1, 1),
        };
        match way {
            Way::Keyless => t.counter = info.direct_counter.map(|_| Fit { a_word: 1, words: 1 }),
            Way::Pointed => {
                t.unit_entries = entries;
                match piece {
                    Some(Piece::Members) => t.action = (padded_bits > 0).then(|| Fit::of(padded_bits, m.sram_bits)),
                    // What chooses a member is the selector's, and no instruction.
                    _ => (t.action, t.actions, t.action_bytes) = (None, 0, 0),
                }
                if let Some(Piece::Groups(most)) = piece {
                    t.selector = Some(entries.saturating_mul(most.div_ceil(m.selector_members)));
                }
            }
            Way::Exact => {
                // Dense packs save match memory, but every slot has its action data and cells: small tables are better off
                // with fewer slots.
                let direct = t.counter.is_none() && !t.meter && t.register.is_none();
                let with = |(immediate, action): (u64, Option<Fit>), pack: (u64, u64)| {
                    let unit_entries = pack.0 * m.sram_rows;
                    let units = roomy.div_ceil(unit_entries);
                    // A key that is a row's number, or little more, needs no hash, and so no second place to look.
                    let beyond = key_bits.saturating_sub(m.ghost_bits);
                    let rows = (1u64 << beyond.min(40)).div_ceil(pack.0).next_power_of_two();
                    let (units, ways) = match () {
                        () if beyond == 0 => (1, 1),
                        () if direct && beyond <= m.identity_bits && rows <= units.max(m.ways) => (rows, 1),
                        () => (units.max(m.ways), m.ways),
                    };
                    let entry_bits = key_bits.saturating_sub(m.ghost_bits) + m.version_bits + instruction + immediate;
                    Table { pack, unit_sram: pack.1, unit_entries, units, ways, action, entry_bits, ..t.clone() }
                };
                let overhead = |immediate: u64| m.version_bits + instruction + immediate;
                let entry = |immediate: u64| key_bits.saturating_sub(m.ghost_bits) + overhead(immediate);
                let all = splits.iter().flat_map(|s| packs(entry(s.0), overhead(s.0), m).into_iter().map(|p| with(*s, p)));
                let cost = |t: &Table| {
                    let smallest = t.part(t.ways.min(t.units), m);
                    let all = t.part(t.units, m);
                    let slots = t.holds(t.units);
                    let (first, second) = match pack.few_slots {
                        false => (all[Resource::Sram], all[Resource::MapRam]),
                        true => (slots, all[Resource::Sram]),
                    };
                    (smallest.exceeds(stage).is_some(), first, second, t.pack.1, t.pack.0)
                };
                let best = all.min_by_key(cost);
                t = best.unwrap_or_else(|| with(splits[0], (1, wide_pack(entry(immediate), overhead(immediate), m))));
                t.least = if t.ways == 1 { t.units } else { m.ways.min(t.units) };
            }
            Way::Ternary => {
                let wide = |k: &program::KeyInfo| match k.kind {
                    MatchKind::Range => u64::from(k.width) * m.range_bits_factor,
                    _ => u64::from(k.width),
                };
                t.entry_bits = info.keys.iter().map(wide).sum::<u64>() + m.version_bits;
                t.unit_tcam = t.entry_bits.div_ceil(m.tcam_bits);
                t.unit_entries = m.tcam_rows;
                t.units = entries.div_ceil(m.tcam_rows);
                t.pack = (1, t.unit_tcam);
                if instruction + immediate > 0 {
                    t.indirection = Some(Fit::of((instruction + immediate).max(8), m.sram_bits));
                }
            }
            Way::Alpm => {
                // In SRAM a prefix is value and mask. Nothing is hashed, so all of the key is stored.
                let overhead = m.version_bits + instruction + immediate;
                let twice = |k: &program::KeyInfo| u64::from(k.width) * if k.kind == MatchKind::Exact { 1 } else { 2 };
                t.entry_bits = info.keys.iter().map(twice).sum::<u64>() + overhead;
                let all = packs(t.entry_bits, overhead, m).into_iter();
                t.pack =
                    all.max_by_key(|(k, rows)| (k * 1000 / rows, u64::MAX - rows)).unwrap_or((1, wide_pack(t.entry_bits, overhead, m)));
                let rows = m.alpm_bucket.div_ceil(t.pack.0);
                t.unit_sram = rows.saturating_mul(t.pack.1);
                let index = (key_bits + m.version_bits).div_ceil(m.tcam_bits);
                t.unit_tcam = m.sram_rows.div_ceil(m.tcam_rows) * index;
                t.unit_entries = (((m.alpm_bucket * m.sram_rows) as f64 * m.alpm_fill) as u64).max(1);
                t.units = entries.div_ceil(t.unit_entries);
            }
        }
        t
    }

    /// What a part of `units` takes of a stage.
    pub(crate) fn part(&self, units: u64, m: &Memory) -> Amounts {
        let mut a = Amounts::default();
        let slots = self.unit_entries.saturating_mul(units).min(1 << 50);
        a[Resource::LogicalTables] = 1;
        a[Resource::Instructions] = self.actions;
        a[Resource::ActionData] = self.action_bytes;
        let (counted, metered) = match self.way {
            Way::Keyless => (1, 1),
            _ => (slots, slots),
        };
        let mut sram = self.unit_sram.saturating_mul(units);
        if let Some(fit) = self.action {
            sram = sram.saturating_add(fit.blocks(slots, m.sram_rows));
        }
        if let Some(fit) = self.indirection {
            sram = sram.saturating_add(fit.blocks(slots, m.sram_rows));
        }
        if let Some(fit) = self.counter {
            let blocks = fit.blocks(counted, m.sram_rows) + m.spare_blocks;
            sram = sram.saturating_add(blocks);
            a[Resource::MapRam] += blocks;
            a[Resource::StatsAlus] += 1;
        }
        if self.meter {
            let cells = meter_cells(metered, m);
            sram = sram.saturating_add(cells[Resource::Sram]);
            a[Resource::MapRam] += cells[Resource::MapRam];
            a[Resource::MeterAlus] += 1;
        }
        if let Some(width) = self.register {
            let cells = register_cells(metered, width, m);
            sram = sram.saturating_add(cells[Resource::Sram]);
            a[Resource::MapRam] += cells[Resource::MapRam];
            a[Resource::MeterAlus] += 1;
        }
        if let Some(words) = self.selector {
            // The data plane reads it as it does a register.
            let blocks = words.div_ceil(m.sram_rows) + m.spare_blocks;
            sram = sram.saturating_add(blocks);
            a[Resource::MapRam] += blocks;
            a[Resource::MeterAlus] += 1;
        }
        match self.way {
            Way::Keyless => {}
            // They belong to the table whose entries point to them.
            Way::Pointed => a[Resource::LogicalTables] = 0,
            Way::Exact => {
                a[Resource::ExactCrossbar] = self.key_bytes;
                a[Resource::ExactTables] = 1;
                a[Resource::ResultBuses] = 1;
                let sizes = way_sizes(units, self.ways);
                // Ways beyond the preferred number look where another does: they share its bits.
                let apart = sizes.iter().take(m.ways as usize);
                a[Resource::HashBits] = apart.map(|blocks| m.hash_way_bits + u64::from(blocks.trailing_zeros())).sum();
            }
            Way::Ternary => {
                a[Resource::TernaryCrossbar] = self.key_bytes;
                a[Resource::TernaryTables] = 1;
                a[Resource::Tcam] = self.unit_tcam.saturating_mul(units);
            }
            Way::Alpm => {
                a[Resource::TernaryCrossbar] = self.key_bytes;
                a[Resource::TernaryTables] = 1;
                a[Resource::Tcam] = self.unit_tcam.saturating_mul(units);
                a[Resource::ExactCrossbar] = self.key_bytes;
                a[Resource::ExactTables] = 1;
                a[Resource::ResultBuses] = 1;
                a[Resource::LogicalTables] = 2;
            }
        }
        a[Resource::Sram] = sram;
        a
    }

    /// Words of a part of `units` that are read from several rows at once: (rows, words). Blocks of a word lie in one column, so a stage holds
    /// only as many as its rows and columns give.
    pub(crate) fn wide_words(&self, units: u64) -> Option<(u64, u64)> {
        (self.way == Way::Exact && self.pack.1 > 1).then_some((self.pack.1, units))
    }

    /// Entries that a part of `units` holds.
    pub(crate) fn holds(&self, units: u64) -> u64 {
        self.unit_entries.saturating_mul(units)
    }
}

/// Bytes of containers that a key is read from. Fields of one header that share a byte come by it once; what metadata have beyond whole bytes,
/// and headers' validity, lie together.
fn crossbar_bytes(ir: &Ir, keys: &[Expr]) -> u64 {
    let mut of_headers: BTreeSet<(HeaderId, u32)> = BTreeSet::new();
    let (mut whole, mut beyond) = (0, 0);
    for key in keys {
        let mut at = key;
        let (mut low, width) = (0, key.ty.width());
        while let ExprKind::Cast(inner) | ExprKind::Slice(inner, ..) = &at.kind {
            if let ExprKind::Slice(_, _, lo) = &at.kind {
                low += lo;
            }
            at = inner;
        }
        match &at.kind {
            ExprKind::Field(HeaderRef::Static(h), f) if low + width <= at.ty.width() => {
                let field = &ir.header_types[ir.headers[*h].ty].fields[*f as usize];
                let end = field.offset_bits + at.ty.width() - low;
                of_headers.extend(((end - width) / 8..end.div_ceil(8)).map(|byte| (*h, byte)));
            }
            _ => {
                whole += u64::from(width / 8);
                beyond += u64::from(width % 8);
            }
        }
    }
    of_headers.len() as u64 + whole + beyond.div_ceil(8)
}

/// Blocks of each way of a part of so many, all of powers of two: what is too much for the preferred number of equal ways becomes further ways.
fn way_sizes(units: u64, ways: u64) -> Vec<u64> {
    if ways <= 1 {
        return vec![units.next_power_of_two()];
    }
    if units < 2 * ways {
        return (0..ways.min(units)).map(|way| 1 + u64::from(way + ways < units)).collect();
    }
    let mut size = 1u64 << units.min(16 * ways).ilog2() >> ways.ilog2();
    let (mut left, mut sizes) = (units, Vec::new());
    while left > 0 {
        if size <= left {
            sizes.push(size);
            left -= size;
        } else {
            size /= 2;
        }
    }
    sizes
}

/// How an action's data can lie: so many bits with the entry, and the rest in rows of their own. As much as possible with the entry first.
fn splits(bits: u64, padded: u64, m: &Memory) -> Vec<(u64, Option<Fit>)> {
    let mut all = Vec::new();
    if bits <= m.immediate_bits {
        all.push((bits, None));
    }
    // Rows hold powers of two of bytes; what they do not hold goes with the entry, if it has room.
    let mut row = 8;
    while row < padded.next_power_of_two() {
        let beside = padded.saturating_sub(row).min(bits);
        if beside <= m.immediate_bits {
            all.push((beside, Some(Fit::of(row, m.sram_bits))));
        }
        row *= 2;
    }
    if padded > 0 {
        all.push((0, Some(Fit::of(padded, m.sram_bits))));
    }
    if all.is_empty() { vec![(0, None)] } else { all }
}

/// Bits of constants that an action writes and no instruction holds, by the containers that they fill.
fn constants(ir: &Ir, action: ActionId, m: &Memory) -> u64 {
    let mut bits = 0;
    p4_ir::walk::all_stmts(&ir.actions[action].body, &mut |s| {
        if let Stmt::Assign(to, value) = s
            && let Some(c) = value.as_const()
        {
            let width = c.width();
            let small = c.value() < u128::from(m.small_constants) || p4_ir::Bits::mask(width) - c.value() < u128::from(m.small_constants);
            bits += if small || matches!(to, LValue::Slice(..)) { 0 } else { container(width) };
        }
    });
    bits
}

/// Bits of the containers that so many bits fill.
fn container(width: u32) -> u64 {
    u64::from(width).div_ceil(8) * 8
}

/// Ways to pack: so many entries in so many rows that are read together.
fn packs(entry_bits: u64, overhead: u64, m: &Memory) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for rows in 1..=m.pack_rows {
        let most = if rows == 1 { m.entries_a_row } else { m.entries_a_pack };
        let by_bits = rows * m.sram_bits / entry_bits.max(1);
        let by_overhead = (rows * m.overhead_window_bits).checked_div(overhead).unwrap_or(u64::MAX);
        all.extend((1..=by_bits.min(by_overhead).min(most)).map(|k| (k, rows)));
    }
    all
}

/// Rows of one entry that is wider than any pack: its crossbar will refuse it.
fn wide_pack(entry_bits: u64, overhead: u64, m: &Memory) -> u64 {
    entry_bits.div_ceil(m.sram_bits).max(overhead.div_ceil(m.overhead_window_bits)).max(1)
}

/// Bits of a counter's cell: 28 bits of packets with 36 of bytes, or 32 of packets, or 64 of bytes.
fn counter_bits(unit: CountUnit) -> u64 {
    if unit == CountUnit::Packets { 32 } else { 64 }
}

/// Counter cells that an index chooses.
pub(crate) fn counter_cells(cells: u64, unit: CountUnit, m: &Memory) -> Amounts {
    let blocks = Fit::of(counter_bits(unit), m.sram_bits).blocks(cells.max(1), m.sram_rows) + m.spare_blocks;
    let mut a = Amounts::default();
    a[Resource::Sram] = blocks;
    a[Resource::MapRam] = blocks;
    a[Resource::StatsAlus] = 1;
    a
}

/// Meter cells: a row each; their colours, two bits each, lie in map RAMs of 11 bits a row.
pub(crate) fn meter_cells(cells: u64, m: &Memory) -> Amounts {
    let blocks = cells.max(1).div_ceil(m.sram_rows) + m.spare_blocks;
    let mut a = Amounts::default();
    a[Resource::Sram] = blocks;
    a[Resource::MapRam] = blocks + cells.div_ceil(4 * m.sram_rows);
    a[Resource::MeterAlus] = 1;
    a
}

/// Register cells.
pub(crate) fn register_cells(cells: u64, width: u32, m: &Memory) -> Amounts {
    let blocks =
        Fit::of(if width == 1 { 1 } else { u64::from(width).max(8) }, m.sram_bits).blocks(cells.max(1), m.sram_rows) + m.spare_blocks;
    let mut a = Amounts::default();
    a[Resource::Sram] = blocks;
    a[Resource::MapRam] = blocks;
    a[Resource::MeterAlus] = 1;
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{Field, Header, HeaderType, Ty};

    #[test]
    fn parts_of_bytes_come_by_the_crossbar_together() {
        let mut ir = Ir::v1model("bytes");
        let field = |name: &str, bits, offset_bits| Field { name: name.to_owned(), ty: Ty::Bit(bits), offset_bits, varbit: false };
        let fields = vec![field("flags", 3, 0), field("offset", 13, 3), field("ttl", 8, 16)];
        let ty = ir.header_types.push(HeaderType { name: "h".to_owned(), fields, fixed_bits: 24 });
        let h = ir.headers.push(Header { name: "h".to_owned(), ty, union: None });
        let [index, flag] = [("index", 10), ("flag", 1)].map(|(n, bits)| ir.add_var(n, Ty::Bit(bits)));
        let of = |n: u32, bits| Expr { kind: ExprKind::Field(HeaderRef::Static(h), n), ty: Ty::Bit(bits) };
        let part = Expr { kind: ExprKind::Slice(Box::new(of(1, 13)), 12, 8), ty: Ty::Bit(5) };
        assert_eq!(crossbar_bytes(&ir, &[of(0, 3)]), 1);
        assert_eq!(crossbar_bytes(&ir, &[of(0, 3), of(1, 13)]), 2, "two bytes hold both");
        assert_eq!(crossbar_bytes(&ir, &[of(0, 3), part]), 1, "the upper part is in the flags' byte");
        let flags = vec![Expr::var(&ir, flag); 6];
        assert_eq!(crossbar_bytes(&ir, &[vec![Expr::var(&ir, index), of(2, 8)], flags].concat()), 3);
    }
}
