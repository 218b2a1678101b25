//! Configurations of `splitplane run`, of both kinds, and files of keys: any text is read, or refused in one line that is fit for a log.

/// Reads `data` as each kind.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let refused = daemon::fuzzing::configurations(&text).into_iter().filter_map(Result::err);
    for line in refused.chain(daemon::fuzzing::keys(data).err()) {
        assert!(!line.is_empty() && line.chars().count() < 700 && !line.contains(char::is_control), "{line:?} is not fit for a log");
    }
}
