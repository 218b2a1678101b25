//! Waiting for in-flight packets in microseconds, by per-core counts.
//!
//! A program counts a packet in `begun` of its core's context before it reads the generation, and in `ends` when it has read its last
//! table (`sp_begin` and `sp_end` of the emitted text): plain additions, as only that core makes them. Between a core's store and its later
//! loads there is no order on any processor, so that we might find `begun` as it was before a packet that then reads the old generation. A barrier
//! would cost each packet as much as a lock does, 5 of some 75 ns. So the writer has each core execute it, by an interrupt (an empty
//! program that the kernel is asked to run there), after our stores and before `begun` is read:
//!
//! - A packet that was counted before its core's interrupt is found in `begun`. We wait until as many have ended.
//! - One that is counted after it reads what we stored before it.
//!
//! *At the end*, what a packet read and then its count in `ends`: x86 makes no store visible before loads that precede it; elsewhere each core is
//! made to execute a barrier once more before we write where the packet may have been reading.
//!
//! **Idle cores** get no interrupt: waking one from deep sleep takes longer than everything else, and there may be hundreds. To one that has had
//! no packet for some waits we say so in `rests`, before its interrupt. Its next packet finds that and takes it back by an exchange, which is a full
//! barrier. So if `rests` still stands when we look, after our stores, that packet's barrier is yet to come, and it reads what we stored.
//! A core that is off says nothing, and rests; when it comes back, the kernel's barriers are between our store of that and its packets.
//!
//! `tests/waits_model.rs` tries all orders of this. It counts on one packet at a time in a core's context, as the context itself does: XDP runs
//! with soft interrupts off, and so do test runs (in old kernels, before "bpf: Disable bh in bpf_test_run for xdp and tc prog", they do not, and two
//! lanes must not share a core if the kernel preempts itself). Counts that contradict that are found, and not used.
//!
//! Where this does not work (the kernel runs no such program, or a core's packet is not done within a millisecond, since a hypervisor has
//! taken the core away) the kernel waits: [`sys::wait_for_packets`].

use crate::LoadError;
use crate::object::Object;
use crate::sys::{self, Shared};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Waits without a packet after which a core rests. A core with few packets should not change its mind at each of them.
const WAITS_TO_REST: u32 = 16;
/// A packet takes some microseconds. After this long the kernel is asked, which takes some ten times longer.
const PATIENCE: Duration = Duration::from_millis(1);
/// Looks before other threads get the core.
const LOOKS: u32 = 200;

/// Number of waits for packets in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// By the cores' counts: microseconds.
    pub quick: u64,
    /// By the kernel (membarrier): milliseconds.
    pub slow: u64,
}

/// Cores that may run packets of one program.
pub(crate) struct Cores {
    counts: Option<Mutex<Counts>>,
    /// Whether they are not looked at.
    by_kernel: AtomicBool,
    /// Whether no packet reaches the tables, and none is in flight there.
    closed: AtomicBool,
    quick: AtomicU64,
    slow: AtomicU64,
}

/// The counts in the cores' contexts.
struct Counts {
    contexts: Shared,
    /// Bytes of a context, and where `begun` is. `rests` follows it, and `ends` is at the beginning.
    context_len: usize,
    begun: usize,
    /// Does nothing, on any core.
    program: OwnedFd,
    cores: Vec<Core>,
}

/// What is known of a core.
#[derive(Clone, Copy, Default)]
struct Core {
    /// Its count at the last wait, and how many waits it has been so.
    begun: u64,
    waits: u32,
    /// Whether it did not rest at this wait.
    interrupted: bool,
}

impl Cores {
    /// Of a program that was loaded just now and has seen no packet. `begun` is where its contexts, of so many bytes each, have that word.
    pub(crate) fn new(object: &Object, cpus: u32, context_len: usize, begun: usize) -> Result<Cores, LoadError> {
        let program = match sys::empty_program() {
            Ok(program) => program,
            Err(e) => {
                tracing::info!("the kernel cannot run a BPF program on a given core ({e}): changes of sessions take milliseconds");
                return Ok(Cores::slow());
            }
        };
        let contexts = object.shared("sp_contexts", cpus.into(), context_len)?;
        let counts = Counts { contexts, context_len, begun, program, cores: vec![Core::default(); cpus as usize] };
        for cpu in 0..cpus as usize {
            counts.rests(cpu).store(1, Ordering::Release);
        }
        Ok(Cores { counts: Some(Mutex::new(counts)), ..Cores::slow() })
    }

    /// The kernel waits for all of them.
    pub(crate) fn slow() -> Cores {
        let [by_kernel, closed] = [false; 2].map(AtomicBool::new);
        let [quick, slow] = [0; 2].map(AtomicU64::new);
        Cores { counts: None, by_kernel, closed, quick, slow }
    }

    /// Until all packets are done that are in flight, and those that begin see what this thread has stored.
    pub(crate) fn wait(&self) -> io::Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Some(counts) = &self.counts
            && !self.by_kernel.load(Ordering::Relaxed)
            && counts.lock().unwrap_or_else(PoisonError::into_inner).wait().is_some()
        {
            self.quick.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        sys::wait_for_packets()?;
        self.slow.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// From now on there are no packets to wait for, or there may be some.
    pub(crate) fn set_closed(&self, closed: bool) {
        self.closed.store(closed, Ordering::Release);
    }

    /// From now on the kernel waits, or counts are looked at again.
    pub(crate) fn set_by_kernel(&self, by_kernel: bool) {
        self.by_kernel.store(by_kernel, Ordering::Relaxed);
    }

    /// How often it took a wait.
    pub(crate) fn waited(&self) -> Waited {
        Waited { quick: self.quick.load(Ordering::Relaxed), slow: self.slow.load(Ordering::Relaxed) }
    }
}

impl Counts {
    /// `None`: unknown.
    fn wait(&mut self) -> Option<()> {
        // Our stores, and then whether a core rests.
        fence(Ordering::SeqCst);
        for cpu in 0..self.cores.len() {
            let (before, core) = (self.begun(cpu), self.cores[cpu]);
            let waits = if before == core.begun { core.waits.saturating_add(1) } else { 0 };
            let interrupted = self.rests(cpu).load(Ordering::Acquire) == 0;
            self.cores[cpu].interrupted = interrupted;
            if interrupted {
                if waits >= WAITS_TO_REST {
                    self.rests(cpu).store(1, Ordering::SeqCst);
                }
                self.interrupt(cpu)?;
                // In this order: only what has begun can have ended.
                let ended = self.ended(cpu);
                let begun = self.begun(cpu);
                if (begun.wrapping_sub(ended) as i64) < 0 {
                    return None;
                }
                self.cores[cpu] = Core { begun, waits, interrupted };
            }
        }
        let mut end = None;
        for (cpu, core) in self.cores.iter().enumerate() {
            // Of a core at rest the count is that of the last wait: its packets since need not be waited for.
            let mut looks = 0;
            while (self.ended(cpu).wrapping_sub(core.begun) as i64) < 0 {
                looks += 1;
                if looks < LOOKS {
                    std::hint::spin_loop();
                    continue;
                }
                if Instant::now() > *end.get_or_insert_with(|| Instant::now() + PATIENCE) {
                    return None;
                }
                std::thread::yield_now();
            }
        }
        if !cfg!(target_arch = "x86_64") {
            for cpu in 0..self.cores.len() {
                if self.cores[cpu].interrupted {
                    self.interrupt(cpu)?;
                }
            }
        }
        // What we write from now on, after what they have read.
        fence(Ordering::SeqCst);
        Some(())
    }

    /// Has a core execute a barrier.
    fn interrupt(&self, cpu: usize) -> Option<()> {
        let run = || match sys::run_on(self.program.as_fd(), cpu as u32) {
            Ok(()) => Some(true),
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => Some(false),
            Err(_) => None,
        };
        if !run()? {
            // It is off. If it is on again, this time it is interrupted; if not, it will find that it rests.
            self.rests(cpu).store(1, Ordering::SeqCst);
            run()?;
        }
        Some(())
    }

    fn begun(&self, cpu: usize) -> u64 {
        self.contexts.long(cpu * self.context_len + self.begun).load(Ordering::Acquire)
    }

    fn rests(&self, cpu: usize) -> &AtomicU64 {
        self.contexts.long(cpu * self.context_len + self.begun + 8)
    }

    /// At most as many as have ended when it returns, and at least as many as had when it was called.
    fn ended(&self, cpu: usize) -> u64 {
        let end = |kind: usize| self.contexts.long(cpu * self.context_len + 8 * kind).load(Ordering::Acquire);
        (0..8).map(end).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Sizes;

    /// Contexts of 128 bytes, with `begun` and `rests` behind the ends, and no program that uses them: the test counts.
    const TEXT: &str = "
struct map { unsigned type, key_size, value_size, max_entries, map_flags; };
struct map __attribute__((section(\"maps\"), used)) sp_contexts = {2, 4, 128, 1, 1024};
__attribute__((section(\"xdp\"), used)) int nothing(void *ctx) { return 0; }
char text[] __attribute__((section(\"license\"), used)) = \"Apache-2.0\";";
    const BEGUN: usize = 64;
    const RESTS: usize = 72;

    #[test]
    fn what_counts_say_decides_who_waits() {
        if !testkit::root_or_skip("what_counts_say_decides_who_waits") {
            return;
        }
        // The last one is never on.
        let cpus = sys::possible_cpus() + 1;
        let sizes = Sizes { entries: vec![("sp_contexts".into(), cpus)], ..Sizes::default() };
        let object = Object::compile(TEXT, &sizes, &["nothing"]).unwrap();
        let contexts = object.shared("sp_contexts", cpus.into(), 128).unwrap();
        let word = |cpu: usize, at: usize| contexts.long(128 * cpu + at);
        let set = |cpu, at, value| word(cpu, at).store(value, Ordering::SeqCst);
        let cores = Cores::new(&object, cpus, 128, BEGUN).unwrap();
        let mut waited = Waited::default();
        let mut wait = |quick, slow, what: &str| {
            cores.wait().unwrap();
            (waited.quick, waited.slow) = (waited.quick + quick, waited.slow + slow);
            assert_eq!(cores.waited(), waited, "{what}");
        };
        // Packets of one at rest began after our stores.
        set(0, BEGUN, 1);
        wait(1, 0, "all rest");
        set(0, RESTS, 0);
        wait(0, 1, "a packet is in flight and goes on for too long");
        set(0, 8 * 4, 1);
        wait(1, 0, "it has ended");
        set(0, BEGUN, 2);
        wait(0, 1, "another");
        set(0, 8, 1);
        wait(1, 0, "whichever end it came to");
        // Two in one context at once have overwritten each other's counts.
        set(0, BEGUN, 1);
        wait(0, 1, "more have ended than begun");
        set(0, BEGUN, 2);
        // The first wait without a packet was before.
        (0..WAITS_TO_REST).for_each(|_| wait(1, 0, "no packets"));
        assert_eq!(word(0, RESTS).load(Ordering::SeqCst), 1, "it rests");
        set(0, RESTS, 0);
        set(0, BEGUN, 3);
        set(0, 0, 1);
        wait(1, 0, "it has had a packet");
        assert_eq!(word(0, RESTS).load(Ordering::SeqCst), 0, "it does not rest at once again");
        let off = cpus as usize - 1;
        set(off, RESTS, 0);
        wait(1, 0, "one is off");
        assert_eq!(word(off, RESTS).load(Ordering::SeqCst), 1, "what is off rests");
        cores.set_by_kernel(true);
        wait(0, 1, "the counts are not looked at");
        cores.set_closed(true);
        wait(0, 0, "there is nobody to wait for");
    }
}
