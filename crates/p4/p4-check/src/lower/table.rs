//! What is a table? Keys, actions, default, entries and the properties of v1model (P4_16 §14.2).

use super::cx::Cx;
use super::declared::Foreign;
use super::declared::ForeignUse;
use super::declared::Key;
use super::declared::Listed;
use super::declared::Table;
use super::ids::IdOf;
use super::instances::{ObjKind, Profile};

use crate::names::scope::{Entity, nearest};
use crate::names::sink::R;
use crate::types::fold::unary;
use crate::types::wide::{number_exprs, numbers};
use crate::types::*;
use crate::values::body::{Region, Stage};
use crate::values::origins::origin;
use p4_ir::{ActionId, Bits, Block, Extern, Stmt, TableCode, Ty, VarId};
use p4_syntax::{Diagnostic, Span, ast};
use program::{ActionInfo, ActionUse, KeyInfo, MatchKind, ProfileInfo, TableInfo};
use std::collections::{HashMap, HashSet};

/// Size of a table that does not say its own.
const DEFAULT_SIZE: u64 = 1024;
/// The same of a program for TNA.
const DEFAULT_SIZE_TNA: u64 = 512;

/// A table's direct counter and direct meter.
type Direct = (Option<p4_ir::CounterId>, Option<p4_ir::MeterId>);

fn foreign_use(block: &[Stmt], own: Direct) -> Option<Foreign> {
    block.iter().find_map(|s| match s {
        Stmt::Extern(Extern::DirectCount(c)) if own.0 != Some(*c) => Some(Foreign::Counter(*c)),
        Stmt::Extern(Extern::DirectMeter { meter, .. }) if own.1 != Some(*meter) => Some(Foreign::Meter(*meter)),
        Stmt::If(_, a, b) => foreign_use(a, own).or_else(|| foreign_use(b, own)),
        Stmt::Switch { cases, default, .. } => cases.iter().find_map(|(_, b)| foreign_use(b, own)).or_else(|| foreign_use(default, own)),
        Stmt::Labeled(_, b) | Stmt::Loop(b) => foreign_use(b, own),
        _ => None,
    })
}
/// Largest table.
const MAX_SIZE: u64 = 1 << 32;

impl<'a> Cx<'a> {
    pub(crate) fn declare_table(&mut self, decl: &'a ast::TableDecl, annotations: &'a [ast::Annotation], applied: bool) -> R<()> {
        let full_name = self.control_plane_name(&decl.name.name, annotations);
        self.tables.push(Table {
            decl,
            annotations,
            full_name,
            body: self.body.clone(),
            active: self.active.clone(),
            id: None,
            failed: false,
            before: Vec::new(),
            applied: 0,
            actions: Vec::new(),
            profile: None,
            selector: Vec::new(),
        });
        let index = self.tables.len() - 1;
        let result = if applied { self.lower_table(index) } else { Ok(()) };
        self.declare(&decl.name, Entity::Table(index));
        result
    }

    pub(crate) fn lower_table(&mut self, index: usize) -> R<()> {
        let result = self.lower_table_parts(index);
        if result.is_err() {
            self.tables[index].failed = true;
        }
        result
    }

    fn lower_table_parts(&mut self, index: usize) -> R<()> {
        let Table { decl, annotations, full_name, .. } = self.tables[index].clone();
        let name = &decl.name.name;
        self.check_properties(decl)?;
        let mut failed = None;
        let (keys, infos, exprs, before, selector) = match self.keys(decl) {
            Ok(k) => k,
            Err(e) => {
                failed = Some(e);
                Default::default()
            }
        };
        let direct = self.direct_objects(decl);
        let listed = match self.listed_actions(decl, name, *direct.as_ref().unwrap_or(&(None, None))) {
            Ok(l) => l,
            Err(e) => {
                failed = Some(e);
                Vec::new()
            }
        };
        if let Some(e) = failed {
            return Err(e);
        }
        let (direct_counter, direct_meter) = direct?;
        self.tables[index].actions = listed.clone();
        let default = self.default_action(decl, &listed);
        let mut actions: Vec<ActionUse> = listed.iter().map(|l| l.usage).collect();
        // Its tables come first.
        let profile = self.implementation(decl, annotations, &actions, direct_counter, direct_meter.is_some());
        let id = self.build.ir.program.tables.next_key();
        let entries = self.entries(decl, id, &keys, &listed);
        let (default_action, const_default, extra) = default?;
        let (entries, const_entries) = entries?;
        let profile = profile?;
        actions.extend(extra);
        let profile = profile.map(|(name, info, profile)| {
            self.ids.note_profile(&name, id, info);
            actions.extend(&profile.handles);
            profile
        });
        let size = self.table_size(decl)?;
        if let Some(c) = direct_counter {
            let info = &mut self.build.ir.program.counters[c];
            (info.table, info.size) = (Some(id), size);
            for l in listed.iter().filter(|l| l.usage.entry) {
                // v1model counts each hit, whether the action says so or not; what it says is kept where it does. For TNA what the action says counts.
                let ir = &mut self.build.ir;
                let body = &mut ir.actions[l.id].body;
                if !counts(body, c) && ir.arch != p4_ir::Architecture::Tna {
                    body.insert(0, Stmt::Extern(Extern::DirectCount(c)));
                }
            }
        }
        if let Some(m) = direct_meter {
            let info = &mut self.build.ir.program.meters[m];
            (info.table, info.size) = (Some(id), size);
        }
        if let Some(register) = self.direct_register(decl)? {
            let info = &mut self.build.ir.program.registers[register];
            (info.table, info.size) = (Some(id), size);
        }
        let split = self.split(annotations)?;
        self.build.ir.origins.hold(p4_ir::origin::Holder::Table(id), origin(decl.name.span));
        let memory = match self.arch() {
            Some(arch) => (arch.memory)(self, decl, annotations, &infos)?,
            None => p4_ir::TableMemory::default(),
        };
        self.build.ir.program.tables.push(TableInfo {
            name: full_name.clone(),
            full_name,
            keys: infos,
            actions,
            default_action,
            const_default,
            size: size.max(entries.len() as u64),
            entries,
            const_entries,
            split,
            direct_counter,
            direct_meter,
        });
        self.build.ir.tables.push(TableCode { keys: exprs, memory });
        self.note_id(IdOf::Table(id), annotations);
        let fields = decl.key().unwrap_or(&[]).iter().filter(|k| k.match_kind.name != "selector");
        let mut at = 0;
        for (field, key) in fields.zip(&keys) {
            self.note_id(IdOf::Key(id, at), &field.annotations);
            at += key.widths.len();
        }
        let table = &mut self.tables[index];
        (table.id, table.before) = (Some(id), before);
        (table.profile, table.selector) = (profile, selector);
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Properties

    fn check_properties(&mut self, decl: &'a ast::TableDecl) -> R<()> {
        let mut first: HashMap<&str, Span> = HashMap::new();
        for p in &decl.properties {
            let name = match &p.kind {
                ast::TablePropertyKind::Key(_) => "key",
                ast::TablePropertyKind::Actions(_) => "actions",
                ast::TablePropertyKind::Entries(_) => "entries",
                ast::TablePropertyKind::Custom { name, .. } => name.name.as_str(),
            };
            if let Some(span) = first.insert(name, p.span) {
                let d = Diagnostic::error("duplicate", p.span, format!("property `{name}` is given twice"));
                return Err(self.report(d.with_place(span, "first given here")));
            }
            match name {
                "key" | "actions" | "entries" | "default_action" | "size" | "counters" | "meters" => {}
                "largest_priority_wins" | "priority_delta" => {}
                "implementation" => {}
                other if self.arch().map_or(Ok(false), |arch| (arch.property)(self, other, p))? => {}
                "support_timeout" => {
                    self.warn("ignored", p.span, "`support_timeout` is ignored: entries do not age here");
                }
                _ if self.check_only() => {
                    // Whichever architecture knows it: its value is an expression of names that exist.
                    if let ast::TablePropertyKind::Custom { value, .. } = &p.kind {
                        self.inner_block(|cx| cx.expr(value)).0?;
                    }
                }
                other => {
                    let known = ["key", "actions", "entries", "default_action", "size", "counters", "meters"];
                    let mut d = Diagnostic::warning("ignored", p.span, format!("property `{other}` is not known and is ignored"));
                    if let Some(near) = nearest(other, known.into_iter()) {
                        d = d.with_help(format!("did you mean `{near}`?"));
                    }
                    self.report(d);
                }
            }
        }
        let at = |name: &str| {
            decl.properties.iter().position(|p| match &p.kind {
                ast::TablePropertyKind::Actions(_) => name == "actions",
                ast::TablePropertyKind::Custom { name: n, .. } => n.name == name,
                _ => false,
            })
        };
        if let (Some(default), Some(actions)) = (at("default_action"), at("actions"))
            && default < actions
        {
            return Err(self.error("table", decl.properties[default].span, "the default action must stand after the list of actions"));
        }
        if decl.actions().is_none() {
            return Err(self.error("table", decl.name.span, format!("table `{}` lists no `actions`", decl.name.name)));
        }
        Ok(())
    }

    /// `implementation = profile;`
    fn implementation(
        &mut self,
        decl: &'a ast::TableDecl,
        annotations: &'a [ast::Annotation],
        actions: &[ActionUse],
        counter: Option<p4_ir::CounterId>,
        metered: bool,
    ) -> R<Option<(String, ProfileInfo, Profile)>> {
        let Some((property, value)) = self.property(decl, "implementation") else { return Ok(None) };
        let v = self.expr(value)?;
        let object = self.object(&v);
        let declared = match object.map(|o| self.kind(o)) {
            Some(ObjKind::Profile(p)) => p.clone(),
            // How the chip finds the longest prefix, not what it finds.
            Some(ObjKind::Partitions(..)) => return Ok(None),
            _ if self.check_only() => return Ok(None),
            _ => return Err(self.unsupported(property.span, "this `implementation` of a table")),
        };
        if metered {
            return Err(self.unsupported(property.span, "a direct meter of a table with an action profile"));
        }
        let given = ast::find_annotation(&property.annotations, "name").and_then(ast::Annotation::string);
        let name = match (given, &value.kind, object) {
            (Some(name), ..) => match name.strip_prefix('.') {
                Some(absolute) => absolute.to_owned(),
                None => self.local_name(name),
            },
            // An instance that has a name of its own.
            (None, ast::ExprKind::Path(_), Some(o)) => self.objects.path(o).to_owned(),
            _ => self.local_name(&format!("{}.implementation", decl.name.name)),
        };
        [&property.annotations[..], annotations].into_iter().for_each(|a| self.ids.note_group_size(&name, a));
        let profile = self.profile(&name, &declared, actions, counter, property.span)?;
        if let Some(o) = object
            && let Some(p) = self.objects.profile_mut(o)
        {
            p.lowered = Some(profile.clone());
        }
        Ok(Some((name, profile.info(&declared), profile)))
    }

    #[allow(clippy::type_complexity)]
    fn keys(&mut self, decl: &'a ast::TableDecl) -> R<(Vec<Key>, Vec<KeyInfo>, Vec<p4_ir::Expr>, Block, Vec<p4_ir::Expr>)> {
        let elements = decl.key().unwrap_or(&[]);
        let (values, before) = self.inner_block(|cx| cx.exprs(elements.iter().map(|k| &k.expr)));
        let (mut keys, mut infos, mut exprs, mut selector) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut failed = None;
        let mut lpm: Option<Span> = None;
        for (k, v) in elements.iter().zip(values?) {
            if k.match_kind.name == "selector" && self.decls.is_match_kind("selector") {
                match v.val.scalar() {
                    Some(e) => selector.push(e),
                    None => failed = Some(self.error("type-mismatch", k.expr.span, format!("{} cannot be a key", v.ty))),
                }
                continue;
            }
            let kind = match self.match_kind(&k.match_kind) {
                Ok(k) => k,
                Err(e) => {
                    failed = Some(e);
                    continue;
                }
            };
            if kind == MatchKind::Lpm
                && let Some(first) = lpm.replace(k.span)
            {
                let d = Diagnostic::error("unsupported", k.span, "a table with two `lpm` keys is not supported");
                failed = Some(self.report(d.with_place(first, "the other one")));
            }
            if let (Some(_), MatchKind::Lpm | MatchKind::Range) = (wide_of(bottom(&v.ty)), kind) {
                failed = Some(self.unsupported(k.expr.span, format!("a key of type {} and kind `{}`", v.ty, k.match_kind.name)));
                continue;
            }
            if let (Type::Bool, MatchKind::Lpm | MatchKind::Range) = (&v.ty, kind) {
                let message = format!("a key of kind `{}` must be a number, not bool", k.match_kind.name);
                failed = Some(self.error("type-mismatch", k.expr.span, message));
                continue;
            }
            let (Some(values), Some(numbers)) = (number_exprs(&v.val), numbers(&v.ty)) else {
                let what = if matches!(v.ty, Type::Int) { "a number without width".to_owned() } else { v.ty.to_string() };
                failed = Some(self.error("type-mismatch", k.expr.span, format!("{what} cannot be a key")));
                continue;
            };
            let name = match ast::find_annotation(&k.annotations, "name").and_then(ast::Annotation::string) {
                Some(s) => s.to_owned(),
                None if names_itself(&k.expr) => self.text(k.expr.span),
                None => {
                    let message = "the control plane has no name for a key that is computed";
                    let d = Diagnostic::error("annotation", k.expr.span, message);
                    failed = Some(self.report(d.with_help("give it one behind the match kind: `exact @name(\"...\")`")));
                    continue;
                }
            };
            infos.extend(numbers.iter().map(|(end, ty)| KeyInfo { name: format!("{name}{end}"), width: ty.width(), kind }));
            exprs.extend(values);
            keys.push(Key { ty: v.ty, kind, widths: numbers.iter().map(|(_, ty)| ty.width()).collect() });
        }
        if !selector.is_empty() && !self.check_only() && self.property(decl, "implementation").is_none() {
            self.warn("ignored", decl.name.span, "`selector` keys do nothing without an action selector");
        }
        failed.map_or(Ok((keys, infos, exprs, before, selector)), Err)
    }

    fn match_kind(&mut self, name: &'a ast::Ident) -> R<MatchKind> {
        if !self.decls.is_match_kind(&name.name) {
            let near = nearest(&name.name, self.decls.match_kinds());
            let mut d = Diagnostic::error("undeclared", name.span, format!("there is no match kind `{}`", name.name));
            if let Some(near) = near {
                d = d.with_help(format!("did you mean `{near}`?"));
            }
            return Err(self.report(d));
        }
        Ok(match name.name.as_str() {
            "exact" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            "atcam_partition_index" if self.is_tna() => MatchKind::Exact,
            // Where only types count it may be matched by whatever an entry says.
            _ if self.check_only() => MatchKind::Ternary,
            other => return Err(self.unsupported(name.span, format!("match kind `{other}`"))),
        })
    }

    fn table_size(&mut self, decl: &'a ast::TableDecl) -> R<u64> {
        let default = if self.is_tna() { DEFAULT_SIZE_TNA } else { DEFAULT_SIZE };
        let Some((_, value)) = decl.property("size") else { return Ok(default) };
        let n = self.const_int(value, "the size of a table")?;
        match u64::try_from(&n) {
            // Nothing is asked for, as by a program that guarantees its users no entries.
            Ok(0) => Ok(default),
            Ok(n) if (1..=MAX_SIZE).contains(&n) => Ok(n),
            _ => Err(self.error("out-of-range", value.span, format!("a table cannot have {n} entries"))),
        }
    }

    /// A property by v1model's name, whichever the program's architecture has for it.
    fn property(&self, decl: &'a ast::TableDecl, name: &str) -> Option<(&'a ast::TableProperty, &'a ast::Expr)> {
        let [psa, pna] = match name {
            "counters" => ["psa_direct_counter", "pna_direct_counter"],
            "meters" => ["psa_direct_meter", "pna_direct_meter"],
            "implementation" => ["psa_implementation", "pna_implementation"],
            other => [other; 2],
        };
        match (&self.whole.pna, &self.whole.psa) {
            (Some(_), _) => decl.property(pna),
            (None, Some(_)) => decl.property(psa),
            (None, None) => decl.property(name),
        }
    }

    /// `counters = c; meters = m;`
    fn direct_objects(&mut self, decl: &'a ast::TableDecl) -> R<Direct> {
        let mut counter = None;
        if let Some((_, value)) = self.property(decl, "counters") {
            let v = self.expr(value)?;
            match self.object(&v).map(|o| self.kind(o)) {
                Some(ObjKind::DirectCounter(c)) => counter = Some(*c),
                Some(ObjKind::Unknown) if self.check_only() => {}
                _ => return Err(self.error("type-mismatch", value.span, "`counters` must name a direct_counter")),
            }
        }
        let mut meter = None;
        // TNA's filters are attached as meters are, and one that is not direct may be named too.
        let filters = if self.is_tna() { decl.property("filters") } else { None };
        if let Some((_, value)) = self.property(decl, "meters").or(filters) {
            let v = self.expr(value)?;
            match self.object(&v).map(|o| self.kind(o)) {
                Some(ObjKind::Meter(_)) if filters.is_some() => {}
                Some(ObjKind::DirectMeter(m)) => meter = Some(*m),
                Some(ObjKind::Unknown) if self.check_only() => {}
                _ => return Err(self.error("type-mismatch", value.span, "`meters` must name a direct_meter")),
            }
        }
        let counter_taken = counter.is_some_and(|c| self.build.ir.program.counters[c].table.is_some());
        let meter_taken = meter.is_some_and(|m| self.build.ir.program.meters[m].table.is_some());
        if counter_taken || meter_taken {
            let name = if counter_taken { "counters" } else { "meters" };
            let span = self.property(decl, name).map_or(decl.name.span, |(p, _)| p.span);
            return Err(self.error("table", span, "it belongs to another table already; a direct counter or meter has one table"));
        }
        Ok((counter, meter))
    }

    /// TNA's `registers = r;`.
    fn direct_register(&mut self, decl: &'a ast::TableDecl) -> R<Option<p4_ir::RegisterId>> {
        let Some((property, value)) = decl.property("registers").filter(|_| self.is_tna()) else { return Ok(None) };
        let v = self.expr(value)?;
        let register = match self.object(&v).map(|o| self.kind(o)) {
            Some(ObjKind::Cells(register, _)) => *register,
            _ => return Err(self.error("type-mismatch", value.span, "`registers` must name a register")),
        };
        if self.build.ir.program.registers[register].table.is_some() {
            return Err(self.error("table", property.span, "it belongs to another table already; a direct register has one table"));
        }
        // One that is not direct has a size of its own.
        Ok(Some(register).filter(|r| self.build.ir.program.registers[*r].size == 0))
    }

    /// `@split("horizontal")`: see `TableInfo::split`.
    fn split(&mut self, annotations: &'a [ast::Annotation]) -> R<bool> {
        let Some(a) = ast::find_annotation(annotations, "split") else { return Ok(false) };
        match a.string() {
            Some("horizontal") => Ok(true),
            _ => Err(self.error("annotation", a.span, "a table is split by `@split(\"horizontal\")`")),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Actions

    fn listed_actions(&mut self, decl: &'a ast::TableDecl, table: &'a str, direct: Direct) -> R<Vec<Listed<'a>>> {
        let mut listed: Vec<Listed<'a>> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        let mut failed = None;
        for a in decl.actions().unwrap_or(&[]) {
            match self.listed_action(a, decl, table, direct) {
                Ok(l) if !seen.insert(l.index) => {
                    failed = Some(self.error("duplicate", a.span, format!("action `{}` is listed twice", l.name)));
                }
                Ok(l) => listed.push(l),
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok(listed), Err)
    }

    fn action_named(&mut self, path: &'a ast::Path) -> R<usize> {
        match self.lookup(path)?[0] {
            Entity::Action(i, _) => Ok(i),
            _ => Err(self.error("not-an-action", path.span, format!("`{}` is not an action", path.name.name))),
        }
    }

    fn listed_action(&mut self, a: &'a ast::ActionRef, decl: &'a ast::TableDecl, table: &'a str, direct: Direct) -> R<Listed<'a>> {
        let index = self.action_named(&a.path)?;
        let args = a.args.as_deref().unwrap_or(&[]);
        let table_only = ast::find_annotation(&a.annotations, "tableonly").is_some();
        let default_only = ast::find_annotation(&a.annotations, "defaultonly").is_some();
        let private = direct.0.is_some() && !default_only;
        let known = self.actions[index].ids.len();
        let mut id = self.table_action(index, args, table, private, a.span)?;
        if foreign_use(&self.build.ir.actions[id].body, direct).is_some() {
            // The form that other tables share stays whole.
            match self.actions[index].ids.get_mut(known) {
                Some((key, _)) if !private => *key = format!("{key} @ {table}"),
                None if !private => id = self.table_action(index, args, table, true, a.span)?,
                _ => {}
            }
            self.without_foreign(id, &a.path.name.name, decl, direct);
        }
        let usage = ActionUse { action: id, entry: !default_only, default: !table_only };
        Ok(Listed { name: &a.path.name.name, index, id, args, usage })
    }

    /// Takes out of a table's own form of an action what it says to direct counters and meters of other tables, which has no effect here: nothing is
    /// counted, and packets are green.
    fn without_foreign(&mut self, id: ActionId, action: &'a str, decl: &'a ast::TableDecl, direct: Direct) {
        let mut body = std::mem::take(&mut self.build.ir.actions[id].body);
        while let Some(foreign) = foreign_use(&body, direct) {
            self.whole.foreign_uses.push(ForeignUse { action, table: &decl.name, of: foreign });
            self.strip_foreign(&mut body, foreign);
        }
        self.build.ir.actions[id].body = body;
    }

    fn strip_foreign(&mut self, block: &mut p4_ir::Block, foreign: Foreign) {
        block.retain(|s| !matches!((s, foreign), (Stmt::Extern(Extern::DirectCount(c)), Foreign::Counter(f)) if *c == f));
        for s in block {
            if let (Stmt::Extern(Extern::DirectMeter { meter, result }), Foreign::Meter(f)) = (&*s, foreign)
                && *meter == f
            {
                let ty = self.build.ir.place_type(result).unwrap_or(p4_ir::Ty::Bit(1));
                *s = Stmt::Assign(result.clone(), constant(p4_ir::Bits::new(ty.width(), 0), ty));
            }
            p4_ir::walk::stmt_blocks_mut(s, &mut |b| self.strip_foreign(b, foreign));
        }
    }

    /// The default action with its arguments, whether it is constant, and its use if it is not listed.
    #[allow(clippy::type_complexity)]
    fn default_action(&mut self, decl: &'a ast::TableDecl, listed: &[Listed<'a>]) -> R<((ActionId, Vec<u128>), bool, Option<ActionUse>)> {
        let Some((property, value)) = decl.property("default_action") else {
            if let Some(l) = listed.iter().find(|l| l.name == "NoAction" && self.actions[l.index].decl.params.is_empty()) {
                return Ok(((l.id, Vec::new()), false, None));
            }
            let id = self.no_action(decl.name.span)?;
            return Ok(((id, Vec::new()), false, Some(ActionUse { action: id, entry: false, default: true })));
        };
        let (path, args) = match &value.kind {
            ast::ExprKind::Path(p) => (p, None),
            ast::ExprKind::Call { callee, args, .. } => match &callee.kind {
                ast::ExprKind::Path(p) => (p, Some(args.as_slice())),
                _ => return Err(self.error("not-an-action", value.span, "the default action must be an action of the list")),
            },
            _ => return Err(self.error("not-an-action", value.span, "the default action must be an action of the list")),
        };
        let index = self.action_named(path)?;
        let Some(l) = listed.iter().find(|l| l.index == index) else {
            let message = format!("default action `{}` is not in the table's list of actions", path.name.name);
            return Err(self.error("table", value.span, message));
        };
        if !l.usage.default {
            return Err(self.error("table", value.span, format!("action `{}` is @tableonly and cannot be the default", l.name)));
        }
        let args = self.entry_args(index, args, l.args, value.span)?;
        Ok(((l.id, args), property.is_const, None))
    }

    /// The action that runs where a table says nothing.
    pub(crate) fn no_action(&mut self, span: Span) -> R<ActionId> {
        if let Some((&Entity::Action(i, _), _)) = self.scopes.global("NoAction")
            && self.actions[i].decl.params.is_empty()
        {
            return self.table_action(i, &[], "", false, span);
        }
        if let Some(id) = self.whole.implicit_no_action {
            return Ok(id);
        }
        let name = "NoAction".to_owned();
        let id = self.build.ir.program.actions.push(ActionInfo { name: name.clone(), full_name: name, params: Vec::new() });
        self.build.ir.actions.push(p4_ir::ActionCode::default());
        self.whole.implicit_no_action = Some(id);
        Ok(id)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Application

    /// The table that `x` names.
    pub(crate) fn table_of(&mut self, base: &'a ast::Expr) -> R<Option<usize>> {
        let ast::ExprKind::Path(path) = &base.kind else { return Ok(None) };
        match self.find(path).as_deref() {
            Ok([Entity::Table(_), ..]) => match self.lookup(path)?[..] {
                [Entity::Table(i), ..] => Ok(Some(i)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The table that `x.apply` applies.
    pub(crate) fn applied_table(&mut self, callee: &'a ast::Expr) -> R<Option<usize>> {
        match &callee.kind {
            ast::ExprKind::Member { base, member } if member.name == "apply" => self.table_of(base),
            _ => Ok(None),
        }
    }

    /// A method of a table where its result is not looked at.
    pub(crate) fn call_table(&mut self, table: usize, member: &'a ast::Ident, args: &'a [ast::Arg], span: Span) -> R<Tv> {
        if member.name != "apply" {
            let message = format!("a table has no method `{}`", member.name);
            return Err(self.unknown_member(member, message, Some("apply".to_owned())));
        }
        self.apply_table(table, args, None, None, span)?;
        Ok(Tv::value(Type::Void, Val::None, span))
    }

    /// `t.apply().hit` and its siblings.
    pub(crate) fn apply_result(&mut self, table: usize, args: &'a [ast::Arg], member: &'a ast::Ident, span: Span) -> R<Tv> {
        match member.name.as_str() {
            name @ ("hit" | "miss") => {
                let (v, hit) = self.fresh_bool();
                self.apply_table(table, args, Some(v), None, span)?;
                let e = if name == "hit" { hit } else { unary(p4_ir::UnOp::Not, hit) };
                Ok(Tv::bool(e, span))
            }
            "action_run" => Err(self.error("misplaced", span, "`action_run` may be used as the key of a switch only")),
            name => {
                let near = nearest(name, ["hit", "miss", "action_run"].into_iter());
                Err(self.unknown_member(member, format!("the result of a table has no member `{name}`"), near))
            }
        }
    }

    pub(crate) fn apply_table(
        &mut self,
        index: usize,
        args: &'a [ast::Arg],
        hit: Option<VarId>,
        action_run: Option<VarId>,
        span: Span,
    ) -> R<()> {
        if !args.is_empty() {
            return Err(self.error("arity", span, "`apply` of a table takes no arguments"));
        }
        if self.body.region != Region::Control {
            return Err(self.error("misplaced", span, "a table can be applied only in the `apply` of a control"));
        }
        if !matches!(self.body.stage, Stage::Ingress | Stage::Egress | Stage::None) {
            return Err(self.error("misplaced", span, "tables can be applied in ingress and egress only"));
        }
        if self.tables[index].failed {
            return Err(self.poisoned());
        }
        if self.tables[index].id.is_none() {
            self.lower_table(index)?;
        }
        let table = &mut self.tables[index];
        table.applied += 1;
        let Some(id) = table.id else { return Err(self.poisoned()) };
        if table.applied > 1 && has_label(&table.before) {
            return Err(self.unsupported(span, "a second `apply` of a table whose key calls functions that branch"));
        }
        let before = table.before.clone();
        self.spend(before.len() as u64, span)?;
        self.build.append(before);
        let look_up = Stmt::Apply { table: id, hit, action_run };
        let table = &self.tables[index];
        let Some(profile) = table.profile.clone() else {
            self.emit(look_up);
            return Ok(());
        };
        if action_run.is_some() && self.build.ir.program.tables[id].direct_counter.is_some() {
            return Err(self.unsupported(span, "`action_run` of a table with both an action profile and a direct counter"));
        }
        let selector = table.selector.clone();
        self.apply_profile(&profile, &selector, action_run, look_up);
        Ok(())
    }

    /// A label of `switch (t.apply().action_run)`.
    pub(crate) fn action_label(&mut self, table: usize, label: &'a ast::Expr) -> R<Bits> {
        let ast::ExprKind::Path(path) = &label.kind else {
            return Err(self.error("not-an-action", label.span, "the labels of this switch are the table's actions"));
        };
        let index = self.action_named(path)?;
        match self.tables[table].actions.iter().find(|l| l.index == index) {
            Some(l) => Ok(Bits::new(Ty::Bit(32).width(), u128::from(l.id.as_u32()))),
            None => {
                // The default action that the table did not list.
                if path.name.name == "NoAction" && self.tables[table].decl.property("default_action").is_none() {
                    let id = self.no_action(label.span)?;
                    return Ok(Bits::new(32, u128::from(id.as_u32())));
                }
                let message = format!("action `{}` is not one of the table's", path.name.name);
                Err(self.error("table", label.span, message))
            }
        }
    }
}

/// Whether a key needs no `@name`: a field, an element, a slice, a number, a mask of such, or `isValid()` (P4_16 §18.3.3).
fn names_itself(e: &ast::Expr) -> bool {
    use ast::ExprKind as E;
    let mut rest = vec![e];
    while let Some(e) = rest.pop() {
        match &e.kind {
            E::Path(_) | E::Type(_) | E::This | E::Int(_) | E::Bool(_) => {}
            E::Member { base, .. } => rest.push(base),
            E::Index { base, index } => rest.extend([&**base, &**index]),
            E::Slice { base, hi, lo } => rest.extend([&**base, &**hi, &**lo]),
            E::PlusSlice { base, lo, width } => rest.extend([&**base, &**lo, &**width]),
            E::Binary { op: ast::BinOp::BitAnd, left, right } => rest.extend([&**left, &**right]),
            E::Call { callee, args, .. } if args.is_empty() => match &callee.kind {
                E::Member { base, member } if member.name == "isValid" => rest.push(base),
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

/// Whether a block counts with direct counter `c`.
pub(crate) fn counts(block: &[Stmt], c: p4_ir::CounterId) -> bool {
    block.iter().any(|s| match s {
        Stmt::Extern(Extern::DirectCount(d)) => *d == c,
        Stmt::If(_, a, b) => counts(a, c) || counts(b, c),
        Stmt::Switch { cases, default, .. } => cases.iter().any(|(_, b)| counts(b, c)) || counts(default, c),
        Stmt::Labeled(_, b) | Stmt::Loop(b) => counts(b, c),
        _ => false,
    })
}

fn has_label(block: &[Stmt]) -> bool {
    block.iter().any(|s| match s {
        Stmt::Labeled(..) => true,
        Stmt::If(_, a, b) => has_label(a) || has_label(b),
        Stmt::Switch { cases, default, .. } => cases.iter().any(|(_, b)| has_label(b)) || has_label(default),
        Stmt::Loop(b) => has_label(b),
        _ => false,
    })
}
