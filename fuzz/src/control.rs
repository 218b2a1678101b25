//! What operators' programs send, by the control socket and by HTTP: any bytes are read, and then mean the same when written out again, or are refused in words
//! that are fit for a log.

use daemon::fuzzing::{control_line, http_bodies, http_head, placement, session_query, uri_query};

/// What a token may be: docs/configuration.md.
const TOKEN: &[u8] = b"0123456789abcdef";
const CONFIGURATION: &str = include_str!("../../docs/split.example.toml");

/// Reads `data` as a request and as an answer, of the UPF and of the switch, as a query of sessions, as bodies of the HTTP server and as headers.
pub fn run(data: &[u8]) {
    let _ = session_query(data);
    let _ = std::str::from_utf8(data).map(uri_query);
    for (way, read) in control_line(data).into_iter().enumerate() {
        match read {
            Ok(written) => assert_eq!(control_line(&written)[way], Ok(written.clone()), "{:?}", String::from_utf8_lossy(&written)),
            Err(why) => is_fit(&why, 250),
        }
    }
    http_bodies(data).into_iter().filter_map(Result::err).for_each(|why| is_fit(&why, 250));
    // The place of a fault in a file is several lines.
    if let Err(why) = placement(data, CONFIGURATION) {
        assert!(!why.is_empty() && why.chars().count() < 2000, "{why:?}");
    }
    let (host, authorization) = data.split_at(data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len()));
    let authorization = authorization.strip_prefix(b"\n").unwrap_or_default();
    let (is_local, has_token) = http_head(host, authorization, TOKEN);
    // Nothing else is the token; and no name that somebody else may give an address is local.
    assert_eq!(has_token, authorization.strip_prefix(b"Bearer ") == Some(TOKEN), "{authorization:?}");
    if is_local {
        let name = String::from_utf8_lossy(host).to_ascii_lowercase();
        let is_address = name.contains(['.', ':']) && name.chars().all(|c| c.is_ascii_hexdigit() || ".:[]%".contains(c));
        assert!(name.split(':').next() == Some("localhost") || is_address, "{name:?}");
    }
}

fn is_fit(why: &str, most: usize) {
    assert!(!why.is_empty() && why.chars().count() < most && !why.contains(char::is_control), "{why:?} is not fit for a log");
}
