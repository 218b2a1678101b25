//! Static policies: which sessions, or which packets, the fast target takes.

use crate::rules::Slice;
use std::net::IpAddr;

/// What is put on the fast target.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Nothing.
    None,
    /// Sessions with a UE address in one of these prefixes (address, prefix length).
    Ues(Vec<(IpAddr, u8)>),
    /// Packets of these DSCPs. Every session is placed, but for those with meters: a rate is policed in one place.
    Dscps(Vec<u8>),
    /// This share of the sessions, 0 to 1, by a hash of their number.
    Share(f64),
    /// What a planner moves there, and takes away, while they live.
    Planned,
}

/// What policies and rules decide by, of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementCriteria {
    /// The session's number in this node.
    pub seid: u64,
    /// Its UE's addresses; of IPv6 the prefix.
    pub ue_addresses: Vec<IpAddr>,
    /// Whether any of its rules has a rate.
    pub metered: bool,
    /// Tunnel endpoints of ours that its packets come by.
    pub teids: Vec<u32>,
    /// Its slice, if the control plane knows it.
    pub slice: Option<Slice>,
    /// DSCPs that its tunnels are marked with.
    pub dscps: Vec<u8>,
    /// QFIs that its packets are marked with.
    pub qfis: Vec<u8>,
    /// Whether this change releases its buffered packets: a target ahead of the engine must not let others overtake them.
    pub wakes: bool,
}

/// A value of a policy, a rule or a planner's settings that is out of range: the operator's fault.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OutOfRange {
    /// Of all sessions.
    #[error("share {0} is not between 0 and 1")]
    Share(f64),
    /// It has 6 bits.
    #[error("DSCP {0} exceeds 63")]
    Dscp(u8),
    /// A prefix is no longer than its address.
    #[error("prefix length {length} is too long for {address}")]
    Prefix {
        /// The address.
        address: IpAddr,
        /// The length.
        length: u8,
    },
    /// First and last TEID.
    #[error("TEIDs {0} to {1}: nothing lies between")]
    Teids(u32, u32),
    /// It has 6 bits.
    #[error("QFI {0} exceeds 63")]
    Qfi(u8),
    /// Of a slice.
    #[error("slice differentiator {0:#x} is none: it has 24 bits, not all ones")]
    Differentiator(u32),
    /// Of packets.
    #[error("weight {0} is not between 0 and 1000000")]
    Weight(f64),
    /// A planner's rates of heavy hitters.
    #[error("heavy hitters come above {enter_bps} bit/s and leave below {leave_bps}: the first must not be less")]
    Heavy {
        /// Bits a second.
        enter_bps: f64,
        /// Bits a second.
        leave_bps: f64,
    },
    /// A planner's margin.
    #[error("margin {0} is not between 1 and 1000")]
    Margin(f64),
    /// A planner measures over some time.
    #[error("a window of no time")]
    Window,
}

/// Checks a prefix's length.
pub(crate) fn check_prefix(address: IpAddr, length: u8) -> Result<(), OutOfRange> {
    let most = if address.is_ipv4() { 32 } else { 128 };
    if length > most { Err(OutOfRange::Prefix { address, length }) } else { Ok(()) }
}

impl Policy {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match self {
            Policy::Share(share) if !(0.0..=1.0).contains(share) => Err(OutOfRange::Share(*share)),
            Policy::Dscps(list) => list.iter().find(|dscp| **dscp > 63).map_or(Ok(()), |dscp| Err(OutOfRange::Dscp(*dscp))),
            Policy::Ues(list) => list.iter().try_for_each(|(address, length)| check_prefix(*address, *length)),
            _ => Ok(()),
        }
    }

    /// Whether the session's entries go on the fast target.
    pub fn wants(&self, session: &PlacementCriteria) -> bool {
        match self {
            Policy::None | Policy::Planned => false,
            Policy::Ues(list) => session.ue_addresses.iter().any(|ue| list.iter().any(|(net, len)| contains(*net, *len, *ue))),
            Policy::Dscps(_) => !session.metered,
            Policy::Share(share) => (spread(session.seid) as f64) < share * (u64::MAX as f64),
        }
    }

    /// Whether a session that is on the fast target may stay there, as it is now. By DSCP its packets run on both targets,
    /// and a rate that it is given must be policed in one place.
    pub(crate) fn keeps(&self, session: &PlacementCriteria) -> bool {
        !matches!(self, Policy::Dscps(_)) || !session.metered
    }
}

/// Whether an address is in a network.
pub(crate) fn contains(net: IpAddr, len: u8, address: IpAddr) -> bool {
    let (net, address, width) = match (net, address) {
        (IpAddr::V4(n), IpAddr::V4(a)) => (u128::from(u32::from(n)), u128::from(u32::from(a)), 32),
        (IpAddr::V6(n), IpAddr::V6(a)) => (u128::from(n), u128::from(a), 128),
        _ => return false,
    };
    len == 0 || (net ^ address) >> (width - u32::from(len)) == 0
}

/// Spreads consecutive numbers over all of u64 (the finaliser of SplitMix64).
fn spread(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(seid: u64, ue: &str, metered: bool) -> PlacementCriteria {
        PlacementCriteria { seid, ue_addresses: vec![ue.parse().unwrap()], metered, ..PlacementCriteria::default() }
    }

    #[test]
    fn each_policy_chooses_what_it_says() {
        let ues = Policy::Ues(vec![("10.45.0.0".parse().unwrap(), 30), ("2001:db8::".parse().unwrap(), 32)]);
        assert!(ues.wants(&session(1, "10.45.0.3", false)) && !ues.wants(&session(1, "10.45.0.4", false)));
        assert!(ues.wants(&session(1, "2001:db8:5::", false)) && !ues.wants(&session(1, "2001:db9::", false)));
        assert!(Policy::Dscps(vec![46]).wants(&session(1, "10.0.0.1", false)));
        assert!(!Policy::Dscps(vec![46]).wants(&session(1, "10.0.0.1", true)));
        let share = Policy::Share(0.3);
        let taken = (1..=10_000).filter(|n| share.wants(&session(*n, "10.0.0.1", false))).count();
        assert!((2800..3200).contains(&taken), "{taken} of 10000");
        assert!(!Policy::Share(0.0).wants(&session(7, "10.0.0.1", false)) && Policy::Share(1.0).wants(&session(7, "10.0.0.1", false)));
    }

    #[test]
    fn wrong_values_are_named() {
        assert_eq!(Policy::Share(1.5).validate(), Err(OutOfRange::Share(1.5)));
        assert!(Policy::Share(f64::NAN).validate().is_err());
        assert_eq!(Policy::Dscps(vec![64]).validate(), Err(OutOfRange::Dscp(64)));
        assert!(Policy::Ues(vec![("10.0.0.0".parse().unwrap(), 33)]).validate().unwrap_err().to_string().contains("33"));
    }
}
