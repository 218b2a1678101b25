//! What a URR has measured since its last report, when it is due, and the report (TS 29.244 §5.2.2).
//!
//! The user plane counts; here is only what lies between two reports. Time is measured from the rule's creation, as with
//! immediate start time metering (ISTM); inactivity is not taken out (§5.2.2.2: Inactivity Detection Time is not supported).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codec::{Group, Ie, Triggers, Volume, VolumeMeasurement};
use crate::rules::{Urr, Usage, VolumeLimit};

/// Reporting Triggers, octets 5 to 7 (§8.2.19).
pub(crate) mod reporting {
    pub(crate) const PERIO: u32 = 1 << 0;
    pub(crate) const VOLTH: u32 = 1 << 1;
    pub(crate) const TIMTH: u32 = 1 << 2;
    pub(crate) const LIUSA: u32 = 1 << 7;
}

/// Usage Report Trigger, octets 5 to 7 (§8.2.41).
pub(crate) mod trigger {
    pub(crate) const PERIO: u32 = 1 << 0;
    pub(crate) const VOLTH: u32 = 1 << 1;
    pub(crate) const TIMTH: u32 = 1 << 2;
    pub(crate) const IMMER: u32 = 1 << 7;
    pub(crate) const VOLQU: u32 = 1 << 8;
    pub(crate) const TIMQU: u32 = 1 << 9;
    pub(crate) const LIUSA: u32 = 1 << 10;
    pub(crate) const TERMR: u32 = 1 << 11;
}

/// MNOP of Measurement Information (§8.2.66): packets are to be reported too.
pub(crate) const MEASURE_PACKETS: u8 = 1 << 4;

/// The measurement of one URR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meter {
    /// UR-SEQN of the next report.
    next_seqn: u32,
    /// When the measurement began, and the counters then.
    since: Duration,
    base: Usage,
    /// Since when the quotas are used up, and the counters then.
    volume_quota_base: Usage,
    time_quota_since: Duration,
    /// Start of the running period.
    period_since: Duration,
    /// Packets are reported too.
    pub count_packets: bool,
    /// When the node looks at it again; kept here to be found in the timers.
    pub deadline: Option<Duration>,
}

/// What an Update URR renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renewed {
    pub volume_quota: bool,
    pub time_quota: bool,
    pub period: bool,
}

/// Times on the wire: NTP seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    /// NTP seconds when the node began.
    pub started_at_ntp_s: u32,
}

impl WallClock {
    pub(crate) fn ntp_s(self, at: Duration) -> u32 {
        self.started_at_ntp_s.wrapping_add(at.as_secs() as u32)
    }
}

impl Meter {
    /// A measurement that begins at `now` with these counters.
    pub(crate) fn new(now: Duration, counters: Usage, count_packets: bool) -> Meter {
        Meter {
            next_seqn: 0,
            since: now,
            base: counters,
            volume_quota_base: counters,
            time_quota_since: now,
            period_since: now,
            count_packets,
            deadline: None,
        }
    }

    /// Update URR: a new quota counts from the last report, for what is not yet reported is not yet paid for.
    pub(crate) fn renew(&mut self, renewed: Renewed, now: Duration) {
        if renewed.volume_quota {
            self.volume_quota_base = self.base;
        }
        if renewed.time_quota {
            self.time_quota_since = self.since;
        }
        if renewed.period {
            self.period_since = now;
        }
    }

    /// When time alone makes this URR due, if ever.
    pub(crate) fn due_at(&self, rule: &Urr) -> Option<Duration> {
        let seconds = |s: u32| Duration::from_secs(s.into());
        let period = rule.period_s.filter(|s| *s > 0 && rule.triggers & reporting::PERIO != 0).map(|s| self.period_since + seconds(s));
        let threshold = rule.time_threshold_s.filter(|s| *s > 0 && rule.triggers & reporting::TIMTH != 0).map(|s| self.since + seconds(s));
        let quota = rule.time_quota_s.filter(|_| !rule.exhausted).map(|s| self.time_quota_since + seconds(s));
        [period, threshold, quota].into_iter().flatten().min()
    }

    /// The usage report triggers that time has set off.
    pub(crate) fn time_triggers(&self, rule: &Urr, now: Duration) -> u32 {
        let passed =
            |since: Duration, limit_s: Option<u32>| limit_s.is_some_and(|s| now.saturating_sub(since) >= Duration::from_secs(s.into()));
        let mut triggers = 0;
        if rule.triggers & reporting::PERIO != 0 && rule.period_s > Some(0) && passed(self.period_since, rule.period_s) {
            triggers |= trigger::PERIO;
        }
        if rule.triggers & reporting::TIMTH != 0 && rule.time_threshold_s > Some(0) && passed(self.since, rule.time_threshold_s) {
            triggers |= trigger::TIMTH;
        }
        if !rule.exhausted && passed(self.time_quota_since, rule.time_quota_s) {
            triggers |= trigger::TIMQU;
        }
        triggers
    }

    /// The usage report triggers that the counters have set off.
    pub(crate) fn volume_triggers(&self, rule: &Urr, counters: Usage) -> u32 {
        let mut triggers = 0;
        let threshold = rule.volume_threshold.filter(|_| rule.triggers & reporting::VOLTH != 0);
        // A threshold of nothing would be reached again and again.
        let set = |limit: Option<u64>| limit.filter(|bytes| *bytes > 0);
        let threshold = threshold.map(|t| VolumeLimit { total: set(t.total), uplink: set(t.uplink), downlink: set(t.downlink) });
        if threshold.is_some_and(|limit| reached(limit, less(counters, self.base))) {
            triggers |= trigger::VOLTH;
        }
        if !rule.exhausted && rule.volume_quota.is_some_and(|limit| reached(limit, less(counters, self.volume_quota_base))) {
            triggers |= trigger::VOLQU;
        }
        triggers
    }

    /// The elements of a usage report; the measurement restarts.
    pub(crate) fn report(&mut self, urr_id: u32, rule: &Urr, triggers: u32, now: Duration, counters: Usage, clock: WallClock) -> Group {
        let used = less(counters, self.base);
        let mut ies = vec![
            Ie::UrrId(urr_id),
            Ie::UrSeqn(self.next_seqn),
            Ie::UsageReportTrigger(Triggers(triggers)),
            Ie::StartTime(clock.ntp_s(self.since)),
            Ie::EndTime(clock.ntp_s(now)),
        ];
        if rule.measure_volume {
            let both = |uplink: u64, downlink: u64| Volume {
                total: Some(uplink.saturating_add(downlink)),
                uplink: Some(uplink),
                downlink: Some(downlink),
            };
            let packets = if self.count_packets { both(used.uplink_packets, used.downlink_packets) } else { Volume::default() };
            ies.push(Ie::VolumeMeasurement(VolumeMeasurement { bytes: both(used.uplink_bytes, used.downlink_bytes), packets }));
        }
        if rule.measure_duration {
            ies.push(Ie::DurationMeasurement(now.saturating_sub(self.since).as_secs() as u32));
        }
        self.next_seqn = self.next_seqn.wrapping_add(1);
        self.since = now;
        self.base = counters;
        if triggers & trigger::PERIO != 0 {
            // From the end of the period, not from when we came to it: periods do not drift. After a long gap they restart.
            let period = Duration::from_secs(rule.period_s.unwrap_or(0).into());
            self.period_since += period;
            if now.saturating_sub(self.period_since) >= period {
                self.period_since = now;
            }
        }
        ies
    }
}

/// Whether one of the limits is used up.
pub(crate) fn reached(limit: VolumeLimit, used: Usage) -> bool {
    let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
    over(limit.total, used.uplink_bytes.saturating_add(used.downlink_bytes))
        || over(limit.uplink, used.uplink_bytes)
        || over(limit.downlink, used.downlink_bytes)
}

/// Counters less those of an earlier time.
fn less(counters: Usage, base: Usage) -> Usage {
    Usage {
        uplink_bytes: counters.uplink_bytes.saturating_sub(base.uplink_bytes),
        downlink_bytes: counters.downlink_bytes.saturating_sub(base.downlink_bytes),
        uplink_packets: counters.uplink_packets.saturating_sub(base.uplink_packets),
        downlink_packets: counters.downlink_packets.saturating_sub(base.downlink_packets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::find;

    const CLOCK: WallClock = WallClock { started_at_ntp_s: 1000 };

    fn second(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn bytes(uplink: u64, downlink: u64) -> Usage {
        Usage { uplink_bytes: uplink, downlink_bytes: downlink, uplink_packets: uplink / 100, downlink_packets: downlink / 100 }
    }

    #[test]
    fn a_report_counts_from_the_last_one() {
        let rule = Urr { measure_volume: true, measure_duration: true, ..Urr::default() };
        let mut meter = Meter::new(second(1), bytes(50, 50), true);
        let first = meter.report(7, &rule, trigger::IMMER, second(11), bytes(150, 350), CLOCK);
        let both = |up, down| Volume { total: Some(up + down), uplink: Some(up), downlink: Some(down) };
        assert_eq!(find!(first, VolumeMeasurement), Some(&VolumeMeasurement { bytes: both(100, 300), packets: both(1, 3) }));
        assert_eq!(find!(first, DurationMeasurement), Some(&10));
        assert_eq!((find!(first, StartTime), find!(first, EndTime)), (Some(&1001), Some(&1011)));
        let second_report = meter.report(7, &rule, trigger::TERMR, second(12), bytes(150, 351), CLOCK);
        assert_eq!(find!(second_report, UrSeqn), Some(&1));
        assert_eq!(find!(second_report, VolumeMeasurement).unwrap().bytes, both(0, 1));
    }

    #[test]
    fn periods_do_not_drift_and_catch_up_after_a_gap() {
        let rule = Urr { triggers: reporting::PERIO, period_s: Some(30), ..Urr::default() };
        let mut meter = Meter::new(second(0), Usage::default(), false);
        assert_eq!(meter.due_at(&rule), Some(second(30)));
        assert_eq!(meter.time_triggers(&rule, second(29)), 0);
        assert_eq!(meter.time_triggers(&rule, second(31)), trigger::PERIO);
        meter.report(1, &rule, trigger::PERIO, second(31), Usage::default(), CLOCK);
        assert_eq!(meter.due_at(&rule), Some(second(60)));
        meter.report(1, &rule, trigger::PERIO, second(300), Usage::default(), CLOCK);
        assert_eq!(meter.due_at(&rule), Some(second(330)));
    }

    #[test]
    fn a_quota_goes_on_over_reports_and_a_new_one_counts_what_is_not_reported() {
        let limit = |total| Some(VolumeLimit { total: Some(total), ..VolumeLimit::default() });
        let mut rule = Urr { triggers: reporting::VOLTH, volume_threshold: limit(60), volume_quota: limit(100), ..Urr::default() };
        let mut meter = Meter::new(second(0), Usage::default(), false);
        assert_eq!(meter.volume_triggers(&rule, bytes(30, 29)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(30, 30)), trigger::VOLTH);
        meter.report(1, &rule, trigger::VOLTH, second(1), bytes(30, 30), CLOCK);
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 39)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 40)), trigger::VOLQU);
        rule.exhausted = true;
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 41)), 0);
        rule.exhausted = false;
        meter.renew(Renewed { volume_quota: true, ..Renewed::default() }, second(2));
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 59)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(100, 60)), trigger::VOLTH | trigger::VOLQU);
    }
}
