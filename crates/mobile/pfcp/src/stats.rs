//! A node's counters, and its log rate limit.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::codec::{Cause, DecodeError};

/// Counters of a node since it began; they only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams given to [`poll_transmit`](crate::node::Node::poll_transmit).
    pub sent: u64,
    /// Datagrams and messages dropped, by reason.
    pub dropped: BTreeMap<Drop, u64>,
    /// Requests rejected, by cause.
    pub rejected: BTreeMap<Cause, u64>,
    /// Of these the requests about an association or session that their sender does not speak for.
    pub foreign: u64,
    /// Retransmitted requests answered from memory.
    pub repeated_answers: u64,
    /// Requests of ours sent again.
    pub resent_requests: u64,
    /// Requests of ours given up.
    pub unanswered_requests: u64,
    /// Sessions established.
    pub established: u64,
    /// Sessions modified.
    pub modified: u64,
    /// Sessions that ended, for whatever reason.
    pub ended: u64,
    /// Associations lost to silence.
    pub lost_associations: u64,
    /// Peers that restarted.
    pub restarted_peers: u64,
    /// Downlink data reports begun.
    pub downlink_data_reports: u64,
    /// Usage reports, in whatever message.
    pub usage_reports: u64,
    /// Usage reports whose request was never answered: their usage is lost to the CP function.
    pub lost_usage_reports: u64,
    /// User plane inactivity reports begun.
    pub inactivity_reports: u64,
    /// Error indication reports begun.
    pub error_indication_reports: u64,
    /// Commits that the user plane refused though no request could be rejected for it (quota, release); they are tried again.
    pub commit_failures: u64,
    /// Elements in requests that are not of release 17, or vendors': skipped (§7.6.6).
    pub unknown_elements: u64,
    /// Log lines left out because there were too many.
    pub suppressed_logs: u64,
}

/// Why a datagram or message was dropped without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Drop {
    /// Shorter than a header.
    TooShort,
    /// The length in the header is wrong.
    Length,
    /// Another version, and nothing to be answered.
    Version,
    /// A message type that is not known.
    UnknownType,
    /// A response to no request of ours.
    UnmatchedResponse,
    /// A response without a readable cause or time stamp.
    BadResponse,
    /// More messages in a datagram than are processed.
    Bundle,
    /// Too many requests of ours are without an answer.
    Outstanding,
    /// A message of ours would be too long.
    TooLong,
    /// From an address that is not among the allowed peers.
    Stranger,
    /// Its sender has sent more messages than it may.
    OverRate,
    /// An error indication for a tunnel that no session sends to.
    ErrorIndicationUnknown,
    /// An Error Indication that was already reported to the session's CP function.
    ErrorIndicationRepeated,
    /// More error indications than are reported.
    ErrorIndicationOverRate,
}

impl Drop {
    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Drop::TooShort => "too_short",
            Drop::Length => "length",
            Drop::Version => "version",
            Drop::UnknownType => "unknown_type",
            Drop::UnmatchedResponse => "unmatched_response",
            Drop::BadResponse => "bad_response",
            Drop::Bundle => "bundle",
            Drop::Outstanding => "outstanding",
            Drop::TooLong => "too_long",
            Drop::Stranger => "stranger",
            Drop::OverRate => "over_rate",
            Drop::ErrorIndicationUnknown => "error_indication_unknown",
            Drop::ErrorIndicationRepeated => "error_indication_repeated",
            Drop::ErrorIndicationOverRate => "error_indication_over_rate",
        }
    }
}

impl From<DecodeError> for Drop {
    fn from(error: DecodeError) -> Drop {
        match error {
            DecodeError::TooShort(_) => Drop::TooShort,
            DecodeError::Length { .. } => Drop::Length,
            DecodeError::Version { .. } => Drop::Version,
        }
    }
}

impl Stats {
    pub(crate) fn drop(&mut self, reason: Drop) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    pub(crate) fn reject(&mut self, cause: Cause) {
        *self.rejected.entry(cause).or_default() += 1;
    }
}

/// Lets through so many log lines a second that a flood of bad messages does not fill the disk.
pub(crate) struct LogLimit {
    second: u64,
    lines: u32,
    most: u32,
}

impl LogLimit {
    /// At most so many lines a second.
    pub(crate) fn new(most: u32) -> LogLimit {
        LogLimit { second: 0, lines: 0, most }
    }

    /// Whether a line may be logged at `now`.
    pub(crate) fn allows(&mut self, now: Duration) -> bool {
        if now.as_secs() != self.second {
            *self = LogLimit { second: now.as_secs(), ..LogLimit::new(self.most) };
        }
        self.lines += u32::from(self.lines <= self.most);
        self.lines <= self.most
    }
}
