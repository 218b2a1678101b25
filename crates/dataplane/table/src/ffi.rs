//! What generated C calls: one signature for every table ([`crate::View`] has function and argument).
//!
//! In C: `uint64_t lookup(const void *table, const uint8_t *keys, size_t stride, size_t n, uint8_t **out)`. The
//! generated code gets the functions and the tables' addresses as pointers when it is loaded. Meters are executed by its own text.

use std::ffi::c_void;

/// A burst look-up; see [`crate::View::lookup_burst`].
pub type LookupFn = unsafe extern "C" fn(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64;
