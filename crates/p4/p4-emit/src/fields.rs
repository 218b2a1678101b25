//! Headers that a program makes for packets of a class: their fields are C locals until the header is put where it goes.
//!
//! So the C compiler folds what is constant, a header is written in words instead of bits, and no bytes are written
//! that are read again at once. A header that must be kept over a look-up is put into the context's scratch bytes.
//!
//! Of a header in the packet all of whose fields the program writes somewhere, what it writes is kept in such locals beside the packet's bytes. Where the deparser moves the
//! header it is written from them: bytes that have just been stored piece by piece and are loaded as a whole cost a processor more than the rest of the move.

use crate::emitter::Emitter;
use crate::expr::paren;
use crate::facts::{Facts, Place};
use crate::graph::visit_all;
use cranelift_entity::EntityRef;
use p4_ir::{HeaderId, HeaderRef, Ir, LValue, Stmt};
use std::collections::BTreeSet;

/// Headers whose fields may be locals: they are made, and never copied as a whole.
pub(crate) fn made_by_field(ir: &Ir) -> BTreeSet<HeaderId> {
    let (mut made, mut copied) = (BTreeSet::new(), BTreeSet::new());
    let all = |r: &HeaderRef| match r {
        HeaderRef::Static(h) => vec![*h],
        HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => ir.stacks[*s].elements.clone(),
    };
    visit_all(ir, &mut |stmt| match stmt {
        Stmt::SetValid(HeaderRef::Static(h), true) => drop(made.insert(*h)),
        Stmt::SetValid(r, true) => copied.extend(all(r)),
        Stmt::CopyHeader { dst, src } => copied.extend(all(dst).into_iter().chain(all(src))),
        Stmt::CopyStack { dst, src } => copied.extend(ir.stacks[*dst].elements.iter().chain(&ir.stacks[*src].elements)),
        Stmt::Push(s, _) | Stmt::Pop(s, _) => copied.extend(&ir.stacks[*s].elements),
        _ => {}
    });
    let plain = |h: &HeaderId| ir.headers[*h].union.is_none() && !ir.header_types[ir.headers[*h].ty].fields.iter().any(|f| f.varbit);
    made.into_iter().filter(|h| !copied.contains(h) && plain(h)).collect()
}

/// Headers all of whose fields are written one by one, each at some place.
pub(crate) fn written_by_field(ir: &Ir) -> BTreeSet<HeaderId> {
    let mut fields = BTreeSet::new();
    visit_all(ir, &mut |stmt| {
        if let Stmt::Assign(LValue::Field(HeaderRef::Static(h), index), _) = stmt {
            fields.insert((*h, *index));
        }
    });
    let is_whole = |h: &HeaderId| {
        let ty = &ir.header_types[ir.headers[*h].ty];
        !ty.fields.iter().any(|f| f.varbit) && (0..ty.fields.len() as u32).all(|index| fields.contains(&(*h, index)))
    };
    ir.headers.keys().filter(is_whole).collect()
}

impl Emitter<'_> {
    /// Whether what is written to a header in the packet is kept in locals too.
    pub(crate) fn holds_fields(&self, h: HeaderId) -> bool {
        let in_packet = self.facts().is_some_and(|f| f.valid(h) == Some(true) && matches!(f.place(h), Ok(Some(Place::Packet(_)))));
        self.class.is_some() && in_packet && self.model.written_by_field.contains(&h)
    }

    /// Whether locals hold all that is in a header.
    pub(crate) fn is_held(&self, h: HeaderId) -> bool {
        let n = self.ir.header_types[self.ir.headers[h].ty].fields.len() as u32;
        n > 0 && self.facts().is_some_and(|f| (0..n).all(|index| f.held.contains(&(h, index))))
    }

    /// Where a header's bytes are if it is made here.
    pub(crate) fn place_made(&self, h: HeaderId) -> Place {
        let unused = self.entry.as_ref().is_some_and(|f| f.valid(h) == Some(false));
        if self.class.is_some() && unused && self.model.made_by_field.contains(&h) { Place::Fields } else { Place::Scratch }
    }

    /// Whether a header's fields are locals now.
    pub(crate) fn in_fields(&self, h: HeaderId) -> bool {
        self.facts().is_some_and(|f| f.place(h) == Ok(Some(Place::Fields)))
    }

    /// Name of the local that holds a field.
    pub(crate) fn field_local(&mut self, h: HeaderId, index: u32) -> String {
        self.scope_fields(h);
        let name: String = self.ir.header_types[self.ir.headers[h].ty].fields[index as usize].name.clone();
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        format!("f_{}_{index}_{name}", self.model.headers[h.index()])
    }

    /// All fields are zero.
    pub(crate) fn zero_fields(&mut self, h: HeaderId) {
        let n = self.ir.header_types[self.ir.headers[h].ty].fields.len();
        let names: Vec<String> = (0..n as u32).map(|i| self.field_local(h, i)).collect();
        let text = names.iter().map(|n| format!("{n} = ")).collect::<String>();
        if n > 0 {
            self.line(format!("{text}0;"));
        }
    }

    /// Statements that put a header, whose fields are locals, to `bytes` behind `base`.
    pub(crate) fn pack(&mut self, h: HeaderId, base: &str, bytes: i64) -> Vec<String> {
        let ir = self.ir;
        let ty = &ir.header_types[ir.headers[h].ty];
        let len = ty.fixed_bits / 8;
        let (mut out, mut at) = (Vec::new(), 0);
        while at < len {
            let size = [8, 4, 2, 1].into_iter().find(|s| at + s <= len).unwrap_or(1);
            let (from, to) = (at * 8, (at + size) * 8);
            let mut parts = Vec::new();
            for (i, f) in ty.fields.iter().enumerate() {
                let (begin, end) = (f.offset_bits, f.offset_bits + f.ty.width());
                if f.ty.width() == 0 || end <= from || begin >= to {
                    continue;
                }
                let name = self.field_local(h, i as u32);
                parts.push(match (to.saturating_sub(end), end.saturating_sub(to)) {
                    (0, 0) => format!("(uint64_t){name}"),
                    (0, over) => format!("(uint64_t)({name} >> {over})"),
                    (under, _) => format!("(uint64_t){name} << {under}"),
                });
            }
            let value = if parts.is_empty() { "0".into() } else { parts.join(" | ") };
            let offset = bytes + i64::from(at);
            let sign = if offset < 0 { "-" } else { "+" };
            let value = if size == 8 { value } else { format!("(uint32_t){}", paren(&value)) };
            out.push(format!("sp_st{}({base} {sign} {}, {value});", size * 8, offset.abs()));
            at += size;
        }
        out
    }

    /// Puts headers whose fields are locals into scratch bytes: the packet goes to another stage.
    pub(crate) fn settle_fields(&mut self) {
        let Some(facts) = self.facts() else { return };
        let unsettled =
            |f: &Facts| -> BTreeSet<HeaderId> { f.ways.iter().flatten().filter(|(_, p)| **p == Place::Fields).map(|(h, _)| *h).collect() };
        for h in unsettled(facts) {
            let scratch = self.scratch(h);
            let lines = self.pack(h, &scratch, 0);
            let known = self.known_valid(h);
            if known.is_none() {
                let test = self.is_valid(h);
                self.open(format!("if ({test})"));
            }
            lines.iter().for_each(|l| self.line(l));
            if known.is_none() {
                self.close();
            }
        }
        if let Some(facts) = self.facts_mut() {
            let ways = std::mem::take(&mut facts.ways);
            facts.held.clear();
            let settled = |p| if p == Place::Fields { Place::Scratch } else { p };
            facts.ways = ways.into_iter().map(|w| w.into_iter().map(|(h, p)| (h, settled(p))).collect()).collect();
        }
    }
}
