//! Whose rules step aside? Those of a UE that has sent nothing for some time: it may have become idle, or its session may have ended, of which the switch hears nothing.
//!
//! A packet for an idle UE must come to the foreign UPF, which buffers it and has the UE paged (TS 23.502 §4.2.3.3). A rule would send it to a base station that does
//! not know the tunnel any more. What the UE sends tells that it is there; what is sent to it does not, since others go on sending. A UE of which only downlink rules are
//! here is judged by those.

use crate::book::{Book, Installed};
use crate::rule::Rule;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;

/// What was last seen of the UEs with rules.
#[derive(Debug)]
pub struct Idle {
    after: Duration,
    ues: HashMap<Ipv4Addr, Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Packets of its uplink rules, and of all of its rules.
    uplink: Option<u64>,
    all: u64,
    /// The number of its newest rule: one that is added is a sign of life.
    newest: u64,
    since: Duration,
}

impl Seen {
    fn packets(&self) -> u64 {
        self.uplink.unwrap_or(self.all)
    }
}

impl Idle {
    /// Rules step aside after so long.
    pub fn new(after: Duration) -> Idle {
        Idle { after, ues: HashMap::new() }
    }

    /// Numbers of the rules whose UEs have been silent for too long. `packets` is what a rule has counted.
    pub fn look(&mut self, book: &Book, packets: impl Fn(&Installed) -> u64, now: Duration) -> Vec<u64> {
        let mut ues: HashMap<Ipv4Addr, Seen> = HashMap::with_capacity(self.ues.len());
        for installed in book.rules() {
            let count = packets(installed);
            let seen = ues.entry(ue(&installed.rule)).or_default();
            seen.all += count;
            if matches!(installed.rule, Rule::Decap(_)) {
                seen.uplink = Some(seen.uplink.unwrap_or(0) + count);
            }
            seen.newest = seen.newest.max(installed.id);
        }
        for (ue, seen) in &mut ues {
            let before = self.ues.get(ue).filter(|before| (before.packets(), before.newest) == (seen.packets(), seen.newest));
            seen.since = before.map_or(now, |before| before.since);
        }
        self.ues = ues;
        let is_silent = |installed: &&Installed| now.saturating_sub(self.ues[&ue(&installed.rule)].since) >= self.after;
        book.rules().filter(is_silent).map(|installed| installed.id).collect()
    }
}

fn ue(rule: &Rule) -> Ipv4Addr {
    match rule {
        Rule::Encap(encap) => encap.ue,
        Rule::Decap(decap) => decap.ue,
    }
}
