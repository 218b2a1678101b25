//! Members of parser value sets, as generated code goes through them: for each field a mask, the lowest and the highest value.
//!
//! Lanes read an array of them, whose address comes with a batch; a change builds a new array, and the old one stays until no
//! lane reads it.

use crate::abi::{CRange, CSet};
use base::Bits;
use cranelift_entity::EntityRef;
use program::{KeyMatch, Op, Program, RuleError, ValueSetId};
use std::collections::BTreeMap;

/// One match a field.
type Member = Vec<KeyMatch>;

/// All value sets of a program.
pub(crate) struct Sets {
    sets: Vec<Set>,
    retired: Vec<Box<[CRange]>>,
}

#[derive(Default)]
struct Set {
    members: Vec<Member>,
    ranges: Box<[CRange]>,
}

/// What a batch makes of the sets that it changes.
pub(crate) type Changed = BTreeMap<ValueSetId, Vec<Member>>;

impl Sets {
    /// Empty ones.
    pub(crate) fn new(program: &Program) -> Sets {
        Sets { sets: program.value_sets.iter().map(|_| Set::default()).collect(), retired: Vec::new() }
    }

    /// Applies the change at that position of a batch to `changed`, if it is one of a member.
    pub(crate) fn rehearse(&self, program: &Program, i: usize, op: &Op, changed: &mut Changed) -> Result<(), RuleError> {
        let (set, member) = match op {
            Op::InsertValue { set, member } | Op::DeleteValue { set, member } => (*set, member),
            _ => return Ok(()),
        };
        let info = &program.value_sets[set];
        let members = changed.entry(set).or_insert_with(|| self.sets[set.index()].members.clone());
        let at = members.iter().position(|m| m == member);
        let table = || info.name.clone();
        match (op, at) {
            (Op::InsertValue { .. }, Some(_)) => return Err(RuleError::Exists { op: i, table: table() }),
            (Op::InsertValue { .. }, None) if members.len() as u64 >= info.size => {
                return Err(RuleError::Full { op: i, table: table(), capacity: info.size });
            }
            (Op::InsertValue { .. }, None) => members.push(member.clone()),
            (_, Some(at)) => drop(members.remove(at)),
            (_, None) => return Err(RuleError::Missing { op: i, table: table() }),
        }
        Ok(())
    }

    /// Takes over what a batch has made; lanes go on with what they have.
    pub(crate) fn stage(&mut self, program: &Program, changed: &mut Changed) {
        for (id, members) in std::mem::take(changed) {
            let widths = &program.value_sets[id].widths;
            let ranges = members.iter().flat_map(|m| m.iter().zip(widths).map(|(key, width)| range(*key, *width))).collect();
            let set = &mut self.sets[id.index()];
            self.retired.push(std::mem::replace(&mut set.ranges, ranges));
            set.members = members;
        }
    }

    /// What lanes read that take the batch over: it stays until [`Sets::settle`] after another one.
    pub(crate) fn views(&self) -> Box<[CSet]> {
        self.sets.iter().map(|s| CSet { members: s.ranges.as_ptr(), size: s.members.len() as u64 }).collect()
    }

    /// Frees what was replaced. Every lane has taken the last batch over.
    pub(crate) fn settle(&mut self) {
        self.retired.clear();
    }
}

fn range(key: KeyMatch, width: u32) -> CRange {
    let all = Bits::mask(width);
    let (mask, low, high) = match key {
        KeyMatch::Exact(v) | KeyMatch::Optional(Some(v)) => (all, v, v),
        KeyMatch::Optional(None) => (0, 0, 0),
        KeyMatch::Lpm { value, prefix_len } => (all & !Bits::mask(width - prefix_len.min(width)), value, value),
        KeyMatch::Ternary { value, mask } => (mask, value, value),
        KeyMatch::Range { low, high } => (all, low, high),
    };
    // The low half comes first in memory.
    let words = |v: u128| [v as u64, (v >> 64) as u64];
    CRange { mask: words(mask), low: words(low), high: words(high) }
}
