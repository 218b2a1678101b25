//! How fast are the tables alone? A burst look-up whose results are read, as no generated code does it for us.

use table::{BURST, Table};

/// Looks up one key for each element of `out`, `stride` bytes apart, and gives the number of hits and the wrapping sum of the first
/// eight bytes of the values that were hit: a value that is not read costs nothing, and proves nothing.
///
/// # Panics
/// If values have fewer than eight bytes, and as [`Table::lookup_many`].
#[inline]
pub fn burst(table: &impl Table, keys: &[u8], stride: usize, out: &mut [*mut u8]) -> (u32, u64) {
    assert!(table.shape().value_len >= 8 && out.len() <= BURST, "values of 8 bytes or more");
    let mut hits = table.lookup_many(keys, stride, out);
    let count = hits.count_ones();
    let mut sum = 0u64;
    while hits != 0 {
        // SAFETY: a hit's record has `value_len` bytes, of which eight are read, and lives while the table is borrowed; the hit's
        // place is within `out`, which has as many elements as there were keys.
        sum = sum.wrapping_add(unsafe { out.get_unchecked(hits.trailing_zeros() as usize).cast::<u64>().read_unaligned() });
        hits &= hits - 1;
    }
    (count, sum)
}
