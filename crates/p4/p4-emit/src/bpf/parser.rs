//! The parser: states are labels, the place in the packet is `cursor`, headers go into the context (P4_16 §13).
//!
//! A state that is reached at places that the text tells, as all are that have no varbit field, advance or loop before them, is printed for each of
//! these places, with the place a constant; so what it reads has a fixed address, as in a program by hand. A state that has
//! more than few such places, and one in a loop, is printed once, with the place in `cursor`.

use super::Refused;
use super::code::{Code, Facts, Known, meet};
use crate::expr::paren;
use crate::field::{constant, mask};
use cranelift_entity::EntityRef;
use p4_analysis::control::{parse_order, successors};
use p4_ir::origin::{Construct, Holder};
use p4_ir::{Expr, HeaderId, HeaderRef, KeySet, LValue, Next, StateId, Stmt, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// Where parsing ends.
const PARSED: &str = "parsed";
/// Most places for which a state is printed, and most copies in all: each costs the compiler and the verifier time.
const MOST_PLACES: usize = 3;
const MOST_COPIES: usize = 64;
/// Farthest place that is a constant.
const NEAR: u32 = 1024;
/// States that more paths than this lead to forget how far the packet was read: else the verifier walks each path.
const FORGET: u64 = 8;

impl Code<'_> {
    /// Prints all states that are reached; ends at the label `parsed`.
    pub(super) fn parser(&mut self) -> Result<(), Refused> {
        let ir = self.ir;
        self.place = "parser".into();
        self.in_parser = true;
        self.exit = PARSED.into();
        self.block(&ir.parser().init)?;
        if let Some(start) = ir.parser().start {
            let order = parse_order(ir, start);
            let (paths, looping) = paths(ir, &order);
            let mut entry: BTreeMap<StateId, Known> = BTreeMap::new();
            let known = self.must_be_valid(&order, start);
            entry.extend(known);
            // States in loops are those that may come again.
            self.anywhere = order.iter().filter(|s| behind(ir, **s).contains(s)).copied().collect();
            self.at = Some(0);
            self.go(Next::State(start));
            // First what many packets come to: copies are few.
            while let Some((state, at)) = self.waiting.pop().or_else(|| self.unlikely.pop()) {
                self.place = format!("parser state {}", ir.states[state].name);
                self.holder = Some(Holder::State(ir.states[state].name.clone()));
                let name = self.state_label(state, at);
                self.label(&name);
                self.at = at;
                self.known = entry.get(&state).cloned().flatten().or_else(|| Some(Facts::default()));
                if looping.contains(&state) {
                    let stuck = self.jump("stuck");
                    self.line(format!("if (++rounds > SP_ROUNDS) {stuck}"));
                }
                if at.is_none() && (looping.contains(&state) || paths.get(&state).is_some_and(|n| *n > FORGET)) {
                    let stuck = self.jump("stuck");
                    self.line("*(volatile uint32_t *)&c->cursor = cursor;");
                    self.line("cursor = *(volatile uint32_t *)&c->cursor;");
                    self.line(format!("if (cursor > SP_FARTHEST) {stuck}"));
                }
                if !straight(&ir.states[state].body) {
                    self.move_cursor();
                }
                self.block(&ir.states[state].body)?;
                if self.known.is_some() {
                    self.transition(&ir.states[state].next)?;
                }
            }
        }
        self.jumped.insert(PARSED.into());
        self.label(PARSED);
        self.known = Some(Facts::default());
        self.in_parser = false;
        self.holder = None;
        self.line("c->cursor = cursor;");
        self.line("c->valid = SP_VALID;");
        // From here on the verifier knows nothing of what was parsed: one path, not one for each way through the parser.
        self.line("SP_BARRIER();");
        Ok(())
    }

    fn state_label(&self, state: StateId, at: Option<u32>) -> String {
        let name: String = self.ir.states[state].name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let at = at.map_or(String::new(), |at| format!("_at_{at}"));
        format!("state_{}_{name}{at}", state.index())
    }

    pub(super) fn parser_error(&mut self, code: u32) {
        self.write_standard("parser_error", &format!("{code}u"));
        self.go(Next::Reject);
    }

    fn error_code(&self, name: &str) -> u32 {
        let core = || p4_ir::build::CORE_ERRORS.iter().position(|e| *e == name);
        self.ir.program.errors.iter().position(|e| e == name).or_else(core).unwrap_or(0) as u32
    }

    fn error_if(&mut self, condition: &str, name: &str) {
        self.open(format!("if ({condition})"));
        let before = self.known.clone();
        let code = self.error_code(name);
        self.parser_error(code);
        self.known = before;
        self.close();
    }

    fn only_in_parser(&self, what: &str) -> Result<(), Refused> {
        if self.in_parser { Ok(()) } else { Err(self.refuse_because(Construct::Parsing, format!("{what} outside the parser"))) }
    }

    pub(super) fn extract(&mut self, r: &HeaderRef, varbit_bits: Option<&Expr>) -> Result<(), Refused> {
        self.only_in_parser("extract")?;
        self.each(r, |c, h| {
            let Some(h) = h else {
                let code = c.error_code("StackOutOfBounds");
                c.parser_error(code);
                return Ok(());
            };
            c.extract_known(h, varbit_bits)?;
            if let HeaderRef::Next(s) = r {
                let next = c.next(*s);
                let at = c.ir.stacks[*s].elements.iter().position(|e| *e == h).unwrap_or(0);
                c.line(format!("{next} = {}u;", at + 1));
            }
            Ok(())
        })
    }

    fn extract_known(&mut self, h: HeaderId, varbit_bits: Option<&Expr>) -> Result<(), Refused> {
        let (fixed, most) = (self.model.fixed_len[h.index()], self.model.varbit_len[h.index()]);
        let (home, name) = (self.home(h), self.model.headers[h.index()].clone());
        self.open("");
        if let Some(bits) = varbit_bits {
            self.move_cursor();
            let text = self.expr(bits)?;
            let n = self.unique();
            self.line(format!("const uint64_t bits{n} = (uint64_t){};", paren(&text)));
            self.error_if(&format!("bits{n} % 8"), "ParserInvalidArgument");
            // Before the sum, so that it cannot overflow.
            self.error_if(&format!("bits{n} / 8 > 0xffff || cursor + {fixed} + bits{n} / 8 > SP_LENGTH"), "PacketTooShort");
            self.error_if(&format!("bits{n} > {}", most * 8), "HeaderTooShort");
            self.line(format!("uint32_t varbit{n} = (uint32_t)(bits{n} / 8);"));
            self.line("uint8_t *p = data + cursor;");
            self.line("SP_OPAQUE(p);");
            if fixed > 0 {
                self.error_if(&format!("p + {fixed} + SP_BEHIND > end"), "PacketTooShort");
                self.line(format!("sp_copy({home}, p, {fixed});"));
            }
            self.line(format!("sp_zero({home} + {fixed}, {most});"));
            self.line(format!("SP_OPAQUE(varbit{n});"));
            self.open(format!("if (varbit{n} > 0 && varbit{n} <= {most})"));
            let failed = self.jump("failed");
            self.line(format!("if (bpf_xdp_load_bytes(ctx, cursor + {fixed}, {home} + {fixed}, varbit{n})) {failed}"));
            self.close();
            self.line(format!("c->len_{name} = varbit{n};"));
            self.line(format!("cursor += {fixed} + varbit{n};"));
            self.line("*(volatile uint32_t *)&c->cursor = cursor;");
            self.line("cursor = *(volatile uint32_t *)&c->cursor;");
            let stuck = self.jump("stuck");
            self.line(format!("if (cursor > SP_FARTHEST) {stuck}"));
        } else {
            self.open_at();
            self.error_if(&format!("p + {fixed} + SP_BEHIND > end"), "PacketTooShort");
            self.line(format!("sp_copy({home}, p, {fixed});"));
            if most > 0 {
                self.line(format!("sp_zero({home} + {fixed}, {most});"));
                self.line(format!("c->len_{name} = 0;"));
            }
            match &mut self.at {
                Some(at) => *at += fixed,
                None => self.line(format!("cursor += {fixed};")),
            }
        }
        self.becomes_valid(h);
        self.close();
        Ok(())
    }

    pub(super) fn advance(&mut self, bits: &Expr) -> Result<(), Refused> {
        self.only_in_parser("advance")?;
        self.move_cursor();
        let text = self.expr(bits)?;
        let n = self.unique();
        self.open("");
        self.line(format!("const uint64_t bits{n} = (uint64_t){};", paren(&text)));
        self.error_if(&format!("bits{n} % 8"), "ParserInvalidArgument");
        self.error_if(&format!("bits{n} / 8 > 0xffff || cursor + bits{n} / 8 > SP_LENGTH"), "PacketTooShort");
        self.line(format!("cursor += (uint32_t)(bits{n} / 8);"));
        self.line("*(volatile uint32_t *)&c->cursor = cursor;");
        self.line("cursor = *(volatile uint32_t *)&c->cursor;");
        let stuck = self.jump("stuck");
        self.line(format!("if (cursor > SP_FARTHEST) {stuck}"));
        self.close();
        Ok(())
    }

    pub(super) fn lookahead(&mut self, to: &LValue, skip: u32) -> Result<(), Refused> {
        self.only_in_parser("lookahead")?;
        let width = self.lvalue_width(to)?;
        let bytes = width.div_ceil(8);
        self.open("");
        self.open_at();
        self.error_if(&format!("p + {} + SP_BEHIND > end", skip + bytes), "PacketTooShort");
        let text = Code::load_bits(&crate::field::plus("p", skip), bytes, width);
        self.assign(to, &text)?;
        self.close();
        Ok(())
    }

    fn transition(&mut self, transition: &Transition) -> Result<(), Refused> {
        let (keys, cases) = match transition {
            Transition::Goto(next) => {
                self.go(*next);
                return Ok(());
            }
            Transition::Select { keys, cases } => (keys, cases),
        };
        self.open("");
        let number = self.unique();
        for (i, key) in keys.iter().enumerate() {
            let text = self.expr(key)?;
            self.line(format!("const {} key{number}_{i} = {text};", crate::emitter::local_type(key.ty.width())));
        }
        let known = self.known.clone();
        let mut always = false;
        for case in cases {
            let mut tests = Vec::new();
            for (i, (set, key)) in case.sets.iter().zip(keys).enumerate() {
                let (name, width) = (format!("key{number}_{i}"), key.ty.width());
                match set {
                    KeySet::Any => {}
                    KeySet::Value { value, mask: m } if m.value() == base::Bits::mask(width) => {
                        tests.push(format!("{name} == {}", constant(width, value.value())));
                    }
                    KeySet::Value { value, mask: m } => {
                        let (m, value) = (m.value(), value.value() & m.value());
                        tests.push(format!("({name} & {}) == {}", constant(width, m), constant(width, value)));
                    }
                    KeySet::Range { low, high } => {
                        if low.value() > 0 {
                            tests.push(format!("{name} >= {}", constant(width, low.value())));
                        }
                        if constant(width, high.value()) != mask(width) {
                            tests.push(format!("{name} <= {}", constant(width, high.value())));
                        }
                    }
                    KeySet::ValueSet(_) => return Err(self.refuse_because(Construct::ValueSet, "value sets")),
                }
            }
            self.known = known.clone();
            if tests.is_empty() {
                self.go(case.next);
                always = true;
                break;
            }
            self.open(format!("if ({})", tests.join(" && ")));
            self.go(case.next);
            self.close();
        }
        if !always {
            self.known = known;
            let code = self.error_code("NoMatch");
            self.parser_error(code);
        }
        self.close();
        Ok(())
    }

    /// `p` is where the parser is.
    fn open_at(&mut self) {
        match self.at {
            Some(at) => self.line(format!("uint8_t *p = data + {at};")),
            None => self.line("uint8_t *p = data + cursor;"),
        }
        self.line("SP_OPAQUE(p);");
    }

    /// From here on the place is in `cursor`.
    fn move_cursor(&mut self) {
        if let Some(at) = self.at.take() {
            self.line(format!("cursor = {at};"));
        }
    }

    /// Goes on elsewhere: no packet comes behind it.
    pub(super) fn go(&mut self, next: Next) {
        let before = self.at;
        let name = match next {
            Next::State(state) => {
                let of = |at: Option<u32>| self.copies.contains(&(state, at));
                let places = self.copies.iter().filter(|(s, at)| *s == state && at.is_some()).count();
                let here = self.at.filter(|at| {
                    of(Some(*at))
                        || (!self.anywhere.contains(&state) && *at <= NEAR && places < MOST_PLACES && self.copies.len() < MOST_COPIES)
                });
                if here.is_none() {
                    self.move_cursor();
                }
                if self.copies.insert((state, here)) {
                    let unlikely = self.ir.states[state].likely == Some(false);
                    if unlikely { &mut self.unlikely } else { &mut self.waiting }.push((state, here));
                }
                self.state_label(state, here)
            }
            Next::Accept | Next::Reject => {
                self.move_cursor();
                PARSED.to_owned()
            }
        };
        self.goto(&name);
        self.at = before;
    }

    /// Headers that are certainly valid or invalid when each state begins.
    fn must_be_valid(&self, order: &[StateId], start: StateId) -> BTreeMap<StateId, Known> {
        let ir = self.ir;
        let nothing: BTreeMap<_, _> = ir.headers.keys().map(|h| (h, false)).collect();
        let mut entry: BTreeMap<StateId, Known> =
            BTreeMap::from([(start, Some(Facts { sure: nothing, sets: None, values: BTreeMap::new() }))]);
        // Facts only become fewer, so this ends.
        loop {
            let mut changed = false;
            for state in order {
                let Some(Some(mut known)) = entry.get(state).cloned() else { continue };
                p4_ir::walk::all_stmts(&ir.states[*state].body, &mut |s| self.validity_after(s, &mut known.sure));
                for next in successors(ir, *state) {
                    let before = entry.get(&next).cloned();
                    let after = match &before {
                        Some(before) => meet(before.clone(), Some(known.clone())),
                        None => Some(known.clone()),
                    };
                    if before.as_ref() != Some(&after) {
                        entry.insert(next, after);
                        changed = true;
                    }
                }
            }
            if !changed {
                return entry;
            }
        }
    }

    fn validity_after(&self, s: &Stmt, known: &mut BTreeMap<p4_ir::HeaderId, bool>) {
        match s {
            Stmt::Extract { header: HeaderRef::Static(h), .. } => {
                if let Some(union) = self.ir.headers[*h].union {
                    known.retain(|h, _| self.ir.headers[*h].union != Some(union));
                }
                known.insert(*h, true);
            }
            Stmt::SetValid(HeaderRef::Static(h), _) => {
                known.remove(h);
            }
            Stmt::Extract { .. }
            | Stmt::SetValid(..)
            | Stmt::CopyHeader { .. }
            | Stmt::CopyStack { .. }
            | Stmt::Push(..)
            | Stmt::Pop(..) => {
                known.clear();
            }
            // An extract under a condition may not happen.
            Stmt::If(..) | Stmt::Switch { .. } | Stmt::Labeled(..) | Stmt::Loop(_) => {
                let (mut touched, mut all) = (BTreeSet::new(), false);
                p4_ir::walk::stmt_blocks(s, &mut |b| {
                    p4_ir::walk::all_stmts(b, &mut |s| match s {
                        Stmt::Extract { header: HeaderRef::Static(h), .. } | Stmt::SetValid(HeaderRef::Static(h), _)
                            if self.ir.headers[*h].union.is_none() =>
                        {
                            touched.insert(*h);
                        }
                        Stmt::Extract { .. }
                        | Stmt::SetValid(..)
                        | Stmt::CopyHeader { .. }
                        | Stmt::CopyStack { .. }
                        | Stmt::Push(..)
                        | Stmt::Pop(..) => all = true,
                        _ => {}
                    });
                });
                known.retain(|h, _| !all && !touched.contains(h));
            }
            _ => {}
        }
    }
}

/// Whether the parser moves on only in steps that all packets take that come so far, and that are the same for all.
fn straight(body: &p4_ir::Block) -> bool {
    let moves = |s: &Stmt| matches!(s, Stmt::Extract { .. } | Stmt::Advance(_));
    body.iter().all(|s| {
        let mut inner = false;
        p4_ir::walk::stmt_blocks(s, &mut |b| p4_ir::walk::all_stmts(b, &mut |s| inner |= moves(s)));
        !inner && (!moves(s) || matches!(s, Stmt::Extract { header: HeaderRef::Static(_), .. }))
    })
}

/// States that a way of one step or more leads to.
pub(super) fn behind(ir: &p4_ir::Ir, from: StateId) -> BTreeSet<StateId> {
    let (mut seen, mut open) = (BTreeSet::new(), successors(ir, from));
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(successors(ir, next));
        }
    }
    seen
}

/// How many paths lead to each state since the last one that forgets, and the states that a jump back leads to.
fn paths(ir: &p4_ir::Ir, order: &[StateId]) -> (BTreeMap<StateId, u64>, BTreeSet<StateId>) {
    let place: BTreeMap<StateId, usize> = order.iter().enumerate().map(|(i, s)| (*s, i)).collect();
    let mut looping = BTreeSet::new();
    for (i, state) in order.iter().enumerate() {
        looping.extend(successors(ir, *state).into_iter().filter(|s| place[s] <= i));
    }
    let mut paths: BTreeMap<StateId, u64> = BTreeMap::new();
    for state in order {
        let n = *paths.entry(*state).or_insert(1);
        let n = if n > FORGET || looping.contains(state) { 1 } else { n };
        let next: BTreeSet<StateId> = successors(ir, *state).into_iter().collect();
        for s in next.into_iter().filter(|s| place[s] > place[state]) {
            let sum = paths.entry(s).or_insert(0);
            *sum = sum.saturating_add(n);
        }
    }
    (paths, looping)
}
