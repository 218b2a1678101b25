//! The sessions, and those that wait to be ended.
//!
//! When an association ends, a million sessions may end with it. N4 forgets them at once: no look-up here finds them. Their
//! SEIDs, tunnels, UE addresses and entries stay theirs until the node has ended them in the user plane, a few at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::finals::Ending;
use super::sessions::Session;
use crate::packed::{Open, PackedMap};
use crate::rules::Seid;

/// All sessions.
#[derive(Default)]
pub(super) struct Sessions {
    all: PackedMap<Session>,
    /// Numbers of the associations that are there: a session lives as long as its association.
    associations: BTreeSet<u32>,
    next_association: u32,
    /// Sessions of associations that have ended, with their numbers; some may have been ended before their turn.
    waiting: VecDeque<(u32, BTreeSet<Seid>)>,
    /// How those associations ended.
    endings: BTreeMap<u32, Ending>,
    waiting_count: usize,
    /// Those of associations that live which wait to be ended all the same.
    doomed: BTreeSet<Seid>,
}

impl Sessions {
    /// A number for an association that begins. Numbers do not come again.
    pub(super) fn begin_association(&mut self) -> u32 {
        self.next_association += 1;
        self.associations.insert(self.next_association);
        self.next_association
    }

    /// An association is over, and its sessions wait to be ended.
    pub(super) fn end_association(&mut self, number: u32, sessions: BTreeSet<Seid>, ending: Ending) {
        self.associations.remove(&number);
        self.waiting_count += sessions.len();
        if !sessions.is_empty() {
            self.waiting.push_back((number, sessions));
            self.endings.insert(number, ending);
        }
    }

    /// Sessions of associations that live wait to be ended.
    pub(super) fn end_set(&mut self, sessions: BTreeSet<Seid>) {
        self.waiting_count += sessions.len();
        self.doomed.extend(&sessions);
        // A number that no association has.
        self.next_association += 1;
        self.waiting.push_back((self.next_association, sessions));
    }

    /// How the association of a session that waits to be ended has ended.
    pub(super) fn ending(&self, association: u32) -> Option<Ending> {
        self.endings.get(&association).copied()
    }

    /// Sessions that live.
    pub(super) fn len(&self) -> usize {
        self.all.len() - self.waiting_count
    }

    /// Sessions that wait to be ended.
    pub(super) fn waiting(&self) -> usize {
        self.waiting_count
    }

    /// Whether a SEID is in use, be it by a session that waits to be ended.
    pub(super) fn is_used(&self, seid: Seid) -> bool {
        self.all.contains(seid)
    }

    /// Whether a session waits to be ended.
    pub(super) fn is_waiting(&self, seid: Seid) -> bool {
        // The first field of a session.
        self.doomed.contains(&seid) || self.all.prefix::<u32>(seid).is_some_and(|association| !self.associations.contains(&association))
    }

    /// A copy of a session that lives.
    pub(super) fn get(&self, seid: Seid) -> Option<Session> {
        self.all.get(seid).filter(|session| lives(&self.associations, &self.doomed, seid, session))
    }

    /// A copy of a session, whether it lives or waits to be ended.
    pub(super) fn get_any(&self, seid: Seid) -> Option<Session> {
        self.all.get(seid)
    }

    /// A session that lives, for as long as no other is looked at.
    pub(super) fn look(&mut self, seid: Seid) -> Option<&Session> {
        self.all.look(seid).filter(|session| lives(&self.associations, &self.doomed, seid, session))
    }

    /// A session that lives, to be changed.
    pub(super) fn open(&mut self, seid: Seid) -> Option<Open<'_, Session>> {
        self.all.open(seid).filter(|session| lives(&self.associations, &self.doomed, seid, session))
    }

    /// A session that lives, to be changed in what follows from its counters: a [checkpoint](super::Node::checkpoint) is soon enough for it.
    pub(super) fn open_lazily(&mut self, seid: Seid) -> Option<Open<'_, Session>> {
        self.all.open_lazily(seid).filter(|session| lives(&self.associations, &self.doomed, seid, session))
    }

    /// From now on it is noted which sessions change.
    pub(super) fn note_changes(&mut self) {
        self.all.note_changes();
    }

    /// Sessions that have changed since the last call, with their bytes; `None`: gone.
    pub(super) fn take_changes(&mut self) -> Vec<(Seid, Option<Vec<u8>>)> {
        let touched = self.all.take_touched();
        // Of those that end in a set nothing is to come back.
        let mut packed = |seid: Seid| match self.doomed.contains(&seid) {
            true => None,
            false => self.all.packed(seid).map(<[u8]>::to_vec),
        };
        touched.into_iter().map(|seid| (seid, packed(seid))).collect()
    }

    /// What has changed so far is known already.
    pub(super) fn forget_changes(&mut self) {
        self.all.take_touched();
    }

    /// See [`PackedMap::hurry`].
    pub(super) fn hurry(&mut self, most: usize) -> bool {
        self.all.hurry(most)
    }

    /// An association that lives comes back under its number.
    pub(super) fn restore_association(&mut self, number: u32) {
        self.associations.insert(number);
        self.next_association = self.next_association.max(number);
    }

    /// Sessions that come back wait to be ended, as they did before.
    pub(super) fn restore_ending(&mut self, number: u32, sessions: BTreeSet<Seid>, ending: Ending) {
        self.next_association = self.next_association.max(number);
        self.end_association(number, sessions, ending);
    }

    /// A new session, which is opened next.
    pub(super) fn begin(&mut self, seid: Seid, session: Session) {
        self.all.insert_open(seid, session);
    }

    /// A session that has come back.
    pub(super) fn insert(&mut self, seid: Seid, session: &Session) {
        self.all.insert(seid, session);
    }

    /// Takes a session out, whether it lives or waits to be ended.
    pub(super) fn remove(&mut self, seid: Seid) -> Option<Session> {
        let session = self.all.remove(seid)?;
        let waited = self.doomed.remove(&seid) || !self.associations.contains(&session.association);
        self.waiting_count -= usize::from(waited);
        Some(session)
    }

    /// The next session to be ended; it stays until it is removed. Associations that have none left are given to `over`.
    pub(super) fn next_waiting(&mut self, mut over: impl FnMut(u32)) -> Option<Seid> {
        while let Some((number, sessions)) = self.waiting.front_mut() {
            match sessions.pop_first() {
                Some(seid)
                    if self.doomed.contains(&seid)
                        || self.all.prefix::<u32>(seid).is_some_and(|number| !self.associations.contains(&number)) =>
                {
                    return Some(seid);
                }
                Some(_) => {}
                None => {
                    self.endings.remove(number);
                    over(*number);
                    self.waiting.pop_front();
                }
            }
        }
        None
    }

    /// Those that live, by ascending SEID, behind one if it is given.
    pub(super) fn iter_after(&self, after: Option<Seid>) -> impl Iterator<Item = (Seid, Session)> + '_ {
        self.all.iter_after(after).filter(|(seid, session)| lives(&self.associations, &self.doomed, *seid, session))
    }
}

/// Whether a session does not wait to be ended. Not a method: the session may be borrowed from its map.
fn lives(associations: &BTreeSet<u32>, doomed: &BTreeSet<Seid>, seid: Seid, session: &Session) -> bool {
    associations.contains(&session.association) && !doomed.contains(&seid)
}
