//! Does a session's change have its turn while the pair's lanes always have packets?

use base::{Packet, PortId, Verdict};
use offload::{Policy, Split, Unit};
use program::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use target_api::{BURST, Lane, Target};
use target_kit::StandIn;

/// One worker's: of several, some stand in line themselves.
const LANES: usize = 1;
const CHANGES: usize = 200;
/// What a burst takes at least.
const WORK: Duration = Duration::from_micros(50);

/// Works on packets; that of the fast target counts its bursts.
struct BusyLane {
    fast: bool,
    begun: Arc<AtomicU64>,
}

impl Lane for BusyLane {
    fn process(&mut self, _: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        if self.fast {
            self.begun.fetch_add(1, SeqCst);
            let end = Instant::now() + WORK;
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }
        verdicts.fill(Verdict::forward(PortId(1)));
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

fn program() -> (Arc<Program>, TableId, ActionId) {
    let mut program = Program::default();
    let action = program.actions.push(ActionInfo { name: "act".into(), full_name: "act".into(), params: vec![] });
    let table = program.tables.push(TableInfo {
        name: "sessions".into(),
        full_name: "sessions".into(),
        keys: vec![KeyInfo { name: "key".into(), width: 32, kind: MatchKind::Exact }],
        actions: vec![ActionUse { action, entry: true, default: true }],
        default_action: (action, vec![]),
        const_default: false,
        size: 1024,
        entries: vec![],
        const_entries: false,
        split: true,
        direct_counter: None,
        direct_meter: None,
    });
    (Arc::new(program), table, action)
}

/// Each change comes between two bursts of every lane. A lock that lanes take again before a waiting thread has woken up would let
/// hundreds of bursts go first; this one lets those end that are under way.
#[test]
fn a_change_waits_for_few_bursts() {
    let (program, table, action) = program();
    let (begun, begun_at_batches) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let busy = |fast| {
        let begun = begun.clone();
        StandIn::new(move |_| Box::new(BusyLane { fast, begun: begun.clone() })).of(program.clone())
    };
    let (at_batch, notes) = (begun.clone(), begun_at_batches.clone());
    let fast = busy(true).named("fast").subset().on_batch(move |_| {
        notes.lock().unwrap().push(at_batch.load(SeqCst));
        Ok(())
    });
    let split = Split::new(Box::new(fast), Box::new(busy(false)), Policy::Share(1.0)).unwrap();
    let stop = AtomicBool::new(false);
    let mut asked_at = Vec::new();
    std::thread::scope(|scope| {
        for index in 0..LANES {
            let (split, stop) = (&split, &stop);
            scope.spawn(move || {
                let mut lane = split.lane(index);
                let mut packets = vec![Packet::new(&[0; 64], PortId(0)); BURST];
                let mut verdicts = vec![Verdict::default(); BURST];
                while !stop.load(SeqCst) {
                    lane.process(&mut packets, &mut verdicts, 0);
                }
            });
        }
        for seid in 1..=CHANGES as u64 {
            // Until all lanes are at it again.
            let before = begun.load(SeqCst);
            while begun.load(SeqCst) < before + 2 * LANES as u64 {
                std::thread::yield_now();
            }
            let entry = Entry { table, keys: vec![KeyMatch::Exact(seid.into())], priority: 0, action, args: vec![] };
            asked_at.push(begun.load(SeqCst));
            split.apply_session(&Unit { id: seid, ..Unit::default() }, &Batch { ops: vec![Op::Insert(entry)] }).unwrap();
        }
        stop.store(true, SeqCst);
    });
    let batches = begun_at_batches.lock().unwrap();
    assert_eq!((batches.len(), split.sessions_on_fast()), (CHANGES, CHANGES), "all came onto the fast target");
    let mut ahead: Vec<u64> = batches.iter().zip(&asked_at).map(|(at, asked)| at - asked).collect();
    // Nine of ten: who is put to sleep between looking and asking has not waited yet.
    ahead.sort_unstable();
    assert!(ahead[CHANGES * 9 / 10] <= 2 * LANES as u64, "bursts that were begun after who asked, and went before: {ahead:?}");
}
