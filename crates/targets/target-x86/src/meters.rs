//! Meter cells. Cells of equal configuration share a profile, so that a cell is half a cache line.
//!
//! Generated code reads a cell's profile whenever it executes the cell. So a profile that no cell uses any more is given to another
//! configuration only after all lanes have seen the batch that took it from its last cell: [`Meters::give_back`].
//!
//! Cells may be shared by a target ahead of this one, which executes them too ([`SharedMeter`]). Then they are only used under their locks, profiles are
//! written for the owner as well, and a cell to which its entries may lead keeps its rate until the owner releases it.

use crate::LoadError;
use crate::abi::{CMeter, CProfile, ONE_RATE, WAITING};
use crate::cells::Cells;
use program::{MAX_BURST, MeterConfig};
use std::collections::{BTreeSet, HashMap};
use std::ptr::addr_of_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use target_api::{MeterState, PROFILE_WORDS, PROFILES, SharedMeter, Taken, TargetError, WAITING_ONE};

const NANO: u64 = 1_000_000_000;

/// An array of meter cells and their profiles.
pub(crate) struct Meters {
    cells: Cells,
    /// By number. The first is none, of cells that are not configured.
    profiles: Cells,
    /// Numbers in use, and how many cells use them.
    known: HashMap<MeterConfig, (u32, u64)>,
    /// Numbers that were in use.
    free: Vec<u32>,
    /// The first number that never was.
    next: u32,
    owner: Option<Arc<SharedMeter>>,
    /// Cells that have no configuration any more but for the owner.
    let_go: BTreeSet<u64>,
}

impl Meters {
    /// `size` cells, not configured; in another target's memory if there is one.
    pub(crate) fn new(size: u64, owner: Option<Arc<SharedMeter>>) -> Result<Meters, LoadError> {
        Self::in_cells(owner.as_ref().map_or_else(|| Cells::new(size, 4), |owner| Cells::shared(owner.clone(), size))?, owner)
    }

    /// The same beside the cells of a counter, which are given too.
    pub(crate) fn with_counter(size: u64) -> Result<(Meters, Cells), LoadError> {
        let (counter, cells) = Cells::pair(size)?;
        Ok((Self::in_cells(cells, None)?, counter))
    }

    fn in_cells(cells: Cells, owner: Option<Arc<SharedMeter>>) -> Result<Meters, LoadError> {
        let size = cells.len();
        // A batch may change every cell, to as many configurations as there are cells: the old ones are still there then. One
        // more is there while a cell is set for the second time.
        let profiles = size.saturating_mul(2).saturating_add(2);
        if profiles > PROFILES.into() {
            return Err(LoadError::Memory { bytes: size.saturating_mul(size_of::<CMeter>() as u64) });
        }
        let profiles = Cells::new(profiles, 4)?;
        Ok(Meters { cells, profiles, known: HashMap::new(), free: Vec::new(), next: 1, owner, let_go: BTreeSet::new() })
    }

    /// Whether the cells are another target's too.
    pub(crate) fn are_shared(&self) -> bool {
        self.owner.is_some()
    }

    /// A cell is to be without configuration: says whether the owner's entries may lead to it, so that it keeps what it has for now.
    pub(crate) fn owner_keeps(&mut self, index: u64) -> bool {
        let kept = self.owner.as_ref().is_some_and(|owner| owner.is_kept(index));
        if kept {
            self.let_go.insert(index);
        }
        kept
    }

    /// A cell is configured, for the first time or again.
    pub(crate) fn hold(&mut self, index: u64) {
        self.let_go.remove(&index);
        if let Some(owner) = &self.owner {
            owner.make_room(index);
        }
    }

    /// Cells that the owner has released in the meantime: they lose their configuration.
    pub(crate) fn let_go(&mut self) -> Vec<u64> {
        let Some(owner) = self.owner.as_ref().filter(|_| !self.let_go.is_empty()) else { return Vec::new() };
        self.let_go.extract_if(.., |index| !owner.is_kept(*index)).collect()
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> u64 {
        self.cells.len()
    }

    /// The first cell.
    pub(crate) fn start(&self) -> *mut CMeter {
        self.cells.start()
    }

    /// Bytes from one cell to the next.
    pub(crate) fn stride(&self) -> u64 {
        self.cells.stride()
    }

    /// The first profile.
    pub(crate) fn profiles(&self) -> *const CProfile {
        self.profiles.start()
    }

    /// A cell, if there are so many.
    pub(crate) fn cell(&self, index: u64) -> Option<MeterCell> {
        (index < self.len()).then(|| MeterCell(self.cells.at(index)))
    }

    /// What is to be in a cell of that configuration: full buckets, and a use of the profile.
    pub(crate) fn take(&mut self, config: Option<MeterConfig>) -> CMeter {
        let Some(config) = config else { return CMeter::default() };
        const FITS: &str = "the batch's check saw to it that bursts fit";
        let nano = |burst: u64| burst.checked_mul(NANO).expect(FITS);
        let shared = shared_config(config);
        let profile = CProfile { cir: shared.cir, cbs: nano(shared.cbs), pir: shared.pir, pbs: nano(shared.pbs) };
        let (number, uses) = self.known.entry(shared).or_insert_with(|| {
            let number = self.free.pop().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            assert!(u64::from(number) < self.profiles.len(), "no more profiles than cells, before and behind a batch");
            // SAFETY: within the array, and no cell has this number.
            unsafe { self.profiles.start::<CProfile>().add(number as usize).write(profile) };
            if let Some(owner) = &self.owner {
                // Beyond the last one the owner hands packets on.
                let words = owner.profiles().iter().skip(number as usize * PROFILE_WORDS);
                words.zip([profile.cir, profile.cbs, profile.pir, profile.pbs]).for_each(|(word, to)| word.store(to, Ordering::Relaxed));
            }
            (number, 0)
        });
        *uses += 1;
        let one_rate = if config.cir == config.pir && config.cbs == config.pbs { ONE_RATE } else { 0 };
        CMeter { committed: nano(config.cbs), peak: nano(config.pbs), last_ns: 0, profile: *number | one_rate, lock: 0 }
    }

    /// What is in a cell's buckets, if it is configured.
    pub(crate) fn state(&self, index: u64) -> Option<MeterState> {
        let cell = self.cell(index).filter(|_| !self.let_go.contains(&index))?;
        let profile = cell.profile();
        let state = (profile != 0).then(|| cell.buckets())?;
        // Of two buckets that are alike, only one is kept.
        let committed = if profile & ONE_RATE != 0 { state.peak } else { state.committed };
        Some(MeterState { committed, ..state })
    }

    /// Sets the buckets of a configured cell, as far as they hold so much.
    pub(crate) fn set_state(&mut self, index: u64, state: MeterState) -> Result<(), TargetError> {
        let missing = || TargetError(format!("meter cell {index} is not configured"));
        let cell = self.cell(index).filter(|_| !self.let_go.contains(&index)).ok_or_else(missing)?;
        let number = cell.profile() & !ONE_RATE;
        if number == 0 {
            return Err(missing());
        }
        // SAFETY: within the array, as it has been given out; only `take` writes to it, which is excluded.
        let CProfile { cbs, pbs, .. } = unsafe { self.profiles.start::<CProfile>().add(number as usize).read() };
        cell.set_buckets(MeterState { committed: state.committed.min(cbs), peak: state.peak.min(pbs), ..state });
        Ok(())
    }

    /// Takes back the use of a profile by a cell that no lane has seen with it, or that no lane sees with it any more.
    pub(crate) fn give_back(&mut self, profile: u32) {
        let number = profile & !ONE_RATE;
        if number == 0 {
            return;
        }
        // SAFETY: within the array, as it has been given out; only `take` writes to it, which is excluded.
        let CProfile { cir, cbs, pir, pbs } = unsafe { self.profiles.start::<CProfile>().add(number as usize).read() };
        let config = MeterConfig { cir, cbs: cbs / NANO, pir, pbs: pbs / NANO };
        let (_, uses) = self.known.get_mut(&config).expect("a profile in use is known");
        *uses -= 1;
        if *uses == 0 {
            self.known.remove(&config);
            self.free.push(number);
        }
    }
}

/// What cells of that configuration share a profile by. Where nothing fills a bucket its size does not matter, so that quotas of all sizes are one: an owner has
/// room for few.
fn shared_config(config: MeterConfig) -> MeterConfig {
    match config {
        MeterConfig { cir: 0, pir: 0, .. } => MeterConfig { cir: 0, cbs: MAX_BURST, pir: 0, pbs: MAX_BURST },
        config => config,
    }
}

/// As generated code refills a bucket (`meter.h`).
fn refill(tokens: u64, rate: u64, burst: u64, elapsed_ns: u64) -> u64 {
    rate.checked_mul(elapsed_ns).and_then(|gained| tokens.checked_add(gained)).map_or(burst, |sum| sum.min(burst))
}

/// When a bucket has got what is missing; `None`: never.
fn filled_ns(missing: u64, rate: u64, now_ns: u64) -> Option<u64> {
    // 10^-9 units by units a second: nanoseconds.
    (rate > 0).then(|| missing.div_ceil(rate)).and_then(|ns| ns.checked_add(now_ns))
}

/// Address of a meter's cell.
#[derive(Clone, Copy)]
pub(crate) struct MeterCell(*mut CMeter);

// SAFETY: an address; whoever uses it says why they may.
unsafe impl Send for MeterCell {}
// SAFETY: as above.
unsafe impl Sync for MeterCell {}

impl MeterCell {
    /// A cell of a meter's array.
    pub(crate) fn new(cell: *mut CMeter) -> MeterCell {
        MeterCell(cell)
    }

    /// Takes `units` out of the bucket, if it holds as many: as generated code does with a packet that is not red.
    ///
    /// # Safety
    /// `profiles` are those of the cell's array, and do not change meanwhile: for a lane within a burst.
    pub(crate) unsafe fn take(self, profiles: *const CProfile, units: u32, now_ns: u64) -> Taken {
        self.locked(|[committed, peak, last]| {
            // SAFETY: the caller's promise.
            let Some(CProfile { cir, cbs, pir, pbs }) = (unsafe { self.profile_of(profiles) }) else { return Taken::Now };
            let cost = u64::from(units) * NANO;
            if cost > pbs {
                return Taken::Never;
            }
            let elapsed_ns = now_ns.saturating_sub(last.load(Ordering::Relaxed));
            let held = refill(peak.load(Ordering::Relaxed), pir, pbs, elapsed_ns);
            committed.store(refill(committed.load(Ordering::Relaxed), cir, cbs, elapsed_ns), Ordering::Relaxed);
            last.fetch_max(now_ns, Ordering::Relaxed);
            let Some(left) = held.checked_sub(cost) else {
                peak.store(held, Ordering::Relaxed);
                return filled_ns(cost - held, pir, now_ns).map_or(Taken::Never, Taken::At);
            };
            peak.store(left, Ordering::Relaxed);
            committed.store(committed.load(Ordering::Relaxed).saturating_sub(cost), Ordering::Relaxed);
            Taken::Now
        })
    }

    /// When [`MeterCell::take`] gives so many units if nobody else takes them; now if it never does.
    ///
    /// # Safety
    /// As for [`MeterCell::take`].
    pub(crate) unsafe fn when_ns(self, profiles: *const CProfile, units: u32, now_ns: u64) -> u64 {
        self.locked(|[_, peak, last]| {
            // SAFETY: the caller's promise.
            let Some(CProfile { pir, pbs, .. }) = (unsafe { self.profile_of(profiles) }) else { return now_ns };
            let cost = u64::from(units) * NANO;
            let elapsed_ns = now_ns.saturating_sub(last.load(Ordering::Relaxed));
            match cost.checked_sub(refill(peak.load(Ordering::Relaxed), pir, pbs, elapsed_ns)) {
                Some(missing) if missing > 0 && cost <= pbs => filled_ns(missing, pir, now_ns).unwrap_or(now_ns),
                _ => now_ns,
            }
        })
    }

    /// Gives back what [`MeterCell::take`] took.
    ///
    /// # Safety
    /// As for [`MeterCell::take`].
    pub(crate) unsafe fn give_back(self, profiles: *const CProfile, units: u32) {
        self.locked(|[committed, peak, _]| {
            // SAFETY: the caller's promise.
            let Some(CProfile { cbs, pbs, .. }) = (unsafe { self.profile_of(profiles) }) else { return };
            for (bucket, most) in [(committed, cbs), (peak, pbs)] {
                bucket.store(bucket.load(Ordering::Relaxed).saturating_add(u64::from(units) * NANO).min(most), Ordering::Relaxed);
            }
        });
    }

    /// Peak rate in units a second; [`u64::MAX`] if it is not configured.
    ///
    /// # Safety
    /// As for [`MeterCell::take`].
    pub(crate) unsafe fn rate(self, profiles: *const CProfile) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.profile_of(profiles) }.map_or(u64::MAX, |profile| profile.pir)
    }

    /// # Safety
    /// As for [`MeterCell::take`].
    unsafe fn profile_of(self, profiles: *const CProfile) -> Option<CProfile> {
        let number = self.profile() & !ONE_RATE;
        // SAFETY: a number in use is within the array, whose profiles stay while the caller is within a burst.
        (number != 0).then(|| unsafe { profiles.add(number as usize).read() })
    }

    /// Its profile as lanes see it. For the owner of the batches, between two of them.
    pub(crate) fn profile(self) -> u32 {
        self.profile_half().load(Ordering::Relaxed) & !WAITING
    }

    /// Packets of one more worker wait for the cell, or of one fewer: targets in front that share it are told.
    pub(crate) fn set_waiting(self, more: bool) {
        self.locked(|_| {
            let half = self.profile_half();
            let profile = half.load(Ordering::Relaxed);
            half.store(if more { profile + WAITING_ONE } else { profile - WAITING_ONE }, Ordering::Relaxed);
        });
    }

    fn profile_half<'a>(self) -> &'a AtomicU32 {
        // SAFETY: a cell of a meter's array, which lives as long as its owner. Of this half batches change the number, which lanes have taken over then,
        // and workers change the rest under the cell's lock.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.0).profile)) }
    }

    /// Sets it.
    ///
    /// # Safety
    /// Nobody else uses the cell.
    pub(crate) unsafe fn set(self, meter: CMeter) {
        // SAFETY: a cell of a meter's array, and the caller's promise.
        unsafe { self.0.write(meter) }
    }

    /// Its buckets, of one moment if no lane is within a burst; the profile is not looked at.
    pub(crate) fn buckets(self) -> MeterState {
        self.locked(|[committed, peak, last_ns]| MeterState {
            committed: committed.load(Ordering::Relaxed),
            peak: peak.load(Ordering::Relaxed),
            last_ns: last_ns.load(Ordering::Relaxed),
        })
    }

    /// Sets them. What a lane makes of them that is within a burst is its own.
    pub(crate) fn set_buckets(self, state: MeterState) {
        self.locked(|[committed, peak, last_ns]| {
            committed.store(state.committed, Ordering::Relaxed);
            peak.store(state.peak, Ordering::Relaxed);
            last_ns.store(state.last_ns, Ordering::Relaxed);
        });
    }

    /// Something with the buckets and the time under the cell's lock. A single lane does not take that lock, so this is exact
    /// only between bursts.
    fn locked<R>(self, what: impl FnOnce([&AtomicU64; 3]) -> R) -> R {
        let lock = self.take_lock();
        // SAFETY: words of a cell of a meter's array, which lives as long as its owner; generated code reads and writes them whole.
        let words = unsafe {
            [
                AtomicU64::from_ptr(addr_of_mut!((*self.0).committed)),
                AtomicU64::from_ptr(addr_of_mut!((*self.0).peak)),
                AtomicU64::from_ptr(addr_of_mut!((*self.0).last_ns)),
            ]
        };
        let result = what(words);
        lock.store(0, Ordering::Release);
        result
    }

    fn take_lock<'a>(self) -> &'a AtomicU32 {
        // SAFETY: the lock is only used as an atomic, here and in generated code; the array lives as long as its owner.
        let lock = unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.0).lock)) };
        while lock.swap(1, Ordering::Acquire) != 0 {
            std::hint::spin_loop();
        }
        lock
    }

    /// Sets it while lanes may use it under its lock, or while it is unused.
    pub(crate) fn set_locked(self, meter: CMeter) {
        let lock = self.take_lock();
        let CMeter { committed, peak, last_ns, profile, lock: _ } = meter;
        // SAFETY: a cell of a meter's array, and the lock excludes lanes.
        unsafe {
            addr_of_mut!((*self.0).committed).write(committed);
            addr_of_mut!((*self.0).peak).write(peak);
            addr_of_mut!((*self.0).last_ns).write(last_ns);
        }
        // Who waits does so whatever the rate is.
        let half = self.profile_half();
        half.store(half.load(Ordering::Relaxed) & WAITING | profile, Ordering::Relaxed);
        lock.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(n: u64) -> MeterConfig {
        MeterConfig { cir: n, cbs: n, pir: 2 * n, pbs: n }
    }

    /// Every cell with a profile of its own, and every one changed to another before any is freed.
    #[test]
    fn as_many_profiles_as_cells_work_and_numbers_are_used_again() {
        let mut meters = Meters::new(100, None).unwrap();
        let mut held: Vec<u32> = (0..100).map(|n| meters.take(Some(config(n))).profile).collect();
        for round in 1..50 {
            let next: Vec<u32> = (0..100).map(|n| meters.take(Some(config(1_000 * round + n))).profile).collect();
            held.drain(..).for_each(|profile| meters.give_back(profile));
            held = next;
        }
        assert!(meters.next <= 201, "{}", meters.next);
        assert_eq!(meters.known.len(), 100);
        held.drain(..).for_each(|profile| meters.give_back(profile));
        assert_eq!((meters.known.len(), meters.free.len() as u32), (0, meters.next - 1));
    }

    #[test]
    fn equal_configurations_share_a_profile_while_one_cell_uses_it() {
        let mut meters = Meters::new(4, None).unwrap();
        let (a, b) = (meters.take(Some(config(5))), meters.take(Some(config(5))));
        assert_eq!(a, b);
        assert_eq!((a.committed, a.peak), (5 * NANO, 5 * NANO));
        meters.give_back(a.profile);
        let other = meters.take(Some(config(6)));
        assert_ne!(other.profile, b.profile, "its second use is left");
        meters.give_back(b.profile);
        assert_eq!(meters.take(Some(config(7))).profile, b.profile, "the last is gone");
        assert_eq!(meters.take(None), CMeter::default());
        meters.give_back(0);
    }

    #[test]
    fn buckets_go_on_in_another_cell() {
        let mut meters = Meters::new(3, None).unwrap();
        assert_eq!(meters.state(0), None);
        assert!(meters.set_state(0, MeterState::default()).is_err() && meters.set_state(3, MeterState::default()).is_err());
        let one_rate = MeterConfig { cir: 5, cbs: 7, pir: 5, pbs: 7 };
        for (index, of) in [(0, config(5)), (1, one_rate)] {
            let set = meters.take(Some(of));
            meters.cell(index).unwrap().set_locked(set);
        }
        let state = MeterState { committed: 2 * NANO, peak: 3 * NANO, last_ns: 17 };
        meters.set_state(0, state).unwrap();
        assert_eq!(meters.state(0), Some(state));
        meters.set_state(1, state).unwrap();
        assert_eq!(meters.state(1), Some(MeterState { committed: 3 * NANO, ..state }), "one bucket is kept of two alike");
        meters.set_state(0, MeterState { committed: u64::MAX, peak: u64::MAX, last_ns: 18 }).unwrap();
        assert_eq!(meters.state(0), Some(MeterState { committed: 5 * NANO, peak: 5 * NANO, last_ns: 18 }));
    }

    /// Beside the meter of crate `table`: what it finds red is told when it will not be.
    #[test]
    fn a_cell_gives_its_worker_what_it_gives_packets_and_says_when_it_will() {
        let (rate, burst) = (1_000_003, 5000);
        let mut meters = Meters::new(2, None).unwrap();
        let set = meters.take(Some(MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst }));
        let cell = meters.cell(1).unwrap();
        cell.set_locked(set);
        let mut twin = table::Meter::new(rate, burst, rate, burst, 0);
        // SAFETY: there are no lanes.
        let take = |units, now| unsafe { cell.take(meters.profiles(), units, now) };
        let (mut now, mut counts) = (0, [0, 0]);
        for n in 0..20_000u64 {
            let units = (n * 7919 % 1500) as u32;
            now += n * 104_729 % 1_100_000;
            // SAFETY: there are no lanes.
            let when = unsafe { cell.when_ns(meters.profiles(), units, now) };
            match take(units, now) {
                Taken::Now => {
                    counts[0] += 1;
                    assert_eq!(when, now);
                    assert_eq!(twin.execute(now, units.into()), table::Colour::Green);
                }
                Taken::At(at) => {
                    counts[1] += 1;
                    assert_eq!(when, at, "it is known before");
                    assert_eq!(twin.execute(now, units.into()), table::Colour::Red);
                    assert_eq!(twin.clone().execute(at - 1, units.into()), table::Colour::Red, "not earlier");
                    assert_eq!(take(units, at), Taken::Now);
                    assert_eq!(twin.execute(at, units.into()), table::Colour::Green);
                    now = at;
                }
                Taken::Never => panic!("the burst holds every packet"),
            }
        }
        assert!(counts.iter().all(|n| *n > 1000), "{counts:?}");
        assert_eq!(take(5001, now), Taken::Never);
        // SAFETY: there are no lanes.
        unsafe {
            let held = cell.buckets().peak;
            assert_eq!(cell.take(meters.profiles(), 40, now + 1_000_000), Taken::Now);
            cell.give_back(meters.profiles(), 40);
            assert!(cell.buckets().peak >= held);
            assert_eq!((cell.rate(meters.profiles()), meters.cell(0).unwrap().rate(meters.profiles())), (rate, u64::MAX));
            assert_eq!(meters.cell(0).unwrap().take(meters.profiles(), 9000, now), Taken::Now, "not configured");
        }
    }

    /// As many as XDP has room for rates, and more.
    #[test]
    fn quotas_of_different_sizes_use_up_no_more_profiles_than_one() {
        const CELLS: u64 = 70_000;
        let mut meters = Meters::new(CELLS, None).unwrap();
        let quota = |bytes| MeterConfig { cir: 0, cbs: bytes, pir: 0, pbs: bytes };
        for index in 0..CELLS {
            let cell = meters.take(Some(quota(1000 + index)));
            assert_eq!((cell.profile, cell.peak), (1 | ONE_RATE, (1000 + index) * NANO));
            meters.cell(index).unwrap().set_locked(cell);
        }
        let rated = meters.take(Some(MeterConfig { pir: 1, ..quota(1000) }));
        assert_eq!(rated.profile, 2, "one that is filled is another");
        // Each holds what it was given, and no time fills it.
        let cell = meters.cell(7).unwrap();
        // SAFETY: the profiles of its array, which do not change meanwhile.
        let take = |units, now_ns| unsafe { cell.take(meters.profiles(), units, now_ns) };
        assert_eq!([take(1007, 1), take(1, u64::MAX)], [Taken::Now, Taken::Never]);
        (0..CELLS).for_each(|_| meters.give_back(1));
        assert_eq!((meters.known.len(), &meters.free[..]), (1, &[1][..]));
    }

    #[test]
    fn the_largest_burst_fits() {
        let mut meters = Meters::new(1, None).unwrap();
        let most = MeterConfig { cir: u64::MAX, cbs: program::MAX_BURST, pir: u64::MAX, pbs: program::MAX_BURST };
        let cell = meters.take(Some(most));
        assert_eq!((cell.peak, cell.profile), (program::MAX_BURST * NANO, 1 | ONE_RATE));
    }

    #[test]
    fn cells_of_a_counter_and_a_meter_share_lines_and_nothing_else() {
        let (mut meters, counts) = Meters::with_counter(100).unwrap();
        assert_eq!((meters.len(), counts.len(), meters.stride(), counts.stride()), (100, 100, 64, 64));
        let set: Vec<CMeter> = (0..100).map(|n| meters.take(Some(config(n + 1)))).collect();
        for index in 0..100 {
            counts.counter(index).unwrap().add(index as i32, 7 * index as i32);
            meters.cell(index).unwrap().set_locked(set[index as usize]);
        }
        for index in 0..100 {
            let (cell, count) = (meters.cell(index).unwrap(), counts.counter(index).unwrap());
            assert_eq!(cell.0.addr() / 64, std::ptr::from_ref(count).addr() / 64, "{index}");
            assert_eq!(meters.state(index), Some(MeterState { committed: (index + 1) * NANO, peak: (index + 1) * NANO, last_ns: 0 }));
            assert_eq!(count.read(), target_api::Count { packets: index, bytes: 7 * index });
        }
        assert!(meters.cell(100).is_none() && counts.counter(100).is_none());
        // What is left of one keeps the memory of both.
        drop(meters);
        assert_eq!(counts.counter(99).unwrap().read().packets, 99);
    }

    #[test]
    fn cells_lie_within_cache_lines() {
        let meters = Meters::new(3, None).unwrap();
        assert!((0..3).all(|i| meters.cell(i).unwrap().0.addr().is_multiple_of(32)));
        assert!(meters.cell(3).is_none());
    }
}
