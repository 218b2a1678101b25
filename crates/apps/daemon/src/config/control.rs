//! `[control]`: where the running UPF is asked.

use serde::Deserialize;
use std::path::PathBuf;

/// `[control]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    /// The socket of `splitplane show`. Without it the usual path is tried: [`crate::manage::control::usual_path`].
    pub socket: Option<PathBuf>,
}
