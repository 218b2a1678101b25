//! `[[slice]]`: slices of ports that have a rate.

use super::Fault;
use crate::config::placement;
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
const MOST_SLICES: usize = engine::SLICES - 1;

/// Whether a session is of that S-NSSAI, and one of its PDRs or FARs of that network instance; none: of any.
pub(super) fn is_of(s_nssai: Option<&str>, network_instance: Option<&str>, rules: &SessionRules) -> bool {
    let of = s_nssai.is_none_or(|text| {
        let wanted = placement::slice(text);
        wanted.zip(rules.s_nssai).is_some_and(|(of, (sst, sd))| sst == of.sst && (of.sd.is_none() || sd == of.sd))
    });
    let detected = rules.pdrs.values().map(|pdr| &pdr.pdi.network_instance);
    let sent = rules.fars.values().filter_map(|far| far.forwarding.as_ref()).map(|forwarding| &forwarding.network_instance);
    let mut names = detected.chain(sent).flatten();
    of && network_instance.is_none_or(|wanted| names.any(|name| name.eq_ignore_ascii_case(wanted)))
}

/// What is wrong with the text of an S-NSSAI, if there is one.
pub(super) fn wrong_s_nssai(text: Option<&str>) -> Option<String> {
    let is_wrong = text.is_some_and(|text| placement::slice(text).is_none());
    is_wrong.then(|| "expected a type with or without a differentiator, such as \"1\" or \"1-010203\"".into())
}

/// The number of a session's slice: the first block that it matches, counted from 1; 0 for none.
pub(crate) fn number(slices: &[Slice], rules: &SessionRules) -> u8 {
    let is_it = |slice: &Slice| is_of(slice.s_nssai.as_deref(), slice.network_instance.as_deref(), rules);
    slices.iter().position(is_it).map_or(0, |at| at as u8 + 1)
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
        if let Some(wrong) = wrong_s_nssai(slice.s_nssai.as_deref()) {
            return fault("s_nssai", wrong);
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
