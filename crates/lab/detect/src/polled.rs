//! What does a control plane see that reads rates now and then, as a detector beside the others?
//!
//! Every flow is a session here and has a place from its first packet on, as a UPF's sessions have. Every so often all of them are
//! read, and those that have become heavy are queued; a packet brings one report of the queue, so a report is late by as many
//! packets as there were heavy sessions, which is nothing.

use crate::counter_rate::CounterRates;
use crate::session_rate::{self, SessionRates};
use crate::{Detector, Report};
use std::collections::{HashMap, VecDeque};

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The decayed bytes of [`session_rate`].
    Cells,
    /// Counters, by [`CounterRates`].
    Counters,
}

/// See the file's top.
pub struct Polled {
    source: Source,
    threshold: u64,
    period_ns: u64,
    next_ns: u64,
    places: HashMap<u64, usize>,
    sessions: Vec<Session>,
    cells: SessionRates,
    counters: CounterRates,
    queue: VecDeque<Report>,
}

struct Session {
    key: u64,
    bytes: u64,
    reported: bool,
}

impl Polled {
    /// Reads every `period_ns`, first one period after the clock's start. The threshold is in bytes a second.
    pub fn new(source: Source, threshold: u64, period_ns: u64) -> Polled {
        let (places, sessions, cells) = (HashMap::new(), Vec::new(), SessionRates::default());
        let (counters, queue) = (CounterRates::default(), VecDeque::new());
        Polled { source, threshold, period_ns, next_ns: period_ns, places, sessions, cells, counters, queue }
    }

    fn read_all(&mut self, now_ns: u64) {
        for (i, session) in self.sessions.iter_mut().enumerate() {
            let rate = match self.source {
                Source::Cells => Some(self.cells.rate(i, now_ns / 1000)),
                Source::Counters => self.counters.read(i as u64, session.bytes, now_ns),
            };
            let Some(rate) = rate else { continue };
            if rate >= self.threshold && !session.reported {
                self.queue.push_back(Report { key: session.key, bytes_per_second: rate, at_ns: now_ns });
            }
            session.reported = rate >= self.threshold || session.reported && rate >= self.threshold / 2;
        }
    }
}

impl Detector for Polled {
    fn packet(&mut self, key: u64, bytes: u32, now_ns: u64) -> Option<Report> {
        if now_ns >= self.next_ns {
            // All that came before this packet: readings are at the period's end.
            self.read_all(self.next_ns.max(now_ns - (now_ns - self.next_ns) % self.period_ns.max(1)));
            self.next_ns = now_ns.saturating_add(self.period_ns - (now_ns - self.next_ns) % self.period_ns.max(1));
        }
        let Polled { places, sessions, cells, counters, next_ns, period_ns, .. } = self;
        let place = *places.entry(key).or_insert_with(|| {
            sessions.push(Session { key, bytes: 0, reported: false });
            // A new session's counter starts from zero: its first rate is of the period that it began in.
            counters.read(sessions.len() as u64 - 1, 0, next_ns.saturating_sub(*period_ns));
            cells.open()
        });
        sessions[place].bytes = sessions[place].bytes.saturating_add(bytes.into());
        if self.source == Source::Cells {
            cells.packet(place, bytes, now_ns / 1000);
        }
        self.queue.pop_front()
    }

    fn memory_bytes(&self) -> usize {
        // A counter is of packets and of bytes.
        self.sessions.len() * if self.source == Source::Cells { session_rate::CELL_BYTES } else { 16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PUBLISHED_THRESHOLD;

    #[test]
    fn both_sources_see_the_heavy_session_at_the_end_of_a_period() {
        for source in [Source::Cells, Source::Counters] {
            let mut polled = Polled::new(source, PUBLISHED_THRESHOLD, 500_000_000);
            let mut reports = Vec::new();
            // 8 Mbit/s and 0.8.
            for n in 0..2500u64 {
                reports.extend(polled.packet(1, 1000, n * 1_000_000));
                reports.extend(polled.packet(2, 100, n * 1_000_000));
            }
            assert_eq!(reports.len(), 1, "{source:?}");
            assert_eq!((reports[0].key, reports[0].at_ns % 500_000_000), (1, 0), "{source:?}");
            // Half a second after its first packet a flow's cell does not have its whole rate yet.
            assert!((700_000..1_100_000).contains(&reports[0].bytes_per_second), "{source:?}: {reports:?}");
        }
    }
}
