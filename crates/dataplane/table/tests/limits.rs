//! Capacity, growth, refusals, and sharing between threads: what the random tests with small tables cannot reach.

use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::HashMap;
use table::{
    BURST, Direct, Exact, Limits, Lpm, MAX_CAPACITY, MAX_LPM_CAPACITY, Prefix, Range, Rule, Shape, Table, TableError, Ternary, View,
};

const SHAPE: Shape = Shape { key_len: 8, value_len: 16, capacity: 100 };

/// A value that tells its key.
fn value_of(key: u64) -> [u8; 16] {
    let mut value = [0; 16];
    value[..8].copy_from_slice(&key.to_be_bytes());
    value[8..].copy_from_slice(&(!key).to_le_bytes());
    value
}

/// Every width of key: exactly the capacity fits, all of it is found, through growth, removal and refill.
#[test]
fn exact_holds_exactly_its_capacity() {
    for (key_len, capacity) in [(2, 40_000u64), (4, 65_536), (8, 100_000), (13, 3_000), (20, 24_577), (37, 999), (64, 5_000), (128, 2_000)]
    {
        let mut table = Exact::new(Shape { key_len, value_len: 16, capacity }, 9).unwrap();
        let key_of = |i: u64| {
            let mut key = vec![0; key_len.max(8)];
            key[..8].copy_from_slice(&i.to_le_bytes());
            key.truncate(key_len);
            key
        };
        for i in 0..capacity {
            table.insert(&key_of(i), &value_of(i)).unwrap();
        }
        assert_eq!(table.insert(&key_of(capacity), &value_of(0)), Err(TableError::Full { capacity }));
        assert_eq!(table.insert(&key_of(5), &value_of(0)), Err(TableError::Exists));
        for i in 0..capacity {
            assert_eq!(table.get(&key_of(i)), Some(&value_of(i)[..]));
            assert_eq!(table.lookup(&key_of(i)), Some(&value_of(i)[..]));
        }
        for i in (0..capacity).step_by(2) {
            table.remove(&key_of(i)).unwrap();
        }
        for i in 0..capacity {
            assert_eq!(table.lookup(&key_of(i)).is_some(), i % 2 == 1);
        }
        for i in (0..capacity).step_by(2) {
            table.insert(&key_of(i), &value_of(i)).unwrap();
        }
        assert_eq!(table.len(), capacity);
        assert_eq!(table.insert(&key_of(capacity), &value_of(0)), Err(TableError::Full { capacity }));
    }
}

/// 300 000 entries with churn against the standard map, bursts in the middle of growth included.
#[test]
fn exact_agrees_with_a_map_at_size() {
    let mut rng = StdRng::seed_from_u64(11);
    let mut table = Exact::new(Shape { capacity: 300_000, ..SHAPE }, rng.random()).unwrap();
    let mut map = HashMap::new();
    let (mut hits, mut misses) = (0, 0);
    for round in 0..600_000u64 {
        // TEID-like: the hostile peer counts up in one byte.
        let key = rng.random_range(0..400_000u64) << 24;
        if map.contains_key(&key) && round % 3 == 0 {
            table.remove(&key.to_le_bytes()).unwrap();
            map.remove(&key);
        } else if map.len() < 300_000 {
            let answer = table.insert(&key.to_le_bytes(), &value_of(key));
            match map.entry(key) {
                std::collections::hash_map::Entry::Occupied(_) => assert_eq!(answer, Err(TableError::Exists)),
                std::collections::hash_map::Entry::Vacant(room) => {
                    answer.unwrap();
                    room.insert(table.get(&key.to_le_bytes()).unwrap().as_ptr() as usize);
                }
            }
        }
        if round % 64 == 0 {
            let picks: [u64; BURST] = std::array::from_fn(|_| rng.random_range(0..400_000u64) << 24);
            let keys: Vec<u8> = picks.iter().flat_map(|key| key.to_le_bytes()).collect();
            let mut out = [std::ptr::null_mut(); BURST];
            table.lookup_many(&keys, 8, &mut out);
            for (key, record) in picks.iter().zip(out) {
                assert_eq!(map.get(key).copied().unwrap_or(0), record as usize);
                if record.is_null() {
                    misses += 1;
                } else {
                    hits += 1;
                    // SAFETY: a hit's record has 16 bytes, and the table does not change here.
                    assert_eq!(unsafe { record.cast::<[u8; 16]>().read() }, value_of(*key));
                }
            }
        }
    }
    assert!(hits > 100_000 && misses > 100_000, "{hits} hits, {misses} misses");
}

/// A table of ordinary routes, compared with a scan that knows only lengths.
#[test]
fn lpm_agrees_with_a_map_a_length_at_size() {
    let mut rng = StdRng::seed_from_u64(12);
    let mut table = Lpm::new(Shape { key_len: 4, value_len: 16, capacity: 50_000 }, 0, 0).unwrap();
    let mut map: HashMap<(u32, u32), u64> = HashMap::new();
    let masked = |address: u32, len: u32| address & (u32::MAX.checked_shl(32 - len).unwrap_or(0));
    while map.len() < 50_000 {
        let len = [0, 8, 12, 16, 19, 22, 24, 24, 24, 26, 30, 32][rng.random_range(0..12)];
        let prefix = masked(rng.random::<u32>() & 0x0fff_ffff, len);
        let id = rng.random();
        let answer = table.insert(Prefix { key: &prefix.to_be_bytes(), prefix_len: len }, &value_of(id));
        assert_eq!(answer.is_ok(), !map.contains_key(&(prefix, len)));
        map.entry((prefix, len)).or_insert(id);
        if rng.random_bool(0.2) {
            let gone = *map.keys().next().unwrap();
            table.remove(Prefix { key: &gone.0.to_be_bytes(), prefix_len: gone.1 }).unwrap();
            map.remove(&gone);
        }
    }
    assert_eq!(table.insert(Prefix { key: &[255; 4], prefix_len: 32 }, &value_of(0)), Err(TableError::Full { capacity: 50_000 }));
    let mut by_length = [0u32; 33];
    for _ in 0..3_000 {
        let addresses: [u32; BURST] = std::array::from_fn(|_| rng.random::<u32>() & 0x0fff_ffff);
        let keys: Vec<u8> = addresses.iter().flat_map(|a| a.to_be_bytes()).chain([0; 4]).collect();
        let mut out = [std::ptr::null_mut(); BURST];
        table.lookup_many(&keys, 4, &mut out);
        for (address, record) in addresses.iter().zip(out) {
            let expected = (0..=32).rev().find_map(|len| map.get(&(masked(*address, len), len)).map(|id| (len, *id)));
            assert_eq!(expected.is_some(), !record.is_null());
            if let Some((len, id)) = expected {
                by_length[len as usize] += 1;
                // SAFETY: a hit's record has 16 bytes, and the table does not change here.
                assert_eq!(unsafe { record.cast::<[u8; 16]>().read() }, value_of(id));
            }
        }
    }
    assert!(by_length.iter().filter(|n| **n > 50).count() >= 5, "hits by length: {by_length:?}");
    for (prefix, len) in map.into_keys() {
        table.remove(Prefix { key: &prefix.to_be_bytes(), prefix_len: len }).unwrap();
    }
    assert!(table.is_empty() && table.lookup(&[10, 0, 0, 1]).is_none());
}

/// Of equal priorities the first inserted wins, whatever the masks; removed and inserted again it is the last.
#[test]
fn ternary_ties_go_to_the_first_inserted() {
    let mut table = Ternary::new(Shape { key_len: 2, value_len: 1, capacity: 10 }, 1).unwrap();
    let broad = Rule { value: &[1, 0], mask: &[255, 0], ranges: &[], priority: 5 };
    let narrow = Rule { value: &[1, 2], mask: &[255, 255], ranges: &[], priority: 5 };
    let port = [Range { offset: 1, len: 1, low: 2, high: 9 }];
    let ranged = Rule { ranges: &port, ..broad };
    table.insert(ranged, b"r").unwrap();
    table.insert(broad, b"b").unwrap();
    table.insert(narrow, b"n").unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"r"[..]));
    assert_eq!(table.lookup(&[1, 1]), Some(&b"b"[..]));
    table.remove(ranged).unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"b"[..]));
    table.remove(broad).unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"n"[..]));
    table.insert(broad, b"b").unwrap();
    table.insert(ranged, b"r").unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"n"[..]));
    assert_eq!(table.lookup(&[1, 3]), Some(&b"b"[..]));
    table.insert(Rule { priority: 6, ..ranged }, b"R").unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"R"[..]));
    // The value changes, the place in the order does not.
    table.replace(narrow, b"N").unwrap();
    table.remove(Rule { priority: 6, ..ranged }).unwrap();
    assert_eq!(table.lookup(&[1, 2]), Some(&b"N"[..]));
    assert_eq!((table.len(), table.masks()), (3, 0), "so few are in a list");
}

/// As many masks as entries, in bitmaps and in the tuple space: slower, still right, and nothing is left behind when they go.
#[test]
fn ternary_with_a_mask_an_entry() {
    let shape = Shape { key_len: 8, value_len: 8, capacity: 2_000 };
    for limits in [Limits::default(), Limits { list: 64, ..Limits::default() }] {
        let mut table = Ternary::with_limits(shape, &[0; 8], 1, limits).unwrap();
        let in_tuples = limits.list == 64;
        for round in 0..2 {
            for i in 0..2_000u64 {
                // Masks 1.., never 0: each rule asks for zeros where its mask has ones.
                let rule = Rule { value: &[0; 8], mask: &(i + 1).to_be_bytes(), ranges: &[], priority: i as u32 };
                table.stage_insert(rule, &i.to_le_bytes()).unwrap();
            }
            table.commit();
            assert_eq!(table.masks(), if in_tuples { 2_000 } else { 0 });
            assert_eq!(table.mapped_blocks() >= 4, !in_tuples);
            // Of the low 11 bits all ones but bit `round`: the best mask within that bit alone is the bit itself.
            let key = !(1u64 << round);
            assert_eq!(table.lookup(&key.to_be_bytes()), Some(&((1u64 << round) - 1).to_le_bytes()[..]));
            assert_eq!(table.lookup(&[0; 8]), Some(&1_999u64.to_le_bytes()[..]));
            for i in 0..2_000u64 {
                table.stage_remove(Rule { value: &[0; 8], mask: &(i + 1).to_be_bytes(), ranges: &[], priority: i as u32 }).unwrap();
            }
            table.commit();
            assert_eq!((table.masks(), table.mapped_blocks(), table.len()), (0, 0, 0));
            assert_eq!(table.lookup(&[0; 8]), None);
        }
    }
}

fn is_invalid<T>(answer: Result<T, TableError>) -> bool {
    matches!(answer, Err(TableError::Invalid(_)))
}

#[test]
fn what_does_not_fit_is_refused() {
    for shape in [
        Shape { key_len: 0, ..SHAPE },
        Shape { key_len: 129, ..SHAPE },
        Shape { value_len: 257, ..SHAPE },
        Shape { capacity: 0, ..SHAPE },
        Shape { capacity: MAX_CAPACITY + 1, ..SHAPE },
        Shape { capacity: u64::MAX, key_len: usize::MAX, value_len: usize::MAX },
    ] {
        assert!(is_invalid(Exact::new(shape, 0)) && is_invalid(Direct::new(shape)) && is_invalid(Ternary::new(shape, 0)));
        assert!(is_invalid(Lpm::new(shape, 0, 0)));
    }
    for block in [0, 1, 513] {
        assert!(is_invalid(Ternary::with_limits(SHAPE, &[0; 8], 0, Limits { block, ..Limits::default() })));
    }
    assert!(is_invalid(Direct::new(Shape { key_len: 4, ..SHAPE })));
    assert!(is_invalid(Lpm::new(SHAPE, 8, 0)) && is_invalid(Lpm::new(SHAPE, usize::MAX, 0)));
    assert!(is_invalid(Lpm::new(Shape { key_len: 17, ..SHAPE }, 0, 0)));
    assert!(is_invalid(Lpm::new(Shape { capacity: MAX_LPM_CAPACITY + 1, ..SHAPE }, 4, 0)));

    let mut exact = Exact::new(SHAPE, 0).unwrap();
    assert!(is_invalid(exact.insert(&[0; 7], &[0; 16])) && is_invalid(exact.insert(&[0; 8], &[0; 15])));
    assert!(is_invalid(exact.replace(&[0; 8], &[0; 17])));
    assert_eq!((exact.remove(&[0; 80]), exact.get(&[]), exact.lookup(&[0; 80])), (Err(TableError::Missing), None, None));

    let mut lpm = Lpm::new(SHAPE, 4, 0).unwrap();
    assert!(is_invalid(lpm.insert(Prefix { key: &[0; 8], prefix_len: 33 }, &[0; 16])));
    assert!(is_invalid(lpm.insert(Prefix { key: &[0, 0, 0, 0, 0, 0, 0, 1], prefix_len: 31 }, &[0; 16])));
    assert!(lpm.insert(Prefix { key: &[9, 9, 9, 9, 0, 0, 0, 0], prefix_len: 0 }, &[0; 16]).is_ok());

    let mut ternary = Ternary::new(SHAPE, 0).unwrap();
    let all = Rule { value: &[0; 8], mask: &[0; 8], ranges: &[], priority: 0 };
    assert!(is_invalid(ternary.insert(Rule { value: &[1; 8], ..all }, &[0; 16])));
    assert!(is_invalid(ternary.insert(Rule { mask: &[0; 9], ..all }, &[0; 16])));
    for (offset, len, low, high) in
        [(0, 0, 0, 0), (0, 17, 0, 0), (7, 2, 0, 0), (usize::MAX, 2, 0, 0), (0, 2, 0, 65_536), (0, 2, 5, 4), (0, usize::MAX, 0, 0)]
    {
        assert!(is_invalid(ternary.insert(Rule { ranges: &[Range { offset, len, low, high }], ..all }, &[0; 16])));
    }
    assert!(exact.is_empty() && ternary.is_empty());
}

/// The same look-up through the signature that generated C uses.
#[test]
fn look_up_through_the_c_signature() {
    fn check<T: Table>(table: &T, key: [u8; 8]) {
        let View { lookup, table, .. } = table.view();
        let keys = [key, [0xee; 8]];
        let mut out = [std::ptr::null_mut(); 2];
        // SAFETY: a table, two keys of 8 bytes, room for two addresses.
        let hits = unsafe { lookup(table, keys.as_ptr().cast(), 8, 2, out.as_mut_ptr()) };
        assert_eq!((hits, out[0].is_null(), out[1].is_null()), (1, false, true));
        // SAFETY: a hit's record has 16 bytes.
        assert_eq!(unsafe { out[0].cast::<[u8; 16]>().read() }, value_of(77));
    }
    let key = 0x0a00_0001u64.to_be_bytes();
    let mut exact = Exact::new(SHAPE, 0).unwrap();
    exact.insert(&key, &value_of(77)).unwrap();
    check(&exact, key);
    let mut lpm = Lpm::new(SHAPE, 4, 0).unwrap();
    lpm.insert(Prefix { key: &0x0a00_0000u64.to_be_bytes(), prefix_len: 8 }, &value_of(77)).unwrap();
    check(&lpm, key);
    let mut ternary = Ternary::new(SHAPE, 0).unwrap();
    ternary.insert(Rule { value: &key, mask: &[255; 8], ranges: &[], priority: 1 }, &value_of(77)).unwrap();
    check(&ternary, key);
}
