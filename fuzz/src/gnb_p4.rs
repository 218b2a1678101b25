//! A gNodeB of `p4/gnb.p4`, with its services and in the interpreter, between hostile peers: any datagrams and frames of N3 and the radio (those of F1-U come by N3 here), and any
//! requests, at any time. What must hold: no packet is lost and none comes from nowhere, what is kept stays within the bearers' windows, frames leave to the configured peers
//! only, a COUNT is never taken back, and a refused request has changed nothing.
//!
//! An input is a list of steps: an octet for what it is, one for milliseconds, one for a length, and bytes.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::{MAX_PACKET, Packet, PortId, Verdict, VerdictKind};
use ciphering::{Choice, Direction};
use gnb::framing::{self, RlcMode};
use gnodeb::config::{GnbTables, GnbUeTable};
use gnodeb::control::{Bearers, Reply, Request};
use gnodeb::pipeline::{Host, N3, Pipeline, PipelineError, RADIO};
use p4_ir::Ir;
use program::Bridge;
use target_api::{Lane, Replicating, Returned};
use target_asic::Asic;

pub(crate) const MS: u64 = 1_000_000;
/// Steps of an input at most.
const MAX_STEPS: usize = 200;
/// Packets of a bearer that services may keep: a window of RLC's, one of PDCP's, and the one that carries STATUS PDUs.
const MOST_KEPT: usize = 16 + 16 + 1;
const BEARERS: usize = 4;
pub(crate) const UPF: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(crate) const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub(crate) const UNIT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub(crate) const RADIO_PORT: u16 = 4001;

/// What a step is, by the lower bits of its first octet.
const G_PDU: u8 = 0;
const RLC_PDU: u8 = 1;
const N3_DATAGRAM: u8 = 2;
const RADIO_DATAGRAM: u8 = 3;
const N3_FRAME: u8 = 4;
const RADIO_FRAME: u8 = 5;
const REQUEST: u8 = 6;
const KNOWN_REQUEST: u8 = 7;

/// The program, with tables for some bearers, cut where it calls services.
static PROGRAM: LazyLock<(Arc<Ir>, Bridge)> = LazyLock::new(|| {
    let defines = [("BEARERS".to_owned(), "16".to_owned())];
    let program = p4_driver::Program::compile(Path::new("gnb.p4"), &[], &defines).expect("the shipped program compiles");
    let (cut, bridge) = program.cut().expect("it can be cut").expect("it calls services");
    (Arc::new(cut), bridge)
});

/// A bearer of each kind: UE `n` has the tunnel `n`.
const DRBS: [&str; BEARERS] = [
    r#"{"id":1,"rlc":"am","ciphering":2,"cipher_key":"000102030405060708090a0b0c0d0e0f","integrity":2,"integrity_key":"100102030405060708090a0b0c0d0e0f","window":16,"queue_kbytes":64}"#,
    r#"{"id":1,"rlc":"am","rlc_sn_bits":12,"pdcp_sn_bits":12,"ciphering":0,"sdap_header_uplink":true,"sdap_header_downlink":true,"window":16,"queue_kbytes":64}"#,
    r#"{"id":1,"rlc":"um","pdcp_sn_bits":12,"ciphering":0,"reordering_ms":50,"window":16,"queue_kbytes":64}"#,
    r#"{"id":1,"rlc":"um","rlc_sn_bits":6,"ciphering":0,"integrity":0,"sdap_header_uplink":true,"window":16,"queue_kbytes":64}"#,
];
const MODES: [RlcMode; BEARERS] = [RlcMode::Am(18), RlcMode::Am(12), RlcMode::Um(12), RlcMode::Um(6)];

fn ue(n: usize, qfi: u8) -> String {
    let reflective = if n == 1 { r#","reflective":true"# } else { "" };
    format!(
        r#"{{"id":{n},"radio":"{UNIT}:{RADIO_PORT}","session":{{"upf":"{UPF}","uplink_teid":7,"downlink_teid":{}}},"flows":[{{"qfi":{qfi},"drb":1{reflective}}}],"drb":[{}]}}"#,
        n + 1,
        DRBS[n]
    )
}

/// A worker without the engine.
struct Worker {
    pipeline: Pipeline,
    lane: Box<dyn Lane>,
    bearers: Bearers,
    host: Host,
    kept: usize,
    /// Downlink COUNTs at the last look.
    counts: BTreeMap<(u16, u8), u32>,
}

impl Worker {
    fn new() -> Worker {
        let text =
            format!("role = \"both\"\nn3 = \"{OURS}\"\n[radio]\naddress = \"127.0.0.1:4001\"\nrate_mbps = 100000\npdu_bytes = 200\n");
        let (tables, config) = GnbTables::parse(&text).expect("a configuration");
        let pipeline = Pipeline::over(&config, BEARERS, Choice::Portable, None, over_the_interpreter).expect("the program runs");
        let (lane, host) = (pipeline.target.lane(0), Host::new(&config));
        let mut worker = Worker { pipeline, lane, bearers: Bearers::new(tables, config), host, kept: 0, counts: BTreeMap::new() };
        let all: Vec<String> = (0..BEARERS).map(|n| ue(n, 9)).collect();
        assert!(worker.ask(&format!(r#"{{"do":"create","ue":[{}]}}"#, all.join(","))), "valid");
        worker
    }

    /// Whether it is done.
    fn ask(&mut self, line: &str) -> bool {
        let Ok(request) = daemon::manage::socket::read::<Request<GnbUeTable>>(line.as_bytes(), "a request") else { return false };
        let before = self.bearers.config().clone();
        let Worker { pipeline, host, bearers, .. } = self;
        let reply = bearers.ask(request, &mut |action| {
            let done = pipeline.act(action)?;
            if let gnodeb::control::Action::Change(change) = action {
                host.change(change);
            }
            Ok(done)
        });
        if let Reply::Error { message } = &reply {
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?} is not fit for a log");
            assert_eq!(*bearers.config(), before, "{message}");
        }
        // A bearer that began anew has other COUNTs.
        let same = |bearer: &(u16, u8)| {
            let of = |config: &gnodeb::config::Gnb| {
                let ue = config.ues.iter().find(|ue| ue.id == bearer.0)?;
                ue.drbs.iter().find(|drb| drb.sdap.id.get() == bearer.1).cloned()
            };
            of(&before) == of(bearers.config())
        };
        self.counts.retain(|bearer, _| same(bearer));
        matches!(reply, Reply::Done { .. })
    }

    fn receive(&mut self, port: PortId, frame: &[u8], now_ns: u64) {
        let frame = &frame[..frame.len().min(MAX_PACKET)];
        let (mut packets, mut verdicts) = ([Packet::new(frame, port)], [Verdict::default()]);
        self.lane.process(&mut packets, &mut verdicts, now_ns);
        let ([packet], [verdict]) = (packets, verdicts);
        if verdict.kind == VerdictKind::Kept {
            self.kept += 1;
        } else {
            self.ended(&packet, verdict);
        }
    }

    fn poll(&mut self, now_ns: u64) {
        for passes in 0.. {
            assert!(passes < 10_000, "it never comes to an end");
            if self.lane.next_poll_ns().is_none_or(|at| at > now_ns) {
                return;
            }
            let mut back: Vec<Returned> = Vec::new();
            self.lane.poll(now_ns, &mut back);
            if back.is_empty() {
                return;
            }
            for returned in back {
                if !returned.copy {
                    self.kept = self.kept.checked_sub(1).expect("a packet that was kept");
                }
                self.ended(&returned.packet, returned.verdict);
            }
        }
    }

    /// What has become of a packet.
    fn ended(&mut self, packet: &Packet, verdict: Verdict) {
        match verdict.kind {
            VerdictKind::Forward => {
                let frame = wire::ethernet::Frame::new_checked(packet.data()).expect("a frame");
                let ipv4 = wire::ipv4::Packet::new_checked(frame.payload()).expect("IPv4");
                let udp = wire::udp::Datagram::new_checked(ipv4.payload()).expect("UDP");
                let to = (PortId(verdict.port), ipv4.dst(), udp.dst_port());
                assert!([(N3, UPF, 2152), (RADIO, UNIT, RADIO_PORT)].contains(&to), "to {to:?}");
            }
            VerdictKind::Punt => {
                if let Some(answer) = self.host.frame(packet.data()) {
                    assert!((42..1500).contains(&answer.len()), "{} bytes", answer.len());
                }
            }
            VerdictKind::Drop | VerdictKind::Buffer => {}
            kind => panic!("{kind:?}"),
        }
    }

    fn check(&mut self) {
        assert!(self.kept <= BEARERS * MOST_KEPT, "{} packets are kept", self.kept);
        assert_eq!(self.pipeline.imbalance(), 0);
        for ue in self.pipeline.counts() {
            for drb in ue.drb {
                let before = self.counts.insert((ue.id, drb.id), drb.downlink_count).unwrap_or(0);
                assert!(before <= drb.downlink_count, "COUNT {before} came to {}", drb.downlink_count);
            }
        }
    }

    /// Nothing is left when all bearers have ended.
    fn end(&mut self, now_ns: u64) {
        let ids: Vec<String> = self.bearers.config().ues.iter().map(|ue| ue.id.to_string()).collect();
        if !ids.is_empty() {
            assert!(self.ask(&format!(r#"{{"do":"release","ue":[{}]}}"#, ids.join(","))));
        }
        // A service learns of a setting with its next call, so there is one for each: a STATUS PDU for `buffer`, and one of no bytes for `radio_bearer`.
        assert!(self.ask(&format!(r#"{{"do":"create","ue":[{}]}}"#, ue(1, 9))), "it has no keys");
        for pdu in [&[0, 0, 0][..], &[0x80]] {
            self.receive(RADIO, &radio(&framed(1, pdu)), now_ns);
        }
        self.poll(now_ns);
        assert_eq!(self.kept, 0, "packets that nobody has");
        assert_eq!(self.pipeline.imbalance(), 0);
        let (mut ues, mut drops) = Default::default();
        self.pipeline.report(&mut ues);
        self.host.report(&mut ues, &mut drops);
    }
}

/// The whole program with its services.
pub(crate) fn over_the_interpreter(services: &[Arc<service::Deployment>]) -> Result<Arc<dyn target_api::Target>, PipelineError> {
    let (cut, bridge) = &*PROGRAM;
    let oracle = Asic::oracle(cut.clone()).map_err(|error| PipelineError::Program(error.to_string()))?;
    let target = Replicating::new(oracle, bridge.clone()).with_services(services);
    Ok(Arc::new(target.map_err(|error| PipelineError::Program(error.to_string()))?))
}

/// A frame as a UDP port makes it.
fn frame(from: SocketAddrV4, to: SocketAddrV4, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let (dst, src) = (wire::ethernet::Mac(pktio::OUR_MAC), wire::ethernet::Mac(pktio::PEER_MAC));
    wire::ethernet::Repr { dst, src, ethertype: wire::ethernet::IPV4 }.emit(&mut frame);
    let payload_len = payload.len() + 8;
    wire::ipv4::Repr { src: *from.ip(), dst: *to.ip(), protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
    wire::udp::Repr { src_port: from.port(), dst_port: to.port() }.emit_ipv4(*from.ip(), *to.ip(), payload, &mut frame);
    frame
}

pub(crate) fn n3(payload: &[u8]) -> Vec<u8> {
    frame(SocketAddrV4::new(UPF, 2152), SocketAddrV4::new(OURS, 2152), payload)
}

pub(crate) fn radio(payload: &[u8]) -> Vec<u8> {
    frame(SocketAddrV4::new(UNIT, RADIO_PORT), SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4001), payload)
}

/// An RLC PDU of UE `n`.
fn framed(n: usize, pdu: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    framing::Rlc { mode: MODES[n], direction: Direction::Uplink, ue: n as u16, drb: 1 }.emit(pdu, &mut datagram);
    datagram
}

/// Takes the steps that `data` holds.
pub fn run(data: &[u8]) {
    let (mut worker, mut rest, mut now) = (Worker::new(), data, MS);
    for _ in 0..MAX_STEPS {
        let [what, ms, length, more @ ..] = rest else { break };
        let (bytes, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        now += u64::from(*ms) * MS;
        let n = usize::from(what >> 3) % BEARERS;
        match what & 7 {
            G_PDU => {
                let mut datagram = Vec::new();
                let container = wire::gtpu::SessionContainer::Downlink { qfi: 9, rqi: what & 0x80 != 0, ppi: None };
                wire::gtpu::Repr::g_pdu(n as u32 + 1, Some(container), bytes).emit(&mut datagram);
                worker.receive(N3, &n3(&datagram), now);
            }
            RLC_PDU => {
                worker.receive(RADIO, &radio(&framed(n, bytes)), now);
            }
            N3_DATAGRAM => worker.receive(N3, &n3(bytes), now),
            RADIO_DATAGRAM => worker.receive(RADIO, &radio(bytes), now),
            N3_FRAME => worker.receive(N3, bytes, now),
            RADIO_FRAME => worker.receive(RADIO, bytes, now),
            REQUEST => drop(worker.ask(&String::from_utf8_lossy(bytes))),
            KNOWN_REQUEST => {
                let line = match length % 4 {
                    0 => format!(r#"{{"do":"release","ue":[{n}]}}"#),
                    1 => format!(r#"{{"do":"create","ue":[{}]}}"#, ue(n, 9)),
                    2 => format!(r#"{{"do":"modify","ue":[{}]}}"#, ue(n, 8)),
                    _ => r#"{"do":"counts"}"#.to_owned(),
                };
                worker.ask(&line);
            }
            _ => unreachable!("three bits"),
        }
        worker.poll(now);
        worker.check();
    }
    worker.end(now);
}
