//! A placement as SVG: stages as columns; in each the blocks of SRAM and TCAM as squares, the other resources as bars, all in
//! the colour of the table that uses them.
//!
//! Plain text, written here: rectangles and labels need no library. Everything that comes from a program is escaped.

use crate::graph::Kind;
use crate::place::{Part, Placement};
use crate::resource::Resource;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Size of a block's square.
const CELL: u64 = 7;
/// Squares side by side.
const ACROSS: u64 = 10;
/// Width of a stage's column.
const COLUMN: u64 = ACROSS * CELL + 14;
/// Left of the first column.
const LEFT: u64 = 130;
/// Above it.
const TOP: u64 = 64;
/// Height of a bar with its gap.
const BAR: u64 = 12;
/// Names in the legend.
const LEGEND: usize = 40;

/// Resources that are shown as squares, and as bars.
const SQUARES: [Resource; 2] = [Resource::Sram, Resource::Tcam];
const BARS: [Resource; 11] = [
    Resource::MapRam,
    Resource::ExactCrossbar,
    Resource::TernaryCrossbar,
    Resource::HashBits,
    Resource::HashSlices,
    Resource::Gateways,
    Resource::MeterAlus,
    Resource::StatsAlus,
    Resource::Instructions,
    Resource::ActionData,
    Resource::LogicalTables,
];

impl Placement {
    /// The picture.
    pub fn to_svg(&self) -> String {
        let names = colours(self);
        let heights: Vec<u64> = SQUARES.iter().map(|r| self.stage_has[*r].div_ceil(ACROSS) * CELL + 16).collect();
        let squares: u64 = heights.iter().sum();
        let legend = names.len().min(LEGEND) as u64;
        let width = LEFT + self.stages.len() as u64 * COLUMN + 20;
        let bottom = TOP + squares + BARS.len() as u64 * BAR + 20;
        let columns = (width / 260).max(1);
        let height = bottom + legend.div_ceil(columns) * 14 + 20;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"10\">"
        );
        let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        let title = format!("{} on {} (modelled)", self.program, self.chip);
        text(&mut out, 10, 22, 16, "start", &title);
        let sub = format!(
            "{} of {} stages; SRAM {:.1} %, TCAM {:.1} %",
            self.stages_used(),
            self.stages.len(),
            self.percent(Resource::Sram),
            self.percent(Resource::Tcam)
        );
        text(&mut out, 10, 40, 11, "start", &sub);
        let mut y = TOP;
        for (r, h) in SQUARES.iter().zip(&heights) {
            text(&mut out, LEFT - 8, y + 10, 10, "end", r.name());
            y += h;
        }
        for r in BARS {
            text(&mut out, LEFT - 8, y + 8, 10, "end", r.name());
            y += BAR;
        }
        for (n, stage) in self.stages.iter().enumerate() {
            let x = LEFT + n as u64 * COLUMN;
            text(&mut out, x + ACROSS * CELL / 2, TOP - 6, 10, "middle", &format!("stage {n}"));
            let mut y = TOP;
            for (r, h) in SQUARES.iter().zip(&heights) {
                let mut blocks = stage.parts.iter().flat_map(|p| std::iter::repeat_n(p, p.used[*r] as usize));
                for i in 0..self.stage_has[*r] {
                    let (cx, cy) = (x + i % ACROSS * CELL, y + i / ACROSS * CELL);
                    let fill = blocks.next().map_or("#eeeeee", |p| colour(&names, p));
                    let _ = writeln!(out, "<rect x=\"{cx}\" y=\"{cy}\" width=\"{0}\" height=\"{0}\" fill=\"{fill}\"/>", CELL - 1);
                }
                y += h;
            }
            for r in BARS {
                let full = ACROSS * CELL - 1;
                let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{full}\" height=\"{}\" fill=\"#eeeeee\"/>", BAR - 3);
                let mut sum = 0;
                for p in &stage.parts {
                    let scale = |n: u64| n * full / self.stage_has[r].max(1);
                    let (from, to) = (scale(sum), scale(sum + p.used[r]));
                    sum += p.used[r];
                    if to > from {
                        let (bx, w, fill) = (x + from, to - from, colour(&names, p));
                        let _ = writeln!(out, "<rect x=\"{bx}\" y=\"{y}\" width=\"{w}\" height=\"{}\" fill=\"{fill}\"/>", BAR - 3);
                    }
                }
                y += BAR;
            }
        }
        for (i, (name, fill)) in names.iter().take(LEGEND).enumerate() {
            let (x, y) = (10 + i as u64 % columns * 260, bottom + i as u64 / columns * 14);
            let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{fill}\"/>");
            text(&mut out, x + 14, y + 9, 10, "start", name);
        }
        out.push_str("</svg>\n");
        out
    }
}

/// A colour for each table, by turns round the circle of hues; conditions and instructions are grey.
fn colours(p: &Placement) -> BTreeMap<String, String> {
    let mut names: Vec<&str> = Vec::new();
    for part in p.stages.iter().flat_map(|s| &s.parts) {
        if !matches!(part.kind, Kind::Gateway | Kind::Action) && !names.contains(&part.name.as_str()) {
            names.push(&part.name);
        }
    }
    // 137 degrees keep neighbours far apart, however many there are.
    let hue = |i: usize| format!("hsl({},65%,{}%)", i * 137 % 360, [52, 42, 62][i % 3]);
    names.iter().enumerate().map(|(i, n)| ((*n).to_owned(), hue(i))).collect()
}

fn colour<'a>(names: &'a BTreeMap<String, String>, p: &Part) -> &'a str {
    names.get(&p.name).map_or("#999999", String::as_str)
}

fn text(out: &mut String, x: u64, y: u64, size: u64, anchor: &str, what: &str) {
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>", escaped(what));
}

/// For XML; control characters, which XML 1.0 does not have, become blanks.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_text() {
        assert_eq!(escaped("<a b=\"&\">\u{1}"), "&lt;a b=&quot;&amp;&quot;&gt; ");
    }
}
