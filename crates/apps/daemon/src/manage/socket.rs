//! The control socket: operators' commands to a running daemon, a line of JSON each way. The socket's file mode decides who may use it.
//!
//! Input is hostile until parsed: line length, number of connections, also of one process, and idle time are limited; who says nothing gives way to who comes.
//! Anything but a request is answered with an error, counted, and closes the connection.

use crate::manage::places::{Place, Places, Standing};
use cli::failure::Failure;
use cli::secrets::without_keys;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest reply that a client takes: all rules of the largest table.
const MAX_REPLY: u64 = 256 << 20;
/// Connections at a time: operators and their scripts, not users. And those of one process.
const MAX_CONNECTIONS: usize = 32;
const MAX_OF_A_PROCESS: usize = 8;
/// How long a connection waits for another to end before it is refused, and from one look whether to stop to the next. On a busy machine the threads of those that clients have closed may not have
/// run since: a script that asks one thing after the other would be refused for its own.
const WAITS_FOR_PLACE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);
/// A connection that says nothing, or does not read, for so long is closed.
const PATIENCE: Duration = Duration::from_secs(10);
/// A client waits longer: a large request takes its time.
const CLIENT_PATIENCE: Duration = Duration::from_secs(120);

/// Why a request is not answered: it is none, or there are too many. A reply says it in its own way.
#[derive(Debug)]
pub struct Refused(pub String);

/// Who asks, as the kernel knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller {
    ids: Option<(u32, i32)>,
}

impl std::fmt::Display for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ids {
            Some((uid, pid)) => write!(f, "uid {uid}, pid {pid}"),
            None => f.write_str("unknown"),
        }
    }
}

/// A socket that is listened to. Stopped by [`Server::stop`] or on drop.
pub struct Server {
    path: PathBuf,
    /// The file that we made there: another program may have replaced it since.
    inode: u64,
    /// Wakes the listener's thread.
    wake: UnixListener,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    stop: AtomicBool,
    /// By process.
    places: Arc<Places<i32>>,
    /// Requests that were none.
    malformed: AtomicU64,
}

impl Shared {
    /// A place for a connection, if one is free or soon.
    fn place(&self, stream: &UnixStream, caller: Caller) -> Option<Place<i32>> {
        let process = caller.ids.map_or(0, |(_, process)| process);
        let end = Instant::now() + WAITS_FOR_PLACE;
        loop {
            let stream = stream.try_clone().ok()?;
            let close = move || {
                let _ = rustix::net::shutdown(&stream, rustix::net::Shutdown::Both);
            };
            let place = self.places.take(process, close);
            let left = end.saturating_duration_since(Instant::now());
            if place.is_some() || left.is_zero() || self.stop.load(SeqCst) {
                return place;
            }
            self.places.wait(process, left.min(LOOK));
        }
    }
}

impl Server {
    /// Listens at `path`, with mode 0600 from the start. An existing socket without a listener is replaced. Requests have at most `most` bytes.
    pub fn start<Q, R>(path: &Path, most: u64, answer: impl Fn(Q, Caller) -> R + Send + Sync + 'static) -> Result<Server, Failure>
    where
        Q: DeserializeOwned + 'static,
        R: Serialize + From<Refused> + 'static,
    {
        let fail = |e: std::io::Error| Failure::Failed(format!("cannot start the control socket {}: {e}", path.display()));
        let listener = bind(path)?;
        let inode = std::fs::symlink_metadata(path).map_err(fail)?.ino();
        let wake = listener.try_clone().map_err(fail)?;
        let places = Places::new(MAX_CONNECTIONS, MAX_OF_A_PROCESS);
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), places, malformed: AtomicU64::new(0) });
        let (for_thread, answer) = (shared.clone(), Arc::new(answer));
        let accept = move || {
            for stream in listener.incoming() {
                if for_thread.stop.load(SeqCst) {
                    return;
                }
                match stream {
                    Ok(stream) => serve_on_a_thread(stream, &for_thread, most, &answer),
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
        Ok(Server { path: path.to_owned(), inode, wake, shared, listener: Some(listener) })
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
        // Not by a connection: at the path another may listen by now.
        if rustix::net::shutdown(&self.wake, rustix::net::Shutdown::Both).is_ok()
            && let Some(listener) = self.listener.take()
        {
            let _ = listener.join();
        }
        if std::fs::symlink_metadata(&self.path).is_ok_and(|there| there.ino() == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
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

fn serve_on_a_thread<Q, R>(
    stream: UnixStream,
    shared: &Arc<Shared>,
    most: u64,
    answer: &Arc<impl Fn(Q, Caller) -> R + Send + Sync + 'static>,
) where
    Q: DeserializeOwned + 'static,
    R: Serialize + From<Refused> + 'static,
{
    let credentials = rustix::net::sockopt::socket_peercred(&stream).ok();
    let caller = Caller { ids: credentials.map(|of| (of.uid.as_raw(), of.pid.as_raw_nonzero().get())) };
    let Some(place) = shared.place(&stream, caller) else {
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = write_line(&stream, &R::from(Refused("too many connections are open already".into())));
        return;
    };
    let (answer, shared) = (answer.clone(), shared.clone());
    let serve = move || {
        // It ends its place, whatever happens.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| serve((&stream, caller, &place), &shared, most, &*answer)));
        match result {
            Ok(Err(e)) => tracing::debug!("control connection: {e}"),
            Ok(Ok(())) => {}
            Err(_) => tracing::error!("control request failed: this is a bug"),
        }
    };
    if let Err(e) = std::thread::Builder::new().name("command".into()).spawn(serve) {
        tracing::warn!("control socket: no thread for a connection: {e}");
    }
}

/// Answers the lines of a connection until it ends.
fn serve<Q: DeserializeOwned, R: Serialize + From<Refused>>(
    (stream, caller, place): (&UnixStream, Caller, &Place<i32>),
    shared: &Shared,
    most: u64,
    answer: &impl Fn(Q, Caller) -> R,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    while !shared.stop.load(SeqCst) {
        let mut line = Vec::new();
        reader.by_ref().take(most + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let malformed = |message: String| {
            shared.malformed.fetch_add(1, SeqCst);
            tracing::warn!("control request refused: {message}");
            write_line(stream, &R::from(Refused(message)))
        };
        if line.len() as u64 > most {
            return malformed(format!("a request of more than {most} bytes"));
        }
        match read(&line, "a request") {
            Ok(request) => {
                place.shows(Standing::Entitled);
                write_line(stream, &answer(request, caller))?;
            }
            Err(why) => return malformed(why),
        }
    }
    Ok(())
}

/// A line of the socket; why it is not what it should be, in words fit for a log: serde_json quotes what it did not expect, which may be a key.
pub fn read<T: DeserializeOwned>(line: &[u8], what: &str) -> Result<T, String> {
    let shown = |e: serde_json::Error| without_keys(&e.to_string()).escape_debug().take(200).collect::<String>();
    serde_json::from_slice(line).map_err(|e| format!("not {what}: {}", shown(e)))
}

fn write_line(mut stream: &UnixStream, reply: &impl Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(reply)?;
    text.push(b'\n');
    stream.write_all(&text)
}

/// Asks the daemon that listens at `path`, which takes requests of at most `most` bytes.
pub fn ask<R: DeserializeOwned>(path: &Path, request: &impl Serialize, most: u64) -> Result<R, Failure> {
    let at = |e: &dyn std::fmt::Display| Failure::Failed(format!("control socket {}: {e}", path.display()));
    let mut stream = UnixStream::connect(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            at(&format!("{e}; is `splitplane run` running, with this socket in its configuration?"))
        }
        _ => at(&e),
    })?;
    stream.set_read_timeout(Some(CLIENT_PATIENCE)).map_err(|e| at(&e))?;
    let mut text = serde_json::to_vec(request).map_err(|e| at(&e))?;
    text.push(b'\n');
    if text.len() as u64 > most {
        return Err(Failure::Usage(format!("{} bytes are too many for one request; {most} are the most", text.len())));
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
    use crate::ceupf::requests::{MAX_REQUEST, Reply, Request, RuleLine};

    fn ask(path: &Path, request: &Request) -> Result<Reply, Failure> {
        super::ask(path, request, MAX_REQUEST)
    }

    fn echo(request: Request, _: Caller) -> Reply {
        match request {
            Request::List {} => Reply::Rules { rules: Vec::new(), ways: Default::default(), capacity: 7, lost: Default::default() },
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
        let server = Server::start(&path, MAX_REQUEST, echo).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        let line = RuleLine { line: 3, text: "encap".into() };
        assert_eq!(ask(&path, &Request::Add { rules: vec![line] }).unwrap(), Reply::Error { line: Some(3), message: "encap".into() });
        // Several on one connection.
        assert_eq!(raw(&path, b"{\"do\":\"list\"}\n{\"do\":\"list\"}\n").lines().count(), 2);
        assert!(Server::start(&path, MAX_REQUEST, echo).is_err_and(|e| e.to_string().contains("another program listens there")));
        server.stop();
        assert!(!path.exists());
        assert!(ask(&path, &Request::List {}).is_err_and(|e| e.to_string().contains("is `splitplane run` running")));
    }

    #[test]
    fn what_is_no_request_is_refused_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let server = Server::start(&path, MAX_REQUEST, echo).unwrap();
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
        drop(Server::start(&path, MAX_REQUEST, echo).unwrap());
        std::fs::write(&path, "precious").unwrap();
        assert!(Server::start(&path, MAX_REQUEST, echo).is_err_and(|e| e.to_string().contains("a file of that name")));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        let nowhere = folder.path().join("none/s.sock");
        assert!(Server::start(&nowhere, MAX_REQUEST, echo).is_err_and(|e| e.to_string().contains("cannot make")));
    }

    /// Two that start at the same time may both find the place free.
    #[test]
    fn one_whose_socket_was_replaced_ends_and_leaves_the_other_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let first = Server::start(&path, MAX_REQUEST, echo).unwrap();
        std::fs::remove_file(&path).unwrap();
        let _second = Server::start(&path, MAX_REQUEST, echo).unwrap();
        first.stop();
        assert!(matches!(ask(&path, &Request::List {}), Ok(Reply::Rules { capacity: 7, .. })));
    }

    #[test]
    fn there_are_not_too_many_connections() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let _server = Server::start(&path, MAX_REQUEST, echo).unwrap();
        let mut held = Vec::new();
        for _ in 0..MAX_OF_A_PROCESS {
            // Answered once, so that it counts.
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(b"{\"do\":\"list\"}\n").unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            held.push(stream);
        }
        assert!(raw(&path, b"").contains("connections are open already"));
        drop(held);
        // They end on threads of their own, which may not have run yet: who comes meanwhile waits for them.
        for _ in 0..8 * MAX_OF_A_PROCESS {
            let reply = ask(&path, &Request::List {}).unwrap();
            assert!(matches!(reply, Reply::Rules { .. }), "{reply:?}");
        }
    }
    /// Eight of them kept all others out, ten seconds each time.
    #[test]
    fn connections_that_say_nothing_keep_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let _server = Server::start(&path, MAX_REQUEST, echo).unwrap();
        let mut silent: Vec<UnixStream> = (0..8 * MAX_CONNECTIONS).map(|_| UnixStream::connect(&path).unwrap()).collect();
        silent[8 * MAX_CONNECTIONS - 1].write_all(b"{\"do\":").unwrap();
        for _ in 0..MAX_CONNECTIONS {
            assert!(matches!(ask(&path, &Request::List {}), Ok(Reply::Rules { capacity: 7, .. })));
        }
    }
}
