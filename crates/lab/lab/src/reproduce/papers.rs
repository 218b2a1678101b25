//! What do the papers say? The numbers of `papers.toml`, each with its place.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Papers {
    /// Resources of the chip by program.
    pub table4: Grid,
    /// Heavy hitters a second by trace.
    pub table6: Grid,
    /// Throughput of a gNodeB by step: of the card, of x86.
    pub memarian_steps: Grid,
    /// Latency near the highest rate: of the card, of x86 behind it.
    pub memarian_figure12: Grid,
    /// Latency of the card by step.
    pub memarian_figure13: Grid,
    /// Memory of the card by entries of a table.
    pub memarian_table1: Grid,
    /// Performance for cost and power, by platform.
    pub bose_table1: Grid,
    /// Latency on x86 and in front of it, by size.
    pub bose_table2: Grid,
    /// Single numbers by name.
    claim: BTreeMap<String, Claim>,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    paper: Paper,
    place: String,
    unit: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    unclear: Option<String>,
    /// Its rows.
    #[serde(rename = "row")]
    pub rows: Vec<GridRow>,
}

/// A row of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GridRow {
    /// Its head.
    pub name: String,
    line: u32,
    /// One a column.
    pub values: Vec<f64>,
}

/// Which paper, by its first author, or by what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Paper {
    /// Hybrid P4 pipelines, IEEE TMC 2023.
    Singh,
    /// UPFs that offload different functions, APNet 2021.
    Bose,
    /// A gNodeB on a SmartNIC and x86.
    Memarian,
    /// A UPF behind a programmable switch, APNet 2022.
    Ceupf,
}

/// A number of a paper, and where it stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    /// Which paper.
    pub paper: Paper,
    /// Table, row and column, or section.
    pub place: String,
    /// Line of the extracted text.
    pub line: u32,
    /// The number, or the lower end of a range.
    pub value: f64,
    /// The upper end.
    pub high: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// What the text leaves open.
    pub unclear: Option<String>,
}

/// The papers' numbers.
pub(super) fn papers() -> &'static Papers {
    static PAPERS: OnceLock<Papers> = OnceLock::new();
    PAPERS.get_or_init(|| toml::from_str(include_str!("papers.toml")).expect("our own data file is good: a test reads it"))
}

impl Papers {
    /// A single number, if the paper has it.
    pub(super) fn find(&self, name: &str) -> Option<&Claim> {
        self.claim.get(name)
    }

    /// A single number.
    ///
    /// # Panics
    /// If the data file has none of that name: a test asks for all that are used.
    pub(super) fn claim(&self, name: &str) -> &Claim {
        self.claim.get(name).unwrap_or_else(|| panic!("papers.toml has no claim `{name}`"))
    }
}

impl Grid {
    /// A cell, by positions of row and column; `None` outside.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<Claim> {
        let of = self.rows.get(row)?;
        Some(Claim {
            paper: self.paper,
            place: format!("{}, {}, {}", self.place, of.name, self.columns.get(column)?),
            line: of.line,
            value: *of.values.get(column)?,
            high: None,
            unit: self.unit.clone(),
            unclear: self.unclear.clone(),
        })
    }
}

impl Claim {
    /// As text, with digits as the paper has them.
    pub(super) fn text(&self) -> String {
        match self.high {
            Some(high) => format!("{} to {high}", self.value),
            None => self.value.to_string(),
        }
    }

    /// Middle of the range.
    pub(super) fn middle(&self) -> f64 {
        (self.value + self.high.unwrap_or(self.value)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_is_whole() {
        let papers = papers();
        let memarian = [&papers.memarian_steps, &papers.memarian_figure12, &papers.memarian_figure13, &papers.memarian_table1];
        for grid in [&papers.table4, &papers.table6, &papers.bose_table1, &papers.bose_table2].into_iter().chain(memarian) {
            assert!(grid.rows.iter().all(|row| row.values.len() == grid.columns.len() && row.line > 0));
        }
        assert_eq!((papers.table4.rows.len(), papers.table4.columns.len()), (8, 5));
        assert_eq!(papers.table4.cell(4, 1).map(|c| c.value), Some(32.0));
        assert_eq!(papers.table6.cell(3, 0).map(|c| (c.value, c.line)), Some((648.0, 1262)));
        assert!(papers.table6.cell(4, 0).is_none());
        assert_eq!(papers.bose_table1.cell(1, 4).map(|c| (c.value, c.line)), Some((8.52, 61)));
        assert_eq!(papers.bose_table2.cell(0, 2).map(|c| (c.value, c.line)), Some((294.0, 134)));
        assert_eq!(papers.memarian_steps.cell(1, 5).map(|c| (c.value, c.line)), Some((12.75, 140)));
        assert_eq!(papers.memarian_table1.cell(5, 2).map(|c| (c.value, c.line)), Some((40.97, 201)));
        assert!(papers.claim.len() > 15 && papers.claim.values().all(|c| c.line > 0 && c.high.is_none_or(|high| high > c.value)));
    }
}
