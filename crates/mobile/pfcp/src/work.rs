//! The work of a message. This crate's own tests count steps: an element read or checked, an octet of a value, a rule, ID or filter
//! compared. Outside of tests counting compiles to nothing.
//!
//! The promise (`docs/security.md`): at most [`PER_OCTET`] steps for each octet of a message and [`PER_RULE`] for each rule of the session
//! that it is about. Sessions have at most `max_rules_per_session` rules, and so many filters as the user plane lets them have.

/// Steps for each octet of a message at most.
#[cfg(test)]
pub const PER_OCTET: u64 = 32;

/// Steps for each rule of a session at most: a modification looks at all of it, whatever it changes.
#[cfg(test)]
pub const PER_RULE: u64 = 1024;

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps.
#[inline(always)]
pub fn steps(count: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + count as u64));
    #[cfg(not(test))]
    let _ = count;
}

/// The steps counted since the last call, in this thread.
#[cfg(test)]
pub fn taken() -> u64 {
    STEPS.with(|steps| steps.replace(0))
}

#[cfg(test)]
mod tests;
