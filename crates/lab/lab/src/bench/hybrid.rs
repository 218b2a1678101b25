//! `bench hybrid`: a chip with room for few sessions in front of x86 with all of them. How much of a skewed load leaves on the chip, how
//! soon, with how many changes of its tables; and how much of x86's time the rest takes.
//!
//! The chip is a *model*, and so is time in the first part: packets are drawn and counted, not run. Planner and moves are
//! the daemon's, on the real pair, fed as the daemon feeds them: usage of some sessions a tick. The second part measures the generated
//! code with what is left over, beside all of it, in turns.

use super::contestant::load_x86;
use super::measure::{Rounds, Runner, thread_time};
use super::options::Common;
use super::report;
use super::sessions::{Direction, Sessions};
use super::source::SessionPort;
use base::{Packet, Verdict, VerdictKind};
use cli::failure::Failure;
use offload::planner::{Needs, Planner, Settings};
use offload::{Path, Policy, Split, Unit, plan_and_move};
use p4_ir::Ir;
use pktio::Port;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::Arc;
use target_api::{BURST, Lane, Target};
use target_asic::{Asic, Chip};

/// As in the daemon: how often it plans, and of how many sessions it reads usage each time.
const TICK_MS: u64 = 50;
const POLLED: usize = 8192;
/// Cycles of x86 that a packet costs, as the daemon ranks.
const CYCLES: f32 = 300.0;
/// Packets before the order of sessions repeats, where the generated code is measured.
const NUMBERS: usize = 1 << 21;
/// Packets that really run through the pair, to see that they run where the books say.
const VERIFIED: usize = 20_000;
/// The goals, as shares.
const GOAL_FAST: f64 = 0.60;
const GOAL_CPU: f64 = 0.45;

/// Options of `bench hybrid`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Sessions [default: 1000000; with --quick: 5000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=15_000_000))]
    sessions: Option<u32>,
    /// Zipf exponent of the sessions' traffic: the k-th has (1/k)^zipf of the first's.
    #[arg(long, default_value_t = 1.0)]
    zipf: f64,
    /// Entries that each session table of the chip holds [default: 8192; with --quick: 256].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    entries: Option<u32>,
    /// Limit of changes to the chip's tables in any second.
    #[arg(long, default_value_t = 1000)]
    updates: u32,
    /// Seconds of load [default: 10; with --quick: 2].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: Option<u64>,
    /// Millions of packets a second, both directions [default: 10; with --quick: 0.2].
    #[arg(long)]
    mpps: Option<f64>,
    /// Gives sessions an MBR in each direction: moving one sets two meters, which count as changes.
    #[arg(long)]
    rates: bool,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { sessions: None, zipf: 1.0, entries: None, updates: 1000, seconds: None, mpps: None, rates: false, common }
    }
}

/// Runs it; the figures as JSON.
pub(super) fn hybrid(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    if !(args.zipf.is_finite() && (0.0..=10.0).contains(&args.zipf)) {
        return Err(Failure::Usage(format!("--zipf {}: not between 0 and 10", args.zipf)));
    }
    let load = Load {
        sessions: args.sessions.unwrap_or(common.size(1_000_000, 5_000)),
        zipf: args.zipf,
        mpps: args.mpps.unwrap_or(common.size(10.0, 0.2)),
        seconds: args.seconds.unwrap_or(common.size(10, 2)),
    };
    if !(load.mpps > 0.0 && load.mpps <= 1000.0) {
        return Err(Failure::Usage(format!("--mpps {}: not between 0 and 1000", load.mpps)));
    }
    let entries = args.entries.unwrap_or(common.size(8192, 256));
    println!(
        "bench hybrid: {} sessions by Zipf {}, {} Mpps for {} s; a chip (modelled) with {entries} entries a table, {} changes a second; then x86 \
         by this thread's time, {} rounds of {} ms",
        load.sessions,
        load.zipf,
        load.mpps,
        load.seconds,
        args.updates,
        common.rounds(),
        common.round().as_millis()
    );
    let mut pair = Pair::new(load.sessions, entries, args.rates)?;
    let settings = Settings { updates_per_second: args.updates, ..Settings::default() };
    let bar = report::progress(load.seconds);
    let by_second = simulate(&mut pair, &load, settings, &bar)?;
    bar.finish_and_clear();
    print_seconds(&by_second);
    let numbers = load.numbers(2, common.size(NUMBERS, 8192));
    let sample = &numbers[..numbers.len().min(common.size(VERIFIED, 1000))];
    pair.verify(sample)?;
    let verified = 2 * sample.len();
    let cpu = cpu_of_the_rest(&pair, &numbers, common)?;
    let last = by_second.last().map_or(0.0, |s| s.share);
    let most_updates = by_second.iter().map(|s| s.updates).max().unwrap_or_default();
    let possible = most_possible(&load, entries);
    let verdict = |good: bool| if good { "reached" } else { "NOT reached" };
    println!(
        "\nbytes that leave on the chip in the last second: {:.1} % (goal {:.0} %: {}; {:.1} % is the most possible with {entries} sessions)",
        last * 100.0,
        GOAL_FAST * 100.0,
        verdict(last >= GOAL_FAST),
        possible * 100.0
    );
    println!("changes in a second, at most: {most_updates} (goal {}: {})", args.updates, verdict(most_updates <= args.updates));
    println!(
        "x86's time for the rest, of that for all: {:.1} % (goal {:.0} %: {}); {:.1} ns a packet of the rest, {:.1} ns of all",
        cpu.share * 100.0,
        GOAL_CPU * 100.0,
        verdict(cpu.share <= GOAL_CPU),
        cpu.rest_ns,
        cpu.all_ns
    );
    println!("the chip is a model: its speed is not measured, and none of x86's time is charged for it");
    let figures = json!({
        "bench": "hybrid", "machine": machine, "modelled": true,
        "sessions": load.sessions, "zipf": load.zipf, "entries": entries, "updates_per_second": args.updates, "mpps": load.mpps,
        "rates": args.rates,
        "seconds": by_second.iter().map(Second::json).collect::<Vec<_>>(),
        "rows": [
            { "what": "share of bytes on the chip in the last second", "verified": verified, "value": last, "goal": GOAL_FAST, "most_possible": possible },
            { "what": "changes in a second, at most", "verified": verified, "value": most_updates, "goal": args.updates },
            { "what": "x86's time for the rest, of that for all", "verified": verified, "value": cpu.share, "goal": GOAL_CPU,
              "packets": cpu.packets, "rest_ns": cpu.rest_ns, "all_ns": cpu.all_ns },
        ],
    });
    common.write(&figures)?;
    Ok(figures)
}

/// What sessions send and receive. All packets are equally long, so a share of packets is one of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// How many.
    pub sessions: u32,
    /// Exponent.
    pub zipf: f64,
    /// Millions of packets a second.
    pub mpps: f64,
    /// How long.
    pub seconds: u64,
}

impl Load {
    /// Sessions of so many packets in a row.
    pub(super) fn numbers(&self, seed: u64, count: usize) -> Arc<[u32]> {
        let (zipf, mut rng) = (Zipf::new(self.sessions, self.zipf), StdRng::seed_from_u64(seed));
        (0..count).map(|_| zipf.draw(&mut rng)).collect()
    }
}

/// Draws sessions by Zipf's law, each in the same time (Walker's aliases). Which session has which rank is a matter of chance.
pub(super) struct Zipf {
    /// By rank: how likely it is to be itself if drawn, of 2^32, and who it is otherwise.
    cells: Vec<(u32, u32)>,
    session_of_rank: Vec<u32>,
}

impl Zipf {
    /// For `sessions` at least one.
    pub(super) fn new(sessions: u32, exponent: f64) -> Zipf {
        let n = sessions as usize;
        let mut weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w *= n as f64 / sum);
        let mut cells = vec![(u32::MAX, 0); n];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| weights[*i] < 1.0);
        while let (Some(low), Some(high)) = (small.pop(), large.last().copied()) {
            cells[low] = ((weights[low] * f64::from(u32::MAX)) as u32, high as u32);
            weights[high] -= 1.0 - weights[low];
            if weights[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        let mut session_of_rank: Vec<u32> = (0..sessions).collect();
        session_of_rank.shuffle(&mut StdRng::seed_from_u64(7));
        Zipf { cells, session_of_rank }
    }

    /// The session of the next packet.
    pub(super) fn draw(&self, rng: &mut StdRng) -> u32 {
        let rank = rng.random_range(0..self.cells.len());
        let (own, other) = self.cells[rank];
        let rank = if rng.random::<u32>() <= own { rank } else { other as usize };
        self.session_of_rank[rank]
    }
}

/// Share of the load of as many sessions as fit, if they are the right ones.
pub(super) fn most_possible(load: &Load, entries: u32) -> f64 {
    let sum = |n: u32| (1..=n).map(|k| f64::from(k).powf(-load.zipf)).sum::<f64>();
    sum(entries.min(load.sessions)) / sum(load.sessions)
}

/// The chip's model in front of x86, with all sessions.
pub(super) struct Pair {
    split: Split,
    sessions: Sessions,
    count: u32,
    entries: u32,
}

impl Pair {
    /// Installs so many sessions, on x86.
    pub(super) fn new(count: u32, entries: u32, rates: bool) -> Result<Pair, Failure> {
        let fail = |e: String| Failure::Failed(e);
        let ir: Arc<Ir> = Arc::new(super::upf::compile(count.max(1024))?);
        let x86 = load_x86(&ir)?;
        let asic = Asic::load(ir.clone(), Chip { session_entries: entries.into() }).map_err(|e| fail(e.to_string()))?;
        let split = Split::new(Box::new(asic), Box::new(x86), Policy::Planned).map_err(|e| fail(e.to_string()))?;
        let sessions = Sessions::new(&ir.program).map_err(Failure::Failed)?;
        let sessions = if rates { sessions } else { sessions.without_rates() };
        split.apply(sessions.initial()).map_err(|e| fail(e.to_string()))?;
        let pair = Pair { split, sessions, count, entries };
        for n in 0..count {
            let (facts, batch) = pair.copy(n);
            pair.split.apply_session(&facts, &batch).map_err(|e| fail(format!("session {n}: {e}")))?;
        }
        Ok(pair)
    }

    /// A session, and all that it is.
    fn copy(&self, n: u32) -> (Unit, program::Batch) {
        let facts = Unit { id: u64::from(n) + 1, ..Unit::default() };
        (facts, self.sessions.batch(std::iter::once((n, n))))
    }

    /// Whether the session of a packet is on the chip.
    pub(super) fn is_on_fast(&self, n: u32) -> bool {
        self.split.is_on_fast(u64::from(n) + 1)
    }

    /// Runs packets of these sessions through the pair: each must run where its session is, and be forwarded.
    fn verify(&self, numbers: &[u32]) -> Result<(), Failure> {
        let mut lane = self.split.lane(0);
        let expected = numbers.iter().filter(|n| self.is_on_fast(**n)).count() as u64;
        for direction in [Direction::Uplink, Direction::Downlink] {
            let before = self.on_fast();
            run(&mut *lane, direction, numbers)?;
            let got = self.on_fast() - before;
            if got != expected {
                return Err(Failure::Failed(format!("{direction}: the chip ran {got} packets of its sessions' {expected}")));
            }
        }
        Ok(())
    }

    fn on_fast(&self) -> u64 {
        self.split.traffic().iter().filter(|((path, _), _)| *path == Path::Fast).map(|(_, count)| count.packets).sum()
    }
}

/// All packets once.
fn run(lane: &mut dyn Lane, direction: Direction, numbers: &[u32]) -> Result<(), Failure> {
    let mut source = SessionPort::new(direction, numbers.into(), 0);
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let mut verdicts = vec![Verdict::default(); BURST];
    let mut now_ns = 1_000_000_000;
    for burst in numbers.chunks(BURST) {
        let n = burst.len();
        packets[..n].iter_mut().for_each(|p| p.port = direction.port());
        source.receive(&mut packets[..n]).map_err(|e| Failure::Failed(e.to_string()))?;
        now_ns += super::measure::BURST_NS;
        lane.process(&mut packets[..n], &mut verdicts[..n], now_ns);
        if let Some(other) = verdicts[..n].iter().find(|v| v.kind != VerdictKind::Forward) {
            return Err(Failure::Failed(format!("{direction}: a packet was not forwarded: {other:?}")));
        }
    }
    Ok(())
}

/// One second of the load.
#[derive(Clone, Debug, Default)]
pub(super) struct Second {
    /// Share of the bytes that left on the chip.
    pub share: f64,
    /// Changes of its tables and meters.
    pub updates: u32,
    /// Sessions there at its end.
    pub sessions: usize,
    /// Sessions that came and went.
    pub moved: (u32, u32),
    /// Time of this thread that plans and moves took, and the longest of them, in milliseconds.
    pub planning_ms: (f64, f64),
}

impl Second {
    fn json(&self) -> Value {
        json!({
            "share": self.share, "updates": self.updates, "sessions": self.sessions, "came": self.moved.0, "went": self.moved.1,
            "planning_ms": self.planning_ms.0, "longest_ms": self.planning_ms.1,
        })
    }
}

/// The load on a clock of its own: packets are drawn and counted, sessions move.
pub(super) fn simulate(pair: &mut Pair, load: &Load, settings: Settings, bar: &indicatif::ProgressBar) -> Result<Vec<Second>, Failure> {
    let room = [pair.entries, pair.entries, 0, 0];
    let mut planner = Planner::new(settings, room).map_err(|e| Failure::Usage(e.to_string()))?;
    let updates = pair.copy(0).1.ops.len() as u32;
    for n in 0..pair.count {
        let facts = Unit { id: u64::from(n) + 1, ..Unit::default() };
        planner.session(&facts, Needs { entries: [1, 1, 0, 0], updates, cycles: CYCLES }, 0);
    }
    let (zipf, mut rng) = (Zipf::new(load.sessions, load.zipf), StdRng::seed_from_u64(1));
    let mut counts = vec![0u64; pair.count as usize];
    let mut on_fast = vec![false; pair.count as usize];
    let mut cursor = 0;
    let per_tick = (load.mpps * 1e3 * TICK_MS as f64) as u64;
    let ticks = 1000 / TICK_MS;
    let mut seconds = Vec::new();
    for second in 0..load.seconds {
        let mut of = Second::default();
        let mut fast_packets = 0u64;
        for tick in 1..=ticks {
            let now_ns = (second * 1000 + tick * TICK_MS) * 1_000_000;
            for _ in 0..per_tick {
                let n = zipf.draw(&mut rng) as usize;
                counts[n] += 1;
                fast_packets += u64::from(on_fast[n]);
            }
            let begin = thread_time();
            for seid in planner.next_sessions(&mut cursor, POLLED) {
                let packets = counts[seid as usize - 1];
                planner.usage(seid, packets, packets * super::sessions::USER_PACKET as u64, now_ns);
            }
            let executed = plan_and_move(&pair.split, &mut planner, now_ns, |seid| {
                let n = seid as u32 - 1;
                on_fast[n as usize] = true;
                Some(pair.copy(n))
            });
            let took_ms = (thread_time() - begin).as_secs_f64() * 1e3;
            of.planning_ms = (of.planning_ms.0 + took_ms, of.planning_ms.1.max(took_ms));
            if executed.to_base + executed.failed > 0 {
                on_fast.iter_mut().zip(0..).filter(|(on, _)| **on).for_each(|(on, n)| *on = pair.is_on_fast(n));
            }
            of.updates += (executed.to_fast + executed.to_base) * updates;
            of.moved = (of.moved.0 + executed.to_fast, of.moved.1 + executed.to_base);
        }
        of.share = fast_packets as f64 / (per_tick * ticks) as f64;
        of.sessions = pair.split.sessions_on_fast();
        seconds.push(of);
        bar.inc(1);
    }
    Ok(seconds)
}

fn print_seconds(seconds: &[Second]) {
    println!(
        "\n  {:>6}  {:>14}  {:>8}  {:>8}  {:>6}  {:>6}  {:>22}",
        "second", "bytes on chip", "changes", "sessions", "came", "went", "planning (longest) ms"
    );
    for (i, s) in seconds.iter().enumerate() {
        println!(
            "  {:>6}  {:>12.1} %  {:>8}  {:>8}  {:>6}  {:>6}  {:>13.1} ({:>5.1})",
            i + 1,
            s.share * 100.0,
            s.updates,
            s.sessions,
            s.moved.0,
            s.moved.1,
            s.planning_ms.0,
            s.planning_ms.1
        );
    }
}

/// What x86 has left to do.
pub(super) struct Cpu {
    /// Its time for the rest, of that for all, for the same packets to the pair.
    pub share: f64,
    /// Share of the packets.
    pub packets: f64,
    /// Time of a packet of the rest, without that of making it.
    pub rest_ns: f64,
    /// Time of a packet of all, likewise.
    pub all_ns: f64,
}

/// Measures the generated code with all packets and with those that the chip does not take, in turns, both directions.
pub(super) fn cpu_of_the_rest(pair: &Pair, numbers: &Arc<[u32]>, common: &Common) -> Result<Cpu, Failure> {
    let rest: Arc<[u32]> = numbers.iter().copied().filter(|n| !pair.is_on_fast(*n)).collect();
    if rest.is_empty() {
        return Err(Failure::Usage("nothing is left for x86: no share can be given".into()));
    }
    let packets = rest.len() as f64 / numbers.len() as f64;
    let mut x86 = Runner::new(pair.split.base().lane(1));
    let mut nothing = Runner::new(Box::new(super::contestant::ForwardAll));
    let (mut shares, mut rest_ns, mut all_ns) = (Rounds::default(), Rounds::default(), Rounds::default());
    let mut starts = [0usize; 2];
    for round in 0..common.rounds() * 2 {
        let direction = if round % 2 == 0 { Direction::Downlink } else { Direction::Uplink };
        let mut ns = [0.0; 2];
        for (i, list) in [&rest, numbers].into_iter().enumerate() {
            let mut time = |runner: &mut Runner| -> Result<f64, Failure> {
                let mut source = SessionPort::new(direction, list.clone(), starts[i]);
                let (mpps, packets) = runner.round(&mut source, direction.port(), common.round())?;
                starts[i] = (starts[i] as u64 + packets) as usize % list.len();
                Ok(1e3 / mpps)
            };
            let (with, without) = (time(&mut x86)?, time(&mut nothing)?);
            ns[i] = (with - without).max(0.1);
        }
        rest_ns.0.push(ns[0]);
        all_ns.0.push(ns[1]);
        shares.0.push(packets * ns[0] / ns[1]);
    }
    Ok(Cpu { share: shares.median(), packets, rest_ns: rest_ns.median(), all_ns: all_ns.median() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_draws_by_its_law() {
        let zipf = Zipf::new(1000, 1.0);
        let mut rng = StdRng::seed_from_u64(3);
        let mut counts = vec![0f64; 1000];
        let draws = 2_000_000;
        (0..draws).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1.0);
        let sum: f64 = (1..=1000).map(|k| 1.0 / f64::from(k)).sum();
        for rank in [1, 2, 10, 100, 500] {
            let expected = f64::from(draws) / f64::from(rank) / sum;
            let got = counts[zipf.session_of_rank[rank as usize - 1] as usize];
            assert!((got - expected).abs() < 6.0 * expected.sqrt(), "rank {rank}: {got}, not {expected}");
        }
    }

    #[test]
    fn the_most_possible_of_the_goal_is_two_thirds() {
        let load = Load { sessions: 1_000_000, zipf: 1.0, mpps: 1.0, seconds: 1 };
        let possible = most_possible(&load, 8192);
        assert!((0.66..0.67).contains(&possible), "{possible}");
    }
}
