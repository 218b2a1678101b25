//! A worker's lane: converts packets to the form of the generated code and back.

use crate::abi::{CCounter, CLane, CMeters, CPacket, CRegister};
use crate::apply::{CellChanges, publish};
use crate::ask::{AskTables, Asking};
use crate::cells::Cells;
use crate::meters::MeterCell;
use crate::{LaneCells, Shared};
use base::{Metered, Packet, Verdict, VerdictKind};
use cranelift_entity::EntityRef;
use program::{CounterId, MeterId};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use target_api::{Asks, BURST, Counted, Lane, Rates, Taken};

/// A lane of an [`crate::X86`].
pub struct X86Lane {
    view: CLane,
    arrays: Arrays,
    cells: Arc<LaneCells>,
    /// That of the last burst; what came with it has been taken over.
    epoch: u64,
    shared: Arc<Shared>,
    shaped: Option<Shaped>,
    ask_tables: AskTables,
}

/// A meter whose red packets wait.
struct Shaped {
    meter: usize,
    /// A bit a cell: packets of this lane's worker wait for it.
    waiting: Cells,
    /// Whether a target in front executes the cells too, and is told.
    shared: bool,
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
            counters: cells.counters.iter().map(|c| CCounter { cells: c.start(), size: c.len(), stride: c.stride() }).collect(),
            meters: state
                .meters
                .iter()
                .map(|m| CMeters {
                    cells: m.start(),
                    size: m.len(),
                    stride: m.stride(),
                    profiles: m.profiles(),
                    shared: 1,
                    waiting: std::ptr::null_mut(),
                })
                .collect(),
            registers: shared.registers.iter().map(|r| CRegister { cells: r.start(), size: r.len(), stride: r.stride() }).collect(),
        };
        state.lanes += 1;
        shared.meters_shared.store(state.lanes > 1 || shared.cells_shared, Ordering::Relaxed);
        // Gives this lane its views, and returns when no other lane uses meters without locks any more.
        publish(&shared, &mut state, CellChanges::default());
        let ask_tables = AskTables::new(&shared.program, &state.tables);
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
            asked: 0,
            asking: std::ptr::null_mut(),
            in_order: 0,
            payload: [0; BURST],
        };
        // Epochs are above 0, so the first burst chooses how meters are executed.
        X86Lane { view, arrays, cells, epoch: 0, shared, shaped: None, ask_tables }
    }
}

/// What changed since the lane's last burst.
fn take_over(cells: &LaneCells, shared: &Shared, arrays: &mut Arrays, view: &mut CLane, seen: &mut u64, epoch: u64) {
    if *seen == epoch {
        return;
    }
    cells.take_update();
    let is_shared = shared.meters_shared.load(Ordering::Relaxed);
    arrays.meters.iter_mut().for_each(|meter| meter.shared = is_shared.into());
    view.meters = arrays.meters.as_ptr();
    *seen = epoch;
}

/// Cells of that index that no lane uses, with what an earlier lane counted in them; else new ones.
fn take_cells(shared: &Shared, index: usize) -> Arc<LaneCells> {
    let mut lanes = shared.lanes();
    if let Some(cells) = lanes.iter().find(|l| l.index == index && !l.used.load(Ordering::Acquire)) {
        cells.used.store(true, Ordering::Relaxed);
        return cells.clone();
    }
    // As large as those that index 0 was given when the program was loaded; they are address space more than memory.
    let cells = LaneCells::new(shared, index, BTreeMap::new()).unwrap_or_else(|e| panic!("lane {index}: {e}"));
    cells.used.store(true, Ordering::Relaxed);
    let cells = Arc::new(cells);
    lanes.push(cells.clone());
    cells
}

impl Drop for X86Lane {
    fn drop(&mut self) {
        // Whoever still waits waits no longer.
        if let Some(Shaped { meter, waiting, shared: true }) = &self.shaped {
            let mut rates = LaneRates { meters: &self.arrays.meters[*meter], waiting, shared: true };
            for at in 0..waiting.len() {
                while let Some(bits) = waiting.register(at).map(|word| word.load(Ordering::Relaxed)).filter(|bits| *bits != 0) {
                    rates.set_waiting((64 * at) as u32 + bits.trailing_zeros(), false);
                }
            }
        }
        let mut state = self.shared.control();
        self.cells.used.store(false, Ordering::Release);
        state.lanes -= 1;
        self.shared.meters_shared.store(state.lanes > 1 || self.shared.cells_shared, Ordering::Relaxed);
        publish(&self.shared, &mut state, CellChanges::default());
    }
}

impl X86Lane {
    /// One burst; `asks` is asked where the program calls services.
    #[inline(always)]
    fn run(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64, asks: Option<&mut dyn Asks>) {
        let n = packets.len();
        assert!(n == verdicts.len() && n <= BURST, "{n} packets and {} verdicts in a burst of at most {BURST}", verdicts.len());
        if n == 0 {
            return;
        }
        let mut views = [const { MaybeUninit::<CPacket>::uninit() }; BURST];
        let mut sizes = [0; BURST];
        for ((packet, view), size) in packets.iter_mut().zip(&mut views).zip(&mut sizes) {
            let (port, metered) = (packet.port.0.into(), packet.metered.number());
            let (buffer, start, length) = packet.buffer_mut();
            if asks.is_some() {
                *size = buffer.len();
            }
            prefetch(buffer.as_ptr().wrapping_add(start));
            view.write(CPacket { buffer: buffer.as_mut_ptr(), start: start as u32, length: length as u32, port, metered: metered.into() });
        }
        let burst = self.cells.presence.enter(&self.shared.epoch);
        take_over(&self.cells, &self.shared, &mut self.arrays, &mut self.view, &mut self.epoch, burst.epoch);
        let (view, views_at) = (&raw mut self.view, views.as_mut_ptr().cast());
        let tables = self.cells.tables.start();
        let mut asking = asks.map(|asks| Asking { asks, packets: views_at, sizes: &sizes, lane: view });
        if let Some(asking) = &mut asking {
            // SAFETY: this lane is within a burst, so nobody else writes what it sees of its tables, nor reads it. It is as before when the burst ends.
            unsafe { self.ask_tables.begin(tables, asking) }
        }
        // SAFETY: the function is of the text that the layout was read from. `view` and what it points to are this
        // lane's alone, or stay as they are until `burst` has ended; the first `n` views have been written, and each describes a buffer that is
        // borrowed mutably by `packets`; `verdicts` takes `n`, and the code writes kinds 0 to 3 only.
        unsafe { (self.shared.object.process)(view, views_at, verdicts.as_mut_ptr(), n as u32, now_ns) }
        if asking.is_some() {
            // SAFETY: as above.
            unsafe { self.ask_tables.end(tables) }
        }
        drop(burst);
        for ((packet, view), verdict) in packets.iter_mut().zip(&views).zip(verdicts) {
            packet.metered = Metered::default();
            if verdict.kind != VerdictKind::Drop {
                // SAFETY: the first `n` views have been written.
                let view = unsafe { view.assume_init_ref() };
                packet.set_window(view.start as usize, view.length as usize);
                // As [`Verdict::of_program`], without a store to each verdict.
                if verdict.kind == VerdictKind::Buffer && verdict.reason != 0 {
                    verdict.kind = VerdictKind::Shape;
                    // Of a program with more meters than may be waited for nothing is said, and the packet is dropped.
                    packet.metered = Metered::new((view.metered >> 8) as u8, (view.metered >> 16) as u16).unwrap_or_default();
                }
            }
        }
    }
}

impl Lane for X86Lane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        self.run(packets, verdicts, now_ns, None);
    }

    fn process_asking(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64, asks: &mut dyn Asks) {
        self.run(packets, verdicts, now_ns, Some(asks));
    }

    fn shape(&mut self, meter: MeterId) -> bool {
        let Some(of) = self.arrays.meters.get_mut(meter.index()) else { return false };
        let Ok(waiting) = Cells::new(of.size.div_ceil(64), 1) else { return false };
        of.waiting = waiting.start();
        let shared = self.shared.control().meters[meter.index()].are_shared();
        self.shaped = Some(Shaped { meter: meter.index(), waiting, shared });
        true
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        // Cells are cleared between bursts.
        let burst = self.cells.presence.enter(&self.shared.epoch);
        take_over(&self.cells, &self.shared, &mut self.arrays, &mut self.view, &mut self.epoch, burst.epoch);
        let Some(cells) = self.cells.counters.get(counter.index()) else { return false };
        for of in more {
            if let Some(cell) = cells.counter(of.cell.into()) {
                cell.add(of.packets, of.bytes);
            }
        }
        true
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        let burst = self.cells.presence.enter(&self.shared.epoch);
        take_over(&self.cells, &self.shared, &mut self.arrays, &mut self.view, &mut self.epoch, burst.epoch);
        let Some(Shaped { meter, waiting, shared }) = &self.shaped else { return };
        work(&mut LaneRates { meters: &self.arrays.meters[*meter], waiting, shared: *shared });
        drop(burst);
    }

    target_api::lane_without!(take_extra, ran_by, poll, next_poll_ns);
}

/// The cells of a shaped meter, within a burst.
struct LaneRates<'a> {
    meters: &'a CMeters,
    waiting: &'a Cells,
    shared: bool,
}

impl LaneRates<'_> {
    fn cell(&self, index: u32) -> Option<MeterCell> {
        (u64::from(index) < self.meters.size).then(|| MeterCell::new(self.meters.at(index)))
    }
}

impl Rates for LaneRates<'_> {
    fn take(&mut self, cell: u32, units: u32, now_ns: u64) -> Taken {
        // SAFETY: profiles stay as they are while a lane is within a burst and a cell has their number.
        self.cell(cell).map_or(Taken::Now, |cell| unsafe { cell.take(self.meters.profiles, units, now_ns) })
    }

    fn when_ns(&self, cell: u32, units: u32, now_ns: u64) -> u64 {
        // SAFETY: as above.
        self.cell(cell).map_or(now_ns, |cell| unsafe { cell.when_ns(self.meters.profiles, units, now_ns) })
    }

    fn give_back(&mut self, cell: u32, units: u32) {
        if let Some(cell) = self.cell(cell) {
            // SAFETY: as above.
            unsafe { cell.give_back(self.meters.profiles, units) }
        }
    }

    fn rate(&self, cell: u32) -> u64 {
        // SAFETY: as above.
        self.cell(cell).map_or(u64::MAX, |cell| unsafe { cell.rate(self.meters.profiles) })
    }

    fn look_ahead(&self, cell: u32) {
        if u64::from(cell) < self.meters.size {
            prefetch(self.meters.at(cell).cast());
        }
    }

    fn set_waiting(&mut self, cell: u32, waits: bool) {
        let Some(word) = self.waiting.register(u64::from(cell / 64)) else { return };
        let (was, bit) = (word.load(Ordering::Relaxed), 1 << (cell % 64));
        word.store(if waits { was | bit } else { was & !bit }, Ordering::Relaxed);
        if self.shared
            && (was & bit != 0) != waits
            && let Some(cell) = self.cell(cell)
        {
            cell.set_waiting(waits);
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
