//! By which ids does P4Runtime know the program's objects? `@id`s are checked here; the others are [`program::ids`]'.
//!
//! Not here: `@id` of a digest, which has its name from the type of its message.

use crate::cx::Cx;
use p4_ir::{ActionId, CounterId, MeterId, RegisterId, TableId, ValueSetId};
use p4_syntax::{Diagnostic, Span, ast};
use program::ids::{Kind, Named, P4Ids, assign, assign_fields};
use std::collections::HashMap;
use std::hash::Hash;

/// What a declaration has become.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum IdOf {
    Table(TableId),
    /// A key field of a table, by its position.
    Key(TableId, usize),
    Action(ActionId),
    /// A parameter that entries supply, by its position.
    Param(ActionId, usize),
    Counter(CounterId),
    Meter(MeterId),
    Register(RegisterId),
    ValueSet(ValueSetId),
    /// An action profile or selector, by its place among those that tables use.
    Profile(usize),
}

/// `@id`s as written.
#[derive(Default)]
pub(crate) struct Ids {
    given: HashMap<IdOf, (u64, Span)>,
    /// Counters and meters that are attached to tables, or are to be.
    direct_counters: Vec<CounterId>,
    direct_meters: Vec<MeterId>,
    /// Forms of an action that tables run beside its first one, and that one: they are one action to the control plane.
    forms: HashMap<ActionId, ActionId>,
    profiles: Vec<String>,
    /// `@id`s of action profiles and selectors, whether tables use them or not.
    given_to_profiles: HashMap<String, (u64, Span)>,
    /// Names of messages and the widths of their values.
    digests: Vec<(String, Vec<u32>)>,
}

impl<'a> Cx<'a> {
    /// Notes the `@id` of a declaration, if it has one.
    pub(crate) fn note_id(&mut self, of: IdOf, annotations: &'a [ast::Annotation]) {
        if let Some(id) = self.written_id(annotations) {
            self.ids.given.insert(of, id);
        }
    }

    /// The same of an action profile or selector, which becomes an object when a table uses it.
    pub(crate) fn note_profile_id(&mut self, name: &str, annotations: &'a [ast::Annotation]) {
        if let Some(id) = self.written_id(annotations) {
            self.ids.given_to_profiles.insert(name.to_owned(), id);
        }
    }

    fn written_id(&mut self, annotations: &'a [ast::Annotation]) -> Option<(u64, Span)> {
        let annotation = ast::find_annotation(annotations, "id")?;
        match annotation.int().map(u64::try_from) {
            Some(Ok(value)) => return Some((value, annotation.span)),
            Some(Err(_)) => self.error("annotation", annotation.span, "an `@id` has 32 bits"),
            None => self.error("annotation", annotation.span, "`@id` needs a number, as in `@id(7)`"),
        };
        None
    }

    /// A counter that is to be attached to a table.
    pub(crate) fn note_direct_counter(&mut self, counter: CounterId) {
        self.ids.direct_counters.push(counter);
    }

    /// A meter that is to be attached to a table.
    pub(crate) fn note_direct_meter(&mut self, meter: MeterId) {
        self.ids.direct_meters.push(meter);
    }

    /// One more form of an action.
    pub(crate) fn note_form(&mut self, form: ActionId, first: ActionId) {
        self.ids.forms.insert(form, first);
    }

    /// An action profile or selector that a table uses.
    pub(crate) fn note_profile(&mut self, name: &str) {
        if !self.ids.profiles.iter().any(|known| known == name) {
            self.ids.profiles.push(name.to_owned());
        }
    }

    /// A message to the control plane, by the name of its type; one without is known by its values.
    pub(crate) fn note_digest(&mut self, name: Option<&str>, widths: Vec<u32>) {
        let name =
            name.map_or_else(|| format!("digest_{}", widths.iter().map(u32::to_string).collect::<Vec<_>>().join("_")), str::to_owned);
        if !self.ids.digests.iter().any(|(known, _)| *known == name) {
            self.ids.digests.push((name, widths));
        }
    }

    /// Gives the program's objects their ids. Names are fully qualified still.
    pub(crate) fn name_objects(&mut self) {
        let mut noted = std::mem::take(&mut self.ids);
        for (at, name) in noted.profiles.iter().enumerate() {
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
        let profiles = noted.profiles.iter().enumerate().map(|(at, name)| (Kind::ActionProfile, IdOf::Profile(at), name.as_str()));
        ids.action_profiles.extend(all.objects(profiles));
        ids.digests = unannotated(Kind::Digest, noted.digests.iter().map(|(name, widths)| (name.as_str(), widths.clone())));
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
