//! Every table against its slow twin: the same random calls, the same answers.

mod slow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::cell::Cell;
use std::collections::HashMap;
use table::{BURST, Direct, Exact, Limits, Lpm, Prefix, Range, Rule, Shape, Table, TableError, Ternary, padded};

/// One call. Indices pick from the case's pool of identities.
#[derive(Clone, Debug)]
enum Call {
    Insert(Index, u8),
    Replace(Index, u8),
    Remove(Index),
    Flip,
    Settle,
    /// Keys: those that an identity of the pool suggests, with a byte changed or not.
    Burst(Vec<(Index, Index, Option<u8>)>),
}

fn call() -> impl Strategy<Value = Call> {
    let lane = (any::<Index>(), any::<Index>(), proptest::option::weighted(0.4, any::<u8>()));
    prop_oneof![
        5 => (any::<Index>(), any::<u8>()).prop_map(|(at, value)| Call::Insert(at, value)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, value)| Call::Replace(at, value)),
        2 => any::<Index>().prop_map(Call::Remove),
        1 => Just(Call::Flip),
        1 => Just(Call::Settle),
        3 => vec(lane, 0..=BURST).prop_map(Call::Burst),
    ]
}

/// How often each answer came, over all cases of a test.
#[derive(Default)]
struct Tally {
    hits: Cell<u64>,
    misses: Cell<u64>,
    inserted: Cell<u64>,
    exists: Cell<u64>,
    full: Cell<u64>,
    removed: Cell<u64>,
    missing: Cell<u64>,
    /// Replacements of entries that look-ups could see, or not yet; removals of the latter.
    replaced: Cell<u64>,
    replaced_unseen: Cell<u64>,
    removed_unseen: Cell<u64>,
    /// Bursts while changes were staged, and between flip and settling.
    beside_staged: Cell<u64>,
    before_settling: Cell<u64>,
    /// Look-ups that more than one entry matched.
    contested: Cell<u64>,
}

fn add(counter: &Cell<u64>, n: u64) {
    counter.set(counter.get() + n);
}

impl Tally {
    fn assert_rich(&self, contested: bool) {
        let of_sides =
            [&self.replaced, &self.replaced_unseen, &self.removed_unseen, &self.beside_staged, &self.before_settling].map(Cell::get);
        assert!(of_sides.iter().all(|n| *n >= 100), "replaced, replaced and removed unseen, beside staged, before settling: {of_sides:?}");
        let Tally { hits, misses, inserted, exists, full, removed, missing, .. } = self;
        let counts = [hits, misses, inserted, exists, full, removed, missing].map(Cell::get);
        assert!(counts.iter().all(|n| *n >= 100), "hits, misses, inserted, exists, full, removed, missing: {counts:?}");
        assert!(counts[0] >= 5_000 && counts[1] >= 5_000, "hits {}, misses {}", counts[0], counts[1]);
        assert!(!contested || self.contested.get() >= 500, "contested {}", self.contested.get());
    }
}

/// Drives both tables and compares every answer. `view` borrows an identity, `key_of` makes a key that
/// it matches.
fn drive<F, S, I>(
    fast: &mut F,
    slow: &mut S,
    pool: &[I],
    calls: &[Call],
    tally: &Tally,
    view: impl for<'a> Fn(&'a I) -> F::Match<'a>,
    key_of: impl Fn(&I) -> Vec<u8>,
) where
    F: Table,
    S: for<'a> Table<Match<'a> = F::Match<'a>>,
{
    let Shape { key_len, value_len, .. } = fast.shape();
    let filled = |byte: u8| -> Vec<u8> { (0..value_len).map(|i| byte.wrapping_add(i as u8)).collect() };
    let mut flipped = false;
    // Records that look-ups have given since the last settling, and what they held.
    let mut seen: HashMap<usize, Vec<u8>> = HashMap::new();
    let (mut staged, mut replaced_unseen) = (0, HashMap::new());
    for call in calls {
        let is_change = matches!(call, Call::Insert(..) | Call::Replace(..) | Call::Remove(..));
        if flipped && (is_change || matches!(call, Call::Flip | Call::Settle)) {
            // SAFETY: this is the only thread; no address is read after this.
            unsafe {
                fast.settle();
                slow.settle();
            }
            flipped = false;
            seen.clear();
        }
        match call {
            Call::Insert(at, byte) => {
                let at = at.index(pool.len());
                let answer = fast.stage_insert(view(&pool[at]), &filled(*byte));
                assert_eq!(answer, slow.stage_insert(view(&pool[at]), &filled(*byte)));
                match answer {
                    Ok(()) => {
                        add(&tally.inserted, 1);
                        staged += 1;
                        replaced_unseen.insert(at, false);
                    }
                    Err(TableError::Exists) => add(&tally.exists, 1),
                    Err(TableError::Full { capacity }) => {
                        assert_eq!((capacity, fast.len()), (fast.shape().capacity, capacity));
                        add(&tally.full, 1);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            Call::Replace(at, byte) => {
                let at = at.index(pool.len());
                let answer = fast.stage_replace(view(&pool[at]), &filled(*byte));
                assert_eq!(answer, slow.stage_replace(view(&pool[at]), &filled(*byte)));
                if answer.is_ok() {
                    staged += 1;
                    add(if replaced_unseen.contains_key(&at) { &tally.replaced_unseen } else { &tally.replaced }, 1);
                }
            }
            Call::Remove(at) => {
                let at = at.index(pool.len());
                let answer = fast.stage_remove(view(&pool[at]));
                assert_eq!(answer, slow.stage_remove(view(&pool[at])));
                add(if answer.is_ok() { &tally.removed } else { &tally.missing }, 1);
                if answer.is_ok() {
                    staged += 1;
                    add(&tally.removed_unseen, u64::from(replaced_unseen.remove(&at).is_some()));
                }
            }
            Call::Flip => {
                fast.flip();
                slow.flip();
                flipped = true;
                staged = 0;
                replaced_unseen.clear();
                // What look-ups on the other side may be reading is as it was.
                for (address, value) in &seen {
                    // SAFETY: a record that a look-up gave, and nothing has been settled since.
                    assert_eq!(unsafe { std::slice::from_raw_parts(*address as *const u8, value_len) }, value);
                }
            }
            Call::Settle => {}
            Call::Burst(lanes) => {
                // Keys at an odd distance, junk between them.
                let stride = padded(key_len) + 3;
                let mut keys = vec![0xa5; lanes.len() * stride + 8];
                for (i, (at, byte, change)) in lanes.iter().enumerate() {
                    let mut key = key_of(&pool[at.index(pool.len())]);
                    if let Some(change) = change {
                        key[byte.index(key_len)] = *change;
                    }
                    keys[i * stride..][..key_len].copy_from_slice(&key);
                }
                let sentinel = 0x55 as *mut u8;
                let mut out = vec![sentinel; lanes.len()];
                let mut expected = vec![sentinel; lanes.len()];
                let hits = fast.lookup_many(&keys, stride, &mut out);
                assert_eq!(hits, slow.lookup_many(&keys, stride, &mut expected));
                for i in 0..lanes.len() {
                    assert_eq!(out[i].is_null(), hits >> i & 1 == 0);
                    assert_eq!(expected[i].is_null(), out[i].is_null());
                    if !out[i].is_null() {
                        // SAFETY: records of `value_len` bytes, of tables that do not change meanwhile.
                        let of = |at: *mut u8| unsafe { std::slice::from_raw_parts(at, value_len) };
                        assert_eq!(of(out[i]), of(expected[i]), "lane {i}");
                        let address = out[i] as usize;
                        assert_eq!(address % 8, 0);
                        if value_len > 0 && padded(key_len) + value_len <= 64 {
                            assert_eq!(address / 64, (address + value_len - 1) / 64, "a record in two cache lines");
                        }
                        if value_len > 0 {
                            seen.insert(address, of(out[i]).to_vec());
                        }
                    }
                    let one = fast.lookup(&keys[i * stride..][..key_len]);
                    assert_eq!(one.map(|value| value.as_ptr()), (!out[i].is_null()).then_some(out[i].cast_const()));
                }
                add(&tally.beside_staged, u64::from(staged > 0));
                add(&tally.before_settling, u64::from(flipped));
                add(&tally.hits, hits.count_ones().into());
                add(&tally.misses, lanes.len() as u64 - u64::from(hits.count_ones()));
            }
        }
        assert_eq!((fast.len(), fast.is_empty()), (slow.len(), slow.is_empty()));
    }
    for identity in pool {
        assert_eq!(fast.get(view(identity)), slow.get(view(identity)));
    }
}

fn run<T: std::fmt::Debug>(cases: u32, strategy: impl Strategy<Value = T>, test: impl Fn(T)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    runner
        .run(&strategy, |case| {
            test(case);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// Few distinct byte values, so that identities collide and keys share parts.
fn bytes(len: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0u8), Just(1), Just(0x80), Just(0xff), any::<u8>()], len)
}

#[test]
fn exact() {
    let tally = Tally::default();
    let case = (1usize..=128, 0usize..=256, 1u64..=48, any::<u64>()).prop_flat_map(|(key_len, value_len, capacity, seed)| {
        (Just(Shape { key_len, value_len, capacity }), Just(seed), vec(bytes(key_len), 1..=40), vec(call(), 1..80))
    });
    run(400, case, |(shape, seed, mut pool, calls)| {
        pool.sort();
        pool.dedup();
        let (mut fast, mut twin) = (Exact::new(shape, seed).unwrap(), slow::Exact::new(shape));
        drive(&mut fast, &mut twin, &pool, &calls, &tally, |key| key.as_slice(), Clone::clone);
        let mut seen = 0;
        fast.for_each(|key, value| {
            assert_eq!(twin.get(key), Some(value));
            seen += 1;
        });
        assert_eq!(seen, twin.len());
    });
    tally.assert_rich(false);
}

#[test]
fn direct() {
    let tally = Tally::default();
    let case = (1usize..=3, 0usize..=256, 1u64..=30).prop_flat_map(|(key_len, value_len, capacity)| {
        (Just(Shape { key_len, value_len, capacity }), vec(bytes(key_len), 1..=40), vec(call(), 1..80))
    });
    run(400, case, |(shape, mut pool, calls)| {
        pool.sort();
        pool.dedup();
        let (mut fast, mut twin) = (Direct::new(shape).unwrap(), slow::Exact::new(shape));
        drive(&mut fast, &mut twin, &pool, &calls, &tally, |key| key.as_slice(), Clone::clone);
    });
    tally.assert_rich(false);
}

/// Clears the bits of a left-aligned field from `len` on.
fn cut(field: &mut [u8], len: usize) {
    for bit in len..8 * field.len() {
        field[bit / 8] &= !(0x80 >> (bit % 8));
    }
}

#[test]
fn lpm() {
    let tally = Tally::default();
    let many = Cell::new(0u64);
    let widths = prop_oneof![Just((0usize, 4usize)), Just((4, 4)), Just((0, 16)), Just((2, 16)), (0usize..=48, 1usize..=16)];
    // Some with enough routes for arrays of cells.
    let sizes = prop_oneof![6 => (1u64..=40).prop_map(|n| (n, 50, 80)), 1 => Just((140, 200, 500))];
    let case =
        (widths, 0usize..=80, sizes, any::<u64>()).prop_flat_map(|((exact_len, field_len), value_len, (capacity, routes, calls), seed)| {
            let shape = Shape { key_len: exact_len + field_len, value_len, capacity };
            let field = prop_oneof![vec(Just(0u8), field_len), bytes(field_len), vec(Just(0xffu8), field_len)];
            // Few exact parts, so that prefixes meet.
            let exact = prop_oneof![4 => Just(vec![7; exact_len]), 1 => bytes(exact_len)];
            let prefix = (exact, field, 0..=8 * field_len).prop_map(move |(mut key, mut field, len)| {
                cut(&mut field, len);
                key.extend(field);
                (key, len as u32)
            });
            (Just((shape, exact_len, seed)), vec(prefix, 1..=routes), vec(call(), 1..calls))
        });
    run(500, case, |((shape, exact_len, seed), mut pool, calls)| {
        pool.sort();
        pool.dedup();
        let mut fast = Lpm::new(shape, exact_len, seed).unwrap();
        let mut twin = slow::Lpm::with_exact(shape, exact_len);
        // Keys beyond the prefix: the prefix's own bits, then another member's, so that prefixes of several lengths fit.
        let longest = pool.iter().max_by_key(|(_, len)| *len).cloned().unwrap();
        let key_of = |(key, len): &(Vec<u8>, u32)| {
            let mut full = longest.0.clone();
            for bit in 0..8 * exact_len + *len as usize {
                let mask = 0x80 >> (bit % 8);
                full[bit / 8] = full[bit / 8] & !mask | key[bit / 8] & mask;
            }
            let fitting = pool.iter().filter(|(k, l)| same_bits(k, &full, 8 * exact_len + *l as usize)).count();
            add(&tally.contested, u64::from(fitting > 1));
            full
        };
        drive(&mut fast, &mut twin, &pool, &calls, &tally, |(key, prefix_len)| Prefix { key, prefix_len: *prefix_len }, key_of);
        add(&many, u64::from(fast.len() >= 60));
    });
    tally.assert_rich(true);
    assert!(many.get() >= 5, "{} cases with many routes", many.get());
}

fn same_bits(a: &[u8], b: &[u8], bits: usize) -> bool {
    (0..bits).all(|bit| (a[bit / 8] ^ b[bit / 8]) & (0x80 >> (bit % 8)) == 0)
}

#[derive(Clone, Debug, PartialEq)]
struct OwnedRule {
    value: Vec<u8>,
    mask: Vec<u8>,
    ranges: Vec<Range>,
    priority: u32,
}

impl OwnedRule {
    fn fits(&self, key: &[u8]) -> bool {
        (0..key.len()).all(|i| key[i] & self.mask[i] == self.value[i])
            && self.ranges.iter().all(|r| {
                let field = key[r.offset..][..r.len].iter().fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
                r.low <= field && field <= r.high
            })
    }

    fn view(&self) -> Rule<'_> {
        Rule { value: &self.value, mask: &self.mask, ranges: &self.ranges, priority: self.priority }
    }
}

fn rule(key_len: usize) -> impl Strategy<Value = OwnedRule> {
    let mask_byte = prop_oneof![3 => Just(0u8), 3 => Just(0xff), 1 => Just(0xf0), 1 => any::<u8>()];
    let range = (0..key_len, 1usize..=16, any::<u128>(), any::<u128>()).prop_map(move |(offset, len, a, b)| {
        let len = len.min(key_len - offset);
        let max = u128::MAX >> (128 - 8 * len);
        let (a, b) = (a & max, b & max);
        Range { offset, len, low: a.min(b), high: a.max(b) }
    });
    (bytes(key_len), vec(mask_byte, key_len), vec(range, 0..=2), 0u32..4).prop_map(|(mut value, mask, ranges, priority)| {
        value.iter_mut().zip(&mask).for_each(|(v, m)| *v &= m);
        OwnedRule { value, mask, ranges, priority }
    })
}

#[test]
fn ternary() {
    let tally = Tally::default();
    let lens = prop_oneof![3 => 1usize..=4, 2 => 1usize..=24, 1 => 60usize..=128];
    // Some with more rules than a list holds.
    let sizes = prop_oneof![5 => (1u64..=40).prop_map(|n| (n, 40, 80)), 2 => Just((140, 200, 500))];
    let (in_tuples, in_blocks, in_many_blocks) = (Cell::new(0u64), Cell::new(0u64), Cell::new(0u64));
    // Few rules reach each form: read through, one block or many with bitmaps, tuple space; or the usual limits.
    let few = (0usize..=8, 2usize..=32, 0usize..=160).prop_map(|(scan, block, list)| Limits { scan, block, list });
    let limits = prop_oneof![1 => Just(Limits::default()), 3 => few];
    let case =
        (lens, 0usize..=80, sizes, any::<u64>(), limits).prop_flat_map(|(key_len, value_len, (capacity, rules, calls), seed, limits)| {
            // None, some or all of the first bytes are compared by every rule.
            let common = prop_oneof![Just(0usize), 0..=key_len.min(12)];
            (
                Just((Shape { key_len, value_len, capacity }, seed, limits)),
                common,
                vec(rule(key_len), rules / 2..=rules),
                vec(call(), calls / 2..calls),
            )
        });
    run(500, case, |((shape, seed, limits), common, rules, calls)| {
        let mut pool: Vec<OwnedRule> = Vec::new();
        for mut rule in rules {
            rule.mask[..common].fill(0xff);
            // Few parts, so that rules meet.
            rule.value[..common].iter_mut().for_each(|byte| *byte &= 1);
            if !pool.contains(&rule) {
                pool.push(rule);
            }
        }
        let common: Vec<u8> = (0..shape.key_len).map(|i| if i < common { 0xff } else { 0 }).collect();
        let mut fast = Ternary::with_limits(shape, &common, seed, limits).unwrap();
        let mut twin = slow::Ternary::new(shape);
        let key_of = |rule: &OwnedRule| {
            // A member of the rule: low ends of its ranges, then the masked bits.
            let mut key = pool[0].value.clone();
            for r in &rule.ranges {
                key[r.offset..][..r.len].copy_from_slice(&r.low.to_be_bytes()[16 - r.len..]);
            }
            for (byte, (mask, value)) in key.iter_mut().zip(rule.mask.iter().zip(&rule.value)) {
                *byte = *byte & !mask | value;
            }
            add(&tally.contested, u64::from(pool.iter().filter(|rule| rule.fits(&key)).count() > 1));
            key
        };
        drive(&mut fast, &mut twin, &pool, &calls, &tally, OwnedRule::view, key_of);
        assert!(fast.masks() as u64 <= fast.len());
        add(&in_tuples, u64::from(fast.masks() > 0));
        add(&in_blocks, u64::from(fast.mapped_blocks() > 0));
        add(&in_many_blocks, u64::from(fast.mapped_blocks() > 3));
    });
    let forms = [&in_tuples, &in_blocks, &in_many_blocks].map(Cell::get);
    assert!(forms.iter().all(|tables| *tables >= 20), "tables with tuples, with bitmaps, with bitmaps of many blocks: {forms:?}");
    tally.assert_rich(true);
}

/// Filters as operators write them, in sets of hundreds, with the usual limits: changed in batches, and compared after each.
#[test]
fn large_filter_sets() {
    let mut rng = StdRng::seed_from_u64(7);
    for (filters, sets) in [(1_100, 2u8), (1_500, 1), (700, 4)] {
        let shape = Shape { key_len: 19, value_len: 8, capacity: filters };
        let common: Vec<u8> = (0..19).map(|i| if i < 4 { 0xff } else { 0 }).collect();
        let (mut fast, mut twin) = (Ternary::with_common(shape, &common, 3).unwrap(), slow::Ternary::new(shape));
        let mut present: Vec<OwnedRule> = Vec::new();
        let (mut hits, mut misses, mut contested) = (0, 0, 0);
        for batch in 0..12 {
            // Up to the capacity, then as many go as come.
            for _ in 0..filters / 4 {
                if present.len() as u64 == filters || (batch > 6 && !present.is_empty() && rng.random_bool(0.6)) {
                    let gone = present.swap_remove(rng.random_range(0..present.len()));
                    fast.stage_remove(gone.view()).unwrap();
                    twin.stage_remove(gone.view()).unwrap();
                }
                let rule = sdf_filter(&mut rng, sets);
                let value = rng.random::<[u8; 8]>();
                let answer = fast.stage_insert(rule.view(), &value);
                assert_eq!(answer, twin.stage_insert(rule.view(), &value));
                if answer.is_ok() {
                    present.push(rule);
                }
            }
            fast.commit();
            twin.commit();
            for _ in 0..8 {
                let mut keys = vec![0u8; BURST * 24];
                for key in keys.chunks_exact_mut(24) {
                    let rule = &present[rng.random_range(0..present.len())];
                    rng.fill(&mut key[4..19]);
                    for r in &rule.ranges {
                        let at = rng.random_range(r.low..=r.high).to_be_bytes();
                        key[r.offset..][..r.len].copy_from_slice(&at[16 - r.len..]);
                    }
                    (0..19).for_each(|i| key[i] = key[i] & !rule.mask[i] | rule.value[i]);
                    if rng.random_bool(0.3) {
                        key[rng.random_range(4..19)] ^= 1 << rng.random_range(0..8);
                    }
                }
                let (mut out, mut expected) = ([std::ptr::null_mut(); BURST], [std::ptr::null_mut(); BURST]);
                let found = fast.lookup_many(&keys, 24, &mut out);
                assert_eq!(found, twin.lookup_many(&keys, 24, &mut expected));
                for (i, key) in keys.chunks_exact(24).enumerate().filter(|(i, _)| found >> i & 1 == 1) {
                    // SAFETY: records of 8 bytes, of tables that do not change meanwhile.
                    let of = |at: *mut u8| unsafe { at.cast::<u64>().read_unaligned() };
                    assert_eq!(of(out[i]), of(expected[i]), "key {key:02x?}");
                    contested += u32::from(present.iter().filter(|rule| rule.fits(&key[..19])).take(2).count() == 2);
                }
                hits += found.count_ones();
                misses += found.count_zeros();
            }
        }
        assert!(fast.mapped_blocks() >= usize::from(sets), "{} blocks", fast.mapped_blocks());
        assert!(hits > 2_000 && misses > 100 && contested > 1_000, "{hits} hits, {misses} misses, {contested} contested");
        assert_eq!(fast.masks(), 0);
    }
}

/// Set, remote and local address, protocol, two ports, and the rest of a packet's filter fields (TS 29.244 §5.2.1A.2A).
fn sdf_filter(rng: &mut StdRng, sets: u8) -> OwnedRule {
    let mut rule = OwnedRule { value: vec![0; 19], mask: vec![0; 19], ranges: Vec::new(), priority: 0 };
    rule.mask[..4].fill(0xff);
    rule.value[3] = rng.random_range(0..sets);
    let prefix = [8u32, 13, 16, 24, 30, 32][rng.random_range(0..6)];
    rule.mask[4..8].copy_from_slice(&u32::MAX.checked_shl(32 - prefix).unwrap_or(0).to_be_bytes());
    rule.value[4..8].copy_from_slice(&[[10, 0, 0, 0], [10, 7, 0, 0], [198, 51, 100, 0]][rng.random_range(0..3)]);
    rng.fill(&mut rule.value[7..8]);
    rule.mask[12] = if rng.random_bool(0.7) { 0xff } else { 0 };
    rule.value[12] = [6, 17][rng.random_range(0..2)];
    for offset in [13, 15] {
        match rng.random_range(0..5) {
            0 => {
                rule.mask[offset..offset + 2].fill(0xff);
                rule.value[offset..offset + 2].copy_from_slice(&[1, rng.random()]);
            }
            1 => {
                let (a, b) = (rng.random::<u16>(), rng.random::<u16>() % 2_000);
                rule.ranges.push(Range { offset, len: 2, low: a.into(), high: a.saturating_add(b).into() });
            }
            _ => {}
        }
    }
    rule.value.iter_mut().zip(&rule.mask).for_each(|(value, mask)| *value &= mask);
    // Mostly narrow ones first, as a list that makes sense has them.
    rule.priority = if rng.random_bool(0.9) { prefix } else { rng.random_range(0..64) };
    rule
}
