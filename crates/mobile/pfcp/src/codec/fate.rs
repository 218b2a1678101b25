//! What becomes of what TS 29.244 (release 17) has: messages ([`TYPES`](super::TYPES)), information elements
//! ([`ELEMENTS`](super::ELEMENTS)), and here flags and features. `docs/n4.md` is made of these tables by the test `n4_table`.
//!
//! Nothing else exists: an element is done, refused by name, or skipped because the clause allows it.

use Fate::{Done, Ignored, Inapplicable, Refused};

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
    flag(16, "REEMR", Refused),
    flag(17, "UPINT", Refused),
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

/// PFCPSMReq-Flags (§8.2.42).
pub const PFCPSMREQ_FLAGS: &[Flag] =
    &[flag(0, "DROBU", Done), flag(1, "SNDEM", Done), flag(2, "QAURR", Done), flag(3, "SUMPC", Refused), flag(4, "RUMUC", Refused)];

/// PFCPSRRsp-Flags (§8.2.43).
pub const PFCPSRRSP_FLAGS: &[Flag] = &[flag(0, "DROBU", Done)];

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
}

/// A feature of UP Function Features (table 8.2.25-1): its bit, counted from octet 5, its name, and when it is announced.
pub type Feature = (u8, &'static str, Announced);

/// UP Function Features (§8.2.25).
pub const FEATURES: &[Feature] = {
    use Announced::{Always, Never, WithGtpu, WithPools};
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
        (15, "EPFAR", Never),
        (16, "DPDRA", Never),
        (17, "ADPDP", Never),
        (18, "UEIP", WithPools),
        (19, "SSET", Never),
        (20, "MNOP", Always),
        (21, "MTE", Never),
        (22, "BUNDL", Always),
        (23, "GCOM", Never),
        (24, "MPAS", Never),
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
