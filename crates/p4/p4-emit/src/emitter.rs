//! The text as it grows: lines and indentation, jumps, and what is known at the place that is being printed.
//!
//! Code of one packet in one stage is a *scope*: the variables it uses are C locals, loaded from the packet's context
//! at its top where an earlier stage may have set them, and written through. Which variables must be in the context
//! is found by printing everything twice: the first time with all of them there.

use crate::EmitError;
use crate::class::Class;
use crate::facts::{Facts, Known, Place, Way, valid_bits};
use crate::graph::{Graph, NodeId, Rest, SiteId, StageId, Vertex};
use crate::model::{Home, Kind, Model, Near};
use cranelift_entity::EntityRef;
use p4_analysis::effects::Ordered;
use p4_ir::{ActionId, CounterId, HeaderId, Ir, LabelId, MeterId, RegisterId, StackId, StateId, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a packet takes from stage to stage in its context.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Shared {
    /// Variables.
    pub vars: BTreeSet<VarId>,
    /// Headers' pointers.
    pub pointers: BTreeSet<HeaderId>,
    /// Lengths of headers' varbit fields.
    pub lengths: BTreeSet<HeaderId>,
    /// Next indices of stacks.
    pub nexts: BTreeSet<StackId>,
    /// Records whose parameters are read later, by the action that found them.
    pub records: BTreeSet<ActionId>,
    /// Which headers are valid. Packets of no class always take it along.
    pub valid: bool,
}

/// Packets of a near table that have another action than the usual one, with what is known of them.
pub(crate) struct Others {
    /// Where the table is applied.
    pub site: SiteId,
    /// What is known of all of them.
    pub flow: Flow,
}

/// An array of cells, which a function reads once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cells {
    /// A counter's.
    Counter(CounterId),
    /// A meter's.
    Meter(MeterId),
    /// A register's.
    Register(RegisterId),
}

/// What is known where the text stands.
#[derive(Clone, Default, Debug)]
pub(crate) struct Flow {
    /// Variables that have been assigned in this scope.
    pub assigned: BTreeSet<VarId>,
    /// Headers that are surely valid (`true`) or invalid.
    pub valid: BTreeMap<HeaderId, bool>,
    /// What is known besides, of packets of a class.
    pub facts: Option<Facts>,
}

impl Flow {
    /// What is known where two ways meet.
    pub(crate) fn meet(&mut self, other: &Flow) {
        match (&mut self.facts, &other.facts) {
            (Some(facts), Some(others)) => facts.meet(others),
            (facts, _) => *facts = None,
        }
        self.assigned.retain(|v| other.assigned.contains(v));
        self.valid.retain(|h, valid| other.valid.get(h) == Some(valid));
    }
}

/// Meets `flow` into `at`, which had none before if it is `None`.
pub(crate) fn arrive(at: &mut Option<Flow>, flow: Option<Flow>) {
    match (at.as_mut(), flow) {
        (Some(known), Some(flow)) => known.meet(&flow),
        (None, flow) => *at = flow,
        (_, None) => {}
    }
}

/// What a scope has used so far.
#[derive(Default)]
struct Scope {
    first: bool,
    vars: BTreeSet<VarId>,
    loads: BTreeSet<VarId>,
    pointers: BTreeSet<HeaderId>,
    pointers_set: BTreeSet<HeaderId>,
    /// Stacks whose elements' pointers are in the context.
    arrays: BTreeSet<StackId>,
    lengths: BTreeSet<HeaderId>,
    lengths_set: BTreeSet<HeaderId>,
    nexts: BTreeSet<StackId>,
    nexts_set: BTreeSet<StackId>,
    records: BTreeSet<ActionId>,
    /// Headers whose fields are locals.
    fields: BTreeSet<HeaderId>,
    valid: bool,
    valid_set: bool,
    payload: bool,
    end: bool,
}

/// The printer.
pub(crate) struct Emitter<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// Names and the like.
    pub model: &'a Model,
    /// Its stages.
    pub graph: &'a Graph<'a>,
    /// What the pass before found to be shared between scopes.
    pub shared: Shared,
    /// What this pass finds.
    pub found: Shared,
    /// What is known here; `None` where nothing comes.
    pub flow: Option<Flow>,
    /// Active labels of structured code: name, C label, what arrives there.
    pub labels: Vec<(LabelId, String, Option<Flow>)>,
    /// Where `exit` and the labels of cut blocks lead.
    pub targets: crate::graph::Targets,
    /// What arrives at nodes and sites.
    pub arrivals: HashMap<Vertex, Flow>,
    /// The stage that is being printed.
    pub stage: StageId,
    /// The stages that it passes packets to.
    pub passes_to: BTreeSet<StageId>,
    /// Nodes and near look-ups that are jumped to.
    pub jumped: BTreeSet<Vertex>,
    /// Byte lengths for which a move function is wanted.
    pub moves: BTreeSet<u32>,
    /// What is known at parser states that have been jumped to.
    pub states: BTreeMap<StateId, Flow>,
    /// What is known behind the parser, while it is being printed.
    pub parsed: Option<Option<Flow>>,
    /// A table's record is at hand, in an action: its number.
    pub in_table: Option<p4_ir::TableId>,
    /// The class whose packets the text is for.
    pub class: Option<Class<'a>>,
    /// Why the text cannot be for that class alone.
    pub failed: Option<&'static str>,
    /// What stages use whose effects depend on the order of packets.
    pub ordered: BTreeMap<StageId, BTreeSet<Ordered>>,
    /// Stages for packets of no class that this stage passes packets to.
    pub leaves_to: BTreeSet<StageId>,
    /// The stages of a class that packets wait for, and the words of their keys.
    pub waits: BTreeMap<StageId, usize>,
    /// Tables that this stage passes over if they are empty.
    pub skips: BTreeSet<p4_ir::TableId>,
    /// Near tables that this function looks up: the words of their keys, and whether it counts.
    pub nears: BTreeMap<p4_ir::TableId, (usize, bool)>,
    /// Tables of which it asks whether they are near now.
    pub smalls: BTreeSet<p4_ir::TableId>,
    /// What follows, the innermost last.
    pub rest: Vec<Rest<'a>>,
    /// Duplicated tails of this function.
    pub tails: usize,
    /// Depth of duplicated tails, one within another, where the text stands.
    pub inside_tails: usize,
    /// Arrays of cells that this function uses.
    pub cells: BTreeSet<Cells>,
    /// Packets that it hands to functions of their own.
    pub others: Vec<Others>,
    /// The near look-up for whose other actions this function is.
    pub others_of: Option<SiteId>,
    /// The only action for which this function of the stage is; another one is for all others.
    pub usual: Option<ActionId>,
    /// The action for which this function of the stage is not, as one of its own is.
    pub not_usual: Option<ActionId>,
    /// Bodies of functions that put what general stages need into the context: many places of a class leave it alike.
    pub leaving: Vec<String>,
    /// All of them, each behind the stage that it comes from.
    pub leaves: BTreeSet<(StageId, StageId)>,
    /// The stages that the one being printed passes packets to.
    pub edges: BTreeSet<StageId>,
    /// What each stage takes from the context.
    pub needs: BTreeMap<StageId, Shared>,
    /// What is known where the scope begins.
    pub entry: Option<Facts>,
    scope: Scope,
    text: String,
    indent: usize,
    number: u32,
    ends: bool,
}

impl<'a> Emitter<'a> {
    /// An empty one.
    pub(crate) fn new(ir: &'a Ir, model: &'a Model, graph: &'a Graph<'a>, shared: Shared) -> Emitter<'a> {
        Emitter {
            ir,
            model,
            graph,
            shared,
            found: Shared::default(),
            flow: None,
            labels: Vec::new(),
            targets: Default::default(),
            arrivals: HashMap::new(),
            stage: 0,
            passes_to: BTreeSet::new(),
            jumped: BTreeSet::new(),
            moves: BTreeSet::new(),
            states: BTreeMap::new(),
            parsed: None,
            in_table: None,
            class: None,
            failed: None,
            ordered: BTreeMap::new(),
            leaves_to: BTreeSet::new(),
            waits: BTreeMap::new(),
            skips: BTreeSet::new(),
            nears: BTreeMap::new(),
            smalls: BTreeSet::new(),
            rest: Vec::new(),
            tails: 0,
            inside_tails: 0,
            cells: BTreeSet::new(),
            others: Vec::new(),
            others_of: None,
            usual: None,
            not_usual: None,
            leaving: Vec::new(),
            leaves: BTreeSet::new(),
            edges: BTreeSet::new(),
            needs: BTreeMap::new(),
            entry: None,
            scope: Scope::default(),
            text: String::new(),
            indent: 0,
            number: 0,
            ends: false,
        }
    }

    /// A line of text.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        if self.facts().is_some_and(|f| f.overflow) {
            self.failed = Some("too many combinations of valid headers");
        }
        if !text.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.indent));
            self.text.push_str(text);
        }
        self.text.push('\n');
    }

    /// A C label.
    pub(crate) fn label(&mut self, name: &str) {
        let indent = std::mem::replace(&mut self.indent, 1);
        self.line(format!("{name}:;"));
        self.indent = indent;
    }

    /// `text {`.
    pub(crate) fn open(&mut self, text: impl AsRef<str>) {
        self.line(format!("{} {{", text.as_ref()).trim_start());
        self.indent += 1;
    }

    /// `}`.
    pub(crate) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// `} else {`.
    pub(crate) fn or_else(&mut self) {
        self.indent -= 1;
        self.line("} else {");
        self.indent += 1;
    }

    /// Prints `each` further to the right.
    pub(crate) fn indented(&mut self, each: impl FnOnce(&mut Self)) {
        self.indent += 1;
        each(self);
        self.indent -= 1;
    }

    /// `} else text {`.
    pub(crate) fn indent_else(&mut self, text: &str) {
        self.indent -= 1;
        self.line(format!("}} else {text} {{"));
        self.indent += 1;
    }

    /// C text of an array of cells.
    pub(crate) fn cells(&mut self, of: Cells) -> String {
        self.cells.insert(of);
        let (_, kind, name) = self.array(of);
        format!("{kind}_{name}")
    }

    /// C type of an array of cells, and its kind and name.
    fn array(&self, of: Cells) -> (&'static str, &'static str, &'a str) {
        match of {
            Cells::Counter(c) => ("sp_counter", "counter", &self.model.counters[c.index()]),
            Cells::Meter(m) => ("sp_meters", "meter", &self.model.meters[m.index()]),
            Cells::Register(r) => ("sp_register", "register", &self.model.registers[r.index()]),
        }
    }

    /// What a function begins with for the arrays of cells that it uses.
    pub(crate) fn begin_cells(&mut self) -> Vec<String> {
        let arrays = std::mem::take(&mut self.cells).into_iter().map(|of| self.array(of));
        let declare = |(ty, kind, name): (&str, &str, &str)| {
            format!("const struct {ty} {kind}_{name} = run->lane->{kind}s[{}_{name}];", kind.to_uppercase())
        };
        arrays.map(declare).collect()
    }

    /// Says that the stage uses this.
    pub(crate) fn uses(&mut self, what: Ordered) {
        self.ordered.entry(self.stage).or_default().insert(what);
    }

    /// A number for a name.
    pub(crate) fn unique(&mut self) -> u32 {
        self.number += 1;
        self.number
    }

    /// The text without jumps to the next line, and labels that no jump leads to.
    pub(crate) fn tidy(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let target = |line: &str| line.trim_start().strip_prefix("goto ").and_then(|l| l.strip_suffix(';').map(str::to_owned));
        let label = |line: &str| line.trim_start().strip_suffix(":;").map(str::to_owned);
        let keep: Vec<&str> = (0..lines.len())
            .filter(|i| {
                let Some(to) = target(lines[*i]) else { return true };
                !lines[i + 1..].iter().map_while(|l| label(l)).any(|l| l == to)
            })
            .map(|i| lines[i])
            .collect();
        let used: BTreeSet<String> = keep.iter().filter_map(|l| target(l)).collect();
        let mut out = String::new();
        for line in keep.into_iter().filter(|l| label(l).is_none_or(|l| used.contains(&l))) {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// Text that exists already.
    pub(crate) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Goes on behind text that was taken away, with what has been printed since. That text may be long, and is not copied.
    pub(crate) fn append_to(&mut self, before: String) {
        let text = std::mem::replace(&mut self.text, before);
        self.text.push_str(&text);
    }

    /// Puts the validity of headers into the context.
    pub(crate) fn keep_valid(&mut self) {
        self.scope.valid = true;
        for w in 0..self.model.valid_words {
            let name = valid_word(self.model, w);
            self.line(format!("c->{name} = {name};"));
        }
    }

    /// C text of whether exactly the headers of a way are valid.
    pub(crate) fn is_way(&mut self, way: &Way) -> String {
        self.scope.valid = true;
        let words = (0..self.model.valid_words).map(|w| format!("{} == {:#x}ull", valid_word(self.model, w), valid_bits(way, w)));
        words.collect::<Vec<_>>().join(" && ")
    }

    /// Takes the text away.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// What the context begins with, as far as the variables beside it do not tell: no header is valid.
    pub(crate) fn begin_context(&mut self) {
        let Shared { pointers, lengths, nexts, vars, records, valid: _ } = self.shared.clone();
        self.begin_records(&records);
        for h in pointers {
            let name = self.model.pointer(h);
            self.line(format!("c->{name} = sp_nothing;"));
        }
        for h in lengths {
            let name = self.model.length(h);
            self.line(format!("c->{name} = 0;"));
        }
        for s in nexts {
            let name = &self.model.stacks[s.index()];
            self.line(format!("c->next_{name} = 0;"));
        }
        if !vars.is_empty() {
            self.line("__builtin_memset(&c->v, 0, sizeof c->v);");
        }
    }

    /// No action's parameters stand for variables.
    pub(crate) fn begin_records(&mut self, records: &BTreeSet<ActionId>) {
        for action in records {
            let name = &self.model.actions[action.index()];
            self.line(format!("c->rule_{name} = &sp_zero_{name};"));
        }
    }

    /// Notes that the code reads or writes a pointer to an action's record.
    pub(crate) fn scope_record(&mut self, action: ActionId) {
        self.scope.records.insert(action);
    }

    /// Begins the code of a packet in a stage; ended by [`Emitter::end_scope`].
    pub(crate) fn begin_scope(&mut self, first: bool, flow: Flow) -> String {
        self.scope = Scope { first, ..Scope::default() };
        self.ends = false;
        self.entry.clone_from(&flow.facts);
        self.flow = Some(Flow { assigned: BTreeSet::new(), ..flow });
        self.take()
    }

    /// Puts the scope's declarations before, and what it leaves behind after, its text. `outer` is what
    /// [`Emitter::begin_scope`] gave.
    pub(crate) fn end_scope(&mut self, outer: String) {
        let body = std::mem::replace(&mut self.text, outer);
        let scope = std::mem::take(&mut self.scope);
        let model = self.model;
        let entry = self.entry.take();
        let loads = scope.loads.iter().copied().filter(|v| entry.as_ref().is_none_or(|f| !f.values.contains_key(v)));
        let mut takes = Shared { vars: loads.collect(), ..Shared::default() };
        let in_arrays: BTreeSet<HeaderId> = scope.arrays.iter().flat_map(|s| self.ir.stacks[*s].elements.iter().copied()).collect();
        self.found.pointers.extend(&in_arrays);
        self.needs.entry(self.stage).or_default().pointers.extend(in_arrays);
        if !scope.first {
            takes.pointers.clone_from(&scope.pointers);
            takes.lengths.clone_from(&scope.lengths);
            takes.nexts.clone_from(&scope.nexts);
            takes.records.clone_from(&scope.records);
            takes.valid = scope.valid && entry.as_ref().is_none_or(|f| f.ways.len() > 1);
            self.found.extend(&takes);
            self.needs.entry(self.stage).or_default().extend(&takes);
        }
        if scope.valid {
            for w in 0..model.valid_words {
                let name = valid_word(model, w);
                let known = entry.as_ref().filter(|f| f.ways.len() == 1).and_then(|f| f.ways.first());
                let from = match known {
                    Some(way) => format!("{:#x}", valid_bits(way, w)),
                    None if scope.first => "0".into(),
                    None => format!("c->{name}"),
                };
                self.line(format!("uint64_t {name} = {from};"));
            }
        }
        for h in scope.pointers.union(&scope.pointers_set).copied().collect::<BTreeSet<_>>() {
            let name = model.pointer(h);
            let kept = !scope.first && self.shared.pointers.contains(&h);
            let from = if kept { format!("c->{name}") } else { "sp_nothing".into() };
            self.line(format!("uint8_t *{name} = {from};"));
        }
        for h in scope.lengths.union(&scope.lengths_set).copied().collect::<BTreeSet<_>>() {
            let name = model.length(h);
            let kept = !scope.first && self.shared.lengths.contains(&h);
            let from = if kept { format!("c->{name}") } else { "0".into() };
            self.line(format!("uint32_t {name} = {from};"));
        }
        for s in scope.nexts.union(&scope.nexts_set).copied().collect::<BTreeSet<_>>() {
            let name = format!("next_{}", model.stacks[s.index()]);
            let kept = !scope.first && self.shared.nexts.contains(&s);
            let from = if kept { format!("c->{name}") } else { "0".into() };
            self.line(format!("uint32_t {name} = {from};"));
        }
        for action in &scope.records {
            let (name, table) = (&model.actions[action.index()], model.action_params.tables[action]);
            let kept = !scope.first && self.shared.records.contains(action);
            let from = if kept { format!("c->rule_{name}") } else { format!("&sp_zero_{name}") };
            self.line(format!("const struct record_{} *rule_{name} = {from};", model.tables[table.index()]));
            if kept && self.asks_again(*action) {
                self.prefetch_ahead(*action);
            }
        }
        for v in &scope.vars {
            let name = &model.vars[v.index()];
            let width = self.ir.vars[*v].ty.width();
            let known = entry.as_ref().and_then(|f| f.values.get(v));
            let from = match known {
                Some(Known::Const(value)) => crate::field::constant(width, *value),
                Some(Known::Text(text, _)) => text.clone(),
                None if takes.vars.contains(v) && !scope.first => format!("c->v.{name}"),
                None => "0".into(),
            };
            self.line(format!("{} {name} = {from};", local_type(width)));
        }
        for h in &scope.fields {
            let types: Vec<_> = self.ir.header_types[self.ir.headers[*h].ty].fields.iter().map(|f| local_type(f.ty.width())).collect();
            for (i, ty) in types.into_iter().enumerate() {
                let name = self.field_local(*h, i as u32);
                self.line(format!("{ty} {name} = 0;"));
            }
        }
        if scope.payload && !scope.first {
            self.line("uint8_t *const payload = c->payload;");
        }
        if scope.end && !scope.first {
            self.line("const uint8_t *const end = pk->buffer + pk->start + pk->length;");
        }
        self.text.push_str(&body);
        if self.ends {
            self.label("done");
        }
        if scope.first {
            self.line("c->payload = payload;");
        }
        // The first scope leaves everything in a state; later ones what they have changed.
        if scope.first || scope.valid_set && (self.class.is_none() || self.shared.valid) {
            for w in 0..model.valid_words {
                let name = valid_word(model, w);
                self.line(format!("c->{name} = {};", if scope.valid { &name } else { "0" }));
            }
        }
    }

    /// C text that reads a variable.
    pub(crate) fn read_var(&mut self, v: VarId) -> String {
        match &self.model.kinds[v.index()] {
            Kind::Fixed(text) => return text.clone(),
            Kind::Zero => return crate::expr::zero(self.ir.vars[v].ty),
            Kind::Plain => {}
        }
        match self.facts().and_then(|f| f.values.get(&v)) {
            Some(Known::Const(value)) => return crate::field::constant(self.ir.vars[v].ty.width(), *value),
            Some(Known::Text(text, _)) => return text.clone(),
            None => {}
        }
        if let Some(text) = self.action_param(v) {
            return text;
        }
        self.scope.vars.insert(v);
        if !self.flow.as_ref().is_some_and(|f| f.assigned.contains(&v)) {
            self.scope.loads.insert(v);
        }
        self.model.vars[v.index()].clone()
    }

    /// What is known of a packet of a class.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        self.flow.as_ref().and_then(|f| f.facts.as_ref())
    }

    /// The same, to be changed.
    pub(crate) fn facts_mut(&mut self) -> Option<&mut Facts> {
        self.flow.as_mut().and_then(|f| f.facts.as_mut())
    }

    /// Notes what a variable holds that has just been assigned.
    pub(crate) fn note_value(&mut self, v: VarId, known: Option<Known>) {
        if let (Some(facts), Some(known)) = (self.facts_mut(), known) {
            facts.values.insert(v, known);
        }
    }

    /// Assigns C text to a variable.
    pub(crate) fn write_var(&mut self, v: VarId, value: &str) {
        if self.model.action_params.vars.contains_key(&v) {
            // The action keeps its record.
            return;
        }
        self.scope.vars.insert(v);
        let name = &self.model.vars[v.index()];
        let through = if self.shared.vars.contains(&v) { format!(" c->v.{name} = {name};") } else { String::new() };
        let text = format!("{name} = {value};{through}");
        self.line(text);
        if let Some(flow) = &mut self.flow {
            flow.assigned.insert(v);
            if let Some(facts) = &mut flow.facts {
                facts.values.remove(&v);
            }
        }
    }

    /// Says that the code uses the packet's payload pointer.
    pub(crate) fn payload(&mut self) -> String {
        if let Some(class) = self.class {
            return format!("(p + {})", class.consumed);
        }
        self.scope.payload = true;
        "payload".into()
    }

    /// Says that the code uses the packet's end.
    pub(crate) fn end(&mut self) -> &'static str {
        if self.class.is_some() {
            return "(p + pk->length)";
        }
        self.scope.end = true;
        "end"
    }

    /// C text that is 1 if a header is valid, else 0.
    pub(crate) fn is_valid(&mut self, h: HeaderId) -> String {
        if let Some(valid) = self.known_valid(h) {
            return if valid { "1" } else { "0" }.into();
        }
        self.scope.valid = true;
        format!("sp_bit(valid{}, {})", word_suffix(self.model, h), self.bit(h))
    }

    /// What is known of a header's validity.
    pub(crate) fn known_valid(&self, h: HeaderId) -> Option<bool> {
        if self.model.homes[h.index()] == Home::Nowhere {
            return Some(false);
        }
        if let Some(facts) = self.facts() {
            return facts.valid(h);
        }
        self.flow.as_ref().and_then(|f| f.valid.get(&h).copied())
    }

    /// Notes that a header is valid or not from here on.
    pub(crate) fn note_valid(&mut self, h: HeaderId, valid: bool) {
        if let Some(flow) = &mut self.flow {
            flow.valid.insert(h, valid);
            if let Some(facts) = &mut flow.facts {
                facts.assume_valid(h, valid);
            }
        }
    }

    /// Sets a header's bit of validity.
    pub(crate) fn set_valid_bit(&mut self, h: HeaderId, valid: bool) {
        self.set_valid_bit_at(h, valid, Place::Scratch);
    }

    /// Notes that the fields of a header are locals.
    pub(crate) fn scope_fields(&mut self, h: HeaderId) {
        self.scope.fields.insert(h);
    }

    /// The same for a header whose bytes are at `place`, if the packet is of a class.
    pub(crate) fn set_valid_bit_at(&mut self, h: HeaderId, valid: bool, place: Place) {
        self.scope.valid = true;
        self.scope.valid_set = true;
        let (name, bit) = (format!("valid{}", word_suffix(self.model, h)), self.bit(h));
        self.line(if valid { format!("{name} |= SP_BIT({bit});") } else { format!("{name} &= ~SP_BIT({bit});") });
        if let Some(facts) = self.facts_mut() {
            facts.set_valid(h, valid.then_some(place));
        }
        self.note_valid(h, valid);
    }

    /// Sets the bit of validity of the element of a stack at an index that is below its size.
    pub(crate) fn set_valid_at(&mut self, elements: &[HeaderId], at: &str) {
        (self.scope.valid, self.scope.valid_set) = (true, true);
        // Where they are numbered in a row, each word has one row of them.
        let mut first = 0;
        while first < elements.len() {
            let (start, h) = (elements[first].index(), elements[first]);
            let row = elements[first..].iter().enumerate();
            let n = row.take_while(|(i, h)| h.index() == start + i && h.index() / 64 == start / 64).count();
            let (name, bit) = (format!("valid{}", word_suffix(self.model, h)), self.bit(h));
            let offset = if first == 0 { at.to_owned() } else { format!("({at} - {first})") };
            let all = n == elements.len();
            if !all {
                self.open(format!("if ({at} >= {first} && {at} < {})", first + n));
            }
            self.line(format!("{name} |= SP_BIT({bit}) << {};", crate::expr::paren(&offset)));
            if !all {
                self.close();
            }
            first += n;
        }
        if let Some(flow) = &mut self.flow {
            flow.valid.retain(|h, valid| *valid || !elements.contains(h));
        }
    }

    /// C text of the bits of validity of headers that share a word, in parentheses.
    pub(crate) fn valid_bits(&mut self, headers: &[HeaderId]) -> String {
        self.scope.valid = true;
        format!("(valid{} & ({}))", word_suffix(self.model, headers[0]), self.bits_of(headers))
    }

    /// C text of those bits, all set.
    pub(crate) fn bits_of(&self, headers: &[HeaderId]) -> String {
        headers.iter().map(|h| format!("SP_BIT({})", self.bit(*h))).collect::<Vec<_>>().join(" | ")
    }

    fn bit(&self, h: HeaderId) -> String {
        format!("V_{}", self.model.headers[h.index()])
    }

    /// C text of the address of a header's bytes; of an invalid header that is not only scratch, of zero bytes.
    pub(crate) fn address(&mut self, h: HeaderId) -> String {
        if self.in_fields(h) {
            self.failed = Some("the address of a header that is not in memory");
        }
        match self.model.homes[h.index()] {
            Home::Scratch => self.scratch(h),
            Home::Nowhere => "sp_nothing".into(),
            Home::Packet | Home::Both if self.class.is_some() => match self.facts().map_or(Ok(None), |f| f.place(h)) {
                Ok(Some(Place::Packet(at))) => crate::field::plus("p", at),
                Ok(Some(Place::Scratch | Place::Fields)) => self.scratch(h),
                Ok(None) => "sp_nothing".into(),
                Err(()) => {
                    self.failed = Some("a header is at several places");
                    "sp_nothing".into()
                }
            },
            Home::Packet | Home::Both => match self.model.in_arrays.get(&h) {
                Some((s, _)) => {
                    self.scope.arrays.insert(*s);
                    format!("c->{}", self.model.pointer(h))
                }
                None => {
                    self.scope.pointers.insert(h);
                    self.model.pointer(h)
                }
            },
        }
    }

    /// Makes a header's bytes those at `address`.
    pub(crate) fn set_address(&mut self, h: HeaderId, address: &str) {
        if self.class.is_none() && self.model.in_arrays.contains_key(&h) {
            let place = self.address(h);
            self.line(format!("{place} = {address};"));
        } else if self.class.is_none() && matches!(self.model.homes[h.index()], Home::Packet | Home::Both) {
            self.scope.pointers_set.insert(h);
            let name = self.model.pointer(h);
            let through = if self.shared.pointers.contains(&h) { format!(" c->{name} = {name};") } else { String::new() };
            self.line(format!("{name} = {address};{through}"));
        }
    }

    /// C text of the address of the element of a stack at an index that is below its size; `None` if the elements' pointers are in no array.
    pub(crate) fn address_at(&mut self, elements: &[HeaderId], at: &str) -> Option<String> {
        let (s, _) = self.model.in_arrays.get(elements.first()?).filter(|_| self.class.is_none())?;
        self.scope.arrays.insert(*s);
        Some(format!("c->at_{}[(uint32_t){}]", self.model.stacks[s.index()], crate::expr::paren(at)))
    }

    /// C text of a header's scratch bytes.
    pub(crate) fn scratch(&self, h: HeaderId) -> String {
        format!("c->s + S_{}", self.model.headers[h.index()])
    }

    /// C text of a header's length in bytes, given that it is valid.
    pub(crate) fn header_len(&mut self, h: HeaderId) -> String {
        let fixed = self.model.fixed_len[h.index()];
        match self.model.varbit_len[h.index()] {
            0 => fixed.to_string(),
            _ => format!("({fixed} + {})", self.varbit_len(h)),
        }
    }

    /// C text of the bytes in a header's varbit field; 0 if it is invalid.
    pub(crate) fn varbit_len(&mut self, h: HeaderId) -> String {
        if self.class.is_some() {
            // The parser of a class extracts no varbit fields.
            return "0".into();
        }
        self.scope.lengths.insert(h);
        self.model.length(h)
    }

    /// Sets the number of bytes in a header's varbit field.
    pub(crate) fn set_varbit_len(&mut self, h: HeaderId, bytes: &str) {
        if self.class.is_none() && self.model.varbit_len[h.index()] > 0 {
            self.scope.lengths_set.insert(h);
            let name = self.model.length(h);
            let through = if self.shared.lengths.contains(&h) { format!(" c->{name} = {name};") } else { String::new() };
            self.line(format!("{name} = {bytes};{through}"));
        }
    }

    /// C text of a stack's next index.
    pub(crate) fn next_index(&mut self, s: StackId) -> String {
        self.scope.nexts.insert(s);
        format!("next_{}", self.model.stacks[s.index()])
    }

    /// Sets a stack's next index.
    pub(crate) fn set_next_index(&mut self, s: StackId, value: &str) {
        self.scope.nexts_set.insert(s);
        let name = format!("next_{}", self.model.stacks[s.index()]);
        let through = if self.shared.nexts.contains(&s) { format!(" c->{name} = {name};") } else { String::new() };
        self.line(format!("{name} = {value};{through}"));
    }

    /// C text of the number of steps so far: parser states and rounds of loops.
    pub(crate) fn steps(&self) -> &'static str {
        if self.parsed.is_some() { "steps" } else { "c->steps" }
    }

    /// Ends the packet's work in this stage.
    pub(crate) fn done(&mut self) {
        self.ends = true;
        self.line("goto done;");
        self.flow = None;
    }

    /// Goes on at a node, here or in a later stage.
    pub(crate) fn goto(&mut self, node: NodeId) -> Result<(), EmitError> {
        let (vertex, stage) = self.graph.target(node);
        self.goto_vertex(vertex, stage)
    }

    /// The same for a node or site.
    pub(crate) fn goto_vertex(&mut self, vertex: Vertex, stage: StageId) -> Result<(), EmitError> {
        if self.flow.is_none() {
            return Ok(());
        }
        if self.class.is_some() && self.leave_class(vertex)? {
            return Ok(());
        }
        if let Vertex::Node(node) = vertex
            && self.inside_tails > 0
            && self.is_inside(node)
        {
            return self.print_node(node);
        }
        if self.class.is_some() {
            match vertex {
                Vertex::Site(site) | Vertex::Near(site) => {
                    self.pass_over(site)?;
                    let table = self.graph.sites[site].table;
                    match self.looks_up_here(table) {
                        Some(Near::Always) => {
                            self.goto_near(site);
                            return Ok(());
                        }
                        Some(Near::WhileSmall) => {
                            self.open(format!("if (small_{})", self.model.tables[table.index()]));
                            self.smalls.insert(table);
                            let before = self.fork();
                            self.goto_near(site);
                            self.close();
                            self.flow = before;
                        }
                        None => {}
                    }
                    self.settle_fields();
                }
                Vertex::Node(node) if self.graph.stage_of_node.contains_key(&node) => self.settle_fields(),
                Vertex::Node(_) => {}
            }
        }
        let Some(flow) = self.flow.clone() else { return Ok(()) };
        match self.arrivals.get_mut(&vertex) {
            Some(known) => known.meet(&flow),
            None => drop(self.arrivals.insert(vertex, flow)),
        }
        match vertex {
            Vertex::Node(node) if stage == self.stage || self.is_inside(node) => {
                self.jumped.insert(vertex);
                self.line(format!("goto node_{node};"));
                self.flow = None;
            }
            _ if stage <= self.stage => return Err(EmitError::invalid("a jump back")),
            _ => {
                self.passes_to.insert(stage);
                self.edges.insert(stage);
                if let (Vertex::Site(site), Some(_)) = (vertex, self.class) {
                    self.wait_for(site, stage)?;
                }
                let number = self.stage_number(stage);
                self.line(format!("to_{number} |= bit;"));
                self.done();
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Adds what another has.
    pub(crate) fn extend(&mut self, other: &Shared) {
        self.vars.extend(&other.vars);
        self.pointers.extend(&other.pointers);
        self.lengths.extend(&other.lengths);
        self.nexts.extend(&other.nexts);
        self.records.extend(&other.records);
        self.valid |= other.valid;
    }
}

/// Name of the local that holds a word of headers' validity.
pub(crate) fn valid_word(model: &Model, word: usize) -> String {
    if model.valid_words == 1 { "valid".into() } else { format!("valid{word}") }
}

fn word_suffix(model: &Model, h: HeaderId) -> String {
    if model.valid_words == 1 { String::new() } else { (h.index() / 64).to_string() }
}

/// C type in which a value of `width` bits is computed with.
pub(crate) fn local_type(width: u32) -> &'static str {
    match width {
        0..=32 => "uint32_t",
        33..=64 => "uint64_t",
        _ => "sp_u128",
    }
}

/// C type in which a value of `width` bits is kept.
pub(crate) fn kept_type(width: u32) -> &'static str {
    match width {
        0..=8 => "uint8_t",
        9..=16 => "uint16_t",
        _ => local_type(width),
    }
}

/// Bytes of [`kept_type`].
pub(crate) fn kept_len(width: u32) -> u32 {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 16,
    }
}
