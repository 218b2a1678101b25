//! From headers to bytes: first where each emitted header comes to lie, then room in front, then the bytes.

use super::Refused;
use super::code::Code;
use cranelift_entity::EntityRef;
use p4_ir::{HeaderId, HeaderRef};

impl Code<'_> {
    /// Notes where the header comes to lie.
    pub fn emit(&mut self, r: &HeaderRef) -> Result<(), Refused> {
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
        self.line(format!("if ({valid}) {{ c->v.emit[{site}] = (uint16_t)(emitted + 1); emitted += {len}; }}"));
    }

    /// Makes room in front of the rest of the packet and writes the headers there.
    pub fn write_headers(&mut self) {
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
