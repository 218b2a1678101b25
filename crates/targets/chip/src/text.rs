//! A placement as text: the answer first, then totals, tables, stages.

use crate::graph::Kind;
use crate::place::{Part, Placement, Stage};
use crate::resource::Resource;
use std::fmt::{self, Write};

/// Resources that have a column of their own for each stage.
const COLUMNS: [Resource; 12] = [
    Resource::Sram,
    Resource::Tcam,
    Resource::MapRam,
    Resource::ExactCrossbar,
    Resource::TernaryCrossbar,
    Resource::HashBits,
    Resource::HashSlices,
    Resource::Gateways,
    Resource::MeterAlus,
    Resource::StatsAlus,
    Resource::Instructions,
    Resource::LogicalTables,
];

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, of) = (self.stages_used(), self.stages.len());
        writeln!(f, "{} on {} (modelled): fits, {used} of {of} stages", self.program, self.chip)?;
        for (gress, clocks) in self.latency_clocks.iter().enumerate() {
            let name = ["ingress", "egress"].get(gress).unwrap_or(&"more");
            let ns = clocks * 1000 / self.clock_mhz.max(1);
            writeln!(f, "  {name}: {clocks} clocks through the stages, {ns} ns at {} MHz (modelled)", self.clock_mhz)?;
        }
        writeln!(f)?;
        writeln!(f, "{:<26} {:>8} {:>8} {:>7}", "resource (modelled)", "used", "of", "%")?;
        for t in self.totals() {
            writeln!(f, "{:<26} {:>8} {:>8} {:>7.1}", t.resource.name(), t.used, t.of, t.percent)?;
        }
        let phv = 100.0 * self.phv.bits as f64 / self.phv.bits_of.max(1) as f64;
        writeln!(f, "{:<26} {:>8} {:>8} {:>7.1}", "PHV bits", self.phv.bits, self.phv.bits_of, phv)?;
        for (gress, p) in self.parsers.iter().enumerate() {
            let name = ["ingress", "egress"].get(gress).unwrap_or(&"more");
            for (what, used, of) in [
                ("parser rows", p.tcam_rows, p.tcam_rows_of),
                ("parsed bytes", p.depth_bytes, p.depth_bytes_of.unwrap_or(0)),
                ("deparser pieces", p.deparser_entries, p.deparser_entries_of),
            ] {
                let what = format!("{name} {what}");
                match of {
                    0 => writeln!(f, "{what:<26} {used:>8}")?,
                    of => writeln!(f, "{what:<26} {used:>8} {of:>8} {:>7.1}", 100.0 * used as f64 / of as f64)?,
                }
            }
        }
        writeln!(f)?;
        let wide = self.tables.iter().map(|t| t.name.len()).max().unwrap_or(0).max(17);
        writeln!(
            f,
            "{:<wide$} {:<8} {:>9} {:>6} {:>6} {:>6}  {:<20} size by",
            "table (modelled)", "found by", "entries", "stages", "sram", "tcam", "packing"
        )?;
        for t in &self.tables {
            let kind = kind(t.kind);
            let packing = match t.kind {
                Kind::Default | Kind::Profile => String::new(),
                _ => format!("{} bits, {} in {} word{}", t.entry_bits, t.pack.0, t.pack.1, if t.pack.1 == 1 { "" } else { "s" }),
            };
            let by = if t.session { "sessions" } else { "program" };
            writeln!(
                f,
                "{:<wide$} {kind:<8} {:>9} {:>6} {:>6} {:>6}  {packing:<20} {by}",
                t.name, t.entries, t.stages, t.sram_blocks, t.tcam_blocks
            )?;
        }
        writeln!(f)?;
        let mut head = format!("{:<15}", "stage (modelled)");
        for r in COLUMNS {
            let _ = write!(head, " {:>8}", r.short());
        }
        writeln!(f, "{head}")?;
        for (n, s) in self.stages.iter().enumerate() {
            let mut line = format!("{:<16}", n);
            for r in COLUMNS {
                let _ = write!(line, " {:>8}", format!("{}/{}", s.used[r], self.stage_has[r]));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f)?;
        for (n, s) in self.stages.iter().enumerate() {
            writeln!(f, "stage {n}: {}", parts(s, self.latency_clocks.len() > 1))?;
        }
        Ok(())
    }
}

/// What lies in a stage: tables first, then how many of the rest.
fn parts(s: &Stage, directions: bool) -> String {
    let name = |p: &Part| {
        let entries = p.entries.map_or_else(String::new, |n| format!(" [{n}]"));
        let direction = if directions && p.gress > 0 { " (egress)" } else { "" };
        format!("{}{entries}{direction}", p.name)
    };
    let mut all: Vec<String> = s.parts.iter().filter(|p| !matches!(p.kind, Kind::Gateway | Kind::Action)).map(name).collect();
    for (kind, what) in [(Kind::Gateway, "condition"), (Kind::Action, "action")] {
        match s.parts.iter().filter(|p| p.kind == kind).count() {
            0 => {}
            1 => all.push(format!("1 {what}")),
            n => all.push(format!("{n} {what}s")),
        }
    }
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

/// A kind's name.
pub(crate) fn kind(k: Kind) -> &'static str {
    match k {
        Kind::Exact => "exact",
        Kind::Ternary => "ternary",
        Kind::Alpm => "alpm",
        Kind::Default => "default",
        Kind::Gateway => "gateway",
        Kind::Action => "action",
        Kind::Cells => "cells",
        Kind::Profile => "pointer",
    }
}
