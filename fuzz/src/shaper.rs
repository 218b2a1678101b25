//! Queues for rates and of ports: whatever packets come, rates change and clocks jump, each packet comes out once and in the order of its queue, or is dropped
//! with a reason, and no more wait than may.
//!
//! The first byte chooses limits; then operations of two bytes each.

use shaper::codel::Law;
use shaper::scheduler::Left;
use shaper::shaper::Offered;
use shaper::{
    Fate, Guaranteed, Limits, Node, Place, PortRates, PortSettings, QUEUES, QueueSettings, Scheduler, Service, Shaper, SliceSettings, Tree,
};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
/// Port, two slices, four sessions of two flows each.
const NODES: u32 = 15;
const FIRST_LEAF: u32 = 7;
const LEAVES: usize = (NODES - FIRST_LEAF) as usize;
/// Packets that may wait.
const MOST: u32 = 64;

/// Drives both with the same operations.
pub fn run(data: &[u8]) {
    let Some((first, operations)) = data.split_first() else { return };
    rates(*first, operations);
    ports(*first, operations);
}

/// A packet that came out is the first of those that were taken.
fn came_out(queue: &mut VecDeque<u32>, packet: u32) {
    assert_eq!(queue.pop_front(), Some(packet), "in the order of arrival, each once");
}

fn rates(first: u8, operations: &[u8]) {
    let mut tree = Tree::default();
    let rate = |byte: u8| [0, 1, 1_000, 125_000, 12_500_000, u64::MAX][usize::from(byte) % 6];
    for number in 0..NODES {
        let parent = number.checked_sub(1).map(|n| n / 2);
        let guaranteed = if number >= FIRST_LEAF && first & 1 == 1 { 20_000 } else { 0 };
        let node = Node { parent, rate: 125_000, burst: 3_000, guaranteed, weight: number % 5 };
        tree.add(node, 0).expect("parents come first");
    }
    let law = Law { target_ns: MS, interval_ns: 10 * MS };
    let limits = Limits { nodes: NODES, packets: MOST, delay_ns: u64::from(first >> 1) * MS, law };
    let mut shaper = Shaper::<u32>::new(limits);
    let mut waiting: [VecDeque<u32>; LEAVES] = Default::default();
    let (mut now, mut number) = (0u64, 0u32);
    for [what, with] in operations.as_chunks::<2>().0 {
        let leaf = FIRST_LEAF + u32::from(*with) % LEAVES as u32;
        match what % 4 {
            0 | 1 => {
                number += 1;
                let size = u32::from(*what) * 12;
                match shaper.offer(leaf, number, size, what & 4 != 0, now, &mut tree, &mut |_| ()) {
                    Offered::Waits => waiting[(leaf - FIRST_LEAF) as usize].push_back(number),
                    Offered::Dropped(packet, _) => assert_eq!(packet, number),
                }
            }
            2 => now = now.saturating_add(u64::from(*with) << (what >> 2)),
            _ => {
                let node = u32::from(*with) % (NODES + 1);
                let changed = tree.change(node, rate(*what), 0, 1 + u32::from(*what) * 20, now);
                assert_eq!(changed.is_ok(), node < NODES);
            }
        }
        shaper.poll(now, &mut tree, 1 + usize::from(*with % 8), &mut |fate| match fate {
            Fate::Sent { leaf, packet, .. } | Fate::Dropped { leaf, packet, .. } => {
                came_out(&mut waiting[(leaf - FIRST_LEAF) as usize], packet)
            }
            Fate::Idle { leaf } => assert!(waiting[(leaf - FIRST_LEAF) as usize].is_empty()),
        });
        assert_eq!(shaper.len(), waiting.iter().map(VecDeque::len).sum::<usize>());
        assert!(shaper.len() <= MOST as usize);
        assert!((0..LEAVES).all(|n| shaper.waits(FIRST_LEAF + n as u32) != waiting[n].is_empty()));
        assert!(shaper.is_empty() || shaper.next_ns().is_some(), "nobody is forgotten");
    }
    shaper.end(&mut |fate| {
        if let Fate::Dropped { leaf, packet, .. } = fate {
            came_out(&mut waiting[(leaf - FIRST_LEAF) as usize], packet);
        }
    });
    assert!(waiting.iter().all(VecDeque::is_empty) && shaper.is_empty());
}

/// Flows of a queue.
const FLOWS: usize = 4;

fn ports(first: u8, operations: &[u8]) {
    let queue = |number: usize| {
        let service = if first >> (number % 8) & 1 == 1 { Service::Strict } else { Service::Weighted(number as u16 * 1000) };
        QueueSettings { service, delay_ns: u64::from(first) * MS }
    };
    let rate = [1, 125_000, u64::MAX][usize::from(first) % 3];
    let law = Law { target_ns: MS, interval_ns: 10 * MS };
    let slice = |weight, rate| SliceSettings { weight, rate };
    let slices = vec![slice(1, None), slice(0, Some(rate / 3)), slice(1000, Some(1))];
    let settings = PortSettings { rate, queues: std::array::from_fn(queue), slices, packets: MOST as usize, law };
    let mut scheduler = Scheduler::<u32>::new(&settings);
    let rates = PortRates::new(&settings, u64::from(first) * MS);
    // By flow of each queue of each slice, then those with a guaranteed rate; and where each packet waits.
    let mut waiting: Vec<VecDeque<u32>> = vec![VecDeque::new(); (3 * QUEUES + 1) * FLOWS];
    let (mut now, mut places) = (0u64, Vec::new());
    for [what, with] in operations.as_chunks::<2>().0 {
        if what % 3 < 2 {
            let (queue, slice, flow) = (usize::from(with & 15), usize::from(with >> 4 & 3), u32::from(with & 3));
            let guaranteed = (with >> 6 == 3).then_some(Guaranteed { rate: rate / 4, size: u32::from(*what) });
            let of_queue = if slice < 3 { slice } else { 0 } * QUEUES + queue.min(QUEUES - 1);
            places.push(if guaranteed.is_some() { 3 * QUEUES } else { of_queue } * FLOWS + flow as usize);
            let number = places.len() as u32 - 1;
            match scheduler.offer(
                Place { slice, queue, flow, weight: u16::from(with >> 2 & 3) * 300, guaranteed },
                number,
                u32::from(*what) * 36,
                what & 4 != 0,
                now,
            ) {
                Ok(()) => waiting[places[number as usize]].push_back(number),
                Err((packet, _)) => assert_eq!(packet, number),
            }
        } else {
            now = now.saturating_add(u64::from(*with) << (what >> 2)).min(1 << 57);
        }
        let next = scheduler.poll(now, &rates, 1 + usize::from(*with % 8), |number| number % 5 != 4, &mut |left| match left {
            Left::Sent { packet, .. } | Left::Dropped { packet, .. } => came_out(&mut waiting[places[packet as usize]], packet),
        });
        assert_eq!(scheduler.len(), waiting.iter().map(VecDeque::len).sum::<usize>());
        assert!(scheduler.len() <= MOST as usize && next.is_none() == scheduler.is_empty());
    }
    scheduler.end(&mut |left| {
        if let Left::Dropped { packet, .. } = left {
            came_out(&mut waiting[places[packet as usize]], packet);
        }
    });
    assert!(waiting.iter().all(VecDeque::is_empty) && scheduler.is_empty());
}
