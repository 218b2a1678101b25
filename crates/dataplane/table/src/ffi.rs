//! What generated C calls: one signature for every table ([`crate::View`] has function and argument).
//!
//! In C: `uint64_t lookup(const void *table, const uint8_t *keys, size_t stride, size_t n, uint8_t **out)`. The
//! generated code gets the functions and the tables' addresses as pointers when it is loaded. Meters are executed by its own text.
//!
//! An exact table is also described by [`ExactIndex`], so that generated code looks up by itself: it hashes a key where it makes it, and asks for the
//! bucket long before it reads it. What it does not find at the first place is left to the function.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Where the buckets and records of an exact table are, and how a key is hashed. In C: `struct sp_exact`.
///
/// - A key has words `w0, w1, ...` of 8 bytes as they lie in memory; the bytes past its end are zero.
/// - Its hash is `fold(... fold(fold(start ^ w0) ^ w1) ... ^ finish)`. `fold(x)` is the xor of both halves of the
///   128-bit product `x * multiplier`.
/// - Its bucket is `b = hash & (p - 1)`, `p` being the least power of two that is not less than `live`; or
///   `b & ((p - 1) >> 1)` if `b >= live`.
/// - Its tag is the highest 16 bits of the hash, the lowest of them set.
/// - A bucket has 64 bytes: 8 tags of 16 bits, 9 handles of 32 bits, 32 bits for the table itself, and a byte for each
///   side with a bit for each slot that the side does not see. The ninth handle is always 0.
/// - A record begins with the key's words, then comes the value. Record 0 is all zeros and no entry's.
///
/// A look-up reads `moves`, then `live`, buckets and records, and `moves` again. It begins again if that has changed. Of a
/// slot it reads the tag first, then the handle, then the hidden bits.
#[repr(C)]
#[derive(Debug)]
pub struct ExactIndex {
    pub(crate) buckets: *const u8,
    pub(crate) live: *const AtomicUsize,
    pub(crate) moves: *const AtomicU64,
    pub(crate) start: u64,
    pub(crate) multiplier: u64,
    pub(crate) finish: u64,
    pub(crate) records: *const u8,
    /// Bytes from one record to the next.
    pub(crate) stride: u64,
}

// SAFETY: addresses of what is shared with readers anyway ([`crate::View::lookup_burst`]).
unsafe impl Send for ExactIndex {}
// SAFETY: as above.
unsafe impl Sync for ExactIndex {}

/// A burst look-up; see [`crate::View::lookup_burst`].
pub type LookupFn = unsafe extern "C" fn(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64;

const _: () = assert!(size_of::<ExactIndex>() == 64 && std::mem::offset_of!(ExactIndex, records) == 48);
