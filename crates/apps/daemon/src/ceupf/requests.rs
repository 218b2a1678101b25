//! What the daemon of a switch is asked about its rules, and what it answers.

use crate::manage::report::Count;
use crate::manage::socket::Refused;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest request: a file of 131,072 rules in their longest form is below.
pub const MAX_REQUEST: u64 = 32 << 20;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// New rules, all or none.
    Add {
        /// As text.
        rules: Vec<RuleLine>,
    },
    /// Rules go, all or none.
    Delete {
        /// Which: by match or by `id=`.
        rules: Vec<RuleLine>,
    },
    /// All rules with their counts.
    List {},
}

/// A line of text, and where it stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleLine {
    /// From 1.
    pub line: u64,
    /// The rule.
    pub text: String,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// It is done.
    Changed {
        /// The rules that came or went, with what they had counted.
        rules: Vec<RuleRow>,
    },
    /// The rules.
    Rules {
        /// In the order of their numbers.
        rules: Vec<RuleRow>,
        /// Packets by path.
        ways: BTreeMap<String, Count>,
        /// Rules that fit.
        capacity: u32,
        /// Packets that the switch itself has lost, by port or reason.
        #[serde(default)]
        lost: BTreeMap<String, u64>,
    },
    /// Nothing was done.
    Error {
        /// The line at fault.
        line: Option<u64>,
        /// Why.
        message: String,
    },
}

/// A rule that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRow {
    /// Its number.
    pub id: u64,
    /// As text.
    pub rule: String,
    /// Packets that it took.
    pub packets: u64,
    /// Bytes of their frames as received.
    pub bytes: u64,
}

impl From<Refused> for Reply {
    fn from(Refused(message): Refused) -> Reply {
        Reply::Error { line: None, message }
    }
}
