//! A picture of a reproduction: bars or curves by category, as SVG.
//!
//! The paper's bars are grey, measured ones full, modelled ones pale with an outline, so they differ at first sight.

use super::outcome::{How, number};
use cli::failure::Failure;
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 1000;
const HEIGHT: u32 = 560;
/// Least height of a bar on a logarithmic scale, as a share of the largest: below, it is a line.
const LEAST: f64 = 1e-6;
/// Names of categories at most.
const LABELS: usize = 12;

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// Name of the vertical axis, with its unit.
    pub y: String,
    /// Whether the vertical axis is logarithmic.
    pub logarithmic: bool,
    /// Groups of bars, from left to right.
    pub categories: Vec<String>,
    /// One bar a category each.
    pub series: Vec<Series>,
}

/// Bars of one kind.
#[derive(Debug)]
pub(super) struct Series {
    /// Name in the legend.
    pub name: String,
    /// How they came about; `None`: the paper's.
    pub how: Option<How>,
    /// One a category; `None`: no bar.
    pub values: Vec<Option<f64>>,
    /// Drawn as a curve through its values.
    curve: bool,
}

impl Series {
    /// A paper's.
    pub(super) fn paper(name: impl Into<String>, values: Vec<Option<f64>>) -> Series {
        Series { name: name.into(), how: None, values, curve: false }
    }

    /// Ours.
    pub(super) fn ours(name: impl Into<String>, how: How, values: Vec<Option<f64>>) -> Series {
        Series { name: name.into(), how: Some(how), values, curve: false }
    }

    /// Ours, where categories are steps of one quantity.
    pub(super) fn curve(name: impl Into<String>, how: How, values: Vec<Option<f64>>) -> Series {
        Series { curve: true, ..Series::ours(name, how, values) }
    }

    fn legend(&self) -> String {
        format!("{} ({})", self.name, self.how.map_or("paper", How::name))
    }
}

impl Chart {
    /// Writes it.
    pub(super) fn write(&self, title: &str, path: &Path) -> Result<(), Failure> {
        self.draw(title, path).map_err(|e| Failure::Usage(format!("cannot draw {}: {e}", path.display())))
    }

    fn draw(&self, title: &str, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let root = SVGBackend::new(path, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let all = self.series.iter().flat_map(|s| &s.values).flatten();
        let highest = all.fold(0.0f64, |high, value| high.max(*value));
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let lowest = self.series.iter().flat_map(|s| &s.values).flatten().filter(|v| **v > 0.0).fold(highest, |low, v| low.min(*v));
        let lowest = (lowest / 2.0).max(highest * LEAST);
        let mut builder = ChartBuilder::on(&root);
        builder.caption(title, ("sans-serif", 20)).margin(12).x_label_area_size(40).y_label_area_size(80).margin_right(24);
        let x = -0.5..self.categories.len() as f64 - 0.5;
        // One kind of axis or the other: their types differ.
        if self.logarithmic {
            let mut chart = builder.build_cartesian_2d(x, (lowest..highest * (highest / lowest).powf(0.35)).log_scale())?;
            self.mesh(&mut chart)?;
            self.bars(&mut chart, lowest)?;
        } else {
            let mut chart = builder.build_cartesian_2d(x, 0.0..highest * 1.5)?;
            self.mesh(&mut chart)?;
            self.bars(&mut chart, 0.0)?;
        }
        root.present()?;
        Ok(())
    }

    fn mesh<'a, Y>(&self, chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedF64, Y>>) -> Result<(), Box<dyn std::error::Error>>
    where
        Y: plotters::coord::ranged1d::Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
    {
        // More do not fit beside each other.
        let step = self.categories.len().div_ceil(LABELS).max(1);
        let category = |x: &f64| {
            let at = x.round();
            let near = (x - at).abs() < 0.01 && at >= 0.0 && (at as usize).is_multiple_of(step);
            if near { self.categories.get(at as usize).cloned().unwrap_or_default() } else { String::new() }
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(self.categories.len() * 2 + 1)
            .x_label_formatter(&category)
            .y_label_formatter(&|y| if y.fract() == 0.0 { y.to_string() } else { number(*y) })
            .y_desc(self.y.clone())
            .label_style(("sans-serif", 14))
            .light_line_style(WHITE)
            .draw()?;
        Ok(())
    }

    fn bars<'a, Y>(
        &self,
        chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedF64, Y>>,
        floor: f64,
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        Y: plotters::coord::ranged1d::Ranged<ValueType = f64>,
    {
        let width = 0.8 / self.series.len().max(1) as f64;
        for (n, series) in self.series.iter().enumerate() {
            let colour = if series.how.is_none() { RGBColor(150, 150, 150) } else { colour(n) };
            let fill = colour.mix(if series.how == Some(How::Modelled) { 0.35 } else { 0.9 }).filled();
            let left = -0.4 + n as f64 * width;
            let drawn = series.values.iter().enumerate().filter_map(|(at, value)| Some((at as f64 + left, (*value)?)));
            let drawn: Vec<(f64, f64)> = drawn.map(|(x, value)| (x, value.max(floor))).collect();
            if series.curve {
                // Through the middle of where bars would be.
                let points: Vec<(f64, f64)> = drawn.iter().map(|(x, value)| (x - left, *value)).collect();
                let style = colour.stroke_width(if series.how == Some(How::Modelled) { 1 } else { 2 });
                chart
                    .draw_series(std::iter::once(PathElement::new(points, style)))?
                    .label(series.legend())
                    .legend(move |(x, y)| Rectangle::new([(x, y - 2), (x + 14, y + 2)], fill));
                continue;
            }
            let shape = |x: f64, value: f64| [(x + width * 0.06, floor), (x + width * 0.94, value)];
            chart
                .draw_series(drawn.iter().map(|(x, value)| Rectangle::new(shape(*x, *value), fill)))?
                .label(series.legend())
                .legend(move |(x, y)| Rectangle::new([(x, y - 6), (x + 14, y + 6)], fill));
            if series.how == Some(How::Modelled) {
                chart.draw_series(drawn.iter().map(|(x, value)| Rectangle::new(shape(*x, *value), colour.stroke_width(1))))?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()?;
        Ok(())
    }
}

type RangedF64 = plotters::coord::types::RangedCoordf64;

/// Colours that differ for readers who see few, too.
fn colour(n: usize) -> RGBColor {
    const COLOURS: [RGBColor; 6] = [
        RGBColor(0, 114, 178),
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(86, 180, 233),
        RGBColor(230, 159, 0),
    ];
    COLOURS[n % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_bars_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.svg");
        for logarithmic in [false, true] {
            let chart = Chart {
                y: "Mpps".into(),
                logarithmic,
                categories: vec!["<1K> & more".into(), "1M".into()],
                series: vec![
                    Series::paper("theirs", vec![Some(2.5), None]),
                    Series::ours("x86", How::Measured, vec![Some(20.0), Some(0.0)]),
                    Series::ours("chip", How::Modelled, vec![Some(1e9), Some(3.0)]),
                ],
            };
            chart.write("A & B", &path).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains("&lt;1K&gt; &amp; more") && text.contains("A &amp; B"), "{text}");
            assert!(text.contains("x86 (measured)") && text.contains("chip (modelled)") && text.contains("theirs (paper)"));
            assert!(text.matches("<rect").count() > 8, "{text}");
        }
    }

    #[test]
    fn a_curve_goes_through_its_values_and_not_all_names_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.svg");
        let values = (0..50).map(|n| (n != 7).then_some(f64::from(n))).collect();
        let chart = Chart {
            y: "us".into(),
            categories: (0..50).map(|n| format!("step {n}")).collect(),
            series: vec![Series::curve("x86", How::Measured, values)],
            ..Chart::default()
        };
        chart.write("curve", &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let curve = text.lines().find(|line| line.starts_with("<polyline") && line.matches(',').count() == 49);
        assert!(curve.is_some() && text.contains("x86 (measured)"), "{text}");
        let names = text.matches("step ").count();
        assert!((5..=LABELS).contains(&names), "{names} names");
    }

    #[test]
    fn nothing_to_draw_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        Chart::default().write("empty", &folder.path().join("chart.svg")).unwrap();
    }
}
