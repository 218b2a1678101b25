//! How much work was done? Time on a shared machine says little of it.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Processor time of this process since a moment: of all its threads, so tests that run side by side count into each other's.
pub struct CpuTime(Duration);

impl CpuTime {
    /// Begins to count.
    #[expect(clippy::new_without_default, reason = "it reads a clock")]
    pub fn new() -> CpuTime {
        CpuTime(now())
    }

    /// What has been used since.
    pub fn elapsed(&self) -> Duration {
        now().saturating_sub(self.0)
    }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
