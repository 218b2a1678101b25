//! `[workers]` and `[engine]`: threads, buffers and the compiler.

use super::Fault;
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// `[workers]`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Workers {
    /// Worker threads at the start, and when a reload has changed this.
    pub count: usize,
    /// Who gives each packet to its worker, where there are several.
    pub steering: Steering,
    /// Fewest workers; default: `count`.
    pub min: Option<usize>,
    /// Most workers; default: `count`.
    pub max: Option<usize>,
    /// Whether UEs move to other workers where one is overloaded.
    pub rebalance: bool,
    /// Cores that the threads are pinned to, in turn.
    pub cores: Vec<usize>,
}

/// `workers.steering`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// A master thread, by the UE's address.
    #[default]
    Software,
    /// The interfaces: each worker polls its share of their receive queues.
    Port,
    /// A program in front of the interfaces' AF_XDP sockets, by the UE's address: each worker has a socket on every queue.
    Xdp,
}

impl Default for Workers {
    fn default() -> Workers {
        Workers { count: 1, steering: Steering::Software, min: None, max: None, rebalance: true, cores: Vec::new() }
    }
}

impl Workers {
    /// Fewest and most workers.
    pub fn range(&self) -> (usize, usize) {
        (self.min.unwrap_or(self.count), self.max.unwrap_or(self.count))
    }

    /// Workers that the ports are opened for: a master receives alone, and sockets of workers that may come are made at once.
    pub fn of_ports(&self) -> usize {
        match self.steering {
            _ if self.steered() => 1,
            Steering::Xdp => self.range().1,
            Steering::Software | Steering::Port => self.count,
        }
    }

    /// Whether a master is needed: one worker alone takes packets from the interfaces itself.
    pub fn steered(&self) -> bool {
        self.steering == Steering::Software && self.range().1 > 1
    }

    /// Most workers that there can be without a restart, of a UPF that was started with these.
    fn most(&self) -> usize {
        if self.steered() { MOST_WORKERS } else { self.of_ports() }
    }

    /// Keys that need a restart to become those of `after`, of a UPF that was `started` with others.
    pub fn need_restart(&self, started: &Workers, after: &Workers) -> Vec<&'static str> {
        let (before, mut keys) = (self, Vec::new());
        if before.steering != after.steering {
            keys.push("workers.steering");
        }
        if before.cores != after.cores {
            keys.push("workers.cores");
        }
        let numbers_differ = (before.count, before.range()) != (after.count, after.range());
        let fixed = started.steering == Steering::Port;
        if numbers_differ && (fixed || after.range().1 > started.most()) {
            let changed = [
                ("workers.count", before.count != after.count),
                ("workers.min", before.min != after.min),
                ("workers.max", before.max != after.max),
            ];
            keys.extend(changed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key));
        }
        keys
    }

    /// How many workers may run after a reload with these instead of `before`: the nearest number to those that run is taken.
    pub fn numbers_after(&self, before: &Workers) -> RangeInclusive<usize> {
        let (min, max) = self.range();
        if before.count == self.count { min..=max } else { self.count..=self.count }
    }

    /// Checks the numbers, and that they go with each other.
    pub fn validate(&self) -> Result<(), Fault> {
        let (min, max) = self.range();
        let key = if self.min.is_some() { "workers.min" } else { "workers.max" };
        if !(1..=MOST_WORKERS).contains(&self.count) {
            return Err(Fault::new("workers.count", format!("expected 1 to {MOST_WORKERS}")));
        }
        if min == 0 || max > MOST_WORKERS {
            return Err(Fault::new(if min == 0 { "workers.min" } else { "workers.max" }, format!("expected 1 to {MOST_WORKERS}")));
        }
        if !(min..=max).contains(&self.count) {
            return Err(Fault::new(key, format!("expected min <= count <= max: they are {min}, {} and {max}", self.count)));
        }
        if self.steering == Steering::Port && (min, max) != (self.count, self.count) {
            return Err(Fault::new(key, "the number of workers changes only with steering = \"software\" or \"xdp\""));
        }
        Ok(())
    }
}

/// Most worker threads.
const MOST_WORKERS: usize = 64;

/// `[engine]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineConfig {
    /// Packets that wait for one PDR in idle mode, at most.
    pub buffer_packets_per_pdr: usize,
    /// Packets that wait in all, at most.
    pub buffer_packets: usize,
    /// Seconds that a packet waits, at most; 0: for ever.
    pub buffer_max_age_s: u64,
    /// C compiler for the native target; default: `$CC`, else clang, else gcc.
    pub cc: Option<PathBuf>,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        EngineConfig { buffer_packets_per_pdr: 1024, buffer_packets: 65536, buffer_max_age_s: 60, cc: None }
    }
}
