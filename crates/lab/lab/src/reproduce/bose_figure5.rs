//! Figure 5 of Bose et al.: latency when a fifth of one worker's users send a burst, where users can move to another worker and where they cannot.

use super::Args;
use super::bose_figure3::{SESSIONS, WORKERS};
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::paced::Paced;
use super::papers::papers;
use super::world::{self, BIN, Design, Load, World};
use crate::bench::latency::Downlink;
use crate::bench::measure::Rounds;
use crate::bench::sessions::Direction;
use cli::failure::Failure;
use engine::BalanceSettings;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use target_api::Target;

pub(super) const NAME: &str = "bose-figure5";
pub(super) const TITLE: &str = "Latency when a fifth of one worker's users burst (Bose et al., Figure 5)";

/// Of the worker's users, one in so many bursts.
const ONE_IN: usize = 5;
/// What a worker takes for a packet: slow enough for two of them, a master, the source and the sink to be had on two cores.
const OF_A_PACKET: Duration = Duration::from_micros(10);
const QUICK_OF_A_PACKET: Duration = Duration::from_micros(50);
/// What all users send, and what those of the burst send more, as shares of what one worker carries: in the burst one worker has a tenth more than it carries,
/// and both together have room. With less room balancing would stop too early: it leaves a worker alone that has a fifth more than the mean.
const BEFORE: f64 = 0.8;
const BURST: f64 = 0.7;

/// What is compared: the paper's two designs, and ours. Whether users move.
const CASES: [(&str, Design, bool); 3] = [
    ("software steers, users move", Design::Software, true),
    ("the port steers", Design::Port, false),
    ("the port steers, users move", Design::Port, true),
];

/// What a case comes to, by round.
#[derive(Default)]
struct Measured {
    before_us: Rounds,
    burst_us: Rounds,
    p50_us: Rounds,
    p99_us: Rounds,
    lost: Rounds,
    moved: Rounds,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let downlink = Downlink::new(args.size(SESSIONS, 2000), args.size(1 << 16, 1 << 12))?;
    let of_a_packet = args.size(OF_A_PACKET, QUICK_OF_A_PACKET);
    let target: Arc<dyn Target> = Arc::new(Paced { target: downlink.target.clone(), of_a_packet });
    let [length, at, settled] = args.size([5000, 1000, 3500], [400, 150, 250]).map(Duration::from_millis);
    let balance = BalanceSettings { period: Duration::from_millis(args.size(100, 20)), ..BalanceSettings::default() };
    let one = 1.0 / of_a_packet.as_secs_f64();
    let [before, burst] = [BEFORE * one, BURST * one];
    let rate = |now: Duration| if now < at { before } else { before + burst };

    let users = Users::of(&downlink, &World::new(&target, Design::Port, WORKERS as usize, WORKERS as usize)?);
    let first = (before * at.as_secs_f64()) as u64;
    let choose = |n: u64| users.choose(n, first, burst / (before + burst));
    let load = Load { downlink: &downlink, choose: &choose, rate: &rate, length, from: settled };
    let mut measured: [Measured; CASES.len()] = Default::default();
    let mut curves: Vec<Vec<Option<f64>>> = vec![Vec::new(); CASES.len()];
    for _ in 0..args.rounds() {
        for (case, (name, design, moves)) in CASES.into_iter().enumerate() {
            let world = World::balanced(&target, design, WORKERS as usize, WORKERS as usize, moves.then_some(balance))?;
            let (world, run) = world::run(world, &load, None)?;
            let moved = world.engine.moved().buckets;
            world.close()?;
            if run.received == 0 {
                return Err(Failure::Failed(format!("{name}: no packet came through")));
            }
            let bins = (at.as_nanos() / BIN.as_nanos()) as usize;
            let us = |ns: u64| ns as f64 / 1e3;
            let of = &mut measured[case];
            of.before_us.0.push(mean_us(&run.waits[..bins]).unwrap_or(0.0));
            of.burst_us.0.push(mean_us(&run.waits[bins..]).unwrap_or(0.0));
            of.p50_us.0.push(us(run.latency.value_at_quantile(0.5)));
            of.p99_us.0.push(us(run.latency.value_at_quantile(0.99)));
            of.lost.0.push((run.due - run.received) as f64);
            of.moved.0.push(moved as f64);
            curves[case] = run.waits.iter().map(|bin| mean_us(std::slice::from_ref(bin))).collect();
        }
    }

    let share = Row::new("users of the worker that burst", How::Measured, users.percent, "% of its UEs");
    let mut rows = vec![
        share.beside(papers().claim("bose_figure5_users")),
        Row::new("what a worker carries", How::Modelled, one / 1e3, "kpps"),
        Row::new("what all users send before", How::Measured, before / 1e3, "kpps"),
        Row::new("what the burst adds", How::Measured, burst / 1e3, "kpps"),
    ];
    let into = (settled - at).as_secs_f64();
    for ((name, ..), of) in CASES.into_iter().zip(&measured) {
        let mut row = |what: &str, rounds: &Rounds, unit: &str| {
            let (low, high) = rounds.spread();
            let row = Row::new(format!("{name}: {what}"), How::Modelled, rounds.median(), unit);
            rows.push(row.note(format!("{low:.0} to {high:.0}")));
        };
        row("mean latency before the burst", &of.before_us, "us");
        row("mean latency in the burst", &of.burst_us, "us");
        row(&format!("half of the packets take less than, {into} s into the burst"), &of.p50_us, "us");
        row("99 % of those take less than", &of.p99_us, "us");
        row("packets lost", &of.lost, "packets");
        row("buckets of users that moved", &of.moved, "buckets");
    }
    for case in [0, 2] {
        let what = format!("99 % where the port steers, against {}", CASES[case].0);
        // On a busy machine the source may not have had a turn in a short round's last part.
        let (port, other) = (measured[1].p99_us.median(), measured[case].p99_us.median());
        rows.push(match other > 0.0 {
            true => Row::new(what, How::Modelled, port / other, "times"),
            false => Row::none(what, How::Modelled, "times", "no packet was due then"),
        });
    }
    let bin_ms = BIN.as_millis() as u64;
    let count = curves.iter().map(Vec::len).min().unwrap_or(0);
    let series = CASES.iter().zip(curves).map(|((name, ..), curve)| Series::curve(*name, How::Modelled, curve[..count].to_vec()));
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "The paper's text has no number of the latency: it says that it is high where users cannot move.".into(),
            format!(
                "Modelled: a worker's core, which takes {} us for a packet and waits for no other thread. Run as they are: the UPF's program, the engine with its rings, its steering and its load balancing, between memory ports; each packet's bytes and each session's order are checked.",
                of_a_packet.as_micros()
            ),
            "The port that steers has a queue for each worker and does not move users, as the paper's; the third case is the same port whose table the engine changes. Balancing is as the daemon does it: it looks ten times a second (quick: fifty), and moves buckets after three looks.".into(),
            format!("Medians of {} rounds; the picture is of the last one.", args.rounds()),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us, mean latency".into(),
            logarithmic: true,
            categories: (0..count as u64).map(|bin| format!("{} ms", bin * bin_ms)).collect(),
            series: series.collect(),
        },
    })
}

/// Who sends.
struct Users {
    /// Frames of all.
    all: u64,
    /// Those of users who burst.
    burst: Vec<usize>,
    /// What share of the worker's users these are.
    percent: f64,
}

impl Users {
    /// One in [`ONE_IN`] of the first worker's.
    fn of(downlink: &Downlink, world: &World) -> Users {
        let owners = world.engine.owners().unwrap_or_default();
        let is_first = |frame: &[u8]| {
            let hash = upf::steer::ue_hash(frame, Direction::Downlink.port()) as usize;
            owners.get(hash & owners.len().wrapping_sub(1)) == Some(&0)
        };
        let numbered = || downlink.numbers.iter().zip(&downlink.frames).enumerate();
        let first: BTreeSet<u32> = numbered().filter(|(_, (_, frame))| is_first(frame)).map(|(_, (number, _))| *number).collect();
        let bursting: BTreeSet<u32> = first.iter().copied().step_by(ONE_IN).collect();
        let burst = numbered().filter(|(_, (number, _))| bursting.contains(number)).map(|(at, _)| at).collect();
        Users { all: downlink.frames.len() as u64, burst, percent: bursting.len() as f64 * 100.0 / first.len().max(1) as f64 }
    }

    /// The frame of packet `n`: from `first` on, that share of the packets is the burst's.
    fn choose(&self, n: u64, first: u64, share: f64) -> usize {
        let before = |n: u64| ((n - first) as f64 * share) as u64;
        match n >= first && before(n + 1) > before(n) && !self.burst.is_empty() {
            true => self.burst[(before(n) % self.burst.len() as u64) as usize],
            false => (n % self.all) as usize,
        }
    }
}

fn mean_us(bins: &[(u64, u64)]) -> Option<f64> {
    let (packets, ns) = bins.iter().fold((0, 0), |(packets, ns), of| (packets + of.0, ns + of.1));
    (packets > 0).then(|| ns as f64 / packets as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_one_workers_users_bursts_from_then_on() {
        let downlink = Downlink::new(500, 2048).unwrap();
        let world = World::new(&downlink.target, Design::Port, 2, 2).unwrap();
        let users = Users::of(&downlink, &world);
        world.close().unwrap();
        assert!((users.percent - 20.0).abs() < 1.0, "{}", users.percent);
        let of_burst = |range: std::ops::Range<u64>| range.filter(|n| users.burst.contains(&users.choose(*n, 10_000, 0.4))).count();
        // A tenth of all users are those.
        assert!((700..1300).contains(&of_burst(0..10_000)), "{}", of_burst(0..10_000));
        assert!((4300..5000).contains(&of_burst(10_000..20_000)), "{}", of_burst(10_000..20_000));
    }

    #[test]
    fn the_mean_is_of_packets() {
        assert_eq!(mean_us(&[(1, 4000), (3, 8000)]), Some(3.0));
        assert_eq!(mean_us(&[(0, 0)]), None);
    }
}
