//! Asking the cache for a line ahead of its use, without waiting for it: the misses of a burst then overlap, more of them than a loop that reads has in flight.

/// Asks the cache for the line at `address`; any address is allowed.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does not fault, whatever the address; SSE is part of every x86_64.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same for the line in which something begins.
#[inline(always)]
pub fn prefetch_line<T: ?Sized>(place: &T) {
    prefetch(std::ptr::from_ref(place).cast());
}
