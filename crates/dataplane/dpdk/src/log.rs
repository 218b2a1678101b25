//! DPDK's log goes into ours, and its last warnings into error texts, because DPDK's error numbers say little.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int};
use std::sync::{Mutex, PoisonError};

/// Complaints that are kept.
const KEPT: usize = 4;
/// Longest text of a line that is kept or logged, in bytes.
const LONGEST: usize = 300;
/// Levels of `rte_log.h`.
const ERROR: c_int = 4;
const WARNING: c_int = 5;

static COMPLAINTS: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Takes a line from DPDK.
#[allow(unsafe_code)]
pub(crate) extern "C" fn line(level: c_int, text: *const c_char, len: usize) {
    if text.is_null() {
        return;
    }
    // SAFETY: the shim passes a pointer to `len` bytes that live during the call.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    let text = String::from_utf8_lossy(&bytes[..len.min(LONGEST)]);
    let text: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.is_empty() {
        return;
    }
    match level {
        // Level 0: written by `printf`-like calls outside a log call.
        1..=ERROR => {
            tracing::warn!("DPDK: {text}");
            keep(text);
        }
        WARNING => {
            tracing::info!("DPDK: {text}");
            keep(text);
        }
        _ => tracing::debug!("DPDK: {text}"),
    }
}

fn keep(text: String) {
    let mut kept = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(text);
}

/// Clears warnings from before a call.
pub(crate) fn forget() {
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// What DPDK complained of since [`forget`], as the end of an error's text.
pub(crate) fn complaints() -> String {
    let kept = COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_empty() { String::new() } else { format!(" ({})", kept.iter().map(String::as_str).collect::<Vec<_>>().join("; ")) }
}
