//! What can stand behind a dot? A name that no program has is put there, and the checker says what would have been known.

use p4_check::{Member, Options};
use std::path::Path;

/// The name that no program has.
const UNKNOWN: &str = "splitplane_completes_here";

/// The members of what stands before the dot at `at`, a byte of the text; none if there is no dot, or the checker cannot tell.
pub(crate) fn members(path: &Path, text: &str, at: usize, options: &Options) -> Vec<Member> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].trim_end_matches(name);
    if !before.trim_end().ends_with('.') {
        return Vec::new();
    }
    let after = text[at..].trim_start_matches(name);
    // What is being typed is seldom a statement yet: it becomes one, in the ways in which it can.
    for end in ["", ";", " = 0;", ");", ") { }", " : exact;", ": "] {
        let tried = format!("{before}{UNKNOWN}{end}{after}");
        let analysis = p4_check::analyse(path, &tried, options);
        let here = analysis.index.unknown.into_iter().find(|u| analysis.map.text(u.span) == UNKNOWN);
        if let Some(unknown) = here {
            return unknown.members;
        }
    }
    Vec::new()
}
