//! The control socket: operators' commands to a running daemon, a line of JSON each way. The socket's file mode decides who may use it.
//!
//! Input is hostile until parsed: line length, number of connections and idle time are limited. Anything but a
//! request is answered with an error, counted, and closes the connection.

use crate::failure::Failure;
use crate::report::Count;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest request: a file of 131,072 rules in their longest form is below.
const MAX_REQUEST: u64 = 32 << 20;
/// Longest reply that a client takes: all rules of the largest table.
const MAX_REPLY: u64 = 256 << 20;
/// Connections at a time: operators and their scripts, not users.
const MAX_CONNECTIONS: usize = 8;
/// A connection that says nothing, or does not read, for so long is closed.
const PATIENCE: Duration = Duration::from_secs(10);
/// A client waits longer: a large request takes its time.
const CLIENT_PATIENCE: Duration = Duration::from_secs(120);

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// New rules, all or none.
    Add {
        /// As text.
        rules: Vec<RuleLine>,
    },
    /// Rules go, all or none.
    Delete {
        /// Which: by match or by `id=`.
        rules: Vec<RuleLine>,
    },
    /// All rules with their counts.
    List {},
}

/// A line of text, and where it stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleLine {
    /// From 1.
    pub line: u64,
    /// The rule.
    pub text: String,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// It is done.
    Changed {
        /// The rules that came or went, with what they had counted.
        rules: Vec<RuleRow>,
    },
    /// The rules.
    Rules {
        /// In the order of their numbers.
        rules: Vec<RuleRow>,
        /// Packets by path.
        ways: BTreeMap<String, Count>,
        /// Rules that fit.
        capacity: u32,
    },
    /// Nothing was done.
    Error {
        /// The line at fault.
        line: Option<u64>,
        /// Why.
        message: String,
    },
}

/// A rule that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRow {
    /// Its number.
    pub id: u64,
    /// As text.
    pub rule: String,
    /// Packets that it took.
    pub packets: u64,
    /// Bytes of their frames as received.
    pub bytes: u64,
}

/// A socket that is listened to. Stopped by [`Server::stop`] or on drop.
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    connections: AtomicUsize,
    /// Requests that were none.
    malformed: AtomicU64,
}

impl Server {
    /// Listens at `path`, with mode 0600 from the start. An existing socket without a listener is replaced.
    pub fn start(path: &Path, answer: impl Fn(Request) -> Reply + Send + Sync + 'static) -> Result<Server, Failure> {
        let listener = bind(path)?;
        let shared = Arc::new(Shared::default());
        let (for_thread, answer) = (shared.clone(), Arc::new(answer));
        let accept = move || {
            for stream in listener.incoming() {
                if for_thread.stop.load(SeqCst) {
                    return;
                }
                match stream {
                    Ok(stream) => serve_on_a_thread(stream, &for_thread, &answer),
                    Err(e) => {
                        tracing::warn!("control socket: {e}");
                        // Out of descriptors, most likely: not at full speed.
                        std::thread::sleep(Duration::from_millis(100));
                    }
                }
            }
        };
        let listener = std::thread::Builder::new().name("control".into()).spawn(accept);
        let listener = listener.map_err(|e| Failure::Failed(format!("cannot start the control socket: {e}")))?;
        Ok(Server { path: path.to_owned(), shared, listener: Some(listener) })
    }

    /// Requests so far that were none.
    #[cfg(test)]
    pub fn malformed(&self) -> u64 {
        self.shared.malformed.load(SeqCst)
    }

    /// Ends it; connections that are open end by themselves.
    pub fn stop(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        // Wakes the listener, who then looks.
        if UnixStream::connect(&self.path).is_ok()
            && let Some(listener) = self.listener.take()
        {
            let _ = listener.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The socket is made in a folder that only we can enter, and moved to its place when its mode is set.
fn bind(path: &Path) -> Result<UnixListener, Failure> {
    let fail = |what: &str| Failure::Usage(format!("control socket {}: {what}", path.display()));
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => return Err(fail("there is a file of that name already")),
        Ok(_) if UnixStream::connect(path).is_ok() => return Err(fail("another program listens there")),
        _ => {}
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = parent.join(format!(".sp{}", std::process::id()));
    let within = folder.join("s");
    std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|e| fail(&format!("cannot make {}: {e}", folder.display())))?;
    let made = UnixListener::bind(&within).and_then(|listener| {
        std::fs::set_permissions(&within, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&within, path)?;
        Ok(listener)
    });
    let _ = std::fs::remove_file(&within);
    let _ = std::fs::remove_dir(&folder);
    made.map_err(|e| fail(&e.to_string()))
}

fn serve_on_a_thread(stream: UnixStream, shared: &Arc<Shared>, answer: &Arc<impl Fn(Request) -> Reply + Send + Sync + 'static>) {
    if shared.connections.fetch_add(1, SeqCst) >= MAX_CONNECTIONS {
        shared.connections.fetch_sub(1, SeqCst);
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = write_line(&stream, &error(format!("{MAX_CONNECTIONS} connections are open already")));
        return;
    }
    let (shared, answer) = (shared.clone(), answer.clone());
    let serve = {
        let shared = shared.clone();
        move || {
            // The number must go down whatever happens.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| serve(&stream, &shared, &*answer)));
            shared.connections.fetch_sub(1, SeqCst);
            match result {
                Ok(Err(e)) => tracing::debug!("control connection: {e}"),
                Ok(Ok(())) => {}
                Err(_) => tracing::error!("control request failed: this is a bug"),
            }
        }
    };
    if std::thread::Builder::new().name("command".into()).spawn(serve).is_err() {
        shared.connections.fetch_sub(1, SeqCst);
    }
}

/// Answers the lines of a connection until it ends.
fn serve(stream: &UnixStream, shared: &Shared, answer: &impl Fn(Request) -> Reply) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    while !shared.stop.load(SeqCst) {
        let mut line = Vec::new();
        reader.by_ref().take(MAX_REQUEST + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let malformed = |message: String| {
            shared.malformed.fetch_add(1, SeqCst);
            tracing::warn!("control request refused: {message}");
            write_line(stream, &error(message))
        };
        if line.len() as u64 > MAX_REQUEST {
            return malformed(format!("a request of more than {MAX_REQUEST} bytes"));
        }
        match read(&line, "a request") {
            Ok(request) => write_line(stream, &answer(request))?,
            Err(why) => return malformed(why),
        }
    }
    Ok(())
}

/// A line of the socket; why it is not what it should be, in words fit for a log: serde_json quotes what it did not expect.
pub fn read<T: serde::de::DeserializeOwned>(line: &[u8], what: &str) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|e| format!("not {what}: {}", e.to_string().escape_debug().take(200).collect::<String>()))
}

fn error(message: String) -> Reply {
    Reply::Error { line: None, message }
}

fn write_line(mut stream: &UnixStream, reply: &Reply) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(reply)?;
    text.push(b'\n');
    stream.write_all(&text)
}

/// Asks the daemon that listens at `path`.
pub fn ask(path: &Path, request: &Request) -> Result<Reply, Failure> {
    let at = |e: &dyn std::fmt::Display| Failure::Failed(format!("control socket {}: {e}", path.display()));
    let mut stream = UnixStream::connect(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => at(&format!("{e}; is `splitplane run` running, with this `ceupf.control`?")),
        _ => at(&e),
    })?;
    stream.set_read_timeout(Some(CLIENT_PATIENCE)).map_err(|e| at(&e))?;
    let mut text = serde_json::to_vec(request).map_err(|e| at(&e))?;
    text.push(b'\n');
    if text.len() as u64 > MAX_REQUEST {
        return Err(Failure::Usage(format!("{} bytes are too many for one request; {MAX_REQUEST} are the most", text.len())));
    }
    // A daemon that refuses early closes; its answer says why.
    let written = stream.write_all(&text);
    let mut line = Vec::new();
    BufReader::new(stream).take(MAX_REPLY).read_until(b'\n', &mut line).map_err(|e| at(&e))?;
    if line.is_empty() {
        written.map_err(|e| at(&e))?;
        return Err(at(&"the daemon did not answer"));
    }
    read(&line, "a response").map_err(|why| at(&why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(request: Request) -> Reply {
        match request {
            Request::List {} => Reply::Rules { rules: Vec::new(), ways: BTreeMap::new(), capacity: 7 },
            Request::Add { rules } | Request::Delete { rules } => {
                Reply::Error { line: rules.first().map(|r| r.line), message: rules.iter().map(|r| r.text.as_str()).collect() }
            }
        }
    }

    /// Raw bytes to the socket; what is answered until it closes.
    fn raw(path: &Path, bytes: &[u8]) -> String {
        let mut stream = UnixStream::connect(path).unwrap();
        // Who refuses early closes before all is written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn requests_are_answered_and_the_socket_is_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let server = Server::start(&path, echo).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        let line = RuleLine { line: 3, text: "encap".into() };
        assert_eq!(ask(&path, &Request::Add { rules: vec![line] }).unwrap(), Reply::Error { line: Some(3), message: "encap".into() });
        // Several on one connection.
        assert_eq!(raw(&path, b"{\"do\":\"list\"}\n{\"do\":\"list\"}\n").lines().count(), 2);
        assert!(Server::start(&path, echo).is_err_and(|e| e.to_string().contains("another program listens there")));
        server.stop();
        assert!(!path.exists());
        assert!(ask(&path, &Request::List {}).is_err_and(|e| e.to_string().contains("is `splitplane run` running")));
    }

    #[test]
    fn what_is_no_request_is_refused_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let server = Server::start(&path, echo).unwrap();
        let mut nested = b"{\"do\":".to_vec();
        nested.extend(vec![b'['; 1 << 20]);
        let hostile: [&[u8]; 7] = [
            b"\n",
            b"\xff\xfe\x00\n",
            b"{\"do\":\"drop\"}\n",
            b"{\"do\":\"list\",\"x\":1}\n",
            b"{\"do\":\"add\",\"rules\":[{\"line\":-1,\"text\":\"\"}]}\n",
            b"{\"do\":\"add\",\"rules\":[{\"line\":1,\"text\":\"\"",
            &nested,
        ];
        for (i, bytes) in hostile.iter().enumerate() {
            let answer = raw(&path, bytes);
            assert!(answer.contains("not a request") && answer.len() < 400, "{i}: {answer}");
            assert_eq!(server.malformed(), i as u64 + 1);
        }
        assert!(raw(&path, &vec![b' '; MAX_REQUEST as usize + 2]).contains("more than"));
        assert_eq!(server.malformed(), hostile.len() as u64 + 1);
        assert!(matches!(ask(&path, &Request::List {}), Ok(Reply::Rules { capacity: 7, .. })), "it goes on");
    }

    #[test]
    fn a_dead_socket_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Server::start(&path, echo).unwrap());
        std::fs::write(&path, "precious").unwrap();
        assert!(Server::start(&path, echo).is_err_and(|e| e.to_string().contains("a file of that name")));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        let nowhere = folder.path().join("none/s.sock");
        assert!(Server::start(&nowhere, echo).is_err_and(|e| e.to_string().contains("cannot make")));
    }

    #[test]
    fn there_are_not_too_many_connections() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let _server = Server::start(&path, echo).unwrap();
        let mut held = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            // Answered once, so that it counts.
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(b"{\"do\":\"list\"}\n").unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            held.push(stream);
        }
        assert!(raw(&path, b"").contains("connections are open already"));
        drop(held);
        // They end on threads of their own.
        while !matches!(ask(&path, &Request::List {}), Ok(Reply::Rules { .. })) {
            std::thread::yield_now();
        }
    }
}
