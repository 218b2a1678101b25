//! Does the program in front of a foreign UPF behave on x86 as in the interpreter, with rules that come and go; and do its commands work?

mod common;

use base::{Packet, PortId, VerdictKind};
use ceupf::{ACCESS_PORT, Arrangement, Book, CORE_PORT, FOREIGN_ACCESS_PORT, FOREIGN_CORE_PORT, Hop, Rule, Selector, Side, Way};
use common::{CHECKED, Cases, Compared, Fleet, Frame, Setup, compile, native};
use offload::{Policy, Unit};
use pktio::{AfPacket, Port};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use target_asic::Chip;

const UPF: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const RULES: u64 = 48;

fn arrangement() -> Arrangement {
    let hop = |name: &str, side, to: [u8; 4], len, mtu| Hop {
        name: name.into(),
        side,
        to: (to.into(), len),
        src_mac: [2, 0, 0, 0, 0, 1],
        dst_mac: [2, 0, 0, 0, 0, 2],
        mtu,
    };
    Arrangement {
        upf: UPF,
        hops: vec![
            hop("gnbs", Side::Access, [10, 3, 0, 0], 24, 1500),
            hop("narrow", Side::Access, [10, 3, 1, 0], 24, 200),
            hop("internet", Side::Core, [0, 0, 0, 0], 0, 1500),
            hop("narrow-core", Side::Core, [192, 0, 2, 0], 24, 120),
        ],
    }
}

fn ue(rng: &mut ChaCha8Rng) -> Ipv4Addr {
    Ipv4Addr::new(10, 45, 0, rng.random_range(1..7))
}

fn remote(rng: &mut ChaCha8Rng) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, rng.random_range(2..4), rng.random_range(1..4))
}

fn teid(rng: &mut ChaCha8Rng) -> u32 {
    rng.random_range(1..4)
}

fn rule(rng: &mut ChaCha8Rng) -> Rule {
    let remote = if rng.random_bool(0.3) { format!(" remote={}", remote(rng)) } else { String::new() };
    let text = if rng.random_bool(0.4) {
        let qfi = if rng.random_bool(0.5) { format!(" qfi={}", rng.random_range(0..64)) } else { String::new() };
        format!("encap ue={} teid={} gnb=10.3.{}.9{qfi}{remote}", ue(rng), teid(rng), rng.random_range(0..2))
    } else {
        format!("decap teid={} ue={}{remote}", teid(rng), ue(rng))
    };
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn ipv4(rng: &mut ChaCha8Rng, src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, rng.random_range(2..255), protocol, 0, 0];
    header[2..4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
    header.extend(src.octets());
    header.extend(dst.octets());
    let sum = wire::checksum::finish(wire::checksum::sum(&header));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.extend(payload);
    header
}

fn user_packet(rng: &mut ChaCha8Rng, src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
    let len = rng.random_range(0..300);
    let payload: Vec<u8> = (0..len).map(|_| rng.random()).collect();
    ipv4(rng, src, dst, 17, &payload)
}

/// A good frame for one of the ports, then often spoilt somewhere in its headers, cut or padded.
fn frame(rng: &mut ChaCha8Rng) -> Frame {
    let ports = [ACCESS_PORT, ACCESS_PORT, FOREIGN_ACCESS_PORT, CORE_PORT, CORE_PORT, FOREIGN_CORE_PORT, 2];
    let port = ports[rng.random_range(0..ports.len())];
    let mut bytes = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0];
    let (ue, remote) = (ue(rng), remote(rng));
    if port < CORE_PORT {
        let user = if port == ACCESS_PORT { user_packet(rng, ue, remote) } else { user_packet(rng, remote, ue) };
        let optional: &[u8] = match rng.random_range(0..8) {
            0..4 => &[],
            4..6 => &[0, 0, 0, 0x85, 1, 0x10, 9, 0],
            6 => &[0, 7, 0, 0],
            _ => &[0, 0, 0, 0x40, 1, 8, 8, 0],
        };
        let flags = match optional {
            [] => 0x30,
            [0, 7, ..] => 0x32,
            _ => 0x34,
        };
        let message = if rng.random_bool(0.95) { 255 } else { rng.random() };
        let mut gtpu = vec![flags, message];
        gtpu.extend(((optional.len() + user.len()) as u16).to_be_bytes());
        gtpu.extend(teid(rng).to_be_bytes());
        gtpu.extend(optional);
        gtpu.extend(user);
        let mut udp = vec![8, 104, 8, 104];
        udp.extend(((8 + gtpu.len()) as u16).to_be_bytes());
        udp.extend([0, 0]);
        udp.extend(gtpu);
        let gnb = Ipv4Addr::new(10, 3, 0, 9);
        bytes.extend(if port == ACCESS_PORT { ipv4(rng, gnb, UPF, 17, &udp) } else { ipv4(rng, UPF, gnb, 17, &udp) });
    } else if port == FOREIGN_CORE_PORT {
        bytes.extend(user_packet(rng, ue, remote));
    } else {
        bytes.extend(user_packet(rng, remote, ue));
    }
    match rng.random_range(0..10) {
        0 => {
            let at = rng.random_range(12..bytes.len().min(100));
            bytes[at] ^= 1 << rng.random_range(0..8);
        }
        1 => bytes.truncate(rng.random_range(0..bytes.len())),
        2 => bytes.extend(std::iter::repeat_n(0, rng.random_range(1..64))),
        3 => bytes[22] = rng.random_range(0..2), // the outer TTL, with a wrong checksum
        _ => {}
    }
    Frame { port: PortId(port), bytes }
}

fn case(setup: &Setup, seed: u64) -> (Compared, [u64; 4]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut fleet = Fleet::new(setup, rng.random_range(0..1 << 50));
    let mut book = Book::new(arrangement(), &setup.ir.program).unwrap();
    fleet.apply(&Unit::default(), &book.initial()).unwrap();
    let mut hits: HashMap<u32, u64> = HashMap::new();
    for _ in 0..25 {
        let staged = if rng.random_bool(0.75) {
            book.stage_add(&(0..rng.random_range(1..8)).map(|_| rule(&mut rng)).collect::<Vec<_>>())
        } else {
            let ids: Vec<u64> = book.rules().map(|r| r.id).filter(|_| rng.random_bool(0.3)).collect();
            book.stage_delete(&ids.into_iter().map(Selector::Id).collect::<Vec<_>>())
        };
        if let Ok(staged) = staged {
            fleet.apply(&Unit::default(), &staged.batch).expect("what the book takes, targets take");
            hits.extend(staged.added().iter().map(|r| (r.cell, 0)));
            book.commit(staged);
        }
        let frames: Vec<Frame> = (0..rng.random_range(1..=160)).map(|_| frame(&mut rng)).collect();
        let before: HashMap<u32, u64> = book.rules().map(|r| (r.cell, fleet.count(book.hits(), r.cell.into()).packets)).collect();
        for (frame, outcome) in frames.iter().zip(fleet.run(&frames)) {
            let foreign = [FOREIGN_ACCESS_PORT, FOREIGN_CORE_PORT].map(PortId);
            let to = PortId(outcome.verdict.port);
            assert_eq!(outcome.verdict.kind == VerdictKind::Drop, frame.port == PortId(2), "only an unknown port drops");
            // What goes to the foreign UPF or comes from it is as it was.
            if foreign.contains(&frame.port) || foreign.contains(&to) {
                assert_eq!(outcome.bytes, frame.bytes);
            }
            assert!(!foreign.contains(&frame.port) || !foreign.contains(&to), "it went round");
        }
        for installed in book.rules() {
            let now = fleet.count(book.hits(), installed.cell.into()).packets;
            *hits.entry(installed.cell).or_default() += now - before[&installed.cell];
            assert_eq!(now, hits[&installed.cell], "a rule counts what it takes, from nothing on: {}", installed.rule);
        }
    }
    let ways = Way::ALL.map(|(way, _)| fleet.count(book.ways(), way as u64).packets);
    (fleet.finish(), ways)
}

#[test]
fn the_pipeline_is_the_same_everywhere() {
    let ir = compile("ceupf.p4", &[("RULES", &RULES.to_string())]);
    let (whole, base) = (native(&ir, 1, &[]), native(&ir, 2, &["-O0"]));
    let setup = Setup { ir, whole, base, chip: Chip::default(), policy: Policy::None, kernel: false };
    let cases = Cases::from_env(12);
    let (mut sum, mut ways) = (Compared::default(), [0; 4]);
    for seed in cases.seeds() {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&setup, seed))) {
            Ok((compared, of_case)) => {
                sum.add(compared);
                ways.iter_mut().zip(of_case).for_each(|(sum, n)| *sum += n);
            }
            Err(failure) => {
                eprintln!("ceupf.p4: seed {seed:#x} failed; {CHECKED}");
                std::panic::resume_unwind(failure);
            }
        }
    }
    println!("{ways:?}\n{}", sum.summary(&setup.ir.program));
    if !cases.enough() {
        return;
    }
    assert!(sum.packets > 15_000 && sum.batches.0 > 150, "{sum:?}");
    assert!(ways.iter().all(|way| *way > 500), "{ways:?}");
    for (table, (hits, misses)) in &sum.tables {
        // Default forwards miss only for a port that is none; a hop that a rule names is there.
        let least = if table == "ip_default_forward" { 20 } else { 1500 };
        assert!(*hits > 500 && (*misses > least || table == "l2_forward"), "{table}: {hits} hits, {misses} misses");
    }
}

/// A daemon with its folder. Stopped by the end of its input.
struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
}

impl Daemon {
    /// On capture files.
    fn start() -> Daemon {
        Daemon::with(Command::new(env!("CARGO_BIN_EXE_splitplane")), "asic", |n, folder| {
            let output = folder.join(format!("{n}.pcap"));
            format!("driver = \"pcap\"\noutput = {:?}", output.display().to_string())
        })
    }

    /// By a command, on ports as `port` writes them.
    fn with(mut command: Command, target: &str, port: impl Fn(usize, &Path) -> String) -> Daemon {
        let folder = tempfile::tempdir().unwrap();
        let example = include_str!("../../../../docs/ceupf.example.toml");
        let mut text = example.replace("/run/splitplane/ceupf.sock", &folder.path().join("s.sock").display().to_string());
        text = text.replace("max_rules = 131072", "max_rules = 3").replace("target = \"x86\"", &format!("target = {target:?}"));
        for n in 0..4 {
            text = text.replace(&format!("interface = \"eth{n}\""), &port(n, folder.path()));
        }
        let config = folder.path().join("ceupf.toml");
        std::fs::write(&config, text).unwrap();
        let check = splitplane(&["run", "--check", "--config", &config.display().to_string()]);
        assert!(check.status.success(), "{}", words(&check));
        let report = folder.path().join("report.json");
        let mut child = command
            .args(["run", "--until-input-ends", "--config"])
            .arg(&config)
            .arg("--report")
            .arg(&report)
            .env("RUST_LOG", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut ready = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut ready).unwrap();
        assert_eq!(ready, "ready\n");
        Daemon { child, folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn rules(&self, args: &[&str]) -> Output {
        splitplane(&[&["rules", "--socket", &self.path("s.sock")], args].concat())
    }

    fn stop(mut self) -> serde_json::Value {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        assert!(!Path::new(&self.path("s.sock")).exists(), "the socket goes with the daemon");
        serde_json::from_str(&std::fs::read_to_string(self.path("report.json")).unwrap()).unwrap()
    }
}

fn splitplane(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_splitplane")).args(args).env("RUST_LOG", "off").output().expect("the binary runs")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn rules_are_added_listed_loaded_and_deleted_by_commands() {
    let daemon = Daemon::start();
    let good = |args: &[&str], text: &str| {
        let output = daemon.rules(args);
        assert!(output.status.success() && words(&output).contains(text), "{args:?}: {}", words(&output));
    };
    let bad = |code: i32, args: &[&str], text: &str| {
        let output = daemon.rules(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(words(&output).contains(text), "{args:?}: {}", words(&output));
    };
    good(&["add", "encap", "ue=10.45.0.2", "teid=0x1234", "gnb=10.3.0.2", "qfi=9"], "rule 1: encap ue=10.45.0.2 teid=0x1234");
    bad(
        1,
        &["add", "encap", "ue=10.45.0.2", "teid=1", "gnb=10.3.0.2"],
        "conflict: `encap ue=10.45.0.2 teid=0x1234 gnb=10.3.0.2 qfi=9` (rule 1)",
    );
    bad(1, &["add", "encap ue=10.45.0.2"], "encap needs teid");
    let write = |name: &str, text: &str| {
        std::fs::write(daemon.path(name), text).unwrap();
        daemon.path(name)
    };
    let two = write("two.rules", "# users\ndecap teid=7 ue=10.45.0.2\n\ndecap teid=8 ue=10.45.0.3 # another\n");
    good(&["load", &two], "2 rules");
    bad(1, &["load", &two], "two.rules:2: duplicate: `decap teid=0x7 ue=10.45.0.2` exists already (rule 2); nothing was added");
    bad(
        2,
        &["load", &write("wrong.rules", "decap teid=9 ue=10.45.0.2\ndecap teid=10\n")],
        "wrong.rules:2: decap needs ue; nothing was added",
    );
    bad(2, &["load", &daemon.path("none.rules")], "cannot read");
    bad(1, &["add", "decap teid=9 ue=10.45.0.2"], "full: the program was built for 3 rules, and 3 are there");
    good(&["list"], "3 rules of 3");
    good(&["--json", "list"], "\"rule\":\"decap teid=0x8 ue=10.45.0.3\"");
    good(&["del", "decap", "teid=8", "ue=10.45.0.3"], "rule 3: decap teid=0x8 ue=10.45.0.3");
    bad(1, &["del", "id=3"], "there is no rule `id=3`");
    let report = daemon.stop();
    assert_eq!((report["target"].as_str(), report["modelled"].as_bool(), report["refused"].as_u64()), (Some("asic"), Some(true), Some(5)));
    assert_eq!(report["rules"].as_array().map(Vec::len), Some(2), "{report}");
}

/// `--check` said "good", and `run` ended.
#[test]
fn check_refuses_a_program_for_which_there_is_neither_object_nor_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = include_str!("../../../../docs/ceupf.example.toml").replace("max_rules = 131072", "max_rules = 1000");
    for n in 0..4 {
        text = text.replace(&format!("interface = \"eth{n}\""), &format!("driver = \"pcap\"\noutput = \"{n}.pcap\""));
    }
    let check = |text: &str, path: &str| {
        std::fs::write(folder.path().join("ceupf.toml"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["run", "--check", "--config", "ceupf.toml"]).current_dir(folder.path()).env("PATH", path);
        let output = command.env("XDG_CACHE_HOME", folder.path()).env_remove("CC").env("RUST_LOG", "off").output().unwrap();
        (output.status.code(), words(&output))
    };
    let paths = std::env::var("PATH").unwrap();
    let (code, said) = check(&text, "/nonexistent");
    assert!(code == Some(2) && said.contains("no C compiler"), "{said}");
    let (code, said) = check(&text, &paths);
    assert!(code == Some(0) && said.contains("good"), "{said}");
    // A model needs none.
    let (code, said) = check(&text.replace("target = \"x86\"", "target = \"asic\""), "/nonexistent");
    assert!(code == Some(0) && said.contains("good"), "{said}");
    let (code, said) = check(&text.replace("# cc = \"clang\"", "cc = \"/nonexistent/cc\""), &paths);
    assert!(code == Some(2) && said.contains("ceupf.cc") && said.contains("/nonexistent/cc"), "{said}");
}

#[test]
fn without_a_daemon_the_commands_say_so() {
    let output = splitplane(&["rules", "--socket", "/nonexistent/s.sock", "list"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("is `splitplane run` running"), "{}", words(&output));
}

const PATIENCE: Duration = Duration::from_secs(60);
/// Interfaces in the order of the example's.
const LINKS: [&str; 4] = ["access", "core", "upf-access", "upf-core"];

/// Removed on drop.
struct Namespaces([String; 2]);

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

fn ip(args: &[&str]) {
    let output = Command::new("ip").args(args).output().unwrap();
    assert!(output.status.success(), "ip {}: {}", args.join(" "), words(&output));
}

/// The far end of a link: base station, router, or a side of the foreign UPF.
struct Far(AfPacket);

impl Far {
    fn send(&mut self, frame: &[u8]) {
        let end = Instant::now() + PATIENCE;
        while self.0.transmit(&[Packet::new(frame, PortId(0))]).unwrap() == 0 {
            assert!(Instant::now() < end, "cannot send");
        }
        self.0.flush().unwrap();
    }

    /// The next frame, which must be this.
    fn expect(&mut self, frame: &[u8]) {
        let mut packet = [Packet::empty(0)];
        let end = Instant::now() + PATIENCE;
        while self.0.receive(&mut packet).unwrap() == 0 {
            assert!(Instant::now() < end, "nothing came out");
            std::thread::yield_now();
        }
        assert_eq!(packet[0].data(), frame);
    }
}

/// Real interfaces; the test is base station, router and foreign UPF.
#[test]
fn on_real_links_frames_go_through_the_foreign_upf_until_there_are_rules() {
    if !testkit::root_or_skip("on_real_links_frames_go_through_the_foreign_upf_until_there_are_rules") {
        return;
    }
    // A thread of its own, as it moves into a namespace.
    let result = std::thread::spawn(on_real_links).join();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

fn on_real_links() {
    let id = std::process::id();
    let namespaces = Namespaces([format!("spc-switch-{id}"), format!("spc-far-{id}")]);
    let [switch, far] = &namespaces.0;
    for name in [switch, far] {
        ip(&["netns", "add", name]);
        // The kernel must add no packet of its own.
        ip(&["netns", "exec", name, "sh", "-c", "for f in all default; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done"]);
    }
    for link in LINKS {
        ip(&["link", "add", link, "netns", switch, "type", "veth", "peer", "name", link, "netns", far]);
        [switch, far].into_iter().for_each(|ns| ip(&["-n", ns, "link", "set", link, "up"]));
    }
    let mut command = Command::new("ip");
    command.args(["netns", "exec", switch, env!("CARGO_BIN_EXE_splitplane")]);
    let daemon = Daemon::with(command, "x86", |n, _| format!("driver = \"af_packet\"\ninterface = {:?}", LINKS[n]));
    let file = std::fs::File::open(format!("/run/netns/{far}")).unwrap();
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    let [mut gnb, mut router, mut n3, mut n6] = LINKS.map(|link| Far(AfPacket::open(link, link, Default::default()).unwrap()));

    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (ue, server) = (Ipv4Addr::new(10, 45, 0, 2), Ipv4Addr::new(192, 0, 2, 9));
    let ethernet = |to: u8, from: u8| vec![2, 0, 0, 0, to, 2, 2, 0, 0, 0, from, 1, 8, 0];
    let user = |rng: &mut ChaCha8Rng, src, dst, ttl: u8| {
        let mut packet = ipv4(rng, src, dst, 17, &[7; 60]);
        packet[8] = ttl;
        packet[10..12].fill(0);
        let sum = wire::checksum::finish(wire::checksum::sum(&packet[..20]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    // Uplink: what the base station sends, and what leaves to the router.
    let (sent, routed) = (user(&mut rng, ue, server, 64), user(&mut rng, ue, server, 63));
    let mut udp = vec![8, 104, 8, 104, 0, 96, 0, 0, 0x30, 255, 0, 80, 0, 0, 0, 7];
    udp.extend(&sent);
    let uplink = [ethernet(9, 9), ipv4(&mut rng, Ipv4Addr::new(10, 3, 0, 2), UPF, 17, &udp)].concat();
    let uplink_out = [&[2, 0, 0, 0, 6, 2, 2, 0, 0, 0, 6, 1, 8, 0][..], &routed].concat();
    // Downlink: only that it comes out at the base station, longer by a tunnel; the bytes are compared elsewhere.
    let downlink = [ethernet(6, 6), user(&mut rng, server, ue, 64)].concat();

    for _ in 0..20 {
        gnb.send(&uplink);
        n3.expect(&uplink);
        n6.send(&uplink_out);
        router.expect(&uplink_out);
        router.send(&downlink);
        n6.expect(&downlink);
        n3.send(&uplink);
        gnb.expect(&uplink);
    }
    let good = |args: &[&str]| {
        let output = daemon.rules(args);
        assert!(output.status.success(), "{}", words(&output));
    };
    good(&["add", "decap teid=7 ue=10.45.0.2"]);
    good(&["add", "encap ue=10.45.0.2 teid=0x99 gnb=10.3.0.2"]);
    for _ in 0..20 {
        gnb.send(&uplink);
        router.expect(&uplink_out);
        router.send(&downlink);
        let mut packet = [Packet::empty(0)];
        let end = Instant::now() + PATIENCE;
        while gnb.0.receive(&mut packet).unwrap() == 0 {
            assert!(Instant::now() < end, "nothing came out");
        }
        let out = packet[0].data();
        assert_eq!(
            (out.len(), &out[..12], &out[46..50]),
            (downlink.len() + 36, &[2, 0, 0, 0, 3, 2, 2, 0, 0, 0, 3, 1][..], &[0, 0, 0, 0x99][..])
        );
    }
    good(&["del", "decap teid=7 ue=10.45.0.2"]);
    gnb.send(&uplink);
    n3.expect(&uplink);
    let report = daemon.stop();
    let ways = |name: &str| report["ways"][name]["packets"].as_u64();
    assert_eq!((ways("encapsulated"), ways("decapsulated")), (Some(20), Some(20)), "{report:#}");
    assert_eq!((ways("to_foreign"), ways("from_foreign")), (Some(41), Some(40)), "{report:#}");
    assert_eq!(report["imbalance"], 0, "{report:#}");
    assert_eq!(report["rules"][0]["packets"], 20);
}
