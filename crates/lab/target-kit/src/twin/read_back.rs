//! Random batches and packets, and after them all tables read back: the same entries, actions, arguments and direct counters as in the interpreter.

use super::{Native, Pair, rng};
use base::PortId;
use p4_interp::Mode;
use program::Op;
use rand::Rng;
use target_api::Target;

/// Runs it on a native target.
pub fn what_tables_hold_is_read_back<T: Native>(mode: Mode, choice: &T::Choice) {
    let text = include_str!("read_back.p4");
    let compiled = p4_check::compile_str("read_back.p4", text, &p4_check::Options::default());
    let mut ir = compiled.unwrap_or_else(|failure| panic!("{failure}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let mut pair: Pair<T> = Pair::load(ir, 9, mode, choice);
    let mut source = rng(99);
    let (mut changed, mut removed, mut most, mut counted) = (0, 0, 0, 0);
    for round in 0..8 {
        let packets: Vec<_> = (0..200)
            .map(|_| {
                let [a, b, c, d] = [0..40u16, 0..12, 0..16, 0..9].map(|range| source.random_range(range));
                let mut bytes = a.to_be_bytes().to_vec();
                bytes.extend((u32::from(b) << 26).to_be_bytes());
                bytes.extend((c << 12 | d).to_be_bytes());
                bytes.resize(source.random_range(8..90), 7);
                (bytes, PortId(2))
            })
            .collect();
        pair.run(&packets);
        pair.fill(0.3);
        let held: Vec<_> = pair.ir.program.tables.keys().flat_map(|table| pair.machine.entries(table)).collect();
        for entry in held {
            if pair.ir.program.tables[entry.table].const_entries || pair.rng.random_bool(0.8) {
                continue;
            }
            let op = if pair.rng.random_bool(0.4) { Op::Delete(entry.clone()) } else { Op::Modify(entry.clone()) };
            (changed, removed) = (changed + u64::from(matches!(op, Op::Modify(_))), removed + u64::from(matches!(op, Op::Delete(_))));
            // One batch that deletes an entry and inserts it anew: it counts from zero.
            let ops = if matches!(op, Op::Delete(_)) && round % 2 == 0 { vec![op, Op::Insert(entry)] } else { vec![op] };
            // The kernel's look-ups go through a limited number of masks.
            let _ = pair.apply(ops);
        }
        pair.run(&packets);
        pair.check_state();
        for chunk in [1, 7, 100_000] {
            let (all, hit) = pair.check_entries(chunk);
            (most, counted) = (most.max(all), counted.max(hit));
        }
    }
    println!("up to {most} entries, {counted} of them counted; {changed} changed, {removed} removed");
    assert!(
        most > 300 && counted > 60 && changed > 40 && removed > 40,
        "{most} entries, {counted} counted, {changed} changed, {removed} removed"
    );
    let table = program::TableId::from_u32(99);
    assert!(pair.native.facets().tables.unwrap().entries(table, None, 9).is_empty(), "there is no such table");
}
