//! The installed rules, and a change of them as one batch.
//!
//! A change is staged, applied to the target as a batch, and recorded when the target has accepted it: [`Book::stage_add`] or
//! [`Book::stage_delete`], then [`Book::commit`]. Dropping a staged change cancels it.

use crate::arrangement::{Arrangement, ArrangementError, Ids, Side};
use crate::rule::{Encap, Match, Rule, Selector};
use program::{Batch, CounterId, Entry, KeyMatch, Op, Program};
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;

/// The installed rules.
pub struct Book {
    arrangement: Arrangement,
    ids: Ids,
    /// By number, which is never given twice.
    rules: BTreeMap<u64, Installed>,
    numbers: HashMap<Match, u64>,
    next_id: u64,
    /// Cells that were in use and are not.
    free: Vec<u32>,
    /// Cells from here on have never been used.
    next_cell: u32,
    capacity: u32,
}

/// A rule that is installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// Its number.
    pub id: u64,
    /// What it says.
    pub rule: Rule,
    /// Cell of [`Book::hits`] that counts its packets.
    pub cell: u32,
}

/// A way through the pipeline: cells of [`Book::ways`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Downlink by a rule.
    Encapsulated = 0,
    /// Uplink by a rule.
    Decapsulated = 1,
    /// To the foreign UPF.
    ToForeign = 2,
    /// From the foreign UPF on.
    FromForeign = 3,
}

impl Way {
    /// All of them, with their names.
    pub const ALL: [(Way, &str); 4] = [
        (Way::Encapsulated, "encapsulated"),
        (Way::Decapsulated, "decapsulated"),
        (Way::ToForeign, "to_foreign"),
        (Way::FromForeign, "from_foreign"),
    ];
}

/// A change that is not made yet.
#[derive(Debug)]
pub struct Staged {
    /// What the target is to do, all or nothing.
    pub batch: Batch,
    add: Vec<Installed>,
    delete: Vec<Installed>,
    /// As the book will be.
    free: Vec<u32>,
    next_cell: u32,
    next_id: u64,
}

impl Staged {
    /// The rules that it adds.
    pub fn added(&self) -> &[Installed] {
        &self.add
    }

    /// The rules that it removes.
    pub fn deleted(&self) -> &[Installed] {
        &self.delete
    }
}

/// Why a change is refused, and where: nothing of it is made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// Position in the request, from 0.
    pub position: usize,
    /// Why.
    pub why: BookError,
}

/// What is wrong with one rule beside the others.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BookError {
    /// It exists, or appears earlier in the same request.
    #[error("duplicate: `{rule}` exists already{}", numbered(.id))]
    Duplicate {
        /// The rule.
        rule: String,
        /// Its number; none: an earlier line of the same request.
        id: Option<u64>,
    },
    /// Another rule says something else of the same packets.
    #[error("conflict: `{other}`{} says something else of these packets", numbered(.id))]
    Conflict {
        /// The other rule.
        other: String,
        /// Its number; none: an earlier line of the same request.
        id: Option<u64>,
    },
    /// No way out.
    #[error("no hop on the {0} side leads to {1}: configure one, or name one by via=")]
    NoHop(&'static str, String),
    /// `via` names none.
    #[error("via={1}: no hop of that name on the {0} side")]
    UnknownHop(&'static str, String),
    /// No cell left.
    #[error("full: the program was built for {capacity} rules, and {installed} are there")]
    Full {
        /// Rules that fit.
        capacity: u32,
        /// Rules that are there.
        installed: usize,
    },
    /// Nothing to delete.
    #[error("there is no rule `{0}`")]
    Unknown(String),
    /// Twice in one request.
    #[error("`{0}` is deleted by an earlier line already")]
    DeletedTwice(String),
}

fn numbered(id: &Option<u64>) -> String {
    id.map_or_else(|| " (an earlier line)".to_owned(), |id| format!(" (rule {id})"))
}

impl Book {
    /// An empty book for a program like `ceupf.p4`.
    pub fn new(arrangement: Arrangement, program: &Program) -> Result<Book, ArrangementError> {
        arrangement.validate()?;
        let ids = Ids::bind(program)?;
        let room = [program.counters[ids.rules].size, program.tables[ids.gtp_encap].size, program.tables[ids.gtp_decap].size];
        let capacity = u32::try_from(room.into_iter().min().unwrap_or(0)).unwrap_or(u32::MAX);
        let (rules, numbers, free) = (BTreeMap::new(), HashMap::new(), Vec::new());
        Ok(Book { arrangement, ids, rules, numbers, next_id: 1, free, next_cell: 0, capacity })
    }

    /// What the target must hold before any rule.
    pub fn initial(&self) -> Batch {
        self.arrangement.initial(&self.ids)
    }

    /// The counter of the rules' cells.
    pub fn hits(&self) -> CounterId {
        self.ids.rules
    }

    /// The counter of the paths through the pipeline.
    pub fn ways(&self) -> CounterId {
        self.ids.ways
    }

    /// Rules that fit.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The rules in the order of their numbers.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Installed> {
        self.rules.values()
    }

    /// New rules, all or none.
    pub fn stage_add(&self, rules: &[Rule]) -> Result<Staged, Refusal> {
        let mut staged = self.stage();
        // By match: position among the new ones.
        let mut new: HashMap<Match, usize> = HashMap::with_capacity(rules.len());
        for (position, rule) in rules.iter().enumerate() {
            let refuse = |why| Refusal { position, why };
            let there = self.numbers.get(&rule.matches()).and_then(|id| self.rules.get(id));
            let other = there.map(|i| (&i.rule, Some(i.id))).or_else(|| new.get(&rule.matches()).map(|at| (&rules[*at], None)));
            if let Some((other, id)) = other {
                return Err(refuse(if other == rule {
                    BookError::Duplicate { rule: rule.to_string(), id }
                } else {
                    BookError::Conflict { other: other.to_string(), id }
                }));
            }
            let hop = self.hop(rule).map_err(refuse)?;
            let full = BookError::Full { capacity: self.capacity, installed: self.rules.len() };
            let cell = staged.take_cell(self.capacity).ok_or(refuse(full))?;
            new.insert(rule.matches(), position);
            staged.batch.ops.push(Op::ClearCounter { counter: self.ids.rules, index: cell.into() });
            staged.batch.ops.push(Op::Insert(self.entry(rule, cell, hop)));
            staged.add.push(Installed { id: staged.next_id, rule: rule.clone(), cell });
            staged.next_id += 1;
        }
        Ok(staged)
    }

    /// Rules go, all or none.
    pub fn stage_delete(&self, which: &[Selector]) -> Result<Staged, Refusal> {
        let mut staged = self.stage();
        let mut gone = std::collections::HashSet::new();
        for (position, selector) in which.iter().enumerate() {
            let refuse = |why| Refusal { position, why };
            let (id, shown) = match selector {
                Selector::Id(id) => (Some(*id), format!("id={id}")),
                Selector::Match(of) => (self.numbers.get(of).copied(), of.to_string()),
            };
            let Some(installed) = id.and_then(|id| self.rules.get(&id)) else {
                return Err(refuse(BookError::Unknown(shown)));
            };
            if !gone.insert(installed.id) {
                return Err(refuse(BookError::DeletedTwice(installed.rule.to_string())));
            }
            // Action and arguments are not looked at.
            staged.batch.ops.push(Op::Delete(self.entry(&installed.rule, installed.cell, 0)));
            staged.delete.push(installed.clone());
            staged.free.push(installed.cell);
        }
        Ok(staged)
    }

    /// Writes down what the target has done.
    ///
    /// # Panics
    /// If the book has changed since: changes are made one after the other.
    pub fn commit(&mut self, staged: Staged) {
        assert_eq!(staged.next_id - staged.add.len() as u64, self.next_id, "two changes at a time");
        for gone in &staged.delete {
            self.rules.remove(&gone.id);
            self.numbers.remove(&gone.rule.matches());
        }
        for new in staged.add {
            self.numbers.insert(new.rule.matches(), new.id);
            self.rules.insert(new.id, new);
        }
        (self.free, self.next_cell, self.next_id) = (staged.free, staged.next_cell, staged.next_id);
    }

    fn stage(&self) -> Staged {
        Staged {
            batch: Batch::default(),
            add: Vec::new(),
            delete: Vec::new(),
            free: self.free.clone(),
            next_cell: self.next_cell,
            next_id: self.next_id,
        }
    }

    /// Position of the hop that a rule's packets leave by.
    fn hop(&self, rule: &Rule) -> Result<usize, BookError> {
        let (side, side_name, via, towards) = match rule {
            Rule::Encap(e) => (Side::Access, "access", &e.via, Some(e.gnb)),
            Rule::Decap(d) => (Side::Core, "core", &d.via, d.remote),
        };
        if let Some(name) = via {
            return self.arrangement.named(side, name).ok_or_else(|| BookError::UnknownHop(side_name, name.clone()));
        }
        let anywhere = || "0.0.0.0/0".to_owned();
        let to = || towards.map_or_else(anywhere, |address| address.to_string());
        self.arrangement.towards(side, towards).ok_or_else(|| BookError::NoHop(side_name, to()))
    }

    fn entry(&self, rule: &Rule, cell: u32, hop: usize) -> Entry {
        let exact = |address: Ipv4Addr| KeyMatch::Exact(u32::from(address).into());
        let optional = |address: Option<Ipv4Addr>| KeyMatch::Optional(address.map(|a| u32::from(a).into()));
        let (cell, hop) = (u128::from(cell), hop as u128);
        // Whoever names a remote host wins over who does not.
        let priority = |remote: Option<Ipv4Addr>| if remote.is_some() { 2 } else { 1 };
        match rule {
            Rule::Encap(Encap { ue, remote, teid, gnb, qfi, .. }) => {
                let mut args = vec![cell, (*teid).into(), u32::from(self.arrangement.upf).into(), u32::from(*gnb).into(), hop];
                args.extend(qfi.map(u128::from));
                let action = if qfi.is_some() { self.ids.encapsulate_with_container } else { self.ids.encapsulate };
                let keys = vec![exact(*ue), optional(*remote)];
                Entry { table: self.ids.gtp_encap, keys, priority: priority(*remote), action, args }
            }
            Rule::Decap(d) => Entry {
                table: self.ids.gtp_decap,
                keys: vec![exact(self.arrangement.upf), KeyMatch::Exact(d.teid.into()), exact(d.ue), optional(d.remote)],
                priority: priority(d.remote),
                action: self.ids.decapsulate,
                args: vec![cell, hop],
            },
        }
    }
}

impl Staged {
    fn take_cell(&mut self, capacity: u32) -> Option<u32> {
        self.free.pop().or_else(|| {
            let cell = self.next_cell;
            self.next_cell += u32::from(cell < capacity);
            (cell < capacity).then_some(cell)
        })
    }
}
