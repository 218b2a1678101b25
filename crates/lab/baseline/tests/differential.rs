//! Does the hand-written data plane do what the program does? The interpreter says, packet by packet, over frames that are right,
//! wrong in one place, or cut.

use base::{Packet, PortId, Verdict, VerdictKind};
use baseline::{Limit, LimitError, OUT_OF_SCOPE};
use p4_check::Options;
use pfcp::rules::{ApplyAction, FTeid, Far, Forwarding, Interface, OuterHeader, Pdi, Pdr, Qer, SessionRules, UeIp, Urr};
use program::{Batch, Op, Program};
use rand::Rng;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use target_api::{BURST, Target};
use target_asic::Asic;
use upf::config::{NetworkConfig, PortConfig, Role, Route, StaticNeighbour, Via};
use upf::ids::Ids;
use upf::lower::{self, Context, MeterKey, Numbers, UsageKey};

const N3: PortId = PortId(0);
const N6: PortId = PortId(128);
const N3_MAC: [u8; 6] = [2, 0, 0, 0, 3, 1];
const N6_MAC: [u8; 6] = [2, 0, 0, 0, 6, 1];
const UPF_N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
/// A gNodeB with an unknown MAC address.
const SILENT_GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 3);
/// One that no route leads to.
const LOST_GNB: Ipv4Addr = Ipv4Addr::new(172, 16, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
const UPF_N6: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 1);
const SESSIONS: u32 = 300;
const BURSTS: usize = 1_500;
/// So little that packets of all three colours come.
const TWO_RATES: program::MeterConfig = program::MeterConfig { cir: 500, cbs: 150, pir: 1_500, pbs: 700 };

/// What a session is like, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    NoUsage,
    WithoutContainer,
    Slow,
    Dropping,
    Buffering,
    Closed,
    Exhausted,
    Silent,
    Lost,
}

fn kind(n: u32) -> Kind {
    use Kind::*;
    [Plain, Slow, WithoutContainer, Plain, Dropping, Buffering, Closed, Exhausted, Silent, Lost, NoUsage, Plain][n as usize % 12]
}

#[test]
fn it_does_what_the_interpreter_does() {
    run(Limit::new);
}

#[test]
fn on_rte_hash_too() {
    let program = Arc::new(compile().program.clone());
    match Limit::on_rte_hash(program, 16) {
        Err(LimitError::Absent(why)) => return testkit::skip(&why.to_string()),
        other => assert!(other.expect("a baseline").page_bytes().is_some_and(|bytes| bytes >= 4096 && bytes.is_power_of_two())),
    }
    run(Limit::on_rte_hash);
}

#[test]
fn what_is_out_of_scope_is_refused() {
    let ir = compile();
    let ids = Ids::bind(&ir.program).unwrap();
    let program = Arc::new(ir.program.clone());
    let mut limit = Limit::new(program.clone(), 16).unwrap();
    let entry = program::Entry {
        table: ids.tables.pdr_by_teid,
        keys: vec![program::KeyMatch::Exact(1), program::KeyMatch::Exact(2)],
        priority: 0,
        action: ids.actions.classify,
        args: vec![1, 1],
    };
    let refused = limit.install(&Batch { ops: vec![Op::Insert(entry.clone())] });
    assert!(matches!(refused, Err(LimitError::Scope(why)) if why.contains("classify")));
    assert!(matches!(limit.install(&Batch { ops: vec![Op::Delete(entry)] }), Err(LimitError::Scope(_))));
    // More sessions than there is room for are refused, and none is lost on the way.
    let sessions: Vec<Batch> = (0..17).map(|n| session(n, &context(), &ids)).collect();
    assert!(sessions[..16].iter().all(|batch| limit.install(batch).is_ok()));
    assert!(limit.install(&sessions[16]).is_err());
    assert!(matches!(limit.install(&sessions[0]), Err(LimitError::Full(why)) if why.contains("has that entry")));
}

fn run(new: fn(Arc<Program>, u64) -> Result<Limit, LimitError>) {
    let ir = compile();
    let ids = Ids::bind(&ir.program).unwrap();
    let config = network();
    let context = context();
    let oracle = Asic::oracle(ir.clone()).unwrap();
    let mut limit = new(Arc::new(ir.program.clone()), SESSIONS.into()).unwrap();
    let mut install = |batch: &Batch| {
        oracle.apply(batch).unwrap();
        limit.install(batch).unwrap();
    };
    install(&upf::static_rules::initial(&config, &ids));
    (0..SESSIONS).for_each(|n| install(&session(n, &context, &ids)));

    let mut rng = testkit::rng(7);
    let (mut lane, mut oracle_lane) = (limit.lane(), oracle.lane(0));
    let mut seen: BTreeMap<(VerdictKind, u8), u32> = BTreeMap::new();
    let (mut out_of_scope, mut now_ns) = (0, 1_000_000_000);
    for _ in 0..BURSTS {
        let count = rng.random_range(1..=BURST);
        let packets: Vec<Packet> = (0..count).map(|_| packet(&mut rng)).collect();
        let (mut ours, theirs) = (packets.clone(), packets.clone());
        let mut our_verdicts = vec![Verdict::default(); count];
        now_ns += rng.random_range(0..1_000_000);
        lane.process(&mut ours, &mut our_verdicts, now_ns);
        // Packets that the baseline does not take are kept from the interpreter, whose meters and counters they would change.
        let (mut kept, mut kept_verdicts) = (Vec::new(), Vec::new());
        for (packet, verdict) in theirs.into_iter().zip(&our_verdicts) {
            if (verdict.kind, verdict.reason) != (VerdictKind::Drop, OUT_OF_SCOPE) {
                kept.push(packet);
                kept_verdicts.push(Verdict::default());
            }
        }
        oracle_lane.process(&mut kept, &mut kept_verdicts, now_ns);
        let (mut kept, mut kept_verdicts) = (kept.into_iter(), kept_verdicts.into_iter());
        for i in 0..count {
            if (our_verdicts[i].kind, our_verdicts[i].reason) == (VerdictKind::Drop, OUT_OF_SCOPE) {
                out_of_scope += 1;
                continue;
            }
            let (their, their_verdict) = (kept.next().unwrap(), kept_verdicts.next().unwrap());
            assert_eq!(our_verdicts[i], their_verdict, "in: {:?}", packets[i]);
            if their_verdict.kind != VerdictKind::Drop {
                assert_eq!(ours[i].data(), their.data(), "in: {:?}", packets[i]);
            }
            *seen.entry((their_verdict.kind, their_verdict.reason)).or_default() += 1;
        }
    }
    for cell in 1..=2 * SESSIONS {
        assert_eq!(limit.usage(cell), oracle.counter(ids.usage, cell.into()), "usage cell {cell}");
    }
    assert_hits(&seen, out_of_scope, &ir.program);
}

/// Every way that a packet can go has been gone.
fn assert_hits(seen: &BTreeMap<(VerdictKind, u8), u32>, out_of_scope: u32, program: &Program) {
    let total: u32 = seen.values().sum();
    let times = |kind, reason: &str| {
        let code = if reason.is_empty() { 0 } else { program.reason(reason).unwrap() };
        seen.get(&(kind, code)).copied().unwrap_or_default()
    };
    assert!(times(VerdictKind::Forward, "") > total / 8, "{seen:?}");
    assert!(times(VerdictKind::Buffer, "") > 100, "{seen:?}");
    for reason in ["arp", "host", "gtpu_signalling", "unknown_teid", "neighbour_unknown", "ttl_expired", "too_big"] {
        assert!(times(VerdictKind::Punt, reason) > 20, "{reason}: {seen:?}");
    }
    let drops = [
        "malformed",
        "ipv4_checksum",
        "length_mismatch",
        "not_our_mac",
        "unsupported_protocol",
        "fragmented_tunnel",
        "gtpu_version",
        "gtpu_not_local",
        "no_session",
        "far_drop",
        "gate_closed",
        "quota_exhausted",
        "source_spoofed",
        "rate_exceeded",
        "no_route",
        "martian",
        "link_broadcast",
    ];
    for reason in drops {
        assert!(times(VerdictKind::Drop, reason) > 20, "{reason}: {seen:?}");
    }
    assert!(out_of_scope > 100 && out_of_scope < total / 4, "{out_of_scope} of {total} were not taken");
}

fn compile() -> Arc<p4_ir::Ir> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
    let defines = [("SESSIONS".to_owned(), "1024".to_owned())].into_iter().collect();
    let compiled = p4_check::compile_file(&path, &Options { defines, ..Options::default() });
    let mut ir = compiled.unwrap_or_else(|failure| panic!("{failure}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    Arc::new(ir)
}

fn network() -> NetworkConfig {
    let port = |id, name: &str, mac, address: [u8; 4], instance: &str, role, gtpu: Vec<Ipv4Addr>, mtu| PortConfig {
        id,
        name: name.into(),
        mac,
        mtu,
        addresses: vec![(IpAddr::from(address), 24)],
        network_instance: instance.into(),
        role,
        gtpu_endpoints: gtpu,
        proxy_prefixes: Vec::new(),
        ..PortConfig::default()
    };
    let route = |prefix: [u8; 4], len, via: Ipv4Addr| Route {
        network_instance: "internet".into(),
        prefix: (IpAddr::from(prefix), len),
        via: Via::Gateway(IpAddr::V4(via)),
    };
    NetworkConfig {
        ports: vec![
            port(N3, "n3", N3_MAC, [10, 3, 0, 1], "access", Role::Access, vec![UPF_N3], 700),
            port(N6, "n6", N6_MAC, [10, 6, 0, 1], "internet", Role::Core, Vec::new(), 640),
        ],
        // Longer than 24 bits, inside one another, and not a default route: some addresses have none.
        routes: vec![
            route([192, 0, 0, 0], 3, SERVER),
            route([198, 51, 0, 0], 16, Ipv4Addr::new(10, 6, 0, 3)),
            route([198, 51, 100, 128], 25, SERVER),
            route([198, 51, 100, 130], 32, Ipv4Addr::new(10, 6, 0, 4)),
        ],
        neighbours: vec![
            StaticNeighbour { port: N3, ip: IpAddr::V4(GNB), mac: [2, 0, 0, 0, 3, 2] },
            StaticNeighbour { port: N6, ip: IpAddr::V4(SERVER), mac: [2, 0, 0, 0, 6, 2] },
            StaticNeighbour { port: N6, ip: IpAddr::from([10, 6, 0, 4]), mac: [2, 0, 0, 0, 6, 4] },
        ],
        ..NetworkConfig::default()
    }
}

/// Rules are lowered as if a route led to [`LOST_GNB`]: a FAR towards a peer without one is refused. The tables have none, as after a
/// route is gone.
fn context() -> Context {
    let mut config = network();
    let prefix = (IpAddr::V4(LOST_GNB), 32);
    config.routes.push(Route { network_instance: "access".into(), prefix, via: Via::Gateway(IpAddr::V4(GNB)) });
    Context::new(&config)
}

fn ue(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x0a80_0000 + n)
}

fn rules(n: u32) -> SessionRules {
    let kind = kind(n);
    let mut rules = SessionRules::default();
    let ue_ip = |destination| Some(UeIp { ipv4: Some(ue(n)), ipv6: None, destination });
    let pdr = |source_interface, f_teid, ue_ip, far_id| Pdr {
        precedence: 255,
        pdi: Pdi { source_interface, f_teid, network_instance: None, ue_ip, sdf_filters: Vec::new(), qfis: Vec::new() },
        outer_header_removal: (source_interface == Interface::Access).into(),
        far_id: Some(far_id),
        urr_ids: if kind == Kind::NoUsage { vec![] } else { vec![1] },
        qer_ids: if kind == Kind::NoUsage { vec![] } else { vec![1] },
    };
    rules.pdrs.insert(1, pdr(Interface::Access, Some(FTeid { teid: n + 1, ipv4: UPF_N3 }), ue_ip(false), 1));
    rules.pdrs.insert(2, pdr(Interface::Core, None, ue_ip(true), 2));
    let action = match kind {
        Kind::Dropping => ApplyAction { drop: true, ..ApplyAction::default() },
        Kind::Buffering => ApplyAction { buffer: true, ..ApplyAction::default() },
        _ => ApplyAction { forward: true, ..ApplyAction::default() },
    };
    // Uplink rules that do not forward are told apart by IP version, with filters: out of scope.
    let forward = ApplyAction { forward: true, ..ApplyAction::default() };
    let far = |destination, outer_header: Option<OuterHeader>| Far {
        action: if outer_header.is_some() { action } else { forward },
        forwarding: Some(Forwarding { destination, network_instance: None, outer_header, tos: Some((n as u8, 0xfc)) }),
        bar_id: None,
    };
    let gnb = match kind {
        Kind::Silent => SILENT_GNB,
        Kind::Lost => LOST_GNB,
        _ => GNB,
    };
    rules.fars.insert(1, far(Interface::Core, None));
    rules.fars.insert(2, far(Interface::Access, Some(OuterHeader { teid: n * 7 + 1, ipv4: gnb })));
    let kbps = 10_000_000;
    let qfi = (kind != Kind::WithoutContainer).then_some(n as u8 % 64);
    let open = kind != Kind::Closed;
    rules.qers.insert(1, Qer { uplink_open: open, downlink_open: open, mbr_kbps: Some((kbps, kbps)), qfi, ..Qer::default() });
    rules.urrs.insert(1, Urr { measure_volume: true, exhausted: kind == Kind::Exhausted, ..Urr::default() });
    rules
}

fn session(n: u32, context: &Context, ids: &Ids) -> Batch {
    let outline = lower::outline(&rules(n), context).unwrap();
    let number = |i: usize| 2 * n + 1 + i as u32;
    let numbers = Numbers {
        pdrs: vec![(1, number(0)), (2, number(1))],
        usage: outline.usage.iter().cloned().enumerate().map(|(i, key): (usize, UsageKey)| (key, number(i))).collect(),
        meters: outline.meters.keys().copied().enumerate().map(|(i, key): (usize, MeterKey)| (key, number(i))).collect(),
        ..Numbers::default()
    };
    let meters = numbers.meters.iter().map(|(key, cell)| Op::Meter {
        meter: ids.mbr,
        index: u64::from(*cell),
        config: Some(if kind(n) == Kind::Slow { TWO_RATES } else { lower::meter_config(outline.meters[key], Default::default()) }),
    });
    let entries = outline.entries(&numbers).into_iter().map(|e| Op::Insert(e.entry(ids)));
    Batch { ops: meters.chain(entries).collect() }
}

/// A frame that a session may forward, with up to two things changed.
fn packet(rng: &mut impl Rng) -> Packet {
    let n = rng.random_range(0..SESSIONS + 10);
    let uplink = rng.random_bool(0.5);
    let payload = if rng.random_bool(0.1) { rng.random_range(0..700) } else { rng.random_range(8..64) };
    let remote = match rng.random_range(0..8) {
        0 => Ipv4Addr::new(198, 51, 100, rng.random_range(126..133)),
        1 => Ipv4Addr::new(8, 8, 8, 8),
        2 => Ipv4Addr::new(198, 51, rng.random(), 1),
        _ => Ipv4Addr::new(192, 0, 2, rng.random()),
    };
    let protocol = [17, 17, 6, 132, 1][rng.random_range(0..5)];
    let ttl = if rng.random_bool(0.05) { rng.random_range(0..3) } else { 64 };
    let fragment = if rng.random_bool(0.05) { rng.random_range(0..0x4000u16) } else { 0x4000 };
    let mut user = vec![0; payload];
    rng.fill(&mut user[..]);
    if payload >= 4 && rng.random_bool(0.05) {
        user[2..4].copy_from_slice(&2152u16.to_be_bytes());
    }
    let (src, dst) = if uplink { (ue(n), remote) } else { (remote, ue(n)) };
    let src = if uplink && rng.random_bool(0.05) { SERVER } else { src };
    let dst = if !uplink && rng.random_bool(0.05) { UPF_N6 } else { dst };
    let martian = Ipv4Addr::from([0x7f00_0001, 0xe000_0001, 0, 0xffff_ffff][rng.random_range(0..4)]);
    let src = if rng.random_bool(0.02) { martian } else { src };
    let dst = if uplink && rng.random_bool(0.02) { martian } else { dst };
    let mut frame = ipv4(src, dst, protocol, ttl, fragment, rng.random(), &user);
    if uplink {
        frame = tunnel(frame, n + 1, rng);
    }
    let mac = if uplink { N3_MAC } else { N6_MAC };
    let mac = if rng.random_bool(0.02) { [0xff; 6] } else { mac };
    frame = [&mac[..], &[2, 0, 0, 0, 9, 9, 8, 0], &frame].concat();
    let mut port = if uplink { N3 } else { N6 };
    if rng.random_bool(0.02) {
        port = if uplink { N6 } else { N3 };
    }
    // Ethernet padding, or less than there should be.
    match rng.random_range(0..20) {
        0 => frame.resize(frame.len() + rng.random_range(1..30), 0xee),
        1 => frame.truncate(rng.random_range(0..=frame.len())),
        2 | 3 => {
            let at = rng.random_range(0..frame.len().min(80));
            frame[at] ^= 1 << rng.random_range(0..8);
        }
        4 => {
            let at = rng.random_range(0..frame.len().min(80));
            frame[at] = rng.random();
        }
        5 if frame.len() > 14 => frame[12..14].copy_from_slice(&[[8, 6], [0x88, 0xcc]][rng.random_range(0..2)]),
        _ => {}
    }
    Packet::new(&frame, port)
}

/// Into a tunnel as a gNodeB does, or nearly.
fn tunnel(user: Vec<u8>, teid: u32, rng: &mut impl Rng) -> Vec<u8> {
    let container = rng.random_range(0..10);
    let (flags, options): (u8, Vec<u8>) = match container {
        0 => (0x30, vec![]),
        1 => (0x32, vec![0, 1, 0, 0x85]),
        2 => (0x34, vec![0, 0, 0, 0]),
        3 => (0x34, vec![0, 0, 0, 0xc0, 1, 0, 0, 0]),
        4 => (0x34, vec![0, 0, 0, 0x85, 2, 0x10, 9, 0, 0, 0, 0, 0]),
        _ => (0x34, vec![0, 0, 0, 0x85, 1, 0x10, 9, 0]),
    };
    let flags = if rng.random_bool(0.03) { rng.random() } else { flags };
    let message = if rng.random_bool(0.03) { [1, 26, 254][rng.random_range(0..3)] } else { 255 };
    let length = (options.len() + user.len()) as u16;
    let length = if rng.random_bool(0.02) { length.wrapping_sub(1) } else { length };
    let endpoint = if rng.random_bool(0.04) { Ipv4Addr::new(10, 3, 0, 77) } else { UPF_N3 };
    let mut udp = [2152u16.to_be_bytes(), 2152u16.to_be_bytes(), (length + 16).to_be_bytes(), [0, 0]].concat();
    udp.extend([flags, message]);
    udp.extend(length.to_be_bytes());
    udp.extend(teid.to_be_bytes());
    udp.extend(options);
    udp.extend(user);
    let fragment = if rng.random_bool(0.05) { [0x2000, 100][rng.random_range(0..2)] } else { 0 };
    ipv4(GNB, endpoint, 17, 64, fragment, 0, &udp)
}

fn ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, ttl: u8, fragment: u16, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend(((20 + payload.len()) as u16).to_be_bytes());
    header.extend(id.to_be_bytes());
    header.extend(fragment.to_be_bytes());
    header.extend([ttl, protocol, 0, 0]);
    header.extend(src.octets());
    header.extend(dst.octets());
    let sum = header.chunks_exact(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum::<u32>();
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = !((sum >> 16) + sum) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.extend(payload);
    header
}
