//! Which share of the packets do heavy hitters have?

use super::Args;
use super::papers::papers;

/// A share, and what it is of.
pub struct Share {
    /// For labels.
    pub name: String,
    /// Of all packets, 0 to 1.
    pub packets: f64,
    /// Whether the paper's Figure 7(a) is about this threshold.
    pub is_papers_threshold: bool,
}

/// How they come about.
pub const RULE: &str = "both ends of what the paper's Figure 10 has";

/// All that are looked at.
pub fn shares(_args: &Args) -> Vec<Share> {
    let of = papers().claim("figure10_share");
    let ends = [of.value, of.high.unwrap_or(of.value)];
    ends.map(|percent| Share { name: format!("{percent} % heavy"), packets: percent / 100.0, is_papers_threshold: true }).into()
}
