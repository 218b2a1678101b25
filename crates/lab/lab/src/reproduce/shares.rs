//! Which share of flows, packets and bytes do heavy hitters have in a second of traffic like the paper's?
//!
//! The paper's captures (CAIDA 2016) need a contract. The traffic here is seeded and synthetic: a population of flows
//! with as many heavy hitters by threshold as a row of its Table 6 counts (`detect::table6`), on a 10 Gbit/s link filled to 80 %.

use super::Args;
use detect::table6::{self, PAPER, Row, THRESHOLDS};
use detect::workload::Workload;
use std::collections::HashMap;

/// How the shares come about, for readers.
pub(super) const RULE: &str = "counted in a second of seeded synthetic traffic whose flows are fitted to Table 6 (counts at 2, 5, 10 and 20 Mbit/s; \
    the tail of light flows fills a 10 Gbit/s link to 80 %), packets of 90, 500 and 1400 bytes; the captures themselves cannot be had";

/// What the flows of at least a threshold have, 0 to 1 each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Of the flows that sent.
    pub flows: f64,
    /// Of the packets.
    pub packets: f64,
    /// Of the bytes.
    pub bytes: f64,
}

/// The thresholds as text.
pub(super) fn thresholds() -> [String; 4] {
    THRESHOLDS.map(|bytes| format!("{} Mbit/s", bytes * 8 / 1_000_000))
}

/// The row of the table for so many flows: of 100,000 or of 500,000, first capture. The paper finds no more change from 500,000 on.
pub(super) fn row(args: &Args, flows: u32) -> &'static Row {
    &PAPER[if flows < 500_000 || args.quick { 0 } else { PAPER.len() / 2 }]
}

/// Shares by [`THRESHOLDS`] in one second of traffic.
pub(super) fn shares(row: &Row, seed: u64) -> [Share; 4] {
    let mut flows: HashMap<u64, (u64, u64)> = HashMap::new();
    Workload::new(&row.config(seed, table6_second())).for_each(|packet| {
        let (packets, bytes) = flows.entry(packet.key).or_default();
        *packets += 1;
        *bytes += u64::from(packet.bytes);
    });
    let sum = |least: u64| {
        let heavy = flows.values().filter(|(_, bytes)| *bytes >= least);
        heavy.fold((0u64, 0u64, 0u64), |(n, packets, bytes), flow| (n + 1, packets + flow.0, bytes + flow.1))
    };
    let all = sum(0);
    let part = |of: u64, all: u64| if all == 0 { 0.0 } else { of as f64 / all as f64 };
    THRESHOLDS.map(|least| {
        let (n, packets, bytes) = sum(least);
        Share { flows: part(n, all.0), packets: part(packets, all.1), bytes: part(bytes, all.2) }
    })
}

/// Heavy hitters are counted by the second.
pub(super) const fn table6_second() -> u64 {
    1_000_000_000
}

/// The link's bytes a second that [`RULE`] speaks of.
pub(super) const LINK_BYTES: f64 = table6::LINK;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_thresholds_have_smaller_shares() {
        let shares = shares(&PAPER[0], 3);
        for pair in shares.windows(2) {
            assert!(pair[0].flows > pair[1].flows && pair[0].packets > pair[1].packets && pair[0].bytes > pair[1].bytes, "{shares:?}");
        }
        assert!(shares[0].bytes > 10.0 * shares[0].flows && shares[3].bytes > 0.01, "few flows, many bytes: {shares:?}");
    }
}
