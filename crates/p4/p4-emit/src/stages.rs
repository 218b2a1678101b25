//! The stages as C functions, and the function that runs them all.

use crate::EmitError;
use crate::class::{Class, Staged, take_turns};
use crate::emitter::{Emitter, Flow, Others, Shared, arrive, kept_type, valid_word};
use crate::expr::{head, paren};
use crate::facts::{Facts, Known};
use crate::field::store;
use crate::graph::{Graph, Item, NodeId, Rest, Seq, SiteId, StageId, Vertex};
use crate::layout::{key_fields, key_stride, member};
use crate::model::{Model, Near};
use crate::turns::Phase;
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_analysis::effects::Ordered;
use p4_ir::{ActionId, Ir, TableId, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The text of all stages, and what the printer found.
pub(crate) struct Printed {
    /// C functions.
    pub text: String,
    /// What packets take from stage to stage.
    pub shared: Shared,
    /// Lengths for which a move function is wanted.
    pub moves: BTreeSet<u32>,
    /// The stages that packets come to.
    pub stages: Vec<StageId>,
    /// What each stage takes from the context.
    pub needs: BTreeMap<StageId, Shared>,
    /// What stages use whose effects depend on the order of packets.
    pub ordered: BTreeMap<StageId, BTreeSet<Ordered>>,
    /// The stages that each passes packets to.
    pub edges: BTreeMap<StageId, BTreeSet<StageId>>,
    /// The stages for packets of no class, to which packets of a class fall back, each behind where they come from.
    pub leaves: BTreeSet<(StageId, StageId)>,
    /// Why the text cannot be for that class alone.
    pub failed: Option<&'static str>,
}

impl Printed {
    /// What a stage and those behind it take from the context. To keep that of each stage would be quadratic in the program.
    pub(crate) fn needs_from(&self, stage: StageId) -> Shared {
        let (mut needs, mut seen, mut left) = (Shared::default(), BTreeSet::from([stage]), vec![stage]);
        while let Some(stage) = left.pop() {
            needs.extend(self.needs.get(&stage).unwrap_or(&Shared::default()));
            left.extend(self.edges.get(&stage).into_iter().flatten().copied().filter(|to| seen.insert(*to)));
        }
        needs
    }
}

/// Standard metadata that a packet brings along: C text and bits.
pub(crate) const RECEIVED: &[(&str, &str, u32)] =
    &[("ingress_port", "pk->port", 32), ("packet_length", "pk->length", 32), ("ingress_global_timestamp", "run->now_us", 48)];

/// Prints all stages, with `shared` in the context.
pub(crate) fn print<'a>(
    ir: &'a Ir,
    model: &'a Model,
    graph: &'a Graph<'a>,
    shared: Shared,
    class: Option<(Class<'a>, &Facts)>,
) -> Result<Printed, EmitError> {
    let mut e = Emitter::new(ir, model, graph, shared);
    if let Some((class, facts)) = class {
        e.class = Some(class);
        e.flow = Some(Flow { facts: Some(facts.clone()), ..Flow::default() });
    }
    let (mut edges, mut printed) = (BTreeMap::new(), Vec::new());
    for stage in 0..graph.stages.len() {
        if let (Some(site), Some(_)) = (graph.stages[stage].site, e.class) {
            // Nothing of one stage is reached from another but its look-up.
            e.forget_inside();
            if !e.arrivals.contains_key(&Vertex::Site(site)) {
                continue;
            }
        }
        e.stage_function(stage)?;
        printed.push(stage);
        edges.insert(stage, std::mem::take(&mut e.edges));
    }
    let leaving: String = e.leaving_functions();
    Ok(Printed {
        text: leaving + &e.take(),
        shared: e.found.clone(),
        moves: e.moves.clone(),
        stages: printed,
        needs: e.needs,
        ordered: e.ordered,
        edges,
        leaves: e.leaves,
        failed: e.failed,
    })
}

/// Name of a stage's function.
pub(crate) fn function(graph: &Graph<'_>, model: &Model, stage: StageId) -> String {
    let what = match graph.stages[stage].site {
        Some(site) => model.tables[graph.sites[site].table.index()].clone(),
        None if stage == 0 => "parser".into(),
        None => {
            let name = graph.stages[stage].nodes.first().and_then(Vertex::node).map_or("", |n| graph.nodes[n].name);
            if name.is_empty() { "join".into() } else { name.replace(' ', "_") }
        }
    };
    format!("stage_{stage}_{what}")
}

/// What the name of a stage's function begins with. Called from one place only, it would be inlined there, and what compilers do to the one long function
/// that comes of it takes much more time than all stages by themselves: 4.5 s, not 2.7, for the UPF. A burst of up to 64 packets pays for the call.
pub(crate) const STAGE: &str = "static __attribute__((noinline)) void ";

/// Stand in the text of a stage for the function that takes the other actions, and for what comes before and behind a call to it.
pub(crate) const OTHERS: &str = "@others";
pub(crate) const PAUSE: &str = "@pause";
pub(crate) const RESUME: &str = "@resume";
/// And, with the service's number behind it, for whether its calls come in the order of the packets.
pub(crate) const ORDER: &str = "@order_";

impl<'a> Emitter<'a> {
    fn stage_function(&mut self, stage: StageId) -> Result<(), EmitError> {
        self.stage = stage;
        let mut outer = self.take();
        let name = format!("{}{}", self.prefix(), function(self.graph, self.model, stage));
        let far = self.graph.stages[stage].site.filter(|site| self.model.near(self.ir, self.graph.sites[*site].table).is_none());
        self.usual = far.and_then(|site| self.usual_action(site));
        // Each function behind those that it calls.
        let mut texts = Vec::new();
        if self.usual.is_some() {
            let usual = self.function_text(stage, None, &format!("{STAGE}{name}"))?;
            texts.push(usual.replace(OTHERS, &format!("{name}_others")));
            self.not_usual = self.usual.take();
            self.forget_inside();
            texts.push(self.function_text(stage, None, &format!("{STAGE}{name}_others"))?);
            self.not_usual = None;
        } else {
            texts.push(self.function_text(stage, None, &format!("{STAGE}{name}"))?);
        }
        // In their order, so that all that lead to one are printed before it.
        let place = |site: SiteId| self.graph.stages[stage].nodes.iter().position(|v| *v == Vertex::Near(site));
        while let Some(first) = (0..self.others.len()).min_by_key(|n| place(self.others[*n].site)) {
            let others = self.others.swap_remove(first);
            self.forget_inside();
            let head = format!("{STAGE}{}", self.others_name(stage, others.site));
            texts.push(self.function_text(stage, Some(others), &head)?);
        }
        outer.truncate(outer.trim_end_matches('\n').len());
        self.append_to(outer);
        self.line("");
        if stage > 0 {
            self.line("");
        }
        for (i, text) in texts.iter().rev().enumerate() {
            if i > 0 {
                self.line("");
            }
            self.line(text.trim_end_matches('\n'));
        }
        Ok(())
    }

    /// What is known at places inside of a function does not hold in another one.
    fn forget_inside(&mut self) {
        let stages = &self.graph.stage_of_node;
        self.arrivals.retain(|v, _| matches!(v, Vertex::Site(_)) || v.node().is_some_and(|n| stages.contains_key(&n)));
        self.jumped.clear();
    }

    /// The action for whose packets a stage of a class is printed apart: the table's first, where another one makes headers or takes them
    /// away. All that follows would have to test for those.
    pub(crate) fn usual_action(&self, site: SiteId) -> Option<ActionId> {
        let ir = self.ir;
        let table = self.graph.sites[site].table;
        // A question's answers are looked at one by one.
        let asks = ir.program.asks.iter().any(|ask| ask.table == table);
        if self.class.is_none() || ir.program.tables[table].keys.is_empty() || asks {
            return None;
        }
        let all = actions(ir, table);
        let changes = |action: &ActionId| {
            let mut found = false;
            let body = ir.actions.get(*action).map(|code| &code.body);
            body.into_iter().for_each(|b| crate::graph::visit(b, &mut |s| found |= matches!(s, p4_ir::Stmt::SetValid(..))));
            found
        };
        let (first, others) = all.split_first()?;
        others.iter().any(changes).then_some(*first)
    }

    /// One function, from its head on.
    fn function_text(&mut self, stage: StageId, others: Option<Others>, head: &str) -> Result<String, EmitError> {
        self.passes_to.clear();
        self.tails = 0;
        self.others_of = others.as_ref().map(|of| of.site);
        match (self.graph.stages[stage].site, others) {
            (_, Some(Others { site, flow })) => self.head_site(site, flow, false)?,
            (Some(site), None) => self.site(site)?,
            (None, None) => {
                self.for_each_packet();
                self.plain(stage)?;
                self.close();
            }
        }
        let body = Self::tidy(&self.take()).replace(PAUSE, &self.pause_waits().join(" ")).replace(RESUME, &self.resume_waits().join(" "));
        self.line(format!("{head}(struct sp_run *const run, const uint64_t todo)"));
        self.line("{");
        let passes: Vec<_> = std::mem::take(&mut self.passes_to).into_iter().map(|s| self.stage_number(s)).collect();
        let passes: Vec<_> = std::mem::take(&mut self.leaves_to).into_iter().chain(passes).collect();
        for to in &passes {
            self.line(format!("    uint64_t to_{to} = 0;"));
        }
        let begin: Vec<_> = self.begin_waits().into_iter().chain(self.begin_nears()).chain(self.begin_cells()).collect();
        begin.iter().for_each(|l| self.line(format!("    {l}")));
        for line in body.lines() {
            // Labels stay at the margin.
            self.line(if line.is_empty() { String::new() } else { format!("    {line}") });
        }
        for to in &passes {
            self.line(format!("    run->todo[{to}] |= to_{to};"));
        }
        let end: Vec<_> = self.end_waits().into_iter().chain(self.end_nears()).collect();
        end.iter().for_each(|l| self.line(format!("    {l}")));
        self.line("}");
        Ok(self.take())
    }

    pub(crate) fn for_each_packet(&mut self) {
        self.open("for (uint64_t left = todo; left; left &= left - 1)");
        self.packet();
    }

    fn packet(&mut self) {
        self.line("const uint32_t i = __builtin_ctzll(left);");
        self.line("const uint64_t bit = left & -left;");
        self.line("struct sp_context *const c = sp_context(run, i);");
        self.line("struct sp_packet *const pk = &run->packets[i];");
        if self.class.is_some() {
            self.line("uint8_t *const p = pk->buffer + pk->start;");
        }
    }

    /// A stage without a look-up: parser, or where ways meet.
    fn plain(&mut self, stage: StageId) -> Result<(), EmitError> {
        let first = stage == 0 && self.class.is_none();
        let head = self.graph.stages[stage].nodes.first().copied();
        let flow = match head {
            Some(_) if stage == 0 && self.class.is_some() => self.flow.take().unwrap_or_default(),
            Some(vertex) if !first => self.arrivals.get(&vertex).cloned().unwrap_or_default(),
            _ => Flow::default(),
        };
        if stage == 0 {
            self.begin_class(&flow);
        }
        let outer = self.begin_scope(first, flow);
        if first {
            self.begin_packet();
            self.open("if (pk->length > SP_MAX_PACKET)");
            let before = self.fork();
            self.drop_packet("SP_RX_TOO_LONG");
            self.flow = before;
            self.close();
            self.parser()?;
        }
        self.nodes(stage, head)?;
        self.end_scope(outer);
        Ok(())
    }

    /// What a packet begins with.
    fn begin_packet(&mut self) {
        self.begin_context();
        if self.model.truncates {
            self.line("c->keep = 0xffffffffu;");
        }
        if self.model.loops {
            self.line("c->steps = 0;");
        }
        // A value that the program also writes is a variable like any other.
        for (name, text, _) in RECEIVED {
            if let Some(v) = self.ir.intrinsic.standard.get(*name)
                && self.model.kinds[v.index()] == crate::model::Kind::Plain
            {
                let width = self.ir.vars[*v].ty.width();
                let value = crate::expr::reduce(&format!("({}){text}", crate::emitter::local_type(width)), width);
                self.write_var(*v, &value);
            }
        }
    }

    /// The nodes of a stage in order. What stands before falls through to `head`.
    fn nodes(&mut self, stage: StageId, head: Option<Vertex>) -> Result<(), EmitError> {
        let graph = self.graph;
        for vertex in &graph.stages[stage].nodes {
            if Some(*vertex) != head {
                let Some(flow) = self.arrivals.get(vertex).cloned() else { continue };
                if self.jumped.contains(vertex) {
                    self.label(&match vertex {
                        Vertex::Node(node) => format!("node_{node}"),
                        Vertex::Site(site) | Vertex::Near(site) => format!("site_{site}"),
                    });
                }
                self.flow = Some(flow);
            }
            match vertex {
                Vertex::Node(node) => self.seq(&graph.nodes[*node].body)?,
                Vertex::Site(site) | Vertex::Near(site) => self.near_site(*site)?,
            }
        }
        Ok(())
    }

    pub(crate) fn seq(&mut self, seq: &'a [Item<'a>]) -> Result<(), EmitError> {
        for (i, item) in seq.iter().enumerate() {
            if self.flow.is_none() {
                return Ok(());
            }
            match item {
                Item::Plain(stmt, targets) => {
                    self.targets = (**targets).clone();
                    self.rest.push(Rest::Items(&seq[i + 1..]));
                    self.stmt(stmt)?;
                    self.rest.pop();
                }
                Item::If(condition, a, b) => {
                    let text = self.expr(condition)?;
                    if let "0" | "1" = &text[..] {
                        self.seq(if text == "1" { a } else { b })?;
                        self.flow = None;
                        continue;
                    }
                    let before = self.fork();
                    self.open(format!("if {}", head(&text)));
                    self.assume(condition, true);
                    self.seq(a)?;
                    self.or_else();
                    self.flow = before;
                    self.assume(condition, false);
                    self.seq(b)?;
                    self.close();
                    self.flow = None;
                }
                Item::Switch(on, arms, default) => self.switch_seq(on, arms, default)?,
                Item::IngressEnd => {
                    self.drop_if_asked();
                    let spec = self.standard("egress_spec");
                    if let Some(v) = self.ir.intrinsic.standard.get("egress_port") {
                        self.write_var(*v, &spec);
                        if let Some(from) = self.ir.intrinsic.standard.get("egress_spec") {
                            let known = self.facts().and_then(|f| f.values.get(from).cloned());
                            self.note_value(*v, known);
                        }
                    }
                }
                Item::EgressEnd => self.drop_if_asked(),
                Item::Finish => self.finish()?,
                Item::Goto(node) => self.goto(*node)?,
                Item::Apply(site) => self.goto_vertex(Vertex::Site(*site), self.graph.stage_of_site[site])?,
            }
        }
        Ok(())
    }

    fn switch_seq(&mut self, on: &'a p4_ir::Expr, arms: &'a [(&'a [p4_ir::Bits], Seq<'a>)], default: &'a Seq<'a>) -> Result<(), EmitError> {
        if let Some(value) = self.facts().and_then(|f| f.evaluate(on)) {
            let taken = arms.iter().find(|(values, _)| values.iter().any(|v| v.value() == value));
            self.seq(taken.map_or(default, |(_, body)| body))?;
            self.flow = None;
            return Ok(());
        }
        let (text, width, name) = (self.expr(on)?, on.ty.width(), format!("x{}", self.unique()));
        self.line(format!("const {} {name} = {text};", crate::emitter::local_type(width)));
        let before = self.fork();
        for (values, body) in arms {
            let tests: Vec<_> = values.iter().map(|v| format!("{name} == {}", crate::field::constant(width, v.value()))).collect();
            self.open(format!("if ({})", if tests.is_empty() { "0".into() } else { tests.join(" || ") }));
            self.flow.clone_from(&before);
            self.seq(body)?;
            self.close();
        }
        self.flow = before;
        self.seq(default)?;
        self.flow = None;
        Ok(())
    }

    fn drop_if_asked(&mut self) {
        let spec = self.standard("egress_spec");
        if matches!(&spec[..], "0" | "0u") {
            return;
        }
        self.open(format!("if ({spec} == 511)"));
        let before = self.fork();
        let reason = self.reason();
        self.drop_packet(&reason);
        self.flow = before;
        self.close();
    }

    /// A look-up: keys of all packets, one call, then each packet's action and what follows.
    fn site(&mut self, site: SiteId) -> Result<(), EmitError> {
        let (ir, model, graph) = (self.ir, self.model, self.graph);
        let table = graph.sites[site].table;
        let name = &model.tables[table.index()];
        let keyed = !ir.program.tables[table].keys.is_empty();
        let mut flow = self.arrivals.get(&Vertex::Site(site)).cloned().unwrap_or_default();
        if self.class.is_some() && model.near(ir, table).is_some() {
            return self.head_site(site, flow, model.near(ir, table) == Some(Near::WhileSmall));
        }
        let ask = ir.program.asks.iter().find(|ask| ask.table == table);
        // Keys are written ahead of the stage, but those of questions: each packet asks its own.
        let written = keyed && self.class.is_some() && ask.is_none();
        self.line(format!("struct sp_table *const table = &run->lane->tables[TABLE_{name}];"));
        if written {
            self.begin_looked_up(table);
        } else if keyed {
            let stride = key_stride(key_fields(ir, table).1);
            self.line("uint32_t n = 0;");
            self.open("if (table->lookup)");
            self.for_each_packet();
            let outer = self.begin_scope(false, flow.clone());
            self.keys(table, &format!("run->keys + n++ * {stride}"))?;
            self.end_scope(outer);
            self.close();
            self.close();
            if let Some(ask) = ask {
                self.uses(Ordered::Calls(ask.service));
                self.line("run->lane->asked = todo;");
                self.line("run->lane->asking = run->packets;");
                self.line(format!("run->lane->in_order = {ORDER}{};", ask.service.as_u32()));
                if let Some(facts) = &mut flow.facts {
                    facts.forget_texts();
                }
            }
            self.line(format!("const uint64_t hits = sp_lookup(run, table, {stride}, n, __builtin_popcountll(todo));"));
            self.line("n = 0;");
            self.open("for (uint64_t left = todo; left; left &= left - 1, n++)");
            self.packet();
            self.line("const uint32_t hit = hits >> n & 1;");
            self.line(format!("const struct record_{name} *const r = hit ? (const void *)run->records[n] : table->miss;"));
        } else {
            self.line("table->misses += __builtin_popcountll(todo);");
            self.for_each_packet();
            self.line("const uint32_t hit = 0;");
            self.line(format!("const struct record_{name} *const r = table->miss;"));
        }
        let outer = self.begin_scope(false, flow);
        let (at, mut all) = (&graph.sites[site], self.usual.map_or_else(|| actions(ir, table), |usual| vec![usual]));
        all.retain(|action| self.not_usual != Some(*action));
        self.actions(table, all, (at.hit, at.action_run), Some(at.exit))?;
        self.goto(at.after)?;
        let stage = self.stage;
        self.nodes(stage, None)?;
        self.end_scope(outer);
        self.close();
        if written {
            let others = if self.usual.is_some() { " - others" } else { "" };
            self.line(format!("sp_looked_up(table, found, __builtin_popcountll(todo){others} - found);"));
        }
        Ok(())
    }

    /// A near look-up at the head of a stage, or of a function for its other actions. If `waited`, packets may have waited for it.
    fn head_site(&mut self, site: SiteId, flow: Flow, waited: bool) -> Result<(), EmitError> {
        let table = self.graph.sites[site].table;
        if waited {
            self.smalls.insert(table);
            let (x, first) = (self.stage_number(self.stage), self.class.map_or(0, |c| c.general.graph.stages.len()));
            self.line(format!("const struct sp_wait *const wait = &run->wait[{}];", x - first));
        }
        self.for_each_packet();
        let outer = self.begin_scope(false, flow);
        self.near_record(site, waited)?;
        self.near_actions(site)?;
        let stage = self.stage;
        self.nodes(stage, None)?;
        self.end_scope(outer);
        self.close();
        Ok(())
    }

    /// A look-up in a loop: for this packet alone, in the midst of its stage.
    pub(crate) fn apply_here(&mut self, table: TableId, hit: Option<VarId>, action_run: Option<VarId>) -> Result<(), EmitError> {
        let (ir, name) = (self.ir, &self.model.tables[table.index()]);
        self.open("");
        self.line(format!("struct sp_table *const table = &run->lane->tables[TABLE_{name}];"));
        if ir.program.tables[table].keys.is_empty() {
            self.line("const uint32_t hit = 0;");
            self.line(format!("const struct record_{name} *const r = table->miss;"));
        } else {
            let stride = key_stride(key_fields(ir, table).1);
            self.line(format!("const struct record_{name} *r = table->miss;"));
            self.line("uint32_t hit = 0;");
            self.open("if (table->lookup)");
            self.line(format!("uint8_t found[{stride}] __attribute__((aligned(64)));"));
            self.keys(table, "found")?;
            self.line("uint8_t *at;");
            self.line(format!("hit = table->lookup(table->table, found, {stride}, 1, &at) & 1;"));
            self.line("if (hit) r = (const void *)at;");
            self.close();
        }
        self.line("sp_looked_up(table, hit, !hit);");
        let outer = (self.targets.clone(), self.in_table);
        let exit = self.targets.exit;
        self.actions(table, actions(ir, table), (hit, action_run), exit)?;
        (self.targets, self.in_table) = outer;
        self.close();
        Ok(())
    }

    /// Puts the packet's key at `address`.
    fn keys(&mut self, table: TableId, address: &str) -> Result<(), EmitError> {
        let ir = self.ir;
        let (fields, len) = key_fields(ir, table);
        self.line(format!("uint8_t *const key = {address};"));
        for ((field, info), e) in fields.iter().zip(&ir.program.tables[table].keys).zip(&ir.tables[table].keys) {
            let mut text = self.expr(e)?;
            if info.width > 0 && field.bytes > 0 {
                if field.shift > 0 {
                    text = format!("({}){} << {}", crate::emitter::local_type(field.bytes * 8), paren(&text), field.shift);
                }
                self.line(store("key", len, field.offset * 8, field.bytes * 8, &text));
            }
        }
        if ir.program.asks.iter().any(|ask| ask.table == table) {
            let payload = self.payload();
            self.line(format!("run->lane->payload[i] = {payload} - (pk->buffer + pk->start);"));
        }
        Ok(())
    }

    /// The action of the record, one of `all`; `hit` and `action_run` receive what was found, and `exit` is where an `exit` leads.
    pub(crate) fn actions(
        &mut self,
        table: TableId,
        all: Vec<ActionId>,
        (hit, action_run): (Option<VarId>, Option<VarId>),
        exit: Option<NodeId>,
    ) -> Result<(), EmitError> {
        let (ir, model) = (self.ir, self.model);
        if let Some(v) = hit {
            self.write_var(v, "hit");
        }
        if let Some(v) = action_run {
            self.write_var(v, "r->action");
        }
        self.in_table = Some(table);
        let (before, mut after) = (self.fork(), None);
        let mut nothing = Vec::new();
        self.open("switch (r->action)");
        for action in all {
            let code = ir.actions.get(action).ok_or_else(|| EmitError::invalid("an action without code"))?;
            let name = &model.actions[action.index()];
            if code.body.is_empty() && code.params.is_empty() {
                nothing.push(name);
                continue;
            }
            self.open(format!("case ACTION_{name}:"));
            self.flow.clone_from(&before);
            if let Some(v) = action_run {
                self.note_value(v, Some(Known::Const(action.index() as u128)));
            }
            self.action(action, code, exit)?;
            self.end_case(&mut after);
        }
        if !nothing.is_empty() {
            // They run, and do nothing.
            for name in &nothing {
                self.line(format!("case ACTION_{name}:"));
            }
            self.line("    break;");
            arrive(&mut after, before.clone());
        }
        self.line("default:");
        self.line("    __builtin_unreachable();");
        self.close();
        self.in_table = None;
        self.flow = after;
        Ok(())
    }

    fn action(&mut self, action: ActionId, code: &'a p4_ir::ActionCode, exit: Option<NodeId>) -> Result<(), EmitError> {
        let (ir, model) = (self.ir, self.model);
        self.targets = crate::graph::Targets { exit, labels: Default::default() };
        self.lend(action);
        for (i, v) in code.params.iter().enumerate() {
            let text = format!("r->{}.{}", model.actions[action.index()], member(ir, action, i));
            self.write_var(*v, &text);
        }
        self.block(&code.body)
    }
}

/// The context, the stages' names, and the entry point.
pub(crate) fn frame(ir: &Ir, model: &Model, graph: &Graph<'_>, classes: Option<&crate::class::Classes>, shared: &Shared) -> String {
    let mut out = String::from("/* What a packet takes from stage to stage. */\nstruct sp_context {\n    uint8_t *payload;\n");
    for w in 0..model.valid_words {
        let _ = writeln!(out, "    uint64_t {};", valid_word(model, w));
    }
    // What packets of classes take along comes first, so that it is one cache line or two of the many.
    let nothing = BTreeSet::new();
    let of_classes = classes.map_or(&nothing, |c| &c.shared.vars);
    for action in &shared.records {
        let (name, table) = (&model.actions[action.index()], model.action_params.tables[action]);
        let _ = writeln!(out, "    const struct record_{} *rule_{name};", model.tables[table.index()]);
    }
    if model.loops {
        out.push_str("    uint32_t steps;\n");
    }
    if model.truncates {
        out.push_str("    uint32_t keep;\n");
    }
    if !shared.vars.is_empty() {
        let mut vars: Vec<_> = shared.vars.iter().copied().collect();
        vars.sort_by_key(|v| (!of_classes.contains(v), std::cmp::Reverse(ir.vars[*v].ty.width().next_multiple_of(8))));
        out.push_str("    struct {\n");
        for v in vars {
            let ty = kept_type(ir.vars[v].ty.width());
            let ty = if ty == "sp_u128" { "sp_kept128" } else { ty };
            let _ = writeln!(out, "        {ty} {};", model.vars[v.index()]);
        }
        out.push_str("    } v;\n");
    }
    for h in shared.pointers.iter().filter(|h| !model.in_arrays.contains_key(h)) {
        let _ = writeln!(out, "    uint8_t *{};", model.pointer(*h));
    }
    let arrays: BTreeSet<_> = shared.pointers.iter().filter_map(|h| model.in_arrays.get(h)).map(|(s, _)| *s).collect();
    for s in arrays {
        let _ = writeln!(out, "    uint8_t *at_{}[{}];", model.stacks[s.index()], ir.stacks[s].elements.len());
    }
    for h in &shared.lengths {
        let _ = writeln!(out, "    uint16_t {};", model.length(*h));
    }
    for s in &shared.nexts {
        let _ = writeln!(out, "    uint32_t next_{};", model.stacks[s.index()]);
    }
    // One array, because headers that were made may be moved together.
    let mut places = String::new();
    let mut scratch = 0;
    for h in crate::deparser::scratch_order(ir, model) {
        let _ = writeln!(places, "    S_{} = {scratch},", model.headers[h.index()]);
        scratch += model.len_at_most(h).max(1);
    }
    if scratch > 0 {
        let _ = writeln!(out, "    uint8_t s[{scratch}];");
    }
    out.push_str("} __attribute__((aligned(64)));\n\n");
    if scratch > 0 {
        let _ = writeln!(
            out,
            "/* Where in `s` headers lie that did not come in the packet, or were moved out of it. */\nenum {{\n{places}}};\n"
        );
    }
    let stride = ir.program.tables.keys().map(|t| key_stride(key_fields(ir, t).1)).max().unwrap_or(8);
    let stages = crate::class::stage_count(graph, classes);
    let (waits, classes) = (stages - graph.stages.len(), classes.map_or(0, |c| c.classes.len()) + 1);
    let _ = writeln!(out, "#define SP_STAGES {stages}\n#define SP_CLASSES {classes}");
    let _ = writeln!(out, "#define SP_WAITS {waits}\n#define SP_KEY_STRIDE {stride}\n");
    out
}

/// The function that runs all stages; without `phases` in their own order, a packet after the other.
pub(crate) fn entry(model: &Model, graph: &Graph<'_>, phases: Option<&[Phase]>) -> String {
    let mut out = String::from("\nstatic void sp_stages(struct sp_run *const run, const uint64_t all)\n{\n");
    let _ = writeln!(out, "    {}(run, all);", function(graph, model, 0));
    let staged: Vec<Staged> = (0..graph.stages.len()).map(|s| (s, function(graph, model, s), None)).collect();
    let one = |out: &mut String, (stage, name, _): &Staged| {
        let _ = writeln!(out, "    if (run->todo[{stage}]) {name}(run, run->todo[{stage}]);");
    };
    match phases {
        None => staged.iter().skip(1).for_each(|s| one(&mut out, s)),
        Some(phases) => {
            for (k, phase) in phases.iter().enumerate() {
                phase.alone.iter().flatten().filter(|s| **s > 0).for_each(|s| one(&mut out, &staged[*s]));
                take_turns(&mut out, k, &phase.turns.iter().map(|s| &staged[*s]).collect::<Vec<_>>());
            }
        }
    }
    out.push_str("}\n\n");
    let single = phases.is_none();
    if single {
        out.push_str("/* A meter, register or random number is used in more than one stage: packets must go one by one. */\n");
    }
    let _ = writeln!(out, "#define SP_SUB_BURST {}", if single { 1 } else { 64 });
    out
}
