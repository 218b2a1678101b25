//! Memory layout of table entries that a generated program reads, shared by the emitter that prints the
//! C types and the target that writes the bytes.
//!
//! A *cell* holds one version of one entry, in the byte order of the machine:
//!
//! | bytes | what |
//! |---|---|
//! | 0, 4 | `from`, `to`: the generations that see it, `to` excluded |
//! | 8 | `next`: the next cell of the hash chain, 0 for none |
//! | 12 | `action` |
//! | 14 | `tuple`: which mask the entry has; in a table without masks `pending`: not zero while earlier packets of its key may be in flight |
//! | 16 | the key: fields of a wildcard are zero |
//! | then | `rank` (tables with wildcards), bounds of range fields, `direct` (a direct counter's cell plus one) |
//! | then | the action's arguments, largest first |
//!
//! A field takes 1, 2, 4, 8 or 16 bytes, and lies on a multiple of that (16: of 8).

use crate::{MatchKind, Program, TableId, TableInfo};

/// Where `from` is; the others of a cell's head follow.
pub const FROM: usize = 0;
/// Where `to` is.
pub const TO: usize = 4;
/// Where `next` is.
pub const NEXT: usize = 8;
/// Where `action` is.
pub const ACTION: usize = 12;
/// Where `tuple` is, in a table with masks.
pub const TUPLE: usize = 14;
/// Where `pending` is, in a table without.
pub const PENDING: usize = 14;
/// Where the key begins.
pub const KEY: usize = 16;

/// Most masks that a table with wildcards looks through.
pub const MAX_TUPLES: usize = 64;
/// Limit of cells searched in a hash chain.
pub const MAX_CHAIN: usize = 16;
/// Most steps of a look-up in a table with wildcards: a mask, or a cell of a chain.
pub const MAX_STEPS: usize = 1024;
/// Tables that have a bit in a word that packets read: the first ones. Of tables that are short the last bit is for all from that one on.
pub const TABLE_BITS: usize = 32;

/// Most bytes of a table's cells that are one value of a BPF map: the verifier lets a pointer be moved by no more (2^29).
pub const MOST_DIRECT: usize = (1 << 29) - 4096;

/// Whether packets that would look the table up go to the slow path once it has no room for an entry: what sessions have (`@split`) does not run
/// short of a sudden, and nobody changes what is constant.
pub fn may_run_short(table: &TableInfo) -> bool {
    !table.split && !table.const_entries && !table.keys.is_empty()
}

/// Whether of a key with a longest prefix and exact fields only: what matches first wins.
pub fn is_lpm(table: &TableInfo) -> bool {
    let count = |kind| table.keys.iter().filter(|k| k.kind == kind).count();
    count(MatchKind::Lpm) == 1 && count(MatchKind::Exact) + 1 == table.keys.len()
}

/// Whether the cells of a table get memory as entries come, in segments: those of sessions, and long lists of filters. A look-up of other tables is some
/// nanoseconds shorter: of routes there are few, and each packet looks one up.
pub fn grows(table: &TableInfo) -> bool {
    const MANY: u64 = 65_536;
    let exact = table.keys.iter().all(|k| k.kind == MatchKind::Exact);
    !table.keys.is_empty() && if exact { table.split } else { table.size >= MANY && !is_lpm(table) }
}

/// Whether the same is true of cells of a counter or meter: of large ones, those of sessions. Nobody says when a cell of an entry is used.
pub fn cells_grow(size: u64, table: Option<TableId>) -> bool {
    // Fewer stay in the second-level cache, of which 32-byte cells of meters take half a megabyte.
    const LARGE: u64 = 16_384;
    size >= LARGE && table.is_none()
}

/// A field's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes from the cell's start (a key field: from the key's).
    pub offset: usize,
    /// Bytes: 1, 2, 4, 8 or 16.
    pub len: usize,
}

/// The layout of a table's cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellLayout {
    /// Key fields, in the table's order.
    pub keys: Vec<Place>,
    /// Bytes of the key, a multiple of 8.
    pub key_len: usize,
    /// Whether masks are looked through: a table with a field that is not exact.
    pub wild: bool,
    /// Where `rank` is: larger wins.
    pub rank: usize,
    /// Range fields: position in the key, lowest and highest value.
    pub ranges: Vec<(usize, Place, Place)>,
    /// Where `direct` is, if the table has a direct counter.
    pub direct: Option<usize>,
    /// Where arguments begin, a multiple of 8.
    pub args_at: usize,
    /// The parameters of each action of the program, in its order.
    pub args: Vec<Vec<Place>>,
    /// Bytes of a cell.
    pub len: usize,
}

impl CellLayout {
    /// The layout of `table`.
    pub fn new(program: &Program, table: TableId) -> CellLayout {
        let info = &program.tables[table];
        let widths: Vec<u32> = info.keys.iter().map(|k| k.width).collect();
        let (keys, key_end) = pack(&widths, 0);
        let key_len = key_end.next_multiple_of(8);
        let wild = info.keys.iter().any(|k| k.kind != MatchKind::Exact);
        let mut at = KEY + key_len;
        let rank = at;
        at += if wild { 8 } else { 0 };
        let ranged: Vec<usize> = (0..info.keys.len()).filter(|i| info.keys[*i].kind == MatchKind::Range).collect();
        let widths: Vec<u32> = ranged.iter().flat_map(|i| [info.keys[*i].width; 2]).collect();
        let (bounds, end) = pack(&widths, at);
        let ranges = ranged.iter().enumerate().map(|(n, i)| (*i, bounds[2 * n], bounds[2 * n + 1])).collect();
        at = end.next_multiple_of(4);
        let direct = info.direct_counter.map(|_| at);
        at += if direct.is_some() { 4 } else { 0 };
        let args_at = at.next_multiple_of(8);
        let mut end = args_at;
        let args = (program.actions.iter())
            .map(|(id, action)| {
                let widths: Vec<u32> = action.params.iter().map(|p| p.width).collect();
                let (places, after) = pack(&widths, args_at);
                if info.actions.iter().any(|u| u.action == id) || info.default_action.0 == id {
                    end = end.max(after);
                }
                places
            })
            .collect();
        // Whole cache lines, so that a cell touches no more of them than it must.
        let len = if end <= 32 { 32 } else { end.next_multiple_of(64) };
        CellLayout { keys, key_len, wild, rank, ranges, direct, args_at, args, len }
    }
}

/// Bytes that a value of `width` bits takes.
pub fn kept_len(width: u32) -> usize {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 16,
    }
}

/// Places for values of these widths from `at` on, largest first, and where they end.
fn pack(widths: &[u32], at: usize) -> (Vec<Place>, usize) {
    let mut places = vec![Place { offset: 0, len: 0 }; widths.len()];
    let mut end = at.next_multiple_of(widths.iter().map(|w| kept_len(*w).min(8)).max().unwrap_or(1));
    for len in [16, 8, 4, 2, 1] {
        for (place, _) in places.iter_mut().zip(widths).filter(|(_, w)| kept_len(**w) == len) {
            *place = Place { offset: end, len };
            end += len;
        }
    }
    (places, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_packed_without_gaps_largest_first() {
        let (places, end) = pack(&[8, 32, 1, 128, 16], 16);
        assert_eq!(places.iter().map(|p| p.offset).collect::<Vec<_>>(), [38, 32, 39, 16, 36]);
        assert_eq!(end, 40);
    }

    #[test]
    fn values_lie_on_multiples_of_their_size() {
        for at in [16, 20, 24] {
            let (places, _) = pack(&[64, 3, 17, 48, 9, 100], at);
            assert!(places.iter().all(|p| p.offset.is_multiple_of(p.len.min(8))), "{places:?}");
        }
    }
}
