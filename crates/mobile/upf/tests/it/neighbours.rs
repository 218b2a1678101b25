//! Neighbours: whom is believed, who has room, and that what waits for a MAC address is not overtaken.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use base::PortId;
use program::{Batch, Op};
use rand::Rng;
use upf::host::{Action, Host};
use upf::ids::{Ids, Reasons};
use wire::ethernet::Mac;
use wire::gtpu::{self, Message};
use wire::{arp, ipv6, ndp};

use crate::host::{arp_frame, arp_of, arp_reply, dropped, framed, gtpu_frame, gtpu_of, host, let_go, ping};
use crate::sessions::{GNB, N3, UE, network};

const N3_PORT: PortId = PortId(0);
const N6_PORT: PortId = PortId(128);
const N3_MAC: Mac = Mac([2, 0, 0, 0, 0, 3]);
const GNB_MAC: Mac = Mac([2, 0, 0, 0, 0, 0x50]);
const OTHER_MAC: Mac = Mac([2, 0, 0, 0, 0, 0x66]);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn request(sender_mac: Mac, sender_ip: Ipv4Addr, target_ip: Ipv4Addr) -> Vec<u8> {
    arp_frame(arp::Repr { operation: arp::Operation::Request, sender_mac, sender_ip, target_mac: Mac::default(), target_ip })
}

/// The MAC address in the gNodeB's next hop, if these actions write one.
fn written(actions: &[Action]) -> Option<u64> {
    let entries = actions.iter().filter_map(|a| if let Action::Apply(batch) = a { Some(&batch.ops) } else { None }).flatten();
    entries.filter_map(|op| if let Op::Modify(entry) = op { entry.args.get(2).map(|mac| *mac as u64) } else { None }).next_back()
}

/// To whom questions for the gNodeB are sent.
fn asked(actions: &[Action]) -> Vec<Mac> {
    let frames = actions.iter().filter_map(|a| if let Action::Transmit { frame, .. } = a { Some(frame) } else { None });
    frames
        .filter(|frame| frame[12..14] == [8, 6] && frame[21] == 1 && frame[38..42] == GNB.octets())
        .map(|frame| arp_of(frame).0.dst)
        .collect()
}

/// A session names the gNodeB, which has answered.
fn with_gnb() -> (Host, Reasons) {
    let (mut host, r) = host();
    let held = host.hold_peers([(1, GNB)]).unwrap();
    assert_eq!(asked(&host.ask_peers(&held)), [Mac::BROADCAST], "it is asked before there are packets to it");
    let actions = host.punt(&arp_reply(GNB_MAC, GNB, N3_MAC, N3), N3_PORT, r.arp, 0, ms(1000));
    assert_eq!(written(&let_go(&mut host, actions)), Some(GNB_MAC.bits()));
    (host, r)
}

/// Polls until `until`, as the gNodeB's MAC addresses in `there` answer; the last address that was written.
fn poll_with(host: &mut Host, r: Reasons, from: Duration, until: Duration, there: &[Mac]) -> Option<u64> {
    let (mut now, mut last) = (from, None);
    while now < until {
        let mut actions = host.poll(now);
        for mac in asked(&actions) {
            for own in there.iter().filter(|own| mac == **own || mac == Mac::BROADCAST) {
                actions.extend(host.punt(&arp_reply(*own, GNB, N3_MAC, N3), N3_PORT, r.arp, 0, now));
            }
        }
        last = written(&let_go(host, actions)).or(last);
        now += ms(50);
    }
    last
}

#[test]
fn a_broadcast_request_does_not_take_a_gnodebs_address() {
    let claims = [request(OTHER_MAC, GNB, N3), request(OTHER_MAC, GNB, GNB), arp_reply(OTHER_MAC, GNB, N3_MAC, N3)];
    for claim in claims {
        let (mut host, r) = with_gnb();
        for round in 0..20 {
            let now = ms(2000 + 2000 * round);
            let actions = host.punt(&claim, N3_PORT, r.arp, 0, now);
            assert_eq!(written(&actions), None, "not before it is verified");
            assert!(asked(&actions).contains(&GNB_MAC), "round {round}: the one that is known is asked: {actions:?}");
            // Both answer: the one that we know stays.
            for mac in asked(&actions) {
                assert_eq!(written(&host.punt(&arp_reply(mac, GNB, N3_MAC, N3), N3_PORT, r.arp, 0, now)), None);
            }
            // Once it has answered, nobody else is listened to for a while.
            let again = host.punt(&request(OTHER_MAC, GNB, GNB), N3_PORT, r.arp, 0, now + ms(10));
            assert_eq!((asked(&again), dropped(&again)), (vec![], "neighbour_conflict"));
            assert_eq!(poll_with(&mut host, r, now, now + ms(1500), &[GNB_MAC, OTHER_MAC]), None);
        }
    }
}

#[test]
fn a_gnodeb_that_fails_over_is_followed_within_a_second_and_a_half() {
    let (mut host, r) = with_gnb();
    // Gratuitous, and the old one is gone.
    let actions = host.punt(&request(OTHER_MAC, GNB, GNB), N3_PORT, r.arp, 0, ms(5000));
    assert_eq!(asked(&actions), [GNB_MAC, OTHER_MAC]);
    assert_eq!(host.punt(&arp_reply(OTHER_MAC, GNB, N3_MAC, N3), N3_PORT, r.arp, 0, ms(5001)), []);
    assert_eq!(poll_with(&mut host, r, ms(5050), ms(6000), &[OTHER_MAC]), Some(OTHER_MAC.bits()));
    // One that nobody answers for changes nothing for as long as the old one may still be there.
    host.punt(&request(GNB_MAC, GNB, GNB), N3_PORT, r.arp, 0, ms(9000));
    assert_eq!(poll_with(&mut host, r, ms(9050), ms(10_500), &[]), None);
    // Back again.
    assert_eq!(poll_with(&mut host, r, ms(10_500), ms(30_000), &[OTHER_MAC]), None);
}

#[test]
fn what_nobody_asked_for_resolves_nothing_and_configured_neighbours_never_change() {
    // Asked and not answered: a request of somebody is no answer, nor is a reply to another.
    let (mut host, r) = host();
    let held = host.hold_peers([(1, GNB)]).unwrap();
    host.ask_peers(&held);
    for frame in [request(OTHER_MAC, GNB, N3), request(OTHER_MAC, GNB, GNB), arp_reply(OTHER_MAC, GNB, OTHER_MAC, GNB)] {
        let actions = host.punt(&frame, N3_PORT, r.arp, 0, ms(100));
        assert!(!actions.iter().any(|a| matches!(a, Action::Resolved { .. } | Action::Apply(_))), "{actions:?}");
    }
    let mut config = network();
    config.neighbours.push(upf::config::StaticNeighbour { port: N3_PORT, ip: GNB.into(), mac: GNB_MAC.0 });
    let ids = Ids::bind(&crate::program::upf(64)).unwrap();
    let mut host = Host::new(&config, &ids);
    for frame in [request(OTHER_MAC, GNB, GNB), arp_reply(OTHER_MAC, GNB, N3_MAC, N3)] {
        assert_eq!(dropped(&host.punt(&frame, N3_PORT, r.arp, 0, ms(100))), "neighbour_fixed");
    }
}

#[test]
fn an_advertisement_that_does_not_override_changes_nothing() {
    let (mut host, r) = host();
    let (router, ours): (Ipv6Addr, Ipv6Addr) = ("fd00:6::fe".parse().unwrap(), "fd00:6::1".parse().unwrap());
    let advertisement = |mac, dst: Ipv6Addr, solicited, override_known| {
        let (mut body, mut packet) = (Vec::new(), Vec::new());
        let repr = ndp::Repr::Advertisement { target: router, mac: Some(mac), solicited, router: true, override_known };
        repr.emit(router, dst, &mut body);
        let payload_len = body.len();
        ipv6::Repr { src: router, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len }.emit(&mut packet);
        packet.extend_from_slice(&body);
        framed(&packet)
    };
    // Next hop 4 is the router. It is asked, and what comes unsolicited is not the answer.
    host.punt(&framed(&ping(UE.into(), GNB.into())), N6_PORT, r.neighbour_unknown, 4, ms(1000));
    let actions = host.punt(&advertisement(OTHER_MAC, ipv6::ALL_NODES, false, true), N6_PORT, r.host, 0, ms(1001));
    assert_eq!(actions, []);
    let actions = host.punt(&advertisement(GNB_MAC, ours, true, true), N6_PORT, r.host, 0, ms(1001));
    assert_eq!(written(&let_go(&mut host, actions)), Some(GNB_MAC.bits()));
    for (dst, solicited, override_known, expected) in [
        (ours, true, false, "neighbour_not_overridden"),
        (ipv6::ALL_NODES, false, false, "neighbour_not_overridden"),
        (ipv6::ALL_NODES, true, true, "neighbour_discovery_malformed"),
    ] {
        let actions = host.punt(&advertisement(OTHER_MAC, dst, solicited, override_known), N6_PORT, r.host, 0, ms(2000));
        assert_eq!(dropped(&actions), expected);
    }
    // One that overrides is verified: both are asked.
    let actions = host.punt(&advertisement(OTHER_MAC, ipv6::ALL_NODES, false, true), N6_PORT, r.host, 0, ms(3000));
    let to: Vec<[u8; 6]> = actions
        .iter()
        .map(|a| if let Action::Transmit { frame, .. } = a { frame[..6].try_into().unwrap() } else { panic!("{a:?}") })
        .collect();
    assert_eq!(to, [GNB_MAC.0, OTHER_MAC.0]);
}

#[test]
fn an_error_indication_is_believed_of_the_tunnels_peer_only() {
    let (mut host, r) = with_gnb();
    let stranger = Ipv4Addr::new(10, 0, 3, 51);
    let indication = |from: Ipv4Addr, peer: Ipv4Addr, teid| {
        let message = Message::ErrorIndication { teid, peer: peer.into() };
        gtpu_frame(from, N3, 2152, &gtpu::Repr::new(0, Some(0), message))
    };
    for (from, peer) in [(stranger, GNB), (GNB, stranger)] {
        let actions = host.punt(&indication(from, peer, 1), N3_PORT, r.gtpu_signalling, 0, ms(2000));
        assert_eq!(dropped(&actions), "gtpu_error_indication_stranger");
    }
    // Its own have a budget.
    let all: Vec<Action> =
        (0..300).flat_map(|teid| host.punt(&indication(GNB, GNB, teid), N3_PORT, r.gtpu_signalling, 0, ms(2000))).collect();
    let believed = all.iter().filter(|a| matches!(a, Action::ErrorIndication { peer: GNB, .. })).count();
    let rate = all.iter().filter(|a| matches!(a, Action::Drop { reason: "gtpu_error_indication_rate" })).count();
    assert_eq!((believed, rate), (100, 200));
    // A gNodeB that no session sends to now may still be one that a waiting session names: whether it is, its session knows.
    host.release_peer(1, GNB);
    let actions = host.punt(&indication(GNB, GNB, 1), N3_PORT, r.gtpu_signalling, 0, ms(2000));
    assert!(matches!(&actions[..], [Action::ErrorIndication { peer: GNB, teid: 1 }]), "{actions:?}");
}

#[test]
fn a_strangers_flood_does_not_silence_us_towards_peers() {
    let (mut host, r) = with_gnb();
    let echo = |from| gtpu_frame(from, N3, 2152, &gtpu::Repr::new(0, Some(1), Message::EchoRequest));
    let stranger = Ipv4Addr::new(10, 0, 3, 99);
    let mut dropped = BTreeMap::new();
    for _ in 0..1500 {
        for frame in [(echo(stranger), r.gtpu_signalling), (request(OTHER_MAC, stranger, N3), r.arp)] {
            for action in host.punt(&frame.0, N3_PORT, frame.1, 0, ms(2000)) {
                if let Action::Drop { reason } = action {
                    *dropped.entry(reason).or_insert(0) += 1;
                }
            }
        }
    }
    assert_eq!(dropped, BTreeMap::from([("gtpu_echo_rate", 500), ("arp_rate", 500)]));
    for frame in [(echo(GNB), r.gtpu_signalling), (request(GNB_MAC, GNB, N3), r.arp)] {
        let actions = host.punt(&frame.0, N3_PORT, frame.1, 0, ms(2000));
        assert!(matches!(&actions[..], [Action::Transmit { .. }]), "{actions:?}");
    }
    assert_eq!(host.fates().imbalance(), 0);
}

/// On a UDP port on a loopback address, for one.
#[test]
fn a_notification_reaches_a_peer_on_127_8_where_we_are_there_too() {
    let mut config = network();
    let (ours, peer): (Ipv4Addr, Ipv4Addr) = ("127.0.0.7".parse().unwrap(), "127.0.0.3".parse().unwrap());
    config.ports[0].addresses = vec![(ours.into(), 8)];
    config.ports[0].gtpu_endpoints = vec![ours];
    let ids = Ids::bind(&crate::program::upf(64)).unwrap();
    let mut host = Host::new(&config, &ids);
    let mut unknown = gtpu::Repr::g_pdu(7, Some(gtpu::SessionContainer::Uplink { qfi: 1 }), b"user");
    unknown.sequence = Some(1);
    let mut frame = gtpu_frame(peer, ours, 2152, &unknown);
    // The type of the container's place: one that must be understood.
    let at = 14 + 20 + 8 + 11;
    assert_eq!(frame[at], 0x85);
    frame[at] = 0xc1;
    frame[40..42].fill(0); // no UDP checksum
    let actions = host.punt(&frame, N3_PORT, ids.reasons.gtpu_signalling, 0, ms(1));
    let [Action::Transmit { frame, .. }, Action::Drop { reason: "gtpu_extension_not_supported" }] = &actions[..] else {
        panic!("{actions:?}")
    };
    let (ip, notification) = gtpu_of(frame);
    assert_eq!((ip.dst(), notification.message), (peer, Message::SupportedExtensionHeaders { types: &[0x85, 0x40] }));
    assert_eq!((host.fates().dropped, host.fates().imbalance()), (1, 0), "the user's packet is lost, and counted so");
    // On a wire such an address is nobody's.
    let (mut host, r) = self::host();
    let echo = gtpu_frame(peer, N3, 2152, &gtpu::Repr::new(0, Some(1), Message::EchoRequest));
    assert_eq!(dropped(&host.punt(&echo, N3_PORT, r.gtpu_signalling, 0, ms(1))), "gtpu_malformed");
}

/// One of a UE that asks for addresses where nobody is: those that answer stay, and another that is new gets its place.
#[test]
fn addresses_where_nobody_is_do_not_displace_hosts_that_answer() {
    let mut config = network();
    config.ports[1].addresses[0] = ("10.6.0.1".parse().unwrap(), 16);
    config.routes.remove(0);
    let ids = Ids::bind(&crate::program::upf(64)).unwrap();
    let (mut host, r) = (Host::new(&config, &ids), ids.reasons);
    let ip = |n: u32| Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 6, 0, 0)) + n);
    let to = |host: &mut Host, n: u32, now| {
        let user = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, None, &ping(UE.into(), IpAddr::V4(ip(n)))));
        host.punt(&user, N3_PORT, r.neighbour_unknown, 5, now)
    };
    let answers = |host: &mut Host, n: u32, now| {
        let reply = arp_reply(GNB_MAC, ip(n), Mac([2, 0, 0, 0, 0, 6]), ip(1));
        let actions = host.punt(&reply, N6_PORT, r.arp, 0, now);
        let_go(host, actions)
    };
    let here: Vec<u32> = (100..400).collect();
    for n in &here {
        to(&mut host, *n, ms(1000));
        assert!(answers(&mut host, *n, ms(1000)).iter().any(|a| matches!(a, Action::Reinject { .. })));
    }
    let mut deleted = 0;
    for round in 0..5000u32 {
        let now = ms(40_000 + u64::from(round) * 2);
        let actions = to(&mut host, 1000 + round, now);
        deleted += actions.iter().filter(|a| matches!(a, Action::Apply(b) if b.ops.iter().any(|op| matches!(op, Op::Delete(_))))).count();
    }
    assert!(deleted > 3000, "{deleted}: silent ones make room for each other");
    for n in &here {
        let actions = to(&mut host, *n, ms(50_001));
        assert!(matches!(&actions[..], [Action::Resolved { .. }]), "{n} is known: {actions:?}");
        let_go(&mut host, actions);
    }
    // A new host, which answers, gets in, at the first second that the budget leaves.
    to(&mut host, 500, ms(52_000));
    assert!(answers(&mut host, 500, ms(52_001)).iter().any(|a| matches!(a, Action::Reinject { .. })));
    assert_eq!(host.fates().imbalance(), 0);
}

/// A worker, the queue of what it punts, and the agent, each of which goes on by a step at a time in any order.
struct Path {
    host: Host,
    r: Reasons,
    number: u16,
    resolved: bool,
    arriving: VecDeque<u32>,
    events: VecDeque<Vec<u8>>,
    actions: VecDeque<Action>,
    again: VecDeque<Vec<u8>>,
    out: Vec<u32>,
    dropped: usize,
    now: Duration,
    /// What waits is let go action by action, as if nothing else went on meanwhile.
    naive: bool,
}

impl Path {
    fn new(naive: bool) -> Path {
        let (mut host, r) = host();
        let held = host.hold_peers([(1, GNB)]).unwrap();
        let number = held.ops.iter().find_map(|op| if let Op::Insert(e) = op { e.args.last().copied() } else { None }).unwrap() as u16;
        let (arriving, events, actions, again) = Default::default();
        Path { host, r, number, resolved: false, arriving, events, actions, again, out: vec![], dropped: 0, now: ms(1000), naive }
    }

    fn packet(n: u32) -> Vec<u8> {
        let mut packet = framed(&ping(UE.into(), IpAddr::V4(Ipv4Addr::from(n))));
        packet.extend(n.to_be_bytes());
        packet
    }

    fn run(&mut self, packet: Vec<u8>) {
        let n = u32::from_be_bytes(*packet.last_chunk().unwrap());
        if self.resolved { self.out.push(n) } else { self.events.push_back(packet) }
    }

    fn worker(&mut self) {
        if let Some(packet) = self.again.pop_front() {
            self.run(packet);
        } else if let Some(n) = self.arriving.pop_front() {
            self.run(Path::packet(n));
        }
    }

    fn apply(&mut self, batch: &Batch) {
        for op in &batch.ops {
            if let Op::Modify(entry) = op {
                self.resolved = entry.args.len() > 1;
            }
        }
    }

    fn agent(&mut self) {
        let Some(action) = self.actions.pop_front() else {
            if let Some(packet) = self.events.pop_front() {
                self.actions.extend(self.host.punt(&packet, N6_PORT, self.r.neighbour_unknown, self.number.into(), self.now));
            }
            return;
        };
        match action {
            Action::Apply(batch) => self.apply(&batch),
            Action::Drop { .. } => self.dropped += 1,
            Action::Resolved { number } if self.naive => {
                let released = self.host.release(number, []);
                let waiting = released.packets.into_iter().map(|(port, frame)| Action::Reinject { port, frame });
                let all = [Action::Apply(released.batch)].into_iter().chain(waiting);
                all.collect::<Vec<_>>().into_iter().rev().for_each(|action| self.actions.push_front(action));
            }
            Action::Resolved { number } => {
                assert!(
                    self.events
                        .iter()
                        .all(|p| self.host.punted_for(p, N6_PORT, self.r.neighbour_unknown, self.number.into()) == Some(number))
                );
                let late = self.events.drain(..).map(|packet| (N6_PORT, packet));
                let released = self.host.release(number, late);
                self.apply(&released.batch);
                released.packets.into_iter().for_each(|(_, packet)| self.run(packet));
            }
            Action::Reinject { frame, .. } => self.again.push_back(frame),
            Action::Transmit { .. } => {}
            other => panic!("{other:?}"),
        }
    }

    fn is_idle(&self) -> bool {
        self.arriving.is_empty() && self.events.is_empty() && self.actions.is_empty() && self.again.is_empty()
    }
}

/// Random arrivals, answers, answers that are lost, silence and return of the neighbour: how many packets came out, and whether in order.
fn play(seed: u64, naive: bool) -> (usize, bool, usize) {
    let mut rng = testkit::rng(seed);
    let mut path = Path::new(naive);
    let mut sent = 0;
    let chatty = rng.random_range(1..20);
    for _ in 0..3000 {
        match rng.random_range(0..40) {
            0..16 => {
                path.arriving.push_back(sent);
                sent += 1;
            }
            16..26 => path.worker(),
            26..37 => path.agent(),
            37 if rng.random_range(0..20) < chatty => {
                let answer = arp_reply(GNB_MAC, GNB, N3_MAC, N3);
                path.actions.extend(path.host.punt(&answer, N3_PORT, path.r.arp, 0, path.now));
            }
            _ => {
                path.now += ms(rng.random_range(0..1500));
                let actions = path.host.poll(path.now);
                path.actions.extend(actions);
            }
        }
    }
    // At last it answers all that it is asked.
    for _ in 0..20_000 {
        path.worker();
        path.agent();
        if path.is_idle() && path.host.fates().waiting == 0 {
            break;
        }
        if path.is_idle() {
            path.now += ms(100);
            let mut actions = path.host.poll(path.now);
            if !asked(&actions).is_empty() {
                actions.extend(path.host.punt(&arp_reply(GNB_MAC, GNB, N3_MAC, N3), N3_PORT, path.r.arp, 0, path.now));
            }
            path.actions.extend(actions);
        }
    }
    assert_eq!((path.out.len() + path.dropped, path.host.fates().imbalance()), (sent as usize, 0), "{:?}", path.host.fates());
    let in_order = path.out.windows(2).all(|pair| pair[0] < pair[1]);
    (path.out.len(), in_order, path.dropped)
}

/// As after a path switch to a gNodeB whose MAC address is not known yet.
#[test]
fn packets_that_wait_for_a_mac_address_are_not_overtaken_by_those_that_follow() {
    let (mut out, mut dropped) = (0, 0);
    for seed in 0..300 {
        let (came, in_order, lost) = play(seed, false);
        assert!(in_order, "seed {seed}");
        (out, dropped) = (out + came, dropped + lost);
    }
    assert!(out > 50_000 && dropped > 500, "{out} came out, {dropped} were dropped");
    // That is what happened when they were let go one by one.
    let overtaken = (0..50).filter(|seed| !play(*seed, true).1).count();
    assert!(overtaken > 10, "the model sees it: {overtaken} of 50");
}
