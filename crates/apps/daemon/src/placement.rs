//! Placement, tick by tick: usage in, moves out.
//!
//! The agent's thread runs it every tick. It reads rates of some sessions at a time: from their usage cells, where a session
//! without URRs has no rate and is placed by rules only; or from the program's own detector, which knows the recent bytes of each PDR
//! (`p4/include/heavy.p4`, [`detect::session_rate`]).

use crate::config::{Config, Policy, Prefix, Rates};
use crate::dataplane::{EngineAndTargets, Targets};
use offload::planner::{Admit, Entries, Needs, Place, Planner, Settings};
use offload::{Planned, Split, Standing, Unit, plan_and_move};
use pfcp::rules::UserPlane;
use program::{Batch, Op, Program, RegisterId, TableId};
use serde::Deserialize;
use std::time::Duration;
use target::{Count, Meters, Registers, Target};
use upf::criteria::{self, Criteria, Slice};
use upf::ids::Ids;
use upf::plane::{Plane, SessionInfo};

/// Sessions whose usage is read in a tick: a few milliseconds' work.
const POLLED: usize = 8192;
/// When no packet has come for so long, no usage is read until one comes: rates go to nothing by themselves. Each session has been looked at since, but
/// of more than five million.
const QUIET: Duration = Duration::from_secs(30);
/// Cycles of x86 that a packet costs whose rule is found at once, and what filters add to it.
const CYCLES: f32 = 300.0;
const CYCLES_OF_FILTERS: f32 = 150.0;
/// The program's register of recent bytes, by PDR number.
const RECENT_BYTES: &str = "recent";
/// A packet's length in bytes before any has come: bytes alone say no packets a second.
const USUAL_LENGTH: f64 = 800.0;

/// `[split]`: keys of `policy = "planned"`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The first that matches a session decides; without a match its rate does.
    pub rules: Option<Vec<RuleConfig>>,
    /// Only sessions above a rate come for their rate; `"none"`: none do.
    pub heavy: Option<HeavyConfig>,
    /// Changes of the fast target's tables in any second.
    pub updates_per_second: Option<u32>,
    /// Milliseconds that a session stays at least once it has moved.
    pub min_stay_ms: Option<u64>,
    /// Milliseconds over which rates are averaged.
    pub window_ms: Option<u64>,
    /// What a session must be worth more than those that it displaces, as a factor.
    pub margin: Option<f64>,
}

/// `split.heavy`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected \"none\" or { above_mbps = 10 }")]
pub enum HeavyConfig {
    /// `"none"`.
    Word(NoHeavy),
    /// Thresholds.
    Above(HeavyAbove),
}

/// `"none"`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum NoHeavy {
    /// Nobody comes for a rate.
    None,
}

/// Thresholds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeavyAbove {
    /// They come above this.
    above_mbps: f64,
    /// They leave below this; default: half of it.
    leave_mbps: Option<f64>,
}

/// One of `split.rules`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    ue: Option<Prefix>,
    /// One, or first and last.
    teid: Option<TeidRange>,
    dscp: Option<u8>,
    /// `"1"` or `"1-010203"`.
    slice: Option<String>,
    qfi: Option<u8>,
    then: ThenConfig,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a TEID or [first, last]")]
enum TeidRange {
    One(u32),
    Range([u32; 2]),
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ThenConfig {
    Fast,
    Base,
    Urgent,
    Weight(f64),
}

/// What is wrong with a plan: the operator's fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The key means something for planned placement only.
    #[error("{0} is for policy = \"planned\"")]
    NotPlanned(&'static str),
    /// A slice that cannot be read, of a rule.
    #[error("rule {rule}: slice `{text}` is not a type with or without a differentiator, such as 1 or 1-010203")]
    Slice {
        /// The rule, from 1.
        rule: usize,
        /// What it says.
        text: String,
    },
    /// A rule's criterion.
    #[error("rule {rule}: {fault}")]
    Criterion {
        /// The rule, from 1.
        rule: usize,
        /// The value.
        fault: criteria::OutOfRange,
    },
    /// A rule's weight.
    #[error("rule {rule}: weight {weight} is not between 0 and 1000000")]
    Weight {
        /// The rule, from 1.
        rule: usize,
        /// The value.
        weight: f64,
    },
    /// The program has no detector.
    #[error("the program has no register `{RECENT_BYTES}` of 64 bits, as p4/include/heavy.p4 has")]
    NoCells,
    /// Another value.
    #[error(transparent)]
    OutOfRange(#[from] offload::OutOfRange),
}

impl PlanError {
    /// The key of the configuration, below `split`, that has the value.
    pub fn key(&self) -> &'static str {
        match self {
            PlanError::NotPlanned(key) => key,
            PlanError::Slice { .. } | PlanError::Criterion { .. } | PlanError::Weight { .. } => "rules",
            PlanError::NoCells => "rates",
            PlanError::OutOfRange(offload::OutOfRange::Heavy { .. }) => "heavy",
            PlanError::OutOfRange(offload::OutOfRange::Window) => "window_ms",
            PlanError::OutOfRange(_) => "margin",
        }
    }
}

impl Plan {
    /// Checks it; `planned`: whether placement is.
    pub fn validate(&self, planned: bool) -> Result<(), PlanError> {
        if !planned && *self != Plan::default() {
            let Plan { rules, heavy, updates_per_second, min_stay_ms, window_ms, margin } = self;
            let keys = [
                ("rules", rules.is_some()),
                ("heavy", heavy.is_some()),
                ("updates_per_second", updates_per_second.is_some()),
                ("min_stay_ms", min_stay_ms.is_some()),
                ("window_ms", window_ms.is_some()),
                ("margin", margin.is_some()),
            ];
            let key = keys.iter().find(|(_, set)| *set).map_or("", |(key, _)| key);
            return Err(PlanError::NotPlanned(key));
        }
        self.rules()?;
        Ok(self.settings().validate()?)
    }

    /// The rules, their ranges checked.
    fn rules(&self) -> Result<Vec<Rule>, PlanError> {
        self.rules.iter().flatten().enumerate().map(|(i, rule)| rule.to_rule(i + 1)).collect()
    }

    fn settings(&self) -> Settings {
        let usual = Settings::default();
        let ms = |ms: u64| ms.saturating_mul(1_000_000);
        let admit = match &self.heavy {
            None => Admit::Anybody,
            Some(HeavyConfig::Word(NoHeavy::None)) => Admit::Nobody,
            Some(HeavyConfig::Above(HeavyAbove { above_mbps, leave_mbps })) => {
                Admit::Above { enter_bps: above_mbps * 1e6, leave_bps: leave_mbps.unwrap_or(above_mbps / 2.0) * 1e6 }
            }
        };
        Settings {
            admit,
            window_ns: self.window_ms.map_or(usual.window_ns, ms),
            margin: self.margin.unwrap_or(usual.margin),
            min_stay_ns: self.min_stay_ms.map_or(usual.min_stay_ns, ms),
            updates_per_second: self.updates_per_second.unwrap_or(usual.updates_per_second),
        }
    }
}

impl RuleConfig {
    /// `number` is the rule's own, from 1.
    fn to_rule(&self, number: usize) -> Result<Rule, PlanError> {
        let teid = self.teid.as_ref().map(|teid| match teid {
            TeidRange::One(teid) => (*teid, *teid),
            TeidRange::Range([low, high]) => (*low, *high),
        });
        let read = |text: &str| slice(text).ok_or_else(|| PlanError::Slice { rule: number, text: text.to_owned() });
        let slice = self.slice.as_deref().map(read).transpose()?;
        let of = Criteria { ue: self.ue.map(Prefix::network), teid, dscp: self.dscp, slice, qfi: self.qfi };
        of.validate().map_err(|fault| PlanError::Criterion { rule: number, fault })?;
        let (standing, weight) = match self.then {
            ThenConfig::Fast => (Standing::Always, 1.0),
            ThenConfig::Base => (Standing::Never, 1.0),
            ThenConfig::Urgent => (Standing::Urgent, 1.0),
            ThenConfig::Weight(weight) if (0.0..=1e6).contains(&weight) => (Standing::ByRate, weight),
            ThenConfig::Weight(weight) => return Err(PlanError::Weight { rule: number, weight }),
        };
        Ok(Rule { of, standing, weight })
    }
}

/// One of the operator's rules, read.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    /// Which sessions.
    of: Criteria,
    standing: Standing,
    /// Of each of their packets.
    weight: f64,
}

/// Where the operator wants which sessions: what `offload` decides by, of what `upf` knows.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Of the policy `ues`.
    ues: Vec<Criteria>,
    /// Of the policy `planned`; the first that matches decides.
    rules: Vec<Rule>,
}

impl Wishes {
    /// Those of a configuration.
    pub fn new(config: &crate::config::Split) -> Result<Wishes, PlanError> {
        let ues = match &config.policy {
            Policy::Ues(list) => list.iter().map(|ue| Criteria { ue: Some(ue.network()), ..Criteria::default() }).collect(),
            _ => Vec::new(),
        };
        Ok(Wishes { ues, rules: config.plan().rules()? })
    }

    /// For a session.
    pub fn of(&self, session: &SessionInfo) -> Unit {
        let rule = self.rules.iter().find(|rule| rule.of.hold_for(session));
        Unit {
            id: session.seid,
            metered: session.has_meters,
            chosen: self.ues.iter().any(|ues| ues.hold_for(session)),
            standing: rule.map_or(Standing::ByRate, |rule| rule.standing),
            weight: rule.map_or(1.0, |rule| rule.weight),
            wakes: false,
        }
    }
}

/// `1` or `1-010203`, as SMFs' configurations write it: type, and six hexadecimal digits.
pub(crate) fn slice(text: &str) -> Option<Slice> {
    let (sst, sd) = text.split_once('-').map_or((text, None), |(sst, sd)| (sst, Some(sd)));
    let sd = match sd {
        Some(sd) => Some(u32::from_str_radix(sd, 16).ok().filter(|_| sd.len() == 6)?),
        None => None,
    };
    Some(Slice { sst: sst.parse().ok()?, sd })
}

/// The planner and where it is.
pub struct Placement {
    planner: Planner,
    /// Tables with room of their own, in the order of [`Entries`].
    tables: [TableId; 4],
    cursor: usize,
    /// Where the program's detector keeps recent bytes, if rates are its.
    recent_bytes: Option<RegisterId>,
    /// The bytes that all sessions had carried when that last changed, and when it did.
    carried: Option<u64>,
    carried_at: Duration,
}

impl Placement {
    /// If the configuration asks for one.
    pub fn new(config: &Config, targets: &Targets, ids: &Ids) -> Result<Option<Placement>, PlanError> {
        match targets {
            Targets::Split(split) if config.split.policy == Policy::Planned => Placement::of(&config.split, split, ids).map(Some),
            _ => Ok(None),
        }
    }

    fn of(config: &crate::config::Split, split: &Split, ids: &Ids) -> Result<Placement, PlanError> {
        let t = &ids.tables;
        let tables = [t.pdr_by_teid, t.pdr_by_ue_ipv4, t.pdr_by_ue_ipv6, t.pdr_by_class];
        let room = tables.map(|table| u32::try_from(split.fast().table_stats(table).capacity).unwrap_or(u32::MAX));
        let planner = Planner::new(config.plan().settings(), room)?;
        let recent_bytes = match config.rates {
            Rates::Counters => None,
            Rates::Cells => Some(recent_bytes(split.program()).ok_or(PlanError::NoCells)?),
        };
        let (carried, carried_at) = Default::default();
        Ok(Placement { planner, tables, cursor: 0, recent_bytes, carried, carried_at })
    }

    /// What is due. `packets_now` is the time on the clock of the packets' time stamps.
    pub fn tick(&mut self, now: Duration, packets_now: Duration, plane: &mut Plane<EngineAndTargets>, split: &Split) {
        let now_ns = now.as_nanos() as u64;
        let changed = plane.data_mut().take_changed();
        let carried = plane.carried();
        if carried.is_none() || carried != self.carried || !changed.is_empty() {
            (self.carried, self.carried_at) = (carried, now);
        }
        for seid in changed {
            self.session(seid, plane, split, now_ns);
        }
        let looks_at = if now.saturating_sub(self.carried_at) > QUIET { 0 } else { POLLED };
        let looked_at = self.planner.next_sessions(&mut self.cursor, looks_at);
        match self.recent_bytes {
            None => {
                for seid in looked_at {
                    if let Some(count) = plane.charged(seid) {
                        self.planner.usage(seid, count.packets, count.bytes, now_ns);
                    }
                }
            }
            Some(register) => {
                let length = mean_length(split);
                for seid in looked_at {
                    let bytes_per_second = recent_rate(seid, register, packets_now, plane, split) as f64;
                    self.planner.rate(seid, bytes_per_second / length, bytes_per_second * 8.0, now_ns);
                }
            }
        }
        let copy = |seid: u64| Some((plane.data().wishes().of(&plane.info(seid)?), plane.copy(seid)?));
        let executed = plan_and_move(split, &mut self.planner, now_ns, copy);
        if executed != Default::default() {
            tracing::debug!(executed.to_fast, executed.to_base, executed.failed, "moves");
        }
    }

    /// Where the planner stands with a session.
    pub fn standing_of(&self, seid: u64, now: Duration) -> Option<Planned> {
        self.planner.reason(seid, now.as_nanos() as u64)
    }

    /// A session was there before the planner.
    pub fn found(&mut self, seid: u64, plane: &Plane<EngineAndTargets>, split: &Split, now: Duration) {
        let now_ns = now.as_nanos() as u64;
        self.session(seid, plane, split, now_ns);
        let place = if split.is_on_fast(seid) { Place::Fast } else { Place::Base };
        self.planner.found(seid, place, now_ns);
    }

    /// A session is new, has changed or has ended.
    fn session(&mut self, seid: u64, plane: &Plane<EngineAndTargets>, split: &Split, now_ns: u64) {
        match (plane.info(seid), plane.copy(seid)) {
            (Some(info), Some(copy)) => {
                // Who needs nothing is not moved: ahead of the workers rates do not, but where both targets share token buckets.
                let moves = !(split.fast_is_ahead() && info.has_meters) || split.fast().facets().meters.is_some_and(Meters::shares_meters);
                let needs = if moves { self.needs(&copy) } else { Needs::default() };
                self.planner.session(&plane.data().wishes().of(&info), needs, now_ns);
            }
            _ => self.planner.forget(seid),
        }
    }

    fn needs(&self, copy: &Batch) -> Needs {
        let mut entries = Entries::default();
        for op in &copy.ops {
            if let Op::Insert(e) = op
                && let Some(room) = self.tables.iter().position(|table| *table == e.table)
            {
                entries[room] += 1;
            }
        }
        let cycles = if entries[3] > 0 { CYCLES + CYCLES_OF_FILTERS } else { CYCLES };
        Needs { entries, updates: copy.ops.len() as u32, cycles }
    }
}

fn recent_bytes(program: &Program) -> Option<RegisterId> {
    program.registers.iter().find(|(_, info)| info.name == RECENT_BYTES && info.width == 64).map(|(id, _)| id)
}

/// What the detector says of a session, in bytes a second: the sum of its PDRs, wherever their packets ran.
fn recent_rate(seid: u64, register: RegisterId, packets_now: Duration, plane: &Plane<EngineAndTargets>, split: &Split) -> u64 {
    let now_us = packets_now.as_micros() as u64;
    // Nothing of a session runs on a target that it is not on, and the fast target is slow to read.
    let fast = split.fast().facets().registers.filter(|_| split.is_on_fast(seid));
    let mut cells = Vec::new();
    for (_, number) in plane.pdr_numbers(seid) {
        let number = u64::from(number);
        for registers in [split.base().facets().registers, fast].into_iter().flatten() {
            // A number without a cell has no bytes.
            let _ = Registers::read_registers(registers, register, number..number + 1, &mut cells);
        }
    }
    cells.iter().map(|cell| detect::session_rate::rate(*cell, now_us)).fold(0, u64::saturating_add)
}

/// Mean length of all packets so far, in bytes.
fn mean_length(split: &Split) -> f64 {
    let mut all = Count::default();
    split.traffic().into_values().for_each(|count| all += count);
    if all.packets == 0 { USUAL_LENGTH } else { (all.bytes as f64 / all.packets as f64).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::bench::sessions;
    use pfcp::rules::UserPlane;
    use std::sync::Arc;
    use target::Lane;
    use target_asic::{Asic, Chip};

    /// The agent's parts, without its thread and without ports.
    struct Parts {
        split: Arc<Split>,
        lane: Box<dyn Lane>,
        plane: Plane<EngineAndTargets>,
        placement: Placement,
        now: Duration,
    }

    impl Parts {
        fn new(split_config: &str) -> Parts {
            let settings: crate::config::Split = toml::from_str(split_config).unwrap();
            let mut defines = settings.defines();
            defines.push(("SESSIONS".into(), "1024".into()));
            let ir = Arc::new(crate::program::compile(std::path::Path::new("upf.p4"), &[], &defines).unwrap());
            let asic = Asic::load(ir.clone(), Chip { session_entries: 3 }).unwrap();
            let whole = Asic::oracle(ir.clone()).unwrap();
            let split = Arc::new(Split::new(Box::new(asic), Box::new(whole), offload::Policy::Planned).unwrap());
            let targets = Targets::Split(split.clone());
            let (events, _) = crossbeam_channel::unbounded();
            let engine = engine::Engine::start(&targets.target(), vec![Vec::new()], Default::default(), events).unwrap();
            let data = EngineAndTargets::new(targets.clone(), Arc::new(engine)).with_wishes(Wishes::new(&settings).unwrap());
            let network = sessions::network();
            let plane = Plane::new(&network, &ir.program, data).unwrap();
            let ids = Ids::bind(&ir.program).unwrap();
            split.apply(&upf::static_rules::initial(&network, &ids)).unwrap();
            let placement = Placement::of(&settings, &split, &ids).unwrap();
            Parts { lane: split.lane(1), split, plane, placement, now: Duration::from_secs(1) }
        }

        /// Packets of sessions, and ticks in between.
        fn traffic(&mut self, packets: &[(u32, usize)], ticks: u32) {
            for _ in 0..ticks {
                for (n, count) in packets {
                    for _ in 0..*count {
                        let direction = sessions::Direction::Downlink;
                        let mut packet = [base::Packet::new(&sessions::frame(direction, *n), direction.port())];
                        let mut verdict = [base::Verdict::default()];
                        self.lane.process(&mut packet, &mut verdict, self.now.as_nanos() as u64);
                        assert_eq!(verdict[0].kind, base::VerdictKind::Forward, "session {n}");
                    }
                }
                self.now += Duration::from_millis(50);
                self.placement.tick(self.now, self.now, &mut self.plane, &self.split);
            }
        }

        fn on_fast(&self) -> Vec<u64> {
            (1..=8).filter(|seid| self.split.is_on_fast(*seid)).collect()
        }
    }

    /// From rules over usage to moves, and back when sessions change and end; what they are charged is what they were sent.
    #[test]
    fn sessions_with_traffic_come_and_those_with_more_displace_them() {
        let mut parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"\nmin_stay_ms = 500\nrules = [{ teid = 6, then = \"base\" }]");
        parts.traffic(&[], 1);
        for n in 0..6u32 {
            parts.plane.commit(u64::from(n) + 1, Some(&sessions::rules(n))).unwrap();
        }
        // Session 6 has most, and the rule against it.
        parts.traffic(&[(0, 4), (1, 3), (2, 2), (5, 9)], 10);
        assert_eq!(parts.on_fast(), [1, 2, 3]);
        parts.traffic(&[(0, 4), (1, 3), (2, 2), (3, 8)], 30);
        assert_eq!(parts.on_fast(), [1, 2, 4], "the one with the least has left");
        // One ends, and its place is taken.
        parts.plane.commit(4, None).unwrap();
        parts.traffic(&[(0, 4), (1, 3), (2, 2)], 10);
        assert_eq!(parts.on_fast(), [1, 2, 3]);
        let charged = |parts: &mut Parts, seid| parts.plane.charged(seid).unwrap().packets;
        assert_eq!([charged(&mut parts, 1), charged(&mut parts, 3), charged(&mut parts, 6)], [4 * 50, 2 * 50, 9 * 10]);
    }

    /// A session that nobody charges, as some SMFs establish them.
    fn uncharged(n: u32) -> pfcp::rules::SessionRules {
        let mut rules = sessions::rules(n);
        rules.urrs.clear();
        rules.pdrs.values_mut().for_each(|pdr| pdr.urr_ids.clear());
        rules
    }

    /// They never came to the fast target, however much they carried.
    #[test]
    fn heavy_sessions_without_urrs_are_found_by_the_programs_detector_and_leave_when_they_are_light() {
        // A packet each 50 ms is 160 bit/s for each of its bytes.
        let heavy = "fast = \"asic\"\npolicy = \"planned\"\nmin_stay_ms = 500\nheavy = { above_mbps = 0.05, leave_mbps = 0.02 }\n";
        for (rates, expected) in [("", &[][..]), ("rates = \"cells\"", &[2, 5][..])] {
            let mut parts = Parts::new(&format!("{heavy}{rates}"));
            parts.traffic(&[], 1);
            for n in 0..6u32 {
                parts.plane.commit(u64::from(n) + 1, Some(&uncharged(n))).unwrap();
            }
            parts.traffic(&[(0, 1), (1, 20), (2, 2), (4, 20)], 30);
            assert_eq!(parts.on_fast(), expected, "{rates}");
            // One goes on where it is now, and stays; the other is silent.
            parts.traffic(&[(0, 1), (1, 20)], 60);
            assert_eq!(parts.on_fast(), &expected[..expected.len() / 2], "{rates}");
            let rate = parts.placement.standing_of(2, parts.now).expect("the planner knows it").pps;
            assert_eq!(rate > 0.0, !rates.is_empty());
        }
        // A program of the operator's own.
        let split: crate::config::Split = toml::from_str("fast = \"asic\"\npolicy = \"planned\"\nrates = \"cells\"").unwrap();
        let parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"");
        let ids = Ids::bind(parts.split.program()).unwrap();
        assert_eq!(Placement::of(&split, &parts.split, &ids).err(), Some(PlanError::NoCells));
    }

    /// The lane is the test's: of its packets the engine, which tells what came, knows nothing.
    #[test]
    fn usage_is_not_read_while_no_packet_comes() {
        let mut parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"\nmin_stay_ms = 500");
        let rate = |parts: &Parts| parts.placement.standing_of(1, parts.now).expect("the planner knows it").pps;
        parts.traffic(&[], 1);
        parts.plane.commit(1, Some(&sessions::rules(0))).unwrap();
        parts.traffic(&[], 2);
        parts.now += QUIET;
        parts.traffic(&[(0, 4)], 20);
        assert_eq!(rate(&parts), 0.0);
        // A change of a session is a sign of life, too.
        parts.plane.commit(2, Some(&sessions::rules(1))).unwrap();
        parts.traffic(&[(0, 4)], 20);
        assert!(rate(&parts) > 0.0);
    }

    fn plan(text: &str) -> Result<Plan, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn a_plan_is_read() {
        let text = r#"
            rules = [
                { slice = "1-010203", qfi = 3, then = "urgent" },
                { ue = "10.45.0.0/16", then = "fast" },
                { teid = [1, 99], dscp = 46, then = { weight = 4.0 } },
                { teid = 7, then = "base" },
            ]
            heavy = { above_mbps = 8 }
            updates_per_second = 500
            min_stay_ms = 3000
        "#;
        let (settings, rules) = (plan(text).unwrap().settings(), plan(text).unwrap().rules().unwrap());
        assert_eq!(settings.admit, Admit::Above { enter_bps: 8e6, leave_bps: 4e6 });
        assert_eq!((settings.updates_per_second, settings.min_stay_ns), (500, 3_000_000_000));
        assert_eq!(rules[0].of.slice, Some(Slice { sst: 1, sd: Some(0x010203) }));
        assert_eq!((rules[2].of.teid, rules[2].standing, rules[2].weight), (Some((1, 99)), Standing::ByRate, 4.0));
        assert_eq!(rules[3].of.teid, Some((7, 7)));
        assert_eq!(plan("heavy = \"none\"").unwrap().settings().admit, Admit::Nobody);
    }

    #[test]
    fn the_first_rule_whose_criteria_all_hold_decides() {
        let text = r#"
            policy = "planned"
            rules = [
                { ue = "10.0.0.0/8", qfi = 5, then = "base" },
                { slice = "1", then = "urgent" },
                { teid = [100, 200], then = "fast" },
                { dscp = 46, then = { weight = 8.0 } },
            ]
        "#;
        let wishes = Wishes::new(&toml::from_str(text).unwrap()).unwrap();
        let of = |session: SessionInfo| {
            let Unit { standing, weight, chosen, .. } = wishes.of(&session);
            assert!(!chosen, "by the policy `ues` only");
            (standing, weight)
        };
        let ten = SessionInfo { ue_ipv4s: vec!["10.1.2.3".parse().unwrap()], ..SessionInfo::default() };
        let sliced = SessionInfo { s_nssai: Some((1, Some(7))), ..ten.clone() };
        assert_eq!(of(ten.clone()), (Standing::ByRate, 1.0));
        assert_eq!(of(SessionInfo { qfis: vec![1, 5], ..ten.clone() }), (Standing::Never, 1.0));
        assert_eq!(of(sliced.clone()), (Standing::Urgent, 1.0));
        assert_eq!(of(SessionInfo { qfis: vec![5], ..sliced }), (Standing::Never, 1.0));
        assert_eq!(of(SessionInfo { teids: vec![7, 200], ..ten.clone() }), (Standing::Always, 1.0));
        assert_eq!(of(SessionInfo { dscps: vec![46], ..ten.clone() }), (Standing::ByRate, 8.0));
        let ues = Wishes::new(&toml::from_str("policy = { ues = [\"10.1.0.0/16\", \"2001:db8::/32\"] }").unwrap()).unwrap();
        assert!(ues.of(&ten).chosen && !ues.of(&SessionInfo::default()).chosen);
    }

    #[test]
    fn faults_are_named() {
        for (text, message) in [
            ("rules = [{ slice = \"1-0102\", then = \"fast\" }]", "slice `1-0102`"),
            ("rules = [{ dscp = 64, then = \"fast\" }]", "rule 1: DSCP 64"),
            ("rules = [{ qfi = 1, then = \"base\" }, { then = { weight = -1.0 } }]", "rule 2: weight -1"),
            ("rules = [{ then = { weight = nan } }]", "rule 1: weight NaN"),
            ("margin = 0.5", "margin 0.5"),
            ("heavy = { above_mbps = 1, leave_mbps = 2 }", "must not be less"),
            ("window_ms = 0", "window"),
        ] {
            let error = plan(text).unwrap().validate(true).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            assert!(text.starts_with(error.key()), "{error}: {}", error.key());
        }
        assert_eq!(plan("updates_per_second = 5").unwrap().validate(false), Err(PlanError::NotPlanned("updates_per_second")));
        assert!(plan("update_rate = 5").is_err() && plan("rules = [{ then = \"up\" }]").is_err());
    }
}
