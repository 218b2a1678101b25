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

/// Gives free pages of all threads back to the system. It takes some 0.1 ms for a MiB, during which other threads allocate and free as
/// usual. Where another allocator is the global one, nothing happens.
pub fn give_back() {
    // SAFETY: it may be called at any time from any thread. It looks at the calling thread's own heap and at free pages, of which it takes each
    // from all threads before it gives it back.
    unsafe { libmimalloc_sys::mi_collect(true) }
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
