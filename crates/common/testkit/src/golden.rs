//! Is a text still what the file beside the test says? If not, what differs, and how is the change accepted?

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use similar::TextDiff;

/// Environment variable that makes [`assert_golden`] write what it got instead of comparing.
pub const UPDATE: &str = "UPDATE";

/// Compares `actual` with the file at `path`, byte for byte.
///
/// `path` is relative to the crate's folder, where cargo runs tests. `UPDATE=1 cargo test` accepts: it writes the file,
/// and its folders, where it differs.
///
/// # Panics
/// If they differ, with the differing lines; if the file is missing or cannot be read or written.
#[track_caller]
pub fn assert_golden(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    let update = std::env::var_os(UPDATE).is_some_and(|value| value == "1");
    if let Err(complaint) = compare(path, actual, update) {
        panic!("{complaint}");
    }
}

fn compare(path: &Path, actual: &str, update: bool) -> Result<(), String> {
    let name = path.display();
    let expected = match fs::read_to_string(path) {
        Ok(expected) => expected,
        Err(e) if e.kind() == ErrorKind::NotFound && update => return write(path, actual),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(format!("{name} does not exist; {UPDATE}=1 makes it of:\n{actual}"));
        }
        Err(e) => return Err(format!("cannot read {name}: {e}")),
    };
    if expected == actual {
        return Ok(());
    }
    if update {
        return write(path, actual);
    }
    let diff = TextDiff::from_lines(expected.as_str(), actual);
    let lines = diff.unified_diff().context_radius(3).header(&format!("{name} (expected)"), "actual").to_string();
    Err(format!("{name} differs; {UPDATE}=1 accepts the change:\n{lines}"))
}

fn write(path: &Path, actual: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, actual)).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_and_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/golden.txt");

        let missing = compare(&path, "one\ntwo\n", false).unwrap_err();
        assert!(missing.contains("does not exist") && missing.contains("UPDATE=1") && missing.ends_with("one\ntwo\n"), "{missing}");
        compare(&path, "one\ntwo\n", true).unwrap();
        compare(&path, "one\ntwo\n", false).unwrap();

        let differs = compare(&path, "one\n2\n", false).unwrap_err();
        assert!(differs.contains(" one\n-two\n+2\n"), "{differs}");
        compare(&path, "one\n2\n", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n2\n");
    }

    #[test]
    fn a_missing_end_of_line_is_a_difference() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("golden.txt");
        fs::write(&path, "one\n").unwrap();
        let differs = compare(&path, "one", false).unwrap_err();
        assert!(differs.contains("-one\n+one\n\\ No newline at end of file"), "{differs}");
    }

    #[test]
    fn what_is_no_text_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("golden.txt");
        fs::write(&path, [0xff]).unwrap();
        assert!(compare(&path, "one", true).unwrap_err().starts_with("cannot read"));
        assert_eq!(fs::read(&path).unwrap(), [0xff]);
    }

    #[test]
    #[should_panic(expected = "does not exist")]
    fn the_assertion_panics() {
        assert_golden("no/such/file", "");
    }
}
