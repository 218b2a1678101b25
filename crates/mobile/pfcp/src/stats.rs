//! A node's counters, and its log rate limit.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::codec::{Cause, DecodeError, MessageType};

/// Messages by type, and requests rejected by cause: of the node, or of a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages that were received and could be read; those of no known type are one.
    pub received: BTreeMap<MessageType, u64>,
    /// Messages sent, without repetitions.
    pub sent: BTreeMap<MessageType, u64>,
    /// Requests rejected.
    pub rejected: BTreeMap<Cause, u64>,
}

impl MessageCounts {
    pub(crate) fn receive(&mut self, kind: MessageType) {
        *self.received.entry(kind.known()).or_default() += 1;
    }

    pub(crate) fn send(&mut self, kind: MessageType) {
        *self.sent.entry(kind).or_default() += 1;
    }

    pub(crate) fn reject(&mut self, cause: Cause) {
        *self.rejected.entry(cause).or_default() += 1;
    }
}

/// Counters of a node since it began; they only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams given to [`poll_transmit`](crate::node::Node::poll_transmit).
    pub sent: u64,
    /// Datagrams and messages dropped, by reason.
    pub dropped: BTreeMap<Drop, u64>,
    /// Messages by type, and requests rejected by cause.
    pub messages: MessageCounts,
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
    /// Requests of ours that went to another address of their CP function, as the first did not answer or said so.
    pub failovers: u64,
    /// Peers that restarted.
    pub restarted_peers: u64,
    /// Downlink data reports begun.
    pub downlink_data_reports: u64,
    /// Usage reports, in whatever message.
    pub usage_reports: u64,
    /// Usage reports that no CP function has taken: their usage is lost to it.
    pub lost_usage_reports: u64,
    /// Why.
    pub lost_usage: BTreeMap<LostUsage, u64>,
    /// User plane inactivity reports begun.
    pub inactivity_reports: u64,
    /// Error indication reports begun.
    pub error_indication_reports: u64,
    /// Node reports begun.
    pub node_reports: u64,
    /// Commits that the user plane refused though no request could be rejected for it (quota, release); they are tried again.
    pub commit_failures: u64,
    /// Rules that requests were to remove and that were not there: taken as removed.
    pub absent_removals: u64,
    /// Elements in requests that are not of release 17, or vendors': skipped (§7.6.6).
    pub unknown_elements: u64,
    /// Log lines left out because there were too many.
    pub suppressed_logs: u64,
}

/// Why a usage report was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LostUsage {
    /// The CP function has restarted: it does not know the session.
    Restarted,
    /// The CP function says that it does not know the session.
    NotFound,
    /// The CP function rejected the report.
    Rejected,
    /// Too many reports wait for CP functions that do not answer.
    Full,
    /// The node ends.
    End,
    /// The report is too long for a message.
    TooLong,
}

impl LostUsage {
    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            LostUsage::Restarted => "restarted",
            LostUsage::NotFound => "not_found",
            LostUsage::Rejected => "rejected",
            LostUsage::Full => "full",
            LostUsage::End => "end",
            LostUsage::TooLong => "too_long",
        }
    }

    /// For the log.
    pub(crate) fn text(self) -> &'static str {
        match self {
            LostUsage::Restarted => "cannot be reported: the CP function has restarted",
            LostUsage::NotFound => "cannot be reported: the CP function does not know the session",
            LostUsage::Rejected => "was rejected",
            LostUsage::Full => "cannot be kept: as many reports as there may be sessions wait for CP functions that do not answer",
            LostUsage::End => "was not acknowledged before the end",
            LostUsage::TooLong => "is too long to be reported",
        }
    }
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
}

/// What a log line is about: each cause has lines of its own, so a flood of one does not hide another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogCause {
    /// A request was rejected.
    Rejected(Cause),
    /// A datagram was dropped.
    Dropped(Drop),
    /// An association came or went.
    Association,
    /// A request of ours had no response, or a bad one.
    Response,
    /// Usage was lost.
    Usage,
    /// The user plane refused something.
    UserPlane,
    /// A path to a GTP-U peer failed, or works again.
    Path,
}

/// Lets through so many log lines of each cause in a second that a flood of bad messages does not fill the disk.
#[derive(Default)]
pub(crate) struct LogLimit {
    causes: BTreeMap<LogCause, Lines>,
}

#[derive(Default)]
struct Lines {
    second: u64,
    lines: u32,
    left_out: u64,
}

impl LogLimit {
    /// Lines of a cause in a second.
    pub(crate) const MOST: u32 = 5;

    /// Whether a line may be logged at `now`: then how many of its cause were left out since the last one.
    pub(crate) fn allows(&mut self, cause: LogCause, now: Duration) -> Option<u64> {
        let of = self.causes.entry(cause).or_default();
        if now.as_secs() != of.second {
            (of.second, of.lines) = (now.as_secs(), 0);
        }
        if of.lines >= LogLimit::MOST {
            of.left_out += 1;
            return None;
        }
        of.lines += 1;
        Some(std::mem::take(&mut of.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_cause_does_not_hide_another_and_what_was_left_out_is_told() {
        let mut log = LogLimit::default();
        let (flood, other) = (LogCause::Rejected(Cause::NO_RESOURCES), LogCause::Rejected(Cause::RULE_FAILURE));
        let now = Duration::from_secs(7);
        let lines = (0..100).filter(|_| log.allows(flood, now).is_some()).count();
        assert_eq!(lines, LogLimit::MOST as usize);
        assert_eq!(log.allows(other, now), Some(0));
        assert_eq!(log.allows(flood, now + Duration::from_secs(1)), Some(95));
        assert_eq!(log.allows(flood, now + Duration::from_secs(1)), Some(0));
    }
}
