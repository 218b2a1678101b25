//! What a URR has measured since its last report, when it is due, and the report (TS 29.244 §5.2.2).
//!
//! The user plane counts packets and bytes; here is only what lies between two reports. It does not tell when a packet came: traffic is seen
//! when the counters are looked at and have moved. So a stop of traffic is noticed up to a quarter of its time late, or a second.
//!
//! Which events a URR counts is the UP function's own policy (TS 23.501 table 5.8.2.11.5-1): here each start of its traffic is one.
//!
//! Left out, and refused: envelopes, dropped downlink traffic, additional monitoring times, aggregated URRs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codec::{Group, Ie, Triggers, Volume, VolumeMeasurement};
use crate::rules::{Urr, Usage, VolumeLimit};

/// Reporting Triggers, octets 5 to 7 (§8.2.19).
pub(crate) mod reporting {
    pub(crate) const PERIO: u32 = 1 << 0;
    pub(crate) const VOLTH: u32 = 1 << 1;
    pub(crate) const TIMTH: u32 = 1 << 2;
    pub(crate) const QUHTI: u32 = 1 << 3;
    pub(crate) const START: u32 = 1 << 4;
    pub(crate) const STOPT: u32 = 1 << 5;
    pub(crate) const LIUSA: u32 = 1 << 7;
    pub(crate) const EVETH: u32 = 1 << 12;
    pub(crate) const QUVTI: u32 = 1 << 15;
    pub(crate) const UPINT: u32 = 1 << 17;

    /// Starts and stops of traffic are looked for.
    pub(crate) const TRAFFIC: u32 = START | STOPT;
}

/// Usage Report Trigger, octets 5 to 7 (§8.2.41).
pub(crate) mod trigger {
    pub(crate) const PERIO: u32 = 1 << 0;
    pub(crate) const VOLTH: u32 = 1 << 1;
    pub(crate) const TIMTH: u32 = 1 << 2;
    pub(crate) const QUHTI: u32 = 1 << 3;
    pub(crate) const START: u32 = 1 << 4;
    pub(crate) const STOPT: u32 = 1 << 5;
    pub(crate) const IMMER: u32 = 1 << 7;
    pub(crate) const VOLQU: u32 = 1 << 8;
    pub(crate) const TIMQU: u32 = 1 << 9;
    pub(crate) const LIUSA: u32 = 1 << 10;
    pub(crate) const TERMR: u32 = 1 << 11;
    pub(crate) const MONIT: u32 = 1 << 12;
    pub(crate) const EVETH: u32 = 1 << 15;
    pub(crate) const EVEQU: u32 = 1 << 16;
    pub(crate) const TEBUR: u32 = 1 << 17;
    pub(crate) const QUVTI: u32 = 1 << 19;
    pub(crate) const UPINT: u32 = 1 << 21;

    /// Those after which packets of the rule no longer pass, if it has a quota: what is left of it is void (§5.2.2.2.1).
    pub(crate) const QUOTAS: u32 = VOLQU | TIMQU | EVEQU | QUHTI | QUVTI;
}

/// INAM, ISTM and MNOP of Measurement Information (§8.2.68): nothing is measured, time is measured from the beginning, packets are
/// to be reported too.
pub(crate) const INACTIVE: u8 = 1 << 1;
pub(crate) const IMMEDIATE_START: u8 = 1 << 3;
pub(crate) const MEASURE_PACKETS: u8 = 1 << 4;

/// Usage Information (§8.2.63): before and after the monitoring time.
const BEFORE: u8 = 1 << 0;
const AFTER: u8 = 1 << 1;

/// Without packets for so long traffic has stopped, where the rule has no Inactivity Detection Time.
const STOPPED_AFTER: Duration = Duration::from_secs(10);

/// The shortest time between two looks for the stop of traffic.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Events whose times one report tells, so that it fits a datagram: the earliest. Later ones count for thresholds and quotas alike. At one in ten seconds they are a
/// quarter of an hour.
const MOST_EVENT_TIMES: usize = 100;

/// A volume quota is looked at after so many bytes at the latest: a meter of the user plane holds 18 GB of it, and is to be filled again.
const QUOTA_AT_ONCE: u64 = 1 << 33;

/// The measurement of one URR.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meter {
    /// UR-SEQN of the next report.
    next_seqn: u32,
    /// When the measurement began, and the counters then.
    since: Duration,
    base: Usage,
    /// The counters that the volume quota counts from.
    volume_quota_base: Usage,
    /// Time that was measured until it last paused, and since when it runs.
    measured: Duration,
    runs_since: Option<Duration>,
    /// The measured time at the last report, and that which the time quota counts from.
    time_base: Duration,
    time_quota_base: Duration,
    /// Events since the rule began, those that the next report counts from, and those that the event quota counts from.
    events: u64,
    event_base: u64,
    event_quota_base: u64,
    /// When those were that are not reported.
    event_times: Vec<Duration>,
    /// Start of the running period.
    period_since: Duration,
    /// When a quota was last given.
    quota_since: Duration,
    /// A validity time runs.
    validity_runs: bool,
    /// Packets at the last look, when they were last seen to have moved, and whether traffic has started and not stopped.
    seen_packets: u64,
    moved_at: Duration,
    flows: bool,
    /// The counters when measuring was switched off.
    paused: Option<Usage>,
    /// Seen and not reported yet.
    pending: u32,
    /// What was measured before the monitoring time.
    before: Option<Before>,
    /// When the monitoring time is.
    monitor_at: Option<Duration>,
    /// Packets are reported too.
    pub(crate) count_packets: bool,
    /// When the node looks at it again; kept here to be found in the timers.
    pub(crate) deadline: Option<Duration>,
    /// At how many bytes carried the node looks at it again.
    pub(crate) volume_deadline: Option<u64>,
    /// The node looks at it again when something moves.
    pub(crate) awaits_traffic: bool,
}

/// A measurement that ended with the monitoring time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Before {
    since: Duration,
    until: Duration,
    used: Usage,
    time: Duration,
    event_times: Vec<Duration>,
}

/// What an Update URR renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renewed {
    pub(crate) volume_quota: bool,
    pub(crate) time_quota: bool,
    pub(crate) event_quota: bool,
    pub(crate) period: bool,
    pub(crate) validity: bool,
    pub(crate) monitoring: bool,
    /// Measurement Information.
    pub(crate) measurement: bool,
}

impl Renewed {
    /// Of a second Update URR in the same request.
    pub(crate) fn add(&mut self, other: Renewed) {
        let Renewed { volume_quota, time_quota, event_quota, period, validity, monitoring, measurement } = other;
        self.volume_quota |= volume_quota;
        self.time_quota |= time_quota;
        self.event_quota |= event_quota;
        self.period |= period;
        self.validity |= validity;
        self.monitoring |= monitoring;
        self.measurement |= measurement;
    }
}

/// Times on the wire: NTP seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    /// NTP seconds when the node began.
    pub(crate) started_at_ntp_s: u32,
}

impl WallClock {
    pub(crate) fn ntp_s(self, at: Duration) -> u32 {
        self.started_at_ntp_s.wrapping_add(at.as_secs() as u32)
    }

    /// The node's time of NTP seconds; zero for a time before the node began. NTP seconds wrap: half of them are the past.
    pub(crate) fn at(self, ntp_s: u32) -> Duration {
        let seconds = ntp_s.wrapping_sub(self.started_at_ntp_s) as i32;
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }
}

/// A limit of seconds that is set.
fn seconds(limit_s: Option<u32>) -> Option<Duration> {
    limit_s.filter(|s| *s > 0).map(|s| Duration::from_secs(s.into()))
}

impl Meter {
    /// A measurement that begins at `now` with these counters.
    pub(crate) fn new(rule: &Urr, now: Duration, counters: Usage, clock: WallClock) -> Meter {
        let mut meter = Meter {
            since: now,
            base: counters,
            volume_quota_base: counters,
            period_since: now,
            quota_since: now,
            validity_runs: rule.quota_validity_s.is_some(),
            seen_packets: packets(counters),
            moved_at: now,
            monitor_at: rule.monitoring_ntp_s.map(|time| clock.at(time)),
            ..Meter::default()
        };
        meter.obey(rule, true, now, counters);
        meter
    }

    /// After a crash: the counters go on from those that were recorded, or from those that were reported if these are more; the result. What
    /// the node looks at is to be found anew.
    pub(crate) fn come_back(&mut self, recorded: Usage) -> Usage {
        let noted = [self.base, self.volume_quota_base, self.paused.unwrap_or_default()];
        let counters = noted.into_iter().fold(recorded, |most, this| each(most, this, u64::max));
        self.seen_packets = packets(counters);
        (self.deadline, self.volume_deadline, self.awaits_traffic) = (None, None, false);
        counters
    }

    /// Whether a meter from a record can be one of a node that has run for less than `most`, with counters of at most as many bytes or packets.
    pub(crate) fn is_plausible(&self, most: Duration, most_counted: u64) -> bool {
        let before =
            self.before.iter().flat_map(|before| [before.since, before.until, before.time].into_iter().chain(before.event_times.clone()));
        let times = [self.since, self.measured, self.time_base, self.time_quota_base, self.period_since, self.quota_since, self.moved_at];
        let optional = [self.runs_since, self.monitor_at];
        let counters = [Some(self.base), Some(self.volume_quota_base), self.paused, self.before.as_ref().map(|before| before.used)];
        let events = [self.events.checked_sub(self.event_base), self.events.checked_sub(self.event_quota_base)];
        let event_times = self.event_times.iter().copied();
        before.chain(times).chain(optional.into_iter().flatten()).chain(event_times).all(|time| time < most)
            && events.iter().all(Option::is_some)
            && counters.into_iter().flatten().all(|counters| counters.is_at_most(most_counted))
    }

    /// Update URR: a new quota counts from the last report, for what is not yet reported is not yet paid for.
    pub(crate) fn renew(&mut self, rule: &Urr, renewed: Renewed, now: Duration, counters: Usage, clock: WallClock) {
        if renewed.volume_quota {
            self.volume_quota_base = self.base;
        }
        if renewed.time_quota {
            self.time_quota_base = self.time_base;
        }
        if renewed.event_quota {
            self.event_quota_base = self.event_base;
        }
        let quota = renewed.volume_quota || renewed.time_quota || renewed.event_quota;
        if quota {
            self.quota_since = now;
            // The end of the one before need not be told any more.
            self.pending &= !trigger::QUOTAS;
        }
        if quota || renewed.validity {
            self.validity_runs = rule.quota_validity_s.is_some();
        }
        if renewed.validity {
            self.quota_since = now;
        }
        if renewed.period {
            self.period_since = now;
        }
        if renewed.monitoring {
            self.monitor_at = rule.monitoring_ntp_s.map(|time| clock.at(time));
        }
        self.obey(rule, renewed.measurement, now, counters);
    }

    /// Starts, pauses and goes on as the rule now says; `starts`: time may begin to run.
    fn obey(&mut self, rule: &Urr, mut starts: bool, now: Duration, counters: Usage) {
        match (rule.inactive, self.paused) {
            (true, None) => {
                self.pause_time(now);
                self.paused = Some(counters);
            }
            (false, Some(paused)) => {
                // What came meanwhile was not measured.
                let skipped = less(counters, paused);
                self.base = more(self.base, skipped);
                self.volume_quota_base = more(self.volume_quota_base, skipped);
                self.seen_packets = packets(counters);
                self.moved_at = now;
                self.paused = None;
                starts = true;
            }
            _ => {}
        }
        if starts && rule.immediate_start && self.paused.is_none() {
            self.runs_since.get_or_insert(now);
        }
    }

    fn pause_time(&mut self, at: Duration) {
        if let Some(since) = self.runs_since.take() {
            self.measured += at.saturating_sub(since);
        }
    }

    /// The time measured until `now`, since the rule began.
    fn time(&self, now: Duration) -> Duration {
        self.measured + self.runs_since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Whether the next packet is to be noticed: traffic is to start, or time is to go on, or the FAR for quota action has it from the beginning.
    pub(crate) fn is_awaiting_traffic(&self, rule: &Urr) -> bool {
        let start = looks_for_traffic(rule) && !self.flows;
        let times = rule.measure_duration || rule.time_threshold_s.is_some() || rule.time_quota_s.is_some();
        let first = rule.untold && rule.quota_far_id.is_some();
        self.paused.is_none() && (start || first || (times && self.runs_since.is_none()))
    }

    /// When time alone makes this URR due, if ever; or when it is to be looked at for whether packets still come.
    pub(crate) fn due_at(&self, rule: &Urr, now: Duration) -> Option<Duration> {
        let asked = |trigger: u32| rule.triggers & trigger != 0;
        // A time that has been measured, if it goes on being measured.
        let measured = |base: Duration, limit: Duration| {
            self.runs_since.map(|since| since + (base + limit).saturating_sub(self.measured)).filter(|_| self.paused.is_none())
        };
        let period = seconds(rule.period_s).filter(|_| asked(reporting::PERIO)).map(|limit| self.period_since + limit);
        let threshold = seconds(rule.time_threshold_s).filter(|_| asked(reporting::TIMTH));
        let threshold = threshold.and_then(|limit| measured(self.time_base, limit));
        let quota = time_quota(rule).and_then(|limit| measured(self.time_quota_base, limit));
        let validity = seconds(rule.quota_validity_s).filter(|_| self.validity_runs && asked(reporting::QUVTI));
        let validity = validity.map(|limit| self.quota_since + limit);
        let look = self.silences(rule).map(|(since, limit)| (since + limit).min(now + (limit / 4).max(LOOK_AGAIN))).min();
        [period, threshold, quota, validity, self.monitor_at, look].into_iter().flatten().min()
    }

    /// Since when there has been no packet, and after how long that matters, for each reason that it matters for.
    fn silences(&self, rule: &Urr) -> impl Iterator<Item = (Duration, Duration)> {
        let measures = self.paused.is_none();
        let stop = (self.flows && looks_for_traffic(rule)).then(|| (self.moved_at, stops_after(rule)));
        let pause = self.runs_since.zip(seconds(rule.inactivity_s)).map(|(_, limit)| (self.moved_at, limit));
        [stop, pause, self.holding(rule)].into_iter().flatten().filter(move |_| measures)
    }

    /// Since when a quota is held without packets, and how long it may be, if its end is asked for.
    fn holding(&self, rule: &Urr) -> Option<(Duration, Duration)> {
        let has_quota = rule.has_quota() && !rule.exhausted && rule.triggers & reporting::QUHTI != 0;
        seconds(rule.quota_holding_s).filter(|_| has_quota).map(|limit| (self.moved_at.max(self.quota_since), limit))
    }

    /// Notices what the counters and the time tell, and gives the usage report triggers that are set off and not reported yet.
    pub(crate) fn look(&mut self, rule: &Urr, now: Duration, counters: Usage) -> u32 {
        let counters = self.paused.unwrap_or(counters);
        if self.paused.is_none() {
            self.notice_traffic(rule, now, counters);
        }
        self.pending | self.time_triggers(rule, now) | self.volume_triggers(rule, counters) | self.event_triggers(rule)
    }

    fn notice_traffic(&mut self, rule: &Urr, now: Duration, counters: Usage) {
        if packets(counters) != self.seen_packets {
            self.seen_packets = packets(counters);
            self.moved_at = now;
            if rule.untold && rule.quota_far_id.is_some() {
                self.pending |= quotas_of_nothing(rule);
            }
            if !std::mem::replace(&mut self.flows, true) {
                self.notice_start(rule, now);
            }
            self.runs_since.get_or_insert(now);
            return;
        }
        let is_over = |since: Duration, limit: Duration| now.saturating_sub(since) >= limit;
        if self.flows && is_over(self.moved_at, stops_after(rule)) {
            self.flows = false;
            if rule.triggers & reporting::STOPT != 0 {
                self.pending |= trigger::STOPT;
            }
        }
        if let Some((since, limit)) = self.runs_since.zip(seconds(rule.inactivity_s))
            && is_over(self.moved_at, limit)
        {
            self.pause_time((self.moved_at + limit).max(since));
        }
        if self.holding(rule).is_some_and(|(since, limit)| is_over(since, limit)) {
            self.pending |= trigger::QUHTI;
        }
    }

    /// A packet came for which the quota has nothing, and did not pass. Whether that is to be reported. Traffic has started with it, whatever becomes of it (§5.4.11).
    pub(crate) fn notice_stopped(&mut self, rule: &Urr, now: Duration) -> bool {
        if !rule.untold || self.paused.is_some() {
            return false;
        }
        self.pending |= quotas_of_nothing(rule);
        self.moved_at = now;
        if !std::mem::replace(&mut self.flows, true) {
            self.notice_start(rule, now);
        }
        true
    }

    /// Traffic starts.
    fn notice_start(&mut self, rule: &Urr, now: Duration) {
        if rule.triggers & reporting::START != 0 {
            self.pending |= trigger::START;
        }
        if counts_events(rule) {
            self.events += 1;
            if self.event_times.len() < MOST_EVENT_TIMES {
                self.event_times.push(now);
            }
        }
    }

    /// The usage report triggers that events have set off.
    fn event_triggers(&self, rule: &Urr) -> u32 {
        let reached = |base: u64, limit: Option<u32>| limit.is_some_and(|limit| self.events - base >= limit.into());
        let mut triggers = 0;
        // A threshold of nothing would be reached again and again.
        if rule.triggers & reporting::EVETH != 0 && reached(self.event_base, rule.event_threshold.filter(|events| *events > 0)) {
            triggers |= trigger::EVETH;
        }
        if is_open(rule) && reached(self.event_quota_base, rule.event_quota.filter(|events| *events > 0)) {
            triggers |= trigger::EVEQU;
        }
        triggers
    }

    /// The usage report triggers that time has set off.
    fn time_triggers(&self, rule: &Urr, now: Duration) -> u32 {
        let asked = |trigger: u32| rule.triggers & trigger != 0;
        let passed = |since: Duration, until: Duration, limit: Option<Duration>| limit.is_some_and(|s| until.saturating_sub(since) >= s);
        let time = self.time(now);
        let mut triggers = 0;
        if asked(reporting::PERIO) && passed(self.period_since, now, seconds(rule.period_s)) {
            triggers |= trigger::PERIO;
        }
        if asked(reporting::TIMTH) && passed(self.time_base, time, seconds(rule.time_threshold_s)) {
            triggers |= trigger::TIMTH;
        }
        if passed(self.time_quota_base, time, time_quota(rule)) {
            triggers |= trigger::TIMQU;
        }
        if asked(reporting::QUVTI) && self.validity_runs && passed(self.quota_since, now, seconds(rule.quota_validity_s)) {
            triggers |= trigger::QUVTI;
        }
        triggers
    }

    /// The usage report triggers that the counters have set off.
    fn volume_triggers(&self, rule: &Urr, counters: Usage) -> u32 {
        let mut triggers = 0;
        if threshold(rule).is_some_and(|limit| left(limit, less(counters, self.base)) == 0) {
            triggers |= trigger::VOLTH;
        }
        if quota(rule).is_some_and(|limit| left(limit, less(counters, self.volume_quota_base)) == 0) {
            triggers |= trigger::VOLQU;
        }
        triggers
    }

    /// Bytes until a volume threshold or quota is reached; `None` without one.
    pub(crate) fn volume_left(&self, rule: &Urr, counters: Usage) -> Option<u64> {
        let counters = self.paused.is_none().then_some(counters)?;
        let threshold = threshold(rule).map(|limit| left(limit, less(counters, self.base)));
        let quota = quota(rule).map(|limit| left(limit, less(counters, self.volume_quota_base)).min(QUOTA_AT_ONCE));
        [threshold, quota].into_iter().flatten().min()
    }

    /// What the counters are when the volume quota is used up; `None` where nothing is limited now.
    pub(crate) fn quota_ends(&self, rule: &Urr) -> Option<VolumeLimit> {
        let limit = quota(rule).filter(|_| self.paused.is_none())?;
        let (uplink, downlink) = (self.volume_quota_base.uplink_bytes, self.volume_quota_base.downlink_bytes);
        let end = |limit: Option<u64>, base: u64| limit.map(|bytes| base.saturating_add(bytes));
        Some(VolumeLimit {
            total: end(limit.total, uplink.saturating_add(downlink)),
            uplink: end(limit.uplink, uplink),
            downlink: end(limit.downlink, downlink),
        })
    }

    /// At the monitoring time the measurement is parted, and the rule's limits become the subsequent ones. Whether packets pass again that did not.
    pub(crate) fn pass_monitoring_time(&mut self, rule: &mut Urr, now: Duration, counters: Usage) -> bool {
        let Some(at) = self.monitor_at.filter(|at| *at <= now) else { return false };
        self.monitor_at = None;
        rule.monitoring_ntp_s = None;
        let counters = self.paused.unwrap_or(counters);
        let time = self.time(now);
        // One that nobody has asked for is not lost: the parts are added up.
        let (used, measured) = (less(counters, self.base), time.saturating_sub(self.time_base));
        let mut event_times = std::mem::take(&mut self.event_times);
        let until = at.max(self.since);
        self.before = Some(match self.before.take() {
            Some(mut before) => {
                before.event_times.append(&mut event_times);
                before.event_times.truncate(MOST_EVENT_TIMES);
                Before { until, used: more(before.used, used), time: before.time + measured, ..before }
            }
            None => Before { since: self.since, until, used, time: measured, event_times },
        });
        (self.since, self.base, self.time_base, self.event_base) = (until, counters, time, self.events);
        let had = std::mem::take(&mut rule.subsequent);
        rule.volume_threshold = had.volume_threshold.or(rule.volume_threshold);
        rule.time_threshold_s = had.time_threshold_s.or(rule.time_threshold_s);
        rule.event_threshold = had.event_threshold.or(rule.event_threshold);
        if had.volume_quota.is_some() {
            (rule.volume_quota, self.volume_quota_base) = (had.volume_quota, counters);
        }
        if had.time_quota_s.is_some() {
            (rule.time_quota_s, self.time_quota_base) = (had.time_quota_s, time);
        }
        if had.event_quota.is_some() {
            (rule.event_quota, self.event_quota_base) = (had.event_quota, self.events);
        }
        let renewed = had.volume_quota.is_some() || had.time_quota_s.is_some() || had.event_quota.is_some();
        let before = (rule.exhausted, rule.untold);
        if renewed {
            begin_quota(rule);
        }
        let reopened = before != (rule.exhausted, rule.untold);
        // The user plane stops packets by the quota that it was told of.
        reopened || had.volume_quota.is_some()
    }

    /// Whether a final report would tell something.
    pub(crate) fn has_usage(&self, counters: Usage) -> bool {
        self.before.is_some() || self.paused.unwrap_or(counters) != self.base || self.events != self.event_base
    }

    /// Keeps for a later report, as there is no room for one now, those of these triggers that no later look finds again.
    pub(crate) fn postpone(&mut self, triggers: u32) {
        self.pending |= triggers & (trigger::QUOTAS | trigger::UPINT);
    }

    /// The session's user plane has become inactive: whether that is to be reported of this URR.
    pub(crate) fn notice_inactivity(&mut self, rule: &Urr) -> bool {
        let asked = rule.triggers & reporting::UPINT != 0;
        if asked {
            self.pending |= trigger::UPINT;
        }
        asked
    }

    /// The elements of usage reports, two after a monitoring time; the measurement restarts.
    pub(crate) fn report(
        &mut self,
        urr_id: u32,
        rule: &Urr,
        triggers: u32,
        now: Duration,
        counters: Usage,
        clock: WallClock,
    ) -> Vec<Group> {
        let counters = self.paused.unwrap_or(counters);
        let time = self.time(now);
        let mut reports = Vec::new();
        let before = self.before.take();
        let information = before.as_ref().map(|_| AFTER);
        let told = |times: &[Duration]| times.iter().map(|at| Ie::TimeStamp(clock.ntp_s(*at))).collect::<Group>();
        if let Some(Before { since, until, used, time, event_times }) = before {
            let span = (clock.ntp_s(since), clock.ntp_s(until));
            let mut report = self.one_report(urr_id, rule, trigger::MONIT, span, used, time, Some(BEFORE));
            report.extend(told(&event_times));
            reports.push(report);
        }
        let used = less(counters, self.base);
        let measured = time.saturating_sub(self.time_base);
        let span = (clock.ntp_s(self.since), clock.ntp_s(now));
        let mut report = self.one_report(urr_id, rule, triggers, span, used, measured, information);
        report.extend(told(&std::mem::take(&mut self.event_times)));
        reports.push(report);
        (self.since, self.base, self.time_base, self.event_base) = (now, counters, time, self.events);
        self.pending = 0;
        if triggers & trigger::QUVTI != 0 {
            self.validity_runs = false;
        }
        if triggers & trigger::PERIO != 0 {
            // From the end of the period, not from when we came to it: periods do not drift. After a long gap they restart.
            let period = Duration::from_secs(rule.period_s.unwrap_or(0).into());
            self.period_since += period;
            if now.saturating_sub(self.period_since) >= period {
                self.period_since = now;
            }
        }
        reports
    }

    #[expect(clippy::too_many_arguments, reason = "the elements of one report")]
    fn one_report(
        &mut self,
        urr_id: u32,
        rule: &Urr,
        triggers: u32,
        (start, end): (u32, u32),
        used: Usage,
        time: Duration,
        information: Option<u8>,
    ) -> Group {
        let mut ies = vec![
            Ie::UrrId(urr_id),
            Ie::UrSeqn(self.next_seqn),
            Ie::UsageReportTrigger(Triggers(triggers)),
            Ie::StartTime(start),
            Ie::EndTime(end),
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
            ies.push(Ie::DurationMeasurement(time.as_secs() as u32));
        }
        ies.extend(information.map(Ie::UsageInformation));
        self.next_seqn = self.next_seqn.wrapping_add(1);
        ies
    }
}

/// Whether it matters when traffic starts and stops.
/// Events whose times one answer tells: with as many usage reports as a session can have it fits a datagram.
const EVENT_TIMES_OF_AN_ANSWER: usize = 1000;

/// Leaves each usage report of an answer its share of the times of events, the first ones. All events count.
pub(crate) fn fit_event_times(answer: &mut Group) {
    let report = |ie: &Ie| matches!(ie, Ie::UsageReportInModificationResponse(_) | Ie::UsageReportInDeletionResponse(_));
    let reports = answer.iter().filter(|ie| report(ie)).count().max(1);
    for ie in answer {
        let (Ie::UsageReportInModificationResponse(ies) | Ie::UsageReportInDeletionResponse(ies)) = ie else { continue };
        let mut left = (EVENT_TIMES_OF_AN_ANSWER / reports).max(1);
        ies.retain(|ie| {
            let stays = !matches!(ie, Ie::TimeStamp(_)) || left > 0;
            left -= usize::from(stays && matches!(ie, Ie::TimeStamp(_)));
            stays
        });
    }
}

fn looks_for_traffic(rule: &Urr) -> bool {
    rule.triggers & reporting::TRAFFIC != 0 || counts_events(rule)
}

fn counts_events(rule: &Urr) -> bool {
    rule.measure_events || rule.event_threshold.is_some() || rule.event_quota.is_some()
}

/// Without packets for so long, traffic has stopped.
fn stops_after(rule: &Urr) -> Duration {
    seconds(rule.inactivity_s).unwrap_or(STOPPED_AFTER)
}

/// The volume threshold, if it is to be reported. One of nothing would be reached again and again.
fn threshold(rule: &Urr) -> Option<VolumeLimit> {
    let set = |limit: Option<u64>| limit.filter(|bytes| *bytes > 0);
    let asked = rule.volume_threshold.filter(|_| rule.triggers & reporting::VOLTH != 0);
    asked.map(|t| VolumeLimit { total: set(t.total), uplink: set(t.uplink), downlink: set(t.downlink) })
}

/// The volume quota, if it is not used up. A limit of nothing is told with the first packet, and the others go on until then.
fn quota(rule: &Urr) -> Option<VolumeLimit> {
    let some = |limit: Option<u64>| limit.filter(|bytes| *bytes > 0);
    let limits = |q: VolumeLimit| VolumeLimit { total: some(q.total), uplink: some(q.uplink), downlink: some(q.downlink) };
    rule.volume_quota.filter(|_| is_open(rule)).map(limits).filter(|limits| *limits != VolumeLimit::default())
}

/// The time quota, likewise.
fn time_quota(rule: &Urr) -> Option<Duration> {
    seconds(rule.time_quota_s).filter(|_| is_open(rule))
}

/// Whether what its quotas leave may be used, so far as they leave anything.
fn is_open(rule: &Urr) -> bool {
    !rule.exhausted || rule.untold
}

/// A new quota lets packets through again. One of nothing is used up at once, which the first packet tells (§5.2.2.2.1).
pub(crate) fn begin_quota(rule: &mut Urr) {
    rule.exhausted = quotas_of_nothing(rule) != 0;
    rule.untold = rule.exhausted;
}

/// By which triggers the end of quotas is reported that are of nothing.
fn quotas_of_nothing(rule: &Urr) -> u32 {
    let volume = rule.volume_quota.is_some_and(|limit| [limit.total, limit.uplink, limit.downlink].contains(&Some(0)));
    let of = |nothing: bool, trigger: u32| if nothing { trigger } else { 0 };
    of(volume, trigger::VOLQU) | of(rule.time_quota_s == Some(0), trigger::TIMQU) | of(rule.event_quota == Some(0), trigger::EVEQU)
}

/// Bytes until one of the limits is used up; the largest number without a limit.
fn left(limit: VolumeLimit, used: Usage) -> u64 {
    let left = |limit: Option<u64>, used: u64| limit.map_or(u64::MAX, |limit| limit.saturating_sub(used));
    left(limit.total, used.uplink_bytes.saturating_add(used.downlink_bytes))
        .min(left(limit.uplink, used.uplink_bytes))
        .min(left(limit.downlink, used.downlink_bytes))
}

fn packets(usage: Usage) -> u64 {
    usage.uplink_packets.wrapping_add(usage.downlink_packets)
}

/// Each counter by `f` of both.
fn each(a: Usage, b: Usage, f: fn(u64, u64) -> u64) -> Usage {
    Usage {
        uplink_bytes: f(a.uplink_bytes, b.uplink_bytes),
        downlink_bytes: f(a.downlink_bytes, b.downlink_bytes),
        uplink_packets: f(a.uplink_packets, b.uplink_packets),
        downlink_packets: f(a.downlink_packets, b.downlink_packets),
    }
}

/// Counters less those of an earlier time.
fn less(counters: Usage, base: Usage) -> Usage {
    each(counters, base, u64::saturating_sub)
}

fn more(counters: Usage, added: Usage) -> Usage {
    each(counters, added, u64::saturating_add)
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

    fn one(reports: Vec<Group>) -> Group {
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.into_iter().next().unwrap()
    }

    #[test]
    fn a_report_counts_from_the_last_one() {
        let rule = Urr { measure_volume: true, measure_duration: true, immediate_start: true, ..Urr::default() };
        let mut meter = Meter::new(&rule, second(1), bytes(50, 50), CLOCK);
        meter.count_packets = true;
        let first = one(meter.report(7, &rule, trigger::IMMER, second(11), bytes(150, 350), CLOCK));
        let both = |up, down| Volume { total: Some(up + down), uplink: Some(up), downlink: Some(down) };
        assert_eq!(find!(first, VolumeMeasurement), Some(&VolumeMeasurement { bytes: both(100, 300), packets: both(1, 3) }));
        assert_eq!(find!(first, DurationMeasurement), Some(&10));
        assert_eq!((find!(first, StartTime), find!(first, EndTime)), (Some(&1001), Some(&1011)));
        let second_report = one(meter.report(7, &rule, trigger::TERMR, second(12), bytes(150, 351), CLOCK));
        assert_eq!(find!(second_report, UrSeqn), Some(&1));
        assert_eq!(find!(second_report, VolumeMeasurement).unwrap().bytes, both(0, 1));
    }

    #[test]
    fn periods_do_not_drift_and_catch_up_after_a_gap() {
        let rule = Urr { triggers: reporting::PERIO, period_s: Some(30), ..Urr::default() };
        let mut meter = Meter::new(&rule, second(0), Usage::default(), CLOCK);
        assert_eq!(meter.due_at(&rule, second(0)), Some(second(30)));
        assert_eq!(meter.time_triggers(&rule, second(29)), 0);
        assert_eq!(meter.time_triggers(&rule, second(31)), trigger::PERIO);
        meter.report(1, &rule, trigger::PERIO, second(31), Usage::default(), CLOCK);
        assert_eq!(meter.due_at(&rule, second(31)), Some(second(60)));
        meter.report(1, &rule, trigger::PERIO, second(300), Usage::default(), CLOCK);
        assert_eq!(meter.due_at(&rule, second(300)), Some(second(330)));
    }

    #[test]
    fn a_quota_goes_on_over_reports_and_a_new_one_counts_what_is_not_reported() {
        let limit = |total| Some(VolumeLimit { total: Some(total), ..VolumeLimit::default() });
        let mut rule = Urr { triggers: reporting::VOLTH, volume_threshold: limit(60), volume_quota: limit(100), ..Urr::default() };
        let mut meter = Meter::new(&rule, second(0), Usage::default(), CLOCK);
        assert_eq!(meter.volume_triggers(&rule, bytes(30, 29)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(30, 30)), trigger::VOLTH);
        meter.report(1, &rule, trigger::VOLTH, second(1), bytes(30, 30), CLOCK);
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 39)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 40)), trigger::VOLQU);
        rule.exhausted = true;
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 41)), 0);
        rule.exhausted = false;
        meter.renew(&rule, Renewed { volume_quota: true, ..Renewed::default() }, second(2), bytes(60, 41), CLOCK);
        assert_eq!(meter.volume_triggers(&rule, bytes(60, 59)), 0);
        assert_eq!(meter.volume_triggers(&rule, bytes(100, 60)), trigger::VOLTH | trigger::VOLQU);
    }
}
