//! Tests: the planner keeps its limits, and its heap chooses what a sort would.

use super::*;
use rand::Rng;

fn planner(sessions: u64, capacity: u32) -> Planner {
    let mut planner = Planner::new(Settings::default(), [capacity; ROOMS]).unwrap();
    for id in 0..sessions {
        let needs = Needs { entries: [1, 1, 0, 0], updates: 2, cycles: 100.0 };
        planner.session(&Unit { id, ..Unit::default() }, needs, 0);
    }
    planner
}

/// The heap's choice is what sorting all of them gives.
#[test]
fn the_best_are_those_that_a_sort_puts_first() {
    let mut rng = testkit::rng(11);
    let mut planner = planner(3000, 100);
    for _ in 0..50 {
        // Many are equal, many are none.
        planner.ranks.iter_mut().for_each(|r| *r = f64::from(rng.random_range(0..400u32).saturating_sub(100)));
        let most = rng.random_range(1..500);
        let mut sorted: Vec<(f64, u32)> = planner.ranks.iter().zip(0..).map(|(r, at)| (*r, at)).filter(|(r, _)| *r > 0.0).collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        sorted.truncate(most);
        assert_eq!(planner.top_ranks(most), sorted);
    }
}

/// Random sessions, rates, refusals and ends: room, allowance and stay are kept, and the books are right.
#[test]
fn room_allowance_and_stay_are_kept_whatever_happens() {
    let mut rng = testkit::rng(12);
    let (mut planned, mut evicted, mut refused) = (0, 0, 0);
    for _ in 0..20 {
        let capacity = rng.random_range(5..60);
        let mut planner = planner(200, capacity);
        let mut usage = vec![0u64; 200];
        let mut fast: BTreeMap<u64, u64> = BTreeMap::new();
        let mut spent: Vec<(u64, u32)> = Vec::new();
        for tick in 1..200u64 {
            let now_ns = tick * 50_000_000;
            for id in 0..200 {
                if rng.random_bool(0.5) {
                    usage[id as usize] += rng.random_range(0..(1 + id) * 10);
                    planner.usage(id, usage[id as usize], 0, now_ns);
                }
            }
            for of in planner.plan(now_ns) {
                spent.push((now_ns, 2));
                planned += 1;
                if of.why == Why::Evicted {
                    evicted += 1;
                    assert!(now_ns - fast[&of.id] >= planner.settings.min_stay_ns, "{of:?} has hardly come");
                }
                let mut outcome = [Outcome::Done, Outcome::Done, Outcome::Done, Outcome::Failed, Outcome::NoRoom][rng.random_range(0..5)];
                // An eviction may have failed before.
                if of.to == Place::Fast && fast.len() == capacity as usize {
                    outcome = Outcome::NoRoom;
                }
                refused += u64::from(outcome != Outcome::Done);
                if outcome == Outcome::Done {
                    match of.to {
                        Place::Fast => assert!(fast.insert(of.id, now_ns).is_none()),
                        Place::Base => assert!(fast.remove(&of.id).is_some()),
                    }
                }
                planner.moved(&of, outcome, now_ns);
            }
            if rng.random_bool(0.1) {
                let id = rng.random_range(0..200);
                planner.forget(id);
                fast.remove(&id);
                planner.session(&Unit { id, ..Unit::default() }, Needs { entries: [1, 1, 0, 0], updates: 2, cycles: 100.0 }, now_ns);
                usage[id as usize] = 0;
            }
            assert_eq!((planner.fast.len(), planner.used[0]), (fast.len(), fast.len() as u32));
            assert!(planner.used[0] <= capacity);
            let second: u32 = spent.iter().filter(|(at, _)| now_ns - at < 1_000_000_000).map(|(_, n)| n).sum();
            assert!(second <= planner.settings.updates_per_second, "{second} changes in a second");
        }
    }
    assert!(planned > 2000 && evicted > 100 && refused > 500, "{planned} {evicted} {refused}");
}

#[test]
fn wrong_settings_are_named() {
    let wrong = |settings: Settings| settings.validate().unwrap_err().to_string();
    assert!(wrong(Settings { margin: 0.5, ..Settings::default() }).contains("0.5"));
    assert!(wrong(Settings { margin: f64::NAN, ..Settings::default() }).contains("NaN"));
    assert!(wrong(Settings { window_ns: 0, ..Settings::default() }).contains("window"));
    let admit = Admit::Above { enter_bps: 1.0, leave_bps: 2.0 };
    assert!(wrong(Settings { admit, ..Settings::default() }).contains("must not be less"));
}

/// Room for two of three candidates, one of which is there; a move that fails is wanted all the same.
#[test]
fn sessions_that_are_wanted_are_those_that_would_come_if_all_moves_were_made() {
    let mut planner = planner(4, 2);
    assert_eq!(planner.wanted(), 0);
    for id in 0..3 {
        planner.rate(id, 100.0, 1e6, 1_000_000_000);
    }
    assert_eq!(planner.wanted(), 2);
    let now_ns = 2_000_000_000;
    let moves = planner.plan(now_ns);
    assert_eq!((moves.len(), planner.wanted()), (2, 2));
    planner.moved(&moves[0], Outcome::Done, now_ns);
    planner.moved(&moves[1], Outcome::Failed, now_ns);
    planner.forget(2);
    assert_eq!((planner.counts(), planner.wanted()), ((3, 1), 2), "one is there, and one is tried again");
    planner.forget(moves[1].id);
    assert_eq!(planner.wanted(), 1);
}

#[test]
fn what_was_used_before_is_no_rate() {
    let mut planner = planner(2, 2);
    planner.used_before(0, 1_000_000, 0);
    for id in 0..2 {
        planner.usage(id, 1_000_100, 0, 1_000_000_000);
    }
    let rate = |id| planner.rate_of(id, 1_000_000_000).unwrap().0;
    assert_eq!((rate(0), rate(1)), (100.0, 1_000_100.0));
    // Of one that was measured it is known.
    planner.used_before(0, 0, 0);
    planner.usage(0, 1_000_200, 0, 2_000_000_000);
    assert!((planner.rate_of(0, 2_000_000_000).unwrap().0 - 100.0).abs() < 1e-6);
}
