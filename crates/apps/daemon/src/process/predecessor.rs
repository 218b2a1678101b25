//! What of the daemon before is still there? One that was killed is gone for its supervisor before the kernel has closed what it had: to take XDP off its links alone
//! takes seconds.

use std::time::{Duration, Instant};

/// How long a start waits for what the daemon before had. Another one that runs has it for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// From one look to the next.
const LOOK: Duration = Duration::from_millis(10);

/// Tries to have something, again as long as it is `taken`, and logs that it waits.
///
/// # Errors
/// That of the last attempt.
pub(crate) fn wait_for<T, E>(what: &str, attempt: impl FnMut() -> Result<T, E>, taken: impl Fn(&E) -> bool) -> Result<T, E> {
    wait_at_most(PATIENCE, what, attempt, taken)
}

fn wait_at_most<T, E>(
    patience: Duration,
    what: &str,
    mut attempt: impl FnMut() -> Result<T, E>,
    taken: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let end = Instant::now() + patience;
    let mut told = false;
    loop {
        match attempt() {
            Err(why) if taken(&why) && Instant::now() < end => {
                if !std::mem::replace(&mut told, true) {
                    tracing::info!("{what} is in use: waits at most {} s for the daemon before to be gone", patience.as_secs());
                }
                std::thread::sleep(LOOK);
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::UdpSocket;

    #[test]
    fn a_start_waits_for_the_socket_of_the_daemon_before() {
        let before = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = before.local_addr().unwrap();
        let mut before = Some(before);
        let mut attempts = 0;
        let attempt = || {
            attempts += 1;
            if attempts == 3 {
                before = None;
            }
            UdpSocket::bind(address)
        };
        let taken = |e: &std::io::Error| e.kind() == ErrorKind::AddrInUse;
        assert!(wait_at_most(Duration::from_secs(3600), "N4", attempt, taken).is_ok());
        assert!(attempts >= 3);
        // What is another fault is told at once, and what stays taken in the end.
        let nowhere = || UdpSocket::bind("192.0.2.1:0").map(drop);
        assert_eq!(wait_at_most(Duration::from_secs(3600), "N4", nowhere, taken).unwrap_err().kind(), ErrorKind::AddrNotAvailable);
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let bind = || UdpSocket::bind(other.local_addr().unwrap()).map(drop);
        assert_eq!(wait_at_most(3 * LOOK, "N4", bind, taken).unwrap_err().kind(), ErrorKind::AddrInUse);
    }
}
