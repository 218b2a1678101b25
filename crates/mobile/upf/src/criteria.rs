//! Which sessions does an operator mean? Criteria by UE address, TEID, DSCP, slice and QFI, as rules of placement have them.

use crate::plane::SessionInfo;
use std::net::IpAddr;

/// A network slice (S-NSSAI, TS 23.003 §28.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator, 24 bits; `None`: no value, which messages have as 0xffffff.
    pub sd: Option<u32>,
}

/// Conditions that must all hold; none: every session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// A UE address of the session is in this prefix (address, prefix length).
    pub ue: Option<(IpAddr, u8)>,
    /// A tunnel endpoint of the session is in this range, both ends included.
    pub teid: Option<(u32, u32)>,
    /// Its tunnels are marked with this DSCP.
    pub dscp: Option<u8>,
    /// It is of this slice; without a differentiator: of any slice of this type.
    pub slice: Option<Slice>,
    /// It has a QoS flow of this identifier. Where QFIs are standardised 5QIs (TS 23.501 §5.7.1.1), it is the 5QI.
    pub qfi: Option<u8>,
}

/// A value of criteria that is out of range: the operator's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfRange {
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
    #[error("DSCP {0} exceeds 63")]
    Dscp(u8),
    /// It has 6 bits.
    #[error("QFI {0} exceeds 63")]
    Qfi(u8),
    /// Of a slice.
    #[error("slice differentiator {0:#x} is none: it has 24 bits, not all ones")]
    Differentiator(u32),
}

impl Criteria {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        let Criteria { ue, teid, dscp, slice, qfi } = self;
        if let Some((address, length)) = *ue {
            let most = if address.is_ipv4() { 32 } else { 128 };
            if length > most {
                return Err(OutOfRange::Prefix { address, length });
            }
        }
        if let Some((low, high)) = *teid
            && low > high
        {
            return Err(OutOfRange::Teids(low, high));
        }
        if let Some(dscp) = dscp.filter(|d| *d > 63) {
            return Err(OutOfRange::Dscp(dscp));
        }
        if let Some(qfi) = qfi.filter(|q| *q > 63) {
            return Err(OutOfRange::Qfi(qfi));
        }
        if let Some(sd) = slice.and_then(|s| s.sd).filter(|sd| *sd >= 0xff_ffff) {
            return Err(OutOfRange::Differentiator(sd));
        }
        Ok(())
    }

    /// Whether the session is meant, by criteria that were validated.
    pub fn hold_for(&self, session: &SessionInfo) -> bool {
        let in_prefix = |(net, len)| {
            session.ue_ipv4s.iter().any(|ue| contains(net, len, (*ue).into()))
                || session.ue_ipv6s.iter().any(|ue| contains(net, len, (*ue).into()))
        };
        let of_slice = |of: Slice| session.s_nssai.is_some_and(|(sst, sd)| sst == of.sst && (of.sd.is_none() || sd == of.sd));
        self.ue.is_none_or(in_prefix)
            && self.teid.is_none_or(|(low, high)| session.teids.iter().any(|teid| (low..=high).contains(teid)))
            && self.dscp.is_none_or(|dscp| session.dscps.contains(&dscp))
            && self.qfi.is_none_or(|qfi| session.qfis.contains(&qfi))
            && self.slice.is_none_or(of_slice)
    }
}

/// Whether an address is in a network.
fn contains(net: IpAddr, len: u8, address: IpAddr) -> bool {
    let (net, address, width) = match (net, address) {
        (IpAddr::V4(n), IpAddr::V4(a)) => (u128::from(u32::from(n)), u128::from(u32::from(a)), 32),
        (IpAddr::V6(n), IpAddr::V6(a)) => (u128::from(n), u128::from(a), 128),
        _ => return false,
    };
    len == 0 || (net ^ address) >> (width - u32::from(len)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ue(net: &str, length: u8) -> Criteria {
        Criteria { ue: Some((net.parse().unwrap(), length)), ..Criteria::default() }
    }

    #[test]
    fn a_session_is_meant_if_all_criteria_hold() {
        let slice = |sd| Criteria { slice: Some(Slice { sst: 1, sd }), ..Criteria::default() };
        let ten = SessionInfo { ue_ipv4s: vec!["10.1.2.3".parse().unwrap()], ..SessionInfo::default() };
        assert!(Criteria::default().hold_for(&SessionInfo::default()) && Criteria::default().hold_for(&ten));
        let both = Criteria { qfi: Some(5), ..ue("10.0.0.0", 8) };
        assert!(!both.hold_for(&ten) && both.hold_for(&SessionInfo { qfis: vec![1, 5], ..ten.clone() }));
        assert!(!both.hold_for(&SessionInfo { qfis: vec![1, 5], ..SessionInfo::default() }));
        let of_slice = |sd| SessionInfo { s_nssai: Some((1, sd)), ..SessionInfo::default() };
        assert!(slice(None).hold_for(&of_slice(Some(7))) && slice(Some(7)).hold_for(&of_slice(Some(7))));
        assert!(!slice(Some(7)).hold_for(&of_slice(None)) && !slice(None).hold_for(&ten));
        let teids = Criteria { teid: Some((100, 200)), ..Criteria::default() };
        assert!(teids.hold_for(&SessionInfo { teids: vec![7, 200], ..ten.clone() }));
        assert!(!teids.hold_for(&SessionInfo { teids: vec![7, 201], ..ten.clone() }));
        let dscp = Criteria { dscp: Some(46), ..Criteria::default() };
        assert!(dscp.hold_for(&SessionInfo { dscps: vec![46], ..ten.clone() }) && !dscp.hold_for(&ten));
    }

    #[test]
    fn a_prefix_holds_addresses_of_its_own_version() {
        let v4 = |a: &str| SessionInfo { ue_ipv4s: vec![a.parse().unwrap()], ..SessionInfo::default() };
        let v6 = |a: &str| SessionInfo { ue_ipv6s: vec![a.parse().unwrap()], ..SessionInfo::default() };
        assert!(ue("10.45.0.0", 30).hold_for(&v4("10.45.0.3")) && !ue("10.45.0.0", 30).hold_for(&v4("10.45.0.4")));
        assert!(ue("2001:db8::", 32).hold_for(&v6("2001:db8:5::")) && !ue("2001:db8::", 32).hold_for(&v6("2001:db9::")));
        assert!(ue("0.0.0.0", 0).hold_for(&v4("10.45.0.3")) && !ue("0.0.0.0", 0).hold_for(&v6("2001:db8::")));
    }

    #[test]
    fn wrong_values_are_named() {
        let fault = |of: Criteria| of.validate().unwrap_err().to_string();
        assert!(fault(ue("10.0.0.0", 33)).contains("33"));
        assert!(fault(Criteria { teid: Some((2, 1)), ..Criteria::default() }).contains("2 to 1"));
        assert!(fault(Criteria { dscp: Some(64), ..Criteria::default() }).contains("64"));
        assert!(fault(Criteria { qfi: Some(64), ..Criteria::default() }).contains("QFI 64"));
        let sd = Some(Slice { sst: 1, sd: Some(0x100_0000) });
        assert!(fault(Criteria { slice: sd, ..Criteria::default() }).contains("0x1000000"));
    }
}
