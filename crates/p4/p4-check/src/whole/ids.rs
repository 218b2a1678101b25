//! By which ids does P4Runtime know the program's objects? `@id`s are checked here; the others are [`program::ids`]'.
//!
//! Not here: `@id` of a digest, which has its name from the type of its message.

use crate::lower::cx::Cx;
use crate::lower::ids::{IdOf, Ids};
use p4_ir::ActionId;
use p4_syntax::{Diagnostic, Span};
use program::ProfileInfo;
use program::ids::{Kind, Named, P4Ids, assign, assign_fields};
use std::collections::HashMap;

impl<'a> Cx<'a> {
    /// Gives the program's objects their ids. Names are fully qualified still.
    pub(crate) fn name_objects(&mut self) {
        let mut noted = std::mem::take(&mut self.ids);
        for (at, (name, _)) in noted.profiles.iter().enumerate() {
            noted.given.extend(noted.given_to_profiles.get(name).map(|id| (IdOf::Profile(at), *id)));
        }
        let mut faults = Vec::new();
        let mut ids = P4Ids::default();
        let p = &self.build.ir.program;
        let mut all = Assigning { noted: &noted, faults: &mut faults };
        let tables = p.tables.iter().map(|(id, t)| (Kind::Table, IdOf::Table(id), t.full_name.as_str()));
        for (named, (id, t)) in all.objects(tables).into_iter().zip(&p.tables) {
            let fields = all.fields((0..t.keys.len()).map(|at| IdOf::Key(id, at)));
            ids.tables.push(Named { fields, ..named });
        }
        let first = |id: ActionId| noted.forms.get(&id).copied().unwrap_or(id);
        let actions: Vec<_> = p.actions.iter().filter(|(id, _)| first(*id) == *id).collect();
        let objects = actions.iter().map(|(id, a)| (Kind::Action, IdOf::Action(*id), a.full_name.as_str()));
        let mut named: HashMap<ActionId, Named> = actions.iter().map(|(id, _)| *id).zip(all.objects(objects)).collect();
        for (id, a) in actions {
            let fields = all.fields((0..a.params.len()).map(|at| IdOf::Param(id, at)));
            named.entry(id).or_default().fields = fields;
        }
        ids.actions.extend(p.actions.keys().map(|id| named.get(&first(id)).cloned().unwrap_or_default()));
        let counters = p.counters.iter().map(|(id, c)| {
            let kind = if noted.direct_counters.contains(&id) { Kind::DirectCounter } else { Kind::Counter };
            (kind, IdOf::Counter(id), c.name.as_str())
        });
        ids.counters.extend(all.objects(counters));
        let meters = p.meters.iter().map(|(id, m)| {
            let kind = if noted.direct_meters.contains(&id) { Kind::DirectMeter } else { Kind::Meter };
            (kind, IdOf::Meter(id), m.name.as_str())
        });
        ids.meters.extend(all.objects(meters));
        let registers = p.registers.iter().map(|(id, r)| (Kind::Register, IdOf::Register(id), r.name.as_str()));
        ids.registers.extend(all.objects(registers));
        let sets = p.value_sets.iter().map(|(id, s)| (Kind::ValueSet, IdOf::ValueSet(id), s.name.as_str()));
        ids.value_sets.extend(all.objects(sets));
        let profiles = noted.profiles.iter().enumerate().map(|(at, (name, _))| (Kind::ActionProfile, IdOf::Profile(at), name.as_str()));
        ids.action_profiles.extend(all.objects(profiles));
        ids.digests = unannotated(Kind::Digest, noted.digests.iter().map(|(name, widths)| (name.as_str(), widths.clone())));
        let profiles =
            noted.profiles.iter().map(|(name, p)| ProfileInfo { max_group_size: noted.group_sizes.get(name).copied(), ..p.clone() });
        let profiles = profiles.collect();
        self.build.ir.program.profiles = profiles;
        self.build.ir.program.ids = ids;
        for fault in faults {
            self.report(fault);
        }
    }
}

/// Objects of a kind that has no `@id`.
fn unannotated<'n>(kind: Kind, objects: impl Iterator<Item = (&'n str, Vec<u32>)>) -> Vec<Named> {
    let objects: Vec<_> = objects.collect();
    let names: Vec<(&str, Option<u32>)> = objects.iter().map(|(name, _)| (*name, None)).collect();
    let ids = assign(kind, &names).unwrap_or_default();
    ids.into_iter().zip(objects).map(|(id, (name, fields))| Named { id, name: name.to_owned(), fields }).collect()
}

struct Assigning<'n> {
    noted: &'n Ids,
    faults: &'n mut Vec<Diagnostic>,
}

impl Assigning<'_> {
    /// Objects, each with its kind and name, in their order. Kinds have ids apart.
    fn objects<'p>(&mut self, objects: impl Iterator<Item = (Kind, IdOf, &'p str)>) -> Vec<Named> {
        let objects: Vec<_> = objects.collect();
        let mut first = HashMap::new();
        let given: Vec<Option<u32>> = objects.iter().map(|(kind, object, _)| self.given(*object, |v| kind.given(v), &mut first)).collect();
        let mut named: Vec<Named> = objects.iter().map(|(.., name)| Named { name: (*name).to_owned(), ..Named::default() }).collect();
        let mut kinds: Vec<Kind> = objects.iter().map(|(kind, ..)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let of_kind: Vec<usize> = (0..objects.len()).filter(|at| objects[*at].0 == kind).collect();
            let names: Vec<(&str, Option<u32>)> = of_kind.iter().map(|at| (objects[*at].2, given[*at])).collect();
            let Some(ids) = assign(kind, &names) else {
                self.faults.push(Diagnostic::error("limit", Span::default(), "more objects than ids"));
                return named;
            };
            for (at, id) in of_kind.into_iter().zip(ids) {
                named[at].id = id;
            }
        }
        named
    }

    /// Fields of a table or an action.
    fn fields(&mut self, fields: impl Iterator<Item = IdOf>) -> Vec<u32> {
        let any = |value: u64| u32::try_from(value).ok().filter(|id| *id > 0).ok_or("an `@id` of a field is 1 to 4294967295");
        let mut first = HashMap::new();
        let given: Vec<Option<u32>> = fields.map(|field| self.given(field, any, &mut first)).collect();
        assign_fields(&given)
    }

    /// The id that an object was given, if it may have that one.
    fn given<E: ToString>(&mut self, object: IdOf, check: impl Fn(u64) -> Result<u32, E>, first: &mut HashMap<u32, Span>) -> Option<u32> {
        let (value, span) = *self.noted.given.get(&object)?;
        let id = match check(value) {
            Ok(id) => id,
            Err(error) => {
                self.faults.push(Diagnostic::error("annotation", span, error.to_string()));
                return None;
            }
        };
        if let Some(first) = first.get(&id) {
            let d = Diagnostic::error("duplicate", span, format!("id {id:#x} is given twice"));
            self.faults.push(d.with_place(*first, "first given here"));
            return None;
        }
        first.insert(id, span);
        Some(id)
    }
}
