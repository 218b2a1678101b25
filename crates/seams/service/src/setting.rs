//! How does control code reach a service: its keys, its bearers?
//!
//! A service's settings are a table: a value of bytes for an index. Control code changes it through [`Settings`]; each lane takes changes to its service
//! in the order in which they were made, ahead of its next call. All are kept, and given anew to a service that is started again. Values may hold keys:
//! they are wiped when nobody needs them any more, and `Debug` prints their length alone.

use crossbeam_channel::{Receiver, Sender};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Most bytes of a value.
pub const VALUE_MAX: usize = 256;

/// One change.
#[derive(Clone)]
pub struct Setting {
    /// Counts the changes: of two, the one with the greater number came later.
    pub version: u64,
    /// Which: what an index means is the service's.
    pub index: u32,
    /// The value; `None` removes it.
    pub value: Option<Arc<Zeroizing<Vec<u8>>>>,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.value.as_ref().map(|value| value.len());
        f.debug_struct("Setting").field("version", &self.version).field("index", &self.index).field("bytes", &len).finish()
    }
}

/// Why a service does not take a setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingError {
    /// The index is beyond what the service holds.
    #[error("setting {index}: expected an index below {limit}")]
    Index {
        /// Which.
        index: u32,
        /// How many there may be.
        limit: u32,
    },
    /// The value is not one.
    #[error("setting {index}: {what}")]
    Value {
        /// Which.
        index: u32,
        /// What is wrong with it, and what is expected.
        what: String,
    },
}

/// The settings of one service, and the lanes that must hear of changes.
#[derive(Default)]
pub(crate) struct Settings {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    version: u64,
    by_index: BTreeMap<u32, Setting>,
    lanes: Vec<Sender<Setting>>,
}

impl Settings {
    /// Changes one. Who calls has checked it.
    pub(crate) fn set(&self, index: u32, value: Option<Arc<Zeroizing<Vec<u8>>>>) {
        let mut state = self.state();
        state.version += 1;
        let setting = Setting { version: state.version, index, value };
        if setting.value.is_some() {
            state.by_index.insert(index, setting.clone());
        } else {
            state.by_index.remove(&index);
        }
        state.lanes.retain(|lane| lane.send(setting.clone()).is_ok());
    }

    /// All that are in place, in the order in which they were made, and the way by which changes will come.
    pub(crate) fn follow(&self) -> Receiver<Setting> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut state = self.state();
        in_order(&state).into_iter().for_each(|setting| _ = sender.send(setting));
        state.lanes.push(sender);
        receiver
    }

    /// All that are in place, in the order in which they were made.
    pub(crate) fn all(&self) -> Vec<Setting> {
        in_order(&self.state())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is whole before another can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_order(state: &State) -> Vec<Setting> {
    let mut all: Vec<Setting> = state.by_index.values().cloned().collect();
    all.sort_by_key(|setting| setting.version);
    all
}
