//! Entries a second that batches of 1, 64 and 1000 insert into the UPF's session tables while a lane runs bursts on another thread.
//!
//! `cargo run --release --example apply -p target-x86 [-- ENTRIES]`: half of the entries, by default 1,200,000, go to `pdr_by_ue_ipv4`, half to
//! `pdr_by_teid`; then they are removed in batches of 1000. Rates are by the clock and by the time of the thread itself, as machines are shared with
//! others; the lane's rate is compared with that of rounds in which nothing is applied, just before each.

use base::{Packet, PortId, Verdict};
use program::{Batch, Entry, KeyMatch, Op, Program};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use target::{Lane, Target};
use target_x86::{Options, X86};

/// Entries that are there from the start, which the lane looks up.
const RESIDENT: u64 = 50_000;
/// Port towards the data network.
const N6: PortId = PortId(128);
/// Between two looks at the rate.
const ROUND: Duration = Duration::from_millis(150);

fn main() {
    let entries: u64 = std::env::args().nth(1).map_or(1_200_000, |n| n.parse().expect("a number of entries"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
    let mut options = p4_check::Options::default();
    options.defines.insert("SESSIONS".into(), (entries / 2 + RESIDENT).next_power_of_two().to_string());
    let mut ir = p4_check::compile_file(&path, &options).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).expect("passes");
    let text = p4_emit::emit_x86(&ir).unwrap_or_else(|e| panic!("{e}"));
    let program = Arc::new(ir.program.clone());

    for batch in [1, 64, 1_000] {
        let x86 = X86::load(program.clone(), &text, &Options { seed: 7, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
        let station = Entry {
            table: program.table("station").expect("a table of the UPF"),
            keys: vec![KeyMatch::Exact(N6.0.into()), KeyMatch::Exact(0)],
            priority: 0,
            action: program.tables[program.table("station").expect("a table")].actions[0].action,
            args: vec![0],
        };
        x86.apply(&Batch { ops: vec![Op::Insert(station)] }).expect("room");
        let resident: Vec<Op> = (0..RESIDENT).flat_map(|i| session(&program, i).map(Op::Insert)).collect();
        x86.apply(&Batch { ops: resident }).expect("room");
        // Batches are made beforehand, as this is not about making them.
        let all: Vec<Entry> = (RESIDENT..RESIDENT + entries / 2).flat_map(|i| session(&program, i)).collect();
        let batches = |size: usize, op: fn(Entry) -> Op| -> Vec<Batch> {
            all.chunks(size).map(|chunk| Batch { ops: chunk.iter().cloned().map(op).collect() }).collect()
        };
        let (inserts, removals) = (batches(batch, Op::Insert), batches(1_000, Op::Delete));
        let (bursts, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let reader_ns = AtomicU64::new(0);
        let mut lane = x86.lane(0);
        std::thread::scope(|scope| {
            scope.spawn(|| run_lane(&mut *lane, &bursts, &reader_ns, &stop));
            let look = || (Instant::now(), bursts.load(Ordering::Relaxed), reader_ns.load(Ordering::Relaxed));
            // Packets a second of the lane, by the clock and by its own time, in millions.
            let rate = |(begin, before, before_ns): (Instant, u64, u64)| {
                let (_, now, now_ns) = look();
                let packets = 64.0 * (now - before) as f64;
                (packets / begin.elapsed().as_secs_f64() / 1e6, packets * 1e3 / (now_ns - before_ns).max(1) as f64)
            };
            let apply = |what: &str, batches: &[Batch]| {
                let start = look();
                std::thread::sleep(ROUND);
                let idle = rate(start);
                let (start, begin_ns) = (look(), thread_ns());
                batches.iter().for_each(|batch| x86.apply(batch).expect("it fits"));
                let (clock, own) = (start.0.elapsed(), thread_ns() - begin_ns);
                let busy = rate(start);
                let n = all.len() as f64;
                println!(
                    "{what}: {:.2} M entries/s, {:.2} by the thread's time; the lane goes on at {:.0} % of {:.1} Mpps, {:.0} % of {:.1} by its time",
                    n / clock.as_secs_f64() / 1e6,
                    n * 1e3 / own as f64,
                    100.0 * busy.0 / idle.0,
                    idle.0,
                    100.0 * busy.1 / idle.1,
                    idle.1,
                );
            };
            while bursts.load(Ordering::Relaxed) < 10_000 {
                std::thread::sleep(Duration::from_millis(1));
            }
            apply(&format!("insert {} entries, batches of {batch}", all.len()), &inserts);
            apply("remove them, batches of 1000", &removals);
            stop.store(true, Ordering::Relaxed);
        });
        let hits = x86.table_stats(program.table("pdr_by_ue_ipv4").expect("a table of the UPF"));
        assert!(hits.hits > 600_000 && hits.misses == 0, "the lane did not find what stays: {hits:?}");
        let held: u64 = program.tables.keys().map(|table| x86.table_stats(table).entries).sum();
        let constant: u64 = program.tables.values().map(|table| table.entries.len() as u64).sum();
        assert_eq!(held - constant, 2 * RESIDENT + 1, "what was removed is still there");
    }
}

/// A session's entries in the two tables, for direct forwarding.
fn session(program: &Program, i: u64) -> [Entry; 2] {
    let action = program.action("set_pdr").expect("an action of the UPF");
    let of = |name: &str, keys: [u128; 2]| Entry {
        table: program.table(name).expect("a table of the UPF"),
        keys: keys.map(KeyMatch::Exact).to_vec(),
        priority: 0,
        action,
        args: program.actions[action].params.iter().map(|p| u128::from(i) & base::Bits::mask(p.width.min(6))).collect(),
    };
    [of("pdr_by_ue_ipv4", [0, address(i).into()]), of("pdr_by_teid", [0x0a00_0001, u128::from(i) + 1])]
}

fn address(i: u64) -> u32 {
    0x0a00_0000 | i as u32
}

/// Runs bursts of packets to resident UEs until told to stop.
fn run_lane(lane: &mut dyn Lane, bursts: &AtomicU64, reader_ns: &AtomicU64, stop: &AtomicBool) {
    let frame = |i: u64| {
        let mut bytes = vec![0u8; 64];
        bytes[12..14].copy_from_slice(&[8, 0]);
        bytes[14..18].copy_from_slice(&[0x45, 0, 0, 50]);
        bytes[22..24].copy_from_slice(&[64, 17]);
        bytes[26..30].copy_from_slice(&[192, 0, 2, 1]);
        bytes[30..34].copy_from_slice(&address(i).to_be_bytes());
        let sum: u32 = bytes[14..34].chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum();
        bytes[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
        Packet::new(&bytes, N6)
    };
    let fresh: Vec<Packet> = (0..4096).map(|i: u64| frame(i.wrapping_mul(0x9e37_79b9) % RESIDENT)).collect();
    let mut verdicts = [Verdict::default(); 64];
    for done in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let from = done as usize * 64 % fresh.len();
        let mut packets = fresh[from..from + 64].to_vec();
        lane.process(&mut packets, &mut verdicts, done * 1_000);
        bursts.store(done + 1, Ordering::Relaxed);
        if done % 64 == 0 {
            reader_ns.store(thread_ns(), Ordering::Relaxed);
        }
    }
}

/// Time that this thread has run, from what the system says of it.
fn thread_ns() -> u64 {
    // Without a crate for the clock: the first number is nanoseconds on a core.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
