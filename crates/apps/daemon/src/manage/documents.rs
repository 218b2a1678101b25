//! Do the documents name everything that the daemon can say? The lists are the code's.

use std::collections::BTreeSet;
use std::path::Path;

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs").join(name)).unwrap()
}

/// Words in backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Names in quotes in a file of a crate, without its tests: those of reasons are nowhere else.
fn names_in(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_name = |word: &&str| word.len() > 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    // Not those of comments and messages: a literal is between a pair of quotes of its own.
    code.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).filter(is_name).map(str::to_owned).collect()
}

#[test]
fn every_reason_of_program_engine_host_and_n4_is_explained() {
    let named: BTreeSet<&str> = crate::manage::reasons::all().iter().map(|of| of.reason.as_str()).collect();
    let ir = p4_driver::compile(Path::new("upf.p4"), &[], &[("SESSIONS".into(), "1024".into())]).unwrap();
    let of_program = ir.program.reasons.iter().map(|(_, name)| name.clone());
    let of_engine = (0..=255).filter_map(|code| base::DropReason(code).engine_name()).map(str::to_owned);
    let of_host = ["mobile/upf/src/host.rs", "mobile/upf/src/neighbours.rs"].map(names_in);
    let of_n4 = names_in("mobile/pfcp/src/stats.rs");
    assert!(of_host[0].len() > 30 && of_n4.len() > 10, "{of_host:?} {of_n4:?}");
    let all: BTreeSet<String> = of_program.chain(of_engine).chain(of_host.into_iter().flatten()).chain(of_n4).collect();
    let missing: Vec<&String> = all.iter().filter(|name| !named.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/reasons.md does not explain {missing:?}");
}

#[test]
fn every_reason_of_placement_is_explained() {
    let page = document("operating.md");
    let named = quoted(&page);
    let missing: Vec<&str> = offload::Reason::ALL.iter().map(|reason| reason.name()).filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "docs/operating.md does not explain {missing:?}");
}

/// The fields of the structures in a file of ours, as tables: from their comments.
fn tables(source: &str) -> String {
    let (mut out, mut comment, mut in_struct) = (String::new(), String::new(), false);
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    for line in code.lines() {
        let text = line.trim();
        if let Some(more) = text.strip_prefix("///") {
            comment = format!("{comment} {}", more.trim()).trim().replace("[`", "`").replace("`]", "`").replace('|', "\\|");
        } else if let Some(name) = line.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")) {
            out += &format!("\n## {name}\n\n{}\n\n| field | type | meaning |\n|---|---|---|\n", std::mem::take(&mut comment));
            in_struct = true;
        } else if let (true, Some((name, kind))) = (in_struct, text.strip_prefix("pub ").and_then(|rest| rest.split_once(": "))) {
            out += &format!("| `{name}` | `{}` | {} |\n", kind.trim_end_matches(','), std::mem::take(&mut comment));
        } else if !text.starts_with("#[") {
            in_struct &= text != "}";
            comment.clear();
        }
    }
    out
}

#[test]
fn the_page_of_report_fields_is_that_of_the_structures() {
    let page = "# Fields of the report, and of what `splitplane show --json` prints\n\nMade from `crates/apps/daemon/src/manage/report.rs` and `sessions.rs`, with the types of the \
                source: a `BTreeMap` is an object, a `Vec` a list, an `Option` may be null. SEIDs are text. `run --report` writes a `Report`; `show report`, `overview`, \
                `ports`, `drops`, `tables`, `targets`, `workers`, `peers` and `offload` print it or a part of it, `show sessions` a `SessionPage`, and `show session` a \
                `SessionDetail`. How to ask: [operating.md](operating.md).\n";
    let sources = [include_str!("report.rs"), include_str!("sessions.rs")];
    testkit::assert_golden("../../../docs/report.md", &format!("{page}{}", sources.map(tables).concat()));
}

#[test]
fn every_signal_that_a_daemon_takes_is_explained() {
    let page = document("configuration.md");
    let signals: BTreeSet<&str> = include_str!("../../../../common/cli/src/stop.rs")
        .split("Signal::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .collect();
    let signals: Vec<&&str> = signals.iter().filter(|name| name.starts_with("SIG")).collect();
    assert!(signals.len() >= 5 && signals.iter().all(|name| page.contains(**name)), "{signals:?}");
}
