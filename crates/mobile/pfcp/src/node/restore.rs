//! How does a node come back from its [records](super::Change), as it was before a crash? With the same recovery time stamp, SEIDs, TEIDs and
//! UE addresses: its peers notice nothing but a pause.
//!
//! Sessions are given to the user plane again, and the counters of their URRs go on where their records end. Reports without an
//! answer are sent again under their sequence numbers, and requests that were answered are answered again alike: so a peer that retransmits
//! across the crash gets one session, not two. What cannot be read, or no longer fits the configuration, is left out and counted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use super::answers::Record;
use super::finals::{Ending, Final, Unknown};
use super::journal::{AssociationRecord, Key, NodeRecord, VERSION};
use super::reports::Notice;
use super::requests::{About, Waiting};
use super::sessions::{Session, peer_tunnels};
use super::{Node, Timer};
use crate::codec::{self, Ie, Message, NodeId};
use crate::config::{Config, ConfigError};
use crate::rules::{CommitError, Counters, Returning, Seid, Usage, UserPlane};
use crate::session;

/// Sequence numbers that may have been used since the node's record was written: some seconds' worth.
const SEQUENCES_SKIPPED: u32 = 1 << 20;

/// Sessions that are given to the user plane together: what many changes at once have in common is done once, and little memory is needed.
const TOGETHER: usize = 256;

/// What no node that runs comes to: times (some centuries), counters, numbers that count up, reports in one message. What is beyond is damaged,
/// and would overflow.
const MOST_TIME: Duration = Duration::from_secs(1 << 33);
const MOST_COUNTED: u64 = 1 << 60;
const MOST_ASSOCIATIONS: u32 = 1 << 31;
const MOST_ANSWERS: u64 = 1 << 62;
const MOST_REPORTS: u64 = 1 << 16;

/// The node's own record, which says whether the others can be read, and what time it is for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved(NodeRecord);

/// Why records cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// There is none.
    #[error("there is no record of the node itself")]
    Missing,
    /// It is damaged.
    #[error("the record of the node itself is damaged")]
    Damaged,
    /// They were written by another release.
    #[error("the records have layout {0}, this release reads layout {VERSION}")]
    Version(u16),
}

impl Saved {
    /// The key of the node's own record.
    pub fn key() -> Vec<u8> {
        Key::Node.octets()
    }

    /// Reads it.
    pub fn read(record: Option<&[u8]>) -> Result<Saved, SavedError> {
        let record = record.ok_or(SavedError::Missing)?;
        // The version alone first: the rest may have changed.
        let (version, _) = postcard::take_from_bytes::<u16>(record).map_err(|_| SavedError::Damaged)?;
        if version != VERSION {
            return Err(SavedError::Version(version));
        }
        whole(record).map(Saved).ok_or(SavedError::Damaged)
    }

    /// The node's identity.
    pub fn node_id(&self) -> &NodeId {
        &self.0.node_id
    }

    /// Its recovery time stamp, NTP seconds: time zero of all times in the records.
    pub fn recovery_ntp_s(&self) -> u32 {
        self.0.recovery_ntp_s
    }

    /// The last time that is known to have passed. A node must not be restored at an earlier one, whatever the wall clock says.
    pub fn written_at(&self) -> Duration {
        self.0.written_at
    }
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Sessions, those that wait to be ended among them.
    pub sessions: usize,
    /// Associations.
    pub associations: usize,
    /// Reports without an answer, and final usage that is still to be sent.
    pub reports: usize,
    /// Records that could not be read.
    pub damaged: usize,
    /// Sessions that no longer fit the configuration or the user plane.
    pub refused: usize,
    /// Why the first of them did not.
    pub first_refusal: Option<String>,
    /// Packets of this time before now may not have been charged: from the last complete look at the counters on.
    pub uncounted: Duration,
}

/// A node that comes back, a record at a time.
///
/// There are three parts, for as many threads: [`Read`] reads records, [`Restoring::take`] takes them into the node, and [`Together::give_to`] gives sessions
/// to the user plane, which takes about as long as the other two. [`Restoring::record`] does the last two in turn.
pub struct Restoring {
    node: Node,
    now: Duration,
    /// When the node was alive for certain: when its record was last written.
    lived_until: Duration,
    /// The session that was read last, with its counters.
    session: Option<Arriving>,
    /// Those that are to be given to the user plane; and their SEIDs with those that were given whose outcome is not known yet.
    ready: Vec<Ready>,
    returning: BTreeSet<Seid>,
    /// By number: who it is with, or how it ended.
    associations: BTreeMap<u32, Result<NodeId, Ending>>,
    /// Sessions that wait to be ended.
    waiting: BTreeMap<u32, BTreeSet<Seid>>,
    /// Sessions with a user plane inactivity timer, which begins when all are there.
    timed: Vec<Seid>,
    answers: BTreeMap<u64, Record>,
    /// Their records' ids, and the number of the last in each.
    answer_records: VecDeque<(u64, u64)>,
    /// Of these, with the numbers of their answers, those that would soon be too old after another crash.
    aged_answers: Vec<(u64, Vec<u64>)>,
    finals: Vec<Final>,
    /// Records that are of no use any more.
    stale: Vec<Key>,
    result: Restored,
}

/// A record that was read, and checked as far as that goes without the node: work for another thread.
pub struct Read(Option<Key>, Option<Content>);

/// What a record says.
enum Content {
    Session(Box<Session>, Result<(), String>),
    Usage(Counters),
    /// To be read where it is used: of these there are few.
    Other(Vec<u8>),
}

impl Read {
    /// Reads a record.
    pub fn new(key: &[u8], value: &[u8]) -> Read {
        let key = Key::read(key);
        let content = match key {
            Some(Key::Session(_)) => whole(value).filter(is_plausible).map(|mut session: Session| {
                let checked = session::check(&mut session.context.rules).map_err(|rejection| rejection.why);
                Content::Session(Box::new(session), checked)
            }),
            Some(Key::Usage(..)) => whole(value).filter(|counters: &Counters| counters.is_at_most(MOST_COUNTED)).map(Content::Usage),
            _ => Some(Content::Other(value.to_vec())),
        };
        Read(key, content)
    }
}

/// A session whose records are not complete yet.
struct Arriving {
    seid: Seid,
    session: Box<Session>,
    /// Whether its rules fit together.
    checked: Result<(), String>,
    usages: BTreeMap<u32, Counters>,
}

/// A session that holds again what it held, and is to be given to the user plane.
struct Ready {
    seid: Seid,
    session: Box<Session>,
    /// What the records of its URRs say.
    recorded: BTreeMap<u32, Counters>,
    /// What its URRs go on counting from.
    counters: BTreeMap<u32, Usage>,
    /// Its association is not over.
    lives: bool,
}

impl Ready {
    fn returning(&self) -> Returning<'_> {
        Returning { seid: self.seid, rules: &self.session.context.rules, counters: &self.counters, recorded: &self.recorded }
    }
}

/// Sessions that are to be given to the user plane together.
pub struct Together(Vec<Ready>);

/// Sessions that were given to the user plane, and what became of each.
pub struct Given(Vec<(Ready, Outcome)>);

/// Whether the user plane has a session, and which of its quotas it does not hold it to.
type Outcome = Result<Vec<CommitError>, CommitError>;

/// Sessions that the node has packed. Memory is given back at least cost by the thread that asked for it: that which read the records.
pub struct Spent(#[expect(dead_code, reason = "it is only dropped")] Vec<Ready>);

impl Together {
    /// Gives them to the user plane.
    pub fn give_to(self, plane: &mut (impl UserPlane + ?Sized)) -> Given {
        let mut outcomes = plane.restore(&self.0.iter().map(Ready::returning).collect::<Vec<_>>()).into_iter();
        let mut settle = |ready: &Ready| {
            outcomes.next().unwrap_or_else(|| Err(CommitError::System("the user plane does not say".into())))?;
            let quotas = if ready.lives { ready.session.quota_ends() } else { Vec::new() };
            Ok(quotas.into_iter().filter_map(|(urr_id, ends)| plane.limit_usage(ready.seid, urr_id, ends).err()).collect())
        };
        let settled = |ready: Ready| {
            let outcome = settle(&ready);
            (ready, outcome)
        };
        Given(self.0.into_iter().map(settled).collect())
    }
}

impl Restoring {
    /// Begins with the node's own record; `now` is the time since its recovery time stamp. The configuration's own stamp does not count.
    pub fn begin(config: Config, saved: &Saved, now: Duration) -> Result<Restoring, ConfigError> {
        let NodeRecord { recovery_ntp_s, written_at, counted_until, next_sequence, places, .. } = &saved.0;
        let mut node = Node::new(Config { started_at_ntp_s: *recovery_ntp_s, ..config })?;
        node.requests.skip_to(next_sequence.wrapping_add(SEQUENCES_SKIPPED));
        node.pools.go_on_at(places);
        Ok(Restoring {
            node,
            now,
            lived_until: now.min(*written_at),
            session: None,
            ready: Vec::new(),
            returning: BTreeSet::new(),
            associations: BTreeMap::new(),
            waiting: BTreeMap::new(),
            timed: Vec::new(),
            answers: BTreeMap::new(),
            answer_records: VecDeque::new(),
            aged_answers: Vec::new(),
            finals: Vec::new(),
            stale: Vec::new(),
            result: Restored { uncounted: now.saturating_sub(*counted_until), ..Restored::default() },
        })
    }

    /// Takes the next record, in the order of keys, and has the user plane take what is to be given to it.
    pub fn record(&mut self, record: Read, plane: &mut dyn UserPlane) {
        if let Some(together) = self.take(record) {
            self.note(together.give_to(plane));
        }
    }

    /// Takes the next record, in the order of keys. Sessions that come back are to be given to the user plane in the order in which they come from
    /// here, and noted in that order.
    pub fn take(&mut self, Read(key, content): Read) -> Option<Together> {
        let Some(key) = key else {
            self.result.damaged += 1;
            return None;
        };
        let mut together = None;
        if let Key::Session(_) = key {
            self.end_of_session();
            together = (self.ready.len() >= TOGETHER).then(|| self.together());
        }
        let read = match (key, content) {
            (Key::Session(seid), Some(Content::Session(session, checked))) => {
                self.session = Some(Arriving { seid, session, checked, usages: BTreeMap::new() });
                Some(())
            }
            (Key::Usage(seid, urr_id), Some(Content::Usage(counters))) => self.usage(seid, urr_id, counters),
            (key, Some(Content::Other(value))) => self.other(key, &value),
            _ => None,
        };
        if read.is_none() {
            self.result.damaged += 1;
            self.stale.push(key);
        }
        together
    }

    fn together(&mut self) -> Together {
        Together(std::mem::take(&mut self.ready))
    }

    fn other(&mut self, key: Key, value: &[u8]) -> Option<()> {
        match key {
            Key::Node => Some(()),
            Key::Association(number) => self.association(number, value),
            Key::Request(sequence) => self.request(sequence, value),
            Key::Final(_) => whole(value)
                .filter(|this: &Final| this.count <= MOST_REPORTS && well_formed(this.reports()).is_some())
                .map(|this| self.finals.push(this)),
            Key::Answers(id) => self.answers(id, value),
            Key::Session(_) | Key::Usage(..) => None,
        }
    }

    /// The node, when all that [`Restoring::take`] gave is noted. Its first changes delete the records of what did not come back.
    pub fn finish(mut self, plane: &mut dyn UserPlane) -> (Node, Restored) {
        self.end_of_session();
        let last = self.together();
        self.note(last.give_to(plane));
        debug_assert!(self.returning.is_empty(), "sessions were given to the user plane and not noted");
        let Restoring {
            mut node, now, associations, waiting, timed, answers, answer_records, aged_answers, finals, stale, mut result, ..
        } = self;
        timed.into_iter().for_each(|seid| node.begin_activity(seid, now, plane));
        for (number, sessions) in waiting {
            let ending = associations.get(&number).and_then(|association| association.as_ref().err().copied());
            node.sessions.restore_ending(number, sessions, ending.unwrap_or(Ending::Unknown(Unknown::Restarted)));
        }
        for record in answers.into_values() {
            node.answers.restore(record, now);
        }
        node.journal.go_on(answer_records);
        node.sessions.forget_changes();
        // With the node's record, which says that it lives now.
        for (id, numbers) in aged_answers {
            node.renew_answers(id, &numbers);
        }
        for key in stale {
            node.journal.remove(key);
        }
        for (number, association) in associations {
            if association.is_err() {
                node.note_end(number);
            }
        }
        // Under new numbers.
        for this in finals {
            result.reports += 1;
            node.journal.remove(Key::Final(this.id()));
            node.final_again(this, now);
        }
        let node_ids: Vec<NodeId> = node.associations.keys().cloned().collect();
        for node_id in node_ids {
            node.schedule_heartbeat(&node_id, now);
            if let Some(lost_at) = node.associations.get(&node_id).and_then(|association| association.lost_at) {
                node.schedule_abandoning(&node_id, lost_at);
            }
        }
        node.note_node(now);
        (node, result)
    }

    fn association(&mut self, number: u32, value: &[u8]) -> Option<()> {
        if number > MOST_ASSOCIATIONS {
            return None;
        }
        let known = match whole(value)? {
            AssociationRecord::Over(ending) => Err(ending),
            AssociationRecord::Lives(node_id, association) => {
                if !association.is_plausible(MOST_TIME) || association.number != number || self.node.associations.contains_key(&*node_id) {
                    return None;
                }
                let (node_id, association) = (node_id.into_owned(), association.into_owned());
                let source = association.source.ip();
                self.node.peers.begin_association(source);
                self.node.sessions.restore_association(number);
                self.node.associations.insert(node_id.clone(), association);
                self.result.associations += 1;
                Ok(node_id)
            }
        };
        self.associations.insert(number, known);
        Some(())
    }

    fn usage(&mut self, seid: Seid, urr_id: u32, counters: Counters) -> Option<()> {
        let Some(Arriving { session, usages, .. }) = self.session.as_mut().filter(|arriving| arriving.seid == seid) else {
            // Its session had just ended.
            self.stale.push(Key::Usage(seid, urr_id));
            return Some(());
        };
        session.meters.get(&urr_id)?;
        usages.insert(urr_id, counters);
        Some(())
    }

    fn request(&mut self, sequence: u32, value: &[u8]) -> Option<()> {
        let (to, octets, about): (SocketAddr, Vec<u8>, About) = whole(value)?;
        let message = well_formed(&octets).filter(|message| message.sequence == sequence)?;
        let answer = message.kind.response()?;
        let node = &mut self.node;
        if about.of_final().is_some_and(|this| well_formed(this.reports()).is_none()) {
            return None;
        }
        if !about.is_report() || about.reports() > MOST_REPORTS || !node.requests.has_room(sequence) {
            return None;
        }
        self.result.reports += 1;
        // At once: whether it was answered meanwhile cannot be known.
        let waiting = Waiting { to, octets, answer, about, deadline: self.now, sends_left: node.config.n1, moves: 0 };
        node.timers.insert((self.now, Timer::Resend(sequence)));
        node.requests.insert(sequence, waiting);
        Some(())
    }

    fn answers(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let records: Vec<Record> = whole(value)?;
        if !records.iter().all(|record| record.number <= MOST_ANSWERS && well_formed(record.octets()).is_some()) {
            return None;
        }
        // What was given before its peer set up the association anew is forgotten.
        let node = &self.node;
        let is_forgotten = |record: &Record| {
            node.associations.values().any(|association| association.source == record.peer() && record.given() < association.since)
        };
        // The time without a node does not count: a peer whose answer was lost with the node goes on asking, and is not to have its request
        // executed twice.
        let of_use = |record: &Record| node.answers.is_of_use(record, self.lived_until) && !is_forgotten(record);
        let of_use: Vec<Record> = records.into_iter().filter(of_use).collect();
        if of_use.iter().any(|record| !node.answers.is_young(record, self.now)) {
            self.aged_answers.push((id, of_use.iter().map(|record| record.number).collect()));
        }
        match of_use.last() {
            Some(last) => self.answer_records.push_back((id, last.number)),
            None => self.stale.push(Key::Answers(id)),
        }
        self.answers.extend(of_use.into_iter().map(|record| (record.number, record)));
        Some(())
    }

    /// The records of a session are complete.
    fn end_of_session(&mut self) {
        let Some(Arriving { seid, session, checked, usages }) = self.session.take() else { return };
        let lives = match self.associations.get(&session.association) {
            Some(Ok(node_id)) => (*node_id == session.node_id).then_some(true),
            Some(Err(_)) | None => Some(false),
        };
        let urrs: Vec<u32> = usages.keys().copied().collect();
        let ready = match lives {
            Some(lives) => checked.and_then(|()| self.node.take_back(seid, session, usages, lives, &self.returning)),
            None => Err("it is of another association than its number tells".into()),
        };
        match ready {
            Ok(ready) => {
                self.returning.insert(seid);
                self.ready.push(ready);
            }
            Err(why) => self.refused(seid, urrs, &why),
        }
    }

    /// Notes what became of sessions that were given to the user plane.
    pub fn note(&mut self, given: Given) -> Spent {
        let noted = given.0.into_iter().map(|(mut ready, outcome)| {
            self.returning.remove(&ready.seid);
            match outcome {
                Ok(unlimited) => self.came_back(&mut ready, &unlimited),
                Err(error) => {
                    let held = std::mem::take(&mut ready.session.context.held);
                    held.into_iter().for_each(|held| self.node.pools.give_back(held));
                    self.refused(ready.seid, ready.recorded.keys().copied().collect(), &format!("{error:?}"));
                }
            }
            ready
        });
        Spent(noted.collect())
    }

    fn came_back(&mut self, ready: &mut Ready, unlimited: &[CommitError]) {
        for error in unlimited {
            self.node.commit_failed(ready.seid, error, "does not limit a session to its quota", self.now);
        }
        self.node.bring_back(ready, self.now);
        self.result.sessions += 1;
        if !ready.lives {
            self.waiting.entry(ready.session.association).or_default().insert(ready.seid);
        } else if ready.session.context.rules.inactivity_s > 0 {
            self.timed.push(ready.seid);
        }
    }

    /// A session does not come back, nor do its URRs' records.
    fn refused(&mut self, seid: Seid, urrs: Vec<u32>, why: &str) {
        self.result.refused += 1;
        self.result.first_refusal.get_or_insert_with(|| format!("session {seid:#x}: {why}"));
        self.stale.push(Key::Session(seid));
        self.stale.extend(urrs.into_iter().map(|urr_id| Key::Usage(seid, urr_id)));
    }
}

fn is_plausible(session: &Session) -> bool {
    let notices = session.notices.values().filter_map(|notice| if let Notice::Waiting { at, .. } = notice { Some(*at) } else { None });
    session.association <= MOST_ASSOCIATIONS
        && notices.chain([session.since]).all(|time| time < MOST_TIME)
        && session.meters.values().all(|meter| meter.is_plausible(MOST_TIME, MOST_COUNTED))
}

impl Node {
    /// Has a session hold again what it held, if it can come back; nothing of it is there if not. `before`: how many others are about to.
    fn take_back(
        &mut self,
        seid: Seid,
        mut session: Box<Session>,
        mut recorded: BTreeMap<u32, Counters>,
        lives: bool,
        others: &BTreeSet<Seid>,
    ) -> Result<Ready, String> {
        if seid == 0 || self.sessions.is_used(seid) || others.contains(&seid) {
            return Err("its SEID is 0, or another's".into());
        }
        if self.sessions.len() + others.len() >= self.config.max_sessions {
            return Err(format!("there is no room for it among {} sessions", self.config.max_sessions));
        }
        if !session.meters.keys().eq(session.context.rules.urrs.keys()) {
            return Err("its URRs are not those that it has measured".into());
        }
        let mut taking = self.pools.begin(seid);
        for held in std::mem::take(&mut session.context.held) {
            taking.reclaim(held).map_err(|refusal| format!("{held:?}: {refusal:?}"))?;
        }
        taking.keep(&mut session.context.held);
        let mut counters = BTreeMap::new();
        for (urr_id, meter) in &mut session.meters {
            counters.insert(*urr_id, meter.come_back(recorded.entry(*urr_id).or_default().usage));
        }
        Ok(Ready { seid, session, recorded, counters, lives })
    }

    /// Takes up a session again that the user plane has.
    fn bring_back(&mut self, ready: &mut Ready, now: Duration) {
        let Ready { seid, session, recorded, counters, lives } = ready;
        let (seid, lives) = (*seid, *lives);
        for (urr_id, counters) in recorded {
            self.journal.begin_urr(seid, *urr_id, counters.usage.packets());
        }
        for (far_id, notice) in &session.notices {
            if let Notice::Waiting { at, .. } = notice {
                self.timers.insert((*at, Timer::Notify(seid, *far_id)));
            }
        }
        self.peer_tunnels.extend(peer_tunnels(&session.context.rules).into_iter().map(|(teid, ipv4)| (teid, ipv4, seid)));
        self.note_sets(seid, &[], &session.context.sets);
        session.activity = None;
        if lives {
            if let Some(association) = self.associations.get_mut(&session.node_id) {
                association.sessions.insert(seid);
            }
            session.watch(seid, counters, now, &mut self.watch, &mut self.timers);
        }
        self.sessions.insert(seid, session);
    }
}

/// A message of ours, as we write them: what is damaged is not sent.
fn well_formed(octets: &[u8]) -> Option<Message> {
    fn is_read(ie: &Ie) -> bool {
        !matches!(ie, Ie::Invalid { .. }) && ie.children().iter().all(is_read)
    }
    let message = codec::decode(octets).ok()?;
    (message.ies.iter().all(is_read) && message.encode().as_deref() == Ok(octets)).then_some(message)
}

/// A value that is the whole of its octets.
fn whole<T: serde::de::DeserializeOwned>(octets: &[u8]) -> Option<T> {
    postcard::take_from_bytes(octets).ok().filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}
