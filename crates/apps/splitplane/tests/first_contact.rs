//! What a new user does to a daemon: closes its output, sends it signals, asks for what the machine has not, starts it twice.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const CONFIG: &str = r#"
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

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `run` with a good configuration in which `from` is `to`. Its program is compiled once for all tests.
    fn run(&self, from: &str, to: &str) -> Command {
        let text = CONFIG.replace("N3_OUT", &self.path("n3.pcap").display().to_string());
        let text = text.replace("N6_OUT", &self.path("n6.pcap").display().to_string());
        assert!(text.contains(from), "{from}");
        std::fs::write(self.path("upf.toml"), text.replace(from, to)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["run", "--config"]).arg(self.path("upf.toml"));
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env_remove("RUST_LOG").stdin(Stdio::null());
        command
    }
}

/// A daemon that is told to end when the test does.
struct Daemon(Child);

impl Daemon {
    /// Started, and ready.
    fn start(command: &mut Command) -> (Daemon, BufReader<std::process::ChildStdout>) {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        (Daemon(child), output)
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// Ends it as an operator does.
    fn end(mut self) {
        self.signal("-TERM");
        let status = self.0.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        testkit::skip(&format!("needs root: {what}"));
    }
    root
}

/// Lines of a log until one has `part`.
fn until(log: &mut impl BufRead, part: &str) -> String {
    let mut all = String::new();
    loop {
        let from = all.len();
        assert!(log.read_line(&mut all).unwrap() > 0, "`{part}` is not in:\n{all}");
        if all[from..].contains(part) {
            return all;
        }
    }
}

/// sd_notify(3), on a socket as systemd makes it.
#[test]
fn a_service_manager_hears_that_it_is_ready_alive_and_stops() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let heard = || {
        let mut octets = [0; 1024];
        let length = socket.recv(&mut octets).expect("the service manager hears something");
        String::from_utf8(octets[..length].to_vec()).unwrap().trim().to_owned()
    };
    // The watchdog is for the process of that number alone, which the shell becomes.
    let of = folder.run("127.0.0.1:0", "127.0.0.1:0");
    let mut command = Command::new("sh");
    command.args(["-c", "WATCHDOG_PID=$$ exec \"$0\" \"$@\""]).arg(of.get_program()).args(of.get_args());
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env_remove("RUST_LOG").stdin(Stdio::null());
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "30000000");
    let (daemon, _output) = Daemon::start(&mut command);
    assert_eq!([heard(), heard()], ["READY=1", "WATCHDOG=1"]);
    daemon.end();
    let mut last = heard();
    while last == "WATCHDOG=1" {
        last = heard();
    }
    assert_eq!(last, "STOPPING=1");
    // One that cannot start says nothing of being ready.
    let mut wrong = folder.run("role = \"core\"", "role = \"access\"");
    let refused = wrong.env("NOTIFY_SOCKET", &path).output().unwrap();
    socket.set_nonblocking(true).unwrap();
    assert_eq!((refused.status.code(), socket.recv(&mut [0; 16]).map_err(|e| e.kind())), (Some(2), Err(std::io::ErrorKind::WouldBlock)));
}

/// What a script that starts it can rely on: docs/configuration.md.
#[test]
fn exit_codes_tell_who_is_at_fault() {
    let folder = Folder::new();
    let code = |command: &mut Command| command.output().unwrap().status.code();
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/configuration.md")).unwrap();
    assert!(page.contains("Exit codes: 0, ran and stopped as told; 1, failed while running"), "the page lists them");
    // 0: told to stop.
    let (daemon, _output) = Daemon::start(&mut folder.run("127.0.0.1:0", "127.0.0.1:0"));
    daemon.end();
    // 1: it is what failed, not what was asked for: nobody answers.
    let splitplane = || Command::new(env!("CARGO_BIN_EXE_splitplane"));
    let nowhere = folder.path("none.sock");
    for command in ["show", "reload"] {
        let mut asked = splitplane();
        asked.arg(command);
        if command == "show" {
            asked.arg("overview");
        }
        assert_eq!(code(asked.arg("--socket").arg(&nowhere)), Some(1), "{command}");
    }
    // 2: command line, configuration, machine.
    assert_eq!(code(splitplane().args(["run", "--nonsense"])), Some(2));
    assert_eq!(code(&mut folder.run("role = \"core\"", "role = \"access\"")), Some(2));
    assert_eq!(code(&mut folder.run("127.0.0.1:0", "192.0.2.1:8805")), Some(2));
}

/// Recovery Time Stamps have whole seconds, by which an SMF knows a restart: who has seen one must see a later one of the next daemon, also
/// of one that starts in the same second.
#[test]
fn a_daemon_that_starts_again_at_once_has_a_later_recovery_time_stamp() {
    use pfcp::codec::{self, Ie, Message, MessageType, find};
    let folder = Folder::new();
    let smf = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    // A port that was free a moment ago.
    let n4 = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut before = 0;
    for round in 1..4 {
        let (daemon, _output) = Daemon::start(&mut folder.run("127.0.0.1:0", &n4.to_string()));
        smf.send_to(&Message::node(MessageType::HeartbeatRequest, round, vec![Ie::RecoveryTimeStamp(1)]).encode().unwrap(), n4).unwrap();
        let mut answer = [0; 256];
        let (length, _) = smf.recv_from(&mut answer).unwrap();
        let stamp = *find!(codec::decode(&answer[..length]).unwrap().ies, RecoveryTimeStamp).unwrap();
        assert!(before < stamp, "{before}, {stamp}");
        before = stamp;
        daemon.signal("-KILL");
    }
}

#[test]
fn a_live_view_whose_reader_has_gone_does_not_end_the_daemon() {
    let folder = Folder::new();
    let (mut daemon, output) = Daemon::start(folder.run("[n4]", "[n4]").arg("--live").stderr(Stdio::piped()));
    drop(output);
    let mut log = BufReader::new(daemon.0.stderr.take().unwrap());
    until(&mut log, "standard output is closed");
    drop(log);
    daemon.end();
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_daemon() {
    let folder = Folder::new();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let report = folder.path("report.json");
    let (daemon, _output) = Daemon::start(folder.run("[n4]", "[n4]").arg("--report").arg(&report).stderr(full()));
    daemon.signal("-HUP");
    daemon.end();
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert!(report["lost_lines"].as_u64().unwrap() > 0, "{report}");
    // Nor does a failure that cannot be told panic.
    let status = folder.run("127.0.0.1:0", "192.0.2.1:0").stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn hang_up_and_user_signals_do_not_end_the_daemon_and_usr1_writes_the_report() {
    let folder = Folder::new();
    let report = folder.path("report.json");
    let (mut daemon, _output) = Daemon::start(folder.run("[n4]", "[n4]").arg("--report").arg(&report).stderr(Stdio::piped()));
    let mut log = BufReader::new(daemon.0.stderr.take().unwrap());
    for (signal, said) in [("-HUP", "SIGHUP: configuration reloaded"), ("-USR2", "SIGUSR2"), ("-USR1", "report written")] {
        daemon.signal(signal);
        until(&mut log, said);
    }
    let text = std::fs::read(&report).unwrap();
    let now: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert!(now["elapsed_ms"].as_u64().is_some() && daemon.0.try_wait().unwrap().is_none());
    daemon.end();
    assert_ne!(std::fs::read(&report).unwrap(), text, "the last one is the end's");
}

fn refused(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is not in: {error}"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_at_the_start() {
    let folder = Folder::new();
    let nowhere = folder.path("none/report.json");
    let output = folder.run("[n4]", "[n4]").arg("--report").arg(&nowhere).output().unwrap();
    refused(&output, &[&format!("--report {}", nowhere.display()), "No such file or directory"]);
    assert!(output.stdout.is_empty(), "it was not ready");
    assert!(!folder.path("n3.pcap").exists(), "no port was opened");
}

/// `--check` said "good" to all of these.
#[test]
fn check_looks_at_the_machine_too() {
    let folder = Folder::new();
    let check = |from: &str, to: &str| folder.run(from, to).arg("--check").output().unwrap();
    let good = check("[n4]", "[n4]");
    assert!(good.status.success() && String::from_utf8_lossy(&good.stdout).ends_with("upf.toml: good\n"), "{good:?}");
    refused(&check("127.0.0.1:0", "192.0.2.1:8805"), &["upf.toml:3: n4.listen = \"192.0.2.1:8805\": it is not an address of this machine"]);
    refused(&check("[n4]", "[engine]\ncc = \"/nonexistent/cc\"\n[n4]"), &["upf.toml:3: engine.cc = \"/nonexistent/cc\": ", "not found"]);
    refused(&check("[n4]", "[workers]\ncores = [4095]\n[n4]"), &["upf.toml:3: workers.cores[0] = 4095: expected a core that this process"]);
    refused(&check("[n4]", "[n4]\nmax_sessions = 2000000000"), &["upf.toml:3: n4.max_sessions = 2000000000: expected at most "]);
    let n3 = format!("driver = \"pcap\"\noutput = \"{}\"", folder.path("n3.pcap").display());
    refused(
        &check(&n3, "interface = \"nosuch0\""),
        &["upf.toml:6: port[0].interface = \"nosuch0\": expected an Ethernet interface of this machine"],
    );
    // A socket has no address but the one that it listens at.
    let rest = "\nrole = \"access\"\nnetwork_instance = \"access\"";
    let n3 = format!("{n3}{rest}\naddresses = [\"10.3.0.1/24\"]\ngtpu = [\"10.3.0.1\"]");
    let listen = format!("driver = \"udp\"\nlisten = \"192.0.2.9:2152\"{rest}");
    refused(&check(&n3, &listen), &["upf.toml:7: port[0].listen = \"192.0.2.9:2152\": it is not an address of this machine"]);
    // Before any port is opened.
    let output = folder.run("127.0.0.1:0", "192.0.2.1:8805").output().unwrap();
    refused(&output, &["n4.listen"]);
    assert!(!folder.path("n3.pcap").exists());
}

#[test]
fn the_second_start_compiles_nothing() {
    let (folder, kept) = (Folder::new(), tempfile::tempdir().unwrap());
    let log = |more: &[&str]| {
        let output = folder.run("[n4]", "[n4]").args(more).arg("--until-input-ends").env("XDG_CACHE_HOME", kept.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let first = log(&[]);
    assert!(first.contains("compiling the x86 program: ") && first.contains("compiled the x86 program in "), "{first}");
    let second = log(&[]);
    assert!(second.contains("using the cached object") && !second.contains("compiling"), "{second}");
    // On a machine from which the compiler has gone since; a program that was not compiled before is refused there.
    let without = |from: &str, to: &str| {
        let mut command = folder.run(from, to);
        command.arg("--until-input-ends").env("XDG_CACHE_HOME", kept.path()).env("PATH", folder.path("no-programs"));
        command.env_remove("CC").output().unwrap()
    };
    let fourth = without("[n4]", "[n4]");
    let said = String::from_utf8_lossy(&fourth.stderr);
    assert!(fourth.status.success() && said.contains("no compiler: using the cached object of the x86 program"), "{said}");
    let other = without("[n4]", "[qos]\nmode = \"police\"\n[n4]");
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(other.status.code() == Some(2) && said.contains("no C compiler"), "{said}");
    std::fs::set_permissions(kept.path().join("splitplane"), std::fs::Permissions::from_mode(0o770)).unwrap();
    let third = log(&[]);
    assert!(third.contains("compiled programs are not cached") && third.contains("compiling the x86"), "{third}");
}

/// Bits of a line of `/proc/PID/task/TID/status`, of all threads.
fn of_threads(pid: u32, line: &str) -> Vec<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let status = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let field = |text: String| text.lines().find_map(|l| l.strip_prefix(line)).map(|value| u64::from_str_radix(value.trim(), 16).unwrap());
    status.filter_map(field).collect()
}

#[test]
fn the_daemon_keeps_no_capability_that_its_ports_do_not_need() {
    if !root("who has none keeps none") {
        return;
    }
    let folder = Folder::new();
    let (daemon, _output) = Daemon::start(&mut folder.run("[n4]", "[n4]"));
    let pid = daemon.0.id();
    for line in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        let threads = of_threads(pid, line);
        assert!(threads.len() > 3 && threads.iter().all(|bits| *bits == 0), "{line} {threads:x?}");
    }
    assert!(of_threads(pid, "CapBnd:").iter().all(|bits| *bits == 0));
    assert!(of_threads(pid, "NoNewPrivs:").iter().all(|on| *on == 1));
    // SECCOMP_MODE_FILTER.
    assert!(of_threads(pid, "Seccomp:").iter().all(|mode| *mode == 2));
    daemon.end();
}

/// In namespaces of their own, with a pair of interfaces.
fn with_interfaces(script: &str) -> Option<Command> {
    let allowed = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if !allowed {
        testkit::skip("needs root and iproute2");
        return None;
    }
    let links = "ip link set lo up && ip link add name va type veth peer name vb && ip link set va up && ip link set vb up";
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", &format!("{links} && {script}")]).stdin(Stdio::null());
    Some(command)
}

/// Two daemons took one interface, the second by AF_PACKET, and both said "ready".
#[test]
fn an_interface_that_another_daemon_holds_is_refused() {
    let (first, second) = (Folder::new(), Folder::new());
    let port = |folder: &Folder| format!("driver = \"pcap\"\noutput = \"{}\"", folder.path("n3.pcap").display());
    let mut run = first.run(&port(&first), "interface = \"va\"");
    let Some(mut holder) = with_interfaces("exec \"$0\" \"$@\"") else { return };
    holder.arg(run.get_program()).args(run.get_args()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stderr(Stdio::piped());
    let (mut daemon, _output) = Daemon::start(&mut holder);
    let pid = daemon.0.id();
    let kept: u64 = [7, 12, 13, 14, 38, 39].iter().map(|bit| 1 << bit).sum();
    let left = of_threads(pid, "CapEff:");
    assert!(left.iter().all(|bits| bits & !kept == 0 && bits & (1 << 13) != 0), "{left:x?}");
    let mut log = String::new();
    run = second.run(&port(&second), "interface = \"va\"");
    let mut enter = Command::new("nsenter");
    enter.args(["--net", "--target", &pid.to_string()]).arg(run.get_program()).args(run.get_args());
    let output = enter.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null()).output().unwrap();
    daemon.signal("-TERM");
    daemon.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    if log.contains("AF_XDP is not available") {
        testkit::skip("no AF_XDP here, so nothing is held");
        return;
    }
    refused(&output, &["`va`", "stop its owner"]);
    assert!(output.stdout.is_empty(), "it said ready");
}

/// Full-sized packets towards UEs do not fit, and nothing said so.
#[test]
fn an_n3_that_is_too_narrow_for_n6_is_warned_of() {
    let folder = Folder::new();
    let n3 = format!("driver = \"pcap\"\noutput = \"{}\"", folder.path("n3.pcap").display());
    let n6 = format!("driver = \"pcap\"\noutput = \"{}\"", folder.path("n6.pcap").display());
    let check = folder.run(&n3, "interface = \"va\"");
    let text = std::fs::read_to_string(folder.path("upf.toml")).unwrap().replace(&n6, "interface = \"vb\"");
    std::fs::write(folder.path("upf.toml"), text).unwrap();
    for (mtu, warned) in [(1500, true), (1544, false)] {
        let Some(mut command) = with_interfaces(&format!("ip link set va mtu {mtu} && exec \"$0\" \"$@\"")) else { return };
        let output = command.arg(check.get_program()).args(check.get_args()).arg("--check").output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let says =
            error.contains("port[0].interface = \"va\": its MTU is 1500, and N6 has packets of 1500 bytes that need 1544 in a tunnel");
        assert_eq!(says, warned, "{error}");
    }
}

/// With `setcap`, any local user ran own code with the daemon's capabilities by `CC`.
#[test]
fn a_binary_with_file_capabilities_that_everybody_may_run_refuses() {
    if !root("sets file capabilities") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (binary, evil, proof) = (folder.path().join("splitplane"), folder.path().join("cc"), folder.path().join("proof"));
    testkit::install(Path::new(env!("CARGO_BIN_EXE_splitplane")), &binary);
    testkit::script(&evil, &format!("#!/bin/sh\ntouch {}\n", proof.display()));
    if !Command::new("setcap").arg("cap_net_raw+ep").arg(&binary).status().is_ok_and(|s| s.success()) {
        testkit::skip("needs setcap (libcap2-bin) and a file system that keeps capabilities");
        return;
    }
    let run = |binary: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary).args(["run", "--print-config"]);
        command.env("CC", &evil).output().unwrap()
    };
    refused(&run(&binary), &["this binary has file capabilities and may be run by everybody", "setcap -r"]);
    // For one group alone it is as safe as the group.
    std::os::unix::fs::chown(&binary, Some(0), Some(65534)).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert!(Command::new("setcap").arg("cap_net_raw+ep").arg(&binary).status().unwrap().success());
    let output = run(&binary);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!proof.exists());
}
