//! Do the crates that come into the build keep the rules of `deny.toml`: licences, where they come from, which may not come at all?
//!
//! `cargo deny check` looks at the same file and at published faults besides, which needs their database. This needs nothing.

use std::path::Path;
use std::process::Command;

#[test]
fn every_crate_in_the_build_keeps_the_rules_of_deny_toml() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let rules: toml::Table = std::fs::read_to_string(root.join("deny.toml")).unwrap().parse().unwrap();
    let list = |table: &str, key: &str| -> Vec<String> {
        let values = rules[table][key].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let (licences, banned, registries) = (list("licenses", "allow"), list("bans", "deny"), list("sources", "allow-registry"));
    assert!(list("sources", "allow-git").is_empty() && !licences.is_empty() && !banned.is_empty());
    // Crates for other systems are in no build of ours, and a fresh machine has not downloaded them.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &platform])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        if banned.iter().any(|banned| banned == name) {
            wrong.push(format!("{name} is banned"));
        }
        let Some(source) = package["source"].as_str() else { continue };
        if !registries.iter().any(|registry| source == format!("registry+{registry}")) {
            wrong.push(format!("{name} comes from {source}"));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !allows(&licences, licence) {
            wrong.push(format!("{name} has the licence `{licence}`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether an SPDX expression can be met by these licences.
fn allows(licences: &[String], expression: &str) -> bool {
    // Older manifests write `/` for OR, which the lax mode takes.
    let Ok(expression) = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX) else { return false };
    expression.evaluate(|asked| licences.contains(&asked.to_string()))
}

#[test]
fn a_licence_that_is_not_listed_is_found() {
    let licences = ["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
    for (expression, allowed) in [
        ("MIT", true),
        ("MIT/GPL-3.0-only", true),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("", false),
        ("my own", false),
    ] {
        assert_eq!(allows(&licences, expression), allowed, "{expression}");
    }
}
