//! The information elements by number (TS 29.244 §8.1.2), and how they nest.
//!
//! The table at `ies!` is the whole list of release 17, and says what becomes of each element; `docs/n4.md` is made of it. An element that is
//! not read, or not in the table, decodes to [`Ie::Unknown`].

use super::TooLong;
use super::fate::Fate::{self, *};
use super::fate::{ONLY_SXA, ONLY_SXB};
use super::reader::{Flaw, Reader};
use super::value::*;

/// The elements of a message or of a grouped element, in order.
pub type Group = Vec<Ie>;

/// Number of an information element.
pub type IeType = u16;

macro_rules! ies {
    (
        groups { $($group:ident = $group_type:literal, $group_text:literal, $group_fate:expr;)* }
        values { $($name:ident = $type:literal: $value:ty, $text:literal, $fate:expr;)* }
        unread { $($unread:literal, $unread_text:literal, $unread_fate:expr;)* }
    ) => {
        /// An information element (§8.2). The comment at a value's type says what it holds.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are those of the clause")]
        pub enum Ie {
            $($group(Group),)*
            $($name($value),)*
            /// Not read, not in the table, or a vendor's (then the octets begin with the enterprise ID).
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

        /// Every element of release 17: number, name, and what becomes of it. By group, value, not read.
        pub const ELEMENTS: &[(IeType, &str, Fate)] = &[
            $(($group_type, $group_text, $group_fate),)*
            $(($type, $text, $fate),)*
            $(($unread, $unread_text, $unread_fate),)*
        ];

        /// What becomes of an element; `None` for one that is not of release 17.
        pub fn fate(ie_type: IeType) -> Option<(&'static str, Fate)> {
            match ie_type {
                $($group_type => Some(($group_text, $group_fate)),)*
                $($type => Some(($text, $fate)),)*
                $($unread => Some(($unread_text, $unread_fate)),)*
                _ => None,
            }
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
        CreatePdr = 1, "Create PDR", Done;
        Pdi = 2, "PDI", Done;
        CreateFar = 3, "Create FAR", Done;
        ForwardingParameters = 4, "Forwarding Parameters", Done;
        CreateUrr = 6, "Create URR", Done;
        CreateQer = 7, "Create QER", Done;
        CreatedPdr = 8, "Created PDR", Sent;
        UpdatePdr = 9, "Update PDR", Done;
        UpdateFar = 10, "Update FAR", Done;
        UpdateForwardingParameters = 11, "Update Forwarding Parameters", Done;
        UpdateBarInReportResponse = 12, "Update BAR (Session Report Response)", Done;
        UpdateUrr = 13, "Update URR", Done;
        UpdateQer = 14, "Update QER", Done;
        RemovePdr = 15, "Remove PDR", Done;
        RemoveFar = 16, "Remove FAR", Done;
        RemoveUrr = 17, "Remove URR", Done;
        RemoveQer = 18, "Remove QER", Done;
        QueryUrr = 77, "Query URR", Done;
        UsageReportInModificationResponse = 78, "Usage Report (Session Modification Response)", Sent;
        UsageReportInDeletionResponse = 79, "Usage Report (Session Deletion Response)", Sent;
        LoadControlInformation = 51, "Load Control Information", Sent;
        OverloadControlInformation = 54, "Overload Control Information", Sent;
        UsageReportInReportRequest = 80, "Usage Report (Session Report Request)", Sent;
        DownlinkDataReport = 83, "Downlink Data Report", Sent;
        CreateBar = 85, "Create BAR", Done;
        UpdateBar = 86, "Update BAR (Session Modification Request)", Done;
        RemoveBar = 87, "Remove BAR", Done;
        ErrorIndicationReport = 99, "Error Indication Report", Sent;
        UserPlanePathFailureReport = 102, "User Plane Path Failure Report", Sent;
        CreateTrafficEndpoint = 127, "Create Traffic Endpoint", Refused;
        CreatedTrafficEndpoint = 128, "Created Traffic Endpoint", Unsent;
        UpdateTrafficEndpoint = 129, "Update Traffic Endpoint", Refused;
        RemoveTrafficEndpoint = 130, "Remove Traffic Endpoint", Refused;
        SessionRetentionInformation = 183, "PFCP Session Retention Information", Done;
        UserPlanePathRecoveryReport = 187, "User Plane Path Recovery Report", Sent;
        SessionChangeInfo = 290, "PFCP Session Change Info", Done;
    }
    values {
        Cause = 19: Cause, "Cause", Done;
        SourceInterface = 20: u8, "Source Interface", Done;
        FTeid = 21: FTeid, "F-TEID", Done;
        NetworkInstance = 22: Name, "Network Instance", Done;
        SdfFilter = 23: SdfFilter, "SDF Filter", Done;
        ApplicationId = 24: Vec<u8>, "Application ID", RuleRefused;
        GateStatus = 25: GateStatus, "Gate Status", Done;
        Mbr = 26: BitRates, "MBR", Done;
        Gbr = 27: BitRates, "GBR", Done;
        QerCorrelationId = 28: u32, "QER Correlation ID", Refused;
        Precedence = 29: u32, "Precedence", Done;
        TransportLevelMarking = 30: (u8, u8), "Transport Level Marking", Done;
        VolumeThreshold = 31: Volume, "Volume Threshold", Done;
        TimeThreshold = 32: u32, "Time Threshold", Done;
        MonitoringTime = 33: u32, "Monitoring Time", Done;
        SubsequentVolumeThreshold = 34: Volume, "Subsequent Volume Threshold", Done;
        SubsequentTimeThreshold = 35: u32, "Subsequent Time Threshold", Done;
        InactivityDetectionTime = 36: u32, "Inactivity Detection Time", Done;
        ReportingTriggers = 37: Triggers, "Reporting Triggers", Done;
        RedirectInformation = 38: Vec<u8>, "Redirect Information", RuleRefused;
        ReportType = 39: u8, "Report Type", Sent;
        OffendingIe = 40: u16, "Offending IE", Sent;
        ForwardingPolicy = 41: Vec<u8>, "Forwarding Policy", RuleRefused;
        DestinationInterface = 42: u8, "Destination Interface", Done;
        UpFunctionFeatures = 43: UpFeatures, "UP Function Features", Done;
        ApplyAction = 44: ApplyActionFlags, "Apply Action", Done;
        DownlinkDataServiceInformation = 45: Vec<u8>, "Downlink Data Service Information", Unsent;
        DownlinkDataNotificationDelay = 46: u8, "Downlink Data Notification Delay", Done;
        DlBufferingDuration = 47: u8, "DL Buffering Duration", Ignored("only in a response, which cannot be refused; the feature DLBD is not announced");
        DlBufferingSuggestedPacketCount = 48: PacketCount, "DL Buffering Suggested Packet Count", Done;
        PfcpSmReqFlags = 49: u8, "PFCPSMReq-Flags", Done;
        PfcpSrRspFlags = 50: u8, "PFCPSRRsp-Flags", Done;
        SequenceNumber = 52: u32, "Sequence Number", Sent;
        Metric = 53: u8, "Metric", Sent;
        Timer = 55: u8, "Timer", Sent;
        PdrId = 56: u16, "PDR ID", Done;
        FSeid = 57: FSeid, "F-SEID", Done;
        NodeId = 60: NodeId, "Node ID", Done;
        MeasurementMethod = 62: u8, "Measurement Method", Done;
        UsageReportTrigger = 63: Triggers, "Usage Report Trigger", Sent;
        MeasurementPeriod = 64: u32, "Measurement Period", Done;
        FqCsid = 65: FqCsid, "FQ-CSID", Done;
        VolumeMeasurement = 66: VolumeMeasurement, "Volume Measurement", Sent;
        DurationMeasurement = 67: u32, "Duration Measurement", Sent;
        TimeOfFirstPacket = 69: u32, "Time of First Packet", Unsent;
        TimeOfLastPacket = 70: u32, "Time of Last Packet", Unsent;
        QuotaHoldingTime = 71: u32, "Quota Holding Time", Done;
        VolumeQuota = 73: Volume, "Volume Quota", Done;
        TimeQuota = 74: u32, "Time Quota", Done;
        StartTime = 75: u32, "Start Time", Sent;
        EndTime = 76: u32, "End Time", Sent;
        UrrId = 81: u32, "URR ID", Done;
        LinkedUrrId = 82: u32, "Linked URR ID", Done;
        OuterHeaderCreation = 84: OuterHeaderCreation, "Outer Header Creation", Done;
        BarId = 88: u8, "BAR ID", Done;
        CpFunctionFeatures = 89: Vec<u8>, "CP Function Features", Done;
        UsageInformation = 90: u8, "Usage Information", Sent;
        UeIpAddress = 93: UeIpAddress, "UE IP Address", Done;
        OuterHeaderRemoval = 95: OuterHeaderRemoval, "Outer Header Removal", Done;
        RecoveryTimeStamp = 96: u32, "Recovery Time Stamp", Done;
        HeaderEnrichment = 98: Vec<u8>, "Header Enrichment", RuleRefused;
        MeasurementInformation = 100: u8, "Measurement Information", Done;
        NodeReportType = 101: u8, "Node Report Type", Sent;
        RemoteGtpuPeer = 103: PeerAddress, "Remote GTP-U Peer", Sent;
        UrSeqn = 104: u32, "UR-SEQN", Sent;
        ActivatePredefinedRules = 106: Vec<u8>, "Activate Predefined Rules", RuleRefused;
        DeactivatePredefinedRules = 107: Vec<u8>, "Deactivate Predefined Rules", Refused;
        FarId = 108: u32, "FAR ID", Done;
        QerId = 109: u32, "QER ID", Done;
        PfcpAssociationReleaseRequest = 111: u8, "PFCP Association Release Request", Sent;
        GracefulReleasePeriod = 112: u8, "Graceful Release Period", Sent;
        PdnType = 113: u8, "PDN Type", Done;
        FailedRuleId = 114: FailedRuleId, "Failed Rule ID", Sent;
        UserPlaneIpResourceInformation = 116: UserPlaneIpResource, "User Plane IP Resource Information", Sent;
        UserPlaneInactivityTimer = 117: u32, "User Plane Inactivity Timer", Done;
        SubsequentVolumeQuota = 121: Volume, "Subsequent Volume Quota", Done;
        SubsequentTimeQuota = 122: u32, "Subsequent Time Quota", Done;
        Rqi = 123: u8, "RQI", Done;
        Qfi = 124: u8, "QFI", Done;
        QueryUrrReference = 125: u32, "Query URR Reference", Done;
        TrafficEndpointId = 131: u8, "Traffic Endpoint ID", RuleRefused;
        EthernetPacketFilter = 132: Vec<u8>, "Ethernet Packet Filter", RuleRefused;
        SuggestedBufferingPacketsCount = 140: u8, "Suggested Buffering Packets Count", Done;
        UserId = 141: Vec<u8>, "User ID", Ignored("names the user for the operator; no procedure depends on it");
        EventQuota = 148: u32, "Event Quota", Done;
        EventThreshold = 149: u32, "Event Threshold", Done;
        SubsequentEventQuota = 150: u32, "Subsequent Event Quota", Done;
        SubsequentEventThreshold = 151: u32, "Subsequent Event Threshold", Done;
        FramedRoute = 153: Vec<u8>, "Framed-Route", RuleRefused;
        FramedIpv6Route = 155: Vec<u8>, "Framed-IPv6-Route", RuleRefused;
        TimeStamp = 156: u32, "Time Stamp", Sent;
        AveragingWindow = 157: u32, "Averaging Window", Refused;
        PagingPolicyIndicator = 158: u8, "Paging Policy Indicator", Refused;
        ApnDnn = 159: Name, "APN/DNN", Done;
        TgppInterfaceType = 160: u8, "3GPP Interface Type", Ignored("Source and Destination Interface decide");
        UeIpAddressPoolIdentity = 177: Vec<u8>, "UE IP address Pool Identity", Refused;
        AlternativeSmfIpAddress = 178: AlternativeSmfIpAddress, "Alternative SMF IP Address", Done;
        SmfSetId = 180: SmfSetId, "SMF Set ID", Done;
        QuotaValidityTime = 181: u32, "Quota Validity Time", Done;
        PfcpAsRspFlags = 184: u8, "PFCPASRsp-Flags", Sent;
        PfcpSeReqFlags = 186: u8, "PFCPSEReq-Flags", Done;
        SNssai = 257: SNssai, "S-NSSAI", Done;
        GroupId = 291: Vec<u8>, "Group ID", Done;
        CpIpAddress = 292: PeerAddress, "CP IP Address", Done;
        PfcpSdRspFlags = 318: u8, "PFCPSDRsp-Flags", Sent;
    }
    unread {
        5, "Duplicating Parameters", Refused;
        58, "Application ID's PFDs", Refused;
        59, "PFD Context", Refused;
        61, "PFD Contents", Refused;
        68, "Application Detection Information", Unsent;
        72, "Dropped DL Traffic Threshold", Inapplicable(ONLY_SXA);
        91, "Application Instance ID", Unsent;
        92, "Flow Information", Unsent;
        94, "Packet Rate", Refused;
        97, "DL Flow Level Marking", Refused;
        105, "Update Duplicating Parameters", Refused;
        110, "OCI Flags", Unsent;
        115, "Time Quota Mechanism", Inapplicable(ONLY_SXB);
        118, "Aggregated URRs", Refused;
        119, "Multiplier", Refused;
        120, "Aggregated URR ID", Refused;
        126, "Additional Usage Reports Information", Unsent;
        133, "MAC Address", Refused;
        134, "C-TAG", Refused;
        135, "S-TAG", Refused;
        136, "Ethertype", Refused;
        137, "Proxying", Refused;
        138, "Ethernet Filter ID", Refused;
        139, "Ethernet Filter Properties", Refused;
        142, "Ethernet PDU Session Information", Refused;
        143, "Ethernet Traffic Information", Unsent;
        144, "MAC Addresses Detected", Unsent;
        145, "MAC Addresses Removed", Unsent;
        146, "Ethernet Inactivity Timer", Refused;
        147, "Additional Monitoring Time", Refused;
        152, "Trace Information", Refused;
        154, "Framed-Routing", Refused;
        161, "PFCPSRReq-Flags", Unsent;
        162, "PFCPAUReq-Flags", Refused;
        163, "Activation Time", Refused;
        164, "Deactivation Time", Refused;
        165, "Create MAR", Refused;
        166, "Access Forwarding Action Information 1", Refused;
        167, "Access Forwarding Action Information 2", Refused;
        168, "Remove MAR", Refused;
        169, "Update MAR", Refused;
        170, "MAR ID", Refused;
        171, "Steering Functionality", Refused;
        172, "Steering Mode", Refused;
        173, "Weight", Refused;
        174, "Priority", Refused;
        175, "Update Access Forwarding Action Information 1", Refused;
        176, "Update Access Forwarding Action Information 2", Refused;
        179, "Packet Replication and Detection Carry-On Information", Refused;
        182, "Number of Reports", Refused;
        185, "CP PFCP Entity IP Address", Ignored("all sessions of the association are retained, also those of addresses that are not listed");
        188, "IP Multicast Addressing Info (Session Establishment Request)", Refused;
        189, "Join IP Multicast Information (Usage Report)", Unsent;
        190, "Leave IP Multicast Information (Usage Report)", Unsent;
        191, "IP Multicast Address", Refused;
        192, "Source IP Address", Ignored("of a Heartbeat Request, which cannot be refused: it tells of a NAT, and requests are answered to where they came from");
        193, "Packet Rate Status", Unsent;
        194, "Create Bridge Info for TSC", Refused;
        195, "Created Bridge Info for TSC", Unsent;
        196, "DS-TT Port Number", Unsent;
        197, "NW-TT Port Number", Unsent;
        198, "5GS User Plane Node", Refused;
        199, "TSC Management Information (Session Modification Request)", Refused;
        200, "Port Management Information for TSC (Session Modification Response)", Unsent;
        201, "Port Management Information for TSC (Session Report Request)", Unsent;
        202, "Port Management Information Container", Refused;
        203, "Clock Drift Control Information", Refused;
        204, "Requested Clock Drift Information", Refused;
        205, "Clock Drift Report", Unsent;
        206, "Time Domain Number", Refused;
        207, "Time Offset Threshold", Refused;
        208, "Cumulative rateRatio Threshold", Refused;
        209, "Time Offset Measurement", Unsent;
        210, "Cumulative rateRatio Measurement", Unsent;
        211, "Remove SRR", Refused;
        212, "Create SRR", Refused;
        213, "Update SRR", Refused;
        214, "Session Report", Unsent;
        215, "SRR ID", Refused;
        216, "Access Availability Control Information", Refused;
        217, "Requested Access Availability Information", Refused;
        218, "Access Availability Report", Unsent;
        219, "Access Availability Information", Unsent;
        220, "Provide ATSSS Control Information", Refused;
        221, "ATSSS Control Parameters", Refused;
        222, "MPTCP Control Information", Refused;
        223, "ATSSS-LL Control Information", Refused;
        224, "PMF Control Information", Refused;
        225, "MPTCP Parameters", Unsent;
        226, "ATSSS-LL Parameters", Unsent;
        227, "PMF Parameters", Unsent;
        228, "MPTCP Address Information", Unsent;
        229, "UE Link-Specific IP Address", Unsent;
        230, "PMF Address Information", Unsent;
        231, "ATSSS-LL Information", Unsent;
        232, "Data Network Access Identifier", Refused;
        233, "UE IP address Pool Information", Unsent;
        234, "Average Packet Delay", Unsent;
        235, "Minimum Packet Delay", Unsent;
        236, "Maximum Packet Delay", Unsent;
        237, "QoS Report Trigger", Refused;
        238, "GTP-U Path QoS Control Information", Refused;
        239, "GTP-U Path QoS Report (Node Report Request)", Unsent;
        240, "QoS Information in GTP-U Path QoS Report", Unsent;
        241, "GTP-U Path Interface Type", Refused;
        242, "QoS Monitoring per QoS flow Control Information", Refused;
        243, "Requested QoS Monitoring", Refused;
        244, "Reporting Frequency", Refused;
        245, "Packet Delay Thresholds", Refused;
        246, "Minimum Wait Time", Refused;
        247, "QoS Monitoring Report", Unsent;
        248, "QoS Monitoring Measurement", Unsent;
        249, "MT-EDT Control Information", Refused;
        250, "DL Data Packets Size", Refused;
        251, "QER Control Indications", Refused;
        252, "Packet Rate Status Report (Session Deletion Response)", Unsent;
        253, "NF Instance ID", Unsent;
        254, "Ethernet Context Information", Refused;
        255, "Redundant Transmission Detection Parameters (PDI)", Refused;
        256, "Updated PDR", Unsent;
        258, "IP version", Unsent;
        259, "PFCPASReq-Flags", Unsent;
        260, "Data Status", Refused;
        261, "Provide RDS Configuration Information (Session Establishment Request)", Refused;
        262, "RDS Configuration Information", Refused;
        263, "Query Packet Rate Status (Session Modification Request)", Refused;
        264, "Query Packet Rate Status Report (Session Modification Response)", Unsent;
        265, "MPTCP Applicable Indication", Refused;
        266, "User Plane Node Management Information Container", Refused;
        267, "UE IP Address Usage Information", Unsent;
        268, "Number of UE IP Addresses", Unsent;
        269, "Validity Timer", Unsent;
        270, "Redundant Transmission Forwarding Parameters", Refused;
        271, "Transport Delay Reporting", Refused;
        272, "Partial Failure Information", Unsent;
        273, "Partial Failure Information (Session Modification Response)", Unsent;
        274, "Offending IE Information", Unsent;
        275, "RAT Type", Ignored("no procedure here depends on it");
        276, "L2TP Tunnel Information", Refused;
        277, "L2TP Session Information (Session Establishment Request)", Refused;
        278, "L2TP User Authentication", Refused;
        279, "L2TP Session Information (Session Establishment Response)", Unsent;
        280, "LNS Address", Refused;
        281, "Tunnel Preference", Refused;
        282, "Calling Number", Refused;
        283, "Called Number", Refused;
        284, "L2TP Session Indications", Refused;
        285, "DNS Server Address", Refused;
        286, "NBNS Server Address", Refused;
        287, "Maximum Receive Unit", Refused;
        288, "Thresholds", Refused;
        289, "Steering Mode Indicator", Refused;
        293, "IP Address and Port Number Replacement", Refused;
        294, "DNS Query Filter", Refused;
        295, "Direct Reporting Information", Refused;
        296, "Event Notification URI", Refused;
        297, "Notification Correlation ID", Refused;
        298, "Reporting Flags", Refused;
        299, "Predefined Rules Name", Refused;
        300, "MBS Session N4mb Control Information", Refused;
        301, "MBS Multicast Parameters", Refused;
        302, "Add MBS Unicast Parameters (Create FAR)", Refused;
        303, "MBS Session N4mb Information", Unsent;
        304, "Remove MBS Unicast Parameters (Update FAR)", Refused;
        305, "MBS Session Identifier", Refused;
        306, "Multicast Transport Information", Refused;
        307, "MBSN4mbReq Flags", Refused;
        308, "Local Ingress Tunnel", Refused;
        309, "MBS Unicast Parameters ID", Refused;
        310, "MBS Session N4 Control Information (Session Establishment Request)", Refused;
        311, "MBS Session N4 Control Information (Session Establishment Response)", Unsent;
        312, "MBSN4Resp-Flags", Unsent;
        313, "Tunnel Password", Refused;
        314, "Area Session ID", Refused;
        315, "Peer UP Restart Report (Node Report Request)", Unsent;
        316, "DSCP to PPI Control Information (Session Establishment Request)", Refused;
        317, "DSCP to PPI Mapping Information", Refused;
        319, "QER Indications", Refused;
        320, "Vendor-Specific Node Report Type", Unsent;
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
