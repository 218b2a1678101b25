//! The deparser: which bytes leave, and where they are put.
//!
//! Emitted headers end where the payload begins. Those that already lie there stay; headers that were made are written in
//! front; others move. Moves are done from the last header to the first if none moves towards the packet's front (a
//! header has been taken away), from the first to the last if none moves away from it (one has been put in): in either
//! case no header is overwritten before it has moved. If both happen, all are gathered in a buffer first.

use crate::EmitError;
use crate::emitter::Emitter;
use crate::expr::head;
use crate::facts::{Place, Way};
use crate::model::{Home, Model};
use base::{HEADROOM, MAX_PACKET};
use cranelift_entity::EntityRef;
use p4_ir::origin::Construct;
use p4_ir::{Block, Expr, HeaderId, HeaderRef, Ir, Stmt};
use std::collections::BTreeMap;

/// Headers of more bytes than that do not fit before any payload.
const ROOM: u64 = (HEADROOM + MAX_PACKET) as u64;

impl Emitter<'_> {
    /// Deparser and verdict; ends the packet's work.
    pub(crate) fn finish(&mut self) -> Result<(), EmitError> {
        let ir = self.ir;
        if let Some(class) = self.class {
            return self.finish_class(class.consumed);
        }
        self.payload();
        self.end();
        self.line("/* deparser */");
        if let Some(ways) = Ways::of(ir.deparser(), Vec::new(), MOST_WAYS) {
            return self.finish_ways(&ways);
        }
        let most = most_bytes(self, ir.deparser())?.min(ROOM);
        self.line(format!("uint8_t gathered[{most} + 1], *gathered_end = gathered;"));
        self.block(ir.deparser())?;
        if self.flow.is_none() {
            return Ok(());
        }
        self.line("uint8_t *first = payload - (gathered_end - gathered);");
        self.check_room();
        self.line("sp_copy(first, gathered, gathered_end - gathered);");
        self.leave();
        Ok(())
    }

    /// One of several sequences of headers.
    fn finish_ways(&mut self, ways: &Ways<'_>) -> Result<(), EmitError> {
        match ways {
            Ways::Straight(headers) => {
                self.place(headers);
                self.leave();
            }
            Ways::If(condition, a, b) => {
                let text = self.expr(condition)?;
                if let "0" | "0u" | "1" = &text[..] {
                    return self.finish_ways(if text == "1" { a } else { b });
                }
                let before = self.fork();
                self.open(format!("if {}", head(&text)));
                self.assume(condition, true);
                self.finish_ways(a)?;
                self.or_else();
                self.flow = before;
                self.assume(condition, false);
                self.finish_ways(b)?;
                self.close();
                self.flow = None;
            }
        }
        Ok(())
    }

    /// The packet begins at `first` and leaves.
    fn leave(&mut self) {
        self.line("pk->start = first - pk->buffer;");
        self.line("pk->length = end - first;");
        self.truncate();
        let (port, reason, mark) = (self.standard("egress_port"), self.reason(), self.mark());
        self.line(format!("sp_pass(run, i, {port}, {reason}, {mark});"));
        self.done();
    }

    /// The same for packets of a class: for each combination of valid headers it is known which bytes go where.
    fn finish_class(&mut self, consumed: u32) -> Result<(), EmitError> {
        self.line("/* deparser */");
        let mut headers = Vec::new();
        let Some(facts) = self.facts().cloned() else { return Ok(()) };
        if !straight(self.ir.deparser(), &mut headers) {
            self.failed = Some("a deparser with conditions");
            return Ok(());
        }
        // At run time only validity tells ways apart: those that are alike in it must have the same bytes at the same places.
        let mut places = BTreeMap::new();
        for way in &facts.ways {
            let valid: Vec<HeaderId> = way.keys().copied().collect();
            let at: Vec<Option<Place>> = headers.iter().map(|h| way.get(h).copied()).collect();
            if places.insert(valid, at.clone()).is_some_and(|other| other != at) {
                self.failed = Some("a header is at several places");
                return Ok(());
            }
        }
        let verdict = [self.standard("egress_port"), self.reason(), self.mark()].map(|text| self.before_moves(text));
        let verdict = verdict.join(", ");
        let before = self.fork();
        for (i, way) in facts.ways.iter().enumerate() {
            let last = i + 1 == facts.ways.len();
            self.flow.clone_from(&before);
            if !last {
                let test = self.is_way(way);
                self.open(format!("if ({test})"));
            }
            self.finish_way(way, &headers, consumed);
            self.line(format!("sp_pass(run, i, {verdict});"));
            self.done();
            if !last {
                self.close();
            }
        }
        self.flow = None;
        Ok(())
    }

    fn finish_way(&mut self, way: &Way, headers: &[HeaderId], consumed: u32) {
        let emitted: Vec<(HeaderId, Place)> = headers.iter().filter_map(|h| Some((*h, *way.get(h)?))).collect();
        let total: u32 = emitted.iter().map(|(h, _)| self.model.fixed_len[h.index()]).sum();
        let shift = i64::from(consumed) - i64::from(total);
        if shift < 0 {
            self.open(format!("if (pk->start < {} || pk->length + {} > SP_MAX_PACKET)", -shift, -shift));
            let before = self.fork();
            self.drop_packet("SP_NO_HEADROOM");
            self.flow = before;
            self.close();
        }
        // Bytes that lie together before and behind are moved together: from, to (from the packet's first byte on), how many.
        let mut moves: Vec<(String, Place, i64, u32)> = Vec::new();
        let (mut at, mut end): (i64, Option<(Place, String)>) = (shift, None);
        let mut packed = Vec::new();
        let touched = self.facts().map_or_else(Default::default, |f| f.touched.clone());
        for (h, place) in emitted {
            let len = self.model.fixed_len[h.index()];
            let (text, next) = match place {
                Place::Packet(from) => (crate::field::plus("p", from), (Place::Packet(from + len), String::new())),
                Place::Scratch => (self.scratch(h), (Place::Scratch, self.behind_scratch(h))),
                Place::Fields => {
                    packed.extend(self.pack(h, "p", at));
                    at += i64::from(len);
                    end = None;
                    continue;
                }
            };
            if matches!(place, Place::Packet(from) if i64::from(from) != at) && self.is_held(h) {
                packed.extend(self.pack(h, "p", at));
                at += i64::from(len);
                end = None;
                continue;
            }
            let goes_on = end.as_ref().is_some_and(|(p, s)| *p == place && (place != Place::Scratch || *s == text));
            match (moves.last_mut(), place) {
                (_, Place::Packet(from)) if touched.contains(&h) => {
                    // Bytes that have just been written are loaded in the pieces in which they were stored.
                    let mut done = 0;
                    for piece in self.pieces(h) {
                        let here = from + done;
                        moves.push((crate::field::plus("p", here), Place::Packet(here), at + i64::from(done), piece));
                        done += piece;
                    }
                    end = None;
                    at += i64::from(len);
                    continue;
                }
                (Some(last), _) if goes_on => last.3 += len,
                _ => moves.push((text, place, at, len)),
            }
            end = Some(next);
            at += i64::from(len);
        }
        moves.retain(|(_, place, to, _)| !matches!(place, Place::Packet(from) if i64::from(*from) == *to));
        // Everything is loaded before anything is stored. Scratch bytes are never written here.
        let (mut stores, number) = (Vec::new(), self.unique());
        moves.sort_by_key(|(_, place, ..)| *place == Place::Scratch);
        for (m, (from, _, to, len)) in moves.iter().enumerate() {
            let mut done = 0;
            while done < *len {
                let size = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|s| done + s <= *len).unwrap_or(1);
                let (name, to) = (format!("b{number}_{m}_{done}"), to + i64::from(done));
                self.line(format!("sp_block{size} {name}; __builtin_memcpy(&{name}, {}, {size});", crate::field::plus(from, done)));
                let sign = if to < 0 { "-" } else { "+" };
                stores.push(format!("__builtin_memcpy(p {sign} {}, &{name}, {size});", to.abs()));
                done += size;
            }
        }
        stores.iter().chain(&packed).for_each(|s| self.line(s));
        if shift != 0 {
            let (start, length) = if shift < 0 { ("-=", "+=") } else { ("+=", "-=") };
            self.line(format!("pk->start {start} {};", shift.abs()));
            self.line(format!("pk->length {length} {};", shift.abs()));
        }
        self.truncate();
    }

    /// What `truncate` asked for.
    fn truncate(&mut self) {
        if self.model.truncates {
            self.line("if (pk->length > c->keep) pk->length = c->keep;");
        }
    }

    /// Lengths of the pieces in which a header's fields are stored, as far as they are whole bytes.
    fn pieces(&self, h: HeaderId) -> Vec<u32> {
        let (mut pieces, mut from) = (Vec::new(), 0);
        for f in &self.ir.header_types[self.ir.headers[h].ty].fields {
            let end = f.offset_bits + f.ty.width();
            if !end.is_multiple_of(8) {
                continue;
            }
            let mut left = end / 8 - from;
            while left > 0 {
                // As `sp_st48` and its like do.
                let size = [8, 4, 2, 1].into_iter().find(|s| *s <= left).unwrap_or(1);
                pieces.push(size);
                left -= size;
            }
            from = end / 8;
        }
        pieces
    }

    /// The scratch bytes directly behind those of a header.
    fn behind_scratch(&self, h: HeaderId) -> String {
        let order = scratch_order(self.ir, self.model);
        let next = order.iter().position(|o| *o == h).and_then(|at| order.get(at + 1));
        let exact = self.model.varbit_len[h.index()] == 0 && self.model.fixed_len[h.index()] > 0;
        next.filter(|_| exact).map_or(String::new(), |n| self.scratch(*n))
    }

    /// `emit` of a deparser with conditions.
    pub(crate) fn emit(&mut self, r: &HeaderRef) -> Result<(), EmitError> {
        self.for_header(r, |e, h| {
            if e.known_valid(h) == Some(false) {
                return Ok(());
            }
            let (valid, address, len) = (e.is_valid(h), e.address(h), e.header_len(h));
            e.open(format!("if ({valid})"));
            e.open(format!("if (gathered_end + {len} > gathered + sizeof gathered)"));
            let before = e.fork();
            e.drop_packet("SP_NO_HEADROOM");
            e.flow = before;
            e.close();
            e.line(format!("sp_copy(gathered_end, {address}, {len});"));
            e.line(format!("gathered_end += {len};"));
            e.close();
            Ok(())
        })
    }

    /// A text that stays true when headers have moved: what is read from the packet is read before.
    fn before_moves(&mut self, text: String) -> String {
        if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return text;
        }
        let name = format!("x{}", self.unique());
        self.line(format!("const uint32_t {name} = {text};"));
        name
    }

    fn check_room(&mut self) {
        self.open("if (first < pk->buffer || end - first > SP_MAX_PACKET)");
        let before = self.fork();
        self.drop_packet("SP_NO_HEADROOM");
        self.flow = before;
        self.close();
    }

    /// Code for a fixed sequence of headers.
    fn place(&mut self, headers: &[HeaderId]) {
        let headers: Vec<_> = headers.iter().copied().filter(|h| self.known_valid(*h) != Some(false)).collect();
        let units = units(self.model, &scratch_order(self.ir, self.model), &headers);
        self.line("uint8_t *first = payload;");
        let moves = headers.iter().any(|h| self.model.homes[h.index()] != Home::Scratch);
        if moves {
            self.line("uint32_t moved = 0;");
        }
        for unit in units.iter().rev() {
            let all = |e: &mut Self| e.line(format!("first -= {};", unit.len));
            self.for_unit(unit, true, Some(&all), |e, h| {
                let (len, address) = (e.header_len(h), e.address(h));
                e.line(format!("first -= {len};"));
                match e.model.homes[h.index()] {
                    Home::Packet => e.line(format!("moved |= sp_move({address}, first);")),
                    Home::Both => {
                        let scratch = e.scratch(h);
                        e.line(format!("if ({address} != {scratch}) moved |= sp_move({address}, first);"));
                    }
                    _ => {}
                }
            });
        }
        self.check_room();
        self.open(if moves { "if (!(moved & SP_TO_FRONT))" } else { "" });
        self.line("uint8_t *at = payload;");
        for unit in units.iter().rev() {
            let all = |e: &mut Self| {
                e.line(format!("at -= {};", unit.len));
                e.move_all(unit);
            };
            self.for_unit(unit, true, Some(&all), |e, h| {
                let len = e.header_len(h);
                e.line(format!("at -= {len};"));
                e.move_to("at", h);
            });
        }
        if moves {
            self.indent_else("if (!(moved & SP_TO_BACK))");
            self.line("uint8_t *at = first;");
            for unit in &units {
                let all = |e: &mut Self| {
                    e.move_all(unit);
                    e.line(format!("at += {};", unit.len));
                };
                self.for_unit(unit, false, Some(&all), |e, h| {
                    e.move_to("at", h);
                    let len = e.header_len(h);
                    e.line(format!("at += {len};"));
                });
            }
            self.or_else();
            let most: u64 = headers.iter().map(|h| self.model.len_at_most(*h)).sum();
            self.line(format!("uint8_t gathered[{} + 1], *at = gathered;", most.min(ROOM)));
            for unit in &units {
                self.for_unit(unit, false, None, |e, h| {
                    let (address, len) = (e.address(h), e.header_len(h));
                    e.line(format!("sp_copy(at, {address}, {len});"));
                    e.line(format!("at += {len};"));
                });
            }
            self.line("sp_copy(first, gathered, at - gathered);");
        }
        self.close();
    }

    /// Prints `each` for the headers of a unit under their validity, last one first if `back`. If all of a unit that lies
    /// together are valid, it is `all` instead.
    fn for_unit(&mut self, unit: &Unit, back: bool, all: Option<&dyn Fn(&mut Self)>, mut each: impl FnMut(&mut Self, HeaderId)) {
        let together = all.filter(|_| unit.together);
        if unit.headers.len() > 1 {
            let any = self.valid_bits(&unit.headers);
            if let Some(all) = together {
                self.open(format!("if ({any} == ({}))", self.bits_of(&unit.headers)));
                all(self);
                self.indent_else(&format!("if {any}"));
            } else {
                self.open(format!("if {any}"));
            }
        }
        let each_one = |e: &mut Self, h: &HeaderId, each: &mut dyn FnMut(&mut Self, HeaderId)| e.if_valid(*h, |e| each(e, *h));
        if back {
            unit.headers.iter().rev().for_each(|h| each_one(self, h, &mut each));
        } else {
            unit.headers.iter().for_each(|h| each_one(self, h, &mut each));
        }
        if unit.headers.len() > 1 {
            self.close();
        }
    }

    /// Moves headers that lie together to `at`.
    fn move_all(&mut self, unit: &Unit) {
        let from = self.scratch(unit.headers[0]);
        self.moves.insert(unit.len);
        self.line(format!("sp_move_{}(at, {from});", unit.len));
    }

    fn if_valid(&mut self, h: HeaderId, each: impl FnOnce(&mut Self)) {
        if self.known_valid(h) == Some(true) {
            return each(self);
        }
        let valid = self.is_valid(h);
        self.open(format!("if ({valid})"));
        each(self);
        self.close();
    }

    /// Moves a header's bytes to `to`, unless they are there.
    fn move_to(&mut self, to: &str, h: HeaderId) {
        let (address, len) = (self.address(h), self.header_len(h));
        let text = match self.model.varbit_len[h.index()] {
            0 => {
                let len = self.model.fixed_len[h.index()];
                self.moves.insert(len);
                format!("sp_move_{len}({to}, {address});")
            }
            _ => format!("__builtin_memmove({to}, {address}, {len});"),
        };
        match self.model.homes[h.index()] {
            Home::Scratch => self.line(text),
            _ => self.line(format!("if ({to} != {address}) {text}")),
        }
    }
}

/// Headers that follow each other in the output, tested together first so that most packets pass them over at once.
struct Unit {
    headers: Vec<HeaderId>,
    /// Their scratch bytes lie one behind the other, in this order.
    together: bool,
    /// Bytes of all of them, without varbit fields.
    len: u32,
}

/// Most headers of a unit that do not lie together.
const UNIT: usize = 4;

/// The units of `headers`, of which those that are surely invalid have been left out: so what follows in the output need
/// not follow in scratch bytes, which are laid out in `order`.
fn units(model: &Model, order: &[HeaderId], headers: &[HeaderId]) -> Vec<Unit> {
    let behind = |a: HeaderId, b: HeaderId| order.windows(2).any(|w| w == [a, b]);
    let mut units: Vec<Unit> = Vec::new();
    for h in headers {
        let len = model.fixed_len[h.index()];
        // A header without bytes has a place of one byte.
        let together = model.homes[h.index()] == Home::Scratch && model.varbit_len[h.index()] == 0 && len > 0;
        match units.last_mut() {
            // One word of validity is tested at a time, and no header twice.
            Some(unit)
                if unit.together == together
                    && (if together { unit.headers.last().is_some_and(|last| behind(*last, *h)) } else { unit.headers.len() < UNIT })
                    && unit.headers[0].index() / 64 == h.index() / 64
                    && !unit.headers.contains(h) =>
            {
                unit.headers.push(*h);
                unit.len += len;
            }
            _ => units.push(Unit { headers: vec![*h], together, len }),
        }
    }
    // A header that is emitted twice lies in one place only.
    for unit in &mut units {
        unit.together &= unit.headers.iter().all(|h| headers.iter().filter(|other| *other == h).count() == 1);
    }
    units
}

/// The headers that lie in scratch bytes, in the order in which they do: that of the deparser.
pub(crate) fn scratch_order(ir: &Ir, model: &Model) -> Vec<HeaderId> {
    let mut order = Vec::new();
    straight(ir.deparser(), &mut order);
    order.extend(ir.headers.keys());
    let mut seen = std::collections::BTreeSet::new();
    order.retain(|h| matches!(model.homes[h.index()], Home::Scratch | Home::Both) && seen.insert(*h));
    order
}

/// Most sequences of headers that a deparser is printed as.
const MOST_WAYS: usize = 4;

/// A deparser that emits fixed headers, and may end with a choice of more: a program that was cut emits other headers where it stops.
enum Ways<'a> {
    Straight(Vec<HeaderId>),
    If(&'a Expr, Box<Ways<'a>>, Box<Ways<'a>>),
}

impl<'a> Ways<'a> {
    /// Behind `before`; `None` if there are more than `most`, or other statements.
    fn of(block: &'a [Stmt], mut before: Vec<HeaderId>, most: usize) -> Option<Ways<'a>> {
        match block.split_last() {
            Some((Stmt::If(condition, a, b), first)) if most > 1 && straight(first, &mut before) => {
                let arm = |arm: &'a [Stmt]| Ways::of(arm, before.clone(), most / 2).map(Box::new);
                Some(Ways::If(condition, arm(a)?, arm(b)?))
            }
            _ => straight(block, &mut before).then_some(Ways::Straight(before)),
        }
    }
}

/// Whether the deparser only emits fixed headers; which, in order.
fn straight(block: &[Stmt], out: &mut Vec<HeaderId>) -> bool {
    block.iter().all(|s| match s {
        Stmt::Emit(HeaderRef::Static(h)) => {
            out.push(*h);
            true
        }
        Stmt::Labeled(_, inner) => straight(inner, out),
        Stmt::Extern(p4_ir::Extern::Log(..) | p4_ir::Extern::Assert(..)) => true,
        _ => false,
    })
}

/// Most bytes that a deparser with conditions emits.
fn most_bytes(e: &Emitter<'_>, block: &Block) -> Result<u64, EmitError> {
    let mut sum = 0u64;
    for stmt in block {
        sum += match stmt {
            Stmt::Emit(HeaderRef::Static(h)) => e.model.len_at_most(*h),
            Stmt::Emit(HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _)) => {
                e.ir.stacks[*s].elements.iter().map(|h| e.model.len_at_most(*h)).max().unwrap_or(0)
            }
            Stmt::Loop(_) => {
                let mut emits = false;
                crate::graph::visit(std::slice::from_ref(stmt), &mut |s| emits |= matches!(s, Stmt::Emit(_)));
                if emits {
                    return Err(EmitError::unsupported(Construct::Loop, "emit in a loop"));
                }
                0
            }
            other => {
                let mut inner = 0;
                for b in crate::graph::blocks(other) {
                    inner += most_bytes(e, b)?;
                }
                inner
            }
        };
    }
    Ok(sum)
}

/// Functions that move a fixed number of bytes, all loaded before any is stored: source and destination may overlap.
pub(crate) fn move_functions(lens: &std::collections::BTreeSet<u32>) -> String {
    let mut text = String::new();
    for len in lens {
        text.push_str(&format!("static inline void sp_move_{len}(uint8_t *to, const uint8_t *from)\n{{\n"));
        let (mut at, mut stores) = (0, String::new());
        while at < *len {
            let size = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|s| at + s <= *len).unwrap_or(1);
            text.push_str(&format!("    sp_block{size} b{at}; __builtin_memcpy(&b{at}, from + {at}, {size});\n"));
            stores.push_str(&format!("    __builtin_memcpy(to + {at}, &b{at}, {size});\n"));
            at += size;
        }
        text.push_str(&stores);
        text.push_str("}\n\n");
    }
    text
}
