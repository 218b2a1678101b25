//! `[[slice]]`: slices of ports that have a rate.

use super::Fault;
use crate::placement;
use pfcp::rules::SessionRules;
use serde::Deserialize;
use shaper::SliceSettings;

/// `[[slice]]`: sessions whose packets share a port's rate. What is in none has weight 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// S-NSSAI of the session: type, with or without differentiator.
    pub s_nssai: Option<String>,
    /// Network instance of one of the session's PDRs or FARs.
    pub network_instance: Option<String>,
    /// Share of what guaranteed flows leave.
    pub weight: Option<u16>,
    /// What it may send by each port with a rate, in kbit/s of frames.
    pub rate_kbps: Option<u64>,
}

/// As those of queues.
const MOST_WEIGHT: u16 = 1000;
/// Those of the file; one more is for the rest.
const MOST_SLICES: usize = 63;

impl Slice {
    fn matches(&self, rules: &SessionRules) -> bool {
        let of = self.s_nssai.as_deref().map(|text| {
            let wanted = placement::slice(text);
            wanted.zip(rules.s_nssai).is_some_and(|(of, (sst, sd))| sst == of.sst && (of.sd.is_none() || sd == of.sd))
        });
        let detected = rules.pdrs.values().map(|pdr| &pdr.pdi.network_instance);
        let sent = rules.fars.values().filter_map(|far| far.forwarding.as_ref()).map(|forwarding| &forwarding.network_instance);
        let mut names = detected.chain(sent).flatten();
        let at = self.network_instance.as_ref().map(|wanted| names.any(|name| name.eq_ignore_ascii_case(wanted)));
        of.unwrap_or(true) && at.unwrap_or(true)
    }
}

/// The number of a session's slice: the first block that it matches, counted from 1; 0 for none.
pub(crate) fn number(slices: &[Slice], rules: &SessionRules) -> u8 {
    slices.iter().position(|slice| slice.matches(rules)).map_or(0, |at| at as u8 + 1)
}

/// By number, as a port's scheduler takes them.
pub(super) fn settings(slices: &[Slice]) -> Vec<SliceSettings> {
    let of =
        |slice: &Slice| SliceSettings { weight: slice.weight.unwrap_or(1), rate: slice.rate_kbps.map(|kbps| kbps.saturating_mul(125)) };
    std::iter::once(SliceSettings::default()).chain(slices.iter().map(of)).collect()
}

/// All blocks. `most_kbps`: the highest rate that a port may have.
pub(super) fn validate(slices: &[Slice], most_kbps: u64) -> Result<(), Fault> {
    if slices.len() > MOST_SLICES {
        return Err(Fault::new(format!("slice[{MOST_SLICES}]"), format!("expected at most {MOST_SLICES} slices")));
    }
    for (i, slice) in slices.iter().enumerate() {
        let fault = |name: &str, what: String| Err(Fault::new(format!("slice[{i}].{name}"), what));
        if slice.s_nssai.is_none() && slice.network_instance.is_none() {
            return fault("s_nssai", "expected `s_nssai`, `network_instance` or both: they tell whose packets it has".into());
        }
        if slice.s_nssai.as_deref().is_some_and(|text| placement::slice(text).is_none()) {
            return fault("s_nssai", "expected a type with or without a differentiator, such as \"1\" or \"1-010203\"".into());
        }
        if slice.weight.is_some_and(|weight| !(1..=MOST_WEIGHT).contains(&weight)) {
            return fault("weight", format!("expected 1 to {MOST_WEIGHT}"));
        }
        if slice.rate_kbps.is_some_and(|rate| !(1..=most_kbps).contains(&rate)) {
            return fault("rate_kbps", format!("expected 1 to {most_kbps} kbit/s"));
        }
    }
    Ok(())
}
