//! What is kept of a node outside of its memory, so that it comes back after a crash: records, as they change.
//!
//! The owner takes them ([`Node::take_changes`]) after each other call and has them written, all or none, before it sends what
//! [`Node::poll_transmit`] gave: so nothing is lost that a peer was told. What follows from counters lags behind by no more than
//! [`Config::records`](crate::config::Config::records) says: [`Node::checkpoint`]. How a node comes back: [`Restoring`](super::Restoring).
//!
//! Not kept: heartbeats and association setups without an answer, which are sent again, rate budgets, and [`Stats`](crate::stats::Stats).

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Node;
use super::answers::Record;
use super::associations::Association;
use super::finals::Ending;
use super::requests::{About, Waiting};
use crate::codec::NodeId;
use crate::rules::{Counters, Seid, Usage, UserPlane};

/// Of the records' layout. To be raised when that changes, as the test `the_layout_of_records_is_that_of_their_version` tells.
pub(super) const VERSION: u16 = 9;

/// URRs whose counters, and sessions that, one call of [`Node::checkpoint`] looks at: some milliseconds' work.
const AT_ONCE: usize = 2000;

/// A record: its key, and its value; `None` if it is gone. Keys in order are in the order in which [`Restoring`](super::Restoring) wants them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// At most 13 octets.
    pub key: Vec<u8>,
    /// What is there now.
    pub value: Option<Vec<u8>>,
}

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Node,
    /// By its number.
    Association(u32),
    Session(Seid),
    /// The counters of a URR.
    Usage(Seid, u32),
    /// A report without an answer, by its sequence number.
    Request(u32),
    /// Final usage that is still to be sent.
    Final(u64),
    /// Answers that were written together.
    Answers(u64),
}

impl Key {
    pub(super) fn octets(self) -> Vec<u8> {
        let (kind, number): (u8, &[u8]) = match &self {
            Key::Node => (0, &[]),
            Key::Association(number) => (1, &number.to_be_bytes()),
            Key::Session(seid) => (2, &seid.to_be_bytes()),
            // Behind its session's.
            Key::Usage(seid, urr_id) => (2, &[&seid.to_be_bytes()[..], &urr_id.to_be_bytes()].concat()),
            Key::Request(sequence) => (3, &sequence.to_be_bytes()),
            Key::Final(id) => (4, &id.to_be_bytes()),
            Key::Answers(id) => (5, &id.to_be_bytes()),
        };
        [&[kind], number].concat()
    }

    pub(super) fn read(octets: &[u8]) -> Option<Key> {
        let (kind, number) = octets.split_first()?;
        let short = || number.try_into().ok().map(u32::from_be_bytes);
        let long = || number.try_into().ok().map(u64::from_be_bytes);
        match kind {
            0 if number.is_empty() => Some(Key::Node),
            1 => short().map(Key::Association),
            2 if number.len() == 12 => {
                let (seid, urr_id) = number.split_at(8);
                Some(Key::Usage(u64::from_be_bytes(seid.try_into().ok()?), u32::from_be_bytes(urr_id.try_into().ok()?)))
            }
            2 => long().map(Key::Session),
            3 => short().map(Key::Request),
            4 => long().map(Key::Final),
            5 => long().map(Key::Answers),
            _ => None,
        }
    }
}

/// The node's own record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NodeRecord {
    pub(super) version: u16,
    pub(super) node_id: NodeId,
    pub(super) recovery_ntp_s: u32,
    /// When it was written.
    pub(super) written_at: Duration,
    /// Until when all that was counted is in the records.
    pub(super) counted_until: Duration,
    pub(super) next_sequence: u32,
    /// Where the pools of UE addresses go on, so that an address that was free a moment ago rests.
    pub(super) places: Vec<u64>,
}

/// An association's record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum AssociationRecord<'a> {
    /// It lives.
    Lives(Cow<'a, NodeId>, Box<Cow<'a, Association>>),
    /// It is over, and some of its sessions wait to be ended.
    Over(Ending),
}

/// What has changed since it was last taken.
pub(super) struct Journal {
    /// How far counters may lag behind; `None`: there are no records.
    lag: Option<Duration>,
    changed: BTreeMap<Key, Option<Vec<u8>>>,
    /// Answers given since the last call of [`Node::take_changes`], by their numbers.
    answered: Vec<u64>,
    /// Records of answers, in the order in which they were given: each record's id, and the number of its last answer.
    answers: VecDeque<(u64, u64)>,
    /// The packets that a URR's record counts; 0: it has none, unless counters outlast the process.
    counted: BTreeMap<(Seid, u32), u64>,
    /// Whether counters outlast the process, so that each URR has a record.
    lasting: bool,
    pass: Pass,
}

/// A look at all counters, some at a time.
#[derive(Default)]
struct Pass {
    /// `None`: it is over.
    now: Option<Running>,
    /// When the last one that is over began, and the bytes carried then.
    last: Duration,
    last_carried: Option<u64>,
    /// When the next look is.
    due: Duration,
}

/// How far a look has come.
#[derive(Clone, Copy)]
struct Running {
    /// When it began, and the bytes carried then.
    began: Duration,
    carried: Option<u64>,
    /// The last URR that was looked at.
    reached: Option<(Seid, u32)>,
}

impl Journal {
    pub(super) fn new(lag: Option<Duration>) -> Journal {
        Journal {
            lag,
            changed: BTreeMap::new(),
            answered: Vec::new(),
            answers: VecDeque::new(),
            counted: BTreeMap::new(),
            lasting: false,
            pass: Pass::default(),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.lag.is_some()
    }

    pub(super) fn put(&mut self, key: Key, value: &impl Serialize) {
        if self.is_on() {
            let octets = postcard::to_allocvec(value).expect("memory takes any length, and no type of ours hides its own");
            self.changed.insert(key, Some(octets));
        }
    }

    pub(super) fn remove(&mut self, key: Key) {
        if self.is_on() {
            self.changed.insert(key, None);
        }
    }

    /// A URR begins, or comes back with as many packets as its record counts.
    pub(super) fn begin_urr(&mut self, seid: Seid, urr_id: u32, recorded: u64) {
        if self.is_on() {
            self.counted.insert((seid, urr_id), recorded);
        }
    }

    pub(super) fn end_urr(&mut self, seid: Seid, urr_id: u32) {
        if self.counted.remove(&(seid, urr_id)).is_some_and(|packets| packets > 0 || self.lasting) {
            self.remove(Key::Usage(seid, urr_id));
        }
    }

    fn record(&mut self, seid: Seid, urr_id: u32, counters: &Counters) {
        self.put(Key::Usage(seid, urr_id), counters);
        self.counted.insert((seid, urr_id), counters.usage.packets());
    }

    /// What was noted so far is in the records already, those of answers under these ids.
    pub(super) fn go_on(&mut self, answers: VecDeque<(u64, u64)>) {
        self.changed.clear();
        self.answers = answers;
    }
}

impl Node {
    /// The records that have changed since the last call. Nothing unless [`Config::records`](crate::config::Config::records) is set.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.note_answers();
        let others = std::mem::take(&mut self.journal.changed).into_iter();
        let sessions = self.sessions.take_changes().into_iter().map(|(seid, value)| (Key::Session(seid), value));
        others.chain(sessions).map(|(key, value)| Change { key: key.octets(), value }).collect()
    }

    /// When [`Node::checkpoint`] wants to be called next.
    pub fn next_checkpoint(&self) -> Option<Duration> {
        self.journal.lag.map(|_| self.journal.pass.due)
    }

    /// Looks whether counters have moved since they were recorded: at some of them, and at all within half of the lag that is allowed. The
    /// node's record tells how far that has come.
    pub fn checkpoint(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        let Some(lag) = self.journal.lag.filter(|_| self.journal.pass.due <= now) else { return };
        let new = || Running { began: now, carried: plane.carried(), reached: None };
        let Running { began, carried, reached } = self.journal.pass.now.unwrap_or_else(new);
        let idle = carried.is_some() && carried == self.journal.pass.last_carried;
        let from = reached.map_or(Bound::Unbounded, Bound::Excluded);
        let looked_at: Vec<((Seid, u32), u64)> = match idle {
            true => Vec::new(),
            false => self.journal.counted.range((from, Bound::Unbounded)).take(AT_ONCE).map(|(urr, packets)| (*urr, *packets)).collect(),
        };
        for ((seid, urr_id), recorded) in &looked_at {
            let counters = plane.counters(*seid, *urr_id);
            if counters.usage.packets() != *recorded {
                self.journal.record(*seid, *urr_id, &counters);
            }
        }
        let more_sessions = self.sessions.hurry(AT_ONCE);
        let pass = &mut self.journal.pass;
        if looked_at.len() == AT_ONCE || more_sessions {
            let reached = looked_at.last().map(|(urr, _)| *urr).or(reached);
            pass.now = Some(Running { began, carried, reached });
            let slices = (self.journal.counted.len() / AT_ONCE + 1) as u32;
            pass.due = now + lag / 2 / slices.saturating_mul(2);
            return;
        }
        (pass.now, pass.last, pass.last_carried) = (None, began, carried);
        pass.due = (began + lag / 2).max(now);
        self.note_node(now);
    }

    /// The cells of a session's URRs, which outlast the process, have changed: their records say which they are.
    pub(super) fn note_cells(&mut self, seid: Seid, urrs: &[u32], plane: &mut dyn UserPlane) {
        if !self.journal.is_on() || urrs.is_empty() {
            return;
        }
        self.journal.lasting = true;
        urrs.iter().for_each(|urr_id| self.journal.record(seid, *urr_id, &plane.counters(seid, *urr_id)));
    }

    /// As [`Node::checkpoint_all`], of all counters, whether they have moved or not: their cells are others than those in the records.
    pub fn record_all(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        self.journal.lasting = plane.outlasts();
        // A number that no URR has counted.
        self.journal.counted.values_mut().for_each(|packets| *packets = u64::MAX);
        self.checkpoint_all(now, plane);
    }

    /// Looks at all counters, at once: nothing is to come after.
    pub fn checkpoint_all(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        self.begin_checkpoint();
        while self.checkpoint_slice(now, plane) {}
    }

    /// Has all counters looked at from now on, by [`Node::checkpoint_slice`].
    pub fn begin_checkpoint(&mut self) {
        self.journal.pass = Pass::default();
    }

    /// Looks at some counters, whether that is due or not; whether others are left. What it changed may be taken in between, so that a batch that is
    /// written is small.
    pub fn checkpoint_slice(&mut self, now: Duration, plane: &mut dyn UserPlane) -> bool {
        self.journal.pass.due = now;
        self.checkpoint(now, plane);
        self.journal.pass.now.is_some()
    }

    pub(super) fn note_node(&mut self, now: Duration) {
        let record = NodeRecord {
            version: VERSION,
            node_id: self.config.node_id.clone(),
            recovery_ntp_s: self.config.started_at_ntp_s,
            written_at: now,
            counted_until: self.journal.pass.last,
            next_sequence: self.requests.next_sequence(),
            places: self.pools.places(),
        };
        self.journal.put(Key::Node, &record);
    }

    /// An association has changed, or begun.
    pub(super) fn note_association(&mut self, node_id: &NodeId) {
        let Some(association) = self.associations.get(node_id).filter(|_| self.journal.is_on()) else { return };
        let record = AssociationRecord::Lives(Cow::Borrowed(node_id), Box::new(Cow::Borrowed(association)));
        self.journal.put(Key::Association(association.number), &record);
    }

    /// An association is over: so is its record when its sessions are gone.
    pub(super) fn note_end(&mut self, number: u32) {
        match self.sessions.ending(number) {
            Some(ending) => self.journal.put(Key::Association(number), &AssociationRecord::Over(ending)),
            None => self.journal.remove(Key::Association(number)),
        }
    }

    /// An answer was given.
    pub(super) fn note_answer(&mut self, number: Option<u64>) {
        if self.journal.is_on() {
            self.journal.answered.extend(number);
        }
    }

    /// Answers that are written together are one record, which goes when the last of them does.
    fn note_answers(&mut self) {
        let answered = std::mem::take(&mut self.journal.answered);
        let records: Vec<Record> = answered.iter().filter_map(|number| self.answers.record(*number)).collect();
        if let (Some(last), false) = (answered.last(), records.is_empty()) {
            let id = self.journal.answers.back().map_or(0, |(id, _)| id.wrapping_add(1));
            self.journal.put(Key::Answers(id), &records);
            self.journal.answers.push_back((id, *last));
        }
        let oldest = self.answers.oldest().unwrap_or(u64::MAX);
        while let Some((id, _)) = self.journal.answers.front().copied().filter(|(_, last)| *last < oldest) {
            self.journal.remove(Key::Answers(id));
            self.journal.answers.pop_front();
        }
    }

    /// Answers of a record are kept from now on, as if they had been given now.
    pub(super) fn renew_answers(&mut self, id: u64, numbers: &[u64]) {
        let records: Vec<Record> = numbers.iter().filter_map(|number| self.answers.record(*number)).collect();
        if !records.is_empty() {
            self.journal.put(Key::Answers(id), &records);
        }
    }

    /// A request of ours was sent.
    pub(super) fn note_request(&mut self, sequence: u32, waiting: &Waiting) {
        if self.journal.is_on() && waiting.about.is_report() {
            self.journal.put(Key::Request(sequence), &(waiting.to, &waiting.octets, &waiting.about));
        }
    }

    /// A request of ours was answered, or given up.
    pub(super) fn forget_request(&mut self, sequence: u32, about: &About) {
        if about.is_report() {
            self.journal.remove(Key::Request(sequence));
        }
    }
}

impl Usage {
    pub(crate) fn is_at_most(self, most: u64) -> bool {
        [self.uplink_bytes, self.downlink_bytes, self.uplink_packets, self.downlink_packets].into_iter().all(|count| count <= most)
    }
}
