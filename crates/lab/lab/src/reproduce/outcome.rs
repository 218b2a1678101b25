//! What a reproduction comes to: the paper's numbers beside ours, each of ours marked as measured, modelled or cited; as a table and as JSON.

use super::chart::Chart;
use super::papers::Claim;
use serde::Serialize;
use serde_json::Value;

/// One experiment, run again.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    /// Name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// How our numbers come about: what was measured, the model, and the rule by which parts make a whole.
    pub rule: Vec<String>,
    /// The numbers.
    pub rows: Vec<Row>,
    /// The machine of what was measured.
    pub machine: Value,
    /// Whether it was run small and short: then figures mean nothing.
    pub quick: bool,
    /// The same as a picture.
    #[serde(skip)]
    pub chart: Chart,
}

/// One number.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Of what.
    pub what: String,
    /// The paper's, if it has one.
    pub paper: Option<Claim>,
    /// Ours; `None`: we have none, and `note` says why.
    pub ours: Option<f64>,
    /// Unit of ours.
    pub unit: String,
    /// How ours came about.
    pub how: How,
    /// What else to know.
    pub note: String,
}

/// How a number came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    /// By running it in this run, on this machine.
    Measured,
    /// By a model of a device that is not here; it may take measured numbers, and the rule says which.
    Modelled,
    /// By calculation from the paper's own numbers alone: nothing was run.
    Cited,
}

impl How {
    /// The word for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            How::Measured => "measured",
            How::Modelled => "modelled",
            How::Cited => "cited",
        }
    }
}

impl Row {
    /// A number of ours.
    pub(super) fn new(what: impl Into<String>, how: How, ours: f64, unit: &str) -> Row {
        Row { what: what.into(), paper: None, ours: Some(ours), unit: unit.to_owned(), how, note: String::new() }
    }

    /// A number that we have not, and why.
    pub(super) fn none(what: impl Into<String>, how: How, unit: &str, why: impl Into<String>) -> Row {
        Row { ours: None, ..Row::new(what, how, 0.0, unit).note(why) }
    }

    /// Beside the paper's.
    pub(super) fn beside(mut self, claim: &Claim) -> Row {
        self.paper = Some(claim.clone());
        self
    }

    /// With a remark.
    pub(super) fn note(mut self, note: impl Into<String>) -> Row {
        self.note = note.into();
        self
    }
}

impl Outcome {
    /// The table, for people.
    pub(super) fn print(&self) {
        println!("{}: {}", self.name, self.title);
        if self.quick {
            println!("Run small and short (--quick): the figures mean nothing.");
        }
        let width = self.rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0).max(4);
        println!("  {:<width$}  {:>16}  {:>12}  {:<13} {:<8}", "", "paper", "ours", "unit", "how");
        for row in &self.rows {
            let paper = row.paper.as_ref().map_or_else(|| "-".to_owned(), Claim::text);
            let ours = row.ours.map_or_else(|| "-".to_owned(), number);
            let how = row.how.name();
            println!("  {:<width$}  {paper:>16}  {ours:>12}  {:<13} {how:<8} {}", row.what, row.unit, row.note);
        }
        for line in &self.rule {
            println!("  {line}");
        }
        for (place, unclear) in self.unclear() {
            println!("  Unclear in the paper's text, {place}: {unclear}.");
        }
        println!();
    }

    /// What the papers' texts leave open, once each.
    fn unclear(&self) -> Vec<(&str, &str)> {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for claim in self.rows.iter().filter_map(|row| row.paper.as_ref()) {
            if let Some(unclear) = claim.unclear.as_deref()
                && !seen.iter().any(|(_, known)| *known == unclear)
            {
                seen.push((&claim.place, unclear));
            }
        }
        seen
    }
}

/// With three digits that count.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        a if a >= 1000.0 => format!("{value:.0}"),
        a if a >= 100.0 => format!("{value:.1}"),
        a if a >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
