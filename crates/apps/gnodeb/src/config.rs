//! What may a file say, and what does it mean? TOML of `splitplane gnb` and of `splitplane ue`.
//!
//! Both name UEs and their bearers with the same tables, as RRC would tell both sides (TS 38.331). A key that is not known, a number out of
//! range and a bearer that names another that is not there are errors that name the field.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use ciphering::{Nea, Nia};
use cli::secrets::without_keys;
use gnb::rlc::SnLength;
use gnb::rlc::pdu::UmSnLength;
use gnb::sdap::{self, DrbId, Qfi};
use serde::{Deserialize, Serialize};
use traffic::Tunnel;

/// Most UEs of a file: the radio's framing has 16 bits, memory for windows is what limits.
pub const MAX_UES: usize = 4096;
/// Longest file in bytes: [`MAX_UES`] of four bearers.
pub const MAX_FILE: usize = 8 << 20;
/// Smallest grant: a STATUS with a NACK, or a part of an SDU behind its header.
pub const MIN_PDU: usize = 64;
/// Largest grant: an SDU of PDCP with all headers in one PDU.
pub const MAX_PDU: usize = 9216;

const MS: u64 = 1_000_000;

/// Why a file is refused; the text names the field.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

pub(crate) fn wrong(field: impl fmt::Display, why: impl fmt::Display) -> ConfigError {
    ConfigError(format!("{field}: {why}"))
}

/// What of a gNodeB runs here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// CU-UP and DU in one.
    Both,
    /// SDAP and PDCP: between N3 and F1-U.
    CuUp,
    /// RLC: between F1-U and radio.
    Du,
}

/// What carries packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Datapath {
    /// The entities of the crate `gnb`, packet by packet.
    Entities,
    /// `p4/gnb.p4` with its services, on x86.
    P4,
}

/// Most bearers of `p4/gnb.p4`: the field of a request that names a key has 16 bits.
pub const P4_BEARERS: usize = 1 << 16;

/// How long a packet waits for the radio's rate, at most, with `p4/gnb.p4`, in ms.
pub const P4_DISCARD_MS: u64 = 1000;

/// A gNodeB.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gnb {
    /// What runs here.
    pub role: Role,
    /// How it does.
    pub datapath: Datapath,
    /// The N3 address, port 2152. There for `both` and `cu-up`.
    pub n3: Option<Ipv4Addr>,
    /// Our F1-U address and the peer's, port 2152. There for `cu-up` and `du`.
    pub f1u: Option<(Ipv4Addr, Ipv4Addr)>,
    /// There for `both` and `du`.
    pub radio: Option<Radio>,
    /// What stands in front of the program on N3; none: it runs whole on x86.
    pub split: Option<Split>,
    /// Where changes of UEs and bearers are asked for.
    pub control: Option<PathBuf>,
    /// UEs.
    pub ues: Vec<GnbUe>,
}

/// The radio's side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Radio {
    /// UDP address and port of ours.
    pub address: SocketAddr,
    /// Bits of RLC PDUs a second, of all UEs together.
    pub rate_bps: u64,
    /// Most bytes of an RLC PDU: the size of a grant.
    pub pdu_bytes: usize,
}

/// A target in front of the program on N3, which carries the downlink of bearers that are [`Drb::fast`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Which.
    pub fast: FastTarget,
    /// Bits of RLC PDUs a second that it sends, of the radio's rate. Bearers behind it have the rest.
    pub rate_bps: u64,
}

/// `split.fast`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FastTarget {
    /// The kernel's XDP hook on N3's interface.
    Xdp,
}

/// A UE, as a gNodeB knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GnbUe {
    /// Its number.
    pub id: u16,
    /// Its radio address. There for `both` and `du`.
    pub radio: Option<SocketAddr>,
    /// Its PDU session. There for `both` and `cu-up`.
    pub session: Option<Session>,
    /// Its bearers.
    pub drbs: Vec<Drb>,
    /// Flows and bearers.
    pub sdap: sdap::Config,
}

/// A PDU session's tunnels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// The UPF's end.
    pub uplink: Tunnel,
    /// TEID of our end.
    pub downlink_teid: u32,
}

/// UEs of one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ues {
    /// Our side of the radio. One socket, and one rate for each UE.
    pub radio: Radio,
    /// UEs.
    pub ues: Vec<Ue>,
    /// MTU of the devices in bytes.
    pub mtu: u16,
    /// Where they are told to go to another cell.
    pub control: Option<PathBuf>,
}

/// A UE itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ue {
    /// Its number.
    pub id: u16,
    /// The gNodeB's radio address.
    pub gnb: SocketAddr,
    /// Its addresses: the prefix is a /64.
    pub ipv4: Option<Ipv4Addr>,
    /// See `ipv4`.
    pub ipv6: Option<Ipv6Addr>,
    /// The QoS flow of packets that no rule takes.
    pub qfi: Qfi,
    /// QoS rules: flows by DSCP.
    pub rules: Vec<(u8, Qfi)>,
    /// Its bearers.
    pub drbs: Vec<Drb>,
    /// Flows and bearers.
    pub sdap: sdap::Config,
}

/// RLC mode, with its length of sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RlcMode {
    /// Acknowledged.
    Am(SnLength),
    /// Unacknowledged.
    Um(UmSnLength),
}

/// A data radio bearer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drb {
    /// Identity and SDAP headers.
    pub sdap: sdap::Drb,
    /// RLC.
    pub rlc: RlcMode,
    /// Length of PDCP's downlink sequence numbers.
    pub pdcp_sn: SnLength,
    /// Length of PDCP's uplink sequence numbers.
    pub pdcp_sn_uplink: SnLength,
    /// Ciphering; `Nea0`: none.
    pub ciphering: Nea,
    /// Integrity protection; `None`: PDUs have no MAC-I.
    pub integrity: Option<Nia>,
    /// Keys: K_UPenc and K_UPint (TS 33.501 §6.2).
    pub keys: Keys,
    /// Most SDUs on the way, of PDCP and of RLC.
    pub window: u32,
    /// Most bytes that wait in PDCP, in each direction.
    pub queue_bytes: u64,
    /// Bytes beyond what was sent by radio that a DU asks the CU for.
    pub du_bytes: u32,
    /// `discardTimer`, ns; `None`: infinity.
    pub discard_ns: Option<u64>,
    /// `t-Reordering`, ns; `None`: infinity.
    pub reordering_ns: Option<u64>,
    /// RLC's timers and thresholds.
    pub rlc_timers: RlcTimers,
    /// TEIDs of F1-U: the CU's end and the DU's. There for `cu-up` and `du`.
    pub f1u: Option<(u32, u32)>,
    /// Whether its downlink runs on the target in front ([`Split`]), with its COUNT.
    pub fast: bool,
}

impl Drb {
    /// Whether a bearer that is there goes on as this one, with its COUNT: only timers, thresholds and limits of what waits are others.
    pub fn goes_on(&self, before: &Drb) -> bool {
        let Drb { queue_bytes, du_bytes, discard_ns, reordering_ns, rlc_timers, .. } = *self;
        *self == Drb { queue_bytes, du_bytes, discard_ns, reordering_ns, rlc_timers, ..before.clone() }
    }
}

/// RLC's timers and thresholds (TS 38.331 `RLC-Config`, TS 38.322 §7.2 and §7.3). All but `reassembly_ns` are of RLC AM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RlcTimers {
    /// `t-PollRetransmit`, ns; whole ms.
    pub poll_retransmit_ns: u64,
    /// `pollPDU`; `None`: infinity.
    pub poll_pdu: Option<u32>,
    /// `pollByte`; `None`: infinity.
    pub poll_byte: Option<u32>,
    /// `maxRetxThreshold`.
    pub max_retransmissions: u8,
    /// `t-Reassembly`, ns.
    pub reassembly_ns: u64,
    /// `t-StatusProhibit`, ns.
    pub status_prohibit_ns: u64,
}

impl Default for RlcTimers {
    /// Of the values that TS 38.331 knows: for a radio that reorders by some milliseconds.
    fn default() -> RlcTimers {
        RlcTimers {
            poll_retransmit_ns: 45 * MS,
            poll_pdu: Some(16),
            poll_byte: Some(25_000),
            max_retransmissions: 32,
            reassembly_ns: 20 * MS,
            status_prohibit_ns: 5 * MS,
        }
    }
}

/// 16 bytes each. `Debug` does not print them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Keys {
    /// For ciphering.
    pub cipher: [u8; 16],
    /// For integrity protection.
    pub integrity: [u8; 16],
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct GnbFile {
    role: Role,
    datapath: Option<Datapath>,
    n3: Option<Ipv4Addr>,
    f1u: Option<F1uTable>,
    radio: Option<RadioTable>,
    split: Option<SplitTable>,
    control: Option<PathBuf>,
    #[serde(default)]
    ue: Vec<GnbUeTable>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitTable {
    fast: FastTarget,
    rate_mbps: u64,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct F1uTable {
    address: Ipv4Addr,
    peer: Ipv4Addr,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RadioTable {
    address: SocketAddr,
    rate_mbps: u64,
    pdu_bytes: Option<usize>,
}

/// A grant where a file says nothing.
const PDU_BYTES: usize = 1400;

/// Most keys that are remembered, of bearers that have ended and of those that are there: beyond it the oldest are forgotten.
const MAX_USED_KEYS: usize = 1 << 18;

/// Which keys were a bearer's: a UE's bearers may share a key (BEARER is one of the cipher's inputs), but none may begin at COUNT 0 twice under one.
///
/// Only hashes with a secret of this process are kept, so it says nothing of a key that is not in use any more. What another gNodeB, or this one before it was started,
/// has used, cannot be known.
#[derive(Clone, Default)]
pub struct UsedKeys {
    secret: RandomState,
    keys: HashSet<u64>,
    order: VecDeque<u64>,
}

impl UsedKeys {
    fn of(&self, ue: u16, drb: &Drb) -> impl Iterator<Item = (u64, &'static str)> {
        let cipher = (drb.ciphering != Nea::Nea0).then_some((drb.keys.cipher, "cipher_key"));
        let integrity = drb.integrity.is_some_and(|nia| nia != Nia::Nia0).then_some((drb.keys.integrity, "integrity_key"));
        let hash = |(key, name)| (self.secret.hash_one((ue, drb.sdap.id, name, key)), name);
        [cipher.map(hash), integrity.map(hash)].into_iter().flatten()
    }

    /// Whether the bearer may begin at COUNT 0.
    pub(crate) fn check(&self, ue: u16, drb: &Drb, at: String) -> Result<(), ConfigError> {
        match self.of(ue, drb).find(|(key, _)| self.keys.contains(key)) {
            Some((_, name)) => {
                Err(wrong(format!("{at}.{name}"), "the bearer begins at COUNT 0, and has had this key: give it another key"))
            }
            None => Ok(()),
        }
    }

    /// These bearers of a UE are under their keys.
    pub(crate) fn add(&mut self, ue: u16, drbs: &[Drb]) {
        for key in drbs.iter().flat_map(|drb| self.of(ue, drb).map(|(key, _)| key).collect::<Vec<_>>()).collect::<Vec<_>>() {
            if self.keys.insert(key) {
                self.order.push_back(key);
            }
            if self.order.len() > MAX_USED_KEYS
                && let Some(oldest) = self.order.pop_front()
            {
                self.keys.remove(&oldest);
            }
        }
    }
}

/// A UE as a file or a request has it. Keys can be read and are not written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GnbUeTable {
    id: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    radio: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_drb: Option<u8>,
    #[serde(default)]
    flows: Vec<FlowTable>,
    drb: Vec<DrbTable>,
}

impl GnbUeTable {
    /// Its number.
    pub(crate) fn id(&self) -> u16 {
        self.id
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionTable {
    upf: Ipv4Addr,
    uplink_teid: u32,
    downlink_teid: u32,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowTable {
    qfi: u8,
    drb: u8,
    /// Downlink packets ask the UE to send the flow by the same bearer (RDI).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reflective: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct UesFile {
    radio: RadioTable,
    control: Option<PathBuf>,
    #[serde(default = "mtu")]
    mtu: u16,
    #[serde(default)]
    ue: Vec<UeTable>,
}

fn mtu() -> u16 {
    1400
}

/// A UE as a file of UEs or a request has it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UeTable {
    id: u16,
    gnb: SocketAddr,
    ipv4: Option<Ipv4Addr>,
    ipv6: Option<Ipv6Addr>,
    qfi: u8,
    #[serde(default)]
    rules: Vec<RuleTable>,
    default_drb: Option<u8>,
    #[serde(default)]
    flows: Vec<FlowTable>,
    drb: Vec<DrbTable>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    dscp: u8,
    qfi: u8,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Am,
    Um,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrbTable {
    id: u8,
    rlc: Mode,
    #[serde(default = "bits18")]
    pdcp_sn_bits: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdcp_sn_bits_uplink: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rlc_sn_bits: Option<u8>,
    #[serde(default)]
    sdap_header_uplink: bool,
    #[serde(default)]
    sdap_header_downlink: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphering: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    integrity: Option<u8>,
    #[serde(skip_serializing)]
    cipher_key: Option<String>,
    #[serde(skip_serializing)]
    integrity_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u32>,
    #[serde(default = "queue_kbytes")]
    queue_kbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    du_kbytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discard_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reordering_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_retransmit_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_pdu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retransmissions: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reassembly_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_prohibit_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1u: Option<F1uTeids>,
    /// Its downlink runs on `split.fast`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fast: bool,
}

fn bits18() -> u8 {
    18
}

fn queue_kbytes() -> u64 {
    8192
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct F1uTeids {
    cu_teid: u32,
    du_teid: u32,
}

/// What a DU asks for where a file says nothing, in KiB.
const DU_KBYTES: u32 = 256;
/// SDUs on the way where a file says nothing: at 100 Mbit/s half a second of full packets.
const WINDOW: u32 = 4096;

impl Gnb {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<Gnb, ConfigError> {
        read::<GnbFile>(text)?.check(0)
    }
}

/// A gNodeB's file with what was asked for since it was read: what changes is checked together with what is there.
#[derive(Clone)]
pub struct GnbTables(GnbFile);

impl GnbTables {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<(GnbTables, Gnb), ConfigError> {
        let tables = GnbTables(read(text)?);
        let config = tables.0.clone().check(0)?;
        Ok((tables, config))
    }

    /// The UEs.
    pub fn ues(&self) -> &[GnbUeTable] {
        &self.0.ue
    }

    /// With these UEs beside those that are there.
    ///
    /// # Errors
    /// [`ConfigError`], which names fields by the UE's place in `ues`.
    pub fn create(&self, ues: Vec<GnbUeTable>) -> Result<(GnbTables, Gnb), ConfigError> {
        self.with(ues, |_| true)
    }

    /// With these UEs in place of those of the same numbers.
    ///
    /// # Errors
    /// As [`GnbTables::create`].
    pub fn modify(&self, ues: Vec<GnbUeTable>) -> Result<(GnbTables, Gnb), ConfigError> {
        self.known(ues.iter().map(|ue| ue.id), |number| format!("ue[{number}].id"))?;
        let changed: HashSet<u16> = ues.iter().map(|ue| ue.id).collect();
        self.with(ues, |ue| !changed.contains(&ue.id))
    }

    /// Without those UEs.
    ///
    /// # Errors
    /// As [`GnbTables::create`].
    pub fn release(&self, ids: &[u16]) -> Result<(GnbTables, Gnb), ConfigError> {
        self.known(ids.iter().copied(), |number| format!("ue[{number}]"))?;
        self.with(Vec::new(), |ue| !ids.contains(&ue.id))
    }

    fn known(&self, ids: impl Iterator<Item = u16>, field: impl Fn(usize) -> String) -> Result<(), ConfigError> {
        let known: HashSet<u16> = self.0.ue.iter().map(|ue| ue.id).collect();
        match ids.enumerate().find(|(_, id)| !known.contains(id)) {
            Some((number, id)) => Err(wrong(field(number), format!("there is no UE {id}"))),
            None => Ok(()),
        }
    }

    fn with(&self, ues: Vec<GnbUeTable>, stays: impl Fn(&GnbUeTable) -> bool) -> Result<(GnbTables, Gnb), ConfigError> {
        let mut tables = self.clone();
        tables.0.ue.retain(stays);
        let known = tables.0.ue.len();
        tables.0.ue.extend(ues);
        let config = tables.0.clone().check(known)?;
        Ok((tables, config))
    }
}

/// How errors name a UE: by its place among those that are new, behind the `known` ones.
fn place(number: usize, known: usize) -> String {
    number.checked_sub(known).map_or_else(|| format!("running ue[{number}]"), |number| format!("ue[{number}]"))
}

impl GnbFile {
    /// Checks all; the first `known` UEs were right before.
    fn check(self, known: usize) -> Result<Gnb, ConfigError> {
        let (core, air) = (self.role != Role::Du, self.role != Role::CuUp);
        let split = self.role != Role::Both;
        needed("n3", self.n3.is_some(), core)?;
        needed("f1u", self.f1u.is_some(), split)?;
        needed("radio", self.radio.is_some(), air)?;
        if self.n3.is_some_and(|n3| n3.is_unspecified()) {
            return Err(wrong("n3", "expected an address of this host, not 0.0.0.0"));
        }
        // CU-UP and DU apart are not the program's yet.
        let datapath = self.datapath.unwrap_or(if split { Datapath::Entities } else { Datapath::P4 });
        if datapath == Datapath::P4 && split {
            return Err(wrong("role", "not with datapath = \"p4\": the program is CU-UP and DU in one: expected \"both\""));
        }
        let of_p4 = (datapath == Datapath::P4).then(|| self.clone());
        if of_p4.is_none() && self.split.is_some() {
            return Err(wrong("split", "only with datapath = \"p4\": the entities run whole on x86"));
        }
        if let Some(f1u) = &self.f1u
            && (f1u.address.is_unspecified() || f1u.peer.is_unspecified())
        {
            return Err(wrong("f1u", "expected two addresses, not 0.0.0.0"));
        }
        let (mut teids, mut f1u_teids) = (HashSet::new(), HashSet::new());
        let ues = each_ue(
            self.ue,
            known,
            |ue| ue.id,
            |at, ue| {
                needed(&format!("{at}.session"), ue.session.is_some(), core)?;
                needed(&format!("{at}.radio"), ue.radio.is_some(), air)?;
                let session = ue.session.map(|session| session.check(&at, &mut teids)).transpose()?;
                let timers = ue.drb.iter().enumerate().find_map(|(number, drb)| drb.first_timer().map(|name| (number, name)));
                if let Some((number, name)) = timers.filter(|_| !air) {
                    return Err(wrong(format!("{at}.drb[{number}].{name}"), "RLC is the DU's: leave it out"));
                }
                let drbs = drbs(&at, ue.drb, core)?;
                for (number, drb) in drbs.iter().enumerate() {
                    if drb.fast && self.split.is_none() {
                        return Err(wrong(format!("{at}.drb[{number}].fast"), "needs `split.fast`"));
                    }
                    let at = format!("{at}.drb[{number}].f1u");
                    needed(&at, drb.f1u.is_some(), split)?;
                    if let Some((cu_teid, du_teid)) = drb.f1u {
                        let here = if core { cu_teid } else { du_teid };
                        if cu_teid == 0 || du_teid == 0 {
                            return Err(wrong(at, "TEID 0 is for path messages (TS 29.281 §5.1)"));
                        }
                        if !f1u_teids.insert(here) {
                            return Err(wrong(at, format!("TEID {here} is another bearer's")));
                        }
                    }
                }
                let sdap = sdap_config(&at, &drbs, ue.default_drb, ue.flows)?;
                sdap::Gnb::new(&sdap).map_err(|e| wrong(&at, e))?;
                Ok(GnbUe { id: ue.id, radio: ue.radio, session, drbs, sdap })
            },
        )?;
        let f1u = self.f1u.map(|f1u| (f1u.address, f1u.peer));
        let radio = self.radio.map(RadioTable::check).transpose()?;
        of_p4.iter().try_for_each(|file| file.check_p4(known))?;
        let split = self.split.as_ref().zip(radio.as_ref()).map(|(split, radio)| split.check(radio)).transpose()?;
        Ok(Gnb { role: self.role, datapath, n3: self.n3, f1u, radio, split, control: self.control, ues })
    }

    /// What the program does not do is refused: nothing is accepted and then left out.
    fn check_p4(&self, known: usize) -> Result<(), ConfigError> {
        let refused = |field: String, why: &str| Err(wrong(field, format!("not with datapath = \"p4\": {why}")));
        if let Some(radio) = &self.radio
            && (radio.address.ip().is_unspecified() || !radio.address.is_ipv4())
        {
            return refused("radio.address".into(), "expected one IPv4 address of this host");
        }
        if self.ue.iter().map(|ue| ue.drb.len()).sum::<usize>() > P4_BEARERS {
            return refused("ue".into(), &format!("expected at most {P4_BEARERS} bearers"));
        }
        for (number, ue) in self.ue.iter().enumerate() {
            if ue.radio.is_some_and(|address| !address.is_ipv4()) {
                return refused(format!("{}.radio", place(number, known)), "expected an IPv4 address");
            }
            for (at, drb) in ue.drb.iter().enumerate() {
                let field = |name: &str| format!("{}.drb[{at}].{name}", place(number, known));
                if drb.du_kbytes.is_some() {
                    return refused(field("du_kbytes"), "there is no queue between PDCP and RLC: leave it out");
                }
                if drb.discard_ms.is_some_and(|ms| ms > P4_DISCARD_MS) {
                    return refused(
                        field("discard_ms"),
                        &format!("no packet waits for longer than {P4_DISCARD_MS}: expected at most that"),
                    );
                }
                let is_mapped = ue.flows.iter().any(|flow| flow.drb == drb.id);
                if drb.fast {
                    drb.check_fast(is_mapped, ue.default_drb == Some(drb.id)).map_err(|why| wrong(field("fast"), why))?;
                }
                if !drb.sdap_header_uplink && !is_mapped {
                    return refused(field("id"), "a bearer without `sdap_header_uplink` needs a flow that is mapped to it");
                }
            }
        }
        Ok(())
    }
}

impl Ues {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<Ues, ConfigError> {
        read::<UesFile>(text)?.check(0)
    }
}

/// A file of UEs with what they were told since it was read.
#[derive(Clone)]
pub struct UesTables {
    file: UesFile,
    used: UsedKeys,
}

impl UesTables {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<(UesTables, Ues), ConfigError> {
        let mut tables = UesTables { file: read(text)?, used: UsedKeys::default() };
        let config = tables.file.clone().check(0)?;
        config.ues.iter().for_each(|ue| tables.used.add(ue.id, &ue.drbs));
        Ok((tables, config))
    }

    /// The UEs of these numbers.
    ///
    /// # Errors
    /// [`ConfigError`], which names fields by the UE's place in `ids`.
    pub fn named(&self, ids: &[u16]) -> Result<Vec<Ue>, ConfigError> {
        let ues = self.file.clone().check(0)?.ues;
        let find = |(number, id): (usize, &u16)| {
            let at = format!("ue[{number}]");
            if ids[..number].contains(id) {
                return Err(wrong(at, format!("UE {id} is named twice")));
            }
            ues.iter().find(|ue| ue.id == *id).cloned().ok_or_else(|| wrong(at, format!("there is no UE {id}")))
        };
        ids.iter().enumerate().map(find).collect()
    }

    /// With these UEs in place of those of the same numbers: in another cell, or under other keys. The third is they.
    ///
    /// # Errors
    /// [`ConfigError`], which names fields by the UE's place in `ues`.
    pub fn reconfigure(&self, ues: Vec<UeTable>) -> Result<(UesTables, Ues, Vec<Ue>), ConfigError> {
        let before = self.file.clone().check(0)?.ues;
        let changed: Vec<u16> = ues.iter().map(|ue| ue.id).collect();
        let mut tables = self.clone();
        tables.file.ue.retain(|ue| !changed.contains(&ue.id));
        let known = tables.file.ue.len();
        tables.file.ue.extend(ues);
        let config = tables.file.clone().check(known)?;
        let set = config.ues[known..].to_vec();
        for (number, ue) in set.iter().enumerate() {
            let at = format!("ue[{number}]");
            let Some(before) = before.iter().find(|before| before.id == ue.id) else {
                return Err(wrong(format!("{at}.id"), format!("there is no UE {}", ue.id)));
            };
            if !ue.differs_by_cell_only(before) {
                return Err(wrong(
                    at,
                    "only `gnb`, `ciphering`, `integrity` and keys may be other than before, and a bearer keeps its MAC-I or has none",
                ));
            }
            // With RLC AM COUNT goes on: what goes again under an old key is as it was.
            for (of, drb) in ue.drbs.iter().enumerate().filter(|(_, drb)| !matches!(drb.rlc, RlcMode::Am(_))) {
                self.used.check(ue.id, drb, format!("{at}.drb[{of}]"))?;
            }
            tables.used.add(ue.id, &ue.drbs);
        }
        Ok((tables, config, set))
    }
}

impl Ue {
    /// Whether it is the same UE with the same bearers.
    fn differs_by_cell_only(&self, before: &Ue) -> bool {
        Ue { gnb: before.gnb, drbs: with_keys_of(&self.drbs, &before.drbs), ..self.clone() } == *before
    }
}

impl GnbUe {
    /// Whether it is the same UE with the same bearers.
    pub(crate) fn differs_by_keys_only(&self, before: &GnbUe) -> bool {
        GnbUe { drbs: with_keys_of(&self.drbs, &before.drbs), ..self.clone() } == *before
    }
}

/// Bearers with algorithms and keys that they had before. One that has a MAC-I keeps it, one that has none gets none: its PDUs would look different.
fn with_keys_of(drbs: &[Drb], before: &[Drb]) -> Vec<Drb> {
    let mut drbs = drbs.to_vec();
    for (drb, before) in drbs.iter_mut().zip(before) {
        if drb.integrity.is_some() == before.integrity.is_some() {
            let Drb { ciphering, integrity, keys, .. } = before;
            (drb.ciphering, drb.integrity, drb.keys) = (*ciphering, *integrity, keys.clone());
        }
    }
    drbs
}

impl UesFile {
    /// Checks all; the first `known` UEs were right before.
    fn check(self, known: usize) -> Result<Ues, ConfigError> {
        let file = self;
        if !(1280..=9000).contains(&file.mtu) {
            return Err(wrong("mtu", "expected 1280 (IPv6) to 9000 (TS 38.323 §4.3.1)"));
        }
        let ues = each_ue(
            file.ue,
            known,
            |ue| ue.id,
            |at, ue| {
                if ue.flows.iter().any(|flow| flow.reflective) {
                    return Err(wrong(format!("{at}.flows.reflective"), "the gNodeB says so with its packets: leave it out"));
                }
                if ue.ipv4.is_none() && ue.ipv6.is_none() {
                    return Err(wrong(&at, "expected `ipv4` or `ipv6`"));
                }
                if ue.ipv6.is_some_and(|prefix| u128::from(prefix) << 64 != 0) {
                    return Err(wrong(format!("{at}.ipv6"), "expected a /64: the lower half is zero"));
                }
                let rule = |rule: &RuleTable| match Qfi::new(rule.qfi) {
                    Some(qfi) if rule.dscp < 64 => Ok((rule.dscp, qfi)),
                    _ => Err(wrong(format!("{at}.rules"), "expected `dscp` and `qfi` from 0 to 63")),
                };
                let drbs = drbs(&at, ue.drb, true)?;
                if let Some(number) = drbs.iter().position(|drb| drb.fast) {
                    return Err(wrong(format!("{at}.drb[{number}].fast"), "is the gNodeB's: leave it out"));
                }
                let sdap = sdap_config(&at, &drbs, ue.default_drb, ue.flows)?;
                sdap::Ue::new(&sdap).map_err(|e| wrong(&at, e))?;
                Ok(Ue {
                    id: ue.id,
                    gnb: ue.gnb,
                    ipv4: ue.ipv4,
                    ipv6: ue.ipv6,
                    qfi: qfi(&at, ue.qfi)?,
                    rules: ue.rules.iter().map(rule).collect::<Result<_, _>>()?,
                    drbs,
                    sdap,
                })
            },
        )?;
        Ok(Ues { radio: file.radio.check()?, ues, mtu: file.mtu, control: file.control })
    }
}

pub(crate) fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, ConfigError> {
    if text.len() > MAX_FILE {
        return Err(ConfigError(format!("the file has {} bytes: expected at most {MAX_FILE}", text.len())));
    }
    toml::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text.as_bytes()[..span.start.min(text.len())].iter().filter(|byte| **byte == b'\n').count());
        // What it quotes is the file's: without keys, escaped and cut, for a log.
        let message: String = without_keys(error.message()).chars().flat_map(char::escape_default).take(400).collect();
        ConfigError(format!("line {line}: {}", message.replace("\\'", "'").replace("\\\"", "\"")))
    })
}

/// What a role needs must be there, and nothing that it does not use.
fn needed(field: &str, is_there: bool, is_used: bool) -> Result<(), ConfigError> {
    match (is_there, is_used) {
        (false, true) => Err(wrong(field, "missing, and needed with these settings")),
        (true, false) => Err(wrong(field, "not used with these settings: leave it out")),
        _ => Ok(()),
    }
}

fn each_ue<T, U>(
    tables: Vec<T>,
    known: usize,
    id: impl Fn(&T) -> u16,
    mut check: impl FnMut(String, T) -> Result<U, ConfigError>,
) -> Result<Vec<U>, ConfigError> {
    if tables.len() > MAX_UES {
        return Err(wrong("ue", format!("{} UEs: expected at most {MAX_UES}", tables.len())));
    }
    let mut ids = HashSet::new();
    let mut ues = Vec::with_capacity(tables.len());
    for (number, table) in tables.into_iter().enumerate() {
        if !ids.insert(id(&table)) {
            return Err(wrong(format!("{}.id", place(number, known)), format!("{} is another UE's", id(&table))));
        }
        ues.push(check(place(number, known), table)?);
    }
    Ok(ues)
}

impl RadioTable {
    fn check(self) -> Result<Radio, ConfigError> {
        if !(1..=100_000).contains(&self.rate_mbps) {
            return Err(wrong("radio.rate_mbps", "expected 1 to 100000"));
        }
        let pdu_bytes = self.pdu_bytes.unwrap_or(PDU_BYTES);
        if !(MIN_PDU..=MAX_PDU).contains(&pdu_bytes) {
            return Err(wrong("radio.pdu_bytes", format!("expected {MIN_PDU} to {MAX_PDU}")));
        }
        Ok(Radio { address: self.address, rate_bps: self.rate_mbps * 1_000_000, pdu_bytes })
    }
}

impl SplitTable {
    fn check(&self, radio: &Radio) -> Result<Split, ConfigError> {
        let rate_bps = self.rate_mbps.saturating_mul(1_000_000);
        if rate_bps == 0 || rate_bps >= radio.rate_bps {
            let why = "expected a part of `radio.rate_mbps`, from 1 on and less than all of it: bearers behind have the rest";
            return Err(wrong("split.rate_mbps", why));
        }
        Ok(Split { fast: self.fast, rate_bps })
    }
}

impl SessionTable {
    fn check(self, at: &str, teids: &mut HashSet<u32>) -> Result<Session, ConfigError> {
        if self.uplink_teid == 0 || self.downlink_teid == 0 {
            return Err(wrong(format!("{at}.session"), "TEID 0 is for path messages (TS 29.281 §5.1)"));
        }
        if !teids.insert(self.downlink_teid) {
            return Err(wrong(format!("{at}.session.downlink_teid"), format!("{} is another session's", self.downlink_teid)));
        }
        Ok(Session { uplink: Tunnel { addr: self.upf, teid: self.uplink_teid }, downlink_teid: self.downlink_teid })
    }
}

fn drb_id(at: impl fmt::Display, number: u8) -> Result<DrbId, ConfigError> {
    DrbId::new(number).ok_or_else(|| wrong(at, "expected 1 to 32"))
}

fn qfi(at: impl fmt::Display, number: u8) -> Result<Qfi, ConfigError> {
    Qfi::new(number).ok_or_else(|| wrong(format!("{at}.qfi"), "expected 0 to 63"))
}

fn sdap_config(at: &str, drbs: &[Drb], default_drb: Option<u8>, flows: Vec<FlowTable>) -> Result<sdap::Config, ConfigError> {
    let default_drb = default_drb.map(|number| drb_id(format!("{at}.default_drb"), number)).transpose()?;
    let reflective =
        flows.iter().filter(|flow| flow.reflective).map(|flow| qfi(format!("{at}.flows"), flow.qfi)).collect::<Result<_, _>>()?;
    let flow = |flow: FlowTable| Ok((qfi(format!("{at}.flows"), flow.qfi)?, drb_id(format!("{at}.flows.drb"), flow.drb)?));
    Ok(sdap::Config {
        drbs: drbs.iter().map(|drb| drb.sdap).collect(),
        default_drb,
        flows: flows.into_iter().map(flow).collect::<Result<_, ConfigError>>()?,
        reflective,
    })
}

/// `ciphers`: PDCP is here. A DU passes PDUs on as they are, and needs no algorithm and no keys.
fn drbs(at: &str, tables: Vec<DrbTable>, ciphers: bool) -> Result<Vec<Drb>, ConfigError> {
    if tables.is_empty() {
        return Err(wrong(format!("{at}.drb"), "expected a bearer at least"));
    }
    tables.into_iter().enumerate().map(|(number, table)| table.check(&format!("{at}.drb[{number}]"), ciphers)).collect()
}

impl DrbTable {
    /// Whether a target without services can carry it; why not.
    fn check_fast(&self, is_mapped: bool, is_default: bool) -> Result<(), &'static str> {
        if matches!(self.rlc, Mode::Am) {
            return Err("not with rlc = \"am\": what is kept until the UE has it is kept on x86");
        }
        if self.ciphering.is_some_and(|nea| nea != 0) || self.integrity.is_some() {
            return Err("not with ciphering or integrity: the ciphers run on x86");
        }
        if self.discard_ms.is_some() {
            return Err("not with discard_ms: nothing waits there");
        }
        if is_default {
            return Err("not for `default_drb`: which flows have no bearer of their own is known on x86");
        }
        if !is_mapped {
            return Err("needs a flow that is mapped to it");
        }
        Ok(())
    }

    fn check(self, at: &str, ciphers: bool) -> Result<Drb, ConfigError> {
        let field = |name: &str| format!("{at}.{name}");
        let rlc_timers = self.rlc_timers(&field)?;
        let sn = |name: &str, bits| match bits {
            12 => Ok(SnLength::Bits12),
            18 => Ok(SnLength::Bits18),
            _ => Err(wrong(field(name), "expected 12 or 18")),
        };
        let pdcp_sn = sn("pdcp_sn_bits", self.pdcp_sn_bits)?;
        let pdcp_sn_uplink = self.pdcp_sn_bits_uplink.map_or(Ok(pdcp_sn), |bits| sn("pdcp_sn_bits_uplink", bits))?;
        let pdcp_window = pdcp_sn.window().min(pdcp_sn_uplink.window());
        let rlc = match (self.rlc, self.rlc_sn_bits) {
            (Mode::Am, bits) => RlcMode::Am(sn("rlc_sn_bits", bits.unwrap_or(18))?),
            (Mode::Um, Some(6)) => RlcMode::Um(UmSnLength::Bits6),
            (Mode::Um, None | Some(12)) => RlcMode::Um(UmSnLength::Bits12),
            (Mode::Um, Some(_)) => return Err(wrong(field("rlc_sn_bits"), "expected 6 or 12 with UM")),
        };
        let most = match rlc {
            RlcMode::Am(rlc_sn) => rlc_sn.window().min(pdcp_window),
            RlcMode::Um(_) => pdcp_window,
        };
        let window = self.window.unwrap_or(WINDOW.min(most));
        if !(1..=most).contains(&window) {
            return Err(wrong(field("window"), format!("expected 1 to {most}, half of the sequence numbers")));
        }
        needed(&field("ciphering"), self.ciphering.is_some(), self.ciphering.is_some() || ciphers)?;
        let ciphering = Nea::try_from(self.ciphering.unwrap_or(0)).map_err(|e| wrong(field("ciphering"), e))?;
        let integrity = self.integrity.map(Nia::try_from).transpose().map_err(|e| wrong(field("integrity"), e))?;
        let keys = Keys {
            cipher: key(field("cipher_key"), self.cipher_key, ciphering != Nea::Nea0)?,
            integrity: key(field("integrity_key"), self.integrity_key, integrity.is_some_and(|nia| nia != Nia::Nia0))?,
        };
        if !(64..=1 << 20).contains(&self.queue_kbytes) {
            return Err(wrong(field("queue_kbytes"), "expected 64 to 1048576"));
        }
        let du_kbytes = self.du_kbytes.unwrap_or(DU_KBYTES);
        if !(16..=1 << 20).contains(&du_kbytes) {
            return Err(wrong(field("du_kbytes"), "expected 16 to 1048576"));
        }
        let timer = |name: &str, ms: Option<u64>| match ms {
            Some(ms) if ms * MS > gnb::pdcp::MAX_TIMER_NS => Err(wrong(field(name), "expected at most 3000; leave it out for infinity")),
            ms => Ok(ms.map(|ms| ms * MS)),
        };
        Ok(Drb {
            sdap: sdap::Drb {
                id: drb_id(field("id"), self.id)?,
                uplink_header: self.sdap_header_uplink,
                downlink_header: self.sdap_header_downlink,
            },
            rlc,
            pdcp_sn,
            pdcp_sn_uplink,
            ciphering,
            integrity,
            keys,
            window,
            queue_bytes: self.queue_kbytes << 10,
            du_bytes: du_kbytes << 10,
            discard_ns: timer("discard_ms", self.discard_ms.map(|ms| ms.min(1 << 32)))?,
            reordering_ns: timer("reordering_ms", self.reordering_ms.map(|ms| ms.min(1 << 32)))?,
            rlc_timers,
            f1u: self.f1u.map(|teids| (teids.cu_teid, teids.du_teid)),
            fast: self.fast,
        })
    }
}

impl DrbTable {
    /// The first key of RLC AM's timers and thresholds that is there.
    fn first_timer_of_am(&self) -> Option<&'static str> {
        let keys = [
            ("poll_retransmit_ms", self.poll_retransmit_ms.is_some()),
            ("poll_pdu", self.poll_pdu.is_some()),
            ("poll_bytes", self.poll_bytes.is_some()),
            ("max_retransmissions", self.max_retransmissions.is_some()),
            ("status_prohibit_ms", self.status_prohibit_ms.is_some()),
        ];
        keys.iter().find(|(_, is_there)| *is_there).map(|(name, _)| *name)
    }

    /// As [`DrbTable::first_timer_of_am`], of either mode.
    fn first_timer(&self) -> Option<&'static str> {
        self.first_timer_of_am().or(self.reassembly_ms.map(|_| "reassembly_ms"))
    }

    fn rlc_timers(&self, field: &impl Fn(&str) -> String) -> Result<RlcTimers, ConfigError> {
        if matches!(self.rlc, Mode::Um)
            && let Some(name) = self.first_timer_of_am()
        {
            return Err(wrong(field(name), "RLC AM's: leave it out with UM"));
        }
        let default = RlcTimers::default();
        let most = (gnb::rlc::MAX_TIMER_NS / MS) as u32;
        let timer = |name: &str, ms: Option<u32>, least: u32, default: u64| match ms {
            Some(ms) if !(least..=most).contains(&ms) => Err(wrong(field(name), format!("expected {least} to {most}"))),
            ms => Ok(ms.map_or(default, |ms| u64::from(ms) * MS)),
        };
        // 0 stands for TS 38.331's `infinity`.
        let threshold = |given: Option<u32>, default: Option<u32>| given.map_or(default, |given| (given > 0).then_some(given));
        if self.max_retransmissions == Some(0) {
            return Err(wrong(field("max_retransmissions"), "expected 1 to 255"));
        }
        Ok(RlcTimers {
            poll_retransmit_ns: timer("poll_retransmit_ms", self.poll_retransmit_ms, 1, default.poll_retransmit_ns)?,
            poll_pdu: threshold(self.poll_pdu, default.poll_pdu),
            poll_byte: threshold(self.poll_bytes, default.poll_byte),
            max_retransmissions: self.max_retransmissions.unwrap_or(default.max_retransmissions),
            reassembly_ns: timer("reassembly_ms", self.reassembly_ms, 0, default.reassembly_ns)?,
            status_prohibit_ns: timer("status_prohibit_ms", self.status_prohibit_ms, 0, default.status_prohibit_ns)?,
        })
    }
}

/// 32 hexadecimal digits, if and only if the algorithm has a key.
fn key(field: String, text: Option<String>, is_used: bool) -> Result<[u8; 16], ConfigError> {
    needed(&field, text.is_some(), is_used)?;
    let Some(text) = text else { return Ok([0; 16]) };
    let digits = text.as_bytes();
    let mut bytes = [0; 16];
    let expected = || wrong(&field, "expected 32 hexadecimal digits");
    if digits.len() != 32 {
        return Err(expected());
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        let (Some(high), Some(low)) = (digit(0), digit(1)) else { return Err(expected()) };
        *byte = (high << 4 | low) as u8;
    }
    Ok(bytes)
}

/// GTP-U's port at an address.
pub(crate) fn gtpu(address: Ipv4Addr) -> SocketAddrV4 {
    SocketAddrV4::new(address, wire::gtpu::PORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GNB: &str = r#"role = "both"
n3 = "10.3.0.2"
[radio]
address = "127.0.0.1:4001"
rate_mbps = 100
[[ue]]
id = 1
radio = "127.0.0.2:4001"
session = { upf = "10.3.0.1", uplink_teid = 256, downlink_teid = 1 }
flows = [{ qfi = 9, drb = 1 }]
[[ue.drb]]
id = 1
rlc = "am"
ciphering = 2
cipher_key = "000102030405060708090a0b0c0d0e0f"
integrity = 2
integrity_key = "101112131415161718191a1b1c1d1e1f"
"#;

    #[test]
    fn a_file_is_read_and_its_keys_are_not_printed() {
        let gnb = Gnb::parse(GNB).unwrap();
        let drb = &gnb.ues[0].drbs[0];
        assert_eq!((drb.rlc, drb.pdcp_sn, drb.window), (RlcMode::Am(SnLength::Bits18), SnLength::Bits18, WINDOW));
        assert_eq!((drb.keys.cipher[15], drb.keys.integrity[0]), (0x0f, 0x10));
        let printed = format!("{gnb:?}");
        assert!(printed.contains("Nea2") && !printed.contains("15, ") && !printed.contains("0f"), "{printed}");
    }

    #[test]
    fn what_is_wrong_is_refused_by_its_field() {
        let mut text = String::new();
        for (from, to) in [
            ("role = \"both\"", "role = \"cu\""),
            ("role = \"both\"", "role = \"du\""),
            ("role = \"both\"", "role = \"cu-up\"\nf1u = { address = \"10.5.0.1\", peer = \"10.5.0.2\" }"),
            ("n3 = \"10.3.0.2\"", ""),
            ("n3 = \"10.3.0.2\"", "n3 = \"0.0.0.0\""),
            ("rate_mbps = 100", "rate_mbps = 0"),
            ("rate_mbps = 100", "rate_mbps = 100\npdu_bytes = 63"),
            ("rate_mbps = 100", "rate_mbps = 100\nspeed = 1"),
            ("uplink_teid = 256", "uplink_teid = 0"),
            ("qfi = 9", "qfi = 64"),
            ("drb = 1", "drb = 2"),
            ("drb = 1", "drb = 1, reflective = true"),
            ("[[ue.drb]]\nid = 1", "[[ue.drb]]\nid = 33"),
            ("rlc = \"am\"", "rlc = \"tm\""),
            ("rlc = \"am\"", "rlc = \"am\"\nrlc_sn_bits = 6"),
            ("rlc = \"am\"", "rlc = \"am\"\npdcp_sn_bits_uplink = 17"),
            ("rlc = \"am\"", "rlc = \"am\"\npdcp_sn_bits_uplink = 12\nwindow = 2049"),
            ("rlc = \"am\"", "rlc = \"um\"\nrlc_sn_bits = 18"),
            ("rlc = \"am\"", "rlc = \"am\"\nrlc_sn_bits = 12\nwindow = 2049"),
            ("rlc = \"am\"", "rlc = \"am\"\nreordering_ms = 3001"),
            ("rlc = \"am\"", "rlc = \"am\"\nqueue_kbytes = 63"),
            ("rlc = \"am\"", "rlc = \"am\"\nf1u = { cu_teid = 1, du_teid = 1 }"),
            ("ciphering = 2", "ciphering = 4"),
            ("ciphering = 2", "ciphering = 0"),
            ("0e0f", "0e0"),
            ("0e0f", "0e0g"),
            ("integrity = 2", ""),
            ("role = \"both\"", "role = \"both\"\ndatapath = \"xdp\""),
        ] {
            assert!(GNB.contains(from), "{from}");
            let error = Gnb::parse(&GNB.replace(from, to)).unwrap_err();
            text += &format!("{to:?}: {error}\n");
        }
        let p4 = GNB.replace("role = \"both\"", "role = \"both\"\ndatapath = \"p4\"");
        assert_eq!(Gnb::parse(&p4).unwrap(), Gnb::parse(GNB).unwrap(), "it is the default");
        for (from, to) in [
            ("role = \"both\"", "role = \"cu-up\"\nf1u = { address = \"10.5.0.1\", peer = \"10.5.0.2\" }"),
            ("\"127.0.0.1:4001\"", "\"0.0.0.0:4001\""),
            ("\"127.0.0.1:4001\"", "\"[::1]:4001\""),
            ("\"127.0.0.2:4001\"", "\"[::1]:4001\""),
            ("rlc = \"am\"", "rlc = \"am\"\ndu_kbytes = 256"),
            ("rlc = \"am\"", "rlc = \"am\"\ndiscard_ms = 1001"),
            ("flows = [{ qfi = 9, drb = 1 }]", "flows = []"),
        ] {
            assert!(p4.contains(from), "{from}");
            let text_p4 =
                if to.contains("cu-up") { p4.replace("[radio]\naddress = \"127.0.0.1:4001\"\nrate_mbps = 100\n", "") } else { p4.clone() };
            let error = Gnb::parse(&text_p4.replace(from, to)).unwrap_err();
            text += &format!("p4, {to:?}: {error}\n");
        }
        let secured = GNB.find("ciphering").unwrap();
        let split = format!("{}sdap_header_uplink = true\nciphering = 0\nfast = true\n", &GNB[..secured])
            .replace("rlc = \"am\"", "rlc = \"um\"")
            .replace("[[ue]]", "[split]\nfast = \"xdp\"\nrate_mbps = 40\n[[ue]]");
        let good = Gnb::parse(&split).unwrap();
        assert!(good.ues[0].drbs[0].fast);
        assert_eq!(good.split, Some(Split { fast: FastTarget::Xdp, rate_bps: 40_000_000 }));
        for (from, to) in [
            ("fast = \"xdp\"", "fast = \"asic\""),
            ("rate_mbps = 40", "rate_mbps = 100"),
            ("rate_mbps = 40", "rate_mbps = 0"),
            ("[split]\nfast = \"xdp\"\nrate_mbps = 40\n", ""),
            ("role = \"both\"", "role = \"both\"\ndatapath = \"entities\""),
            ("rlc = \"um\"", "rlc = \"am\""),
            ("ciphering = 0", "ciphering = 2\ncipher_key = \"000102030405060708090a0b0c0d0e0f\""),
            ("ciphering = 0", "ciphering = 0\nintegrity = 0"),
            ("ciphering = 0", "ciphering = 0\ndiscard_ms = 100"),
            ("ciphering = 0", "ciphering = 0\n[[ue.drb]]\nid = 2\nrlc = \"um\"\nsdap_header_uplink = true\nciphering = 0"),
            ("id = 1\nradio", "default_drb = 1\nid = 1\nradio"),
        ] {
            assert!(split.contains(from), "{from}");
            let error = Gnb::parse(&split.replace(from, to)).unwrap_err();
            text += &format!("split, {to:?}: {error}\n");
        }
        let twice = format!("{GNB}{}", &GNB[GNB.find("[[ue]]").unwrap()..]);
        text += &format!("twice: {}\n", Gnb::parse(&twice).unwrap_err());
        text += &format!("twice: {}\n", Gnb::parse(&twice.replacen("id = 1\nradio", "id = 2\nradio", 1)).unwrap_err());
        testkit::assert_golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refused.txt"), &text);
    }

    #[test]
    fn a_ue_needs_an_address_and_a_prefix_is_a_prefix() {
        let text = GNB
            .replace("role = \"both\"\nn3 = \"10.3.0.2\"\n", "")
            .replace("radio = ", "gnb = ")
            .replace("session = { upf = \"10.3.0.1\", uplink_teid = 256, downlink_teid = 1 }", "qfi = 9");
        assert_eq!(Ues::parse(&text).unwrap_err().to_string(), "ue[0]: expected `ipv4` or `ipv6`");
        let with = |more: &str| Ues::parse(&text.replace("qfi = 9\n", &format!("qfi = 9\n{more}\n")));
        assert_eq!(with("ipv4 = \"10.45.0.1\"").unwrap().ues[0].qfi.get(), 9);
        let follows = text.replace("drb = 1 }", "drb = 1, reflective = true }");
        let wrong = Ues::parse(&follows).unwrap_err().to_string();
        assert_eq!(wrong, "ue[0].flows.reflective: the gNodeB says so with its packets: leave it out");
        let wrong = with("ipv6 = \"2001:db8::1\"").unwrap_err().to_string();
        assert_eq!(wrong, "ue[0].ipv6: expected a /64: the lower half is zero");
        let wrong = with("ipv4 = \"10.45.0.1\"\nrules = [{ dscp = 64, qfi = 1 }]").unwrap_err().to_string();
        assert_eq!(wrong, "ue[0].rules: expected `dscp` and `qfi` from 0 to 63");
    }
}
