//! Records in files of this host, by an embedded store: they survive the end of the process and, if so asked, of the machine.

use super::{CHUNK, Changes, intact};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use pfcp::node::{Read, Saved};
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Once, mpsc};

/// Whether a write waits for the disk.
pub use fjall::PersistMode;

/// Memory of the store: cached blocks, and records that are not in a sorted file yet, in bytes.
const CACHE: u64 = 8 << 20;
const MEMTABLE: u64 = 32 << 20;
/// Files that records wait in for that, in bytes.
const JOURNAL: u64 = 256 << 20;
/// The folder of the store's files, and the file that says that they are all there is to know.
pub(super) const RECORDS: &str = "records";
const VALID: &str = "valid";
/// What is said of a store that another process has open.
pub(super) const IN_USE: &str = "it is in use by another process";
/// The one keyspace of the database.
const KEYSPACE: &str = "n4";

/// A folder's records.
pub(super) struct Embedded {
    database: Database,
    records: Keyspace,
    folder: PathBuf,
    sync: PersistMode,
}

impl Embedded {
    /// Opens the store in a folder, which is made where there is none; why it cannot be opened.
    pub(super) fn open(folder: &Path, sync: PersistMode) -> Result<Embedded, String> {
        let io = |e: std::io::Error| e.to_string();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
        cli::files::only_files(folder).map_err(io)?;
        let (records, valid) = (folder.join(RECORDS), folder.join(VALID));
        if records.exists() && !valid.exists() {
            tracing::warn!("{}: what is there is not all there was: it could not be written to the end. It is given up", folder.display());
            std::fs::remove_dir_all(&records).map_err(io)?;
        }
        let (was_there, path) = (records.exists(), records);
        let open = move || {
            if was_there {
                intact::check(&path)?;
            }
            let database = Database::builder(&path)
                .cache_size(CACHE)
                .max_journaling_size(JOURNAL)
                .worker_threads(1)
                .manual_journal_persist(true)
                .open()?;
            // The database gives up a keyspace without its first file, and would go on without a record.
            if was_there && !database.keyspace_exists(KEYSPACE) {
                return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "files of it are missing").into());
            }
            let records = database.keyspace(KEYSPACE, || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE))?;
            Ok((database, records))
        };
        let (database, records) = apart(open).map_err(|e| match e {
            Trouble::Store(fjall::Error::Locked) => IN_USE.to_owned(),
            e => damaged(&e),
        })?;
        // On the disk too, before the first record is: without it they are given up.
        File::create(&valid).and_then(|file| file.sync_all()).map_err(io)?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Ok(Embedded { database, records, folder: folder.to_owned(), sync })
    }

    /// The node's own record.
    pub(super) fn own(&self) -> Result<Option<Vec<u8>>, String> {
        let own = guarded(|| self.records.get(Saved::key())).map_err(|e| damaged(&e))?;
        Ok(own.map(|own| own.to_vec()))
    }

    /// All records in the order of their keys, some at a time, until `give` wants no more.
    pub(super) fn read(&self, mut give: impl FnMut(Vec<Read>) -> bool) -> Result<(), String> {
        let read = || {
            let mut records = self.records.iter();
            loop {
                let chunk = records.by_ref().take(CHUNK).map(|record| record.into_inner().map(|(key, value)| Read::new(&key, &value)));
                let chunk: Vec<Read> = chunk.collect::<Result<_, _>>()?;
                if chunk.is_empty() || !give(chunk) {
                    return Ok(());
                }
            }
        };
        guarded(read).map_err(|e| damaged(&e))
    }

    /// Deletes all records.
    pub(super) fn clear(&self) -> Result<(), String> {
        guarded(|| self.records.clear()).map_err(|e| damaged(&e))
    }

    /// Writes changes, all or none.
    pub(super) fn commit(&self, changes: Changes) -> Result<(), String> {
        let write = || {
            let mut batch = self.database.batch().durability(Some(self.sync));
            for (key, value) in changes {
                match value {
                    Some(value) => batch.insert(&self.records, key, value),
                    None => batch.remove(&self.records, key),
                }
            }
            batch.commit()
        };
        guarded(write).map_err(|e| e.to_string())
    }

    /// It cannot be written: what is in it does not come back.
    pub(super) fn give_up(&self, why: &str) {
        let folder = self.folder.display();
        tracing::error!(
            "{folder}: cannot be written: {why}. Sessions are no longer kept: after a crash this will be a restart for our peers"
        );
        if let Err(e) = std::fs::remove_file(self.folder.join(VALID)) {
            tracing::error!("{folder}: {e}: delete the folder before the next start, or sessions come back that are not what peers think");
        }
    }

    /// Has all on the disk.
    pub(super) fn close(&self, released: bool) -> Result<(), String> {
        let end = || {
            if released {
                self.records.remove(Saved::key())?;
            }
            self.database.persist(PersistMode::SyncAll)
        };
        guarded(end).map_err(|e| e.to_string())
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

/// What [`apart`] is told of what runs on the other thread.
type Outcome<T> = Result<fjall::Result<T>, Panicked>;

/// It is not going to end.
struct Panicked;

thread_local! {
    /// Tells of a panic of this thread, which is not to unwind.
    static APART: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// As [`guarded`], for what panics at damaged files while it holds locks that its own destructors take: unwinding would abort the process without a
/// word of what to do. It runs on a thread of its own, which stops where it panics and is left there with what it holds. That includes the standard library's
/// lock of the panic hook, for reading: who sets another hook afterwards waits for ever. Nothing in the daemon does; libtest does at its end, so tests of
/// damaged stores run in a process of their own.
fn apart<T: Send + 'static>(run: impl FnOnce() -> fjall::Result<T> + Send + 'static) -> Result<T, Trouble> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A panic without a message for it is anybody's, also of a thread that is ending.
            let Some(tell) = APART.try_with(|apart| apart.borrow_mut().take()).ok().flatten() else { return before(panic) };
            tracing::error!("the embedded store: {panic}");
            tell();
            loop {
                std::thread::park();
            }
        }));
    });
    let (ended, outcome) = mpsc::channel::<Outcome<T>>();
    let panicked = ended.clone();
    let other = move || {
        APART.set(Some(Box::new(move || drop(panicked.send(Err(Panicked))))));
        let outcome = run();
        APART.set(None);
        drop(ended.send(Ok(outcome)));
    };
    std::thread::Builder::new().name("store-open".to_owned()).spawn(other).map_err(|error| Trouble::Store(error.into()))?;
    match outcome.recv() {
        Ok(Ok(outcome)) => outcome.map_err(Trouble::Store),
        Ok(Err(Panicked)) | Err(mpsc::RecvError) => Err(Trouble::Panic),
    }
}

/// What to do where the store cannot be used.
pub(super) const WITHOUT_IT: &str = "To start without the sessions in it, move it away";

/// What is said of a store that cannot be read.
pub(super) fn damaged(why: &dyn std::fmt::Display) -> String {
    format!("cannot be read: {why}. {WITHOUT_IT}")
}
