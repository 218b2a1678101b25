//! SIGINT and SIGTERM as a value to poll or wait for, not as a handler.
//!
//! A daemon also handles SIGHUP, SIGUSR1 and SIGUSR2, which would end it otherwise: [`Stop::install_for_daemon`].

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

/// Waits for SIGINT or SIGTERM.
pub struct Stop {
    signal: Receiver<Signal>,
    others: Receiver<Signal>,
    came: std::cell::Cell<Option<Signal>>,
}

/// Signals to a daemon other than to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// SIGHUP: the terminal has gone, or a configuration has changed.
    HangUp,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
}

const ENDING: [Signal; 2] = [Signal::SIGINT, Signal::SIGTERM];
const OTHERS: [Signal; 3] = [Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// Keeps SIGHUP, SIGUSR1 and SIGUSR2 for [`Stop::install_for_daemon`], while SIGINT and SIGTERM still end the process at once: for a start that
/// takes its time. To be called before other threads are started.
///
/// # Errors
/// If the system refuses the mask.
pub fn hold_others() -> std::io::Result<()> {
    Ok(OTHERS.into_iter().collect::<SigSet>().thread_block()?)
}

impl Stop {
    /// Takes the two signals from now on. To be called before other threads are started: they inherit that the signals are
    /// left to us.
    ///
    /// # Errors
    /// If the system refuses a thread or the mask.
    pub fn install() -> std::io::Result<Stop> {
        Stop::take(ENDING.into_iter().collect())
    }

    /// As [`Stop::install`], and takes those of [`Other`]: see [`Stop::other`].
    ///
    /// # Errors
    /// As there.
    pub fn install_for_daemon() -> std::io::Result<Stop> {
        Stop::take(ENDING.into_iter().chain(OTHERS).collect())
    }

    fn take(signals: SigSet) -> std::io::Result<Stop> {
        signals.thread_block()?;
        let (tell, signal) = channel();
        let (tell_other, others) = channel();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = signals.wait() {
                if OTHERS.contains(&signal) {
                    let _ = tell_other.send(signal);
                } else if tell.send(signal).is_err() {
                    // Nobody waits any more: the second signal ends the process as usual.
                    let _ = signals.thread_unblock();
                    let _ = nix::sys::signal::raise(signal);
                }
            }
        })?;
        Ok(Stop { signal, others, came: None.into() })
    }

    /// Whether a signal has come.
    pub fn requested(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// The next of the signals that do not end us, if one has come.
    pub fn other(&self) -> Option<Other> {
        Some(match self.others.try_recv().ok()? {
            Signal::SIGHUP => Other::HangUp,
            Signal::SIGUSR1 => Other::User1,
            _ => Other::User2,
        })
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
