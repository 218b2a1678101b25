//! A worker's lane: converts packets to the form of the generated code and back.

use crate::abi::{CCounter, CLane, CMeters, CPacket, CRegister};
use crate::apply::{CellChanges, publish};
use crate::{LaneCells, Shared};
use base::{Packet, Verdict, VerdictKind};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use target::{BURST, Lane};

/// A lane of an [`crate::X86`].
pub struct X86Lane {
    view: CLane,
    arrays: Arrays,
    cells: Arc<LaneCells>,
    /// That of the last burst; what came with it has been taken over.
    epoch: u64,
    shared: Arc<Shared>,
}

/// What [`CLane`] points to, of this lane alone.
struct Arrays {
    counters: Box<[CCounter]>,
    meters: Box<[CMeters]>,
    registers: Box<[CRegister]>,
}

// SAFETY: its pointers lead to what it owns, or to what `shared` owns and changes between its bursts only.
unsafe impl Send for X86Lane {}

impl X86Lane {
    pub(crate) fn new(shared: Arc<Shared>, index: usize) -> X86Lane {
        let cells = take_cells(&shared, index);
        let mut state = shared.control();
        let arrays = Arrays {
            counters: cells.counters.iter().map(|c| CCounter { cells: c.start(), size: c.len() }).collect(),
            meters: state.meters.iter().map(|m| CMeters { cells: m.start(), size: m.len(), profiles: m.profiles(), shared: 1 }).collect(),
            registers: shared.registers.iter().map(|r| CRegister { cells: r.start(), size: r.len() }).collect(),
        };
        state.lanes += 1;
        shared.meters_shared.store(state.lanes > 1 || shared.cells_shared, Ordering::Relaxed);
        // Gives this lane its views, and returns when no other lane uses meters without locks any more.
        publish(&shared, &mut state, CellChanges::default());
        drop(state);
        let view = CLane {
            tables: cells.tables.start(),
            counters: arrays.counters.as_ptr(),
            meters: arrays.meters.as_ptr(),
            registers: arrays.registers.as_ptr(),
            sets: cells.sets.start(),
            digests: cells.digests.start(),
            run: cells.run.start(),
            random: 1u64.wrapping_add(index as u64),
        };
        // Epochs are above 0, so the first burst chooses how meters are executed.
        X86Lane { view, arrays, cells, epoch: 0, shared }
    }
}

/// Cells of that index that no lane uses, with what an earlier lane counted in them; else new ones.
fn take_cells(shared: &Shared, index: usize) -> Arc<LaneCells> {
    let mut lanes = shared.lanes();
    if let Some(cells) = lanes.iter().find(|l| l.index == index && !l.used.load(Ordering::Acquire)) {
        cells.used.store(true, Ordering::Relaxed);
        return cells.clone();
    }
    // The same arrays were given to index 0 when the program was loaded; they are address space more than memory.
    let cells = LaneCells::new(shared, index).unwrap_or_else(|e| panic!("lane {index}: {e}"));
    cells.used.store(true, Ordering::Relaxed);
    let cells = Arc::new(cells);
    lanes.push(cells.clone());
    cells
}

impl Drop for X86Lane {
    fn drop(&mut self) {
        let mut state = self.shared.control();
        self.cells.used.store(false, Ordering::Release);
        state.lanes -= 1;
        self.shared.meters_shared.store(state.lanes > 1 || self.shared.cells_shared, Ordering::Relaxed);
        publish(&self.shared, &mut state, CellChanges::default());
    }
}

impl Lane for X86Lane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let n = packets.len();
        assert!(n == verdicts.len() && n <= BURST, "{n} packets and {} verdicts in a burst of at most {BURST}", verdicts.len());
        if n == 0 {
            return;
        }
        let mut views = [const { MaybeUninit::<CPacket>::uninit() }; BURST];
        for (packet, view) in packets.iter_mut().zip(&mut views) {
            let port = packet.port.0.into();
            let (buffer, start, length) = packet.buffer_mut();
            prefetch(buffer.as_ptr().wrapping_add(start));
            view.write(CPacket { buffer: buffer.as_mut_ptr(), start: start as u32, length: length as u32, port });
        }
        let burst = self.cells.presence.enter(&self.shared.epoch);
        if self.epoch != burst.epoch {
            self.cells.take_update();
            let shared = self.shared.meters_shared.load(Ordering::Relaxed);
            self.arrays.meters.iter_mut().for_each(|meter| meter.shared = shared.into());
            self.view.meters = self.arrays.meters.as_ptr();
            self.epoch = burst.epoch;
        }
        // SAFETY: the function is of the text that the layout was read from. `view` and what it points to are this
        // lane's alone, or stay as they are until `burst` has ended; the first `n` views have been written, and each describes a buffer that is
        // borrowed mutably by `packets`; `verdicts` takes `n`, and the code writes kinds 0 to 3 only.
        unsafe { (self.shared.object.process)(&mut self.view, views.as_mut_ptr().cast(), verdicts.as_mut_ptr(), n as u32, now_ns) }
        drop(burst);
        for ((packet, view), verdict) in packets.iter_mut().zip(&views).zip(verdicts) {
            if verdict.kind != VerdictKind::Drop {
                // SAFETY: the first `n` views have been written.
                let view = unsafe { view.assume_init_ref() };
                packet.set_window(view.start as usize, view.length as usize);
            }
        }
    }
}

#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does not fault, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
