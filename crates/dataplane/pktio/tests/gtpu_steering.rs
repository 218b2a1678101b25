//! Does the program in the kernel find the UE that `upf::steer` finds? Sound frames of all kinds, then damaged ones. Needs root;
//! says so and passes without.

mod common;

use common::{frames, skip};
use gtpu_steering::GTPU;
use pktio::steer_program::{AddressHash, Frames};
use rand::Rng;
use rand::seq::IndexedRandom;
use std::collections::BTreeMap;
use std::net::IpAddr;

#[test]
fn the_kernel_finds_the_same_ue() {
    let kinds = [Some(GTPU), None].map(|tunnels| Frames { tunnels, vxlan: false });
    let kinds = kinds.into_iter().flat_map(|f| [f, Frames { vxlan: true, ..f }]);
    let mut hits = BTreeMap::new();
    let mut rng = testkit::rng(21);
    for frames in kinds {
        let program = match AddressHash::load(frames) {
            Ok(program) => program,
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => return skip("needs root (CAP_BPF, CAP_NET_ADMIN)"),
            Err(e) => panic!("{frames:?}: the kernel refuses the program: {e}"),
        };
        let port = base::PortId(if frames.tunnels.is_some() { 3 } else { 131 } + if frames.vxlan { 256 } else { 0 });
        let expects = upf::steer::expects(port);
        assert_eq!((expects.tunnels, expects.vxlan), (frames.tunnels.is_some(), frames.vxlan));
        for round in 0..20_000 {
            let (mut frame, what) = some_frame(&mut rng, frames.vxlan);
            let sound = round % 2 == 0;
            if !sound {
                for _ in 0..rng.random_range(0..4) {
                    // Headers are at the front.
                    let at = rng.random_range(0..frame.len().min(130));
                    frame[at] = *[rng.random(), 0, 4, 0x85, 0xff].choose(&mut rng).unwrap();
                }
                frame.truncate(rng.random_range(14..=frame.len()));
            }
            let kernel = program.of(&frame).unwrap();
            assert_eq!(kernel, upf::steer::ue_hash(&frame, port), "{frames:?} {what} {frame:02x?}");
            let version = match upf::steer::ue_address(&frame, port) {
                Some(IpAddr::V4(_)) => "4",
                Some(IpAddr::V6(_)) => "6",
                None => "none",
            };
            *hits.entry((frames.tunnels.is_some(), frames.vxlan, sound, what, version)).or_insert(0) += 1;
        }
    }
    for tunnels in [true, false] {
        for vxlan in [true, false] {
            for what in ["plain", "uplink", "downlink", "bare tunnel", "many extensions"] {
                for sound in [true, false] {
                    // A user's own traffic to port 2152 on N6 is user data: by the outer header, which is of version 4.
                    for version in if what == "plain" || tunnels { &["4", "6"][..] } else { &["4"] } {
                        let n = hits.get(&(tunnels, vxlan, sound, what, version)).copied().unwrap_or(0);
                        assert!(n > 100, "{n} of {what} frames with an address of version {version}; {hits:?}");
                    }
                }
            }
        }
    }
    let none: usize = hits.iter().filter(|(kind, _)| kind.4 == "none").map(|(_, n)| n).sum();
    assert!(none > 5_000, "{none} of no UE");
}

/// A sound frame and what it is.
fn some_frame(rng: &mut testkit::Rng, vxlan: bool) -> (Vec<u8>, &'static str) {
    use wire::gtpu::SessionContainer::{Downlink, Uplink};
    let inner = if rng.random() {
        let payload = if rng.random() { frames::udp(*[2152, 4789, 53].choose(rng).unwrap(), &[0; 30]) } else { vec![5; 9] };
        frames::ipv4(rng.random(), rng.random(), *[6, 17].choose(rng).unwrap(), &payload)
    } else {
        frames::ipv6(rng.random(), rng.random(), &[6; 12])
    };
    let (frame, what) = match rng.random_range(0..6) {
        0 => (frames::ethernet(&inner), "plain"),
        1 => (frames::tunnel(Some(Uplink { qfi: 1 }), &inner), "uplink"),
        2 => (frames::tunnel(Some(Downlink { qfi: 1, rqi: rng.random(), ppi: rng.random::<bool>().then_some(3) }), &inner), "downlink"),
        3 => (frames::tunnel(None, &inner), "bare tunnel"),
        4 => (many_extensions(rng, &inner), "many extensions"),
        _ => (no_ue(rng), "no user packet"),
    };
    (if vxlan { frames::vxlan(&frame) } else { frame }, what)
}

/// A tunnel with up to ten extension headers: two more than are walked over.
fn many_extensions(rng: &mut testkit::Rng, inner: &[u8]) -> Vec<u8> {
    let count = rng.random_range(1..=10);
    let kinds: Vec<u8> = (0..count).map(|_| *[0x85, 0x84, 0x40, 0xc0].choose(rng).unwrap()).collect();
    let mut message = vec![0x34, 255, 0, 0, 0, 0, 0, 7, 0, 0, 0, kinds[0]];
    for n in 0..count {
        let words = rng.random_range(1..=3);
        message.push(words as u8);
        // Type 0 of a container is downlink.
        message.push(if rng.random() { 0x00 } else { 0x10 });
        message.resize(message.len() + words * 4 - 3, 9);
        message.push(kinds.get(n + 1).copied().unwrap_or(0));
    }
    message.extend(inner);
    frames::gtpu(&message)
}

fn no_ue(rng: &mut testkit::Rng) -> Vec<u8> {
    match rng.random_range(0..3) {
        0 => frames::gtpu(&[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0]),
        1 => [&[2; 12][..], &[8, 6], &[0; 28]].concat(),
        _ => frames::ethernet(&[0x55; 40]),
    }
}
