//! Up to which generation are all packets done? Memory that ended with it may be used again. One wait serves the stores of all tables.

use crate::cores::Cores;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// What is known of the packets in flight; changed by who holds the stores.
pub(crate) struct Waits {
    /// What packets read that begin now.
    current: AtomicU32,
    /// Packets of earlier generations are done.
    done: AtomicU32,
    /// Who runs packets.
    pub cores: Cores,
}

impl Waits {
    pub(crate) fn new(generation: u32, cores: Cores) -> Waits {
        Waits { current: AtomicU32::new(generation), done: AtomicU32::new(generation), cores }
    }

    /// Packets that begin from now on see this generation.
    pub(crate) fn move_on(&self, generation: u32) {
        self.current.store(generation, Ordering::Release);
    }

    /// Generations are renumbered; nothing that a packet in flight may see is freed.
    pub(crate) fn renumber(&self, generation: u32) {
        self.current.store(generation, Ordering::Release);
        self.done.store(generation, Ordering::Release);
    }

    /// Until all that have begun are done.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let current = self.current.load(Ordering::Acquire);
        self.cores.wait()?;
        self.done.store(current, Ordering::Release);
        Ok(())
    }

    /// Until packets of generations before this one are done, if that is not known.
    pub(crate) fn wait_for(&self, generation: u32) {
        // The constructor of the target has seen that this works; should it ever not, what has ended is only reused sooner.
        if self.done.load(Ordering::Acquire) < generation
            && let Err(e) = self.wait()
        {
            tracing::warn!("cannot wait for packets: {e}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait covers what had ended when it began, in whichever table, and nothing that ends later.
    #[test]
    fn one_wait_serves_all_that_ended_before_it() {
        let waits = Waits::new(1, Cores::slow());
        let count = || waits.cores.waited().slow;
        waits.wait_for(0);
        assert_eq!(count(), 0, "nothing has ended yet");
        // Two copies end with generation 2. A wait before it is shown does not see its packets.
        waits.wait().unwrap();
        assert_eq!(count(), 1);
        waits.move_on(2);
        waits.wait_for(2);
        assert_eq!(count(), 2);
        waits.wait_for(2);
        assert_eq!(count(), 2, "the second copy needs no wait of its own");
        waits.move_on(3);
        waits.move_on(4);
        waits.wait_for(3);
        waits.wait_for(4);
        assert_eq!(count(), 3);
        // The latest wait began with generation 4, so it knows nothing of 5, though it is not shown yet.
        waits.wait_for(5);
        waits.wait_for(5);
        assert_eq!(count(), 5);
    }
}
