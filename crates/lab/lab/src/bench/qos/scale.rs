//! `bench qos --scale`: what does a worker do when very many sessions send at their rates, and each of their packets waits?
//!
//! One worker's lane and queues, driven by hand between ports in memory, on a clock of its own: a second of it holds [`PACKETS_A_SECOND`] packets of each
//! session, in an order without neighbours. So the rates are exact or not whatever the machine does meanwhile, and the figure is packets by the time
//! that this thread had on a processor. The engine's loop around it (commands, its ledger, devices) is not in it.
//!
//! Verified: every packet waits; each is sent or waits still, none is dropped; and each session was charged within 1 % of its rate in that second.
//!
//! And what does a packet cost more than with policing that need not wait? The same packets through both programs, in turns; before, both must give the same bytes and
//! verdicts ([`COMPARED`]). Those of policing are compared with the interpreter's by `bench upf`.

use super::Args;
use crate::bench::contestant::{load_x86, resident_bytes};
use crate::bench::measure::{Rounds, Runner, thread_time};
use crate::bench::options::Common;
use crate::bench::sessions::{Direction, Sessions, USER_PACKET, usage_cell};
use crate::bench::source::SessionPort;
use crate::bench::upf;
use base::{Packet, Verdict, VerdictKind};
use cli::failure::Failure;
use engine::{Queues, ShapeSettings, Shaping};
use pktio::{LoopPort, Port};
use program::MeterConfig;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use shaper::Limits;
use shaper::codel::Law;
use std::sync::Arc;
use std::time::Duration;
use target_api::{BURST, Lane, Target};

/// Of each session, in a second of the benchmark's clock: one more or less is within 1 %.
const PACKETS_A_SECOND: u64 = 128;
const SECOND_NS: u64 = 1_000_000_000;
/// What is aimed at: millions a second on a core, and ns that a packet costs more than with policing when it need not wait.
const AIM_MPPS: f64 = 8.0;
const AIM_NS: f64 = 10.0;
const DIRECTION: Direction = Direction::Downlink;
/// Packets of which policing and shaping must make the same.
const COMPARED: usize = 8192;

/// Runs it; the figures as JSON.
pub(super) fn run(args: &Args, machine: &Value) -> Result<Value, Failure> {
    let sessions = args.sessions.unwrap_or(if args.quick { 1_000 } else { 1_000_000 });
    println!("bench qos: {sessions} sessions at their rates, every packet waits; {USER_PACKET}-byte packets, one thread");
    let waits = waiting(sessions)?;
    println!(
        "  {:.2} Mpps a core ({:.0} ns a packet{}), {:.0} bytes a session with one packet waiting; {} packets, the sessions' rates {:.4} to {:.4} of what they should be",
        waits.mpps,
        1e3 / waits.mpps,
        if waits.mpps >= AIM_MPPS { String::new() } else { format!("; the aim is {AIM_MPPS} Mpps") },
        waits.bytes_a_session,
        waits.packets,
        waits.rates.0,
        waits.rates.1
    );
    let (rounds, length) = if args.quick { (1, Duration::from_millis(20)) } else { (7, Duration::from_millis(500)) };
    let Passing { policed, shaped, more, compared } = passing(sessions, rounds, length)?;
    let (ratio, more) = (shaped.median() / policed.median(), more.median());
    println!(
        "  a packet that need not wait: {:.1} ns with policing, {:.1} with shaping ({ratio:.3} times): {more:+.1} ns, median of {rounds} rounds{}; {compared} packets compared",
        policed.median(),
        shaped.median(),
        if more <= AIM_NS { String::new() } else { format!("; the aim is {AIM_NS}") }
    );
    let row = json!({
        "mode": "shape", "sessions": sessions, "mpps": waits.mpps, "bytes_a_session": waits.bytes_a_session, "packets": waits.packets,
        "waited": waits.waited, "verified": waits.packets, "least_rate": waits.rates.0, "most_rate": waits.rates.1, "policed_ns": policed.json(), "shaped_ns": shaped.json(),
        "more_ns": more, "ratio": ratio, "compared": compared,
    });
    let figures = json!({ "bench": "qos", "machine": machine, "rows": [row] });
    let mut common = Common::of(rounds, length, args.quick);
    common.json.clone_from(&args.json);
    common.write(&figures)?;
    Ok(figures)
}

struct Waits {
    mpps: f64,
    bytes_a_session: f64,
    /// Of the second.
    packets: u64,
    waited: u64,
    /// Least and most of any session, as a share of its rate.
    rates: (f64, f64),
}

/// A target with sessions of one rate each way.
fn installed(sessions: u32, option: &[&str], rate: MeterConfig) -> Result<(Box<dyn Target>, Sessions), Failure> {
    let ir = upf::compile_with(sessions.max(1024), option)?;
    let target: Box<dyn Target> = Box::new(load_x86(&ir)?);
    let entries = Sessions::new(&ir.program).map_err(Failure::Failed)?.with_rate(rate);
    target.apply(entries.initial()).map_err(failed)?;
    for from in (0..sessions).step_by(1_000) {
        target.apply(&entries.batch((from..(from + 1_000).min(sessions)).map(|n| (n, n)))).map_err(failed)?;
    }
    Ok((target, entries))
}

/// Each session once, in an order without neighbours.
fn order(sessions: u32) -> Arc<[u32]> {
    let mut numbers: Vec<u32> = (0..sessions).collect();
    numbers.shuffle(&mut rand::rngs::StdRng::seed_from_u64(17));
    numbers.into()
}

/// One worker without an engine.
struct Worker {
    lane: Box<dyn Lane>,
    shaping: Shaping,
    source: SessionPort,
    sink: LoopPort,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
    waited: u64,
    sent: u64,
}

impl Worker {
    /// What is in `packets[..n]`, all the way.
    fn process(&mut self, n: usize, now_ns: u64) -> Result<(), Failure> {
        self.lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        let mut refused = None;
        let waited = &mut self.waited;
        self.shaping.wait(&mut self.packets[..n], &self.verdicts[..n], now_ns, &mut *self.lane, &mut |_, reason| match reason {
            None => *waited += 1,
            Some(reason) => refused = Some(reason),
        });
        if let Some(reason) = refused {
            let why = reason.engine_name().unwrap_or_default();
            return Err(Failure::Failed(format!("a packet was dropped instead of waiting: {why}")));
        }
        let mut left = 0;
        for i in 0..n {
            match self.verdicts[i] {
                Verdict { kind: VerdictKind::Forward, .. } => {
                    self.packets.swap(left, i);
                    left += 1;
                }
                Verdict { kind: VerdictKind::Shape, .. } => {}
                other => return Err(Failure::Failed(format!("a packet was not forwarded: {other:?}"))),
            }
        }
        self.sink.transmit(&self.packets[..left]).map_err(failed)?;
        self.sent += left as u64;
        Ok(())
    }

    /// What may go.
    fn poll(&mut self, now_ns: u64) -> Result<(), Failure> {
        while self.shaping.next_ns().is_some_and(|at| at <= now_ns) {
            let n = self.shaping.poll(now_ns, &mut *self.lane, &mut self.packets);
            if let Some((_, reason)) = self.shaping.dropped.first() {
                return Err(Failure::Failed(format!("a packet that waited was dropped: {}", reason.engine_name().unwrap_or_default())));
            }
            self.process(n, now_ns)?;
        }
        Ok(())
    }

    /// So many packets that come, one every `step_ns`.
    fn run(&mut self, packets: u64, step_ns: f64, begin_ns: u64) -> Result<(), Failure> {
        let mut done = 0;
        while done < packets {
            let now_ns = begin_ns + (done as f64 * step_ns) as u64;
            self.poll(now_ns)?;
            let most = (packets - done).min(BURST as u64) as usize;
            let n = self.source.receive(&mut self.packets[..most]).map_err(failed)?;
            self.packets[..n].iter_mut().for_each(|packet| packet.port = DIRECTION.port());
            self.process(n, now_ns)?;
            done += n as u64;
        }
        Ok(())
    }
}

/// Every session at its rate, for a second.
fn waiting(sessions: u32) -> Result<Waits, Failure> {
    let bytes = USER_PACKET as u64;
    let (rate, burst) = (bytes * PACKETS_A_SECOND, 2 * bytes);
    let (target, entries) = installed(sessions, &["SHAPE"], MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst })?;
    let mut lane = target.lane(0);
    // Nothing is late: the clock stands still while the queues are filled.
    let limits = Limits {
        nodes: 2 * sessions + 3,
        packets: 2 * sessions + 1,
        delay_ns: SECOND_NS,
        law: Law { target_ns: SECOND_NS, interval_ns: SECOND_NS },
    };
    let settings = ShapeSettings { meter: entries.rate_meter(), queues: Queues::Cells, limits, delays: None, owed: None };
    let before = resident_bytes();
    let shaping = Shaping::new(settings, &mut *lane, Arc::default()).ok_or_else(|| Failure::Failed("the target lends no rates".into()))?;
    let order = order(sessions);
    let mut worker = Worker {
        lane,
        shaping,
        source: SessionPort::new(DIRECTION, order.iter().flat_map(|n| [*n; 3]).collect(), 0),
        sink: LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(failed)?,
        packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
        verdicts: vec![Verdict::default(); BURST],
        waited: 0,
        sent: 0,
    };
    let each = u64::from(sessions);
    let step_ns = SECOND_NS as f64 / (each * PACKETS_A_SECOND) as f64;
    let turn_ns = SECOND_NS / PACKETS_A_SECOND;
    // What a bucket holds passes at once, and one packet of each waits.
    worker.run(3 * each, step_ns / 3.0, SECOND_NS)?;
    let bytes_a_session = resident_bytes().saturating_sub(before) as f64 / each as f64;
    if worker.waited != each {
        return Err(Failure::Failed(format!("{} packets wait behind the burst, not one of each session", worker.waited)));
    }
    // From now on each comes half a turn behind the one that left, and waits for the other half.
    worker.source = SessionPort::new(DIRECTION, order.clone(), 0);
    let begin_ns = SECOND_NS + turn_ns + turn_ns / 2;
    worker.run(each, step_ns, begin_ns)?;
    let charged = |n: u32| target.counter(entries.usage(), usage_cell(DIRECTION, n).into()).bytes;
    let counted: Vec<u64> = (0..sessions).map(charged).collect();
    let (begin_ns, packets, waited, began) = (begin_ns + turn_ns, each * PACKETS_A_SECOND, worker.waited, thread_time());
    worker.run(packets, step_ns, begin_ns)?;
    let took = thread_time() - began;
    let waited = worker.waited - waited;
    if waited != packets {
        return Err(Failure::Failed(format!("of {packets} packets {waited} waited")));
    }
    let shares = (0..sessions).map(|n| (charged(n) - counted[n as usize]) as f64 / rate as f64);
    let rates = shares.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), share| (least.min(share), most.max(share)));
    if rates.0 < 0.99 || rates.1 > 1.01 {
        return Err(Failure::Failed(format!("a session was sent {:.4}, another {:.4} of its rate", rates.0, rates.1)));
    }
    // The ledger: what has come is sent or waits.
    let (came, waits) =
        (3 * each + each + packets, (0..sessions).filter(|n| worker.shaping.waits(usage_cell(DIRECTION, *n))).count() as u64);
    if worker.sent > came || came - worker.sent < waits || came - worker.sent > 2 * each {
        return Err(Failure::Failed(format!("{came} packets came, {} were sent, {waits} sessions have some waiting", worker.sent)));
    }
    let still = came - worker.sent;
    worker.poll(begin_ns + 3 * SECOND_NS / 2)?;
    if worker.sent != came {
        return Err(Failure::Failed(format!("of {still} packets that waited at the end {} were sent", worker.sent + still - came)));
    }
    Ok(Waits { mpps: packets as f64 / took.as_secs_f64() / 1e6, bytes_a_session, packets, waited, rates })
}

/// ns a packet of sessions far below their rates.
struct Passing {
    policed: Rounds,
    shaped: Rounds,
    /// By how much the second is more, round by round.
    more: Rounds,
    /// Packets that came out alike.
    compared: usize,
}

/// With policing and with shaping, in turns.
fn passing(sessions: u32, rounds: u32, length: Duration) -> Result<Passing, Failure> {
    let most = MeterConfig { cir: 10_000_000_000, cbs: 1 << 24, pir: 10_000_000_000, pbs: 1 << 24 };
    let mut runners = Vec::new();
    for option in [&[][..], &["SHAPE"]] {
        let (target, entries) = installed(sessions, option, most)?;
        let mut lane = target.lane(0);
        if !option.is_empty() && !lane.shape(entries.rate_meter()) {
            return Err(Failure::Failed("the target lends no rates".into()));
        }
        runners.push((Runner::new(lane), SessionPort::new(DIRECTION, order(sessions), 0), target));
    }
    let mut compared = 0;
    while compared < COMPARED {
        let mut out = Vec::new();
        for (runner, source, _) in &mut runners {
            let (packets, verdicts) = runner.burst(source, DIRECTION.port(), BURST)?;
            out.push(packets.iter().map(|packet| packet.data().to_vec()).zip(verdicts.to_vec()).collect::<Vec<_>>());
        }
        let n = out[0].len();
        if n == 0 || out[0] != out[1] {
            return Err(Failure::Failed(format!("packet {compared} or one of the {n} behind it differs with policing and with shaping")));
        }
        if let Some((_, other)) = out[0].iter().find(|(_, verdict)| verdict.kind != VerdictKind::Forward) {
            return Err(Failure::Failed(format!("a packet was not forwarded: {other:?}")));
        }
        compared += n;
    }
    let mut all = [Rounds::default(), Rounds::default()];
    for round in 0..rounds {
        // Who is first in one is second in the next.
        let mut order = [0, 1];
        order.rotate_left(round as usize % 2);
        for which in order {
            let (runner, source, _) = &mut runners[which];
            let (mpps, _) = runner.round(source, DIRECTION.port(), length)?;
            all[which].0.push(1e3 / mpps);
        }
    }
    let [policed, shaped] = all;
    let more = Rounds(shaped.0.iter().zip(&policed.0).map(|(shaped, policed)| shaped - policed).collect());
    Ok(Passing { policed, shaped, more, compared })
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}
