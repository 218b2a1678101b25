//! `[[share]]`: what a session gets of the queues that it shares with others.

use super::{Fault, slice};
use pfcp::rules::SessionRules;
use serde::Deserialize;

/// `[[share]]`: sessions whose packets have a weight of their own where they wait for a port. What is in none has weight 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// S-NSSAI of the session: type, with or without differentiator.
    pub s_nssai: Option<String>,
    /// Network instance of one of the session's PDRs or FARs.
    pub network_instance: Option<String>,
    /// QoS flows of which the session has one, at least.
    #[serde(default)]
    pub qfi: Vec<u8>,
    /// Share of the queue.
    pub weight: Option<u16>,
    /// Instead: one for each so many kbit/s of the session's MBR.
    pub kbps_per_weight: Option<u64>,
}

const MOST_WEIGHT: u16 = engine::MOST_WEIGHT;

impl Share {
    fn matches(&self, rules: &SessionRules) -> bool {
        let has_flow = || rules.qers.values().filter_map(|qer| qer.qfi).any(|qfi| self.qfi.contains(&qfi));
        slice::is_of(self.s_nssai.as_deref(), self.network_instance.as_deref(), rules) && (self.qfi.is_empty() || has_flow())
    }

    fn weight(&self, rules: &SessionRules) -> u16 {
        let Some(kbps) = self.kbps_per_weight else { return self.weight.unwrap_or(1) };
        let most = u64::from(MOST_WEIGHT);
        mbr_kbps(rules).map_or(1, |mbr| mbr.div_ceil(kbps.max(1)).clamp(1, most) as u16)
    }
}

/// The Session-AMBR (TS 23.501 §5.7.1.8), which PFCP does not name: the highest MBR of QERs without a guaranteed rate, since no flow's is above it. Of both directions
/// the larger one, so that a session has one weight.
fn mbr_kbps(rules: &SessionRules) -> Option<u64> {
    rules.qers.values().filter(|qer| qer.gbr_kbps.is_none()).filter_map(|qer| qer.mbr_kbps).map(|(up, down)| up.max(down)).max()
}

/// A session's weight: that of the first block that it matches, or 1.
pub(crate) fn weight(shares: &[Share], rules: &SessionRules) -> u16 {
    shares.iter().find(|share| share.matches(rules)).map_or(1, |share| share.weight(rules))
}

/// All blocks. `most_kbps`: the highest rate that there may be.
pub(super) fn validate(shares: &[Share], most_kbps: u64) -> Result<(), Fault> {
    for (i, share) in shares.iter().enumerate() {
        let fault = |name: &str, what: String| Err(Fault::new(format!("share[{i}].{name}"), what));
        if share.weight.is_some() == share.kbps_per_weight.is_some() {
            return fault("weight", "expected either `weight` or `kbps_per_weight`".into());
        }
        if share.weight.is_some_and(|weight| !(1..=MOST_WEIGHT).contains(&weight)) {
            return fault("weight", format!("expected 1 to {MOST_WEIGHT}"));
        }
        if share.kbps_per_weight.is_some_and(|kbps| !(1..=most_kbps).contains(&kbps)) {
            return fault("kbps_per_weight", format!("expected 1 to {most_kbps} kbit/s"));
        }
        if let Some(wrong) = slice::wrong_s_nssai(share.s_nssai.as_deref()) {
            return fault("s_nssai", wrong);
        }
        if let Some(at) = share.qfi.iter().position(|qfi| !(1..=63).contains(qfi)) {
            return fault(&format!("qfi[{at}]"), "expected 1 to 63".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfcp::rules::Qer;

    fn share(text: &str) -> Share {
        toml::from_str(text).expect("a block")
    }

    #[test]
    fn the_first_block_that_a_session_matches_gives_its_weight() {
        let qer = |mbr_kbps, gbr_kbps, qfi| Qer { mbr_kbps, gbr_kbps, qfi, ..Qer::default() };
        let mut rules = SessionRules { s_nssai: Some((1, Some(7))), ..SessionRules::default() };
        let shares = [
            share("s_nssai = \"2\"\nweight = 7"),
            share("network_instance = \"business\"\nweight = 8"),
            share("qfi = [5, 6]\nweight = 9"),
            share("s_nssai = \"1\"\nkbps_per_weight = 1000"),
            share("weight = 3"),
        ];
        assert_eq!(weight(&shares, &rules), 1, "no MBR is known");
        assert_eq!(weight(&[], &rules), 1);
        // A flow's own MBR is below the session's; a guaranteed flow's is none of it.
        rules.qers.insert(1, qer(Some((2_000, 20_001)), None, Some(9)));
        rules.qers.insert(2, qer(Some((5_000, 1_000)), None, None));
        rules.qers.insert(3, qer(Some((90_000, 90_000)), Some((50, 50)), Some(1)));
        assert_eq!(weight(&shares, &rules), 21);
        rules.qers.insert(2, qer(Some((u64::MAX, 0)), None, None));
        assert_eq!(weight(&shares, &rules), MOST_WEIGHT);
        rules.qers.insert(4, qer(None, None, Some(6)));
        assert_eq!(weight(&shares, &rules), 9);
        assert_eq!(weight(&shares[3..], &SessionRules { s_nssai: None, ..rules.clone() }), 3);
    }
}
