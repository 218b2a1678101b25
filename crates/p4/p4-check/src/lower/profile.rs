//! What is a table with an action profile or selector? (v1model's `implementation`) A table of handles, and tables behind it:
//!
//! ```text
//! t           its own keys   → one of its actions directly, or NAME.member(member), or NAME.group(group) for a selector
//! NAME.members  member       → one of the actions
//! NAME.groups   group        → NAME.size(size)
//! NAME.slots    group, slot  → NAME.choose(member)
//! ```
//! A group's slot is the hash of the table's `selector` keys modulo the group's size; the control plane numbers slots from 0.
//! A hit of `t` that leads to a member, group or slot that is not there runs `NoAction`. NAME is the profile's. Tables
//! may share one: its members run the actions of any of them. All of these are ordinary tables to the control plane and to every target.

use super::cx::Cx;
use super::instances::Profile;
use super::instances::ProfileDecl;
use crate::names::sink::R;
use crate::types::fold::{binary, unary};
use crate::types::{constant, var as read};
use p4_ir::{ActionCode, ActionId, BinOp, Block, CounterId, Expr, Extern, LValue, Stmt, TableCode, TableId, Ty, VarId};
use p4_syntax::Span;
use program::{ActionInfo, ActionUse, KeyInfo, MatchKind, ParamInfo, ProfileInfo, TableInfo};

const HANDLE: Ty = Ty::Bit(32);

impl Profile {
    /// What a control plane is told of it.
    pub(crate) fn info(&self, decl: &ProfileDecl) -> ProfileInfo {
        let groups = self.group_tables.into_iter().flat_map(|(groups, slots)| [groups, slots]);
        ProfileInfo {
            tables: Vec::new(),
            behind: [self.members].into_iter().chain(groups).collect(),
            handles: self.handles.iter().map(|u| u.action).collect(),
            selector: decl.algorithm.is_some(),
            size: decl.size,
            max_group_size: None,
        }
    }
}

impl<'a> Cx<'a> {
    /// The tables behind a table that lists those actions. `counter`: its direct counter counts where a handle is found.
    pub(crate) fn profile(
        &mut self,
        name: &str,
        decl: &ProfileDecl,
        listed: &[ActionUse],
        counter: Option<CounterId>,
        span: Span,
    ) -> R<Profile> {
        let ids: Vec<ActionId> = listed.iter().filter(|u| u.entry).map(|u| u.action).collect();
        if let Some(p) = &decl.lowered {
            if counter.is_some() {
                return Err(self.unsupported(span, "sharing a profile between tables, one of them with a direct counter"));
            }
            let mut p = p.clone();
            for id in ids {
                if !p.listed.contains(&id) {
                    self.build.ir.program.tables[p.members].actions.push(entry(id));
                    p.listed.push(id);
                }
            }
            return Ok(p);
        }
        let actions: Vec<ActionUse> = match counter {
            None => ids.iter().map(|a| entry(*a)).collect(),
            // The counter belongs to the table of handles, so the members' actions are copies that do not count.
            Some(c) => ids.iter().map(|a| entry(self.without_count(*a, c, name))).collect(),
        };
        let none = self.no_action(span)?;
        let var = |cx: &mut Cx<'a>, what: &str| cx.new_var(&format!("{name}.{what}"), HANDLE);
        let (found, member, group) = (var(self, "found"), var(self, "member"), var(self, "group"));
        let (size, slot) = (var(self, "group_size"), var(self, "slot"));
        let key = |name: &str, v: VarId| (name.to_owned(), read(v, HANDLE));
        let members = self.plain_table(&format!("{name}.members"), vec![key("member", member)], actions, none, decl.size);
        let handle = |cx: &mut Cx<'a>, what: &str, to: VarId, code: u32| {
            let mut then = vec![set(found, code)];
            then.extend(counter.map(|c| Stmt::Extern(Extern::DirectCount(c))));
            cx.plain_action(&format!("{name}.{what}"), what, to, then)
        };
        let mut handles = vec![entry(handle(self, "member", member, 1))];
        let mut group_tables = None;
        if decl.algorithm.is_some() {
            handles.push(entry(handle(self, "group", group, 2)));
            let set_size = self.plain_action(&format!("{name}.size"), "size", size, vec![]);
            let choose = self.plain_action(&format!("{name}.choose"), "member", member, vec![set(found, 1)]);
            let (number, slots_of_all) = decl.groups.map_or((decl.size, decl.size), |(n, most)| (n, n.saturating_mul(most)));
            let groups = self.plain_table(&format!("{name}.groups"), vec![key("group", group)], vec![entry(set_size)], none, number);
            let slots = vec![key("group", group), key("slot", slot)];
            let slots = self.plain_table(&format!("{name}.slots"), slots, vec![entry(choose)], none, slots_of_all);
            group_tables = Some((groups, slots));
        }
        let algorithm = decl.algorithm.flatten();
        Ok(Profile { members, group_tables, found, size, slot, algorithm, handles, listed: ids })
    }

    /// What follows the look-up of a table with a profile, and the statement before it.
    pub(crate) fn apply_profile(&mut self, p: &Profile, selector: &[Expr], action_run: Option<VarId>, look_up: Stmt) {
        self.emit(set(p.found, 0));
        self.emit(look_up);
        let is = |v: VarId, n: u32| binary(BinOp::Eq, read(v, HANDLE), number(n));
        let apply = |table: TableId, action_run| Stmt::Apply { table, hit: None, action_run };
        if let Some((groups, slots)) = p.group_tables {
            // TNA's selectors take the remainder by themselves.
            let max = if self.is_tna() { Expr::bit(128, 1 << 32) } else { read(p.size, HANDLE) };
            let (algorithm, data, mut chosen) = self.hashed(p.algorithm, selector.to_vec());
            let hash = Extern::Hash { result: LValue::Var(p.slot), algorithm, base: number(0), data, max };
            chosen.extend([Stmt::Extern(hash), apply(slots, None)]);
            let some = unary(p4_ir::UnOp::Not, is(p.size, 0));
            let group: Block = vec![set(p.size, 0), apply(groups, None), Stmt::If(some, chosen, vec![])];
            self.emit(Stmt::If(is(p.found, 2), group, vec![]));
        }
        self.emit(Stmt::If(is(p.found, 1), vec![apply(p.members, action_run)], vec![]));
    }

    fn plain_table(&mut self, name: &str, keys: Vec<(String, Expr)>, actions: Vec<ActionUse>, miss: ActionId, size: u64) -> TableId {
        let (names, exprs): (Vec<String>, Vec<Expr>) = keys.into_iter().unzip();
        self.build.ir.tables.push(TableCode { keys: exprs, ..TableCode::default() });
        self.build.ir.program.tables.push(TableInfo {
            name: name.to_owned(),
            full_name: name.to_owned(),
            keys: names.into_iter().map(|name| KeyInfo { name, width: HANDLE.width(), kind: MatchKind::Exact }).collect(),
            actions,
            default_action: (miss, vec![]),
            const_default: true,
            size: size.max(1),
            entries: vec![],
            const_entries: false,
            split: false,
            direct_counter: None,
            direct_meter: None,
        })
    }

    /// An action that puts its one parameter into a variable and does `then`.
    fn plain_action(&mut self, full_name: &str, param: &str, to: VarId, then: Block) -> ActionId {
        let v = self.new_var(&format!("{full_name}.{param}"), HANDLE);
        let mut body = vec![Stmt::Assign(LValue::Var(to), read(v, HANDLE))];
        body.extend(then);
        self.build.ir.actions.push(ActionCode { params: vec![v], body });
        self.build.ir.program.actions.push(ActionInfo {
            name: full_name.to_owned(),
            full_name: full_name.to_owned(),
            params: vec![ParamInfo { name: param.to_owned(), width: HANDLE.width() }],
        })
    }

    fn without_count(&mut self, action: ActionId, counter: CounterId, profile: &str) -> ActionId {
        let (mut info, mut code) = (self.build.ir.program.actions[action].clone(), self.build.ir.actions[action].clone());
        info.full_name = format!("{}.{}", info.full_name, profile.rsplit('.').next().unwrap_or(profile));
        info.name = info.full_name.clone();
        strip(&mut code.body, counter);
        self.build.ir.actions.push(code);
        self.build.ir.program.actions.push(info)
    }
}

fn entry(action: ActionId) -> ActionUse {
    ActionUse { action, entry: true, default: false }
}

fn number(n: u32) -> Expr {
    constant(p4_ir::Bits::new(32, n.into()), HANDLE)
}

fn set(v: VarId, n: u32) -> Stmt {
    Stmt::Assign(LValue::Var(v), number(n))
}

fn strip(block: &mut Block, counter: CounterId) {
    block.retain(|s| *s != Stmt::Extern(Extern::DirectCount(counter)));
    for s in block {
        p4_ir::walk::stmt_blocks_mut(s, &mut |b| strip(b, counter));
    }
}
