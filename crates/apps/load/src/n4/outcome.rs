//! What came of the requests? Counts of each kind, causes of refusals, latencies.

use super::plan::Kind;
use crate::Error;
use crate::outcome::Latency;
use hdrhistogram::Histogram;
use pfcp::codec::Cause;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use traffic::smf::cause_name;

/// The longest latency that is told apart, in nanoseconds.
const LONGEST_NS: u64 = 600_000_000_000;

/// Requests of one kind in one phase.
#[derive(Clone, Debug, Serialize)]
pub struct Requests {
    /// Which.
    pub kind: Kind,
    /// Different requests.
    pub sent: u64,
    /// Those that the UPF accepted.
    pub accepted: u64,
    /// Those that it refused, by cause (TS 29.244 table 8.2.1-1).
    pub refused: BTreeMap<String, u64>,
    /// Those that were not answered, however often they were sent.
    pub lost: u64,
    /// Times that a request was sent again.
    pub sent_again: u64,
    /// Requests accepted a second, over the time of the phase.
    pub accepted_per_s: f64,
    /// From when a request was due until its answer was there.
    pub latency: Option<Latency>,
}

/// Some requests, as fast or at the rate that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// Length in seconds, until the last answer.
    pub seconds: f64,
    /// Requests a second that were asked for; `None`: as many as go.
    pub asked_per_s: Option<f64>,
    /// Requests that were sent more than a millisecond after they were due: as many were in flight as may be, or the sender had no time.
    pub late: u64,
    /// By kind; kinds of which there were none are left out.
    pub requests: Vec<Requests>,
}

/// All of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// One after another.
    pub phases: Vec<Phase>,
    /// Requests of the UPF that were answered: heartbeats, reports.
    pub asked_of_us: u64,
    /// Datagrams that were no answer to a request in flight: answers that came again, or what is no PFCP.
    pub unexpected: u64,
}

/// What is counted of a kind while it runs.
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: BTreeMap<u8, u64>,
    pub(crate) lost: u64,
    pub(crate) sent_again: u64,
    latency: Histogram<u64>,
}

impl Tally {
    /// With latencies to three digits, as packets have.
    pub(crate) fn new() -> Result<Tally, Error> {
        let latency = Histogram::new_with_bounds(1, LONGEST_NS, 3).map_err(|e| Error::Failed(e.to_string()))?;
        Ok(Tally { sent: 0, accepted: 0, refused: BTreeMap::new(), lost: 0, sent_again: 0, latency })
    }

    pub(crate) fn answered(&mut self, cause: Cause, took_ns: u64) {
        self.latency.saturating_record(took_ns);
        match cause {
            Cause::REQUEST_ACCEPTED => self.accepted += 1,
            Cause(other) => *self.refused.entry(other).or_default() += 1,
        }
    }

    pub(crate) fn outcome(&self, kind: Kind, seconds: f64) -> Requests {
        Requests {
            kind,
            sent: self.sent,
            accepted: self.accepted,
            refused: self.refused.iter().map(|(cause, count)| (cause_name(Cause(*cause)), *count)).collect(),
            lost: self.lost,
            sent_again: self.sent_again,
            accepted_per_s: self.accepted as f64 / seconds.max(f64::MIN_POSITIVE),
            latency: Latency::of(&self.latency),
        }
    }
}

impl Outcome {
    /// Requests of a kind that were accepted, in all phases.
    pub fn accepted(&self, kind: Kind) -> u64 {
        self.phases
            .iter()
            .flat_map(|phase| &phase.requests)
            .filter(|requests| requests.kind == kind)
            .map(|requests| requests.accepted)
            .sum()
    }
}

impl Phase {
    /// The head of the table whose rows a phase prints.
    pub const HEAD: &str = "              sent    accepted/s   refused      lost     again   p50 us     p90     p99   p99.9       max";
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Requests { kind, sent, refused, lost, sent_again, accepted_per_s, latency, .. } in &self.requests {
            let all_refused: u64 = refused.values().sum();
            write!(f, "{:<9} {sent:>8} {accepted_per_s:>13.0} {all_refused:>9} {lost:>9} {sent_again:>9}", kind.name())?;
            if let Some(Latency { p50_us, p90_us, p99_us, p99_9_us, max_us, .. }) = latency {
                write!(f, " {p50_us:>8.0} {p90_us:>7.0} {p99_us:>7.0} {p99_9_us:>7.0} {max_us:>9.0}")?;
            }
            writeln!(f)?;
            refused.iter().try_for_each(|(cause, count)| writeln!(f, "          {count} refused: {cause}"))?;
        }
        match (self.asked_per_s, self.late) {
            (Some(asked), late) if late > 0 => {
                writeln!(f, "          {late} were sent late: the rate of {asked:.0} requests/s was not kept")
            }
            _ => Ok(()),
        }
    }
}
