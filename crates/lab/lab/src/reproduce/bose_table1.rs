//! Table 1 of Bose et al.: what a UPF forwards for a dollar and for a watt, by platform. Prices and watts are the paper's: cited, not measured.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use cli::failure::Failure;

pub(super) const NAME: &str = "bose-table1";
pub(super) const TITLE: &str = "Performance for cost and power, by platform (Bose et al., Table 1, cited)";

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().bose_table1;
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    for (row, of_row) in of.rows.iter().enumerate() {
        for (column, platform) in of.columns.iter().enumerate() {
            let what = format!("{platform}, Mpps {}", of_row.name);
            let cited = Row::none(what, How::Cited, "Mpps", "cited: prices and watts are not ours to measure");
            rows.push(match of.cell(row, column) {
                Some(claim) => cited.beside(&claim),
                None => cited,
            });
        }
        let server = of_row.values[0];
        for (platform, value) in of.columns.iter().zip(&of_row.values).skip(1) {
            rows.push(Row::new(format!("{platform} against the server core, {}", of_row.name), How::Cited, value / server, "times"));
        }
        let values = of_row.values.iter().map(|value| Some(*value)).collect();
        series.push(Series::paper(format!("Mpps {}", of_row.name), values));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Cited: all numbers are the paper's, or ratios of its numbers. The paper has no price, power or rate of a platform in its text, so none of ours can stand beside them.".into(),
            "A ratio says how many times faster a server core must become to be worth as much: singh-figure7 and bose-figure3 say what one of ours does.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart { y: "Mpps".into(), logarithmic: true, categories: of.columns.clone(), series },
    })
}
