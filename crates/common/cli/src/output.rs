//! Standard output and standard error without blocking or failing: the reader may be closed or slow, the disk full.
//!
//! Lines that cannot be written at once are lost and counted ([`lost`]). A pipe that is ready takes 4096 bytes without blocking (pipe(7)), so text
//! is written in pieces of that length, each after a poll.

use crate::failure::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a pipe or socket takes at once if it says that it is ready.
const PIECE: usize = 4096;

static LOST: AtomicU64 = AtomicU64::new(0);

/// Lines of log and live view that could not be written.
pub fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// A line to standard output; whether it was written.
pub fn line(text: impl std::fmt::Display) -> bool {
    let written = put(&mut std::io::stdout().lock(), format!("{text}\n").as_bytes());
    count(&written);
    written.is_ok()
}

/// Whether standard output has lost its reader. Consumes nothing.
pub fn is_gone() -> bool {
    let output = std::io::stdout();
    let mut look = [PollFd::new(&output, PollFlags::OUT)];
    poll(&mut look, Some(&Timespec::default())).is_ok() && look[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL)
}

/// A line to standard error.
pub fn error_line(text: impl std::fmt::Display) {
    count(&put(&mut std::io::stderr().lock(), format!("{text}\n").as_bytes()));
}

/// Standard error as the log's writer: each line is one write, which always succeeds.
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        count(&put(&mut std::io::stderr().lock(), bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Prints a command's output. That its reader has seen enough (`| head`) is no fault.
pub fn print_out(text: impl std::fmt::Display) -> std::result::Result<(), Failure> {
    match write!(std::io::stdout().lock(), "{text}") {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::Failed(format!("cannot print: {e}"))),
        _ => Ok(()),
    }
}

fn count(written: &Result<()>) {
    if written.is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// All of `bytes` or an error, without waiting. `to` is held, so that of our threads one writes at a time.
fn put(to: &mut (impl Write + AsFd), bytes: &[u8]) -> Result<()> {
    for piece in bytes.chunks(PIECE) {
        let ready = {
            let mut look = [PollFd::new(to, PollFlags::OUT)];
            poll(&mut look, Some(&Timespec::default()))?;
            look[0].revents()
        };
        // Of an error or a reader that is gone the write itself tells.
        if !ready.intersects(PollFlags::OUT | PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        to.write_all(piece)?;
        to.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_reader_that_is_asleep_or_gone_is_not_waited_for() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let line = [b'x'; 300];
        // Each line is taken or refused; a blocking write would hang here.
        let taken = (0..10_000).take_while(|_| put(&mut ours, &line).is_ok()).count();
        assert!(taken > 0 && taken < 10_000, "{taken}");
        assert_eq!(put(&mut ours, &line).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(theirs);
        assert_eq!(put(&mut ours, &line).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_full_disk_is_no_end() {
        let mut full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(put(&mut full, b"line").unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
