//! Look-ups for packets of a class: keys are written when a packet starts to wait for a look-up, not in a separate loop.
//!
//! A key like that of the packet before is not written again: in a row of packets for the same neighbour or gNodeB one
//! look-up serves all; hits and misses are still counted for each packet. A table of wildcard rules that has no
//! entries, and a default action that does nothing, is skipped: the packet continues where it is.
//!
//! A stage may have two functions, one for packets whose record has the usual action, in which nothing has to be tested that only other
//! actions could have changed. It hands the others to the function for these, a row of packets at a time, as order may matter.

use crate::EmitError;
use crate::emitter::{Emitter, local_type};
use crate::expr::paren;
use crate::facts::Known;
use crate::graph::{SiteId, StageId, optional};
use crate::layout::{key_fields, key_stride};
use crate::model::Near;
use crate::stages::{OTHERS, PAUSE, RESUME};
use cranelift_entity::EntityRef;
use p4_ir::{Ir, TableId};
use program::MatchKind;

/// Whether a table may be one that generated code looks up by itself.
fn is_exact(ir: &Ir, table: TableId) -> bool {
    ir.program.tables[table].keys.iter().all(|key| key.kind == MatchKind::Exact)
}

impl Emitter<'_> {
    /// Text by which a packet waits for a look-up; the bit in the stage's word is set elsewhere.
    pub(crate) fn wait_for(&mut self, site: SiteId, stage: StageId) -> Result<(), EmitError> {
        let ir = self.ir;
        let table = self.graph.sites[site].table;
        if ir.program.tables[table].keys.is_empty() || ir.program.asks.iter().any(|ask| ask.table == table) {
            return Ok(());
        }
        let stride = key_stride(key_fields(ir, table).1);
        // Nothing waits for a near table.
        let small = match self.model.near(ir, table) {
            Some(Near::Always) => return Ok(()),
            Some(Near::WhileSmall) => self.looks_up_here(table).is_none(),
            None => false,
        };
        if small {
            self.smalls.insert(table);
            self.open(format!("if (!small_{})", self.model.tables[table.index()]));
        }
        let now = self.key_words(table)?;
        let x = self.stage_number(stage);
        let mut new = vec![format!("n_{x} == begin_{x}")];
        new.extend(now.iter().enumerate().map(|(w, name)| format!("{name} != word_{x}_{w}")));
        self.waits.insert(stage, now.len());
        self.line(format!("n_{x} += {};", new.iter().map(|t| format!("({t})")).collect::<Vec<_>>().join(" | ")));
        self.line(format!("wait_{x}->key_of[i] = n_{x} - 1;"));
        if is_exact(ir, table) {
            let key = format!("(const uint64_t[{}]){{{}}}, {0}", now.len(), now.join(", "));
            self.line(format!("if (hashing_{x}.live) wait_{x}->hashes[n_{x} - 1] = sp_exact_hash(&hashing_{x}, {key});"));
        }
        for (w, name) in now.iter().enumerate() {
            self.line(format!("sp_st64(wait_{x}->bytes + (n_{x} - 1) * {stride} + {}, {name});", 8 * w));
            self.line(format!("word_{x}_{w} = {name};"));
        }
        if small {
            self.close();
        }
        Ok(())
    }

    /// A table's key as words of memory: names of C constants.
    pub(crate) fn key_words(&mut self, table: TableId) -> Result<Vec<String>, EmitError> {
        let ir = self.ir;
        let (fields, len) = key_fields(ir, table);
        let mut words = vec![Vec::new(); key_stride(len).div_ceil(8) as usize];
        for ((field, info), e) in fields.iter().zip(&ir.program.tables[table].keys).zip(&ir.tables[table].keys) {
            if info.width == 0 || field.bytes == 0 {
                continue;
            }
            let mut text = self.expr(e)?;
            if field.shift > 0 {
                text = format!("({}){} << {}", local_type(field.bytes * 8), paren(&text), field.shift);
            }
            let (from, to) = (field.offset, field.offset + field.bytes);
            let mut name = paren(&text);
            if from / 8 != (to - 1) / 8 {
                name = format!("x{}", self.unique());
                self.line(format!("const {} {name} = {text};", local_type(field.bytes * 8)));
            }
            for word in from / 8..to.div_ceil(8) {
                let end = 8 * word + 8;
                words[word as usize].push(match (end.saturating_sub(to), to.saturating_sub(end)) {
                    (0, 0) => format!("(uint64_t){name}"),
                    (0, over) => format!("(uint64_t)({name} >> {})", 8 * over),
                    (under, _) => format!("(uint64_t){name} << {}", 8 * under),
                });
            }
        }
        let mut names = Vec::new();
        for parts in words {
            let name = format!("x{}", self.unique());
            let value = if parts.is_empty() { "0".into() } else { parts.join(" | ") };
            self.line(format!("const uint64_t {name} = {value};"));
            names.push(name);
        }
        Ok(names)
    }

    /// Passes a table over whose look-up would change nothing. Goes on behind it in the same stage; what follows is for when it
    /// would.
    pub(crate) fn pass_over(&mut self, site: SiteId) -> Result<(), EmitError> {
        let at = &self.graph.sites[site];
        let Some(nothing) = optional(self.ir, at.table) else { return Ok(()) };
        let name = self.model.tables[at.table.index()].clone();
        self.skips.insert(at.table);
        let before = self.fork();
        self.open(format!("if (skip_{name})"));
        self.line(format!("skipped_{name}++;"));
        for (v, value) in [(at.hit, 0), (at.action_run, nothing.index() as u128)] {
            if let Some(v) = v {
                self.write_var(v, &crate::field::constant(self.ir.vars[v].ty.width(), value));
                self.note_value(v, Some(Known::Const(value)));
            }
        }
        self.goto(at.after)?;
        self.close();
        self.flow = before;
        Ok(())
    }

    /// What a stage's function begins with for the look-ups that it makes packets wait for.
    pub(crate) fn begin_waits(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for (stage, words) in &self.waits {
            let (x, first) = (self.stage_number(*stage), self.class.map_or(0, |c| c.general.graph.stages.len()));
            lines.push(format!("struct sp_wait *const wait_{x} = &run->wait[{}];", x - first));
            lines.push(format!("uint32_t n_{x} = wait_{x}->keys;"));
            lines.push(format!("uint32_t begin_{x} = n_{x};"));
            let table = self.graph.stages[*stage].site.map(|site| self.graph.sites[site].table);
            if let Some(table) = table.filter(|table| is_exact(self.ir, *table)) {
                lines.push(format!("const struct sp_hashing hashing_{x} = sp_hashing(run, TABLE_{});", self.model.tables[table.index()]));
            }
            lines.extend((0..*words).map(|w| format!("uint64_t word_{x}_{w} = 0;")));
        }
        for table in &self.skips {
            let name = &self.model.tables[table.index()];
            let nothing = optional(self.ir, *table).map_or("", |a| &self.model.actions[a.index()]);
            lines.push(format!("struct sp_table *const table_{name} = &run->lane->tables[TABLE_{name}];"));
            let action = format!("((const struct record_{name} *)table_{name}->miss)->action");
            lines.push(format!("const uint32_t skip_{name} = !table_{name}->lookup && {action} == ACTION_{nothing};"));
            lines.push(format!("uint64_t skipped_{name} = 0;"));
        }
        lines
    }

    /// What is to be done before another function is called that makes packets wait.
    pub(crate) fn pause_waits(&self) -> Vec<String> {
        self.waits.keys().map(|s| self.stage_number(*s)).map(|x| format!("wait_{x}->keys = n_{x};")).collect()
    }

    /// And what behind it: the next key is a new one.
    pub(crate) fn resume_waits(&self) -> Vec<String> {
        self.waits.keys().map(|s| self.stage_number(*s)).map(|x| format!("begin_{x} = n_{x} = wait_{x}->keys;")).collect()
    }

    /// What it ends with.
    pub(crate) fn end_waits(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for stage in std::mem::take(&mut self.waits).into_keys() {
            let x = self.stage_number(stage);
            lines.push(format!("wait_{x}->keys = n_{x};"));
        }
        for table in std::mem::take(&mut self.skips) {
            let name = &self.model.tables[table.index()];
            lines.push(format!("sp_looked_up(table_{name}, 0, skipped_{name});"));
        }
        lines
    }

    /// The beginning of the code of a stage that has been looked up for: hits and records are there.
    pub(crate) fn begin_looked_up(&mut self, table: TableId) {
        let name = &self.model.tables[table.index()];
        let (x, first) = (self.stage_number(self.stage), self.class.map_or(0, |c| c.general.graph.stages.len()));
        let wait = format!("const struct sp_wait *const wait = &run->wait[{}];", x - first);
        self.line(wait);
        self.line("const uint64_t hits = wait->hits;");
        self.line("uint32_t found = 0;");
        let record = format!("const struct record_{name} *const r = hit ? (const void *)wait->records[k] : table->miss;");
        if self.usual.is_some() {
            self.line("uint32_t others = 0;");
        }
        self.for_each_packet();
        self.line("const uint32_t k = wait->key_of[i];");
        self.line("const uint32_t hit = hits >> k & 1;");
        self.line(record);
        if let Some(usual) = self.usual {
            let usual = &self.model.actions[usual.index()];
            self.open(format!("if (__builtin_expect(r->action != ACTION_{usual}, 0))"));
            self.line(format!("const uint64_t row = sp_row(wait, table, left, ACTION_{usual});"));
            self.line(PAUSE);
            self.line(format!("{OTHERS}(run, row);"));
            self.line(RESUME);
            self.line("others += __builtin_popcountll(row);");
            self.line("left &= ~row | bit;");
            self.line("continue;");
            self.close();
        }
        self.line("found += hit;");
    }
}
