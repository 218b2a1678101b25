//! Placement of tables into stages by list scheduling: stage by stage, what is ready, longest dependency chain first, as much of
//! each table as the stage still holds. The same program and chip give the same placement.

use crate::copies::coalesced;
use crate::describe::{Chip, Form, Switch};
use crate::graph::{Graph, Kind, Node, cells_name, fill, graph};
use crate::lack::{Fault, Lack, Refusal};
use crate::memory::Packing;
use crate::parse::{ParserUse, parser_use};
use crate::phv::{PhvUse, Wants, phv_use, wants};
use crate::resource::{Amounts, Resource};
use crate::sites::{Loc, Sites, sites};
use crate::sizes::Sizes;
use p4_ir::{Ir, PipeId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Stages after which it is not asked any more how many it would take.
const MOST_STAGES: usize = 1024;
/// Most sites of a program: dependencies are found pair by pair.
const MOST_SITES: usize = 4000;
/// What is tried until it fits: how tables are packed, and how many steps egress is taken to be longer than it is. List scheduling alone is not
/// monotone: a little more can fit where less does not, so a little more is tried too; and what comes late in one order comes early in another.
const TRIES: [(Packing, usize); 10] = [
    (Packing { few_slots: false, slack: 0 }, 0),
    (Packing { few_slots: true, slack: 0 }, 0),
    (Packing { few_slots: false, slack: 0 }, 2),
    (Packing { few_slots: false, slack: 1 }, 0),
    (Packing { few_slots: false, slack: 2 }, 0),
    (Packing { few_slots: false, slack: 3 }, 0),
    (Packing { few_slots: true, slack: 1 }, 0),
    (Packing { few_slots: true, slack: 2 }, 0),
    (Packing { few_slots: true, slack: 3 }, 0),
    (Packing { few_slots: true, slack: 0 }, 2),
];
/// Names of a chain that are shown.
const CHAIN: usize = 12;

/// A program on a chip. Everything in it is modelled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// The chip's name.
    pub chip: String,
    /// The program's name.
    pub program: String,
    /// What a stage has.
    pub stage_has: Amounts,
    /// Every stage of the chip, used or not.
    pub stages: Vec<Stage>,
    /// Tables, with what they hold.
    pub tables: Vec<TableUse>,
    /// Of each pipe: ingress and, where it has one of its own, egress.
    pub parsers: Vec<ParserUse>,
    /// Containers of all pipes.
    pub phv: PhvUse,
    /// From the first stage to the end of the last, for each pipe; parser, deparser and queues are not in it.
    pub latency_clocks: Vec<u64>,
    /// The chip's clock.
    pub clock_mhz: u64,
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stage {
    /// What is used of it.
    pub used: Amounts,
    /// By what.
    pub parts: Vec<Part>,
    /// Words of several rows: how many of them, by their rows.
    #[serde(skip)]
    pub(crate) wide: Vec<(u64, u64)>,
    /// Bytes on the ternary crossbar.
    #[serde(skip)]
    pub(crate) sources: BTreeSet<(Loc, u32)>,
    /// Conditions that a table has taken into its logical table.
    #[serde(skip)]
    pub(crate) taken: Vec<usize>,
}

/// What lies in a stage: a table or a part of it, a condition, instructions, cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The pipe of the pipeline. 0: ingress (of v1model: both), 1: egress.
    pub gress: usize,
    /// Entries that it holds, if it is a table with a key.
    pub entries: Option<u64>,
    /// What it takes.
    pub used: Amounts,
    /// Its node, which parts of one table share.
    #[serde(skip)]
    pub(crate) node: usize,
}

/// A table as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableUse {
    /// Name.
    pub name: String,
    /// How it is found.
    pub kind: Kind,
    /// 0: ingress, 1: egress.
    pub gress: usize,
    /// Whether it holds sessions, so that their number is its size.
    pub session: bool,
    /// Entries that it was asked to hold.
    pub entries: u64,
    /// Entries that it can hold.
    pub slots: u64,
    /// Stages in which it lies.
    pub stages: usize,
    /// SRAM blocks with all that hangs on entries.
    pub sram_blocks: u64,
    /// TCAM blocks.
    pub tcam_blocks: u64,
    /// Bits of an entry in match memory.
    pub entry_bits: u64,
    /// Entries packed in so many rows.
    pub pack: (u64, u64),
}

/// Places a program of one pipeline on a switch chip. One of several is refused: [`place_each`] takes them.
pub fn place(ir: &Ir, chip: &Chip, sizes: &Sizes) -> Result<Placement, Refusal> {
    let ir = coalesced(ir);
    match ir.pipelines().as_slice() {
        [pipes] => Plan::of(&ir, pipes, None, chip)?.place(sizes),
        several => Err(Refusal::of(vec![Lack::of("", Fault::Pipelines(several.len()))])),
    }
}

/// Places each pipeline of a program: each runs in a pipe of the chip with stages of its own.
pub fn place_each(ir: &Ir, chip: &Chip, sizes: &Sizes) -> Result<Vec<Placement>, Refusal> {
    plans(&coalesced(ir), chip)?.iter().map(|plan| plan.place(sizes)).collect()
}

fn plans<'a>(ir: &'a Ir, chip: &'a Chip) -> Result<Vec<Plan<'a>>, Refusal> {
    let pipelines = ir.pipelines();
    let number = |n: usize| (pipelines.len() > 1).then_some(n);
    pipelines.iter().enumerate().map(|(n, pipes)| Plan::of(ir, pipes, number(n), chip)).collect()
}

/// The largest number of sessions for which the program fits, by bisection; `None` if it does not fit with one, or has no table
/// marked `@split`. What `sizes` says of other tables holds.
pub fn max_sessions(ir: &Ir, chip: &Chip, sizes: &Sizes) -> Option<u64> {
    if !Sizes::any_session_table(ir) {
        return None;
    }
    let ir = coalesced(ir);
    let plans = plans(&ir, chip).ok()?;
    let fits = |n: u64| {
        let sizes = Sizes { sessions: Some(n), ..sizes.clone() };
        plans.iter().all(|plan| plan.place(&sizes).is_ok())
    };
    if !fits(1) {
        return None;
    }
    let (mut low, mut high) = (1, 2);
    while high < 1 << 30 && fits(high) {
        (low, high) = (high, high * 2);
    }
    // A part of a thousandth is below what the model tells apart; whole rows of blocks are 1024 entries and more.
    while high - low > (low / 2048).max(1) {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// All of a pipeline that does not depend on sizes.
struct Plan<'a> {
    ir: &'a Ir,
    /// Its number, where there are several.
    pipeline: Option<usize>,
    chip: &'a Chip,
    switch: &'a Switch,
    lacks: Vec<Lack>,
    parsers: Vec<ParserUse>,
    wants: Vec<Wants>,
    graph: Graph,
}

impl<'a> Plan<'a> {
    fn of(ir: &'a Ir, pipes: &[PipeId], pipeline: Option<usize>, chip: &'a Chip) -> Result<Plan<'a>, Refusal> {
        let Form::Switch(switch) = &chip.form else { return Err(Refusal::of(vec![Lack::of("", Fault::Kind)])) };
        let mut lacks = Vec::new();
        let found: Vec<(PipeId, Sites)> = pipes.iter().map(|pipe| (*pipe, sites(ir, *pipe))).collect();
        for l in found.iter().flat_map(|(_, s)| &s.lacks) {
            if !lacks.contains(l) {
                lacks.push(l.clone());
            }
        }
        if found.iter().map(|(_, s)| s.all.len()).sum::<usize>() > MOST_SITES {
            lacks.push(Lack::of("", Fault::TooLarge));
            return Err(Refusal::of(lacks));
        }
        let reach = |gress: usize| if gress == 0 { switch.parser.depth_bytes } else { switch.parser.egress_depth_bytes };
        let parser =
            |(gress, pipe): (usize, &PipeId)| parser_use(ir, &ir.pipes[*pipe], &switch.parser, reach(gress), &switch.deparser, &mut lacks);
        let parsers = pipes.iter().enumerate().map(parser).collect();
        let graph = graph(ir, &found, switch, &mut lacks);
        let wants = found.iter().zip(&graph.node_of).map(|((pipe, sites), nodes)| wants(ir, &ir.pipes[*pipe], sites, nodes)).collect();
        Ok(Plan { ir, pipeline, chip, switch, lacks, parsers, wants, graph })
    }

    fn place(&self, sizes: &Sizes) -> Result<Placement, Refusal> {
        let mut lacks = sizes.unknown(self.ir);
        lacks.extend(self.lacks.iter().cloned());
        let mut best: Option<(Graph, Run)> = None;
        for (packing, lead) in TRIES {
            let mut graph = self.graph.clone();
            let mut own = Vec::new();
            fill(&mut graph, self.ir, sizes, self.switch, packing, &mut own);
            // What fits no stage at all would keep the rest waiting for ever.
            let hopeless = |l: &Lack| matches!(l.fault, Fault::AnyStage { .. } | Fault::Cycle | Fault::Twice);
            if own.iter().chain(&self.lacks).any(hopeless) {
                lacks.extend(own);
                return Err(Refusal::of(lacks));
            }
            let run = schedule(&graph, self.ir, self.switch, lead);
            let stages = |r: &Run| (!r.lacks.is_empty(), r.needed.unwrap_or(usize::MAX));
            let fits = run.lacks.is_empty();
            if best.as_ref().is_none_or(|(_, b)| stages(&run) < stages(b)) {
                best = Some((graph, run));
            }
            if fits {
                break;
            }
        }
        let Some((graph, run)) = best else { return Err(Refusal::of(lacks)) };
        let mut spans: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (at, part) in run.stages.iter().enumerate().flat_map(|(at, s)| s.parts.iter().map(move |p| (at, p))) {
            spans.entry(part.node).or_insert((at, at)).1 = at;
        }
        let phv = phv_use(&self.wants, &|node| spans.get(&node).copied(), &self.switch.phv, &mut lacks);
        lacks.extend(run.lacks);
        if !lacks.is_empty() {
            return Err(Refusal { lacks, stages_needed: run.needed.filter(|n| *n > self.switch.stages) });
        }
        let latency_clocks = (0..self.parsers.len()).map(|gress| latency(&graph, &run.stages, gress, self.switch)).collect();
        Ok(Placement {
            chip: self.chip.name.clone(),
            program: match self.pipeline {
                Some(n) => format!("{}, pipeline {n}", self.ir.program.name),
                None => self.ir.program.name.clone(),
            },
            stage_has: Amounts::of_stage(&self.switch.stage),
            tables: tables(&graph, &run.stages),
            stages: run.stages,
            parsers: self.parsers.clone(),
            phv,
            latency_clocks,
            clock_mhz: self.switch.clock_mhz,
        })
    }
}

struct Run {
    stages: Vec<Stage>,
    lacks: Vec<Lack>,
    needed: Option<usize>,
}

/// What is known of a node on the way.
#[derive(Clone)]
struct State {
    waits: usize,
    earliest: usize,
    /// The node that made it wait.
    via: Option<usize>,
    units: u64,
    done: bool,
    /// The stage in which it was last tried, and what lacked.
    blocked: Option<(usize, Fault)>,
    began: bool,
    /// Of those that it waits for, how many are no conditions.
    others: usize,
}

/// Stage by stage. `lead`: steps that egress is taken to be longer.
fn schedule(graph: &Graph, ir: &Ir, chip: &Switch, lead: usize) -> Run {
    let limit = Amounts::of_stage(&chip.stage);
    let mut states: Vec<State> = graph
        .nodes
        .iter()
        .map(|n| State {
            waits: n.waits,
            earliest: n.ahead(),
            via: None,
            units: n.table.as_ref().map_or(0, |t| t.units),
            done: false,
            blocked: None,
            began: false,
            others: 0,
        })
        .collect();
    for n in graph.nodes.iter().filter(|n| n.kind != Kind::Gateway) {
        n.later.keys().for_each(|to| states[*to].others += 1);
    }
    let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
    let first = |n: &Node| (std::cmp::Reverse(n.height + lead * n.gress), usize::from(lead > 0 && n.table_id.is_none()));
    order.sort_by_key(|i| (first(&graph.nodes[*i]), *i));
    let mut homes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut stages: Vec<Stage> = Vec::new();
    let mut lacks = Vec::new();
    let mut hopeless = false;
    while states.iter().any(|s| !s.done) && stages.len() < MOST_STAGES && !hopeless {
        let at = stages.len();
        let mut stage = Stage::default();
        let mut moved = true;
        while moved {
            moved = false;
            for &i in &order {
                let s = &states[i];
                if s.done || s.waits > 0 || s.earliest > at || s.blocked.as_ref().is_some_and(|(b, _)| *b == at) {
                    continue;
                }
                if graph.nodes[i].kind == Kind::Gateway && !wanted(graph, &states, i, at) {
                    continue;
                }
                match try_place(graph, ir, i, &states[i], &stage, &homes, at, &limit, chip) {
                    Ok((part, units)) => {
                        for (cell, ..) in &graph.nodes[i].cells {
                            homes.entry(*cell).or_insert(at);
                        }
                        stage.used = stage.used.plus(&part.used);
                        stage.taken.extend(joined(&graph.nodes[i], &stage));
                        if graph.nodes[i].kind == Kind::Ternary {
                            stage.sources.extend(graph.nodes[i].sources.iter().copied());
                        }
                        stage.parts.push(part);
                        stage.wide.extend(graph.nodes[i].table.as_ref().and_then(|t| t.wide_words(units)));
                        let s = &mut states[i];
                        s.began = true;
                        s.units -= units;
                        s.done = s.units == 0;
                        if !s.done {
                            s.blocked = Some((at, Fault::Resource { resource: Resource::Sram, needed: 1, left: 0 }));
                            let more = graph.nodes[i].table.as_ref().map(|t| t.part(t.least.min(states[i].units), &chip.memory));
                            if let Some((r, needed, left)) = more.and_then(|m| lacking(&m, &stage.used, &limit)) {
                                states[i].blocked = Some((at, Fault::Resource { resource: r, needed, left }));
                            }
                            continue;
                        }
                        // What now may go here goes before what can wait, such as another part of a large table.
                        moved = true;
                        for (&to, &strict) in &graph.nodes[i].later {
                            let t = &mut states[to];
                            t.waits -= 1;
                            t.others -= usize::from(graph.nodes[i].kind != Kind::Gateway);
                            let from = at + usize::from(strict) + graph.nodes[to].ahead_of(i);
                            if from > t.earliest || (from == t.earliest && strict && t.via.is_none()) {
                                t.earliest = from;
                                t.via = Some(i);
                            }
                        }
                        break;
                    }
                    Err(fault) => {
                        hopeless |= matches!(fault, Fault::Apart { .. } | Fault::Spans { .. });
                        states[i].blocked = Some((at, fault));
                    }
                }
            }
        }
        stages.push(stage);
        if stages.len() == chip.stages || (hopeless && stages.len() < chip.stages) {
            lacks = unplaced(graph, &states, chip.stages, hopeless);
        }
    }
    let needed = states.iter().all(|s| s.done).then_some(stages.len());
    stages.resize(chip.stages.max(stages.len()), Stage::default());
    if needed.is_some_and(|n| n <= chip.stages) {
        lacks.clear();
        stages.truncate(chip.stages);
    } else if lacks.is_empty() {
        lacks = unplaced(graph, &states, chip.stages, true);
    }
    Run { stages, lacks, needed }
}

/// Whether something behind a condition could be placed in this stage with it: it is a logical table together with what is behind it, and would
/// be one of its own in a stage before.
fn wanted(graph: &Graph, states: &[State], gate: usize, at: usize) -> bool {
    let (mut todo, mut seen) = (vec![gate], BTreeSet::new());
    while let Some(i) = todo.pop() {
        if !seen.insert(i) {
            continue;
        }
        let later = &graph.nodes[i].later;
        if later.is_empty() {
            return true;
        }
        for (&to, &strict) in later {
            if strict || states[to].others > 0 || states[to].earliest > at {
                continue;
            }
            match graph.nodes[to].kind {
                Kind::Gateway => todo.push(to),
                _ => return true,
            }
        }
    }
    false
}

/// The node, or as much of it as the stage holds.
#[allow(clippy::too_many_arguments)]
fn try_place(
    graph: &Graph,
    ir: &Ir,
    i: usize,
    state: &State,
    stage: &Stage,
    homes: &BTreeMap<usize, usize>,
    at: usize,
    limit: &Amounts,
    chip: &Switch,
) -> Result<(Part, u64), Fault> {
    let node = &graph.nodes[i];
    if stage.parts.iter().any(|p| node.apart.contains(&p.node)) {
        return Err(Fault::Resource { resource: Resource::Instructions, needed: 1, left: 0 });
    }
    let mut fixed = node.fixed;
    let name = |cells| cells_name(ir, cells);
    share(graph, node, stage, &mut fixed);
    // The logical table that it shares with a condition; a table has its own in its parts.
    let saved = u64::from(joined(node, stage).is_some());
    if node.table.is_none() {
        fixed[Resource::LogicalTables] -= saved.min(fixed[Resource::LogicalTables]);
    }
    for (cell, cells, amounts) in &node.cells {
        match homes.get(cell) {
            None => fixed = fixed.plus(amounts),
            Some(home) if *home == at => {}
            Some(_) => return Err(Fault::Apart { cells: name(*cells) }),
        }
    }
    let part =
        |used: Amounts, entries: Option<u64>| Part { name: node.name.clone(), kind: node.kind, gress: node.gress, entries, used, node: i };
    let refuse = |wanted: &Amounts| match lacking(wanted, &stage.used, limit) {
        Some((resource, needed, left)) => Err(Fault::Resource { resource, needed, left }),
        None => Ok(()),
    };
    let Some(table) = &node.table else {
        refuse(&fixed)?;
        return Ok((part(fixed, None), 0));
    };
    let with = |units: u64| {
        let mut all = fixed.plus(&table.part(units, &chip.memory));
        all[Resource::LogicalTables] -= saved.min(all[Resource::LogicalTables]);
        if node.kind == Kind::Ternary {
            let shared = node.sources.intersection(&stage.sources).count() as u64;
            all[Resource::TernaryCrossbar] -= shared.min(all[Resource::TernaryCrossbar]);
        }
        all
    };
    let fits = |units: u64| with(units).plus(&stage.used).exceeds(limit).is_none() && in_columns(table.wide_words(units), stage, chip);
    let keyed = |units: u64| (table.way != crate::memory::Way::Keyless).then(|| table.holds(units).min(table.entries));
    if fits(state.units) {
        return Ok((part(with(state.units), keyed(state.units)), state.units));
    }
    let least = table.least.min(state.units);
    if let Some((_, cells, _)) = node.cells.first() {
        // With cells it must lie in one stage; if an empty one is too small, none will do.
        let whole = with(state.units);
        return Err(match whole.exceeds(limit) {
            Some(_) => Fault::Spans { cells: name(*cells) },
            None => refuse(&whole).err().unwrap_or(Fault::Spans { cells: name(*cells) }),
        });
    }
    refuse(&with(least))?;
    if !in_columns(table.wide_words(least), stage, chip) {
        return Err(Fault::Resource { resource: Resource::Sram, needed: with(least)[Resource::Sram], left: 0 });
    }
    let (mut low, mut high) = (least, state.units);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    // What is left for other stages has as many ways there.
    low = low.min((state.units - least).max(least));
    Ok((part(with(low), keyed(low)), low))
}

/// The condition right before a node, if it lies in this stage and no other has taken it: the two are one logical table.
fn joined(node: &Node, stage: &Stage) -> Option<usize> {
    let alone = |gate: &usize| !stage.taken.contains(gate) && stage.parts.iter().any(|p| p.node == *gate);
    node.behind.filter(|_| node.kind != Kind::Gateway).filter(alone)
}

/// Instructions that are reached together in one stage are one: the second of them takes no table and no row of its own.
fn share(graph: &Graph, node: &Node, stage: &Stage, fixed: &mut Amounts) {
    let alike = |p: &Part| graph.nodes[p.node].kind == Kind::Action && p.gress == node.gress && graph.nodes[p.node].path == node.path;
    if node.kind == Kind::Action && node.path.is_some() && stage.parts.iter().any(alike) {
        for r in [Resource::LogicalTables, Resource::Instructions] {
            fixed[r] = 0;
        }
    }
}

/// Whether the stage has columns for these words beside those that it holds: of words of `rows` rows one stands above the other as often as the
/// stage's rows allow, in each of its columns.
fn in_columns(words: Option<(u64, u64)>, stage: &Stage, chip: &Switch) -> bool {
    let all = || stage.wide.iter().copied().chain(words);
    let columns = chip.stage.sram_blocks / chip.memory.pack_rows.max(1);
    words.is_none()
        || (2..=chip.memory.pack_rows).all(|rows| {
            let wanted: u64 = all().filter(|(r, _)| *r >= rows).map(|(_, words)| words).sum();
            wanted <= columns * (chip.memory.pack_rows / rows)
        })
}

/// The first resource of which too little is left.
fn lacking(wanted: &Amounts, used: &Amounts, limit: &Amounts) -> Option<(Resource, u64, u64)> {
    let r = wanted.plus(used).exceeds(limit)?;
    Some((r, wanted[r], limit[r].saturating_sub(used[r])))
}

/// Why those that are ready have no place in the chip's stages.
fn unplaced(graph: &Graph, states: &[State], stages: usize, hopeless: bool) -> Vec<Lack> {
    let mut lacks = Vec::new();
    let mut ready: Vec<usize> = (0..states.len()).filter(|i| !states[*i].done && states[*i].waits == 0).collect();
    ready.sort_by_key(|i| (std::cmp::Reverse(graph.nodes[*i].height), *i));
    for i in ready {
        let (node, s) = (&graph.nodes[i], &states[i]);
        match &s.blocked {
            Some((_, fault @ (Fault::Apart { .. } | Fault::Spans { .. }))) => lacks.push(Lack::of(&node.name, fault.clone())),
            _ if hopeless => {}
            Some((at, fault)) if s.earliest < stages => {
                lacks.push(Lack { at: node.name.clone(), stage: Some(*at), fault: fault.clone() });
            }
            _ => {
                let mut chain = Vec::new();
                let mut via = s.via;
                while let (Some(v), true) = (via, chain.len() < CHAIN) {
                    chain.push(graph.nodes[v].name.clone());
                    via = states[v].via;
                }
                chain.reverse();
                lacks.push(Lack { at: node.name.clone(), stage: None, fault: Fault::Stages { chain } });
            }
        }
    }
    if lacks.is_empty() {
        lacks.push(Lack::of("", Fault::Stages { chain: Vec::new() }));
    }
    lacks
}

/// Clocks from the start of the first stage to the end of the last.
fn latency(graph: &Graph, stages: &[Stage], gress: usize, chip: &Switch) -> u64 {
    let l = &chip.latency;
    let mine = |s: &Stage| s.parts.iter().filter(|p| p.gress == gress).map(|p| p.node).collect::<Vec<_>>();
    let whole = |s: &Stage| {
        let parts = || s.parts.iter().filter(|p| p.gress == gress);
        let tcam = parts().any(|p| p.used[Resource::Tcam] > 0);
        let meter = parts().any(|p| graph.nodes[p.node].metered);
        l.base + if tcam { l.tcam } else { 0 } + if meter { l.meter } else { 0 }
    };
    let mut clocks = 0;
    for pair in stages.windows(2) {
        let (before, here) = (mine(&pair[0]), mine(&pair[1]));
        let by_match = here.iter().any(|n| before.iter().any(|b| graph.nodes[*n].by_match.contains(b)));
        let by_action = here.iter().any(|n| before.iter().any(|b| graph.nodes[*b].later.get(n) == Some(&true)));
        clocks += match () {
            () if by_match => whole(&pair[0]),
            () if by_action || !l.concurrent_stages => l.action,
            () => l.concurrent,
        };
    }
    clocks += stages.last().map_or(0, whole);
    if gress > 0 { clocks.max(l.egress_minimum) } else { clocks }
}

fn tables(graph: &Graph, stages: &[Stage]) -> Vec<TableUse> {
    let mut out = Vec::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        let (Some(table), Some(name)) = (&node.table, &node.table_name) else { continue };
        let parts: Vec<&Part> = stages.iter().flat_map(|s| &s.parts).filter(|p| p.node == i).collect();
        let keyless = table.way == crate::memory::Way::Keyless;
        out.push(TableUse {
            name: name.clone(),
            kind: node.kind,
            gress: node.gress,
            session: node.session,
            entries: if keyless { 0 } else { table.entries },
            slots: if keyless { 0 } else { table.holds(table.units) },
            stages: parts.len(),
            sram_blocks: parts.iter().map(|p| p.used[Resource::Sram]).sum(),
            tcam_blocks: parts.iter().map(|p| p.used[Resource::Tcam]).sum(),
            entry_bits: table.entry_bits,
            pack: table.pack,
        });
    }
    out
}

/// Of one resource: used, there, and the part in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Total {
    /// Which.
    pub resource: Resource,
    /// Used in all stages together.
    pub used: u64,
    /// There in all stages together.
    pub of: u64,
    /// The part.
    pub percent: f64,
}

impl Placement {
    /// Every resource over all stages.
    pub fn totals(&self) -> Vec<Total> {
        let total = |resource: Resource| {
            let used = self.stages.iter().map(|s| s.used[resource]).sum();
            let of = self.stage_has[resource] * self.stages.len() as u64;
            Total { resource, used, of, percent: if of == 0 { 0.0 } else { 100.0 * used as f64 / of as f64 } }
        };
        Resource::ALL.into_iter().map(total).collect()
    }

    /// The percentage of one resource over all stages.
    pub fn percent(&self, resource: Resource) -> f64 {
        self.totals()[resource as usize].percent
    }

    /// Stages in which something lies, up to the last such.
    pub fn stages_used(&self) -> usize {
        self.stages.iter().rposition(|s| !s.parts.is_empty()).map_or(0, |last| last + 1)
    }

    /// Entries that a table can hold.
    pub fn capacity(&self, table: &str) -> Option<u64> {
        self.tables.iter().find(|t| t.name == table).map(|t| t.entries)
    }

    /// The largest number of sessions for which the program fits; see [`max_sessions`].
    pub fn max_sessions(ir: &Ir, chip: &Chip, sizes: &Sizes) -> Option<u64> {
        max_sessions(ir, chip, sizes)
    }
}
