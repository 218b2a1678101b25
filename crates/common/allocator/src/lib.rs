//! Which allocator does the binary use, and how is free memory given back to the system?
//!
//! mimalloc returns freed pages a second after they are free, but only when a thread allocates or frees much again. A UPF whose million
//! sessions have just ended is idle, so something must ask: [`Returner`].
#![warn(missing_docs)]

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// To be the binary's `#[global_allocator]`.
pub use mimalloc::MiMalloc;

/// From one time of giving back to the next. Memory that is used again sooner is not given back in between more than once, so that asking for
/// it anew costs little.
const PERIOD: Duration = Duration::from_secs(1);

/// Gives free pages of all threads back to the system. It takes some 0.5 ms for a MiB, during which other threads allocate and free as
/// usual. Where another allocator is the global one, nothing happens.
pub fn give_back() {
    // The call does nothing in a thread that has never allocated: it has no heap by which pages are found.
    drop(std::hint::black_box(Box::new(0_u8)));
    // SAFETY: it may be called at any time from any thread. It looks at the calling thread's own heap and at free pages, of which it takes each
    // from all threads before it gives it back.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Lets the calling thread's free pages go, so that [`give_back`] of another thread finds them. A thread keeps one free page of each size, of up
/// to 4 MiB, until it has asked for pages of other sizes some more times: one that has
/// just read a few messages of 64 KB and is idle keeps tens of MiB.
/// Pages go after four calls (after sixteen those of small objects) in which they were not used. It looks at the pages that are neither full nor
/// empty: microseconds.
pub fn retire() {
    // SAFETY: it may be called at any time from any thread, and looks at the calling thread's own heap.
    unsafe { libmimalloc_sys::mi_collect(false) }
}

/// A thread that gives free memory back once a second. It ends when this is dropped.
pub struct Returner {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Returner {
    /// Starts it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start() -> std::io::Result<Returner> {
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("memory".into()).spawn(move || run(&ended))?;
        Ok(Returner { end: Some(end), thread: Some(thread) })
    }
}

fn run(ended: &Receiver<()>) {
    while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        give_back();
    }
}

impl Drop for Returner {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: MiMalloc = MiMalloc;

    /// What is resident is the whole process's: one test at a time.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    fn resident_mib() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() / 256
    }

    /// By mimalloc alone it stays: the thread that freed it does nothing more.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_an_idle_thread_has_freed_is_given_back_by_another() {
        let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = resident_mib();
        let (freed, is_freed) = channel();
        let (end, ended) = channel::<()>();
        let idle = std::thread::spawn(move || {
            let mut many: Vec<Box<[u8]>> = (0..200_000).map(|n| vec![1; 200 + n % 300].into()).collect();
            let full = resident_mib();
            while many.pop().is_some() {}
            drop(many);
            freed.send((full, resident_mib())).unwrap();
            let _ = ended.recv();
        });
        let (full, left) = is_freed.recv().unwrap();
        assert!(full > before + 60 && left > before + 60, "{before}, {full}, {left} MiB");
        std::thread::spawn(give_back).join().unwrap();
        let after = resident_mib();
        assert!(after < before + 20, "{before} MiB before, {full} with all, {left} when it was freed, {after} after");
        drop(end);
        idle.join().unwrap();
    }

    /// A page of each size stays with the thread otherwise.
    #[test]
    #[cfg(target_os = "linux")]
    fn large_pages_of_a_thread_that_goes_on_are_given_back() {
        let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (freed, is_freed) = channel();
        let (retired, is_retired) = channel::<()>();
        let (next, turn) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let sizes = [64, 80, 96, 112, 128, 160, 192, 224].map(|kib| kib << 10);
            drop(std::hint::black_box(sizes.map(|size| vec![vec![1_u8; size]; (3 << 20) / size])));
            freed.send(()).unwrap();
            turn.recv().unwrap();
            (0..16).for_each(|_| retire());
            retired.send(()).unwrap();
            let _ = turn.recv();
        });
        is_freed.recv().unwrap();
        std::thread::spawn(give_back).join().unwrap();
        let kept = resident_mib();
        next.send(()).unwrap();
        is_retired.recv().unwrap();
        std::thread::spawn(give_back).join().unwrap();
        let left = resident_mib();
        assert!(left + 16 < kept, "{kept} MiB with a page of each size, {left} without");
        drop(next);
        thread.join().unwrap();
    }
}
