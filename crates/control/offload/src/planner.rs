//! Which sessions should be on the fast target? Facts, rates, room and time in, a short list of moves out.
//!
//! Pure: it installs nothing and reads no clock. The caller reports sessions ([`Planner::session`]) and their usage as it is
//! counted ([`Planner::usage`]), asks for moves periodically ([`Planner::plan`]), and reports the outcome of each
//! ([`Planner::moved`]).
//!
//! Sessions are ranked by the operator's rules first ([`Standing`]), then by *worth*: CPU cycles that x86 is spared in a second,
//! for each entry that the session takes. The rate is an average that forgets with a time constant (`window_ns`); entering and leaving
//! have thresholds of their own, an evicted session must be worth less by a factor (`margin`) and have stayed a while (`min_stay_ns`),
//! and there is an allowance of table changes a second. So detection and replacement have windows of their own, as in Elixir
//! (NSDI'22), and a burst alone moves nobody.
//!
//! A plan is one pass over an array of ranks and a heap as large as the allowance, never a sort of all sessions.

use crate::budget::Budget;
use crate::policy::{OutOfRange, Standing, Unit};
use crate::rate::Rate;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Tables of the fast target that have room of their own.
pub const ROOMS: usize = 4;
/// Entries in each of them.
pub type Entries = [u32; ROOMS];

/// The operator's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which of those without a rule ([`Standing::ByRate`]) may come.
    pub admit: Admit,
    /// Time constant of the rates.
    pub window_ns: u64,
    /// What a session must be worth more than those that leave for it, as a factor of at least 1.
    pub margin: f64,
    /// How long a session stays at least, once it has moved, unless it must leave.
    pub min_stay_ns: u64,
    /// Changes of the fast target's tables in any second.
    pub updates_per_second: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { admit: Admit::Anybody, window_ns: 1_000_000_000, margin: 1.25, min_stay_ns: 2_000_000_000, updates_per_second: 1000 }
    }
}

/// Which sessions may be on the fast target for their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admit {
    /// None: rules alone decide.
    Nobody,
    /// Heavy hitters: they come above one rate and leave below another.
    Above {
        /// Bits a second.
        enter_bps: f64,
        /// Bits a second, less than that.
        leave_bps: f64,
    },
    /// All that have traffic, as far as there is room.
    Anybody,
}

impl Settings {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        if let Admit::Above { enter_bps, leave_bps } = self.admit
            && !(leave_bps >= 0.0 && enter_bps >= leave_bps && enter_bps.is_finite())
        {
            return Err(OutOfRange::Heavy { enter_bps, leave_bps });
        }
        if !(self.margin >= 1.0 && self.margin <= 1000.0) {
            return Err(OutOfRange::Margin(self.margin));
        }
        if self.window_ns == 0 {
            return Err(OutOfRange::Window);
        }
        Ok(())
    }
}

/// What a session would need of the fast target and spare the base target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Entries that it takes.
    pub entries: Entries,
    /// Changes that bringing it takes, or taking it away: entries and meters.
    pub updates: u32,
    /// Cycles of x86 that a packet costs.
    pub cycles: f32,
}

/// One of the two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The fast target.
    Fast,
    /// The base target alone.
    Base,
}

/// A move that should be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Which: [`Unit::id`].
    pub id: u64,
    /// Where its packets are to run from now on.
    pub to: Place,
    /// Why.
    pub why: Why,
    /// Thousand cycles a second for each entry, as it was ranked.
    pub worth: f64,
}

impl Why {
    /// The name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Why::Rule => "rule",
            Why::Urgent => "urgent",
            Why::Worth => "worth",
            Why::Evicted => "evicted",
            Why::Idle => "idle",
            Why::Policy => "policy",
            Why::NotChosen => "not_chosen",
            Why::OutOfService => "out_of_service",
            Why::Metered => "metered",
            Why::NoRoom => "no_room",
            Why::LookedAt => "looked_at",
        }
    }
}

/// Why a session moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A rule says so.
    Rule,
    /// It is delay-critical.
    Urgent,
    /// By its worth.
    Worth,
    /// A session of more worth takes its room.
    Evicted,
    /// It no longer has the rate.
    Idle,
    /// Without a planner: the policy wants it in front, and it was not there, as the policy is new or the stage was out of service.
    Policy,
    /// Without a planner: the policy does not want it in front any more.
    NotChosen,
    /// Its stage went out of service.
    OutOfService,
    /// It got a rate, which would be policed in two places.
    Metered,
    /// It has changed, and its stage did not take the change.
    NoRoom,
    /// An operator looks at its packets, which the base target shows.
    LookedAt,
}

/// What became of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Done,
    /// The fast target was full: less fits than was thought.
    NoRoom,
    /// It could not be made, and everything is as before.
    Failed,
}

impl Outcome {
    /// The name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::NoRoom => "no_room",
            Outcome::Failed => "failed",
        }
    }
}

/// Sessions and where they are.
pub struct Planner {
    settings: Settings,
    by_id: BTreeMap<u64, u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By slot: what ranks a session that is on the base target; 0: not to be moved. Apart from the slots, so that a pass over a
    /// million is one over 8 MB.
    ranks: Vec<f64>,
    /// Slots on the fast target.
    fast: BTreeSet<u32>,
    /// Those of them that rules or thresholds want away.
    leaving: BTreeSet<u32>,
    /// The capacity, as configured.
    capacity: Entries,
    /// What was found to fit, after a refusal; it grows back.
    believed: Entries,
    believed_ns: u64,
    used: Entries,
    budget: Budget,
    /// Sessions whose moves have failed, by when they may be tried again.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    id: u64,
    pub(crate) standing: Standing,
    weight: f64,
    pub(crate) needs: Needs,
    pub(crate) place: Place,
    /// A move was planned, and its outcome is not reported yet.
    moving: bool,
    /// When it came to its place.
    pub(crate) since_ns: u64,
    /// Not to be tried before, after failures.
    pub(crate) retry_ns: u64,
    failures: u32,
    pub(crate) rate: Rate,
}

/// Ranks of higher standing lie above all of lower: no worth reaches it.
const CLASS: f64 = 1e15;
/// Most that a packet counts.
const MOST_WEIGHT: f64 = 1e6;
/// Longest wait after failures.
const MOST_RETRY_NS: u64 = 60_000_000_000;
const FIRST_RETRY_NS: u64 = 500_000_000;
/// After a refusal a sixteenth of the capacity is believed to be there again, so often.
const BELIEF_NS: u64 = 1_000_000_000;
/// Most moves of one plan: who is asked every second or so has a bounded pause.
const MOST_MOVES: usize = 4096;

impl Planner {
    /// Without sessions. `capacity`: entries that fit each table of the fast target.
    pub fn new(settings: Settings, capacity: Entries) -> Result<Planner, OutOfRange> {
        settings.validate()?;
        Ok(Planner {
            budget: Budget::new(settings.updates_per_second),
            settings,
            by_id: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            ranks: Vec::new(),
            fast: BTreeSet::new(),
            leaving: BTreeSet::new(),
            capacity,
            believed: capacity,
            believed_ns: 0,
            used: [0; ROOMS],
            waiting: BinaryHeap::new(),
        })
    }

    /// A session, new or with new facts. It begins on the base target, and without usage.
    pub fn session(&mut self, facts: &Unit, needs: Needs, now_ns: u64) {
        let standing = facts.standing;
        // A weight that is no number must not become a rank.
        let weight = if facts.weight >= 0.0 { facts.weight.min(MOST_WEIGHT) } else { 0.0 };
        let at = match self.by_id.get(&facts.id) {
            Some(at) => *at,
            None => {
                let slot = Slot {
                    id: facts.id,
                    standing,
                    weight,
                    needs,
                    place: Place::Base,
                    moving: false,
                    since_ns: now_ns,
                    retry_ns: 0,
                    failures: 0,
                    rate: Rate { at_ns: Some(now_ns), ..Rate::default() },
                };
                let at = self.free.pop().unwrap_or(self.slots.len() as u32);
                if at as usize == self.slots.len() {
                    self.slots.push(slot);
                    self.ranks.push(0.0);
                } else {
                    self.slots[at as usize] = slot;
                }
                self.by_id.insert(facts.id, at);
                at
            }
        };
        let slot = &mut self.slots[at as usize];
        (slot.standing, slot.weight) = (standing, weight);
        let before = std::mem::replace(&mut slot.needs, needs);
        if slot.place == Place::Fast {
            take(&mut self.used, &before.entries);
            give(&mut self.used, &needs.entries);
        }
        self.rank(at, now_ns);
    }

    /// What a session had used before it was told of here, as one that came back from a store or was there before the planner: its rate counts
    /// from there.
    pub fn used_before(&mut self, id: u64, packets: u64, bytes: u64) {
        let Some(at) = self.by_id.get(&id) else { return };
        let rate = &mut self.slots[*at as usize].rate;
        if !rate.measured {
            (rate.packets, rate.bytes) = (packets, bytes);
        }
    }

    /// Whether it was told of a session.
    pub fn knows(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
    }

    /// A session that is gone.
    pub fn forget(&mut self, id: u64) {
        let Some(at) = self.by_id.remove(&id) else { return };
        self.leave(at);
        self.ranks[at as usize] = 0.0;
        self.free.push(at);
    }

    /// A session that is in another place than it was moved to: by its own changes, or because the fast target was lost.
    pub fn found(&mut self, id: u64, place: Place, now_ns: u64) {
        let Some(at) = self.by_id.get(&id).copied() else { return };
        self.slots[at as usize].moving = false;
        if self.slots[at as usize].place != place {
            match place {
                Place::Fast => self.enter(at),
                Place::Base => self.leave(at),
            }
            self.slots[at as usize].since_ns = now_ns;
        }
        self.rank(at, now_ns);
    }

    /// What a session has used since it began, at a time.
    pub fn usage(&mut self, id: u64, packets: u64, bytes: u64, now_ns: u64) {
        let Some(at) = self.by_id.get(&id).copied() else { return };
        self.slots[at as usize].rate.note(packets, bytes, now_ns, self.settings.window_ns);
        self.rank(at, now_ns);
    }

    /// A rate measured elsewhere: packets and bits per second.
    pub fn rate(&mut self, id: u64, pps: f64, bps: f64, now_ns: u64) {
        let Some(at) = self.by_id.get(&id).copied() else { return };
        let rate = &mut self.slots[at as usize].rate;
        (rate.pps, rate.bps) = (pps.max(0.0), bps.max(0.0));
        (rate.at_ns, rate.measured) = (Some(now_ns), true);
        self.rank(at, now_ns);
    }

    /// The moves to make now, in this order. Each counts as made until [`Planner::moved`] reports its outcome.
    pub fn plan(&mut self, now_ns: u64) -> Vec<Move> {
        self.budget.advance(now_ns);
        self.grow_belief(now_ns);
        while let Some(Reverse((retry_ns, at))) = self.waiting.peek().copied()
            && retry_ns <= now_ns
        {
            self.waiting.pop();
            if self.by_id.get(&self.slots[at as usize].id) == Some(&at) {
                self.rank(at, now_ns);
            }
        }
        let mut moves = Vec::new();
        self.plan_leaving(now_ns, &mut moves);
        let candidates = self.best_candidates(now_ns);
        // Least worthy last, so that it can be popped.
        let mut victims: Option<Vec<(f64, u32)>> = None;
        for (rank, at) in candidates {
            let needs = self.slots[at as usize].needs;
            if !self.budget.allows(needs.updates) || moves.len() >= MOST_MOVES {
                break;
            }
            let evicted = match self.lacking(&needs.entries, &[]) {
                false => Vec::new(),
                true => {
                    let victims = victims.get_or_insert_with(|| self.victims(now_ns));
                    match self.make_room(rank, &needs, victims) {
                        Some(evicted) => evicted,
                        None => continue,
                    }
                }
            };
            let changes = evicted.iter().map(|v| self.slots[*v as usize].needs.updates).sum::<u32>() + needs.updates;
            if !self.budget.allows(changes) {
                break;
            }
            if let Some(victims) = &mut victims {
                victims.retain(|(_, v)| !evicted.contains(v));
            }
            for victim in evicted {
                self.begin(victim, Place::Base, Why::Evicted, now_ns, &mut moves);
            }
            let why = match self.slots[at as usize].standing {
                Standing::Always => Why::Rule,
                Standing::Urgent => Why::Urgent,
                _ => Why::Worth,
            };
            self.begin(at, Place::Fast, why, now_ns, &mut moves);
        }
        moves
    }

    /// What became of a planned move.
    pub fn moved(&mut self, of: &Move, outcome: Outcome, now_ns: u64) {
        let Some(at) = self.by_id.get(&of.id).copied() else { return };
        let slot = &mut self.slots[at as usize];
        if !std::mem::take(&mut slot.moving) {
            return;
        }
        if outcome == Outcome::Done {
            slot.failures = 0;
            slot.since_ns = now_ns;
            return self.rank(at, now_ns);
        }
        slot.failures += 1;
        slot.retry_ns = now_ns.saturating_add((FIRST_RETRY_NS << slot.failures.min(10)).min(MOST_RETRY_NS));
        self.waiting.push(Reverse((slot.retry_ns, at)));
        match of.to {
            Place::Fast => self.leave(at),
            Place::Base => self.enter(at),
        }
        if outcome == Outcome::NoRoom && of.to == Place::Fast {
            let needs = self.slots[at as usize].needs.entries;
            for i in (0..ROOMS).filter(|i| needs[*i] > 0) {
                self.believed[i] = self.used[i];
            }
            self.believed_ns = now_ns;
        }
        self.rank(at, now_ns);
    }

    /// Changes the capacity.
    pub fn set_capacity(&mut self, capacity: Entries) {
        (self.capacity, self.believed) = (capacity, capacity);
    }

    /// Number of sessions; of those on the fast target or moving there.
    pub fn counts(&self) -> (usize, usize) {
        (self.by_id.len(), self.fast.len())
    }

    /// Sessions that are on the fast target, and those that would come there if each move was made at once, as far as there is room.
    pub fn wanted(&self) -> usize {
        let candidates = (0u32..).zip(&self.ranks).filter(|(_, rank)| **rank > 0.0).map(|(at, _)| at);
        // Those whose moves have failed are no candidates for a while.
        let retried = self.waiting.iter().map(|Reverse((retry_ns, at))| (*at, &self.slots[*at as usize], *retry_ns));
        let retried = retried.filter(|(at, slot, retry_ns)| {
            slot.retry_ns == *retry_ns
                && slot.place == Place::Base
                && self.ranks[*at as usize] == 0.0
                && self.by_id.get(&slot.id) == Some(at)
        });
        let (mut used, mut wanted) = (self.used, self.fast.len());
        for at in candidates.chain(retried.map(|(at, ..)| at)) {
            let entries = &self.slots[at as usize].needs.entries;
            if (0..ROOMS).all(|i| used[i].saturating_add(entries[i]) <= self.capacity[i]) {
                give(&mut used, entries);
                wanted += 1;
            }
        }
        wanted
    }

    /// Entries in use on the fast target, by table.
    pub fn used(&self) -> Entries {
        self.used
    }

    /// Up to `most` sessions from where the last call ended, over and over: for who reads their usage some at a time.
    pub fn next_sessions(&self, cursor: &mut usize, most: usize) -> Vec<u64> {
        let mut next = Vec::with_capacity(most.min(self.by_id.len()));
        for _ in 0..self.slots.len() {
            if next.len() >= most {
                break;
            }
            *cursor = if *cursor >= self.slots.len() { 0 } else { *cursor };
            let id = self.slots[*cursor].id;
            if self.by_id.get(&id) == Some(&(*cursor as u32)) {
                next.push(id);
            }
            *cursor += 1;
        }
        next
    }

    /// A session, as it is known here.
    pub(crate) fn slot(&self, id: u64) -> Option<&Slot> {
        self.by_id.get(&id).map(|at| &self.slots[*at as usize])
    }

    /// The operator's choices.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether entries would not fit even an empty fast target.
    pub(crate) fn exceeds_capacity(&self, entries: &Entries) -> bool {
        (0..ROOMS).any(|i| entries[i] > self.capacity[i])
    }

    /// Packets and bits a second of a session, as it is ranked now.
    pub fn rate_of(&self, id: u64, now_ns: u64) -> Option<(f64, f64)> {
        let rate = &self.slots[*self.by_id.get(&id)? as usize].rate;
        Some(rate.now(now_ns, self.settings.window_ns))
    }

    /// Sessions that must leave, or may because they no longer have the rate.
    fn plan_leaving(&mut self, now_ns: u64, moves: &mut Vec<Move>) {
        // A rate falls by itself: who has it must be looked at again. They are as many as fit the fast target.
        let slots: Vec<u32> = self.fast.iter().copied().collect();
        for at in &slots {
            self.rank(*at, now_ns);
        }
        let stayed = |slot: &Slot, least: u64| now_ns.saturating_sub(slot.since_ns) >= least;
        let mut leaving: Vec<(bool, u32)> = Vec::new();
        for at in &self.leaving {
            let slot = &self.slots[*at as usize];
            let must = slot.standing == Standing::Never;
            if !slot.moving && now_ns >= slot.retry_ns && (must || stayed(slot, self.settings.min_stay_ns)) {
                leaving.push((!must, *at));
            }
        }
        leaving.sort_unstable();
        for (idle, at) in leaving {
            if !self.budget.allows(self.slots[at as usize].needs.updates) || moves.len() >= MOST_MOVES {
                return;
            }
            self.begin(at, Place::Base, if idle { Why::Idle } else { Why::Rule }, now_ns, moves);
        }
    }

    /// Candidates by falling rank, as many as the allowance could bring at most.
    fn best_candidates(&mut self, now_ns: u64) -> Vec<(f64, u32)> {
        let most = self.budget.left().clamp(1, MOST_MOVES);
        let mut best = self.top_ranks(most);
        // Rates that nobody has told of for a while are less by now. Those are put right, and others may be better then.
        for _ in 0..4 {
            let mut stale = false;
            for (rank, at) in &best {
                self.rank(*at, now_ns);
                stale |= self.ranks[*at as usize] < rank * 0.9;
            }
            if !stale {
                break;
            }
            best = self.top_ranks(most);
        }
        best
    }

    fn top_ranks(&self, most: usize) -> Vec<(f64, u32)> {
        let mut heap: BinaryHeap<Reverse<(Ordered, Reverse<u32>)>> = BinaryHeap::with_capacity(most + 1);
        let mut least = 0.0;
        for (at, rank) in self.ranks.iter().enumerate().filter(|(_, rank)| **rank > 0.0) {
            if *rank <= least {
                continue;
            }
            heap.push(Reverse((Ordered(*rank), Reverse(at as u32))));
            if heap.len() > most {
                heap.pop();
                least = heap.peek().map_or(0.0, |Reverse((rank, _))| rank.0);
            }
        }
        heap.into_sorted_vec().into_iter().map(|Reverse((rank, Reverse(at)))| (rank.0, at)).collect()
    }

    /// Those on the fast target that may be evicted, by falling rank.
    fn victims(&self, now_ns: u64) -> Vec<(f64, u32)> {
        let may =
            |slot: &Slot| !slot.moving && now_ns.saturating_sub(slot.since_ns) >= self.settings.min_stay_ns && now_ns >= slot.retry_ns;
        let slots = self.fast.iter().filter(|at| may(&self.slots[**at as usize]));
        let mut victims: Vec<(f64, u32)> = slots.map(|at| (self.resident_rank(*at, now_ns), *at)).collect();
        victims.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        victims
    }

    /// Who must leave for a session of that rank to fit; `None`: it is not worth it.
    fn make_room(&self, rank: f64, needs: &Needs, victims: &[(f64, u32)]) -> Option<Vec<u32>> {
        let total: u32 = needs.entries.iter().sum();
        let class = (rank / CLASS).floor();
        let mut allowed = (rank - class * CLASS) * f64::from(total) / self.settings.margin;
        let mut evicted: Vec<u32> = Vec::new();
        for (victim_rank, at) in victims.iter().rev() {
            if !self.lacking(&needs.entries, &evicted) {
                break;
            }
            let of = &self.slots[*at as usize].needs.entries;
            if !(0..ROOMS).any(|i| of[i] > 0 && needs.entries[i] > 0) {
                continue;
            }
            let victim_class = (victim_rank / CLASS).floor();
            if victim_class > class {
                return None;
            }
            if victim_class == class {
                // What a rule has put there is not ranked among its like.
                if class > f64::from(Standing::ByRate as u8) {
                    return None;
                }
                allowed -= (victim_rank - victim_class * CLASS) * f64::from(of.iter().sum::<u32>());
                if allowed < 0.0 {
                    return None;
                }
            }
            evicted.push(*at);
        }
        (!self.lacking(&needs.entries, &evicted)).then_some(evicted)
    }

    /// Whether entries do not fit, even without some sessions.
    fn lacking(&self, entries: &Entries, without: &[u32]) -> bool {
        let freed = |i: usize| without.iter().map(|at| self.slots[*at as usize].needs.entries[i]).sum::<u32>();
        (0..ROOMS).any(|i| entries[i] > 0 && (self.used[i] - freed(i)).saturating_add(entries[i]) > self.believed[i])
    }

    /// Records a move as made, until another outcome is reported.
    fn begin(&mut self, at: u32, to: Place, why: Why, now_ns: u64, moves: &mut Vec<Move>) {
        let rank = if to == Place::Base { self.resident_rank(at, now_ns) } else { self.ranks[at as usize] };
        match to {
            Place::Fast => self.enter(at),
            Place::Base => self.leave(at),
        }
        let slot = &mut self.slots[at as usize];
        (slot.moving, slot.since_ns) = (true, now_ns);
        self.budget.spend(slot.needs.updates);
        moves.push(Move { id: slot.id, to, why, worth: rank % CLASS / 1e3 });
        self.ranks[at as usize] = 0.0;
    }

    fn enter(&mut self, at: u32) {
        if self.fast.insert(at) {
            give(&mut self.used, &self.slots[at as usize].needs.entries);
        }
        self.slots[at as usize].place = Place::Fast;
    }

    fn leave(&mut self, at: u32) {
        if self.fast.remove(&at) {
            take(&mut self.used, &self.slots[at as usize].needs.entries);
        }
        self.leaving.remove(&at);
        self.slots[at as usize].place = Place::Base;
    }

    /// Puts a session where it belongs by its rate now.
    fn rank(&mut self, at: u32, now_ns: u64) {
        let slot = &self.slots[at as usize];
        let (_, bps) = slot.rate.now(now_ns, self.settings.window_ns);
        let idle = match (slot.standing, self.settings.admit) {
            (Standing::Always | Standing::Urgent, _) => false,
            (Standing::Never, _) | (Standing::ByRate, Admit::Nobody) => true,
            (Standing::ByRate, Admit::Above { leave_bps, .. }) => bps < leave_bps,
            (Standing::ByRate, Admit::Anybody) => false,
        };
        match slot.place {
            Place::Fast if idle => drop(self.leaving.insert(at)),
            Place::Fast => drop(self.leaving.remove(&at)),
            Place::Base => {
                let enters = match (slot.standing, self.settings.admit) {
                    (Standing::Always | Standing::Urgent, _) => true,
                    (Standing::ByRate, Admit::Above { enter_bps, .. }) => bps >= enter_bps,
                    (Standing::ByRate, Admit::Anybody) => true,
                    _ => false,
                };
                let possible = !self.exceeds_capacity(&slot.needs.entries) && slot.needs.entries != [0; ROOMS];
                self.ranks[at as usize] =
                    if enters && possible && !slot.moving && now_ns >= slot.retry_ns { self.resident_rank(at, now_ns) } else { 0.0 };
            }
        }
        if self.slots[at as usize].place == Place::Fast {
            self.ranks[at as usize] = 0.0;
        }
    }

    /// Standing first, then cycles spared in a second for each entry.
    fn resident_rank(&self, at: u32, now_ns: u64) -> f64 {
        let slot = &self.slots[at as usize];
        let (pps, _) = slot.rate.now(now_ns, self.settings.window_ns);
        let entries: u32 = slot.needs.entries.iter().sum();
        let worth = (pps * slot.weight * f64::from(slot.needs.cycles) / f64::from(entries.max(1))).clamp(0.0, CLASS / 2.0);
        match slot.standing {
            Standing::Never => 0.0,
            // Sessions without traffic are no candidates for their rate.
            Standing::ByRate if worth < 1.0 => 0.0,
            standing => f64::from(standing as u8) * CLASS + worth,
        }
    }

    fn grow_belief(&mut self, now_ns: u64) {
        while now_ns.saturating_sub(self.believed_ns) >= BELIEF_NS {
            let short = (0..ROOMS).any(|i| self.believed[i] < self.capacity[i]);
            if !short {
                self.believed_ns = now_ns;
                return;
            }
            self.believed_ns += BELIEF_NS;
            for i in 0..ROOMS {
                self.believed[i] = self.capacity[i].min(self.believed[i] + (self.capacity[i] / 16).max(1));
            }
        }
    }
}

fn give(used: &mut Entries, entries: &Entries) {
    used.iter_mut().zip(entries).for_each(|(used, n)| *used += n);
}

fn take(used: &mut Entries, entries: &Entries) {
    used.iter_mut().zip(entries).for_each(|(used, n)| *used -= n);
}

/// A rank; never NaN.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
