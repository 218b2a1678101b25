//! Is the source laid out as the design says? Which crate may use which, where `unsafe` may live, what each file opens with.
//!
//! [`GRAPH`] is the design's list in its order; change both or neither. Dev-dependencies are not part of it: tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// Each crate below `crates/`, in its group, and which of ours it uses.
const GRAPH: &[(&str, &[&str])] = &[
    // Foundation.
    ("common/base", &[]),
    ("common/wire", &[]),
    ("common/testkit", &[]),
    // Loss, delay and rate for whoever emulates a link: the radio, and benchmarks of QoS.
    ("common/link", &[]),
    // Compiler. It meets the targets only in `program`.
    ("p4/p4-syntax", &[]),
    ("common/program", &["base"]),
    ("p4/p4-ir", &["base", "program"]),
    ("p4/p4-analysis", &["p4-ir", "program"]),
    // Warnings that need no lowering.
    ("p4/p4-lint", &["p4-syntax"]),
    ("p4/p4-check", &["base", "p4-analysis", "p4-ir", "p4-lint", "p4-syntax", "program"]),
    ("p4/p4-passes", &["p4-analysis", "p4-ir", "program"]),
    ("p4/p4-interp", &["base", "p4-ir", "program"]),
    // Random programs as text.
    ("p4/p4-gen", &["p4-ir"]),
    // A second opinion for tests: it shares nothing with the lowering but the syntax tree.
    ("p4/p4-eval", &["base", "p4-syntax", "program"]),
    ("p4/p4-emit", &["base", "p4-analysis", "p4-ir", "program"]),
    // What an editor asks of a program; it only checks.
    ("p4/p4-lsp", &["p4-check"]),
    // What a chip has room for; it runs nothing.
    ("control/chip", &["p4-analysis", "p4-ir", "program"]),
    // C text to an object: the compiler as a child, and its objects kept.
    ("common/c-compile", &[]),
    // Gives free memory back to the system.
    ("common/allocator", &[]),
    // Memory on huge pages, for tables and queues.
    ("common/pages", &[]),
    // Data plane.
    ("dataplane/table", &["pages"]),
    // Memory shared with another process that nobody trusts.
    ("dataplane/shm", &[]),
    ("dataplane/pktio", &["base", "wire"]),
    ("dataplane/dpdk", &["base", "pktio"]),
    // What P4 cannot do, beside the pipeline: the seam by which a program calls it, and below what is behind it. No tables.
    ("services/service", &["base", "shm"]),
    // The driver of a program that was cut calls the services.
    ("targets/target", &["base", "program", "service"]),
    // Pure: packets of any type, rates that are the caller's. As a service: packets, and rates of its own.
    ("services/shaper", &["pages", "service"]),
    // It gives packets to the service where they wait for control code, keeps those that wait for a rate, and marks them.
    ("dataplane/engine", &["base", "pages", "pktio", "program", "service", "shaper", "target", "wire"]),
    // Targets.
    ("targets/target-x86", &["base", "c-compile", "program", "table", "target"]),
    ("targets/target-xdp", &["base", "c-compile", "program", "target"]),
    // A model: the interpreter under a chip's limits.
    ("targets/target-asic", &["base", "chip", "p4-interp", "p4-ir", "program", "target"]),
    // Any of them, failing on purpose: for tests.
    ("targets/target-chaos", &["base", "program", "target"]),
    // Conformance, for tests: a target beside the interpreter, stand-ins, packets that wait for services.
    ("targets/target-kit", &["base", "p4-check", "p4-interp", "p4-ir", "p4-passes", "program", "service", "target"]),
    // Mobile.
    ("mobile/pfcp", &[]),
    ("mobile/upf", &["base", "pfcp", "program", "target", "wire"]),
    // GTP-U in the steering program of ports: beside `upf`, which does no I/O.
    ("mobile/gtpu-steering", &["pktio"]),
    // An operator's rules instead of PFCP.
    ("mobile/ceupf", &["program"]),
    ("services/ciphering", &["service"]),
    ("services/buffer", &["base", "service"]),
    // The protocols above the radio: bytes, grants and time in, PDUs and SDUs out. It writes STATUS PDUs as `buffer` reads them.
    ("mobile/gnb", &["buffer", "ciphering"]),
    // The receiving sides of RLC and PDCP as a service.
    ("services/radio-bearer", &["gnb", "service"]),
    // The interpreter calls the services that lanes call: for traces and packet tests, where compiler and services meet.
    ("services/inline", &["base", "p4-interp", "p4-ir", "program", "service"]),
    // Control.
    ("control/offload", &["base", "program", "target"]),
    (
        "control/offload-kit",
        &["base", "offload", "p4-check", "p4-emit", "p4-ir", "p4-passes", "program", "target", "target-asic", "target-chaos", "target-x86"],
    ),
    // Tools.
    ("apps/traffic", &["pfcp", "wire"]),
    // A tester of any device: ports and packets, nothing of what it tests.
    ("apps/load", &["base", "dpdk", "pktio", "traffic", "wire"]),
    // A gNodeB and UEs that run: entities of `gnb` between sockets, over a link that loses.
    // The program's targets and services are made as the daemon makes them.
    (
        "apps/gnodeb",
        &[
            "base",
            "buffer",
            "ciphering",
            "daemon",
            "engine",
            "gnb",
            "link",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "target",
            "target-x86",
            "target-xdp",
            "traffic",
            "wire",
        ],
    ),
    // Packets as numbers: nobody's headers, nobody's tables.
    ("apps/detect", &[]),
    // The hand-written limit that benchmarks measure by.
    ("apps/baseline", &["base", "dpdk", "program", "table", "target"]),
    // The daemon composes what carries packets and speaks PFCP.
    (
        "apps/daemon",
        &[
            "allocator",
            "base",
            "buffer",
            "c-compile",
            "ceupf",
            "chip",
            "ciphering",
            // Rates of sessions, out of the cells of the program's detector.
            "detect",
            "dpdk",
            "engine",
            // What the numbers of a bearer of `radio-bearer` are.
            "gnb",
            "gtpu-steering",
            "offload",
            "p4-check",
            "p4-emit",
            "p4-interp",
            "p4-ir",
            "p4-passes",
            "pfcp",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "target",
            "target-asic",
            "target-x86",
            "target-xdp",
            "upf",
            // Which queue of a port a frame waits in.
            "wire",
        ],
    ),
    // What tries and measures it.
    (
        "apps/lab",
        &[
            "base",
            "baseline",
            "buffer",
            "ceupf",
            "chip",
            "ciphering",
            "daemon",
            "detect",
            "dpdk",
            "engine",
            "gnb",
            "gnodeb",
            "inline",
            "link",
            "offload",
            "p4-check",
            "p4-emit",
            "p4-eval",
            "p4-gen",
            "p4-interp",
            "p4-ir",
            "p4-passes",
            "p4-syntax",
            "pfcp",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "table",
            "target",
            "target-asic",
            "target-x86",
            "target-xdp",
            "traffic",
            "upf",
            "wire",
        ],
    ),
    // The binary: the command line.
    (
        "apps/splitplane",
        &[
            "allocator",
            "base",
            "buffer",
            "chip",
            "ciphering",
            "daemon",
            "gnodeb",
            "lab",
            "link",
            "load",
            "p4-emit",
            "p4-interp",
            "p4-ir",
            "p4-lsp",
            "p4-passes",
            "pktio",
            "service",
            "traffic",
            // MAC addresses of the command line.
            "wire",
        ],
    ),
];

const COMPILER: &[&str] =
    &["p4-syntax", "p4-lint", "p4-ir", "p4-analysis", "p4-check", "p4-passes", "p4-interp", "p4-gen", "p4-eval", "p4-emit", "p4-lsp"];
const DATA_PLANE: &[&str] = &["table", "pktio", "dpdk", "target", "engine", "target-x86", "target-xdp", "target-asic", "target-chaos"];
const CONCRETE_TARGETS: &[&str] = &["target-x86", "target-xdp", "target-asic", "target-chaos"];
const MOBILE_AND_CONTROL: &[&str] = &["pfcp", "upf", "ceupf", "offload"];

/// No crate of the first list reaches one of the second, however long the way. The reason is for who breaks it.
const NEVER: &[(&[&str], &[&str], &str)] = &[
    (COMPILER, DATA_PLANE, "compiler and targets meet only in `program`"),
    (COMPILER, MOBILE_AND_CONTROL, "the compiler knows P4, not mobile networks"),
    (&["upf", "ceupf", "offload", "engine", "pfcp"], CONCRETE_TARGETS, "what decides where packets go must not know what the places are"),
    (&["upf", "ceupf", "offload", "engine", "pfcp"], COMPILER, "a compiled program is data: its users need no compiler"),
    (&["target-x86", "target-xdp"], COMPILER, "a native target runs what it is given"),
    (DATA_PLANE, MOBILE_AND_CONTROL, "the data plane runs any program, not only the UPF"),
    (&["traffic", "load"], &["upf", "engine", "target"], "an emulator that shares code with what it tests agrees with its faults"),
    (&["pfcp", "upf", "ceupf"], &["pktio", "engine"], "protocol code does no I/O"),
    (&["daemon"], &["lab", "load", "traffic", "baseline"], "what runs for operators holds nothing that only tries or measures it"),
];

/// Crates that run any program.
const WITHOUT_3GPP: &[&str] = &["pktio", "engine", "target", "target-x86", "target-xdp", "target-chaos", "offload"];

/// Terms of 3GPP, in lower case.
const TERMS_3GPP: &[&str] = &[
    "ue", "ues", "upf", "smf", "amf", "gnb", "gnodeb", "pdr", "pdrs", "urr", "urrs", "qer", "qers", "teid", "teids", "fteid", "qfi",
    "qfis", "5qi", "seid", "seids", "gtp", "gtpu", "pfcp", "n3", "n4", "n6", "n9", "3gpp", "nssai", "paging", "paged",
];

/// Crates that may have `unsafe`: they call the kernel, map memory or run generated code.
const MAY_BE_UNSAFE: &[&str] =
    &["allocator", "pages", "c-compile", "table", "shm", "pktio", "dpdk", "ciphering", "target-x86", "target-xdp", "baseline"];

/// A crate as its manifest and its folder say.
struct Crate {
    name: String,
    folder: PathBuf,
    /// Of ours, without dev-dependencies.
    uses: BTreeSet<String>,
}

#[test]
fn the_graph_is_the_designs() {
    let crates = crates();
    let name = |place: &'static str| place.split_once('/').expect("a group and a name").1;
    let expected: BTreeMap<&str, BTreeSet<&str>> =
        GRAPH.iter().map(|(place, uses)| (name(place), uses.iter().copied().collect())).collect();
    let places: BTreeMap<&str, &str> = GRAPH.iter().map(|(place, _)| (name(place), *place)).collect();
    let mut wrong = Vec::new();
    for krate in &crates {
        let name = krate.name.as_str();
        let Some(expected) = expected.get(name) else {
            wrong.push(format!("{name} is not in the design's list"));
            continue;
        };
        if !krate.folder.ends_with(places[name]) {
            wrong.push(format!("{name} lies in {}, not in {}", krate.folder.display(), places[name]));
        }
        let uses: BTreeSet<&str> = krate.uses.iter().map(String::as_str).collect();
        wrong.extend(uses.difference(expected).map(|used| format!("{name} must not use {used}")));
        wrong.extend(expected.difference(&uses).map(|unused| format!("{name} no longer uses {unused}: take it off the list")));
    }
    let names: BTreeSet<&str> = crates.iter().map(|krate| krate.name.as_str()).collect();
    wrong.extend(
        expected.keys().filter(|name| !names.contains(*name)).map(|name| format!("{name} is in the list, but there is no such crate")),
    );
    assert!(wrong.is_empty(), "the crate graph is not the design's:\n  {}", wrong.join("\n  "));
}

#[test]
fn no_crate_reaches_what_it_must_not() {
    let crates = crates();
    let uses: BTreeMap<&str, &BTreeSet<String>> = crates.iter().map(|krate| (krate.name.as_str(), &krate.uses)).collect();
    let mut wrong = Vec::new();
    for (from, to, why) in NEVER {
        for name in from.iter().chain(to.iter()) {
            assert!(uses.contains_key(name), "the rule about {name} is void: there is no such crate");
        }
        for start in *from {
            let reached = reach(start, &uses);
            wrong.extend(to.iter().filter(|end| reached.contains(*end)).map(|end| format!("{start} reaches {end}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn test_helpers_do_not_ship() {
    for krate in crates() {
        for helper in ["testkit", "target-kit", "offload-kit"] {
            assert!(!krate.uses.contains(helper), "{} uses {helper} outside its tests", krate.name);
        }
    }
}

#[test]
fn unsafe_lives_only_where_it_must() {
    let mut wrong = Vec::new();
    for krate in crates() {
        let root = root_file(&krate);
        let forbids = read(&root).lines().any(|line| line.trim_end() == "#![forbid(unsafe_code)]");
        match (forbids, MAY_BE_UNSAFE.contains(&krate.name.as_str())) {
            (false, false) => wrong.push(format!("{} lacks #![forbid(unsafe_code)]", root.display())),
            (true, true) => wrong.push(format!("{} forbids unsafe code: take {} off the list", root.display(), krate.name)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What runs any program names nothing of mobile networks, neither in code nor in comments. Not yet: the chips' models.
#[test]
fn the_engine_and_the_targets_name_no_3gpp_term() {
    let mut wrong = Vec::new();
    let mut words = 0;
    for krate in crates().iter().filter(|krate| WITHOUT_3GPP.contains(&krate.name.as_str())) {
        for file in rust_files(&krate.folder.join("src")) {
            for (n, line) in read(&file).lines().enumerate() {
                let line_words = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
                for word in line_words {
                    words += 1;
                    // A far end is none.
                    if word == "FAR" || TERMS_3GPP.contains(&word.to_ascii_lowercase().as_str()) {
                        wrong.push(format!("{}:{}: {word}", file.display(), n + 1));
                    }
                }
            }
        }
    }
    assert!(words > 10_000, "{words} words");
    assert!(wrong.is_empty(), "terms of 3GPP:\n  {}", wrong.join("\n  "));
}

#[test]
fn each_file_opens_with_what_it_is_about() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for krate in crates() {
        for file in rust_files(&krate.folder.join("src")) {
            seen += 1;
            if !read(&file).starts_with("//! ") {
                wrong.push(format!("{} does not open with //! and what it answers", file.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} source files found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Everything that `start` uses, and what that uses.
fn reach<'a>(start: &'a str, uses: &BTreeMap<&'a str, &'a BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(name) = todo.pop() {
        let used = uses.get(name).into_iter().copied().flatten().map(String::as_str);
        todo.extend(used.filter(|used| reached.insert(*used)));
    }
    reached
}

fn crates() -> Vec<Crate> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("crates have a common folder");
    let mut crates: Vec<(Crate, Table)> = subfolders(&folder)
        .iter()
        .flat_map(|group| subfolders(group))
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| {
            let path = folder.join("Cargo.toml");
            let manifest: Table = read(&path).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
            (Crate { name, folder, uses: BTreeSet::new() }, manifest)
        })
        .collect();
    let ours: BTreeSet<String> = crates.iter().map(|(krate, _)| krate.name.clone()).collect();
    for (krate, manifest) in &mut crates {
        krate.uses = dependencies(manifest).filter(|name| ours.contains(name)).collect();
    }
    crates.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    crates.into_iter().map(|(krate, _)| krate).collect()
}

/// Packages that a manifest names as dependencies or build-dependencies, for any platform.
fn dependencies(manifest: &Table) -> impl Iterator<Item = String> {
    let platforms = manifest.get("target").and_then(|value| value.as_table());
    let per_platform = platforms.into_iter().flat_map(|platforms| platforms.values().filter_map(|value| value.as_table()));
    std::iter::once(manifest)
        .chain(per_platform)
        .flat_map(|table| ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table.get(kind)?.as_table()))
        .flatten()
        .map(|(name, value)| value.get("package").and_then(|package| package.as_str()).unwrap_or(name).to_owned())
}

fn root_file(krate: &Crate) -> PathBuf {
    let library = krate.folder.join("src/lib.rs");
    if library.is_file() { library } else { krate.folder.join("src/main.rs") }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = entries(folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    files.extend(subfolders(folder).iter().flat_map(|folder| rust_files(folder)));
    files
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read to its end").path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
