//! Every interleaving of a batch with bursts, as far as the memory model lets them be told apart.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p table --test epoch_model --release`; otherwise there is nothing in here.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use table::{Epoch, Presence};

/// Two sides of a value as a lane sees them, by the parity of the epoch. A burst reads its side twice; the owner writes the other one, shows it, and when
/// the bursts of before have ended writes the first. Loom fails on any access that is not ordered with a write.
#[test]
fn a_side_is_not_written_while_a_burst_reads_it() {
    loom::model(|| {
        let shared = Arc::new((Epoch::default(), Presence::default(), [UnsafeCell::new(1u64), UnsafeCell::new(1u64)]));
        let reader = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (epoch, presence, sides) = &*shared;
                let mut last = 0;
                for _ in 0..2 {
                    let burst = presence.enter(epoch);
                    // SAFETY: the claim that loom checks.
                    let read = || sides[burst.epoch as usize % 2].with(|value| unsafe { *value });
                    let first = read();
                    assert_eq!(first, burst.epoch, "a burst sees what was written before its epoch began");
                    assert_eq!(first, read(), "and nothing else until it ends");
                    assert!(first >= last, "no burst goes back");
                    last = first;
                }
            })
        };
        let (epoch, presence, sides) = &*shared;
        // Epoch 1 is of side 1.
        for batch in 2..=3u64 {
            // SAFETY: the claim that loom checks.
            sides[batch as usize % 2].with_mut(|value| unsafe { *value = batch });
            assert_eq!(epoch.advance(), batch);
            presence.wait_past(batch);
        }
        reader.join().unwrap();
    });
}

/// Who does what a batch asks of a lane (take over its views) does it once: the lane in its first burst of the epoch, or the owner while it rests.
#[test]
fn an_update_is_taken_over_before_the_first_burst_that_needs_it() {
    loom::model(|| {
        let shared = Arc::new((Epoch::default(), Presence::default(), loom::sync::Mutex::new(None), UnsafeCell::new(1u64)));
        let take = |shared: &(Epoch, Presence, loom::sync::Mutex<Option<u64>>, UnsafeCell<u64>)| {
            let mut update = shared.2.lock().unwrap();
            if let Some(value) = update.take() {
                // SAFETY: the claim that loom checks.
                shared.3.with_mut(|views| unsafe { *views = value });
            }
        };
        let lane = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut last = 1;
                for _ in 0..2 {
                    let burst = shared.1.enter(&shared.0);
                    if burst.epoch != last {
                        take(&shared);
                        last = burst.epoch;
                    }
                    // SAFETY: the claim that loom checks.
                    assert_eq!(shared.3.with(|views| unsafe { *views }), burst.epoch);
                }
            })
        };
        *shared.2.lock().unwrap() = Some(2);
        let epoch = shared.0.advance();
        shared.1.wait_past(epoch);
        take(&shared);
        lane.join().unwrap();
    });
}
