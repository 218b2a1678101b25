//! The values inside information elements: what each holds, and how it is read and written (TS 29.244 §8.2).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::reader::{Flaw, Reader};
use crate::rules::RuleId;

/// Reads and writes one kind of value. A value longer than what we know of it is extended by a later release: the rest is
/// ignored (§8.1.1).
pub(super) trait Value: Sized {
    fn read(r: &mut Reader<'_>) -> Result<Self, Flaw>;
    fn write(&self, out: &mut Vec<u8>);
}

/// Cause (§8.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause(pub u8);

#[expect(missing_docs, reason = "the names are those of table 8.2.1-1")]
impl Cause {
    pub const REQUEST_ACCEPTED: Cause = Cause(1);
    pub const REQUEST_REJECTED: Cause = Cause(64);
    pub const SESSION_CONTEXT_NOT_FOUND: Cause = Cause(65);
    pub const MANDATORY_IE_MISSING: Cause = Cause(66);
    pub const CONDITIONAL_IE_MISSING: Cause = Cause(67);
    pub const INVALID_LENGTH: Cause = Cause(68);
    pub const MANDATORY_IE_INCORRECT: Cause = Cause(69);
    pub const INVALID_FORWARDING_POLICY: Cause = Cause(70);
    pub const INVALID_F_TEID_ALLOCATION_OPTION: Cause = Cause(71);
    pub const NO_ESTABLISHED_ASSOCIATION: Cause = Cause(72);
    pub const RULE_FAILURE: Cause = Cause(73);
    pub const CONGESTION: Cause = Cause(74);
    pub const NO_RESOURCES: Cause = Cause(75);
    pub const SERVICE_NOT_SUPPORTED: Cause = Cause(76);
    pub const SYSTEM_FAILURE: Cause = Cause(77);
    pub const REDIRECTION_REQUESTED: Cause = Cause(78);
    pub const RESTORATION_FAILURE: Cause = Cause(86);

    /// The words of table 8.2.1-1, and the number: `75 No resources available`.
    pub fn text(self) -> String {
        let words = match self {
            Cause::REQUEST_ACCEPTED => "Request accepted",
            Cause::REQUEST_REJECTED => "Request rejected",
            Cause::SESSION_CONTEXT_NOT_FOUND => "Session context not found",
            Cause::MANDATORY_IE_MISSING => "Mandatory IE missing",
            Cause::CONDITIONAL_IE_MISSING => "Conditional IE missing",
            Cause::INVALID_LENGTH => "Invalid length",
            Cause::MANDATORY_IE_INCORRECT => "Mandatory IE incorrect",
            Cause::INVALID_FORWARDING_POLICY => "Invalid Forwarding Policy",
            Cause::INVALID_F_TEID_ALLOCATION_OPTION => "Invalid F-TEID allocation option",
            Cause::NO_ESTABLISHED_ASSOCIATION => "No established PFCP Association",
            Cause::RULE_FAILURE => "Rule creation/modification Failure",
            Cause::CONGESTION => "PFCP entity in congestion",
            Cause::NO_RESOURCES => "No resources available",
            Cause::SERVICE_NOT_SUPPORTED => "Service not supported",
            Cause::SYSTEM_FAILURE => "System failure",
            Cause::REDIRECTION_REQUESTED => "Redirection Requested",
            Cause::RESTORATION_FAILURE => "PFCP session restoration failure due to requested resource not available",
            Cause(_) => "unknown",
        };
        format!("{} {words}", self.0)
    }

    /// Whether the request was accepted.
    pub fn is_accepted(self) -> bool {
        self == Cause::REQUEST_ACCEPTED
    }
}

/// Node ID (§8.2.38).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NodeId {
    /// IPv4 address.
    Ipv4(Ipv4Addr),
    /// IPv6 address.
    Ipv6(Ipv6Addr),
    /// Fully qualified domain name, dotted.
    Fqdn(String),
}

impl fmt::Display for NodeId {
    /// A domain name is as its owner wrote it, but for control characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeId::Ipv4(address) => address.fmt(f),
            NodeId::Ipv6(address) => address.fmt(f),
            NodeId::Fqdn(name) => name.escape_debug().fmt(f),
        }
    }
}

/// Alternative SMF IP Address (§8.2.129).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AlternativeSmfIpAddress {
    /// PPE: preferred when a PFCP entity is selected again (§5.22).
    pub preferred: bool,
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
}

/// SMF Set ID (§8.2.131): a fully qualified domain name, dotted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SmfSetId(pub String);

/// FQ-CSID (§8.2.45): sets of sessions that a node has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FqCsid {
    /// The node.
    pub node: CsidNode,
    /// The sets' numbers, 15 at most.
    pub csids: Vec<u16>,
    /// What kind of node it is.
    pub node_type: Option<u8>,
}

/// The Node-ID of an FQ-CSID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CsidNode {
    /// IPv4 address.
    Ipv4(Ipv4Addr),
    /// IPv6 address.
    Ipv6(Ipv6Addr),
    /// MCC, MNC and a number of the operator's.
    Number(u32),
}

/// Remote GTP-U Peer (§8.2.70), of which nothing behind the addresses is read, or CP IP Address (§8.2.199).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PeerAddress {
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
}

/// A Timer (§8.2.36) or Graceful Release Period (§8.2.79): the shortest that it can hold which is not shorter than this; one without end if there is none.
pub fn timer(at_least: Duration) -> u8 {
    const UNITS: [u64; 5] = [2, 60, 600, 3600, 36_000];
    let seconds = at_least.as_secs() + u64::from(at_least.subsec_nanos() > 0);
    let fits = UNITS.iter().enumerate().find(|(_, unit)| seconds.div_ceil(**unit) <= 31);
    fits.map_or(7 << 5, |(code, unit)| (code as u8) << 5 | seconds.div_ceil(*unit) as u8)
}

/// F-SEID (§8.2.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FSeid {
    /// The session endpoint identifier.
    pub seid: u64,
    /// IPv4 address of the node.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address of the node.
    pub ipv6: Option<Ipv6Addr>,
}

/// F-TEID (§8.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FTeid {
    /// A tunnel endpoint.
    Given {
        /// Its identifier.
        teid: u32,
        /// IPv4 address.
        ipv4: Option<Ipv4Addr>,
        /// IPv6 address.
        ipv6: Option<Ipv6Addr>,
    },
    /// CHOOSE: the UP function is asked to allocate one.
    Choose {
        /// With an IPv4 address.
        ipv4: bool,
        /// With an IPv6 address.
        ipv6: bool,
        /// PDRs of the same CHOOSE ID get the same F-TEID.
        choose_id: Option<u8>,
    },
}

/// A name that is written as DNS labels or as plain text: Network Instance (§8.2.4), APN/DNN (§8.2.117).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// Labels with a length octet before each; here dotted.
    Labels(String),
    /// Plain text.
    Text(String),
}

/// SDF Filter (§8.2.5).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SdfFilter {
    /// IPFilterRule.
    pub flow_description: Option<String>,
    /// Type of service or traffic class, and mask.
    pub tos: Option<(u8, u8)>,
    /// Security parameter index.
    pub spi: Option<u32>,
    /// Flow label, 20 bits.
    pub flow_label: Option<u32>,
    /// SDF filter ID.
    pub filter_id: Option<u32>,
}

/// Gate Status (§8.2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateStatus {
    /// Uplink packets pass.
    pub uplink_open: bool,
    /// Downlink packets pass.
    pub downlink_open: bool,
}

/// MBR (§8.2.8) or GBR (§8.2.9) in kbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRates {
    /// Uplink, 40 bits.
    pub uplink_kbps: u64,
    /// Downlink, 40 bits.
    pub downlink_kbps: u64,
}

/// Volume Threshold (§8.2.13) or Volume Quota (§8.2.50) in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Volume {
    /// Both directions together.
    pub total: Option<u64>,
    /// Uplink.
    pub uplink: Option<u64>,
    /// Downlink.
    pub downlink: Option<u64>,
}

/// Volume Measurement (§8.2.44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VolumeMeasurement {
    /// Bytes.
    pub bytes: Volume,
    /// Packets.
    pub packets: Volume,
}

/// Reporting Triggers (§8.2.19) or Usage Report Trigger (§8.2.41): octets 5, 6, 7 as bits 0-7, 8-15, 16-23.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Triggers(pub u32);

/// Apply Action (§8.2.26): octets 5, 6 as bits 0-7, 8-15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ApplyActionFlags(pub u16);

#[expect(missing_docs, reason = "the names are those of §8.2.26")]
impl ApplyActionFlags {
    pub const DROP: ApplyActionFlags = ApplyActionFlags(0x01);
    pub const FORW: ApplyActionFlags = ApplyActionFlags(0x02);
    pub const BUFF: ApplyActionFlags = ApplyActionFlags(0x04);
    pub const NOCP: ApplyActionFlags = ApplyActionFlags(0x08);
    pub const DUPL: ApplyActionFlags = ApplyActionFlags(0x10);
    /// BUFF and NOCP, as a session begins and as an idle UE has it.
    pub const BUFF_NOCP: ApplyActionFlags = ApplyActionFlags(0x0c);
}

/// A number of packets in one or two octets (§8.2.30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketCount(pub u16);

/// Outer Header Creation (§8.2.56).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OuterHeaderCreation {
    /// Octets 5 and 6, octet 5 in the high byte.
    pub description: u16,
    /// Tunnel endpoint identifier, for GTP-U.
    pub teid: Option<u32>,
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// Port, for plain UDP.
    pub port: Option<u16>,
}

impl OuterHeaderCreation {
    /// GTP-U/UDP/IPv4.
    pub const GTPU_UDP_IPV4: u16 = 0x0100;

    /// A GTP-U tunnel over IPv4.
    pub fn gtpu_ipv4(teid: u32, ipv4: Ipv4Addr) -> OuterHeaderCreation {
        OuterHeaderCreation { description: Self::GTPU_UDP_IPV4, teid: Some(teid), ipv4: Some(ipv4), ..Default::default() }
    }
}

/// Outer Header Removal (§8.2.64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OuterHeaderRemoval {
    /// 0: GTP-U/UDP/IPv4, 6: GTP-U/UDP/IP, and so on.
    pub description: u8,
    /// GTP-U extension headers to delete.
    pub extension_deletion: Option<u8>,
}

/// UE IP Address (§8.2.62).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UeIpAddress {
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address or prefix.
    pub ipv6: Option<Ipv6Addr>,
    /// S/D: the UE is the destination.
    pub destination: bool,
    /// IPv6 prefix delegation bits.
    pub delegation_bits: Option<u8>,
    /// CHV4: the UP function is asked to allocate an IPv4 address.
    pub choose_ipv4: bool,
    /// CHV6: the UP function is asked to allocate an IPv6 prefix.
    pub choose_ipv6: bool,
    /// IP6PL: length of the IPv6 prefix.
    pub prefix_length: Option<u8>,
}

/// Failed Rule ID (§8.2.80).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRuleId(pub RuleId);

/// User Plane IP Resource Information (§8.2.82).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct UserPlaneIpResource {
    /// Number of leading TEID bits that are this resource's, and their value in the first octet.
    pub teid_range: Option<(u8, u8)>,
    /// IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// The interface's number as in Source Interface.
    pub source_interface: Option<u8>,
    /// Network instance.
    pub network_instance: Option<Name>,
}

/// S-NSSAI (§8.2.176).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SNssai {
    /// Slice or service type.
    pub sst: u8,
    /// Slice differentiator; 0xffffff: none.
    pub sd: u32,
}

/// UP Function Features (§8.2.25): octets 5 to 12 as bits 0-7 to 56-63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UpFeatures(pub u64);

#[expect(missing_docs, reason = "the names are those of table 8.2.25-1")]
impl UpFeatures {
    pub const BUCP: UpFeatures = UpFeatures(1 << 0);
    pub const DDND: UpFeatures = UpFeatures(1 << 1);
    pub const DLBD: UpFeatures = UpFeatures(1 << 2);
    pub const TRST: UpFeatures = UpFeatures(1 << 3);
    pub const FTUP: UpFeatures = UpFeatures(1 << 4);
    pub const PFDM: UpFeatures = UpFeatures(1 << 5);
    pub const EMPU: UpFeatures = UpFeatures(1 << 8);
    pub const PDIU: UpFeatures = UpFeatures(1 << 9);
    pub const UDBC: UpFeatures = UpFeatures(1 << 10);
    pub const QUOAC: UpFeatures = UpFeatures(1 << 11);
    pub const FRRT: UpFeatures = UpFeatures(1 << 13);
    pub const UEIP: UpFeatures = UpFeatures(1 << 18);
    pub const SSET: UpFeatures = UpFeatures(1 << 19);
    pub const MNOP: UpFeatures = UpFeatures(1 << 20);
    pub const BUNDL: UpFeatures = UpFeatures(1 << 22);
    pub const MPAS: UpFeatures = UpFeatures(1 << 24);
    pub const VTIME: UpFeatures = UpFeatures(1 << 26);
    pub const IP6PL: UpFeatures = UpFeatures(1 << 29);

    /// Both.
    pub const fn and(self, other: UpFeatures) -> UpFeatures {
        UpFeatures(self.0 | other.0)
    }

    /// Whether all of `other` are there.
    pub const fn has(self, other: UpFeatures) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Name {
    /// The name, dotted.
    pub fn as_str(&self) -> &str {
        match self {
            Name::Labels(name) | Name::Text(name) => name,
        }
    }
}

macro_rules! integer_values {
    ($($int:ident)*) => {$(
        impl Value for $int {
            fn read(r: &mut Reader<'_>) -> Result<$int, Flaw> {
                r.$int()
            }
            fn write(&self, out: &mut Vec<u8>) {
                out.extend(self.to_be_bytes());
            }
        }
    )*};
}
integer_values!(u8 u16 u32);

mod impls;
