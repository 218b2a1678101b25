//! Dependency graph of the sites of a pipeline's pipes. A node is what lives in one place: a table or cells, or
//! a site alone.
//!
//! *Strict*: the later one needs what the earlier one writes, or writes it too: it begins in a later stage than the one in which
//! the earlier one ends. *Weak*: the earlier one reads what the later one writes, or decides whether it is reached: the
//! same stage will do. Sites that no packet reaches both, and sites behind an exit, do not depend on each other.

use crate::describe::Switch;
use crate::lack::{Fault, Lack};
use crate::memory::{self, Hangs, Packing, Table};
use crate::profile::{Piece, Profiles};
use crate::resource::{Amounts, Resource};
use crate::sites::{By, Cells, Loc, Site, Sites, Step, What, exclusive, width};
use crate::sizes::Sizes;
use p4_ir::{Ir, PipeId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a node is, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Found by hash.
    Exact,
    /// Found by TCAM.
    Ternary,
    /// Prefixes in partitions.
    Alpm,
    /// A table without a key.
    Default,
    /// A condition.
    Gateway,
    /// Instructions of the control.
    Action,
    /// Counters, meters or registers by index.
    Cells,
    /// Members or groups that entries of other tables point to.
    Profile,
}

/// Something to be placed.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub name: String,
    pub gress: usize,
    pub kind: Kind,
    /// The table that it is, and, once filled in, its memory.
    pub table_id: Option<program::TableId>,
    /// What it is of an action profile.
    pub piece: Option<Piece>,
    pub table: Option<Table>,
    pub table_name: Option<String>,
    pub session: bool,
    /// What each part takes beside the table's memory.
    pub fixed: Amounts,
    /// Cells that it reaches, with what they take where they live.
    pub cells: Vec<(usize, Cells, Amounts)>,
    /// What needs this one's end, and whether it must come in a later stage.
    pub later: BTreeMap<usize, bool>,
    /// Number of nodes that this one waits for.
    pub waits: usize,
    /// The longest row of strict waits behind it.
    pub height: usize,
    /// Bytes that its key is read from.
    pub sources: BTreeSet<(Loc, u32)>,
    /// Bits of hashes that its actions use.
    pub hashed: u64,
    /// Whether its cells are a meter or register (latency).
    pub metered: bool,
    /// Strict waits that are about the key: the others are about actions only.
    pub by_match: BTreeSet<usize>,
    /// What has been decided when it is reached, and by whom, if it is reached in one place only.
    pub path: Option<(Vec<Step>, BTreeSet<usize>)>,
    /// Nodes that write another field of a container that it writes: they lie in other stages, in whichever order.
    pub apart: BTreeSet<usize>,
    /// The condition right before it: on the chip the two are one logical table.
    pub behind: Option<usize>,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    /// Of each pipe, the node of each site.
    pub node_of: Vec<Vec<usize>>,
    /// The nodes, each behind those that it waits for.
    order: Vec<usize>,
}

impl Node {
    /// Stages that it begins ahead of where it lies: the TCAM that finds a prefix's partition is a table in a stage before.
    pub(crate) fn ahead(&self) -> usize {
        usize::from(self.table.as_ref().is_some_and(|t| t.way == memory::Way::Alpm))
    }

    /// The same of what waits for this node: that TCAM needs the key only.
    pub(crate) fn ahead_of(&self, before: usize) -> usize {
        if self.by_match.contains(&before) { self.ahead() } else { 0 }
    }
}

/// The graph of a pipeline's pipes, without the sizes of anything, and what the chip does not do.
pub(crate) fn graph(ir: &Ir, pipes: &[(PipeId, Sites)], chip: &Switch, lacks: &mut Vec<Lack>) -> Graph {
    let mut g = Graph::default();
    let mut cell_ids: BTreeMap<(usize, Cells), usize> = BTreeMap::new();
    for (gress, (_, sites)) in pipes.iter().enumerate() {
        let node_of = nodes(&mut g, gress, ir, sites, chip, &mut cell_ids);
        edges(&mut g, ir, sites, &node_of);
        reached_once(ir, sites, lacks);
        registers(ir, sites, chip, lacks);
        g.node_of.push(node_of);
    }
    let pieces = Profiles::of(ir).pieces;
    for n in &mut g.nodes {
        n.piece = n.table_id.and_then(|id| pieces.get(&id).copied());
    }
    heights(&mut g, lacks);
    g
}

/// Gives tables and cells their sizes. What even an empty stage cannot hold is a lack.
pub(crate) fn fill(g: &mut Graph, ir: &Ir, sizes: &Sizes, chip: &Switch, pack: Packing, lacks: &mut Vec<Lack>) {
    let stage = Amounts::of_stage(&chip.stage);
    let profiles = Profiles::of(ir);
    for n in &mut g.nodes {
        if let Some(id) = n.table_id {
            let (members, selects) = profiles.members_of(ir, id).map_or((0, false), |(of, groups)| (sizes.entries(ir, of), groups));
            let hangs = Hangs { piece: n.piece, members, selects, handles: &profiles.handles, hashed: n.hashed };
            let table = Table::of(ir, id, &hangs, sizes.entries(ir, id), &stage, pack, &chip.memory);
            n.kind = match table.way {
                memory::Way::Keyless => Kind::Default,
                memory::Way::Exact => Kind::Exact,
                memory::Way::Ternary => Kind::Ternary,
                memory::Way::Alpm | memory::Way::Atcam => Kind::Alpm,
                memory::Way::Pointed => Kind::Profile,
            };
            n.table = Some(table);
        }
        for (_, cells, amounts) in &mut n.cells {
            *amounts = cell_memory(ir, *cells, sizes, chip);
        }
        let all = n.cells.iter().fold(n.fixed, |sum, (_, _, a)| sum.plus(a));
        let least = n.table.as_ref().map_or(all, |t| all.plus(&t.part(t.least, &chip.memory)));
        if let Some(resource) = least.exceeds(&stage) {
            let fault = Fault::AnyStage { resource, needed: least[resource], of: stage[resource] };
            lacks.push(Lack::of(&n.name, fault));
        }
    }
    tall(g);
}

fn nodes(g: &mut Graph, gress: usize, ir: &Ir, sites: &Sites, chip: &Switch, cell_ids: &mut BTreeMap<(usize, Cells), usize>) -> Vec<usize> {
    #[derive(PartialEq, Eq, Hash)]
    enum Home {
        Table(program::TableId),
        Cells(Cells),
    }
    let mut homes: HashMap<Home, usize> = HashMap::new();
    let mut node_of: Vec<usize> = Vec::new();
    for site in &sites.all {
        let home = match site.what {
            What::Table(t) => Some(Home::Table(t)),
            What::Cells(c) => Some(Home::Cells(c)),
            _ => None,
        };
        let known = home.as_ref().and_then(|h| homes.get(h)).copied();
        let id = known.unwrap_or_else(|| {
            g.nodes.push(node(gress, ir, site));
            g.nodes.len() - 1
        });
        let behind = site.path.last().filter(|s| s.by == By::Condition).map(|s| node_of[s.site]);
        let n = &mut g.nodes[id];
        match known {
            None => n.behind = behind,
            Some(_) => (n.behind, n.path) = (None, None),
        }
        if let Some(h) = home {
            homes.insert(h, id);
        }
        // Of sites of one place the largest need counts: only one of them is reached.
        let demand = demand(ir, sites, site, chip);
        let n = &mut g.nodes[id];
        for r in Resource::ALL {
            n.fixed[r] = n.fixed[r].max(demand[r]);
        }
        n.hashed = n.hashed.max(site.hashes.iter().map(|(bits, _)| *bits).sum());
        for (cells, index_bits) in &site.cells {
            if let Some(bits) = index_bits {
                n.fixed[Resource::HashSlices] = n.fixed[Resource::HashSlices].max(u64::from(*bits).div_ceil(16));
                n.fixed[Resource::HashBits] = n.fixed[Resource::HashBits].max(u64::from(*bits));
            }
            n.metered |= !matches!(cells, Cells::Counter(_));
            // A direct register's cells are its table's.
            if matches!(cells, Cells::Register(r) if ir.program.registers[*r].table.is_some()) {
                continue;
            }
            let next = cell_ids.len();
            let cell = *cell_ids.entry((gress, *cells)).or_insert(next);
            if !n.cells.iter().any(|(c, ..)| *c == cell) {
                n.cells.push((cell, *cells, Amounts::default()));
            }
        }
        node_of.push(id);
    }
    node_of
}

fn node(gress: usize, ir: &Ir, site: &Site) -> Node {
    let mut n = Node {
        name: site.name.clone(),
        gress,
        kind: Kind::Action,
        table_id: None,
        piece: None,
        table: None,
        table_name: None,
        session: false,
        fixed: Amounts::default(),
        cells: Vec::new(),
        later: BTreeMap::new(),
        waits: 0,
        height: 0,
        sources: BTreeSet::new(),
        hashed: 0,
        metered: false,
        by_match: BTreeSet::new(),
        path: Some((site.path.clone(), site.control.clone())),
        apart: BTreeSet::new(),
        behind: None,
    };
    match site.what {
        What::Table(id) => {
            let info = &ir.program.tables[id];
            n.metered = info.direct_meter.is_some();
            n.session = info.split;
            n.table_name = Some(info.name.clone());
            n.table_id = Some(id);
            n.sources = memory::crossbar_sources(ir, &ir.tables[id].keys);
        }
        What::Gateway { .. } => n.kind = Kind::Gateway,
        What::Level => {}
        What::Cells(_) => n.kind = Kind::Cells,
        What::Checksum => n.kind = Kind::Exact,
    }
    n
}

/// What a site takes beside the memory of tables and cells.
fn demand(ir: &Ir, sites: &Sites, site: &Site, chip: &Switch) -> Amounts {
    let mut a = Amounts::default();
    match site.what {
        What::Table(_) => {}
        What::Gateway { bytes, pairs, ranges, rows } => {
            let (gate, plain) = (&chip.gateway, (bytes - pairs.min(bytes)).saturating_sub(ranges.div_ceil(8)));
            let units = plain.div_ceil(gate.bytes).max(ranges.div_ceil(gate.hash_bits)).max(rows.div_ceil(gate.rows)).max(1);
            a[Resource::Gateways] = units;
            a[Resource::LogicalTables] = units;
            // Bytes come as they are; only what is compared for more or less goes through the hash.
            a[Resource::HashBits] = ranges;
            a[Resource::ExactCrossbar] = bytes;
        }
        // A selector's hash goes to its memory by a way of its own.
        What::Level if site.writes.is_subset(&sites.handles) => {
            for (bits, bytes) in &site.hashes {
                a[Resource::HashBits] += bits;
                a[Resource::ExactCrossbar] += bytes;
            }
            return a;
        }
        What::Level => {
            a[Resource::LogicalTables] = 1;
            a[Resource::Instructions] = 1;
        }
        What::Checksum => {
            a[Resource::LogicalTables] = 1;
            a[Resource::Instructions] = 1;
            a[Resource::Sram] = 1;
            a[Resource::ExactTables] = 1;
            a[Resource::ResultBuses] = 1;
            a[Resource::HashBits] = chip.memory.hash_way_bits;
            a[Resource::ExactCrossbar] = bytes(ir, &site.match_reads);
        }
        What::Cells(_) => {
            a[Resource::LogicalTables] = 1;
            a[Resource::Instructions] = 1;
            a[Resource::ExactCrossbar] = bytes(ir, &site.match_reads);
        }
    }
    for (bits, bytes) in &site.hashes {
        a[Resource::HashBits] += bits;
        a[Resource::HashSlices] += bits.div_ceil(16);
        a[Resource::ExactCrossbar] += bytes;
    }
    // What instructions do not hold comes from a row, where it is more than comes with an entry.
    if !matches!(site.what, What::Table(_)) {
        let data = memory::constant_bits(site.constants.iter().copied(), &chip.memory);
        let room = if site.beside_hash { 0 } else { chip.memory.immediate_bits };
        a[Resource::Sram] += u64::from(data > room);
        a[Resource::ActionData] += data / 8;
    }
    // What takes a hash without a table hits by a gateway that always does, and has the result bus of a table.
    let indexed = site.cells.iter().any(|(_, bits)| bits.is_some());
    if !matches!(site.what, What::Table(_)) && (indexed || !site.hashes.is_empty()) {
        a[Resource::ResultBuses] = 1;
        a[Resource::Gateways] = 1;
    }
    a
}

fn bytes(ir: &Ir, locs: &BTreeSet<Loc>) -> u64 {
    locs.iter().map(|l| u64::from(width(ir, *l)).div_ceil(8)).sum()
}

fn cell_memory(ir: &Ir, cells: Cells, sizes: &Sizes, chip: &Switch) -> Amounts {
    let m = &chip.memory;
    match cells {
        Cells::Counter(id) => memory::counter_cells(sizes.counter(ir, id), &ir.program.counters[id], m),
        Cells::Meter(id) => memory::meter_cells(sizes.meter(ir, id), m),
        Cells::Register(id) => memory::register_cells(sizes.register(ir, id), ir.program.registers[id].width, m),
    }
}

/// What cells are called.
pub(crate) fn cells_name(ir: &Ir, cells: Cells) -> String {
    match cells {
        Cells::Counter(id) => format!("counter {}", ir.program.counters[id].name),
        Cells::Meter(id) => format!("meter {}", ir.program.meters[id].name),
        Cells::Register(id) => format!("register {}", ir.program.registers[id].name),
    }
}

fn edges(g: &mut Graph, ir: &Ir, sites: &Sites, node_of: &[usize]) {
    for (a, b) in &sites.one_container {
        let (a, b) = (node_of[*a], node_of[*b]);
        if a != b {
            g.nodes[a].apart.insert(b);
            g.nodes[b].apart.insert(a);
        }
    }
    let handles = &sites.handles;
    for (j, b) in sites.all.iter().enumerate() {
        for (i, a) in sites.all.iter().enumerate().take(j) {
            let (from, to) = (node_of[i], node_of[j]);
            let writes = a.writes_before(i, b);
            let decides = b.control.contains(&i);
            let ends = a.dead.iter().any(|(x, y)| (*x..*y).contains(&j));
            let apart = exclusive(a, b) || ends;
            let hits = |x: &BTreeSet<Loc>, y: &BTreeSet<Loc>| x.intersection(y).any(|loc| !handles.contains(loc));
            let handed = |x: &BTreeSet<Loc>, y: &BTreeSet<Loc>| x.intersection(y).any(|loc| handles.contains(loc));
            let points = handed(writes, &b.match_reads) || handed(writes, &b.action_reads) || handed(writes, &b.writes);
            // An entry that runs an action itself points to no member.
            let either = points && matches!((a.what, b.what), (What::Table(_), What::Table(_)));
            let by_match = !apart && !either && hits(writes, &b.match_reads);
            let over = || writes.intersection(&b.writes).any(|loc| !handles.contains(loc) && !a.writes_beside(b, *loc, ir));
            let by_action = !apart && !either && (hits(writes, &b.action_reads) || over());
            let strict = by_match || by_action;
            let weak = decides || (!apart && (points || !a.match_reads.is_disjoint(&b.writes) || !a.action_reads.is_disjoint(&b.writes)));
            if !strict && !weak {
                continue;
            }
            if from == to {
                // Reached twice by one packet: `reached_once` says so.
                continue;
            }
            let edge = g.nodes[from].later.entry(to).or_insert(false);
            *edge |= strict;
            // A selector's hash is computed in the stage of the table whose entries point to groups.
            if strict && matches!(b.what, What::Level) && !b.writes.is_empty() && b.writes.is_subset(handles) {
                let tables = b.path.iter().map(|step| step.site).filter(|t| *t > i && matches!(sites.all[*t].what, What::Table(_)));
                for table in tables.map(|t| node_of[t]).filter(|t| *t != from) {
                    g.nodes[from].later.insert(table, true);
                }
            }
            if by_match {
                g.nodes[to].by_match.insert(from);
            }
        }
    }
}

/// Tables and cells that a packet can reach twice.
fn reached_once(ir: &Ir, sites: &Sites, lacks: &mut Vec<Lack>) {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, s) in sites.all.iter().enumerate() {
        if let What::Table(t) = s.what {
            places.entry(format!("table {}", ir.program.tables[t].name)).or_default().push(i);
        }
        for (cells, _) in &s.cells {
            let name = cells_name(ir, *cells);
            places.entry(name).or_default().push(i);
        }
    }
    for (name, at) in places {
        let both = |i: usize, j: usize| {
            let (a, b) = (&sites.all[i], &sites.all[j]);
            i != j && !exclusive(a, b) && !a.dead.iter().any(|(x, y)| (*x..*y).contains(&j))
        };
        if at.iter().enumerate().any(|(n, i)| at[n + 1..].iter().any(|j| both(*i, *j))) {
            lacks.push(Lack::of(&name, Fault::Twice));
        }
    }
}

fn registers(ir: &Ir, sites: &Sites, chip: &Switch, lacks: &mut Vec<Lack>) {
    let mut programs: BTreeMap<program::RegisterId, BTreeSet<&str>> = BTreeMap::new();
    for s in &sites.all {
        // Of the bytes one comes through the hash.
        let ((pairs, equal, order), gate, plain) = (s.compared, &chip.gateway, chip.gateway.bytes - 1);
        let besides = (pairs * 8 + equal + order).saturating_sub(plain * 8);
        if ir.arch == p4_ir::Architecture::Tna && (pairs > plain || order > gate.hash_bits || besides > gate.hash_bits) {
            lacks.push(Lack::of(&s.name, Fault::Condition { pairs, equal, order }));
        }
        for (id, text) in &s.programs {
            programs.entry(*id).or_default().insert(text);
        }
        for id in s.cells.iter().filter_map(|(c, _)| if let Cells::Register(r) = c { Some(*r) } else { None }) {
            let name = &ir.program.registers[id].name;
            if s.comparisons > chip.stateful.comparators {
                lacks.push(Lack::of(name, Fault::Comparisons { needed: s.comparisons, of: chip.stateful.comparators }));
            }
        }
    }
    for (id, texts) in programs {
        let n = texts.len() as u64;
        let info = &ir.program.registers[id];
        if n > chip.stateful.programs {
            lacks.push(Lack::of(&info.name, Fault::RegisterPrograms { needed: n, of: chip.stateful.programs }));
        }
        if ir.arch == p4_ir::Architecture::Tna && !matches!(info.width, 1 | 8 | 16 | 32 | 64 | 128) {
            lacks.push(Lack::of(&info.name, Fault::RegisterCell(info.width.into())));
        }
        if u64::from(info.width) > chip.stateful.bits {
            lacks.push(Lack::of(&info.name, Fault::RegisterWidth { needed: u64::from(info.width), of: chip.stateful.bits }));
        }
    }
    if sites.digests > chip.extras.digest_types {
        lacks.push(Lack::of("", Fault::Digests { needed: sites.digests, of: chip.extras.digest_types }));
    }
}

/// Counts what each node waits for, and finds the longest rows of strict waits, from the last node backwards. A node that waits for
/// itself by way of others is no pipeline.
fn heights(g: &mut Graph, lacks: &mut Vec<Lack>) {
    for i in 0..g.nodes.len() {
        for to in g.nodes[i].later.keys().copied().collect::<Vec<_>>() {
            g.nodes[to].waits += 1;
        }
    }
    let mut left: Vec<usize> = g.nodes.iter().map(|n| n.waits).collect();
    let mut todo: Vec<usize> = (0..g.nodes.len()).filter(|i| left[*i] == 0).collect();
    let mut order = Vec::new();
    while let Some(i) = todo.pop() {
        order.push(i);
        for to in g.nodes[i].later.keys() {
            left[*to] -= 1;
            if left[*to] == 0 {
                todo.push(*to);
            }
        }
    }
    if order.len() < g.nodes.len() {
        cycles(g, &left, lacks);
    }
    g.order = order;
    tall(g);
}

/// The longest rows of strict waits, once it is known how tables are found.
fn tall(g: &mut Graph) {
    for i in g.order.clone().into_iter().rev() {
        let behind = g.nodes[i].later.iter().map(|(to, strict)| g.nodes[*to].height + usize::from(*strict) + g.nodes[*to].ahead_of(i));
        g.nodes[i].height = behind.max().unwrap_or(0);
    }
}

/// Names the tables and cells that wait for themselves; those that a packet can reach twice are named already.
fn cycles(g: &Graph, left: &[usize], lacks: &mut Vec<Lack>) {
    let named = |n: &Node, lacks: &[Lack]| lacks.iter().any(|l| l.fault == Fault::Twice && l.at.ends_with(&format!(" {}", n.name)));
    let before = lacks.len();
    for (i, n) in g.nodes.iter().enumerate() {
        if left[i] == 0 || (n.table_id.is_none() && n.cells.is_empty()) || named(n, lacks) {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut todo: Vec<usize> = n.later.keys().copied().collect();
        while let Some(at) = todo.pop() {
            if seen.insert(at) {
                todo.extend(g.nodes[at].later.keys().copied().filter(|t| left[*t] > 0));
            }
        }
        let lack = Lack::of(&n.name, Fault::Cycle);
        if seen.contains(&i) && !lacks.contains(&lack) {
            lacks.push(lack);
        }
    }
    // There is one for certain, if only through what has been named.
    if lacks.len() == before && !lacks.iter().any(|l| matches!(l.fault, Fault::Twice | Fault::Cycle)) {
        lacks.push(Lack::of("", Fault::Cycle));
    }
}
