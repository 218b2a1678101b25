//! Is a bad program refused for the right reason? Compares the lines of our errors with another compiler's.

use std::path::Path;

/// As many lines apart two places may be: one compiler blames a statement's start, the other a word inside it.
const NEAR_LINES: usize = 2;

/// Whether an error of ours lies near one in `file`, which holds another compiler's messages about `program`. `None` if there
/// is no such file or its errors have no places in the program.
pub(super) fn same_place(failure: &p4_check::Failure, program: &Path, file: &Path) -> Option<bool> {
    let text = std::fs::read(file).ok()?;
    let name = program.file_name()?.to_string_lossy();
    let theirs = lines_of(&String::from_utf8_lossy(&text), &name);
    if theirs.is_empty() {
        return None;
    }
    let ours = failure.diagnostics.iter().filter(|d| d.is_error());
    let mut ours = ours.filter_map(|d| line_of(&failure.map.location(d.span), &name));
    Some(ours.any(|line| theirs.iter().any(|t| line.abs_diff(*t) <= NEAR_LINES)))
}

/// Lines of `name` that messages `name(LINE): [...] error: ...` or `name(LINE):syntax error, ...` blame.
fn lines_of(text: &str, name: &str) -> Vec<usize> {
    let blamed = |line: &str| {
        let (at, what) = line.strip_prefix(name)?.strip_prefix('(')?.split_once("):")?;
        if what.contains("error") { at.parse().ok() } else { None }
    };
    text.lines().filter_map(blamed).collect()
}

/// The line of a location `path:line:column` in a file of that name.
fn line_of(location: &str, name: &str) -> Option<usize> {
    let mut parts = location.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    (path.rsplit('/').next()? == name).then(|| line.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = "x.p4(7): [--Werror=duplicate] error: y: twice\n        y\n        ^\nx.p4(3)\n  y\n\
        x.p4(9): [--Wwarn=unused] warning: unused\nz.p4(2): error: other\nx.p4(12):syntax error, unexpected {\n";

    #[test]
    fn only_errors_in_the_program_count() {
        assert_eq!(lines_of(THEIRS, "x.p4"), [7, 12]);
        assert_eq!(line_of("/a/b:c/x.p4:31:4", "x.p4"), Some(31));
        assert_eq!(line_of("/a/yx.p4:31:4", "x.p4"), None);
    }

    #[test]
    fn two_lines_apart_are_the_same_place_and_three_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.p4-stderr");
        let failure = p4_check::check_str("x.p4", "const bit<8> a = 1;\nconst bit<8> b = nothing;\n", &Default::default()).unwrap_err();
        let with = |text: &str| {
            std::fs::write(&file, text).unwrap();
            same_place(&failure, Path::new("some/x.p4"), &file)
        };
        assert_eq!(with("x.p4(4): error: e\n"), Some(true));
        assert_eq!(with("x.p4(5): error: e\n"), Some(false));
        assert_eq!(with("error: nowhere\n"), None);
        assert_eq!(same_place(&failure, Path::new("x.p4"), &folder.path().join("none")), None);
    }
}
