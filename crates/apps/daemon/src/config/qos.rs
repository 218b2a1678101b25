//! `[qos]`: rate limits.

use super::{Fault, Split};
use serde::Deserialize;
use upf::config::Policing;

/// `[qos]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Qos {
    /// What becomes of packets over an MBR; default: they are dropped.
    pub mode: Option<QosMode>,
    /// Burst of a rate in milliseconds of it: an MBR's, and that of a traffic class without `burst_bytes`.
    pub burst_ms: Option<u32>,
    /// How long a packet may wait for its rate, in milliseconds.
    pub queue_ms: Option<u32>,
}

/// `qos.mode`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum QosMode {
    /// They wait until the rate lets them pass.
    Shape,
    /// They are dropped.
    Police,
}

/// Of a rate whose packets wait: what a worker may sleep, and no more than a path behind must hold.
const SHAPED_BURST_MS: u32 = 5;
const QUEUE_MS: u32 = 100;
/// Times beyond the wheel's horizon cost a second look.
const MAX_QUEUE_MS: u32 = 1000;
/// Packets that wait for their rates in one worker: 128 MiB of them.
const SHAPED_PACKETS: u32 = 1 << 16;

impl Qos {
    /// Whether packets over an MBR wait.
    pub fn shapes(&self, split: &Split) -> bool {
        self.mode == Some(QosMode::Shape) && split.fast.is_none()
    }

    /// Names that the program is compiled with.
    pub fn defines(&self, split: &Split) -> Vec<(String, String)> {
        if self.shapes(split) { vec![("SHAPE".into(), "1".into())] } else { Vec::new() }
    }

    /// As the user plane takes it.
    pub fn policing(&self, split: &Split) -> Policing {
        let usual = if self.shapes(split) { SHAPED_BURST_MS } else { Policing::default().burst_ms };
        Policing { burst_ms: self.burst_ms.unwrap_or(usual) }
    }

    /// Of traffic classes, whose packets do not wait.
    pub fn class_policing(&self) -> Policing {
        Policing { burst_ms: self.burst_ms.unwrap_or(Policing::default().burst_ms) }
    }

    /// How much may wait in one worker, in so many cells; `None`: nothing waits.
    pub fn limits(&self, split: &Split, cells: u64) -> Option<shaper::Limits> {
        let delay_ns = u64::from(self.queue_ms.unwrap_or(QUEUE_MS)) * 1_000_000;
        let nodes = u32::try_from(cells).unwrap_or(u32::MAX);
        self.shapes(split).then(|| shaper::Limits { nodes, packets: SHAPED_PACKETS, delay_ns, law: shaper::codel::Law::default() })
    }

    pub(super) fn validate(&self, split: &Split) -> Result<(), Fault> {
        if self.burst_ms.is_some_and(|ms| !(1..=Policing::MAX_BURST_MS).contains(&ms)) {
            return Err(Fault::new("qos.burst_ms", format!("expected 1 to {} milliseconds", Policing::MAX_BURST_MS)));
        }
        if self.mode == Some(QosMode::Shape) && split.fast.is_some() {
            return Err(Fault::new("qos.mode", "cannot be combined with split.fast: its packets do not wait yet"));
        }
        let Some(queue_ms) = self.queue_ms else { return Ok(()) };
        if !self.shapes(split) {
            return Err(Fault::new("qos.queue_ms", "expected only with mode \"shape\": policing keeps no packets"));
        }
        if !(1..=MAX_QUEUE_MS).contains(&queue_ms) {
            return Err(Fault::new("qos.queue_ms", format!("expected 1 to {MAX_QUEUE_MS} milliseconds")));
        }
        Ok(())
    }
}
