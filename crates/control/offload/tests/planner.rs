//! What does the planner decide? Each file in `tests/planner` is a scenario and, under the line `---`, the moves that it comes to.
//!
//! A scenario's lines, times in seconds, rates in packets a second of 1000 bytes:
//! ```text
//! room 4 4                                 entries of the fast target's tables
//! rule ue 10.45.0.0/16 dscp 46 qfi 5 slice 1-010203 teid 1-9 -> fast | base | urgent | weight 2
//! admit nobody | anybody | above 5 leave 2 Mbit/s
//! window, stay, margin, updates N          see `Settings`
//! session 1..3 ue 10.45.0.1 entries 1 1    as many as there are numbers, and other facts as in rules; `from 2`: later
//! at 1.0 rate 1..3 1000                    from now on
//! at 1.0 fail 1 | full 1                   its next move is refused by the target
//! at 1.0 end 1 | lost 1 | room 2 2         it ends; it is found on the base target; less room
//! tick 0.5 until 10
//! ```

use offload::planner::{Admit, Entries, Move, Needs, Outcome, Place, Planner, Settings};
use offload::{Standing, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use upf::criteria::{Criteria, Slice};
use upf::plane::SessionInfo;

/// Whom a rule is about, where they stand, and their packets' weight.
type Rule = (Criteria, Standing, f64);

/// A scenario on its way.
#[derive(Default)]
struct Scenario {
    settings: Settings,
    rules: Vec<Rule>,
    room: Entries,
    sessions: Vec<(SessionInfo, Needs)>,
    /// Those that begin later, with their times.
    later: BTreeMap<u64, u64>,
    /// What happens, by time in milliseconds.
    events: BTreeMap<u64, Vec<Vec<String>>>,
    tick_ms: u64,
    end_ms: u64,
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is no number"))
}

fn ms(word: &str) -> u64 {
    (number::<f64>(word) * 1000.0).round() as u64
}

/// `3` or `1..3`, both ends included.
fn range(word: &str) -> std::ops::RangeInclusive<u64> {
    let (low, high) = word.split_once("..").unwrap_or((word, word));
    number(low)..=number(high)
}

fn slice(word: &str) -> Slice {
    let (sst, sd) = word.split_once('-').map_or((word, None), |(sst, sd)| (sst, Some(sd)));
    Slice { sst: number(sst), sd: sd.map(|sd| u32::from_str_radix(sd, 16).unwrap()) }
}

fn rule(words: &[&str]) -> Rule {
    let arrow = words.iter().position(|w| *w == "->").expect("a rule has an arrow");
    let mut of = Criteria::default();
    for pair in words[..arrow].chunks(2) {
        match pair {
            ["ue", net] => {
                let (address, len) = net.split_once('/').expect("a prefix");
                of.ue = Some((number(address), number(len)));
            }
            ["dscp", n] => of.dscp = Some(number(n)),
            ["qfi", n] => of.qfi = Some(number(n)),
            ["slice", s] => of.slice = Some(slice(s)),
            ["teid", n] => {
                let (low, high) = n.split_once('-').unwrap_or((n, n));
                of.teid = Some((number(low), number(high)));
            }
            other => panic!("no such condition: {other:?}"),
        }
    }
    let (standing, weight) = match &words[arrow + 1..] {
        ["fast"] => (Standing::Always, 1.0),
        ["base"] => (Standing::Never, 1.0),
        ["urgent"] => (Standing::Urgent, 1.0),
        ["weight", w] => (Standing::ByRate, number(w)),
        other => panic!("no such decision: {other:?}"),
    };
    (of, standing, weight)
}

impl Scenario {
    fn parse(text: &str) -> Scenario {
        let mut s = Scenario { tick_ms: 500, ..Scenario::default() };
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                ["room", rest @ ..] => s.room.iter_mut().zip(rest).for_each(|(room, n)| *room = number(n)),
                ["rule", rest @ ..] => s.rules.push(rule(rest)),
                ["admit", "nobody"] => s.settings.admit = Admit::Nobody,
                ["admit", "anybody"] => s.settings.admit = Admit::Anybody,
                ["admit", "above", enter, "leave", leave, ..] => {
                    s.settings.admit = Admit::Above { enter_bps: number::<f64>(enter) * 1e6, leave_bps: number::<f64>(leave) * 1e6 };
                }
                ["window", t] => s.settings.window_ns = ms(t) * 1_000_000,
                ["stay", t] => s.settings.min_stay_ns = ms(t) * 1_000_000,
                ["margin", f] => s.settings.margin = number(f),
                ["updates", n] => s.settings.updates_per_second = number(n),
                ["session", n, "from", t, rest @ ..] => range(n).for_each(|seid| {
                    s.later.insert(seid, ms(t));
                    s.sessions.push(session(seid, rest));
                }),
                ["session", n, rest @ ..] => range(n).for_each(|seid| s.sessions.push(session(seid, rest))),
                ["at", t, rest @ ..] => s.events.entry(ms(t)).or_default().push(rest.iter().map(|w| (*w).to_owned()).collect()),
                ["tick", t, "until", end] => (s.tick_ms, s.end_ms) = (ms(t), ms(end)),
                other => panic!("no such line: {other:?}"),
            }
        }
        s
    }

    fn run(&self) -> String {
        let mut planner = Planner::new(self.settings.clone(), self.room).unwrap();
        let mut out = String::new();
        let mut rates: BTreeMap<u64, f64> = self.sessions.iter().map(|(facts, _)| (facts.seid, 0.0)).collect();
        let mut packets: BTreeMap<u64, f64> = rates.clone();
        let mut refused: BTreeMap<u64, Outcome> = BTreeMap::new();
        let mut fast: BTreeSet<u64> = BTreeSet::new();
        for at_ms in (0..=self.end_ms).step_by(self.tick_ms as usize) {
            let now_ns = at_ms * 1_000_000;
            for (facts, needs) in &self.sessions {
                let from_ms = self.later.get(&facts.seid).copied().unwrap_or(0);
                if (at_ms..at_ms + self.tick_ms).contains(&from_ms) {
                    planner.session(&self.unit(facts), *needs, now_ns);
                }
            }
            for (seid, packets) in &mut packets {
                if at_ms > 0 {
                    *packets += rates[seid] * self.tick_ms as f64 / 1e3;
                }
                planner.usage(*seid, *packets as u64, *packets as u64 * 1000, now_ns);
            }
            let due = self.events.range(if at_ms == 0 { 0 } else { at_ms - self.tick_ms + 1 }..=at_ms);
            for words in due.flat_map(|(_, events)| events) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                match words.as_slice() {
                    ["rate", n, pps] => range(n).for_each(|n| _ = rates.insert(n, number(pps))),
                    ["fail", n] => range(n).for_each(|n| _ = refused.insert(n, Outcome::Failed)),
                    ["full", n] => range(n).for_each(|n| _ = refused.insert(n, Outcome::NoRoom)),
                    ["lost", n] => range(n).for_each(|n| {
                        planner.found(n, Place::Base, now_ns);
                        fast.remove(&n);
                    }),
                    ["end", n] => range(n).for_each(|n| {
                        planner.forget(n);
                        fast.remove(&n);
                        packets.remove(&n);
                    }),
                    ["room", rest @ ..] => {
                        let mut room = Entries::default();
                        room.iter_mut().zip(rest).for_each(|(room, n)| *room = number(n));
                        planner.set_capacity(room);
                    }
                    other => panic!("no such event: {other:?}"),
                }
            }
            for of in planner.plan(now_ns) {
                let outcome = refused.remove(&of.id).unwrap_or(Outcome::Done);
                if outcome == Outcome::Done {
                    let changed = if of.to == Place::Fast { fast.insert(of.id) } else { fast.remove(&of.id) };
                    assert!(changed, "{of:?} is there already");
                }
                planner.moved(&of, outcome, now_ns);
                _ = writeln!(out, "{}", line(at_ms, &of, outcome));
            }
            self.check(&planner, &fast);
        }
        _ = writeln!(out, "on the fast target: {}, entries {:?}", list(&fast), &planner.used()[..2]);
        out
    }

    /// The first rule that matches decides.
    fn unit(&self, session: &SessionInfo) -> Unit {
        let unit = Unit { id: session.seid, ..Unit::default() };
        let rule = self.rules.iter().find(|(of, ..)| of.hold_for(session));
        rule.map_or(unit, |(_, standing, weight)| Unit { standing: *standing, weight: *weight, ..unit })
    }

    /// What holds at any time, whatever the scenario.
    fn check(&self, planner: &Planner, fast: &BTreeSet<u64>) {
        let mut used = Entries::default();
        for (_, needs) in self.sessions.iter().filter(|(facts, _)| fast.contains(&facts.seid)) {
            used.iter_mut().zip(needs.entries).for_each(|(used, n)| *used += n);
        }
        assert_eq!((planner.used(), planner.counts().1), (used, fast.len()));
        assert!(used.iter().zip(self.room).all(|(used, room)| *used <= room), "{used:?} exceeds the room");
    }
}

fn session(seid: u64, words: &[&str]) -> (SessionInfo, Needs) {
    let mut facts = SessionInfo { seid, ..SessionInfo::default() };
    let mut needs = Needs { entries: [1, 1, 0, 0], updates: 2, cycles: 200.0 };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut next = || *words.next().unwrap_or_else(|| panic!("{word} of what?"));
        match *word {
            "ue" => facts.ue_ipv4s.push(number(next())),
            "dscp" => facts.dscps.push(number(next())),
            "qfi" => facts.qfis.push(number(next())),
            "teid" => facts.teids.push(number(next())),
            "slice" => facts.s_nssai = Some(slice(next())).map(|Slice { sst, sd }| (sst, sd)),
            "cycles" => needs.cycles = number(next()),
            "entries" => {
                needs.entries = [number(next()), number(next()), 0, 0];
                needs.updates = needs.entries.iter().sum();
            }
            other => panic!("no such fact: {other}"),
        }
    }
    (facts, needs)
}

fn line(at_ms: u64, of: &Move, outcome: Outcome) -> String {
    let to = if of.to == Place::Fast { "fast" } else { "base" };
    let what = match outcome {
        Outcome::Done => "",
        Outcome::NoRoom => ", but there is no room",
        Outcome::Failed => ", which fails",
    };
    let why = format!("{:?}", of.why).to_lowercase();
    format!("{:7.3} s  session {:>3} to {to}  {why:<7} worth {:.1}{what}", at_ms as f64 / 1e3, of.id, of.worth)
}

/// `1..3 7`.
fn list(of: &BTreeSet<u64>) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for n in of {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => runs.push((*n, *n)),
        }
    }
    let text = |(low, high): &(u64, u64)| if low == high { low.to_string() } else { format!("{low}..{high}") };
    if runs.is_empty() { "none".into() } else { runs.iter().map(text).collect::<Vec<_>>().join(" ") }
}

#[test]
fn scenarios_come_to_the_moves_beside_them() {
    let mut seen = 0;
    let mut paths: Vec<_> = std::fs::read_dir("tests/planner").unwrap().map(|f| f.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "txt")) {
        let text = std::fs::read_to_string(path).unwrap();
        let scenario = text.split("---\n").next().unwrap();
        let moves = Scenario::parse(scenario).run();
        testkit::assert_golden(path, &format!("{scenario}---\n{moves}"));
        seen += 1;
    }
    assert!(seen >= 12, "only {seen} scenarios");
}
