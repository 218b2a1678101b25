//! Lines of the control socket, both ways: any bytes are read, and then mean the same when written out again, or are refused in words
//! that are fit for a log.

use daemon::fuzzing::{control_line, session_query, uri_query};

/// Reads `data` as a request and as an answer, of the UPF and of the switch, and as a query of sessions.
pub fn run(data: &[u8]) {
    let _ = session_query(data);
    let _ = std::str::from_utf8(data).map(uri_query);
    for (way, read) in control_line(data).into_iter().enumerate() {
        match read {
            Ok(written) => assert_eq!(control_line(&written)[way], Ok(written.clone()), "{:?}", String::from_utf8_lossy(&written)),
            Err(why) => {
                assert!(!why.is_empty() && why.chars().count() < 250 && !why.contains(char::is_control), "{why:?} is not fit for a log")
            }
        }
    }
}
