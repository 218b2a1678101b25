//! The operator's placement rules: the first that matches a session decides.

use crate::policy::{OutOfRange, PlacementCriteria, check_prefix, contains};
use std::net::IpAddr;

/// A network slice (S-NSSAI, TS 23.003 §28.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Slice/service type.
    pub sst: u8,
    /// Slice differentiator, 24 bits; `None`: no value, which messages have as 0xffffff.
    pub sd: Option<u32>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which sessions.
    pub of: Match,
    /// What becomes of them.
    pub then: Then,
}

/// Conditions that must all hold; none: every session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
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

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    /// On the fast target whatever its rate, and never evicted.
    Fast,
    /// Never on the fast target.
    Base,
    /// Delay-critical: on the fast target before all that is there for its rate, and never evicted for it.
    Urgent,
    /// By rate, each packet counting so many times.
    Weight(f64),
}

/// Where a session stands by the rules. Larger goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Never,
    ByRate,
    Urgent,
    Always,
}

impl Rule {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        let Match { ue, teid, dscp, slice, qfi } = self.of;
        if let Some((address, length)) = ue {
            check_prefix(address, length)?;
        }
        if let Some((low, high)) = teid
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
        match self.then {
            Then::Weight(w) if !(w.is_finite() && (0.0..=1e6).contains(&w)) => Err(OutOfRange::Weight(w)),
            _ => Ok(()),
        }
    }
}

impl Match {
    fn holds(&self, session: &PlacementCriteria) -> bool {
        let ue = self.ue.is_none_or(|(net, len)| session.ue_addresses.iter().any(|ue| contains(net, len, *ue)));
        let teid = self.teid.is_none_or(|(low, high)| session.teids.iter().any(|teid| (low..=high).contains(teid)));
        let dscp = self.dscp.is_none_or(|dscp| session.dscps.contains(&dscp));
        let qfi = self.qfi.is_none_or(|qfi| session.qfis.contains(&qfi));
        let of_slice = |of: Slice| session.slice.is_some_and(|s| s.sst == of.sst && (of.sd.is_none() || s.sd == of.sd));
        ue && teid && dscp && qfi && self.slice.is_none_or(of_slice)
    }
}

/// Where a session stands, and the weight of its packets.
pub(crate) fn standing(rules: &[Rule], session: &PlacementCriteria) -> (Standing, f64) {
    match rules.iter().find(|rule| rule.of.holds(session)).map(|rule| rule.then) {
        None => (Standing::ByRate, 1.0),
        Some(Then::Weight(weight)) => (Standing::ByRate, weight),
        Some(Then::Urgent) => (Standing::Urgent, 1.0),
        Some(Then::Fast) => (Standing::Always, 1.0),
        Some(Then::Base) => (Standing::Never, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_whose_conditions_all_hold_decides() {
        let slice = |sd| Some(Slice { sst: 1, sd });
        let rules = [
            Rule { of: Match { ue: Some(("10.0.0.0".parse().unwrap(), 8)), qfi: Some(5), ..Match::default() }, then: Then::Base },
            Rule { of: Match { slice: slice(None), ..Match::default() }, then: Then::Urgent },
            Rule { of: Match { teid: Some((100, 200)), ..Match::default() }, then: Then::Fast },
            Rule { of: Match { dscp: Some(46), ..Match::default() }, then: Then::Weight(8.0) },
        ];
        rules.iter().for_each(|rule| rule.validate().unwrap());
        let ten = PlacementCriteria { ue_addresses: vec!["10.1.2.3".parse().unwrap()], ..PlacementCriteria::default() };
        let of = |facts: PlacementCriteria| standing(&rules, &facts);
        assert_eq!(of(ten.clone()), (Standing::ByRate, 1.0));
        assert_eq!(of(PlacementCriteria { qfis: vec![1, 5], ..ten.clone() }).0, Standing::Never);
        assert_eq!(of(PlacementCriteria { slice: slice(Some(7)), ..ten.clone() }).0, Standing::Urgent);
        assert_eq!(of(PlacementCriteria { slice: slice(Some(7)), qfis: vec![5], ..ten.clone() }).0, Standing::Never);
        assert_eq!(of(PlacementCriteria { teids: vec![7, 200], ..ten.clone() }).0, Standing::Always);
        assert_eq!(of(PlacementCriteria { dscps: vec![46], ..ten }), (Standing::ByRate, 8.0));
        let exactly = Match { slice: slice(Some(7)), ..Match::default() };
        assert!(!exactly.holds(&PlacementCriteria { slice: slice(None), ..PlacementCriteria::default() }));
    }

    #[test]
    fn wrong_values_are_named() {
        let rule = |of| Rule { of, then: Then::Fast }.validate().unwrap_err().to_string();
        assert!(rule(Match { ue: Some(("10.0.0.0".parse().unwrap(), 33)), ..Match::default() }).contains("33"));
        assert!(rule(Match { teid: Some((2, 1)), ..Match::default() }).contains("2 to 1"));
        assert!(rule(Match { dscp: Some(64), ..Match::default() }).contains("64"));
        assert!(rule(Match { qfi: Some(64), ..Match::default() }).contains("QFI 64"));
        assert!(rule(Match { slice: Some(Slice { sst: 1, sd: Some(0x100_0000) }), ..Match::default() }).contains("0x1000000"));
        for weight in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(Rule { of: Match::default(), then: Then::Weight(weight) }.validate().is_err());
        }
    }
}
