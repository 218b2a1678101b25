//! Changes of the tables that no session owns, while packets flow: entries that come, change and go; and batches that must
//! be refused by all targets and change nothing.

use base::Bits;
use program::{Batch, Entry, KeyMatch, MatchKind, MeterConfig, Op, Program, TableId};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use upf::ids::Ids;

use crate::world::*;

/// Entries made here that are there now.
#[derive(Default)]
pub(crate) struct Churn {
    entries: Vec<Entry>,
}

impl Churn {
    /// Some inserts, changes and removals of firewall rules and routes. May be refused, where it repeats an identity.
    pub(crate) fn batch(&self, rng: &mut ChaCha8Rng, program: &Program, ids: &Ids) -> Batch {
        let mut ops: Vec<Op> = Vec::new();
        for _ in 0..rng.random_range(1..6) {
            let known = (!self.entries.is_empty()).then(|| self.entries[rng.random_range(0..self.entries.len())].clone());
            ops.push(match (rng.random_range(0..4), known) {
                (0, Some(entry)) => Op::Delete(entry),
                (1, Some(mut entry)) => {
                    give_action(rng, ids, &mut entry);
                    Op::Modify(entry)
                }
                _ => Op::Insert(new_entry(rng, program, ids)),
            });
        }
        Batch { ops }
    }

    /// Follows a batch that was applied.
    pub(crate) fn follow(&mut self, batch: &Batch) {
        let same = |a: &Entry, b: &Entry| (a.table, &a.keys, a.priority) == (b.table, &b.keys, b.priority);
        for op in &batch.ops {
            match op {
                Op::Insert(e) => self.entries.push(e.clone()),
                Op::Delete(e) => self.entries.retain(|known| !same(known, e)),
                _ => {}
            }
        }
    }
}

fn new_entry(rng: &mut ChaCha8Rng, program: &Program, ids: &Ids) -> Entry {
    let tables = [ids.tables.firewall_v4, ids.tables.firewall_v6, ids.tables.route_ipv4, ids.tables.route_ipv6];
    let table = tables[rng.random_range(0..4)];
    let v4 = table == ids.tables.firewall_v4 || table == ids.tables.route_ipv4;
    let keys = program.tables[table].keys.iter().map(|key| {
        let all = Bits::mask(key.width);
        let address = key.width == 32 || key.width == 128;
        let value: u128 = match address {
            true if v4 => u32::from(if rng.random_bool(0.5) { remote_v4(rng) } else { ue_v4(rng.random_range(1..40)) }).into(),
            true => u128::from(if rng.random_bool(0.5) { remote_v6(rng) } else { ue_v6(rng.random_range(1..40), 1) }),
            false if key.kind == MatchKind::Range => l4_port(rng).into(),
            false if key.width == 8 => l4_protocol(rng).into(),
            false => rng.random_range(1..4),
        };
        match key.kind {
            MatchKind::Exact => KeyMatch::Exact(value),
            MatchKind::Lpm => {
                let prefix_len = if rng.random_bool(0.1) { 0 } else { rng.random_range(key.width / 2..=key.width) };
                KeyMatch::Lpm { value: value & !Bits::mask(key.width - prefix_len), prefix_len }
            }
            MatchKind::Ternary => {
                // Also masks that are no prefixes.
                let mask = [0, 0, all, all & !0xff, rng.random::<u128>() & all][rng.random_range(0..5)];
                KeyMatch::Ternary { value: value & mask, mask }
            }
            MatchKind::Range if rng.random_bool(0.6) => KeyMatch::Range { low: 0, high: all },
            MatchKind::Range => KeyMatch::Range { low: value, high: value.saturating_add(rng.random_range(0..3000)).min(all) },
            MatchKind::Optional => KeyMatch::Optional(rng.random_bool(0.5).then_some(value)),
        }
    });
    let keys: Vec<KeyMatch> = keys.collect();
    // Few priorities, so that the order of insertion decides too.
    let ranked = table == ids.tables.firewall_v4 || table == ids.tables.firewall_v6;
    let priority = if ranked { rng.random_range(0..14) } else { 0 };
    let mut entry = Entry { table, keys, priority, action: ids.actions.permit, args: vec![] };
    give_action(rng, ids, &mut entry);
    entry
}

fn give_action(rng: &mut ChaCha8Rng, ids: &Ids, entry: &mut Entry) {
    if entry.table == ids.tables.route_ipv4 || entry.table == ids.tables.route_ipv6 {
        // Numbers of the configuration's next hops, and one that is not there.
        entry.action = ids.actions.set_nexthop;
        entry.args = vec![if rng.random_bool(0.1) { 4000 } else { rng.random_range(1..12) }];
    } else {
        entry.action = if rng.random_bool(0.8) { ids.actions.permit } else { ids.actions.deny };
    }
}

/// A batch of sound changes, the last of which does not fit; or of more entries than a table holds.
pub(crate) fn misfit(rng: &mut ChaCha8Rng, program: &Program, ids: &Ids) -> Batch {
    let station = |port: u16, mac: u128| Entry {
        table: ids.tables.station,
        keys: vec![KeyMatch::Exact(port.into()), KeyMatch::Exact(mac)],
        priority: 0,
        action: ids.actions.station_route,
        args: vec![1],
    };
    let ours = mac(PORT_N3).iter().fold(0u128, |bits, b| bits << 8 | u128::from(*b));
    let known = station(PORT_N3.0, ours);
    let config = MeterConfig { cir: 1, cbs: 1, pir: 1, pbs: 1 };
    let mut ops = vec![
        Op::Insert(station(7, 7)),
        Op::ClearCounter { counter: ids.usage, index: rng.random_range(0..40) },
        Op::Meter { meter: ids.mbr, index: rng.random_range(1..40), config: rng.random_bool(0.5).then_some(config) },
        Op::Meter { meter: ids.class_rate, index: rng.random_range(1..8), config: None },
        Op::Modify(Entry { args: vec![9], ..known.clone() }),
        Op::Delete(known.clone()),
        Op::Insert(Entry { args: vec![8], ..known.clone() }),
        Op::Delete(station(7, 7)),
    ];
    let last = match rng.random_range(0..5) {
        0 => Op::Insert(known),
        1 => Op::Delete(station(7, 7)),
        2 => Op::Modify(station(7, 8)),
        // No such port: wider than its key.
        3 => Op::Insert(station(512, 0)),
        _ => {
            ops.extend(overflow(program, ids.tables.local_ipv4, ids));
            Op::Delete(known)
        }
    };
    ops.push(last);
    Batch { ops }
}

fn overflow(program: &Program, table: TableId, ids: &Ids) -> impl Iterator<Item = Op> {
    (0..=u128::from(program.tables[table].size)).map(move |n| {
        let keys = vec![KeyMatch::Exact(77), KeyMatch::Exact(n)];
        Op::Insert(Entry { table, keys, priority: 0, action: ids.actions.host_v4, args: vec![] })
    })
}
