//! The HTTP server: a page for browsers at `/`, metrics at `/metrics`, and below `/v1` what the control socket answers. `GET /v1/openapi.json` describes it.
//!
//! Requests are hostile until parsed. Their number, length and time are limited; those without the token have limits of their own, by address, so that nobody keeps
//! out who has it. On a loopback address whoever is on this machine may ask, but no
//! web page in a browser here: neither by another name for this host, nor by a form. On any other address each request needs the token.

use crate::config::{Api as Config, Fault};
use crate::manage::capture::http::{Kind, Looks, Start, Status, Traced};
use crate::manage::control::{Control, Reply, Request};
use crate::manage::metrics;
use crate::manage::page;
use crate::manage::places::{Place, Places, Standing};
use crate::manage::reasons::{self, Explained};
use crate::manage::report::{Drops, OffloadReport, PeerReport, PortReport, Report, TableReport, TargetReport, WorkerReport};
use crate::manage::request::Reloaded;
use crate::manage::sessions::{SessionDetail, SessionPage, SessionQuery, seid_text};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Extension, Router};
use cli::failure::Failure;
use cli::secrets::without_keys;
use hyper::body::{Frame, SizeHint};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi, ToSchema};
use zeroize::Zeroizing;

/// Connections at a time, and those of one address: a proxy has all of its clients'. Of more, some give way ([`Places`]).
const MAX_CONNECTIONS: usize = 64;
const MAX_OF_AN_ADDRESS: usize = 32;
/// Questions that the agent is asked at a time.
const MAX_ASKED: usize = 4;
/// A connection is closed when a request's head takes longer, and in all after so long.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
const CONNECTION_PATIENCE: Duration = Duration::from_secs(300);
/// Longest head and longest body of a request.
const MAX_HEAD: usize = 16 << 10;
const MAX_BODY: usize = 64 << 10;
/// Shortest token: of hexadecimal digits it has 64 bits.
const MIN_TOKEN: usize = 16;
const MAX_TOKEN: u64 = 4096;

/// Addresses without the token whose requests are counted apart. Of more, the one that was quiet for longest is forgotten.
const MAX_STRANGERS: usize = 1024;
/// From one line of the log about an address without the token to the next.
const STRANGER_LOGGED: Duration = Duration::from_secs(60);
/// Downloads of captures at a time. Each may keep the memory of one that is no longer the last.
const MAX_DOWNLOADS: usize = 4;

/// An address that is bound, and the token: both need privileges that are given up later.
pub struct Bound {
    listener: TcpListener,
    token: Option<Token>,
    requests_per_s: NonZeroU32,
}

/// What each request needs.
struct Token {
    secret: Zeroizing<Vec<u8>>,
    /// For the audit log: the name of its file.
    name: String,
}

/// A server that runs. Stopped on drop.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    control: Control,
    token: Option<Token>,
    /// Of who has the token, or, without one, of all.
    limit: Limit,
    strangers: Strangers,
    looks: Looks,
    downloads: Arc<Semaphore>,
}

/// Where a request comes from, and the place of its connection.
#[derive(Clone)]
struct Peer(SocketAddr, Arc<Place<IpAddr>>);

/// Who is behind an address: of IPv6 a host has a /64 to itself.
fn host_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

/// Who asks, for the audit log.
#[derive(Clone)]
struct Who {
    name: Arc<str>,
    has_token: bool,
}

impl Who {
    fn new(peer: SocketAddr, token: Option<&Token>) -> Who {
        let by = token.map_or("no token".to_owned(), |token| format!("token {}", token.name));
        Who { name: format!("http {peer}, {by}").into(), has_token: token.is_some() }
    }
}

type App = Arc<Shared>;

/// So many requests in a second, and as many at once. A crate for it would bring seven more for one bucket.
struct Limit {
    per_second: NonZeroU32,
    /// Up to when it is spent: ahead of now by a second at most.
    spent_until: Mutex<Instant>,
}

impl Limit {
    fn new(per_second: NonZeroU32, now: Instant) -> Limit {
        Limit { per_second, spent_until: Mutex::new(now) }
    }

    /// Whether one more may come.
    fn admits(&self, now: Instant) -> bool {
        let mut spent_until = self.spent_until.lock().unwrap_or_else(PoisonError::into_inner);
        let until = (*spent_until).max(now) + Duration::from_secs(1) / self.per_second.get();
        let admitted = until <= now + Duration::from_secs(1);
        if admitted {
            *spent_until = until;
        }
        admitted
    }
}

/// Requests without the token, by host.
struct Strangers {
    per_second: NonZeroU32,
    by_address: Mutex<HashMap<IpAddr, Stranger>>,
}

struct Stranger {
    limit: Limit,
    last: Instant,
    logged: Option<Instant>,
}

impl Strangers {
    fn new(per_second: NonZeroU32) -> Strangers {
        Strangers { per_second, by_address: Mutex::default() }
    }

    /// Whether one more request of that address may come.
    fn admits(&self, from: IpAddr, now: Instant) -> bool {
        self.of(from, now, |stranger| stranger.limit.admits(now))
    }

    /// Whether a line about a wrong token from there is due.
    fn may_log(&self, from: IpAddr, now: Instant) -> bool {
        self.of(from, now, |stranger| {
            let due = stranger.logged.is_none_or(|at| now.saturating_duration_since(at) >= STRANGER_LOGGED);
            if due {
                stranger.logged = Some(now);
            }
            due
        })
    }

    fn of<T>(&self, from: IpAddr, now: Instant, with: impl FnOnce(&mut Stranger) -> T) -> T {
        let from = host_of(from);
        let mut all = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(&from) && all.len() >= MAX_STRANGERS {
            let quietest = all.iter().min_by_key(|(_, stranger)| stranger.last).map(|(address, _)| *address);
            quietest.map(|address| all.remove(&address));
        }
        let stranger = all.entry(from).or_insert_with(|| Stranger { limit: Limit::new(self.per_second, now), last: now, logged: None });
        stranger.last = now;
        with(stranger)
    }
}

impl Bound {
    /// Binds, if the configuration asks for a server.
    ///
    /// # Errors
    /// Naming the key whose value cannot be used.
    pub fn new(config: &Config) -> Result<Option<Bound>, Fault> {
        let Some(listen) = config.listen else { return Ok(None) };
        let token = config.token_file.as_deref().map(read_token).transpose().map_err(|what| Fault::new("api.token_file", what))?;
        let in_use = |e: &std::io::Error| e.kind() == std::io::ErrorKind::AddrInUse;
        let bound = crate::process::predecessor::wait_for("api.listen", || TcpListener::bind(listen), in_use);
        let bound = bound.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = bound.map_err(|e| Fault::new("api.listen", e.to_string()))?;
        let requests_per_s = NonZeroU32::new(config.requests_per_s).unwrap_or(NonZeroU32::MIN);
        Ok(Some(Bound { listener, token, requests_per_s }))
    }

    /// Answers from now on.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn start(self, control: Control) -> Result<Server, Failure> {
        let fail = |e: std::io::Error| Failure::Failed(format!("cannot start the HTTP server: {e}"));
        let address = self.listener.local_addr().map_err(fail)?;
        let shared = Shared {
            control,
            token: self.token,
            limit: Limit::new(self.requests_per_s, Instant::now()),
            strangers: Strangers::new(self.requests_per_s),
            looks: Looks::default(),
            downloads: Arc::new(Semaphore::new(MAX_DOWNLOADS)),
        };
        let router = router(Arc::new(shared));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(MAX_ASKED).build().map_err(fail)?;
        let (stop, stopped) = oneshot::channel();
        let listener = self.listener;
        let run = move || {
            // Connections that are open go with the runtime, and so that nothing waits for the agent, without its answers.
            runtime.block_on(async {
                tokio::select! { () = accept(listener, router) => {}, _ = stopped => {} }
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("http".into()).spawn(run).map_err(fail)?;
        tracing::info!("HTTP: metrics and API at http://{address}");
        Ok(Server { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A token: the file's text without white space around it.
fn read_token(path: &std::path::Path) -> Result<Token, String> {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;
    let file = cli::files::open_regular(path).map_err(|e| e.to_string())?;
    let mode = file.metadata().map_err(|e| e.to_string())?.permissions().mode();
    if mode & 0o007 != 0 {
        return Err("expected a file that others cannot read: chmod o= it".into());
    }
    let mut text = Zeroizing::new(Vec::new());
    file.take(MAX_TOKEN).read_to_end(&mut text).map_err(|e| e.to_string())?;
    let secret = Zeroizing::new(text.trim_ascii().to_vec());
    if secret.len() < MIN_TOKEN || !secret.iter().all(u8::is_ascii_graphic) {
        return Err(format!("expected a file of at least {MIN_TOKEN} printable ASCII characters, such as of `openssl rand -hex 32`"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Token { secret, name })
}

/// Serves connections until it is dropped.
async fn accept(listener: TcpListener, router: Router) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(e) => return tracing::error!("HTTP: {e}"),
    };
    let places = Places::new(MAX_CONNECTIONS, MAX_OF_AN_ADDRESS);
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok((stream, peer)) => (stream, peer),
            Err(e) => {
                tracing::warn!("HTTP: {e}");
                // Out of descriptors, most likely: not at full speed.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let gave_way = Arc::new(Notify::new());
        let for_place = gave_way.clone();
        // All are held by those who have the token: who comes is turned away.
        let Some(place) = places.take(host_of(peer.ip()), move || for_place.notify_one()) else { continue };
        let service = TowerToHyperService::new(router.clone().layer(Extension(Peer(peer, Arc::new(place)))));
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(MAX_HEAD);
            let connection = tokio::time::timeout(CONNECTION_PATIENCE, http.serve_connection(TokioIo::new(stream), service));
            tokio::select! {
                ended = connection => if let Ok(Err(e)) = ended { tracing::debug!("HTTP connection: {e}") },
                () = gave_way.notified() => tracing::debug!(%peer, "HTTP connection: closed for one that came later"),
            }
        });
    }
}

fn router(shared: App) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/v1/openapi.json", get(openapi))
        .route("/v1/report", get(report))
        .route("/v1/sessions", get(sessions))
        .route("/v1/sessions/{seid}", get(session))
        .route("/v1/ports", get(ports))
        .route("/v1/drops", get(drops))
        .route("/v1/tables", get(tables))
        .route("/v1/targets", get(targets))
        .route("/v1/workers", get(workers))
        .route("/v1/peers", get(peers))
        .route("/v1/offload", get(offload))
        .route("/v1/reasons", get(reasons))
        .route("/v1/log", put(log))
        .route("/v1/drain", put(drain))
        .route("/v1/reload", put(reload))
        .route("/v1/placement", put(placement))
        .route("/v1/capture", get(capture))
        .route("/v1/capture/start", post(start_capture))
        .route("/v1/capture/stop", post(stop_capture))
        .route("/v1/capture/pcapng", get(pcapng))
        .route("/v1/trace", get(trace))
        .route("/v1/trace/start", post(start_trace))
        .route("/v1/trace/stop", post(stop_trace))
        .merge(page::routes())
        .fallback(|| async { error(StatusCode::NOT_FOUND, "there is no such path: GET /v1/openapi.json has those that there are") })
        .method_not_allowed_fallback(|| async {
            error(StatusCode::METHOD_NOT_ALLOWED, "this path has other methods: see GET /v1/openapi.json")
        })
        .layer(from_fn_with_state(shared.clone(), admit))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared)
}

/// An error.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Error {
    /// What was wrong, and what to do.
    pub error: String,
}

fn error(status: StatusCode, message: impl Into<String>) -> Response {
    json_of(status, &Error { error: message.into() })
}

fn json_of(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], body).into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()).into_response(),
    }
}

/// Who may ask, and how often.
async fn admit(
    State(shared): State<App>,
    Extension(Peer(peer, place)): Extension<Peer>,
    mut request: axum::extract::Request,
    next: Next,
) -> Response {
    let mut response = match may_ask(&shared, peer, request.method(), request.uri(), request.headers()) {
        Ok(who) => {
            place.shows(if who.has_token { Standing::Entitled } else { Standing::Asked });
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        // Its connection ends too.
        Err((status, why)) => ([(header::CONNECTION, "close")], error(status, why)).into_response(),
    };
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn may_ask(shared: &Shared, peer: SocketAddr, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Who, (StatusCode, &'static str)> {
    let now = Instant::now();
    let often = (StatusCode::TOO_MANY_REQUESTS, "too many requests: api.requests_per_s of the configuration is the limit");
    // The token first: who has it is not kept out by those who have not.
    let has_token = shared.token.as_ref().is_some_and(|token| has_token(headers, &token.secret));
    let limited = shared.token.is_some() && !has_token;
    if !(if limited { shared.strangers.admits(peer.ip(), now) } else { shared.limit.admits(now) }) {
        return Err(often);
    }
    if limited {
        // The page's files are the same everywhere; it asks its user for the token.
        if !page::has(uri.path()) {
            if headers.contains_key(header::AUTHORIZATION) && shared.strangers.may_log(peer.ip(), now) {
                tracing::warn!(%peer, "HTTP: a wrong token; more from there within {} s are not logged", STRANGER_LOGGED.as_secs());
            }
            return Err((StatusCode::UNAUTHORIZED, "expected `Authorization: Bearer TOKEN` with the token of api.token_file"));
        }
    } else if shared.token.is_none() {
        // A page of another site may have its own name resolved to this host: then it is named here.
        let host = uri.host().or_else(|| headers.get(header::HOST).and_then(|value| value.to_str().ok())).unwrap_or_default();
        if !is_local_name(host) {
            return Err((StatusCode::FORBIDDEN, "expected the address, or localhost, as Host"));
        }
    }
    // Which no form of a web page sends.
    if *method != Method::GET && !headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/json")) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected `Content-Type: application/json`"));
    }
    Ok(Who::new(peer, shared.token.as_ref().filter(|_| has_token)))
}

/// Whether a request has the token. The time that it takes says only how long the given one is.
pub(crate) fn has_token(headers: &HeaderMap, token: &[u8]) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    given.is_some_and(|given| bool::from(given.ct_eq(token)))
}

/// Whether the host of a request, with a port or without, is an address or `localhost`.
pub(crate) fn is_local_name(host: &str) -> bool {
    let is_address = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    // Rust's numbers may have a sign, a port may not (RFC 3986 3.2.3).
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if is_port(port) { name } else { host });
    host.parse::<SocketAddr>().is_ok() || is_address(host) || is_address(name) || name.eq_ignore_ascii_case("localhost")
}

/// Asks the UPF, on a thread that may wait.
async fn ask(shared: App, request: Request) -> Result<Reply, Response> {
    // What only asks is in no audit log.
    ask_as(shared, Who { name: "http".into(), has_token: false }, request).await
}

/// As [`ask`], for what is in the audit log.
async fn ask_as(shared: App, Who { name: who, .. }: Who, request: Request) -> Result<Reply, Response> {
    let unavailable = |message: String| error(StatusCode::SERVICE_UNAVAILABLE, message);
    let asked = tokio::task::spawn_blocking(move || shared.control.answer(request, &who));
    asked.await.map_err(|e| unavailable(e.to_string()))
}

/// What a part of the report is.
async fn part<T: Serialize>(shared: App, of: impl FnOnce(Report) -> T) -> Response {
    match ask(shared, Request::Report {}).await {
        Ok(Reply::Report(report)) => json_of(StatusCode::OK, &of(*report)),
        Ok(other) => failed(other),
        Err(response) => response,
    }
}

/// An answer that is not the one asked for.
fn failed(reply: Reply) -> Response {
    match reply {
        Reply::Error { message } => error(StatusCode::SERVICE_UNAVAILABLE, message),
        _ => error(StatusCode::INTERNAL_SERVER_ERROR, "the UPF answered something else"),
    }
}

fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    crate::manage::socket::read(bytes, "what this path takes")
}

/// For the fuzzer: a body as each path reads it.
pub(crate) fn bodies(bytes: &[u8]) -> [Result<(), String>; 4] {
    [
        body::<LogBody>(bytes).map(drop),
        body::<DrainBody>(bytes).map(drop),
        body::<ReloadBody>(bytes).map(drop),
        body::<Start>(bytes).map(drop),
    ]
}

/// Metrics in OpenMetrics text: docs/metrics.md.
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "OpenMetrics text", body = String, content_type = "application/openmetrics-text")))]
async fn metrics(State(shared): State<App>) -> Response {
    match ask(shared, Request::Report {}).await {
        Ok(Reply::Report(report)) => ([(header::CONTENT_TYPE, metrics::MEDIA_TYPE)], metrics::text(*report)).into_response(),
        Ok(other) => failed(other),
        Err(response) => response,
    }
}

/// This description.
#[utoipa::path(get, path = "/v1/openapi.json", responses((status = 200, description = "OpenAPI 3.1", body = String, content_type = "application/json")))]
async fn openapi() -> Response {
    json_of(StatusCode::OK, &Description::openapi())
}

/// Everything but single sessions.
#[utoipa::path(get, path = "/v1/report", responses((status = 200, body = Report), (status = 503, body = Error)))]
async fn report(State(shared): State<App>) -> Response {
    part(shared, |report| report).await
}

/// Sessions, a page at a time, by ascending SEID.
#[utoipa::path(get, path = "/v1/sessions", params(SessionQuery), responses((status = 200, body = SessionPage), (status = 400, body = Error), (status = 503, body = Error)))]
async fn sessions(State(shared): State<App>, query: Result<Query<SessionQuery>, axum::extract::rejection::QueryRejection>) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return error(StatusCode::BAD_REQUEST, shown(&rejection.body_text())),
    };
    if let Err(why) = query.validate() {
        return error(StatusCode::BAD_REQUEST, why);
    }
    match ask(shared, Request::Sessions(query)).await {
        Ok(Reply::Sessions(page)) => json_of(StatusCode::OK, &page),
        Ok(other) => failed(other),
        Err(response) => response,
    }
}

/// What a client wrote, cut and without control characters.
fn shown(text: &str) -> String {
    without_keys(text).escape_debug().take(200).collect()
}

/// One session whole.
#[utoipa::path(get, path = "/v1/sessions/{seid}", params(("seid" = String, Path, description = "Our SEID, such as 0x1f or 31")),
    responses((status = 200, body = SessionDetail), (status = 400, body = Error), (status = 404, body = Error), (status = 503, body = Error)))]
async fn session(State(shared): State<App>, Path(seid): Path<String>) -> Response {
    let seid = match seid_text::parse(&seid) {
        Ok(seid) => seid,
        Err(why) => return error(StatusCode::BAD_REQUEST, why),
    };
    match ask(shared, Request::Session { seid }).await {
        Ok(Reply::Session(session)) => json_of(StatusCode::OK, &session),
        Ok(Reply::Error { message }) if message.starts_with("there is no session") => error(StatusCode::NOT_FOUND, message),
        Ok(other) => failed(other),
        Err(response) => response,
    }
}

/// Ports, by name.
#[utoipa::path(get, path = "/v1/ports", responses((status = 200, body = BTreeMap<String, PortReport>), (status = 503, body = Error)))]
async fn ports(State(shared): State<App>) -> Response {
    part(shared, |report| report.ports).await
}

/// Everything that was dropped, refused or lost.
#[utoipa::path(get, path = "/v1/drops", responses((status = 200, body = Drops), (status = 503, body = Error)))]
async fn drops(State(shared): State<App>) -> Response {
    part(shared, |report| report.drops()).await
}

/// Tables, by name.
#[utoipa::path(get, path = "/v1/tables", responses((status = 200, body = BTreeMap<String, TableReport>), (status = 503, body = Error)))]
async fn tables(State(shared): State<App>) -> Response {
    part(shared, |report| report.tables).await
}

/// Targets, by name.
#[utoipa::path(get, path = "/v1/targets", responses((status = 200, body = BTreeMap<String, TargetReport>), (status = 503, body = Error)))]
async fn targets(State(shared): State<App>) -> Response {
    part(shared, |report| report.targets).await
}

/// Workers.
#[utoipa::path(get, path = "/v1/workers", responses((status = 200, body = [WorkerReport]), (status = 503, body = Error)))]
async fn workers(State(shared): State<App>) -> Response {
    part(shared, |report| report.load).await
}

/// Peers on N4.
#[utoipa::path(get, path = "/v1/peers", responses((status = 200, body = [PeerReport]), (status = 503, body = Error)))]
async fn peers(State(shared): State<App>) -> Response {
    part(shared, |report| report.peers).await
}

/// Which sessions the fast target holds by which policy, and the last moves.
#[utoipa::path(get, path = "/v1/offload", responses((status = 200, body = OffloadReport), (status = 503, body = Error)))]
async fn offload(State(shared): State<App>) -> Response {
    part(shared, |report| report.offload).await
}

/// Reasons for which packets and messages are dropped, and what they mean.
#[utoipa::path(get, path = "/v1/reasons", responses((status = 200, body = [Explained])))]
async fn reasons() -> Response {
    json_of(StatusCode::OK, &reasons::all())
}

/// What is logged from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LogBody {
    /// As in `RUST_LOG`: `info`, or `warn,pfcp=debug`.
    filter: String,
}

/// Changes what is logged.
#[utoipa::path(put, path = "/v1/log", request_body = LogBody, responses((status = 204), (status = 400, body = Error)))]
async fn log(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    change(shared, who, &bytes, |LogBody { filter }| Request::Log { filter }).await
}

/// Whether new associations and sessions are refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DrainBody {
    /// Refused, or no longer.
    on: bool,
}

/// Refuses new associations and sessions from now on, or no longer; those that there are go on until they end.
#[utoipa::path(put, path = "/v1/drain", request_body = DrainBody, responses((status = 204), (status = 400, body = Error), (status = 503, body = Error)))]
async fn drain(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    change(shared, who, &bytes, |DrainBody { on }| Request::Drain { on }).await
}

/// Whether a reload is only tried.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReloadBody {
    /// Says what would change, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Reads the configuration file again and takes over what changed, all of it or nothing.
#[utoipa::path(put, path = "/v1/reload", request_body = ReloadBody,
    responses((status = 200, body = Reloaded), (status = 400, body = Error), (status = 503, body = Error)))]
async fn reload(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    change(shared, who, &bytes, |ReloadBody { dry_run }| Request::Reload { dry_run }).await
}

/// What the keys of `[split]` that are given are from now on; the others stay. The file is not changed: a reload or a restart brings back what it says.
#[utoipa::path(put, path = "/v1/placement", request_body(content = Object, description = "Keys of `[split]` by which sessions are placed: `policy`, `rules`, `heavy`, `updates_per_second`, `min_stay_ms`, `window_ms`, `margin`, as in the configuration file"),
    responses((status = 200, body = Reloaded), (status = 400, body = Error), (status = 503, body = Error)))]
async fn placement(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    change(shared, who, &bytes, |split| Request::Placement { split }).await
}

/// How far the last capture is.
#[utoipa::path(get, path = "/v1/capture", responses((status = 200, body = Status)))]
async fn capture(State(shared): State<App>) -> Response {
    looked(shared, |shared| Ok(json_of(StatusCode::OK, &shared.looks.status(Kind::Capture)))).await
}

/// Begins to keep frames as they come, in place of what was captured or traced before.
#[utoipa::path(post, path = "/v1/capture/start", request_body = Start,
    responses((status = 204), (status = 400, body = Error)))]
async fn start_capture(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    start(shared, who, Kind::Capture, bytes).await
}

/// Ends the capture: what there is so far stays until the next one.
#[utoipa::path(post, path = "/v1/capture/stop", responses((status = 204), (status = 404, body = Error)))]
async fn stop_capture(State(shared): State<App>, Extension(who): Extension<Who>) -> Response {
    stop(shared, who, Kind::Capture).await
}

/// The capture so far, as pcapng: each packet's comment says what became of it.
#[utoipa::path(get, path = "/v1/capture/pcapng",
    responses((status = 200, body = Vec<u8>, content_type = PCAPNG), (status = 404, body = Error)))]
async fn pcapng(State(shared): State<App>, Extension(Who { name: who, .. }): Extension<Who>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, PCAPNG),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"capture.pcapng\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let Ok(place) = shared.downloads.clone().try_acquire_owned() else {
        return error(StatusCode::TOO_MANY_REQUESTS, format!("{MAX_DOWNLOADS} downloads are under way already"));
    };
    looked(shared, move |shared| {
        let file = shared.looks.file()?;
        crate::manage::control::note(&who, "download", &format!("the capture, {} bytes", file.bytes()), "done");
        Ok((headers, Body::new(Download { left: file.bytes(), pieces: file.into_all(), _place: place })).into_response())
    })
    .await
}

/// A file on its way, piece by piece, as the other side takes it.
struct Download {
    pieces: VecDeque<Bytes>,
    left: u64,
    _place: OwnedSemaphorePermit,
}

impl hyper::body::Body for Download {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        self.left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The last trace: what the program did with each packet.
#[utoipa::path(get, path = "/v1/trace", responses((status = 200, body = Traced)))]
async fn trace(State(shared): State<App>) -> Response {
    looked(shared, |shared| Ok(json_of(StatusCode::OK, &shared.looks.traced()))).await
}

/// Begins to trace packets, in place of what was captured or traced before.
#[utoipa::path(post, path = "/v1/trace/start", request_body = Start,
    responses((status = 204), (status = 400, body = Error)))]
async fn start_trace(State(shared): State<App>, Extension(who): Extension<Who>, bytes: Bytes) -> Response {
    start(shared, who, Kind::Trace, bytes).await
}

/// Ends the trace: what there is so far stays until the next one.
#[utoipa::path(post, path = "/v1/trace/stop", responses((status = 204), (status = 404, body = Error)))]
async fn stop_trace(State(shared): State<App>, Extension(who): Extension<Who>) -> Response {
    stop(shared, who, Kind::Trace).await
}

const PCAPNG: &str = "application/x-pcapng";

async fn start(shared: App, Who { name: who, .. }: Who, kind: Kind, bytes: Bytes) -> Response {
    let begin = move |shared: &Shared| {
        let begun = body(&bytes).and_then(|start: Start| shared.looks.start(&shared.control, kind, &start, &who));
        // What is wrong here is no missing path.
        Ok(begun.map_or_else(|why| error(StatusCode::BAD_REQUEST, why), |()| StatusCode::NO_CONTENT.into_response()))
    };
    looked(shared, begin).await
}

async fn stop(shared: App, Who { name: who, .. }: Who, kind: Kind) -> Response {
    let end = move |shared: &Shared| shared.looks.stop(&shared.control, kind, &who).map(|()| StatusCode::NO_CONTENT.into_response());
    looked(shared, end).await
}

/// Does something with captures, on a thread that may wait, for who has the token: without one any user of this machine could read users' packets.
async fn looked(shared: App, act: impl FnOnce(&Shared) -> Result<Response, String> + Send + 'static) -> Response {
    if shared.token.is_none() {
        return error(StatusCode::FORBIDDEN, "users' packets are shown only to who has a token: set api.token_file");
    }
    match tokio::task::spawn_blocking(move || act(&shared)).await {
        Ok(Ok(response)) => response,
        Ok(Err(why)) => error(StatusCode::NOT_FOUND, why),
        Err(e) => error(StatusCode::SERVICE_UNAVAILABLE, e.to_string()),
    }
}

/// Reads a body, makes a request of it, and answers with what the daemon says to that.
async fn change<B: DeserializeOwned>(shared: App, who: Who, bytes: &[u8], request: impl FnOnce(B) -> Request) -> Response {
    let request = match body(bytes) {
        Ok(body) => request(body),
        Err(why) => return error(StatusCode::BAD_REQUEST, why),
    };
    match ask_as(shared, who, request).await {
        Ok(Reply::Done {}) => StatusCode::NO_CONTENT.into_response(),
        Ok(Reply::Reloaded(reloaded)) => json_of(StatusCode::OK, &reloaded),
        Ok(Reply::Error { message }) => error(StatusCode::BAD_REQUEST, message),
        Ok(other) => failed(other),
        Err(response) => response,
    }
}

/// The description of the API.
#[derive(OpenApi)]
#[openapi(
    info(title = "Splitplane", description = "What a running UPF is asked and told. Errors have a JSON body with `error`."),
    modifiers(&Guarded),
    paths(
        metrics,
        openapi,
        report,
        sessions,
        session,
        ports,
        drops,
        tables,
        targets,
        workers,
        peers,
        offload,
        reasons,
        log,
        drain,
        reload,
        placement,
        capture,
        start_capture,
        stop_capture,
        pcapng,
        trace,
        start_trace,
        stop_trace
    )
)]
pub struct Description;

/// What holds for all operations: the token, and how they are refused.
struct Guarded;

impl Modify for Guarded {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        const TOKEN: &str = "token";
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "The text of the file `api.token_file`. Without one only clients on this host are served, and nobody sees users' packets",
            ))
            .build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme(TOKEN, SecurityScheme::Http(scheme));
        openapi.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, [])]);
        let refused = |what: &str| {
            let body = ContentBuilder::new().schema(Some(utoipa::openapi::Ref::from_schema_name("Error"))).build();
            RefOr::T(ResponseBuilder::new().description(what).content("application/json", body).build())
        };
        for path in openapi.paths.paths.values_mut() {
            let changes = [&mut path.put, &mut path.post].into_iter().flatten().map(|operation| (operation, true));
            for (operation, has_body) in path.get.as_mut().into_iter().map(|operation| (operation, false)).chain(changes) {
                let mut add = |status: &str, what: &str| _ = operation.responses.responses.insert(status.to_owned(), refused(what));
                add("401", "The token is missing or wrong");
                add(
                    "403",
                    "Without api.token_file: the Host is another name than an address or localhost, or users' packets are asked for",
                );
                add("429", "Too many requests: api.requests_per_s; those without the token are counted by address");
                if has_body {
                    add("413", "The body is longer than 64 KiB");
                    add("415", "The Content-Type is not application/json");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    /// A server in front of an agent that knows one session and says whether it drains.
    fn server(token: Option<&str>, requests_per_s: u32) -> Server {
        let (agent, asked) = crossbeam_channel::unbounded();
        std::thread::spawn(move || {
            let (mut draining, mut looks) = (false, 0);
            for request in asked {
                match request {
                    crate::manage::request::Request::Counts { .. } => panic!("nobody asks for a report with sessions"),
                    crate::manage::request::Request::Report { reply } => {
                        let _ = reply.send(Report { draining, elapsed_ms: 5000, ..Report::default() });
                    }
                    crate::manage::request::Request::Sessions { query, reply } => {
                        assert_eq!(query.validate(), Ok(()));
                        let _ = reply.send(SessionPage { total: u64::from(query.teid.unwrap_or(1)), ..SessionPage::default() });
                    }
                    crate::manage::request::Request::Session { seid, reply } => {
                        let _ = reply.send((seid == 31).then(SessionDetail::default));
                    }
                    crate::manage::request::Request::Drain { on, reply } => {
                        draining = on;
                        let _ = reply.send(());
                    }
                    crate::manage::request::Request::Look { reply, .. } => {
                        looks += 1;
                        let _ = reply.send(looks);
                    }
                    // Two packets for each question of who looks; of another who does not look any more.
                    crate::manage::request::Request::Seen { id, reply, .. } => {
                        let is_asked = if id == looks {
                            Ok(crate::manage::capture::story::Part::of_test(2))
                        } else {
                            Err("somebody else looks".to_owned())
                        };
                        let _ = reply.send(is_asked);
                    }
                    crate::manage::request::Request::EndLook { reply, .. } => _ = reply.send(()),
                    crate::manage::request::Request::Reload { .. } => panic!("there is no file"),
                    crate::manage::request::Request::Text { reply } => _ = reply.send(None),
                    crate::manage::request::Request::Stop => return,
                }
            }
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let token = token.map(|token| Token { secret: Zeroizing::new(token.as_bytes().to_vec()), name: "of-test".into() });
        let bound = Bound { listener, token, requests_per_s: NonZeroU32::new(requests_per_s).unwrap() };
        bound.start(Control::new(agent)).unwrap()
    }

    /// What comes back for raw bytes: status and all of it.
    fn raw(server: &Server, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // One that is refused early is closed before all is written.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    fn request(server: &Server, line: &str, more: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n{body}");
        raw(server, head.as_bytes())
    }

    const JSON: &str = "Content-Type: application/json\r\n";

    #[test]
    fn each_path_that_is_described_answers_and_each_that_answers_is_described() {
        let server = server(Some(TOKEN), 1000);
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        let request = |line: &str, more: &str, body: &str| request(&server, line, &(bearer.clone() + more), body);
        assert_eq!(request("POST /v1/capture/start", JSON, "{}").0, 204);
        let (status, described) = request("GET /v1/openapi.json", "", "");
        assert_eq!(status, 200);
        let body = described.split("\r\n\r\n").nth(1).unwrap();
        let described: serde_json::Value = serde_json::from_str(body).unwrap();
        let paths = described["paths"].as_object().unwrap();
        let source = include_str!("api.rs");
        let routes: Vec<&str> = source.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")?.split('"').next()).collect();
        assert!(routes.len() > 10 && routes.iter().all(|route| paths.contains_key(*route)) && paths.len() == routes.len(), "{routes:?}");
        for (path, methods) in paths {
            let path = path.replace("{seid}", "0x1f");
            if methods.get("get").is_some() {
                let (status, answer) = request(&format!("GET {path}"), "", "");
                assert_eq!(status, 200, "{path}: {answer}");
                continue;
            }
            let method = if methods.get("put").is_some() { "PUT" } else { "POST" };
            let (status, answer) = request(&format!("{method} {path}"), JSON, "{\"on\":true,\"filter\":1}");
            // What takes no body stops.
            let expected = if path.ends_with("/capture/stop") {
                204
            } else if path.ends_with("/stop") {
                404
            } else {
                400
            };
            assert_eq!(status, expected, "{path}: {answer}");
            assert_eq!(request(&format!("GET {path}"), "", "").0, 405);
        }
        // Who may ask, and how it is refused.
        assert_eq!(described["components"]["securitySchemes"]["token"]["scheme"], "bearer");
        assert_eq!(described["security"], serde_json::json!([{ "token": [] }]));
        for operation in paths.values().flat_map(|of| of.as_object().unwrap().values()) {
            let answers = &operation["responses"];
            let refused = |status: &str| answers[status]["content"]["application/json"]["schema"]["$ref"] == "#/components/schemas/Error";
            assert!(["401", "403", "429"].into_iter().all(refused), "{operation}");
            assert!(operation.get("requestBody").is_none_or(|_| refused("415") && refused("413")), "{operation}");
        }
        // What is said of a type is what it has.
        let fields = &described["components"]["schemas"]["Report"]["properties"];
        let report = serde_json::to_value(Report::default()).unwrap();
        for field in report.as_object().unwrap().keys() {
            assert!(fields.get(field).is_some_and(|field| field.get("description").is_some()), "{field}: {fields}");
        }
    }

    #[test]
    fn what_is_no_request_gets_an_error_that_says_what_to_do() {
        let server = server(None, 1000);
        for (line, more, body, status, says) in [
            ("GET /v1/nothing", "", "", 404, "openapi.json"),
            ("GET /v1/sessions?imsi=1", "", "", 400, "imsi"),
            ("GET /v1/sessions?limit=0", "", "", 400, "expected 1 to 1000"),
            ("GET /v1/sessions?ue=nobody", "", "", 400, "error"),
            ("GET /v1/sessions/-1", "", "", 400, "expected a SEID"),
            ("GET /v1/sessions/32", "", "", 404, "there is no session 0x20"),
            ("PUT /v1/drain", "", "{\"on\":true}", 415, "application/json"),
            ("PUT /v1/drain", JSON, "{\"on\":1}", 400, "expected a boolean"),
            ("PUT /v1/drain", JSON, "{\"on\":true,\"more\":1}", 400, "more"),
            ("PUT /v1/log", JSON, "{\"filter\":\"\"}", 400, "filter: expected"),
            ("DELETE /v1/report", JSON, "", 405, "other methods"),
        ] {
            let (got, answer) = request(&server, line, more, body);
            assert!(got == status && answer.contains(says), "{line} {body}: {answer}");
            assert!(!answer.split("\r\n\r\n").nth(1).unwrap().contains(char::is_control), "{answer:?}");
        }
        assert_eq!(request(&server, "PUT /v1/drain", JSON, &format!("\"{}\"", "x".repeat(MAX_BODY))).0, 413);
        assert!(raw(&server, b"\xff\x00 nonsense\r\n\r\n").0 >= 400);
        assert!(raw(&server, format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(2 * MAX_HEAD)).as_bytes()).0 >= 400);
        let (status, answer) = request(&server, "GET /v1/sessions?teid=7&dnn=internet&ue=10.0.0.1&after=0x1f", "", "");
        assert!(status == 200 && answer.contains("\"total\":7"), "{answer}");
    }

    #[test]
    fn a_change_is_made_and_seen() {
        let server = server(None, 1000);
        assert!(request(&server, "GET /v1/report", "", "").1.contains("\"draining\":false"));
        assert_eq!(request(&server, "PUT /v1/drain", JSON, "{\"on\":true}").0, 204);
        assert!(request(&server, "GET /v1/report", "", "").1.contains("\"draining\":true"));
        let (status, metrics) = request(&server, "GET /metrics", "", "");
        assert!(status == 200 && metrics.contains("\nsplitplane_draining 1\n") && metrics.contains(metrics::MEDIA_TYPE), "{metrics}");
    }

    /// How far it is, when it has ended.
    fn ended(server: &Server, path: &str, bearer: &str) -> serde_json::Value {
        loop {
            let (status, answer) = request(server, &format!("GET {path}"), bearer, "");
            assert_eq!(status, 200, "{answer}");
            let value: serde_json::Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            let status = value.get("status").unwrap_or(&value);
            if status["running"] == false {
                return value;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_capture_is_started_stopped_and_fetched_by_who_has_the_token() {
        let server = server(Some(TOKEN), 100_000);
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        let json = bearer.clone() + JSON;
        assert_eq!(request(&server, "GET /v1/capture/pcapng", &bearer, "").0, 404);
        assert_eq!(request(&server, "POST /v1/capture/stop", &json, "").0, 404);
        assert_eq!(request(&server, "POST /v1/capture/start", &json, "{\"ue\":\"10.45.0.2\",\"count\":7}").0, 204);
        let status = ended(&server, "/v1/capture", &bearer);
        assert_eq!((&status["packets"], &status["ended"]), (&8.into(), &"all packets that were asked for".into()), "{status}");
        let mut stream = TcpStream::connect(server.address).unwrap();
        let get = format!("GET /v1/capture/pcapng HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{bearer}\r\n");
        stream.write_all(get.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        assert!(String::from_utf8_lossy(&answer[..head]).contains("application/x-pcapng"));
        assert_eq!(pktio::pcap::read_all(&answer[head + 4..]).unwrap().len(), 8);
        // One that would go on for an hour, until it is told to stop; it stays stopped.
        assert_eq!(request(&server, "POST /v1/capture/start", &json, "{\"count\":100000,\"seconds\":3600}").0, 204);
        assert_eq!(request(&server, "POST /v1/capture/stop", &json, "").0, 204);
        let status = ended(&server, "/v1/capture", &bearer);
        assert_eq!(status["ended"], "stopped", "{status}");
        // A trace takes its place.
        assert_eq!(request(&server, "POST /v1/trace/start", &json, "{\"count\":3,\"dropped\":true}").0, 204);
        let traced = ended(&server, "/v1/trace", &bearer);
        assert_eq!((traced["packets"].as_array().unwrap().len(), &traced["status"]["packets"]), (4, &4.into()), "{traced}");
        assert_eq!(request(&server, "GET /v1/capture/pcapng", &bearer, "").0, 404);
        for (path, body, says) in [
            ("capture", "{\"count\":0}", "count: expected 1 to 100000"),
            ("trace", "{\"count\":1001}", "count: expected 1 to 1000"),
            ("capture", "{\"seconds\":0}", "seconds: expected 1 to 86400"),
            ("capture", "{\"ue\":\"nobody\"}", "ue"),
            ("trace", "{\"imsi\":1}", "imsi"),
            ("trace", "", "not what this path takes"),
        ] {
            let (status, answer) = request(&server, &format!("POST /v1/{path}/start"), &json, body);
            assert!(status == 400 && answer.contains(says), "{path} {body}: {answer}");
        }
    }

    /// Any user of this machine could ask.
    #[test]
    fn without_a_token_nobody_sees_users_packets() {
        let server = server(None, 1000);
        for line in [
            "GET /v1/capture",
            "GET /v1/capture/pcapng",
            "POST /v1/capture/start",
            "POST /v1/capture/stop",
            "GET /v1/trace",
            "POST /v1/trace/start",
        ] {
            let (status, answer) = request(&server, line, JSON, "{}");
            assert!(status == 403 && answer.contains("api.token_file"), "{line}: {answer}");
        }
    }

    #[test]
    fn without_the_token_nothing_is_told() {
        let server = server(Some(TOKEN), 1000);
        for more in [
            "",
            "Authorization: Bearer wrong\r\n",
            &format!("Authorization: Basic {TOKEN}\r\n"),
            &format!("Authorization: Bearer {TOKEN}0\r\n"),
        ] {
            for path in ["/metrics", "/v1/report", "/v1/nothing"] {
                let (status, answer) = request(&server, &format!("GET {path}"), more, "");
                assert!(status == 401 && answer.contains("api.token_file"), "{path} {more}: {answer}");
            }
        }
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        assert_eq!(request(&server, "GET /v1/report", &bearer, "").0, 200);
        // By whatever name: the token is enough.
        let other = format!("GET /v1/report HTTP/1.1\r\nHost: upf.example\r\nConnection: close\r\n{bearer}\r\n");
        assert_eq!(raw(&server, other.as_bytes()).0, 200);
    }

    #[test]
    fn who_has_the_token_is_not_kept_out_by_those_who_have_not() {
        let server = server(Some(TOKEN), 5);
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        let wrong: Vec<u16> = (0..40).map(|_| request(&server, "GET /v1/report", "Authorization: Bearer wrong\r\n", "").0).collect();
        assert!(wrong[..5].iter().all(|status| *status == 401) && wrong.contains(&429), "{wrong:?}");
        // From the same address.
        let right: Vec<u16> = (0..5).map(|_| request(&server, "GET /v1/openapi.json", &bearer, "").0).collect();
        assert_eq!(right, [200; 5]);
    }

    /// All connections were theirs, for as long as they liked.
    #[test]
    fn connections_that_others_hold_keep_nobody_out() {
        for token in [None, Some(TOKEN)] {
            let server = server(token, 1000);
            let bearer = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
            let get = |more: &str| format!("GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
            // One that goes on, as a page's; others say nothing, half of a request, or ask for what all may have.
            let mut kept = TcpStream::connect(server.address).unwrap();
            let ask = |stream: &mut TcpStream| {
                stream.write_all(get(&bearer).as_bytes()).unwrap();
                let mut octets = [0; 4096];
                let length = stream.read(&mut octets).unwrap();
                assert!(octets[..length].starts_with(b"HTTP/1.1 404 ") && octets[..length].ends_with(b"}"), "{octets:?}");
            };
            ask(&mut kept);
            let hold = |n: usize| {
                let mut stream = TcpStream::connect(server.address).unwrap();
                stream.write_all([&b""[..], b"GET / HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"][n % 3]).unwrap();
                stream
            };
            let _held: Vec<TcpStream> = (0..3 * MAX_CONNECTIONS).map(hold).collect();
            for _ in 0..MAX_CONNECTIONS {
                assert_eq!(request(&server, "GET /v1/openapi.json", &bearer, "").0, 200, "{token:?}");
            }
            if token.is_some() {
                ask(&mut kept);
            }
        }
    }

    #[test]
    fn a_request_that_is_refused_ends_its_connection() {
        let (closed, open) = (server(Some(TOKEN), 3), server(None, 3));
        // Of requests that would go on.
        let status = |server: &Server, head: &str| raw(server, format!("{head}\r\n\r\n").as_bytes()).0;
        assert_eq!(status(&closed, "GET /v1/report HTTP/1.1\r\nHost: localhost"), 401);
        assert_eq!(status(&open, "GET /v1/report HTTP/1.1\r\nHost: evil.example"), 403);
        assert_eq!(status(&open, "PUT /v1/drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0"), 415);
        let many: Vec<u16> = (0..8).map(|_| status(&closed, "GET /v1/report HTTP/1.1\r\nHost: localhost")).collect();
        assert!(many.contains(&429), "{many:?}");
    }

    #[test]
    fn requests_without_the_token_are_counted_by_address_and_of_ever_so_many_only_some_are_known() {
        let strangers = Strangers::new(NonZeroU32::new(3).unwrap());
        let now = Instant::now();
        let admitted = |from: &str, at| (0..10).filter(|_| strangers.admits(from.parse().unwrap(), at)).count();
        assert_eq!([admitted("10.0.0.1", now), admitted("10.0.0.2", now), admitted("::ffff:10.0.0.1", now)], [3, 3, 0]);
        // A host has a /64 to itself.
        assert_eq!([admitted("2001:db8::1", now), admitted("2001:db8::2", now), admitted("2001:db8:0:1::1", now)], [3, 0, 3]);
        let a = "10.0.0.1".parse().unwrap();
        assert!(strangers.may_log(a, now) && !strangers.may_log(a, now) && strangers.may_log(a, now + STRANGER_LOGGED));
        for n in 0..2 * MAX_STRANGERS as u32 {
            strangers.admits(Ipv4Addr::from_bits(n).into(), now + Duration::from_millis(n.into()));
        }
        let known = strangers.by_address.lock().unwrap();
        let last = IpAddr::from(Ipv4Addr::from_bits(2 * MAX_STRANGERS as u32 - 1));
        assert!(known.len() == MAX_STRANGERS && known.contains_key(&last), "{}", known.len());
    }

    /// A file of more pieces than one: shared, not copied, and whole.
    #[test]
    fn a_download_gives_the_pieces_that_are_kept_and_so_many_go_on_at_a_time() {
        let mut kept = crate::manage::capture::http::Pieces::default();
        let octets: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
        octets.chunks(1000).for_each(|part| kept.write_all(part).unwrap());
        let (one, other) = (kept.clone().into_all(), kept.clone().into_all());
        assert!(one.len() > 3 && one.iter().flatten().eq(&octets) && kept.bytes() == octets.len() as u64);
        let shared = one.iter().zip(&other).filter(|(a, b)| a.as_ptr() == b.as_ptr()).count();
        assert_eq!(shared, one.len() - 1, "all but the last one are the same memory");
        let places = Arc::new(Semaphore::new(1));
        let place = places.clone().try_acquire_owned().unwrap();
        let download = Download { left: kept.bytes(), pieces: one, _place: place };
        assert_eq!(hyper::body::Body::size_hint(&download).exact(), Some(octets.len() as u64));
        assert!(places.clone().try_acquire_owned().is_err());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let came = runtime.block_on(axum::body::to_bytes(Body::new(download), usize::MAX)).unwrap();
        assert!(came == octets);
        assert!(places.try_acquire_owned().is_ok(), "the place is free when it has ended");
    }

    #[test]
    fn the_page_is_given_to_all_and_what_it_shows_is_not() {
        let open = server(None, 1000);
        let closed = server(Some(TOKEN), 1000);
        for server in [&open, &closed] {
            let (status, answer) = request(server, "GET /", "", "");
            let head = answer.split("\r\n\r\n").next().unwrap();
            assert!(status == 200 && answer.contains("<script type=\"module\" src=\"/page/main.js\">"), "{answer}");
            assert!(
                head.contains("default-src 'none'; script-src 'self'") && head.contains("require-trusted-types-for 'script'"),
                "{head}"
            );
            assert!(head.contains("x-content-type-options: nosniff"), "{head}");
            assert!(request(server, "GET /page/main.js", "", "").1.contains("content-type: text/javascript"));
            assert_eq!(request(server, "PUT /page/main.js", JSON, "{}").0, 405);
        }
        for path in ["/page", "/page/", "/page/none.js", "/page/../api.rs", "/page/%2e%2e/api.rs", "/index.html"] {
            assert_eq!(request(&open, &format!("GET {path}"), "", "").0, 404, "{path}");
            assert_eq!(request(&closed, &format!("GET {path}"), "", "").0, 401, "{path}");
        }
    }

    #[test]
    fn a_web_page_that_has_its_name_resolved_to_this_host_is_refused() {
        let server = server(None, 1000);
        for (host, status) in [
            ("evil.example", 403),
            ("evil.example:80", 403),
            ("", 403),
            ("127.0.0.1:1234", 200),
            ("[::1]:1234", 200),
            ("[::1]", 200),
            ("LOCALHOST:1", 200),
        ] {
            let (got, answer) = raw(&server, format!("GET /v1/report HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes());
            assert_eq!(got, status, "{host}: {answer}");
        }
    }

    #[test]
    fn so_many_requests_come_at_once_and_then_so_many_in_each_second() {
        let start = Instant::now();
        let limit = Limit::new(NonZeroU32::new(10).unwrap(), start);
        let came = |at: Instant| (0..100).filter(|_| limit.admits(at)).count();
        assert_eq!(came(start), 10);
        assert_eq!(came(start + Duration::from_millis(300)), 3);
        assert_eq!(came(start + Duration::from_secs(60)), 10, "what was not used is not saved");
    }

    #[test]
    fn more_requests_than_may_come_in_a_second_are_refused() {
        let server = server(None, 1);
        let answers: Vec<u16> = (0..20).map(|_| request(&server, "GET /v1/openapi.json", "", "").0).collect();
        assert!(answers[0] == 200 && answers.contains(&429), "{answers:?}");
    }

    #[test]
    fn a_token_that_others_can_read_or_guess_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let put = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            read_token(&path)
        };
        let token = put(&format!("{TOKEN}\n"), 0o640).unwrap();
        assert_eq!((&**token.secret, &*token.name), (TOKEN.as_bytes(), "token"));
        assert!(put(TOKEN, 0o644).err().unwrap().contains("others"));
        assert!(put("short", 0o600).err().unwrap().contains("at least 16"));
        assert!(put("0123456789 abcdef", 0o600).is_err());
        assert!(read_token(&folder.path().join("none")).is_err());
    }
}
