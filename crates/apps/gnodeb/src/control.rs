//! What is a running gNodeB asked about its UEs and their bearers, and what changes then?
//!
//! A request is a line of JSON, and so is its reply. The verbs stand for procedures of E1AP and F1AP, which are not here (TS 37.483 §8.3, TS 38.473 §8.3): UE
//! contexts are set up, modified and released. A request changes all that it names or, if anything of it is wrong, nothing.

use std::collections::{BTreeMap, VecDeque};

use daemon::control_socket::Refused;
use serde::{Deserialize, Serialize};

use crate::config::{self, ConfigError, Gnb, GnbTables, GnbUe, GnbUeTable, MAX_FILE};

/// Most bytes of a request: as a file.
pub const MAX_REQUEST: u64 = MAX_FILE as u64;

/// What is asked. `T` is a UE's table as it is written in a file: [`GnbUeTable`], or anything that is written like it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request<T> {
    /// UEs with their sessions and bearers.
    Create {
        /// Numbers that are not there yet.
        ue: Vec<T>,
    },
    /// UEs are as these tables say from now on. A bearer whose table is as it was goes on; any other is released and begins anew.
    Modify {
        /// Numbers that are there.
        ue: Vec<T>,
    },
    /// UEs with their bearers end.
    Release {
        /// Their numbers.
        ue: Vec<u16>,
    },
    /// What is there.
    List {},
}

/// Reads the tables `[[ue]]` of a file that has nothing else. What is in them the gNodeB checks.
///
/// # Errors
/// [`ConfigError`].
pub fn read_ues(text: &str) -> Result<Vec<serde_json::Value>, ConfigError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        ue: Vec<serde_json::Value>,
    }
    config::read(text).map(|file: File| file.ue)
}

/// The reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "lowercase")]
pub enum Reply<T> {
    /// It is done.
    Done {
        /// UEs that were named.
        ues: usize,
    },
    /// What is there, without keys.
    Ues {
        /// Tables as in a file.
        ue: Vec<T>,
    },
    /// Nothing has changed.
    Error {
        /// Why, with the name of the field.
        message: String,
    },
}

impl<T> From<Refused> for Reply<T> {
    fn from(Refused(message): Refused) -> Reply<T> {
        Reply::Error { message }
    }
}

/// What becomes different, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// UEs that are new, or other than they were.
    pub set: Vec<GnbUe>,
    /// UEs that are no more.
    pub released: Vec<u16>,
}

/// UEs as they were configured, and as they were asked to be since.
pub struct Bearers {
    tables: GnbTables,
    config: Gnb,
}

impl Bearers {
    /// Of a file.
    pub fn new(tables: GnbTables, config: Gnb) -> Bearers {
        Bearers { tables, config }
    }

    /// All that is set.
    pub fn config(&self) -> &Gnb {
        &self.config
    }

    /// Answers a request. What changes is done by `apply`, which does all or nothing; its error is the reply.
    pub fn ask(&mut self, request: Request<GnbUeTable>, apply: &mut dyn FnMut(&Change) -> Result<(), String>) -> Reply<GnbUeTable> {
        let (ues, checked) = match request {
            Request::List {} => return Reply::Ues { ue: self.tables.ues().to_vec() },
            Request::Create { ue } => (ue.len(), self.tables.create(ue)),
            Request::Modify { ue } => (ue.len(), self.tables.modify(ue)),
            Request::Release { ue } => (ue.len(), self.tables.release(&ue)),
        };
        let done = checked.map_err(|ConfigError(why)| why).and_then(|(tables, config)| {
            apply(&change(&self.config.ues, &config.ues))?;
            (self.tables, self.config) = (tables, config);
            Ok(Reply::Done { ues })
        });
        done.unwrap_or_else(|message| Reply::Error { message })
    }
}

fn change(old: &[GnbUe], new: &[GnbUe]) -> Change {
    let mut before: BTreeMap<u16, &GnbUe> = old.iter().map(|ue| (ue.id, ue)).collect();
    let set = new.iter().filter(|ue| before.remove(&ue.id) != Some(*ue)).cloned().collect();
    Change { set, released: before.into_keys().collect() }
}

/// Numbers below a limit, the least recently used first.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<T> {
    next: u32,
    limit: u32,
    free: VecDeque<(u32, T)>,
}

impl<T> Numbers<T> {
    pub(crate) fn new(limit: u32) -> Numbers<T> {
        Numbers { next: 0, limit, free: VecDeque::new() }
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// One that is free, with what it was last.
    pub(crate) fn take(&mut self) -> Option<(u32, Option<T>)> {
        if self.next < self.limit {
            self.next += 1;
            return Some((self.next - 1, None));
        }
        self.free.pop_front().map(|(number, was)| (number, Some(was)))
    }

    pub(crate) fn give_back(&mut self, number: u32, was: T) {
        self.free.push_back((number, was));
    }

    /// What those that are free were last.
    pub(crate) fn were(&self) -> impl Iterator<Item = &(u32, T)> {
        self.free.iter()
    }
}
