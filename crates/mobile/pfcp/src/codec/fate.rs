//! What becomes of what TS 29.244 (release 17) has: messages ([`TYPES`](super::TYPES)), information elements
//! ([`ELEMENTS`](super::ELEMENTS)), and here flags and features. `docs/n4.md` is made of these tables by the test `n4_table`.
//!
//! Nothing else exists: an element is done, refused by name, or skipped because the clause allows it.

use Fate::{Done, Ignored, Inapplicable, Refused, Sent, Unsent};

/// What becomes of a message, an element or a flag that a CP function sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has its effect. A message that we also send is done in both directions.
    Done,
    /// Only we send it. Unexpected from a CP function, where an element is skipped (§7.6.6).
    Sent,
    /// Only a UP function sends it, and this one does not. From a CP function as for [`Fate::Sent`].
    Unsent,
    /// The request is rejected: cause 76 ("Service not supported"), and its number as Offending IE.
    Refused,
    /// As [`Fate::Refused`], and to what it applies instead: not to a UPF of IP sessions.
    Inapplicable(&'static str),
    /// The request is rejected: cause 73 ("Rule creation/modification failure") or what the element's clause says, and the rule as Failed Rule ID.
    RuleRefused,
    /// No effect, and why the clause allows that.
    Ignored(&'static str),
}

/// One flag of an element that is a set of them.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Counted from the lowest bit of the first octet.
    pub bit: u8,
    /// Its name in the clause.
    pub name: &'static str,
    /// What becomes of it.
    pub fate: Fate,
}

const fn flag(bit: u8, name: &'static str, fate: Fate) -> Flag {
    Flag { bit, name, fate }
}

/// Columns of table 7.5.2.4-1 (Create URR): what N4 does not have.
pub(super) const ONLY_SXA: &str = "of Sxa only (table 7.5.2.4-1): an SGW-U drops what a PGW is to stop charging for";
pub(super) const ONLY_SXB: &str = "of Sxb only, with a Time Quota Mechanism (table 7.5.2.4-1): envelopes are of a PGW's charging by time";

const ONLY_RELOCATED: &str = "of a UPF whose downlink is switched by its SMF when the old path's End Marker comes (I-UPF relocation); End Markers are passed on, and not reported";

/// Reporting Triggers (§8.2.19).
pub const REPORTING_TRIGGERS: &[Flag] = &[
    flag(0, "PERIO", Done),
    flag(1, "VOLTH", Done),
    flag(2, "TIMTH", Done),
    flag(3, "QUHTI", Done),
    flag(4, "START", Done),
    flag(5, "STOPT", Done),
    flag(6, "DROTH", Inapplicable(ONLY_SXA)),
    flag(7, "LIUSA", Done),
    flag(8, "VOLQU", Done),
    flag(9, "TIMQU", Done),
    flag(10, "ENVCL", Inapplicable(ONLY_SXB)),
    flag(11, "MACAR", Inapplicable("of Ethernet PDU sessions (clause 5.13), which are not served")),
    flag(12, "EVETH", Done),
    flag(13, "EVEQU", Done),
    flag(14, "IPMJL", Inapplicable("of the feature IPTV (table 8.2.25-1), which is not announced: multicast is not routed")),
    flag(15, "QUVTI", Done),
    flag(16, "REEMR", Inapplicable(ONLY_RELOCATED)),
    flag(17, "UPINT", Done),
];

/// Usage Report Trigger (§8.2.41).
pub const USAGE_REPORT_TRIGGER: &[Flag] = &[
    flag(0, "PERIO", Sent),
    flag(1, "VOLTH", Sent),
    flag(2, "TIMTH", Sent),
    flag(3, "QUHTI", Sent),
    flag(4, "START", Sent),
    flag(5, "STOPT", Sent),
    flag(6, "DROTH", Unsent),
    flag(7, "IMMER", Sent),
    flag(8, "VOLQU", Sent),
    flag(9, "TIMQU", Sent),
    flag(10, "LIUSA", Sent),
    flag(11, "TERMR", Sent),
    flag(12, "MONIT", Sent),
    flag(13, "ENVCL", Unsent),
    flag(14, "MACAR", Unsent),
    flag(15, "EVETH", Sent),
    flag(16, "EVEQU", Sent),
    flag(17, "TEBUR", Sent),
    flag(18, "IPMJL", Unsent),
    flag(19, "QUVTI", Sent),
    flag(20, "EMRRE", Unsent),
    flag(21, "UPINT", Sent),
];

/// Measurement Method (§8.2.40).
pub const MEASUREMENT_METHOD: &[Flag] = &[flag(0, "DURAT", Done), flag(1, "VOLUM", Done), flag(2, "EVENT", Done)];

/// Measurement Information (§8.2.68).
pub const MEASUREMENT_INFORMATION: &[Flag] = &[
    // Not allowed by the clause: a shortfall.
    flag(
        0,
        "MBQE",
        Ignored(
            "measured after QoS enforcement all the same, so without what an MBR or a gate drops; free5GC asks for it with every session, and would have none",
        ),
    ),
    flag(1, "INAM", Done),
    flag(2, "RADI", Ignored("applications are not detected, so nothing is reported of them")),
    flag(3, "ISTM", Done),
    flag(4, "MNOP", Done),
    flag(5, "SSPOC", Refused),
    flag(6, "ASPOC", Refused),
    flag(7, "CIAM", Refused),
];

/// Apply Action (§8.2.26). One that is refused is refused with its FAR.
pub const APPLY_ACTION: &[Flag] = &[
    flag(0, "DROP", Done),
    flag(1, "FORW", Done),
    flag(2, "BUFF", Done),
    flag(3, "NOCP", Done),
    flag(4, "DUPL", Fate::RuleRefused),
    flag(5, "IPMA", Fate::RuleRefused),
    flag(6, "IPMD", Fate::RuleRefused),
    flag(7, "DFRT", Fate::RuleRefused),
    flag(8, "EDRT", Fate::RuleRefused),
    flag(9, "BDPN", Fate::RuleRefused),
    flag(10, "DDPN", Fate::RuleRefused),
    flag(11, "FSSM", Fate::RuleRefused),
    flag(12, "MBSU", Fate::RuleRefused),
];

/// PFCPSEReq-Flags (§8.2.136).
pub const PFCPSEREQ_FLAGS: &[Flag] = &[flag(0, "RESTI", Done), flag(1, "SUMPC", Refused)];

/// PFCPSMReq-Flags (§8.2.31).
pub const PFCPSMREQ_FLAGS: &[Flag] = &[
    flag(0, "DROBU", Done),
    flag(1, "SNDEM", Done),
    flag(2, "QAURR", Done),
    flag(3, "SUMPC", Refused),
    flag(4, "RUMUC", Refused),
    flag(5, "DETEID", Inapplicable("of an MB-UPF's MBS sessions (clause 5.34), which are not served")),
];

/// PFCPSRRsp-Flags (§8.2.32).
pub const PFCPSRRSP_FLAGS: &[Flag] = &[flag(0, "DROBU", Done)];

/// PFCPSRReq-Flags (§8.2.119).
pub const PFCPSRREQ_FLAGS: &[Flag] = &[flag(0, "PSDBU", Unsent)];

/// PFCPSDRsp-Flags (table 7.5.7.1-1).
pub const PFCPSDRSP_FLAGS: &[Flag] = &[flag(0, "PURU", Sent)];

/// PFCPASReq-Flags (table 7.4.4.1-1).
pub const PFCPASREQ_FLAGS: &[Flag] = &[flag(0, "UUPSI", Unsent)];

/// PFCPASRsp-Flags (§8.2.134).
pub const PFCPASRSP_FLAGS: &[Flag] = &[flag(0, "PSREI", Sent), flag(1, "UUPSI", Unsent)];

/// PFCPAUReq-Flags (§8.2.120).
pub const PFCPAUREQ_FLAGS: &[Flag] = &[flag(0, "PARPS", Refused)];

/// PFCP Association Release Request (§8.2.77).
pub const ASSOCIATION_RELEASE_REQUEST: &[Flag] = &[flag(0, "SARR", Sent), flag(1, "URSS", Unsent)];

/// Report Type (§8.2.21).
pub const REPORT_TYPE: &[Flag] = &[
    flag(0, "DLDR", Sent),
    flag(1, "USAR", Sent),
    flag(2, "ERIR", Sent),
    flag(3, "UPIR", Sent),
    flag(4, "TMIR", Unsent),
    flag(5, "SESR", Unsent),
    flag(6, "UISR", Unsent),
];

/// Node Report Type (§8.2.69).
pub const NODE_REPORT_TYPE: &[Flag] = &[
    flag(0, "UPFR", Sent),
    flag(1, "UPRR", Sent),
    flag(2, "CKDR", Unsent),
    flag(3, "GPQR", Unsent),
    flag(4, "PURR", Unsent),
    flag(5, "VSR", Unsent),
];

/// Usage Information (§8.2.63).
pub const USAGE_INFORMATION: &[Flag] = &[flag(0, "BEF", Sent), flag(1, "AFT", Sent), flag(2, "UAE", Unsent), flag(3, "UBE", Unsent)];

/// OCI Flags (§8.2.76).
pub const OCI_FLAGS: &[Flag] = &[flag(0, "AOCI", Unsent)];

/// CP Function Features (table 8.2.58-1): what a CP function can take. Nothing is asked by it, so nothing is refused.
pub const CP_FUNCTION_FEATURES: &[Flag] = &[
    flag(0, "LOAD", Done),
    flag(1, "OVRL", Done),
    flag(2, "EPFAR", Ignored("both sides must have it, and it is not announced: its sessions are reported when they end, without PSDBU")),
    flag(3, "SSET", Ignored("alternative addresses say who speaks for whom, with it and without")),
    flag(4, "BUNDL", Ignored("a permission: we send each message in a datagram of its own, and take bundles from anybody")),
    flag(5, "MPAS", Ignored("the SMF Set ID says it, which comes with it")),
    flag(6, "ARDR", Ignored("a permission: what a deletion's response has no room for is told as pending (PURU) and sent, without AURI")),
    flag(7, "UIAUR", Ignored("a permission: usage of UE address pools is not reported")),
    flag(8, "PSUCC", Ignored("a permission: a request is done as a whole, or not at all")),
    flag(9, "RPGUR", Ignored("a permission: restarts of GTP-U peers are not reported, their path failures are")),
];

/// Every element that is a set of flags, by its number. Flags that only say which fields an element has are read with it, and are not here.
pub const FLAG_ELEMENTS: &[(u16, &[Flag])] = &[
    (37, REPORTING_TRIGGERS),
    (63, USAGE_REPORT_TRIGGER),
    (62, MEASUREMENT_METHOD),
    (100, MEASUREMENT_INFORMATION),
    (90, USAGE_INFORMATION),
    (44, APPLY_ACTION),
    (186, PFCPSEREQ_FLAGS),
    (49, PFCPSMREQ_FLAGS),
    (318, PFCPSDRSP_FLAGS),
    (161, PFCPSRREQ_FLAGS),
    (50, PFCPSRRSP_FLAGS),
    (39, REPORT_TYPE),
    (101, NODE_REPORT_TYPE),
    (259, PFCPASREQ_FLAGS),
    (184, PFCPASRSP_FLAGS),
    (162, PFCPAUREQ_FLAGS),
    (111, ASSOCIATION_RELEASE_REQUEST),
    (110, OCI_FLAGS),
    (89, CP_FUNCTION_FEATURES),
];

/// The first flag of a value that is set and refused. Bits that are spare in the clause are skipped, as it says.
pub fn refused(flags: &[Flag], value: u32) -> Option<&Flag> {
    let set = |flag: &&Flag| value & (1 << flag.bit) != 0;
    flags.iter().filter(set).find(|flag| matches!(flag.fate, Refused | Inapplicable(_) | Fate::RuleRefused))
}

/// When a feature of UP Function Features is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// In every association.
    Always,
    /// With a configuration of GTP-U addresses.
    WithGtpu,
    /// With a configuration of pools of UE addresses.
    WithPools,
    /// Never: what needs it is refused.
    Never,
    /// Never, for this reason: nothing that needs it is asked for by an element of its own.
    Not(&'static str),
}

/// A feature of UP Function Features (table 8.2.25-1): its bit, counted from octet 5, its name, and when it is announced.
pub type Feature = (u8, &'static str, Announced);

/// UP Function Features (§8.2.25).
pub const FEATURES: &[Feature] = {
    use Announced::{Always, Never, Not, WithGtpu, WithPools};
    &[
        (0, "BUCP", Never),
        (1, "DDND", Always),
        (2, "DLBD", Never),
        (3, "TRST", Never),
        (4, "FTUP", WithGtpu),
        (5, "PFDM", Never),
        (6, "HEEU", Never),
        (7, "TREU", Never),
        (8, "EMPU", Always),
        (9, "PDIU", Never),
        (10, "UDBC", Never),
        (11, "QUOAC", Always),
        (12, "TRACE", Never),
        (13, "FRRT", Never),
        (14, "PFDE", Never),
        (
            15,
            "EPFAR",
            Not(
                "a release is not prepared: sessions end with it, and their final usage is reported then (TEBUR); PSDBU and URSS are for two sides that have it (clause 5.18.1)",
            ),
        ),
        (16, "DPDRA", Never),
        (17, "ADPDP", Never),
        (18, "UEIP", WithPools),
        (19, "SSET", Always),
        (20, "MNOP", Always),
        (21, "MTE", Never),
        (22, "BUNDL", Always),
        (23, "GCOM", Never),
        (24, "MPAS", Always),
        (25, "RTTL", Never),
        (26, "VTIME", Always),
        (27, "NORP", Never),
        (28, "IPTV", Never),
        (29, "IP6PL", Never),
        (30, "TSCU", Never),
        (31, "MPTCP", Never),
        (32, "ATSSS-LL", Never),
        (33, "QFQM", Never),
        (34, "GPQM", Never),
        (35, "MT-EDT", Never),
        (36, "CIOT", Never),
        (37, "ETHAR", Never),
        (38, "DDDS", Never),
        (39, "RDS", Never),
        (40, "RTTWP", Never),
        (41, "QUASF", Never),
        (42, "NSPOC", Never),
        (43, "L2TP", Never),
        (44, "UPBER", Never),
        (45, "RESPS", Always),
        (46, "IPREP", Never),
        (47, "DNSTS", Never),
        (48, "DRQOS", Never),
        (49, "MBSN4", Never),
        (50, "PSUPRM", Never),
        (51, "EPPPI", Never),
        (52, "RATP", Never),
        (53, "UPIDP", Never),
    ]
};
