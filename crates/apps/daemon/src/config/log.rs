//! `[log]`: what is logged.

use super::Fault;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;

/// `[log]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// As in `RUST_LOG`, which has precedence at the start: `info`, or `warn,pfcp=debug`. Default: `info`.
    pub filter: Option<String>,
}

/// Longest filter.
pub const MAX_FILTER: usize = 1000;

impl Log {
    /// The filter.
    pub fn filter(&self) -> &str {
        self.filter.as_deref().unwrap_or("info")
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        let filter = self.filter();
        if filter.is_empty() || filter.len() > MAX_FILTER || EnvFilter::try_new(filter).is_err() {
            return Err(Fault::new("log.filter", "expected a level or a list of levels, such as \"info\" or \"warn,pfcp=debug\""));
        }
        Ok(())
    }
}
