//! `bench services buffer`: how many packets a second does the buffer keep and give back, from memory to memory on one core?
//!
//! A lane's work without ports and headers: a burst of packets is kept, each for a bearer by chance, spare packets take their places, and
//! a status of a bearer gives its packets back when [`IN_FLIGHT`] of them wait. Bearers and windows are met at random: cache misses
//! are what it costs. Payload is not touched, which is the point of keeping handles.
//!
//! Verified: each handle that comes back is marked with its bearer and number, in order. After the rounds everything is acknowledged;
//! then each packet is there once, with the bytes that it was made with, and the counters balance.

use crate::bench::measure::{Rounds, thread_time};
use crate::bench::options::Common;
use crate::bench::report;
use base::{Packet, PortId};
use buffer::rlc::{BearerConfig, Key};
use buffer::status::{Nack, SnLength, emit};
use buffer::{Event, Limits, ResubmitBuffer, RlcBuffer};
use cli::failure::Failure;
use serde_json::{Value, json};
use std::time::Duration;
use target_api::BURST;

/// Packets of a bearer that wait when a status comes.
const IN_FLIGHT: u32 = 16;
/// Places of a bearer's window.
const WINDOW: u32 = 64;
const LIMITS: Limits = Limits { packets: 1 << 22, bytes: u64::MAX };
/// Time between two bursts: 64 packets at 12.8 million a second.
const BURST_NS: u64 = 5_000;
/// Of the bearers' order.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Runs it; the figures as JSON.
pub(super) fn buffer(common: &Common) -> Result<Value, Failure> {
    let machine = report::machine();
    report::print_machine(&machine);
    println!("bench services buffer: keeping and acknowledging, one core, memory to memory, by thread time");
    let bearers: u32 = common.size(16_384, 256);
    // A packet of the published form waits 10 to 20 ms for its status, so it is sent again about once.
    let interval_ms = common.size(10, 1);
    let mut rows = Vec::new();
    // A size at a time: each form has packets of its own, about 600 MB of them.
    for bytes in [128, 1400] {
        let what = |form: &str| format!("{form}, {bearers} bearers, {bytes} B");
        rows.extend(contest(
            common,
            "Mpps",
            vec![
                (what("RLC AM, keep + acknowledge"), Form::Rlc(Rlc::new(bearers, bytes))),
                (what("the same, handles of 8 bytes"), Form::Indexed(Rlc::new(bearers, bytes))),
                (what("as published, keep + acknowledge"), Form::Published(Published::new(bearers, bytes, interval_ms))),
            ],
        )?);
    }
    let length = common.size(65_536, 512);
    let long = |(what, every)| (format!("RLC AM, a status about {length} packets, {what}"), Form::Long(Long { length, every }));
    let lists = [("all received", 0), ("every 16th missing", 16), ("every second missing", 2)];
    rows.extend(contest(common, "ns", lists.map(long).into())?);
    let figures = json!({ "bench": "services buffer", "machine": machine, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// A row for each form, rounds interleaved.
fn contest(common: &Common, unit: &str, mut forms: Vec<(String, Form)>) -> Result<Vec<Value>, Failure> {
    let mut rounds = vec![(Rounds::default(), 0); forms.len()];
    let progress = report::progress(u64::from(common.rounds()) * forms.len() as u64);
    for _ in 0..common.rounds() {
        for ((_, form), (rates, verified)) in forms.iter_mut().zip(&mut rounds) {
            let (rate, packets) = match form {
                Form::Rlc(rlc) => rlc.round(common.round())?,
                Form::Indexed(rlc) => rlc.round(common.round())?,
                Form::Published(published) => published.round(common.round())?,
                Form::Long(long) => long.round(common.round())?,
            };
            rates.0.push(rate);
            *verified += packets;
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    for (_, form) in &mut forms {
        match form {
            Form::Rlc(rlc) => rlc.finish()?,
            Form::Indexed(rlc) => rlc.finish()?,
            Form::Published(published) => published.finish()?,
            Form::Long(_) => {}
        }
    }
    let rows = forms.iter().zip(&rounds).map(|((what, _), (rates, verified))| {
        let mut row = report::rate(what, unit, rates, *verified as usize);
        row["note"] = json!(if unit == "ns" { "a packet freed or named" } else { "" });
        report::print_rate(&row);
        row
    });
    Ok(rows.collect())
}

/// Mpps of RLC AM on this core: the median of so many rounds, for who measures nothing else.
pub(crate) fn rlc_rate(bearers: u32, bytes: usize, rounds: u32, length: Duration) -> Result<f64, Failure> {
    let mut rlc = Rlc::<Packet>::new(bearers, bytes);
    let rates = (0..rounds).map(|_| Ok(rlc.round(length)?.0)).collect::<Result<_, Failure>>()?;
    rlc.finish()?;
    Ok(Rounds(rates).median())
}

/// The same of the published form.
pub(crate) fn published_rate(bearers: u32, bytes: usize, interval_ms: u32, rounds: u32, length: Duration) -> Result<f64, Failure> {
    let mut published = Published::new(bearers, bytes, interval_ms);
    let rates = (0..rounds).map(|_| Ok(published.round(length)?.0)).collect::<Result<_, Failure>>()?;
    published.finish()?;
    Ok(Rounds(rates).median())
}

enum Form {
    Rlc(Rlc<Packet>),
    Indexed(Rlc<Index>),
    Published(Published),
    Long(Long),
}

/// What a handle carries that is kept as this bearer's packet of this number.
fn mark(bearer: u32, number: u32) -> u32 {
    (bearer ^ number.rotate_left(16)).wrapping_mul(0x9e37_79b1)
}

/// A bearer by chance; the next of a sequence without a state that a cache would miss.
fn by_chance(state: &mut u64, bearers: u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (((*state >> 32) * u64::from(bearers)) >> 32) as u32
}

fn wrong(what: &str) -> Failure {
    Failure::Failed(format!("bench services buffer: {what}"))
}

/// A handle with room for a mark.
trait Handle: buffer::Payload {
    /// Of packet `number` of the pool.
    fn new(number: u32, pool: &mut Vec<Packet>, bytes: usize) -> Self;
    fn set_mark(&mut self, mark: u32);
    fn has_mark(&self, mark: u32) -> bool;
    fn packet<'a>(&'a self, pool: &'a [Packet]) -> &'a Packet;
}

/// The packet itself is moved: 32 bytes.
impl Handle for Packet {
    fn new(number: u32, _: &mut Vec<Packet>, bytes: usize) -> Packet {
        filled(number, bytes)
    }

    fn set_mark(&mut self, mark: u32) {
        self.flow = mark;
    }

    fn has_mark(&self, mark: u32) -> bool {
        self.flow == mark
    }

    fn packet<'a>(&'a self, _: &'a [Packet]) -> &'a Packet {
        self
    }
}

/// A packet of a pool, as a device's buffers are: 8 bytes are moved.
#[derive(Debug)]
struct Index {
    number: u32,
    bytes: u16,
    mark: u16,
}

impl buffer::Payload for Index {
    fn sdu_bytes(&self) -> usize {
        self.bytes.into()
    }
}

impl Handle for Index {
    fn new(number: u32, pool: &mut Vec<Packet>, bytes: usize) -> Index {
        pool.push(filled(number, bytes));
        Index { number, bytes: bytes as u16, mark: 0 }
    }

    fn set_mark(&mut self, mark: u32) {
        self.mark = (mark >> 16) as u16;
    }

    fn has_mark(&self, mark: u32) -> bool {
        self.mark == (mark >> 16) as u16
    }

    fn packet<'a>(&'a self, pool: &'a [Packet]) -> &'a Packet {
        &pool[self.number as usize]
    }
}

/// Packet `number`: its bytes say so.
fn filled(number: u32, bytes: usize) -> Packet {
    let mut packet = Packet::new(&vec![number as u8; bytes], PortId(1));
    packet.data_mut()[..4].copy_from_slice(&number.to_ne_bytes());
    packet
}

/// Each packet of the pool is there once, with its bytes.
fn are_whole<P: Handle>(handles: &[P], pool: &[Packet], bytes: usize, count: usize) -> bool {
    let mut seen = vec![false; count];
    let whole = handles.iter().all(|handle| {
        let data = handle.packet(pool).data();
        let Some((number, rest)) = data.split_first_chunk::<4>() else { return false };
        let number = u32::from_ne_bytes(*number);
        let first_time = seen.get_mut(number as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        first_time && data.len() == bytes && rest.iter().all(|byte| *byte == number as u8)
    });
    whole && handles.len() == count
}

/// RLC AM: 12 bits, a poll every 16 packets, statuses without NACKs.
struct Rlc<P> {
    buffer: RlcBuffer<P>,
    /// The next number of each bearer; its low bits are how many wait.
    next: Vec<u32>,
    spares: Vec<P>,
    /// Packets of handles that do not hold them.
    pool: Vec<Packet>,
    bytes: usize,
    pdu: Vec<u8>,
    chance: u64,
    now_ns: u64,
}

impl<P: Handle> Rlc<P> {
    fn new(bearers: u32, bytes: usize) -> Rlc<P> {
        let mut buffer = RlcBuffer::new(bearers as usize, LIMITS);
        for bearer in 0..bearers {
            buffer.add(bearer, config(SnLength::Bits12, WINDOW)).expect("the parameters are valid");
        }
        let mut pool = Vec::new();
        let spares = (0..bearers * IN_FLIGHT + BURST as u32).map(|number| P::new(number, &mut pool, bytes)).collect();
        let next = vec![0; bearers as usize];
        Rlc { buffer, next, spares, pool, bytes, pdu: Vec::with_capacity(8), chance: SEED, now_ns: 0 }
    }

    /// One burst: the packets that it kept.
    fn burst(&mut self) -> Result<u64, Failure> {
        let mut burst = [Key { bearer: 0, sn: 0 }; BURST];
        burst.fill_with(|| {
            let bearer = by_chance(&mut self.chance, self.next.len() as u32);
            Key { bearer, sn: self.next[bearer as usize] & SnLength::Bits12.mask() }
        });
        self.now_ns += BURST_NS;
        self.buffer.touch(&burst);
        for Key { bearer, .. } in burst {
            let number = self.next[bearer as usize];
            self.next[bearer as usize] = number.wrapping_add(1);
            let mut packet = self.spares.pop().ok_or_else(|| wrong("packets are lost"))?;
            packet.set_mark(mark(bearer, number));
            let sn = number & SnLength::Bits12.mask();
            let kept = self.buffer.keep(bearer, sn, packet, false, self.now_ns).map_err(|refused| wrong(refused.reason.name()))?;
            if kept.poll {
                self.status(bearer, number)?;
            }
        }
        // Everything is acknowledged in time, and nothing is sent again.
        self.buffer.advance(self.now_ns, &mut |_| {});
        Ok(BURST as u64)
    }

    /// Acknowledges all packets up to `number`, the last one.
    fn status(&mut self, bearer: u32, number: u32) -> Result<(), Failure> {
        self.pdu.clear();
        emit(SnLength::Bits12, number.wrapping_add(1), &[], &mut self.pdu);
        let (spares, mut good) = (&mut self.spares, true);
        let mut expected = number / IN_FLIGHT * IN_FLIGHT;
        let report = self.buffer.status(bearer, &self.pdu, &mut |event| match event {
            Event::Acknowledged { packet, .. } => {
                good &= packet.has_mark(mark(bearer, expected));
                expected += 1;
                spares.push(packet);
            }
            _ => good = false,
        });
        match report {
            Ok(_) if good && expected == number + 1 => Ok(()),
            Ok(_) => Err(wrong("a packet came back that is not the one that was kept")),
            Err(fault) => Err(wrong(fault.name())),
        }
    }

    /// Mpps, and how many packets came back as they should.
    fn round(&mut self, length: Duration) -> Result<(f64, u64), Failure> {
        let rate = timed(length, || self.burst())?;
        let counters = self.buffer.counters();
        let waiting: u32 = self.next.iter().map(|next| next % IN_FLIGHT).sum();
        if counters.offered != counters.acknowledged + self.buffer.packets() as u64 || waiting as usize != self.buffer.packets() {
            return Err(wrong("the counters do not balance"));
        }
        Ok(rate)
    }
}

impl<P: Handle> Rlc<P> {
    /// Acknowledges what waits, and looks at all packets.
    fn finish(&mut self) -> Result<(), Failure> {
        for bearer in 0..self.next.len() as u32 {
            let next = self.next[bearer as usize];
            if !next.is_multiple_of(IN_FLIGHT) {
                self.status(bearer, next - 1)?;
            }
        }
        let count = self.next.len() * IN_FLIGHT as usize + BURST;
        if are_whole(&self.spares, &self.pool, self.bytes, count) { Ok(()) } else { Err(wrong("packets are lost or damaged")) }
    }
}

fn config(sn_length: SnLength, window: u32) -> BearerConfig {
    BearerConfig {
        sn_length,
        window,
        bytes: u64::MAX,
        poll_retransmit_ms: 4000,
        poll_pdu: Some(IN_FLIGHT),
        poll_byte: None,
        max_retransmissions: 8,
    }
}

/// Millions a second of thread time of what `burst` counts, and how many; the first sixteenth of the time warms up.
fn timed(length: Duration, mut burst: impl FnMut() -> Result<u64, Failure>) -> Result<(f64, u64), Failure> {
    let (mut counted, mut total) = (0, 0);
    let mut begin = None;
    let start = thread_time();
    loop {
        for _ in 0..16 {
            counted += burst()?;
        }
        let now = thread_time();
        match begin {
            None if now - start >= length / 16 => {
                begin = Some(now);
                total += std::mem::take(&mut counted);
            }
            Some(begin) if now - begin >= length => {
                return Ok((counted as f64 / (now - begin).as_secs_f64() / 1e6, total + counted));
            }
            _ => {}
        }
    }
}

/// The published form: ids are bearer and number; a status names one packet.
struct Published {
    buffer: ResubmitBuffer<Packet>,
    next: Vec<u32>,
    spares: Vec<Packet>,
    bytes: usize,
    interval_ms: u32,
    chance: u64,
    now_ns: u64,
}

impl Published {
    fn new(bearers: u32, bytes: usize, interval_ms: u32) -> Published {
        // Acknowledged packets wait for their bucket's turn.
        let waiting = interval_ms as usize * 1_000_000 / BURST_NS as usize * BURST;
        let packets = bearers as usize * IN_FLIGHT as usize + waiting + BURST;
        Published {
            buffer: ResubmitBuffer::new(interval_ms, 64, Limits { packets, bytes: u64::MAX }),
            next: vec![0; bearers as usize],
            spares: (0..packets as u32).map(|number| filled(number, bytes)).collect(),
            bytes,
            interval_ms,
            chance: SEED,
            now_ns: 0,
        }
    }

    fn burst(&mut self) -> Result<u64, Failure> {
        let mut chosen = [0u32; BURST];
        chosen.fill_with(|| by_chance(&mut self.chance, self.next.len() as u32));
        self.now_ns += BURST_NS;
        for bearer in chosen {
            let number = self.next[bearer as usize];
            self.next[bearer as usize] = number.wrapping_add(1);
            let mut packet = self.spares.pop().ok_or_else(|| wrong("packets are lost"))?;
            packet.set_mark(mark(bearer, number));
            let id = |number: u32| u64::from(bearer) << 32 | u64::from(number);
            self.buffer.keep(id(number), packet).map_err(|refused| wrong(refused.reason.name()))?;
            if (number + 1).is_multiple_of(IN_FLIGHT) && !(number + 1 - IN_FLIGHT..=number).all(|number| self.buffer.status(id(number))) {
                return Err(wrong("a packet was not kept"));
            }
        }
        let (spares, mut good) = (&mut self.spares, true);
        self.buffer.advance(self.now_ns, &mut |_, _| {}, &mut |event| match event {
            Event::Acknowledged { key, packet } => {
                good &= packet.has_mark(mark((key >> 32) as u32, key as u32));
                spares.push(packet);
            }
            _ => good = false,
        });
        if good { Ok(BURST as u64) } else { Err(wrong("a packet came back that is not the one that was kept")) }
    }

    fn round(&mut self, length: Duration) -> Result<(f64, u64), Failure> {
        let rate = timed(length, || self.burst())?;
        let counters = self.buffer.counters();
        if counters.offered != counters.acknowledged + self.buffer.packets() as u64 {
            return Err(wrong("the counters do not balance"));
        }
        Ok(rate)
    }

    /// Acknowledges what waits, lets every bucket have its turn, and looks at all packets.
    fn finish(&mut self) -> Result<(), Failure> {
        let count = self.spares.len() + self.buffer.packets();
        for (bearer, next) in (0u64..).zip(&self.next) {
            for number in next - next % IN_FLIGHT..*next {
                self.buffer.status(bearer << 32 | u64::from(number));
            }
        }
        let (spares, mut good) = (&mut self.spares, true);
        let end_ns = self.now_ns + u64::from(self.interval_ms + 1) * 1_000_000;
        self.buffer.advance(end_ns, &mut |_, _| {}, &mut |event| match event {
            Event::Acknowledged { packet, .. } => spares.push(packet),
            _ => good = false,
        });
        if good && are_whole(&self.spares, &[], self.bytes, count) { Ok(()) } else { Err(wrong("packets are lost or damaged")) }
    }
}

/// A status about many packets of one bearer, 18 bits, handles of 8 bytes.
struct Long {
    length: u32,
    /// One of so many is missing; 0: none.
    every: u32,
}

impl Long {
    /// Nanoseconds for each packet that the status frees or names, and how many.
    fn round(&mut self, length: Duration) -> Result<(f64, u64), Failure> {
        let missing = |sn: u32| self.every > 0 && sn.is_multiple_of(self.every);
        let nacks: Vec<Nack> = (0..self.length).filter(|sn| missing(*sn)).map(Nack::of).collect();
        let (mut pdu, mut all) = (Vec::new(), Vec::new());
        emit(SnLength::Bits18, self.length, &nacks, &mut pdu);
        emit(SnLength::Bits18, self.length, &[], &mut all);
        let named = nacks.len() as u32;
        let mut pool = Vec::new();
        let mut spares: Vec<Index> = (0..self.length).map(|number| Handle::new(number, &mut pool, 64)).collect();
        let (mut spent, mut packets) = (Duration::ZERO, 0u64);
        while spent < length {
            let mut buffer: RlcBuffer<Index> = RlcBuffer::new(1, LIMITS);
            buffer.add(0, config(SnLength::Bits18, SnLength::Bits18.window())).map_err(|e| wrong(&e.to_string()))?;
            for sn in 0..self.length {
                let mut packet = spares.pop().ok_or_else(|| wrong("packets are lost"))?;
                packet.set_mark(mark(0, sn));
                buffer.keep(0, sn, packet, false, 0).map_err(|refused| wrong(refused.reason.name()))?;
            }
            let mut freed: Vec<(u32, Index)> = Vec::with_capacity(self.length as usize);
            let mut keep = |event| match event {
                Event::Acknowledged { key: Key { sn, .. }, packet } => freed.push((sn, packet)),
                other => unreachable!("the first status of all: {other:?}"),
            };
            let begin = thread_time();
            let report = buffer.status(0, &pdu, &mut keep).map_err(|fault| wrong(fault.name()))?;
            spent += thread_time() - begin;
            packets += u64::from(self.length);
            let expected = (0..self.length).filter(|sn| !missing(*sn));
            let right = freed.iter().map(|(sn, _)| *sn).eq(expected) && freed.iter().all(|(sn, packet)| packet.has_mark(mark(0, *sn)));
            if !right || report.nacked != named || buffer.packets() != named as usize {
                return Err(wrong("a status freed what it does not acknowledge, or the other way round"));
            }
            spares.extend(freed.drain(..).map(|(_, packet)| packet));
            let mut rest = |event| match event {
                Event::Acknowledged { packet, .. } => spares.push(packet),
                other => unreachable!("nothing was retransmitted: {other:?}"),
            };
            buffer.status(0, &all, &mut rest).map_err(|fault| wrong(fault.name()))?;
        }
        Ok((spent.as_nanos() as f64 / packets as f64, packets))
    }
}
