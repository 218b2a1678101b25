//! A session's rules as checked values, and the interface of the user plane that executes them.
//!
//! The node (this crate) turns messages into a complete [`SessionRules`] and passes the old and the new state to a
//! [`UserPlane`] (crate `upf`), which makes table entries of it. Numbers are as in the messages: rates in kbit/s,
//! volumes in bytes, times in seconds.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// UP function's F-SEID number: names a session in this node.
pub type Seid = u64;

/// All rules of one session (TS 29.244 §5.2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRules {
    /// Packet detection rules by PDR ID.
    pub pdrs: BTreeMap<u16, Pdr>,
    /// Forwarding action rules by FAR ID.
    pub fars: BTreeMap<u32, Far>,
    /// QoS enforcement rules by QER ID.
    pub qers: BTreeMap<u32, Qer>,
    /// Usage reporting rules by URR ID.
    pub urrs: BTreeMap<u32, Urr>,
    /// Buffering action rules by BAR ID.
    pub bars: BTreeMap<u8, Bar>,
    /// User Plane Inactivity Timer in seconds (§5.11.3); 0: none.
    pub inactivity_s: u32,
    /// S-NSSAI of the PDU session (§8.2.176): slice or service type, and its differentiator if there is one.
    pub s_nssai: Option<(u8, Option<u32>)>,
}

/// Where a packet comes from or goes to (TS 29.244 §8.2.2 and §8.2.24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Interface {
    /// N3, or N9 towards the access side.
    Access,
    /// N6, or N9 towards the core side.
    Core,
    /// SGi-LAN/N6-LAN.
    SgiLan,
    /// The SMF: router solicitations and the like go to it over N4-U.
    CpFunction,
    /// 5G VN internal.
    VnInternal,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interface::Access => "access",
            Interface::Core => "core",
            Interface::SgiLan => "SGi-LAN/N6-LAN",
            Interface::CpFunction => "CP function",
            Interface::VnInternal => "5G VN internal",
        })
    }
}

/// Packet detection rule (§5.2.1A).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pdr {
    /// Lower is matched first (§5.2.1A.2A).
    pub precedence: u32,
    /// What it detects.
    pub pdi: Pdi,
    /// Outer Header Removal (§8.2.64).
    pub outer_header_removal: HeaderRemoval,
    /// What to do with what it detects.
    pub far_id: Option<u32>,
    /// Usage is counted by each of these.
    pub urr_ids: Vec<u32>,
    /// Every one of these is enforced.
    pub qer_ids: Vec<u32>,
}

/// What of the outer headers is removed (§8.2.64). Any valid description: the headers present are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeaderRemoval {
    /// None.
    No,
    /// GTP-U, UDP and IP. Extension headers go on into the next tunnel (note 1).
    Gtpu,
    /// And the PDU session container does not (table 8.2.64-2).
    GtpuAndContainer,
}

impl From<bool> for HeaderRemoval {
    fn from(removed: bool) -> HeaderRemoval {
        if removed { HeaderRemoval::Gtpu } else { HeaderRemoval::No }
    }
}

/// Packet detection information (§7.5.2.2-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pdi {
    /// The side packets come from.
    pub source_interface: Interface,
    /// Tunnel that they come by, already allocated where the CP function left the choice to us.
    pub f_teid: Option<FTeid>,
    /// Network instance, decoded from DNS labels or plain text, lower case.
    pub network_instance: Option<String>,
    /// Address of the UE. In a downlink PDI without F-TEID, `None` means the addresses that other PDRs of the session have.
    pub ue_ip: Option<UeIp>,
    /// Any of these; empty, or all [bare](SdfFilter::is_bare): all packets.
    pub sdf_filters: Vec<SdfFilter>,
    /// Any of these QFIs in the PDU session container; empty: all.
    pub qfis: Vec<u8>,
}

/// A tunnel endpoint of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FTeid {
    /// Tunnel endpoint identifier, not zero.
    pub teid: u32,
    /// Our address.
    pub ipv4: Ipv4Addr,
}

/// UE address (§8.2.62).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UeIp {
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 prefix (host bits zero) and its length, 64 where none is given.
    pub ipv6: Option<(Ipv6Addr, u8)>,
    /// S/D bit: the UE is the destination (downlink PDR).
    pub destination: bool,
}

/// Service data flow filter (§8.2.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SdfFilter {
    /// The IPFilterRule, if given.
    pub flow: Option<FlowDescription>,
    /// Type of service or traffic class, and mask.
    pub tos: Option<(u8, u8)>,
    /// Security parameter index of IPsec.
    pub spi: Option<u32>,
    /// IPv6 flow label, 20 bits.
    pub flow_label: Option<u32>,
    /// Bidirectional SDF filter's identity.
    pub filter_id: Option<u32>,
}

impl SdfFilter {
    /// Whether it is nothing but the ID of a filter that is not there: it restricts nothing.
    pub fn is_bare(&self) -> bool {
        self.flow.is_none() && self.tos.is_none() && self.spi.is_none() && self.flow_label.is_none()
    }
}

/// `permit out PROTO from REMOTE to UE` (RFC 6733 §4.3.1 as restricted by TS 29.212 §5.4.2). "from" is the remote
/// side and "to" the UE whatever the direction of the PDR; where "from" is the UE, as of its own address or `assigned`, it is the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FlowDescription {
    /// IP protocol; `None` for `ip`.
    pub protocol: Option<u8>,
    /// "from".
    pub remote: AddressMatch,
    /// Ports of "from", inclusive ranges; empty: any.
    pub remote_ports: Vec<(u16, u16)>,
    /// "to".
    pub local: AddressMatch,
    /// Ports of "to".
    pub local_ports: Vec<(u16, u16)>,
}

/// An address in a flow description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AddressMatch {
    /// `any`.
    Any,
    /// `assigned`: the UE's address.
    Assigned,
    /// Address and prefix length, host bits zero.
    Prefix(IpAddr, u8),
}

/// Forwarding action rule (§5.2.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Far {
    /// What is done (§8.2.26).
    pub action: ApplyAction,
    /// Where to, when forwarding.
    pub forwarding: Option<Forwarding>,
    /// How to buffer.
    pub bar_id: Option<u8>,
}

/// Apply Action flags (§8.2.26). Exactly one of drop, forward, buffer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ApplyAction {
    /// DROP.
    pub drop: bool,
    /// FORW.
    pub forward: bool,
    /// BUFF.
    pub buffer: bool,
    /// NOCP: tell the CP function of the first packet.
    pub notify: bool,
}

/// Forwarding parameters (§7.5.2.3-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forwarding {
    /// The side it goes to.
    pub destination: Interface,
    /// Network instance.
    pub network_instance: Option<String>,
    /// The tunnel it is put in; `None`: sent as it is.
    pub outer_header: Option<OuterHeader>,
    /// DSCP and ECN of the outer header, and mask (§8.2.12).
    pub tos: Option<(u8, u8)>,
}

/// GTP-U/UDP/IPv4 header to create (§8.2.56).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OuterHeader {
    /// The peer's tunnel endpoint.
    pub teid: u32,
    /// The peer's address.
    pub ipv4: Ipv4Addr,
}

/// QoS enforcement rule (§5.2.5). Rates in kbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Qer {
    /// Whether uplink packets pass.
    pub uplink_open: bool,
    /// Whether downlink packets pass.
    pub downlink_open: bool,
    /// Maximum bit rate (uplink, downlink).
    pub mbr_kbps: Option<(u64, u64)>,
    /// Guaranteed bit rate (uplink, downlink).
    pub gbr_kbps: Option<(u64, u64)>,
    /// QoS flow identifier for the PDU session container, 6 bits.
    pub qfi: Option<u8>,
    /// Reflective QoS indication.
    pub rqi: bool,
}

/// Usage reporting rule (§5.2.2).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Urr {
    /// VOLUM.
    pub measure_volume: bool,
    /// DURAT.
    pub measure_duration: bool,
    /// EVENT: starts of traffic are counted.
    pub measure_events: bool,
    /// ISTM: time is measured from the beginning, not from the first packet (§8.2.68).
    pub immediate_start: bool,
    /// INAM: nothing is measured for now (§8.2.68).
    pub inactive: bool,
    /// Reporting triggers, octets 5, 6, 7 as bits 0-7, 8-15, 16-23 (§8.2.19).
    pub triggers: u32,
    /// Measurement period in seconds.
    pub period_s: Option<u32>,
    /// Volume threshold in bytes.
    pub volume_threshold: Option<VolumeLimit>,
    /// Volume quota in bytes.
    pub volume_quota: Option<VolumeLimit>,
    /// Time threshold in seconds.
    pub time_threshold_s: Option<u32>,
    /// Time quota in seconds.
    pub time_quota_s: Option<u32>,
    /// Event threshold.
    pub event_threshold: Option<u32>,
    /// Event quota.
    pub event_quota: Option<u32>,
    /// A measurement of time pauses when there is no packet for so many seconds.
    pub inactivity_s: Option<u32>,
    /// The quota is over when there is no packet for so many seconds.
    pub quota_holding_s: Option<u32>,
    /// A quota is reported, and over, so many seconds after it was given.
    pub quota_validity_s: Option<u32>,
    /// Usage before and after this time (NTP seconds) is reported separately.
    pub monitoring_ntp_s: Option<u32>,
    /// Thresholds and quotas from the monitoring time on, where they are given.
    pub subsequent: Limits,
    /// FAR that packets are handled by when a quota is used up; `None`: they are dropped. They are measured as before.
    pub quota_far_id: Option<u32>,
    /// URRs whose report triggers this one's.
    pub linked: Vec<u32>,
    /// Set by the node when a quota is used up (§5.2.2.2.1).
    pub exhausted: bool,
    /// Set by the node where that is so from the beginning, as the quota is of nothing: until a packet has come for it. The packet waits instead of being dropped, which
    /// the node hears of; it reports the end of the quota, and what waits is dropped with the next commit (§5.2.2.2.1, §5.4.11).
    pub untold: bool,
}

impl Urr {
    /// Whether packets of a direction find its quota used up. One of nothing in the other direction does not concern them until it is told.
    pub fn is_used_up(&self, uplink: bool) -> bool {
        let of_side = |limit: VolumeLimit| [limit.total, if uplink { limit.uplink } else { limit.downlink }].contains(&Some(0));
        let nothing = || self.volume_quota.is_some_and(of_side) || self.time_quota_s == Some(0) || self.event_quota == Some(0);
        self.exhausted && (!self.untold || nothing())
    }

    /// Whether it has a quota, used up or not.
    pub(crate) fn has_quota(&self) -> bool {
        self.volume_quota.is_some() || self.time_quota_s.is_some() || self.event_quota.is_some()
    }
}

/// Thresholds and quotas of a URR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Volume threshold in bytes.
    pub volume_threshold: Option<VolumeLimit>,
    /// Volume quota in bytes.
    pub volume_quota: Option<VolumeLimit>,
    /// Time threshold in seconds.
    pub time_threshold_s: Option<u32>,
    /// Time quota in seconds.
    pub time_quota_s: Option<u32>,
    /// Event threshold.
    pub event_threshold: Option<u32>,
    /// Event quota.
    pub event_quota: Option<u32>,
}

/// Limits of a volume; `None`: no limit on that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VolumeLimit {
    /// Both directions together.
    pub total: Option<u64>,
    /// Uplink.
    pub uplink: Option<u64>,
    /// Downlink.
    pub downlink: Option<u64>,
}

/// Buffering action rule (§5.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bar {
    /// Delay before a downlink data report, in 50 ms steps.
    pub notification_delay: Option<u8>,
    /// Suggested number of packets to keep.
    pub suggested_packets: Option<u16>,
}

/// What a URR has counted since it was created. Never decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Bytes of uplink user IP packets.
    pub uplink_bytes: u64,
    /// Bytes of downlink user IP packets.
    pub downlink_bytes: u64,
    /// Uplink packets.
    pub uplink_packets: u64,
    /// Downlink packets.
    pub downlink_packets: u64,
}

impl Usage {
    /// The larger of both, count by count.
    pub fn most(self, other: Usage) -> Usage {
        Usage {
            uplink_bytes: self.uplink_bytes.max(other.uplink_bytes),
            downlink_bytes: self.downlink_bytes.max(other.downlink_bytes),
            uplink_packets: self.uplink_packets.max(other.uplink_packets),
            downlink_packets: self.downlink_packets.max(other.downlink_packets),
        }
    }

    /// Packets of both directions.
    pub fn packets(self) -> u64 {
        self.uplink_packets.wrapping_add(self.downlink_packets)
    }
}

/// What a record says of a URR: its usage, and which part of that is in cells of a data plane that outlasts this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// All of it.
    pub usage: Usage,
    /// The part that the next process can read again; `None`: nothing outlasts this one.
    pub lasting: Option<Lasting>,
}

/// Cells of a data plane that outlasts this process, as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lasting {
    /// Of which process they are.
    pub epoch: u64,
    /// The cells that a URR is counted in.
    pub cells: Vec<LastingCell>,
}

/// One of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastingCell {
    /// Its number there.
    pub cell: u32,
    /// Direction.
    pub uplink: bool,
    /// Packets.
    pub packets: u64,
    /// Bytes of user IP packets.
    pub bytes: u64,
}

impl Counters {
    pub(crate) fn is_at_most(&self, most: u64) -> bool {
        let cells = self.lasting.iter().flat_map(|lasting| &lasting.cells);
        self.usage.is_at_most(most) && { cells }.all(|cell| cell.packets <= most && cell.bytes <= most)
    }
}

/// A rule, as the Failed Rule ID IE names it (§8.2.80).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleId {
    /// PDR.
    Pdr(u16),
    /// FAR.
    Far(u32),
    /// QER.
    Qer(u32),
    /// URR.
    Urr(u32),
    /// BAR.
    Bar(u8),
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleId::Pdr(id) => write!(f, "PDR {id}"),
            RuleId::Far(id) => write!(f, "FAR {id}"),
            RuleId::Qer(id) => write!(f, "QER {id}"),
            RuleId::Urr(id) => write!(f, "URR {id}"),
            RuleId::Bar(id) => write!(f, "BAR {id}"),
        }
    }
}

/// Why the user plane refused a session's rules; it has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitError {
    /// One rule cannot be obeyed: cause 73 ("Rule creation/modification failure") with its Failed Rule ID.
    Rule {
        /// The rule.
        rule: RuleId,
        /// Why, for the log.
        why: String,
    },
    /// What a rule matches is another session's: like `Rule`, unless that session is one that waits to be ended.
    Taken {
        /// The rule.
        rule: RuleId,
        /// The session that has it.
        by: Seid,
        /// Why, for the log.
        why: String,
    },
    /// Out of room: cause 75 ("No resources available").
    NoResources(String),
    /// Anything else: cause 77 ("System failure").
    System(String),
}

/// A session that comes back after a crash.
#[derive(Clone, Copy, Debug)]
pub struct Returning<'a> {
    /// Our SEID.
    pub seid: Seid,
    /// Its rules.
    pub rules: &'a SessionRules,
    /// What its URRs go on counting from.
    pub counters: &'a BTreeMap<u32, Usage>,
    /// What their records say.
    pub recorded: &'a BTreeMap<u32, Counters>,
}

impl Returning<'_> {
    /// Gives it alone to a user plane.
    pub fn commit_to(&self, plane: &mut (impl UserPlane + ?Sized)) -> Result<(), CommitError> {
        plane.commit(self.seid, Some(self.rules))?;
        self.counters.iter().for_each(|(urr_id, usage)| plane.continue_usage(self.seid, *urr_id, *usage));
        self.recorded.iter().for_each(|(urr_id, counters)| plane.continue_lasting(self.seid, *urr_id, counters));
        Ok(())
    }
}

/// What executes the rules: the crate `upf`, or a recorder in tests. Only [`restore`](UserPlane::restore) has a default, which is made of the others: one that did
/// nothing would be lost in silence where a plane is wrapped.
pub trait UserPlane {
    /// Replaces the rules of session `seid` by `new` (`None`: the session ends), all or nothing.
    ///
    /// Packets buffered under a FAR that now forwards are released in order before any later packet of that FAR;
    /// under one that now drops or is gone, they are dropped. Returns the final usage of every URR that the session
    /// had and `new` has not.
    fn commit(&mut self, seid: Seid, new: Option<&SessionRules>) -> Result<Vec<(u32, Usage)>, CommitError>;

    /// As [`commit`](UserPlane::commit), and what is buffered for the session is dropped with the change, whatever becomes of later packets (DROBU, TS
    /// 29.244 §8.2.31); nothing is dropped if the change is refused.
    fn commit_dropping(&mut self, seid: Seid, new: &SessionRules) -> Result<Vec<(u32, Usage)>, CommitError>;

    /// Usage of a URR now. Zero for one that does not exist.
    fn usage(&mut self, seid: Seid, urr_id: u32) -> Usage;

    /// Usage of a URR now, for its record.
    fn counters(&mut self, seid: Seid, urr_id: u32) -> Counters;

    /// Whether [`Counters::lasting`] is there: then a record is of use from the moment on at which a URR is in a cell.
    fn outlasts(&self) -> bool;

    /// What the record of a URR said that has just been committed for the first time: what its cells have counted since is known when packets run
    /// by the new rules.
    fn continue_lasting(&mut self, seid: Seid, urr_id: u32, recorded: &Counters);

    /// Where the volume quota of a URR ends, as its counters will then be. The user plane stops packets there by itself, without being asked: that of a
    /// committed quota which it has not been told of ends so many bytes after the commit. Called again and again while the quota lasts. A plane
    /// that only does what it is told stops packets with the [`commit`](UserPlane::commit) of a rule that is `exhausted`.
    fn limit_usage(&mut self, seid: Seid, urr_id: u32, ends: VolumeLimit) -> Result<(), CommitError>;

    /// The counters of a URR, which has just been committed for the first time, go on from these: those of before a crash.
    fn continue_usage(&mut self, seid: Seid, urr_id: u32, usage: Usage);

    /// Sessions that come back after a crash, none of which is there: what [`commit`](UserPlane::commit) and
    /// [`continue_usage`](UserPlane::continue_usage) and [`continue_lasting`](UserPlane::continue_lasting) do. Each is taken or refused for itself. A plane to which many changes at once are cheaper
    /// than one after the other overrides this.
    fn restore(&mut self, sessions: &[Returning<'_>]) -> Vec<Result<(), CommitError>> {
        sessions.iter().map(|session| session.commit_to(self)).collect()
    }

    /// Packets of a session that has a user plane inactivity timer, whatever PDR they matched: another number than before means
    /// that there was one.
    fn packets(&mut self, seid: Seid) -> u64;

    /// Bytes that the packets of all sessions together had so far, or more: no URR's usage has grown by more than this has. So a limit
    /// that is far away need not be looked at. `None`: that is not known, and all are looked at again and again.
    fn carried(&mut self) -> Option<u64>;

    /// Sends a GTP-U End Marker (TS 29.281 §7.3.2) to the tunnel that a FAR forwarded to before a path switch.
    fn send_end_marker(&mut self, to: OuterHeader);

    /// Drops what is buffered for a session, whose rules stay (DROBU, TS 29.244 §8.2.31, §8.2.32).
    fn drop_buffered(&mut self, seid: Seid);
}
