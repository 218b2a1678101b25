//! What users do wrong: each fault gives one line that names it and the way out, exit code 2, and nothing left behind.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOOD: &str = r#"
[n4]
listen = "127.0.0.1:0"
[[port]]
name = "n3"
driver = "pcap"
output = "N3_OUT"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]
[[port]]
name = "n6"
driver = "pcap"
output = "N6_OUT"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24"]
"#;

fn splitplane(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
    command.args(args).env("RUST_LOG", "off").env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(std::process::Stdio::null());
    command
}

/// One line on standard error that has all of `parts`; exit code 2.
fn refused(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// A good configuration with one thing changed.
    fn config(&self, from: &str, to: &str) -> String {
        let text = GOOD.replace("N3_OUT", &self.path("n3.pcap").display().to_string());
        let text = text.replace("N6_OUT", &self.path("n6.pcap").display().to_string());
        assert!(text.contains(from), "{from}");
        self.write("upf.toml", text.replacen(from, to, 1))
    }

    fn run(&self, from: &str, to: &str) -> Output {
        splitplane(&["run", "--until-input-ends", "--config", &self.config(from, to)]).output().unwrap()
    }
}

#[test]
fn a_good_configuration_runs_and_stops() {
    let folder = Folder::new();
    let output = folder.run("127.0.0.1:0", "127.0.0.1:0");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("ready"));
}

#[test]
fn vxlan_and_classes_can_be_configured() {
    let folder = Folder::new();
    let more = r#"
[vxlan]
local = ["192.0.2.1"]
[[vxlan.network]]
vni = 77
network_instance = "remote-site"
[[vxlan.remote]]
network_instance = "remote-site"
gateway = "10.9.0.2"
mac = "02:00:00:00:00:50"
port = "n6"
vni = 77
local = "192.0.2.1"
remote = "192.0.2.2"
underlay_mac = "02:00:00:00:09:09"
[[route]]
network_instance = "remote-site"
prefix = "0.0.0.0/0"
via = "10.9.0.2"
[[class]]
dscp = 46
rate_bps = 1000000
[n4]"#;
    let vxlan = |text: &str| {
        let path = folder.config("[n4]", more);
        let config = std::fs::read_to_string(&path).unwrap().replace("role = \"core\"", text);
        let path = folder.write("vxlan.toml", config);
        splitplane(&["run", "--check", "--config", &path]).output().unwrap()
    };
    let output = vxlan("role = \"core\"\nvxlan = true");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    refused(&vxlan("role = \"core\""), &["vxlan.remote[0].port = \"n6\"", "vxlan = true"]);
}

#[test]
fn wrong_configurations_are_refused() {
    let folder = Folder::new();
    refused(&folder.run("listen =", "lisen ="), &["upf.toml:3: n4.lisen = \"127.0.0.1:0\": unknown key"]);
    refused(&folder.run("10.3.0.1/24", "10.3.0.1/99"), &["port[0].addresses = [\"10.3.0.1/99\"]: expected", "prefix length"]);
    refused(&folder.run("role = \"core\"", "role = \"access\""), &["expected at least one [[port]] of role \"core\""]);
    refused(&folder.run("[n4]", "[n4"), &["upf.toml:2: no TOML"]);
    let missing = splitplane(&["run", "--config", "/nonexistent/upf.toml"]).output().unwrap();
    refused(&missing, &["/nonexistent/upf.toml", "No such file"]);
}

/// Neither it nor the file's filter is dropped without a word.
#[test]
fn a_wrong_filter_of_the_log_is_refused_wherever_it_comes_from() {
    use std::os::unix::ffi::OsStringExt;
    let folder = Folder::new();
    let config = folder.config("[n4]", "[log]\nfilter = \"off\"\n[n4]");
    let check = |filter: std::ffi::OsString| splitplane(&["run", "--check", "--config", &config]).env("RUST_LOG", filter).output().unwrap();
    refused(&check("inof".into()), &["RUST_LOG: `inof` is no level", "such as \"info\""]);
    refused(&check("warn,pfcp=loud".into()), &["RUST_LOG: ", "\"warn,pfcp=debug\""]);
    refused(&check("info,\x1b[2Jdebug=1".into()), &["RUST_LOG: ", "expected a level"]);
    refused(&check("x".repeat(2000).into()), &["RUST_LOG: ", "of 1 to 1000 characters"]);
    refused(&check(std::ffi::OsString::from_vec(b"info\xff".to_vec())), &["RUST_LOG: expected UTF-8"]);
    refused(&folder.run("[n4]", "[log]\nfilter = \"inof\"\n[n4]"), &["log.filter = \"inof\": `inof` is no level"]);
    // All commands look at it.
    refused(&splitplane(&["show", "overview"]).env("RUST_LOG", "warn,,nothing").output().unwrap(), &["RUST_LOG: `nothing`"]);
    // What is good has precedence over the file, and an empty one is none.
    let config = folder.config("[n4]", "[log]\nfilter = \"off\"\n[n4]");
    let logged = |filter: &str| {
        let output = splitplane(&["run", "--check", "--config", &config]).env("RUST_LOG", filter).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).contains("fingerprint")
    };
    assert_eq!([logged("info"), logged("off"), logged("")], [true, false, false]);
}

#[test]
fn a_missing_interface_is_named() {
    let folder = Folder::new();
    let output = folder.run("driver = \"pcap\"", "driver = \"af_packet\"\ninterface = \"nosuch0\"");
    let error = String::from_utf8_lossy(&output.stderr);
    // Without CAP_NET_RAW the capability is what is missing first.
    let named = error.contains("nosuch0") || error.contains("CAP_NET_RAW");
    assert!(named && output.status.code() == Some(2), "{error}");
}

#[test]
fn a_busy_address_is_named() {
    let folder = Folder::new();
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&folder.run("127.0.0.1:0", &address), &["upf.toml:3: n4.listen = ", &address, "in use"]);
    refused(&folder.run("127.0.0.1:0", "192.0.2.1:8805"), &["192.0.2.1:8805", "not an address of this machine"]);
}

#[test]
fn broken_captures_are_named() {
    let folder = Folder::new();
    let broken = folder.write("broken.pcap", b"this is no capture");
    refused(&folder.run("driver = \"pcap\"", &format!("driver = \"pcap\"\ninput = \"{broken}\"")), &["broken.pcap"]);
    refused(&folder.run("driver = \"pcap\"", "driver = \"pcap\"\ninput = \"/nonexistent.pcap\""), &["/nonexistent.pcap"]);
}

#[test]
fn a_compiler_that_is_not_there_is_named() {
    let folder = Folder::new();
    let output = folder.run("[n4]", "[engine]\ncc = \"/nonexistent/cc\"\n[n4]");
    refused(&output, &["/nonexistent/cc"]);
    let config = folder.config("[n4]", "[n4]");
    // Else an object that this machine has kept is taken, and the daemon runs.
    let output = splitplane(&["run", "--no-cache", "--config", &config]).env("PATH", "/nonexistent").env_remove("CC").output().unwrap();
    refused(&output, &["no C compiler", "install"]);
}

#[test]
fn unknown_p4_constructs_are_named_with_their_place() {
    let folder = Folder::new();
    let program = folder.write(
        "wide.p4",
        "#include <core.p4>\n#include <v1model.p4>\nheader h_t { bit<136> wide; }\nstruct headers { h_t h; }\nstruct meta { }\n\
         parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }\n\
         control C(inout headers hdr, inout meta m) { apply { } }\n\
         control I(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { hdr.h.wide = hdr.h.wide / hdr.h.wide; } }\n\
         control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }\nV1Switch(P(), C(), I(), I(), C(), D()) main;\n",
    );
    let output = splitplane(&["p4", "check", &program]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("wide.p4:8:") && error.contains("division of values of bit<136>"), "{error}");
    let output = splitplane(&["p4", "check", "/nonexistent.p4"]).output().unwrap();
    refused(&output, &["/nonexistent.p4", "no such file"]);
    let output = splitplane(&["p4", "trace", "upf.p4", "--packet", "xyz"]).output().unwrap();
    refused(&output, &["--packet", "`x`"]);
    let output = splitplane(&["p4", "ir", "upf.p4", "--after", "nosuch"]).output().unwrap();
    refused(&output, &["nosuch", "fold"]);
}

/// What a target is given of a program that calls a service; one that calls none has no cut.
#[test]
fn the_cut_of_a_program_is_printed() {
    let output = splitplane(&["p4", "ir", "upf.p4", "--after", "cut"]).output().unwrap();
    refused(&output, &["the program has no cut", "calls no services"]);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/called.p4");
    let output = splitplane(&["p4", "ir", program, "--after", "cut"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    for part in ["bridge of ", ": call answers, ", ": send answers, "] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    testkit::assert_golden("tests/programs/called.cut.ir", &text);
}

#[test]
fn wrong_arguments_are_refused() {
    for args in [&["nosuch"][..], &["run", "--nosuch"], &["p4", "nosuch"], &["plan"]] {
        let output = splitplane(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// They were commands of this binary once.
#[test]
fn commands_of_the_laboratory_are_refused_with_their_new_names() {
    for command in ["demo", "demo --gnb --ues 4", "attack --short", "bench", "bench upf --rounds 1", "reproduce all", "--log-json demo"] {
        let output = splitplane(&command.split(' ').collect::<Vec<_>>()).output().unwrap();
        let name = command.split(' ').find(|word| !word.starts_with('-')).unwrap();
        refused(&output, &[&format!("splitplane: {name}: "), &format!("`splitplane-lab {name}`")]);
    }
    for command in ["p4 conformance --corpus .", "p4 fuzz --programs 1"] {
        let output = splitplane(&command.split(' ').collect::<Vec<_>>()).output().unwrap();
        refused(&output, &[&format!("`splitplane-lab {}`", command.split(" --").next().unwrap())]);
    }
    // A word that is no command is refused as others are.
    let output = splitplane(&["demos"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("splitplane-lab"), "{output:?}");
}

/// A reader that has seen enough is no fault: no panic, no error.
#[test]
fn output_may_be_cut_short() {
    let mut child = splitplane(&["p4", "emit", "upf.p4"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(line.contains("generated"), "{line}");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Where an operator's program asks for what the kernel cannot do is said as the compiler would say it, before anything is opened.
#[test]
fn what_xdp_refuses_of_a_program_is_shown_in_its_source() {
    let folder = Folder::new();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4");
    std::fs::create_dir(folder.path("include")).unwrap();
    for file in std::fs::read_dir(shipped.join("include")).unwrap().flatten() {
        std::fs::copy(file.path(), folder.path("include").join(file.file_name())).unwrap();
    }
    let text = std::fs::read_to_string(shipped.join("upf.p4")).unwrap();
    let (before, after) = text.split_once("        user_packet.apply(").unwrap();
    let line = before.lines().count() + 2;
    let call = "        random(wide, 0, 9);";
    let text = format!("{before}        bit<72> wide;\n{call}\n        meta.mark = wide[31:0];\n        user_packet.apply({after}");
    let program = folder.write("mine.p4", text);
    let config = folder.config("[n4]", &format!("program = \"{program}\"\n[split]\nfast = \"xdp\"\npolicy = {{ share = 0.5 }}\n[n4]"));
    let port = format!("driver = \"pcap\"\noutput = \"{}\"", folder.path("n3.pcap").display());
    folder.write("upf.toml", std::fs::read_to_string(&config).unwrap().replacen(&port, "interface = \"lo\"", 1));
    for check in [&["--check"][..], &[]] {
        let output = splitplane(&["run", "--config", &config]).args(check).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        let first = format!("{program}:{line}:9: error[target]: the xdp target does not support random");
        assert!(error.contains(&first) && error.contains(&format!("{line} | {call}")), "{first} is not in: {error}");
    }
}
