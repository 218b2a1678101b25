//! Does every benchmark run and check what it measures? Small and short; no figure is asserted.

use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;

/// `bench all`, once for all tests.
fn all() -> &'static Value {
    static ALL: OnceLock<Value> = OnceLock::new();
    ALL.get_or_init(|| run(&["all"]).0)
}

/// One of them, as it runs without arguments.
fn of_all(name: &str) -> Value {
    let figures = all()["benches"][name].clone();
    check_machine(&figures["machine"]);
    assert_eq!(figures["bench"], name);
    figures
}

fn bench(args: &[&str]) -> Value {
    let (figures, _, error) = run(args);
    assert!(!error.lines().any(|line| line.starts_with("EAL:")), "DPDK writes by itself: {error}");
    check_machine(&figures["machine"]);
    assert_eq!(figures["bench"], args[0]);
    figures
}

/// Figures, standard output and standard error.
fn run(args: &[&str]) -> (Value, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let output = Command::new(env!("CARGO_BIN_EXE_splitplane-lab"))
        .arg("bench")
        .args(args)
        .args(["--quick", "--json"])
        .arg(&json)
        .output()
        .expect("the binary runs");
    let [text, error] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    // A signal leaves no text.
    assert!(output.status.success(), "bench {args:?}: {}: {error}; it had printed:\n{text}", output.status);
    assert!(!text.is_empty());
    let figures = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    (figures, text, error)
}

fn check_machine(machine: &Value) {
    for key in ["cpu", "memory", "kernel", "huge_pages", "transparent_huge_pages", "load", "compiler", "compiler_flags", "splitplane"] {
        assert!(machine[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {machine}");
    }
    assert!(machine["cores"].as_u64().is_some_and(|cores| cores > 0));
}

fn rows(figures: &Value) -> &Vec<Value> {
    let rows = figures["rows"].as_array().expect("rows");
    assert!(!rows.is_empty());
    for row in rows {
        assert!(row["verified"].as_u64().is_some_and(|verified| verified > 0), "nothing was verified: {row}");
    }
    rows
}

/// A figure with its spread, from so many rounds.
fn check_rounds(of: &Value, rounds: usize) {
    check_differences(of, rounds);
    assert!(of["min"].as_f64().is_some_and(|min| 0.0 <= min), "{of}");
}

/// A figure of differences of times: on a busy machine any number.
fn check_differences(of: &Value, rounds: usize) {
    let [median, min, max] = ["median", "min", "max"].map(|key| of[key].as_f64().unwrap_or_else(|| panic!("no {key}: {of}")));
    assert!(min <= median && median <= max, "{of}");
    assert_eq!(of["rounds"].as_array().map(Vec::len), Some(rounds), "{of}");
}

#[test]
fn ciphers_of_all_contestants_give_the_same_bytes() {
    let (figures, text, _) = run(&["services", "cipher", "--sizes", "64", "--rounds", "1", "--round-ms", "1"]);
    assert_eq!(figures["bench"], "services cipher");
    check_machine(&figures["machine"]);
    let rows = rows(&figures);
    // Nine cases; with the library each has rows for the seam, the library alone, Rust, and a packet alone in the queue.
    let with_library = text.contains("the library alone");
    assert_eq!(rows.len(), if with_library { 36 } else { 9 }, "{text}");
    for row in rows {
        check_rounds(&row["rate"], 1);
        assert!(row["rate"]["median"].as_f64() > Some(0.0), "{row}");
    }
    let ratios = rows.iter().filter(|row| row["ratio"]["median"].as_f64() > Some(0.0)).count();
    assert_eq!(ratios, if with_library { 9 } else { 0 });
}

#[test]
fn upf_compares_everybody_with_the_interpreter() {
    let figures = of_all("upf");
    let rows = rows(&figures);
    let directions: Vec<_> = rows.iter().filter_map(|row| row["direction"].as_str()).collect();
    assert_eq!(directions, ["downlink", "uplink"]);
    for row in rows {
        let contestants = row["contestants"].as_array().unwrap();
        let names: Vec<_> = contestants.iter().filter_map(|c| c["name"].as_str()).collect();
        assert!(names.contains(&"x86") && names.contains(&"interpreter") && names.contains(&"ports alone"), "{names:?}");
        let absent = row["absent"].as_array().unwrap();
        assert_eq!(names.len() + absent.len(), 6, "who does not take part is named: {row}");
        assert!(absent.iter().all(|a| a["why"].as_str().is_some_and(|why| !why.is_empty())), "{absent:?}");
        let has_swx = names.contains(&"DPDK's SWX");
        assert_eq!(has_swx, dpdk::available().is_ok() && absent.iter().all(|a| a["name"] != "DPDK's SWX"), "{absent:?}");
        let has_limit = names.contains(&"limit: C by hand");
        assert!(has_limit || cfg!(not(target_arch = "x86_64")), "{absent:?}");
        for c in contestants {
            check_rounds(&c["mpps"], 2);
            assert!(c["mpps"]["median"].as_f64() > Some(0.0));
            assert_eq!(c["of_limit"].as_f64().is_some(), has_limit);
            assert_eq!(c["times_swx"].as_f64().is_some(), has_swx);
            assert!(c["times_interpreter"].as_f64().is_some());
            let note = c["note"].as_str().unwrap_or_default();
            match c["name"].as_str() {
                Some("C on rte_hash") => assert!(note.contains("iB pages"), "{note}"),
                Some("DPDK's SWX") => assert!(note.starts_with("interpreted") || note.starts_with("generated code"), "{note}"),
                _ => {}
            }
        }
    }
}

/// DPDK is started once, whoever needs it first and however often.
#[test]
fn contestants_share_one_dpdk() {
    if let Err(why) = dpdk::available() {
        testkit::skip(&why.to_string());
        return;
    }
    for contestants in ["rte-hash,swx", "swx,rte-hash"] {
        let figures = bench(&["upf", "--sessions", "70,100", "--contestants", contestants, "--rounds", "1", "--round-ms", "1"]);
        assert_eq!(rows(&figures).len(), 4);
        for row in rows(&figures) {
            assert_eq!(row["absent"].as_array().map(Vec::len), Some(0), "{row}");
            assert_eq!(row["contestants"].as_array().map(Vec::len), Some(2), "{row}");
        }
    }
}

#[test]
fn more_sessions_than_swx_takes_are_said_and_not_waited_for() {
    let (figures, text, _) = run(&["upf", "--sessions", "65537", "--contestants", "swx,ports", "--rounds", "1", "--round-ms", "1"]);
    let why = figures["rows"][0]["absent"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("at most 65536"), "{why}");
    assert!(text.contains(&format!("65537 sessions: DPDK's SWX takes no part: {why}")), "{text}");
}

#[test]
fn all_is_all() {
    let benches = all()["benches"].as_object().expect("benches");
    let names: Vec<_> = benches.keys().map(String::as_str).collect();
    assert_eq!(names, ["compile", "dpdk", "hybrid", "latency", "n4", "tables", "upf", "workers"]);
    for (name, of) in benches {
        assert!(!rows(of).is_empty() || name == "dpdk" && of["absent"].is_string(), "{name}");
    }
}

#[test]
fn upf_takes_sessions_and_contestants() {
    let figures = bench(&["upf", "--sessions", "5000,70", "--contestants", "limit,x86", "--rounds", "3", "--round-ms", "1"]);
    let sessions: Vec<_> = rows(&figures).iter().filter_map(|row| row["sessions"].as_u64()).collect();
    assert_eq!(sessions, [5000, 5000, 70, 70]);
    for row in rows(&figures) {
        for c in row["contestants"].as_array().unwrap() {
            check_rounds(&c["mpps"], 3);
            assert!(c["times_interpreter"].is_null(), "the interpreter was not asked for");
        }
    }
}

#[test]
fn the_buffer_gives_back_what_it_keeps_in_each_form() {
    let (figures, ..) = run(&["services", "buffer", "--rounds", "2"]);
    assert_eq!(figures["bench"], "services buffer");
    check_machine(&figures["machine"]);
    assert_eq!(rows(&figures).len(), 9);
    for row in rows(&figures) {
        check_rounds(&row["rate"], 2);
        assert!(row["rate"]["min"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
    }
}

#[test]
fn gnb_compares_each_step_with_the_interpreter_and_with_c_by_hand() {
    let figures = bench(&["gnb", "--parts", "bearers,steps,rlc"]);
    let rows = rows(&figures);
    let what = |part: &str| -> Vec<&Value> { rows.iter().filter(|row| row["what"].as_str().unwrap_or_default().contains(part)).collect() };
    for row in rows {
        let memory = row["unit"] == "bytes";
        check_rounds(&row["rate"], if memory { 1 } else { 2 });
        assert!(row["rate"]["min"].as_f64().is_some_and(|rate| rate > 0.0 || memory), "{row}");
    }
    for step in 0..=5 {
        assert_eq!(what(&format!("step {step}: ")).len(), 1);
    }
    assert_eq!(what("step 5 with NEA").len(), 2);
    assert_eq!(what("the whole program, downlink").len(), 2);
    assert_eq!(what("RLC AM, a PDU of 128 B received").len(), 3);
    assert_eq!(what("a STATUS about").len(), 2);
    assert_eq!(what("memory of a bearer, 256 of them").len(), 2);
    let kept = what("256 bearers active");
    check_rounds(&kept[1]["ratio"], 2);
    let by_hand = !what("C by hand").is_empty();
    assert!(by_hand || cfg!(not(target_arch = "x86_64")));
    assert_eq!(what("step 3: and the table")[0]["of_hand"].is_object(), by_hand);
}

#[test]
fn gnb_in_xdp_sends_what_the_interpreter_sends() {
    if !testkit::root_or_skip("gnb_in_xdp_sends_what_the_interpreter_sends") {
        return;
    }
    let figures = bench(&["gnb", "--parts", "xdp"]);
    assert_eq!(rows(&figures).len(), 12);
    let ratios = rows(&figures).iter().filter(|row| row["of_hand"].is_object());
    // The driver's share is taken off both.
    assert_eq!(ratios.inspect(|row| check_differences(&row["of_hand"], 2)).count(), 4);
}

#[test]
fn gnb_split_by_marker_sends_what_the_interpreter_sends() {
    if !testkit::root_or_skip("gnb_split_by_marker_sends_what_the_interpreter_sends") {
        return;
    }
    let figures = bench(&["gnb", "--parts", "split"]);
    // XDP's for each share; x86's but for the share in which it has nothing to do.
    assert_eq!(rows(&figures).len(), 9);
    let compared = rows(&figures).iter().filter_map(|row| Some((row["compared"]["xdp"].as_u64()?, row["compared"]["x86"].as_u64()?)));
    // Two packets of each bearer, where its group is.
    assert_eq!(compared.collect::<Vec<_>>(), [(512, 0), (384, 128), (256, 256), (128, 384), (0, 512)]);
}

#[test]
fn the_way_to_a_service_is_measured_in_each_place() {
    let (figures, ..) = run(&["services", "seam", "--rounds", "2"]);
    assert_eq!(figures["bench"], "services seam");
    check_machine(&figures["machine"]);
    assert_eq!(rows(&figures).len(), 22);
    for row in rows(&figures) {
        // What a call costs more than none is a difference of two times: on a busy machine any number.
        let is_difference = row["without"].is_object();
        assert!(row["rate"]["min"].as_f64().is_some_and(|rate| rate > 0.0 || is_difference), "{row}");
    }
    assert_eq!(rows(&figures).iter().filter(|row| row["without"].is_object()).count(), 5);
    // By the length of what is copied, and of what is kept.
    let named = |what: &str| rows(&figures).iter().filter(|row| row["what"].as_str().is_some_and(|name| name.contains(what))).count();
    assert_eq!(
        (named("a copy of 128 B"), named("a copy of 1400 B"), named("acknowledge, 128 B"), named("acknowledge, 1400 B")),
        (1, 1, 4, 3)
    );
}

/// What it measures is told by no test; that it asks, is answered, and that all ends, is.
#[test]
fn n4_takes_sessions_and_ends_them() {
    let figures = of_all("n4");
    let sessions: Vec<_> = rows(&figures).iter().filter_map(|row| row["sessions"].as_u64()).collect();
    assert_eq!((sessions.as_slice(), figures["ended"].as_u64()), (&[0, 2000][..], Some(2000)));
    for row in rows(&figures) {
        for rate in ["established_per_s", "modified_per_s", "deleted_per_s", "longest_answer_ms"] {
            assert!(row[rate].as_f64().is_some_and(|rate| rate > 0.0), "{rate}: {row}");
        }
    }
    assert!(figures["longest_heartbeat_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{figures}");
}

#[test]
fn n4_has_its_sessions_back_from_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let (figures, ..) = run(&["n4", "--store", &folder.path().join("store").display().to_string()]);
    assert_eq!(figures["came_back"].as_u64(), Some(2000), "{figures}");
    let kinds: Vec<_> = rows(&figures).iter().filter_map(|row| row["kind"].as_str()).collect();
    assert_eq!(kinds, ["established", "modified", "deleted", "established", "modified", "deleted", "packets"]);
    assert!(rows(&figures).iter().all(|row| row["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0)), "{figures}");
}

#[test]
fn scrapes_of_the_metrics_are_counted_beside_packets() {
    let (figures, ..) = run(&["n4", "--scrape"]);
    let sessions: Vec<_> = rows(&figures).iter().filter_map(|row| row["sessions"].as_u64()).collect();
    assert_eq!(sessions, [1, 2000]);
    for row in rows(&figures) {
        for figure in ["agent_us", "text_us", "without_per_s", "with_per_s", "ratio"] {
            assert!(row[figure].as_f64().is_some_and(|figure| figure > 0.0), "{figure}: {row}");
        }
        assert!(row["verified"].as_u64() >= Some(2) && row["text_bytes"].as_u64() > Some(1000), "{row}");
    }
}

#[test]
fn memory_after_many_sessions_have_come_and_gone_is_near_what_it_was() {
    let figures = bench(&["n4", "--sessions", "40000"]);
    let mib = |key: &str| figures[key].as_u64().unwrap() >> 20;
    let [before, full, after] = ["resident_before", "resident_full", "resident_after"].map(mib);
    assert!(full >= before + 30, "{before} MiB before, {full} with 40,000 sessions");
    // The first huge pages of each table stay, and what the report says of ended sessions.
    assert!(after <= before + (full - before) * 2 / 3, "{before} MiB before, {full} with 40,000 sessions, {after} after");
}

#[test]
fn tables_find_what_was_inserted() {
    let figures = of_all("tables");
    let rows = rows(&figures);
    let all = rows.iter().filter_map(|row| row["what"].as_str()).collect::<Vec<_>>().join("\n");
    for what in
        ["exact, 1000", "IPv4 routes", "IPv6 routes", "their table alone", "the whole UPF, uplink", "batches of 64", "batches of 1000"]
    {
        assert!(all.contains(what), "no row has {what}:\n{all}");
    }
    rows.iter().for_each(|row| check_rounds(&row["rate"], 2));
    let changes = rows.iter().filter(|row| !row["lookups_share"].is_null());
    assert_eq!(changes.inspect(|row| check_rounds(&row["lookups_share"], 2)).count(), 2);
}

#[test]
fn workers_send_what_they_count() {
    let figures = of_all("workers");
    let of = |row: &Value| Some((row["direction"].as_str()?.to_owned(), row["steering"].as_str()?.to_owned(), row["workers"].as_u64()?));
    let all: Vec<_> = rows(&figures).iter().filter_map(of).collect();
    let each = |direction: &str| ["port", "engine"].map(|by| [1, 2].map(|workers| (direction.to_owned(), by.to_owned(), workers))).concat();
    assert_eq!(all, [each("downlink"), each("uplink")].concat());
    for row in rows(&figures) {
        ["rate", "times_first", "on_cores_alone", "worker_ns"].iter().for_each(|key| check_rounds(&row[*key], 2));
        assert_eq!(row["master_ns"].is_null(), row["steering"] == "port", "{row}");
    }
}

/// Over real sockets, a program in the kernel steering: each worker has a share.
#[test]
fn workers_share_sockets_of_a_queue() {
    if !testkit::root_or_skip("workers_share_sockets_of_a_queue") {
        return;
    }
    let figures = bench(&["workers", "--af-xdp"]);
    let xdp: Vec<&Value> = rows(&figures).iter().filter(|row| row["steering"] == "xdp").collect();
    assert_eq!(xdp.iter().map(|row| row["workers"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(1), Some(2)]);
    for row in xdp {
        ["rate", "times_first", "worker_ns", "least_share"].iter().for_each(|key| check_rounds(&row[*key], 2));
        let share = row["least_share"]["median"].as_f64().unwrap();
        // Of what was received: a worker that the system leaves waiting loses its own packets.
        assert!(if row["workers"] == 1 { share == 1.0 } else { share > 0.0 && share <= 0.5 }, "{row}");
    }
}

/// Alone, from veth to veth, changes, and the table alone: small, but all that is checked is.
#[test]
fn xdp_is_measured_alone_over_veth_and_by_its_table() {
    if !testkit::root_or_skip("xdp_is_measured_alone_over_veth_and_by_its_table") {
        return;
    }
    let figures = bench(&["xdp", "--sessions", "100,300"]);
    let of = |row: &Value| Some((row["what"].as_str()?.to_owned(), row["sessions"].as_u64()?));
    let all: Vec<_> = rows(&figures).iter().filter_map(of).collect();
    let each = |n: u64| ["alone", "alone", "veth", "veth", "changes", "maps"].map(|what| (what.to_owned(), n));
    assert_eq!(all, [each(100), each(300)].concat());
    for row in rows(&figures) {
        match row["what"].as_str() {
            // The driver's share is taken off both.
            Some("alone") => {
                check_rounds(&row["driver_ns"], 2);
                check_differences(&row["ratio"], 2);
            }
            Some("veth") => {
                assert!(row["verified"].as_u64() >= Some(1000) && row["sessions_counted"] == row["sessions"], "{row}");
                check_rounds(&row["ratio"], 2);
                for who in ["upf", "hand", "forwarder"] {
                    ["mpps", "mpps_by_clock", "mpps_by_clock_alone"].iter().for_each(|key| check_rounds(&row[who][*key], 2));
                    let [made, lost] = ["made", "lost"].map(|key| row[who][key].as_u64());
                    assert!(made == Some(2 * 20_000) && lost < made, "{row}");
                }
                assert!(row["cores"].as_array().is_some_and(|cores| !cores.is_empty()), "{row}");
            }
            Some("changes") => {
                assert!(row["verified"].as_u64() >= Some(100) && row["waits_by_kernel"].as_u64() > Some(0), "{row}");
                for key in ["alone_per_second", "beside_packets_per_second"] {
                    [key.to_owned(), format!("{key}_by_kernel")].iter().for_each(|key| check_rounds(&row[key], 2));
                }
            }
            // What is taken off may have been more, in a round.
            _ => {
                assert!(
                    ["hash_preallocated", "hash_allocated_late", "array", "array_spread", "ours"]
                        .iter()
                        .all(|key| row[*key]["rounds"][1].is_number())
                )
            }
        }
    }
    let ours = Command::new("ip").args(["netns", "list"]).output().expect("ip runs");
    assert!(!String::from_utf8_lossy(&ours.stdout).contains("splitplane-bench-xdp"), "nothing stays behind");
}

#[test]
fn latency_checks_each_packet() {
    let figures = bench(&["latency", "--loads", "10,50"]);
    check_rounds(&figures["capacity"], 2);
    assert_eq!(rows(&figures).len(), 2);
    for row in rows(&figures) {
        let at = |key: &str| row["latency_us"][key].as_f64().unwrap_or_else(|| panic!("no {key}: {row}"));
        let ordered = [at("p50"), at("p90"), at("p99"), at("p99.9"), at("max")];
        assert!(ordered.is_sorted() && ordered[0] > 0.0, "{ordered:?}");
    }
}

#[test]
fn hybrid_moves_sessions_within_its_allowance() {
    let figures = bench(&["hybrid", "--updates", "400", "--seconds", "3"]);
    let seconds = figures["seconds"].as_array().unwrap();
    assert_eq!(seconds.len(), 3);
    assert!(seconds.iter().all(|s| s["updates"].as_u64().is_some_and(|n| n <= 400)), "{seconds:?}");
    // Time there is the simulation's: these are no measurements.
    let share = |i: usize| seconds[i]["share"].as_f64().unwrap();
    assert!(share(2) > 0.3 && share(2) > share(0), "{seconds:?}");
    let [fast, changes, cpu] = rows(&figures).as_slice() else { panic!("three figures: {figures}") };
    assert!(fast["most_possible"].as_f64() >= fast["value"].as_f64() && changes["value"].as_u64() <= Some(400));
    assert!(cpu["packets"].as_f64().is_some_and(|p| p > 0.0 && p < 1.0), "{cpu}");
}

#[test]
fn compile_times_every_step() {
    let figures = bench(&["compile", "--lines", "300,600"]);
    let rows = rows(&figures);
    assert_eq!(rows[0]["what"], "upf.p4");
    check_rounds(&rows[0]["native_ms"], 2);
    assert!(rows[1]["native_ms"].is_null());
    for row in rows {
        ["check_ms", "passes_ms", "emit_ms"].iter().for_each(|key| check_rounds(&row[*key], 2));
        assert!(row["c_lines"].as_u64() > Some(100) && row["lines"].as_u64() > Some(100), "{row}");
    }
    assert!(figures["growth"].as_f64() > Some(0.0));
}

/// It has a thread of its own, of whose time that of the caller shows nothing.
#[test]
fn the_time_of_the_emitter_is_counted() {
    let figures = bench(&["compile", "--lines", "3000"]);
    let median = |key: &str| rows(&figures)[1][key]["median"].as_f64().unwrap();
    assert!(median("emit_ms") > median("passes_ms") / 2.0, "{figures}");
}

#[test]
fn detectors_are_scored_by_what_is_true() {
    let figures = bench(&["detect", "--case", "a,c", "--memory", "20.25,81", "--seconds", "0.3", "--threshold-mbps", "2"]);
    // Three detectors in two sizes, and two that take what they need.
    assert_eq!(rows(&figures).len(), 2 * (3 * 2 + 2));
    for row in rows(&figures) {
        let [f1, precision, recall] = ["f1", "precision", "recall"].map(|key| row[key].as_f64().unwrap_or(-1.0));
        assert!([f1, precision, recall].iter().all(|share| (0.0..=1.0).contains(share)), "{row}");
        assert!(row["heavy"].as_u64() > Some(20) && row["memory_kib"].as_f64() > Some(10.0), "{row}");
    }
    let same = bench(&["detect", "--case", "a,c", "--memory", "20.25,81", "--seconds", "0.3", "--threshold-mbps", "2"]);
    assert_eq!(same["rows"], figures["rows"], "the seed decides");
}

#[test]
fn detectors_read_captures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    let mut capture = pktio::PcapWriter::create(&path).unwrap();
    // Two flows for two seconds: 8 Mbit/s, and a tenth of it. And frames of no flow.
    for n in 0..2000u64 {
        let mut frame = vec![0; 1000];
        frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        frame[23] = 17;
        capture.write(1_700_000_000_000_000_000 + n * 1_000_000, &frame).unwrap();
        frame[30] = 9;
        capture.write(1_700_000_000_000_000_000 + n * 1_000_000, &frame[..100]).unwrap();
        capture.write(1_700_000_000_000_000_000 + n * 1_000_000, &[0; 60]).unwrap();
    }
    capture.flush().unwrap();
    let figures = bench(&["detect", "--pcap", path.to_str().unwrap(), "--memory", "81"]);
    for row in rows(&figures) {
        assert_eq!((row["packets"].as_u64(), row["flows"].as_u64(), row["heavy"].as_u64()), (Some(4000), Some(2), Some(1)), "{row}");
        // The gap of the light flow is the heavy one's, so the published forms report both.
        let reported = if row["detector"].as_str().unwrap_or_default().starts_with("packet gap") { 2 } else { 1 };
        assert_eq!((row["recall"].as_f64(), row["reported"].as_u64()), (Some(1.0), Some(reported)), "{row}");
    }
}

/// Every byte and the user's charges are compared by the benchmark itself; how fast it was is not.
#[test]
fn tcp_through_the_ports_of_the_daemon_arrives_whole_beside_the_kernels_own_forwarding() {
    if !testkit::root_or_skip("tcp_through_the_ports_of_the_daemon_arrives_whole_beside_the_kernels_own_forwarding") {
        return;
    }
    let figures = bench(&["ports", "--contestants", "af-packet,af-xdp,kernel", "--flows", "2", "--seconds", "2"]);
    let rows = rows(&figures);
    assert_eq!(rows.len(), 6);
    for row in rows {
        let of_kernel = row["contestant"].as_str().unwrap().starts_with("kernel");
        assert!(row["clock_gbps"]["median"].as_f64() > Some(0.0) && row["of_kernel"].as_f64() > Some(0.0), "{row}");
        assert_eq!(row["daemon_gbit_per_cpu_second"]["median"].as_f64().is_some(), !of_kernel, "{row}");
    }
    let charged: Vec<_> = figures["books"].as_array().unwrap().iter().filter_map(|of| of["charged"].as_u64()).collect();
    assert!(charged.len() == 2 && charged.iter().all(|bytes| *bytes > 0), "{figures}");
}

/// As above, in a port whose queues drop: what they drop is not charged.
#[test]
fn a_guaranteed_flow_beside_tcp_in_a_port_with_a_rate_is_charged_exactly_what_arrives() {
    if !testkit::root_or_skip("a_guaranteed_flow_beside_tcp_in_a_port_with_a_rate_is_charged_exactly_what_arrives") {
        return;
    }
    let figures = bench(&["qos", "--guaranteed", "2"]);
    let rows = rows(&figures);
    assert_eq!(rows.iter().map(|row| row["guaranteed"].as_bool().unwrap()).collect::<Vec<_>>(), [true, false]);
    for row in rows {
        assert!(row["share"].as_f64() > Some(0.0) && row["charged"]["count"] == 9, "{row}");
    }
}

/// Without root. Each session's bytes, the waiting of every packet and what becomes of each are looked at by the benchmark itself.
#[test]
fn a_thousand_sessions_at_their_rates_are_each_sent_what_their_rate_is_in_a_second() {
    let figures = bench(&["qos", "--scale"]);
    let [row] = &rows(&figures)[..] else { panic!("{figures}") };
    assert_eq!((row["sessions"].as_u64(), row["packets"].as_u64(), row["waited"].as_u64()), (Some(1000), Some(128_000), Some(128_000)));
    let rates = [&row["least_rate"], &row["most_rate"]].map(|rate| rate.as_f64().unwrap());
    assert!(rates.iter().all(|rate| (0.99..=1.01).contains(rate)) && row["mpps"].as_f64() > Some(0.0), "{row}");
    assert!(row["policed_ns"]["median"].as_f64() > Some(0.0) && row["shaped_ns"]["median"].as_f64() > Some(0.0), "{row}");
    assert!(row["compared"].as_u64() >= Some(8192) && row["ratio"].as_f64() > Some(0.0) && row["more_ns"].is_number(), "{row}");
}

/// Every byte, the order of datagrams and each session's charges are compared by the benchmark itself; how fast it was is not.
#[test]
fn tcp_of_users_with_an_mbr_arrives_whole_and_is_charged_exactly_while_packets_wait_or_are_dropped() {
    if !testkit::root_or_skip("tcp_of_users_with_an_mbr_arrives_whole_and_is_charged_exactly_while_packets_wait_or_are_dropped") {
        return;
    }
    let figures = bench(&["qos"]);
    let [shape, police]: [Vec<_>; 2] =
        ["shape", "police"].map(|mode| rows(&figures).iter().filter(|row| row["mode"] == mode).cloned().collect());
    assert_eq!(shape.len(), police.len());
    for rows in [&shape, &police] {
        for direction in ["downlink", "uplink"] {
            for (congestion, flows) in [("cubic", 1), ("cubic", 4), ("udp", 1)] {
                let wanted = |row: &&Value| row["direction"] == direction && row["congestion"] == congestion && row["flows"] == flows;
                assert_eq!(rows.iter().filter(wanted).count(), 1, "{direction}, {flows} flows, {congestion}");
            }
        }
    }
    let charged = figures["charged"].as_array().unwrap();
    let [waited, dropped] = [&charged[0], &charged[1]].map(|of| &of["sessions"]);
    for of in [waited, dropped] {
        assert!(of["count"].as_u64() > Some(5) && of["bytes"].as_u64() > Some(100_000), "{of}");
    }
    assert!(waited["shaped"]["sent"]["packets"].as_u64() > Some(100) && waited["dropped"]["rate_exceeded"].is_null(), "{waited}");
    assert!(dropped["shaped"]["queued"] == 0 && dropped["dropped"]["rate_exceeded"]["packets"].as_u64() > Some(10), "{dropped}");
}

#[test]
fn a_figure_that_cannot_be_written_is_an_error() {
    let args = ["bench", "compile", "--lines", "100", "--quick", "--json", "/nonexistent/figures.json"];
    let output = Command::new(env!("CARGO_BIN_EXE_splitplane-lab")).args(args).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write /nonexistent/figures.json"));
}

#[test]
fn devices_of_dpdk_and_two_processes_are_measured() {
    if let Err(why) = dpdk::available() {
        testkit::skip(&why.to_string());
        return;
    }
    let figures = bench(&["dpdk", "--sessions", "200"]);
    let rows = rows(&figures);
    assert_eq!(rows.len(), 7);
    for row in rows {
        assert!(row["rate"]["median"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
    }
}
