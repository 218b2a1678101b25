//! Packets of many bearers through a lane: downlink frames in random order, and the STATUS PDUs that acknowledge them.
//!
//! A burst is of one port, as the engine's are: of N3, or of the radio when so many STATUS PDUs are due. A bearer's STATUS comes behind the burst with the last packet that
//! it acknowledges.

use super::bearers::{self, N3, RADIO};
use super::failed;
use crate::bench::measure::{BURST_NS, thread_time};
use base::{Packet, Verdict, VerdictKind};
use cli::failure::Failure;
use p4_interp::{Machine, Mode};
use std::sync::Arc;
use std::time::Duration;
use target_api::{BURST, Lane};

/// Packets of a bearer that a STATUS acknowledges.
pub(super) const IN_FLIGHT: u32 = 8;

/// Fewer bearers than these share bursts between N3 and the radio.
const FEW: usize = 4 * BURST;

/// Frames, for ever.
struct Source {
    downlink: Vec<u8>,
    status: Vec<u8>,
    /// Bearers in their order.
    numbers: Arc<[u32]>,
    next: usize,
    /// By bearer: packets sent; empty where nobody acknowledges them.
    sent: Vec<u32>,
    /// Bearers whose STATUS comes with the next burst of the radio.
    due: Vec<u32>,
    /// By group, what its marker changes: a byte of the Identification, and the checksum; empty where packets are not marked.
    marks: Vec<(u8, [u8; 2])>,
}

impl Source {
    /// Fills a burst. What a bearer sent first differs, so that statuses are due evenly.
    fn fill(&mut self, packets: &mut [Packet]) {
        // Few bearers may not wait for a whole burst: their windows are full before.
        let least = if self.sent.len() < FEW { 1 } else { packets.len() };
        let statuses = if self.due.len() < least { 0 } else { self.due.len().min(packets.len()) };
        let (radio, n3) = packets.split_at_mut(statuses);
        for (packet, n) in radio.iter_mut().zip(self.due.drain(..statuses)) {
            packet.set(&self.status);
            packet.port = RADIO;
            let data = packet.data_mut();
            data[bearers::UE..bearers::UE + 2].copy_from_slice(&(n as u16).to_be_bytes());
            data[bearers::STATUS..bearers::STATUS + 3].copy_from_slice(&bearers::status(self.sent[n as usize]));
        }
        for packet in n3 {
            let n = self.numbers[self.next];
            self.next += 1;
            if self.next == self.numbers.len() {
                self.next = 0;
            }
            packet.set(&self.downlink);
            packet.port = N3;
            packet.data_mut()[bearers::TEID..bearers::TEID + 4].copy_from_slice(&bearers::teid(n).to_be_bytes());
            if let Some((mark, checksum)) = self.marks.get((n % bearers::GROUPS) as usize) {
                let data = packet.data_mut();
                data[bearers::IDENTIFICATION] = *mark;
                data[bearers::CHECKSUM..bearers::CHECKSUM + 2].copy_from_slice(checksum);
            }
            if let Some(sent) = self.sent.get_mut(n as usize) {
                *sent += 1;
                if (*sent + n).is_multiple_of(IN_FLIGHT) {
                    self.due.push(n);
                }
            }
        }
    }
}

/// A lane, and how far it has come.
pub(super) struct Runner {
    lane: Box<dyn Lane>,
    source: Source,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
    back: Vec<target_api::Returned>,
    extra: Vec<target_api::Extra>,
    /// Buffers of packets that came back, for those that a service has kept.
    spares: Vec<Packet>,
    now_ns: u64,
    /// Reasons with which packets end here that are neither lost nor forwarded.
    ends: Vec<u8>,
}

impl Runner {
    /// `acknowledged`: whether the UEs send STATUS PDUs; `ends`: reasons of drops that belong to them.
    pub(super) fn new(lane: Box<dyn Lane>, numbers: Arc<[u32]>, acknowledged: bool, ends: Vec<u8>) -> Runner {
        let most = numbers.iter().max().map_or(0, |n| *n as usize + 1);
        let source = Source {
            downlink: bearers::downlink(0),
            status: bearers::uplink(0, &bearers::status(0)),
            numbers,
            next: 0,
            sent: vec![0; if acknowledged { most } else { 0 }],
            due: Vec::new(),
            marks: Vec::new(),
        };
        Runner {
            lane,
            source,
            packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
            verdicts: vec![Verdict::default(); BURST],
            back: Vec::new(),
            extra: Vec::new(),
            spares: Vec::new(),
            now_ns: 1_000_000_000,
            ends,
        }
    }

    /// The same, with the markers of the bearers' groups.
    pub(super) fn marked(mut self) -> Runner {
        let mark = |group| {
            let frame = bearers::marked(group);
            (frame[bearers::IDENTIFICATION], [frame[bearers::CHECKSUM], frame[bearers::CHECKSUM + 1]])
        };
        self.source.marks = (0..bearers::GROUPS).map(mark).collect();
        self
    }

    /// Fills a burst, in buffers that are there.
    fn fill(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.is_void()) {
            *packet = self.spares.pop().unwrap_or_else(|| Packet::empty(0));
        }
        self.source.fill(&mut self.packets);
        self.now_ns += BURST_NS;
    }

    /// Runs the burst: `forwarded` gets what is forwarded, in order.
    fn run(&mut self, mut forwarded: impl FnMut(Verdict, &[u8])) -> Result<(), Failure> {
        self.lane.process(&mut self.packets, &mut self.verdicts, self.now_ns);
        for (packet, verdict) in self.packets.iter().zip(&self.verdicts) {
            match verdict.kind {
                VerdictKind::Forward => forwarded(*verdict, packet.data()),
                VerdictKind::Kept => {}
                VerdictKind::Drop if self.ends.contains(&verdict.reason) => {}
                _ => return Err(failed(format!("a packet was not forwarded: {verdict:?}"))),
            }
        }
        // Of clones nothing is wanted but what they cost.
        self.lane.take_extra(&mut self.extra);
        self.extra.clear();
        while self.lane.next_poll_ns().is_some_and(|at| at <= self.now_ns) {
            self.lane.poll(self.now_ns, &mut self.back);
            if self.back.is_empty() {
                break;
            }
            for returned in self.back.drain(..) {
                match returned.verdict.kind {
                    VerdictKind::Forward => forwarded(returned.verdict, returned.packet.data()),
                    VerdictKind::Drop if self.ends.contains(&returned.verdict.reason) => {}
                    _ => return Err(failed(format!("a packet came back that was not forwarded: {:?}", returned.verdict))),
                }
                if self.spares.len() < 4 * BURST && !returned.packet.is_void() {
                    self.spares.push(returned.packet);
                }
            }
        }
        Ok(())
    }

    /// Compares what comes of the next packets with what the interpreter makes of them, byte by byte: how many were forwarded, at least `count`.
    pub(super) fn verify(&mut self, name: &str, judge: &mut Machine, count: usize) -> Result<usize, Failure> {
        let mut verified = 0;
        while verified < count {
            self.fill();
            let came: Vec<(Vec<u8>, base::PortId)> = self.packets.iter().map(|packet| (packet.data().to_vec(), packet.port)).collect();
            let mut ours: Vec<(u16, Vec<u8>)> = Vec::new();
            self.run(|verdict, bytes| ours.push((verdict.port, bytes.to_vec())))?;
            let mut ours = ours.into_iter();
            for (bytes, port) in came {
                let theirs = judge.process(&bytes, port, self.now_ns, Mode::Whole);
                if theirs.verdict.kind != VerdictKind::Forward {
                    continue;
                }
                let expected = (theirs.verdict.port, theirs.bytes.to_vec());
                let got = ours.next();
                if got.as_ref() != Some(&expected) {
                    return Err(failed(format!("{name}: of packet {bytes:02x?} came {got:02x?}, and {expected:02x?} in the interpreter")));
                }
                verified += 1;
            }
            if let Some(more) = ours.next() {
                return Err(failed(format!("{name}: the interpreter does not send {more:02x?}")));
            }
        }
        Ok(verified)
    }

    /// Fills the buffer as far as it is filled all the time: until then each packet that is kept needs memory that the process has to ask the kernel
    /// for, which costs more than all else.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        let packets = self.source.sent.len() * 2 * IN_FLIGHT as usize;
        for _ in 0..packets.div_ceil(BURST) {
            self.fill();
            self.run(|_, _| {})?;
        }
        Ok(())
    }

    /// One round: millions of downlink packets a second that were forwarded, of this thread's time, and how many. STATUS PDUs cost time and are not counted.
    pub(super) fn round(&mut self, length: Duration) -> Result<(f64, u64), Failure> {
        let (mut counted, mut begin) = (0u64, Duration::ZERO);
        // The first sixteenth of a round warms caches and branches up, and is not counted.
        let mut warm = Some(thread_time() + length / 16);
        loop {
            for _ in 0..16 {
                self.fill();
                self.run(|_, bytes| counted += u64::from(!bytes.is_empty()))?;
            }
            let now = thread_time();
            match warm {
                Some(end) if now >= end => {
                    warm = None;
                    counted = 0;
                    begin = now;
                }
                None if now - begin >= length => return Ok((counted as f64 / (now - begin).as_secs_f64() / 1e6, counted)),
                _ => {}
            }
        }
    }
}
