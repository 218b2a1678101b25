//! Attacks that are more than frames: hostile N4, exhaustion, links, disks, signals, local users. Each gives what the attacker achieved.

use super::frames::{self, DENIED_PORT, PADDING, PERMITTED_PORT, SERVER_V6};
use super::ground::{
    self, Ground, HONEST_SMF, HTTP, MAX_SESSIONS, N4, N4_FAR, N4_PORT, PATIENCE, RATE_KBPS, SECOND_SMF, STRANGER, TOKEN, came,
};
use super::users::{SERVER, datagram};
use crate::demo::netns::signal;
use base::{Packet, PortId};
use cli::failure::Failure;
use pfcp::codec::{Cause, FSeid, GateStatus, Ie, Message, MessageType, NodeId};
use pktio::{AfPacket, Port};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use traffic::plan::{Address, Filter, FlowPlan, Qos, SessionPlan, Shape};
use traffic::smf::{Event, Session, Smf};
use traffic::{Tunnel, plan::rules};

/// What the attacker achieved; empty, if it is as it should be.
pub(super) type Achieved = Result<Vec<String>, Failure>;
/// An attack by code.
pub(super) type Act = fn(&mut Ground, &Scale) -> Achieved;

/// How much of an attack is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Of things that are done one after the other.
    pub count: u32,
    /// Of what goes on for a time.
    pub time: Duration,
    /// Honest traffic before and after.
    pub calm: Duration,
    /// Frames or datagrams a second, where they are paced.
    pub rate: u32,
}

/// Requests for one association.
const ASSOCIATIONS: u32 = 500;
const ANSWER: Duration = Duration::from_millis(500);
/// UDP's longest payload over IPv4.
const LONGEST: usize = 65_507;

fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |e| Failure::Failed(format!("{what}: {e}"))
}

fn n4_socket(ground: &Ground, address: Ipv4Addr) -> Result<UdpSocket, Failure> {
    let socket = ground.net.upf.inside(|| {
        let socket = UdpSocket::bind(SocketAddrV4::new(address, N4_PORT))?;
        socket.connect(SocketAddrV4::new(N4, N4_PORT))?;
        socket.set_read_timeout(Some(ANSWER))?;
        Ok(socket)
    })?;
    socket.map_err(failed("a stranger's N4 socket"))
}

/// Asks, and waits a while for the answer of that number.
fn ask(socket: &UdpSocket, message: &Message) -> Result<Option<Message>, Failure> {
    let octets = message.encode().map_err(|e| Failure::Failed(e.to_string()))?;
    let _ = socket.send(&octets);
    let (mut buffer, end) = (vec![0; 65_536], Instant::now() + ANSWER);
    while Instant::now() < end {
        let Ok(length) = socket.recv(&mut buffer) else { break };
        if let Ok(answer) = pfcp::codec::decode(&buffer[..length])
            && answer.sequence == message.sequence
            && !answer.kind.is_request()
        {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn accepted(answer: &Option<Message>) -> bool {
    answer.as_ref().is_some_and(|answer| answer.cause() == Some(Cause::REQUEST_ACCEPTED))
}

fn association(node: Ipv4Addr, sequence: u32) -> Message {
    let ies = vec![Ie::NodeId(NodeId::Ipv4(node)), Ie::RecoveryTimeStamp(0xf000_0000), Ie::CpFunctionFeatures(vec![0])];
    Message::node(MessageType::AssociationSetupRequest, sequence, ies)
}

/// The stranger gets an association. Those of a flood before it are in its way until they are given up for lost. Each attack counts its
/// requests from another number on: a request with a number that was answered already gets the old answer.
fn associate(socket: &UdpSocket, first: u32) -> Achieved {
    let end = Instant::now() + PATIENCE;
    for sequence in first..first + ASSOCIATIONS {
        let answer = ask(socket, &association(STRANGER, sequence))?;
        if accepted(&answer) {
            return Ok(Vec::new());
        }
        if Instant::now() > end {
            let cause = answer.as_ref().and_then(Message::cause);
            return Ok(vec![format!("has no association ({cause:?}): the attack shows nothing")]);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(vec!["has no association: the attack shows nothing".into()])
}

/// Which honest sessions the daemon does not know any more.
fn sessions_lost(ground: &mut Ground) -> Achieved {
    let daemon = ground.daemon()?;
    let lost = daemon.honest.iter().filter(|session| daemon.smf.query(session).is_err()).count();
    Ok(if lost == 0 { Vec::new() } else { vec![format!("{lost} of {} honest sessions are gone", daemon.honest.len())] })
}

/// A stranger sets up an association in the honest SMF's name, as if that had restarted.
pub(super) fn association_in_anothers_name(ground: &mut Ground, _: &Scale) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    ask(&socket, &association(HONEST_SMF, 1))?;
    sessions_lost(ground)
}

/// A stranger releases the honest SMF's association.
pub(super) fn release_in_anothers_name(ground: &mut Ground, _: &Scale) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    ask(&socket, &Message::node(MessageType::AssociationReleaseRequest, 1, vec![Ie::NodeId(NodeId::Ipv4(HONEST_SMF))]))?;
    sessions_lost(ground)
}

/// A stranger with an association of its own, if it gets one, changes and ends sessions of the honest SMF, whose SEIDs it knows.
pub(super) fn foreign_sessions(ground: &mut Ground, _: &Scale) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    let mut done = associate(&socket, 60_000)?;
    let seids: Vec<u64> = ground.daemon()?.honest.iter().map(|session| session.up_seid).collect();
    for (n, seid) in seids.into_iter().enumerate() {
        let gates = GateStatus { uplink_open: false, downlink_open: false };
        let close = vec![Ie::UpdateQer(vec![Ie::QerId(rules::QER_DEFAULT), Ie::GateStatus(gates)])];
        let sequence = 60_500 + 2 * n as u32;
        for (what, message) in [
            ("modified", Message::session(MessageType::SessionModificationRequest, seid, sequence, close)),
            ("deleted", Message::session(MessageType::SessionDeletionRequest, seid, sequence + 1, vec![])),
        ] {
            if accepted(&ask(&socket, &message)?) {
                done.push(format!("{what} an honest session"));
            }
        }
    }
    ask(&socket, &Message::node(MessageType::AssociationReleaseRequest, 61_000, vec![Ie::NodeId(NodeId::Ipv4(STRANGER))]))?;
    done.sort();
    done.dedup();
    done.extend(sessions_lost(ground)?);
    Ok(done)
}

/// SEIDs near known ones, in the ways in which counters are hidden: none may be another session's.
pub(super) fn guessed_seids(ground: &mut Ground, _: &Scale) -> Achieved {
    let daemon = ground.daemon()?;
    let own = daemon.hostile.up_seid;
    let others: Vec<u64> = daemon.honest.iter().chain([&daemon.rated]).map(|session| session.up_seid).collect();
    let near = |of: fn(u64) -> u64, to: fn(u64) -> u64| {
        let at = of(own);
        let hits = others.iter().filter(|seid| (-64..=64).any(|step| to(at.wrapping_add_signed(step)) == **seid)).count();
        (hits > 0).then(|| format!("{hits} of {} SEIDs follow from one", others.len()))
    };
    let plain = near(|seid| seid, |seid| seid);
    let mixed = near(unmix, mix);
    // Half of the bits are set, and all of them vary, in 64 random bits; a few sessions leave room for chance.
    let high = others.iter().chain([&own]).filter(|seid| **seid >> 32 == 0).count();
    let small = (high > 1).then(|| format!("{high} SEIDs of at most 32 bits"));
    Ok([plain, mixed, small].into_iter().flatten().collect())
}

/// A bijection that a counter may be hidden by, and back.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 30).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn unmix(mut x: u64) -> u64 {
    x = (x ^ x >> 31 ^ x >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
    x = (x ^ x >> 30 ^ x >> 60).wrapping_mul(0x96de_1b17_3f11_9089);
    x ^ x >> 30 ^ x >> 60
}

/// Strangers take associations until there are no more: a second honest SMF gets one all the same, and the first keeps its own.
pub(super) fn all_associations(ground: &mut Ground, scale: &Scale) -> Achieved {
    let addresses = (0..scale.count).map(|n| Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 8, 2, 1)) + n));
    let mut taken = Vec::new();
    for (n, address) in addresses.enumerate() {
        let socket = n4_socket(ground, address)?;
        // Answers are of no interest but the last one's: nobody waits 300 times.
        let octets = association(address, n as u32 + 1).encode().map_err(|e| Failure::Failed(e.to_string()))?;
        let _ = socket.send(&octets);
        taken.push((address, socket));
    }
    let mut done = Vec::new();
    let second = ground.smf(SECOND_SMF)?;
    match second.associate() {
        Ok(_) => drop(second.release()),
        Err(why) => done.push(format!("a second SMF gets no association: {why}")),
    }
    for (n, (address, socket)) in taken.iter().enumerate() {
        let release = Message::node(MessageType::AssociationReleaseRequest, 10_000 + n as u32, vec![Ie::NodeId(NodeId::Ipv4(*address))]);
        let _ = release.encode().map(|octets| socket.send(&octets));
    }
    done.extend(sessions_lost(ground)?);
    Ok(done)
}

/// A stranger fills the room for sessions: the honest SMF can establish one more.
pub(super) fn all_sessions(ground: &mut Ground, scale: &Scale) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    let mut done = associate(&socket, 500_000)?;
    let mut buffer = vec![0; 65_536];
    for n in 0..scale.count.max(MAX_SESSIONS + 100) {
        let plan = SessionPlan {
            ue_ipv4: Address::Given(Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 99, 0, 1)) + n)),
            ..SessionPlan::new(Shape::Simple, Tunnel { addr: super::users::GNB, teid: 0x6600_0000 + n })
        };
        let _ = socket.send(&encoded(&establishment(&plan, 500_500 + n, n + 2, STRANGER))?);
        // As fast as it answers; it need not.
        if n % 16 == 15 {
            socket.set_read_timeout(Some(Duration::from_millis(20))).map_err(failed("a stranger's N4 socket"))?;
            while socket.recv(&mut buffer).is_ok_and(|_| !n.is_multiple_of(64)) {}
        }
    }
    let smf = ground.daemon()?.smf.clone();
    match ground.session(&smf, |_| ()) {
        Ok(session) => drop(smf.delete(&session)),
        Err(why) => done.push(format!("no room for an honest session: {why}")),
    }
    ask(&socket, &Message::node(MessageType::AssociationReleaseRequest, 900_000, vec![Ie::NodeId(NodeId::Ipv4(STRANGER))]))?;
    done.extend(sessions_lost(ground)?);
    Ok(done)
}

/// By the stranger, for whom reports go to an address.
fn establishment(plan: &SessionPlan, sequence: u32, seid: u32, reports_to: Ipv4Addr) -> Message {
    let f_seid = FSeid { seid: u64::from(seid), ipv4: Some(reports_to), ipv6: None };
    let mut ies = vec![Ie::NodeId(NodeId::Ipv4(STRANGER)), Ie::FSeid(f_seid)];
    ies.extend(rules::establish(plan, rules::Bearings { n4u: None, count_packets: false }));
    Message::session(MessageType::SessionEstablishmentRequest, 0, sequence, ies)
}

fn encoded(message: &Message) -> Result<Vec<u8>, Failure> {
    message.encode().map_err(|e| Failure::Failed(e.to_string()))
}

/// A stranger has the reports of its sessions sent to the honest SMF, under SEIDs that mean sessions there.
pub(super) fn foreign_f_seids(ground: &mut Ground, _: &Scale) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    let mut done = associate(&socket, 70_000)?;
    let server = ground.net.dn.inside(|| UdpSocket::bind((SERVER, 0)))?.map_err(failed("the server's socket"))?;
    let _ = ground.daemon()?.events.try_iter().count();
    // Small numbers, as the SMF of the honest sessions counts.
    for seid in 2..6 {
        let plan = ground.plan()?;
        if accepted(&ask(&socket, &establishment(&plan, 70_500 + seid, seid, HONEST_SMF))?) {
            done.push("established a session with another SMF's F-SEID".to_owned());
        }
        if let Address::Given(ue) = plan.ue_ipv4 {
            let _ = server.send_to(&[3; 40], (ue, 9));
        }
    }
    let plan = ground.plan()?;
    let answer = ask(&socket, &establishment(&plan, 70_506, 6, STRANGER))?;
    match answer.as_ref().and_then(|answer| pfcp::codec::find!(answer.ies, FSeid)) {
        None => {
            let cause = answer.as_ref().and_then(Message::cause);
            done.push(format!("has no session of its own ({cause:?}): the attack shows nothing"));
        }
        Some(own) => {
            let foreign = Ie::FSeid(FSeid { seid: 1, ipv4: Some(HONEST_SMF), ipv6: None });
            let modification = Message::session(MessageType::SessionModificationRequest, own.seid, 70_507, vec![foreign]);
            if accepted(&ask(&socket, &modification)?) {
                done.push("gave a session another SMF's F-SEID".into());
            }
        }
    }
    settle();
    let told = ground.daemon()?.events.try_iter().count();
    if told > 0 {
        done.push(format!("{told} reports to the honest SMF"));
    }
    ask(&socket, &Message::node(MessageType::AssociationReleaseRequest, 70_508, vec![Ie::NodeId(NodeId::Ipv4(STRANGER))]))?;
    done.dedup();
    done.extend(sessions_lost(ground)?);
    Ok(done)
}

/// The SMF of that number whose host is gone from the link.
fn vanishing(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 8, 1, 1)) + n)
}

/// Sessions of each, with a report a second.
const REPORTING: u32 = 40;
/// Heartbeats a second from addresses that nobody has.
const FORGED_PER_S: u32 = 240;
/// From this address on.
const FORGED: Ipv4Addr = Ipv4Addr::new(10, 8, 1, 100);

/// SMFs whose hosts are gone from the link, so that no ARP is answered: what is sent to them waits in the kernel. Beside that, heartbeats from
/// addresses that nobody has. An SMF that is there must not wait for any of it.
pub(super) fn vanished_peers(ground: &mut Ground, scale: &Scale) -> Achieved {
    let done = vanish(ground, scale)?;
    // They come back, restarted, and go.
    for n in 0..scale.count {
        ground.net.upf.ip(&["address", "add", &format!("{}/32", vanishing(n)), "dev", "n4"])?;
        let smf = ground.smf(vanishing(n))?;
        let _ = smf.associate().map(|_| smf.release());
        drop(smf);
        ground.net.upf.ip(&["address", "delete", &format!("{}/32", vanishing(n)), "dev", "n4"])?;
    }
    Ok(done)
}

/// The same, and the daemon is ended meanwhile.
pub(super) fn vanished_at_the_end(ground: &mut Ground, scale: &Scale) -> Achieved {
    vanish(ground, scale)
}

fn vanish(ground: &mut Ground, scale: &Scale) -> Achieved {
    let second = ground.smf(SECOND_SMF)?;
    second.associate().map_err(|e| Failure::Failed(format!("an SMF: {e}")))?;
    let alone = heartbeats(&second, Duration::from_secs(2));
    for n in 0..scale.count {
        ground.net.upf.ip(&["address", "add", &format!("{}/32", vanishing(n)), "dev", "n4"])?;
        let smf = ground.smf(vanishing(n))?;
        smf.associate().map_err(|e| Failure::Failed(format!("an SMF: {e}")))?;
        for _ in 0..REPORTING {
            let mut plan = ground.plan()?;
            plan.charging.period_s = Some(1);
            smf.establish(&plan).map_err(|e| Failure::Failed(format!("an SMF: {e}")))?;
        }
        drop(smf);
        ground.net.upf.ip(&["address", "delete", &format!("{}/32", vanishing(n)), "dev", "n4"])?;
    }
    // Reports go out a second after the sessions began, and ARP is given up three seconds later.
    let time = scale.time + Duration::from_secs(5);
    let upf = &ground.net.upf;
    let mac = upf.mac("n4")?;
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (beside, forged) = std::thread::scope(|scope| {
        let forger = scope.spawn(|| upf.inside(|| forge(mac, &stop)));
        let beside = heartbeats(&second, time);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        (beside, forger.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let forged = forged?.map_err(failed("N4's link"))?;
    let _ = second.release();
    println!(
        "{:<24} answers to an SMF's heartbeats: {}; beside {} SMFs that vanished and {forged} forged heartbeats: {}",
        "", alone.times, scale.count, beside.times
    );
    let mut done = sessions_lost(ground)?;
    let unanswered = alone.unanswered + beside.unanswered;
    if unanswered > 0 {
        done.push(format!("{unanswered} heartbeats of another SMF unanswered"));
    }
    Ok(done)
}

/// What became of an SMF's heartbeats.
struct Heartbeats {
    /// How long answers took, for people.
    times: String,
    unanswered: u32,
}

/// Sends heartbeats for so long, the next one 2 ms after the answer to the last.
fn heartbeats(smf: &Smf, time: Duration) -> Heartbeats {
    let (begin, mut waits, mut unanswered) = (Instant::now(), Vec::new(), 0);
    while begin.elapsed() < time {
        let asked = Instant::now();
        unanswered += u32::from(smf.heartbeat().is_err());
        waits.push(asked.elapsed());
        std::thread::sleep(Duration::from_millis(2));
    }
    waits.sort();
    let at = |share: usize| waits.get((waits.len() * share / 100).min(waits.len() - 1)).map_or(0.0, |wait| wait.as_secs_f64() * 1e3);
    let times = format!("p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms of {}", at(50), at(99), at(100), waits.len());
    Heartbeats { times, unanswered }
}

/// Heartbeats in the name of hosts that are not there, into N4's link from its far end; how many.
fn forge(to: [u8; 6], stop: &std::sync::atomic::AtomicBool) -> std::io::Result<u32> {
    let options = pktio::af_packet::Options { buffer_bytes: 1 << 20, ..Default::default() };
    let mut port = AfPacket::open(N4_FAR, N4_FAR, options).map_err(|e| std::io::Error::other(e.to_string()))?;
    let heartbeat = Message::node(MessageType::HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(1)]);
    let octets = heartbeat.encode().map_err(|e| std::io::Error::other(e.to_string()))?;
    let (begin, mut sent) = (Instant::now(), 0);
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        if f64::from(sent) > begin.elapsed().as_secs_f64() * f64::from(FORGED_PER_S) {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let from = Ipv4Addr::from(u32::from(FORGED) + sent % 150);
        let mut frame = [&to[..], &[2, 0, 0, 0, 8, 1, 8, 0]].concat();
        frame.extend(datagram((from, N4_PORT), (N4, N4_PORT), &octets));
        let fail = |e: pktio::PortError| std::io::Error::other(e.to_string());
        port.transmit(&[Packet::new(&frame, PortId(0))]).map_err(fail)?;
        port.flush().map_err(fail)?;
        sent += 1;
    }
    Ok(sent)
}

/// Connections that are held to the servers for operators: who has the token, and the operator, are answered all the same.
pub(super) fn starved_sockets(ground: &mut Ground, scale: &Scale) -> Achieved {
    let control = ground.control_socket();
    let mut held_there = Vec::new();
    let mut held = Vec::new();
    let mut done = Vec::new();
    let request = |token: &str| format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{token}\r\n");
    let asked = ground.net.upf.inside(|| {
        for n in 0..scale.count {
            let mut stream = std::net::TcpStream::connect(HTTP)?;
            // Nothing, half of a request, one without the token.
            let _ = stream.write_all([String::new(), "GET / HTTP/1.1\r\nX: ".into(), request("")][n as usize % 3].as_bytes());
            held.push(stream);
        }
        let mut stream = std::net::TcpStream::connect(HTTP)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request(&format!("Connection: close\r\nAuthorization: Bearer {TOKEN}\r\n")).as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer.starts_with("HTTP/1.1 200 "))
    })?;
    match asked {
        Ok(true) => {}
        Ok(false) => done.push("who has the token got another answer".to_owned()),
        Err(why) => done.push(format!("who has the token was not answered: {why}")),
    }
    for _ in 0..scale.count {
        held_there.extend(UnixStream::connect(&control));
    }
    let question = daemon::manage::control::Request::Report {};
    match daemon::manage::socket::ask::<daemon::manage::control::Reply>(&control, &question, daemon::manage::control::MAX_REQUEST) {
        Ok(daemon::manage::control::Reply::Report(_)) => {}
        Ok(_) => done.push("the operator got another answer".into()),
        Err(why) => done.push(format!("the operator was not answered: {why}")),
    }
    Ok(done)
}

/// One session with very many SDF filters in one PDR, by the honest SMF itself: it may be refused, it may not freeze.
pub(super) fn many_filters(ground: &mut Ground, scale: &Scale) -> Achieved {
    let smf = ground.smf(SECOND_SMF)?;
    // A refused association is as good: then there is nothing to freeze.
    if smf.associate().is_err() {
        return Ok(Vec::new());
    }
    let mut plan = ground.plan()?;
    let filter = |n: u32| {
        let (a, b) = (n % 200 + 1, 1000 + n);
        Filter {
            flow: Some(format!("permit out {} from 10.{a}.0.0/{} {b}-{} to assigned", [6, 17][n as usize % 2], 16 + n % 9, b + n)),
            dscp: None,
        }
    };
    plan.flows = vec![FlowPlan {
        filters: (0..scale.count.min(540)).map(filter).collect(),
        qos: Qos { qfi: Some(5), ..Qos::default() },
        precedence: 10,
    }];
    if let Ok(session) = smf.establish(&plan) {
        let _ = smf.delete(&session);
    }
    let _ = smf.release();
    Ok(Vec::new())
}

/// Datagrams to N4, made one by one, paced.
fn flood_n4(ground: &Ground, scale: &Scale, mut make: impl FnMut(&mut ChaCha8Rng, u64) -> Vec<u8>) -> Achieved {
    let socket = n4_socket(ground, STRANGER)?;
    let mut rng = ChaCha8Rng::seed_from_u64(29);
    let (begin, mut sent) = (Instant::now(), 0u64);
    while begin.elapsed() < scale.time {
        if sent as f64 > begin.elapsed().as_secs_f64() * f64::from(scale.rate) {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let _ = socket.send(&make(&mut rng, sent));
        sent += 1;
    }
    Ok(Vec::new())
}

pub(super) fn heartbeat_flood(ground: &mut Ground, scale: &Scale) -> Achieved {
    flood_n4(ground, scale, |_, n| {
        let message = Message::node(MessageType::HeartbeatRequest, n as u32 & 0xff_ffff, vec![Ie::RecoveryTimeStamp(1)]);
        message.encode().unwrap_or_default()
    })
}

/// Requests that stay unanswered by their sender: each is a transaction to remember.
pub(super) fn association_flood(ground: &mut Ground, scale: &Scale) -> Achieved {
    flood_n4(ground, scale, |rng, n| association(Ipv4Addr::from(rng.next_u32()), n as u32 & 0xff_ffff).encode().unwrap_or_default())
}

pub(super) fn random_n4(ground: &mut Ground, scale: &Scale) -> Achieved {
    flood_n4(ground, scale, |rng, n| {
        let mut bytes = vec![0; rng.random_range(0..1400)];
        rng.fill_bytes(&mut bytes);
        let length = (bytes.len() as u16).wrapping_sub(4);
        if let Some([flags, kind, high, low]) = bytes.first_chunk_mut()
            && n.is_multiple_of(2)
        {
            // A header that is right, so that elements are looked at.
            (*flags, *kind) = (0x21, [50, 52, 54, 56][n as usize / 2 % 4]);
            [*high, *low] = length.to_be_bytes();
        }
        bytes
    })
}

/// The longest messages: many small elements, groups within groups, elements that are wrong.
pub(super) fn longest_messages(ground: &mut Ground, scale: &Scale) -> Achieved {
    let scale = Scale { rate: scale.rate.min(200), ..*scale };
    flood_n4(ground, &scale, |rng, n| {
        let unit: Vec<u8> = match n % 4 {
            0 => vec![0, 1, 0, 0],
            1 => vec![0, 1, 0, 8, 0, 2, 0, 4, 0, 21, 0, 0],
            2 => vec![0, 3, 0, 4, 0, 108, 0, 0],
            _ => (0..8).map(|_| rng.random()).collect(),
        };
        let mut bytes = vec![0x21, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n as u8, 0];
        while bytes.len() + unit.len() <= LONGEST {
            bytes.extend(&unit);
        }
        let length = (bytes.len() - 4) as u16;
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        bytes
    })
}

/// Sessions of the honest SMF whose UEs do not answer, each with packets, as many as fit all buffers: an idle UE that does answer gets its own.
pub(super) fn unreachable_users(ground: &mut Ground, _: &Scale) -> Achieved {
    let smf = ground.daemon()?.smf.clone();
    let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("the honest SMF: {e}"));
    let mut silent = Vec::new();
    for _ in 0..70 {
        let session = ground.session(&smf, |_| ())?;
        smf.set_idle(&session).map_err(fail)?;
        silent.push(session);
    }
    let mut idle = ground.session(&smf, |_| ())?;
    smf.set_idle(&idle).map_err(fail)?;
    let server = ground.net.dn.inside(|| UdpSocket::bind((SERVER, 0)))?.map_err(failed("the server's socket"))?;
    for round in 0..20 {
        for session in &silent {
            let _ = server.send_to(&[round; 40], (session.ue_ipv4.unwrap_or(SERVER), 9));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = ground.daemon()?.events.try_iter().count();
    let done = paged(ground, &smf, &mut idle, &server)?;
    for session in silent.iter().chain([&idle]) {
        smf.delete(session).map_err(fail)?;
    }
    Ok(done)
}

/// Sends three packets to an idle user, waits for the report, pages it, and looks whether they came.
fn paged(ground: &mut Ground, smf: &Smf, idle: &mut Session, server: &UdpSocket) -> Achieved {
    let before = came(&ground.net.ran, "n3")?.1;
    const MARK: usize = 1111;
    for _ in 0..3 {
        server.send_to(&[7; MARK], (idle.ue_ipv4.unwrap_or(SERVER), 9)).map_err(failed("the server's socket"))?;
    }
    let (events, seid) = (&ground.daemon()?.events, idle.up_seid);
    let end = Instant::now() + Duration::from_secs(10);
    let reported = loop {
        match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Event::DownlinkData { seid: of, .. }) if of == seid => break true,
            Ok(_) => {}
            Err(_) => break false,
        }
    };
    let gnb = idle.plan.gnb;
    smf.set_active(idle, gnb).map_err(|e| Failure::Failed(format!("the honest SMF: {e}")))?;
    let end = Instant::now() + Duration::from_secs(5);
    let mut delivered = false;
    while !delivered && Instant::now() < end {
        // Honest traffic goes on beside: what is looked for is three long packets more than all of that could be.
        std::thread::sleep(Duration::from_millis(50));
        delivered = ground.daemon()?.smf.query(idle).is_ok_and(|usage| usage.downlink_bytes >= 3 * MARK as u64);
    }
    let came = ground::came(&ground.net.ran, "n3")?.1 - before >= 3 * MARK as u64;
    let mut done = Vec::new();
    if !reported {
        done.push("no report for an honest idle user".to_owned());
    }
    if !delivered || !came {
        done.push("an honest idle user's packets did not come".to_owned());
    }
    Ok(done)
}

/// An SMF that answers nothing any more, with many idle users that get packets: reports for the honest SMF's go out all the same.
pub(super) fn silent_peer(ground: &mut Ground, scale: &Scale) -> Achieved {
    let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("an SMF: {e}"));
    let honest = ground.daemon()?.smf.clone();
    let mut idle = ground.session(&honest, |_| ())?;
    honest.set_idle(&idle).map_err(fail)?;
    let server = ground.net.dn.inside(|| UdpSocket::bind((SERVER, 0)))?.map_err(failed("the server's socket"))?;
    let hostile = ground.smf(SECOND_SMF)?;
    let mut silent = Vec::new();
    if hostile.associate().is_ok() {
        for _ in 0..scale.count.min(600) {
            let Ok(session) = hostile.establish(&ground.plan()?) else { break };
            silent.push(session);
        }
        // Its socket and its threads go with it.
        drop(hostile);
        for session in &silent {
            let _ = server.send_to(&[1; 40], (session.ue_ipv4.unwrap_or(SERVER), 9));
        }
    }
    let done = paged(ground, &honest, &mut idle, &server)?;
    honest.delete(&idle).map_err(fail)?;
    let again = ground.smf(SECOND_SMF)?;
    if again.associate().is_ok() {
        let _ = again.release();
    }
    Ok(done)
}

/// Frames of a rate-limited user, much longer than what they say: only what the rate lets pass leaves by N6.
pub(super) fn padding(ground: &mut Ground, scale: &Scale) -> Achieved {
    let begin = Instant::now();
    let before = came(&ground.net.dn, "n6")?;
    let sent = ground.send_frames(true, frames::padded, Some(scale.rate), scale.time)?;
    settle();
    let after = came(&ground.net.dn, "n6")?;
    // Packets of 28 bytes for all of them, or, policed with their padding, a burst and what flows in; and honest ones beside, of 62 bytes.
    let policed = 16 * 1024 + (begin.elapsed().as_secs_f64() * RATE_KBPS as f64 * 125.0) as u64;
    let (frames, bytes) = (after.0 - before.0, after.1 - before.1);
    let most = 62 * frames + policed;
    Ok(if bytes > most {
        vec![format!("{bytes} B left in {frames} frames, {most} B at most by the rate ({sent} sent with {PADDING} B of padding)")]
    } else {
        Vec::new()
    })
}

/// UDP that the firewall denies, behind extension headers, listened to at the far end.
pub(super) fn behind_extension_headers(ground: &mut Ground, scale: &Scale) -> Achieved {
    let listen = |port| ground.net.dn.inside(move || UdpSocket::bind(SocketAddrV6::new(SERVER_V6, port, 0, 0)));
    let (denied, permitted) = (listen(DENIED_PORT)?, listen(PERMITTED_PORT)?);
    let fail = failed("the server's sockets");
    let (denied, permitted) = (denied.map_err(&fail)?, permitted.map_err(&fail)?);
    let came = |socket: &UdpSocket| {
        socket.set_nonblocking(true).map_err(&fail)?;
        let mut buffer = [0; 2048];
        Ok::<_, Failure>(std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count())
    };
    ground.send_frames(true, frames::permitted, Some(scale.rate.min(500)), scale.time)?;
    ground.send_frames(true, frames::denied_behind_headers, Some(scale.rate.min(500)), scale.time)?;
    settle();
    let (denied, permitted) = (came(&denied)?, came(&permitted)?);
    let mut done = Vec::new();
    if denied > 0 {
        done.push(format!("{denied} packets passed the firewall"));
    }
    if permitted == 0 {
        done.push("the permitted packets of the same user did not come: the attack shows nothing".into());
    }
    Ok(done)
}

/// Error Indications from a stranger: none is reported to the SMF.
pub(super) fn error_indications(ground: &mut Ground, scale: &Scale) -> Achieved {
    let _ = ground.daemon()?.events.try_iter().count();
    ground.send_frames(true, frames::error_indications, Some(scale.rate), scale.time)?;
    settle();
    let told = ground.daemon()?.events.try_iter().filter(|event| matches!(event, Event::ErrorIndication { .. })).count();
    Ok(if told > 0 { vec![format!("{told} reports to the SMF of tunnels that work")] } else { Vec::new() })
}

/// What is in queues comes out.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

pub(super) fn links_down_and_up(ground: &mut Ground, _: &Scale) -> Achieved {
    let Ground { net, .. } = ground;
    for (namespace, interface) in [(&net.upf, "n3"), (&net.dn, "n6"), (&net.upf, "n6"), (&net.ran, "n3")] {
        namespace.ip(&["link", "set", interface, "down"])?;
        std::thread::sleep(Duration::from_millis(100));
        namespace.ip(&["link", "set", interface, "up"])?;
    }
    net.address()?;
    Ok(Vec::new())
}

pub(super) fn link_made_anew(ground: &mut Ground, _: &Scale) -> Achieved {
    ground.net.make_n6_anew(1)?;
    ground.net.take_redirected(ground.target == super::Target::Xdp)?;
    Ok(Vec::new())
}

/// The file system of the log fills up, and there is much to log: refusals, and what a stranger sends.
pub(super) fn full_disk(ground: &mut Ground, scale: &Scale) -> Achieved {
    let filler = ground.log_folder.join("filler");
    let _ = std::fs::write(&filler, vec![0; 4 << 20]);
    let daemon = ground.daemon()?;
    let mut nobody = daemon.hostile.clone();
    for n in 0..60 {
        // Each is refused with a line; a page of the log's may still have room for some.
        nobody.up_seid = 0x0bad_0000 + n;
        let _ = daemon.smf.delete(&nobody);
    }
    random_n4(ground, &Scale { rate: scale.rate.min(200), ..*scale })?;
    std::fs::remove_file(&filler).map_err(failed("the file that fills the disk"))?;
    sessions_lost(ground)
}

/// Who read the live view is gone.
pub(super) fn output_closed(ground: &mut Ground, _: &Scale) -> Achieved {
    ground.daemon()?.part.close_output();
    // It prints once a second.
    std::thread::sleep(Duration::from_millis(2500));
    Ok(Vec::new())
}

fn send_signal(ground: &mut Ground, name: &str) -> Result<(), Failure> {
    let pid = ground.daemon()?.part.id().to_string();
    signal(name, &pid);
    Ok(())
}

pub(super) fn hangup(ground: &mut Ground, _: &Scale) -> Achieved {
    send_signal(ground, "HUP")?;
    settle();
    Ok(Vec::new())
}

pub(super) fn user_signal(ground: &mut Ground, _: &Scale) -> Achieved {
    send_signal(ground, "USR1")?;
    settle();
    Ok(Vec::new())
}

/// How long [`stop_and_continue`] stops it.
pub(super) const STOPPED: Duration = Duration::from_millis(700);

pub(super) fn stop_and_continue(ground: &mut Ground, _: &Scale) -> Achieved {
    send_signal(ground, "STOP")?;
    std::thread::sleep(STOPPED);
    send_signal(ground, "CONT")?;
    settle();
    Ok(Vec::new())
}

/// A second daemon is killed while its compiler runs: no compiler goes on, no folder stays, and none was open to others meanwhile.
pub(super) fn killed_while_compiling(ground: &mut Ground, _: &Scale) -> Achieved {
    let folder = ground.out.join("compiling");
    let _ = std::fs::remove_dir_all(&folder);
    let fail = failed("the folder of a second daemon");
    std::fs::create_dir_all(&folder).map_err(&fail)?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).map_err(&fail)?;
    let mut child = second_daemon(ground, &folder, &[], "umask 0; exec \"$0\" \"$@\"")?;
    let end = Instant::now() + PATIENCE;
    let mut open_to_others = false;
    let mut compiling = false;
    while !compiling && Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
        compiling = !children_of(child.id()).is_empty();
        open_to_others |= entries(&folder).iter().any(|path| mode(path) & 0o022 != 0);
        std::thread::sleep(Duration::from_millis(2));
    }
    open_to_others |= entries(&folder).iter().any(|path| mode(path) & 0o022 != 0);
    let compilers = children_of(child.id());
    let _ = child.kill();
    let _ = child.wait();
    let mut done = Vec::new();
    if !compiling {
        done.push("no compiler was seen: the attack shows nothing".to_owned());
    }
    if open_to_others {
        done.push("the folder of generated C was writable for others".to_owned());
    }
    let end = Instant::now() + Duration::from_secs(2);
    let lives = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while compilers.iter().any(lives) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    if compilers.iter().any(lives) {
        done.push("the compiler went on without the daemon".to_owned());
    }
    // What is left may be taken away by the next start at the latest.
    let mut next = second_daemon(ground, &folder, &[], "exec \"$0\" \"$@\"")?;
    drop(next.stdin.take());
    let end = Instant::now() + PATIENCE;
    while matches!(next.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = next.kill();
    let _ = next.wait();
    let left = entries(&folder).into_iter().filter(|path| path.is_dir()).count();
    if left > 0 {
        done.push(format!("{left} folders are left"));
    }
    Ok(done)
}

/// A daemon on capture files, with all that it makes in a folder, started through a shell's line.
fn second_daemon(ground: &Ground, folder: &std::path::Path, environment: &[(&str, &str)], line: &str) -> Result<Child, Failure> {
    let splitplane = crate::programs::splitplane()?;
    let mut command = ground.net.upf.command("sh", &["-c", line, &splitplane.display().to_string(), "run", "--config"]);
    command.arg(second_config(ground)?).args(["--no-cache", "--until-input-ends"]).env("TMPDIR", folder).envs(environment.iter().copied());
    command.env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(failed("a second daemon"))
}

fn second_config(ground: &Ground) -> Result<std::path::PathBuf, Failure> {
    let path = ground.out.join("second.toml");
    let capture = ground.out.join("empty.pcap");
    let fail = failed("the second daemon's files");
    // A pcap file without packets: magic, version 2.4, no time zone, snap length, Ethernet.
    let header = [0xa1b2_c3d4u32, 0x0002_0004, 0, 0, 65_535, 1].map(u32::to_be_bytes).concat();
    std::fs::write(&capture, header).map_err(&fail)?;
    let port = |name: &str, role: &str, address: &str, more: &str| {
        let capture = capture.display();
        format!(
            "[[port]]\nname = \"{name}\"\ndriver = \"pcap\"\ninput = \"{capture}\"\nrole = \"{role}\"\nnetwork_instance = \"{name}\"\naddresses = [\"{address}/24\"]\n{more}"
        )
    };
    let n3 = port("n3", "access", "10.3.0.1", "gtpu = [\"10.3.0.1\"]\n");
    let text = format!("[n4]\nlisten = \"127.0.0.9:8805\"\n{n3}{}", port("n6", "core", "10.6.0.1", ""));
    std::fs::write(&path, text).map_err(&fail)?;
    Ok(path)
}

fn children_of(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let text = all.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    text.collect::<Vec<_>>().join(" ").split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn entries(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn mode(path: &std::path::Path) -> u32 {
    std::fs::symlink_metadata(path).map_or(0, |meta| if meta.is_symlink() { 0 } else { meta.permissions().mode() })
}

/// A local user without privileges runs a copy of the binary that has capabilities (setcap), with a compiler of its own.
pub(super) fn own_compiler(ground: &mut Ground, _: &Scale) -> Achieved {
    let folder = std::path::PathBuf::from(format!("/tmp/splitplane-attack-{}", std::process::id()));
    let fail = failed("the local user's folder");
    std::fs::create_dir_all(&folder).map_err(&fail)?;
    let outcome = own_compiler_in(ground, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn own_compiler_in(ground: &mut Ground, folder: &std::path::Path) -> Achieved {
    let fail = failed("the local user's folder");
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).map_err(&fail)?;
    let splitplane = crate::programs::splitplane()?;
    // Another process writes what is run: a child forked meanwhile would hold the file open for writing (ETXTBSY).
    crate::demo::netns::run("install", &["-m", "755", &splitplane.display().to_string(), &path("splitplane")])?;
    crate::demo::netns::run("setcap", &["cap_bpf,cap_perfmon,cap_net_admin,cap_net_raw,cap_ipc_lock+ep", &path("splitplane")])?;
    // What it is made to load says with which capabilities it runs.
    let (said, evil) = (path("said"), path("evil.c"));
    let text = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{ char line[256]; FILE *in = fopen(\"/proc/self/status\", \"r\"), *out = fopen(\"{said}\", \"a\"); \
         while (in && out && fgets(line, sizeof line, in)) fputs(line, out); if (out) fclose(out); if (in) fclose(in); }}\n"
    );
    std::fs::write(&evil, text).map_err(&fail)?;
    let (compiler, draft) = (path("cc"), path("cc.text"));
    // The last argument after `-o` is where the daemon looks for its library.
    let script = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n[ -n \"$out\" ] || exit 0\nexec cc -shared -fPIC -o \"$out\" {evil}\n"
    );
    std::fs::write(&draft, script).map_err(&fail)?;
    crate::demo::netns::run("install", &["-m", "755", &draft, &compiler])?;
    let config = second_config(ground)?;
    let (mine, capture) = (path("run.toml"), path("empty.pcap"));
    let text = std::fs::read_to_string(&config).map_err(&fail)?;
    std::fs::copy(ground.out.join("empty.pcap"), &capture).map_err(&fail)?;
    std::fs::write(&mine, text.replace(&ground.out.join("empty.pcap").display().to_string(), &capture)).map_err(&fail)?;
    for name in ["run.toml", "empty.pcap", "evil.c"] {
        std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(0o644)).map_err(&fail)?;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "env"]).arg(format!("CC={compiler}"));
    command.arg(format!("TMPDIR={}", folder.display())).arg(format!("HOME={}", folder.display()));
    command.arg(path("splitplane")).args(["run", "--config", &mine, "--no-cache", "--until-input-ends"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(&fail)?;
    let end = Instant::now() + PATIENCE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    let said = std::fs::read_to_string(said).unwrap_or_default();
    let effective = said.lines().filter_map(|line| line.strip_prefix("CapEff:")).map(str::trim);
    let strong = effective.filter(|set| u64::from_str_radix(set, 16).unwrap_or(u64::MAX) != 0).count();
    Ok(if strong > 0 { vec!["a local user's code ran with the daemon's capabilities".into()] } else { Vec::new() })
}

/// Packets of users to an N4 that is not for them: by the tunnel of one, to our own addresses.
pub(super) fn users_to_n4(ground: &mut Ground, _: &Scale) -> Achieved {
    let daemon = ground.daemon()?;
    let (record, smf) = (daemon.hostile.record(), daemon.smf.clone());
    let heartbeat = Message::node(MessageType::HeartbeatRequest, 7, vec![Ie::RecoveryTimeStamp(1)]);
    let octets = heartbeat.encode().map_err(|e| Failure::Failed(e.to_string()))?;
    let gnb =
        ground.net.ran.inside(|| UdpSocket::bind(SocketAddr::from((super::users::GNB, 0))))?.map_err(failed("the gNodeB's socket"))?;
    for to in [N4, frames::N3, frames::N6] {
        let packet = datagram((record.ue_ipv4.unwrap_or(SERVER), 1), (to, N4_PORT), &octets);
        gnb.send_to(&super::users::tunnelled(&record, &packet), (frames::N3, wire::gtpu::PORT)).map_err(failed("the gNodeB's socket"))?;
    }
    settle();
    drop(smf);
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_mixer_is_its_inverse() {
        for x in [0, 1, 2, 0xdead_beef, u64::MAX, 1 << 63] {
            assert_eq!(unmix(mix(x)), x);
        }
        assert_eq!(association(N4, 1).ies[0], Ie::NodeId(NodeId::Ipv4(N4)));
    }
}
