//! From headers to bytes: first the offset of each emitted header, then room in front, then the bytes.
//!
//! In the text of a class it is known which headers the packet came with and, once it is seen which ones it has now, where each
//! lies: room and places are constants, and headers that nothing has written to and that keep their distance from the payload
//! stay where they are.

use super::Refused;
use super::code::Code;
use base::{HEADROOM, MAX_PACKET};
use cranelift_entity::EntityRef;
use p4_ir::{HeaderId, HeaderRef, Ir, Stmt};
use std::collections::BTreeSet;

/// What a packet of a class has at its end: it came with the headers `came`, in the parser's order, and has those that are `emitted`.
pub(super) struct Ending {
    emitted: Vec<HeaderId>,
    /// Bytes of the headers that it came with, and of the emitted ones.
    pub parsed: u32,
    pub written: u32,
    /// Those that are in the packet already, as they are to leave.
    there: BTreeSet<HeaderId>,
}

impl Code<'_> {
    /// Records the header's offset.
    pub(super) fn emit(&mut self, r: &HeaderRef) -> Result<(), Refused> {
        self.each(r, |c, h| {
            if let Some(h) = h {
                c.emit_known(h);
            }
            Ok(())
        })
    }

    fn emit_known(&mut self, h: HeaderId) {
        let valid = self.is_valid(h);
        if valid == "0u" {
            return;
        }
        let site = self.emits.len();
        let name = &self.model.headers[h.index()];
        let fixed = self.model.fixed_len[h.index()];
        let place = self.emitted.filter(|_| valid == "1u" && self.model.varbit_len[h.index()] == 0);
        self.emits.push((h, place));
        self.emitted = place.map(|at| at + fixed);
        if place.is_some() {
            self.line(format!("emitted += {fixed};"));
            return;
        }
        let len = if self.model.varbit_len[h.index()] > 0 { format!("{fixed} + c->len_{name}") } else { fixed.to_string() };
        self.line(format!("c->v.emit[{site}] = 0;"));
        self.line(format!("if ({valid}) {{ c->v.emit[{site}] = (uint16_t)(emitted + 1); emitted += {len}; }}"));
    }

    /// What is to be done at the end of a packet that came with the headers `came`, in that order, and has those of `set`; `None`: what
    /// that is depends on more.
    pub(super) fn ending(&self, came: &[HeaderId], set: &BTreeSet<HeaderId>, changed: &BTreeSet<HeaderId>) -> Option<Ending> {
        let mut emitted = Vec::new();
        for s in self.ir.deparser() {
            let Stmt::Emit(HeaderRef::Static(h)) = s else { return None };
            emitted.extend(set.contains(h).then_some(*h));
        }
        if came.iter().chain(&emitted).any(|h| self.model.varbit_len[h.index()] > 0) {
            return None;
        }
        let len = |h: &HeaderId| self.model.fixed_len[h.index()];
        let (parsed, written) = (self.fixed_bytes(came), self.fixed_bytes(&emitted));
        if written > HEADROOM as u32 + parsed || written > MAX_PACKET as u32 {
            return None;
        }
        // Seen from the payload.
        let distances = |of: &[HeaderId]| -> Vec<(HeaderId, u32)> {
            let mut behind = 0;
            of.iter()
                .rev()
                .map(|h| {
                    behind += len(h);
                    (*h, behind)
                })
                .collect()
        };
        let before = distances(came);
        let there = distances(&emitted).into_iter().filter(|at| before.contains(at) && !changed.contains(&at.0)).map(|at| at.0).collect();
        Some(Ending { emitted, parsed, written, there })
    }

    /// Whether the headers fit before the payload.
    pub(super) fn check_room(&mut self, ending: &Ending) {
        let no_room = self.jump("no_room");
        let (parsed, written) = (ending.parsed, ending.written);
        self.line(format!("if (c->length + {written} > SP_MAX_PACKET + {parsed}) {no_room}"));
    }

    /// Makes room and writes the headers.
    pub(super) fn write_known(&mut self, ending: &Ending) {
        let failed = self.jump("failed");
        if ending.written != ending.parsed {
            let delta = i64::from(ending.parsed) - i64::from(ending.written);
            self.line(format!("if (bpf_xdp_adjust_head(ctx, {delta})) {failed}"));
        }
        let mut at = 0;
        let mut copies = Vec::new();
        for h in &ending.emitted {
            let len = self.model.fixed_len[h.index()];
            if len > 0 && !ending.there.contains(h) {
                copies.push((at, len, self.home(*h)));
            }
            at += len;
        }
        let Some((last, len, _)) = copies.last() else { return };
        let end = last + len;
        self.line("data = (uint8_t *)(long)ctx->data;");
        self.line("end = (uint8_t *)(long)ctx->data_end;");
        self.line(format!("if (data + {end} > end) {failed}"));
        for (at, len, home) in copies {
            self.line(format!("sp_copy(data + {at}, {home}, {len});"));
        }
    }

    /// Makes room in front of the rest of the packet and writes the headers there.
    pub(super) fn write_headers(&mut self) {
        let failed = self.jump("failed");
        self.open("if (emitted != c->cursor)");
        self.line(format!("if (bpf_xdp_adjust_head(ctx, (int32_t)c->cursor - (int32_t)emitted)) {failed}"));
        self.close();
        self.line("data = (uint8_t *)(long)ctx->data;");
        self.line("end = (uint8_t *)(long)ctx->data_end;");
        self.most_emits = self.most_emits.max(self.emits.len());
        let emits = std::mem::take(&mut self.emits);
        let known = emits.iter().filter_map(|(h, at)| at.map(|at| at + self.model.fixed_len[h.index()])).max();
        if let Some(known) = known.filter(|n| *n > 0) {
            self.line(format!("if (data + {known} > end) {failed}"));
        }
        for (site, (h, at)) in emits.into_iter().enumerate() {
            if let Some(at) = at {
                let (home, fixed) = (self.home(h), self.model.fixed_len[h.index()]);
                if fixed > 0 {
                    self.line(format!("sp_copy(data + {at}, {home}, {fixed});"));
                }
                continue;
            }
            let (fixed, most) = (self.model.fixed_len[h.index()], self.model.varbit_len[h.index()]);
            let (home, name) = (self.home(h), self.model.headers[h.index()].clone());
            self.open(format!("if (*(volatile uint16_t *)&c->v.emit[{site}])"));
            self.line(format!("uint32_t at = *(volatile uint16_t *)&c->v.emit[{site}] - 1;"));
            self.line(format!("if (at > SP_FARTHEST) {failed}"));
            self.line("uint8_t *p = data + at;");
            self.line("SP_OPAQUE(p);");
            self.line(format!("if (p + {fixed} > end) {failed}"));
            if fixed > 0 {
                self.line(format!("sp_copy(p, {home}, {fixed});"));
            }
            if most > 0 {
                self.line(format!("uint32_t varbit = *(volatile uint32_t *)&c->len_{name};"));
                self.open(format!("if (varbit > 0 && varbit <= {most})"));
                self.line(format!("if (bpf_xdp_store_bytes(ctx, at + {fixed}, {home} + {fixed}, varbit)) {failed}"));
                self.close();
            }
            self.close();
        }
    }
}

/// Headers that the program may write to after they were extracted.
pub(super) fn changed(ir: &Ir) -> BTreeSet<HeaderId> {
    let mut changed = BTreeSet::new();
    let mut note = |r: &HeaderRef| match r {
        HeaderRef::Static(h) => {
            changed.insert(*h);
        }
        HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => changed.extend(ir.stacks[*s].elements.iter().copied()),
    };
    let mut stacks = Vec::new();
    p4_ir::walk::blocks(ir, &mut |b| {
        p4_ir::walk::all_stmts(b, &mut |s| {
            p4_ir::walk::stmt_lvalues(s, &mut |l| {
                let mut at = l;
                while let p4_ir::LValue::Slice(base, ..) = at {
                    at = base;
                }
                if let p4_ir::LValue::Field(r, _) = at {
                    note(r);
                }
            });
            match s {
                Stmt::SetValid(r, _) | Stmt::CopyHeader { dst: r, .. } | Stmt::CopyVarbit { dst: r, .. } => note(r),
                Stmt::CopyStack { dst: s, .. } | Stmt::Push(s, _) | Stmt::Pop(s, _) => stacks.push(*s),
                _ => {}
            }
        });
    });
    changed.extend(stacks.into_iter().flat_map(|s| ir.stacks[s].elements.iter().copied()));
    changed
}
