//! `[log]`: what is logged.

use super::Fault;
use cli::secrets::without_keys;
use serde::Deserialize;
use std::str::FromStr;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

/// `[log]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// As in `RUST_LOG`, which has precedence at the start: `info`, or `warn,pfcp=debug`. Default: `info`.
    pub filter: Option<String>,
}

/// Longest filter.
const MAX_FILTER: usize = 1000;

impl Log {
    /// The filter.
    pub fn filter(&self) -> &str {
        self.filter.as_deref().unwrap_or("info")
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        read_filter(self.filter()).map(drop).map_err(|what| Fault::new("log.filter", what))
    }
}

/// What is logged, as `RUST_LOG`, `log.filter` and `splitplane set log` say it.
///
/// # Errors
/// What is wrong with it, and what is expected.
pub fn read_filter(text: &str) -> Result<EnvFilter, String> {
    const EXPECTED: &str = "expected a level or a list of levels, such as \"info\" or \"warn,pfcp=debug\"";
    if text.trim().is_empty() || text.len() > MAX_FILTER {
        return Err(format!("{EXPECTED}, of 1 to {MAX_FILTER} characters"));
    }
    // A name alone would be a part of the program at its most verbose, and all else silent: a level with a typing error, most likely.
    let is_name = |part: &&str| !part.is_empty() && !part.contains(['=', '[', ']', '{', '}', '"']) && LevelFilter::from_str(part).is_err();
    if let Some(part) = text.split(',').map(str::trim).find(is_name) {
        return Err(format!("`{}` is no level; {EXPECTED}", shown(part)));
    }
    EnvFilter::try_new(text).map_err(|e| format!("{}; {EXPECTED}", shown(&e.to_string())))
}

fn shown(text: &str) -> String {
    without_keys(text).escape_debug().take(100).collect()
}
