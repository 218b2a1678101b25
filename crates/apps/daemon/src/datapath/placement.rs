//! Placement, tick by tick: usage in, moves out.
//!
//! The agent's thread runs it every tick. It reads rates of some sessions at a time: from their usage cells, which have all their packets, whatever URRs there
//! are; or from the program's own detector, which knows the recent bytes of each PDR (`p4/include/heavy.p4`, [`decay::session_rate`]).

use crate::config::placement::{PlanError, RECENT_BYTES, Rule};
use crate::config::{Config, Policy, Rates};
use crate::datapath::targets::EngineAndTargets;
use offload::planner::{Entries, Needs, Place, Planner};
use offload::{Planned, Split, Standing, Unit, plan_and_move};
use pfcp::rules::UserPlane;
use program::{Batch, Op, Program, RegisterId, TableId};
use std::time::Duration;
use target_api::{Count, Meters, Registers, Target};
use upf::criteria::Criteria;
use upf::ids::Ids;
use upf::plane::{Plane, SessionInfo};

/// Sessions whose usage is read in a tick: a few milliseconds' work.
const POLLED: usize = 8192;
/// Sessions that the planner is told of in a tick, as they have come, changed or ended: some milliseconds' work, and more than can come in that time.
const TOLD: usize = 2048;
/// When no packet has come for so long, no usage is read until one comes: rates go to nothing by themselves. Each session has been looked at since, but
/// of more than five million.
const QUIET: Duration = Duration::from_secs(30);
/// Cycles of x86 that a packet costs whose rule is found at once, and what filters add to it.
const CYCLES: f32 = 300.0;
const CYCLES_OF_FILTERS: f32 = 150.0;
/// A packet's length in bytes before any has come: bytes alone say no packets a second.
const USUAL_LENGTH: f64 = 800.0;

/// Where the operator wants which sessions: what `offload` decides by, of what `upf` knows.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Whether the policy is `planned`.
    planned: bool,
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
        Ok(Wishes { planned: config.policy == Policy::Planned, ues, rules: config.plan().rules()? })
    }

    /// Whether a planner places sessions.
    pub fn are_planned(&self) -> bool {
        self.planned
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
    pub fn new(config: &Config, split: &Split, ids: &Ids) -> Result<Option<Placement>, PlanError> {
        let fast = split.fast().filter(|_| config.split.policy == Policy::Planned);
        fast.map(|fast| Placement::of(&config.split, fast, ids)).transpose()
    }

    fn of(config: &crate::config::Split, fast: &dyn Target, ids: &Ids) -> Result<Placement, PlanError> {
        let t = &ids.tables;
        let tables = [t.pdr_by_teid, t.pdr_by_ue_ipv4, t.pdr_by_ue_ipv6, t.pdr_by_class];
        let room = tables.map(|table| u32::try_from(fast.table_stats(table).capacity).unwrap_or(u32::MAX));
        let planner = Planner::new(config.planner_settings(), room)?;
        let recent_bytes = match config.rates {
            Rates::Counters => None,
            Rates::Cells => Some(recent_bytes(fast.program()).ok_or(PlanError::NoCells)?),
        };
        let (carried, carried_at) = Default::default();
        Ok(Placement { planner, tables, cursor: 0, recent_bytes, carried, carried_at })
    }

    /// What is due. `packets_now` is the time on the clock of the packets' time stamps.
    pub fn tick(&mut self, now: Duration, packets_now: Duration, plane: &mut Plane<EngineAndTargets>, split: &Split) {
        let now_ns = now.as_nanos() as u64;
        let changed = plane.data_mut().take_changed(TOLD);
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
                    if let Some((packets, bytes)) = carried_by(seid, plane) {
                        self.planner.usage(seid, packets, bytes, now_ns);
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

    /// Sessions that the planner wants on the fast target, and all that it knows.
    pub fn counts(&self) -> (u64, u64) {
        (self.planner.wanted() as u64, self.planner.counts().0 as u64)
    }

    /// A session was there before the planner.
    pub fn found(&mut self, seid: u64, plane: &mut Plane<EngineAndTargets>, split: &Split, now: Duration) {
        let now_ns = now.as_nanos() as u64;
        self.session(seid, plane, split, now_ns);
        let place = if split.is_on_fast(seid) { Place::Fast } else { Place::Base };
        self.planner.found(seid, place, now_ns);
    }

    /// A session is new, has changed or has ended.
    fn session(&mut self, seid: u64, plane: &mut Plane<EngineAndTargets>, split: &Split, now_ns: u64) {
        match (plane.info(seid), plane.copy(seid)) {
            (Some(info), Some(copy)) => {
                // Who needs nothing is not moved: ahead of the workers rates do not, but where both targets share token buckets.
                let shares_meters = || split.fast().and_then(|fast| fast.facets().meters).is_some_and(Meters::shares_meters);
                let moves = !(split.fast_is_ahead() && info.has_meters) || shares_meters();
                let needs = if moves { self.needs(&copy) } else { Needs::default() };
                let is_new = !self.planner.knows(seid);
                self.planner.session(&plane.data().wishes().of(&info), needs, now_ns);
                if is_new && let Some((packets, bytes)) = carried_by(seid, plane) {
                    self.planner.used_before(seid, packets, bytes);
                }
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

/// Packets and bytes that a session has carried both ways.
fn carried_by(seid: u64, plane: &mut Plane<EngineAndTargets>) -> Option<(u64, u64)> {
    let carried = plane.carried_by(seid)?;
    Some((carried.packets(), carried.uplink_bytes.saturating_add(carried.downlink_bytes)))
}

fn recent_bytes(program: &Program) -> Option<RegisterId> {
    program.registers.iter().find(|(_, info)| info.name == RECENT_BYTES && info.width == 64).map(|(id, _)| id)
}

/// What the detector says of a session, in bytes a second: the sum of its PDRs, wherever their packets ran.
fn recent_rate(seid: u64, register: RegisterId, packets_now: Duration, plane: &Plane<EngineAndTargets>, split: &Split) -> u64 {
    let now_us = packets_now.as_micros() as u64;
    // Nothing of a session runs on a target that it is not on, and the fast target is slow to read.
    let fast = split.fast().and_then(|fast| fast.facets().registers).filter(|_| split.is_on_fast(seid));
    let mut cells = Vec::new();
    for (_, number) in plane.pdr_numbers(seid) {
        let number = u64::from(number);
        for registers in [split.base().facets().registers, fast].into_iter().flatten() {
            // A number without a cell has no bytes.
            let _ = Registers::read_registers(registers, register, number..number + 1, &mut cells);
        }
    }
    cells.iter().map(|cell| decay::session_rate::rate(*cell, now_us)).fold(0, u64::saturating_add)
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
    use crate::config::placement::Plan;
    use offload::planner::Admit;
    use pfcp::rules::UserPlane;
    use std::sync::Arc;
    use target_api::Lane;
    use target_asic::{Asic, Chip};
    use upf::criteria::Slice;
    use upf_kit::sessions;

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
            let ir = Arc::new(p4_driver::compile(std::path::Path::new("upf.p4"), &[], &defines).unwrap());
            let asic = Asic::load(ir.clone(), Chip { session_entries: 3 }).unwrap();
            let whole = Asic::oracle(ir.clone()).unwrap();
            let split = Arc::new(Split::new(Box::new(asic), Box::new(whole), offload::Policy::Planned).unwrap());
            let (events, _) = crossbeam_channel::unbounded();
            let engine = engine::Engine::start(&(split.clone() as Arc<dyn Target>), vec![Vec::new()], Default::default(), events).unwrap();
            let data = EngineAndTargets::new(split.clone(), Arc::new(engine)).with_wishes(Wishes::new(&settings).unwrap());
            let network = sessions::network();
            let plane = Plane::new(&network, &ir.program, data).unwrap();
            let ids = Ids::bind(&ir.program).unwrap();
            split.apply(&upf::static_rules::initial(&network, &ids)).unwrap();
            let placement = Placement::of(&settings, split.fast().unwrap(), &ids).unwrap();
            Parts { lane: split.lane(1), split, plane, placement, now: Duration::from_secs(1) }
        }

        /// Packets of sessions, and ticks in between.
        fn traffic(&mut self, packets: &[(u32, usize)], ticks: u32) {
            self.traffic_to(sessions::Direction::Downlink, packets, ticks);
        }

        fn traffic_to(&mut self, direction: sessions::Direction, packets: &[(u32, usize)], ticks: u32) {
            for _ in 0..ticks {
                for (n, count) in packets {
                    for _ in 0..*count {
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
        let charged = |parts: &mut Parts, seid| parts.plane.carried_by(seid).unwrap().packets();
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
    fn heavy_sessions_without_urrs_are_found_and_leave_when_they_are_light() {
        // A packet each 50 ms is 160 bit/s for each of its bytes.
        let heavy = "fast = \"asic\"\npolicy = \"planned\"\nmin_stay_ms = 500\nheavy = { above_mbps = 0.05, leave_mbps = 0.02 }\n";
        let expected = [2, 5];
        for rates in ["", "rates = \"cells\""] {
            let mut parts = Parts::new(&format!("{heavy}{rates}"));
            parts.traffic(&[], 1);
            for n in 0..6u32 {
                parts.plane.commit(u64::from(n) + 1, Some(&uncharged(n))).unwrap();
            }
            parts.traffic(&[(0, 1), (1, 20), (2, 2), (4, 20)], 30);
            assert_eq!(parts.on_fast(), expected, "{rates}");
            // One goes on where it is now, and stays; the other is silent.
            parts.traffic(&[(0, 1), (1, 20)], 60);
            assert_eq!(parts.on_fast(), expected[..1], "{rates}");
            assert!(parts.placement.standing_of(2, parts.now).expect("the planner knows it").pps > 0.0);
        }
        // A program of the operator's own.
        let split: crate::config::Split = toml::from_str("fast = \"asic\"\npolicy = \"planned\"\nrates = \"cells\"").unwrap();
        let parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"");
        let ids = Ids::bind(parts.split.program()).unwrap();
        assert_eq!(Placement::of(&split, &parts.split, &ids).err(), Some(PlanError::NoCells));
    }

    /// As some SMFs have it. The others are light.
    #[test]
    fn an_uplink_that_no_urr_counts_is_traffic_of_its_session() {
        let heavy = "fast = \"asic\"\npolicy = \"planned\"\nheavy = { above_mbps = 0.05, leave_mbps = 0.02 }\n";
        let mut parts = Parts::new(heavy);
        for n in 0..3u32 {
            let mut rules = sessions::rules(n);
            rules.pdrs.get_mut(&1).unwrap().urr_ids.clear();
            parts.plane.commit(u64::from(n) + 1, Some(&rules)).unwrap();
        }
        parts.traffic_to(sessions::Direction::Uplink, &[(1, 20)], 30);
        assert_eq!(parts.on_fast(), [2]);
        let carried = parts.plane.carried_by(2).unwrap();
        assert_eq!((carried.uplink_packets, carried.downlink_packets), (600, 0));
    }

    /// As sessions come back from a store before there is a planner: it never knew of them.
    #[test]
    fn sessions_that_were_there_before_the_first_tick_are_placed_as_those_that_come_later() {
        let mut parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"\nrules = [{ teid = 2, then = \"fast\" }]");
        for n in 0..4u32 {
            parts.plane.commit(u64::from(n) + 1, Some(&sessions::rules(n))).unwrap();
        }
        let reason = |parts: &Parts, seid| {
            let unit = parts.plane.data().wishes().of(&parts.plane.info(seid).unwrap());
            parts.split.reason(&unit, parts.placement.standing_of(seid, parts.now).as_ref())
        };
        assert_eq!((parts.placement.counts(), reason(&parts, 1)), ((0, 0), offload::Reason::New));
        parts.traffic(&[(0, 4), (2, 3)], 10);
        assert_eq!((parts.on_fast(), parts.placement.counts()), (vec![1, 2, 3], (3, 4)));
        assert_eq!(reason(&parts, 4), offload::Reason::Idle);
    }

    /// Each tick is told of some only, and none is left out for those that come and change all the time.
    #[test]
    fn the_planner_is_told_of_many_sessions_some_at_a_time() {
        let mut parts = Parts::new("fast = \"asic\"\npolicy = \"planned\"");
        let all = 1..=20u64;
        let commit = |parts: &mut Parts, seid: u64| parts.plane.commit(seid, Some(&sessions::rules(seid as u32))).unwrap();
        all.clone().for_each(|seid| drop(commit(&mut parts, seid)));
        let mut told = std::collections::BTreeSet::new();
        for _ in 0..10 {
            told.extend(parts.plane.data_mut().take_changed(4));
            (1..=3).for_each(|seid| drop(commit(&mut parts, seid)));
        }
        assert!(all.eq(told));
    }

    /// A planner that comes by a reload, or behind sessions of a store: what they have carried before is not what they carry in a second.
    #[test]
    fn what_a_session_had_carried_before_it_was_told_of_is_no_rate() {
        let heavy = "fast = \"asic\"\npolicy = \"planned\"\nheavy = { above_mbps = 0.05, leave_mbps = 0.02 }\n";
        let mut parts = Parts::new(heavy);
        for n in 0..3u32 {
            parts.plane.commit(u64::from(n) + 1, Some(&sessions::rules(n))).unwrap();
        }
        parts.traffic(&[(0, 20), (1, 20)], 30);
        let before = parts.plane.carried_by(2).unwrap();
        assert_eq!((parts.on_fast(), before.packets()), (vec![1, 2], 600));
        // A new planner; the first of them goes on.
        (1..=2).for_each(|seid| parts.split.move_to_base(seid).unwrap());
        let ids = Ids::bind(parts.split.program()).unwrap();
        parts.placement = Placement::of(&toml::from_str(heavy).unwrap(), &parts.split, &ids).unwrap();
        (1..=3).for_each(|seid| parts.placement.found(seid, &mut parts.plane, &parts.split, parts.now));
        parts.traffic(&[(0, 20)], 1);
        assert_eq!(parts.on_fast(), [1]);
        parts.traffic(&[(0, 20)], 10);
        assert_eq!(parts.on_fast(), [1]);
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
        let updates = |split: &str| toml::from_str::<crate::config::Split>(split).unwrap().planner_settings().updates_per_second;
        assert_eq!(["fast = \"asic\"", "fast = \"xdp\"", "fast = \"xdp\"\nupdates_per_second = 7"].map(updates), [1000, 4000, 7]);
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
