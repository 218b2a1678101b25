//! What came against what was expected.

use super::{Comparison, Pattern};
use base::PortId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Something that a script expected and that did not happen, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the script that says so; 0 for its end.
    pub line: usize,
    /// What happened.
    pub what: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "at the end: {}", self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

/// Outputs and expectations of each port, both in order, that have not met yet.
#[derive(Default)]
pub(super) struct Ledger {
    expected: BTreeMap<PortId, VecDeque<(usize, Pattern)>>,
    came: BTreeMap<PortId, VecDeque<(usize, Vec<u8>)>>,
    /// Ports on which anything may leave.
    any: BTreeSet<PortId>,
    pub failures: Vec<Failure>,
}

impl Ledger {
    /// A packet left; `line` is that of the packet that caused it.
    pub(super) fn output(&mut self, line: usize, port: PortId, bytes: Vec<u8>) {
        self.came.entry(port).or_default().push_back((line, bytes));
    }

    /// A packet is expected; the script may say so before or after it is sent.
    pub(super) fn expect(&mut self, line: usize, port: PortId, pattern: Option<Pattern>) {
        match pattern {
            Some(p) => self.expected.entry(port).or_default().push_back((line, p)),
            None => {
                self.any.insert(port);
            }
        }
    }

    /// Compares everything so far; what is left over is a failure.
    pub(super) fn settle(&mut self) {
        let mut expected = std::mem::take(&mut self.expected);
        for (port, came) in std::mem::take(&mut self.came) {
            let mut wanted = expected.remove(&port).unwrap_or_default();
            for (sent, bytes) in came {
                match wanted.pop_front() {
                    Some((line, pattern)) => {
                        if let Err(what) = pattern.matches(&bytes) {
                            self.failures.push(Failure { line, what: format!("port {port}: {what}\n  got {}", hex(&bytes)) });
                        }
                    }
                    None if self.any.contains(&port) => {}
                    None => {
                        let what = format!("unexpected packet on port {port}: {}", hex(&bytes));
                        self.failures.push(Failure { line: sent, what });
                    }
                }
            }
            expected.insert(port, wanted);
        }
        for (port, wanted) in expected {
            for (line, _) in wanted {
                self.failures.push(Failure { line, what: format!("no packet on port {port}") });
            }
        }
    }
}

impl Pattern {
    /// Whether `bytes` begin with the pattern, and end with it if they must.
    pub fn matches(&self, bytes: &[u8]) -> Result<(), String> {
        let digits = 2 * bytes.len();
        if digits < self.nibbles.len() || self.exact_length && digits > self.nibbles.len() {
            return Err(format!("{} bytes, expected {}", bytes.len(), self.nibbles.len().div_ceil(2)));
        }
        for (i, wanted) in self.nibbles.iter().enumerate() {
            let got = if i % 2 == 0 { bytes[i / 2] >> 4 } else { bytes[i / 2] & 15 };
            if wanted.is_some_and(|w| w != got) {
                return Err(format!("byte {} differs", i / 2));
            }
        }
        Ok(())
    }
}

impl Comparison {
    /// Whether `a` compares so with `b`.
    pub fn holds<N: PartialOrd>(self, a: N, b: N) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
