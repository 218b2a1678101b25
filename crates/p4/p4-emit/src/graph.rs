//! How the structured blocks of ingress, egress and checksums fall apart at table look-ups.
//!
//! A table is looked up for a whole burst at once, so a packet's way through a control is cut there. The pieces are
//! [`Node`]s: statements without look-ups, ending in jumps. Looking a table up at one place of the program is a
//! [`Site`], which continues at the node after it. Nodes and sites are gathered in [`Stage`]s: a stage is run for all
//! packets that wait for it, in the order of the packets, and passes each on to a later stage. A node that can only be
//! reached from one stage is part of that stage; one where ways of several stages meet is a stage of its own, so no
//! piece of the program is there twice, and packets that took different ways are together again behind it.
//!
//! A loop is not cut: its rounds would have to come back to stages that have run. Tables in it are looked up for one packet at a time.

use crate::EmitError;
use p4_analysis::control::{actions, any_stmt, table_exits};
use p4_analysis::effects::{self, Ordered};
use p4_ir::origin::Construct;
use p4_ir::{ActionId, Bits, Block, Expr, Ir, LabelId, Role, Stmt, TableId, VarId};
use program::MatchKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Number of a node.
pub type NodeId = usize;
/// Number of a site.
pub type SiteId = usize;
/// Number of a stage, in the order in which they run; 0 begins with the parser.
pub type StageId = usize;

/// Statements; every way through them ends in a jump.
pub type Seq<'a> = Vec<Item<'a>>;

/// A piece of a node.
pub enum Item<'a> {
    /// Has no look-ups inside but those of loops; may jump away.
    Plain(&'a Stmt, Rc<Targets>),
    /// An `if` with a look-up in it.
    If(&'a Expr, Seq<'a>, Seq<'a>),
    /// A `switch` with a look-up in it.
    Switch(&'a Expr, Vec<(&'a [Bits], Seq<'a>)>, Seq<'a>),
    /// `egress_spec` is 511: drop; else it becomes `egress_port`.
    IngressEnd,
    /// `egress_spec` is 511: drop.
    EgressEnd,
    /// Deparser and verdict.
    Finish,
    /// Goes on at a node.
    Goto(NodeId),
    /// Waits for a look-up.
    Apply(SiteId),
}

/// What follows a statement in the sequence that it is in; one of those around it.
#[derive(Clone, Copy)]
pub enum Rest<'a> {
    /// Statements of a block.
    Stmts(&'a [Stmt]),
    /// Items of a node, the last of which is a jump.
    Items(&'a [Item<'a>]),
    /// The round of a loop.
    Round,
}

/// Where `exit` and `break` lead at some place.
#[derive(Clone, Default)]
pub struct Targets {
    /// `exit`.
    pub exit: Option<NodeId>,
    /// Labels whose blocks have been cut.
    pub labels: BTreeMap<LabelId, NodeId>,
}

/// Statements that run without a look-up between them.
pub struct Node<'a> {
    /// What runs.
    pub body: Seq<'a>,
    /// For comments.
    pub name: &'static str,
}

/// A look-up at one place of the program.
pub struct Site {
    /// The table.
    pub table: TableId,
    /// Receives whether it hit.
    pub hit: Option<VarId>,
    /// Receives which action ran.
    pub action_run: Option<VarId>,
    /// Where a packet continues.
    pub after: NodeId,
    /// Where it continues if the action exits.
    pub exit: NodeId,
}

/// What runs for all packets that wait for it.
pub struct Stage {
    /// A look-up that comes first.
    pub site: Option<SiteId>,
    /// Nodes, and look-ups of near tables, each after those that jump to it. Without a site, the first is where packets come in.
    pub nodes: Vec<Vertex>,
}

/// The whole of it.
pub struct Graph<'a> {
    /// Nodes; 0 is where the parser leads.
    pub nodes: Vec<Node<'a>>,
    /// Sites.
    pub sites: Vec<Site>,
    /// Stages in the order in which they run.
    pub stages: Vec<Stage>,
    /// The stage of each node; for a class, of those that begin one.
    pub stage_of_node: HashMap<NodeId, StageId>,
    /// The stage of each site.
    pub stage_of_site: HashMap<SiteId, StageId>,
}

/// Most nodes in all stages of a class together, each counted as often as it is there.
const MAX_NODES_OF_CLASS: usize = 2000;

/// Whether a table is one of wildcard rules whose default action does nothing, as most deployments leave it: that action.
pub fn optional(ir: &Ir, table: TableId) -> Option<ActionId> {
    let info = &ir.program.tables[table];
    let wildcards = info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
    let action = info.default_action.0;
    let nothing = ir.actions.get(action).is_some_and(|code| code.body.is_empty() && code.params.is_empty());
    (wildcards && nothing && info.entries.is_empty()).then_some(action)
}

/// Which nodes are stages of their own for packets of a class, of those that use a meter, a register or random numbers. Each costs these packets what passes them on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// None.
    Nowhere,
    /// Where ways meet that use one behind it, as it is for other packets.
    WhereWaysMeet,
    /// And behind a look-up.
    BehindLookups,
}

/// Cuts the program up for packets that are known to be alike: most of it is decided then, so each stage has all nodes
/// that can be reached from it, though others have them too, but those that are a stage of their own as `join` says: so the order of packets is kept in one place.
/// Tables that are `near` are looked up inside of stages. Behind a look-up that packets wait for a stage begins first: what was asked for in it is on its way.
///
/// `None` if that would make the text many times as long.
pub fn build_for_class<'a>(ir: &'a Ir, join: Join, near: &dyn Fn(TableId) -> bool) -> Result<Option<Graph<'a>>, EmitError> {
    let mut graph = build(ir)?;
    let mut total = 0;
    let order = reverse_postorder(Vertex::Node(0), &|v| successors(ir, &graph.nodes, &graph.sites, v));
    let stages = graph.stages.iter().skip(1).filter(|stage| match join {
        Join::Nowhere => false,
        Join::WhereWaysMeet => stage.site.is_none(),
        Join::BehindLookups => true,
    });
    let joins: BTreeSet<NodeId> = stages.flat_map(|stage| graph.joins(ir, stage)).collect();
    let is_start = |v: &Vertex| v.node().is_none_or(|n| joins.contains(&n));
    let is_near = |start: Vertex| match start {
        Vertex::Site(s) => near(graph.sites[s].table),
        _ => true,
    };
    let starts = [Vertex::Node(0)].into_iter().chain(order.iter().copied().filter(is_start));
    let mut stages = Vec::new();
    for start in starts {
        let mut vertices = BTreeSet::new();
        let mut todo = vec![start];
        while let Some(v) = todo.pop() {
            let mut here = successors(ir, &graph.nodes, &graph.sites, v);
            while let Some(next) = here.pop() {
                match next {
                    Vertex::Node(n) if joins.contains(&n) => {}
                    Vertex::Site(s) if is_near(start) && near(graph.sites[s].table) && vertices.insert(Vertex::Near(s)) => {
                        todo.push(next);
                    }
                    Vertex::Node(_) if vertices.insert(next) => todo.push(next),
                    // It may be passed over.
                    Vertex::Site(s) if optional(ir, graph.sites[s].table).is_some() => {
                        here.push(resolve(&graph.nodes, Vertex::Node(graph.sites[s].after)));
                    }
                    _ => {}
                }
            }
        }
        total += vertices.len() + 1;
        if total > MAX_NODES_OF_CLASS {
            return Ok(None);
        }
        let (site, first) = match start {
            Vertex::Site(s) => (Some(s), None),
            start => (None, Some(start)),
        };
        let in_stage = |v: &Vertex| if let Vertex::Site(s) = v { Vertex::Near(*s) } else { *v };
        let others = order.iter().map(in_stage).filter(|v| Some(*v) != first && vertices.contains(v));
        stages.push(Stage { site, nodes: first.into_iter().chain(others).collect() });
    }
    graph.stage_of_site = stages.iter().enumerate().filter_map(|(i, s)| Some((s.site?, i))).collect();
    let begins_at = |stage: &Stage| stage.nodes.first().and_then(Vertex::node).filter(|_| stage.site.is_none());
    graph.stage_of_node = stages.iter().enumerate().skip(1).filter_map(|(i, s)| Some((begins_at(s)?, i))).collect();
    graph.stages = stages;
    Ok(Some(graph))
}

/// Cuts the program up.
pub fn build(ir: &Ir) -> Result<Graph<'_>, EmitError> {
    let mut b = Builder { nodes: Vec::new(), sites: Vec::new() };
    let entry = b.reserve("verify_checksum");
    let ingress = b.reserve("ingress");
    let egress = b.reserve("end of ingress");
    let finish = b.reserve("end of egress");
    b.nodes[entry].body = b.block(ir.control(Role::VerifyChecksum), Vec::new(), ingress)?;
    b.nodes[ingress].body = b.block(ir.ingress(), Vec::new(), egress)?;
    b.nodes[egress].body = b.block(ir.egress(), vec![Item::IngressEnd], finish)?;
    let none = Rc::new(Targets::default());
    let checksums = ir.control(Role::ComputeChecksum).iter().map(|s| Item::Plain(s, none.clone()));
    b.nodes[finish].body = [Item::EgressEnd].into_iter().chain(checksums).chain([Item::Finish]).collect();
    if any_stmt(ir.control(Role::ComputeChecksum), &mut |s| matches!(s, Stmt::Apply { .. })) {
        return Err(EmitError::unsupported(Construct::Table, "a table applied in the checksum control"));
    }
    let Builder { nodes, sites, .. } = b;
    Ok(stages(ir, nodes, sites))
}

/// The blocks directly inside a statement.
pub fn blocks(stmt: &Stmt) -> Box<dyn Iterator<Item = &Block> + '_> {
    match stmt {
        Stmt::If(_, a, b) => Box::new([a, b].into_iter()),
        Stmt::Switch { cases, default, .. } => Box::new(cases.iter().map(|(_, b)| b).chain([default])),
        Stmt::Labeled(_, b) | Stmt::Loop(b) => Box::new([b].into_iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Calls `each` with every statement of the blocks, outer ones first.
pub fn visit<'a>(block: &'a [Stmt], each: &mut dyn FnMut(&'a Stmt)) {
    for stmt in block {
        each(stmt);
        for inner in blocks(stmt) {
            visit(inner, each);
        }
    }
}

/// Whether a statement is cut: it has a look-up outside of loops.
fn is_cut(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Apply { .. } => true,
        Stmt::Loop(_) => false,
        _ => blocks(stmt).flatten().any(is_cut),
    }
}

/// Calls `each` with every statement of a block, outer ones first, and behind a look-up with those of the table's actions.
fn visit_with_actions<'a>(ir: &'a Ir, block: &'a [Stmt], each: &mut dyn FnMut(&'a Stmt)) {
    visit(block, &mut |s| {
        each(s);
        if let Stmt::Apply { table, .. } = s {
            actions(ir, *table).into_iter().filter_map(|a| ir.actions.get(a)).for_each(|code| visit(&code.body, each));
        }
    });
}

struct Builder<'a> {
    nodes: Vec<Node<'a>>,
    sites: Vec<Site>,
}

impl<'a> Builder<'a> {
    fn reserve(&mut self, name: &'static str) -> NodeId {
        self.nodes.push(Node { body: Vec::new(), name });
        self.nodes.len() - 1
    }

    /// A top-level block behind `head`. Its `exit` leads where its end leads.
    fn block(&mut self, block: &'a [Stmt], head: Seq<'a>, end: NodeId) -> Result<Seq<'a>, EmitError> {
        let targets = Rc::new(Targets { exit: Some(end), labels: BTreeMap::new() });
        let mut seq = head;
        seq.append(&mut self.seq(block, end, &targets)?);
        Ok(seq)
    }

    /// Statements that go on at node `end`.
    fn seq(&mut self, block: &'a [Stmt], end: NodeId, targets: &Rc<Targets>) -> Result<Seq<'a>, EmitError> {
        let mut seq = Vec::new();
        for (i, stmt) in block.iter().enumerate() {
            if !is_cut(stmt) {
                seq.push(Item::Plain(stmt, targets.clone()));
                if matches!(stmt, Stmt::Break(_) | Stmt::Exit) {
                    return Ok(seq);
                }
                continue;
            }
            let rest = self.rest(&block[i + 1..], end, targets)?;
            match stmt {
                Stmt::Apply { table, hit, action_run } => {
                    let exit = targets.exit.unwrap_or(rest);
                    self.sites.push(Site { table: *table, hit: *hit, action_run: *action_run, after: rest, exit });
                    seq.push(Item::Apply(self.sites.len() - 1));
                }
                Stmt::If(condition, a, b) => {
                    let a = self.seq(a, rest, targets)?;
                    let b = self.seq(b, rest, targets)?;
                    seq.push(Item::If(condition, a, b));
                }
                Stmt::Switch { on, cases, default } => {
                    let mut arms = Vec::new();
                    for (values, body) in cases {
                        arms.push((&values[..], self.seq(body, rest, targets)?));
                    }
                    let default = self.seq(default, rest, targets)?;
                    seq.push(Item::Switch(on, arms, default));
                }
                Stmt::Labeled(label, body) => {
                    let mut inner = Targets::clone(targets);
                    inner.labels.insert(*label, rest);
                    seq.append(&mut self.seq(body, rest, &Rc::new(inner))?);
                }
                _ => return Err(EmitError::invalid("a look-up in a statement that has no blocks")),
            }
            return Ok(seq);
        }
        seq.push(Item::Goto(end));
        Ok(seq)
    }

    /// A node for the rest of a block.
    fn rest(&mut self, rest: &'a [Stmt], end: NodeId, targets: &Rc<Targets>) -> Result<NodeId, EmitError> {
        if rest.is_empty() {
            return Ok(end);
        }
        let body = self.seq(rest, end, targets)?;
        // A rest that only jumps needs no node.
        if let [Item::Goto(node)] = body[..] {
            return Ok(node);
        }
        self.nodes.push(Node { body, name: "" });
        Ok(self.nodes.len() - 1)
    }
}

/// A node or a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Vertex {
    /// A node.
    Node(NodeId),
    /// A site, where packets wait for the look-up.
    Site(SiteId),
    /// A site in the midst of a stage: its table is near.
    Near(SiteId),
}

impl Vertex {
    /// The node that it is.
    pub fn node(&self) -> Option<NodeId> {
        if let Vertex::Node(n) = self { Some(*n) } else { None }
    }
}

fn jumps(ir: &Ir, seq: &Seq<'_>, out: &mut Vec<Vertex>) {
    for item in seq {
        match item {
            Item::If(_, a, b) => {
                jumps(ir, a, out);
                jumps(ir, b, out);
            }
            Item::Switch(_, arms, default) => {
                arms.iter().for_each(|(_, s)| jumps(ir, s, out));
                jumps(ir, default, out);
            }
            Item::Plain(stmt, targets) => visit_with_actions(ir, std::slice::from_ref(*stmt), &mut |s| match s {
                Stmt::Exit => out.extend(targets.exit.map(Vertex::Node)),
                Stmt::Break(label) => out.extend(targets.labels.get(label).map(|n| Vertex::Node(*n))),
                _ => {}
            }),
            Item::Goto(node) => out.push(Vertex::Node(*node)),
            Item::Apply(site) => out.push(Vertex::Site(*site)),
            Item::IngressEnd | Item::EgressEnd | Item::Finish => {}
        }
    }
}

/// Where a jump really leads: a node that does nothing but wait for a look-up is passed over.
fn resolve(nodes: &[Node<'_>], mut v: Vertex) -> Vertex {
    while let Vertex::Node(n) = v {
        match nodes[n].body[..] {
            [Item::Apply(site)] => v = Vertex::Site(site),
            [Item::Goto(next)] => v = Vertex::Node(next),
            _ => break,
        }
    }
    v
}

/// Where jumps lead from a node or site.
fn successors(ir: &Ir, nodes: &[Node<'_>], sites: &[Site], v: Vertex) -> Vec<Vertex> {
    let mut out = Vec::new();
    match v {
        Vertex::Node(n) => jumps(ir, &nodes[n].body, &mut out),
        Vertex::Site(s) | Vertex::Near(s) => {
            out.push(Vertex::Node(sites[s].after));
            if table_exits(ir, sites[s].table) {
                out.push(Vertex::Node(sites[s].exit));
            }
        }
    }
    out.into_iter().map(|v| resolve(nodes, v)).collect()
}

fn stages<'a>(ir: &Ir, nodes: Vec<Node<'a>>, sites: Vec<Site>) -> Graph<'a> {
    let successors = |v: Vertex| successors(ir, &nodes, &sites, v);
    let order = reverse_postorder(Vertex::Node(0), &successors);
    let mut stages: Vec<Stage> = Vec::new();
    let mut stage_of: HashMap<Vertex, StageId> = HashMap::new();
    let mut from: HashMap<Vertex, BTreeSet<StageId>> = HashMap::new();
    for v in order {
        let stage = match (v, from.get(&v)) {
            (Vertex::Node(n), Some(of)) if of.len() == 1 => {
                let stage = *of.first().expect("one");
                stages[stage].nodes.push(Vertex::Node(n));
                stage
            }
            (Vertex::Node(n), _) => {
                stages.push(Stage { site: None, nodes: vec![Vertex::Node(n)] });
                stages.len() - 1
            }
            (Vertex::Site(s) | Vertex::Near(s), _) => {
                stages.push(Stage { site: Some(s), nodes: Vec::new() });
                stages.len() - 1
            }
        };
        stage_of.insert(v, stage);
        for s in successors(v) {
            from.entry(s).or_default().insert(stage);
        }
    }
    let (mut stage_of_node, mut stage_of_site) = (HashMap::new(), HashMap::new());
    for (v, stage) in stage_of {
        match v {
            Vertex::Node(n) => drop(stage_of_node.insert(n, stage)),
            Vertex::Site(s) | Vertex::Near(s) => drop(stage_of_site.insert(s, stage)),
        }
    }
    Graph { nodes, sites, stages, stage_of_node, stage_of_site }
}

/// Each vertex after all that lead to it: the graph has no cycles.
fn reverse_postorder(start: Vertex, successors: &dyn Fn(Vertex) -> Vec<Vertex>) -> Vec<Vertex> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![(start, successors(start), 0)];
    while let Some((v, next, at)) = stack.last_mut() {
        if let Some(s) = next.get(*at).copied() {
            *at += 1;
            if seen.insert(s) {
                stack.push((s, successors(s), 0));
            }
        } else {
            order.push(*v);
            stack.pop();
        }
    }
    order.reverse();
    order
}

/// Every statement of the program, actions included.
pub fn visit_all<'a>(ir: &'a Ir, each: &mut dyn FnMut(&'a Stmt)) {
    ir.blocks().for_each(|block| visit(block, each));
}

/// Meters, registers, digests and the random generator in a block, and in actions of its tables: their effects depend on the order of packets.
pub fn ordered(ir: &Ir, block: &[Stmt], out: &mut BTreeSet<Ordered>) {
    visit_with_actions(ir, block, &mut |s| out.extend(effects::ordered(s)));
}

impl Graph<'_> {
    /// Where a jump to a node really leads, and the stage of that.
    pub fn target(&self, node: NodeId) -> (Vertex, StageId) {
        let v = resolve(&self.nodes, Vertex::Node(node));
        match v {
            Vertex::Node(n) => (v, self.stage_of_node.get(&n).copied().unwrap_or(0)),
            Vertex::Site(s) | Vertex::Near(s) => (v, self.stage_of_site.get(&s).copied().unwrap_or(0)),
        }
    }

    /// Whether a node begins where ingress or egress ends.
    pub fn is_end(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].body.first(), Some(Item::IngressEnd | Item::EgressEnd))
    }

    /// Where a stage begins to use a meter, a register or random numbers. Where ways meet that is its beginning. Behind a look-up it is the first node that does so on
    /// each way: packets of a class come there past that look-up too, if it is one that is passed over.
    fn joins(&self, ir: &Ir, stage: &Stage) -> Vec<NodeId> {
        let is_ordered = |node: &NodeId| {
            let mut here = BTreeSet::new();
            ordered_in(ir, &self.nodes[*node].body, &mut here);
            !here.is_empty()
        };
        let mut joins: Vec<NodeId> = stage.nodes.iter().filter_map(Vertex::node).filter(is_ordered).collect();
        if stage.site.is_none() {
            return stage.nodes.first().and_then(Vertex::node).filter(|_| !joins.is_empty()).into_iter().collect();
        }
        let behind: Vec<BTreeSet<NodeId>> = joins.iter().map(|node| self.behind(ir, *node)).collect();
        joins.retain(|node| !behind.iter().any(|behind| behind.contains(node)));
        joins
    }

    /// Nodes that can be reached from one without a look-up.
    fn behind(&self, ir: &Ir, node: NodeId) -> BTreeSet<NodeId> {
        let (mut seen, mut left) = (BTreeSet::new(), vec![node]);
        while let Some(node) = left.pop() {
            for next in successors(ir, &self.nodes, &self.sites, Vertex::Node(node)) {
                if let Vertex::Node(next) = next
                    && seen.insert(next)
                {
                    left.push(next);
                }
            }
        }
        seen
    }

    /// Whether packets of a burst may use a meter, a register or the random generator in another order than they came in: it is used in more
    /// than one stage. Then bursts must be of one packet.
    pub fn order_matters(&self, ir: &Ir) -> bool {
        let mut used: BTreeMap<Ordered, StageId> = BTreeMap::new();
        for (id, stage) in self.stages.iter().enumerate() {
            let mut here = BTreeSet::new();
            if id == 0 {
                ordered(ir, &ir.parser().init, &mut here);
                ir.states.values().for_each(|s| ordered(ir, &s.body, &mut here));
            }
            if let Some(site) = stage.site {
                for action in actions(ir, self.sites[site].table) {
                    if let Some(code) = ir.actions.get(action) {
                        ordered(ir, &code.body, &mut here);
                    }
                }
            }
            for node in stage.nodes.iter().filter_map(Vertex::node) {
                ordered_in(ir, &self.nodes[node].body, &mut here);
            }
            if here.into_iter().any(|what| used.insert(what, id).is_some_and(|other| other != id)) {
                return true;
            }
        }
        false
    }
}

fn ordered_in(ir: &Ir, seq: &Seq<'_>, out: &mut BTreeSet<Ordered>) {
    for item in seq {
        match item {
            Item::Plain(stmt, _) => ordered(ir, std::slice::from_ref(*stmt), out),
            Item::If(_, a, b) => {
                ordered_in(ir, a, out);
                ordered_in(ir, b, out);
            }
            Item::Switch(_, arms, default) => {
                arms.iter().for_each(|(_, s)| ordered_in(ir, s, out));
                ordered_in(ir, default, out);
            }
            Item::IngressEnd | Item::EgressEnd | Item::Finish | Item::Goto(_) | Item::Apply(_) => {}
        }
    }
}
