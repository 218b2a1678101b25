//! The part of `p4/gnb.p4` that stands in front of the whole program on N3 (build option FRONT), in the interpreter, with the program behind it: any frames of N3 and the radio, and
//! bearers that come, change and go meanwhile. What must hold: each frame has the fate, and leaves with the bytes, that the program gives it which runs whole, and all that is told
//! of UEs is the same.
//!
//! An input is a list of steps: an octet for what it is, one for milliseconds, one for a length, and bytes.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base::{MAX_PACKET, Packet, PortId, Verdict, VerdictKind};
use ciphering::Choice;
use gnodeb::config::{GnbTables, GnbUeTable};
use gnodeb::control::{Bearers, Reply, Request};
use gnodeb::counts::UeReport;
use gnodeb::front::{Front, Station};
use gnodeb::pipeline::{N3, Pipeline, RADIO};
use p4_ir::Ir;
use target_api::{Lane, Target};
use target_asic::Asic;

use super::gnb_p4::{MS, OURS, RADIO_PORT, UNIT, UPF, n3, over_the_interpreter, radio};

/// Steps of an input at most.
const MAX_STEPS: usize = 100;
/// Longer than any PDU that an input has: what would be cut is dropped in front.
const PDU_BYTES: u16 = 600;
const UES: usize = 4;

static FRONT: LazyLock<Arc<Ir>> = LazyLock::new(|| {
    let defines = [("FRONT", ""), ("BEARERS", "16")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    Arc::new(p4_driver::compile(Path::new("gnb.p4"), &[], &defines).expect("the shipped program compiles"))
});

/// Bearers of UM in different formats; the last one has a cipher, and is behind.
const DRBS: [&str; UES] = [
    r#""rlc_sn_bits":12,"pdcp_sn_bits":12,"ciphering":0"#,
    r#""rlc_sn_bits":6,"pdcp_sn_bits":18,"ciphering":0,"sdap_header_uplink":true,"sdap_header_downlink":true"#,
    r#""rlc_sn_bits":12,"pdcp_sn_bits":18,"ciphering":0"#,
    r#""rlc_sn_bits":6,"pdcp_sn_bits":12,"ciphering":2,"cipher_key":"000102030405060708090a0b0c0d0e0f""#,
];

fn ue(n: usize, qfi: u8, split: bool) -> String {
    let reflective = if n == 1 { r#","reflective":true"# } else { "" };
    let fast = if split && n < UES - 1 { r#","fast":true"# } else { "" };
    format!(
        r#"{{"id":{n},"radio":"{UNIT}:{RADIO_PORT}","session":{{"upf":"{UPF}","uplink_teid":7,"downlink_teid":{}}},"flows":[{{"qfi":{qfi},"drb":1{reflective}}}],"drb":[{{"id":1,"rlc":"um",{}{fast}}}]}}"#,
        n + 1,
        DRBS[n]
    )
}

/// A gNodeB without the engine.
struct Node {
    /// The target in front, where there is one.
    front: Option<Box<dyn Lane>>,
    pipeline: Pipeline,
    lane: Box<dyn Lane>,
    bearers: Bearers,
}

impl Node {
    fn new(split: bool) -> Node {
        let radio = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4001);
        let text = format!(
            "role = \"both\"\nn3 = \"{OURS}\"\n[radio]\naddress = \"{radio}\"\nrate_mbps = 100000\npdu_bytes = {PDU_BYTES}\n{}",
            if split { "[split]\nfast = \"xdp\"\nrate_mbps = 50000\n" } else { "" }
        );
        let (tables, config) = GnbTables::parse(&text).expect("a configuration");
        let (mut target, mut front) = (None, None);
        if let Some(split) = config.split {
            let oracle: Arc<dyn Target> = Arc::new(Asic::oracle(FRONT.clone()).expect("it runs in the interpreter"));
            let station = Station {
                n3: (OURS, pktio::OUR_MAC),
                radio: (radio, pktio::OUR_MAC),
                networks: vec![((*radio.ip()).into(), 8)],
                pdu_bytes: PDU_BYTES,
                rate_bps: split.rate_bps,
            };
            let mut placed = Front::new(oracle.clone(), station).expect("it has the tables");
            placed.reached(UNIT, pktio::PEER_MAC).expect("no bearer is there");
            (target, front) = (Some(oracle.lane(0)), Some(placed));
        }
        let pipeline = Pipeline::over(&config, UES, Choice::Portable, front, over_the_interpreter).expect("the program runs");
        let lane = pipeline.target.lane(0);
        let mut node = Node { front: target, pipeline, lane, bearers: Bearers::new(tables, config) };
        let all: Vec<String> = (0..UES).map(|n| ue(n, 9, split)).collect();
        assert_eq!(node.ask(&format!(r#"{{"do":"create","ue":[{}]}}"#, all.join(","))), Ok(()));
        node
    }

    /// # Errors
    /// Why it is not done.
    fn ask(&mut self, line: &str) -> Result<(), String> {
        let request = daemon::manage::socket::read::<Request<GnbUeTable>>(line.as_bytes(), "a request").expect("a request");
        let Node { pipeline, bearers, .. } = self;
        match bearers.ask(request, &mut |action| pipeline.act(action)) {
            Reply::Error { message } => Err(message),
            _ => Ok(()),
        }
    }

    /// What becomes of a frame: verdict by verdict, with the bytes of what is sent.
    fn receive(&mut self, port: PortId, frame: &[u8], now_ns: u64) -> Vec<(Verdict, Vec<u8>)> {
        let frame = &frame[..frame.len().min(MAX_PACKET)];
        if let Some(front) = self.front.as_mut().filter(|_| port == N3) {
            let there = ran(&mut **front, port, frame, now_ns);
            if !matches!(there[..], [(Verdict { kind: VerdictKind::Punt | VerdictKind::Next, .. }, _)]) {
                return there;
            }
        }
        ran(&mut *self.lane, port, frame, now_ns)
    }

    fn report(&self) -> BTreeMap<u16, UeReport> {
        let mut ues = BTreeMap::new();
        self.pipeline.report(&mut ues);
        ues.values_mut().for_each(|ue| ue.downlink_fast = Default::default());
        ues
    }
}

fn ran(lane: &mut dyn Lane, port: PortId, frame: &[u8], now_ns: u64) -> Vec<(Verdict, Vec<u8>)> {
    let (mut packets, mut verdicts) = ([Packet::new(frame, port)], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, now_ns);
    let ([packet], [verdict]) = (packets, verdicts);
    let mut returned = Vec::new();
    while lane.next_poll_ns().is_some_and(|at| at <= now_ns) {
        let before = returned.len();
        lane.poll(now_ns, &mut returned);
        if returned.len() == before {
            break;
        }
    }
    let first = (verdict.kind != VerdictKind::Kept).then_some((packet, verdict));
    let all = first.into_iter().chain(returned.into_iter().map(|of| (of.packet, of.verdict)));
    let bytes = |(packet, verdict): (Packet, Verdict)| {
        let sent = verdict.kind == VerdictKind::Forward;
        (verdict, if sent { packet.data().to_vec() } else { Vec::new() })
    };
    all.map(bytes).collect()
}

/// Takes the steps that `data` holds.
pub fn run(data: &[u8]) {
    let (mut split, mut whole, mut rest, mut now) = (Node::new(true), Node::new(false), data, MS);
    for _ in 0..MAX_STEPS {
        let [what, ms, length, more @ ..] = rest else { break };
        let (bytes, more) = more.split_at(usize::from(*length).min(more.len()));
        rest = more;
        now += u64::from(*ms) * MS;
        let n = usize::from(what >> 3) % UES;
        let (port, frame) = match what & 7 {
            0..=2 => {
                let mut datagram = Vec::new();
                // 9 is the flow of bearers that have not been modified.
                let (qfi, rqi) = if what & 3 == 1 { (8, false) } else { (9, what & 0x80 != 0) };
                let container = wire::gtpu::SessionContainer::Downlink { qfi, rqi, ppi: None };
                wire::gtpu::Repr::g_pdu(n as u32 + 1, Some(container), bytes).emit(&mut datagram);
                (N3, n3(&datagram))
            }
            3 => (N3, n3(bytes)),
            4 => (N3, bytes.to_vec()),
            5 => (RADIO, radio(bytes)),
            6 => (RADIO, bytes.to_vec()),
            _ => {
                let done = [true, false].map(|in_front| {
                    let line = match length % 3 {
                        0 => format!(r#"{{"do":"release","ue":[{n}]}}"#),
                        1 => format!(r#"{{"do":"create","ue":[{}]}}"#, ue(n, 9, in_front)),
                        _ => format!(r#"{{"do":"modify","ue":[{}]}}"#, ue(n, 8, in_front)),
                    };
                    let node = if in_front { &mut split } else { &mut whole };
                    node.ask(&line).is_ok()
                });
                assert_eq!(done[0], done[1], "a request of UE {n}");
                continue;
            }
        };
        let (came, expected) = (split.receive(port, &frame, now), whole.receive(port, &frame, now));
        assert_eq!(came, expected, "{frame:02x?}");
    }
    assert_eq!(split.report(), whole.report());
    assert_eq!((split.pipeline.imbalance(), whole.pipeline.imbalance()), (0, 0));
}
