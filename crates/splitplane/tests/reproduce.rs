//! Does every reproduction run, and does it say of each number what it is?

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
    command.arg("reproduce").args(args).env("RUST_LOG", "off").output().expect("the binary runs")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs one with `--quick`, checks what all of them promise, and gives its figures.
fn quick(name: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = reproduce(&[name, "--quick", "--out", &folder.path().display().to_string()]);
    assert!(output.status.success(), "{}", words(&output));
    let json = std::fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap();
    let figures: Value = serde_json::from_str(&json).unwrap();
    check(name, &figures);
    check_picture(&folder.path().join(format!("{name}.svg")));
    let text = words(&output);
    assert!(text.contains("the figures mean nothing") && text.contains(figures["title"].as_str().unwrap()), "{text}");
    for row in rows(&figures) {
        assert!(text.contains(row["what"].as_str().unwrap()), "not printed: {row}");
    }
    figures
}

fn rows(figures: &Value) -> &Vec<Value> {
    figures["rows"].as_array().expect("rows")
}

fn check(name: &str, figures: &Value) {
    assert_eq!((figures["name"].as_str(), figures["quick"].as_bool()), (Some(name), Some(true)));
    assert!(figures["rule"].as_array().is_some_and(|rule| rule.iter().all(|line| line.as_str().is_some_and(|l| l.len() > 20))));
    assert!(figures["machine"]["cpu"].is_string());
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_else(|| panic!("no {key}: {row}")).to_owned();
    assert!(rows(figures).len() > 2);
    let mut beside = 0;
    for row in rows(figures) {
        assert!(!text(row, "what").is_empty() && !text(row, "unit").is_empty(), "{row}");
        assert!(["measured", "modelled"].contains(&text(row, "how").as_str()), "{row}");
        match &row["ours"] {
            Value::Null => assert!(!text(row, "note").is_empty(), "why there is none: {row}"),
            ours => assert!(ours.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0), "{row}"),
        }
        if !row["paper"].is_null() {
            let paper = &row["paper"];
            assert!(paper["value"].is_number() && paper["line"].as_u64() > Some(0), "{row}");
            assert!(!text(paper, "place").is_empty() && !text(paper, "unit").is_empty(), "{row}");
            beside += 1;
        }
    }
    assert!(beside > 0, "{name} compares nothing");
}

fn check_picture(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{}", path.display());
    assert!(text.matches("<rect").count() > 4, "{} has no bars", path.display());
}

/// Our numbers of the rows whose name has all of these parts, in order.
fn ours(figures: &Value, parts: &[&str]) -> Vec<f64> {
    let of = rows(figures).iter().filter(|row| parts.iter().all(|part| row["what"].as_str().unwrap().contains(part)));
    let found: Vec<f64> = of.filter_map(|row| row["ours"].as_f64()).collect();
    assert!(!found.is_empty(), "no row has {parts:?}");
    found
}

/// Whether all rows whose name begins so are marked so.
fn marked(figures: &Value, begins: &str, how: &str) {
    let of: Vec<_> = rows(figures).iter().filter(|row| row["what"].as_str().unwrap().starts_with(begins)).collect();
    assert!(!of.is_empty() && of.iter().all(|row| row["how"] == how), "{begins}: {of:?}");
}

#[test]
fn names_are_listed_and_others_refused() {
    let output = reproduce(&["list"]);
    let text = words(&output);
    for name in ["figure7", "ceupf"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
    let output = reproduce(&["figure99"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("nothing is called `figure99`"), "{}", words(&output));
    let output = reproduce(&["ceupf", "--quick", "--out", "/proc/none"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("cannot write /proc/none"), "{}", words(&output));
}

#[test]
fn ceupf_measures_the_pipeline_and_models_the_switch() {
    let figures = quick("ceupf");
    marked(&figures, "x86", "measured");
    marked(&figures, "switch", "modelled");
    for direction in ["encapsulation", "decapsulation"] {
        assert_eq!(ours(&figures, &["x86", direction, "1 user, 1K rules"]).len(), 2);
        let switch = ours(&figures, &["switch", direction, " B"]);
        assert!(switch.is_sorted() && switch.iter().all(|gbps| *gbps <= 100.001), "{switch:?}");
    }
    // The paper's means follow from its links.
    let mean = ours(&figures, &["switch: encapsulation, mean"])[0];
    assert!((mean - 86.0).abs() < 1.0, "{mean}");
}

#[test]
fn figure7_puts_the_hybrid_between_its_parts() {
    let figures = quick("figure7");
    marked(&figures, "x86", "measured");
    marked(&figures, "chip", "modelled");
    marked(&figures, "hybrid", "modelled");
    let line = ours(&figures, &["chip's link"])[0];
    for ues in ["1K UEs", "2K UEs"] {
        let x86 = ours(&figures, &["x86 alone", ues])[0];
        for hybrid in ours(&figures, &["hybrid,", ues]) {
            assert!(hybrid <= line + 1e-9 && hybrid >= x86.min(line) - 1e-9, "{x86} {hybrid} {line}");
        }
    }
}
