//! What tells a long-running command to go on or to end: signals, and lines of standard input.

use crate::failure::Failure;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use traffic::stop::Stop;

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
        let stop = Stop::install().map_err(|e| Failure::Failed(format!("cannot listen for signals: {e}")))?;
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
