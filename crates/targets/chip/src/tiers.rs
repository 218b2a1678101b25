//! Placement of tables in a network processor's memory tiers, and what a packet costs there.
//!
//! Small tables come first and into the fastest tier that has room: a table of few entries is looked up by every packet as a large
//! one is, so the fast tiers save most with many small tables. What has no room in one goes to the next.
//!
//! A packet's cost is that of the longest way through parser and controls. Cores hide memory's latency by changing threads, so
//! throughput is the least of: cores busy with instructions; threads waiting for memory; the line. All of it is modelled, and the cycles of
//! instructions are assumed (`data/nfp4000.toml`): good for comparing programs, not for promising packets.
//! Not modelled: code store, memory bandwidth, ordering of packets, the difference between a hit and a miss of the cache.

use crate::describe::{Chip, Cores, Form};
use crate::lack::{Fault, Lack, Refusal};
use crate::parse::longest;
use crate::sites::{By, Cells, Site, Sites, Step, What, sites};
use crate::sizes::Sizes;
use p4_ir::{Ir, PipeId};
use program::{MatchKind, TableId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of a counter's, a meter's cell.
const COUNTER_BYTES: u64 = 16;
const METER_BYTES: u64 = 32;
/// Bits on the line of the shortest frame, with preamble and gap.
const FRAME_BITS: u64 = 672;
/// Memory accesses of a look-up: bucket and entry.
const EXACT_ACCESSES: u64 = 2;
/// Most parser states that a way is counted through.
const MOST_STATES: u64 = 1000;

/// A program on cores. Everything in it is modelled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tiers {
    /// The chip's name.
    pub chip: String,
    /// The program's name.
    pub program: String,
    /// From fast to slow.
    pub tiers: Vec<TierUse>,
    /// Tables and arrays of cells, in the order in which they were placed.
    pub arrays: Vec<ArrayUse>,
    /// Cycles of a core for the longest way of a packet.
    pub busy_cycles: u64,
    /// Cycles that it waits for memory.
    pub memory_cycles: u64,
    /// Packets a second, in thousands, for the longest way.
    pub kpps: u64,
    /// What bounds it: `instructions`, `memory` or `line`.
    pub bound: &'static str,
}

/// A tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierUse {
    /// Name.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// Taken before any table.
    pub base_bytes: u64,
    /// Taken by tables and cells.
    pub table_bytes: u64,
}

impl TierUse {
    /// The part that is used, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * (self.base_bytes + self.table_bytes) as f64 / self.bytes.max(1) as f64
    }
}

/// A table or an array of cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayUse {
    /// Name.
    pub name: String,
    /// `table`, `counter`, `meter` or `register`.
    pub what: &'static str,
    /// Whether it holds sessions.
    pub session: bool,
    /// Entries or cells.
    pub entries: u64,
    /// Bytes of each.
    pub entry_bytes: u64,
    /// The tier.
    pub tier: String,
    /// Memory accesses of a packet that comes to it.
    pub accesses: u64,
}

struct Array {
    what: &'static str,
    name: String,
    session: bool,
    entries: u64,
    entry_bytes: u64,
    accesses: u64,
    key: Key,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Table(TableId),
    Cells(Cells),
}

/// Places a program in a network processor's memory.
pub fn place_in_tiers(ir: &Ir, chip: &Chip, sizes: &Sizes) -> Result<Tiers, Refusal> {
    let Form::Cores(cores) = &chip.form else { return Err(Refusal::of(vec![Lack::of("", Fault::Kind)])) };
    let mut lacks = sizes.unknown(ir);
    let mut all = arrays(ir, sizes, cores);
    let tables = all.iter().filter(|a| a.what == "table").count() as u64;
    if tables > cores.tables {
        lacks.push(Lack::of("", Fault::Tables { needed: tables, of: cores.tables }));
    }
    for a in all.iter().filter(|a| a.what == "table" && a.entries > cores.table_entries) {
        lacks.push(Lack::of(&a.name, Fault::Entries { needed: a.entries, of: cores.table_entries }));
    }
    all.sort_by_key(|a| (a.entries.saturating_mul(a.entry_bytes), a.key));
    let mut tiers: Vec<TierUse> = cores
        .tier
        .iter()
        .map(|t| TierUse { name: t.name.clone(), bytes: t.bytes, base_bytes: (t.bytes as f64 * t.used) as u64, table_bytes: 0 })
        .collect();
    let mut arrays = Vec::new();
    let mut latency: BTreeMap<Key, u64> = BTreeMap::new();
    for a in all {
        let bytes = a.entries.saturating_mul(a.entry_bytes);
        let left = |t: &TierUse| t.bytes - t.base_bytes.min(t.bytes) - t.table_bytes;
        let Some(at) = (0..tiers.len()).find(|i| cores.tier[*i].tables && left(&tiers[*i]) >= bytes) else {
            let most = (0..tiers.len()).filter(|i| cores.tier[*i].tables).map(|i| left(&tiers[i])).max().unwrap_or(0);
            lacks.push(Lack::of(&a.name, Fault::Memory { needed: bytes, left: most }));
            continue;
        };
        tiers[at].table_bytes += bytes;
        latency.insert(a.key, a.accesses * cores.tier[at].latency_cycles);
        arrays.push(ArrayUse {
            name: a.name,
            what: a.what,
            session: a.session,
            entries: a.entries,
            entry_bytes: a.entry_bytes,
            tier: tiers[at].name.clone(),
            accesses: a.accesses,
        });
    }
    if !lacks.is_empty() {
        return Err(Refusal::of(lacks));
    }
    let (busy_cycles, memory_cycles) = cost(ir, cores, &latency);
    let khz = cores.clock_mhz * 1000 * cores.count;
    let by_instructions = khz / busy_cycles.max(1);
    let by_memory = khz * cores.threads / (busy_cycles + memory_cycles).max(1);
    let by_line = cores.line_gbps * 1_000_000 / FRAME_BITS;
    let kpps = by_instructions.min(by_memory).min(by_line);
    let bound = match kpps {
        k if k == by_line => "line",
        k if k == by_instructions => "instructions",
        _ => "memory",
    };
    Ok(Tiers { chip: chip.name.clone(), program: ir.program.name.clone(), tiers, arrays, busy_cycles, memory_cycles, kpps, bound })
}

fn arrays(ir: &Ir, sizes: &Sizes, cores: &Cores) -> Vec<Array> {
    let mut all = Vec::new();
    let p = &ir.program;
    for (id, t) in p.tables.iter().filter(|(_, t)| !t.keys.is_empty()) {
        let key: u64 = t.keys.iter().map(|k| u64::from(k.width).div_ceil(8)).sum();
        let data = |a: program::ActionId| p.actions[a].params.iter().map(|x| u64::from(x.width).div_ceil(8)).sum::<u64>();
        let data = t.actions.iter().map(|u| data(u.action)).max().unwrap_or(0);
        let direct = u64::from(t.direct_counter.is_some()) * COUNTER_BYTES + u64::from(t.direct_meter.is_some()) * METER_BYTES;
        let bytes = (key + data + direct + cores.entry_overhead_bytes).next_multiple_of(cores.entry_bytes);
        let entries = if t.const_entries { t.entries.len() as u64 } else { sizes.entries(ir, id) }.max(1);
        let exact = t.keys.iter().all(|k| k.kind == MatchKind::Exact);
        // Without a TCAM others are searched for: by halves, if all goes well.
        let accesses = if exact { EXACT_ACCESSES } else { u64::from(64 - entries.leading_zeros()).max(EXACT_ACCESSES) };
        let (name, session) = (t.name.clone(), t.split);
        all.push(Array { what: "table", name, session, entries, entry_bytes: bytes, accesses, key: Key::Table(id) });
    }
    let mut cells = |what, name: &str, entries: u64, entry_bytes, key| {
        let name = name.to_owned();
        all.push(Array { what, name, session: false, entries, entry_bytes, accesses: 1, key: Key::Cells(key) });
    };
    for (id, c) in p.counters.iter().filter(|(_, c)| c.table.is_none()) {
        cells("counter", &c.name, sizes.counter(ir, id), COUNTER_BYTES, Cells::Counter(id));
    }
    for (id, m) in p.meters.iter().filter(|(_, m)| m.table.is_none()) {
        cells("meter", &m.name, sizes.meter(ir, id), METER_BYTES, Cells::Meter(id));
    }
    for (id, r) in &p.registers {
        cells("register", &r.name, sizes.register(ir, id), u64::from(r.width).div_ceil(8).next_power_of_two(), Cells::Register(id));
    }
    all
}

/// Cycles of instructions and of memory for the longest way: through the pipes of the dearest pipeline.
fn cost(ir: &Ir, cores: &Cores, latency: &BTreeMap<Key, u64>) -> (u64, u64) {
    let of = |pipes: Vec<PipeId>| {
        let all = pipes.into_iter().map(|pipe| pipe_cost(ir, pipe, cores, latency));
        all.fold((cores.packet_cycles, 0), |(busy, memory), (b, m)| (busy + b, memory + m))
    };
    ir.pipelines().into_iter().map(of).max_by_key(|(busy, memory)| busy + memory).unwrap_or_default()
}

fn pipe_cost(ir: &Ir, pipe: PipeId, cores: &Cores, latency: &BTreeMap<Key, u64>) -> (u64, u64) {
    let start = ir.pipes[pipe].parser.start;
    let ones = ir.states_from(start).into_iter().map(|s| (s, 1)).collect();
    let parsing = longest(ir, &ir.pipes[pipe], &ones, MOST_STATES) * cores.state_cycles;
    let weigh = |s: &Site| {
        let mut here = (s.writes.len() as u64 * cores.operation_cycles, 0);
        match s.what {
            What::Gateway { rows, .. } => here.0 += rows.max(1) * cores.operation_cycles,
            What::Table(t) => {
                here.0 += cores.lookup_cycles;
                here.1 += latency.get(&Key::Table(t)).copied().unwrap_or(0);
            }
            What::Level | What::Cells(_) | What::Checksum => {}
        }
        for (c, _) in &s.cells {
            here.0 += cores.operation_cycles;
            here.1 += latency.get(&Key::Cells(*c)).copied().unwrap_or(0);
        }
        here
    };
    let (busy, memory) = longest_way(&sites(ir, pipe), &weigh);
    (busy + parsing, memory)
}

/// The dearest way through the controls: of what a decider chooses between, the dearest branch counts.
fn longest_way(sites: &Sites, weigh: &dyn Fn(&Site) -> (u64, u64)) -> (u64, u64) {
    let mut at: BTreeMap<Vec<Step>, (u64, u64)> = BTreeMap::new();
    for s in &sites.all {
        for n in 0..=s.path.len() {
            at.entry(s.path[..n].to_vec()).or_insert((0, 0));
        }
        let here = weigh(s);
        let sum = at.entry(s.path.clone()).or_insert((0, 0));
        *sum = (sum.0 + here.0, sum.1 + here.1);
    }
    let deepest = at.keys().map(Vec::len).max().unwrap_or(0);
    for depth in (1..=deepest).rev() {
        let mut choices: BTreeMap<(Vec<Step>, usize, By), (u64, u64)> = BTreeMap::new();
        for (path, sum) in at.iter().filter(|(p, _)| p.len() == depth) {
            if let Some((last, before)) = path.split_last() {
                let most = choices.entry((before.to_vec(), last.site, last.by)).or_insert((0, 0));
                if sum.0 + sum.1 > most.0 + most.1 {
                    *most = *sum;
                }
            }
        }
        for ((before, ..), most) in choices {
            let sum = at.entry(before).or_insert((0, 0));
            *sum = (sum.0 + most.0, sum.1 + most.1);
        }
    }
    at.get(&Vec::new()).copied().unwrap_or((0, 0))
}

impl Tiers {
    /// Entries that a table holds.
    pub fn capacity(&self, table: &str) -> Option<u64> {
        self.arrays.iter().find(|a| a.what == "table" && a.name == table).map(|a| a.entries)
    }
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} on {} (modelled): fits", self.program, self.chip)?;
        writeln!(
            f,
            "  longest way of a packet: {} cycles of a core, {} cycles of memory; {}.{:03} Mpps, bound by {} (modelled)",
            self.busy_cycles,
            self.memory_cycles,
            self.kpps / 1000,
            self.kpps % 1000,
            self.bound
        )?;
        writeln!(f)?;
        writeln!(f, "{:<16} {:>12} {:>12} {:>12} {:>7}", "tier (modelled)", "bytes", "base", "tables", "% used")?;
        for t in &self.tiers {
            writeln!(f, "{:<16} {:>12} {:>12} {:>12} {:>7.2}", t.name, t.bytes, t.base_bytes, t.table_bytes, t.percent())?;
        }
        writeln!(f)?;
        let wide = self.arrays.iter().map(|a| a.name.len()).max().unwrap_or(0).max(16);
        writeln!(
            f,
            "{:<wide$} {:<8} {:>9} {:>6}  {:<10} {:>8}  size by",
            "memory (modelled)", "is a", "entries", "bytes", "tier", "accesses"
        )?;
        for a in &self.arrays {
            let by = if a.session { "sessions" } else { "program" };
            writeln!(f, "{:<wide$} {:<8} {:>9} {:>6}  {:<10} {:>8}  {by}", a.name, a.what, a.entries, a.entry_bytes, a.tier, a.accesses)?;
        }
        Ok(())
    }
}
