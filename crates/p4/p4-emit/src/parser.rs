//! The parser: states become labels of one function, headers pointers into the packet.

use crate::EmitError;
use crate::emitter::{Emitter, Flow, arrive, local_type};
use crate::expr::{Which, convert, head, paren};
use crate::field::constant;
use cranelift_entity::EntityRef;
use p4_analysis::control::successors;
use p4_ir::{Bits, Expr, HeaderId, HeaderRef, Ir, KeySet, LValue, Next, SelectCase, StateId, Transition, ValueSetId, build::CORE_ERRORS};
use std::collections::{BTreeMap, BTreeSet};

/// Arms of a C switch: the values of a case, and where they lead.
type Arms = Vec<(Vec<u128>, Next)>;

impl Emitter<'_> {
    /// The whole parser. Afterwards `payload` is the first byte that it has not consumed.
    pub(crate) fn parser(&mut self) -> Result<(), EmitError> {
        let ir = self.ir;
        self.line("uint8_t *payload = pk->buffer + pk->start;");
        self.line("const uint8_t *const end = payload + pk->length;");
        let cyclic = cyclic(ir);
        if cyclic || self.model.loops {
            self.line("uint32_t steps = 0;");
        }
        // A packet that fails continues after the parser, with what was extracted.
        let mut parsed = None;
        self.parsed = Some(None);
        self.block(&ir.parser().init)?;
        let states = order(ir).unwrap_or_else(|| reachable(ir));
        self.states = BTreeMap::new();
        if let Some(start) = ir.parser().start {
            if cyclic || states.first() != Some(&start) {
                self.go_to_state(Next::State(start));
            } else if let Some(flow) = self.flow.take() {
                self.states.insert(start, flow);
            }
        } else {
            self.go_to_state(Next::Accept);
        }
        for state in states {
            let flow = self.states.get(&state).cloned();
            // In a cycle, later states lead here too: nothing is known but that all variables begin as zero.
            self.flow = if cyclic { Some(Flow::default()) } else { flow };
            if self.flow.is_none() {
                continue;
            }
            self.state(state, cyclic)?;
        }
        self.label("parsed");
        arrive(&mut parsed, self.parsed.take().flatten());
        self.flow = Some(parsed.unwrap_or_default());
        Ok(())
    }

    fn state(&mut self, id: StateId, cyclic: bool) -> Result<(), EmitError> {
        let state = &self.ir.states[id];
        self.label(&state_label(self.ir, id));
        if cyclic || self.model.loops {
            self.open("if (++steps > SP_STEP_LIMIT)");
            self.parser_error("ParserTimeout");
            self.close();
        }
        self.block(&state.body)?;
        if self.flow.is_none() {
            return Ok(());
        }
        match &state.next {
            Transition::Goto(next) => self.go_to_state(*next),
            Transition::Select { keys, cases } => self.select(keys, cases)?,
        }
        Ok(())
    }

    /// Jumps to a state or behind the parser.
    fn go_to_state(&mut self, next: Next) {
        match next {
            Next::State(state) => {
                let flow = self.flow.take();
                match (self.states.get_mut(&state), flow) {
                    (Some(known), Some(flow)) => known.meet(&flow),
                    (None, Some(flow)) => drop(self.states.insert(state, flow)),
                    (_, None) => {}
                }
                let label = state_label(self.ir, state);
                self.line(format!("goto {label};"));
            }
            Next::Accept | Next::Reject => self.leave_parser(),
        }
    }

    fn leave_parser(&mut self) {
        let flow = self.flow.take();
        if let Some(parsed) = &mut self.parsed {
            arrive(parsed, flow);
        }
        self.line("goto parsed;");
    }

    /// Sets `parser_error` and leaves the parser; the flow continues as it was.
    fn parser_error(&mut self, name: &str) {
        let code = self.ir.program.errors.iter().position(|e| e == name).or_else(|| CORE_ERRORS.iter().position(|e| *e == name));
        self.parser_error_code(code.unwrap_or(0) as u128);
    }

    fn parser_error_code(&mut self, code: u128) {
        let before = self.fork();
        if let Some(v) = self.ir.intrinsic.standard.get("parser_error") {
            self.write_var(*v, &constant(self.ir.vars[*v].ty.width(), code));
        }
        self.leave_parser();
        self.flow = before;
    }

    fn select(&mut self, keys: &[Expr], cases: &[SelectCase]) -> Result<(), EmitError> {
        if let ([key], Some((arms, default))) = (keys, plain_arms(keys, cases)) {
            let text = self.expr(key)?;
            let before = self.fork();
            self.open(format!("switch {}", head(&text)));
            for (values, next) in arms {
                for v in values {
                    self.line(format!("case {}:", constant(key.ty.width(), v)));
                }
                self.case_to(next, &before);
            }
            self.line("default:");
            match default {
                Some(next) => self.case_to(next, &before),
                None => self.indented(|e| e.parser_error("NoMatch")),
            }
            self.close();
            self.flow = None;
            return Ok(());
        }
        let mut names = Vec::new();
        for key in keys {
            let (text, name) = (self.expr(key)?, format!("x{}", self.unique()));
            self.line(format!("const {} {name} = {text};", local_type(key.ty.width())));
            names.push((name, key.ty.width()));
        }
        for case in cases {
            let tests: Vec<_> = match case.sets[..] {
                [KeySet::ValueSet(set)] => vec![self.member_of(set, &names)],
                _ => case.sets.iter().zip(&names).filter_map(|(set, (name, width))| test(set, name, *width)).collect(),
            };
            let before = self.fork();
            if tests.is_empty() {
                self.go_to_state(case.next);
                return Ok(());
            }
            let text = if tests.len() == 1 {
                head(&tests[0])
            } else {
                format!("({})", tests.iter().map(|t| paren(t)).collect::<Vec<_>>().join(" && "))
            };
            self.open(format!("if {text}"));
            self.go_to_state(case.next);
            self.close();
            self.flow = before;
        }
        self.parser_error("NoMatch");
        self.flow = None;
        Ok(())
    }

    /// C text that tells whether the keys are a member of a value set.
    fn member_of(&self, set: ValueSetId, keys: &[(String, u32)]) -> String {
        let values: Vec<_> = keys.iter().map(|(name, _)| name.as_str()).collect();
        let name = &self.model.sets[set.index()];
        format!("sp_member(run, SET_{name}, (const sp_u128[]){{{}}}, {})", values.join(", "), values.len())
    }

    fn case_to(&mut self, next: Next, before: &Option<Flow>) {
        self.flow.clone_from(before);
        self.indented(|e| e.go_to_state(next));
        self.flow.clone_from(before);
    }

    /// `extract`.
    pub(crate) fn extract(&mut self, header: &HeaderRef, varbit_bits: Option<&Expr>) -> Result<(), EmitError> {
        let which = self.which(header)?;
        let first = match &which {
            Which::One(h) => *h,
            Which::Indexed(_, elements) => match elements.first() {
                Some(h) => *h,
                None => {
                    self.parser_error("StackOutOfBounds");
                    self.flow = None;
                    return Ok(());
                }
            },
        };
        if let Which::Indexed(at, elements) = &which {
            self.open(format!("if ({at} >= {})", elements.len()));
            self.parser_error("StackOutOfBounds");
            self.close();
        }
        let fixed = self.model.fixed_len[first.index()];
        let mut varbit = None;
        if let Some(bits) = varbit_bits {
            let (text, width, name) = (self.expr(bits)?, bits.ty.width(), format!("x{}", self.unique()));
            self.line(format!("const {} {name} = {text};", local_type(width)));
            self.open(format!("if ({name} % 8)"));
            self.parser_error("ParserInvalidArgument");
            self.close();
            self.open(format!("if ({name} / 8 + {fixed} > (uint32_t)(end - payload) || {name} / 8 > SP_MAX_PACKET)"));
            self.parser_error("PacketTooShort");
            self.close();
            self.open(format!("if ({name} / 8 > {})", self.model.varbit_len[first.index()]));
            self.parser_error("HeaderTooShort");
            self.close();
            varbit = Some(convert(&format!("({name} / 8)"), width, 32));
        } else if fixed > 0 {
            self.open(format!("if (end - payload < {fixed})"));
            self.parser_error("PacketTooShort");
            self.close();
        }
        let bytes = varbit.clone().unwrap_or_else(|| "0".into());
        let advance = match &varbit {
            Some(bytes) => format!("payload += {fixed} + {bytes};"),
            None => format!("payload += {fixed};"),
        };
        match which {
            Which::One(h) => self.extracted(h, &bytes),
            Which::Indexed(at, elements) => {
                let plain = varbit.is_none() && elements.iter().all(|h| self.ir.headers[*h].union.is_none());
                let before = self.fork();
                let mut after = None;
                if let Some(place) = self.address_at(&elements, &at).filter(|_| plain) {
                    self.line(format!("{place} = payload;"));
                    self.set_valid_at(&elements, &at);
                } else {
                    self.open(format!("switch {}", head(&at)));
                    for (i, h) in elements.iter().enumerate() {
                        self.open(format!("case {i}:"));
                        self.flow.clone_from(&before);
                        self.extracted(*h, &bytes);
                        self.end_case(&mut after);
                    }
                    self.close();
                    self.flow = after;
                }
                if let HeaderRef::Next(s) = header {
                    let next = self.next_index(*s);
                    self.set_next_index(*s, &format!("{next} + 1"));
                }
            }
        }
        self.line(advance);
        Ok(())
    }

    fn extracted(&mut self, h: HeaderId, varbit_bytes: &str) {
        self.set_address(h, "payload");
        self.set_varbit_len(h, varbit_bytes);
        self.set_valid_bit(h, true);
        self.leave_union(h);
    }

    /// `advance`.
    pub(crate) fn advance(&mut self, bits: &Expr) -> Result<(), EmitError> {
        let (text, width, name) = (self.expr(bits)?, bits.ty.width(), format!("x{}", self.unique()));
        self.line(format!("const {} {name} = {text};", local_type(width)));
        self.open(format!("if ({name} % 8)"));
        self.parser_error("ParserInvalidArgument");
        self.close();
        self.open(format!("if ({name} / 8 > (uint32_t)(end - payload))"));
        self.parser_error("PacketTooShort");
        self.close();
        self.line(format!("payload += {name} / 8;"));
        Ok(())
    }

    /// `lookahead`.
    pub(crate) fn lookahead(&mut self, to: &LValue, skip: u32) -> Result<(), EmitError> {
        let width = self.lvalue_width(to)?;
        let bytes = width.div_ceil(8);
        if bytes > 0 {
            self.open(format!("if (end - payload < {})", skip + bytes));
            self.parser_error("PacketTooShort");
            self.close();
        }
        self.assign(to, &crate::field::load(&crate::field::plus("payload", skip), bytes, 0, width))
    }

    /// `verify`.
    pub(crate) fn verify(&mut self, condition: &Expr, error: Bits) -> Result<(), EmitError> {
        let text = self.expr(condition)?;
        self.open(format!("if (!{})", paren(&text)));
        self.parser_error_code(error.value());
        self.close();
        self.assume(condition, true);
        Ok(())
    }
}

/// C text that tells whether a value lies in a set; `None` if every value does.
pub(crate) fn test(set: &KeySet, name: &str, width: u32) -> Option<String> {
    match set {
        KeySet::Any => None,
        KeySet::Value { value, mask } => {
            let (all, mask) = (Bits::mask(width), mask.value());
            let value = constant(width, value.value() & mask);
            match mask & all {
                0 => None,
                m if m == all => Some(format!("{name} == {value}")),
                m => Some(format!("({name} & {}) == {value}", constant(width, m))),
            }
        }
        KeySet::Range { low, high } => {
            let (low, high) = (constant(width, low.value()), constant(width, high.value()));
            Some(format!("({name} >= {low} && {name} <= {high})"))
        }
        // The IR's verifier has seen that it stands alone: `Emitter::member_of`.
        KeySet::ValueSet(_) => Some("0".into()),
    }
}

/// The cases as those of a C switch, if each is a plain value or the default: values not seen before.
fn plain_arms(keys: &[Expr], cases: &[SelectCase]) -> Option<(Arms, Option<Next>)> {
    let width = keys.first()?.ty.width();
    if width > 64 {
        return None;
    }
    let (mut arms, mut seen) = (Arms::new(), BTreeSet::new());
    for case in cases {
        match case.sets.first()? {
            KeySet::Any => return Some((arms, Some(case.next))),
            KeySet::Value { value, mask } if mask.value() == Bits::mask(width) => {
                if !seen.insert(value.value()) {
                    continue;
                }
                match arms.last_mut() {
                    Some((values, next)) if *next == case.next => values.push(value.value()),
                    _ => arms.push((vec![value.value()], case.next)),
                }
            }
            _ => return None,
        }
    }
    Some((arms, None))
}

fn state_label(ir: &Ir, id: StateId) -> String {
    let name: String = ir.states[id].name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("state_{}_{name}", id.index())
}

/// States that can be reached, in order of their numbers but the first one first.
fn reachable(ir: &Ir) -> Vec<StateId> {
    ir.states_from(ir.parser().start).into_iter().collect()
}

/// Whether states lead back to themselves.
fn cyclic(ir: &Ir) -> bool {
    order(ir).is_none()
}

/// States after all that lead to them; `None` if there is a cycle.
fn order(ir: &Ir) -> Option<Vec<StateId>> {
    let states = reachable(ir);
    let mut into: BTreeMap<StateId, usize> = states.iter().map(|s| (*s, 0)).collect();
    for s in &states {
        for next in successors(ir, *s) {
            *into.entry(next).or_default() += 1;
        }
    }
    let mut order = Vec::new();
    let mut ready: Vec<_> = ir.parser().start.into_iter().filter(|s| into.get(s) == Some(&0)).collect();
    while let Some(s) = ready.pop() {
        order.push(s);
        for next in successors(ir, s) {
            let left = into.entry(next).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(next);
            }
        }
    }
    (order.len() == states.len()).then_some(order)
}
