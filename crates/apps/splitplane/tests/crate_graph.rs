//! Is the source laid out as the design says? Which crate may use which, where `unsafe` may live, what each file opens with.
//!
//! [`GRAPH`] is the design's list in its order; change both or neither. Dev-dependencies are not part of it: tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

/// Each crate below `crates/`, in its group, and which of ours it uses.
const GRAPH: &[(&str, &[&str])] = &[
    // Foundation.
    ("common/base", &[]),
    ("common/wire", &[]),
    ("common/testkit", &[]),
    // Loss, delay and rate for whoever emulates a link: the radio, and benchmarks of QoS.
    ("common/link", &[]),
    // How a command fails, is stopped, prints and logs.
    ("common/cli", &[]),
    // Bytes that fade, and the rates that they stand for: of the program's detector, and of those that it is compared with.
    ("common/decay", &[]),
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
    ("p4/p4-emit", &["base", "p4-analysis", "p4-ir", "program"]),
    // What an editor asks of a program; it only checks.
    ("p4/p4-lsp", &["p4-check"]),
    // C text to an object: the compiler as a child, and its objects kept.
    ("common/c-compile", &[]),
    // Gives free memory back to the system.
    ("common/allocator", &[]),
    // Memory on huge pages, for tables and queues.
    ("common/pages", &[]),
    // Data plane.
    ("dataplane/table", &["pages"]),
    // Memory shared with another process that nobody trusts.
    ("seams/shm", &[]),
    ("dataplane/pktio", &["base", "wire"]),
    ("dataplane/dpdk", &["base", "pktio"]),
    // What P4 cannot do, beside the pipeline: the seam by which a program calls it, and below what is behind it. No tables.
    ("seams/service", &["base", "shm"]),
    // The driver of a program that was cut calls the services.
    ("seams/target-api", &["base", "program", "service"]),
    // Pure: packets of any type, rates that are the caller's. As a service: packets, and rates of its own.
    ("services/shaper", &["pages", "service"]),
    // It gives packets to the service where they wait for control code, keeps those that wait for a rate, and marks them.
    ("dataplane/engine", &["base", "pages", "pktio", "program", "service", "shaper", "target-api", "wire"]),
    // Targets.
    ("targets/target-x86", &["base", "c-compile", "program", "table", "target-api"]),
    ("targets/target-xdp", &["base", "c-compile", "program", "target-api"]),
    // What a chip has room for; it runs nothing.
    ("targets/chip", &["p4-analysis", "p4-ir", "program"]),
    // A model: the interpreter under a chip's limits.
    ("targets/target-asic", &["base", "chip", "p4-interp", "p4-ir", "program", "target-api"]),
    // Mobile.
    ("mobile/pfcp", &[]),
    ("mobile/upf", &["base", "pfcp", "program", "target-api", "wire"]),
    // GTP-U in the steering program of ports: beside `upf`, which does no I/O.
    ("mobile/gtpu-steering", &["pktio"]),
    // An operator's rules instead of PFCP.
    ("mobile/ceupf", &["program"]),
    ("services/ciphering", &["service"]),
    ("services/buffer", &["base", "pages", "service"]),
    // The protocols above the radio: bytes, grants and time in, PDUs and SDUs out. It writes STATUS PDUs as `buffer` reads them.
    ("mobile/gnb", &["buffer", "ciphering"]),
    // The receiving sides of RLC and PDCP as a service.
    ("mobile/radio-bearer", &["gnb", "service"]),
    // The interpreter calls the services that lanes call: for traces and packet tests, where compiler and services meet.
    ("services/inline", &["base", "p4-interp", "p4-ir", "program", "service"]),
    // Control.
    // The one way from source to a running target: it drives the compiler's stages, and gives native targets the text with its program.
    (
        "control/p4-driver",
        &["c-compile", "cli", "p4-check", "p4-emit", "p4-ir", "p4-passes", "program", "service", "target-api", "target-x86", "target-xdp"],
    ),
    ("control/offload", &["base", "program", "target-api"]),
    // Tools.
    ("apps/traffic", &["base", "pfcp", "pktio", "wire"]),
    // A tester of any device: ports and packets, nothing of what it tests.
    ("apps/load", &["base", "dpdk", "pfcp", "pktio", "traffic", "wire"]),
    // A gNodeB and UEs that run: entities of `gnb` between sockets, over a link that loses.
    (
        "apps/gnodeb",
        &[
            "base",
            "buffer",
            "ciphering",
            "cli",
            "daemon",
            "engine",
            "gnb",
            "link",
            "p4-driver",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "target-api",
            "target-x86",
            "target-xdp",
            "traffic",
            "wire",
        ],
    ),
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
            "cli",
            // Rates of sessions, out of the cells of the program's detector.
            "decay",
            "dpdk",
            "engine",
            // What the numbers of a bearer of `radio-bearer` are.
            "gnb",
            "gtpu-steering",
            "offload",
            "p4-driver",
            "p4-interp",
            "p4-ir",
            "pfcp",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "target-api",
            "target-asic",
            "target-x86",
            "target-xdp",
            "upf",
            // Which queue of a port a frame waits in.
            "wire",
        ],
    ),
    // Where a program runs that is tested or traced, with the daemon's services.
    ("apps/packet-test", &["base", "cli", "daemon", "inline", "p4-driver", "p4-interp", "program", "service", "target-api", "target-xdp"]),
    // The binary that operators install: the command line.
    (
        "apps/splitplane",
        &[
            "allocator",
            "base",
            "chip",
            "cli",
            "daemon",
            "gnodeb",
            "link",
            "load",
            "p4-driver",
            "p4-interp",
            "p4-ir",
            "p4-lsp",
            "p4-passes",
            "packet-test",
            "pktio",
            "service",
            "traffic",
            // MAC addresses of the command line.
            "wire",
        ],
    ),
    // The laboratory: nothing of it is in that binary. Random programs as text.
    ("lab/p4-gen", &["base", "p4-ir", "program"]),
    // A second opinion for tests: it shares nothing with the lowering but the syntax tree.
    ("lab/p4-eval", &["base", "p4-syntax", "program"]),
    // Any target, failing on purpose: for tests.
    ("lab/target-chaos", &["base", "program", "target-api"]),
    // Conformance, for tests: a target beside the interpreter, stand-ins, packets that wait for services.
    ("lab/target-kit", &["base", "p4-check", "p4-gen", "p4-interp", "p4-ir", "p4-passes", "program", "service", "target-api"]),
    ("lab/offload-kit", &["base", "offload", "p4-driver", "p4-ir", "program", "target-api", "target-asic", "target-chaos", "target-x86"]),
    // Sessions by their numbers, for tests and benchmarks.
    ("lab/upf-kit", &["base", "pfcp", "program", "upf", "wire"]),
    // Packets as numbers: nobody's headers, nobody's tables.
    ("lab/detect", &["decay"]),
    // The hand-written limit that benchmarks measure by.
    ("lab/baseline", &["base", "dpdk", "program", "table", "target-api"]),
    // What tries and measures the UPF.
    (
        "lab/lab",
        &[
            "base",
            "baseline",
            "buffer",
            "ceupf",
            "chip",
            "ciphering",
            "cli",
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
            "p4-driver",
            "p4-eval",
            "p4-gen",
            "p4-interp",
            "p4-ir",
            "p4-syntax",
            "packet-test",
            "pfcp",
            "pktio",
            "program",
            "radio-bearer",
            "service",
            "shaper",
            "table",
            "target-api",
            "target-asic",
            "target-x86",
            "target-xdp",
            "traffic",
            "upf",
            "upf-kit",
            "wire",
        ],
    ),
    // Its command line. It starts the other binary.
    ("lab/splitplane-lab", &["allocator", "cli", "daemon", "lab"]),
];

/// Groups, the lowest first: each uses those before it only.
const LAYERS: &[&str] = &["common", "seams", "p4", "services", "dataplane", "mobile", "targets", "control", "apps", "lab"];

const COMPILER: &[&str] =
    &["p4-syntax", "p4-lint", "p4-ir", "p4-analysis", "p4-check", "p4-passes", "p4-interp", "p4-gen", "p4-eval", "p4-emit", "p4-lsp"];
const DATA_PLANE: &[&str] = &["table", "pktio", "dpdk", "target-api", "engine", "target-x86", "target-xdp", "target-asic", "target-chaos"];
const CONCRETE_TARGETS: &[&str] = &["target-x86", "target-xdp", "target-asic", "target-chaos"];
const MOBILE_AND_CONTROL: &[&str] = &["pfcp", "upf", "ceupf", "offload"];

/// No crate of the first list reaches one of the second, however long the way. The reason is for who breaks it.
const NEVER: &[(&[&str], &[&str], &str)] = &[
    (COMPILER, DATA_PLANE, "compiler and targets meet only in `program`"),
    (COMPILER, MOBILE_AND_CONTROL, "the compiler knows P4, not mobile networks"),
    (&["upf", "ceupf", "offload", "engine", "pfcp"], CONCRETE_TARGETS, "what decides where packets go must not know what the places are"),
    (&["upf", "ceupf", "offload", "engine", "pfcp"], COMPILER, "a compiled program is data: its users need no compiler"),
    (&["target-x86", "target-xdp"], COMPILER, "a native target runs what it is given"),
    (&["p4-driver"], MOBILE_AND_CONTROL, "any program becomes a target, not only the UPF"),
    (&["p4-driver"], &["engine", "pktio", "daemon"], "a target is driven by others"),
    (DATA_PLANE, MOBILE_AND_CONTROL, "the data plane runs any program, not only the UPF"),
    (&["traffic", "load"], &["upf", "engine", "target-api"], "an emulator that shares code with what it tests agrees with its faults"),
    (&["pfcp", "upf", "ceupf"], &["pktio", "engine"], "protocol code does no I/O"),
    (&["daemon"], &["load", "traffic"], "what runs for operators holds nothing that only tries or measures it"),
];

/// Crates that run any program.
const WITHOUT_3GPP: &[&str] = &["pktio", "engine", "target-api", "target-x86", "target-xdp", "target-chaos", "offload"];

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
fn groups_are_layers() {
    let crates = crates();
    let layer = |krate: &Crate| {
        let group = krate.folder.parent().and_then(Path::file_name).unwrap().to_str().unwrap();
        LAYERS.iter().position(|of| *of == group).unwrap_or_else(|| panic!("{group} is no layer"))
    };
    let layers: BTreeMap<&str, usize> = crates.iter().map(|krate| (krate.name.as_str(), layer(krate))).collect();
    let (mut wrong, mut between) = (Vec::new(), 0);
    for krate in &crates {
        for used in &krate.uses {
            let (own, other) = (layers[krate.name.as_str()], layers[used.as_str()]);
            between += usize::from(own != other);
            if own < other {
                wrong.push(format!("{} is in {}, below {} of {used}", krate.name, LAYERS[own], LAYERS[other]));
            }
        }
    }
    assert!(between > 100, "{between} uses between groups were seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

/// What operators install holds nothing that only tries or measures it: no crate of the laboratory, and nothing that only the laboratory uses.
#[test]
fn the_laboratory_is_apart_from_what_operators_install() {
    let crates = crates();
    let uses: BTreeMap<&str, &BTreeSet<String>> = crates.iter().map(|krate| (krate.name.as_str(), &krate.uses)).collect();
    let mut product = reach("splitplane", &uses);
    product.insert("splitplane");
    let mut wrong = Vec::new();
    for krate in &crates {
        let in_laboratory = krate.folder.parent().is_some_and(|group| group.ends_with("lab"));
        match (in_laboratory, product.contains(krate.name.as_str())) {
            (true, true) => wrong.push(format!("splitplane reaches {}, which is the laboratory's", krate.name)),
            // It is for the tests of all crates, those of the foundation too.
            (false, false) if krate.name != "testkit" => {
                wrong.push(format!("splitplane does not use {}: it belongs in crates/lab", krate.name))
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As [`the_laboratory_is_apart_from_what_operators_install`], of all crates that cargo would link.
#[test]
fn what_operators_install_draws_no_charts_and_runs_no_experiments() {
    let closure = |package: &str| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package]);
        let output = command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    let (product, laboratory) = (closure("splitplane"), closure("splitplane-lab"));
    for name in ["plotters", "indicatif", "rand_distr", "lab", "detect", "baseline", "p4-gen", "p4-eval", "upf-kit"] {
        assert!(laboratory.contains(name), "the rule about {name} is void: the laboratory does not use it");
        assert!(!product.contains(name), "splitplane links {name}, which is the laboratory's");
    }
    assert!(product.contains("daemon") && product.contains("clap"), "{product:?}");
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

/// Rooms of a crate, folders or files of its `src`, the lowest first: each uses those before it only.
const ROOMS: &[(&str, &[&str])] =
    &[("apps/daemon", &["config", "process", "manage", "n4", "datapath", "chip_model", "agent", "ceupf", "run"])];

#[test]
fn rooms_of_a_crate_use_only_those_below_them() {
    let mut uses = 0;
    let all = crates();
    for (krate, rooms) in ROOMS {
        let src = all.iter().find(|of| of.folder.ends_with(krate)).expect("it is one of ours").folder.join("src");
        for file in rust_files(&src) {
            let inside = file.strip_prefix(&src).unwrap();
            let room = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
            if room == "lib" || inside.iter().any(|part| part == "tests" || part == "tests.rs") {
                continue;
            }
            let own = rooms.iter().position(|of| *of == room).unwrap_or_else(|| panic!("{}: {room} is no room of {krate}", file.display()));
            let text = read(&file);
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for used in line.split("crate::").skip(1) {
                    let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let Some(other) = rooms.iter().position(|of| *of == used) else { continue };
                    assert!(other <= own, "{}: {room} is below {used}, and uses it: {line}", file.display());
                    uses += 1;
                }
            }
        }
    }
    assert!(uses > 100, "{uses} uses of rooms were seen");
}

/// Crates with a circle of more than three files, and how many it has. A circle that is opened or grows is a change here.
const CIRCLES: &[(&str, usize)] = &[("p4/p4-emit", 12), ("mobile/pfcp", 11)];

/// A reader of one file of a circle has to read all of them. The test counts uses of items by `crate::`, `super::` and `self::`. A folder's own file does not count
/// for the files below it, since it only names them.
#[test]
fn files_of_a_crate_use_one_another_in_small_circles_only() {
    let mut found = BTreeMap::new();
    let mut uses = 0;
    for krate in crates() {
        let files = modules(&krate.folder.join("src"));
        let graph: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
            files.iter().map(|(module, text)| (module, used_modules(module, text, &files))).collect();
        uses += graph.values().map(BTreeSet::len).sum::<usize>();
        let reached = |from| {
            let (mut reached, mut todo) = (BTreeSet::new(), vec![from]);
            while let Some(module) = todo.pop() {
                todo.extend(graph[module].iter().copied().filter(|used| reached.insert(*used)));
            }
            reached
        };
        let all: BTreeMap<_, _> = graph.keys().map(|module| (*module, reached(*module))).collect();
        let circle = |module: &Vec<String>| all[module].iter().filter(|other| all[**other].contains(module)).count();
        let longest = graph.keys().map(|module| circle(module)).max().unwrap_or_default();
        if longest > 3 {
            found.insert(format!("{}/{}", krate.folder.parent().unwrap().file_name().unwrap().display(), krate.name), longest);
        }
    }
    let expected: BTreeMap<String, usize> = CIRCLES.iter().map(|(name, files)| ((*name).to_owned(), *files)).collect();
    assert_eq!(found, expected, "circles of more than three files");
    assert!(uses > 1000, "{uses} uses were seen");
}

/// The modules of a crate that are files, by their paths, with their code: no tests and no comments.
fn modules(src: &Path) -> BTreeMap<Vec<String>, String> {
    let mut modules = BTreeMap::new();
    for file in rust_files(src) {
        let mut path: Vec<String> =
            file.strip_prefix(src).unwrap().with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if path.iter().any(|part| part == "tests" || part == "bin") {
            continue;
        }
        path.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        let text = read(&file);
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        modules.insert(path, code.join("\n"));
    }
    modules
}

/// The modules whose items a file's code names.
fn used_modules<'a>(own: &[String], code: &str, files: &'a BTreeMap<Vec<String>, String>) -> BTreeSet<&'a Vec<String>> {
    let mut used = BTreeSet::new();
    let identifier = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    for (start, from) in [("crate::", &[][..]), ("super::", &own[..own.len().saturating_sub(1)]), ("self::", own)] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == ':') {
                continue;
            }
            let (mut path, mut rest) = (from.to_vec(), &code[at + start.len()..]);
            while let Some(behind) = rest.strip_prefix("super::") {
                path.pop();
                rest = behind;
            }
            while rest.starts_with(char::is_alphanumeric) || rest.starts_with('_') {
                let name = identifier(rest);
                let Some(behind) = rest[name.len()..].strip_prefix("::") else {
                    path.push(name);
                    rest = "";
                    break;
                };
                path.push(name);
                rest = behind;
            }
            let inside = rest.strip_prefix('{').map_or("", |list| &list[..list.find('}').unwrap_or(list.len())]);
            let names = inside.split(',').map(|name| identifier(name.trim_start())).filter(|name| !name.is_empty());
            let paths = names.map(|name| [path.clone(), vec![name]].concat()).chain([path.clone()]);
            for path in paths {
                let module = (1..=path.len()).rev().find_map(|n| files.get_key_value(&path[..n]));
                used.extend(module.map(|(module, _)| module).filter(|module| !own.starts_with(module.as_slice())));
            }
        }
    }
    used
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
