//! What a running UPF is asked and told from outside, by the control socket and by HTTP alike.
//!
//! Asking does not disturb it: the agent answers a question between its other work, and does a bounded part of a long one at a time. Each
//! change is in the audit log, which is the log's target `audit`.

use super::request;
use crate::config::{Config, read_filter};
use crate::manage::capture::{LookQuery, SeenPart, whose};
use crate::manage::report::Report;
use crate::manage::request::Reloaded;
use crate::manage::sessions::{MOST_LOOKED_AT, SessionDetail, SessionPage, SessionQuery, seid_text};
use crate::manage::socket::{Caller, Refused, Server};
use cli::failure::Failure;
use cli::secrets::without_keys;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env::VarError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Longest request.
pub const MAX_REQUEST: u64 = 64 << 10;
/// How long the agent may take for a part of an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a reload may take: it opens ports and fills tables. `splitplane reload` waits a little longer.
const RELOAD_PATIENCE: Duration = Duration::from_secs(110);
/// How long an answer waits for packets that are looked for, and how often it looks.
const WAITS: Duration = Duration::from_millis(500);
const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// Name of the socket, in a folder of its own, and that folder of root's and of the service's.
const NAME: &str = "upf.sock";
const OF_ROOT: &str = "/run/splitplane";

/// Keys of `[split]` by which sessions are placed, and that change while the UPF runs.
const PLACEMENT: [&str; 7] = ["policy", "rules", "heavy", "updates_per_second", "min_stay_ms", "window_ms", "margin"];

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Everything but single sessions.
    Report {},
    /// Sessions, a page at a time.
    Sessions(SessionQuery),
    /// One session whole.
    Session {
        /// Our SEID.
        #[serde(with = "seid_text")]
        seid: u64,
    },
    /// What is logged from now on.
    Log {
        /// As in `RUST_LOG`: `info`, or `warn,pfcp=debug`.
        filter: String,
    },
    /// Whether new sessions and associations are refused from now on: those that there are go on until they end.
    Drain {
        /// Refused, or no longer.
        on: bool,
    },
    /// Copies of the next packets are made.
    Look(LookQuery),
    /// What was seen since the last question; waits a moment for it.
    Seen {
        /// The number that was answered to `look`.
        id: u32,
        /// With the interpreter's story of each packet.
        story: bool,
    },
    /// No more copies are made.
    EndLook {
        /// The number.
        id: u32,
    },
    /// Sessions are placed by these keys of `[split]` from now on.
    Placement {
        /// The keys with their values; the others stay.
        split: BTreeMap<String, serde_json::Value>,
    },
    /// The configuration file is read again, and what changed is taken over.
    Reload {
        /// Only says what would change.
        dry_run: bool,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// Everything but single sessions.
    Report(Box<Report>),
    /// A page.
    Sessions(SessionPage),
    /// One session.
    Session(Box<SessionDetail>),
    /// What a reload changed, or would change.
    Reloaded(Reloaded),
    /// Packets are copied from now on.
    Looking {
        /// To ask with.
        id: u32,
    },
    /// Packets that were seen.
    Seen(SeenPart),
    /// It is done.
    Done {},
    /// Nothing was done.
    Error {
        /// Why.
        message: String,
    },
}

impl From<Refused> for Reply {
    fn from(Refused(message): Refused) -> Reply {
        Reply::Error { message }
    }
}

/// Sets what is logged, or says why not.
type SetLog = dyn Fn(&str) -> Result<(), String> + Send + Sync;

static LOG: OnceLock<Box<SetLog>> = OnceLock::new();

/// What [`Request::Log`] calls. The program that has the log sets it, once.
pub fn on_log(set: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) {
    let _ = LOG.set(Box::new(set));
}

/// Asks a UPF that runs in this process.
#[derive(Clone)]
pub struct Control {
    agent: Sender<request::Request>,
    /// The configuration file.
    file: Option<Arc<Path>>,
    /// Held by the one that reads it.
    reloading: Arc<Mutex<()>>,
    /// See [`PATIENCE`] and [`RELOAD_PATIENCE`].
    patience: [Duration; 2],
}

impl Control {
    /// Of the agent behind this channel.
    pub fn new(agent: Sender<request::Request>) -> Control {
        Control { agent, file: None, reloading: Arc::default(), patience: [PATIENCE, RELOAD_PATIENCE] }
    }

    /// With the file that a reload reads.
    pub fn with_file(self, path: &Path) -> Control {
        Control { file: Some(path.into()), ..self }
    }

    /// Does what a request asks for, or says why not; `who` asks, for the audit log.
    pub fn answer(&self, request: Request, who: &str) -> Reply {
        let result = match request {
            Request::Report {} => self.ask(|reply| request::Request::Report { reply }).map(|r| Reply::Report(Box::new(r))),
            Request::Sessions(query) => self.sessions(query).map(Reply::Sessions),
            Request::Session { seid } => match self.ask(|reply| request::Request::Session { seid, reply }) {
                Ok(Some(session)) => Ok(Reply::Session(Box::new(session))),
                Ok(None) => Err(format!("there is no session {}", seid_text::text(seid))),
                Err(why) => Err(why),
            },
            Request::Log { filter } => audited(who, "log", &filter, set_log(&filter)),
            Request::Drain { on } => {
                let result = self.ask(|reply| request::Request::Drain { on, reply });
                audited(who, "drain", if on { "on" } else { "off" }, result)
            }
            Request::Look(query) => {
                let value = format!("{} packets of {}", query.count, whose(query.ue));
                let result = query.validate().and_then(|()| self.ask(|reply| request::Request::Look { query, who: who.to_owned(), reply }));
                let _ = audited(who, "look", &value, result.as_ref().map(|_| ()).map_err(String::clone));
                result.map(|id| Reply::Looking { id })
            }
            Request::Seen { id, story } => self.seen(id, story).map(Reply::Seen),
            Request::Placement { split } => {
                let value = serde_json::to_string(&split).unwrap_or_default();
                let result = self.place(&split);
                note(who, "placement", &value, &result.as_ref().map_or_else(String::clone, Reloaded::outcome));
                result.map(Reply::Reloaded)
            }
            Request::EndLook { id } => self.ask(|reply| request::Request::EndLook { id, reply }).map(|()| Reply::Done {}),
            Request::Reload { dry_run } => {
                let result = self.reload(dry_run);
                if !dry_run {
                    let value = result.as_ref().map_or(String::new(), |reloaded| reloaded.changes.join("; "));
                    let outcome = result.as_ref().map_or_else(String::clone, Reloaded::outcome);
                    note(who, "reload", &value, &outcome);
                }
                result.map(Reply::Reloaded)
            }
        };
        result.unwrap_or_else(|message| Reply::Error { message })
    }

    /// What was seen, as soon as there is something. Stories are told here: the agent has other work.
    fn seen(&self, id: u32, story: bool) -> Result<SeenPart, String> {
        let end = Instant::now() + WAITS;
        loop {
            let part = self.ask(|reply| request::Request::Seen { id, story, reply })??.tell();
            if !part.packets.is_empty() || part.left == 0 || Instant::now() >= end {
                return Ok(part);
            }
            std::thread::sleep(LOOKS_EVERY);
        }
    }

    fn reload(&self, dry_run: bool) -> Result<Reloaded, String> {
        let Some(file) = &self.file else { return Err("this UPF has no configuration file".into()) };
        // Memory for one file and what is made of it, however many ask.
        let Ok(_one) = self.reloading.try_lock() else { return Err("another reload goes on; nothing was changed".into()) };
        let config = Config::load_again(file).map_err(|e| format!("{e}; nothing was changed"))?;
        self.ask_reload(|reply| request::Request::Reload { config: Box::new(config), based_on: None, dry_run, reply })
    }

    /// As a reload of the configuration that runs with other keys of `[split]`.
    fn place(&self, split: &BTreeMap<String, serde_json::Value>) -> Result<Reloaded, String> {
        let based_on = self.ask(|reply| request::Request::Text { reply })?.ok_or("this UPF has no configuration file")?;
        let config = placed(split, &based_on)?;
        self.ask_reload(|reply| request::Request::Reload { config: Box::new(config), based_on: Some(based_on), dry_run: false, reply })
    }

    /// A page: the agent looks through a bounded number of sessions at a time, and does its other work in between.
    fn sessions(&self, query: SessionQuery) -> Result<SessionPage, String> {
        query.validate()?;
        let (most, mut rest) = (query.page(), query);
        let mut page = SessionPage::default();
        loop {
            rest.limit = u32::try_from(most - page.sessions.len()).ok();
            let part = self.ask(|reply| request::Request::Sessions { query: rest.clone(), reply })?;
            page.sessions.extend(part.sessions);
            (page.next, page.total) = (part.next, part.total);
            page.looked_at += part.looked_at;
            if part.next.is_none() || page.sessions.len() >= most || page.looked_at >= MOST_LOOKED_AT {
                return Ok(page);
            }
            rest.after = part.next;
        }
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> request::Request) -> Result<T, String> {
        self.ask_for(self.patience[0], request).map_err(|why| match why {
            Unanswered::Ended => why.to_string(),
            Unanswered::Late => format!("{why}: it starts, ends, or is overloaded"),
        })
    }

    /// A change that may take its time: who asks is not told that nothing was changed while it is made.
    fn ask_reload(&self, request: impl FnOnce(Sender<Result<Reloaded, String>>) -> request::Request) -> Result<Reloaded, String> {
        self.ask_for(self.patience[1], request)
            .map_err(|why| match why {
                Unanswered::Ended => why.to_string(),
                Unanswered::Late => format!("{why}: it may still take the change over; the log says so then (`audit: late`)"),
            })
            .flatten()
    }

    fn ask_for<T>(&self, patience: Duration, request: impl FnOnce(Sender<T>) -> request::Request) -> Result<T, Unanswered> {
        let (reply, answer) = bounded(1);
        self.agent.send(request(reply)).map_err(|_| Unanswered::Ended)?;
        answer.recv_timeout(patience).map_err(|e| match e {
            RecvTimeoutError::Timeout => Unanswered::Late,
            RecvTimeoutError::Disconnected => Unanswered::Ended,
        })
    }
}

/// Why there is no answer of the agent's.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("the UPF is ending")]
    Ended,
    #[error("the agent has not answered in time")]
    Late,
}

/// The configuration of that text with other keys of `[split]`.
pub(crate) fn placed(split: &BTreeMap<String, serde_json::Value>, based_on: &str) -> Result<Config, String> {
    if let Some(other) = split.keys().find(|key| !PLACEMENT.contains(&key.as_str())) {
        let other: String = other.escape_debug().take(100).collect();
        return Err(format!("split.{other}: expected one of {}; nothing was changed", PLACEMENT.join(", ")));
    }
    let mut file: toml::Table = toml::from_str(based_on).map_err(|e| e.to_string())?;
    let section = file.entry("split").or_insert_with(|| toml::Table::new().into());
    let section = section.as_table_mut().ok_or("split: expected a section")?;
    for (key, value) in split {
        let value = toml::Value::try_from(value).map_err(|e| format!("split.{key}: {e}; nothing was changed"))?;
        section.insert(key.clone(), value);
    }
    let text = toml::to_string(&file).map_err(|e| e.to_string())?;
    Config::parse(&text).map_err(|e| format!("{e}; nothing was changed"))
}

/// What `RUST_LOG` asks for; `None`: nothing, as it is not set or empty.
///
/// # Errors
/// If it is no text.
pub fn asked_filter() -> Result<Option<String>, String> {
    match std::env::var("RUST_LOG") {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err("expected UTF-8".into()),
    }
}

/// Sets what is logged.
pub(crate) fn set_log(filter: &str) -> Result<(), String> {
    read_filter(filter).map_err(|why| format!("filter: {why}"))?;
    match LOG.get() {
        Some(set) => set(filter),
        None => Err("this program's log cannot be changed".into()),
    }
}

/// Notes a change, and what came of it.
fn audited(who: &str, what: &str, value: &str, result: Result<(), String>) -> Result<Reply, String> {
    note(who, what, value, result.as_ref().err().map_or("done", String::as_str));
    result.map(|()| Reply::Done {})
}

/// A line of the audit log: of a change, or that users' packets were given to somebody.
pub(crate) fn note(who: &str, what: &str, value: &str, outcome: &str) {
    // It is what a client has sent.
    let (value, outcome) = (without_keys(value), without_keys(outcome));
    tracing::info!(target: "audit", who, what, value, outcome, "audit: asked for");
}

/// Where a UPF listens if nothing else is said: in its service's folder (`RuntimeDirectory=` of systemd), in `/run/splitplane` for root, else in the
/// user's runtime folder.
pub fn usual_path() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name);
    usual(variable("RUNTIME_DIRECTORY"), rustix::process::geteuid().is_root(), variable("XDG_RUNTIME_DIR"))
}

/// Where `splitplane show` asks if nothing else is said: at the same place if something is there, else where a service of this machine's listens.
pub fn path_to_ask() -> PathBuf {
    let of_services = Path::new(OF_ROOT).join(NAME);
    usual_path().filter(|path| path.exists()).unwrap_or(of_services)
}

fn usual(of_service: Option<OsString>, is_root: bool, of_user: Option<OsString>) -> Option<PathBuf> {
    let given = |folder: Option<OsString>| folder.filter(|folder| !folder.is_empty());
    // A service may have several, with colons in between.
    let of_service = given(of_service).and_then(|folders| std::env::split_paths(&folders).next());
    let of_user = given(of_user).map(|folder| Path::new(&folder).join("splitplane"));
    of_service.or_else(|| is_root.then(|| PathBuf::from(OF_ROOT))).or(of_user).map(|folder| folder.join(NAME))
}

/// Listens at the path that was configured; without one at the usual path, where another UPF may listen already, which is no fault.
///
/// # Errors
/// If a path was configured and cannot be used.
pub fn listen(configured: Option<&Path>, control: Control) -> Result<Option<Server>, Failure> {
    let answer = move |request: Request, caller: Caller| control.answer(request, &caller.to_string());
    if let Some(path) = configured {
        return Server::start(path, MAX_REQUEST, answer).map(Some);
    }
    let Some(path) = usual_path() else {
        tracing::info!("no control socket: XDG_RUNTIME_DIR is not set, nor is control.socket");
        return Ok(None);
    };
    let started = folder_for(&path).and_then(|()| Server::start(&path, MAX_REQUEST, answer));
    match started {
        Ok(server) => {
            tracing::info!("control socket: {}", path.display());
            Ok(Some(server))
        }
        Err(why) => {
            tracing::warn!("{why}: `splitplane show` cannot ask this UPF; set control.socket to another path");
            Ok(None)
        }
    }
}

fn folder_for(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    let Some(folder) = path.parent() else { return Ok(()) };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder);
    made.map_err(|e| Failure::Usage(format!("control socket: cannot make {}: {e}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_root_and_a_user_have_a_usual_place_each() {
        let path = |of_service: &str, is_root, of_user: &str| usual(Some(of_service.into()), is_root, Some(of_user.into()));
        for (of_service, is_root, of_user, expected) in [
            ("/run/splitplane:/run/other", false, "", Some("/run/splitplane/upf.sock")),
            ("/run/upf2", true, "/run/user/0", Some("/run/upf2/upf.sock")),
            ("", true, "/run/user/0", Some("/run/splitplane/upf.sock")),
            ("", false, "/run/user/1000", Some("/run/user/1000/splitplane/upf.sock")),
            ("", false, "", None),
        ] {
            assert_eq!(path(of_service, is_root, of_user), expected.map(PathBuf::from), "{of_service:?} {is_root} {of_user:?}");
        }
        assert_eq!(usual(None, false, None), None);
    }

    /// An agent with a million sessions, of which the last one alone is asked for, and looks at 512 at a time: what it was asked for in all.
    fn million(asked: crossbeam_channel::Receiver<request::Request>) -> std::thread::JoinHandle<u64> {
        use crate::manage::sessions::SessionRow;
        const ALL: u64 = 1_000_000;
        std::thread::spawn(move || {
            let mut parts = 0;
            for request in asked {
                let request::Request::Sessions { query, reply } = request else { break };
                parts += 1;
                let from = query.after.unwrap_or(0);
                let to = (from + 512).min(ALL);
                let sessions = if to == ALL { vec![SessionRow { seid: ALL, ..SessionRow::default() }] } else { Vec::new() };
                let _ = reply.send(SessionPage { sessions, next: (to < ALL).then_some(to), total: ALL, looked_at: to - from });
            }
            parts
        })
    }

    /// One that takes longer than any other answer may: opened ports, full tables.
    #[test]
    fn a_reload_that_takes_its_time_is_not_said_to_have_failed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), include_str!("../../../../../docs/upf.example.toml")).unwrap();
        let (agent, asked) = crossbeam_channel::unbounded();
        let agent = Control::new(agent).with_file(file.path());
        let (now, long) = (Duration::from_millis(1), Duration::from_secs(60));
        let slow = std::thread::spawn(move || {
            let mut waiting = Vec::new();
            for request in asked {
                match request {
                    request::Request::Reload { reply, .. } if waiting.is_empty() => {
                        std::thread::sleep(20 * now);
                        let changes = vec!["a change".to_owned()];
                        let _ = reply.send(Ok(Reloaded { changes, ..Reloaded::default() }));
                    }
                    other => waiting.push(other),
                }
            }
        });
        let answer = |patience, request| Control { patience, ..agent.clone() }.answer(request, "a test");
        let reload = || Request::Reload { dry_run: false };
        assert!(matches!(answer([now, long], reload()), Reply::Reloaded(of) if of.changes == ["a change"]));
        // An agent that does not answer at all.
        let Reply::Error { message } = answer([now, long], Request::Report {}) else { panic!("nobody answers") };
        assert!(message.contains("overloaded"), "{message}");
        let Reply::Error { message } = answer([long, now], reload()) else { panic!("nobody answers") };
        assert!(message.contains("may still take the change over") && !message.contains("nothing was changed"), "{message}");
        drop(agent);
        slow.join().unwrap();
    }

    /// Each was a thread that waited for ever, or took memory without end.
    #[test]
    fn a_reload_reads_a_file_of_bounded_length_and_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (fifo, long) = (folder.path().join("fifo"), folder.path().join("long"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        std::fs::File::create(&long).unwrap().set_len((16 << 20) + 1).unwrap();
        let (agent, asked) = crossbeam_channel::unbounded();
        let agent = Control::new(agent);
        let reload = |control: &Control| {
            let Reply::Error { message } = control.answer(Request::Reload { dry_run: true }, "a test") else { panic!("it is taken") };
            message
        };
        for (path, says) in [(&*fifo, "not a regular file"), (Path::new("/dev/zero"), "not a regular file"), (&*long, "longer than 16 MiB")]
        {
            let why = reload(&agent.clone().with_file(path));
            assert!(why.contains(says) && why.ends_with("nothing was changed"), "{why}");
        }
        let file = folder.path().join("upf.toml");
        std::fs::write(&file, include_str!("../../../../../docs/upf.example.toml")).unwrap();
        let control = agent.with_file(&file);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| reload(&control));
            let request::Request::Reload { reply, .. } = asked.recv().unwrap() else { panic!("a reload") };
            assert_eq!(reload(&control), "another reload goes on; nothing was changed");
            reply.send(Err("no".into())).unwrap();
            assert_eq!(first.join().unwrap(), "no");
        });
    }

    #[test]
    fn a_search_through_a_million_sessions_answers_after_some_and_goes_on_where_it_stopped() {
        let (agent, asked) = crossbeam_channel::unbounded();
        let million = million(asked);
        let control = Control::new(agent);
        let mut query = SessionQuery { dnn: Some("rare".into()), ..SessionQuery::default() };
        let (mut pages, mut looked_at, mut found) = (0, 0, Vec::new());
        loop {
            let page = control.sessions(query.clone()).unwrap();
            assert!(page.looked_at <= MOST_LOOKED_AT + 512 && page.total == 1_000_000, "{page:?}");
            (pages, looked_at) = (pages + 1, looked_at + page.looked_at);
            found.extend(page.sessions.into_iter().map(|session| session.seid));
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        assert_eq!((pages, looked_at, found), (62, 1_000_000, vec![1_000_000]));
        drop(control);
        assert_eq!(million.join().unwrap(), 1_000_000_u64.div_ceil(512));
    }
}
