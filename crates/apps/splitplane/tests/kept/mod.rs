//! A daemon that keeps its sessions, as a process to be killed, and an SMF that remembers what it was told.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

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
const PATIENCE: Duration = Duration::from_secs(120);
const REMOTE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const PACKETS: u64 = 5;
const PACKET: usize = 100;

/// An address of 127/8 that no other test process uses.
pub(crate) fn loopback(last: u8) -> Ipv4Addr {
    let id = std::process::id();
    Ipv4Addr::new(127, 64 | (id >> 8) as u8 & 63, id as u8, last)
}

pub(crate) struct Daemon {
    folder: tempfile::TempDir,
    /// The network namespace that it runs in, if not the test's.
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
        Daemon::with_store(n4, folder, &store)
    }

    /// With N3 on a socket of loopback.
    pub(crate) fn with_store(n4: SocketAddr, folder: tempfile::TempDir, store: &str) -> Daemon {
        let n3 = format!("driver = \"udp\"\nlisten = \"{}:2152\"", loopback(21));
        Daemon::configured(&format!("listen = \"{n4}\""), folder, store, &n3, None)
    }

    pub(crate) fn configured(n4: &str, folder: tempfile::TempDir, store: &str, n3: &str, namespace: Option<String>) -> Daemon {
        let at = |name: &str| folder.path().join(name).display().to_string();
        let config = format!(
            "[control]\nsocket = \"{}\"\n[n4]\n{n4}\nrequest_port = \"source\"\nheartbeat_s = 0\nmessages_per_second = 0\n\
             [n4.store]\ncounters_within_s = 1\non_stop = \"keep\"\n{store}\n\
             [[port]]\nname = \"n3\"\n{n3}\nrole = \"access\"\nnetwork_instance = \"access\"\n\
             [[port]]\nname = \"n6\"\ndriver = \"pcap\"\noutput = \"{}\"\nrole = \"core\"\nnetwork_instance = \"internet\"\n\
             mac = \"02:00:00:00:06:01\"\naddresses = [\"10.6.0.1/24\"]\n\
             [[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n\
             [[neighbour]]\nport = \"n6\"\nip = \"10.6.0.2\"\nmac = \"02:00:00:00:06:02\"\n\
             [[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.45.0.0/24\"\n",
            at("upf.sock"),
            at("n6.pcap")
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
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env("RUST_LOG", "error").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        self.output = child.stdout.take();
        self.child = Some(child);
    }

    /// Waits until it serves.
    pub(crate) fn is_ready(&mut self) {
        let mut line = String::new();
        BufReader::new(self.output.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
    }

    /// Waits until it has ended by itself; its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends it as an operator does; its report.
    pub(crate) fn end(&mut self) -> String {
        let mut child = self.child.take().unwrap();
        let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(kill.success() && child.wait().unwrap().success());
        std::fs::read_to_string(self.path("report.json")).unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A session, as the SMF was told it is.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) seid: u64,
    pub(crate) teid: u32,
    pub(crate) ue: Ipv4Addr,
}

/// A request without an answer; after a kill it is sent again until it has one.
pub(crate) struct Waiting {
    octets: Vec<u8>,
    /// The session that it is about, by the SMF's SEID.
    cp_seid: u64,
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
        let (sessions, waiting) = Default::default();
        Smf { socket, upf, n3, sequence: 0, next_seid: 0, sessions, waiting, charged: 0, answers: 0 }
    }

    /// The UPF's recovery time stamp.
    pub(crate) fn associate(&mut self) -> u32 {
        let setup = vec![Ie::NodeId(self.node_id()), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
        let answer = self.ask(MessageType::AssociationSetupRequest, None, 0, setup);
        *find!(answer.ies, RecoveryTimeStamp).unwrap()
    }

    pub(crate) fn send(&mut self, kind: MessageType, seid: Option<u64>, cp_seid: u64, ies: Group) {
        self.sequence += 1;
        let message = Message { seid, ..Message::node(kind, self.sequence, ies) };
        let waiting = Waiting { octets: message.encode().unwrap(), cp_seid, sent_at: Instant::now() };
        self.socket.send_to(&waiting.octets, self.upf).unwrap();
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
        let answer = codec::decode(&buffer[..length]).unwrap();
        let waiting = self.waiting.remove(&answer.sequence)?;
        self.answers += 1;
        self.note(waiting.cp_seid, &answer);
        Some((waiting, answer))
    }

    /// Learns from an answer; every request that is sent here must be accepted.
    pub(crate) fn note(&mut self, cp_seid: u64, answer: &Message) {
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
                let (mut teid, mut ue) = (0, Ipv4Addr::UNSPECIFIED);
                for ie in &answer.ies {
                    let Ie::CreatedPdr(ies) = ie else { continue };
                    if let Some(FTeid::Given { teid: given, .. }) = find!(ies, FTeid) {
                        teid = *given;
                    }
                    ue = find!(ies, UeIpAddress).and_then(|ip| ip.ipv4).unwrap_or(ue);
                }
                let new = Session { seid, teid, ue };
                // A TEID of the SMF's own choice is not in the answer.
                let shares = |old: &Session| old.seid == seid || (old.teid == teid && teid != 0) || (old.ue == ue && !ue.is_unspecified());
                assert!(!self.sessions.values().any(shares), "{new:?} has what another session has: {:?}", self.sessions);
                self.sessions.insert(cp_seid, new);
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
        let SocketAddr::V4(own) = self.socket.local_addr().unwrap() else { unreachable!("it is bound to IPv4") };
        NodeId::Ipv4(*own.ip())
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
            Ie::FSeid(FSeid { seid: cp_seid, ipv4: Some(loopback(22)), ipv6: None }),
            pdr(1, vec![Ie::SourceInterface(0), Ie::FTeid(tunnel), internet(), ue(false)], vec![removal]),
            pdr(2, vec![Ie::SourceInterface(1), internet(), ue(true)], Vec::new()),
            Ie::CreateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::FORW), up]),
            Ie::CreateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF)]),
            Ie::CreateUrr(vec![Ie::UrrId(1), Ie::MeasurementMethod(0x02), Ie::ReportingTriggers(Triggers(0))]),
        ];
        self.send(MessageType::SessionEstablishmentRequest, Some(0), cp_seid, ies);
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
                    let gnb = OuterHeaderCreation::gtpu_ipv4(random.random_range(1..1 << 20), loopback(23));
                    let to = Ie::UpdateForwardingParameters(vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(gnb)]);
                    let far = Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::FORW), to]);
                    self.send(MessageType::SessionModificationRequest, Some(seid), cp_seid, vec![far]);
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
        let Session { teid, ue, .. } = self.sessions[&cp_seid].clone();
        let mut user = Vec::new();
        wire::ipv4::Repr { src: ue, dst: REMOTE, protocol: 253, tos: 0, ttl: 64, payload_len: PACKET - 20 }.emit(&mut user);
        user.resize(PACKET, 0);
        let header = [&[0x30, 0xff][..], &(PACKET as u16).to_be_bytes(), &teid.to_be_bytes()].concat();
        for _ in 0..PACKETS {
            gnb.send_to(&[&header[..], &user].concat(), (self.n3, 2152)).unwrap();
        }
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
