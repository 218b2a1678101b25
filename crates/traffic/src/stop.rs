//! When has the user asked us to end: SIGINT and SIGTERM as a value that is asked or waited for, not as a handler.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

/// Waits for SIGINT or SIGTERM.
pub struct Stop {
    signal: Receiver<Signal>,
    came: std::cell::Cell<Option<Signal>>,
}

impl Stop {
    /// Takes the two signals from now on. To be called before other threads are started: they inherit that the signals are
    /// left to us.
    ///
    /// # Errors
    /// If the system refuses a thread or the mask.
    pub fn install() -> std::io::Result<Stop> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
        signals.thread_block()?;
        let (tell, signal) = channel();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = signals.wait() {
                if tell.send(signal).is_err() {
                    // Nobody waits any more: the second signal ends the process as usual.
                    let _ = signals.thread_unblock();
                    let _ = nix::sys::signal::raise(signal);
                }
            }
        })?;
        Ok(Stop { signal, came: None.into() })
    }

    /// Whether a signal has come.
    pub fn requested(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits for a signal at most so long; whether one has come.
    pub fn wait(&self, timeout: Duration) -> bool {
        if self.came.get().is_none() {
            match self.signal.recv_timeout(timeout) {
                Ok(signal) => self.came.set(Some(signal)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        self.came.get().is_some()
    }
}
