//! On what ground is attacked? Namespaces, the daemon, its SMF with heartbeats, honest users and the attacker's own.

use super::Target;
use super::frames::{DENIED_PORT, Make, Scene};
use super::users::{GNB, Users};
use crate::demo::netns::{Namespace, Networks};
use crate::demo::process::Part;
use base::{Packet, PortId};
use cli::failure::Failure;
use daemon::manage::report::Report;
use pktio::{AfPacket, Port};
use rand::SeedableRng;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use traffic::Tunnel;
use traffic::plan::{Filter, FlowPlan, Pool, Qos, SessionPlan, Shape};
use traffic::smf::{Event, Session, Smf};
use wire::ethernet::Mac;

/// How long anything may take that does not depend on the attack.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// The daemon's N4 address, the honest SMF's, a second SMF's, and one that may use N4 and belongs to no SMF: all on N4's link, in one namespace.
pub(crate) const N4: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 1);
pub(crate) const HONEST_SMF: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 2);
pub(crate) const SECOND_SMF: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 3);
pub(crate) const STRANGER: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 66);
/// Where the daemon is asked over HTTP, and the token.
pub(crate) const HTTP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const N4_PORT: u16 = 8805;
/// Room for sessions: few, so that it can be filled.
pub(crate) const MAX_SESSIONS: u32 = 2000;
/// Idle-mode buffers: so too.
pub(crate) const BUFFER_PACKETS: u32 = 1024;
pub(crate) const BUFFER_PACKETS_PER_PDR: u32 = 64;
/// Honest users, whose traffic is counted; then the attacker's two; then users for whom an attack has a use.
const HONEST: u32 = 6;
/// kbit/s, of the attacker's user with a rate.
pub(crate) const RATE_KBPS: u64 = 100;
/// The far end of N4's link.
pub(crate) const N4_FAR: &str = "n4far";
const BEAT: Duration = Duration::from_millis(50);
/// A heartbeat without an answer after so long counts as unanswered: ten tries of a second.
const TRIES: u32 = 10;
/// Frames that are sent at a time.
const BURST: usize = 32;

/// The place, and what runs there.
pub(crate) struct Ground {
    pub net: Networks,
    pub users: Users,
    pub out: PathBuf,
    pub target: Target,
    /// Where the daemon's log is: a file system of its own, so that it can be full.
    pub log_folder: PathBuf,
    pub daemon: Option<Daemon>,
    next_ue: u32,
}

/// A running daemon with its honest SMF.
pub(crate) struct Daemon {
    pub part: Part,
    pub smf: Arc<Smf>,
    pub events: Receiver<Event>,
    pub honest: Vec<Session>,
    pub hostile: Session,
    pub rated: Session,
    /// Its resident memory with these sessions, before any attack, in KiB.
    pub started_kib: u64,
}

/// What heartbeats met with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beats {
    pub answered: u64,
    pub unanswered: u64,
    pub longest: Duration,
}

/// A voice call's flow, with media and control in both directions. With it tables of filters are in use before memory is looked at: the first
/// entry of each takes a huge page or two, which stay.
fn call() -> Vec<FlowPlan> {
    let filter = |n: u16| Filter {
        flow: Some(format!("permit out 17 from 198.51.100.{n}/32 {}-{} to assigned", 30_000 + n, 30_100 + n)),
        dscp: None,
    };
    vec![FlowPlan { filters: (1..=4).map(filter).collect(), qos: Qos { qfi: Some(1), ..Qos::default() }, precedence: 20 }]
}

impl Ground {
    /// Makes the networks.
    pub(crate) fn make(out: &Path, target: Target) -> Result<Ground, Failure> {
        let net = Networks::create(1)?;
        net.take_redirected(target == Target::Xdp)?;
        let log_folder = out.join("log");
        std::fs::create_dir_all(&log_folder).map_err(|e| Failure::Usage(format!("cannot create {}: {e}", log_folder.display())))?;
        crate::demo::netns::run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", &log_folder.display().to_string()])?;
        make_n4(&net.upf)?;
        let token = out.join("token");
        std::fs::write(&token, TOKEN).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", token.display())))?;
        crate::demo::netns::run("chmod", &["600", &token.display().to_string()])?;
        let users = Users::open(&net)?;
        Ok(Ground { net, users, out: out.to_owned(), target, log_folder, daemon: None, next_ue: 0 })
    }

    /// The daemon; started, if none runs.
    pub(crate) fn daemon(&mut self) -> Result<&mut Daemon, Failure> {
        if self.daemon.is_none() {
            self.start()?;
        }
        self.daemon.as_mut().ok_or_else(|| Failure::Failed("no daemon".into()))
    }

    fn start(&mut self) -> Result<(), Failure> {
        let config = self.out.join("upf.toml");
        std::fs::write(&config, self.config()).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", config.display())))?;
        let (config, report) = (config.display().to_string(), self.report_path().display().to_string());
        let _ = std::fs::remove_file(&report);
        let line = ["run", "--config", &config, "--report", &report, "--live", "--until-input-ends"];
        let mut part = Part::start("UPF", &self.net.upf, &line, &self.log_folder, false)?;
        part.wait_for("ready", PATIENCE)?;
        let smf = self.smf(HONEST_SMF)?;
        let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("the honest SMF: {e}"));
        smf.associate().map_err(fail)?;
        let events = smf.events().ok_or_else(|| Failure::Failed("the SMF's events are taken".into()))?;
        self.next_ue = 0;
        let honest = (0..HONEST).map(|n| self.session(&smf, |plan| plan.flows = if n == 0 { call() } else { Vec::new() }));
        let honest = honest.collect::<Result<Vec<_>, _>>()?;
        let hostile = self.session(&smf, |_| ())?;
        let rated = self.session(&smf, |plan| plan.qos.mbr_kbps = Some((RATE_KBPS, RATE_KBPS)))?;
        self.users.are(honest.iter().map(Session::record).collect());
        let mut daemon = Daemon { part, smf, events, honest, hostile, rated, started_kib: 0 };
        daemon.started_kib = daemon.settled_kib();
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Where the daemon is asked by an operator.
    pub(crate) fn control_socket(&self) -> PathBuf {
        self.out.join("control.sock")
    }

    fn report_path(&self) -> PathBuf {
        self.out.join("upf.json")
    }

    fn config(&self) -> String {
        let split = match self.target {
            Target::X86 => "",
            Target::Xdp => "[split]\nfast = \"xdp\"\npolicy = { share = 0.5 }\n",
        };
        include_str!("upf.toml")
            .replace("MAX_SESSIONS", &MAX_SESSIONS.to_string())
            .replace("SESSIONS_OF_A_PEER", &(MAX_SESSIONS / 2).to_string())
            .replace("BUFFER_PACKETS_PER_PDR", &BUFFER_PACKETS_PER_PDR.to_string())
            .replace("BUFFER_PACKETS", &BUFFER_PACKETS.to_string())
            .replace("DENIED_PORT", &DENIED_PORT.to_string())
            .replace("CONTROL_SOCKET", &self.control_socket().display().to_string())
            .replace("TOKEN_FILE", &self.out.join("token").display().to_string())
            + split
    }

    /// An SMF at an address of the daemon's network.
    pub(crate) fn smf(&self, address: Ipv4Addr) -> Result<Arc<Smf>, Failure> {
        let mut config = traffic::smf::Config::new(SocketAddr::from((address, N4_PORT)), SocketAddr::from((N4, N4_PORT)));
        (config.heartbeat_period, config.n1) = (None, TRIES);
        let smf = self.net.upf.inside(|| Smf::connect(config))?;
        smf.map(Arc::new).map_err(|e| Failure::Failed(format!("cannot open an SMF at {address}: {e}")))
    }

    /// A plan for the next user.
    pub(crate) fn plan(&mut self) -> Result<SessionPlan, Failure> {
        let pool = Pool {
            ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)),
            ipv6: Some((std::net::Ipv6Addr::new(0x2001, 0xdb8, 0x45, 0, 0, 0, 0, 0), 48)),
        };
        let plan = SessionPlan::new(Shape::Open5gs, Tunnel { addr: GNB, teid: 1 }).nth(&pool, self.next_ue);
        self.next_ue += 1;
        plan.ok_or_else(|| Failure::Failed("no more addresses for users".into()))
    }

    /// A session in active mode.
    pub(crate) fn session(&mut self, smf: &Smf, change: impl FnOnce(&mut SessionPlan)) -> Result<Session, Failure> {
        let mut plan = self.plan()?;
        change(&mut plan);
        let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("a session of an honest SMF: {e}"));
        let mut session = smf.establish(&plan).map_err(fail)?;
        smf.set_active(&mut session, plan.gnb).map_err(fail)?;
        Ok(session)
    }

    /// Ends the daemon; what its ledger says. The daemon's own failure is the error.
    pub(crate) fn end(&mut self) -> Result<Option<Report>, Failure> {
        let Some(daemon) = self.daemon.take() else { return Ok(None) };
        drop(daemon.smf);
        daemon.part.stop(PATIENCE)?;
        let path = self.report_path();
        let text = std::fs::read_to_string(&path).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        serde_json::from_str(&text).map(Some).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))
    }

    /// Sends frames into N3 or N6, as many as so much time has at this rate, or, without one, as fast as they go.
    pub(crate) fn send_frames(&mut self, from_n3: bool, make: Make, rate: Option<u32>, time: Duration) -> Result<u64, Failure> {
        let (namespace, interface) = if from_n3 { (&self.net.ran, "n3") } else { (&self.net.dn, "n6") };
        let daemon = self.daemon.as_ref().ok_or_else(|| Failure::Failed("no daemon".into()))?;
        let upf_mac = self.net.upf.mac(interface)?;
        let scene = Scene {
            upf_mac: Mac(upf_mac),
            own_mac: Mac(namespace.mac(interface)?),
            honest: daemon.honest.iter().map(Session::record).collect(),
            hostile: daemon.hostile.record(),
            rated: daemon.rated.record(),
        };
        let fail = |e: pktio::PortError| Failure::Failed(format!("the attacker's {e}"));
        let work = || {
            let mut port = AfPacket::open(interface, interface, pktio::af_packet::Options { buffer_bytes: 1 << 20, ..Default::default() })?;
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(13);
            let mut burst: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
            let (mut frame, mut sent, begin) = (Vec::new(), 0u64, Instant::now());
            while begin.elapsed() < time {
                let due = rate.map_or(u64::MAX, |rate| (begin.elapsed().as_secs_f64() * f64::from(rate)) as u64);
                let count = (due - sent.min(due)).min(BURST as u64) as usize;
                if count == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                for (i, packet) in burst[..count].iter_mut().enumerate() {
                    frame.clear();
                    make(&scene, &mut rng, sent + i as u64, &mut frame);
                    packet.set(&frame);
                    packet.port = PortId(0);
                }
                // A full queue of the kernel's is as good as sent: nobody waits for an attacker.
                sent += port.transmit(&burst[..count])?.max(1) as u64;
                port.flush()?;
            }
            Ok(sent)
        };
        namespace.inside(work)?.map_err(fail)
    }
}

/// N4's link: a veth pair whose far end belongs to no host, so that addresses that are not here answer no ARP. Of 10.8.2.0/23 all are here.
fn make_n4(upf: &Namespace) -> Result<(), Failure> {
    upf.ip(&["link", "add", "n4", "type", "veth", "peer", "name", N4_FAR])?;
    for link in [N4_FAR, "n4"] {
        upf.ip(&["link", "set", link, "up"])?;
    }
    for address in [N4, HONEST_SMF, SECOND_SMF, STRANGER] {
        upf.ip(&["address", "add", &format!("{address}/16"), "dev", "n4"])?;
    }
    upf.ip(&["route", "add", "local", "10.8.2.0/23", "dev", "lo"])
}

impl Drop for Ground {
    fn drop(&mut self) {
        drop(self.daemon.take());
        let _ = crate::demo::netns::run("umount", &[&self.log_folder.display().to_string()]);
    }
}

impl Daemon {
    /// Resident memory when what the start alone needed has been given back, in KiB: when it has not fallen for a second.
    fn settled_kib(&self) -> u64 {
        let mut least = self.memory_kib().unwrap_or(0);
        let (mut since, end) = (Instant::now(), Instant::now() + PATIENCE);
        while since.elapsed() < Duration::from_millis(1500) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(100));
            let now = self.memory_kib().unwrap_or(0);
            if now < least {
                (least, since) = (now, Instant::now());
            }
        }
        least
    }

    /// Resident memory in KiB; `None` if it is gone.
    pub(crate) fn memory_kib(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.part.id())).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

/// The honest SMF's heartbeats, while it lives.
pub(crate) struct Heart {
    beats: Arc<Mutex<Beats>>,
    on: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Heart {
    pub(crate) fn start(smf: Arc<Smf>) -> Heart {
        let (beats, on) = (Arc::new(Mutex::new(Beats::default())), Arc::new(AtomicBool::new(true)));
        let thread = {
            let (beats, on) = (beats.clone(), on.clone());
            std::thread::spawn(move || {
                while on.load(Relaxed) {
                    let begin = Instant::now();
                    let answer = smf.heartbeat();
                    let took = begin.elapsed();
                    let mut beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
                    match answer {
                        Ok(_) => beats.answered += 1,
                        Err(_) => beats.unanswered += 1,
                    }
                    beats.longest = beats.longest.max(took);
                    drop(beats);
                    std::thread::sleep(BEAT.saturating_sub(took));
                }
            })
        };
        Heart { beats, on, thread }
    }

    pub(crate) fn stop(self) -> Beats {
        self.on.store(false, Relaxed);
        let _ = self.thread.join();
        *self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Frames that an interface of a far end has got so far, and their bytes.
pub(crate) fn came(namespace: &Namespace, interface: &str) -> Result<(u64, u64), Failure> {
    Ok((namespace.counter(interface, "rx_packets")?, namespace.counter(interface, "rx_bytes")?))
}
