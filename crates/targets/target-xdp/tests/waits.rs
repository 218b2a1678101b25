//! Changes on an attached program while packets run on another core: when a change returns, no packet is in flight that saw what was before.
//! So counts are final, and what is used again at once is seen by nobody who looked for what was there. Both ways of waiting.

#[path = "common/veth.rs"]
mod veth;

use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use target_api::{Ahead, Carried, Count, Target};
use target_xdp::{EntryPoints, Options, Waited, Xdp};
use veth::{Veths, veths_or_skip};

/// The key of the packets; others have entries, and no packets.
const KEY: u128 = 7;
/// Ages of the rule go round: each has a count of its own. The one behind them is of the others.
const AGES: u128 = 100;
const OTHERS: u128 = AGES + 1;
/// Entries of others that come and go with each change, in each of two tables of 32 homes.
const EACH: usize = 7;
/// `XDP_REDIRECT`.
const REDIRECT: u32 = 4;
/// Packets of one system call.
const REPEAT: u32 = 300;

#[test]
fn after_a_change_nobody_sees_what_was_before_by_counts() {
    changes_beside_packets("after_a_change_nobody_sees_what_was_before_by_counts", false, 2000);
}

#[test]
fn after_a_change_nobody_sees_what_was_before_by_the_kernel() {
    changes_beside_packets("after_a_change_nobody_sees_what_was_before_by_the_kernel", true, 60);
}

fn changes_beside_packets(name: &'static str, slow_waits: bool, changes: u128) {
    let own = sched_getaffinity(None).unwrap();
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| own.is_set(*core)).collect();
    let [first, .., last] = cores[..] else { return testkit::skip("needs two cores") };
    veths_or_skip(name, move |veths| {
        let bench = Bench::load(slow_waits, &veths);
        pin(first);
        let stop = AtomicBool::new(false);
        let run = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let (xdp, stop, run) = (&bench.xdp, &stop, &run);
            let packets = scope.spawn(move || {
                pin(last);
                packets(xdp, stop, run)
            });
            let mut writer =
                Writer { bench: &bench, others: Vec::new(), source: testkit::rng(11), counted: Count::default(), with_packets: 0 };
            let mut age = 0;
            // The scheduler may have other plans for the other core.
            while (age < changes || writer.with_packets < changes / 2) && age < 100 * changes && !packets.is_finished() {
                age += 1;
                writer.change(age);
            }
            stop.store(true, Ordering::Release);
            packets.join().unwrap();
            writer.take(age);
            // Every packet was counted once, in the cell of a rule that was in force, by the time that the rule had gone.
            let run = run.load(Ordering::Relaxed);
            assert_eq!((writer.counted.packets, writer.counted.bytes), (run, 60 * run));
            assert!(writer.with_packets >= changes / 2, "{} of {age} changes had packets", writer.with_packets);
        });
        bench.check(run.load(Ordering::Relaxed));
        let Waited { quick, slow } = bench.xdp.waited();
        println!("{quick} quick waits, {slow} slow ones");
        // A core may be taken away from its packet for so long that the kernel is asked.
        let (most, least) = if slow_waits { (slow, quick) } else { (quick, 2 * slow) };
        assert!(u128::from(most) >= changes && least <= most, "{quick} quick waits, {slow} slow ones");
        assert!(!slow_waits || quick == 0);
    });
}

/// The program of sessions that move: a key leads to a group, with a class to a rule, and that to a count and a way out.
struct Bench {
    ir: Arc<p4_ir::Ir>,
    xdp: Xdp,
}

impl Bench {
    fn load(slow_waits: bool, veths: &Veths) -> Bench {
        let ir = offload_kit::compile();
        let text = p4_emit::bpf::emit_xdp(&ir).unwrap();
        let options = Options { entry: EntryPoints::Interfaces, entries: 16, split_entries: 16, seed: 3, ..Options::default() };
        let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
        xdp.wait_by_kernel(slow_waits);
        xdp.attach(&veths.near[0].name, veths.near[0].index).unwrap();
        for port in 1..=3 {
            xdp.set_way_out(base::PortId(port), Some(veths.near[0].index)).unwrap();
        }
        // Test runs come in by the loopback interface, which is the first in its namespace.
        xdp.set_port(1, Some((base::PortId(0), 0))).unwrap();
        let bench = Bench { ir, xdp };
        let ops = [Op::Insert(bench.group(0)), Op::Insert(bench.filter(0)), bench.default(0), Op::Insert(bench.rule(0))];
        bench.xdp.apply(&Batch { ops: ops.to_vec() }).unwrap();
        bench
    }

    fn entry(&self, table: &str, keys: Vec<KeyMatch>, action: &str, args: Vec<u128>) -> Entry {
        let (table, action) = (self.ir.program.table(table).unwrap(), self.ir.program.action(action).unwrap());
        let priority = keys.iter().any(|key| matches!(key, KeyMatch::Ternary { .. })).into();
        Entry { table, keys, priority, action, args }
    }

    fn group(&self, age: u128) -> Entry {
        self.entry("by_key", vec![KeyMatch::Exact(KEY)], "classify", vec![age % AGES])
    }

    /// The class of odd packets; that of even ones is the default.
    fn filter(&self, age: u128) -> Entry {
        self.entry("filter", vec![KeyMatch::Ternary { value: 1, mask: 1 }], "set_class", vec![age % AGES])
    }

    fn default(&self, age: u128) -> Op {
        let (table, action) = (self.ir.program.table("filter").unwrap(), self.ir.program.action("set_class").unwrap());
        Op::SetDefault { table, action, args: vec![age % AGES] }
    }

    fn rule(&self, age: u128) -> Entry {
        let keys = vec![KeyMatch::Exact(age % AGES); 2];
        self.entry("by_class", keys, "rule", vec![1 + age % AGES, 0, age, 1 + age % 2])
    }

    fn usage(&self, cell: u128) -> Count {
        let (counter, _) = self.ir.program.counters.iter().find(|(_, c)| c.name.ends_with("usage")).unwrap();
        self.xdp.counter(counter, cell as u64)
    }

    /// None was dropped, handed on, or sent where others go.
    fn check(&self, run: u64) {
        let Carried { received, sent, dropped, slow_path } = self.xdp.carried();
        assert!(dropped.is_empty() && slow_path == 0, "{dropped:?} dropped, {slow_path} handed on");
        assert_eq!(received.values().map(|c| c.packets).collect::<Vec<_>>(), [run]);
        let ways: Vec<u16> = sent.keys().map(|port| port.0).collect();
        assert_eq!((ways, sent.values().map(|c| c.packets).sum::<u64>()), (vec![1, 2], run));
        assert_eq!(self.usage(OTHERS), Count::default());
    }
}

/// Packets of both kinds, as fast as the kernel runs them. `run` counts them.
fn packets(xdp: &Xdp, stop: &AtomicBool, run: &AtomicU64) {
    let program = xdp.program_fd().unwrap();
    let (mut output, mut kind) = ([0; 64], 0);
    while !stop.load(Ordering::Acquire) {
        kind ^= 1;
        let mut frame = [0; 60];
        (frame[3], frame[8]) = (KEY as u8, kind);
        let ended = target_xdp::sys::test_run(program.as_fd().as_raw_fd(), &frame, 0, &mut output, REPEAT).unwrap();
        run.fetch_add(REPEAT.into(), Ordering::Relaxed);
        assert_eq!(ended.action, REDIRECT, "it found half a change");
    }
}

struct Writer<'a> {
    bench: &'a Bench,
    /// Entries that nobody's packets find.
    others: Vec<Entry>,
    source: testkit::Rng,
    /// By all rules that have gone.
    counted: Count,
    with_packets: u128,
}

impl Writer<'_> {
    /// The rule of the age before gives way to the next.
    fn change(&mut self, age: u128) {
        let bench = self.bench;
        let (counter, _) = bench.ir.program.counters.iter().find(|(_, c)| c.name.ends_with("usage")).unwrap();
        let mut ops = vec![
            Op::ClearCounter { counter, index: (1 + age % AGES) as u64 },
            Op::Modify(bench.group(age)),
            Op::Modify(bench.filter(age)),
            bench.default(age),
            Op::Insert(bench.rule(age)),
            Op::Delete(bench.rule(age - 1)),
        ];
        ops.extend(self.others.drain(..).map(Op::Delete));
        // A mask that comes and goes, so that the list of masks does.
        let rare = bench.entry("filter", vec![KeyMatch::Ternary { value: 0xf0, mask: 0xff }], "set_class", vec![OTHERS]);
        ops.push(if age % 2 == 1 { Op::Insert(rare) } else { Op::Delete(rare) });
        bench.xdp.apply(&Batch { ops }).unwrap();
        let final_count = self.take(age - 1);
        // Into what has just become free.
        for _ in 0..EACH {
            let [key, group, class] = [0; 3].map(|_: u8| KeyMatch::Exact(self.source.random_range(AGES..250)));
            let args = || vec![OTHERS, 0, 0, 3];
            for (table, keys) in [("by_key", vec![key]), ("by_class", vec![group, class])] {
                let entry = bench.entry(table, keys, "rule", args());
                if self.others.iter().all(|other| (other.table, &other.keys) != (entry.table, &entry.keys)) {
                    self.others.push(entry);
                }
            }
        }
        bench.xdp.apply(&Batch { ops: self.others.iter().cloned().map(Op::Insert).collect() }).unwrap();
        assert_eq!(bench.usage(1 + (age - 1) % AGES), final_count, "a packet in flight has counted");
    }

    /// Adds the count of a rule that has gone.
    fn take(&mut self, age: u128) -> Count {
        let count = self.bench.usage(1 + age % AGES);
        self.counted.packets += count.packets;
        self.counted.bytes += count.bytes;
        self.with_packets += u128::from(count.packets > 0);
        count
    }
}

fn pin(core: usize) {
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).unwrap();
}
