//! Packets that are parsed alike are worked on apart from others, by text that knows how they were parsed.
//!
//! A *class* are all packets for which the parser goes through states without loops and varbit fields, meets no error, and
//! is left from a state marked `@likely`, with the same headers at the same places. `sp_class` tells a packet's class; it
//! goes through the parser's states as a tree, with all distances known. For each class all stages are printed again,
//! with what is known of its packets ([`crate::facts`]): most conditions are decided, headers need no pointers, and
//! what the parser put into variables is read from the packet where it is used. Packets of no class (number 0) go through
//! the general stages, which can do everything. So do packets of a class that are punted or buffered, from the end
//! of ingress on.
//!
//! Packets that use a meter, a register or random numbers, or call a service, do so in the order in which they came, whatever their classes:
//! they take turns there ([`crate::turns`]).

use crate::EmitError;
use crate::emitter::{Emitter, Flow, Shared, valid_word};
use crate::expr::{head, paren};
use crate::facts::{Facts, Known, Place, Way, valid_bits};
use crate::field::{constant, load};
use crate::graph::{self, Graph, Join, StageId, Vertex};
use crate::layout::{key_fields, key_stride};
use crate::model::{Home, Kind, Model, Near};
use crate::stages::{Printed, function, print};
use crate::turns::{self, Plan, Track};
use base::MAX_PACKET;
use cranelift_entity::EntityRef;
use p4_ir::{Expr, ExprKind, Extern, HeaderId, HeaderRef, Ir, KeySet, LValue, Next, SelectCase, StateId, Stmt, Transition};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most classes: each costs the C compiler a program's time.
const MAX_CLASSES: usize = 6;
/// Most states of the tree.
const MAX_TREE: usize = 400;
/// Stands for all headers in what depends on bytes that were looked at before they became one's.
const ANY_HEADER: usize = 0xffff_fff0;

/// What the text for a class needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Class<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Bytes that its parser consumes.
    pub consumed: u32,
    /// Number of its first stage among those of all classes.
    pub first_stage: StageId,
    /// The stages for packets of no class.
    pub general: &'a General<'a>,
}

/// The stages for packets of no class.
pub(crate) struct General<'a> {
    /// Nodes and stages.
    pub graph: &'a Graph<'a>,
    /// What the stages that begin where ingress or egress ends, and those behind them, take from the context.
    pub needs: BTreeMap<StageId, Shared>,
}

/// The text for all classes.
pub(crate) struct Classes {
    /// `sp_class` and the stages.
    pub text: String,
    /// The printed stages of each class.
    pub classes: Vec<OneClass>,
    /// What their packets take from stage to stage.
    pub shared: Shared,
    /// Lengths for which a move function is wanted.
    pub moves: BTreeSet<u32>,
    /// In which order all stages run.
    pub plan: Plan,
}

/// The stages of one class.
pub(crate) struct OneClass {
    /// Number among those of all classes, name of the function, and the look-up that comes first, in order.
    pub stages: Vec<Staged>,
}

/// Finds the classes and prints them; `None` if there are none, or if they could not keep the order of packets. `alone`: in which order the stages for packets of
/// no class would run without them.
pub(crate) fn classes(ir: &Ir, model: &Model, graph: &Graph<'_>, general: &Printed, alone: &Plan) -> Result<Option<Classes>, EmitError> {
    let plain = model.indexed.is_empty() && !model.loops;
    if !plain || !ir.states.values().any(|s| s.likely == Some(true)) {
        return Ok(None);
    }
    // The fewer stages the better.
    for join in [Join::Nowhere, Join::WhereWaysMeet, Join::BehindLookups] {
        let found = classes_of(ir, model, graph, general, join)?.filter(|found| found.plan.unordered == alone.unordered);
        if found.is_some() || general.ordered.is_empty() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// With [`graph::build_for_class`] as `join` says.
fn classes_of(ir: &Ir, model: &Model, graph: &Graph<'_>, of_none: &Printed, join: Join) -> Result<Option<Classes>, EmitError> {
    let Some(class_graph) = graph::build_for_class(ir, join, &|table| model.near(ir, table).is_some())? else { return Ok(None) };
    let starts_at_end =
        |s: &graph::Stage| s.site.is_none() && s.nodes.first().and_then(Vertex::node).is_some_and(|node| graph.is_end(node));
    let ends = (0..graph.stages.len()).filter(|s| starts_at_end(&graph.stages[*s]));
    let general = &General { graph, needs: ends.map(|s| (s, of_none.needs_from(s))).collect() };
    let mut tracks = vec![track(of_none, 0)];
    let mut tree = Tree::new(ir, model, &class_graph, general);
    tree.print()?;
    let (found, tree_text) = (tree.classes, tree.e.take());
    if found.is_empty() {
        return Ok(None);
    }
    let (mut text, mut classes, mut taken, mut moves) = (tree_text, Vec::new(), Shared::default(), BTreeSet::new());
    let records = model.action_params.tables.keys().copied().collect();
    let everything = Shared { vars: ir.vars.keys().collect(), records, valid: true, ..Shared::default() };
    for (i, (facts, consumed)) in found.iter().enumerate() {
        let first_stage = graph.stages.len() + i * class_graph.stages.len();
        let class = Class { number: i + 1, consumed: *consumed, first_stage, general };
        let shared = print(ir, model, &class_graph, everything.clone(), Some((class, facts)))?.shared;
        let printed = print(ir, model, &class_graph, shared.clone(), Some((class, facts)))?;
        if printed.failed.is_some() {
            return Ok(None);
        }
        tracks.push(track(&printed, first_stage));
        let name = |s: &StageId| {
            let look_up = class_graph.stages[*s].site.map(|site| class_graph.sites[site].table).and_then(|table| {
                let (stride, wait) = (key_stride(key_fields(ir, table).1), first_stage + s - graph.stages.len());
                let keyed = !ir.program.tables[table].keys.is_empty() && !ir.program.asks.iter().any(|ask| ask.table == table);
                let near = model.near(ir, table);
                let (table, stage) = (&model.tables[table.index()], first_stage + s);
                let text = format!("sp_look_up(run, TABLE_{table}, &run->wait[{wait}], {stride}, run->todo[{stage}]);");
                match near {
                    Some(Near::Always) => None,
                    Some(Near::WhileSmall) => Some(format!("if (!run->lane->tables[TABLE_{table}].small) {text}")),
                    None => keyed.then_some(text),
                }
            });
            (first_stage + s, format!("class_{}_{}", i + 1, function(&class_graph, model, *s)), look_up)
        };
        classes.push(OneClass { stages: printed.stages.iter().map(name).collect() });
        text.push_str(&printed.text);
        taken.extend(&shared);
        moves.extend(&printed.moves);
    }
    Ok(turns::plan(tracks).map(|plan| Classes { text: crate::alike::merge(&text), classes, shared: taken, moves, plan }))
}

/// Stages whose numbers among all begin at `first`.
pub(crate) fn track(printed: &Printed, first: StageId) -> Track {
    let stage = |s: &StageId| {
        let own = printed.edges.get(s).into_iter().flatten().map(|to| first + to);
        let left = printed.leaves.iter().filter(|(from, _)| from == s).map(|(_, to)| *to);
        turns::Stage {
            number: first + s,
            to: own.chain(left).collect(),
            uses: printed.ordered.get(s).into_iter().flatten().map(|what| (*what, 0)).collect(),
        }
    };
    Track { stages: printed.stages.iter().map(stage).collect() }
}

/// Number of all stages, those of classes included.
pub(crate) fn stage_count(graph: &Graph<'_>, classes: Option<&Classes>) -> usize {
    let last = classes.into_iter().flat_map(|c| &c.classes).flat_map(|c| &c.stages).map(|s| s.0 + 1);
    last.max().unwrap_or(0).max(graph.stages.len())
}

/// The function that runs all stages, of classes and of others.
pub(crate) fn entry(graph: &Graph<'_>, model: &Model, classes: &Classes) -> String {
    let mut out = String::from("\nstatic void sp_stages(struct sp_run *const run, const uint64_t all)\n{\n");
    let one = |out: &mut String, (number, name, look_up): &Staged| match look_up {
        None => drop(writeln!(out, "    if (run->todo[{number}]) {name}(run, run->todo[{number}]);")),
        Some(look_up) => {
            let _ = writeln!(out, "    if (run->todo[{number}]) {{\n        {look_up}");
            let _ = writeln!(out, "        {name}(run, run->todo[{number}]);\n    }}");
        }
    };
    let general: Vec<_> = (0..graph.stages.len()).map(|s| (s, function(graph, model, s), None)).collect();
    out.push_str("    uint64_t class[SP_CLASSES] = {0};\n");
    // Most bursts are of one class: a row of packets is added at once, and none waits for what the one before it has stored.
    out.push_str("    const struct sp_packet *const packets = run->packets;\n    uint8_t of[64];\n");
    out.push_str("    const uint32_t n = __builtin_popcountll(all);\n");
    out.push_str("    for (uint32_t i = 0; i < n; i++) of[i] = sp_class(&packets[i]);\n");
    out.push_str("    for (uint32_t i = 0, first; (first = i) < n;) {\n");
    out.push_str("        do i++; while (i < n && of[i] == of[first]);\n");
    out.push_str("        class[of[first]] |= ~0ull >> (64 - (i - first)) << first;\n    }\n");
    out.push_str("    for (uint32_t k = 0; k < SP_CLASSES; k++) {\n");
    out.push_str(
        "        __atomic_store_n(&run->of_class[k], run->of_class[k] + __builtin_popcountll(class[k]), __ATOMIC_RELAXED);\n    }\n",
    );
    out.push_str("    run->todo[0] = class[0];\n");
    for (i, class) in classes.classes.iter().enumerate() {
        let _ = writeln!(out, "    run->todo[{}] = class[{}];", class.stages[0].0, i + 1);
    }
    let all: BTreeMap<StageId, &Staged> = classes.classes.iter().flat_map(|c| &c.stages).chain(&general).map(|s| (s.0, s)).collect();
    for (k, phase) in classes.plan.phases.iter().enumerate() {
        let (of_none, of_classes) = phase.alone.split_at(1);
        if phase.general_first {
            of_none[0].iter().for_each(|s| one(&mut out, all[s]));
        }
        // Packets of a class come from its first stage only, so those of a class without packets need not be asked.
        for (i, stages) in of_classes.iter().enumerate().filter(|(_, stages)| !stages.is_empty()) {
            let mut text = String::new();
            stages.iter().for_each(|s| one(&mut text, all[s]));
            let text: String = text.lines().map(|l| format!("    {l}\n")).collect();
            let _ = write!(out, "    if (class[{}]) {{\n{text}    }}\n", i + 1);
        }
        if !phase.general_first {
            of_none[0].iter().for_each(|s| one(&mut out, all[s]));
        }
        let turns: Vec<_> = phase.turns.iter().map(|s| all[s]).collect();
        take_turns(&mut out, k, &turns);
    }
    out.push_str("}\n\n#define SP_SUB_BURST 64\n");
    out
}

/// A stage's number, the name of its function, and the look-up that comes first.
pub(crate) type Staged = (StageId, String, Option<String>);

/// Runs stages in the order of the packets that wait for them.
pub(crate) fn take_turns(out: &mut String, phase: usize, turns: &[&Staged]) {
    if turns.is_empty() {
        return;
    }
    let left = if phase == 0 { "left".to_owned() } else { format!("left_{phase}") };
    let _ = writeln!(out, "    /* In the order of packets. */\n    uint64_t {left} = 0;");
    for (s, _, look_up) in turns {
        let _ = writeln!(out, "    {left} |= run->todo[{s}];");
        if let Some(look_up) = look_up {
            let _ = writeln!(out, "    if (run->todo[{s}]) {look_up}");
        }
    }
    let _ = writeln!(out, "    while ({left}) {{\n        uint64_t turn = 0;");
    for (s, name, _) in turns {
        let _ = writeln!(out, "        turn = sp_turn({left}, run->todo[{s}]);");
        let _ = writeln!(out, "        if (turn) {name}(run, turn);");
        let _ = writeln!(out, "        {left} &= ~turn;");
    }
    out.push_str("    }\n");
}

/// What a field's bits are compared with.
struct Compared {
    width: u32,
    value: u128,
    mask: u128,
}

/// The parser as a tree.
struct Tree<'a> {
    e: Emitter<'a>,
    /// States from which a likely one can be reached.
    leads: BTreeSet<StateId>,
    /// What is known of each class, and what its parser consumes.
    classes: Vec<(Facts, u32)>,
    size: usize,
}

impl<'a> Tree<'a> {
    fn new(ir: &'a Ir, model: &'a Model, graph: &'a Graph<'a>, general: &'a General<'a>) -> Tree<'a> {
        let mut e = Emitter::new(ir, model, graph, Shared::default());
        e.class = Some(Class { number: 0, consumed: 0, first_stage: 0, general });
        let mut facts = Facts { ways: BTreeSet::from([Way::new()]), ..Facts::default() };
        for v in ir.vars.keys() {
            let known = match &model.kinds[v.index()] {
                Kind::Fixed(text) => Known::Text(text.clone(), BTreeSet::new()),
                _ => Known::Const(0),
            };
            facts.values.insert(v, known);
        }
        for (name, text, have) in crate::stages::RECEIVED {
            if let Some(v) = ir.intrinsic.standard.get(*name)
                && model.kinds[v.index()] == Kind::Plain
            {
                let width = ir.vars[*v].ty.width();
                let text = crate::expr::convert(&format!("({}){text}", crate::emitter::local_type(*have)), *have, width);
                facts.values.insert(*v, Known::Text(text, BTreeSet::new()));
            }
        }
        e.flow = Some(Flow { facts: Some(facts), ..Flow::default() });
        let mut before: BTreeMap<StateId, Vec<StateId>> = BTreeMap::new();
        for (id, state) in &ir.states {
            for next in nexts(&state.next) {
                if let Next::State(s) = next {
                    before.entry(s).or_default().push(id);
                }
            }
        }
        let mut leads = BTreeSet::new();
        let mut todo: Vec<StateId> = ir.states.iter().filter(|(_, s)| s.likely == Some(true)).map(|(id, _)| id).collect();
        while let Some(id) = todo.pop() {
            if ir.states[id].likely != Some(false) && leads.insert(id) {
                todo.extend(before.get(&id).into_iter().flatten());
            }
        }
        Tree { e, leads, classes: Vec::new(), size: 0 }
    }

    fn print(&mut self) -> Result<(), EmitError> {
        self.e.line("/* The class of a packet; 0: none. */");
        self.e.line("static inline uint32_t sp_class(const struct sp_packet *const pk)");
        self.e.line("{");
        let outer = self.e.take();
        self.e.line("    const uint8_t *const p = pk->buffer + pk->start;");
        self.e.line(format!("    if (pk->length > {MAX_PACKET}) return 0;"));
        let top = self.e.take();
        let start = self.e.ir.parser().start;
        if self.e.ir.parser().init.iter().any(|s| !self.plain(s)) {
            return Ok(());
        }
        let mut cursor = 0;
        for stmt in &self.e.ir.parser().init {
            self.stmt(stmt, &mut cursor)?;
        }
        if let Some(start) = start {
            self.state(start, cursor, &mut Vec::new())?;
        }
        let body = self.e.take();
        let mut text = outer + &top;
        for line in body.lines() {
            let _ = writeln!(text, "    {line}");
        }
        text.push_str("}\n");
        self.e.append(&text);
        Ok(())
    }

    fn none(&mut self) {
        self.e.line("return 0;");
        self.e.flow = None;
    }

    /// As [`Tree::state`].
    fn go(&mut self, next: Next, from: StateId, cursor: u32, path: &mut Vec<StateId>) -> Result<bool, EmitError> {
        match next {
            Next::State(s) => self.state(s, cursor, path),
            Next::Accept if self.e.ir.states[from].likely == Some(true) => Ok(self.leaf(cursor)),
            Next::Accept | Next::Reject => {
                self.none();
                Ok(false)
            }
        }
    }

    /// Code from a state on, up to a `return` on every way; `false` if that is `return 0;` on all, and there is no other code.
    fn state(&mut self, id: StateId, cursor: u32, path: &mut Vec<StateId>) -> Result<bool, EmitError> {
        let state = &self.e.ir.states[id];
        self.size += 1;
        if path.contains(&id) || !self.leads.contains(&id) || self.size > MAX_TREE || !state.body.iter().all(|s| self.plain(s)) {
            self.none();
            return Ok(false);
        }
        path.push(id);
        let outer = self.e.take();
        let found = self.behind(id, cursor, path)?;
        let text = self.e.take();
        self.e.append(&outer);
        if found {
            self.e.append(&text);
        } else {
            self.none();
        }
        path.pop();
        Ok(found)
    }

    /// A state's statements, and what comes behind it.
    fn behind(&mut self, id: StateId, mut cursor: u32, path: &mut Vec<StateId>) -> Result<bool, EmitError> {
        let state = &self.e.ir.states[id];
        for stmt in &state.body {
            if !self.stmt(stmt, &mut cursor)? {
                return Ok(false);
            }
        }
        match &state.next {
            Transition::Goto(next) => self.go(*next, id, cursor, path),
            Transition::Select { keys, cases } => self.select(id, keys, cases, cursor, path),
        }
    }

    /// Whether a statement is one of those that [`Tree::stmt`] takes.
    fn plain(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None } => {
                self.e.ir.headers[*h].union.is_none() && self.e.model.varbit_len[h.index()] == 0
            }
            Stmt::Assign(LValue::Var(_), _) | Stmt::Lookahead(LValue::Var(_), _) | Stmt::Verify(..) => true,
            Stmt::Extern(Extern::Log(..) | Extern::Assert(..)) => true,
            _ => false,
        }
    }

    /// A statement; `false` if its packets are of no class.
    fn stmt(&mut self, stmt: &Stmt, cursor: &mut u32) -> Result<bool, EmitError> {
        match stmt {
            Stmt::Extract { header: HeaderRef::Static(h), .. } => {
                let len = self.e.model.fixed_len[h.index()];
                if self.e.known_valid(*h) != Some(false) || self.e.model.homes[h.index()] == Home::Nowhere {
                    return Ok(false);
                }
                self.has(*cursor + len);
                if let Some(facts) = self.e.facts_mut() {
                    facts.set_valid(*h, Some(Place::Packet(*cursor)));
                }
                *cursor += len;
            }
            Stmt::Assign(LValue::Var(v), e) => {
                let text = self.e.expr(e)?;
                let known = self.e.facts().and_then(|f| f.known(e, &text));
                let fits = known.is_some();
                self.e.note_value(*v, known);
                return Ok(fits);
            }
            Stmt::Lookahead(LValue::Var(v), skip) => {
                let width = self.e.ir.vars[*v].ty.width();
                let bytes = width.div_ceil(8);
                self.has(*cursor + skip + bytes);
                let text = load(&crate::field::plus("p", *cursor + skip), bytes, 0, width);
                self.e.note_value(*v, Some(Known::Text(text, BTreeSet::from([HeaderId::new(ANY_HEADER)]))));
            }
            Stmt::Verify(condition, _) => {
                let text = self.e.expr(condition)?;
                match &text[..] {
                    "1" => {}
                    "0" => return Ok(false),
                    _ => {
                        self.e.line(format!("if (!{}) return 0;", paren(&text)));
                        self.e.assume(condition, true);
                    }
                }
            }
            _ => {}
        }
        Ok(true)
    }

    /// From here on the packet has so many bytes.
    fn has(&mut self, bytes: u32) {
        if self.e.facts().is_some_and(|f| f.length < bytes) {
            self.e.line(format!("if (pk->length < {bytes}) return 0;"));
            if let Some(facts) = self.e.facts_mut() {
                facts.length = bytes;
            }
        }
    }

    fn select(
        &mut self,
        id: StateId,
        keys: &[Expr],
        cases: &[SelectCase],
        cursor: u32,
        path: &mut Vec<StateId>,
    ) -> Result<bool, EmitError> {
        if cases.iter().any(|c| c.sets.iter().any(|s| matches!(s, KeySet::ValueSet(_)))) {
            // Its members come and go.
            return Ok(false);
        }
        let outer = self.e.take();
        // Up to the last case that leads to a class: all behind it lead to none, as what no case is for does.
        let (mut kept, mut found) = (outer, false);
        let mut at = 0;
        while at < cases.len() {
            // Cases that lead to the same place are tested together.
            let same = cases[at..].iter().take_while(|c| c.next == cases[at].next).count();
            let together = &cases[at..at + same];
            at += same;
            let mut tests = Vec::new();
            for case in together {
                tests.push(self.test(keys, case)?);
            }
            if tests.iter().any(|t| t == "1") {
                if let [case] = together {
                    self.learn(keys, case);
                }
                if self.go(together[0].next, id, cursor, path)? {
                    kept.push_str(&self.e.take());
                    self.e.append(&kept);
                    return Ok(true);
                }
                break;
            }
            tests.retain(|t| t != "0");
            if tests.is_empty() {
                continue;
            }
            let before = self.e.fork();
            self.e.open(format!("if {}", head(&format!("({})", tests.join(" || ")))));
            if let [case] = together {
                self.learn(keys, case);
            }
            let leads = self.go(together[0].next, id, cursor, path)?;
            self.e.close();
            self.e.flow = before;
            if leads {
                kept.push_str(&self.e.take());
                found = true;
            }
        }
        self.e.take();
        self.e.append(&kept);
        self.none();
        Ok(found)
    }

    /// C text of whether a case is taken; `0` or `1` if that is known.
    fn test(&mut self, keys: &[Expr], case: &SelectCase) -> Result<String, EmitError> {
        let mut tests = Vec::new();
        let mut bits: BTreeMap<HeaderId, BTreeMap<u32, (Compared, String)>> = BTreeMap::new();
        for (key, set) in keys.iter().zip(&case.sets) {
            let width = key.ty.width();
            if let Some(value) = self.e.facts().and_then(|f| f.evaluate(key)) {
                let inside = match set {
                    KeySet::Any => true,
                    KeySet::Value { value: v, mask } => (value ^ v.value()) & mask.value() == 0,
                    KeySet::Range { low, high } => (low.value()..=high.value()).contains(&value),
                    KeySet::ValueSet(_) => false,
                };
                if !inside {
                    return Ok("0".into());
                }
                continue;
            }
            let text = paren(&self.e.expr(key)?);
            match crate::parser::test(set, &text, width) {
                None => {}
                Some(t) if t == "0" => return Ok(t),
                Some(t) => {
                    let of_header =
                        self.compared(key, set).map(|(h, offset, compared)| (bits.entry(h).or_default().entry(offset), compared));
                    match of_header {
                        Some((Entry::Vacant(entry), compared)) => drop(entry.insert((compared, t))),
                        // A key that is given twice is tested twice.
                        _ => tests.push(t),
                    }
                }
            }
        }
        for (header, fields) in bits {
            tests.extend(self.compare_bits(header, fields));
        }
        Ok(match &tests[..] {
            [] => "1".into(),
            [one] => format!("({one})"),
            _ => format!("({})", tests.iter().map(|t| format!("({t})")).collect::<Vec<_>>().join(" && ")),
        })
    }

    /// Of a key that is a field in the packet, and a set that is a value under a mask: the header, the field's first bit, and its width, value and mask.
    fn compared(&self, key: &Expr, set: &KeySet) -> Option<(HeaderId, u32, Compared)> {
        let (ExprKind::Field(HeaderRef::Static(h), index), KeySet::Value { value, mask }) = (&key.kind, set) else { return None };
        let facts = self.e.facts()?;
        let in_packet = facts.valid(*h) == Some(true) && matches!(facts.place(*h), Ok(Some(Place::Packet(_))));
        let field = &self.e.ir.header_types[self.e.ir.headers[*h].ty].fields[*index as usize];
        let compared = Compared { width: field.ty.width(), value: value.value() & mask.value(), mask: mask.value() };
        (in_packet && !field.varbit).then_some((*h, field.offset_bits, compared))
    }

    /// Tests of fields of a header, those near each other in one load. With each field comes a test of it alone.
    fn compare_bits(&mut self, h: HeaderId, fields: BTreeMap<u32, (Compared, String)>) -> Vec<String> {
        let (at, len) = (self.e.address(h), self.e.model.fixed_len[h.index()]);
        let mut fields: Vec<_> = fields.into_iter().collect();
        let mut tests = Vec::new();
        while let Some((first, (of, _))) = fields.first() {
            let near = |end: u32| crate::field::window(len, *first, end - first).filter(|(_, size)| *size <= 8);
            let ends = fields.iter().map(|(offset, (of, _))| offset + of.width);
            let together = ends.take_while(|end| near(*end).is_some()).count().max(1);
            let (last, (of_last, _)) = &fields[together - 1];
            let window = near(last + of_last.width).filter(|_| together > 1 && of.width <= 64);
            let group = fields.drain(..together).collect::<Vec<_>>();
            let Some((start, size)) = window else {
                tests.extend(group.into_iter().map(|(_, (_, test))| test));
                continue;
            };
            let (mut value, mut mask) = (0, 0);
            for (offset, (of, _)) in group {
                let shift = 8 * (start + size) - offset - of.width;
                value |= of.value << shift;
                mask |= of.mask << shift;
            }
            let word = load(&at, len, 8 * start, 8 * size);
            let word = if mask == p4_ir::Bits::mask(8 * size) { word } else { format!("({word} & {})", constant(8 * size, mask)) };
            tests.push(format!("{word} == {}", constant(8 * size, value)));
        }
        tests
    }

    /// Notes what a case being taken says of the keys.
    fn learn(&mut self, keys: &[Expr], case: &SelectCase) {
        for (key, set) in keys.iter().zip(&case.sets) {
            if let (KeySet::Value { value, mask }, Some(facts)) = (set, self.e.facts_mut())
                && mask.value() == p4_ir::Bits::mask(key.ty.width())
            {
                facts.assume_equal(key, value.value());
            }
        }
    }

    /// A way through the parser ends: the packet's class is known. `false` if it is none.
    fn leaf(&mut self, consumed: u32) -> bool {
        let Some(mut facts) = self.e.flow.take().and_then(|f| f.facts) else { return false };
        let headers: BTreeSet<HeaderId> = facts.ways.iter().flat_map(|w| w.keys().copied()).collect();
        for known in facts.values.values_mut() {
            if let Known::Text(_, of) = known
                && of.contains(&HeaderId::new(ANY_HEADER))
            {
                of.clone_from(&headers);
            }
        }
        let alike = |(other, bytes): &(Facts, u32)| *bytes == consumed && other.ways == facts.ways && other.values == facts.values;
        let class = match self.classes.iter().position(alike) {
            Some(class) => {
                self.classes[class].0.meet(&facts);
                class + 1
            }
            None if self.classes.len() < MAX_CLASSES => {
                self.classes.push((facts, consumed));
                self.classes.len()
            }
            None => 0,
        };
        self.e.line(format!("return {class};"));
        class > 0
    }
}

fn nexts(transition: &Transition) -> Vec<Next> {
    match transition {
        Transition::Goto(next) => vec![*next],
        Transition::Select { cases, .. } => cases.iter().map(|c| c.next).collect(),
    }
}

impl Emitter<'_> {
    /// Number of a stage among those of all classes.
    pub(crate) fn stage_number(&self, stage: StageId) -> StageId {
        self.class.map_or(0, |c| c.first_stage) + stage
    }

    /// What the names of a class's functions begin with.
    pub(crate) fn prefix(&self) -> String {
        self.class.map_or(String::new(), |c| format!("class_{}_", c.number))
    }

    /// Puts into the context what later stages of a class take from there.
    pub(crate) fn begin_class(&mut self, flow: &Flow) {
        let Some(facts) = flow.facts.as_ref().filter(|_| self.class.is_some()) else { return };
        let (vars, records) = (self.shared.vars.clone(), self.shared.records.clone());
        self.begin_records(&records);
        if self.model.truncates {
            self.line("c->keep = 0xffffffffu;");
        }
        // A stage that changes no validity does not put it there, and a later one that takes it may come next.
        for w in 0..if self.shared.valid { self.model.valid_words } else { 0 } {
            let bits = facts.ways.first().map_or(0, |way| valid_bits(way, w));
            self.line(format!("c->{} = {bits:#x}ull;", valid_word(self.model, w)));
        }
        for v in vars {
            let name = &self.model.vars[v.index()];
            let text = match facts.values.get(&v) {
                Some(Known::Const(value)) => crate::field::constant(self.ir.vars[v].ty.width(), *value),
                Some(Known::Text(text, _)) => text.clone(),
                None => continue,
            };
            self.line(format!("c->v.{name} = {text};"));
        }
    }

    /// At the end of ingress or egress: drops a packet that is to be dropped, and hands one that is to be punted or buffered on to the
    /// general stages. Says whether it has.
    pub(crate) fn leave_class(&mut self, vertex: Vertex) -> Result<bool, EmitError> {
        let (Vertex::Node(node), Some(class)) = (vertex, self.class) else { return Ok(false) };
        if !self.graph.is_end(node) {
            return Ok(false);
        }
        let Some(spec) = self.ir.intrinsic.standard.get("egress_spec") else { return Ok(false) };
        match self.facts().and_then(|f| f.values.get(spec)) {
            Some(Known::Const(511)) => {
                let reason = self.reason();
                self.drop_packet(&reason);
                Ok(true)
            }
            Some(Known::Const(509 | 510)) => {
                let starts = |s: &graph::Stage| s.site.is_none() && s.nodes.first() == Some(&Vertex::Node(node));
                let Some(stage) = class.general.graph.stages.iter().position(starts) else { return Ok(false) };
                self.hand_on(stage, class)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The functions that [`Emitter::hand_on`] calls.
    pub(crate) fn leaving_functions(&self) -> String {
        let mut out = String::new();
        for (number, body) in self.leaving.iter().enumerate() {
            let head = format!("{}leave_{number}(struct sp_context *const c, uint8_t *const p)", self.prefix());
            let _ = write!(out, "\nstatic __attribute__((noinline, cold)) void {head}\n{{\n{body}}}\n");
        }
        out
    }

    /// Puts all that a general stage needs into the context, and hands the packet on to it.
    fn hand_on(&mut self, stage: StageId, class: Class<'_>) -> Result<(), EmitError> {
        self.settle_fields();
        let needs = class.general.needs.get(&stage).cloned().unwrap_or_default();
        let mut known = format!("    c->payload = p + {};\n", class.consumed);
        for h in needs.pointers {
            let name = self.model.pointer(h);
            match self.known_valid(h) {
                Some(true) => drop(writeln!(known, "    c->{name} = {};", self.address(h))),
                Some(false) => drop(writeln!(known, "    c->{name} = sp_nothing;")),
                None => {
                    let text = format!("{} ? {} : sp_nothing", self.is_valid(h), self.address(h));
                    self.line(format!("c->{name} = {text};"));
                }
            }
        }
        for h in needs.lengths {
            let _ = writeln!(known, "    c->{} = 0;", self.model.length(h));
        }
        let number = self.leaving.iter().position(|body| *body == known).unwrap_or(self.leaving.len());
        if number == self.leaving.len() {
            self.leaving.push(known);
        }
        self.line(format!("{}leave_{number}(c, p);", self.prefix()));
        self.keep_valid();
        for action in needs.records {
            self.scope_record(action);
            let name = &self.model.actions[action.index()];
            self.line(format!("c->rule_{name} = rule_{name};"));
        }
        for v in needs.vars {
            let (name, text) = (&self.model.vars[v.index()], self.read_var(v));
            if text != *name || !self.shared.vars.contains(&v) {
                self.line(format!("c->v.{name} = {text};"));
            }
        }
        self.leaves_to.insert(stage);
        self.leaves.insert((self.stage, stage));
        self.line(format!("to_{stage} |= bit;"));
        self.done();
        Ok(())
    }
}
