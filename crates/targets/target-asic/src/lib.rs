//! Targets `asic` and `nic`: *models* of a switch chip and of a network processor: the reference interpreter under a chip's limits.
//!
//! A model holds a subset of the sessions, cannot buffer, and hands what it misses to the next target unchanged (first
//! paper §5.4, Figure 5a). Its speed says nothing about a chip's: every figure of it is to be labelled "modelled".
//!
//! How many sessions it holds is a number of the caller's ([`Chip`]), or follows from where a program of the chip's own has
//! room ([`Model`]); that also limits what one packet may ask for.
#![forbid(unsafe_code)]

mod machine;
mod meters;
mod model;

pub use model::{Model, Recirculation};

use base::{Packet, Verdict, VerdictKind};
use cranelift_entity::EntityRef;
use machine::Shared;
pub use p4_interp::{Beyond, Limits};
use p4_interp::{Machine, MachineError, Mode};
use p4_ir::Ir;
use program::{ActionId, ApplyError, Batch, CounterId, Digest, Entry, MeterId, Op, Program, RegisterId, TableId};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use target_api::{
    BURST, Capabilities, Count, Digests, Extra, Facets, HeldEntry, Lane, MeterState, Meters, Picked, Picker, RegisterError, Registers,
    SharedMeter, TableStats, Tables, Target, TargetError,
};

/// What the modelled chip has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Entries that each `@split` table holds; its declared size if that is less. Tofino runs of the UPF hold
    /// thousands (Singh et al. §5.4).
    pub session_entries: u64,
}

impl Default for Chip {
    fn default() -> Chip {
        Chip { session_entries: 8192 }
    }
}

/// The interpreter as a target. All lanes share one machine: the state of a chip is one.
pub struct Asic {
    name: &'static str,
    mode: Mode,
    program: Arc<Program>,
    machine: Arc<Shared>,
    /// Of bursts: the first and the last.
    seen_ns: Arc<Mutex<Option<(u64, u64)>>>,
    recirculation_gbps: u64,
    /// Meters, by number, whose cells the next target executes too.
    shared: Vec<Option<Arc<meters::Cells>>>,
}

impl Asic {
    /// The model of a chip. The error names the construct that the interpreter lacks.
    pub fn load(ir: Arc<Ir>, chip: Chip) -> Result<Asic, MachineError> {
        let program = Arc::new(ir.program.clone());
        let mut machine = Machine::new(ir)?;
        for (id, table) in &program.tables {
            if table.split {
                machine.set_capacity(id, table.size.min(chip.session_entries));
            }
        }
        Ok(Asic::of("asic", Mode::Subset, program, machine))
    }

    /// The model of a described chip: capacities from its own program's placement, and its limits to what a packet may ask for.
    /// Tables that hold sessions and that the chip's program does not have hold none.
    pub fn load_model(ir: Arc<Ir>, model: &Model) -> Result<Asic, MachineError> {
        let program = Arc::new(ir.program.clone());
        let mut machine = Machine::new(ir)?;
        for (id, table) in program.tables.iter().filter(|(_, t)| t.split) {
            machine.set_capacity(id, table.size.min(model.capacities.get(&table.name).copied().unwrap_or(0)));
        }
        machine.set_limits(model.limits);
        Ok(Asic { recirculation_gbps: model.recirculation_gbps, ..Asic::of(model.target, Mode::Subset, program, machine) })
    }

    /// The same with limits to what one packet may ask for.
    pub fn limited(self, limits: Limits) -> Asic {
        self.machine.change().set_limits(limits);
        self
    }

    /// The same on meters that the next target executes, too: a rate is one wherever packets run, and what waits there is not overtaken here.
    pub fn sharing(mut self, meters: Vec<Option<Arc<SharedMeter>>>) -> Asic {
        self.shared = meters.into_iter().map(|memory| memory.map(meters::Cells::new)).collect();
        for (id, cells) in self.program.meters.keys().zip(&self.shared) {
            if let Some(cells) = cells {
                self.machine.change().share_meter(id, Box::new(meters::Executed(cells.clone())));
            }
        }
        self
    }

    fn shared(&self, meter: MeterId) -> Option<&SharedMeter> {
        Some(&*self.shared.get(meter.index())?.as_ref()?.memory)
    }

    fn of(name: &'static str, mode: Mode, program: Arc<Program>, machine: Machine) -> Asic {
        let (machine, shared) = (Arc::new(Shared::new(machine)), Vec::new());
        Asic { name, mode, program, machine, seen_ns: Arc::default(), recirculation_gbps: 0, shared }
    }

    /// How often packets asked for more than the chip does, and went to the next target.
    pub fn beyond(&self) -> Beyond {
        self.machine.look().beyond()
    }

    /// Packets that were to be copied or sent round, and the share of the chip's bandwidth for such that they would have taken.
    pub fn recirculation(&self) -> Recirculation {
        let beyond = self.beyond();
        let (from, to) = (*self.seen_ns.lock().unwrap_or_else(|p| p.into_inner())).unwrap_or((0, 0));
        Recirculation::of(&beyond, to - from, self.recirculation_gbps)
    }

    /// The oracle: the interpreter alone, with the whole of every table. What split targets are compared with.
    pub fn oracle(ir: Arc<Ir>) -> Result<Asic, MachineError> {
        let program = Arc::new(ir.program.clone());
        Ok(Asic::of("oracle", Mode::Whole, program, Machine::new(ir)?))
    }
}

impl Target for Asic {
    fn name(&self) -> &str {
        self.name
    }

    fn capabilities(&self) -> Capabilities {
        let subset = self.mode == Mode::Subset;
        Capabilities { modelled: subset, subset, buffers: !subset, selective: subset && self.machine.look().is_limited() }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        Ok(self.machine.change().would_apply(batch)?)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.machine.change().apply(batch)?;
        // Of cells that the next target configures only whether entries may lead there.
        for op in &batch.ops {
            if let Op::Meter { meter, index, config } = op
                && let Some(cells) = self.shared(*meter)
            {
                cells.keep(*index, config.is_some());
            }
        }
        Ok(())
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply(batch)
    }

    fn lane(&self, _index: usize) -> Box<dyn Lane> {
        Box::new(AsicLane {
            machine: self.machine.clone(),
            mode: self.mode,
            deparsed: Vec::new(),
            extra: Vec::new(),
            seen_ns: self.seen_ns.clone(),
            shared: self.shared.clone(),
            shaped: None,
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        self.machine.count(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let stats = self.machine.look().table_stats(table);
        TableStats { entries: stats.entries, capacity: stats.capacity, hits: stats.hits, misses: stats.misses }
    }

    fn facets(&self) -> Facets<'_> {
        Facets { ahead: None, recovery: None, meters: Some(self), registers: Some(self), digests: Some(self), tables: Some(self) }
    }
}

impl Tables for Asic {
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        let Some(info) = self.program.tables.get(table) else { return Vec::new() };
        let machine = self.machine.look();
        let mut picker = Picker::new(after, most);
        for entry in machine.entries(table) {
            let priority = if info.has_priorities() { entry.priority } else { 0 };
            let Entry { ref keys, action, .. } = entry;
            picker.offer(keys, priority, || (action, entry.args.clone(), machine.entry_count(&entry)));
        }
        let held = |Picked { keys, priority, rest }| {
            let (action, args, count): (ActionId, Vec<u128>, Option<p4_interp::Count>) = rest;
            let count = count.map(|c| Count { packets: c.packets, bytes: c.bytes });
            HeldEntry { entry: Entry { table, keys, priority, action, args }, count }
        };
        picker.finish().into_iter().map(held).collect()
    }
}

impl Meters for Asic {
    fn shares_meters(&self) -> bool {
        !self.shared.is_empty()
    }

    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        self.program.meters.get(meter)?;
        if let Some(cells) = self.shared(meter) {
            return cells.state(index);
        }
        let (committed, peak, last_ns) = self.machine.look().meter(meter, index)?.buckets();
        // The batch's check saw to it that bursts fit.
        let narrow = |bucket: u128| u64::try_from(bucket).unwrap_or(u64::MAX);
        Some(MeterState { committed: narrow(committed), peak: narrow(peak), last_ns })
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, state: MeterState) -> Result<(), TargetError> {
        if self.shared(meter).is_some() {
            return Err(TargetError(format!("meter cell {index} is the next target's")));
        }
        let mut machine = self.machine.change();
        let known = self.program.meters.get(meter).and_then(|_| machine.meter_mut(meter, index));
        let cell = known.ok_or_else(|| TargetError(format!("meter cell {index} is not configured")))?;
        cell.set_buckets(state.committed.into(), state.peak.into(), state.last_ns);
        Ok(())
    }
}

impl Registers for Asic {
    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        target_api::check_registers(&self.program, register, &range)?;
        let machine = self.machine.look();
        into.extend(range.map(|index| machine.register(register, index).unwrap_or(0) as u64));
        Ok(())
    }

    fn set_register(&self, register: RegisterId, index: u64, value: u64) -> Result<(), RegisterError> {
        target_api::check_registers(&self.program, register, &(index..index.saturating_add(1)))?;
        self.machine.change().set_register(register, index, value.into());
        Ok(())
    }
}

impl Digests for Asic {
    fn take_digests(&self, into: &mut Vec<Digest>) {
        into.append(&mut self.machine.change().take_digests());
    }

    fn lost_digests(&self) -> u64 {
        self.machine.look().lost_digests()
    }
}

struct AsicLane {
    machine: Arc<Shared>,
    mode: Mode,
    deparsed: Vec<u8>,
    extra: Vec<Extra>,
    seen_ns: Arc<Mutex<Option<(u64, u64)>>>,
    shared: Vec<Option<Arc<meters::Cells>>>,
    /// The meter whose red packets wait at the next target.
    shaped: Option<MeterId>,
}

impl Lane for AsicLane {
    /// Its packets wait at the next target, if at all.
    fn shape(&mut self, meter: MeterId) -> bool {
        self.shaped = Some(meter);
        false
    }

    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        self.extra.clear();
        if let Ok(mut seen) = self.seen_ns.lock() {
            let (from, to) = seen.unwrap_or((now_ns, now_ns));
            *seen = Some((from, to.max(now_ns)));
        }
        let mut machine = self.machine.change();
        for (number, cells) in self.shared.iter().enumerate() {
            if let Some(cells) = cells {
                cells.begin_burst(self.shaped.is_some_and(|meter| meter.index() == number));
            }
        }
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            let output = machine.process(packet.data(), packet.port, now_ns, self.mode);
            *verdict = output.verdict;
            if matches!(verdict.kind, VerdictKind::Forward | VerdictKind::Buffer | VerdictKind::Shape | VerdictKind::Punt) {
                self.deparsed.clear();
                self.deparsed.extend_from_slice(output.bytes);
                packet.set(&self.deparsed);
            }
            let extra = machine.extra().iter().map(|x| Extra { packet: Packet::new(&x.bytes, packet.port), verdict: x.verdict });
            self.extra.extend(extra);
        }
    }

    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        into.append(&mut self.extra);
    }

    target_api::lane_without!(process_asking, ran_by, poll, next_poll_ns, count, with_rates);
}
