//! A gNodeB of `p4/gnb.p4` with its services, on x86 and in the interpreter, and frames for it.
#![allow(dead_code)]

use base::{Packet, PortId, Verdict, VerdictKind};
use buffer::Limits;
use buffer::service::BufferService;
use ciphering::service::{CipherService, key_setting};
use ciphering::{Choice, Direction, Engine, Nea, Nia};
use gnb::framing::RlcMode;
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{Kind, OrderConfig, Security};
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::UmRxConfig;
use gnb::rlc::{SnLength, am_rx};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op};
use radio_bearer::{BearerConfig, RadioBearerService, RlcConfig, bearer_setting};
use service::Deployment;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use target_api::{Lane, Replicating, Returned, Target};
use target_x86::{Options, X86};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const N3: PortId = PortId(0);
pub(crate) const RADIO: PortId = PortId(128);
pub(crate) const GNB_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub(crate) const UPF_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub(crate) const UNIT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 3];
pub(crate) const GNB: [u8; 4] = [10, 3, 0, 1];
pub(crate) const UPF: [u8; 4] = [10, 3, 0, 9];
pub(crate) const UNIT: [u8; 4] = [10, 4, 0, 7];
pub(crate) const RADIO_PORT: u16 = 40_001;
pub(crate) const BEARERS: u32 = 65_536;
const PEER_UPF: u128 = 1;
const PEER_UNIT: u128 = 2;

/// A bearer of both directions.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    pub(crate) number: u32,
    pub(crate) mode: RlcMode,
    pub(crate) pdcp: SnLength,
    pub(crate) sdap_downlink: bool,
    pub(crate) sdap_uplink: bool,
    pub(crate) nea: Nea,
    pub(crate) nia: Option<Nia>,
    pub(crate) ue: u16,
    pub(crate) drb: u8,
    pub(crate) teid: u32,
    pub(crate) qfi: u8,
    /// Downlink packets ask the UE to follow.
    pub(crate) reflective: bool,
    pub(crate) count_base: u32,
    pub(crate) pdu_bytes: u16,
}

impl Bearer {
    /// RLC AM with 18 bits, PDCP with 18, NEA2, SDAP headers.
    pub(crate) fn new(number: u32) -> Bearer {
        Bearer {
            number,
            mode: RlcMode::Am(18),
            pdcp: SnLength::Bits18,
            sdap_downlink: true,
            sdap_uplink: true,
            nea: Nea::Nea2,
            nia: None,
            ue: number as u16,
            drb: 1 + (number >> 16) as u8,
            teid: 0x1000_0000 + number,
            qfi: 9,
            reflective: false,
            count_base: 0,
            pdu_bytes: 16_000,
        }
    }

    pub(crate) fn format(&self, direction: Direction) -> Format {
        let sdap_header = if direction == Direction::Downlink { self.sdap_downlink } else { self.sdap_uplink };
        Format { kind: Kind::Drb, sn_length: self.pdcp, integrity: self.nia.is_some(), sdap_header }
    }

    pub(crate) fn keys(&self) -> ([u8; 16], [u8; 16]) {
        let number = self.number.to_be_bytes();
        (std::array::from_fn(|i| number[i % 4] ^ i as u8), std::array::from_fn(|i| number[i % 4] ^ (0x80 + i as u8)))
    }

    pub(crate) fn security(&self, engine: &Engine, direction: Direction) -> Security {
        let (cipher, integrity) = self.keys();
        Security {
            cipher: Some(Arc::new(engine.cipher_key(self.nea, &cipher))),
            integrity: self.nia.map(|nia| Arc::new(engine.integrity_key(nia, &integrity))),
            bearer: self.drb - 1,
            direction,
        }
    }

    /// RLC AM loses nothing, however long it takes.
    pub(crate) fn reordering_ns(&self) -> Option<u64> {
        (!matches!(self.mode, RlcMode::Am(_))).then_some(200 * MS)
    }

    fn is_protected(&self) -> bool {
        self.nea != Nea::Nea0 || self.nia.is_some()
    }

    /// The service's setting.
    pub(crate) fn receiving(&self) -> BearerConfig {
        let rlc = match self.mode {
            RlcMode::Tm => RlcConfig::Tm,
            RlcMode::Um(bits) => RlcConfig::Um(UmRxConfig {
                sn_length: if bits == 6 { UmSnLength::Bits6 } else { UmSnLength::Bits12 },
                reassembly_ns: 35 * MS,
                partial_bytes: 1 << 16,
            }),
            RlcMode::Am(bits) => RlcConfig::Am(am_rx::RxConfig {
                sn_length: sn_length(bits),
                window: 512,
                partial_bytes: 1 << 18,
                reassembly_ns: 35 * MS,
                status_prohibit_ns: 5 * MS,
            }),
        };
        let order = OrderConfig {
            sn_length: self.pdcp,
            window: 512,
            bytes: 1 << 22,
            reordering_ns: self.reordering_ns(),
            out_of_order: false,
            stop: u32::MAX,
        };
        BearerConfig { rlc, format: self.format(Direction::Uplink), order }
    }

    fn transmitting(&self) -> Option<buffer::rlc::BearerConfig> {
        let RlcMode::Am(bits) = self.mode else { return None };
        Some(buffer::rlc::BearerConfig {
            sn_length: sn_length(bits),
            window: 512,
            bytes: 1 << 22,
            poll_retransmit_ms: 45,
            poll_pdu: Some(8),
            poll_byte: None,
            max_retransmissions: 32,
        })
    }
}

pub(crate) fn sn_length(bits: u8) -> SnLength {
    if bits == 12 { SnLength::Bits12 } else { SnLength::Bits18 }
}

/// `p4/gnb.p4`.
pub(crate) fn ir(step: Option<u8>, more: &[&str]) -> Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/gnb.p4");
    let mut options = p4_check::Options::default();
    options.defines.extend(step.map(|step| ("STEP".to_owned(), step.to_string())));
    options.defines.extend(more.iter().map(|name| (name.to_string(), String::new())));
    let compiled = p4_check::compile_file(&path, &options).unwrap_or_else(|failure| panic!("{}", failure.render()));
    assert_eq!(compiled.render_warnings(), "");
    let mut ir = compiled.ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    ir
}

pub(crate) fn whole() -> Arc<Ir> {
    static IR: OnceLock<Arc<Ir>> = OnceLock::new();
    IR.get_or_init(|| Arc::new(ir(None, &[]))).clone()
}

/// Services, each in the lane.
pub(crate) struct Services {
    pub(crate) buffer: Arc<Deployment>,
    pub(crate) cipher: Arc<Deployment>,
    pub(crate) bearers: Arc<Deployment>,
}

impl Services {
    pub(crate) fn new() -> Services {
        let limits = Limits { packets: 1 << 16, bytes: 1 << 26 };
        Services {
            buffer: inline::in_lane(Arc::new(move || Box::new(BufferService::new(BEARERS as usize, limits)))),
            cipher: inline::in_lane(Arc::new(|| Box::new(CipherService::new(Choice::Fastest).expect("one is always there")))),
            bearers: inline::in_lane(Arc::new(|| Box::new(RadioBearerService::new(BEARERS as usize)))),
        }
    }

    /// Over the slow twins: the interpreter's.
    pub(crate) fn plain() -> Services {
        let limits = Limits { packets: 1 << 16, bytes: 1 << 26 };
        Services {
            buffer: inline::in_lane(Arc::new(move || Box::new(BufferService::plain(BEARERS as usize, limits)))),
            cipher: inline::in_lane(Arc::new(|| Box::new(CipherService::new(Choice::Portable).expect("it needs no library")))),
            ..Services::new()
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Deployment>> {
        vec![self.buffer.clone(), self.cipher.clone(), self.bearers.clone()]
    }

    pub(crate) fn set(&self, b: &Bearer) {
        let (cipher, integrity) = b.keys();
        let key = key_setting(b.nea, &cipher, b.nia.map(|nia| (nia, &integrity)));
        self.cipher.set(b.number, Some(key)).expect("a key");
        self.bearers.set(b.number, Some(bearer_setting(&b.receiving()).into())).expect("a bearer");
        if let Some(config) = b.transmitting() {
            self.buffer.set(b.number, Some(buffer::service::bearer_setting(&config).into())).expect("a bearer");
        }
    }
}

/// The program's entries.
pub(crate) struct Tables<'a>(pub(crate) &'a Ir);

impl Tables<'_> {
    pub(crate) fn insert(&self, table: &str, keys: &[u128], action: &str, args: &[u128]) -> Op {
        let program = &self.0.program;
        let id = program.table(table).unwrap_or_else(|| panic!("no table {table}"));
        let actions = program.tables[id].actions.iter().map(|a| a.action);
        let action = actions.into_iter().find(|a| program.actions[*a].name.ends_with(action)).expect("the table's action");
        let keys = keys.iter().map(|key| KeyMatch::Exact(*key)).collect();
        Op::Insert(Entry { table: id, keys, priority: 0, action, args: args.to_vec() })
    }

    /// Ports and peers.
    pub(crate) fn station(&self) -> Batch {
        let mac = |mac: [u8; 6]| mac.iter().fold(0, |all, byte| all << 8 | u128::from(*byte));
        let address = |address: [u8; 4]| u128::from(u32::from_be_bytes(address));
        let (gnb, us) = (mac(GNB_MAC), address(GNB));
        let send = |port: PortId, dst_mac, dst, src_port: u16, dst_port: u16| {
            [u128::from(port.0), gnb, mac(dst_mac), us, address(dst), u128::from(src_port), u128::from(dst_port)]
        };
        let ops = vec![
            self.insert("station", &[u128::from(N3.0)], "ours", &[gnb, us]),
            self.insert("station", &[u128::from(RADIO.0)], "ours", &[gnb, us]),
            self.insert("peer", &[PEER_UPF], "send", &send(N3, UPF_MAC, UPF, 2152, 2152)),
            self.insert("peer", &[PEER_UNIT], "send", &send(RADIO, UNIT_MAC, UNIT, RADIO_PORT, RADIO_PORT)),
        ];
        Batch { ops }
    }

    pub(crate) fn bearer(&self, b: &Bearer) -> Batch {
        Batch { ops: [self.downlink(b), self.uplink(b)].into_iter().chain(self.by_number(b)).collect() }
    }

    /// For packets of the buffer's own; the steps have none.
    pub(crate) fn by_number(&self, b: &Bearer) -> Option<Op> {
        self.0.program.table("bearer_by_number")?;
        let [number, mode, long, _] = Tables::formats(b);
        Some(self.insert("bearer_by_number", &[number], "set_bearer", &[mode, long, u128::from(b.ue), u128::from(b.drb), PEER_UNIT]))
    }

    pub(crate) fn uplink(&self, b: &Bearer) -> Op {
        let mut up = Tables::formats(b).to_vec();
        up.push(u128::from(b.sdap_uplink));
        up.extend(Tables::protection(b));
        up.extend([u128::from(b.qfi), u128::from(b.teid), PEER_UNIT, PEER_UPF]);
        up.extend([u128::from(u32::from_be_bytes(UNIT)), u128::from(RADIO_PORT)]);
        self.insert("bearer_by_ue", &[u128::from(b.ue), u128::from(b.drb)], "set_bearer", &up)
    }

    pub(crate) fn downlink(&self, b: &Bearer) -> Op {
        let mut args = Tables::formats(b).to_vec();
        args.extend([u128::from(b.sdap_downlink), u128::from(b.reflective)]);
        args.extend(Tables::protection(b));
        args.extend([u128::from(b.ue), u128::from(b.drb), u128::from(b.count_base), u128::from(b.pdu_bytes), PEER_UNIT]);
        args.push(u128::from(u32::from_be_bytes(UPF)));
        self.insert("bearer_by_flow", &[u128::from(b.teid), u128::from(b.qfi)], "set_bearer", &args)
    }

    fn formats(b: &Bearer) -> [u128; 4] {
        let (mode, long) = match b.mode {
            RlcMode::Tm => (0, false),
            RlcMode::Um(bits) => (1, bits == 12),
            RlcMode::Am(bits) => (2, bits == 18),
        };
        [u128::from(b.number), mode, u128::from(long), u128::from(b.pdcp == SnLength::Bits18)]
    }

    fn protection(b: &Bearer) -> [u128; 2] {
        [u128::from(b.is_protected()), u128::from(b.number)]
    }
}

/// What became of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Out {
    pub(crate) verdict: Verdict,
    pub(crate) bytes: Vec<u8>,
}

impl Out {
    fn new(verdict: Verdict, bytes: &[u8]) -> Out {
        Out { verdict, bytes: if verdict.kind == VerdictKind::Drop { Vec::new() } else { bytes.to_vec() } }
    }

    /// Of what was forwarded: where to, and the frame.
    pub(crate) fn forwarded(self) -> Option<(PortId, Vec<u8>)> {
        (self.verdict.kind == VerdictKind::Forward).then_some((PortId(self.verdict.port), self.bytes))
    }

    pub(crate) fn reason(&self) -> Option<String> {
        matches!(self.verdict.kind, VerdictKind::Drop | VerdictKind::Punt).then(|| whole().program.reason_name(self.verdict.reason))
    }
}

/// The program as native code.
pub(crate) struct Native {
    pub(crate) target: Arc<Replicating<X86>>,
    lane: Box<dyn Lane>,
    pub(crate) services: Services,
    /// Packets that services have, as the lane's verdicts say.
    kept: u64,
    pub(crate) ends: std::collections::BTreeMap<String, u64>,
}

impl Native {
    pub(crate) fn new(bearers: &[Bearer]) -> Native {
        let ir = whole();
        let (mut cut, bridge) = p4_passes::bridge::cut(&ir).expect("can be cut").expect("it calls");
        p4_passes::optimise(&mut cut).expect("keeps the invariants");
        let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        let x86 = X86::load(Arc::new(cut.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
        let services = Services::new();
        let target = Arc::new(Replicating::new(x86, bridge).with_services(&services.all()).unwrap_or_else(|e| panic!("{e}")));
        target.apply(&Tables(&ir).station()).expect("fits");
        let mut native = Native { lane: target.lane(0), target, services, kept: 0, ends: Default::default() };
        bearers.iter().for_each(|b| native.add(b));
        native
    }

    pub(crate) fn add(&mut self, b: &Bearer) {
        self.target.apply(&Tables(&whole()).bearer(b)).expect("fits");
        self.services.set(b);
    }

    /// A burst, and what services give back behind it.
    pub(crate) fn process(&mut self, frames: &[(PortId, Vec<u8>)], now_ns: u64) -> Vec<Out> {
        let mut outs = Vec::new();
        for burst in frames.chunks(target_api::BURST) {
            let mut packets: Vec<Packet> = burst.iter().map(|(port, bytes)| Packet::new(bytes, *port)).collect();
            let mut verdicts = vec![Verdict::default(); packets.len()];
            self.lane.process(&mut packets, &mut verdicts, now_ns);
            for (packet, verdict) in packets.iter().zip(&verdicts) {
                if verdict.kind == VerdictKind::Kept {
                    self.kept += 1;
                } else {
                    outs.push(self.ended(Out::new(*verdict, packet.data())));
                }
            }
            outs.extend(self.poll(now_ns));
        }
        outs
    }

    pub(crate) fn poll(&mut self, now_ns: u64) -> Vec<Out> {
        let mut outs = Vec::new();
        while self.lane.next_poll_ns().is_some_and(|at| at <= now_ns) {
            let mut back: Vec<Returned> = Vec::new();
            self.lane.poll(now_ns, &mut back);
            self.kept -= back.iter().filter(|r| !r.copy).count() as u64;
            if back.is_empty() {
                break;
            }
            for r in &back {
                outs.push(self.ended(Out::new(r.verdict, r.packet.data())));
            }
        }
        outs
    }

    fn ended(&mut self, out: Out) -> Out {
        let name = out.reason().unwrap_or_else(|| format!("{:?}", out.verdict.kind));
        *self.ends.entry(name).or_default() += 1;
        out
    }

    pub(crate) fn next_poll_ns(&self) -> Option<u64> {
        self.lane.next_poll_ns()
    }

    /// Packets that are kept.
    pub(crate) fn kept(&self) -> u64 {
        for service in self.services.all() {
            assert_eq!(service.counters().imbalance(), 0, "{}", service.interface().name);
        }
        self.kept
    }
}

/// The program in the interpreter.
pub(crate) struct Interpreted {
    pub(crate) machine: Machine,
    pub(crate) services: Services,
}

impl Interpreted {
    pub(crate) fn new(bearers: &[Bearer]) -> Interpreted {
        let ir = whole();
        let services = Services::plain();
        let mut machine = Machine::new(ir.clone()).expect("runs");
        machine.set_services(Box::new(inline::Inline::new(&ir.program, &services.all()).expect("all are there")));
        machine.apply(&Tables(&ir).station()).expect("fits");
        let mut interpreted = Interpreted { machine, services };
        bearers.iter().for_each(|b| interpreted.add(b));
        interpreted
    }

    pub(crate) fn add(&mut self, b: &Bearer) {
        self.machine.apply(&Tables(&whole()).bearer(b)).expect("fits");
        self.services.set(b);
    }

    pub(crate) fn process(&mut self, port: PortId, bytes: &[u8], now_ns: u64) -> Out {
        let out = self.machine.process(bytes, port, now_ns, Mode::Whole);
        Out::new(out.verdict, out.bytes)
    }
}

/// Of an IPv4 header whose checksum is zero.
pub(crate) fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Ethernet, IPv4 and UDP without a checksum.
pub(crate) fn datagram(
    (src_mac, src): ([u8; 6], [u8; 4]),
    (dst_mac, dst): ([u8; 6], [u8; 4]),
    ports: (u16, u16),
    payload: &[u8],
) -> Vec<u8> {
    let mut ipv4 = vec![0x45, 0];
    ipv4.extend((payload.len() as u16 + 28).to_be_bytes());
    ipv4.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    ipv4.extend(src);
    ipv4.extend(dst);
    let sum = checksum(&ipv4);
    ipv4[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut frame = [&dst_mac[..], &src_mac, &[8, 0], &ipv4].concat();
    frame.extend(ports.0.to_be_bytes());
    frame.extend(ports.1.to_be_bytes());
    frame.extend((payload.len() as u16 + 8).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

/// GTP-U with a PDU session container of that type and QoS byte.
pub(crate) fn gtpu(teid: u32, pdu_type: u8, qos: u8, sdu: &[u8]) -> Vec<u8> {
    let mut out = vec![0x34, 255];
    out.extend((sdu.len() as u16 + 8).to_be_bytes());
    out.extend(teid.to_be_bytes());
    out.extend([0, 0, 0, 0x85, 1, pdu_type << 4, qos, 0]);
    out.extend(sdu);
    out
}

pub(crate) fn from_upf(b: &Bearer, sdu: &[u8]) -> Vec<u8> {
    datagram((UPF_MAC, UPF), (GNB_MAC, GNB), (2152, 2152), &gtpu(b.teid, 0, b.qfi, sdu))
}

pub(crate) fn to_upf(b: &Bearer, sdu: &[u8]) -> Vec<u8> {
    datagram((GNB_MAC, GNB), (UPF_MAC, UPF), (2152, 2152), &gtpu(b.teid, 1, b.qfi, sdu))
}

fn framed(b: &Bearer, direction: Direction, pdu: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    gnb::framing::Rlc { mode: b.mode, direction, ue: b.ue, drb: b.drb }.emit(pdu, &mut out);
    out
}

pub(crate) fn to_ue(b: &Bearer, pdu: &[u8]) -> Vec<u8> {
    datagram((GNB_MAC, GNB), (UNIT_MAC, UNIT), (RADIO_PORT, RADIO_PORT), &framed(b, Direction::Downlink, pdu))
}

pub(crate) fn from_ue(b: &Bearer, pdu: &[u8]) -> Vec<u8> {
    datagram((UNIT_MAC, UNIT), (GNB_MAC, GNB), (RADIO_PORT, RADIO_PORT), &framed(b, Direction::Uplink, pdu))
}
