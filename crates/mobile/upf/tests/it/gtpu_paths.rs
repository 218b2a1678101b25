//! GTP-U peers of sessions are asked whether they are there, if the configuration says so.

use std::net::Ipv4Addr;
use std::time::Duration;

use base::PortId;
use pfcp::rules::UserPlane;
use upf::host::Action;
use upf::plane::Plane;
use wire::ethernet::Mac;
use wire::gtpu::{self, Message};

use crate::host::{arp_reply, dropped, gtpu_frame, gtpu_of};
use crate::model::Model;
use crate::program as by_hand;
use crate::sessions::*;

const N3_PORT: PortId = PortId(0);
const PERIOD_S: u64 = 60;

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A session's gNodeB has an address that is resolved.
fn plane(gtpu_echo_s: u32) -> Plane<Model> {
    let mut config = network();
    config.host.gtpu_echo_s = gtpu_echo_s;
    let program = by_hand::upf(64);
    let mut plane = Plane::new(&config, &program, Model::new(program.clone())).unwrap();
    let initial = plane.initial_batch().clone();
    plane.data_mut().apply(&initial).unwrap();
    plane.commit(1, Some(&free5gc())).unwrap();
    resolve(&mut plane, s(1));
    plane
}

fn resolve(plane: &mut Plane<Model>, now: Duration) {
    let arp = plane.ids().reasons.arp;
    let reply = arp_reply(Mac([2, 0, 0, 0, 0, 0x50]), GNB, Mac([2, 0, 0, 0, 0, 3]), N3);
    for action in plane.punt(&reply, N3_PORT, arp, 0, now) {
        if let Action::Resolved { number } = action {
            plane.host_and_data().0.release(number, []);
        }
    }
}

/// What happens until a time, a second at a time: sequence numbers of echo requests, and paths that fail.
fn pass(plane: &mut Plane<Model>, now: &mut u64, until: u64) -> Vec<(u64, Result<u16, Ipv4Addr>)> {
    let mut seen = Vec::new();
    while *now < until {
        *now += 1;
        for action in plane.poll(s(*now)) {
            match action {
                Action::Transmit { port: N3_PORT, frame } if frame[12..14] == [8, 0] => {
                    let (ip, message) = gtpu_of(&frame);
                    assert_eq!((ip.src(), ip.dst(), message.message, message.teid), (N3, GNB, Message::EchoRequest, 0));
                    seen.push((*now, Ok(message.sequence.unwrap())));
                }
                Action::Path { peer, works: false } => seen.push((*now, Err(peer))),
                // Neighbours are asked whether they are there, too.
                Action::Transmit { frame, .. } if frame[12..14] == [8, 6] => resolve(plane, s(*now)),
                Action::Transmit { .. } | Action::Apply(_) => {}
                action => panic!("{action:?}"),
            }
        }
    }
    seen
}

fn answer(plane: &mut Plane<Model>, from: Ipv4Addr, sequence: u16, now: u64) -> Vec<Action> {
    let response = gtpu_frame(from, N3, gtpu::PORT, &gtpu::Repr::new(0, Some(sequence), Message::EchoResponse));
    let signalling = plane.ids().reasons.gtpu_signalling;
    plane.punt(&response, N3_PORT, signalling, 0, s(now))
}

#[test]
fn a_peer_is_asked_once_in_a_period_has_failed_after_three_requests_and_works_again_when_it_answers() {
    let mut plane = plane(PERIOD_S as u32);
    let (mut now, mut asked) = (1, Vec::new());
    while now < 1 + 4 * PERIOD_S {
        let until = now + 1;
        for (at, what) in pass(&mut plane, &mut now, until) {
            let sequence = what.unwrap();
            // Nobody else answers for it, nor with another number.
            assert_eq!(dropped(&answer(&mut plane, GNB, sequence.wrapping_add(1), at)), "gtpu_echo_response");
            assert_eq!(dropped(&answer(&mut plane, Ipv4Addr::new(10, 0, 3, 77), sequence, at)), "gtpu_echo_response");
            assert_eq!(answer(&mut plane, GNB, sequence, at), []);
            asked.push(at);
        }
    }
    assert!(asked.len() >= 4 && asked.windows(2).all(|two| two[1] - two[0] == PERIOD_S), "{asked:?}");
    // Silent from now on.
    let last = asked[asked.len() - 1];
    let seen = pass(&mut plane, &mut now, last + PERIOD_S + 12);
    let times: Vec<(u64, bool)> = seen.iter().map(|(at, what)| (at - last - PERIOD_S, what.is_ok())).collect();
    assert_eq!(times, [(0, true), (3, true), (6, true), (9, false), (9, true)]);
    assert_eq!(seen[3].1, Err(GNB));
    // Told once, asked once in a period.
    let seen = pass(&mut plane, &mut now, last + 2 * PERIOD_S + 12);
    let [(at, Ok(sequence))] = seen[..] else { panic!("{seen:?}") };
    assert_eq!(at, last + 2 * PERIOD_S + 9);
    assert_eq!(answer(&mut plane, GNB, sequence, now), [Action::Path { peer: GNB, works: true }]);
    // With its last session its path ends.
    plane.commit(1, None).unwrap();
    assert_eq!(pass(&mut plane, &mut now, last + 5 * PERIOD_S), []);
}

#[test]
fn a_changed_period_holds_for_peers_that_there_are() {
    let mut plane = plane(0);
    let mut now = 1;
    let renew = |plane: &mut Plane<Model>, gtpu_echo_s: u32, now: u64| {
        let mut config = network();
        config.host.gtpu_echo_s = gtpu_echo_s;
        let renewal = plane.host_and_data().0.prepare(&config).unwrap();
        plane.host_and_data().0.renew(renewal, s(now));
    };
    renew(&mut plane, PERIOD_S as u32, now);
    let seen = pass(&mut plane, &mut now, 2 * PERIOD_S);
    assert!(seen.contains(&(seen[3].0, Err(GNB))), "{seen:?}");
    // It has failed, and is not told again; it works again when it answers.
    renew(&mut plane, 2 * PERIOD_S as u32, now);
    let from = now;
    let seen = pass(&mut plane, &mut now, from + 2 * PERIOD_S + 9);
    assert!(seen.iter().all(|(_, what)| what.is_ok()), "{seen:?}");
    let Some((_, Ok(last))) = seen.last().copied() else { panic!("{seen:?}") };
    assert_eq!(answer(&mut plane, GNB, last, now), [Action::Path { peer: GNB, works: true }]);
    renew(&mut plane, 0, now);
    assert_eq!(pass(&mut plane, &mut now, 6 * PERIOD_S), []);
}

#[test]
fn no_peer_is_asked_by_default() {
    let mut plane = plane(0);
    assert_eq!(pass(&mut plane, &mut 1, 4 * PERIOD_S), []);
    let mut other = self::plane(PERIOD_S as u32);
    other.commit(1, None).unwrap();
    assert_eq!(pass(&mut other, &mut 1, 4 * PERIOD_S), []);
}
