//! `[split]`: keys of planned placement, and how they are read.

use super::Prefix;
use offload::Standing;
use offload::planner::{Admit, Settings};
use serde::Deserialize;
use upf::criteria::{self, Criteria, Slice};

/// The program's register of recent bytes, by PDR number.
pub(crate) const RECENT_BYTES: &str = "recent";

/// `[split]`: keys of `policy = "planned"`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The first that matches a session decides; without a match its rate does.
    pub rules: Option<Vec<RuleConfig>>,
    /// Only sessions above a rate come for their rate; `"none"`: none do.
    pub heavy: Option<HeavyConfig>,
    /// Changes of the fast target's tables in any second.
    pub updates_per_second: Option<u32>,
    /// Milliseconds that a session stays at least once it has moved.
    pub min_stay_ms: Option<u64>,
    /// Milliseconds over which rates are averaged.
    pub window_ms: Option<u64>,
    /// What a session must be worth more than those that it displaces, as a factor.
    pub margin: Option<f64>,
}

/// `split.heavy`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected \"none\" or { above_mbps = 10 }")]
pub enum HeavyConfig {
    /// `"none"`.
    Word(NoHeavy),
    /// Thresholds.
    Above(HeavyAbove),
}

/// `"none"`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum NoHeavy {
    /// Nobody comes for a rate.
    None,
}

/// Thresholds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HeavyAbove {
    /// They come above this.
    above_mbps: f64,
    /// They leave below this; default: half of it.
    leave_mbps: Option<f64>,
}

/// One of `split.rules`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    ue: Option<Prefix>,
    /// One, or first and last.
    teid: Option<TeidRange>,
    dscp: Option<u8>,
    /// `"1"` or `"1-010203"`.
    slice: Option<String>,
    qfi: Option<u8>,
    then: ThenConfig,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a TEID or [first, last]")]
enum TeidRange {
    One(u32),
    Range([u32; 2]),
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ThenConfig {
    Fast,
    Base,
    Urgent,
    Weight(f64),
}

/// What is wrong with a plan: the operator's fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The key means something for planned placement only.
    #[error("{0} is for policy = \"planned\"")]
    NotPlanned(&'static str),
    /// A slice that cannot be read, of a rule.
    #[error("rule {rule}: slice `{text}` is not a type with or without a differentiator, such as 1 or 1-010203")]
    Slice {
        /// The rule, from 1.
        rule: usize,
        /// What it says.
        text: String,
    },
    /// A rule's criterion.
    #[error("rule {rule}: {fault}")]
    Criterion {
        /// The rule, from 1.
        rule: usize,
        /// The value.
        fault: criteria::OutOfRange,
    },
    /// A rule's weight.
    #[error("rule {rule}: weight {weight} is not between 0 and 1000000")]
    Weight {
        /// The rule, from 1.
        rule: usize,
        /// The value.
        weight: f64,
    },
    /// The program has no detector.
    #[error("the program has no register `{RECENT_BYTES}` of 64 bits, as p4/include/heavy.p4 has")]
    NoCells,
    /// Another value.
    #[error(transparent)]
    OutOfRange(#[from] offload::OutOfRange),
}

impl PlanError {
    /// The key of the configuration, below `split`, that has the value.
    pub fn key(&self) -> &'static str {
        match self {
            PlanError::NotPlanned(key) => key,
            PlanError::Slice { .. } | PlanError::Criterion { .. } | PlanError::Weight { .. } => "rules",
            PlanError::NoCells => "rates",
            PlanError::OutOfRange(offload::OutOfRange::Heavy { .. }) => "heavy",
            PlanError::OutOfRange(offload::OutOfRange::Window) => "window_ms",
            PlanError::OutOfRange(_) => "margin",
        }
    }
}

impl Plan {
    /// Checks it; `planned`: whether placement is.
    pub fn validate(&self, planned: bool) -> Result<(), PlanError> {
        if !planned && *self != Plan::default() {
            let Plan { rules, heavy, updates_per_second, min_stay_ms, window_ms, margin } = self;
            let keys = [
                ("rules", rules.is_some()),
                ("heavy", heavy.is_some()),
                ("updates_per_second", updates_per_second.is_some()),
                ("min_stay_ms", min_stay_ms.is_some()),
                ("window_ms", window_ms.is_some()),
                ("margin", margin.is_some()),
            ];
            let key = keys.iter().find(|(_, set)| *set).map_or("", |(key, _)| key);
            return Err(PlanError::NotPlanned(key));
        }
        self.rules()?;
        Ok(self.settings().validate()?)
    }

    /// The rules, their ranges checked.
    pub(crate) fn rules(&self) -> Result<Vec<Rule>, PlanError> {
        self.rules.iter().flatten().enumerate().map(|(i, rule)| rule.to_rule(i + 1)).collect()
    }

    pub(crate) fn settings(&self) -> Settings {
        let usual = Settings::default();
        let ms = |ms: u64| ms.saturating_mul(1_000_000);
        let admit = match &self.heavy {
            None => Admit::Anybody,
            Some(HeavyConfig::Word(NoHeavy::None)) => Admit::Nobody,
            Some(HeavyConfig::Above(HeavyAbove { above_mbps, leave_mbps })) => {
                Admit::Above { enter_bps: above_mbps * 1e6, leave_bps: leave_mbps.unwrap_or(above_mbps / 2.0) * 1e6 }
            }
        };
        Settings {
            admit,
            window_ns: self.window_ms.map_or(usual.window_ns, ms),
            margin: self.margin.unwrap_or(usual.margin),
            min_stay_ns: self.min_stay_ms.map_or(usual.min_stay_ns, ms),
            updates_per_second: self.updates_per_second.unwrap_or(usual.updates_per_second),
        }
    }
}

impl RuleConfig {
    /// `number` is the rule's own, from 1.
    fn to_rule(&self, number: usize) -> Result<Rule, PlanError> {
        let teid = self.teid.as_ref().map(|teid| match teid {
            TeidRange::One(teid) => (*teid, *teid),
            TeidRange::Range([low, high]) => (*low, *high),
        });
        let read = |text: &str| slice(text).ok_or_else(|| PlanError::Slice { rule: number, text: text.to_owned() });
        let slice = self.slice.as_deref().map(read).transpose()?;
        let of = Criteria { ue: self.ue.map(Prefix::network), teid, dscp: self.dscp, slice, qfi: self.qfi };
        of.validate().map_err(|fault| PlanError::Criterion { rule: number, fault })?;
        let (standing, weight) = match self.then {
            ThenConfig::Fast => (Standing::Always, 1.0),
            ThenConfig::Base => (Standing::Never, 1.0),
            ThenConfig::Urgent => (Standing::Urgent, 1.0),
            ThenConfig::Weight(weight) if (0.0..=1e6).contains(&weight) => (Standing::ByRate, weight),
            ThenConfig::Weight(weight) => return Err(PlanError::Weight { rule: number, weight }),
        };
        Ok(Rule { of, standing, weight })
    }
}

/// One of the operator's rules, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Which sessions.
    pub(crate) of: Criteria,
    pub(crate) standing: Standing,
    /// Of each of their packets.
    pub(crate) weight: f64,
}

/// `1` or `1-010203`, as SMFs' configurations write it: type, and six hexadecimal digits.
pub(crate) fn slice(text: &str) -> Option<Slice> {
    let (sst, sd) = text.split_once('-').map_or((text, None), |(sst, sd)| (sst, Some(sd)));
    let sd = match sd {
        Some(sd) => Some(u32::from_str_radix(sd, 16).ok().filter(|_| sd.len() == 6)?),
        None => None,
    };
    Some(Slice { sst: sst.parse().ok()?, sd })
}
