//! What generated C calls: one signature for every table ([`crate::View`] has function and argument), and the meter.
//!
//! In C: `uint64_t lookup(const void *table, const uint8_t *keys, size_t stride, size_t n, uint8_t **out)` and
//! `uint8_t meter(void *cell, uint64_t now_ns, uint64_t units)`. The generated code gets the functions and the
//! tables' addresses as pointers when it is loaded.

use crate::Meter;
use std::ffi::c_void;

/// A burst look-up; see [`crate::View::lookup_burst`].
pub type LookupFn = unsafe extern "C" fn(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64;

/// A meter's execution; see [`Meter::execute`]. The colour is 0 green, 1 yellow, 2 red.
pub type MeterFn = unsafe extern "C" fn(cell: *mut c_void, now_ns: u64, units: u64) -> u8;

/// The [`MeterFn`].
///
/// # Safety
/// `cell` is the address of a [`Meter`] (64 zero bytes are one) that no other thread uses meanwhile.
pub unsafe extern "C" fn meter(cell: *mut c_void, now_ns: u64, units: u64) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { (*cell.cast::<Meter>()).execute(now_ns, units) as u8 }
}
