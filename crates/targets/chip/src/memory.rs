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
use crate::sites::Loc;
use p4_ir::{Architecture, BinOp, Expr, ExprKind, Extern, HeaderId, HeaderRef, Ir, LValue, Partitions, Stmt, VarId};
use program::{ActionId, CountUnit, MatchKind, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    /// Entries by partition, of which the program says the number.
    Atcam,
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

/// What a table's memory depends on beside itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hangs<'a> {
    /// What it is of an action profile.
    pub piece: Option<Piece>,
    /// Members of the profile that its entries point to.
    pub members: u64,
    /// Whether they may point to groups: such an entry has a row to itself.
    pub selects: bool,
    /// The variables by which entries point to members.
    pub handles: &'a BTreeSet<Loc>,
    /// Bits of hashes that its actions use.
    pub hashed: u64,
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
    /// Of partitions: blocks of TCAM that find one, and blocks of SRAM for what they say.
    index: (u64, u64),
    /// Without a key: a row for what its action writes.
    row: u64,
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
    pub(crate) fn of(ir: &Ir, id: TableId, hangs: &Hangs<'_>, entries: u64, stage: &Amounts, pack: Packing, m: &Memory) -> Table {
        let program = &ir.program;
        let (info, asked, piece) = (&program.tables[id], &ir.tables[id].memory, hangs.piece);
        // The chip's compiler goes by the size, whatever entries the program has.
        let own = info.const_entries && ir.arch != Architecture::Tna;
        let entries = if own { info.entries.len() as u64 } else { entries }.max(1);
        let roomy = entries + entries / 100 * pack.slack;
        let key_bits: u64 = info.keys.iter().map(|k| u64::from(k.width)).sum();
        let key_bytes = crossbar_bytes(ir, &ir.tables[id].keys);
        let points = |a: ActionId| ir.actions[a].body.iter().any(|s| writes_any(s, hangs.handles));
        let pointing = info.actions.iter().any(|u| points(u.action));
        // Where the entry points to a member, so far: no data of its own.
        let pointer = || u64::from(hangs.members.max(2).next_power_of_two().trailing_zeros()) + m.pointer_bits;
        // A constant that an instruction cannot hold comes with the entry, as its data do.
        // Parameters that the action does not use are none.
        let used = |a: ActionId| {
            let mut read = BTreeSet::new();
            p4_ir::walk::all_stmts(&ir.actions[a].body, &mut |s| {
                p4_ir::walk::stmt_exprs(s, &mut |e| {
                    p4_ir::walk::read_vars(e, &mut |v| {
                        read.insert(v);
                    })
                });
            });
            let params = program.actions[a].params.iter().zip(&ir.actions[a].params);
            params.filter(|(_, v)| read.contains(v)).map(|(p, _)| p.width).collect::<Vec<u32>>()
        };
        let data = |a: ActionId| used(a).into_iter().map(u64::from).sum::<u64>() + constants(ir, a, m);
        let padded = |a: ActionId| used(a).into_iter().map(container).sum::<u64>() + constants(ir, a, m);
        let usable = || info.actions.iter().filter(|u| u.entry && (!pointing || points(u.action))).map(|u| u.action);
        let choices = usable().count() as u64;
        // What does nothing takes no instruction.
        let all = usable().chain((!usable().any(|a| a == info.default_action.0)).then_some(info.default_action.0));
        let actions = all.filter(|a| !ir.actions[*a].body.is_empty()).count() as u64;
        let data_bits = if pointing { pointer() } else { usable().map(data).max().unwrap_or(0) };
        let padded_bits = if pointing { pointer() } else { usable().map(padded).max().unwrap_or(0) };
        let default_bytes = padded(info.default_action.0) / 8;
        let lpm = info.keys.iter().any(|k| k.kind == MatchKind::Lpm);
        let ternary = asked.ternary || info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        // A program for the chip says it; of others a long table of prefixes is taken to be partitioned.
        let partitioned = asked.alpm.is_some() || (ir.arch != Architecture::Tna && entries > m.alpm_from);
        let way = match () {
            () if piece.is_some() => Way::Pointed,
            () if info.keys.is_empty() || key_bits == 0 => Way::Keyless,
            () if asked.atcam.is_some() && asked.alpm.is_none() => Way::Atcam,
            () if ternary => Way::Ternary,
            () if lpm && partitioned => Way::Alpm,
            () if lpm => Way::Ternary,
            () => Way::Exact,
        };
        // The number of the instruction; data goes into the entry, or, if it is more, to rows of its own.
        let instruction = u64::from(choices.max(1).next_power_of_two().trailing_zeros());
        // What a hash says comes by the way that data with the entry take.
        let coloured = usable().any(|a| reads_colour(&ir.actions[a].body));
        let room = match () {
            () if hangs.hashed > 0 => 0,
            // A meter's colour has the upper bits of the way that data with the entry take.
            () if coloured => m.immediate_bits.saturating_sub(m.colour_bits),
            () => m.immediate_bits,
        };
        let splits = match pointing {
            true => vec![(data_bits, None)],
            false => splits(data_bits, padded_bits, room, m),
        };
        // Prefixes and TCAMs take as much with the entry as they can.
        let (immediate, action) = match way {
            Way::Keyless => (0, None),
            _ => splits[0],
        };
        let counter = info.direct_counter.map(|c| Fit::of(counter_bits(&program.counters[c]), m.sram_bits));
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
            index: (0, 0),
            row: 0,
            key_bytes,
            ways: m.ways,
            actions: actions.max(u64::from(way == Way::Keyless)),
            // The bus carries data in whole bytes.
            action_bytes: padded_bits.div_ceil(8).max(default_bytes),
            entry_bits: 0,
            pack: (1, 1),
        };
        // Of a TCAM: bytes that its rows compare, those of ranges twice.
        let ranges = info.keys.iter().filter(|k| k.kind == MatchKind::Range);
        let ternary_bytes = key_bytes + ranges.map(|k| u64::from(k.width).div_ceil(8)).sum::<u64>();
        match way {
            Way::Keyless => {
                t.counter = info.direct_counter.map(|_| Fit { a_word: 1, words: 1 });
                let may_run = |a: &ActionId| !info.const_default || *a == info.default_action.0;
                let data = info.actions.iter().map(|u| u.action).chain([info.default_action.0]).filter(may_run).map(padded);
                t.row = u64::from(data.max().unwrap_or(0) > room);
            }
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
                let (stored, bytes) = match asked.proxy_hash {
                    Some(bits) => (u64::from(bits), u64::from(bits).div_ceil(8)),
                    None => (key_bits.saturating_sub(m.ghost_bits), key_bytes.saturating_sub(m.ghost_bits / 8)),
                };
                let default = info.default_action.0;
                let may_be_default = |a: ActionId| if info.const_default { a == default } else { true };
                // An entry's place says nothing of whether it is there: what such an action does beside its instructions would be done anyway.
                let attached = |action: Option<Fit>| {
                    let mut acting = info.actions.iter().map(|u| u.action).filter(|a| may_be_default(*a));
                    acting.any(|a| calls(&ir.actions[a].body) || (action.is_some() && data(a) > 0))
                };
                let with = |(immediate, action): (u64, Option<Fit>), pack: (u64, u64)| {
                    let unit_entries = pack.0 * m.sram_rows;
                    let units = roomy.div_ceil(unit_entries);
                    // A key that is a row's number, or little more, needs no hash, and so no second place to look.
                    let beyond = key_bits.saturating_sub(m.ghost_bits);
                    let rows = (1u64 << beyond.min(40)).div_ceil(pack.0).next_power_of_two();
                    let (units, ways) = match () {
                        () if asked.proxy_hash.is_none() && key_bits < m.ghost_bits && units == 1 => (1, 1),
                        () if !attached(action) && beyond <= m.identity_bits && rows <= units.max(m.ways) => (rows, 1),
                        () => (units.max(m.ways), m.ways),
                    };
                    let entry_bits = stored + m.version_bits + instruction + immediate;
                    Table { pack, unit_sram: pack.1, unit_entries, units, ways, action, entry_bits, ..t.clone() }
                };
                let overhead = |immediate: u64| instruction + immediate;
                let entry = |immediate: u64| stored + m.version_bits + overhead(immediate);
                let all = splits.iter().flat_map(|s| packs(entry(s.0), overhead(s.0), bytes, m).into_iter().map(|p| with(*s, p)));
                let all = all.filter(|t| !hangs.selects || t.pack.0 == 1);
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
                t.unit_tcam = tcam_width(ternary_bytes).max(t.entry_bits.div_ceil(m.tcam_bits));
                t.unit_entries = m.tcam_rows;
                t.units = rows_with_ranges(info, entries, asked.ranges).div_ceil(m.tcam_rows);
                t.pack = (1, t.unit_tcam);
                if instruction + immediate > 0 {
                    t.indirection = Some(Fit::of((instruction + immediate).max(8), m.sram_bits));
                }
            }
            Way::Alpm | Way::Atcam => {
                let of = |number: u64| Partitions { number, subtrees: 1, subset: None, shared: (0, 0) };
                let assumed = || entries.div_ceil(m.alpm_bucket).next_multiple_of(m.sram_rows);
                let cut = asked.alpm.unwrap_or_else(|| of(asked.atcam.unwrap_or_else(assumed)));
                let (partitions, subtrees, alpm) = (cut.number, cut.subtrees, way == Way::Alpm);
                // In SRAM a prefix is value and mask. Nothing is hashed, so all of the key is stored but for the partition's number.
                let chooses = |k: &&program::KeyInfo| alpm || k.kind != MatchKind::Exact;
                let twice = |k: &program::KeyInfo| u64::from(k.width) * if k.kind == MatchKind::Exact { 1 } else { 2 };
                let subtree = u64::from(subtrees.next_power_of_two().trailing_zeros());
                let all_keys = || info.keys.iter().filter(chooses).map(twice).sum::<u64>();
                let shared = u64::from(cut.shared.0) + 2 * u64::from(cut.shared.1);
                let stored = cut.subset.map_or_else(|| all_keys().saturating_sub(shared), |bits| 2 * u64::from(bits)) + subtree;
                let all = splits.iter().flat_map(|s| {
                    let overhead = instruction + s.0;
                    let of = packs(stored + m.version_bits + overhead, overhead, stored.div_ceil(8), m).into_iter();
                    of.filter(move |(k, _)| *k <= if hangs.selects { 1 } else { m.entries_a_row } && overhead * k <= m.overhead_window_bits)
                        .map(move |p| (*s, p))
                });
                let ways = partitions.div_ceil(m.sram_rows);
                // A place in each partition for what holds where no prefix does.
                let places = entries.div_ceil(partitions) + u64::from(alpm);
                let with = |((immediate, action), pack): ((u64, Option<Fit>), (u64, u64))| {
                    let entry_bits = stored + m.version_bits + instruction + immediate;
                    let (unit_sram, unit_entries) = (pack.1 * ways, pack.0 * ways * m.sram_rows);
                    let units = places.div_ceil(pack.0);
                    Table { pack, unit_sram, unit_entries, units, ways, action, entry_bits, ..t.clone() }
                };
                let fallback = (splits[0], (1, wide_pack(stored + m.version_bits, instruction + immediate, m)));
                t = all.map(with).min_by_key(|t| t.part(t.units, m)[Resource::Sram]).unwrap_or_else(|| with(fallback));
                if alpm {
                    let number = u64::from(partitions.next_power_of_two().trailing_zeros()) + subtree;
                    let blocks = (partitions * subtrees).div_ceil(m.tcam_rows)
                        * tcam_width(ternary_bytes).max((key_bits + m.version_bits).div_ceil(m.tcam_bits));
                    t.index = (blocks, Fit::of(number, m.sram_bits).blocks(partitions * subtrees, m.sram_rows));
                }
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
            Way::Keyless => sram = sram.saturating_add(self.row),
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
            Way::Alpm | Way::Atcam => {
                // So many rows of blocks are one logical table.
                let tables = units.div_ceil(m.partition_rows);
                a[Resource::LogicalTables] = tables;
                a[Resource::ExactCrossbar] = self.key_bytes * tables;
                a[Resource::ExactTables] = tables;
                a[Resource::ResultBuses] = tables;
                a[Resource::HashBits] = (m.hash_way_bits + u64::from(self.ways.trailing_zeros())) * tables;
                a[Resource::Instructions] = self.actions * tables;
                if self.index.0 > 0 {
                    a[Resource::TernaryCrossbar] = self.key_bytes;
                    a[Resource::TernaryTables] = 1;
                    a[Resource::LogicalTables] += 1;
                    a[Resource::Instructions] += 1;
                    a[Resource::Tcam] = self.index.0;
                    sram = sram.saturating_add(self.index.1);
                }
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
    let mut of_headers: BTreeSet<(Loc, u32)> = BTreeSet::new();
    let (mut whole, mut beyond) = (0, 0);
    for key in keys {
        match source(ir, key) {
            Source::Header(h, bytes) => of_headers.extend(bytes.map(|byte| (Loc::Valid(h), byte))),
            Source::Metadata(..) | Source::Other => {
                whole += u64::from(key.ty.width() / 8);
                beyond += u64::from(key.ty.width() % 8);
            }
        }
    }
    of_headers.len() as u64 + whole + beyond.div_ceil(8)
}

/// Whole bytes of headers and metadata that a key is read from: tables of one stage that look at the same have them from the crossbar once.
pub(crate) fn crossbar_sources(ir: &Ir, keys: &[Expr]) -> BTreeSet<(Loc, u32)> {
    let of = |key: &Expr| -> Vec<(Loc, u32)> {
        match source(ir, key) {
            Source::Header(h, bytes) => bytes.map(|byte| (Loc::Valid(h), byte)).collect(),
            Source::Metadata(v, bytes) => bytes.map(|byte| (Loc::Var(v), byte)).collect(),
            Source::Other => Vec::new(),
        }
    };
    keys.iter().flat_map(of).collect()
}

/// Where a key comes from: bytes of a header, whole bytes of metadata.
enum Source {
    Header(HeaderId, Range<u32>),
    Metadata(VarId, Range<u32>),
    Other,
}

fn source(ir: &Ir, key: &Expr) -> Source {
    let (mut at, mut low, width) = (key, 0, key.ty.width());
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
            Source::Header(*h, (end - width) / 8..end.div_ceil(8))
        }
        ExprKind::Var(v) => Source::Metadata(*v, low / 8..(low + width) / 8),
        _ => Source::Other,
    }
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
/// `room`: bits that the entry has.
fn splits(bits: u64, padded: u64, room: u64, m: &Memory) -> Vec<(u64, Option<Fit>)> {
    let mut all = Vec::new();
    // The bus takes each field from bytes of its own.
    if padded <= room {
        all.push((bits, None));
    }
    // Rows hold powers of two of bytes; what they do not hold goes with the entry, if it has room.
    let mut row = 8;
    while row < padded.next_power_of_two() {
        let beside = padded.saturating_sub(row).min(bits);
        if beside <= room {
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
    let (mut added, mut written, mut flags, mut several) = (0, Vec::new(), 0u32, 0);
    let mut made: BTreeMap<HeaderId, BTreeMap<u32, (u128, u32)>> = BTreeMap::new();
    let body = &ir.actions[action].body;
    p4_ir::walk::all_stmts(body, &mut |s| {
        if let Stmt::SetValid(HeaderRef::Static(h), true) = s {
            made.entry(*h).or_default();
        }
    });
    p4_ir::walk::all_stmts(body, &mut |s| {
        let Stmt::Assign(to, value) = s else { return };
        match (to, &value.kind) {
            (_, ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor, _, b)) => {
                let outside = b.as_const().filter(|c| !signed_small(c.value(), c.width(), m));
                added += outside.map_or(0, |c| container(c.width()));
            }
            (LValue::Slice(..), _) => {}
            (_, _) => {
                let Some(c) = value.as_const().map(|c| (c.value(), c.width())) else { return };
                match to {
                    LValue::Field(HeaderRef::Static(h), f) if made.contains_key(h) => {
                        let offset = ir.header_types[ir.headers[*h].ty].fields[*f as usize].offset_bits;
                        made.entry(*h).or_default().insert(offset, c);
                    }
                    LValue::Var(_) if c.1 < 8 => {
                        flags += c.1;
                        several += 1;
                    }
                    _ => written.push(c),
                }
            }
        }
    });
    written.extend(made.values().flat_map(side_by_side));
    // Some of a container's flags are set under a mask, which comes beside their values.
    let masked = if several > 1 { 2 * container(flags) } else { 0 };
    added + masked + constant_bits(written.into_iter(), m)
}

/// Constants of a header that the action makes: what lies side by side is in containers of 32 bits, and there one constant.
fn side_by_side(fields: &BTreeMap<u32, (u128, u32)>) -> Vec<(u128, u32)> {
    let mut all: Vec<(u128, u32)> = Vec::new();
    let mut end = None;
    for (offset, (value, width)) in fields {
        match all.last_mut().filter(|(_, before)| end == Some(*offset) && before + width <= 128) {
            Some((joined, before)) => (*joined, *before) = (*joined << width | value, *before + width),
            None => all.push((*value, *width)),
        }
        end = Some(offset + width);
    }
    all
}

/// Bits of data for constants that fill so many bits each, lying in containers of 32 bits, 16 and 8, from the low end. An instruction writes a
/// whole container if 21 bits say what, and of others a few bits wherever they lie; the same data is there once.
pub(crate) fn constant_bits(constants: impl Iterator<Item = (u128, u32)>, m: &Memory) -> u64 {
    let mut data: BTreeSet<(u128, u32)> = BTreeSet::new();
    for (value, width) in constants {
        let mut at = 0;
        while at < width {
            let wide = (width - at).min(32);
            let part = (value >> at) & p4_ir::Bits::mask(wide);
            let held = match wide % 8 {
                0 => part < 1 << m.constant_bits,
                _ => signed_small(part, wide, m) || part >> part.trailing_zeros().min(wide) < u128::from(m.small_constants),
            };
            if !held {
                data.insert((part, wide));
            }
            at += wide;
        }
    }
    data.into_iter().map(|(_, wide)| container(wide)).sum()
}

/// Whether an instruction has room for it beside other operands.
fn signed_small(value: u128, width: u32, m: &Memory) -> bool {
    value < u128::from(m.small_constants) || p4_ir::Bits::mask(width) - value < u128::from(m.small_constants)
}

/// Bits of the containers that so many bits fill.
fn container(width: u32) -> u64 {
    u64::from(width).div_ceil(8) * 8
}

/// Ways to pack: so many entries in so many rows that are read together, of entries with so many bits, of which some choose what is done and
/// others are compared, in whole bytes.
fn packs(entry_bits: u64, overhead: u64, compared_bytes: u64, m: &Memory) -> Vec<(u64, u64)> {
    let rows = |k: u64| {
        let by_bits = (k * entry_bits).div_ceil(m.sram_bits);
        let by_bytes = (k * compared_bytes).div_ceil(m.sram_bits / 8);
        let by_overhead = (k * overhead).div_ceil(m.overhead_window_bits);
        by_bits.max(by_bytes).max(by_overhead).max(k.div_ceil(m.entries_a_row)).max(1)
    };
    (1..=m.entries_a_pack).map(|k| (k, rows(k))).filter(|(_, rows)| *rows <= m.pack_rows).collect()
}

/// Blocks of TCAM beside each other for so many bytes: two share a byte, half of which each compares.
fn tcam_width(bytes: u64) -> u64 {
    let (pairs, left) = (bytes.saturating_sub(1) / 11, bytes - bytes.saturating_sub(1) / 11 * 11);
    2 * pairs + if left > 6 { 2 } else { 1 }
}

/// Rows of a TCAM: a range is compared by groups of four bits, and takes up to eight rows. Where the program does not say how many entries have
/// one, a quarter is taken to.
fn rows_with_ranges(info: &program::TableInfo, entries: u64, asked: Option<u64>) -> u64 {
    let nibbles = info.keys.iter().filter(|k| k.kind == MatchKind::Range).map(|k| u64::from(k.width).div_ceil(4)).max().unwrap_or(0);
    let with = asked.unwrap_or(entries / 4).min(entries);
    with * (2 * nibbles).saturating_sub(1).clamp(1, 8) + (entries - with)
}

/// Whether an action reaches cells: counters, meters, registers.
fn calls(body: &p4_ir::Block) -> bool {
    let mut found = false;
    let cells = |e: &Extern| {
        matches!(
            e,
            Extern::Count { .. }
                | Extern::DirectCount(_)
                | Extern::Meter { .. }
                | Extern::DirectMeter { .. }
                | Extern::RegisterRead { .. }
                | Extern::RegisterWrite { .. }
        )
    };
    p4_ir::walk::all_stmts(body, &mut |s| found |= matches!(s, Stmt::Extern(e) if cells(e)));
    found
}

/// Whether an action takes what a meter says.
fn reads_colour(body: &p4_ir::Block) -> bool {
    let mut found = false;
    p4_ir::walk::all_stmts(body, &mut |s| found |= matches!(s, Stmt::Extern(Extern::Meter { .. } | Extern::DirectMeter { .. })));
    found
}

/// Whether a statement assigns to one of these variables.
fn writes_any(s: &Stmt, handles: &BTreeSet<Loc>) -> bool {
    matches!(s, Stmt::Assign(LValue::Var(v), _) if handles.contains(&Loc::Var(*v)))
}

/// Rows of one entry that is wider than any pack: its crossbar will refuse it.
fn wide_pack(entry_bits: u64, overhead: u64, m: &Memory) -> u64 {
    entry_bits.div_ceil(m.sram_bits).max(overhead.div_ceil(m.overhead_window_bits)).max(1)
}

/// Bits of a counter's cell: 32 of packets or bytes, or 64; of both 28 and 36, or 64 each.
fn counter_bits(info: &program::CounterInfo) -> u64 {
    match (info.unit, info.bits) {
        (CountUnit::Packets, None) | (CountUnit::Packets | CountUnit::Bytes, Some(..=32)) => 32,
        (CountUnit::Packets | CountUnit::Bytes, _) | (CountUnit::Both, None | Some(..=36)) => 64,
        (CountUnit::Both, Some(_)) => 128,
    }
}

/// Counter cells that an index chooses.
pub(crate) fn counter_cells(cells: u64, info: &program::CounterInfo, m: &Memory) -> Amounts {
    let blocks = Fit::of(counter_bits(info), m.sram_bits).blocks(cells.max(1), m.sram_rows) + m.spare_blocks;
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
