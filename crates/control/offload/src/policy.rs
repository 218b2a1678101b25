//! Static policies: which sessions, or which packets, the fast target takes.

/// What is put on the fast target.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Nothing.
    None,
    /// Sessions that their owner has chosen: [`Unit::chosen`].
    Chosen,
    /// Packets of these DSCPs, which the function finds in them. Every session is placed, but for those with meters: a rate is policed
    /// in one place.
    Dscps(Vec<u8>, DscpOf),
    /// This share of the sessions, 0 to 1, by a hash of their number.
    Share(f64),
    /// What a planner moves there, and takes away, while they live.
    Planned,
}

/// The DSCP by which a frame is placed; `None`: it has none.
pub type DscpOf = fn(&[u8]) -> Option<u8>;

/// A unit of placement, as policies and planner see it. What it is, its owner knows: a user's session, for instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its owner's number for it; 0: of none.
    pub id: u64,
    /// Whether any of its rules has a rate.
    pub metered: bool,
    /// Whether it is one of those that [`Policy::Chosen`] puts on the fast target.
    pub chosen: bool,
    /// Where it stands by the operator's rules, for a planner.
    pub standing: Standing,
    /// So many times each of its packets counts, for a planner: 0 to 1,000,000.
    pub weight: f64,
    /// Whether this change releases its buffered packets: a target ahead of the engine must not let others overtake them.
    pub wakes: bool,
}

impl Default for Unit {
    fn default() -> Unit {
        Unit { id: 0, metered: false, chosen: false, standing: Standing::ByRate, weight: 1.0, wakes: false }
    }
}

/// Where a session stands by the operator's rules. Larger goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Never on the fast target.
    Never,
    /// There for its rate, as far as there is room.
    ByRate,
    /// Delay-critical: there before all that is there for its rate, and never evicted for it.
    Urgent,
    /// Always there, whatever its rate, and never evicted.
    Always,
}

/// A value of a policy or a planner's settings that is out of range: the operator's fault.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OutOfRange {
    /// Of all sessions.
    #[error("share {0} is not between 0 and 1")]
    Share(f64),
    /// It has 6 bits.
    #[error("DSCP {0} exceeds 63")]
    Dscp(u8),
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

impl Policy {
    /// The name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Policy::None => "none",
            Policy::Chosen => "chosen",
            Policy::Dscps(..) => "dscps",
            Policy::Share(_) => "share",
            Policy::Planned => "planned",
        }
    }

    /// Checks ranges.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match self {
            Policy::Share(share) if !(0.0..=1.0).contains(share) => Err(OutOfRange::Share(*share)),
            Policy::Dscps(list, _) => list.iter().find(|dscp| **dscp > 63).map_or(Ok(()), |dscp| Err(OutOfRange::Dscp(*dscp))),
            _ => Ok(()),
        }
    }

    /// Whether the session's entries go on the fast target.
    pub fn wants(&self, session: &Unit) -> bool {
        match self {
            Policy::None | Policy::Planned => false,
            Policy::Chosen => session.chosen,
            Policy::Dscps(..) => !session.metered,
            Policy::Share(share) => (spread(session.id) as f64) < share * (u64::MAX as f64),
        }
    }

    /// Whether a session that is on the fast target may stay there, as it is now. By DSCP its packets run on both targets,
    /// and a rate that it is given must be policed in one place.
    pub(crate) fn keeps(&self, session: &Unit) -> bool {
        !matches!(self, Policy::Dscps(..)) || !session.metered
    }
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

    fn session(id: u64, metered: bool) -> Unit {
        Unit { id, metered, ..Unit::default() }
    }

    #[test]
    fn each_policy_chooses_what_it_says() {
        assert!(!Policy::Chosen.wants(&session(1, false)));
        assert!(Policy::Chosen.wants(&Unit { chosen: true, ..session(1, true) }));
        let dscps = Policy::Dscps(vec![46], |_| None);
        assert!(dscps.wants(&session(1, false)) && !dscps.wants(&session(1, true)));
        let share = Policy::Share(0.3);
        let taken = (1..=10_000).filter(|n| share.wants(&session(*n, false))).count();
        assert!((2800..3200).contains(&taken), "{taken} of 10000");
        assert!(!Policy::Share(0.0).wants(&session(7, false)) && Policy::Share(1.0).wants(&session(7, false)));
    }

    #[test]
    fn wrong_values_are_named() {
        assert_eq!(Policy::Share(1.5).validate(), Err(OutOfRange::Share(1.5)));
        assert!(Policy::Share(f64::NAN).validate().is_err());
        assert_eq!(Policy::Dscps(vec![64], |_| None).validate(), Err(OutOfRange::Dscp(64)));
    }
}
