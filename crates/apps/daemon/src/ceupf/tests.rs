//! The switch in front of another UPF, end to end: a second Splitplane that runs `upf.p4` stands for the foreign one, joined by ports in
//! memory; sessions come over PFCP to it, rules over the control socket to the switch.
//!
//! Every frame that comes out is compared with what `traffic::expect` says, which knows neither. Rules make no difference to what
//! comes out, only to who did it.

use super::*;
use crate::manage::socket::ask;
use crate::run::Upf;
use base::Packet;
use pktio::Port;
use pktio::memory::MemoryPort;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use traffic::around::{self, AROUND};
use traffic::plan::{Address, Pool, SessionPlan, Shape};
use traffic::smf::Smf;
use traffic::synth::{self, Synth};
use traffic::{SessionRecord, Tunnel};

const PATIENCE: Duration = Duration::from_secs(60);
const SESSIONS: u32 = 6;
const FRAMES: usize = 300;

/// The switch's configuration; its interfaces are never opened.
fn config(socket: &Path, access_mtu: u16) -> Config {
    let example = include_str!("../../../../../docs/ceupf.example.toml");
    let text = example.replace("/run/splitplane/ceupf.sock", &socket.display().to_string());
    let text = text.replace("max_rules = 131072", "max_rules = 64\nidle_s = 10").replace("mtu = 1500", &format!("mtu = {access_mtu}"));
    Config::parse(&text).unwrap()
}

/// The whole arrangement, running.
struct Arranged {
    switch: Ceupf,
    server: Server,
    foreign: Upf,
    _smf: Smf,
    records: Vec<SessionRecord>,
    gnb: MemoryPort,
    router: MemoryPort,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Arranged {
    fn new(access_mtu: u16) -> Arranged {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s.sock");
        let pair = |name: &str| pktio::memory::pair(name, name, 4096);
        let ((access, gnb), (core, router)) = (pair("access"), pair("core"));
        let ((upf_access, n3), (upf_core, n6)) = (pair("upf_access"), pair("upf_core"));
        let open = |id, port: MemoryPort, mac| OpenPort {
            id: PortId(id),
            of_workers: vec![vec![Box::new(port) as Box<dyn Port>]],
            driver: "memory".into(),
            mac,
        };
        let n4 = UdpSocket::bind("127.0.0.1:0").and_then(|s| s.local_addr()).unwrap();
        let upf_ir = p4_driver::compile(Path::new("upf.p4"), &[], &[]).unwrap();
        let ports = vec![open(0, n3, AROUND.n3_mac), open(128, n6, AROUND.n6_mac)];
        let foreign = Upf::start(&crate::config::Config::parse(&around::config(n4)).unwrap(), upf_ir, ports, None).unwrap();
        let smf = Smf::connect(traffic::smf::Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), n4)).unwrap();
        smf.associate().unwrap();
        let records = (0..SESSIONS).map(|n| establish(&smf, n)).collect();

        let config = config(&socket, access_mtu);
        let none = [0; 6];
        let ports = vec![open(0, access, none), open(1, upf_access, none), open(128, core, none), open(129, upf_core, none)];
        let switch = Ceupf::start(&config, compile(&config).unwrap(), ports).unwrap();
        let rules = switch.rules.clone();
        let server = Server::start(&config.ceupf.control, MAX_REQUEST, move |request, _| rules.answer(request)).unwrap();
        Arranged { switch, server, foreign, _smf: smf, records, gnb, router, socket, _folder: folder }
    }

    fn ask(&self, request: &Request) -> Reply {
        ask(&self.socket, request, MAX_REQUEST).unwrap()
    }

    fn add(&self, rules: &[String]) -> Reply {
        self.ask(&Request::Add { rules: lines(rules) })
    }

    /// Rules of both directions for a session.
    fn rules(&self, n: usize) -> [String; 2] {
        let session = &self.records[n];
        let ue = session.ue_ipv4.unwrap();
        let qfi = session.qfi.map_or_else(String::new, |qfi| format!(" qfi={qfi}"));
        [
            format!("encap ue={ue} teid={:#x} gnb={}{qfi}", session.downlink.teid, session.downlink.addr),
            format!("decap teid={} ue={ue}", session.uplink.teid),
        ]
    }

    /// Sends synthetic frames of all sessions in both directions, one at a time, and compares what comes out. Frames of each session:
    /// uplink, downlink.
    fn traffic(&mut self, seed: u64) -> Vec<(u64, u64)> {
        let mut synth = Synth::new(synth::Config::new(seed, AROUND), self.records.clone()).unwrap();
        let mut sent = vec![(0, 0); self.records.len()];
        let mut frame = Vec::new();
        for n in 0..FRAMES {
            if n % 2 == 0 {
                let of = synth.uplink(&mut frame).session;
                sent[of].0 += 1;
                let expected = AROUND.uplink(&self.records[of], &frame).unwrap();
                exchange(&mut self.gnb, &frame, &mut self.router, &expected);
            } else {
                let of = synth.downlink(&mut frame).session;
                sent[of].1 += 1;
                let expected = AROUND.downlink(&self.records[of], &frame, 0).unwrap();
                exchange(&mut self.router, &frame, &mut self.gnb, &expected);
            }
        }
        assert!(sent.iter().all(|(up, down)| *up > 5 && *down > 5), "{sent:?}");
        sent
    }

    fn ways(&self) -> [u64; 4] {
        let ways = self.switch.report().ways;
        Way::ALL.map(|(_, name)| ways[name].packets)
    }

    /// Frames that the foreign UPF has received.
    fn foreign_received(&self) -> u64 {
        self.foreign.report(false).unwrap().ports.values().map(|p| p.received.packets).sum()
    }

    fn stop(self) -> Report {
        self.server.stop();
        let report = self.switch.stop();
        let foreign = self.foreign.stop().unwrap();
        assert_eq!((report.imbalance, foreign.imbalance), (0, 0));
        report
    }
}

fn lines(rules: &[String]) -> Vec<RuleLine> {
    rules.iter().zip(1..).map(|(text, line)| RuleLine { line, text: text.clone() }).collect()
}

fn establish(smf: &Smf, n: u32) -> SessionRecord {
    let pool = Pool { ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)), ipv6: None };
    let tunnel = Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: n + 1 };
    let mut plan = SessionPlan::new(Shape::Open5gs, tunnel);
    plan.ue_ipv4 = pool.nth(n).and_then(|(v4, _)| v4).map_or(Address::None, Address::Given);
    let mut session = smf.establish(&plan).unwrap();
    smf.set_active(&mut session, tunnel).unwrap();
    session.record()
}

/// Sends a frame and waits for the one that comes out.
fn exchange(from: &mut MemoryPort, frame: &[u8], to: &mut MemoryPort, expected: &[u8]) {
    assert_eq!(from.transmit(&[Packet::new(frame, PortId(0))]).unwrap(), 1);
    let mut out = [Packet::empty(0)];
    let end = Instant::now() + PATIENCE;
    while to.receive(&mut out).unwrap() == 0 {
        assert!(Instant::now() < end, "nothing came out for {frame:02x?}");
        std::thread::yield_now();
    }
    assert_eq!(out[0].data(), expected, "for {frame:02x?}");
}

#[test]
fn without_rules_all_goes_through_the_foreign_upf_and_with_rules_what_they_name_does_not() {
    let mut arranged = Arranged::new(1500);
    let frames = FRAMES as u64;
    arranged.traffic(1);
    assert_eq!(arranged.ways(), [0, 0, frames, frames]);
    assert_eq!(arranged.foreign_received(), frames);

    // Half of the sessions, at run time.
    let rules: Vec<String> = (0..3).flat_map(|n| arranged.rules(n)).collect();
    let Reply::Changed { rules: added } = arranged.add(&rules) else { panic!() };
    assert_eq!(added.iter().map(|r| r.rule.clone()).collect::<Vec<_>>()[0], rules[0]);
    let sent = arranged.traffic(2);
    let up: u64 = sent[..3].iter().map(|s| s.0).sum();
    let down: u64 = sent[..3].iter().map(|s| s.1).sum();
    let foreign = 2 * frames - up - down;
    assert_eq!(arranged.ways(), [down, up, foreign, foreign]);
    assert_eq!(arranged.foreign_received(), foreign);
    let Reply::Rules { rules: listed, capacity: 64, .. } = arranged.ask(&Request::List {}) else { panic!() };
    let hits: Vec<u64> = listed.iter().map(|r| r.packets).collect();
    assert_eq!(hits, sent[..3].iter().flat_map(|(up, down)| [*down, *up]).collect::<Vec<_>>());
    assert!(listed.iter().all(|r| r.bytes > r.packets * 40), "{listed:?}");

    // All of the others too: the foreign UPF sees nothing any more.
    let rules: Vec<String> = (3..6).flat_map(|n| arranged.rules(n)).collect();
    assert!(matches!(arranged.add(&rules), Reply::Changed { .. }));
    arranged.traffic(3);
    assert_eq!(arranged.foreign_received(), foreign);

    // And back: rules that go show what they had counted, and their packets go the long way again.
    let all: Vec<String> = (1..=12).map(|id| format!("id={id}")).collect();
    let Reply::Changed { rules: gone } = arranged.ask(&Request::Delete { rules: lines(&all) }) else { panic!() };
    let [down, up, ..] = arranged.ways();
    assert_eq!(gone.iter().map(|r| r.packets).sum::<u64>(), down + up);
    arranged.traffic(4);
    assert_eq!(arranged.foreign_received(), foreign + frames);
    let report = arranged.stop();
    assert_eq!((report.rules.len(), report.refused, report.dropped.len()), (0, 0, 0));
}

#[test]
fn refused_requests_change_nothing_and_name_their_line() {
    let mut arranged = Arranged::new(1500);
    let mut rules: Vec<String> = (0..2).flat_map(|n| arranged.rules(n)).collect();
    rules.push("decap teid=1".into());
    let error = |line, message: &str| Reply::Error { line: Some(line), message: message.into() };
    assert_eq!(arranged.add(&rules), error(5, "decap needs ue"));
    rules[4] = arranged.rules(0)[0].clone();
    let Reply::Error { line: Some(5), message } = arranged.add(&rules) else { panic!() };
    assert!(message.starts_with("duplicate: `encap ue=10.45.") && message.ends_with("exists already (an earlier line)"), "{message}");
    let many: Vec<String> = (1..=65).map(|teid| format!("decap teid={teid} ue=10.45.0.1")).collect();
    assert_eq!(arranged.add(&many), error(65, "full: the program was built for 64 rules, and 0 are there"));
    assert_eq!(arranged.ask(&Request::Delete { rules: lines(&["id=1".into()]) }), error(1, "there is no rule `id=1`"));
    let before = arranged.foreign_received();
    arranged.traffic(5);
    assert_eq!(arranged.foreign_received(), before + FRAMES as u64, "no rule is there");
    let report = arranged.stop();
    assert_eq!((report.rules.len(), report.refused), (0, 4));
}

/// A rule never loses what it cannot do: a tunnel that does not fit the link is the foreign UPF's.
#[test]
fn what_does_not_fit_the_next_link_goes_the_long_way() {
    let mut arranged = Arranged::new(200);
    let rules: Vec<String> = (0..SESSIONS as usize).flat_map(|n| arranged.rules(n)).collect();
    assert!(matches!(arranged.add(&rules), Reply::Changed { .. }));
    arranged.traffic(6);
    let [down, up, to, from] = arranged.ways();
    assert_eq!((up, to), (FRAMES as u64 / 2, from));
    assert!(down > 5 && to > 5 && down + to == FRAMES as u64 / 2, "{down} small and {to} large frames downlink");
    arranged.stop();
}

/// Rules know nothing of sessions: a UE that is idle has its packets buffered, and is paged, by the foreign UPF alone.
#[test]
fn rules_of_a_silent_ue_step_aside_and_its_packets_go_the_long_way() {
    let mut arranged = Arranged::new(1500);
    let rules: Vec<String> = (0..SESSIONS as usize).flat_map(|n| arranged.rules(n)).collect();
    assert!(matches!(arranged.add(&rules), Reply::Changed { .. }));
    let step = |arranged: &Arranged, second| arranged.switch.rules.step_aside(Duration::from_secs(second));
    step(&arranged, 100);
    arranged.traffic(7);
    assert_eq!(arranged.foreign_received(), 0);
    step(&arranged, 111);
    step(&arranged, 120);
    assert_eq!(arranged.switch.report().rules.len(), rules.len(), "they have sent until a moment ago");
    step(&arranged, 121);
    arranged.traffic(8);
    assert_eq!(arranged.foreign_received(), FRAMES as u64);
    let report = arranged.stop();
    assert_eq!((report.rules.len(), report.stepped_aside), (0, u64::from(2 * SESSIONS)));
}

/// A machine without a compiler has the object that is shipped, and no other.
#[test]
fn any_number_of_rules_runs_by_the_code_that_is_compiled_ahead() {
    let ahead = p4_driver::objects::all().into_iter().find(|of| of.program == Path::new("ceupf.p4")).unwrap();
    let ahead = ahead.compile().unwrap();
    for rules in [1, 1000, 131_072, 1 << 20] {
        let example = include_str!("../../../../../docs/ceupf.example.toml");
        let config = Config::parse(&example.replace("max_rules = 131072", &format!("max_rules = {rules}"))).unwrap();
        let mut program = compile(&config).unwrap();
        assert!(program.x86().unwrap().text == ahead.x86().unwrap().text, "{rules}");
        program.resize(|program| fit(&config, program));
        assert_eq!(Book::new(config.arrangement(), &program.x86().unwrap().program).unwrap().capacity(), rules);
    }
}
