//! How does a trial run? Both sides are polled, by one thread or by one each, until all is sent and what is on its way has arrived.

use crate::outcome::{Flow, Latency, Replies, Trial};
use crate::plan::{Plan, Sizes};
use crate::side::{Board, Side, Task};
use crate::{Direction, Error};
use pktio::PortError;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Instant;

/// How long the next hops have to answer, and how often they are asked, in nanoseconds.
const RESOLVE_NS: u64 = 10_000_000_000;
const ASK_NS: u64 = 250_000_000;
/// The first packets: so many a second, for so long at a time, until some arrive or so many tries are over.
const FIRST_PPS: f64 = 200.0;
const FIRST_SECONDS: f64 = 0.25;
const FIRST_DRAIN_NS: u64 = 250_000_000;
const FIRST_TRIES: usize = 40;

/// A clock: nanoseconds since some instant.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The machine's.
pub fn clock() -> Clock {
    let begin = Instant::now();
    Arc::new(move || begin.elapsed().as_nanos() as u64)
}

/// What is to be sent in a trial.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Lengths.
    pub sizes: Sizes,
    /// Parts of the rate that go up and down.
    pub ratio: [f64; 2],
    /// Packets a second, up and down together; `None`: as many as go, in every direction that has a part.
    pub rate: Option<f64>,
    /// Length in seconds.
    pub seconds: f64,
    /// Of how many packets the sink mirrors one; 0: none.
    pub mirror: u32,
    /// Nothing has arrived for so long: the rest is lost. RFC 2544 §23 waits for two seconds.
    pub drain_ns: u64,
}

impl Settings {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`Error::Usage`] with what is allowed.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Usage(what));
        self.sizes.validate()?;
        if self.ratio.iter().any(|part| !(0.0..=1e6).contains(part)) || self.ratio.iter().sum::<f64>() <= 0.0 {
            return wrong("ratio: two parts from 0 to 1000000, such as 1:2, and not both 0".into());
        }
        if !(0.001..=86_400.0).contains(&self.seconds) {
            return wrong(format!("{} seconds: from 0.001 to a day", self.seconds));
        }
        if self.rate.is_some_and(|rate| !(1.0..=1e9).contains(&rate)) {
            return wrong("rate: from 1 to 1000000000 packets a second".into());
        }
        Ok(())
    }

    /// Of a direction.
    fn rate_of(&self, direction: Direction) -> Option<f64> {
        let part = self.ratio[direction as usize];
        match self.rate {
            _ if part == 0.0 => Some(0.0),
            None => None,
            Some(rate) => Some(rate * part / self.ratio.iter().sum::<f64>()),
        }
    }
}

/// Both sides.
pub struct Tester {
    plan: Arc<Plan>,
    /// That of the access side sends up.
    sides: [Side; 2],
    /// A thread for each side.
    two_threads: bool,
    clock: Clock,
    trials: u8,
}

impl Tester {
    /// Of an access side and a core side.
    pub fn new(plan: Arc<Plan>, sides: [Side; 2], two_threads: bool, clock: Clock) -> Tester {
        Tester { plan, sides, two_threads, clock, trials: 0 }
    }

    /// Learns the next hops' MAC addresses, and sees that packets come through: devices that learn need a first packet, too (RFC 2544 §23).
    ///
    /// # Errors
    /// [`Error::Failed`] if a next hop does not answer, or nothing arrives.
    pub fn prepare(&mut self, settings: &Settings) -> Result<(), Error> {
        settings.validate()?;
        self.resolve()?;
        let first = Settings { rate: Some(FIRST_PPS), seconds: FIRST_SECONDS, mirror: 0, drain_ns: FIRST_DRAIN_NS, ..*settings };
        let mut last = None;
        for _ in 0..FIRST_TRIES {
            let trial = self.trial(&first)?;
            if trial.flows.iter().all(|flow| flow.received > 0) {
                return Ok(());
            }
            last = Some(trial);
        }
        let silent = last.iter().flat_map(|trial| &trial.flows).find(|flow| flow.received == 0);
        let way = match silent.map(|flow| flow.direction) {
            Some(Direction::Up) => "up, from the access side to the core side",
            _ => "down, from the core side to the access side",
        };
        let why = match &last {
            Some(trial) if trial.error_indications > 0 => "the device answers with GTP-U error indications: it does not know the TEIDs",
            Some(trial) if trial.misdelivered() > 0 => "packets arrive with other sessions' addresses or TEIDs",
            _ => "check sessions, addresses, routes and what the device drops",
        };
        Err(Error::Failed(format!("no packet came through {way}: {why}")))
    }

    fn resolve(&mut self) -> Result<(), Error> {
        let begin = (self.clock)();
        let mut asked = None;
        while let Some(silent) = self.sides.iter().find(|side| !side.is_resolved()) {
            let now = (self.clock)() - begin;
            if now > RESOLVE_NS {
                return Err(Error::Failed(format!("{} does not answer ARP: check the address, or give its MAC address", silent.gateway())));
            }
            let due = now / ASK_NS;
            let ask = asked.replace(due) != Some(due);
            for side in &mut self.sides {
                if ask {
                    side.ask();
                }
                if !side.poll(&|| now)? {
                    std::thread::yield_now();
                }
            }
        }
        Ok(())
    }

    /// Runs a trial.
    ///
    /// # Errors
    /// [`Error::Usage`] for what cannot be sent; [`Error::Port`] if a port fails.
    pub fn trial(&mut self, settings: &Settings) -> Result<Trial, Error> {
        settings.validate()?;
        self.trials = self.trials.wrapping_add(1);
        let board = Arc::new(Board::default());
        let duration_ns = (settings.seconds * 1e9) as u64;
        for side in Direction::BOTH {
            let rate = settings.rate_of(side);
            let task = Task { trial: self.trials, rate, duration_ns, mirror: settings.mirror, sizes: settings.sizes };
            self.sides[side as usize].begin(task, board.clone())?;
        }
        let begin = (self.clock)();
        let clock = self.clock.clone();
        let since = move || clock().saturating_sub(begin);
        let mut ending = Ending { board: &board, drain_ns: settings.drain_ns, arrived: 0, quiet_since_ns: 0 };
        let [access, core] = &mut self.sides;
        match self.two_threads {
            false => loop {
                let busy = access.poll(&since)? | core.poll(&since)?;
                if ending.is_over(since()) {
                    break;
                }
                if !busy {
                    std::thread::yield_now();
                }
            },
            true => two_threads(access, core, &since, &mut ending)?,
        }
        Ok(self.outcome(settings, duration_ns))
    }

    fn outcome(&mut self, settings: &Settings, duration_ns: u64) -> Trial {
        let own_drops = self.sides.each_mut().map(Side::own_drops);
        let [access, core] = &self.sides;
        let flow = |from: &Side, to: &Side, direction: Direction| {
            let (sent, received) = (from.counts.sent, to.counts.received);
            let seconds = duration_ns.max(from.counts.sent_until_ns) as f64 / 1e9;
            let counts = &to.counts;
            Flow {
                direction,
                asked_pps: settings.rate_of(direction),
                sent,
                received,
                lost: sent.saturating_sub(received),
                duplicates: counts.duplicates,
                reordered: counts.reordered,
                too_late: counts.too_late,
                misdelivered: counts.misdelivered,
                sent_pps: sent as f64 / seconds,
                received_pps: received as f64 / seconds,
                received_mbps: counts.received_bytes as f64 * 8.0 / 1e6 / seconds,
                latency: Latency::of(&to.latency),
                replies: (settings.mirror > 0).then(|| Replies {
                    sent: counts.mirrored,
                    received: from.counts.replies_received,
                    not_sent: counts.not_mirrored,
                    rtt: Latency::of(&from.rtt),
                }),
            }
        };
        let all = [flow(access, core, Direction::Up), flow(core, access, Direction::Down)];
        Trial {
            seconds: settings.seconds,
            frame_bytes: settings.sizes.to_string(),
            flows: all.into_iter().filter(|flow| settings.ratio[flow.direction as usize] > 0.0).collect(),
            error_indications: access.counts.error_indications + core.counts.error_indications,
            foreign: access.counts.foreign + core.counts.foreign,
            own_drops,
        }
    }

    /// Sessions, for reports.
    pub fn sessions(&self) -> usize {
        self.plan.sessions.len()
    }
}

fn two_threads(access: &mut Side, core: &mut Side, since: &(dyn Fn() -> u64 + Sync), ending: &mut Ending<'_>) -> Result<(), Error> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        let other = std::thread::Builder::new().name("core side".into()).spawn_scoped(scope, move || -> Result<(), PortError> {
            while !stop.load(Acquire) {
                match core.poll(&since) {
                    Ok(true) => {}
                    Ok(false) => std::thread::yield_now(),
                    Err(e) => {
                        stop.store(true, Release);
                        return Err(e);
                    }
                }
            }
            Ok(())
        });
        let other = other.map_err(|e| Error::Failed(format!("a thread for the core side: {e}")))?;
        let mut result = Ok(());
        while !stop.load(Acquire) {
            match access.poll(&since) {
                Ok(busy) if !busy => std::thread::yield_now(),
                Ok(_) => {}
                Err(e) => {
                    result = Err(Error::from(e));
                    break;
                }
            }
            if ending.is_over(since()) {
                break;
            }
        }
        stop.store(true, Release);
        let of_other = other.join().map_err(|_| Error::Failed("the core side's thread failed".into()))?;
        result.and(of_other.map_err(Error::from))
    })
}

/// When a trial is over: all is sent, and all has arrived or nothing more comes.
struct Ending<'a> {
    board: &'a Board,
    drain_ns: u64,
    arrived: u64,
    quiet_since_ns: u64,
}

impl Ending<'_> {
    fn is_over(&mut self, now_ns: u64) -> bool {
        let Board { sent, received, replies_sent, replies_received, done, .. } = self.board;
        let sum = |counts: &[&[std::sync::atomic::AtomicU64; 2]; 2]| -> u64 {
            counts.iter().flat_map(|of| of.iter()).map(|n| n.load(Relaxed)).sum()
        };
        let arrived = sum(&[received, replies_received]);
        if !done.iter().all(|done| done.load(Acquire)) || arrived != self.arrived {
            (self.arrived, self.quiet_since_ns) = (arrived, now_ns);
            // Replies are sent by those who receive: what has arrived may still be answered.
            return false;
        }
        arrived == sum(&[sent, replies_sent]) && now_ns - self.quiet_since_ns >= self.drain_ns.min(REPLY_NS)
            || now_ns - self.quiet_since_ns >= self.drain_ns
    }
}

/// In this time a side that has received a packet has mirrored it.
const REPLY_NS: u64 = 1_000_000;
