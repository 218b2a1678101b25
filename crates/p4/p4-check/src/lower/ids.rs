//! What does lowering note for P4Runtime? `@id`s as written, and what objects have become; `whole/ids.rs` makes ids of it.

use p4_ir::{ActionId, CounterId, MeterId, RegisterId, TableId, ValueSetId};
use p4_syntax::{Span, ast};
use program::ProfileInfo;
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
    pub given: HashMap<IdOf, (u64, Span)>,
    /// Counters and meters that are attached to tables, or are to be.
    pub direct_counters: Vec<CounterId>,
    pub direct_meters: Vec<MeterId>,
    /// Forms of an action that tables run beside its first one, and that one: they are one action to the control plane.
    pub forms: HashMap<ActionId, ActionId>,
    pub profiles: Vec<(String, ProfileInfo)>,
    /// `@id`s of action profiles and selectors, whether tables use them or not.
    pub given_to_profiles: HashMap<String, (u64, Span)>,
    /// `@max_group_size`s of the same.
    pub group_sizes: HashMap<String, u64>,
    /// Names of messages and the widths of their values.
    pub digests: Vec<(String, Vec<u32>)>,
}

impl Ids {
    /// `@max_group_size` of a selector, which may also stand at the table or its property.
    pub(crate) fn note_group_size(&mut self, name: &str, annotations: &[ast::Annotation]) {
        let size = ast::find_annotation(annotations, "max_group_size").and_then(ast::Annotation::int).and_then(|n| u64::try_from(n).ok());
        if let Some(size) = size {
            self.group_sizes.entry(name.to_owned()).or_insert(size);
        }
    }

    /// A counter that is to be attached to a table.
    pub(crate) fn note_direct_counter(&mut self, counter: CounterId) {
        self.direct_counters.push(counter);
    }

    /// A meter that is to be attached to a table.
    pub(crate) fn note_direct_meter(&mut self, meter: MeterId) {
        self.direct_meters.push(meter);
    }

    /// One more form of an action.
    pub(crate) fn note_form(&mut self, form: ActionId, first: ActionId) {
        self.forms.insert(form, first);
    }

    /// An action profile or selector that a table uses.
    pub(crate) fn note_profile(&mut self, name: &str, table: TableId, profile: ProfileInfo) {
        let at = self.profiles.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.profiles.push((name.to_owned(), profile));
            self.profiles.len() - 1
        });
        self.profiles[at].1.tables.push(table);
    }

    /// A message to the control plane, by the name of its type; one without is known by its values.
    pub(crate) fn note_digest(&mut self, name: Option<&str>, widths: Vec<u32>) {
        let name =
            name.map_or_else(|| format!("digest_{}", widths.iter().map(u32::to_string).collect::<Vec<_>>().join("_")), str::to_owned);
        if !self.digests.iter().any(|(known, _)| *known == name) {
            self.digests.push((name, widths));
        }
    }
}
