//! Tables: their types and look-up functions, and the places where they are applied.

use super::Refused;
use super::code::{Code, meet};
use crate::expr::{convert, paren};
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_ir::origin::Holder;
use p4_ir::{ActionId, TableId, VarId};
use program::packing::{CellLayout, KEY, MAX_CHAIN, MAX_STEPS, MAX_TUPLES, Place, TABLE_BITS, grows, is_lpm, may_run_short};
use std::fmt::Write;

/// Masks that are looked through without a loop.
const QUICK_MASKS: u32 = 4;
/// Cells of a chain that are looked at without a loop.
const QUICK_CHAIN: u32 = 3;

// The struct's head is printed as it is.
const _: () = assert!(KEY == 16);

impl Code<'_> {
    /// Looks a table up and runs the action.
    pub(super) fn apply(&mut self, table: TableId, hit: Option<VarId>, action_run: Option<VarId>) -> Result<(), Refused> {
        let ir = self.ir;
        if self.in_parser {
            return Err(self.refuse_because(p4_ir::origin::Construct::Table, "tables in the parser"));
        }
        let (info, name) = (&ir.program.tables[table], self.model.tables[table.index()].clone());
        let outer = std::mem::replace(&mut self.place, format!("table {name}"));
        let outer_holder = self.holder.replace(Holder::Table(table));
        // Tables of rules are often empty and then do nothing: no key is made, and nothing looked at.
        let layout = self.layouts[table.index()].clone();
        let passed_over = self.may_pass_over(table);
        let came = self.known.clone();
        if passed_over {
            let t = table.index();
            self.open(format!("if (c->empty & SP_BIT({t}))"));
            self.line(format!("c->misses[{t}]++;"));
            if let Some(v) = hit {
                self.write_var(v, "0u");
            }
            if let Some(v) = action_run {
                let name = self.action_name(info.default_action.0).to_owned();
                self.write_var(v, &format!("ACTION_{name}"));
            }
            self.or_else();
            self.known = came;
        } else {
            self.open("");
        }
        // No packet comes by the text of a class while a table is short.
        if self.class.is_none() && may_run_short(info) {
            let hand_on = self.jump("hand_on");
            self.line(format!("if (c->slow_path & SP_BIT({})) {hand_on}", table.index().min(TABLE_BITS - 1)));
        }
        if info.keys.is_empty() {
            self.line(format!("struct sp_cell_{name} *e = 0;"));
        } else if layout.wild {
            self.line(format!("struct sp_cell_{name} *e = 0;"));
            self.line(format!("struct sp_masks_{name} *masks = sp_masks_{name}(c);"));
            self.open("if (masks->count)");
            let words = self.key_words(table)?;
            for (i, word) in words.iter().enumerate() {
                self.line(format!("c->key[{i}] = {word};"));
            }
            self.line(format!("e = sp_find_{name}(c, masks);"));
            self.close();
        } else {
            let words = self.key_words(table)?;
            self.line(format!("struct sp_cell_{name} *e = sp_find_{name}(c, {});", words.join(", ")));
        }
        let t = table.index();
        let wants_hit = hit.is_some();
        self.open("if (e)");
        self.line(format!("c->hits[{t}]++;"));
        if info.split && !info.keys.is_empty() && !layout.wild {
            self.open("if (!c->flow)");
            self.line("c->flow = (c->home & (SP_FLOWS - 1)) + 1;");
            // Before anything is charged for it.
            self.line("*(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);");
            self.or_else();
            self.line("if (e->pending) *(volatile uint32_t *)&c->follows = 1;");
            self.close();
        }
        if let Some(v) = hit {
            self.write_var(v, "1u");
        }
        self.or_else();
        self.line(format!("c->misses[{t}]++;"));
        if info.split {
            let hand_on = self.jump("hand_on");
            self.line(format!("if (c->subset) {hand_on}"));
        }
        if let (true, Some(v)) = (wants_hit, hit) {
            self.write_var(v, "0u");
        }
        self.line(format!("e = sp_default_{name}(c);"));
        self.close();
        for v in hit.into_iter().chain(action_run) {
            self.note_value(v, None);
        }
        let in_table = self.in_table.replace(table);
        let actions = actions(ir, table);
        let before = self.known.clone();
        let mut after = None;
        let mut quiet = false;
        if let Some(v) = action_run {
            self.write_var(v, "e->action");
        }
        let mut first = true;
        for action in &actions {
            if ir.actions[*action].body.is_empty() && self.params_need_nothing(*action) {
                quiet = true;
                continue;
            }
            self.known = before.clone();
            let text = format!("if (e->action == ACTION_{})", self.action_name(*action));
            self.open(if first { text } else { format!("else {text}") });
            first = false;
            self.action(*action, &layout)?;
            self.close();
            after = meet(after, self.known.take());
        }
        self.in_table = in_table;
        // An action that does nothing leaves everything as it was.
        self.known = if quiet || actions.is_empty() { meet(after, before) } else { after };
        self.close();
        self.place = outer;
        self.holder = outer_holder;
        Ok(())
    }

    /// Whether a packet goes by the table as if it were not there while it has no entries and the program's default action.
    fn may_pass_over(&self, table: TableId) -> bool {
        let info = &self.ir.program.tables[table];
        let action = info.default_action.0;
        table.index() < TABLE_BITS && !info.split && self.ir.actions[action].body.is_empty() && self.params_need_nothing(action)
    }

    fn params_need_nothing(&self, action: ActionId) -> bool {
        self.ir.actions[action].params.iter().all(|v| self.bindable.contains(v))
    }

    fn action(&mut self, action: ActionId, layout: &CellLayout) -> Result<(), Refused> {
        let ir = self.ir;
        let name = self.action_name(action).to_owned();
        let outer = std::mem::replace(&mut self.place, format!("action {name}"));
        let outer_holder = self.holder.replace(Holder::Action(action));
        let code = &ir.actions[action];
        for (i, v) in code.params.iter().enumerate() {
            let width = ir.vars[*v].ty.width();
            let field = format!("e->args.{name}.p{i}_{}", param(&ir.program.actions[action].params[i].name));
            let text = if layout.args[action.index()][i].len == 16 { format!("SP_U128({field}[1], {field}[0])") } else { field };
            if self.bindable.contains(v) {
                let text = if width > 64 { text } else { format!("({}){text}", crate::emitter::local_type(width)) };
                self.bound.insert(*v, paren(&text));
            } else {
                self.write_var(*v, &text);
            }
        }
        self.touch(&code.params);
        self.block(&code.body)?;
        for v in &code.params {
            self.bound.remove(v);
        }
        self.place = outer;
        self.holder = outer_holder;
        Ok(())
    }

    /// The key as 64-bit words.
    fn key_words(&mut self, table: TableId) -> Result<Vec<String>, Refused> {
        let ir = self.ir;
        let layout = self.layouts[table.index()].clone();
        let mut words = vec![Vec::new(); layout.key_len / 8];
        for (e, place) in ir.tables[table].keys.iter().zip(&layout.keys) {
            let text = self.expr(e)?;
            let (word, shift) = (place.offset / 8, place.offset % 8 * 8);
            if place.len == 16 {
                let n = self.unique();
                self.line(format!("const sp_u128 wide{n} = {text};"));
                words[word].push(format!("(uint64_t)wide{n}"));
                words[word + 1].push(format!("(uint64_t)(wide{n} >> 64)"));
            } else {
                let text = convert(&text, e.ty.width().min(64), 64);
                let text = if e.ty.width() <= 32 { text } else { paren(&text) };
                words[word].push(if shift == 0 { text } else { format!("{} << {shift}", paren(&text)) });
            }
        }
        Ok(words.iter().map(|w| if w.is_empty() { "0".into() } else { w.join(" | ") }).collect())
    }

    /// Types, maps and functions of all tables.
    pub(super) fn table_types(&self) -> String {
        let mut out = String::new();
        let tables = self.ir.program.tables.len();
        let _ = writeln!(out, "/* Of tables that grow: home cells less one. */\nSP_MEMORY(sp_homes, uint32_t, {})\n", tables.max(1));
        for (id, info) in &self.ir.program.tables {
            let (name, layout, t) = (&self.model.tables[id.index()], &self.layouts[id.index()], id.index());
            let _ = writeln!(out, "/* Table {}. */", info.full_name.replace("*/", ""));
            self.cell_type(&mut out, id, name, layout);
            super::pipeline::array(&mut out, &format!("sp_t{t}"), &format!("struct sp_cell_{name}"), "Its cells.", grows(info));
            let _ = writeln!(out, "SP_MEMORY(sp_d{t}, struct sp_cell_{name}, 2)");
            if layout.wild {
                wild_type(&mut out, name, t, layout);
            }
            out.push('\n');
        }
        out
    }

    /// Look-up functions of all tables.
    pub(super) fn table_functions(&self) -> String {
        let mut out = String::new();
        for (id, info) in &self.ir.program.tables {
            let (name, layout, t) = (&self.model.tables[id.index()], &self.layouts[id.index()], id.index());
            let _ = writeln!(
                out,
                "SP_INLINE struct sp_cell_{name} *sp_default_{name}(struct sp_context *c)\n{{\n    struct sp_cell_{name} *e = sp_d{t}_at(0);\n    return SP_LIVE(e, c->generation) ? e : sp_d{t}_at(1);\n}}\n"
            );
            if info.keys.is_empty() {
                continue;
            }
            let homes = if grows(info) { format!("*(volatile uint32_t *)sp_homes_at({t})") } else { format!("SP_HOMES({t})") };
            if layout.wild {
                find_wild(&mut out, name, t, layout, is_lpm(info), &homes);
            } else {
                find_exact(&mut out, name, t, layout, info.split, &homes);
            }
        }
        out
    }

    fn cell_type(&self, out: &mut String, table: TableId, name: &str, layout: &CellLayout) {
        let ir = self.ir;
        let last = if layout.wild { "tuple" } else { "pending" };
        let _ = writeln!(
            out,
            "struct sp_cell_{name} {{\n    uint32_t from;\n    uint32_t to;\n    uint32_t next;\n    uint16_t action;\n    uint16_t {last};"
        );
        if layout.key_len > 0 {
            let _ = writeln!(out, "    uint64_t key[{}];", layout.key_len / 8);
        }
        if layout.wild {
            let _ = writeln!(out, "    uint64_t rank;");
        }
        let mut bounds: Vec<(Place, String)> = Vec::new();
        for (i, low, high) in &layout.ranges {
            bounds.push((*low, format!("low_{i}")));
            bounds.push((*high, format!("high_{i}")));
        }
        fields(out, bounds, "    ");
        if layout.direct.is_some() {
            let _ = writeln!(out, "    uint32_t direct;");
        }
        let _ = writeln!(out, "    union {{\n        uint64_t all[{}];", (layout.len - layout.args_at) / 8);
        for action in actions(ir, table) {
            let params = &ir.program.actions[action].params;
            if params.is_empty() {
                continue;
            }
            let _ = writeln!(out, "        struct {{");
            let places = layout.args[action.index()].iter().zip(params).enumerate();
            fields(out, places.map(|(i, (place, p))| (*place, format!("p{i}_{}", param(&p.name)))).collect(), "            ");
            let _ = writeln!(out, "        }} {};", self.action_name(action));
        }
        let _ = writeln!(out, "    }} args __attribute__((aligned(8)));\n}};");
        let _ = writeln!(out, "_Static_assert(sizeof(struct sp_cell_{name}) == {}, \"as the loader has it\");", layout.len);
    }
}

fn fields(out: &mut String, mut places: Vec<(Place, String)>, indent: &str) {
    places.sort_by_key(|(p, _)| p.offset);
    for (place, name) in places {
        let (ty, array) = match place.len {
            1 => ("uint8_t", ""),
            2 => ("uint16_t", ""),
            4 => ("uint32_t", ""),
            8 => ("uint64_t", ""),
            _ => ("uint64_t", "[2]"),
        };
        let _ = writeln!(out, "{indent}{ty} {name}{array};");
    }
}

fn wild_type(out: &mut String, name: &str, t: usize, layout: &CellLayout) {
    let words = layout.key_len / 8;
    let _ = writeln!(
        out,
        "struct sp_mask_{name} {{\n    uint64_t most;\n    uint64_t tuple;\n    uint64_t mask[{words}];\n}};\nstruct sp_masks_{name} {{\n    uint32_t from;\n    uint32_t to;\n    uint64_t count;\n    struct sp_mask_{name} tuples[{MAX_TUPLES}];\n}};\nSP_MEMORY(sp_m{t}, struct sp_masks_{name}, 2)"
    );
}

fn find_exact(out: &mut String, name: &str, t: usize, layout: &CellLayout, split: bool, homes: &str) {
    let words = layout.key_len / 8;
    // Whatever the number of homes is when a packet of the flow comes.
    let note = if split { "    c->home = (uint32_t)hash;\n" } else { "" };
    let params: String = (0..words).map(|i| format!(", uint64_t k{i}")).collect();
    let same: String = (0..words).map(|i| format!("e->key[{i}] == k{i} && ")).collect();
    let _ =
        writeln!(out, "SP_INLINE struct sp_cell_{name} *sp_find_{name}(struct sp_context *c{params})\n{{\n    uint64_t hash = sp_seed;");
    for i in 0..words {
        let _ = writeln!(out, "    hash = SP_HASH(hash, k{i});");
    }
    let _ = writeln!(
        out,
        "    uint32_t at = (uint32_t)hash & {homes};\n{note}    const uint32_t generation = c->generation;\n    for (int n = 0; n < {MAX_CHAIN}; n++) {{\n        struct sp_cell_{name} *e = sp_t{t}_at(at);\n        if (!e) return 0;\n        if ({same}SP_LIVE(e, generation)) return e;\n        at = e->next;\n        if (!at) return 0;\n    }}\n    return 0;\n}}\n"
    );
}

/// All masks in falling order of the best rank behind them; of what matches, the highest rank. The kernel's own loop calls
/// `sp_step`, which is verified once; its state is kept in the context. The search is verified once, too, not at each place that
/// calls it, as it is no static function: of its arguments the verifier knows their types only. With a longest prefix (`lpm`) what matches first is
/// what is looked for: masks are in falling order of prefixes, and an entry has its mask and key alone.
fn find_wild(out: &mut String, name: &str, t: usize, layout: &CellLayout, lpm: bool, homes: &str) {
    let words = layout.key_len / 8;
    let mut hash = String::new();
    for i in 0..words {
        let _ = write!(
            hash,
            "        word = c->key[{i}] & t->mask[{i}];\n        c->masked[{i}] = word;\n        hash = SP_HASH(hash, word);\n"
        );
    }
    // The same without a place in the context for what is masked.
    let mut quick: String = (0..words).map(|i| format!("        const uint64_t w{i} = c->key[{i}] & t->mask[{i}];\n")).collect();
    quick.extend((0..words).map(|i| format!("        hash = SP_HASH(hash, w{i});\n")));
    let mut same: String = (0..words).map(|i| format!(" && e->key[{i}] == c->masked[{i}]")).collect();
    for (i, low, _) in &layout.ranges {
        let place = layout.keys[*i];
        let (word, shift) = (place.offset / 8, place.offset % 8 * 8);
        let ty = match low.len {
            1 => "uint8_t",
            2 => "uint16_t",
            4 => "uint32_t",
            8 => "uint64_t",
            _ => {
                let key = format!("SP_U128(c->key[{}], c->key[{word}])", word + 1);
                let bound = |b: &str| format!("SP_U128(e->{b}_{i}[1], e->{b}_{i}[0])");
                let _ = write!(same, "\n        && {key} >= {} && {key} <= {}", bound("low"), bound("high"));
                continue;
            }
        };
        let key = format!("({ty})(c->key[{word}] >> {shift})");
        let _ = write!(same, "\n        && {key} >= e->low_{i} && {key} <= e->high_{i}");
    }
    let quick_same = (0..words).fold(same.clone(), |text, i| text.replace(&format!("c->masked[{i}]"), &format!("w{i}")));
    // Of others: whether a mask may have something better, what to do with what matches, and whether the search is at its end.
    let (state, passed, matched, over) = match lpm {
        true => ("", "", ") return at + 1;", String::new()),
        false => (
            "    uint64_t found = 0, best = 0;\n",
            "        if (found && best >= t->most) return (uint32_t)found;\n",
            " && (!found || e->rank > best)) {\n                best = e->rank;\n                found = at + 1ull;\n            }",
            format!(" || (found && best >= masks->tuples[{QUICK_MASKS}].most)"),
        ),
    };
    let found = if lpm { "0" } else { "(uint32_t)found" };
    let _ = writeln!(
        out,
        "struct sp_walk_{name} {{
    struct sp_context *c;
    struct sp_masks_{name} *masks;
}};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_{name}(uint64_t step, struct sp_walk_{name} *walk)
{{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {{
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= {MAX_TUPLES}) return 1;
        struct sp_mask_{name} *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
{hash}        s->at = (uint32_t)hash & {homes};
    }}
    uint32_t at = s->at;
    struct sp_cell_{name} *e = sp_t{t}_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation){same}
        && (!s->found || e->rank > s->best)) {{
        s->best = e->rank;
        s->found = at + 1ull;
    }}
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}}

SP_INLINE struct sp_masks_{name} *sp_masks_{name}(struct sp_context *c)
{{
    struct sp_masks_{name} *masks = sp_m{t}_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m{t}_at(1);
}}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_{name}(struct sp_context *c, struct sp_masks_{name} *masks)
{{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
{state}#pragma unroll
    for (uint32_t i = 0; i < {QUICK_MASKS}; i++) {{
        if (i >= masks->count) return {found};
        struct sp_mask_{name} *t = &masks->tuples[i];
{passed}        uint64_t hash = sp_seed ^ t->tuple;
{quick}        uint32_t at = (uint32_t)hash & {homes};
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < {QUICK_CHAIN}; n++) {{
            struct sp_cell_{name} *e = sp_t{t}_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation){quick_same}{matched}
            at = e->next;
            if (!at) break;
            if (n == {QUICK_CHAIN} - 1) goto slow;
        }}
    }}
    if (masks->count <= {QUICK_MASKS}{over}) return {found};
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_{name} walk = {{c, masks}};
    bpf_loop({MAX_STEPS}, sp_step_{name}, &walk, 0);
    return (uint32_t)c->scan.found;
}}

SP_INLINE struct sp_cell_{name} *sp_find_{name}(struct sp_context *c, struct sp_masks_{name} *masks)
{{
    uint32_t found = sp_search_{name}(c, masks);
    if (!found) return 0;
    return sp_t{t}_at(found - 1);
}}
"
    );
}

/// A parameter's name as C has names.
fn param(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
