//! Frames that arrive at the tester: each is ours, astray, a neighbour's or foreign, and only whole packets of ours count.

use load::Direction;
use load::plan::Plan;
use load::sink::{Received, read};
use std::net::Ipv4Addr;

/// Reads `data` as a frame of each side.
pub fn run(data: &[u8]) {
    let address = |n| Ipv4Addr::new(10, n, 0, 2);
    let sessions = Plan::counted(3, address(45), 100, 200, Some(9)).expect("there are so many TEIDs");
    for tunnels in [false, true] {
        let plan = Plan { sessions: sessions.clone(), tunnels, gnb: address(3), upf: Ipv4Addr::new(10, 3, 0, 1), dn: address(6) };
        for arriving in Direction::BOTH {
            if let Received::Ours(tag, bytes) = read(data, &plan, arriving) {
                assert_eq!(tag.direction, arriving);
                let tunnel = if arriving == Direction::Down && tunnels { 36 } else { 0 };
                assert!(bytes >= 64 && bytes + tunnel <= data.len() + 4, "{bytes} of a frame of {}", data.len());
            }
        }
    }
}
