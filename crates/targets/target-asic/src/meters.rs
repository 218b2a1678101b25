//! Rates of a chip that the next target executes too ([`target_api::SharedMeter`]): one bucket, wherever packets run.
//!
//! What is over a rate goes to the next target and may wait there. Then the cell is red here for all that come, so that they follow; and within the burst it
//! stays red from the first packet on that was, or that goes on for another reason: a shorter one behind it might find tokens and overtake it.

use p4_interp::{Colour, SharedCells};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target_api::SharedMeter;

/// Cells of one meter.
pub(crate) struct Cells {
    pub(crate) memory: Arc<SharedMeter>,
    red: Mutex<Red>,
}

/// Of the burst on its way: the machine runs one at a time.
#[derive(Default)]
struct Red {
    /// Whether packets wait for this meter at all.
    holds_back: bool,
    cells: HashSet<u64>,
}

impl Cells {
    pub(crate) fn new(memory: Arc<SharedMeter>) -> Arc<Cells> {
        Arc::new(Cells { memory, red: Mutex::default() })
    }

    /// The next burst begins.
    pub(crate) fn begin_burst(&self, holds_back: bool) {
        let mut red = self.red();
        red.holds_back = holds_back;
        red.cells.clear();
    }

    fn red(&self) -> MutexGuard<'_, Red> {
        self.red.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As the machine executes them.
pub(crate) struct Executed(pub(crate) Arc<Cells>);

impl SharedCells for Executed {
    fn execute(&self, index: u64, now_ns: u64, units: u64) -> Option<(Colour, [u64; 2])> {
        let mut red = self.0.red();
        if red.cells.contains(&index) {
            return Some((Colour::Red, [0; 2]));
        }
        let executed = self.0.memory.execute(index, now_ns, units)?;
        let colour = match executed.colour {
            0 => Colour::Green,
            1 => Colour::Yellow,
            _ => Colour::Red,
        };
        if red.holds_back && colour == Colour::Red {
            red.cells.insert(index);
        }
        Some((colour, executed.taken))
    }

    fn give_back(&self, index: u64, taken: [u64; 2]) {
        self.0.memory.give_back(index, taken);
        // The next target charges it behind those of this burst that stay here.
        let mut red = self.0.red();
        if red.holds_back {
            red.cells.insert(index);
        }
    }
}
