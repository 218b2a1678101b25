//! A daemon that keeps its sessions, as a process to be killed, and an SMF that remembers what it was told.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use daemon::manage::control::{MAX_REQUEST, Reply, Request};
use daemon::manage::report::Report;
use daemon::manage::sessions::{SessionDetail, SessionQuery};
use daemon::manage::socket;
use pfcp::codec::{
    self, ApplyActionFlags, Cause, FSeid, FTeid, Group, Ie, Message, MessageType, Name, NodeId, OuterHeaderCreation, OuterHeaderRemoval,
    Triggers, UeIpAddress, find,
};
use rand::Rng;

/// Requests in flight, and sessions at most: fewer than the pool has addresses.
const IN_FLIGHT: usize = 8;
const SESSIONS: usize = 120;
/// T1. N1 has no limit: the daemon is away for as long as a start takes.
const T1: Duration = Duration::from_millis(300);
/// Nothing takes so long, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
const REMOTE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const PACKETS: u64 = 5;
pub(crate) const PACKET: usize = 100;
/// What the daemons are configured with.
pub(crate) const COUNTERS_WITHIN_S: u64 = 1;

/// An address of 127/8 that no other test process uses.
pub(crate) fn loopback(last: u8) -> Ipv4Addr {
    let id = std::process::id();
    Ipv4Addr::new(127, 64 | (id >> 8) as u8 & 63, id as u8, last)
}

/// What a daemon is configured with. Its N6 is a file if nothing else is asked for, and it has no store.
#[derive(Default)]
pub(crate) struct Setup {
    /// Keys of `[n4]`, with `listen`.
    pub(crate) n4: String,
    /// Keys of `[n4.store]` besides those that all stores have here.
    pub(crate) store: Option<String>,
    /// Keys of the ports, and what else.
    pub(crate) n3: String,
    pub(crate) n6: Option<String>,
    pub(crate) more: String,
    /// The network namespace that it runs in, if not the test's.
    pub(crate) namespace: Option<String>,
}

/// Of `[split]`: a planner, which wants all sessions in front.
pub(crate) const PLANNED: &str = "[split]\nfast = \"asic\"\npolicy = \"planned\"\nrules = [{ ue = \"10.45.0.0/24\", then = \"fast\" }]\n";

impl Setup {
    /// With N3 on a socket of loopback.
    pub(crate) fn on_loopback(n4: SocketAddr) -> Setup {
        let n4 = format!("listen = \"{n4}\"\nheartbeat_s = 0\nmessages_per_second = 0");
        Setup { n4, n3: format!("driver = \"udp\"\nlisten = \"{}:2152\"", loopback(21)), ..Setup::default() }
    }
}

pub(crate) struct Daemon {
    folder: tempfile::TempDir,
    namespace: Option<String>,
    child: Option<Child>,
    /// Where it says that it is ready.
    output: Option<ChildStdout>,
}

impl Daemon {
    /// With a store of its own.
    pub(crate) fn new(n4: SocketAddr) -> Daemon {
        let folder = tempfile::tempdir().unwrap();
        let store = format!("path = \"{}\"", folder.path().join("store").display());
        Daemon::configured(Setup { store: Some(store), more: PLANNED.into(), ..Setup::on_loopback(n4) }, folder)
    }

    pub(crate) fn configured(setup: Setup, folder: tempfile::TempDir) -> Daemon {
        let at = |name: &str| folder.path().join(name).display().to_string();
        let Setup { n4, store, n3, n6, more, namespace } = setup;
        let store = store.map(|keys| format!("[n4.store]\ncounters_within_s = {COUNTERS_WITHIN_S}\non_stop = \"keep\"\n{keys}\n"));
        let n6 = n6.unwrap_or_else(|| format!("driver = \"pcap\"\noutput = \"{}\"", at("n6.pcap")));
        let config = format!(
            "[control]\nsocket = \"{}\"\n[n4]\n{n4}\nrequest_port = \"source\"\n{}\
             [[port]]\nname = \"n3\"\n{n3}\nrole = \"access\"\nnetwork_instance = \"access\"\n\
             [[port]]\nname = \"n6\"\n{n6}\nrole = \"core\"\nnetwork_instance = \"internet\"\n\
             mac = \"02:00:00:00:06:01\"\naddresses = [\"10.6.0.1/24\"]\n\
             [[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n\
             [[neighbour]]\nport = \"n6\"\nip = \"10.6.0.2\"\nmac = \"02:00:00:00:06:02\"\n\
             [[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.45.0.0/24\"\n{more}",
            at("upf.sock"),
            store.unwrap_or_default(),
        );
        std::fs::write(folder.path().join("upf.toml"), config).unwrap();
        Daemon { folder, namespace, child: None, output: None }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn start(&mut self) {
        self.begin();
        self.is_ready();
    }

    /// Starts it; with a shared store it may be a standby then.
    pub(crate) fn begin(&mut self) {
        let binary = env!("CARGO_BIN_EXE_splitplane");
        let mut command = match &self.namespace {
            None => Command::new(binary),
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name, binary]);
                command
            }
        };
        command.args(["run", "--config"]).arg(self.path("upf.toml")).arg("--report").arg(self.path("report.json"));
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env("RUST_LOG", "error,daemon::n4::store=info").stdin(Stdio::null());
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        command.stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        self.output = child.stdout.take();
        self.child = Some(child);
    }

    /// Waits until it serves.
    pub(crate) fn is_ready(&mut self) {
        let mut line = String::new();
        BufReader::new(self.output.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "{}", self.log());
    }

    /// What it has logged, in all its lives.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    /// Of how long before each start it said that packets may be missing in what is charged.
    pub(crate) fn uncounted(&self) -> Vec<Duration> {
        let log = self.log();
        let said = log.lines().filter_map(|line| Some(line.split_once(" s before this start may be missing")?.0));
        said.map(|said| Duration::from_secs_f64(said.rsplit(' ').next().unwrap().parse().unwrap())).collect()
    }

    pub(crate) fn ask(&self, request: &Request) -> Reply {
        socket::ask(&self.path("upf.sock"), request, MAX_REQUEST).unwrap()
    }

    pub(crate) fn report(&self) -> Report {
        match self.ask(&Request::Report {}) {
            Reply::Report(report) => *report,
            other => panic!("asked for its report it says {other:?}"),
        }
    }

    pub(crate) fn session(&self, seid: u64) -> SessionDetail {
        match self.ask(&Request::Session { seid }) {
            Reply::Session(session) => *session,
            other => panic!("asked for session {seid:#x} it says {other:?}"),
        }
    }

    /// It has each session with the TEID, the UE address and the tunnel that its SMF was told of or told, and no other one.
    pub(crate) fn has_what_was_told(&self, smf: &Smf) {
        for (cp_seid, told) in &smf.sessions {
            let is = self.session(told.seid);
            assert_eq!((is.session.cp_seid, &is.session.ue_ipv4s[..]), (*cp_seid, &[told.ue][..]), "{told:?}: {is:?}");
            assert_eq!(is.session.teids, [told.teid], "{told:?}: {is:?}");
            let far = &is.rules.fars[&2];
            let tunnel = far.forwarding.as_ref().and_then(|to| to.outer_header);
            assert_eq!(tunnel.map(|to| (to.teid, to.ipv4)), told.gnb, "{told:?}: {far:?}");
            assert_eq!((far.action.forward, far.action.buffer), (told.gnb.is_some(), told.gnb.is_none()), "{told:?}: {far:?}");
        }
        let Reply::Sessions(page) = self.ask(&Request::Sessions(SessionQuery::default())) else { panic!("it has no sessions") };
        assert_eq!(page.total, smf.sessions.len() as u64, "there is one that no SMF was told of");
    }

    /// Waits until it has ended by itself; its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    /// Waits until all sessions are where placement wants them.
    pub(crate) fn has_them_in_front(&self, smf: &Smf) {
        until("all sessions run on the fast target", || {
            let report = self.report();
            let front = &report.targets["asic"];
            let all = smf.sessions.len() as u64;
            front.sessions == all && front.wanted == all && report.offload.unplaced == 0
        });
        for told in smf.sessions.values().take(3) {
            let is = self.session(told.seid);
            assert_eq!((&*is.placement.target, &*is.placement.reason), ("asic", "rule"), "{is:?}");
        }
    }

    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends it as an operator does; its report.
    pub(crate) fn end(&mut self) -> String {
        self.signal("-TERM");
        assert_eq!(self.ended(), Some(0), "{}", self.log());
        std::fs::read_to_string(self.path("report.json")).unwrap()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            println!("the daemon's log:\n{}", self.log());
        }
    }
}

/// Waits for a condition, however long that takes on a busy machine.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: it has not come about in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Packets of a session that come at a steady rate, whether the UPF is there or not, until this value goes.
pub(crate) struct Stream {
    ends: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Stream {
    /// To `to`, one each `period`; `packet` makes the one with a number.
    pub(crate) fn start(from: UdpSocket, to: SocketAddr, period: Duration, packet: impl Fn(u64) -> Vec<u8> + Send + 'static) -> Stream {
        let (ends, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (until, count) = (ends.clone(), sent.clone());
        let send = move || {
            while !until.load(Ordering::SeqCst) {
                // Nobody listens while the daemon is away. It is counted first: what has come was sent before.
                let number = count.fetch_add(1, Ordering::SeqCst);
                let _ = from.send_to(&packet(number), to);
                std::thread::sleep(period);
            }
        };
        Stream { ends, sent, thread: Some(std::thread::spawn(send)) }
    }

    /// How many were sent; those that come after have numbers from this one on.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Sends no more; how many there were.
    pub(crate) fn end(mut self) -> u64 {
        self.stop();
        self.sent()
    }

    fn stop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Looks at what a daemon has counted of a session, again and again, in all its lives.
pub(crate) struct Watch {
    ends: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<(Instant, u64)>>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(daemon: &Daemon, seid: u64) -> Watch {
        let (ends, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (until, into, socket) = (ends.clone(), seen.clone(), daemon.path("upf.sock"));
        let look = move || {
            while !until.load(Ordering::SeqCst) {
                if let Ok(Reply::Session(session)) = socket::ask(&socket, &Request::Session { seid }, MAX_REQUEST) {
                    into.lock().unwrap().push((Instant::now(), session.session.uplink.bytes));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        Watch { ends, seen, thread: Some(std::thread::spawn(look)) }
    }

    /// What was counted last in this time; none if it was not looked at.
    pub(crate) fn counted(&self, from: Instant, to: Instant) -> Option<u64> {
        self.seen.lock().unwrap().iter().rev().find(|(at, _)| (from..=to).contains(at)).map(|(_, bytes)| *bytes)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A session, as the SMF was told it is.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) seid: u64,
    pub(crate) teid: u32,
    pub(crate) ue: Ipv4Addr,
    /// The tunnel that its downlink packets go into; none: they are buffered.
    pub(crate) gnb: Option<(u32, Ipv4Addr)>,
}

/// A request without an answer; after a kill it is sent again until it has one.
pub(crate) struct Waiting {
    octets: Vec<u8>,
    /// The session that it is about, by the SMF's SEID.
    cp_seid: u64,
    /// What it asks for: a tunnel of the gNodeB's, a TEID of ours.
    gnb: Option<(u32, Ipv4Addr)>,
    teid: Option<u32>,
    sent_at: Instant,
}

/// What an SMF knows, and what it has asked for.
pub(crate) struct Smf {
    pub(crate) socket: UdpSocket,
    pub(crate) upf: SocketAddr,
    pub(crate) n3: Ipv4Addr,
    pub(crate) sequence: u32,
    pub(crate) next_seid: u64,
    pub(crate) sessions: BTreeMap<u64, Session>,
    pub(crate) waiting: BTreeMap<u32, Waiting>,
    /// TEIDs that any session ever had.
    pub(crate) held: BTreeSet<u32>,
    /// Requests of the UPF's, but for heartbeats that were answered.
    pub(crate) asked: Vec<Message>,
    pub(crate) answers_heartbeats: bool,
    /// Bytes that were charged, of all sessions.
    pub(crate) charged: u64,
    pub(crate) answers: u64,
}

impl Smf {
    /// Of loopback, with an address for a UPF.
    pub(crate) fn new() -> Smf {
        let upf = UdpSocket::bind((loopback(21), 0)).unwrap().local_addr().unwrap();
        Smf::at(UdpSocket::bind((loopback(22), 0)).unwrap(), upf, loopback(21))
    }

    /// Of a UPF with these addresses for N4 and N3.
    pub(crate) fn at(socket: UdpSocket, upf: SocketAddr, n3: Ipv4Addr) -> Smf {
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let (sessions, waiting, held, asked) = Default::default();
        let answers_heartbeats = true;
        Smf { socket, upf, n3, sequence: 0, next_seid: 0, sessions, waiting, held, asked, answers_heartbeats, charged: 0, answers: 0 }
    }

    /// The UPF's recovery time stamp.
    pub(crate) fn associate(&mut self) -> u32 {
        let setup = vec![Ie::NodeId(self.node_id()), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
        let answer = self.ask(MessageType::AssociationSetupRequest, None, 0, setup);
        *find!(answer.ies, RecoveryTimeStamp).unwrap()
    }

    pub(crate) fn send(&mut self, kind: MessageType, seid: Option<u64>, cp_seid: u64, ies: Group) {
        self.send_for(kind, seid, cp_seid, ies, None, None);
    }

    fn send_for(
        &mut self,
        kind: MessageType,
        seid: Option<u64>,
        cp_seid: u64,
        ies: Group,
        gnb: Option<(u32, Ipv4Addr)>,
        teid: Option<u32>,
    ) {
        self.sequence += 1;
        let message = Message { seid, ..Message::node(kind, self.sequence, ies) };
        let waiting = Waiting { octets: message.encode().unwrap(), cp_seid, gnb, teid, sent_at: Instant::now() };
        // Nobody is there while the daemon is away.
        let _ = self.socket.send_to(&waiting.octets, self.upf);
        self.waiting.insert(self.sequence, waiting);
    }

    /// Takes an answer if one comes soon, and sends again what has waited for long.
    pub(crate) fn receive(&mut self) -> Option<(Waiting, Message)> {
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.sent_at.elapsed() > T1) {
            waiting.sent_at = Instant::now();
            // Nobody is there while the daemon is away.
            let _ = self.socket.send_to(&waiting.octets, self.upf);
        }
        let mut buffer = [0; 4096];
        let length = self.socket.recv(&mut buffer).ok()?;
        let message = codec::decode(&buffer[..length]).unwrap();
        match message.kind {
            MessageType::HeartbeatRequest if !self.answers_heartbeats => return None,
            MessageType::HeartbeatRequest => {
                self.answer(&message, MessageType::HeartbeatResponse, vec![Ie::RecoveryTimeStamp(1)]);
                return None;
            }
            MessageType::NodeReportRequest | MessageType::AssociationUpdateRequest | MessageType::SessionReportRequest => {
                self.asked.push(message);
                return None;
            }
            _ => {}
        }
        let waiting = self.waiting.remove(&message.sequence)?;
        self.answers += 1;
        self.note(&waiting, &message);
        Some((waiting, message))
    }

    /// Answers a request of the UPF's.
    pub(crate) fn answer(&self, request: &Message, kind: MessageType, ies: Group) {
        let octets = Message::node(kind, request.sequence, ies).encode().unwrap();
        self.socket.send_to(&octets, self.upf).unwrap();
    }

    /// Learns from an answer; every request that is sent here must be accepted.
    fn note(&mut self, waiting: &Waiting, answer: &Message) {
        let cp_seid = waiting.cp_seid;
        if answer.kind != MessageType::HeartbeatResponse {
            assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED), "of session {cp_seid}: {answer:?}");
        }
        for ie in &answer.ies {
            if let Ie::UsageReportInModificationResponse(ies) | Ie::UsageReportInDeletionResponse(ies) = ie {
                self.charged += find!(ies, VolumeMeasurement).and_then(|volume| volume.bytes.total).unwrap_or(0);
            }
        }
        match answer.kind {
            MessageType::SessionEstablishmentResponse => {
                let seid = find!(answer.ies, FSeid).unwrap().seid;
                // A TEID of the SMF's own choice is not in the answer.
                let (mut teid, mut ue) = (waiting.teid.unwrap_or(0), Ipv4Addr::UNSPECIFIED);
                for ie in &answer.ies {
                    let Ie::CreatedPdr(ies) = ie else { continue };
                    if let Some(FTeid::Given { teid: given, .. }) = find!(ies, FTeid) {
                        teid = *given;
                    }
                    ue = find!(ies, UeIpAddress).and_then(|ip| ip.ipv4).unwrap_or(ue);
                }
                let new = Session { seid, teid, ue, gnb: None };
                assert!(seid != 0 && teid != 0 && !ue.is_unspecified(), "{new:?}: {answer:?}");
                let shares = |old: &Session| old.seid == seid || old.teid == teid || old.ue == ue;
                assert!(!self.sessions.values().any(shares), "{new:?} has what another session has: {:?}", self.sessions);
                self.sessions.insert(cp_seid, new);
                self.held.insert(teid);
            }
            MessageType::SessionModificationResponse => {
                if let Some(session) = self.sessions.get_mut(&cp_seid) {
                    session.gnb = waiting.gnb.or(session.gnb);
                }
            }
            MessageType::SessionDeletionResponse => drop(self.sessions.remove(&cp_seid)),
            _ => {}
        }
    }

    /// Waits for all answers.
    pub(crate) fn settle(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self.waiting.is_empty() {
            self.receive();
            assert!(Instant::now() < end, "{} requests have no answer", self.waiting.len());
        }
    }

    pub(crate) fn ask(&mut self, kind: MessageType, seid: Option<u64>, cp_seid: u64, ies: Group) -> Message {
        self.settle();
        self.send(kind, seid, cp_seid, ies);
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some((_, answer)) = self.receive() {
                return answer;
            }
            assert!(Instant::now() < end, "{kind:?} has no answer");
        }
    }

    pub(crate) fn node_id(&self) -> NodeId {
        match self.socket.local_addr().unwrap().ip() {
            IpAddr::V4(own) => NodeId::Ipv4(own),
            IpAddr::V6(own) => NodeId::Ipv6(own),
        }
    }

    pub(crate) fn f_seid(&self, seid: u64) -> FSeid {
        match self.socket.local_addr().unwrap().ip() {
            IpAddr::V4(own) => FSeid { seid, ipv4: Some(own), ipv6: None },
            IpAddr::V6(own) => FSeid { seid, ipv4: None, ipv6: Some(own) },
        }
    }

    /// A new session, of addresses that the UPF chooses, or with this TEID.
    pub(crate) fn establish(&mut self, teid: Option<u32>) {
        self.next_seid += 1;
        let cp_seid = self.next_seid;
        let internet = || Ie::NetworkInstance(Name::Labels("internet".into()));
        let ue = |destination| Ie::UeIpAddress(UeIpAddress { choose_ipv4: true, destination, ..UeIpAddress::default() });
        let tunnel = match teid {
            Some(teid) => FTeid::Given { teid, ipv4: Some(self.n3), ipv6: None },
            None => FTeid::Choose { ipv4: true, ipv6: false, choose_id: None },
        };
        let pdr = |id: u16, pdi: Group, rest: Group| {
            let ies = vec![Ie::PdrId(id), Ie::Precedence(255), Ie::Pdi(pdi), Ie::FarId(id.into()), Ie::UrrId(1)];
            Ie::CreatePdr([ies, rest].concat())
        };
        let removal = Ie::OuterHeaderRemoval(OuterHeaderRemoval { description: 0, extension_deletion: None });
        let up = Ie::ForwardingParameters(vec![Ie::DestinationInterface(1), internet()]);
        let ies = vec![
            Ie::NodeId(self.node_id()),
            Ie::FSeid(self.f_seid(cp_seid)),
            pdr(1, vec![Ie::SourceInterface(0), Ie::FTeid(tunnel), internet(), ue(false)], vec![removal]),
            pdr(2, vec![Ie::SourceInterface(1), internet(), ue(true)], Vec::new()),
            Ie::CreateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::FORW), up]),
            Ie::CreateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF)]),
            Ie::CreateUrr(vec![Ie::UrrId(1), Ie::MeasurementMethod(0x02), Ie::ReportingTriggers(Triggers(0))]),
        ];
        self.send_for(MessageType::SessionEstablishmentRequest, Some(0), cp_seid, ies, None, teid);
    }

    /// Has downlink packets of a session go into this tunnel.
    pub(crate) fn forward_to(&mut self, cp_seid: u64, teid: u32, gnb: Ipv4Addr) {
        let tunnel = OuterHeaderCreation::gtpu_ipv4(teid, gnb);
        let to = Ie::UpdateForwardingParameters(vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(tunnel)]);
        let far = Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::FORW), to]);
        let seid = self.sessions[&cp_seid].seid;
        self.send_for(MessageType::SessionModificationRequest, Some(seid), cp_seid, vec![far], Some((teid, gnb)), None);
    }

    /// Deletes all sessions.
    pub(crate) fn delete_all(&mut self) {
        for (cp_seid, session) in self.sessions.clone() {
            self.send(MessageType::SessionDeletionRequest, Some(session.seid), cp_seid, Vec::new());
            while self.waiting.len() >= IN_FLIGHT {
                self.receive();
            }
        }
        self.settle();
        assert!(self.sessions.is_empty());
    }

    /// Establishes sessions with these TEIDs; `None`: of the UPF's choice.
    pub(crate) fn establish_all(&mut self, teids: impl IntoIterator<Item = Option<u32>>) {
        for teid in teids {
            self.establish(teid);
            while self.waiting.len() >= IN_FLIGHT {
                self.receive();
            }
        }
        self.settle();
    }

    /// Establishes, modifies or deletes some session that no request is about.
    pub(crate) fn do_something(&mut self, random: &mut impl Rng) {
        let busy: Vec<u64> = self.waiting.values().map(|waiting| waiting.cp_seid).collect();
        let free: Vec<(u64, u64)> = self.sessions.iter().filter(|(cp, _)| !busy.contains(cp)).map(|(cp, s)| (*cp, s.seid)).collect();
        let pick = (!free.is_empty()).then(|| free[random.random_range(0..free.len())]);
        let begins = self.sessions.len() + busy.len() < SESSIONS && random.random_bool(0.5);
        match pick {
            Some((cp_seid, seid)) if !begins => {
                if random.random_bool(0.5) {
                    self.send(MessageType::SessionDeletionRequest, Some(seid), cp_seid, Vec::new());
                } else {
                    self.forward_to(cp_seid, random.random_range(1..1 << 20), loopback(23));
                }
            }
            _ => self.establish(None),
        }
    }

    /// The UPF is the one with this recovery time stamp, and has each session.
    pub(crate) fn all_is_there(&mut self, stamp: u32) {
        let answer = self.ask(MessageType::HeartbeatRequest, None, 0, vec![Ie::RecoveryTimeStamp(1)]);
        assert_eq!(find!(answer.ies, RecoveryTimeStamp), Some(&stamp));
        for (cp_seid, session) in self.sessions.clone() {
            self.send(MessageType::SessionModificationRequest, Some(session.seid), cp_seid, Vec::new());
            while self.waiting.len() >= IN_FLIGHT {
                self.receive();
            }
        }
        self.settle();
    }

    /// Asks for something that is not there, until that has the cause "System failure", or no longer has.
    pub(crate) fn until_refused(&mut self, refused: bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.sequence += 1;
            let ies = vec![Ie::NodeId(NodeId::Ipv4(loopback(99)))];
            let release = Message::node(MessageType::AssociationReleaseRequest, self.sequence, ies);
            self.socket.send_to(&release.encode().unwrap(), self.upf).unwrap();
            let mut buffer = [0; 4096];
            // Answers that have waited come late.
            while let Ok(length) = self.socket.recv(&mut buffer) {
                let answer = codec::decode(&buffer[..length]).unwrap();
                if answer.sequence == self.sequence && (answer.cause() == Some(Cause::SYSTEM_FAILURE)) == refused {
                    return;
                }
            }
            assert!(Instant::now() < end, "refused: {}", !refused);
        }
    }

    /// Asks for so much and more while requests are in flight.
    pub(crate) fn work(&mut self, answers: u64, random: &mut impl Rng) {
        let last = self.answers + answers;
        while self.answers < last {
            while self.waiting.len() < IN_FLIGHT {
                self.do_something(random);
            }
            self.receive();
        }
    }

    /// Sends packets by a session until so much more is charged: each is charged once, whatever has happened before.
    pub(crate) fn carry(&mut self, gnb: &UdpSocket, cp_seid: u64, before: u64) {
        self.send_packets(gnb, cp_seid);
        self.are_charged(cp_seid, before);
    }

    pub(crate) fn send_packets(&self, gnb: &UdpSocket, cp_seid: u64) {
        let packet = self.packet_of(cp_seid);
        for _ in 0..PACKETS {
            gnb.send_to(&packet, (self.n3, 2152)).unwrap();
        }
    }

    /// A packet of its UE in its tunnel.
    pub(crate) fn packet_of(&self, cp_seid: u64) -> Vec<u8> {
        let Session { teid, ue, .. } = self.sessions[&cp_seid].clone();
        let mut user = Vec::new();
        wire::ipv4::Repr { src: ue, dst: REMOTE, protocol: 253, tos: 0, ttl: 64, payload_len: PACKET - 20 }.emit(&mut user);
        user.resize(PACKET, 0);
        tunnelled(teid, &user)
    }

    pub(crate) fn are_charged(&mut self, cp_seid: u64, before: u64) {
        let seid = self.sessions[&cp_seid].seid;
        let end = Instant::now() + PATIENCE;
        while self.charged < before + PACKETS * PACKET as u64 {
            self.ask(MessageType::SessionModificationRequest, Some(seid), cp_seid, vec![Ie::QueryUrr(vec![Ie::UrrId(1)])]);
            assert!(Instant::now() < end, "{} bytes are charged, of {before} before and {PACKETS} packets", self.charged);
        }
        assert_eq!(self.charged, before + PACKETS * PACKET as u64, "a packet is charged once");
    }
}

/// A user's packet in a tunnel.
pub(crate) fn tunnelled(teid: u32, user: &[u8]) -> Vec<u8> {
    [&[0x30, 0xff][..], &(user.len() as u16).to_be_bytes(), &teid.to_be_bytes(), user].concat()
}
