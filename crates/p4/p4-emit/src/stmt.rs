//! Statements as C text, those with look-ups outside of loops excepted: they are cut up by [`crate::graph`].

use crate::EmitError;
use crate::emitter::{Emitter, arrive, local_type};
use crate::expr::{Which, head, paren, slice};
use crate::facts::Place;
use crate::field::{constant, mask, store};
use crate::graph::Rest;
use crate::model::Home;
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{Bits, Block, Expr, HeaderId, HeaderRef, LValue, LabelId, StackId, Stmt};
use std::collections::BTreeSet;

impl<'a> Emitter<'a> {
    /// Statements in order; what nothing reaches is left out.
    pub(crate) fn block(&mut self, block: &'a [Stmt]) -> Result<(), EmitError> {
        for (i, stmt) in block.iter().enumerate() {
            if self.flow.is_none() {
                return Ok(());
            }
            self.rest.push(Rest::Stmts(&block[i + 1..]));
            self.stmt(stmt)?;
            self.rest.pop();
        }
        Ok(())
    }

    /// One statement.
    pub(crate) fn stmt(&mut self, stmt: &'a Stmt) -> Result<(), EmitError> {
        match stmt {
            Stmt::Assign(to, value) => {
                let text = self.expr(value)?;
                let known = self.facts().and_then(|f| f.known(value, &text));
                self.assign(to, &text)?;
                if let LValue::Var(v) = to {
                    self.note_value(*v, known);
                }
                Ok(())
            }
            Stmt::SetValid(h, valid) => self.for_header(h, |e, h| {
                e.set_valid(h, *valid);
                Ok(())
            }),
            Stmt::CopyHeader { dst, src } => self.copy_header_ref(dst, src),
            Stmt::CopyVarbit { dst, src } => self.copy_varbit(dst, src),
            Stmt::CopyStack { dst, src } => self.copy_stack(*dst, *src),
            Stmt::Push(stack, n) => self.push(*stack, *n),
            Stmt::Pop(stack, n) => self.pop(*stack, *n),
            Stmt::If(condition, a, b) => self.if_else(condition, a, b),
            Stmt::Switch { on, cases, default } => self.switch(on, cases, default),
            Stmt::Labeled(label, block) => self.labeled(*label, block),
            Stmt::Break(label) => self.break_out(*label),
            Stmt::Loop(block) => self.repeat(block),
            Stmt::Exit => match self.targets.exit {
                Some(node) => self.goto(node),
                None => Err(EmitError::unsupported(None, "exit outside of ingress and egress")),
            },
            Stmt::Extern(e) => self.extern_call(e),
            Stmt::Extract { header, varbit_bits } => self.extract(header, varbit_bits.as_ref()),
            Stmt::Advance(bits) => self.advance(bits),
            Stmt::Lookahead(to, skip) => self.lookahead(to, *skip),
            Stmt::Verify(condition, error) => self.verify(condition, *error),
            Stmt::Emit(h) => self.emit(h),
            Stmt::Apply { .. } if self.in_table.is_some() => Err(EmitError::unsupported(Construct::Table, "a table applied in an action")),
            Stmt::Apply { table, hit, action_run } => self.apply_here(*table, *hit, *action_run),
        }
    }

    fn if_else(&mut self, condition: &'a Expr, a: &'a Block, b: &'a Block) -> Result<(), EmitError> {
        let text = self.expr(condition)?;
        match &text[..] {
            "0" => return self.block(b),
            "1" => return self.block(a),
            _ => {}
        }
        let duplicates = self.duplicates_tail(a, b);
        let before = self.fork();
        self.open(format!("if {}", head(&text)));
        self.assume(condition, true);
        self.block(a)?;
        if duplicates {
            self.print_tail()?;
        }
        let after_a = std::mem::replace(&mut self.flow, before);
        self.assume(condition, false);
        if !b.is_empty() {
            self.or_else();
            self.block(b)?;
        }
        self.close();
        arrive(&mut self.flow, after_a);
        Ok(())
    }

    fn switch(&mut self, on: &'a Expr, cases: &'a [(Vec<Bits>, Block)], default: &'a Block) -> Result<(), EmitError> {
        if let Some(value) = self.facts().and_then(|f| f.evaluate(on)) {
            let taken = cases.iter().find(|(values, _)| values.iter().any(|v| v.value() == value));
            return self.block(taken.map_or(default, |(_, body)| body));
        }
        let value = self.expr(on)?;
        let before = self.fork();
        let mut after = None;
        let mut seen = BTreeSet::new();
        let wide = on.ty.width() > 64;
        if wide {
            // C switches on no more than 64 bits.
            let name = format!("x{}", self.unique());
            self.line(format!("const sp_u128 {name} = {value};"));
            for (values, body) in cases {
                let tests: Vec<_> = values.iter().map(|v| format!("{name} == {}", constant(on.ty.width(), v.value()))).collect();
                self.open(format!("if ({})", if tests.is_empty() { "0".into() } else { tests.join(" || ") }));
                self.flow = before.clone();
                self.block(body)?;
                arrive(&mut after, self.flow.take());
                self.or_else();
            }
            self.flow = before;
            self.block(default)?;
            arrive(&mut after, self.flow.take());
            cases.iter().for_each(|_| self.close());
            self.flow = after;
            return Ok(());
        }
        self.open(format!("switch {}", head(&value)));
        for (values, body) in cases {
            // The first case that holds a value counts.
            let new: Vec<_> = values.iter().filter(|v| seen.insert(v.value())).collect();
            let Some((last, others)) = new.split_last() else { continue };
            for v in others {
                self.line(format!("case {}:", constant(on.ty.width(), v.value())));
            }
            self.open(format!("case {}:", constant(on.ty.width(), last.value())));
            self.flow = before.clone();
            self.block(body)?;
            self.end_case(&mut after);
        }
        self.open("default:");
        self.flow = before;
        self.block(default)?;
        self.end_case(&mut after);
        self.close();
        self.flow = after;
        Ok(())
    }

    /// `break; }`, and what is known behind the switch.
    pub(crate) fn end_case(&mut self, after: &mut Option<crate::emitter::Flow>) {
        if self.flow.is_some() {
            self.line("break;");
        }
        self.close();
        let flow = self.flow.take();
        arrive(after, flow);
    }

    fn labeled(&mut self, label: LabelId, block: &'a Block) -> Result<(), EmitError> {
        let name = format!("leave_{}", self.unique());
        self.labels.push((label, name.clone(), None));
        self.block(block)?;
        let (_, _, arrived) = self.labels.pop().ok_or_else(|| EmitError::invalid("labels that do not nest"))?;
        if arrived.is_some() {
            self.label(&name);
        }
        arrive(&mut self.flow, arrived);
        Ok(())
    }

    fn break_out(&mut self, label: LabelId) -> Result<(), EmitError> {
        if let Some(at) = self.labels.iter().rposition(|(l, ..)| *l == label) {
            let flow = self.flow.take();
            let (_, name, arrived) = &mut self.labels[at];
            arrive(arrived, flow);
            let text = format!("goto {name};");
            self.line(text);
            return Ok(());
        }
        match self.targets.labels.get(&label) {
            Some(node) => self.goto(*node),
            None => Err(EmitError::invalid("a break out of a label that is not around it")),
        }
    }

    fn repeat(&mut self, block: &'a Block) -> Result<(), EmitError> {
        // What a round leaves behind is not known at its beginning.
        if let Some(flow) = &mut self.flow {
            flow.valid.clear();
        }
        self.open("for (;;)");
        let steps = self.steps();
        self.open(format!("if (++{steps} > SP_STEP_LIMIT)"));
        let before = self.fork();
        self.drop_packet("SP_TARGET_FAILED");
        self.flow = before;
        self.close();
        self.rest.push(Rest::Round);
        self.block(block)?;
        self.rest.pop();
        self.close();
        // It is only left by jumps.
        self.flow = None;
        Ok(())
    }

    /// Assigns C text to an lvalue.
    pub(crate) fn assign(&mut self, to: &LValue, value: &str) -> Result<(), EmitError> {
        match to {
            LValue::Var(v) => {
                self.write_var(*v, value);
                Ok(())
            }
            LValue::Field(r, index) => {
                let ir = self.ir;
                let which = self.which(r)?;
                let value = self.hold(value, self.field_width(&which, *index)?);
                self.for_which(which, |e, h| e.store_field(h, *index, &value, ir))
            }
            LValue::Slice(inner, hi, lo) => {
                let width = self.lvalue_width(inner)?;
                if hi >= &width || lo > hi {
                    return Err(EmitError::invalid("a slice beyond its value"));
                }
                let old = self.read_lvalue(inner)?;
                let ty = local_type(width);
                let bits = mask(hi - lo + 1);
                let put = format!("(({old} & ~(({ty}){bits} << {lo})) | ({ty}){} << {lo})", paren(value));
                self.assign(inner, &crate::expr::reduce(&put, width))
            }
        }
    }

    /// A short text for a value: itself, or a new constant.
    fn hold(&mut self, value: &str, width: u32) -> String {
        if value.len() <= 40 {
            return value.to_owned();
        }
        let name = format!("x{}", self.unique());
        self.line(format!("const {} {name} = {value};", local_type(width)));
        name
    }

    fn field_width(&self, which: &Which, index: u32) -> Result<u32, EmitError> {
        let h = match which {
            Which::One(h) => *h,
            Which::Indexed(_, elements) => match elements.first() {
                Some(h) => *h,
                None => return Ok(0),
            },
        };
        let ty = &self.ir.header_types[self.ir.headers[h].ty];
        ty.fields.get(index as usize).map(|f| f.ty.width()).ok_or_else(|| EmitError::invalid("a field that the header does not have"))
    }

    fn store_field(&mut self, h: HeaderId, index: u32, value: &str, ir: &p4_ir::Ir) -> Result<(), EmitError> {
        let ty = &ir.header_types[ir.headers[h].ty];
        let field = ty.fields.get(index as usize).ok_or_else(|| EmitError::invalid("a field that the header does not have"))?;
        if field.varbit {
            return Err(EmitError::unsupported(Construct::Varbit, format!("assignment to varbit field {}", field.name)));
        }
        let known = self.known_valid(h);
        if known == Some(false) {
            return Ok(());
        }
        let holds = self.holds_fields(h);
        if let Some(facts) = self.facts_mut() {
            facts.written_field(h, index, holds);
        }
        if self.in_fields(h) {
            let name = self.field_local(h, index);
            if known == Some(true) {
                self.line(format!("{name} = {value};"));
            } else {
                let valid = self.is_valid(h);
                self.line(format!("if ({valid}) {name} = {value};"));
            }
            return Ok(());
        }
        let mut value = value.to_owned();
        if holds {
            let name = self.field_local(h, index);
            self.line(format!("{name} = {value};"));
            value = name;
        }
        let at = self.address(h);
        let text = store(&at, self.model.fixed_len[h.index()], field.offset_bits, field.ty.width(), &value);
        if known == Some(true) {
            self.line(text);
        } else {
            let valid = self.is_valid(h);
            self.line(format!("if ({valid}) {text}"));
        }
        Ok(())
    }

    /// Width of an lvalue in bits.
    pub(crate) fn lvalue_width(&self, l: &LValue) -> Result<u32, EmitError> {
        Ok(match l {
            LValue::Var(v) => self.ir.vars[*v].ty.width(),
            LValue::Field(r, index) => {
                let which = match r {
                    HeaderRef::Static(h) => Which::One(*h),
                    HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => {
                        Which::Indexed(String::new(), self.ir.stacks[*s].elements.clone())
                    }
                };
                self.field_width(&which, *index)?
            }
            LValue::Slice(_, hi, lo) => hi.saturating_sub(*lo) + 1,
        })
    }

    fn read_lvalue(&mut self, l: &LValue) -> Result<String, EmitError> {
        match l {
            LValue::Var(v) => Ok(self.read_var(*v)),
            LValue::Field(r, index) => match self.which(r)? {
                Which::One(h) => self.load_field(h, *index),
                Which::Indexed(at, elements) => {
                    let mut text = crate::field::constant(self.lvalue_width(l)?, 0);
                    for (i, h) in elements.iter().enumerate().rev() {
                        let one = self.load_field(*h, *index)?;
                        text = format!("({at} == {i} ? {one} : {text})");
                    }
                    Ok(text)
                }
            },
            LValue::Slice(inner, hi, lo) => {
                let width = self.lvalue_width(inner)?;
                let text = self.read_lvalue(inner)?;
                Ok(slice(&text, width, *hi, *lo))
            }
        }
    }

    /// Prints `each` for the header, or in a switch for each that it may be.
    pub(crate) fn for_header(
        &mut self,
        r: &HeaderRef,
        each: impl FnMut(&mut Self, HeaderId) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let which = self.which(r)?;
        self.for_which(which, each)
    }

    fn for_which(&mut self, which: Which, mut each: impl FnMut(&mut Self, HeaderId) -> Result<(), EmitError>) -> Result<(), EmitError> {
        match which {
            Which::One(h) => each(self, h),
            Which::Indexed(at, elements) => {
                let before = self.fork();
                let mut after = before.clone();
                self.open(format!("switch {}", head(&at)));
                for (i, h) in elements.iter().enumerate() {
                    self.open(format!("case {i}:"));
                    self.flow = before.clone();
                    each(self, *h)?;
                    self.end_case(&mut after);
                }
                self.close();
                self.flow = after;
                Ok(())
            }
        }
    }

    /// `setValid` or `setInvalid`.
    pub(crate) fn set_valid(&mut self, h: HeaderId, valid: bool) {
        let known = self.known_valid(h);
        if known == Some(valid) || self.model.homes[h.index()] == Home::Nowhere {
            return;
        }
        if !valid {
            self.set_address(h, "sp_nothing");
            self.set_varbit_len(h, "0");
            self.set_valid_bit(h, false);
            return;
        }
        let guarded = known.is_none();
        if guarded {
            let test = self.is_valid(h);
            self.open(format!("if (!{test})"));
        }
        let (scratch, len) = (self.scratch(h), self.model.fixed_len[h.index()]);
        let place = self.place_made(h);
        if place == Place::Fields {
            self.zero_fields(h);
        } else {
            self.line(format!("sp_zero({scratch}, {len});"));
        }
        self.set_address(h, &scratch);
        self.set_varbit_len(h, "0");
        self.set_valid_bit_at(h, true, place);
        if guarded {
            self.close();
        }
        self.leave_union(h);
        self.note_valid(h, true);
    }

    /// A header of a union has become valid: the others are not.
    pub(crate) fn leave_union(&mut self, h: HeaderId) {
        let ir = self.ir;
        let Some(union) = ir.headers[h].union else { return };
        for (other, header) in ir.headers.iter() {
            if other != h && header.union == Some(union) {
                self.set_valid(other, false);
            }
        }
    }

    fn copy_header_ref(&mut self, dst: &HeaderRef, src: &HeaderRef) -> Result<(), EmitError> {
        let from = self.which(src)?;
        match from {
            Which::One(s) => self.for_header(dst, |e, d| {
                e.copy_header(d, s);
                Ok(())
            }),
            Which::Indexed(at, elements) => self.for_header(dst, |e, d| {
                let before = e.fork();
                let mut after = None;
                e.open(format!("switch {}", head(&at)));
                for (i, s) in elements.iter().enumerate() {
                    e.open(format!("case {i}:"));
                    e.flow = before.clone();
                    e.copy_header(d, *s);
                    e.end_case(&mut after);
                }
                e.open("default:");
                e.flow = before;
                e.set_valid(d, false);
                e.end_case(&mut after);
                e.close();
                e.flow = after;
                Ok(())
            }),
        }
    }

    /// Copies validity and bytes; the copy is in the destination's scratch bytes.
    fn copy_header(&mut self, dst: HeaderId, src: HeaderId) {
        if dst == src {
            return;
        }
        let known = self.known_valid(src);
        if known == Some(false) {
            return self.set_valid(dst, false);
        }
        let before = self.fork();
        if known.is_none() {
            let test = self.is_valid(src);
            self.open(format!("if ({test})"));
        }
        let (from, len) = (self.address(src), self.header_len(src));
        if self.known_valid(dst) == Some(true) && self.model.varbit_len[dst.index()] == 0 {
            // Where it lies it has room: a header that is changed and copied back stays in the packet.
            if let Some(facts) = self.facts_mut() {
                facts.written(dst);
            }
            let to = self.address(dst);
            self.line(format!("sp_copy({to}, {from}, {len});"));
        } else {
            let to = self.scratch(dst);
            if let Some(facts) = self.facts_mut() {
                facts.written(dst);
                facts.set_valid(dst, None);
            }
            self.line(format!("sp_copy({to}, {from}, {len});"));
            if self.model.varbit_len[dst.index()] > 0 {
                let bytes = self.varbit_len(src);
                self.set_varbit_len(dst, &bytes);
            }
            self.set_address(dst, &to);
            self.set_valid_bit(dst, true);
            self.leave_union(dst);
        }
        if known.is_none() {
            let copied = std::mem::replace(&mut self.flow, before);
            self.or_else();
            self.set_valid(dst, false);
            self.close();
            arrive(&mut self.flow, copied);
        }
    }

    /// Copies a varbit field. The header that gets it moves to its scratch bytes, where there is room.
    fn copy_varbit(&mut self, dst: &HeaderRef, src: &HeaderRef) -> Result<(), EmitError> {
        let Which::One(src) = self.which(src)? else {
            return Err(EmitError::unsupported(
                Construct::Varbit,
                "assigning the varbit field of a stack element that is chosen at run time",
            ));
        };
        self.for_header(dst, |e, dst| {
            let known = e.known_valid(dst);
            if dst == src || known == Some(false) {
                return Ok(());
            }
            if known.is_none() {
                let test = e.is_valid(dst);
                e.open(format!("if ({test})"));
            }
            let (to, scratch, fixed) = (e.address(dst), e.scratch(dst), e.model.fixed_len[dst.index()]);
            if to != scratch && fixed > 0 {
                e.line(format!("if ({to} != {scratch}) sp_copy({scratch}, {to}, {fixed});"));
            }
            let (from, len) = (crate::field::plus(&e.address(src), e.model.fixed_len[src.index()]), e.varbit_len(src));
            e.line(format!("sp_copy({}, {from}, {len});", crate::field::plus(&scratch, fixed)));
            e.set_varbit_len(dst, &len);
            e.set_address(dst, &scratch);
            if known.is_none() {
                e.close();
            }
            Ok(())
        })
    }

    fn copy_stack(&mut self, dst: StackId, src: StackId) -> Result<(), EmitError> {
        let ir = self.ir;
        for (d, s) in ir.stacks[dst].elements.iter().zip(&ir.stacks[src].elements) {
            self.copy_header(*d, *s);
        }
        if dst != src {
            let next = self.next_index(src);
            self.set_next_index(dst, &next);
        }
        Ok(())
    }

    fn push(&mut self, stack: StackId, n: u32) -> Result<(), EmitError> {
        let elements = &self.ir.stacks[stack].elements;
        let n = (n as usize).min(elements.len());
        for i in (n..elements.len()).rev() {
            self.copy_header(elements[i], elements[i - n]);
        }
        elements[..n].iter().for_each(|h| self.set_valid(*h, false));
        let (next, size) = (self.next_index(stack), elements.len());
        self.set_next_index(stack, &format!("{next} + {n} < {size} ? {next} + {n} : {size}"));
        Ok(())
    }

    fn pop(&mut self, stack: StackId, n: u32) -> Result<(), EmitError> {
        let elements = &self.ir.stacks[stack].elements;
        let n = (n as usize).min(elements.len());
        for i in n..elements.len() {
            self.copy_header(elements[i - n], elements[i]);
        }
        elements[elements.len() - n..].iter().for_each(|h| self.set_valid(*h, false));
        let next = self.next_index(stack);
        self.set_next_index(stack, &format!("{next} > {n} ? {next} - {n} : 0"));
        Ok(())
    }
}
