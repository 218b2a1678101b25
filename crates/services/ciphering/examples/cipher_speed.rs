//! What does ciphering cost beside the library's own best calls, and what does a packet cost that is alone in the queue? The engine's rows of `bench services cipher`, without the rest
//! of the program. Times are those that the processor gave us, and rounds take turns, so a busy machine matters less.
//!
//! `cargo run --release -p ciphering --example cipher_speed`

use ciphering::{Alone, Choice, Direction, Engine, Job, Key, MAC_LEN, Nea, Nia, Outcome, Step};

const PACKETS: usize = 1024;
const BURST: usize = 32;
const ROUNDS: usize = 15;
const ROUND_NS: u64 = 20_000_000;

fn main() {
    let mut engine = match Engine::new(Choice::IpsecMb) {
        Ok(engine) => engine,
        Err(why) => return println!("skipped: {why}"),
    };
    println!("{}: Mpps in bursts of {BURST}, of the library alone, and us for one packet alone", engine.name());
    let (nea, nia) = ([Nea::Nea1, Nea::Nea2, Nea::Nea3], [Nia::Nia1, Nia::Nia2, Nia::Nia3]);
    let single = nea.map(|nea| (Some(nea), None)).into_iter().chain(nia.map(|nia| (None, Some(nia))));
    let pairs = (0..3).map(|at| (Some(nea[at]), Some(nia[at])));
    for (nea, nia) in single.chain(pairs) {
        for size in [64, 1400] {
            let set = Set::new(&engine, nea, nia);
            let mut data = [bytes(nia, size), bytes(nia, size)];
            let [ours, library] = &mut data;
            let mut jobs = set.jobs(ours);
            let mut alone = Alone::new(set.jobs(library), BURST).expect("the library has each of these");
            let mut rounds: [Vec<f64>; 4] = Default::default();
            for _ in 0..ROUNDS {
                let seam = time(|| jobs.chunks_mut(BURST).for_each(|jobs| run(&mut engine, jobs)));
                let own = time(|| assert!(alone.run()));
                let one = time(|| jobs.chunks_mut(1).for_each(|jobs| run(&mut engine, jobs)));
                for (rounds, value) in rounds.iter_mut().zip([1e3 / seam, 1e3 / own, own / seam, one / 1e3]) {
                    rounds.push(value);
                }
            }
            let [seam, own, ratio, one] = rounds.map(median);
            println!("{nea:?} {nia:?} {size} B: {seam:.1}, library {own:.1}: {ratio:.2}; alone {one:.2}");
        }
    }
}

struct Set {
    cipher: Vec<Key<Nea>>,
    integrity: Vec<Key<Nia>>,
}

impl Set {
    fn new(engine: &Engine, nea: Option<Nea>, nia: Option<Nia>) -> Set {
        let key = |i: usize| std::array::from_fn(|at| (i * 31 + at * 7) as u8);
        Set {
            cipher: nea.iter().flat_map(|nea| (0..PACKETS).map(|i| engine.cipher_key(*nea, &key(i)))).collect(),
            integrity: nia.iter().flat_map(|nia| (0..PACKETS).map(|i| engine.integrity_key(*nia, &key(i + 5)))).collect(),
        }
    }

    fn jobs<'a>(&'a self, data: &'a mut [Vec<u8>]) -> Vec<Job<'a>> {
        let job = |(i, data): (usize, &'a mut Vec<u8>)| Job {
            cipher: self.cipher.get(i),
            integrity: self.integrity.get(i),
            count: i as u32,
            bearer: (i % 32) as u8,
            direction: Direction::Downlink,
            step: Step::Protect,
            clear: 0,
            data,
            outcome: Outcome::Pending,
        };
        data.iter_mut().enumerate().map(job).collect()
    }
}

fn bytes(nia: Option<Nia>, size: usize) -> Vec<Vec<u8>> {
    (0..PACKETS).map(|i| vec![i as u8; size + nia.map_or(0, |_| MAC_LEN)]).collect()
}

fn run(engine: &mut Engine, jobs: &mut [Job<'_>]) {
    engine.run(jobs);
    assert!(jobs.iter().all(|job| job.outcome == Outcome::Done));
}

/// Nanoseconds a packet; `pass` is of all of them once.
fn time(mut pass: impl FnMut()) -> f64 {
    pass();
    let (begin, mut passes) = (processor_ns(), 0);
    loop {
        pass();
        passes += 1;
        let spent = processor_ns() - begin;
        if spent > ROUND_NS {
            return spent as f64 / (passes * PACKETS) as f64;
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Time that the processor has given this thread.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with schedstats");
    text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}
