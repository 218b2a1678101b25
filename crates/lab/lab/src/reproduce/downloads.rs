//! Where do users download, with two links from the UPF to the gNodeB? The daemon in a network namespace, x86 sending by a port with a rate, XDP by another one
//! (`split.egress`); the RAN's emulator with the users in a second namespace, the server in a third. As root.

use super::bed::{PATIENCE, read, write};
use crate::bench::qos::flows::{self, Datagrams};
use crate::bench::qos::place::{CONFIG, GNB, establish, recorded};
use crate::demo::netns::Networks;
use crate::demo::process::Part;
use cli::failure::Failure;
use daemon::manage::control::{MAX_REQUEST, Reply, Request};
use daemon::manage::report::Report;
use daemon::manage::sessions::SessionQuery;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use traffic::plan::Qos;
use traffic::smf::{Session, Smf};

/// What is in flight when the last user has ended has arrived after this.
const SETTLE: Duration = Duration::from_millis(500);
/// How often the daemon is asked where sessions are, and for how long it is seen where their packets come from.
const LOOK: Duration = Duration::from_millis(50);
const SPAN: Duration = Duration::from_millis(200);
/// Share of the frames from which on all heavy hitters come by the other link: neighbours are asked for by the first one, too.
const ALL: f64 = 0.98;

/// Of the port N3, beside [`CONFIG`]: XDP does not send by it.
const N3: &str = "driver = \"auto\"\ninterface = \"n3\"\n";
/// The other link, and the way that the fast target takes. The queue is that of the users' QoS flow ([`traffic::plan::SessionPlan::new`]).
const BULK: &str = r#"
[[port]]
name = "bulk"
driver = "auto"
interface = "bulk"
role = "access"
network_instance = "bulk"
addresses = ["10.4.0.1/24"]
[[route]]
network_instance = "bulk"
prefix = "10.3.0.2/32"
via = "10.4.0.2"
[[queue]]
number = 7
strict = true
qfi = [9]
queue_ms = 200
[split]
fast = "xdp"
policy = "planned"
rates = "cells"
egress = { access = "bulk" }
"#;

/// All that runs.
pub(super) struct Downloads {
    net: Networks,
    folder: tempfile::TempDir,
    upf: Part,
    ran: Part,
    smf: Smf,
    sessions: Vec<Session>,
}

/// What is done at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Users that download, the first ones, and how much.
    pub downloads: usize,
    pub bytes: usize,
    /// Users behind them that send without pause, and at which rate each.
    pub heavy: usize,
    pub heavy_bps: u64,
    /// How long they have sent when the downloads begin; `None`: until all of them come by the other link.
    pub lead: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// In ascending order.
    pub completion: Vec<Duration>,
    pub heavy: Datagrams,
    /// For how long they sent.
    pub heavy_time: Duration,
    /// When all of them came by the other link, from their first datagram on.
    pub rerouted_after: Option<Duration>,
    /// Share of their frames that came by the other link when the downloads were complete.
    pub rerouted_share: f64,
    /// Users of each kind that the fast target had then.
    pub heavy_on_fast: usize,
    pub downloads_on_fast: usize,
}

impl Downloads {
    /// With so many users, a link of that rate, and these lines of `[split]`.
    pub(super) fn make(users: usize, link_kbps: u64, split: &str) -> Result<Downloads, Failure> {
        let folder = tempfile::tempdir().map_err(|e| Failure::Failed(format!("cannot create a folder: {e}")))?;
        let path = |name: &str| folder.path().join(name);
        let text = |name: &str| path(name).display().to_string();
        let net = Networks::create(1)?;
        net.add_bulk()?;
        net.take_redirected(true)?;
        let n3 = format!("driver = \"af_packet\"\ninterface = \"n3\"\ndefault = true\nrate_kbps = {link_kbps}\n");
        let control = format!("[control]\nsocket = \"{}\"\n", text("upf.sock"));
        write(&path("upf.toml"), format!("{}{BULK}{split}\n{control}", CONFIG.replacen(N3, &n3, 1)).as_bytes())?;
        let args = ["run", "--config", &text("upf.toml"), "--report", &text("upf.json"), "--until-input-ends"];
        let mut upf = Part::start("UPF", &net.upf, &args, folder.path(), false)?;
        upf.wait_for("ready", PATIENCE)?;
        let users = vec![Qos::default(); users];
        let (smf, sessions) = net.upf.inside(|| establish(&users))?.map_err(|e| Failure::Failed(format!("the SMF: {e}")))?;
        write(&path("sessions.jsonl"), &recorded(&sessions)?)?;
        let of_ran =
            ["ran", "--gnb", &GNB.to_string(), "--records", &text("sessions.jsonl"), "--report", &text("ran.json"), "--until-input-ends"];
        let mut ran = Part::start("RAN", &net.ran, &of_ran, folder.path(), false)?;
        ran.wait_for("ready", PATIENCE)?;
        Ok(Downloads { net, folder, upf, ran, smf, sessions })
    }

    /// Heavy hitters first, then all downloads at once.
    pub(super) fn run(&self, load: &Load) -> Result<Outcome, Failure> {
        let (stop, began) = (AtomicBool::new(false), Instant::now());
        let (stop, net, mut outcome) = (&stop, &self.net, Outcome::default());
        let (downloading, heavy) = (self.users(0..load.downloads), self.users(load.downloads..load.downloads + load.heavy));
        std::thread::scope(|scope| {
            let sending: Vec<_> = heavy.iter().map(|ue| scope.spawn(move || flows::datagrams(net, *ue, load.heavy_bps, stop))).collect();
            let mut work = || {
                match load.lead {
                    Some(lead) => std::thread::sleep(lead),
                    None => {
                        while self.on_fast(&heavy)? < heavy.len() || self.by_other_link()? < ALL {
                            if began.elapsed() > PATIENCE {
                                return Err(Failure::Failed(format!("heavy hitters were not re-routed within {PATIENCE:?}")));
                            }
                            std::thread::sleep(LOOK);
                        }
                        outcome.rerouted_after = Some(began.elapsed());
                    }
                }
                let threads: Vec<_> = downloading.iter().map(|ue| scope.spawn(move || flows::download(net, *ue, load.bytes))).collect();
                for thread in threads {
                    outcome.completion.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
                }
                outcome.completion.sort();
                outcome.heavy_on_fast = self.on_fast(&heavy)?;
                outcome.downloads_on_fast = self.on_fast(&downloading)?;
                outcome.rerouted_share = self.by_other_link()?;
                Ok(())
            };
            let result = work();
            // Whatever failed: they end.
            stop.store(true, Relaxed);
            outcome.heavy_time = began.elapsed();
            for thread in sending {
                let got = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                outcome.heavy.sent += got.sent;
                outcome.heavy.received += got.received;
                outcome.heavy.overtaken += got.overtaken;
            }
            result
        })?;
        Ok(outcome)
    }

    fn users(&self, which: std::ops::Range<usize>) -> Vec<Ipv4Addr> {
        self.sessions[which].iter().filter_map(|session| session.record().ue_ipv4).collect()
    }

    /// Of the frames that come to the gNodeB in a while, the share that comes by the other link.
    fn by_other_link(&self) -> Result<f64, Failure> {
        let frames = |link| self.net.ran.counter(link, "rx_packets");
        let (n3, bulk) = (frames("n3")?, frames("bulk")?);
        std::thread::sleep(SPAN);
        let (n3, bulk) = (frames("n3")? - n3, frames("bulk")? - bulk);
        Ok(bulk as f64 / (n3 + bulk).max(1) as f64)
    }

    /// How many of these users the fast target has, by the running daemon's own word.
    fn on_fast(&self, users: &[Ipv4Addr]) -> Result<usize, Failure> {
        let query = SessionQuery { target: Some("xdp".into()), limit: Some(1000), ..SessionQuery::default() };
        let socket = self.folder.path().join("upf.sock");
        match daemon::manage::socket::ask(&socket, &Request::Sessions(query), MAX_REQUEST)? {
            Reply::Sessions(page) => {
                let there: BTreeSet<Ipv4Addr> = page.sessions.into_iter().flat_map(|session| session.ue_ipv4s).collect();
                Ok(users.iter().filter(|ue| there.contains(ue)).count())
            }
            _ => Err(Failure::Failed("the daemon did not answer where its sessions are".into())),
        }
    }

    /// Stops everything: the daemon must have accounted for each packet.
    pub(super) fn end(self) -> Result<(), Failure> {
        std::thread::sleep(SETTLE);
        let Downloads { net: _net, folder, upf, ran, smf, .. } = self;
        ran.stop(PATIENCE)?;
        upf.stop(PATIENCE)?;
        drop(smf);
        let report: Report = read(&folder.path().join("upf.json"))?;
        if report.imbalance != 0 {
            return Err(Failure::Failed(format!("{} packets are not accounted for", report.imbalance)));
        }
        Ok(())
    }
}
