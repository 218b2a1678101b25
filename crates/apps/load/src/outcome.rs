//! What came of a trial? Counts of each direction, latencies, and what was lost before the device or behind it.

use crate::Direction;
use hdrhistogram::Histogram;
use pktio::DeviceDrops;
use serde::Serialize;
use std::fmt;

/// Latencies in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// Half of the packets take less.
    pub p50_us: f64,
    /// Mean of all.
    pub mean_us: f64,
    /// 9 of 10.
    pub p90_us: f64,
    /// 99 of 100.
    pub p99_us: f64,
    /// 999 of 1000.
    #[serde(rename = "p99.9_us")]
    pub p99_9_us: f64,
    /// The longest.
    pub max_us: f64,
    /// Packets that were timed.
    pub packets: u64,
}

impl Latency {
    /// Of nanoseconds; `None` if nothing was timed.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Option<Latency> {
        let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1e3;
        (!histogram.is_empty()).then(|| Latency {
            p50_us: at(0.5),
            mean_us: histogram.mean() / 1e3,
            p90_us: at(0.9),
            p99_us: at(0.99),
            p99_9_us: at(0.999),
            max_us: histogram.max() as f64 / 1e3,
            packets: histogram.len(),
        })
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Latency { p50_us, mean_us: _, p90_us, p99_us, p99_9_us, max_us, packets } = self;
        write!(f, "p50 {p50_us:.1}  p90 {p90_us:.1}  p99 {p99_us:.1}  p99.9 {p99_9_us:.1}  max {max_us:.1} us  ({packets} packets)")
    }
}

/// One direction of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Flow {
    /// Which.
    pub direction: Direction,
    /// Packets a second that were asked for; `None`: as many as go.
    pub asked_pps: Option<f64>,
    /// Packets that the port took.
    pub sent: u64,
    /// Different packets that arrived as they should.
    pub received: u64,
    /// The rest.
    pub lost: u64,
    /// Packets that arrived once more.
    pub duplicates: u64,
    /// Packets that arrived after one that was sent later.
    pub reordered: u64,
    /// Packets that arrived a million others late: they are among the lost.
    pub too_late: u64,
    /// Packets that arrived with another session's address or TEID, or on the side where they were sent: they are among the lost.
    pub misdelivered: u64,
    /// Packets a second that were sent.
    pub sent_pps: f64,
    /// Packets a second that arrived.
    pub received_pps: f64,
    /// Mbit/s that arrived, in frames of the core side with their check sequence.
    pub received_mbps: f64,
    /// From when a packet was due until it arrived.
    pub latency: Option<Latency>,
    /// Replies to this direction's packets.
    pub replies: Option<Replies>,
}

/// What the sink mirrored.
#[derive(Clone, Debug, Serialize)]
pub struct Replies {
    /// Replies that its port took.
    pub sent: u64,
    /// Replies that came back.
    pub received: u64,
    /// Replies for which the sink's port had no room.
    pub not_sent: u64,
    /// From when a packet was due until its reply was back.
    pub rtt: Option<Latency>,
}

/// Frames that our own ports dropped or refused: the tester's loss, not the device's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnDrops {
    /// A receive ring was full.
    pub rx_full: u64,
    /// Received, and longer than a buffer.
    pub rx_invalid: u64,
    /// Refused when sent.
    pub tx_invalid: u64,
}

impl OwnDrops {
    /// What came since.
    pub(crate) fn since(now: DeviceDrops, before: DeviceDrops) -> OwnDrops {
        OwnDrops {
            rx_full: now.rx_full.saturating_sub(before.rx_full),
            rx_invalid: now.rx_invalid.saturating_sub(before.rx_invalid),
            tx_invalid: now.tx_invalid.saturating_sub(before.tx_invalid),
        }
    }

    /// All of them.
    pub fn sum(self) -> u64 {
        self.rx_full + self.rx_invalid + self.tx_invalid
    }
}

/// A trial.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// Length in seconds.
    pub seconds: f64,
    /// Sizes of frames: a number of bytes, or `imix`.
    pub frame_bytes: String,
    /// Those that were asked for, up first.
    pub flows: Vec<Flow>,
    /// GTP-U Error Indications: the device does not know a tunnel.
    pub error_indications: u64,
    /// Frames that were none of ours.
    pub foreign: u64,
    /// On the access side and on the core side.
    pub own_drops: [OwnDrops; 2],
}

/// The tester has kept to a rate if it has sent so much of it.
const KEPT: f64 = 0.99;

impl Trial {
    /// Packets sent, in both directions.
    pub fn sent(&self) -> u64 {
        self.flows.iter().map(|flow| flow.sent).sum()
    }

    /// Packets a second that were sent, in both directions.
    pub fn sent_pps(&self) -> f64 {
        self.flows.iter().map(|flow| flow.sent_pps).sum()
    }

    /// Share of the packets that were lost, 0 to 1; 1 if none was sent.
    pub fn loss(&self) -> f64 {
        match self.sent() {
            0 => 1.0,
            sent => self.flows.iter().map(|flow| flow.lost).sum::<u64>() as f64 / sent as f64,
        }
    }

    /// Packets that went astray.
    pub fn misdelivered(&self) -> u64 {
        self.flows.iter().map(|flow| flow.misdelivered).sum()
    }

    /// Whether the tester has sent less than it was asked for.
    pub fn is_limited(&self) -> bool {
        self.flows.iter().any(|flow| flow.asked_pps.is_some_and(|asked| flow.sent_pps < asked * KEPT))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:.1} s, frames of {} bytes", self.seconds, self.frame_bytes)?;
        for flow in &self.flows {
            let loss = if flow.sent == 0 { 0.0 } else { flow.lost as f64 / flow.sent as f64 * 100.0 };
            writeln!(
                f,
                "  {:<4} sent {:>12} ({:.4} Mpps)  received {:>12} ({:.4} Mpps, {:.1} Mbit/s)  lost {} ({loss:.4} %)",
                flow.direction.name(),
                flow.sent,
                flow.sent_pps / 1e6,
                flow.received,
                flow.received_pps / 1e6,
                flow.received_mbps,
                flow.lost
            )?;
            let odd = [
                ("duplicates", flow.duplicates),
                ("reordered", flow.reordered),
                ("too late", flow.too_late),
                ("misdelivered", flow.misdelivered),
            ];
            let odd: Vec<String> = odd.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what} {count}")).collect();
            if !odd.is_empty() {
                writeln!(f, "       {}", odd.join("  "))?;
            }
            if let Some(latency) = &flow.latency {
                writeln!(f, "       latency  {latency}")?;
            }
            if let Some(replies) = &flow.replies {
                let lost = replies.sent.saturating_sub(replies.received);
                write!(f, "       replies  sent {}  lost {lost}", replies.sent)?;
                if replies.not_sent > 0 {
                    write!(f, "  not sent, the sink's port was full: {}", replies.not_sent)?;
                }
                writeln!(f)?;
                if let Some(rtt) = &replies.rtt {
                    writeln!(f, "       RTT      {rtt}")?;
                }
            }
        }
        if self.is_limited() {
            writeln!(f, "  the tester has sent less than it was asked for: the figures are those of the rate that it reached")?;
        }
        if self.error_indications > 0 {
            writeln!(f, "  {} GTP-U error indications: the device does not know the tunnels", self.error_indications)?;
        }
        for (side, drops) in ["access", "core"].iter().zip(self.own_drops) {
            if drops.sum() > 0 {
                writeln!(
                    f,
                    "  dropped by the tester's own {side} port, counted as lost: {} with its ring full, {} too long, {} refused",
                    drops.rx_full, drops.rx_invalid, drops.tx_invalid
                )?;
            }
        }
        Ok(())
    }
}
