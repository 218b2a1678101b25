//! Every invariant of the IR, and the check of them. An error here is always a bug of the compiler, never of the
//! P4 source: the front end has refused bad sources before.
//!
//! **Ids and sizes**
//! - Every id (variable, header, type, stack, state, label, value set, table, action, counter, meter, register,
//!   error) is in range.
//! - Widths of scalars are 1 to [`base::MAX_WIDTH`]; constants have the width of their type.
//! - Statements and expressions together nest at most [`MAX_DEPTH`] deep, so that recursion over them is safe.
//!
//! **Headers**
//! - A header type's fields follow each other without gaps, `fixed_bits` is their sum without the varbit field, and
//!   is a whole number of bytes; only the last field may be varbit, of a whole number of bytes.
//! - A stack has at least one element, all of one type; a header is in at most one stack.
//!
//! **Expressions** (types are those of the operands unless said otherwise)
//! - Variables and fields have the declared type; a varbit field is never read or written as a number.
//! - `+ - * |+| |-| & | ^ - ~` take and give one `bit` or `int` type; `/ %` one `bit` type; shifts give the left
//!   operand's type and their amount is `bit`; `== !=` take one type, `< <= > >=` one `bit` or `int` type, and give
//!   `bool`; `&& || !` take and give `bool`.
//! - A cast is between `bit` and `int` of any widths, `bool` and `bit<1>`, or equal types.
//! - A slice `[hi:lo]` has `lo <= hi < width` and gives `bit<hi-lo+1>`; a concatenation's width is the sum and its
//!   signedness the left operand's; both arms of `?:` have the result's type and the condition is `bool`.
//!
//! **Statements**
//! - Both sides of an assignment have one type; conditions are `bool`; case values have the width of what is switched on.
//! - `Extract`, `Advance`, `Lookahead`, `Verify`, `stack.next` and `stack.last` occur only in parser states;
//!   `Emit` only in the deparser; `Apply` only in ingress and egress; `Exit` only there and in actions;
//!   checksum externs only in the two checksum blocks; direct counters and meters only in actions; calls of services only in ingress and
//!   egress, and not in loops, with as many values of the declared widths as request and answer have fields.
//! - `Extract` has a varbit length exactly if the header type has a varbit field.
//! - A `Break` is inside the `Labeled` block of its label, in the same body; a label belongs to at most one block of
//!   the program.
//! - Header and stack copies are between equal types and sizes; varbit copies between varbit fields, to one at least as
//!   wide.
//! - `Apply` writes its hit to a `bool` and its action to a `bit<32>`; register values have the register's width.
//!
//! **Parser**
//! - There is a start state if there are states. A case has one set for each key, of the key's width, low not above
//!   high; or a single value set with the keys' widths.
//!
//! **Beside the [`Program`]**
//! - As many table and action codes as infos; as many key expressions and parameter variables, of the declared
//!   widths; an action's parameter variables differ.
//! - A table has at most one longest-prefix key; its actions, default action and entries exist, with fitting keys
//!   and arguments; its direct counter and meter name it as their table, and the other way round.
//! - A `DirectCount` or `DirectMeter` in an action is the one of every table that lists the action.
//! - A counter or meter of `LengthSource::Pdu` needs the `@pdu_length` variable; a meter counts one unit.
//!
//! **Intrinsics**
//! - `standard_metadata` variables have v1model's widths. `@drop_reason` has at most 8 bits, `@mark` 32, `@pdu_length` 64.
//! - The variables of field lists exist.
//! - `mark_to_drop` needs `egress_spec`; `verify_checksum` needs `checksum_error`.

use crate::*;
use program::{CountUnit, Entry, KeyInfo, LengthSource, MatchKind};
use std::collections::HashSet;

/// Deepest nesting of statements and expressions together.
pub const MAX_DEPTH: usize = 1000;

/// Reports stop after this many errors: one mistake in a big program can break every line of it.
const MAX_ERRORS: usize = 100;

/// A broken invariant: where and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError(pub String);

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VerifyError {}

/// Checks all invariants.
pub fn verify(ir: &Ir) -> Result<(), Vec<VerifyError>> {
    let mut v = Verifier {
        ir,
        errors: Vec::new(),
        place: String::new(),
        context: Context::ParserInit,
        action: None,
        open: Vec::new(),
        used_labels: HashSet::new(),
        loops: 0,
        depth: 0,
    };
    v.header_types();
    v.headers_and_vars();
    v.intrinsics();
    v.objects();
    v.tables();
    v.shape();
    for pipe in ir.pipes.values() {
        v.body("parser_init", Context::ParserInit, None, &pipe.parser.init);
    }
    v.states();
    for pipe in ir.pipes.values() {
        for control in &pipe.controls {
            let context = if control.role.is_checksum() { Context::Checksum } else { Context::Control };
            v.body(control.role.name(), context, None, &control.body);
        }
        v.body("deparser", Context::Deparser, None, &pipe.deparser);
    }
    for (id, code) in &ir.actions {
        let name = ir.program.actions.get(id).map_or("?", |a| a.full_name.as_str());
        v.body(&format!("action {id} {name}"), Context::Action, Some(id), &code.body);
    }
    if v.errors.is_empty() { Ok(()) } else { Err(v.errors) }
}

/// Which body is being checked: decides which statements may stand in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Context {
    ParserInit,
    State,
    Checksum,
    Control,
    Action,
    Deparser,
}

struct Verifier<'a> {
    ir: &'a Ir,
    errors: Vec<VerifyError>,
    place: String,
    context: Context,
    action: Option<ActionId>,
    /// Labels of the blocks around the current statement.
    open: Vec<LabelId>,
    used_labels: HashSet<LabelId>,
    /// Loops around the current statement.
    loops: usize,
    depth: usize,
}

impl Verifier<'_> {
    fn error(&mut self, what: impl std::fmt::Display) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(VerifyError(format!("{}: {what}", self.place)));
        }
    }

    fn check(&mut self, ok: bool, what: impl FnOnce() -> String) -> bool {
        if !ok {
            self.error(what());
        }
        ok
    }

    fn header_types(&mut self) {
        let ir = self.ir;
        for (id, ty) in &ir.header_types {
            self.place = format!("header type {id} {}", ty.name);
            let mut offset = 0u64;
            let mut fixed = 0u64;
            for (i, f) in ty.fields.iter().enumerate() {
                let width = u64::from(f.ty.width());
                self.check(u64::from(f.offset_bits) == offset, || format!("field {} is at {}, not {offset}", f.name, f.offset_bits));
                if f.varbit {
                    self.check(i + 1 == ty.fields.len(), || format!("varbit field {} is not the last", f.name));
                    let whole = matches!(f.ty, Ty::Bit(_)) && width > 0 && width % 8 == 0;
                    self.check(whole, || format!("varbit field {} is not of whole bytes", f.name));
                } else {
                    self.scalar(f.ty);
                    fixed += width;
                }
                offset += width;
            }
            self.check(u64::from(ty.fixed_bits) == fixed, || format!("fixed_bits is {}, not {fixed}", ty.fixed_bits));
            self.check(fixed.is_multiple_of(8), || format!("{fixed} bits are not whole bytes"));
        }
    }

    fn headers_and_vars(&mut self) {
        let ir = self.ir;
        for (id, h) in &ir.headers {
            self.place = format!("header {id} {}", h.name);
            self.check(ir.header_types.is_valid(h.ty), || format!("no type {}", h.ty));
        }
        let mut stacked = HashSet::new();
        for (id, s) in &ir.stacks {
            self.place = format!("stack {id} {}", s.name);
            self.check(!s.elements.is_empty(), || "no elements".into());
            for h in &s.elements {
                if self.check(ir.headers.is_valid(*h), || format!("no header {h}")) {
                    let first = s.elements.first().and_then(|f| ir.headers.get(*f));
                    self.check(first.is_some_and(|f| f.ty == ir.headers[*h].ty), || format!("{h} has another type"));
                    self.check(stacked.insert(*h), || format!("{h} is in two places of stacks"));
                }
            }
        }
        for (id, var) in &ir.vars {
            self.place = format!("variable {id} {}", var.name);
            self.scalar(var.ty);
        }
        for (id, set) in &ir.program.value_sets {
            self.place = format!("value set {id} {}", set.name);
            for w in &set.widths {
                self.scalar(Ty::Bit(*w));
            }
        }
    }

    fn scalar(&mut self, ty: Ty) {
        let ok = (1..=base::MAX_WIDTH).contains(&ty.width());
        self.check(ok, || format!("{ty} is not 1 to {} bits wide", base::MAX_WIDTH));
    }

    fn intrinsics(&mut self) {
        self.place = "intrinsics".into();
        let i = &self.ir.intrinsic;
        for (name, var) in &i.standard {
            let Some(ty) = self.var(*var) else { continue };
            let width = match name.as_str() {
                // As wide as ports are, in a program that was made of one for PSA.
                "ingress_port" if ty == Ty::Bit(16) => 16,
                "ingress_port" | "egress_spec" | "egress_port" => 9,
                "instance_type" | "packet_length" | "enq_timestamp" | "deq_timedelta" => 32,
                "enq_qdepth" | "deq_qdepth" => 19,
                "ingress_global_timestamp" | "egress_global_timestamp" => 48,
                "mcast_grp" | "egress_rid" => 16,
                "checksum_error" => 1,
                "priority" => 3,
                _ => continue,
            };
            self.check(ty == Ty::Bit(width), || format!("{name} is {ty}, not bit<{width}>"));
        }
        for var in i.field_lists.values().flatten() {
            self.var(*var);
        }
        for (name, var, max) in [("drop_reason", i.drop_reason, 8), ("mark", i.mark, 32), ("pdu_length", i.pdu_length, 64)] {
            let Some(ty) = var.and_then(|v| self.var(v)) else { continue };
            self.check(ty.width() <= max && matches!(ty, Ty::Bit(_)), || format!("@{name} is {ty}, not bit of at most {max}"));
        }
    }

    fn objects(&mut self) {
        let ir = self.ir;
        let pdu = ir.intrinsic.pdu_length.is_some();
        for (id, c) in &ir.program.counters {
            self.place = format!("counter {id} {}", c.name);
            self.check(c.length == LengthSource::Frame || pdu, || "no @pdu_length variable".into());
            if let Some(t) = c.table {
                let back = ir.program.tables.get(t).is_some_and(|t| t.direct_counter == Some(id));
                self.check(back, || format!("{t} does not name it as its direct counter"));
            }
        }
        for (id, m) in &ir.program.meters {
            self.place = format!("meter {id} {}", m.name);
            self.check(m.length == LengthSource::Frame || pdu, || "no @pdu_length variable".into());
            self.check(m.unit != CountUnit::Both, || "counts packets and bytes".into());
            if let Some(t) = m.table {
                let back = ir.program.tables.get(t).is_some_and(|t| t.direct_meter == Some(id));
                self.check(back, || format!("{t} does not name it as its direct meter"));
            }
        }
        for (id, r) in &ir.program.registers {
            self.place = format!("register {id} {}", r.name);
            self.scalar(Ty::Bit(r.width));
            self.check(r.initial <= Bits::mask(r.width), || format!("{:#x} at first in bit<{}>", r.initial, r.width));
            if let Some(t) = r.table {
                self.check(ir.program.tables.get(t).is_some(), || format!("{t} does not exist"));
                self.check(ir.arch == Architecture::Tna, || "direct registers are only placed".into());
            }
        }
        for (id, s) in &ir.program.services {
            self.place = format!("service {id} {}", s.name);
            s.request.iter().chain(&s.answer).for_each(|f| self.scalar(Ty::Bit(f.width)));
        }
        self.place = "program".into();
        let (codes, infos) = (ir.actions.len(), ir.program.actions.len());
        self.check(codes == infos, || format!("{codes} action codes for {infos} actions"));
        for (id, info) in &ir.program.actions {
            let Some(code) = ir.actions.get(id) else { continue };
            self.place = format!("action {id} {}", info.full_name);
            let (vars, params) = (code.params.len(), info.params.len());
            self.check(vars == params, || format!("{vars} variables for {params} parameters"));
            for (p, v) in info.params.iter().zip(&code.params) {
                let Some(ty) = self.var(*v) else { continue };
                self.check(ty.width() == p.width, || format!("parameter {} of {} bits in a {ty}", p.name, p.width));
            }
            let distinct: HashSet<&VarId> = code.params.iter().collect();
            self.check(distinct.len() == vars, || "two parameters share a variable".into());
        }
    }

    fn tables(&mut self) {
        let ir = self.ir;
        self.place = "program".into();
        let (codes, infos) = (ir.tables.len(), ir.program.tables.len());
        self.check(codes == infos, || format!("{codes} table codes for {infos} tables"));
        for (id, info) in &ir.program.tables {
            self.place = format!("table {id} {}", info.full_name);
            let lpm = info.keys.iter().filter(|k| k.kind == MatchKind::Lpm).count();
            self.check(lpm <= 1, || format!("{lpm} longest-prefix keys"));
            if let Some(code) = ir.tables.get(id) {
                let (exprs, keys) = (code.keys.len(), info.keys.len());
                self.check(exprs == keys, || format!("{exprs} key expressions for {keys} keys"));
                self.context = Context::Control;
                for (k, e) in info.keys.iter().zip(&code.keys) {
                    if let Some(ty) = self.expr(e) {
                        self.check(ty.width() == k.width, || format!("key {} of {} bits has a {ty}", k.name, k.width));
                    }
                }
            }
            for u in &info.actions {
                self.check(ir.program.actions.is_valid(u.action), || format!("no {}", u.action));
            }
            self.args(info.default_action.0, &info.default_action.1);
            for e in &info.entries {
                self.check(e.table == id, || format!("holds an entry of {}", e.table));
                self.entry(&info.keys, e);
            }
            if let Some(c) = info.direct_counter {
                let back = ir.program.counters.get(c).is_some_and(|c| c.table == Some(id));
                self.check(back, || format!("direct counter {c} is not attached to it"));
            }
            if let Some(m) = info.direct_meter {
                let back = ir.program.meters.get(m).is_some_and(|m| m.table == Some(id));
                self.check(back, || format!("direct meter {m} is not attached to it"));
            }
        }
    }

    fn entry(&mut self, keys: &[KeyInfo], e: &Entry) {
        let count = e.keys.len() == keys.len();
        self.check(count, || format!("entry of {} keys, not {}", e.keys.len(), keys.len()));
        for (k, m) in keys.iter().zip(&e.keys) {
            self.check(m.is_of(k.kind) && m.fits(k.width), || format!("entry's {m:?} does not fit key {}", k.name));
        }
        self.args(e.action, &e.args);
    }

    fn args(&mut self, action: ActionId, args: &[u128]) {
        let Some(info) = self.ir.program.actions.get(action) else {
            return self.error(format!("no {action}"));
        };
        let fit = args.len() == info.params.len() && info.params.iter().zip(args).all(|(p, a)| *a <= Bits::mask(p.width));
        self.check(fit, || format!("arguments {args:?} do not fit {}", info.full_name));
    }

    /// The most bits of a header's varbit field.
    fn varbit_width(&mut self, h: &HeaderRef) -> Option<u32> {
        let ty = self.header(h)?;
        let width = self.ir.header_types.get(ty).and_then(|t| t.fields.iter().find(|f| f.varbit)).map(|f| f.ty.width());
        self.check(width.is_some(), || format!("{ty} has no varbit field"));
        width
    }

    fn states(&mut self) {
        let ir = self.ir;
        self.place = "parser".into();
        for start in ir.pipes.values().filter_map(|p| p.parser.start) {
            self.check(ir.states.is_valid(start), || format!("start {start} does not exist"));
        }
        if ir.pipes.values().all(|p| p.parser.start.is_none()) {
            self.check(ir.states.is_empty(), || "states but no start".into());
        }
        for (id, s) in &ir.states {
            self.body(&format!("{id} {}", s.name), Context::State, None, &s.body);
            match &s.next {
                Transition::Goto(n) => self.next(*n),
                Transition::Select { keys, cases } => {
                    let widths: Vec<Option<u32>> = keys.iter().map(|k| self.expr(k).map(Ty::width)).collect();
                    for c in cases {
                        self.case(&widths, c);
                        self.next(c.next);
                    }
                }
            }
        }
    }

    /// Pipes as the architecture has them, each with states of its own.
    fn shape(&mut self) {
        let ir = self.ir;
        self.check(ir.arch.has_shape(&ir.pipes), || format!("blocks are not those of {}", ir.arch.name()));
        let exist = |s: &StateId| ir.states.is_valid(*s);
        let next_exists = |n: Next| !matches!(n, Next::State(s) if !exist(&s));
        if ir.pipes.len() < 2 || !ir.states.values().flat_map(|s| s.next.targets()).all(next_exists) {
            return;
        }
        let mut seen = HashSet::new();
        for start in ir.pipes.values().filter_map(|p| p.parser.start).filter(exist) {
            for state in ir.states_from(Some(start)) {
                self.check(seen.insert(state), || format!("{state} is reached from two parsers"));
            }
        }
    }

    fn case(&mut self, widths: &[Option<u32>], case: &SelectCase) {
        if let [KeySet::ValueSet(id)] = case.sets[..] {
            let Some(set) = self.ir.program.value_sets.get(id) else { return self.error(format!("no {id}")) };
            let same = set.widths.len() == widths.len() && set.widths.iter().zip(widths).all(|(a, b)| b.is_none_or(|b| b == *a));
            self.check(same, || format!("{id} has other widths than the keys"));
            return;
        }
        let (sets, keys) = (case.sets.len(), widths.len());
        self.check(sets == keys, || format!("case of {sets} sets for {keys} keys"));
        for (set, width) in case.sets.iter().zip(widths) {
            let ok = |b: &Bits| width.is_none_or(|w| b.width() == w);
            let fits = match set {
                KeySet::Value { value, mask } => ok(value) && ok(mask),
                KeySet::Range { low, high } => ok(low) && ok(high) && low.value() <= high.value(),
                KeySet::Any => true,
                KeySet::ValueSet(_) => false,
            };
            self.check(fits, || format!("{set:?} does not fit its key"));
        }
    }

    fn next(&mut self, next: Next) {
        if let Next::State(s) = next {
            self.check(self.ir.states.is_valid(s), || format!("transition to {s}, which does not exist"));
        }
    }

    fn body(&mut self, place: &str, context: Context, action: Option<ActionId>, block: &Block) {
        self.place = place.to_owned();
        self.context = context;
        self.action = action;
        self.open.clear();
        self.depth = 0;
        self.block(block);
    }

    fn block(&mut self, block: &Block) {
        if self.depth >= MAX_DEPTH {
            return self.error(format!("statements nest deeper than {MAX_DEPTH}"));
        }
        self.depth += 1;
        for s in block {
            self.stmt(s);
        }
        self.depth -= 1;
    }

    fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::Assign(dst, value) => {
                let (a, b) = (self.lvalue(dst), self.expr(value));
                self.equal("assignment", a, b);
            }
            Stmt::SetValid(h, _) => {
                self.header(h);
            }
            Stmt::CopyHeader { dst, src } => {
                let (a, b) = (self.header(dst), self.header(src));
                if let (Some(a), Some(b)) = (a, b) {
                    self.check(a == b, || format!("copy of a {b} to a {a}"));
                }
            }
            Stmt::CopyVarbit { dst, src } => {
                let (a, b) = (self.varbit_width(dst), self.varbit_width(src));
                if let (Some(a), Some(b)) = (a, b) {
                    self.check(a >= b, || format!("copy of a varbit<{b}> to a varbit<{a}>"));
                }
            }
            Stmt::CopyStack { dst, src } => {
                if self.stack(*dst) && self.stack(*src) {
                    let (a, b) = (&self.ir.stacks[*dst], &self.ir.stacks[*src]);
                    let ty = |s: &Stack| s.elements.first().and_then(|h| self.ir.headers.get(*h)).map(|h| h.ty);
                    let same = a.elements.len() == b.elements.len() && ty(a) == ty(b);
                    self.check(same, || format!("copy of {src} to {dst}, which is of another type or size"));
                }
            }
            Stmt::Push(s, _) | Stmt::Pop(s, _) => {
                self.stack(*s);
            }
            Stmt::If(cond, then, els) => {
                self.boolean("condition", cond);
                self.block(then);
                self.block(els);
            }
            Stmt::Switch { on, cases, default } => {
                let width = self.expr(on).map(Ty::width);
                for (values, body) in cases {
                    for v in values {
                        self.check(width.is_none_or(|w| w == v.width()), || format!("case {v} has another width"));
                    }
                    self.block(body);
                }
                self.block(default);
            }
            Stmt::Labeled(label, body) => {
                self.check(self.ir.labels.is_valid(*label), || format!("no {label}"));
                let first = self.used_labels.insert(*label);
                self.check(first, || format!("{label} names two blocks"));
                self.open.push(*label);
                self.block(body);
                self.open.pop();
            }
            Stmt::Break(label) => {
                self.check(self.open.contains(label), || format!("break {label} outside of its block"));
            }
            Stmt::Loop(body) => {
                self.loops += 1;
                self.block(body);
                self.loops -= 1;
            }
            Stmt::Exit => {
                self.only("exit", &[Context::Control, Context::Action]);
            }
            Stmt::Apply { table, hit, action_run } => {
                self.only("apply", &[Context::Control]);
                self.check(self.ir.program.tables.is_valid(*table), || format!("no {table}"));
                if let Some(ty) = hit.and_then(|v| self.var(v)) {
                    self.check(ty == Ty::Bool, || format!("hit goes to a {ty}"));
                }
                if let Some(ty) = action_run.and_then(|v| self.var(v)) {
                    self.check(ty == Ty::Bit(32), || format!("action_run goes to a {ty}"));
                }
            }
            Stmt::Extract { header, varbit_bits } => {
                self.only("extract", &[Context::State]);
                if let Some(ty) = self.header(header) {
                    let varbit = self.ir.header_types[ty].fields.iter().any(|f| f.varbit);
                    self.check(varbit == varbit_bits.is_some(), || "extract with the wrong number of arguments".into());
                }
                if let Some(e) = varbit_bits {
                    self.bits("varbit length", e);
                }
            }
            Stmt::Advance(e) => {
                self.only("advance", &[Context::State]);
                self.bits("advance", e);
            }
            Stmt::Lookahead(dst, _) => {
                self.only("lookahead", &[Context::State]);
                self.lvalue(dst);
            }
            Stmt::Verify(cond, error) => {
                self.only("verify", &[Context::State]);
                self.boolean("verify", cond);
                let known = (error.value() as usize) < self.ir.program.errors.len();
                self.check(known, || format!("no error {error}"));
            }
            Stmt::Emit(h) => {
                self.only("emit", &[Context::Deparser]);
                self.header(h);
            }
            Stmt::Extern(e) => self.external(e),
        }
    }

    fn external(&mut self, e: &Extern) {
        match e {
            Extern::Count { counter, index } => {
                let direct = self.ir.program.counters.get(*counter).map(|c| c.table.is_some());
                self.check(direct == Some(false), || format!("{counter} is not an indexed counter"));
                self.bits("index", index);
            }
            Extern::DirectCount(c) => {
                self.direct(&c.to_string(), |t| t.direct_counter == Some(*c));
            }
            Extern::Meter { meter, index, result } => {
                let direct = self.ir.program.meters.get(*meter).map(|m| m.table.is_some());
                self.check(direct == Some(false), || format!("{meter} is not an indexed meter"));
                self.bits("index", index);
                self.lvalue_bits(result);
            }
            Extern::DirectMeter { meter, result } => {
                self.direct(&meter.to_string(), |t| t.direct_meter == Some(*meter));
                self.lvalue_bits(result);
            }
            Extern::RegisterRead { register, index, result } => {
                self.bits("index", index);
                let ty = self.lvalue(result);
                self.register(*register, ty);
            }
            Extern::RegisterWrite { register, index, value } => {
                self.bits("index", index);
                let ty = self.expr(value);
                self.register(*register, ty);
            }
            Extern::Hash { result, base, data, max, .. } => {
                self.lvalue_bits(result);
                self.bits("base", base);
                self.bits("max", max);
                for d in data {
                    self.expr(d);
                }
            }
            Extern::Random { result, low, high } => {
                let (r, l, h) = (self.lvalue(result), self.expr(low), self.expr(high));
                self.equal("random", r, l);
                self.equal("random", r, h);
            }
            Extern::MarkToDrop => {
                let has = self.ir.intrinsic.standard.contains_key("egress_spec");
                self.check(has, || "mark_to_drop without egress_spec".into());
            }
            Extern::VerifyChecksum { condition, data, checksum, .. } => {
                self.only("verify_checksum", &[Context::Checksum]);
                let has = self.ir.intrinsic.standard.contains_key("checksum_error");
                self.check(has, || "verify_checksum without checksum_error".into());
                self.boolean("condition", condition);
                self.checked(data);
                self.bits("checksum", checksum);
            }
            Extern::UpdateChecksum { condition, data, checksum, .. } => {
                self.only("update_checksum", &[Context::Checksum]);
                self.boolean("condition", condition);
                self.checked(data);
                self.lvalue_bits(checksum);
            }
            Extern::Digest { receiver, data } => {
                self.bits("receiver", receiver);
                for d in data {
                    self.expr(d);
                }
            }
            Extern::Assert(e, _) => self.boolean("assert", e),
            Extern::Log(_, values) => {
                for v in values {
                    self.expr(v);
                }
            }
            Extern::Truncate(e) => self.bits("truncate", e),
            Extern::Replicate { session, fields, .. } => {
                for e in [session, fields].into_iter().flatten() {
                    self.bits("argument", e);
                }
            }
            Extern::Stage(_) => {
                self.only("the end of a stage", &[Context::Control]);
                let outside = self.loops == 0;
                self.check(outside, || "the end of a stage in a loop".into());
            }
            Extern::Service { service, request, answer } => {
                self.only("a call of a service", &[Context::Control]);
                let outside = self.loops == 0;
                self.check(outside, || "a call of a service in a loop".into());
                let request: Vec<_> = request.iter().map(|e| self.expr(e)).collect();
                let answer: Option<Vec<_>> = answer.as_ref().map(|all| all.iter().map(|l| self.lvalue(l)).collect());
                let Some(info) = self.ir.program.services.get(*service) else { return self.error(format!("no {service}")) };
                let fits = |found: &[Option<Ty>], fields: &[program::ParamInfo]| {
                    found.len() == fields.len() && found.iter().zip(fields).all(|(t, f)| t.is_none_or(|t| t.width() == f.width))
                };
                self.check(fits(&request, &info.request), || format!("request {request:?} of {service}"));
                self.check(answer.as_ref().is_none_or(|a| fits(a, &info.answer)), || format!("answer {answer:?} of {service}"));
            }
        }
    }

    fn checked(&mut self, data: &[CheckData]) {
        for d in data {
            match d {
                CheckData::Value(e) => {
                    self.expr(e);
                }
                CheckData::Varbit(h, i) => self.varbit(h, *i),
            }
        }
    }

    /// An object attached to a table, used in an action: it must be the object of every table with the action.
    fn direct(&mut self, name: &str, owned: impl Fn(&program::TableInfo) -> bool) {
        self.only(name, &[Context::Action]);
        let Some(action) = self.action else { return };
        for (id, t) in &self.ir.program.tables {
            if t.actions.iter().any(|u| u.action == action) || t.default_action.0 == action {
                self.check(owned(t), || format!("{name} is not attached to {id} {}", t.full_name));
            }
        }
    }

    fn register(&mut self, register: RegisterId, ty: Option<Ty>) {
        let Some(info) = self.ir.program.registers.get(register) else {
            return self.error(format!("no {register}"));
        };
        let fits = ty.is_none_or(|t| t.width() == info.width);
        self.check(fits, || format!("{register} holds {} bits, not {ty:?}", info.width));
    }

    fn only(&mut self, what: &str, contexts: &[Context]) {
        let context = self.context;
        self.check(contexts.contains(&context), || format!("{what} in {context:?}"));
    }

    fn equal(&mut self, what: &str, a: Option<Ty>, b: Option<Ty>) {
        if let (Some(a), Some(b)) = (a, b) {
            self.check(a == b, || format!("{what} of a {b} to a {a}"));
        }
    }

    fn boolean(&mut self, what: &str, e: &Expr) {
        if let Some(ty) = self.expr(e) {
            self.check(ty == Ty::Bool, || format!("{what} is a {ty}"));
        }
    }

    fn bits(&mut self, what: &str, e: &Expr) {
        if let Some(ty) = self.expr(e) {
            self.check(ty != Ty::Bool, || format!("{what} is a bool"));
        }
    }

    fn lvalue_bits(&mut self, dst: &LValue) {
        if let Some(ty) = self.lvalue(dst) {
            self.check(ty != Ty::Bool, || "result goes to a bool".into());
        }
    }

    fn var(&mut self, id: VarId) -> Option<Ty> {
        let ty = self.ir.vars.get(id).map(|v| v.ty);
        self.check(ty.is_some(), || format!("no {id}"));
        ty
    }

    fn stack(&mut self, id: StackId) -> bool {
        self.check(self.ir.stacks.is_valid(id), || format!("no {id}"))
    }

    /// The type of the header, if all ids are in range.
    fn header(&mut self, h: &HeaderRef) -> Option<HeaderTypeId> {
        match h {
            HeaderRef::Static(id) => {
                self.check(self.ir.headers.is_valid(*id), || format!("no {id}"));
            }
            HeaderRef::Next(s) | HeaderRef::Last(s) => {
                self.stack(*s);
                self.only("stack.next or stack.last", &[Context::State]);
            }
            HeaderRef::Index(s, i) => {
                self.stack(*s);
                self.bits("index", i);
            }
        }
        self.ir.type_of(h).filter(|t| self.ir.header_types.is_valid(*t))
    }

    fn field(&mut self, h: &HeaderRef, index: u32) -> Option<Ty> {
        let ty = self.header(h)?;
        let Some(f) = self.ir.header_types[ty].fields.get(index as usize) else {
            self.error(format!("no field {index} in {ty}"));
            return None;
        };
        self.check(!f.varbit, || format!("varbit field {} used as a number", f.name));
        Some(f.ty)
    }

    fn varbit(&mut self, h: &HeaderRef, index: u32) {
        if let Some(ty) = self.header(h) {
            let varbit = self.ir.header_types[ty].fields.get(index as usize).is_some_and(|f| f.varbit);
            self.check(varbit, || format!("field {index} of {ty} is not varbit"));
        }
    }

    fn lvalue(&mut self, dst: &LValue) -> Option<Ty> {
        // Slices of slices are the only nesting, so walk instead of recursing.
        let mut slices = Vec::new();
        let mut at = dst;
        while let LValue::Slice(inner, hi, lo) = at {
            slices.push((*hi, *lo));
            at = inner;
        }
        let deep = self.depth + slices.len() > MAX_DEPTH;
        self.check(!deep, || format!("slices nest deeper than {MAX_DEPTH}"));
        let mut ty = match at {
            LValue::Var(v) => self.var(*v)?,
            LValue::Field(h, i) => self.field(h, *i)?,
            LValue::Slice(..) => return None,
        };
        for (hi, lo) in slices.into_iter().rev() {
            ty = self.slice(ty, hi, lo)?;
        }
        Some(ty)
    }

    fn slice(&mut self, of: Ty, hi: u32, lo: u32) -> Option<Ty> {
        let ok = lo <= hi && hi < of.width() && of != Ty::Bool;
        self.check(ok, || format!("slice [{hi}:{lo}] of a {of}"));
        ok.then(|| Ty::Bit(hi - lo + 1))
    }

    /// Checks `e` and gives its type, or `None` if an error in it makes the type meaningless.
    fn expr(&mut self, e: &Expr) -> Option<Ty> {
        if self.depth >= MAX_DEPTH {
            self.error(format!("expressions nest deeper than {MAX_DEPTH}"));
            return None;
        }
        self.depth += 1;
        let ty = self.expr_inner(e);
        self.depth -= 1;
        let ty = ty?;
        self.check(ty == e.ty, || format!("expression of type {ty} says {}", e.ty)).then_some(ty)
    }

    fn expr_inner(&mut self, e: &Expr) -> Option<Ty> {
        self.scalar(e.ty);
        match &e.kind {
            ExprKind::Const(b) => {
                self.check(b.width() == e.ty.width(), || format!("constant {b} as {}", e.ty));
                Some(e.ty)
            }
            ExprKind::Var(v) => self.var(*v),
            ExprKind::Field(h, i) => self.field(h, *i),
            ExprKind::IsValid(h) => {
                self.header(h);
                Some(Ty::Bool)
            }
            ExprKind::LastIndex(s) | ExprKind::NextIndex(s) => {
                self.stack(*s);
                Some(Ty::Bit(32))
            }
            ExprKind::VarbitBits(h, i) => {
                self.varbit(h, *i);
                self.check(matches!(e.ty, Ty::Bit(_)), || format!("varbit length is a {}", e.ty));
                Some(e.ty)
            }
            ExprKind::VarbitEq(a, b) => {
                self.varbit_width(a);
                self.varbit_width(b);
                Some(Ty::Bool)
            }
            ExprKind::Unary(op, a) => {
                let ty = self.expr(a)?;
                let ok = (*op == UnOp::Not) == (ty == Ty::Bool);
                self.check(ok, || format!("{op:?} of a {ty}")).then_some(ty)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.binary(*op, a?, b?)
            }
            ExprKind::Cast(a) => {
                let from = self.expr(a)?;
                let ok = match (from, e.ty) {
                    (Ty::Bool, Ty::Bit(1)) | (Ty::Bit(1), Ty::Bool) => true,
                    (Ty::Bool, to) => to == Ty::Bool,
                    (_, to) => to != Ty::Bool,
                };
                self.check(ok, || format!("cast of a {from} to {}", e.ty)).then_some(e.ty)
            }
            ExprKind::Slice(a, hi, lo) => {
                let ty = self.expr(a)?;
                self.slice(ty, *hi, *lo)
            }
            ExprKind::Concat(a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let (a, b) = (a?, b?);
                match a {
                    Ty::Bit(w) if b != Ty::Bool => Some(Ty::Bit(w + b.width())),
                    Ty::Int(w) if b != Ty::Bool => Some(Ty::Int(w + b.width())),
                    _ => {
                        self.error(format!("concatenation of a {a} and a {b}"));
                        None
                    }
                }
            }
            ExprKind::Mux(c, a, b) => {
                self.boolean("condition", c);
                let (a, b) = (self.expr(a), self.expr(b));
                self.equal("arms of ?:", a, b);
                a
            }
        }
    }

    fn binary(&mut self, op: BinOp, a: Ty, b: Ty) -> Option<Ty> {
        let numeric = a != Ty::Bool;
        let (ok, result) = match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::AddSat | BinOp::SubSat | BinOp::And | BinOp::Or | BinOp::Xor => {
                (a == b && numeric, a)
            }
            BinOp::Div | BinOp::Mod => (a == b && matches!(a, Ty::Bit(_)), a),
            BinOp::Shl | BinOp::Shr => (numeric && matches!(b, Ty::Bit(_)), a),
            BinOp::Eq | BinOp::Ne => (a == b, Ty::Bool),
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => (a == b && numeric, Ty::Bool),
            BinOp::LAnd | BinOp::LOr => (a == Ty::Bool && b == Ty::Bool, Ty::Bool),
        };
        self.check(ok, || format!("{op:?} of a {a} and a {b}")).then_some(result)
    }
}
