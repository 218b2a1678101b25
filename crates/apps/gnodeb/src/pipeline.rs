//! A gNodeB of `p4/gnb.p4`: which entries of the program, and which settings of its services, are the bearers of a configuration? And what has it counted?
//!
//! A bearer's number is its place in the configuration: the program's tables lead to it, counters and services know the bearer by it. What runs lanes and
//! ports is elsewhere: `run/pipeline.rs` does with the engine.

use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;

use base::PortId;
use buffer::Limits;
use buffer::service::BufferService;
use ciphering::service::{CipherService, key_setting};
use ciphering::{Choice, Direction, Nea};
use daemon::objects::Objects;
use gnb::pdcp::{CountGuard, OrderConfig};
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::UmRxConfig;
use gnb::rlc::{SnLength, am_rx};
use program::{ApplyError, Batch, CounterId, Entry, KeyMatch, MeterConfig, MeterId, Op, Program};
use radio_bearer::{RadioBearerService, RlcConfig};
use service::caller::Rings;
use service::{Deployment, Place};
use target::Target;
use wire::gtpu;

use crate::bearer::{self, format};
use crate::config::{self, Drb, Gnb, GnbUe, Radio, RlcMode};
use crate::counts::{Count, Drops, UeReport, count};
use crate::n3::{self, Asked};

/// The port of N3: those below 128 are tunnels (p4/include/splitplane.p4).
pub const N3: PortId = PortId(0);
/// The port of the radio.
pub const RADIO: PortId = PortId(128);
/// How long a downlink packet may wait for the radio's rate, in ns: what waits for longer is dropped, before it has a number.
pub const WAIT_NS: u64 = 1_000_000_000;
/// What the rate may save up, in ns, as [`crate::grants`] does.
const DEPTH_NS: u64 = 4_000_000;
/// Packets and bytes that the buffer keeps in all; each bearer has limits of its own.
const LIMITS: Limits = Limits { packets: 1 << 22, bytes: 8 << 30 };
/// Of the program's reasons those from here to 63 say that a packet has been processed, and are no drops (p4/gnb/metadata.p4).
const PROCESSED: u8 = 48;

/// Why the program cannot run; the text names what is wrong.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// It does not compile here.
    #[error("{0}")]
    Program(String),
    /// A service does not start.
    #[error("service {name}: {why}")]
    Service {
        /// Which.
        name: &'static str,
        /// Why not.
        why: String,
    },
    /// The bearers do not fit the tables.
    #[error("the bearers do not fit the program's tables: {0}")]
    Tables(#[from] ApplyError),
}

/// The program with its bearers in place.
pub struct Pipeline {
    /// What makes lanes.
    pub target: Arc<dyn Target>,
    services: Vec<Arc<Deployment>>,
    names: Names,
    bearers: Vec<Bearer>,
}

/// A bearer, by its number.
struct Bearer {
    ue: u16,
}

/// The program's objects.
struct Names {
    radio_rate: MeterId,
    downlink: CounterId,
    uplink: CounterId,
    sent: CounterId,
    received: CounterId,
    retransmissions: CounterId,
    max_retransmissions: CounterId,
}

impl Names {
    fn of(program: &Program) -> Names {
        let counter = |name: &str| program.counter(name).expect("a counter of p4/gnb.p4");
        Names {
            radio_rate: program.meter("radio_rate").expect("the meter of p4/gnb.p4"),
            downlink: counter("downlink_packets"),
            uplink: counter("uplink_packets"),
            sent: counter("radio_sent"),
            received: counter("radio_received"),
            retransmissions: counter("retransmissions"),
            max_retransmissions: counter("max_retransmissions"),
        }
    }
}

/// How the program is compiled.
#[derive(Default)]
pub struct Build {
    /// Where its object comes from, if it need not be compiled.
    pub objects: Objects,
    /// Further arguments for the C compiler.
    pub flags: Vec<String>,
    /// The C compiler; none: the machine's.
    pub cc: Option<PathBuf>,
    /// Which ciphers.
    pub ciphers: Choice,
}

impl Pipeline {
    /// Compiles the program, and puts the bearers in place. `config` was checked, for `datapath = "p4"`.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn new(config: &Gnb, build: Build) -> Result<Pipeline, PipelineError> {
        let (n3, radio) = (config.n3, config.radio);
        let (n3, radio) = (n3.expect("a checked configuration has n3"), radio.expect("a checked configuration has a radio"));
        let bearers: Vec<(&GnbUe, &Drb)> = config.ues.iter().flat_map(|ue| ue.drbs.iter().map(move |drb| (ue, drb))).collect();
        let services = services(bearers.len(), build.ciphers)?;
        let refused = |failure: daemon::failure::Failure| PipelineError::Program(failure.to_string());
        let ir = daemon::program::shipped("gnb.p4").map_err(refused)?;
        let Build { objects: Objects { shipped, cache }, flags, cc, .. } = build;
        // The seed keys the tables' hashes: traffic must not be able to aim at one hash bucket.
        let options = target_x86::Options { cc, flags, shipped, cache, seed: rand::random(), ..Default::default() };
        let target: Arc<dyn Target> = Arc::from(daemon::run::load_x86(&ir, &options, &services).map_err(refused)?);
        let names = Names::of(target.program());
        target.apply(&entries(target.program(), n3, &radio, &config.ues, names.radio_rate))?;
        for (number, (_, drb)) in bearers.iter().enumerate() {
            set(&services, number as u32, drb)?;
        }
        let bearers = bearers.iter().map(|(ue, _)| Bearer { ue: ue.id }).collect();
        Ok(Pipeline { target, services, names, bearers })
    }

    /// The meter whose red packets wait.
    pub fn radio_rate(&self) -> MeterId {
        self.names.radio_rate
    }

    /// How many bearers there are: what their packets wait in is numbered as they are.
    pub fn bearers(&self) -> usize {
        self.bearers.len()
    }

    /// Adds what the bearers have carried.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>) {
        let names = &self.names;
        for (number, bearer) in self.bearers.iter().enumerate() {
            let ue = ues.entry(bearer.ue).or_insert_with(|| UeReport { ue: bearer.ue, ..UeReport::default() });
            let cell = |counter| self.target.counter(counter, number as u64);
            let both = |sum: &mut Count, counter| {
                let target::Count { packets, bytes } = cell(counter);
                (sum.packets, sum.bytes) = (sum.packets + packets, sum.bytes + bytes);
            };
            both(&mut ue.downlink, names.downlink);
            both(&mut ue.uplink, names.uplink);
            both(&mut ue.radio_sent, names.sent);
            both(&mut ue.radio_received, names.received);
            ue.retransmissions += cell(names.retransmissions).packets;
            ue.radio_link_failures += cell(names.max_retransmissions).packets;
        }
    }

    /// Adds drops: those of the program and of what runs it by their codes, those of services by the services' reasons.
    pub fn drops(&self, by_code: impl IntoIterator<Item = (u8, u64)>, drops: &mut Drops) {
        let refused = base::DropReason::SERVICE_REFUSED.0;
        for (code, packets) in by_code {
            // What services refuse is told by them, and by their reasons.
            if packets > 0 && !(PROCESSED..64).contains(&code) && code != refused {
                *drops.entry(format!("pipeline.{}", self.target.program().reason_name(code))).or_default() += packets;
            }
        }
        for service in &self.services {
            let (interface, counters) = (service.interface(), service.counters());
            for (reason, packets) in counters.dropped.iter().filter(|(reason, packets)| **packets > 0 && reason.as_drop().0 == refused) {
                *drops.entry(format!("{}.{}", interface.name, interface.reason_name(*reason))).or_default() += packets;
            }
        }
    }

    /// Calls of services that are not accounted for: zero between bursts, or there is a defect.
    pub fn imbalance(&self) -> i64 {
        self.services.iter().map(|service| service.counters().imbalance()).sum()
    }
}

/// The services, each in the worker itself: there is one worker, and a call costs least there.
fn services(bearers: usize, ciphers: Choice) -> Result<Vec<Arc<Deployment>>, PipelineError> {
    let cipher = |why: ciphering::Error| PipelineError::Service { name: "cipher", why: why.to_string() };
    CipherService::new(ciphers).map_err(cipher)?;
    let makes: [(&'static str, service::caller::Make); 3] = [
        ("buffer", Arc::new(move || Box::new(BufferService::new(bearers, LIMITS)))),
        ("cipher", Arc::new(move || Box::new(CipherService::new(ciphers).expect("one was made")))),
        ("radio_bearer", Arc::new(move || Box::new(RadioBearerService::new(bearers)))),
    ];
    let deploy = |(name, make)| {
        let deployment = Deployment::new(&Place::Lane, make, Rings::default());
        deployment.map(Arc::new).map_err(|error| PipelineError::Service { name, why: error.to_string() })
    };
    makes.into_iter().map(deploy).collect()
}

/// Puts a bearer's settings in place.
fn set(services: &[Arc<Deployment>], number: u32, drb: &Drb) -> Result<(), PipelineError> {
    let set = |name: &'static str, value: zeroize::Zeroizing<Vec<u8>>| {
        let service = services.iter().find(|service| service.interface().name == name).expect("all are there");
        service.set(number, Some(value)).map_err(|error| PipelineError::Service { name, why: error.to_string() })
    };
    if is_protected(drb) {
        set("cipher", key_setting(drb.ciphering, &drb.keys.cipher, drb.integrity.map(|nia| (nia, &drb.keys.integrity))))?;
    }
    set("radio_bearer", radio_bearer::bearer_setting(&receiving(drb)).into())?;
    match drb.rlc {
        RlcMode::Am(sn_length) => set("buffer", buffer::service::bearer_setting(&transmitting(drb, sn_length)).into()),
        RlcMode::Um(_) => Ok(()),
    }
}

fn is_protected(drb: &Drb) -> bool {
    drb.ciphering != Nea::Nea0 || drb.integrity.is_some()
}

/// The receiving sides, as [`crate::bearer`] has them.
fn receiving(drb: &Drb) -> radio_bearer::BearerConfig {
    let rlc = match drb.rlc {
        RlcMode::Um(sn_length) => {
            RlcConfig::Um(UmRxConfig { sn_length, reassembly_ns: bearer::REASSEMBLY_NS, partial_bytes: bearer::PARTIAL_BYTES })
        }
        RlcMode::Am(sn_length) => RlcConfig::Am(am_rx::RxConfig {
            sn_length,
            window: drb.window,
            partial_bytes: bearer::PARTIAL_BYTES,
            reassembly_ns: bearer::REASSEMBLY_NS,
            status_prohibit_ns: bearer::STATUS_PROHIBIT_NS,
        }),
    };
    let order = OrderConfig {
        sn_length: drb.pdcp_sn,
        window: drb.window,
        bytes: drb.queue_bytes,
        reordering_ns: drb.reordering_ns,
        out_of_order: false,
        stop: CountGuard::default().stop,
    };
    radio_bearer::BearerConfig { rlc, format: format(drb, Direction::Uplink), order }
}

/// RLC AM's transmitting side.
fn transmitting(drb: &Drb, sn_length: SnLength) -> buffer::rlc::BearerConfig {
    buffer::rlc::BearerConfig {
        sn_length: match sn_length {
            SnLength::Bits12 => buffer::status::SnLength::Bits12,
            SnLength::Bits18 => buffer::status::SnLength::Bits18,
        },
        window: drb.window,
        bytes: drb.queue_bytes,
        poll_retransmit_ms: (bearer::POLL_RETRANSMIT_NS / 1_000_000) as u32,
        poll_pdu: Some(bearer::POLL_PDU),
        poll_byte: Some(bearer::POLL_BYTE),
        max_retransmissions: bearer::MAX_RETRANSMISSIONS,
    }
}

/// All that the tables hold.
fn entries(program: &Program, n3: Ipv4Addr, radio: &Radio, ues: &[GnbUe], radio_rate: MeterId) -> Batch {
    let ours = v4(radio.address);
    let pdu_bytes = u16::try_from(radio.pdu_bytes).expect("a checked configuration has grants of up to MAX_PDU");
    let mut batch = Entries { program, pdu_bytes, ops: Vec::new(), peers: HashMap::new(), n3: config::gtpu(n3), radio: ours };
    let mac = mac(pktio::OUR_MAC);
    batch.insert("station", &[N3.0.into()], "ours", &[mac, u32::from(n3).into()]);
    batch.insert("station", &[RADIO.0.into()], "ours", &[mac, u32::from(*ours.ip()).into()]);
    let rate = radio.rate_bps / 8;
    let burst = (u128::from(rate) * u128::from(DEPTH_NS) / 1_000_000_000) as u64 + config::MAX_PDU as u64;
    let config = MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst };
    batch.ops.push(Op::Meter { meter: radio_rate, index: 0, config: Some(config) });
    let mut number = 0;
    for ue in ues {
        for drb in &ue.drbs {
            batch.bearer(number, ue, drb);
            number += 1;
        }
    }
    Batch { ops: batch.ops }
}

/// Entries that are being written.
struct Entries<'a> {
    program: &'a Program,
    pdu_bytes: u16,
    ops: Vec<Op>,
    /// Numbers of UPFs and radio units.
    peers: HashMap<(PortId, SocketAddrV4), u128>,
    n3: SocketAddrV4,
    radio: SocketAddrV4,
}

impl Entries<'_> {
    fn insert(&mut self, table: &str, keys: &[u128], action: &str, args: &[u128]) {
        let id = self.program.table(table).expect("a table of p4/gnb.p4");
        let actions = self.program.tables[id].actions.iter().map(|used| used.action);
        let is_meant = |name: &str| name.rsplit('.').next() == Some(action);
        let action = { actions }.find(|a| is_meant(&self.program.actions[*a].name)).expect("an action of p4/gnb.p4");
        let keys = keys.iter().map(|key| KeyMatch::Exact(*key)).collect();
        self.ops.push(Op::Insert(Entry { table: id, keys, priority: 0, action, args: args.to_vec() }));
    }

    /// The number of a peer, which has an entry from now on.
    fn peer(&mut self, port: PortId, to: SocketAddrV4) -> u128 {
        if let Some(number) = self.peers.get(&(port, to)) {
            return *number;
        }
        let number = self.peers.len() as u128 + 1;
        self.peers.insert((port, to), number);
        let from = if port == N3 { self.n3 } else { self.radio };
        let address = |address: &SocketAddrV4| u128::from(u32::from(*address.ip()));
        let (ours, theirs) = (mac(pktio::OUR_MAC), mac(pktio::PEER_MAC));
        let args = [port.0.into(), ours, theirs, address(&from), address(&to), from.port().into(), to.port().into()];
        self.insert("peer", &[number], "send", &args);
        number
    }

    fn bearer(&mut self, number: u32, ue: &GnbUe, drb: &Drb) {
        let session = ue.session.expect("a checked configuration has a session");
        let unit = v4(ue.radio.expect("a checked configuration has a radio address"));
        let (upf, teid) = (session.uplink.addr, session.uplink.teid);
        let (upf_peer, unit_peer) = (self.peer(N3, config::gtpu(upf)), self.peer(RADIO, unit));
        let (mode, long) = match drb.rlc {
            RlcMode::Um(bits) => (1, bits == UmSnLength::Bits12),
            RlcMode::Am(bits) => (2, bits == SnLength::Bits18),
        };
        let formats: [u128; 4] = [number.into(), mode, long.into(), u128::from(drb.pdcp_sn == SnLength::Bits18)];
        let protection: [u128; 2] = [is_protected(drb).into(), number.into()];
        let id = drb.sdap.id;
        let mut down = formats.to_vec();
        down.extend([drb.sdap.downlink_header.into(), 0]);
        down.extend(protection);
        down.extend([ue.id.into(), id.get().into(), 0, 0, self.pdu_bytes.into(), unit_peer, u32::from(upf).into()]);
        let key = u128::from(session.downlink_teid);
        let flows: Vec<u128> = ue.sdap.flows.iter().filter(|(_, drb)| *drb == id).map(|(qfi, _)| qfi.get().into()).collect();
        for qfi in &flows {
            self.insert("bearer_by_flow", &[key, *qfi], "set_bearer", &down);
        }
        if ue.sdap.default_drb == Some(id) {
            self.insert("default_bearer", &[key], "set_bearer", &down);
        }
        let mut up = formats.to_vec();
        up.push(drb.sdap.uplink_header.into());
        up.extend(protection);
        // A bearer without header has one flow, which says what its packets are of.
        let qfi = flows.first().copied().unwrap_or_default();
        up.extend([qfi, teid.into(), unit_peer, upf_peer, u32::from(*unit.ip()).into(), unit.port().into()]);
        self.insert("bearer_by_ue", &[ue.id.into(), id.get().into()], "set_bearer", &up);
    }
}

fn mac(bytes: [u8; 6]) -> u128 {
    bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!("a checked configuration has IPv4 addresses for the program"),
    }
}

/// What the program gives to the control plane: messages of N3 (TS 29.281 §7).
pub struct Host {
    n3: Ipv4Addr,
    teids: HashMap<u32, u16>,
    end_markers: BTreeMap<u16, u64>,
    drops: Drops,
}

impl Host {
    /// For the tunnels of a checked configuration.
    pub fn new(config: &Gnb) -> Host {
        let teids = config.ues.iter().filter_map(|ue| ue.session.map(|session| (session.downlink_teid, ue.id))).collect();
        let n3 = config.n3.expect("a checked configuration has n3");
        Host { n3, teids, end_markers: BTreeMap::new(), drops: Drops::new() }
    }

    /// A frame of N3 that was punted. Gives the frame of the answer, if there is one.
    pub fn frame(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let Some((from, datagram)) = datagram(frame) else { return self.count("n3.not_gtpu") };
        let Ok(repr) = gtpu::Packet::new_checked(datagram).and_then(|packet| gtpu::Repr::parse(&packet)) else {
            return self.count("n3.malformed");
        };
        if let gtpu::Message::GPdu { .. } = repr.message {
            // A flow that no bearer takes, of a tunnel that is there.
            if self.teids.contains_key(&repr.teid) {
                return self.count("sdap.no_rule");
            }
            self.count("n3.unknown_teid");
            return Some(self.answer(config::gtpu(*from.ip()), &n3::error_indication(repr.teid, self.n3)));
        }
        match n3::read(&repr) {
            Asked::Answer(answer) => Some(self.answer(from, &answer)),
            Asked::EndMarker(teid) => match self.teids.get(&teid) {
                Some(ue) => {
                    *self.end_markers.entry(*ue).or_default() += 1;
                    None
                }
                None => self.count("n3.unknown_teid"),
            },
            Asked::Nothing(reason) => self.count(reason),
        }
    }

    /// Adds what was counted.
    pub fn report(&self, ues: &mut BTreeMap<u16, UeReport>, drops: &mut Drops) {
        for (ue, markers) in &self.end_markers {
            ues.entry(*ue).or_insert_with(|| UeReport { ue: *ue, ..UeReport::default() }).end_markers += markers;
        }
        for (reason, number) in &self.drops {
            *drops.entry(reason.clone()).or_default() += number;
        }
    }

    fn count(&mut self, reason: &'static str) -> Option<Vec<u8>> {
        count(&mut self.drops, reason);
        None
    }

    fn answer(&self, to: SocketAddrV4, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        let ethernet = wire::ethernet::Repr {
            dst: wire::ethernet::Mac(pktio::PEER_MAC),
            src: wire::ethernet::Mac(pktio::OUR_MAC),
            ethertype: wire::ethernet::IPV4,
        };
        ethernet.emit(&mut frame);
        let payload_len = payload.len() + 8;
        wire::ipv4::Repr { src: self.n3, dst: *to.ip(), protocol: wire::ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
        wire::udp::Repr { src_port: gtpu::PORT, dst_port: to.port() }.emit_ipv4(self.n3, *to.ip(), payload, &mut frame);
        frame
    }
}

/// The GTP-U datagram in a frame, and where it is from.
fn datagram(frame: &[u8]) -> Option<(SocketAddrV4, &[u8])> {
    let frame = wire::ethernet::Frame::new_checked(frame).ok()?;
    if frame.ethertype() != wire::ethernet::IPV4 {
        return None;
    }
    let ipv4 = wire::ipv4::Packet::new_checked(frame.payload()).ok()?;
    if ipv4.protocol() != wire::ipv4::UDP || ipv4.is_fragment() {
        return None;
    }
    let udp = wire::udp::Datagram::new_checked(ipv4.payload()).ok()?;
    (udp.dst_port() == gtpu::PORT).then(|| (SocketAddrV4::new(ipv4.src(), udp.src_port()), udp.payload()))
}
