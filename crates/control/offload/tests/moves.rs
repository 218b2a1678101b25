//! Moves under traffic, on a fast target that fails at every step: packets, order, counters and meters are those of the interpreter
//! alone.
//!
//! `MOVES=1000000` chooses how many moves are made in all, `MOVES_SEED` with which seed they begin. A failing case prints its seed.

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::{OnRefusal, Policy, Split, SplitError, Unit};
use offload_kit::{Flavour, Ids, Seen, Session, World};
use program::{Batch, Entry, KeyMatch, MeterConfig, Op};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use target_api::Target;
use target_asic::{Asic, Chip};
use target_chaos::{Chaos, Faults};

/// Moves of a case.
const CASE: u64 = 1000;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")))
}

#[test]
fn moving_sessions_changes_nothing_that_can_be_seen() {
    let usual = 20_000;
    let (moves, first) = (number("MOVES").unwrap_or(usual), number("MOVES_SEED").unwrap_or(1));
    let ir = offload_kit::compile();
    let base = Arc::new(offload_kit::native(&ir));
    let mut sum = Seen::default();
    let mut seed = first;
    while sum.moves < moves {
        let flavour = if seed.is_multiple_of(3) { Flavour::Whims } else { Flavour::Rates };
        let case = || World::new(&ir, base.clone(), flavour, ChaCha8Rng::seed_from_u64(seed)).run(CASE.min(moves - sum.moves));
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)) {
            Ok(seen) => sum.add(seen),
            Err(failure) => {
                eprintln!("MOVES_SEED={seed} MOVES={CASE} repeats the case, after {} moves without a fault", sum.moves);
                std::panic::resume_unwind(failure);
            }
        }
        seed += 1;
    }
    println!("{} moves, 0 violations: {sum:#?}", sum.moves);
    if moves >= usual {
        check_coverage(&sum);
    }
}

/// Three targets, of which two fail each in its own way, while one of them refuses for all what it does not take: what is seen is what the interpreter
/// alone shows, whichever of them is out of service.
#[test]
fn a_chain_of_three_does_what_one_target_does_while_its_stages_fail() {
    let ir = offload_kit::compile();
    let base = Arc::new(offload_kit::native(&ir));
    let mut sum = Seen::default();
    for seed in 1..=12u64 {
        let flavour = if seed.is_multiple_of(3) { Flavour::Whims } else { Flavour::Rates };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut asic = || Box::new(Asic::load(ir.clone(), Chip { session_entries: rng.random_range(6..40) }).unwrap());
        let fronts = vec![(asic() as Box<dyn Target>, OnRefusal::Retire), (asic(), OnRefusal::RefuseBatch)];
        let world = World::chain(&ir, fronts, base.clone(), flavour, ChaCha8Rng::seed_from_u64(seed ^ 0xc4a1));
        eprintln!("seed {seed}");
        sum.add(world.run(CASE));
    }
    println!("{sum:#?}");
    let hits = [(sum.in_part, 500), (sum.refused, 8), (sum.recoveries, 50), (sum.left, 100), (sum.failed["no room"], 100)];
    assert!(hits.iter().all(|(seen, least)| seen >= least), "{hits:?}");
    assert!(sum.stages.len() == 3 && sum.stages.iter().all(|packets| *packets > 2_000), "{:?}", sum.stages);
    for fault in ["refused before", "refused after", "done in part", "no room", "deaths", "restarts", "checks"] {
        assert!(sum.faults.of(fault) > 20, "{fault}: {:?}", sum.faults);
    }
}

/// Packets that the bucket of a session lets pass in its life: it never fills again.
const PASS: u64 = 700;

/// Lanes that never stop, on two threads, while sessions move and the fast target fails: each packet comes out once, with its
/// number, and is counted once; and buckets, wherever they are, let pass what they hold and not a packet more.
#[test]
fn lanes_go_on_while_sessions_move() {
    let ir = offload_kit::compile();
    let ids = Ids::new(&ir.program);
    let asic = Asic::load(ir.clone(), Chip { session_entries: 20 }).unwrap();
    let chaos = Arc::new(Chaos::new(Box::new(asic), 41));
    let split = Arc::new(Split::new(Box::new(chaos.clone()), Box::new(offload_kit::native(&ir)), Policy::Planned).unwrap());
    let facts = |seid| Unit { id: seid, ..Unit::default() };
    let session = |seid: u64| {
        let keys = vec![KeyMatch::Exact(seid.into())];
        let args = vec![seid.into(), seid.into(), 7, 1];
        // Half of them have one rate, which x86 keeps in one bucket.
        let cbs = if seid.is_multiple_of(2) { 16 * PASS } else { 16 * PASS / 2 };
        let rate = MeterConfig { cir: 0, cbs, pir: 0, pbs: 16 * PASS };
        Session {
            entries: vec![Entry { table: ids.by_key, keys, priority: 0, action: ids.rule, args }],
            meters: [(seid, rate)].into(),
            ..Session::default()
        }
    };
    (1..=30).for_each(|seid| split.apply_session(&facts(seid), &session(seid).copy(&ids)).unwrap());
    let (ended, bursts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let lanes: Vec<_> = (0..2u32)
        .map(|index| {
            let (split, ended, bursts) = (split.clone(), ended.clone(), bursts.clone());
            std::thread::spawn(move || {
                let mut lane = split.lane(index as usize);
                let (mut sent, mut passed) = ([0u64; 31], [0u64; 31]);
                let mut sequence = 0;
                while !ended.load(Relaxed) {
                    // Both lanes have packets of all sessions.
                    let keys: Vec<u32> = (0..16).map(|i| (sequence + i * 7) % 30 + 1).collect();
                    let new = |key: &u32| Packet::new(&offload_kit::frame(*key, sequence, 0, 0), PortId(0));
                    let mut packets: Vec<Packet> = keys.iter().map(new).collect();
                    let mut verdicts = vec![Verdict::default(); packets.len()];
                    lane.process(&mut packets, &mut verdicts, u64::from(sequence) * 1_000);
                    for ((packet, verdict), key) in packets.iter().zip(&verdicts).zip(&keys) {
                        sent[*key as usize] += 1;
                        if verdict.kind == VerdictKind::Drop {
                            assert_eq!(verdict.reason, 19, "red");
                            continue;
                        }
                        passed[*key as usize] += 1;
                        assert_eq!(*verdict, Verdict::forward(PortId(1)));
                        let colour = packet.data()[9];
                        let expected = [&key.to_be_bytes()[..], &sequence.to_be_bytes(), &[0, colour, 0, 0, 0, 0, 0, 7]].concat();
                        assert_eq!(packet.data(), expected, "key {key}");
                    }
                    sequence += 1;
                    bursts.fetch_add(1, Relaxed);
                }
                (sent, passed)
            })
        })
        .collect();
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    let (mut moved, mut failed) = (0, 0);
    let mut step = 0u32;
    while step < 20_000 || bursts.load(Relaxed) < 4_000 {
        step += 1;
        if step.is_multiple_of(50) {
            let some = [0.0, 0.02, 0.1][rng.random_range(0..3)];
            let faults =
                Faults { before: some, after: some, partly: some, death: some / 4.0, restart: 0.5, buckets: some, ..Faults::default() };
            chaos.set_faults(faults);
        }
        let seid = rng.random_range(1..=30);
        let result = match split.is_on_fast(seid) {
            true => split.move_to_base(seid),
            false => split.move_to_fast(&facts(seid), &session(seid).copy(&ids)),
        };
        *(if result.is_ok() { &mut moved } else { &mut failed }) += 1;
        if split.is_retired() {
            let _ = split.recover();
        }
    }
    ended.store(true, Relaxed);
    let lanes: Vec<_> = lanes.into_iter().map(|lane| lane.join().unwrap()).collect();
    let (mut emptied, mut all, mut carried) = (0, 0, 0);
    for seid in 1..=30 {
        let sent: u64 = lanes.iter().map(|(sent, _)| sent[seid as usize]).sum();
        let passed: u64 = lanes.iter().map(|(_, passed)| passed[seid as usize]).sum();
        assert_eq!(split.counter(ids.usage, seid).packets, passed, "session {seid}");
        assert_eq!(passed, sent.min(PASS), "session {seid}: {sent} sent");
        emptied += u64::from(sent > PASS);
        (all, carried) = (all + sent, carried + passed);
    }
    // What targets dropped is not among what they carried, and both are all there was.
    let sum = |of: fn(&offload::Ran) -> target_api::Count| -> u64 {
        (0..2).flat_map(|stage| split.ran_of(stage).into_values()).map(|ran| of(&ran).packets).sum()
    };
    assert_eq!((sum(|ran| ran.carried), sum(|ran| ran.dropped), sum(|ran| ran.all())), (carried, all - carried, all));
    assert!(emptied >= 20, "only {emptied} buckets were emptied");
    let paths = split.traffic();
    println!("{moved} moved, {failed} not; {paths:?}");
    assert!(moved > 5_000 && failed > 500 && paths.len() == 2, "{moved} moved, {failed} not; {paths:?}");
}

/// Whoever comes after a daemon that was killed finds its fast target gone, or says that it is not empty; a fresh pair takes the same
/// sessions, wherever they were.
#[test]
fn after_a_death_of_the_daemon_everything_begins_clean() {
    let ir = offload_kit::compile();
    let ids = Ids::new(&ir.program);
    let base = Arc::new(offload_kit::native(&ir));
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    let mut refused = 0;
    for _ in 0..50 {
        let fast = Arc::new(Asic::load(ir.clone(), Chip::default()).unwrap());
        let new = || Split::new(Box::new(fast.clone()), Box::new(Asic::oracle(ir.clone()).unwrap()), Policy::Planned);
        let split = new().unwrap();
        let copy = |key: u32| {
            let args = vec![1, 0, 1, 1];
            let entry = Entry { table: ids.by_key, keys: vec![KeyMatch::Exact(key.into())], priority: 0, action: ids.rule, args };
            Batch { ops: vec![Op::Insert(entry)] }
        };
        let facts = |seid| Unit { id: seid, ..Unit::default() };
        // Anywhere between its steps it ends.
        for step in 0..rng.random_range(1..8u32) {
            let (seid, key) = (u64::from(step / 2) + 1, step / 2 + 1);
            match step % 2 {
                0 => split.apply_session(&facts(seid), &copy(key)).unwrap(),
                _ => split.move_to_fast(&facts(seid), &copy(key)).unwrap(),
            }
        }
        let left = split.sessions_on_fast() > 0;
        drop(split);
        match new() {
            Ok(_) => assert!(!left, "a fast target with entries of somebody else is taken"),
            Err(why) => {
                refused += 1;
                assert!(left && matches!(why, SplitError::NotEmpty { .. }), "{why}");
            }
        }
        let fresh = Asic::load(ir.clone(), Chip::default()).unwrap();
        let split = Split::new(Box::new(fresh), Box::new(base.clone()), Policy::Planned).unwrap();
        for seid in 1..=4 {
            split.apply_session(&facts(seid), &copy(seid as u32)).unwrap();
            split.move_to_fast(&facts(seid), &copy(seid as u32)).unwrap();
        }
        assert_eq!(split.sessions_on_fast(), 4);
        // For the next round.
        let undo = |key| copy(key).ops.into_iter().map(|op| if let Op::Insert(e) = op { Op::Delete(e) } else { op }).collect();
        (1..=4u32).for_each(|key| split.apply_session(&facts(key.into()), &Batch { ops: undo(key) }).unwrap());
    }
    assert!((10..50).contains(&refused), "{refused} of 50 left something behind");
}

/// Everything must have happened often enough for its equality to mean something.
fn check_coverage(sum: &Seen) {
    let mut missing = Vec::new();
    let mut at_least = |what: &str, count: u64, least: u64| {
        if count < least {
            missing.push(format!("{what}: {count}, not {least}"));
        }
    };
    at_least("moves to the fast target", sum.to_fast, 5_000);
    at_least("packets on the fast target", sum.paths.0, 5_000);
    at_least("packets on the base target", sum.paths.1, 20_000);
    at_least("sessions that left by themselves", sum.left, 500);
    at_least("recoveries", sum.recoveries, 100);
    at_least("buckets between full and empty", sum.partial_buckets, 1_000);
    at_least("entries read back", sum.read_back as u64, 1_000);
    at_least("batches that do not fit again", sum.refused_again, 500);
    for kind in ["colour 0", "colour 1", "colour 2", "Drop 17", "Drop 18", "Drop 19"] {
        at_least(kind, sum.kinds.get(kind).copied().unwrap_or_default(), 500);
    }
    for fault in
        ["refused before", "refused after", "done in part", "no room", "deaths", "restarts", "buckets refused", "slow", "sudden deaths"]
    {
        at_least(fault, sum.faults.of(fault), 20);
    }
    at_least("serving refused", sum.faults.of("serving refused"), 5);
    for failure in ["out of service", "no room", "failed"] {
        at_least(failure, sum.failed.get(failure).copied().unwrap_or_default(), 100);
    }
    assert!(missing.is_empty(), "too few:\n{}", missing.join("\n"));
}
