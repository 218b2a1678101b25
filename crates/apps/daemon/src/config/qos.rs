//! `[qos]`: rate limits.

use super::Fault;
use serde::Deserialize;
use shaper::codel::Law;
use upf::config::Policing;

/// `[qos]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Qos {
    /// What becomes of packets over an MBR; default: they wait, where they can.
    pub mode: Option<QosMode>,
    /// Burst of a rate in milliseconds of it: an MBR's, and that of a traffic class without `burst_bytes`.
    pub burst_ms: Option<u32>,
    /// How long a packet may wait for its rate, in milliseconds.
    pub queue_ms: Option<u32>,
    /// Delay in milliseconds that CoDel lets a queue have for ever.
    pub target_ms: Option<u32>,
    /// Packets that may wait for their rates in one worker.
    pub packets: Option<u32>,
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
/// What users hardly notice. CUBIC, which goes down to 0.7 (RFC 9438 §4.6), keeps its rate with it up to a round trip time of 47 ms.
const QUEUE_MS: u32 = 20;
/// The upper end of what RFC 8289 §4.4 recommends for its interval of 100 ms.
const TARGET_MS: u32 = 10;
/// Times beyond the wheel's horizon cost a second look.
const MAX_QUEUE_MS: u32 = 1000;
/// Packets that wait for their rates in one worker: 512 MiB of them if all have 2 KiB. What 8 million a second are in 32 ms.
const SHAPED_PACKETS: u32 = 1 << 18;
/// 32 GiB of them.
const MAX_SHAPED_PACKETS: u32 = 1 << 24;

impl Qos {
    /// Decides what the file leaves open: packets wait. Only of a program of the operator's own it is not known whether it gives back what is over a rate.
    pub(super) fn decide(&mut self, own_program: bool) {
        self.mode.get_or_insert(if own_program { QosMode::Police } else { QosMode::Shape });
    }

    /// Whether packets over an MBR wait.
    pub fn shapes(&self) -> bool {
        self.mode == Some(QosMode::Shape)
    }

    /// Names that the program is compiled with.
    pub fn defines(&self) -> Vec<(String, String)> {
        if self.shapes() { vec![("SHAPE".into(), "1".into())] } else { Vec::new() }
    }

    /// As the user plane takes it.
    pub fn policing(&self) -> Policing {
        let usual = if self.shapes() { SHAPED_BURST_MS } else { Policing::default().burst_ms };
        Policing { burst_ms: self.burst_ms.unwrap_or(usual) }
    }

    /// Of traffic classes, whose packets do not wait.
    pub fn class_policing(&self) -> Policing {
        Policing { burst_ms: self.burst_ms.unwrap_or(Policing::default().burst_ms) }
    }

    /// How much may wait in one worker, in so many cells; `None`: nothing waits.
    pub fn limits(&self, cells: u64) -> Option<shaper::Limits> {
        let delay_ns = u64::from(self.queue_ms.unwrap_or(QUEUE_MS)) * 1_000_000;
        let nodes = u32::try_from(cells).unwrap_or(u32::MAX);
        let target_ns = u64::from(self.target_ms.unwrap_or(TARGET_MS)) * 1_000_000;
        let law = Law { target_ns, ..Law::default() };
        self.shapes().then_some(shaper::Limits { nodes, packets: self.packets.unwrap_or(SHAPED_PACKETS), delay_ns, law })
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        if self.burst_ms.is_some_and(|ms| !(1..=Policing::MAX_BURST_MS).contains(&ms)) {
            return Err(Fault::new("qos.burst_ms", format!("expected 1 to {} milliseconds", Policing::MAX_BURST_MS)));
        }
        let of_queues = [
            ("qos.queue_ms", self.queue_ms, MAX_QUEUE_MS, "milliseconds"),
            ("qos.target_ms", self.target_ms, MAX_QUEUE_MS, "milliseconds"),
            ("qos.packets", self.packets, MAX_SHAPED_PACKETS, "packets"),
        ];
        for (key, given, most, unit) in of_queues {
            let Some(number) = given else { continue };
            if !self.shapes() {
                let why = "expected only where packets wait: not with mode \"police\", which a program of your own has by default";
                return Err(Fault::new(key, why));
            }
            if !(1..=most).contains(&number) {
                return Err(Fault::new(key, format!("expected 1 to {most} {unit}")));
            }
        }
        Ok(())
    }
}
