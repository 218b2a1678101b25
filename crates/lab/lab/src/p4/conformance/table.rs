//! The result: one line for each architecture and kind, then what failed and what was excluded, with reasons.

use super::corpus::{Check, Exclusion, Kind};
use super::job::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Everything that is known after a run.
#[derive(Serialize)]
pub(super) struct Report {
    rows: Vec<Row>,
    checks: Vec<Line>,
    /// Exclusions that name no check of this run.
    stale: Vec<String>,
}

/// Checks of one architecture, kind and target.
#[derive(Serialize)]
struct Row {
    architecture: &'static str,
    kind: Kind,
    target: String,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Sum {
    total: usize,
    /// Failed, for a reason that the list of exclusions gives.
    excluded: usize,
    passed: usize,
    failed: usize,
}

/// One check.
#[derive(Serialize)]
struct Line {
    architecture: &'static str,
    kind: Kind,
    target: String,
    path: String,
    #[serde(flatten)]
    outcome: Outcome,
    /// Why it may fail.
    excluded: Option<String>,
}

impl Sum {
    fn add(&mut self, line: &Line) {
        self.total += 1;
        match (&line.excluded, line.outcome.passed) {
            (_, true) => self.passed += 1,
            (Some(_), false) => self.excluded += 1,
            (None, false) => self.failed += 1,
        }
    }

    /// Of those that are not excluded, in per cent; none at all is everything.
    fn share(self) -> f64 {
        let counted = self.total - self.excluded;
        if counted == 0 { 100.0 } else { 100.0 * self.passed as f64 / counted as f64 }
    }
}

impl Report {
    /// Counts the outcomes of the checks.
    pub(super) fn new(checks: &[Check], outcomes: Vec<Outcome>, exclusions: &[Exclusion]) -> Report {
        let lines: Vec<Line> = checks
            .iter()
            .zip(outcomes)
            .map(|(c, outcome)| {
                let listed = exclusions.iter().find(|e| e.covers(c)).map(|e| e.reason.clone());
                let excluded = listed.or_else(|| outcome.unfit.is_some().then(|| outcome.detail.clone()));
                Line { architecture: c.architecture, kind: c.kind, target: c.target.clone(), path: c.path.clone(), outcome, excluded }
            })
            .collect();
        let mut sums: BTreeMap<(&'static str, Kind, &str), Sum> = BTreeMap::new();
        for l in &lines {
            sums.entry((l.architecture, l.kind, &l.target)).or_default().add(l);
        }
        let rows = sums
            .into_iter()
            .map(|((architecture, kind, target), sum)| Row { architecture, kind, target: target.to_owned(), sum })
            .collect();
        let passes = |e: &&Exclusion| checks.iter().zip(&lines).any(|(c, l)| e.covers(c) && l.outcome.passed);
        let stale = exclusions.iter().filter(passes).map(|e| e.reason.clone()).collect();
        Report { rows, checks: lines, stale }
    }

    /// The table; with the details, also each failure and exclusion.
    pub(super) fn text(&self, details: bool) -> String {
        let mut out = String::new();
        let head = ["architecture", "kind", "target", "total", "excluded", "passed", "failed", "share"];
        let mut rows = vec![head.map(str::to_owned)];
        for r in &self.rows {
            rows.push(cells(r.architecture, r.kind.name(), &r.target, r.sum));
        }
        for (kind, target, sum) in self.by_kind() {
            rows.push(cells("all", kind.name(), target, sum));
        }
        let widths: Vec<usize> = (0..head.len()).map(|i| rows.iter().map(|r| r[i].len()).max().unwrap_or(0)).collect();
        for row in &rows {
            for (i, cell) in row.iter().enumerate() {
                let (width, gap) = (widths[i], if i == 0 { "" } else { "  " });
                let _ = if i < 3 { write!(out, "{gap}{cell:width$}") } else { write!(out, "{gap}{cell:>width$}") };
            }
            out.push('\n');
        }
        let placed: Vec<bool> = self.checks.iter().filter_map(|l| l.outcome.same_place).collect();
        if !placed.is_empty() {
            let same = placed.iter().filter(|same| **same).count();
            let share = 100.0 * same as f64 / placed.len() as f64;
            let rest = "that are rejected and whose expected errors have lines, for an error within two lines of one of them";
            let _ = writeln!(out, "same place: {same} of {} bad programs ({share:.1} %) {rest}", placed.len());
        }
        self.unfit(&mut out);
        if details {
            self.details(&mut out);
        }
        out
    }

    /// What a target cannot run, by what it lacks.
    fn unfit(&self, out: &mut String) {
        let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for l in &self.checks {
            if let Some(kind) = &l.outcome.unfit {
                *kinds.entry((&l.target, kind)).or_default() += 1;
            }
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|((target, _), n)| (*target, std::cmp::Reverse(*n)));
        for ((target, kind), n) in kinds {
            let _ = writeln!(out, "not for {target}: {n:3} {kind}");
        }
    }

    fn details(&self, out: &mut String) {
        let failed = self.checks.iter().filter(|l| !l.outcome.passed);
        let (excluded, failed): (Vec<_>, Vec<_>) = failed.partition(|l| l.excluded.is_some());
        for (title, lines) in [("failed", failed), ("excluded", excluded)] {
            if !lines.is_empty() {
                let _ = writeln!(out, "\n{title}:");
            }
            for l in lines {
                let what = l.excluded.as_ref().unwrap_or(&l.outcome.detail);
                let target = if l.target.is_empty() { String::new() } else { format!(" on {}", l.target) };
                let _ = writeln!(out, "  {}{target} {}: {what}", l.kind.name(), l.path);
            }
        }
        let elsewhere: Vec<&str> = self.checks.iter().filter(|l| l.outcome.same_place == Some(false)).map(|l| l.path.as_str()).collect();
        if !elsewhere.is_empty() {
            let _ = writeln!(out, "\nrejected for another place: {}", elsewhere.join(" "));
        }
        for l in self.checks.iter().filter(|l| l.excluded.is_some() && l.outcome.passed) {
            let _ = writeln!(out, "note: {} {} passes: its exclusion can go", l.kind.name(), l.path);
        }
    }

    /// Kinds whose share is below its floor.
    pub(super) fn missed(&self, floors: &[(String, f64)]) -> Vec<String> {
        let below = |(kind, least): &(String, f64)| {
            let of_kind = self.by_kind();
            let mut found = of_kind.iter().filter(|(k, _, _)| k.name() == kind).peekable();
            if found.peek().is_none() {
                return vec![format!("{kind}: nothing was run, so its floor of {least} % is not reached")];
            }
            let missed = found.filter(|(_, _, sum)| sum.share() < *least);
            missed.map(|(k, t, sum)| format!("{}{} {:.1} % is below {least} %", k.name(), on(t), sum.share())).collect()
        };
        floors.iter().flat_map(below).collect()
    }

    fn by_kind(&self) -> Vec<(Kind, &str, Sum)> {
        let mut sums: BTreeMap<(Kind, &str), Sum> = BTreeMap::new();
        for l in &self.checks {
            sums.entry((l.kind, &l.target)).or_default().add(l);
        }
        sums.into_iter().map(|((k, t), s)| (k, t, s)).collect()
    }
}

fn on(target: &str) -> String {
    if target.is_empty() { String::new() } else { format!(" on {target}") }
}

fn cells(architecture: &str, kind: &str, target: &str, s: Sum) -> [String; 8] {
    let n = |v: usize| v.to_string();
    let texts = [architecture, kind, target].map(str::to_owned);
    let [a, k, t] = texts;
    [a, k, t, n(s.total), n(s.excluded), n(s.passed), n(s.failed), format!("{:.1} %", s.share())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_of_what_is_not_excluded() {
        let check = |path: &str| Check {
            architecture: "v1model",
            kind: Kind::Stf,
            target: "interp".into(),
            path: path.into(),
            file: path.into(),
            stf: None,
            folder: Default::default(),
        };
        let checks = ["a", "b", "c", "d"].map(check);
        let outcome = |passed| Outcome { passed, detail: "why".into(), same_place: None, unfit: None };
        let outcomes = [true, true, false, false].map(outcome).to_vec();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "stf d known\nstf a stale\n").unwrap();
        let report = Report::new(&checks, outcomes, &super::super::corpus::exclusions(&[file]).unwrap());
        // Two of three.
        assert!(report.missed(&[("stf".into(), 66.0)]).is_empty());
        assert_eq!(report.missed(&[("stf".into(), 67.0)]).len(), 1);
        assert_eq!(report.missed(&[("accepted".into(), 0.0)]).len(), 1, "a floor of what was not run");
        assert_eq!(report.stale, ["stale"]);
        let text = report.text(true);
        assert!(text.contains("66.7 %") && text.contains("stf on interp c: why") && text.contains("stf on interp d: known"), "{text}");
        assert_eq!(Kind::Stf.name(), "stf");
    }
}
