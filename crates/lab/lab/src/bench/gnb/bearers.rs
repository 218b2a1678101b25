//! Which bearers are there: entries of the program, settings of its services, their frames.

use super::failed;
use crate::bench::services::seam::deploy;
use base::PortId;
use buffer::Limits;
use buffer::service::BufferService;
use buffer::status::{SnLength, emit};
use ciphering::service::{CipherService, key_setting};
use ciphering::{Choice, Direction, Nea, Nia};
use cli::failure::Failure;
use gnb::framing::{Rlc, RlcMode};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{CountGuard, Kind, OrderConfig};
use gnb::rlc::am_rx;
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op, Program};
use radio_bearer::{BearerConfig, RadioBearerService, RlcConfig, bearer_setting};
use service::{Deployment, Place};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a downlink frame, without its check sequence.
pub(crate) const FRAME: usize = 128;
/// Ethernet, IPv4, UDP, GTP-U with a PDU session container.
const TUNNEL: usize = 58;
/// Ethernet, IPv4, UDP and framing of an RLC PDU.
pub(super) const FRAMING: usize = 60;
pub(crate) const N3: PortId = PortId(0);
pub(super) const RADIO: PortId = PortId(128);
const QFI: u8 = 9;
const DRB: u8 = 1;
const OURS: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 1], [10, 3, 0, 1]);
const UPF: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 2], [10, 3, 0, 9]);
const UNIT: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 3], [10, 4, 0, 7]);
const UPF_PEER: u128 = 1;
const UNIT_PEER: u128 = 2;
const UNIT_PORT: u16 = 40_001;
const MS: u64 = 1_000_000;
/// Packets of a bearer that wait for their acknowledgement at most, where its memory is measured.
pub(super) const WINDOW: u32 = 512;

/// `p4/gnb.p4`, whole or with STEP, and with more options.
pub(crate) fn compile(step: Option<u8>, bearers: u32, more: &[&str]) -> Result<Ir, Failure> {
    let step = step.map(|step| ("STEP".to_owned(), step.to_string()));
    let more = more.iter().map(|name| (name.to_string(), String::new()));
    let defines: Vec<_> = step.into_iter().chain(more).chain([("BEARERS".to_owned(), bearers.max(1024).to_string())]).collect();
    Ok(p4_driver::compile(Path::new("gnb.p4"), &[], &defines)?)
}

/// PDCP's security of all bearers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Security {
    pub(super) nea: Nea,
    pub(super) nia: Option<Nia>,
}

impl Security {
    pub(super) const NONE: Security = Security { nea: Nea::Nea0, nia: None };

    fn is_on(self) -> bool {
        self != Security::NONE
    }
}

/// Of a bearer, which has RLC AM and PDCP of 18 bits and SDAP headers.
pub(super) fn teid(n: u32) -> u32 {
    0x1000_0000 + n
}

/// Services of so many bearers.
pub(super) struct Services {
    pub(super) all: [Arc<Deployment>; 3],
}

impl Services {
    /// In the lane, or the buffer elsewhere; with a window of so many packets.
    pub(super) fn new(bearers: u32, window: u32, buffer: &Place, security: Security, ciphers: Choice) -> Result<Services, Failure> {
        let limits = Limits { packets: 1 << 24, bytes: u64::MAX };
        let buffer = deploy(buffer, Arc::new(move || Box::new(BufferService::new(bearers as usize, limits))))?;
        let cipher = deploy(&Place::Lane, Arc::new(move || Box::new(CipherService::new(ciphers).expect("one is always there"))))?;
        let receiving = deploy(&Place::Lane, Arc::new(move || Box::new(RadioBearerService::new(bearers as usize))))?;
        let transmit = buffer::rlc::BearerConfig {
            sn_length: SnLength::Bits18,
            window,
            bytes: u64::MAX,
            poll_retransmit_ms: 4000,
            poll_pdu: Some(16),
            poll_byte: None,
            max_retransmissions: 8,
        };
        let transmit = buffer::service::bearer_setting(&transmit);
        let am = am_rx::RxConfig {
            sn_length: gnb::rlc::SnLength::Bits18,
            window,
            partial_bytes: 1 << 18,
            reassembly_ns: 35 * MS,
            status_prohibit_ns: 5 * MS,
        };
        let sn_length = gnb::rlc::SnLength::Bits18;
        let receive = BearerConfig {
            rlc: RlcConfig::Am(am),
            format: Format { kind: Kind::Drb, sn_length, integrity: security.nia.is_some(), sdap_header: true },
            order: OrderConfig {
                sn_length,
                window,
                bytes: 1 << 22,
                reordering_ns: None,
                out_of_order: false,
                stop: CountGuard::default().stop,
            },
        };
        let receive = bearer_setting(&receive);
        for n in 0..bearers {
            let key = |what: u8| -> [u8; 16] { std::array::from_fn(|i| n.to_be_bytes()[i % 4] ^ what ^ i as u8) };
            buffer.set(n, Some(transmit.clone().into())).map_err(failed)?;
            receiving.set(n, Some(receive.clone().into())).map_err(failed)?;
            if security.is_on() {
                let integrity = key(0x80);
                let setting = key_setting(security.nea, &key(0), security.nia.map(|nia| (nia, &integrity)));
                cipher.set(n, Some(setting)).map_err(failed)?;
            }
        }
        Ok(Services { all: [buffer, cipher, receiving].map(Arc::new) })
    }
}

/// The program's entries, as far as it has their tables: a step has fewer.
pub(super) fn entries(program: &Program, bearers: u32, security: Security) -> Result<Batch, Failure> {
    let mac = |mac: [u8; 6]| mac.iter().fold(0, |all, byte| all << 8 | u128::from(*byte));
    let address = |address: [u8; 4]| u128::from(u32::from_be_bytes(address));
    let mut ops = Vec::new();
    let mut insert = |table: &str, action: &str, keys: &[u128], args: Vec<u128>| -> Result<(), Failure> {
        let Some(id) = program.table(table) else { return Ok(()) };
        let actions = program.tables[id].actions.iter().map(|used| used.action);
        let is_meant = |name: &str| name.rsplit('.').next() == Some(action);
        let found = { actions }.find(|a| is_meant(&program.actions[*a].name));
        let action = found.ok_or_else(|| failed(format!("table {table} of gnb.p4 has no action {action}")))?;
        let keys = keys.iter().map(|key| KeyMatch::Exact(*key)).collect();
        ops.push(Op::Insert(Entry { table: id, keys, priority: 0, action, args }));
        Ok(())
    };
    for port in [N3, RADIO] {
        insert("station", "ours", &[port.0.into()], vec![mac(OURS.0), address(OURS.1)])?;
    }
    for (peer, port, to, udp) in [(UPF_PEER, N3, UPF, 2152), (UNIT_PEER, RADIO, UNIT, u128::from(UNIT_PORT))] {
        let args = vec![port.0.into(), mac(OURS.0), mac(to.0), address(OURS.1), address(to.1), udp, udp];
        insert("peer", "send", &[peer], args)?;
    }
    for n in 0..bearers {
        let formats = [n.into(), 2, 1, 1, 1];
        let protection = [u128::from(security.is_on()), n.into()];
        let mut down = [&formats[..], &[0], &protection].concat();
        down.extend([n.into(), DRB.into(), 0, 16_000, UNIT_PEER, address(UPF.1)]);
        insert("bearer_by_flow", "set_bearer", &[teid(n).into(), QFI.into()], down)?;
        let mut up = [&formats[..], &protection].concat();
        up.extend([QFI.into(), teid(n).into(), UNIT_PEER, UPF_PEER, address(UNIT.1), UNIT_PORT.into()]);
        insert("bearer_by_ue", "set_bearer", &[n.into(), DRB.into()], up)?;
        insert("bearer_by_number", "set_bearer", &[n.into()], vec![2, 1, n.into(), DRB.into(), UNIT_PEER])?;
    }
    Ok(Batch { ops })
}

/// A frame of N3 for a bearer.
pub(crate) fn downlink(n: u32) -> Vec<u8> {
    let user: Vec<u8> = (0..(FRAME - TUNNEL) as u8).collect();
    let mut gtpu = vec![0x34, 255];
    gtpu.extend((user.len() as u16 + 8).to_be_bytes());
    gtpu.extend(teid(n).to_be_bytes());
    gtpu.extend([0, 0, 0, 0x85, 1, 0, QFI, 0]);
    gtpu.extend(user);
    datagram(UPF, 2152, &gtpu)
}

/// Where the TEID is in it.
pub(crate) const TEID: usize = 46;

/// Groups that a marker tells apart (p4/gnb/steps.p4).
pub(crate) const GROUPS: u32 = 64;
/// Where IPv4's Identification is, and the checksum of its header.
pub(super) const IDENTIFICATION: usize = 18;
pub(super) const CHECKSUM: usize = 24;

/// The same with its bearer's marker: the group is in the upper six bits of the Identification.
pub(super) fn marked(n: u32) -> Vec<u8> {
    let mut frame = downlink(n);
    frame[IDENTIFICATION] = ((n % GROUPS) << 2) as u8;
    frame[CHECKSUM..CHECKSUM + 2].fill(0);
    let sum = wire::checksum::finish(wire::checksum::sum(&frame[14..34]));
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// A frame of the radio: a bearer's RLC PDU.
pub(super) fn uplink(n: u32, pdu: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    Rlc { mode: RlcMode::Am(18), direction: Direction::Uplink, ue: n as u16, drb: DRB }.emit(pdu, &mut framed);
    datagram(UNIT, UNIT_PORT, &framed)
}

/// Where the UE's number is in it, and a STATUS's first three bytes.
pub(super) const UE: usize = 42 + 11;
pub(super) const STATUS: usize = FRAMING;

/// The first three bytes of a STATUS that acknowledges everything before a number.
pub(super) fn status(ack_sn: u32) -> [u8; 3] {
    let mut pdu = Vec::with_capacity(3);
    emit(SnLength::Bits18, ack_sn, &[], &mut pdu);
    pdu.try_into().unwrap_or_default()
}

fn datagram((src_mac, src): ([u8; 6], [u8; 4]), port: u16, payload: &[u8]) -> Vec<u8> {
    let (dst_mac, dst) = OURS;
    let mut ipv4 = vec![0x45, 0];
    ipv4.extend((payload.len() as u16 + 28).to_be_bytes());
    ipv4.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    ipv4.extend(src);
    ipv4.extend(dst);
    let sum = wire::checksum::finish(wire::checksum::sum(&ipv4));
    ipv4[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut frame = [&dst_mac[..], &src_mac, &[8, 0], &ipv4].concat();
    frame.extend(port.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.extend((payload.len() as u16 + 8).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}
