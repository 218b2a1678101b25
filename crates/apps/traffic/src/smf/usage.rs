//! The usage reports of a session, summed: each counts what lies since the one before (TS 29.244 §7.5.8.3).

use std::collections::BTreeMap;

use pfcp::codec::{Ie, find};
use serde::{Deserialize, Serialize};

/// Volumes of a URR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Bytes of uplink user IP packets.
    pub uplink_bytes: u64,
    /// Bytes of downlink user IP packets.
    pub downlink_bytes: u64,
    /// Both, as the UPF added them.
    pub total_bytes: u64,
    /// Uplink packets; `None`: not reported.
    pub uplink_packets: Option<u64>,
    /// Downlink packets.
    pub downlink_packets: Option<u64>,
}

/// A URR's reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrrUsage {
    /// URR ID.
    pub urr_id: u32,
    /// Sum of the volumes.
    #[serde(flatten)]
    pub usage: Usage,
    /// Sum of the durations, in seconds.
    pub duration_s: u64,
    /// Reports counted.
    pub reports: u64,
    /// Reports that came again and were not counted again.
    pub repeated: u64,
    /// UR-SEQN that never came.
    pub lost: u64,
}

/// The reports of a session so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    urrs: BTreeMap<u32, Account>,
}

#[derive(Clone, Debug, Default)]
struct Account {
    usage: UrrUsage,
    /// UR-SEQN after the highest seen.
    next: u32,
    /// Those before `next` that have not come.
    absent: Vec<u32>,
}

/// Missing sequence numbers that are remembered, to tell a late report from a repeated one.
const MAX_ABSENT: usize = 64;

impl Book {
    /// Enters the usage reports among a message's elements; those entered, as (URR ID, triggers).
    pub(crate) fn enter(&mut self, ies: &[Ie]) -> Vec<(u32, u32)> {
        let reports = ies.iter().filter_map(|ie| match ie {
            Ie::UsageReportInModificationResponse(ies) | Ie::UsageReportInDeletionResponse(ies) | Ie::UsageReportInReportRequest(ies) => {
                Some(ies)
            }
            _ => None,
        });
        let mut entered = Vec::new();
        for ies in reports {
            // Both are mandatory (table 7.5.8.3-1); a report without them cannot be booked.
            let (Some(&urr_id), Some(&seqn)) = (find!(ies, UrrId), find!(ies, UrSeqn)) else { continue };
            let account = self.urrs.entry(urr_id).or_default();
            account.usage.urr_id = urr_id;
            if account.is_new(seqn) {
                account.add(ies);
                entered.push((urr_id, find!(ies, UsageReportTrigger).map_or(0, |triggers| triggers.0)));
            }
        }
        entered
    }

    /// The usage of one URR.
    pub(crate) fn of(&self, urr_id: u32) -> Usage {
        self.urrs.get(&urr_id).map(|account| account.usage.usage).unwrap_or_default()
    }

    /// All URRs that were reported.
    pub(crate) fn urrs(&self) -> Vec<UrrUsage> {
        self.urrs.values().map(|account| account.usage).collect()
    }
}

impl Account {
    /// Whether UR-SEQN `seqn` was not booked before (§8.2.71: counts from 0 by 1).
    fn is_new(&mut self, seqn: u32) -> bool {
        let ahead = seqn.wrapping_sub(self.next);
        if ahead < u32::MAX / 2 {
            for skipped in (0..ahead).take(MAX_ABSENT) {
                self.absent.push(self.next.wrapping_add(skipped));
            }
            self.usage.lost += u64::from(ahead);
            let surplus = self.absent.len().saturating_sub(MAX_ABSENT);
            self.absent.drain(..surplus);
            self.next = seqn.wrapping_add(1);
        } else if let Some(at) = self.absent.iter().position(|absent| *absent == seqn) {
            self.absent.remove(at);
            self.usage.lost -= 1;
        } else {
            self.usage.repeated += 1;
            return false;
        }
        self.usage.reports += 1;
        true
    }

    fn add(&mut self, ies: &[Ie]) {
        let usage = &mut self.usage;
        if let Some(seconds) = find!(ies, DurationMeasurement) {
            usage.duration_s += u64::from(*seconds);
        }
        let Some(volume) = find!(ies, VolumeMeasurement) else { return };
        let add = |sum: &mut u64, more: Option<u64>| *sum = sum.saturating_add(more.unwrap_or(0));
        let usage = &mut usage.usage;
        add(&mut usage.uplink_bytes, volume.bytes.uplink);
        add(&mut usage.downlink_bytes, volume.bytes.downlink);
        add(&mut usage.total_bytes, volume.bytes.total);
        for (sum, more) in [(&mut usage.uplink_packets, volume.packets.uplink), (&mut usage.downlink_packets, volume.packets.downlink)] {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfcp::codec::{Triggers, Volume, VolumeMeasurement};

    fn report(seqn: u32, uplink: u64, downlink: u64) -> Ie {
        let both = |a: u64, b: u64| Volume { total: Some(a + b), uplink: Some(a), downlink: Some(b) };
        Ie::UsageReportInReportRequest(vec![
            Ie::UrrId(1),
            Ie::UrSeqn(seqn),
            Ie::UsageReportTrigger(Triggers(2)),
            Ie::VolumeMeasurement(VolumeMeasurement { bytes: both(uplink, downlink), packets: both(1, 2) }),
            Ie::DurationMeasurement(3),
        ])
    }

    #[test]
    fn reports_add_up_and_repeated_ones_do_not() {
        let mut book = Book::default();
        assert_eq!(book.enter(&[report(0, 10, 100)]), [(1, 2)]);
        assert_eq!(book.enter(&[report(0, 10, 100)]), []);
        assert_eq!(book.enter(&[report(1, 1, 2), Ie::UrrId(9)]), [(1, 2)]);
        let urr = book.urrs()[0];
        assert_eq!((urr.usage.uplink_bytes, urr.usage.downlink_bytes, urr.usage.total_bytes), (11, 102, 113));
        assert_eq!((urr.usage.uplink_packets, urr.usage.downlink_packets, urr.duration_s), (Some(2), Some(4), 6));
        assert_eq!((urr.reports, urr.repeated, urr.lost), (2, 1, 0));
        assert_eq!((book.of(1), book.of(2)), (urr.usage, Usage::default()));
    }

    #[test]
    fn gaps_are_lost_until_they_come_late() {
        let mut book = Book::default();
        book.enter(&[report(0, 1, 0), report(3, 1, 0)]);
        assert_eq!(book.urrs()[0].lost, 2);
        book.enter(&[report(1, 1, 0), report(1, 1, 0)]);
        assert_eq!((book.urrs()[0].lost, book.urrs()[0].repeated, book.of(1).uplink_bytes), (1, 1, 3));
        // A wild jump takes neither time nor memory, and sums do not overflow.
        book.enter(&[report(1 << 30, u64::MAX, 0)]);
        assert_eq!(book.of(1).uplink_bytes, u64::MAX);
        assert!(book.urrs[&1].absent.len() <= MAX_ABSENT);
    }

    #[test]
    fn unreadable_reports_are_left_out() {
        let mut book = Book::default();
        assert_eq!(book.enter(&[Ie::UsageReportInDeletionResponse(vec![Ie::UrrId(1)]), Ie::UsageReportInDeletionResponse(vec![])]), []);
        assert_eq!(book.urrs(), []);
    }
}
