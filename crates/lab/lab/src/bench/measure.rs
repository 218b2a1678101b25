//! Rounds, and what many of them come to.

use base::{Packet, PortId, Verdict, VerdictKind};
use cli::failure::Failure;
use pktio::Port;
use std::path::PathBuf;
use std::time::Duration;
use target_api::{BURST, Lane};

/// One figure of a contestant, once a round.
#[derive(Clone, Debug, Default)]
pub struct Rounds(pub Vec<f64>);

impl Rounds {
    /// The middle one; 0 without rounds.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match (sorted.get((sorted.len().max(1) - 1) / 2), sorted.get(sorted.len() / 2)) {
            (Some(a), Some(b)) => (a + b) / 2.0,
            _ => 0.0,
        }
    }

    /// Smallest and largest.
    pub fn spread(&self) -> (f64, f64) {
        self.0.iter().fold((f64::INFINITY, 0.0), |(low, high), r| (low.min(*r), high.max(*r)))
    }

    /// By rounds: those of one turn have met the same machine.
    pub fn ratio(&self, of: &Rounds) -> Rounds {
        Rounds(self.0.iter().zip(&of.0).map(|(a, b)| a / b).collect())
    }

    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        let (min, max) = self.spread();
        serde_json::json!({ "median": self.median(), "min": min, "max": max, "rounds": self.0 })
    }
}

/// Time that this thread has had on a processor: other people's threads do not count.
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time that this process has had on processors, all its threads together.
pub fn process_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time that children of this process have had on processors, those that have ended, in hundredths of a second; zero where the kernel does not tell.
pub fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields 16 and 17 (proc(5)); the name, the second one, may have blanks, and ends with the last parenthesis.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    Duration::from_millis(fields.skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// Time that those threads of this process have had on processors together whose names begin so; zero where the kernel does not tell.
pub fn threads_time(name: &str) -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = tasks.filter_map(|task| {
        let comm = std::fs::read_to_string(task.path().join("comm")).ok()?;
        let spent = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        spent.split_whitespace().next()?.parse::<u64>().ok().filter(|_| comm.starts_with(name))
    });
    Duration::from_nanos(time.sum())
}

/// Seconds that a process has had on processors, all its threads together; zero where the kernel does not tell.
pub fn process_seconds(id: u32) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    spent.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok()).sum::<u64>() as f64 / 1e9
}

/// Time that this thread has stood in line for its core; zero where the kernel does not tell.
pub fn thread_waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// The kernel's thread for soft interrupts of a core that were put off.
pub struct PutOff(Option<PathBuf>);

impl PutOff {
    /// That of the core of that number.
    pub fn of(core: usize) -> PutOff {
        // It is one of the first processes, with hundreds of cores too.
        const LAST: u32 = 4096;
        let name = format!("ksoftirqd/{core}\n");
        let mut processes = (2..LAST).map(|pid| PathBuf::from(format!("/proc/{pid}")));
        let found = processes.find(|path| std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm == name));
        PutOff(found.map(|path| path.join("schedstat")))
    }

    /// Time that it has had on its core; `None` where it cannot be seen.
    pub fn time(&self) -> Option<Duration> {
        let spent = std::fs::read_to_string(self.0.as_ref()?).ok()?;
        spent.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

/// This thread on one core, until it is dropped.
pub struct Pinned(rustix::thread::CpuSet);

impl Pinned {
    /// To the core of that number; `before`: the cores that it may use afterwards.
    pub fn to(core: usize, before: rustix::thread::CpuSet) -> Result<Pinned, Failure> {
        let mut one = rustix::thread::CpuSet::new();
        one.set(core);
        rustix::thread::sched_setaffinity(None, &one).map_err(|e| Failure::Failed(e.to_string()))?;
        Ok(Pinned(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = rustix::thread::sched_setaffinity(None, &self.0);
    }
}

/// Time on the clock of meters between two bursts: 64 packets at 12.8 million a second, for all contestants alike, so that rates are
/// not reached and hash buckets are as full for each of them.
pub const BURST_NS: u64 = 5_000;

/// A lane, and how far it has come: rounds go on where the round before has ended.
pub struct Runner {
    /// The lane.
    pub lane: Box<dyn Lane>,
    /// Its clock.
    pub now_ns: u64,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
}

impl Runner {
    /// At the beginning, one second after entries were installed.
    pub fn new(lane: Box<dyn Lane>) -> Runner {
        let packets = (0..BURST).map(|_| Packet::empty(0)).collect();
        Runner { lane, now_ns: 1_000_000_000, packets, verdicts: vec![Verdict::default(); BURST] }
    }

    /// Takes a burst of up to `at_most` packets from `source` through the lane: packets and verdicts.
    pub fn burst(&mut self, source: &mut dyn Port, port: PortId, at_most: usize) -> Result<(&[Packet], &[Verdict]), Failure> {
        let room = at_most.min(BURST);
        self.packets[..room].iter_mut().for_each(|p| p.port = port);
        let n = source.receive(&mut self.packets[..room]).map_err(|e| Failure::Failed(e.to_string()))?;
        self.now_ns += BURST_NS;
        self.lane.process(&mut self.packets[..n], &mut self.verdicts[..n], self.now_ns);
        Ok((&self.packets[..n], &self.verdicts[..n]))
    }

    /// One round: millions of packets a second of this thread's time, and how many packets in all. Every packet must be forwarded,
    /// or the figure would be of drops.
    pub fn round(&mut self, source: &mut dyn Port, port: PortId, length: Duration) -> Result<(f64, u64), Failure> {
        let fail = |e: pktio::PortError| Failure::Failed(e.to_string());
        let mut sink = pktio::LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(fail)?;
        self.packets.iter_mut().for_each(|p| p.port = port);
        let (mut counted, mut total) = (0u64, 0u64);
        let mut begin = Duration::ZERO;
        // The first sixteenth of a round warms caches and branches up, and is not counted.
        let mut warm = Some(thread_time() + length / 16);
        loop {
            for _ in 0..16 {
                let n = source.receive(&mut self.packets).map_err(fail)?;
                self.now_ns += BURST_NS;
                self.lane.process(&mut self.packets[..n], &mut self.verdicts[..n], self.now_ns);
                if let Some(other) = self.verdicts[..n].iter().find(|v| v.kind != VerdictKind::Forward) {
                    return Err(Failure::Failed(format!("a packet was not forwarded: {other:?}")));
                }
                sink.transmit(&self.packets[..n]).map_err(fail)?;
                counted += n as u64;
            }
            let now = thread_time();
            match warm {
                Some(end) if now >= end => {
                    warm = None;
                    total += std::mem::take(&mut counted);
                    begin = now;
                }
                None if now - begin >= length => {
                    return Ok((counted as f64 / (now - begin).as_secs_f64() / 1e6, total + counted));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(Rounds(vec![3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Rounds(vec![4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert_eq!(Rounds(vec![3.0, 1.0, 2.0]).spread(), (1.0, 3.0));
        assert_eq!(Rounds::default().median(), 0.0);
    }
}
