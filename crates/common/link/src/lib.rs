//! What does a link do to packets? It sends them at a rate, from a queue that may be full; it loses some, delays all, and lets some be
//! overtaken. netem's job, in user space, seeded, without a clock.
//!
//! Time is nanoseconds, given with each call, and does not go back. A [`Link`] carries one direction and holds values of any type. Its owner
//! gives a packet to [`Link::send`], and takes what has arrived from [`Link::receive`] when [`Link::next_arrival`] says so.
//!
//! In this order:
//! 1. Queue: a packet for which there is no room is dropped ([`Dropped::Queue`]).
//! 2. Rate: packets leave the queue one after the other, each after its bits' time.
//! 3. Loss: each packet is lost with one probability ([`Dropped::Lost`]). It has used its time on the link.
//! 4. Delay and jitter: a packet arrives after the delay and a uniform part of the jitter, but never before one that was sent earlier.
//! 5. Reordering: some packets arrive later still, by a uniform part of a time of their own. Others overtake them.
//!
//! Every packet draws the same numbers whatever the configuration: with one seed, another delay does not lose other packets.
//!
//! Left out: correlated loss, duplicates, bytes that change on the way.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Longest delay, jitter or reordering: a minute.
pub const MAX_DELAY_NS: u64 = 60_000_000_000;

/// What a link is like, in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Bits a second; `None`: no limit, and no queue.
    pub rate_bps: Option<u64>,
    /// Bytes that may wait for the rate, the packet that is being sent among them. Without a rate nothing waits.
    pub queue_bytes: u64,
    /// Share of packets that are lost, 0 to 1.
    pub loss: f64,
    /// Time on the way, ns.
    pub delay_ns: u64,
    /// Up to so much more, ns. Packets stay in order.
    pub jitter_ns: u64,
    /// Share of packets that others may overtake, 0 to 1.
    pub reorder: f64,
    /// They arrive later by up to this, ns.
    pub reorder_ns: u64,
    /// Packets that may be on the way. It bounds the memory of a link without a rate.
    pub packets: usize,
}

impl Default for Config {
    /// A perfect link: no rate, no loss, no delay, all in order.
    fn default() -> Config {
        Config { rate_bps: None, queue_bytes: 1 << 20, loss: 0.0, delay_ns: 0, jitter_ns: 0, reorder: 0.0, reorder_ns: 0, packets: 1 << 16 }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// No bit would ever be sent.
    #[error("rate_bps: expected 1 or more; leave it out for no limit")]
    Rate,
    /// Not a share.
    #[error("{0}: expected 0 to 1")]
    Share(&'static str),
    /// Too long.
    #[error("{0}: expected at most 60 s")]
    Delay(&'static str),
    /// Nothing could be sent.
    #[error("packets: expected 1 or more")]
    Packets,
}

impl Config {
    /// # Errors
    /// [`ConfigError`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let share = |name, share: f64| if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(ConfigError::Share(name)) };
        let delay = |name, ns| if ns <= MAX_DELAY_NS { Ok(()) } else { Err(ConfigError::Delay(name)) };
        share("loss", self.loss)?;
        share("reorder", self.reorder)?;
        delay("delay_ns", self.delay_ns)?;
        delay("jitter_ns", self.jitter_ns)?;
        delay("reorder_ns", self.reorder_ns)?;
        if self.rate_bps == Some(0) {
            return Err(ConfigError::Rate);
        }
        if self.packets == 0 { Err(ConfigError::Packets) } else { Ok(()) }
    }
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dropped {
    /// The queue before the rate had no room for it, or as many packets were on the way as may be.
    Queue,
    /// Lost on the way.
    Lost,
}

/// What happened so far. `sent` is the sum of `arrived`, `queue`, `lost` and what is on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that were given to the link.
    pub sent: u64,
    /// Packets that came out of it.
    pub arrived: u64,
    /// Bytes of those.
    pub arrived_bytes: u64,
    /// [`Dropped::Queue`].
    pub queue: u64,
    /// [`Dropped::Lost`].
    pub lost: u64,
}

/// A packet on the way.
struct OnTheWay<T> {
    arrival_ns: u64,
    /// Those that arrive at one time do so in the order in which they were sent.
    number: u64,
    bytes: usize,
    packet: T,
}

impl<T> PartialEq for OnTheWay<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for OnTheWay<T> {}

impl<T> PartialOrd for OnTheWay<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for OnTheWay<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival_ns, self.number).cmp(&(other.arrival_ns, other.number))
    }
}

/// One direction of a link.
pub struct Link<T> {
    config: Config,
    rng: ChaCha8Rng,
    /// When the rate's sender became busy last, and bits that it has taken since: times are computed from their sum, so that no rounding adds up.
    busy_since_ns: u64,
    busy_bits: u128,
    /// Packets before the rate: when each has left, and its bytes.
    waiting: VecDeque<(u64, u64)>,
    waiting_bytes: u64,
    /// Arrival of the latest packet that was in order.
    in_order_ns: u64,
    on_the_way: BinaryHeap<Reverse<OnTheWay<T>>>,
    counters: Counters,
}

impl<T> Link<T> {
    /// A link that carries nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: Config, seed: u64) -> Result<Link<T>, ConfigError> {
        config.check()?;
        Ok(Link {
            config,
            rng: ChaCha8Rng::seed_from_u64(seed),
            busy_since_ns: 0,
            busy_bits: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            in_order_ns: 0,
            on_the_way: BinaryHeap::new(),
            counters: Counters::default(),
        })
    }

    /// Sends a packet that is `bytes` long on the wire, with all headers that the link carries.
    ///
    /// # Errors
    /// Why it will not arrive; counted.
    pub fn send(&mut self, packet: T, bytes: usize, now_ns: u64) -> Result<(), Dropped> {
        self.counters.sent += 1;
        let [loss, reorder]: [f64; 2] = self.rng.random();
        let [jitter, late]: [f64; 2] = self.rng.random();
        if self.on_the_way.len() >= self.config.packets || !self.has_room(bytes, now_ns) {
            self.counters.queue += 1;
            return Err(Dropped::Queue);
        }
        let left_ns = self.transmit(bytes, now_ns);
        // `random` is below 1: a share of 1 is all of them.
        if loss < self.config.loss {
            self.counters.lost += 1;
            return Err(Dropped::Lost);
        }
        let part = |share: f64, of_ns: u64| (share * of_ns as f64) as u64;
        let arrival_ns = left_ns.saturating_add(self.config.delay_ns + part(jitter, self.config.jitter_ns)).max(self.in_order_ns);
        let arrival_ns = if reorder < self.config.reorder {
            arrival_ns.saturating_add(part(late, self.config.reorder_ns))
        } else {
            self.in_order_ns = arrival_ns;
            arrival_ns
        };
        self.on_the_way.push(Reverse(OnTheWay { arrival_ns, number: self.counters.sent, bytes, packet }));
        Ok(())
    }

    /// Packets that are sent from now on are so long on the way. They do not overtake earlier ones.
    ///
    /// # Errors
    /// [`ConfigError::Delay`]; nothing has changed then.
    pub fn set_delay(&mut self, delay_ns: u64) -> Result<(), ConfigError> {
        let config = Config { delay_ns, ..self.config };
        config.check()?;
        self.config = config;
        Ok(())
    }

    fn has_room(&mut self, bytes: usize, now_ns: u64) -> bool {
        while let Some((_, len)) = self.waiting.front().filter(|(left_ns, _)| *left_ns <= now_ns) {
            self.waiting_bytes -= len;
            self.waiting.pop_front();
        }
        self.config.rate_bps.is_none() || self.waiting_bytes + bytes as u64 <= self.config.queue_bytes
    }

    /// When the last bit of a packet has left.
    fn transmit(&mut self, bytes: usize, now_ns: u64) -> u64 {
        let Some(rate_bps) = self.config.rate_bps else { return now_ns };
        if self.waiting.is_empty() {
            (self.busy_since_ns, self.busy_bits) = (now_ns, 0);
        }
        self.busy_bits += bytes as u128 * 8;
        let busy_ns = (self.busy_bits * 1_000_000_000).div_ceil(u128::from(rate_bps));
        let left_ns = self.busy_since_ns.saturating_add(u64::try_from(busy_ns).unwrap_or(u64::MAX));
        self.waiting.push_back((left_ns, bytes as u64));
        self.waiting_bytes += bytes as u64;
        left_ns
    }

    /// The next packet that has arrived.
    pub fn receive(&mut self, now_ns: u64) -> Option<T> {
        self.on_the_way.peek().filter(|Reverse(first)| first.arrival_ns <= now_ns)?;
        let Reverse(first) = self.on_the_way.pop()?;
        self.counters.arrived += 1;
        self.counters.arrived_bytes += first.bytes as u64;
        Some(first.packet)
    }

    /// When the next packet arrives; `None`: nothing is on the way.
    pub fn next_arrival(&self) -> Option<u64> {
        self.on_the_way.peek().map(|Reverse(first)| first.arrival_ns)
    }

    /// Packets that are on the way, those that wait for the rate among them.
    pub fn on_the_way(&self) -> usize {
        self.on_the_way.len()
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
