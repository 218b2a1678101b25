//! Do the documents' commands work? The first session of README.md and the lines of the page for operators are run as they are written, and every command line of
//! a page is one that the program takes.

#[path = "netns/part.rs"]
mod part;

use part::Namespaces;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The text of the code blocks of a page.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```").enumerate().filter(|(n, _)| n % 2 == 1).map(|(_, block)| block.split_once('\n').map_or("", |(_, text)| text))
}

#[test]
fn the_first_session_of_the_readme_pings_through_the_upf() {
    if !testkit::root_or_skip("the_first_session_of_the_readme_pings_through_the_upf") {
        return;
    }
    let page = read("README.md");
    let section = page.split("## Your first session in ten lines").nth(1).unwrap();
    let script = code(section).next().unwrap();
    assert_eq!(script.lines().count(), 10, "{script}");
    // Names of our own: others may follow the same page on this machine.
    let folder = tempfile::tempdir().unwrap();
    let [upf, ran] = ["upf", "ran"].map(|name| format!("spd-{name}-{}", std::process::id()));
    let _namespaces = Namespaces(vec![upf.clone(), ran.clone()]);
    let records = folder.path().join("records").display().to_string();
    let mut script = script.replace("/tmp/first-session", &records);
    for (name, own) in [("upf", &upf), ("ran", &ran)] {
        for before in ["add", "delete", "exec", "-n", "netns"] {
            script = script.replace(&format!("{before} {name}"), &format!("{before} {own}"));
        }
    }
    let splitplane = env!("CARGO_BIN_EXE_splitplane");
    script = script.replace("\nsplitplane ", &format!("\n{splitplane} ")).replace(" splitplane ", &format!(" {splitplane} "));
    // Whatever fails, nothing is left.
    let script = format!("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n{script}");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", "300", "bash", "-c", &script]).current_dir(root()).stdin(Stdio::null());
    command.env("RUNTIME_DIRECTORY", folder.path().join("splitplane"));
    let out = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}");
    for part in ["1 received", "10.45.0.2", "internet"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    assert!(!Path::new(&records).exists(), "the last line has cleaned up");
}

/// A UPF on loopback sockets, with sessions of the emulated SMF, in a folder of its own: no root. What a page's lines name is there by the names of this test.
struct Desk {
    folder: tempfile::TempDir,
    api: u16,
    children: Vec<Child>,
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

impl Desk {
    /// `last` tells it from others of this process.
    fn new(last: u8, with_token: bool) -> Desk {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_splitplane"), bin.join("splitplane")).unwrap();
        let api = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let token = folder.path().join("token");
        std::fs::write(&token, TOKEN).unwrap();
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
        let token = if with_token { format!("token_file = \"{}\"\n", token.display()) } else { String::new() };
        let id = std::process::id();
        let at = |of: u8| format!("127.{}.{}.{}", 128 | id >> 8 & 63, id & 255, last + of);
        let (upf, smf, gnb) = (at(1), at(2), at(3));
        let config = format!(
            "[n4]\nlisten = \"{upf}:8805\"\n[split]\nfast = \"asic\"\npolicy = {{ share = 0.0 }}\n[api]\nlisten = \"127.0.0.1:{api}\"\n{token}\
             [[port]]\nname = \"n3\"\ndriver = \"udp\"\nlisten = \"{upf}:2152\"\nrole = \"access\"\nnetwork_instance = \"access\"\n\
             [[port]]\nname = \"n6\"\ndriver = \"pcap\"\noutput = \"n6.pcap\"\nrole = \"core\"\nnetwork_instance = \"internet\"\naddresses = [\"10.6.0.1/24\"]\n\
             [[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n"
        );
        std::fs::write(folder.path().join("upf.toml"), config).unwrap();
        let mut desk = Desk { folder, api, children: Vec::new() };
        desk.start("splitplane run --config upf.toml");
        desk.until("splitplane show overview");
        desk.start(&format!("splitplane smf --upf {upf}:8805 --local {smf}:8805 --gnb {gnb} --sessions 3 --records records"));
        desk.until("[ -s records ]");
        desk
    }

    fn bash(&self, script: &str) -> Command {
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        command.args(["-c", script]).current_dir(self.folder.path()).stdin(Stdio::null()).env("PATH", path);
        command.env("RUNTIME_DIRECTORY", self.folder.path().join("run")).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        command.env("TOKEN", TOKEN).env_remove("RUST_LOG");
        command
    }

    fn start(&mut self, line: &str) {
        let log = std::fs::File::create(self.folder.path().join(format!("log{}", self.children.len()))).unwrap();
        self.children.push(self.bash(&format!("exec {line}")).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
    }

    fn until(&mut self, holds: &str) {
        let end = Instant::now() + Duration::from_secs(120);
        while !self.bash(holds).output().unwrap().status.success() {
            let said = |n: usize| std::fs::read_to_string(self.folder.path().join(format!("log{n}"))).unwrap_or_default();
            let ended: Vec<_> = self.children.iter_mut().filter_map(|child| child.try_wait().unwrap()).collect();
            assert!(ended.is_empty() && Instant::now() < end, "{holds}: {ended:?} {} {}", said(0), said(1));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What a line prints.
    fn run(&self, line: &str) -> String {
        let out = self.bash(line).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{line}: {:?}: {said}", out.status.code());
        said
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// Lines of the page for operators, against a UPF that runs: each succeeds, and says what it is to say.
#[test]
fn the_commands_of_the_page_for_operators_succeed() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return testkit::skip("needs curl: the commands of operating.md");
    }
    let [open, closed] = [(10, false), (20, true)].map(|(last, with_token)| Desk::new(last, with_token));
    let page = read("docs/operating.md");
    let lines = code(&page).flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or_default().trim());
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("splitplane ") || line.starts_with("curl ")).collect();
    let mut ran = 0;
    for line in &lines {
        // They wait for packets of users: crates/apps/splitplane/tests/operating.rs has some.
        if line.starts_with("splitplane trace live") {
            continue;
        }
        let desk = if line.contains("$TOKEN") { &closed } else { &open };
        let sessions: serde_json::Value = serde_json::from_str(&desk.run("splitplane show sessions --json")).unwrap();
        let seid = sessions["sessions"][0]["seid"].as_str().expect("there are sessions").to_owned();
        let own = line.replace("0x1f", &seid).replace("127.0.0.1:9090", &format!("127.0.0.1:{}", desk.api));
        let own = own.replace("seconds 30", "seconds 1").replace("curl ", "curl --silent --show-error --fail-with-body ");
        let said = desk.run(&own);
        let says = [
            ("show overview", "sessions"),
            ("show sessions", "SEID"),
            ("show session 0x", seid.as_str()),
            ("show ports", "n3"),
            ("show tables", "pdr_by_teid"),
            ("show targets", "asic (modelled)"),
            ("show peers", "127."),
            ("show report", "\"imbalance\""),
            ("splitplane reload", "nothing differs"),
            ("/metrics", "# EOF"),
            ("v1/sessions", "\"total\""),
            ("/v1/placement", "split.policy"),
            ("/v1/reload", "\"changes\""),
            ("/v1/capture ", "\"running\""),
        ];
        for (command, part) in says {
            assert!(!own.contains(command) || said.contains(part) || own.contains("-X POST"), "{own}: `{part}` is not in {said}");
        }
        ran += 1;
    }
    assert!(ran >= 20, "{lines:?}");
    assert!(closed.folder.path().join("users.pcapng").metadata().unwrap().len() > 0);
    // What a change did.
    assert!(open.run("splitplane show overview").contains("drain"), "the page's line has begun a drain");
}

/// What needs no UPF, on the page that every user sees first.
#[test]
fn commands_that_need_no_upf_succeed() {
    let desk = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("docs/examples/first-session.toml"), desk.path().join("upf.toml")).unwrap();
    let lines = ["splitplane smf --scenario list", "splitplane plan tna/upf.p4 --chip tofino1 --sessions 100000 --svg plan.svg"];
    let page = read("README.md");
    for line in lines {
        assert!(code(&page).flat_map(str::lines).any(|of| of.starts_with(line)), "{line} is not in README.md");
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        let out = command.args(line.split_whitespace().skip(1)).current_dir(desk.path()).output().unwrap();
        assert!(out.status.success() && !out.stdout.is_empty(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    }
    assert!(std::fs::read_to_string(desk.path().join("plan.svg")).unwrap().contains("<svg"));
}

/// The interface that the page for Open5GS has made, in a network namespace of this test's.
#[test]
fn the_interface_of_the_page_for_open5gs_can_be_made() {
    if !testkit::root_or_skip("the_interface_of_the_page_for_open5gs_can_be_made") {
        return;
    }
    let page = read("docs/open5gs.md");
    let lines: Vec<&str> = code(&page).flat_map(str::lines).filter(|line| line.starts_with("ip ")).collect();
    assert!(lines.len() >= 4, "{lines:?}");
    // The package makes the user.
    let script = lines.join("\n").replace("user splitplane", "user root");
    let out = Command::new("unshare").args(["--net", "bash", "-ec", &format!("{script}\nip address show sp-n6")]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains("mtu 1400") && said.contains("10.45.0.1/16"), "{said}");
}

/// Commands of a part of a page, in order: those of its numbered steps, too.
fn steps(page: &str, heading: &str) -> Vec<String> {
    let part = page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no part {heading}"));
    let part = part.split("\n## ").next().unwrap_or_default();
    let mut is_code = false;
    let commands = part.lines().map(str::trim).filter(|line| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        is_code && !fence
    });
    commands.map(str::to_owned).collect()
}

/// What stands for the programs of a core and of UERANSIM. Functions of the core that we do not talk to do nothing; `nr-ue` moves the UE's device into a namespace if its file says
/// so, as UERANSIM 3.3 does.
struct Core {
    page: &'static str,
    ue_file: &'static str,
    imsi: &'static str,
    /// Options of the emulated SMF.
    smf: &'static str,
    /// The UE's address.
    ue: &'static str,
}

/// The steps of a page to a first ping and to the internet, as they are written, in namespaces of their own: network, mounts and processes, so that nothing is left.
fn follow(core: &Core) {
    let page = read(core.page);
    let mut first = steps(&page, "Five minutes to a first ping");
    assert!(first.len() >= 10, "{first:?}");
    let ping = first.iter().find(|line| line.contains(" ping ")).expect("the page pings").clone();
    for line in &mut first {
        // In shells of their own.
        if line.starts_with("build/nr-gnb") {
            line.push_str(" &");
        } else if line.starts_with("build/nr-ue") {
            line.push_str(" & until [ -e /run/up ]; do sleep 0.05; done");
        } else if line.starts_with("splitplane trace live") {
            *line = format!("{ping} & {line}; wait $!");
        }
    }
    let internet = steps(&page, "On one machine, without dedicated interfaces").into_iter();
    let internet: Vec<String> = internet.filter(|line| line.starts_with("sysctl") || line.starts_with("nft")).collect();
    assert!(internet.len() >= 4, "{internet:?}");
    if Command::new("nft").arg("--version").stdout(Stdio::null()).status().is_ok() {
        first.extend(internet);
    } else {
        testkit::skip("needs nft: the way to the internet");
    }
    let script = first.join("\n").replace("sleep 2", "sleep 0.2");
    let script =
        script.replace("/usr/share/doc/splitplane", &root().display().to_string()).replace("/etc/splitplane", "/run/splitplane.etc");
    let stand_ins = format!(
        r#"
set -e
mount -t tmpfs none /run; mkdir -p /run/netns /run/splitplane.etc /run/work/bin /run/work/build /run/work/config /run/path; cd /run/work
ip link set lo up
ln -s {splitplane} /run/path/splitplane
put() {{ (echo '#!/bin/sh'; cat) > $1; chmod +x $1; }}
put /run/path/smf <<'EOF'
splitplane smf {smf} --gnb 127.0.0.1 --records /run/records > /run/smf.log 2>&1 &
until [ -s /run/records ]; do sleep 0.05; done
EOF
put /run/path/systemctl <<'EOF'
case "$*" in
  *"enable --now splitplane")
    splitplane run --config /run/splitplane.etc/upf.toml > /run/upf.log 2>&1 &
    until splitplane show overview > /dev/null 2>&1; do sleep 0.05; done ;;
  "restart open5gs-smfd") smf ;;
esac
EOF
put /run/path/open5gs-dbctl <<'EOF'
[ "$*" = "add 999700000000001 465B5CE8B199B49FAA5F0A2EE238A6BC E8ED289DEBA952E4283B54E88E6183CA" ]
EOF
for nf in nrf udr udm ausf nssf pcf amf; do put bin/$nf < /dev/null; done
put bin/smf <<'EOF'
smf
EOF
echo 'useNamespace: false' > config/{ue_file}.yaml
echo '  - address: 127.0.0.1' > config/free5gc-gnb.yaml
put build/nr-gnb <<'EOF'
# The core runs beside it.
until [ -s /run/records ]; do sleep 0.05; done
exec splitplane ran --gnb 127.0.0.1 --records /run/records > /run/ran.log 2>&1
EOF
put build/nr-ue <<'EOF'
# The emulator makes addresses, routes and rules of the device, then says so.
until grep -qs ready /run/ran.log; do sleep 0.05; done
if grep -q 'useNamespace: true' config/{ue_file}.yaml; then
  ns=ueransim-{imsi}-internet-psi1
  ip netns add $ns; ip -n $ns link set lo up; ip link set ue1 netns $ns; ip -n $ns link set ue1 name uesimtun0
  ip -n $ns addr add {ue}/24 dev uesimtun0; ip -n $ns link set uesimtun0 mtu 1400 up; ip -n $ns route replace default dev uesimtun0
fi
touch /run/up
EOF
export PATH=/run/path:$PATH RUNTIME_DIRECTORY=/run/splitplane
"#,
        splitplane = env!("CARGO_BIN_EXE_splitplane"),
        smf = core.smf,
        ue_file = core.ue_file,
        imsi = core.imsi,
        ue = core.ue,
    );
    let whole = format!("{stand_ins}{script}\necho followed");
    let mut command = Command::new("timeout");
    let apart = "--kill-after=10 300 unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private bash -c";
    command
        .args(apart.split(' '))
        .arg(&whole)
        .stdin(Stdio::null())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("RUST_LOG");
    let out = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains("followed"), "{whole}\n{said}");
    for part in [": good", "3 received", core.ue, "internet"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn the_first_ping_of_the_page_for_open5gs_is_answered() {
    if testkit::root_or_skip("the_first_ping_of_the_page_for_open5gs_is_answered") {
        follow(&Core {
            page: "docs/open5gs.md",
            ue_file: "open5gs-ue",
            imsi: "999700000000001",
            smf: "--shape open5gs --upf 127.0.0.7:8805 --local 127.0.0.4:8805 --n4u 127.0.0.4:2152",
            ue: "10.45.0.2",
        });
    }
}

#[test]
fn the_first_ping_of_the_page_for_free5gc_is_answered() {
    if testkit::root_or_skip("the_first_ping_of_the_page_for_free5gc_is_answered") {
        follow(&Core {
            page: "docs/free5gc.md",
            ue_file: "free5gc-ue",
            imsi: "208930000000001",
            smf: "--shape free5gc --upf 127.0.0.8:8805 --local 127.0.0.1:8805 --upf-n3 127.0.0.8 --ipv4 10.60.0.0/16",
            ue: "10.60.0.2",
        });
    }
}

/// Options and subcommands as they are written: with `--help` behind them the program says what they do, unless it knows them not.
#[test]
fn every_command_of_a_page_is_one_that_the_program_takes() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|e| e == "md")).chain([root().join("README.md")]);
    let mut commands = BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for line in code(&text).flat_map(str::lines) {
            let command = line.split(" #").next().unwrap_or_default().trim().trim_start_matches("$ ");
            // What a shell would make of other lines is the shell's business.
            // A word in capitals stands for a value.
            let stands_for = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
            let is_plain = !command.split_whitespace().any(stands_for)
                && !command.contains(['|', '[', ';', '&', '>', '<', '$', '\\', '*', '"', '\''])
                && !command.contains("...");
            if let Some(arguments) = command.strip_prefix("splitplane ").filter(|_| is_plain) {
                commands.insert(arguments.to_owned());
            }
        }
    }
    assert!(commands.len() >= 25, "{commands:?}");
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        let out = command.args(arguments.split_whitespace()).arg("--help").output().unwrap();
        assert!(out.status.success(), "splitplane {arguments}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
