//! Which changes does the base target have that a stage ahead of the engine is yet to get?
//!
//! A change of what all sessions share may end a wait of packets: a next hop that is known now. A stage ahead of the engine that had it at once would let later
//! packets overtake those that waited. So the base target has it first, and the stage when all that came before has been sent ([`Split::apply_after`]). Until
//! then the stage passes such packets on. Changes stay in order, and one of a session comes behind those that are about the same entries.

use crate::placed::identity;
use crate::policy::Unit;
use crate::split::{Books, Split};
use program::{ApplyError, Batch, Op};
use std::collections::HashSet;

impl Split {
    /// The first half of a change of what all sessions share: from now on the base target has it, or with an error no target. All of it, unless a stage is ahead of
    /// the engine.
    pub fn apply_before(&self, batch: &Batch) -> Result<(), ApplyError> {
        if !self.fast_is_ahead() {
            return self.apply_session(&Unit::default(), batch);
        }
        self.apply_to_base(batch)
    }

    /// The second half: a stage ahead of the engine gets it when `sent` says that all that came before has been sent ([`Split::poll`]).
    pub fn apply_after(&self, batch: Batch, sent: impl Fn() -> bool + Send + 'static) {
        if self.fast_is_ahead() {
            self.lock().deferred.push_back((Some(Box::new(sent)), batch));
        }
    }

    /// Gives the stages in front the changes whose time has come; to be called now and then.
    pub fn poll(&self) {
        let mut books = self.lock();
        while books.deferred.front().is_some_and(|(sent, _)| sent.as_ref().is_none_or(|sent| sent())) {
            self.catch_up(&mut books, 1);
        }
    }

    /// Behind deferred changes: the base target has it now.
    pub(crate) fn defer(&self, books: &mut Books, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_to_base(batch)?;
        books.deferred.push_back((None, batch.clone()));
        Ok(())
    }

    /// Before a session's change: deferred ones about the same entries are made at once. There is nothing to wait for, as the session is the entries' first or
    /// last.
    pub(crate) fn catch_up_before(&self, books: &mut Books, batch: &Batch) {
        let entry = |op: &Op| match op {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => Some(identity(e)),
            _ => None,
        };
        if books.deferred.is_empty() {
            return;
        }
        let changed: HashSet<_> = batch.ops.iter().filter_map(entry).collect();
        let meets = |batch: &Batch| batch.ops.iter().filter_map(entry).any(|entry| changed.contains(&entry));
        if let Some(last) = books.deferred.iter().rposition(|(_, batch)| meets(batch)) {
            self.catch_up(books, last + 1);
        }
    }

    /// Gives the stages in front the oldest of them.
    fn catch_up(&self, books: &mut Books, most: usize) {
        for (_, batch) in books.deferred.drain(..most).collect::<Vec<_>>() {
            self.follow(books, &Unit::default(), &batch, self.gate());
        }
    }
}
