//! Load balancing: which buckets should move, and how many workers are needed. A plan from measured loads; it moves nothing itself.
//!
//! SoftUPF (Bose et al., APNet 2021) looks at ring lengths and re-assigns users of a worker whose ring stays long. Here a worker is
//! overloaded when its ring stays long or it stays busy; then buckets of it go to the least loaded worker, those that even
//! the two out best, a few at a time. A single user that is too heavy for any worker cannot be divided: what shares a worker
//! with it moves away instead.
//!
//! Against oscillation: a worker must be overloaded for several samples in a row and clearly above the mean; it then gives away
//! no more than brings it near the mean, and the number of moves per sample is limited.

use crate::steer::Move;
use std::collections::HashMap;
use std::time::Duration;

/// Choices of the operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalanceSettings {
    /// Time between two looks at the loads.
    pub period: Duration,
    /// Share of its time, 0 to 1, from which on a worker that is busy counts as overloaded.
    pub busy_high: f64,
    /// Share of its ring, 0 to 1, from which on packets that wait count as overload.
    pub depth_high: f64,
    /// Looks in a row that find a worker overloaded before buckets move.
    pub patience: u32,
    /// How much more than the mean a worker must have before buckets leave it, as a share of the mean.
    pub gap: f64,
    /// Buckets that move after one look, at most.
    pub moves: usize,
    /// Fewest and most workers; none: as many as there are.
    pub workers: Option<(usize, usize)>,
    /// A worker goes when all together would be busy for less than this share of the time of the others.
    pub busy_low: f64,
    /// Looks in a row that find all workers overloaded before there is one more; ten times as many before there is one less.
    pub scale_patience: u32,
}

impl Default for BalanceSettings {
    /// Ten looks a second, and no change of the number of workers.
    fn default() -> BalanceSettings {
        BalanceSettings {
            period: Duration::from_millis(100),
            busy_high: 0.85,
            depth_high: 0.25,
            patience: 3,
            gap: 0.2,
            moves: 16,
            workers: None,
            busy_low: 0.5,
            scale_patience: 20,
        }
    }
}

/// What was measured since the last look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// The workers that run.
    pub workers: Vec<WorkerLoad>,
    /// The slot of each bucket's worker.
    pub owners: Vec<u16>,
    /// Packets of each bucket.
    pub packets: Vec<u64>,
}

/// One worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerLoad {
    /// Which.
    pub slot: u16,
    /// Packets that it received.
    pub packets: u64,
    /// Share of its time that it was busy, 0 to 1.
    pub busy: f64,
    /// Packets that wait for it now, as a share of its ring.
    pub depth: f64,
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Buckets to move.
    pub moves: Vec<Move>,
    /// Whether the number of workers is to change.
    pub scale: Option<Scale>,
}

/// One worker more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// One more.
    Add,
    /// This slot's worker is to go.
    Remove(u16),
}

/// Remembers how long things have been as they are.
pub struct Planner {
    settings: BalanceSettings,
    /// Looks in a row that found a slot overloaded and above the others.
    hot: HashMap<u16, u32>,
    all_hot: u32,
    all_cool: u32,
}

impl Planner {
    /// Knows nothing yet.
    pub fn new(settings: BalanceSettings) -> Planner {
        Planner { settings, hot: HashMap::new(), all_hot: 0, all_cool: 0 }
    }

    /// Looks once.
    pub fn plan(&mut self, now: &Loads) -> Plan {
        let scale = self.scale(now);
        if scale.is_some() {
            // Buckets go to the new worker, or leave the old one, as a part of that.
            self.hot.clear();
            return Plan { moves: Vec::new(), scale };
        }
        Plan { moves: self.moves(now), scale: None }
    }

    fn overloaded(&self, worker: &WorkerLoad) -> bool {
        worker.busy >= self.settings.busy_high || worker.depth >= self.settings.depth_high
    }

    fn scale(&mut self, now: &Loads) -> Option<Scale> {
        let (n, s) = (now.workers.len(), self.settings);
        let (fewest, most) = s.workers?;
        let all_hot = n > 0 && now.workers.iter().all(|w| self.overloaded(w));
        let busy: f64 = now.workers.iter().map(|w| w.busy).sum();
        let all_cool = n > 1 && busy < s.busy_low * (n - 1) as f64 && now.workers.iter().all(|w| w.depth < s.depth_high);
        self.all_hot = if all_hot { self.all_hot + 1 } else { 0 };
        self.all_cool = if all_cool { self.all_cool + 1 } else { 0 };
        let enough = s.scale_patience.max(1);
        let scale = if n < fewest || (self.all_hot >= enough && n < most) {
            Some(Scale::Add)
        } else if n > most.max(1) || (self.all_cool >= enough.saturating_mul(10) && n > fewest.max(1)) {
            // The last that came goes first: slots stay dense.
            now.workers.iter().map(|w| w.slot).max().map(Scale::Remove)
        } else {
            None
        };
        if scale.is_some() {
            (self.all_hot, self.all_cool) = (0, 0);
        }
        scale
    }

    fn moves(&mut self, now: &Loads) -> Vec<Move> {
        let mut shares = Shares::new(now);
        let mean = shares.mean();
        if mean == 0.0 {
            self.hot.clear();
            return Vec::new();
        }
        let above = mean * (1.0 + self.settings.gap);
        let mut hottest = None;
        for worker in &now.workers {
            let load = shares.load(worker.slot);
            if load as f64 > above && self.overloaded(worker) {
                let looks = self.hot.entry(worker.slot).or_insert(0);
                *looks += 1;
                if *looks >= self.settings.patience && hottest.is_none_or(|(most, _)| load > most) {
                    hottest = Some((load, worker.slot));
                }
            } else {
                self.hot.remove(&worker.slot);
            }
        }
        let Some((_, from)) = hottest else { return Vec::new() };
        // The effect of the last change must show first.
        self.hot.remove(&from);
        let enough = (mean * (1.0 + self.settings.gap / 2.0)) as u64;
        (0..self.settings.moves).map_while(|_| shares.even_out(from, enough)).collect()
    }
}

/// Moves that give the worker in `to`, which has just come, its share.
pub(crate) fn spread(now: &Loads, to: u16) -> Vec<Move> {
    let mut shares = Shares::weighted(now);
    let target = shares.mean() as u64;
    let mut moves = Vec::new();
    // Each turn moves one bucket, and none moves twice.
    while let Some(from) = shares.most(to).filter(|from| shares.load(*from) > target) {
        let room = target.saturating_sub(shares.load(to));
        let Some(bucket) = shares.of(from).filter(|b| shares.packets[*b] <= room).max_by_key(|b| shares.packets[*b]) else { break };
        moves.push(shares.go(bucket, to));
    }
    moves
}

/// Moves that leave nothing with the worker in `from`, which is to go; none if there is no other.
pub(crate) fn empty(now: &Loads, from: u16) -> Vec<Move> {
    let mut shares = Shares::weighted(now);
    let mut buckets: Vec<usize> = shares.of(from).collect();
    buckets.sort_by_key(|b| std::cmp::Reverse(shares.packets[*b]));
    buckets.into_iter().map_while(|bucket| shares.least(from).map(|to| shares.go(bucket, to))).collect()
}

/// The load of each worker, as if the moves planned so far had been made.
struct Shares {
    owners: Vec<u16>,
    packets: Vec<u64>,
    loads: Vec<(u16, u64)>,
}

impl Shares {
    fn new(now: &Loads) -> Shares {
        let mut loads: Vec<(u16, u64)> = now.workers.iter().map(|w| (w.slot, 0)).collect();
        for (owner, packets) in now.owners.iter().zip(&now.packets) {
            if let Some((_, load)) = loads.iter_mut().find(|(slot, _)| slot == owner) {
                *load += packets;
            }
        }
        Shares { owners: now.owners.clone(), packets: now.packets.clone(), loads }
    }

    /// So that buckets without packets count too, and are dealt out evenly among themselves.
    fn weighted(now: &Loads) -> Shares {
        let packets = now.packets.iter().map(|p| p.saturating_mul(1024).saturating_add(1)).collect();
        Shares::new(&Loads { packets, ..now.clone() })
    }

    fn mean(&self) -> f64 {
        self.loads.iter().map(|(_, load)| *load as f64).sum::<f64>() / self.loads.len().max(1) as f64
    }

    fn load(&self, slot: u16) -> u64 {
        self.loads.iter().find(|(s, _)| *s == slot).map_or(0, |(_, load)| *load)
    }

    fn of(&self, slot: u16) -> impl Iterator<Item = usize> {
        self.owners.iter().enumerate().filter(move |(_, owner)| **owner == slot).map(|(bucket, _)| bucket)
    }

    fn least(&self, but: u16) -> Option<u16> {
        self.loads.iter().filter(|(slot, _)| *slot != but).min_by_key(|(_, load)| *load).map(|(slot, _)| *slot)
    }

    fn most(&self, but: u16) -> Option<u16> {
        self.loads.iter().filter(|(slot, _)| *slot != but).max_by_key(|(_, load)| *load).map(|(slot, _)| *slot)
    }

    /// The move from `from`, if it has more than `enough`, to the least loaded that lowers the higher of the two loads most. A
    /// bucket that would only make the other one too heavy stays, unless that is a quarter better: what is beside it goes.
    fn even_out(&mut self, from: u16, enough: u64) -> Option<Move> {
        let to = self.least(from)?;
        let (high, low) = (self.load(from), self.load(to));
        let higher_after = |bucket: &usize| (high - self.packets[*bucket]).max(low + self.packets[*bucket]);
        let good = |bucket: &usize| {
            let after = higher_after(bucket);
            after < high && (low + self.packets[*bucket] <= enough || after <= high - high / 4)
        };
        let best = self.of(from).filter(good).min_by_key(higher_after)?;
        (high > enough).then(|| self.go(best, to))
    }

    fn go(&mut self, bucket: usize, to: u16) -> Move {
        for (slot, load) in &mut self.loads {
            if *slot == self.owners[bucket] {
                *load -= self.packets[bucket];
            } else if *slot == to {
                *load += self.packets[bucket];
            }
        }
        self.owners[bucket] = to;
        Move { bucket: bucket as u16, to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn loads(workers: u16, owners: &[u16], packets: &[u64]) -> Loads {
        let worker = |slot: u16| {
            let packets = owners.iter().zip(packets).filter(|(o, _)| **o == slot).map(|(_, p)| p).sum();
            WorkerLoad { slot, packets, busy: if packets > 100 { 1.0 } else { 0.2 }, depth: 0.0 }
        };
        Loads { workers: (0..workers).map(worker).collect(), owners: owners.to_vec(), packets: packets.to_vec() }
    }

    fn apply(now: &Loads, moves: &[Move]) -> Loads {
        let mut owners = now.owners.clone();
        moves.iter().for_each(|m| owners[usize::from(m.bucket)] = m.to);
        loads(now.workers.len() as u16, &owners, &now.packets)
    }

    fn most(now: &Loads) -> u64 {
        now.workers.iter().map(|w| w.packets).max().unwrap()
    }

    fn quick() -> Planner {
        Planner::new(BalanceSettings { patience: 1, ..BalanceSettings::default() })
    }

    #[test]
    fn a_skewed_load_is_evened_out_and_then_left_alone() {
        let mut now = loads(2, &[0; 16], &[10, 20, 30, 40, 10, 20, 30, 40, 10, 20, 30, 40, 10, 20, 30, 40]);
        let mut planner = quick();
        let plan = planner.plan(&now);
        assert!(!plan.moves.is_empty() && plan.moves.len() <= 16);
        now = apply(&now, &plan.moves);
        assert!(most(&now) <= 210, "{now:?}");
        for _ in 0..20 {
            assert_eq!(planner.plan(&now).moves, []);
        }
    }

    #[test]
    fn neighbours_move_away_from_a_bucket_that_nobody_can_divide() {
        let now = loads(2, &[0, 0, 0, 1, 1], &[1000, 50, 50, 20, 20]);
        let mut planner = quick();
        let now = apply(&now, &planner.plan(&now).moves);
        assert_eq!((now.owners[0], most(&now)), (0, 1000), "{now:?}");
        assert_eq!(planner.plan(&now).moves, [], "and does not wander");
    }

    #[test]
    fn nothing_moves_without_overload_patience_and_gap() {
        let skewed = loads(2, &[0, 0, 1], &[200, 200, 10]);
        let mut planner = Planner::new(BalanceSettings { patience: 3, ..BalanceSettings::default() });
        assert_eq!(planner.plan(&skewed).moves, []);
        assert_eq!(planner.plan(&skewed).moves, []);
        assert_eq!(planner.plan(&loads(2, &[0, 0, 1], &[1, 1, 1])).moves, [], "a quiet look starts anew");
        assert_eq!(planner.plan(&skewed).moves, []);
        assert_eq!(planner.plan(&skewed).moves, []);
        assert_eq!(planner.plan(&skewed).moves.len(), 1);
        let mut lazy = skewed.clone();
        lazy.workers.iter_mut().for_each(|w| w.busy = 0.3);
        assert_eq!(quick().plan(&lazy).moves, [], "skewed, but nobody is overloaded");
        lazy.workers[0].depth = 0.9;
        assert_eq!(quick().plan(&lazy).moves.len(), 1, "a long ring is overload too");
        assert_eq!(quick().plan(&loads(2, &[0, 0, 1, 1], &[105, 100, 100, 95])).moves, [], "nearly even");
    }

    #[test]
    fn moves_of_one_look_are_bounded() {
        let now = loads(4, &[0; 256], &[10; 256]);
        let mut planner = Planner::new(BalanceSettings { patience: 1, moves: 5, ..BalanceSettings::default() });
        assert_eq!(planner.plan(&now).moves.len(), 5);
    }

    /// Random loads: the highest never rises, and no move is to a worker that is not there.
    #[test]
    fn no_plan_makes_it_worse() {
        let mut rng = testkit::rng(3);
        let mut next = |n: u64| rng.random_range(0..n);
        let (mut moved, mut better) = (0, 0);
        for _ in 0..2000 {
            let workers = 1 + next(6) as u16;
            let buckets = 1 + next(64) as usize;
            let owners: Vec<u16> = (0..buckets).map(|_| next(u64::from(workers)) as u16).collect();
            let packets: Vec<u64> = (0..buckets).map(|_| if next(8) == 0 { next(10_000) } else { next(100) }).collect();
            let now = loads(workers, &owners, &packets);
            let plan = quick().plan(&now);
            let after = apply(&now, &plan.moves);
            assert!(plan.moves.iter().all(|m| m.to < workers && usize::from(m.bucket) < buckets));
            assert!(most(&after) <= most(&now), "{now:?} {plan:?}");
            moved += plan.moves.len();
            better += usize::from(most(&after) < most(&now));
            let without = empty(&now, 0);
            let rest = apply(&now, &without);
            assert!(workers == 1 || rest.owners.iter().all(|o| *o != 0), "nothing stays with who goes");
            let mut more = now.clone();
            more.workers.push(WorkerLoad { slot: workers, ..WorkerLoad::default() });
            let given = apply(&more, &spread(&more, workers));
            assert!(most(&given) <= most(&now));
        }
        assert!(moved > 2000 && better > 500, "{moved} moves, {better} times better");
    }

    #[test]
    fn a_new_worker_gets_its_share_of_idle_buckets_too() {
        let mut now = loads(2, &[0, 1, 0, 1, 0, 1, 0, 1, 0], &[0; 9]);
        now.workers.push(WorkerLoad { slot: 2, ..WorkerLoad::default() });
        let after = apply(&now, &spread(&now, 2));
        assert_eq!([0, 1, 2].map(|slot| after.owners.iter().filter(|o| **o == slot).count()), [3, 3, 3]);
    }

    #[test]
    fn workers_come_when_all_are_overloaded_and_go_when_few_would_do() {
        let settings = BalanceSettings { scale_patience: 2, workers: Some((1, 3)), ..BalanceSettings::default() };
        let with = |busy: f64, n: u16| Loads {
            workers: (0..n).map(|slot| WorkerLoad { slot, packets: 1, busy, depth: 0.0 }).collect(),
            ..loads(n, &[0, 1], &[10, 10])
        };
        let mut planner = Planner::new(settings);
        assert_eq!(planner.plan(&with(1.0, 2)).scale, None);
        assert_eq!(planner.plan(&with(1.0, 2)).scale, Some(Scale::Add));
        assert!((0..50).all(|_| planner.plan(&with(1.0, 3)).scale.is_none()), "not beyond the most");
        assert!((0..19).all(|_| planner.plan(&with(0.1, 2)).scale.is_none()));
        assert_eq!(planner.plan(&with(0.1, 2)).scale, Some(Scale::Remove(1)));
        assert!((0..50).all(|_| planner.plan(&with(0.1, 1)).scale.is_none()), "not below the fewest");
        assert!((0..50).all(|_| planner.plan(&with(0.6, 2)).scale.is_none()), "two at 0.6 do not fit into one");
        assert_eq!(planner.plan(&with(0.1, 5)).scale, Some(Scale::Remove(4)), "more than there may be");
    }
}
