//! What is in the log, and what is not: a flood of any cause is some lines, and no secret is logged, traced or answered, whatever is asked and whatever fails.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes so long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);
/// Of a cause: so many lines at once, and so many a second (`crates/common/cli/src/log_limit.rs`).
const AT_ONCE: u64 = 50;
const PER_SECOND: u64 = 5;
const TOKEN: &str = "tok3nOf-the/API_0123456789";

/// An address of 127/8 that no other test process uses.
fn loopback(last: u8) -> Ipv4Addr {
    let id = std::process::id();
    Ipv4Addr::new(127, 192 | (id >> 8) as u8 & 63, id as u8, last)
}

/// `splitplane` that runs in a folder of its own, with its log in a file.
struct Running {
    folder: PathBuf,
    child: Child,
    api: u16,
    started: Instant,
}

impl Running {
    /// `more` is the beginning of the configuration, `n4` are keys of its section.
    fn start(folder: &Path, last: u8, (more, n4): (&str, &str), level: &str) -> Running {
        let path = |name: &str| folder.join(name).display().to_string();
        let api = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        private(&folder.join("token"), TOKEN);
        let upf = loopback(last);
        let config = format!(
            "{more}\n[n4]\nlisten = \"{upf}:8805\"\n{n4}\n[api]\nlisten = \"127.0.0.1:{api}\"\ntoken_file = \"{}\"\nrequests_per_s = 1000000\n\
             [control]\nsocket = \"{}\"\n\
             [[port]]\nname = \"n3\"\ndriver = \"udp\"\nlisten = \"{upf}:2152\"\nrole = \"access\"\nnetwork_instance = \"access\"\n\
             [[port]]\nname = \"n6\"\ndriver = \"pcap\"\noutput = \"{}\"\nrole = \"core\"\nnetwork_instance = \"internet\"\naddresses = [\"10.6.0.1/24\"]\n",
            path("token"),
            path("control.sock"),
            path("n6.pcap"),
        );
        std::fs::write(folder.join("upf.toml"), config).unwrap();
        let arguments = ["--log-json", "run", "--until-input-ends", "--config", &path("upf.toml"), "--report", &path("report.json")];
        let mut running = Running::spawn(folder, &arguments, level);
        running.api = api;
        running
    }

    fn spawn(folder: &Path, arguments: &[&str], level: &str) -> Running {
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let mut command = splitplane(arguments);
        command.env("RUST_LOG", level).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let running = Running { folder: folder.to_owned(), child, api: 0, started: Instant::now() };
        assert_eq!(said, "ready\n", "{}", running.log());
        running
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap()
    }

    /// Its log so far as JSON, but for a line that is being written.
    fn lines(&self) -> Vec<Value> {
        let log = self.log();
        let whole = &log[..log.rfind('\n').map_or(0, |end| end + 1)];
        whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    /// A line to a control socket, and its answer.
    fn told(&self, socket: &str, line: &[u8]) -> String {
        let mut stream = UnixStream::connect(self.folder.join(socket)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(line).unwrap();
        stream.write_all(b"\n").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer
    }

    /// The answer to a request, head and body; empty if the connection was closed.
    fn http(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.api)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        self.http(&format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn until(&self, what: &str, holds: impl Fn(&[Value]) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(&self.lines()) {
            assert!(Instant::now() < end, "{what}: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn hang_up(&self) {
        assert!(Command::new("kill").args(["-HUP", &self.child.id().to_string()]).status().unwrap().success());
    }

    fn end(mut self) -> PathBuf {
        drop(self.child.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.log());
        self.folder.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn splitplane(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
    command.args(arguments).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn message(line: &Value) -> &str {
    line["fields"]["message"].as_str().unwrap_or_default()
}

fn count(lines: &[Value], prefix: &str) -> u64 {
    lines.iter().filter(|line| message(line).starts_with(prefix)).count() as u64
}

/// What may be there of a cause by now, at most.
fn bound(started: Instant) -> u64 {
    AT_ONCE + PER_SECOND * (started.elapsed().as_secs() + 2)
}

#[test]
fn a_flood_of_any_cause_is_some_lines_of_the_log_and_what_was_left_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let peers = format!("peers = [\"{}\"]", loopback(2));
    let upf = Running::start(folder.path(), 1, ("", &peers), "info");
    let [peer, stranger] = [2, 3].map(|last| UdpSocket::bind((loopback(last), 0)).unwrap());
    let n4 = (loopback(1), 8805);
    // N4: what is no message, of a peer and of a stranger. They have limits of their own, by what is wrong with them.
    let n4_flood = || {
        for n in 0..2000u32 {
            for socket in [&peer, &stranger] {
                let _ = socket.send_to(&n.to_be_bytes(), n4);
            }
        }
    };
    n4_flood();
    // N3: what is no GTP-U, and tunnels that there are not.
    for n in 0..5000u32 {
        let unknown = [&[0x30, 0xff, 0, 20][..], &n.to_be_bytes(), &[0x45; 20]].concat();
        let _ = stranger.send_to(&unknown, (loopback(1), 2152));
        let _ = stranger.send_to(&n.to_be_bytes(), (loopback(1), 2152));
    }
    // Clients of the socket and of HTTP, without the token. Each has its answer, so all have come.
    let (mut sent, began) = (0, Instant::now());
    while sent < 300 || sent < 2 * bound(began) {
        assert!(upf.told("control.sock", b"{\"ask\":\"nonsense\"}").contains("not a request"));
        sent += 1;
    }
    for _ in 0..100 {
        assert!(
            upf.http("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer wrong\r\n\r\n")
                .contains(" 401 ")
        );
        upf.http("no HTTP\r\n\r\n");
    }
    // A file that is wrong, read again and again: each time is in the audit log, which has no limit.
    std::fs::write(upf.folder.join("upf.toml"), "nonsense").unwrap();
    let reloads = 2 * AT_ONCE;
    for _ in 0..reloads {
        assert!(upf.told("control.sock", b"{\"do\":\"reload\",\"dry_run\":false}").contains("nothing was changed"));
    }
    upf.hang_up();
    upf.until("the signal", |lines| count(lines, "SIGHUP: ") == 1);
    let audited = |line: &&Value| line["target"] == "audit" && line["fields"]["what"] == "reload";
    assert_eq!(upf.lines().iter().filter(audited).count() as u64, reloads + 1);
    // The next line about N4 tells what was left out, as do lines of their own about the others.
    std::thread::sleep(Duration::from_millis(1100));
    n4_flood();
    let left_out = |line: &Value| line["fields"]["left_out"].as_u64().unwrap_or_default();
    let told = "more lines were left out, such as: control request refused";
    upf.until(told, |lines| lines.iter().any(|line| message(line).starts_with(told) && left_out(line) > 0));
    for what in ["dropped: the sender is not in n4.peers", "N4 message dropped"] {
        upf.until(what, |lines| lines.iter().any(|line| message(line).starts_with(what) && left_out(line) > 0));
    }
    let lines = upf.lines();
    let bound = bound(upf.started);
    println!("{sent} requests, {} lines, {bound} of a cause at most", lines.len());
    assert!(count(&lines, "control request refused") >= AT_ONCE, "the limit is lower than it is said to be");
    assert!(count(&lines, "HTTP: a wrong token") <= 1 + upf.started.elapsed().as_secs() / 60);
    let mut causes: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["target"] != "audit") {
        let text: String = message(line).chars().take(30).collect();
        *causes.entry((line["target"].to_string(), text)).or_default() += 1;
    }
    assert!(causes.len() > 6, "{causes:?}");
    assert!(causes.values().all(|lines| *lines <= bound), "more than {bound}: {causes:?}");
    upf.end();
}

const CIPHER_KEY: &str = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
const INTEGRITY_KEY: &str = "f0e1d2c3b4a5968778695a4b3c2d1e0f";
const PASSWORD: &str = "pa55wordOfTheStore";

/// The forms in which a secret may come out.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), secret.to_uppercase()];
    let bytes: Vec<u8> = if secret.len() == 32 {
        (0..16).map(|n| u8::from_str_radix(&secret[2 * n..2 * n + 2], 16).unwrap()).collect()
    } else {
        secret.bytes().collect()
    };
    // As lists of numbers, by parts of four bytes. A key's digits by half, which is what is left of a text that was cut.
    for part in bytes.chunks_exact(4) {
        forms.push(format!("{}, {}, {}, {}", part[0], part[1], part[2], part[3]));
        forms.push(format!("{},{},{},{}", part[0], part[1], part[2], part[3]));
    }
    forms.extend([secret[..secret.len() / 2].to_owned(), secret[secret.len() / 2..].to_owned()]);
    forms
}

/// All that was said, by who said it.
#[derive(Default)]
struct Said(Vec<(String, String)>);

impl Said {
    fn add(&mut self, who: impl Into<String>, text: impl Into<String>) {
        self.0.push((who.into(), text.into()));
    }

    fn run(&mut self, arguments: &[&str]) -> bool {
        let out = splitplane(arguments).env("RUST_LOG", "trace").output().unwrap();
        self.add(arguments.join(" "), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()));
        out.status.success()
    }

    fn has_no(&self, secrets: &[&str]) {
        assert!(self.0.iter().map(|(_, text)| text.len()).sum::<usize>() > 10_000, "little was said");
        for secret in secrets {
            for form in forms(secret) {
                for (who, text) in &self.0 {
                    if let Some(at) = text.find(&form) {
                        let before: Vec<char> = text[..at].chars().collect();
                        let before: String = before[before.len().saturating_sub(100)..].iter().collect();
                        let after: String = text[at..].chars().take(60).collect();
                        panic!("{who}: `{form}` of {secret}: {before}{after}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_secret_is_found_in_each_form() {
    let found = |text: &str| {
        let mut said = Said::default();
        said.add("all else", "x".repeat(10_000));
        said.add("somebody", text);
        std::panic::catch_unwind(|| said.has_no(&[CIPHER_KEY])).is_err()
    };
    assert!(!found("a1b2c3d4e5 161 178 195 212"));
    for leak in
        [CIPHER_KEY, &CIPHER_KEY.to_uppercase(), &CIPHER_KEY[..20], "[161, 178, 195, 212, 229]", "161,178,195,212", "é a1b2c3d4e5f60718"]
    {
        assert!(found(leak), "{leak}");
    }
}

#[test]
fn no_secret_is_logged_traced_or_answered_by_a_upf() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = testkit::Redis::start_or_skip(folder.path()) else { return };
    // From now on it asks for the password.
    let mut server = UnixStream::connect(folder.path().join("redis.sock")).unwrap();
    server.write_all(format!("CONFIG SET requirepass {PASSWORD}\r\n").as_bytes()).unwrap();
    let mut answer = [0; 5];
    server.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
    private(&folder.path().join("keys"), &format!("1 2 {CIPHER_KEY} 2 {INTEGRITY_KEY}\n"));
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/ciphered_upf.p4");
    let service = format!("[[service]]\nname = \"cipher\"\nkey_file = \"{}\"\n", folder.path().join("keys").display());
    let store = format!("[n4.store.shared]\nurl = \"{}?pass={PASSWORD}\"\nlease_ms = 5000\noutage_s = 5", redis.url);
    let upf = Running::start(folder.path(), 11, (&format!("program = \"{}\"\n{service}", program.display()), &store), "trace");
    let (mut said, upf_address) = (Said::default(), loopback(11).to_string());
    let good = std::fs::read_to_string(folder.path().join("upf.toml")).unwrap();
    assert!(good.contains(PASSWORD));

    // All that can be asked, by each way.
    let socket = folder.path().join("control.sock").display().to_string();
    for what in ["overview", "sessions", "ports", "drops", "tables", "targets", "workers", "peers", "offload", "report"] {
        for arguments in [&["show", what, "--socket", &socket][..], &["show", what, "--json", "--socket", &socket]] {
            let succeeded = said.run(arguments);
            assert!(succeeded, "{:?}", said.0.last());
        }
    }
    let described: Value = serde_json::from_str(upf.ask("GET", "/v1/openapi.json", "").split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() > 20, "{paths:?}");
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            for body in [
                "{}",
                "{\"dry_run\": true}",
                &format!("{{\"key\": \"{CIPHER_KEY}\"}}"),
                &format!("{{\"split\": {{\"policy\": \"{CIPHER_KEY}\"}}}}"),
            ] {
                said.add(format!("{method} {path} {body}"), upf.ask(&method, &path.replace("{seid}", "0x1"), body));
            }
        }
    }
    for path in ["/", "/main.js", "/nothing"] {
        said.add(path, upf.ask("GET", path, ""));
    }
    // Without the token: it may be in the wrong place.
    for request in [
        format!("GET /v1/report?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\n"),
        format!("GET /v1/report HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {TOKEN}\r\n"),
        format!("GET /v1/report HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}x\r\n"),
        format!("GET /v1/sessions?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"),
        format!("GET {TOKEN} no HTTP\r\n"),
    ] {
        said.add(&request, upf.http(&format!("{request}Connection: close\r\n\r\n")));
    }
    for line in [
        format!("{{\"ask\": \"report\", \"key\": \"{CIPHER_KEY}\"}}"),
        format!("{{\"ask\": \"log\", \"filter\": 1{CIPHER_KEY}}}"),
        format!("{{\"ask\": \"session\", \"seid\": \"{CIPHER_KEY}\"}}"),
        format!("\"{CIPHER_KEY}\""),
    ] {
        said.add(&line, upf.told("control.sock", line.as_bytes()));
    }
    assert!(
        said.0.iter().any(|(_, text)| text.contains("401 Unauthorized")) && said.0.iter().any(|(_, text)| text.contains("not a request"))
    );

    // Errors that quote the configuration: at a start, and at a reload.
    let key = format!("\"{CIPHER_KEY}\"");
    let pass = format!("redis://u:{PASSWORD}@127.0.0.1:1");
    for (from, to) in [
        (good.lines().find(|line| line.starts_with("url")).unwrap().to_owned(), format!("url = \"http://u:{PASSWORD}@h\"")),
        ("url = \"".into(), format!("uri = \"{pass}\"\nurl = \"")),
        ("url = \"".into(), format!("password = \"{PASSWORD}\"\nurl = \"")),
        ("url = \"redis+unix:".into(), "url = \"rediss:".into()),
        ("url = \"redis+unix:".into(), format!("url = [\"{pass}\"] # \"")),
        ("url = \"redis+unix:".into(), format!("url = {pass} # \"")),
        ("url = \"redis+unix:".into(), format!("url = \"{pass}\n# \"")),
        ("[n4.store.shared]\n".into(), format!("[n4.store]\nshared = \"{pass}\"\n[ignored]\n")),
        ("lease_ms = 5000".into(), format!("lease_ms = \"{PASSWORD}@\"")),
        ("token_file =".into(), format!("token = \"{TOKEN}\"\ntoken_file =")),
        ("[api]\n".into(), format!("[api]\nrequests_per_s = {key}\n")),
        ("name = \"cipher\"\n".into(), format!("name = \"cipher\"\nkey = {key}\n")),
        ("name = \"cipher\"\n".into(), format!("name = \"cipher\"\nkeys = [{key}]\n")),
        ("name = \"cipher\"\n".into(), format!("name = \"cipher\"\nbearers = {key}\n")),
        ("name = \"cipher\"\n".into(), format!("name = \"cipher\"\nplace = {key}\n")),
        ("name = \"cipher\"".into(), format!("name = {key}")),
        ("name = \"cipher\"\n".into(), format!("name = \"cipher\"\n{CIPHER_KEY}\n")),
        ("keys\"".into(), "token\"".into()),
        ("token\"\n".into(), "keys\"\n".into()),
        ("[api]".into(), format!("[[firewall]]\nto = {key}\n[api]")),
    ] {
        assert!(good.contains(&from), "{from}");
        let bad = folder.path().join("bad.toml");
        let text = good.replacen(&from, &to, 1);
        std::fs::write(&bad, &text).unwrap();
        let started = said.run(&["run", "--check", "--config", &bad.display().to_string()]);
        // A file of keys is read later.
        assert!(!started || to == "token\"" || to == "keys\"\n", "{to} is taken");
        std::fs::write(folder.path().join("upf.toml"), &text).unwrap();
        said.run(&["reload", "--dry-run", "--socket", &socket]);
        let reloaded = said.run(&["reload", "--socket", &socket]);
        assert!(!reloaded, "{to}: {:?}", said.0.last());
        said.add("PUT reload", upf.ask("PUT", "/v1/reload", "{\"dry_run\": false}"));
    }
    // Another password and other keys are a restart's, and are not shown as what changes.
    std::fs::write(folder.path().join("upf.toml"), good.replace(PASSWORD, &PASSWORD.to_uppercase())).unwrap();
    said.run(&["reload", "--dry-run", "--socket", &socket]);
    assert!(said.0.last().unwrap().1.contains("n4.store"), "{:?}", said.0.last());
    std::fs::write(folder.path().join("upf.toml"), &good).unwrap();
    upf.hang_up();

    // Faults of a file of keys and of a store that does not answer, or refuses the password.
    for keys in [format!("1 2 {CIPHER_KEY} 2"), format!("1 9 {CIPHER_KEY}"), format!("1 2 {CIPHER_KEY}\n1 2 {INTEGRITY_KEY}")] {
        let other = folder.path().join("other");
        private(&other, &keys);
        // With addresses of its own, and no store, for which it would wait.
        let alone = good.replace("keys\"", "other\"").replace(&upf_address, &loopback(14).to_string()).replace(&store, "");
        let alone = alone.replace(&format!("127.0.0.1:{}", upf.api), "127.0.0.1:0").replace("control.sock", "other.sock");
        std::fs::write(folder.path().join("bad.toml"), alone).unwrap();
        let ended = said.run(&["run", "--until-input-ends", "--config", &folder.path().join("bad.toml").display().to_string()]);
        assert!(said.0.last().unwrap().1.contains("line "), "{:?}", said.0.last());
        assert!(!ended, "{keys}");
    }
    server.write_all(b"CONFIG SET requirepass other\r\nCLIENT KILL TYPE normal SKIPME yes\r\n").unwrap();
    let smf = UdpSocket::bind((loopback(12), 0)).unwrap();
    // An association, which is to be written: what follows is a server that refuses us.
    let node_id = loopback(12).octets();
    let setup = [&[0x20, 5, 0, 21, 0, 0, 1, 0, 0, 60, 0, 5, 0][..], &node_id, &[0, 96, 0, 4, 0xe0, 0, 0, 1]].concat();
    smf.send_to(&setup, (loopback(11), 8805)).unwrap();
    redis.cut_off(true);
    drop(redis);
    // It goes on without its store for a while, and then ends.
    for what in ["overview", "report", "peers"] {
        said.run(&["show", what, "--socket", &socket]);
    }
    said.add("command line", std::fs::read_to_string(format!("/proc/{}/cmdline", upf.child.id())).unwrap_or_default());
    upf.until("the store is away", |lines| count(lines, "the shared store is not ") > 0);
    said.add("the log", upf.log());
    said.add("the report", std::fs::read_to_string(folder.path().join("report.json")).unwrap_or_default());
    said.has_no(&[CIPHER_KEY, INTEGRITY_KEY, PASSWORD, TOKEN]);
}

#[test]
fn no_key_of_a_bearer_is_logged_or_answered_by_a_gnodeb() {
    let folder = tempfile::tempdir().unwrap();
    let host = loopback(21);
    let ue = |id: u16, cipher: &str| {
        format!(
            "[[ue]]\nid = {id}\nradio = \"{}:4001\"\nsession = {{ upf = \"{}\", uplink_teid = 7, downlink_teid = {id} }}\n\
             flows = [{{ qfi = 9, drb = 1 }}]\n[[ue.drb]]\nid = 1\nrlc = \"am\"\nciphering = 2\ncipher_key = {cipher}\nintegrity = 2\nintegrity_key = \"{INTEGRITY_KEY}\"\n",
            loopback(23),
            loopback(22)
        )
    };
    let key = format!("\"{CIPHER_KEY}\"");
    let head = format!(
        "role = \"both\"\ndatapath = \"entities\"\nn3 = \"{host}\"\ncontrol = \"{}\"\n[radio]\naddress = \"{host}:4001\"\nrate_mbps = 10\n",
        folder.path().join("gnb.sock").display()
    );
    let config = folder.path().join("gnb.toml").display().to_string();
    std::fs::write(&config, format!("{head}{}", ue(1, &key))).unwrap();
    let report = folder.path().join("report.json").display().to_string();
    let arguments = ["--log-json", "gnb", "--until-input-ends", "--config", &config, "--report", &report];
    let gnb = Running::spawn(folder.path(), &arguments, "trace");
    let mut said = Said::default();
    let socket = folder.path().join("gnb.sock").display().to_string();
    let file = folder.path().join("ue.toml").display().to_string();
    for (text, is_good) in [
        (ue(2, &key), true),
        (ue(3, &format!("[{key}]")), false),
        (ue(3, &format!("{{ a = {key} }}")), false),
        (ue(3, &format!("\"{CIPHER_KEY}0\"")), false),
        (ue(3, &format!("{key}\nkey = {key}")), false),
        (ue(3, CIPHER_KEY), false),
        (ue(3, &key).replace("ciphering = 2", &format!("ciphering = {key}")), false),
        (ue(3, &key).replace("rlc = \"am\"", &format!("rlc = {key}")), false),
        (ue(3, &key).replace("cipher_key", "cipher_kee"), false),
    ] {
        std::fs::write(&file, &text).unwrap();
        let done = said.run(&["bearers", "--control", &socket, "create", &file]);
        assert_eq!(done, is_good, "{text}: {:?}", said.0.last());
        std::fs::write(folder.path().join("bad.toml"), format!("{head}{text}")).unwrap();
        if !is_good {
            let started = said.run(&["gnb", "--until-input-ends", "--config", &folder.path().join("bad.toml").display().to_string()]);
            assert!(!started, "{text}");
        }
    }
    assert!(said.run(&["bearers", "--control", &socket, "list"]) && said.0.last().unwrap().1.contains("\"id\":2"), "{:?}", said.0.last());
    for line in [
        format!("{{\"do\": \"create\", \"ue\": [{{\"id\": \"{CIPHER_KEY}\"}}]}}"),
        format!("{{\"do\": \"{CIPHER_KEY}\"}}"),
        format!("{{\"do\": \"create\", \"ue\": {{\"{CIPHER_KEY}\": 1}}}}"),
        CIPHER_KEY.to_owned(),
    ] {
        said.add(&line, gnb.told("gnb.sock", line.as_bytes()));
    }
    let folder = gnb.end();
    said.add("the log", std::fs::read_to_string(folder.join("log")).unwrap());
    said.add("the report", std::fs::read_to_string(&report).unwrap());
    // What is said of a gNodeB is short.
    said.add("all else", " ".repeat(10_000));
    said.has_no(&[CIPHER_KEY, INTEGRITY_KEY]);
}
