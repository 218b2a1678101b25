//! What does a P4Runtime client know of a program? Its P4Info (`p4.config.v1`), as text of a protocol buffer.
//!
//! An action profile is one object, though its members and groups are tables here. Not here: the architecture, types with names (`type_info`), documentation, annotations. Cells of registers and values of
//! digests are given as plain bit strings.

use crate::ids::Named;
use crate::{ActionId, ActionUse, CountUnit, KeyInfo, MatchKind, Program, TableId, TableInfo};
use std::collections::HashSet;
use std::fmt::Write;

impl Program {
    /// Its P4Info in the text format of protocol buffers, as `p4c --p4runtime-files` writes it.
    pub fn p4info(&self) -> String {
        let behind = |table: TableId| self.profiles.iter().any(|p| p.behind.contains(&table));
        let handles: HashSet<ActionId> = self.profiles.iter().flat_map(|p| p.handles.iter().copied()).collect();
        let seen: HashSet<ActionId> = (self.tables.iter().filter(|(id, _)| !behind(*id)))
            .flat_map(|(_, t)| t.actions.iter().map(|u| u.action).chain([t.default_action.0]))
            .filter(|action| !handles.contains(action))
            .collect();
        let mut text = Text::default();
        text.message("pkg_info", |m| {
            m.string("name", &self.name);
        });
        for ((id, table), named) in self.tables.iter().zip(self.ids.tables.values()).filter(|((id, _), _)| !behind(*id)) {
            text.message("tables", |m| self.table_info(m, id, table, named, &handles));
        }
        let mut written = HashSet::new();
        let actions =
            self.actions.iter().zip(self.ids.actions.values()).filter(|((id, _), _)| self.profiles.is_empty() || seen.contains(id));
        for ((_, action), named) in actions.filter(|(_, named)| written.insert(named.id)) {
            text.message("actions", |m| {
                m.preamble(named, &action.name);
                for (param, id) in action.params.iter().zip(&named.fields) {
                    m.message("params", |m| {
                        m.number("id", *id);
                        m.string("name", &param.name);
                        m.number("bitwidth", param.width);
                    });
                }
            });
        }
        for (profile, named) in self.profiles.iter().zip(&self.ids.action_profiles) {
            text.message("action_profiles", |m| {
                m.preamble(named, last(&named.name));
                profile.tables.iter().for_each(|table| m.number("table_ids", self.ids.tables[*table].id));
                if profile.selector {
                    m.name("with_selector", "true");
                }
                m.number("size", profile.size);
                if let Some(most) = profile.max_group_size {
                    m.number("max_group_size", most);
                }
            });
        }
        for (counter, named) in self.counters.values().zip(self.ids.counters.values()) {
            let what = if counter.table.is_some() { "direct_counters" } else { "counters" };
            text.message(what, |m| {
                m.preamble(named, &counter.name);
                m.message("spec", |m| m.name("unit", unit(counter.unit)));
                match counter.table {
                    Some(table) => m.number("direct_table_id", self.ids.tables[table].id),
                    None => m.number("size", counter.size),
                }
            });
        }
        for (meter, named) in self.meters.values().zip(self.ids.meters.values()) {
            let what = if meter.table.is_some() { "direct_meters" } else { "meters" };
            text.message(what, |m| {
                m.preamble(named, &meter.name);
                m.message("spec", |m| m.name("unit", unit(meter.unit)));
                match meter.table {
                    Some(table) => m.number("direct_table_id", self.ids.tables[table].id),
                    None => m.number("size", meter.size),
                }
            });
        }
        for (set, named) in self.value_sets.values().zip(self.ids.value_sets.values()) {
            text.message("value_sets", |m| {
                m.preamble(named, last(&named.name));
                for (field, width) in (1u32..).zip(&set.widths) {
                    m.message("match", |m| {
                        m.number("id", field);
                        m.number("bitwidth", *width);
                        m.name("match_type", "EXACT");
                    });
                }
                m.number("size", set.size);
            });
        }
        for (register, named) in self.registers.values().zip(self.ids.registers.values()) {
            text.message("registers", |m| {
                m.preamble(named, &register.name);
                m.message("type_spec", |m| m.bits(register.width));
                m.number("size", register.size);
            });
        }
        for named in &self.ids.digests {
            text.message("digests", |m| {
                m.preamble(named, &named.name);
                m.message("type_spec", |m| m.message("tuple", |m| named.fields.iter().for_each(|w| m.message("members", |m| m.bits(*w)))));
            });
        }
        text.out
    }

    fn table_info(&self, m: &mut Text, id: TableId, table: &TableInfo, named: &Named, handles: &HashSet<ActionId>) {
        m.preamble(named, &table.name);
        for (KeyInfo { name, width, kind }, id) in table.keys.iter().zip(&named.fields) {
            m.message("match_fields", |m| {
                m.number("id", *id);
                m.string("name", name);
                m.number("bitwidth", *width);
                let kind = match kind {
                    MatchKind::Exact => "EXACT",
                    MatchKind::Lpm => "LPM",
                    MatchKind::Ternary => "TERNARY",
                    MatchKind::Range => "RANGE",
                    MatchKind::Optional => "OPTIONAL",
                };
                m.name("match_type", kind);
            });
        }
        for ActionUse { action, entry, default } in table.actions.iter().filter(|u| !handles.contains(&u.action)) {
            m.message("action_refs", |m| {
                m.number("id", self.ids.actions[*action].id);
                match (entry, default) {
                    (true, false) => m.name("scope", "TABLE_ONLY"),
                    (false, true) => m.name("scope", "DEFAULT_ONLY"),
                    // As the format has it for what is the first of its names.
                    _ => {}
                }
            });
        }
        let (action, args) = &table.default_action;
        let default = &self.ids.actions[*action];
        if table.const_default {
            m.number("const_default_action_id", default.id);
        }
        m.message("initial_default_action", |m| {
            m.number("action_id", default.id);
            let widths = self.actions[*action].params.iter().map(|param| param.width);
            for ((id, value), width) in default.fields.iter().zip(args).zip(widths) {
                m.message("arguments", |m| {
                    m.number("param_id", *id);
                    m.bytes("value", *value, width);
                });
            }
        });
        if let Some(at) = self.profiles.iter().position(|p| p.tables.contains(&id)) {
            m.number("implementation_id", self.ids.action_profiles[at].id);
        }
        let counter = table.direct_counter.map(|counter| self.ids.counters[counter].id);
        let meter = table.direct_meter.map(|meter| self.ids.meters[meter].id);
        counter.into_iter().chain(meter).for_each(|id| m.number("direct_resource_ids", id));
        m.number("size", table.size);
        if table.const_entries {
            m.name("is_const_table", "true");
        }
        if !table.entries.is_empty() {
            m.name("has_initial_entries", "true");
        }
    }
}

fn unit(unit: CountUnit) -> &'static str {
    match unit {
        CountUnit::Packets => "PACKETS",
        CountUnit::Bytes => "BYTES",
        CountUnit::Both => "BOTH",
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A protocol buffer as text.
#[derive(Default)]
struct Text {
    out: String,
    indent: usize,
}

impl Text {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let width = 2 * self.indent;
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{:width$}{text}", "");
    }

    fn message(&mut self, name: &str, fields: impl FnOnce(&mut Text)) {
        self.line(format_args!("{name} {{"));
        self.indent += 1;
        fields(self);
        self.indent -= 1;
        self.line(format_args!("}}"));
    }

    fn number(&mut self, name: &str, value: impl Into<u64>) {
        self.line(format_args!("{name}: {}", value.into()));
    }

    /// Of an enumeration, or a truth value.
    fn name(&mut self, name: &str, value: &str) {
        self.line(format_args!("{name}: {value}"));
    }

    fn string(&mut self, name: &str, value: &str) {
        // What this escapes, the format reads: quotes, backslashes, what is not printed. Names are source text.
        self.line(format_args!("{name}: \"{}\"", value.as_bytes().escape_ascii()));
    }

    /// A value as P4Runtime's byte string (§8.4): the most significant byte first, none that is zero before it.
    fn bytes(&mut self, name: &str, value: u128, width: u32) {
        let all = value.to_be_bytes();
        let zeros = (value.leading_zeros() / 8).min(15) as usize;
        debug_assert!(width >= 128 || value >> width == 0);
        self.line(format_args!("{name}: \"{}\"", all[zeros..].escape_ascii()));
    }

    fn bits(&mut self, width: u32) {
        self.message("bitstring", |m| m.message("bit", |m| m.number("bitwidth", width)));
    }

    fn preamble(&mut self, named: &Named, alias: &str) {
        self.message("preamble", |m| {
            m.number("id", named.id);
            m.string("name", &named.name);
            m.string("alias", alias);
        });
    }
}
