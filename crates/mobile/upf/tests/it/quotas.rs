//! Volume quotas where packets flow: how far is one passed, and what happens to the meter cell that holds it?

use std::net::Ipv4Addr;

use pfcp::rules::*;
use program::{MAX_BURST, MeterConfig, Op};
use rand::Rng;
use upf::config::{NetworkConfig, TrafficClass};
use upf::lower::quota_config;
use upf::plane::{InUse, Plane};

use crate::host::{framed, gtpu_frame};
use crate::model::Model;
use crate::pipeline::{N3_PORT, N6_PORT, World};
use crate::plane::plane_of;
use crate::sessions::*;
use wire::gtpu;

/// The longest packet of the test's network is N3's, of 1600 bytes.
const OVER: u64 = 1599;

fn limit(total: u64) -> VolumeLimit {
    VolumeLimit { total: Some(total), ..VolumeLimit::default() }
}

/// The session of [`open5gs_connected`] with such a quota.
fn with_quota(quota: VolumeLimit) -> SessionRules {
    let mut rules = open5gs_connected();
    rules.urrs.insert(1, Urr { volume_quota: Some(quota), ..volume() });
    rules.qers.clear();
    rules.pdrs.values_mut().for_each(|pdr| pdr.qer_ids.clear());
    rules
}

/// A UDP packet of so many bytes.
fn user(src: Ipv4Addr, dst: Ipv4Addr, tos: u8, length: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    wire::ipv4::Repr { src, dst, protocol: wire::ipv4::UDP, tos, ttl: 9, payload_len: length - 20 }.emit(&mut packet);
    packet.extend([0x30, 0x39, 0x30, 0x3a]);
    packet.extend(((length - 20) as u16).to_be_bytes());
    packet.resize(length, 0);
    packet
}

const FAR_AWAY: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

/// Type of service of a traffic class that has room for one packet: see [`with_full_class`].
const FULL: u8 = 0xb8;

/// A network with such a class, whose rate is policed behind quotas.
fn with_full_class() -> NetworkConfig {
    let class = TrafficClass { tos: Some((FULL, 0xff)), rate: Some((0, 1500)), ..TrafficClass::default() };
    NetworkConfig { traffic_classes: vec![class], ..network() }
}

/// Sends a packet, and says whether it passed.
fn passes(world: &mut World, uplink: bool, tos: u8, length: usize) -> bool {
    match uplink {
        true => world.receive(N3_PORT, &gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(0x100, None, &user(UE, FAR_AWAY, tos, length)))),
        false => world.receive(N6_PORT, &framed(&user(FAR_AWAY, UE, tos, length))),
    }
    let passed = world.sent.len() == 1;
    match passed {
        true => world.sent.clear(),
        false => assert_eq!(std::mem::take(&mut world.dropped), [if tos == FULL { "class_rate_exceeded" } else { "quota_exhausted" }]),
    }
    passed
}

fn bytes_of(usage: Usage) -> u64 {
    usage.uplink_bytes + usage.downlink_bytes
}

/// Nobody polls, and the packets of both directions share one quota.
#[test]
fn a_quota_ends_within_a_packet_whatever_packets_come() {
    let mut rng = testkit::rng(18);
    let mut over_any = 0;
    for _ in 0..200 {
        let quota = rng.random_range(1..60_000);
        let mut world = World::new();
        // Neighbours are asked for with the first packets.
        world.commit(1, Some(&with_quota(limit(u64::MAX))));
        assert!(passes(&mut world, true, 0, 100) && passes(&mut world, false, 0, 100));
        world.plane.limit_usage(1, 1, limit(200 + quota)).unwrap();
        let longest = rng.random_range(64..1500);
        let (mut passed, mut after_end) = (0, 0);
        for _ in 0..2000 {
            let length = rng.random_range(40..=longest);
            if passes(&mut world, rng.random_bool(0.5), 0, length) {
                assert!(passed < quota + OVER);
                passed += length as u64;
            } else {
                assert!(passed >= quota, "{length} bytes were stopped, {passed} of {quota} had passed");
                after_end += 1;
            }
        }
        assert_eq!(bytes_of(world.plane.usage(1, 1)), 200 + passed);
        assert!((quota..=quota + OVER).contains(&passed), "{passed} of {quota}");
        over_any += usize::from(passed > quota);
        assert!(after_end > 0);
    }
    assert!(over_any > 0);
}

#[test]
fn a_quota_of_one_direction_does_not_stop_the_other() {
    let mut world = World::new();
    world.commit(1, Some(&with_quota(VolumeLimit { downlink: Some(3000), ..VolumeLimit::default() })));
    let passed = |world: &mut World, uplink| (0..10).filter(|_| passes(world, uplink, 0, 1000)).count();
    assert_eq!((passed(&mut world, true), passed(&mut world, false), passed(&mut world, true)), (10, 4, 10));
}

#[test]
fn what_a_packet_took_that_was_dropped_behind_the_quota_is_given_back() {
    let mut world = World::of(&with_full_class());
    world.commit(1, Some(&with_quota(limit(10_000))));
    assert!(passes(&mut world, true, FULL, 1000));
    // They pass the quota, and their class is full behind it.
    (0..9).for_each(|_| assert!(!passes(&mut world, true, FULL, 1000)));
    assert!(passes(&mut world, true, 0, 1000));
    assert!(!passes(&mut world, true, 0, 1000), "nothing is left, though 2000 bytes of 10000 were charged");
    assert_eq!(bytes_of(world.plane.usage(1, 1)), 2000);
    // As the next poll has it.
    world.plane.limit_usage(1, 1, limit(10_000)).unwrap();
    assert_eq!((0..20).filter(|_| passes(&mut world, true, 0, 1000)).count(), 8 + 1);
    world.plane.limit_usage(1, 1, limit(10_000)).unwrap();
    assert!(!passes(&mut world, true, 0, 1000));
}

#[test]
fn a_far_for_quota_action_takes_the_packets_of_a_quota_that_is_used_up() {
    let mut rules = with_quota(limit(500));
    let urr = rules.urrs.get_mut(&1).unwrap();
    (urr.exhausted, urr.quota_far_id) = (true, Some(2));
    let mut world = World::new();
    world.commit(1, Some(&rules));
    assert_eq!((0..20).filter(|_| passes(&mut world, true, 0, 1000)).count(), 20);
    assert_eq!(world.plane.in_use().meter_cells, 0);
}

/// Cell and content of all meters.
fn cells(plane: &Plane<Model>) -> Vec<(u64, MeterConfig)> {
    plane.data().meters.iter().map(|((_, cell), config)| (*cell, *config)).collect()
}

/// Changes of meters since the last look.
fn changes(plane: &mut Plane<Model>) -> Vec<Option<u64>> {
    let batches = std::mem::take(&mut plane.data_mut().batches);
    let ops = batches.into_iter().flat_map(|batch| batch.ops);
    ops.filter_map(|op| if let Op::Meter { config, .. } = op { Some(config.map(|config| config.pbs)) } else { None }).collect()
}

#[test]
fn a_quotas_cell_lives_as_long_as_the_quota_and_is_filled_when_it_changes() {
    let mut plane = plane_of(64);
    let mut rules = with_quota(limit(5000));
    plane.commit(1, Some(&rules)).unwrap();
    assert_eq!(cells(&plane), [(1, quota_config(5000 + OVER))]);
    assert!(plane.info(1).unwrap().has_meters);
    changes(&mut plane);
    // It is where it was told to be, and stays when other rules change.
    plane.limit_usage(1, 1, limit(5000)).unwrap();
    rules.fars.insert(2, buffer());
    plane.commit(1, Some(&rules)).unwrap();
    assert_eq!(changes(&mut plane), []);
    // 900 bytes were used when it ends elsewhere.
    plane.data_mut().counters.insert(1, target_api::Count { packets: 1, bytes: 900 });
    plane.limit_usage(1, 1, limit(7000)).unwrap();
    assert_eq!(changes(&mut plane), [Some(6100 + OVER)]);
    plane.limit_usage(1, 1, limit(800)).unwrap();
    assert_eq!(changes(&mut plane), [Some(0)]);
    // Its rate goes along where the session does.
    let copied = plane.copy(1).unwrap().ops.into_iter().filter(|op| matches!(op, Op::Meter { config: Some(_), .. })).count();
    assert_eq!(copied, 1);
    rules.urrs.get_mut(&1).unwrap().exhausted = true;
    plane.commit(1, Some(&rules)).unwrap();
    assert_eq!((changes(&mut plane), plane.in_use().meter_cells), (vec![None], 0));
    plane.commit(1, None).unwrap();
    assert_eq!(plane.in_use(), InUse::default());
}

#[test]
fn more_than_a_cell_holds_is_filled_again_before_it_is_used_up() {
    let mut plane = plane_of(64);
    let quota = 3 * MAX_BURST;
    plane.commit(1, Some(&with_quota(limit(quota)))).unwrap();
    assert_eq!(cells(&plane), [(1, quota_config(MAX_BURST))]);
    changes(&mut plane);
    for (used, left, filled) in [
        (MAX_BURST / 4, MAX_BURST / 4 * 3, vec![]),
        (MAX_BURST / 4 * 3, MAX_BURST / 4, vec![Some(MAX_BURST)]),
        (quota - 1000, MAX_BURST / 4, vec![]),
    ] {
        plane.data_mut().counters.insert(1, target_api::Count { packets: 1, bytes: used });
        plane.data_mut().left.insert(1, left);
        plane.limit_usage(1, 1, limit(quota)).unwrap();
        assert_eq!(changes(&mut plane), filled, "{used}");
    }
}

#[test]
fn a_quota_of_before_a_crash_ends_where_it_did() {
    let mut plane = plane_of(64);
    let used = Usage { uplink_bytes: 300, downlink_bytes: 500, ..Usage::default() };
    let rules = with_quota(limit(5000));
    let counters = [(1, used)].into();
    let came_back = plane.restore(&[Returning { seid: 1, rules: &rules, counters: &counters, recorded: &Default::default() }]);
    assert_eq!(came_back, [Ok(())]);
    plane.limit_usage(1, 1, limit(5000)).unwrap();
    assert_eq!(cells(&plane), [(1, quota_config(4200 + OVER))]);
}

/// The uplink PDR's URRs are 1 and 2, the downlink's 2 and 3; so many QERs have an MBR that no packet exceeds.
fn with_several(quotas: [Option<VolumeLimit>; 3], rates: u32) -> SessionRules {
    let mut rules = with_quota(VolumeLimit::default());
    for (id, volume_quota) in (1..).zip(quotas) {
        rules.urrs.insert(id, Urr { volume_quota, ..volume() });
    }
    for id in 1..=rates {
        rules.qers.insert(id, qer(Some((100_000_000, 100_000_000)), None));
    }
    for pdr in rules.pdrs.values_mut().filter(|pdr| !pdr.urr_ids.is_empty()) {
        pdr.urr_ids = if pdr.pdi.source_interface == Interface::Access { vec![1, 2] } else { vec![2, 3] };
        pdr.qer_ids = (1..=rates).collect();
    }
    rules
}

/// Whether so much is used up of a quota.
fn is_used_up(quota: VolumeLimit, used: Usage) -> bool {
    let reached = |limit: Option<u64>, used| limit.is_some_and(|limit| used >= limit);
    reached(quota.total, bytes_of(used)) || reached(quota.uplink, used.uplink_bytes) || reached(quota.downlink, used.downlink_bytes)
}

/// Packets of two PDRs take from the quotas of three URRs, one of which is of both. Nobody polls until a packet is stopped; then the URR whose quota is used up
/// is, as the node has it, and the others go on.
#[test]
fn of_several_quotas_each_ends_within_a_packet_and_leaves_the_others_exact() {
    let mut rng = testkit::rng(29);
    // By place of the meter, quotas that stopped a packet; those that were passed by some bytes; URRs that went on when another one's quota was used up.
    let (mut stopped, mut over_any, mut went_on) = ([0; 3], 0, 0);
    for case in 0..200 {
        let rates = case % 3;
        let mut limit = |share| rng.random_bool(share).then(|| rng.random_range(1..30_000));
        // With two rates each PDR has one quota, with one two.
        let quotas = match rates {
            0 => [
                VolumeLimit { total: limit(0.8), uplink: limit(0.5), downlink: None },
                VolumeLimit { total: limit(1.0), ..VolumeLimit::default() },
            ],
            1 => {
                [VolumeLimit { uplink: limit(1.0), ..VolumeLimit::default() }, VolumeLimit { total: limit(1.0), ..VolumeLimit::default() }]
            }
            _ => [VolumeLimit { total: limit(1.0), ..VolumeLimit::default() }, VolumeLimit::default()],
        };
        let third = VolumeLimit { total: limit(1.0), ..VolumeLimit::default() };
        let quotas = [quotas[0], quotas[1], third].map(Some);
        let mut world = World::new();
        // Neighbours are asked for with the first packets. Quotas count from behind them.
        world.commit(1, Some(&with_several([None; 3], rates)));
        assert!(passes(&mut world, true, 0, 100) && passes(&mut world, false, 0, 100));
        let before = [1, 2, 3].map(|urr_id| world.plane.usage(1, urr_id));
        let mut rules = with_several(quotas, rates);
        world.commit(1, Some(&rules));
        let (mut charged, longest) = ([Usage::default(); 3], rng.random_range(64..1500));
        for _ in 0..1000 {
            let (uplink, length) = (rng.random_bool(0.5), rng.random_range(40..=longest));
            let urrs = if uplink { [1, 2] } else { [2, 3] };
            if passes(&mut world, uplink, 0, length) {
                for urr_id in urrs {
                    let used = &mut charged[urr_id as usize - 1];
                    *(if uplink { &mut used.uplink_bytes } else { &mut used.downlink_bytes }) += length as u64;
                }
                continue;
            }
            let exhausted = |rules: &SessionRules, urr_id: u32| rules.urrs[&urr_id].exhausted;
            if urrs.iter().any(|urr_id| exhausted(&rules, *urr_id)) {
                continue;
            }
            // What the counters say tells which it is, and that nothing was stopped too early.
            let at = |urr_id: u32| urr_id as usize - 1;
            let over = urrs.map(|urr_id| (urr_id, is_used_up(quotas[at(urr_id)].unwrap(), charged[at(urr_id)])));
            let over: Vec<u32> = over.into_iter().filter(|(_, over)| *over).map(|(urr_id, _)| urr_id).collect();
            assert!(!over.is_empty(), "{length} bytes were stopped: {charged:?} of {quotas:?}");
            // In the order of the meters.
            let mut limits: Vec<(u64, bool)> = urrs
                .into_iter()
                .flat_map(|urr_id| {
                    let (quota, used) = (quotas[at(urr_id)].unwrap(), charged[at(urr_id)]);
                    let (own, of_own) = if uplink { (quota.uplink, used.uplink_bytes) } else { (quota.downlink, used.downlink_bytes) };
                    [(quota.total, bytes_of(used)), (own, of_own)].into_iter().filter_map(|(limit, used)| Some((limit?, used >= limit?)))
                })
                .collect();
            limits.sort_unstable();
            let first = limits.iter().position(|(_, over)| *over).unwrap();
            stopped[3 - limits.len() + first] += 1;
            over.iter().for_each(|urr_id| rules.urrs.get_mut(urr_id).unwrap().exhausted = true);
            world.commit(1, Some(&rules));
            for (urr_id, quota) in (1..).zip(quotas).filter(|(urr_id, _)| !exhausted(&rules, *urr_id)) {
                let (quota, before) = (quota.unwrap(), before[at(urr_id)]);
                let end = |limit: Option<u64>, before| limit.map(|limit| limit + before);
                let (total, uplink) = (end(quota.total, bytes_of(before)), end(quota.uplink, before.uplink_bytes));
                world.plane.limit_usage(1, urr_id, VolumeLimit { total, uplink, downlink: None }).unwrap();
                went_on += 1;
            }
        }
        for (urr_id, (used, quota)) in (1..).zip(charged.iter().zip(quotas)) {
            let (has, before) = (world.plane.usage(1, urr_id), before[urr_id as usize - 1]);
            assert_eq!(
                (has.uplink_bytes - before.uplink_bytes, has.downlink_bytes - before.downlink_bytes),
                (used.uplink_bytes, used.downlink_bytes),
                "URR {urr_id}"
            );
            let quota = quota.unwrap();
            for (limit, used) in [(quota.total, bytes_of(*used)), (quota.uplink, used.uplink_bytes), (quota.downlink, used.downlink_bytes)]
            {
                let Some(limit) = limit else { continue };
                assert!(used <= limit + OVER, "URR {urr_id}: {used} of {limit} with {rates} rates");
                over_any += usize::from(used > limit);
            }
        }
    }
    assert!(stopped.iter().all(|times| *times > 10) && over_any > 100 && went_on > 100, "{stopped:?} {over_any} {went_on}");
}

#[test]
fn of_more_rates_and_quotas_than_meters_the_largest_quotas_are_left_to_polls() {
    let mut rules = with_quota(VolumeLimit { total: Some(9000), uplink: Some(4000), downlink: None });
    rules.urrs.insert(2, Urr { volume_quota: Some(limit(6000)), ..volume() });
    rules.pdrs.values_mut().filter(|pdr| !pdr.urr_ids.is_empty()).for_each(|pdr| pdr.urr_ids.push(2));
    let mut plane = plane_of(64);
    let mut has_quotas = |rates: u32| {
        for id in 1..=rates {
            rules.qers.insert(id, qer(Some((1000, 1000)), None));
        }
        rules.pdrs.values_mut().for_each(|pdr| pdr.qer_ids = (1..=rates).collect());
        plane.commit(1, Some(&rules)).unwrap();
        let mut quotas: Vec<u64> = plane.data().meters.values().filter(|config| config.pir == 0).map(|config| config.pbs - OVER).collect();
        quotas.sort_unstable();
        quotas
    };
    // Uplink both sides of URR 1, and URR 2; downlink the two totals.
    assert_eq!(has_quotas(0), [4000, 6000, 9000]);
    assert_eq!(has_quotas(1), [4000, 6000, 9000]);
    assert_eq!(has_quotas(2), [4000, 6000]);
    assert_eq!(has_quotas(3), [0; 0]);
}

/// With three rates no meter is left. What a quota's URR has counted is exact all the same, and its end stops the packets at the look that finds it.
#[test]
fn with_three_rates_a_quota_ends_at_the_next_look() {
    let quota = limit(5000);
    let mut rules = with_several([Some(quota), None, None], 3);
    let mut world = World::new();
    world.commit(1, Some(&rules));
    let mut passed = 0;
    while bytes_of(world.plane.usage(1, 1)) < 5000 {
        // A look for each burst of four packets.
        passed += (0..4).filter(|_| passes(&mut world, true, 0, 900)).count() as u64;
        world.plane.limit_usage(1, 1, quota).unwrap();
    }
    assert_eq!((passed, bytes_of(world.plane.usage(1, 1))), (8, 7200));
    rules.urrs.get_mut(&1).unwrap().exhausted = true;
    world.commit(1, Some(&rules));
    assert!((0..10).all(|_| !passes(&mut world, true, 0, 900)) && passes(&mut world, false, 0, 900));
    assert_eq!((bytes_of(world.plane.usage(1, 1)), bytes_of(world.plane.usage(1, 2))), (7200, 7200 + 900));
}
