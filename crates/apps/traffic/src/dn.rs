//! A server in the data network: HTTP/1.1 files with reproducible bytes, for `curl` to fetch through the
//! UPF.
//!
//! | request | answer |
//! |---|---|
//! | `GET /data?bytes=N&seed=S` | N bytes that follow from S (0 if not given) |
//! | `GET /sha256?bytes=N&seed=S` | their SHA-256, in hexadecimal |
//! | `PUT` or `POST /data` with Content-Length | `{"bytes":N,"sha256":"..."}` of what came |
//!
//! One request a connection. Not here: TLS, ranges, chunked requests.
//!
//! Requests are parsed by the crate httparse. The server around it is ours: hyper wants an asynchronous runtime, which is not let into the build
//! (`deny.toml`); tiny_http (0.12) sets no timeouts, so that silent peers keep its threads.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of an answer or request at most: 64 GiB.
pub const MAX_BYTES: u64 = 64 << 30;
/// Connections at a time; more are refused with status 503.
const MAX_CONNECTIONS: usize = 256;
/// Bytes of a request's head at most, and its headers.
const MAX_HEAD: u64 = 16 << 10;
const MAX_HEADERS: usize = 64;
/// A peer that is silent so long is gone.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes that are made and sent at a time.
const CHUNK: usize = 64 << 10;

/// A running server. Dropping it ends it; responses in flight are cut off.
pub struct Server {
    local: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stopping: AtomicBool,
    connections: AtomicUsize,
    requests: AtomicU64,
    refused: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

/// What the server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Requests answered with success.
    pub requests: u64,
    /// Requests answered with an error.
    pub refused: u64,
    /// Body bytes sent.
    pub bytes_sent: u64,
    /// Body bytes received.
    pub bytes_received: u64,
}

impl Server {
    /// Listens on `local`; port 0 takes a free one.
    pub fn start(local: SocketAddr) -> std::io::Result<Server> {
        let listener = TcpListener::bind(local)?;
        // Waited for with a timeout: the address may vanish with its interface, and then nobody could wake an accept.
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = shared.clone();
        let thread = std::thread::Builder::new().name("dn-http".into()).spawn(move || accept(&listener, &accepting))?;
        Ok(Server { local, shared, thread: Some(thread) })
    }

    /// Address and port in use.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// What it has done so far.
    pub fn report(&self) -> Report {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Report {
            requests: load(&self.shared.requests),
            refused: load(&self.shared.refused),
            bytes_sent: load(&self.shared.sent),
            bytes_received: load(&self.shared.received),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the HTTP server has panicked");
        }
    }
}

/// SHA-256 of the bytes that `GET /data` gives, in hexadecimal.
pub fn sha256_hex(bytes: u64, seed: u64) -> String {
    let mut digest = Sha256::new();
    // Nobody stops: the function gives all bytes.
    let _ = produce(bytes, seed, |chunk| {
        digest.update(chunk);
        Ok(())
    });
    hex(digest)
}

/// Gives `bytes` bytes that follow from `seed` to `take`, in chunks, until it fails.
pub fn produce(bytes: u64, seed: u64, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    let mut chunk = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        numbers.fill_bytes(&mut chunk);
        let length = left.min(CHUNK as u64);
        take(&chunk[..length as usize])?;
        left -= length;
    }
    Ok(())
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.stopping.load(Ordering::Relaxed) {
        let mut waited = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut waited, PollTimeout::from(100u8)), Ok(1..)) {
            continue;
        }
        let stream = match listener.accept().and_then(|(stream, _)| stream.set_nonblocking(false).map(|()| stream)) {
            Ok(stream) => stream,
            Err(error) => {
                // The peer has gone already, or there are no descriptors left: others may come.
                tracing::debug!(%error, "accepting a connection");
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            shared.refused.fetch_add(1, Ordering::Relaxed);
            let _ = respond(&stream, "503 Service Unavailable", "text/plain", b"too many connections\n");
            continue;
        }
        let serving = shared.clone();
        let thread = std::thread::Builder::new().name("dn-connection".into()).spawn(move || {
            let served = serve(&stream, &serving);
            serving.connections.fetch_sub(1, Ordering::Relaxed);
            if let Err(error) = served {
                tracing::debug!(%error, "connection");
            }
        });
        if thread.is_err() {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A request's head.
struct Request {
    method: String,
    path: String,
    bytes: Option<u64>,
    seed: u64,
    content_length: Option<u64>,
    chunked: bool,
    expects_continue: bool,
}

/// Answers the one request of a connection.
fn serve(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    let request = match read_head(&mut reader) {
        Ok(request) => request,
        Err(Some(why)) => return refuse(stream, shared, "400 Bad Request", &why),
        Err(None) => return Ok(()),
    };
    let bytes = request.bytes.ok_or("bytes=N is missing");
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD" | "PUT" | "POST", "/data") | ("GET", "/sha256") => {}
        ("GET" | "HEAD" | "PUT" | "POST", _) => return refuse(stream, shared, "404 Not Found", "there are /data and /sha256"),
        _ => return refuse(stream, shared, "405 Method Not Allowed", "GET, HEAD, PUT and POST"),
    }
    if matches!(request.method.as_str(), "PUT" | "POST") {
        return take_upload(stream, reader, &request, shared);
    }
    let bytes = match bytes {
        Ok(bytes) if bytes <= MAX_BYTES => bytes,
        Ok(_) => return refuse(stream, shared, "400 Bad Request", "bytes is more than 64 GiB"),
        Err(why) => return refuse(stream, shared, "400 Bad Request", why),
    };
    if request.path == "/sha256" {
        shared.requests.fetch_add(1, Ordering::Relaxed);
        return respond(stream, "200 OK", "text/plain", format!("{}\n", sha256_hex(bytes, request.seed)).as_bytes());
    }
    head(stream, "200 OK", "application/octet-stream", bytes)?;
    if request.method == "GET" {
        let mut out = stream;
        produce(bytes, request.seed, |chunk| {
            out.write_all(chunk)?;
            shared.sent.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            if shared.stopping.load(Ordering::Relaxed) { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
        })?;
    }
    shared.requests.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

fn take_upload(mut stream: &TcpStream, mut body: impl Read, request: &Request, shared: &Shared) -> std::io::Result<()> {
    let length = match request.content_length {
        _ if request.chunked => return refuse(stream, shared, "411 Length Required", "a body without length"),
        None => return refuse(stream, shared, "411 Length Required", "a body without length"),
        Some(length) if length > MAX_BYTES => return refuse(stream, shared, "413 Content Too Large", "more than 64 GiB"),
        Some(length) => length,
    };
    if request.expects_continue {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let (mut digest, mut chunk, mut left) = (Sha256::new(), vec![0; CHUNK], length);
    while left > 0 {
        let most = left.min(CHUNK as u64) as usize;
        let count = body.read(&mut chunk[..most])?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        digest.update(&chunk[..count]);
        shared.received.fetch_add(count as u64, Ordering::Relaxed);
        left -= count as u64;
    }
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let answer = format!("{{\"bytes\":{length},\"sha256\":\"{}\"}}\n", hex(digest));
    respond(stream, "200 OK", "application/json", answer.as_bytes())
}

/// Reads a request's head. `Err(None)`: the peer went away.
fn read_head(reader: impl BufRead) -> Result<Request, Option<String>> {
    let mut reader = reader.take(MAX_HEAD);
    let mut head = Vec::new();
    loop {
        let begin = head.len();
        reader.read_until(b'\n', &mut head).map_err(|_| None)?;
        match &head[begin..] {
            b"\r\n" | b"\n" => return parse_head(&head).map_err(Some),
            [.., b'\n'] => {}
            _ if head.is_empty() => return Err(None),
            _ => return Err(Some("a head that does not end within 16 KiB".into())),
        }
    }
}

fn parse_head(head: &[u8]) -> Result<Request, String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let complete = parsed.parse(head).map_err(|e| format!("not HTTP/1: {e}"))?.is_complete();
    let (Some(method), Some(target), true) = (parsed.method, parsed.path, complete) else { return Err("no request line".into()) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.into(),
        path: path.into(),
        bytes: None,
        seed: 0,
        content_length: None,
        chunked: false,
        expects_continue: false,
    };
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match key {
            "bytes" => request.bytes = Some(value.parse().map_err(|_| "bytes is not a number")?),
            "seed" => request.seed = value.parse().map_err(|_| "seed is not a number")?,
            _ => {}
        }
    }
    for header in parsed.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            request.content_length = Some(length.ok_or("Content-Length is not a number")?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            request.chunked = true;
        } else if header.name.eq_ignore_ascii_case("expect") {
            request.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
        }
    }
    Ok(request)
}

fn refuse(stream: &TcpStream, shared: &Shared, status: &str, why: &str) -> std::io::Result<()> {
    shared.refused.fetch_add(1, Ordering::Relaxed);
    respond(stream, status, "text/plain", format!("{why}\n").as_bytes())
}

fn respond(mut stream: &TcpStream, status: &str, kind: &str, body: &[u8]) -> std::io::Result<()> {
    head(stream, status, kind, body.len() as u64)?;
    stream.write_all(body)
}

fn head(mut stream: &TcpStream, status: &str, kind: &str, length: u64) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &Server, request: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(server.local()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(request).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
        (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end..].to_vec())
    }

    fn server() -> Server {
        Server::start("127.0.0.1:0".parse().unwrap()).unwrap()
    }

    #[test]
    fn data_has_the_digest_that_was_told() {
        let server = server();
        let (head, body) = ask(&server, b"GET /data?bytes=200000&seed=7 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: 200000\r\n"), "{head}");
        assert_eq!(body.len(), 200_000);
        assert_eq!(hex(Sha256::new_with_prefix(&body)), sha256_hex(200_000, 7));
        assert_ne!(sha256_hex(200_000, 7), sha256_hex(200_000, 8));
        let (_, told) = ask(&server, b"GET /sha256?bytes=200000&seed=7 HTTP/1.0\r\n\r\n");
        assert_eq!(String::from_utf8(told).unwrap().trim(), sha256_hex(200_000, 7));
        // The digest of nothing is well known.
        assert_eq!(sha256_hex(0, 7), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(server.report(), Report { requests: 2, refused: 0, bytes_sent: 200_000, bytes_received: 0 });
    }

    #[test]
    fn uploads_are_digested() {
        let server = server();
        let mut request = b"PUT /data HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc".to_vec();
        let (head, body) = ask(&server, &request);
        assert!(head.starts_with("HTTP/1.1 100 Continue"), "{head}");
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("\"bytes\":3,\"sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""), "{body}");
        assert_eq!(server.report().bytes_received, 3);
        request.truncate(request.len() - 1);
        assert_eq!(ask(&server, &request).1, b"");
    }

    #[test]
    fn hostile_requests_are_refused() {
        let server = server();
        let long = [b"GET /".as_slice(), &[b'a'; 20_000], b" HTTP/1.1\r\n\r\n"].concat();
        for (request, status) in [
            (&b"GET /data HTTP/1.1\r\n\r\n"[..], "400"),
            (b"GET /data?bytes=99999999999999999999 HTTP/1.1\r\n\r\n", "400"),
            (b"GET /data?bytes=68719476737 HTTP/1.1\r\n\r\n", "400"),
            (b"GET /../etc/passwd HTTP/1.1\r\n\r\n", "404"),
            (b"DELETE /data HTTP/1.1\r\n\r\n", "405"),
            (b"PUT /data HTTP/1.1\r\n\r\n", "411"),
            (b"PUT /data HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "411"),
            (b"PUT /data HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "413"),
            (b"\xff\xfe \x00\r\n\r\n", "400"),
            (b"SSH-2.0-x\r\n", "400"),
            (b"SSH-2.0-x\r\n\r\n", "400"),
            (b"GET /data?bytes=1 HTTP/2.0\r\n\r\n", "400"),
            (b"GET /data?bytes=1 HTTP/1.1\r\nno colon\r\n\r\n", "400"),
            (&[b"GET /data?bytes=1 HTTP/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(65), b"\r\n"].concat(), "400"),
            (b"PUT /data HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
            (&long, "400"),
        ] {
            let (head, _) = ask(&server, request);
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status}")),
                "{:?}: {head}",
                String::from_utf8_lossy(&request[..request.len().min(60)])
            );
        }
        assert_eq!(ask(&server, b"").0, "");
        assert_eq!((server.report().requests, server.report().refused), (0, 16));
    }
}
