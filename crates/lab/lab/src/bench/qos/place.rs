//! Where is it measured? The daemon in a namespace; users behind a gNodeB in another one; the data network behind a line with a delay.

use super::delay_line::DelayLine;
use crate::demo::netns::Networks;
use crate::demo::process::Part;
use cli::failure::Failure;
use daemon::manage::report::Report;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use traffic::plan::{Pool, Qos, SessionPlan, Shape};
use traffic::smf::{Session, Smf, SmfError};
use traffic::{SessionRecord, Tunnel};

/// How long any part may take to start or to end, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is still on its way when the last user has ended has arrived after this.
const SETTLE: Duration = Duration::from_millis(1500);
/// What TCP may keep for a connection, octets: the kernel counts what its packets take, up to three times their bytes.
const SOCKET_BUFFER: usize = 32 << 20;
/// The gNodeB.
pub(crate) const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
/// The data network's host.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);

/// The daemon with N3 and N6 on interfaces of these names.
pub(crate) const CONFIG: &str = r#"
[n4]
listen = "127.0.0.1:8805"
peers = ["127.0.0.0/8"]
request_port = "source"
[[port]]
name = "n3"
driver = "auto"
interface = "n3"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]
[[port]]
name = "n6"
driver = "auto"
interface = "n6"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24"]
[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"
"#;

/// The daemon with an SMF's sessions, and a gNodeB with their users.
pub(in crate::bench) struct Running {
    folder: tempfile::TempDir,
    pub upf: Part,
    pub ran: Part,
    smf: Smf,
    sessions: Vec<Session>,
}

impl Running {
    /// With this configuration, and a user for each of these.
    pub(in crate::bench) fn start(net: &Networks, config: &str, users: &[Qos]) -> Result<Running, Failure> {
        let folder = tempfile::tempdir().map_err(|e| Failure::Failed(format!("cannot create a folder: {e}")))?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (file, records) = (path("upf.toml"), path("sessions.jsonl"));
        write(&file, config.as_bytes())?;
        let line = ["run", "--config", &file, "--report", &path("upf.json"), "--until-input-ends"];
        let mut upf = Part::start("UPF", &net.upf, &line, folder.path(), false)?;
        upf.wait_for("ready", PATIENCE)?;
        let (smf, sessions) = net.upf.inside(|| establish(users))?.map_err(|e| Failure::Failed(format!("the SMF: {e}")))?;
        write(&records, &recorded(&sessions)?)?;
        let line_of_ran = ["ran", "--gnb", &GNB.to_string(), "--records", &records, "--report", &path("ran.json"), "--until-input-ends"];
        let mut ran = Part::start("RAN", &net.ran, &line_of_ran, folder.path(), false)?;
        ran.wait_for("ready", PATIENCE)?;
        Ok(Running { folder, upf, ran, smf, sessions })
    }

    /// The address of a user.
    pub(in crate::bench) fn user(&self, number: usize) -> Ipv4Addr {
        self.sessions[number].record().ue_ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED)
    }

    /// Stops both; their reports.
    ///
    /// # Errors
    /// The daemon's ledger does not balance, or it has not all sessions.
    pub(in crate::bench) fn end(self) -> Result<(Report, traffic::ran::Report), Failure> {
        std::thread::sleep(SETTLE);
        let Running { folder, upf, ran, smf, sessions } = self;
        ran.stop(PATIENCE)?;
        upf.stop(PATIENCE)?;
        drop(smf);
        let report: Report = read(&folder.path().join("upf.json"))?;
        if report.imbalance != 0 {
            return Err(Failure::Failed(format!("{} packets are not accounted for", report.imbalance)));
        }
        if report.sessions.len() != sessions.len() {
            return Err(Failure::Failed(format!("{} sessions of {}", report.sessions.len(), sessions.len())));
        }
        Ok((report, read(&folder.path().join("ran.json"))?))
    }
}

/// All that runs.
pub(super) struct Place {
    pub net: Networks,
    pub line: DelayLine,
    running: Running,
}

impl Place {
    /// With these settings of the daemon and of its port N3, and a user for each of these.
    pub(super) fn make(settings: &str, of_n3: &str, users: &[Qos]) -> Result<Place, Failure> {
        let net = Networks::with_line()?;
        // Room for what is under way with the highest rate and the longest round trip, 4 MB, or the sender's buffer is what is measured (RFC 6349 §3.3.1).
        for ns in [&net.ran, &net.dn] {
            ns.sysctl(&format!("net.ipv4.tcp_rmem=4096 131072 {SOCKET_BUFFER}"))?;
            ns.sysctl(&format!("net.ipv4.tcp_wmem=4096 65536 {SOCKET_BUFFER}"))?;
        }
        let line = DelayLine::start(net.line.as_ref().ok_or_else(|| Failure::Failed("no line".into()))?)?;
        let gtpu = "gtpu = [\"10.3.0.1\"]\n";
        let config = format!("{}{settings}", CONFIG.replace(gtpu, &format!("{gtpu}{of_n3}")));
        let running = Running::start(&net, &config, users)?;
        Ok(Place { net, line, running })
    }

    /// The address of a user.
    pub(super) fn user(&self, number: usize) -> Ipv4Addr {
        self.running.user(number)
    }

    /// Stops everything; how many sessions were charged what arrived, each of them.
    ///
    /// # Errors
    /// Which was not, and the daemon's own balance.
    pub(super) fn end(self) -> Result<Value, Failure> {
        let Place { net: _net, line, running } = self;
        let (report, ran) = running.end()?;
        let carried = line.end()?;
        let delivered: HashMap<_, _> = ran.ues.iter().map(|ue| (ue.ue_ipv4, ue.downlink.bytes)).collect();
        let mut charged_bytes = 0;
        for of in &report.sessions {
            let up = of.ue_ipv4.and_then(|ue| carried.uplink.get(&ue)).copied().unwrap_or(0);
            let down = delivered.get(&of.ue_ipv4).copied().unwrap_or(0);
            if (of.uplink.bytes, of.downlink.bytes) != (up, down) {
                return Err(Failure::Failed(format!(
                    "the user {:?} was charged {} bytes uplink and {} downlink, and {up} and {down} arrived",
                    of.ue_ipv4, of.uplink.bytes, of.downlink.bytes
                )));
            }
            charged_bytes += up + down;
        }
        if charged_bytes == 0 {
            return Err(Failure::Failed("no session was charged anything".into()));
        }
        let lost: u64 = report.ports.values().map(|port| port.lost_before_us + port.lost_after_us).sum();
        if lost + carried.lost > 0 {
            println!(
                "  {lost} frames were lost in the ports' rings, {} on the line: the machine was too slow for some cells",
                carried.lost
            );
        }
        Ok(json!({
            "count": report.sessions.len(), "bytes": charged_bytes, "lost_by_ports": lost, "lost_by_line": carried.lost, "shaped": report.shaped,
            "dropped": report.dropped,
        }))
    }
}

/// Their records, as emulators read them from a file.
pub(crate) fn recorded(sessions: &[Session]) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    let all: Vec<SessionRecord> = sessions.iter().map(Session::record).collect();
    traffic::record::write(&all, &mut lines).map_err(|e| Failure::Failed(e.to_string()))?;
    Ok(lines)
}

/// An SMF in this network namespace, and a session for each of these at the daemon.
pub(crate) fn establish(users: &[Qos]) -> Result<(Smf, Vec<Session>), SmfError> {
    let smf = Smf::connect(traffic::smf::Config::new(SocketAddr::from(([127, 0, 0, 2], 8805)), SocketAddr::from(([127, 0, 0, 1], 8805))))?;
    smf.associate()?;
    let pool = Pool { ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)), ipv6: None };
    let mut sessions = Vec::new();
    for (n, qos) in users.iter().enumerate() {
        let mut plan = SessionPlan::new(Shape::Simple, Tunnel { addr: GNB, teid: 1 });
        plan.qos = Qos { qfi: plan.qos.qfi, ..*qos };
        let plan = plan.nth(&pool, n as u32).ok_or_else(|| SmfError::Plan("too many users".into()))?;
        sessions.push(smf.establish(&plan)?);
    }
    Ok((smf, sessions))
}

fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::Failed(format!("{path}: {e}")))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
    serde_json::from_str(&text).map_err(|e| failed(&e))
}
