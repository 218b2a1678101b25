//! What survives a crash of the daemon: the records of N4's node in a store, and how it comes back from them.
//!
//! The agent hands over what a burst of messages changed, with what is to be sent for it. A thread writes all that has gathered as one batch, and
//! sends then: nothing is lost that a peer was told, and one write serves many sessions. While the store is slow, answers wait and sessions stay.
//!
//! There are two stores: files of this host ([`embedded`]), and a server of the Redis protocol that a standby on another host reads too ([`shared`]).
//!
//! Files that cannot be written any more (a full disk) do not end the UPF: from then on nothing is kept, and what was kept is given up, so that
//! the next start is an honest restart (TS 23.527 clause 4) and not the return of sessions that peers have changed since.

mod embedded;
mod intact;
mod lease;
mod replica;
mod replies;
pub mod shared;

use crate::config::shared_store::Settings;
use crate::config::{Config, Survives};
use crate::n4::output::Output;
use crate::n4::socket::Datagram;
use cli::failure::Failure;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use embedded::Embedded;
pub use lease::HeldLease;
use lease::Lease;
use pfcp::node::{Change, Given, Node, Read, Restoring, Saved, SavedError, Spent, Together};
use pfcp::rules::UserPlane;
use shared::Shared;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use embedded::PersistMode;

/// What the agent may be ahead of the store, in calls of [`Store::write`]; then it waits.
const QUEUED: usize = 8192;
/// Of these, how many are written as one batch at most, and with how many records: a server does nothing else meanwhile.
const GROUP: usize = 1024;
const GROUPED: usize = 8192;
/// Records that are read at a time at a start, and how many times so many may wait to be given to the tables.
const CHUNK: usize = 512;
const AHEAD: usize = 8;
/// Datagrams that wait while a server cannot be reached.
const HELD_DATAGRAMS: usize = 8192;

/// The last change of each record; `None`: it is gone.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A store that is open, and read from.
pub struct Opened(Records);

/// Where records are.
enum Records {
    Embedded(Embedded),
    Shared(Box<Shared>),
}

/// A store that is written.
pub struct Store {
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<Option<Opened>>>,
    /// Of a store that is shared: whether it can be reached, and what is to be written when it is again.
    lease: Option<Lease>,
    held: Batch,
    /// What was seen of it.
    pub counts: Arc<Counts>,
}

/// What is seen of a store.
#[derive(Default)]
pub struct Counts {
    /// Records written, deleted ones among them.
    pub records: AtomicU64,
    /// Batches that they were written in.
    pub batches: AtomicU64,
    /// It cannot be written any more.
    pub failed: AtomicBool,
}

/// Some changes, and what may be sent when they are written.
#[derive(Default)]
struct Batch {
    changes: Changes,
    datagrams: Vec<Datagram>,
}

/// A node and its time.
pub struct Back {
    /// The node, as it was or new.
    pub node: Node,
    /// Time zero of the node.
    pub start: Instant,
    /// Its recovery time stamp is an old one.
    pub is_old: bool,
}

/// A moment of this process, by both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Since 1970.
    pub unix: Duration,
    /// The same by the clock that nobody sets.
    pub at: Instant,
    /// Seconds since 1970 that a new node has for its recovery time stamp: not before `unix`'s own, but perhaps ahead of them.
    pub stamp: u64,
}

impl Moment {
    /// With the stamp that follows from it.
    pub fn new(unix: Duration, at: Instant) -> Moment {
        Moment { unix, at, stamp: unix.as_secs() }
    }
}

impl Back {
    /// A new node. Time zero is its stamp's, so that times of day in reports follow from it, and the time that passes until a start with the same stamp.
    pub fn new(config: pfcp::Config, now: Moment) -> Result<Back, String> {
        let stamp = Duration::from_secs(now.stamp);
        let started_at_ntp_s = pfcp::config::ntp_seconds(stamp);
        let node = Node::new(pfcp::Config { started_at_ntp_s, ..config }).map_err(|e| e.to_string())?;
        // A stamp that is ahead: until then no time passes for the node.
        let start = now.at.checked_sub(now.unix.saturating_sub(stamp)).unwrap_or(now.at) + stamp.saturating_sub(now.unix);
        Ok(Back { node, start, is_old: false })
    }
}

impl Opened {
    /// Opens the store that the configuration asks for. One that is shared is this node's when this returns: a standby waits here.
    pub fn open(config: &Config) -> Result<Option<Opened>, Failure> {
        Opened::open_unless(config, &|| false)
    }

    /// As [`Opened::open`], and `None` too when a standby has waited until `ends`.
    pub fn open_unless(config: &Config, ends: &dyn Fn() -> bool) -> Result<Option<Opened>, Failure> {
        let Some(store) = &config.n4.store else { return Ok(None) };
        if let Some(settings) = config.shared_store() {
            let settings = settings.map_err(|fault| config.source.failure(&fault))?;
            let opened = Opened::open_shared(&settings, ends);
            return opened.map_err(|why| config.fault("n4.store.shared", format!("{}: {why}", settings.shown())));
        }
        let path = store.path.clone().unwrap_or_default();
        let sync = match store.survives.unwrap_or_default() {
            Survives::Crash => PersistMode::Buffer,
            Survives::PowerLoss => PersistMode::SyncData,
        };
        let opened = crate::process::predecessor::wait_for("n4.store", || Opened::open_folder(&path, sync), |why| why == embedded::IN_USE);
        opened.map(Some).map_err(|what| config.fault("n4.store.path", format!("{}: {what}", path.display())))
    }

    /// Opens the store in a folder, which is made where there is none; why it cannot be opened.
    pub fn open_folder(folder: &Path, sync: PersistMode) -> Result<Opened, String> {
        Embedded::open(folder, sync).map(|embedded| Opened(Records::Embedded(embedded)))
    }

    /// The store of a server, when it is this node's; `None` if a standby has waited until `ends`.
    pub fn open_shared(settings: &Settings, ends: &dyn Fn() -> bool) -> Result<Option<Opened>, String> {
        Ok(Shared::wait(settings, ends)?.map(|shared| Opened(Records::Shared(Box::new(shared)))))
    }

    /// What leaves the lease of a shared store to itself, as if this process was killed: for measuring how long another one takes.
    pub fn abandons(&self) -> Option<impl FnOnce() + Send + use<>> {
        let Records::Shared(shared) = &self.0 else { return None };
        let lease = shared.lease().clone();
        Some(move || lease.abandon())
    }

    /// Has this called when the node must not serve any more, before the process ends; it may not wait.
    pub fn before_the_end(&self, run: impl FnOnce() + Send + 'static) {
        if let Records::Shared(shared) = &self.0 {
            shared.lease().before_the_end(run);
        }
    }

    /// The node that was kept, given to the user plane; a new one if none was.
    pub fn bring_back(&mut self, config: pfcp::Config, now: Moment, plane: &mut (dyn UserPlane + Send)) -> Result<Back, String> {
        let began = Instant::now();
        let saved = match Saved::read(self.own()?.as_deref()) {
            Ok(saved) if *saved.node_id() == config.node_id => saved,
            Ok(saved) => {
                tracing::warn!(
                    "the store is of the node {:?}, and this is {:?}: its sessions are given up",
                    saved.node_id(),
                    config.node_id
                );
                return self.begin(config, now);
            }
            Err(SavedError::Missing) => return self.begin(config, now),
            Err(error @ SavedError::Version(_)) => {
                tracing::warn!("the store cannot be read: {error}. Its sessions are given up");
                return self.begin(config, now);
            }
            Err(error @ SavedError::Damaged) => return Err(self.damaged(&error)),
        };
        // NTP's seconds wrap. A wall clock that was set back does not turn back the node's.
        let passed = pfcp::config::ntp_seconds(now.unix).wrapping_sub(saved.recovery_ntp_s()) as i32;
        let passed = Duration::new(u64::try_from(passed).unwrap_or(0), now.unix.subsec_nanos());
        let start = now.at.checked_sub(passed.max(saved.written_at())).ok_or("its recovery time stamp is before this machine's time")?;
        let mut restoring = Restoring::begin(config, &saved, start.elapsed()).map_err(|e| e.to_string())?;
        restore(&mut self.0, &mut restoring, plane)?;
        let (node, restored) = restoring.finish(plane);
        tracing::info!(
            sessions = restored.sessions,
            associations = restored.associations,
            reports = restored.reports,
            "N4 comes back as it was, in {:.1} s; packets of the {:.1} s before this start may be missing in what is charged",
            began.elapsed().as_secs_f64(),
            restored.uncounted.as_secs_f64()
        );
        if restored.damaged > 0 {
            tracing::error!("{} records are damaged: what they were of is given up", restored.damaged);
        }
        if let Some(first) = restored.first_refusal {
            tracing::error!("{} sessions no longer fit the configuration and are given up; the first: {first}", restored.refused);
        }
        Ok(Back { node, start, is_old: true })
    }

    /// The node's own record.
    fn own(&self) -> Result<Option<Vec<u8>>, String> {
        match &self.0 {
            Records::Embedded(embedded) => embedded.own(),
            Records::Shared(shared) => Ok(shared.own()),
        }
    }

    fn damaged(&self, why: &dyn std::fmt::Display) -> String {
        match &self.0 {
            Records::Embedded(_) => embedded::damaged(why),
            Records::Shared(shared) => shared.damaged(why),
        }
    }

    /// A new node; whatever was kept is given up.
    fn begin(&mut self, config: pfcp::Config, now: Moment) -> Result<Back, String> {
        match &mut self.0 {
            Records::Embedded(embedded) => embedded.clear()?,
            Records::Shared(shared) => shared.clear()?,
        }
        Back::new(config, now)
    }

    /// Writes from now on, and sends by `output`.
    pub fn start(self, output: Arc<Output>) -> Result<Store, Failure> {
        let (batches, batches_in) = bounded(QUEUED);
        let counts = Arc::new(Counts::default());
        let for_thread = counts.clone();
        let lease = match &self.0 {
            Records::Embedded(_) => None,
            Records::Shared(shared) => Some(shared.lease().clone()),
        };
        let write = move || self.write_all(&batches_in, &output, &for_thread);
        let thread = std::thread::Builder::new().name("n4-store".into()).spawn(write);
        let thread = thread.map_err(|e| Failure::Failed(format!("cannot start the store of N4: {e}")))?;
        Ok(Store { batches: Some(batches), thread: Some(thread), lease, held: Batch::default(), counts })
    }

    fn write_all(self, batches: &Receiver<Batch>, output: &Output, counts: &Counts) -> Option<Opened> {
        let mut this = Some(self);
        while let Ok(mut batch) = batches.recv() {
            let mut datagrams = Vec::new();
            let mut changes = Changes::new();
            for more in (0..GROUP).rev() {
                datagrams.extend(batch.datagrams);
                changes.extend(batch.changes);
                if more == 0 || changes.len() >= GROUPED {
                    break;
                }
                let Ok(next) = batches.try_recv() else { break };
                batch = next;
            }
            if let Some(opened) = &mut this {
                counts.records.fetch_add(changes.len() as u64, Ordering::Relaxed);
                counts.batches.fetch_add(1, Ordering::Relaxed);
                if let Err(e) = opened.commit(changes) {
                    counts.failed.store(true, Ordering::Relaxed);
                    opened.give_up(&e);
                    this = None;
                }
            }
            datagrams.iter().for_each(|(to, octets)| output.send(*to, octets));
        }
        this
    }

    /// Writes these changes before it returns: what a start begins with.
    ///
    /// # Errors
    /// If they cannot be written, with what to do.
    pub fn write_now(&mut self, changes: Vec<Change>) -> Result<(), String> {
        let changes = changes.into_iter().map(|change| (change.key, change.value)).collect();
        self.commit(changes).map_err(|e| format!("cannot be written: {e}. {}", embedded::WITHOUT_IT))
    }

    fn commit(&mut self, changes: Changes) -> Result<(), String> {
        match &mut self.0 {
            _ if changes.is_empty() => Ok(()),
            Records::Embedded(embedded) => embedded.commit(changes),
            // It is written, or this node ends: others may hold other sessions by now.
            Records::Shared(shared) => {
                shared.commit(&changes);
                Ok(())
            }
        }
    }

    fn give_up(&self, why: &str) {
        match &self.0 {
            Records::Embedded(embedded) => embedded.give_up(why),
            Records::Shared(_) => {}
        }
    }
}

/// Gives the node all records. Three threads: what the tables take is about as much work as reading records and taking them into the node.
fn restore(records: &mut Records, restoring: &mut Restoring, plane: &mut (dyn UserPlane + Send)) -> Result<(), String> {
    let (chunks, chunks_in) = bounded::<Vec<Read>>(AHEAD);
    let (together, together_in) = bounded::<Together>(AHEAD);
    let (given, given_in) = unbounded::<Given>();
    let (spent, spent_in) = unbounded::<Spent>();
    let read = move || {
        let give = |chunk| {
            spent_in.try_iter().for_each(drop);
            chunks.send(chunk).is_ok()
        };
        match records {
            Records::Embedded(embedded) => embedded.read(give),
            Records::Shared(shared) => {
                shared.read(give);
                Ok(())
            }
        }
    };
    let give = move || together_in.iter().all(|together| given.send(together.give_to(plane)).is_ok());
    std::thread::scope(|scope| {
        // Where this ends early the reader must find nobody.
        let chunks_in = chunks_in;
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        let reader = thread("n4-read").spawn_scoped(scope, read).map_err(|e| e.to_string())?;
        let giver = thread("n4-tables").spawn_scoped(scope, give).map_err(|e| e.to_string())?;
        let note = |restoring: &mut Restoring, outcome| drop(spent.send(restoring.note(outcome)));
        for record in chunks_in.iter().flatten() {
            // A giver that has failed is seen below.
            restoring.take(record).into_iter().for_each(|sessions| drop(together.send(sessions)));
            given_in.try_iter().for_each(|outcome| note(restoring, outcome));
        }
        drop(together);
        given_in.iter().for_each(|outcome| note(restoring, outcome));
        let failed = |what| Err(format!("the thread that {what} has failed"));
        giver.join().map(drop).or_else(|_| failed("gives sessions to the tables"))?;
        reader.join().unwrap_or(failed("reads it"))
    })
}

impl Store {
    /// Writes these changes before these datagrams are sent. Heartbeats wait for no disk: nothing hangs on them.
    pub fn write(&mut self, changes: Vec<Change>, mut datagrams: Vec<Datagram>, output: &Output) {
        datagrams.retain(|(to, octets)| {
            let heartbeat = crate::n4::socket::is_heartbeat(octets);
            if heartbeat {
                output.send(*to, octets);
            }
            !heartbeat
        });
        self.held.changes.extend(changes.into_iter().map(|change| (change.key, change.value)));
        // The agent must not come to wait for a server that cannot be reached: heartbeats would have no answer.
        let away = self.is_away();
        // Who misses one asks again, and what is a request of ours is sent again.
        let room = if away { HELD_DATAGRAMS.saturating_sub(self.held.datagrams.len()) } else { usize::MAX };
        self.held.datagrams.extend(datagrams.into_iter().take(room));
        if self.held.is_empty() || away {
            return;
        }
        if let Some(batches) = &self.batches {
            // The thread ends with the last of these.
            let _ = batches.send(std::mem::take(&mut self.held));
        }
    }

    /// Whether what it was given can be had again: it could be written until now.
    pub fn is_good(&self) -> bool {
        !self.counts.failed.load(Ordering::Relaxed)
    }

    /// Whether a store that is shared has not been reached for so long that nothing new is to be begun.
    pub fn is_away(&self) -> bool {
        self.lease.as_ref().is_some_and(Lease::is_away)
    }

    /// Writes and sends what is pending, and closes the store. With `released` there is nothing to come back to: the next start is a new one.
    /// The lease of a shared store is held on: another node may serve only when this one has left its addresses.
    pub fn close(mut self, released: bool) -> Option<HeldLease> {
        if let Some(batches) = self.batches.take().filter(|_| !self.held.is_empty()) {
            let _ = batches.send(std::mem::take(&mut self.held));
        }
        let opened = self.thread.take().and_then(|thread| thread.join().ok()).flatten();
        match opened.map(|opened| opened.0) {
            None => None,
            Some(Records::Shared(shared)) => Some(shared.close(released)),
            Some(Records::Embedded(embedded)) => {
                if let Err(e) = embedded.close(released) {
                    embedded.give_up(&e);
                }
                None
            }
        }
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.datagrams.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::embedded::RECORDS;
    use super::*;
    use pfcp::codec::{self, Cause, Ie, Message, MessageType, NodeId};
    use pfcp::rules::{CommitError, Counters, OuterHeader, Seid, SessionRules, Usage, VolumeLimit};
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
    use std::path::PathBuf;

    /// It has no packets.
    struct Idle;

    impl UserPlane for Idle {
        fn commit(&mut self, _: Seid, _: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError> {
            Ok(Vec::new())
        }

        fn usage(&mut self, _: Seid, _: u32) -> Usage {
            Usage::default()
        }

        fn packets(&mut self, _: Seid) -> u64 {
            0
        }

        fn send_end_marker(&mut self, _: OuterHeader) {}

        fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError> {
            self.commit(seid, Some(new))
        }

        fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters {
            Counters { usage: self.usage(seid, urr_id), lasting: None }
        }

        fn outlasts(&self) -> bool {
            false
        }

        fn continue_lasting(&mut self, _: Seid, _: u32, _: &Counters) {}

        fn limit_usage(&mut self, _: Seid, _: u32, _: VolumeLimit) -> Result<(), CommitError> {
            Ok(())
        }

        fn continue_usage(&mut self, _: Seid, _: u32, _: Usage) {}

        fn carried(&mut self) -> Option<u64> {
            None
        }

        fn drop_buffered(&mut self, _: Seid) {}
    }

    const UNIX: Duration = Duration::from_secs(1_700_000_000);
    const SESSIONS: u32 = 50;

    fn config() -> pfcp::Config {
        let own = Ipv4Addr::LOCALHOST;
        let config = pfcp::Config::new(NodeId::Ipv4(own), own.into(), 0);
        pfcp::Config { records: Some(Duration::from_secs(1)), heartbeat_period: None, ..config }
    }

    fn open(folder: &Path) -> Result<Opened, String> {
        Opened::open_folder(folder, PersistMode::Buffer)
    }

    fn back(folder: &Path, unix: Duration) -> Result<(Opened, Back), String> {
        let mut opened = open(folder)?;
        let back = opened.bring_back(config(), Moment::new(unix, Instant::now()), &mut Idle)?;
        Ok((opened, back))
    }

    /// A message that drops and counts nothing, with its answer.
    fn establishment(n: u32) -> Vec<u8> {
        let own = Ipv4Addr::LOCALHOST;
        let pdr = vec![Ie::PdrId(1), Ie::Precedence(1), Ie::Pdi(vec![Ie::SourceInterface(1)]), Ie::FarId(1)];
        let far = vec![Ie::FarId(1), Ie::ApplyAction(codec::ApplyActionFlags::DROP)];
        let f_seid = codec::FSeid { seid: n.into(), ipv4: Some(own), ipv6: None };
        let ies = vec![Ie::NodeId(NodeId::Ipv4(own)), Ie::FSeid(f_seid), Ie::CreatePdr(pdr), Ie::CreateFar(far)];
        Message::session(MessageType::SessionEstablishmentRequest, 0, n, ies).encode().unwrap()
    }

    /// A store with sessions that an SMF was told of.
    fn filled(folder: &Path) {
        let (opened, Back { mut node, start, is_old }) = back(folder, UNIX).unwrap();
        assert!(!is_old);
        let upf = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let smf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let output = Arc::new(Output::new(upf).unwrap());
        let mut store = opened.start(output.clone()).unwrap();
        let setup = vec![Ie::NodeId(NodeId::Ipv4(Ipv4Addr::LOCALHOST)), Ie::RecoveryTimeStamp(1)];
        let setup = Message::node(MessageType::AssociationSetupRequest, 0, setup).encode().unwrap();
        for octets in std::iter::once(setup).chain((1..=SESSIONS).map(establishment)) {
            node.receive(smf.local_addr().unwrap(), &octets, start.elapsed(), &mut Idle);
            let datagrams: Vec<(SocketAddr, Vec<u8>)> = std::iter::from_fn(|| node.poll_transmit()).collect();
            store.write(node.take_changes(), datagrams, &output);
            let mut buffer = [0; 1500];
            let length = smf.recv(&mut buffer).unwrap();
            assert_eq!(codec::decode(&buffer[..length]).unwrap().cause(), Some(Cause::REQUEST_ACCEPTED));
        }
        assert_eq!((node.session_count(), store.counts.failed.load(Ordering::Relaxed)), (SESSIONS as usize, false));
        store.close(false);
    }

    #[test]
    fn sessions_come_back_with_the_recovery_time_stamp_and_time_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let (opened, again) = back(folder.path(), UNIX + Duration::from_secs(1000)).unwrap();
        assert!(again.is_old && again.start.elapsed() >= Duration::from_secs(1000));
        assert_eq!(again.node.session_count(), SESSIONS as usize);
        assert!(open(folder.path()).err().unwrap().contains("in use by another process"));
        drop(opened);
        // A wall clock that was set back.
        let (opened, again) = back(folder.path(), UNIX - Duration::from_secs(1000)).unwrap();
        assert_eq!(again.node.session_count(), SESSIONS as usize);
        let output = Arc::new(Output::new(Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())).unwrap());
        opened.start(output).unwrap().close(true);
        let (_, new) = back(folder.path(), UNIX).unwrap();
        assert!(!new.is_old && new.node.session_count() == 0, "what was released does not come back");
    }

    /// Two starts in one second: the second one's stamp is ahead of the clock. The node's time is the clock's all the same, or it would say of too short a time
    /// that packets of it may be missing.
    #[test]
    fn a_stamp_that_is_ahead_of_the_clock_moves_no_time() {
        let folder = tempfile::tempdir().unwrap();
        let at = Instant::now() + Duration::from_secs(3600);
        let moment = |ms, ahead_s| {
            let now = Moment::new(UNIX + Duration::from_millis(ms), at + Duration::from_millis(ms));
            Moment { stamp: now.stamp + ahead_s, ..now }
        };
        let starts = [(200, 1), (10_300, 1), (11_900, 0)].map(|(ms, ahead_s)| {
            let mut opened = open(folder.path()).unwrap();
            let mut back = opened.bring_back(config(), moment(ms, ahead_s), &mut Idle).unwrap();
            let changes = back.node.take_changes();
            opened.write_now(changes).unwrap();
            (back.start, back.is_old)
        });
        // The stamp's own time.
        let zero = at + Duration::from_secs(1);
        assert_eq!(starts, [(zero, false), (zero, true), (zero, true)]);
    }

    #[test]
    fn a_store_that_could_not_be_written_to_the_end_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let opened = open(folder.path()).unwrap();
        opened.give_up("its files contradict each other");
        drop(opened);
        let (_, new) = back(folder.path(), UNIX).unwrap();
        assert!(!new.is_old && new.node.session_count() == 0);
    }

    #[test]
    fn a_damaged_store_is_an_error_or_what_is_left_of_it() {
        // Its threads may stop where the store's code panics: see `embedded::apart`.
        let test = "n4::store::tests::a_damaged_store_is_an_error_or_what_is_left_of_it";
        testkit::in_own_process(test, every_damage_is_an_error_or_what_is_left);
    }

    fn every_damage_is_an_error_or_what_is_left() {
        let source = tempfile::tempdir().unwrap();
        filled(source.path());
        let files = files(&source.path().join(RECORDS));
        assert!(files.len() >= 3, "{files:?}");
        let mut outcomes = [0, 0];
        for file in &files {
            let whole = std::fs::read(file).unwrap();
            let used = whole.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
            for damage in 0..4 {
                let mut octets = whole.clone();
                match damage {
                    0 => octets.truncate(used / 2),
                    1 => octets.clear(),
                    2 => octets.iter_mut().take(used).skip(used / 2).step_by(7).for_each(|octet| *octet ^= 0x55),
                    _ => octets.iter_mut().take(16).for_each(|octet| *octet = !*octet),
                }
                let folder = tempfile::tempdir().unwrap();
                copy(source.path(), folder.path());
                std::fs::write(folder.path().join(file.strip_prefix(source.path()).unwrap()), octets).unwrap();
                match back(folder.path(), UNIX + Duration::from_secs(10)) {
                    Ok((_, back)) => {
                        assert!(back.node.session_count() <= SESSIONS as usize);
                        outcomes[0] += 1;
                    }
                    Err(why) => {
                        assert!(why.contains("cannot be read") && why.contains("move it away"), "{why}");
                        outcomes[1] += 1;
                    }
                }
            }
        }
        assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    fn copy(from: &Path, to: &Path) {
        for file in files(from) {
            let to = to.join(file.strip_prefix(from).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(file, to).unwrap();
        }
    }
}
