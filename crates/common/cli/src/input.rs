//! What controls a long-running command: signals, and lines of standard input.

use crate::failure::Failure;
use crate::stop::{Other, Stop};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Signals, and standard input where it is listened to.
pub struct Input {
    stop: Stop,
    lines: Option<Receiver<String>>,
}

/// What came.
pub enum Next {
    /// A line of input.
    Line(String),
    /// SIGINT, SIGTERM, or the end of input.
    End,
    /// Nothing within the time.
    Nothing,
}

impl Input {
    /// Listens from now on; to standard input only if asked. To be called before other threads are started.
    pub fn listen(to_standard_input: bool) -> Result<Input, Failure> {
        Input::with(Stop::install(), to_standard_input)
    }

    /// As [`Input::listen`], for what must not end by SIGHUP, SIGUSR1 or SIGUSR2: see [`Input::other`].
    pub fn listen_as_daemon(to_standard_input: bool) -> Result<Input, Failure> {
        Input::with(Stop::install_for_daemon(), to_standard_input)
    }

    fn with(stop: std::io::Result<Stop>, to_standard_input: bool) -> Result<Input, Failure> {
        let stop = stop.map_err(|e| Failure::Failed(format!("cannot listen for signals: {e}")))?;
        let lines = to_standard_input.then(|| {
            let (sender, lines) = channel();
            std::thread::spawn(move || {
                for line in std::io::stdin().lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
            lines
        });
        Ok(Input { stop, lines })
    }

    /// The next of the signals that do not end a daemon, if one has come.
    pub fn other(&self) -> Option<Other> {
        self.stop.other()
    }

    /// Waits at most so long.
    pub fn next(&self, timeout: Duration) -> Next {
        let Some(lines) = &self.lines else {
            return if self.stop.wait(timeout) { Next::End } else { Next::Nothing };
        };
        if self.stop.requested() {
            return Next::End;
        }
        match lines.recv_timeout(timeout) {
            Ok(line) => Next::Line(line),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}
