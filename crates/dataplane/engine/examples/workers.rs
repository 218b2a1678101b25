//! What do a second worker and a master cost and bring? Packets a second of one and two workers, each on ports of its own, and
//! behind a master, over memory ports: `cargo run --release -p engine --example workers`.
//!
//! The program is a stand-in: a hash, a look-up in a table of 4 MiB, a checksum over the frame. Rounds are interleaved and medians
//! shown. Beside packets per second stands what one packet costs each thread in processor time, which tells more where others
//! use the machine too: packets per second of processor time, summed over workers, is what they would do on cores of their own.

use base::{PortId, Verdict};
use crossbeam_channel::bounded;
use engine::{Engine, Settings, WorkerPorts};
use pktio::LoopPort;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::Target;
use target_kit::stand_in;

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(300);
const ENTRIES: usize = 1 << 19;

fn program(table: Vec<u64>) -> Arc<dyn Target> {
    stand_in(move |packet| {
        let entry = table[hash(packet.data(), packet.port) as usize % ENTRIES];
        let sum = packet.data().chunks_exact(2).fold(entry, |sum, c| sum + u64::from(u16::from_be_bytes([c[0], c[1]])));
        packet.data_mut()[..8].copy_from_slice(&sum.to_be_bytes());
        Verdict::forward(PortId(1))
    })
}

fn hash(frame: &[u8], _: PortId) -> u32 {
    let key = frame[30..].first_chunk().map_or(0, |b| u32::from_be_bytes(*b));
    (u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[derive(Clone, Copy)]
enum Way {
    Own,
    Master,
}

/// A round: packets per second in millions, and nanoseconds of processor time a packet of master and workers.
fn round(target: &Arc<dyn Target>, way: Way, workers: usize, cores: &[usize]) -> Result<[f64; 4], Box<dyn std::error::Error>> {
    let frames = |share: usize| (0..4096u32).map(|n| frame(n * 2 + share as u32)).collect::<Vec<_>>();
    let ports = |share: usize| -> Result<WorkerPorts, pktio::PortError> {
        let (source, sink) = (LoopPort::new("source", &frames(share), None)?, LoopPort::new("sink", &frames(share)[..1], Some(0))?);
        Ok(vec![(PortId(0), Box::new(source)), (PortId(1), Box::new(sink))])
    };
    let (events, _events) = bounded(16);
    let settings = Settings { cores: cores.to_vec(), when_full: engine::WhenFull::Wait, ..Settings::default() };
    let engine = match way {
        Way::Own => Engine::start(target, (0..workers).map(ports).collect::<Result<_, _>>()?, settings, events)?,
        Way::Master => Engine::start_steered(target, ports(0)?, hash, workers, settings, events)?,
    };
    std::thread::sleep(Duration::from_millis(20));
    let (begin, sent, times) = (Instant::now(), transmitted(&engine), thread_times());
    std::thread::sleep(ROUND);
    let (span, sent, now) = (begin.elapsed(), transmitted(&engine) - sent, thread_times());
    engine.stop();
    if engine.ledger().imbalance() != 0 || !engine.ledger().dropped.is_empty() {
        return Err(format!("packets were lost: {:?}", engine.ledger()).into());
    }
    let spent = |name: &str| -> f64 {
        let of = |t: &BTreeMap<String, u64>| t.iter().filter(|(n, _)| n.starts_with(name)).map(|(_, ns)| *ns).sum::<u64>();
        (of(&now) - of(&times)) as f64
    };
    let (master, worker) = (spent("master"), spent("worker"));
    let alone = workers as f64 * sent as f64 / worker * 1e3;
    Ok([sent as f64 / span.as_secs_f64() / 1e6, master / sent as f64, worker / sent as f64, alone])
}

fn frame(n: u32) -> Vec<u8> {
    let mut frame = vec![7; 64];
    frame[30..34].copy_from_slice(&n.to_be_bytes());
    frame
}

fn transmitted(engine: &Engine) -> u64 {
    engine.ledger().ports.values().map(|p| p.transmitted.packets).sum()
}

/// Nanoseconds on a processor of each thread of ours, by name.
fn thread_times() -> BTreeMap<String, u64> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |path: std::path::PathBuf| {
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        let stat = std::fs::read_to_string(path.join("schedstat")).ok()?;
        Some((name.trim().to_owned(), stat.split_whitespace().next()?.parse().ok()?))
    };
    tasks.filter_map(|task| time(task.path())).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cores: Vec<usize> = (0..std::thread::available_parallelism()?.get()).collect();
    let target = program((0..ENTRIES as u64).collect());
    let all = [
        ("1 worker, own ports", Way::Own, 1),
        ("2 workers, own ports", Way::Own, 2),
        ("master and 1 worker", Way::Master, 1),
        ("master and 2 workers", Way::Master, 2),
    ];
    let mut figures = vec![Vec::new(); all.len()];
    for _ in 0..ROUNDS {
        for (rounds, (_, way, workers)) in figures.iter_mut().zip(all) {
            rounds.push(round(&target, way, workers, &cores)?);
        }
    }
    println!("{} cores; medians of {ROUNDS} interleaved rounds of {} ms", cores.len(), ROUND.as_millis());
    println!("{:<22} {:>8} {:>16} {:>17} {:>20}", "", "Mpps", "master ns/packet", "workers ns/packet", "Mpps of worker time");
    for (rounds, (name, ..)) in figures.iter().zip(all) {
        let median = |i: usize| {
            let mut column: Vec<f64> = rounds.iter().map(|r| r[i]).collect();
            column.sort_by(f64::total_cmp);
            column[column.len() / 2]
        };
        println!("{name:<22} {:>8.2} {:>16.1} {:>17.1} {:>20.2}", median(0), median(1), median(2), median(3));
    }
    Ok(())
}
