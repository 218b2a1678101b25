//! Why is a session on the target where it is? For operators: nothing is decided here.

use crate::planner::{Admit, Place, Planner, ROOMS};
use crate::policy::{Policy, Standing, Unit};
use crate::split::Split;

/// The reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There is no other target.
    OnlyTarget,
    /// The policy puts it in front.
    Policy,
    /// The policy leaves it on the base target.
    NotChosen,
    /// It is to be in front, and no stage there is in service.
    OutOfService,
    /// It has a rate that would be policed in two places.
    Metered,
    /// It is to be in front, and has no room there, or came while there was none.
    NoRoom,
    /// A rule of the operator's puts it in front.
    Rule,
    /// A rule of the operator's keeps it on the base target.
    RuleBase,
    /// A rule says that it is delay-critical.
    Urgent,
    /// It is in front for its rate.
    Rate,
    /// It has no traffic.
    Idle,
    /// Its rate is below the threshold.
    BelowThreshold,
    /// Others are worth more, or the allowance of table changes is used up.
    Outranked,
    /// A move failed; it is tried again later.
    Retry,
    /// The planner is yet to look at it, as it has just come.
    New,
    /// An operator looks at its packets, which the base target shows. By whom it is looked at [`Split::reason`] does not know: its caller does.
    LookedAt,
}

impl Reason {
    /// All.
    pub const ALL: [Reason; 16] = [
        Reason::OnlyTarget,
        Reason::Policy,
        Reason::NotChosen,
        Reason::OutOfService,
        Reason::Metered,
        Reason::NoRoom,
        Reason::Rule,
        Reason::RuleBase,
        Reason::Urgent,
        Reason::Rate,
        Reason::Idle,
        Reason::BelowThreshold,
        Reason::Outranked,
        Reason::Retry,
        Reason::New,
        Reason::LookedAt,
    ];

    /// The name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Reason::OnlyTarget => "only_target",
            Reason::Policy => "policy",
            Reason::NotChosen => "not_chosen",
            Reason::OutOfService => "out_of_service",
            Reason::Metered => "metered",
            Reason::NoRoom => "no_room",
            Reason::Rule => "rule",
            Reason::RuleBase => "rule_base",
            Reason::Urgent => "urgent",
            Reason::Rate => "rate",
            Reason::Idle => "idle",
            Reason::BelowThreshold => "below_threshold",
            Reason::Outranked => "outranked",
            Reason::Retry => "retry",
            Reason::New => "new",
            Reason::LookedAt => "looked_at",
        }
    }

    /// The same for people.
    pub fn text(self) -> &'static str {
        match self {
            Reason::OnlyTarget => "there is no other target",
            Reason::Policy => "the policy puts it on the fast target",
            Reason::NotChosen => "the policy leaves it on the base target",
            Reason::OutOfService => "the fast target is out of service",
            Reason::Metered => "it has a rate, which the fast target cannot share",
            Reason::NoRoom => "the policy wants it on the fast target, which had no room for it",
            Reason::Rule => "a rule puts it on the fast target",
            Reason::RuleBase => "a rule keeps it on the base target",
            Reason::Urgent => "a rule says that it is delay-critical",
            Reason::Rate => "its rate is worth the fast target's room",
            Reason::Idle => "it has no traffic",
            Reason::BelowThreshold => "its rate is below the threshold",
            Reason::Outranked => "sessions of more worth have the room, or the allowance of table changes is used up",
            Reason::Retry => "a move to the fast target failed; it is tried again later",
            Reason::New => "it has just come, and the planner is yet to look at it",
            Reason::LookedAt => "a trace or capture looks at its packets, which the base target shows",
        }
    }
}

/// Where a planner stands with a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// Why it is where the planner has put it.
    pub reason: Reason,
    /// Packets a second.
    pub pps: f64,
    /// Bits a second.
    pub bps: f64,
    /// How long it has been there.
    pub here_ns: u64,
}

impl Planner {
    /// Where it stands with a session; `None`: it does not know it.
    pub fn reason(&self, id: u64, now_ns: u64) -> Option<Planned> {
        let slot = self.slot(id)?;
        let settings = self.settings();
        let (pps, bps) = slot.rate.now(now_ns, settings.window_ns);
        let needs = slot.needs.entries;
        let reason = match (slot.place, slot.standing) {
            (Place::Fast, Standing::Always) => Reason::Rule,
            (Place::Fast, Standing::Urgent) => Reason::Urgent,
            (Place::Fast, _) => Reason::Rate,
            (Place::Base, Standing::Never) => Reason::RuleBase,
            (Place::Base, _) if needs == [0; ROOMS] => Reason::Metered,
            (Place::Base, _) if self.exceeds_capacity(&needs) => Reason::NoRoom,
            (Place::Base, _) if now_ns < slot.retry_ns => Reason::Retry,
            (Place::Base, Standing::ByRate) => match settings.admit {
                Admit::Nobody => Reason::NotChosen,
                Admit::Above { enter_bps, .. } if bps < enter_bps => Reason::BelowThreshold,
                _ if pps < 1.0 => Reason::Idle,
                _ => Reason::Outranked,
            },
            (Place::Base, _) => Reason::Outranked,
        };
        Some(Planned { reason, pps, bps, here_ns: now_ns.saturating_sub(slot.since_ns) })
    }
}

impl Split {
    /// Why a session is where it is: by the planner if there is one, else by the policy.
    pub fn reason(&self, session: &Unit, planned: Option<&Planned>) -> Reason {
        let in_front = self.is_on_fast(session.id);
        if let Some(planned) = planned {
            return if in_front || !self.is_retired() { planned.reason } else { Reason::OutOfService };
        }
        // With a planner no policy says where a session is.
        if matches!(self.policy(), Policy::Planned) {
            return Reason::New;
        }
        match (in_front, self.policy().wants(session)) {
            (true, _) => Reason::Policy,
            // By DSCP those with a rate are not wanted.
            (false, false) if matches!(self.policy(), Policy::Dscps(..)) && session.metered => Reason::Metered,
            (false, false) => Reason::NotChosen,
            (false, true) if self.is_retired() => Reason::OutOfService,
            (false, true) if !self.may_be_in_front(session) => Reason::Metered,
            (false, true) => Reason::NoRoom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::{Needs, Outcome, Settings};
    use std::collections::BTreeSet;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_planners_reason_is_that_by_which_it_decided() {
        let mut planner = Planner::new(Settings::default(), [2; ROOMS]).unwrap();
        let mut session = |id, standing, entries| {
            let facts = Unit { id, standing, ..Unit::default() };
            planner.session(&facts, Needs { entries: [entries, 0, 0, 0], updates: 1, cycles: 300.0 }, 0);
        };
        session(1, Standing::Always, 1);
        session(2, Standing::Urgent, 1);
        session(3, Standing::ByRate, 1);
        session(4, Standing::Never, 1);
        session(5, Standing::ByRate, 1);
        session(6, Standing::ByRate, 3);
        session(7, Standing::ByRate, 0);
        planner.rate(3, 1000.0, 1e6, S);
        let moves = planner.plan(S);
        assert_eq!(moves.iter().map(|of| of.id).collect::<Vec<_>>(), [1, 2]);
        let of = |planner: &Planner, id| planner.reason(id, S).unwrap().reason;
        let reasons: Vec<Reason> = (1..=7).map(|id| of(&planner, id)).collect();
        let expected = [Reason::Rule, Reason::Urgent, Reason::Outranked, Reason::RuleBase, Reason::Idle, Reason::NoRoom, Reason::Metered];
        assert_eq!(reasons, expected);
        assert_eq!(planner.reason(3, S).unwrap().pps, 1000.0);
        assert!(planner.reason(8, S).is_none());
        planner.moved(&moves[1], Outcome::Failed, S);
        assert_eq!(of(&planner, 2), Reason::Retry);
        // Its room is another's, until it is tried again.
        assert_eq!(planner.plan(S).iter().map(|of| of.id).collect::<Vec<_>>(), [3]);
        assert_eq!(of(&planner, 3), Reason::Rate);
    }

    #[test]
    fn a_session_below_the_threshold_is_told_so() {
        let admit = Admit::Above { enter_bps: 1e6, leave_bps: 5e5 };
        let mut planner = Planner::new(Settings { admit, ..Settings::default() }, [2; ROOMS]).unwrap();
        let facts = Unit { id: 1, ..Unit::default() };
        planner.session(&facts, Needs { entries: [1, 0, 0, 0], updates: 1, cycles: 300.0 }, 0);
        planner.rate(1, 1000.0, 9e5, S);
        assert_eq!(planner.reason(1, S).unwrap().reason, Reason::BelowThreshold);
        planner.rate(1, 1000.0, 2e6, S);
        assert_eq!(planner.reason(1, S).unwrap().reason, Reason::Outranked, "until the next plan");
        planner.plan(S);
        assert_eq!(planner.reason(1, S).unwrap().reason, Reason::Rate);
    }

    #[test]
    fn each_reason_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
    }
}
