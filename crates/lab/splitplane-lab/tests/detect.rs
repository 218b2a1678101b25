//! Do the detectors' programs decide as their twins of crate `detect`, packet by packet, in the interpreter and natively?
//!
//! The same seeded packets go to the twin, to the interpreter and, in bursts, to native code. What is reported must agree, with its
//! estimate, and so must all cells at the end.

use base::{Packet, PortId, Verdict, VerdictKind};
use detect::PUBLISHED_THRESHOLD;
use detect::decayed_two_way::{self, DecayedTwoWay};
use detect::gap::Constants;
use detect::hash::{self, Hashed};
use detect::ipg_hardware::{self, IpgHardware};
use detect::session_rate::{self, SessionRates};
use detect::workload::{Arrivals, Case, Config, Rates, TRAIN, Workload};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op, Program};
use rand::{Rng, RngCore};
use std::path::Path;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_asic::Asic;
use target_x86::{Options, X86};

/// A packet of a flow, as a frame.
struct Sent {
    frame: Vec<u8>,
    /// None for what is no flow.
    flow: Option<Hashed>,
}

/// A program of the repository's folder `p4`, with macros defined.
fn compile(name: &str, defines: &[(&str, &str)]) -> Arc<Ir> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(name);
    let defines = defines.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let compiled = p4_check::compile_file(&path, &p4_check::Options { defines, ..Default::default() });
    let mut ir = compiled.unwrap_or_else(|failure| panic!("{failure}")).ir;
    p4_passes::optimise(&mut ir).unwrap_or_else(|e| panic!("{name}: {e}"));
    Arc::new(ir)
}

/// The program as native code. `flags` are the compiler's.
fn native(ir: &Ir, seed: u64, flags: &[&str]) -> Arc<dyn Target> {
    let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: flags.iter().map(|f| f.to_string()).collect(), seed, ..Options::default() };
    Arc::new(X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}")))
}

/// Packets in bursts, each with its time.
fn bursts(config: &Config, seed: u64) -> Vec<(u64, Vec<Sent>)> {
    let mut rng = testkit::rng(seed);
    let mut packets = Workload::new(config).peekable();
    let mut bursts = Vec::new();
    while packets.peek().is_some() {
        let burst: Vec<_> = packets.by_ref().take(rng.random_range(1..=target_api::BURST)).collect();
        let now_ns = burst.last().map_or(0, |p| p.at_ns);
        let sent = burst.iter().map(|p| if rng.random_bool(0.02) { stranger(&mut rng) } else { frame(p.key, p.bytes) });
        bursts.push((now_ns, sent.collect()));
    }
    bursts
}

/// The 5-tuple of a flow, and a frame of it with that length, at least that of its headers.
fn frame(key: u64, bytes: u32) -> Sent {
    let k = key.to_be_bytes();
    let protocol = [6, 17, 1][k[0] as usize % 3];
    let addresses = [10, k[1], k[2], k[3], 192, 168, k[4], k[5]];
    // Of a fragment or an ICMP message no ports are seen.
    let fragment: u16 = if k[6] < 20 { 7 } else { 0x4000 };
    let options = if k[7] < 20 { 8 } else { 0 };
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45 + options / 4, 0, 0, 99, 0, 0]);
    frame.extend(fragment.to_be_bytes());
    frame.extend([64, protocol, 0, 0]);
    frame.extend(addresses);
    frame.resize(frame.len() + options as usize, 1);
    let ports = [k[6], 1, k[7], 2];
    frame.extend(ports);
    frame.resize(frame.len().max(bytes as usize), 0);
    let seen = if protocol != 1 && fragment & 0x1fff == 0 { ports } else { [0; 4] };
    let tuple = [&addresses[..], &[protocol], &seen].concat();
    Sent { frame, flow: Some(hash::of_bytes(&tuple)) }
}

/// ARP, another version of IP, or a piece of a frame.
fn stranger(rng: &mut impl Rng) -> Sent {
    let frame = match rng.random_range(0..3) {
        0 => [vec![2; 12], vec![8, 6], vec![0; 28]].concat(),
        1 => [vec![2; 12], vec![8, 0, 0x65], vec![0; 60]].concat(),
        _ => vec![2; rng.random_range(0..14)],
    };
    Sent { frame, flow: None }
}

/// Runs a burst; all packets with the same time.
fn run(lane: &mut dyn Lane, sent: &[Sent], now_ns: u64) -> Vec<(Verdict, Vec<u8>)> {
    let mut packets: Vec<Packet> = sent.iter().map(|s| Packet::new(&s.frame, PortId(4))).collect();
    let mut verdicts = vec![Verdict::default(); sent.len()];
    lane.process(&mut packets, &mut verdicts, now_ns);
    packets.iter().zip(verdicts).map(|(packet, verdict)| (verdict, packet.data().to_vec())).collect()
}

/// What must come out: reports leave by the control plane, all else by the neighbour port. Nothing is changed.
fn check(what: &str, outcomes: &[(Verdict, Vec<u8>)], sent: &[Sent], reports: &[Option<u32>], heavy: u8) {
    for (i, ((verdict, bytes), sent)) in outcomes.iter().zip(sent).enumerate() {
        let expected = match reports[i] {
            Some(mark) => (VerdictKind::Punt, heavy, mark, 0),
            None => (VerdictKind::Forward, 0, verdict.mark, 5),
        };
        let got = (verdict.kind, verdict.reason, verdict.mark, verdict.port);
        assert_eq!(got, expected, "{what}: packet {i} of a burst");
        assert_eq!(bytes, &sent.frame, "{what}: packet {i} of a burst");
    }
}

/// Fills a table of one key and one parameter.
fn fill(target: &dyn Target, table: &str, action: &str, entries: impl Iterator<Item = (u128, u128)>) {
    let program = target.program();
    let table = program.table(table).expect("the program has it");
    let action = program.action(action).expect("the program has it");
    let insert = |(key, arg)| Op::Insert(Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args: vec![arg] });
    target.apply(&Batch { ops: entries.map(insert).collect() }).expect("fits");
}

fn registers(target: &dyn Target) -> Vec<(String, Vec<u64>)> {
    let program: &Program = target.program();
    let all = program.registers.iter().map(|(id, info)| {
        let mut cells = Vec::new();
        target
            .facets()
            .registers
            .expect("all give them out")
            .read_registers(id, 0..info.size, &mut cells)
            .unwrap_or_else(|e| panic!("{}: {e}", info.name));
        (info.name.clone(), cells)
    });
    all.collect()
}

/// Three seconds with a few heavy flows among hundreds of others.
fn population(seed: u64, arrivals: Arrivals) -> Config {
    let rates = Rates::Zipf { exponent: 1.1, packets_per_second: 25_000.0 };
    Config { flows: 500, rates, arrivals, ..Case::C.config(seed, 3_000_000_000) }
}

#[test]
fn gaps_are_those_of_the_twin() {
    let slots = "128";
    let ir = compile("detect/ipg.p4", &[("SLOTS", slots)]);
    let at_once = compile("detect/ipg.p4", &[("SLOTS", slots), ("ONE_PASS", "1")]);
    // Two passes need a target that sends packets round; one pass goes everywhere.
    let oracle: Arc<dyn Target> = Arc::new(Asic::oracle(ir.clone()).unwrap());
    let oracle_at_once: Arc<dyn Target> = Arc::new(Asic::oracle(at_once.clone()).unwrap());
    let x86 = native(&at_once, 1, &[]);
    let mut twin = IpgHardware::new(128 * detect::gap::SLOT_BITS / 8, PUBLISHED_THRESHOLD);
    let targets = [("interpreter", oracle), ("interpreter, one pass", oracle_at_once), ("x86", x86)];
    let constants = Constants::new(PUBLISHED_THRESHOLD, ipg_hardware::WRAP, ipg_hardware::TAU_LIMIT);
    for (_, target) in &targets {
        fill(
            &**target,
            "tau_steps",
            "set_tau_step",
            constants.tau_steps.iter().enumerate().map(|(gap, step)| (gap as u128, (*step).into())),
        );
    }
    let mut lanes = targets.each_ref().map(|(what, target)| (*what, target.lane(0)));
    let heavy = ir.program.reason("heavy").unwrap();

    let (mut reported, mut packets) = (0, 0);
    for (now_ns, sent) in bursts(&population(31, Arrivals::Poisson), 1) {
        let tick = (now_ns / 1000) as u16;
        let reports: Vec<_> = sent.iter().map(|s| twin.packet_at(s.flow?.crc32, tick).map(u32::from)).collect();
        reported += reports.iter().flatten().count();
        packets += sent.len();
        for (what, lane) in &mut lanes {
            check(what, &run(&mut **lane, &sent, now_ns), &sent, &reports, heavy);
        }
    }
    let cells: Vec<_> = targets.iter().map(|(_, target)| registers(&**target)).collect();
    assert!(cells.iter().all(|of| *of == cells[0]));
    assert_eq!(cells[0].len(), 5);
    let resubmitted = twin.resubmitted();
    assert!(reported > 20 && resubmitted > 500 && packets > 50_000, "{reported} reports, {resubmitted} resubmitted, {packets} packets");
}

/// The generator of v1model's `random` here: splitmix64, of whose second draw the low bits are what a range of 32 bits takes.
struct OfTarget(u64);

impl RngCore for OfTarget {
    fn next_u32(&mut self) -> u32 {
        self.next_u64();
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn fill_bytes(&mut self, to: &mut [u8]) {
        to.fill_with(|| self.next_u64() as u8);
    }
}

#[test]
fn decayed_bytes_are_those_of_the_twin() {
    let ir = compile("detect/decayed.p4", &[("CELLS", "32")]);
    let oracle: Arc<dyn Target> = Arc::new(Asic::oracle(ir.clone()).unwrap());
    let x86 = native(&ir, 1, &[]);
    // Low, so that many flows are reported.
    let threshold = PUBLISHED_THRESHOLD / 10;
    // Both generators start from 1.
    let mut twin = DecayedTwoWay::new(32 * 2 * decayed_two_way::CELL_BITS / 8, threshold, OfTarget(1));
    assert_eq!(twin.cells(), 32);
    let targets = [("interpreter", oracle), ("x86", x86)];
    for (_, target) in &targets {
        let thresholds = decayed_two_way::thresholds(threshold);
        fill(&**target, "thresholds", "set_threshold", thresholds.iter().enumerate().map(|(step, bytes)| (step as u128, (*bytes).into())));
    }
    let mut lanes = targets.each_ref().map(|(what, target)| (*what, target.lane(0)));
    let heavy = ir.program.reason("heavy").unwrap();

    let (mut reported, mut packets) = (0, 0);
    for (now_ns, sent) in bursts(&population(32, TRAIN), 2) {
        let now_us = now_ns / 1000;
        let reports: Vec<_> = sent.iter().map(|s| twin.packet_at(s.flow?, s.frame.len() as u32, now_us)).collect();
        reported += reports.iter().flatten().count();
        packets += sent.len();
        for (what, lane) in &mut lanes {
            check(what, &run(&mut **lane, &sent, now_ns), &sent, &reports, heavy);
        }
    }
    let cells: Vec<_> = targets.iter().map(|(_, target)| registers(&**target)).collect();
    assert_eq!(cells[0], cells[1]);
    assert_eq!(cells[0].len(), 4);
    let admissions = twin.admissions();
    assert!(reported > 50 && packets > 50_000, "{reported} reports, {packets} packets");
    assert!(admissions.taken > 500 && admissions.refused > 1000, "{admissions:?}");
}

/// Sessions of the test below, two PDRs each.
const SESSIONS: u32 = 30;

/// Stations, our address, routes, and the sessions.
fn user_plane() -> String {
    let mut script = "
add station port:1 mac:0x02000000000a route(vrf:1)
add station port:129 mac:0x02000000000b route(vrf:2)
add local_ipv4 vrf:1 address:0xc0a80001 gtpu_endpoint()
add route_ipv4 vrf:1 destination:0xc0a80100/24 set_nexthop(1)
add route_ipv4 vrf:2 destination:0x0/0 set_nexthop(2)
add nexthop nexthop:1 send(port:1, src_mac:0x02000000000a, dst_mac:0x020000000101, mtu:1500)
add nexthop nexthop:2 send(port:129, src_mac:0x02000000000b, dst_mac:0x020000000202, mtu:1500)
"
    .to_owned();
    for n in 0..SESSIONS {
        let (ue, teid, pdr) = (0x0a01_0000 + n, 0x100 + n, 20 + 2 * n);
        let down = pdr + 1;
        script +=
            &format!("add pdr_by_teid endpoint:0xc0a80001 teid:{teid} set_pdr({pdr}, 0, 3, 0, 0, 0, 0, {ue}, 0, 0, 0, 0, 0, 0, 0, 2)\n");
        script += &format!(
            "add pdr_by_ue_ipv4 vrf:2 ue:{ue} set_pdr({down}, 0, 1, 0, 0, 0, 0, 0, 0, 1, {teid}, 0xc0a80102, 0xc0a80001, 0, 0, 1)\n"
        );
    }
    script
}

/// An IPv4 packet of UDP with that many bytes behind it.
fn ipv4(src: u32, dst: u32, ports: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let udp = (payload.len() + 8) as u16;
    let mut ip = vec![0x45, 0];
    ip.extend((udp + 20).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    ip.extend(src.to_be_bytes());
    ip.extend(dst.to_be_bytes());
    let sum = wire::checksum::finish(wire::checksum::sum(&ip));
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    ip.extend(ports);
    ip.extend(udp.to_be_bytes());
    ip.extend([0, 0]);
    ip.extend(payload);
    ip
}

/// A frame of a session, with its port and the length of the user's packet.
fn session_frame(n: u32, uplink: bool, rng: &mut impl Rng) -> (PortId, Vec<u8>, u32) {
    let payload = vec![7; rng.random_range(0..1300)];
    let remote = 0x0808_0808;
    // One packet of twenty comes from a source that is not the UE's, or goes to nobody.
    let ue = 0x0a01_0000 + n + if rng.random_bool(0.05) { 1000 } else { 0 };
    let ethernet = |to: u8| vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 1, 1, 8, 0];
    if !uplink {
        let user = ipv4(remote, ue, [0, 53, 9, 9], &payload);
        let length = user.len() as u32;
        return (PortId(129), [ethernet(0x0b), user].concat(), length);
    }
    let user = ipv4(ue, remote, [9, 9, 0, 53], &payload);
    let mut gtpu = vec![0x30, 255];
    gtpu.extend((user.len() as u16).to_be_bytes());
    gtpu.extend((0x100 + n).to_be_bytes());
    gtpu.extend(&user);
    (PortId(1), [ethernet(0x0a), ipv4(0xc0a8_0102, 0xc0a8_0001, [8, 0x68, 8, 0x68], &gtpu)].concat(), user.len() as u32)
}

#[test]
fn recent_bytes_of_the_user_plane_are_those_of_the_twin() {
    let ir = compile("upf.p4", &[("SESSIONS", "64"), ("HEAVY", "1")]);
    let mut targets: Vec<(&str, Arc<dyn Target>)> =
        vec![("interpreter", Arc::new(Asic::oracle(ir.clone()).unwrap())), ("x86", native(&ir, 1, &["-O1"]))];
    if testkit::root_or_skip("recent_bytes_of_the_user_plane_are_those_of_the_twin: the kernel's part") {
        let text = p4_driver::xdp_text(&ir).unwrap_or_else(|e| panic!("{e}"));
        let options = target_xdp::Options { subset: false, entry: target_xdp::EntryPoints::Lanes, ..Default::default() };
        let xdp = target_xdp::Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
        targets.push(("xdp", Arc::new(xdp)));
    }
    let script = p4_interp::stf::parse(&user_plane(), &ir.program).unwrap_or_else(|e| panic!("{e}"));
    for (what, target) in &targets {
        for (line, command) in &script.commands {
            let p4_interp::stf::Command::Apply(batch) = command else { panic!("{command:?}") };
            target.apply(batch).unwrap_or_else(|e| panic!("{what}, line {line}: {e}"));
        }
    }
    let recent = ir.program.registers.iter().find(|(_, info)| info.name == "recent").expect("it has").0;
    let mut lanes: Vec<_> = targets.iter().map(|(what, target)| (*what, target.lane(0))).collect();

    let mut rng = testkit::rng(33);
    let (mut now_ns, mut twin) = (1_000_000_000u64, SessionRates::new(512));
    let (mut counted, mut heavy, mut light) = (0, 0, 0);
    for round in 0..400 {
        // Bursts, now and then a pause of some epochs, and once or twice one of hours, in which epochs come round.
        now_ns += match rng.random_range(0..100) {
            0 => rng.random_range(0..40_000_000_000_000),
            1..10 => rng.random_range(0..3_000_000_000),
            _ => rng.random_range(0..20_000_000),
        };
        // A few sessions take most.
        let frames: Vec<_> = (0..rng.random_range(1..=target_api::BURST))
            .map(|_| {
                let n = rng.random_range(0..SESSIONS).min(rng.random_range(0..SESSIONS)).min(rng.random_range(0..SESSIONS));
                session_frame(n, rng.random(), &mut rng)
            })
            .collect();
        let mut expected = None;
        for (what, lane) in &mut lanes {
            let mut packets: Vec<Packet> = frames.iter().map(|(port, bytes, _)| Packet::new(bytes, *port)).collect();
            let mut verdicts = vec![Verdict::default(); packets.len()];
            lane.process(&mut packets, &mut verdicts, now_ns);
            assert_eq!(expected.get_or_insert_with(|| verdicts.clone()), &verdicts, "{what} after the interpreter");
        }
        for (verdict, (_, _, length)) in expected.unwrap_or_default().iter().zip(&frames) {
            if verdict.kind == VerdictKind::Forward {
                twin.packet(verdict.mark as usize, *length, now_ns / 1000);
                counted += 1;
            }
        }
        if round % 40 == 39 {
            for (what, target) in &targets {
                let mut cells = vec![99];
                let registers = target.facets().registers.expect("all give them out");
                registers.read_registers(recent, 20..512, &mut cells).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(cells[0], 99, "what was there stays");
                assert_eq!(cells[1..], twin.cells()[20..], "{what}");
            }
            let fast = session_rate::samples(twin.cells(), 0, 10_000, now_ns / 1000).count();
            let all = session_rate::samples(twin.cells(), 0, 0, now_ns / 1000).count();
            heavy += fast;
            light += all - fast;
        }
    }
    assert!(counted > 8_000 && heavy > 20 && light > 50, "{counted} counted, {heavy} heavy, {light} light");
    let error = targets[0].1.facets().registers.unwrap().read_registers(recent, 0..513, &mut Vec::new());
    assert_eq!(error, Err(target_api::RegisterError::OutOfRange { size: 512 }));
}
