//! The information elements by number (TS 29.244 §8.1.2), and how they nest.
//!
//! The table at `ies!` is the whole list; an element that is not in it decodes to [`Ie::Unknown`] and is ignored (§7.6.6).

use super::TooLong;
use super::reader::{Flaw, Reader};
use super::value::*;

/// The elements of a message or of a grouped element, in order.
pub type Group = Vec<Ie>;

/// Number of an information element.
pub type IeType = u16;

/// Numbers with this bit are vendors' own (§8.1.1).
const VENDOR: IeType = 0x8000;

macro_rules! ies {
    (groups { $($group:ident = $group_type:literal,)* } values { $($name:ident = $type:literal: $value:ty,)* }) => {
        /// An information element (§8.2). The comment at a value's type says what it holds.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are those of the clause")]
        pub enum Ie {
            $($group(Group),)*
            $($name($value),)*
            /// Not in the table, or a vendor's (then the octets begin with the enterprise ID).
            Unknown { ie_type: IeType, octets: Vec<u8> },
            /// In the table, but wrong inside. As the last of a group: the element was cut off.
            Invalid { ie_type: IeType, flaw: Flaw, octets: Vec<u8> },
        }

        /// The elements' numbers, by the names of [`Ie`].
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod number {
            $(pub const $group: u16 = $group_type;)*
            $(pub const $name: u16 = $type;)*
        }

        impl Ie {
            /// Its number.
            pub fn ie_type(&self) -> IeType {
                match self {
                    $(Ie::$group(_) => $group_type,)*
                    $(Ie::$name(_) => $type,)*
                    Ie::Unknown { ie_type, .. } | Ie::Invalid { ie_type, .. } => *ie_type,
                }
            }

            /// The elements inside a grouped element; none of another.
            pub fn children(&self) -> &[Ie] {
                match self {
                    $(Ie::$group(ies) => ies,)*
                    _ => &[],
                }
            }

            fn read(ie_type: IeType, octets: &[u8], depth: usize) -> Ie {
                // Each octet is read once for each group that it is in.
                $crate::work::steps(1 + octets.len());
                let mut reader = Reader::new(octets);
                let value = match ie_type {
                    $($group_type => match depth {
                        0 => Err(Flaw::Value),
                        _ => Ok(Ie::$group(read_group(reader, depth - 1))),
                    },)*
                    $($type => <$value>::read(&mut reader).map(Ie::$name),)*
                    _ => Ok(Ie::Unknown { ie_type, octets: octets.to_vec() }),
                };
                value.unwrap_or_else(|flaw| Ie::Invalid { ie_type, flaw, octets: octets.to_vec() })
            }

            fn write(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
                match self {
                    $(Ie::$group(ies) => write_group(ies, out)?,)*
                    $(Ie::$name(value) => value.write(out),)*
                    Ie::Unknown { octets, .. } | Ie::Invalid { octets, .. } => out.extend(octets),
                }
                Ok(())
            }
        }
    };
}

ies! {
    groups {
        CreatePdr = 1,
        Pdi = 2,
        CreateFar = 3,
        ForwardingParameters = 4,
        CreateUrr = 6,
        CreateQer = 7,
        CreatedPdr = 8,
        UpdatePdr = 9,
        UpdateFar = 10,
        UpdateForwardingParameters = 11,
        UpdateBarInReportResponse = 12,
        UpdateUrr = 13,
        UpdateQer = 14,
        RemovePdr = 15,
        RemoveFar = 16,
        RemoveUrr = 17,
        RemoveQer = 18,
        QueryUrr = 77,
        UsageReportInModificationResponse = 78,
        UsageReportInDeletionResponse = 79,
        UsageReportInReportRequest = 80,
        DownlinkDataReport = 83,
        CreateBar = 85,
        UpdateBar = 86,
        RemoveBar = 87,
        ErrorIndicationReport = 99,
        CreateTrafficEndpoint = 127,
        CreatedTrafficEndpoint = 128,
        UpdateTrafficEndpoint = 129,
        RemoveTrafficEndpoint = 130,
        SessionRetentionInformation = 183,
    }
    values {
        Cause = 19: Cause,
        SourceInterface = 20: u8,
        FTeid = 21: FTeid,
        NetworkInstance = 22: Name,
        SdfFilter = 23: SdfFilter,
        ApplicationId = 24: Vec<u8>,
        GateStatus = 25: GateStatus,
        Mbr = 26: BitRates,
        Gbr = 27: BitRates,
        QerCorrelationId = 28: u32,
        Precedence = 29: u32,
        TransportLevelMarking = 30: (u8, u8),
        VolumeThreshold = 31: Volume,
        TimeThreshold = 32: u32,
        ReportingTriggers = 37: Triggers,
        RedirectInformation = 38: Vec<u8>,
        ReportType = 39: u8,
        OffendingIe = 40: u16,
        ForwardingPolicy = 41: Vec<u8>,
        DestinationInterface = 42: u8,
        UpFunctionFeatures = 43: UpFeatures,
        ApplyAction = 44: ApplyActionFlags,
        DownlinkDataServiceInformation = 45: Vec<u8>,
        DownlinkDataNotificationDelay = 46: u8,
        DlBufferingDuration = 47: u8,
        DlBufferingSuggestedPacketCount = 48: PacketCount,
        PfcpSmReqFlags = 49: u8,
        PfcpSrRspFlags = 50: u8,
        PdrId = 56: u16,
        FSeid = 57: FSeid,
        NodeId = 60: NodeId,
        MeasurementMethod = 62: u8,
        UsageReportTrigger = 63: Triggers,
        MeasurementPeriod = 64: u32,
        VolumeMeasurement = 66: VolumeMeasurement,
        DurationMeasurement = 67: u32,
        TimeOfFirstPacket = 69: u32,
        TimeOfLastPacket = 70: u32,
        VolumeQuota = 73: Volume,
        TimeQuota = 74: u32,
        StartTime = 75: u32,
        EndTime = 76: u32,
        UrrId = 81: u32,
        LinkedUrrId = 82: u32,
        OuterHeaderCreation = 84: OuterHeaderCreation,
        BarId = 88: u8,
        CpFunctionFeatures = 89: Vec<u8>,
        UeIpAddress = 93: UeIpAddress,
        OuterHeaderRemoval = 95: OuterHeaderRemoval,
        RecoveryTimeStamp = 96: u32,
        HeaderEnrichment = 98: Vec<u8>,
        MeasurementInformation = 100: u8,
        UrSeqn = 104: u32,
        ActivatePredefinedRules = 106: Vec<u8>,
        DeactivatePredefinedRules = 107: Vec<u8>,
        FarId = 108: u32,
        QerId = 109: u32,
        PfcpAssociationReleaseRequest = 111: u8,
        GracefulReleasePeriod = 112: u8,
        PdnType = 113: u8,
        FailedRuleId = 114: FailedRuleId,
        UserPlaneIpResourceInformation = 116: UserPlaneIpResource,
        UserPlaneInactivityTimer = 117: u32,
        Rqi = 123: u8,
        Qfi = 124: u8,
        QueryUrrReference = 125: u32,
        TrafficEndpointId = 131: u8,
        EthernetPacketFilter = 132: Vec<u8>,
        SuggestedBufferingPacketsCount = 140: u8,
        UserId = 141: Vec<u8>,
        FramedRoute = 153: Vec<u8>,
        FramedIpv6Route = 155: Vec<u8>,
        AveragingWindow = 157: u32,
        PagingPolicyIndicator = 158: u8,
        ApnDnn = 159: Name,
        TgppInterfaceType = 160: u8,
        UeIpAddressPoolIdentity = 177: Vec<u8>,
        AlternativeSmfIpAddress = 178: AlternativeSmfIpAddress,
        PfcpAsRspFlags = 184: u8,
        SNssai = 257: SNssai,
    }
}

/// The value of the first element of a kind: `find!(ies, NodeId)` is an `Option<&NodeId>`.
#[macro_export]
macro_rules! find_ie {
    ($ies:expr, $name:ident) => {
        $ies.iter().find_map(|ie| {
            $crate::work::steps(1);
            match ie {
                $crate::codec::Ie::$name(value) => Some(value),
                _ => None,
            }
        })
    };
}
pub use crate::find_ie as find;

/// Reads elements until the octets end. What is left over or cut off becomes one [`Ie::Invalid`] at the end.
pub(super) fn read_group(mut reader: Reader<'_>, depth: usize) -> Group {
    let mut ies = Vec::new();
    while !reader.is_empty() {
        let all = reader;
        let mut read_one = || {
            let ie_type = reader.u16()?;
            let length = reader.u16()?;
            Ok((ie_type, reader.take(usize::from(length))?))
        };
        match read_one() {
            Ok((ie_type, octets)) => ies.push(Ie::read(ie_type, octets, depth)),
            Err(flaw) => {
                let (mut left, mut octets) = (all, all);
                ies.push(Ie::Invalid { ie_type: left.u16().unwrap_or(0), flaw, octets: octets.all().to_vec() });
                break;
            }
        }
    }
    ies
}

/// Writes elements, each with its type and length.
pub(super) fn write_group(ies: &[Ie], out: &mut Vec<u8>) -> Result<(), TooLong> {
    for ie in ies {
        out.extend(ie.ie_type().to_be_bytes());
        let at = out.len();
        out.extend([0, 0]);
        ie.write(out)?;
        let length = u16::try_from(out.len() - at - 2).map_err(|_| TooLong)?;
        out[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

impl Ie {
    /// Whether the element is of a vendor.
    pub fn is_vendor_specific(&self) -> bool {
        self.ie_type() & VENDOR != 0
    }
}
