//! What does a reason mean, for which a packet or message was dropped? As docs/reasons.md says: its tables are read, so that there is one text.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use utoipa::ToSchema;

/// Who gives a reason. The same name may be given by two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The program, for a packet that it gives to the control plane.
    Punt,
    /// The program, for a packet that it drops.
    Program,
    /// The engine or a target.
    Engine,
    /// The control plane, for a punted packet that it drops.
    ControlPlane,
    /// The control plane, for a frame of its own that it cannot send.
    HostUnsent,
    /// N4, for a message that it drops.
    N4,
}

/// A reason and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// Who gives it.
    pub by: By,
    /// The reason, as counters have it.
    pub reason: String,
    /// What it means.
    pub meaning: String,
    /// What to do when it grows with users' traffic; may be empty.
    pub what_to_do: String,
}

/// Lines of the page from which on tables are of one that gives reasons.
const PARTS: [(&str, By); 6] = [
    ("Punts:", By::Punt),
    ("Drops:", By::Program),
    ("## Of engine", By::Engine),
    ("## Refused by the control plane", By::ControlPlane),
    ("Frames of its own", By::HostUnsent),
    ("## N4 messages", By::N4),
];

/// All reasons.
pub fn all() -> &'static [Explained] {
    static ALL: LazyLock<Vec<Explained>> = LazyLock::new(|| read(include_str!("../../../../../docs/reasons.md")));
    &ALL
}

/// The rows of the tables: names in backquotes, meaning, and what to do if there is a third column.
fn read(page: &str) -> Vec<Explained> {
    let mut by = None;
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some((_, of)) = PARTS.iter().find(|(begin, _)| line.starts_with(begin)) {
            by = Some(*of);
        }
        let (Some(by), Some(cells)) = (by, line.strip_prefix("| `")) else { continue };
        let mut cells = cells.trim_end_matches(" |").split(" | ").map(|cell| cell.replace('`', "").trim_end_matches('|').trim().to_owned());
        let names = cells.next().unwrap_or_default();
        let (meaning, what_to_do) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        found.extend(names.split(", ").map(|reason| Explained {
            by,
            reason: reason.to_owned(),
            meaning: meaning.clone(),
            what_to_do: what_to_do.clone(),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_page_is_read() {
        let rows = include_str!("../../../../../docs/reasons.md").lines().filter(|line| line.starts_with("| `"));
        let names: usize = rows.map(|row| row.split(" | ").next().unwrap().matches('`').count() / 2).sum();
        assert!(names > 100 && all().len() == names, "{names} {}", all().len());
        for of in all() {
            assert!(
                !of.meaning.is_empty() && of.reason.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
                "{of:?}"
            );
        }
        for (_, by) in PARTS {
            assert!(all().iter().any(|of| of.by == by), "{by:?}");
        }
        let of = |by, reason: &str| all().iter().find(|of| of.by == by && of.reason == reason).unwrap();
        assert_eq!(of(By::Program, "no_route").what_to_do, "[[route]]");
        assert_eq!(of(By::Engine, "parser_reject").what_to_do, "");
        assert!(of(By::ControlPlane, "unknown_teid").meaning.starts_with("a G-PDU"));
    }
}
