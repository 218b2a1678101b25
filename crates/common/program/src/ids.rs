//! What does a control plane in another process call the objects of a program? P4Runtime's ids and names (P4Runtime §6.3).
//!
//! An id has its object's [`Kind`] in the top byte. The low 24 bits are those of `@id`, or the hash of the fully qualified name by which
//! `p4c` finds them too: Jenkins' one-at-a-time. Where two names have the same hash, the one that comes first in the alphabet has it, and the
//! other one the next number that is free. So an id stays as it is when objects are added, moved or removed, unless they share its hash.

use crate::{ActionId, CounterId, MeterId, RegisterId, TableId, ValueSetId};
use cranelift_entity::PrimaryMap;
use std::collections::HashSet;

/// The low bits of an id: all but the kind.
pub const ID_BITS: u32 = 24;
const LOW: u32 = (1 << ID_BITS) - 1;

/// Kinds of object, by the top byte of their ids (`p4.config.v1.P4Ids.Prefix`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// An action.
    Action = 0x01,
    /// A table.
    Table = 0x02,
    /// A parser value set.
    ValueSet = 0x03,
    /// An action profile or selector.
    ActionProfile = 0x11,
    /// An indexed counter.
    Counter = 0x12,
    /// A direct counter.
    DirectCounter = 0x13,
    /// An indexed meter.
    Meter = 0x14,
    /// A direct meter.
    DirectMeter = 0x15,
    /// A register.
    Register = 0x16,
    /// A message to the control plane.
    Digest = 0x17,
}

impl Kind {
    /// The id of this kind with those low bits; bits above are ignored.
    pub fn id(self, low: u32) -> u32 {
        u32::from(self as u8) << ID_BITS | low & LOW
    }

    /// The id that `@id(value)` asks for: all of it, or its low bits alone. The error says what is wrong with the value.
    pub fn given(self, value: u64) -> Result<u32, IdError> {
        let id = u32::try_from(value).map_err(|_| IdError::OutOfRange(value))?;
        let prefix = id >> ID_BITS;
        if id & LOW == 0 {
            return Err(IdError::OutOfRange(value));
        }
        if prefix != 0 && prefix != u32::from(self as u8) {
            return Err(IdError::Prefix { id, expected: self as u8 });
        }
        Ok(self.id(id))
    }
}

/// What is wrong with an `@id`: the program's fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IdError {
    /// It does not fit, or names no object.
    #[error("{0} is no id: its low 24 bits are 1 to 16777215, with nothing or the kind's prefix above")]
    OutOfRange(u64),
    /// It is one of another kind.
    #[error("id {id:#010x} has the prefix of another kind of object: expected {expected:#04x}, or none")]
    Prefix {
        /// What was given.
        id: u32,
        /// The prefix of the object's kind.
        expected: u8,
    },
}

/// What an object is called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Named {
    /// P4Runtime's id.
    pub id: u32,
    /// Fully qualified name.
    pub name: String,
    /// Ids of a table's key fields or of an action's parameters, in their order; of a digest the widths of its values in bits.
    pub fields: Vec<u32>,
}

/// What the objects of a program are called. Empty for a program that was not compiled from text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct P4Ids {
    /// As [`crate::Program::tables`].
    pub tables: PrimaryMap<TableId, Named>,
    /// As [`crate::Program::actions`]. Forms of one action, which several tables run in ways of their own, have one id.
    pub actions: PrimaryMap<ActionId, Named>,
    /// As [`crate::Program::counters`].
    pub counters: PrimaryMap<CounterId, Named>,
    /// As [`crate::Program::meters`].
    pub meters: PrimaryMap<MeterId, Named>,
    /// As [`crate::Program::registers`].
    pub registers: PrimaryMap<RegisterId, Named>,
    /// As [`crate::Program::value_sets`].
    pub value_sets: PrimaryMap<ValueSetId, Named>,
    /// Action profiles and selectors; the tables behind them are in [`P4Ids::tables`] too.
    pub action_profiles: Vec<Named>,
    /// Kinds of message, each once.
    pub digests: Vec<Named>,
}

/// Gives ids to objects of one kind: their fully qualified names, and what `@id` gave some of them. The result is in their order.
///
/// `None` if more objects than ids exist. The given ids are distinct, as the caller has checked.
pub fn assign(kind: Kind, objects: &[(&str, Option<u32>)]) -> Option<Vec<u32>> {
    let mut taken: HashSet<u32> = objects.iter().filter_map(|(_, given)| *given).collect();
    let mut ids: Vec<u32> = objects.iter().map(|(_, given)| given.unwrap_or(0)).collect();
    let mut order: Vec<usize> = (0..objects.len()).filter(|i| objects[*i].1.is_none()).collect();
    order.sort_by_key(|i| objects[*i].0);
    for i in order {
        let hash = one_at_a_time(objects[i].0.as_bytes());
        // An id without low bits names no object.
        let mut places = (0..=LOW).map(|step| kind.id(hash.wrapping_add(step))).filter(|id| id & LOW != 0);
        ids[i] = places.find(|id| taken.insert(*id))?;
    }
    Some(ids)
}

/// Gives ids to the fields of a table or an action: those given, and to the others the smallest that are left, from 1.
pub fn assign_fields(given: &[Option<u32>]) -> Vec<u32> {
    let taken: HashSet<u32> = given.iter().flatten().copied().collect();
    let mut left = (1..).filter(|id| !taken.contains(id));
    given.iter().map(|id| id.or_else(|| left.next()).unwrap_or(0)).collect()
}

/// Jenkins' one-at-a-time hash.
fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mixed = bytes.iter().fold(0u32, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(*byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    let hash = mixed.wrapping_add(mixed << 3);
    let hash = hash ^ hash >> 11;
    hash.wrapping_add(hash << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids that p4c gives the objects of the P4 tutorials' `basic.p4`.
    #[test]
    fn ids_are_those_of_p4c() {
        let of = |kind, name| assign(kind, &[(name, None)]).unwrap()[0];
        assert_eq!(of(Kind::Table, "MyIngress.ipv4_lpm"), 37375156);
        assert_eq!(of(Kind::Action, "MyIngress.ipv4_forward"), 28792405);
        assert_eq!(of(Kind::Action, "MyIngress.drop"), 25652968);
        assert_eq!(of(Kind::Action, "NoAction"), 21257015);
    }

    #[test]
    fn of_equal_hashes_the_first_name_in_the_alphabet_has_it_whatever_the_order() {
        // Found by search: the low 24 bits of their hashes are equal.
        let (a, b) = ("t1445", "t4784");
        let hash = |name: &str| one_at_a_time(name.as_bytes()) & LOW;
        assert_eq!(hash(a), hash(b));
        let [first, next] = [Kind::Table.id(hash(a)), Kind::Table.id(hash(a) + 1)];
        assert_eq!(assign(Kind::Table, &[(a, None), (b, None)]).unwrap(), [first, next]);
        assert_eq!(assign(Kind::Table, &[(b, None), (a, None)]).unwrap(), [next, first]);
        // What is given comes before what is found.
        assert_eq!(assign(Kind::Table, &[(a, None), ("x", Some(first))]).unwrap(), [next, first]);
    }

    #[test]
    fn a_given_id_is_checked() {
        assert_eq!(Kind::Table.given(7), Ok(0x0200_0007));
        assert_eq!(Kind::Table.given(0x0200_0007), Ok(0x0200_0007));
        assert_eq!(Kind::Table.given(0x0100_0007), Err(IdError::Prefix { id: 0x0100_0007, expected: 2 }));
        for wrong in [0, 0x0200_0000, 1 << 32] {
            assert_eq!(Kind::Table.given(wrong), Err(IdError::OutOfRange(wrong)));
        }
    }

    #[test]
    fn fields_without_an_id_have_the_smallest_that_are_left() {
        assert_eq!(assign_fields(&[None, Some(1), None, Some(9)]), [2, 1, 3, 9]);
    }
}
