//! Statements as C.

use super::Refused;
use super::code::{Code, Facts, literal, meet};
use super::stacks::Which;
use crate::emitter::local_type;
use crate::expr::{convert, head, paren};
use crate::field::{constant, load, mask, store};
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{Block, Expr, HeaderId, HeaderRef, LValue, LabelId, Stmt};

/// Bytes of C text: what few lines of a program ask for may be very long where stacks are moved about.
const MOST_TEXT: usize = 8 << 20;

impl Code<'_> {
    pub(super) fn block(&mut self, block: &Block) -> Result<(), Refused> {
        for s in block {
            if self.known.is_none() {
                break;
            }
            if self.text.len() > MOST_TEXT {
                return Err(self.refuse(format!("a program of more than {MOST_TEXT} bytes of C text")));
            }
            self.stmt(s)?;
        }
        Ok(())
    }

    /// A loop that only a break ends. Nothing is known where it begins again.
    fn repeat(&mut self, body: &Block) -> Result<(), Refused> {
        let name = format!("again_{}", self.unique());
        self.jumped.insert(name.clone());
        self.label(&name);
        let stuck = self.jump("stuck");
        // The verifier walks through every round.
        let mut applies = false;
        p4_ir::walk::all_stmts(body, &mut |s| applies |= matches!(s, Stmt::Apply { .. }));
        let turn = if applies { "(turns += SP_TURNS_OF_A_TABLE)" } else { "++turns" };
        self.line(format!("if ({turn} > SP_TURNS) {stuck}"));
        self.known = Some(Facts::default());
        self.loops += 1;
        self.block(body)?;
        self.loops -= 1;
        if self.known.is_some() {
            self.goto(&name);
        }
        Ok(())
    }

    fn stmt(&mut self, s: &Stmt) -> Result<(), Refused> {
        match s {
            Stmt::Assign(to, value) => {
                let text = self.expr(value)?;
                self.assign(to, &text)
            }
            Stmt::SetValid(r, valid) => self.each(r, |c, h| {
                if let Some(h) = h {
                    c.set_valid(h, *valid);
                }
                Ok(())
            }),
            Stmt::CopyHeader { dst, src } => self.copy_header(dst, src),
            Stmt::CopyVarbit { dst, src } => self.copy_varbit(dst, src),
            Stmt::CopyStack { dst, src } => {
                self.copy_stack(*dst, *src);
                Ok(())
            }
            Stmt::Push(stack, n) => {
                self.push(*stack, *n);
                Ok(())
            }
            Stmt::Pop(stack, n) => {
                self.pop(*stack, *n);
                Ok(())
            }
            Stmt::If(condition, then, or_else) => self.branch(condition, then, or_else),
            Stmt::Switch { on, cases, default } => {
                let cases: Vec<_> = cases.iter().map(|(values, body)| (values.as_slice(), body)).collect();
                self.switch(on, &cases, default)
            }
            Stmt::Labeled(label, body) => self.labeled(*label, body),
            Stmt::Break(label) => {
                let known = self.known.clone();
                let Some((name, at)) = self.labels.get_mut(label) else { return Err(self.refuse("a break out of nothing")) };
                *at = meet(at.take(), known);
                let name = name.clone();
                self.goto(&name);
                Ok(())
            }
            Stmt::Loop(body) => self.repeat(body),
            Stmt::Exit if self.in_parser => {
                self.go(p4_ir::Next::Accept);
                Ok(())
            }
            Stmt::Exit => {
                let exit = self.exit.clone();
                self.goto(&exit);
                Ok(())
            }
            Stmt::Apply { table, hit, action_run } => {
                let outer = std::mem::replace(&mut self.applied, std::ptr::from_ref(s).addr());
                self.apply(*table, *hit, *action_run)?;
                self.applied = outer;
                Ok(())
            }
            Stmt::Extract { header, varbit_bits } => self.extract(header, varbit_bits.as_ref()),
            Stmt::Advance(bits) => self.advance(bits),
            Stmt::Lookahead(to, skip) => self.lookahead(to, *skip),
            Stmt::Verify(condition, error) => {
                let text = self.expr(condition)?;
                self.open(format!("if (!{})", paren(&text)));
                let before = self.known.clone();
                self.parser_error(error.value() as u32);
                self.known = before;
                self.close();
                self.assume(condition, true);
                Ok(())
            }
            Stmt::Emit(r) => self.emit(r),
            Stmt::Extern(e) => self.extern_call(e),
        }
    }

    fn branch(&mut self, condition: &Expr, then: &Block, or_else: &Block) -> Result<(), Refused> {
        let text = self.expr(condition)?;
        // A class knows what is valid, so that there may be no choice.
        if let Some(only) = match text.as_str() {
            "1u" => Some(then),
            "0u" => Some(or_else),
            _ => None,
        } {
            return self.block(only);
        }
        let before = self.known.clone();
        self.open(format!("if {}", head(&text)));
        self.assume(condition, true);
        self.block(then)?;
        let after = std::mem::replace(&mut self.known, before);
        self.assume(condition, false);
        if !or_else.is_empty() {
            self.or_else();
            self.block(or_else)?;
        }
        self.close();
        self.known = meet(after, self.known.take());
        Ok(())
    }

    fn switch(&mut self, on: &Expr, cases: &[(&[base::Bits], &Block)], default: &Block) -> Result<(), Refused> {
        let value = self.expr(on)?;
        if let Some(value) = literal(&value) {
            let case = cases.iter().find(|(values, _)| values.iter().any(|v| v.value() == value));
            return self.block(case.map_or(default, |(_, body)| *body));
        }
        let name = format!("on{}", self.unique());
        self.open("");
        self.line(format!("const {} {name} = {value};", local_type(on.ty.width())));
        let before = self.known.clone();
        let mut after = None;
        for (i, (values, body)) in cases.iter().enumerate() {
            let tests: Vec<_> = values.iter().map(|v| format!("{name} == {}", constant(on.ty.width(), v.value()))).collect();
            let text = if tests.is_empty() { "0".to_owned() } else { tests.join(" || ") };
            self.open(format!("{}if ({text})", if i == 0 { "" } else { "else " }));
            self.known = before.clone();
            self.block(body)?;
            self.close();
            after = meet(after, self.known.take());
        }
        self.known = before;
        if cases.is_empty() {
            self.block(default)?;
        } else if !default.is_empty() {
            self.open("else");
            self.block(default)?;
            self.close();
        }
        self.close();
        self.known = meet(after, self.known.take());
        Ok(())
    }

    fn labeled(&mut self, label: LabelId, body: &Block) -> Result<(), Refused> {
        let name = format!("end_{}", self.unique());
        let outer = self.labels.insert(label, (name.clone(), None));
        self.block(body)?;
        let (_, at) = self.labels.remove(&label).unwrap_or_default();
        if let Some(outer) = outer {
            self.labels.insert(label, outer);
        }
        self.label(&name);
        self.known = meet(self.known.take(), at);
        Ok(())
    }

    /// Assigns C text to a place; the value has no bits beyond the place's width.
    pub(super) fn assign(&mut self, to: &LValue, value: &str) -> Result<(), Refused> {
        match to {
            LValue::Var(v) => {
                self.write_var(*v, value);
                Ok(())
            }
            LValue::Field(r, index) => self.each(r, |c, h| if let Some(h) = h { c.store_field(h, *index, value) } else { Ok(()) }),
            LValue::Slice(base, hi, lo) => {
                let width = self.lvalue_width(base)?;
                let old = self.read_lvalue(base)?;
                let bits = u128::MAX >> (128 - (hi - lo + 1)) << lo;
                let keep = constant(width, base::Bits::mask(width) & !bits);
                let value = convert(value, hi - lo + 1, width);
                let value = format!("(({}) & {}) | ({} << {lo})", old, keep, paren(&format!("({}){}", local_type(width), paren(&value))));
                self.assign(base, &value)
            }
        }
    }

    fn store_field(&mut self, h: HeaderId, index: u32, value: &str) -> Result<(), Refused> {
        let ir = self.ir;
        let ty = &ir.header_types[ir.headers[h].ty];
        let Some(field) = ty.fields.get(index as usize).filter(|f| !f.varbit) else {
            return Err(self.refuse_because(Construct::Varbit, "an assignment to a varbit field"));
        };
        let text = store(&self.home(h), self.home_len(h), field.offset_bits, field.ty.width(), value);
        match self.known_valid(h) {
            Some(true) => self.line(text),
            Some(false) => {}
            None => {
                let valid = self.is_valid(h);
                self.line(format!("if ({valid}) {{ {text} }}"));
            }
        }
        Ok(())
    }

    fn read_lvalue(&mut self, l: &LValue) -> Result<String, Refused> {
        Ok(match l {
            LValue::Var(v) => {
                let width = self.ir.vars[*v].ty.width();
                let text = self.read_var(*v);
                format!("({}){text}", local_type(width))
            }
            LValue::Field(r, index) => self.choose(r, |c, h| c.load_field(h, *index))?,
            LValue::Slice(base, hi, lo) => {
                let width = self.lvalue_width(base)?;
                let text = self.read_lvalue(base)?;
                crate::expr::slice(&text, width, *hi, *lo)
            }
        })
    }

    pub(super) fn lvalue_width(&self, l: &LValue) -> Result<u32, Refused> {
        Ok(match l {
            LValue::Var(v) => self.ir.vars[*v].ty.width(),
            LValue::Slice(_, hi, lo) => hi - lo + 1,
            LValue::Field(r, index) => {
                let h = match r {
                    HeaderRef::Static(h) => *h,
                    HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => self.ir.stacks[*s].elements[0],
                };
                let ty = &self.ir.header_types[self.ir.headers[h].ty];
                ty.fields.get(*index as usize).map_or(0, |f| f.ty.width())
            }
        })
    }

    /// Makes a header valid (with zero fields if it was not) or invalid.
    pub(super) fn set_valid(&mut self, h: HeaderId, valid: bool) {
        let name = self.model.headers[h.index()].clone();
        if !valid {
            if self.known_valid(h) != Some(false) {
                self.line(format!("{} &= ~SP_BIT(V_{name});", self.valid()));
            }
            self.note_valid(h, false);
            return;
        }
        if self.known_valid(h) == Some(true) {
            return;
        }
        // What is behind a varbit field's length is zero: sums and comparisons take it along.
        let len = self.model.fixed_len[h.index()] + self.model.varbit_len[h.index()];
        let clear = format!("sp_zero({}, {len});", self.home(h));
        let varbit = if self.model.varbit_len[h.index()] > 0 { format!(" c->len_{name} = 0;") } else { String::new() };
        match self.known_valid(h) {
            Some(false) => self.line(format!("{clear}{varbit}")),
            _ => self.line(format!("if (!({} & SP_BIT(V_{name}))) {{ {clear}{varbit} }}", self.valid())),
        }
        self.becomes_valid(h);
    }

    /// Sets a header's bit; other members of its union lose theirs.
    pub(super) fn becomes_valid(&mut self, h: HeaderId) {
        let ir = self.ir;
        if let Some(union) = ir.headers[h].union {
            for (rival, other) in &ir.headers {
                if rival != h && other.union == Some(union) {
                    self.line(format!("{} &= ~SP_BIT(V_{});", self.valid(), self.model.headers[rival.index()]));
                    self.note_valid(rival, false);
                }
            }
        }
        self.line(format!("{} |= SP_BIT(V_{});", self.valid(), self.model.headers[h.index()]));
        self.note_valid(h, true);
    }

    fn copy_header(&mut self, dst: &HeaderRef, src: &HeaderRef) -> Result<(), Refused> {
        self.each(dst, |c, d| {
            let Some(d) = d else { return Ok(()) };
            c.each(src, |c, s| {
                c.copy_known(d, s);
                Ok(())
            })
        })
    }

    /// Replaces the varbit field of a valid header.
    fn copy_varbit(&mut self, dst: &HeaderRef, src: &HeaderRef) -> Result<(), Refused> {
        let (Which::One(dst), Which::One(src)) = (self.which(dst)?, self.which(src)?) else {
            return Err(self.refuse_because(Construct::Varbit, "copying varbit fields of elements known only at run time"));
        };
        let Some(dst) = dst.filter(|d| Some(*d) != src) else { return Ok(()) };
        let most = |c: &Self, h: HeaderId| c.model.varbit_len[h.index()];
        let (room, valid) = (most(self, dst), self.is_valid(dst));
        let (home, fixed) = (self.home(dst), self.model.fixed_len[dst.index()]);
        let name = self.model.headers[dst.index()].clone();
        if room == 0 || src.is_some_and(|s| most(self, s) > room) {
            return Err(self.refuse_because(Construct::Varbit, "copying a varbit field to a shorter one"));
        }
        self.open(format!("if ({valid})"));
        self.line(format!("sp_zero({home} + {fixed}, {room});"));
        self.line(format!("c->len_{name} = 0;"));
        if let Some(src) = src.filter(|s| most(self, *s) > 0) {
            let (valid, from) = (self.is_valid(src), self.home(src));
            let (offset, len) = (self.model.fixed_len[src.index()], most(self, src));
            self.open(format!("if ({valid})"));
            self.line(format!("sp_copy({home} + {fixed}, {from} + {offset}, {len});"));
            self.line(format!("c->len_{name} = c->len_{};", self.model.headers[src.index()]));
            self.close();
        }
        self.close();
        Ok(())
    }

    /// Copies one header to another, which becomes as valid.
    pub(super) fn copy_known(&mut self, dst: HeaderId, src: Option<HeaderId>) {
        let Some(src) = src else { return self.set_valid(dst, false) };
        if src == dst {
            return;
        }
        let before = self.known.clone();
        let valid = self.is_valid(src);
        self.open(format!("if ({valid})"));
        self.note_valid(src, true);
        let (from, to) = (self.home(src), self.home(dst));
        let len = self.model.fixed_len[src.index()] + self.model.varbit_len[src.index()];
        self.line(format!("sp_copy({to}, {from}, {len});"));
        if self.model.varbit_len[src.index()] > 0 {
            self.line(format!("c->len_{} = c->len_{};", self.model.headers[dst.index()], self.model.headers[src.index()]));
        }
        self.becomes_valid(dst);
        let then = std::mem::replace(&mut self.known, before);
        self.or_else();
        self.set_valid(dst, false);
        self.close();
        self.known = meet(then, self.known.take());
    }

    /// C text of `bits` bits at `at`, as far as `len` bytes may be read there.
    pub(super) fn load_bits(at: &str, len: u32, bits: u32) -> String {
        load(at, len, 0, bits)
    }

    /// Assigns a value that may be wider than its place.
    pub(super) fn assign_cut(&mut self, to: &LValue, value: &str, from: u32) -> Result<(), Refused> {
        let width = self.lvalue_width(to)?;
        let text = if width < from { format!("({} & {})", paren(value), mask(width)) } else { value.to_owned() };
        let text = convert(&text, from.min(width).max(1), width);
        self.assign(to, &text)
    }
}
