//! When does a session come onto the fast target, and when does it leave?

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use offload::planner::{Outcome, Place, Why};
use offload::{Comeback, Decision, MoveError, OnRefusal, Policy, Split, SplitError, Stage, Unit};
use program::*;
use target_api::{Ahead, Capabilities, Carried, Count, DrainToken, Facets, InFlight, Lane, TableStats, Target};

/// Keeps entries, and refuses what exceeds its capacity. Packets it has none.
struct Fake {
    program: Arc<Program>,
    fast: bool,
    capacity: usize,
    entries: Mutex<HashSet<(TableId, u128)>>,
    /// What it says to the next batch, without having done anything.
    answer: Mutex<Option<ApplyError>>,
    /// What it says when it is asked next whether it takes a batch.
    promise: Mutex<Option<ApplyError>>,
    /// It meets packets before the engine does.
    ahead: bool,
}

impl Target for Fake {
    fn name(&self) -> &str {
        if self.fast { "fast" } else { "base" }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: true, subset: self.fast, buffers: !self.fast, selective: false }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        let promise = self.promise.lock().unwrap().take();
        promise.map_or_else(|| Ok(self.after(batch).map(drop)?), Err)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        if let Some(answer) = self.answer.lock().unwrap().take() {
            return Err(answer);
        }
        let next = self.after(batch)?;
        *self.entries.lock().unwrap() = next;
        Ok(())
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply(batch)
    }

    fn lane(&self, _: usize) -> Box<dyn Lane> {
        unreachable!("no packets here")
    }

    fn counter(&self, _: CounterId, _: u64) -> Count {
        Count::default()
    }

    fn facets(&self) -> Facets<'_> {
        Facets { ahead: self.ahead.then_some(self), ..Facets::NONE }
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let entries = self.entries.lock().unwrap().iter().filter(|(t, _)| *t == table).count() as u64;
        TableStats { entries, ..TableStats::default() }
    }
}

impl Ahead for Fake {
    fn carried(&self) -> Carried {
        Carried::default()
    }

    fn in_flight(&self) -> Arc<InFlight> {
        unreachable!("no packets here")
    }

    fn begin_drain(&self) -> Option<DrainToken> {
        None
    }

    fn finish_drain(&self, _: DrainToken) {}
}

impl Fake {
    /// What it would hold.
    fn after(&self, batch: &Batch) -> Result<HashSet<(TableId, u128)>, RuleError> {
        let mut next = self.entries.lock().unwrap().clone();
        let key = |e: &Entry| match e.keys[0] {
            KeyMatch::Exact(key) => (e.table, key),
            _ => panic!("exact keys only"),
        };
        let table = |e: &Entry| self.program.tables[e.table].name.clone();
        for (at, op) in batch.ops.iter().enumerate() {
            match op {
                Op::Insert(e) if next.len() == self.capacity => {
                    return Err(RuleError::Full { op: at, table: table(e), capacity: self.capacity as u64 });
                }
                Op::Insert(e) if !next.insert(key(e)) => return Err(RuleError::Exists { op: at, table: table(e) }),
                Op::Modify(e) if !next.contains(&key(e)) => return Err(RuleError::Missing { op: at, table: table(e) }),
                Op::Delete(e) if !next.remove(&key(e)) => return Err(RuleError::Missing { op: at, table: table(e) }),
                _ => {}
            }
        }
        Ok(next)
    }
}

/// A pair, its table of sessions and its table that both hold.
fn pair(policy: Policy, capacity: usize) -> (Split, TableId, TableId) {
    let (split, sessions, shared, _) = pair_and_fast(policy, capacity);
    (split, sessions, shared)
}

/// With its fast target.
fn pair_and_fast(policy: Policy, capacity: usize) -> (Split, TableId, TableId, Arc<Fake>) {
    let (program, sessions, shared) = two_tables();
    let fast = fake(&program, true, capacity);
    (Split::new(Box::new(fast.clone()), Box::new(fake(&program, false, 1024)), policy).unwrap(), sessions, shared, fast)
}

fn fake(program: &Arc<Program>, fast: bool, capacity: usize) -> Arc<Fake> {
    let (entries, answer, promise) = Default::default();
    Arc::new(Fake { program: program.clone(), fast, capacity, entries, answer, promise, ahead: false })
}

/// A program with a table of sessions and one that all targets hold.
fn two_tables() -> (Arc<Program>, TableId, TableId) {
    let mut program = Program::default();
    let action = program.actions.push(ActionInfo { name: "act".into(), full_name: "act".into(), params: vec![] });
    let mut table = |name: &str, split| {
        program.tables.push(TableInfo {
            name: name.into(),
            full_name: name.into(),
            keys: vec![KeyInfo { name: "key".into(), width: 32, kind: MatchKind::Exact }],
            actions: vec![ActionUse { action, entry: true, default: true }],
            default_action: (action, vec![]),
            const_default: false,
            size: 1024,
            entries: vec![],
            const_entries: false,
            split,
            direct_counter: None,
            direct_meter: None,
        })
    };
    let (sessions, shared) = (table("sessions", true), table("shared", false));
    (Arc::new(program), sessions, shared)
}

fn entry(table: TableId, key: u128) -> Entry {
    Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action: ActionId::from_u32(0), args: vec![] }
}

fn facts(seid: u64, ue: Option<&str>, metered: bool) -> Unit {
    Unit { id: seid, chosen: ue.is_some(), metered, ..Unit::default() }
}

fn apply(split: &Split, session: Unit, ops: Vec<Op>) {
    split.apply_session(&session, &Batch { ops }).unwrap();
}

fn to_base(id: u64, why: Why) -> Decision {
    Decision::new(id, Place::Base, why, Outcome::Done)
}

/// Entries of a table on the fast target and on the base target.
fn entries(split: &Split, table: TableId) -> (u64, u64) {
    (split.fast().unwrap().table_stats(table).entries, split.base().table_stats(table).entries)
}

/// A next hop that is known now: packets that waited for it go first.
#[test]
fn a_fast_target_ahead_gets_what_ends_a_wait_when_all_that_came_before_has_been_sent() {
    let (program, sessions, shared) = two_tables();
    let fast = Fake { ahead: true, ..Arc::into_inner(fake(&program, true, 100)).unwrap() };
    let split = Split::new(Box::new(fast), Box::new(fake(&program, false, 1024)), Policy::Chosen).unwrap();
    let of_all = |keys: &[u128]| Batch { ops: keys.iter().map(|key| Op::Insert(entry(shared, *key))).collect() };
    let sent = Arc::new(AtomicBool::new(false));
    let says = sent.clone();
    split.apply_before(&of_all(&[1])).unwrap();
    split.apply_after(of_all(&[1]), move || says.load(Ordering::Relaxed));
    // A later change that belongs to no session waits behind it, one of a session does not.
    split.apply(&of_all(&[2])).unwrap();
    apply(&split, facts(1, Some("10.45.0.1"), false), vec![Op::Insert(entry(sessions, 1))]);
    split.poll();
    assert_eq!((entries(&split, shared), entries(&split, sessions)), ((0, 2), (1, 1)));
    sent.store(true, Ordering::Relaxed);
    split.poll();
    assert_eq!(entries(&split, shared), (2, 2));
    // A session's change of the same entry does not wait: it comes behind the deferred one at once.
    split.apply_before(&of_all(&[3])).unwrap();
    split.apply_after(of_all(&[3]), || false);
    apply(&split, facts(2, None, false), vec![Op::Delete(entry(shared, 3))]);
    assert_eq!(entries(&split, shared), (2, 2));
    // What the base target refuses has changed nothing.
    split.apply_before(&of_all(&[2])).unwrap_err();
    assert_eq!(entries(&split, shared), (2, 2));
}

#[test]
fn a_chain_of_one_is_its_target() {
    let (program, sessions, shared) = two_tables();
    let split = Split::alone(Box::new(fake(&program, false, 2)));
    apply(&split, facts(1, Some("10.45.0.1"), false), vec![Op::Insert(entry(sessions, 1)), Op::Insert(entry(shared, 1))]);
    let full = Batch { ops: vec![Op::Insert(entry(shared, 2))] };
    assert!(matches!(split.apply(&full), Err(ApplyError::Refused(RuleError::Full { .. }))));
    assert!(split.fast().is_none() && !split.is_on_fast(1) && !split.is_retired() && split.take_decisions().is_empty());
    assert_eq!((split.name(), split.target_of(1).name(), split.table_stats(sessions).entries), ("base", "base", 1));
    assert_eq!(
        split.move_to_fast(&facts(1, None, false), &full).map_err(|e| e.to_string()).unwrap_err(),
        "there is no target in front of the base target"
    );
}

#[test]
fn a_session_comes_as_a_whole_or_not_at_all() {
    let (split, sessions, shared) = pair(Policy::Chosen, 100);
    // Its address is known too late: what it has already is not on the fast target.
    apply(&split, facts(1, None, true), vec![Op::Insert(entry(sessions, 1)), Op::Insert(entry(shared, 1))]);
    apply(&split, facts(1, Some("10.45.0.1"), true), vec![Op::Insert(entry(sessions, 2)), Op::Insert(entry(shared, 2))]);
    assert!(!split.is_on_fast(1));
    assert_eq!((entries(&split, sessions), entries(&split, shared)), ((0, 2), (2, 2)));
    // When it has come to nothing it may begin again.
    apply(&split, facts(1, None, true), vec![Op::Delete(entry(sessions, 1)), Op::Delete(entry(sessions, 2))]);
    apply(&split, facts(1, Some("10.45.0.1"), true), vec![Op::Insert(entry(sessions, 3))]);
    assert!(split.is_on_fast(1));
    assert_eq!(entries(&split, sessions), (1, 1));
    apply(&split, facts(1, None, false), vec![Op::Delete(entry(sessions, 3))]);
    assert_eq!((split.sessions_on_fast(), entries(&split, sessions)), (0, (0, 0)));
}

#[test]
fn a_session_that_found_no_room_does_not_come_in_parts() {
    let (split, sessions, _) = pair(Policy::Share(1.0), 2);
    apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 1))]);
    apply(&split, facts(2, None, false), vec![Op::Insert(entry(sessions, 2)), Op::Insert(entry(sessions, 3))]);
    assert_eq!((split.refused_by_fast(), split.is_on_fast(1), split.is_on_fast(2)), (1, true, false));
    apply(&split, facts(2, None, false), vec![Op::Insert(entry(sessions, 4))]);
    assert!(!split.is_on_fast(2));
    assert_eq!(entries(&split, sessions), (1, 4));
    // One that grows out of its room leaves with all it has.
    apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 5)), Op::Insert(entry(sessions, 6))]);
    assert_eq!((split.is_on_fast(1), entries(&split, sessions)), (false, (0, 6)));
    assert_eq!(split.take_decisions(), [to_base(1, Why::NoRoom)], "one that never came has not moved");
    apply(&split, facts(1, None, false), vec![Op::Modify(entry(sessions, 1)), Op::Delete(entry(sessions, 5))]);
    assert_eq!(entries(&split, sessions), (0, 5));
}

#[test]
fn by_dscp_a_session_that_is_given_a_rate_leaves() {
    let (split, sessions, shared) = pair(Policy::Dscps(vec![46], |_| None), 100);
    apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 1)), Op::Insert(entry(sessions, 2))]);
    assert!(split.is_on_fast(1));
    let ops = vec![Op::Modify(entry(sessions, 1)), Op::Delete(entry(sessions, 2)), Op::Insert(entry(shared, 1))];
    apply(&split, facts(1, None, true), ops);
    assert!(!split.is_on_fast(1));
    assert_eq!((entries(&split, sessions), entries(&split, shared)), ((0, 1), (1, 1)));
    assert_eq!(split.take_decisions(), [to_base(1, Why::Metered)]);
    // Without the rate it stays where all its packets can be.
    apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 7))]);
    assert_eq!(entries(&split, sessions), (0, 2));
    // By share a session's packets run in one place anyhow.
    let (split, sessions, _) = pair(Policy::Share(1.0), 100);
    apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 1))]);
    apply(&split, facts(1, None, true), vec![Op::Modify(entry(sessions, 1))]);
    assert!(split.is_on_fast(1));
}

/// What is known not to have been done costs a session its place; only what may have been done costs the fast target its service.
#[test]
fn a_target_is_retired_for_an_unknown_outcome_and_not_for_what_it_does_not_support() {
    let refused = RuleError::Invalid { op: 0, what: "no".into() }.into();
    let unsupported = ApplyError::Unsupported { op: 0, target: "fast".into(), what: "direct meters" };
    for (answer, retired) in [(refused, false), (unsupported, false), (ApplyError::Unknown("no answer".into()), true)] {
        let (split, sessions, _, fast) = pair_and_fast(Policy::Share(1.0), 100);
        apply(&split, facts(1, None, false), vec![Op::Insert(entry(sessions, 1))]);
        apply(&split, facts(2, None, false), vec![Op::Insert(entry(sessions, 2))]);
        *fast.answer.lock().unwrap() = Some(answer.clone());
        apply(&split, facts(1, None, false), vec![Op::Modify(entry(sessions, 1))]);
        assert_eq!((split.is_retired(), split.is_on_fast(1), split.is_on_fast(2)), (retired, false, !retired), "{answer}");
        assert_eq!(split.base().table_stats(sessions).entries, 2);
        let whole = Decision { id: 0, sessions: 2, ..to_base(0, Why::OutOfService) };
        assert_eq!(split.take_decisions(), [if retired { whole } else { to_base(1, Why::NoRoom) }], "{answer}");
        // Nor is it when a session was to move there; what may be there then is taken away.
        let (split, sessions, _, fast) = pair_and_fast(Policy::Planned, 100);
        let copy = Batch { ops: vec![Op::Insert(entry(sessions, 1))] };
        apply(&split, facts(1, None, false), copy.ops.clone());
        *fast.answer.lock().unwrap() = Some(answer.clone());
        assert!(matches!(split.move_to_fast(&facts(1, None, false), &copy), Err(MoveError::Failed(why)) if why == answer));
        assert_eq!((split.is_retired(), entries(&split, sessions)), (false, (0, 1)));
    }
}

/// Only those whose place is another now have moved, and of ever so many the last are told.
#[test]
fn another_policy_tells_whom_it_moved_and_why() {
    let (split, sessions, _) = pair(Policy::Share(1.0), 200);
    let session = |id| facts(id, (id == 1).then_some("10.45.0.1"), false);
    (1..=100).for_each(|id| apply(&split, session(id), vec![Op::Insert(entry(sessions, id.into()))]));
    assert_eq!((split.sessions_on_fast(), split.take_decisions()), (100, vec![]));
    split.set_policy(Policy::Chosen).unwrap();
    (1..=100).for_each(|id| split.reconsider(&session(id)));
    let last: Vec<Decision> = (37..=100).map(|id| to_base(id, Why::NotChosen)).collect();
    assert_eq!((split.sessions_on_fast(), split.take_decisions()), (1, last));
    split.set_policy(Policy::Share(1.0)).unwrap();
    split.reconsider(&session(2));
    let copy = |id: u64| Some((session(id), Batch { ops: vec![Op::Insert(entry(sessions, id.into()))] }));
    Comeback::default().bring_back(&split, 1, copy);
    assert_eq!(split.take_decisions(), [Decision::new(2, Place::Fast, Why::Policy, Outcome::Done)]);
}

/// A file's name says nothing of its contents: the second one was built with an option that adds a table.
#[test]
fn programs_of_one_name_and_other_objects_or_contents_are_no_pair() {
    let mut program = Program::default();
    let named = |fingerprint: u8, name: &str| format!("{name} ({})", Fingerprint([fingerprint; 32]));
    let fake = |program: &Program, fast| Box::new(fake(&Arc::new(program.clone()), fast, 1));
    program.name = "upf.p4".into();
    let small = program.clone();
    program.registers.push(RegisterInfo { name: "recent".into(), size: 8, width: 64, initial: 0, table: None });
    for (fast, base) in [(&small, &program), (&program, &small)] {
        let refused = Split::new(fake(fast, true), fake(base, false), Policy::None).err().unwrap();
        assert_eq!(refused, SplitError::Programs { fast: named(0, "upf.p4"), base: named(0, "upf.p4") });
    }
    let mut other = small.clone();
    other.name = "other.p4".into();
    let refused = Split::new(fake(&small, true), fake(&other, false), Policy::None).err().unwrap();
    let fix = "compile both from one source with the same options";
    let expected = format!("targets run different programs: {} and {}: {fix}", named(0, "upf.p4"), named(0, "other.p4"));
    assert_eq!(refused.to_string(), expected);
    // The same objects, and another program all the same.
    let mut other = small.clone();
    other.fingerprint = Fingerprint([7; 32]);
    let refused = Split::new(fake(&small, true), fake(&other, false), Policy::None).err().unwrap();
    assert_eq!(refused, SplitError::Programs { fast: named(0, "upf.p4"), base: named(7, "upf.p4") });
    let refused = Split::new(fake(&small, false), fake(&small, false), Policy::None).err().unwrap();
    assert_eq!(refused, SplitError::NoSubset("base".into()));
    assert!(Split::new(fake(&program, true), fake(&program, false), Policy::None).is_ok());
}

/// A chain of three whose first two targets have so much room; entries of a table on each.
struct Chain {
    split: Split,
    middle: Arc<Fake>,
    base: Arc<Fake>,
    sessions: TableId,
    shared: TableId,
}

impl Chain {
    fn new(room: [usize; 2], on_refusal: OnRefusal) -> Chain {
        let (program, sessions, shared) = two_tables();
        let (first, middle, base) = (fake(&program, true, room[0]), fake(&program, true, room[1]), fake(&program, false, 1024));
        let stages =
            vec![Stage { target: Box::new(first), on_refusal: OnRefusal::Retire }, Stage { target: Box::new(middle.clone()), on_refusal }];
        let split = Split::chain(stages, Box::new(base.clone()), Policy::Share(1.0)).unwrap();
        Chain { split, middle, base, sessions, shared }
    }

    fn entries(&self, table: TableId) -> Vec<u64> {
        self.split.targets().map(|target| target.table_stats(table).entries).collect()
    }
}

#[test]
fn along_a_chain_a_session_comes_to_the_first_stage_that_has_room() {
    let chain = Chain::new([2, 4], OnRefusal::Retire);
    let (split, sessions) = (&chain.split, chain.sessions);
    for seid in 1..=3u64 {
        let keys = [2 * seid, 2 * seid + 1];
        apply(split, facts(seid, None, false), keys.map(|key| Op::Insert(entry(sessions, key.into()))).to_vec());
    }
    assert_eq!([1, 2, 3].map(|seid| split.stage_of(seid)), [0, 1, 1]);
    assert_eq!((chain.entries(sessions), split.sessions_on_fast(), split.sessions_on(1)), (vec![2, 4, 6], 3, 2));
    apply(split, facts(4, None, false), vec![Op::Insert(entry(sessions, 100))]);
    assert_eq!((split.stage_of(4), split.refused_by_fast()), (2, 4), "two were refused by the first, one by both");
    // It moves from one to the other, and stays at the base target if that has no room.
    let copy = |seid: u64| Batch { ops: [2 * seid, 2 * seid + 1].map(|key| Op::Insert(entry(sessions, key.into()))).to_vec() };
    assert_eq!(split.move_to_stage(1, &facts(3, None, false), &copy(3)), Err(MoveError::There));
    assert!(matches!(split.move_to_stage(0, &facts(3, None, false), &copy(3)), Err(MoveError::NoRoom(_))));
    assert_eq!((split.stage_of(3), chain.entries(sessions)), (2, vec![2, 2, 7]));
    split.move_to_stage(1, &facts(1, None, false), &copy(1)).unwrap();
    split.move_to_fast(&facts(3, None, false), &copy(3)).unwrap();
    assert_eq!((split.stage_of(1), split.stage_of(3), chain.entries(sessions)), (1, 0, vec![2, 4, 7]));
    split.move_to_stage(2, &facts(1, None, false), &copy(1)).unwrap();
    assert_eq!((split.stage_of(1), chain.entries(sessions)), (2, vec![2, 2, 7]));
}

#[test]
fn what_a_stage_may_refuse_for_all_is_refused_before_any_target_has_it() {
    let chain = Chain::new([100, 1], OnRefusal::RefuseBatch);
    let (split, shared) = (&chain.split, chain.shared);
    split.apply(&Batch { ops: vec![Op::Insert(entry(shared, 1))] }).unwrap();
    // The position is that in the whole batch, of which it was asked about a part.
    let batch = Batch { ops: vec![Op::Insert(entry(chain.sessions, 7)), Op::Insert(entry(shared, 2))] };
    let full = RuleError::Full { op: 1, table: "shared".into(), capacity: 1 };
    assert_eq!(split.apply_session(&facts(1, None, false), &batch), Err(full.into()));
    let unsupported = |op| ApplyError::Unsupported { op, target: "middle".into(), what: "such entries" };
    *chain.middle.promise.lock().unwrap() = Some(unsupported(0));
    assert_eq!(split.apply_session(&facts(1, None, false), &batch), Err(unsupported(1)));
    assert!(split.check(&Batch { ops: batch.ops[1..].to_vec() }).is_err());
    // Nor has any of them what the base target refuses.
    let twice = Batch { ops: vec![Op::Delete(entry(shared, 1)), Op::Delete(entry(shared, 1))] };
    assert!(split.apply(&twice).is_err());
    *chain.base.answer.lock().unwrap() = Some(RuleError::Invalid { op: 0, what: "no".into() }.into());
    assert!(split.apply(&Batch { ops: vec![Op::Delete(entry(shared, 1))] }).is_err());
    assert_eq!((chain.entries(shared), chain.entries(chain.sessions)), (vec![1, 1, 1], vec![0, 0, 0]));
    assert!(!split.is_retired());
}

/// It does not answer, or does not do what it has promised: the batch stands, and no packet comes to a stage that lacks it.
#[test]
fn a_stage_in_the_middle_that_fails_after_the_others_have_a_batch_is_retired_and_comes_back_with_it() {
    let no_answer = || ApplyError::Unknown("no answer".into());
    let refused = || ApplyError::Refused(RuleError::Invalid { op: 0, what: "no".into() });
    for (promise, answer) in [(Some(no_answer()), no_answer()), (None, no_answer()), (None, refused())] {
        for on_refusal in [OnRefusal::Retire, OnRefusal::RefuseBatch] {
            let chain = Chain::new([100, 100], on_refusal);
            let (split, sessions, shared) = (&chain.split, chain.sessions, chain.shared);
            apply(split, facts(1, None, false), vec![Op::Insert(entry(sessions, 1)), Op::Insert(entry(sessions, 2))]);
            apply(split, facts(2, None, false), vec![Op::Insert(entry(sessions, 3))]);
            split.move_to_stage(1, &facts(2, None, false), &Batch { ops: vec![Op::Insert(entry(sessions, 3))] }).unwrap();
            assert_eq!([1, 2].map(|seid| split.stage_of(seid)), [0, 1]);
            *chain.middle.promise.lock().unwrap() = promise.clone();
            *chain.middle.answer.lock().unwrap() = Some(answer.clone());
            apply(split, facts(1, None, false), vec![Op::Modify(entry(sessions, 1)), Op::Insert(entry(shared, 1))]);
            assert_eq!([0, 1, 2].map(|stage| split.is_stage_retired(stage)), [false, true, false], "{answer}");
            assert_eq!([1, 2].map(|seid| split.stage_of(seid)), [0, 2], "the first goes on");
            // Without it no batch is refused.
            apply(split, facts(0, None, false), vec![Op::Insert(entry(shared, 2))]);
            split.recover().unwrap();
            assert_eq!((split.is_retired(), chain.entries(shared)), (false, vec![2, 2, 2]));
            assert_eq!(chain.entries(sessions), [2, 0, 3]);
            assert_eq!(split.take_left(), [2]);
        }
    }
}

#[test]
fn targets_that_make_no_chain_are_refused() {
    let (program, ..) = two_tables();
    let chain = |fronts: &[&Arc<Program>], base: &Arc<Program>| {
        let stage = |program: &&Arc<Program>| Stage { target: Box::new(fake(program, true, 10)), on_refusal: OnRefusal::Retire };
        Split::chain(fronts.iter().map(stage).collect(), Box::new(fake(base, false, 10)), Policy::None).err()
    };
    assert_eq!(chain(&[], &program), None, "one target is a chain too");
    let mut cut = Program::clone(&program);
    cut.stages = vec![1, 2];
    let cut = Arc::new(cut);
    assert_eq!(chain(&[&cut, &cut], &cut), None);
    assert_eq!(chain(&[&cut], &cut), Some(SplitError::NoStage { stage: 2, targets: 2 }));
    assert!(
        matches!(chain(&[&cut, &program], &cut), Some(SplitError::Programs { .. })),
        "the whole cannot go on with the bridge of a cut one"
    );
}
