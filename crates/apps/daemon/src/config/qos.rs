//! `[qos]`: rate limits.

use super::Fault;
use serde::Deserialize;
use upf::config::Policing;

/// `[qos]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Qos {
    /// Burst of a rate in milliseconds of it: an MBR's, and that of a traffic class without `burst_bytes`.
    pub burst_ms: u32,
}

impl Default for Qos {
    fn default() -> Qos {
        Qos { burst_ms: Policing::default().burst_ms }
    }
}

impl Qos {
    /// As the user plane takes it.
    pub fn policing(&self) -> Policing {
        Policing { burst_ms: self.burst_ms }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        if !(1..=Policing::MAX_BURST_MS).contains(&self.burst_ms) {
            return Err(Fault::new("qos.burst_ms", format!("expected 1 to {} milliseconds", Policing::MAX_BURST_MS)));
        }
        Ok(())
    }
}
