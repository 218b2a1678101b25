//! `[split]`: the fast target, and what runs on it.

use super::Prefix;
use crate::config::placement::{HeavyConfig, Plan, RuleConfig};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `[split]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The fast target in front of x86; none: x86 alone.
    pub fast: Option<FastTarget>,
    /// Entries that each session table of the fast target holds.
    pub capacity: Option<u64>,
    /// The chip whose model `asic` is: `tofino1`, `tofino2`, `nfp4000`, or a description (a .toml file). It then holds `capacity`
    /// sessions, or as many as its own program has room for; without a chip it is a table size and nothing else.
    pub chip: Option<String>,
    /// The folder of a BPF file system in which XDP's program stays while the daemon is away. Default: it leaves with the daemon.
    pub keep: Option<PathBuf>,
    /// Which sessions or packets it takes.
    #[serde(default)]
    pub policy: Policy,
    /// What would leave the fast target by a network instance leaves it by another one.
    #[serde(default)]
    pub egress: BTreeMap<String, String>,
    /// Where sessions' rates come from, for the policy `planned`.
    #[serde(default)]
    pub rates: Rates,
    /// These are for the policy `planned`: see [`Plan`].
    pub rules: Option<Vec<RuleConfig>>,
    /// As above.
    pub heavy: Option<HeavyConfig>,
    /// As above.
    pub updates_per_second: Option<u32>,
    /// As above.
    pub min_stay_ms: Option<u64>,
    /// As above.
    pub window_ms: Option<u64>,
    /// As above.
    pub margin: Option<f64>,
}

/// Changes of XDP's tables in any second, if the configuration does not say how many: about a thousand sessions come to it in that time,
/// also after a restart. A tick makes 240 of them at most, some milliseconds that N4 waits for.
const XDP_UPDATES_PER_SECOND: u32 = 4000;

impl Split {
    /// Names that the program is compiled with.
    pub fn defines(&self) -> Vec<(String, String)> {
        if self.rates == Rates::Cells { vec![("HEAVY".into(), "1".into())] } else { Vec::new() }
    }

    /// How sessions are moved, where the policy is `planned`.
    pub fn plan(&self) -> Plan {
        Plan {
            rules: self.rules.clone(),
            heavy: self.heavy.clone(),
            updates_per_second: self.updates_per_second,
            min_stay_ms: self.min_stay_ms,
            window_ms: self.window_ms,
            margin: self.margin,
        }
    }

    /// The planner's, where the policy is `planned`.
    pub(crate) fn planner_settings(&self) -> offload::planner::Settings {
        let settings = self.plan().settings();
        match (self.fast, self.updates_per_second) {
            (Some(FastTarget::Xdp), None) => offload::planner::Settings { updates_per_second: XDP_UPDATES_PER_SECOND, ..settings },
            _ => settings,
        }
    }
}

/// `split.fast`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FastTarget {
    /// The model of a switch chip.
    Asic,
    /// The kernel's XDP hook on the ports' interfaces.
    Xdp,
}

/// `split.rates`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Rates {
    /// Counters of the sessions' URRs, read now and then.
    #[default]
    Counters,
    /// The program's detector: recent bytes of each PDR.
    Cells,
}

/// `split.policy`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Policy {
    /// Nothing on the fast target.
    #[default]
    None,
    /// Sessions of UEs in these networks.
    Ues(Vec<Prefix>),
    /// Packets of these DSCPs.
    Dscps(Vec<u8>),
    /// This share of the sessions.
    Share(f64),
    /// Those that rules and rates say, moved while they live.
    Planned,
}

impl Policy {
    /// The policy in the terms of the crate `offload`.
    pub fn to_offload(&self) -> offload::Policy {
        match self {
            Policy::None => offload::Policy::None,
            Policy::Ues(_) => offload::Policy::Chosen,
            Policy::Dscps(list) => offload::Policy::Dscps(list.clone(), upf::dscp::user_dscp),
            Policy::Share(share) => offload::Policy::Share(*share),
            Policy::Planned => offload::Policy::Planned,
        }
    }
}
