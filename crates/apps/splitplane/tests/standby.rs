//! Does a standby go on where a daemon ended? Both share a store, a server of the Redis protocol; the one that holds its lease serves, with all that the
//! SMF was told: recovery time stamp, SEIDs, TEIDs, UE addresses. A node that has lost the lease ends.

mod kept;

use kept::{Daemon, Setup, Smf, Stream, loopback, tunnelled, until};
use pfcp::codec::{Ie, MessageType, find};
use rand::Rng;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Takeovers by a standby, and the time of a lease: on a machine that is busy no node may come too late to renew it. The variable LEASE_MS of the
/// environment has another one, to measure what a takeover takes.
const TAKEOVERS: usize = 3;
const LEASE_MS: u64 = 3000;
/// What a node goes on for without its store: longer than the test of that takes.
const OUTAGE_S: u64 = 20;

/// Of this process's addresses tests make use one after the other.
static ADDRESSES: Mutex<()> = Mutex::new(());

fn shared(redis: &testkit::Redis, outage_s: u64) -> String {
    let lease_ms = std::env::var("LEASE_MS").map_or(LEASE_MS, |ms| ms.parse().expect("LEASE_MS is a number"));
    format!("[n4.store.shared]\nurl = \"{}\"\nlease_ms = {lease_ms}\noutage_s = {outage_s}", redis.url)
}

/// Two daemons with the addresses of one UPF, as on two hosts.
fn pair(upf: SocketAddr, redis: &testkit::Redis, outage_s: u64) -> [Daemon; 2] {
    [(); 2].map(|()| {
        let setup = Setup { store: Some(shared(redis, outage_s)), more: kept::PLANNED.into(), ..Setup::on_loopback(upf) };
        Daemon::configured(setup, tempfile::tempdir().unwrap())
    })
}

#[test]
fn a_standby_goes_on_with_all_that_an_smf_was_told_by_a_daemon_that_was_killed() {
    let _alone = ADDRESSES.lock();
    let mut random = testkit::rng(19);
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = testkit::Redis::start_or_skip(folder.path()) else { return };
    let mut smf = Smf::new();
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    let [mut active, mut standby] = pair(smf.upf, &redis, 0);
    active.start();
    standby.begin();
    let stamp = smf.associate();
    smf.establish(None);
    smf.settle();
    let carrier = smf.next_seid;
    let (mut in_flight, mut slowest) = (0, Duration::ZERO);
    for _ in 0..TAKEOVERS {
        let before = smf.charged;
        smf.carry(&gnb, carrier, before);
        let carries = smf.sessions.remove(&carrier).unwrap();
        let answers = random.random_range(50..300);
        smf.work(answers, &mut random);
        in_flight += smf.waiting.len();
        active.kill();
        let began = Instant::now();
        std::mem::swap(&mut active, &mut standby);
        active.is_ready();
        slowest = slowest.max(began.elapsed());
        // The one that was killed is started again, on its host, and waits.
        standby.begin();
        smf.settle();
        smf.sessions.insert(carrier, carries);
        smf.all_is_there(stamp);
        active.has_what_was_told(&smf);
        active.has_them_in_front(&smf);
    }
    let before = smf.charged;
    smf.carry(&gnb, carrier, before);
    let sessions = smf.sessions.len();
    println!("{TAKEOVERS} takeovers, {} answers, {sessions} sessions, {in_flight} requests in flight, slowest {slowest:?}", smf.answers);
    assert!(in_flight > 0 && sessions > 1);
    // Planned ones: the operator stops the active node, which keeps its sessions. The other one is of the same machine, and needs its addresses.
    for _ in 0..TAKEOVERS {
        active.end();
        std::mem::swap(&mut active, &mut standby);
        active.is_ready();
        standby.begin();
        smf.all_is_there(stamp);
        active.has_them_in_front(&smf);
        let before = smf.charged;
        smf.carry(&gnb, carrier, before);
    }
    active.end();
    standby.is_ready();
    standby.end();
}

#[test]
fn a_node_whose_lease_ends_serves_no_more_and_another_one_does_when_it_can() {
    let _alone = ADDRESSES.lock();
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = testkit::Redis::start_or_skip(folder.path()) else { return };
    let mut smf = Smf::new();
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    let [mut active, mut standby] = pair(smf.upf, &redis, 0);
    active.start();
    let stamp = smf.associate();
    smf.establish(None);
    smf.settle();
    standby.begin();
    redis.cut_off(true);
    assert_eq!(active.ended(), Some(3));
    redis.cut_off(false);
    standby.is_ready();
    smf.all_is_there(stamp);
    let (carrier, before) = (smf.next_seid, smf.charged);
    smf.carry(&gnb, carrier, before);
    standby.end();
}

#[test]
fn while_the_store_is_away_packets_pass_and_requests_have_a_cause_if_so_configured() {
    let _alone = ADDRESSES.lock();
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = testkit::Redis::start_or_skip(folder.path()) else { return };
    let mut smf = Smf::new();
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    let [mut active, _] = pair(smf.upf, &redis, OUTAGE_S);
    active.start();
    let stamp = smf.associate();
    smf.establish(None);
    smf.settle();
    let carrier = smf.next_seid;
    redis.cut_off(true);
    // What is asked for until the lease has ended waits, and is not refused later either.
    smf.until_refused(true);
    let before = smf.charged;
    smf.send_packets(&gnb, carrier);
    let answer = smf.ask(MessageType::HeartbeatRequest, None, 0, vec![Ie::RecoveryTimeStamp(1)]);
    assert_eq!(find!(answer.ies, RecoveryTimeStamp), Some(&stamp));
    redis.cut_off(false);
    smf.until_refused(false);
    smf.are_charged(carrier, before);
    smf.all_is_there(stamp);
    active.end();
}

/// Namespaces of a network and of hosts on it; they go with this value.
struct Hosts(Vec<String>);

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

fn ip(arguments: &str) {
    assert!(Command::new("ip").args(arguments.split(' ')).status().unwrap().success(), "ip {arguments}");
}

impl Hosts {
    /// A network of three links with a bridge each, where gNodeB, SMF and a server are, and two hosts on all of them.
    fn new() -> Hosts {
        let hosts = Hosts((0..3).map(|_| testkit::unique_name("standby")).collect());
        for name in &hosts.0 {
            ip(&format!("netns add {name}"));
        }
        let [network, hosts_of_it @ ..] = &hosts.0[..] else { unreachable!("there are three") };
        for (link, address) in [("n3", "10.3.0.2/24"), ("n4", "10.4.0.2/24"), ("n6", "10.6.0.2/24")] {
            ip(&format!("-n {network} link add {link} type bridge"));
            ip(&format!("-n {network} link set {link} up"));
            ip(&format!("-n {network} address add {address} dev {link}"));
            for (n, host) in hosts_of_it.iter().enumerate() {
                ip(&format!("-n {network} link add {link}-{n} type veth peer name {link} netns {host}"));
                ip(&format!("-n {network} link set {link}-{n} master {link} up"));
                ip(&format!("-n {host} link set {link} up"));
            }
        }
        // The daemons know the server by it.
        ip(&format!("-n {network} link set n6 address 02:00:00:00:06:02"));
        ip(&format!("-n {network} route add 10.45.0.0/24 via 10.6.0.1 dev n6"));
        hosts
    }

    /// As VRRP does: the N4 address is at this host now, and its neighbours are told.
    fn move_n4(&self, from: usize, to: usize) {
        let [network, hosts @ ..] = &self.0[..] else { unreachable!("there are three") };
        let _ = Command::new("ip").args(["-n", &hosts[from], "address", "flush", "dev", "n4"]).status();
        ip(&format!("-n {} address add 10.4.0.1/24 dev n4", hosts[to]));
        ip(&format!("-n {network} neighbour flush dev n4"));
    }
}

/// Packets with numbers that have come, and when.
#[derive(Clone, Default)]
struct Arrivals(Arc<Mutex<Vec<(Instant, u64)>>>);

impl Arrivals {
    /// Of all that comes by a socket from now on, for as long as this process lives; an answer goes back if so asked.
    fn of(socket: UdpSocket, answers: bool) -> Arrivals {
        let arrivals = Arrivals::default();
        let into = arrivals.clone();
        let receive = move || {
            let mut buffer = [0; 2048];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let Some(number) = buffer[..length].last_chunk() else { continue };
                into.0.lock().unwrap().push((Instant::now(), u64::from_be_bytes(*number)));
                if answers {
                    // No way back is known for a moment.
                    let _ = socket.send_to(number, from);
                }
            }
        };
        std::thread::spawn(receive);
        arrivals
    }

    /// When the first packet from this number on came; waits for it.
    fn first_from(&self, number: u64) -> Instant {
        let mut first = None;
        until("a packet comes through", || {
            first = self.0.lock().unwrap().iter().find(|(_, of)| *of >= number).map(|(at, _)| *at);
            first.is_some()
        });
        first.unwrap()
    }

    fn numbers(&self) -> Vec<u64> {
        self.0.lock().unwrap().iter().map(|(_, number)| *number).collect()
    }
}

/// Where the server is.
const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 6, 0, 2), 7000);
/// The gNodeB's TEID of the session with the stream.
const TUNNEL: u32 = 77;

/// Packets go to a server and back, all the time: through the first node until it is killed, and through the second one as soon as it can. Its N3 address is
/// a port's, of another MAC address: the gNodeB's neighbour table and the bridges must learn from what it announces.
#[test]
fn traffic_goes_on_through_a_standby_on_another_host_when_the_active_node_is_killed() {
    const NAME: &str = "traffic_goes_on_through_a_standby_on_another_host_when_the_active_node_is_killed";
    if !testkit::root_or_skip(NAME) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = testkit::Redis::start_or_skip(folder.path()) else { return };
    let hosts = Hosts::new();
    let namespace = std::fs::File::open(format!("/run/netns/{}", hosts.0[0])).unwrap();
    let test = move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        let port = |name: &str| format!("driver = \"af_packet\"\ninterface = \"{name}\"");
        let mut daemons = [1, 2].map(|host: usize| {
            let setup = Setup {
                n4: "listen = \"10.4.0.1:8805\"\npeers = [\"10.4.0.2\"]\nheartbeat_s = 0\nmessages_per_second = 0".into(),
                store: Some(shared(&redis, 0)),
                n3: format!("{}\naddresses = [\"10.3.0.1/24\"]\ngtpu = [\"10.3.0.1\"]", port("n3")),
                n6: Some(port("n6")),
                more: String::new(),
                namespace: Some(hosts.0[host].clone()),
            };
            Daemon::configured(setup, tempfile::tempdir().unwrap())
        });
        hosts.move_n4(1, 0);
        daemons[0].start();
        daemons[1].begin();
        let address = |last| Ipv4Addr::new(10, 4, 0, last);
        let smf = UdpSocket::bind((address(2), 0)).unwrap();
        let mut smf = Smf::at(smf, (address(1), 8805).into(), Ipv4Addr::new(10, 3, 0, 1));
        let gnb_address = Ipv4Addr::new(10, 3, 0, 2);
        let gnb = UdpSocket::bind((gnb_address, 2152)).unwrap();
        let stamp = smf.associate();
        smf.establish_all([None; 20]);
        let (carrier, streamed) = (1, 2);
        smf.carry(&gnb, carrier, 0);
        smf.forward_to(streamed, TUNNEL, gnb_address);
        smf.settle();
        let (up, down) = (Arrivals::of(UdpSocket::bind(SERVER).unwrap(), true), Arrivals::of(gnb.try_clone().unwrap(), false));
        let session = smf.sessions[&streamed].clone();
        let packet = move |number: u64| {
            let (mut user, number) = (Vec::new(), number.to_be_bytes());
            let ip = wire::ipv4::Repr { src: session.ue, dst: SERVER.0, protocol: 17, tos: 0, ttl: 64, payload_len: 8 + number.len() };
            ip.emit(&mut user);
            wire::udp::Repr { src_port: 1024, dst_port: SERVER.1 }.emit_ipv4(session.ue, SERVER.0, &number, &mut user);
            tunnelled(session.teid, &user)
        };
        let stream = Stream::start(gnb.try_clone().unwrap(), (smf.n3, 2152).into(), Duration::from_millis(2), packet);
        // Both ways through the first node.
        for arrivals in [&up, &down] {
            arrivals.first_from(0);
        }
        for (from, to) in [(0, 1), (1, 0)] {
            // Until the very end.
            let (before, sent) = (smf.charged, stream.sent());
            up.first_from(sent);
            daemons[from].kill();
            // Those from here on nobody but the other node can have had.
            let (killed, behind) = (Instant::now(), stream.sent());
            hosts.move_n4(from, to);
            daemons[to].is_ready();
            let ready = killed.elapsed();
            let [uplink, both_ways] = [&up, &down].map(|arrivals| arrivals.first_from(behind) - killed);
            println!("host {to}: packets pass {uplink:?} after the kill, and come back after {both_ways:?}; it was ready after {ready:?}");
            daemons[from].begin();
            smf.all_is_there(stamp);
            daemons[to].has_what_was_told(&smf);
            smf.carry(&gnb, carrier, before);
        }
        stream.end();
        for arrivals in [up, down] {
            assert!(arrivals.numbers().is_sorted_by(|a, b| a < b), "a packet came twice, or behind a later one");
        }
        assert_eq!(smf.sessions.len(), 20);
        daemons[0].end();
    };
    std::thread::Builder::new().name(NAME.into()).spawn(test).unwrap().join().unwrap();
}
