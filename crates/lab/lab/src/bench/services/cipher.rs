//! `bench services cipher`: how fast are PDCP's ciphers through the seam, beside the library's own calls, with a key for each packet?
//!
//! Every packet of the set has keys of its own. The library's calls alone get operations that were made beforehand: no checks, no
//! grouping, no start values. Where a MAC is computed and the packet ciphered, they are called for one after the other, as the seam does.

use crate::bench::measure::{Rounds, thread_time};
use crate::bench::options::Common;
use crate::bench::report;
use ciphering::{Alone, Choice, Direction, Engine, Job, Key, MAC_LEN, Nea, Nia, Outcome, Step};
use cli::failure::Failure;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

/// Packets, each with keys of its own.
const PACKETS: usize = 1024;
/// Packets of a burst.
const BURST: usize = 32;

/// Options of `bench services cipher`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Bytes of a packet.
    #[arg(long, value_delimiter = ',', default_value = "64,1400", value_parser = clap::value_parser!(u32).range(1..=8000))]
    sizes: Vec<u32>,
    #[command(flatten)]
    common: Common,
}

/// What is done to each packet.
type Case = (Option<Nea>, Option<Nia>);

const CASES: [Case; 9] = [
    (Some(Nea::Nea1), None),
    (Some(Nea::Nea2), None),
    (Some(Nea::Nea3), None),
    (None, Some(Nia::Nia1)),
    (None, Some(Nia::Nia2)),
    (None, Some(Nia::Nia3)),
    (Some(Nea::Nea1), Some(Nia::Nia1)),
    (Some(Nea::Nea2), Some(Nia::Nia2)),
    (Some(Nea::Nea3), Some(Nia::Nia3)),
];

/// Runs it; the figures as JSON.
pub(super) fn cipher(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    println!("bench services cipher: {PACKETS} packets, each with keys of its own, in bursts of {BURST}; one core, by this thread's time");
    let mut rows = Vec::new();
    for size in &args.sizes {
        for case in CASES {
            rows.extend(contest(case, *size as usize, common)?);
        }
    }
    let figures = json!({ "bench": "services cipher", "machine": machine, "round_ms": common.round().as_millis() as u64, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// Packets and keys for one engine.
struct Set {
    data: Vec<Vec<u8>>,
    cipher: Vec<Key<Nea>>,
    integrity: Vec<Key<Nia>>,
}

impl Set {
    /// The same of everything for each engine.
    fn new(engine: &Engine, case: Case, size: usize) -> Set {
        let mut rng = StdRng::seed_from_u64(5);
        let mut set = Set { data: Vec::new(), cipher: Vec::new(), integrity: Vec::new() };
        for _ in 0..PACKETS {
            let mac = case.1.map_or(0, |_| MAC_LEN);
            set.data.push((0..size + mac).map(|_| rng.random()).collect());
            set.cipher.extend(case.0.map(|nea| engine.cipher_key(nea, &rng.random())));
            set.integrity.extend(case.1.map(|nia| engine.integrity_key(nia, &rng.random())));
        }
        set
    }

    fn jobs(&mut self) -> Vec<Job<'_>> {
        let Set { data, cipher, integrity } = self;
        let (cipher, integrity) = (&*cipher, &*integrity);
        let jobs = data.iter_mut().enumerate().map(|(i, data)| Job {
            cipher: cipher.get(i),
            integrity: integrity.get(i),
            count: i as u32,
            bearer: (i % 32) as u8,
            direction: Direction::Downlink,
            step: Step::Protect,
            clear: 0,
            data,
            outcome: Outcome::Pending,
        });
        jobs.collect()
    }
}

/// One case and size: the seam over each implementation, the library alone, and a packet alone in the queue.
fn contest((nea, nia): Case, size: usize, common: &Common) -> Result<Vec<Value>, Failure> {
    let names = [nea.map(|nea| format!("{nea:?}")), nia.map(|nia| format!("{nia:?}"))];
    let what = format!("{}, {size} B", names.into_iter().flatten().collect::<Vec<_>>().join(" + ").to_uppercase());
    let verified = verify((nea, nia), size)?;
    let mut portable = Engine::new(Choice::Portable).map_err(failed)?;
    let mut of_portable = Set::new(&portable, (nea, nia), size);
    let mut of_portable = of_portable.jobs();
    let mut rates = Rounds::default();
    let mut rows = Vec::new();
    let mut add = |row: Value| {
        report::print_rate(&row);
        rows.push(row);
    };
    let Ok(mut library) = Engine::new(Choice::IpsecMb) else {
        for _ in 0..common.rounds() {
            rates.0.push(burst_rate(&mut portable, &mut of_portable, BURST, common)?);
        }
        add(report::rate(&format!("{what}: portable"), "Mpps", &rates, verified));
        return Ok(rows);
    };
    let (mut set, mut set_alone) = (Set::new(&library, (nea, nia), size), Set::new(&library, (nea, nia), size));
    let mut jobs = set.jobs();
    let mut alone = Alone::new(set_alone.jobs(), BURST).map_err(failed)?;
    let (mut seam, mut own, mut single) = (Rounds::default(), Rounds::default(), Rounds::default());
    for _ in 0..common.rounds() {
        seam.0.push(burst_rate(&mut library, &mut jobs, BURST, common)?);
        own.0.push(alone_rate(&mut alone, common)?);
        single.0.push(1.0 / burst_rate(&mut library, &mut jobs, 1, common)?);
        rates.0.push(burst_rate(&mut portable, &mut of_portable, BURST, common)?);
    }
    let ratio = seam.ratio(&own);
    let mut row = report::rate(&format!("{what}: through the seam, {}", library.name()), "Mpps", &seam, verified);
    row["note"] = json!(format!("{:.2} of the library alone", ratio.median()));
    row["ratio"] = ratio.json();
    add(row);
    add(report::rate(&format!("{what}: the library alone"), "Mpps", &own, verified));
    add(report::rate(&format!("{what}: portable"), "Mpps", &rates, verified));
    add(report::rate(&format!("{what}: one packet alone in the queue"), "us", &single, verified));
    Ok(rows)
}

/// Bytes of all packets after one pass must be the same from each contestant; how many packets were compared.
fn verify(case: Case, size: usize) -> Result<usize, Failure> {
    let mut results = Vec::new();
    for choice in Choice::ALL {
        let Ok(mut engine) = Engine::new(choice) else { continue };
        let mut set = Set::new(&engine, case, size);
        for jobs in set.jobs().chunks_mut(BURST) {
            engine.run(jobs);
        }
        results.push((engine.name().to_owned(), set.data));
        if choice == Choice::IpsecMb {
            let mut set = Set::new(&engine, case, size);
            let done = Alone::new(set.jobs(), BURST).map_err(failed)?.run();
            if !done {
                return Err(Failure::Failed("the library alone did not complete a job".to_owned()));
            }
            results.push(("the library alone".to_owned(), set.data));
        }
    }
    match results.iter().find(|(_, data)| *data != results[0].1) {
        Some((name, _)) => Err(Failure::Failed(format!("{case:?}, {size} B: {name} and {} gave different bytes", results[0].0))),
        None => Ok(PACKETS),
    }
}

/// Millions of packets a second.
fn burst_rate(engine: &mut Engine, jobs: &mut [Job<'_>], burst: usize, common: &Common) -> Result<f64, Failure> {
    // The first pass warms the caches, and is not counted.
    let (mut count, mut begin, mut warm) = (0, thread_time(), true);
    loop {
        for jobs in jobs.chunks_mut(burst) {
            engine.run(jobs);
            if let Some(job) = jobs.iter().find(|job| job.outcome != Outcome::Done) {
                return Err(Failure::Failed(format!("a job ended as {:?}", job.outcome)));
            }
        }
        let spent = thread_time() - begin;
        if std::mem::take(&mut warm) {
            begin = thread_time();
            continue;
        }
        count += jobs.len();
        if spent >= common.round() {
            return Ok(count as f64 / spent.as_secs_f64() / 1e6);
        }
    }
}

fn alone_rate(alone: &mut Alone<'_>, common: &Common) -> Result<f64, Failure> {
    let (mut count, mut begin, mut warm) = (0, thread_time(), true);
    loop {
        if !alone.run() {
            return Err(Failure::Failed("the library alone did not complete a job".to_owned()));
        }
        let spent = thread_time() - begin;
        if std::mem::take(&mut warm) {
            begin = thread_time();
            continue;
        }
        count += PACKETS;
        if spent >= common.round() {
            return Ok(count as f64 / spent.as_secs_f64() / 1e6);
        }
    }
}

fn failed(error: ciphering::Error) -> Failure {
    Failure::Failed(error.to_string())
}
