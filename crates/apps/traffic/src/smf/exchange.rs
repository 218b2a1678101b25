//! The N4 socket: requests of ours sent until they are answered (T1, N1; TS 29.244 §6.4), requests of the UPF answered.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pfcp::codec::{self, Ie, Message, MessageType, find};

use super::answers::Answers;
use super::{Event, Shared, SmfError, lock};

/// How often a thread that waits looks whether it is to end.
const TICK: Duration = Duration::from_millis(100);
/// Limit of messages processed in one datagram.
const MAX_BUNDLED: usize = 16;

/// See the file's top. Dropping it ends its threads.
pub(super) struct Exchange {
    inner: Arc<Inner>,
    local: SocketAddr,
    threads: Vec<JoinHandle<()>>,
}

struct Inner {
    shared: Arc<Shared>,
    socket: UdpSocket,
    waiting: Mutex<HashMap<u32, Waiting>>,
    sequence: AtomicU32,
    associated: AtomicBool,
    stopping: AtomicBool,
    counters: Mutex<BTreeMap<&'static str, u64>>,
    events: SyncSender<Event>,
}

/// A request without an answer.
struct Waiting {
    answer: MessageType,
    to: SyncSender<Message>,
}

impl Exchange {
    /// Opens the socket and starts the threads.
    pub(crate) fn open(shared: Arc<Shared>, events: SyncSender<Event>) -> Result<Exchange, SmfError> {
        let wanted = shared.config.local;
        let what = || format!("N4 socket {wanted}");
        let socket = UdpSocket::bind(wanted).map_err(|e| SmfError::io(what(), e))?;
        socket.set_read_timeout(Some(TICK)).map_err(|e| SmfError::io(what(), e))?;
        // Many sessions report at once; less than asked is no fault.
        let _ = nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBuf, &(4 << 20));
        let local = socket.local_addr().map_err(|e| SmfError::io(what(), e))?;
        let inner = Arc::new(Inner {
            shared,
            socket,
            waiting: Mutex::default(),
            sequence: AtomicU32::new(0),
            associated: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            counters: Mutex::default(),
            events,
        });
        let (receiver, beater) = (inner.clone(), inner.clone());
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.into()).spawn(run).map_err(|e| SmfError::io("starting a thread", e))
        };
        let mut threads = vec![spawn("smf-n4", Box::new(move || receiver.receive_all()))?];
        match spawn("smf-heartbeat", Box::new(move || beater.beat())) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                inner.stopping.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(Exchange { inner, local, threads })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// From now on heartbeats are sent.
    pub(crate) fn associated(&self) {
        self.inner.associated.store(true, Ordering::Relaxed);
    }

    /// From now on none are.
    pub(crate) fn unassociated(&self) {
        self.inner.associated.store(false, Ordering::Relaxed);
    }

    /// Sends a request and waits for an answer that accepts it. The sequence number is set here.
    pub(crate) fn accepted(&self, request: Message) -> Result<Message, SmfError> {
        self.inner.accepted(request)
    }

    pub(crate) fn heartbeat(&self) -> Result<u32, SmfError> {
        self.inner.heartbeat()
    }

    pub(crate) fn counters(&self) -> BTreeMap<String, u64> {
        lock(&self.inner.counters).iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.inner.stopping.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::error!("a thread of the SMF has panicked");
            }
        }
    }
}

impl Inner {
    fn accepted(&self, request: Message) -> Result<Message, SmfError> {
        let kind = request.kind;
        let answer = self.transact(request)?;
        match SmfError::of(kind, &answer) {
            Some(error) => Err(error),
            None => Ok(answer),
        }
    }

    fn heartbeat(&self) -> Result<u32, SmfError> {
        let request = vec![Ie::RecoveryTimeStamp(self.shared.started_at_ntp_s)];
        let answer = self.accepted(Message::node(MessageType::HeartbeatRequest, 0, request))?;
        let missing = || SmfError::missing(MessageType::HeartbeatRequest, codec::number::RecoveryTimeStamp);
        find!(answer.ies, RecoveryTimeStamp).copied().ok_or_else(missing)
    }

    /// Sends a request N1 times at most, T1 apart, until its answer comes.
    fn transact(&self, mut request: Message) -> Result<Message, SmfError> {
        let kind = request.kind;
        let config = &self.shared.config;
        let answer = kind.response().ok_or_else(|| SmfError::Plan(format!("{kind:?} is no request")))?;
        let (to, answered) = sync_channel(1);
        request.sequence = self.reserve(Waiting { answer, to });
        let result = request.encode().map_err(|e| SmfError::Plan(e.to_string())).and_then(|octets| {
            let began = Instant::now();
            for attempt in 0..config.n1 {
                self.count(if attempt == 0 { "sent" } else { "sent_again" });
                self.socket.send_to(&octets, config.upf).map_err(|e| SmfError::io(format!("sending to {}", config.upf), e))?;
                match answered.recv_timeout(config.t1) {
                    Ok(message) => return Ok(message),
                    Err(RecvTimeoutError::Timeout) if !self.stopping.load(Ordering::Relaxed) => {}
                    Err(_) => break,
                }
            }
            self.count("unanswered");
            Err(SmfError::NoAnswer { request: kind, upf: config.upf, sent: config.n1, waited: began.elapsed() })
        });
        lock(&self.waiting).remove(&request.sequence);
        result
    }

    /// A sequence number that no request waits with; 24 bits (§7.2.2.2).
    fn reserve(&self, waiting: Waiting) -> u32 {
        let mut all = lock(&self.waiting);
        loop {
            let sequence = (self.sequence.fetch_add(1, Ordering::Relaxed) + 1) & 0xff_ffff;
            if let std::collections::hash_map::Entry::Vacant(entry) = all.entry(sequence) {
                entry.insert(waiting);
                return sequence;
            }
        }
    }

    fn receive_all(&self) {
        let mut buffer = vec![0; 65_536];
        let mut answers = Answers::default();
        while !self.stopping.load(Ordering::Relaxed) {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => self.datagram(&buffer[..length], from, &mut answers),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                Err(error) => {
                    // An ICMP error about what we sent: the retransmission deals with it.
                    tracing::debug!(%error, "N4 socket");
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    fn datagram(&self, octets: &[u8], from: SocketAddr, answers: &mut Answers) {
        if from.ip() != self.shared.config.upf.ip() {
            return self.count("dropped_foreign");
        }
        let mut rest = octets;
        for _ in 0..MAX_BUNDLED {
            let Ok((message, after)) = codec::decode_first(rest) else { return self.count("dropped_undecodable") };
            let octets = &rest[..rest.len() - after.len()];
            self.count("received");
            if message.kind.is_request() {
                self.request(&message, octets, from, answers);
            } else {
                self.response(message);
            }
            if after.is_empty() {
                return;
            }
            rest = after;
        }
        self.count("dropped_undecodable");
    }

    fn request(&self, request: &Message, octets: &[u8], from: SocketAddr, answers: &mut Answers) {
        let answer = answers.answer(request, octets, &self.shared, &self.events);
        match answer {
            Some(octets) => {
                if let Err(error) = self.socket.send_to(&octets, from) {
                    tracing::debug!(%error, %from, "answer not sent");
                }
                self.count("answered");
            }
            None => self.count("dropped_unknown_request"),
        }
    }

    fn response(&self, message: Message) {
        // What follows at once, a downlink data report, names the session by our SEID: its other name must be known.
        if message.kind == MessageType::SessionEstablishmentResponse
            && let (Some(cp_seid), Some(f_seid)) = (message.seid, find!(message.ies, FSeid))
            && let Some(kept) = lock(&self.shared.state).sessions.get_mut(&cp_seid)
        {
            kept.up_seid = f_seid.seid;
        }
        let waiting = lock(&self.waiting);
        match waiting.get(&message.sequence) {
            Some(one) if one.answer == message.kind || message.kind == MessageType::VersionNotSupportedResponse => {
                // Full: a repeated answer.
                let _ = one.to.try_send(message);
            }
            _ => {
                drop(waiting);
                self.count("dropped_unmatched");
            }
        }
    }

    /// Heartbeats while associated.
    fn beat(&self) {
        let Some(period) = self.shared.config.heartbeat_period else { return };
        let mut lost = false;
        let mut next = Instant::now() + period;
        while !self.stopping.load(Ordering::Relaxed) {
            let now = Instant::now();
            if now < next {
                std::thread::park_timeout((next - now).min(TICK));
                continue;
            }
            next = now + period;
            if !self.associated.load(Ordering::Relaxed) {
                lost = false;
                continue;
            }
            match self.heartbeat() {
                Ok(recovery_ntp_s) => {
                    lost = false;
                    super::answers::note_recovery(&self.shared, recovery_ntp_s, &self.events);
                }
                // Stopping or released meanwhile is no loss.
                Err(SmfError::NoAnswer { .. })
                    if !lost && self.associated.load(Ordering::Relaxed) && !self.stopping.load(Ordering::Relaxed) =>
                {
                    lost = true;
                    let _ = self.events.try_send(Event::Lost);
                }
                Err(error) => tracing::debug!(%error, "heartbeat"),
            }
        }
    }

    fn count(&self, name: &'static str) {
        *lock(&self.counters).entry(name).or_default() += 1;
    }
}
