//! Does every reproduction run, and does it say of each number what it is?

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// In the order of files.
const NAMES: [&str; 28] = [
    "bose-figure3",
    "bose-figure4",
    "bose-figure5",
    "bose-table1",
    "bose-table2",
    "ceupf-figure2",
    "memarian-figure10",
    "memarian-figure11",
    "memarian-figure12",
    "memarian-figure13",
    "memarian-figure7",
    "memarian-figure8",
    "memarian-figure9",
    "memarian-table1",
    "singh-cipher",
    "singh-figure10",
    "singh-figure11",
    "singh-figure12",
    "singh-figure13",
    "singh-figure14",
    "singh-figure15",
    "singh-figure7",
    "singh-figure7b",
    "singh-figure8",
    "singh-figure9",
    "singh-table4",
    "singh-table5",
    "singh-table6",
];

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"));
    command.arg("reproduce").args(args).env("RUST_LOG", "off").output().expect("the binary runs")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// All of them with `--quick`, once for all tests: the folder, and what was printed.
fn all() -> &'static (tempfile::TempDir, String) {
    static ALL: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    ALL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = reproduce(&["all", "--quick", "--out", &folder.path().display().to_string()]);
        // Its last words first: what comes before fills pages.
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}, {told}\nand before: {}", output.status, words(&output));
        (folder, words(&output))
    })
}

/// Checks what all of them promise, and gives the figures of one.
fn quick(name: &str) -> Value {
    let (folder, text) = all();
    let json = std::fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap();
    let figures: Value = serde_json::from_str(&json).unwrap();
    check(name, &figures);
    check_picture(&folder.path().join(format!("{name}.svg")));
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
        assert!(["measured", "modelled", "cited"].contains(&text(row, "how").as_str()), "{row}");
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
    // Of some figures the paper's text has words alone: then the rule says so.
    let words = figures["rule"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("text has no number"));
    assert!(beside > 0 || words, "{name} compares nothing");
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
    for name in NAMES {
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
    let figures = quick("ceupf-figure2");
    marked(&figures, "x86", "measured");
    marked(&figures, "switch", "modelled");
    for direction in ["encapsulation", "decapsulation"] {
        assert_eq!(ours(&figures, &["x86", direction, "1 user, 1K rules"]).len(), 2);
        let switch = ours(&figures, &["switch", direction, " B"]);
        assert!(switch.is_sorted() && switch.iter().all(|gbps| *gbps <= 100.001), "{switch:?}");
    }
    // The paper's means follow from its links.
    let latency = ours(&figures, &["latency of the stages"]);
    assert!(latency.len() == 2 && latency[0] > 0.01 && latency[0] < 0.93, "less than from port to port: {latency:?}");
    let mean = ours(&figures, &["switch: encapsulation, mean"])[0];
    assert!((mean - 86.0).abs() < 1.0, "{mean}");
}

#[test]
fn figure7_puts_the_hybrid_between_its_parts() {
    let figures = quick("singh-figure7");
    marked(&figures, "x86", "measured");
    marked(&figures, "chip", "modelled");
    marked(&figures, "hybrid", "modelled");
    for link in [" 10 Gbit/s", " 100 Gbit/s"] {
        let line = ours(&figures, &["chip's link", link])[0];
        for ues in ["1K UEs", "2K UEs"] {
            let x86 = ours(&figures, &["x86 alone", ues])[0];
            let hybrids = ours(&figures, &["hybrid,", link, ues]);
            assert_eq!(hybrids.len(), 4);
            // The higher the threshold, the less is on the chip.
            assert!(hybrids.is_sorted_by(|a, b| a >= b), "{hybrids:?}");
            assert!(hybrids.iter().all(|hybrid| *hybrid <= line + 1e-9 && *hybrid >= x86.min(line) - 1e-9), "{x86} {hybrids:?} {line}");
        }
    }
}

#[test]
fn figure7b_has_four_days_and_says_how_much_they_differ() {
    let figures = quick("singh-figure7b");
    marked(&figures, "x86", "measured");
    marked(&figures, "hybrid", "modelled");
    marked(&figures, "change", "modelled");
    let days = ours(&figures, &["hybrid of the paper's x86", "CAIDA"]);
    assert_eq!((days.len(), ours(&figures, &["hybrid of our x86", "CAIDA"]).len()), (4, 4));
    let (least, most) = days.iter().fold((f64::INFINITY, 0.0f64), |(least, most), mpps| (least.min(*mpps), most.max(*mpps)));
    let change = ours(&figures, &["change between the days", "the paper's x86"])[0];
    assert!((change - (most / least - 1.0) * 100.0).abs() < 1e-6, "{days:?} {change}");
    // Each day has heavy hitters of its own, and none takes all.
    assert!(days.iter().all(|mpps| *mpps > 2.5 && *mpps < 9.77), "{days:?}");
    assert!(days.windows(2).any(|pair| pair[0] != pair[1]), "{days:?}");
}

#[test]
fn what_a_dollar_and_a_watt_forward_is_cited() {
    let figures = quick("bose-table1");
    assert!(rows(&figures).iter().all(|row| row["how"] == "cited"));
    let cited: Vec<f64> = rows(&figures).iter().filter_map(|row| row["paper"]["value"].as_f64()).collect();
    assert_eq!(cited, [0.03, 0.33, 0.28, 0.24, 0.4, 0.14, 2.96, 2.96, 2.96, 8.52]);
    assert!(rows(&figures).iter().all(|row| row["paper"].is_null() != row["ours"].is_null()), "a cited number is not ours: {figures}");
    let times = ours(&figures, &["against the server core"]);
    assert!(times.len() == 8 && (times[0] - 11.0).abs() < 1e-9 && times[7] > 60.0, "{times:?}");
}

#[test]
fn round_trips_are_measured_on_x86_and_with_xdp_in_front() {
    let figures = quick("bose-table2");
    assert!(rows(&figures).iter().all(|row| row["how"] == "measured"));
    let beside: Vec<f64> = rows(&figures).iter().filter_map(|row| row["paper"]["value"].as_f64()).collect();
    assert_eq!(beside, [138.0, 130.0, 176.0, 140.0, 294.0, 222.0]);
    if without_namespaces(&figures, "bose-table2") {
        return;
    }
    let times =
        |design: &str| rows(&figures).iter().filter(|row| row["unit"] == "us" && row["what"].as_str().unwrap().starts_with(design)).count();
    assert_eq!((times("x86 alone"), times("XDP in front")), (3, 3));
    assert!(ours(&figures, &["XDP in front, "]).iter().all(|us| *us > 0.0), "{figures}");
    assert_eq!(ours(&figures, &["x86 alone: packets that ran in XDP"]), [0.0]);
    let share = ours(&figures, &["XDP in front: packets that ran in XDP"])[0];
    assert!(share > 50.0, "{share} % ran in XDP");
}

/// Whether what needs root was left out, and some rows say so.
fn without_namespaces(figures: &Value, name: &str) -> bool {
    if testkit::root_or_skip(name) {
        return false;
    }
    assert!(rows(figures).iter().any(|row| row["ours"].is_null() && row["note"].as_str().unwrap().contains("root")), "{figures}");
    true
}

#[test]
fn steering_is_measured_over_veth_and_modelled_on_cores_of_its_own() {
    let figures = quick("bose-figure3");
    marked(&figures, "software steers, 64 B, 2 workers", "modelled");
    marked(&figures, "the port steers", "modelled");
    let times = ours(&figures, &["throughput, port against software"])[0];
    assert!(times > 0.0, "{times}");
    if without_namespaces(&figures, "bose-figure3") {
        return;
    }
    for design in ["software steers", "XDP steers"] {
        assert_eq!(ours(&figures, &[design, ": round trip"]).len(), 3);
        assert!(ours(&figures, &[design, ": round trip"]).iter().all(|us| *us > 0.0), "{figures}");
    }
    let [soft, xdp] = ["software steers, IMIX: round trip", "XDP steers, IMIX: round trip"].map(|what| ours(&figures, &[what])[0]);
    let ratio = ours(&figures, &["round trip, XDP against software, IMIX"])[0];
    assert!((ratio / (xdp / soft) - 1.0).abs() < 1e-9, "{ratio} {xdp} {soft}");
}

#[test]
fn what_a_worker_that_comes_costs_is_measured_in_each_design() {
    let figures = quick("bose-figure4");
    for case in ["software steers, a worker comes", "the port steers and restarts", "the port steers, a worker comes"] {
        marked(&figures, case, "measured");
        // Where a change takes longer than packets are sent, as on a busy machine, none is missed behind it.
        assert!(ours(&figures, &[case, "the change takes"])[0] > 0.0 && ours(&figures, &[case, "longest time"])[0] >= 0.0, "{figures}");
    }
    assert_eq!(ours(&figures, &["each thread on a core of its own"]).len(), 4);
}

#[test]
fn a_burst_of_one_workers_users_is_modelled_on_cores_of_their_own() {
    let figures = quick("bose-figure5");
    for case in ["software steers, users move", "the port steers", "the port steers, users move"] {
        marked(&figures, &format!("{case}: mean latency"), "modelled");
        assert!(ours(&figures, &[&format!("{case}: mean latency before the burst")])[0] > 0.0, "{figures}");
    }
    // A fifth of those that there are, to the nearest user.
    let share = ours(&figures, &["users of the worker that burst"])[0];
    assert!((19.0..21.0).contains(&share), "{share}");
    assert_eq!(ours(&figures, &["the port steers: buckets of users that moved"]), [0.0]);
}

#[test]
fn what_is_offloaded_is_measured_by_the_number_of_sessions() {
    let figures = quick("singh-figure13");
    for ues in ["200 UEs", "1K UEs"] {
        for (cores, how) in [("1 core", "measured"), ("2 cores", "measured"), ("8 cores", "modelled")] {
            marked(&figures, &format!("x86, {ues}, {cores}"), how);
        }
        marked(&figures, &format!("offloaded to XDP, {ues}"), "measured");
        marked(&figures, &format!("hybrid, {ues}"), "modelled");
    }
    if without_namespaces(&figures, "singh-figure13") {
        return;
    }
    for ues in ["200 UEs", "1K UEs"] {
        let [xdp, x86] = [format!("offloaded to XDP, {ues}"), format!("x86, {ues}, 8 cores")].map(|what| ours(&figures, &[&what])[0]);
        let hybrid = ours(&figures, &[&format!("hybrid, {ues}")])[0];
        // Half of the packets are x86's, and all meet XDP first.
        assert!((hybrid / xdp.min(x86 * 2.0) - 1.0).abs() < 1e-9, "{hybrid} {xdp} {x86}");
    }
}

#[test]
fn heavy_hitters_are_found_by_the_running_daemon_and_rerouted() {
    let figures = quick("singh-figure14");
    marked(&figures, "on a link of 1 Gbit/s they add", "modelled");
    for case in ["alone", "beside heavy hitters", "heavy hitters re-routed"] {
        marked(&figures, case, "measured");
    }
    if without_namespaces(&figures, "singh-figure14") {
        return;
    }
    for case in ["alone", "beside heavy hitters", "heavy hitters re-routed"] {
        let quantiles = ours(&figures, &[&format!("{case}: "), " after"]);
        assert!(quantiles.len() == 3 && quantiles.is_sorted() && quantiles[0] > 0.0, "{case}: {quantiles:?}");
    }
    // The downloads have begun: the other link has had all of them, which the daemon had found and moved.
    assert!(ours(&figures, &["all of their packets come by the other link after"])[0] > 0.0, "{figures}");
    assert!(ours(&figures, &["heavy hitters that the daemon found"])[0] <= 2.0, "{figures}");
    for case in ["beside heavy hitters", "heavy hitters re-routed"] {
        let arrived = ours(&figures, &[&format!("{case}: their datagrams that arrive")])[0];
        assert!(arrived > 0.0 && arrived <= 100.0, "{case}: {arrived}");
    }
}

#[test]
fn what_is_offloaded_is_measured_beside_what_passes_through() {
    let figures = quick("singh-figure11");
    marked(&figures, "x86, one core", "measured");
    marked(&figures, "x86, 8 cores", "modelled");
    for (cores, how) in [("1 cores", "measured"), ("2 cores", "measured"), ("4 cores", "modelled"), ("8 cores", "modelled")] {
        marked(&figures, &format!("x86, 1K UEs: most that {cores}"), how);
    }
    let distribution = quick("singh-figure12");
    assert!(rows(&distribution).iter().all(|row| row["how"] == "measured"));
    if without_namespaces(&figures, "singh-figure11") {
        return;
    }
    for case in ["in XDP", "on x86, through XDP", "on x86 alone"] {
        assert!(ours(&figures, &[&format!("{case}: latency")])[0] > 0.0, "{figures}");
        let at = ours(&distribution, &[case, "take less than"]);
        assert!(at.len() == 5 && at.is_sorted() && at[0] > 0.0, "{case}: {at:?}");
    }
}

#[test]
fn latency_of_the_upf_is_modelled_on_the_chip_and_measured_on_x86() {
    let figures = quick("singh-figure8");
    marked(&figures, "chip", "modelled");
    marked(&figures, "x86", "measured");
    let (chip, x86) = (ours(&figures, &["chip, "]), ours(&figures, &["x86, "]));
    assert!(chip.len() == 2 && x86.len() == 2, "{figures}");
    // The stages are a part of what the paper measured from port to port.
    assert!(chip.iter().all(|us| *us > 0.05 && *us < 1.1) && x86.iter().all(|us| *us > 0.0), "{chip:?} {x86:?}");

    let figures = quick("singh-figure9");
    marked(&figures, "x86 alone", "measured");
    marked(&figures, "behind the chip", "modelled");
    assert_eq!(ours(&figures, &["latency of light flows"]).len(), 5);
    assert_eq!(ours(&figures, &["of that of x86 alone"]).len(), 4);
    let left = |row: &Value| row["note"].as_str().unwrap().split(" %").next().unwrap().parse::<f64>().unwrap();
    let left: Vec<f64> = rows(&figures).iter().filter(|row| row["unit"] == "us").map(left).collect();
    assert!(left[0] == 100.0 && left[1] < 90.0 && left[1..].is_sorted(), "the higher the threshold, the more is left: {left:?}");
}

#[test]
fn table4_takes_more_with_more_ues_and_more_parts() {
    let figures = quick("singh-table4");
    assert!(rows(&figures).iter().all(|row| row["how"] == "modelled"));
    let sram = |column: &str| ours(&figures, &[column, ": SRAM"])[0];
    assert!(sram("UPF-Tofino 10K") < sram("UPF-Tofino 430K") && sram("UPF-Tofino 430K") < sram("H-UPF 430K"));
    // What the paper's table turns on: a third of the SRAM for 430,000 UEs, five registers for the detector, none without it.
    assert!((sram("H-UPF 430K") - 34.4).abs() < 5.0 && (sram("UPF-Tofino 430K") - 32.0).abs() < 5.0);
    assert!((ours(&figures, &["HH-IPG: meter ALUs"])[0] - 10.4).abs() < 0.1);
    assert_eq!(ours(&figures, &["UPF-Tofino 430K: meter ALUs"]), [0.0]);
}

#[test]
fn table5_installs_what_it_says() {
    let figures = quick("singh-table5");
    marked(&figures, "chip", "modelled");
    marked(&figures, "hybrid, chip's part", "modelled");
    marked(&figures, "hybrid, x86's part", "measured");
    assert_eq!(ours(&figures, &["x86's part: UEs installed"]), [2000.0]);
    assert_eq!(ours(&figures, &["x86's part: entries"]), [4000.0]);
    let most = ours(&figures, &["UEs at most"]);
    assert!(most[0] >= most[1] && most[1] > 430_000.0, "the detector takes room: {most:?}");
    let folder = tempfile::tempdir().unwrap();
    let output = reproduce(&["table5", "--quick", "--sessions", "0", "--out", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn table6_counts_what_the_traffic_is_fitted_to_and_ours_finds_it() {
    let figures = quick("singh-table6");
    marked(&figures, "CAIDA", "modelled");
    for row in rows(&figures).iter().filter(|row| !row["paper"].is_null()) {
        let (paper, ours) = (row["paper"]["value"].as_f64().unwrap(), row["ours"].as_f64().unwrap());
        assert!((paper - ours).abs() <= paper * 0.1 + 4.0, "{row}");
    }
    let f1 = |detector: &str| {
        let row = rows(&figures).iter().find(|row| row["what"].as_str().unwrap().starts_with(detector)).unwrap();
        assert_eq!(row["how"], "measured");
        row["note"].as_str().unwrap()["F1 ".len()..][..5].parse::<f64>().unwrap()
    };
    assert!(f1("decayed bytes") > 0.85 && f1("decayed bytes") > f1("inter-packet gap"), "{figures}");
}

#[test]
fn figure10_has_few_flows_and_many_bytes() {
    let figures = quick("singh-figure10");
    let (flows, bytes) = (ours(&figures, &["share of the flows"]), ours(&figures, &["share of the bytes"]));
    assert!(flows.len() == 4 && flows.is_sorted_by(|a, b| a > b) && bytes.is_sorted_by(|a, b| a > b), "{flows:?} {bytes:?}");
    assert!(flows.iter().zip(&bytes).all(|(flows, bytes)| bytes > &(flows * 20.0) && *bytes < 60.0), "{flows:?} {bytes:?}");
}

#[test]
fn all_is_each_of_them() {
    let (folder, _) = all();
    let mut names: Vec<String> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let expected: Vec<String> = NAMES.iter().flat_map(|name| [format!("{name}.json"), format!("{name}.svg")]).collect();
    assert_eq!(names, expected);
}

#[test]
fn one_alone_writes_its_own_by_its_earlier_name_too() {
    for name in ["singh-figure10", "figure10"] {
        let folder = tempfile::tempdir().unwrap();
        let output = reproduce(&[name, "--quick", "--out", &folder.path().display().to_string()]);
        assert!(output.status.success() && std::fs::read_dir(folder.path()).unwrap().count() == 2, "{}", words(&output));
        assert!(folder.path().join("singh-figure10.json").exists(), "{}", words(&output));
    }
}

#[test]
fn the_buffer_and_the_cipher_are_measured_on_one_core_and_on_two_and_modelled_beyond() {
    let figures = quick("singh-figure15");
    for form in ["Algorithm 1", "RLC AM"] {
        for (cores, how) in [("1 core", "measured"), ("2 cores", "measured"), ("4 cores", "modelled"), ("8 cores", "modelled")] {
            for bytes in ["128 B", "353 B", "1024 B"] {
                marked(&figures, &format!("{form}, {bytes}, {cores}"), how);
            }
        }
    }
    let beside: Vec<f64> = rows(&figures).iter().filter_map(|row| row["paper"]["value"].as_f64()).collect();
    assert_eq!(beside, [7.6, 30.0, 40.0, 40.0]);
    let mpps = ours(&figures, &["Algorithm 1, 1024 B, 1 core"]);
    assert!((mpps[1] - mpps[0] * 8.192).abs() < 1e-6 * mpps[1], "bits are those of the packets: {mpps:?}");

    let figures = quick("singh-cipher");
    assert!(rows(&figures).iter().all(|row| row["how"] == "measured"));
    assert_eq!(ours(&figures, &["latency of the component"]).len(), 3);
    assert!(ours(&figures, &["encryption, one core"])[0] > 0.0);
}

#[test]
fn a_second_process_is_as_fast_as_the_side_that_is_full_first() {
    let figures = quick("memarian-figure10");
    marked(&figures, "keep and acknowledge, 4 cores", "modelled");
    marked(&figures, "keep and acknowledge, 1 core", "measured");
    let figures = quick("memarian-figure11");
    marked(&figures, "one core", "measured");
    let (sender, buffer) = (ours(&figures, &["one core of the sender"])[0], ours(&figures, &["one core of the buffer"])[0]);
    assert!(sender > 0.0 && buffer > 0.0);
    // serde_json may read the last bit of a number otherwise than it was.
    let (modelled, expected) = (ours(&figures, &["8 + 2 cores"]), (8.0 * sender).min(2.0 * buffer));
    assert!(modelled.len() == 1 && (modelled[0] / expected - 1.0).abs() < 1e-9, "{modelled:?}, {sender}, {buffer}");
    marked(&figures, "8 + 2 cores", "modelled");
}

#[test]
fn each_step_of_the_gnodeb_is_modelled_on_the_card_and_measured_on_x86() {
    let figures = quick("memarian-figure7");
    marked(&figures, "card", "modelled");
    marked(&figures, "XDP", "measured");
    let card = ours(&figures, &["card, step"]);
    assert!(card.len() == 6 && card.is_sorted_by(|a, b| a >= b) && card[5] < card[0], "each step costs: {card:?}");
    assert!((card[3] - 14.33).abs() < 0.01, "where it is fitted: {card:?}");

    let figures = quick("memarian-figure8");
    marked(&figures, "x86, 1 core", "measured");
    marked(&figures, "x86, 2 cores", "measured");
    marked(&figures, "x86, 8 cores", "modelled");
    assert_eq!(ours(&figures, &["x86, "]).len(), 18);
    let beside: Vec<f64> = rows(&figures).iter().filter_map(|row| row["paper"]["value"].as_f64()).collect();
    assert_eq!(beside, [32.5, 23.95, 23.0, 21.5, 19.44, 12.75]);

    let figures = quick("memarian-figure9");
    marked(&figures, "x86, one core", "measured");
    let alone = ours(&figures, &["card alone"])[0];
    let without = ours(&figures, &["0 % on x86, 1 core"]);
    assert!(without.iter().any(|mpps| (mpps - alone).abs() < 1e-6), "nothing on x86 is the card alone: {without:?}, {alone}");
    let all = ours(&figures, &["% on x86, "]);
    assert!(all.len() == 20 && all.iter().all(|mpps| *mpps > 0.0 && *mpps < 40.0), "{all:?}");
    // XDP takes part where we may load it.
    let here = ours(&figures, &["XDP"]);
    assert!(here.is_empty() || here.len() == 10, "{here:?}");
    if testkit::root_or_skip("memarian-figure9 with XDP") {
        marked(&figures, "XDP, 50 % on x86: time for a packet", "measured");
        assert!(ours(&figures, &["XDP on one core and x86 on one"]).iter().all(|mpps| *mpps > 0.0), "{here:?}");
    }
}

#[test]
fn latency_of_the_gnodeb_is_modelled_on_the_card_and_measured_on_x86() {
    let figures = quick("memarian-figure12");
    for name in ["L2 forwarding", "gNodeB with its clone"] {
        marked(&figures, &format!("{name}, on the card"), "modelled");
        marked(&figures, &format!("{name}, on x86"), "measured");
    }
    let figures = quick("memarian-figure13");
    marked(&figures, "card, step", "modelled");
    marked(&figures, "x86, step", "measured");
    let card = ours(&figures, &["card, step"]);
    assert!(card.len() == 5 && card.is_sorted(), "{card:?}");
    assert!(ours(&figures, &["x86, step"]).iter().all(|us| *us > 0.0));
}

#[test]
fn the_cards_cache_fills_as_the_paper_measured_it() {
    let figures = quick("memarian-table1");
    assert!(rows(&figures).iter().all(|row| row["how"] == "modelled"));
    let cache: Vec<_> = rows(&figures).iter().filter(|row| row["what"].as_str().unwrap().ends_with("EMU cache")).collect();
    assert_eq!(cache.len(), 3);
    for row in cache {
        assert!((row["ours"].as_f64().unwrap() - row["paper"]["value"].as_f64().unwrap()).abs() < 1.5, "{row}");
    }
}
