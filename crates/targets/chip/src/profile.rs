//! Action profiles and selectors. The IR has tables of members, groups and slots behind the tables that use one (`p4_check`'s `profile.rs`); on
//! the chip an entry has an address, which leads within the same stage to action data (members), or by a selector's memory (groups), of which
//! a hash chooses a slot, to these.

use crate::sites::Loc;
use p4_ir::{ExprKind, Ir, VarId};
use program::TableId;
use std::collections::{BTreeMap, BTreeSet};

/// What a table of an action profile is on the chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// Action data.
    Members,
    /// A selector's memory, of groups with so many members at most.
    Groups(u64),
    /// The places in a group, which are in the same memory.
    Slots,
}

/// The action profiles of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles {
    /// Their tables.
    pub pieces: BTreeMap<TableId, Piece>,
    /// The variables between a table and those behind it: addresses on the chip, and no fields.
    pub handles: BTreeSet<Loc>,
}

impl Profiles {
    /// The table of members that entries of this table point to, and whether also to groups.
    pub(crate) fn members_of(&self, ir: &Ir, table: TableId) -> Option<(TableId, bool)> {
        let profile = |var: VarId| ir.vars[var].name.split('#').next()?.rsplit_once('.').map(|(profile, _)| profile.to_owned());
        let written = |action: program::ActionId| {
            ir.actions[action].body.iter().find_map(|s| match s {
                p4_ir::Stmt::Assign(p4_ir::LValue::Var(v), _) if self.handles.contains(&Loc::Var(*v)) => profile(*v),
                _ => None,
            })
        };
        let name = ir.program.tables[table].actions.iter().find_map(|u| written(u.action))?;
        let find = |what: &str| self.pieces.keys().copied().find(|id| ir.program.tables[*id].full_name == format!("{name}.{what}"));
        Some((find("members")?, find("groups").is_some()))
    }

    pub(crate) fn of(ir: &Ir) -> Profiles {
        // Of two instances of one name the variables are numbered.
        let name_of = |var: VarId| ir.vars[var].name.split('#').next().unwrap_or_default();
        // A table that the checker makes, and not one that a program calls so: its keys are the profile's own variables.
        let is = |id: TableId, what: &str, keys: &[&str]| {
            let info = &ir.program.tables[id];
            let profile = info.full_name.strip_suffix(what)?.strip_suffix('.')?;
            let own = ir.tables[id].keys.iter().zip(keys).zip(&info.keys).all(|((key, name), told)| match key.kind {
                ExprKind::Var(v) => told.name == *name && told.width == 32 && name_of(v) == format!("{profile}.{name}"),
                _ => false,
            });
            (own && info.const_default && ir.tables[id].keys.len() == keys.len()).then(|| profile.to_owned())
        };
        let mut all = Profiles::default();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for id in ir.program.tables.keys() {
            if let Some(name) = is(id, "members", &["member"]) {
                all.pieces.insert(id, Piece::Members);
                names.insert(name);
            }
        }
        let table = |name: String, what: &str, keys: &[&str]| {
            let mut tables = ir.program.tables.keys();
            tables.find(|id| is(*id, what, keys).as_ref() == Some(&name))
        };
        for name in &names {
            let groups = table(name.clone(), "groups", &["group"]);
            let slots = table(name.clone(), "slots", &["group", "slot"]);
            if let (Some(groups), Some(slots)) = (groups, slots) {
                let size = |id: TableId| ir.program.tables[id].size.max(1);
                all.pieces.insert(groups, Piece::Groups(size(slots).div_ceil(size(groups))));
                all.pieces.insert(slots, Piece::Slots);
            }
        }
        let of = |var: VarId| {
            let (profile, variable) = name_of(var).rsplit_once('.')?;
            (names.contains(profile) && ["found", "member", "group", "group_size", "slot"].contains(&variable)).then_some(())
        };
        all.handles = ir.vars.keys().filter(|id| of(*id).is_some()).map(Loc::Var).collect();
        all
    }
}
