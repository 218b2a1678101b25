//! Random programs as P4 text: what the checker's lowering is tested on. What comes after it is tested on the IR of [`random`].
//!
//! Programs of text are for v1model and have no errors. They are about what lowering has to get right: order of evaluation, arguments that
//! alias each other, `inout` and `out` of scalars, slices, structs, headers, stack elements and union members, named arguments,
//! calls in calls, early `return` and `exit`, saturating and signed arithmetic, shifts, casts, header stacks and unions, tables whose
//! keys and results have effects, `switch`, loops, sub-controls, sub-parsers, parsers with variables and constants of their own, masks, ranges, loops and errors. What P4 leaves undefined is kept out,
//! but for what the interpreter defines (fields of invalid headers, stack indices beyond the end).
#![forbid(unsafe_code)]

mod body;
mod expr;
pub mod random;

use crate::random::Rng;
use std::fmt::Write;

/// A type of what a program computes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Bit(u32),
    Int(u32),
    Bool,
    /// One of [`COMPOSITES`].
    Named(&'static str),
}

impl Ty {
    fn text(self) -> String {
        match self {
            Ty::Bit(w) => format!("bit<{w}>"),
            Ty::Int(w) => format!("int<{w}>"),
            Ty::Bool => "bool".into(),
            Ty::Named(n) => n.into(),
        }
    }
}

/// Headers and structs, with their fields.
const COMPOSITES: [(&str, &[(&str, Ty)]); 4] = [
    ("base_t", &[("a", Ty::Bit(4)), ("b", Ty::Bit(12)), ("s", Ty::Int(8)), ("k", Ty::Bit(8))]),
    ("opt_t", &[("x", Ty::Bit(8)), ("y", Ty::Int(16)), ("z", Ty::Bit(8))]),
    ("tag_t", &[("more", Ty::Bit(1)), ("v", Ty::Bit(7))]),
    ("pair_t", &[("p", Ty::Bit(8)), ("q", Ty::Bit(8))]),
];

const SCALARS: [Ty; 9] = [Ty::Bit(8), Ty::Bit(8), Ty::Bit(8), Ty::Bit(3), Ty::Bit(16), Ty::Bit(1), Ty::Int(8), Ty::Int(16), Ty::Bool];

fn fields(name: &str) -> &'static [(&'static str, Ty)] {
    COMPOSITES.iter().find(|(n, _)| *n == name).map_or(&[], |(_, f)| f)
}

fn is_header(name: &str) -> bool {
    name != "pair_t"
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    In,
    Out,
    InOut,
    /// Of an action: from an entry, or as `in` where it is called.
    None,
}

#[derive(Clone)]
struct Param {
    name: String,
    ty: Ty,
    direction: Direction,
}

/// A function or action that may be called.
#[derive(Clone)]
struct Callable {
    name: String,
    params: Vec<Param>,
    /// Of a function.
    result: Option<Ty>,
    action: bool,
}

/// Something with a name that may be read, and perhaps written.
#[derive(Clone)]
struct Var {
    text: String,
    ty: Ty,
    write: bool,
}

#[derive(Clone)]
struct Table {
    name: String,
    actions: Vec<String>,
}

/// What may stand in the body that is being made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Parser,
    Function,
    Action,
    Control,
}

struct Generator {
    rng: Rng,
    text: String,
    vars: Vec<Var>,
    /// Stacks of `tag_t`, and whether they may be written.
    stacks: Vec<(String, bool)>,
    callables: Vec<Callable>,
    tables: Vec<Table>,
    place: Place,
    result: Option<Ty>,
    in_loop: bool,
    names: u32,
    indent: usize,
    /// Calls that the body may still make: what is called is inlined.
    calls: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut g = Generator {
        rng: Rng::new(seed),
        text: String::new(),
        vars: Vec::new(),
        stacks: Vec::new(),
        callables: Vec::new(),
        tables: Vec::new(),
        place: Place::Function,
        result: None,
        in_loop: false,
        names: 0,
        indent: 0,
        calls: 0,
    };
    g.types();
    for _ in 0..3 + g.rng.below(3) {
        g.function();
    }
    g.sub_parser();
    g.parser();
    g.sub_control();
    g.ingress();
    g.ends();
    g.text
}

/// A packet for such a program: often long enough for a few headers.
pub fn packet(rng: &mut Rng) -> Vec<u8> {
    let len = if rng.once_in(6) { rng.below(8) } else { 8 + rng.below(24) };
    (0..len).map(|_| if rng.once_in(3) { rng.below(8) as u8 } else { rng.bits() as u8 }).collect()
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * self.indent);
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.rng.below(all.len())].clone()
    }

    /// A variable and its fields.
    fn add(&mut self, text: &str, ty: Ty, write: bool) {
        self.vars.push(Var { text: text.into(), ty, write });
        if let Ty::Named(name) = ty {
            for (f, ty) in fields(name) {
                self.vars.push(Var { text: format!("{text}.{f}"), ty: *ty, write });
            }
        }
    }

    fn types(&mut self) {
        self.line("#include <core.p4>");
        self.line("#include <v1model.p4>");
        for (name, fields) in COMPOSITES {
            let list: String = fields.iter().map(|(f, t)| format!(" {} {f};", t.text())).collect();
            let kind = if is_header(name) { "header" } else { "struct" };
            self.line(&format!("{kind} {name} {{{list} }}"));
        }
        self.line("header state_t { bit<8> m8; bit<16> m16; bit<8> n8; int<8> i8; int<16> i16; bit<8> hot; bit<8> flags; pair_t pair; bit<32> codes; }");
        self.line("header_union either_t { tag_t tag; opt_t opt; }");
        self.line("struct headers { base_t base; base_t other; opt_t opt; tag_t[3] tags; either_t u; state_t state; }");
        self.line(
            "struct metadata { bit<8> m8; bit<16> m16; bit<8> n8; int<8> i8; int<16> i16; bit<8> hot; bool flag; bit<3> m3; bit<1> m1; pair_t pair; tag_t tag; bit<32> codes; }",
        );
        self.line("error { Odd, Even }");
    }

    /// What the blocks of the pipeline see.
    fn pipeline_vars(&mut self) {
        self.vars.clear();
        self.stacks = vec![("hdr.tags".into(), true)];
        for (name, ty) in
            [("hdr.base", "base_t"), ("hdr.other", "base_t"), ("hdr.opt", "opt_t"), ("hdr.u.tag", "tag_t"), ("hdr.u.opt", "opt_t")]
        {
            self.add(name, Ty::Named(ty), true);
        }
        for (name, ty) in [
            ("m8", Ty::Bit(8)),
            ("m16", Ty::Bit(16)),
            ("n8", Ty::Bit(8)),
            ("i8", Ty::Int(8)),
            ("i16", Ty::Int(16)),
            ("hot", Ty::Bit(8)),
            ("hot", Ty::Bit(8)),
            ("flag", Ty::Bool),
            ("m3", Ty::Bit(3)),
            ("m1", Ty::Bit(1)),
            ("pair", Ty::Named("pair_t")),
            ("tag", Ty::Named("tag_t")),
        ] {
            self.add(&format!("meta.{name}"), ty, true);
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Functions, actions, controls

    fn params(&mut self, data: bool) -> Vec<Param> {
        let mut params = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let ty = match self.rng.below(6) {
                0 => Ty::Named(self.pick(&["base_t", "opt_t", "tag_t", "pair_t"])),
                _ => self.pick(&SCALARS),
            };
            let direction = self.pick(&[Direction::In, Direction::InOut, Direction::InOut, Direction::Out]);
            params.push(Param { name: self.fresh("p"), ty, direction });
        }
        if data {
            for _ in 0..self.rng.below(3) {
                let ty = self.pick(&SCALARS);
                params.push(Param { name: self.fresh("d"), ty, direction: Direction::None });
            }
        }
        params
    }

    fn signature(&mut self, params: &[Param]) -> String {
        let list: Vec<String> = params
            .iter()
            .map(|p| {
                let direction = match p.direction {
                    Direction::In => "in ",
                    Direction::Out => "out ",
                    Direction::InOut => "inout ",
                    Direction::None => "",
                };
                format!("{direction}{} {}", p.ty.text(), p.name)
            })
            .collect();
        list.join(", ")
    }

    /// Parameters as variables; what is `out` and no header gets a value first.
    fn enter(&mut self, params: &[Param]) {
        for p in params.iter().filter(|p| p.direction != Direction::Out) {
            self.add(&p.name, p.ty, p.direction == Direction::InOut);
        }
        for p in params.iter().filter(|p| p.direction == Direction::Out) {
            if !matches!(p.ty, Ty::Named(n) if is_header(n)) || self.rng.once_in(2) {
                let value = self.expr(p.ty, 1);
                self.line(&format!("{} = {value};", p.name));
            }
            self.add(&p.name, p.ty, true);
        }
    }

    fn function(&mut self) {
        self.vars.clear();
        self.stacks.clear();
        self.place = Place::Function;
        self.calls = 2;
        let params = self.params(false);
        let result = (!self.rng.once_in(4)).then(|| self.pick(&SCALARS));
        let name = self.fresh("f");
        let signature = self.signature(&params);
        self.line(&format!("{} {name}({signature}) {{", result.map_or("void".into(), Ty::text)));
        self.indent += 1;
        self.result = result;
        self.enter(&params);
        let count = 1 + self.rng.below(4);
        self.stmts(count, 2);
        if let Some(ty) = result {
            let value = self.expr(ty, 2);
            self.line(&format!("return {value};"));
        }
        self.indent -= 1;
        self.line("}");
        self.callables.push(Callable { name, params, result, action: false });
    }

    fn action(&mut self, data_only: bool) -> Callable {
        self.place = Place::Action;
        self.calls = 2;
        let mut params = self.params(true);
        if data_only {
            params.retain(|p| p.direction == Direction::None);
        }
        let name = self.fresh("a");
        let signature = self.signature(&params);
        self.line(&format!("action {name}({signature}) {{"));
        self.indent += 1;
        let vars = self.vars.len();
        self.enter(&params);
        let count = 1 + self.rng.below(4);
        self.stmts(count, 2);
        self.vars.truncate(vars);
        self.indent -= 1;
        self.line("}");
        Callable { name, params, result: None, action: true }
    }

    /// A control with parameters of its own, which ingress applies once or twice.
    fn sub_control(&mut self) {
        self.vars.clear();
        self.stacks.clear();
        let params = vec![
            Param { name: "x".into(), ty: Ty::Bit(8), direction: Direction::InOut },
            Param { name: "h".into(), ty: Ty::Named("opt_t"), direction: Direction::InOut },
            Param { name: "y".into(), ty: Ty::Bit(8), direction: Direction::In },
            Param { name: "z".into(), ty: Ty::Int(8), direction: Direction::Out },
        ];
        let signature = self.signature(&params);
        self.line(&format!("control Sub({signature}) {{"));
        self.indent += 1;
        let outer = self.callables.len();
        self.add("x", Ty::Bit(8), true);
        self.add("h", Ty::Named("opt_t"), true);
        self.add("y", Ty::Bit(8), false);
        self.line("bit<8> own = 3;");
        self.add("own", Ty::Bit(8), true);
        let action = self.action(false);
        self.callables.push(action);
        self.place = Place::Control;
        self.calls = 3;
        self.line("apply {");
        self.indent += 1;
        self.line("z = -1;");
        self.add("z", Ty::Int(8), true);
        let count = 2 + self.rng.below(4);
        self.stmts(count, 2);
        self.indent -= 2;
        self.line("    }");
        self.line("}");
        self.callables.truncate(outer);
    }

    fn ingress(&mut self) {
        self.pipeline_vars();
        self.line("control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {");
        self.indent += 1;
        self.line("register<bit<8>>(4) cells;");
        self.line("counter(4, CounterType.packets) seen;");
        self.line("bit<8> local = 7;");
        self.add("local", Ty::Bit(8), true);
        self.line("Sub() sub;");
        let mut actions = Vec::new();
        for i in 0..4 {
            let action = self.action(i < 2);
            actions.push(action.clone());
            self.callables.push(action);
        }
        for _ in 0..2 {
            self.table(&actions);
        }
        self.place = Place::Control;
        self.calls = 8;
        self.line("apply {");
        self.indent += 1;
        self.line("sm.egress_spec = 1;");
        let applied = 2 + self.rng.below(4);
        self.stmts(applied, 3);
        for t in 0..self.tables.len() {
            self.apply(t);
            let count = 1 + self.rng.below(4);
            self.stmts(count, 3);
        }
        if self.rng.once_in(8) {
            self.line("if (meta.hot == 77) { mark_to_drop(sm); }");
        }
        self.indent -= 1;
        self.line("}");
        self.indent -= 1;
        self.line("}");
    }

    fn table(&mut self, actions: &[Callable]) {
        let name = self.fresh("t");
        self.calls = 2;
        self.line(&format!("table {name} {{"));
        self.indent += 1;
        let kinds = self.pick(&[
            &["exact"][..],
            &["exact", "exact"],
            &["lpm", "exact"],
            &["ternary", "range"],
            &["ternary", "exact"],
            &["optional", "lpm"],
        ]);
        let mut keys = String::new();
        let mut widths = Vec::new();
        for (i, kind) in kinds.iter().enumerate() {
            let width = 1 + self.rng.below(3) as u32;
            widths.push(width);
            let key = self.expr(Ty::Bit(width), 2);
            let _ = write!(keys, "{key} : {kind} @name(\"k{i}\"); ");
        }
        self.line(&format!("key = {{ {keys}}}"));
        let mut list = String::new();
        let mut names = Vec::new();
        for a in actions {
            let bound: Vec<Param> = a.params.iter().filter(|p| p.direction != Direction::None).cloned().collect();
            let args = if bound.is_empty() { String::new() } else { format!("({})", self.arguments(&bound, false)) };
            let _ = write!(list, "{}{args}; ", a.name);
            names.push(a.name.clone());
        }
        self.line(&format!("actions = {{ {list}NoAction; }}"));
        self.line("default_action = NoAction();");
        let plain = &actions[0];
        if self.rng.once_in(3) && plain.params.is_empty() {
            let open = self.pick(&["const entries", "entries"]);
            let mut entries = String::new();
            for _ in 0..2 {
                let sets: Vec<String> = kinds.iter().zip(&widths).map(|(k, w)| self.entry_set(k, *w)).collect();
                let _ = write!(entries, "({}) : {}(); ", sets.join(", "), plain.name);
            }
            if kinds.iter().any(|k| matches!(*k, "ternary" | "range" | "optional")) {
                self.line(&format!("{open} = {{ {entries}}}"));
            }
        }
        self.indent -= 1;
        self.line("}");
        self.tables.push(Table { name, actions: names });
    }

    fn entry_set(&mut self, kind: &str, width: u32) -> String {
        let max = 1u64 << width;
        let (a, b) = (self.rng.bits() % max, self.rng.bits() % max);
        match kind {
            "ternary" if self.rng.once_in(2) => format!("{} &&& {b}", a & b),
            "range" if self.rng.once_in(2) => format!("{} .. {}", a.min(b), a.max(b)),
            "ternary" | "range" | "optional" if self.rng.once_in(3) => "_".into(),
            _ => a.to_string(),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Parser and the rest

    /// Variables and constants of a parser, which begin anew with each packet and each application: the values of the former are computed then, from what
    /// stands ahead of them.
    fn parser_locals(&mut self) {
        for _ in 0..self.rng.below(4) {
            if self.rng.once_in(3) {
                let ty = self.pick(&SCALARS);
                let (name, value) = (self.fresh("c"), self.literal(ty));
                self.line(&format!("const {} {name} = {value};", ty.text()));
                self.add(&name, ty, false);
            } else {
                self.calls = 1;
                self.declare();
            }
        }
    }

    /// A parser with parameters and variables of its own, which states of the other apply. It never rejects: which of its results are copied out then is left to
    /// the compiler (§13.10 has no place for a copy, and arguments that do not overlap need none).
    fn sub_parser(&mut self) {
        self.vars.clear();
        self.stacks.clear();
        self.place = Place::Parser;
        let params = vec![
            Param { name: "x".into(), ty: Ty::Bit(8), direction: Direction::InOut },
            Param { name: "h".into(), ty: Ty::Named("opt_t"), direction: Direction::Out },
            Param { name: "y".into(), ty: Ty::Bit(8), direction: Direction::In },
        ];
        let signature = self.signature(&params);
        self.line(&format!("parser Part(packet_in packet, {signature}) {{"));
        self.indent += 1;
        self.add("x", Ty::Bit(8), true);
        self.add("y", Ty::Bit(8), false);
        // Each application counts from here on.
        self.line("bit<8> rounds = 0;");
        self.add("rounds", Ty::Bit(8), false);
        self.parser_locals();
        self.add("h", Ty::Named("opt_t"), true);
        self.line("state start {");
        self.indent += 1;
        let vars = self.vars.len();
        self.calls = 1;
        self.stmts(1, 1);
        self.line("rounds = rounds + 1;");
        self.line("x = x + rounds;");
        let (low, again) = (self.expr(Ty::Bit(2), 1), self.rng.below(4));
        self.line(&format!("transition select({low}, rounds) {{ ({again}, 0 .. 2) : start; (_, _) : more; }}"));
        self.vars.truncate(vars);
        self.indent -= 1;
        self.line("}");
        self.line("state more {");
        self.indent += 1;
        self.calls = 1;
        let value = self.expr(Ty::Named("opt_t"), 2);
        self.line(&format!("h = {value};"));
        if self.rng.once_in(2) {
            self.stmts(1, 1);
        }
        self.line("transition accept;");
        self.indent -= 2;
        self.line("    }");
        self.line("}");
    }

    /// Applies the sub-parser: one instance, another, or by its type.
    fn part(&mut self) {
        let headers: Vec<Var> = self.vars.iter().filter(|v| v.write && v.ty == Ty::Named("opt_t")).cloned().collect();
        let (Some(x), false) = (self.place(Ty::Bit(8)), headers.is_empty()) else { return };
        let (h, y) = (self.pick(&headers).text, self.expr(Ty::Bit(8), 1));
        let instance = self.pick(&["part", "part", "other", "Part"]);
        self.line(&format!("{instance}.apply(packet, {x}, {h}, {y});"));
    }

    fn parser(&mut self) {
        self.pipeline_vars();
        self.place = Place::Parser;
        self.line("parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {");
        self.indent += 1;
        self.line("Part() part;");
        self.line("Part() other;");
        self.parser_locals();
        let states = ["opt", "other", "tags", "union", "look", "end"];
        for (i, name) in ["start"].iter().chain(&states).enumerate() {
            self.line(&format!("state {} {{", if i == 0 { "start".into() } else { format!("s_{name}") }));
            self.indent += 1;
            self.calls = 1;
            let vars = self.vars.len();
            if self.rng.once_in(2) {
                self.stmts(1, 1);
            }
            if self.rng.once_in(6) {
                self.part();
            }
            match *name {
                "start" => self.line("packet.extract(hdr.base);"),
                "opt" => self.line("packet.extract(hdr.opt);"),
                "other" => self.line("packet.extract(hdr.other);"),
                "tags" => self.line("packet.extract(hdr.tags.next);"),
                "union" => {
                    let member = self.pick(&["tag", "opt"]);
                    self.line(&format!("packet.extract(hdr.u.{member});"));
                }
                "look" => {
                    self.line("meta.m16 = packet.lookahead<bit<16>>();");
                    self.line("packet.advance(8);");
                }
                _ => {}
            }
            if self.rng.once_in(4) {
                let condition = self.expr(Ty::Bool, 1);
                let error = self.pick(&["Odd", "Even"]);
                self.line(&format!("verify({condition}, error.{error});"));
            }
            if self.rng.once_in(3) {
                self.stmts(1, 1);
            }
            self.transition(name, &states);
            self.vars.truncate(vars);
            self.indent -= 1;
            self.line("}");
        }
        self.indent -= 1;
        self.line("}");
        self.line("control V(inout headers hdr, inout metadata meta) { apply { } }");
    }

    fn transition(&mut self, state: &str, states: &[&str]) {
        let to = |g: &mut Generator| match g.rng.below(6) {
            0 => "accept".to_owned(),
            1 if g.rng.once_in(4) => "reject".to_owned(),
            _ => format!("s_{}", g.pick(states)),
        };
        if state == "end" {
            return self.line("transition accept;");
        }
        if state != "start" && self.rng.once_in(4) {
            let next = to(self);
            return self.line(&format!("transition {next};"));
        }
        self.calls = 1;
        let width = 1 + self.rng.below(3) as u32;
        let mut keys = vec![(self.expr(Ty::Bit(width), 1), width)];
        if state == "tags" {
            keys = vec![("hdr.tags.last.more".into(), 1)];
        } else if self.rng.once_in(3) {
            keys.push(("hdr.base.k[1:0]".into(), 2));
        } else if self.rng.once_in(8) {
            keys.push(("hdr.tags.last.v[1:0]".into(), 2));
        }
        let list: Vec<&str> = keys.iter().map(|(k, _)| k.as_str()).collect();
        self.line(&format!("transition select({}) {{", list.join(", ")));
        self.indent += 1;
        for _ in 0..1 + self.rng.below(4) {
            let mut sets = Vec::new();
            for (_, w) in &keys {
                let kind = self.pick(&["ternary", "range", "exact"]);
                sets.push(self.entry_set(kind, *w));
            }
            let (set, next) = (sets.join(", "), to(self));
            self.line(&if keys.len() == 1 { format!("{set} : {next};") } else { format!("({set}) : {next};") });
        }
        if state == "start" || !self.rng.once_in(5) {
            // There is a way to the end from every program's start.
            let next = if state == "start" { "accept".into() } else { to(self) };
            self.line(&format!("default : {next};"));
        }
        self.indent -= 1;
        self.line("}");
    }

    fn ends(&mut self) {
        let text = "control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        // Everything that was computed leaves with the packet.
        bit<8> flags = (bit<1>) meta.flag ++ meta.m1 ++ meta.m3 ++ (bit<1>) meta.tag.isValid() ++ (bit<1>) (sm.parser_error == error.NoError) ++ (bit<1>) (sm.parser_error == error.StackOutOfBounds);
        hdr.state = { meta.m8, meta.m16, meta.n8, meta.i8, meta.i16, meta.hot, flags, meta.pair, meta.codes };
        if (meta.tag.isValid()) { hdr.state.m8 = hdr.state.m8 ^ (meta.tag.more ++ meta.tag.v); }
    }
}
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.state); packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;";
        for l in text.lines() {
            self.line(l);
        }
    }
}
