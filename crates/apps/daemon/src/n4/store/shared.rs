//! Records in a server of the Redis protocol (Valkey, Redis) that several hosts reach: one node serves, and another takes over where it ended.
//!
//! Four keys, `splitplane:{NAME}:` and: `records`, a hash of all records; `changes`, a stream that names what the last batches changed; `fence`, a hash
//! of who may write, and the number of the last batch; `lease`, who serves, which expires. Scripts in the server check the fence and write, in one
//! step. A batch is written again until it is known to be there: its number says whether it is already.

use super::lease::{HeldLease, Lease};
use super::replica::{Replica, entry};
use super::replies::Connection;
use super::{CHUNK, Changes};
use crate::config::shared_store::Settings;
use pfcp::node::{Read, Saved};
use redis::{Client, ErrorKind, RedisError, RedisResult, Script};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub use super::lease::EXIT_FENCED;
#[doc(hidden)]
pub use super::replica::read_entry;
#[doc(hidden)]
pub use super::replies::read_reply;

/// Batches that the stream of changes keeps, about: a standby that is farther behind reads all records again.
const CHANGES_KEPT: usize = 4096;
/// From one attempt to reach the server to the next.
const AGAIN: Duration = Duration::from_millis(200);
/// From one look at a lease that is to be taken to the next.
const LOOK: Duration = Duration::from_millis(20);
/// How long a standby may wait before it looks whether it is to end.
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// Errors of a server that is not ready, or no longer what it was: waiting may help.
const PASSING: [&str; 9] = ["LOADING", "BUSY", "MASTERDOWN", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "TRYAGAIN", "CLUSTERDOWN"];
/// Longest text of a server's that is logged.
const SHOWN: usize = 200;

static ACQUIRE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('PTTL', KEYS[2]) ~= -2 then return -1 end
         redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
         redis.call('HSET', KEYS[1], 'holder', ARGV[1])
         return tonumber(redis.call('HGET', KEYS[1], 'batch') or '0')",
    )
});
static RENEW: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
         redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
         return 1",
    )
});
static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
         redis.call('HSET', KEYS[1], 'holder', '')
         redis.call('DEL', KEYS[2])
         return 1",
    )
});
/// A batch that does not follow the last one tells that the server has lost those between, by a restart from older files: whoever serves by its records
/// would serve without sessions that peers believe in.
/// Of arguments the script hands on some thousand at a time: so many does Lua's stack take.
static WRITE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
         local last = tonumber(redis.call('HGET', KEYS[1], 'batch') or '0')
         if tonumber(ARGV[2]) <= last then return 1 end
         if tonumber(ARGV[2]) ~= last + 1 then return 0 end
         redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[3], ARGV[2] .. '-0', 'keys', ARGV[4])
         local removed = 6 + 2 * tonumber(ARGV[5])
         for i = 6, removed - 1, 4000 do
             redis.call('HSET', KEYS[3], unpack(ARGV, i, math.min(i + 3999, removed - 1)))
         end
         for i = removed, #ARGV, 4000 do
             redis.call('HDEL', KEYS[3], unpack(ARGV, i, math.min(i + 3999, #ARGV)))
         end
         redis.call('HSET', KEYS[1], 'batch', ARGV[2])
         return 1",
    )
});
/// The number goes on without an entry in the stream: who follows it reads all again.
static CLEAR: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return -1 end
         redis.call('UNLINK', KEYS[3])
         return redis.call('HINCRBY', KEYS[1], 'batch', 1)",
    )
});

/// Names of the keys.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) fence: String,
    pub(super) records: String,
    pub(super) changes: String,
    lease: String,
}

/// A server, and who asks it.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    keys: Keys,
    /// This process, and no other one ever.
    holder: String,
    pub(super) lease: Duration,
    pub(super) outage: Duration,
}

/// Why a server did not do what it was asked.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may later.
    Away(String),
    /// An operator must look.
    Refused(String),
}

impl From<RedisError> for Trouble {
    fn from(e: RedisError) -> Trouble {
        let what = shortened(&e.to_string());
        let passes = e.code().is_some_and(|code| PASSING.contains(&code));
        match e.kind() {
            _ if passes || e.is_io_error() || e.is_timeout() || e.is_connection_dropped() => Trouble::Away(what),
            // A key that is there already.
            ErrorKind::UnexpectedReturnType | ErrorKind::Parse => Trouble::Refused(format!("what is in it is not ours: {what}")),
            _ => Trouble::Refused(what),
        }
    }
}

/// A server may say what it likes.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

impl Server {
    fn new(settings: &Settings) -> Server {
        let key = |what| format!("splitplane:{{{}}}:{what}", settings.name);
        let keys = Keys { fence: key("fence"), records: key("records"), changes: key("changes"), lease: key("lease") };
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let holder = format!("{}/{}/{:032x}", host.trim_end(), std::process::id(), rand::random::<u128>());
        Server { client: settings.client.clone(), keys, holder, lease: settings.lease, outage: settings.outage }
    }

    fn connect(&self, patience: Duration) -> RedisResult<Connection> {
        Connection::open(&self.client, patience)
    }

    /// The connection that there is, or a new one.
    fn connected<'a>(&self, connection: &'a mut Option<Connection>, patience: Duration) -> RedisResult<&'a mut Connection> {
        let open = match connection.take() {
            Some(open) => open,
            None => self.connect(patience)?,
        };
        Ok(connection.insert(open))
    }

    fn acquire(&self, connection: &mut Connection) -> RedisResult<Option<u64>> {
        let number: i64 =
            ACQUIRE.key(&self.keys.fence).key(&self.keys.lease).arg(&self.holder).arg(self.lease.as_millis() as u64).invoke(connection)?;
        Ok(u64::try_from(number).ok())
    }

    /// Whether it is still this node's.
    pub(super) fn renew(&self, connection: &mut Option<Connection>, patience: Duration) -> RedisResult<bool> {
        let connection = self.connected(connection, patience)?;
        RENEW.key(&self.keys.fence).key(&self.keys.lease).arg(&self.holder).arg(self.lease.as_millis() as u64).invoke(connection)
    }

    pub(super) fn release(&self) -> RedisResult<()> {
        let connection = &mut self.connect(self.lease)?;
        RELEASE.key(&self.keys.fence).key(&self.keys.lease).arg(&self.holder).invoke::<i64>(connection).map(drop)
    }
}

/// The store, when it is this node's.
pub(super) struct Shared {
    server: Server,
    connection: Option<Connection>,
    lease: Lease,
    replica: Replica,
    /// The number of the last batch.
    number: u64,
}

impl Shared {
    /// Waits until this node may serve, and follows the records meanwhile; `None` if it `ends` before that; why it cannot.
    pub(super) fn wait(settings: &Settings, ends: &dyn Fn() -> bool) -> Result<Option<Shared>, String> {
        let server = Server::new(settings);
        let mut said = String::new();
        while !ends() {
            match Shared::attempt(&server, settings, ends) {
                Ok(shared) => return Ok(shared),
                Err(Trouble::Refused(why)) => return Err(why),
                Err(Trouble::Away(why)) => {
                    if why != said {
                        tracing::warn!("{}: the shared store is not reached, and is tried again: {why}", settings.shown);
                        said = why;
                    }
                    crate::process::supervisor::waiting("waits for the shared store");
                    std::thread::sleep(AGAIN);
                }
            }
        }
        Ok(None)
    }

    fn attempt(server: &Server, settings: &Settings, ends: &dyn Fn() -> bool) -> Result<Option<Shared>, Trouble> {
        // Records that are many take their time, and so do batches that others write.
        let connection = &mut server.connect(server.lease.max(LONGEST_WAIT * 4))?;
        check(connection)?;
        if let Some(what) = forgets(connection)? {
            tracing::warn!("{}: {what}", settings.shown);
        }
        let mut replica = Replica::new(settings.most_octets);
        replica.read_all(connection, &server.keys)?;
        let mut told = false;
        while !ends() {
            let left: i64 = redis::cmd("PTTL").arg(&server.keys.lease).query(connection)?;
            if left == -2 && is_settled(connection, settings.settles)? {
                let asked_at = Instant::now();
                if let Some(number) = server.acquire(connection)? {
                    return Shared::take_over(server, asked_at, replica, number).map(Some).map_err(Trouble::Refused);
                }
            }
            if left == -1 {
                return Err(Trouble::Refused(format!("its key {} has no expiry, so it is not ours: delete it", server.keys.lease)));
            }
            if !std::mem::replace(&mut told, true) && left > 0 {
                let holder: Option<String> = redis::cmd("GET").arg(&server.keys.lease).query(connection)?;
                let holder = shortened(&holder.unwrap_or_default());
                tracing::info!(holder, records = replica.len(), "standby: another node serves; this one takes over when its lease ends");
            }
            crate::process::supervisor::waiting("standby");
            let wait = u64::try_from(left).map_or(LOOK, |left| Duration::from_millis(left + 1));
            replica.follow(connection, &server.keys, Some(wait.min(LONGEST_WAIT)))?;
        }
        Ok(None)
    }

    /// The lease is this node's: nobody else writes any more.
    fn take_over(server: &Server, asked_at: Instant, mut replica: Replica, number: u64) -> Result<Shared, String> {
        let lease = Lease::keep(server.clone(), asked_at)?;
        let mut rest = || -> Result<Connection, Trouble> {
            let mut connection = server.connect(server.lease)?;
            while replica.number() != Some(number) && replica.follow(&mut connection, &server.keys, None)? {}
            if replica.number() != Some(number) {
                replica.read_all(&mut connection, &server.keys)?;
            }
            match replica.number() == Some(number) {
                true => Ok(connection),
                false => Err(Trouble::Refused("somebody else writes it, without the lease".into())),
            }
        };
        let connection = rest().map_err(|(Trouble::Away(why) | Trouble::Refused(why))| why)?;
        tracing::info!(records = replica.len(), "this node serves from now on");
        Ok(Shared { server: server.clone(), connection: Some(connection), lease, replica, number })
    }

    pub(super) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The node's own record.
    pub(super) fn own(&self) -> Option<Vec<u8>> {
        self.replica.get(&Saved::key()).cloned()
    }

    /// All records in the order of their keys, some at a time, until `give` wants no more. The copy is gone then.
    pub(super) fn read(&mut self, mut give: impl FnMut(Vec<Read>) -> bool) {
        let mut records = self.replica.take().into_iter();
        loop {
            let chunk: Vec<Read> = records.by_ref().take(CHUNK).map(|(key, value)| Read::new(&key, &value)).collect();
            if chunk.is_empty() || !give(chunk) {
                return;
            }
        }
    }

    /// What to do with records that cannot be read.
    pub(super) fn damaged(&self, why: &dyn std::fmt::Display) -> String {
        format!("cannot be read: {why}. To start without the sessions in it, delete its key {}", self.server.keys.records)
    }

    /// Deletes all records.
    pub(super) fn clear(&mut self) -> Result<(), String> {
        self.replica.take();
        let Server { keys, holder, .. } = &self.server;
        let connection = self.server.connected(&mut self.connection, self.server.lease).map_err(|e| shortened(&e.to_string()))?;
        let number: i64 = CLEAR
            .key(&keys.fence)
            .key(&keys.lease)
            .key(&keys.records)
            .arg(holder)
            .invoke(connection)
            .map_err(|e| shortened(&e.to_string()))?;
        self.number = u64::try_from(number).map_err(|_| "another node has taken over".to_owned())?;
        Ok(())
    }

    /// Writes changes, all or none, again and again until they are there. If another node has taken over, or for as long as the lease and an
    /// outage last nothing is written, this node ends.
    pub(super) fn commit(&mut self, changes: &Changes) {
        self.number += 1;
        let began = Instant::now();
        let mut said = false;
        loop {
            match self.write(changes) {
                Ok(true) => return,
                Ok(false) => return self.lease.end("another node has taken over, or the store has lost its records"),
                Err(e) => {
                    // What a connection that failed still delivers has an old number when it comes.
                    self.connection = None;
                    let e = shortened(&e.to_string());
                    if began.elapsed() >= self.server.lease + self.server.outage {
                        return self.lease.end(&format!("the shared store cannot be written: {e}"));
                    }
                    if !std::mem::replace(&mut said, true) {
                        tracing::warn!("the shared store is not written, answers wait: {e}");
                    }
                    std::thread::sleep(LOOK);
                }
            }
        }
    }

    fn write(&mut self, changes: &Changes) -> RedisResult<bool> {
        let Server { keys, holder, .. } = &self.server;
        let connection = self.server.connected(&mut self.connection, self.server.lease)?;
        let puts = changes.values().flatten().count();
        let mut script = WRITE.prepare_invoke();
        script.key(&keys.fence).key(&keys.lease).key(&keys.records).key(&keys.changes);
        script.arg(holder).arg(self.number).arg(CHANGES_KEPT).arg(entry(changes.keys())).arg(puts);
        for (key, value) in changes {
            if let Some(value) = value {
                script.arg(key).arg(value);
            }
        }
        for (key, _) in changes.iter().filter(|(_, value)| value.is_none()) {
            script.arg(key);
        }
        script.invoke(connection)
    }

    /// Another node serves when the value is dropped. With `released` it begins as a new one.
    pub(super) fn close(mut self, released: bool) -> HeldLease {
        if released {
            self.commit(&Changes::from([(Saved::key(), None)]));
        }
        HeldLease(self.lease)
    }
}

/// Refuses a server that forgets by itself what it was told.
fn check(connection: &mut Connection) -> Result<(), Trouble> {
    let memory = info(connection, "memory")?;
    let policy = field(&memory, "maxmemory_policy").unwrap_or_default();
    if field(&memory, "maxmemory").is_some_and(|most| most != "0") && policy.starts_with("allkeys") {
        let policy = shortened(policy);
        return Err(Trouble::Refused(format!(
            "it evicts any key when its memory is full ({policy}): sessions would be lost; set noeviction"
        )));
    }
    Ok(())
}

/// What a server would lose of what it was told when it ends, if anything.
fn forgets(connection: &mut Connection) -> Result<Option<&'static str>, Trouble> {
    let persistence = info(connection, "persistence")?;
    let off = field(&persistence, "aof_enabled") == Some("0");
    Ok(off.then_some(
        "the shared store writes no append-only file (aof_enabled:0): when it ends, all sessions end. Set `appendonly yes` there",
    ))
}

/// Whether nobody can still go by a lease that this server has forgotten in a restart.
fn is_settled(connection: &mut Connection, settles: Duration) -> Result<bool, Trouble> {
    let up_s = field(&info(connection, "server")?, "uptime_in_seconds").and_then(|seconds| seconds.parse().ok());
    // The difference of two whole seconds.
    Ok(up_s.is_none_or(|seconds: u64| Duration::from_secs(seconds.saturating_sub(1)) >= settles))
}

fn info(connection: &mut Connection, section: &str) -> RedisResult<String> {
    redis::cmd("INFO").arg(section).query(connection)
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Redis;

    /// Its threads ask first at once, and then not before the tests are over.
    const LEASE: Duration = Duration::from_secs(3600);

    fn settings(redis: &Redis) -> Settings {
        let settings = Settings::new(&redis.url, "upf".into(), LEASE, Duration::ZERO, 100).unwrap();
        Settings { settles: Duration::ZERO, ..settings }
    }

    fn wait(redis: &Redis) -> Result<Shared, String> {
        Shared::wait(&settings(redis), &|| false).map(Option::unwrap)
    }

    fn ask(redis: &Redis, command: &[&str]) {
        let mut connection = Client::open(&*redis.url).unwrap().get_connection().unwrap();
        redis::cmd(command[0]).arg(&command[1..]).exec(&mut connection).unwrap();
    }

    fn changes(of: &[(u8, Option<&str>)]) -> Changes {
        of.iter().map(|(key, value)| (vec![*key], value.map(|value| value.as_bytes().to_vec()))).collect()
    }

    /// The records in order, as text.
    fn records(replica: &mut Replica) -> String {
        let text = |(key, value): (Vec<u8>, Vec<u8>)| format!("{}{} ", key[0], String::from_utf8(value).unwrap());
        replica.take().into_iter().map(text).collect()
    }

    #[test]
    fn who_takes_over_has_the_last_batch_and_who_was_taken_over_from_writes_nothing_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let mut first = wait(&redis).unwrap();
        first.commit(&changes(&[(1, Some("a")), (2, Some("b")), (3, Some("c"))]));
        first.commit(&changes(&[(2, None), (3, Some("d"))]));
        // What a standby that waited sees of the lease.
        ask(&redis, &["DEL", "splitplane:{upf}:lease"]);
        let mut second = wait(&redis).unwrap();
        first.number += 1;
        assert!(!first.write(&changes(&[(1, Some("late"))])).unwrap());
        assert!(first.clear().is_err());
        // Nor does it take the lease from the other one as it goes.
        first.close(false);
        second.commit(&changes(&[(4, Some("e"))]));
        assert!(second.server.renew(&mut None, LEASE).unwrap());
        second.close(false);
        let mut third = wait(&redis).unwrap();
        assert_eq!(records(&mut third.replica), "1a 3d 4e ");
        third.close(false);
    }

    #[test]
    fn a_batch_that_comes_a_second_time_or_late_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let mut first = wait(&redis).unwrap();
        first.commit(&changes(&[(1, Some("a"))]));
        first.commit(&changes(&[(1, Some("b"))]));
        first.number -= 1;
        assert!(first.write(&changes(&[(1, Some("a"))])).unwrap());
        first.close(false);
        let mut second = wait(&redis).unwrap();
        assert_eq!(records(&mut second.replica), "1b ");
        second.close(false);
    }

    #[test]
    fn a_standby_follows_each_batch_and_reads_all_again_where_one_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let mut active = wait(&redis).unwrap();
        active.commit(&changes(&[(1, Some("a")), (2, Some("b"))]));
        let server = active.server.clone();
        let mut connection = server.connect(LEASE).unwrap();
        let mut replica = Replica::new(1 << 20);
        replica.read_all(&mut connection, &server.keys).unwrap();
        let mut see = |number: u64, expected: &str| {
            while replica.number() != Some(number) {
                assert!(replica.follow(&mut connection, &server.keys, None).unwrap(), "nothing comes after batch {:?}", replica.number());
            }
            let copy = &mut Replica::new(1 << 20);
            std::mem::swap(copy, &mut replica);
            assert_eq!(records(copy), expected);
            replica.read_all(&mut connection, &server.keys).unwrap();
            // What is behind that is not ours.
            replica.follow(&mut connection, &server.keys, None).unwrap();
            assert_eq!(replica.number(), Some(number));
        };
        // More keys than Lua's stack takes at once.
        let many: Changes = (0..10_000u32).map(|n| (n.to_be_bytes().to_vec(), Some(vec![b'x']))).collect();
        active.commit(&many);
        active.commit(&many.into_keys().map(|key| (key, None)).collect());
        active.commit(&changes(&[(2, None), (3, Some("c"))]));
        see(active.number, "1a 3c ");
        active.commit(&changes(&[(3, Some("d"))]));
        ask(&redis, &["XTRIM", "splitplane:{upf}:changes", "MAXLEN", "0"]);
        active.commit(&changes(&[(4, Some("e"))]));
        see(active.number, "1a 3d 4e ");
        active.clear().unwrap();
        active.commit(&changes(&[(5, Some("f"))]));
        see(active.number, "5f ");
        // An entry that is not ours.
        ask(&redis, &["XADD", "splitplane:{upf}:changes", "99-0", "keys", "x", "y", "z"]);
        see(active.number, "5f ");
        active.close(false);
    }

    #[test]
    fn what_is_not_ours_in_a_server_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let refused = |command: &[&str], expected: &str| {
            ask(&redis, command);
            let why = wait(&redis).err().unwrap();
            assert!(why.contains(expected), "{command:?}: {why}");
            ask(&redis, &["FLUSHALL"]);
        };
        refused(&["SET", "splitplane:{upf}:records", "x"], "WRONGTYPE");
        refused(&["SET", "splitplane:{upf}:fence", "x"], "WRONGTYPE");
        refused(&["HSET", "splitplane:{upf}:fence", "batch", "x"], "not ours");
        refused(&["SET", "splitplane:{upf}:lease", "x"], "no expiry");
        ask(&redis, &["HSET", "splitplane:{upf}:records", "x", &"x".repeat(2 << 20)]);
        let small = Settings { most_octets: 1 << 20, ..settings(&redis) };
        let why = Shared::wait(&small, &|| false).err().unwrap();
        assert!(why.contains("longer than 1 MiB"), "{why}");
        ask(&redis, &["FLUSHALL"]);
        ask(&redis, &["CONFIG", "SET", "maxmemory", "1gb"]);
        refused(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"], "allkeys-lru");
        ask(&redis, &["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
        wait(&redis).unwrap().close(false);
    }

    #[test]
    fn a_server_that_would_forget_all_sessions_when_it_ends_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let mut connection = Connection::open(&Client::open(&*redis.url).unwrap(), LEASE).unwrap();
        assert!(forgets(&mut connection).unwrap().unwrap().contains("`appendonly yes`"));
        ask(&redis, &["CONFIG", "SET", "appendonly", "yes"]);
        assert_eq!(forgets(&mut connection).unwrap(), None);
    }

    #[test]
    fn a_lease_that_a_restarted_server_may_have_forgotten_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let Some(redis) = Redis::start_or_skip(folder.path()) else { return };
        let settings = Settings { settles: LEASE, ..settings(&redis) };
        let looks = std::cell::Cell::new(0);
        let ends = || {
            looks.set(looks.get() + 1);
            looks.get() > 5
        };
        assert!(Shared::wait(&settings, &ends).unwrap().is_none());
    }
}
