//! What survives a crash of the daemon: the records of N4's node in an embedded store, and how it comes back from them.
//!
//! The agent hands over what a burst of messages changed, with what is to be sent for it. A thread writes all that has gathered as one batch, and
//! sends then: nothing is lost that a peer was told, and one write serves many sessions. While the store is slow, answers wait and sessions stay.
//!
//! A store that cannot be written any more (a full disk) does not end the UPF: from then on nothing is kept, and what was kept is given up, so that
//! the next start is an honest restart (TS 23.527 clause 4) and not the return of sessions that peers have changed since.

use crate::config::{Config, Survives};
use crate::failure::Failure;
use crate::n4_socket::{Datagram, Output};
use crossbeam_channel::{Receiver, Sender, bounded};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use pfcp::node::{Change, Node, Read, Restoring, Saved, SavedError};
use pfcp::rules::UserPlane;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Whether a write waits for the disk.
pub use fjall::PersistMode;

/// What the agent may be ahead of the store, in calls of [`Store::write`]; then it waits.
const QUEUED: usize = 8192;
/// Of these, how many are written as one batch at most.
const GROUP: usize = 1024;
/// Memory of the store: cached blocks, and records that are not in a sorted file yet, in bytes.
const CACHE: u64 = 8 << 20;
const MEMTABLE: u64 = 32 << 20;
/// Files that records wait in for that, in bytes.
const JOURNAL: u64 = 256 << 20;
/// Records that are read at a time at a start, and how many times so many may wait to be given to the tables.
const CHUNK: usize = 512;
const AHEAD: usize = 8;
/// The folder of the store's files, and the file that says that they are all there is to know.
const RECORDS: &str = "records";
const VALID: &str = "valid";

/// A store that is open, and read from.
pub struct Opened {
    database: Database,
    records: Keyspace,
    folder: PathBuf,
    sync: PersistMode,
}

/// A store that is written.
pub struct Store {
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<Option<Opened>>>,
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
struct Batch {
    changes: Vec<Change>,
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

impl Back {
    /// A new node; it was `unix` (since 1970) at `at`. Time zero is its stamp's, so that times of day in reports follow from it.
    pub fn new(config: pfcp::Config, unix: Duration, at: Instant) -> Result<Back, String> {
        let started_at_ntp_s = pfcp::config::ntp_seconds(unix);
        let node = Node::new(pfcp::Config { started_at_ntp_s, ..config }).map_err(|e| e.to_string())?;
        Ok(Back { node, start: at, is_old: false })
    }
}

impl Opened {
    /// Opens the store that the configuration asks for.
    pub fn open(config: &Config) -> Result<Option<Opened>, Failure> {
        let Some(store) = &config.n4.store else { return Ok(None) };
        let refuse = |what: String| config.fault("n4.store.path", format!("{}: {what}", store.path.display()));
        let sync = match store.survives {
            Survives::Crash => PersistMode::Buffer,
            Survives::PowerLoss => PersistMode::SyncData,
        };
        Opened::open_folder(&store.path, sync).map(Some).map_err(refuse)
    }

    /// Opens the store in a folder, which is made where there is none; why it cannot be opened.
    pub fn open_folder(folder: &Path, sync: PersistMode) -> Result<Opened, String> {
        let io = |e: std::io::Error| e.to_string();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
        let (records, valid) = (folder.join(RECORDS), folder.join(VALID));
        if records.exists() && !valid.exists() {
            tracing::warn!("{}: what is there is not all there was: it could not be written to the end. It is given up", folder.display());
            std::fs::remove_dir_all(&records).map_err(io)?;
        }
        // A damaged file must not end the process without a word, wherever in the store's code that is noticed.
        let open = || {
            let database = Database::builder(&records)
                .cache_size(CACHE)
                .max_journaling_size(JOURNAL)
                .worker_threads(1)
                .manual_journal_persist(true)
                .open()?;
            let records = database.keyspace("n4", || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE))?;
            Ok((database, records))
        };
        let (database, records) = guarded(open).map_err(|e| match e {
            Trouble::Store(fjall::Error::Locked) => "it is in use by another process".to_owned(),
            e => damaged(&e),
        })?;
        // On the disk too, before the first record is: without it they are given up.
        File::create(&valid).and_then(|file| file.sync_all()).map_err(io)?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Ok(Opened { database, records, folder: folder.to_owned(), sync })
    }

    /// The node that was kept, given to the user plane; a new one if none was. It was `unix` (since 1970) at `at`.
    pub fn bring_back(&mut self, config: pfcp::Config, unix: Duration, at: Instant, plane: &mut dyn UserPlane) -> Result<Back, String> {
        let began = Instant::now();
        let own = guarded(|| self.records.get(Saved::key())).map_err(|e| damaged(&e))?;
        let saved = match Saved::read(own.as_deref()) {
            Ok(saved) if *saved.node_id() == config.node_id => saved,
            Ok(saved) => {
                tracing::warn!(
                    "the store is of the node {:?}, and this is {:?}: its sessions are given up",
                    saved.node_id(),
                    config.node_id
                );
                return self.begin(config, unix, at);
            }
            Err(SavedError::Missing) => return self.begin(config, unix, at),
            Err(error @ SavedError::Version(_)) => {
                tracing::warn!("the store cannot be read: {error}. Its sessions are given up");
                return self.begin(config, unix, at);
            }
            Err(error @ SavedError::Damaged) => return Err(damaged(&error)),
        };
        // NTP's seconds wrap. A wall clock that was set back does not turn back the node's.
        let passed = pfcp::config::ntp_seconds(unix).wrapping_sub(saved.recovery_ntp_s()) as i32;
        let passed = Duration::new(u64::try_from(passed).unwrap_or(0), unix.subsec_nanos());
        let start = at.checked_sub(passed.max(saved.written_at())).ok_or("its recovery time stamp is before this machine's time")?;
        let mut restoring = Restoring::begin(config, &saved, start.elapsed()).map_err(|e| e.to_string())?;
        // Reading takes about as long as giving sessions to the tables: each has a core.
        let (chunks, chunks_in) = bounded(AHEAD);
        let records = &self.records;
        let read = move |chunks: Sender<Vec<Read>>| {
            guarded(|| {
                let mut records = records.iter();
                loop {
                    let chunk = records.by_ref().take(CHUNK).map(|record| record.into_inner().map(|(key, value)| Read::new(&key, &value)));
                    let chunk: Vec<Read> = chunk.collect::<Result<_, _>>()?;
                    if chunk.is_empty() || chunks.send(chunk).is_err() {
                        return Ok(());
                    }
                }
            })
        };
        let outcome = std::thread::scope(|scope| {
            let reader = scope.spawn(move || read(chunks));
            chunks_in.iter().flatten().for_each(|record| restoring.record(record, plane));
            reader.join().unwrap_or(Err(Trouble::Panic))
        });
        outcome.map_err(|e| damaged(&e))?;
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

    /// A new node; whatever was kept is given up.
    fn begin(&mut self, config: pfcp::Config, unix: Duration, at: Instant) -> Result<Back, String> {
        guarded(|| self.records.clear()).map_err(|e| damaged(&e))?;
        Back::new(config, unix, at)
    }

    /// Writes from now on, and sends by `output`.
    pub fn start(self, output: Arc<Output>) -> Result<Store, Failure> {
        let (batches, batches_in) = bounded(QUEUED);
        let counts = Arc::new(Counts::default());
        let for_thread = counts.clone();
        let write = move || self.write_all(&batches_in, &output, &for_thread);
        let thread = std::thread::Builder::new().name("n4-store".into()).spawn(write);
        let thread = thread.map_err(|e| Failure::Failed(format!("cannot start the store of N4: {e}")))?;
        Ok(Store { batches: Some(batches), thread: Some(thread), counts })
    }

    fn write_all(self, batches: &Receiver<Batch>, output: &Output, counts: &Counts) -> Option<Opened> {
        let mut this = Some(self);
        while let Ok(first) = batches.recv() {
            let mut datagrams = Vec::new();
            // The last change of a record counts.
            let mut changes = BTreeMap::new();
            for batch in std::iter::once(first).chain(batches.try_iter().take(GROUP - 1)) {
                datagrams.extend(batch.datagrams);
                changes.extend(batch.changes.into_iter().map(|change| (change.key, change.value)));
            }
            if let Some(opened) = &this {
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

    fn commit(&self, changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>) -> Result<(), Trouble> {
        if changes.is_empty() {
            return Ok(());
        }
        guarded(|| {
            let mut batch = self.database.batch().durability(Some(self.sync));
            for (key, value) in changes {
                match value {
                    Some(value) => batch.insert(&self.records, key, value),
                    None => batch.remove(&self.records, key),
                }
            }
            batch.commit()
        })
    }

    fn give_up(&self, why: &Trouble) {
        let folder = self.folder.display();
        tracing::error!(
            "{folder}: cannot be written: {why}. Sessions are no longer kept: after a crash this will be a restart for our peers"
        );
        if let Err(e) = std::fs::remove_file(self.folder.join(VALID)) {
            tracing::error!("{folder}: {e}: delete the folder before the next start, or sessions come back that are not what peers think");
        }
    }
}

impl Store {
    /// Writes these changes before these datagrams are sent. Heartbeats wait for no disk: nothing hangs on them.
    pub fn write(&self, changes: Vec<Change>, mut datagrams: Vec<Datagram>, output: &Output) {
        datagrams.retain(|(to, octets)| {
            let heartbeat = crate::n4_socket::is_heartbeat(octets);
            if heartbeat {
                output.send(*to, octets);
            }
            !heartbeat
        });
        if changes.is_empty() && datagrams.is_empty() {
            return;
        }
        if let Some(batches) = &self.batches {
            // The thread ends with the last of these.
            let _ = batches.send(Batch { changes, datagrams });
        }
    }

    /// Writes and sends what is pending, and closes the store. With `released` there is nothing to come back to: the next start is a new one.
    pub fn close(mut self, released: bool) {
        drop(self.batches.take());
        let opened = self.thread.take().and_then(|thread| thread.join().ok()).flatten();
        let Some(opened) = opened else { return };
        let end = || {
            if released {
                opened.records.remove(Saved::key())?;
            }
            opened.database.persist(PersistMode::SyncAll)
        };
        if let Err(e) = guarded(end) {
            opened.give_up(&e);
        }
    }
}

/// What kept the store from doing something.
enum Trouble {
    Store(fjall::Error),
    /// A panic in its code.
    Panic,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Store(fjall::Error::Io(e)) => e.fmt(f),
            Trouble::Store(e) => e.fmt(f),
            Trouble::Panic => f.write_str("its files contradict each other"),
        }
    }
}

fn guarded<T>(run: impl FnOnce() -> fjall::Result<T>) -> Result<T, Trouble> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| Trouble::Panic)?.map_err(Trouble::Store)
}

fn damaged(why: &dyn std::fmt::Display) -> String {
    format!("cannot be read: {why}. To start without the sessions in it, move it away")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfcp::codec::{self, Cause, Ie, Message, MessageType, NodeId};
    use pfcp::rules::{CommitError, OuterHeader, Seid, SessionRules, Usage};
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

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
        let back = opened.bring_back(config(), unix, Instant::now(), &mut Idle)?;
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
        let output = Arc::new(Output::new(upf));
        let store = opened.start(output.clone()).unwrap();
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
        let output = Arc::new(Output::new(Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())));
        opened.start(output).unwrap().close(true);
        let (_, new) = back(folder.path(), UNIX).unwrap();
        assert!(!new.is_old && new.node.session_count() == 0, "what was released does not come back");
    }

    #[test]
    fn a_store_that_could_not_be_written_to_the_end_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let opened = open(folder.path()).unwrap();
        opened.give_up(&Trouble::Panic);
        drop(opened);
        let (_, new) = back(folder.path(), UNIX).unwrap();
        assert!(!new.is_old && new.node.session_count() == 0);
    }

    #[test]
    fn a_damaged_store_is_an_error_or_what_is_left_of_it() {
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
