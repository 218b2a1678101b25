//! Where does a service run? As configurations write it: `lane`, `threads:2`, `process:/run/splitplane/cipher.sock`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Most threads of a service.
pub const MAX_THREADS: usize = 64;

/// Where a service runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// In each lane itself. What is kept for a key must then always come to one lane.
    #[default]
    Lane,
    /// On so many threads of its own, 1 to [`MAX_THREADS`].
    Threads(usize),
    /// In a second process that connects to the socket at this path.
    Process(PathBuf),
}

/// A text that is no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?}: expected `lane`, `threads:N` with N from 1 to 64, or `process:PATH` with an absolute path of at most 100 bytes")]
pub struct NotAPlace(String);

impl FromStr for Place {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<Place, NotAPlace> {
        let place = match text.split_once(':') {
            None if text == "lane" => Some(Place::Lane),
            Some(("threads", n)) => n.parse().ok().filter(|n| (1..=MAX_THREADS).contains(n)).map(Place::Threads),
            // A socket's path has 107 bytes at most (unix(7)).
            Some(("process", path)) if path.starts_with('/') && path.len() <= 100 => Some(Place::Process(path.into())),
            _ => None,
        };
        place.ok_or_else(|| NotAPlace(text.chars().take(100).collect()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Lane => f.write_str("lane"),
            Place::Threads(n) => write!(f, "threads:{n}"),
            Place::Process(path) => write!(f, "process:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written_and_nothing_else_is() {
        for text in ["lane", "threads:1", "threads:64", "process:/run/a.sock"] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        let long = format!("process:/{}", "a".repeat(100));
        for text in ["", "Lane", "threads", "threads:0", "threads:65", "threads:-1", "process:", "process:a.sock", &long] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
