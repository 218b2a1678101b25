//! What a table takes of the machine's memory; alone in its process, which is what is measured.
#![cfg(target_os = "linux")]

use table::{Exact, Lpm, Prefix, Rule, Shape, Table, Ternary};

/// Memory of this process that is really there.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn a_table_costs_what_it_holds() {
    let shape = Shape { key_len: 8, value_len: 56, capacity: 16 << 20 };
    let empty = resident_bytes();
    let mut exact = Exact::new(shape, 0).unwrap();
    let mut lpm = Lpm::new(shape, 4, 0).unwrap();
    let mut ternary = Ternary::new(shape, 0).unwrap();
    for i in 0..100u64 {
        exact.insert(&i.to_be_bytes(), &[1; 56]).unwrap();
        lpm.insert(Prefix { key: &i.to_be_bytes(), prefix_len: 32 }, &[1; 56]).unwrap();
        ternary.insert(Rule { value: &i.to_be_bytes(), mask: &[255; 8], ranges: &[], priority: 1 }, &[1; 56]).unwrap();
    }
    // 1 GiB is what 16 M records of 64 bytes would take; a huge page for each of the 7 regions is 14 MiB.
    let few = resident_bytes() - empty;
    assert!(few < 32 << 20, "{few} bytes for 100 entries");

    for i in 100..1_000_000u64 {
        exact.insert(&i.to_be_bytes(), &[1; 56]).unwrap();
    }
    let many = resident_bytes() - empty;
    // 64 MB of records and, at a power of two of buckets, 17 to 34 MB of those.
    assert!((64 << 20..128 << 20).contains(&many), "{many} bytes for a million entries");

    // Almost all go, in another order than they came; what is left are buckets, and the pages of those that stay.
    let all = exact.len();
    for i in (0..all).map(|i| i * 611_953 % all).filter(|i| i % 200_000 != 7) {
        exact.remove(&i.to_be_bytes()).unwrap();
    }
    assert_eq!(exact.len(), 5);
    let left = resident_bytes() - empty;
    assert!(left < many - (40 << 20), "{left} of {many} bytes when 5 of a million entries are left");
    for i in 0..all {
        let there = i % 200_000 == 7;
        assert_eq!(exact.get(&i.to_be_bytes()).is_some(), there);
        if !there {
            exact.insert(&i.to_be_bytes(), &[2; 56]).unwrap();
        }
    }
    assert!((0..all).all(|i| exact.get(&i.to_be_bytes()) == Some(&[if i % 200_000 == 7 { 1 } else { 2 }; 56])));
    (0..all).for_each(|i| exact.remove(&i.to_be_bytes()).unwrap());

    // A VRF with a default route is a few words on each side, however large those get that have many routes.
    let before = resident_bytes();
    for i in 1..=50_000u64 {
        lpm.insert(Prefix { key: &(i << 32).to_be_bytes(), prefix_len: 0 }, &[1; 56]).unwrap();
    }
    let vrfs = resident_bytes() - before;
    assert!(vrfs < 40 << 20, "{vrfs} bytes for 50000 VRFs");
    // Routes that share nothing but their first bits: long ways without branches have no nodes.
    let mut hostile = Lpm::new(Shape { key_len: 16, ..shape }, 0, 0).unwrap();
    let before = resident_bytes();
    for i in 1..=100_000u64 {
        let spread = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = u128::from(spread) << 64 | u128::from(spread.rotate_left(32) ^ i);
        hostile.insert(Prefix { key: &key.to_be_bytes(), prefix_len: 128 }, &[1; 56]).unwrap();
    }
    let random = resident_bytes() - before;
    assert!(random < 100_000 * 640, "{random} bytes for 100000 routes of 128 bits");
    // Groups just large enough for a dense node each.
    let mut groups = Lpm::new(shape, 4, 0).unwrap();
    let before = resident_bytes();
    for i in 0..100_000u64 {
        groups.insert(Prefix { key: &((i / 8) << 16 | (i % 8) << 8).to_be_bytes(), prefix_len: 24 }, &[1; 56]).unwrap();
    }
    let grouped = resident_bytes() - before;
    assert!(grouped < 100_000 * 640, "{grouped} bytes for 100000 routes in groups of 8");
    println!("bytes: {vrfs} for VRFs, {random} for random routes, {grouped} for groups");
    drop((exact, lpm, ternary, hostile, groups));
    let gone = resident_bytes().saturating_sub(empty);
    assert!(gone < 16 << 20, "{gone} bytes after the tables are dropped");
}
